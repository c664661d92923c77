//! A multilayer perceptron with ReLUs: the network of one posterior sample.
//!
//! Its arrays are `layers.<i>.weight [out, in]` and `layers.<i>.bias [out]`.

use super::dense::{self, Dense};
use super::parameters::{Layout, Parameters, Weights};
use super::training::{Batch, Gradient, Streams, Trainable, over_batch};
use crate::data::{Samples, Targets, Task};
use crate::error::Result;
use crate::seed::Rng;
use crate::tensor::{Tensor, gradients, leaf, log_softmax, relu, scalar, softplus, tensor};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The least variance that a Gaussian head can express, in units of the scaled target's variance.
pub(super) const VARIANCE_FLOOR: f64 = 1e-4;

/// What the numbers of the last layer stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Head {
    /// One logit for each class.
    Classes(usize),
    /// Mean m and s of a normal distribution with variance softplus(s) + 10⁻⁴, for a scaled target.
    Gaussian,
}

impl Head {
    /// The head that a task needs.
    pub fn of(task: &Task) -> Self {
        match task {
            Task::Classification { classes } => Self::Classes(classes.len()),
            Task::Regression(_) => Self::Gaussian,
        }
    }

    /// Number of values that the last layer returns.
    pub fn outputs(self) -> usize {
        match self {
            Self::Classes(classes) => classes,
            Self::Gaussian => 2,
        }
    }
}

/// The shape of the network, with the dropout it is trained with.
#[derive(Clone, Debug)]
pub struct Mlp {
    head: Head,
    dropout: f64,
    sizes: Vec<usize>,
    layout: Arc<Layout>,
}

impl Mlp {
    /// `inputs → hidden… → outputs of the head`; hidden activations are dropped with probability `dropout`.
    pub fn new(inputs: usize, hidden: &[usize], head: Head, dropout: f64) -> Self {
        let sizes: Vec<usize> = [&[inputs], hidden, &[head.outputs()]].concat();
        let mut layout = Layout::default();
        for (i, pair) in sizes.windows(2).enumerate() {
            layout.push_linear(&format!("layers.{i}"), pair[0], pair[1]);
        }
        Self { head, dropout, sizes, layout: Arc::new(layout) }
    }

    /// What the outputs of the network stand for.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The probability with which a hidden activation is dropped.
    pub fn dropout(&self) -> f64 {
        self.dropout
    }

    /// The outputs for rows of `x`, with fresh dropout masks if there is dropout.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`
    /// - returns: `[rows, outputs]`
    pub fn forward(&self, weights: &Weights, x: Tensor<2>, rng: &mut Rng) -> Tensor<2> {
        let last = self.sizes.len() - 2;
        (0..=last).fold(x, |h, i| {
            let h = weights.linear(&format!("layers.{i}"), h);
            if i == last { h } else { self.drop(relu(h), rng) }
        })
    }

    fn drop(&self, h: Tensor<2>, rng: &mut Rng) -> Tensor<2> {
        if self.dropout <= 0.0 {
            return h;
        }
        let shape = h.dims();
        let mask = dropout_mask(self.dropout, shape[0] * shape[1], rng);
        h * tensor(mask, shape)
    }
}

/// Factors for activations: 0 with probability `rate`, else 1 / (1 − rate), so that the mean stays the same.
pub(super) fn dropout_mask(rate: f64, len: usize, rng: &mut Rng) -> Vec<f32> {
    let kept = (1.0 / (1.0 - rate)) as f32;
    (0..len).map(|_| if rng.random_bool(rate) { 0.0 } else { kept }).collect()
}

impl Trainable for Mlp {
    fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Σ over rows of −log p(y | x).
    fn loss(&self, weights: &Weights, batch: &Batch, rng: &mut Rng) -> Result<Tensor<1>> {
        Ok(negative_log_likelihood(self.forward(weights, batch.x.clone(), rng), batch, self.head))
    }

    fn gradient(
        &self,
        parameters: &Parameters,
        samples: &Samples,
        indices: &[usize],
        streams: Streams,
    ) -> Result<Gradient> {
        let names: Vec<String> = (0..self.sizes.len() - 1).map(|i| format!("layers.{i}")).collect();
        let layers = Dense::all(parameters, &names);
        let (last, hidden) = layers.split_last().expect("a perceptron has a layer");
        let kept = (1.0 / (1.0 - self.dropout)) as f32;
        over_batch(indices.len(), self.shard(), |rows| {
            let mut rng = streams(rows.start);
            let Samples { x, y, weights, .. } = samples.select(&indices[rows]);
            // What each layer sees.
            let mut seen = vec![x];
            for (layer, at) in hidden.iter().zip(0..) {
                let mut h = layer.forward(&seen[at]);
                dense::relu(&mut h);
                if self.dropout > 0.0 {
                    let mask = dropout_mask(self.dropout, h.len(), &mut rng);
                    dense::scale(&mut h, &mask);
                }
                seen.push(h);
            }
            let (loss, mut g) = slope_by_outputs(last.forward(&seen[hidden.len()]), y, weights, self.head)?;
            let mut gradient = vec![0.0; parameters.values.len()];
            for (at, layer) in layers.iter().enumerate().rev() {
                layer.learn(&seen[at], &g, &mut gradient);
                if at > 0 {
                    g = layer.back(&g);
                    dense::relu_back(&mut g, &seen[at], kept);
                }
            }
            Ok((loss, gradient))
        })
    }
}

