//! What goes to stdout and into folders: text for people, or one JSON document.

use anyhow::{Context, Result};
use cluekit::model::store::files::write_whole;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// A document as one line of JSON, whole before any of it is written.
pub fn json(document: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(document)?;
    line.push(b'\n');
    Ok(line)
}

/// Prints what a command found, as JSON or as text for people, and ends it.
pub fn print(as_json: bool, document: &impl Serialize, text: impl FnOnce() -> String) -> Result<ExitCode> {
    let bytes = if as_json { json(document)? } else { text().into_bytes() };
    std::io::stdout().lock().write_all(&bytes)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes files of results into a folder, each whole or not at all.
pub fn write_files(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
    let write = |(name, bytes): &(String, Vec<u8>)| write_whole(&folder.join(name), bytes);
    files.iter().try_for_each(write).with_context(|| format!("writing results into {}", folder.display()))
}
