//! A document of explanations for people and for other programs: its text, and its files.

use crate::tables::rejected_text;
use crate::{SweepRow, change_list, export, frontier_plot, strip};
use cluekit::data::Schema;
use cluekit::error::{Error, Remedy, Result};
use cluekit::explainer::ExplanationSet;
use cluekit::explanation::Explanation;
use std::borrow::Cow;

/// Clues shown in the picture of one input.
const MOST_PICTURED: usize = 100;

/// What people read of each input; `word` says how a remedy is written where this is read.
pub fn explanations_text(set: &ExplanationSet, schema: &Schema, word: &dyn Fn(&Remedy) -> String) -> String {
    let texts: Vec<String> = shown(set).iter().map(|explanation| change_list(explanation, schema, word)).collect();
    let rejected = rejected_text(&set.rejected);
    let between = if texts.is_empty() || rejected.is_empty() { "" } else { "\n" };
    texts.join("\n") + between + &rejected
}

/// Every file of the results by its name: JSON, JSON lines, NumPy, Parquet, CSV, Excel (of at most 16384 columns), text, and
/// pictures of images and of a sweep.
pub fn explanations_files(
    set: &ExplanationSet,
    schema: &Schema,
    word: &dyn Fn(&Remedy) -> String,
) -> Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    each_explanations_file(set, schema, word, &mut |name, bytes| {
        files.push((name.to_owned(), bytes));
        Ok(())
    })?;
    Ok(files)
}

/// The same files one after the other, so that only one of them is in memory beside the document.
pub fn each_explanations_file(
    set: &ExplanationSet,
    schema: &Schema,
    word: &dyn Fn(&Remedy) -> String,
    deliver: &mut dyn FnMut(&str, Vec<u8>) -> Result<()>,
) -> Result<()> {
    let explanations = &set.explanations;
    let mut json = serde_json::to_vec(set).map_err(|problem| Error::data(problem.to_string()))?;
    json.push(b'\n');
    deliver("explanations.json", json)?;
    deliver("explanations.jsonl", export::json_lines(explanations)?)?;
    deliver("clues.npz", export::npz(explanations)?)?;
    deliver("clues.parquet", export::parquet(explanations, &set.rejected, schema)?)?;
    let sheet = export::clue_sheet(explanations, &set.rejected, schema)?;
    deliver("clues.csv", export::csv(&sheet).into())?;
    if sheet.headings.len() <= export::MOST_COLUMNS {
        deliver("clues.xlsx", export::xlsx(&sheet)?)?;
    }
    drop(sheet);
    deliver("clues.txt", explanations_text(set, schema, word).into())?;
    each_picture(set, schema, deliver)
}

/// Pictures of images and of a sweep.
fn each_picture(
    set: &ExplanationSet,
    schema: &Schema,
    deliver: &mut dyn FnMut(&str, Vec<u8>) -> Result<()>,
) -> Result<()> {
    if let Some(image) = &schema.image {
        let name = if set.sweep.is_empty() { "clues" } else { "frontier" };
        for explanation in shown(set).iter() {
            let picture = strip(explanation, image, schema.target.task.classes(), MOST_PICTURED);
            deliver(&format!("{name}-{}.svg", explanation.input.index), picture.into())?;
        }
    }
    if set.sweep.is_empty() {
        return Ok(());
    }
    let rows: Vec<SweepRow> = set
        .sweep
        .iter()
        .map(|row| SweepRow {
            delta: f64::from(row.delta),
            uncertainty: row.uncertainty.three(),
            distance: row.distance.three(),
        })
        .collect();
    deliver("sweep.svg", frontier_plot(&rows).into())
}

/// What is shown of a document: all clues, but of a sweep only those on the frontier, by rising distance.
fn shown(set: &ExplanationSet) -> Cow<'_, [Explanation]> {
    if set.sweep.is_empty() {
        return Cow::Borrowed(&set.explanations);
    }
    let frontier = |explanation: &Explanation| {
        let clues = explanation.frontier.iter().map(|&at| explanation.clues[at].clone()).collect();
        Explanation { clues, ..explanation.clone() }
    };
    Cow::Owned(set.explanations.iter().map(frontier).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::Seed;
    use cluekit::audit::fixture::{client, table};
    use cluekit::data::Constraints;
    use cluekit::search::Search;

    #[test]
    fn a_table_has_every_file_but_pictures() {
        let set = ExplanationSet {
            format: 1,
            method: "clue".into(),
            seed: Seed(0),
            settings: Search::clue(),
            constraints: Constraints::default(),
            sweep: vec![],
            explanations: vec![client()],
            rejected: vec![],
        };
        let word = |remedy: &Remedy| remedy.to_string();
        let files = explanations_files(&set, &table(), &word).unwrap();
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        let tables = ["clues.npz", "clues.parquet", "clues.csv", "clues.xlsx", "clues.txt"];
        assert_eq!(names, [&["explanations.json", "explanations.jsonl"], &tables[..]].concat());
        assert!(files[0].1.ends_with(b"\n") && files[6].1 == explanations_text(&set, &table(), &word).into_bytes());
    }
}
