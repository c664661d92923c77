//! Datasets that another crate brings: letters that are drawn, files in a format of their own.

use super::catalogue::Entry;
use super::{DataDir, Dataset, Image, Request};
use crate::error::Result;
use std::fmt::Debug;
use std::path::Path;

/// A source of datasets, or a reader of files, beyond those of this crate; see [`DataDir::with`].
pub trait Provider: Debug + Send + Sync {
    /// Whether the dataset called `name`, or the file at this path, belongs to the provider.
    fn knows(&self, name: &str) -> bool;

    /// Reads or makes the dataset that `request` names.
    fn load(&self, request: &Request, directory: &DataDir) -> Result<Dataset>;

    /// Images of another file of the provider's kind, encoded for a model of `image`s, row after row.
    fn read_rows(&self, path: &Path, image: &Image) -> Result<Vec<f32>>;

    /// Entries that the provider adds to the catalogue.
    fn entries(&self) -> Vec<Entry>;

    /// Name in the catalogue of a dataset that has several names.
    fn full_name<'a>(&self, name: &'a str) -> &'a str {
        name
    }
}
