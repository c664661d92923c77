//! What a search has to know of one input before it begins.

use super::ball::LatentBall;
use super::certain::Nearest;
use crate::data::Bounds;
use crate::diversity::Space;

/// An input x₀ with its code, its prediction and its limits.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// Its number, which also addresses its random streams.
    pub index: usize,
    /// x₀.
    pub x: Vec<f32>,
    /// z₀ = μ_φ(z|x₀).
    pub z: Vec<f32>,
    /// μ_θ(x|z₀).
    pub decoded: Vec<f32>,
    /// The mean prediction f(x₀): probabilities, or a scaled value.
    pub prediction: Vec<f32>,
    /// Between which values each column stays; nothing where nothing is known of the columns.
    pub bounds: Option<Bounds>,
    /// Where the candidates stay.
    pub ball: LatentBall,
    /// The nearest certain training point of each class, where they were looked for.
    pub nearest: Vec<Option<Nearest>>,
}

impl Origin {
    /// The input as one space sees it; a prediction has nothing to start from.
    pub fn point(&self, space: Space) -> Option<&[f32]> {
        match space {
            Space::X => Some(&self.x),
            Space::Z => Some(&self.z),
            Space::Y => None,
        }
    }
}
