//! Datasets that another crate brings: letters that are drawn, files in a format of their own.

use super::catalogue::Entry;
use super::{DataDir, Dataset, Image, Request};
use crate::error::Result;
use std::fmt::Debug;
use std::path::Path;

/// Somebody who has datasets, or reads files, beyond what this crate does itself; see [`DataDir::with`].
pub trait Provider: Debug + Send + Sync {
    /// Whether a dataset of this name, or the file at this path, is one of its own.
    fn knows(&self, name: &str) -> bool;

    /// Reads or makes the dataset that `request` names.
    fn load(&self, request: &Request, directory: &DataDir) -> Result<Dataset>;

    /// The images of another file of its kind, encoded for a model of `image`s, row after row.
    fn read_rows(&self, path: &Path, image: &Image) -> Result<Vec<f32>>;

    /// What it adds to the catalogue.
    fn entries(&self) -> Vec<Entry>;

    /// The name in the catalogue of a dataset that has several.
    fn full_name<'a>(&self, name: &'a str) -> &'a str {
        name
    }
}
