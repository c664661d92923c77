//! Whether a model's uncertainty can be trusted, measured on the rows of a split.

use super::{Explainer, Split};
use crate::audit::Trust;
use crate::data::{Samples, Targets};
use crate::error::Result;
use crate::measure::{Health, Predictions, Reliability, generative_health, predictor_health, rejection_curve};
use crate::prediction::probabilities;
use crate::tensor::{tensor, values};

impl Explainer {
    /// Scores of both models on a split, and the curves behind them.
    pub fn measure(&self, split: Split) -> Result<Trust> {
        let (samples, predictions) = (self.samples(split)?, self.predictions(split)?);
        let predictor = predictor_health(self.predictor(), &predictions, &samples, &self.task)?;
        let generative = match self.has_generative() {
            true => Some(generative_health(self.generative()?, &samples, self.training_seed())?),
            false => None,
        };
        let (mut reliability, mut rejection) = (None, None);
        if let Targets::Classes(labels) = &samples.y {
            let probabilities = probabilities(&predictions);
            let checked = Predictions::new(&probabilities, self.classes().len(), labels)?;
            let uncertainty: Vec<f64> = predictions.iter().map(|p| f64::from(p.uncertainty.total)).collect();
            reliability = Some(Reliability::of(&checked));
            rejection = Some(rejection_curve(&uncertainty, &checked.wrong())?);
        }
        Ok(Trust { health: Health { predictor, generative }, reliability, rejection })
    }

    /// What the generative model makes of some rows, row after row.
    pub fn reconstructed(&self, rows: &Samples) -> Result<Vec<f32>> {
        let model = self.generative()?;
        let x = tensor(rows.x.clone(), [rows.len(), rows.width]);
        Ok(values(model.decode(&model.encode(&x)?)?))
    }
}
