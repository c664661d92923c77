//! Records of text to typed columns, in two passes so that no cell is held as text without need.
//!
//! The first pass checks every cell and collects the columns that are all numbers; the second, only if there are
//! others, collects the distinct words of those.

use super::{Cells, Places, RawColumn, RawTable};
use crate::data::missing::is_written_missing;
use crate::error::{Error, Result};
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

/// Builds a table from its header and its records, which `records` can give out twice.
pub(super) fn build<I>(
    path: &Path,
    header: &StringRecord,
    places: fn(Vec<u64>) -> Places,
    records: impl Fn() -> I,
) -> Result<RawTable>
where
    I: Iterator<Item = Result<Record>>,
{
    let names = column_names(path, header)?;
    let (found, places) = first_pass(path, &names, places, records())?;
    let mut texts = second_pass(&found, &records)?;
    let cells = found.into_iter().enumerate().map(|(index, numbers)| match numbers {
        Some(Numbers { values, decimals }) => Cells::numbers(values, decimals),
        None => texts.remove(&index).unwrap_or_default().cells(),
    });
    let columns = names.into_iter().zip(cells).map(|(name, cells)| RawColumn { name, cells }).collect();
    Ok(RawTable { path: path.to_owned(), columns, places })
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
    places: fn(Vec<u64>) -> Places,
    records: impl Iterator<Item = Result<Record>>,
) -> Result<(Vec<Option<Numbers>>, Places)> {
    let mut found: Vec<Option<Numbers>> = names.iter().map(|_| Some(Numbers::default())).collect();
    let mut lines = Vec::new();
    for record in records {
        let Record { place, cells } = record?;
        lines.push(place);
        let fail = |problem: &str| places(vec![place]).error(path, 0, problem);
        if cells.len() != names.len() {
            return Err(fail(&format!("has {} cells, the header has {}; mend the row", cells.len(), names.len())));
        }
        for ((name, cell), numbers) in names.iter().zip(&cells).zip(&mut found) {
            match read_cell(cell.trim()).map_err(|problem| fail(&format!("column `{name}`: {problem}")))? {
                Some(number) => numbers.iter_mut().for_each(|column| column.push(number, cell.trim())),
                None => *numbers = None,
            }
        }
    }
    if lines.is_empty() {
        return Err(Error::file(path, "has a header but no rows; give at least two rows"));
    }
    Ok((found, places(lines)))
}

/// The number in a cell, NaN if it is missing, or nothing if it holds text; an infinite value is a problem.
fn read_cell(cell: &str) -> std::result::Result<Option<f64>, String> {
    if is_written_missing(cell) {
        return Ok(Some(f64::NAN));
    }
    match cell.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Some(number + 0.0)),
        Ok(_) => Err(infinite_value(cell)),
        Err(_) => Ok(None),
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

fn second_pass<I>(found: &[Option<Numbers>], records: &impl Fn() -> I) -> Result<BTreeMap<usize, Words>>
where
    I: Iterator<Item = Result<Record>>,
{
    let text = found.iter().enumerate().filter(|(_, numbers)| numbers.is_none());
    let mut texts: BTreeMap<usize, Words> = text.map(|(index, _)| (index, Words::default())).collect();
    if texts.is_empty() {
        return Ok(texts);
    }
    for record in records() {
        let record = record?;
        for (&index, words) in &mut texts {
            words.push(record.cells[index].trim());
        }
    }
    Ok(texts)
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
