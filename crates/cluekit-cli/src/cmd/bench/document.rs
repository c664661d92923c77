//! What `clue bench` prints with `--json`.

use super::contender::Contender;
use super::figures::Measured;
use super::work::Work;
use serde::Serialize;
use serde_json::Value;

/// Version of the document's layout.
pub const FORMAT: u32 = 1;

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Bench {
    /// Version of the document's layout.
    pub format: u32,
    /// The run folder.
    pub run: String,
    /// The data that the run was made from.
    pub dataset: String,
    /// Posterior samples of the predictor; none where it does not tell.
    pub samples: Option<usize>,
    /// Processors of the machine.
    pub cores: usize,
    /// Threads that were used.
    pub threads: usize,
    /// Rounds that count.
    pub rounds: usize,
    /// Inputs are test rows with an uncertainty above this.
    pub above: f32,
    /// A clue is accepted below this uncertainty.
    pub threshold: f32,
    /// Weight of the distance to the input.
    pub lambda_x: f32,
    /// Radius of the ball of δ-CLUE and ∇-CLUE.
    pub delta: f32,
    /// Size of the files of both models in megabytes.
    pub weights_mb: f64,
    /// The most memory of any search in megabytes; none where the system does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_mb: Option<f64>,
    /// The other program; none without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
    /// Contenders side by side.
    pub rows: Vec<Row>,
    /// Seconds of single steps; empty in a race.
    pub steps: Vec<StepRow>,
    /// How soon the search of few samples is as good as the paper's; none in a race.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_cost: Option<EqualCost>,
}

/// The other program of a race.
#[derive(Clone, Debug, Serialize)]
pub struct Against {
    /// How it was started.
    pub command: String,
    /// What it says of itself.
    pub info: Value,
}

/// Two contenders and the same work.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The work, and who does it.
    pub work: String,
    /// Number of inputs.
    pub inputs: usize,
    /// Number of clues for each input.
    pub count: usize,
    /// Who is called ours: `paper`, `search`, `default`, or `predictions`.
    pub ours: &'static str,
    /// Who is called the other: `paper`, or `program` for that of `--against`.
    pub other: &'static str,
    /// Seconds of our middle round.
    pub ours_seconds: f64,
    /// Seconds of the other's middle round.
    pub other_seconds: f64,
    /// How many times as long the other takes.
    pub ratio: f64,
    /// Our seconds for one clue among all of them.
    pub ours_seconds_each: f64,
    /// The other's seconds for one clue among all of them.
    pub other_seconds_each: f64,
    /// Mean cost H + λ_x d of our clues.
    pub ours_cost: f64,
    /// Mean cost of the other's clues.
    pub other_cost: f64,
    /// Mean uncertainty H of our clues.
    pub ours_uncertainty: f64,
    /// Mean uncertainty of the other's clues.
    pub other_uncertainty: f64,
    /// Mean distance d of our clues to their inputs.
    pub ours_distance: f64,
    /// Mean distance of the other's clues.
    pub other_distance: f64,
    /// Mean diversity of our clues of an input, det K of their codes; none of single clues.
    pub ours_dpp: Option<f64>,
    /// Mean diversity of the other's clues of an input.
    pub other_dpp: Option<f64>,
    /// Share of our clues that are accepted.
    pub ours_share_certain: Option<f64>,
    /// Share of the other's clues that are accepted.
    pub other_share_certain: Option<f64>,
    /// The most memory while we searched, in megabytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_mb: Option<f64>,
    /// Our seconds round by round.
    pub ours_rounds: Vec<f64>,
    /// The other's seconds round by round.
    pub other_rounds: Vec<f64>,
}

