//! A table as it lies in a file: named columns of numbers or of text, nothing interpreted yet.
//!
//! A column is one of numbers if all its cells are numbers, or missing. A missing cell is NaN among numbers; among text it
//! stays as it is written. The format is told from the first bytes, not from the
//! file's name.

mod build;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "excel")]
pub(crate) mod sheet;
pub(crate) mod text;

pub(super) use build::{Words, decimals_of};

use super::Source;
use super::dataset::sha256_hex;
use super::encoding::{Cell, closest, listed};
use crate::error::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// The columns of a file, all of the same length.
#[derive(Clone, Debug)]
pub(crate) struct RawTable {
    pub path: PathBuf,
    pub columns: Vec<RawColumn>,
    pub places: Places,
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

/// A table and the file that it came from.
pub(crate) struct ReadTable {
    pub table: RawTable,
    pub source: Source,
}

impl RawTable {
    /// Reads a `.csv` (also gzipped, also with semicolons or tabs) or a `.parquet`.
    pub(crate) fn read(path: &Path) -> Result<ReadTable> {
        let stored = std::fs::read(path).map_err(Error::reading(path))?;
        let source = Source { file: file_name(path), sha256: sha256_hex(&stored) };
        let table = match Format::of(&stored) {
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                drop(stored);
                parquet::read(path)?
            }
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => {
                return Err(Error::file(
                    path,
                    "is Parquet, which this build does not read; switch on the feature `parquet`",
                ));
            }
            Format::Workbook => {
                return Err(Error::file(path, "is an Excel workbook; save its sheet as .csv and give that file"));
            }
            Format::Zip => {
                return Err(Error::file(path, "is a .zip or .xlsx file; give a .csv or .parquet instead"));
            }
            Format::Text => text::read(path, stored, 0)?,
        };
        Ok(ReadTable { table, source })
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

    /// What is wrong with the first cell of `column` that is not a number.
    pub(crate) fn not_a_number(&self, column: &RawColumn) -> Error {
        let row = (0..self.rows()).find(|&row| column.cell(row).number().is_none()).unwrap_or(0);
        let problem = format!("`{}` is not a number; mend the cell, or drop the row or the column", column.cell(row));
        self.cell_error(row, &column.name, problem)
    }

    /// The names of the columns, for a message.
    pub(crate) fn column_names(&self) -> String {
        listed(&self.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>())
    }

    /// Where a row stands in the file: `line 4`.
    pub(crate) fn place(&self, row: usize) -> String {
        match &self.places {
            Places::Lines(lines) => format!("line {}", lines[row]),
            #[cfg(feature = "excel")]
            Places::SheetRows(rows) => format!("row {} of the sheet", rows[row]),
            Places::Rows => format!("row {}", row + 1),
        }
    }

    /// What is wrong with the cell of `column` in `row`, with its place in the file.
    pub(crate) fn cell_error(&self, row: usize, column: &str, problem: impl AsRef<str>) -> Error {
        self.places.error(&self.path, row, &format!("column `{column}`: {}", problem.as_ref()))
    }
}

impl Places {
    fn error(&self, path: &Path, row: usize, problem: &str) -> Error {
        match self {
            Self::Lines(lines) => Error::line(path, lines[row], problem),
            #[cfg(feature = "excel")]
            Self::SheetRows(rows) => Error::file(path, format!("row {} of the sheet, {problem}", rows[row])),
            Self::Rows => Error::file(path, format!("row {}, {problem}", row + 1)),
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

/// What a file is, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// CSV, plain or gzipped.
    Text,
    Parquet,
    /// The old binary Excel format.
    Workbook,
    Zip,
}

impl Format {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        match bytes {
            [b'P', b'A', b'R', b'1', ..] => Self::Parquet,
            [0xD0, 0xCF, 0x11, 0xE0, ..] => Self::Workbook,
            [b'P', b'K', 3 | 5, 4 | 6, ..] => Self::Zip,
            _ => Self::Text,
        }
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
    fn a_workbook_is_refused_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank.csv");
        std::fs::write(&path, [0xD0, 0xCF, 0x11, 0xE0, 0, 0]).unwrap();
        assert!(RawTable::read(&path).err().unwrap().to_string().contains("save its sheet as .csv"));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        assert!(RawTable::read(Path::new("no/such.csv")).err().unwrap().to_string().contains("no/such.csv"));
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
