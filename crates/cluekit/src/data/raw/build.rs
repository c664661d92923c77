//! Records of text to typed columns, in two passes so that no cell is held as text without need.
//!
//! The first pass checks every cell and collects the columns that are all numbers; the second, only if there are
//! others, collects the numbers of those with a decimal comma and the distinct words of the rest.

use super::numbers::{Mark, Marks};
use super::{Cells, Places, RawColumn, RawTable};
use crate::data::encoding::shown;
use crate::data::missing::is_written_missing;
use crate::data::reading::Reading;
use crate::error::{Error, Remedy, Result};
use csv::StringRecord;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A record and the line, or row of the sheet, on which it begins.
pub(super) struct Record {
    pub place: u64,
    pub cells: StringRecord,
}

/// Numbers read so far, with the most digits after a point among them.
#[derive(Default)]
struct Numbers {
    values: Vec<f64>,
    decimals: u32,
}

/// Whether numbers of a file may have a decimal comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::data) enum Commas {
    /// They may not.
    Never,
    /// They have one where the column, or another column, can only be read so.
    Recognised,
    /// They have one wherever that is possible.
    Preferred,
}

impl Commas {
    /// Those of a file in which the comma separates no cells.
    pub(super) fn of(reading: &Reading) -> Self {
        if reading.decimal_comma { Self::Preferred } else { Self::Recognised }
    }
}

/// A column after the first pass.
struct Found {
    /// Its numbers, if all its cells are numbers with a decimal point.
    numbers: Option<Numbers>,
    marks: Marks,
}

/// Builds a table from its header and its records, which `records` can give out twice; with notes for the user.
///
/// An infinite number is an error, or text where the columns are `expected`: there it is the matter of its row.
pub(super) fn build<I>(
    path: &Path,
    header: &StringRecord,
    (commas, expected): (Commas, bool),
    places: fn(Vec<u64>) -> Places,
    records: impl Fn() -> I,
) -> Result<(RawTable, Vec<String>)>
where
    I: Iterator<Item = Result<Record>>,
{
    let names = column_names(path, header)?;
    let (mut found, places) = first_pass(path, &names, (commas, expected), places, records())?;
    let (notes, commas) = choose_marks(&names, &mut found, commas);
    let mut texts = second_pass(&found, &records)?;
    let cells = found.into_iter().enumerate().map(|(index, Found { numbers, .. })| match numbers {
        Some(numbers) => numbers.cells(),
        None => texts.remove(&index).expect("the second pass collects what the first left").cells(),
    });
    let columns = names.into_iter().zip(cells).map(|(name, cells)| RawColumn { name, cells }).collect();
    Ok((RawTable { path: path.to_owned(), columns, places, commas }, notes))
}

/// Leaves columns with a decimal comma to the second pass, and notes those that might have one; with what the file shows of
/// decimal commas.
fn choose_marks(names: &[String], found: &mut [Found], commas: Commas) -> (Vec<String>, Commas) {
    let comma = commas == Commas::Preferred || found.iter().any(|column| column.marks.needs_comma());
    let mut notes = Vec::new();
    for (name, column) in names.iter().zip(found).filter(|(_, column)| column.marks.open()) {
        if comma {
            column.numbers = None;
        } else {
            notes.push(format!(
                "numbers in column `{name}` are read with a decimal point, though they could have a decimal comma (give \
                 `decimal_comma` if they do)"
            ));
        }
    }
    (notes, if comma { Commas::Preferred } else { commas })
}

/// The trimmed names of the header; one without a name is called after its place.
pub(super) fn column_names(path: &Path, header: &StringRecord) -> Result<Vec<String>> {
    let name = |(index, cell): (usize, &str)| match cell.trim() {
        "" => format!("column {}", index + 1),
        name => name.to_owned(),
    };
    let names: Vec<String> = header.iter().enumerate().map(name).collect();
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(*name)) {
        Some(twice) => Err(Error::file(
            path,
            format!("has two columns called `{twice}`; the first line must name each column differently"),
        )),
        None => Ok(names),
    }
}

