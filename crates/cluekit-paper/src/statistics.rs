//! What many clues of many inputs say in one number.

use super::study_result::{Check, Verdict};
use cluekit::explanation::{Clue, Explanation, Label};
use std::collections::BTreeMap;

/// The mean of what is finite; not a number without any.
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) =
        values.into_iter().filter(|v| v.is_finite()).fold((0.0, 0), |(sum, count), v| (sum + v, count + 1));
    if count > 0 { sum / f64::from(count) } else { f64::NAN }
}

/// Least, mean and greatest of some numbers.
pub(super) fn spread(values: impl IntoIterator<Item = f64>) -> [f64; 3] {
    let values: Vec<f64> = values.into_iter().collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [least, mean(values), greatest]
}

/// The mean over inputs of something about each input's clues.
pub(super) fn over_inputs(explanations: &[Explanation], of: impl Fn(&Explanation) -> f64) -> f64 {
    mean(explanations.iter().map(of))
}

/// Least, mean and greatest of an input's clues, each in the mean over inputs.
pub(super) fn spread_over_inputs(explanations: &[Explanation], of: impl Fn(&Clue) -> f32) -> [f64; 3] {
    let spreads: Vec<[f64; 3]> =
        explanations.iter().map(|e| spread(e.clues.iter().map(|clue| f64::from(of(clue))))).collect();
    [0, 1, 2].map(|place| mean(spreads.iter().map(|spread| spread[place])))
}

/// The class of a clue; nothing for a regression.
pub(super) fn class(label: Label) -> Option<usize> {
    match label {
        Label::Class(class) => Some(class),
        Label::Value(_) => None,
    }
}

/// How many classes some clues have.
pub(super) fn distinct_labels(clues: &[Clue]) -> usize {
    let mut labels: Vec<usize> = clues.iter().filter_map(|clue| class(clue.label)).collect();
    labels.sort_unstable();
    labels.dedup();
    labels.len()
}

/// Fewer clues are scattered rather than a mode.
pub(super) const LEAST_OF_A_MODE: usize = 5;

/// Of modes, each with its label and how many clues it has: the labels of those that are no scatter, in order.
pub(super) fn labels_of_modes(modes: impl IntoIterator<Item = (Option<usize>, usize)>) -> Vec<Option<usize>> {
    let large = modes.into_iter().filter(|(_, clues)| *clues >= LEAST_OF_A_MODE);
    let mut labels: Vec<Option<usize>> = large.map(|(label, _)| label).collect();
    labels.sort_unstable();
    labels
}

/// Whether one of some labels, in order, has several modes.
pub(super) fn several_of_one(labels: &[Option<usize>]) -> bool {
    labels.windows(2).any(|pair| pair[0] == pair[1])
}

/// Σ |aᵢ − bᵢ|.
pub(super) fn l1(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs())).sum()
}

/// The entropy, in nats, of how often each key occurs.
pub(super) fn entropy<K: Ord>(keys: impl IntoIterator<Item = K>) -> f64 {
    let mut counts: BTreeMap<K, usize> = BTreeMap::new();
    keys.into_iter().for_each(|key| *counts.entry(key).or_default() += 1);
    let all: usize = counts.values().sum();
    let share = |&count: &usize| count as f64 / all as f64;
    counts.values().map(share).map(|p| -p * p.ln()).sum::<f64>() + 0.0
}

/// Spearman's rank correlation of the pairs that are finite; not a number where one of both never changes.
pub(super) fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let finite = a.iter().zip(b).filter(|(a, b)| a.is_finite() && b.is_finite());
    let (a, b): (Vec<f64>, Vec<f64>) = finite.map(|(&a, &b)| (a, b)).unzip();
    let (a, b) = (ranks(&a), ranks(&b));
    let (mean_a, mean_b) = (mean(a.iter().copied()), mean(b.iter().copied()));
    let products =
        |x: &[f64], mx: f64, y: &[f64], my: f64| x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum::<f64>();
    products(&a, mean_a, &b, mean_b) / (products(&a, mean_a, &a, mean_a) * products(&b, mean_b, &b, mean_b)).sqrt()
}

/// Places by size from 0; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| other.total_cmp(value).is_eq()).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// A rank correlation with what is varied that is a trend.
const A_TREND: f64 = 0.9;
/// And one that is the most of a trend.
const MOST_OF_A_TREND: f64 = 0.5;

/// From a rank correlation to a verdict.
fn trend(correlation: f64) -> Verdict {
    match () {
        () if correlation >= A_TREND => Verdict::Held,
        () if correlation >= MOST_OF_A_TREND => Verdict::HeldPartly,
        () => Verdict::DidNotHold,
    }
}

