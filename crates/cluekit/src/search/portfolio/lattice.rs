//! The values that the features of a table take in the training rows: where counterfactuals in the input's own space live.

use crate::data::{Bounds, Column, ColumnKind, Samples, Schema};

/// How far a number may lie outside of its bounds for the rounding of f32.
const NOISE: f32 = 1e-6;

/// For each feature the values that training rows hold, as its encoded columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice {
    columns: Vec<Column>,
    /// Values of each feature, one behind the other, in rising order of numbers.
    values: Vec<Vec<f32>>,
}

impl Lattice {
    /// The values of each feature in these rows; of a number with more than `most` of them, those at evenly spaced ranks.
    pub fn of(schema: &Schema, rows: &Samples, most: usize) -> Self {
        let columns = schema.columns();
        let of_feature = |(feature, column): (&crate::data::Feature, &Column)| match column.kind {
            ColumnKind::Gaussian | ColumnKind::Bernoulli => {
                let mut all: Vec<f32> = (0..rows.len()).map(|row| rows.row(row)[column.start]).collect();
                all.sort_by(f32::total_cmp);
                ranks(&all, most.max(2))
            }
            ColumnKind::Categorical => {
                let categories = feature.kind.categories();
                let held = |place: &usize| (0..rows.len()).any(|row| rows.row(row)[column.start + place] > 0.5);
                let one_hot = |place: usize| (0..categories.len()).map(move |at| f32::from(u8::from(at == place)));
                (0..categories.len()).filter(held).flat_map(one_hot).collect()
            }
        };
        Self { values: schema.features.iter().zip(&columns).map(of_feature).collect(), columns }
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.columns.len()
    }

    /// Columns of a feature in an encoded row.
    pub fn column(&self, feature: usize) -> Column {
        self.columns[feature]
    }

    /// The values of a feature that lie within bounds and differ from that of the row `x`.
    pub fn others<'a>(&'a self, feature: usize, x: &'a [f32], bounds: &'a Bounds) -> impl Iterator<Item = &'a [f32]> {
        let column = self.columns[feature];
        let fits = move |value: &&[f32]| differs(value, &x[column.range()]) && within(value, column, bounds);
        self.values[feature].chunks_exact(column.len).filter(fits)
    }

    /// The features in which two rows differ.
    pub fn changed(&self, x: &[f32], other: &[f32]) -> Vec<usize> {
        let differ = |feature: &usize| {
            let range = self.columns[*feature].range();
            differs(&x[range.clone()], &other[range])
        };
        (0..self.features()).filter(differ).collect()
    }

    /// The row `x` with the value of one feature.
    pub fn with(&self, x: &[f32], feature: usize, value: &[f32]) -> Vec<f32> {
        let mut row = x.to_vec();
        row[self.columns[feature].range()].copy_from_slice(value);
        row
    }
}

/// Whether a feature's value lies within bounds.
pub fn within(value: &[f32], column: Column, bounds: &Bounds) -> bool {
    let ends = bounds.lower[column.range()].iter().zip(&bounds.upper[column.range()]);
    value.iter().zip(ends).all(|(v, (lower, upper))| (lower - NOISE..=upper + NOISE).contains(v))
}

fn differs(a: &[f32], b: &[f32]) -> bool {
    a.iter().zip(b).any(|(a, b)| (a - b).abs() > NOISE * a.abs().max(1.0))
}

/// The distinct numbers among sorted ones, or `most` of them at evenly spaced ranks, the ends included.
fn ranks(sorted: &[f32], most: usize) -> Vec<f32> {
    let mut distinct = sorted.to_vec();
    distinct.dedup();
    if distinct.len() <= most {
        return distinct;
    }
    let mut chosen: Vec<f32> = (0..most).map(|at| sorted[at * (sorted.len() - 1) / (most - 1)]).collect();
    chosen.dedup();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Targets;

    #[test]
    fn numbers_with_many_values_are_taken_at_even_ranks() {
        assert_eq!(ranks(&[1.0, 1.0, 2.0, 5.0], 4), [1.0, 2.0, 5.0]);
        let many: Vec<f32> = (0..=100u8).map(f32::from).collect();
        assert_eq!(ranks(&many, 5), [0.0, 25.0, 50.0, 75.0, 100.0]);
        // Where most rows hold one value, ranks that meet it are one value.
        let skewed: Vec<f32> = [vec![0.0; 90], (1..=10u8).map(f32::from).collect()].concat();
        assert_eq!(ranks(&skewed, 5), [0.0, 10.0]);
    }

    fn schema() -> Schema {
        toml::from_str(
            "target = { name = 'y', task = 'classification', classes = ['a', 'b'] }\n\
             features = [{ name = 'n', kind = 'continuous', mean = 0.0, deviation = 1.0, least = 0.0, greatest = 9.0 },\n\
             { name = 'c', kind = 'categorical', categories = ['p', 'q', 'r'] }]",
        )
        .unwrap()
    }

    #[test]
    fn values_are_those_of_training_rows_within_bounds() {
        let rows = Samples {
            x: vec![1.0, 1.0, 0.0, 0.0, 4.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0],
            width: 4,
            y: Targets::Unknown(3),
        };
        let lattice = Lattice::of(&schema(), &rows, 8);
        let bounds = Bounds { lower: vec![0.0; 4], upper: vec![9.0, 1.0, 1.0, 1.0] };
        let x = [1.0, 1.0, 0.0, 0.0];
        let others = |feature| lattice.others(feature, &x, &bounds).map(<[f32]>::to_vec).collect::<Vec<_>>();
        assert_eq!(others(0), [[4.0]]);
        assert_eq!(others(1), [[0.0, 0.0, 1.0]], "no training row holds q");
        let low = Bounds { upper: vec![3.0, 1.0, 1.0, 1.0], ..bounds };
        assert_eq!(lattice.others(0, &x, &low).count(), 0);
        let moved = lattice.with(&x, 1, &[0.0, 0.0, 1.0]);
        assert_eq!((lattice.changed(&x, &moved), lattice.changed(&x, &x)), (vec![1], vec![]));
    }
}
