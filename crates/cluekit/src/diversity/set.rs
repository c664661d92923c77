//! A set of candidates, all in one space: what a diversity is measured on.

use super::Norm;

/// The candidates of one input in x, z or y space.
#[derive(Clone, Copy, Debug)]
pub struct Set<'a> {
    /// The k candidates, one behind the other.
    pub points: &'a [f32],
    /// Number of coordinates of a candidate: features, latent dimensions or classes.
    pub width: usize,
    /// The explained input in the same space, from which coverage is counted; without it, the zero vector.
    pub original: Option<&'a [f32]>,
}

impl Set<'_> {
    /// The number k of candidates.
    pub fn len(&self) -> usize {
        self.points.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there are no candidates.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A set in double precision, as the formulas see it.
#[derive(Clone, Debug)]
pub(super) struct Points {
    pub coordinates: Vec<f64>,
    pub width: usize,
    pub original: Vec<f64>,
    /// How far apart two points are.
    pub norm: Norm,
}

impl Points {
    #[cfg(test)]
    pub fn of(set: &Set) -> Self {
        Self::by(set, Norm::L2)
    }

    pub fn by(set: &Set, norm: Norm) -> Self {
        let doubled = |values: &[f32]| values.iter().copied().map(f64::from).collect();
        let points = Self {
            coordinates: doubled(set.points),
            width: set.width,
            original: set.original.map_or_else(|| vec![0.0; set.width], doubled),
            norm,
        };
        debug_assert_eq!(points.len() * points.width, points.coordinates.len(), "every point has all its coordinates");
        debug_assert_eq!(points.original.len(), points.width, "the original lies in the space of the points");
        points
    }

    pub fn len(&self) -> usize {
        self.coordinates.len().checked_div(self.width).unwrap_or(0)
    }

    pub fn point(&self, index: usize) -> &[f64] {
        &self.coordinates[index * self.width..][..self.width]
    }

    /// One coordinate of every point.
    pub fn column(&self, coordinate: usize) -> impl Iterator<Item = f64> {
        self.coordinates.iter().skip(coordinate).step_by(self.width).copied()
    }

    /// The hard prediction of every point: its largest coordinate, the first of equals.
    pub fn labels(&self) -> impl Iterator<Item = usize> {
        self.coordinates.chunks_exact(self.width).map(|point| first_greatest(point.iter().copied()))
    }

    /// A gradient of nothing: one zero for each coordinate of each point.
    pub fn zeros(&self) -> Vec<f64> {
        vec![0.0; self.coordinates.len()]
    }
}

/// Where the greatest value stands, the first of equals.
pub(super) fn first_greatest(values: impl Iterator<Item = f64>) -> usize {
    let greater = |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
    values.enumerate().fold((0, f64::NEG_INFINITY), greater).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_two_make_half_as_many_candidates() {
        let set = Set { points: &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], width: 2, original: None };
        assert_eq!(set.len(), 3);
        assert_eq!(Points::of(&set).point(1), [3.0, 4.0]);
        assert_eq!(Points::of(&set).column(1).collect::<Vec<_>>(), [2.0, 4.0, 6.0]);
    }

    #[test]
    fn nothing_of_no_width_is_empty() {
        assert!(Set { points: &[], width: 0, original: None }.is_empty());
    }

    #[test]
    fn a_missing_original_is_the_zero_vector() {
        assert_eq!(Points::of(&Set { points: &[1.0, 2.0], width: 2, original: None }).original, [0.0, 0.0]);
    }

    #[test]
    fn a_label_is_the_first_of_the_largest() {
        let set = Set { points: &[0.4, 0.2, 0.4, 0.1, 0.1, 0.8], width: 3, original: None };
        assert_eq!(Points::of(&set).labels().collect::<Vec<_>>(), [0, 2]);
    }
}
