//! Tables as text, as they circulate: any delimiter, padding, comments, with names on top or without, gzipped or not.

use super::build::{Commas, Record, build};
use super::dialect::{Dialect, begins_with};
use super::header::{FirstRow, Names, rows_looked_at};
use super::{Places, RawTable, charset};
use crate::data::reading::{Delimiter, Reading};
use crate::error::{Error, Result};
use csv::{ReaderBuilder, StringRecord};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

/// What the column is called whose name R leaves out.
const ROW_NAME: &str = "row_name";
/// A gzipped text may not become longer than this; a few kilobytes could otherwise fill the memory.
const LONGEST_TEXT: u64 = 8 << 30;

/// Reads the bytes of `path` as `reading` says and, where it says nothing, as the text itself shows; with notes.
/// Columns that are `expected` help to tell whether the first row names them.
pub(super) fn read(
    path: &Path,
    stored: Vec<u8>,
    reading: &Reading,
    expected: &[&str],
) -> Result<(RawTable, Vec<String>)> {
    let (text, note) = decoded(path, stored)?;
    let mut notes: Vec<String> = note.into_iter().collect();
    let dialect = Dialect::guess(&text, reading.delimiter);
    let text = tidied(&text, dialect.delimiter);
    if !matches!(dialect.delimiter, Delimiter::Comma) && reading.delimiter.is_none() {
        notes.push(format!("cells are separated by {}s", dialect.delimiter));
    }
    let rows = || records(path, &text, dialect);
    let first = rows().next().transpose()?.ok_or_else(|| empty(path))?.cells;
    let sample = rows()
        .skip(1)
        .take(rows_looked_at(first.len()))
        .map_while(Result::ok)
        .map(|record| record.cells)
        .collect::<Vec<_>>();
    let first = match lacks_first_name(&first, &sample, reading) {
        true => {
            notes.push(format!("rows have one cell more than the header, so the first is called `{ROW_NAME}`"));
            [ROW_NAME].into_iter().chain(&first).collect()
        }
        false => first,
    };
    let commented = (reading.header.is_none() && FirstRow::of(&first, &sample) != FirstRow::Names)
        .then(|| commented_names(&text, dialect, first.len()))
        .flatten();
    let names = match commented {
        Some(names) => Names { names, above: 0 },
        None => Names::of(&first, &sample, reading, expected, &mut notes),
    };
    let commas = match dialect.delimiter {
        Delimiter::Comma => Commas::Never,
        _ => Commas::of(reading),
    };
    let (table, more) =
        build(path, &names.names, (commas, !expected.is_empty()), Places::Lines, || rows().skip(names.above))?;
    notes.extend(more);
    Ok((table, notes))
}

/// Whether a row of names has one cell fewer than every row below it: R does not name the column of the rows' own names.
fn lacks_first_name(first: &StringRecord, sample: &[StringRecord], reading: &Reading) -> bool {
    let is_named = |name: &str| !name.trim().is_empty() && name != ROW_NAME && name.trim().parse::<f64>().is_err();
    reading.header != Some(false)
        && first.iter().all(is_named)
        && sample.len() > 1
        && sample.iter().all(|row| row.len() == first.len() + 1)
}

/// The text of `path`: unzipped, without a byte order mark, every line end a line feed (after a CR, perhaps).
pub(crate) fn decode(path: &Path, stored: Vec<u8>) -> Result<String> {
    decoded(path, stored).map(|(text, _)| text)
}

fn decoded(path: &Path, stored: Vec<u8>) -> Result<(String, Option<String>)> {
    let (text, note) = charset::decode(path, unzipped(path, stored, LONGEST_TEXT)?)?;
    // A CR alone ends a line too; as LF it also counts as one.
    let mut bytes = text.into_bytes();
    for i in 0..bytes.len() {
        if bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n') {
            bytes[i] = b'\n';
        }
    }
    Ok((String::from_utf8(bytes).expect("one ASCII character was put for another"), note))
}

