//! A mapper turns uncertain inputs of one group into counterfactuals in one call.

use super::{Encoded, Neural, Pair};
use crate::error::Result;
use crate::search::{Models, Price, Proposal};
use std::fmt;
use std::sync::Arc;

/// What a mapper has learned: a map from uncertain inputs to counterfactuals.
pub trait Map: fmt::Debug + Send + Sync {
    /// The counterfactuals that it proposes for each of some rows; `name` is what they are called.
    fn propose(&self, models: &Models, rows: &Encoded, name: &str, price: &Price) -> Result<Vec<Vec<Proposal>>>;

    /// Its numbers, in the order of its arrays in a file; a map that is never saved has none.
    fn numbers(&self) -> Vec<f32> {
        vec![]
    }

    /// How many clusters it tells apart, if it does.
    fn clusters(&self) -> Option<usize> {
        None
    }

    /// θ, if it is one translation.
    fn translation(&self) -> Option<&[f32]> {
        None
    }

    /// Its network, if it has one; all pairs share it.
    fn network(&self) -> Option<&Neural> {
        None
    }
}

/// The mapper of one pair of groups, with what it was learned from.
#[derive(Clone, Debug)]
pub struct Mapper {
    /// What it leads from and to.
    pub pair: Pair,
    /// What was learned.
    pub map: Arc<dyn Map>,
    /// λ_θ that was given or chosen; nothing where Eq. 2 has no part.
    pub lambda_theta: Option<f32>,
    /// How many uncertain training rows the group has.
    pub uncertain: usize,
    /// How many certain training rows it has.
    pub certain: usize,
    /// Training rows above this uncertainty were uncertain.
    pub uncertain_above: f32,
    /// Training rows below this uncertainty were certain.
    pub certain_below: f32,
    /// What had to be chosen otherwise than asked for.
    pub notes: Vec<String>,
}

impl Mapper {
    /// The counterfactuals that it proposes for each of some rows; `name` is what they are called.
    pub fn propose(&self, models: &Models, rows: &Encoded, name: &str, price: &Price) -> Result<Vec<Vec<Proposal>>> {
        self.map.propose(models, rows, name, price)
    }
}
