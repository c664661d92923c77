//! Small symmetric matrices in 64 bits: Cholesky's factors, eigenvectors, covariance.
//!
//! A = L Lᵀ with L lower triangular: det A = Π l_ii²,  log det A = 2 Σ log l_ii,  A⁻¹ = L⁻ᵀ L⁻¹.
//!
//! A = V Λ Vᵀ by Jacobi's rotations, which need no start and no luck. [Jacobi1846]
//!
//! C = 1/n Σ (x − x̄)(x − x̄)ᵀ.
//!
//! The order of all sums is fixed here, so that results are the same bits with every version of every dependency.

use std::ops::{Index, IndexMut};

/// A squared pivot of at most this is rounding: the row depends on the rows above it.
const LEAST_PIVOT: f64 = 1e-12;
/// Rotations of every pair at the most; ten are plenty for hundreds of dimensions.
const SWEEPS: usize = 60;
/// An off-diagonal part of so little of the whole matrix is rounding.
const SMALL: f64 = 1e-24;

/// A square matrix, row after row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    size: usize,
    entries: Vec<f64>,
}

impl Matrix {
    fn zeros(size: usize) -> Self {
        Self { size, entries: vec![0.0; size * size] }
    }

    /// The symmetric matrix of `entry(row, column)`, asked for row ≥ column only.
    pub fn symmetric(size: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let mut matrix = Self::zeros(size);
        for row in 0..size {
            for column in 0..=row {
                let value = entry(row, column);
                matrix[(row, column)] = value;
                matrix[(column, row)] = value;
            }
        }
        matrix
    }

    /// A + ε I.
    pub fn plus_diagonal(&self, epsilon: f64) -> Self {
        let mut matrix = self.clone();
        (0..self.size).for_each(|i| matrix[(i, i)] += epsilon);
        matrix
    }

    /// The entries a_ii.
    pub fn diagonal(&self) -> impl Iterator<Item = f64> {
        (0..self.size).map(|i| self[(i, i)])
    }

    /// The first `length` entries of a row.
    fn row(&self, row: usize, length: usize) -> &[f64] {
        &self.entries[row * self.size..][..length]
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.entries[row * self.size + column]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        &mut self.entries[row * self.size + column]
    }
}

/// The factor L of a symmetric positive definite matrix.
pub(crate) struct Cholesky(Matrix);

impl Cholesky {
    /// Factors a positive semidefinite matrix; none if it is singular.
    pub fn of(matrix: &Matrix) -> Option<Self> {
        Self::with(matrix, |pivot| if pivot <= LEAST_PIVOT { None } else { Some(pivot) })
    }

    /// Factors a matrix that is positive definite but for rounding: no pivot is 0, however small its row.
    pub fn of_definite(matrix: &Matrix) -> Self {
        Self::with(matrix, |pivot| Some(pivot.max(f64::MIN_POSITIVE))).expect("every pivot is kept")
    }

    /// Factors a matrix whose squared pivots are what `pivot` makes of them; none as soon as it refuses one.
    fn with(matrix: &Matrix, pivot: impl Fn(f64) -> Option<f64>) -> Option<Self> {
        let size = matrix.size;
        let mut lower = Matrix::zeros(size);
        for row in 0..size {
            for column in 0..row {
                let rest = matrix[(row, column)] - dot(lower.row(row, column), lower.row(column, column));
                lower[(row, column)] = rest / lower[(column, column)];
            }
            let rest = matrix[(row, row)] - dot(lower.row(row, row), lower.row(row, row));
            lower[(row, row)] = pivot(rest)?.sqrt();
        }
        Some(Self(lower))
    }

    /// det A.
    pub fn determinant(&self) -> f64 {
        self.0.diagonal().map(|pivot| pivot * pivot).product()
    }

    /// log det A, finite also where the determinant underflows.
    pub fn log_determinant(&self) -> f64 {
        2.0 * self.0.diagonal().map(f64::ln).sum::<f64>()
    }

