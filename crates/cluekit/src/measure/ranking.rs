//! Does uncertainty point at the errors? Measures that only look at the order of the scores.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Area under the ROC curve: the probability that a positive scores above a negative, a tie counting half.
///
/// Computed by ranks: (Σ ranks of positives − n₊ (n₊ + 1) / 2) / (n₊ n₋). None where it has no meaning: only one kind
/// is present, a score is NaN, or the slices differ in length.
///
/// ```
/// use cluekit::measure::auroc;
///
/// // Of four pairs of a positive and a negative, three are in order: all but 0.35 and 0.4.
/// assert_eq!(auroc(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]), Some(0.75));
/// assert_eq!(auroc(&[0.1, 0.4], &[true, true]), None);
/// ```
pub fn auroc(scores: &[f64], positive: &[bool]) -> Option<f64> {
    if scores.len() != positive.len() || scores.iter().any(|score| score.is_nan()) {
        return None;
    }
    let positives = positive.iter().filter(|&&p| p).count() as f64;
    let negatives = positive.len() as f64 - positives;
    if positives < 1.0 || negatives < 1.0 {
        return None;
    }
    let order = ascending(scores);
    let mut rank_sum = 0.0;
    let mut before = 0;
    for tied in order.chunk_by(|&a, &b| scores[a] >= scores[b]) {
        let mean_rank = before as f64 + (tied.len() + 1) as f64 / 2.0;
        rank_sum += mean_rank * tied.iter().filter(|&&i| positive[i]).count() as f64;
        before += tied.len();
    }
    Some((rank_sum - positives * (positives + 1.0) / 2.0) / (positives * negatives))
}

/// Average precision, the area under the curve of precision over recall: Σ (recall gained) × precision, score by score from
/// the highest on, equal scores together.
///
/// Chance is the share of positives. None where it has no meaning: no positive, a score is NaN, or the slices differ in
/// length.
///
/// ```
/// use cluekit::measure::average_precision;
///
/// // The first positive comes first, the second third: ½ · 1 + ½ · ⅔.
/// let precision = average_precision(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]).unwrap();
/// assert!((precision - 5.0 / 6.0).abs() < 1e-12);
/// assert_eq!(average_precision(&[0.1, 0.4], &[false, false]), None);
/// ```
pub fn average_precision(scores: &[f64], positive: &[bool]) -> Option<f64> {
    let positives = positive.iter().filter(|&&p| p).count();
    if scores.len() != positive.len() || scores.iter().any(|score| score.is_nan()) || positives == 0 {
        return None;
    }
    let mut order = ascending(scores);
    order.reverse();
    let (mut seen, mut found, mut area) = (0, 0, 0.0);
    for tied in order.chunk_by(|&a, &b| scores[a] <= scores[b]) {
        let gained = tied.iter().filter(|&&row| positive[row]).count();
        (seen, found) = (seen + tied.len(), found + gained);
        area += gained as f64 / positives as f64 * found as f64 / seen as f64;
    }
    Some(area)
}

/// Accuracy among the most certain rows, as more and more of the uncertain ones are handed to somebody else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RejectionCurve {
    /// Points from all rows kept down to 1 % kept, at most one for each percent.
    pub points: Vec<RejectionPoint>,
    /// Area under the curve over kept shares 0 to 1, the curve held level left of its last point. 1 is perfect; with
    /// an uncertainty that knows nothing of the errors it is the accuracy itself.
    pub area: f64,
}

/// One share of kept rows, and the accuracy among them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RejectionPoint {
    /// Share of the rows that is kept, the most certain ones.
    pub kept: f64,
    /// Share of the kept rows with the right class.
    pub accuracy: f64,
}

/// Keeps the most certain rows, at every percent from 100 to 1, and measures the accuracy among them.
///
/// Equal uncertainties keep their order. With fewer than 100 rows there is one point a row.
///
/// ```
/// use cluekit::measure::rejection_curve;
///
/// let curve = rejection_curve(&[0.1, 0.2, 0.3, 0.4], &[false, false, false, true])?;
/// assert_eq!(curve.points[0].accuracy, 0.75); // everything is kept
/// assert_eq!(curve.points[1].accuracy, 1.0); // the most uncertain row is handed on
/// # Ok::<(), cluekit::Error>(())
/// ```
pub fn rejection_curve(uncertainty: &[f64], wrong: &[bool]) -> Result<RejectionCurve> {
    check(uncertainty, wrong)?;
    let total = wrong.len();
    let mut right = 0;
    let right_among_first: Vec<usize> = ascending(uncertainty)
        .into_iter()
        .map(|i| {
            right += usize::from(!wrong[i]);
            right
        })
        .collect();
    let mut counts: Vec<usize> = (1..=100).rev().map(|percent| share_of(total, percent)).collect();
    counts.dedup();
    let points: Vec<_> = counts
        .into_iter()
        .map(|count| RejectionPoint {
            kept: count as f64 / total as f64,
            accuracy: right_among_first[count - 1] as f64 / count as f64,
        })
        .collect();
    let area = area(&points);
    Ok(RejectionCurve { points, area })
}

