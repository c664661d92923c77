//! A table as it lies in a file: named columns of numbers or of text, nothing interpreted yet.
//!
//! A column is one of numbers if all its cells are numbers, or missing. A missing cell is NaN among numbers; among text it
//! stays as it is written. What the file is, its contents say ([`Content`]).

mod bad_cells;
mod build;
#[cfg(feature = "excel")]
mod chains;
mod charset;
mod dialect;
#[cfg(test)]
mod fixtures;
mod header;
mod numbers;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "excel")]
pub(crate) mod sheet;
mod signs;
pub(crate) mod text;

pub(crate) use bad_cells::BadCells;
pub(super) use build::{Commas, Words, decimals_of};
pub(crate) use signs::{plain_numbers, without_signs};

use super::Source;
use super::content::Content;
use super::dataset::sha256_hex;
use super::encoding::{Cell, closest, listed};
use super::reading::Reading;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

pub(crate) use numbers::is_rounded;

/// The columns of a file, all of the same length.
#[derive(Clone, Debug)]
pub(crate) struct RawTable {
    pub path: PathBuf,
    pub columns: Vec<RawColumn>,
    pub places: Places,
    /// Whether its numbers have a decimal comma.
    pub commas: Commas,
}

/// A column's name and cells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawColumn {
    pub name: String,
    pub cells: Cells,
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cells {
    /// Finite numbers, without −0, NaN where a cell is missing, and the most digits after the point that any is written with.
    Numbers { values: Vec<f64>, decimals: u32 },
    /// For each row a place in `words`, the distinct texts in the order of their appearance.
    Text { words: Vec<String>, codes: Vec<u32> },
}

/// Where the rows stand in the file, for messages.
#[derive(Clone, Debug)]
pub(crate) enum Places {
    /// Lines of a text file, counted from 1.
    Lines(Vec<u64>),
    /// Rows of a spreadsheet, counted from 1.
    #[cfg(feature = "excel")]
    SheetRows(Vec<u64>),
    /// Rows without the header, counted from 1.
    Rows,
}

/// A table, the file that it came from, and what the user should know of how it was read.
pub(crate) struct ReadTable {
    pub table: RawTable,
    pub source: Source,
    pub notes: Vec<String>,
}

impl RawTable {
    /// Reads a text, Parquet or Excel file as `reading` says; columns that are `expected` help to recognise a header.
    pub(crate) fn read(path: &Path, reading: &Reading, expected: &[&str]) -> Result<ReadTable> {
        let stored = std::fs::read(path).map_err(Error::reading(path))?;
        let source = Source { file: file_name(path), sha256: sha256_hex(&stored) };
        let (table, notes) = match Content::of(&stored) {
            Content::Text => text::read(path, stored, reading, expected)?,
            #[cfg(feature = "parquet")]
            Content::Parquet => {
                drop(stored);
                (parquet::read(path)?, vec![])
            }
            #[cfg(not(feature = "parquet"))]
            Content::Parquet => {
                let problem = "is Parquet, which this build does not read; switch on the feature `parquet`";
                return Err(Error::file(path, problem));
            }
            #[cfg(feature = "excel")]
            Content::Workbook | Content::NewWorkbook => sheet::read(path, &stored, reading, expected)?,
            #[cfg(not(feature = "excel"))]
            Content::Workbook | Content::NewWorkbook => {
                let problem = "is an Excel workbook, and this build reads none; switch on the feature `excel`, or save \
                               its sheet as .csv";
                return Err(Error::file(path, problem));
            }
            other => return Err(other.no_table(path)),
        };
        Ok(ReadTable { table, source, notes })
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// The column called `name`.
    pub(crate) fn column(&self, name: &str) -> Option<&RawColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The column called `name`, or an error that lists the columns and the likeliest one.
    pub(crate) fn need(&self, name: &str) -> Result<&RawColumn> {
        self.column(name).ok_or_else(|| {
            let closest = closest(name, self.columns.iter().map(|column| column.name.as_str()));
            let closest = closest.map(|column| format!("; did you mean `{column}`?")).unwrap_or_default();
            Error::file(&self.path, format!("has no column `{name}`{closest} (columns: {})", self.column_names()))
        })
    }

    /// The numbers of `column`, or an error that names its first cell that is none.
    pub(crate) fn numbers<'a>(&self, column: &'a RawColumn) -> Result<&'a [f64]> {
        match &column.cells {
            Cells::Numbers { values, .. } => Ok(values),
            Cells::Text { .. } => Err(self.not_a_number(column)),
        }
    }

    /// What is wrong with the cells of `column` that are not numbers.
    pub(crate) fn not_a_number(&self, column: &RawColumn) -> Error {
        let is_number = |cell: Cell| cell.number().is_some() && !matches!(cell, Cell::Text(text) if is_rounded(text));
        let problem = |cell: Cell| match cell {
            Cell::Text(text) if is_rounded(text) => format!(
                "`{cell}` is too large a whole number to be kept exactly; round it, or drop the column if it is an identifier"
            ),
            _ => format!("`{cell}` is not a number; mend the cell, or drop the row or the column"),
        };
        let mut bad = BadCells::default();
        for row in (0..self.rows()).filter(|&row| !is_number(column.cell(row))) {
            bad.add(row, || problem(column.cell(row)));
        }
        bad.error(self, &column.name).unwrap_or_else(|| self.cell_error(0, &column.name, "holds no numbers; drop it"))
    }

    /// The columns by their names.
    pub(crate) fn by_name(&self) -> BTreeMap<&str, &RawColumn> {
        self.columns.iter().map(|column| (column.name.as_str(), column)).collect()
    }

    /// The names of the columns, for a message.
    pub(crate) fn column_names(&self) -> String {
        listed(&self.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>())
    }

    /// The row of the file, as people count it, that each row came from.
    pub(crate) fn file_rows(&self) -> Vec<u64> {
        (0..self.rows()).map(|row| self.places.of(row)).collect()
    }

    /// Where a row stands in the file, for messages that name several: `line 4`.
    pub(crate) fn place(&self, row: usize) -> String {
        self.places.named(row)
    }

    /// What is wrong with the cell of `column` in `row`, with its place in the file.
    pub(crate) fn cell_error(&self, row: usize, column: &str, problem: impl AsRef<str>) -> Error {
        self.places.error(&self.path, row, &format!("column `{column}`: {}", problem.as_ref()))
    }
}

