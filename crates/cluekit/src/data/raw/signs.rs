//! Numbers in columns of text: those with the sign of a currency or `%`, and those that share their column with words.
//!
//! `$1,250.00`, `1.250,00 €` and `12 %` are numbers where a whole column is written so. Where a schema says that a column
//! holds numbers, each of its cells is read by itself, so that a word in one takes no other one along.

use super::build::{Commas, decimals_of};
use super::numbers::Mark;
use super::{Cells, RawColumn, RawTable};
use crate::data::missing::is_written_missing;
use crate::data::{Kind, Schema};

/// What stands before or behind a number and is no part of it.
const SIGNS: [&str; 9] = ["$", "€", "£", "¥", "%", "USD", "EUR", "GBP", "CHF"];

/// Makes numbers of the columns of text in which every cell is a number with the same sign; with a note on each.
pub(crate) fn without_signs(table: &mut RawTable) -> Vec<String> {
    let commas = table.commas;
    table.columns.iter_mut().filter_map(|column| column_without_sign(column, commas)).collect()
}

fn column_without_sign(column: &mut RawColumn, commas: Commas) -> Option<String> {
    let Cells::Text { words, codes } = &column.cells else { return None };
    let present = words.iter().filter(|word| !is_written_missing(word));
    let parts: Vec<(&str, String)> = present.map(|word| parted(word)).collect::<Option<_>>()?;
    let sign = parts.first()?.0;
    if parts.iter().any(|(other, _)| *other != sign) {
        return None;
    }
    let mark = mark_of(parts.iter().map(|(_, number)| number.as_str()), commas);
    let plain = |word: &String| match is_written_missing(word) {
        true => Some(None),
        false => mark.plain(&parted(word)?.1).map(Some),
    };
    let plain: Vec<Option<String>> = words.iter().map(plain).collect::<Option<_>>()?;
    let decimals = plain.iter().flatten().map(|number| decimals_of(number)).max().unwrap_or_default();
    let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN) + 0.0;
    let values: Vec<f64> = plain.iter().map(number).collect();
    column.cells = Cells::numbers(codes.iter().map(|&code| values[code as usize]).collect(), decimals);
    Some(format!("numbers in column `{}` are read without their `{sign}`", column.name))
}

/// The table in which the cells that `schema` calls numbers stand in the notation of Rust, as far as they are numbers.
pub(crate) fn plain_numbers(mut table: RawTable, schema: &Schema) -> RawTable {
    let commas = table.commas;
    let features = schema.features.iter().filter(|f| matches!(f.kind, Kind::Continuous(_) | Kind::Ordinal(_)));
    let target = schema.target.task.is_regression().then_some(schema.target.name.as_str());
    let numbers: Vec<&str> = features.map(|feature| feature.name.as_str()).chain(target).collect();
    let numbers: std::collections::BTreeSet<&str> = numbers.into_iter().collect();
    for column in table.columns.iter_mut().filter(|column| numbers.contains(column.name.as_str())) {
        let Cells::Text { words, .. } = &mut column.cells else { continue };
        let unsigned: Vec<String> =
            words.iter().map(|word| parted(word).map_or_else(|| word.clone(), |(_, number)| number)).collect();
        let mark = mark_of(unsigned.iter().map(String::as_str), commas);
        for (word, number) in words.iter_mut().zip(&unsigned) {
            if let Some(plain) = mark.plain(number) {
                *word = plain;
            }
        }
    }
    table
}

/// The mark with which more of the cells are numbers; of equally many that of the file.
fn mark_of<'a>(cells: impl Iterator<Item = &'a str>, commas: Commas) -> Mark {
    if commas == Commas::Never {
        return Mark::Point;
    }
    let (mut point, mut comma) = (0_usize, 0_usize);
    for cell in cells {
        point += usize::from(Mark::Point.plain(cell).is_some());
        comma += usize::from(Mark::Comma.plain(cell).is_some());
    }
    match comma > point || comma == point && commas == Commas::Preferred {
        true => Mark::Comma,
        false => Mark::Point,
    }
}

/// The sign of a cell, and the cell without it, if it has exactly one beside a digit.
fn parted(cell: &str) -> Option<(&'static str, String)> {
    let (minus, rest) = cell.strip_prefix(['-', '\u{2212}']).map_or(("", cell), |rest| ("-", rest));
    let one = |sign: &&'static str| {
        let number = rest.strip_prefix(sign).or_else(|| rest.strip_suffix(sign))?.trim();
        let has_digits = number.starts_with(|c: char| c.is_ascii_digit() || ".,-\u{2212}".contains(c));
        (has_digits && (minus.is_empty() || !number.starts_with(['-', '\u{2212}'])))
            .then(|| (*sign, format!("{minus}{number}")))
    };
    SIGNS.iter().find_map(one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::raw::{Places, RawTable};
    use std::path::PathBuf;

    fn table(cells: &[&str], commas: Commas) -> RawTable {
        let words: Vec<String> = cells.iter().map(ToString::to_string).collect();
        let codes = (0..words.len() as u32).collect();
        let columns = vec![RawColumn { name: "x".into(), cells: Cells::Text { words, codes } }];
        RawTable { path: PathBuf::from("t.csv"), columns, places: Places::Rows, commas }
    }

    fn numbers(cells: &[&str], commas: Commas) -> Option<(Vec<f64>, u32)> {
        let mut table = table(cells, commas);
        without_signs(&mut table);
        match table.columns.remove(0).cells {
            Cells::Numbers { values, decimals } => Some((values, decimals)),
            Cells::Text { .. } => None,
        }
    }

    #[test]
    fn a_column_with_one_sign_everywhere_holds_numbers() {
        let never = Commas::Never;
        assert_eq!(numbers(&["$1,250.50", "-$3", "$-4.1"], never), Some((vec![1250.5, -3.0, -4.1], 2)));
        assert_eq!(numbers(&["12.5%", "3 %"], never), Some((vec![12.5, 3.0], 1)));
        assert_eq!(numbers(&["EUR 12", "EUR 7"], never), Some((vec![12.0, 7.0], 0)));
        assert_eq!(numbers(&["1.250,50 €", "3 €"], Commas::Recognised), Some((vec![1250.5, 3.0], 2)));
        assert_eq!(numbers(&["1.250 €", "3.000 €"], Commas::Preferred), Some((vec![1250.0, 3000.0], 0)));
        assert_eq!(numbers(&["1.250 €", "3.000 €"], Commas::Recognised), Some((vec![1.25, 3.0], 3)));
        let (values, _) = numbers(&["$5", "NA", "$6"], never).unwrap();
        assert!(values[1].is_nan() && values[2] == 6.0);
    }

    #[test]
    fn other_columns_stay_as_they_are() {
        for cells in [&["$5", "€5"][..], &["5%", "half"], &["$", "%"], &["A%", "B%"], &["NA", "-"], &["$5", "5"]] {
            assert_eq!(numbers(cells, Commas::Never), None, "{cells:?}");
        }
    }
}
