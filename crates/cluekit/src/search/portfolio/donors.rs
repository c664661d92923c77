//! Certain training rows as counterfactuals: the row itself, with what may not change put back.

use super::TrainingRows;
use super::tried::{Candidate, Trial};
use crate::error::Result;
use crate::explanation::FoundBy;
use crate::parallel::over_shards;
use crate::search::certificate::snapped;
use crate::tensor::{Tensor, tensor, values};

/// Training rows that the model is certain about.
#[derive(Clone, Debug)]
pub struct Donors {
    rows: Tensor<2>,
    /// What the certainty of each costs, in units of the objective.
    cost: Vec<f32>,
}

/// Weight of the distance where the objective has none: of equally certain rows the nearest is wanted.
const LEAST_WEIGHT: f32 = 1e-3;

impl Donors {
    /// Those of the training rows that the model, and where there is one the jury, are certain about, by this margin.
    pub fn among(rows: &TrainingRows, trial: &Trial, margin: f32) -> Option<Self> {
        let model = |row: usize| rows.uncertainty[row].get(trial.acceptance.kind) / trial.acceptance.threshold;
        let jury = |row: usize| match (trial.jury, &rows.jury) {
            (Some(jury), Some(says)) => says[row] / jury.threshold,
            _ => model(row),
        };
        let certain: Vec<usize> =
            (0..rows.samples.len()).filter(|&row| model(row) < margin && jury(row) < margin).collect();
        if certain.is_empty() {
            return None;
        }
        let cost = certain.iter().map(|&row| trial.unit * 0.5 * (model(row) + jury(row))).collect();
        let chosen = rows.samples.select(&certain);
        Some(Self { rows: tensor(chosen.x, [certain.len(), chosen.width]), cost })
    }

    /// For each of the inputs the `most` rows of least cost, the cheapest first.
    pub fn of(&self, trial: &Trial, inputs: &[usize], most: usize) -> Result<Vec<Candidate>> {
        let nearest = over_shards(inputs.len(), 1, |at| {
            trial.descent.go_on()?;
            self.nearest(trial, inputs[at.start], most)
        });
        Ok(nearest.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    fn nearest(&self, trial: &Trial, input: usize, most: usize) -> Result<Vec<Candidate>> {
        let (descent, origin, bounds) = (trial.descent, trial.origin(input), trial.bounds(input));
        let width = origin.x.len();
        let line = |row: &[f32]| tensor(row.to_vec(), [1, width]);
        let count = self.cost.len();
        let inside = self.rows.clone().max_pair(line(&bounds.lower)).min_pair(line(&bounds.upper));
        let distances = values(descent.metric.between(&inside, &line(&origin.x).expand([count, width])));
        let weight = descent.objective.input.0.max(LEAST_WEIGHT);
        let cost = |row: usize| self.cost[row] + weight * distances[row];
        let mut order: Vec<usize> = (0..count).collect();
        let most = most.min(count);
        if most < count {
            order.select_nth_unstable_by(most, |&a, &b| cost(a).total_cmp(&cost(b)).then(a.cmp(&b)));
            order.truncate(most);
        }
        order.sort_by(|&a, &b| cost(a).total_cmp(&cost(b)).then(a.cmp(&b)));
        let chosen = |row: usize| -> Result<Candidate> {
            // As it is: a category that is closed, and a value that is missing, give way to the input's own.
            let x = values(self.rows.clone().narrow(0, row, 1));
            let x = snapped(descent.models, origin, Some(bounds), &x)?;
            Ok(Candidate { input, x, by: FoundBy::TrainingRow })
        };
        order.into_iter().map(chosen).collect()
    }
}
