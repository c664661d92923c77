//! What would make whole groups of inputs certain, and how far that reaches on rows it was not learned from.

use super::shifts::FeatureShift;
use super::story::Figure;
use super::subject::Subject;
use crate::measure::Reach;
use serde::{Deserialize, Serialize};

/// Learned changes, one for each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// Name of the mapper.
    pub mapper: String,
    /// The groups that have rows to learn from.
    pub groups: Vec<GroupCard>,
}

/// The learned change of one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GroupCard {
    /// Groups that the change leads from and to, such as `4 → 4`.
    pub name: String,
    /// Rows of the group above this are taken for uncertain; less than for the rest of the page where the model is sure
    /// about all rows to learn from.
    pub uncertain_above: f32,
    /// Weight λ_θ that was given or chosen; none for a kind without Eq. 2.
    pub lambda_theta: Option<f32>,
    /// Means over the uncertain rows of the group; none without such rows.
    pub reach: Option<Reach>,
    /// Share of these rows that are certain after mere reconstruction, without the change.
    pub certain_unchanged: Option<f64>,
    /// Mean change of each feature of a table, the largest change first.
    pub changes: Vec<FeatureShift>,
    /// Picture of the mean change of an image, with examples; only for the groups with the most uncertain rows.
    pub picture: Option<Figure>,
    /// Notes on each choice that differs from what was asked for.
    pub notes: Vec<String>,
}

impl Groups {
    /// What kind of change is learned for each group, in words.
    pub fn how(&self) -> &'static str {
        match self.mapper.as_str() {
            "scaled" => "one direction of change, along which each input goes as far as costs least",
            "clusters" => "one change for each cluster of its inputs",
            "affine" => "one linear map",
            _ => "one change, the same for every input",
        }
    }

    /// How the rows of a split relate to the rows that the change was learned from, in words.
    pub fn applied_to(split: &str) -> &'static str {
        match split {
            "train" => "training inputs, from which it was learned",
            "validation" => "validation inputs, on which its settings may have been chosen",
            _ => "inputs from which it was not learned",
        }
    }

    /// The groups with inputs that the model is unsure about, those first of which the most become certain.
    pub fn by_reach(&self, subject: &Subject) -> Vec<(&GroupCard, &Reach)> {
        let counted = self.groups.iter().filter(|group| group.counts(subject));
        let mut all: Vec<_> = counted.filter_map(|group| Some((group, group.reach.as_ref()?))).collect();
        all.sort_by(|a, b| b.1.certain.mean.total_cmp(&a.1.certain.mean));
        all
    }
}

impl GroupCard {
    /// Whether the model is unsure about the inputs of the group, by the limit that holds for the whole page.
    pub fn counts(&self, subject: &Subject) -> bool {
        subject.unsure_above.is_none_or(|above| self.uncertain_above >= above)
    }

    /// Name of the group that the change starts from: `4` in `4 → 4`.
    pub fn source(&self) -> &str {
        self.name.split(" → ").next().unwrap_or(&self.name)
    }

    /// The group that the change starts from, inside a sentence: ` of class 4`, ` with PAY_0 > 0`, or empty for all
    /// rows.
    pub fn whose(&self, subject: &Subject) -> String {
        match self.source() {
            "*" => String::new(),
            class if subject.classes.iter().any(|known| known == class) => format!(" of class {class}"),
            condition => format!(" with {condition}"),
        }
    }
}
