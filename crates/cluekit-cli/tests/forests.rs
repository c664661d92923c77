//! A forest of scikit-learn, from its file to a ranking, beside what scikit-learn itself says of the same rows.

use crate::common::{clue, fails, json, ok, small};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cluekit-onnx/tests/fixtures").join(name)
}

/// Adopts a file for the table of the fixtures.
fn adopt(run: &Path, more: &[&str]) -> std::process::Command {
    let mut command = clue();
    command.args(["adopt", "--target", "grade", "--id", "client", "--no-generative", "--predictor"]);
    command.arg(fixture("table_forest.onnx")).arg("--data").arg(fixture("table.csv")).arg("--out").arg(run).args(more);
    command
}

/// For each client the probabilities of high, low and middle, as scikit-learn says them.
fn said() -> BTreeMap<String, Vec<f64>> {
    let text = std::fs::read_to_string(fixture("table_forest.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("client,high,low,middle"));
    let row = |line: &str| {
        let (client, numbers) = line.split_once(',').unwrap();
        (client.to_owned(), numbers.split(',').map(|number| number.parse().unwrap()).collect())
    };
    lines.map(row).collect()
}

#[test]
fn a_forest_is_ranked_by_the_probabilities_of_scikit_learn() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("run");
    let told = adopt(&run, &[]).output().unwrap();
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains("20 trees, without a gradient"), "{told}");
    assert!(told.contains("its trees are averaged in 10 groups, which are the samples"), "{told}");
    let ranking = json(clue().args(["rank", "--split", "train", "--top", "300", "--json", "-q"]).arg(&run));
    let said = said();
    let inputs = ranking["inputs"].as_array().unwrap();
    assert_eq!(inputs.len(), 270);
    for input in inputs {
        let client = input["name"]["id"].as_str().unwrap();
        let got: Vec<f64> = input["probabilities"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect();
        let near = got.iter().zip(&said[client]).all(|(got, said)| (got - said).abs() < 1e-5);
        assert!(near && got.len() == 3, "{client}: {got:?} is not {:?}", said[client]);
        // What the groups of trees disagree about.
        assert!(input["uncertainty"]["epistemic"].as_f64().unwrap() > 0.0, "{client}");
    }
}

#[test]
fn the_number_of_groups_can_be_chosen() {
    let place = tempfile::tempdir().unwrap();
    let epistemic = |groups: &str| {
        let run = place.path().join(groups);
        ok(&mut adopt(&run, &["--groups", groups]));
        let ranking: Value = json(clue().args(["rank", "--json", "-q"]).arg(&run));
        let inputs = ranking["inputs"].as_array().unwrap().clone();
        inputs.iter().map(|input| input["uncertainty"]["epistemic"].as_f64().unwrap()).sum::<f64>()
    };
    // The fewer trees a sample has, the more samples disagree.
    let (two, twenty) = (epistemic("2"), epistemic("20"));
    assert!(two < twenty, "{two} {twenty}");
    let (_, problem) = fails(&mut adopt(&place.path().join("many"), &["--groups", "21"]));
    assert!(problem.contains("has 20 trees, which cannot be 21 groups"), "{problem}");
}

/// Every command on a run of a forest, with what it needs.
fn every_command_works_on(run: &Path, latent: bool) {
    let on = |arguments: &[&str]| {
        let mut command = clue();
        command.arg(arguments[0]).args(&arguments[1..]).arg("-q");
        command.output().unwrap()
    };
    let run = run.to_str().unwrap();
    ok(clue().args(["measure", run, "-q"]));
    for method in [
        &["clue"][..],
        &["delta", "--count", "3"],
        &["nabla", "--count", "3"],
        &["nabla", "--count", "3", "--sequential", "--search", "evolution"],
        &["clue", "--search", "evolution", "--effort", "200"],
        &["clue", "--effort", "thorough"],
    ] {
        let output = on(&[&["explain", run, "--top", "3", "--json", "--method"], method].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 3)), "{method:?}: {message}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let explanations = document["explanations"].as_array().unwrap();
        assert_eq!(explanations.len(), 3);
        for clue in explanations.iter().flat_map(|explanation| explanation["clues"].as_array().unwrap()) {
            let (total, accepted) = (clue["uncertainty"]["total"].as_f64().unwrap(), &clue["accepted"]);
            let below = document["settings"]["threshold"].as_f64().unwrap();
            assert!(*accepted != true || total < below, "{clue}");
        }
        let some = explanations.iter().any(|explanation| explanation["clues"][0]["accepted"] == true);
        assert!(some, "{method:?} explains none: {message}");
    }
    let output = on(&["explain", run, "--method", "clue", "--search", "gradient", "--only-paper"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && message.contains("has no gradient"), "{message}");
    for glam in [&["glam", "fit", run][..], &["glam", "apply", run, "--top", "3"], &["glam", "compare", run]] {
        let output = on(glam);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 3)), "{glam:?} (latent: {latent}): {message}");
    }
    ok(clue().args(["audit", run, "-q"]));
    assert!(Path::new(run).join("report.html").exists());
}

#[test]
fn a_forest_is_explained_by_every_method_without_a_generative_model() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("run");
    ok(&mut adopt(&run, &[]));
    every_command_works_on(&run, false);
}

#[test]
fn a_forest_is_explained_by_every_method_in_the_latent_space_of_a_generative_model() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("run");
    let mut command = clue();
    command.args(["adopt", "--target", "grade", "--id", "client", "-q", "--predictor"]);
    command.arg(fixture("table_forest.onnx")).arg("--data").arg(fixture("table.csv")).arg("--out").arg(&run);
    ok(command.args(small(&[])));
    every_command_works_on(&run, true);
}

#[test]
fn a_jury_judges_the_clues_of_a_forest_and_does_not_lead_its_search() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("run");
    ok(&mut adopt(&run, &[]));
    let output = clue().args(["explain", "--method", "clue", "--top", "8", "--json", "-q"]).arg(&run).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let explanations = document["explanations"].as_array().unwrap();
    let accepted =
        explanations.iter().map(|explanation| &explanation["clues"][0]).filter(|clue| clue["accepted"] == true);
    let mut verdicts = accepted.flat_map(|clue| clue["agreement"]["verdicts"].as_array().unwrap()).peekable();
    assert!(verdicts.peek().is_some());
    assert!(verdicts.all(|verdict| verdict["asked"] == false));
}
