//! `clue rank`: the inputs that a model is least sure about.

use super::run::RunArgs;
use crate::choice::one_of;
use crate::table::{json, table};
use anyhow::Result;
use clap::Args;
use cluekit::explainer::{Ranked, Split};
use cluekit::explanation::Label;
use cluekit::prediction::UncertaintyParts;
use cluekit::uncertainty::Uncertainty;
use std::io::Write;
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
    let mut out = std::io::stdout().lock();
    match args.json {
        true => out.write_all(&json(&ranking)?)?,
        false => out.write_all(as_table(&ranking.inputs, explainer.classes()).as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn as_table(inputs: &[Ranked], classes: &[String]) -> String {
    let show = |label: Label| match label {
        Label::Class(label) => classes.get(label).cloned().unwrap_or_else(|| label.to_string()),
        Label::Value(value) => format!("{value:.4}"),
    };
    let most_likely = |input: &Ranked| {
        let mut order: Vec<usize> = (0..input.probabilities.len()).collect();
        order.sort_by(|&a, &b| input.probabilities[b].total_cmp(&input.probabilities[a]));
        let parts = order.iter().take(3).map(|&c| format!("{} {:.0}%", classes[c], 100.0 * input.probabilities[c]));
        parts.collect::<Vec<_>>().join(", ")
    };
    let rows: Vec<Vec<String>> = inputs
        .iter()
        .map(|input| {
            let UncertaintyParts { total, aleatoric, epistemic } = input.uncertainty;
            let mut row = vec![input.index.to_string()];
            row.extend([total, aleatoric, epistemic].map(|amount| format!("{amount:.3}")));
            row.extend([show(input.label), input.target.map_or(String::new(), show), most_likely(input)]);
            row
        })
        .collect();
    table(&["index", "total", "aleatoric", "epistemic", "predicted", "target", "most likely"], &rows)
}
