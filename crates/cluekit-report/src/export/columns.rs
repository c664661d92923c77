//! Columns of a table, and their bytes as Parquet; any cell may be empty.

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::sync::Arc;

type Result<T> = std::result::Result<T, ParquetError>;
type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

/// A column with its name.
pub(super) struct Column {
    pub name: String,
    pub cells: Cells,
}

/// The cells of a column from the first row to the last.
pub(super) enum Cells {
    Whole(Vec<Option<i64>>),
    Short(Vec<Option<i32>>),
    Numbers(Vec<Option<f64>>),
    Truths(Vec<Option<bool>>),
    Words(Vec<Option<String>>),
}

/// The table of `columns`, all of the same length, as a Parquet file.
pub(super) fn written(columns: &[Column]) -> Result<Vec<u8>> {
    let fields = columns.iter().map(|column| column.kind().map(Arc::new)).collect::<Result<_>>()?;
    let schema = Type::group_type_builder("explanations").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    columns.iter().try_for_each(|column| column.cells.write(&mut group))?;
    group.close()?;
    writer.into_inner()
}

impl Column {
    fn kind(&self) -> Result<Type> {
        let (physical, converted) = match self.cells {
            Cells::Whole(_) => (Physical::INT64, ConvertedType::NONE),
            Cells::Short(_) => (Physical::INT32, ConvertedType::NONE),
            Cells::Numbers(_) => (Physical::DOUBLE, ConvertedType::NONE),
            Cells::Truths(_) => (Physical::BOOLEAN, ConvertedType::NONE),
            Cells::Words(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        };
        let kind = Type::primitive_type_builder(&self.name, physical);
        kind.with_repetition(Repetition::OPTIONAL).with_converted_type(converted).build()
    }
}

impl Cells {
    /// A further row without a value.
    pub fn push_empty(&mut self) {
        match self {
            Self::Whole(cells) => cells.push(None),
            Self::Short(cells) => cells.push(None),
            Self::Numbers(cells) => cells.push(None),
            Self::Truths(cells) => cells.push(None),
            Self::Words(cells) => cells.push(None),
        }
    }

    fn write(&self, group: &mut Group) -> Result<()> {
        match self {
            Self::Whole(cells) => column::<Int64Type, _>(group, cells, |&cell| cell),
            Self::Short(cells) => column::<Int32Type, _>(group, cells, |&cell| cell),
            Self::Numbers(cells) => column::<DoubleType, _>(group, cells, |&cell| cell),
            Self::Truths(cells) => column::<BoolType, _>(group, cells, |&cell| cell),
            Self::Words(cells) => column::<ByteArrayType, _>(group, cells, |word| ByteArray::from(word.as_str())),
        }
    }
}

/// Writes the next column: its values, and for each row whether it has one.
fn column<T: DataType, C>(group: &mut Group, cells: &[Option<C>], stored: impl Fn(&C) -> T::T) -> Result<()> {
    let present: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.iter().flatten().map(stored).collect();
    let mut writer = group.next_column()?.expect("the file has been given as many columns");
    writer.typed::<T>().write_batch(&values, Some(&present), None)?;
    writer.close()
}
