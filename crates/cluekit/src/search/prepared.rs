//! A search that knows its inputs but has not begun: candidates from elsewhere can be certified, or searched on from.
//!
//! A mapper's answer is a start. With no step it is certified as it is; with a few it is refined.

use super::certificate::{Acceptance, Evaluated, certify, evaluate, label_of, probabilities_of, snapped};
use super::coupling::Coupling;
use super::descent::{Descent, End, Start};
use super::evolution::offspring;
use super::explain::watched;
use super::modes::Grouping;
use super::origin::{self, Origin};
use super::schedule::Walk;
use super::way::Steps;
use super::{Background, Inputs, Models, Price, Search, Weighted, outside, plausibility, sparse};
use crate::data::{Halfspace, Schema};
use crate::error::{Error, Result};
use crate::explanation::{Advice, Clue, DataRow, Explanation, Original, Reconstruction};
use crate::observer::{Observer, Shared};
use crate::parallel::over_shards;
use crate::prediction::Prediction;
use crate::seed::Seed;

/// A candidate that comes from outside the search, such as from a mapper.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Latent code of the candidate.
    pub z: Vec<f32>,
    /// The candidate itself, where it differs from what the code decodes to: a training row, for instance.
    pub x: Option<Vec<f32>>,
    /// Name of the mapper that proposes the candidate.
    pub mapper: String,
}

/// Says with an error that work is to end.
pub(super) type GoOn<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// A search with all that it has to know of its inputs before it begins.
pub struct Prepared<'a> {
    search: Search,
    models: &'a Models<'a>,
    background: &'a Background,
    inputs: &'a Inputs,
    price: Price,
    relations: Vec<Halfspace>,
    origins: Vec<Origin>,
    walk: Walk,
}

impl Search {
    /// Encodes and predicts the inputs, and finds out how far each may go.
    pub fn prepare<'a>(
        &self,
        models: &'a Models<'a>,
        background: &'a Background,
        inputs: &'a Inputs,
    ) -> Result<Prepared<'a>> {
        self.prepare_watched(models, background, inputs, &|| Ok(()))
    }

    /// The same as part of work that can be ended.
    pub(super) fn prepare_watched<'a>(
        &self,
        models: &'a Models<'a>,
        background: &'a Background,
        inputs: &'a Inputs,
        go_on: GoOn,
    ) -> Result<Prepared<'a>> {
        self.validate()?;
        self.fits(models.task())?;
        Ok(Prepared {
            price: self.price(background, models.schema)?,
            relations: models.schema.map_or(vec![], |schema| schema.constraints.encoded_relations(schema)),
            origins: origin::origins(self, models, background, inputs, go_on)?,
            walk: Walk::new(self, models.predictor),
            search: self.clone(),
            models,
            background,
            inputs,
        })
    }

    /// The price of a distance from an input in this search, between rows of `schema`.
    pub fn price(&self, background: &Background, schema: Option<&Schema>) -> Result<Price> {
        let Weighted(lambda_x, distance) = self.objective.input;
        Ok(Price { lambda_x, metric: background.metric(distance, schema)?, decoding: self.decoding })
    }

    pub(super) fn acceptance(&self) -> Acceptance {
        Acceptance { kind: self.accepted_by(), threshold: self.threshold }
    }
}

