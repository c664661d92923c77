//! Columns that say what another column says, or what the target says.
//!
//! | a column | and what becomes of it |
//! |---|---|
//! | is the target, one to one | left out |
//! | alone determines the target | said, and kept |
//! | has the same categories as an earlier one, one to one | left out |
//! | has a correlation above 0.9999 with an earlier one | said, and kept |
//!
//! Correlations are looked at on evenly spread rows, and in tables of at most [`MOST_COMPARED`] columns of numbers;
//! everything else takes one walk over the cells.

use crate::data::dataset::{sha256_hex, spread_evenly};
use crate::data::raw::{Cells, RawColumn, RawTable};
use std::collections::{BTreeMap, HashMap};

/// Columns with more distinct values than this are no categories.
const MOST_CODES: usize = 1000;
/// In fewer rows, columns may agree by chance.
const FEW_ROWS: usize = 20;
/// From so many rows on, what determines the target does not do so by chance.
const MANY_ROWS: usize = 50;
/// Each value must be there in so many rows on average to say something of the target.
const ROWS_OF_A_VALUE: usize = 10;
/// Two columns of numbers say the same above this correlation.
const SAME: f64 = 0.9999;
/// Rows that correlations are computed from.
const MOST_ROWS: usize = 2000;
/// Columns of numbers that are compared with each other.
const MOST_COMPARED: usize = 1000;

