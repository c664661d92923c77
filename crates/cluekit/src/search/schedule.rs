//! How a descent goes: which posterior samples each step asks, how far it goes, and what Adam remembers.
//!
//! A gradient from one posterior sample points nearly where the gradient from all of them points, and costs a fiftieth
//! of it. So a search asks a few samples at each step, another few at the next, until all have had their turn, and goes
//! less far from step to step; its end is judged by all samples, as every end is.
//!
//! | schedule | samples a step | rate η | β₁, β₂ | the end is |
//! |---|---|---|---|---|
//! | `paper` | all | constant | 0.9, 0.999 | the best point that was seen |
//! | `all` | all | falls along a cosine to η / 20 | 0.3, 0.8 | the best point that was seen |
//! | `1*40`, `2*20, 5*7` | so many, for so many steps | falls along a cosine to η / 20 | 0.3, 0.8 | the last point |
//! | `auto` | as few as serve the predictor and the objective | | | |

use super::{Objective, Search};
use crate::error::{Error, Result};
use crate::model::Predictor;
use crate::model::adam::{BETAS, Betas};
use crate::seed::Seed;
use rand::seq::SliceRandom;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// What Adam remembers of earlier gradients where the rate falls: little, since each step sees other samples.
const SHORT_BETAS: Betas = [0.3, 0.8];
/// The last rate as a share of the first.
const LAST_RATE: f64 = 0.05;
/// Samples that a step asks at the least when nothing is said.
const FEWEST: usize = 3;
/// Phases of a schedule at the most.
const MOST_PHASES: usize = 100;

/// Which posterior samples the steps of a descent ask, and whether it goes less far from step to step.
///
/// ```
/// use cluekit::search::Schedule;
///
/// let schedule: Schedule = "1*45, 3*10".parse()?;
/// assert_eq!((schedule.to_string(), schedule.steps()), ("1*45, 3*10".to_owned(), Some(55)));
/// assert!("3*".parse::<Schedule>().is_err());
/// # Ok::<(), cluekit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// All samples at every step and a constant rate.
    #[default]
    Paper,
    /// As few samples as serve the predictor and the objective; the rate falls.
    Auto,
    /// All samples at every step; the rate falls.
    All,
    /// So many samples for so many steps, phase after phase; the rate falls.
    Phases(Vec<Phase>),
}

/// Steps that ask equally many samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Posterior samples that each step asks.
    pub samples: usize,
    /// Number of steps; a schedule that is stretched keeps the shares of its phases.
    pub steps: usize,
}

impl Schedule {
    /// Number of steps that the schedule names; none for as many as the search has.
    pub fn steps(&self) -> Option<usize> {
        match self {
            Self::Phases(phases) => Some(phases.iter().map(|phase| phase.steps).fold(0, usize::saturating_add)),
            _ => None,
        }
    }

    /// An error if nobody can have meant it.
    pub fn validate(&self) -> Result<()> {
        let Self::Phases(phases) = self else { return Ok(()) };
        let wrong = |problem: &str| Err(Error::setting("schedule", problem));
        match () {
            () if phases.is_empty() || phases.len() > MOST_PHASES => wrong("needs between 1 and 100 phases"),
            () if phases.iter().any(|phase| phase.samples == 0) => wrong("asks 0 samples; a step has to ask one"),
            () if phases.iter().any(|phase| phase.steps == 0) => wrong("has a phase of 0 steps; leave it out"),
            () => Ok(()),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paper => f.pad("paper"),
            Self::Auto => f.pad("auto"),
            Self::All => f.pad("all"),
            Self::Phases(phases) => {
                let phases: Vec<String> = phases.iter().map(|p| format!("{}*{}", p.samples, p.steps)).collect();
                f.pad(&phases.join(", "))
            }
        }
    }
}

