//! Models from elsewhere that lie in a run folder as files of their own format, and what must be known to ask them.
//!
//! ```text
//! encoded row ─► feeds (order, units, categories) ─► model file ─► numbers ─► output (logits, mean and variance, …)
//! ```
//!
//! This crate reads no such format itself. A [`ModelReader`] does, and is handed to
//! [`Explainer::open_with`](crate::Explainer::open_with).

mod copied;
mod feeds;
mod input;
mod output;
mod port;
pub mod probe;
mod seen;

pub use copied::adopt_generative;
pub(crate) use copied::copy_predictor;
pub use feeds::{Fed, Feeds};
pub use input::{CategoryForm, Channels, InputColumn, InputForm, Layout, ModelInput};
pub use output::ModelOutput;
pub use port::{Element, Port};

use super::{Generative, Predictor};
use crate::data::Schema;
use crate::error::{Error, Result};
use crate::seed::Seed;
use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Groups that the trees of a forest are averaged in, unless another number is given: pure leaves would make every
/// uncertainty look epistemic.
pub const TREE_GROUPS: usize = 10;

/// Posterior samples, groups and masks at the most, so that a mistyped number is an error and not an allocation.
const MOST_SAMPLES: usize = 10_000;

/// `[predictor]` of `run.toml`: files of a predictor, and what must be known to ask it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdoptedPredictor {
    /// Paths of the files below the run's folder; several are the members of an ensemble.
    pub files: Vec<String>,
    /// Meaning of the model's numbers.
    pub output: ModelOutput,
    /// Levels of the quantiles that the model answers with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<f64>,
    /// Number S of posterior samples in an answer of S · rows rows, one sample behind the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<usize>,
    /// Number of fixed masks under which every dropout of the model stays active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mc_dropout: Option<usize>,
    /// Number of groups that the trees of a forest are averaged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<usize>,
    /// Names of the classes in the model's order; that of the schema where they are absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// What the model sees of a row.
    #[serde(default)]
    pub input: ModelInput,
}

/// `[generative]` of `run.toml`: files of a generative model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdoptedGenerative {
    /// Path of the encoder below the run's folder: from an encoded row to the mean of its code, or to mean and deviation.
    pub encoder: String,
    /// Path of the decoder below the run's folder: from a code to an encoded row.
    pub decoder: String,
}

impl AdoptedPredictor {
    /// An error if a number cannot be used.
    pub fn validate(&self) -> Result<()> {
        if self.files.is_empty() {
            return Err(Error::setting("predictor.files", "names no file"));
        }
        let counts = [("samples", self.samples), ("mc_dropout", self.mc_dropout), ("groups", self.groups)];
        for (key, count) in counts {
            if let Some(count) = count.filter(|count| !(1..=MOST_SAMPLES).contains(count)) {
                let problem = format!("is {count}; numbers from 1 to {MOST_SAMPLES} can be used");
                return Err(Error::setting(format!("predictor.{key}"), problem));
            }
        }
        Ok(())
    }

    /// Position in the model's answer of each class of the schema; nothing where the orders are the same.
    pub fn class_order(&self, schema: &Schema) -> Result<Option<Vec<usize>>> {
        let classes = schema.target.task.classes();
        if self.classes.is_empty() || self.classes == classes {
            return Ok(None);
        }
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let same = |a: &str, b: &str| a == b || number(a).zip(number(b)).is_some_and(|(a, b)| (a - b).abs() <= 0.0);
        let place = |class: &String| self.classes.iter().position(|name| same(name, class));
        let order: Option<Vec<usize>> = classes.iter().map(place).collect();
        match order.filter(|_| self.classes.len() == classes.len()) {
            Some(order) if order.iter().copied().eq(0..order.len()) => Ok(None),
            Some(order) => Ok(Some(order)),
            None => Err(Error::setting(
                "predictor.classes",
                format!(
                    "the model's classes are {}, and those of the target {}; give the schema the classes of the model",
                    crate::data::listed(&self.classes),
                    crate::data::listed(classes)
                ),
            )),
        }
    }
}

