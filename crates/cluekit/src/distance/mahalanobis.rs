//! Whitening: Σ = L Lᵀ of the training rows, and L⁻¹, so that ‖L⁻¹ (x − x₀)‖₂ is Mahalanobis' distance.

/// Rows that the covariance is learned from at the most, evenly spread over the data.
const MOST_ROWS: usize = 4096;
/// Added to the diagonal, as a share of the mean variance: columns may depend on each other, as one-hot ones do.
const RIDGE: f64 = 1e-3;

/// L⁻¹ of the covariance Σ = L Lᵀ, row after row.
pub(super) fn whitening(rows: &[f32], width: usize) -> Vec<f32> {
    let lower = cholesky(covariance(rows, width), width);
    inverse_of_lower(&lower, width).iter().map(|&v| v as f32).collect()
}

fn covariance(rows: &[f32], width: usize) -> Vec<f64> {
    let stride = (rows.len() / width).div_ceil(MOST_ROWS);
    let chosen: Vec<&[f32]> = rows.chunks_exact(width).step_by(stride).collect();
    let count = chosen.len() as f64;
    let mean: Vec<f64> = (0..width).map(|c| chosen.iter().map(|row| f64::from(row[c])).sum::<f64>() / count).collect();
    let mut covariance = vec![0.0; width * width];
    for row in &chosen {
        let centred: Vec<f64> = row.iter().zip(&mean).map(|(&v, m)| f64::from(v) - m).collect();
        for (i, &a) in centred.iter().enumerate() {
            for (sum, &b) in covariance[i * width..=i * width + i].iter_mut().zip(&centred) {
                *sum += a * b / count;
            }
        }
    }
    let mean_variance = (0..width).map(|i| covariance[i * width + i]).sum::<f64>() / width as f64;
    let ridge = if mean_variance > 0.0 { RIDGE * mean_variance } else { 1.0 };
    (0..width).for_each(|i| covariance[i * width + i] += ridge);
    covariance
}

/// L with A = L Lᵀ; only the lower half of A is read.
fn cholesky(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    for i in 0..n {
        let (above, row) = a.split_at_mut(i * n);
        for j in 0..i {
            let dot: f64 = row[..j].iter().zip(&above[j * n..j * n + j]).map(|(x, y)| x * y).sum();
            row[j] = (row[j] - dot) / above[j * n + j];
        }
        let square: f64 = row[..i].iter().map(|x| x * x).sum();
        row[i] = (row[i] - square).max(f64::MIN_POSITIVE).sqrt();
        row[i + 1..n].fill(0.0);
    }
    a
}

/// L⁻¹ by forward substitution, column by column.
fn inverse_of_lower(lower: &[f64], n: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; n * n];
    for column in 0..n {
        inverse[column * n + column] = 1.0 / lower[column * n + column];
        for i in column + 1..n {
            let dot: f64 = (column..i).map(|k| lower[i * n + k] * inverse[k * n + column]).sum();
            inverse[i * n + column] = -dot / lower[i * n + i];
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_of_a_small_matrix() {
        // [4 2; 2 5] = [2 0; 1 2] [2 1; 0 2], and the inverse of [2 0; 1 2] is [½ 0; −¼ ½].
        let lower = cholesky(vec![4.0, 0.0, 2.0, 5.0], 2);
        assert_eq!(lower, [2.0, 0.0, 1.0, 2.0]);
        assert_eq!(inverse_of_lower(&lower, 2), [0.5, 0.0, -0.25, 0.5]);
    }

    #[test]
    fn columns_that_depend_on_each_other_stay_finite() {
        let rows = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0];
        assert!(whitening(&rows, 2).iter().all(|v| v.is_finite()));
        assert!(whitening(&[3.0, 3.0, 3.0, 3.0], 2).iter().all(|v| v.is_finite()));
    }
}
