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
    /// Last part of the path of the run's folder.
    pub run: String,
    /// Name of the data.
    pub dataset: String,
    /// Name of the target that is predicted.
    pub target: String,
    /// What the target stands for, in words; none if the schema does not say.
    pub target_meaning: Option<String>,
    /// What features stand for, in words, for those that the schema explains.
    pub meanings: BTreeMap<String, String>,
    /// The classes, in the order of their labels; empty for a regression.
    pub classes: Vec<String>,
    /// Height and width of an image in pixels; none for a table.
    pub images: Option<[usize; 2]>,
    /// Number of features of a table, or of pixels of an image.
    pub features: usize,
    /// Unit of the uncertainty.
    pub unit: Unit,
    /// Uncertainty of a model that knows nothing: ln C for C classes; none for a regression.
    pub greatest: Option<f64>,
    /// Split of the audited rows: `test`, `validation` or `train`.
    pub split: String,
    /// Total uncertainty above which the model counts as unsure about a row.
    pub unsure_above: Option<f32>,
    /// Uncertainty below which a clue is accepted.
    pub accepted_below: Option<f32>,
    /// Kind of uncertainty that clues are accepted by.
    pub accepted_by: Uncertainty,
    /// Number of networks whose answers are averaged; none if it is unknown.
    pub samples: Option<usize>,
}

/// Unit of an uncertainty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nats: the entropy of a prediction of classes.
    Nats,
    /// A standard deviation in the target's unit, which may have no name.
    Target(String),
}

impl Subject {
    /// The subject as a schema describes it; the caller adds thresholds and the number of networks.
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

    /// Whether the model predicts a value.
    pub fn is_regression(&self) -> bool {
        self.unit != Unit::Nats
    }

    /// Whether aleatoric and epistemic uncertainty can be told apart; that takes more than one network.
    pub fn tells_kinds(&self) -> bool {
        self.samples != Some(1)
    }

    /// Word for `count` inputs: `images` or `rows`, or the singular of one of them.
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

    /// Sentence on what a feature stands for; empty if the schema does not say.
    pub fn meaning_of(&self, feature: &str) -> String {
        self.meanings.get(feature).map_or(String::new(), |meaning| format!("{feature}: {meaning}. "))
    }

    /// Words for the uncertainty that must be low for a clue to be accepted: `uncertainty`, `epistemic uncertainty`.
    pub fn accepted_uncertainty(&self) -> &'static str {
        match self.accepted_by {
            Uncertainty::Total => "uncertainty",
            Uncertainty::Aleatoric => "aleatoric uncertainty",
            Uncertainty::Epistemic => "epistemic uncertainty",
        }
    }

    /// Unit to write behind an uncertainty: ` nats`, ` €`, or empty.
    pub fn unit_behind(&self) -> String {
        match &self.unit {
            Unit::Nats => " nats".into(),
            Unit::Target(unit) if unit.is_empty() => String::new(),
            Unit::Target(unit) => format!(" {unit}"),
        }
    }
}
