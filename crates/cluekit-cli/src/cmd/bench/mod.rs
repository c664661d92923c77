//! `clue bench`: how fast a run's searches are, and how good their clues.

mod contender;
mod document;
mod figures;
mod memory;
mod opponent;
mod stage;
mod table;
mod words;
mod work;

use super::run::RunArgs;
use crate::config::one_of;
use crate::print::print;
use crate::progress::Bar;
use anyhow::{Context, Result};
use clap::Args;
use cluekit::observer::parse_time;
use cluekit::search::LatentBall;
use cluekit::{Explainer, SearchMethod, Seed, Uncertainty};
use contender::{Contender, Terms};
use document::{Against, Bench, EqualCost, FORMAT, Row, StepRow, Tried};
use figures::{Measured, greater, of_one_step};
use opponent::Opponent;
use stage::{Entrant, PAPER_STEPS, Stage, unsure_inputs};
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use work::Work;

/// Radius of the ball where nothing is said: as in the paper's experiments on digits, and on tables.
const IMAGE_DELTA: f32 = 3.5;
const TABLE_DELTA: f32 = 1.0;
/// Numbers of steps that are tried for the cost of the paper's, and the number of inputs that they are tried on.
const TRIED: [usize; 6] = [10, 15, 20, 30, 40, 60];
const TRIED_ON: usize = 100;

/// Measure how fast a run's searches are, and how good their clues, side by side.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue bench runs/mnist
  clue bench runs/credit --inputs 1,100 --rounds 9 --json
  clue --threads 1 bench runs/mnist --method clue
  clue bench runs/mnist --against 'python bench/torch/search.py runs/mnist'

Who is measured:
  paper    all posterior samples at each of the paper's 30 steps, as clue explain with
           --only-paper --all-steps
  search   a few samples at each step, as clue explain searches, and nothing beside
  default  all that clue explain does: also plausibility and advice; of images regions go back,
           in tables certain rows and scans are tried, and clues made minimal

What they do: CLUE for each number of --inputs, δ-CLUE with 8 inputs × 100 clues, ∇-CLUE with
8 × 10 and dpp=1, the last two in a ball of radius --delta. The inputs are the first test rows,
in their order, with an uncertainty above --above.

Seconds are medians over rounds. In every round each contender has its turn, so that a busy
machine is busy for all of them; a first round does not count. A step is what twice as many
steps take longer. Every clue ends with its certificate; costs are H + λ_x d by all samples, and
means over all clues.

--against races another program, which reads one JSON request a line and replies with a line, as
bench/torch/README.md says. It gets the same inputs and starts, and tells its own seconds. It is
started without a shell, uses as many threads as it likes, and ends with this command.")]
pub struct BenchArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Numbers of inputs that CLUE explains at once, as many as there are at the most.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,8,100,400")]
    inputs: Vec<NonZeroUsize>,
    /// Only these methods, separated by commas [default: all].
    #[arg(long = "method", value_name = "METHOD", value_delimiter = ',',
        value_parser = one_of::<SearchMethod>(SearchMethod::ALL.map(SearchMethod::name)))]
    methods: Vec<SearchMethod>,
    /// Rounds that count.
    #[arg(long, value_name = "N", default_value = "5")]
    rounds: NonZeroUsize,
    /// Only inputs whose uncertainty exceeds this [default: 0.5 nats; for a regression what nine tenths of the training
    /// rows stay below].
    #[arg(long, value_name = "H")]
    above: Option<f32>,
    /// Radius of the ball of δ-CLUE and ∇-CLUE [default: 3.5 for images, 1 for tables].
    #[arg(long, value_name = "R")]
    delta: Option<f32>,
    /// Weight of the distance to the input.
    #[arg(long, value_name = "V", default_value_t = 0.03)]
    lambda_x: f32,
    /// Another program to race against: a command with its arguments, quoted as in a shell.
    #[arg(long, value_name = "COMMAND")]
    against: Option<String>,
    /// How long the other program may take for one reply; its first may hold trials and compilation.
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = parse_time, requires = "against")]
    patience: Duration,
    /// Where all randomness comes from.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    json: bool,
}

