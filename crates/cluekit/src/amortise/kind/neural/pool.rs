//! What the neural mapper learns from: uncertain training rows, and mixtures of training rows.

use super::NeuralPlan;
use super::network::as_samples;
use crate::amortise::Encoded;
use crate::amortise::encoded::decoded;
use crate::data::{Samples, Targets};
use crate::error::Result;
use crate::parallel::over_shards;
use crate::prediction::predict_watched;
use crate::search::Models;
use crate::seed::{Rng, Seed};
use rand::RngExt;

/// Rows that one thread mixes at a time.
const ROWS: usize = 256;
/// Draws until two rows of different classes are found; then two of one class have to do.
const MOST_DRAWS: usize = 20;

/// Told how many rows are done; says with an error that work is to end.
pub(super) type Done<'a> = &'a (dyn Fn(usize) -> Result<()> + Sync);

pub(super) fn uncertain(rows: &Encoded, above: f32) -> Vec<usize> {
    (0..rows.len()).filter(|&row| rows.predictions[row].uncertainty.total > above).collect()
}

/// The uncertainty that this share of the rows exceeds.
pub(super) fn learned_above(rows: &Encoded, share: f64) -> f32 {
    let mut amounts: Vec<f32> = rows.predictions.iter().map(|prediction| prediction.uncertainty.total).collect();
    amounts.sort_by(f32::total_cmp);
    amounts[((1.0 - share) * (amounts.len() - 1) as f64) as usize]
}

/// What is learned from: uncertain mixtures, uncertain training rows, and some of the others.
pub(super) fn pool(
    models: &Models,
    train: &Encoded,
    plan: &NeuralPlan,
    above: f32,
    seed: Seed,
    done: Done,
) -> Result<Samples> {
    let mixed = mixtures(models, train, plan, seed, done)?;
    let mixed = mixed.select(&uncertain(&mixed, above));
    let real = uncertain(train, above);
    let others =
        ((mixed.len() + plan.repeats * real.len()) as f64 * plan.others_share / (1.0 - plan.others_share)) as usize;
    let mut rng = seed.stream("neural mapper: other rows");
    let others = (0..others.max(1)).map(|_| rng.random_range(0..train.len()));
    let repeated = real.iter().copied().cycle().take(plan.repeats * real.len());
    let rows: Vec<usize> = repeated.chain(others).collect();
    let mut pool = as_samples(&mixed, models.task());
    let real = as_samples(&train.select(&rows), models.task());
    pool.x.extend(real.x);
    Ok(Samples { y: Targets::Classes(vec![0; pool.x.len() / real.width]), width: real.width, x: pool.x, weights: None })
}

/// Rows between two training rows of different classes, as the generative model sees them; `done` hears of each twice,
/// when it is made and when it is predicted.
pub(super) fn mixtures(models: &Models, train: &Encoded, plan: &NeuralPlan, seed: Seed, done: Done) -> Result<Encoded> {
    let width = train.width;
    let parts = over_shards(plan.mixtures, ROWS, |range| -> Result<Vec<f32>> {
        done(range.len())?;
        let mut rng = seed.numbered("neural mapper: mixtures", range.start as u64);
        let (mut between, mut parents, mut scales) = (Vec::new(), Vec::new(), Vec::new());
        for _ in range {
            let a = rng.random_range(0..train.len());
            let b = draw_other(train, a, &mut rng);
            let share = plan.mixing + (0.5 - plan.mixing) * rng.random_range(0.0..1.0f32);
            between.extend(train.z(a).iter().zip(train.z(b)).map(|(a, b)| (1.0 - share) * a + share * b));
            parents.push(a);
            scales.push(1.0 + (plan.left_out - 1.0) * rng.random_range(0.0..1.0f32));
        }
        let codes: Vec<f32> = parents.iter().flat_map(|&parent| train.z(parent)).copied().collect();
        let of_parents = decoded(models, &codes, width)?;
        let mut x = decoded(models, &between, width)?;
        for (row, x) in x.chunks_exact_mut(width).enumerate() {
            let of_parent = &of_parents[row * width..(row + 1) * width];
            for ((x, parent), decoded) in x.iter_mut().zip(train.x(parents[row])).zip(of_parent) {
                *x += scales[row] * (parent - decoded);
            }
            if models.schema.is_some_and(|schema| schema.image.is_some()) {
                x.iter_mut().for_each(|value| *value = value.clamp(0.0, 1.0));
            }
        }
        Ok(x)
    });
    let x = parts.into_iter().collect::<Result<Vec<_>>>()?.concat();
    let y = Targets::Values(vec![0.0; x.len() / width]);
    let samples = Samples { x, width, y, weights: None };
    let predictions = predict_watched(models.predictor, &samples, models.task(), done)?;
    Encoded::with_predictions(models, samples, predictions)
}

/// A row of another class than row `a`, where there is one.
pub(super) fn draw_other(train: &Encoded, a: usize, rng: &mut Rng) -> usize {
    let mut b = rng.random_range(0..train.len());
    for _ in 0..MOST_DRAWS {
        if train.class(a) != train.class(b) {
            break;
        }
        b = rng.random_range(0..train.len());
    }
    b
}
