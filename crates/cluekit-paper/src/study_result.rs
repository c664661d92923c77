//! What an experiment found: tables of numbers, pictures, and whether each part of the claim holds.

use cluekit::error::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Whether a claim holds with our models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The claim holds.
    Held,
    /// The claim holds in part.
    HeldPartly,
    /// The claim does not hold.
    DidNotHold,
}

impl Verdict {
    /// Of several parts: held if all of them are, not if none is; without any part there is nothing that could hold.
    pub fn of(parts: impl IntoIterator<Item = Self>) -> Self {
        let parts: Vec<Self> = parts.into_iter().collect();
        match () {
            () if !parts.is_empty() && parts.iter().all(|part| *part == Self::Held) => Self::Held,
            () if parts.iter().all(|part| *part == Self::DidNotHold) => Self::DidNotHold,
            () => Self::HeldPartly,
        }
    }

    /// Held or not.
    pub fn from_bool(holds: bool) -> Self {
        if holds { Self::Held } else { Self::DidNotHold }
    }

    /// Held if all of them hold, partly if at least half of them do.
    pub fn of_share(holding: usize, all: usize) -> Self {
        match () {
            () if all > 0 && holding == all => Self::Held,
            () if 2 * holding >= all && holding > 0 => Self::HeldPartly,
            () => Self::DidNotHold,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Self::Held => "held",
            Self::HeldPartly => "held partly",
            Self::DidNotHold => "did not hold",
        })
    }
}

/// One part of a claim, as it can be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What should be so.
    pub says: String,
    /// What was measured.
    pub figures: String,
    /// Whether it is so.
    pub verdict: Verdict,
}

impl Check {
    /// A part that holds or does not.
    pub fn that(says: impl Into<String>, holds: bool, figures: impl Into<String>) -> Self {
        Self::new(says, Verdict::from_bool(holds), figures)
    }

    /// The verdicts of some parts.
    #[cfg(test)]
    pub(crate) fn verdicts(checks: impl IntoIterator<Item = Self>) -> Vec<Verdict> {
        checks.into_iter().map(|check| check.verdict).collect()
    }

    /// A part with its verdict.
    pub fn new(says: impl Into<String>, verdict: Verdict, figures: impl Into<String>) -> Self {
        Self { says: says.into(), figures: figures.into(), verdict }
    }
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number; what is no finite number is `null` in JSON and empty in CSV.
    Number(Option<f64>),
    /// A word.
    Text(String),
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Number(value.is_finite().then_some(value))
    }
}

impl From<f32> for Cell {
    fn from(value: f32) -> Self {
        // The shortest decimal that is this number, not the digits beyond its precision.
        Self::from(value.to_string().parse::<f64>().unwrap_or(f64::NAN))
    }
}

impl From<usize> for Cell {
    fn from(value: usize) -> Self {
        Self::from(value as f64)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Numbers in rows, as they are written to JSON and CSV.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Its name, also that of its file.
    pub name: String,
    /// What the columns hold.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table.
    pub fn new(name: &str, columns: &[&str]) -> Self {
        Self { name: name.into(), columns: columns.iter().map(ToString::to_string).collect(), rows: vec![] }
    }

    /// Adds a row to the table.
    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "a row of `{}` has as many cells as columns", self.name);
        self.rows.push(row);
    }

    /// As CSV, with a line of headings.
    pub fn csv(&self) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let failed = |error: csv::Error| cluekit::Error::data(format!("table `{}`: {error}", self.name));
        writer.write_record(&self.columns).map_err(failed)?;
        for row in &self.rows {
            let cell = |cell: &Cell| match cell {
                Cell::Number(value) => value.map_or(String::new(), |value| value.to_string()),
                Cell::Text(text) => text.clone(),
            };
            writer.write_record(row.iter().map(cell)).map_err(failed)?;
        }
        writer.into_inner().map_err(|error| cluekit::Error::data(format!("table `{}`: {error}", self.name)))
    }
}

/// Everything that an experiment found.
#[derive(Clone, Debug, Default)]
pub struct StudyResult {
    /// Numbers.
    pub tables: Vec<Table>,
    /// Pictures with the stems of their files' names, as SVG.
    pub pictures: Vec<(String, String)>,
    /// The parts of the claim.
    pub checks: Vec<Check>,
    /// The seeds that it was carried out with.
    pub seeds: Vec<u64>,
    /// The models that it was carried out with, and the hashes of their files.
    pub models: ModelHashes,
}

/// Models by their names in `models.toml`, with the hashes of their files.
pub type ModelHashes = BTreeMap<String, BTreeMap<String, String>>;

impl StudyResult {
    /// The verdict on the claim.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.checks.iter().map(|check| check.verdict))
    }

    /// This finding with one more table.
    #[must_use]
    pub fn table(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    /// This finding with one more picture.
    #[must_use]
    pub fn picture(mut self, name: &str, svg: String) -> Self {
        self.pictures.push((name.into(), svg));
        self
    }

    /// This finding with one more check.
    #[must_use]
    pub fn check(mut self, check: Check) -> Self {
        self.checks.push(check);
        self
    }

    /// This finding with several more checks.
    #[must_use]
    pub fn checks(mut self, checks: impl IntoIterator<Item = Check>) -> Self {
        self.checks.extend(checks);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_holds_if_all_its_parts_do_and_partly_if_some_do() {
        use Verdict::{DidNotHold, Held, HeldPartly};
        assert_eq!(Verdict::of([Held, Held]), Held);
        assert_eq!(Verdict::of([Held, DidNotHold]), HeldPartly);
        assert_eq!(Verdict::of([HeldPartly]), HeldPartly);
        assert_eq!(Verdict::of([DidNotHold, DidNotHold]), DidNotHold);
        assert_eq!(Verdict::of([]), DidNotHold);
        assert_eq!(
            [0, 3, 4, 8].map(|holding| Verdict::of_share(holding, 8)),
            [DidNotHold, DidNotHold, HeldPartly, Held]
        );
    }

    #[test]
    fn a_table_is_written_with_quotes_where_they_are_needed() {
        let mut table = Table::new("t", &["name", "H"]);
        table.push(vec!["a, \"b\"".into(), 0.25.into()]);
        table.push(vec!["c".into(), f64::NAN.into()]);
        assert_eq!(String::from_utf8(table.csv().unwrap()).unwrap(), "name,H\n\"a, \"\"b\"\"\",0.25\nc,\n");
        let json = serde_json::to_string(&table.rows).unwrap();
        assert_eq!(json, r#"[["a, \"b\"",0.25],["c",null]]"#);
        assert_eq!(serde_json::from_str::<Vec<Vec<Cell>>>(&json).unwrap(), table.rows);
    }
}
