//! `clue data` as a user runs it: what is known, what is here, and how to get the rest.

use crate::common::{clue, json, ok};
use std::fs;
use std::path::Path;
use std::process::Command;

fn data(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = clue();
    command.arg("data").args(arguments).arg("--data").arg(directory);
    command
}

#[test]
fn the_list_says_where_a_dataset_is_or_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let credit = folder.path().join("uci_default_credit");
    fs::create_dir(&credit).unwrap();
    fs::write(credit.join("UCI_Credit_Card.csv"), "ID\n").unwrap();
    let table = ok(&mut data(folder.path(), &["list"]));
    let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(line("mnist").ends_with(" 70000  not here: clue data fetch mnist"), "{table}");
    assert!(line("credit").ends_with(&credit.display().to_string()), "{table}");
    assert!(line("moons").ends_with("made from the seed"), "{table}");
    assert!(table.ends_with(&format!("\n\ndata directory: {}\n", folder.path().display())), "{table}");
}

#[test]
fn json_is_one_document_with_every_file() {
    let folder = tempfile::tempdir().unwrap();
    let document = json(&mut data(folder.path(), &["show", "mnist", "--json"]));
    assert_eq!(document["present"], false);
    assert_eq!(document["files"].as_array().unwrap().len(), 4);
    assert_eq!(document["found"], serde_json::json!([null, null, null, null]));
    let document = json(&mut data(folder.path(), &["list", "--json"]));
    let names: Vec<_> = document["datasets"].as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
    assert_eq!(names[..2], ["moons", "synbols-small"]);
}

#[test]
fn show_names_licence_mirrors_and_what_cannot_be_checked() {
    let folder = tempfile::tempdir().unwrap();
    let text = ok(&mut data(folder.path(), &["show", "credit"]));
    for part in ["CC BY 4.0", "https://archive.ics.uci.edu/", "checked for its format only", "clue data fetch credit"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_is_made_needs_no_download() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(ok(&mut data(folder.path(), &["fetch", "moons"])), "");
}