impl FromStr for Schedule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let phase = |part: &str| {
            let (samples, steps) = part.split_once(['*', '×', 'x'])?;
            Some(Phase { samples: samples.trim().parse().ok()?, steps: steps.trim().parse().ok()? })
        };
        let schedule = match text.trim() {
            "paper" => Self::Paper,
            "auto" => Self::Auto,
            "all" => Self::All,
            phases => Self::Phases(phases.split(',').map(phase).collect::<Option<_>>().ok_or_else(|| {
                let remedy = "write samples*steps, such as `1*40` or `2*20, 5*7`, or choose auto, all or paper";
                Error::setting("schedule", format!("`{text}` is no schedule; {remedy}"))
            })?),
        };
        schedule.validate()?;
        Ok(schedule)
    }
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Posterior samples that every step asks: a short way to say a schedule.
///
/// ```
/// use cluekit::search::SamplesPerStep;
///
/// assert_eq!("3".parse::<SamplesPerStep>()?, SamplesPerStep::Some(3));
/// assert!("none".parse::<SamplesPerStep>().is_err());
/// # Ok::<(), cluekit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplesPerStep {
    /// All that there are.
    All,
    /// As few as serve the predictor and the objective.
    Auto,
    /// So many.
    Some(usize),
}

impl FromStr for SamplesPerStep {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim() {
            "all" => Ok(Self::All),
            "auto" => Ok(Self::Auto),
            number => match number.parse() {
                Ok(samples) if samples > 0 => Ok(Self::Some(samples)),
                _ => {
                    let problem = format!("`{text}` is no number of samples; choose all, auto or a number from 1 on");
                    Err(Error::setting("samples_per_step", problem))
                }
            },
        }
    }
}

/// A number is a number; what has a name is a word.
impl Serialize for SamplesPerStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::All => serializer.serialize_str("all"),
            Self::Auto => serializer.serialize_str("auto"),
            Self::Some(samples) => samples.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SamplesPerStep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(usize),
            Word(String),
        }
        let text = match Written::deserialize(deserializer)? {
            Written::Number(count) => count.to_string(),
            Written::Word(word) => word,
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A schedule for one predictor: every step of a descent.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// For each step the places of the samples that it asks; nothing for all of them.
    samples: Option<Vec<Vec<usize>>>,
    steps: usize,
    rate: f64,
    last_rate: f64,
    pub betas: Betas,
}

impl Walk {
    /// The walk of a search with this predictor. All rows take it, so that they can lie in one batch.
    pub fn new(search: &Search, predictor: &dyn Predictor) -> Self {
        let steps = search.convergence.max_steps;
        let rate = f64::from(search.learning_rate);
        if search.schedule == Schedule::Paper {
            return Self { samples: None, steps, rate, last_rate: rate, betas: BETAS };
        }
        let all = predictor.samples().filter(|_| predictor.can_choose());
        let samples = all.and_then(|all| Some(strata(&shares(&search.schedule, &search.objective, all)?, steps, all)));
        Self { samples, steps, rate, last_rate: LAST_RATE * rate, betas: SHORT_BETAS }
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Number of evaluations of the objective: where points are compared, there is a last look.
    pub fn evaluations(&self) -> usize {
        self.steps.saturating_add(usize::from(self.compares()))
    }

    /// Places of the samples that a step asks; none for all of them.
    pub fn samples(&self, step: usize) -> Option<&[usize]> {
        Some(self.samples.as_ref()?.get(step)?)
    }

    /// How far a step goes.
    pub fn rate(&self, step: usize) -> f64 {
        let phase = std::f64::consts::PI * step as f64 / self.steps.saturating_sub(1).max(1) as f64;
        self.last_rate + (self.rate - self.last_rate) * 0.5 * (1.0 + phase.cos())
    }

    /// Whether losses can be compared from step to step: where all samples are asked.
    pub fn compares(&self) -> bool {
        self.samples.is_none()
    }
}

/// Samples a step and share of the steps, phase after phase; none for all samples at every step.
fn shares(schedule: &Schedule, objective: &Objective, all: usize) -> Option<Vec<(usize, f64)>> {
    let phases = match schedule {
        Schedule::Paper | Schedule::All => return None,
        Schedule::Auto => automatic(objective, all),
        Schedule::Phases(phases) => phases.clone(),
    };
    let total: f64 = phases.iter().map(|phase| phase.steps as f64).sum();
    let asks_all = phases.iter().all(|phase| phase.samples >= all);
    (!asks_all).then(|| phases.iter().map(|phase| (phase.samples.min(all), phase.steps as f64 / total)).collect())
}

/// Three samples, or the cube root of S where that is more: three of fifty point nearly where all of them do, and one alone
/// knows nothing of how samples differ. The epistemic uncertainty is nothing but that, and takes more of them.
fn automatic(objective: &Objective, all: usize) -> Vec<Phase> {
    let phase = |samples: usize, steps| Phase { samples: samples.min(all), steps };
    if objective.uncertainty.epistemic > 0.0 {
        return vec![phase(10, 4), phase(all.div_ceil(2), 1)];
    }
    let root = (FEWEST..=all).take_while(|root| root.saturating_pow(3) <= all).last();
    vec![phase(root.unwrap_or(FEWEST), 1)]
}

/// For each step the places that it asks: a permutation of all samples is cut into strata, and gone through again and
/// again.
fn strata(shares: &[(usize, f64)], steps: usize, all: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..all).collect();
    // The same for every search, so that nothing but the predictor decides.
    order.shuffle(&mut Seed(0).stream("search: order of the samples"));
    let mut next = order.iter().copied().cycle();
    let mut asked = Vec::with_capacity(steps);
    let mut end = 0.0;
    for &(samples, share) in shares {
        end += share;
        while asked.len() < (end * steps as f64).round() as usize {
            asked.push(next.by_ref().take(samples).collect());
        }
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for text in ["paper", "auto", "all", "1*40", "2*20, 5*7"] {
            let schedule: Schedule = text.parse().unwrap();
            assert_eq!(schedule.to_string(), text);
            assert_eq!(serde_json::from_str::<Schedule>(&serde_json::to_string(&schedule).unwrap()).unwrap(), schedule);
        }
        assert_eq!("1x40,3×5".parse::<Schedule>().unwrap().to_string(), "1*40, 3*5");
    }

