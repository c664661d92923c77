//! What a search has to know of one input before it begins.

use super::ball::LatentBall;
use super::certain::{Nearest, automatic_radius};
use super::outside::Outlier;
use super::prepared::GoOn;
use super::way::Steps;
use super::{Background, Decoding, Delta, Inputs, Models, Search};
use crate::data::Bounds;
use crate::diversity::Space;
use crate::error::{Error, Result};
use crate::model::Predictive;
use crate::parallel::over_shards;
use crate::prediction::{Prediction, rows_together, summarised};
use crate::tensor::{tensor, values};
use crate::uncertainty::mean_prediction;

/// Rows that one thread encodes at a time.
const ROWS: usize = 128;

/// An input x₀ with its code, its prediction and its limits.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// Number of the input, which also addresses its random streams.
    pub index: usize,
    /// The encoded input x₀.
    pub x: Vec<f32>,
    /// Latent code z₀ = μ_φ(z|x₀).
    pub z: Vec<f32>,
    /// Reconstruction μ_θ(x|z₀).
    pub decoded: Vec<f32>,
    /// The mean prediction f(x₀): probabilities, or a scaled value.
    pub prediction: Vec<f32>,
    /// Prediction for x₀ in the data's unit, with its uncertainty.
    pub now: Prediction,
    /// Between which values each column stays; nothing where nothing is known of the columns.
    pub bounds: Option<Bounds>,
    /// Ball that the candidates stay in.
    pub ball: LatentBall,
    /// The nearest certain training point of each class, where they were looked for.
    pub nearest: Vec<Option<Nearest>>,
    /// Numbers that are unlike the training rows, where they were looked for.
    pub outside: Vec<Outlier>,
}

impl Origin {
    /// The input as one space sees it; a prediction has nothing to start from.
    pub fn point(&self, space: Space) -> Option<&[f32]> {
        match space {
            Space::X => Some(&self.x),
            Space::Z => Some(&self.z),
            Space::Y => None,
        }
    }
}

#[cfg(test)]
impl Origin {
    /// An input that is its own code, of whom two classes are equally likely.
    pub fn at(x: &[f32]) -> Self {
        let uncertainty = crate::prediction::UncertaintyParts { total: 0.7, aleatoric: 0.7, epistemic: 0.0 };
        Self {
            index: 0,
            x: x.to_vec(),
            z: x.to_vec(),
            decoded: x.to_vec(),
            prediction: vec![0.5, 0.5],
            now: Prediction { mean: vec![0.5, 0.5], uncertainty },
            bounds: None,
            ball: LatentBall::UNBOUNDED,
            nearest: vec![],
            outside: vec![],
        }
    }
}

/// Encodes and predicts the inputs, and finds out how far each may go.
pub(super) fn origins(
    search: &Search,
    models: &Models,
    background: &Background,
    inputs: &Inputs,
    go_on: GoOn,
) -> Result<Vec<Origin>> {
    let size = rows_together(models.predictor, inputs.len(), ROWS);
    let parts = over_shards(inputs.len(), size, |rows| -> Result<Vec<Origin>> {
        go_on()?;
        let width = inputs.width();
        let x = tensor(inputs.x()[rows.start * width..rows.end * width].to_vec(), [rows.len(), width]);
        let z = models.encode(&x)?;
        let decoded = models.decode(&z, width)?;
        let predictive = models.predict(&x)?;
        if matches!(predictive, Predictive::Gaussian { .. }) != models.task().is_regression() {
            return Err(Error::data(
                "the predictor answers with classes where values are due, or the reverse; name its task",
            ));
        }
        let now = summarised(&predictive, models.task());
        let prediction = mean_prediction(&predictive);
        let (latent, outputs) = (z.dims()[1], prediction.dims()[1]);
        let (z, decoded, prediction) = (values(z), values(decoded), values(prediction));
        let slice = |all: &[f32], row: usize, width: usize| all[row * width..(row + 1) * width].to_vec();
        rows.clone()
            .enumerate()
            .map(|(row, input)| {
                let z = slice(&z, row, latent);
                Ok(Origin {
                    index: inputs.index(input),
                    x: inputs.row(input).to_vec(),
                    decoded: slice(&decoded, row, width),
                    prediction: slice(&prediction, row, outputs),
                    now: now[row].clone(),
                    bounds: bounds(search, models, inputs.row(input))
                        .map_err(|error| error.of_input(inputs.index(input)))?,
                    ball: match search.delta {
                        Delta::Fixed(ball) => ball,
                        Delta::Auto | Delta::Wider(_) => LatentBall::UNBOUNDED,
                    },
                    nearest: vec![],
                    outside: vec![],
                    z,
                })
            })
            .collect()
    });
    let mut origins = parts.into_iter().collect::<Result<Vec<_>>>()?.concat();
    check_classes(search, &origins)?;
    look_around(search, models, background, &mut origins, go_on)?;
    if let Some(usual) = &background.usual {
        let outside = over_shards(origins.len(), 1, |at| usual.outside(&origins[at.start].x));
        origins.iter_mut().zip(outside).for_each(|(origin, outside)| origin.outside = outside);
    }
    Ok(origins)
}

/// Finds the certain training points around each input, and the ball that follows from them.
fn look_around(
    search: &Search,
    models: &Models,
    background: &Background,
    origins: &mut [Origin],
    go_on: GoOn,
) -> Result<()> {
    // A portfolio alone takes no steps, so that it needs no ball and no paths.
    if !search.needs_certain() || search.steps(models, background) == Steps::None {
        return Ok(());
    }
    let certain = background.certain.as_ref().ok_or_else(|| {
        let what = if search.delta.times().is_some() { "delta" } else { "init" };
        Error::setting(what, "looks at certain training points, and no training rows were given")
    })?;
    let codes: Vec<&[f32]> = origins.iter().map(|origin| origin.z.as_slice()).collect();
    let nearest = certain.nearest_watched(models, &codes, go_on)?;
    for (origin, nearest) in origins.iter_mut().zip(nearest) {
        if let Some(times) = search.delta.times() {
            let radius = automatic_radius(&nearest).ok_or_else(|| certain.missing())?;
            origin.ball = LatentBall::new(times as f32 * radius)?;
        }
        origin.nearest = nearest;
    }
    Ok(())
}

fn check_classes(search: &Search, origins: &[Origin]) -> Result<()> {
    let classes = origins.first().map_or(0, |origin| origin.prediction.len());
    match search.starts.classes.iter().find(|&&class| class >= classes) {
        Some(class) => Err(Error::setting("towards", format!("there is no class {class}; there are {classes}"))),
        None => Ok(()),
    }
}

fn bounds(search: &Search, models: &Models, x: &[f32]) -> Result<Option<Bounds>> {
    let Some(schema) = models.schema else { return Ok(None) };
    if x.len() != schema.width() {
        let (expected, got) = (vec![schema.width()], vec![x.len()]);
        return Err(Error::Shape { what: "an input".into(), expected, got });
    }
    Ok(match (&schema.image, search.decoding) {
        (None, _) => Some(schema.constraints.bounds(schema, x)?),
        // The input itself lies within, whatever its pixels are.
        (Some(_), Decoding::Anchored) => Some(Bounds {
            lower: x.iter().map(|v| v.min(0.0)).collect(),
            upper: x.iter().map(|v| v.max(1.0)).collect(),
        }),
        (Some(_), Decoding::Mean) => None,
    })
}
