//! Which rows are for training and which for testing: a seeded shuffle, the same for the same seed.

use crate::error::{Error, Result};
use crate::seed::Seed;
use rand::seq::SliceRandom;

/// Row numbers of the two parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    pub train: Vec<usize>,
    pub test: Vec<usize>,
}

impl Split {
    /// Keeps `share` of `rows` rows, rounded to whole rows, for testing; each part gets at least one.
    pub(crate) fn new(rows: usize, share: f64, seed: Seed) -> Result<Self> {
        if !(share > 0.0 && share < 1.0) {
            return Err(Error::setting(
                "test_share",
                format!("{share} is no share of the rows; give one between 0 and 1"),
            ));
        }
        if rows < 2 {
            return Err(Error::data(format!(
                "{rows} row cannot be split into training and test rows; give at least two"
            )));
        }
        let mut order: Vec<usize> = (0..rows).collect();
        order.shuffle(&mut seed.stream("split"));
        let test = ((rows as f64 * share).round() as usize).clamp(1, rows - 1);
        let train = order.split_off(test);
        Ok(Self { train, test: order })
    }
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
