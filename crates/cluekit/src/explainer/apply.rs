//! Counterfactuals of mappers and baselines in one call, with the certificates of a search.

use super::Explainer;
use super::fit::GroupSettings;
use crate::amortise::{Ask, Encoded, LearnFrom, MapperKind, MapperPlan, Mappers, Pair, cheapest_first};
use crate::error::{Error, Remedy, Result};
use crate::explanation::{Advice, Clue, Explanation};
use crate::observer::Observer;
use crate::search::{Convergence, Inputs, Search};
use crate::seed::Seed;
use serde::{Deserialize, Serialize};

/// Name of the method that keeps the cheapest answer of all mappers.
pub const BEST: &str = "best";
/// How many of the most probable classes are tried for each input when nothing is said.
const CLASSES: usize = 3;
/// Steps from an answer of a mapper that often suffice.
const REFINE: usize = 5;

/// What mappers are asked for, and how their answers are refined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ApplySettings {
    /// Name of a fitted mapper, of a baseline, or `best` for the cheapest answer of all.
    pub method: String,
    /// Number of most probable classes to try for each input; 3 by default.
    pub classes: usize,
    /// Whether to try only the true class of each input, or the predicted one where the true one is unknown.
    pub own_class: bool,
    /// Names of the only classes to lead to; empty for any.
    pub towards: Vec<String>,
    /// Number of steps of CLUE that start at each answer; 0 by default.
    pub refine: usize,
    /// Learning rate of Adam in those steps; 0.1 by default.
    pub learning_rate: f32,
}

impl Default for ApplySettings {
    fn default() -> Self {
        let method = MapperKind::Glam.name().into();
        Self { method, classes: CLASSES, own_class: false, towards: vec![], refine: 0, learning_rate: 0.1 }
    }
}

/// Whether a name is that of a baseline or of the cheapest of everything, so that no mapper can have it.
pub fn is_taken(name: &str) -> bool {
    name == BEST || name.parse::<MapperKind>().is_ok_and(MapperKind::is_baseline)
}

/// What the name of a method is taken for.
pub fn named_method(name: &str) -> String {
    let baselines = MapperKind::ALL.into_iter().filter(|method| method.is_baseline()).map(MapperKind::name);
    match is_taken(name) {
        true => format!("making `{name}`"),
        false => {
            let baselines: Vec<&str> = baselines.collect();
            format!("`{name}` is no baseline ({}), so a fitted mapper", baselines.join(", "))
        }
    }
}

/// What to say when a network called `name` is asked for a trade-off that it has not learned.
pub fn trade_off_note(name: &str, fitted: &Mappers, lambda_x: f32) -> Option<String> {
    let plan = fitted.network()?.plan();
    let [least, most] = plan.range();
    let (learned, span) = (plan.lambda_x, plan.lambda_span);
    (!(least..=most).contains(&lambda_x)).then(|| {
        format!(
            "{name} learned λ_x between {learned} / {span} and {learned} · {span}; it maps as at the nearer end, and costs \
             are with {lambda_x}"
        )
    })
}

impl Explainer {
    /// The classes that these settings ask mappers for.
    pub fn ask(&self, settings: &ApplySettings) -> Result<Ask> {
        if settings.own_class {
            return Ok(Ask::OwnClass);
        }
        if !settings.towards.is_empty() {
            let named = settings.towards.iter().map(|name| self.class_named(name));
            return Ok(Ask::Classes(named.collect::<Result<_>>()?));
        }
        match settings.classes {
            0 => Err(Error::setting("classes", "is 0; try at least the most probable one")),
            count => Ok(Ask::MostProbable(count)),
        }
    }

    /// The mappers called `method`, fitted ones from the run and baselines made on the spot, each with its name.
    ///
    /// [`BEST`] stands for all baselines and, of a run, all of its mappers that fit the search; [`apply`](Self::apply)
    /// then has the cheapest answer of all of them first.
    pub fn mappers(
        &self,
        method: &str,
        groups: &GroupSettings,
        search: &Search,
        seed: Seed,
        observer: &mut dyn Observer,
    ) -> Result<Vec<(String, Mappers)>> {
        let baselines = || MapperKind::ALL.into_iter().filter(|kind| kind.is_baseline());
        let wanted: Vec<MapperKind> = match baselines().find(|baseline| baseline.name() == method) {
            Some(baseline) => vec![baseline],
            None if method == BEST => baselines().collect(),
            None if !groups.are_default() => {
                let problem = "a fitted mapper has its own groups; leave the options of groups out";
                return Err(Error::setting("method", problem));
            }
            None => return Ok(vec![(method.to_owned(), self.load(method)?)]),
        };
        let pairs = self.pairs(groups)?;
        let thresholds = groups.thresholds(search.threshold, search.accepted_by());
        let mut mappers = Vec::new();
        for kind in wanted {
            let plan = MapperPlan::new(kind, LearnFrom::Data);
            // A reconstruction is the same whatever class is asked for.
            let nowhere = [Pair::default()];
            let pairs = if kind == MapperKind::Reconstruction { nowhere.as_slice() } else { &pairs };
            let fitted = self.fit(&plan, pairs, search, thresholds, seed, observer)?;
            mappers.push((kind.name().to_owned(), fitted));
        }
        if method == BEST {
            let price = search.price(&self.plain_background(search)?, self.schema())?;
            let names = self.run().map_or(Ok(vec![]), |run| run.folder.mappers().names())?;
            for name in names {
                let fitted = self.load(&name)?;
                match fitted.check(&price) {
                    Ok(()) => mappers.push((name, fitted)),
                    Err(error) => observer.finished(&name, &format!("left out: {error}")),
                }
            }
        }
        Ok(mappers)
    }

