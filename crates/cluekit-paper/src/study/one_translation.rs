//! Where one translation fails: uncertain points on several sides of the certain ones. Clusters cure it. [Ley2022, App. E]
//!
//! The plane itself is the latent space here: two coordinates, a certain middle, uncertain points around it. Groups,
//! losses, clusters and certificates are those of every other experiment.

use crate::laboratory::Laboratory;
use crate::statistics::{figure, mean, percent};
use crate::study_result::{Check, StudyResult, Table};
use cluekit::amortise::{
    Ask, Encoded, Fit, LearnFrom, Limit, MapperKind, MapperPlan, Pair, Thresholds, cheapest_first,
};
use cluekit::data::{Samples, Targets};
use cluekit::error::Result;
use cluekit::model::{Generative, Predictive, Predictor};
use cluekit::search::{Background, Convergence, Inputs, Models, Search, Weighted};
use cluekit::seed::{Rng, Seed};
use cluekit::tensor::{Tensor, log_softmax};
use cluekit::uncertainty::Uncertainty;
use cluekit_plot::{Axis, Colour, Grid, Line, Plot, Scatter, palette};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// Where the certain points lie, and how far around them the model is sure.
const CERTAIN_RADIUS: f32 = 1.0;
/// How far away the uncertain groups are.
const AWAY: f32 = 3.0;
/// How wide each group is.
const WIDTH: f64 = 0.35;

/// How many points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneTranslation {
    /// Groups of uncertain points around the certain ones.
    pub groups: usize,
    /// Points of each group to learn from, and as many to test on.
    pub points: usize,
    /// Seed of the points.
    #[serde(default)]
    pub seed: u64,
}

/// The plane is its own latent space.
struct Plane;

impl Generative for Plane {
    fn latent_dim(&self) -> usize {
        2
    }

    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(x.clone())
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(z.clone())
    }
}

/// Sure near the middle, and less and less farther out: a logit that falls with the squared distance.
struct Middle;

impl Predictor for Middle {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        let squared = x.clone().powf_scalar(2.0).sum_dim(1);
        let logit = (squared / (CERTAIN_RADIUS * CERTAIN_RADIUS) - 1.0) * -1.0 + 4.0;
        let logit = logit.clamp(0.0, 6.0);
        let logits = Tensor::cat(vec![logit.clone() * 0.5, logit * -0.5], 1);
        Ok(Predictive::Classes { log_probabilities: log_softmax(logits, 1).unsqueeze() })
    }
}

impl OneTranslation {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let models = Models::new(&Plane, &Middle);
        let mut rng = Seed(self.seed).stream("one translation");
        let [train, validation, test] = [(); 3].map(|()| self.rows(&models, &mut rng));
        let (train, validation, test) = (train?, validation?, test?);
        let mut search = Search { convergence: Convergence::all_steps(0), threshold: 0.2, ..Search::clue() };
        search.objective.input = Weighted(0.0, search.objective.input.1);
        let background = Background::default();
        let thresholds = Thresholds {
            uncertain_above: Limit::Value(0.4),
            certain_below: Limit::Value(0.2),
            kind: Uncertainty::Total,
        };
        let mut fit = Fit::new(&models, &search, &background, [&train, &validation], thresholds, Seed(self.seed));
        let uncertain: Vec<usize> =
            (0..test.len()).filter(|&row| test.predictions[row].uncertainty.total > 0.4).collect();
        let uncertain = test.select(&uncertain);
        let inputs = Inputs::new(uncertain.x.clone(), 2)?;
        let prepared = search.prepare(&models, &background, &inputs)?;
        let mut table = Table::new("translations", &["mapper", "H before", "H after", "certain"]);
        let mut panels = Vec::new();
        let mut outcomes = Vec::new();
        for (method, title) in [(MapperKind::Glam, "One translation"), (MapperKind::Clusters, "One for each cluster")] {
            let mut plan = MapperPlan::new(method, LearnFrom::Data);
            plan.most_clusters = self.groups + 2;
            let fitted = fit.mappers(&plan, &[Pair::default()], lab.observer())?;
            let proposals = fitted.propose(&models, &uncertain, &Ask::OwnClass, prepared.price(), method.name())?;
            let mut sets = prepared.certify(&proposals)?;
            cheapest_first(&mut sets);
            let clues: Vec<_> = sets.iter().filter_map(|set| set.first()).collect();
            let share = clues.iter().filter(|clue| clue.accepted).count() as f64 / clues.len().max(1) as f64;
            let total = |values: Vec<f32>| mean(values.into_iter().map(f64::from));
            let before = total(uncertain.predictions.iter().map(|p| p.uncertainty.total).collect());
            let after = total(clues.iter().map(|clue| clue.uncertainty.total).collect());
            table.push(vec![title.into(), before.into(), after.into(), share.into()]);
            outcomes.push(Outcome { certain: share, before, after });
            panels.push(panel(title, &test, &uncertain, &clues.iter().map(|clue| clue.z.clone()).collect::<Vec<_>>()));
        }
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(checks(&outcomes[0], &outcomes[1]))
            .table(table)
            .picture("figure", Grid::new("Uncertain points around certain ones", 2, panels).to_svg()))
    }

    /// Certain points in the middle and groups of uncertain ones around them.
    fn rows(&self, models: &Models, rng: &mut Rng) -> Result<Encoded> {
        let mut x = Vec::new();
        let mut near = |centre: [f32; 2]| centre.map(|c| c + (WIDTH * normal(rng)) as f32);
        for group in 0..self.groups {
            let angle = std::f32::consts::TAU * group as f32 / self.groups as f32;
            for _ in 0..self.points {
                x.extend(near([AWAY * angle.cos(), AWAY * angle.sin()]));
            }
        }
        for _ in 0..self.groups * self.points {
            x.extend(near([0.0, 0.0]));
        }
        let count = x.len() / 2;
        Encoded::of(models, Samples { x, width: 2, y: Targets::Classes(vec![0; count]), weights: None })
    }
}

