//! What a translation of a whole group of rows does to the features of a table. [Ley2022, App. E]
//!
//! Numbers are means over the group, categories the share of its rows that have them.

use crate::data::{Feature, Kind, Scaling, Schema};
use serde::{Deserialize, Serialize};

/// How one feature changes over a group of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FeatureShift {
    /// The feature's name.
    pub feature: String,
    /// The unit of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The mean or the share before the translation.
    pub before: f64,
    /// The same after it.
    pub after: f64,
    /// `after − before`.
    pub change: f64,
    /// What the three numbers are.
    pub kind: ShiftKind,
}

/// What changes.
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
    /// How a feature changes from `before` to `after`.
    pub fn new(feature: impl Into<String>, unit: Option<String>, before: f64, after: f64, kind: ShiftKind) -> Self {
        Self { feature: feature.into(), unit, before, after, change: after - before, kind }
    }

    /// How every feature of a table changes between two encoded rows that are means over some rows; an image has none.
    pub fn between(schema: &Schema, before: &[f32], after: &[f32]) -> Vec<Self> {
        if schema.image.is_some() {
            return vec![];
        }
        let mut shifts = Vec::new();
        for (Feature { name, kind, unit, .. }, column) in schema.features.iter().zip(schema.columns()) {
            let at = |row: &[f32], place: usize| f64::from(row[column.start + place]);
            // What a decoder says of a category may leave the range of a share.
            let share = |row: &[f32], place: usize| at(row, place).clamp(0.0, 1.0);
            match kind {
                Kind::Continuous(scaling) | Kind::Ordinal(scaling) => {
                    let Scaling { mean, deviation, decimals, .. } = *scaling;
                    let value = |row: &[f32]| at(row, 0) * deviation + mean;
                    let kind = ShiftKind::Number { decimals, deviation };
                    shifts.push(Self::new(name, unit.clone(), value(before), value(after), kind));
                }
                Kind::Binary { categories } => {
                    let kind = ShiftKind::Share { category: categories[1].clone() };
                    shifts.push(Self::new(name, None, share(before, 0), share(after, 0), kind));
                }
                Kind::Categorical { categories } => {
                    for (place, category) in categories.iter().enumerate() {
                        let kind = ShiftKind::Share { category: category.clone() };
                        shifts.push(Self::new(name, None, share(before, place), share(after, place), kind));
                    }
                }
            }
        }
        shifts
    }

    /// How large the change is: in deviations of a number, or of a share as it is.
    pub fn size(&self) -> f64 {
        match self.kind {
            ShiftKind::Number { deviation, .. } if deviation > 0.0 => (self.change / deviation).abs(),
            _ => self.change.abs(),
        }
    }
}
