//! Columns as small codes: a value's code is the number of edges below it.
//!
//! code(v) ≤ j exactly if v ≤ edge j, so a split of codes is a split of values. Edges lie midway between neighbouring
//! values. Where a column has more values than bins, the bins hold about the same number of rows.

use crate::parallel::over_shards;

/// The most bins of a column.
const MOST_BINS: usize = 64;
/// Rows that a thread codes at a time.
const SHARD: usize = 2048;

/// Rows as codes.
pub(super) struct Bins {
    width: usize,
    codes: Vec<u8>,
    edges: Vec<Vec<f32>>,
}

impl Bins {
    /// The codes of some rows, with edges from the same rows.
    pub fn of(x: &[f32], width: usize) -> Self {
        let column = |column: usize| x.iter().skip(column).step_by(width).copied().filter(|value| value.is_finite());
        let edges = over_shards(width, 1, |at| edges(column(at.start).collect()));
        let code = |(value, edges): (&f32, &Vec<f32>)| edges.partition_point(|edge| value > edge) as u8;
        let codes = |row: &[f32]| row.iter().zip(&edges).map(code).collect::<Vec<u8>>();
        let codes = over_shards(x.len() / width, SHARD, |rows| {
            x[rows.start * width..rows.end * width].chunks_exact(width).flat_map(codes).collect::<Vec<u8>>()
        });
        Self { width, codes: codes.concat(), edges }
    }

    /// The codes of a row.
    pub fn row(&self, row: usize) -> &[u8] {
        &self.codes[row * self.width..(row + 1) * self.width]
    }

    /// The edges between the bins of a column, in ascending order; none for a constant column.
    pub fn edges(&self, column: usize) -> &[f32] {
        &self.edges[column]
    }

    /// The columns that can be split.
    pub fn varying(&self) -> Vec<usize> {
        (0..self.width).filter(|&column| !self.edges[column].is_empty()).collect()
    }
}

/// The edges between the bins of some finite values.
fn edges(mut values: Vec<f32>) -> Vec<f32> {
    values.sort_unstable_by(f32::total_cmp);
    let groups: Vec<&[f32]> = values.chunk_by(|a, b| a >= b).collect();
    let (mut edges, mut inside) = (Vec::new(), 0);
    let (mut bins_left, mut rows_left) = (MOST_BINS, values.len());
    for pair in groups.windows(2) {
        inside += pair[0].len();
        if groups.len() <= MOST_BINS || (inside * bins_left >= rows_left && bins_left > 1) {
            edges.push(between(pair[0][0], pair[1][0]));
            rows_left -= inside;
            bins_left -= 1;
            inside = 0;
        }
    }
    edges
}

/// A number in [low, high), midway where there is room.
fn between(low: f32, high: f32) -> f32 {
    let middle = low / 2.0 + high / 2.0;
    if middle >= low && middle < high { middle } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_get_a_bin_each_with_edges_midway() {
        let bins = Bins::of(&[3.0, 1.0, 1.0, 7.0], 1);
        assert_eq!(bins.edges(0), [2.0, 5.0]);
        assert_eq!([0, 1, 2, 3].map(|row| bins.row(row)[0]), [1, 0, 0, 2]);
    }

    #[test]
    fn many_values_share_bins_of_about_equal_size() {
        let bins = Bins::of(&(0..6400).map(|v| (v as f32).powi(2)).collect::<Vec<_>>(), 1);
        assert_eq!(bins.edges(0).len(), MOST_BINS - 1);
        for code in 0..MOST_BINS {
            assert_eq!((0..6400).filter(|&row| usize::from(bins.row(row)[0]) == code).count(), 100);
        }
    }

    #[test]
    fn a_heavy_value_leaves_the_other_bins_to_the_rest() {
        let values: Vec<f32> = (0..2000).map(|row| if row < 1800 { 0.0 } else { row as f32 }).collect();
        assert_eq!(edges(values).len(), MOST_BINS - 1);
    }

    #[test]
    fn a_code_says_on_which_side_of_every_edge_a_value_lies() {
        let neighbours = [1.0, f32::from_bits(1.0f32.to_bits() + 1), f32::MAX, f32::MIN];
        let bins = Bins::of(&neighbours, 1);
        assert_eq!(bins.edges(0).len(), 3);
        for (row, value) in neighbours.iter().enumerate() {
            for (bin, edge) in bins.edges(0).iter().enumerate() {
                assert_eq!(usize::from(bins.row(row)[0]) <= bin, value <= edge);
            }
        }
    }

    #[test]
    fn values_that_are_no_numbers_make_no_edges() {
        let bins = Bins::of(&[f32::NAN, 5.0, 1.0, 5.0, f32::INFINITY, 5.0, f32::NEG_INFINITY, f32::NAN], 2);
        assert_eq!((bins.edges(0), bins.edges(1)), (&[][..], &[][..]));
        assert!(bins.varying().is_empty());
    }
}
