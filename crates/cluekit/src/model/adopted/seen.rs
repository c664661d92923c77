//! One column of a model's input as a function of a row: linear in the encoded columns, so that it has a gradient.
//!
//! | column | of an encoded row e | of a row in the data's units |
//! |---|---|---|
//! | a number | (mean + deviation · e − offset) / scale | (v − offset) / scale |
//! | a category | Σ_k v_k e_k over its one-hot columns | v_k |
//! | an indicator | e | 1 where the number is missing |
//!
//! Both agree on rows of the data. The second is exact to the last bit, for models that compare numbers with thresholds;
//! there a missing number is not a number.

use crate::data::{Column, Feature, Kind, Value};

/// A column of a model's input.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Seen {
    /// An encoded column as it is.
    Encoded {
        /// Position of the column.
        column: usize,
    },
    /// A number of the data, shifted and scaled.
    Number {
        /// Position of the feature.
        feature: usize,
        offset: f64,
        scale: f64,
    },
    /// A number for each category, in the order of the schema.
    Category {
        /// Position of the feature.
        feature: usize,
        numbers: Vec<f64>,
    },
    /// Whether a number is missing.
    Indicator {
        /// Position of the feature.
        feature: usize,
    },
}

/// A constant, and factors of encoded columns.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Linear {
    pub constant: f64,
    pub factors: Vec<(usize, f64)>,
}

impl Seen {
    /// The column as a linear function of the encoded columns.
    pub fn linear(&self, features: &[Feature], columns: &[Column]) -> Linear {
        match self {
            Self::Encoded { column } => Linear { constant: 0.0, factors: vec![(*column, 1.0)] },
            Self::Number { feature, offset, scale } => {
                let scaling = features[*feature].kind.scaling().expect("the feature is a number");
                let factor = (columns[*feature].start, scaling.deviation / scale);
                Linear { constant: (scaling.mean - offset) / scale, factors: vec![factor] }
            }
            Self::Category { feature, numbers } => {
                let start = columns[*feature].start;
                match &features[*feature].kind {
                    Kind::Binary { .. } => {
                        Linear { constant: numbers[0], factors: vec![(start, numbers[1] - numbers[0])] }
                    }
                    _ => Linear {
                        constant: 0.0,
                        factors: numbers.iter().enumerate().map(|(k, number)| (start + k, *number)).collect(),
                    },
                }
            }
            Self::Indicator { feature } => {
                let indicator = columns[*feature].indicator().expect("the feature has an indicator");
                Linear { constant: 0.0, factors: vec![(indicator, 1.0)] }
            }
        }
    }

    /// The number in this column for a row: encoded, and in the data's units.
    pub fn exact(&self, features: &[Feature], encoded: &[f32], row: &[Value]) -> f32 {
        match self {
            Self::Encoded { column } => encoded[*column],
            Self::Number { feature, offset, scale } => {
                let number = features[*feature].number(&row[*feature]);
                number.map_or(f32::NAN, |number| ((number - offset) / scale) as f32)
            }
            Self::Category { feature, numbers } => {
                let place = place_of(&features[*feature], &row[*feature]);
                place.map_or(f32::NAN, |place| numbers[place] as f32)
            }
            Self::Indicator { feature } => f32::from(u8::from(row[*feature] == Value::Missing)),
        }
    }
}

/// Place of a value among the categories of its feature.
pub(super) fn place_of(feature: &Feature, value: &Value) -> Option<usize> {
    match value {
        Value::Category(word) => feature.kind.categories().iter().position(|category| category == word),
        Value::Number(_) | Value::Missing => None,
    }
}
