//! The plane in which some points are spread the most: their first two principal components.
//!
//! C = 1/n Σ (z − z̄)(z − z̄)ᵀ = V Λ Vᵀ; a point lies at ((z − z̄)·v₁, (z − z̄)·v₂), v₁ and v₂ the eigenvectors with the
//! greatest eigenvalues. Each has its largest component positive, so that the picture is the same every time.
//! Eigenvectors come from Jacobi's rotations, which need no start and no luck. [Jacobi1846]

/// Rotations of every pair at the most; ten are plenty for hundreds of dimensions.
const SWEEPS: usize = 60;
/// An off-diagonal part of so little of the whole matrix is rounding.
const SMALL: f64 = 1e-24;

/// Two directions, and how much of the spread they show.
#[derive(Clone, Debug, PartialEq)]
pub struct PrincipalPlane {
    mean: Vec<f64>,
    axes: [Vec<f64>; 2],
    /// The share of the variance along each; 0 where all points coincide.
    pub explained: [f64; 2],
}

impl PrincipalPlane {
    /// The plane of `points`, each `width` numbers; nothing without a point.
    pub fn of(points: &[f32], width: usize) -> Option<Self> {
        let count = points.len().checked_div(width)?;
        if count == 0 {
            return None;
        }
        let mut mean = vec![0.0; width];
        for point in points.chunks_exact(width) {
            mean.iter_mut().zip(point).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        mean.iter_mut().for_each(|sum| *sum /= count as f64);
        let mut covariance = vec![vec![0.0; width]; width];
        for point in points.chunks_exact(width) {
            let away: Vec<f64> = point.iter().zip(&mean).map(|(&value, mean)| f64::from(value) - mean).collect();
            for (row, &a) in covariance.iter_mut().zip(&away) {
                row.iter_mut().zip(&away).for_each(|(sum, b)| *sum += a * b / count as f64);
            }
        }
        let (values, vectors) = eigen(covariance);
        let mut order: Vec<usize> = (0..width).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
        let total: f64 = values.iter().map(|value| value.max(0.0)).sum();
        let axis = |place: usize| order.get(place).map_or(vec![0.0; width], |&at| upright(&vectors, at));
        let share = |place: usize| match order.get(place) {
            Some(&at) if total > 0.0 => values[at].max(0.0) / total,
            _ => 0.0,
        };
        Some(Self { mean, axes: [axis(0), axis(1)], explained: [share(0), share(1)] })
    }

    /// Where a point lies in the plane.
    pub fn place(&self, point: &[f32]) -> [f64; 2] {
        let along = |axis: &Vec<f64>| {
            let away = point.iter().zip(&self.mean).map(|(&value, mean)| f64::from(value) - mean);
            away.zip(axis).map(|(away, axis)| away * axis).sum()
        };
        [along(&self.axes[0]), along(&self.axes[1])]
    }
}

/// Column `at` of `vectors`, its largest component positive.
fn upright(vectors: &[Vec<f64>], at: usize) -> Vec<f64> {
    let column: Vec<f64> = vectors.iter().map(|row| row[at]).collect();
    let largest = column.iter().fold(0.0_f64, |most, &v| if v.abs() > most.abs() + 1e-12 { v } else { most });
    column.into_iter().map(|v| if largest < 0.0 { -v } else { v }).collect()
}

/// Eigenvalues of a symmetric matrix, and its eigenvectors as columns.
fn eigen(mut matrix: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let size = matrix.len();
    let mut vectors: Vec<Vec<f64>> =
        (0..size).map(|row| (0..size).map(|column| if row == column { 1.0 } else { 0.0 }).collect()).collect();
    let whole: f64 = matrix.iter().flatten().map(|v| v * v).sum();
    for _ in 0..SWEEPS {
        let off: f64 = (0..size).map(|p| matrix[p][p + 1..].iter().map(|v| v * v).sum::<f64>()).sum();
        if off <= SMALL * whole {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                if matrix[p][q].abs() > 0.0 {
                    rotate(&mut matrix, &mut vectors, p, q);
                }
            }
        }
    }
    ((0..size).map(|i| matrix[i][i]).collect(), vectors)
}

/// Turns the plane of two coordinates so that they no longer vary together.
fn rotate(matrix: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    let theta = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
    let sign = if theta < 0.0 { -1.0 } else { 1.0 };
    let t = sign / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in matrix.iter_mut().chain(vectors.iter_mut()) {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    let (above, below) = matrix.split_at_mut(q);
    for (a, b) in above[p].iter_mut().zip(&mut below[0]) {
        (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_close;
    use super::*;

    #[test]
    fn points_on_a_line_lie_on_the_first_axis() {
        // (0, 0), (3, 4) and (6, 8): the direction is (3, 4) / 5, and the steps are 5.
        let points = [0.0, 0.0, 3.0, 4.0, 6.0, 8.0];
        let plane = PrincipalPlane::of(&points, 2).unwrap();
        let places: Vec<[f64; 2]> = points.chunks_exact(2).map(|point| plane.place(point)).collect();
        for (place, expected) in places.iter().zip([-5.0, 0.0, 5.0]) {
            assert_close(place[0], expected, 1e-12);
            assert_close(place[1], 0.0, 1e-12);
        }
        assert_close(plane.explained[0], 1.0, 1e-12);
    }

    #[test]
    fn the_shares_of_a_cross_are_those_of_its_arms() {
        // Variances 16/2 along the third coordinate and 4/2 along the first: 8 of 10, and 2 of 10.
        let points = [2.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, -4.0];
        let plane = PrincipalPlane::of(&points, 3).unwrap();
        assert_close(plane.explained[0], 0.8, 1e-12);
        assert_close(plane.explained[1], 0.2, 1e-12);
        let place = plane.place(&[1.0, 7.0, 3.0]);
        assert_close(place[0], 3.0, 1e-12);
        assert_close(place[1], 1.0, 1e-12);
    }

    #[test]
    fn eigenvectors_solve_their_equation() {
        // The eigenvalues of [[2, 1, 0], [1, 2, 1], [0, 1, 2]] are 2 − √2, 2 and 2 + √2.
        let matrix = vec![vec![2.0, 1.0, 0.0], vec![1.0, 2.0, 1.0], vec![0.0, 1.0, 2.0]];
        let (values, vectors) = eigen(matrix.clone());
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let root = 2.0_f64.sqrt();
        sorted
            .iter()
            .zip([2.0 - root, 2.0, 2.0 + root])
            .for_each(|(&got, expected)| assert_close(got, expected, 1e-12));
        for (at, value) in values.iter().enumerate() {
            for row in 0..3 {
                let product: f64 = (0..3).map(|column| matrix[row][column] * vectors[column][at]).sum();
                assert_close(product, value * vectors[row][at], 1e-12);
            }
        }
    }

    #[test]
    fn few_dimensions_and_no_spread_still_have_a_plane() {
        let line = PrincipalPlane::of(&[1.0, 3.0], 1).unwrap();
        assert_eq!((line.place(&[3.0]), line.explained), ([1.0, 0.0], [1.0, 0.0]));
        let point = PrincipalPlane::of(&[1.0, 2.0, 1.0, 2.0], 2).unwrap();
        assert_eq!((point.place(&[1.0, 2.0]), point.explained), ([0.0, 0.0], [0.0, 0.0]));
        assert_eq!(PrincipalPlane::of(&[], 2), None);
        assert_eq!(PrincipalPlane::of(&[], 0), None);
    }
}
