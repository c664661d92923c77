//! `clue explain`: what would have to change in an input for the model to become certain.

pub mod delta;
pub mod document;
pub mod inputs;
pub mod options;
pub mod output;

use super::run::{Run, RunArgs, Split};
use crate::progress::Bar;
use anyhow::Result;
use clap::Args;
use cluekit::Seed;
use cluekit::data::Samples;
use cluekit::distance::Metric;
use cluekit::observer::Observer;
use cluekit::search::{Background, Certain, Delta, LatentBall, Models, Ordinary, Search, usual_threshold};
use delta::DeltaArg;
use document::Document;
use std::process::ExitCode;

/// Explain uncertain inputs: changes that make the model certain, by CLUE, δ-CLUE or ∇-CLUE.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue explain runs/mnist --method clue --top 8
  clue explain runs/mnist --method delta --delta 3.5 --count 10 --inputs 17,42 --out clues
  clue explain runs/mnist --method nabla --delta 4 --count 10 --diversity dpp=10 --json
  clue explain runs/mnist --method delta --delta 0.5..3.5/7 --count 100 --top 8 --out sweep
  clue explain runs/credit --method clue --anchored --immutable SEX,AGE --only-down PAY_0 --most-changed 3

Methods:
  clue    one search from the input itself, free to go anywhere
  delta   many searches that never leave a ball of radius delta around the input's latent code
  nabla   the same, held apart from each other by a diversity term

Every clue carries a certificate: the model's fresh answer to the final input (rounded, valid
categories, clipped pixels), its distances, whether every constraint holds, how plausible it is among
the training data, and whether it is accepted or why not. With --out the folder gets
explanations.json, explanations.jsonl, clues.npz, clues.parquet and pictures or change lists.

Exit code 3: done, but at least one input has no accepted clue.")]
pub struct ExplainArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Where to look for clues.
    #[arg(long, value_enum)]
    method: options::Method,
    #[command(flatten)]
    results: output::ResultArgs,
    #[command(flatten)]
    inputs: inputs::InputArgs,
    #[command(flatten)]
    search: options::SearchArgs,
    #[command(flatten)]
    constraints: options::ConstraintArgs,
}

/// Runs `clue explain`.
pub fn run(args: ExplainArgs, quiet: bool) -> Result<ExitCode> {
    let mut run = Run::open(&args.run.run)?;
    run.schema.constraints = args.constraints.on(&run.schema)?;
    run.schema.constraints.validate(&run.schema)?;
    let generative = run.folder.generative(&run.schema)?;
    let mut search = args.search.build(args.method, &run.schema)?;
    search.validate()?;
    args.results.open()?;
    let dataset = if args.needs_dataset(&search) { Some(run.dataset(&args.run.directory())?) } else { None };
    let inputs = args.inputs.choose(&run, dataset.as_ref(), &args.run.directory(), search.accept_by)?;
    let models = Models::new(&generative, &run.predictor).with_schema(&run.schema);
    let mut bar = Bar::new(quiet);
    let seed = Seed(args.results.seed);
    let background = match dataset {
        Some(dataset) => args.background(&models, Split::Train.within(&run, dataset)?, &mut search, seed)?,
        None => Background::default(),
    };
    let explanations = match args.search.delta() {
        Some(DeltaArg::Sweep(radii)) => {
            let ball = |&radius: &f32| Ok(Delta::Fixed(LatentBall::new(radius)?));
            let deltas = radii.iter().map(ball).collect::<Result<Vec<_>>>()?;
            search.sweep(&deltas, &models, &background, &inputs, seed, &mut bar)?
        }
        _ => search.explain(&models, &background, &inputs, seed, &mut bar)?,
    };
    bar.finished("searched", &document::tally(&explanations));
    let document = Document::new(&args, &search, run.schema.constraints.clone(), seed, explanations);
    args.results.deliver(&document, &run.schema)
}

impl ExplainArgs {
    /// Whether anything but the rows of `--file` has to be looked at.
    fn needs_dataset(&self, search: &Search) -> bool {
        !self.inputs.are_from_a_file()
            || !self.results.no_plausibility
            || !self.search.has_threshold()
            || search.needs_certain()
            || search.objective.input.1.needs_data()
    }

    /// What the search has to know of the training rows.
    fn background(&self, models: &Models, train: Samples, search: &mut Search, seed: Seed) -> Result<Background> {
        if !self.search.has_threshold() {
            search.threshold = usual_threshold(models, &train, search.accept_by)?;
        }
        tracing::info!("a clue is accepted below {}", search.threshold);
        let metric = Metric::fit(search.objective.input.1, &train.x, train.width, models.schema)?;
        let ordinary = match self.results.no_plausibility {
            true => None,
            false => Some(Ordinary::among(models, &train.x, train.width, seed)?),
        };
        let certain = match search.needs_certain() {
            true => Some(Certain::among(models, train, search.accept_by, search.threshold)?),
            false => None,
        };
        Ok(Background { metric: Some(metric), certain, ordinary })
    }
}
