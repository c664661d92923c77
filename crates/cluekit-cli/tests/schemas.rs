//! What the commands print is what the published JSON Schemas say.

use crate::common::{clue, ok, train};
use std::path::Path;

/// Whether a document is valid under a published schema.
fn assert_valid(schema: &str, document: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas").join(schema);
    let schema: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let document = serde_json::from_str(document).unwrap();
    let problems: Vec<String> =
        validator.iter_errors(&document).map(|problem| format!("{}: {problem}", problem.instance_path())).collect();
    assert!(problems.is_empty(), "{}: {problems:#?}", path.display());
    // A schema that accepts anything would prove nothing.
    assert!(!validator.is_valid(&serde_json::json!({"format": 1})), "{}", path.display());
}

#[test]
fn documents_are_valid_under_their_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    ok(&mut train(&run, &[]));
    assert_valid("rank.json", &ok(clue().arg("rank").arg(&run).args(["--top", "3", "--json"])));
    assert_valid("measure.json", &ok(clue().arg("measure").arg(&run).arg("--json")));
    let bench = ["--rounds", "1", "--inputs", "2", "--method", "clue,nabla", "--above", "0", "--json"];
    assert_valid("bench.json", &ok(clue().arg("bench").arg(&run).args(bench)));
    let explain = |more: &[&str]| {
        let output = clue().arg("explain").arg(&run).args(["--top", "2", "--json"]).args(more).output().unwrap();
        assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_valid("explanations.json", &explain(&["--method", "clue"]));
    assert_valid("explanations.json", &explain(&["--method", "delta", "--delta", "0.5..1/2", "--count", "3"]));
    assert_valid(
        "explanations.json",
        &explain(&["--method", "nabla", "--delta", "1", "--count", "3", "--threshold", "1e-30"]),
    );
    let page = folder.path().join("audit.html");
    let audit = clue().arg("audit").arg(&run).args(["--quick", "--json", "--out"]).arg(&page).output().unwrap();
    assert!([Some(0), Some(3)].contains(&audit.status.code()), "{}", String::from_utf8_lossy(&audit.stderr));
    assert_valid("audit.json", &String::from_utf8(audit.stdout).unwrap());
}

#[test]
fn a_document_of_explanations_reads_back_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    ok(&mut train(&run, &[]));
    let printed =
        clue().arg("explain").arg(&run).args(["--method", "nabla", "--count", "3", "--json"]).output().unwrap();
    let text = String::from_utf8(printed.stdout).unwrap();
    let set = cluekit::ExplanationSet::from_json(&text).unwrap();
    assert_eq!(serde_json::to_string(&set).unwrap() + "\n", text);
    let row = set.explanations[0].clues[0].row.as_ref().unwrap();
    assert_eq!(row.0.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["x1", "x2"]);
}

#[test]
fn settings_that_are_printed_search_the_same_clues_again() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    ok(&mut train(&run, &[]));
    let options = ["--method", "nabla", "--count", "4", "--lambda-x", "0.1", "--anchored", "--diversity", "apd=2"];
    let explain = |more: &[&str]| {
        let output = clue().arg("explain").arg(&run).args(["--top", "2", "--json"]).args(more).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let config = folder.path().join("search.toml");
    std::fs::write(&config, explain(&[&options[..], &["--print-config"]].concat())).unwrap();
    let again = explain(&["--method", "nabla", "--config", config.to_str().unwrap()]);
    assert_eq!(again, explain(&options));
    std::fs::write(&config, "lambda_x = 0.1\nradios = 3\n").unwrap();
    let output = clue().arg("explain").arg(&run).args(["--method", "clue", "--config"]).arg(&config).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("line 2") && message.contains("radios"), "{message}");
}
