//! Average pairwise distance.
//!
//! D(p₁ … p_k) = 1 / (k choose 2) Σ_{i<j} d(pᵢ, pⱼ), d = ℓ2 or ℓ1.
//!
//! In the units of the space, without an upper bound. [Ley2022, Table 1]

use super::pairwise::{distance, pairs, pull_back};
use super::set::Points;

pub(super) fn average_pairwise_distance(points: &Points) -> f64 {
    pairs(points.len()).map(|(i, j)| distance(points, i, j)).sum::<f64>() / pair_count(points)
}

/// The average with its gradient.
pub(super) fn with_gradient(points: &Points) -> (f64, Vec<f64>) {
    let share = 1.0 / pair_count(points);
    (average_pairwise_distance(points), pull_back(points, |_, _| share))
}

fn pair_count(points: &Points) -> f64 {
    (points.len() * (points.len() - 1) / 2) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diversity::Set;

    #[test]
    fn a_triangle_has_the_mean_of_its_sides() {
        let points = Points::of(&Set { points: &[0.0, 0.0, 3.0, 0.0, 3.0, 4.0], width: 2, original: None });
        assert_eq!(average_pairwise_distance(&points), (3.0 + 4.0 + 5.0) / 3.0);
    }

    #[test]
    fn each_of_two_candidates_moves_straight_away_from_the_other() {
        let points = Points::of(&Set { points: &[0.0, 0.0, 3.0, 4.0], width: 2, original: None });
        let (value, gradient) = with_gradient(&points);
        assert_eq!(value, 5.0);
        assert!(gradient.iter().zip([-0.6, -0.8, 0.6, 0.8]).all(|(g, e)| (g - e).abs() < 1e-15));
    }
}
