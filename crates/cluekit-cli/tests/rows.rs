//! Rows with names, files of one's own, batches that survive, and results for spreadsheets.

use crate::common::{clue, fails, files_of, json, ok, small};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

/// A table with identifiers, and a run that was made from it in the table's folder.
struct Clients {
    place: TempDir,
    run: PathBuf,
}

/// The line of the table, with the identifier of each client before the others.
fn line(i: usize) -> String {
    let (age, debt) = (20 + i * 7 % 50, i * 37 % 300);
    let job = ["clerk", "nurse", "judge"][i % 3];
    let late = if debt + i * 11 % 60 > 180 { "yes" } else { "no" };
    format!("C-{},{age},{debt},{job},{late}\n", 1000 + i)
}

fn table(rows: std::ops::Range<usize>) -> String {
    "client,age,debt,job,late\n".to_owned() + &rows.map(line).collect::<String>()
}

fn train(place: &Path, data: &str, run: &str, more: &[&str]) -> Command {
    let mut command = clue();
    command.current_dir(place).args(["train", data, "--target", "late", "--out", run]).args(more).args(small(&[]));
    command
}

fn clients() -> &'static Clients {
    static CLIENTS: OnceLock<Clients> = OnceLock::new();
    CLIENTS.get_or_init(|| {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("clients.csv"), table(0..300)).unwrap();
        ok(&mut train(place.path(), "clients.csv", "run", &[]));
        Clients { run: place.path().join("run"), place }
    })
}

fn on(command: &str, run: &Path, arguments: &[&str]) -> Command {
    let mut clue = clue();
    clue.arg(command).arg(run).args(arguments).arg("-q");
    clue
}

fn explain(arguments: &[&str]) -> Command {
    on("explain", &clients().run, &[&["--method", "clue", "--no-plausibility"], arguments].concat())
}

/// What a command printed as JSON, whether all inputs have a clue or not.
fn document(command: &mut Command) -> (Option<i32>, Value) {
    let Output { status, stdout, stderr } = command.arg("--json").output().unwrap();
    let message = String::from_utf8_lossy(&stderr).into_owned();
    (status.code(), serde_json::from_slice(&stdout).unwrap_or_else(|error| panic!("{error}: {message}")))
}