/// The share of the points that become certain, and their mean uncertainty.
struct Outcome {
    certain: f64,
    before: f64,
    after: f64,
}

/// Of one translation, and of one for each cluster.
fn checks(one: &Outcome, many: &Outcome) -> Vec<Check> {
    let figures = |words: &str, outcome: &Outcome| {
        let [before, after] = [outcome.before, outcome.after].map(figure);
        format!("{} {words}, H {before} → {after}", percent(outcome.certain))
    };
    vec![
        Check::that(
            "one translation cannot lead groups on several sides to the middle",
            one.certain < 0.6,
            figures("of the points become certain", one),
        ),
        Check::that("a translation for each cluster can", many.certain > 0.9, figures("become certain", many)),
    ]
}

/// A draw from N(0, 1).
fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn panel(title: &str, all: &Encoded, uncertain: &Encoded, ends: &[Vec<f32>]) -> Plot {
    let point = |z: &[f32]| (f64::from(z[0]), f64::from(z[1]));
    let certain =
        (0..all.len()).filter(|&row| all.predictions[row].uncertainty.total < 0.2).map(|row| point(all.z(row)));
    let scatter = |points: Vec<(f64, f64)>, colour: Colour, name: &str| Scatter {
        points,
        colour: Some(colour),
        radius: 2.6,
        opacity: 0.8,
        name: Some(name.into()),
        ..Scatter::default()
    };
    let mut plot =
        Plot::new(title, Axis::new("z₁").between(-4.5, 4.5), Axis::new("z₂").between(-4.5, 4.5)).sized(420.0, 440.0);
    for (row, end) in ends.iter().enumerate().step_by(4) {
        let points = vec![point(uncertain.z(row)), point(end)];
        plot = plot.with(Line { points, colour: Some(Colour::new(150, 150, 150)), ..Line::default() });
    }
    plot.with(scatter(certain.collect(), Colour::BLUE, "certain"))
        .with(scatter(
            (0..uncertain.len()).map(|row| point(uncertain.z(row))).collect(),
            Colour::VERMILION,
            "uncertain",
        ))
        .with(scatter(ends.iter().map(|z| point(z)).collect(), palette(2), "after the mapping"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_result::Verdict::{DidNotHold, Held};

    #[test]
    fn one_translation_fails_where_one_for_each_cluster_does_not() {
        let outcome = |certain| Outcome { certain, before: 0.6, after: 0.1 };
        let judged = |one, many| Check::verdicts(checks(&outcome(one), &outcome(many)));
        assert_eq!(judged(0.4, 0.95), [Held, Held]);
        assert_eq!(judged(0.7, 0.8), [DidNotHold, DidNotHold]);
        let figures = checks(&outcome(0.4), &outcome(0.95)).into_iter().map(|check| check.figures).collect::<Vec<_>>();
        assert_eq!(figures[0], "40 % of the points become certain, H 0.600 → 0.100");
        assert_eq!(figures[1], "95 % become certain, H 0.600 → 0.100");
    }
}
