//! Every crate that the workspace is built from comes under a licence that this project accepts.
//!
//! The list of crates is what `cargo tree` resolves for this machine with the default features: dependencies, build
//! dependencies and test dependencies. (`cargo metadata` also lists optional crates that are never built.)

use std::collections::BTreeSet;
use std::process::Command;

/// The licences that are accepted, by their SPDX names.
const ACCEPTED: [&str; 8] = [
    "Apache-2.0",
    "BSD-3-Clause",
    "CDLA-Permissive-2.0", // root certificates, which are data
    "ISC",
    "MIT",
    "MPL-2.0", // holds for the crate's own files, which are used unchanged
    "Unicode-3.0",
    "Zlib",
];

/// A licence expression such as `(MIT OR Apache-2.0) AND Unicode-3.0`.
#[derive(Debug, PartialEq)]
enum Expression {
    /// One licence, with its exception if it has one: `Apache-2.0 WITH LLVM-exception`.
    Licence(String),
    /// The user may choose.
    Any(Vec<Expression>),
    /// All of them hold.
    All(Vec<Expression>),
}

impl Expression {
    /// Reads SPDX as crates write it; a slash, which older crates use, means OR.
    fn parse(text: &str) -> Result<Self, String> {
        let spaced = text.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        let mut words = Words { rest: spaced.split_whitespace().collect() };
        let expression = words.any()?;
        match words.next() {
            None => Ok(expression),
            Some(word) => Err(format!("`{word}` is not expected there")),
        }
    }

    fn is_satisfied(&self, accepted: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Self::Licence(name) => accepted(name),
            Self::Any(parts) => parts.iter().any(|part| part.is_satisfied(accepted)),
            Self::All(parts) => parts.iter().all(|part| part.is_satisfied(accepted)),
        }
    }
}

/// What is still to be read of an expression. WITH binds closest, then AND, then OR.
struct Words<'a> {
    rest: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        (!self.rest.is_empty()).then(|| self.rest.remove(0))
    }

    /// Takes the next word if it is `word`.
    fn skip(&mut self, word: &str) -> bool {
        let found = self.rest.first() == Some(&word);
        if found {
            self.rest.remove(0);
        }
        found
    }

    fn any(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.all()?];
        while self.skip("OR") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::Any(parts) })
    }

    fn all(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.one()?];
        while self.skip("AND") {
            parts.push(self.one()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::All(parts) })
    }

    fn one(&mut self) -> Result<Expression, String> {
        if self.skip("(") {
            let inner = self.any()?;
            return if self.skip(")") { Ok(inner) } else { Err("a closing parenthesis is missing".into()) };
        }
        let name = self.name()?;
        match self.skip("WITH") {
            true => Ok(Expression::Licence(format!("{name} WITH {}", self.name()?))),
            false => Ok(Expression::Licence(name.to_owned())),
        }
    }

    fn name(&mut self) -> Result<&'a str, String> {
        match self.next() {
            Some(word) if !["OR", "AND", "WITH", "(", ")"].contains(&word) => Ok(word),
            Some(word) => Err(format!("`{word}` stands where a licence is expected")),
            None => Err("it ends where a licence is expected".into()),
        }
    }
}

/// What is wrong with a crate's licence, and what to do about it; nothing if it is accepted.
fn problem(name: &str, licence: &str) -> Option<String> {
    let remedy = "use another crate, or add the licence to ACCEPTED in crates/cluekit-cli/tests/licences.rs with a \
                  word on why its terms can be met";
    if licence.is_empty() {
        return Some(format!("{name} states no licence; {remedy}"));
    }
    match Expression::parse(licence) {
        Err(problem) => Some(format!("{name} has the licence `{licence}`, which cannot be read: {problem}; {remedy}")),
        Ok(expression) if expression.is_satisfied(&|name| ACCEPTED.contains(&name)) => None,
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
    assert!(crates.iter().any(|(name, _)| name.starts_with("burn v")), "the list of crates was not read: {crates:?}");
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
fn and_binds_closer_than_or() {
    // MIT OR (GPL-3.0 AND ISC), not (MIT OR GPL-3.0) AND ISC.
    let licence = |name: &str| Expression::Licence(name.into());
    let both = Expression::All(vec![licence("GPL-3.0"), licence("ISC")]);
    assert_eq!(Expression::parse("MIT OR GPL-3.0 AND ISC"), Ok(Expression::Any(vec![licence("MIT"), both])));
}

#[test]
fn an_exception_belongs_to_its_licence() {
    let parsed = Expression::parse("Apache-2.0 WITH LLVM-exception OR MIT").expect("it is a licence expression");
    assert!(parsed.is_satisfied(&|name| name == "MIT"));
    assert!(parsed.is_satisfied(&|name| name == "Apache-2.0 WITH LLVM-exception"));
    assert!(!parsed.is_satisfied(&|name| name == "Apache-2.0"));
}

#[test]
fn what_is_no_expression_is_refused() {
    for text in ["", "MIT OR", "AND MIT", "(MIT", "MIT)", "MIT Apache-2.0", "MIT WITH", "()"] {
        assert!(Expression::parse(text).is_err(), "{text}");
    }
}

#[test]
fn the_message_names_crate_licence_and_remedy() {
    let message = problem("some v1.0.0", "GPL-3.0").expect("GPL-3.0 is not accepted");
    assert!(message.starts_with("some v1.0.0 has the licence `GPL-3.0`, which is not accepted; use another crate"));
    assert!(problem("some v1.0.0", "").expect("there is none").contains("states no licence"));
}
