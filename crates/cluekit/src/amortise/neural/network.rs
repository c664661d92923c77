//! The network of the neural mapper, and the rows as it sees them.

use super::NeuralPlan;
use crate::amortise::Encoded;
use crate::data::{Samples, Scaling, Targets, Task};
use crate::error::Result;
use crate::model::parameters::{Layout, Weights};
use crate::prediction::Prediction;
use crate::search::Models;
use crate::tensor::{Tensor, silu, tensor};
use std::sync::Arc;

/// Blocks and outputs begin at this share of He's initialisation: the mapper begins near z₀.
const SPREAD: f32 = 0.3;
/// Differences from an input that are smaller than this count less than their sign.
const SOFTNESS: f32 = 0.1;

/// How many columns each part of a row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub width: usize,
    pub latent: usize,
    /// 1 for a regression, whose one value is no class.
    pub outputs: usize,
    pub classes: usize,
}

impl Sizes {
    pub fn of(width: usize, latent: usize, task: &Task, outputs: usize) -> Self {
        Self { width, latent, outputs, classes: if task.is_regression() { 0 } else { outputs } }
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
        let context = sizes.latent + sizes.outputs + sizes.classes + 2;
        layout.push_linear("mapper.input", context + sizes.width, plan.width);
        layout.push_linear("mapper.left-out", sizes.width, plan.width);
        layout.push_linear("mapper.gate", context, plan.width);
        for i in 0..plan.depth {
            layout.push_linear_spread(&format!("mapper.blocks.{i}"), plan.width, plan.width, SPREAD);
        }
        layout.push_linear_spread("mapper.output", plan.width, sizes.latent, SPREAD);
        Self { sizes, depth: plan.depth, rounds: plan.rounds, layout: Arc::new(layout) }
    }

    /// z of each row, given what is asked for.
    ///
    /// How to come closer to x₀ in latent space depends on what the decoder left out and, through its slope, on z₀: on
    /// their product. So besides a layer that sees everything there is one of what was left out whose units are gated by
    /// all the rest.
    pub fn map(&self, weights: &Weights, models: &Models, rows: &Parts, asked: Tensor<2>) -> Result<Tensor<2>> {
        let count = rows.z.dims()[0];
        let mut z = rows.z.clone();
        for round in 0..self.rounds {
            let decoded = match round {
                0 => rows.decoded.clone(),
                _ => models.decode(&z, self.sizes.width)?,
            };
            let round = tensor(vec![round as f32; count], [count, 1]);
            let context = Tensor::cat(vec![z.clone(), rows.prediction.clone(), asked.clone(), round], 1);
            z = z + self.shift(weights, context, rows.x.clone() - decoded);
        }
        Ok(z)
    }

    pub fn shift(&self, weights: &Weights, context: Tensor<2>, left_out: Tensor<2>) -> Tensor<2> {
        let signs = left_out.clone() / (left_out.clone().abs() + SOFTNESS);
        let gated = weights.linear("mapper.left-out", signs) * weights.linear("mapper.gate", context.clone());
        let mut h = weights.linear("mapper.input", Tensor::cat(vec![context, left_out], 1)) + gated;
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

/// The parts of some rows.
pub(super) struct Parts {
    pub x: Tensor<2>,
    pub decoded: Tensor<2>,
    pub z: Tensor<2>,
    pub prediction: Tensor<2>,
}

impl Parts {
    pub fn of(rows: &Tensor<2>, sizes: Sizes) -> Self {
        let count = rows.dims()[0];
        let part = |from: usize, len: usize| rows.clone().slice([0..count, from..from + len]);
        Self {
            x: part(0, sizes.width),
            decoded: part(sizes.width, sizes.width),
            z: part(2 * sizes.width, sizes.latent),
            prediction: part(2 * sizes.width + sizes.latent, sizes.outputs),
        }
    }
}

/// Rows as training sees them: x₀, μ_θ(z₀), z₀ and f(x₀) side by side.
pub(super) fn as_samples(models: &Models, rows: Encoded) -> Result<Samples> {
    let rows = rows.decoding(models)?;
    let (width, decoded) = (rows.width, rows.decoded.as_deref().unwrap_or_default());
    let mut x = Vec::new();
    for row in 0..rows.len() {
        x.extend_from_slice(rows.x(row));
        x.extend_from_slice(&decoded[row * width..(row + 1) * width]);
        x.extend_from_slice(rows.z(row));
        x.extend(seen(&rows.predictions[row], models.task()));
    }
    // What is asked for is drawn in every step, so a row has no target of its own.
    let count = rows.len();
    Ok(Samples { width: x.len() / count.max(1), x, y: Targets::Classes(vec![0; count]) })
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
