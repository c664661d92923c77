//! From inputs to explanations by a search.

use super::{Explainer, ExplanationSet};
use crate::error::Result;
use crate::explanation::Explanation;
use crate::observer::Observer;
use crate::search::{Delta, Inputs, LatentBall, Search, SearchMethod};
use crate::seed::Seed;

impl Explainer {
    /// Explains inputs by a search, with all that it may know of the training rows.
    ///
    /// ```
    /// # use cluekit::model::{Generative, Predictive, Predictor};
    /// # use cluekit::tensor::{Tensor, log_softmax};
    /// # struct Logistic;
    /// # impl Predictor for Logistic {
    /// #     fn predict(&self, x: &Tensor<2>) -> cluekit::Result<Predictive> {
    /// #         let first = x.clone().narrow(1, 0, 1);
    /// #         let logits = Tensor::cat(vec![first.clone() * -0.5, first * 0.5], 1);
    /// #         Ok(Predictive::Classes { log_probabilities: log_softmax(logits, 1).unsqueeze() })
    /// #     }
    /// # }
    /// # struct Same;
    /// # impl Generative for Same {
    /// #     fn latent_dim(&self) -> usize { 1 }
    /// #     fn encode(&self, x: &Tensor<2>) -> cluekit::Result<Tensor<2>> { Ok(x.clone()) }
    /// #     fn decode(&self, z: &Tensor<2>) -> cluekit::Result<Tensor<2>> { Ok(z.clone()) }
    /// # }
    /// use cluekit::observer::Silent;
    /// use cluekit::{Explainer, Inputs, Search, Seed};
    /// use std::sync::Arc;
    ///
    /// // p(1 | x) = σ(x₁): unsure by 0.58 nats at 1, by 0.19 nats at 3. CLUE moves x away from the border at 0.
    /// let explainer = Explainer::new(Arc::new(Logistic), Arc::new(Same));
    /// let inputs = Inputs::new(vec![1.0], 1)?;
    /// let explanations = explainer.explain(&Search::clue(), &inputs, Seed(0), &mut Silent)?;
    /// let (before, clue) = (&explanations[0].input, &explanations[0].clues[0]);
    /// assert!(before.uncertainty.total > 0.5 && clue.uncertainty.total < 0.3);
    /// assert!(clue.accepted && clue.x[0] > 2.0);
    /// # Ok::<(), cluekit::Error>(())
    /// ```
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
