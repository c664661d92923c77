//! Which rows are for training and which for testing: a seeded shuffle, the same for the same seed.

use crate::error::{Error, Result};
use crate::seed::Seed;
use rand::seq::SliceRandom;
use std::collections::BTreeMap;

/// Row numbers of the two parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    pub train: Vec<usize>,
    pub test: Vec<usize>,
}

impl Split {
    /// Keeps `share` of `rows` rows, rounded to whole rows, for testing; each part gets at least one.
    pub(crate) fn new(rows: usize, share: f64, seed: Seed) -> Result<Self> {
        let (mut order, test) = shuffled(rows, share, seed)?;
        let train = order.split_off(test);
        Ok(Self { train, test: order })
    }

    /// The same with the `share` of each class, told by the `labels` of the rows; what whole rows leave over goes to the
    /// classes that are owed most. A class keeps a row to learn from.
    pub(crate) fn stratified(labels: &[u32], share: f64, seed: Seed) -> Result<Self> {
        let (order, test) = shuffled(labels.len(), share, seed)?;
        let mut left = quotas(labels, share, test);
        let (mut train, mut tested) = (Vec::new(), Vec::new());
        for row in order {
            match left.get_mut(&labels[row]).filter(|left| **left > 0) {
                Some(left) => {
                    *left -= 1;
                    tested.push(row);
                }
                None => train.push(row),
            }
        }
        Ok(Self { train, test: tested })
    }
}

/// How many rows of each class are for testing, `test` in all unless classes have too few rows.
fn quotas(labels: &[u32], share: f64, test: usize) -> BTreeMap<u32, usize> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    labels.iter().for_each(|&label| *counts.entry(label).or_default() += 1);
    let exact = |label: u32| counts[&label] as f64 * share;
    let most = |label: u32| counts[&label] - 1;
    let mut quotas: BTreeMap<u32, usize> =
        counts.keys().map(|&label| (label, (exact(label) as usize).min(most(label)))).collect();
    let mut owed: Vec<u32> = counts.keys().copied().collect();
    owed.sort_by(|&a, &b| exact(b).fract().total_cmp(&exact(a).fract()).then(a.cmp(&b)));
    // Rare classes may be full already, so that others are asked again.
    let mut missing = test.saturating_sub(quotas.values().sum());
    while missing > 0 && quotas.iter().any(|(&label, &quota)| quota < most(label)) {
        for &label in &owed {
            let quota = quotas.entry(label).or_default();
            if missing > 0 && *quota < most(label) {
                *quota += 1;
                missing -= 1;
            }
        }
    }
    quotas
}

/// The rows in a seeded order, and how many of them are for testing.
fn shuffled(rows: usize, share: f64, seed: Seed) -> Result<(Vec<usize>, usize)> {
    if !(share > 0.0 && share < 1.0) {
        return Err(Error::setting("test_share", format!("{share} is no share of the rows; give one between 0 and 1")));
    }
    if rows < 2 {
        return Err(Error::data(format!("{rows} row cannot be split into training and test rows; give at least two")));
    }
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut seed.stream("split"));
    let test = ((rows as f64 * share).round() as usize).clamp(1, rows - 1);
    Ok((order, test))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_exactly_one_part() {
        let Split { train, test } = Split::new(30, 0.1, Seed(0)).unwrap();
        assert_eq!((train.len(), test.len()), (27, 3));
        let mut all = [train, test].concat();
        all.sort_unstable();
        assert_eq!(all, (0..30).collect::<Vec<_>>());
    }

    #[test]
    fn a_stratified_split_keeps_the_share_of_each_class() {
        // 900 rows of class 0, 90 of 1, 9 of 2 and one of 3: a tenth of each, and none of the last.
        let labels: Vec<u32> = (0..1000)
            .map(|i| {
                if i < 900 {
                    0
                } else if i < 990 {
                    1
                } else if i < 999 {
                    2
                } else {
                    3
                }
            })
            .collect();
        let split = Split::stratified(&labels, 0.1, Seed(5)).unwrap();
        let tested = |class: u32| split.test.iter().filter(|&&row| labels[row] == class).count();
        assert_eq!([0, 1, 2, 3].map(tested), [90, 9, 1, 0]);
        assert_eq!(split.train.len(), 900);
        assert_eq!(split, Split::stratified(&labels, 0.1, Seed(5)).unwrap());
        assert_ne!(split, Split::stratified(&labels, 0.1, Seed(6)).unwrap());
        let mut all = [split.train, split.test].concat();
        all.sort_unstable();
        assert_eq!(all, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn a_class_of_one_row_is_for_learning_even_where_most_rows_are_for_testing() {
        let split = Split::stratified(&[0, 0, 0, 0, 1], 0.9, Seed(0)).unwrap();
        assert_eq!(split.test.len(), 3);
        assert!(split.train.contains(&4));
    }

    #[test]
    fn the_split_follows_the_seed() {
        assert_eq!(Split::new(100, 0.3, Seed(1)).unwrap(), Split::new(100, 0.3, Seed(1)).unwrap());
        assert_ne!(Split::new(100, 0.3, Seed(1)).unwrap(), Split::new(100, 0.3, Seed(2)).unwrap());
    }

    #[test]
    fn both_parts_have_a_row_however_small_the_share() {
        assert_eq!(Split::new(2, 0.001, Seed(0)).unwrap().test.len(), 1);
        assert_eq!(Split::new(2, 0.999, Seed(0)).unwrap().train.len(), 1);
    }

    #[test]
    fn shares_outside_zero_and_one_are_refused() {
        for share in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(Split::new(10, share, Seed(0)).unwrap_err().to_string().starts_with("setting `test_share`"));
        }
        assert!(Split::new(1, 0.5, Seed(0)).unwrap_err().to_string().contains("at least two"));
    }
}
