//! What a search works with: two models, what is known of the training data, and the inputs to explain.

use super::certain::Certain;
use super::decoding::Decoding;
use super::jury::Jury;
use super::outside::Usual;
use super::plausibility::Plausible;
use super::portfolio::TrainingRows;
use crate::data::{RowName, RowNames, Samples, Schema, Targets, Task};
use crate::distance::{Distance, Metric};
use crate::error::{Error, Result};
use crate::explanation::Label;
use crate::model::{Generative, Predictive, Predictor};
use crate::prediction::{answer, answer_by};
use crate::tensor::Tensor;
use std::sync::Arc;

/// The model to be explained and the model of its inputs.
#[derive(Clone, Copy)]
pub struct Models<'a> {
    /// Generative model, whose latent space is searched.
    pub generative: &'a dyn Generative,
    /// Predictor, whose uncertainty is explained.
    pub predictor: &'a dyn Predictor,
    /// Meaning of an input's columns; none for plain lists of numbers.
    pub schema: Option<&'a Schema>,
    task: &'a Task,
}

/// Classes without names, for models that come without a schema.
static CLASSES: Task = Task::Classification { classes: vec![] };

impl<'a> Models<'a> {
    /// A classifier and a generative model of its inputs.
    pub fn new(generative: &'a dyn Generative, predictor: &'a dyn Predictor) -> Self {
        Self { generative, predictor, schema: None, task: &CLASSES }
    }

    /// These models with a schema: meaning of the columns, target and constraints.
    pub fn with_schema(self, schema: &'a Schema) -> Self {
        Self { schema: Some(schema), task: &schema.target.task, ..self }
    }

    /// These models for another target, such as a regression or classes with names.
    pub fn with_task(self, task: &'a Task) -> Self {
        Self { task, ..self }
    }

    /// The encoder's mean, if it has the shape that was agreed on.
    pub(crate) fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        let expected = [x.dims()[0], self.generative.latent_dim()];
        if expected[1] == 0 {
            return Err(Error::data("the generative model has no latent dimension to search in"));
        }
        checked("the code of the encoder", self.generative.encode(x)?, expected)
    }

    /// The decoder's mean, if it has the shape that was agreed on.
    pub(crate) fn decode(&self, z: &Tensor<2>, width: usize) -> Result<Tensor<2>> {
        checked("the output of the decoder", self.generative.decode(z)?, [z.dims()[0], width])
    }

    /// The predictive distribution, if it has the shape that was agreed on.
    pub(crate) fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        answer(self.predictor, x)
    }

    /// The same by the posterior samples at these places.
    pub(crate) fn predict_by(&self, x: &Tensor<2>, samples: &[usize]) -> Result<Predictive> {
        answer_by(self.predictor, x, samples)
    }

    /// Refuses a decoder that only answers, for work that differentiates it.
    pub(crate) fn need_gradient_of_decoder(&self) -> Result<()> {
        match self.generative.has_gradient() {
            true => Ok(()),
            false => Err(Error::NoGradient { model: "decoder" }),
        }
    }

    /// Refuses models that only answer, for work that differentiates both.
    pub(crate) fn need_gradients(&self) -> Result<()> {
        self.need_gradient_of_decoder()?;
        match self.predictor.has_gradient() {
            true => Ok(()),
            false => Err(Error::NoGradient { model: "predictor" }),
        }
    }

    /// Name of the class that a label stands for; none for a value, and for classes without names.
    pub(crate) fn name_of(&self, label: Label) -> Option<String> {
        label.class_name(self.task.classes())
    }

    /// Task of the predictor: classes or a value.
    pub fn task(&self) -> &'a Task {
        self.task
    }
}

/// A tensor from a stranger's model, if it has the shape that was agreed on.
fn checked(what: &str, tensor: Tensor<2>, expected: [usize; 2]) -> Result<Tensor<2>> {
    let got = tensor.dims();
    match got == expected {
        true => Ok(tensor),
        false => Err(Error::Shape { what: what.into(), expected: expected.to_vec(), got: got.to_vec() }),
    }
}

/// What a search may know of the training data.
#[derive(Clone, Debug, Default)]
pub struct Background {
    /// Distance d_x; none for the one that the objective names, if it needs no training rows.
    pub metric: Option<Metric>,
    /// Certain training points, for paths and for the automatic δ.
    pub certain: Option<Certain>,
    /// Judge of what is plausible among the training rows; none for clues without plausibility.
    pub plausible: Option<Plausible>,
    /// Training rows with what the predictor says of them, for a portfolio; none without one.
    pub rows: Option<Arc<TrainingRows>>,
    /// Predictors that learned from the same rows, and judge clues; none for clues that nobody else judges.
    pub jury: Option<Arc<Jury>>,
    /// What is usual among the training rows, number by number; none for inputs whose own oddness is not looked at.
    pub usual: Option<Arc<Usual>>,
    /// Whether the predictor knows the training rows by heart, as forests do: then a change of a table's clue stays where it
    /// pays, and is not taken back only because the predictor is certain without it.
    pub by_heart: bool,
}

impl Background {
    /// The distance that an objective names, between rows of `schema`.
    pub(crate) fn metric(&self, kind: Distance, schema: Option<&Schema>) -> Result<Metric> {
        match &self.metric {
            Some(metric) if metric.kind() == kind => Ok(metric.clone()),
            Some(metric) => {
                let (given, name) = (metric.kind().name(), kind.name());
                Err(Error::setting(
                    "distance",
                    format!("the objective has `{name}`, the background `{given}`; choose one"),
                ))
            }
            None => Metric::fit(kind, &[], 1, schema),
        }
    }
}

