//! The network of the neural mapper, and the rows as it sees them.

use super::NeuralPlan;
use crate::amortise::Encoded;
use crate::data::{Samples, Scaling, Targets, Task};
use crate::distance::Metric;
use crate::error::Result;
use crate::model::parameters::{Layout, Weights};
use crate::prediction::Prediction;
use crate::search::Models;
use crate::tensor::{Tensor, gradients, leaf, silu, tensor, values};
use std::sync::Arc;

/// Blocks and outputs begin at this share of He's initialisation: the mapper begins near z₀.
const SPREAD: f32 = 0.3;
/// Brings slopes of ln d to about the size of codes.
const SLOPE: f32 = 4.0;
/// Below this a distance is none.
const LEAST_DISTANCE: f32 = 1e-6;

/// How many columns each part of a row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub latent: usize,
    /// 1 for a regression, whose one value is no class.
    pub outputs: usize,
    pub classes: usize,
}

impl Sizes {
    pub fn of(latent: usize, task: &Task, outputs: usize) -> Self {
        Self { latent, outputs, classes: if task.is_regression() { 0 } else { outputs } }
    }
}

/// The network without its parameters.
#[derive(Clone, Debug)]
pub(super) struct Network {
    pub sizes: Sizes,
    pub depth: usize,
    pub rounds: usize,
    pub layout: Arc<Layout>,
}

impl Network {
    pub fn new(sizes: Sizes, plan: &NeuralPlan) -> Self {
        let mut layout = Layout::default();
        let seen = 2 * sizes.latent + sizes.outputs + sizes.classes + 2;
        layout.push_linear("mapper.input", seen, plan.width);
        for i in 0..plan.depth {
            layout.push_linear_spread(&format!("mapper.blocks.{i}"), plan.width, plan.width, SPREAD);
        }
        layout.push_linear_spread("mapper.output", plan.width, sizes.latent, SPREAD);
        Self { sizes, depth: plan.depth, rounds: plan.rounds, layout: Arc::new(layout) }
    }

    /// z of each row, given what is asked for.
    ///
    /// How to come closer to x₀ depends on what the decoder leaves out of it and on how the decoder bends: both are in
    /// the slope of the distance, which has no more columns than a code. The network sees it anew in each round.
    pub fn map(
        &self,
        weights: &Weights,
        models: &Models,
        metric: &Metric,
        rows: &Parts,
        asked: &Tensor<2>,
    ) -> Result<Tensor<2>> {
        let count = rows.z.dims()[0];
        let mut z = rows.z.clone();
        for round in 0..self.rounds {
            let slope = slope(models, metric, &z, &rows.x)?;
            let round = tensor(vec![round as f32; count], [count, 1]);
            let seen = Tensor::cat(vec![z.clone(), slope, rows.prediction.clone(), asked.clone(), round], 1);
            z = z + self.shift(weights, seen);
        }
        Ok(z)
    }

    pub fn shift(&self, weights: &Weights, seen: Tensor<2>) -> Tensor<2> {
        let mut h = weights.linear("mapper.input", seen);
        for i in 0..self.depth {
            h = h.clone() + weights.linear(&format!("mapper.blocks.{i}"), silu(h));
        }
        weights.linear("mapper.output", silu(h))
    }

    /// What is asked for: the target class as one-hot columns, and λ_x.
    pub fn asked(&self, rows: &[(usize, f32)], plan: &NeuralPlan) -> Tensor<2> {
        let classes = self.sizes.classes;
        let row = |&(target, lambda): &(usize, f32)| {
            let one_hot = (0..classes).map(move |class| if class == target { 1.0 } else { 0.0 });
            one_hot.chain([plan.trade_off(lambda)]).collect::<Vec<f32>>()
        };
        tensor(rows.iter().flat_map(row).collect(), [rows.len(), classes + 1])
    }
}

/// ∂ ln d(μ_θ(z), x₀) / ∂z, scaled: free of the distance's unit, and a constant to whoever goes on from it.
pub(super) fn slope(models: &Models, metric: &Metric, z: &Tensor<2>, x: &Tensor<2>) -> Result<Tensor<2>> {
    models.need_gradient_of_decoder()?;
    let at = leaf(values(z.clone()), z.dims());
    let distance = metric.between(&models.decode(&at, x.dims()[1])?, x);
    let distances = values(distance.clone());
    let mut slopes = gradients(&distance.sum(), &[at])?.remove(0);
    for (slope, distance) in slopes.chunks_mut(z.dims()[1]).zip(distances) {
        slope.iter_mut().for_each(|slope| *slope *= SLOPE / distance.max(LEAST_DISTANCE));
    }
    Ok(tensor(slopes, z.dims()))
}

/// The parts of some rows.
pub(super) struct Parts {
    pub x: Tensor<2>,
    pub z: Tensor<2>,
    pub prediction: Tensor<2>,
}

impl Parts {
    /// Rows as [`as_samples`] puts them side by side.
    pub fn of(rows: &Tensor<2>, Sizes { latent, outputs, .. }: Sizes) -> Self {
        let width = rows.dims()[1] - latent - outputs;
        let part = |from: usize, len: usize| rows.clone().narrow(1, from, len);
        Self { x: part(0, width), z: part(width, latent), prediction: part(width + latent, outputs) }
    }
}

/// Rows as training sees them: x₀, z₀ and f(x₀) side by side.
pub(super) fn as_samples(rows: &Encoded, task: &Task) -> Samples {
    let mut x = Vec::new();
    for row in 0..rows.len() {
        x.extend_from_slice(rows.x(row));
        x.extend_from_slice(rows.z(row));
        x.extend(seen(&rows.predictions[row], task));
    }
    // What is asked for is drawn in every step, so a row has no target of its own.
    let count = rows.len();
    Samples { width: x.len() / count.max(1), x, y: Targets::Classes(vec![0; count]), weights: None }
}

/// f(x₀) as the network sees it: probabilities, or a value in deviations of the target.
pub(super) fn seen(prediction: &Prediction, task: &Task) -> Vec<f32> {
    match task {
        Task::Classification { .. } => prediction.mean.clone(),
        Task::Regression(Scaling { mean, deviation, .. }) => {
            prediction.mean.iter().map(|&value| ((f64::from(value) - mean) / deviation) as f32).collect()
        }
    }
}