    /// A⁻¹.
    pub fn inverse(&self) -> Matrix {
        let columns = self.inverse_columns(); // row i holds column i of L⁻¹, whose first i entries are 0
        Matrix::symmetric(self.0.size, |i, j| dot(&columns.row(i, self.0.size)[i..], &columns.row(j, self.0.size)[i..]))
    }

    /// L v.
    pub fn times(&self, v: &[f64]) -> Vec<f64> {
        (0..self.0.size).map(|row| dot(self.0.row(row, row + 1), v)).collect()
    }

    /// L⁻¹ v, by forward substitution.
    pub fn solved(&self, v: &[f64]) -> Vec<f64> {
        let Self(lower) = self;
        let mut solved: Vec<f64> = Vec::with_capacity(lower.size);
        for (row, v) in v.iter().enumerate() {
            let known = dot(lower.row(row, row), &solved);
            solved.push((v - known) / lower[(row, row)]);
        }
        solved
    }

    /// L⁻¹, row after row.
    pub fn inverse_factor(&self) -> Vec<f64> {
        let columns = self.inverse_columns();
        (0..self.0.size)
            .flat_map(|row| (0..self.0.size).map(move |column| (column, row)))
            .map(|at| columns[at])
            .collect()
    }

    /// (L⁻¹)ᵀ, by forward substitution of each unit vector.
    fn inverse_columns(&self) -> Matrix {
        let Self(lower) = self;
        let mut columns = Matrix::zeros(lower.size);
        for unit in 0..lower.size {
            for row in unit..lower.size {
                let known = dot(&lower.row(row, row)[unit..], &columns.row(unit, row)[unit..]);
                let one = if row == unit { 1.0 } else { 0.0 };
                columns[(unit, row)] = (one - known) / lower[(row, row)];
            }
        }
        columns
    }
}

/// The eigenvalues of a symmetric matrix, each with its eigenvector of length 1, in no order.
pub(crate) fn eigen(mut matrix: Matrix) -> Vec<(f64, Vec<f64>)> {
    let size = matrix.size;
    let mut vectors = Matrix::zeros(size).plus_diagonal(1.0);
    let whole: f64 = matrix.entries.iter().map(|v| v * v).sum();
    for _ in 0..SWEEPS {
        let off: f64 = (0..size).map(|p| matrix.row(p, size)[p + 1..].iter().map(|v| v * v).sum::<f64>()).sum();
        if off <= SMALL * whole {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                if matrix[(p, q)].abs() > 0.0 {
                    rotate(&mut matrix, &mut vectors, p, q);
                }
            }
        }
    }
    let column = |at: usize| (0..size).map(|row| vectors[(row, at)]).collect();
    matrix.diagonal().enumerate().map(|(at, value)| (value, column(at))).collect()
}

/// Turns the plane of two coordinates, p before q, so that they no longer vary together.
fn rotate(matrix: &mut Matrix, vectors: &mut Matrix, p: usize, q: usize) {
    let size = matrix.size;
    let theta = (matrix[(q, q)] - matrix[(p, p)]) / (2.0 * matrix[(p, q)]);
    let sign = if theta < 0.0 { -1.0 } else { 1.0 };
    let t = sign / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    let turned = |a: f64, b: f64| (c * a - s * b, s * a + c * b);
    for row in matrix.entries.chunks_exact_mut(size).chain(vectors.entries.chunks_exact_mut(size)) {
        (row[p], row[q]) = turned(row[p], row[q]);
    }
    let (above, below) = matrix.entries.split_at_mut(q * size);
    for (a, b) in above[p * size..].iter_mut().zip(&mut below[..size]) {
        (*a, *b) = turned(*a, *b);
    }
}

