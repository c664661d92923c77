//! The house keeps its order: a room names only rooms listed above it, and only some rooms open files.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms from the ground floor up.
const ROOMS: [&str; 27] = [
    "error",
    "named",
    "seed",
    "panels",
    "lanes",
    "convolution",
    "tensor",
    "parallel",
    "linear",
    "normal",
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
    sources(&source_folder()).into_iter().map(|(name, text)| (name, code(&text))).collect()
}

/// Every source file below a folder with its path and its text.
fn sources(top: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

fn before_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap()
}

fn code(text: &str) -> String {
    let lines = before_tests(text).lines().map(|line| line.split("//").next().unwrap());
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
        let burn = ["burn_tensor", "burn_flex", "burn_autodiff"].iter().any(|name| code.contains(name));
        assert!(file == "tensor.rs" || !burn, "{file} names burn; tensor.rs is the place for that");
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
fn the_version_of_the_backend_is_the_one_that_is_pinned() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml")).unwrap();
    let (name, version) = cluekit::tensor::BACKEND;
    let pinned = format!("= {{ version = \"={version}\"");
    let parts: Vec<&str> = manifest.lines().filter(|line| line.starts_with(&format!("{name}-"))).collect();
    assert_eq!(parts.len(), 3, "{parts:?}");
    assert!(parts.iter().all(|line| line.contains(&pinned)), "{name} {version}: {parts:?}");
}

#[test]
fn no_room_has_a_clock() {
    for (file, code) in files() {
        let clock = ["Instant::now", "SystemTime"].iter().any(|word| code.contains(word));
        assert!(!clock, "{file} looks at the clock; results must not depend on it");
    }
}

/// The crates whose words every door repeats.
const SPEECHLESS: [&str; 4] = ["cluekit", "cluekit-plot", "cluekit-report", "cluekit-synbols"];

/// What only a shell understands.
fn is_for_a_shell(text: &str) -> bool {
    text.starts_with("--") || [" --", "`--", "`clue "].iter().any(|word| text.contains(word))
}

#[test]
fn no_string_of_the_library_is_for_a_shell() {
    for name in SPEECHLESS {
        for (file, text) in sources(&source_folder().join("../..").join(name).join("src")) {
            // A file of its own may hold tests alone.
            if file.ends_with("tests.rs") || file.ends_with("laws.rs") {
                continue;
            }
            for string in strings(before_tests(&text)) {
                assert!(
                    !is_for_a_shell(&string),
                    "{name}/src/{file} has a string for a shell: {string:?}; use a Remedy"
                );
            }
        }
    }
}

/// The string literals of some code; those in comments are none.
fn strings(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let raw = rest.strip_prefix('r').map(|raw| (raw, raw.chars().take_while(|c| *c == '#').count()));
        rest = if rest.starts_with("//") {
            rest.split_once('\n').map_or("", |(_, rest)| rest)
        } else if let Some((raw, hashes)) = raw.filter(|(raw, hashes)| raw[*hashes..].starts_with('"')) {
            let end = format!("\"{}", "#".repeat(hashes));
            let (string, rest) = raw[hashes + 1..].split_once(&end).unwrap();
            found.push(string.to_owned());
            rest
        } else if first == '"' {
            let (string, rest) = until_quote(&rest[1..]);
            found.push(string);
            rest
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            rest[1..].split_once('\'').unwrap().1
        } else {
            &rest[first.len_utf8()..]
        };
    }
    found
}

/// A string up to its closing quote, with its lines joined, and what comes after it.
fn until_quote(text: &str) -> (String, &str) {
    let mut string = String::new();
    let mut rest = text;
    loop {
        let first = rest.chars().next().unwrap();
        rest = &rest[first.len_utf8()..];
        match first {
            '"' => return (string, rest),
            '\\' if rest.starts_with('\n') => rest = rest.trim_start(),
            '\\' => {
                let escaped = rest.chars().next().unwrap();
                string.push(escaped);
                rest = &rest[escaped.len_utf8()..];
            }
            other => string.push(other),
        }
    }
}

#[test]
fn the_check_itself_sees_strings_and_no_comments() {
    let code =
        "let a = \"one \\\n   --two\"; // \"three\"\nlet b = r#\"fo\"ur\"#; let c = '\"'; let d = \"fi\\\"ve\";\n";
    assert_eq!(strings(code), ["one --two", "fo\"ur", "fi\"ve"]);
    assert!(is_for_a_shell("try --delta") && is_for_a_shell("run `clue train`") && !is_for_a_shell("a--b"));
}

#[test]
fn the_check_itself_sees_a_room_that_is_named() {
    assert_eq!(named_rooms("use crate::audit::Card;\n"), ["audit"]);
    assert_eq!(named_rooms("use crate::{data::{Schema, Task}, audit};\n"), ["data", "audit"]);
    assert!(named_rooms(&code("// use crate::audit::Card;\n")).is_empty());
}
