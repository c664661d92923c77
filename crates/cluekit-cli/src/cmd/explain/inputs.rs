//! Which inputs `clue explain` explains.

use crate::cmd::rank::most_uncertain;
use crate::cmd::run::{Run, Split};
use anyhow::{Result, bail, ensure};
use clap::Args;
use cluekit::data::{DataDir, Dataset, Samples, Targets, read_rows};
use cluekit::prediction::{Prediction, predict};
use cluekit::search::Inputs;
use cluekit::uncertainty::Uncertainty;
use std::path::PathBuf;

/// How many inputs are explained when nothing is said.
const TOP: usize = 8;

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
    /// Rows of another file: CSV, TSV or Parquet for a table, .npy or .npz for images.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["split", "class"])]
    file: Option<PathBuf>,
    /// Which rows of the run's data to choose from.
    #[arg(long, value_enum, default_value = "test")]
    split: Split,
}

impl InputArgs {
    /// The inputs of a split above an uncertainty, at most so many.
    pub fn above(above: f32, top: Option<usize>, split: Split) -> Self {
        Self { inputs: vec![], top, above: Some(above), class: None, file: None, split }
    }

    /// Whether the inputs come from a file of their own.
    pub fn are_from_a_file(&self) -> bool {
        self.file.is_some()
    }

    /// The inputs that were asked for, the most uncertain first unless rows were named.
    pub fn choose(&self, run: &Run, dataset: Option<&Dataset>, directory: &DataDir, by: Uncertainty) -> Result<Inputs> {
        let task = &run.schema.target.task;
        if self.top == Some(0) {
            bail!(cluekit::Error::setting("top", "is 0; ask for at least one input"));
        }
        if let Some(file) = &self.file {
            let width = run.schema.width();
            let x = read_rows(file, &run.schema, directory)?;
            let samples = Samples { y: Targets::Classes(vec![0; x.len() / width]), x, width };
            let all = Inputs::new(samples.x.clone(), width)?;
            if self.top.is_none() && self.above.is_none() {
                return Ok(all);
            }
            let chosen = self.ranked(&predict(&run.predictor, &samples, task)?, None, by);
            ensure!(!chosen.is_empty(), "no row of {} is left; lower --above", file.display());
            return Ok(all.select(&chosen));
        }
        let dataset = dataset.expect("the rows of a split come from the run's data");
        let samples = self.split.within(run, dataset.clone())?;
        if !self.inputs.is_empty() {
            return Ok(Inputs::of(&samples, &self.inputs, task)?);
        }
        tracing::info!("ranking {} inputs by uncertainty …", samples.len());
        let class = self.class.as_deref().map(|name| class_named(name, task.classes())).transpose()?;
        let of_class = class.map(|class| match &samples.y {
            Targets::Classes(labels) => labels.iter().map(|&label| label as usize == class).collect(),
            Targets::Values(values) => vec![false; values.len()],
        });
        let chosen = self.ranked(&predict(&run.predictor, &samples, task)?, of_class.as_deref(), by);
        let of_class = self.class.as_ref().map_or(String::new(), |class| format!(" of class `{class}`"));
        let above = self.above.map_or(String::new(), |above| format!(" with an uncertainty above {above}"));
        ensure!(!chosen.is_empty(), "there is no input{of_class}{above}; ask for less");
        Ok(Inputs::of(&samples, &chosen, task)?)
    }

    fn ranked(&self, predictions: &[Prediction], allowed: Option<&[bool]>, by: Uncertainty) -> Vec<usize> {
        let fits = |i: &usize| {
            allowed.is_none_or(|allowed| allowed[*i])
                && self.above.is_none_or(|above| predictions[*i].uncertainty.get(by) > above)
        };
        let filtered = self.above.is_some() || self.class.is_some();
        let top = self.top.unwrap_or(if filtered { usize::MAX } else { TOP });
        most_uncertain(predictions, by, predictions.len()).into_iter().filter(fits).take(top).collect()
    }
}

/// The position of a class by its name.
pub fn class_named(name: &str, classes: &[String]) -> Result<usize> {
    match classes.iter().position(|class| class == name) {
        Some(class) => Ok(class),
        None if classes.is_empty() => bail!(cluekit::Error::setting("class", "a regression has no classes")),
        None => bail!(cluekit::Error::setting(
            "class",
            format!("there is no class `{name}`; the classes are {}", classes.join(", "))
        )),
    }
}
