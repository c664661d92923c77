//! The published JSON Schemas are those of the types.

use cluekit::audit::Audit;
use cluekit::explainer::{ExplanationSet, Ranking};
use cluekit::measure::Measures;
use schemars::{JsonSchema, SchemaGenerator};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas")
}

/// The schema of a document as it is published.
fn text<T: JsonSchema>() -> String {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    serde_json::to_string_pretty(&schema).unwrap() + "\n"
}

/// `CLUE_WRITE=1` writes the schemas of the types as they are now.
fn check<T: JsonSchema>(name: &str) {
    let path = folder().join(name);
    if std::env::var_os("CLUE_WRITE").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        std::fs::write(&path, text::<T>()).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == text::<T>(), "docs/schemas/{name} is not what the types say; CLUE_WRITE=1 writes it again");
}

#[test]
fn explanations_have_a_published_schema() {
    check::<ExplanationSet>("explanations.json");
}

#[test]
fn audits_have_a_published_schema() {
    check::<Audit>("audit.json");
}

#[test]
fn rankings_have_a_published_schema() {
    check::<Ranking>("rank.json");
}

#[test]
fn measures_have_a_published_schema() {
    check::<Measures>("measure.json");
}
