//! What boosting minimises: −log p(y | outputs) of a row, with its gradient and a curvature for each output.
//!
//! | task | outputs | −log p | gradient | curvature |
//! |---|---|---|---|---|
//! | two classes | f, the log-odds of the second | log(1 + e^∓f) | p − y | p (1 − p) |
//! | K classes | f₁ … f_K | log Σ e^f_k − f_y | p_k − y_k | 2 p_k (1 − p_k) |
//! | a value | μ, s = log σ² | ½ (s + q) | (μ − y) e^−s, ½ (1 − q) | e^−s, ½ max(1, q) |
//!
//! with q = (y − μ)² e^−s. All outputs move in one round, so the curvatures bound the whole Hessian from above for
//! classes: twice its diagonal does, since the rows of a softmax's Hessian sum to 0. The curvature of s is the larger of
//! its second derivative and that derivative's mean: it is positive, and large where a residual is.

use crate::data::{Targets, Task};
use crate::error::{Error, Result};

/// The log variance stays between these: deviations from 0.01 to 90 times the target's own.
const LEAST_LOG_VARIANCE: f32 = -9.0;
const MOST_LOG_VARIANCE: f32 = 9.0;
/// The largest target: squares of larger ones, over the least variance, leave the finite numbers.
const LARGEST_TARGET: f32 = 1e9;

/// Gradient and curvature by one output.
pub(super) type Derivatives = [f32; 2];

/// The loss of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// Two classes.
    Logistic,
    /// This number of classes.
    Softmax(usize),
    /// A value with its variance.
    Gaussian,
}

impl Loss {
    /// The loss of a task.
    pub fn of(task: &Task) -> Self {
        match task {
            Task::Classification { classes } if classes.len() == 2 => Self::Logistic,
            Task::Classification { classes } => Self::Softmax(classes.len()),
            Task::Regression(_) => Self::Gaussian,
        }
    }

    /// Number of outputs of a row.
    pub fn outputs(self) -> usize {
        match self {
            Self::Logistic => 1,
            Self::Softmax(classes) => classes,
            Self::Gaussian => 2,
        }
    }

    /// Number of numbers in an answer: log probabilities of the classes, or mean and variance.
    pub fn answers(self) -> usize {
        match self {
            Self::Softmax(classes) => classes,
            Self::Logistic | Self::Gaussian => 2,
        }
    }

    /// The targets as numbers: positions of classes, or values.
    pub fn targets(self, y: &Targets) -> Result<Vec<f32>> {
        match (self, y) {
            (Self::Gaussian, Targets::Values(values)) => {
                match values.iter().position(|value| value.is_nan() || value.abs() > LARGEST_TARGET) {
                    Some(row) => {
                        let problem = format!("the target of training row {row} is {:e}", values[row]);
                        Err(Error::data(format!("{problem}; scaled values lie near 0")))
                    }
                    None => Ok(values.clone()),
                }
            }
            (Self::Logistic | Self::Softmax(_), Targets::Classes(labels)) => {
                let classes = self.answers();
                match labels.iter().position(|&label| label as usize >= classes) {
                    Some(row) => Err(Error::data(format!(
                        "training row {row} has the class {}, there are {classes} from 0 on",
                        labels[row]
                    ))),
                    None => Ok(labels.iter().map(|&label| label as f32).collect()),
                }
            }
            _ => Err(Error::data("boosted trees need training rows with targets of their task")),
        }
    }

    /// The outputs before the first tree: those of the shares of the classes, or of mean and variance.
    ///
    /// Each class counts one row more than there are, so that a class without rows stays possible.
    pub fn start(self, targets: impl Iterator<Item = f32> + Clone) -> Vec<f32> {
        let classes = |classes: usize| {
            let mut counts = vec![1.0f32; classes];
            targets.clone().for_each(|label| counts[label as usize] += 1.0);
            counts
        };
        match self {
            Self::Logistic => {
                let counts = classes(2);
                vec![(counts[1] / counts[0]).ln()]
            }
            Self::Softmax(count) => {
                let counts = classes(count);
                let total: f32 = counts.iter().sum();
                counts.iter().map(|count| (count / total).ln()).collect()
            }
            Self::Gaussian => {
                let count = targets.clone().count().max(1) as f64;
                let mean = targets.clone().map(f64::from).sum::<f64>() / count;
                let variance = targets.map(|y| (f64::from(y) - mean).powi(2)).sum::<f64>() / count;
                vec![mean as f32, log_variance(variance.ln() as f32)]
            }
        }
    }

