//! `clue rank`: the inputs that a model is least sure about.

use super::run::{Rows, RunArgs, with_file};
use crate::config::one_of;
use crate::print::print;
use anyhow::Result;
use clap::Args;
use cluekit::explainer::{Selection, Split};
use cluekit::model::store::files::write_whole;
use cluekit::uncertainty::Uncertainty;
use cluekit_report::{ranking_csv, ranking_text};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

/// List the most uncertain inputs of a run with their prediction and target.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue rank runs/mnist --top 10
  clue rank runs/credit --by epistemic --json
  clue rank runs/loans --where 'AGE < 30' --top 50
  clue rank runs/loans --file new.csv --out unsure.csv

Uncertainty is the entropy of the mean prediction in nats (for a regression, a standard
deviation in the target's unit). Aleatoric is what more data would not remove, epistemic
what it would: the posterior samples disagree. An index counts the rows of the split, which of
a table of your own is shuffled; `row` is the row of the file, and `id` its identifier.

What matters most: the features for which the value of a certain training row nearby, put in their
place alone, lowers the uncertainty most.

Exit code 3: done, but some rows of --file were left out.")]
pub struct RankArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Which rows to look at.
    #[arg(long, default_value_t, value_parser = one_of::<Split>(Split::ALL.map(Split::name)))]
    split: Split,
    /// Rows of another file instead, with or without the column to predict.
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    file: Option<PathBuf>,
    /// For tables: only inputs that satisfy this, such as "AGE < 30 and SEX = 2".
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// How many inputs to list.
    #[arg(long, value_name = "N", default_value = "20")]
    top: NonZeroUsize,
    /// The uncertainty to rank by.
    #[arg(long, default_value_t, value_parser = one_of::<Uncertainty>(Uncertainty::ALL.map(Uncertainty::name)))]
    by: Uncertainty,
    /// A file for the same list as CSV.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
}

/// Runs `clue rank`.
pub fn run(args: RankArgs) -> Result<ExitCode> {
    let directory = args.run.place.directory();
    let explainer = with_file(args.run.explainer()?, args.file.as_deref(), Rows::Readable, &directory)?;
    let (top, condition) = (Some(args.top.get()), args.condition.clone());
    let selection = Selection { top, condition, split: args.split, ..Selection::default() };
    let ranking = explainer.rank_chosen(&selection, args.by)?;
    if let Some(out) = &args.out {
        write_whole(out, ranking_csv(&ranking, explainer.classes()).as_bytes())?;
    }
    let done = print(args.json, &ranking, || ranking_text(&ranking, explainer.classes()))?;
    Ok(if ranking.rejected.is_empty() { done } else { ExitCode::from(3) })
}
