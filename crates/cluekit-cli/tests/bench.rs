//! `clue bench` measures, and races another program.

use crate::common::{clue, fails, json, ok, train};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The least work: one round, two inputs.
fn bench(run: &Path, more: &[&str]) -> Command {
    let mut command = clue();
    command.arg("bench").arg(run).args(["--rounds", "1", "--above", "0", "--json"]).args(more);
    command
}

fn trained() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    ok(&mut train(&run, &[]));
    (folder, run)
}

/// The rows of a document: their names, and the checks that hold for each.
fn rows(document: &Value) -> Vec<&str> {
    let rows = document["rows"].as_array().unwrap();
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"));
        for key in ["inputs", "ours_seconds", "other_seconds", "ratio", "ours_cost", "other_cost"] {
            assert!(number(key) > 0.0, "{key} of {row}");
        }
        assert!((number("ratio") * number("ours_seconds") / number("other_seconds") - 1.0).abs() < 1e-9, "{row}");
        assert_eq!(row["ours_rounds"].as_array().unwrap().len(), 1, "{row}");
    }
    rows.iter().map(|row| row["work"].as_str().unwrap()).collect()
}

#[test]
fn bench_sets_the_ways_to_search_side_by_side() {
    let (_folder, run) = trained();
    let document = json(&mut bench(&run, &["--inputs", "1,2", "--delta", "0.5"]));
    let expected = [
        "CLUE",
        "CLUE, default",
        "CLUE",
        "CLUE, default",
        "δ-CLUE 8 × 100",
        "δ-CLUE 8 × 100, default",
        "∇-CLUE 8 × 10",
        "∇-CLUE 8 × 10, default",
    ];
    assert_eq!(rows(&document), expected);
    assert_eq!((&document["samples"], &document["rounds"], &document["format"]), (&4.into(), &1.into(), &1.into()));
    assert_eq!(document["steps"].as_array().unwrap().len(), 2, "{document}");
    let equal = &document["equal_cost"];
    assert_eq!(equal["inputs"], 2, "the most that was measured up to 100: {equal}");
    assert!(!equal["tried"].as_array().unwrap().is_empty(), "{equal}");
    assert!(document["rows"][6]["ours_dpp"].is_f64() && document["rows"][0]["ours_dpp"].is_null(), "{document}");
    let mut text = clue();
    text.arg("bench").arg(&run).args(["--rounds", "1", "--above", "0", "--inputs", "2", "--method", "clue"]);
    let text = ok(&mut text);
    assert!(text.contains("4 posterior samples") && text.contains("CLUE, default"), "{text}");
}

/// A program of another kind: it answers every line, and keeps what it was asked.
#[cfg(unix)]
fn echo(folder: &Path, reply: &str) -> String {
    let script =
        format!("while read -r line; do echo \"$line\" >> '{}'; echo '{reply}'; done", asked(folder).display());
    std::fs::write(folder.join("program.sh"), script).unwrap();
    format!("sh '{}'", folder.join("program.sh").display())
}

#[cfg(unix)]
fn asked(folder: &Path) -> std::path::PathBuf {
    folder.join("asked")
}

#[cfg(unix)]
#[test]
fn another_program_is_raced_line_by_line() {
    let (folder, run) = trained();
    let reply = r#"{"seconds": 2.0, "cost": 0.5, "uncertainty": 0.25, "distance": 1.5, "dpp": null, "threads": 1}"#;
    let against = echo(folder.path(), reply);
    let document = json(&mut bench(&run, &["--inputs", "2", "--method", "clue,nabla", "--against", &against]));
    let expected = [
        "CLUE, paper's steps",
        "CLUE",
        "CLUE, default",
        "∇-CLUE 8 × 10, paper's steps",
        "∇-CLUE 8 × 10",
        "∇-CLUE 8 × 10, default",
        "certificates",
        "CLUE without a step",
    ];
    assert_eq!(rows(&document), expected);
    assert_eq!(document["rows"][0]["other_seconds"], 2.0);
    assert_eq!(document["rows"][0]["other_cost"], 0.5);
    assert_eq!(document["against"]["info"]["threads"], 1);
    let asked: Vec<Value> = std::fs::read_to_string(asked(folder.path()))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    // Each work twice, since the first round does not count.
    let works: Vec<&str> = asked.iter().map(|request| request["work"].as_str().unwrap()).collect();
    assert_eq!(works, ["clue", "clue", "clue", "clue", "forward", "forward", "clue", "clue", "info", "quit"]);
    let set = &asked[2];
    let lambda_d = set["lambda_d"].as_f64().unwrap();
    assert_eq!((&set["rows"], &set["count"], &set["steps"]), (&8.into(), &10.into(), &30.into()), "{set}");
    assert!((lambda_d - 1.0).abs() < 1e-9 && set["delta"].as_f64() == Some(1.0), "{set}");
    assert!(asked[0]["starts"].is_null() && asked[0]["delta"].is_null() && asked[0]["lambda_d"].is_null());
    let starts = Path::new(set["starts"].as_str().unwrap());
    assert!(!starts.exists(), "{} was left", starts.display());
}

#[cfg(unix)]
#[test]
fn a_program_that_does_not_play_along_is_told_in_one_line() {
    let (folder, run) = trained();
    let raced = |against: &str, more: &[&str]| {
        let arguments = [&["--inputs", "1", "--method", "clue", "--against", against], more].concat();
        let (code, message) = fails(&mut bench(&run, &arguments));
        let last = message.lines().last().unwrap().to_owned();
        assert!(code == 1 && last.starts_with("clue: ") && last.contains(against), "{code}: {message}");
        last
    };
    let dies = raced("sh -c 'echo it is too much >&2; exit 3'", &[]);
    assert!(dies.contains("ended (exit status: 3)") && dies.contains("it is too much"), "{dies}");
    let nonsense = echo(folder.path(), "hello");
    let nonsense = raced(&nonsense, &[]);
    assert!(nonsense.contains("answered `hello`") && nonsense.contains("one JSON object a line"), "{nonsense}");
    let vague = raced(&echo(folder.path(), r#"{"seconds": "soon"}"#), &[]);
    assert!(vague.contains("at least `seconds`"), "{vague}");
    let refuses = raced(&echo(folder.path(), r#"{"error": "no such file"}"#), &[]);
    assert!(refuses.contains("refused") && refuses.contains("no such file"), "{refuses}");
    assert!(raced("/there/is/no/such/program", &[]).contains("cannot start"));
    let hangs = raced("sleep 60", &["--patience", "0.3s"]);
    assert!(hangs.contains("did not answer within 0.3 s") && hangs.contains("--patience"), "{hangs}");
    assert!(raced("sh -c 'exit", &[]).contains("has an open '"));
}

#[test]
fn a_run_that_is_sure_of_everything_says_what_to_lower() {
    let (_folder, run) = trained();
    let (_, message) = fails(clue().arg("bench").arg(&run).args(["--above", "5"]));
    assert!(message.contains("above 5") && message.contains("--above"), "{message}");
}
