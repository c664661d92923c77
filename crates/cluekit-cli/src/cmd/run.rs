//! Naming a run, and where data lie.

use anyhow::Result;
use cluekit::data::{DataDir, read_file};
use cluekit::explainer::Explainer;
use cluekit_onnx::Onnx;
use cluekit_synbols::Symbols;
use std::path::{Path, PathBuf};

/// The data directory.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Place {
    /// The folder that holds the datasets [default: $CLUE_DATA, or the user's cache directory].
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

impl Place {
    /// Where data lie: the folder that was given, or the usual one; symbols are drawn.
    pub fn directory(&self) -> DataDir {
        DataDir::locate(self.data.as_deref()).with(Symbols)
    }
}

/// Where a run and its data are.
#[derive(clap::Args, Debug)]
pub struct RunArgs {
    /// The run folder that `clue train` or `clue adopt` made.
    pub run: PathBuf,
    #[command(flatten)]
    pub place: Place,
}

impl RunArgs {
    /// The opened run.
    pub fn explainer(&self) -> Result<Explainer> {
        open(&self.run, &self.place.directory())
    }
}

/// Opens a run, whoever made its models.
pub fn open(run: &Path, directory: &DataDir) -> Result<Explainer> {
    Ok(Explainer::open_with(run, directory, &Onnx)?)
}

/// Which rows of a file are looked at; the others are left out, each with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Those that can be read.
    Readable,
    /// Those that can be read and have a target.
    WithTargets,
}

/// The explainer with the rows of a file in the place of its test rows, if there is a file.
pub fn with_file(explainer: Explainer, file: Option<&Path>, rows: Rows, directory: &DataDir) -> Result<Explainer> {
    let Some(path) = file else { return Ok(explainer) };
    let id = explainer.run().and_then(|run| run.record.dataset.rows.id.as_deref());
    let reading = explainer.run().map(|run| run.record.dataset.reading.clone()).unwrap_or_default();
    let file = read_file(path, explainer.known_schema()?, id, rows == Rows::WithTargets, &reading, directory)?;
    if !file.rejected.is_empty() {
        tracing::info!("{} of {} rows are left out", file.rejected.len(), file.rejected.len() + file.positions.len());
    }
    Ok(explainer.with_file(file))
}
