//! `clue rank`: the inputs that a model is least sure about.

use super::run::RunArgs;
use crate::config::one_of;
use crate::print::print;
use anyhow::Result;
use clap::Args;
use cluekit::explainer::Split;
use cluekit::uncertainty::Uncertainty;
use cluekit_report::ranking_table;
use std::num::NonZeroUsize;
use std::process::ExitCode;

/// List the most uncertain inputs of a run with their prediction and target.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue rank runs/mnist --top 10
  clue rank runs/credit --by epistemic --json

Uncertainty is the entropy of the mean prediction in nats (for a regression, a standard
deviation in the target's unit). Aleatoric is what more data would not remove, epistemic
what it would: the posterior samples disagree. An index counts the rows of the split, which of
a table of your own is shuffled.")]
pub struct RankArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Which rows to look at.
    #[arg(long, default_value_t, value_parser = one_of::<Split>(Split::ALL.map(Split::name)))]
    split: Split,
    /// How many inputs to list.
    #[arg(long, value_name = "N", default_value = "20")]
    top: NonZeroUsize,
    /// The uncertainty to rank by.
    #[arg(long, default_value_t, value_parser = one_of::<Uncertainty>(Uncertainty::ALL.map(Uncertainty::name)))]
    by: Uncertainty,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
}

/// Runs `clue rank`.
pub fn run(args: RankArgs) -> Result<ExitCode> {
    let explainer = args.run.explainer()?;
    let ranking = explainer.rank(args.split, args.by, args.top.get())?;
    print(args.json, &ranking, || ranking_table(&ranking.inputs, explainer.classes()).text())
}
