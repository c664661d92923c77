//! A model that brings its own gradient, in plain numbers: value and pull-back, and every search works on it.
//!
//! The data lie on the curve x = (z, z²), and two logistic classifiers disagree about where the classes part.
//! `cargo run --release -p cluekit --example foreign_model`

use cluekit::model::foreign::{Answer, AnsweringGenerative, AnsweringPredictor, Foreign};
use cluekit::observer::Silent;
use cluekit::search::{Background, Inputs, Models, Search};
use cluekit::{Result, Seed};

/// p_s(1 | x) = σ(4 (x₁ − border_s)).
struct Classifiers([f32; 2]);

impl AnsweringPredictor for Classifiers {
    fn answer(&self, x: &[f32], _: usize) -> Result<Answer> {
        let p = |border: &f32, x: &[f32]| 1.0 / (1.0 + (4.0 * (border - x[0])).exp());
        let rows = self.0.iter().flat_map(|border| x.chunks(2).map(move |x| p(border, x)));
        Ok(Answer::Probabilities { values: rows.flat_map(|p| [1.0 - p, p]).collect(), samples: 2, classes: 2 })
    }
    fn pull_back(&self, x: &[f32], rows: usize, cotangent: &Answer) -> Result<Vec<f32>> {
        let (p, g) = (self.answer(x, rows)?.numbers(), cotangent.numbers());
        let slope = |i: usize| (g[2 * i + 1] - g[2 * i]) * 4.0 * p[2 * i] * p[2 * i + 1];
        Ok((0..rows).flat_map(|row| [slope(row) + slope(rows + row), 0.0]).collect())
    }
    fn has_gradient(&self) -> bool {
        true
    }
}

/// The curve x = (z, z²): one latent dimension.
struct Curve;

impl AnsweringGenerative for Curve {
    fn latent_dim(&self) -> usize {
        1
    }
    fn encode(&self, x: &[f32], _: usize) -> Result<Vec<f32>> {
        Ok(x.chunks(2).map(|x| x[0]).collect())
    }
    fn decode(&self, z: &[f32], _: usize) -> Result<Vec<f32>> {
        Ok(z.iter().flat_map(|z| [*z, z * z]).collect())
    }
    fn pull_back(&self, z: &[f32], _: usize, cotangent: &[f32]) -> Result<Vec<f32>> {
        Ok(z.iter().zip(cotangent.chunks(2)).map(|(z, g)| g[0] + 2.0 * z * g[1]).collect())
    }
    fn has_gradient(&self) -> bool {
        true
    }
}

#[allow(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<()> {
    let (generative, predictor) = (Foreign::new(Curve), Foreign::new(Classifiers([-0.2, 0.3])));
    let (models, inputs) = (Models::new(&generative, &predictor), Inputs::new(vec![0.1, 0.01], 2)?);
    let found = Search::clue().explain(&models, &Background::default(), &inputs, Seed(0), &mut Silent)?;
    for clue in &found[0].clues {
        println!("{:.3?}: {:.3} nats, accepted {}", clue.x, clue.uncertainty.total, clue.accepted);
    }
    Ok(())
}
