//! The column that says how much each row of a table counts in training.

use super::problems::Problems;
use crate::data::Schema;
use crate::data::encoding::Cell;
use crate::data::raw::{RawColumn, RawTable};
use crate::error::{Error, Result};

/// Takes the column of weights that was asked for out of the table.
pub(super) fn asked(
    table: &mut RawTable,
    name: Option<&str>,
    target: &str,
    schema: Option<&Schema>,
) -> Result<Option<RawColumn>> {
    let Some(name) = name else { return Ok(None) };
    if name == target {
        return Err(Error::setting("weight", format!("`{name}` is the column to predict; name another one")));
    }
    if schema.is_some_and(|schema| schema.features.iter().any(|feature| feature.name == name)) {
        let problem = format!("`{name}` is a feature of the schema; take it out there, or name another column");
        return Err(Error::setting("weight", problem));
    }
    let column = table.need(name)?.clone();
    table.columns.retain(|column| column.name != name);
    Ok(Some(column))
}

/// The weights of the training rows, 1 on the average.
pub(super) fn of(table: &RawTable, column: &RawColumn, training: &[usize]) -> Result<Vec<f32>> {
    let mut problems = Problems::default();
    let weight = |&row: &usize| {
        let weight = match column.cell(row) {
            Cell::Number(weight) => weight,
            Cell::Missing | Cell::Text(_) => f64::NAN,
        };
        if !(weight >= 0.0 && weight.is_finite()) {
            let problem = format!("`{}` is no weight; give a number that is not below 0", column.cell(row));
            problems.add(row, &column.name, problem);
        }
        weight
    };
    let weights: Vec<f64> = training.iter().map(weight).collect();
    problems.none(table)?;
    let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
    if mean > 0.0 && mean.is_finite() {
        return Ok(weights.into_iter().map(|weight| (weight / mean) as f32).collect());
    }
    Err(Error::file(&table.path, format!("column `{}` gives no training row any weight", column.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::raw::text;
    use std::path::Path;

    fn table(text: &str) -> RawTable {
        text::parse(Path::new("survey.csv"), text, 0).unwrap()
    }

    #[test]
    fn weights_are_divided_by_their_mean_over_the_training_rows() {
        let mut table = table("count,age,pays\n3,30,no\n1,40,yes\n0,50,no\n100,60,yes\n");
        let column = asked(&mut table, Some("count"), "pays", None).unwrap().unwrap();
        assert!(table.column("count").is_none());
        assert_eq!(of(&table, &column, &[0, 1, 2]).unwrap(), [2.25, 0.75, 0.0]);
        let problem = of(&table, &column, &[2]).unwrap_err().to_string();
        assert_eq!(problem, "survey.csv: column `count` gives no training row any weight");
        assert!(asked(&mut table, None, "pays", None).unwrap().is_none());
    }

    #[test]
    fn what_is_no_weight_is_named_with_its_rows() {
        let mut table = table("count,age,pays\n-3,30,no\n,40,yes\n1,50,no\n");
        assert!(asked(&mut table, Some("pays"), "pays", None).unwrap_err().to_string().contains("to predict"));
        assert!(asked(&mut table, Some("counts"), "pays", None).is_err());
        let column = asked(&mut table, Some("count"), "pays", None).unwrap().unwrap();
        let problem = of(&table, &column, &[0, 1, 2]).unwrap_err().to_string();
        assert!(problem.contains("2 rows cannot be used: line 2, column `count`: `-3` is no weight"), "{problem}");
        assert!(problem.contains("line 3, column `count`"), "{problem}");
        assert!(of(&table, &column, &[2]).is_ok());
    }
}
