//! Scores of class probabilities against the true labels.
//!
//! With p the mean predictive of a row and y its label, means over the rows of
//!
//! - error: 1[argmax_c p_c ≠ y]
//! - negative log likelihood: −log p_y, in nats
//! - Brier score: Σ_c (p_c − 1[y = c])², the multi-class form, from 0 to 2
//!
//! AUROC and average precision look at the order of the rows by p_c: of the rarer of two classes, or the mean over all classes
//! of one against the rest.

use super::health::ConstantClass;
use super::{auroc, average_precision};
use crate::error::{Error, Result};

/// How far from 1 the probabilities of a row may sum, and how far outside \[0, 1\] each may lie.
const TOLERANCE: f64 = 1e-3;

/// The least probability that the negative log likelihood believes: one row costs at most 27.6 nats.
const LEAST_PROBABILITY: f64 = 1e-12;

/// Class probabilities of some rows beside their true labels, checked once.
#[derive(Clone, Copy, Debug)]
pub struct Predictions<'a> {
    probabilities: &'a [f32],
    classes: usize,
    labels: &'a [u32],
}

impl<'a> Predictions<'a> {
    /// Checks `probabilities`, row-major `[labels.len(), classes]`, each row the mean over the posterior samples.
    pub fn new(probabilities: &'a [f32], classes: usize, labels: &'a [u32]) -> Result<Self> {
        if labels.is_empty() {
            return Err(Error::data("there is no prediction to measure; give at least one row"));
        }
        if classes == 0 || labels.len().checked_mul(classes) != Some(probabilities.len()) {
            return Err(Error::data(format!(
                "{} probabilities do not make {} rows of {classes} classes; give one row of probabilities a label",
                probabilities.len(),
                labels.len()
            )));
        }
        for (index, (row, &label)) in probabilities.chunks_exact(classes).zip(labels).enumerate() {
            check_row(index, row, label)?;
        }
        Ok(Self { probabilities, classes, labels })
    }

    /// Number of rows, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "there is always a row")]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Each row's probabilities with its label.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&'a [f32], usize)> + use<'a> {
        self.probabilities.chunks_exact(self.classes).zip(self.labels).map(|(row, &label)| (row, label as usize))
    }

    /// For each row whether its most probable class differs from its label; of equal probabilities the lowest class
    /// counts.
    pub fn wrong(&self) -> Vec<bool> {
        self.rows().map(|(row, label)| most_probable(row) != label).collect()
    }

    /// Share of rows whose most probable class differs from their label.
    pub fn error(&self) -> f64 {
        self.mean(|row, label| if most_probable(row) == label { 0.0 } else { 1.0 })
    }

    /// Negative log likelihood: mean of −log p_y in nats, with p_y clipped to \[1e-12, 1\].
    pub fn nll(&self) -> f64 {
        self.mean(|row, label| 0.0 - f64::from(row[label]).clamp(LEAST_PROBABILITY, 1.0).ln())
    }

    /// Brier score: mean of Σ_c (p_c − 1[y = c])², between 0 and 2.
    pub fn brier(&self) -> f64 {
        self.mean(|row, label| {
            let squares = row.iter().enumerate().map(|(class, &p)| {
                let truth = if class == label { 1.0 } else { 0.0 };
                (f64::from(p) - truth).powi(2)
            });
            squares.sum()
        })
    }

    /// Area under the ROC curve; none where only one class is present.
    pub fn auroc(&self) -> Option<f64> {
        self.one_against_the_rest(auroc)
    }

    /// Average precision, the area under the curve of precision over recall; none where only one class is present.
    pub fn auprc(&self) -> Option<f64> {
        self.one_against_the_rest(average_precision)
    }

    /// What the best constant answer scores on these rows: every class as probable as it is frequent.
    pub fn constant(&self) -> ConstantClass {
        let shares: Vec<f64> = self.counts().into_iter().map(|count| count as f64 / self.len() as f64).collect();
        let most = shares.iter().copied().fold(0.0, f64::max);
        ConstantClass {
            error: 1.0 - most,
            nll: shares.iter().filter(|&&share| share > 0.0).map(|share| -share * share.ln()).sum(),
            brier: 1.0 - shares.iter().map(|share| share * share).sum::<f64>(),
            auprc: self.one_against_the_rest(|_, positive| {
                Some(positive.iter().filter(|&&p| p).count() as f64 / positive.len() as f64)
            }),
        }
    }

    /// Number of rows of each class.
    fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes];
        self.labels.iter().for_each(|&label| counts[label as usize] += 1);
        counts
    }

    /// A score of the probabilities of one class against the rest: of the rarer of two, else the mean over those that have
    /// rows.
    fn one_against_the_rest(&self, score: impl Fn(&[f64], &[bool]) -> Option<f64>) -> Option<f64> {
        let counts = self.counts();
        let present: Vec<usize> = (0..self.classes).filter(|&class| counts[class] > 0).collect();
        let chosen = match present.as_slice() {
            [] | [_] => return None,
            // Of two that are equally frequent the second is looked at, as the one that is coded as 1.
            [first, second] if self.classes == 2 => {
                vec![if counts[*first] < counts[*second] { *first } else { *second }]
            }
            all => all.to_vec(),
        };
        let of_class = |&class: &usize| {
            let (scores, positive): (Vec<f64>, Vec<bool>) =
                self.rows().map(|(row, label)| (f64::from(row[class]), label == class)).unzip();
            score(&scores, &positive)
        };
        let scores = chosen.iter().map(of_class).collect::<Option<Vec<f64>>>()?;
        Some(scores.iter().sum::<f64>() / scores.len() as f64)
    }

    fn mean(&self, score: impl Fn(&[f32], usize) -> f64) -> f64 {
        self.rows().map(|(row, label)| score(row, label)).sum::<f64>() / self.len() as f64
    }
}

