//! Training by gradient descent: batches, shards, validation, early stopping.

use super::adam::{Adam, BETAS};
use super::parameters::{Layout, Parameters, Weights};
use super::store::checkpoint::{Checkpoint, Snapshot};
use crate::data::{Samples, Targets};
use crate::error::{Error, Result};
use crate::observer::{Observer, Progress};
use crate::parallel::{SHARD, over_shards, shards};
use crate::seed::{Rng, Seed};
use crate::tensor::{Tensor, scalar, tensor};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Passes over the data beyond which nobody waits.
pub(super) const MOST_EPOCHS: usize = 100_000;
/// Shards of a batch that are in the air at a time; each holds a gradient of all parameters.
const SHARDS_AT_ONCE: usize = 16;

/// How far running statistics go towards those of a batch.
const FOLLOWING: f32 = 0.1;

/// Rows as a network sees them.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Encoded inputs, `[rows, inputs]`.
    pub x: Tensor<2>,
    /// Targets, one for each row.
    pub y: Targets,
    /// How much each row counts; none where all count alike.
    pub weights: Option<Vec<f32>>,
}

impl Batch {
    /// The rows of `samples` at `indices`.
    pub fn of(samples: &Samples, indices: &[usize]) -> Self {
        let rows = samples.select(indices);
        Self { x: tensor(rows.x, [indices.len(), rows.width]), y: rows.y, weights: rows.weights }
    }
}

/// A network that can be trained.
pub trait Trainable: Sync {
    /// Names, shapes and places of its parameters.
    fn layout(&self) -> &Arc<Layout>;

    /// The loss summed over the rows of `batch`, of a predictor each row as much as its weight says; `rng` serves a loss
    /// that draws (dropout, latent noise).
    fn loss(&self, weights: &Weights, batch: &Batch, rng: &mut Rng) -> Result<Tensor<1>>;

    /// Rows that a thread takes at a time.
    fn shard(&self) -> usize {
        SHARD
    }

    /// The mean loss of the rows at `indices`, with its gradient; `streams` says what the shard that begins at some row
    /// draws from.
    fn gradient(
        &self,
        parameters: &Parameters,
        samples: &Samples,
        indices: &[usize],
        streams: Streams,
    ) -> Result<Gradient> {
        gradient_by_graph(self, parameters, samples, indices, streams)
    }
}

/// The random numbers of a shard by the position of its first row.
pub type Streams<'a> = &'a (dyn Fn(usize) -> Rng + Sync);

/// Rows that a thread takes at a time of residual networks and ladders: each row is much work and much memory.
pub(super) const CONVOLUTION_SHARD: usize = SHARD / 2;

/// Settings of training with Adam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingPlan {
    /// Largest number of passes over the training rows.
    pub epochs: usize,
    /// Number of rows in a step.
    pub batch: usize,
    /// Adam's learning rate at the start; it falls to a hundredth of this along a cosine.
    pub learning_rate: f64,
    /// Decoupled weight decay of Adam.
    pub weight_decay: f64,
    /// Epochs without a better validation loss after which training stops; 0 never stops early.
    pub patience: usize,
}

impl TrainingPlan {
    /// Checks the ranges; `key` is where these settings stand in the plan.
    pub fn validate(&self, key: &str) -> Result<()> {
        let positive = |name: &str, ok: bool, value: f64| match ok {
            true => Ok(()),
            false => Err(Error::setting(format!("{key}.{name}"), format!("must be positive, got {value}"))),
        };
        positive("batch", self.batch > 0, self.batch as f64)?;
        if self.epochs > MOST_EPOCHS {
            return Err(Error::setting(format!("{key}.epochs"), format!("must be at most {MOST_EPOCHS}")));
        }
        // Each row of a batch has its own random stream, and 16 bits to count them.
        if self.batch > 1 << 16 {
            let problem = format!("must be at most {}, got {}", 1 << 16, self.batch);
            return Err(Error::setting(format!("{key}.batch"), problem));
        }
        positive("learning_rate", self.learning_rate > 0.0 && self.learning_rate.is_finite(), self.learning_rate)?;
        match (0.0..1e3).contains(&self.weight_decay) {
            true => Ok(()),
            false => Err(Error::setting(
                format!("{key}.weight_decay"),
                format!("must lie between 0 and 1000, got {}", self.weight_decay),
            )),
        }
    }

    fn rate_at(&self, step: u64, total: u64) -> f64 {
        let phase = std::f64::consts::PI * step as f64 / total.max(1) as f64;
        self.learning_rate * (0.01 + 0.99 * 0.5 * (1.0 + phase.cos()))
    }
}

/// The rows that a model learns from and those that it is watched on.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Rows that gradients are computed on.
    pub train: &'a Samples,
    /// Rows for early stopping and the progress line; may be empty.
    pub validation: &'a Samples,
}

/// What surrounds the training of a model.
pub struct Session<'a> {
    /// Rows that the model learns from and is watched on.
    pub rows: Rows<'a>,
    /// Seed of all randomness in training.
    pub seed: Seed,
    /// Place for what a resumed run needs.
    pub checkpoint: &'a Checkpoint,
    /// Observer of the training.
    pub observer: &'a mut dyn Observer,
}

