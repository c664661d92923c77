//! Below which uncertainty a clue is accepted when nothing is said.

use super::Models;
use crate::data::{Samples, Task};
use crate::error::Result;
use crate::prediction::predict;
use crate::uncertainty::Uncertainty;

/// Training rows that are looked at, evenly spread over all.
const ROWS: usize = 1000;
/// Of the greatest possible entropy, log C.
const SHARE: f32 = 0.2;
/// The same for the epistemic part, which is a part of it only.
const EPISTEMIC_SHARE: f32 = 0.05;

/// What the surest quarter of the training rows stays below: noisy data never get as certain as clean ones. For
/// classes at least a fifth of the greatest entropy (a twentieth for the epistemic part), rounded to two digits that people can read.
pub fn usual_threshold(models: &Models, train: &Samples, kind: Uncertainty) -> Result<f32> {
    let rows: Vec<usize> = (0..train.len()).step_by(train.len().div_ceil(ROWS).max(1)).collect();
    let predictions = predict(models.predictor, &train.select(&rows), models.task())?;
    let mut amounts: Vec<f32> = predictions.iter().map(|prediction| prediction.uncertainty.get(kind)).collect();
    amounts.sort_by(f32::total_cmp);
    let quarter = amounts.get(amounts.len() / 4).copied().unwrap_or(0.0);
    let least = match models.task() {
        Task::Classification { classes } => {
            let share = if kind == Uncertainty::Epistemic { EPISTEMIC_SHARE } else { SHARE };
            share * (classes.len() as f32).ln()
        }
        Task::Regression(_) => 0.0,
    };
    Ok(two_digits(quarter.max(least)))
}

fn two_digits(value: f32) -> f32 {
    if value <= 0.0 {
        return f32::MIN_POSITIVE;
    }
    let unit = 10f64.powi(f64::from(value).log10().floor() as i32 - 1);
    ((f64::from(value) / unit).round() * unit) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_numbers_that_people_can_read() {
        let read = [0.460_517, 0.1386, 123.4, 0.00512].map(|value| two_digits(value).to_string());
        assert_eq!(read, ["0.46", "0.14", "120", "0.0051"]);
    }
}
