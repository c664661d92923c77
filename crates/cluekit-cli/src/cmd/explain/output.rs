//! What `clue explain` prints and writes.

use crate::remedy::remedy;
use crate::table::{json, table};
use anyhow::{Context, Result};
use clap::Args;
use cluekit::data::Schema;
use cluekit::explainer::{ExplanationSet, Extremes};
use cluekit::explanation::Explanation;
use cluekit::model::store::files::{create_folder, write_whole};
use cluekit_report::{SweepRow, change_list, export, frontier_plot, strip};
use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
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
    /// A folder for results as files: JSON, JSON lines, NumPy, Parquet, pictures or change lists.
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
            write_files(folder, document, schema)
                .with_context(|| format!("writing results into {}", folder.display()))?;
        }
        print(document, schema, self.json)?;
        Ok(if document.is_complete() { ExitCode::SUCCESS } else { ExitCode::from(3) })
    }
}

/// Clues shown in the picture of one input.
const MOST_PICTURED: usize = 100;

/// Prints the document: JSON, or text for people.
fn print(document: &ExplanationSet, schema: &Schema, as_json: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        out.write_all(&json(document)?)?;
        return Ok(());
    }
    if !document.sweep.is_empty() {
        out.write_all(sweep_table(document).as_bytes())?;
        writeln!(out)?;
    }
    out.write_all(text(document, schema).as_bytes())?;
    Ok(())
}

/// What people read of each input.
fn text(document: &ExplanationSet, schema: &Schema) -> String {
    let texts: Vec<String> =
        shown(document).iter().map(|explanation| change_list(explanation, schema, &remedy)).collect();
    texts.join("\n")
}

/// What is shown of a document: all clues, but of a sweep only those on the frontier, by rising distance.
fn shown(document: &ExplanationSet) -> Cow<'_, [Explanation]> {
    if document.sweep.is_empty() {
        return Cow::Borrowed(&document.explanations);
    }
    let frontier = |explanation: &Explanation| {
        let clues = explanation.frontier.iter().map(|&at| explanation.clues[at].clone()).collect();
        Explanation { clues, ..explanation.clone() }
    };
    Cow::Owned(document.explanations.iter().map(frontier).collect())
}

/// Writes every file of the results into `folder`, each whole or not at all.
fn write_files(folder: &Path, document: &ExplanationSet, schema: &Schema) -> Result<()> {
    let write = |name: &str, bytes: &[u8]| write_whole(&folder.join(name), bytes);
    let explanations = &document.explanations;
    write("explanations.json", &json(document)?)?;
    write("explanations.jsonl", &export::json_lines(explanations)?)?;
    write("clues.npz", &export::npz(explanations)?)?;
    write("clues.parquet", &export::parquet(explanations, schema)?)?;
    write("clues.txt", text(document, schema).as_bytes())?;
    if let Some(image) = &schema.image {
        let name = if document.sweep.is_empty() { "clues" } else { "frontier" };
        for explanation in shown(document).iter() {
            let picture = strip(explanation, image, schema.target.task.classes(), MOST_PICTURED);
            write(&format!("{name}-{}.svg", explanation.input.index), picture.as_bytes())?;
        }
    }
    if !document.sweep.is_empty() {
        let rows: Vec<SweepRow> = document
            .sweep
            .iter()
            .map(|row| SweepRow {
                delta: f64::from(row.delta),
                uncertainty: row.uncertainty.three(),
                distance: row.distance.three(),
            })
            .collect();
        write("sweep.svg", frontier_plot(&rows).as_bytes())?;
    }
    Ok(())
}

fn sweep_table(document: &ExplanationSet) -> String {
    let three = |spread: Extremes| spread.three().map(|value| format!("{value:.3}"));
    let rows: Vec<Vec<String>> = document
        .sweep
        .iter()
        .map(|row| {
            let mut cells = vec![format!("{:.3}", row.delta)];
            cells.extend(three(row.uncertainty));
            cells.extend(three(row.distance));
            cells.extend([format!("{:.3}", row.latent.mean), format!("{:.0}%", 100.0 * row.on_shell)]);
            cells.extend([format!("{:.1}", row.labels), format!("{:.0}%", 100.0 * row.accepted)]);
            cells
        })
        .collect();
    let headings =
        ["delta", "H least", "H mean", "H most", "d least", "d mean", "d most", "rho", "shell", "labels", "accepted"];
    table(&headings, &rows)
}
