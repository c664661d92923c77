//! Which inputs `clue explain` explains.

use crate::cmd::run::{Rows, with_file};
use crate::config::one_of;
use anyhow::{Context, Result};
use clap::Args;
use cluekit::data::{DataDir, RejectedRow};
use cluekit::explainer::{Explainer, Selection, Split};
use cluekit::search::Inputs;
use cluekit::uncertainty::Uncertainty;
use std::path::PathBuf;

/// The choice of inputs.
#[derive(Args, Debug)]
#[command(next_help_heading = "Inputs")]
pub struct InputArgs {
    /// Rows of the split or of --file, counted from 0, separated by commas.
    #[arg(long, value_name = "ROWS", value_delimiter = ',', conflicts_with_all = ["top", "above", "class"])]
    inputs: Vec<usize>,
    /// Rows of the split or of --file by their identifiers, separated by commas.
    #[arg(long, value_name = "IDS", value_delimiter = ',', conflicts_with_all = ["inputs", "top", "above", "class"])]
    ids: Vec<String>,
    /// The N most uncertain inputs [default: 8, or all that --above and --class leave; of --file all].
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Only inputs whose uncertainty exceeds this.
    #[arg(long, value_name = "H")]
    above: Option<f32>,
    /// Only inputs whose true class is this one, by its name.
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// Rows of another file, read as that of the run: a table, or images as arrays or PNG files.
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    file: Option<PathBuf>,
    /// Which rows of the run's data to choose from.
    #[arg(long, default_value_t, value_parser = one_of::<Split>(Split::ALL.map(Split::name)))]
    split: Split,
}

/// A condition on the inputs.
#[derive(Args, Debug)]
#[command(next_help_heading = "Inputs")]
pub struct ConditionArgs {
    /// For tables: only inputs that satisfy this, such as "AGE < 30 and SEX = 2".
    #[arg(long = "where", value_name = "CONDITION", conflicts_with_all = ["inputs", "ids"])]
    pub condition: Option<String>,
}

impl InputArgs {
    /// The explainer, which looks at the rows of `--file` if there is one.
    pub fn over(&self, explainer: Explainer, directory: &DataDir) -> Result<Explainer> {
        with_file(explainer, self.file.as_deref(), Rows::Readable, directory)
    }

    /// The inputs that were asked for, the most uncertain first unless rows were named, and the rows that cannot be.
    pub fn choose(
        &self,
        explainer: &Explainer,
        condition: Option<&str>,
        by: Uncertainty,
    ) -> Result<(Inputs, Vec<RejectedRow>)> {
        let Self { inputs, ids, top, above, class, split, .. } = self;
        let (inputs, ids, class) = (inputs.clone(), ids.clone(), class.clone());
        let condition = condition.map(str::to_owned);
        let selection = Selection { inputs, ids, top: *top, above: *above, class, condition, split: *split };
        let chosen = explainer.choose_feasible(&selection, by);
        match &self.file {
            Some(file) => chosen.with_context(|| format!("choosing rows of {}", file.display())),
            None => Ok(chosen?),
        }
    }
}
