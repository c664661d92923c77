//! The kind of one column, and why; or why it is no feature.

use super::dates::{self, Dates};
use super::distinct::{few, number_texts, texts, whole};
use super::scales::{finer_cells, fit, scaling_of};
use super::{identifier, order};
use crate::data::raw::{Cells, RawColumn, RawTable, is_rounded};
use crate::data::{Kind, Scaling};
use crate::error::Result;

/// Whole numbers with more distinct values than this are continuous.
const MOST_STEPS: usize = 12;
/// Of text with more distinct values than this, only the frequent ones are told apart.
const MOST_CATEGORIES: usize = 50;
/// The group of all values that are not told apart.
const OTHER: &str = "other";

/// What a column is.
pub(super) enum Reading {
    /// A feature of this kind, for a reason.
    Feature(Kind, String),
    /// No feature, for a reason.
    LeftOut(String),
}

/// A column of a table that is being read.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub table: &'a RawTable,
    /// Number of the column, counted from 0.
    pub index: usize,
    pub column: &'a RawColumn,
    /// The rows that scaling comes from.
    pub training: &'a [usize],
}

/// Reads a column, whose words stand in the order that the user `declared` for it, if any.
pub(super) fn read(place: Place<'_>, declared: Option<&[String]>) -> Result<Reading> {
    let Place { index, column, .. } = place;
    match &column.cells {
        Cells::Numbers { values, .. } => match identifier::reason(index, &column.name, &column.cells) {
            Some(reason) => Ok(Reading::LeftOut(reason)),
            None => of_numbers(place, values),
        },
        Cells::Text { words, codes } => of_text(place, words, codes, declared),
    }
}

fn of_numbers(place: Place<'_>, values: &[f64]) -> Result<Reading> {
    let Place { table, column, training, .. } = place;
    let distinct = few(values, MOST_STEPS);
    if let Some([only]) = distinct.as_deref() {
        return Ok(Reading::LeftOut(constant(only)));
    }
    if let Some(both @ [_, _]) = distinct.as_deref() {
        return Ok(Reading::Feature(Kind::Binary { categories: number_texts(both) }, "two different numbers".into()));
    }
    let scaling = scaling_of(table, column, training)?;
    let rounded = match finer_cells(values, &scaling) {
        0 => String::new(),
        finer => format!(", {finer} of {} cells with more decimals are shown rounded", values.len()),
    };
    Ok(match distinct {
        Some(steps) if whole(&steps) => {
            Reading::Feature(Kind::Ordinal(scaling), format!("{} different whole numbers", steps.len()))
        }
        _ if whole(values) => Reading::Feature(Kind::Continuous(scaling), "whole numbers".into()),
        _ => Reading::Feature(Kind::Continuous(scaling), format!("numbers with decimals{rounded}")),
    })
}

fn of_text(place: Place<'_>, words: &[String], codes: &[u32], declared: Option<&[String]>) -> Result<Reading> {
    if let [only] = words {
        return Ok(Reading::LeftOut(constant(only)));
    }
    if let Some(order) = declared {
        return ordered(place, order.to_vec(), "words in the order that was declared".into());
    }
    match dates::recognise(words) {
        Dates::Written(calendar) => {
            let numbers: Option<Vec<f64>> = words.iter().map(|word| calendar.read(word)).collect();
            let numbers = numbers.expect("every word is a date in this writing");
            let scaling = scaled(place, codes, &numbers)?.rounding_to(Some(0), &numbers);
            let reason = format!("dates written {}, read as {}", calendar.name(), calendar.unit());
            return Ok(Reading::Feature(Kind::Date { calendar, scaling }, reason));
        }
        Dates::Ambiguous => {
            return Ok(Reading::LeftOut(format!(
                "the day or the month may come first in its dates, such as `{}`; write them yyyy-mm-dd, or say `written = \
                 \"dd/mm/yyyy\"` in a schema.toml",
                words[0]
            )));
        }
        Dates::None => {}
    }
    match (order::known(&place.column.name, words), words.len()) {
        (known, 2) => {
            let categories = known.unwrap_or_else(|| texts(place.column));
            Ok(Reading::Feature(Kind::Binary { categories }, "two different words".into()))
        }
        (Some(known), _) => ordered(place, known, "words in an order that everybody knows".into()),
        (None, _) => unordered(place, words, codes),
    }
}

