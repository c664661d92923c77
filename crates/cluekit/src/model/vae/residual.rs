//! Residual multilayer perceptrons as encoder and decoder: h ← h + W relu(h) + b in every block.

use crate::model::parameters::{Layout, Weights};
use crate::tensor::{Tensor, relu};

/// One such network, from `inputs` to `outputs`, with its arrays under `<name>.`.
#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    name: String,
    depth: usize,
}

impl Residual {
    /// Adds the arrays `<name>.input`, `<name>.blocks.<i>` and `<name>.output` to the layout.
    pub fn new(name: &str, inputs: usize, outputs: usize, width: usize, depth: usize, layout: &mut Layout) -> Self {
        layout.push_linear(&format!("{name}.input"), inputs, width);
        for i in 0..depth {
            layout.push_linear(&format!("{name}.blocks.{i}"), width, width);
        }
        layout.push_linear(&format!("{name}.output"), width, outputs);
        Self { name: name.into(), depth }
    }

    /// # Shapes
    /// - `x`: `[rows, inputs]`, returns: `[rows, outputs]`
    pub fn forward(&self, weights: &Weights, x: Tensor<2>) -> Tensor<2> {
        let name = &self.name;
        let mut h = weights.linear(&format!("{name}.input"), x);
        for i in 0..self.depth {
            h = h.clone() + weights.linear(&format!("{name}.blocks.{i}"), relu(h));
        }
        weights.linear(&format!("{name}.output"), relu(h))
    }
}
