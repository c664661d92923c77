//! What the numbers of a model from elsewhere stand for.
//!
//! | output | numbers of a row | becomes |
//! |---|---|---|
//! | probabilities p | one a class, or p of the second class | log p |
//! | log-probabilities | one a class | themselves |
//! | logits l | one a class, or l of the second class | log softmax l |
//! | mean | μ in the data's unit | a normal distribution without noise |
//! | mean-variance, mean-log-variance, mean-deviation | μ and σ², log σ² or σ | N(μ, σ²) |
//! | quantiles q at levels p | one a level | N(μ, σ²) with q_i ≈ μ + σ Φ⁻¹(p_i), least squares |

use super::super::Predictive;
use super::super::mlp::VARIANCE_FLOOR;
use crate::data::{Scaling, Task};
use crate::error::{Error, Result};
use crate::named;
use crate::normal::normal_quantile;
use crate::tensor::{Tensor, log_softmax, tensor};
use serde::{Deserialize, Serialize};

/// Probabilities below this have the logarithm of this.
const LEAST: f32 = 1e-12;

named! {
    "predictor.output", "what a model answers";
    /// Meaning of a model's numbers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum ModelOutput {
        /// Probabilities of the classes.
        Probabilities = "probabilities",
        /// Their logarithms.
        LogProbabilities = "log-probabilities",
        /// Numbers whose softmax are the probabilities.
        Logits = "logits",
        /// The expected value.
        Mean = "mean",
        /// The expected value, and the variance around it.
        MeanVariance = "mean-variance",
        /// The expected value, and the logarithm of the variance around it.
        MeanLogVariance = "mean-log-variance",
        /// The expected value, and the standard deviation around it.
        MeanDeviation = "mean-deviation",
        /// Quantiles of the value.
        Quantiles = "quantiles",
    }
}

impl ModelOutput {
    /// The outputs that a model for this task may have, the likeliest to be recognised first.
    pub fn of_task(task: &Task) -> &'static [Self] {
        match task {
            Task::Classification { .. } => &[Self::Probabilities, Self::LogProbabilities, Self::Logits],
            Task::Regression(_) => {
                &[Self::Mean, Self::MeanVariance, Self::MeanDeviation, Self::MeanLogVariance, Self::Quantiles]
            }
        }
    }

    /// The predictive distributions that the numbers of S posterior samples stand for.
    ///
    /// # Shapes
    /// - `numbers`: `[S, rows, numbers of a row]`
    pub fn predictive(self, numbers: Tensor<3>, levels: &[f64], task: &Task) -> Result<Predictive> {
        match task {
            Task::Classification { classes } => self.classes(numbers, classes.len()),
            Task::Regression(scaling) => self.gaussian(numbers, levels, scaling),
        }
    }

    fn classes(self, numbers: Tensor<3>, classes: usize) -> Result<Predictive> {
        let [samples, rows, width] = numbers.dims();
        let alone = width == 1 && classes == 2;
        if width != classes && !alone {
            return Err(Error::data(format!(
                "the model answers with {width} numbers a row, and the target has {classes} classes; give the classes of \
                 the model in the schema, in its order"
            )));
        }
        let log_probabilities = match self {
            Self::Probabilities => {
                let p = match alone {
                    true => Tensor::cat(vec![-numbers.clone() + 1.0, numbers], 2),
                    false => numbers,
                };
                p.clamp_min(LEAST).log()
            }
            Self::LogProbabilities if alone => return Err(self.misfit(width)),
            Self::LogProbabilities => numbers,
            Self::Logits => {
                let logits = match alone {
                    true => Tensor::cat(vec![tensor(vec![0.0; samples * rows], [samples, rows, 1]), numbers], 2),
                    false => numbers,
                };
                log_softmax(logits, 2)
            }
            _ => return Err(self.of_another_task("classes")),
        };
        Ok(Predictive::Classes { log_probabilities })
    }

    fn gaussian(self, numbers: Tensor<3>, levels: &[f64], scaling: &Scaling) -> Result<Predictive> {
        let [samples, rows, width] = numbers.dims();
        let column = |at: usize| numbers.clone().narrow(2, at, 1).reshape([samples, rows]);
        let two = || if width == 2 { Ok((column(0), column(1))) } else { Err(self.misfit(width)) };
        let none = || tensor(vec![0.0; samples * rows], [samples, rows]);
        let (mean, variance) = match self {
            Self::Mean if width == 1 => (column(0), none()),
            Self::Mean => return Err(self.misfit(width)),
            Self::MeanVariance => two()?,
            Self::MeanLogVariance => two().map(|(mean, log)| (mean, log.exp()))?,
            Self::MeanDeviation => two().map(|(mean, deviation)| (mean, deviation.clone() * deviation))?,
            Self::Quantiles => {
                let (of_mean, of_deviation) = fit_to_quantiles(levels, width)?;
                let weighed = |weights: Vec<f32>| {
                    let weights = tensor(weights, [1, 1, width]);
                    (numbers.clone() * weights).sum_dim(2).reshape([samples, rows])
                };
                let deviation = weighed(of_deviation);
                (weighed(of_mean), deviation.clone() * deviation)
            }
            _ => return Err(self.of_another_task("a value")),
        };
        let (shift, scale) = (scaling.mean as f32, scaling.deviation as f32);
        let variance = (variance / (scale * scale)).clamp_min(VARIANCE_FLOOR as f32);
        Ok(Predictive::Gaussian { mean: (mean - shift) / scale, variance })
    }

    fn misfit(self, width: usize) -> Error {
        Error::data(format!(
            "the model answers with {width} numbers a row, which cannot be `{self}`; choose another output"
        ))
    }

    fn of_another_task(self, target: &str) -> Error {
        Error::setting("predictor.output", format!("is `{self}`, and the target is {target}"))
    }
}

