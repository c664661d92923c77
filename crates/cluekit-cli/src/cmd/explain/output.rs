//! What `clue explain` prints and writes.

use crate::print::print;
use crate::remedy::remedy;
use anyhow::{Context, Result};
use clap::Args;
use cluekit::data::Schema;
use cluekit::explainer::ExplanationSet;
use cluekit::model::store::files::{create_folder, write_whole};
use cluekit_report::{each_explanations_file, explanations_text, sweep_table};
use std::path::PathBuf;
use std::process::ExitCode;

/// What becomes of the results.
#[derive(Args, Debug)]
pub struct ResultArgs {
    /// Where all randomness comes from.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Leave out the plausibility of clues, which looks at some training rows first.
    #[arg(long)]
    pub no_plausibility: bool,
    /// A folder for results as files: JSON, JSON lines, NumPy, Parquet, CSV, Excel, pictures or change lists.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub json: bool,
}

impl ResultArgs {
    /// Makes the folder of the results before any long work begins.
    pub fn open(&self) -> Result<()> {
        Ok(self.out.as_deref().map_or(Ok(()), create_folder)?)
    }

    /// Writes and prints the document; the exit code says whether every input has an accepted clue.
    pub fn deliver(&self, document: &ExplanationSet, schema: &Schema) -> Result<ExitCode> {
        if let Some(folder) = &self.out {
            each_explanations_file(document, schema, &remedy, &mut |name, bytes| {
                write_whole(&folder.join(name), &bytes)
            })
            .with_context(|| format!("writing results into {}", folder.display()))?;
        }
        let done = print(self.json, document, || {
            let sweep = &document.sweep;
            let table = if sweep.is_empty() { String::new() } else { sweep_table(sweep).text() + "\n" };
            table + &explanations_text(document, schema, &remedy)
        })?;
        Ok(if document.is_complete() { done } else { ExitCode::from(3) })
    }
}
