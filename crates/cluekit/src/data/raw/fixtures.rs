//! Awkward tables as they circulate, each with what a person would expect.

use super::{Cells, RawTable, ReadTable};
use crate::data::{Delimiter, Reading};
use crate::error::Result;
use std::path::PathBuf;

/// What a person expects of a table.
struct Expected {
    file: &'static str,
    names: &'static str,
    /// The first row, its cells separated by `/`; numbers are written without quotes, text with.
    first: &'static str,
    rows: usize,
    /// How the notes begin.
    notes: &'static [&'static str],
}

const NO_NAMES: &str = "the first row holds values and no names";

const TABLES: [Expected; 25] = [
    Expected {
        file: "adult.data",
        names: "column_1, column_2, column_3, column_4, column_5, column_6, column_7, column_8",
        first: "39/'State-gov'/77516/'Bachelors'/13/'Never-married'/2174/'<=50K'",
        rows: 6,
        notes: &[NO_NAMES],
    },
    Expected {
        file: "adult.test",
        names: "column_1, column_2, column_3, column_4, column_5, column_6, column_7, column_8",
        first: "39/'State-gov'/77516/'Bachelors'/13/'Never-married'/2174/'<=50K.'",
        rows: 6,
        notes: &[NO_NAMES],
    },
    Expected {
        file: "german.data",
        names: "column_1, column_2, column_3, column_4, column_5, column_6, column_7, column_8, column_9",
        first: "'A11'/6/'A34'/'A43'/1169/'A65'/'A75'/4/1",
        rows: 5,
        notes: &["cells are separated by spaces", NO_NAMES],
    },
    Expected {
        file: "winequality-red.csv",
        names: "fixed acidity, volatile acidity, pH, alcohol, quality",
        first: "7.4/0.7/3.51/9.4/5",
        rows: 4,
        notes: &["cells are separated by semicolons"],
    },
    Expected {
        file: "lsat.csv",
        names: "column 1, lsat, ugpa, zfya, race, sex, first_pf",
        first: "0/39/3.1/-0.98/'White'/1/1",
        rows: 3,
        notes: &[],
    },
    Expected {
        file: "padded.txt",
        names: "x1, x2, class",
        first: "1/20.5/'yes'",
        rows: 3,
        notes: &["cells are separated by spaces"],
    },
    Expected {
        file: "decimal-comma.csv",
        names: "Stadt, Miete, Fläche, Einwohner",
        first: "'Köln'/1250.5/68.5/1087863",
        rows: 3,
        notes: &["cells are separated by semicolons"],
    },
    Expected {
        file: "latin-1.csv",
        names: "name, größe",
        first: "'Jürgen'/1.85",
        rows: 2,
        notes: &["line 1 is not UTF-8", "cells are separated by semicolons"],
    },
    Expected {
        file: "utf-16.csv",
        names: "name, size",
        first: "'Møller'/3",
        rows: 2,
        notes: &["cells are separated by tabs"],
    },
    Expected { file: "utf-16-without-mark.csv", names: "name, size", first: "'Smith'/3", rows: 2, notes: &[] },
    Expected { file: "byte-order-mark.csv", names: "id, größe", first: "7/1.5", rows: 2, notes: &[] },
    Expected { file: "thousands.csv", names: "item, price, stock", first: "'bolt'/1250.5/12", rows: 3, notes: &[] },
    Expected {
        file: "spaced-thousands.tsv",
        names: "item, price",
        first: "'bolt'/1250",
        rows: 3,
        notes: &["cells are separated by tabs"],
    },
    Expected {
        file: "either-mark.csv",
        names: "price, item",
        first: "1500/'bolt'",
        rows: 2,
        notes: &["cells are separated by semicolons", "numbers in column `price` are read with a decimal point"],
    },
    Expected { file: "minus.csv", names: "day, celsius", first: "1/-3.5", rows: 3, notes: &[] },
    Expected {
        file: "pipe.txt",
        names: "name, note, score",
        first: "'Ada'/'first, best'/9",
        rows: 2,
        notes: &["cells are separated by pipes"],
    },
    Expected { file: "comments.csv", names: "weight, species", first: "3.5/'cat'", rows: 3, notes: &[] },
    Expected { file: "savetxt.txt", names: "x, y", first: "1/2.5", rows: 2, notes: &["cells are separated by spaces"] },
    Expected {
        file: "numbered-names.csv",
        names: "0, 1, 2, label",
        first: "5.1/3.5/1.4/'setosa'",
        rows: 2,
        notes: &["the first row is taken for the names of the columns, since its numbers count"],
    },
    Expected {
        file: "words-only-without-names.csv",
        names: "column_1, column_2, column_3",
        first: "'sunny'/'hot'/'no'",
        rows: 4,
        notes: &[NO_NAMES],
    },
    Expected {
        file: "quoted.csv",
        names: "id, name, first, note",
        first: "4/'Doe, Jane'/'says \"hi\"\nand leaves'",
        rows: 2,
        notes: &[],
    },
    Expected {
        file: "large-numbers.csv",
        names: "account, balance",
        first: "'9223372036854775807'/5",
        rows: 3,
        notes: &[],
    },
    Expected { file: "old-mac.csv", names: "a, b", first: "1/'x'", rows: 2, notes: &[] },
    Expected {
        file: "packed.data",
        names: "a, b",
        first: "1/'x'",
        rows: 2,
        notes: &["cells are separated by semicolons"],
    },
    Expected { file: "semicolons-in-text.csv", names: "id, tags, score", first: "7/'a;b'/1.5", rows: 3, notes: &[] },
];

fn read(file: &str, reading: &Reading, expected: &[&str]) -> Result<ReadTable> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tables");
    RawTable::read(&folder.join(file), reading, expected)
}