/// Runs `clue bench`.
pub fn run(args: BenchArgs, quiet: bool) -> Result<ExitCode> {
    let explainer = args.run.explainer()?;
    let opponent = args.against.as_deref().map(|command| Opponent::start(command, args.patience)).transpose()?;
    let delta = args.delta.unwrap_or(if explainer.is_table() { TABLE_DELTA } else { IMAGE_DELTA });
    let threshold = explainer.threshold(Uncertainty::Total)?;
    let terms = Terms { lambda_x: args.lambda_x, ball: LatentBall::new(delta)?, threshold };
    let methods = if args.methods.is_empty() { SearchMethod::ALL.to_vec() } else { args.methods.clone() };
    let sizes: Vec<usize> = args.inputs.iter().map(|inputs| inputs.get()).collect();
    let most = Work::all(&methods, &sizes, usize::MAX).iter().map(|work| work.inputs).max().unwrap_or(1);
    let above = args.above.map_or_else(|| explainer.unsure_above(threshold), Ok)?;
    let inputs = unsure_inputs(&explainer, above, most)?;
    let settings = (Seed(args.seed), args.rounds.get());
    let mut stage = Stage::new(&explainer, terms, inputs, opponent, settings, Bar::new(quiet))?;
    let works = Work::all(&methods, &sizes, stage.available());
    let mut bench = Bench {
        format: FORMAT,
        run: args.run.run.display().to_string(),
        dataset: explainer.opened()?.record.dataset.name.clone(),
        samples: explainer.predictor().samples(),
        cores: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        threads: rayon::current_num_threads(),
        rounds: args.rounds.get(),
        above,
        threshold,
        lambda_x: args.lambda_x,
        delta,
        weights_mb: weights(&explainer, &args.run.run)?,
        peak_memory_mb: None,
        against: None,
        rows: vec![],
        steps: vec![],
        equal_cost: None,
    };
    match stage.is_race() {
        true => race(&mut stage, &works, &mut bench)?,
        false => side_by_side(&mut stage, &works, &mut bench)?,
    }
    bench.peak_memory_mb = bench.rows.iter().fold(None, |most, row| greater(most, row.peak_memory_mb));
    if let (Some(info), Some(command)) = (stage.farewell()?, args.against) {
        bench.against = Some(Against { command, info });
    }
    print(args.json, &bench, || table::text(&bench))
}

/// Our own contenders: few samples, and all of `clue explain`, each beside the paper's steps.
fn side_by_side(stage: &mut Stage, works: &[Work], bench: &mut Bench) -> Result<()> {
    let clue = |work: &&Work| work.method == SearchMethod::Clue;
    let largest_tried = works.iter().filter(clue).map(|work| work.inputs).filter(|inputs| *inputs <= TRIED_ON).max();
    for work in works {
        let what = what(work);
        let mut entrants = Contender::ALL.map(|contender| Entrant::Ours(contender, None)).to_vec();
        let few_steps = Contender::Search.search(work, &stage.terms, None, stage.explainer.classes())?;
        let few_steps = few_steps.convergence.max_steps;
        if clue(&work) {
            let twice = [(Contender::Paper, PAPER_STEPS), (Contender::Search, few_steps)];
            entrants.extend(twice.map(|(contender, steps)| Entrant::Ours(contender, Some(2 * steps))));
        }
        let mut tried = Vec::new();
        if clue(&work) && largest_tried == Some(work.inputs) {
            let enough = stage.run(work, Entrant::Ours(Contender::Paper, None))?.quality.cost;
            tried = stage.costs(&format!("{what}: steps"), work, &TRIED, enough)?;
            let enough_steps = tried.iter().find(|(_, cost)| *cost <= enough).map(|(steps, _)| *steps);
            entrants.extend(enough_steps.map(|steps| Entrant::Ours(Contender::Search, Some(steps))));
        }
        let measured = stage.rounds(&what, work, &entrants)?;
        let [paper, search, default, more @ ..] = &measured[..] else { continue };
        let other = (Contender::Paper.name(), paper);
        bench.rows.push(Row::of(Contender::Search, work, search, other));
        bench.rows.push(Row::of(Contender::Default, work, default, other));
        let [paper_twice, search_twice, more @ ..] = more else { continue };
        let step = |once: &Measured, twice: &Measured, steps| of_one_step(once.seconds(), twice.seconds(), steps);
        let (ours, full) = (step(search, search_twice, few_steps), step(paper, paper_twice, PAPER_STEPS));
        bench.steps.push(StepRow::new(work.inputs, ours, full));
        if !tried.is_empty() {
            bench.equal_cost = Some(equal_cost(work, paper, &tried, more.first()));
        }
    }
    Ok(())
}

