//! Determinantal point process diversity, and its logarithm.
//!
//! D(p₁ … p_k) = det K,  K_ij = 1 / (1 + d(pᵢ, pⱼ)), d = ℓ2 or ℓ1.
//!
//! 0 when two candidates coincide, towards 1 as all move apart. [Ley2022, Table 1]
//!
//! The kernel is a mixture of Laplace kernels of either distance, 1/(1 + d) = ∫₀^∞ e^(−s) e^(−sd) ds, so K is positive definite as long as
//! no two points coincide: Cholesky always serves, and det K lies in (0, 1]. For many candidates it underflows as a
//! measure and vanishes as an objective; log det K does neither.
//!
//! With ∂K_ij/∂d_ij = −K_ij² and K_ij = K_ji:
//!
//! - ∂ log det K/∂d_ij = −2 (K⁻¹)_ij K_ij²
//! - ∂ det K/∂d_ij = −2 adj(K)_ij K_ij²,  adj(K) = det(K) K⁻¹.
//!
//! **Where points coincide** d_ij has no direction, and we take ∂d_ij/∂p = 0. If only i and j coincide then
//! adj(K) ∝ (eᵢ − eⱼ)(eᵢ − eⱼ)ᵀ, and if more do then adj(K) = 0; so nothing is left of the gradient of det K but 0.
//! log det K is −∞; its gradient is that of the distinct points, those in one place sharing it equally, which is what
//! (K + εI)⁻¹ gives for small ε. It stays finite and still spreads the rest of the set.

use super::pairwise::{distance, pull_back};
use super::set::Points;
use crate::linear::{Cholesky, Matrix};

/// ε: above rounding by as much as it is below the distances that matter.
const JITTER: f64 = 1e-8;

/// det K.
pub(super) fn determinant(points: &Points) -> f64 {
    Cholesky::of(&kernel(points)).map_or(0.0, |kernel| kernel.determinant())
}

/// log det K; −∞ where points coincide.
pub(super) fn log_determinant(points: &Points) -> f64 {
    Cholesky::of(&kernel(points)).map_or(f64::NEG_INFINITY, |kernel| kernel.log_determinant())
}

/// det K with its gradient.
pub(super) fn determinant_and_gradient(points: &Points) -> (f64, Vec<f64>) {
    let kernel = kernel(points);
    match Cholesky::of(&kernel) {
        Some(factor) => (factor.determinant(), gradient(points, &kernel, &factor, factor.determinant())),
        None => (0.0, points.zeros()),
    }
}

/// log det K with its gradient.
pub(super) fn log_determinant_and_gradient(points: &Points) -> (f64, Vec<f64>) {
    let kernel = kernel(points);
    if let Some(factor) = Cholesky::of(&kernel) {
        return (factor.log_determinant(), gradient(points, &kernel, &factor, 1.0));
    }
    let jittered = Cholesky::of(&kernel.plus_diagonal(JITTER));
    let gradient = jittered.map_or_else(|| points.zeros(), |factor| gradient(points, &kernel, &factor, 1.0));
    (f64::NEG_INFINITY, gradient)
}

fn kernel(points: &Points) -> Matrix {
    Matrix::symmetric(points.len(), |i, j| 1.0 / (1.0 + distance(points, i, j)))
}

/// `scale` times the gradient of log det K.
fn gradient(points: &Points, kernel: &Matrix, factor: &Cholesky, scale: f64) -> Vec<f64> {
    let inverse = factor.inverse();
    pull_back(points, |i, j| -2.0 * scale * inverse[(i, j)] * kernel[(i, j)].powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diversity::Set;

    fn on_a_line(points: &[f32]) -> Points {
        Points::of(&Set { points, width: 1, original: None })
    }

    fn assert_close(got: &[f64], expected: &[f64], tolerance: f64) {
        let far = |(g, e): (&f64, &f64)| (g - e).abs() > tolerance;
        assert!(got.len() == expected.len() && !got.iter().zip(expected).any(far), "{got:?}, expected {expected:?}");
    }

    #[test]
    fn two_candidates_one_apart_have_three_quarters() {
        // 1 − (1 / (1 + 1))² = 0.75, and its slope is 2 (1 / (1 + 1))³ = 0.25.
        let (value, gradient) = determinant_and_gradient(&on_a_line(&[0.0, 1.0]));
        assert_close(&[value], &[0.75], 1e-15);
        assert_close(&gradient, &[-0.25, 0.25], 1e-15);
    }

    #[test]
    fn the_logarithm_has_the_slope_over_the_value() {
        let (value, gradient) = log_determinant_and_gradient(&on_a_line(&[0.0, 1.0]));
        assert_close(&[value], &[0.75f64.ln()], 1e-15);
        assert_close(&gradient, &[-1.0 / 3.0, 1.0 / 3.0], 1e-15);
    }

    #[test]
    fn three_candidates_follow_the_rule_of_sarrus() {
        // K₀₁ = 1/2, K₁₂ = 1/3, K₀₂ = 1/4: 1 + 2/24 − 1/4 − 1/9 − 1/16.
        let expected = 1.0 + 2.0 / 24.0 - 1.0 / 4.0 - 1.0 / 9.0 - 1.0 / 16.0;
        assert_close(&[determinant(&on_a_line(&[0.0, 1.0, 3.0]))], &[expected], 1e-15);
    }

    #[test]
    fn candidates_that_coincide_have_none_and_no_direction() {
        for points in [&[1.0, 1.0][..], &[1.0, 3.0, 1.0], &[1.0, 1.0, 1.0, 2.0]] {
            let (value, gradient) = determinant_and_gradient(&on_a_line(points));
            assert_eq!(value, 0.0);
            assert!(gradient.iter().all(|&slope| slope == 0.0));
        }
    }

    #[test]
    fn a_determinant_next_to_zero_keeps_its_slope() {
        // det = 1 − 1/(1+d)² → 2d, for two points that a float can just tell apart.
        let (value, gradient) = determinant_and_gradient(&on_a_line(&[0.0, 1e-7]));
        assert_close(&[value], &[2e-7], 1e-13);
        assert_close(&gradient, &[-2.0, 2.0], 1e-6);
    }

    #[test]
    fn candidates_in_one_place_share_the_slope_of_the_logarithm() {
        let (value, shared) = log_determinant_and_gradient(&on_a_line(&[0.0, 1.0, 1.0, 3.0]));
        let (_, distinct) = log_determinant_and_gradient(&on_a_line(&[0.0, 1.0, 3.0]));
        assert_eq!(value, f64::NEG_INFINITY);
        assert_close(&shared, &[distinct[0], distinct[1] / 2.0, distinct[1] / 2.0, distinct[2]], 1e-6);
    }

    #[test]
    fn a_hundred_close_candidates_keep_their_logarithm_and_its_slope() {
        let points: Vec<f32> = (0..100 * 20).map(|n| 1e-4 * (n as f32 * 12.9898).sin()).collect();
        let points = Points::of(&Set { points: &points, width: 20, original: None });
        let (value, gradient) = log_determinant_and_gradient(&points);
        assert_eq!(determinant(&points), 0.0, "underflown");
        assert!(value.is_finite() && value < -745.0, "{value}");
        assert!(gradient.iter().all(|slope| slope.is_finite()));
        assert!(gradient.iter().any(|slope| slope.abs() > 1.0));
    }
}
