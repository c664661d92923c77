//! S5: the path along which a class becomes more probable. [Ley2022, App. B]
//!
//! From z₀ small steps in the direction of ∇_z log p(y|z), which is that of ∇_z p(y|z), until the radius r is reached.
//! Starts lie at fractions j/m of the length of the path.

use super::ball::LatentBall;
use super::descent::Descent;
use super::init::{along, by_probability, shared_out, unit};
use crate::distance::latent_distance;
use crate::error::{Error, Result};
use crate::model::Predictive;
use crate::parallel::over_shards;
use crate::tensor::{Tensor, gradients, leaf, tensor};
use crate::uncertainty::{LEAST_PROBABILITY, mean_prediction};

/// Steps from z₀ to the radius on a straight path.
const STEPS: usize = 20;
/// A path that winds may take so many times the steps of a straight one.
const WINDING: usize = 3;
/// Paths that one thread follows at a time.
const ROWS: usize = 64;

/// `count` starts for each origin on the paths to `classes` (all of them if empty).
pub(super) fn class_paths(
    descent: &Descent,
    radii: &[f32],
    count: usize,
    classes: &[usize],
) -> Result<Vec<Vec<Vec<f32>>>> {
    descent.models.need_gradients()?;
    let origins = descent.origins;
    let mut wanted: Vec<(usize, usize, usize)> = Vec::new(); // input, class, starts
    for (input, origin) in origins.iter().enumerate() {
        let order = by_probability(&origin.prediction, origin.prediction.len());
        let order: Vec<usize> = order.into_iter().filter(|c| classes.is_empty() || classes.contains(c)).collect();
        let shares = shared_out(count, order.len().max(1));
        wanted.extend(order.into_iter().zip(shares).filter(|(_, n)| *n > 0).map(|(class, n)| (input, class, n)));
    }
    let paths = over_shards(wanted.len(), ROWS, |rows| follow(descent, radii, &wanted[rows]));
    let paths = paths.into_iter().collect::<Result<Vec<_>>>()?.concat();
    let mut starts = vec![Vec::with_capacity(count); origins.len()];
    for (path, &(input, _, n)) in paths.iter().zip(&wanted) {
        starts[input].extend((1..=n).map(|j| at_fraction(path, j as f64 / n as f64)));
    }
    Ok(starts)
}

/// The points of each path, z₀ first.
fn follow(descent: &Descent, radii: &[f32], wanted: &[(usize, usize, usize)]) -> Result<Vec<Vec<Vec<f32>>>> {
    let origins = descent.origins;
    let mut paths: Vec<Vec<Vec<f32>>> = wanted.iter().map(|&(input, ..)| vec![origins[input].z.clone()]).collect();
    let mut active: Vec<usize> = (0..wanted.len()).collect();
    for _ in 0..WINDING * STEPS {
        active.retain(|&row| {
            let input = wanted[row].0;
            let here = paths[row].last().expect("a path begins at z₀");
            latent_distance(here, &origins[input].z) < f64::from(radii[input]) * (1.0 - 1e-6)
        });
        if active.is_empty() {
            break;
        }
        descent.go_on()?;
        let places: Vec<&[f32]> = active.iter().map(|&row| paths[row].last().expect("z₀").as_slice()).collect();
        let goals: Vec<(usize, usize)> = active.iter().map(|&row| (wanted[row].0, wanted[row].1)).collect();
        let gradient = log_probability_gradient(descent, &places.concat(), &goals)?;
        let latent = gradient.len() / active.len();
        active = std::mem::take(&mut active)
            .into_iter()
            .zip(gradient.chunks_exact(latent))
            .filter_map(|(row, gradient)| {
                let (input, here) = (wanted[row].0, paths[row].last().expect("z₀"));
                let direction = unit(gradient.iter().map(|&g| f64::from(g)).collect());
                let mut next = along(here, &direction, f64::from(radii[input]) / STEPS as f64);
                LatentBall::new(radii[input]).ok()?.project(&mut next, &origins[input].z);
                // Where the probability is flat the path ends.
                let moves = direction.iter().any(|d| d.abs() > 0.0) && next.iter().all(|z| z.is_finite());
                moves.then(|| {
                    paths[row].push(next);
                    row
                })
            })
            .collect();
    }
    Ok(paths)
}

/// ∂ log p(class)/∂z of each row, which has an input and a class.
fn log_probability_gradient(descent: &Descent, z: &[f32], goals: &[(usize, usize)]) -> Result<Vec<f32>> {
    let rows = goals.len();
    let z: Tensor<2> = leaf(z.to_vec(), [rows, z.len() / rows]);
    let constants = descent.constants(goals.iter().map(|(input, _)| (*input, None)));
    let predictive = descent.models.predict(&constants.decode(descent.models, &z)?)?;
    if matches!(predictive, Predictive::Gaussian { .. }) {
        let problem =
            "`class-path` follows the probability of a class, and a regression has none; choose another scheme";
        return Err(Error::setting("init", problem));
    }
    let mean = mean_prediction(&predictive);
    let columns = mean.dims()[1];
    let mut chosen = vec![0.0; rows * columns];
    goals.iter().enumerate().for_each(|(row, (_, class))| chosen[row * columns + class] = 1.0);
    let logs = mean.clamp_min(LEAST_PROBABILITY).log() * tensor(chosen, [rows, columns]);
    Ok(gradients(&logs.sum(), &[z])?.remove(0))
}

/// The point at this share of a path's length.
fn at_fraction(path: &[Vec<f32>], fraction: f64) -> Vec<f32> {
    let lengths: Vec<f64> = path.windows(2).map(|pair| latent_distance(&pair[0], &pair[1])).collect();
    let mut left = fraction * lengths.iter().sum::<f64>();
    for (pair, &length) in path.windows(2).zip(&lengths) {
        if left <= length && length > 0.0 {
            let step = pair[1].iter().zip(&pair[0]).map(|(&b, &a)| (f64::from(b) - f64::from(a)) / length);
            return along(&pair[0], &step.collect::<Vec<_>>(), left);
        }
        left -= length;
    }
    path.last().expect("a path begins at z₀").clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_count_the_length_of_the_path() {
        // Three to the right, then one up: half of the length 4 is (2, 0), seven eighths (3, ½).
        let path = [vec![0.0, 0.0], vec![3.0, 0.0], vec![3.0, 1.0]];
        assert_eq!(at_fraction(&path, 0.5), [2.0, 0.0]);
        assert_eq!(at_fraction(&path, 0.875), [3.0, 0.5]);
        assert_eq!(at_fraction(&path, 1.0), [3.0, 1.0]);
        assert_eq!(at_fraction(&[vec![7.0]], 0.5), [7.0]);
    }
}