/// The bytes of a gzipped file, at most `longest` of them, or those of another file as they are.
pub(crate) fn unzipped(path: &Path, stored: Vec<u8>, longest: u64) -> Result<Vec<u8>> {
    if !stored.starts_with(&[0x1f, 0x8b]) {
        return Ok(stored);
    }
    let mut bytes = Vec::new();
    let unzip = MultiGzDecoder::new(stored.as_slice()).take(longest + 1).read_to_end(&mut bytes);
    unzip.map_err(|error| Error::file(path, format!("cannot be unzipped ({error}); fetch or write it again")))?;
    if bytes.len() as u64 > longest {
        return Err(Error::file(path, format!("is longer than {longest} bytes when unzipped; give a part of it")));
    }
    Ok(bytes)
}

/// The table in `text`, whose header is the record number `header`, counted from 0; what stands before is left out.
pub(crate) fn parse(path: &Path, text: &str, header: usize) -> Result<RawTable> {
    let dialect = Dialect::guess(text, None);
    let names = records(path, text, dialect).nth(header).transpose()?.ok_or_else(|| empty(path))?;
    let rows = || records(path, text, dialect).skip(header + 1);
    build(path, &names.cells, (Commas::Never, false), Places::Lines, rows).map(|(table, _)| table)
}

fn empty(path: &Path) -> Error {
    Error::file(path, "is empty; give a header and at least two rows")
}

/// The names in the last comment above the first row, if it has as many as there are cells: `# a,b,c`.
fn commented_names(text: &str, dialect: Dialect, width: usize) -> Option<StringRecord> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let last = lines.take_while(|line| begins_with(line, dialect.comment)).last()?;
    let names = tidied(&last[1..], dialect.delimiter);
    let names = records(Path::new(""), &names, Dialect { comment: None, ..dialect }).next()?.ok()?.cells;
    // `#` itself is the name of the column that counts the rows.
    let name = |(index, name)| if index == 0 && str::is_empty(name) { &last[..1] } else { name };
    (names.len() == width && width > 1).then(|| names.iter().enumerate().map(name).collect())
}

/// The text with single blanks between cells that runs of blanks separate, and without blanks before quoted cells.
pub(super) fn tidied(text: &str, delimiter: Delimiter) -> Cow<'_, str> {
    let spaced = delimiter == Delimiter::Space;
    if !spaced && ![" \"", "\t\""].iter().any(|padded| text.contains(padded)) {
        return Cow::Borrowed(text);
    }
    let mark = char::from(delimiter.byte());
    let mut tidy = String::with_capacity(text.len());
    // Blanks that were read and not yet written.
    let (mut blanks, mut quoted) = (String::new(), false);
    for letter in text.chars() {
        let begins_line = tidy.is_empty() || tidy.ends_with('\n');
        let begins_cell = begins_line || tidy.ends_with(mark) || spaced && !blanks.is_empty();
        match letter {
            '"' if quoted => {
                quoted = false;
                tidy.push(letter);
            }
            _ if quoted => tidy.push(letter),
            ' ' | '\t' if spaced || letter != mark => blanks.push(letter),
            _ => {
                match spaced {
                    true if blanks.is_empty() || begins_line || letter == '\n' || letter == '\r' => {}
                    true => tidy.push(mark),
                    false if begins_cell && letter == '"' => {}
                    false => tidy.push_str(&blanks),
                }
                // A quote after a quote stands for one inside the cell.
                quoted = letter == '"' && (begins_cell || tidy.ends_with('"'));
                blanks.clear();
                tidy.push(letter);
            }
        }
    }
    Cow::Owned(tidy)
}

