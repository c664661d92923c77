//! `clue glam compare`: baselines, mappers and CLUE side by side.

use super::options::CostArgs;
use crate::cmd::run::RunArgs;
use crate::config::one_of;
use crate::print::{json, print, write_files};
use crate::progress::Bar;
use anyhow::{Context, Result};
use clap::Args;
use cluekit::Seed;
use cluekit::explainer::{CompareSettings, Comparison, Selection, Split};
use cluekit::model::store::files::create_folder;
use cluekit_report::{compared_picture, comparison_table};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Compare baselines, fitted mappers and CLUE on the same uncertain inputs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue glam compare runs/mnist --out compared
  clue glam compare runs/credit --json
  clue glam compare runs/mnist --only reconstruction,glam-3,neural,clue-2

Mappers that are not there yet are fitted first and saved in the run; --refit fits all of them again.
Input and latent difference of means, nearest neighbours, GLAM 1 to 3, clusters, scaled and affine mappers are
those of each input's own class; the neural mapper tries the three most probable classes and takes the cheapest;
`best` is the cheapest of all mappers and baselines. Seconds are those of mapping, decoding and asking the
model about the result, of one input among all of them. With --anchored, or models without a gradient, there is no neural mapper.")]
pub struct CompareArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Inputs above this uncertainty are compared.
    #[arg(long, value_name = "H", default_value_t = 0.5, allow_hyphen_values = true)]
    uncertain_above: f32,
    /// Only the N most uncertain of them.
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Only these rows of the table, separated by commas.
    #[arg(long, value_name = "METHODS", value_delimiter = ',')]
    only: Vec<String>,
    /// Which rows of the run's data to choose from.
    #[arg(long, default_value_t, value_parser = one_of::<Split>(Split::ALL.map(Split::name)))]
    split: Split,
    /// Fit the mappers again, even if they are saved in the run.
    #[arg(long)]
    refit: bool,
    /// Where all randomness comes from.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// A folder for compared.json, compared.txt and compared.svg.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cost: CostArgs,
}

/// The document that `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    uncertain_above: f32,
    #[serde(flatten)]
    compared: &'a Comparison,
}

/// Runs `clue glam compare`.
pub fn run(args: CompareArgs, quiet: bool) -> Result<ExitCode> {
    let (only, refit, seed) = (args.only.clone(), args.refit, Seed(args.seed));
    let settings = CompareSettings { only, refit, seed, ..CompareSettings::default() };
    settings.validate()?;
    if let Some(folder) = &args.out {
        create_folder(folder)?;
    }
    let explainer = args.run.explainer()?;
    let search = explainer.judging(&args.cost.settings())?;
    let (above, top, split) = (Some(args.uncertain_above), args.top, args.split);
    let inputs = explainer.choose(&Selection { above, top, split, ..Selection::default() }, search.accepted_by())?;
    let begun = Instant::now();
    let clock = || begun.elapsed().as_secs_f64();
    let compared = explainer
        .compare(&settings, &search, &inputs, &clock, &mut Bar::new(quiet))
        .context("comparing methods (where a saved mapper is at fault, --refit replaces it)")?;
    let text = || comparison_table(&compared.rows).text();
    let document = Document { uncertain_above: args.uncertain_above, compared: &compared };
    if let Some(folder) = &args.out {
        let picture = compared_picture(&compared.rows, &explainer.known_schema()?.target, compared.lambda_x);
        let files = [("json", json(&document)?), ("txt", text().into()), ("svg", picture.into())];
        write_files(folder, &files.map(|(end, bytes)| (format!("compared.{end}"), bytes)))?;
    }
    print(args.json, &document, text)
}
