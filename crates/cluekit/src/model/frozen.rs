//! Linear layers that no longer change: what a search asks at every step, and the way back to its input.
//!
//! A search needs ∂L/∂x alone, so the way back is a product with the turned weight, and nothing is computed for the
//! weights themselves.

use crate::lanes::{Lanes, logistic, transposed, vectorised};
use std::sync::OnceLock;

/// Layers of one shape, stacked: one for each posterior sample, or a single one.
#[derive(Clone, Debug)]
pub(in crate::model) struct Linear {
    inputs: usize,
    outputs: usize,
    /// `[S, outputs, inputs]`
    weight: Vec<f32>,
    /// `[S, outputs]`
    bias: Vec<f32>,
    /// `[S, inputs, outputs]`, made when somebody first goes back.
    turned: OnceLock<Vec<f32>>,
}

impl Linear {
    /// # Shapes
    /// - `weight`: `[S, outputs, inputs]`, `bias`: `[S, outputs]`
    pub fn new(weight: Vec<f32>, bias: Vec<f32>, outputs: usize) -> Self {
        let inputs = weight.len() / bias.len();
        Self { inputs, outputs, weight, bias, turned: OnceLock::new() }
    }

    /// Number of columns of an input.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of columns of an output.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    fn weight(&self, sample: usize) -> &[f32] {
        let len = self.inputs * self.outputs;
        &self.weight[sample * len..(sample + 1) * len]
    }

    fn bias(&self, sample: usize) -> &[f32] {
        &self.bias[sample * self.outputs..(sample + 1) * self.outputs]
    }

    fn turned(&self, sample: usize) -> &[f32] {
        let len = self.inputs * self.outputs;
        let turn = || self.weight.chunks_exact(len).flat_map(|weight| transposed(weight, self.inputs)).collect();
        &self.turned.get_or_init(turn)[sample * len..(sample + 1) * len]
    }

    /// W x + b by one of the layers.
    pub fn forward(&self, sample: usize, x: &Lanes) -> Lanes {
        x.linear(self.weight(sample), Some(self.bias(sample)))
    }

    /// Adds W x + b by one of the layers.
    pub fn forward_onto(&self, sample: usize, x: &Lanes, sum: &mut Lanes) {
        sum.add_linear(self.weight(sample), Some(self.bias(sample)), x);
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
