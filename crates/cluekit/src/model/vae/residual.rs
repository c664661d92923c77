//! Residual multilayer perceptrons as encoder and decoder: h ← h + W silu(h) + b in every block, silu(h) = h σ(h).
//!
//! A smooth activation makes a smooth latent space to search in, and small first weights in blocks and output train in
//! an eighth of the epochs: on MNIST, five of them reach what forty reached with ReLU and He's initialisation.

use crate::model::parameters::{Layout, Weights};
use crate::tensor::{Tensor, silu};

/// The residual blocks begin small, so that the signal does not grow with the depth.
pub(super) const BLOCK_SPREAD: f32 = 0.5;
/// The outputs begin near 0: every probability near a half, every latent code near the prior.
pub(super) const OUTPUT_SPREAD: f32 = 0.1;

/// One such network, from `inputs` to `outputs`, with its arrays under `<name>.`.
#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    name: String,
    depth: usize,
}

impl Residual {
    /// Adds the arrays `<name>.input`, `<name>.blocks.<i>` and `<name>.output` to the layout.
    pub fn new(name: &str, inputs: usize, outputs: usize, width: usize, depth: usize, layout: &mut Layout) -> Self {
        Self::with_spread(name, [inputs, outputs], width, depth, OUTPUT_SPREAD, layout)
    }

    /// The same with outputs that begin this share of He's initialisation away from 0.
    pub(super) fn with_spread(
        name: &str,
        [inputs, outputs]: [usize; 2],
        width: usize,
        depth: usize,
        spread: f32,
        layout: &mut Layout,
    ) -> Self {
        layout.push_linear(&format!("{name}.input"), inputs, width);
        for i in 0..depth {
            layout.push_linear_spread(&format!("{name}.blocks.{i}"), width, width, BLOCK_SPREAD);
        }
        layout.push_linear_spread(&format!("{name}.output"), width, outputs, spread);
        Self { name: name.into(), depth }
    }

    /// # Shapes
    /// - `x`: `[rows, inputs]`, returns: `[rows, outputs]`
    pub fn forward(&self, weights: &Weights, x: Tensor<2>) -> Tensor<2> {
        let name = &self.name;
        let mut h = weights.linear(&format!("{name}.input"), x);
        for i in 0..self.depth {
            h = h.clone() + weights.linear(&format!("{name}.blocks.{i}"), silu(h));
        }
        weights.linear(&format!("{name}.output"), silu(h))
    }
}