/// The class with the greatest probability; the lowest one among equals.
pub(super) fn most_probable(row: &[f32]) -> usize {
    (1..row.len()).fold(0, |best, class| if row[class] > row[best] { class } else { best })
}

fn check_row(index: usize, row: &[f32], label: u32) -> Result<()> {
    if label as usize >= row.len() {
        return Err(Error::data(format!(
            "row {index} has label {label}, but there are {} classes, counted from 0",
            row.len()
        )));
    }
    let range = -TOLERANCE..=1.0 + TOLERANCE;
    if let Some(p) = row.iter().find(|&&p| !range.contains(&f64::from(p))) {
        return Err(Error::data(format!(
            "row {index} has the probability {p}; each must lie between 0 and 1 (logits need a softmax first)"
        )));
    }
    let sum: f64 = row.iter().map(|&p| f64::from(p)).sum();
    if (sum - 1.0).abs() > TOLERANCE {
        return Err(Error::data(format!(
            "the probabilities of row {index} sum to {sum:.4}, expected 1; give the mean over the posterior samples"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::assert_close;
    use super::*;

    fn problem(probabilities: &[f32], classes: usize, labels: &[u32]) -> String {
        Predictions::new(probabilities, classes, labels).unwrap_err().to_string()
    }

    #[test]
    fn two_rows_have_scores_that_can_be_checked_by_hand() {
        // Right with 0.8, and wrong with 0.25 for the label.
        let predictions = Predictions::new(&[0.8, 0.2, 0.75, 0.25], 2, &[0, 1]).unwrap();
        assert_eq!(predictions.wrong(), [false, true]);
        assert_close(predictions.error(), 0.5, 1e-12);
        // (−log 0.8 − log 0.25) / 2 = (0.223144 + 1.386294) / 2
        assert_close(predictions.nll(), 0.804719, 1e-6);
        // (2 · 0.2² + 2 · 0.75²) / 2
        assert_close(predictions.brier(), 0.6025, 1e-6);
    }

    #[test]
    fn classes_are_ranked_by_the_rarer_of_two_and_by_each_of_several() {
        // Class 1 is the rarer: 0.8 (right), 0.4 and 0.35 (its second row), 0.1.
        let p = [0.9, 0.1, 0.6, 0.4, 0.65, 0.35, 0.2, 0.8, 0.95, 0.05];
        let two = Predictions::new(&p, 2, &[0, 0, 1, 1, 0]).unwrap();
        // Of six pairs one is out of order: 0.35 and 0.4. The positives come first and third.
        assert_close(two.auroc().unwrap(), 5.0 / 6.0, 1e-12);
        assert_close(two.auprc().unwrap(), 5.0 / 6.0, 1e-12);
        let three = Predictions::new(&[0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.2, 0.2, 0.6], 3, &[0, 1, 2]).unwrap();
        assert_eq!((three.auroc(), three.auprc()), (Some(1.0), Some(1.0)));
        let one = Predictions::new(&[0.7, 0.3], 2, &[0]).unwrap();
        assert_eq!((one.auroc(), one.auprc(), one.constant().auprc), (None, None, None));
    }

    #[test]
    fn the_best_constant_answer_says_how_frequent_the_classes_are() {
        let p = [0.5_f32; 8];
        let constant = Predictions::new(&p, 2, &[0, 0, 0, 1]).unwrap().constant();
        assert_close(constant.error, 0.25, 1e-12);
        // −¾ log ¾ − ¼ log ¼
        assert_close(constant.nll, 0.562335, 1e-6);
        // 1 − 9/16 − 1/16
        assert_close(constant.brier, 0.375, 1e-12);
        assert_eq!(constant.auprc, Some(0.25));
    }

    #[test]
    fn of_equal_probabilities_the_lowest_class_is_chosen() {
        assert_eq!(most_probable(&[0.2, 0.4, 0.4]), 1);
        assert_close(Predictions::new(&[0.5, 0.5], 2, &[1]).unwrap().error(), 1.0, 0.0);
    }

    #[test]
    fn certain_and_wrong_costs_a_finite_surprise_and_a_brier_score_of_two() {
        let predictions = Predictions::new(&[1.0, 0.0], 2, &[1]).unwrap();
        assert_close(predictions.nll(), 27.631021, 1e-6);
        assert_close(predictions.brier(), 2.0, 0.0);
    }

    #[test]
    fn certain_and_right_costs_a_positive_zero() {
        let predictions = Predictions::new(&[1.0, 0.0], 2, &[0]).unwrap();
        assert_eq!(format!("{:?}", predictions.nll()), "0.0");
    }

    #[test]
    fn what_is_no_distribution_is_refused_with_its_row() {
        assert!(problem(&[0.5, 0.5, 0.5, 0.4], 2, &[0, 1]).contains("row 1 sum to 0.9000"));
        assert!(problem(&[1.5, -0.5], 2, &[0]).contains("row 0 has the probability 1.5"));
        assert!(problem(&[f32::NAN, 1.0], 2, &[0]).contains("row 0 has the probability NaN"));
        assert!(problem(&[0.5, 0.5], 2, &[2]).contains("label 2, but there are 2 classes"));
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        assert!(problem(&[], 2, &[]).contains("no prediction"));
        assert!(problem(&[1.0], 2, &[0]).contains("1 probabilities do not make 1 rows of 2 classes"));
        assert!(problem(&[], 0, &[0]).contains("0 classes"));
        assert!(problem(&[1.0], usize::MAX, &[0, 0]).contains("do not make"));
    }
}
