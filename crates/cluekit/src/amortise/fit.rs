//! From groups of training rows to mappers. [Ley2022, Alg. 2]
//!
//! What is not given is chosen by the mean cost H + λ_x d of uncertain validation rows: λ_θ for translations and affine
//! maps, the number of clusters, the best epoch of the network.

mod examples;
mod judge;

use super::Encoded;
use super::encoded::mean;
use super::groups::{Group, Pair, Thresholds};
use super::mapper::{Mapper, Method};
use super::nearest::Points;
use super::neural::{self, Neural, NeuralPlan};
use super::translation::{self, Descent, Form, LatentMap};
use crate::distance::Distance;
use crate::error::{Error, Remedy, Result};
use crate::explanation::{Clue, Label};
use crate::mixture::Mixture;
use crate::observer::{Observer, Shared};
use crate::search::{Background, Convergence, Decoding, Inputs, Models, Prepared, Price, Proposal, Search, Weighted};
use crate::seed::Seed;
use examples::{Examples, difference, spread, stacked};
use judge::Judge;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// λ_θ that are tried when none is given.
pub const LAMBDAS_THETA: [f32; 6] = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0];
/// Clusters of one group beyond which nobody looks at them one by one.
const MOST_CLUSTERS: usize = 100;
/// Uncertain rows that a translation learns from at the most, evenly spread over a group's.
const MOST_UNCERTAIN: usize = 128;

/// Where the certain examples of Eq. 2 come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearnFrom {
    /// Certain training rows: GLAM 1.
    #[default]
    Data,
    /// The uncertain training rows' own CLUEs, searched with this λ_x: GLAM 2 with 0, GLAM 3 with 0.03.
    Clues(f32),
}

/// What to fit, and how.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recipe {
    /// The kind of mapper.
    pub method: Method,
    /// What translations and affine maps learn from.
    pub learn_from: LearnFrom,
    /// λ_θ of Eq. 2; chosen on validation rows where it is not given.
    pub lambda_theta: Option<f32>,
    /// Steps of Adam on Eq. 2.
    pub steps: usize,
    /// Of Adam on Eq. 2.
    pub learning_rate: f64,
    /// Clusters at the most.
    pub most_clusters: usize,
    /// Settings of the network.
    pub neural: NeuralPlan,
}

impl Recipe {
    /// The usual settings of a kind.
    pub fn new(method: Method, learn_from: LearnFrom) -> Self {
        Self {
            method,
            learn_from,
            lambda_theta: None,
            steps: 30,
            learning_rate: 0.1,
            most_clusters: 5,
            neural: NeuralPlan::default(),
        }
    }

    fn validate(&self) -> Result<()> {
        let weight = |key: &str, value: f32| match value >= 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(Error::setting(key, format!("must be 0 or a positive number, got {value}"))),
        };
        weight("lambda_theta", self.lambda_theta.unwrap_or(0.0))?;
        if let LearnFrom::Clues(lambda_x) = self.learn_from {
            weight("learn_from", lambda_x)?;
        }
        match self.most_clusters {
            1..=MOST_CLUSTERS => {}
            other => {
                let problem = format!("must lie between 1 and {MOST_CLUSTERS}, got {other}");
                return Err(Error::setting("clusters", problem));
            }
        }
        if self.method == Method::Neural { self.neural.validate() } else { Ok(()) }
    }
}

/// A mapper for one pair of groups, with what it was learned from.
#[derive(Clone, Debug)]
pub struct Fitting {
    /// What it leads from and to.
    pub pair: Pair,
    /// The mapper.
    pub mapper: Mapper,
    /// λ_θ that was given or chosen.
    pub lambda_theta: Option<f32>,
    /// Uncertain training rows of the group.
    pub uncertain: usize,
    /// Certain ones.
    pub certain: usize,
    /// The thresholds of both.
    pub uncertain_above: f32,
    /// See there.
    pub certain_below: f32,
    /// What had to be chosen otherwise than asked for.
    pub notes: Vec<String>,
}

/// What mappers were fitted under, besides their kind and their groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// What they learned from.
    pub learn_from: LearnFrom,
    /// λ_θ, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda_theta: Option<f32>,
    /// Clusters at the most, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_clusters: Option<usize>,
    /// The λ_x that choices were made by.
    pub lambda_x: f32,
    /// The distance that they were made by.
    pub distance: Distance,
    /// What was decoded for that.
    pub decoding: Decoding,
    /// Who was uncertain, and who certain.
    pub thresholds: Thresholds,
    /// Where randomness came from.
    pub seed: Seed,
}

/// Mappers of one kind, one for each pair of groups.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The kind.
    pub method: Method,
    /// What they were fitted under.
    pub terms: Terms,
    /// One for each pair.
    pub fittings: Vec<Fitting>,
}

