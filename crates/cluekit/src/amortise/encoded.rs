//! Rows as mappers see them: x₀, its code z₀, what the model says of it, and its true class where that is known.

use crate::data::{Samples, Targets};
use crate::error::{Error, Result};
use crate::parallel::over_shards;
use crate::prediction::{Prediction, predict};
use crate::search::{Inputs, Models, Prepared};
use crate::tensor::{Tensor, tensor, values};
use std::ops::Range;

/// Rows that one thread encodes at a time.
const ROWS: usize = 256;

/// Some rows, each encoded and predicted.
#[derive(Clone, Debug, Default)]
pub struct Encoded {
    /// Inputs x₀, row after row.
    pub x: Vec<f32>,
    /// Number of columns of x₀.
    pub width: usize,
    /// Latent codes z₀ = μ_φ(z|x₀), row after row.
    pub z: Vec<f32>,
    /// Number of columns of z₀.
    pub latent: usize,
    /// Prediction for each row.
    pub predictions: Vec<Prediction>,
    /// The true class of each row, where it is known.
    pub classes: Option<Vec<usize>>,
}

impl Encoded {
    /// Encodes and predicts the rows of a dataset.
    pub fn of(models: &Models, samples: Samples) -> Result<Self> {
        let predictions = predict(models.predictor, &samples, models.task())?;
        Self::with_predictions(models, samples, predictions)
    }

    /// Encodes the rows of a dataset whose predictions are known.
    pub fn with_predictions(models: &Models, samples: Samples, predictions: Vec<Prediction>) -> Result<Self> {
        let Samples { x, width, y, .. } = samples;
        let classes = match y {
            Targets::Classes(labels) => Some(labels.into_iter().map(|label| label as usize).collect()),
            Targets::Values(_) | Targets::Unknown(_) => None,
        };
        let (z, latent) = (codes(models, &x, width)?, models.generative.latent_dim());
        let rows = x.len() / width.max(1);
        if predictions.len() != rows {
            let problem = format!("there are {} predictions of {rows} rows", predictions.len());
            return Err(Error::data(problem));
        }
        if let Some(row) = z.chunks_exact(latent).position(|z| z.iter().any(|z| !z.is_finite())) {
            return Err(Error::data(format!("the code of row {row} is not finite; train the generative model again")));
        }
        if let Some(row) = predictions.iter().position(|prediction| !prediction.uncertainty.total.is_finite()) {
            return Err(Error::data(format!("the prediction of row {row} is not finite; train the predictor again")));
        }
        Ok(Self { x, width, z, latent, predictions, classes })
    }

    /// The rows of a [`Prepared`] search: its inputs with their codes and predictions.
    pub fn prepared(prepared: &Prepared, inputs: &Inputs) -> Self {
        let latent = if prepared.is_empty() { 1 } else { prepared.z(0).len() };
        Self {
            x: inputs.x().to_vec(),
            width: inputs.width(),
            z: (0..prepared.len()).flat_map(|input| prepared.z(input).to_vec()).collect(),
            latent,
            predictions: (0..prepared.len()).map(|input| prepared.prediction(input).clone()).collect(),
            classes: inputs.classes(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.predictions.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.predictions.is_empty()
    }

    /// Input x₀ of one row.
    pub fn x(&self, row: usize) -> &[f32] {
        &self.x[row * self.width..(row + 1) * self.width]
    }

    /// Latent code z₀ of one row.
    pub fn z(&self, row: usize) -> &[f32] {
        &self.z[row * self.latent..(row + 1) * self.latent]
    }

    /// The class of one row: the true one where it is known, else the predicted one.
    pub fn class(&self, row: usize) -> usize {
        self.classes.as_ref().map_or_else(|| self.predictions[row].label(), |classes| classes[row])
    }

    /// The rows at the places `rows`, in that order.
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            x: rows.iter().flat_map(|&row| self.x(row)).copied().collect(),
            z: rows.iter().flat_map(|&row| self.z(row)).copied().collect(),
            predictions: rows.iter().map(|&row| self.predictions[row].clone()).collect(),
            classes: self.classes.as_ref().map(|classes| rows.iter().map(|&row| classes[row]).collect()),
            ..*self
        }
    }

    /// x₀ of some rows as a tensor.
    pub(super) fn inputs(&self, rows: Range<usize>) -> Tensor<2> {
        tensor(self.x[rows.start * self.width..rows.end * self.width].to_vec(), [rows.len(), self.width])
    }

    /// z₀ of some rows as a tensor.
    pub(super) fn codes(&self, rows: Range<usize>) -> Tensor<2> {
        tensor(self.z[rows.start * self.latent..rows.end * self.latent].to_vec(), [rows.len(), self.latent])
    }
}

/// The codes of encoded rows, one behind the other.
pub(super) fn codes(models: &Models, x: &[f32], width: usize) -> Result<Vec<f32>> {
    let parts = over_shards(x.len() / width.max(1), ROWS, |rows| -> Result<Vec<f32>> {
        let x = tensor(x[rows.start * width..rows.end * width].to_vec(), [rows.len(), width]);
        Ok(values(models.encode(&x)?))
    });
    Ok(parts.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

/// What codes decode to, one behind the other.
pub(super) fn decoded(models: &Models, z: &[f32], width: usize) -> Result<Vec<f32>> {
    let latent = models.generative.latent_dim();
    let parts = over_shards(z.len() / latent.max(1), ROWS, |rows| -> Result<Vec<f32>> {
        let z = tensor(z[rows.start * latent..rows.end * latent].to_vec(), [rows.len(), latent]);
        Ok(values(models.decode(&z, width)?))
    });
    Ok(parts.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

/// The mean of some rows of `width` numbers each.
pub(super) fn mean<'a>(rows: impl Iterator<Item = &'a [f32]>, width: usize) -> Vec<f32> {
    let (mut sums, mut count) = (vec![0.0; width], 0.0);
    for row in rows {
        sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
        count += 1.0;
    }
    sums.into_iter().map(|sum| (sum / f64::max(count, 1.0)) as f32).collect()
}