impl Prepared<'_> {
    /// Latent code z₀ of one input.
    pub fn z(&self, input: usize) -> &[f32] {
        &self.origins[input].z
    }

    /// Encoded row x₀ of one input.
    pub fn x(&self, input: usize) -> &[f32] {
        &self.origins[input].x
    }

    /// The price of a distance from an input in this search.
    pub fn price(&self) -> &Price {
        &self.price
    }

    /// Prediction for one input.
    pub fn prediction(&self, input: usize) -> &Prediction {
        &self.origins[input].now
    }

    /// Number of inputs.
    pub fn len(&self) -> usize {
        self.origins.len()
    }

    /// Whether there are no inputs.
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    pub(super) fn descent(&self) -> Descent<'_> {
        let search = &self.search;
        // One candidate alone has no diversity, and a weight of 0 none to speak of.
        let coupling = search.objective.coupling().filter(|_| search.count > 1);
        Descent {
            models: self.models,
            background: self.background,
            metric: &self.price.metric,
            objective: &search.objective,
            coupling: coupling.map(|term| Coupling { term, order: search.order }),
            decoding: search.decoding,
            relations: &self.relations,
            walk: &self.walk,
            convergence: search.convergence,
            steps: search.steps(self.models, self.background),
            acceptance: search.acceptance(),
            seed: Seed(0),
            origins: &self.origins,
            watch: &|_, _| Ok(()),
            traced: search.traced,
        }
    }

    /// Certifies the proposals of each input as they are.
    pub fn certify(&self, proposals: &[Vec<Proposal>]) -> Result<Vec<Vec<Clue>>> {
        let end = |(input, proposal): (usize, &Proposal)| {
            let start = Start { input, z: proposal.z.clone(), bounds: None };
            End { x: proposal.x.clone(), ..start.end() }
        };
        let ends: Vec<End> = self.check(proposals)?.map(end).collect();
        self.certified(&self.descent(), &ends, proposals)
    }

    /// Searches on from the proposals of each input, for as many steps as the search has, and certifies the ends.
    ///
    /// Of a proposal that is not what its code decodes to, the code counts.
    pub fn refine(&self, proposals: &[Vec<Proposal>], observer: &mut dyn Observer) -> Result<Vec<Vec<Clue>>> {
        if self.search.convergence.max_steps == 0 {
            return self.certify(proposals);
        }
        let start = |(input, proposal): (usize, &Proposal)| {
            let mut z = proposal.z.clone();
            self.origins[input].ball.project(&mut z, &self.origins[input].z);
            Start { input, z, bounds: None }
        };
        let starts: Vec<Start> = self.check(proposals)?.map(start).collect();
        let (descent, most) = (self.descent(), self.search.convergence.max_steps);
        // A step is worth a generation.
        let generations = (most + 1).saturating_mul(offspring(self.models.generative.latent_dim()));
        let steps = match descent.steps {
            Steps::Evolution { evaluations } => Steps::Evolution { evaluations: evaluations.min(generations) },
            other => other,
        };
        let progress = Shared::new(observer, "searching", (starts.len() * steps.work(&self.walk)) as u64);
        let watch = watched(&progress);
        let descent = Descent { watch: &watch, steps, ..descent };
        let ends = Descent { coupling: None, ..descent }.run(&starts, 1, &[])?;
        self.certified(&descent, &ends, proposals)
    }

    /// All proposals with the input that each is for, if there is a list for every input and every code has its size.
    fn check<'b>(
        &self,
        proposals: &'b [Vec<Proposal>],
    ) -> Result<impl Iterator<Item = (usize, &'b Proposal)> + use<'b>> {
        if proposals.len() != self.origins.len() {
            let (lists, inputs) = (proposals.len(), self.origins.len());
            return Err(Error::data(format!(
                "{lists} lists of proposals were given for {inputs} inputs; give one each"
            )));
        }
        let latent = self.models.generative.latent_dim();
        for proposal in proposals.iter().flatten() {
            if proposal.z.len() != latent {
                return Err(Error::Shape {
                    what: format!("a code that {} proposes", proposal.mapper),
                    expected: vec![latent],
                    got: vec![proposal.z.len()],
                });
            }
            if let Some(x) = proposal.x.as_ref().filter(|x| x.len() != self.inputs.width()) {
                return Err(Error::Shape {
                    what: format!("an input that {} proposes", proposal.mapper),
                    expected: vec![self.inputs.width()],
                    got: vec![x.len()],
                });
            }
        }
        Ok(proposals.iter().enumerate().flat_map(|(input, set)| set.iter().map(move |proposal| (input, proposal))))
    }

    fn certified(&self, descent: &Descent, ends: &[End], proposals: &[Vec<Proposal>]) -> Result<Vec<Vec<Clue>>> {
        let fewer = match self.models.schema.and_then(|schema| schema.constraints.most_changed) {
            Some(most) => Some(sparse::with_fewer_changes(descent, ends, most)?),
            None => None,
        };
        let ends = fewer.as_deref().unwrap_or(ends);
        let mut clues = certify(descent, ends, self.search.acceptance())?.into_iter();
        let set = |proposals: &Vec<Proposal>| -> Vec<Clue> {
            let named = |(clue, proposal): (Clue, &Proposal)| Clue { mapper: Some(proposal.mapper.clone()), ..clue };
            clues.by_ref().take(proposals.len()).zip(proposals).map(named).collect()
        };
        let mut sets: Vec<Vec<Clue>> = proposals.iter().map(set).collect();
        if let Some(plausible) = &self.background.plausible {
            plausibility::judge(descent, plausible, &mut sets)?;
        }
        Ok(sets)
    }

    /// One explanation for each input from its clues.
    pub fn explanations(
        &self,
        sets: Vec<Vec<Clue>>,
        advice: Vec<Option<Advice>>,
        seed: Seed,
    ) -> Result<Vec<Explanation>> {
        let (descent, models) = (self.descent(), self.models);
        let places: Vec<(usize, &[f32])> = self.origins.iter().enumerate().map(|(i, o)| (i, o.z.as_slice())).collect();
        let decoded: Vec<Vec<f32>> =
            self.origins.iter().map(|origin| snapped(models, origin, None, &origin.decoded)).collect::<Result<_>>()?;
        let reconstructions = evaluate(&descent, &places, &decoded)?;
        let row_of = |x: &[f32]| models.schema.and_then(|schema| DataRow::of(x, schema));
        let original = |(row, origin): (usize, &Origin)| Original {
            index: origin.index,
            name: self.inputs.name(row),
            label: label_of(&origin.now, models),
            label_name: models.name_of(label_of(&origin.now, models)),
            target: self.inputs.target(row),
            target_name: self.inputs.target(row).and_then(|target| models.name_of(target)),
            uncertainty: origin.now.uncertainty,
            probabilities: probabilities_of(&origin.now, models),
            outside: models.schema.map_or(vec![], |schema| outside::named(schema, &origin.x, &origin.outside)),
            row: row_of(&origin.x),
            x: origin.x.clone(),
            z: origin.z.clone(),
        };
        let reconstruction = |x: Vec<f32>, now: Evaluated| Reconstruction {
            label: label_of(&now.prediction, models),
            uncertainty: now.prediction.uncertainty,
            distance: now.input,
            cost: now.cost,
            x,
        };
        let originals = self.origins.iter().enumerate().map(original);
        let reconstructions = decoded.into_iter().zip(reconstructions).map(|(x, now)| reconstruction(x, now));
        let rows: Vec<_> = originals.zip(reconstructions).zip(sets).zip(advice).collect();
        let beside = self.search.portfolio.is_some() && self.background.rows.is_some();
        let table = models.schema.filter(|schema| schema.image.is_none() && beside);
        let grouping = table.map_or(Grouping::Codes(seed), Grouping::Changes);
        Ok(over_shards(rows.len(), 1, |at| {
            let (((original, reconstruction), mut clues), advice) = rows[at.start].clone();
            clues.iter_mut().for_each(|clue| clue.row = row_of(&clue.x));
            Explanation::of(original, reconstruction, clues, advice, grouping)
        }))
    }
}
