//! `mappers/` of a run folder: one file for each fitted mapper, `<name>.safetensors`.
//!
//! Its arrays are parameters; a JSON text in its header says what they mean and which models they belong to.

use super::files::create_folder;
use super::weights::{Arrays, write_weights_with_note};
use crate::error::{Error, Remedy, Result};
use crate::model::parameters::Parameters;
use std::fs;
use std::path::PathBuf;

/// The longest name of a mapper.
const LONGEST_NAME: usize = 64;

/// The folder of all mappers of a run.
#[derive(Clone, Debug)]
pub struct MapperFolder {
    folder: PathBuf,
}

impl MapperFolder {
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// An error if `name` would not be a file name on every system.
    pub fn check_name(name: &str) -> Result<()> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(allowed) {
            true => Ok(()),
            false => Err(Error::setting(
                "name",
                format!("`{name}` cannot name a mapper; use at most {LONGEST_NAME} letters, digits, - and _"),
            )),
        }
    }

    /// Writes the mapper called `name`, replacing an earlier one.
    pub fn write(&self, name: &str, parameters: &Parameters, note: &str) -> Result<()> {
        Self::check_name(name)?;
        create_folder(&self.folder)?;
        write_weights_with_note(&self.path(name), parameters, Some(note))
    }

    /// The arrays of the mapper called `name`, and the text beside them.
    pub fn read(&self, name: &str) -> Result<(Arrays, String)> {
        Self::check_name(name)?;
        let path = self.path(name);
        if !path.exists() {
            let fitted = self.names()?;
            let there = if fitted.is_empty() { "none is".into() } else { format!("there are {}", fitted.join(", ")) };
            return Err(Error::missing(path, format!("is not there ({there})")).remedy(Remedy::Fit));
        }
        let arrays = Arrays::read(&path)?;
        match arrays.note().map(str::to_owned) {
            Some(note) => Ok((arrays, note)),
            None => Err(Error::file(path, "says nothing of its mapper; fit it again")),
        }
    }

    /// Path of the mapper called `name`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.safetensors"))
    }

    /// The names of all mappers, in alphabetical order.
    pub fn names(&self) -> Result<Vec<String>> {
        if !self.folder.exists() {
            return Ok(vec![]);
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(Error::reading(&self.folder))? {
            let path = entry.map_err(Error::reading(&self.folder))?.path();
            if path.extension().is_some_and(|extension| extension == "safetensors") {
                names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
            }
        }
        names.sort();
        Ok(names)
    }
}
