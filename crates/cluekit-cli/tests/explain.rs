//! `clue explain` as a user runs it, on two moons and on a small table.

use crate::common::{clue, fails, files_of, ok, train};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// Runs that all tests of this file share.
struct Runs {
    _place: TempDir,
    moons: PathBuf,
    loans: PathBuf,
}

fn runs() -> &'static Runs {
    static RUNS: OnceLock<Runs> = OnceLock::new();
    RUNS.get_or_init(|| {
        let place = tempfile::tempdir().unwrap();
        let (moons, loans) = (place.path().join("moons"), place.path().join("loans"));
        let more = ["generative.fit.epochs=40", "predictor.fit.epochs=60", "predictor.kind=ensemble"];
        ok(&mut train(&moons, &more));
        let table = place.path().join("loans.csv");
        std::fs::write(&table, loans_table()).unwrap();
        let mut command = clue();
        command.args(["train", table.to_str().unwrap(), "--target", "default", "--out", loans.to_str().unwrap()]);
        ok(command.args(crate::common::small(&more)));
        Runs { _place: place, moons, loans }
    })
}

/// 400 loans: default follows from income, debt and job, with noise.
fn loans_table() -> String {
    let mut text = String::from("age,income,debt,job,owner,default\n");
    let mut state = 1u64;
    let mut draw = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    for _ in 0..400 {
        let (age, income, debt, job, owner) = (20 + draw(50), 1000 + draw(4000), draw(3000), draw(3), draw(2));
        let risk = debt as i64 - income as i64 / 2 + draw(800) as i64 - 400 - 300 * i64::from(job == 2);
        let (job, owner) = (["clerk", "nurse", "judge"][job as usize], ["no", "yes"][owner as usize]);
        let outcome = if risk > 0 { "yes" } else { "no" };
        text += &format!("{age},{income},{debt},{job},{owner},{outcome}\n");
    }
    text
}

fn explain(run: &Path, arguments: &[&str]) -> Command {
    let mut command = clue();
    command.arg("explain").arg(run).args(arguments);
    command
}

