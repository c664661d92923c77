//! Which numbers of an input are unlike the training rows, alone or beside the other values of the input.
//!
//! ```text
//! g(v) = asinh((v − median) / spread)                        each number on a scale where ten times as much is a step
//! score(j) = |g(x_j) − mean| / (deviation + ε)               over the k training rows that are nearest in all but j
//! ```
//!
//! A distance between two rows adds up |g − g′|, cut at [`FAR`], so that one wild number leaves its row's neighbours as
//! they are. The greatest score of a row is its oddness. A number stands out if it lies outside the range of the training
//! rows, or if its score is beyond the oddness of all training rows but the oddest few. What stands out most is put back to
//! the middle of its neighbours before the next is looked for.

use crate::data::{Column, Samples, Schema, spread_evenly};
use crate::explanation::Outside;
use crate::parallel::over_shards;
use std::sync::Arc;

/// Training rows to look for neighbours in, at the most, evenly spread over all.
const MOST_ROWS: usize = 4096;
/// Training rows whose oddness is measured, at the most.
const MEASURED: usize = 256;
/// Neighbours: one in so many rows, within these limits.
const ONE_IN: usize = 60;
const NEIGHBOURS: (usize, usize) = (20, 100);
/// The distance between two numbers counts no more than this.
const FAR: f32 = 2.0;
/// The distance between two categories, and between a number and none.
const OTHER: f32 = 0.5;
/// Added to the neighbours' deviation: a number that all of them share may still differ a little.
const SLACK: f32 = 0.2;
/// Share of the training rows that are as odd as rows usually are.
const USUAL: f32 = 0.95;
/// Numbers of an input that are named at the most.
const MOST_NAMED: usize = 3;
/// Places among the neighbours' values, in order: the middle ones, and those to try.
const MIDDLE: f32 = 0.5;
const ENDS: [f32; 2] = [0.05, 0.95];
const PLACES: [f32; 7] = [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95];

/// A feature as it is compared.
#[derive(Clone, Copy, Debug)]
struct Axis {
    column: Column,
    /// Whether it is a number with a scale; categories are the same or not.
    number: bool,
    median: f32,
    spread: f32,
    least: f32,
    greatest: f32,
}

impl Axis {
    fn of(column: Column, number: bool, mut values: Vec<f32>) -> Self {
        if values.is_empty() {
            values.push(0.0);
        }
        values.sort_by(f32::total_cmp);
        let median = at(&values, MIDDLE);
        let mut off: Vec<f32> = values.iter().map(|value| (value - median).abs()).collect();
        off.sort_by(f32::total_cmp);
        let mean = off.iter().map(|&off| f64::from(off)).sum::<f64>() / off.len() as f64;
        let spread = [at(&off, MIDDLE), mean as f32].into_iter().find(|&spread| spread > 0.0).unwrap_or(1.0);
        Self { column, number, median, spread, least: values[0], greatest: values[values.len() - 1] }
    }

    /// The place of a row on this axis, NaN if its number is missing.
    fn place(&self, row: &[f32]) -> f32 {
        let columns = &row[self.column.range()];
        match (self.number, columns.len()) {
            _ if self.column.is_missing(row) => f32::NAN,
            (true, _) => ((columns[0] - self.median) / self.spread).asinh(),
            (false, 1) => columns[0].round(),
            (false, _) => columns.iter().position(|&value| value > 0.5).unwrap_or(0) as f32,
        }
    }

    fn distance(&self, a: f32, b: f32) -> f32 {
        match self.number {
            true if a.is_nan() || b.is_nan() => {
                if a.is_nan() && b.is_nan() {
                    0.0
                } else {
                    OTHER
                }
            }
            true => (a - b).abs().min(FAR),
            false if (a - b).abs() > 0.5 => OTHER,
            false => 0.0,
        }
    }

