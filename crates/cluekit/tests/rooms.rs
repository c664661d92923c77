//! The house keeps its order: a room names only rooms listed above it, and only some rooms open files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should end")]

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms from the ground floor up.
const ROOMS: [&str; 23] = [
    "error",
    "named",
    "seed",
    "tensor",
    "parallel",
    "linear",
    "observer",
    "settings",
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
    "measure",
    "wording",
    "audit",
    "explainer",
    "testing",
];

/// The only places that open files; `testing.rs` writes down which tests were skipped.
const OPENS_FILES: [&str; 3] = ["data/", "model/store/", "testing.rs"];

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
    // The first name behind each `crate::`, or every first name within its braces.
    let firsts = code.split("crate::").skip(1).flat_map(|rest| match rest.strip_prefix('{') {
        Some(list) => top_level(list.split_once("};").map_or(list, |(list, _)| list)),
        None => vec![rest],
    });
    let word =
        |text: &str| text.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned);
    let named: Vec<String> = firsts.filter_map(word).collect();
    ROOMS.into_iter().filter(|room| named.iter().any(|name| name == room)).collect()
}

/// What stands between the commas of a list that are in no braces of its own.
fn top_level(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
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
fn only_data_and_the_store_open_files() {
    for (file, code) in files() {
        let opens = ["std::fs", "fs::File", "File::open", "File::create"].iter().any(|word| code.contains(word));
        let allowed = OPENS_FILES.iter().any(|place| file.starts_with(place));
        assert!(!opens || allowed, "{file} opens files; that belongs into {OPENS_FILES:?}");
    }
}

#[test]
fn no_room_has_a_clock() {
    for (file, code) in files() {
        let clock = ["Instant::now", "SystemTime"].iter().any(|word| code.contains(word));
        assert!(!clock, "{file} looks at the clock; results must not depend on it");
    }
}

#[test]
fn the_check_itself_sees_a_room_that_is_named() {
    assert_eq!(named_rooms("use crate::audit::Card;\n"), ["audit"]);
    assert_eq!(named_rooms("use crate::{data::{Schema, Task}, audit};\n"), ["data", "audit"]);
    assert!(named_rooms(&code("// use crate::audit::Card;\n")).is_empty());
}
