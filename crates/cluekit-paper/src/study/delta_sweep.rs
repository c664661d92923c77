//! What the radius δ does to the clues of uncertain inputs, for several variants of δ-CLUE. [Ley2022, App. B]

mod expectation;

use super::settings::settings;
use crate::curves::{Curve, panel};
use crate::laboratory::{Laboratory, Stage, delta_clue};
use crate::statistics::{distinct_labels, mean, over_inputs, spread_over_inputs};
use crate::study_result::{StudyResult, Table};
use cluekit::error::Result;
use cluekit::explanation::Explanation;
use cluekit::search::{InitScheme, Starts};
use cluekit::seed::Seed;
use cluekit_plot::{Axis, Course, Grid, Plot, Reference};
pub use expectation::Expectation;
use serde::{Deserialize, Serialize};

/// A clue this near to the surface of the ball lies on it.
const ON_SHELL: f32 = 0.999;

settings! {
    /// Variants, radii, and what is shown of them.
    pub struct DeltaSweep: Clues {
        /// The radii.
        pub deltas: Vec<f32>,
        /// What is searched for, and from where.
        pub variants: Vec<Variant>,
        /// The panels of the picture.
        pub show: Vec<Quantity>,
        /// What the claim comes down to.
        pub expect: Vec<Expectation>,
    }
}

/// A loss and a scheme of starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// What the paper calls it.
    pub name: String,
    /// 0 for L_H, 0.03 for L_H+d.
    pub lambda_x: f32,
    /// S1 to S5.
    pub init: InitScheme,
}

/// Something about the clues of one radius, in the mean over inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// H of the most certain clue.
    BestUncertainty,
    /// H of all clues.
    MeanUncertainty,
    /// Least, mean and greatest H.
    AllUncertainty,
    /// d of the nearest clue.
    BestDistance,
    /// d of all clues.
    MeanDistance,
    /// Least, mean and greatest d.
    AllDistance,
    /// ρ.
    Latent,
    /// The share on the surface of the ball.
    Shell,
    /// Distinct labels.
    Labels,
}

/// What one radius gave.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub delta: f64,
    pub uncertainty: [f64; 3],
    pub distance: [f64; 3],
    pub latent: [f64; 3],
    pub shell: f64,
    pub labels: f64,
    pub accepted: f64,
}

impl Point {
    pub fn of(delta: f32, found: &[Explanation]) -> Self {
        let share = |holds: &dyn Fn(&cluekit::explanation::Clue) -> bool| {
            over_inputs(found, |e| e.clues.iter().filter(|clue| holds(clue)).count() as f64 / e.clues.len() as f64)
        };
        Self {
            delta: f64::from(delta),
            uncertainty: spread_over_inputs(found, |clue| clue.uncertainty.total),
            distance: spread_over_inputs(found, |clue| clue.distance.input),
            latent: spread_over_inputs(found, |clue| clue.distance.latent),
            shell: share(&|clue| clue.distance.latent >= ON_SHELL * delta),
            labels: over_inputs(found, |e| distinct_labels(&e.clues) as f64),
            accepted: share(&|clue| clue.accepted),
        }
    }
}

/// A table of points, of one variant after another.
pub(super) fn table<'a>(variants: impl Iterator<Item = (&'a str, &'a [Point])>) -> Table {
    let mut table = Table::new(
        "sweep",
        &[
            "variant",
            "delta",
            "H least",
            "H mean",
            "H greatest",
            "d least",
            "d mean",
            "d greatest",
            "rho mean",
            "on shell",
            "labels",
            "accepted",
        ],
    );
    for (name, points) in variants {
        for p in points {
            let [a, b, c] = p.uncertainty;
            let [d, e, f] = p.distance;
            let numbers = [p.delta, a, b, c, d, e, f, p.latent[1], p.shell, p.labels, p.accepted];
            table.push([vec![name.into()], numbers.map(Into::into).to_vec()].concat());
        }
    }
    table
}

impl Quantity {
    fn axis(self) -> Axis {
        match self {
            Self::BestUncertainty => Axis::new("least uncertainty H (nats)"),
            Self::MeanUncertainty => Axis::new("mean uncertainty H (nats)"),
            Self::AllUncertainty => Axis::new("uncertainty H (nats)"),
            Self::BestDistance => Axis::new("least distance d"),
            Self::MeanDistance => Axis::new("mean distance d"),
            Self::AllDistance => Axis::new("distance d"),
            Self::Latent => Axis::new("mean latent distance ρ"),
            Self::Shell => Axis::new("share on the shell").percent(),
            Self::Labels => Axis::new("distinct labels"),
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::BestUncertainty => "Uncertainty of the best clue",
            Self::MeanUncertainty => "Mean uncertainty",
            Self::AllUncertainty => "Least, mean and greatest uncertainty",
            Self::BestDistance => "Distance of the nearest clue",
            Self::MeanDistance => "Mean distance",
            Self::AllDistance => "Least, mean and greatest distance",
            Self::Latent => "Mean latent distance",
            Self::Shell => "Clues on the shell of the ball",
            Self::Labels => "Distinct labels of an input's clues",
        }
    }

