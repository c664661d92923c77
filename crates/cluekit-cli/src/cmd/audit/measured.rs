//! What the rows of an audit say of a model: can it be trusted, and where is it unsure.

use crate::cmd::run::Run;
use anyhow::Result;
use cluekit::audit::{ClassRow, FeatureBand, Hesitation, Rows, Spread, Tally, Trust, Whereabouts};
use cluekit::data::{Samples, Schema, Targets};
use cluekit::measure::{Health, Predictions, Reliability, generative_health, predictor_health, rejection_curve};
use cluekit::model::Generative;
use cluekit::prediction::{Prediction, probabilities};

/// Scores of both models, and the curves behind them.
pub fn trust(
    run: &Run,
    generative: Option<&dyn Generative>,
    samples: &Samples,
    predictions: &[Prediction],
) -> Result<Trust> {
    let task = &run.schema.target.task;
    let predictor = predictor_health(&run.predictor, predictions, samples, task)?;
    let generative = generative.map(|model| generative_health(model, samples, run.record.seed)).transpose()?;
    let (mut reliability, mut rejection) = (None, None);
    if let Targets::Classes(labels) = &samples.y {
        let probabilities = probabilities(predictions);
        let checked = Predictions::new(&probabilities, task.classes().len(), labels)?;
        let uncertainty: Vec<f64> = predictions.iter().map(|p| f64::from(p.uncertainty.total)).collect();
        reliability = Some(Reliability::of(&checked));
        rejection = Some(rejection_curve(&uncertainty, &checked.wrong())?);
    }
    Ok(Trust { health: Health { predictor, generative }, reliability, rejection })
}

/// Counts over all rows, classes and features.
pub fn whereabouts(schema: &Schema, samples: &Samples, predictions: &[Prediction], unsure_above: f32) -> Whereabouts {
    let rows = Rows { samples, predictions, task: &schema.target.task, unsure_above };
    Whereabouts {
        tally: Tally::of(&rows),
        spread: Spread::of(&rows),
        classes: ClassRow::of(&rows),
        hesitations: Hesitation::of(&rows),
        bands: FeatureBand::of(&rows, schema),
    }
}
