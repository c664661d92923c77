//! Flat Parquet files: whole and real numbers, booleans, dates and text, column by column.

use super::build::{Commas, Words, column_names, decimals_of, infinite_value};
use super::{Cells, Places, RawColumn, RawTable, guarded, is_rounded};
use crate::data::Calendar;
use crate::error::{Error, Result};
use csv::StringRecord;
use parquet::basic::{Compression, ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use std::fs::File;
use std::path::Path;

/// Seconds of a day.
const SECONDS_OF_A_DAY: i64 = 24 * 3600;
/// Rows that are read at once.
const BATCH: usize = 8192;

/// Reads the Parquet file at `path`.
pub(super) fn read(path: &Path) -> Result<RawTable> {
    let file = File::open(path).map_err(Error::reading(path))?;
    guarded(path, || {
        let reader = SerializedFileReader::new(file).map_err(|error| damaged(path, &error))?;
        check_compression(path, &reader)?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
        let names = column_names(path, &StringRecord::from(names))?;
        let column = |(index, name): (usize, String)| {
            let cells = read_column(path, &reader, index, &name, schema.column(index).as_ref())?;
            Ok(RawColumn { name, cells })
        };
        let columns: Vec<RawColumn> = names.into_iter().enumerate().map(column).collect::<Result<_>>()?;
        let table = RawTable { path: path.to_owned(), columns, places: Places::Rows, commas: Commas::Never };
        if table.rows() == 0 {
            return Err(Error::file(path, "has no rows; give at least two rows"));
        }
        if table.columns.iter().any(|column| column.cells.len() != table.rows()) {
            return Err(Error::file(path, "is damaged: its columns differ in length; write it again"));
        }
        Ok(table)
    })
}

fn damaged(path: &Path, error: &ParquetError) -> Error {
    Error::file(path, format!("cannot be read as Parquet ({error}); write it again"))
}

fn check_compression(path: &Path, reader: &SerializedFileReader<File>) -> Result<()> {
    let columns = reader.metadata().row_groups().iter().flat_map(|group| group.columns());
    for column in columns {
        match column.compression() {
            Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) => {}
            Compression::LZ4 | Compression::LZ4_RAW | Compression::ZSTD(_) => {}
            other => {
                let name = format!("{other:?}");
                let name = name.split('(').next().unwrap_or_default();
                return Err(Error::file(
                    path,
                    format!(
                        "is compressed with {name}, which is not supported; write it with snappy, gzip, lz4 or zstd"
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// How a stored value becomes a cell.
enum Meaning {
    /// A number as it is.
    Plain,
    /// An unsigned number in the bits of a signed one.
    Unsigned,
    /// A number of units of 10⁻ˢᶜᵃˡᵉ.
    Decimal(i32),
    /// A date or time: so many units a second, or days where there is none.
    Time(Option<i64>),
}

/// What the numbers of a column mean, or why they cannot be used.
fn meaning(descriptor: &ColumnDescriptor) -> std::result::Result<Meaning, &'static str> {
    if descriptor.path().parts().len() > 1 || descriptor.max_rep_level() > 0 {
        return Err("is nested or a list; flatten it or drop the column");
    }
    let time = "holds times of the day; turn them into numbers or drop the column";
    match descriptor.logical_type_ref() {
        Some(LogicalType::Timestamp(timestamp)) => {
            return Ok(Meaning::Time(Some(match timestamp.unit {
                TimeUnit::MILLIS => 1000,
                TimeUnit::MICROS => 1_000_000,
                TimeUnit::NANOS => 1_000_000_000,
            })));
        }
        Some(LogicalType::Time(_)) => return Err(time),
        _ => {}
    }
    match descriptor.converted_type() {
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
            Ok(Meaning::Unsigned)
        }
        ConvertedType::DECIMAL => Ok(Meaning::Decimal(descriptor.type_scale())),
        ConvertedType::DATE => Ok(Meaning::Time(None)),
        ConvertedType::TIMESTAMP_MILLIS => Ok(Meaning::Time(Some(1000))),
        ConvertedType::TIMESTAMP_MICROS => Ok(Meaning::Time(Some(1_000_000))),
        ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS | ConvertedType::INTERVAL => Err(time),
        _ => Ok(Meaning::Plain),
    }
}

/// Collects the cells of one column, and knows its name for messages.
struct Collector<'a> {
    path: &'a Path,
    name: &'a str,
    /// Whether the cells are words rather than numbers.
    text: bool,
    values: Vec<f64>,
    decimals: u32,
    words: Words,
}

impl Collector<'_> {
    fn cell_error(&self, row: usize, problem: &str) -> Error {
        Places::Rows.error(self.path, row, &format!("column `{}`: {problem}", self.name))
    }

    fn too_short(&self) -> Error {
        Error::file(self.path, format!("is damaged: column `{}` lacks values; write it again", self.name))
    }

    /// Adds a number that has `decimals` digits after the point.
    fn number(&mut self, value: f64, decimals: u32) -> Result<()> {
        let row = self.values.len();
        if value.is_infinite() {
            return Err(self.cell_error(row, &infinite_value(value)));
        }
        self.values.push(value + 0.0);
        self.decimals = self.decimals.max(decimals);
        Ok(())
    }

    /// Adds a number by its shortest digits, so that the f32 nearest to 0.1 becomes 0.1.
    fn written(&mut self, digits: &str) -> Result<()> {
        self.number(digits.parse().unwrap_or(f64::NAN), decimals_of(digits))
    }

    fn integer(&mut self, value: i64, meaning: &Meaning) -> Result<()> {
        match meaning {
            Meaning::Decimal(scale) => self.written(&format!("{value}e{}", -scale)),
            Meaning::Time(None) => self.number((value * SECONDS_OF_A_DAY) as f64, 0),
            Meaning::Time(Some(units)) => self.number(value.div_euclid(*units) as f64, 0),
            _ => self.whole(value.into()),
        }
    }

    /// Adds a whole number; one that is too large to be kept exactly makes the column text.
    fn whole(&mut self, value: i128) -> Result<()> {
        let written = value.to_string();
        if !self.text && !is_rounded(&written) {
            return self.number(value as f64, 0);
        }
        self.text = true;
        for earlier in std::mem::take(&mut self.values) {
            if earlier.is_nan() { self.missing() } else { self.words.push(&earlier.to_string()) }
        }
        self.words.push(&written);
        Ok(())
    }

    fn word(&mut self, row: usize, bytes: &[u8]) -> Result<()> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| self.cell_error(row, "is not UTF-8 text; turn it into text or drop the column"))?;
        self.words.push(text.trim());
        Ok(())
    }

    /// The cells of a column of seconds since 1970: text that says no more of the time than the column holds.
    fn dates(mut self) -> Result<Cells> {
        let seconds = std::mem::take(&mut self.values);
        let whole = |unit: i64| seconds.iter().all(|second| second.is_nan() || second % unit as f64 == 0.0);
        let (calendar, unit) = [(Calendar::IsoDay, SECONDS_OF_A_DAY), (Calendar::Minute, 60)]
            .into_iter()
            .find(|(_, unit)| whole(*unit))
            .unwrap_or((Calendar::Second, 1));
        for (row, second) in seconds.into_iter().enumerate() {
            let number = second / unit as f64;
            let text = if number.is_nan() { String::new() } else { calendar.write(number) };
            if !text.is_empty() && calendar.read(&text) != Some(number) {
                return Err(self.cell_error(row, "is no date of the years 0 to 9999; mend the cell or drop the column"));
            }
            self.words.push(&text);
        }
        Ok(self.words.cells())
    }

    fn cells(self) -> Cells {
        if self.text { self.words.cells() } else { Cells::numbers(self.values, self.decimals) }
    }

    /// Adds a null.
    fn missing(&mut self) {
        if self.text { self.words.push("") } else { self.values.push(f64::NAN) }
    }

    /// Gives every value of `reader` with its row, counted over the whole file, to `add`.
    fn each<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        first_row: usize,
        mut add: impl FnMut(&mut Self, usize, &T::T) -> Result<()>,
    ) -> Result<usize> {
        let mut row = first_row;
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        loop {
            levels.clear();
            values.clear();
            let (records, _, _) = reader
                .read_records(BATCH, Some(&mut levels), None, &mut values)
                .map_err(|error| damaged(self.path, &error))?;
            if records == 0 {
                return Ok(row);
            }
            // Of a column that may hold nulls there is a level for each row, 0 for a null; values are only the others.
            let has_nulls = values.len() != records;
            let mut there = values.iter();
            for record in 0..records {
                match levels.get(record) {
                    Some(0) if has_nulls => self.missing(),
                    _ => {
                        let value = there.next().ok_or_else(|| self.too_short())?;
                        add(self, row, value)?;
                    }
                }
                row += 1;
            }
        }
    }
}