    /// One value, or three for a spread.
    fn of(self, point: &Point) -> Vec<f64> {
        match self {
            Self::BestUncertainty => vec![point.uncertainty[0]],
            Self::MeanUncertainty => vec![point.uncertainty[1]],
            Self::AllUncertainty => point.uncertainty.to_vec(),
            Self::BestDistance => vec![point.distance[0]],
            Self::MeanDistance => vec![point.distance[1]],
            Self::AllDistance => point.distance.to_vec(),
            Self::Latent => vec![point.latent[1]],
            Self::Shell => vec![point.shell],
            Self::Labels => vec![point.labels],
        }
    }

    /// The panel of this quantity, a line for each variant.
    pub(super) fn panel<'a>(self, variants: impl Iterator<Item = (&'a str, &'a [Point])>) -> Plot {
        let mut curves = Vec::new();
        let variants: Vec<_> = variants.collect();
        for &(name, points) in &variants {
            let x: Vec<f64> = points.iter().map(|point| point.delta).collect();
            let values: Vec<Vec<f64>> = points.iter().map(|point| self.of(point)).collect();
            let parts: &[&str] = if values[0].len() == 3 { &["least", "mean", "greatest"] } else { &[""] };
            for (place, &part) in parts.iter().enumerate() {
                let name = match part {
                    "" => name.into(),
                    part if variants.len() == 1 => part.into(),
                    part => format!("{name}, {part}"),
                };
                curves.push(Curve::new(name, &x, values.iter().map(|values| values[place])));
            }
        }
        let plot = panel(self.title(), Axis::new("δ"), self.axis(), curves);
        match self {
            Self::Latent => plot.with(Reference { course: Course::Diagonal, name: Some("ρ = δ".into()) }),
            _ => plot,
        }
    }
}

impl DeltaSweep {
    /// What is wrong with its settings: an expectation about pairs of variants needs such a pair.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let is_there = |differ: &dyn Fn(&Variant, &Variant) -> bool| {
            self.variants.iter().any(|a| self.variants.iter().any(|b| differ(a, b)))
        };
        let losses = is_there(&|a, b| a.lambda_x > 0.0 && b.lambda_x <= 0.0 && a.init == b.init);
        let starts = is_there(&|a, b| {
            let same = a.lambda_x.total_cmp(&b.lambda_x).is_eq();
            same && a.init == InitScheme::RandomRadius && b.init != InitScheme::RandomRadius
        });
        for expectation in &self.expect {
            let missing = match expectation {
                Expectation::DistanceWeightHelpsTheBest
                | Expectation::DistanceWeightHelps
                | Expectation::GapIsLargerOnAverage
                | Expectation::LossesFindAsMany
                | Expectation::DistanceWeightStaysInside
                    if !losses =>
                {
                    "`lambda_x`, 0 in one of them"
                }
                Expectation::RandomBeatsPaths | Expectation::RandomFindsMoreLabels if !starts => {
                    "`init`, `random-radius` in one of them"
                }
                _ => continue,
            };
            return Err(format!("`expect` compares variants, and no two of them differ in nothing but {missing}"));
        }
        Ok(())
    }

    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let mut sweeps = Vec::new();
        for variant in &self.variants {
            sweeps.push((variant, self.points(lab, &stage, variant)?));
        }
        let before =
            mean(stage.top(self.inputs).iter().map(|&row| f64::from(stage.predictions[row].uncertainty.total)));
        let lines = || sweeps.iter().map(|(variant, points)| (variant.name.as_str(), points.as_slice()));
        let panels = self.show.iter().map(|quantity| quantity.panel(lines())).collect();
        let title = format!("δ-CLUE of the {} most uncertain inputs, {} clues each", self.inputs, self.count);
        let expected = self.expect.iter().flat_map(|expectation| expectation.checks(&sweeps, before));
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(expected)
            .table(table(lines()))
            .picture("figure", Grid::new(title, 2, panels).to_svg()))
    }

    fn points(&self, lab: &mut Laboratory, stage: &Stage, variant: &Variant) -> Result<Vec<Point>> {
        let point = |&delta: &f32| {
            let mut search = delta_clue(delta, self.count, variant.lambda_x, self.steps)?;
            search.starts = Starts { schemes: vec![variant.init], ..Starts::default() };
            let found = lab.explain(stage, &search, stage.top(self.inputs), Seed(self.seed))?;
            Ok(Point::of(delta, &found))
        };
        self.deltas.iter().map(point).collect()
    }
}
