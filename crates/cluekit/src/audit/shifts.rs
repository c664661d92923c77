//! What a translation of a whole group of rows does to the features of a table. [Ley2022, App. E]
//!
//! Numbers are means over the group, categories the share of its rows that have them.

use crate::data::{Feature, Kind, MISSING, Scaling, Schema};
use serde::{Deserialize, Serialize};

/// How one feature changes over a group of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FeatureShift {
    /// Name of the feature.
    pub feature: String,
    /// Unit of the feature; none for a category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Mean, or share of rows, before the change.
    pub before: f64,
    /// Mean, or share of rows, after the change.
    pub after: f64,
    /// Difference `after − before`.
    pub change: f64,
    /// What the three numbers stand for: means or shares.
    pub kind: ShiftKind,
}

/// What the numbers of a shift stand for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ShiftKind {
    /// The mean of a number, in the data's unit.
    Number {
        /// Digits after the decimal point in the data, if they are known.
        decimals: Option<u32>,
        /// Standard deviation of the feature in the data.
        deviation: f64,
    },
    /// The share of rows, 0 to 1, that have a category.
    Share {
        /// The category as it is written in the data.
        category: String,
    },
}

impl FeatureShift {
    /// The change of a feature from `before` to `after`.
    pub fn new(feature: impl Into<String>, unit: Option<String>, before: f64, after: f64, kind: ShiftKind) -> Self {
        Self { feature: feature.into(), unit, before, after, change: after - before, kind }
    }

    /// The changes of all features between two encoded mean rows of a table; empty for an image.
    pub fn between(schema: &Schema, before: &[f32], after: &[f32]) -> Vec<Self> {
        if schema.image.is_some() {
            return vec![];
        }
        let mut shifts = Vec::new();
        for (feature, column) in schema.features.iter().zip(schema.columns()) {
            let Feature { name, kind, .. } = feature;
            let at = |row: &[f32], place: usize| f64::from(row[column.start + place]);
            // What a decoder says of a category may leave the range of a share.
            let share = |row: &[f32], place: usize| at(row, place).clamp(0.0, 1.0);
            match (kind, kind.scaling()) {
                (_, Some(scaling)) => {
                    let Scaling { mean, deviation, decimals, .. } = *scaling;
                    let value = |row: &[f32]| at(row, 0) * deviation + mean;
                    let kind = ShiftKind::Number { decimals, deviation };
                    let unit = match &feature.kind {
                        Kind::Date { calendar, .. } => Some(calendar.unit().to_owned()),
                        _ => feature.unit.clone(),
                    };
                    shifts.push(Self::new(name, unit, value(before), value(after), kind));
                    if column.indicator().is_some() {
                        let kind = ShiftKind::Share { category: MISSING.to_owned() };
                        shifts.push(Self::new(name, None, share(before, 1), share(after, 1), kind));
                    }
                }
                (Kind::Binary { categories }, None) => {
                    let kind = ShiftKind::Share { category: categories[1].clone() };
                    shifts.push(Self::new(name, None, share(before, 0), share(after, 0), kind));
                }
                (kind, None) => {
                    for (place, category) in kind.categories().iter().enumerate() {
                        let kind = ShiftKind::Share { category: category.clone() };
                        shifts.push(Self::new(name, None, share(before, place), share(after, place), kind));
                    }
                }
            }
        }
        shifts
    }

    /// Size of the change: standard deviations for a number, the difference itself for a share.
    pub fn size(&self) -> f64 {
        match self.kind {
            ShiftKind::Number { deviation, .. } if deviation > 0.0 => (self.change / deviation).abs(),
            _ => self.change.abs(),
        }
    }
}
