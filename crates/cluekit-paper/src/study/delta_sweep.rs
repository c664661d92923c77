//! What the radius δ does to the clues of uncertain inputs, for several variants of δ-CLUE. [Ley2022, App. B]

use super::settings::settings;
use crate::curves::{Curve, panel};
use crate::laboratory::{Laboratory, Stage, delta_clue};
use crate::statistics::{distinct_labels, falls, figure, mean, over_inputs, percent, rises, spread_over_inputs};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::error::Result;
use cluekit::explanation::Explanation;
use cluekit::search::{InitScheme, Starts};
use cluekit::seed::Seed;
use cluekit_plot::{Axis, Course, Grid, Plot, Reference};
use serde::{Deserialize, Serialize};

/// A clue this near to the surface of the ball lies on it.
const ON_SHELL: f32 = 0.999;

/// Of the inputs' uncertainty, what counts as a little.
const A_LITTLE: f64 = 0.1;
/// Clues are much nearer if their distance is at most this share of what it was.
const MUCH_NEARER: f64 = 0.8;
/// Two numbers of labels are similar if the lower is at least this share of the higher.
const SIMILAR: f64 = 0.9;
/// Mostly one label.
const MOSTLY_ONE: f64 = 1.5;
/// ρ is close to δ from this share of it on.
const CLOSE: f64 = 0.9;

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

/// What should be so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    /// The most certain clues get more certain with δ.
    BestUncertaintyFalls,
    /// All clues do, on average.
    MeanUncertaintyFalls,
    /// The nearest clues get farther away.
    BestDistanceRises,
    /// All clues do, on average.
    MeanDistanceRises,
    /// A weight on distance brings the nearest clues nearer, and the best ones stay certain.
    DistanceWeightHelpsTheBest,
    /// A weight on distance brings clues nearer for little uncertainty, on average.
    DistanceWeightHelps,
    /// The two losses differ more in the mean distance than in that of the nearest clue.
    GapIsLargerOnAverage,
    /// Random starts give more certain clues than paths to neighbours.
    RandomBeatsPaths,
    /// The worst clues are as bad as none.
    WorstAreBad,
    /// More labels are found.
    LabelsRise,
    /// At the smallest δ there is mostly one label.
    OneLabelAtFirst,
    /// Random starts find the most labels.
    RandomFindsMoreLabels,
    /// With and without a weight on distance about as many labels are found.
    LossesFindAsMany,
    /// At small δ almost all clues lie on the surface, at large δ fewer.
    ShellFalls,
    /// At every δ more clues lie on the surface than inside, and ρ is close to δ.
    MoreOnTheShell,
    /// A weight on distance keeps clues nearer to z₀.
    DistanceWeightStaysInside,
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

/// A variant with what its radii gave.
type Sweep<'a> = (&'a Variant, Vec<Point>);

/// Two variants that differ in one thing only.
struct Pair<'a> {
    names: [&'a str; 2],
    points: [&'a [Point]; 2],
}

impl Pair<'_> {
    /// The mean over radii of each of both.
    fn means(&self, of: impl Fn(&Point) -> f64) -> [f64; 2] {
        self.points.map(|points| mean(points.iter().map(&of)))
    }
}

/// The pairs of a variant that is the first and one that is not, of those that are the same otherwise.
fn pairs<'a>(
    sweeps: &'a [Sweep],
    first: impl Fn(&Variant) -> bool,
    same: impl Fn(&Variant, &Variant) -> bool,
) -> Vec<Pair<'a>> {
    let mut pairs = Vec::new();
    for (a, ours) in sweeps.iter().filter(|(a, _)| first(a)) {
        for (b, others) in sweeps.iter().filter(|(b, _)| !first(b) && same(a, b)) {
            pairs.push(Pair { names: [&a.name, &b.name], points: [ours, others] });
        }
    }
    pairs
}

