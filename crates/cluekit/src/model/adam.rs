//! Adam: steps scaled by running moments of the gradient. [Kingma2015, Alg. 1]
//!
//! m ← β₁ m + (1 − β₁) g,  v ← β₂ v + (1 − β₂) g²,  θ ← θ − η · m̂ / (√v̂ + ε), with decoupled weight decay
//! θ ← θ − η w θ. [Loshchilov2019, Alg. 2]

use crate::lanes::vectorised;
use rayon::prelude::*;

/// β₁ and β₂: how much of the running moments a step keeps.
pub type Betas = [f32; 2];

/// What is usual.
pub const BETAS: Betas = [0.9, 0.999];
const EPSILON: f32 = 1e-8;
/// Parameters that one thread updates at a time.
const PIECE: usize = 1 << 16;

/// The state of the optimiser.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    /// Running mean of the gradient.
    pub mean: Vec<f32>,
    /// Running mean of its square.
    pub square: Vec<f32>,
    /// Steps taken.
    pub steps: u64,
    /// How much of the moments a step keeps.
    pub betas: Betas,
}

impl Adam {
    /// A fresh optimiser for `len` parameters.
    pub fn new(len: usize) -> Self {
        Self::with_betas(len, BETAS)
    }

    /// The same with other moments.
    pub fn with_betas(len: usize, betas: Betas) -> Self {
        Self { mean: vec![0.0; len], square: vec![0.0; len], steps: 0, betas }
    }

    /// One step downhill.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], learning_rate: f64, weight_decay: f64) {
        self.steps += 1;
        let [beta_1, beta_2] = self.betas;
        let power = self.steps.min(i32::MAX as u64) as i32;
        let rate = (learning_rate / (1.0 - f64::from(beta_1).powi(power))) as f32;
        let correction = (1.0 / (1.0 - f64::from(beta_2).powi(power))) as f32;
        let shrink = (1.0 - learning_rate * weight_decay) as f32;
        let pieces = (parameters.par_chunks_mut(PIECE), gradient.par_chunks(PIECE))
            .into_par_iter()
            .zip((self.mean.par_chunks_mut(PIECE), self.square.par_chunks_mut(PIECE)));
        pieces.for_each(|((parameters, gradient), (mean, square))| {
            vectorised(
                #[inline(always)]
                || {
                    for (((p, &g), m), v) in parameters.iter_mut().zip(gradient).zip(mean).zip(square) {
                        *m = beta_1 * *m + (1.0 - beta_1) * g;
                        *v = beta_2 * *v + (1.0 - beta_2) * g * g;
                        *p = *p * shrink - rate * *m / ((*v * correction).sqrt() + EPSILON);
                    }
                },
            );
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_length_of_the_learning_rate() {
        // m̂ = g and v̂ = g², so the step is η · sign(g).
        let mut parameters = [1.0, 1.0];
        Adam::new(2).step(&mut parameters, &[0.3, -20.0], 0.1, 0.0);
        assert!((parameters[0] - 0.9).abs() < 1e-6 && (parameters[1] - 1.1).abs() < 1e-6, "{parameters:?}");
    }

    #[test]
    fn two_steps_agree_with_the_formula() {
        // g = 1, then 2: m = 0.1·0.9 + 0.2 = 0.29, v = 0.001·0.999 + 0.004 = 0.004999,
        // m̂ = 0.29 / 0.19 = 1.526316, v̂ = 0.004999 / 0.001999 = 2.500750, step = 0.1 · 0.965178.
        let (mut adam, mut parameters) = (Adam::new(1), [0.0]);
        adam.step(&mut parameters, &[1.0], 0.1, 0.0);
        adam.step(&mut parameters, &[2.0], 0.1, 0.0);
        assert!((parameters[0] + 0.1 + 0.096_517_8).abs() < 1e-5, "{parameters:?}");
    }

    #[test]
    fn weight_decay_pulls_towards_zero_without_a_gradient() {
        let mut parameters = [2.0];
        Adam::new(1).step(&mut parameters, &[0.0], 0.1, 0.5);
        assert!((parameters[0] - 1.9).abs() < 1e-6);
    }
}
