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
    /// Kind of all the mappers.
    pub kind: MapperKind,
    /// Settings that the mappers were fitted under.
    pub fitted_under: FittedUnder,
    /// The mappers, one for each pair of groups.
    pub all: Vec<Mapper>,
}

/// Settings that mappers were fitted under, besides their kind and their groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FittedUnder {
    /// Source of the certain examples.
    pub learn_from: LearnFrom,
    /// Weight λ_θ; none if it was chosen on validation rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda_theta: Option<f32>,
    /// Largest number of clusters of a group; none for a kind without clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_clusters: Option<usize>,
    /// Weight λ_x of the distance in the cost that choices were made by.
    pub lambda_x: f32,
    /// Distance between inputs in the cost that choices were made by.
    pub distance: Distance,
    /// Weight of each column in that distance; empty where all weigh the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f32>,
    /// How codes became inputs when choices were made.
    pub decoding: Decoding,
    /// Limits between uncertain, certain and other rows.
    pub thresholds: Thresholds,
    /// Seed of all randomness in the fit.
    pub seed: Seed,
    /// Revision of the way in which Eq. 2 is minimised; 0 for kinds that are fitted otherwise.
    #[serde(default, skip_serializing_if = "is_first")]
    pub revision: u32,
}

/// Revision of the way in which Eq. 2 is minimised: raised whenever the same rows give another map than before.
const REVISION: u32 = 1;

impl FittedUnder {
    /// The revision of what is fitted now for this kind of mapper.
    pub(super) fn revision_of(kind: MapperKind) -> u32 {
        match kind {
            MapperKind::Glam | MapperKind::Clusters | MapperKind::Scaled | MapperKind::Affine => REVISION,
            _ => 0,
        }
    }

    /// Whether these are the settings of `now`, by an older way of fitting.
    pub fn is_older_than(&self, now: &Self) -> bool {
        self.revision < now.revision && Self { revision: now.revision, ..self.clone() } == *now
    }
}

fn is_first(revision: &u32) -> bool {
    *revision == 0
}

impl Mappers {
    /// The network that all pairs share; none for other kinds.
    pub fn network(&self) -> Option<&Neural> {
        self.all.iter().find_map(|mapper| mapper.map.network())
    }

    /// An error if the mappers cannot serve a cost: a network serves only the distance that it was trained for, without
    /// anchoring.
    pub fn check(&self, price: &Price) -> Result<()> {
        self.network().map_or(Ok(()), |network| network.check(price))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::toy::fitted_under;

    #[test]
    fn a_mapper_is_outdated_if_nothing_but_the_way_of_fitting_has_changed() {
        let now = fitted_under();
        let before = FittedUnder { revision: 0, ..now.clone() };
        assert!(before.is_older_than(&now) && !now.is_older_than(&now) && !now.is_older_than(&before));
        assert!(!FittedUnder { lambda_x: 0.5, ..before.clone() }.is_older_than(&now));
        let written = serde_json::to_value(&before).unwrap();
        assert_eq!(written.get("revision"), None, "as it was written before there was one");
        assert_eq!(serde_json::from_value::<FittedUnder>(written).unwrap(), before);
    }
}