fn row(table: &RawTable, row: usize) -> String {
    let cell = |column: &super::RawColumn| match &column.cells {
        Cells::Numbers { values, .. } => values[row].to_string(),
        Cells::Text { words, codes } => format!("'{}'", words[codes[row] as usize]),
    };
    table.columns.iter().map(cell).collect::<Vec<_>>().join("/")
}

#[test]
fn awkward_tables_are_read_as_a_person_would() {
    for Expected { file, names, first, rows, notes } in TABLES {
        let read = read(file, &Reading::default(), &[]).unwrap();
        assert_eq!((read.table.column_names().as_str(), read.table.rows()), (names, rows), "{file}");
        assert_eq!(row(&read.table, 0), first, "{file}");
        let told = read.notes.iter().zip(notes).all(|(note, begin)| note.starts_with(begin));
        assert!(told && read.notes.len() == notes.len(), "{file}: {:?}", read.notes);
    }
}

#[test]
fn numbers_with_the_sign_of_a_currency_or_a_percentage_are_numbers() {
    let signless = |file| {
        let mut table = read(file, &Reading::default(), &[]).unwrap().table;
        let notes = super::without_signs(&mut table);
        (row(&table, 0), row(&table, 2), notes.len())
    };
    let dollars = ("1250/12.5/'18-25'/-3/'yes'".into(), "12000/7.25/'65+'/0/'no'".into(), 3);
    assert_eq!(signless("currency.csv"), dollars);
    let euros = ("1250/'18–25'/'ja'".into(), "12000/'ab 65'/'nein'".into(), 1);
    assert_eq!(signless("euro.csv"), euros);
}

#[test]
fn what_is_said_wins_over_what_is_recognised() {
    let names = |file, reading: Reading| read(file, &reading, &[]).unwrap().table.column_names();
    let reading = Reading { header: Some(true), ..Reading::default() };
    assert!(names("words-only-without-names.csv", reading).starts_with("sunny, hot"));
    let reading = Reading { header: Some(false), ..Reading::default() };
    assert!(names("numbered-names.csv", reading).starts_with("column_1, column_2"));
    let reading = Reading { delimiter: Some(Delimiter::Semicolon), ..Reading::default() };
    assert_eq!(names("lsat.csv", reading), ",lsat,ugpa,zfya,race,sex,first_pf");
    let reading = Reading { decimal_comma: true, ..Reading::default() };
    let first = |file| row(&read(file, &reading, &[]).unwrap().table, 0);
    assert_eq!(first("either-mark.csv"), "1.5/'bolt'");
    assert_eq!(first("winequality-red.csv"), "7.4/0.7/3.51/9.4/5", "a comma that is nowhere changes nothing");
}

#[test]
fn columns_that_are_expected_tell_whether_there_is_a_header() {
    let read = |expected: &[&str]| read("words-only-without-names.csv", &Reading::default(), expected).unwrap();
    assert_eq!((read(&["hot"]).table.rows(), read(&["column_1"]).table.rows()), (3, 4));
    assert!(read(&["hot"]).notes.is_empty() && read(&["column_1"]).notes.is_empty());
}

#[test]
fn ragged_rows_are_named_and_counted() {
    let message = read("ragged.csv", &Reading::default(), &[]).err().unwrap().to_string();
    assert!(
        message
            .contains("ragged.csv, line 3: has 2 cells, the header has 3, line 5 has 4, line 6 has 1; 4 rows differ"),
        "{message}"
    );
}

#[cfg(feature = "excel")]
#[test]
fn a_new_workbook_has_dates_as_text_and_its_sheet_can_be_chosen() {
    let first = read("loans.xlsx", &Reading::default(), &[]).unwrap();
    assert_eq!((first.table.column_names().as_str(), first.table.rows()), ("since, amount, paid", 2));
    assert_eq!(row(&first.table, 0), "'2024-02-29'/1250.5/'yes'");
    assert_eq!(row(&first.table, 1), "'2024-02-29T12:00:00'/800/'no'");
    assert_eq!(first.notes, ["the sheet `loans` is read (give `sheet` for another one: old loans)"]);
    let message = first.table.cell_error(1, "paid", "odd").to_string();
    assert!(message.ends_with("loans.xlsx: row 5 of the sheet, column `paid`: odd"), "{message}");

    let sheet = |name: &str| Reading { sheet: Some(name.into()), ..Reading::default() };
    let second = read("loans.xlsx", &sheet("old loans"), &[]).unwrap();
    assert_eq!((row(&second.table, 1).as_str(), second.notes.len()), ("8/'yes'", 0));
    let message = read("loans.xlsx", &sheet("new"), &[]).err().unwrap().to_string();
    assert!(message.ends_with("has no sheet `new`; give `sheet` with one of loans, old loans"), "{message}");
}

#[cfg(feature = "excel")]
#[test]
fn a_cell_far_from_the_others_is_refused_before_memory_is_taken() {
    let message = read("far-cell.xlsx", &Reading::default(), &[]).err().unwrap().to_string();
    assert!(message.contains("the sheet `loans` spans 1048576 rows and 16384 columns; clear the cells"), "{message}");
}

#[cfg(feature = "excel")]
#[test]
fn a_damaged_workbook_is_refused_or_read_whole() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tables");
    let whole = std::fs::read(folder.join("loans.xlsx")).unwrap();
    let damaged = tempfile::NamedTempFile::new().unwrap();
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        std::fs::write(damaged.path(), bytes).unwrap();
        if let Ok(read) = RawTable::read(damaged.path(), &Reading::default(), &[]) {
            assert_eq!((read.table.columns.len(), read.table.rows()), (3, 2), "byte {at} changed");
        }
    }
}
