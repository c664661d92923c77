//! Which rows to look at: the most uncertain ones of a split, those of a class, those that are named.

use super::{Explainer, Split};
use crate::data::{Samples, Targets};
use crate::error::{Error, Result};
use crate::explanation::Label;
use crate::prediction::{Prediction, UncertaintyParts, predict, ranked};
use crate::search::Inputs;
use crate::uncertainty::Uncertainty;
use serde::{Deserialize, Serialize};

/// How many inputs are explained when nothing is said.
const TOP: usize = 8;

/// A choice of inputs.
///
/// ```
/// use cluekit::Selection;
///
/// let unsure = Selection { above: Some(0.5), top: Some(20), ..Selection::default() };
/// assert!(unsure.inputs.is_empty() && unsure.class.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Selection {
    /// Rows of the split to take, counted from 0; if there are any, the other fields do not count.
    pub inputs: Vec<usize>,
    /// Number of most uncertain inputs to take: by default 8, or all that `above` and `class` leave.
    pub top: Option<usize>,
    /// Uncertainty that an input must exceed; none for any.
    pub above: Option<f32>,
    /// Name of the true class that an input must have; none for any.
    pub class: Option<String>,
    /// Split of the rows to choose from.
    pub split: Split,
}

/// One input with its prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ranked {
    /// Row of the input in its split, counted from 0.
    pub index: usize,
    /// Uncertainty of the prediction.
    pub uncertainty: UncertaintyParts,
    /// The predicted class, or the predicted value.
    pub label: Label,
    /// True class, or true value; none if it is unknown.
    pub target: Option<Label>,
    /// Predicted probability of each class; empty for a regression.
    pub probabilities: Vec<f32>,
}

/// Version of the layout of a ranking.
pub const RANKING_FORMAT: u32 = 1;

/// The most uncertain inputs of a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ranking {
    /// Version of the document's layout.
    pub format: u32,
    /// The inputs, the most uncertain first.
    pub inputs: Vec<Ranked>,
}

impl Selection {
    fn check(&self) -> Result<()> {
        match self.top {
            Some(0) => Err(Error::setting("top", "is 0; ask for at least one input")),
            _ => Ok(()),
        }
    }

    /// Of some rows those that are asked for, the most uncertain first; a row that is not `allowed` is left out.
    fn among(&self, predictions: &[Prediction], allowed: Option<&[bool]>, by: Uncertainty) -> Vec<usize> {
        let fits = |row: &usize| {
            allowed.is_none_or(|allowed| allowed[*row])
                && self.above.is_none_or(|above| predictions[*row].uncertainty.get(by) > above)
        };
        let filtered = self.above.is_some() || self.class.is_some();
        let top = self.top.unwrap_or(if filtered { usize::MAX } else { TOP });
        ranked(predictions, by).into_iter().filter(fits).take(top).collect()
    }
}