impl Fitted {
    /// The network, if that is what all pairs share.
    pub fn network(&self) -> Option<&Neural> {
        self.fittings.iter().find_map(|fitting| match &fitting.mapper {
            Mapper::Neural { network, .. } => Some(network.as_ref()),
            _ => None,
        })
    }

    /// Refuses a cost that the mappers cannot serve.
    pub fn check(&self, price: &Price) -> Result<()> {
        self.network().map_or(Ok(()), |network| network.check(price))
    }
}

/// Where mappers are fitted: models, rows, and the search whose objective says what a counterfactual costs.
pub struct Workshop<'a> {
    /// The models.
    pub models: &'a Models<'a>,
    /// Objective, decoding and acceptance.
    pub search: Search,
    /// The distance.
    pub background: &'a Background,
    /// Rows to learn from.
    pub train: &'a Encoded,
    /// Rows to choose settings on.
    pub validation: &'a Encoded,
    /// Who is uncertain, and who certain.
    pub thresholds: Thresholds,
    /// Where randomness comes from.
    pub seed: Seed,
    clues: BTreeMap<u32, BTreeMap<usize, Clue>>,
}

impl<'a> Workshop<'a> {
    /// A workshop for these rows.
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

    /// What mappers of this recipe are fitted under here.
    pub fn terms(&self, recipe: &Recipe) -> Terms {
        let Weighted(lambda_x, distance) = self.search.objective.input;
        Terms {
            learn_from: recipe.learn_from,
            lambda_theta: recipe.lambda_theta,
            most_clusters: (recipe.method == Method::Clusters).then_some(recipe.most_clusters),
            lambda_x,
            distance,
            decoding: self.search.decoding,
            thresholds: self.thresholds,
            seed: self.seed,
        }
    }

    /// Fits a mapper for every pair.
    pub fn fit(&mut self, recipe: &Recipe, pairs: &[Pair], observer: &mut dyn Observer) -> Result<Fitted> {
        recipe.validate()?;
        let group = |pair| Group::of(pair, self.train, &self.thresholds, self.models);
        let groups = pairs.iter().map(group).collect::<Result<Vec<_>>>()?;
        let mut notes = vec![vec![]; groups.len()];
        let plain =
            |mappers: Vec<Mapper>| -> Vec<Chosen> { mappers.into_iter().map(|mapper| (None, mapper)).collect() };
        let chosen = match recipe.method {
            Method::Reconstruction => plain(groups.iter().map(|_| Mapper::Reconstruction).collect()),
            Method::InputDbm => {
                plain(groups.iter().map(|group| Mapper::InputShift(self.input_difference(group))).collect())
            }
            Method::LatentDbm => {
                let start = |group| Mapper::Latent(LatentMap::translation(self.latent_difference(group)));
                plain(groups.iter().map(start).collect())
            }
            Method::InputNn | Method::LatentNn => {
                let latent = recipe.method == Method::LatentNn;
                let nearest =
                    |group: &Group| Mapper::Nearest { latent, certain: Arc::new(self.train.select(&group.certain)) };
                plain(groups.iter().map(nearest).collect())
            }
            Method::Glam | Method::Clusters | Method::Scaled | Method::Affine => {
                let examples;
                (examples, notes) = self.all_examples(recipe, &groups, observer)?;
                let (chosen, more) = self.learned(recipe, &groups, &examples, observer)?;
                notes.iter_mut().zip(more).for_each(|(notes, more)| notes.extend(more));
                chosen
            }
            Method::Neural => plain(self.neural(recipe, &groups, observer)?),
        };
        let fittings =
            groups.into_iter().zip(chosen).zip(notes).map(|((group, (lambda_theta, mapper)), notes)| Fitting {
                lambda_theta,
                uncertain: group.uncertain.len(),
                certain: group.certain.len(),
                uncertain_above: group.uncertain_above,
                certain_below: group.certain_below,
                notes: [group.notes, notes].concat(),
                pair: group.pair,
                mapper,
            });
        Ok(Fitted { method: recipe.method, terms: self.terms(recipe), fittings: fittings.collect() })
    }

    /// Mean of certain inputs minus mean of uncertain ones.
    fn input_difference(&self, group: &Group) -> Vec<f32> {
        let of = |rows: &[usize]| mean(rows.iter().map(|&row| self.train.x(row)), self.train.width);
        difference(&of(&group.certain), &of(&group.uncertain))
    }

    /// Mean of certain codes minus mean of uncertain ones.
    fn latent_difference(&self, group: &Group) -> Vec<f32> {
        let of = |rows: &[usize]| mean(rows.iter().map(|&row| self.train.z(row)), self.train.latent);
        difference(&of(&group.certain), &of(&group.uncertain))
    }

