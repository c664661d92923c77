//! `scaled`: μ_θ(z₀ + s θ), θ from Eq. 2 and the length s chosen for each input.

use super::{Functions, Saved, added, proposal};
use crate::amortise::translation::{Form, LatentMap, layout};
use crate::amortise::{Encoded, Map};
use crate::error::Result;
use crate::search::{Models, Price, Proposal};
use std::sync::Arc;

/// Lengths along a translation that `scaled` tries, as multiples of it; 0 is the reconstruction.
pub const LENGTHS: [f32; 8] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0];

pub(super) const FUNCTIONS: Functions = Functions {
    fit: |fit, plan, groups, observer| {
        let scaled = |map: LatentMap| -> Arc<dyn Map> { Arc::new(Scaled(map.parameters().values.clone())) };
        fit.by_equation_2(plan, groups, observer, Form::Translation, scaled)
    },
    saved: Saved::EachGroup {
        layout: |latent, _| layout(Form::Translation, latent),
        read: |numbers, _, _| Arc::new(Scaled(numbers.to_vec())),
    },
};

/// A map by one translation in several lengths, those of [`LENGTHS`].
#[derive(Clone, Debug)]
pub struct Scaled(
    /// The translation θ of length 1.
    pub Vec<f32>,
);

impl Map for Scaled {
    fn propose(&self, _: &Models, rows: &Encoded, name: &str, _: &Price) -> Result<Vec<Vec<Proposal>>> {
        let lengths = |z: &[f32]| LENGTHS.iter().map(|s| proposal(&added(z, &self.0, *s), name)).collect();
        Ok(rows.z.chunks_exact(rows.latent).map(lengths).collect())
    }

    fn numbers(&self) -> Vec<f32> {
        self.0.clone()
    }

    fn translation(&self) -> Option<&[f32]> {
        Some(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::kind::codes_of;
    use crate::amortise::toy::{Same, Sigmoid};

    #[test]
    fn every_length_of_a_translation_is_proposed() {
        let same = Same::new(1);
        let models = Models::new(&same, &Sigmoid);
        let lengths = [[1.0], [1.5], [2.0], [2.5], [3.0], [4.0], [5.0], [7.0]];
        assert_eq!(codes_of(&Scaled(vec![2.0]), &models, &[1.0], 1), [lengths]);
        assert_eq!(LENGTHS.len(), lengths.len());
    }
}
