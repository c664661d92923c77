//! Tables with missing cells, from the file to the page.

use crate::common::{clue, json, ok, small};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Models that are good enough to be certain of some rows.
const MODELS: [&str; 3] = ["generative.fit.epochs=20", "predictor.fit.epochs=40", "predictor.kind=ensemble"];

/// A folder with a run of 400 loans: a tenth of the ages, jobs, and of who owns a house is missing, no income is, and for
/// four loans nobody knows what became of them.
struct Loans {
    folder: TempDir,
    run: PathBuf,
    notes: String,
}

impl Loans {
    fn trained() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut state = 1u64;
        let mut draw = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        let mut text = String::from("age,income,job,owner,default\n");
        for row in 0..400 {
            let (age, income, job, owner) = (20 + draw(50), 1000 + draw(4000), draw(3) as usize, draw(2) as usize);
            let risk = 60 * (70 - age as i64) - income as i64 + draw(900) as i64;
            let shown =
                |value: String, written: &str, at: usize| if row % 10 == at { written.to_owned() } else { value };
            let outcome = shown(if risk > -1000 { "yes" } else { "no" }.into(), "?", if row < 40 { 7 } else { 10 });
            let age = shown(age.to_string(), "NA", 1);
            let job = shown(["clerk", "nurse", "judge"][job].into(), "?", 2);
            text += &format!("{age},{income},{job},{},{outcome}\n", shown(["no", "yes"][owner].into(), "", 3));
        }
        fs::write(folder.path().join("loans.csv"), text).unwrap();
        let run = folder.path().join("run");
        let mut train = clue();
        train.arg("train").arg(folder.path().join("loans.csv")).args(["--target", "default", "--out"]).arg(&run);
        let output = train.args(small(&MODELS)).output().unwrap();
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{notes}");
        Self { folder, run, notes }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn command(&self, words: &[&str], arguments: &[&str]) -> Command {
        let mut command = clue();
        command.args(words).arg(&self.run).args(arguments);
        command
    }

    /// `clue explain` by δ-CLUE, as JSON.
    fn explain(&self, arguments: &[&str]) -> Command {
        self.command(&["explain"], &[&["--method", "delta", "--json", "-q"], arguments].concat())
    }
}

/// What a command prints that explains all inputs, or all but some.
fn explained(command: &mut Command) -> Value {
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{command:?}: {message}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Whether a value is missing in a row of a document: a number is null, a category has its name.
fn is_missing(value: &Value) -> bool {
    value.is_null() || value == "missing"
}

/// How often clues of a document fill a value in; none may make one missing.
fn filled_in(document: &Value) -> usize {
    let mut count = 0;
    for explanation in document["explanations"].as_array().unwrap() {
        let before = explanation["input"]["row"].as_object().unwrap();
        for clue in explanation["clues"].as_array().unwrap() {
            for (name, after) in clue["row"].as_object().unwrap() {
                assert!(!is_missing(after) || is_missing(&before[name]), "{name} becomes missing: {clue}");
                count += usize::from(is_missing(&before[name]) && !is_missing(after));
            }
            for change in clue["changes"].as_array().unwrap() {
                assert_ne!(change["to"], "missing", "{clue}");
            }
        }
    }
    count
}

#[test]
fn a_table_with_missing_cells_is_trained_ranked_explained_and_audited() {
    let loans = Loans::trained();
    let counts = "missing: age 40 of 400 (10.0 %), job 40 of 400 (10.0 %), owner 40 of 400 (10.0 %)";
    assert!(loans.notes.contains(counts), "{}", loans.notes);
    assert!(loans.notes.contains("4 rows have no `default`, of 400: left out"), "{}", loans.notes);
    let schema = fs::read_to_string(loans.run.join("schema.toml")).unwrap();
    assert_eq!(schema.matches("missing = \"category\"").count(), 2, "{schema}");
    assert!(schema.contains("missing = \"median\"\nmedian = ") && !schema.contains("\"?\""), "{schema}");

    let ranking = json(&mut loans.command(&["rank"], &["--top", "3", "--json"]));
    assert_eq!(ranking["inputs"].as_array().unwrap().len(), 3);
    let health = json(&mut loans.command(&["measure"], &["--json"]));
    assert!(health["generative"]["elbo"].as_f64().unwrap().is_finite(), "{health}");

    // Rows 1, 2 and 3 of every ten miss their age, job and house.
    let table = fs::read_to_string(loans.folder.path().join("loans.csv")).unwrap();
    let (header, rows) = table.split_once('\n').unwrap();
    let gaps = rows.lines().enumerate().filter(|(row, _)| (1..4).contains(&(row % 10))).map(|(_, line)| line);
    let gaps = loans.file("gaps.csv", &format!("{header}\n{}\n", gaps.take(24).collect::<Vec<_>>().join("\n")));
    let document = explained(loans.explain(&["--count", "3", "--file"]).arg(gaps));
    let rows = document["explanations"].as_array().unwrap();
    assert!(rows.iter().all(|e| e["input"]["row"].as_object().unwrap().values().any(is_missing)), "{document}");
    assert!(filled_in(&document) > 0, "no clue fills anything in: {document}");
    filled_in(&explained(&mut loans.explain(&["--top", "5"])));

    let page = loans.folder.path().join("page.html");
    let output =
        clue().arg("audit").arg(&loans.run).args(["--quick", "--top", "4", "--out"]).arg(&page).output().unwrap();
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_str(&fs::read_to_string(page.with_extension("json")).unwrap()).unwrap();
    assert!(report.to_string().contains("age = missing"), "a group of its own: {report}");
}

#[test]
fn mappers_of_a_table_with_missing_cells_are_fitted_shown_and_applied() {
    let loans = Loans::trained();
    ok(&mut loans.command(&["glam", "fit"], &["--uncertain-above", "70%"]));
    filled_in(&explained(&mut loans.command(&["glam", "apply"], &["--top", "6", "--json"])));
    let shown = json(&mut loans.command(&["glam", "show"], &["--json"]));
    for shift in shown["groups"].as_array().unwrap().iter().flat_map(|group| group["changes"].as_array().unwrap()) {
        let rises = shift["change"].as_f64().unwrap() > 1e-6;
        assert!(!(rises && shift["kind"]["share"]["category"] == "missing"), "{shift}");
    }
}

#[test]
fn a_row_of_a_file_may_miss_what_training_rows_missed_and_nothing_else() {
    let loans = Loans::trained();
    let rows = loans.file("rows.csv", "age,income,job,owner\n,1500,nurse,yes\n30,2500,,NA\n");
    let document = explained(loans.explain(&["--file"]).arg(rows));
    let row = |at: usize| &document["explanations"][at]["input"]["row"];
    assert_eq!(
        (&row(0)["age"], &row(1)["job"], &row(1)["owner"]),
        (&Value::Null, &"missing".into(), &"missing".into())
    );
    filled_in(&document);
    let wrong = loans.file("wrong.csv", "age,income,job,owner\n30,1500,nurse,yes\n30,,nurse,no\n");
    let output = loans.explain(&["--file"]).arg(wrong).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rejected = &document["rejected"][0];
    assert_eq!((output.status.code(), &rejected["index"], &rejected["name"]["row"]), (Some(3), &1.into(), &3.into()));
    assert!(rejected["reason"].as_str().unwrap().starts_with("column `income`: the cell is missing"), "{rejected}");
}
