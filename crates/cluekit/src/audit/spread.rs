//! How uncertainty is spread over the rows: a histogram, and the rows in tenths from the surest to the least sure.

use super::rows::{Rows, mean};
use crate::measure::histogram::ends;
use serde::{Deserialize, Serialize};

/// Bins of the histogram.
const BINS: usize = 24;
/// The histogram goes on at least so many times as far as where the model begins to be unsure.
const BEYOND_LIMIT: f64 = 1.2;
/// Parts of equal size that rows are cut into.
const TENTHS: usize = 10;

/// The distribution of the total uncertainty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// Bins of equal width, the first from 0 on.
    pub bins: Vec<UncertaintyBin>,
    /// Rows that lie beyond the last bin, which counts them too; always 0 for classes.
    pub beyond: usize,
    /// Greatest total uncertainty of a row.
    pub greatest: f64,
    /// The rows by rising uncertainty, in parts of equal size.
    pub tenths: Vec<Tenth>,
}

/// Rows with an uncertainty between two limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UncertaintyBin {
    /// Lower limit of the bin.
    pub lower: f64,
    /// Upper limit of the bin.
    pub upper: f64,
    /// Number of rows in the bin.
    pub rows: usize,
    /// Number of these rows with a wrong predicted class; none for a regression.
    pub wrong: Option<usize>,
}

/// A tenth of the rows, by rising uncertainty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tenth {
    /// Aleatoric part of the tenth's mean uncertainty.
    pub aleatoric: f64,
    /// Epistemic part of the tenth's mean uncertainty.
    pub epistemic: f64,
    /// Share of wrong classes in the tenth, or its root mean squared error.
    pub error: f64,
}

impl Spread {
    /// The distribution of the total uncertainty of these rows.
    pub fn of(rows: &Rows) -> Self {
        let totals = || (0..rows.len()).map(|row| rows.total(row)).filter(|total| total.is_finite());
        let greatest = totals().fold(0.0, f64::max);
        // Entropies are bounded and all are shown; a few deviations may lie far beyond the others.
        let furthest = if rows.task.is_regression() { ends(totals()).1 } else { greatest };
        let high = furthest.max(BEYOND_LIMIT * f64::from(rows.unsure_above));
        let high = if high > 0.0 { high } else { 1.0 };
        Self {
            bins: bins(rows, high),
            beyond: totals().filter(|&total| total > high).count(),
            greatest,
            tenths: tenths(rows, &ascending(rows)),
        }
    }
}

/// Rows in bins of equal width from 0 to `high`.
fn bins(rows: &Rows, high: f64) -> Vec<UncertaintyBin> {
    let edge = |bin: usize| high * bin as f64 / BINS as f64;
    let wrong = (!rows.task.is_regression()).then_some(0);
    let empty = |bin: usize| UncertaintyBin { lower: edge(bin), upper: edge(bin + 1), rows: 0, wrong };
    let mut bins: Vec<UncertaintyBin> = (0..BINS).map(empty).collect();
    for row in 0..rows.len() {
        // As a whole number, what is no number is 0.
        let bin = &mut bins[((rows.total(row) / high * BINS as f64) as usize).min(BINS - 1)];
        bin.rows += 1;
        bin.wrong = bin.wrong.map(|wrong| wrong + usize::from(rows.is_wrong(row) == Some(true)));
    }
    bins
}

fn ascending(rows: &Rows) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| rows.total(a).total_cmp(&rows.total(b)).then(a.cmp(&b)));
    order
}

