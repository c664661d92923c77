//! What the columns of a table mean, guessed from their cells as a person would.
//!
//! | cells | kind |
//! |---|---|
//! | two distinct values | binary |
//! | whole numbers, at most 12 distinct | ordinal |
//! | other numbers | continuous |
//! | text | categorical |
//!
//! Identifiers are left out, with a note. A target of text, or of at most 20 distinct whole numbers, is a class.
//! Kinds and categories come from all rows, scaling from the training rows only.

use super::encoding::Cell;
use super::raw::{Cells, RawColumn, RawTable, is_rounded};
use super::{Constraints, Feature, Kind, Scaling, Schema, Target, Task};
use crate::error::{Error, Result};
use std::collections::BTreeSet;

/// Whole numbers with more distinct values than this are continuous.
const MOST_STEPS: usize = 12;
/// Text with more distinct values than this is not a category.
const MOST_CATEGORIES: usize = 50;
/// Whole-number targets with more distinct values than this are values, not classes.
const MOST_NUMBERED_CLASSES: usize = 20;
/// Tables with so few rows may have all-distinct columns by chance.
const FEW_ROWS: usize = 10;

/// A schema, and what the user should know about how it came about.
#[derive(Debug)]
pub(crate) struct Inferred {
    pub schema: Schema,
    pub notes: Vec<String>,
}

/// Infers the schema of `table` for predicting the column `target`, with scaling from the `training` rows.
pub(crate) fn infer(table: &RawTable, target: &str, training: &[usize]) -> Result<Inferred> {
    let column = table.need(target)?;
    let target =
        Target { name: column.name.clone(), task: task_of(table, column, training)?, unit: None, meaning: None };
    let mut notes = Vec::new();
    let mut features = Vec::new();
    for (index, column) in table.columns.iter().enumerate().filter(|(_, column)| column.name != target.name) {
        match unusable(table, index, column)? {
            Some(reason) => notes.push(format!("column `{}` is left out: {reason}", column.name)),
            None => {
                let kind = kind_of(table, column, training)?;
                features.push(Feature { name: column.name.clone(), kind, unit: None, meaning: None, missing: None });
            }
        }
    }
    if features.is_empty() {
        let left_out = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        return Err(Error::file(
            &table.path,
            format!("has no column to predict `{}` from{left_out}; add one", target.name),
        ));
    }
    let schema = Schema { target, image: None, features, constraints: Constraints::default() };
    Ok(Inferred { schema, notes })
}

fn task_of(table: &RawTable, column: &RawColumn, training: &[usize]) -> Result<Task> {
    let distinct = Distinct::of(column);
    let fail = |problem: String| Error::file(&table.path, format!("target `{}` {problem}", column.name));
    if distinct.len() == 1 {
        return Err(fail(format!(
            "is `{}` in every row: there is nothing to learn; give rows that differ",
            column.cell(0)
        )));
    }
    match distinct {
        Distinct::Words(words) if nearly_all(words.len(), table.rows()) => Err(fail(format!(
            "has {} distinct texts in {} rows: it is no class; choose another column",
            words.len(),
            table.rows()
        ))),
        Distinct::Numbers(numbers) if !(whole(&numbers) && numbers.len() <= MOST_NUMBERED_CLASSES) => {
            Ok(Task::Regression(scaling_of(table, column, training)?))
        }
        classes => Ok(Task::Classification { classes: classes.texts() }),
    }
}

fn kind_of(table: &RawTable, column: &RawColumn, training: &[usize]) -> Result<Kind> {
    let distinct = Distinct::of(column);
    if distinct.len() == 2 {
        return Ok(Kind::Binary { categories: distinct.texts() });
    }
    match distinct {
        Distinct::Words(_) => Ok(Kind::Categorical { categories: distinct.texts() }),
        Distinct::Numbers(numbers) => {
            let scaling = scaling_of(table, column, training)?;
            let steps = whole(&numbers) && numbers.len() <= MOST_STEPS;
            Ok(if steps { Kind::Ordinal(scaling) } else { Kind::Continuous(scaling) })
        }
    }
}

/// Why a column cannot be a feature, if it cannot; an error where the user must decide.
fn unusable(table: &RawTable, index: usize, column: &RawColumn) -> Result<Option<String>> {
    match &column.cells {
        Cells::Numbers { values, .. } => {
            Ok(is_identifier(index, &column.name, values).then(|| "it only numbers the rows".to_owned()))
        }
        Cells::Text { words, .. } => unusable_text(table, column, words),
    }
}