fn read_column(
    path: &Path,
    reader: &SerializedFileReader<File>,
    index: usize,
    name: &str,
    descriptor: &ColumnDescriptor,
) -> Result<Cells> {
    let fail = |problem: &str| Error::file(path, format!("column `{name}` {problem}"));
    let meaning = meaning(descriptor).map_err(fail)?;
    let is_text = matches!(descriptor.physical_type(), Type::BOOLEAN | Type::BYTE_ARRAY);
    let mut all = Collector { path, name, text: is_text, values: Vec::new(), decimals: 0, words: Words::default() };
    let mut row = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(|error| damaged(path, &error))?;
        let column = group.get_column_reader(index).map_err(|error| damaged(path, &error))?;
        row = match column {
            ColumnReader::BoolColumnReader(r) => {
                all.each(r, row, |all, row, v| all.word(row, if *v { b"true" } else { b"false" }))?
            }
            ColumnReader::Int32ColumnReader(r) => all.each(r, row, |all, _, v| match meaning {
                Meaning::Unsigned => all.number(f64::from(v.cast_unsigned()), 0),
                _ => all.integer(i64::from(*v), &meaning),
            })?,
            ColumnReader::Int64ColumnReader(r) => all.each(r, row, |all, _, v| match meaning {
                Meaning::Unsigned => all.whole(v.cast_unsigned().into()),
                _ => all.integer(*v, &meaning),
            })?,
            ColumnReader::FloatColumnReader(r) => all.each(r, row, |all, _, v| all.written(&format!("{v:e}")))?,
            ColumnReader::DoubleColumnReader(r) => all.each(r, row, |all, _, v| all.written(&format!("{v:e}")))?,
            ColumnReader::ByteArrayColumnReader(r) if matches!(meaning, Meaning::Plain) => {
                all.each(r, row, |all, row, v| all.word(row, v.data()))?
            }
            _ => {
                let kind = descriptor.physical_type();
                return Err(fail(&format!(
                    "is stored as {kind}, which is not supported; turn it into numbers or text, or drop it"
                )));
            }
        };
    }
    match meaning {
        Meaning::Time(_) => all.dates(),
        _ => Ok(all.cells()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;
    use tempfile::NamedTempFile;

    type Group<'a> = SerializedRowGroupWriter<'a, File>;

    /// A file with the columns of `schema`, filled group by group.
    fn file(schema: &str, compression: Compression, groups: &[&dyn Fn(&mut Group<'_>)]) -> NamedTempFile {
        let file = NamedTempFile::new().unwrap();
        let schema = Arc::new(parse_message_type(&format!("message table {{ {schema} }}")).unwrap());
        let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
        let mut writer = SerializedFileWriter::new(file.reopen().unwrap(), schema, properties).unwrap();
        for fill in groups {
            let mut group = writer.next_row_group().unwrap();
            fill(&mut group);
            group.close().unwrap();
        }
        writer.close().unwrap();
        file
    }

    fn column<T: DataType>(group: &mut Group<'_>, values: &[T::T], levels: Option<&[i16]>) {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<T>().write_batch(values, levels, None).unwrap();
        column.close().unwrap();
    }

    fn words(texts: &[&str]) -> Vec<ByteArray> {
        texts.iter().map(|text| ByteArray::from(*text)).collect()
    }

    fn problem(file: &NamedTempFile) -> String {
        read(file.path()).unwrap_err().to_string()
    }

    #[test]
    fn numbers_booleans_and_text_are_read_over_all_row_groups() {
        let schema = "required int32 a; required int64 b; required float c; required double d; required boolean e; \
                      optional binary f (UTF8); required int32 g (UINT_32); required int64 h (DECIMAL(9, 2));";
        let fill = |group: &mut Group<'_>| {
            column::<Int32Type>(group, &[-1, 2], None);
            column::<Int64Type>(group, &[3, 4], None);
            column::<FloatType>(group, &[0.1, 2.0], None);
            column::<DoubleType>(group, &[1.25, -0.0], None);
            column::<BoolType>(group, &[true, false], None);
            column::<ByteArrayType>(group, &words(&["x", "y"]), Some(&[1, 1]));
            column::<Int32Type>(group, &[-1, 0], None);
            column::<Int64Type>(group, &[1050, -325], None);
        };
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::LZ4_RAW] {
            let table = read(file(schema, compression, &[&fill, &fill]).path()).unwrap();
            let numbers = |values: [f64; 2], decimals| Cells::Numbers { values: values.repeat(2), decimals };
            let text = |a: &str, b: &str| Cells::Text { words: vec![a.into(), b.into()], codes: vec![0, 1, 0, 1] };
            let expected = [
                numbers([-1.0, 2.0], 0),
                numbers([3.0, 4.0], 0),
                numbers([0.1, 2.0], 1),
                numbers([1.25, 0.0], 2),
                text("true", "false"),
                text("x", "y"),
                numbers([4_294_967_295.0, 0.0], 0),
                numbers([10.5, -3.25], 2),
            ];
            assert_eq!(table.columns.into_iter().map(|column| column.cells).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn whole_numbers_that_would_be_rounded_make_the_column_text() {
        let fill = |group: &mut Group<'_>| {
            column::<Int64Type>(group, &[7, i64::MAX, i64::MAX - 1], None);
            column::<Int64Type>(group, &[1, -1, 1 << 52], None);
        };
        let schema = "required int64 id (UINT_64); required int64 n;";
        let table = read(file(schema, Compression::SNAPPY, &[&fill]).path()).unwrap();
        let words = ["7", "9223372036854775807", "9223372036854775806"].map(str::to_owned).to_vec();
        assert_eq!(table.columns[0].cells, Cells::Text { words, codes: vec![0, 1, 2] });
        let values = vec![1.0, -1.0, 4_503_599_627_370_496.0];
        assert_eq!(table.columns[1].cells, Cells::Numbers { values, decimals: 0 });
    }

    #[test]
    fn nulls_and_nan_are_missing_and_infinity_is_named_with_row_and_column() {
        let whole = |group: &mut Group<'_>| column::<DoubleType>(group, &[1.0, 2.0], Some(&[1, 1]));
        let null = |group: &mut Group<'_>| column::<DoubleType>(group, &[1.0], Some(&[1, 0]));
        let nan = |group: &mut Group<'_>| column::<DoubleType>(group, &[f64::NAN], Some(&[1]));
        let infinite = |group: &mut Group<'_>| column::<DoubleType>(group, &[f64::INFINITY], Some(&[1]));
        let ages = |last| file("optional double age;", Compression::SNAPPY, &[&whole, last]);
        for (last, rows) in [(&null as &dyn Fn(&mut Group<'_>), 4), (&nan, 3)] {
            let table = read(ages(last).path()).unwrap();
            let missing: Vec<bool> = (0..rows).map(|row| table.columns[0].cell(row).is_missing()).collect();
            assert_eq!((missing.iter().filter(|missing| **missing).count(), missing[rows - 1]), (1, true));
        }
        assert!(problem(&ages(&infinite)).contains("row 3, column `age`: `inf` is not a finite number"));
    }

    #[test]
    fn a_text_that_is_null_is_a_missing_cell() {
        let fill = |group: &mut Group<'_>| column::<ByteArrayType>(group, &words(&["x", "y"]), Some(&[0, 1, 0, 1]));
        let table = read(file("optional binary f (UTF8);", Compression::SNAPPY, &[&fill]).path()).unwrap();
        let text = Cells::Text { words: vec!["".into(), "x".into(), "y".into()], codes: vec![0, 1, 0, 2] };
        assert_eq!(table.columns[0].cells, text);
        assert!(table.columns[0].cell(2).is_missing() && !table.columns[0].cell(3).is_missing());
    }

    #[test]
    fn dates_and_times_are_text_that_says_as_much_as_they_do() {
        let schema = "required int32 day (DATE); optional int64 midnight (TIMESTAMP(NANOS, true)); \
                      required int64 minute (TIMESTAMP(MILLIS, false)); required int64 second (TIMESTAMP(MICROS, true));";
        let day = 86_400_000_000_000;
        let fill = |group: &mut Group<'_>| {
            column::<Int32Type>(group, &[59, -1, 0], None);
            column::<Int64Type>(group, &[day, -day], Some(&[1, 0, 1]));
            column::<Int64Type>(group, &[60_000, 86_400_000, -60_000], None);
            column::<Int64Type>(group, &[1_000_000, 86_400_000_000, -1], None);
        };
        let table = read(file(schema, Compression::SNAPPY, &[&fill]).path()).unwrap();
        let words = table.columns.iter().map(|column| match &column.cells {
            Cells::Text { words, codes } => codes.iter().map(|&code| words[code as usize].as_str()).collect(),
            Cells::Numbers { .. } => vec![],
        });
        let expected = [
            ["1970-03-01", "1969-12-31", "1970-01-01"],
            ["1970-01-02", "", "1969-12-31"],
            ["1970-01-01 00:01", "1970-01-02 00:00", "1969-12-31 23:59"],
            ["1970-01-01 00:00:01", "1970-01-02 00:00:00", "1969-12-31 23:59:59"],
        ];
        assert_eq!(words.collect::<Vec<_>>(), expected);
        let far = |group: &mut Group<'_>| column::<Int32Type>(group, &[1, i32::MAX], None);
        let problem = problem(&file("required int32 day (DATE);", Compression::SNAPPY, &[&far]));
        assert!(problem.contains("row 2, column `day`: is no date of the years 0 to 9999"), "{problem}");
    }

    #[test]
    fn columns_that_are_no_plain_values_are_named_with_the_remedy() {
        let message = |schema: &str| problem(&file(schema, Compression::SNAPPY, &[]));
        assert!(message("required int64 at (TIME(NANOS, true));").contains("column `at` holds times of the day"));
        assert!(message("required group a { required int32 b; }").contains("column `a.b` is nested"));
        assert!(message("repeated int32 a;").contains("column `a` is nested or a list"));
        assert!(message("required int32 a;").contains("has no rows"));
    }

    #[test]
    fn a_damaged_file_ends_in_an_error_or_in_a_whole_table() {
        let fill = |group: &mut Group<'_>| column::<Int32Type>(group, &[1, 2, 3], None);
        let whole = std::fs::read(file("required int32 a;", Compression::SNAPPY, &[&fill]).path()).unwrap();
        let damaged = NamedTempFile::new().unwrap();
        for length in 0..whole.len() {
            std::fs::write(damaged.path(), &whole[..length]).unwrap();
            assert!(read(damaged.path()).is_err(), "{length} of {} bytes", whole.len());
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            std::fs::write(damaged.path(), bytes).unwrap();
            // A changed number is still a number, so some of these files can be read.
            if let Ok(table) = read(damaged.path()) {
                assert_eq!((table.columns.len(), table.rows()), (1, 3), "byte {at} changed");
            }
        }
    }
}
