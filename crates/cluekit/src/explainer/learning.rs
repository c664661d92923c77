//! Whether more rows would help: boosted trees learn from a quarter, half and all of the training rows.

use super::{Explainer, Split};
use crate::audit::{LearningCurve, LearningPoint};
use crate::data::{Samples, Targets};
use crate::error::Result;
use crate::measure::{PredictorHealth, predictor_health};
use crate::model::boosted::{Boosted, BoostedPlan};
use crate::observer::{Observer, Shared};
use crate::prediction::predict;
use crate::seed::Seed;

/// Rows that are learned from, and rows that judge, at the most.
const MOST_ROWS: usize = 20_000;
const MOST_JUDGING: usize = 5_000;
/// Fewer rows to learn from, or to judge by, tell nothing.
const LEAST_ROWS: usize = 400;
const LEAST_JUDGING: usize = 50;
/// What the number of rows is divided by, point after point.
const PARTS: [usize; 3] = [4, 2, 1];

impl Explainer {
    /// The scores of boosted trees that learn from a quarter, half and all of a table's training rows, on the rows of
    /// `split`; none for images, and where there are too few rows or no targets.
    pub fn learning_curve(
        &self,
        split: Split,
        seed: Seed,
        observer: &mut dyn Observer,
    ) -> Result<Option<LearningCurve>> {
        if !self.is_table() || split == Split::Train {
            return Ok(None);
        }
        let (train, judging) = (self.samples(Split::Train)?, self.samples(split)?);
        let known = |samples: &Samples| !matches!(samples.y, Targets::Unknown(_));
        if train.len() < LEAST_ROWS || judging.len() < LEAST_JUDGING || !known(&train) || !known(&judging) {
            return Ok(None);
        }
        // Evenly spread, and of the very number that is asked for: half as many are half as many.
        let some = |samples: &Samples, most: usize| {
            let (all, most) = (samples.len(), most.min(samples.len()));
            samples.select(&(0..most).map(|at| at * all / most).collect::<Vec<_>>())
        };
        let judging = some(&judging, MOST_JUDGING);
        let plan = BoostedPlan { members: 2, ..BoostedPlan::default() };
        let watch = Shared::new(observer, "learning curve", PARTS.len() as u64);
        let mut points = Vec::new();
        for part in PARTS {
            let learned = some(&train, train.len().min(MOST_ROWS) / part);
            let trees = Boosted::fit(&plan, &learned, &self.task, seed, &|| watch.go_on())?;
            let predictions = predict(&trees, &judging, &self.task)?;
            let loss = match predictor_health(&trees, &predictions, &judging, &self.task)? {
                PredictorHealth::Classifier(health) => health.nll,
                PredictorHealth::Regressor(health) => health.rmse,
            };
            watch.add(1, loss)?;
            points.push(LearningPoint { rows: learned.len(), loss });
        }
        Ok(Some(LearningCurve { learner: "boosted trees".into(), points }))
    }
}
