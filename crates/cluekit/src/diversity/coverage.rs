//! Coverage: how far the set reaches from the original, up and down, in each feature.
//!
//! - As meant: D(p₁ … p_k) = 1/d' Σᵢ (maxⱼ (pⱼ − p₀)ᵢ⁺ + maxⱼ (p₀ − pⱼ)ᵢ⁺), with a⁺ = max(a, 0).
//! - As printed: the same without the positive parts. Then p₀ cancels, and what is left is the mean range of the set,
//!   1/d' Σᵢ (maxⱼ (pⱼ)ᵢ − minⱼ (pⱼ)ᵢ).
//!
//! The paper's text and picture speak of positive and negative changes from the original; the two agree where the
//! original lies within the set's range. [Ley2022, Table 1, App. C]
//!
//! The gradient belongs to the point that reaches furthest, the first of equals.

use super::set::{Points, first_greatest};

/// Coverage as meant, with its gradient.
pub(super) fn coverage(points: &Points) -> (f64, Vec<f64>) {
    over_features(points, |reach| reach > 0.0)
}

/// Coverage as printed, with its gradient.
pub(super) fn range_coverage(points: &Points) -> (f64, Vec<f64>) {
    over_features(points, |_| true)
}

/// The greatest coverage of points whose features lie between `least` and `greatest`: D_max = (S₊ − S₋) / d'.
///
/// S₊ and S₋ are the sums of the features' greatest and least values. Dividing coverage by D_max brings it into
/// \[0, 1\], provided that the original lies within the same bounds. [Ley2022, App. C]
pub fn coverage_limit(least: &[f64], greatest: &[f64]) -> f64 {
    let total: f64 = least.iter().zip(greatest).map(|(least, greatest)| greatest - least).sum();
    total / least.len().max(1) as f64
}

/// The mean over features of what the furthest points reach upwards and downwards, where that `counts`.
fn over_features(points: &Points, counts: impl Fn(f64) -> bool) -> (f64, Vec<f64>) {
    let share = 1.0 / points.width as f64;
    let mut total = 0.0;
    let mut gradient = points.zeros();
    for (feature, original) in points.original.iter().enumerate() {
        for sign in [1.0, -1.0] {
            let furthest = first_greatest(points.column(feature).map(|value| sign * value));
            let reach = sign * (points.point(furthest)[feature] - original);
            if counts(reach) {
                total += reach;
                gradient[furthest * points.width + feature] += sign * share;
            }
        }
    }
    (total * share, gradient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diversity::Set;

    /// Three candidates of two features around (1, 1).
    fn around_one() -> Points {
        Points::of(&Set { points: &[0.0, 2.0, 3.0, 4.0, 1.0, 4.0], width: 2, original: Some(&[1.0, 1.0]) })
    }

    #[test]
    fn coverage_counts_changes_from_the_original() {
        // First feature: up 3 − 1, down 1 − 0. Second: up 4 − 1, and nobody goes down.
        let (value, gradient) = coverage(&around_one());
        assert_eq!(value, (2.0 + 1.0 + 3.0 + 0.0) / 2.0);
        assert_eq!(gradient, [-0.5, 0.0, 0.5, 0.5, 0.0, 0.0]);
    }

    #[test]
    fn range_coverage_is_the_mean_range_of_the_set() {
        let (value, gradient) = range_coverage(&around_one());
        assert_eq!(value, ((3.0 - 0.0) + (4.0 - 2.0)) / 2.0);
        assert_eq!(gradient, [-0.5, -0.5, 0.5, 0.5, 0.0, 0.0]);
    }

    #[test]
    fn range_coverage_does_not_depend_on_the_original() {
        let elsewhere = Points { original: vec![-7.0, 70.0], ..around_one() };
        assert!((range_coverage(&elsewhere).0 - range_coverage(&around_one()).0).abs() < 1e-12);
    }

    #[test]
    fn copies_of_the_original_cover_nothing() {
        let points = Points::of(&Set { points: &[2.0, 5.0, 2.0, 5.0], width: 2, original: Some(&[2.0, 5.0]) });
        for (value, gradient) in [coverage(&points), range_coverage(&points)] {
            assert_eq!(value, 0.0);
            assert_eq!(gradient, [0.0; 4]);
        }
    }

    #[test]
    fn a_black_and_a_white_image_reach_the_limit() {
        let images = [[0f32; 784], [1f32; 784]].concat();
        let points = Points::of(&Set { points: &images, width: 784, original: Some(&[0.25; 784]) });
        let limit = coverage_limit(&[0.0; 784], &[1.0; 784]);
        assert_eq!(limit, 1.0);
        assert!((coverage(&points).0 - limit).abs() < 1e-12);
    }

    #[test]
    fn the_limit_is_the_mean_of_the_ranges() {
        assert_eq!(coverage_limit(&[0.0, -1.0], &[1.0, 4.0]), 3.0);
    }
}
