//! What would make whole groups of inputs certain, and how far that reaches on rows it was not learned from.

use super::shifts::FeatureShift;
use super::story::Figure;
use super::subject::Subject;
use crate::measure::Reach;
use serde::{Deserialize, Serialize};

/// Fitted changes, one for each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// What the mapper is called.
    pub mapper: String,
    /// The groups that have rows to learn from.
    pub groups: Vec<GroupCard>,
}

/// One group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GroupCard {
    /// From whom to whom: `4 → 4`.
    pub name: String,
    /// Rows of the group above this are taken for uncertain; less than for the rest of the page where the model is sure
    /// about all rows to learn from.
    pub uncertain_above: f32,
    /// λ_θ that was given or chosen.
    pub lambda_theta: Option<f32>,
    /// Means over them; none where there are none.
    pub reach: Option<Reach>,
    /// The share that is certain when it is redrawn only, as the generative model decodes it.
    pub certain_unchanged: Option<f64>,
    /// What changes on average in a table, the largest change first.
    pub changes: Vec<FeatureShift>,
    /// What changes on average in an image, and some examples; of the groups with the most uncertain rows alone.
    pub picture: Option<Figure>,
    /// What had to be done otherwise than asked for.
    pub notes: Vec<String>,
}

impl Groups {
    /// What is learned for each group.
    pub fn how(&self) -> &'static str {
        match self.mapper.as_str() {
            "scaled" => "one direction of change, along which each input goes as far as costs least",
            "clusters" => "one change for each cluster of its inputs",
            "affine" => "one linear map",
            _ => "one change, the same for every input",
        }
    }

    /// What the change has to do with the rows of a split that it is applied to.
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
    /// Whether its inputs are ones that the model is unsure about, and not only the least sure of those it is sure about.
    pub fn counts(&self, subject: &Subject) -> bool {
        subject.unsure_above.is_none_or(|above| self.uncertain_above >= above)
    }

    /// Whom the change starts from: `4` of `4 → 4`.
    pub fn source(&self) -> &str {
        self.name.split(" → ").next().unwrap_or(&self.name)
    }

    /// The same in a sentence: ` of class 4`, ` with PAY_0 > 0`, or nothing where it is everybody.
    pub fn whose(&self, subject: &Subject) -> String {
        match self.source() {
            "*" => String::new(),
            class if subject.classes.iter().any(|known| known == class) => format!(" of class {class}"),
            condition => format!(" with {condition}"),
        }
    }
}
