//! What a predictor from elsewhere answers, checked and turned into tensors.

use super::counted;
use crate::error::{Error, Result};
use crate::model::Predictive;
use crate::tensor::Tensor;

/// Below this a probability's logarithm stands still: it keeps gradients finite where a probability is 0.
const LEAST_PROBABILITY: f64 = 1e-30;
/// The probabilities of a row may miss 1 by so much: the rounding of half precision over many classes.
const ROUNDING: f64 = 2e-3;

/// Answer of a predictor for some rows in plain numbers: sample after sample, and row after row within a sample.
///
/// A cotangent has the same form, with ∂L/∂value in the place of each value.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Probabilities p(y | x, θ_s).
    Probabilities {
        /// The probabilities, `[samples, rows, classes]`.
        values: Vec<f32>,
        /// Number S of posterior samples.
        samples: usize,
        /// Number of classes.
        classes: usize,
    },
    /// Logarithms log p(y | x, θ_s); −∞ is allowed.
    LogProbabilities {
        /// The logarithms, `[samples, rows, classes]`.
        values: Vec<f32>,
        /// Number S of posterior samples.
        samples: usize,
        /// Number of classes.
        classes: usize,
    },
    /// Normal distributions of the scaled target.
    Gaussian {
        /// Means E[y | x, θ_s], `[samples, rows]`.
        mean: Vec<f32>,
        /// Variances Var[y | x, θ_s], `[samples, rows]`.
        variance: Vec<f32>,
        /// Number S of posterior samples.
        samples: usize,
    },
}

/// An answer without its numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Probabilities { samples: usize, classes: usize },
    LogProbabilities { samples: usize, classes: usize },
    Gaussian { samples: usize },
}

impl Answer {
    pub(super) fn form(&self) -> Form {
        match *self {
            Self::Probabilities { samples, classes, .. } => Form::Probabilities { samples, classes },
            Self::LogProbabilities { samples, classes, .. } => Form::LogProbabilities { samples, classes },
            Self::Gaussian { samples, .. } => Form::Gaussian { samples },
        }
    }

    /// All numbers, one behind the other; for values the means and then the variances.
    pub fn numbers(&self) -> Vec<f32> {
        match self {
            Self::Probabilities { values, .. } | Self::LogProbabilities { values, .. } => values.clone(),
            Self::Gaussian { mean, variance, .. } => [mean.as_slice(), variance].concat(),
        }
    }

    /// Refuses an answer that is no predictive distribution of `rows` rows.
    pub(super) fn check(&self, rows: usize) -> Result<()> {
        if self.form().shape(rows).contains(&0) && rows > 0 {
            let problem = "the predictor answered with no sample or no class; give at least one of each";
            return Err(Error::data(problem));
        }
        match self {
            Self::Probabilities { values, samples, classes } => {
                counted("the predictor's array of probabilities", values, [*samples, rows, *classes])?;
                are_distributions(values, rows, *classes, |p| p)
            }
            Self::LogProbabilities { values, samples, classes } => {
                counted("the predictor's array of log-probabilities", values, [*samples, rows, *classes])?;
                are_distributions(values, rows, *classes, f64::exp)
            }
            Self::Gaussian { mean, variance, samples } => {
                counted("the predictor's mean", mean, [*samples, rows])?;
                counted("the predictor's variance", variance, [*samples, rows])?;
                if let Some(place) = mean.iter().position(|mean| !mean.is_finite()) {
                    let what = located("mean", place, rows);
                    return Err(Error::data(format!("{what} {}; it must be finite", mean[place])));
                }
                if let Some(place) = variance.iter().position(|variance| !(0.0..f32::INFINITY).contains(variance)) {
                    let what = located("variance", place, rows);
                    return Err(Error::data(format!("{what} {}; it must be 0 or more, and finite", variance[place])));
                }
                Ok(())
            }
        }
    }
}

/// "the predictor's mean of row 3 (sample 0) is".
fn located(what: &str, place: usize, rows: usize) -> String {
    format!("the predictor's {what} of row {} (sample {}) is", place % rows, place / rows)
}

/// Refuses rows of which `probability` does not make probabilities that sum to 1.
fn are_distributions(values: &[f32], rows: usize, classes: usize, probability: impl Fn(f64) -> f64) -> Result<()> {
    for (place, row) in values.chunks_exact(classes).enumerate() {
        let probabilities = || row.iter().map(|&value| probability(f64::from(value)));
        if let Some(class) = probabilities().position(|p| !(-ROUNDING..=1.0 + ROUNDING).contains(&p)) {
            let what = located(&format!("answer for class {class}"), place, rows);
            return Err(Error::data(format!("{what} {}; that is no probability", row[class])));
        }
        let sum: f64 = probabilities().sum();
        if (sum - 1.0).abs() > ROUNDING {
            let what = located("sum of probabilities", place, rows);
            return Err(Error::data(format!("{what} {sum:.4}; it must be 1: apply a softmax to scores")));
        }
    }
    Ok(())
}

impl Form {
    /// `[samples, rows, classes]`; for values the means and then the variances, `[2, samples, rows]`.
    pub(super) fn shape(self, rows: usize) -> [usize; 3] {
        match self {
            Self::Probabilities { samples, classes } | Self::LogProbabilities { samples, classes } => {
                [samples, rows, classes]
            }
            Self::Gaussian { samples } => [2, samples, rows],
        }
    }

    /// An answer of this form with these numbers.
    pub(super) fn filled(self, numbers: &[f32]) -> Answer {
        match self {
            Self::Probabilities { samples, classes } => {
                Answer::Probabilities { values: numbers.to_vec(), samples, classes }
            }
            Self::LogProbabilities { samples, classes } => {
                Answer::LogProbabilities { values: numbers.to_vec(), samples, classes }
            }
            Self::Gaussian { samples } => {
                let (mean, variance) = numbers.split_at(numbers.len() / 2);
                Answer::Gaussian { mean: mean.to_vec(), variance: variance.to_vec(), samples }
            }
        }
    }

    /// The numbers of an answer of this form as the predictive distribution that they stand for.
    pub(super) fn predictive(self, numbers: Tensor<3>) -> Predictive {
        match self {
            Self::Probabilities { .. } => {
                Predictive::Classes { log_probabilities: numbers.clamp_min(LEAST_PROBABILITY).log() }
            }
            Self::LogProbabilities { .. } => Predictive::Classes { log_probabilities: numbers },
            Self::Gaussian { .. } => Predictive::Gaussian {
                mean: numbers.clone().narrow(0, 0, 1).squeeze_dim(0),
                variance: numbers.narrow(0, 1, 1).squeeze_dim(0),
            },
        }
    }
}
