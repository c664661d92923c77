//! Which inputs `clue explain` explains.

use crate::config::one_of;
use anyhow::{Context, Result};
use clap::Args;
use cluekit::data::{DataDir, read_rows};
use cluekit::explainer::{Explainer, Selection, Split};
use cluekit::search::Inputs;
use cluekit::uncertainty::Uncertainty;
use std::path::PathBuf;

/// The choice of inputs.
#[derive(Args, Debug)]
#[command(next_help_heading = "Inputs")]
pub struct InputArgs {
    /// Rows of the split, counted from 0, separated by commas.
    #[arg(long, value_name = "ROWS", value_delimiter = ',', conflicts_with_all = ["top", "above", "class", "file"])]
    inputs: Vec<usize>,
    /// The N most uncertain inputs [default: 8, or all that --above and --class leave].
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Only inputs whose uncertainty exceeds this.
    #[arg(long, value_name = "H")]
    above: Option<f32>,
    /// Only inputs whose true class is this one, by its name.
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// Rows of another file, read as that of the run: a table, or images as arrays or PNG files.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["split", "class"])]
    file: Option<PathBuf>,
    /// Which rows of the run's data to choose from.
    #[arg(long, default_value_t, value_parser = one_of::<Split>(Split::ALL.map(Split::name)))]
    split: Split,
}

impl InputArgs {
    /// The inputs that were asked for, the most uncertain first unless rows were named.
    pub fn choose(&self, explainer: &Explainer, directory: &DataDir, by: Uncertainty) -> Result<Inputs> {
        let Self { top, above, split, .. } = *self;
        let selection = Selection { inputs: self.inputs.clone(), top, above, class: self.class.clone(), split };
        let Some(file) = &self.file else { return Ok(explainer.choose(&selection, by)?) };
        let reading = explainer.run().map(|run| run.record.dataset.reading.clone()).unwrap_or_default();
        let rows = read_rows(file, explainer.known_schema()?, &reading, directory)?;
        explainer.choose_among(rows, &selection, by).with_context(|| format!("choosing rows of {}", file.display()))
    }
}