    /// Explains inputs by what mappers propose, after as many steps as the search has; the cheapest clue comes first.
    pub fn apply(
        &self,
        mappers: &[(String, Mappers)],
        ask: &Ask,
        search: &Search,
        inputs: &Inputs,
        seed: Seed,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Explanation>> {
        if inputs.is_empty() {
            return Ok(vec![]);
        }
        let (models, background) = (self.models()?, self.background(search, seed)?);
        let prepared = search.prepare(&models, &background, inputs)?;
        let rows = Encoded::prepared(&prepared, inputs);
        let mut proposals = vec![Vec::new(); rows.len()];
        for (name, fitted) in mappers {
            let new = fitted.propose(&models, &rows, ask, prepared.price(), name)?;
            proposals.iter_mut().zip(new).for_each(|(all, new)| all.extend(new));
        }
        let mut sets = prepared.refine(&proposals, observer)?;
        cheapest_first(&mut sets);
        let advice = sets.iter().map(|clues| next_steps(clues, search)).collect();
        prepared.explanations(sets, advice, seed)
    }

    /// The judging search, with the steps that `settings` ask for from each answer.
    pub fn refining(search: &Search, settings: &ApplySettings) -> Search {
        let convergence = Convergence::all_steps(settings.refine);
        Search { convergence, learning_rate: settings.learning_rate, ..search.clone() }
    }
}

/// What to try for an input without an accepted clue.
fn next_steps(clues: &[Clue], search: &Search) -> Option<Advice> {
    if !search.advised || clues.iter().any(|clue| clue.accepted) {
        return None;
    }
    if clues.is_empty() {
        return Some(Advice::NoMapper { remedies: vec![Remedy::raise("classes"), Remedy::Fit] });
    }
    let (threshold, refine) = (search.threshold, search.convergence.max_steps);
    let further = if refine == 0 { Remedy::set([("refine", REFINE)]) } else { Remedy::raise("refine") };
    let remedies = vec![further, Remedy::AnotherMethod, Remedy::Search];
    Some(Advice::NoAnswer { threshold, refine, remedies })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::Scheme;
    use crate::data::{DataDir, Request, load};
    use crate::explainer::{CostSettings, Selection};
    use crate::observer::Silent;
    use crate::testing::toy::{Logistic, Same};
    use std::sync::Arc;

    #[test]
    fn the_best_of_models_in_memory_is_the_cheapest_answer_of_all_baselines() {
        let moons = load(&Request::new("moons"), None, &DataDir::locate(None)).unwrap();
        let explainer = Explainer::new(Arc::new(Logistic), Arc::new(Same)).with_rows(moons);
        let groups = GroupSettings::of_scheme(Scheme::Within);
        let search = explainer.judging(&CostSettings::default()).unwrap();
        let selection = Selection { top: Some(3), ..Selection::default() };
        let inputs = explainer.choose(&selection, search.accepted_by()).unwrap();
        let costs = |method: &str| -> Vec<f32> {
            let mappers = explainer.mappers(method, &groups, &search, Seed(0), &mut Silent).unwrap();
            let found = explainer.apply(&mappers, &Ask::OwnClass, &search, &inputs, Seed(0), &mut Silent).unwrap();
            found.iter().map(|explanation| explanation.clues[0].cost).collect()
        };
        let baselines = MapperKind::ALL.into_iter().filter(|kind| kind.is_baseline());
        let each: Vec<Vec<f32>> = baselines.map(|kind| costs(kind.name())).collect();
        for (input, best) in costs(BEST).into_iter().enumerate() {
            let least = each.iter().map(|costs| costs[input]).fold(f32::INFINITY, f32::min);
            assert!((best - least).abs() < 1e-5, "{best}, of each alone {least}");
        }
    }

    #[test]
    fn baselines_and_best_have_their_names_for_themselves() {
        assert!(is_taken("best") && is_taken("input-dbm") && !is_taken("glam") && !is_taken("mine"));
        assert_eq!(named_method("best"), "making `best`");
        assert!(named_method("mine").starts_with("`mine` is no baseline (reconstruction, "));
    }
}