fn tenths(rows: &Rows, order: &[usize]) -> Vec<Tenth> {
    let parts = TENTHS.min(order.len());
    let part = |place: usize| &order[place * order.len() / parts..(place + 1) * order.len() / parts];
    let tenth = |part: &[usize]| {
        let over = |kind: usize| mean(part.iter().map(|&row| rows.parts(row)[kind])).unwrap_or(0.0);
        Tenth { aleatoric: over(0), epistemic: over(1), error: rows.error(part).unwrap_or(0.0) }
    };
    (0..parts).map(|place| tenth(part(place))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rows::toy::*;
    use super::*;

    #[test]
    fn every_row_is_in_one_bin_and_in_one_tenth() {
        let (samples, task) = (of_classes(&[0.0; 20], &[0; 20]), letters());
        // Uncertainties 0, 0.1 … 1.9, the last five wrong.
        let mean = |row: u16| if row < 15 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let predictions: Vec<_> = (0..20).map(|row| says(&mean(row), f32::from(row) / 10.0)).collect();
        let spread = Spread::of(&Rows { samples: &samples, predictions: &predictions, task: &task, unsure_above: 0.5 });
        assert_eq!(spread.bins.iter().map(|bin| bin.rows).sum::<usize>(), 20);
        assert_eq!(spread.bins.iter().filter_map(|bin| bin.wrong).sum::<usize>(), 5);
        assert_eq!((spread.bins[0].rows, spread.bins[23].rows), (1, 1), "0, and 1.9 which is the end");
        let errors: Vec<f64> = spread.tenths.iter().map(|tenth| tenth.error).collect();
        assert_eq!(errors, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 1.0]);
        assert!((spread.tenths[9].aleatoric - 0.925).abs() < 1e-6, "half of (1.8 + 1.9) / 2");
    }

    #[test]
    fn fewer_rows_than_ten_are_a_part_each() {
        let (samples, task) = (of_classes(&[0.0; 3], &[0; 3]), letters());
        let predictions = [1.0, 0.5, 0.1].map(|total| says(&[1.0, 0.0, 0.0], total));
        let spread = Spread::of(&Rows { samples: &samples, predictions: &predictions, task: &task, unsure_above: 0.5 });
        let parts: Vec<f64> = spread.tenths.iter().map(|tenth| tenth.epistemic).collect();
        assert_eq!(parts.len(), 3);
        assert!(parts.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn the_few_unsure_rows_of_a_good_model_are_shown_where_they_are() {
        let (samples, task) = (of_classes(&[0.0; 1000], &[0; 1000]), letters());
        // Two in a thousand are unsure, with 0.9 and 1 nats.
        let total = |row: u16| if row < 998 { 0.01 } else { 0.1 * f32::from(row - 989) };
        let predictions: Vec<_> = (0..1000).map(|row| says(&[1.0, 0.0, 0.0], total(row))).collect();
        let rows = Rows { samples: &samples, predictions: &predictions, task: &task, unsure_above: 0.5 };
        let spread = Spread::of(&rows);
        assert!((spread.bins[23].upper - 1.0).abs() < 1e-6 && spread.beyond == 0, "{spread:?}");
        let unsure: usize = spread.bins.iter().filter(|bin| bin.lower >= 0.5).map(|bin| bin.rows).sum();
        assert_eq!(unsure, 2);
        // A model that is sure of all still shows from where on it would not be.
        let sure = Spread::of(&Rows { unsure_above: 2.0, ..rows });
        assert!((sure.bins[23].upper - 2.4).abs() < 1e-6);
    }

    #[test]
    fn deviations_beyond_the_last_bin_are_counted() {
        let y = crate::data::Targets::Values(vec![0.0; 1000]);
        let (samples, task) = (crate::data::Samples { y, ..of_classes(&[0.0; 1000], &[0; 1000]) }, plain());
        let predictions: Vec<_> = (0..1000).map(|row| says(&[0.0], if row == 0 { 1e6 } else { 1.0 })).collect();
        let rows = Rows { samples: &samples, predictions: &predictions, task: &task, unsure_above: 5.0 };
        let spread = Spread::of(&rows);
        assert_eq!((spread.beyond, spread.greatest, spread.bins[23].rows), (1, 1e6, 1));
        assert!((spread.bins[23].upper - 6.0).abs() < 1e-6, "the limit of 5 is on the axis");
    }
}