    /// −log p(y), up to a constant.
    pub fn value(self, outputs: &[f32], target: f32) -> f32 {
        match self {
            Self::Logistic => softplus(if target > 0.5 { -outputs[0] } else { outputs[0] }),
            Self::Softmax(_) => log_sum_exp(outputs) - outputs[target as usize],
            Self::Gaussian => {
                let s = log_variance(outputs[1]);
                0.5 * (s + (target - outputs[0]).powi(2) * (-s).exp())
            }
        }
    }

    /// Gradient and curvature of [`Loss::value`] by each output.
    pub fn derivatives(self, outputs: &[f32], target: f32, into: &mut [Derivatives]) {
        match self {
            Self::Logistic => {
                let p = 1.0 / (1.0 + (-outputs[0]).exp());
                into[0] = [p - target, p * (1.0 - p)];
            }
            Self::Softmax(_) => {
                let log_sum = log_sum_exp(outputs);
                for (f, into) in outputs.iter().zip(&mut *into) {
                    let p = (f - log_sum).exp();
                    *into = [p, 2.0 * p * (1.0 - p)];
                }
                into[target as usize][0] -= 1.0;
            }
            Self::Gaussian => {
                let s = log_variance(outputs[1]);
                let precision = (-s).exp();
                let residual = outputs[0] - target;
                let q = residual * residual * precision;
                into[0] = [residual * precision, precision];
                // A log variance at its limit is not pushed farther out.
                let outwards = if q < 1.0 { outputs[1] <= LEAST_LOG_VARIANCE } else { outputs[1] >= MOST_LOG_VARIANCE };
                into[1] = [if outwards { 0.0 } else { 0.5 * (1.0 - q) }, 0.5 * q.max(1.0)];
            }
        }
    }

    /// What the outputs of a row say: log probabilities of the classes, or mean and variance.
    pub fn answer(self, outputs: &[f32], into: &mut [f32]) {
        match self {
            Self::Logistic => (into[0], into[1]) = (-softplus(outputs[0]), -softplus(-outputs[0])),
            Self::Softmax(_) => {
                let log_sum = log_sum_exp(outputs);
                outputs.iter().zip(into).for_each(|(f, into)| *into = f - log_sum);
            }
            Self::Gaussian => (into[0], into[1]) = (outputs[0], log_variance(outputs[1]).exp()),
        }
    }
}

fn log_variance(s: f32) -> f32 {
    s.clamp(LEAST_LOG_VARIANCE, MOST_LOG_VARIANCE)
}

/// log(1 + e^f).
fn softplus(f: f32) -> f32 {
    f.max(0.0) + (-f.abs()).exp().ln_1p()
}