/// A mean loss with its gradient.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// Mean loss over the rows.
    pub loss: f64,
    /// Gradient ∂loss/∂parameters.
    pub values: Vec<f32>,
}

/// Parameters whose gradients one thread sums up at a time.
const PIECE: usize = 1 << 16;

/// The mean loss of `rows` rows and its gradient, from sums over shards; these run on the threads there are.
pub fn over_batch(
    rows: usize,
    shard: usize,
    sums: impl Fn(Range<usize>) -> Result<(f64, Vec<f32>)> + Sync + Send,
) -> Result<Gradient> {
    let (mut loss, mut values) = (0.0, Vec::new());
    for block in shards(rows, SHARDS_AT_ONCE * shard) {
        let parts = over_shards(block.len(), shard, |rows| sums(block.start + rows.start..block.start + rows.end));
        let mut gradients = Vec::with_capacity(parts.len() + 1);
        for part in parts {
            let (part, gradient) = part?;
            loss += part;
            gradients.push(gradient);
        }
        if values.is_empty() && !gradients.is_empty() {
            values = gradients.remove(0);
        }
        let last = block.end == rows;
        values.par_chunks_mut(PIECE).enumerate().for_each(|(piece, values)| {
            for gradient in &gradients {
                values.iter_mut().zip(&gradient[piece * PIECE..]).for_each(|(sum, g)| *sum += g);
            }
            if last {
                let scale = 1.0 / rows as f32;
                values.iter_mut().for_each(|g| *g *= scale);
            }
        });
    }
    Ok(Gradient { loss: loss / rows as f64, values })
}

/// [`Trainable::gradient`] from the graph of [`Trainable::loss`].
pub fn gradient_by_graph<T: Trainable + ?Sized>(
    model: &T,
    parameters: &Parameters,
    samples: &Samples,
    indices: &[usize],
    streams: Streams,
) -> Result<Gradient> {
    over_batch(indices.len(), model.shard(), |rows| {
        let weights = Weights::tracked(parameters);
        let mut rng = streams(rows.start);
        let loss = model.loss(&weights, &Batch::of(samples, &indices[rows]), &mut rng)?;
        let gradient = weights.gradient(&loss)?;
        Ok((f64::from(scalar(loss)), gradient))
    })
}

/// The mean loss over all rows of `samples`.
pub fn mean_loss(
    model: &dyn Trainable,
    parameters: &Parameters,
    samples: &Samples,
    seed: Seed,
    name: &str,
) -> Result<f64> {
    let weights = Weights::frozen(parameters);
    let all: Vec<usize> = (0..samples.len()).collect();
    let losses = over_shards(samples.len(), 4 * model.shard(), |rows| -> Result<f64> {
        let mut rng = seed.numbered(name, rows.start as u64);
        Ok(f64::from(scalar(model.loss(&weights, &Batch::of(samples, &all[rows]), &mut rng)?)))
    });
    Ok(losses.into_iter().sum::<Result<f64>>()? / samples.len().max(1) as f64)
}

/// The rows of epoch `epoch` in their order.
pub fn order(rows: usize, seed: Seed, what: &str, epoch: usize) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..rows).collect();
    indices.shuffle(&mut seed.numbered(&format!("{what}: order"), epoch as u64));
    indices
}

/// Refuses a loss that is not a finite number.
pub fn check_finite(what: &str, epoch: usize, quantity: &'static str, value: f64, remedy: &str) -> Result<()> {
    match value.is_finite() {
        true => Ok(()),
        false => Err(Error::Diverged { model: what.into(), epoch: epoch + 1, quantity, value, remedy: remedy.into() }),
    }
}

/// The error of a training that its observer has ended.
pub(super) fn stopped(what: &str) -> Error {
    Error::Cancelled { what: format!("training of the {what}") }
}

/// Where training with Adam stands after a step; all that a resumed run needs.
struct State {
    parameters: Parameters,
    adam: Adam,
    epoch: usize,
    best: Vec<f32>,
    best_loss: f64,
    since_best: usize,
}

impl State {
    fn fresh(initial: Parameters) -> Self {
        let adam = Adam::new(initial.values.len());
        Self {
            best: initial.values.clone(),
            parameters: initial,
            adam,
            epoch: 0,
            best_loss: f64::INFINITY,
            since_best: 0,
        }
    }

    /// One step downhill; running statistics take a step towards what was observed instead.
    fn step(&mut self, gradient: &[f32], rate: f64, weight_decay: f64) {
        let layout = self.parameters.layout().clone();
        let values = &mut self.parameters.values;
        let followed: Vec<(Range<usize>, Vec<f32>)> = layout
            .entries()
            .iter()
            .filter(|entry| entry.is_statistic)
            .map(|entry| {
                let observed = values[entry.range()].iter().zip(&gradient[entry.range()]);
                (entry.range(), observed.map(|(statistic, away)| statistic - FOLLOWING * away).collect())
            })
            .collect();
        self.adam.step(values, gradient, rate, weight_decay);
        for (range, statistics) in followed {
            values[range].copy_from_slice(&statistics);
        }
    }

