//! From inputs to explanations by a search.

use super::{Explainer, ExplanationSet};
use crate::error::Result;
use crate::explanation::Explanation;
use crate::observer::Observer;
use crate::search::{Delta, InitScheme, Inputs, LatentBall, Portfolio, Scan, Search, SearchMethod, Starts};
use crate::seed::Seed;

/// How many times as far as the automatic ball inputs without a clue are searched, one after another.
const TIMES: [u32; 3] = [2, 8, 32];
/// How many times as many steps a search in a wider ball takes.
const LONGER: usize = 4;

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
        let mut found = self.sweep(search, &[search.delta], inputs, seed, observer)?;
        let kept_to = matches!(search.delta, Delta::Fixed(ball) if ball.bound().is_some());
        let has_rows = self.has_rows();
        // What a portfolio alone does not find from all training rows, it does not find from farther away either.
        let alone = search.portfolio_is_enough(&self.models()?, has_rows);
        if search.portfolio.is_some() && !kept_to && has_rows && !alone {
            self.go_farther(search, inputs, seed, observer, &mut found)?;
        }
        if search.portfolio.is_some() && search.advised {
            self.advise_doubted(search, inputs, seed, observer, &mut found)?;
        }
        Ok(found)
    }

    /// Searches again for inputs without a clue: in balls that grow until they hold one, from the paths to certain training
    /// rows.
    fn go_farther(
        &self,
        search: &Search,
        inputs: &Inputs,
        seed: Seed,
        observer: &mut dyn Observer,
        found: &mut [Explanation],
    ) -> Result<()> {
        for times in TIMES {
            let left: Vec<usize> = (0..found.len()).filter(|&at| found[at].accepted().next().is_none()).collect();
            if left.is_empty() {
                break;
            }
            let starts = Starts { schemes: vec![InitScheme::NearestPath], radius: None, ..search.starts.clone() };
            let farther = Search { starts, advised: false, ..wider(search, times) };
            let again = self.sweep(&farther, &[farther.delta], &inputs.select(&left), seed, observer)?;
            let held = |explanation: &Explanation| explanation.accepted().next().is_some();
            let new = left.into_iter().zip(again).filter(|(_, explanation)| held(explanation));
            new.for_each(|(at, explanation)| found[at] = explanation);
        }
        Ok(())
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
        if inputs.is_empty() {
            return Ok(vec![]);
        }
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
        let explanations = match sweep.is_empty() {
            true => self.explain(search, inputs, seed, observer)?,
            false => self.sweep(search, &sweep, inputs, seed, observer)?,
        };
        observer.finished("searched", &Explanation::tally(&explanations));
        Ok(ExplanationSet::new(self, method.name(), search, seed, radii, explanations))
    }
}

