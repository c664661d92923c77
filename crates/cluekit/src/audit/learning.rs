//! How much better a table is predicted as more of its rows are learned from.

use serde::{Deserialize, Serialize};

/// Scores of a predictor that learned from more and more of the training rows, the same rows judging each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LearningCurve {
    /// What learned, for people.
    pub learner: String,
    /// Scores at each number of rows, the smallest number first.
    pub points: Vec<LearningPoint>,
}

/// What was reached with so many rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LearningPoint {
    /// Number of rows that were learned from.
    pub rows: usize,
    /// Negative log likelihood of classes in nats, or root mean squared error of values in the data's unit.
    pub loss: f64,
}

impl LearningCurve {
    /// The share of the loss that the last rows took away: from the last point but one to the last.
    pub fn gain(&self) -> Option<f64> {
        let [.., before, last] = self.points.as_slice() else { return None };
        Some(1.0 - last.loss / before.loss).filter(|gain| gain.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gain_is_that_of_the_last_rows() {
        let curve = |losses: &[f64]| LearningCurve {
            learner: "trees".into(),
            points: losses.iter().map(|&loss| LearningPoint { rows: 100, loss }).collect(),
        };
        assert_eq!(curve(&[0.9, 0.5, 0.4]).gain().map(|gain| (100.0 * gain).round()), Some(20.0));
        assert_eq!(curve(&[0.4, 0.5]).gain().map(|gain| (100.0 * gain).round()), Some(-25.0));
        assert_eq!((curve(&[0.5]).gain(), curve(&[0.0, 0.0]).gain()), (None, None));
    }
}
