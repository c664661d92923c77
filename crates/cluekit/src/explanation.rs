//! What a search found, as plain data: it can be saved, sent, plotted and compared without any model.
//!
//! Every number is what a fresh evaluation of the *final* x says, after clipping, rounding and constraints; nothing
//! here is a value remembered from the search.

pub(crate) mod advice;
mod direction;
mod outside;
mod rejection;

pub use advice::{Advice, Loosening, Scanned, Searched};
pub use direction::Direction;
pub use outside::Outside;
pub use rejection::Rejection;

use crate::data::{RowName, Schema, Value};
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
    /// The input to be explained, with its prediction, x₀ and z₀.
    pub input: Original,
    /// The decoded z₀: what the generative model makes of the unchanged input.
    pub reconstruction: Reconstruction,
    /// The counterfactuals, the accepted and the rejected, in the order of their starts; of a portfolio the best first.
    pub clues: Vec<Clue>,
    /// How different the clues are from each other, accepted and rejected ones together.
    pub diversity: Summary,
    /// For each class the weight 1 / (least cost)² of its accepted clues, normalised to sum to 1; none without accepted
    /// clues.
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
    /// Row of the input, among the inputs that were given or in its split, counted from 0.
    pub index: usize,
    /// Row of the file that the input came from, with its identifier; none where rows have no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<RowName>,
    /// Predicted class, or predicted value, of the input.
    pub label: Label,
    /// Name of the predicted class; none for a regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_name: Option<String>,
    /// True class, or true value, of the input; none if it is unknown.
    pub target: Option<Label>,
    /// Name of the true class; none for a regression, or if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_name: Option<String>,
    /// Uncertainty of the prediction for the input.
    pub uncertainty: UncertaintyParts,
    /// Predicted probability of each class for the input; empty for a regression.
    pub probabilities: Vec<f32>,
    /// Numbers of the input that are unlike the training rows, the one that stands out most first; mostly none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<Outside>,
    /// The input in the data's own units; none for an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<BTreeMap<String, serde_json::Value>>"))]
    pub row: Option<DataRow>,
    /// The encoded input x₀.
    pub x: Vec<f32>,
    /// Latent code of the input, z₀ = μ_φ(z|x₀).
    pub z: Vec<f32>,
}

/// The decoded z₀: what is seen before anything is changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reconstruction {
    /// Predicted class, or predicted value, of the reconstruction.
    pub label: Label,
    /// Uncertainty of the prediction for the reconstruction.
    pub uncertainty: UncertaintyParts,
    /// Distance d_x between the reconstruction and the input.
    pub distance: f32,
    /// Objective L(z₀): every term with the weights of the search.
    pub cost: f32,
    /// The encoded reconstruction, μ_θ(z₀).
    pub x: Vec<f32>,
}

/// A counterfactual latent uncertainty explanation, with its certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clue {
    /// Predicted class, or predicted value, of the counterfactual.
    pub label: Label,
    /// Name of the predicted class; none for a regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_name: Option<String>,
    /// Uncertainty of the prediction for the counterfactual.
    pub uncertainty: UncertaintyParts,
    /// Predicted probability of each class for the counterfactual; empty for a regression.
    pub probabilities: Vec<f32>,
    /// Distances from the counterfactual to the input.
    pub distance: Distances,
    /// L(z) of Eq. 1: weighted uncertainty and distances, without diversity.
    pub cost: f32,
    /// Number of steps that the search took.
    pub steps: usize,
    /// Why the search ended.
    pub stopped: StopReason,
    /// Whether the clue is accepted: the model is certain, and ball and constraints are respected.
    pub accepted: bool,
    /// Why the clue was rejected; none for an accepted one.
    pub reason: Option<Rejection>,
    /// How usual the counterfactual is among the training data; none unless the search asked for it.
    pub plausibility: Option<Plausibility>,
    /// What predictors that had no part in training the model say of the counterfactual; none without a jury.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
    /// Whether no single change can be taken back without the model getting uncertain; none where it was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimal: Option<bool>,
    /// Name of the mapper that proposed the counterfactual; none for a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapper: Option<String>,
    /// What found the counterfactual where a portfolio was asked; none for a descent alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<FoundBy>,
    /// Radius δ of the ball that the clue was searched in; none for an unbounded search.
    pub delta: Option<f32>,
    /// Features that differ from the input, in the data's own units; empty for images.
    pub changes: Vec<Change>,
    /// The counterfactual in the data's own units; none for an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<BTreeMap<String, serde_json::Value>>"))]
    pub row: Option<DataRow>,
    /// The encoded counterfactual x.
    pub x: Vec<f32>,
    /// Latent code z of the counterfactual, where the search ended.
    pub z: Vec<f32>,
    /// Latent codes from the start of the search to its end, one for each step; empty unless the search is traced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Vec<f32>>,
}

