//! Which features of an input matter: what the best value for each of them alone would do to the uncertainty.
//!
//! Values come from the certain training rows that are nearest to the input. Each is put in the place of the input's own,
//! one feature at a time, and the predictor is asked again. This says what the model looks at; it is no advice, since
//! constraints are not asked and one change alone may be impossible.

use super::Explainer;
use crate::data::{Column, Samples, Schema, Targets};
use crate::error::Result;
use crate::prediction::predict;
use crate::search::THRESHOLD_ROWS;
use crate::uncertainty::Uncertainty;
use serde::{Deserialize, Serialize};

/// Certain training rows whose values are tried.
const DONORS: usize = 8;
/// Features that are named.
const MOST_NAMED: usize = 3;
/// A feature matters if at most this share of the uncertainty is left.
const MOST_LEFT: f32 = 0.9;

/// One feature with another value, and nothing else changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SingleChange {
    /// Name of the feature.
    pub feature: String,
    /// Value of the feature in the input, as a person reads it.
    pub from: String,
    /// Value of a nearby certain training row that lowers the uncertainty most.
    pub to: String,
    /// Total uncertainty with that value.
    pub uncertainty: f32,
}

impl Explainer {
    /// For each row the single changes that lower its uncertainty most, the best first; none for images, and where no
    /// training row is certain.
    pub(super) fn single_changes(&self, rows: &Samples) -> Result<Vec<Vec<SingleChange>>> {
        let none = || Ok(vec![vec![]; rows.len()]);
        let Some(schema) = self.schema().filter(|schema| schema.image.is_none()) else { return none() };
        if !self.has_rows() {
            return none();
        }
        let donors = self.certain_rows()?;
        (0..rows.len()).map(|row| self.single_changes_of(rows.row(row), &donors, schema)).collect()
    }

    /// Those of some training rows, evenly spread over all, that the model is certain about.
    fn certain_rows(&self) -> Result<Samples> {
        let (rows, below) = (self.spread_rows(THRESHOLD_ROWS)?, self.threshold(Uncertainty::Total)?);
        let says = self.some_predictions()?;
        let certain: Vec<usize> = (0..rows.len()).filter(|&row| says[row].uncertainty.total < below).collect();
        Ok(rows.select(&certain))
    }

    fn single_changes_of(&self, x: &[f32], donors: &Samples, schema: &Schema) -> Result<Vec<SingleChange>> {
        let columns = schema.columns();
        let tried = tried(x, donors, &columns);
        let all = Samples {
            x: std::iter::once(x).chain(tried.iter().map(|(_, row)| row.as_slice())).flatten().copied().collect(),
            width: x.len(),
            y: Targets::Unknown(1 + tried.len()),
            weights: None,
        };
        let says = predict(self.predictor(), &all, &self.task)?;
        let (now, after) = says.split_first().expect("the input itself comes first");
        let mut best: Vec<Option<(f32, &[f32])>> = vec![None; columns.len()];
        for ((feature, row), says) in tried.iter().zip(after) {
            let total = says.uncertainty.total;
            if total < best[*feature].map_or(MOST_LEFT * now.uncertainty.total, |(best, _)| best) {
                best[*feature] = Some((total, row));
            }
        }
        let mut found: Vec<(usize, f32, &[f32])> =
            best.into_iter().enumerate().filter_map(|(at, best)| best.map(|(total, row)| (at, total, row))).collect();
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (values, features) = (schema.decode_row(x), &schema.features);
        let named = |(at, uncertainty, row): (usize, f32, &[f32])| SingleChange {
            feature: features[at].name.clone(),
            from: features[at].show(&values[at]),
            to: features[at].show(&schema.decode_row(row)[at]),
            uncertainty,
        };
        Ok(found.into_iter().take(MOST_NAMED).map(named).collect())
    }
}

/// The row with one feature after another as each of the nearest donors has it.
fn tried(x: &[f32], donors: &Samples, columns: &[Column]) -> Vec<(usize, Vec<f32>)> {
    let distance = |row: usize| x.iter().zip(donors.row(row)).map(|(a, b)| f64::from((a - b).abs())).sum::<f64>();
    let mut near: Vec<(f64, usize)> = (0..donors.len()).map(|row| (distance(row), row)).collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut tried: Vec<(usize, Vec<f32>)> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        for &(_, donor) in near.iter().take(DONORS) {
            let mut row = x.to_vec();
            row[column.range()].copy_from_slice(&donors.row(donor)[column.range()]);
            if row != x && !tried.iter().any(|(_, known)| *known == row) {
                tried.push((at, row));
            }
        }
    }
    tried
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DataDir, Request, load};
    use crate::explainer::Split;
    use crate::testing::toy::{Logistic, Same};
    use std::sync::Arc;

    #[test]
    fn the_value_of_each_nearby_row_is_tried_once_in_the_place_of_the_rows_own() {
        let column = |start| Column { start, len: 1, kind: crate::data::ColumnKind::Gaussian };
        let donors = Samples { x: vec![1.0, 5.0, 1.0, 0.0], width: 2, y: Targets::Unknown(2), weights: None };
        let tried = tried(&[0.0, 0.0], &donors, &[column(0), column(1)]);
        assert_eq!(tried, [(0, vec![1.0, 0.0]), (1, vec![0.0, 5.0])]);
    }

    #[test]
    fn what_matters_lowers_the_uncertainty_and_the_best_comes_first() {
        let moons = load(&Request::new("moons"), None, &DataDir::locate(None)).unwrap();
        let explainer = Explainer::new(Arc::new(Logistic), Arc::new(Same)).with_rows(moons);
        let ranking = explainer.rank(Split::Test, Uncertainty::Total, 5).unwrap();
        for input in &ranking.inputs {
            assert!(!input.matters.is_empty());
            assert!(input.matters.iter().all(|change| change.uncertainty < MOST_LEFT * input.uncertainty.total));
            assert!(input.matters.is_sorted_by(|a, b| a.uncertainty <= b.uncertainty));
        }
    }
}
