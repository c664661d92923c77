//! Where data comes from: one file a source, all behind one function, [`load`].

pub mod arrays;
pub mod credit;
pub mod mnist;
pub mod moons;
pub mod table;

use super::{Dataset, Schema};
use crate::data::DataDir;
use crate::error::{Error, Result};
use crate::seed::Seed;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Which dataset, and how to read it. Saved in `run.toml`, so that a run finds its data again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// `mnist`, `credit`, `moons`, or the path of a `.csv`, `.parquet`, `.npy` or `.npz` file.
    pub name: String,
    /// The column to predict in a table; the key of the labels in an `.npz`; the file of the labels beside an `.npy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Share of the rows kept for testing where the dataset has no split of its own.
    pub test_share: f64,
    /// Seed of the split, and of datasets that are made.
    pub seed: Seed,
}

impl Request {
    /// The dataset called `name` with everything else at its default.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), target: None, test_share: 0.1, seed: Seed(0) }
    }
}

/// Reads, or makes, the dataset that `request` names.
///
/// `schema` overrides what would be inferred from a user's file: kinds, categories, scaling, units, classes.
pub fn load(request: &Request, schema: Option<&Schema>, directory: &DataDir) -> Result<Dataset> {
    match request.name.as_str() {
        "mnist" => mnist::load(&directory.path_of("mnist")),
        "credit" => credit::load(&directory.path_of("uci_default_credit"), request.seed),
        "moons" => Ok(moons::make(request.seed)),
        name => {
            let path = Path::new(name);
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
            match extension.as_str() {
                "csv" | "tsv" | "gz" | "parquet" => table::load(path, request, schema),
                "npy" | "npz" => arrays::load(path, request),
                _ => Err(Error::data(format!(
                    "no dataset is called `{name}`; choose mnist, credit or moons, or give the path of a .csv, \
                     .parquet, .npy or .npz file"
                ))),
            }
        }
    }
}
