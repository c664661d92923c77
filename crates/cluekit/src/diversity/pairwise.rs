//! Distances between the points of a set, and gradients that come through them.
//!
//! | norm | d_ij | ∂d_ij/∂pᵢ = −∂d_ij/∂pⱼ |
//! |---|---|---|
//! | `l2` | ‖pᵢ − pⱼ‖₂ | (pᵢ − pⱼ) / d_ij, taken as 0 where the points coincide |
//! | `l1` | ‖pᵢ − pⱼ‖₁ | sign(pᵢ − pⱼ), coordinate by coordinate, 0 where they are equal |
//!
//! No direction is better than its opposite where points meet.

use super::Norm;
use super::set::Points;

/// d_ij.
pub(super) fn distance(points: &Points, i: usize, j: usize) -> f64 {
    match points.norm {
        Norm::L2 => summed(points.point(i), points.point(j), |difference| difference.powi(2)).sqrt(),
        Norm::L1 => summed(points.point(i), points.point(j), f64::abs),
    }
}

/// The sum over coordinates of a function of their differences, in eight lanes that do not wait for each other: an image
/// has hundreds of coordinates.
fn summed(a: &[f64], b: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let ((a_eights, a_rest), (b_eights, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut lanes = [0.0; 8];
    for (a, b) in a_eights.iter().zip(b_eights) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += of(a - b);
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| of(a - b));
    lanes.into_iter().chain(rest).sum()
}

/// Every pair i < j of `count` points.
pub(super) fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |i| (i + 1..count).map(move |j| (i, j)))
}

/// ∂D/∂p from `slope(i, j)` = ∂D/∂d_ij of every pair i < j.
pub(super) fn pull_back(points: &Points, slope: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut gradient = points.zeros();
    for (i, j) in pairs(points.len()) {
        let distance = distance(points, i, j);
        if distance > 0.0 {
            let slope = slope(i, j);
            match points.norm {
                Norm::L2 => {
                    let scale = slope / distance;
                    pull(&mut gradient, points, (i, j), |difference| scale * difference);
                }
                Norm::L1 => pull(&mut gradient, points, (i, j), |difference| slope * sign(difference)),
            }
        }
    }
    gradient
}

/// Adds a function of the differences of two points to the gradient of one, and takes it from that of the other.
fn pull(gradient: &mut [f64], points: &Points, (i, j): (usize, usize), of: impl Fn(f64) -> f64) {
    let width = points.width;
    let (before, from) = gradient.split_at_mut(j * width);
    let slopes = before[i * width..].iter_mut().zip(from);
    for ((at_i, at_j), (a, b)) in slopes.zip(points.point(i).iter().zip(points.point(j))) {
        let by = of(a - b);
        *at_i += by;
        *at_j -= by;
    }
}

/// 1, −1, or 0 for 0.
pub(crate) fn sign(value: f64) -> f64 {
    if value.abs() > 0.0 { value.signum() } else { 0.0 }
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
    fn three_and_four_are_seven_apart_by_their_sum() {
        // The third coordinate is equal, and pulls nowhere.
        let set = Set { points: &[1.0, 5.0, 2.0, 4.0, 1.0, 2.0], width: 3, original: None };
        let points = Points::by(&set, Norm::L1);
        assert_eq!(distance(&points, 0, 1), 7.0);
        assert_eq!(pull_back(&points, |_, _| 5.0), [-5.0, 5.0, 0.0, 5.0, -5.0, 0.0]);
    }

    #[test]
    fn lanes_and_the_rest_add_up() {
        // 1² + 2² + … + 19² = 19 · 20 · 39 / 6.
        let numbers: Vec<f64> = (1..20).map(f64::from).collect();
        assert_eq!(summed(&numbers, &[0.0; 19], |d| d * d), 2470.0);
        assert_eq!(summed(&numbers, &[20.0; 19], f64::abs), 190.0);
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
