//! From inputs to explanations by a search.

use super::{Explainer, ExplanationSet};
use crate::error::Result;
use crate::explanation::Explanation;
use crate::observer::Observer;
use crate::search::{Delta, Inputs, LatentBall, Search, SearchMethod};
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

    /// Explains inputs as a document: with the δ of the search, or with each radius of a sweep in turn.
    pub fn explain_all(
        &self,
        method: SearchMethod,
        search: &Search,
        radii: &[f32],
        inputs: &Inputs,
        seed: Seed,
        observer: &mut dyn Observer,
    ) -> Result<ExplanationSet> {
        let ball = |&radius: &f32| LatentBall::new(radius).map(Delta::Fixed);
        let sweep = radii.iter().map(ball).collect::<Result<Vec<_>>>()?;
        let deltas = if sweep.is_empty() { vec![search.delta] } else { sweep };
        let explanations = self.sweep(search, &deltas, inputs, seed, observer)?;
        observer.finished("searched", &Explanation::tally(&explanations));
        Ok(ExplanationSet::new(self, method.name(), search, seed, radii, explanations))
    }
}
