//! Rows of a table beside what a model answers about each: more columns of the same table.

use super::{columns, encoded, given, under};
use crate::data::raw::{RawTable, ReadTable};
use crate::data::{Reading, Schema, Task};
use crate::error::Result;
use std::path::Path;

/// Rows with the answers of a model.
pub(crate) struct Answered {
    /// The rows, encoded.
    pub x: Vec<f32>,
    /// Name and numbers of each column of answers: one a class with its name, or `mean` and perhaps `deviation`.
    pub answers: Vec<(String, Vec<f64>)>,
}

/// Reads the rows of a file under `schema`, and the columns that hold a model's answers.
pub(crate) fn read_answered(path: &Path, schema: &Schema, reading: &Reading) -> Result<Answered> {
    let ReadTable { table, .. } = RawTable::read(path, reading, &columns(schema))?;
    let table = under(table, schema);
    given(&table, schema)?;
    let (x, problems) = encoded(&table, schema)?;
    problems.none(&table)?;
    let numbers = |name: &str| Ok((name.to_owned(), table.numbers(table.need(name)?)?.to_vec()));
    let answers = match &schema.target.task {
        Task::Classification { classes } => classes.iter().map(|class| numbers(class)).collect::<Result<_>>()?,
        Task::Regression(_) => {
            let deviation = table.column("deviation").map(|_| numbers("deviation")).transpose()?;
            [numbers("mean")?].into_iter().chain(deviation).collect()
        }
    };
    Ok(Answered { x, answers })
}