fn log_sum_exp(outputs: &[f32]) -> f32 {
    let largest = outputs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    largest + outputs.iter().map(|f| (f - largest).exp()).sum::<f32>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First and second derivative of the loss by output `k`, by central differences.
    fn differences(loss: Loss, outputs: &[f32], target: f32, k: usize) -> [f32; 2] {
        let step = 0.05;
        let at = |by: f32| {
            let mut moved = outputs.to_vec();
            moved[k] += by;
            loss.value(&moved, target)
        };
        [(at(step) - at(-step)) / (2.0 * step), (at(step) - 2.0 * at(0.0) + at(-step)) / (step * step)]
    }

    fn assert_derivatives(loss: Loss, outputs: &[f32], target: f32, curvature: impl Fn(usize, f32) -> f32) {
        let mut got = vec![[0.0; 2]; loss.outputs()];
        loss.derivatives(outputs, target, &mut got);
        for (k, got) in got.into_iter().enumerate() {
            let [first, second] = differences(loss, outputs, target, k);
            let expected = [first, curvature(k, second)];
            let close = (0..2).all(|i| (got[i] - expected[i]).abs() < 5e-3 * (1.0 + expected[i].abs()));
            assert!(close, "{loss:?} at {outputs:?}, output {k}: {got:?}, expected {expected:?}");
        }
    }

    #[test]
    fn derivatives_are_those_of_central_differences() {
        for (outputs, target) in [([0.0], 1.0), ([1.5], 0.0), ([-2.0], 1.0)] {
            assert_derivatives(Loss::Logistic, &outputs, target, |_, second| second);
        }
        for (outputs, target) in [([0.0, 0.0, 0.0], 1.0), ([1.0, -0.5, 0.2], 0.0), ([-1.0, 2.0, 0.0], 2.0)] {
            assert_derivatives(Loss::Softmax(3), &outputs, target, |_, second| 2.0 * second);
        }
        for (outputs, target) in [([0.0, 0.0], 2.0), ([0.3, -1.0], -0.5), ([0.5, 1.0], 0.4)] {
            let curvature = |k, second: f32| if k == 0 { second } else { second.max(0.5) };
            assert_derivatives(Loss::Gaussian, &outputs, target, curvature);
        }
    }

    #[test]
    fn a_log_variance_beyond_its_limits_is_only_led_back() {
        let gradient = |outputs: [f32; 2], target: f32| {
            let mut into = [[0.0; 2]; 2];
            Loss::Gaussian.derivatives(&outputs, target, &mut into);
            into[1][0]
        };
        assert_eq!(gradient([0.0, -20.0], 0.0), 0.0);
        assert!(gradient([0.0, -20.0], 1.0) < 0.0);
        assert_eq!(gradient([0.0, 20.0], 1e6), 0.0);
        assert!(gradient([0.0, 20.0], 1.0) > 0.0);
    }

    #[test]
    fn the_start_says_the_shares_of_the_classes_or_the_moments() {
        // One more of each: 3 of 4, and 1, 2, 3 of 6.
        assert_eq!(Loss::Logistic.start([1.0, 1.0].into_iter()), [3f32.ln()]);
        let start = Loss::Softmax(3).start([1.0, 2.0, 2.0].into_iter());
        for (got, share) in start.iter().zip([1.0f32, 2.0, 3.0]) {
            assert!((got - (share / 6.0).ln()).abs() < 1e-6);
        }
        assert_eq!(Loss::Gaussian.start([1.0, 5.0].into_iter()), [3.0, 4f32.ln()]);
        assert_eq!(Loss::Gaussian.start([2.0, 2.0].into_iter()), [2.0, LEAST_LOG_VARIANCE]);
    }

    #[test]
    fn answers_are_logarithms_of_probabilities_that_sum_to_one() {
        for (loss, outputs) in [(Loss::Logistic, vec![-200.0]), (Loss::Softmax(3), vec![300.0, 1.0, -300.0])] {
            let mut into = vec![0.0; loss.answers()];
            loss.answer(&outputs, &mut into);
            assert!(into.iter().all(|log| log.is_finite() && *log <= 0.0), "{into:?}");
            assert!((into.iter().map(|log| log.exp()).sum::<f32>() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn targets_of_another_task_or_out_of_range_are_refused() {
        let refusal = |loss: Loss, y: Targets| loss.targets(&y).unwrap_err().to_string();
        assert!(refusal(Loss::Logistic, Targets::Classes(vec![0, 2])).contains("row 1 has the class 2"));
        for (value, word) in [(f32::NAN, "row 0 is NaN"), (f32::INFINITY, "row 0 is inf"), (-2e30, "row 0 is -2e30")] {
            let message = refusal(Loss::Gaussian, Targets::Values(vec![value]));
            assert!(message.contains(word), "{message}");
        }
        assert!(refusal(Loss::Gaussian, Targets::Classes(vec![0])).contains("targets of their task"));
        assert!(refusal(Loss::Softmax(3), Targets::Unknown(2)).contains("targets of their task"));
    }
}
