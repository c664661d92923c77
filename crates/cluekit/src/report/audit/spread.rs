//! How uncertainty is spread over the rows: a histogram, and the rows in tenths from the surest to the least sure.

use super::super::histogram::ends;
use super::rows::{Rows, mean};
use crate::uncertainty::Uncertainty;
use serde::{Deserialize, Serialize};

/// Bins of the histogram.
const BINS: usize = 24;
/// Parts of equal size that rows are cut into.
const TENTHS: usize = 10;

/// The distribution of the total uncertainty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// From 0 on, of equal width; the last also counts the few rows that lie far beyond it.
    pub bins: Vec<UncertaintyBin>,
    /// The rows by rising uncertainty, in parts of equal size.
    pub tenths: Vec<Tenth>,
}

/// Rows with an uncertainty between two limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UncertaintyBin {
    /// The lower limit.
    pub lower: f64,
    /// The upper limit.
    pub upper: f64,
    /// How many rows.
    pub rows: usize,
    /// How many of them have a wrong class; none for a regression.
    pub wrong: Option<usize>,
}

/// A tenth of the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tenth {
    /// Mean aleatoric uncertainty.
    pub aleatoric: f64,
    /// Mean epistemic uncertainty.
    pub epistemic: f64,
    /// The share of wrong classes, or the root mean squared error.
    pub error: f64,
}

impl Spread {
    /// Counts.
    pub fn of(rows: &Rows) -> Self {
        let order = ascending(rows);
        Self { bins: bins(rows), tenths: tenths(rows, &order) }
    }
}

fn bins(rows: &Rows) -> Vec<UncertaintyBin> {
    let (_, high) = ends((0..rows.len()).map(|row| rows.total(row)).filter(|total| total.is_finite()));
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
        let over = |kind| mean(part.iter().map(|&row| f64::from(rows.predictions[row].uncertainty.get(kind))));
        Tenth {
            aleatoric: over(Uncertainty::Aleatoric).unwrap_or(0.0),
            epistemic: over(Uncertainty::Epistemic).unwrap_or(0.0),
            error: rows.error(part).unwrap_or(0.0),
        }
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
}
