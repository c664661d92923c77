//! What a mapper changes on average, as the generative model sees it.

use super::Encoded;
use super::encoded::{decoded, mean};
use crate::error::Result;
use crate::search::Models;

/// Means over some inputs, each one encoded row.
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalChange {
    /// Mean of the inputs x₀.
    pub inputs: Vec<f32>,
    /// Mean of the reconstructions μ_θ(z₀).
    pub before: Vec<f32>,
    /// Mean of the decoded μ_θ(z), where z is what the mapper makes of z₀.
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

    /// The mean input plus the mean change; details that the reconstruction loses stay as they are.
    pub fn changed_inputs(&self) -> Vec<f32> {
        let change = self.after.iter().zip(&self.before).map(|(after, before)| after - before);
        self.inputs.iter().zip(change).map(|(input, change)| input + change).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::toy::{Same, Sigmoid, rows};

    #[test]
    fn what_the_reconstruction_loses_is_no_change() {
        let half = Same { width: 2, scale: 0.5 };
        let models = Models::new(&half, &Sigmoid);
        let mut two = rows(&models, &[1.0, 2.0, 3.0, 6.0], 2, &[0, 1]);
        assert_eq!(two.z, [0.5, 1.0, 1.5, 3.0]);
        // The encoder has lost the second column.
        two.z = vec![0.5, 0.0, 1.5, 0.0];
        let change = GlobalChange::of(&models, &two, &[1.0, 0.25, 2.0, 0.25]).unwrap();
        assert_eq!(change, GlobalChange { inputs: vec![2.0, 4.0], before: vec![2.0, 0.0], after: vec![3.0, 0.5] });
        assert_eq!(change.changed_inputs(), [3.0, 4.5]);
    }
}
