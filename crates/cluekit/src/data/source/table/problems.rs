//! What is wrong with the cells of a table, row by row: reasons for a batch, or one error for the whole.

use crate::data::raw::RawTable;
use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// Rows that a message names; the others are counted.
const MOST_NAMED: usize = 3;

/// The first problem of each row that has one.
#[derive(Debug, Default)]
pub(super) struct Problems(BTreeMap<usize, (String, String)>);

impl Problems {
    /// Notes what is wrong with the cell of `column` in `row`; of each row the first problem counts.
    pub(super) fn add(&mut self, row: usize, column: &str, problem: String) {
        self.0.entry(row).or_insert_with(|| (column.to_owned(), problem));
    }

    /// Whether something is wrong with a row.
    pub(super) fn hold(&self, row: usize) -> bool {
        self.0.contains_key(&row)
    }

    /// Each row with what is wrong, in the order of the rows.
    pub(super) fn of_rows(&self) -> impl Iterator<Item = (usize, String)> {
        self.0.iter().map(|(&row, (column, problem))| (row, format!("column `{column}`: {problem}")))
    }

    /// An error that names the first rows and counts all, if there are any.
    pub(super) fn none(&self, table: &RawTable) -> Result<()> {
        let Some((&first, (column, problem))) = self.0.first_key_value() else { return Ok(()) };
        if self.0.len() == 1 {
            return Err(table.cell_error(first, column, problem));
        }
        let named = self.of_rows().take(MOST_NAMED).map(|(row, problem)| format!("{}, {problem}", table.place(row)));
        let more = if self.0.len() > MOST_NAMED { "; …" } else { "" };
        let named = named.collect::<Vec<_>>().join("; ");
        Err(Error::file(&table.path, format!("{} rows cannot be used: {named}{more}", self.0.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::raw::text;
    use std::path::Path;

    #[test]
    fn the_first_three_rows_are_named_and_all_are_counted() {
        let table = text::parse(Path::new("bank.csv"), "age\n1\n2\n3\n4\n5\n", 0).unwrap();
        let mut problems = Problems::default();
        assert!(problems.none(&table).is_ok());
        problems.add(4, "age", "`5` is too old".into());
        problems.add(4, "age", "it comes second".into());
        assert_eq!(problems.none(&table).unwrap_err().to_string(), "bank.csv, line 6: column `age`: `5` is too old");
        for row in 0..3 {
            problems.add(row, "age", "no".into());
        }
        assert_eq!(
            problems.none(&table).unwrap_err().to_string(),
            "bank.csv: 4 rows cannot be used: line 2, column `age`: no; line 3, column `age`: no; line 4, column `age`: \
             no; …"
        );
        assert!(problems.hold(4) && !problems.hold(3));
    }
}
