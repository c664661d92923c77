//! Entropy of labels: how evenly the candidates fall into the classes.
//!
//! D(y₁ … y_k) = −1/log c' Σⱼ pⱼ log pⱼ,
//!
//! - hard: pⱼ is the share of candidates whose most probable class is j. It counts, so it has no gradient.
//! - soft: pⱼ = 1/k Σᵢ (yᵢ)ⱼ is the mean prediction. The same number where every prediction is certain.
//!
//! 0 when all are of one class, 1 when every class has equally many. Unlike distinct labels it goes on to matter once
//! all classes are found. [Ley2022, Table 1]; the soft version is ours.

use super::set::Points;
use crate::uncertainty::LEAST_PROBABILITY;

pub(super) fn label_entropy(points: &Points) -> f64 {
    let mut counts = vec![0.0; points.width];
    points.labels().for_each(|label| counts[label] += 1.0);
    normalised_entropy(counts.into_iter().map(|count: f64| count / points.len() as f64), points.width)
}

/// The soft version with its gradient, ∂D/∂(yᵢ)ⱼ = −(log pⱼ + 1) / (k log c').
pub(super) fn soft_label_entropy(points: &Points) -> (f64, Vec<f64>) {
    let count = points.len() as f64;
    let mean: Vec<f64> = (0..points.width).map(|class| points.column(class).sum::<f64>() / count).collect();
    let value = normalised_entropy(mean.iter().copied(), points.width);
    if points.width < 2 {
        return (value, points.zeros());
    }
    let slope = |&p: &f64| -(clamped_log(p) + if p > LEAST_PROBABILITY { 1.0 } else { 0.0 });
    let scale = 1.0 / (count * (points.width as f64).ln());
    let gradient = mean.iter().map(|p| scale * slope(p)).cycle().take(points.coordinates.len()).collect();
    (value, gradient)
}

/// −1/log c' Σ p log p; 0 for the one distribution over a single class.
fn normalised_entropy(probabilities: impl Iterator<Item = f64>, classes: usize) -> f64 {
    if classes < 2 {
        return 0.0;
    }
    let negative: f64 = probabilities.map(|p| p * clamped_log(p)).sum();
    ((0.0 - negative) / (classes as f64).ln()).clamp(0.0, 1.0) // rounding may leave the bounds
}

fn clamped_log(probability: f64) -> f64 {
    probability.max(LEAST_PROBABILITY).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diversity::Set;

    fn two_classes(points: &[f32]) -> Points {
        Points::of(&Set { points, width: 2, original: None })
    }

    #[test]
    fn equally_many_of_each_class_have_one() {
        assert_eq!(label_entropy(&two_classes(&[0.9, 0.1, 0.4, 0.6])), 1.0);
    }

    #[test]
    fn one_class_alone_has_none() {
        let points = two_classes(&[0.9, 0.1, 0.6, 0.4]);
        assert_eq!(label_entropy(&points).to_bits(), 0f64.to_bits(), "and no minus sign");
    }

    #[test]
    fn three_to_one_have_the_entropy_of_a_quarter() {
        // −¾ log₂ ¾ − ¼ log₂ ¼ = 2 − ¾ log₂ 3.
        let points = two_classes(&[0.9, 0.1, 0.6, 0.4, 0.8, 0.2, 0.1, 0.9]);
        assert!((label_entropy(&points) - (2.0 - 0.75 * 3f64.log2())).abs() < 1e-15);
    }

    #[test]
    fn the_mean_prediction_is_what_the_soft_version_sees() {
        // Means ¾ and ¼: slopes −(ln ¾ + 1)/(2 ln 2) and −(ln ¼ + 1)/(2 ln 2) for both candidates.
        let (value, gradient) = soft_label_entropy(&two_classes(&[1.0, 0.0, 0.5, 0.5]));
        assert!((value - (2.0 - 0.75 * 3f64.log2())).abs() < 1e-15);
        let slope = |p: f64| -(p.ln() + 1.0) / (2.0 * 2f64.ln());
        let expected = [slope(0.75), slope(0.25), slope(0.75), slope(0.25)];
        assert!(gradient.iter().zip(expected).all(|(g, e)| (g - e).abs() < 1e-15), "{gradient:?}");
    }

    #[test]
    fn soft_and_hard_agree_where_predictions_are_certain() {
        let points = two_classes(&[1.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
        assert!((soft_label_entropy(&points).0 - label_entropy(&points)).abs() < 1e-15);
    }

    #[test]
    fn a_class_that_nobody_predicts_draws_with_a_finite_slope() {
        let (_, gradient) = soft_label_entropy(&two_classes(&[1.0, 0.0, 1.0, 0.0]));
        assert!(gradient.iter().all(|slope| slope.is_finite()));
        assert!(gradient[1] > 10.0 && gradient[0] < 0.0);
    }

    #[test]
    fn a_single_class_has_no_entropy() {
        let points = Points::of(&Set { points: &[1.0, 1.0], width: 1, original: None });
        assert_eq!(label_entropy(&points), 0.0);
        assert_eq!(soft_label_entropy(&points), (0.0, vec![0.0, 0.0]));
    }
}
