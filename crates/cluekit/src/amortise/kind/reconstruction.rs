//! `reconstruction`: μ_θ(z₀), nothing is changed. Who does not beat it has learned nothing.

use super::{Functions, Learned, Saved, one_each};
use crate::amortise::{Encoded, Map};
use crate::error::Result;
use crate::search::{Models, Price, Proposal};

pub(super) const FUNCTIONS: Functions = Functions {
    fit: |_, _, groups, _| Ok(groups.iter().map(|_| Learned::plain(Reconstruction)).collect()),
    saved: Saved::Never,
};

/// A map that keeps z₀ as it is.
#[derive(Clone, Copy, Debug)]
pub struct Reconstruction;

impl Map for Reconstruction {
    fn propose(&self, _: &Models, rows: &Encoded, name: &str, _: &Price) -> Result<Vec<Vec<Proposal>>> {
        Ok(one_each(&rows.z, rows.latent, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::kind::codes_of;
    use crate::amortise::toy::{Same, Sigmoid};

    #[test]
    fn a_reconstruction_changes_nothing() {
        let same = Same { width: 1, scale: 2.0 };
        let models = Models::new(&same, &Sigmoid);
        assert_eq!(codes_of(&Reconstruction, &models, &[3.0, -1.0], 1), [[[6.0]], [[-2.0]]]);
    }
}