impl Expectation {
    fn checks(self, sweeps: &[Sweep], before: f64) -> Vec<Check> {
        let each = |check: &dyn Fn(&str, &[Point]) -> Check| -> Vec<Check> {
            sweeps.iter().map(|(variant, points)| check(&variant.name, points)).collect()
        };
        let trend = |says: &str, up: bool, of: &dyn Fn(&Point) -> f64| {
            each(&|name, points| {
                let x: Vec<f64> = points.iter().map(|p| p.delta).collect();
                let y: Vec<f64> = points.iter().map(of).collect();
                let says = format!("{says} ({name})");
                if up { rises(says, &x, &y) } else { falls(says, &x, &y) }
            })
        };
        // With a weight on distance and without; from random starts and from others.
        let by_distance = |check: &dyn Fn(&Pair) -> Check| -> Vec<Check> {
            pairs(sweeps, |v| v.lambda_x > 0.0, |a, b| a.init == b.init).iter().map(check).collect()
        };
        let by_start = |check: &dyn Fn(&Pair) -> Check| -> Vec<Check> {
            let same = |a: &Variant, b: &Variant| a.lambda_x.total_cmp(&b.lambda_x).is_eq();
            pairs(sweeps, |v| v.init == InitScheme::RandomRadius, same).iter().map(check).collect()
        };
        let weight_helps = |place: usize| {
            by_distance(&|pair| {
                let [d, d0] = pair.means(|p| p.distance[place]);
                let [h, h0] = pair.means(|p| p.uncertainty[place]);
                let (nearer, cheap) = (d / d0, h - h0 <= A_LITTLE * before);
                let (which, name) = (["the best", "clues"][place], pair.names[0]);
                let says = format!("weighing distance brings {which} much nearer for little uncertainty ({name})");
                let [nearer_, h, h0, before] = [nearer, h, h0, before].map(figure);
                let figures = format!("d × {nearer_}; H {h} instead of {h0}, of {before} before");
                Check::new(says, Verdict::of([nearer <= MUCH_NEARER, cheap].map(Verdict::from_bool)), figures)
            })
        };
        match self {
            Self::BestUncertaintyFalls => {
                trend("the best clue gets more certain with δ", false, &|p| p.uncertainty[0])
            }
            Self::MeanUncertaintyFalls => trend("clues get more certain with δ", false, &|p| p.uncertainty[1]),
            Self::BestDistanceRises => trend("the nearest clue gets farther away with δ", true, &|p| p.distance[0]),
            Self::MeanDistanceRises => trend("clues get farther away with δ", true, &|p| p.distance[1]),
            Self::LabelsRise => trend("more labels are found with δ", true, &|p| p.labels),
            Self::ShellFalls => {
                let mut checks = each(&|name, points| {
                    let share = points.first().map_or(0.0, |p| p.shell);
                    let says = format!("at the smallest δ almost all clues lie on the shell ({name})");
                    Check::that(says, share >= 0.9, percent(share))
                });
                checks.extend(trend("fewer clues lie on the shell as δ grows", false, &|p| p.shell));
                checks
            }
            Self::DistanceWeightHelps => weight_helps(1),
            Self::DistanceWeightHelpsTheBest => weight_helps(0),
            Self::GapIsLargerOnAverage => by_distance(&|pair| {
                let gap = |place: usize| {
                    let [with, without] = pair.means(|p| p.distance[place]);
                    without - with
                };
                let says = format!("the losses differ more on average than at best ({})", pair.names[0]);
                let figures = format!("in mean distance by {}, in the least by {}", figure(gap(1)), figure(gap(0)));
                Check::that(says, gap(1) > gap(0), figures)
            }),
            Self::DistanceWeightStaysInside => by_distance(&|pair| {
                let [r, r0] = pair.means(|p| p.latent[1]);
                let [on, on0] = pair.means(|p| p.shell);
                let says = format!("weighing distance leaves more clues inside, nearer to z₀ ({})", pair.names[0]);
                let figures = format!(
                    "on the shell {} instead of {}, mean ρ {} instead of {}",
                    percent(on),
                    percent(on0),
                    figure(r),
                    figure(r0)
                );
                Check::new(says, Verdict::of([on < on0, r < r0].map(Verdict::from_bool)), figures)
            }),
            Self::RandomBeatsPaths => by_start(&|pair| {
                let [h, h0] = pair.means(|p| p.uncertainty[0]);
                let [d, d0] = pair.means(|p| p.distance[0]);
                let verdict = Verdict::of([h < h0, d < d0].map(Verdict::from_bool));
                let [h, h0, d, d0] = [h, h0, d, d0].map(figure);
                let figures = format!("mean over δ: least H {h} against {h0}, least d {d} against {d0}");
                Check::new(format!("{} gives better clues than {}", pair.names[0], pair.names[1]), verdict, figures)
            }),
            Self::RandomFindsMoreLabels => by_start(&|pair| {
                let [n, n0] = pair.means(|p| p.labels);
                let says = format!("{} finds more labels than {}", pair.names[0], pair.names[1]);
                Check::that(says, n > n0, format!("mean over δ: {} against {}", figure(n), figure(n0)))
            }),
            Self::OneLabelAtFirst => each(&|name, points| {
                let labels = points.first().map_or(f64::NAN, |p| p.labels);
                let says = format!("at the smallest δ there is mostly one label ({name})");
                Check::that(says, labels < MOSTLY_ONE, format!("{} on average", figure(labels)))
            }),
            Self::LossesFindAsMany => by_distance(&|pair| {
                let [n, n0] = pair.means(|p| p.labels);
                let says = format!("{} and {} find about as many labels", pair.names[0], pair.names[1]);
                let figures = format!("mean over δ: {} and {}", figure(n), figure(n0));
                Check::that(says, n.min(n0) >= SIMILAR * n.max(n0), figures)
            }),
            Self::MoreOnTheShell => each(&|name, points| {
                let most = points.iter().filter(|p| p.shell > 0.5).count();
                let near = points.iter().filter(|p| p.latent[1] >= CLOSE * p.delta).count();
                let parts = [most, near].map(|count| Verdict::of_share(count, points.len()));
                let says = format!("more clues lie on the shell than inside, and ρ is close to δ ({name})");
                Check::new(says, Verdict::of(parts), format!("at {most} and at {near} of {} radii", points.len()))
            }),
            Self::WorstAreBad => each(&|name, points| {
                let last = points.last().expect("there is a radius");
                let bad = [last.uncertainty[2] > 0.5 * before, last.distance[2] > 1.2 * last.distance[1]];
                let says = format!("the worst of many clues are uncertain and far away ({name})");
                let [_, h, worst] = last.uncertainty;
                let figures = format!(
                    "at δ {}: greatest H {} (mean {}), of {} before; greatest d {} (mean {})",
                    figure(last.delta),
                    figure(worst),
                    figure(h),
                    figure(before),
                    figure(last.distance[2]),
                    figure(last.distance[1])
                );
                Check::new(says, Verdict::of(bad.map(Verdict::from_bool)), figures)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    fn point(delta: f64) -> Point {
        Point {
            delta,
            uncertainty: [0.1, 0.2, 0.3],
            distance: [1.0, 2.0, 3.0],
            latent: [delta; 3],
            shell: 1.0,
            labels: 1.0,
            accepted: 1.0,
        }
    }

    /// Three radii, each changed by its place.
    fn points(change: impl Fn(&mut Point, f64)) -> Vec<Point> {
        let changed = |place: f64| {
            let mut point = point(place + 1.0);
            change(&mut point, place);
            point
        };
        [0.0, 1.0, 2.0].map(changed).into()
    }

    fn variant(lambda_x: f32, init: InitScheme) -> Variant {
        Variant { name: format!("{lambda_x} {}", init.name()), lambda_x, init }
    }

    /// Of one variant, of inputs with an uncertainty of 1.
    fn alone(expectation: Expectation, change: impl Fn(&mut Point, f64)) -> Vec<Verdict> {
        let variant = variant(0.0, InitScheme::RandomRadius);
        Check::verdicts(expectation.checks(&[(&variant, points(change))], 1.0))
    }

    /// Of a variant with a weight on distance that is changed, and one without that is not.
    fn weighed(expectation: Expectation, change: impl Fn(&mut Point)) -> Vec<Verdict> {
        let [with, without] = [0.03, 0.0].map(|lambda_x| variant(lambda_x, InitScheme::RandomRadius));
        let sweeps = [(&without, points(|_, _| {})), (&with, points(|point, _| change(point)))];
        Check::verdicts(expectation.checks(&sweeps, 1.0))
    }

    /// Of random starts that are changed, and of paths that are not.
    fn started(expectation: Expectation, change: impl Fn(&mut Point)) -> Vec<Verdict> {
        let [random, path] = [InitScheme::RandomRadius, InitScheme::NearestPath].map(|init| variant(0.0, init));
        let sweeps = [(&random, points(|point, _| change(point))), (&path, points(|_, _| {}))];
        Check::verdicts(expectation.checks(&sweeps, 1.0))
    }

    #[test]
    fn trends_are_held_against_the_radius() {
        type Change = fn(&mut Point, f64);
        let all: [(Expectation, Change, f64); 5] = [
            (Expectation::BestUncertaintyFalls, |point, step| point.uncertainty[0] = step, -1.0),
            (Expectation::MeanUncertaintyFalls, |point, step| point.uncertainty[1] = step, -1.0),
            (Expectation::BestDistanceRises, |point, step| point.distance[0] = step, 1.0),
            (Expectation::MeanDistanceRises, |point, step| point.distance[1] = step, 1.0),
            (Expectation::LabelsRise, |point, step| point.labels = step, 1.0),
        ];
        for (expectation, change, direction) in all {
            let moved = |direction: f64| alone(expectation, |point, place| change(point, direction * place));
            assert_eq!(moved(direction), [Held], "{expectation:?}");
            assert_eq!(moved(-direction), [DidNotHold], "{expectation:?}");
            assert_eq!(moved(0.0), [DidNotHold], "{expectation:?}: what never changes has no trend");
        }
    }

    #[test]
    fn the_shell_is_full_at_first_and_empties() {
        let judged =
            |from: f64, step: f64| alone(Expectation::ShellFalls, |point, place| point.shell = from + step * place);
        assert_eq!(judged(0.95, -0.2), [Held, Held]);
        assert_eq!(judged(0.5, 0.2), [DidNotHold, DidNotHold]);
    }

    #[test]
    fn a_weight_on_distance_brings_clues_nearer_for_little_uncertainty() {
        for (expectation, place) in
            [(Expectation::DistanceWeightHelpsTheBest, 0), (Expectation::DistanceWeightHelps, 1)]
        {
            let judged = |nearer: f64, dearer: f64| {
                weighed(expectation, |point| {
                    point.distance[place] *= nearer;
                    point.uncertainty[place] += dearer;
                })
            };
            assert_eq!(judged(0.7, 0.05), [Held]);
            assert_eq!(judged(0.7, 0.2), [HeldPartly], "nearer, but uncertain");
            assert_eq!(judged(0.9, 0.2), [DidNotHold]);
        }
    }

    #[test]
    fn the_losses_differ_more_on_average_than_at_best() {
        let judged = |least: f64, mean: f64| {
            weighed(Expectation::GapIsLargerOnAverage, |point| point.distance = [1.0 - least, 2.0 - mean, 3.0])
        };
        assert_eq!(judged(0.1, 0.5), [Held]);
        assert_eq!(judged(0.5, 0.1), [DidNotHold]);
    }

    #[test]
    fn a_weight_on_distance_leaves_clues_inside() {
        let judged = |shell: f64, nearer: f64| {
            weighed(Expectation::DistanceWeightStaysInside, |point| {
                point.shell = shell;
                point.latent[1] *= nearer;
            })
        };
        assert_eq!(judged(0.4, 0.8), [Held]);
        assert_eq!(judged(0.4, 1.1), [HeldPartly]);
        assert_eq!(judged(1.0, 1.0), [DidNotHold]);
    }

    #[test]
    fn the_losses_find_about_as_many_labels() {
        let judged = |labels: f64| weighed(Expectation::LossesFindAsMany, |point| point.labels = labels);
        assert_eq!(judged(0.95), [Held]);
        assert_eq!(judged(1.3), [DidNotHold]);
        assert_eq!(judged(0.8), [DidNotHold]);
    }

    #[test]
    fn random_starts_are_better_than_paths() {
        let judged = |h: f64, d: f64| {
            started(Expectation::RandomBeatsPaths, |point| (point.uncertainty[0], point.distance[0]) = (h, d))
        };
        assert_eq!(judged(0.05, 0.9), [Held]);
        assert_eq!(judged(0.05, 1.1), [HeldPartly]);
        assert_eq!(judged(0.1, 1.0), [DidNotHold], "as good is not better");
        let labels = |labels: f64| started(Expectation::RandomFindsMoreLabels, |point| point.labels = labels);
        assert_eq!((labels(1.5), labels(1.0)), (vec![Held], vec![DidNotHold]));
    }

    #[test]
    fn at_the_smallest_radius_there_is_mostly_one_label() {
        let judged = |first: f64| alone(Expectation::OneLabelAtFirst, |point, place| point.labels = first + place);
        assert_eq!(judged(1.4), [Held]);
        assert_eq!(judged(1.5), [DidNotHold]);
    }

    #[test]
    fn most_clues_lie_on_the_shell_or_near_it() {
        let judged = |shell: f64, near: f64| {
            alone(Expectation::MoreOnTheShell, |point, _| {
                point.shell = shell;
                point.latent[1] = near * point.delta;
            })
        };
        assert_eq!(judged(0.6, 0.95), [Held]);
        assert_eq!(judged(0.6, 0.8), [HeldPartly]);
        assert_eq!(judged(0.5, 0.8), [DidNotHold]);
    }

    #[test]
    fn the_worst_clues_are_uncertain_and_far_away() {
        let judged = |h: f64, d: f64| {
            alone(Expectation::WorstAreBad, |point, _| (point.uncertainty[2], point.distance[2]) = (h, d))
        };
        assert_eq!(judged(0.6, 3.0), [Held]);
        assert_eq!(judged(0.4, 3.0), [HeldPartly]);
        assert_eq!(judged(0.4, 2.2), [DidNotHold]);
    }

    #[test]
    fn every_variant_and_every_pair_has_its_check() {
        let variants = [0.0, 0.03].map(|lambda_x| variant(lambda_x, InitScheme::NearestPath));
        let sweeps: Vec<Sweep> = variants.iter().map(|variant| (variant, points(|_, _| {}))).collect();
        assert_eq!(Expectation::LabelsRise.checks(&sweeps, 1.0).len(), 2);
        assert_eq!(Expectation::LossesFindAsMany.checks(&sweeps, 1.0).len(), 1);
        assert!(Expectation::RandomBeatsPaths.checks(&sweeps, 1.0).is_empty(), "there is no random start");
    }
}
