//! What Eq. 2 learns from.

use crate::amortise::encoded::mean;
use crate::amortise::nearest::Points;

/// What Eq. 2 learns from.
#[derive(Clone, Debug)]
pub(super) struct Examples {
    /// Codes of uncertain rows.
    pub z: Vec<f32>,
    /// Certain inputs.
    pub certain_x: Points,
    /// And their codes.
    pub certain_z: Vec<f32>,
    pub latent: usize,
}

impl Examples {
    /// The latent difference of means.
    pub fn difference(&self) -> Vec<f32> {
        let of = |codes: &[f32]| mean(codes.chunks_exact(self.latent), self.latent);
        difference(&of(&self.certain_z), &of(&self.z))
    }

    /// The mean way from an uncertain code to the nearest certain one.
    pub fn to_the_nearest(&self) -> Vec<f32> {
        let places = Points::new(&self.certain_z, self.latent).nearest(&self.z);
        let found = places.iter().map(|&at| &self.certain_z[at * self.latent..(at + 1) * self.latent]);
        let of = |codes: &[f32]| mean(codes.chunks_exact(self.latent), self.latent);
        difference(&mean(found, self.latent), &of(&self.z))
    }
}

pub(super) fn difference(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

pub(super) fn stacked<'a>(rows: impl Iterator<Item = &'a [f32]>) -> Vec<f32> {
    rows.flatten().copied().collect()
}

/// At most so many of `rows`, evenly spread over them.
pub(super) fn spread(rows: &[usize], most: usize) -> impl Iterator<Item = usize> + '_ {
    rows.iter().copied().step_by(rows.len().div_ceil(most).max(1))
}
