//! Scale-adapted stochastic-gradient Hamiltonian Monte Carlo. [Springenberg2016, Eq. 7–9]
//!
//! Samples θ from exp(−U(θ)) with noisy gradients g of U:
//!
//! - θ ← θ + v,
//! - v ← (1 − α) v − ε² V̂^(−½) g + N(0, 2 ε² α V̂^(−½) − ε⁴).
//!
//! During burn-in V̂ follows the second moment of the gradient, over a window τ that adapts to how fast it changes:
//! τ ← τ (1 − ḡ² / V̂) + 1, ḡ ← ḡ + (g − ḡ) / τ, V̂ ← V̂ + (g² − V̂) / τ. Then it stands still. The window never falls
//! below 100 steps: a gradient without noise (a pixel that is always 0 leaves its weights to the prior)
//! has ḡ² = V̂, so that the formula alone would forget everything at each step, and V̂ would vanish whenever the
//! gradient passes through 0.

use super::store::checkpoint::Snapshot;
use crate::error::Result;
use crate::lanes::vectorised;
use crate::seed::Seed;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// Keeps V̂^(−½) finite where the gradient is always 0.
const EPSILON: f32 = 1e-6;
/// The shortest memory of the preconditioner, in steps.
const LEAST_WINDOW: u64 = 100;
/// Parameters that one thread updates at a time; each piece has a random stream of its own.
const PIECE: usize = 1 << 14;

/// The sampler's state for one chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Sghmc {
    step: f32,
    friction: f32,
    momentum: Vec<f32>,
    window: Vec<f32>,
    mean: Vec<f32>,
    square: Vec<f32>,
    steps: u64,
}

impl Sghmc {
    /// A chain over `len` parameters with step ε and friction α.
    pub fn new(len: usize, step: f64, friction: f64) -> Self {
        Self {
            step: step as f32,
            friction: friction as f32,
            momentum: vec![0.0; len],
            window: vec![1.0; len],
            mean: vec![0.0; len],
            square: vec![1.0; len],
            steps: 0,
        }
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// One step of the chain; `adapt` is true during burn-in.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], adapt: bool, seed: Seed, stream: &str) {
        let (step, friction) = (self.step, self.friction);
        let fourth = step.powi(4);
        let least = (self.steps + 1).min(LEAST_WINDOW) as f32;
        let first = self.steps * parameters.len().div_ceil(PIECE) as u64;
        self.steps += 1;
        let chain = (
            parameters.par_chunks_mut(PIECE),
            gradient.par_chunks(PIECE),
            self.momentum.par_chunks_mut(PIECE),
            self.window.par_chunks_mut(PIECE),
            self.mean.par_chunks_mut(PIECE),
            self.square.par_chunks_mut(PIECE),
        );
        chain.into_par_iter().enumerate().for_each(
            |(piece, (parameters, gradient, momentum, window, mean, square))| {
                let mut rng = seed.numbered(stream, first + piece as u64);
                let noise: Vec<f32> = StandardNormal.sample_iter(&mut rng).take(parameters.len()).collect();
                vectorised(
                    #[inline(always)]
                    || {
                        if adapt {
                            let moments = window.iter_mut().zip(mean).zip(square.iter_mut());
                            for (&g, ((tau, mean), square)) in gradient.iter().zip(moments) {
                                let share = *mean * *mean / (*square + f32::MIN_POSITIVE);
                                *tau = (*tau * (1.0 - share) + 1.0).max(least);
                                *mean += (g - *mean) / *tau;
                                *square += (g * g - *square) / *tau;
                            }
                        }
                        let held = momentum.iter_mut().zip(square.iter()).zip(&noise);
                        for ((theta, &g), ((v, &square), &noise)) in parameters.iter_mut().zip(gradient).zip(held) {
                            let rate = step * step / (square.sqrt() + EPSILON);
                            let variance = (2.0 * friction * rate - fourth).max(0.0);
                            *v += noise * variance.sqrt() - friction * *v - rate * g;
                            *theta += *v;
                        }
                    },
                );
            },
        );
    }

    /// Draws a new momentum from its stationary distribution N(0, ε² V̂^(−½)).
    pub fn resample_momentum(&mut self, seed: Seed, stream: &str) {
        let mut rng = seed.numbered(stream, self.steps);
        for (v, square) in self.momentum.iter_mut().zip(&self.square) {
            let draw: f32 = StandardNormal.sample(&mut rng);
            *v = draw * self.step / (square.sqrt() + EPSILON).sqrt();
        }
    }

    /// Adds the chain's state to a snapshot.
    pub fn save(&self, snapshot: Snapshot) -> Snapshot {
        snapshot
            .array("momentum", &self.momentum)
            .array("window", &self.window)
            .array("mean", &self.mean)
            .array("square", &self.square)
            .number("steps", self.steps as f64)
    }

