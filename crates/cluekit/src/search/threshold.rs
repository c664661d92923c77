//! Below which uncertainty a clue is accepted when nothing is said.

use crate::data::Task;
use crate::prediction::Prediction;
use crate::uncertainty::Uncertainty;

/// Training rows that are looked at, evenly spread over all.
pub(crate) const ROWS: usize = 1000;
/// Of the greatest possible entropy, log C.
const SHARE: f32 = 0.2;
/// As unsure as four to one between two classes: −0.8 ln 0.8 − 0.2 ln 0.2, in nats.
const FOUR_TO_ONE: f32 = 0.5;
/// What this share of the training rows stays below is usual for a model of values.
const USUAL: f64 = 0.9;
/// The same for the epistemic part, which is a part of it only.
const EPISTEMIC_SHARE: f32 = 0.05;

/// Default uncertainty below which a clue is accepted: what the surest quarter of the training rows stay below, since
/// noisy data never get as certain as clean ones. For classes it is at least a fifth of the greatest entropy (a
/// twentieth for the epistemic part); it is rounded to two digits.
pub fn usual_threshold(predictions: &[Prediction], task: &Task, kind: Uncertainty) -> f32 {
    let mut amounts: Vec<f32> = predictions.iter().map(|prediction| prediction.uncertainty.get(kind)).collect();
    amounts.sort_by(f32::total_cmp);
    let quarter = amounts.get(amounts.len() / 4).copied().unwrap_or(0.0);
    let least = match task {
        Task::Classification { classes } => {
            let share = if kind == Uncertainty::Epistemic { EPISTEMIC_SHARE } else { SHARE };
            share * (classes.len() as f32).ln()
        }
        Task::Regression(_) => 0.0,
    };
    two_digits(quarter.max(least))
}

/// Default total uncertainty above which a model counts as unsure: 0.5 nats, as at four to one between two classes; for
/// a regression what nine tenths of some training rows stay below. It is at least `accepted`, the threshold of clues.
pub fn unsure_above(predictions: &[Prediction], task: &Task, accepted: f32) -> f32 {
    if !task.is_regression() {
        return accepted.max(FOUR_TO_ONE);
    }
    let mut totals: Vec<f32> = predictions.iter().map(|prediction| prediction.uncertainty.total).collect();
    totals.sort_by(f32::total_cmp);
    let place = (USUAL * totals.len() as f64) as usize;
    totals.get(place.min(totals.len().saturating_sub(1))).copied().unwrap_or(0.0).max(accepted)
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
