//! How sure a mean is: the percentile bootstrap.
//!
//! Draw as many values as there are, with replacement, and take their mean; do so 2000 times. The middle 95 % of these
//! means are the interval. [Efron1979]

use crate::seed::Seed;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// How often the values are drawn anew.
const RESAMPLES: usize = 2000;

/// How many resampled means lie on either side of the interval: 2.5 %.
const OUTSIDE: usize = RESAMPLES / 40;

/// A mean and the interval that holds the true one with a probability of about 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeanInterval {
    /// The mean of the values.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// The mean of `values` with its bootstrap interval, drawn from the stream called `name`.
///
/// None without values. One value tells nothing of the spread, and values without a finite mean have no interval: both
/// ends are then the mean itself.
pub fn bootstrap_mean(values: &[f64], seed: Seed, name: &str) -> Option<MeanInterval> {
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() == 1 || !mean.is_finite() {
        return Some(MeanInterval { mean, low: mean, high: mean });
    }
    let mut rng = seed.stream(name);
    let mut draw = || values[rng.random_range(0..values.len())];
    let mut resampled = || values.iter().map(|_| draw()).sum::<f64>() / count;
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| resampled()).collect();
    means.sort_by(f64::total_cmp);
    Some(MeanInterval { mean, low: means[OUTSIDE], high: means[RESAMPLES - 1 - OUTSIDE] })
}

#[cfg(test)]
mod tests {
    use super::super::assert_close;
    use super::*;
    use rand_distr::{Distribution, StandardNormal};

    fn interval(values: &[f64]) -> MeanInterval {
        bootstrap_mean(values, Seed(7), "test").unwrap()
    }

    #[test]
    fn equal_values_leave_no_doubt() {
        assert_eq!(interval(&[2.5; 40]), MeanInterval { mean: 2.5, low: 2.5, high: 2.5 });
        assert_eq!(interval(&[0.1; 7]).low, interval(&[0.1; 7]).mean);
    }

    #[test]
    fn one_value_is_its_own_interval_and_none_has_none() {
        assert_eq!(interval(&[-3.0]), MeanInterval { mean: -3.0, low: -3.0, high: -3.0 });
        assert_eq!(bootstrap_mean(&[], Seed(7), "test"), None);
    }

    #[test]
    fn two_values_draw_either_one_twice_often_enough_to_reach_both() {
        // Means 0, ½ and 1 come with probability ¼, ½ and ¼: both ends lie far beyond the outer 2.5 %.
        assert_eq!(interval(&[0.0, 1.0]), MeanInterval { mean: 0.5, low: 0.0, high: 1.0 });
    }

    #[test]
    fn a_hundred_coin_flips_are_sure_to_a_tenth() {
        // The mean has deviation √(½ · ½ / 100) = 0.05, and 1.96 of them are 0.098. Means go in steps of 0.01, and an
        // end is off by 0.003 from 2000 draws: √(0.025 · 0.975 / 2000) / 0.0584 · 0.05.
        let flips: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        let MeanInterval { mean, low, high } = interval(&flips);
        assert_eq!(mean, 0.5);
        assert_close(low, 0.402, 0.015);
        assert_close(high, 0.598, 0.015);
    }

    #[test]
    fn nineteen_of_twenty_intervals_hold_the_true_mean() {
        // Of n = 50 normal values the interval is close to mean ± 1.96 s √(49 / 50) / √50, where s is the usual
        // deviation, and holds the true mean 0 with the probability 0.942 that |t₄₉| ≤ 1.96 √(49 / 50). The share of
        // 400 such intervals deviates by √(0.942 · 0.058 / 400) = 0.0117, and three of these are 0.035.
        let mut rng = Seed(1).stream("values");
        let mut holds = |index: u64| {
            let values: Vec<f64> = StandardNormal.sample_iter(&mut rng).take(50).collect();
            let MeanInterval { low, high, .. } = bootstrap_mean(&values, Seed(index), "test").unwrap();
            low <= 0.0 && 0.0 <= high
        };
        let held = (0..400).filter(|&index| holds(index)).count();
        assert_close(held as f64 / 400.0, 0.942, 0.035);
    }

    #[test]
    fn the_numbers_follow_the_seed_and_the_name() {
        let values: Vec<f64> = (0..30).map(|i| f64::from(i).sin()).collect();
        let drawn = |seed: u64, name: &str| bootstrap_mean(&values, Seed(seed), name).unwrap();
        assert_eq!(drawn(1, "a"), drawn(1, "a"));
        assert_ne!(drawn(1, "a"), drawn(2, "a"));
        assert_ne!(drawn(1, "a"), drawn(1, "b"));
    }

    #[test]
    fn values_without_a_finite_mean_have_no_interval_around_it() {
        let MeanInterval { mean, low, high } = interval(&[1.0, f64::NAN]);
        assert!(mean.is_nan() && low.is_nan() && high.is_nan());
        assert_eq!(interval(&[1.0, f64::INFINITY]).low, f64::INFINITY);
    }
}
