//! The scaling of a column of numbers, and how many decimals its values are shown with.
//!
//! The decimals of a column are those that nearly all its cells need: the fewest that leave less than one cell in a hundred
//! with more. A cell that needs more is shown rounded; all others decode to exactly what they were, as long as f32 can
//! hold them. Whole numbers stay whole.

use super::distinct::whole;
use crate::data::Scaling;
use crate::data::raw::{Cells, RawColumn, RawTable};
use crate::error::{Error, Result};

/// One in so many cells may have more decimals than the column.
const RARE: usize = 100;

/// The scaling of a column of numbers, from its `training` rows; rounding to the decimals of all its rows.
pub(crate) fn scaling_of(table: &RawTable, column: &RawColumn, training: &[usize]) -> Result<Scaling> {
    let values = table.numbers(column)?;
    let Cells::Numbers { decimals, .. } = &column.cells else { return Err(table.not_a_number(column)) };
    let scaling = fit(table, column, training, |row| values[row])?;
    if *decimals == 0 && whole(values) {
        return Ok(Scaling { decimals: Some(0), ..scaling });
    }
    let common = common_decimals(values, *decimals);
    let common_values: Vec<f64> = values.iter().copied().filter(|&value| needs_at_most(value, common)).collect();
    Ok(scaling.rounding_to(Some(common), &common_values))
}

/// The scaling of the numbers that `number` gives for the training rows, without rounding.
pub(super) fn fit(
    table: &RawTable,
    column: &RawColumn,
    training: &[usize],
    number: impl Fn(usize) -> f64,
) -> Result<Scaling> {
    let chosen: Vec<f64> = training.iter().map(|&row| number(row)).collect();
    Scaling::fit(&chosen).map_err(|problem| Error::file(&table.path, format!("column `{}`: {problem}", column.name)))
}

/// How many cells are written with more decimals than their column is shown with.
pub(super) fn finer_cells(values: &[f64], scaling: &Scaling) -> usize {
    let Some(decimals) = scaling.decimals else { return 0 };
    values.iter().filter(|&&value| !needs_at_most(value, decimals)).count()
}

/// The fewest decimals that leave less than one cell in a hundred with more, where `most` are written.
fn common_decimals(values: &[f64], most: u32) -> u32 {
    let enough = |&decimals: &u32| {
        let mut finer = values.iter().filter(|&&value| !needs_at_most(value, decimals));
        finer.nth(values.len().saturating_sub(1) / RARE).is_none()
    };
    (0..most).find(enough).unwrap_or(most)
}

/// Whether a number is written with at most so many decimals.
fn needs_at_most(value: f64, decimals: u32) -> bool {
    let power = 10f64.powi(decimals as i32);
    // Beyond 2⁵³ steps every double is a whole number of them.
    (value * power).abs() >= 9e15 || ((value * power).round() / power - value).abs() <= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::raw::text::parse;
    use std::path::Path;

    /// The scaling of 200 cells, of which the first is another one.
    fn scaling(first: &str, others: fn(usize) -> String) -> (Scaling, Vec<f64>) {
        let cell = |i| if i == 0 { first.to_owned() } else { others(i) };
        let text = "x\n".to_owned() + &(0..200).map(|i| cell(i) + "\n").collect::<String>();
        let table = parse(Path::new("t.csv"), &text, 0).unwrap();
        let column = table.need("x").unwrap();
        let values = table.numbers(column).unwrap().to_vec();
        (scaling_of(&table, column, &(0..200).collect::<Vec<_>>()).unwrap(), values)
    }

    #[test]
    fn one_cell_with_decimals_changes_nothing_for_the_others() {
        let (scaling, values) = scaling("170000.57", |i| (10_000 * (1 + i % 80)).to_string());
        assert_eq!((scaling.decimals, finer_cells(&values, &scaling)), (Some(0), 1));
        assert_eq!(scaling.decode(scaling.encode(170_000.57)), 170_001.0);
        for value in &values[1..] {
            assert_eq!(scaling.decode(scaling.encode(*value)), *value);
        }
    }

    #[test]
    fn decimals_that_many_cells_need_are_kept() {
        assert_eq!(scaling("9.5333333", |i| format!("{}.{}", i % 7, i % 10)).0.decimals, Some(1));
        assert_eq!(scaling("1.25", |i| if i < 3 { "2.75".into() } else { "1.5".into() }).0.decimals, Some(2));
    }

    #[test]
    fn whole_numbers_stay_whole_even_where_floats_are_too_coarse() {
        let (scaling, _) = scaling("0", |i| (i * 123_456_789).to_string());
        assert_eq!(scaling.decimals, Some(0));
        assert_eq!(scaling.decode(scaling.encode(123_456_789.0)).fract(), 0.0);
    }

    #[test]
    fn the_decimals_of_a_few_rows_are_those_of_all() {
        let table = parse(Path::new("t.csv"), "x\n1\n3\n0.25\n", 0).unwrap();
        assert_eq!(scaling_of(&table, &table.columns[0], &[0, 1]).unwrap().decimals, Some(2));
    }
}
