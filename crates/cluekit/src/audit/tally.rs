//! How many rows a model is unsure about, and what they hold.

use super::rows::{Rows, aleatoric_share, mean};
use serde::{Deserialize, Serialize};

/// Counts and means over all rows, and over those that the model is unsure about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Number of rows.
    pub rows: usize,
    /// Number of rows that the model is unsure about.
    pub unsure: usize,
    /// Number of rows with a wrong predicted class; none for a regression.
    pub wrong: Option<usize>,
    /// Number of rows with a wrong predicted class that the model is unsure about; none for a regression.
    pub wrong_unsure: Option<usize>,
    /// Error of the rows that the model is sure about: a share of wrong classes, or a root mean squared error.
    pub error_sure: Option<f64>,
    /// Error of the rows that the model is unsure about: a share of wrong classes, or a root mean squared error.
    pub error_unsure: Option<f64>,
    /// Mean total uncertainty of all rows.
    pub total: f64,
    /// Aleatoric part of the mean total uncertainty.
    pub aleatoric: f64,
    /// Epistemic part of the mean total uncertainty.
    pub epistemic: f64,
    /// Aleatoric share of the uncertainty of the unsure rows, between 0 and 1; none without such rows.
    pub aleatoric_share_unsure: Option<f64>,
}

impl Tally {
    /// Counts and means over these rows.
    pub fn of(rows: &Rows) -> Self {
        let (unsure, sure): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|&row| rows.is_unsure(row));
        let over = |of: &dyn Fn(usize) -> f64| mean((0..rows.len()).map(of)).unwrap_or(0.0);
        let classes = !rows.task.is_regression();
        let wrong = |rows_: &[usize]| rows_.iter().filter(|&&row| rows.is_wrong(row) == Some(true)).count();
        Self {
            rows: rows.len(),
            unsure: unsure.len(),
            wrong: classes.then(|| wrong(&unsure) + wrong(&sure)),
            wrong_unsure: classes.then(|| wrong(&unsure)),
            error_sure: rows.error(&sure),
            error_unsure: rows.error(&unsure),
            total: over(&|row| rows.total(row)),
            aleatoric: over(&|row| rows.parts(row)[0]),
            epistemic: over(&|row| rows.parts(row)[1]),
            aleatoric_share_unsure: aleatoric_share(unsure.iter().map(|&row| rows.parts(row))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::toy::*;
    use super::*;

    #[test]
    fn two_of_four_rows_are_unsure_and_hold_two_of_three_errors() {
        let (samples, task) = (of_classes(&[0.0; 4], &[0, 1, 1, 1]), letters());
        let sure = says(&[1.0, 0.0, 0.0], 0.0);
        let predictions = [sure.clone(), sure, says(&[0.6, 0.4, 0.0], 0.8), says(&[0.6, 0.4, 0.0], 1.2)];
        let rows = Rows { samples: &samples, predictions: &predictions, task: &task, unsure_above: 0.5 };
        let tally = Tally::of(&rows);
        assert_eq!((tally.rows, tally.unsure, tally.wrong, tally.wrong_unsure), (4, 2, Some(3), Some(2)));
        assert_eq!((tally.error_sure, tally.error_unsure), (Some(0.5), Some(1.0)));
        assert_eq!(tally.aleatoric_share_unsure, Some(0.5));
        assert!((tally.total - 0.5).abs() < 1e-6, "(0.8 + 1.2) / 4");
    }

    #[test]
    fn a_model_that_is_sure_of_everything_has_no_share_to_tell() {
        let (samples, task) = (of_classes(&[0.0], &[0]), letters());
        let predictions = [says(&[1.0, 0.0, 0.0], 0.0)];
        let tally = Tally::of(&Rows { samples: &samples, predictions: &predictions, task: &task, unsure_above: 0.5 });
        assert_eq!((tally.unsure, tally.error_unsure, tally.aleatoric_share_unsure), (0, None, None));
    }

    #[test]
    fn the_parts_of_deviations_are_those_of_variances() {
        let samples = crate::data::Samples { y: crate::data::Targets::Values(vec![0.0]), ..of_classes(&[0.0], &[0]) };
        let task = plain();
        let mut prediction = says(&[0.0], 5.0);
        (prediction.uncertainty.aleatoric, prediction.uncertainty.epistemic) = (3.0, 4.0);
        let predictions = [prediction];
        let tally = Tally::of(&Rows { samples: &samples, predictions: &predictions, task: &task, unsure_above: 1.0 });
        assert!((tally.aleatoric_share_unsure.unwrap() - 9.0 / 25.0).abs() < 1e-12);
        assert!((tally.aleatoric + tally.epistemic - tally.total).abs() < 1e-12);
    }
}