impl Row {
    /// Both measurements of a work side by side.
    pub fn new(
        name: String,
        work: &Work,
        (ours_name, ours): (&'static str, &Measured),
        (other_name, other): (&'static str, &Measured),
    ) -> Self {
        let (seconds, clues) = ([ours, other].map(Measured::seconds), work.clues() as f64);
        Self {
            work: name,
            inputs: work.inputs,
            count: work.count,
            ours: ours_name,
            other: other_name,
            ours_seconds: seconds[0],
            other_seconds: seconds[1],
            ratio: seconds[1] / seconds[0],
            ours_seconds_each: seconds[0] / clues,
            other_seconds_each: seconds[1] / clues,
            ours_cost: ours.quality.cost,
            other_cost: other.quality.cost,
            ours_uncertainty: ours.quality.uncertainty,
            other_uncertainty: other.quality.uncertainty,
            ours_distance: ours.quality.distance,
            other_distance: other.quality.distance,
            ours_dpp: ours.quality.dpp,
            other_dpp: other.quality.dpp,
            ours_share_certain: ours.quality.certain,
            other_share_certain: other.quality.certain,
            peak_memory_mb: ours.peak,
            ours_rounds: ours.rounds.clone(),
            other_rounds: other.rounds.clone(),
        }
    }

    /// A contender of ours beside another.
    pub fn of(contender: Contender, work: &Work, ours: &Measured, other: (&'static str, &Measured)) -> Self {
        Self::new(contender.of(&work.title()), work, (contender.name(), ours), other)
    }
}

/// Seconds of one step of CLUE.
#[derive(Clone, Debug, Serialize)]
pub struct StepRow {
    /// Number of inputs.
    pub inputs: usize,
    /// Seconds of a step of the search of few samples; none where noise drowns it.
    pub ours_seconds: Option<f64>,
    /// Seconds of a step of all samples.
    pub other_seconds: Option<f64>,
    /// How many times as long a step of all samples takes.
    pub ratio: Option<f64>,
}

impl StepRow {
    /// Seconds of both, where they are known.
    pub fn new(inputs: usize, ours_seconds: Option<f64>, other_seconds: Option<f64>) -> Self {
        let ratio = ours_seconds.zip(other_seconds).map(|(ours, other)| other / ours);
        Self { inputs, ours_seconds, other_seconds, ratio }
    }
}

/// The least number of steps with which the search of few samples costs no more than the paper's.
#[derive(Clone, Debug, Serialize)]
pub struct EqualCost {
    /// Number of inputs.
    pub inputs: usize,
    /// Mean cost of the paper's search.
    pub other_cost: f64,
    /// Seconds of the paper's search.
    pub other_seconds: f64,
    /// The numbers of steps that were tried, and the mean cost that each gave.
    pub tried: Vec<Tried>,
    /// The first of them that is enough; none where none was.
    pub steps: Option<usize>,
    /// Seconds of the search with so many steps.
    pub ours_seconds: Option<f64>,
    /// How many times as long the paper's search takes.
    pub ratio: Option<f64>,
}

/// A number of steps and what it gave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// Number of steps.
    pub steps: usize,
    /// Mean cost of the clues.
    pub cost: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::SearchMethod;

    #[test]
    fn the_ratio_says_how_many_times_as_long_the_other_takes() {
        let measured = |rounds: &[f64]| Measured { rounds: rounds.to_vec(), ..Measured::default() };
        let work = Work { method: SearchMethod::Delta, inputs: 2, count: 5 };
        let (ours, other) = (measured(&[0.5, 0.1, 0.5]), measured(&[2.0, 2.0, 9.0]));
        let row = Row::of(Contender::Search, &work, &ours, ("paper", &other));
        assert_eq!((row.work.as_str(), row.ours, row.other), ("δ-CLUE 2 × 5", "search", "paper"));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(row.ratio, 4.0) && near(row.ours_seconds_each, 0.05), "{row:?}");
    }

    #[test]
    fn a_step_that_noise_drowns_has_no_ratio() {
        assert_eq!(StepRow::new(8, None, Some(1.0)).ratio, None);
        assert_eq!(StepRow::new(8, Some(0.5), Some(1.0)).ratio, Some(2.0));
    }
}
