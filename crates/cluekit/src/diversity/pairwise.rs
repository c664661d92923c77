//! Euclidean distances between the points of a set, and gradients that come through them.
//!
//! d_ij = ‖pᵢ − pⱼ‖₂,  ∂d_ij/∂pᵢ = (pᵢ − pⱼ) / d_ij = −∂d_ij/∂pⱼ, taken as 0 where the points coincide: no direction
//! is better than its opposite there.

use super::set::Points;

/// d_ij.
pub(super) fn distance(points: &Points, i: usize, j: usize) -> f64 {
    squared_distance(points.point(i), points.point(j)).sqrt()
}

/// Summed in eight lanes that do not wait for each other: an image has hundreds of coordinates.
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let ((a_eights, a_rest), (b_eights, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut lanes = [0.0; 8];
    for (a, b) in a_eights.iter().zip(b_eights) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += (a - b).powi(2);
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| (a - b).powi(2));
    lanes.into_iter().chain(rest).sum()
}

/// Every pair i < j of `count` points.
pub(super) fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |i| (i + 1..count).map(move |j| (i, j)))
}

/// ∂D/∂p from `slope(i, j)` = ∂D/∂d_ij of every pair i < j.
pub(super) fn pull_back(points: &Points, slope: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let width = points.width;
    let mut gradient = points.zeros();
    for (i, j) in pairs(points.len()) {
        let distance = distance(points, i, j);
        if distance > 0.0 {
            let scale = slope(i, j) / distance;
            let (before, from) = gradient.split_at_mut(j * width);
            let slopes = before[i * width..].iter_mut().zip(from);
            for ((at_i, at_j), (a, b)) in slopes.zip(points.point(i).iter().zip(points.point(j))) {
                *at_i += scale * (a - b);
                *at_j -= scale * (a - b);
            }
        }
    }
    gradient
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diversity::Set;

    #[test]
    fn three_and_four_are_five_apart() {
        let points = Points::of(&Set { points: &[1.0, 1.0, 4.0, 5.0], width: 2, original: None });
        assert_eq!(distance(&points, 0, 1), 5.0);
        assert_eq!(pull_back(&points, |_, _| 5.0), [-3.0, -4.0, 3.0, 4.0]);
    }

    #[test]
    fn lanes_and_the_rest_add_up() {
        // 1² + 2² + … + 19² = 19 · 20 · 39 / 6.
        let numbers: Vec<f64> = (1..20).map(f64::from).collect();
        assert_eq!(squared_distance(&numbers, &[0.0; 19]), 2470.0);
    }

    #[test]
    fn three_points_make_three_pairs() {
        assert_eq!(pairs(3).collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 2)]);
    }

    #[test]
    fn points_that_coincide_pull_nowhere() {
        let points = Points::of(&Set { points: &[1.0, 1.0, 1.0, 1.0], width: 2, original: None });
        assert_eq!(pull_back(&points, |_, _| 5.0), [0.0; 4]);
    }
}