/// The rows of `text` as they follow; blank lines and comments are none.
pub(super) fn records<'a>(
    path: &'a Path,
    text: &'a str,
    dialect: Dialect,
) -> impl Iterator<Item = Result<Record>> + 'a {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(dialect.delimiter.byte())
        .comment(dialect.comment)
        .from_reader(text.as_bytes());
    std::iter::from_fn(move || {
        loop {
            let start = reader.position().clone();
            let mut cells = StringRecord::new();
            match reader.read_record(&mut cells) {
                Ok(true) if cells.len() == 1 && cells[0].trim().is_empty() => {}
                Ok(true) => {
                    // The reader skips empty lines and comments before a record without counting them in.
                    let lines = text[start.byte() as usize..].split('\n');
                    let skipped = lines.take_while(|line| {
                        line.trim_end_matches('\r').is_empty() || begins_with(line, dialect.comment)
                    });
                    return Some(Ok(Record { place: start.line() + skipped.count() as u64, cells }));
                }
                Ok(false) => return None,
                Err(error) => {
                    return Some(Err(Error::line(path, start.line(), format!("cannot be read as CSV: {error}"))));
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::raw::Cells;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn table(bytes: &[u8]) -> Result<RawTable> {
        noted(bytes).map(|(table, _)| table)
    }

    fn noted(bytes: &[u8]) -> Result<(RawTable, Vec<String>)> {
        read(Path::new("t.csv"), bytes.to_vec(), &Reading::default(), &[])
    }

    #[test]
    fn the_column_that_r_does_not_name_is_named() {
        for text in ["\"age\" \"job\"\n\"1\" 34 \"clerk\"\n\"2\" 5 \"judge\"\n", "age,job\n1,34,clerk\n2,5,judge\n"] {
            let (table, notes) = noted(text.as_bytes()).unwrap();
            let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            assert_eq!(names, ["row_name", "age", "job"]);
            assert_eq!(table.columns[1].cells, Cells::Numbers { values: vec![34.0, 5.0], decimals: 0 });
            assert!(notes.iter().any(|note| note.contains("one cell more than the header")), "{notes:?}");
        }
        // One ragged row is a mistake of that row.
        assert!(problem("age,job\n1,34,clerk\n5,judge\n").contains("line 2"));
    }

    fn problem(text: &str) -> String {
        table(text.as_bytes()).unwrap_err().to_string()
    }

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn line_ends_delimiters_quotes_mark_and_gzip_make_no_difference() {
        let plain = table(b"a,b c\n1,x\n2.5,y\n").unwrap().columns;
        assert_eq!(plain[0].cells, Cells::Numbers { values: vec![1.0, 2.5], decimals: 1 });
        let variants: [&[u8]; 8] = [
            b"a,b c\r1,x\r2.5,y",
            b"a,b c\r\n1,x\r\n2.5,y\r\n",
            b"a;b c\n1;x\n2.5;y\n",
            b"a\tb c\n1\tx\n2.5\ty\n",
            b"\"a\",\"b c\"\n\"1\",\"x\"\n2.5, y \n",
            b"\xef\xbb\xbfa,b c\n1,x\n2.5,y\n",
            b"\n\na,b c\n\n1,x\n2.5,y\n\n",
            &gzipped(b"a,b c\n1,x\n2.5,y\n"),
        ];
        for variant in variants {
            assert_eq!(table(variant).unwrap().columns, plain, "{}", String::from_utf8_lossy(variant));
        }
    }

    #[test]
    fn a_quoted_cell_may_hold_the_delimiter_and_a_line_end() {
        let columns = table(b"\"a;b;c\",d\n\"x,\ny\",1\n").unwrap().columns;
        assert_eq!(columns[0].name, "a;b;c");
        assert_eq!(columns[0].cells, Cells::Text { words: vec!["x,\ny".into()], codes: vec![0] });
    }

    #[test]
    fn round_numbers_in_exponents_are_whole() {
        let columns = table(b"a\n5.00E+05\n20000.0\n").unwrap().columns;
        assert_eq!(columns[0].cells, Cells::Numbers { values: vec![500_000.0, 20_000.0], decimals: 0 });
    }

    #[test]
    fn one_word_makes_a_column_text_with_its_cells_as_they_are_written() {
        let columns = table(b"a\n1.0\nx\n1.0\n").unwrap().columns;
        assert_eq!(columns[0].cells, Cells::Text { words: vec!["1.0".into(), "x".into()], codes: vec![0, 1, 0] });
    }

    #[test]
    fn a_ragged_row_is_named_with_its_line_whatever_the_line_ends() {
        for text in ["a,b,c\n1,2,3\n\n4,5\n", "a,b,c\r1,2,3\r\r4,5\r", "a,b,c\r\n1,2,3\r\n\r\n4,5\r\n"] {
            assert_eq!(problem(text), "t.csv, line 4: has 2 cells, the header has 3; mend the row", "{text:?}");
        }
        assert!(problem("a,b\n1,2,3\n").contains("line 2: has 3 cells"));
    }

    #[test]
    fn missing_cells_are_none_among_numbers_and_stay_as_they_are_among_text() {
        let columns = table(b"a,b\n1,x\n,?\nNA,\n2.5,y\n").unwrap().columns;
        assert_eq!([0, 1, 2, 3].map(|row| columns[0].cell(row).number()), [Some(1.0), None, None, Some(2.5)]);
        assert_eq!([0, 1, 2, 3].map(|row| columns[1].cell(row).is_missing()), [false, true, true, false]);
        let Cells::Numbers { decimals, .. } = columns[0].cells else { panic!("a column of numbers") };
        assert_eq!((decimals, columns[1].cell(1)), (1, crate::data::encoding::Cell::Text("?")));
    }

    #[test]
    fn infinite_values_are_named_with_line_and_column() {
        assert!(problem("a,b\n1,2\n-inf,2\n").starts_with("t.csv, line 3: column `a`: `-inf` is not a finite"));
    }

    #[test]
    fn files_without_rows_or_with_a_name_twice_are_refused() {
        assert!(problem("").contains("is empty"));
        assert!(problem("a,b\n").contains("no rows"));
        assert!(problem("a,a\n1,2\n").contains("two columns called `a`"));
    }

    #[test]
    fn text_that_is_not_utf8_is_read_as_western_european_and_noted() {
        let (table, notes) = noted(b"a,b\n1,M\xfcnchen\n").unwrap();
        assert_eq!(table.columns[1].cells, Cells::Text { words: vec!["München".into()], codes: vec![0] });
        assert!(notes[0].starts_with("line 2 is not UTF-8"), "{notes:?}");
    }

    #[test]
    fn the_first_three_ragged_rows_are_named_and_all_are_counted() {
        let text = format!("a,b\n{}1,2\n1\n1,2,3\n1,2\n1\n1\n", "3,4\n".repeat(9));
        assert_eq!(
            problem(&text),
            "t.csv, line 12: has 1 cells, the header has 2, line 13 has 3, line 15 has 1; 4 rows differ from the header; \
             mend them; give `delimiter` with what separates the cells, if it is another character"
        );
    }

    #[test]
    fn lines_are_counted_over_comments_and_blank_lines() {
        let text = "# made today\n\na,b\n1,2\n   \n# pause\n3,x\n";
        let table = table(text.as_bytes()).unwrap();
        assert_eq!(table.cell_error(1, "b", "odd").to_string(), "t.csv, line 7: column `b`: odd");
    }

    #[test]
    fn a_comment_above_the_rows_names_the_columns_if_it_has_as_many_names() {
        for (text, names) in [
            ("# x, y\n1,2\n3,4\n", "x, y"),
            ("# about\n# x y\n1 2\n3 4\n", "x, y"),
            ("#,y\n1,2\n2,4\n", "#, y"),
            ("# a, b\nx,y\n1,2\n", "x, y"),
        ] {
            assert_eq!(table(text.as_bytes()).unwrap().column_names(), names, "{text}");
        }
    }

    #[test]
    fn padding_is_left_out_except_inside_of_quotes() {
        assert_eq!(tidied("  1   2\n 3\t\t4 \n", Delimiter::Space), "1 2\n3 4\n");
        assert_eq!(tidied("\"a  b\"  2\r\n1 \"c d\"", Delimiter::Space), "\"a  b\" 2\r\n1 \"c d\"");
        assert_eq!(tidied("1, \"a, \"\"b\"\"  c\" ,2 3", Delimiter::Comma), "1,\"a, \"\"b\"\"  c\" ,2 3");
        assert_eq!(tidied("1, a b", Delimiter::Comma), "1, a b");
    }

    #[test]
    fn a_cut_or_exploding_gzip_is_refused() {
        let mut bytes = gzipped(&b"a,b\n1,2\n".repeat(1000));
        bytes.truncate(bytes.len() / 2);
        assert!(table(&bytes).unwrap_err().to_string().contains("cannot be unzipped"));
        let bomb = gzipped(&[b'1'; 5000]);
        assert!(unzipped(Path::new("t"), bomb, 4999).unwrap_err().to_string().contains("longer than 4999 bytes"));
    }

    #[test]
    fn a_later_record_can_be_the_header() {
        let table = parse(Path::new("t.csv"), ",X1,Y\nID,age,y\n1,20,0\n", 1).unwrap();
        assert_eq!(table.column_names(), "ID, age, y");
        assert_eq!(table.cell_error(0, "age", "odd").to_string(), "t.csv, line 3: column `age`: odd");
    }
}
