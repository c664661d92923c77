//! Linear layers that no longer change: what a search asks at every step, and the way back to its input.
//!
//! A search needs ∂L/∂x alone, so the way back is a product with the turned weight, and nothing is computed for the
//! weights themselves.

use crate::lanes::{Lanes, logistic, vectorised};
use crate::panels::Panels;
use crate::parallel::over_shards;
use std::ops::Range;
use std::sync::OnceLock;

/// Layers of one shape, stacked: one for each posterior sample, or a single one.
#[derive(Clone, Debug)]
pub(in crate::model) struct Linear {
    inputs: usize,
    outputs: usize,
    layers: Vec<Layer>,
}

#[derive(Clone, Debug)]
struct Layer {
    weight: Panels,
    bias: Vec<f32>,
    /// The weight for the way back, made when somebody first goes there.
    turned: OnceLock<Panels>,
}

impl Linear {
    /// # Shapes
    /// - `weight`: `[S, outputs, inputs]`, `bias`: `[S, outputs]`
    pub fn new(weight: &[f32], bias: &[f32], outputs: usize) -> Self {
        let inputs = weight.len() / bias.len();
        let layers: Vec<_> = weight.chunks_exact(inputs * outputs).zip(bias.chunks_exact(outputs)).collect();
        let layer = |at: Range<usize>| {
            let (weight, bias) = layers[at.start];
            Layer { weight: Panels::of_columns(weight, inputs), bias: bias.to_vec(), turned: OnceLock::new() }
        };
        Self { inputs, outputs, layers: over_shards(layers.len(), 1, layer) }
    }

    /// Number of columns of an input.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of columns of an output.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    fn turned(&self, sample: usize) -> &Panels {
        let Layer { weight, turned, .. } = &self.layers[sample];
        turned.get_or_init(|| weight.turned())
    }

    /// W x + b by one of the layers.
    pub fn forward(&self, sample: usize, x: &Lanes) -> Lanes {
        let Layer { weight, bias, .. } = &self.layers[sample];
        x.linear(weight, Some(bias))
    }

    /// Adds W x + b by one of the layers.
    pub fn forward_onto(&self, sample: usize, x: &Lanes, sum: &mut Lanes) {
        let Layer { weight, bias, .. } = &self.layers[sample];
        sum.add_linear(weight, Some(bias), x);
    }

    /// ∂L/∂x = Wᵀ ∂L/∂y.
    pub fn back(&self, sample: usize, cotangent: &Lanes) -> Lanes {
        cotangent.linear(self.turned(sample), None)
    }

    /// Adds ∂L/∂x.
    pub fn back_onto(&self, sample: usize, cotangent: &Lanes, sum: &mut Lanes) {
        sum.add_linear(self.turned(sample), None, cotangent);
    }
}

/// Sets what is below 0 to 0, and says what stays.
pub(in crate::model) fn relu(h: &mut Lanes) -> Vec<u8> {
    let mut stays = vec![0; h.values().len()];
    vectorised(
        #[inline(always)]
        || {
            for (h, stays) in h.values_mut().iter_mut().zip(&mut stays) {
                *stays = u8::from(*h > 0.0);
                *h = h.max(0.0);
            }
        },
    );
    stays
}

/// The way back through [`relu`].
pub(in crate::model) fn relu_back(cotangent: &mut Lanes, stays: &[u8]) {
    vectorised(
        #[inline(always)]
        || {
            for (cotangent, &stays) in cotangent.values_mut().iter_mut().zip(stays) {
                *cotangent = if stays > 0 { *cotangent } else { 0.0 };
            }
        },
    );
}

/// silu(h) = h σ(h), and its slope σ(h) (1 + h (1 − σ(h))).
pub(in crate::model) fn silu(h: &Lanes) -> (Lanes, Vec<f32>) {
    let (mut out, mut slope) = (h.clone(), vec![0.0; h.values().len()]);
    vectorised(
        #[inline(always)]
        || {
            for (h, slope) in out.values_mut().iter_mut().zip(&mut slope) {
                let share = logistic(*h);
                *slope = share * (1.0 + *h * (1.0 - share));
                *h *= share;
            }
        },
    );
    (out, slope)
}

/// σ(h), and its slope σ(h) (1 − σ(h)).
pub(in crate::model) fn sigmoid(h: &mut Lanes) -> Vec<f32> {
    let mut slope = vec![0.0; h.values().len()];
    vectorised(
        #[inline(always)]
        || {
            for (h, slope) in h.values_mut().iter_mut().zip(&mut slope) {
                *h = logistic(*h);
                *slope = *h * (1.0 - *h);
            }
        },
    );
    slope
}

/// The way back through a function of single numbers with this slope.
pub(in crate::model) fn scale(cotangent: &mut Lanes, slope: &[f32]) {
    vectorised(
        #[inline(always)]
        || cotangent.values_mut().iter_mut().zip(slope).for_each(|(cotangent, slope)| *cotangent *= slope),
    );
}
