//! Clues that the model believes and judges doubt, because few features may change: with how many would all believe one?
//!
//! The search is repeated with more changes allowed, step by step, until its first clue convinces every judge.

use super::Explainer;
use crate::data::Schema;
use crate::error::{Remedy, Result};
use crate::explanation::{Advice, Clue, Explanation};
use crate::observer::Observer;
use crate::search::{Inputs, Search};
use crate::seed::Seed;

/// Inputs for which more changes are tried, at the most: each try is a search of its own.
const MOST_TRIED: usize = 8;

impl Explainer {
    /// Says of the first few inputs whose clue is doubted how many changes would convince every judge.
    pub(super) fn advise_doubted(
        &self,
        search: &Search,
        inputs: &Inputs,
        seed: Seed,
        observer: &mut dyn Observer,
        found: &mut [Explanation],
    ) -> Result<()> {
        let Some(schema) = &self.schema else { return Ok(()) };
        let Some(most_changed) = schema.constraints.most_changed else { return Ok(()) };
        let mut left: Vec<usize> =
            (0..found.len()).filter(|&at| first(&found[at]).is_some_and(is_doubted)).take(MOST_TRIED).collect();
        let again = Search { advised: false, ..search.clone() };
        for at in &left {
            found[*at].advice = Some(Advice::doubted(most_changed, None));
        }
        for constraints in schema.constraints.with_more_changes() {
            if left.is_empty() {
                break;
            }
            let looser = Schema { constraints, ..schema.clone() };
            let background = self.background(&again, seed)?;
            let models = self.models()?.with_schema(&looser);
            let tried = again.explain(&models, &background, &inputs.select(&left), seed, observer)?;
            let believed = |explanation: &Explanation| {
                first(explanation).filter(|clue| !is_doubted(clue)).map(|clue| clue.changes.len())
            };
            let mut doubted = Vec::new();
            for (at, explanation) in left.into_iter().zip(tried) {
                match believed(&explanation) {
                    Some(changes) => found[at].advice = Some(Advice::doubted(most_changed, Some(changes))),
                    None => doubted.push(at),
                }
            }
            left = doubted;
        }
        Ok(())
    }
}

/// The clue that is shown first.
fn first(explanation: &Explanation) -> Option<&Clue> {
    explanation.accepted().next().map(|(_, clue)| clue)
}

/// Whether a judge is unsure about a clue.
fn is_doubted(clue: &Clue) -> bool {
    clue.agreement.as_ref().is_some_and(|agreement| agreement.share < 1.0)
}

impl Advice {
    /// Advice for a clue that a judge doubts under a limit of changes, with the number of changes that convince all.
    fn doubted(most_changed: usize, changes: Option<usize>) -> Self {
        let remedies = changes.map(|changes| Remedy::set([("most_changed", changes)])).into_iter().collect();
        Self::Doubted { most_changed, changes, remedies }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DataDir, Request, load};
    use crate::model::{Predictive, Predictor};
    use crate::observer::Silent;
    use crate::search::{Juror, Jury, Portfolio};
    use crate::tensor::{Tensor, log_softmax};
    use crate::testing::toy::{Logistic, Same};
    use std::sync::Arc;

    /// Sure only where both columns lie away from 0: logits ± 4 min(|x1|, |x2|).
    struct Both;

    impl Predictor for Both {
        fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
            let column = |at| x.clone().narrow(1, at, 1).abs();
            let logit = column(0).min_pair(column(1)) * 4.0;
            let logits = Tensor::cat(vec![logit.clone(), logit * -1.0], 1);
            Ok(Predictive::Classes { log_probabilities: log_softmax(logits, 1).unsqueeze() })
        }
    }

    #[test]
    fn a_clue_that_a_judge_doubts_is_told_how_many_changes_convince_it() {
        let explain = |most_changed: Option<usize>| {
            let mut moons = load(&Request::new("moons"), None, &DataDir::locate(None)).unwrap();
            moons.schema.constraints.most_changed = most_changed;
            let both = || Juror::new("both", Arc::new(Both));
            let jury = Jury { asked: vec![both()], judges: vec![both()], threshold: 0.5 };
            let explainer = Explainer::new(Arc::new(Logistic), Arc::new(Same)).with_rows(moons).with_jury(Some(jury));
            let inputs = Inputs::new(vec![0.01, -0.01], 2).unwrap();
            let portfolio = Some(Portfolio { margin: 1.0, ..Portfolio::default() });
            let search = Search { threshold: 0.5, plausibility: false, portfolio, ..Search::clue() };
            explainer.explain(&search, &inputs, Seed(0), &mut Silent).unwrap().remove(0)
        };
        // With one change a column stays at 0.01, where the judge is as good as unsure.
        let limited = explain(Some(1));
        assert!(is_doubted(first(&limited).expect("the model believes one change")));
        let remedies = vec![Remedy::set([("most_changed", 2_usize)])];
        let advice = Advice::Doubted { most_changed: 1, changes: Some(2), remedies };
        assert_eq!(limited.advice, Some(advice));
        let free = explain(None);
        assert!(!is_doubted(first(&free).expect("a clue")) && free.advice.is_none());
    }
}
