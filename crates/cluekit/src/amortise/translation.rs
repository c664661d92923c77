//! GLAM-CLUE's own loss, for a translation and for an affine map. [Ley2022, Alg. 2, Eq. 2]
//!
//! L(θ) = λ_θ ‖θ‖₁ + 1/|Z| Σ_{z ∈ Z} min_{x ∈ X} ‖μ_θ(G(z)) − x‖₂²
//!
//! | form | G(z) | θ |
//! |---|---|---|
//! | translation | z + b | b |
//! | affine | z + A z + b | A, b |
//!
//! Both start at the latent difference of means, A = 0. Z holds codes of uncertain rows, X certain inputs: training rows
//! (GLAM 1), or the uncertain rows' own CLUEs (GLAM 2 and 3).

use super::nearest::nearest;
use crate::error::Result;
use crate::model::adam::Adam;
use crate::model::parameters::{Layout, Parameters, Weights};
use crate::parallel::over_shards;
use crate::search::Models;
use crate::tensor::{Tensor, scalar, tensor, values};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Rows of Z that one thread handles at a time.
const ROWS: usize = 128;

/// The shape of a map between codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// z + b.
    Translation,
    /// z + A z + b.
    Affine,
}

/// A map between codes.
#[derive(Clone, Debug, PartialEq)]
pub struct LatentMap {
    form: Form,
    parameters: Parameters,
}

impl LatentMap {
    /// z + b.
    pub fn translation(b: Vec<f32>) -> Self {
        Self::starting_at(Form::Translation, b)
    }

    /// A map of this form that is the translation by `b`.
    pub fn starting_at(form: Form, b: Vec<f32>) -> Self {
        let layout = layout(form, b.len());
        let mut numbers = vec![0.0; layout.len() - b.len()];
        numbers.extend(b);
        let parameters = Parameters::new(Arc::new(layout), numbers).expect("as many numbers as the layout has places");
        Self { form, parameters }
    }

    /// A map of this form with these parameters.
    pub fn new(form: Form, parameters: Parameters) -> Self {
        Self { form, parameters }
    }

    /// A, if it has one, and b.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Whether it is affine.
    pub fn form(&self) -> Form {
        self.form
    }

    /// G(z) of some codes, one behind the other.
    pub fn apply(&self, z: &[f32]) -> Vec<f32> {
        let entries = self.parameters.layout().entries();
        let b = &self.parameters.values[entries[entries.len() - 1].range()];
        let matrix = &self.parameters.values[..self.parameters.values.len() - b.len()];
        let code = |z: &[f32]| -> Vec<f32> {
            let row = |i: usize| {
                let product = matrix.get(i * b.len()..(i + 1) * b.len());
                product.map_or(0.0, |row| row.iter().zip(z).map(|(a, z)| a * z).sum::<f32>())
            };
            z.iter().enumerate().map(|(i, z)| z + row(i) + b[i]).collect()
        };
        z.chunks_exact(b.len()).flat_map(code).collect()
    }
}

/// The arrays of a form for codes of this size.
pub fn layout(form: Form, latent: usize) -> Layout {
    let mut layout = Layout::default();
    if form == Form::Affine {
        layout.push("matrix", &[latent, latent]);
    }
    layout.push("translation", &[latent]);
    layout
}

/// Settings of Eq. 2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Descent {
    /// λ_θ.
    pub lambda_theta: f32,
    /// Steps of Adam.
    pub steps: usize,
    /// Of Adam.
    pub learning_rate: f64,
}

/// Minimises Eq. 2 from `start` and returns the best map that was seen.
///
/// # Shapes
/// - `z`: `n × latent`, `certain`: `m × width`, row by row, n and m at least 1
pub fn fit(
    models: &Models,
    start: LatentMap,
    z: &[f32],
    certain: &[f32],
    width: usize,
    settings: Descent,
) -> Result<LatentMap> {
    let mut map = start;
    let mut best = (f64::INFINITY, map.clone());
    let mut adam = Adam::new(map.parameters.values.len());
    for step in 0..=settings.steps {
        let (loss, gradient) = loss(models, &map, z, certain, width, settings.lambda_theta)?;
        if loss < best.0 {
            best = (loss, map.clone());
        }
        if step < settings.steps {
            // Falling to nothing, so that ‖θ‖₁ does not leave coordinates trembling around 0.
            let left = 1.0 - step as f64 / settings.steps as f64;
            adam.step(&mut map.parameters.values, &gradient, settings.learning_rate * left, 0.0);
        }
    }
    Ok(best.1)
}

/// L(θ) and its gradient.
pub fn loss(
    models: &Models,
    map: &LatentMap,
    z: &[f32],
    certain: &[f32],
    width: usize,
    lambda_theta: f32,
) -> Result<(f64, Vec<f32>)> {
    let latent = models.generative.latent();
    let count = z.len() / latent;
    let parts = over_shards(count, ROWS, |rows: Range<usize>| -> Result<(f64, Vec<f32>)> {
        let weights = Weights::tracked(&map.parameters);
        let z = tensor(z[rows.start * latent..rows.end * latent].to_vec(), [rows.len(), latent]);
        let x = models.decode(&forward(map.form, &weights, z), width)?;
        let chosen = nearest(&values(x.clone()), certain, width);
        let chosen: Vec<f32> = chosen.iter().flat_map(|&at| &certain[at * width..(at + 1) * width]).copied().collect();
        let loss = (x - tensor(chosen, [rows.len(), width])).powi_scalar(2).sum();
        let gradient = weights.gradient(&loss);
        Ok((f64::from(scalar(loss)), gradient))
    });
    let theta = &map.parameters.values;
    let mut loss = 0.0;
    let mut gradient = vec![0.0; theta.len()];
    for part in parts {
        let (part, of_part) = part?;
        loss += part / count as f64;
        gradient.iter_mut().zip(of_part).for_each(|(sum, g)| *sum += g / count as f32);
    }
    for (g, &value) in gradient.iter_mut().zip(theta) {
        loss += f64::from(lambda_theta * value.abs());
        *g += lambda_theta * if value.abs() > 0.0 { value.signum() } else { 0.0 };
    }
    Ok((loss, gradient))
}

fn forward(form: Form, weights: &Weights, z: Tensor<2>) -> Tensor<2> {
    let shift: Tensor<2> = weights.get::<1>("translation").unsqueeze();
    match form {
        Form::Translation => z + shift,
        Form::Affine => z.clone() + z.matmul(weights.get::<2>("matrix").transpose()) + shift,
    }
}
