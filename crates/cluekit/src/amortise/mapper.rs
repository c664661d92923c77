//! A mapper turns uncertain inputs of one group into counterfactuals in one call.

use super::{Encoded, Neural, Pair};
use crate::error::Result;
use crate::search::{Models, Price, Proposal};
use std::fmt;
use std::sync::Arc;

/// What a mapper has learned: a map from uncertain inputs to counterfactuals.
pub trait Map: fmt::Debug + Send + Sync {
    /// Proposes counterfactuals for each of `rows`, under the name `name`.
    fn propose(&self, models: &Models, rows: &Encoded, name: &str, price: &Price) -> Result<Vec<Vec<Proposal>>>;

    /// The numbers of the map, in the order of its arrays in a file; empty for a map that is never saved.
    fn numbers(&self) -> Vec<f32> {
        vec![]
    }

    /// Number of clusters that the map tells apart; none for a map without clusters.
    fn clusters(&self) -> Option<usize> {
        None
    }

    /// The translation θ, if the map is a single translation.
    fn translation(&self) -> Option<&[f32]> {
        None
    }

    /// The network of the map, which all pairs share; none for other maps.
    fn network(&self) -> Option<&Neural> {
        None
    }
}

/// The mapper of one pair of groups, with what it was learned from.
#[derive(Clone, Debug)]
pub struct Mapper {
    /// Groups that the mapper leads from and to.
    pub pair: Pair,
    /// The learned map.
    pub map: Arc<dyn Map>,
    /// Weight λ_θ that was given or chosen; none for a kind without Eq. 2.
    pub lambda_theta: Option<f32>,
    /// Number of uncertain training rows in the group.
    pub uncertain: usize,
    /// Number of certain training rows in the group.
    pub certain: usize,
    /// Uncertainty above which a training row counted as uncertain.
    pub uncertain_above: f32,
    /// Uncertainty below which a training row counted as certain.
    pub certain_below: f32,
    /// Notes on each choice that differs from what was asked for.
    pub notes: Vec<String>,
}

impl Mapper {
    /// Proposes counterfactuals for each of `rows`, under the name `name`.
    pub fn propose(&self, models: &Models, rows: &Encoded, name: &str, price: &Price) -> Result<Vec<Vec<Proposal>>> {
        self.map.propose(models, rows, name, price)
    }
}
