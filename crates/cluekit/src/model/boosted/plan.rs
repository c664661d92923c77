//! The settings of boosted trees.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The deepest tree: deeper ones have more leaves than most tables have rows for.
pub(super) const MOST_DEPTH: usize = 6;
/// The most members and rounds.
const MOST_MEMBERS: usize = 1000;
const MOST_ROUNDS: usize = 10_000;

/// Settings of boosted trees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BoostedPlan {
    /// Number of members, each with a sample of the rows.
    pub members: usize,
    /// Largest number of rounds; a round is one tree for each output.
    pub rounds: usize,
    /// Share of a Newton step that a tree takes.
    pub learning_rate: f64,
    /// Number of splits from the root of a tree to a leaf.
    pub depth: usize,
    /// Share of the rows that a member learns from, drawn without replacement.
    pub rows: f64,
    /// Share of the columns that a tree may split, drawn without replacement.
    pub columns: f64,
    /// Penalty λ on the squares of the leaves.
    pub l2: f64,
    /// Least number of rows in a leaf.
    pub least_in_leaf: usize,
    /// Rounds without a better loss on the rows that a member has not seen, after which it stops; 0 never stops early.
    pub patience: usize,
}

impl Default for BoostedPlan {
    fn default() -> Self {
        Self {
            members: 4,
            rounds: 100,
            learning_rate: 0.1,
            depth: 5,
            rows: 0.7,
            columns: 0.7,
            l2: 1.0,
            least_in_leaf: 10,
            patience: 10,
        }
    }
}

impl BoostedPlan {
    /// Checks the ranges; `key` is where these settings stand in a plan.
    pub fn validate(&self, key: &str) -> Result<()> {
        let check = |ok: bool, name: &str, range: String| match ok {
            true => Ok(()),
            false => Err(Error::setting(format!("{key}.{name}"), format!("must lie {range}"))),
        };
        let count = |name: &str, got: usize, most: usize| {
            check((1..=most).contains(&got), name, format!("between 1 and {most}, got {got}"))
        };
        count("members", self.members, MOST_MEMBERS)?;
        count("rounds", self.rounds, MOST_ROUNDS)?;
        count("depth", self.depth, MOST_DEPTH)?;
        count("least_in_leaf", self.least_in_leaf, usize::MAX)?;
        for (name, got) in [("learning_rate", self.learning_rate), ("rows", self.rows), ("columns", self.columns)] {
            check(got > 0.0 && got <= 1.0, name, format!("above 0 and at most at 1, got {got}"))?;
        }
        check((0.0..1e9).contains(&self.l2), "l2", format!("between 0 and 1e9, got {}", self.l2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        let plan = BoostedPlan::default();
        plan.validate("jury").unwrap();
        let wrong = [
            ("members", BoostedPlan { members: 0, ..plan.clone() }),
            ("rounds", BoostedPlan { rounds: 1 << 40, ..plan.clone() }),
            ("depth", BoostedPlan { depth: 7, ..plan.clone() }),
            ("least_in_leaf", BoostedPlan { least_in_leaf: 0, ..plan.clone() }),
            ("learning_rate", BoostedPlan { learning_rate: 1.5, ..plan.clone() }),
            ("rows", BoostedPlan { rows: f64::NAN, ..plan.clone() }),
            ("columns", BoostedPlan { columns: 0.0, ..plan.clone() }),
            ("l2", BoostedPlan { l2: -1.0, ..plan.clone() }),
        ];
        for (name, plan) in wrong {
            let error = plan.validate("jury").unwrap_err().to_string();
            assert!(error.starts_with(&format!("setting `jury.{name}`: must lie")), "{error}");
        }
    }
}
