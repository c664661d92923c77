//! The column whose cells identify the rows of a table, and the names that it gives them.

use crate::data::encoding::Cell;
use crate::data::raw::{Cells, RawColumn, RawTable};
use crate::data::{Feature, RowNames, Schema};
use crate::error::{Error, Result};
use std::collections::BTreeSet;

/// Takes the column of identifiers that was asked for out of the table, unless a schema makes a feature of it.
pub(super) fn asked(
    table: &mut RawTable,
    name: Option<&str>,
    target: &str,
    schema: Option<&Schema>,
) -> Result<Option<RawColumn>> {
    let Some(name) = name else { return Ok(None) };
    if name == target {
        return Err(Error::setting("id", format!("`{name}` is the column to predict; name another one")));
    }
    let column = table.need(name)?.clone();
    if !schema.is_some_and(|schema| schema.features.iter().any(|feature| feature.name == name)) {
        table.columns.retain(|column| column.name != name);
    }
    Ok(Some(column))
}

/// The first column outside the schema that holds whole numbers or text, each once.
pub(super) fn recognised(table: &RawTable, schema: &Schema) -> Option<RawColumn> {
    let used: BTreeSet<&String> =
        schema.features.iter().flat_map(Feature::sources).chain([&schema.target.name]).collect();
    table.columns.iter().find(|column| !used.contains(&column.name) && identifies(column)).cloned()
}

/// Whether each cell of a column is there once, and is a whole number or text.
fn identifies(column: &RawColumn) -> bool {
    match &column.cells {
        Cells::Numbers { values, .. } => {
            let distinct: BTreeSet<u64> = values.iter().map(|value| value.to_bits()).collect();
            distinct.len() == values.len() && values.iter().all(|value| value.fract() == 0.0)
        }
        Cells::Text { words, codes } => words.len() == codes.len(),
    }
}

/// Names of all rows of a table, with the identifiers in a column.
pub(super) fn names(table: &RawTable, id: Option<&RawColumn>) -> RowNames {
    let text = |cell: Cell| cell.to_string();
    let ids = id.map(|column| (0..table.rows()).map(|row| text(column.cell(row))).collect());
    RowNames::new(table.file_rows(), ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::raw::text;
    use std::path::Path;

    fn table() -> RawTable {
        text::parse(Path::new("bank.csv"), "code,age,note,default\nC-7,30,x,no\nC-9,30,x,yes\n", 0).unwrap()
    }

    #[test]
    fn a_column_of_identifiers_is_no_feature() {
        let mut table = table();
        let column = asked(&mut table, Some("age"), "default", None).unwrap().unwrap();
        assert!(table.column("age").is_none());
        assert_eq!(names(&table, Some(&column)).get(1).unwrap().to_string(), "row 3, id 30");
        assert!(asked(&mut table, Some("default"), "default", None).unwrap_err().to_string().contains("to predict"));
        assert!(asked(&mut table, Some("aeg"), "default", None).is_err());
        assert!(asked(&mut table, None, "default", None).unwrap().is_none());
    }

    #[test]
    fn what_is_different_in_every_row_and_is_left_out_identifies() {
        let table = table();
        let identifying: Vec<bool> = table.columns.iter().map(identifies).collect();
        assert_eq!(identifying, [true, false, false, true]);
    }
}
