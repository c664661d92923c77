//! Options that say what the data are and how they are read.

use super::meaning::MeaningArgs;
use super::reading::ReadingArgs;
use anyhow::{Result, bail};
use clap::Args;
use cluekit::Seed;
use cluekit::data::{self, DataDir, Dataset, Reading, Request, RowRequest, Schema};
use std::path::{Path, PathBuf};

/// A dataset beside its name.
#[derive(Args, Debug)]
pub struct DatasetArgs {
    /// The column to predict in a table; the labels of an array file; the attribute of symbols (char or font).
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// The column that identifies the rows of a table; it is no feature [default: one that is recognised].
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// The column that says how much each row counts in training; it is no feature.
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// A file with the rows to test on, with the same columns, instead of a share of the rows.
    #[arg(long, value_name = "FILE", conflicts_with = "test_share")]
    test: Option<String>,
    /// Which split of symbols: random, stratified_char (letters apart) or stratified_font (fonts apart).
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// What the columns mean, instead of inferring it: the schema.toml of another run, edited.
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    #[command(flatten)]
    meaning: MeaningArgs,
    /// Share of the rows kept for testing where the dataset has no split of its own.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    test_share: f64,
    /// Where all randomness comes from.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,
    #[command(flatten)]
    reading: ReadingArgs,
}

impl DatasetArgs {
    /// The seed of the split and of training.
    pub fn seed(&self) -> Seed {
        Seed(self.seed)
    }

    /// How files are read.
    pub fn reading(&self) -> Reading {
        self.reading.reading()
    }

    /// What is asked for of the dataset called `name`.
    fn request(&self, name: &str) -> Request {
        Request {
            name: name.into(),
            target: self.target.clone(),
            split: self.split.clone(),
            test_share: self.test_share,
            seed: self.seed(),
            stratified: data::is_table(name),
            reading: self.reading.reading(),
            rows: RowRequest { id: self.id.clone(), test: self.test.clone(), weight: self.weight.clone() },
            meaning: self.meaning.meaning(),
        }
    }

    /// The same as a run in the folder `run` keeps it, with what was found out when the dataset was read.
    pub fn kept(&self, name: &str, dataset: &Dataset, run: &Path, directory: &DataDir) -> Request {
        let mut request = self.request(name).kept_in(run, directory);
        request.rows.id = dataset.names.id.clone();
        request.reading.decimal_comma |= dataset.names.decimal_comma;
        request
    }

    /// The dataset called `name`, under a schema if there is one; its notes are said.
    pub fn read(&self, name: &str, schema: Option<&Schema>, directory: &DataDir) -> Result<Dataset> {
        let meaning = self.meaning.meaning();
        if let (Some(schema), false) = (&self.schema, meaning.is_empty()) {
            bail!(
                "{} says what the columns mean; change it there, or leave --drop, --task and --ordinal out",
                schema.display()
            );
        }
        if !meaning.is_empty() && !data::is_table(name) {
            bail!("--drop, --task and --ordinal are for a table of your own; `{name}` is none");
        }
        let dataset = data::load(&self.request(name), schema, directory)?;
        let names = self.reading.reading().class_names;
        if !names.is_empty() && names.iter().map(|name| name.trim()).ne(dataset.schema.target.task.classes()) {
            bail!("--class-names is for images whose labels are numbers; `{name}` has classes of its own");
        }
        for note in &dataset.notes {
            tracing::info!("{note}");
        }
        Ok(dataset)
    }
}
