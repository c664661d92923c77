//! What was looked at: a run, its data, and the rows.

use crate::data::Schema;
use crate::uncertainty::Uncertainty;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A model and the rows that it was audited on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The run's folder, by its last name.
    pub run: String,
    /// What the data is called.
    pub dataset: String,
    /// What is predicted.
    pub target: String,
    /// What that stands for.
    pub target_meaning: Option<String>,
    /// What features stand for, of those that say so.
    pub meanings: BTreeMap<String, String>,
    /// The classes, in the order of their labels; empty for a regression.
    pub classes: Vec<String>,
    /// Height and width of an image; none where an input is a row of a table.
    pub images: Option<[usize; 2]>,
    /// Features of a table, or pixels of an image.
    pub features: usize,
    /// What uncertainty is measured in.
    pub unit: Unit,
    /// The uncertainty of a model that knows nothing: ln C of C classes; none of a value.
    pub greatest: Option<f64>,
    /// Which rows were looked at: `test`, `validation` or `train`.
    pub split: String,
    /// The model is unsure about a row whose total uncertainty exceeds this.
    pub unsure_above: Option<f32>,
    /// A clue is accepted below this.
    pub accepted_below: Option<f32>,
    /// Which kind of uncertainty that is.
    pub accepted_by: Uncertainty,
    /// Networks whose answers are averaged; none where that is not known.
    pub samples: Option<usize>,
}

/// What uncertainty is measured in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// The entropy of a prediction of classes.
    Nats,
    /// A standard deviation in the target's unit, which may have no name.
    Target(String),
}

impl Subject {
    /// What a schema says; thresholds and the number of networks are for the caller to add.
    pub fn new(run: &str, dataset: &str, schema: &Schema, split: &str) -> Self {
        let task = &schema.target.task;
        Self {
            run: run.into(),
            dataset: dataset.into(),
            target: schema.target.name.clone(),
            target_meaning: schema.target.meaning.clone(),
            meanings: schema.features.iter().filter_map(|f| Some((f.name.clone(), f.meaning.clone()?))).collect(),
            classes: task.classes().to_vec(),
            images: schema.image.as_ref().map(|image| [image.height, image.width]),
            features: schema.values(),
            unit: match task.is_regression() {
                true => Unit::Target(schema.target.unit.clone().unwrap_or_default()),
                false => Unit::Nats,
            },
            greatest: (!task.is_regression()).then(|| (task.classes().len() as f64).ln()),
            split: split.into(),
            unsure_above: None,
            accepted_below: None,
            accepted_by: Uncertainty::Total,
            samples: None,
        }
    }

    /// Whether a value is predicted.
    pub fn is_regression(&self) -> bool {
        self.unit != Unit::Nats
    }

    /// Whether aleatoric and epistemic uncertainty can be told apart: one network does not disagree with itself.
    pub fn tells_kinds(&self) -> bool {
        self.samples != Some(1)
    }

    /// What the model looks at: `images`, `rows`, or one of them.
    pub fn inputs(&self, count: usize) -> &'static str {
        match (self.images.is_some(), count) {
            (true, 1) => "image",
            (true, _) => "images",
            (false, 1) => "row",
            (false, _) => "rows",
        }
    }

    /// A class in a sentence: by its name, or as `default = 1` where the name of a table's class is a mere number.
    pub fn class(&self, name: &str) -> String {
        match self.images.is_none() && name.parse::<f64>().is_ok() {
            true => format!("{} = {name}", self.target),
            false => name.to_owned(),
        }
    }

    /// What a feature stands for, as a sentence before others; nothing where that is not known.
    pub fn meaning_of(&self, feature: &str) -> String {
        self.meanings.get(feature).map_or(String::new(), |meaning| format!("{feature}: {meaning}. "))
    }

    /// What must be low for a clue to be accepted: `uncertainty`, `epistemic uncertainty`.
    pub fn accepted_uncertainty(&self) -> &'static str {
        match self.accepted_by {
            Uncertainty::Total => "uncertainty",
            Uncertainty::Aleatoric => "aleatoric uncertainty",
            Uncertainty::Epistemic => "epistemic uncertainty",
        }
    }

    /// What stands behind an uncertainty: ` nats`, ` €`, or nothing.
    pub fn unit_behind(&self) -> String {
        match &self.unit {
            Unit::Nats => " nats".into(),
            Unit::Target(unit) if unit.is_empty() => String::new(),
            Unit::Target(unit) => format!(" {unit}"),
        }
    }
}
