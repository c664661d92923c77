//! What the latent dimension m of the VAE does to δ-CLUE. [Ley2022, App. B, "Effect of VAE latent dimension"]

use super::delta_sweep::{Point, Quantity, table};
use super::settings::settings;
use crate::curves::{Curve, panel};
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::{falls, figure, mean, over_inputs, rises};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::error::Result;
use cluekit::measure::generative_health;
use cluekit::seed::Seed;
use cluekit_plot::{Axis, Grid};
use serde::{Deserialize, Serialize};

/// Test rows that the reconstruction error is measured on.
const ROWS: usize = 1000;

settings! {
    /// Models by rising m, and the radii.
    pub struct LatentDimension: Sets of Vec<String> {
        /// The radii.
        pub deltas: Vec<f32>,
        /// The panels.
        pub show: Vec<Quantity>,
        /// What should be so of each quantity as m grows.
        pub expect: Vec<Expectation>,
        /// Seed of the starts.
        #[serde(default)]
        pub seed: u64,
    }
}

/// What should be so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    /// Reconstructions get better.
    ReconstructionImproves,
    /// Clues stay more uncertain.
    UncertaintyRises,
    /// Clues stay nearer.
    DistanceFalls,
    /// More clues lie on the shell.
    ShellRises,
    /// Fewer labels are found.
    LabelsFall,
}

struct Series {
    name: String,
    latent: f64,
    reconstruction: f64,
    at_the_input: f64,
    points: Vec<Point>,
}

impl LatentDimension {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let mut series = Vec::new();
        for name in &self.models {
            series.push(self.series(lab, name)?);
        }
        let lines = || series.iter().map(|one| (one.name.as_str(), one.points.as_slice()));
        let mut panels: Vec<_> = self.show.iter().map(|quantity| quantity.panel(lines())).collect();
        let m: Vec<f64> = series.iter().map(|one| one.latent).collect();
        let error = Curve::new("", &m, series.iter().map(|one| one.reconstruction));
        panels.push(panel(
            "Reconstruction error of test inputs",
            Axis::new("m").log(),
            Axis::new("ℓ₁ distance"),
            vec![error],
        ));
        let mut sizes = Table::new("models", &["models", "m", "reconstruction l1", "H of reconstructions"]);
        for one in &series {
            sizes.push(vec![
                one.name.as_str().into(),
                one.latent.into(),
                one.reconstruction.into(),
                one.at_the_input.into(),
            ]);
        }
        let checks: Vec<Check> = self.expect.iter().map(|expectation| expectation.check(&series, &m)).collect();
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(checks)
            .table(table(lines()))
            .table(sizes)
            .picture("figure", Grid::new("Effect of the VAE's latent dimension m", 2, panels).to_svg()))
    }

    fn series(&self, lab: &mut Laboratory, name: &str) -> Result<Series> {
        let stage = lab.stage(name)?;
        let mut points = Vec::new();
        let mut at_the_input = f64::NAN;
        for &delta in &self.deltas {
            let search = delta_clue(delta, self.count, 0.0, self.steps)?;
            let found = lab.explain(&stage, &search, stage.top(self.inputs), Seed(self.seed))?;
            at_the_input = over_inputs(&found, |e| f64::from(e.reconstruction.uncertainty.total));
            points.push(Point::of(delta, &found));
        }
        let rows: Vec<usize> = (0..stage.test().len().min(ROWS)).collect();
        let health = generative_health(stage.explainer.generative()?, &stage.test().select(&rows), Seed(0))?;
        let latent = stage.explainer.generative()?.latent_dim();
        let name = format!("m = {latent}");
        Ok(Series { name, latent: latent as f64, reconstruction: health.reconstruction_l1, at_the_input, points })
    }
}

impl Expectation {
    fn check(self, series: &[Series], m: &[f64]) -> Check {
        let over_delta = |of: &dyn Fn(&Point) -> f64| -> Vec<f64> {
            series.iter().map(|one| mean(one.points.iter().map(of))).collect()
        };
        match self {
            Self::ReconstructionImproves => {
                let errors: Vec<f64> = series.iter().map(|one| one.reconstruction).collect();
                let check = falls("the reconstruction error falls as m grows", m, &errors);
                let list: Vec<String> = errors.iter().map(|&error| figure(error)).collect();
                Check { figures: format!("{}; {}", list.join(", "), check.figures), ..check }
            }
            Self::UncertaintyRises => rises("H of the best clues rises with m", m, &over_delta(&|p| p.uncertainty[0])),
            Self::DistanceFalls => falls("d of the best clues falls as m grows", m, &over_delta(&|p| p.distance[0])),
            Self::ShellRises => {
                let shares = over_delta(&|p| p.shell);
                match shares.iter().all(|&share| share > 0.99) {
                    true => Check::new(
                        "more clues lie on the shell as m grows",
                        Verdict::HeldPartly,
                        "all of them for every m",
                    ),
                    false => rises("more clues lie on the shell as m grows", m, &shares),
                }
            }
            Self::LabelsFall => falls("fewer labels are found as m grows", m, &over_delta(&|p| p.labels)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    /// Models of 2, 8 and 32 latent dimensions; each number is the error, H, d, the share on the shell, and the labels.
    fn judged(expectation: Expectation, numbers: [f64; 3]) -> Verdict {
        let m = [2.0, 8.0, 32.0];
        let series = |(latent, number): (f64, f64)| {
            let point = Point {
                delta: 1.0,
                uncertainty: [number, 0.0, 0.0],
                distance: [number, 0.0, 0.0],
                latent: [1.0; 3],
                shell: number,
                labels: number,
                accepted: 1.0,
            };
            let name = format!("m = {latent}");
            Series { name, latent, reconstruction: number, at_the_input: 1.0, points: vec![point.clone(), point] }
        };
        expectation.check(&m.into_iter().zip(numbers).map(series).collect::<Vec<_>>(), &m).verdict
    }

    #[test]
    fn each_quantity_follows_the_latent_dimension() {
        let (up, down) = ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1]);
        for expectation in [Expectation::UncertaintyRises, Expectation::ShellRises] {
            assert_eq!(judged(expectation, up), Held, "{expectation:?}");
            assert_eq!(judged(expectation, down), DidNotHold, "{expectation:?}");
        }
        for expectation in [Expectation::ReconstructionImproves, Expectation::DistanceFalls, Expectation::LabelsFall] {
            assert_eq!(judged(expectation, down), Held, "{expectation:?}");
            assert_eq!(judged(expectation, up), DidNotHold, "{expectation:?}");
        }
    }

    #[test]
    fn where_all_clues_lie_on_the_shell_no_more_can() {
        assert_eq!(judged(Expectation::ShellRises, [1.0, 0.995, 1.0]), HeldPartly);
    }
}
