//! What a search found, as plain data: it can be saved, sent, plotted and compared without any model.
//!
//! Every number is what a fresh evaluation of the *final* x says, after clipping, rounding and constraints; nothing
//! here is a value remembered from the search.

pub(crate) mod advice;
mod rejection;

pub use advice::{Advice, Searched};
pub use rejection::Rejection;

use crate::data::{Schema, Value};
use crate::diversity::Summary;
use crate::prediction::UncertaintyParts;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
#[cfg(feature = "schema")]
use std::collections::BTreeMap;
use std::fmt;

/// An input, and the changes that would make the model certain about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// The input as it is: x₀ and z₀.
    pub input: Original,
    /// What the generative model makes of the input when nothing is changed: μ_θ(z₀).
    pub reconstruction: Reconstruction,
    /// The counterfactuals, the accepted and the rejected, in the order of their starts.
    pub clues: Vec<Clue>,
    /// How different they are from each other, over all of them.
    pub diversity: Summary,
    /// For each class the weight 1 / (least cost)² of its accepted clues, normalised; nothing without any.
    pub label_distribution: Option<Vec<f64>>,
    /// Groups of accepted clues that make the same kind of change.
    pub modes: Vec<Mode>,
    /// Positions of the clues that no other beats in both uncertainty and input distance, by rising distance.
    pub frontier: Vec<usize>,
    /// What to try next when no clue was accepted.
    pub advice: Option<Advice>,
}

/// The input to be explained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Original {
    /// Its row among the inputs that were given, or in the split it was taken from.
    pub index: usize,
    /// The predicted class, or the predicted value.
    pub label: Label,
    /// The true one, if it is known.
    pub target: Option<Label>,
    /// How unsure the model is about it.
    pub uncertainty: UncertaintyParts,
    /// Of the classes; empty for a regression.
    pub probabilities: Vec<f32>,
    /// The input in the data's own units; nothing for an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<BTreeMap<String, serde_json::Value>>"))]
    pub row: Option<DataRow>,
    /// The encoded input x₀.
    pub x: Vec<f32>,
    /// Its latent code z₀ = μ_φ(z|x₀).
    pub z: Vec<f32>,
}

/// The decoded z₀: what is seen before anything is changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reconstruction {
    /// The predicted class, or the predicted value.
    pub label: Label,
    /// How unsure the model is about it.
    pub uncertainty: UncertaintyParts,
    /// d_x between it and the input.
    pub distance: f32,
    /// L(z₀): every term with the weights of the search.
    pub cost: f32,
    /// The encoded reconstruction.
    pub x: Vec<f32>,
}

/// A counterfactual latent uncertainty explanation, with its certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clue {
    /// The predicted class, or the predicted value.
    pub label: Label,
    /// How unsure the model is about it.
    pub uncertainty: UncertaintyParts,
    /// Of the classes; empty for a regression.
    pub probabilities: Vec<f32>,
    /// How far it is from the input.
    pub distance: Distances,
    /// L(z) of Eq. 1: weighted uncertainty and distances, without diversity.
    pub cost: f32,
    /// Steps that the search took.
    pub steps: usize,
    /// Why it ended.
    pub stopped: StopReason,
    /// Whether the model is certain about it, and every promise is kept.
    pub accepted: bool,
    /// Why it was not accepted.
    pub reason: Option<Rejection>,
    /// How ordinary it is among the training data; nothing when that was not asked for.
    pub plausibility: Option<Plausibility>,
    /// The mapper that proposed it; nothing for a search of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapper: Option<String>,
    /// The radius δ of the ball that it was searched in; nothing for an unbounded search.
    pub delta: Option<f32>,
    /// What differs from the input, in the data's own units; empty for images.
    pub changes: Vec<Change>,
    /// The counterfactual in the data's own units; nothing for an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<BTreeMap<String, serde_json::Value>>"))]
    pub row: Option<DataRow>,
    /// The encoded counterfactual.
    pub x: Vec<f32>,
    /// Where the search ended.
    pub z: Vec<f32>,
    /// The codes on the way there, from the start on, one a step; empty unless it was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Vec<f32>>,
}

/// A predicted class or value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Label {
    /// A position in the list of classes.
    Class(usize),
    /// A value in the data's unit.
    Value(f32),
}

/// A row of a table in the data's own units, feature by feature, in the order of the schema.
///
/// ```
/// use cluekit::explanation::DataRow;
///
/// let row: DataRow = serde_json::from_str(r#"{"AGE": 31.0, "SEX": "2"}"#).expect("a value for each feature");
/// assert_eq!(row.0[0].0, "AGE");
/// assert_eq!(serde_json::to_string(&row).expect("finite numbers"), r#"{"AGE":31.0,"SEX":"2"}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataRow(pub Vec<(String, Value)>);

impl DataRow {
    /// What encoded numbers stand for; nothing for an image, and where a number is not finite.
    pub fn of(x: &[f32], schema: &Schema) -> Option<Self> {
        if schema.image.is_some() || x.iter().any(|number| !number.is_finite()) {
            return None;
        }
        let names = schema.features.iter().map(|feature| feature.name.clone());
        Some(Self(names.zip(schema.decode_row(x)).collect()))
    }
}

impl Serialize for DataRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for DataRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Features;

        impl<'de> Visitor<'de> for Features {
            type Value = DataRow;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a value for each feature")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DataRow, A::Error> {
                let mut features = Vec::new();
                while let Some(feature) = map.next_entry()? {
                    features.push(feature);
                }
                Ok(DataRow(features))
            }
        }

        deserializer.deserialize_map(Features)
    }
}

/// Distances between a counterfactual and its input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distances {
    /// d_x(x, x₀).
    pub input: f32,
    /// ρ(z, z₀) = ‖z − z₀‖₂.
    pub latent: f32,
    /// d_y(f(x), f(x₀)).
    pub prediction: f32,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// All steps were taken.
    MaxSteps,
    /// The objective no longer improved.
    Converged,
    /// The objective left the finite numbers; the best point before that is returned.
    NotFinite,
}

/// The generative model's opinion of x, each as the share of training rows with a value at most as large.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plausibility {
    /// Of the reconstruction error ‖x − μ_θ(μ_φ(x))‖₁: near 1 for an x that the data would not hold.
    pub reconstruction: f32,
    /// Of the ELBO: near 0 for an x that the data would not hold; nothing when the model has none.
    pub elbo: Option<f32>,
}

/// One feature of a table that a counterfactual changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The feature's name.
    pub feature: String,
    /// The input's value, as a person reads it.
    pub from: String,
    /// The counterfactual's value.
    pub to: String,
    /// The unit of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// A group of clues that make the same kind of change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mode {
    /// The class that all of them have; nothing for a regression.
    pub label: Option<usize>,
    /// Positions of the clues.
    pub clues: Vec<usize>,
    /// The position of the one with the least cost.
    pub best: usize,
}