    /// Takes the chain's state out of a snapshot.
    pub fn load(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let len = self.momentum.len();
        self.momentum = snapshot.take("momentum", len)?;
        self.window = snapshot.take("window", len)?;
        self.mean = snapshot.take("mean", len)?;
        self.square = snapshot.take("square", len)?;
        self.steps = snapshot.get("steps")? as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a chain on noisy gradients and returns (mean, variance) of every coordinate and the covariance of the
    /// first two.
    fn moments(
        gradient: impl Fn(&[f32], &mut crate::seed::Rng) -> Vec<f32>,
        start: &[f32],
        step: f64,
        steps: usize,
    ) -> (Vec<f64>, Vec<f64>, f64) {
        let seed = Seed(11);
        let mut theta = start.to_vec();
        let mut chain = Sghmc::new(theta.len(), step, 0.05);
        let mut noise = seed.stream("gradient noise");
        let burn_in = steps / 5;
        let n = theta.len();
        let (mut sum, mut squares, mut cross) = (vec![0.0; n], vec![0.0; n], 0.0);
        for i in 0..steps {
            let g = gradient(&theta, &mut noise);
            chain.step(&mut theta, &g, i < burn_in, seed, "noise");
            if i % 500 == 0 {
                chain.resample_momentum(seed, "momentum");
            }
            if i >= burn_in {
                for d in 0..n {
                    sum[d] += f64::from(theta[d]);
                    squares[d] += f64::from(theta[d]).powi(2);
                }
                cross += f64::from(theta[0]) * f64::from(theta[n.min(2) - 1]);
            }
        }
        let count = (steps - burn_in) as f64;
        let mean: Vec<f64> = sum.iter().map(|s| s / count).collect();
        let variance = squares.iter().zip(&mean).map(|(s, m)| s / count - m * m).collect();
        let covariance = cross / count - mean[0] * mean[n.min(2) - 1];
        (mean, variance, covariance)
    }

    #[test]
    fn gradients_that_stand_still_or_vanish_leave_the_chain_finite() {
        let (mut chain, mut theta) = (Sghmc::new(3, 0.01, 0.05), [0.1; 3]);
        for i in 0..2000 {
            let gradient = [0.3, 0.0, if i < 1000 { 1e4 } else { 0.0 }];
            chain.step(&mut theta, &gradient, true, Seed(0), "noise");
        }
        assert!(theta.iter().all(|value| value.is_finite()), "{theta:?}");
        assert!(chain.square.iter().all(|&square| square >= 0.0), "{:?}", chain.square);
    }

    #[test]
    fn a_parameter_that_only_the_prior_holds_keeps_the_priors_spread() {
        // U = ½ 200 θ², no gradient noise at all: the variance is 1/200. The step is short, since the ε⁴ that makes
        // room for the noise of mini-batches would otherwise be missing here.
        let (_, variance, _) =
            moments(|theta, _| theta.iter().map(|t| 200.0 * t).collect(), &[0.05, -0.02], 0.01, 200_000);
        assert!(variance.iter().all(|v| (v * 200.0 - 1.0).abs() < 0.15), "{variance:?}");
    }

    #[test]
    fn a_gaussian_is_sampled_with_its_moments() {
        // U = ½ Σ (θ − m)² / s² with m = (1, −2), s² = (1, 9), and gradient noise of variance 4.
        let (centre, variances) = ([1.0, -2.0], [1.0, 9.0]);
        let gradient = |theta: &[f32], rng: &mut crate::seed::Rng| {
            (0..2)
                .map(|d| {
                    let draw: f32 = StandardNormal.sample(rng);
                    (theta[d] - centre[d]) / variances[d] + 2.0 * draw
                })
                .collect()
        };
        let (mean, variance, covariance) = moments(gradient, &[0.0, 0.0], 0.1, 400_000);
        assert!((mean[0] - 1.0).abs() < 0.1 && (mean[1] + 2.0).abs() < 0.3, "means {mean:?}");
        assert!((variance[0] - 1.0).abs() < 0.1 && (variance[1] / 9.0 - 1.0).abs() < 0.1, "variances {variance:?}");
        assert!(covariance.abs() < 0.3, "covariance {covariance}");
    }

    #[test]
    fn a_conjugate_linear_regression_is_sampled_with_its_posterior() {
        // y = w₀ + w₁ x + N(0, 0.25), prior N(0, 1): the posterior is Gaussian with precision A = I + XᵀX / 0.25.
        let x: Vec<f32> = (0..20).map(|i| i as f32 / 10.0 - 0.95).collect();
        let y: Vec<f32> = x.iter().enumerate().map(|(i, x)| 0.5 - x + 0.3 * ((i % 5) as f32 - 2.0)).collect();
        let (mut a, mut b) = ([[1.0f64, 0.0], [0.0, 1.0]], [0.0f64; 2]);
        for (&x, &y) in x.iter().zip(&y) {
            let row = [1.0, f64::from(x)];
            for i in 0..2 {
                b[i] += row[i] * f64::from(y) / 0.25;
                for j in 0..2 {
                    a[i][j] += row[i] * row[j] / 0.25;
                }
            }
        }
        let determinant = a[0][0] * a[1][1] - a[0][1] * a[1][0];
        let covariance = [[a[1][1] / determinant, -a[0][1] / determinant], [0.0, a[0][0] / determinant]];
        let expected =
            [covariance[0][0] * b[0] + covariance[0][1] * b[1], covariance[0][1] * b[0] + covariance[1][1] * b[1]];
        // Gradients from a random half of the rows, scaled up: the noise that mini-batches make.
        let gradient = |w: &[f32], rng: &mut crate::seed::Rng| {
            use rand::RngExt;
            let mut g = w.to_vec();
            for _ in 0..10 {
                let i = rng.random_range(0..20);
                let residual = (w[0] + w[1] * x[i] - y[i]) / 0.25 * 2.0;
                g[0] += residual;
                g[1] += residual * x[i];
            }
            g
        };
        let (mean, variance, cross) = moments(gradient, &[0.0, 0.0], 0.05, 400_000);
        for d in 0..2 {
            let deviation = covariance[d][d].sqrt();
            assert!((mean[d] - expected[d]).abs() < 0.15 * deviation, "mean {mean:?}, expected {expected:?}");
            assert!((variance[d] / covariance[d][d] - 1.0).abs() < 0.15, "variance {variance:?}, {covariance:?}");
        }
        assert!((cross - covariance[0][1]).abs() < 0.1 * (covariance[0][0] * covariance[1][1]).sqrt(), "{cross}");
    }
}
