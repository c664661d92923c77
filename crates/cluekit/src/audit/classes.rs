//! Which classes a model is unsure about, and between which it hesitates.

use super::rows::{Rows, mean, share};
use crate::uncertainty::Uncertainty;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The rows of one true class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClassRow {
    /// Name of the class.
    pub name: String,
    /// Number of rows of the class.
    pub rows: usize,
    /// Share of these rows with a wrong predicted class, between 0 and 1.
    pub error: f64,
    /// Number of these rows that the model is unsure about.
    pub unsure: usize,
    /// Share of these rows that the model is unsure about, between 0 and 1.
    pub unsure_share: f64,
    /// Share of this class among all rows that the model is unsure about.
    pub of_all_unsure: f64,
    /// Mean aleatoric uncertainty of these rows, in nats.
    pub aleatoric: f64,
    /// Mean epistemic uncertainty of these rows, in nats.
    pub epistemic: f64,
}

/// Two classes that are the most probable ones of rows the model is unsure about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hesitation {
    /// Names of the two classes, in the order of the data.
    pub classes: [String; 2],
    /// Number of rows between the two classes.
    pub rows: usize,
    /// Share of these rows among all rows that the model is unsure about.
    pub share: f64,
    /// Number of these rows with a wrong predicted class.
    pub wrong: usize,
}

impl ClassRow {
    /// Counts for each class that has rows.
    pub fn of(rows: &Rows) -> Vec<Self> {
        let all_unsure = (0..rows.len()).filter(|&row| rows.is_unsure(row)).count();
        let class = |(class, name): (usize, &String)| {
            let members: Vec<usize> = (0..rows.len()).filter(|&row| rows.class(row) == Some(class)).collect();
            let unsure = members.iter().filter(|&&row| rows.is_unsure(row)).count();
            let over = |kind| mean(members.iter().map(|&row| f64::from(rows.predictions[row].uncertainty.get(kind))));
            Some(Self {
                name: name.clone(),
                rows: members.len(),
                error: rows.error(&members)?,
                unsure,
                unsure_share: share(unsure, members.len()),
                of_all_unsure: share(unsure, all_unsure),
                aleatoric: over(Uncertainty::Aleatoric)?,
                epistemic: over(Uncertainty::Epistemic)?,
            })
        };
        rows.task.classes().iter().enumerate().filter_map(class).collect()
    }
}

impl Hesitation {
    /// Counts for each pair of classes, the most frequent pair first.
    pub fn of(rows: &Rows) -> Vec<Self> {
        let classes = rows.task.classes();
        let unsure: Vec<usize> = (0..rows.len()).filter(|&row| rows.is_unsure(row)).collect();
        let mut pairs: BTreeMap<[usize; 2], [usize; 2]> = BTreeMap::new();
        for &row in unsure.iter().filter(|_| classes.len() > 1) {
            let counts = pairs.entry(two_most_probable(&rows.predictions[row].mean)).or_default();
            counts[0] += 1;
            counts[1] += usize::from(rows.is_wrong(row) == Some(true));
        }
        let mut pairs: Vec<([usize; 2], [usize; 2])> = pairs.into_iter().collect();
        pairs.sort_by_key(|(_, counts)| std::cmp::Reverse(counts[0]));
        let named = |(pair, [count, wrong]): ([usize; 2], [usize; 2])| Self {
            classes: pair.map(|class| classes[class].clone()),
            rows: count,
            share: share(count, unsure.len()),
            wrong,
        };
        pairs.into_iter().map(named).collect()
    }
}

/// The two most probable classes, in the order of the data.
fn two_most_probable(probabilities: &[f32]) -> [usize; 2] {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]).then(a.cmp(&b)));
    let mut pair = [order[0], order[1]];
    pair.sort_unstable();
    pair
}

#[cfg(test)]
mod tests {
    use super::super::rows::toy::*;
    use super::*;

    #[test]
    fn hesitations_are_counted_whichever_class_is_ahead() {
        let (samples, task) = (of_classes(&[0.0; 4], &[0, 1, 2, 0]), letters());
        let predictions = [
            says(&[0.5, 0.4, 0.1], 0.9),
            says(&[0.5, 0.45, 0.05], 0.9),
            says(&[0.1, 0.4, 0.5], 0.9),
            says(&[1.0, 0.0, 0.0], 0.0),
        ];
        let rows = Rows { samples: &samples, predictions: &predictions, task: &task, unsure_above: 0.5 };
        let pairs = Hesitation::of(&rows);
        assert_eq!(pairs.len(), 2);
        assert_eq!((pairs[0].classes.clone(), pairs[0].rows, pairs[0].wrong), (["a", "b"].map(String::from), 2, 1));
        assert_eq!((pairs[1].classes.clone(), pairs[1].rows, pairs[1].wrong), (["b", "c"].map(String::from), 1, 0));
        assert!((pairs[0].share - 2.0 / 3.0).abs() < 1e-12);
        let classes = ClassRow::of(&rows);
        let counts: Vec<_> = classes.iter().map(|class| (class.rows, class.unsure, class.error)).collect();
        assert_eq!(counts, [(2, 1, 0.0), (1, 1, 1.0), (1, 1, 0.0)]);
        assert!((classes[0].of_all_unsure - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_regression_has_no_classes() {
        let samples = crate::data::Samples { y: crate::data::Targets::Values(vec![1.0]), ..of_classes(&[0.0], &[0]) };
        let (predictions, task) = ([says(&[1.0], 0.9)], plain());
        let rows = Rows { samples: &samples, predictions: &predictions, task: &task, unsure_above: 0.5 };
        assert!(ClassRow::of(&rows).is_empty() && Hesitation::of(&rows).is_empty());
    }
}
