//! The house keeps its order: a room names only rooms listed above it, and only some rooms open files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should end")]

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms from the ground floor up.
const ROOMS: [&str; 21] = [
    "error",
    "named",
    "seed",
    "tensor",
    "parallel",
    "linear",
    "observer",
    "data",
    "model",
    "uncertainty",
    "prediction",
    "distance",
    "diversity",
    "mixture",
    "explanation",
    "search",
    "amortise",
    "studio",
    "measure",
    "report",
    "experiment",
];

/// The only places that open files.
const OPENS_FILES: [&str; 3] = ["data/", "model/store/", "experiment/"];

fn source_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every source file with its path below `src` and its code: no comments, no tests.
fn files() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![source_folder()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(source_folder()).unwrap().to_str().unwrap().to_owned();
                found.push((name, code(&fs::read_to_string(&path).unwrap())));
            }
        }
    }
    found
}

fn code(text: &str) -> String {
    let before_tests = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = before_tests.lines().map(|line| line.split("//").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

fn room_of(file: &str) -> &str {
    file.split('/').next().unwrap().trim_end_matches(".rs")
}

fn floor(room: &str) -> Option<usize> {
    ROOMS.iter().position(|name| *name == room)
}

/// The rooms that some code names as `crate::room` or in `use crate::{room, …}`.
fn named_rooms(code: &str) -> Vec<&'static str> {
    let names =
        |room: &&'static str| code.contains(&format!("crate::{room}::")) || code.contains(&format!("crate::{room};"));
    ROOMS.into_iter().filter(names).collect()
}

#[test]
fn every_file_belongs_to_a_room() {
    for (file, _) in files() {
        assert!(file == "lib.rs" || floor(room_of(&file)).is_some(), "{file} is in no room of tests/rooms.rs");
    }
}

#[test]
fn a_room_names_only_rooms_above_it_in_the_list() {
    for (file, code) in files().iter().filter(|(file, _)| file != "lib.rs") {
        let own = floor(room_of(file)).unwrap();
        for room in named_rooms(code) {
            assert!(floor(room).unwrap() <= own, "{file} names `{room}`, which stands above it in the house");
        }
    }
}

#[test]
fn only_one_file_names_the_numerical_backend() {
    for (file, code) in files() {
        assert!(file == "tensor.rs" || !code.contains("burn::"), "{file} names burn; tensor.rs is the place for that");
    }
}

#[test]
fn only_data_the_store_and_experiments_open_files() {
    for (file, code) in files() {
        let opens = ["std::fs", "fs::File", "File::open", "File::create"].iter().any(|word| code.contains(word));
        let allowed = OPENS_FILES.iter().any(|place| file.starts_with(place));
        assert!(!opens || allowed, "{file} opens files; that belongs into {OPENS_FILES:?}");
    }
}

#[test]
fn only_experiments_have_a_clock() {
    for (file, code) in files() {
        let clock = ["Instant::now", "SystemTime"].iter().any(|word| code.contains(word));
        assert!(!clock || file.starts_with("experiment/"), "{file} looks at the clock; results must not depend on it");
    }
}

#[test]
fn the_check_itself_sees_a_room_that_is_named() {
    assert_eq!(named_rooms("use crate::report::Plot;\n"), ["report"]);
    assert!(named_rooms(&code("// use crate::report::Plot;\n")).is_empty());
}