fn constant(value: impl std::fmt::Display) -> String {
    format!("it is `{value}` in every row")
}

/// Words whose places in an order are the numbers of the feature.
fn ordered(place: Place<'_>, order: Vec<String>, reason: String) -> Result<Reading> {
    let Cells::Text { words, codes } = &place.column.cells else {
        return Err(place.table.not_a_number(place.column));
    };
    let position = |word: &String| order.iter().position(|known| known == word).unwrap_or_default() as f64;
    let places: Vec<f64> = words.iter().map(position).collect();
    let scaling = Scaling { decimals: Some(0), ..scaled(place, codes, &places)? };
    let reason = format!("{reason}: {}", order.join(" < "));
    Ok(Reading::Feature(Kind::Ordered { order, scaling }, reason))
}

/// The scaling of the numbers that words stand for.
fn scaled(place: Place<'_>, codes: &[u32], numbers: &[f64]) -> Result<Scaling> {
    fit(place.table, place.column, place.training, |row| numbers[codes[row] as usize])
}

fn unordered(place: Place<'_>, words: &[String], codes: &[u32]) -> Result<Reading> {
    let Place { table, index, column, .. } = place;
    let distinct = words.len();
    // Too many different numbers to be the names of categories, and hardly anything else: a measured quantity with a
    // word in it.
    let is_number: Vec<bool> =
        words.iter().map(|word| word.parse::<f64>().is_ok_and(f64::is_finite) && !is_rounded(word)).collect();
    let numbers = is_number.iter().filter(|is_number| **is_number).count();
    if numbers > MOST_STEPS && numbers * 10 >= distinct * 9 {
        return Err(table.not_a_number(column));
    }
    let rows_of_numbers = codes.iter().filter(|&&code| is_number[code as usize]).count();
    let identifier = identifier::reason(index, &column.name, &column.cells);
    if (distinct > MOST_CATEGORIES || identifier.is_some())
        && numbers > MOST_STEPS
        && rows_of_numbers * 2 >= codes.len()
    {
        return Err(table.not_a_number(column));
    }
    Ok(match identifier {
        Some(reason) => Reading::LeftOut(reason),
        None if distinct > MOST_CATEGORIES => grouped(words, codes),
        None => {
            let kind = Kind::Categorical { categories: texts(column) };
            Reading::Feature(kind, format!("{distinct} different words without a known order"))
        }
    })
}

/// The most frequent words, and one group for all others.
fn grouped(words: &[String], codes: &[u32]) -> Reading {
    let mut counts = vec![0_usize; words.len()];
    codes.iter().for_each(|&code| counts[code as usize] += 1);
    let mut frequent: Vec<(usize, &String)> =
        counts.into_iter().zip(words).filter(|(_, word)| !word.eq_ignore_ascii_case(OTHER)).collect();
    frequent.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    frequent.truncate(MOST_CATEGORIES - 1);
    let rows: usize = frequent.iter().map(|(count, _)| count).sum();
    if rows * 10 < codes.len() {
        let (distinct, kept) = (words.len(), frequent.len());
        return Reading::LeftOut(format!(
            "it has {distinct} different texts, and the {kept} most frequent ones are less than a tenth of the rows"
        ));
    }
    let mut categories: Vec<String> = frequent.into_iter().map(|(_, word)| word.clone()).collect();
    categories.sort_unstable();
    let reason = format!(
        "{} different words; the {} most frequent are told apart, the rest ({} of {} rows) is `{OTHER}`, which no clue \
         advises",
        words.len(),
        categories.len(),
        codes.len() - rows,
        codes.len()
    );
    categories.push(OTHER.into());
    Reading::Feature(Kind::Grouped { categories }, reason)
}
