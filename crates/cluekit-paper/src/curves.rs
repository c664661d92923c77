//! Lines over a common axis: the form of most of the paper's figures.

use cluekit_plot::{Axis, Colour, Line, Plot};

/// The size of one panel among others.
const PANEL: (f64, f64) = (430.0, 320.0);

/// One named line.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    pub dashed: bool,
    pub colour: Option<Colour>,
}

impl Curve {
    pub fn new(name: impl Into<String>, x: &[f64], y: impl IntoIterator<Item = f64>) -> Self {
        Self { name: name.into(), points: x.iter().copied().zip(y).collect(), dashed: false, colour: None }
    }

    pub fn dashed(self) -> Self {
        Self { dashed: true, ..self }
    }

    pub fn coloured(self, colour: Colour) -> Self {
        Self { colour: Some(colour), ..self }
    }
}

/// A panel with these lines.
pub(super) fn panel(title: &str, x: Axis, y: Axis, curves: Vec<Curve>) -> Plot {
    let plot = Plot::new(title, x, y).sized(PANEL.0, PANEL.1);
    curves.into_iter().fold(plot, |plot, Curve { name, points, dashed, colour }| {
        let dots = points.len() <= 30;
        let name = (!name.is_empty()).then_some(name);
        plot.with(Line { points, dots, dashed, colour, name, ..Line::default() })
    })
}
