//! How well a generative model knows the data.

use crate::data::Samples;
use crate::error::Result;
use crate::measure::GenerativeHealth;
use crate::model::Generative;
use crate::model::vae::Vae;
use crate::parallel::over_shards;
use crate::seed::Seed;
use crate::tensor::{tensor, values};

/// Rows that one thread evaluates at a time.
const ROWS: usize = 256;

/// Mean ELBO, from one draw of z a row, and mean ℓ₁ distance between a row and its reconstruction.
pub fn health(vae: &Vae, samples: &Samples, seed: Seed) -> Result<GenerativeHealth> {
    let width = samples.width;
    let sums = over_shards(samples.len(), ROWS, |rows| -> Result<(f64, f64)> {
        let x = tensor(samples.x[rows.start * width..rows.end * width].to_vec(), [rows.len(), width]);
        let elbo = values(vae.elbo(&x, &mut seed.numbered("elbo", rows.start as u64)));
        let distance = values((vae.decode(&vae.encode(&x)?)? - x).abs());
        let sum = |numbers: Vec<f32>| numbers.iter().map(|&n| f64::from(n)).sum::<f64>();
        Ok((sum(elbo), sum(distance)))
    });
    let sums = sums.into_iter().collect::<Result<Vec<_>>>()?;
    let rows = samples.len() as f64;
    Ok(GenerativeHealth {
        elbo: sums.iter().map(|(elbo, _)| elbo).sum::<f64>() / rows,
        reconstruction_l1: sums.iter().map(|(_, distance)| distance).sum::<f64>() / rows,
        latent: vae.latent(),
    })
}
