//! `clue data`: which datasets are known, what they are, and where they lie.

mod make;

use super::run::Place;
use anyhow::Result;
use clap::{Args, Subcommand};
use cluekit::data::DataDir;
use cluekit::data::catalogue::{self, Entry, Status};
use cluekit::data::fetch::{self, Progress};
use cluekit_report::{dataset_text, datasets_table};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use make::MakeArgs;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Datasets: which there are, what is in them, and how to get them.
#[derive(Args, Debug)]
pub struct DataArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: DataCommand,
}

/// What can be done with the catalogue.
#[derive(Subcommand, Debug)]
pub enum DataCommand {
    /// List the datasets that are known by name, and say which of them are on this machine.
    #[command(
        after_help = "Example:\n  clue data list\n\nYour own .csv, .parquet, .npy, .npz and .h5py files need no entry here: \
                            give their path to `clue train`."
    )]
    List {
        /// Where to look.
        #[command(flatten)]
        place: Place,
        /// Print one JSON document instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Show a dataset: what is in it, its licence, what to cite, and where its files come from.
    #[command(after_help = "Example:\n  clue data show mnist")]
    Show {
        /// The dataset's name, as `clue data list` shows it.
        name: String,
        /// Where to look.
        #[command(flatten)]
        place: Place,
        /// Print one JSON document instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Make a file of symbols: letters in many fonts, with everything that made them.
    Make(MakeArgs),
    /// Download the files of a dataset that are not there yet, check them, and print where they lie.
    #[command(after_help = "Examples:\n  clue data fetch mnist\n  clue data fetch mnist --data ~/datasets\n\n\
                            A download that was interrupted goes on where it stopped.")]
    Fetch {
        /// The dataset's name, as `clue data list` shows it.
        name: String,
        /// Where to put it.
        #[command(flatten)]
        place: Place,
    },
}

/// Runs `clue data …`.
pub fn run(args: DataArgs, quiet: bool) -> Result<ExitCode> {
    let how = |name: &str| format!("clue data fetch {name}");
    let text = match args.command {
        DataCommand::List { place, json } => {
            let directory = place.directory();
            let entries = catalogue::entries(&directory);
            let datasets: Vec<Status> = entries.into_iter().map(|entry| Status::of(entry, &directory)).collect();
            let folder = directory.path().display().to_string();
            match json {
                true => pretty(&serde_json::json!({ "directory": folder, "datasets": datasets }))?,
                false => format!("{}\ndata directory: {folder}\n", datasets_table(&datasets, &how).text()),
            }
        }
        DataCommand::Show { name, place, json } => {
            let directory = place.directory();
            let status = Status::of(catalogue::find(&name, &directory)?, &directory);
            if json { pretty(&status)? } else { dataset_text(&status, &how) }
        }
        DataCommand::Make(args) => line(make::run(&args)?),
        DataCommand::Fetch { name, place } => {
            let directory = place.directory();
            fetch(&catalogue::find(&name, &directory)?, &directory, quiet)?.iter().map(line).collect()
        }
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn pretty(document: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

fn line(path: impl AsRef<Path>) -> String {
    format!("{}\n", path.as_ref().display())
}

/// Downloads what is not there yet; returns where all files lie.
fn fetch(entry: &Entry, directory: &DataDir, quiet: bool) -> Result<Vec<PathBuf>> {
    if entry.files.is_empty() {
        tracing::info!("{0} is made from the seed, there is nothing to fetch: clue train {0} --out RUN", entry.name);
        return Ok(vec![]);
    }
    let mut bar = None;
    Ok(fetch::fetch(entry, directory, &mut |progress| {
        if !quiet {
            watch(&mut bar, progress);
        }
    })?)
}

/// Shows what happens on stderr; the bar is there while bytes come, and only on a terminal.
fn watch(bar: &mut Option<ProgressBar>, progress: Progress) {
    if let Progress::Received { file, bytes, total } = progress {
        let bar = bar.get_or_insert_with(|| new_bar(file));
        bar.set_length(total.unwrap_or(bytes));
        bar.set_position(bytes);
        return;
    }
    if let Some(bar) = bar.take() {
        bar.finish_and_clear();
    }
    if let Some(note) = progress.note() {
        tracing::info!("{note}");
    }
}

fn new_bar(file: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg}  {bar:30}  {bytes} of {total_bytes}  {bytes_per_sec}  {eta}");
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_message(file.to_owned());
    bar.with_style(style.expect("the template is valid"))
}
