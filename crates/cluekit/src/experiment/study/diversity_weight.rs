//! What the weight λ_D of the diversity does, alone and with starts that are spread first. [Ley2022, Fig. on ∇-CLUE, App. D]

use super::metrics::{MEASURES, of_all};
use super::{eight, thirty};
use crate::error::Result;
use crate::experiment::curves::{Curve, panel};
use crate::experiment::finding::{Check, Finding, Table, Verdict};
use crate::experiment::laboratory::{Laboratory, Stage, delta_clue};
use crate::experiment::statistics::{figure, mean, percent, rank_correlation, spread_over_inputs};
use crate::explanation::Explanation;
use crate::report::{Axis, Grid, Plot};
use crate::search::{DiversityTerm, Order, Weighted};
use crate::seed::Seed;
use serde::{Deserialize, Serialize};

/// Beyond so many clues a determinant is next to nothing and its logarithm is shown.
const MOST_FOR_DETERMINANTS: usize = 20;

/// A rank correlation with λ_D from which on a metric follows it.
const A_TREND: f64 = 0.9;

/// Weights, steps of spreading, and the order of the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiversityWeight {
    /// The models.
    pub models: String,
    /// How many of the most uncertain inputs.
    #[serde(default = "eight")]
    pub inputs: usize,
    /// Clues for each.
    pub count: usize,
    /// Steps of each search.
    #[serde(default = "thirty")]
    pub steps: usize,
    /// δ = r.
    pub delta: f32,
    /// λ_D, from 0 up.
    pub weights: Vec<f32>,
    /// n_i, one line each.
    #[serde(default = "unspread")]
    pub spreads: Vec<usize>,
    /// At once, one by one, or with a penalty.
    #[serde(default)]
    pub order: Order,
    /// What the claim comes down to.
    pub expect: Vec<Expectation>,
    /// Where starts come from.
    #[serde(default)]
    pub seed: u64,
}

fn unspread() -> Vec<usize> {
    vec![0]
}

/// What should be so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    /// By almost every metric diversity grows with λ_D.
    EveryMetricGrows,
    /// By every metric diversity shrinks with λ_D.
    EveryMetricShrinks,
    /// Uncertainty grows little, measured by what was there before.
    UncertaintyHardlySuffers,
    /// Diverse starts make diverse clues.
    SpreadingHelps,
    /// Uncertainty grows with the steps of spreading.
    SpreadingCosts,
    /// Both H and diversity are better at λ_D = 0.
    NothingIsGained,
    /// Clues move towards the centre of the ball.
    MovesToTheCentre,
}

/// One combination of n_i and λ_D.
struct Point {
    metrics: Vec<f64>,
    uncertainty: f64,
    distance: f64,
    latent: f64,
}

impl Point {
    fn of(found: &[Explanation]) -> Self {
        Self {
            metrics: of_all(found),
            uncertainty: spread_over_inputs(found, |clue| clue.uncertainty.total)[1],
            distance: spread_over_inputs(found, |clue| clue.distance.input)[1],
            latent: spread_over_inputs(found, |clue| clue.distance.latent)[1],
        }
    }
}

impl DiversityWeight {
    /// What is wrong with its settings.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        match self.weights[..] {
            [0.0, _, ..] => Ok(()),
            _ => Err("`weights` must begin with 0 and go on, since the others are compared with it".into()),
        }
    }

    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<Finding> {
        let stage = lab.stage(&self.models)?;
        let mut rows = Vec::new();
        for &spread in &self.spreads {
            let mut points = Vec::new();
            for &weight in &self.weights {
                points.push(self.point(lab, &stage, weight, spread)?);
            }
            rows.push((spread, points));
        }
        let before = spread_before(&stage, self.inputs);
        let mut headings = vec!["n_i", "lambda_D"];
        headings.extend(MEASURES.iter().map(|measure| measure.name));
        headings.extend(["H", "d", "rho"]);
        let mut table = Table::new("weights", &headings);
        for (spread, points) in &rows {
            for (&weight, p) in self.weights.iter().zip(points) {
                let tail = [p.uncertainty, p.distance, p.latent];
                let numbers = p.metrics.iter().copied().chain(tail).map(Into::into);
                table.push([vec![(*spread).into(), weight.into()], numbers.collect()].concat());
            }
        }
        let checks: Vec<Check> = self.expect.iter().map(|expectation| expectation.check(self, &rows, before)).collect();
        Ok(Finding { seeds: vec![self.seed], ..Finding::default() }
            .checks(checks)
            .table(table)
            .picture("figure", self.picture(&rows)))
    }

    fn point(&self, lab: &mut Laboratory, stage: &Stage, weight: f32, spread: usize) -> Result<Point> {
        let mut search = delta_clue(self.delta, self.count, 0.0, self.steps)?;
        search.starts.spread = spread;
        if weight > 0.0 {
            // The penalty is measured between codes, whatever the metric.
            search.objective.diversity = Some(Weighted(weight, DiversityTerm::default()));
            search.order = self.order;
        }
        Ok(Point::of(&lab.explain(stage, &search, stage.top(self.inputs), Seed(self.seed))?))
    }

    /// The measures that say something for so many clues.
    fn shown(&self) -> Vec<usize> {
        let many = self.count > MOST_FOR_DETERMINANTS;
        let tells = |name: &str| !name.starts_with(if many { "DPP" } else { "log DPP" });
        (0..MEASURES.len()).filter(|&place| tells(MEASURES[place].name)).collect()
    }

    fn picture(&self, rows: &[(usize, Vec<Point>)]) -> String {
        let names: Vec<String> = self.weights.iter().map(ToString::to_string).collect();
        let places: Vec<f64> = (0..names.len()).map(|place| place as f64).collect();
        let plot = |title: &str, of: &dyn Fn(&Point) -> f64| -> Plot {
            let curve = |(spread, points): &(usize, Vec<Point>)| {
                let name = if rows.len() > 1 { format!("n_i = {spread}") } else { String::new() };
                Curve::new(name, &places, points.iter().map(of))
            };
            let axis = Axis::new("λ_D").names(names.clone());
            panel(title, axis, Axis::new(""), rows.iter().map(curve).collect()).sized(330.0, 265.0)
        };
        let metric = |place: usize| plot(MEASURES[place].name, &|p: &Point| p.metrics[place]);
        let mut plots: Vec<Plot> = self.shown().into_iter().map(metric).collect();
        plots.push(plot("mean uncertainty H", &|p| p.uncertainty));
        plots.push(plot("mean distance d", &|p| p.distance));
        plots.push(plot("mean latent distance ρ", &|p| p.latent));
        let title = format!("Effect of λ_D on {} clues at δ = {}", self.count, self.delta);
        Grid::new(title, 3, plots).to_svg()
    }
}