    /// What Eq. 2 learns from when it learns from training rows.
    fn examples(&self, group: &Group) -> Examples {
        let train = self.train;
        Examples {
            z: stacked(spread(&group.uncertain, MOST_UNCERTAIN).map(|row| train.z(row))),
            certain_x: Points::new(&stacked(group.certain.iter().map(|&row| train.x(row))), train.width),
            certain_z: stacked(group.certain.iter().map(|&row| train.z(row))),
            latent: train.latent,
        }
    }

    /// What Eq. 2 learns from in each group, and notes where that is not what was asked for.
    fn all_examples(
        &mut self,
        recipe: &Recipe,
        groups: &[Group],
        observer: &mut dyn Observer,
    ) -> Result<(Vec<Examples>, Vec<Vec<String>>)> {
        let LearnFrom::Clues(lambda_x) = recipe.learn_from else {
            return Ok((groups.iter().map(|group| self.examples(group)).collect(), vec![vec![]; groups.len()]));
        };
        let wanted = groups.iter().flat_map(|group| spread(&group.uncertain, MOST_UNCERTAIN)).collect::<Vec<_>>();
        self.search_clues(&wanted, lambda_x, observer)?;
        let known = &self.clues[&lambda_x.to_bits()];
        let of_group = |group: &Group| {
            let leads_there = |clue: &&Clue| {
                let to = &group.pair.to;
                let class = |class| clue.label == Label::Class(class);
                clue.accepted && to.class.is_none_or(class) && to.condition_holds(&clue.x, self.models.schema)
            };
            let rows: Vec<usize> = spread(&group.uncertain, MOST_UNCERTAIN).collect();
            let clues: Vec<&Clue> = rows.iter().map(|row| &known[row]).filter(leads_there).collect();
            if clues.is_empty() {
                let name = group.pair.name(self.models.task().classes());
                let note = format!("no CLUE of an uncertain row serves `{name}`; it learned from training rows");
                return (self.examples(group), vec![note]);
            }
            let examples = Examples {
                z: stacked(rows.iter().map(|&row| self.train.z(row))),
                certain_x: Points::new(&stacked(clues.iter().map(|clue| clue.x.as_slice())), self.train.width),
                certain_z: stacked(clues.iter().map(|clue| clue.z.as_slice())),
                latent: self.train.latent,
            };
            (examples, vec![])
        };
        Ok(groups.iter().map(of_group).unzip())
    }

    /// Searches the CLUEs of training rows that have none yet.
    fn search_clues(&mut self, rows: &[usize], lambda_x: f32, observer: &mut dyn Observer) -> Result<()> {
        let known = self.clues.entry(lambda_x.to_bits()).or_default();
        let mut missing: Vec<usize> = rows.iter().copied().filter(|row| !known.contains_key(row)).collect();
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() {
            return Ok(());
        }
        let distance = self.search.objective.input.1;
        let mut search = Search { convergence: Convergence::default(), ..self.search.clone() };
        search.objective.input = Weighted(lambda_x, distance);
        // Eq. 2 moves decoded means towards them.
        search.decoding = Decoding::Mean;
        let rows = self.train.select(&missing);
        let inputs = Inputs::new(rows.x, rows.width)?;
        // The plausibility of examples is not asked for.
        let background = Background { plausible: None, ..self.background.clone() };
        let prepared = search.prepare(self.models, &background, &inputs)?;
        let found = prepared.refine(&starts(&prepared), observer)?;
        observer.finished("clues", &format!("of {} uncertain training rows, λ_x = {lambda_x}", missing.len()));
        known.extend(missing.into_iter().zip(found.into_iter().flatten()));
        Ok(())
    }

