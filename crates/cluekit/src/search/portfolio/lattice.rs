//! The values that the features of a table take in the training rows: where counterfactuals in the input's own space live.

use crate::data::{Bounds, Column, ColumnKind, Feature, Samples, Scaling, Schema};

/// How far a number may lie outside of its bounds for the rounding of f32.
const NOISE: f32 = 1e-6;
/// Share of a feature's numbers that may lie beside its step; zeros lie on every step and do not count.
const BESIDE_STEP: f64 = 0.02;

/// For each feature the values that training rows hold, as its encoded columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice {
    columns: Vec<Column>,
    /// Values of each feature, one behind the other, in rising order of numbers.
    values: Vec<Vec<f32>>,
    /// Which numbers of each feature lie between those.
    grains: Vec<Grain>,
}

/// Which numbers a feature may take between those that training rows hold.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Grain {
    /// None: there are so few numbers that others would be odd.
    Held,
    /// Multiples of a step, in the data's units: a credit limit in tens of thousands stays one.
    Step(f64),
    /// All.
    Any,
}

impl Lattice {
    /// The values of each feature in these rows; of a number with more than `most` of them, those at evenly spaced ranks.
    pub fn of(schema: &Schema, rows: &Samples, most: usize) -> Self {
        let columns = schema.columns();
        let numbers = |column: &Column| {
            let held = (0..rows.len()).map(|row| rows.row(row)).filter(|row| !column.is_missing(row));
            let mut all: Vec<f32> = held.map(|row| row[column.start]).collect();
            all.sort_by(f32::total_cmp);
            all
        };
        let few = |all: &[f32], column: &Column| {
            ranks(all, most.max(2)).into_iter().flat_map(|value| there(value, *column)).collect()
        };
        let grain = |feature: &Feature, all: &[f32]| match feature.kind.scaling() {
            Some(_) if ranks(all, usize::MAX).len() <= most => Grain::Held,
            Some(scaling) => step_of(scaling, all).map_or(Grain::Any, Grain::Step),
            None => Grain::Held,
        };
        let of_feature = |(feature, column): (&Feature, &Column)| match column.kind {
            ColumnKind::Gaussian | ColumnKind::Bernoulli => {
                let all = numbers(column);
                (few(&all, column), grain(feature, &all))
            }
            ColumnKind::Categorical => {
                let categories = feature.kind.categories();
                let held = |place: &usize| (0..rows.len()).any(|row| rows.row(row)[column.start + place] > 0.5);
                let one_hot = |place: usize| (0..categories.len()).map(move |at| f32::from(u8::from(at == place)));
                ((0..categories.len()).filter(held).flat_map(one_hot).collect(), Grain::Held)
            }
        };
        let (values, grains) = schema.features.iter().zip(&columns).map(of_feature).unzip();
        Self { columns, values, grains }
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.columns.len()
    }

