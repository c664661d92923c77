//! How ordinary a counterfactual is among the training data, by the generative model's own measures.
//!
//! The reconstruction error ‖x − μ_θ(μ_φ(x))‖₁ and the ELBO of x, each as the share of training rows that have at most
//! as much. An adversarial change makes the model certain and the data's own model suspicious: a reconstruction error
//! that hardly any training row reaches, an ELBO that nearly all exceed.

use super::Models;
use super::descent::Descent;
use crate::data::spread_evenly;
use crate::error::Result;
use crate::explanation::{Clue, Plausibility};
use crate::model::parameters::{Layout, Parameters};
use crate::model::store::weights::Arrays;
use crate::parallel::over_shards;
use crate::seed::{Rng, Seed};
use crate::tensor::{Tensor, tensor, values};
use rand_distr::{Distribution, StandardNormal};
use std::borrow::Cow;
use std::sync::Arc;

/// Training rows to compare with at the most, evenly spread over the data.
pub(crate) const MOST_ROWS: usize = 4096;
/// Rows that one thread judges at a time.
const ROWS: usize = 128;
/// Draws of z for one ELBO.
const DRAWS: usize = 4;

/// Names of the measures in a file.
const ARRAYS: [&str; 3] = ["reconstruction", "elbo", "elbo_at_mean"];

/// The training data's reconstruction errors and ELBOs, in rising order.
#[derive(Clone, Debug)]
pub struct Plausible {
    reconstruction: Vec<f32>,
    elbo: Option<Vec<f32>>,
    /// ELBOs with z at the encoder's mean, which take no draw.
    at_mean: Option<Vec<f32>>,
    seed: Seed,
}

impl Plausible {
    /// Measures what is usual among encoded training `rows`.
    pub fn among(models: &Models, rows: &[f32], width: usize, seed: Seed) -> Result<Self> {
        let row = |row: usize| &rows[row * width..(row + 1) * width];
        let chosen: Cow<[f32]> = match rows.len() / width <= MOST_ROWS {
            true => Cow::Borrowed(rows),
            false => Cow::Owned(spread_evenly(rows.len() / width, MOST_ROWS).flat_map(row).copied().collect()),
        };
        let parts = over_shards(chosen.len() / width, ROWS, |range| {
            let rows = &chosen[range.start * width..range.end * width];
            scores(models, rows, width, seed, &[(range.start as u64, range.len())])
        });
        let (reconstruction, elbo): (Vec<_>, Vec<_>) =
            parts.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let sorted = |mut values: Vec<f32>| {
            values.sort_by(f32::total_cmp);
            values
        };
        let elbo: Option<Vec<Vec<f32>>> = elbo.into_iter().collect();
        let at_mean = over_shards(chosen.len() / width, ROWS, |range| {
            let rows = chosen[range.start * width..range.end * width].to_vec();
            Ok(models.generative.elbo_at_mean(&tensor(rows, [range.len(), width]))?.map(values))
        });
        let at_mean: Option<Vec<Vec<f32>>> = at_mean.into_iter().collect::<Result<Vec<_>>>()?.into_iter().collect();
        Ok(Self {
            reconstruction: sorted(reconstruction.concat()),
            elbo: elbo.map(|e| sorted(e.concat())),
            at_mean: at_mean.map(|e| sorted(e.concat())),
            seed,
        })
    }

    /// The measures as arrays, to be kept.
    pub(crate) fn parameters(&self) -> Result<Parameters> {
        let arrays = [Some(&self.reconstruction), self.elbo.as_ref(), self.at_mean.as_ref()];
        let mut layout = Layout::default();
        for (name, values) in ARRAYS.into_iter().zip(arrays).filter_map(|(name, values)| Some((name, values?))) {
            layout.push(name, &[values.len()]);
        }
        Parameters::new(Arc::new(layout), arrays.into_iter().flatten().flatten().copied().collect())
    }

    /// The measures that were kept for this seed.
    pub(crate) fn read(arrays: &Arrays, seed: Seed) -> Option<Self> {
        let [reconstruction, elbo, at_mean] = ARRAYS.map(|name| arrays.numbers(name).ok());
        let known = |values: &Option<Vec<f32>>| values.as_ref().is_none_or(|values| !values.is_empty());
        let reconstruction = reconstruction.filter(|values| !values.is_empty())?;
        (known(&elbo) && known(&at_mean)).then_some(Self { reconstruction, elbo, at_mean, seed })
    }

