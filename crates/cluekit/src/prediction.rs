//! What a predictor says of some rows, as plain numbers.

use crate::data::{Samples, Scaling, Task};
use crate::error::{Error, Result};
use crate::lanes::LANE;
use crate::model::{Predictive, Predictor};
use crate::parallel::{even_shard, over_shards, shards};
use crate::seed::Rng;
use crate::tensor::{Tensor, tensor, values};
use crate::uncertainty::{Decomposition, Uncertainty, mean_prediction};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Rows that one thread evaluates at a time: with 50 posterior samples their activations still fit into the cache.
const ROWS: usize = 64;
/// The same at the most where threads share the samples of a predictor.
pub(crate) const SHARED_ROWS: usize = 192;

/// An epistemic part of so little, in nats or in deviations of the target, is no disagreement.
const ROUNDING: f32 = 2e-6;

/// An uncertainty with its parts: nats for classes, standard deviations in the data's unit for values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UncertaintyParts {
    /// Total uncertainty.
    pub total: f32,
    /// Aleatoric part, which stays however much data there is: noise, overlap of classes.
    pub aleatoric: f32,
    /// Epistemic part, which more data would remove: disagreement of the posterior samples.
    pub epistemic: f32,
}

impl UncertaintyParts {
    /// The uncertainty of one kind.
    ///
    /// ```
    /// use cluekit::Uncertainty;
    /// use cluekit::prediction::UncertaintyParts;
    ///
    /// let parts = UncertaintyParts { total: 0.5, aleatoric: 0.25, epistemic: 0.25 };
    /// assert_eq!(parts.get(Uncertainty::Epistemic), 0.25);
    /// assert_eq!("epistemic".parse::<Uncertainty>()?, Uncertainty::Epistemic);
    /// # Ok::<(), cluekit::Error>(())
    /// ```
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
    /// Uncertainty of the prediction, with its parts.
    pub uncertainty: UncertaintyParts,
}

impl Prediction {
    /// Most probable class; the first one of equals.
    pub fn label(&self) -> usize {
        (0..self.mean.len()).rev().max_by(|&a, &b| self.mean[a].total_cmp(&self.mean[b])).unwrap_or(0)
    }

    /// Whether all numbers of the prediction are finite; an input far from the data can lead a network out of them.
    pub fn is_finite(&self) -> bool {
        self.mean.iter().all(|value| value.is_finite()) && self.uncertainty.total.is_finite()
    }
}

/// Predicts every row of `samples`; memory does not grow with the number of posterior samples times rows.
pub fn predict(predictor: &dyn Predictor, samples: &Samples, task: &Task) -> Result<Vec<Prediction>> {
    predict_watched(predictor, samples, task, &|_| Ok(()))
}

/// Like [`predict`], for work that is watched: `done` hears how many rows were predicted, and an error from it ends the
/// work.
pub fn predict_watched(
    predictor: &dyn Predictor,
    samples: &Samples,
    task: &Task,
    done: &(dyn Fn(usize) -> Result<()> + Sync),
) -> Result<Vec<Prediction>> {
    let parts = of_each_shard(predictor, samples, done, |predictive| Ok(summarised(&predictive, task)))?;
    Ok(parts.concat())
}

/// What `work` makes of the answers about all rows, in pieces that the predictor takes at once.
fn of_each_shard<T: Send>(
    predictor: &dyn Predictor,
    samples: &Samples,
    done: &(dyn Fn(usize) -> Result<()> + Sync),
    work: impl Fn(Predictive) -> Result<T> + Sync + Send,
) -> Result<Vec<T>> {
    let size = predictor.rows_at_once().unwrap_or(rows_together(predictor, samples.len(), ROWS)).max(1);
    let piece = |rows: Range<usize>| {
        done(rows.len())?;
        work(answer(predictor, &samples_tensor(samples, rows))?)
    };
    match predictor.is_concurrent() {
        true => over_shards(samples.len(), size, piece).into_iter().collect(),
        false => shards(samples.len(), size).into_iter().map(piece).collect(),
    }
}

/// Positions of all predictions, the most uncertain first, the first of equals first.
pub fn ranked(predictions: &[Prediction], by: Uncertainty) -> Vec<usize> {
    let mut order: Vec<usize> = (0..predictions.len()).collect();
    let amount = |row: usize| predictions[row].uncertainty.get(by);
    order.sort_by(|&a, &b| amount(b).total_cmp(&amount(a)).then(a.cmp(&b)));
    order
}

/// Asks a predictor about the rows `x`, and checks that the answer has a sample and as many rows as `x`.
///
/// More rows than it takes at once are asked for piece by piece.
pub fn answer(predictor: &dyn Predictor, x: &Tensor<2>) -> Result<Predictive> {
    in_pieces(predictor, x, &|x| one_answer(predictor.predict(x)?, x))
}

/// Like [`answer`], by the posterior samples at these places alone, if the predictor can choose.
pub fn answer_by(predictor: &dyn Predictor, x: &Tensor<2>, samples: &[usize]) -> Result<Predictive> {
    in_pieces(predictor, x, &|x| one_answer(predictor.predict_by(x, samples)?, x))
}

/// How many of so many rows are asked about at a time: `usual`, or more where threads share the samples, since weights then
/// come from memory once for all of them.
pub(crate) fn rows_together(predictor: &dyn Predictor, rows: usize, usual: usize) -> usize {
    match predictor.shares_out_samples() {
        true => even_shard(rows, SHARED_ROWS, LANE),
        false => usual,
    }
}

/// Places of `count` posterior samples of a predictor, drawn at random; none where it has no more, or does not know them.
pub fn some_samples(predictor: &dyn Predictor, count: usize, rng: &mut Rng) -> Option<Vec<usize>> {
    let all = predictor.samples().filter(|&all| predictor.can_choose() && all > count)?;
    Some(rand::seq::index::sample(rng, all, count.max(1)).into_vec())
}

