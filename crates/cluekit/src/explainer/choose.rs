//! Which rows to look at: the most uncertain ones of a split, those of a class, those that are named.

use super::{Explainer, SingleChange, Split};
use crate::data::{Predicate, RejectedRow, RowName, Samples, Targets};
use crate::error::{Error, Result};
use crate::explanation::Label;
use crate::prediction::{Prediction, UncertaintyParts, ranked};
use crate::search::Inputs;
use crate::uncertainty::Uncertainty;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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
    /// Rows of the split, or of a file in its place, to take, counted from 0; if there are any, the other fields do not count.
    pub inputs: Vec<usize>,
    /// Identifiers of the rows to take; if there are any, the fields below do not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// Number of most uncertain inputs to take: by default 8, or all that `above`, `class` and `where` leave.
    pub top: Option<usize>,
    /// Uncertainty that an input must exceed; none for any.
    pub above: Option<f32>,
    /// Name of the true class that an input must have; none for any.
    pub class: Option<String>,
    /// Condition on the features that an input must meet; none for any.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Split of the rows to choose from.
    pub split: Split,
}

/// One input with its prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ranked {
    /// Row of the input in its split, counted from 0.
    pub index: usize,
    /// Row of the file that the input came from, with its identifier; none where rows have no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<RowName>,
    /// Uncertainty of the prediction.
    pub uncertainty: UncertaintyParts,
    /// The predicted class, or the predicted value.
    pub label: Label,
    /// Name of the predicted class; none for a regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_name: Option<String>,
    /// True class, or true value; none if it is unknown.
    pub target: Option<Label>,
    /// Name of the true class; none for a regression, or if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_name: Option<String>,
    /// Predicted probability of each class; empty for a regression.
    pub probabilities: Vec<f32>,
    /// The features that matter most, by what the best value for each alone would do; empty for images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matters: Vec<SingleChange>,
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
    /// Rows of a file that the model cannot be asked about; empty for those of a split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedRow>,
}

impl Selection {
    fn check(&self) -> Result<()> {
        match self.top {
            Some(0) => Err(Error::setting("top", "is 0; ask for at least one input")),
            _ => Ok(()),
        }
    }

    /// Of the `allowed` rows those that are asked for, the most uncertain first.
    fn among(&self, predictions: &[Prediction], allowed: &[bool], by: Uncertainty) -> Vec<usize> {
        let fits =
            |row: &usize| allowed[*row] && self.above.is_none_or(|above| predictions[*row].uncertainty.get(by) > above);
        let filtered = self.above.is_some() || self.class.is_some() || self.condition.is_some();
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
        self.rank_chosen(&Selection { top: Some(top), split, ..Selection::default() }, by)
    }

    /// The inputs that a selection names, in the order of [`Explainer::choose`], with their predictions.
    pub fn rank_chosen(&self, selection: &Selection, by: Uncertainty) -> Result<Ranking> {
        let split = selection.split;
        let (samples, predictions, names) = (self.samples(split)?, self.predictions(split)?, self.names(split)?);
        let first = self.positions(selection, by)?;
        let matters = self.single_changes(&samples.select(&first))?;
        let row = |(&position, matters): (&usize, Vec<SingleChange>)| {
            let says = &predictions[position];
            let (label, probabilities) = match self.task.is_regression() {
                true => (Label::Value(says.mean[0]), vec![]),
                false => (Label::Class(says.label()), says.mean.clone()),
            };
            let target = Inputs::target_of(&samples, position, &self.task);
            let named = |label: Label| label.class_name(self.classes());
            Ranked {
                index: self.number(split, position),
                name: names.get(position),
                uncertainty: says.uncertainty,
                label,
                label_name: named(label),
                target,
                target_name: target.and_then(named),
                probabilities,
                matters,
            }
        };
        let rejected = self.rejected_of(selection);
        Ok(Ranking { format: RANKING_FORMAT, inputs: first.iter().zip(matters).map(row).collect(), rejected })
    }

    /// The inputs that a selection names: named rows in their order, all rows of a file in its order, and otherwise the most
    /// uncertain first.
    pub fn choose(&self, selection: &Selection, by: Uncertainty) -> Result<Inputs> {
        self.inputs(selection.split, &self.positions(selection, by)?)
    }

    /// The same without those that can meet the constraints by no change at all, which are set aside with the reason; so are
    /// the rows of a file that the selection names and that cannot be read.
    pub fn choose_feasible(&self, selection: &Selection, by: Uncertainty) -> Result<(Inputs, Vec<RejectedRow>)> {
        let (inputs, mut rejected) = self.feasible(self.choose(selection, by)?)?;
        rejected.extend(self.rejected_of(selection));
        rejected.sort_by_key(|row| row.index);
        Ok((inputs, rejected))
    }

    /// The rows of a file that cannot be read, of named rows only those among them.
    fn rejected_of(&self, selection: &Selection) -> Vec<RejectedRow> {
        let (inputs, ids): (BTreeSet<usize>, BTreeSet<&String>) =
            (selection.inputs.iter().copied().collect(), selection.ids.iter().collect());
        let all = inputs.is_empty() && ids.is_empty();
        let asked = |row: &&RejectedRow| {
            let id = row.name.as_ref().and_then(|name| name.id.as_ref());
            all || inputs.contains(&row.index) || id.is_some_and(|id| ids.contains(id))
        };
        match selection.split {
            Split::Test => self.rejected().iter().filter(asked).cloned().collect(),
            _ => vec![],
        }
    }