    /// How far each row lies outside of what all training rows but the oddest `share` are: 0 inside, 1 as far beyond as
    /// the middle row lies within.
    pub(super) fn oddness(&self, models: &Models, rows: &[f32], width: usize, share: f32) -> Result<Vec<f32>> {
        let x = tensor(rows.to_vec(), [rows.len() / width, width]);
        let beyond = |sorted: &[f32], values: Vec<f32>, sign: f32| -> Vec<f32> {
            let place = |share: f32| ((sorted.len() - 1) as f32 * share) as usize;
            let (odd, middle) = (sorted[place(if sign > 0.0 { share } else { 1.0 - share })], sorted[place(0.5)]);
            let spread = (middle - odd).abs().max(f32::MIN_POSITIVE);
            values.into_iter().map(|value| (sign * (odd - value) / spread).max(0.0)).collect()
        };
        match (&self.at_mean, models.generative.elbo_at_mean(&x)?) {
            (Some(sorted), Some(elbo)) => Ok(beyond(sorted, values(elbo), 1.0)),
            _ => {
                let decoded = models.decode(&models.encode(&x)?, width)?;
                Ok(beyond(&self.reconstruction, values((decoded - x).abs().sum_dim(1)), -1.0))
            }
        }
    }

    /// Judges some rows; `streams` has for each input its number and how many of the rows are its counterfactuals.
    fn judge(&self, models: &Models, rows: &[f32], width: usize, streams: &[Stream]) -> Result<Vec<Plausibility>> {
        let (reconstruction, elbo) = scores(models, rows, width, self.seed, streams)?;
        let judged = reconstruction.iter().enumerate().map(|(row, &error)| Plausibility {
            reconstruction: share_up_to(&self.reconstruction, error),
            elbo: elbo.as_ref().zip(self.elbo.as_ref()).map(|(elbo, all)| share_up_to(all, elbo[row])),
        });
        Ok(judged.collect())
    }
}

/// Writes the plausibility into every certificate; a clue that is no number has none.
pub(super) fn judge(descent: &Descent, plausible: &Plausible, sets: &mut [Vec<Clue>]) -> Result<()> {
    let (models, origins) = (descent.models, descent.origins);
    let clues = sets.iter().map(Vec::len).max().unwrap_or(0);
    let judged = over_shards(sets.len(), (ROWS / clues.max(1)).max(1), |at| {
        descent.go_on()?;
        let (sets, origins) = (&sets[at.clone()], &origins[at]);
        let rows: Vec<f32> = sets.iter().flatten().flat_map(|clue| clue.x.iter().copied()).collect();
        let streams: Vec<Stream> = origins.iter().zip(sets).map(|(o, set)| (o.index as u64, set.len())).collect();
        plausible.judge(models, &rows, origins[0].x.len(), &streams)
    });
    let mut judged = judged.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten();
    for clue in sets.iter_mut().flatten() {
        let plausibility = judged.next();
        clue.plausibility = plausibility.filter(|_| clue.x.iter().all(|value| value.is_finite()));
    }
    Ok(())
}

/// Number of a random stream, and of the rows that draw from it.
type Stream = (u64, usize);

/// Reconstruction error and ELBO of each row; each of the streams is for so many of them.
fn scores(
    models: &Models,
    rows: &[f32],
    width: usize,
    seed: Seed,
    streams: &[Stream],
) -> Result<(Vec<f32>, Option<Vec<f32>>)> {
    let x = tensor(rows.to_vec(), [rows.len() / width, width]);
    let decoded = models.decode(&models.encode(&x)?, width)?;
    let error = values((decoded - x.clone()).abs().sum_dim(1));
    let rng = |stream: u64| seed.numbered("plausibility", stream);
    let mut rngs: Vec<(Rng, usize)> = streams.iter().map(|&(stream, rows)| (rng(stream), rows)).collect();
    let latent = models.generative.latent_dim();
    let mut draw = || -> Tensor<2> {
        let of = |(rng, rows): &mut (Rng, usize)| -> Vec<f32> {
            StandardNormal.sample_iter(rng).take(*rows * latent).collect()
        };
        tensor(rngs.iter_mut().flat_map(of).collect(), [error.len(), latent])
    };
    let noise: Vec<Tensor<2>> = (0..DRAWS).map(|_| draw()).collect();
    if let Some(elbo) = models.generative.elbo_by(&x, &noise)? {
        return Ok((error, Some(values(elbo))));
    }
    // A model that draws by itself is asked stream after stream.
    let (mut elbos, mut first) = (Vec::with_capacity(error.len()), 0);
    for &(stream, rows) in streams.iter().filter(|(_, rows)| *rows > 0) {
        let (x, mut rng) = (x.clone().narrow(0, first, rows), rng(stream));
        let mut sum = vec![0.0; rows];
        for _ in 0..DRAWS {
            let Some(elbo) = models.generative.elbo(&x, &mut rng)? else { return Ok((error, None)) };
            sum.iter_mut().zip(values(elbo)).for_each(|(sum, elbo)| *sum += elbo / DRAWS as f32);
        }
        elbos.extend(sum);
        first += rows;
    }
    Ok((error, Some(elbos)))
}

/// The share of `sorted` values that are at most `value`.
fn share_up_to(sorted: &[f32], value: f32) -> f32 {
    sorted.partition_point(|&v| v <= value) as f32 / sorted.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_count_equals() {
        let sorted = [1.0, 2.0, 2.0, 5.0];
        assert_eq!([0.0, 2.0, 3.0, 9.0].map(|v| share_up_to(&sorted, v)), [0.0, 0.75, 0.75, 1.0]);
    }
}
