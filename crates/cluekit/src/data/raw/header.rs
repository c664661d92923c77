//! Whether the first row of a table names its columns, guessed as a person would.
//!
//! A word above numbers is a name. A number above numbers, or a word that comes again below, is a value, unless the
//! numbers count from 0 or 1, or are years, as names sometimes do.

use super::numbers::Mark;
use crate::data::missing::is_written_missing;
use crate::data::reading::Reading;
use csv::StringRecord;
use std::collections::BTreeSet;

/// So many rows are looked at, in wide tables fewer.
const MOST_ROWS: usize = 500;
/// So many cells are looked at.
const MOST_CELLS: usize = 1 << 18;

/// How many rows of a table with `width` columns are looked at below the first one.
pub(super) fn rows_looked_at(width: usize) -> usize {
    (MOST_CELLS / width.max(1)).clamp(2, MOST_ROWS)
}

/// What a first row seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstRow {
    /// Words above numbers.
    Names,
    /// Numbers that count, or years.
    NumberedNames,
    /// Nothing speaks for names or for values.
    Unclear,
    /// Values like those below.
    Values,
}

impl FirstRow {
    /// What the row `first` is above `rows`.
    pub(super) fn of(first: &StringRecord, rows: &[StringRecord]) -> Self {
        let seen: Vec<Column> = (0..first.len()).map(|index| Column::of(first, rows, index)).collect();
        let any = |wanted: Column| seen.contains(&wanted);
        match any(Column::Named) {
            true => Self::Names,
            false if any(Column::NumberAboveNumbers) && counts(first) => Self::NumberedNames,
            false if any(Column::NumberAboveNumbers) || any(Column::Repeated) => Self::Values,
            false => Self::Unclear,
        }
    }

    /// Whether the row names the columns, as far as one can tell.
    pub(super) fn names(self) -> bool {
        self != Self::Values
    }

    /// What the user should know of the guess, in a table of `width` columns.
    fn note(self, width: usize) -> Option<String> {
        let names = "the first row is taken for the names of the columns";
        match self {
            Self::Names => None,
            Self::NumberedNames => {
                Some(format!("{names}, since its numbers count (give `no_header` if it holds values)"))
            }
            Self::Unclear => {
                Some(format!("{names}, though nothing tells it from others (give `no_header` if it holds values)"))
            }
            Self::Values => Some(format!(
                "the first row holds values and no names: the columns are called {} to {} (give `header` if it names them)",
                made_name(0),
                made_name(width - 1)
            )),
        }
    }
}

/// The names of the columns, and how many rows at the beginning hold no values.
pub(super) struct Names {
    pub names: StringRecord,
    pub above: usize,
}

impl Names {
    /// The names of a table that begins with the row `first` and goes on with `rows`; a guess is noted.
    pub(super) fn of(
        first: &StringRecord,
        rows: &[StringRecord],
        reading: &Reading,
        expected: &[&str],
        notes: &mut Vec<String>,
    ) -> Self {
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        let made = [0, 1].map(made_name);
        let header = match reading.header {
            Some(header) => header,
            None if first.iter().any(|cell| expected.contains(cell.trim())) => true,
            None if made.iter().any(|name| expected.contains(name.as_str())) => false,
            None => {
                let guessed = FirstRow::of(first, rows);
                notes.extend(guessed.note(first.len()));
                guessed.names()
            }
        };
        match header {
            true => Self { names: first.clone(), above: 1 },
            false => Self { names: (0..first.len()).map(made_name).collect(), above: 0 },
        }
    }
}

/// The name of a column without one, by its place counted from 0.
fn made_name(index: usize) -> String {
    format!("column_{}", index + 1)
}

/// What one column says about its first cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Named,
    NumberAboveNumbers,
    Repeated,
    Nothing,
}

impl Column {
    fn of(first: &StringRecord, rows: &[StringRecord], index: usize) -> Self {
        let first = first[index].trim();
        let below = || rows.iter().filter_map(|row| row.get(index)).map(str::trim).filter(|cell| !is_blank(cell));
        let (cells, numbers) = (below().count(), below().filter(|cell| is_number(cell)).count());
        let numeric = cells > 0 && numbers * 10 >= cells * 9;
        match is_blank(first) {
            true => Self::Nothing,
            false if numeric && is_number(first) => Self::NumberAboveNumbers,
            false if numeric => Self::Named,
            false if !is_number(first) && below().any(|cell| cell == first) => Self::Repeated,
            false => Self::Nothing,
        }
    }
}

fn is_number(cell: &str) -> bool {
    Mark::Point.number(cell).or_else(|| Mark::Comma.number(cell)).is_some()
}

fn is_blank(cell: &str) -> bool {
    is_written_missing(cell)
}

/// Whether the numbers in a row are three or more that count from 0 or 1, or years one after the other.
fn counts(row: &StringRecord) -> bool {
    let whole: Option<Vec<u32>> =
        row.iter().map(str::trim).filter(|cell| is_number(cell)).map(|cell| cell.parse().ok()).collect();
    let Some(numbers @ [first, _, _, ..]) = whole.as_deref() else { return false };
    matches!(first, 0 | 1 | 1800..2100) && numbers.windows(2).all(|pair| pair[1].checked_sub(1) == Some(pair[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_row(rows: &[&str]) -> FirstRow {
        let rows: Vec<StringRecord> = rows.iter().map(|row| row.split(',').collect()).collect();
        FirstRow::of(&rows[0], &rows[1..])
    }

    #[test]
    fn words_above_numbers_are_names() {
        assert_eq!(first_row(&["age,job", "39,clerk", "50,clerk"]), FirstRow::Names);
        assert_eq!(first_row(&["country,1990,2000,area", "Chad,5,6,7", "Peru,8,9,10"]), FirstRow::Names);
        assert_eq!(first_row(&["x", "1"]), FirstRow::Names);
    }

    #[test]
    fn numbers_above_numbers_and_words_that_come_again_are_values() {
        assert_eq!(first_row(&["39,State-gov", "50,Private", "38,State-gov"]), FirstRow::Values);
        assert_eq!(first_row(&["Alice,30", "Bob,25"]), FirstRow::Values);
        assert_eq!(first_row(&["yes,m", "no,f", "yes,m"]), FirstRow::Values);
        assert_eq!(first_row(&["?,3", "1,4", "2,5"]), FirstRow::Values);
    }

    #[test]
    fn counting_numbers_and_years_are_names() {
        assert_eq!(first_row(&["0,1,2,label", "5.1,3.5,1.4,a", "4.9,3.0,1.4,b"]), FirstRow::NumberedNames);
        assert_eq!(first_row(&["1990,1991,1992", "5,6,7"]), FirstRow::NumberedNames);
        assert_eq!(first_row(&["7,8,9", "5,6,7"]), FirstRow::Values);
    }

    #[test]
    fn words_above_other_words_are_taken_for_names() {
        assert_eq!(first_row(&["sex,job", "m,clerk", "f,baker"]), FirstRow::Unclear);
        assert_eq!(first_row(&["a,b"]), FirstRow::Unclear);
        assert!(FirstRow::Unclear.names() && FirstRow::NumberedNames.names() && !FirstRow::Values.names());
    }
}
