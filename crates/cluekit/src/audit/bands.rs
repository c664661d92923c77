//! Which parts of a table hold most of the uncertainty: its categories, its values, the quarters of its numbers.

use super::rows::{Rows, mean, share};
use crate::data::{Predicate, Schema};
use serde::{Deserialize, Serialize};

/// The rows that one condition on one feature holds for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FeatureBand {
    /// Name of the feature.
    pub feature: String,
    /// Condition on the feature, as `--where` reads it.
    pub condition: String,
    /// Number of rows that meet the condition.
    pub rows: usize,
    /// Number of these rows that the model is unsure about.
    pub unsure: usize,
    /// Share of these rows that the model is unsure about, between 0 and 1.
    pub unsure_share: f64,
    /// Unsure rows beyond what the share of all rows would give; negative for a group that the model is sure about.
    pub excess: f64,
    /// Mean total uncertainty of these rows.
    pub total: f64,
    /// Share of wrong classes among these rows, or their root mean squared error.
    pub error: f64,
    /// Mean probability of the predicted class in these rows: with honest percentages the share of right ones; none for a
    /// regression.
    #[serde(default)]
    pub confidence: Option<f64>,
}

impl FeatureBand {
    /// The groups of every feature, those with the most unsure rows beyond their share first; empty for images.
    pub fn of(rows: &Rows, schema: &Schema) -> Vec<Self> {
        if schema.image.is_some() {
            return vec![];
        }
        let decoded: Vec<_> = (0..rows.len()).map(|row| schema.decode_row(rows.samples.row(row))).collect();
        let overall = share((0..rows.len()).filter(|&row| rows.is_unsure(row)).count(), rows.len());
        let mut bands = Vec::new();
        for feature in &schema.features {
            // A feature without a finite value in every row has no parts, and no other says so.
            let parts = Predicate::partition(&feature.name, schema, &decoded).unwrap_or_default();
            // One part alone is all rows.
            for part in parts.iter().filter(|_| parts.len() > 1) {
                let members: Vec<usize> = (0..rows.len()).filter(|&row| part.holds(&decoded[row])).collect();
                let unsure = members.iter().filter(|&&row| rows.is_unsure(row)).count();
                bands.push(Self {
                    feature: feature.name.clone(),
                    condition: part.to_string(),
                    rows: members.len(),
                    unsure,
                    unsure_share: share(unsure, members.len()),
                    excess: unsure as f64 - overall * members.len() as f64,
                    total: mean(members.iter().map(|&row| rows.total(row))).unwrap_or(0.0),
                    error: rows.error(&members).unwrap_or(0.0),
                    confidence: rows.confidence(&members),
                });
            }
        }
        bands.sort_by(|a, b| b.excess.total_cmp(&a.excess));
        bands
    }

    /// The condition for a sentence: an interval names its feature once.
    pub(super) fn in_words(&self) -> String {
        let interval = || {
            let (name, ends) = self.condition.split_once(" > ")?;
            let (low, high) = ends.split_once(&format!(" and {name} <= "))?;
            Some(format!("{low} < {name} <= {high}"))
        };
        interval().unwrap_or_else(|| self.condition.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::table;
    use super::super::rows::toy::*;
    use super::*;
    use crate::data::{Samples, Targets};

    #[test]
    fn the_group_with_the_most_unsure_rows_beyond_its_share_comes_first() {
        let schema = table();
        // LIMIT_BAL, PAY_0 and two categories of ZIP; PAY_0 = 2 is unsure, 0 is not.
        let row = |pay: f32, zip: bool| [1.0, pay, f32::from(u8::from(zip)), f32::from(u8::from(!zip))];
        let x = [row(2.0, true), row(2.0, false), row(0.0, true), row(0.0, false)].concat();
        let samples = Samples { x, width: 4, y: Targets::Classes(vec![0, 1, 0, 0]), weights: None };
        let predictions = [0.69, 0.69, 0.1, 0.1].map(|total| says(&[0.6, 0.4], total));
        let rows = Rows { samples: &samples, predictions: &predictions, task: &schema.target.task, unsure_above: 0.5 };
        let bands = FeatureBand::of(&rows, &schema);
        let first = &bands[0];
        assert_eq!((first.condition.as_str(), first.rows, first.unsure), ("PAY_0 = 2", 2, 2));
        assert_eq!((first.excess, first.unsure_share, first.error), (1.0, 1.0, 0.5));
        assert!((first.confidence.unwrap() - 0.6).abs() < 1e-6, "both rows give 0.6 to the class that they lean to");
        assert_eq!(bands.last().unwrap().condition, "PAY_0 = 0");
        assert!(bands.iter().all(|band| band.feature != "LIMIT_BAL"), "a constant feature has no groups");
    }

    #[test]
    fn an_interval_names_its_feature_once() {
        let mut schema = table();
        schema.features[1].name = "months behind".into();
        // As many values as a number needs to be divided into quarters.
        let x = (0..100).flat_map(|row| [1.0, row as f32, 1.0, 0.0]).collect();
        let samples = Samples { x, width: 4, y: Targets::Classes(vec![0; 100]), weights: None };
        let predictions = vec![says(&[0.6, 0.4], 0.1); 100];
        let rows = Rows { samples: &samples, predictions: &predictions, task: &schema.target.task, unsure_above: 0.5 };
        let bands = FeatureBand::of(&rows, &schema);
        let words: Vec<String> = bands.iter().map(FeatureBand::in_words).collect();
        let named = |words: &String| words.matches("months behind").count();
        assert!(words.len() == 4 && words.iter().all(|words| named(words) == 1), "{words:?}");
        let between = words.iter().filter(|words| words.contains(" < ") && words.contains(" <= ")).count();
        assert_eq!(between, 2, "{words:?}");
    }
}
