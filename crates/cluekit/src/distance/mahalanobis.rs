//! Whitening: Σ = L Lᵀ of the training rows, and L⁻¹, so that ‖L⁻¹ (x − x₀)‖₂ is Mahalanobis' distance.

use crate::linear::{Cholesky, mean_and_covariance};

/// Rows that the covariance is learned from at the most, evenly spread over the data.
const MOST_ROWS: usize = 4096;
/// Added to the diagonal, as a share of the mean variance: columns may depend on each other, as one-hot ones do.
const RIDGE: f64 = 1e-3;

/// L⁻¹ of the covariance Σ = L Lᵀ, row after row.
pub(super) fn whitening(rows: &[f32], width: usize) -> Vec<f32> {
    let stride = (rows.len() / width).div_ceil(MOST_ROWS);
    let (_, covariance) = mean_and_covariance(rows.chunks_exact(width).step_by(stride), width);
    let mean_variance = covariance.diagonal().sum::<f64>() / width as f64;
    let ridge = if mean_variance > 0.0 { RIDGE * mean_variance } else { 1.0 };
    let factor = Cholesky::of_definite(&covariance.plus_diagonal(ridge));
    factor.inverse_factor().into_iter().map(|v| v as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_depend_on_each_other_stay_finite() {
        let rows = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0];
        assert!(whitening(&rows, 2).iter().all(|v| v.is_finite()));
        assert!(whitening(&[3.0, 3.0, 3.0, 3.0], 2).iter().all(|v| v.is_finite()));
    }
}
