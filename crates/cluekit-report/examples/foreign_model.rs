//! A model that brings its own gradient, audited to a page: `cargo run -p cluekit-report --example foreign_model`

use cluekit::data::Table;
use cluekit::model::foreign::{Answer, AnsweringGenerative, AnsweringPredictor, Foreign};
use cluekit::{AuditSettings, Explainer, Inputs, Result, Search, Seed, observer::Silent};
use std::sync::Arc;

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

/// The line x = (z, z), which the two columns are once they are scaled: one latent dimension.
struct Line;

impl AnsweringGenerative for Line {
    fn latent_dim(&self) -> usize {
        1
    }
    fn encode(&self, x: &[f32], _: usize) -> Result<Vec<f32>> {
        Ok(x.chunks(2).map(|x| x[0]).collect())
    }
    fn decode(&self, z: &[f32], _: usize) -> Result<Vec<f32>> {
        Ok(z.iter().flat_map(|z| [*z, *z]).collect())
    }
    fn pull_back(&self, _: &[f32], _: usize, cotangent: &[f32]) -> Result<Vec<f32>> {
        Ok(cotangent.chunks(2).map(|g| g[0] + g[1]).collect())
    }
    fn has_gradient(&self) -> bool {
        true
    }
}

fn main() -> Result<()> {
    let numbers = |times: f64| -> Vec<f64> { (0..400).map(|i| times * f64::from(i)).collect() };
    let sides = (0..400).map(|i| ["left", "right"][i / 202].to_owned()).collect::<Vec<String>>();
    let rows = Table::new("line").with("x1", numbers(0.37)).with("x2", numbers(1.13)).with("side", sides);
    let predictor = Arc::new(Foreign::new(Classifiers([-0.2, 0.3])));
    let explainer =
        Explainer::new(predictor, Arc::new(Foreign::new(Line))).with_rows(rows.dataset("side", 0.25, Seed(0))?);
    let found = explainer.explain(&Search::clue(), &Inputs::new(vec![0.1, 0.1], 2)?, Seed(0), &mut Silent)?;
    assert!(found[0].clues[0].accepted, "some steps to the side both classifiers agree");
    let audited = explainer.audit(&AuditSettings::default(), "line", &mut Silent)?;
    let page = cluekit_report::page(&cluekit_report::illustrated(audited, explainer.known_schema()?))?;
    std::fs::write(std::env::temp_dir().join("foreign.html"), page).map_err(cluekit::Error::writing("foreign.html"))
}