/// What a reader says of a model file without asking the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFile {
    /// Inputs that must be fed.
    pub inputs: Vec<Port>,
    /// Outputs.
    pub outputs: Vec<Port>,
    /// Whether answers have a gradient by the inputs.
    pub has_gradient: bool,
    /// Number of dropouts that can be kept active.
    pub dropouts: usize,
    /// Number of trees of a forest, or of a booster.
    pub trees: Option<usize>,
    /// Whether the trees of the file are averaged, as those of a forest are.
    pub averages_trees: bool,
    /// Names of the classes in the order of the answers, where the file has them.
    pub classes: Vec<String>,
    /// Largest number of rows in one question; none for any number.
    pub rows_at_once: Option<usize>,
    /// The file itself, and those that belong to it, as seen from the folder that the file lies in.
    pub parts: Vec<PathBuf>,
}

/// An error if one of these paths leads out of the folder of the run that names it.
pub fn check_below<'a>(files: impl IntoIterator<Item = &'a String>) -> Result<()> {
    let leads_out = |file: &&String| !Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
    match files.into_iter().find(leads_out) {
        Some(file) => Err(Error::setting("files", format!("`{file}` leads out of the folder of the run"))),
        None => Ok(()),
    }
}

/// Reads models in a file format that this crate does not know.
pub trait ModelReader: Send + Sync {
    /// What a file holds.
    fn describe(&self, file: &Path) -> Result<ModelFile>;

    /// The predictor whose files lie below `folder`; masks of dropout are drawn from `seed`.
    fn predictor(
        &self,
        folder: &Path,
        adopted: &AdoptedPredictor,
        schema: &Schema,
        seed: Seed,
    ) -> Result<Arc<dyn Predictor>>;

    /// The generative model whose files lie below `folder`.
    fn generative(&self, folder: &Path, adopted: &AdoptedGenerative, schema: &Schema) -> Result<Arc<dyn Generative>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adopted() -> AdoptedPredictor {
        AdoptedPredictor {
            files: vec!["predictor/net.onnx".into()],
            output: ModelOutput::Logits,
            quantiles: vec![],
            samples: None,
            mc_dropout: None,
            groups: None,
            classes: vec![],
            input: ModelInput::default(),
        }
    }

    #[test]
    fn counts_that_nobody_means_are_refused() {
        assert!(adopted().validate().is_ok());
        for (adopted, expected) in [
            (AdoptedPredictor { samples: Some(0), ..adopted() }, "setting `predictor.samples`: is 0"),
            (AdoptedPredictor { mc_dropout: Some(10_001), ..adopted() }, "setting `predictor.mc_dropout`: is 10001"),
            (AdoptedPredictor { files: vec![], ..adopted() }, "names no file"),
        ] {
            let problem = adopted.validate().unwrap_err().to_string();
            assert!(problem.contains(expected), "{problem}");
        }
    }

    #[test]
    fn classes_in_another_order_are_found_by_their_names() {
        let schema: Schema = toml::from_str(
            "[target]\nname = \"y\"\ntask = \"classification\"\nclasses = [\"1\", \"0\"]\n[[features]]\nname = \"x\"\nkind = \"binary\"\ncategories \
             = [\"a\", \"b\"]\n",
        )
        .unwrap();
        let order = |classes: &[&str]| {
            AdoptedPredictor { classes: classes.iter().map(|name| (*name).into()).collect(), ..adopted() }
                .class_order(&schema)
        };
        assert_eq!(order(&["0", "1"]).unwrap(), Some(vec![1, 0]));
        assert_eq!(order(&["0.0", "1.0"]).unwrap(), Some(vec![1, 0]));
        assert_eq!(order(&["1", "0"]).unwrap(), None);
        assert_eq!(order(&[]).unwrap(), None);
        let problem = order(&["0", "2"]).unwrap_err().to_string();
        assert!(problem.contains("the model's classes are 0, 2, and those of the target 1, 0"), "{problem}");
    }
}
