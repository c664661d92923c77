//! The kinds of mapper, one file each: how it is fitted, what it proposes, and how it lies in a file.
//!
//! | mapper | counterfactual of x₀ with code z₀ |
//! |---|---|
//! | `reconstruction` | μ_θ(z₀): nothing is changed; who does not beat it has learned nothing |
//! | `input-dbm` | x₀ + difference of means, clipped to the data's range, reconstructed |
//! | `latent-dbm` | μ_θ(z₀ + latent difference of means) |
//! | `input-nn` | the certain training row nearest to x₀ |
//! | `latent-nn` | μ_θ of the code of a certain training row that is nearest to z₀ |
//! | `glam` | μ_θ(z₀ + θ), θ from Eq. 2 |
//! | `clusters` | the same with a θ for each cluster of uncertain codes |
//! | `scaled` | μ_θ(z₀ + s θ), the length s chosen for each input |
//! | `affine` | μ_θ(z₀ + A z₀ + b) |
//! | `neural` | μ_θ(z₀ + g(x₀, z₀, …)) |
//!
//! A new kind is a file with its [`Functions`] and its [`Map`], a variant of [`MapperKind`], and a line in
//! [`MapperKind::functions`].

mod affine;
pub(super) mod clusters;
mod glam;
pub(super) mod input_dbm;
mod latent_dbm;
pub(super) mod nearest;
pub(super) mod neural;
pub(super) mod reconstruction;
pub(super) mod scaled;

use super::record::{GroupRecord, Record};
use super::{Fit, Group, Map, MapperPlan, Mappers, Pair};
use crate::error::Result;
use crate::model::parameters::{Layout, Parameters};
use crate::observer::Observer;
use crate::search::{Models, Proposal};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

crate::named! {
    "method", "a mapper";
    /// The kinds of mapper.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum MapperKind {
        /// Baseline: the reconstruction of the input, without any change.
        Reconstruction = "reconstruction",
        /// Baseline: adds the difference between the means of certain and uncertain inputs.
        InputDbm = "input-dbm",
        /// Baseline: adds the difference between the means of certain and uncertain codes.
        LatentDbm = "latent-dbm",
        /// Baseline: the nearest certain training row by input, in the ℓ1 distance.
        InputNn = "input-nn",
        /// Baseline: the nearest certain training row by code, in the Euclidean distance.
        LatentNn = "latent-nn",
        /// GLAM-CLUE: one learned translation of codes for each pair of groups.
        #[default]
        Glam = "glam",
        /// One learned translation for each cluster of codes.
        Clusters = "clusters",
        /// One learned translation that is tried in several lengths for each input.
        Scaled = "scaled",
        /// A learned matrix and a learned translation.
        Affine = "affine",
        /// One learned network for all pairs of groups.
        Neural = "neural",
    }
}

impl MapperKind {
    /// What this kind does: one line for each.
    pub(super) fn functions(self) -> Functions {
        match self {
            Self::Reconstruction => reconstruction::FUNCTIONS,
            Self::InputDbm => input_dbm::FUNCTIONS,
            Self::LatentDbm => latent_dbm::FUNCTIONS,
            Self::InputNn => nearest::BY_INPUT,
            Self::LatentNn => nearest::BY_CODE,
            Self::Glam => glam::FUNCTIONS,
            Self::Clusters => clusters::FUNCTIONS,
            Self::Scaled => scaled::FUNCTIONS,
            Self::Affine => affine::FUNCTIONS,
            Self::Neural => neural::FUNCTIONS,
        }
    }

    /// Whether the mapper follows from the groups alone, with nothing to learn and nothing to save.
    pub fn is_baseline(self) -> bool {
        matches!(self.functions().saved, Saved::Never)
    }
}

/// What a kind of mapper does; what its maps propose is their [`Map::propose`].
pub(super) struct Functions {
    /// Makes a map for each group.
    pub fit: FitGroups,
    /// How the maps lie in a file.
    pub saved: Saved,
}

/// From groups of training rows to what is learned for each.
pub(super) type FitGroups = fn(&mut Fit, &MapperPlan, &[Group], &mut dyn Observer) -> Result<Vec<Learned>>;

/// From arrays that all groups share to a map for each pair.
pub(super) type ReadTogether = fn(&Record, &Models, Parameters, &[Pair]) -> Vec<Arc<dyn Map>>;

/// How the maps of a kind lie in a file.
pub(super) enum Saved {
    /// Nowhere: a baseline is made anew from its groups.
    Never,
    /// Each group has arrays of its own; [`Map::numbers`] writes them.
    EachGroup {
        /// Their names and shapes, for codes of so many columns.
        layout: fn(usize, &GroupRecord) -> Layout,
        /// The map that these numbers belong to, for codes of so many columns.
        read: fn(&[f32], usize, &GroupRecord) -> Arc<dyn Map>,
    },
    /// One set of arrays serves all groups.
    Together {
        /// The arrays.
        write: fn(&Mappers) -> Result<Parameters>,
        /// Their names and shapes, or what is wrong with the record.
        layout: fn(&Record, &Models) -> std::result::Result<Arc<Layout>, String>,
        /// A map for each pair.
        read: ReadTogether,
    },
}

/// What was learned for one group.
pub(super) struct Learned {
    /// The map.
    pub map: Arc<dyn Map>,
    /// λ_θ that was given or chosen, where there is one.
    pub lambda_theta: Option<f32>,
    /// What had to be done otherwise than asked for.
    pub notes: Vec<String>,
}

impl Learned {
    /// A map without λ_θ and without notes.
    fn plain(map: impl Map + 'static) -> Self {
        Self { map: Arc::new(map), lambda_theta: None, notes: vec![] }
    }
}

/// A proposal of this code.
fn proposal(z: &[f32], name: &str) -> Proposal {
    Proposal { z: z.to_vec(), x: None, mapper: name.into() }
}

/// One proposal for each of some codes, one behind the other.
pub(super) fn one_each(z: &[f32], latent: usize, name: &str) -> Vec<Vec<Proposal>> {
    z.chunks_exact(latent).map(|z| vec![proposal(z, name)]).collect()
}

/// z + length · translation.
fn added(z: &[f32], translation: &[f32], length: f32) -> Vec<f32> {
    z.iter().zip(translation).map(|(z, t)| z + length * t).collect()
}

/// The codes that a map proposes for each row of `x`.
#[cfg(test)]
pub(super) fn codes_of(map: &dyn Map, models: &Models, x: &[f32], width: usize) -> Vec<Vec<Vec<f32>>> {
    let rows = super::toy::rows(models, x, width, &vec![0; x.len() / width]);
    let proposals = map.propose(models, &rows, "mine", &crate::search::Price::default()).unwrap();
    let code = |proposal: Proposal| {
        assert_eq!((proposal.mapper.as_str(), proposal.x), ("mine", None));
        proposal.z
    };
    proposals.into_iter().map(|set| set.into_iter().map(code).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_chosen_by_its_name() {
        for kind in MapperKind::ALL {
            assert_eq!(kind.name().parse::<MapperKind>().unwrap(), kind);
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        let baselines: Vec<&str> =
            MapperKind::ALL.into_iter().filter(|kind| kind.is_baseline()).map(MapperKind::name).collect();
        assert_eq!(baselines, ["reconstruction", "input-dbm", "latent-dbm", "input-nn", "latent-nn"]);
        let message = "glum".parse::<MapperKind>().unwrap_err().to_string();
        assert!(message.contains("`glum`") && message.contains("glam, clusters"), "{message}");
    }
}
