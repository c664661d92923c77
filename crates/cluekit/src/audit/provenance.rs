//! How to repeat an audit: versions, seeds, hashes and settings. No time and no place.

use crate::data::Source;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that an audit depends on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Version of cluekit that made the audit.
    pub cluekit: String,
    /// Command that makes the audit again.
    pub command: String,
    /// Seed of the audit.
    pub seed: u64,
    /// Seed of the models' training; none if it is unknown.
    pub training_seed: Option<u64>,
    /// Versions of the software that trained the models.
    pub versions: BTreeMap<String, String>,
    /// Files of the data, with their hashes.
    pub sources: Vec<Source>,
    /// Files of the models, with their hashes.
    pub models: BTreeMap<String, String>,
    /// Every setting of the search for clues.
    pub search: Vec<Setting>,
    /// Constraints on what clues may change in a table.
    pub constraints: Vec<Setting>,
    /// Settings that the changes of whole groups were learned under.
    pub groups: Vec<Setting>,
    /// Every setting of the models' training.
    pub training: Vec<Setting>,
}

/// A setting and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Name of the setting, such as `predictor.samples`.
    pub key: String,
    /// Value of the setting, in words.
    pub value: String,
}

impl Setting {
    /// Every value of a document with the way to it: `{"a": {"b": 1}}` is `a.b` = `1`. Lists are one value.
    pub fn flattened(document: &impl Serialize) -> serde_json::Result<Vec<Self>> {
        let mut settings = Vec::new();
        walk(&serde_json::to_value(document)?, "", &mut settings);
        Ok(settings)
    }
}

/// A number as settings have it: of 32 bits as 0.1, and not as the 0.10000000149 that is as near.
fn plain(number: &serde_json::Number) -> Option<String> {
    let value = number.as_f64().filter(|_| number.is_f64())?;
    let short = value as f32;
    Some(if f64::from(short).to_bits() == value.to_bits() { short.to_string() } else { value.to_string() })
}

/// A value within a list.
fn item(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Array(items) => format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(",")),
        serde_json::Value::Number(number) => plain(number).unwrap_or_else(|| number.to_string()),
        other => other.to_string(),
    }
}

fn walk(value: &serde_json::Value, key: &str, settings: &mut Vec<Setting>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                walk(value, &key, settings);
            }
        }
        serde_json::Value::Null => {}
        serde_json::Value::String(text) => settings.push(Setting { key: key.into(), value: text.clone() }),
        other => settings.push(Setting { key: key.into(), value: item(other) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_becomes_a_list_of_settings() {
        let document = serde_json::json!({"a": {"b": 1, "c": [1, 0.1_f32, ["x"], 123456789.5]}, "d": "x", "e": null, "f": 0.1_f32});
        let settings = Setting::flattened(&document).unwrap();
        let written: Vec<String> = settings.iter().map(|s| format!("{}={}", s.key, s.value)).collect();
        assert_eq!(written, ["a.b=1", "a.c=[1,0.1,[\"x\"],123456789.5]", "d=x", "f=0.1"]);
    }
}