/// Like [`answer`], from `count` posterior samples drawn at random, if the predictor can choose.
pub fn answer_with_some(predictor: &dyn Predictor, x: &Tensor<2>, count: usize, rng: &mut Rng) -> Result<Predictive> {
    match some_samples(predictor, count, rng) {
        Some(samples) => answer_by(predictor, x, &samples),
        None => answer(predictor, x),
    }
}

/// The answers about pieces of `x` that the predictor takes at once, as one.
fn in_pieces(
    predictor: &dyn Predictor,
    x: &Tensor<2>,
    ask: &dyn Fn(&Tensor<2>) -> Result<Predictive>,
) -> Result<Predictive> {
    let rows = x.dims()[0];
    let most = predictor.rows_at_once().unwrap_or(rows).max(1);
    if rows <= most {
        return ask(x);
    }
    let piece = |rows: Range<usize>| ask(&x.clone().narrow(0, rows.start, rows.len()));
    joined(shards(rows, most).into_iter().map(piece).collect::<Result<_>>()?)
}

/// The answers about successive rows as one, if they are of one kind.
fn joined(parts: Vec<Predictive>) -> Result<Predictive> {
    let (mut logs, mut means, mut variances) = (vec![], vec![], vec![]);
    let mut shapes = vec![];
    for part in parts {
        match part {
            Predictive::Classes { log_probabilities } => {
                let [samples, _, classes] = log_probabilities.dims();
                shapes.push((samples, classes));
                logs.push(log_probabilities);
            }
            Predictive::Gaussian { mean, variance } => {
                shapes.push((mean.dims()[0], 0));
                means.push(mean);
                variances.push(variance);
            }
        }
    }
    if shapes.windows(2).any(|pair| pair[0] != pair[1]) {
        let problem = "the predictor answers with other samples, classes or kinds for some rows than for others; they \
                       must be the same for all";
        return Err(Error::data(problem));
    }
    Ok(match logs.is_empty() {
        true => Predictive::Gaussian { mean: Tensor::cat(means, 1), variance: Tensor::cat(variances, 1) },
        false => Predictive::Classes { log_probabilities: Tensor::cat(logs, 1) },
    })
}

/// The answer to one question.
fn one_answer(predictive: Predictive, x: &Tensor<2>) -> Result<Predictive> {
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

/// One prediction for each row from all posterior samples together, in the data's unit.
pub fn summarised(predictive: &Predictive, task: &Task) -> Vec<Prediction> {
    let scaling = scaling_of(task);
    let unit = scaling.map_or(1.0, |scaling| scaling.deviation as f32);
    let mean = values(mean_prediction(predictive));
    let Decomposition { total, aleatoric, epistemic } = Decomposition::of(predictive);
    let (total, aleatoric, epistemic) = (values(total), values(aleatoric), values(epistemic));
    let row = |(row, mean): (usize, &[f32])| Prediction {
        mean: mean.iter().map(|&m| scaling.map_or(m, |scaling| unscaled(m, scaling) as f32)).collect(),
        uncertainty: UncertaintyParts {
            total: total[row] * unit,
            aleatoric: aleatoric[row] * unit,
            // Samples that agree leave nothing but rounding.
            epistemic: if epistemic[row] <= ROUNDING { 0.0 } else { epistemic[row] * unit },
        },
    };
    mean.chunks(mean.len() / total.len()).enumerate().map(row).collect()
}

/// The predicted probabilities of all rows, row after row.
pub fn probabilities(predictions: &[Prediction]) -> Vec<f32> {
    predictions.iter().flat_map(|prediction| prediction.mean.iter().copied()).collect()
}

/// Means and variances of every posterior sample in the data's unit, each `[S, rows]`.
pub fn posterior_moments(
    predictor: &dyn Predictor,
    samples: &Samples,
    scaling: &Scaling,
) -> Result<(Vec<f64>, Vec<f64>)> {
    if samples.is_empty() {
        return Ok((vec![], vec![]));
    }
    let Predictive::Gaussian { mean, variance } = joined(of_each_shard(predictor, samples, &|_| Ok(()), Ok)?)? else {
        return Err(Error::data("the predictor answers with classes where values are due; name its task"));
    };
    let means = values(mean).iter().map(|&m| unscaled(m, scaling)).collect();
    let square = scaling.deviation.powi(2);
    let variances = values(variance).iter().map(|&v| f64::from(v) * square).collect();
    Ok((means, variances))
}

/// Number of posterior samples of a predictor: what it says of itself, or what its answer to the first row shows.
pub fn posterior_samples(predictor: &dyn Predictor, samples: &Samples) -> Result<usize> {
    if let Some(count) = predictor.samples() {
        return Ok(count);
    }
    if samples.is_empty() {
        return Err(Error::data("there is no row to predict; give at least one"));
    }
    Ok(match answer(predictor, &samples_tensor(samples, 0..1))? {
        Predictive::Classes { log_probabilities } => log_probabilities.dims()[0],
        Predictive::Gaussian { mean, .. } => mean.dims()[0],
    })
}

fn samples_tensor(samples: &Samples, rows: Range<usize>) -> Tensor<2> {
    let width = samples.width;
    tensor(samples.x[rows.start * width..rows.end * width].to_vec(), [rows.len(), width])
}

/// Scaling of a regression's target; none for classes.
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
        let uncertainty = UncertaintyParts { total: 0.0, aleatoric: 0.0, epistemic: 0.0 };
        assert_eq!(Prediction { mean: vec![0.2, 0.4, 0.4], uncertainty }.label(), 1);
    }
}
