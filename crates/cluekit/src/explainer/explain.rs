//! From inputs to explanations by a search.

use super::Explainer;
use crate::error::Result;
use crate::explanation::Explanation;
use crate::observer::Observer;
use crate::search::{Delta, Inputs, Search};
use crate::seed::Seed;

impl Explainer {
    /// Explains inputs by a search, with all that it may know of the training rows.
    pub fn explain(
        &self,
        search: &Search,
        inputs: &Inputs,
        seed: Seed,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Explanation>> {
        self.sweep(search, &[search.delta], inputs, seed, observer)
    }

    /// Explains inputs with each δ in turn; the clues of all of them make one explanation of an input.
    pub fn sweep(
        &self,
        search: &Search,
        deltas: &[Delta],
        inputs: &Inputs,
        seed: Seed,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Explanation>> {
        search.validate()?;
        let background = self.background(search, seed)?;
        search.sweep(deltas, &self.models()?, &background, inputs, seed, observer)
    }
}
