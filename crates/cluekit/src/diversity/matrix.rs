//! Small symmetric matrices A and their Cholesky factors: A = L Lᵀ with L lower triangular.
//!
//! det A = Π l_ii²,  log det A = 2 Σ log l_ii,  A⁻¹ = L⁻ᵀ L⁻¹.

use std::ops::{Index, IndexMut};

/// A squared pivot of at most this is rounding: the row depends on the rows above it.
const LEAST_PIVOT: f64 = 1e-12;

/// A square matrix, row after row.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
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
pub(super) struct Cholesky(Matrix);

impl Cholesky {
    /// Factors a positive semidefinite matrix; none if it is singular.
    pub fn of(matrix: &Matrix) -> Option<Self> {
        let size = matrix.size;
        let mut lower = Matrix::zeros(size);
        for row in 0..size {
            for column in 0..row {
                let rest = matrix[(row, column)] - dot(lower.row(row, column), lower.row(column, column));
                lower[(row, column)] = rest / lower[(column, column)];
            }
            let pivot = matrix[(row, row)] - dot(lower.row(row, row), lower.row(row, row));
            if pivot <= LEAST_PIVOT {
                return None;
            }
            lower[(row, row)] = pivot.sqrt();
        }
        Some(Self(lower))
    }

    fn diagonal(&self) -> impl Iterator<Item = f64> {
        (0..self.0.size).map(|i| self.0[(i, i)])
    }

    /// det A.
    pub fn determinant(&self) -> f64 {
        self.diagonal().map(|pivot| pivot * pivot).product()
    }

    /// log det A, finite also where the determinant underflows.
    pub fn log_determinant(&self) -> f64 {
        2.0 * self.diagonal().map(f64::ln).sum::<f64>()
    }

    /// A⁻¹.
    pub fn inverse(&self) -> Matrix {
        let columns = self.inverse_columns(); // row i holds column i of L⁻¹, whose first i entries are 0
        Matrix::symmetric(self.0.size, |i, j| dot(&columns.row(i, self.0.size)[i..], &columns.row(j, self.0.size)[i..]))
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
}
