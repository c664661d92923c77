//! What is predicted: a class or a value.
//!
//! Text and at most 20 different whole numbers are classes; other numbers are values. Classes whose order is declared or
//! known stand in it. A full stop behind a class, as in `>50K.` beside `>50K`, says nothing.

use super::distinct::{few, nearly_all, number_texts, texts, whole};
use super::order;
use super::scales::scaling_of;
use crate::data::raw::{Cells, RawColumn, RawTable};
use crate::data::{Task, TaskKind};
use crate::error::{Error, Result};

/// Whole-number targets with more distinct values than this are values, not classes.
const MOST_NUMBERED_CLASSES: usize = 20;
/// More classes than this are refused, even if somebody asks for them.
const MOST_CLASSES: usize = 1000;

/// What is said of a target beforehand.
#[derive(Clone, Copy, Default)]
pub(crate) struct Said<'a> {
    pub task: Option<TaskKind>,
    pub order: Option<&'a [String]>,
}

/// The task of predicting `column`, with scaling from the `training` rows.
pub(super) fn task(table: &RawTable, column: &RawColumn, training: &[usize], said: Said<'_>) -> Result<Task> {
    match classes(table, column, said)? {
        Some(classes) => Ok(Task::Classification { classes }),
        None => Ok(Task::Regression(scaling_of(table, column, training)?)),
    }
}

/// The classes of a target in their order; none for a target that is a value.
pub(crate) fn classes(table: &RawTable, column: &RawColumn, said: Said<'_>) -> Result<Option<Vec<String>>> {
    let fail = |problem: String| Error::file(&table.path, format!("target `{}` {problem}", column.name));
    let same =
        |value: String| fail(format!("is `{value}` in every row: there is nothing to learn; give rows that differ"));
    match &column.cells {
        Cells::Numbers { values, .. } => {
            let asked = said.task == Some(TaskKind::Classification);
            let most = if asked { MOST_CLASSES } else { MOST_NUMBERED_CLASSES };
            match few(values, most).filter(|classes| asked || whole(classes)) {
                Some(classes) if classes.len() == 1 => Err(same(classes[0].to_string())),
                Some(classes) if said.task != Some(TaskKind::Regression) => Ok(Some(number_texts(&classes))),
                None if asked => Err(fail(format!(
                    "has more than {MOST_CLASSES} different numbers, too many classes; predict a value"
                ))),
                _ if values.windows(2).all(|pair| pair[0].total_cmp(&pair[1]).is_eq()) => {
                    Err(same(values.first().map(ToString::to_string).unwrap_or_default()))
                }
                _ => Ok(None),
            }
        }
        Cells::Text { .. } if said.task == Some(TaskKind::Regression) => Err(table.not_a_number(column)),
        Cells::Text { words, .. } if words.len() == 1 => Err(same(words[0].clone())),
        Cells::Text { words, .. } if nearly_all(words.len(), table.rows()) => Err(fail(format!(
            "has {} distinct texts in {} rows: it is no class; choose another column",
            words.len(),
            table.rows()
        ))),
        Cells::Text { .. } => {
            let words = without_full_stops(texts(column));
            if let [only] = words.as_slice() {
                return Err(same(only.clone()));
            }
            let known = || order::known(&column.name, &words);
            Ok(Some(said.order.map(<[String]>::to_vec).or_else(known).unwrap_or(words)))
        }
    }
}

/// Whether classes are written with a full stop in some rows and without in others.
pub(super) fn has_both_writings(column: &RawColumn) -> bool {
    matches!(column.cells, Cells::Text { .. }) && {
        let all = texts(column);
        without_full_stops(all.clone()).len() < all.len()
    }
}

/// The words without those that another one is but for a full stop at the end.
fn without_full_stops(words: Vec<String>) -> Vec<String> {
    let is_twin = |word: &String| word.strip_suffix('.').is_some_and(|bare| words.iter().any(|other| other == bare));
    words.iter().filter(|word| !is_twin(word)).cloned().collect()
}
