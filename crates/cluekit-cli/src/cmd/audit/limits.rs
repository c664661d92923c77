//! From which uncertainty on a model is called unsure when nothing is said.

use crate::cmd::run::Run;
use anyhow::Result;
use cluekit::data::Samples;
use cluekit::prediction::predict;

/// As unsure as four to one between two classes: −0.8 ln 0.8 − 0.2 ln 0.2, in nats.
const FOUR_TO_ONE: f32 = 0.5;
/// Training rows that are looked at, evenly spread over all.
const ROWS: usize = 1000;
/// What this share of them stays below is ordinary for a model of values.
const ORDINARY: f64 = 0.9;

/// Four to one between two classes, or what clues are `accepted` below if that is more; of values what is ordinary among
/// the training rows.
pub fn unsure_above(run: &Run, train: &Samples, accepted: f32) -> Result<f32> {
    let task = &run.schema.target.task;
    if !task.is_regression() {
        return Ok(accepted.max(FOUR_TO_ONE));
    }
    let rows: Vec<usize> = (0..train.len()).step_by(train.len().div_ceil(ROWS).max(1)).collect();
    let predictions = predict(&run.predictor, &train.select(&rows), task)?;
    let mut totals: Vec<f32> = predictions.iter().map(|prediction| prediction.uncertainty.total).collect();
    totals.sort_by(f32::total_cmp);
    let place = (ORDINARY * totals.len() as f64) as usize;
    Ok(totals.get(place.min(totals.len().saturating_sub(1))).copied().unwrap_or(0.0).max(accepted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_to_one_is_half_a_nat() {
        let entropy = -(0.8_f64 * 0.8_f64.ln() + 0.2 * 0.2_f64.ln());
        assert!((entropy - f64::from(FOUR_TO_ONE)).abs() < 1e-3, "{entropy}");
    }
}
