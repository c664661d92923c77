//! Every crate that the workspace is built from comes under a licence that `deny.toml` accepts.
//!
//! The list of crates is what `cargo tree` resolves for this machine with the default features: dependencies, build
//! dependencies and test dependencies. (`cargo metadata` also lists optional crates that are never built.) `cargo deny`
//! reads the same list of licences, and looks for vulnerabilities besides; here nothing has to be installed.

use spdx::{Expression, Licensee, ParseMode};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

/// The licences that are accepted.
static ACCEPTED: LazyLock<Vec<Licensee>> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deny.toml");
    let text = std::fs::read_to_string(path).expect("deny.toml is at the root of the workspace");
    let settings: toml::Table = text.parse().expect("deny.toml is TOML");
    let allowed = settings["licenses"]["allow"].as_array().expect("licenses.allow is a list");
    let licensee = |name: &toml::Value| Licensee::parse(name.as_str().expect("it is a name")).expect("SPDX knows it");
    allowed.iter().map(licensee).collect()
});

/// What is wrong with a crate's licence, and what to do about it; nothing if it is accepted.
fn problem(name: &str, licence: &str) -> Option<String> {
    let remedy = "use another crate, or add the licence to deny.toml with a word on why its terms can be met";
    if licence.is_empty() {
        return Some(format!("{name} states no licence; {remedy}"));
    }
    match Expression::parse_mode(licence, ParseMode::LAX) {
        Err(problem) => {
            Some(format!("{name} has the licence `{licence}`, which cannot be read: {}; {remedy}", problem.reason))
        }
        Ok(expression) if expression.evaluate(|asked| ACCEPTED.iter().any(|one| one.satisfies(asked))) => None,
        Ok(_) => Some(format!("{name} has the licence `{licence}`, which is not accepted; {remedy}")),
    }
}

/// Name with version, and licence, of every crate that is built.
fn crates() -> BTreeSet<(String, String)> {
    let arguments = ["tree", "--workspace", "--locked", "--prefix", "none", "--format", "{p}\t{l}"];
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(arguments).output().expect("cargo can be started");
    assert!(output.status.success(), "cargo tree failed:\n{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    // A crate that was listed before is marked by (*).
    let lines = text.lines().map(|line| line.trim_end_matches("(*)").trim_end_matches(' '));
    lines
        .filter_map(|line| line.split_once('\t'))
        .map(|(name, licence)| (name.split_whitespace().take(2).collect::<Vec<_>>().join(" "), licence.to_owned()))
        .collect()
}

#[test]
fn every_dependency_has_an_accepted_licence() {
    let crates = crates();
    assert!(
        crates.iter().any(|(name, _)| name.starts_with("burn-tensor v")),
        "the list of crates was not read: {crates:?}"
    );
    let problems: Vec<String> = crates.iter().filter_map(|(name, licence)| problem(name, licence)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn one_accepted_licence_is_enough_where_there_is_a_choice() {
    for licence in ["MIT", "GPL-3.0 OR MIT", "MIT/GPL-3.0", "GPL-3.0 / MIT", "GPL-2.0 OR GPL-3.0 OR Zlib"] {
        assert_eq!(problem("some v1.0.0", licence), None);
    }
}

#[test]
fn every_licence_must_be_accepted_where_all_hold() {
    assert_eq!(problem("some v1.0.0", "(GPL-3.0 OR MIT) AND Unicode-3.0"), None);
    for licence in ["MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND GPL-3.0", "GPL-3.0 AND (MIT OR Zlib)"] {
        assert!(problem("some v1.0.0", licence).is_some(), "{licence}");
    }
}

#[test]
fn what_is_no_expression_is_refused() {
    for text in ["MIT OR", "AND MIT", "(MIT", "MIT)", "MIT Apache-2.0", "MIT WITH", "()"] {
        let message = problem("some v1.0.0", text).expect("it is no expression");
        assert!(message.contains("cannot be read"), "{message}");
    }
}

#[test]
fn the_message_names_crate_licence_and_remedy() {
    let message = problem("some v1.0.0", "GPL-3.0").expect("GPL-3.0 is not accepted");
    assert!(message.starts_with("some v1.0.0 has the licence `GPL-3.0`, which is not accepted; use another crate"));
    assert!(problem("some v1.0.0", "").expect("there is none").contains("states no licence"));
}
