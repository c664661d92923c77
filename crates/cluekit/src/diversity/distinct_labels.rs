//! Distinct labels: the share of classes that some candidate belongs to.
//!
//! - Hard: D(y₁ … y_k) = 1/c' Σⱼ 1[∃ i : yᵢ = j], where yᵢ is the most probable class. It counts, so it has no gradient.
//! - Soft: D(y₁ … y_k) = 1/c' Σⱼ (1 − Πᵢ (1 − (yᵢ)ⱼ)), the share that is expected if each candidate draws its label
//!   from its own prediction. The same number where every prediction is certain.
//!
//! [Ley2022, Table 1]; the soft version is ours.

use super::set::Points;

pub(super) fn distinct_labels(points: &Points) -> f64 {
    let mut found = vec![false; points.width];
    points.labels().for_each(|label| found[label] = true);
    found.iter().filter(|&&found| found).count() as f64 / points.width as f64
}

/// The soft version with its gradient, ∂D/∂(yᵢ)ⱼ = 1/c' Π_{l≠i} (1 − (y_l)ⱼ).
pub(super) fn soft_distinct_labels(points: &Points) -> (f64, Vec<f64>) {
    let share = 1.0 / points.width as f64;
    let mut total = 0.0;
    let mut gradient = points.zeros();
    for class in 0..points.width {
        let missed: Vec<f64> = points.column(class).map(|probability| 1.0 - probability).collect();
        total += 1.0 - missed.iter().product::<f64>();
        for (candidate, others_missed) in products_of_others(&missed).into_iter().enumerate() {
            gradient[candidate * points.width + class] = share * others_missed;
        }
    }
    (total * share, gradient)
}

/// For each factor the product of all others, without dividing: a factor may be 0.
fn products_of_others(factors: &[f64]) -> Vec<f64> {
    let mut products = vec![1.0; factors.len()];
    let (mut before, mut after) = (1.0, 1.0);
    for i in 0..factors.len() {
        let mirrored = factors.len() - 1 - i;
        products[i] *= before;
        products[mirrored] *= after;
        before *= factors[i];
        after *= factors[mirrored];
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diversity::Set;

    fn three_classes(points: &[f32]) -> Points {
        Points::of(&Set { points, width: 3, original: None })
    }

    #[test]
    fn two_labels_of_three_are_two_thirds() {
        let points = three_classes(&[0.8, 0.1, 0.1, 0.7, 0.2, 0.1, 0.2, 0.2, 0.6]);
        assert_eq!(distinct_labels(&points), 2.0 / 3.0);
    }

    #[test]
    fn soft_labels_are_those_expected_from_draws() {
        // Found with probability 1 − ½·½ = ¾, 1 − ½·¾ = ⅝ and 1 − 1·¾ = ¼.
        let (value, gradient) = soft_distinct_labels(&three_classes(&[0.5, 0.5, 0.0, 0.5, 0.25, 0.25]));
        assert!((value - (0.75 + 0.625 + 0.25) / 3.0).abs() < 1e-15);
        let expected = [0.5, 0.75, 0.75, 0.5, 0.5, 1.0].map(|missed| missed / 3.0);
        assert!(gradient.iter().zip(expected).all(|(g, e)| (g - e).abs() < 1e-15), "{gradient:?}");
    }

    #[test]
    fn soft_and_hard_agree_where_predictions_are_certain() {
        let points = three_classes(&[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
        assert_eq!(soft_distinct_labels(&points).0, distinct_labels(&points));
    }

    #[test]
    fn the_only_certain_candidate_keeps_its_slope() {
        // The others have none: their class is found whatever they say.
        assert_eq!(products_of_others(&[0.0, 0.5, 0.25]), [0.125, 0.0, 0.0]);
        assert_eq!(products_of_others(&[0.0, 0.0, 0.25]), [0.0, 0.0, 0.0]);
    }
}