/// [`negative_log_likelihood`] with its gradient by the outputs.
pub(super) fn slope_by_outputs(
    outputs: Vec<f32>,
    y: Targets,
    weights: Option<Vec<f32>>,
    head: Head,
) -> Result<(f64, Vec<f32>)> {
    let outputs = leaf(outputs, [y.len(), head.outputs()]);
    let batch = Batch { x: outputs.clone(), y, weights };
    let loss = negative_log_likelihood(outputs.clone(), &batch, head);
    let slope = gradients(&loss, &[outputs])?.concat();
    Ok((f64::from(scalar(loss)), slope))
}

/// Σ over rows of −w log p(y | outputs), where w = 1 unless the batch has weights; for a Gaussian head without the
/// constant ½ log 2π.
///
/// # Shapes
/// - `outputs`: `[rows, outputs of the head]`
/// - returns: scalar
pub fn negative_log_likelihood(outputs: Tensor<2>, batch: &Batch, head: Head) -> Tensor<1> {
    let rows = batch.y.len();
    match (&batch.y, head) {
        (Targets::Classes(labels), Head::Classes(classes)) => {
            let mut chosen = vec![0.0; rows * classes];
            for (row, &label) in labels.iter().enumerate() {
                chosen[row * classes + label as usize] = batch.weights.as_ref().map_or(1.0, |weights| weights[row]);
            }
            (log_softmax(outputs, 1) * tensor(chosen, [rows, classes])).sum().neg()
        }
        (Targets::Values(values), Head::Gaussian) => {
            let mean = outputs.clone().slice([0..rows, 0..1]);
            let variance = softplus(outputs.slice([0..rows, 1..2]), 1.0) + VARIANCE_FLOOR;
            let residual = mean - tensor(values.clone(), [rows, 1]);
            let twice = variance.clone().log() + residual.powi_scalar(2) / variance;
            let weighted = match &batch.weights {
                Some(weights) => twice * tensor(weights.clone(), [rows, 1]),
                None => twice,
            };
            weighted.sum() * 0.5
        }
        _ => unreachable!("head and targets both follow the schema's task"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(y: Targets, weights: Option<Vec<f32>>) -> Batch {
        Batch { x: tensor(vec![], [0, 0]), y, weights }
    }

    #[test]
    fn equal_logits_cost_log_of_the_number_of_classes() {
        let outputs = tensor(vec![0.3; 8], [2, 4]);
        let loss =
            negative_log_likelihood(outputs.clone(), &batch(Targets::Classes(vec![0, 3]), None), Head::Classes(4));
        assert!((scalar(loss) - 2.0 * 4f32.ln()).abs() < 1e-6);
        // A row of weight 3 counts three times, and one of weight 0 not at all.
        let weighted = batch(Targets::Classes(vec![0, 3]), Some(vec![3.0, 0.0]));
        let loss = negative_log_likelihood(outputs, &weighted, Head::Classes(4));
        assert!((scalar(loss) - 3.0 * 4f32.ln()).abs() < 1e-6);
    }

    #[test]
    fn a_gaussian_head_pays_for_its_residual_and_its_variance() {
        // softplus(s) = ln(1 + eˢ) is 1 at s = ln(e − 1); the residual is 2: ½ (ln v + 4 / v), v = 1.0001.
        let s = (1f32.exp() - 1.0).ln();
        let expected = 0.5 * (1.0001f32.ln() + 4.0 / 1.0001);
        for (weights, times) in [(None, 1.0), (Some(vec![2.5]), 2.5)] {
            let batch = batch(Targets::Values(vec![1.0]), weights);
            let loss = negative_log_likelihood(tensor(vec![3.0, s], [1, 2]), &batch, Head::Gaussian);
            assert!((scalar(loss) - times * expected).abs() < 1e-5);
        }
    }

    #[test]
    fn a_mask_drops_its_share_and_keeps_the_mean() {
        let mask = dropout_mask(0.25, 40_000, &mut crate::seed::Seed(1).stream("mask"));
        let dropped = mask.iter().filter(|&&m| m < 0.5).count() as f64 / 40_000.0;
        let mean = mask.iter().map(|&m| f64::from(m)).sum::<f64>() / 40_000.0;
        // Three standard errors of a share of a quarter: 3 √(¼ · ¾ / 40 000) = 0.0065.
        assert!((dropped - 0.25).abs() < 0.0065, "{dropped}");
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
    }
}
