//! The most uncertain inputs of an audit: their clues by ∇-CLUE, and the ways to them.

use super::AuditArgs;
use crate::cmd::explain::document::tally;
use crate::cmd::glam::cost::CostArgs;
use crate::progress::Bar;
use anyhow::Result;
use cluekit::Seed;
use cluekit::amortise::Encoded;
use cluekit::data::{Samples, Schema};
use cluekit::distance::{Distance, Metric};
use cluekit::explanation::Explanation;
use cluekit::observer::Observer;
use cluekit::prediction::Prediction;
use cluekit::report::audit::{Gallery, LatentMap};
use cluekit::search::{Background, Certain, Decoding, DiversityTerm, Ordinary, Search, Weighted};
use cluekit::studio::Studio;
use std::collections::BTreeSet;

/// λ_D of ∇-CLUE.
const DIVERSITY: f32 = 1.0;
/// Rows on the map of the latent space, besides those that are explained.
const MAPPED: usize = 2000;

impl AuditArgs {
    /// ∇-CLUE with the options' settings.
    pub fn search(&self, studio: &Studio, cost: &CostArgs) -> Result<Search> {
        let diversity = Weighted(DIVERSITY, DiversityTerm::default());
        let mut search = Search::nabla_clue(self.delta()?, self.count(), diversity);
        search.threshold = cost.search(studio)?.threshold;
        search.objective.input = Weighted(cost.lambda_x, cost.distance);
        search.decoding = if cost.anchored { Decoding::Anchored } else { Decoding::Mean };
        search.validate()?;
        Ok(search)
    }
}

/// For each input and candidate, the codes of every step.
pub type Paths = Vec<Vec<Vec<Vec<f32>>>>;

/// Clues of the rows `top`, and the ways to them.
pub fn search(
    studio: &Studio,
    search: &Search,
    samples: &Samples,
    top: &[usize],
    seed: Seed,
    quiet: bool,
) -> Result<(Vec<Explanation>, Paths)> {
    let (models, train) = (studio.models(), &studio.dataset.train);
    let inputs = cluekit::search::Inputs::of(samples, top, models.task())?;
    let certain = match search.needs_certain() {
        true => Some(Certain::among(&models, train.clone(), search.accept_by, search.threshold)?),
        false => None,
    };
    let background = Background {
        metric: Some(Metric::fit(Distance::L1, &train.x, train.width, models.schema)?),
        certain,
        ordinary: Some(Ordinary::among(&models, &train.x, train.width, seed)?),
    };
    let mut bar = Bar::new(quiet);
    let explanations = search.explain(&models, &background, &inputs, seed, &mut bar)?;
    bar.finished("∇-CLUE", &tally(&explanations));
    let paths = search.paths(&models, &background, &inputs, seed)?;
    Ok((explanations, paths))
}

/// A card for each explanation.
pub fn gallery(explanations: &[Explanation], schema: &Schema, unsure_above: Option<f32>) -> Gallery {
    Gallery::of(explanations, schema, "∇-CLUE", unsure_above)
}

/// Codes of rows that are evenly spread over all, and of those that are explained.
pub fn latent(
    studio: &Studio,
    samples: &Samples,
    predictions: &[Prediction],
    top: &[usize],
    (explanations, paths): (&[Explanation], &Paths),
) -> Result<Option<LatentMap>> {
    let step = samples.len().div_ceil(MAPPED).max(1);
    let shown: BTreeSet<usize> = (0..samples.len()).step_by(step).chain(top.iter().copied()).collect();
    let shown: Vec<usize> = shown.into_iter().collect();
    let says: Vec<Prediction> = shown.iter().map(|&row| predictions[row].clone()).collect();
    let totals: Vec<f32> = says.iter().map(|prediction| prediction.uncertainty.total).collect();
    let rows = Encoded::with_predictions(&studio.models(), samples.select(&shown), says)?;
    Ok(LatentMap::of(&rows.z, rows.latent, &shown, &totals, explanations, paths))
}