fn unusable_text(table: &RawTable, column: &RawColumn, words: &[String]) -> Result<Option<String>> {
    let (distinct, rows) = (words.len(), table.rows());
    if distinct == 1 {
        return Ok(Some(format!("it is `{}` in every row", words[0])));
    }
    // Too many different numbers to be the names of categories, and hardly anything else: a measured quantity with a
    // word in it.
    let numbers = words.iter().filter(|word| word.parse::<f64>().is_ok() && !is_rounded(word)).count();
    if numbers > MOST_STEPS && numbers * 10 >= distinct * 9 {
        return Err(table.not_a_number(column));
    }
    if distinct <= MOST_CATEGORIES && !nearly_all(distinct, rows) {
        return Ok(None);
    }
    let is_number = |&row: &usize| match column.cell(row) {
        Cell::Text(text) if is_rounded(text) => false,
        cell => cell.number().is_some(),
    };
    if (0..rows).filter(is_number).count() * 2 >= rows {
        return Err(table.not_a_number(column));
    }
    if nearly_all(distinct, rows) {
        return Ok(Some(format!("its text is different in nearly every row ({distinct} of {rows})")));
    }
    Err(Error::file(
        &table.path,
        format!(
            "column `{}` has {distinct} distinct texts, more than the {MOST_CATEGORIES} that can be categories; \
             group them, remove the column, or give a schema.toml without it",
            column.name
        ),
    ))
}

/// Whether whole numbers, each once, are called an identifier or count the rows from the first column.
fn is_identifier(index: usize, name: &str, values: &[f64]) -> bool {
    let name = name.to_lowercase();
    let named = ["id", "index", "__index_level_0__"].contains(&name.as_str()) || name.ends_with("_id");
    let counts = values.windows(2).all(|pair| (pair[1] - pair[0] - 1.0).abs() <= 0.0)
        && values.first().is_some_and(|&first| (0.0..=1.0).contains(&first));
    let counting = index == 0 && values.len() > FEW_ROWS && counts;
    whole(values) && (counting || named && sorted_distinct(values).len() == values.len())
}

fn nearly_all(distinct: usize, rows: usize) -> bool {
    rows > FEW_ROWS && distinct * 10 > rows * 9
}

fn whole(values: &[f64]) -> bool {
    values.iter().all(|v| v.fract() == 0.0)
}

fn sorted_distinct(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup_by_key(|v| v.to_bits());
    values
}

/// The distinct cells of a column, numbers by size and text by alphabet.
pub(crate) enum Distinct<'a> {
    Numbers(Vec<f64>),
    Words(BTreeSet<&'a str>),
}

