//! Certain training rows as counterfactuals: the row itself, with what may not change put back.

use super::tried::{Candidate, Trial};
use super::{TrainingRows, unit_of};
use crate::error::Result;
use crate::explanation::FoundBy;
use crate::parallel::over_shards;
use crate::search::certificate::snapped;
use crate::search::descent::Descent;
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
        let certain = (0..rows.samples.len()).filter(|&row| model(row) < margin && jury(row) < margin).collect();
        Self::of_rows(rows, certain, |row| trial.unit * 0.5 * (model(row) + jury(row)))
    }

    /// Those that the model is certain about, where a descent knows of training rows.
    pub fn certain_for(descent: &Descent) -> Option<Self> {
        let (rows, acceptance) = (descent.background.rows.as_ref()?, descent.acceptance);
        let amount = |row: usize| rows.uncertainty[row].get(acceptance.kind);
        let certain = (0..rows.samples.len()).filter(|&row| amount(row) < acceptance.threshold).collect();
        Self::of_rows(rows, certain, |row| amount(row) / unit_of(descent.models.task()))
    }

    fn of_rows(rows: &TrainingRows, certain: Vec<usize>, cost: impl Fn(usize) -> f32) -> Option<Self> {
        if certain.is_empty() {
            return None;
        }
        let chosen = rows.samples.select(&certain);
        let cost = certain.into_iter().map(cost).collect();
        Some(Self { rows: tensor(chosen.x, [chosen.y.len(), chosen.width]), cost })
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
        let (models, origin, bounds) = (trial.descent.models, trial.origin(input), trial.bounds(input));
        let chosen = |x: Vec<f32>| -> Result<Candidate> {
            // As it is: a category that is closed, and a value that is missing, give way to the input's own.
            let x = snapped(models, origin, Some(bounds), &x)?;
            Ok(Candidate { input, x, by: FoundBy::TrainingRow })
        };
        self.cheapest(trial.descent, input, most).into_iter().map(chosen).collect()
    }

    /// The `most` rows of least cost for an input of a table, the cheapest first.
    pub fn cheapest(&self, descent: &Descent, input: usize, most: usize) -> Vec<Vec<f32>> {
        let origin = &descent.origins[input];
        let width = origin.x.len();
        let line = |row: &[f32]| tensor(row.to_vec(), [1, width]);
        let count = self.cost.len();
        let inside = match &origin.bounds {
            Some(bounds) => self.rows.clone().max_pair(line(&bounds.lower)).min_pair(line(&bounds.upper)),
            None => self.rows.clone(),
        };
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
        order.into_iter().map(|row| values(self.rows.clone().narrow(0, row, 1))).collect()
    }
}