/// λ_x d_x(x(z), x₀): what a distance from an input costs.
#[derive(Clone, Debug, Default)]
pub struct Price {
    /// Weight λ_x of the distance.
    pub lambda_x: f32,
    /// Distance d_x between inputs.
    pub metric: Metric,
    /// How a code becomes an input x(z).
    pub decoding: Decoding,
}

/// The inputs to be explained.
#[derive(Clone, Debug)]
pub struct Inputs {
    x: Vec<f32>,
    width: usize,
    index: Vec<usize>,
    targets: Option<Vec<Label>>,
    names: RowNames,
}

impl Inputs {
    /// Encoded rows of `width` numbers each, numbered from 0.
    ///
    /// ```
    /// use cluekit::Inputs;
    ///
    /// let inputs = Inputs::new(vec![0.0, 1.0, 2.0, 3.0], 2)?;
    /// assert_eq!((inputs.len(), inputs.width()), (2, 2));
    /// assert_eq!(inputs.select(&[1]).x(), [2.0, 3.0]);
    /// assert!(Inputs::new(vec![0.0, 1.0, 2.0], 2).is_err());
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn new(x: Vec<f32>, width: usize) -> Result<Self> {
        if width == 0 || !x.len().is_multiple_of(width) {
            let problem = format!("{} numbers are no rows of {width}; give whole rows", x.len());
            return Err(Error::data(problem));
        }
        if let Some(place) = x.iter().position(|v| !v.is_finite()) {
            let (row, column) = (place / width, place % width);
            return Err(Error::data(format!(
                "input {row} has {} in column {column}; every value must be a finite number",
                x[place]
            )));
        }
        Ok(Self { index: (0..x.len() / width).collect(), x, width, targets: None, names: RowNames::default() })
    }

    /// The rows of a dataset at the positions `rows`, with their targets; they keep their numbers.
    pub fn of(samples: &Samples, rows: &[usize], task: &Task) -> Result<Self> {
        if let Some(row) = rows.iter().find(|&&row| row >= samples.len()) {
            let last = samples.len().saturating_sub(1);
            return Err(Error::setting("inputs", format!("there is no row {row}; rows count from 0 to {last}")));
        }
        let targets = rows.iter().map(|&row| Self::target_of(samples, row, task)).collect();
        Ok(Self { index: rows.to_vec(), targets, ..Self::new(samples.select(rows).x, samples.width)? })
    }

    /// These inputs under other numbers, and with names.
    #[must_use]
    pub fn called(self, numbers: Vec<usize>, names: RowNames) -> Self {
        Self { index: numbers, names, ..self }
    }

    /// The target of a row in the data's unit, where it is known.
    pub fn target_of(samples: &Samples, row: usize, task: &Task) -> Option<Label> {
        Some(match (&samples.y, task) {
            (Targets::Unknown(_), _) => return None,
            (Targets::Classes(labels), _) => Label::Class(labels[row] as usize),
            (Targets::Values(values), Task::Regression(scaling)) => Label::Value(scaling.decode(values[row]) as f32),
            (Targets::Values(values), _) => Label::Value(values[row]),
        })
    }

    /// The inputs at the places `rows`, in that order.
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            x: rows.iter().flat_map(|&row| self.row(row)).copied().collect(),
            width: self.width,
            index: rows.iter().map(|&row| self.index[row]).collect(),
            targets: self.targets.as_ref().map(|targets| rows.iter().map(|&row| targets[row]).collect()),
            names: self.names.select(rows),
        }
    }

    /// Number of inputs.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are no inputs.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Number of columns of an input.
    pub fn width(&self) -> usize {
        self.width
    }

    /// True class of each input; none unless all are known.
    pub fn classes(&self) -> Option<Vec<usize>> {
        let class = |label: &Label| match label {
            Label::Class(class) => Some(*class),
            Label::Value(_) => None,
        };
        self.targets.as_ref()?.iter().map(class).collect()
    }

    /// All inputs, row after row.
    pub fn x(&self) -> &[f32] {
        &self.x
    }

    /// One input, encoded.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.x[row * self.width..(row + 1) * self.width]
    }

    /// Number of one input.
    pub fn index(&self, row: usize) -> usize {
        self.index[row]
    }

    /// Name of one input; none where inputs have no names.
    pub fn name(&self, row: usize) -> Option<RowName> {
        self.names.get(row)
    }

    pub(super) fn target(&self, row: usize) -> Option<Label> {
        self.targets.as_ref().map(|targets| targets[row])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_are_no_numbers_are_named() {
        let problem = Inputs::new(vec![0.0, 1.0, 2.0, f32::NAN], 2).unwrap_err().to_string();
        assert_eq!(problem, "input 1 has NaN in column 1; every value must be a finite number");
        assert!(Inputs::new(vec![0.0; 3], 2).unwrap_err().to_string().contains("3 numbers are no rows of 2"));
    }

    #[test]
    fn a_row_that_is_not_there_is_named() {
        let samples = Samples { x: vec![0.0; 4], width: 2, y: Targets::Classes(vec![0, 1]), weights: None };
        let problem = Inputs::of(&samples, &[0, 2], &CLASSES).unwrap_err().to_string();
        assert_eq!(problem, "setting `inputs`: there is no row 2; rows count from 0 to 1");
    }
}
