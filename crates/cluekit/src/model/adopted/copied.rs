//! Copies the files of a model from elsewhere into a run folder, with all that belongs to them.
//!
//! A model file names others, such as its weights, as seen from its own folder. So what lies in one folder stays together:
//! the files of the first folder lie in `predictor/`, those of the second in `predictor/1/`, and so on.

use super::{AdoptedGenerative, ModelReader};
use crate::error::{Error, Result};
use crate::model::store::run::RunFolder;
use std::path::{Path, PathBuf};

/// Copies the files of a predictor into a run, and returns their paths below it.
pub(crate) fn copy_predictor(folder: &RunFolder, files: &[String], parts: &[Vec<PathBuf>]) -> Result<Vec<String>> {
    let home_of = |file: &String| Path::new(file).parent().unwrap_or(Path::new("")).to_owned();
    let mut homes: Vec<PathBuf> = vec![];
    let mut copied = Vec::with_capacity(files.len());
    for (file, parts) in files.iter().zip(parts) {
        let home = home_of(file);
        let at = homes.iter().position(|other| *other == home).unwrap_or_else(|| {
            homes.push(home.clone());
            homes.len() - 1
        });
        let below = if at == 0 { String::new() } else { format!("{at}/") };
        copied.push(copy(folder, "predictor", &below, &home, parts)?);
    }
    Ok(copied)
}

/// Copies encoder and decoder into a run, and returns what the run records.
pub fn adopt_generative(folder: &RunFolder, reader: &dyn ModelReader, files: [&Path; 2]) -> Result<AdoptedGenerative> {
    let copied = |file: &Path, below: &str| {
        let home = file.parent().unwrap_or(Path::new(""));
        copy(folder, "generative", below, home, &reader.describe(file)?.parts)
    };
    let [encoder, decoder] = files;
    Ok(AdoptedGenerative { encoder: copied(encoder, "encoder/")?, decoder: copied(decoder, "decoder/")? })
}

/// Copies a model file and what belongs to it from `home` to `model/below`, and returns where the file itself lies.
fn copy(folder: &RunFolder, model: &str, below: &str, home: &Path, parts: &[PathBuf]) -> Result<String> {
    let named = |part: &PathBuf| format!("{below}{}", part.to_string_lossy().replace('\\', "/"));
    for part in parts {
        folder.adopt(model, &named(part), &home.join(part))?;
    }
    let file = parts.first().ok_or_else(|| Error::data("a model without a file cannot be copied"))?;
    Ok(format!("{model}/{}", named(file)))
}
