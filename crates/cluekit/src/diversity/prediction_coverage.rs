//! Prediction coverage: how sure of each class the surest candidate is.
//!
//! D(y₁ … y_k) = 1/c' Σᵢ maxⱼ (yⱼ)ᵢ.
//!
//! 1 when every class has a candidate that is certain of it. [Ley2022, Table 1]
//!
//! The gradient belongs to the surest candidate of each class, the first of equals.

use super::set::{Points, first_greatest};

/// Prediction coverage with its gradient.
pub(super) fn prediction_coverage(points: &Points) -> (f64, Vec<f64>) {
    let share = 1.0 / points.width as f64;
    let mut total = 0.0;
    let mut gradient = points.zeros();
    for class in 0..points.width {
        let surest = first_greatest(points.column(class));
        total += points.point(surest)[class];
        gradient[surest * points.width + class] = share;
    }
    (total * share, gradient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diversity::Set;

    #[test]
    fn the_surest_candidate_of_each_class_counts() {
        let set = Set { points: &[0.75, 0.25, 0.0, 0.5, 0.25, 0.25], width: 3, original: None };
        let (value, gradient) = prediction_coverage(&Points::of(&set));
        let third = 1.0 / 3.0;
        assert!((value - (0.75 + 0.25 + 0.25) / 3.0).abs() < 1e-15);
        assert_eq!(gradient, [third, third, 0.0, 0.0, 0.0, third]);
    }

    #[test]
    fn a_certain_candidate_for_every_class_covers_all() {
        let set = Set { points: &[1.0, 0.0, 0.0, 1.0], width: 2, original: None };
        assert_eq!(prediction_coverage(&Points::of(&set)).0, 1.0);
    }
}