    fn exhausted(&self, patience: usize) -> bool {
        patience > 0 && self.since_best >= patience
    }

    fn to_snapshot(&self) -> Snapshot {
        Snapshot::default()
            .array("parameters", &self.parameters.values)
            .array("mean", &self.adam.mean)
            .array("square", &self.adam.square)
            .array("best", &self.best)
            .number("steps", self.adam.steps as f64)
            .number("epoch", self.epoch as f64)
            .number("best_loss", self.best_loss)
            .number("since_best", self.since_best as f64)
    }

    fn from_snapshot(mut snapshot: Snapshot, layout: &Arc<Layout>) -> Result<Self> {
        let len = layout.len();
        Ok(Self {
            parameters: Parameters::new(layout.clone(), snapshot.take("parameters", len)?)?,
            adam: Adam {
                mean: snapshot.take("mean", len)?,
                square: snapshot.take("square", len)?,
                steps: snapshot.get("steps")? as u64,
                betas: BETAS,
            },
            best: snapshot.take("best", len)?,
            epoch: snapshot.get("epoch")? as usize,
            best_loss: snapshot.get("best_loss")?,
            since_best: snapshot.get("since_best")? as usize,
        })
    }
}

/// Trains `model` with Adam from `initial` and returns the parameters that were best on the validation rows (the last
/// ones if there are none).
///
/// `what` names the model to the observer, in errors, and in the checkpoint.
pub fn fit(
    model: &dyn Trainable,
    initial: Parameters,
    settings: &TrainingPlan,
    what: &str,
    session: &mut Session,
) -> Result<Parameters> {
    let Session { rows, seed, checkpoint, observer } = session;
    let (rows, seed) = (*rows, *seed);
    let layout = initial.layout().clone();
    let mut state = match checkpoint.load(what)? {
        Some(snapshot) => State::from_snapshot(snapshot, &layout)?,
        None => State::fresh(initial),
    };
    let per_epoch = rows.train.len().div_ceil(settings.batch) as u64;
    let total = per_epoch * settings.epochs as u64;
    let remedy = "lower its learning_rate (try a tenth) and look for extreme values in the data";
    let noise = format!("{what}: noise");
    let mut validation = None;
    while state.epoch < settings.epochs && !state.exhausted(settings.patience) {
        let (mut loss, mut seen) = (0.0, 0);
        // A run that was stopped goes on in the middle of an epoch.
        let done = state.adam.steps.saturating_sub(per_epoch * state.epoch as u64) as usize;
        for indices in order(rows.train.len(), seed, what, state.epoch).chunks(settings.batch).skip(done) {
            let step = state.adam.steps;
            let stream = |row: usize| seed.numbered(&noise, (step << 16) + row as u64);
            let gradient = model.gradient(&state.parameters, rows.train, indices, &stream)?;
            check_finite(what, state.epoch, "the training loss", gradient.loss, remedy)?;
            let rate = settings.rate_at(step, total);
            state.step(&gradient.values, rate, settings.weight_decay);
            loss += gradient.loss * indices.len() as f64;
            seen += indices.len();
            let progress = Progress { what, done: state.adam.steps, total, loss: loss / seen as f64, validation };
            if observer.progress(&progress).is_break() {
                checkpoint.save(what, &state.to_snapshot())?;
                return Err(stopped(what));
            }
        }
        state.epoch += 1;
        if rows.validation.is_empty() {
            state.best.clone_from(&state.parameters.values);
        } else {
            let figure = mean_loss(model, &state.parameters, rows.validation, seed, &format!("{what}: validation"))?;
            check_finite(what, state.epoch - 1, "the validation loss", figure, remedy)?;
            validation = Some(("loss", figure));
            state.since_best += 1;
            if figure < state.best_loss {
                (state.best_loss, state.since_best) = (figure, 0);
                state.best.clone_from(&state.parameters.values);
            }
        }
        checkpoint.save(what, &state.to_snapshot())?;
    }
    let early = state.epoch < settings.epochs;
    observer
        .finished(what, if early { "stopped early: the validation loss no longer fell" } else { "all epochs done" });
    Parameters::new(layout, state.best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_moves_weights_by_adam_and_statistics_towards_what_was_observed() {
        let mut layout = Layout::default();
        layout.push("weight", &[1, 1]);
        layout.push_statistic("mean", &[1], 2.0);
        let mut state = State::fresh(Parameters::new(Arc::new(layout), vec![1.0, 2.0]).unwrap());
        // The statistic 2 is 5 above what was observed: a tenth of the way is 1.5, whatever rate and decay are.
        state.step(&[3.0, 5.0], 0.1, 0.5);
        let [weight, statistic] = state.parameters.values[..] else { panic!("two numbers") };
        assert!((weight - (0.95 - 0.1)).abs() < 1e-6 && (statistic - 1.5).abs() < 1e-6, "{weight} {statistic}");
    }
}
