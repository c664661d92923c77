//! What would make whole groups of inputs certain, and how far that reaches on rows it was not learned from.

use super::super::shifts::FeatureShift;
use super::story::Figure;
use crate::measure::Reach;
use serde::{Deserialize, Serialize};

/// Fitted changes, one for each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// What the mapper is called.
    pub mapper: String,
    /// Whether the rows are others than those that it was learned from.
    pub held_out: bool,
    /// The groups that have uncertain rows to learn from.
    pub groups: Vec<GroupCard>,
}

/// One group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupCard {
    /// From whom to whom: `4 → 4`.
    pub name: String,
    /// Rows of the group above this are uncertain.
    pub uncertain_above: f32,
    /// Means over them; none where there are none.
    pub reach: Option<Reach>,
    /// The share that is certain when it is redrawn only, as the generative model decodes it.
    pub certain_unchanged: Option<f64>,
    /// What changes on average in a table, the largest change first.
    pub changes: Vec<FeatureShift>,
    /// What changes on average in an image, and some examples.
    pub picture: Option<Figure>,
}

impl Groups {
    /// What is learned for each group.
    pub(super) fn how(&self) -> &'static str {
        match self.mapper.as_str() {
            "scaled" => "one direction of change, along which each input goes as far as costs least",
            "clusters" => "one change for each cluster of its inputs",
            "affine" => "one linear map",
            _ => "one change, the same for every input",
        }
    }

    /// The groups that the change reaches, the farthest first.
    pub(super) fn by_reach(&self) -> Vec<(&GroupCard, &Reach)> {
        let mut all: Vec<_> = self.groups.iter().filter_map(|group| Some((group, group.reach.as_ref()?))).collect();
        all.sort_by(|a, b| b.1.certain.mean.total_cmp(&a.1.certain.mean));
        all
    }
}

impl GroupCard {
    /// Whom the change starts from: `4` of `4 → 4`.
    pub(super) fn source(&self) -> &str {
        self.name.split(" → ").next().unwrap_or(&self.name)
    }
}