    /// Whether a number lies outside of what the training rows hold, by more than the rounding of f32.
    fn is_beyond(&self, value: f32) -> bool {
        let noise = 1e-5 * self.least.abs().max(self.greatest.abs()).max(1.0);
        self.number && !(self.least - noise..=self.greatest + noise).contains(&value)
    }
}

/// What is usual among training rows, number by number and beside each other.
#[derive(Clone, Debug)]
pub struct Usual {
    samples: Arc<Samples>,
    /// The rows that neighbours are looked for in.
    rows: Vec<usize>,
    axes: Vec<Axis>,
    /// Places of these rows, row after row.
    places: Vec<f32>,
    neighbours: usize,
    /// Score that hardly any training row has.
    odd: f32,
}

/// A number of an input that is unlike the training rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outlier {
    /// Position of the feature.
    pub feature: usize,
    /// Whether it lies outside of what all training rows hold.
    pub beyond: bool,
    /// How many deviations of its neighbours it lies off.
    pub score: f32,
    /// The least and the greatest encoded value of the training rows.
    pub range: [f32; 2],
    /// Between which encoded values nine of ten neighbours lie.
    pub usual: [f32; 2],
    /// The middle one of the neighbours' encoded values.
    pub expected: f32,
    /// Encoded values of the neighbours, from low to high.
    pub values: Vec<f32>,
}

impl Usual {
    /// Measures what is usual among training rows of a table; nothing where there are too few of them, or no numbers.
    pub fn among(schema: &Schema, samples: Arc<Samples>) -> Option<Self> {
        let rows: Vec<usize> = spread_evenly(samples.len(), MOST_ROWS).collect();
        let numbers = schema.features.iter().filter(|feature| feature.kind.scaling().is_some()).count();
        if schema.image.is_some() || numbers == 0 || rows.len() < 2 * NEIGHBOURS.0 {
            return None;
        }
        let axis = |(feature, column): (&crate::data::Feature, Column)| {
            let there = (0..samples.len()).map(|row| samples.row(row)).filter(|row| !column.is_missing(row));
            let values = there.map(|row| row[column.start]).collect();
            Axis::of(column, feature.kind.scaling().is_some(), values)
        };
        let axes: Vec<Axis> = schema.features.iter().zip(schema.columns()).map(axis).collect();
        let places =
            rows.iter().flat_map(|&row| axes.iter().map(|axis| axis.place(samples.row(row))).collect::<Vec<_>>());
        let places = places.collect();
        let neighbours = (rows.len() / ONE_IN).clamp(NEIGHBOURS.0, NEIGHBOURS.1);
        let mut usual = Self { samples, rows, axes, places, neighbours, odd: 0.0 };
        let measured: Vec<usize> = spread_evenly(usual.rows.len(), MEASURED).collect();
        let mut oddness: Vec<f32> = over_shards(measured.len(), 1, |at| {
            let row = measured[at.start];
            usual.looks(usual.samples.row(usual.rows[row]), Some(row)).iter().map(|look| look.score).fold(0.0, f32::max)
        });
        oddness.sort_by(f32::total_cmp);
        usual.odd = at(&oddness, USUAL);
        Some(usual)
    }

    /// The numbers of the encoded row `x` that stand out, the first first.
    pub(super) fn outside(&self, x: &[f32]) -> Vec<Outlier> {
        let mut x = x.to_vec();
        let mut found: Vec<Outlier> = Vec::new();
        while found.len() < MOST_NAMED {
            let looks = self.looks(&x, None);
            let new = looks.iter().filter(|look| found.iter().all(|known| known.feature != look.feature));
            let rank = |look: &Look| (look.beyond, look.score);
            let most = new.max_by(|a, b| rank(a).0.cmp(&rank(b).0).then(rank(a).1.total_cmp(&rank(b).1)));
            let Some(look) = most.filter(|look| look.beyond || look.score > self.odd) else { break };
            let outlier = self.outlier(look);
            x[self.axes[look.feature].column.start] = outlier.expected;
            found.push(outlier);
        }
        found
    }

