//! A `schema.toml` that also says what a model from elsewhere sees of a row.

use crate::data::Schema;
use crate::error::{Error, Result};
use crate::model::adopted::ModelInput;
use serde::Deserialize;
use std::path::Path;

/// The schema in a file, and what it says in `[predictor.input]` of what a model sees.
pub fn read_schema(path: &Path) -> Result<(Schema, ModelInput)> {
    #[derive(Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Said {
        input: ModelInput,
    }
    let text = std::fs::read_to_string(path).map_err(Error::reading(path))?;
    let problem = |problem: toml::de::Error| Error::file(path, problem.to_string().trim_end());
    let mut table: toml::Table = text.parse().map_err(problem)?;
    let said: Said = match table.remove("predictor") {
        Some(said) => said.try_into().map_err(problem)?,
        // As it stands: errors name its lines.
        None => return Ok((Schema::from_toml(&text, path)?, ModelInput::default())),
    };
    let rest = toml::to_string(&table).map_err(|problem| Error::file(path, problem.to_string()))?;
    Ok((Schema::from_toml(&rest, path)?, said.input))
}
