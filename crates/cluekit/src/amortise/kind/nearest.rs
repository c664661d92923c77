//! `input-nn` and `latent-nn`: the certain training row nearest to x₀, and μ_θ of the certain code nearest to z₀.

use super::{Functions, Learned, Saved, proposal};
use crate::amortise::points::{Points, nearest_l1};
use crate::amortise::{Encoded, Fit, Group, Map};
use crate::error::Result;
use crate::parallel::over_shards;
use crate::search::{Models, Price, Proposal};
use std::sync::Arc;

pub(super) const BY_INPUT: Functions =
    Functions { fit: |fit, _, groups, _| Ok(certain_rows(fit, groups, false)), saved: Saved::Never };

pub(super) const BY_CODE: Functions =
    Functions { fit: |fit, _, groups, _| Ok(certain_rows(fit, groups, true)), saved: Saved::Never };

fn certain_rows(fit: &Fit, groups: &[Group], latent: bool) -> Vec<Learned> {
    let nearest = |group: &Group| Nearest { latent, certain: Arc::new(fit.train.select(&group.certain)) };
    groups.iter().map(|group| Learned::plain(nearest(group))).collect()
}

/// A map to the nearest of some certain rows.
#[derive(Clone, Debug)]
pub struct Nearest {
    /// Whether rows are compared by code in the Euclidean distance; otherwise by input in the ℓ1 distance.
    pub latent: bool,
    /// The certain rows to choose from.
    pub certain: Arc<Encoded>,
}

impl Map for Nearest {
    fn propose(&self, _: &Models, rows: &Encoded, name: &str, _: &Price) -> Result<Vec<Vec<Proposal>>> {
        let Self { latent, certain } = self;
        let places = match latent {
            true => Points::new(&certain.z, rows.latent).nearest(&rows.z),
            false => over_shards(rows.len(), 1, |at| {
                nearest_l1(rows.x(at.start), certain.x.chunks_exact(certain.width)).unwrap_or(0)
            }),
        };
        let row = |place: usize| Proposal {
            x: (!latent).then(|| certain.x(place).to_vec()),
            ..proposal(certain.z(place), name)
        };
        Ok(places.into_iter().map(|place| vec![row(place)]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::toy::{Same, Sigmoid, rows};

    #[test]
    fn the_nearest_by_code_is_euclidean_and_the_nearest_by_input_is_not() {
        // From (0, 0): (2, 2) is 2.8 away and 4 around the corner, (3.5, 0) is 3.5 away both ways.
        let same = Same { width: 2, scale: 2.0 };
        let models = Models::new(&same, &Sigmoid);
        let certain = Arc::new(rows(&models, &[2.0, 2.0, 3.5, 0.0], 2, &[1, 1]));
        let rows = rows(&models, &[0.0, 0.0, 5.0, 0.0], 2, &[1, 1]);
        let propose = |latent: bool| {
            let map = Nearest { latent, certain: certain.clone() };
            map.propose(&models, &rows, "nearest", &Price::default()).unwrap().concat()
        };
        let proposal = |z: [f32; 2], x: Option<[f32; 2]>| Proposal {
            z: z.to_vec(),
            x: x.map(|x| x.to_vec()),
            mapper: "nearest".into(),
        };
        assert_eq!(propose(true), [proposal([4.0, 4.0], None), proposal([7.0, 0.0], None)]);
        let far = proposal([7.0, 0.0], Some([3.5, 0.0]));
        assert_eq!(propose(false), [far.clone(), far]);
    }
}
