//! `clue rank`: the inputs that a model is least sure about.

use super::run::{Run, RunArgs, Split};
use crate::choice::one_of;
use crate::table::{json, table};
use anyhow::Result;
use clap::Args;
use cluekit::data::{Samples, Schema, Targets, Task};
use cluekit::prediction::{Amounts, Prediction, predict};
use cluekit::uncertainty::Uncertainty;
use serde::Serialize;
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
    #[arg(long, value_enum, default_value = "test")]
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

/// One input with what the model says of it.
#[derive(Serialize)]
struct Ranked {
    index: usize,
    uncertainty: Amounts,
    /// The predicted class, or the predicted value.
    label: Number,
    target: Number,
    /// Of the classes; empty for a regression.
    probabilities: Vec<f32>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Number {
    Class(usize),
    Value(f32),
}

/// The document that `--json` prints.
#[derive(Serialize)]
struct Ranking {
    inputs: Vec<Ranked>,
}

/// Runs `clue rank`.
pub fn run(args: RankArgs) -> Result<ExitCode> {
    let run = Run::open(&args.run.run)?;
    let samples = args.split.of(&run, &args.run.directory())?;
    let predictions = predict(&run.predictor, &samples, &run.schema.target.task)?;
    let inputs = most_uncertain(&predictions, args.by, args.top.get());
    let inputs: Vec<Ranked> = inputs.into_iter().map(|i| ranked(i, &predictions[i], &samples, &run.schema)).collect();
    let mut out = std::io::stdout().lock();
    if args.json {
        out.write_all(&json(&Ranking { inputs })?)?;
    } else {
        out.write_all(as_table(&inputs, &run.schema).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Positions of the `top` most uncertain predictions, the first of equals first.
pub fn most_uncertain(predictions: &[Prediction], by: Uncertainty, top: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..predictions.len()).collect();
    let amount = |i: usize| predictions[i].uncertainty.get(by);
    order.sort_by(|&a, &b| amount(b).total_cmp(&amount(a)).then(a.cmp(&b)));
    order.truncate(top);
    order
}

fn ranked(index: usize, prediction: &Prediction, samples: &Samples, schema: &Schema) -> Ranked {
    let (label, probabilities) = match &schema.target.task {
        Task::Classification { .. } => (Number::Class(prediction.label()), prediction.mean.clone()),
        Task::Regression(_) => (Number::Value(prediction.mean[0]), vec![]),
    };
    let target = match (&samples.y, &schema.target.task) {
        (Targets::Values(values), Task::Regression(scaling)) => Number::Value(scaling.decode(values[index]) as f32),
        (Targets::Values(values), _) => Number::Value(values[index]),
        (Targets::Classes(labels), _) => Number::Class(labels[index] as usize),
    };
    Ranked { index, uncertainty: prediction.uncertainty, label, target, probabilities }
}

fn as_table(inputs: &[Ranked], schema: &Schema) -> String {
    let classes = schema.target.task.classes();
    let show = |number: &Number| match number {
        Number::Class(label) => classes.get(*label).cloned().unwrap_or_else(|| label.to_string()),
        Number::Value(value) => format!("{value:.4}"),
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
            let Amounts { total, aleatoric, epistemic } = input.uncertainty;
            let mut row = vec![input.index.to_string()];
            row.extend([total, aleatoric, epistemic].map(|amount| format!("{amount:.3}")));
            row.extend([show(&input.label), show(&input.target), most_likely(input)]);
            row
        })
        .collect();
    table(&["index", "total", "aleatoric", "epistemic", "predicted", "target", "most likely"], &rows)
}
