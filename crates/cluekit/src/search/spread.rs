//! Starts that are spread apart before the search begins: n_i steps of gradient ascent on D. [Ley2022, App. D]
//!
//! In latent space D is a function of the codes alone, so this costs next to nothing; in the other spaces the codes
//! are decoded, and predicted, at every step.

use super::coupling::{Coupling, Order};
use super::descent::{Descent, Start};
use super::objective::{DiversityTerm, Weighted};
use crate::diversity::Space;
use crate::error::Result;
use crate::model::adam::Adam;
use crate::parallel::over_shards;
use crate::tensor::{Tensor, gradients, leaf, tensor, values};
use crate::uncertainty::mean_prediction;

/// Moves the starts of each input, `together` of them side by side, apart by `steps` steps.
pub(super) fn spread(
    descent: &Descent,
    starts: &mut [Start],
    together: usize,
    steps: usize,
    term: DiversityTerm,
) -> Result<()> {
    match term.space {
        Space::Z => {}
        Space::X => descent.models.need_gradient_of_decoder()?,
        Space::Y => descent.models.need_gradients()?,
    }
    // A descent on −D.
    let coupling = Coupling { term: Weighted(1.0, term), order: Order::Simultaneous };
    let sets: Vec<&[Start]> = starts.chunks(together).collect();
    let moved = over_shards(sets.len(), 1, |set| ascend(descent, sets[set.start], steps, coupling));
    let moved = moved.into_iter().collect::<Result<Vec<_>>>()?.concat();
    let latent = moved.len() / starts.len();
    starts.iter_mut().zip(moved.chunks_exact(latent)).for_each(|(start, z)| start.z = z.to_vec());
    Ok(())
}

fn ascend(descent: &Descent, set: &[Start], steps: usize, coupling: Coupling) -> Result<Vec<f32>> {
    let origin = &descent.origins[set[0].input];
    let latent = origin.z.len();
    let mut z: Vec<f32> = set.iter().flat_map(|start| start.z.iter().copied()).collect();
    let mut adam = Adam::new(z.len());
    for _ in 0..steps {
        descent.go_on()?;
        let shape = [set.len(), latent];
        let gradient = match coupling.space() {
            Space::Z => coupling.at(&z, latent, origin, None)?.1.into_iter().map(|g| g as f32).collect(),
            space => {
                let point = leaf(z.clone(), shape);
                let x =
                    descent.constants(set.iter().map(|start| (start.input, None))).decode(descent.models, &point)?;
                let points: Tensor<2> = match space {
                    Space::Y => mean_prediction(&descent.models.predict(&x)?),
                    _ => x,
                };
                let width = points.dims()[1];
                let (_, pull) = coupling.at(&values(points.clone()), width, origin, None)?;
                let pull = tensor(pull.into_iter().map(|g| g as f32).collect(), [set.len(), width]);
                gradients(&(points * pull).sum(), &[point])?.remove(0)
            }
        };
        adam.step(&mut z, &gradient, descent.walk.rate(0), 0.0);
        z.chunks_exact_mut(latent).for_each(|z| origin.ball.project(z, &origin.z));
    }
    Ok(z)
}
