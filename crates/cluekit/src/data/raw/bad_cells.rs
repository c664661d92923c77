//! Cells of a column that cannot be used: what is wrong with the first, where the first three are, and how many there are.

use super::{Places, RawTable};
use crate::error::Error;

/// Places that a message names.
const MOST_NAMED: usize = 3;

/// The cells of one column that cannot be used.
#[derive(Default)]
pub(crate) struct BadCells {
    problem: Option<String>,
    rows: Vec<usize>,
    count: usize,
}

impl BadCells {
    /// One more, in `row`; its problem matters only if it is the first.
    pub(crate) fn add(&mut self, row: usize, problem: impl FnOnce() -> String) {
        self.problem.get_or_insert_with(problem);
        if self.rows.len() < MOST_NAMED {
            self.rows.push(row);
        }
        self.count += 1;
    }

    /// What is wrong with these cells of `column`, if there are any.
    pub(crate) fn error(self, table: &RawTable, column: &str) -> Option<Error> {
        let problem = self.problem?;
        let more = match self.count {
            1 => String::new(),
            count => {
                let places: Vec<String> = self.rows.iter().map(|&row| table.places.number(row).to_string()).collect();
                let more = if count > MOST_NAMED { ", …" } else { "" };
                format!(" ({count} such cells, in {} {}{more})", table.places.plural(), places.join(", "))
            }
        };
        Some(table.cell_error(self.rows[0], column, problem + &more))
    }
}

impl Places {
    /// The number of a row, as messages count.
    fn number(&self, row: usize) -> u64 {
        match self {
            Self::Lines(lines) => lines[row],
            #[cfg(feature = "excel")]
            Self::SheetRows(rows) => rows[row],
            Self::Rows => row as u64 + 1,
        }
    }

    fn plural(&self) -> &'static str {
        match self {
            Self::Lines(_) => "lines",
            #[cfg(feature = "excel")]
            Self::SheetRows(_) => "rows",
            Self::Rows => "rows",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::parse;
    use super::*;
    use std::path::Path;

    #[test]
    fn the_first_three_places_and_the_count_of_all_are_named() {
        let text = "x\n1\na\n2\nb\n3\nc\nd\n";
        let table = parse(Path::new("t.csv"), text, 0).unwrap();
        assert_eq!(
            table.not_a_number(&table.columns[0]).to_string(),
            "t.csv, line 3: column `x`: `a` is not a number; mend the cell, or drop the row or the column (4 such cells, \
             in lines 3, 5, 7, …)"
        );
        let table = parse(Path::new("t.csv"), "x\n1\na\n", 0).unwrap();
        assert!(table.not_a_number(&table.columns[0]).to_string().ends_with("the row or the column"));
        assert!(BadCells::default().error(&table, "x").is_none());
    }
}