    /// The columns of numbers that are missing in an encoded row.
    pub fn missing<'a>(&'a self, x: &'a [f32]) -> impl Iterator<Item = &'a Column> {
        self.columns.iter().filter(|column| column.is_missing(x))
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

    /// The encoded number that a feature may take and that lies nearest to this one.
    pub fn nearest(&self, feature: usize, scaling: &Scaling, encoded: f32) -> f32 {
        let value = scaling.decode(encoded);
        match self.grains[feature] {
            Grain::Held => {
                let held = self.values[feature].chunks_exact(self.columns[feature].len).map(|columns| columns[0]);
                held.min_by(|a, b| (a - encoded).abs().total_cmp(&(b - encoded).abs())).unwrap_or(encoded)
            }
            Grain::Step(step) => scaling.encode((value / step).round() * step),
            Grain::Any => scaling.encode(value),
        }
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

    /// The row `x` with one of its numbers, which is there even if it was missing.
    pub fn with_number(&self, x: &[f32], feature: usize, number: f32) -> Vec<f32> {
        self.with(x, feature, &there(number, self.columns[feature]))
    }
}

/// The columns of a number, or of one of two categories: beside a number that is there its indicator is 0.
fn there(value: f32, column: Column) -> Vec<f32> {
    let mut columns = vec![0.0; column.len];
    columns[0] = value;
    columns
}

/// Whether a feature's value lies within bounds; of a number that is missing, whether it may be.
pub fn within(value: &[f32], column: Column, bounds: &Bounds) -> bool {
    if let (Some(indicator), [_, 1.0]) = (column.indicator(), value) {
        return bounds.upper[indicator] >= 1.0;
    }
    let ends = bounds.lower[column.range()].iter().zip(&bounds.upper[column.range()]);
    value.iter().zip(ends).all(|(v, (lower, upper))| (lower - NOISE..=upper + NOISE).contains(v))
}

fn differs(a: &[f32], b: &[f32]) -> bool {
    a.iter().zip(b).any(|(a, b)| (a - b).abs() > NOISE * a.abs().max(1.0))
}

/// The greatest of 1, 2 and 5 times the powers of ten that nearly all of some numbers are multiples of; none where the data
/// are not rounded.
fn step_of(scaling: &Scaling, numbers: &[f32]) -> Option<f64> {
    let finest = -i32::try_from(scaling.decimals?).ok()?;
    let values: Vec<f64> =
        numbers.iter().map(|&number| scaling.decode(number)).filter(|value| value.abs() > 0.0).collect();
    let widest = values.iter().fold(0.0_f64, |widest, value| widest.max(value.abs()));
    let greatest = if widest > 0.0 { widest.log10().floor() as i32 } else { finest };
    let beside = (BESIDE_STEP * values.len() as f64) as usize;
    let is_beside = |value: f64, step: f64| ((value / step).round() * step - value).abs() > 1e-6 * step;
    let mut steps =
        (finest..=greatest).rev().flat_map(|power| [5.0, 2.0, 1.0].map(|digit| digit * 10.0_f64.powi(power)));
    steps.find(|&step| values.iter().filter(|&&value| is_beside(value, step)).nth(beside).is_none())
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
    use crate::data::{Kind, Targets};

    #[test]
    fn numbers_with_many_values_are_taken_at_even_ranks() {
        assert_eq!(ranks(&[1.0, 1.0, 2.0, 5.0], 4), [1.0, 2.0, 5.0]);
        let many: Vec<f32> = (0..=100u8).map(f32::from).collect();
        assert_eq!(ranks(&many, 5), [0.0, 25.0, 50.0, 75.0, 100.0]);
        // Where most rows hold one value, ranks that meet it are one value.
        let skewed: Vec<f32> = [vec![0.0; 90], (1..=10u8).map(f32::from).collect()].concat();
        assert_eq!(ranks(&skewed, 5), [0.0, 10.0]);
    }

    #[test]
    fn a_step_is_the_roundest_that_nearly_all_numbers_lie_on() {
        let scaling = Scaling { mean: 0.0, deviation: 1.0, decimals: Some(1), least: 0.0, greatest: 1e6 };
        let step = |values: &[f32]| step_of(&scaling, values);
        assert_eq!(step(&[10_000.0, 30_000.0, 320_000.0]), Some(10_000.0));
        assert_eq!(step(&[0.0, 0.5, 2.0]), Some(0.5));
        assert_eq!(step(&[-2.0, 3.0, 8.0]), Some(1.0));
        assert_eq!(step(&[0.0]), Some(0.5), "zero lies on every step");
        let hundred: Vec<f32> = (1..=100u8).map(|at| 50.0 * f32::from(at)).collect();
        assert_eq!(
            step(&[hundred.clone(), vec![3.0, 4.0]].concat()),
            Some(50.0),
            "two numbers of 102 may lie beside it"
        );
        assert_eq!(step(&[hundred, vec![3.0; 3], vec![0.0; 900]].concat()), Some(1.0), "zeros do not count");
        assert_eq!(step_of(&Scaling { decimals: None, ..scaling }, &[1.0, 2.0]), None);
    }

    #[test]
    fn a_number_moves_to_its_step_or_where_rows_hold_few_to_one_of_them() {
        let rows = |numbers: &[f32]| Samples {
            x: numbers.iter().flat_map(|&number| [number, 1.0, 0.0, 0.0]).collect(),
            width: 4,
            y: Targets::Unknown(numbers.len()),
            weights: None,
        };
        let mut schema = schema();
        let Kind::Continuous(scaling) = &mut schema.features[0].kind else { panic!("a number") };
        scaling.decimals = Some(2);
        let scaling = *scaling;
        let nearest = |numbers: &[f32]| Lattice::of(&schema, &rows(numbers), 3).nearest(0, &scaling, 2.4);
        assert_eq!(nearest(&[1.0, 4.0, 5.0, 8.0]), 2.0, "of four whole numbers the step is 1");
        assert_eq!(nearest(&[1.0, 4.0, 8.0]), 1.0, "three numbers are all that there is");
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
    fn a_number_takes_no_value_of_a_row_in_which_it_is_missing() {
        let mut schema = schema();
        schema.features[0].missing = Some(crate::data::Missing { sentinels: vec![], median: Some(3.0) });
        let x = vec![1.0, 0.0, 1.0, 0.0, 0.0, 3.0, 1.0, 0.0, 0.0, 1.0, 4.0, 0.0, 1.0, 0.0, 0.0];
        let lattice =
            Lattice::of(&schema, &Samples { x: x.clone(), width: 5, y: Targets::Unknown(3), weights: None }, 8);
        let bounds = Bounds { lower: vec![2.0, 0.0, 0.0, 0.0, 0.0], upper: vec![9.0, 1.0, 1.0, 1.0, 1.0] };
        let others = |x: &[f32]| lattice.others(0, x, &bounds).map(<[f32]>::to_vec).collect::<Vec<_>>();
        assert_eq!(others(&x[..5]), [[4.0, 0.0]]);
        let missing = &x[5..10];
        assert_eq!((others(missing), lattice.missing(missing).count()), (vec![vec![4.0, 0.0]], 1));
        assert_eq!(lattice.with_number(missing, 0, 7.0), [7.0, 0.0, 0.0, 0.0, 1.0]);
        let low = [1.0, 1.0];
        assert!(
            within(&low, lattice.column(0), &bounds),
            "where the number may be missing its median may lie anywhere"
        );
        let closed = Bounds { upper: vec![9.0, 0.0, 1.0, 1.0, 1.0], ..bounds };
        assert!(!within(&low, lattice.column(0), &closed));
    }

    #[test]
    fn values_are_those_of_training_rows_within_bounds() {
        let rows = Samples {
            x: vec![1.0, 1.0, 0.0, 0.0, 4.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0],
            width: 4,
            y: Targets::Unknown(3),
            weights: None,
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
