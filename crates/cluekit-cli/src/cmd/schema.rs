//! `clue schema`: what the columns of a table mean, without training.

use super::meaning::MeaningArgs;
use super::reading::ReadingArgs;
use crate::print::print;
use anyhow::{Context, Result};
use clap::Args;
use cluekit::Seed;
use cluekit::data::source::table::describe;
use cluekit::data::{Request, RowRequest};
use cluekit::model::store::files::write_whole;
use std::path::PathBuf;
use std::process::ExitCode;

/// Say what the columns of a table mean, and why, as a schema.toml that can be edited.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue schema loans.csv --target default
  clue schema loans.csv --target default --drop client,branch --out schema.toml
  clue schema grades.csv --ordinal \"E<D<C<B<A\" --task classification

Each feature has its reason above it; what is left out, and what looks like a copy or like the
target itself, is said on stderr. `clue train FILE --schema schema.toml` reads the schema back;
without it, and with the same options, `clue train` infers the same.")]
pub struct SchemaArgs {
    /// The path of a table.
    file: PathBuf,
    /// The column to predict [default: the last one].
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// The column that identifies the rows; it is no feature [default: one that is recognised].
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// The column that says how much each row counts in training; it is no feature.
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    #[command(flatten)]
    meaning: MeaningArgs,
    /// Share of the rows that `clue train` keeps for testing; statistics come from the others.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    test_share: f64,
    /// Seed of the split.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,
    /// Write the schema into this file instead of printing it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON document with schema, reasons and notes.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// Runs `clue schema`.
pub fn run(args: SchemaArgs) -> Result<ExitCode> {
    let request = Request {
        target: args.target,
        test_share: args.test_share,
        seed: Seed(args.seed),
        stratified: true,
        reading: args.reading.reading(),
        rows: RowRequest { id: args.id, test: None, weight: args.weight },
        meaning: args.meaning.meaning(),
        ..Request::new(args.file.to_string_lossy())
    };
    let described = describe(&request)?;
    let text = described.to_toml()?;
    if !args.json {
        described.notes.iter().for_each(|note| tracing::info!("{note}"));
    }
    match &args.out {
        Some(path) => {
            write_whole(path, text.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
            if args.json { print(true, &described, String::new) } else { Ok(ExitCode::SUCCESS) }
        }
        None => print(args.json, &described, || text),
    }
}
