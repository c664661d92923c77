//! Datasets in words: what they are, and where they lie.

use crate::TextTable;
use cluekit::data::catalogue::{RemoteFile, Status};

/// Datasets with their size and their place; `fetch` says how to get one that is not here.
pub fn datasets_table(datasets: &[Status], fetch: &dyn Fn(&str) -> String) -> TextTable {
    let row = |status: &Status| {
        let entry = &status.entry;
        vec![entry.name.clone(), entry.title.clone(), entry.rows.to_string(), place(status, fetch)]
    };
    TextTable::new(&["name", "title", "rows", "where"], datasets.iter().map(row).collect())
}

/// All that is known about a dataset: what is in it, its licence, what to cite, and its files.
pub fn dataset_text(status: &Status, fetch: &dyn Fn(&str) -> String) -> String {
    let entry = &status.entry;
    let files = entry.files.iter().zip(&status.found).map(|(file, found)| file_text(file, found.as_deref()));
    format!(
        "{} ({})\n\n{}\n\nrows      {}\nlicence   {}\ncite      {}\nwhere     {}\n{}",
        entry.title,
        entry.name,
        entry.summary,
        entry.rows,
        entry.licence,
        entry.citation,
        place(status, fetch),
        files.collect::<String>()
    )
}

/// Where it is, or how to get it.
fn place(status: &Status, fetch: &dyn Fn(&str) -> String) -> String {
    match &status.path {
        None => "made from the seed".into(),
        Some(path) if status.present => path.clone(),
        Some(_) => format!("not here: {}", fetch(&status.entry.name)),
    }
}

fn file_text(file: &RemoteFile, found: Option<&str>) -> String {
    let bytes = file.bytes.map_or_else(|| "not known".into(), |bytes| bytes.to_string());
    let unknown = "not known: a download is checked for its format only";
    let mirrors: String = file.mirrors.iter().map(|mirror| format!("  from    {mirror}\n")).collect();
    format!(
        "\n{}\n  here    {}\n  bytes   {bytes}\n  sha256  {}\n{mirrors}",
        file.name,
        found.unwrap_or("no"),
        file.sha256.as_deref().unwrap_or(unknown)
    )
}
