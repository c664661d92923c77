//! `clue schema` end to end, and what `clue train` makes of the same options.

use crate::common::{clue, fails, json, ok, small};
use std::path::{Path, PathBuf};

/// A table of 240 students in `students.csv`, with a column of each kind.
fn students(folder: &Path) -> PathBuf {
    let row = |i: usize| {
        let (grade, passed) = (["E", "D", "C", "B", "A"][i * 7 % 5], ["no", "yes"][(i * 31 % 240 + i / 9 % 40) / 140]);
        let day = 1 + i * 11 % 28;
        let sports = i * 13 % 3;
        let sport = |which: usize| u8::from(sports == which);
        let (balls, chess, none) = (sport(0), sport(1), sport(2));
        format!("s{i:04},{},{grade},2021-03-{day:02},{balls},{chess},{none},7,{passed}\n", i * 31 % 240)
    };
    let header = "student_id,points,english,enrolled,sport_ball,sport_chess,sport_none,version,passed\n";
    let path = folder.join("students.csv");
    std::fs::write(&path, header.to_owned() + &(0..240).map(row).collect::<String>()).unwrap();
    path
}

#[test]
fn a_schema_says_what_was_inferred_and_why_and_trains_as_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let (table, schema) = (students(folder.path()), folder.path().join("schema.toml"));
    let options = ["--target", "passed", "--ordinal", "E<D<C<B<A", "--drop", "points"];
    let printed = ok(clue().arg("schema").arg(&table).args(options));
    for part in [
        "# words in the order that was declared: E < D < C < B < A\n[[features]]\nname = \"english\"\nkind = \"ordinal\"",
        "# dates written yyyy-mm-dd, read as days since 1970-01-01\n[[features]]\nname = \"enrolled\"\nkind = \"date\"",
        "name = \"sport\"\nkind = \"one-hot\"",
        "order = [\"E\", \"D\", \"C\", \"B\", \"A\"]",
    ] {
        assert!(printed.contains(part), "{part}\nis not in\n{printed}");
    }
    assert!(!printed.contains("student_id") && !printed.contains("points") && !printed.contains("version"));

    ok(clue().arg("schema").arg(&table).args(options).arg("--out").arg(&schema));
    assert_eq!(std::fs::read_to_string(&schema).unwrap(), printed);
    let runs = [folder.path().join("inferred"), folder.path().join("given")];
    let train = |run: &Path| {
        let mut command = clue();
        command.arg("train").arg(&table).arg("--out").arg(run).args(small(&[]));
        command
    };
    ok(train(&runs[0]).args(options));
    ok(train(&runs[1]).arg("--schema").arg(&schema));
    let [inferred, given] = runs
        .each_ref()
        .map(|run| ["schema.toml", "predictor.safetensors"].map(|file| std::fs::read(run.join(file)).unwrap()));
    assert!(inferred == given, "the schema that was printed gives another run");
    let record = std::fs::read_to_string(runs[0].join("run.toml")).unwrap();
    assert!(record.contains("stratified = true") && record.contains("drop = [\"points\"]"), "{record}");

    let explained =
        clue().arg("explain").arg(&runs[0]).args(["--method", "clue", "--top", "2", "--json"]).output().unwrap();
    let explained: serde_json::Value = serde_json::from_slice(&explained.stdout).unwrap();
    let row = &explained["explanations"][0]["input"]["row"];
    assert!("ABCDE".contains(row["english"].as_str().unwrap()), "{row}");
    assert!(row["enrolled"].as_str().unwrap().starts_with("2021-03-"), "{row}");
    assert!(row["sport"].as_str().unwrap().starts_with("sport_"), "{row}");
}

#[test]
fn notes_and_reasons_are_part_of_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let table = students(folder.path());
    let document = json(clue().arg("schema").arg(&table).arg("--json"));
    assert_eq!(document["schema"]["target"]["name"], "passed");
    let count = document["schema"]["features"].as_array().unwrap().len();
    assert_eq!(document["reasons"].as_array().unwrap().len(), count);
    let notes = document["notes"].to_string();
    for note in
        ["the last column, `passed`, is taken", "column `student_id` is left out", "`version` is left out: it is `7`"]
    {
        assert!(notes.contains(note), "{notes}");
    }
}

#[test]
fn what_is_said_of_columns_twice_or_of_no_table_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (table, schema) = (students(folder.path()), folder.path().join("schema.toml"));
    ok(clue().arg("schema").arg(&table).arg("--out").arg(&schema));
    let run = folder.path().join("run");
    let (_, message) = fails(
        clue().arg("train").arg(&table).arg("--schema").arg(&schema).args(["--drop", "points"]).arg("--out").arg(&run),
    );
    assert!(message.contains("says what the columns mean; change it there"), "{message}");
    let (_, message) = fails(clue().args(["train", "moons", "--drop", "x1", "--out"]).arg(&run));
    assert!(message.contains("`moons` is none"), "{message}");
    let (code, message) = fails(clue().arg("schema").arg(&table).args(["--ordinal", "red<blue"]));
    assert!(code == 2 && message.contains("no column holds just the words"), "{code} {message}");
    assert!(!run.exists());
}
