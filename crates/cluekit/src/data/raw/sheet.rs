//! The first sheet of an old binary Excel workbook (`.xls`).

use super::build::{Record, build};
use super::{Places, RawTable, guarded};
use crate::error::{Error, Result};
use calamine::{Data, Reader, Xls};
use csv::StringRecord;
use std::io::Cursor;
use std::path::Path;

/// The cells of a sheet as text, row after row; empty cells are empty text.
pub(crate) type Rows = Vec<Vec<String>>;

/// The rows of the first sheet in `bytes`, which came from `path`.
pub(crate) fn rows(path: &Path, bytes: &[u8]) -> Result<Rows> {
    guarded(path, || {
        let damaged = |error: &dyn std::fmt::Display| {
            Error::file(path, format!("cannot be read as an .xls workbook ({error}); fetch it again"))
        };
        let mut book: Xls<_> = Xls::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
        let sheet = book.worksheet_range_at(0).ok_or_else(|| Error::file(path, "has no sheet; fetch it again"))?;
        let sheet = sheet.map_err(|error| damaged(&error))?;
        Ok(sheet.rows().map(|row| row.iter().map(Data::to_string).collect()).collect())
    })
}

/// The table in `rows`, whose header is the row number `header`, counted from 0.
pub(crate) fn table(path: &Path, rows: &Rows, header: usize) -> Result<RawTable> {
    let names = rows.get(header).ok_or_else(|| Error::file(path, "has an empty first sheet; fetch it again"))?;
    build(path, &StringRecord::from(names.as_slice()), Places::SheetRows, || {
        let filled = |(_, row): &(usize, &Vec<String>)| row.iter().any(|cell| !cell.is_empty());
        rows.iter()
            .enumerate()
            .skip(header + 1)
            .filter(filled)
            .map(|(index, row)| Ok(Record { place: index as u64 + 1, cells: StringRecord::from(row.as_slice()) }))
    })
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
    fn bytes_that_are_no_workbook_are_refused() {
        let message = rows(Path::new("t.xls"), b"\xD0\xCF\x11\xE0 nothing more").unwrap_err().to_string();
        assert!(message.starts_with("t.xls: "), "{message}");
    }
}