impl Places {
    /// Where a row stands: its line, or its row of the sheet; else its number from 1.
    fn of(&self, row: usize) -> u64 {
        match self {
            Self::Lines(lines) => lines[row],
            #[cfg(feature = "excel")]
            Self::SheetRows(rows) => rows[row],
            Self::Rows => row as u64 + 1,
        }
    }

    fn error(&self, path: &Path, row: usize, problem: &str) -> Error {
        match self {
            Self::Lines(lines) => Error::line(path, lines[row], problem),
            _ => Error::file(path, format!("{}, {problem}", self.named(row))),
        }
    }

    /// The place of a row in words: `line 7`.
    fn named(&self, row: usize) -> String {
        match self {
            Self::Lines(lines) => format!("line {}", lines[row]),
            #[cfg(feature = "excel")]
            Self::SheetRows(rows) => format!("row {} of the sheet", rows[row]),
            Self::Rows => format!("row {}", row + 1),
        }
    }
}

impl RawColumn {
    /// The cell in `row`.
    pub(crate) fn cell(&self, row: usize) -> Cell<'_> {
        match &self.cells {
            Cells::Numbers { values, .. } if values[row].is_nan() => Cell::Missing,
            Cells::Numbers { values, .. } => Cell::Number(values[row]),
            Cells::Text { words, codes } => Cell::Text(&words[codes[row] as usize]),
        }
    }
}

impl Cells {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Numbers { values, .. } => values.len(),
            Self::Text { codes, .. } => codes.len(),
        }
    }

    /// Numbers of so many digits after the point; the zeros of whole ones, as in 2.0 or 5.00E+05, say nothing.
    pub(crate) fn numbers(values: Vec<f64>, decimals: u32) -> Self {
        let whole = values.iter().all(|value| value.is_nan() || value.fract() == 0.0);
        Self::Numbers { values, decimals: if whole { 0 } else { decimals } }
    }
}

/// The file's name without its folder.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Runs a parser of a binary format that may panic on damaged files, and turns that into an error of `path`.
pub(crate) fn guarded<T>(path: &Path, parse: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(parse))
        .unwrap_or_else(|_| Err(Error::file(path, "is damaged and cannot be parsed; fetch or write it again")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> RawTable {
        text::parse(Path::new("bank.csv"), "age,balance,default\n30,5.5,no\n40,6,yes\n", 0).unwrap()
    }

    #[test]
    fn a_column_that_is_not_there_is_named_with_the_closest_and_all_others() {
        let message = table().need("Ballance").unwrap_err().to_string();
        assert_eq!(
            message,
            "bank.csv: has no column `Ballance`; did you mean `balance`? (columns: age, balance, default)"
        );
        let message = table().need("zzz").unwrap_err().to_string();
        assert_eq!(message, "bank.csv: has no column `zzz` (columns: age, balance, default)");
    }

    #[test]
    fn cells_are_numbers_or_text() {
        let table = table();
        assert_eq!(table.rows(), 2);
        assert_eq!(table.need("balance").unwrap().cell(0), Cell::Number(5.5));
        assert_eq!(table.need("default").unwrap().cell(1), Cell::Text("yes"));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        assert!(
            RawTable::read(Path::new("no/such.csv"), &Reading::default(), &[])
                .err()
                .unwrap()
                .to_string()
                .contains("no/such.csv")
        );
    }

    #[test]
    fn a_message_shows_the_beginning_of_a_long_cell() {
        let text = format!("a,b\n1,2\n2,{}\n", "x".repeat(1_000_000));
        let table = text::parse(Path::new("t.csv"), &text, 0).unwrap();
        let message = table.not_a_number(table.need("b").unwrap()).to_string();
        assert!(message.starts_with("t.csv, line 3: column `b`: `xxx") && message.len() < 250, "{message}");
    }

    #[test]
    fn a_panic_of_a_parser_becomes_an_error() {
        let result: Result<()> = guarded(Path::new("a.parquet"), || panic!("a parser's own"));
        assert_eq!(
            result.unwrap_err().to_string(),
            "a.parquet: is damaged and cannot be parsed; fetch or write it again"
        );
    }
}
