//! Calibration of a classifier: does 80 % sure mean right 80 % of the time?
//!
//! Rows are put into 15 bins of equal width by their confidence max_c p_c, a bin holding (lower, upper]. The expected
//! calibration error is ECE = Σ_b (n_b / n) · |accuracy_b − confidence_b|. [Guo2017, Eq. 3]

use super::Predictions;
use super::classification::most_probable;
use serde::{Deserialize, Serialize};

const BINS: usize = 15;

/// Confidence against accuracy, bin by bin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reliability {
    /// Bins of equal width from confidence 0 to 1, empty ones included.
    pub bins: Vec<Bin>,
    /// Expected calibration error: the mean gap between accuracy and confidence, weighted by count.
    pub ece: f64,
}

/// The rows whose confidence lies in (lower, upper].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bin {
    /// The confidence above which the bin begins.
    pub lower: f64,
    /// Greatest confidence that belongs to the bin.
    pub upper: f64,
    /// Number of rows in the bin.
    pub count: usize,
    /// Mean confidence of the bin's rows; none if it is empty.
    pub confidence: Option<f64>,
    /// Share of the bin's rows with the right class; none if it is empty.
    pub accuracy: Option<f64>,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    count: usize,
    confidence: f64,
    right: usize,
}

impl Reliability {
    /// Number of rows in all bins.
    pub fn rows(&self) -> usize {
        self.bins.iter().map(|bin| bin.count).sum()
    }

    /// The expected calibration error that a perfectly calibrated model would have on as many rows: in a bin of n rows of
    /// confidence c the mean gap of n draws, √(2 c (1 − c) / (π n)).
    pub fn ece_by_chance(&self) -> f64 {
        let gap = |bin: &Bin| {
            let (n, c) = (bin.count as f64, bin.confidence.unwrap_or(0.0));
            if bin.count == 0 { 0.0 } else { n * (2.0 * c * (1.0 - c) / (std::f64::consts::PI * n)).max(0.0).sqrt() }
        };
        self.bins.iter().map(gap).sum::<f64>() / self.rows().max(1) as f64
    }

    /// Sorts `predictions` into bins and compares confidence with accuracy in each.
    pub fn of(predictions: &Predictions) -> Self {
        let mut tallies = [Tally::default(); BINS];
        for (row, label) in predictions.rows() {
            let class = most_probable(row);
            let confidence = f64::from(row[class]).clamp(0.0, 1.0);
            let tally = &mut tallies[bin_of(confidence)];
            tally.count += 1;
            tally.confidence += confidence;
            tally.right += usize::from(class == label);
        }
        let bins: Vec<_> = tallies.iter().enumerate().map(|(index, tally)| tally.bin(index)).collect();
        let ece = bins.iter().map(|bin| bin.gap() * bin.count as f64).sum::<f64>() / predictions.len() as f64;
        Self { bins, ece }
    }
}

impl Tally {
    fn bin(&self, index: usize) -> Bin {
        let mean = |sum: f64| (self.count > 0).then(|| sum / self.count as f64);
        Bin {
            lower: index as f64 / BINS as f64,
            upper: (index + 1) as f64 / BINS as f64,
            count: self.count,
            confidence: mean(self.confidence),
            accuracy: mean(self.right as f64),
        }
    }
}

impl Bin {
    /// Gap |accuracy − confidence| of the bin; 0 if it is empty.
    pub fn gap(&self) -> f64 {
        self.confidence.zip(self.accuracy).map_or(0.0, |(confidence, accuracy)| (accuracy - confidence).abs())
    }
}

/// Expected calibration error with 15 bins of equal width, between 0 and 1.
///
/// ```
/// use cluekit::measure::{Predictions, ece};
///
/// // Two rows, each sure of class 0 by 0.75, and one of them is right: |0.5 − 0.75|.
/// let predictions = Predictions::new(&[0.75, 0.25, 0.75, 0.25], 2, &[0, 1])?;
/// assert!((ece(&predictions) - 0.25).abs() < 1e-9);
/// assert_eq!(predictions.error(), 0.5);
/// # Ok::<(), cluekit::Error>(())
/// ```
pub fn ece(predictions: &Predictions) -> f64 {
    Reliability::of(predictions).ece
}

fn bin_of(confidence: f64) -> usize {
    let above = (confidence * BINS as f64).ceil() as usize;
    above.clamp(1, BINS) - 1
}

#[cfg(test)]
mod tests {
    use super::super::assert_close;
    use super::*;

    #[test]
    fn two_bins_weigh_their_gaps_by_their_counts() {
        // Three rows at 0.75, two of them right; one at 1, right: 3/4 · |2/3 − 0.75| + 1/4 · 0 = 0.0625.
        let probabilities = [0.75, 0.25, 0.25, 0.75, 0.75, 0.25, 1.0, 0.0];
        let predictions = Predictions::new(&probabilities, 2, &[0, 1, 1, 0]).unwrap();
        let reliability = Reliability::of(&predictions);
        assert_close(reliability.ece, 0.0625, 1e-12);
        let filled: Vec<_> = reliability.bins.iter().filter(|bin| bin.count > 0).collect();
        assert_eq!(filled.iter().map(|bin| bin.count).collect::<Vec<_>>(), [3, 1]);
        assert_close(filled[0].confidence.unwrap(), 0.75, 1e-12);
        assert_close(filled[0].accuracy.unwrap(), 2.0 / 3.0, 1e-12);
        assert_close(filled[0].lower, 11.0 / 15.0, 1e-12);
    }

    #[test]
    fn an_empty_bin_has_no_accuracy_and_no_gap() {
        let reliability = Reliability::of(&Predictions::new(&[1.0, 0.0], 2, &[0]).unwrap());
        assert_eq!(reliability.bins.len(), 15);
        assert_eq!(reliability.bins[3].accuracy, None);
        assert_close(reliability.bins[3].gap(), 0.0, 0.0);
    }

    #[test]
    fn an_upper_edge_belongs_to_its_bin() {
        assert_eq!(bin_of(0.0), 0);
        assert_eq!(bin_of(1.0 / 15.0), 0);
        assert_eq!(bin_of(0.07), 1);
        assert_eq!(bin_of(1.0), 14);
    }

    #[test]
    fn certain_and_always_wrong_has_the_greatest_error() {
        assert_close(ece(&Predictions::new(&[1.0, 0.0, 1.0, 0.0], 2, &[1, 1]).unwrap()), 1.0, 0.0);
    }
    #[test]
    fn chance_alone_makes_a_gap_that_falls_with_the_root_of_the_rows() {
        let bin = |count| Bin { lower: 0.7, upper: 0.8, count, confidence: Some(0.8), accuracy: Some(0.8) };
        let chance = |count| Reliability { bins: vec![bin(count)], ece: 0.0 }.ece_by_chance();
        // √(2 · 0.16 / (100 π)).
        assert!((chance(100) - 0.031_915).abs() < 1e-6, "{}", chance(100));
        assert!((chance(100) / chance(400) - 2.0).abs() < 1e-12);
        assert_eq!(Reliability { bins: vec![], ece: 0.0 }.ece_by_chance(), 0.0);
    }
}