fn file(name: &str, text: &str) -> String {
    let path = clients().place.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn every_input_can_be_found_in_the_file_by_its_row_and_its_identifier() {
    let ranking = json(&mut on("rank", &clients().run, &["--json", "--top", "5"]));
    for input in ranking["inputs"].as_array().unwrap() {
        let (row, id) = (input["name"]["row"].as_u64().unwrap() as usize, input["name"]["id"].as_str().unwrap());
        assert!(table(0..300).lines().nth(row - 1).unwrap().starts_with(&format!("{id},")), "{input}");
        assert_eq!(input["label_name"], ["no", "yes"][input["label"].as_u64().unwrap() as usize]);
        assert!(input["matters"].as_array().unwrap().iter().all(|one| one["feature"] != "client"));
    }
    let id = ranking["inputs"][1]["name"]["id"].as_str().unwrap();
    let (_, found) = document(&mut explain(&["--ids", id]));
    let input = &found["explanations"][0]["input"];
    assert_eq!((&input["name"], &input["index"]), (&ranking["inputs"][1]["name"], &ranking["inputs"][1]["index"]));
    assert_eq!(input["target_name"], ranking["inputs"][1]["target_name"]);
    let text = String::from_utf8(explain(&["--ids", id]).output().unwrap().stdout).unwrap();
    assert!(text.contains(&format!(" (row {}, id {id}): predicted", input["name"]["row"])), "{text}");
    let (_, message) = fails(&mut explain(&["--ids", "C-1"]));
    assert!(message.contains("setting `ids`: `C-1` is not among the test rows"), "{message}");
}

#[test]
fn a_condition_chooses_among_the_rows_of_a_split_and_of_a_file() {
    let young = |document: &Value| {
        let rows = document["explanations"].as_array().unwrap();
        assert!(!rows.is_empty() && rows.iter().all(|row| row["input"]["row"]["age"].as_f64().unwrap() < 35.0));
        rows.len()
    };
    young(&document(&mut explain(&["--where", "age < 35", "--top", "3"])).1);
    let path = file("some.csv", &table(300..330));
    let (_, found) = document(&mut explain(&["--file", &path, "--where", "age < 35"]));
    let expected = (300..330).filter(|i| 20 + i * 7 % 50 < 35).count();
    assert_eq!(young(&found), expected);
    let (_, message) = fails(&mut explain(&["--where", "aeg < 35"]));
    assert!(message.contains("no feature is called `aeg`"), "{message}");
}

#[test]
fn a_bad_row_of_a_batch_has_its_reason_and_the_others_are_explained_in_their_order() {
    let good = |i: usize| line(i).trim_end().to_owned();
    let bad = good(401).replace(["clerk", "nurse", "judge"][401 % 3], "pilot");
    let text = [table(0..0).trim_end(), &good(400), &bad, &good(402), "C-9,old,5,clerk,no", &good(403)].join("\n");
    let path = file("batch.csv", &text);
    let (code, found) = document(&mut explain(&["--file", &path]));
    assert_eq!(code, Some(3));
    let index = |rows: &Value| -> Vec<u64> {
        rows.as_array().unwrap().iter().map(|row| row["input"]["index"].as_u64().unwrap()).collect()
    };
    assert_eq!(index(&found["explanations"]), [0, 2, 4]);
    let rejected = found["rejected"].as_array().unwrap();
    assert_eq!(rejected.len(), 2);
    assert_eq!((&rejected[0]["index"], &rejected[0]["name"]["row"]), (&1.into(), &3.into()));
    assert_eq!(rejected[0]["name"]["id"], "C-1401");
    assert!(rejected[0]["reason"].as_str().unwrap().starts_with("column `job`: `pilot` is not one of"));
    assert!(rejected[1]["reason"].as_str().unwrap().starts_with("column `age`: `old` is not"));
    // The same rows by their numbers and identifiers.
    let (_, chosen) = document(&mut explain(&["--file", &path, "--inputs", "4,1"]));
    assert_eq!((index(&chosen["explanations"]), chosen["rejected"].as_array().unwrap().len()), (vec![4], 1));
    let (code, chosen) = document(&mut explain(&["--file", &path, "--ids", "C-1401"]));
    assert_eq!((code, chosen["explanations"].as_array().unwrap().len()), (Some(3), 0));
    let (_, message) = fails(&mut explain(&["--file", &path, "--inputs", "5"]));
    assert!(message.contains("there is no row 5"), "{message}");
    let output = explain(&["--file", &path]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Input 1 (row 3, id C-1401): left out: column `job`: `pilot`"), "{text}");
    // The same of a ranking, and of mappers.
    let (code, ranking) = document(&mut on("rank", &clients().run, &["--file", &path]));
    assert_eq!((code, ranking["inputs"].as_array().unwrap().len()), (Some(3), 3));
    assert_eq!(&ranking["rejected"], &found["rejected"]);
    let mut apply = clue();
    apply.args(["glam", "apply"]).arg(&clients().run).args(["--method", "reconstruction", "--file", &path, "-q"]);
    let (code, applied) = document(&mut apply);
    assert_eq!((code, index(&applied["explanations"])), (Some(3), vec![0, 2, 4]));
    assert_eq!(&applied["rejected"], &found["rejected"]);
}

#[test]
fn a_ranking_can_be_of_those_rows_that_meet_a_condition() {
    let run = &clients().run;
    let all = json(&mut on("rank", run, &["--json", "--top", "100"]));
    let old = json(&mut on("rank", run, &["--json", "--top", "100", "--where", "age >= 40"]));
    let age = |input: &Value| 20 + (input["name"]["row"].as_u64().unwrap() - 2) * 7 % 50;
    let expected: Vec<&Value> = all["inputs"].as_array().unwrap().iter().filter(|input| age(input) >= 40).collect();
    assert!(!expected.is_empty() && expected.len() < all["inputs"].as_array().unwrap().len());
    assert_eq!(old["inputs"].as_array().unwrap().iter().collect::<Vec<_>>(), expected);
    let path = file("ranked.csv", &table(300..330));
    let (code, ranking) = document(&mut on("rank", run, &["--file", &path, "--where", "age < 0"]));
    assert_eq!((code, ranking["inputs"].as_array().unwrap().len()), (Some(0), 0));
    let (_, message) = fails(&mut on("rank", run, &["--where", "age < 0"]));
    assert!(message.contains("there is no input with age < 0"), "{message}");
}

#[test]
fn a_bad_cell_of_a_batch_takes_no_other_cell_along() {
    let place = tempfile::tempdir().unwrap();
    let row = |i: usize| {
        let (age, debt) = (20 + i * 7 % 50, i * 37 % 300);
        let late = if debt + i * 11 % 60 > 180 { "yes" } else { "no" };
        format!("{age};{}.{:03},5;{},2 %;{late}\n", 1 + debt / 100, debt % 100 * 10, debt % 9)
    };
    let header = "age;debt;rate;late\n";
    std::fs::write(place.path().join("all.csv"), header.to_owned() + &(0..200).map(row).collect::<String>()).unwrap();
    ok(&mut train(place.path(), "all.csv", "run", &[]));
    let run = place.path().join("run");
    let rank = |text: &str| {
        let path = place.path().join("batch.csv");
        std::fs::write(&path, header.to_owned() + text).unwrap();
        document(&mut on("rank", &run, &["--file", path.to_str().unwrap()]))
    };
    let (code, ranking) = rank("30;1.500,5;3,2 %;no\n31;lots;1,2 %;no\n32;1.250,5;inf;no\n33;1.600,5;2,2 %;no\n");
    let mut good: Vec<u64> =
        ranking["inputs"].as_array().unwrap().iter().map(|one| one["index"].as_u64().unwrap()).collect();
    good.sort_unstable();
    assert_eq!((code, good), (Some(3), vec![0, 3]), "{ranking}");
    let reason = |at: usize| ranking["rejected"][at]["reason"].as_str().unwrap();
    assert!(
        reason(0).starts_with("column `debt`: `lots` is not") && reason(1).starts_with("column `rate`: `inf` is not")
    );
    // 1.500 alone could be one and a half; the run knows that its numbers have a decimal comma.
    let uncertainty = |text: &str| rank(text).1["inputs"][0]["uncertainty"]["total"].clone();
    assert_eq!(uncertainty("30;1.500;3 %;no\n"), uncertainty("30;1500,0;3,0 %;no\n"));
    assert!(std::fs::read_to_string(run.join("run.toml")).unwrap().contains("decimal_comma = true"));
}

#[test]
fn a_row_that_no_change_brings_within_the_constraints_is_left_out() {
    let path = file("old.csv", "age,debt,job\n30,100,clerk\n60,100,nurse\n31,90,judge\n");
    let never = ["--file", &path, "--immutable", "age", "--range", "age=20..50"];
    let (code, found) = document(&mut explain(&never));
    assert_eq!(code, Some(3), "{found}");
    let rejected = found["rejected"].as_array().unwrap();
    assert_eq!((rejected.len(), found["explanations"].as_array().unwrap().len()), (1, 2), "{found}");
    assert_eq!((&rejected[0]["index"], &rejected[0]["name"]["row"]), (&1.into(), &3.into()));
    assert!(rejected[0]["reason"].as_str().unwrap().contains("age"), "{}", rejected[0]);
}

#[test]
fn an_audit_goes_on_beside_rows_that_cannot_meet_the_constraints() {
    let place = tempfile::tempdir().unwrap();
    let page = place.path().join("audit.html").display().to_string();
    let narrow = ["--immutable", "age", "--range", "age=20..45", "--quick", "--no-groups", "--out", &page];
    let (_, found) = document(&mut on("audit", &clients().run, &narrow));
    let told: Vec<&str> = found["missing"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert!(told.iter().any(|line| line.contains("no change meets the constraints")), "{told:?}");
    assert!(!found["gallery"].is_null());
    let (_, message) =
        fails(&mut on("audit", &clients().run, &["--immutable", "age", "--range", "age=10..11", "--quick"]));
    assert!(message.contains("age"), "{message}");
}

#[test]
fn measures_and_audits_of_a_file_are_those_of_its_rows_with_a_target() {
    let run = &clients().run;
    let path = file("next.csv", &table(300..360));
    let measured = json(&mut on("measure", run, &["--file", &path, "--json"]));
    assert!(measured["predictor"].is_object(), "{measured}");
    let page = clients().place.path().join("next.html");
    let options = ["--file", &path, "--quick", "--no-groups", "--top", "3", "--out", page.to_str().unwrap()];
    let (code, audit) = document(&mut on("audit", run, &options));
    assert!(code == Some(0) || code == Some(3));
    assert_eq!(
        (&audit["subject"]["dataset"], &audit["uncertainty"]["tally"]["rows"]),
        (&"next.csv".into(), &60.into())
    );
    let card = &audit["gallery"]["cards"][0];
    let html = std::fs::read_to_string(&page).unwrap();
    let named = format!("(row {}, id {})", card["name"]["row"], card["name"]["id"].as_str().unwrap());
    assert!(html.contains(&named), "{named}");
    let bad = file("bad.csv", &table(300..360).replace("nurse", "pilot"));
    let (code, measured) = document(&mut on("measure", run, &["--file", &bad]));
    let rejected = measured["rejected"].as_array().unwrap();
    assert_eq!((code, rejected.len(), &rejected[0]["name"]["row"]), (Some(3), 20, &3.into()));
    assert!(rejected[0]["reason"].as_str().unwrap().starts_with("column `job`: `pilot` is not one of"));
    let alone = file(
        "good.csv",
        &table(300..360).lines().filter(|line| !line.contains("nurse")).collect::<Vec<_>>().join("\n"),
    );
    assert_eq!(measured["predictor"], json(&mut on("measure", run, &["--file", &alone, "--json"]))["predictor"]);
    let output = on("measure", run, &["--file", &bad]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("Input 1 (row 3, id C-1301): left out: column `job`"));
    let options = ["--file", &bad, "--quick", "--no-groups", "--top", "3", "--out", page.to_str().unwrap()];
    let (code, audit) = document(&mut on("audit", run, &options));
    assert_eq!((code, &audit["uncertainty"]["tally"]["rows"]), (Some(3), &40.into()));
    let told = audit["missing"][0].as_str().unwrap();
    assert!(told.starts_with("20 rows of bad.csv cannot be looked at. Input 1 (row 3, id C-1301): left out"), "{told}");
    let none = file("none.csv", &table(300..302).replace("clerk", "pilot").replace("nurse", "pilot"));
    let (_, message) = fails(&mut on("measure", run, &["--file", &none]));
    assert!(message.contains("none.csv: 2 rows cannot be used: line 2, column `job`: `pilot` is not"), "{message}");
    let bare = file("bare.csv", "age,debt,job\n30,100,clerk\n");
    assert!(fails(&mut on("measure", run, &["--file", &bare])).1.contains("has no column `late`"));
}

#[test]
fn clues_are_written_for_spreadsheets_with_the_rows_that_were_left_out() {
    let text = table(300..303) + "=cmd,30,5,pilot,no\n";
    let (path, folder) = (file("spread.csv", &text), clients().place.path().join("clues"));
    let command = || explain(&["--file", &path, "--out", folder.to_str().unwrap()]);
    assert_eq!(command().output().unwrap().status.code(), Some(3));
    let files = files_of(&folder);
    let csv = String::from_utf8(files["clues.csv"].clone()).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("index,row,id,clue,predicted,target,label,H before,H after,distance,cost,"), "{csv}");
    assert!(lines[0].ends_with(",age,age was,debt,debt was,job,job was"), "{csv}");
    assert!(lines[1].starts_with("0,2,C-1300,0,") && lines[4].starts_with("3,5,'=cmd,,,"), "{csv}");
    assert!(lines[4].contains("`pilot`") && lines.len() == 5, "{csv}");
    assert!(files["clues.xlsx"].starts_with(b"PK"));
    command().output().unwrap();
    assert_eq!(files_of(&folder), files, "the same clues have the same bytes");
    let list = clients().place.path().join("unsure.csv");
    let rank = ["--file", &path, "--out", list.to_str().unwrap()];
    assert_eq!(on("rank", &clients().run, &rank).output().unwrap().status.code(), Some(3));
    let list = std::fs::read_to_string(list).unwrap();
    assert!(list.starts_with("index,row,id,total,") && list.contains("\n3,5,'=cmd,,"), "{list}");
}

#[test]
fn a_run_finds_its_data_from_any_folder_and_together_they_may_move() {
    let place = tempfile::tempdir().unwrap();
    let (before, after) = (place.path().join("before"), place.path().join("after"));
    std::fs::create_dir(&before).unwrap();
    std::fs::write(before.join("clients.csv"), table(0..200)).unwrap();
    std::fs::write(before.join("later.csv"), table(200..230)).unwrap();
    ok(&mut train(&before, "clients.csv", "runs/one", &["--test", "later.csv"]));
    let record = std::fs::read_to_string(before.join("runs/one/run.toml")).unwrap();
    assert!(
        record.contains("name = \"../../clients.csv\"") && record.contains("test = \"../../later.csv\""),
        "{record}"
    );
    let ranking = json(&mut on("rank", &before.join("runs/one"), &["--json", "--top", "100"]));
    let inputs = ranking["inputs"].as_array().unwrap();
    let first = inputs.iter().find(|input| input["index"] == 0).unwrap();
    assert_eq!((inputs.len(), &first["name"]["id"], &first["name"]["row"]), (30, &"C-1200".into(), &2.into()));
    std::fs::rename(&before, &after).unwrap();
    let moved = json(on("rank", Path::new("runs/one"), &["--json", "--top", "100"]).current_dir(&after));
    assert_eq!(moved, ranking);
}

#[test]
fn a_run_of_before_opens_from_the_folder_that_it_was_made_in() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("clients.csv"), table(0..200)).unwrap();
    ok(&mut train(place.path(), "clients.csv", "runs/one", &[]));
    let record = place.path().join("runs/one/run.toml");
    let text = std::fs::read_to_string(&record).unwrap();
    let old = text.replace("../../clients.csv", "clients.csv").replace("[dataset.rows]\nid = \"client\"\n", "");
    assert_ne!(old, text);
    std::fs::write(&record, old).unwrap();
    ok(on("rank", Path::new("runs/one"), &[]).current_dir(place.path()));
    assert!(fails(&mut on("rank", &place.path().join("runs/one"), &[])).1.contains("clients.csv"));
}

#[test]
fn a_column_of_identifiers_that_was_named_is_no_feature() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("clients.csv"), table(0..200)).unwrap();
    ok(&mut train(place.path(), "clients.csv", "run", &["--id", "age"]));
    let schema = std::fs::read_to_string(place.path().join("run/schema.toml")).unwrap();
    assert!(!schema.contains("\"age\"") && schema.contains("\"debt\""), "{schema}");
    let ranking = json(&mut on("rank", &place.path().join("run"), &["--json", "--top", "1"]));
    let name = &ranking["inputs"][0]["name"];
    let i = name["row"].as_u64().unwrap() as usize - 2;
    assert_eq!(name["id"], (20 + i * 7 % 50).to_string());
    let (_, message) = fails(&mut train(place.path(), "clients.csv", "other", &["--id", "late"]));
    assert!(message.contains("setting `id`: `late` is the column to predict"), "{message}");
    assert!(!place.path().join("other").exists());
}