/// What was found.
#[derive(Default)]
pub(super) struct Copies {
    /// The columns that are left out, with the reason.
    pub left_out: BTreeMap<usize, String>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

/// Looks for copies among the `kept` columns, which are in their order, and of the `target`.
pub(super) fn find(table: &RawTable, target: &RawColumn, kept: &[usize]) -> Copies {
    let mut copies = Copies::default();
    let rows = table.rows();
    if rows < FEW_ROWS {
        return copies;
    }
    let of_target = codes(target);
    let target_digest = of_target.as_ref().map(|codes| digest(&codes.of_rows));
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for &index in kept {
        let column = &table.columns[index];
        if is_same_numbers(column, target) {
            copies.left_out.insert(index, format!("it is a copy of the target `{}`", target.name));
            continue;
        }
        let coded = codes(column).filter(|codes| codes.distinct * 2 <= rows);
        if let Some(coded) = &coded {
            let digest = digest(&coded.of_rows);
            if Some(&digest) == target_digest.as_ref() {
                copies.left_out.insert(index, format!("it is a copy of the target `{}`, one to one", target.name));
                continue;
            }
            if let Some(&earlier) = first.get(&digest) {
                let name = &table.columns[earlier].name;
                copies.left_out.insert(index, format!("it says the same as `{name}`, one to one"));
                continue;
            }
            first.insert(digest, index);
        }
        if rows >= MANY_ROWS && determines(column, coded.as_ref(), of_target.as_ref(), target) {
            copies.notes.push(format!(
                "column `{}` alone tells the target `{}`: if it is not known when a prediction is made, drop it",
                column.name, target.name
            ));
        }
    }
    let left: Vec<usize> = kept.iter().copied().filter(|index| !copies.left_out.contains_key(index)).collect();
    copies.notes.extend(lines(table, &left));
    copies
}

/// A column as numbers of its values, in the order of their appearance.
struct Codes {
    of_rows: Vec<u32>,
    distinct: usize,
}

fn codes(column: &RawColumn) -> Option<Codes> {
    match &column.cells {
        Cells::Text { words, codes } => {
            (words.len() <= MOST_CODES).then(|| Codes { of_rows: codes.clone(), distinct: words.len() })
        }
        Cells::Numbers { values, .. } => {
            let mut known: HashMap<u64, u32> = HashMap::new();
            let mut of_rows = Vec::new();
            for value in values {
                let next = known.len() as u32;
                let code = *known.entry(value.to_bits()).or_insert(next);
                if known.len() > MOST_CODES {
                    return None;
                }
                of_rows.push(code);
            }
            Some(Codes { of_rows, distinct: known.len() })
        }
    }
}

fn digest(codes: &[u32]) -> String {
    sha256_hex(&codes.iter().flat_map(|code| code.to_le_bytes()).collect::<Vec<u8>>())
}

/// Whether two columns hold the same numbers in every row.
fn is_same_numbers(column: &RawColumn, target: &RawColumn) -> bool {
    matches!((&column.cells, &target.cells), (Cells::Numbers { values: a, .. }, Cells::Numbers { values: b, .. }) if a == b)
}

/// Whether the values of a column leave no doubt about the target.
fn determines(column: &RawColumn, coded: Option<&Codes>, classes: Option<&Codes>, target: &RawColumn) -> bool {
    if let (Cells::Numbers { values, .. }, Cells::Numbers { values: of_target, .. }) = (&column.cells, &target.cells)
        && classes.is_none()
    {
        let rows: Vec<usize> = spread_evenly(values.len(), MOST_ROWS).collect();
        return same_line(&standardised(values, &rows), &standardised(of_target, &rows));
    }
    let Some(classes) = classes else { return false };
    match (coded, &column.cells) {
        (Some(coded), _) if coded.distinct * ROWS_OF_A_VALUE <= coded.of_rows.len() => {
            let mut class_of = vec![None; coded.distinct];
            let pairs = coded.of_rows.iter().zip(&classes.of_rows);
            pairs.into_iter().all(|(&value, class)| class_of[value as usize].get_or_insert(class) == &class)
        }
        (_, Cells::Numbers { values, .. }) => apart(values, classes),
        _ => false,
    }
}

/// Whether the numbers of each class lie between those of no other.
fn apart(values: &[f64], classes: &Codes) -> bool {
    let mut ends = vec![[f64::INFINITY, f64::NEG_INFINITY]; classes.distinct];
    for (&value, &class) in values.iter().zip(&classes.of_rows) {
        let [least, greatest] = &mut ends[class as usize];
        (*least, *greatest) = (least.min(value), greatest.max(value));
    }
    ends.sort_by(|a, b| a[0].total_cmp(&b[0]));
    ends.windows(2).all(|pair| pair[0][1] < pair[1][0])
}

/// Pairs of columns whose numbers lie on a line, each with the first that it goes with.
fn lines(table: &RawTable, kept: &[usize]) -> Vec<String> {
    let rows: Vec<usize> = spread_evenly(table.rows(), MOST_ROWS).collect();
    let numbers = |&index: &usize| match &table.columns[index].cells {
        Cells::Numbers { values, .. } => Some((index, standardised(values, &rows))),
        Cells::Text { .. } => None,
    };
    if kept.iter().filter(|&&index| matches!(table.columns[index].cells, Cells::Numbers { .. })).count() > MOST_COMPARED
    {
        return vec![];
    }
    let columns: Vec<(usize, Vec<f64>)> = kept.iter().filter_map(numbers).collect();
    let mut notes = Vec::new();
    for (at, (index, values)) in columns.iter().enumerate() {
        if let Some((earlier, _)) = columns[..at].iter().find(|(_, earlier)| same_line(earlier, values)) {
            let [earlier, name] = [*earlier, *index].map(|index| &table.columns[index].name);
            notes.push(format!(
                "columns `{earlier}` and `{name}` say nearly the same (correlation above {SAME}); drop one of them, or \
                 clues may change one without the other"
            ));
        }
    }
    notes
}

/// The numbers of some rows with mean 0 and length 1; all 0 where they are equal.
fn standardised(values: &[f64], rows: &[usize]) -> Vec<f64> {
    let chosen: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
    let mean = chosen.iter().sum::<f64>() / chosen.len() as f64;
    let length = chosen.iter().map(|value| (value - mean).powi(2)).sum::<f64>().sqrt();
    let scale = if length.is_normal() { length } else { f64::INFINITY };
    chosen.iter().map(|value| (value - mean) / scale).collect()
}

fn same_line(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>().abs() > SAME
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::raw::text::parse;
    use std::path::Path;

    /// What is found in a table of 120 rows with these columns, of which the last is the target.
    fn found(header: &str, cells: fn(usize) -> String) -> Copies {
        let text = format!("{header}\n") + &(0..120).map(|i| cells(i) + "\n").collect::<String>();
        let table = parse(Path::new("t.csv"), &text, 0).unwrap();
        let last = table.columns.len() - 1;
        find(&table, &table.columns[last], &(0..last).collect::<Vec<_>>())
    }

    #[test]
    fn a_copy_of_the_target_is_left_out_and_what_determines_it_is_said() {
        let copies = found("copy,part,free,y", |i| {
            format!("{},{},{},{}", ["n", "p"][i % 2], ["a", "b", "c", "d"][i % 4], i % 3, ["no", "yes"][i % 2])
        });
        assert_eq!(copies.left_out.keys().collect::<Vec<_>>(), [&0]);
        assert!(copies.left_out[&0].contains("copy of the target `y`"));
        assert_eq!(copies.notes.len(), 1);
        assert!(copies.notes[0].starts_with("column `part` alone tells the target `y`"), "{:?}", copies.notes);
    }

    #[test]
    fn a_number_that_parts_the_classes_is_said_and_one_that_overlaps_is_not() {
        let copies =
            found("x,z,y", |i| format!("{}.5,{}.25,{}", (i * 7 + i / 60 * 1000), i * 77 % 119, ["no", "yes"][i / 60]));
        assert_eq!(copies.notes.len(), 1);
        assert!(copies.notes[0].starts_with("column `x` alone"));
    }

    #[test]
    fn the_second_of_two_columns_with_the_same_categories_is_left_out() {
        let copies = found("school,years,y", |i| {
            format!("{},{},{}", ["low", "mid", "high"][i % 3], [9, 12, 16][i % 3], ["no", "yes"][i / 7 % 2])
        });
        assert_eq!(copies.left_out[&1], "it says the same as `school`, one to one");
    }

    #[test]
    fn numbers_on_a_line_are_said_and_kept() {
        let copies = found("celsius,fahrenheit,y", |i| {
            let celsius = f64::from((i * 37 % 113) as u32) + 0.01 * f64::from((i % 7) as u32);
            format!("{celsius:.2},{:.2},{}", celsius * 1.8 + 32.0, ["no", "yes"][i / 7 % 2])
        });
        assert!(copies.left_out.is_empty());
        assert!(copies.notes[0].starts_with("columns `celsius` and `fahrenheit` say nearly the same"));
    }

    #[test]
    fn a_value_that_is_a_line_of_the_target_is_said() {
        let copies = found("x,y", |i| format!("{},{}", i * 31 % 997, f64::from((i * 31 % 997) as u32) * 2.5));
        // 120 different numbers: y has codes, but no two rows of x agree.
        assert_eq!(copies.left_out.len() + copies.notes.len(), 1);
    }
}
