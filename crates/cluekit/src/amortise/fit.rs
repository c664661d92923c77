//! From groups of training rows to mappers. [Ley2022, Alg. 2]
//!
//! What is not given is chosen by the mean cost H + λ_x d of uncertain validation rows: λ_θ for translations and affine
//! maps, the number of clusters, the best epoch of the network.

mod equation2;
mod examples;
mod validation;

use super::groups::{Group, Pair};
use super::kind::Learned;
use super::{Encoded, FittedUnder, Mapper, MapperKind, MapperPlan, Mappers, Thresholds};
use crate::distance::Metric;
use crate::error::Result;
use crate::explanation::Clue;
use crate::observer::Observer;
use crate::search::{Background, Convergence, Models, Search, Weighted};
use crate::seed::Seed;
pub(super) use equation2::with_notes;
pub(super) use examples::{Examples, difference, stacked};
use std::collections::BTreeMap;
pub(super) use validation::Validation;

/// What mappers are fitted from: models, rows, and the search whose objective says what a counterfactual costs.
pub struct Fit<'a> {
    /// Generative model and predictor.
    pub models: &'a Models<'a>,
    /// Objective, decoding and acceptance of counterfactuals.
    pub search: Search,
    /// Knowledge of the training data; fitting uses the distance.
    pub background: &'a Background,
    /// Training rows that mappers learn from.
    pub train: &'a Encoded,
    /// Validation rows that settings are chosen on.
    pub validation: &'a Encoded,
    /// Limits between uncertain, certain and other rows.
    pub thresholds: Thresholds,
    /// Seed of all randomness in the fit.
    pub seed: Seed,
    /// CLUEs of training rows that were searched so far, by the bits of λ_x and by row.
    clues: BTreeMap<u32, BTreeMap<usize, Clue>>,
}

impl<'a> Fit<'a> {
    /// A place to fit mappers for these training and validation rows.
    pub fn new(
        models: &'a Models<'a>,
        search: &Search,
        background: &'a Background,
        [train, validation]: [&'a Encoded; 2],
        thresholds: Thresholds,
        seed: Seed,
    ) -> Self {
        let search = Search { convergence: Convergence::all_steps(0), ..search.clone() };
        Self { models, search, background, train, validation, thresholds, seed, clues: BTreeMap::new() }
    }

    /// The settings that mappers of this plan are fitted under.
    pub fn fitted_under(&self, plan: &MapperPlan) -> FittedUnder {
        let Weighted(lambda_x, distance) = self.search.objective.input;
        FittedUnder {
            learn_from: plan.learn_from,
            lambda_theta: plan.lambda_theta,
            most_clusters: (plan.kind == MapperKind::Clusters).then_some(plan.most_clusters),
            lambda_x,
            distance,
            weights: self.background.metric.as_ref().map(Metric::weights).unwrap_or_default(),
            decoding: self.search.decoding,
            thresholds: self.thresholds,
            seed: self.seed,
            revision: FittedUnder::revision_of(plan.kind),
        }
    }

    /// Fits a mapper of the plan's kind for every pair of groups.
    pub fn mappers(&mut self, plan: &MapperPlan, pairs: &[Pair], observer: &mut dyn Observer) -> Result<Mappers> {
        plan.validate()?;
        let group = |pair| Group::of(pair, self.train, &self.thresholds, self.models);
        let groups = pairs.iter().map(group).collect::<Result<Vec<_>>>()?;
        let learned = (plan.kind.functions().fit)(self, plan, &groups, observer)?;
        let mapper = |(group, learned): (Group, Learned)| Mapper {
            map: learned.map,
            lambda_theta: learned.lambda_theta,
            uncertain: group.uncertain.len(),
            certain: group.certain.len(),
            uncertain_above: group.uncertain_above,
            certain_below: group.certain_below,
            notes: [group.notes, learned.notes].concat(),
            pair: group.pair,
        };
        let all = groups.into_iter().zip(learned).map(mapper).collect();
        Ok(Mappers { kind: plan.kind, fitted_under: self.fitted_under(plan), all })
    }
}
