//! The distinct cells of a column, as far as they are few enough to matter.

use crate::data::raw::{Cells, RawColumn};
use std::collections::BTreeSet;

/// Tables with so few rows may have all-distinct columns by chance.
const FEW_ROWS: usize = 10;

/// The distinct numbers by size, if there are at most `most`.
pub(super) fn few(values: &[f64], most: usize) -> Option<Vec<f64>> {
    let mut found: Vec<f64> = Vec::new();
    for &value in values {
        if let Err(place) = found.binary_search_by(|known| known.total_cmp(&value)) {
            if found.len() == most {
                return None;
            }
            found.insert(place, value);
        }
    }
    Some(found)
}

/// The distinct cells as texts: numbers by size and in their shortest digits, so that 2, 2.0 and 2.00E+00 are one; text
/// by alphabet.
pub(crate) fn texts(column: &RawColumn) -> Vec<String> {
    match &column.cells {
        Cells::Numbers { values, .. } => {
            let mut values = values.clone();
            values.sort_unstable_by(f64::total_cmp);
            values.dedup_by_key(|value| value.to_bits());
            number_texts(&values)
        }
        Cells::Text { words, .. } => words.iter().collect::<BTreeSet<_>>().into_iter().cloned().collect(),
    }
}

/// Numbers in their shortest digits.
pub(super) fn number_texts(numbers: &[f64]) -> Vec<String> {
    numbers.iter().map(ToString::to_string).collect()
}

/// Whether so many distinct texts are too many for the rows to be names of anything but the rows themselves.
pub(super) fn nearly_all(distinct: usize, rows: usize) -> bool {
    rows > FEW_ROWS && distinct * 10 > rows * 9
}

/// Whether all numbers are whole.
pub(super) fn whole(values: &[f64]) -> bool {
    values.iter().all(|v| v.fract() == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_numbers_are_listed_by_size_or_are_too_many() {
        assert_eq!(few(&[3.0, 1.0, 3.0, 2.0], 3), Some(vec![1.0, 2.0, 3.0]));
        assert_eq!(few(&[3.0, 1.0, 3.0, 2.0], 2), None);
        assert_eq!(few(&[], 0), Some(vec![]));
    }

    #[test]
    fn few_rows_may_all_differ_by_chance() {
        assert!(!nearly_all(10, 10));
        assert!(nearly_all(11, 11) && nearly_all(91, 100) && !nearly_all(90, 100));
    }
}
