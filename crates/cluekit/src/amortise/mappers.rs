//! The mappers of one kind for all pairs of groups, and what they were fitted under.
//!
//! `choice.rs` asks them for proposals, `file.rs` saves and loads them.

use super::{LearnFrom, Mapper, MapperKind, Neural, Thresholds};
use crate::distance::Distance;
use crate::error::Result;
use crate::search::{Decoding, Price};
use crate::seed::Seed;
use serde::{Deserialize, Serialize};

/// Mappers of one kind, one for each pair of groups.
#[derive(Clone, Debug)]
pub struct Mappers {
    /// The kind.
    pub kind: MapperKind,
    /// What they were fitted under.
    pub fitted_under: FittedUnder,
    /// One for each pair.
    pub all: Vec<Mapper>,
}

/// What mappers were fitted under, besides their kind and their groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FittedUnder {
    /// What they learned from.
    pub learn_from: LearnFrom,
    /// λ_θ, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda_theta: Option<f32>,
    /// Clusters at the most, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_clusters: Option<usize>,
    /// The λ_x that choices were made by.
    pub lambda_x: f32,
    /// The distance that choices were made by.
    pub distance: Distance,
    /// What was decoded for these choices.
    pub decoding: Decoding,
    /// Who was uncertain, and who certain.
    pub thresholds: Thresholds,
    /// Where randomness came from.
    pub seed: Seed,
}

impl Mappers {
    /// The network, if that is what all pairs share.
    pub fn network(&self) -> Option<&Neural> {
        self.all.iter().find_map(|mapper| mapper.map.network())
    }

    /// Refuses a cost that the mappers cannot serve.
    pub fn check(&self, price: &Price) -> Result<()> {
        self.network().map_or(Ok(()), |network| network.check(price))
    }
}
