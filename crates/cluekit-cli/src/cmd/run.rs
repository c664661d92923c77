//! Naming a run, and the rows of its data.

use anyhow::{Result, ensure};
use clap::ValueEnum;
use cluekit::data::{DataDir, Dataset, Samples};
use cluekit::model::pipeline::validation_split;
pub use cluekit::studio::{Run, Studio};
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

/// Where data lie: the folder that was given, or the usual one; symbols are drawn.
pub fn data_directory(given: Option<&Path>) -> DataDir {
    DataDir::locate(given).with(Symbols)
}

/// The rows of a dataset to look at.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Split {
    /// Rows that nothing was learned from.
    Test,
    /// Rows that training was watched on, and that settings are chosen on.
    Validation,
    /// Rows that the models learned from, the validation rows among them.
    Train,
}

impl RunArgs {
    /// The opened run with its data.
    pub fn studio(&self) -> Result<Studio> {
        Ok(Studio::open(&self.run, &self.directory())?)
    }

    /// Where data lie.
    pub fn directory(&self) -> DataDir {
        data_directory(self.data.as_deref())
    }
}

impl Split {
    /// The rows of this split in a run.
    pub fn of(self, run: &Run, directory: &DataDir) -> Result<Samples> {
        self.within(run, run.dataset(directory)?)
    }

    /// The rows of this split in a run whose dataset has been read.
    pub fn within(self, run: &Run, dataset: Dataset) -> Result<Samples> {
        let samples = match self {
            Self::Test => dataset.test,
            Self::Validation => validation_split(&dataset.train, run.validation_share(), run.record.seed)?.1,
            Self::Train => dataset.train,
        };
        ensure!(!samples.is_empty(), "{} has no {self:?} rows", run.folder.path().display());
        Ok(samples)
    }
}
