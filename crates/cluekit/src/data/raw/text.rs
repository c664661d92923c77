//! Comma separated values, as they circulate: also semicolons or tabs, also gzipped, any line ends, a byte order mark.

use super::build::{Record, build};
use super::{Places, RawTable};
use crate::error::{Error, Result};
use csv::{ReaderBuilder, StringRecord};
use flate2::read::MultiGzDecoder;
use std::io::Read;
use std::path::Path;

/// A gzipped text may not become longer than this; a few kilobytes could otherwise fill the memory.
const LONGEST_TEXT: u64 = 8 << 30;

/// Reads the bytes of `path`; the header is the record number `header`, counted from 0.
pub(crate) fn read(path: &Path, stored: Vec<u8>, header: usize) -> Result<RawTable> {
    parse(path, &decode(path, stored)?, header)
}

/// The text of `path`: unzipped, without a byte order mark, every line end a line feed (after a CR, perhaps).
pub(crate) fn decode(path: &Path, stored: Vec<u8>) -> Result<String> {
    let mut bytes = unzipped(path, stored, LONGEST_TEXT)?;
    // A CR alone ends a line too; as LF it also counts as one.
    for i in 0..bytes.len() {
        if bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n') {
            bytes[i] = b'\n';
        }
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count() as u64;
        Error::line(path, line, "is not UTF-8 text; save the file as CSV in UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn unzipped(path: &Path, stored: Vec<u8>, longest: u64) -> Result<Vec<u8>> {
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
    let delimiter = delimiter(text);
    let names = records(path, text, delimiter).nth(header).transpose()?;
    let names = names.ok_or_else(|| Error::file(path, "is empty; give a header and at least two rows"))?;
    build(path, &names.cells, Places::Lines, || records(path, text, delimiter).skip(header + 1))
}

/// The most frequent of comma, semicolon and tab in the first line, outside quotes; of equals, the first.
fn delimiter(text: &str) -> u8 {
    let first_line = text.lines().find(|line| !line.is_empty()).unwrap_or("");
    let unquoted: String = first_line.split('"').step_by(2).collect();
    let count = |mark: u8| unquoted.bytes().filter(|&byte| byte == mark).count();
    b",;\t".iter().copied().rev().max_by_key(|&mark| count(mark)).unwrap_or(b',')
}

fn records<'a>(path: &'a Path, text: &'a str, delimiter: u8) -> impl Iterator<Item = Result<Record>> + 'a {
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
    std::iter::from_fn(move || {
        let start = reader.position().clone();
        let mut cells = StringRecord::new();
        match reader.read_record(&mut cells) {
            Ok(true) => {
                // The reader skips empty lines before a record without counting them in.
                let skipped = text[start.byte() as usize..].bytes().take_while(|b| matches!(b, b'\n' | b'\r'));
                let place = start.line() + skipped.filter(|&byte| byte == b'\n').count() as u64;
                Some(Ok(Record { place, cells }))
            }
            Ok(false) => None,
            Err(error) => Some(Err(Error::line(path, start.line(), format!("cannot be read as CSV: {error}")))),
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
        read(Path::new("t.csv"), bytes.to_vec(), 0)
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
    fn text_that_is_not_utf8_is_named_with_its_line() {
        let message = table(b"a,b\n1,M\xfcnchen\n").unwrap_err().to_string();
        assert_eq!(message, "t.csv, line 2: is not UTF-8 text; save the file as CSV in UTF-8");
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
