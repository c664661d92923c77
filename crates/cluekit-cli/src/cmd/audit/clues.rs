//! The most uncertain inputs of an audit: their clues by ∇-CLUE, and the ways to them.

use super::AuditArgs;
use crate::cmd::explain::document::tally;
use crate::cmd::glam::cost::CostArgs;
use crate::progress::Bar;
use anyhow::Result;
use cluekit::Seed;
use cluekit::amortise::Encoded;
use cluekit::audit::{Gallery, LatentMap};
use cluekit::data::{Samples, Schema};
use cluekit::distance::{Distance, Metric};
use cluekit::explanation::Explanation;
use cluekit::observer::Observer;
use cluekit::prediction::Prediction;
use cluekit::search::{
    Background, Certain, Decoding, Delta, DiversityTerm, Inputs, LatentBall, Ordinary, Search, Weighted,
};
use cluekit::studio::Studio;
use cluekit_report::illustrate;
use std::collections::BTreeSet;

/// λ_D of ∇-CLUE.
const DIVERSITY: f32 = 1.0;
/// Where searches without a ball start: within one deviation of the prior.
const NEARBY: f32 = 1.0;
/// How often an automatic ball is doubled for inputs without a clue in it, and how many times the steps they get.
const DOUBLINGS: u32 = 8;
const LONGER: usize = 4;
/// Rows on the map of the latent space, besides those that are explained.
const MAPPED: usize = 2000;

impl AuditArgs {
    /// ∇-CLUE with the options' settings.
    pub fn search(&self, studio: &Studio, cost: &CostArgs) -> Result<Search> {
        let diversity = Weighted(DIVERSITY, DiversityTerm::default());
        let mut search = Search::nabla_clue(self.delta, self.count(), diversity);
        search.threshold = cost.search(studio)?.threshold;
        search.objective.input = Weighted(cost.lambda_x, cost.distance);
        search.decoding = if cost.anchored { Decoding::Anchored } else { Decoding::Mean };
        if let Some(steps) = self.steps {
            search.convergence.max_steps = steps;
        }
        if search.delta == Delta::Fixed(LatentBall::UNBOUNDED) {
            search.starts.radius = Some(NEARBY);
        }
        search.validate()?;
        if search.delta == Delta::Auto {
            wider(&search, 2).validate()?;
        }
        Ok(search)
    }
}

/// The search for inputs without a clue in their automatic ball: farther, and longer.
pub fn wider(search: &Search, times: u32) -> Search {
    let mut wider = Search { delta: Delta::Wider(times), ..search.clone() };
    wider.convergence.max_steps = wider.convergence.max_steps.saturating_mul(LONGER);
    wider
}

/// What was found for a row that is explained.
struct Found {
    row: usize,
    explanation: Explanation,
    /// For each candidate, the codes of every step.
    paths: Vec<Vec<Vec<f32>>>,
    /// How many times as far as the automatic ball it was searched for.
    times: u32,
}

/// The rows that are explained.
pub struct Clues(Vec<Found>);

impl Clues {
    /// Clues of the rows `top`, and the ways to them. An automatic ball is doubled for inputs that have none in it; one
    /// that the user chose is kept to.
    pub fn of(
        studio: &Studio,
        search: &Search,
        samples: &Samples,
        top: &[usize],
        seed: Seed,
        quiet: bool,
    ) -> Result<Self> {
        let (models, train) = (studio.models(), &studio.dataset.train);
        let certain = match search.needs_certain() {
            true => Some(Certain::among(&models, train.clone(), search.accept_by, search.threshold)?),
            false => None,
        };
        let background = Background {
            metric: Some(Metric::fit(Distance::L1, &train.x, train.width, models.schema)?),
            certain,
            ordinary: Some(Ordinary::among(&models, &train.x, train.width, seed)?),
        };
        let doublings = if search.delta == Delta::Auto { DOUBLINGS } else { 0 };
        let (mut found, mut left) = (Vec::with_capacity(top.len()), top.to_vec());
        for doubling in 0..=doublings {
            let times = 2_u32.pow(doubling);
            let search = if times == 1 { search.clone() } else { wider(search, times) };
            // Only the last round leaves inputs without a clue, and they get advice.
            let search = Search { traced: true, advised: doubling == doublings, ..search };
            let name = if times == 1 { "∇-CLUE".into() } else { format!("∇-CLUE, {times} times as far") };
            let mut bar = Bar::new(quiet);
            let inputs = Inputs::of(samples, &left, models.task())?;
            let explanations = search.explain(&models, &background, &inputs, seed, &mut bar)?;
            bar.finished(&name, &tally(&explanations));
            let is_done = |explanation: &Explanation| doubling == doublings || explanation.accepted().next().is_some();
            let (done, others): (Vec<_>, Vec<_>) =
                left.into_iter().zip(explanations).partition(|(_, explanation)| is_done(explanation));
            found.extend(done.into_iter().map(|(row, mut explanation)| {
                let paths = explanation.clues.iter_mut().map(|clue| std::mem::take(&mut clue.path)).collect();
                Found { row, explanation, paths, times }
            }));
            left = others.into_iter().map(|(row, _)| row).collect();
            if left.is_empty() {
                break;
            }
        }
        let place = |found: &Found| top.iter().position(|row| *row == found.row);
        found.sort_by_key(place);
        Ok(Self(found))
    }

    /// A card for each input.
    pub fn gallery(&self, schema: &Schema, unsure_above: Option<f32>) -> Gallery {
        let explanations = self.explanations();
        let mut gallery = Gallery::of(&explanations, schema, "∇-CLUE", unsure_above);
        if let Some(image) = &schema.image {
            illustrate(&mut gallery, &explanations, image);
        }
        for (card, found) in gallery.cards.iter_mut().zip(&self.0) {
            card.widened = Some(found.times).filter(|times| *times > 1);
        }
        gallery
    }

    fn explanations(&self) -> Vec<Explanation> {
        self.0.iter().map(|found| found.explanation.clone()).collect()
    }

    /// Codes of rows that are evenly spread over all, and of those that are explained.
    pub fn latent(&self, studio: &Studio, samples: &Samples, predictions: &[Prediction]) -> Result<Option<LatentMap>> {
        let step = samples.len().div_ceil(MAPPED).max(1);
        let shown: BTreeSet<usize> =
            (0..samples.len()).step_by(step).chain(self.0.iter().map(|found| found.row)).collect();
        let shown: Vec<usize> = shown.into_iter().collect();
        let says: Vec<Prediction> = shown.iter().map(|&row| predictions[row].clone()).collect();
        let totals: Vec<f32> = says.iter().map(|prediction| prediction.uncertainty.total).collect();
        let paths: Vec<_> = self.0.iter().map(|found| found.paths.clone()).collect();
        let rows = Encoded::with_predictions(&studio.models(), samples.select(&shown), says)?;
        Ok(LatentMap::of(&rows.z, rows.latent, &shown, &totals, &self.explanations(), &paths))
    }
}