    #[test]
    fn what_is_no_schedule_says_what_would_be() {
        for wrong in ["", "3", "1*", "0*5", "1*0", "-1*3", "1*2*3", "some"] {
            let problem = wrong.parse::<Schedule>().unwrap_err().to_string();
            assert!(problem.starts_with("setting `schedule`: "), "{problem}");
        }
        assert!("few".parse::<Schedule>().unwrap_err().to_string().contains("such as `1*40`"));
    }

    #[test]
    fn every_sample_has_its_turn_before_one_has_a_second() {
        let asked = strata(&[(3, 0.5), (2, 0.5)], 8, 6);
        let sizes: Vec<usize> = asked.iter().map(Vec::len).collect();
        assert_eq!(sizes, [3, 3, 3, 3, 2, 2, 2, 2]);
        for turn in asked.concat().chunks_exact(6) {
            let mut turn = turn.to_vec();
            turn.sort_unstable();
            assert_eq!(turn, [0, 1, 2, 3, 4, 5]);
        }
    }

    #[test]
    fn a_schedule_that_is_stretched_keeps_its_shares() {
        let schedule: Schedule = "1*3, 4*1".parse().unwrap();
        let sizes = |steps| -> Vec<usize> {
            strata(&shares(&schedule, &Objective::default(), 10).unwrap(), steps, 10).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(4), [1, 1, 1, 4]);
        assert_eq!(sizes(8), [1, 1, 1, 1, 1, 1, 4, 4]);
    }

    #[test]
    fn few_samples_are_three_or_the_cube_root_of_all() {
        let objective = Objective::default();
        let few = [1, 2, 5, 50, 63, 64, 1000].map(|all| automatic(&objective, all)[0].samples);
        assert_eq!(few, [1, 2, 3, 3, 3, 4, 10]);
    }

    #[test]
    fn more_samples_than_there_are_means_all_of_them() {
        let schedule: Schedule = "7*5".parse().unwrap();
        assert_eq!(shares(&schedule, &Objective::default(), 5), None);
    }

    #[test]
    fn the_rate_falls_to_a_twentieth_along_a_cosine() {
        let walk = Walk { samples: None, steps: 3, rate: 0.2, last_rate: 0.01, betas: SHORT_BETAS };
        let rates = [0, 1, 2].map(|step| walk.rate(step));
        // Half way between 0.2 and 0.01 in the middle.
        for (rate, expected) in rates.into_iter().zip([0.2, 0.105, 0.01]) {
            assert!((rate - expected).abs() < 1e-9, "{rate}");
        }
    }
}