/// The search for inputs without a clue in their automatic ball: farther, and longer. What changes from the input alone
/// could do has been tried by then.
pub(super) fn wider(search: &Search, times: u32) -> Search {
    let mut wider = Search { delta: Delta::Wider(times), ..search.clone() };
    wider.portfolio = wider.portfolio.map(|portfolio| Portfolio { scan: Scan::Off, ..portfolio });
    wider.convergence.max_steps = wider.convergence.max_steps.saturating_mul(LONGER);
    wider
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::{LearnFrom, MapperKind, MapperPlan, Scheme};
    use crate::data::{DataDir, Request, load};
    use crate::explainer::{AuditSettings, Audited, CostSettings, GroupSettings, Split};
    use crate::model::{Boosted, BoostedPlan};
    use crate::observer::Silent;
    use crate::search::SearchSettings;
    use crate::testing::toy::{Logistic, Same};
    use crate::uncertainty::Uncertainty;
    use std::sync::Arc;

    /// Boosted trees on the two moons, which only answer, without a generative model.
    fn trees() -> Explainer {
        let moons = load(&Request::new("moons"), None, &DataDir::locate(None)).unwrap();
        let plan = BoostedPlan { members: 2, rounds: 30, ..BoostedPlan::default() };
        let trees = Boosted::fit(&plan, &moons.train, &moons.schema.target.task, Seed(0), &|| Ok(())).unwrap();
        Explainer::of(Arc::new(trees)).with_rows(moons)
    }

    #[test]
    fn trees_without_a_generative_model_are_explained_in_the_columns_of_their_table() {
        let explainer = trees();
        let ranking = explainer.rank(Split::Test, Uncertainty::Total, 4).unwrap();
        let rows: Vec<usize> = ranking.inputs.iter().map(|ranked| ranked.index).collect();
        let inputs = explainer.inputs(Split::Test, &rows).unwrap();
        let threshold = explainer.threshold(Uncertainty::Total).unwrap();
        for method in SearchMethod::ALL {
            for only_paper in [false, true] {
                let settings = SearchSettings {
                    only_paper,
                    threshold: Some(threshold),
                    count: (method != SearchMethod::Clue).then_some(3),
                    delta: (method != SearchMethod::Clue && only_paper).then(|| "1".parse().unwrap()),
                    ..SearchSettings::default()
                };
                let search = settings.search(method, explainer.classes()).unwrap();
                let found = explainer.explain(&search, &inputs, Seed(0), &mut Silent).unwrap();
                for explanation in &found {
                    let what = format!("{method}, only paper: {only_paper}, input {}", explanation.input.index);
                    let (before, clue) = (&explanation.input.uncertainty, &explanation.clues[0]);
                    assert!(clue.uncertainty.total < before.total, "{what}");
                    assert!(clue.accepted || only_paper, "{what}: {:?}", clue.reason);
                    assert!(clue.plausibility.is_none() && clue.z.len() == clue.x.len(), "{what}");
                    // A row of the portfolio is its own code; a code that evolved is rounded to the data's decimals.
                    assert!(only_paper || clue.z == clue.x, "{what}");
                    // A portfolio takes no step, and evolution does.
                    assert_eq!(clue.steps > 0, only_paper, "{what}");
                }
            }
        }
    }

    #[test]
    fn trees_without_a_generative_model_are_audited_and_their_groups_explained() {
        let settings = AuditSettings { quick: true, top: Some(3), ..AuditSettings::default() };
        let Audited { audit, .. } = trees().audit(&settings, "trees", &mut Silent).unwrap();
        let cards = audit.gallery.unwrap().cards;
        assert_eq!(cards.len(), 3);
        assert!(cards.iter().all(|card| !card.clues.is_empty()));
        assert!(audit.groups.is_some_and(|groups| !groups.groups.is_empty()));
        assert!(audit.latent.is_none(), "there is no latent space to draw");
    }

    #[test]
    fn a_group_of_a_model_that_only_answers_learns_from_rows_and_from_clues() {
        let moons = load(&Request::new("moons"), None, &DataDir::locate(None)).unwrap();
        let trees = trees().shared_predictor();
        let explainer = Explainer::new(trees, Arc::new(Same)).with_rows(moons);
        let pairs = explainer.pairs(&GroupSettings::of_scheme(Scheme::Within)).unwrap();
        let search = explainer.judging(&CostSettings::default()).unwrap();
        let thresholds = GroupSettings::default().thresholds(search.threshold, Uncertainty::Total);
        for learn_from in [LearnFrom::Data, LearnFrom::Clues(0.03)] {
            let plan =
                MapperPlan { steps: 5, lambda_theta: Some(0.1), ..MapperPlan::new(MapperKind::Glam, learn_from) };
            let mappers = explainer.fit(&plan, &pairs, &search, thresholds, Seed(0), &mut Silent).unwrap();
            assert_eq!(mappers.all.len(), 2, "{learn_from:?}");
        }
    }

    #[test]
    fn images_without_a_generative_model_have_no_space_to_search_in() {
        let mut explainer = Explainer::of(Arc::new(Logistic));
        let image = "image = { channels = 1, height = 1, width = 2, maximum = 1.0 }";
        let target = "target = { name = 'y', task = 'classification', classes = ['a', 'b'] }";
        explainer = explainer.with_schema(toml::from_str(&format!("features = []\n{target}\n{image}")).unwrap());
        let inputs = Inputs::new(vec![0.5, 0.5], 2).unwrap();
        let problem = explainer.explain(&Search::clue(), &inputs, Seed(0), &mut Silent).unwrap_err().to_string();
        assert!(problem.contains("no generative model") && !explainer.can_search(), "{problem}");
    }

    #[test]
    fn an_input_where_the_uncertainty_is_flat_is_explained_from_paths_to_certain_rows() {
        let moons = load(&Request::new("moons"), None, &DataDir::locate(None)).unwrap();
        let mut explainer = Explainer::new(Arc::new(Logistic), Arc::new(Same)).with_rows(moons);
        // Without a schema there is no table: nothing but descents is left.
        explainer.schema = None;
        // Where x1 + x2 = 0 the uncertainty is greatest, and its gradient is 0.
        let inputs = Inputs::new(vec![0.5, -0.5], 2).unwrap();
        let explain = |search: Search| explainer.explain(&search, &inputs, Seed(0), &mut Silent).unwrap().remove(0);
        let paper = Search { threshold: 0.55, plausibility: false, ..Search::clue() };
        let stuck = explain(paper.clone());
        assert!(!stuck.clues[0].accepted && stuck.clues[0].x == [0.5, -0.5], "{:?}", stuck.clues);
        let found = explain(Search { portfolio: Some(Portfolio::default()), ..paper.clone() });
        assert!(found.clues[0].accepted && found.advice.is_none(), "{:?}", found.clues);
        // A ball that was given is kept to.
        let small = Delta::Fixed(LatentBall::new(0.01).unwrap());
        let kept = explain(Search { portfolio: Some(Portfolio::default()), delta: small, ..paper });
        assert!(!kept.clues[0].accepted && kept.clues[0].distance.latent <= 0.0101, "{:?}", kept.clues);
    }
}