/// The document of a search that is done, with or without an accepted clue for each input.
fn document(run: &Path, arguments: &[&str]) -> Value {
    let output = explain(run, arguments).arg("--json").output().unwrap();
    let code = output.status.code().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(code == 0 || code == 3, "{arguments:?} ended with {code}: {message}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

fn clues(document: &Value) -> Vec<&Value> {
    let explanations = document["explanations"].as_array().unwrap();
    explanations.iter().flat_map(|explanation| explanation["clues"].as_array().unwrap()).collect()
}

#[test]
fn the_document_has_the_promised_fields() {
    let run = &runs().moons;
    let document = document(run, &["--method", "delta", "--delta", "1.5", "--count", "3", "--top", "2", "--seed", "7"]);
    assert_eq!((&document["method"], &document["seed"]), (&"delta".into(), &7.into()));
    assert_eq!(document["settings"]["count"], 3);
    let explanation = &document["explanations"][0];
    for field in ["index", "label", "target", "uncertainty", "probabilities", "x", "z"] {
        assert!(!explanation["input"][field].is_null(), "input.{field}");
    }
    for field in ["dpp", "apd", "coverage"] {
        assert!(explanation["diversity"][field]["x"].is_number() && explanation["diversity"][field]["z"].is_number());
    }
    for field in ["prediction-coverage", "distinct-labels", "label-entropy"] {
        assert!(explanation["diversity"][field].is_number(), "{field}");
    }
    let clue = &explanation["clues"][0];
    for field in ["label", "uncertainty", "probabilities", "distance", "cost", "steps", "stopped", "accepted", "x", "z"]
    {
        assert!(!clue[field].is_null(), "clue.{field}");
    }
    for field in ["input", "latent", "prediction"] {
        assert!(clue["distance"][field].is_number(), "distance.{field}");
    }
    assert!(clue["plausibility"]["reconstruction"].is_number() && clue["plausibility"]["elbo"].is_number());
    assert!(clue.get("reason").is_some() && explanation.get("label_distribution").is_some());
}

#[test]
fn clues_stay_in_the_ball_and_are_more_certain_than_their_input() {
    let run = &runs().moons;
    let document = document(run, &["--method", "delta", "--delta", "1.5", "--count", "4", "--top", "5"]);
    for explanation in document["explanations"].as_array().unwrap() {
        let before = explanation["input"]["uncertainty"]["total"].as_f64().unwrap();
        for clue in explanation["clues"].as_array().unwrap() {
            assert!(clue["distance"]["latent"].as_f64().unwrap() <= 1.5 * (1.0 + 1e-5));
            assert!(clue["uncertainty"]["total"].as_f64().unwrap() < before);
        }
    }
}

#[test]
fn a_diversity_without_weight_is_delta_clue_byte_for_byte() {
    let run = &runs().moons;
    let common = ["--delta", "1", "--count", "5", "--top", "3"];
    let delta = document(run, &[&["--method", "delta"], &common[..]].concat());
    for order in [&[][..], &["--sequential"], &["--penalty"]] {
        let nabla = document(run, &[&["--method", "nabla", "--diversity", "dpp=0"], order, &common].concat());
        assert_eq!(nabla["explanations"].to_string(), delta["explanations"].to_string());
    }
}

#[test]
fn an_endless_ball_a_start_at_the_input_and_one_clue_are_clue_byte_for_byte() {
    let run = &runs().moons;
    let single = document(run, &["--method", "clue", "--top", "3", "--lambda-x", "0.1"]);
    for method in ["delta", "nabla"] {
        let same = ["--delta", "inf", "--radius", "0", "--count", "1", "--top", "3", "--lambda-x", "0.1"];
        let other = document(run, &[&["--method", method], &same[..]].concat());
        assert_eq!(other["explanations"].to_string(), single["explanations"].to_string());
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_for_any_number_of_threads() {
    let run = &runs().moons;
    let arguments = ["--method", "nabla", "--delta", "auto", "--count", "6", "--top", "20", "--spread-starts", "3"];
    let bytes =
        |threads: &str| explain(run, &arguments).args(["--json", "--threads", threads]).output().unwrap().stdout;
    let one = bytes("1");
    assert!(!one.is_empty());
    assert_eq!(one, bytes("2"));
    let other = explain(run, &arguments).args(["--json", "--seed", "1"]).output().unwrap().stdout;
    assert_ne!(one, other);
}

#[test]
fn every_scheme_and_combination_of_starts_gives_the_number_of_clues_asked_for() {
    let run = &runs().moons;
    for init in
        ["random-radius", "nearest-path", "gaussian-radius", "uniform-ball", "class-path", "class-path,uniform-ball"]
    {
        let options = ["--method", "delta", "--delta", "1", "--count", "5", "--inputs", "3,1", "--init", init];
        let document =
            document(run, &[&options[..], &["--jitter", "0.1", "--threshold", "0.3", "--only-paper"]].concat());
        assert_eq!(clues(&document).len(), 10, "{init}");
        assert_eq!(document["explanations"][0]["input"]["index"], 3);
    }
    let around = [
        "--method",
        "delta",
        "--delta",
        "1",
        "--count",
        "4",
        "--top",
        "1",
        "--sub-searches",
        "2",
        "--sub-count",
        "3",
        "--only-paper",
    ];
    assert_eq!(clues(&document(run, &around)).len(), 4 + 2 * 3);
}

#[test]
fn a_sweep_returns_a_row_for_each_radius_and_a_frontier() {
    let run = &runs().moons;
    let folder = tempfile::tempdir().unwrap();
    let sweep = ["--method", "delta", "--delta", "0.5..2/4", "--count", "5", "--top", "2", "--only-paper"];
    let document = document(run, &[&sweep[..], &["--out", folder.path().to_str().unwrap()]].concat());
    let rows = document["sweep"].as_array().unwrap();
    let deltas: Vec<f64> = rows.iter().map(|row| row["delta"].as_f64().unwrap()).collect();
    assert_eq!(deltas, [0.5, 1.0, 1.5, 2.0]);
    assert!(rows[3]["uncertainty"]["mean"].as_f64() < rows[0]["uncertainty"]["mean"].as_f64());
    let explanation = &document["explanations"][0];
    assert_eq!(explanation["clues"].as_array().unwrap().len(), 20);
    let front: Vec<&Value> = explanation["frontier"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| &explanation["clues"][i.as_u64().unwrap() as usize])
        .collect();
    for pair in front.windows(2) {
        assert!(pair[0]["distance"]["input"].as_f64() <= pair[1]["distance"]["input"].as_f64());
        assert!(pair[0]["uncertainty"]["total"].as_f64() > pair[1]["uncertainty"]["total"].as_f64());
    }
    assert!(folder.path().join("sweep.svg").is_file());
}

#[test]
fn constraints_hold_in_every_clue_that_is_accepted() {
    let run = &runs().loans;
    let rules = [
        "--immutable",
        "age,owner",
        "--only-down",
        "debt",
        "--only-up",
        "income",
        "--range",
        "income=1000..4500",
        "--relation",
        "debt <= income",
        "--most-changed",
        "2",
        "--never",
        "job=nurse",
        "--transition",
        "job: judge ->",
        "--cost",
        "debt=2",
    ];
    for anchored in [&[][..], &["--anchored"]] {
        let options = ["--method", "delta", "--delta", "2", "--count", "4", "--top", "6", "--threshold", "0.5"];
        let document = document(run, &[&options[..], &rules, anchored].concat());
        let mut accepted = 0;
        for clue in clues(&document).into_iter().filter(|clue| clue["accepted"] == true) {
            accepted += 1;
            let changes = clue["changes"].as_array().unwrap();
            assert!(changes.len() <= 2, "{changes:?}");
            for change in changes {
                let number = |side: &str| change[side].as_str().unwrap().parse::<f64>().unwrap();
                match change["feature"].as_str().unwrap() {
                    "debt" => assert!(number("to") < number("from")),
                    "income" => assert!(number("to") > number("from") && number("to") <= 4500.0),
                    "job" => assert!(change["to"] != "nurse" && change["from"] != "judge"),
                    other => panic!("{other} may not change"),
                }
            }
        }
        assert!(accepted > 0, "{}", document["explanations"][0]["advice"]);
    }
}

#[test]
fn constraints_may_be_written_into_the_schema_of_a_finished_run() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("loans");
    copy(&runs().loans, &run);
    let schema = run.join("schema.toml");
    let text = std::fs::read_to_string(&schema).unwrap();
    let changes_debt = |document: &Value| {
        let is_debt = |change: &Value| change["feature"] == "debt";
        clues(document).iter().filter(|clue| clue["changes"].as_array().unwrap().iter().any(is_debt)).count()
    };
    let before = document(&run, &["--method", "clue", "--top", "5"]);
    assert!(changes_debt(&before) > 0, "otherwise the constraint would forbid what nobody does");
    std::fs::write(&schema, format!("{text}\n[constraints]\nimmutable = [\"debt\"]\n")).unwrap();
    let document = document(&run, &["--method", "clue", "--top", "5"]);
    assert_eq!(changes_debt(&document), 0);
    assert!(clues(&document).iter().any(|clue| !clue["changes"].as_array().unwrap().is_empty()), "others change");
    std::fs::write(&schema, text.replace("\"income\"", "\"wages\"")).unwrap();
    assert!(fails(&mut explain(&run, &["--method", "clue"])).1.contains("schema.toml"));
}

#[test]
fn rows_of_another_file_are_explained() {
    let run = &runs().loans;
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("new.csv");
    std::fs::write(&file, "age,income,debt,job,owner\n30,2000,1000,clerk,no\n41,2500,1300,judge,yes\n").unwrap();
    let document = document(run, &["--method", "clue", "--file", file.to_str().unwrap()]);
    assert_eq!(document["explanations"].as_array().unwrap().len(), 2);
    assert!(document["explanations"][0]["input"]["target"].is_null());
}

#[test]
fn without_any_training_row_the_distance_is_still_the_one_asked_for() {
    let run = &runs().moons;
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("new.csv");
    std::fs::write(&file, "x1,x2\n1.1,0.1\n").unwrap();
    let options = ["--method", "clue", "--threshold", "0.3", "--no-plausibility", "--distance", "l2", "--file"];
    let document = document(run, &[&options[..], &[file.to_str().unwrap()]].concat());
    let (input, clue) = (&document["explanations"][0]["input"]["x"], clues(&document)[0]);
    let difference = |i: usize| input[i].as_f64().unwrap() - clue["x"][i].as_f64().unwrap();
    let (d, expected) = (clue["distance"]["input"].as_f64().unwrap(), difference(0).hypot(difference(1)));
    assert!((d - expected).abs() < 1e-5, "{d} is not {expected}");
}

#[test]
fn results_are_written_as_files_and_read_by_people() {
    let run = &runs().loans;
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("clues");
    let mut command = explain(run, &["--method", "clue", "--top", "2", "--threshold", "0.6", "--out"]);
    let text = ok(command.arg(&folder));
    assert!(text.contains("Input ") && text.contains(" → "), "{text}");
    let files = files_of(&folder);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let tables = ["clues.csv", "clues.npz", "clues.parquet", "clues.txt", "clues.xlsx"];
    assert_eq!(names, [&tables[..], &["explanations.json", "explanations.jsonl"]].concat());
    assert_eq!(files["clues.txt"], text.as_bytes());
    assert_eq!(files["explanations.jsonl"].iter().filter(|&&byte| byte == b'\n').count(), 2);
}

#[test]
fn an_input_without_an_accepted_clue_gets_advice_and_exit_code_3() {
    let run = &runs().moons;
    let tight =
        ["--method", "delta", "--delta", "0.01", "--count", "2", "--top", "1", "--threshold", "0.3", "--anchored"];
    let output = explain(run, &tight).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("rejected: uncertainty")
            && text.contains("no clue below 0.3 within δ = 0.01; the nearest found lies at ")
            && text.contains(": try --delta "),
        "{text}"
    );
}

#[test]
fn what_cannot_be_done_ends_in_one_clear_error() {
    let Runs { moons, loans, .. } = runs();
    let wrong: [(&Path, &[&str], &str); 33] = [
        (moons, &["--inputs", "100000"], "there is no row 100000; rows count from 0 to"),
        (moons, &["--class", "middle"], "there is no class `middle`; the classes are"),
        (moons, &["--towards", "middle"], "there is no class `middle`"),
        (moons, &["--delta", "0"], "needs a positive radius, got 0"),
        (moons, &["--delta", "-2"], "needs a positive radius, got -2"),
        (moons, &["--delta", "1..0.5/3"], "a sweep goes from a positive radius to a larger one"),
        (moons, &["--count", "0"], "is 0; ask for at least one clue"),
        (moons, &["--top", "0"], "is 0; ask for at least one input"),
        (moons, &["--count", "1000000000000000000"], "setting `count`: is 1000000000000000000; at most"),
        (moons, &["--towards", "upper"], "is for starts (`init`) on nearest-path and class-path"),
        (moons, &["--delta", "inf", "--init", "uniform-ball"], "every search would start at the input itself"),
        (moons, &["--init", "spiral"], "`spiral` is not a scheme of starts; choose one of random-radius"),
        (moons, &["--uncertainty", "none"], "choose one of total, aleatoric, epistemic"),
        (moons, &["--lambda-x", "-1"], "setting `lambda-x`: a weight must be 0 or a positive number, got -1"),
        (moons, &["--threshold", "nan"], "setting `threshold`: must be a positive number, got NaN"),
        (moons, &["--distance", "l3"], "`l3` is not a distance; choose one of l1"),
        (moons, &["--init", "nearest-path", "--threshold", "1e-12"], "no training point of the wanted classes"),
        (moons, &["--diversity", "distinct-labels=1"], "cannot be optimised: it counts labels and has no gradient"),
        (moons, &["--diversity", "coverage=1", "--space", "y"], "setting `space`"),
        (moons, &["--diversity", "spread=1"], "is not a diversity; choose one of"),
        (loans, &["--immutable", "incom"], "did you mean `income`?"),
        (loans, &["--only-up", "debt", "--only-down", "debt"], "debt"),
        (loans, &["--range", "income=9000..5000"], "income"),
        (loans, &["--relation", "debt < income"], "debt < income"),
        (loans, &["--never", "job=pilot"], "`job` has no category `pilot`"),
        (loans, &["--never", "job"], "`job` is not a feature and its value; write `feature=value`"),
        (loans, &["--transition", "job = clerk"], "write it like `job: student -> clerk, engineer`"),
        (loans, &["--transition", "jop: clerk -> judge"], "did you mean `job`?"),
        (loans, &["--order", "job: clerk"], "an order has at least two categories"),
        (loans, &["--order", "clerk < judge"], "write it like `education: none < school < college`"),
        (loans, &["--only-up", "job"], "`job` is categorical, and its values have no order"),
        (loans, &["--cost", "age"], "`age` is not a feature and its weight; write `feature=3`"),
        (loans, &["--cost", "age=0"], "a weight is a number above 0, got 0"),
    ];
    for (run, arguments, expected) in wrong {
        let (_, message) = fails(&mut explain(run, &[&["--method", "nabla", "-q"], arguments].concat()));
        assert!(message.contains(expected), "{arguments:?} said: {message}");
    }
}

#[test]
fn files_that_do_not_fit_end_in_one_clear_error() {
    let Runs { moons, loans, .. } = runs();
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = place.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let nan = write("nan.csv", "x1,x2\n0.1,nan\n");
    let narrow = write("narrow.csv", "x1\n0.1\n");
    let rules = write("rules.toml", "imutable = [\"age\"]\n");
    let output = explain(moons, &["--method", "clue", "-q", "--file", &nan]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("(row 2): left out: column `x2`: the cell is missing"), "{text}");
    let wrong: [(&Path, [&str; 2], &str); 3] = [
        (moons, ["--file", &narrow], "has no column `x2`"),
        (moons, ["--file", "absent.csv"], "absent.csv"),
        (loans, ["--constraints", &rules], "unknown field `imutable`"),
    ];
    for (run, arguments, expected) in wrong {
        let (_, message) = fails(&mut explain(run, &[&["--method", "clue", "-q"], &arguments[..]].concat()));
        assert!(message.contains(expected), "{arguments:?} said: {message}");
    }
}

fn copy(from: &Path, to: &Path) {
    for (name, bytes) in files_of(from) {
        let path = to.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}
