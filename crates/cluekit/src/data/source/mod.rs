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

/// The inputs of another file encoded under `schema`, row after row of [`Schema::width`] numbers; no target is needed.
pub fn read_rows(path: &Path, schema: &Schema) -> Result<Vec<f32>> {
    match &schema.image {
        Some(image) => arrays::read_rows(path, image),
        None => table::read_rows(path, schema),
    }
}

/// Reads, or makes, the dataset that `request` names.
///
/// `schema` overrides what would be inferred from a user's table: kinds, categories, scaling, units, classes. The
/// columns of other datasets mean what they mean; there it may only name units and constraints.
pub fn load(request: &Request, schema: Option<&Schema>, directory: &DataDir) -> Result<Dataset> {
    let built_in = |dataset: Dataset| match schema {
        _ if request.target.is_some() && !request.name.contains('.') => Err(Error::setting(
            "target",
            format!(
                "`{}` has a target of its own, `{}`; leave --target away",
                request.name, dataset.schema.target.name
            ),
        )),
        Some(given) if meaning(given) != meaning(&dataset.schema) => Err(Error::data(format!(
            "the schema does not fit `{}`, whose columns are known: only units and constraints may differ; leave \
             the schema away",
            request.name
        ))),
        Some(given) => given.validate().map(|()| Dataset { schema: given.clone(), ..dataset }),
        None => Ok(dataset),
    };
    match request.name.as_str() {
        "mnist" => built_in(mnist::load(&directory.path_of("mnist"))?),
        "credit" => built_in(credit::load(&directory.path_of("uci_default_credit"), request.seed)?),
        "moons" => built_in(moons::make(request.seed)),
        name => {
            let path = Path::new(name);
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
            match extension.as_str() {
                "csv" | "tsv" | "gz" | "parquet" => table::load(path, request, schema),
                "npy" | "npz" => built_in(arrays::load(path, request)?),
                _ => Err(Error::data(format!(
                    "no dataset is called `{name}`; choose mnist, credit or moons, or give the path of a .csv, \
                     .parquet, .npy or .npz file"
                ))),
            }
        }
    }
}

/// The schema without what may differ: units and constraints.
fn meaning(schema: &Schema) -> Schema {
    let mut schema = schema.without_constraints();
    schema.target.unit = None;
    schema.features.iter_mut().for_each(|feature| feature.unit = None);
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Constraints;

    #[test]
    fn a_known_dataset_takes_units_and_constraints_from_a_schema_and_nothing_else() {
        let directory = DataDir::locate(None);
        let request = Request::new("moons");
        let mut schema = load(&request, None, &directory).unwrap().schema;
        schema.features[0].unit = Some("cm".into());
        assert_eq!(load(&request, Some(&schema), &directory).unwrap().schema.features[0].unit.as_deref(), Some("cm"));
        schema.constraints.immutable = vec!["x2".into()];
        assert_eq!(load(&request, Some(&schema), &directory).unwrap().schema, schema);
        schema.constraints.immutable = vec!["x3".into()];
        let error = load(&request, Some(&schema), &directory).unwrap_err().to_string();
        assert!(error.contains("`x3`"), "{error}");
        schema.constraints = Constraints::default();
        schema.features[0].name = "length".into();
        let error = load(&request, Some(&schema), &directory).unwrap_err().to_string();
        assert!(error.contains("`moons`") && error.contains("only units"), "{error}");
    }
}
