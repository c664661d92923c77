//! The cells of a table under a schema: encoded inputs and targets, and what is wrong with those that cannot be encoded.

use super::problems::Problems;
use crate::data::encoding::{Cell, holds};
use crate::data::gaps;
use crate::data::raw::{Cells, RawColumn, RawTable};
use crate::data::{Feature, Kind, Schema, Targets, Task};
use crate::error::Result;
use std::collections::HashMap;

/// The label of each row; what is no class is one of its own, which encoding will name.
pub(super) fn strata(column: &RawColumn, task: &Task) -> Vec<u32> {
    let label = |cell: Cell<'_>| task.label(cell).unwrap_or(u32::MAX);
    per_row(column, label)
}

/// What `read` makes of each cell, which it sees once for each word or number that occurs.
fn per_row<T: Clone>(column: &RawColumn, read: impl Fn(Cell<'_>) -> T) -> Vec<T> {
    match &column.cells {
        Cells::Text { words, codes } => {
            let known: Vec<T> = words.iter().map(|word| read(Cell::Text(word))).collect();
            codes.iter().map(|&code| known[code as usize].clone()).collect()
        }
        Cells::Numbers { values, .. } => {
            let mut known: HashMap<u64, T> = HashMap::new();
            let mut of = |value: f64| known.entry(value.to_bits()).or_insert_with(|| read(Cell::Number(value))).clone();
            values.iter().map(|&value| of(value)).collect()
        }
    }
}

/// The inputs of all rows; an error where some cannot be encoded.
pub(in crate::data) fn encode_inputs(table: &RawTable, schema: &Schema) -> Result<Vec<f32>> {
    gaps::refuse(table, schema)?;
    let (x, problems) = encoded(table, schema)?;
    problems.none(table).map(|()| x)
}

/// The inputs of all rows, and what is wrong with those that cannot be encoded.
pub(super) fn encoded(table: &RawTable, schema: &Schema) -> Result<(Vec<f32>, Problems)> {
    let width = schema.width();
    let mut x = vec![0.0; table.rows() * width];
    let mut problems = Problems::default();
    let there = table.by_name();
    let column = |name: &str| there.get(name).map_or_else(|| table.need(name), |column| Ok(*column));
    for (feature, place) in schema.features.iter().zip(schema.columns()) {
        let rows = x.chunks_exact_mut(width).map(|row| &mut row[place.range()]);
        match &feature.kind {
            Kind::OneHot { columns } => {
                let columns = columns.iter().map(|name| column(name)).collect::<Result<Vec<_>>>()?;
                encode_one_hot(feature, &columns, rows, &mut problems);
            }
            _ => encode_column(feature, column(&feature.name)?, rows, &mut problems),
        }
    }
    Ok((x, problems))
}

/// Writes the cells of one column into the rows; a word is encoded once.
fn encode_column<'a>(
    feature: &Feature,
    column: &RawColumn,
    rows: impl Iterator<Item = &'a mut [f32]>,
    problems: &mut Problems,
) {
    let encoded = |cell: Cell<'_>| {
        let mut out = vec![0.0; feature.width()];
        feature.encode(cell, &mut out).map(|()| out)
    };
    let words: Vec<std::result::Result<Vec<f32>, String>> = match &column.cells {
        Cells::Text { words, .. } => words.iter().map(|word| encoded(Cell::Text(word))).collect(),
        Cells::Numbers { .. } => vec![],
    };
    for (row, out) in rows.enumerate() {
        let done = match &column.cells {
            Cells::Text { codes, .. } => match &words[codes[row] as usize] {
                Ok(encoded) => {
                    out.copy_from_slice(encoded);
                    Ok(())
                }
                Err(problem) => Err(problem.clone()),
            },
            Cells::Numbers { .. } => feature.encode(column.cell(row), out),
        };
        done.unwrap_or_else(|problem| problems.add(row, &column.name, problem));
    }
}

/// Writes which of the columns holds into the rows; exactly one must.
fn encode_one_hot<'a>(
    feature: &Feature,
    columns: &[&RawColumn],
    rows: impl Iterator<Item = &'a mut [f32]>,
    problems: &mut Problems,
) {
    for (row, out) in rows.enumerate() {
        let mut held = 0;
        for (column, out) in columns.iter().zip(out) {
            let Some(holds) = holds(column.cell(row)) else {
                let problem = format!("`{}` is neither 0 nor 1; mend the cell", column.cell(row));
                problems.add(row, &column.name, problem);
                continue;
            };
            *out = f32::from(u8::from(holds));
            held += usize::from(holds);
        }
        if held != 1 {
            let problem = format!(
                "{held} of the columns of `{}` hold, but each row has one category; mend the row",
                feature.name
            );
            problems.add(row, &columns[0].name, problem);
        }
    }
}

/// The targets of all rows; of a row without one, which no split has, anything.
pub(super) fn encode_targets(table: &RawTable, schema: &Schema) -> Result<Targets> {
    let column = table.need(&schema.target.name)?;
    if schema.target.task.is_regression() {
        table.numbers(column)?;
    }
    let mut problems = Problems::default();
    let targets = targets_of(column, &schema.target.task, &mut problems);
    problems.none(table).map(|()| targets)
}

/// The targets of a column, and what is wrong with those that there are; of a row with a problem or without a target,
/// anything.
pub(super) fn targets_of(column: &RawColumn, task: &Task, problems: &mut Problems) -> Targets {
    match task {
        Task::Classification { .. } => {
            let labels = per_row(column, |cell| task.label(cell));
            let label = |(row, label): (usize, std::result::Result<u32, String>)| match label {
                Ok(label) => label,
                Err(_) if !gaps::has_target(column, row) => 0,
                Err(problem) => {
                    problems.add(row, &column.name, problem);
                    0
                }
            };
            Targets::Classes(labels.into_iter().enumerate().map(label).collect())
        }
        Task::Regression(scaling) => {
            let value = |row: usize| {
                let number = column.cell(row).number();
                let value = scaling.encode(number.unwrap_or(f64::NAN));
                if !value.is_finite() && gaps::has_target(column, row) {
                    let problem = match number {
                        Some(_) => "is too far from the training rows; mend the cell".into(),
                        None => format!("`{}` is not a number; mend the cell", column.cell(row)),
                    };
                    problems.add(row, &column.name, problem);
                }
                value
            };
            Targets::Values((0..column.cells.len()).map(value).collect())
        }
    }
}