fn spread_before(stage: &Stage, inputs: usize) -> f64 {
    mean(stage.top(inputs).iter().map(|&row| f64::from(stage.predictions[row].uncertainty.total)))
}

type Rows = [(usize, Vec<Point>)];

impl Expectation {
    fn check(self, study: &DiversityWeight, rows: &Rows, before: f64) -> Check {
        let weights: Vec<f64> = study.weights.iter().map(|&weight| f64::from(weight)).collect();
        let shown = study.shown();
        let first = &rows[0].1;
        let (zero, last) = (&first[0], &first[first.len() - 1]);
        // Which metrics follow λ_D in a direction, and how.
        let following = |direction: f64| -> (usize, String) {
            let correlation = |&place: &usize| {
                let values: Vec<f64> = first.iter().map(|point| point.metrics[place]).collect();
                direction * rank_correlation(&weights, &values)
            };
            let holds: Vec<usize> = shown.iter().copied().filter(|place| correlation(place) >= A_TREND).collect();
            let text = |&place: &usize| {
                format!("{} {} → {}", MEASURES[place].name, figure(zero.metrics[place]), figure(last.metrics[place]))
            };
            (holds.len(), shown.iter().map(text).collect::<Vec<_>>().join(", "))
        };
        match self {
            Self::EveryMetricGrows => {
                let (count, text) = following(1.0);
                let says = "diversity grows with λ_D by almost every metric";
                let almost = Verdict::of_share(count, shown.len());
                Check::new(
                    says,
                    if count + 1 >= shown.len() { Verdict::Held } else { almost },
                    format!("{count} of {}: {text}", shown.len()),
                )
            }
            Self::EveryMetricShrinks => {
                let (count, text) = following(-1.0);
                let says = "with the penalty, diversity shrinks as λ_D grows";
                Check::new(
                    says,
                    Verdict::of_share(count, shown.len()),
                    format!("by {count} of {} metrics: {text}", shown.len()),
                )
            }
            Self::UncertaintyHardlySuffers => {
                let rise = (last.uncertainty - zero.uncertainty) / before;
                let figures = format!(
                    "mean H {} → {}, of {} before: {} of it",
                    figure(zero.uncertainty),
                    figure(last.uncertainty),
                    figure(before),
                    percent(rise)
                );
                Check::new(
                    "uncertainty suffers only a little",
                    match rise {
                        rise if rise <= 0.1 => Verdict::Held,
                        rise if rise <= 0.25 => Verdict::HeldPartly,
                        _ => Verdict::DidNotHold,
                    },
                    figures,
                )
            }
            Self::SpreadingHelps => {
                let most = &rows[rows.len() - 1].1[0];
                let more = shown.iter().filter(|&&place| most.metrics[place] > zero.metrics[place]).count();
                let says = "without any λ_D, starts that are spread make clues more diverse";
                Check::new(
                    says,
                    Verdict::of_share(more, shown.len()),
                    format!("by {more} of {} metrics with n_i = {}", shown.len(), rows[rows.len() - 1].0),
                )
            }
            Self::SpreadingCosts => {
                let spreads: Vec<f64> = rows.iter().map(|(spread, _)| *spread as f64).collect();
                let values: Vec<f64> = rows.iter().map(|(_, points)| points[0].uncertainty).collect();
                let rise = values[values.len() - 1] - values[0];
                let says = "spreading starts costs some uncertainty";
                Check::that(
                    says,
                    rank_correlation(&spreads, &values) > 0.0 && rise > 0.0,
                    format!("mean H {} → {}", figure(values[0]), figure(values[values.len() - 1])),
                )
            }
            Self::NothingIsGained => {
                let worse = first[1..].iter().filter(|p| p.uncertainty >= zero.uncertainty).count();
                let says = "δ-CLUE, λ_D = 0, gives the most certain clues";
                Check::new(
                    says,
                    Verdict::of_share(worse, first.len() - 1),
                    format!("mean H {} → {}", figure(zero.uncertainty), figure(last.uncertainty)),
                )
            }
            Self::MovesToTheCentre => Check::that(
                "clues are pushed towards the centre of the ball",
                last.latent < zero.latent,
                format!("mean ρ {} → {}", figure(zero.latent), figure(last.latent)),
            ),
        }
    }
}
