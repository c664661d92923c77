//! What the paper says of δ, held against what the radii gave. [Ley2022, App. B]

use super::{Point, Variant};
use crate::statistics::{falls, figure, mean, percent, rises};
use crate::study_result::{Check, Verdict};
use cluekit::search::InitScheme;
use serde::{Deserialize, Serialize};

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

/// A variant with what its radii gave.
pub(super) type Sweep<'a> = (&'a Variant, Vec<Point>);

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
    /// The checks that it comes down to; `before` is the uncertainty of the inputs.
    pub(super) fn checks(self, sweeps: &[Sweep], before: f64) -> Vec<Check> {
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
