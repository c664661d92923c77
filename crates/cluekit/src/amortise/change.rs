//! What a mapper changes on average, as the generative model sees it.

use super::Encoded;
use super::encoded::{decoded, mean};
use crate::error::Result;
use crate::search::Models;

/// Means over some inputs, each one encoded row.
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalChange {
    /// Of the inputs x₀.
    pub inputs: Vec<f32>,
    /// Of their reconstructions μ_θ(z₀).
    pub before: Vec<f32>,
    /// Of μ_θ(z), z what the mapper makes of z₀.
    pub after: Vec<f32>,
}

impl GlobalChange {
    /// The change from the codes of `rows` to the codes `z`, `[rows, latent]`.
    pub fn of(models: &Models, rows: &Encoded, z: &[f32]) -> Result<Self> {
        let width = rows.width;
        let over = |x: &[f32]| mean(x.chunks_exact(width), width);
        Ok(Self {
            inputs: over(&rows.x),
            before: over(&decoded(models, &rows.z, width)?),
            after: over(&decoded(models, z, width)?),
        })
    }

    /// The mean input with what changes added: the input's own details do not count as a change.
    pub fn changed_inputs(&self) -> Vec<f32> {
        let change = self.after.iter().zip(&self.before).map(|(after, before)| after - before);
        self.inputs.iter().zip(change).map(|(input, change)| input + change).collect()
    }
}
