//! Linear layers that learn: y = W x + b, ∂L/∂x = Wᵀ ∂L/∂y, ∂L/∂W = ∂L/∂y xᵀ, of many rows at once.
//!
//! The weights are laid out once for each step, for all threads.

use super::parameters::Parameters;
use crate::lanes::{logistic, vectorised};
use crate::panels::{Panels, learned, multiplied};
use crate::parallel::over_shards;
use std::ops::Range;
use std::sync::OnceLock;

/// One layer with the weights of a step.
#[derive(Debug)]
pub(in crate::model) struct Dense<'a> {
    inputs: usize,
    outputs: usize,
    weight: &'a [f32],
    bias: &'a [f32],
    /// Where weight and bias lie among all parameters.
    places: [Range<usize>; 2],
    forward: Panels,
    /// Made when somebody first goes back.
    back: OnceLock<Panels>,
}

impl<'a> Dense<'a> {
    /// The layers of these names.
    pub fn all(parameters: &'a Parameters, names: &[String]) -> Vec<Self> {
        over_shards(names.len(), 1, |at| Self::of(parameters, &names[at.start]))
    }

    /// The layer `<name>.weight`, `<name>.bias`.
    pub fn of(parameters: &'a Parameters, name: &str) -> Self {
        let places = ["weight", "bias"].map(|part| parameters.place(&format!("{name}.{part}")));
        let [weight, bias] = places.each_ref().map(|place| &parameters.values[place.clone()]);
        let outputs = bias.len();
        let inputs = weight.len() / outputs;
        let forward = Panels::of_columns(weight, inputs);
        Self { inputs, outputs, weight, bias, places, forward, back: OnceLock::new() }
    }

    /// # Shapes
    /// - `x`: `[rows, inputs]`, returns: `[rows, outputs]`
    pub fn forward(&self, x: &[f32]) -> Vec<f32> {
        let mut y = vec![0.0; x.len() / self.inputs * self.outputs];
        multiplied(&self.forward, Some(self.bias), x, &mut y, false);
        y
    }

    /// Adds W x + b.
    pub fn forward_onto(&self, x: &[f32], sum: &mut [f32]) {
        multiplied(&self.forward, Some(self.bias), x, sum, true);
    }

    /// ∂L/∂x for ∂L/∂y.
    ///
    /// # Shapes
    /// - `g`: `[rows, outputs]`, returns: `[rows, inputs]`
    pub fn back(&self, g: &[f32]) -> Vec<f32> {
        let panels = self.back.get_or_init(|| Panels::of_rows(self.weight, self.inputs));
        let mut x = vec![0.0; g.len() / self.outputs * self.inputs];
        multiplied(panels, None, g, &mut x, false);
        x
    }

    /// Adds ∂L/∂W and ∂L/∂b to a gradient by all parameters.
    pub fn learn(&self, x: &[f32], g: &[f32], gradient: &mut [f32]) {
        let [weight, bias] = &self.places;
        let [weight, bias] =
            gradient.get_disjoint_mut([weight.clone(), bias.clone()]).expect("arrays lie one behind the other");
        learned(g, x, weight, bias);
    }
}

/// Sets what is below 0 to 0.
pub(in crate::model) fn relu(h: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || h.iter_mut().for_each(|h| *h = h.max(0.0)),
    );
}

/// The way back through [`relu`]: `kept` times the gradient where `h`, what came out of it, is above 0.
pub(in crate::model) fn relu_back(g: &mut [f32], h: &[f32], kept: f32) {
    vectorised(
        #[inline(always)]
        || g.iter_mut().zip(h).for_each(|(g, &h)| *g = if h > 0.0 { kept * *g } else { 0.0 }),
    );
}

/// silu(h) = h σ(h), and its slope.
pub(in crate::model) fn silu(h: &[f32]) -> [Vec<f32>; 2] {
    let (mut out, mut slope) = (h.to_vec(), vec![0.0; h.len()]);
    vectorised(
        #[inline(always)]
        || {
            for (h, slope) in out.iter_mut().zip(&mut slope) {
                let share = logistic(*h);
                *slope = share * (1.0 + *h * (1.0 - share));
                *h *= share;
            }
        },
    );
    [out, slope]
}

/// a ← a b, number by number.
pub(in crate::model) fn scale(a: &mut [f32], b: &[f32]) {
    vectorised(
        #[inline(always)]
        || a.iter_mut().zip(b).for_each(|(a, b)| *a *= b),
    );
}

/// a ← a + b, number by number.
pub(in crate::model) fn add(a: &mut [f32], b: &[f32]) {
    vectorised(
        #[inline(always)]
        || a.iter_mut().zip(b).for_each(|(a, b)| *a += b),
    );
}
