//! Where a changed feature goes: lower, higher, or to another category.

use super::{Change, Clue};
use crate::data::{Feature, Schema};
use serde::{Deserialize, Serialize};

/// A changed feature and where it goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Direction {
    /// Name of the feature.
    pub feature: String,
    /// Where it goes: `lower`, `higher`, or the new value of a category or of what was missing.
    pub to: String,
}

impl Direction {
    /// Where the changed features of a clue go, in the order of its changes, from the encoded input `x0`.
    pub fn of(clue: &Clue, x0: &[f32], schema: &Schema) -> Vec<Self> {
        let columns = schema.columns();
        let direction = |change: &Change| {
            let place = schema.features.iter().position(|feature| feature.name == change.feature);
            let is_number = |feature: &Feature| feature.kind.scaling().is_some();
            let number = place.filter(|&at| is_number(&schema.features[at]) && !columns[at].is_missing(x0));
            let rises = number.map(|place| clue.x[columns[place].start] > x0[columns[place].start]);
            let to = match rises {
                Some(true) => "higher",
                Some(false) => "lower",
                None => &change.to,
            };
            Self { feature: change.feature.clone(), to: to.to_owned() }
        };
        clue.changes.iter().map(direction).collect()
    }
}