/// The mean of some rows of `width` numbers, and their covariance.
pub(crate) fn mean_and_covariance<'a>(
    rows: impl Iterator<Item = &'a [f32]> + Clone,
    width: usize,
) -> (Vec<f64>, Matrix) {
    let count = rows.clone().count() as f64;
    let mut mean = vec![0.0; width];
    for row in rows.clone() {
        mean.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
    }
    mean.iter_mut().for_each(|sum| *sum /= count);
    let mut lower = Matrix::zeros(width);
    for row in rows {
        let away: Vec<f64> = row.iter().zip(&mean).map(|(&value, mean)| f64::from(value) - mean).collect();
        for (i, &a) in away.iter().enumerate() {
            let sums = &mut lower.entries[i * width..=i * width + i];
            sums.iter_mut().zip(&away).for_each(|(sum, b)| *sum += a * b / count);
        }
    }
    (mean, Matrix::symmetric(width, |row, column| lower[(row, column)]))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [4 2; 2 5] = L Lᵀ with L = [2 0; 1 2].
    fn small() -> Matrix {
        Matrix::symmetric(2, |i, j| [[4.0, 2.0], [2.0, 5.0]][i][j])
    }

    #[test]
    fn a_two_by_two_has_the_determinant_and_inverse_of_the_textbook() {
        let cholesky = Cholesky::of(&small()).unwrap();
        assert_eq!(cholesky.determinant(), 16.0);
        assert!((cholesky.log_determinant() - 16f64.ln()).abs() < 1e-15);
        assert_eq!(cholesky.inverse().entries, [5.0 / 16.0, -2.0 / 16.0, -2.0 / 16.0, 4.0 / 16.0]);
    }

    #[test]
    fn the_factor_and_its_inverse_are_those_of_the_textbook() {
        // The inverse of [2 0; 1 2] is [½ 0; −¼ ½].
        let cholesky = Cholesky::of_definite(&small());
        assert_eq!(cholesky.0.entries, [2.0, 0.0, 1.0, 2.0]);
        assert_eq!(cholesky.inverse_factor(), [0.5, 0.0, -0.25, 0.5]);
        assert_eq!((cholesky.times(&[3.0, 1.0]), cholesky.solved(&[6.0, 5.0])), (vec![6.0, 5.0], vec![3.0, 1.0]));
    }

    #[test]
    fn a_matrix_times_its_inverse_is_the_identity() {
        let size = 30;
        let matrix = Matrix::symmetric(size, |i, j| 1.0 / (1.0 + i.abs_diff(j) as f64));
        let inverse = Cholesky::of(&matrix).unwrap().inverse();
        for i in 0..size {
            for j in 0..size {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((dot(matrix.row(i, size), inverse.row(j, size)) - expected).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_no_factor_until_its_diagonal_grows() {
        let ones = Matrix::symmetric(3, |_, _| 1.0);
        assert!(Cholesky::of(&ones).is_none());
        assert!(Cholesky::of(&ones.plus_diagonal(1e-8)).is_some());
    }

    #[test]
    fn eigenvectors_solve_their_equation() {
        // The eigenvalues of [2 1 0; 1 2 1; 0 1 2] are 2 − √2, 2 and 2 + √2.
        let matrix = Matrix::symmetric(3, |i, j| [2.0, 1.0, 0.0][i - j]);
        let mut found = eigen(matrix.clone());
        for (value, vector) in &found {
            for row in 0..3 {
                assert!((dot(matrix.row(row, 3), vector) - value * vector[row]).abs() < 1e-12);
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let root = 2.0_f64.sqrt();
        for ((value, _), expected) in found.iter().zip([2.0 - root, 2.0, 2.0 + root]) {
            assert!((value - expected).abs() < 1e-12, "{value}, not {expected}");
        }
    }

    #[test]
    fn the_covariance_of_two_rows_is_that_of_the_textbook() {
        let (mean, covariance) = mean_and_covariance([1.0, 4.0, 3.0, 0.0].chunks_exact(2), 2);
        assert_eq!((mean, covariance.entries), (vec![2.0, 2.0], vec![1.0, -2.0, -2.0, 4.0]));
    }
}
