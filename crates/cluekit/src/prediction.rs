//! What a predictor says of some rows, as plain numbers.

use crate::data::{Samples, Scaling, Task};
use crate::error::{Error, Result};
use crate::model::{Predictive, Predictor};
use crate::parallel::over_shards;
use crate::tensor::{Tensor, tensor, values};
use crate::uncertainty::{Decomposition, Uncertainty, mean_prediction};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Rows that one thread evaluates at a time: with 50 posterior samples their activations still fit into the cache.
const ROWS: usize = 64;

/// An epistemic part of so little, in nats or in deviations of the target, is no disagreement.
const ROUNDING: f32 = 2e-6;

/// An uncertainty with its parts: nats for classes, standard deviations in the data's unit for values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Amounts {
    /// All of it.
    pub total: f32,
    /// What more data would not remove.
    pub aleatoric: f32,
    /// What more data would remove.
    pub epistemic: f32,
}

impl Amounts {
    /// One kind of it.
    pub fn get(&self, kind: Uncertainty) -> f32 {
        match kind {
            Uncertainty::Total => self.total,
            Uncertainty::Aleatoric => self.aleatoric,
            Uncertainty::Epistemic => self.epistemic,
        }
    }
}

/// The prediction for one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Probabilities of the classes, or the one predicted value in the data's unit.
    pub mean: Vec<f32>,
    /// How unsure it is.
    pub uncertainty: Amounts,
}

impl Prediction {
    /// The most probable class; the first one of equals.
    pub fn label(&self) -> usize {
        (0..self.mean.len()).rev().max_by(|&a, &b| self.mean[a].total_cmp(&self.mean[b])).unwrap_or(0)
    }

    /// Whether it is a prediction at all: a network that an input leads out of the finite numbers says nothing.
    pub fn is_finite(&self) -> bool {
        self.mean.iter().all(|value| value.is_finite()) && self.uncertainty.total.is_finite()
    }
}

/// Predicts every row of `samples`; memory does not grow with the number of posterior samples times rows.
pub fn predict(predictor: &dyn Predictor, samples: &Samples, task: &Task) -> Result<Vec<Prediction>> {
    predict_watched(predictor, samples, task, &|_| Ok(()))
}

/// The same as part of work that is watched: `done` is told how many rows were predicted, and ends it with an error.
pub fn predict_watched(
    predictor: &dyn Predictor,
    samples: &Samples,
    task: &Task,
    done: &(dyn Fn(usize) -> Result<()> + Sync),
) -> Result<Vec<Prediction>> {
    let parts = over_shards(samples.len(), ROWS, |rows| -> Result<Vec<Prediction>> {
        done(rows.len())?;
        Ok(summarised(&answer(predictor, &samples_tensor(samples, rows))?, task))
    });
    Ok(parts.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

/// What a predictor says of the rows `x`, if its answer has their number and is not empty.
pub fn answer(predictor: &dyn Predictor, x: &Tensor<2>) -> Result<Predictive> {
    let predictive = predictor.predict(x)?;
    let rows = x.dims()[0];
    let (got, fits) = match &predictive {
        Predictive::Classes { log_probabilities } => {
            let [samples, got, classes] = log_probabilities.dims();
            (vec![samples, got, classes], samples > 0 && got == rows && classes > 0)
        }
        Predictive::Gaussian { mean, variance } => {
            let [samples, got] = mean.dims();
            (vec![samples, got], samples > 0 && got == rows && mean.dims() == variance.dims())
        }
    };
    match fits {
        true => Ok(predictive),
        false => {
            let mut expected = got.clone();
            expected[1] = rows;
            Err(Error::Shape { what: "the predictor's answer, [samples, rows, …],".into(), expected, got })
        }
    }
}

/// What the posterior samples say of each row together, in the data's unit.
pub fn summarised(predictive: &Predictive, task: &Task) -> Vec<Prediction> {
    let scaling = scaling_of(task);
    let unit = scaling.map_or(1.0, |scaling| scaling.deviation as f32);
    let mean = values(mean_prediction(predictive));
    let Decomposition { total, aleatoric, epistemic } = Decomposition::of(predictive);
    let (total, aleatoric, epistemic) = (values(total), values(aleatoric), values(epistemic));
    let row = |(row, mean): (usize, &[f32])| Prediction {
        mean: mean.iter().map(|&m| scaling.map_or(m, |scaling| unscaled(m, scaling) as f32)).collect(),
        uncertainty: Amounts {
            total: total[row] * unit,
            aleatoric: aleatoric[row] * unit,
            // Samples that agree leave nothing but rounding.
            epistemic: if epistemic[row] <= ROUNDING { 0.0 } else { epistemic[row] * unit },
        },
    };
    mean.chunks(mean.len() / total.len()).enumerate().map(row).collect()
}

/// The probabilities of all rows, row after row.
pub fn probabilities(predictions: &[Prediction]) -> Vec<f32> {
    predictions.iter().flat_map(|prediction| prediction.mean.iter().copied()).collect()
}

/// Means and variances of every posterior sample in the data's unit, each `[S, rows]`.
pub fn posterior_moments(
    predictor: &dyn Predictor,
    samples: &Samples,
    scaling: &Scaling,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let parts = over_shards(samples.len(), ROWS, |rows| match predictor.predict(&samples_tensor(samples, rows))? {
        Predictive::Gaussian { mean, variance } => Ok((mean, variance)),
        Predictive::Classes { .. } => unreachable!("the predictor follows the schema's task"),
    });
    let (means, variances): (Vec<_>, Vec<_>) = parts.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let means = values(Tensor::cat(means, 1)).iter().map(|&m| unscaled(m, scaling)).collect();
    let square = scaling.deviation.powi(2);
    let variances = values(Tensor::cat(variances, 1)).iter().map(|&v| f64::from(v) * square).collect();
    Ok((means, variances))
}

fn samples_tensor(samples: &Samples, rows: Range<usize>) -> Tensor<2> {
    let width = samples.width;
    tensor(samples.x[rows.start * width..rows.end * width].to_vec(), [rows.len(), width])
}

/// How a regression's target is scaled.
pub fn scaling_of(task: &Task) -> Option<&Scaling> {
    match task {
        Task::Classification { .. } => None,
        Task::Regression(scaling) => Some(scaling),
    }
}

/// A scaled value in the data's unit, not rounded to its decimals: a prediction is finer than the data.
pub fn unscaled(scaled: f32, scaling: &Scaling) -> f64 {
    f64::from(scaled) * scaling.deviation + scaling.mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_is_the_first_of_the_most_probable() {
        let uncertainty = Amounts { total: 0.0, aleatoric: 0.0, epistemic: 0.0 };
        assert_eq!(Prediction { mean: vec![0.2, 0.4, 0.4], uncertainty }.label(), 1);
    }
}