/// The search of few samples with the least steps that are enough, if any number of them was.
fn equal_cost(work: &Work, paper: &Measured, tried: &[(usize, f64)], enough: Option<&Measured>) -> EqualCost {
    let seconds = enough.map(Measured::seconds);
    EqualCost {
        inputs: work.inputs,
        other_cost: paper.quality.cost,
        other_seconds: paper.seconds(),
        tried: tried.iter().map(|&(steps, cost)| Tried { steps, cost }).collect(),
        steps: enough.and(tried.last()).map(|(steps, _)| *steps),
        ours_seconds: seconds,
        ratio: seconds.map(|seconds| paper.seconds() / seconds),
    }
}

/// All of our contenders against the other program, which takes the paper's steps.
fn race(stage: &mut Stage, works: &[Work], bench: &mut Bench) -> Result<()> {
    const THEIRS: &str = "program";
    for work in works {
        let mut entrants = vec![Entrant::Theirs(PAPER_STEPS)];
        entrants.extend(Contender::ALL.map(|contender| Entrant::Ours(contender, None)));
        let measured = stage.rounds(&what(work), work, &entrants)?;
        for (contender, ours) in Contender::ALL.into_iter().zip(&measured[1..]) {
            bench.rows.push(Row::of(contender, work, ours, (THEIRS, &measured[0])));
        }
    }
    let largest = Work { method: SearchMethod::Clue, inputs: stage.available(), count: 1 };
    let entrants = [Entrant::TheirPredictions, Entrant::Predictions];
    let measured = stage.rounds("certificates", &largest, &entrants)?;
    let (ours, theirs) = (("predictions", &measured[1]), (THEIRS, &measured[0]));
    bench.rows.push(Row::new("certificates".into(), &largest, ours, theirs));
    let entrants = [Entrant::Theirs(0), Entrant::Ours(Contender::Paper, Some(0))];
    let measured = stage.rounds("CLUE without a step", &largest, &entrants)?;
    let (ours, theirs) = ((Contender::Paper.name(), &measured[1]), (THEIRS, &measured[0]));
    bench.rows.push(Row::new("CLUE without a step".into(), &largest, ours, theirs));
    Ok(())
}

/// What progress is told of: `CLUE × 100`.
fn what(work: &Work) -> String {
    match work.method {
        SearchMethod::Clue => format!("CLUE of {}", work.inputs),
        _ => work.title(),
    }
}

/// Size of the files of both models in megabytes.
fn weights(explainer: &Explainer, run: &Path) -> Result<f64> {
    let opened = explainer.opened()?;
    let size = |name: &String| {
        let path = run.join(name);
        let data = std::fs::metadata(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(data.len() as f64)
    };
    let sizes: Vec<f64> = opened.hashes.keys().map(size).collect::<Result<_>>()?;
    Ok(sizes.iter().sum::<f64>() / memory::MEGABYTE)
}