    /// Translations or affine maps by Eq. 2, with the λ_θ that was given or is best on validation rows.
    fn learned(
        &self,
        recipe: &Recipe,
        groups: &[Group],
        examples: &[Examples],
        observer: &mut dyn Observer,
    ) -> Result<(Vec<Chosen>, Vec<Vec<String>>)> {
        let form = if recipe.method == Method::Affine { Form::Affine } else { Form::Translation };
        let descent = |lambda_theta| Descent { lambda_theta, steps: recipe.steps, learning_rate: recipe.learning_rate };
        let mapper = |lambda_theta: f32, group: usize, work: &Shared| {
            if recipe.method == Method::Clusters {
                // Where one translation serves nobody it is best kept short; that would tie several of them too.
                return self.clustered(examples, group, recipe.most_clusters, descent(lambda_theta), work);
            }
            let Examples { z, certain_x, .. } = &examples[group];
            let start = LatentMap::starting_at(form, examples[group].difference());
            let map = translation::fit(self.models, start, z, certain_x, descent(lambda_theta), &|| work.go_on())?;
            Ok(match recipe.method {
                Method::Scaled => Mapper::Scaled(map.parameters().values.clone()),
                _ => Mapper::Latent(map),
            })
        };
        let lambdas = recipe.lambda_theta.map_or(LAMBDAS_THETA.to_vec(), |lambda| vec![lambda]);
        let judge = Judge::new(self, groups)?;
        let chooses = lambdas.len() > 1 || (recipe.method == Method::Clusters && recipe.most_clusters > 1);
        let notes = if chooses { judge.notes.clone() } else { vec![] };
        let what = recipe.method.name();
        let chosen = judge.best(what, &lambdas, observer, mapper)?;
        if recipe.method != Method::Clusters {
            return Ok((chosen.into_iter().map(|(lambda, mapper)| (Some(lambda), mapper)).collect(), notes));
        }
        let lambdas: Vec<f32> = chosen.into_iter().map(|(lambda, _)| lambda).collect();
        let counts: Vec<usize> = (1..=recipe.most_clusters).collect();
        let clustered =
            |count, group: usize, work: &Shared| self.clustered(examples, group, count, descent(lambdas[group]), work);
        let mappers = judge.best(what, &counts, observer, clustered)?;
        let chosen = lambdas.into_iter().zip(mappers).map(|(lambda, (_, mapper))| (Some(lambda), mapper));
        Ok((chosen.collect(), notes))
    }

    /// `count` clusters of a group's uncertain codes, each with a translation of its own.
    fn clustered(
        &self,
        examples: &[Examples],
        group: usize,
        count: usize,
        descent: Descent,
        work: &Shared,
    ) -> Result<Mapper> {
        let latent = self.train.latent;
        let Examples { z, certain_x, .. } = &examples[group];
        // As a file holds it, so that a mapper is the same before and after it was saved.
        let mixture = Mixture::fit(z, latent, count, &mut self.seed.numbered("clusters", group as u64)).in_f32();
        let translation = |cluster: usize| -> Result<Vec<f32>> {
            let mut members = stacked(z.chunks_exact(latent).filter(|z| mixture.assign(z) == cluster));
            if members.is_empty() {
                members.clone_from(z);
            }
            let own = Examples { z: members, ..examples[group].clone() };
            // The mean of all certain codes may lie behind another cluster, so there is a second start: towards the
            // certain codes nearest to the members.
            let mut best: Option<(f64, LatentMap)> = None;
            for start in [own.difference(), own.to_the_nearest()] {
                let start = LatentMap::translation(start);
                let map = translation::fit(self.models, start, &own.z, certain_x, descent, &|| work.go_on())?;
                let loss = translation::loss(self.models, &map, &own.z, certain_x, descent.lambda_theta)?.0;
                if best.as_ref().is_none_or(|(least, _)| loss < *least) {
                    best = Some((loss, map));
                }
            }
            Ok(best.map_or_else(|| own.difference(), |(_, map)| map.parameters().values.clone()))
        };
        let translations = (0..mixture.components.len()).map(translation).collect::<Result<Vec<_>>>()?;
        Ok(Mapper::Clusters { mixture, translations })
    }

    /// One network for all groups.
    fn neural(&self, recipe: &Recipe, groups: &[Group], observer: &mut dyn Observer) -> Result<Vec<Mapper>> {
        let classes = self.models.task().classes();
        let everyone = |group: &Group| {
            let Pair { from, to } = &group.pair;
            *from == super::Members::any() && to.condition.is_none() && (to.class.is_some() || classes.is_empty())
        };
        if let Some(group) = groups.iter().find(|group| !everyone(group)) {
            let name = group.pair.name(classes);
            return Err(Error::setting(
                "mapper",
                format!(
                    "neural serves every input, with the class as a condition, and cannot be fitted for `{name}` alone"
                ),
            )
            .remedy(Remedy::leave_out(["from", "where", "by"]))
            .remedy(Remedy::AnotherMapper));
        }
        if self.search.decoding == Decoding::Anchored {
            return Err(neural::not_anchored());
        }
        let metric = self.background.metric(self.search.objective.input.1)?;
        let plan = &recipe.neural;
        let network = Neural::train(self.models, &metric, self.train, self.validation, plan, self.seed, observer)?;
        let network = Arc::new(network);
        let mapper = |group: &Group| Mapper::Neural { network: network.clone(), target: group.pair.target() };
        Ok(groups.iter().map(mapper).collect())
    }
}

/// A mapper with the λ_θ that was given or chosen for it.
type Chosen = (Option<f32>, Mapper);

/// Proposals at the inputs themselves.
pub(super) fn starts(prepared: &Prepared) -> Vec<Vec<Proposal>> {
    let start = |input| vec![Proposal { z: prepared.z(input).to_vec(), x: None, mapper: String::new() }];
    (0..prepared.len()).map(start).collect()
}
