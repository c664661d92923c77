//! The document that `clue explain` makes.

use super::ExplainArgs;
use super::delta::DeltaArg;
use cluekit::Seed;
use cluekit::data::Constraints;
use cluekit::explanation::{Clue, Explanation};
use cluekit::search::Search;
use serde::Serialize;

/// Everything that a search found, with what it was asked.
#[derive(Serialize)]
pub struct Document {
    /// The method's name.
    pub method: String,
    /// Where randomness came from.
    pub seed: Seed,
    /// Every setting.
    pub settings: Search,
    /// What tables may not change.
    #[serde(skip_serializing_if = "Constraints::is_empty")]
    pub constraints: Constraints,
    /// For a sweep, what each radius gave.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<SweepRow>,
    /// One for each input, in order.
    pub explanations: Vec<Explanation>,
}

/// The clues of one radius, over all inputs.
#[derive(Clone, Debug, Serialize)]
pub struct SweepRow {
    /// δ.
    pub delta: f32,
    /// Total uncertainty.
    pub uncertainty: Spread,
    /// d_x.
    pub distance: Spread,
    /// ρ.
    pub latent: Spread,
    /// Share of clues that lie on the shell of the ball.
    pub on_shell: f64,
    /// Share of clues that were accepted.
    pub accepted: f64,
    /// Distinct labels of an input's clues, on average.
    pub labels: f64,
}

/// Least, mean and greatest: the mean over inputs of each input's own.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Spread {
    /// Of the best clue.
    pub least: f64,
    /// Of all.
    pub mean: f64,
    /// Of the worst.
    pub greatest: f64,
}

impl Document {
    /// The document for what was found.
    pub fn new(
        args: &ExplainArgs,
        search: &Search,
        constraints: Constraints,
        seed: Seed,
        explanations: Vec<Explanation>,
    ) -> Self {
        let radii = match args.search.delta() {
            Some(DeltaArg::Sweep(radii)) => radii,
            _ => vec![],
        };
        let sweep = radii.iter().map(|&delta| SweepRow::of(delta, &explanations)).collect();
        Self { method: args.method.name().into(), seed, settings: search.clone(), constraints, sweep, explanations }
    }
}

impl SweepRow {
    fn of(delta: f32, explanations: &[Explanation]) -> Self {
        let at_delta = |clue: &&Clue| clue.delta.is_some_and(|d| (d - delta).abs() <= f32::EPSILON * delta);
        let sets: Vec<Vec<&Clue>> = explanations.iter().map(|e| e.clues.iter().filter(at_delta).collect()).collect();
        let share = |holds: &dyn Fn(&Clue) -> bool| {
            let all: Vec<&&Clue> = sets.iter().flatten().collect();
            all.iter().filter(|clue| holds(clue)).count() as f64 / all.len().max(1) as f64
        };
        let labels = |set: &Vec<&Clue>| {
            let mut labels: Vec<String> = set.iter().map(|clue| format!("{:?}", clue.label)).collect();
            labels.sort();
            labels.dedup();
            labels.len() as f64
        };
        Self {
            delta,
            uncertainty: Spread::of(&sets, |clue| clue.uncertainty.total),
            distance: Spread::of(&sets, |clue| clue.distance.input),
            latent: Spread::of(&sets, |clue| clue.distance.latent),
            on_shell: share(&|clue| clue.distance.latent >= 0.999 * delta),
            accepted: share(&|clue| clue.accepted),
            labels: sets.iter().map(labels).sum::<f64>() / sets.len().max(1) as f64,
        }
    }
}

impl Spread {
    fn of(sets: &[Vec<&Clue>], value: impl Fn(&Clue) -> f32) -> Self {
        let inputs = sets.len().max(1) as f64;
        let over = |of_set: &dyn Fn(&mut dyn Iterator<Item = f64>) -> f64| {
            sets.iter().map(|set| of_set(&mut set.iter().map(|clue| f64::from(value(clue))))).sum::<f64>() / inputs
        };
        Self {
            least: over(&|values| values.fold(f64::INFINITY, f64::min)),
            mean: over(&|values| {
                let (sum, count) = values.fold((0.0, 0), |(sum, count), v| (sum + v, count + 1));
                sum / f64::from(count.max(1))
            }),
            greatest: over(&|values| values.fold(f64::NEG_INFINITY, f64::max)),
        }
    }
}

/// One line on how it went.
pub fn tally(explanations: &[Explanation]) -> String {
    let clues: usize = explanations.iter().map(|e| e.clues.len()).sum();
    let accepted: usize = explanations.iter().map(|e| e.accepted().count()).sum();
    let explained = explanations.iter().filter(|e| e.accepted().next().is_some()).count();
    format!("{accepted} of {clues} clues accepted; {explained} of {} inputs explained", explanations.len())
}