fn first_pass(
    path: &Path,
    names: &[String],
    (commas, expected): (Commas, bool),
    places: fn(Vec<u64>) -> Places,
    records: impl Iterator<Item = Result<Record>>,
) -> Result<(Vec<Found>, Places)> {
    let marks = Marks::new(commas != Commas::Never);
    let mut found: Vec<Found> = names.iter().map(|_| Found { numbers: Some(Numbers::default()), marks }).collect();
    let (mut lines, mut ragged) = (Vec::new(), Ragged::default());
    for record in records {
        let Record { place, cells } = record?;
        lines.push(place);
        if cells.len() != names.len() {
            ragged.add(place, cells.len());
            continue;
        }
        let fail = |problem: &str| places(vec![place]).error(path, 0, problem);
        for ((name, cell), column) in names.iter().zip(&cells).zip(&mut found) {
            let cell = cell.trim();
            let number = match read_cell(cell) {
                Err(_) if expected => None,
                read => read.map_err(|problem| fail(&format!("column `{name}`: {problem}")))?,
            };
            if number.is_none_or(|number| !number.is_nan()) {
                column.marks.see(cell, number);
            }
            match number {
                Some(number) => column.numbers.iter_mut().for_each(|numbers| numbers.push(number, cell)),
                None => column.numbers = None,
            }
        }
    }
    ragged.check(path, names.len(), places)?;
    if lines.is_empty() {
        return Err(Error::file(path, "has a header but no rows; give at least two rows"));
    }
    Ok((found, places(lines)))
}

/// Rows whose number of cells is not that of the header.
#[derive(Default)]
struct Ragged {
    /// Place and number of cells of the first ones.
    first: Vec<(u64, usize)>,
    count: usize,
}

impl Ragged {
    /// So many of them are named.
    const NAMED: usize = 3;

    fn add(&mut self, place: u64, cells: usize) {
        self.count += 1;
        if self.first.len() < Self::NAMED {
            self.first.push((place, cells));
        }
    }

    /// An error that names the first ones and the count of all, if there are any.
    fn check(&self, path: &Path, width: usize, places: fn(Vec<u64>) -> Places) -> Result<()> {
        let Some(((first, cells), others)) = self.first.split_first() else { return Ok(()) };
        let place = |place: u64| places(vec![place]);
        let error = |problem: &str| place(*first).error(path, 0, problem);
        let fact = format!("has {cells} cells, the header has {width}");
        if others.is_empty() {
            return Err(error(&format!("{fact}; mend the row")));
        }
        let others: Vec<String> =
            others.iter().map(|(at, cells)| format!("{} has {cells}", place(*at).named(0))).collect();
        let rows = format!("{} rows differ from the header; mend them", self.count);
        let problem = error(&format!("{fact}, {}; {rows}", others.join(", ")));
        Err(problem.remedy(Remedy::give("delimiter", "what separates the cells, if it is another character")))
    }
}

/// The number in a cell, NaN if it is missing, or nothing if it holds text; an infinite value is a problem.
fn read_cell(cell: &str) -> std::result::Result<Option<f64>, String> {
    if is_written_missing(cell) {
        return Ok(Some(f64::NAN));
    }
    match Mark::Point.number(cell) {
        Some(number) if number.is_finite() => Ok(Some(number + 0.0)),
        Some(_) => Err(infinite_value(shown(cell))),
        None => Ok(None),
    }
}

pub(super) fn infinite_value(cell: impl std::fmt::Display) -> String {
    format!("`{cell}` is not a finite number; replace it or drop the row or the column")
}

impl Numbers {
    fn push(&mut self, number: f64, written: &str) {
        self.values.push(number);
        if !number.is_nan() {
            self.decimals = self.decimals.max(decimals_of(written));
        }
    }

    fn cells(self) -> Cells {
        // Whole numbers may be written as 2.0 or 5.00E+05; their zeros say nothing.
        let whole = self.values.iter().all(|value| value.fract() == 0.0);
        Cells::Numbers { values: self.values, decimals: if whole { 0 } else { self.decimals } }
    }
}

