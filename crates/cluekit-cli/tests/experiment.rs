//! `clue experiment` as a user runs it.

use crate::common::{clue, fails, json, ok};
use cluekit::testing::real_data;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// An experiment that needs no data.
const ALONE: &str = "e-one-translation";

fn experiment(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = clue();
    let [out, runs] = ["results", "runs"].map(|name| folder.path().join(name));
    command.arg("experiment").args(arguments).arg("--out").arg(out).arg("--runs").arg(runs);
    command
}

/// The folder of the datasets, if they are there.
#[track_caller]
fn data() -> Option<PathBuf> {
    real_data(&["mnist", "uci_default_credit"])
}

#[test]
fn every_experiment_is_listed_with_its_place_in_the_paper() {
    let listed = ok(clue().args(["experiment", "list"]));
    for words in ["fig-7-entropy", "table-2-times-mnist", "x-seeds", "Appendix B", "Figure 2, left"] {
        assert!(listed.contains(words), "{words} in {listed}");
    }
}

#[test]
fn a_finished_experiment_is_not_repeated_and_a_broken_one_is() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("results").join(ALONE).join("result.json");
    let first = ok(&mut experiment(&folder, &[ALONE, "--quick"]));
    assert!(first.starts_with(ALONE) && first.contains("RESULTS.md"), "{first}");
    let written = fs::metadata(&record).unwrap().modified().unwrap();
    ok(&mut experiment(&folder, &[ALONE, "--quick"]));
    assert_eq!(fs::metadata(&record).unwrap().modified().unwrap(), written, "done is done");
    ok(&mut experiment(&folder, &[ALONE]));
    let full: Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    assert_eq!(full["quick"], false, "the whole experiment is another one");
    fs::write(&record, "{\"name\":").unwrap();
    let (code, message) = fails(&mut experiment(&folder, &[ALONE]));
    assert!(code == 1 && message.contains("result.json") && message.contains("remove it to repeat"), "{message}");
    ok(&mut experiment(&folder, &[ALONE, "--repeat"]));
}

#[test]
fn a_page_shows_only_what_belongs_together() {
    let folder = tempfile::tempdir().unwrap();
    let page = || fs::read_to_string(folder.path().join("results/RESULTS.md")).unwrap();
    let mine = folder.path().join("mine.toml");
    let text =
        "title = 'Mine'\npaper = 'none'\nclaim = 'c'\n[study]\nkind = 'one-translation'\ngroups = 4\npoints = 20\n";
    fs::write(&mine, text).unwrap();
    ok(&mut experiment(&folder, &[ALONE, "--quick"]));
    ok(&mut experiment(&folder, &[mine.to_str().unwrap()]));
    assert!(page().contains("## Mine") && !page().contains(ALONE), "a quick result beside a whole one: {}", page());
    ok(&mut experiment(&folder, &[ALONE]));
    assert!(page().contains("## Mine") && page().contains(ALONE), "{}", page());

    let clash = folder.path().join(format!("{ALONE}.toml"));
    fs::write(&clash, text).unwrap();
    let (code, message) = fails(&mut experiment(&folder, &[clash.to_str().unwrap()]));
    assert!(code == 1 && message.contains("give the file another name"), "{message}");
}

#[test]
fn the_experiment_that_the_docs_show_can_be_read() {
    let docs = include_str!("../../../docs/experiments.md");
    let shown = docs.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    cluekit_paper::Spec::parse(shown, Path::new("docs"), false).unwrap();
}

#[test]
fn the_same_seed_gives_the_same_tables_and_pictures() {
    let runs = [(); 2].map(|()| {
        let folder = tempfile::tempdir().unwrap();
        ok(&mut experiment(&folder, &[ALONE, "--quick"]));
        let results = folder.path().join("results").join(ALONE);
        ["translations.csv", "figure.svg"].map(|name| fs::read(results.join(name)).unwrap())
    });
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn an_experiment_of_ones_own_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let text = "title = 'Mine'\npaper = 'none'\nclaim = 'Four sides.'\n[study]\nkind = 'one-translation'\ngroups = 4\npoints = 20\n";
    fs::write(&path, text).unwrap();
    let found = json(experiment(&folder, &[path.to_str().unwrap()]).arg("--json"));
    assert_eq!(found["experiments"][0]["name"], "mine");
    assert_eq!(found["experiments"][0]["spec"]["study"]["groups"], 4);
    let page = fs::read_to_string(folder.path().join("results/RESULTS.md")).unwrap();
    assert!(page.contains("## Mine") && page.contains("Four sides."), "{page}");

    fs::write(&path, text.replace("groups", "gruops")).unwrap();
    let (code, message) = fails(&mut experiment(&folder, &[path.to_str().unwrap()]));
    assert!(code == 1 && message.contains("mine.toml") && message.contains("gruops"), "{message}");
}

