//! Certain training rows as counterfactuals: the row itself, with what may not change put back.

use super::tried::{Candidate, Trial, Tried};
use crate::data::Samples;
use crate::error::Result;
use crate::explanation::FoundBy;
use crate::search::certificate::snapped;
use crate::tensor::{Tensor, tensor, values};
use std::sync::Arc;

/// Training rows with the uncertainty of each.
#[derive(Clone, Debug)]
pub struct Donors {
    rows: Tensor<2>,
    uncertainty: Vec<f32>,
}

/// Weight of the distance where the objective has none: of equally certain rows the nearest is wanted.
const LEAST_WEIGHT: f32 = 1e-3;

impl Donors {
    /// Those of the training rows whose uncertainty lies below `below`.
    pub fn among(samples: &Arc<Samples>, uncertainty: &[f32], below: f32) -> Option<Self> {
        let certain: Vec<usize> = (0..samples.len()).filter(|&row| uncertainty[row] < below).collect();
        if certain.is_empty() {
            return None;
        }
        let rows = samples.select(&certain);
        let uncertainty = certain.iter().map(|&row| uncertainty[row]).collect();
        Some(Self { rows: tensor(rows.x, [certain.len(), rows.width]), uncertainty })
    }

    /// For an input the rows of least cost, with what may not change put back, the cheapest first.
    fn nearest(&self, trial: &Trial, input: usize, most: usize) -> Result<Vec<Candidate>> {
        let (descent, origin, bounds) = (trial.descent, trial.origin(input), trial.bounds(input));
        let width = origin.x.len();
        let line = |row: &[f32]| tensor(row.to_vec(), [1, width]);
        let count = self.uncertainty.len();
        let inside = self.rows.clone().max_pair(line(&bounds.lower)).min_pair(line(&bounds.upper));
        let x0 = line(&origin.x).expand([count, width]);
        let distances = values(descent.metric.between(&inside, &x0));
        let weight = descent.objective.input.0.max(LEAST_WEIGHT);
        let cost = |row: usize| self.uncertainty[row] + weight * distances[row];
        let mut order: Vec<usize> = (0..count).collect();
        let most = most.min(count);
        if most < count {
            order.select_nth_unstable_by(most, |&a, &b| cost(a).total_cmp(&cost(b)).then(a.cmp(&b)));
            order.truncate(most);
        }
        order.sort_by(|&a, &b| cost(a).total_cmp(&cost(b)).then(a.cmp(&b)));
        let chosen = |row: usize| -> Result<Candidate> {
            let x = values(inside.clone().narrow(0, row, 1));
            let x = snapped(descent.models, origin, Some(bounds), &x)?;
            Ok(Candidate { input, x, by: FoundBy::TrainingRow })
        };
        order.into_iter().map(chosen).collect()
    }

    /// What the `most` nearest rows give for each of the inputs: whole rows where any number of features may change, else
    /// as many of their values as may, those that help most first.
    pub fn tried(&self, trial: &Trial, inputs: &[usize], most: usize) -> Result<Vec<Tried>> {
        let mut nearest = Vec::new();
        for &input in inputs {
            trial.descent.go_on()?;
            nearest.extend(self.nearest(trial, input, most)?);
        }
        let fits =
            |row: &Candidate| trial.lattice.changed(&trial.origin(row.input).x, &row.x).len() <= trial.most_changed;
        let (whole, large): (Vec<Candidate>, Vec<Candidate>) = nearest.into_iter().partition(fits);
        Ok([trial.ask(whole)?, transplanted(trial, large)?].concat())
    }
}

/// From each input one value of its donor after another, always the one after which the row is best, until the model is
/// certain or no more may change.
fn transplanted(trial: &Trial, donors: Vec<Candidate>) -> Result<Vec<Tried>> {
    let start = |donor: &Candidate| Candidate { x: trial.origin(donor.input).x.clone(), ..donor.clone() };
    let mut grown: Vec<Option<Tried>> = vec![None; donors.len()];
    for _ in 0..trial.most_changed {
        let mut moves = Vec::new();
        for (at, donor) in donors.iter().enumerate() {
            if grown[at].as_ref().is_some_and(|grown| grown.accepted) {
                continue;
            }
            let now = grown[at].as_ref().map_or_else(|| start(donor), |grown| grown.row.clone());
            for feature in trial.lattice.changed(&now.x, &donor.x) {
                let value = &donor.x[trial.lattice.column(feature).range()];
                moves.push((at, Candidate { x: trial.lattice.with(&now.x, feature, value), ..donor.clone() }));
            }
        }
        if moves.is_empty() {
            break;
        }
        let places: Vec<usize> = moves.iter().map(|(at, _)| *at).collect();
        let tried = trial.ask(moves.into_iter().map(|(_, row)| row).collect())?;
        let mut best: Vec<Option<Tried>> = vec![None; donors.len()];
        for (at, tried) in places.into_iter().zip(tried) {
            if best[at].as_ref().is_none_or(|best| tried.order(best).is_lt()) {
                best[at] = Some(tried);
            }
        }
        for (grown, best) in grown.iter_mut().zip(best) {
            *grown = best.or(grown.take());
        }
    }
    Ok(grown.into_iter().flatten().collect())
}
