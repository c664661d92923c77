//! How well a model from elsewhere predicts rows whose targets are known, beside a constant answer.
//!
//! | target | in words | loss | of a constant answer |
//! |---|---|---|---|
//! | classes | share of rows that it is right about | Brier score: mean of Σ_c (p_c − [y = c])² | 1 − Σ_c f_c², with f_c the share of class c |
//! | a value | RMSE / spread of the target | (RMSE / spread)² | 1 |
//!
//! The loss decides: where one class is rare, a model that has learned much may be right no more often than a constant is.

use crate::data::{Targets, Task};
use crate::error::{Error, Result};
use crate::model::Predictive;
use crate::tensor::values;

/// How far the sum of probabilities may be from one.
const SUM: f32 = 1e-3;
/// A model must have at most this share of the loss of a constant answer.
const BETTER: f64 = 0.99;

/// How well a model predicts some rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Score {
    /// Share of right classes; for values RMSE / spread of the target.
    told: f64,
    /// Share of the most frequent class; for values 1.
    constant: f64,
    /// Brier score, or (RMSE / spread)².
    pub loss: f64,
    /// The same for a constant answer.
    constant_loss: f64,
    /// Mean −log p.
    pub nll: f64,
}

impl Score {
    /// The score of an answer; an error if it cannot be one.
    pub fn of(predictive: &Predictive, targets: &Targets, task: &Task) -> Result<Self> {
        match (predictive, task) {
            (Predictive::Classes { log_probabilities }, Task::Classification { classes }) => {
                let [samples, rows, width] = log_probabilities.dims();
                let p = values(log_probabilities.clone().exp());
                if let Some(at) = p.iter().position(|p| !p.is_finite()) {
                    return Err(Error::data(format!(
                        "the model's answer about row {} is {}",
                        at / width % rows,
                        p[at]
                    )));
                }
                let wrong = |(at, row): (usize, &[f32])| {
                    let sum: f32 = row.iter().sum();
                    (sum.is_nan() || (sum - 1.0).abs() > SUM).then_some((at % rows, sum))
                };
                if let Some((row, sum)) = p.chunks_exact(width).enumerate().find_map(wrong) {
                    let problem = format!("its probabilities of row {row} sum to {sum}, not to one");
                    return Err(Error::data(format!("{problem}; choose another output, such as logits")));
                }
                let mut mean = vec![0.0_f64; rows * width];
                for sample in p.chunks_exact(rows * width) {
                    mean.iter_mut().zip(sample).for_each(|(sum, p)| *sum += f64::from(*p) / samples as f64);
                }
                Ok(Self::of_classes(&mean, targets, classes.len()))
            }
            (Predictive::Gaussian { mean, variance }, Task::Regression(_)) => {
                let [samples, rows] = mean.dims();
                let (mean, variance) = (values(mean.clone()), values(variance.clone()));
                if let Some(at) = (0..mean.len()).find(|&at| !(mean[at].is_finite() && variance[at].is_finite())) {
                    return Err(Error::data(format!("the model's answer about row {} is {}", at % rows, mean[at])));
                }
                let over = |all: &[f32], row: usize| {
                    (0..samples).map(|s| f64::from(all[s * rows + row])).sum::<f64>() / samples as f64
                };
                let summary: Vec<(f64, f64)> = (0..rows).map(|row| (over(&mean, row), over(&variance, row))).collect();
                Ok(Self::of_values(&summary, targets))
            }
            _ => Err(Error::data("the model answers with another kind of target than the data have")),
        }
    }

    fn of_classes(mean: &[f64], targets: &Targets, classes: usize) -> Self {
        let Targets::Classes(labels) = targets else { return Self::unknown() };
        let rows = labels.len().max(1) as f64;
        let mut counts = vec![0_usize; classes];
        labels.iter().for_each(|&label| counts[label as usize] += 1);
        let largest = |p: &[f64]| (0..p.len()).rev().max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap_or(0);
        let each = || mean.chunks_exact(classes).zip(labels);
        let right = each().filter(|(p, label)| largest(p) == **label as usize).count() as f64 / rows;
        let nll = each().map(|(p, &label)| -p[label as usize].max(1e-12).ln()).sum::<f64>() / rows;
        let one = |(class, p): (usize, &f64), label: u32| (p - f64::from(u8::from(class == label as usize))).powi(2);
        let brier = |(p, label): (&[f64], &u32)| p.iter().enumerate().map(|row| one(row, *label)).sum::<f64>();
        let shares = || counts.iter().map(|&count| count as f64 / rows);
        Self {
            told: right,
            constant: shares().fold(0.0, f64::max),
            loss: each().map(brier).sum::<f64>() / rows,
            constant_loss: 1.0 - shares().map(|share| share * share).sum::<f64>(),
            nll,
        }
    }

