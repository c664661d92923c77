//! Naming a run, and where data lie.

use anyhow::Result;
use cluekit::data::DataDir;
use cluekit::explainer::Explainer;
use cluekit_synbols::Symbols;
use std::path::PathBuf;

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
    /// The run folder that `clue train` made.
    pub run: PathBuf,
    #[command(flatten)]
    pub place: Place,
}

impl RunArgs {
    /// The opened run.
    pub fn explainer(&self) -> Result<Explainer> {
        Ok(Explainer::open(&self.run, &self.place.directory())?)
    }
}