impl<'a> Distinct<'a> {
    pub(crate) fn of(column: &'a RawColumn) -> Self {
        match &column.cells {
            Cells::Numbers { values, .. } => Self::Numbers(sorted_distinct(values)),
            Cells::Text { words, .. } => Self::Words(words.iter().map(String::as_str).collect()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Words(words) => words.len(),
        }
    }

    /// Each as text: numbers by their shortest digits, so that 2, 2.0 and 2.00E+00 are one.
    pub(crate) fn texts(&self) -> Vec<String> {
        match self {
            Self::Numbers(numbers) => numbers.iter().map(ToString::to_string).collect(),
            Self::Words(words) => words.iter().map(ToString::to_string).collect(),
        }
    }
}

/// The scaling of a column of numbers, from its `training` rows; rounding to the decimals of all its rows.
pub(crate) fn scaling_of(table: &RawTable, column: &RawColumn, training: &[usize]) -> Result<Scaling> {
    let values = table.numbers(column)?;
    let Cells::Numbers { decimals, .. } = &column.cells else { return Err(table.not_a_number(column)) };
    let chosen: Vec<f64> = training.iter().map(|&row| values[row]).collect();
    let scaling = Scaling::fit(&chosen)
        .map_err(|problem| Error::file(&table.path, format!("column `{}`: {problem}", column.name)))?;
    Ok(scaling.rounding_to(Some(*decimals), values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::raw::text::parse;
    use std::path::Path;

    /// A column's name and its cell in each row.
    type Made<'a> = (&'a str, fn(usize) -> String);

    /// A table of `rows` rows whose cells follow from the row's number.
    fn table(rows: usize, columns: &[Made<'_>]) -> RawTable {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let line = |row| columns.iter().map(|(_, cell)| cell(row)).collect::<Vec<_>>().join(",");
        let lines: Vec<String> = (0..rows).map(line).collect();
        parse(Path::new("t.csv"), &format!("{}\n{}\n", names.join(","), lines.join("\n")), 0).unwrap()
    }

    fn inferred(table: &RawTable, target: &str) -> Result<Inferred> {
        infer(table, target, &(0..table.rows()).collect::<Vec<_>>())
    }

    const CLASS: Made<'_> = ("y", |i| (i % 2).to_string());

    fn kind(cell: fn(usize) -> String) -> Kind {
        let table = table(100, &[("x", cell), CLASS]);
        inferred(&table, "y").unwrap().schema.features.remove(0).kind
    }

    #[test]
    fn kinds_follow_the_cells() {
        assert_eq!(kind(|i| ["10", "9"][i % 2].into()), Kind::Binary { categories: vec!["9".into(), "10".into()] });
        assert_eq!(kind(|i| ["m", "f"][i % 2].into()), Kind::Binary { categories: vec!["f".into(), "m".into()] });
        assert_eq!(kind(|i| ["c", "a", "b"][i % 3].into()).categories(), ["a", "b", "c"]);
        assert_eq!(kind(|i| (i % 12).to_string()).name(), "ordinal");
        assert_eq!(kind(|i| (i % 13).to_string()).name(), "continuous");
        assert_eq!(kind(|i| format!("{}.5", i % 3)).name(), "continuous");
        assert_eq!(kind(|_| "7".into()).scaling().unwrap().deviation, 1.0);
    }

    #[test]
    fn scaling_comes_from_the_training_rows_and_decimals_from_all() {
        let table = parse(Path::new("t.csv"), "x,y\n1,0\n3,1\n0.25,0\n", 0).unwrap();
        let kind = infer(&table, "y", &[0, 1]).unwrap().schema.features.remove(0).kind;
        let expected = Scaling { mean: 2.0, deviation: 1.0, decimals: Some(2), least: 1.0, greatest: 3.0 };
        assert_eq!(kind, Kind::Continuous(expected));
    }

    #[test]
    fn identifiers_and_constant_text_are_left_out_with_a_note() {
        let table = table(
            40,
            &[
                ("row", |i| (i + 1).to_string()),
                ("Customer_ID", |i| (i * 7 % 40).to_string()),
                ("name", |i| format!("person {i}")),
                ("country", |_| "TW".into()),
                ("x", |i| (i + 1).to_string()),
                CLASS,
            ],
        );
        let Inferred { schema, notes } = inferred(&table, "y").unwrap();
        assert_eq!(schema.features.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["x"]);
        assert_eq!(notes.len(), 4);
        assert_eq!(notes[0], "column `row` is left out: it only numbers the rows");
        assert!(notes[2].contains("`name` is left out: its text is different in nearly every row (40 of 40)"));
    }

    #[test]
    fn text_with_too_many_values_is_refused_with_the_remedy() {
        let table = table(200, &[("city", |i| format!("city {}", i % 51)), CLASS]);
        let message = inferred(&table, "y").unwrap_err().to_string();
        assert!(message.contains("column `city` has 51 distinct texts") && message.contains("remove the column"));
    }

    #[test]
    fn a_word_among_numbers_is_named_with_its_line() {
        let table = table(100, &[("age", |i| if i == 5 { "unknown".into() } else { i.to_string() }), CLASS]);
        let message = inferred(&table, "y").unwrap_err().to_string();
        assert!(message.starts_with("t.csv, line 7: column `age`: `unknown` is not a number"), "{message}");
    }

    #[test]
    fn targets_are_classes_or_values() {
        let task = |cell: fn(usize) -> String| {
            inferred(&table(100, &[("x", |i| (i % 5).to_string()), ("y", cell)]), "y").unwrap().schema.target.task
        };
        assert_eq!(task(|i| ["10", "9"][i % 2].into()).classes(), ["9", "10"]);
        assert_eq!(task(|i| ["yes", "no"][i % 2].into()).classes(), ["no", "yes"]);
        assert_eq!(task(|i| (i % 20).to_string()).classes().len(), 20);
        assert!(task(|i| (i % 21).to_string()).is_regression());
        assert!(task(|i| format!("{}.5", i % 2)).is_regression());
    }

    #[test]
    fn targets_without_anything_to_learn_are_refused() {
        let problem = |cell: fn(usize) -> String| {
            inferred(&table(100, &[("x", |i| i.to_string()), ("y", cell)]), "y").unwrap_err().to_string()
        };
        assert!(problem(|_| "1".into()).contains("target `y` is `1` in every row"));
        assert!(problem(|i| format!("name {i}")).contains("100 distinct texts in 100 rows"));
    }

    #[test]
    fn a_table_of_the_target_alone_is_refused() {
        let table = table(20, &[("id", |i| i.to_string()), CLASS]);
        let message = inferred(&table, "y").unwrap_err().to_string();
        assert!(message.contains("no column to predict `y` from (column `id` is left out"), "{message}");
    }
}
