//! One sheet of an Excel workbook, old (`.xls`) or new (`.xlsx`), as rows of text; dates are ISO 8601.

use super::build::{Commas, Record, build};
use super::header::{Names, rows_looked_at};
use super::{Places, RawTable, chains, guarded};
use crate::data::reading::Reading;
use crate::error::{Error, Remedy, Result};
use calamine::{Data, ExcelDateTime, Reader, Xls, Xlsx};
use csv::StringRecord;
use std::io::{Cursor, Read, Seek};
use std::path::Path;
use zip::ZipArchive;

/// A sheet may not have more cells than this, empty ones included.
const MOST_CELLS: usize = 50_000_000;
/// A packed workbook may not unpack to more bytes than this.
const MOST_BYTES: u64 = 4 << 30;

/// The cells of a sheet as text, row after row; empty cells are empty text.
pub(crate) type Rows = Vec<Vec<String>>;

/// Reads the sheet that `reading` names, else the first one, of a workbook in `bytes`; with notes.
pub(super) fn read(path: &Path, bytes: &[u8], reading: &Reading, expected: &[&str]) -> Result<(RawTable, Vec<String>)> {
    let (rows, mut notes) = match bytes.starts_with(b"PK") {
        true => new_rows(path, bytes, reading)?,
        false => old_rows(path, bytes, reading)?,
    };
    let filled: Vec<(usize, &Vec<String>)> = filled(&rows).collect();
    let record = |&(_, row): &(usize, &Vec<String>)| StringRecord::from(row.as_slice());
    let first = filled.first().map(record).ok_or_else(|| empty(path))?;
    let sample: Vec<StringRecord> = filled.iter().skip(1).take(rows_looked_at(first.len())).map(record).collect();
    let names = Names::of(&first, &sample, reading, expected, &mut notes);
    let (table, more) =
        build(path, &names.names, (Commas::of(reading), !expected.is_empty()), Places::SheetRows, || {
            filled.iter().skip(names.above).map(|&row| Ok(to_record(row)))
        })?;
    notes.extend(more);
    Ok((table, notes))
}

/// The rows of the first sheet of an old workbook in `bytes`, which came from `path`.
pub(crate) fn rows(path: &Path, bytes: &[u8]) -> Result<Rows> {
    old_rows(path, bytes, &Reading::default()).map(|(rows, _)| rows)
}

/// The table in `rows`, whose header is the row number `header`, counted from 0.
pub(crate) fn table(path: &Path, rows: &Rows, header: usize) -> Result<RawTable> {
    let names = rows.get(header).ok_or_else(|| empty(path))?;
    let records = || filled(rows).filter(|&(index, _)| index > header).map(|row| Ok(to_record(row)));
    build(path, &StringRecord::from(names.as_slice()), (Commas::Never, false), Places::SheetRows, records)
        .map(|(table, _)| table)
}

/// The rows that hold anything, with their numbers counted from 0.
fn filled(rows: &Rows) -> impl Iterator<Item = (usize, &Vec<String>)> {
    rows.iter().enumerate().filter(|(_, row)| row.iter().any(|cell| !cell.is_empty()))
}

fn to_record((index, row): (usize, &Vec<String>)) -> Record {
    Record { place: index as u64 + 1, cells: StringRecord::from(row.as_slice()) }
}

fn empty(path: &Path) -> Error {
    Error::file(path, "has an empty sheet; give one with a header and at least two rows")
}

fn damaged(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::file(path, format!("cannot be read as an Excel workbook ({error}); fetch or save it again"))
}

fn old_rows(path: &Path, bytes: &[u8], reading: &Reading) -> Result<(Rows, Vec<String>)> {
    if !chains::end(bytes) {
        return Err(damaged(path, &"its sectors follow each other in a ring"));
    }
    guarded(path, || {
        let mut book: Xls<_> = Xls::new(Cursor::new(bytes)).map_err(|error| damaged(path, &error))?;
        let (sheet, notes) = chosen_sheet(path, &book, reading)?;
        let sheet = book.worksheet_range(&sheet).map_err(|error| damaged(path, &error))?;
        let above = sheet.start().map_or(0, |(row, _)| row as usize);
        let rows = sheet.rows().map(|row| row.iter().map(text).collect());
        Ok((std::iter::repeat_n(Vec::new(), above).chain(rows).collect(), notes))
    })
}

