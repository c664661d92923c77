//! Naming a run, and the rows of its data.

use anyhow::Result;
use cluekit::data::DataDir;
use cluekit::explainer::Explainer;
use cluekit_synbols::Symbols;
use std::path::{Path, PathBuf};

/// Where a run and its data are.
#[derive(clap::Args, Debug)]
pub struct RunArgs {
    /// The run folder that `clue train` made.
    pub run: PathBuf,
    /// The folder that holds the datasets [default: $CLUE_DATA, or the user's cache directory].
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

impl RunArgs {
    /// The opened run.
    pub fn explainer(&self) -> Result<Explainer> {
        Ok(Explainer::open(&self.run, &self.directory())?)
    }

    /// Where data lie.
    pub fn directory(&self) -> DataDir {
        data_directory(self.data.as_deref())
    }
}

/// Where data lie: the folder that was given, or the usual one; symbols are drawn.
pub fn data_directory(given: Option<&Path>) -> DataDir {
    DataDir::locate(given).with(Symbols)
}