#[test]
fn what_does_not_exist_is_said_before_anything_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let (code, message) = fails(&mut experiment(&folder, &[ALONE, "b-shel"]));
    assert!(code == 2 && message.contains("did you mean `b-shell`?"), "{message}");
    assert!(!folder.path().join("results").exists());
    let (code, message) = fails(&mut experiment(&folder, &[ALONE, "all"]));
    assert!(code == 2 && message.contains("`e-one-translation` is asked for twice"), "{message}");
    let (_, message) = fails(&mut experiment(&folder, &["nowhere.toml"]));
    assert!(message.contains("cannot read nowhere.toml"), "{message}");
    let empty = folder.path().join("empty");
    let (code, message) = fails(experiment(&folder, &["b-shell", "--quick"]).arg("--data").arg(&empty));
    assert!(
        code == 1 && message.contains("experiment b-shell") && message.contains("clue data fetch mnist"),
        "{message}"
    );
}

#[test]
fn other_models_under_the_name_of_an_experiments_own_are_left_alone() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("runs/quick-credit");
    let small = crate::common::small(&[]);
    ok(clue().args(["train", "credit:600", "--out"]).arg(&run).args(small).arg("--data").arg(&data));
    let before = crate::common::files_of(&run);
    let (code, message) = fails(experiment(&folder, &["fig-8-weight-credit", "--quick"]).arg("--data").arg(&data));
    assert!(
        code == 1 && message.contains("holds other models than `credit`") && message.contains("--runs"),
        "{message}"
    );
    assert_eq!(crate::common::files_of(&run), before);
}

#[test]
fn a_result_of_other_models_is_not_taken_for_these() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let name = "fig-8-weight-credit";
    let record = folder.path().join("results").join(name).join("result.json");
    let again = || {
        ok(experiment(&folder, &[name, "--quick"]).arg("--data").arg(&data));
        fs::metadata(&record).unwrap().modified().unwrap()
    };
    let first = again();
    assert_eq!(again(), first, "the same models give the same result");
    let written: Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    let hashes = written["models"]["credit"].as_object().unwrap();
    assert!(hashes.contains_key("predictor.safetensors") && hashes.contains_key("generative.safetensors"));
    let other =
        fs::read_to_string(&record).unwrap().replacen(hashes["predictor.safetensors"].as_str().unwrap(), "0", 1);
    fs::write(&record, other).unwrap();
    assert_ne!(again(), first);
    assert_eq!(serde_json::from_slice::<Value>(&fs::read(&record).unwrap()).unwrap()["models"], written["models"]);
}

#[test]
fn all_experiments_run_in_a_hurry() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let found = json(experiment(&folder, &["all", "--quick", "--json"]).arg("--data").arg(&data));
    let experiments = found["experiments"].as_array().unwrap();
    let mut verdicts: BTreeMap<&str, usize> = BTreeMap::new();
    for experiment in experiments {
        let name = experiment["name"].as_str().unwrap();
        *verdicts.entry(experiment["verdict"].as_str().unwrap()).or_default() += 1;
        assert!(!experiment["checks"].as_array().unwrap().is_empty(), "{name} checks nothing");
        let tables = experiment["tables"].as_array().unwrap();
        assert!(!tables.is_empty(), "{name} has no numbers");
        for table in tables {
            let columns = table["columns"].as_array().unwrap().len();
            let rows = table["rows"].as_array().unwrap();
            assert!(!rows.is_empty() && rows.iter().all(|row| row.as_array().unwrap().len() == columns), "{name}");
            let file =
                folder.path().join("results").join(name).join(format!("{}.csv", table["name"].as_str().unwrap()));
            assert!(fs::metadata(file).unwrap().len() > 0);
        }
        for picture in experiment["pictures"].as_array().unwrap() {
            let file = folder.path().join("results").join(name).join(format!("{}.svg", picture.as_str().unwrap()));
            let svg = fs::read_to_string(file).unwrap();
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
        }
    }
    assert!(experiments.len() > 45, "{} experiments", experiments.len());
    let page = fs::read_to_string(folder.path().join("results/RESULTS.md")).unwrap();
    assert!(page.contains(&format!("{} experiments", experiments.len())), "{page}");
    assert!(verdicts.len() > 1, "verdicts that are all the same decide nothing: {verdicts:?}");
}