    fn of_values(summary: &[(f64, f64)], targets: &Targets) -> Self {
        let Targets::Values(targets) = targets else { return Self::unknown() };
        let rows = targets.len().max(1) as f64;
        let centre = targets.iter().map(|&y| f64::from(y)).sum::<f64>() / rows;
        let spread = (targets.iter().map(|&y| (f64::from(y) - centre).powi(2)).sum::<f64>() / rows).sqrt();
        let each = || summary.iter().zip(targets).map(|(&(mean, variance), &y)| (mean - f64::from(y), variance));
        let rmse = (each().map(|(residual, _)| residual * residual).sum::<f64>() / rows).sqrt();
        let nll = each().map(|(residual, v)| 0.5 * (v.ln() + residual * residual / v)).sum::<f64>() / rows;
        let told = rmse / spread.max(f64::MIN_POSITIVE);
        Self { told, constant: 1.0, loss: told * told, constant_loss: 1.0, nll }
    }

    /// Of rows whose targets nobody knows.
    fn unknown() -> Self {
        Self { told: f64::NAN, constant: f64::NAN, loss: f64::NAN, constant_loss: f64::NAN, nll: f64::NAN }
    }

    /// The score in words.
    pub fn brief(&self, task: &Task) -> String {
        match task {
            Task::Classification { .. } => format!("right about {:.1} % of rows", 100.0 * self.told),
            Task::Regression(_) => format!("off by {:.2} of the target's spread", self.told),
        }
    }

    /// The score beside that of a constant answer.
    pub fn said(&self, task: &Task, rows: usize) -> Option<String> {
        if !self.told.is_finite() {
            return None;
        }
        let beside = match task {
            Task::Classification { .. } => {
                format!("the most frequent class alone would be about {:.1} %", 100.0 * self.constant)
            }
            Task::Regression(_) => "the mean alone would be off by 1".into(),
        };
        Some(format!("on {rows} rows it is {}; {beside}", self.brief(task)))
    }

    /// What to look at where the model is no better than a constant answer.
    pub fn doubt(&self) -> Option<&'static str> {
        (self.loss > BETTER * self.constant_loss).then_some(
            "the model knows no more of these rows than a constant answer: look at the order and the units of its columns, \
             the order of its classes, and what its numbers mean",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_classifier_is_scored_beside_the_most_frequent_class() {
        // Three of four rows have class 0: a constant has 1 − (9/16 + 1/16) = 3/8.
        let labels = Targets::Classes(vec![0, 0, 0, 1]);
        let score = Score::of_classes(&[0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.6, 0.4], &labels, 2);
        assert!((score.told - 0.75).abs() < 1e-12 && (score.constant_loss - 0.375).abs() < 1e-12);
        // (3 · 2 · 0.1² + 2 · 0.6²) / 4
        assert!((score.loss - 0.195).abs() < 1e-12);
        // It is right no more often than the constant, and yet knows more.
        assert!(score.doubt().is_none());
        let constant = Score::of_classes(&[0.75, 0.25].repeat(4), &labels, 2);
        assert!((constant.loss - 0.375).abs() < 1e-12 && constant.doubt().is_some());
    }

    #[test]
    fn a_value_is_scored_in_spreads_of_the_target() {
        // Targets 0 and 2 have spread 1; residuals of ½ make (½)² of the loss of the mean.
        let targets = Targets::Values(vec![0.0, 2.0]);
        let score = Score::of_values(&[(0.5, 1.0), (1.5, 1.0)], &targets);
        assert!((score.told - 0.5).abs() < 1e-12 && (score.loss - 0.25).abs() < 1e-12 && score.doubt().is_none());
        assert!(Score::of_values(&[(1.0, 1.0), (1.0, 1.0)], &targets).doubt().is_some());
    }

    #[test]
    fn rows_without_a_target_have_no_score_and_raise_no_doubt() {
        let score = Score::of_classes(&[0.5, 0.5], &Targets::Unknown(1), 2);
        assert!(score.doubt().is_none() && score.said(&Task::Classification { classes: vec![] }, 1).is_none());
    }
}