    fn outlier(&self, look: &Look) -> Outlier {
        let axis = self.axes[look.feature];
        let held = |&row: &usize| self.samples.row(self.rows[row])[axis.column.start];
        let mut values: Vec<f32> = look.neighbours.iter().map(held).collect();
        values.sort_by(f32::total_cmp);
        let mut tried: Vec<f32> = PLACES.map(|place| at(&values, place)).to_vec();
        tried.dedup();
        Outlier {
            feature: look.feature,
            beyond: look.beyond,
            score: look.score,
            range: [axis.least, axis.greatest],
            usual: ENDS.map(|place| at(&values, place)),
            expected: at(&values, MIDDLE),
            values: tried,
        }
    }

    /// Each number of a row beside those of its neighbours, of which `itself` is none.
    fn looks(&self, x: &[f32], itself: Option<usize>) -> Vec<Look> {
        let place: Vec<f32> = self.axes.iter().map(|axis| axis.place(x)).collect();
        let (count, features) = (self.rows.len(), self.axes.len());
        let part = |feature: usize, held: &[f32]| self.axes[feature].distance(place[feature], held[feature]);
        let rows = || self.places.chunks_exact(features);
        let mut sums: Vec<f32> = rows().map(|held| (0..features).map(|feature| part(feature, held)).sum()).collect();
        if let Some(itself) = itself {
            sums[itself] = f32::INFINITY;
        }
        let numbers = (0..features).filter(|&feature| self.axes[feature].number && !place[feature].is_nan());
        let look = |feature: usize| {
            let mut near: Vec<(f32, usize)> =
                rows().zip(&sums).enumerate().map(|(row, (held, sum))| (sum - part(feature, held), row)).collect();
            let last = self.neighbours.min(count) - 1;
            near.select_nth_unstable_by(last, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near.truncate(last + 1);
            let mut neighbours: Vec<usize> = near.into_iter().map(|(_, row)| row).collect();
            neighbours.sort_unstable();
            neighbours.retain(|row| !self.places[row * features + feature].is_nan());
            let held = |row: &usize| f64::from(self.places[row * features + feature]);
            let number = neighbours.len() as f64;
            let mean = neighbours.iter().map(held).sum::<f64>() / number;
            let variance = neighbours.iter().map(|row| (held(row) - mean).powi(2)).sum::<f64>() / number;
            let off = (f64::from(place[feature]) - mean).abs() as f32;
            let beyond = self.axes[feature].is_beyond(x[self.axes[feature].column.start]);
            Look { feature, beyond, score: off / (variance.sqrt() as f32 + SLACK), neighbours }
        };
        numbers.map(look).filter(|look| !look.neighbours.is_empty()).collect()
    }
}

/// A number of a row beside its neighbours.
struct Look {
    feature: usize,
    beyond: bool,
    score: f32,
    neighbours: Vec<usize>,
}

/// What stands out in the encoded row `x`, in the data's own units.
pub(super) fn named(schema: &Schema, x: &[f32], outside: &[Outlier]) -> Vec<Outside> {
    let columns = schema.columns();
    let name = |outlier: &Outlier| {
        let feature = &schema.features[outlier.feature];
        let scaling = feature.kind.scaling()?;
        Some(Outside {
            feature: feature.name.clone(),
            value: scaling.decode(x[columns[outlier.feature].start]),
            beyond: outlier.beyond,
            range: outlier.range.map(|end| scaling.decode(end)),
            usual: outlier.usual.map(|end| scaling.decode(end)),
            score: outlier.score,
            unit: feature.unit.clone(),
        })
    };
    outside.iter().filter_map(name).collect()
}

/// The value at a share of sorted ones.
fn at(sorted: &[f32], share: f32) -> f32 {
    sorted[((sorted.len() - 1) as f32 * share).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Targets;

    fn schema() -> Schema {
        toml::from_str(
            "target = { name = 'y', task = 'classification', classes = ['a', 'b'] }\n\
             features = [{ name = 'bill', kind = 'continuous', mean = 0.0, deviation = 1.0, least = 0.0, greatest = 99.0 },\n\
             { name = 'last', kind = 'continuous', mean = 0.0, deviation = 1.0, least = 0.0, greatest = 99.0 },\n\
             { name = 'kind', kind = 'binary', categories = ['p', 'q'] }]",
        )
        .unwrap()
    }

    /// Bills from 0 to 99, each row's last one the same but for 0 or 1; five rows of each.
    fn usual() -> Usual {
        let row = |at: u16| {
            let bill = f32::from(at / 5);
            [bill, bill + f32::from(at % 2), f32::from(at % 3 / 2)]
        };
        let x: Vec<f32> = (0..500).flat_map(row).collect();
        let samples = Samples { x, width: 3, y: Targets::Unknown(500), weights: None };
        Usual::among(&schema(), Arc::new(samples)).unwrap()
    }

    #[test]
    fn an_ordinary_row_has_no_outlier() {
        for bill in [1.0, 20.0, 50.0, 80.0, 98.0] {
            assert_eq!(usual().outside(&[bill, bill + 1.0, 0.0]), [], "{bill}");
        }
    }

    #[test]
    fn a_number_outside_of_the_range_is_named_first_with_what_to_expect() {
        let found = usual().outside(&[400.0, 40.0, 0.0]);
        let Outlier { feature, beyond, range, expected, .. } = &found[0];
        assert_eq!((found.len(), *feature, *beyond, *range), (1, 0, true, [0.0, 99.0]));
        assert!((38.0..=42.0).contains(expected), "{expected}");
    }

    #[test]
    fn a_number_within_the_range_stands_out_beside_the_others() {
        let found = usual().outside(&[50.0, 5.0, 1.0]);
        assert_eq!(found.len(), 1, "either number may be the wrong one, and one is enough");
        let Outlier { beyond, usual: [low, high], expected, .. } = &found[0];
        assert!(!beyond && low <= expected && expected <= high);
    }

    #[test]
    fn a_missing_number_is_no_outlier_and_says_nothing_of_the_others() {
        let mut schema = schema();
        schema.features[1].missing = Some(crate::data::Missing { sentinels: vec![], median: Some(0.0) });
        // As above, but the last bill of every fifth row is missing, and has a median that no bill is near to.
        let row = |at: u16| {
            let (bill, missing) = (f32::from(at / 5), at.is_multiple_of(5));
            let last = if missing { -90.0 } else { bill + f32::from(at % 2) };
            [bill, last, f32::from(u8::from(missing)), f32::from(at % 3 / 2)]
        };
        let samples =
            Samples { x: (0..500).flat_map(row).collect(), width: 4, y: Targets::Unknown(500), weights: None };
        let usual = Usual::among(&schema, Arc::new(samples)).unwrap();
        assert_eq!(usual.outside(&[50.0, -90.0, 1.0, 0.0]), []);
        assert_eq!(usual.outside(&[50.0, -90.0, 0.0, 0.0])[0].range, [0.0, 100.0], "no range holds a median");
        assert_eq!(usual.outside(&[400.0, -90.0, 1.0, 0.0])[0].feature, 0);
    }

    #[test]
    fn two_wild_numbers_are_both_named() {
        let named: Vec<usize> = usual().outside(&[4000.0, 900.0, 0.0]).iter().map(|found| found.feature).collect();
        assert_eq!(named.len(), 2);
    }

    #[test]
    fn few_rows_say_nothing_of_what_is_usual() {
        let samples = Samples { x: vec![0.0; 90], width: 3, y: Targets::Unknown(30), weights: None };
        assert!(Usual::among(&schema(), Arc::new(samples)).is_none());
    }
}
