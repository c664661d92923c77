//! Rows beside what the model says of them: what every count of an audit looks at.

use crate::data::{Samples, Targets, Task};
use crate::prediction::{Prediction, UncertaintyParts, unscaled};

/// Rows with their predictions, as an audit counts them.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// The rows with their targets.
    pub samples: &'a Samples,
    /// Prediction for each row.
    pub predictions: &'a [Prediction],
    /// What is predicted: classes or a value.
    pub task: &'a Task,
    /// The model is unsure about a row whose total uncertainty exceeds this.
    pub unsure_above: f32,
}

impl Rows<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.predictions.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.predictions.is_empty()
    }

    /// The total uncertainty of a row.
    pub fn total(&self, row: usize) -> f64 {
        f64::from(self.predictions[row].uncertainty.total)
    }

    /// Aleatoric and epistemic part of a row's total uncertainty, which add up to it.
    pub fn parts(&self, row: usize) -> [f64; 2] {
        parts(self.predictions[row].uncertainty, self.task.is_regression())
    }

    /// Whether the model is unsure about a row.
    pub fn is_unsure(&self, row: usize) -> bool {
        self.predictions[row].uncertainty.total > self.unsure_above
    }

    /// The true class of a row; none for a regression.
    pub fn class(&self, row: usize) -> Option<usize> {
        match &self.samples.y {
            Targets::Classes(labels) => Some(labels[row] as usize),
            Targets::Values(_) | Targets::Unknown(_) => None,
        }
    }

    /// Whether the predicted class of a row is wrong; none for a regression.
    pub fn is_wrong(&self, row: usize) -> Option<bool> {
        self.class(row).map(|class| self.predictions[row].label() != class)
    }

    /// What a row adds to the error: 1 for a wrong class; for a regression the squared error.
    pub fn miss(&self, row: usize) -> f64 {
        match (&self.samples.y, self.task) {
            (Targets::Values(values), Task::Regression(scaling)) => {
                (unscaled(values[row], scaling) - f64::from(self.predictions[row].mean[0])).powi(2)
            }
            _ => f64::from(u8::from(self.is_wrong(row) == Some(true))),
        }
    }

    /// The error over some rows: the share of wrong classes, or the root of the mean squared error; none of no rows.
    pub fn error(&self, rows: &[usize]) -> Option<f64> {
        let mean = mean(rows.iter().map(|&row| self.miss(row)))?;
        Some(if self.task.is_regression() { mean.sqrt() } else { mean })
    }

    /// The mean probability of the predicted class over some rows; none for a regression, and of no rows.
    pub fn confidence(&self, rows: &[usize]) -> Option<f64> {
        let greatest = |&row: &usize| self.predictions[row].mean.iter().copied().fold(0.0, f32::max);
        let mean = mean(rows.iter().map(|row| f64::from(greatest(row))))?;
        (!self.task.is_regression()).then_some(mean)
    }
}

/// The aleatoric and the epistemic part of an uncertainty, which add up to all of it. Deviations of values do not, but
/// their squares do: a deviation is split as its square is.
pub(super) fn parts(amounts: UncertaintyParts, of_value: bool) -> [f64; 2] {
    let parts = [amounts.aleatoric, amounts.epistemic].map(f64::from);
    if !of_value {
        return parts;
    }
    let squares = parts.map(|part| part * part);
    let whole = squares[0] + squares[1];
    squares.map(|square| if whole > 0.0 { f64::from(amounts.total) * square / whole } else { 0.0 })
}

/// The aleatoric share of what [`parts`] add up to; none of nothing.
pub(super) fn aleatoric_share(parts: impl Iterator<Item = [f64; 2]>) -> Option<f64> {
    let [aleatoric, epistemic] = parts.fold([0.0, 0.0], |sum, part| [sum[0] + part[0], sum[1] + part[1]]);
    (aleatoric + epistemic > 0.0).then(|| aleatoric / (aleatoric + epistemic))
}

/// The mean of some numbers; none of none.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// `part` of `whole`; 0 of nothing.
pub(super) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
pub(super) mod toy {
    use super::*;
    use crate::data::Scaling;

    /// A prediction whose uncertainty is half aleatoric.
    pub fn says(mean: &[f32], total: f32) -> Prediction {
        let half = total / 2.0;
        Prediction { mean: mean.to_vec(), uncertainty: UncertaintyParts { total, aleatoric: half, epistemic: half } }
    }

    /// Rows of one column that belong to these classes.
    pub fn of_classes(x: &[f32], labels: &[u32]) -> Samples {
        Samples { x: x.to_vec(), width: 1, y: Targets::Classes(labels.to_vec()), weights: None }
    }

    /// Classes a, b and c.
    pub fn letters() -> Task {
        Task::Classification { classes: ["a", "b", "c"].map(String::from).to_vec() }
    }

    /// A value that is scaled by nothing.
    pub fn plain() -> Task {
        Task::Regression(Scaling { mean: 0.0, deviation: 1.0, decimals: None, least: -9.0, greatest: 9.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::toy::*;
    use super::*;

    #[test]
    fn the_error_of_values_is_a_root_mean_square_and_that_of_classes_a_share() {
        let (samples, task) = (of_classes(&[0.0; 2], &[0, 2]), letters());
        let predictions = [says(&[0.9, 0.1, 0.0], 0.3), says(&[0.1, 0.6, 0.3], 0.9)];
        let rows = Rows { samples: &samples, predictions: &predictions, task: &task, unsure_above: 0.5 };
        assert_eq!(rows.error(&[0, 1]), Some(0.5));
        assert_eq!(rows.error(&[]), None);
        assert_eq!([0, 1].map(|row| rows.is_unsure(row)), [false, true]);
        let samples = Samples { y: Targets::Values(vec![1.0, 5.0]), ..samples };
        let (predictions, task) = ([says(&[4.0], 1.0), says(&[9.0], 1.0)], plain());
        let rows = Rows { samples: &samples, predictions: &predictions, task: &task, unsure_above: 2.0 };
        // (9 + 16) / 2
        assert_eq!(rows.error(&[0, 1]), Some(12.5_f64.sqrt()));
        assert_eq!(rows.is_wrong(0), None);
    }

    #[test]
    fn squares_of_deviations_add_up_and_entropies_themselves() {
        // 3² + 4² = 5²: 9 of 25 parts of a deviation of 5.
        let amounts = UncertaintyParts { total: 5.0, aleatoric: 3.0, epistemic: 4.0 };
        let [aleatoric, epistemic] = parts(amounts, true);
        assert!((aleatoric - 1.8).abs() < 1e-12 && (epistemic - 3.2).abs() < 1e-12, "{aleatoric} {epistemic}");
        assert!((aleatoric_share([parts(amounts, true)].into_iter()).unwrap() - 0.36).abs() < 1e-12);
        assert_eq!(parts(amounts, false), [3.0, 4.0]);
        let nothing = UncertaintyParts { total: 0.0, aleatoric: 0.0, epistemic: 0.0 };
        assert_eq!((parts(nothing, true), aleatoric_share([[0.0, 0.0]].into_iter())), ([0.0, 0.0], None));
    }
}