/// How many digits after the point a number needs that is written as `text`: 2 for `1.50`, 4 for `1.5e-3`.
pub(in crate::data) fn decimals_of(text: &str) -> u32 {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let digits = mantissa.split_once('.').map_or(0, |(_, digits)| digits.len() as i64);
    let shift: i64 = exponent.parse().unwrap_or(0);
    digits.saturating_sub(shift).clamp(0, i64::from(u32::MAX)) as u32
}

/// The distinct words of a column and, for each row, which one it has.
#[derive(Default)]
pub(in crate::data) struct Words {
    known: BTreeMap<String, u32>,
    codes: Vec<u32>,
}

impl Words {
    pub(in crate::data) fn push(&mut self, word: &str) {
        let code = match self.known.get(word) {
            Some(&code) => code,
            None => {
                let code = self.known.len() as u32;
                self.known.insert(word.to_owned(), code);
                code
            }
        };
        self.codes.push(code);
    }

    pub(in crate::data) fn cells(self) -> Cells {
        let mut words = vec![String::new(); self.known.len()];
        for (word, code) in self.known {
            words[code as usize] = word;
        }
        Cells::Text { words, codes: self.codes }
    }
}

/// What the second pass collects of a column.
enum Rest {
    Commas(Numbers),
    Words(Words),
}

impl Rest {
    fn push(&mut self, cell: &str) {
        match self {
            Self::Commas(numbers) => {
                if is_written_missing(cell) {
                    return numbers.push(f64::NAN, cell);
                }
                let plain = Mark::Comma.plain(cell).expect("the first pass found a number in every cell");
                numbers.push(plain.parse::<f64>().expect("it is in Rust's notation") + 0.0, &plain);
            }
            Self::Words(words) => words.push(cell),
        }
    }

    fn cells(self) -> Cells {
        match self {
            Self::Commas(numbers) => numbers.cells(),
            Self::Words(words) => words.cells(),
        }
    }
}

fn second_pass<I>(found: &[Found], records: &impl Fn() -> I) -> Result<BTreeMap<usize, Rest>>
where
    I: Iterator<Item = Result<Record>>,
{
    let left = found.iter().enumerate().filter(|(_, column)| column.numbers.is_none());
    let rest = |column: &Found| match column.marks.with_comma() {
        true => Rest::Commas(Numbers::default()),
        false => Rest::Words(Words::default()),
    };
    let mut columns: BTreeMap<usize, Rest> = left.map(|(index, column)| (index, rest(column))).collect();
    if columns.is_empty() {
        return Ok(columns);
    }
    for record in records() {
        let record = record?;
        for (&index, column) in &mut columns {
            column.push(record.cells[index].trim());
        }
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_follow_point_and_exponent() {
        let cases = [("7", 0), ("1.50", 2), ("5.00E+05", 0), ("1.5e-3", 4), ("-.25", 2), ("3.", 0), ("1e-12", 12)];
        for (text, decimals) in cases {
            assert_eq!(decimals_of(text), decimals, "{text}");
        }
    }

    #[test]
    fn infinite_cells_are_problems_and_missing_ones_and_words_are_not() {
        for missing in ["", "NA", "?", "NaN", "None"] {
            assert!(read_cell(missing).unwrap().unwrap().is_nan(), "{missing}");
        }
        for infinite in ["inf", "-Infinity", "1e400"] {
            assert!(read_cell(infinite).unwrap_err().contains("not a finite number"), "{infinite}");
        }
        assert_eq!(read_cell("5.00E+05").unwrap(), Some(500_000.0));
        assert_eq!(read_cell("nanny").unwrap(), None);
        assert!(read_cell("-0").unwrap().unwrap().is_sign_positive());
    }

    #[test]
    fn words_are_numbered_in_the_order_of_their_appearance() {
        let mut words = Words::default();
        ["b", "a", "b"].iter().for_each(|word| words.push(word));
        assert_eq!(words.cells(), Cells::Text { words: vec!["b".into(), "a".into()], codes: vec![0, 1, 0] });
    }
}
