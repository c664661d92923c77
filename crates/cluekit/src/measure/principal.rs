//! The plane in which some points are spread the most: their first two principal components.
//!
//! C = 1/n Σ (z − z̄)(z − z̄)ᵀ = V Λ Vᵀ; a point lies at ((z − z̄)·v₁, (z − z̄)·v₂), v₁ and v₂ the eigenvectors with the
//! greatest eigenvalues. Each has its largest component positive, so that the picture is the same every time.

use crate::linear::{eigen, mean_and_covariance};

/// Two directions, and how much of the spread they show.
#[derive(Clone, Debug, PartialEq)]
pub struct PrincipalPlane {
    mean: Vec<f64>,
    axes: [Vec<f64>; 2],
    /// Share of the variance along each direction; 0 where all points coincide.
    pub explained: [f64; 2],
}

impl PrincipalPlane {
    /// The plane of `points`, each `width` numbers; nothing without a point.
    pub fn of(points: &[f32], width: usize) -> Option<Self> {
        if points.len().checked_div(width)? == 0 {
            return None;
        }
        let (mean, covariance) = mean_and_covariance(points.chunks_exact(width), width);
        let mut components = eigen(covariance);
        let total: f64 = components.iter().map(|(value, _)| value.max(0.0)).sum();
        components.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let axis = |place: usize| components.get(place).map_or(vec![0.0; width], |(_, vector)| upright(vector));
        let share = |place: usize| match components.get(place) {
            Some((value, _)) if total > 0.0 => value.max(0.0) / total,
            _ => 0.0,
        };
        let (axes, explained) = ([axis(0), axis(1)], [share(0), share(1)]);
        Some(Self { mean, axes, explained })
    }

    /// Coordinates of a point in the plane.
    pub fn place(&self, point: &[f32]) -> [f64; 2] {
        let along = |axis: &Vec<f64>| {
            let away = point.iter().zip(&self.mean).map(|(&value, mean)| f64::from(value) - mean);
            away.zip(axis).map(|(away, axis)| away * axis).sum()
        };
        [along(&self.axes[0]), along(&self.axes[1])]
    }
}

/// A direction with its largest component positive.
fn upright(direction: &[f64]) -> Vec<f64> {
    let largest = direction.iter().fold(0.0_f64, |most, &v| if v.abs() > most.abs() + 1e-12 { v } else { most });
    direction.iter().map(|&v| if largest < 0.0 { -v } else { v }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::assert_close;
    use super::*;

    #[test]
    fn points_on_a_line_lie_on_the_first_axis() {
        // (0, 0), (3, 4) and (6, 8): the direction is (3, 4) / 5, and the steps are 5.
        let points = [0.0, 0.0, 3.0, 4.0, 6.0, 8.0];
        let plane = PrincipalPlane::of(&points, 2).unwrap();
        let places: Vec<[f64; 2]> = points.chunks_exact(2).map(|point| plane.place(point)).collect();
        for (place, expected) in places.iter().zip([-5.0, 0.0, 5.0]) {
            assert_close(place[0], expected, 1e-12);
            assert_close(place[1], 0.0, 1e-12);
        }
        assert_close(plane.explained[0], 1.0, 1e-12);
    }

    #[test]
    fn the_shares_of_a_cross_are_those_of_its_arms() {
        // Variances 16/2 along the third coordinate and 4/2 along the first: 8 of 10, and 2 of 10.
        let points = [2.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, -4.0];
        let plane = PrincipalPlane::of(&points, 3).unwrap();
        assert_close(plane.explained[0], 0.8, 1e-12);
        assert_close(plane.explained[1], 0.2, 1e-12);
        let place = plane.place(&[1.0, 7.0, 3.0]);
        assert_close(place[0], 3.0, 1e-12);
        assert_close(place[1], 1.0, 1e-12);
    }

    #[test]
    fn few_dimensions_and_no_spread_still_have_a_plane() {
        let line = PrincipalPlane::of(&[1.0, 3.0], 1).unwrap();
        assert_eq!((line.place(&[3.0]), line.explained), ([1.0, 0.0], [1.0, 0.0]));
        let point = PrincipalPlane::of(&[1.0, 2.0, 1.0, 2.0], 2).unwrap();
        assert_eq!((point.place(&[1.0, 2.0]), point.explained), ([0.0, 0.0], [0.0, 0.0]));
        assert_eq!(PrincipalPlane::of(&[], 2), None);
        assert_eq!(PrincipalPlane::of(&[], 0), None);
    }
}
