//! `clue glam show`: the global explanation for a person.

use super::options::CostArgs;
use crate::cmd::explain::options::ConstraintArgs;
use crate::cmd::run::RunArgs;
use crate::print::{json, print, write_files};
use anyhow::Result;
use clap::Args;
use cluekit::Seed;
use cluekit::explainer::Split;
use cluekit::model::store::files::create_folder;
use cluekit_report::{global_text, group_picture};
use std::path::PathBuf;
use std::process::ExitCode;

/// Show what a fitted mapper changes, and how far that reaches on inputs it has never seen.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue glam show runs/mnist --out global          a picture for each pair of groups
  clue glam show runs/credit --method clusters    feature changes in the data's units

Every figure is a mean over uncertain test inputs of the group, with a 95 % interval from
resampling them.")]
pub struct ShowArgs {
    #[command(flatten)]
    run: RunArgs,
    /// The name of a fitted mapper.
    #[arg(long, value_name = "NAME", default_value = "glam")]
    method: String,
    /// Only mappers that lead from or to this class.
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,
    /// Where resampling is drawn from.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// A folder for pictures, global.json and global.txt.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cost: CostArgs,
    #[command(flatten)]
    constraints: ConstraintArgs,
}

/// Runs `clue glam show`.
pub fn run(args: ShowArgs, _quiet: bool) -> Result<ExitCode> {
    let explainer = args.constraints.open(&args.run)?;
    let fitted = explainer.load(&args.method)?;
    let chosen = explainer.leading(&fitted, &args.method, args.class.as_deref())?;
    if let Some(folder) = &args.out {
        create_folder(folder)?;
    }
    let search = explainer.judging(&args.cost.settings())?;
    tracing::info!("predicting {} test rows …", explainer.samples(Split::Test)?.len());
    let document = explainer.globals(&chosen, &args.method, &search, Seed(args.seed))?;
    if let Some(folder) = &args.out {
        let text = global_text(&document).into_bytes();
        let mut files = vec![("global.json".to_owned(), json(&document)?), ("global.txt".to_owned(), text)];
        for ((i, _), group) in chosen.iter().zip(&document.groups) {
            let picture = group_picture(group, explainer.known_schema()?, "test");
            files.extend(picture.map(|(picture, _)| (format!("group-{i}.svg"), picture.into())));
        }
        write_files(folder, &files)?;
    }
    print(args.json, &document, || global_text(&document))
}