    /// The inputs that can meet the constraints, and the others with the reason; an error where no row of a split can.
    fn feasible(&self, inputs: Inputs) -> Result<(Inputs, Vec<RejectedRow>)> {
        let Some(schema) = self.schema().filter(|schema| schema.image.is_none()) else { return Ok((inputs, vec![])) };
        let (mut rejected, mut left) = (Vec::new(), Vec::with_capacity(inputs.len()));
        for row in 0..inputs.len() {
            match schema.constraints.bounds(schema, inputs.row(row)) {
                Ok(_) => left.push(row),
                Err(problem) if inputs.len() == rejected.len() + 1 && self.file_name().is_none() => {
                    return Err(problem.of_input(inputs.index(row)));
                }
                Err(problem) => rejected.push(RejectedRow {
                    index: inputs.index(row),
                    name: inputs.name(row),
                    reason: problem.to_string(),
                }),
            }
        }
        let feasible = if rejected.is_empty() { inputs } else { inputs.select(&left) };
        Ok((feasible, rejected))
    }

    /// Positions of the rows that a selection names, in their split or among the readable rows of a file.
    fn positions(&self, selection: &Selection, by: Uncertainty) -> Result<Vec<usize>> {
        selection.check()?;
        if !selection.inputs.is_empty() {
            return self.numbered(selection);
        }
        if !selection.ids.is_empty() {
            return self.identified(selection);
        }
        let samples = self.samples(selection.split)?;
        let allowed = self.allowed(selection, &samples)?;
        let in_file = selection.split == Split::Test && self.file_name().is_some();
        if in_file && selection.top.is_none() && selection.above.is_none() {
            return Ok((0..samples.len()).filter(|&row| allowed[row]).collect());
        }
        let chosen = selection.among(&self.predictions(selection.split)?, &allowed, by);
        if chosen.is_empty() && !in_file {
            let of_class = selection.class.as_ref().map_or(String::new(), |class| format!(" of class `{class}`"));
            let with = selection.condition.as_ref().map_or(String::new(), |text| format!(" with {text}"));
            let above = selection.above.map_or(String::new(), |above| format!(" with an uncertainty above {above}"));
            return Err(Error::data(format!("there is no input{of_class}{with}{above}; ask for less")));
        }
        Ok(chosen)
    }

    /// Which rows have the class, and meet the condition, that a selection names.
    fn allowed(&self, selection: &Selection, samples: &Samples) -> Result<Vec<bool>> {
        let mut allowed = match selection.class.as_deref().map(|name| self.class_named(name)).transpose()? {
            None => vec![true; samples.len()],
            Some(class) => match &samples.y {
                Targets::Classes(labels) => labels.iter().map(|&label| label as usize == class).collect(),
                Targets::Values(_) | Targets::Unknown(_) => vec![false; samples.len()],
            },
        };
        if let Some(text) = &selection.condition {
            let schema = self.known_schema()?;
            let condition = Predicate::parse(text, schema)?;
            for (row, allowed) in allowed.iter_mut().enumerate().filter(|(_, allowed)| **allowed) {
                *allowed = condition.holds(&schema.decode_row(samples.row(row)));
            }
        }
        Ok(allowed)
    }

    /// Positions of the rows with the numbers that a selection names; those of a file that cannot be read are left out.
    fn numbered(&self, selection: &Selection) -> Result<Vec<usize>> {
        let split = selection.split;
        let count = self.samples(split)?.len();
        let numbers: BTreeMap<usize, usize> =
            (0..count).map(|position| (self.number(split, position), position)).collect();
        let rejected: BTreeSet<usize> = self.rejected().iter().map(|row| row.index).collect();
        let known = selection.inputs.iter().filter(|number| split != Split::Test || !rejected.contains(number));
        let position = |number: &usize| {
            numbers.get(number).copied().ok_or_else(|| {
                let last = numbers.keys().next_back().unwrap_or(&0);
                Error::setting("inputs", format!("there is no row {number}; rows count from 0 to {last}"))
            })
        };
        known.map(position).collect()
    }

    /// Positions of the rows with the identifiers that a selection names; those of a file that cannot be read are left out.
    fn identified(&self, selection: &Selection) -> Result<Vec<usize>> {
        let names = self.names(selection.split)?;
        if !names.have_ids() {
            let problem = "the rows have no identifiers; train with `id` and the name of the column that holds them";
            return Err(Error::setting("ids", problem));
        }
        let rejected: Vec<&RowName> = self.rejected().iter().filter_map(|row| row.name.as_ref()).collect();
        let mut positions = Vec::new();
        for id in &selection.ids {
            let found = names.with_id(id);
            if found.is_empty() && !rejected.iter().any(|name| name.id.as_ref() == Some(id)) {
                let rows = self.file_name().map_or_else(|| format!("the {} rows", selection.split), str::to_owned);
                return Err(Error::setting("ids", format!("`{id}` is not among {rows}; mind how it is written there")));
            }
            positions.extend(found);
        }
        Ok(positions)
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
