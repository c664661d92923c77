//! A latent space of two dimensions, to look at: uncertainty as ground, and what searches do on it.

use crate::laboratory::Stage;
use cluekit::data::{Samples, Targets};
use cluekit::error::{Error, Result};
use cluekit::explanation::Clue;
use cluekit::prediction::predict;
use cluekit::tensor::{tensor, values};
use cluekit_plot::{Axis, Colour, ColourMap, Heatmap, Line, Mark, Plot, Scatter, palette};
use cluekit_report::heatmap;

/// Points on each side of the ground.
const SIDE: usize = 72;
/// How far around what is shown the ground reaches.
const ROOM: f64 = 1.3;

/// The part of the plane that is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub x: (f64, f64),
    pub y: (f64, f64),
}

impl View {
    /// Around a point.
    pub fn around(centre: &[f32], radius: f64) -> Self {
        let range = |c: f32| (f64::from(c) - ROOM * radius, f64::from(c) + ROOM * radius);
        Self { x: range(centre[0]), y: range(centre[1]) }
    }
}

/// A code as a point.
pub(super) fn point(z: &[f32]) -> (f64, f64) {
    (f64::from(z[0]), f64::from(z[1]))
}

/// The uncertainty of what decodes from each place of a view.
pub(super) struct Land {
    view: View,
    codes: Vec<f32>,
    uncertainty: Vec<f64>,
}

impl Land {
    /// As a map, with something added to the uncertainty of each code.
    pub fn map(&self, label: &str, add: impl Fn(&[f32]) -> f64) -> Result<Heatmap> {
        let amounts = self.uncertainty.iter().zip(self.codes.chunks_exact(2)).map(|(h, z)| h + add(z)).collect();
        let mut ground = heatmap(amounts, SIDE, SIDE, self.view.x, self.view.y)?;
        (ground.map, ground.label, ground.smooth) = (ColourMap::Pale, label.into(), true);
        Ok(ground)
    }
}

/// The uncertainty of a view as a map.
pub(super) fn ground(stage: &Stage, view: View) -> Result<Heatmap> {
    land(stage, view)?.map("uncertainty H (nats)", |_| 0.0)
}

/// The uncertainty of a view.
pub(super) fn land(stage: &Stage, view: View) -> Result<Land> {
    let generative = stage.explainer.generative()?;
    if generative.latent_dim() != 2 {
        let problem =
            format!("`{}` has {} latent dimensions, and a plane has two", stage.name, generative.latent_dim());
        return Err(Error::setting("models", problem));
    }
    let at = |(low, high): (f64, f64), place: usize| low + (high - low) * (place as f64 + 0.5) / SIDE as f64;
    let mut codes = Vec::with_capacity(2 * SIDE * SIDE);
    for row in 0..SIDE {
        for column in 0..SIDE {
            codes.extend([at(view.x, column) as f32, at(view.y, row) as f32]);
        }
    }
    let x = values(generative.decode(&tensor(codes.clone(), [SIDE * SIDE, 2]))?);
    let samples = Samples { x, width: stage.test().width, y: Targets::Classes(vec![0; SIDE * SIDE]), weights: None };
    let predictions = predict(stage.explainer.predictor(), &samples, stage.explainer.task())?;
    let uncertainty = predictions.iter().map(|prediction| f64::from(prediction.uncertainty.total)).collect();
    Ok(Land { view, codes, uncertainty })
}

/// A panel with the ground.
pub(super) fn panel(title: &str, ground: &Heatmap) -> Plot {
    let (x, y) = (ground.x, ground.y);
    Plot::new(title, Axis::new("z₁").between(x.0, x.1), Axis::new("z₂").between(y.0, y.1))
        .with(ground.clone())
        .sized(460.0, 420.0)
}

/// The border of a ball.
pub(super) fn circle(centre: &[f32], radius: f32) -> Line {
    let at = |step: usize| {
        let angle = std::f64::consts::TAU * step as f64 / 96.0;
        let (x, y) = point(centre);
        (x + f64::from(radius) * angle.cos(), y + f64::from(radius) * angle.sin())
    };
    Line {
        points: (0..=96).map(at).collect(),
        colour: Some(Colour::BLACK),
        dashed: true,
        name: Some("δ-ball".into()),
        ..Line::default()
    }
}

/// Ways, and the clues that lie on them: the best codes, which need not be the last.
pub(super) fn ways(mut plot: Plot, clues: &[Clue], name: &str) -> Plot {
    let colour = palette(0);
    for clue in clues {
        let points = clue.path.iter().map(|z| point(z)).collect();
        plot = plot.with(Line { points, colour: Some(colour), ..Line::default() });
    }
    plot.with(dots(clues.iter().map(|clue| point(&clue.z)).collect(), colour, name))
}

/// Points.
pub(super) fn dots(points: Vec<(f64, f64)>, colour: Colour, name: &str) -> Scatter {
    Scatter { points, colour: Some(colour), radius: 4.0, name: Some(name.into()), ..Scatter::default() }
}

/// The input's own code.
pub(super) fn origin(z: &[f32]) -> Scatter {
    Scatter {
        points: vec![point(z)],
        mark: Mark::Ring,
        radius: 6.5,
        colour: Some(Colour::BLACK),
        name: Some("z₀".into()),
        ..Scatter::default()
    }
}