/// A new workbook is read cell by cell: one far away from the others would fill the memory with empty ones.
fn new_rows(path: &Path, bytes: &[u8], reading: &Reading) -> Result<(Rows, Vec<String>)> {
    check_size(path, bytes)?;
    if !chains::end(bytes) {
        return Err(damaged(path, &"its sectors follow each other in a ring"));
    }
    guarded(path, || {
        let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(|error| damaged(path, &error))?;
        let (sheet, notes) = chosen_sheet(path, &book, reading)?;
        let mut cells = book.worksheet_cells_reader(&sheet).map_err(|error| damaged(path, &error))?;
        let (mut found, mut from, mut to) = (Vec::new(), u32::MAX, [0, 0]);
        while let Some(cell) = cells.next_cell().map_err(|error| damaged(path, &error))? {
            let ((row, column), text) = (cell.get_position(), text(&cell.get_value().clone().into()));
            if text.is_empty() {
                continue;
            }
            (from, to) = (from.min(column), [to[0].max(row as usize + 1), to[1].max(column as usize + 1)]);
            found.push((row as usize, column, text));
        }
        if found.is_empty() {
            return Err(empty(path));
        }
        let width = to[1] - from as usize;
        if to[0].saturating_mul(width) > MOST_CELLS {
            let problem = format!("the sheet `{sheet}` spans {} rows and {width} columns", to[0]);
            return Err(Error::file(
                path,
                format!("{problem}; clear the cells far from the others, or save it as .csv"),
            ));
        }
        let mut rows = vec![vec![String::new(); width]; to[0]];
        for (row, column, text) in found {
            rows[row][(column - from) as usize] = text;
        }
        Ok((rows, notes))
    })
}

fn check_size(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(path, &error))?;
    let mut total = 0u64;
    for index in 0..archive.len() {
        total = total.saturating_add(archive.by_index_raw(index).map_err(|error| damaged(path, &error))?.size());
    }
    if total > MOST_BYTES {
        return Err(Error::file(path, format!("unpacks to more than {MOST_BYTES} bytes; save its sheet as .csv")));
    }
    Ok(())
}

/// The name of the sheet to read, and a note where there are others.
fn chosen_sheet<R: Read + Seek, B: Reader<R>>(
    path: &Path,
    book: &B,
    reading: &Reading,
) -> Result<(String, Vec<String>)> {
    let names = book.sheet_names();
    let listed = names.join(", ");
    match (&reading.sheet, &names[..]) {
        (_, []) => Err(Error::file(path, "has no sheet; fetch or save it again")),
        (Some(wanted), names) if names.contains(wanted) => Ok((wanted.clone(), vec![])),
        (Some(wanted), _) => {
            let problem = Error::file(path, format!("has no sheet `{wanted}`"));
            Err(problem.remedy(Remedy::give("sheet", format!("one of {listed}"))))
        }
        (None, [only]) => Ok((only.clone(), vec![])),
        (None, [first, others @ ..]) => {
            let note = format!("the sheet `{first}` is read (give `sheet` for another one: {})", others.join(", "));
            Ok((first.clone(), vec![note]))
        }
    }
}

/// A cell as text: numbers with all their digits, dates as `2024-02-29`, with a time as `2024-02-29T13:30:00`.
fn text(cell: &Data) -> String {
    match cell {
        Data::DateTime(date) if date.is_datetime() => iso(date),
        Data::DateTime(duration) => duration.as_f64().to_string(),
        other => other.to_string().trim().to_owned(),
    }
}

fn iso(date: &ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
    let day = format!("{year:04}-{month:02}-{day:02}");
    match (hour, minute, second) {
        (0, 0, 0) => day,
        _ => format!("{day}T{hour:02}:{minute:02}:{second:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::raw::Cells;

    fn sheet(rows: &[&[&str]]) -> Rows {
        rows.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect()
    }

    #[test]
    fn rows_below_the_header_become_columns_and_blank_ones_are_skipped() {
        let rows = sheet(&[&["", "X1"], &["ID", "age"], &["1", "20"], &["", ""], &["2", "30"]]);
        let table = table(Path::new("t.xls"), &rows, 1).unwrap();
        assert_eq!(table.column_names(), "ID, age");
        assert_eq!(table.columns[1].cells, Cells::Numbers { values: vec![20.0, 30.0], decimals: 0 });
    }

    #[test]
    fn an_empty_cell_is_missing_and_an_infinite_one_is_named_with_its_row_of_the_sheet() {
        let sheet = |cell| table(Path::new("t.xls"), &sheet(&[&["ID", "age"], &["1", cell], &["2", "30"]]), 0);
        let empty = sheet("").unwrap();
        assert_eq!((empty.columns[1].cell(0).is_missing(), empty.place(0)), (true, "row 2 of the sheet".into()));
        let message = sheet("inf").unwrap_err().to_string();
        assert!(message.starts_with("t.xls: row 2 of the sheet, column `age`: `inf` is not a finite"), "{message}");
    }

    #[test]
    fn a_workbook_whose_sectors_follow_each_other_in_a_ring_is_refused() {
        let mut bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/credit_tiny.xls")).unwrap();
        bytes[8772..8776].copy_from_slice(&17u32.to_le_bytes());
        assert!(rows(Path::new("t.xls"), &bytes).unwrap_err().to_string().contains("follow each other in a ring)"));
    }

    #[test]
    fn bytes_that_are_no_workbook_are_refused() {
        let message = rows(Path::new("t.xls"), b"\xD0\xCF\x11\xE0 nothing more").unwrap_err().to_string();
        assert!(message.starts_with("t.xls: "), "{message}");
    }
}