impl Explainer {
    /// The `top` most uncertain inputs of a split, with their predictions.
    ///
    /// ```
    /// # use cluekit::model::{Generative, Predictive, Predictor};
    /// # use cluekit::tensor::{Tensor, log_softmax};
    /// # struct Logistic;
    /// # impl Predictor for Logistic {
    /// #     fn predict(&self, x: &Tensor<2>) -> cluekit::Result<Predictive> {
    /// #         let first = x.clone().narrow(1, 0, 1);
    /// #         let logits = Tensor::cat(vec![first.clone() * -0.5, first * 0.5], 1);
    /// #         Ok(Predictive::Classes { log_probabilities: log_softmax(logits, 1).unsqueeze() })
    /// #     }
    /// # }
    /// # struct Same;
    /// # impl Generative for Same {
    /// #     fn latent_dim(&self) -> usize { 2 }
    /// #     fn encode(&self, x: &Tensor<2>) -> cluekit::Result<Tensor<2>> { Ok(x.clone()) }
    /// #     fn decode(&self, z: &Tensor<2>) -> cluekit::Result<Tensor<2>> { Ok(z.clone()) }
    /// # }
    /// use cluekit::data::{DataDir, Request, load};
    /// use cluekit::explainer::Split;
    /// use cluekit::{Explainer, Uncertainty};
    /// use std::sync::Arc;
    ///
    /// let moons = load(&Request::new("moons"), None, &DataDir::locate(None))?;
    /// // p(1 | x) = σ(x₁): the most uncertain test rows are those with x₁ nearest to 0.
    /// let explainer = Explainer::new(Arc::new(Logistic), Arc::new(Same)).with_rows(moons);
    /// let ranking = explainer.rank(Split::Test, Uncertainty::Total, 3)?;
    /// assert_eq!(ranking.inputs.len(), 3);
    /// assert!(ranking.inputs[0].uncertainty.total >= ranking.inputs[2].uncertainty.total);
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn rank(&self, split: Split, by: Uncertainty, top: usize) -> Result<Ranking> {
        let (samples, predictions) = (self.samples(split)?, self.predictions(split)?);
        let row = |index: usize| {
            let says = &predictions[index];
            let (label, probabilities) = match self.task.is_regression() {
                true => (Label::Value(says.mean[0]), vec![]),
                false => (Label::Class(says.label()), says.mean.clone()),
            };
            let target = Inputs::target_of(&samples, index, &self.task);
            Ranked { index, uncertainty: says.uncertainty, label, target, probabilities }
        };
        Ok(Ranking {
            format: RANKING_FORMAT,
            inputs: ranked(&predictions, by).into_iter().take(top).map(row).collect(),
        })
    }

    /// The inputs that a selection names, the most uncertain first; named rows keep their order.
    pub fn choose(&self, selection: &Selection, by: Uncertainty) -> Result<Inputs> {
        selection.check()?;
        let samples = self.samples(selection.split)?;
        if !selection.inputs.is_empty() {
            return Inputs::of(&samples, &selection.inputs, &self.task);
        }
        let class = selection.class.as_deref().map(|name| self.class_named(name)).transpose()?;
        let of_class: Option<Vec<bool>> = class.map(|class| match &samples.y {
            Targets::Classes(labels) => labels.iter().map(|&label| label as usize == class).collect(),
            Targets::Values(_) | Targets::Unknown(_) => vec![false; samples.len()],
        });
        let chosen = selection.among(&self.predictions(selection.split)?, of_class.as_deref(), by);
        if chosen.is_empty() {
            let of_class = selection.class.as_ref().map_or(String::new(), |class| format!(" of class `{class}`"));
            let above = selection.above.map_or(String::new(), |above| format!(" with an uncertainty above {above}"));
            return Err(Error::data(format!("there is no input{of_class}{above}; ask for less")));
        }
        Inputs::of(&samples, &chosen, &self.task)
    }

    /// The selected ones of some encoded rows: all of them, or the most uncertain.
    pub fn choose_among(&self, x: Vec<f32>, selection: &Selection, by: Uncertainty) -> Result<Inputs> {
        selection.check()?;
        let width = self.known_schema()?.width();
        let count = x.len() / width.max(1);
        let samples = Samples { x, width, y: Targets::Unknown(count) };
        let every: Vec<usize> = (0..count).collect();
        if selection.top.is_none() && selection.above.is_none() {
            return Inputs::of(&samples, &every, &self.task);
        }
        let chosen = selection.among(&predict(self.predictor(), &samples, &self.task)?, None, by);
        match chosen.is_empty() {
            true => Err(Error::data("none of the rows is as uncertain as that; lower `above`")),
            false => Inputs::of(&samples, &chosen, &self.task),
        }
    }

    /// Position of the class called `name`; an error lists the classes.
    pub fn class_named(&self, name: &str) -> Result<usize> {
        let classes = self.classes();
        match classes.iter().position(|class| class == name) {
            Some(class) => Ok(class),
            None if self.task.is_regression() => Err(Error::setting("class", "a regression has no classes")),
            None => Err(Error::setting(
                "class",
                format!("there is no class `{name}`; the classes are {}", classes.join(", ")),
            )),
        }
    }
}