/// The weights of quantiles in μ and in σ: of least Σ (q_i − μ − σ z_i)², with z_i = Φ⁻¹(p_i).
fn fit_to_quantiles(levels: &[f64], width: usize) -> Result<(Vec<f32>, Vec<f32>)> {
    let problem = |problem: String| Err(Error::setting("predictor.quantiles", problem));
    if levels.len() != width || width < 2 {
        return problem(format!("names {} levels, and the model answers with {width} numbers a row", levels.len()));
    }
    if let Some(level) = levels.iter().find(|level| !(0.0 < **level && **level < 1.0)) {
        return problem(format!("has the level {level}; levels lie between 0 and 1"));
    }
    let z: Vec<f64> = levels.iter().map(|&level| normal_quantile(level)).collect();
    let n = z.len() as f64;
    let centre = z.iter().sum::<f64>() / n;
    let spread: f64 = z.iter().map(|z| (z - centre).powi(2)).sum();
    if spread <= 0.0 {
        return problem("has one level twice; give different levels".into());
    }
    let of_deviation: Vec<f64> = z.iter().map(|z| (z - centre) / spread).collect();
    let of_mean = of_deviation.iter().map(|weight| (1.0 / n - weight * centre) as f32).collect();
    Ok((of_mean, of_deviation.into_iter().map(|weight| weight as f32).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::values;

    fn assert_near(got: &[f32], expected: &[f32], tolerance: f32) {
        let near = got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() <= tolerance);
        assert!(near && got.len() == expected.len(), "{got:?} is not {expected:?}");
    }

    fn two_classes() -> Task {
        Task::Classification { classes: vec!["no".into(), "yes".into()] }
    }

    fn value() -> Task {
        let scaling = Scaling { mean: 10.0, deviation: 2.0, decimals: None, least: 0.0, greatest: 20.0 };
        Task::Regression(scaling)
    }

    fn logs(output: ModelOutput, numbers: &[f32]) -> Vec<f32> {
        let numbers = tensor(numbers.to_vec(), [1, 1, numbers.len()]);
        let Predictive::Classes { log_probabilities } = output.predictive(numbers, &[], &two_classes()).unwrap() else {
            panic!("classes are asked for");
        };
        values(log_probabilities.exp())
    }

    fn normal(output: ModelOutput, numbers: &[f32], levels: &[f64]) -> [f32; 2] {
        let numbers = tensor(numbers.to_vec(), [1, 1, numbers.len()]);
        let Predictive::Gaussian { mean, variance } = output.predictive(numbers, levels, &value()).unwrap() else {
            panic!("a value is asked for");
        };
        [values(mean)[0], values(variance)[0]]
    }

    #[test]
    fn every_form_of_classes_means_the_same_probabilities() {
        let [p, q] = [0.25_f32, 0.75];
        for (output, numbers) in [
            (ModelOutput::Probabilities, vec![p, q]),
            (ModelOutput::Probabilities, vec![q]),
            (ModelOutput::LogProbabilities, vec![p.ln(), q.ln()]),
            (ModelOutput::Logits, vec![1.0, 1.0 + 3_f32.ln()]),
            (ModelOutput::Logits, vec![3_f32.ln()]),
        ] {
            assert_near(&logs(output, &numbers), &[0.25, 0.75], 1e-6);
        }
    }

    #[test]
    fn every_form_of_a_value_means_the_same_normal_distribution() {
        // μ = 12 and σ = 4 in the data's unit are 1 and 4 / 2² · 4 = 4 in the scaled one.
        assert_near(&normal(ModelOutput::MeanVariance, &[12.0, 16.0], &[]), &[1.0, 4.0], 1e-6);
        assert_near(&normal(ModelOutput::MeanDeviation, &[12.0, 4.0], &[]), &[1.0, 4.0], 1e-6);
        assert_near(&normal(ModelOutput::MeanLogVariance, &[12.0, 16_f32.ln()], &[]), &[1.0, 4.0], 1e-5);
        assert_near(&normal(ModelOutput::Mean, &[12.0], &[]), &[1.0, VARIANCE_FLOOR as f32], 1e-6);
        // Φ⁻¹(0.1) = −1.28155: quantiles 12 ∓ 4 · 1.28155.
        let quantiles = [12.0 - 5.126_206, 12.0, 12.0 + 5.126_206];
        assert_near(&normal(ModelOutput::Quantiles, &quantiles, &[0.1, 0.5, 0.9]), &[1.0, 4.0], 1e-4);
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused_with_what_they_are() {
        let three = tensor(vec![0.1, 0.2, 0.7], [1, 1, 3]);
        let problem = |output: ModelOutput, task: &Task| {
            output.predictive(three.clone(), &[0.1, 0.9], task).unwrap_err().to_string()
        };
        assert!(problem(ModelOutput::Logits, &two_classes()).contains("3 numbers a row, and the target has 2 classes"));
        assert!(problem(ModelOutput::Mean, &value()).contains("cannot be `mean`"));
        assert!(problem(ModelOutput::Quantiles, &value()).contains("names 2 levels"));
        assert!(problem(ModelOutput::Logits, &value()).contains("the target is a value"));
    }
}
