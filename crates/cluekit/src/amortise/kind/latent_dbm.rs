//! `latent-dbm`: μ_θ(z₀ + difference between means of codes). Its map is a [`LatentMap`], as that of `glam`.

use super::{Functions, Learned, Saved};
use crate::amortise::encoded::mean;
use crate::amortise::fit::difference;
use crate::amortise::translation::LatentMap;
use crate::amortise::{Encoded, Group};

pub(super) const FUNCTIONS: Functions = Functions {
    fit: |fit, _, groups, _| {
        let map = |group| LatentMap::translation(latent_difference(fit.train, group));
        Ok(groups.iter().map(|group| Learned::plain(map(group))).collect())
    },
    saved: Saved::Never,
};

/// Mean of certain codes minus mean of uncertain ones.
fn latent_difference(train: &Encoded, group: &Group) -> Vec<f32> {
    let of = |rows: &[usize]| mean(rows.iter().map(|&row| train.z(row)), train.latent);
    difference(&of(&group.certain), &of(&group.uncertain))
}