crate::named! {
    "found_by", "a source of clues";
    /// What found a counterfactual, before it was made minimal.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum FoundBy {
        /// A descent in the latent space.
        Descent = "descent",
        /// A certain training row.
        TrainingRow = "training-row",
        /// The scan of one or two changes.
        Scan = "scan",
        /// Numbers that are unlike the training rows were put back, before anything else was changed.
        Correction = "correction",
    }
}

/// A predicted class or value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Label {
    /// Position of a class in the list of classes, counted from 0.
    Class(usize),
    /// Value in the data's unit.
    Value(f32),
}

impl Label {
    /// Name of the class among `classes`; none for a value, and for classes without names.
    pub fn class_name(self, classes: &[String]) -> Option<String> {
        match self {
            Self::Class(class) => classes.get(class).cloned(),
            Self::Value(_) => None,
        }
    }
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
    /// Decodes the row `x` of a table; none for an image, or where a number is not finite.
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
    /// Distance between the inputs, d_x(x, x₀).
    pub input: f32,
    /// Distance between the latent codes, ρ(z, z₀) = ‖z − z₀‖₂.
    pub latent: f32,
    /// Distance between the predictions, d_y(f(x), f(x₀)).
    pub prediction: f32,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The search took all its steps.
    MaxSteps,
    /// The objective stopped improving.
    Converged,
    /// The objective left the finite numbers; the search returns the best point before that.
    NotFinite,
}

/// The generative model's opinion of x, each as the share of training rows with a value at most as large.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plausibility {
    /// Share by the reconstruction error ‖x − μ_θ(μ_φ(x))‖₁: near 1 for an x unlike the data.
    pub reconstruction: f32,
    /// Share by the ELBO: near 0 for an x unlike the data; none for a model without an ELBO.
    pub elbo: Option<f32>,
}

/// Odder than all but this share of the training rows is odd.
const ODD: f32 = 0.05;

impl Plausibility {
    /// Share of the training rows that are at least as odd, by the ELBO where there is one.
    pub fn share(&self) -> f32 {
        self.elbo.unwrap_or(1.0 - self.reconstruction)
    }

    /// Whether hardly a training row is as odd: less than one in twenty.
    pub fn is_odd(&self) -> bool {
        self.share() < ODD
    }
}

/// What a jury says of a counterfactual.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Agreement {
    /// Share of the judges, who had no part in the search, that are certain about the counterfactual.
    pub share: f32,
    /// What each juror says, the judges first.
    pub verdicts: Vec<Verdict>,
}

impl Agreement {
    /// The verdicts, and the share of those who only judge that are certain; of all where everyone was asked.
    pub fn of(verdicts: Vec<Verdict>) -> Self {
        let only_asked = verdicts.iter().all(|verdict| verdict.asked);
        let count = |certain: bool| {
            let counts = |verdict: &&Verdict| (only_asked || !verdict.asked) && (verdict.certain || !certain);
            verdicts.iter().filter(counts).count()
        };
        let share = count(true) as f32 / count(false).max(1) as f32;
        Self { share, verdicts }
    }
}

/// What a juror says of a counterfactual.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// Name of the juror.
    pub juror: String,
    /// Whether the search asked this juror on its way.
    pub asked: bool,
    /// Total uncertainty of the juror's prediction.
    pub uncertainty: f32,
    /// Whether the juror is certain: its uncertainty lies below the threshold.
    pub certain: bool,
}

/// One feature of a table that a counterfactual changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// Name of the feature.
    pub feature: String,
    /// Value of the feature in the input, as a person reads it.
    pub from: String,
    /// Value of the feature in the counterfactual, as a person reads it.
    pub to: String,
    /// Unit of both values; none if the schema names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// A group of clues that make the same kind of change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mode {
    /// Predicted class of all clues in the group; none for a regression.
    pub label: Option<usize>,
    /// Positions of the group's clues in the list of clues.
    pub clues: Vec<usize>,
    /// Position in the list of clues of the one that stands for the group: that of least cost, or of changes the first.
    pub best: usize,
    /// What the clues of the group change, by the one that stands for it; empty where groups are clusters of codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Direction>,
}
