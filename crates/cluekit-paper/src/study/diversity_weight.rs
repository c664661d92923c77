//! What the weight λ_D of the diversity does, alone and with starts that are spread first. [Ley2022, Fig. on ∇-CLUE, App. D]

use super::metrics::{MEASURES, means, of_all, of_first};
use super::settings::settings;
use crate::curves::{Curve, panel};
use crate::laboratory::{Laboratory, Stage, delta_clue};
use crate::statistics::{all_follow, falls, figure, mean, percent, rank_correlation, rises, spread_over_inputs};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::error::Result;
use cluekit::explanation::Explanation;
use cluekit::search::{DiversityTerm, Order, Weighted};
use cluekit::seed::Seed;
use cluekit_plot::{Axis, Grid, Plot};
use serde::{Deserialize, Serialize};

/// Beyond so many clues a determinant is next to nothing and its logarithm is shown.
const MOST_FOR_DETERMINANTS: usize = 20;

/// So many times the clues are looked through for what fewer, held apart, have.
const MORE: usize = 5;
/// Measures that cannot shrink with the number of clues, so that numbers of clues can be compared by them.
const GROWING: [&str; 4] = ["coverage in x", "coverage in z", "prediction coverage", "distinct labels"];

settings! {
    /// Weights, steps of spreading, and the order of the search.
    pub struct DiversityWeight: Clues {
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
    }
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
    /// To be as diverse, δ-CLUE needs more clues.
    FewerCluesAreEnough,
    /// d falls where ρ does.
    DistancesGoTogether,
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
        let spread = [Expectation::SpreadingHelps, Expectation::SpreadingCosts];
        match self.weights[..] {
            [0.0, _, ..] if self.spreads.len() > 1 || !spread.iter().any(|one| self.expect.contains(one)) => Ok(()),
            [0.0, _, ..] => Err("`expect` compares starts that are spread, and `spreads` has one value alone".into()),
            _ => Err("`weights` must begin with 0 and go on, since the others are compared with it".into()),
        }
    }

    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
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
        let more = match self.expect.contains(&Expectation::FewerCluesAreEnough) {
            true => self.more_clues(lab, &stage)?,
            false => vec![],
        };
        let measured = Measured { rows, before, more };
        let checks: Vec<Check> = self.expect.iter().map(|expectation| expectation.check(self, &measured)).collect();
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(checks)
            .table(table)
            .picture("figure", self.picture(&measured.rows)))
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

    /// The metrics of more and more clues of δ-CLUE.
    fn more_clues(&self, lab: &mut Laboratory, stage: &Stage) -> Result<Vec<(usize, Vec<f64>)>> {
        let search = delta_clue(self.delta, MORE * self.count, 0.0, self.steps)?;
        let found = lab.explain(stage, &search, stage.top(self.inputs), Seed(self.seed))?;
        let of_first = |count: usize| means(&found.iter().map(|e| of_first(e, count)).collect::<Vec<_>>());
        Ok((2..=MORE * self.count).map(|count| (count, of_first(count))).collect())
    }

    /// How many clues δ-CLUE needs for what k of ∇-CLUE have at the largest λ_D.
    fn fewer_clues(&self, held_apart: &Point, sets: &[(usize, Vec<f64>)]) -> Check {
        let needed = GROWING.map(|name| {
            let place = MEASURES.iter().position(|measure| measure.name == name).expect("a known measure");
            let enough = sets.iter().find(|(_, metrics)| metrics[place] >= held_apart.metrics[place]);
            (name, enough.map(|(count, _)| *count))
        });
        let more = needed.iter().filter(|(_, count)| count.is_none_or(|count| count > self.count)).count();
        let text = |(name, count): &(&str, Option<usize>)| match count {
            Some(count) => format!("{name} {count}"),
            None => format!("{name} over {}", MORE * self.count),
        };
        Check::new(
            format!("to be as diverse, δ-CLUE needs more than {} clues", self.count),
            Verdict::of_share(more, needed.len()),
            format!("it needs, by {}", needed.iter().map(text).collect::<Vec<_>>().join(", ")),
        )
    }

    /// The measures other than what is optimised, as far as something is.
    fn others(&self) -> Vec<usize> {
        let optimised = |place: &usize| self.order != Order::Penalty && MEASURES[*place].name.ends_with("DPP in z");
        self.shown().into_iter().filter(|place| !optimised(place)).collect()
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

/// All that was measured.
struct Measured {
    /// For each n_i, a point for each λ_D.
    rows: Vec<(usize, Vec<Point>)>,
    /// The mean uncertainty of the inputs.
    before: f64,
    /// The metrics of more and more clues of δ-CLUE, where they are asked for.
    more: Vec<(usize, Vec<f64>)>,
}

impl Expectation {
    fn check(self, study: &DiversityWeight, Measured { rows, before, more }: &Measured) -> Check {
        let before = *before;
        let weights: Vec<f64> = study.weights.iter().map(|&weight| f64::from(weight)).collect();
        let shown = study.others();
        let first = &rows[0].1;
        let (zero, last) = (&first[0], &first[first.len() - 1]);
        // How the metrics follow λ_D in a direction.
        let follow = |says: &str, direction: f64, exceptions: usize| {
            let correlation = |&place: &usize| {
                let values: Vec<f64> = first.iter().map(|point| point.metrics[place]).collect();
                direction * rank_correlation(&weights, &values)
            };
            let text = |&place: &usize| {
                format!("{} {} → {}", MEASURES[place].name, figure(zero.metrics[place]), figure(last.metrics[place]))
            };
            let (verdict, figures) = all_follow(&shown.iter().map(correlation).collect::<Vec<_>>(), exceptions);
            Check::new(says, verdict, format!("{figures}: {}", shown.iter().map(text).collect::<Vec<_>>().join(", ")))
        };
        match self {
            Self::EveryMetricGrows => follow("diversity grows with λ_D by almost every other metric", 1.0, 1),
            Self::EveryMetricShrinks => follow("with the penalty, diversity shrinks as λ_D grows", -1.0, 0),
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
                rises("mean H grows as starts are spread", &spreads, &values)
            }
            Self::NothingIsGained => {
                let worse = first[1..].iter().filter(|p| p.uncertainty >= zero.uncertainty).count();
                let lost = |&&place: &&usize| first[1..].iter().all(|p| p.metrics[place] <= zero.metrics[place]);
                let lost = shown.iter().filter(lost).count();
                let says = "δ-CLUE, λ_D = 0, gives the most certain and the most diverse clues";
                Check::new(
                    says,
                    Verdict::of([Verdict::of_share(worse, first.len() - 1), Verdict::of_share(lost, shown.len())]),
                    format!(
                        "mean H {} → {}; the most diverse by {lost} of {} metrics",
                        figure(zero.uncertainty),
                        figure(last.uncertainty),
                        shown.len()
                    ),
                )
            }
            Self::FewerCluesAreEnough => study.fewer_clues(last, more),
            Self::DistancesGoTogether => {
                let [d, rho] =
                    [|p: &Point| p.distance, |p: &Point| p.latent].map(|of| first.iter().map(of).collect::<Vec<_>>());
                rises("d falls where ρ does", &rho, &d)
            }
            Self::MovesToTheCentre => {
                let rho: Vec<f64> = first.iter().map(|p| p.latent).collect();
                falls("clues are pushed towards the centre of the ball: ρ falls with λ_D", &weights, &rho)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    /// The same value by every metric, with H, d and ρ.
    fn point(metric: f64, [uncertainty, distance, latent]: [f64; 3]) -> Point {
        Point { metrics: vec![metric; MEASURES.len()], uncertainty, distance, latent }
    }

    fn judged(expectation: Expectation, rows: Vec<(usize, Vec<Point>)>, more: Vec<(usize, Vec<f64>)>) -> Verdict {
        let study = DiversityWeight {
            models: "moons".into(),
            inputs: 8,
            count: 10,
            steps: 30,
            delta: 1.0,
            weights: vec![0.0, 1.0, 2.0],
            spreads: rows.iter().map(|(spread, _)| *spread).collect(),
            order: Order::default(),
            expect: vec![expectation],
            seed: 0,
        };
        expectation.check(&study, &Measured { rows, before: 1.0, more }).verdict
    }

    /// Of metrics, and of H, d and ρ, at three weights.
    fn by_weight(expectation: Expectation, metrics: [f64; 3], rest: [[f64; 3]; 3]) -> Verdict {
        let points = metrics.into_iter().zip(rest).map(|(metric, rest)| point(metric, rest)).collect();
        judged(expectation, vec![(0, points)], vec![])
    }

    #[test]
    fn metrics_grow_or_shrink_with_the_weight() {
        let flat = [[0.1, 1.0, 1.0]; 3];
        assert_eq!(by_weight(Expectation::EveryMetricGrows, [0.1, 0.2, 0.3], flat), Held);
        assert_eq!(by_weight(Expectation::EveryMetricGrows, [0.1, 0.3, 0.2], flat), HeldPartly);
        assert_eq!(by_weight(Expectation::EveryMetricGrows, [0.3, 0.2, 0.1], flat), DidNotHold);
        assert_eq!(by_weight(Expectation::EveryMetricShrinks, [0.3, 0.2, 0.1], flat), Held);
        assert_eq!(by_weight(Expectation::EveryMetricShrinks, [0.1, 0.2, 0.3], flat), DidNotHold);
    }

    #[test]
    fn one_metric_may_be_an_exception_where_they_grow() {
        let with_exceptions = |exceptions: usize| {
            let points = [0.1, 0.2, 0.3].map(|metric| {
                let mut point = point(metric, [0.1, 1.0, 1.0]);
                point.metrics.iter_mut().rev().take(exceptions).for_each(|metric| *metric = -*metric);
                point
            });
            judged(Expectation::EveryMetricGrows, vec![(0, points.into())], vec![])
        };
        assert_eq!([1, 2].map(with_exceptions), [Held, HeldPartly]);
    }

    #[test]
    fn uncertainty_suffers_by_a_share_of_what_was_before() {
        let rise = |h: f64| {
            let rest = [[0.1, 1.0, 1.0], [0.1, 1.0, 1.0], [h, 1.0, 1.0]];
            by_weight(Expectation::UncertaintyHardlySuffers, [0.1; 3], rest)
        };
        assert_eq!([0.15, 0.3, 0.5].map(rise), [Held, HeldPartly, DidNotHold]);
    }

    #[test]
    fn spreading_makes_clues_diverse_and_uncertain() {
        let spread = |expectation, metrics: [f64; 3], h: [f64; 3]| {
            let rows = [0, 10, 20].into_iter().zip(metrics).zip(h);
            judged(expectation, rows.map(|((n, metric), h)| (n, vec![point(metric, [h, 1.0, 1.0])])).collect(), vec![])
        };
        assert_eq!(spread(Expectation::SpreadingHelps, [0.1, 0.1, 0.2], [0.1; 3]), Held);
        assert_eq!(spread(Expectation::SpreadingHelps, [0.1, 0.2, 0.1], [0.1; 3]), DidNotHold);
        assert_eq!(spread(Expectation::SpreadingCosts, [0.1; 3], [0.1, 0.2, 0.3]), Held);
        assert_eq!(spread(Expectation::SpreadingCosts, [0.1; 3], [0.3, 0.2, 0.1]), DidNotHold);
    }

    #[test]
    fn nothing_is_gained_if_no_weight_is_best() {
        let h = |h: [f64; 3]| h.map(|h| [h, 1.0, 1.0]);
        assert_eq!(by_weight(Expectation::NothingIsGained, [0.3, 0.2, 0.1], h([0.1, 0.2, 0.3])), Held);
        assert_eq!(by_weight(Expectation::NothingIsGained, [0.3, 0.2, 0.1], h([0.3, 0.2, 0.1])), HeldPartly);
        assert_eq!(by_weight(Expectation::NothingIsGained, [0.1, 0.2, 0.3], h([0.3, 0.2, 0.1])), DidNotHold);
    }

    #[test]
    fn more_clues_are_needed_to_be_as_diverse() {
        let needed = |enough: usize| {
            let held_apart = (0..3).map(|_| point(0.5, [0.1, 1.0, 1.0])).collect();
            let metrics = |count: usize| vec![if count >= enough { 0.5 } else { 0.4 }; MEASURES.len()];
            let more = (2..=50).map(|count| (count, metrics(count))).collect();
            judged(Expectation::FewerCluesAreEnough, vec![(0, held_apart)], more)
        };
        assert_eq!([11, 51, 10].map(needed), [Held, Held, DidNotHold]);
    }

    #[test]
    fn distances_fall_together_towards_the_centre() {
        let both = |expectation, d: [f64; 3], rho: [f64; 3]| {
            by_weight(expectation, [0.1; 3], [0, 1, 2].map(|place| [0.1, d[place], rho[place]]))
        };
        let (up, down) = ([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]);
        assert_eq!(both(Expectation::DistancesGoTogether, down, down), Held);
        assert_eq!(both(Expectation::DistancesGoTogether, up, down), DidNotHold);
        assert_eq!(both(Expectation::MovesToTheCentre, up, down), Held);
        assert_eq!(both(Expectation::MovesToTheCentre, up, up), DidNotHold);
    }
}