fn check(uncertainty: &[f64], wrong: &[bool]) -> Result<()> {
    if uncertainty.len() != wrong.len() || wrong.is_empty() {
        return Err(Error::data(format!(
            "{} uncertainties stand beside {} outcomes; give one of each for at least one row",
            uncertainty.len(),
            wrong.len()
        )));
    }
    match uncertainty.iter().position(|u| u.is_nan()) {
        Some(row) => Err(Error::data(format!("the uncertainty of row {row} is NaN; rank finite values"))),
        None => Ok(()),
    }
}

/// `percent` % of `total`, rounded up: at least one row.
fn share_of(total: usize, percent: usize) -> usize {
    (total as u128 * percent as u128).div_ceil(100) as usize
}

fn area(points: &[RejectionPoint]) -> f64 {
    let between: f64 =
        points.windows(2).map(|pair| (pair[0].kept - pair[1].kept) * (pair[0].accuracy + pair[1].accuracy) / 2.0).sum();
    between + points.last().map_or(0.0, |last| last.kept * last.accuracy)
}

/// Positions of `scores` from the least to the greatest; equals keep their order. No score is NaN.
fn ascending(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].partial_cmp(&scores[b]).expect("NaN was refused"));
    order
}

#[cfg(test)]
mod tests {
    use super::super::assert_close;
    use super::*;

    #[test]
    fn auroc_counts_the_pairs_in_the_right_order() {
        // Positives 3 and 1 against negatives 2 and 0: three of four pairs are in order.
        assert_close(auroc(&[3.0, 1.0, 2.0, 0.0], &[true, true, false, false]).unwrap(), 0.75, 1e-12);
    }

    #[test]
    fn a_tie_counts_half() {
        assert_close(auroc(&[1.0, 1.0], &[true, false]).unwrap(), 0.5, 1e-12);
        assert_close(auroc(&[0.0, -0.0, 5.0], &[true, false, true]).unwrap(), 0.75, 1e-12);
    }

    #[test]
    fn auroc_of_one_kind_or_of_nan_is_none() {
        assert_eq!(auroc(&[1.0, 2.0], &[false, false]), None);
        assert_eq!(auroc(&[1.0, 2.0], &[true, true]), None);
        assert_eq!(auroc(&[], &[]), None);
        assert_eq!(auroc(&[f64::NAN, 2.0], &[true, false]), None);
        assert_eq!(auroc(&[1.0], &[true, false]), None);
    }

    #[test]
    fn rejecting_the_uncertain_error_leaves_only_right_answers() {
        let curve = rejection_curve(&[0.1, 0.9, 0.2, 0.3], &[false, true, false, false]).unwrap();
        let (kept, accuracy): (Vec<_>, Vec<_>) = curve.points.iter().map(|p| (p.kept, p.accuracy)).unzip();
        assert_eq!(kept, [1.0, 0.75, 0.5, 0.25]);
        assert_eq!(accuracy, [0.75, 1.0, 1.0, 1.0]);
        // 0.25 · 0.875 for the last quarter, and 0.75 · 1 for the rest.
        assert_close(curve.area, 0.96875, 1e-12);
    }

    #[test]
    fn equal_uncertainties_are_rejected_from_the_back() {
        let curve = rejection_curve(&[0.5, 0.5], &[true, false]).unwrap();
        assert_close(curve.points[1].accuracy, 0.0, 0.0);
    }

    #[test]
    fn many_rows_make_one_hundred_points() {
        let uncertainty: Vec<f64> = (0..12_345).map(f64::from).collect();
        let curve = rejection_curve(&uncertainty, &vec![false; 12_345]).unwrap();
        assert_eq!(curve.points.len(), 100);
        assert_close(curve.points[99].kept, 124.0 / 12_345.0, 1e-12);
        assert_close(curve.area, 1.0, 1e-12);
    }

    #[test]
    fn a_curve_of_nothing_or_of_nan_is_refused() {
        assert!(rejection_curve(&[], &[]).is_err());
        assert!(rejection_curve(&[1.0], &[true, false]).unwrap_err().to_string().contains("1 uncertainties"));
        assert!(rejection_curve(&[1.0, f64::NAN], &[true, false]).unwrap_err().to_string().contains("row 1"));
    }
}
