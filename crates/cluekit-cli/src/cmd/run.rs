//! Opening a run: its schema, its models, and the data it was made from.

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use cluekit::data::{self, DataDir, Dataset, Samples, Schema};
use cluekit::model::pipeline::validation_split;
use cluekit::model::stacked::Stacked;
use cluekit::model::store::run::{Record, RunFolder};
use std::path::{Path, PathBuf};

/// A run that is finished.
pub struct Run {
    /// Where it lies.
    pub folder: RunFolder,
    /// What `run.toml` says.
    pub record: Record,
    /// What the columns mean.
    pub schema: Schema,
    /// The model whose uncertainty is to be explained.
    pub predictor: Stacked,
}

/// Where a run and its data are.
#[derive(clap::Args, Debug)]
pub struct RunArgs {
    /// The run folder that `clue train` made.
    pub run: PathBuf,
    /// The folder that holds the datasets [default: $CLUE_DATA, or the user's cache directory].
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
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

impl Run {
    /// Opens the run, checking every file.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = RunFolder::at(path);
        let record = folder.record()?;
        if !folder.has_predictor() {
            bail!(
                "{} has no predictor yet: its training did not end; go on with `clue train … --out {} --resume`",
                path.display(),
                path.display()
            );
        }
        let schema = folder.schema()?;
        let predictor = folder.predictor(&schema)?;
        Ok(Self { folder, record, schema, predictor })
    }

    /// The data that the run was made from, checked against the hashes in `run.toml`.
    pub fn dataset(&self, directory: Option<&Path>) -> Result<Dataset> {
        let directory = DataDir::locate(directory);
        let dataset = data::load(&self.record.dataset, Some(&self.schema), &directory)
            .with_context(|| format!("reading the data of {}", self.folder.path().display()))?;
        if !self.record.sources.is_empty() && self.record.sources.len() != dataset.sources.len() {
            let (then, now) = (self.record.sources.len(), dataset.sources.len());
            bail!("{} was made from {then} files, and now there are {now}; train again", self.folder.path().display());
        }
        for (then, now) in self.record.sources.iter().zip(&dataset.sources) {
            if then.sha256 != now.sha256 {
                bail!(
                    "{} has changed since {} was made (SHA-256 {}, then {}); restore it or train again",
                    now.file,
                    self.folder.path().display(),
                    now.sha256,
                    then.sha256
                );
            }
        }
        Ok(dataset)
    }
}

impl Split {
    /// The rows of this split in a run.
    pub fn of(self, run: &Run, directory: Option<&Path>) -> Result<Samples> {
        self.within(run, run.dataset(directory)?)
    }

    /// The rows of this split in a run whose dataset has been read.
    pub fn within(self, run: &Run, dataset: Dataset) -> Result<Samples> {
        let share = run.record.plan.as_ref().map_or(0.0, |plan| plan.validation_share);
        let samples = match self {
            Self::Test => dataset.test,
            Self::Validation => validation_split(&dataset.train, share, run.record.seed)?.1,
            Self::Train => dataset.train,
        };
        ensure!(!samples.is_empty(), "{} has no {self:?} rows", run.folder.path().display());
        Ok(samples)
    }
}