/// Whether several things follow what they should, by their rank correlations with it: held if all do but a few
/// exceptions, partly if at least half do for the most part.
pub(super) fn all_follow(correlations: &[f64], exceptions: usize) -> (Verdict, String) {
    let from = |limit: f64| correlations.iter().filter(|&&correlation| correlation >= limit).count();
    let (firmly, mostly, all) = (from(A_TREND), from(MOST_OF_A_TREND), correlations.len());
    let verdict = match () {
        () if firmly > 0 && firmly + exceptions >= all => Verdict::Held,
        () if mostly > 0 && 2 * mostly >= all => Verdict::HeldPartly,
        () => Verdict::DidNotHold,
    };
    (verdict, format!("rank correlation of {A_TREND} for {firmly} of {all}, of {MOST_OF_A_TREND} for {mostly}"))
}

/// Checks that `y` rises with `x`.
pub(super) fn rises(says: impl Into<String>, x: &[f64], y: &[f64]) -> Check {
    follows(says, x, y, 1.0)
}

/// Checks that `y` falls with `x`.
pub(super) fn falls(says: impl Into<String>, x: &[f64], y: &[f64]) -> Check {
    follows(says, x, y, -1.0)
}

fn follows(says: impl Into<String>, x: &[f64], y: &[f64], direction: f64) -> Check {
    let correlation = rank_correlation(x, y);
    let ends = format!("{} → {}", short(y.first().copied()), short(y.last().copied()));
    Check::new(says, trend(direction * correlation), format!("{ends}, rank correlation {correlation:.2}"))
}

fn short(value: Option<f64>) -> String {
    value.map_or("–".into(), figure)
}

/// A number with three figures, as people write it.
pub(super) fn figure(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "–".into(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        size if size >= 0.0005 || size <= 0.0 => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_labels_of_equal_share_have_an_entropy_of_ln_2() {
        assert!((entropy([1, 2, 1, 2]) - 2f64.ln()).abs() < 1e-12);
        assert_eq!(entropy([7, 7, 7]), 0.0);
        assert_eq!(entropy::<u8>([]), 0.0);
    }

    #[test]
    fn scatter_is_no_mode() {
        let labels = labels_of_modes([(Some(3), 5), (Some(1), 9), (Some(3), 4)]);
        assert_eq!(labels, [Some(1), Some(3)]);
        assert!(!several_of_one(&labels));
        assert!(several_of_one(&labels_of_modes([(Some(3), 5), (Some(1), 9), (Some(3), 5)])));
    }

    #[test]
    fn ranks_correlate_as_in_the_textbook() {
        // Differences of ranks 0, 1, 1: ρ = 1 − 6 · 2 / (3 · 8) = 0.5.
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[10.0, 30.0, 20.0]) - 0.5).abs() < 1e-12);
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [1.5, 0.0, 1.5]);
        assert!(rank_correlation(&[1.0, 2.0], &[1.0, 1.0]).is_nan());
        let missing = rank_correlation(&[1.0, 2.0, 3.0], &[f64::NAN, 5.0, 4.0]);
        assert!((missing + 1.0).abs() < 1e-12, "what is missing has no rank");
    }

    #[test]
    fn several_things_follow_if_each_does() {
        assert_eq!(all_follow(&[1.0, 0.9], 0).0, Verdict::Held);
        assert_eq!(all_follow(&[1.0, 0.6, -0.2], 0).0, Verdict::HeldPartly);
        assert_eq!(all_follow(&[1.0, 1.0, -0.2], 1).0, Verdict::Held);
        assert_eq!(all_follow(&[1.0, -0.1, f64::NAN], 0).0, Verdict::DidNotHold);
        assert_eq!(all_follow(&[], 1).0, Verdict::DidNotHold);
        assert_eq!(all_follow(&[0.7], 0).1, "rank correlation of 0.9 for 0 of 1, of 0.5 for 1");
    }

    #[test]
    fn a_trend_is_one_if_the_order_is_nearly_the_same() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(rises("", &x, &[1.0, 2.0, 3.0, 5.0, 4.0]).verdict, Verdict::Held);
        assert_eq!(rises("", &x, &[2.0, 1.0, 4.0, 3.0, 3.5]).verdict, Verdict::HeldPartly);
        assert_eq!(falls("", &x, &[1.0, 2.0, 3.0, 4.0, 5.0]).verdict, Verdict::DidNotHold);
        assert_eq!(rises("", &x, &[1.0; 5]).verdict, Verdict::DidNotHold, "what never changes does not rise");
        assert_eq!(falls("", &x, &[0.5, 0.4, 0.3, 0.2, 0.1]).figures, "0.500 → 0.100, rank correlation -1.00");
    }

    #[test]
    fn means_leave_out_what_is_no_number() {
        assert_eq!(mean([1.0, f64::NAN, 3.0]), 2.0);
        assert!(mean([]).is_nan());
        assert_eq!(spread([3.0, 1.0, 2.0]), [1.0, 2.0, 3.0]);
    }
}
