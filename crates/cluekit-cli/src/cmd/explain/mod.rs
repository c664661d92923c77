//! `clue explain`: what would have to change in an input for the model to become certain.

pub mod inputs;
pub mod options;
pub mod output;

use super::run::{RunArgs, open};
use crate::config::{self, one_of};
use crate::progress::Bar;
use anyhow::{Context, Result};
use clap::Args;
use cluekit::Seed;
use cluekit::search::{SearchMethod, SearchSettings};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Explain uncertain inputs: changes that make the model certain, by CLUE, δ-CLUE or ∇-CLUE.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue explain runs/mnist --method clue --top 8
  clue explain runs/mnist --method delta --delta 3.5 --count 10 --inputs 17,42 --out clues
  clue explain runs/mnist --method nabla --delta 4 --count 10 --diversity dpp=10 --json
  clue explain runs/mnist --method delta --delta 0.5..3.5/7 --count 100 --top 8 --out sweep
  clue explain runs/loans --method clue --ids C-1042,C-7
  clue explain runs/loans --method clue --file new.csv --where 'AGE < 30' --out clues
  clue explain runs/credit --method clue --anchored --immutable SEX,AGE --only-down PAY_0 --most-changed 3

Methods:
  clue    one search from the input itself, free to go anywhere
  delta   many searches that never leave a ball of radius delta around the input's latent code
  nabla   the same, held apart from each other by a diversity term

Every clue carries a certificate: the model's fresh answer to the final input (rounded, valid
categories, clipped pixels), its distances, whether every constraint holds, how plausible it is among
the training data, and whether it is accepted or why not. With --out the folder gets
explanations.json, explanations.jsonl, clues.npz, clues.parquet, clues.csv, clues.xlsx and pictures or
change lists.

Rows of --file that cannot be read, or that can never meet the constraints, are left out, each with its
reason; the others go on.

Exit code 3: done, but at least one input has no accepted clue, or was left out.")]
pub struct ExplainArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Where to look for clues.
    #[arg(long, value_name = "METHOD", value_parser = one_of::<SearchMethod>(SearchMethod::ALL.map(SearchMethod::name)))]
    method: SearchMethod,
    /// Settings of the search as TOML, with the names of the options and _ instead of -; options win over it.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A further judge of the clues: another run that was made from the same data, with another seed or plan.
    #[arg(long, value_name = "RUN")]
    judge: Option<PathBuf>,
    /// Print the settings that would be used as TOML, and search nothing.
    #[arg(long)]
    print_config: bool,
    #[command(flatten)]
    results: output::ResultArgs,
    #[command(flatten)]
    inputs: inputs::InputArgs,
    #[command(flatten)]
    condition: inputs::ConditionArgs,
    #[command(flatten)]
    search: options::SearchArgs,
    #[command(flatten)]
    constraints: options::ConstraintArgs,
}

/// Runs `clue explain`.
pub fn run(args: ExplainArgs, quiet: bool) -> Result<ExitCode> {
    let directory = args.run.place.directory();
    let mut explainer = args.inputs.over(args.constraints.open(&args.run)?, &directory)?;
    if let Some(judge) = &args.judge {
        let other = open(judge, &directory)?;
        explainer = explainer.with_judge(&judge.display().to_string(), &other)?;
    }
    let settings = args.search.over(config::read::<SearchSettings>(args.config.as_deref())?)?;
    let mut search = settings.search(args.method, explainer.classes())?;
    search.plausibility = !args.results.no_plausibility;
    search.validate()?;
    if settings.threshold.is_none() {
        search.threshold = explainer.threshold(search.accepted_by())?;
    }
    if args.print_config {
        std::io::stdout().write_all(toml::to_string(&search).context("writing settings as TOML")?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    args.results.open()?;
    let condition = args.condition.condition.as_deref();
    let (inputs, rejected) = args.inputs.choose(&explainer, condition, search.accepted_by())?;
    tracing::info!("a clue is accepted below {}", search.threshold);
    let (mut bar, seed) = (Bar::new(quiet), Seed(args.results.seed));
    let set = explainer.explain_all(args.method, &search, args.search.sweep(), &inputs, seed, &mut bar)?;
    args.results.deliver(&set.beside(rejected), explainer.known_schema()?)
}
