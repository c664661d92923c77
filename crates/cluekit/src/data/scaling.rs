//! Shift and scale of a number: encoded = (v − mean) / deviation.
//!
//! Statistics are f64 sums over the training rows. Decoding rounds to the digits that the data is written with, so a
//! value survives encoding as f32 and back unchanged; where f32 is too coarse for that, nothing is rounded.

use super::Scaling;
use crate::error::{Error, Result};

/// More digits than this after the point are noise to a reader and beyond f32.
pub(crate) const MOST_DECIMALS: u32 = 9;

/// What f32 loses of a number, relative to it, with some room.
const NOISE: f64 = 1e-6;

impl Scaling {
    /// The scaling of the training values, with the population deviation √(Σ(v − mean)² / n); no rounding yet.
    ///
    /// The problem is returned as text, since only the caller knows the column and the file.
    pub(crate) fn fit(training: &[f64]) -> std::result::Result<Self, String> {
        let least = training.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = training.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let n = training.len() as f64;
        let mean = training.iter().sum::<f64>() / n;
        let deviation = (training.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        if !(mean.is_finite() && deviation.is_finite()) {
            return Err(format!(
                "its values from {least:e} to {greatest:e} are too large to be scaled; change its unit"
            ));
        }
        // A constant column may have a deviation of rounding noise, which would blow it up.
        let deviation = if least < greatest && deviation.is_normal() { deviation } else { 1.0 };
        Ok(Self { mean, deviation, decimals: None, least, greatest })
    }

    /// The same with rounding to `decimals`, if f32 can hold all `values` at that resolution.
    pub(crate) fn rounding_to(self, decimals: Option<u32>, values: &[f64]) -> Self {
        let rounding = Self { decimals: decimals.filter(|&d| d <= MOST_DECIMALS), ..self };
        let survives = |&v: &f64| rounding.decode(rounding.encode(v)).total_cmp(&(v + 0.0)).is_eq();
        if values.iter().all(survives) { rounding } else { Self { decimals: None, ..self } }
    }

    /// The scaled number that a model sees for `value`.
    pub fn encode(&self, value: f64) -> f32 {
        ((value - self.mean) / self.deviation) as f32
    }

    /// The value, in the data's own unit and decimals, that a model's number stands for.
    pub fn decode(&self, encoded: f32) -> f64 {
        let value = self.mean + self.deviation * f64::from(encoded);
        match self.decimals {
            // Dividing by a power of ten, rather than multiplying by its inverse, gives the nearest double.
            Some(decimals) => (value * power_of_ten(decimals)).round() / power_of_ten(decimals) + 0.0,
            // What f32 cannot tell from an end of the data is that end, so that no value passes it by rounding.
            None => {
                let is_end = |end: &f64| (value - end).abs() <= self.noise(*end);
                [self.least, self.greatest].into_iter().find(is_end).unwrap_or(value)
            }
        }
    }

    /// The greatest value that the data can write and that is not above `value`.
    pub(crate) fn round_down(&self, value: f64) -> f64 {
        self.round_with(value, f64::floor)
    }

    /// The least value that the data can write and that is not below `value`.
    pub(crate) fn round_up(&self, value: f64) -> f64 {
        self.round_with(value, f64::ceil)
    }

    fn round_with(&self, value: f64, round: impl Fn(f64) -> f64) -> f64 {
        let Some(decimals) = self.decimals else { return value };
        let steps = value * power_of_ten(decimals);
        let nearest = steps.round();
        // What is a whole number of steps but for the noise of f64 sums is already rounded.
        let whole = (steps - nearest).abs() <= 1e-9 + 1e-12 * nearest.abs();
        (if whole { nearest } else { round(steps) }) / power_of_ten(decimals) + 0.0
    }

    /// How far two values may lie apart that f32 and back cannot tell from each other: nothing where decoding rounds.
    pub(crate) fn noise(&self, value: f64) -> f64 {
        if self.decimals.is_some() { 0.0 } else { NOISE * value.abs().max(self.mean.abs()) }
    }

    /// `value` as the data writes it: with its number of decimals, else with the digits of an f32.
    pub fn show(&self, value: f64) -> String {
        match self.decimals {
            Some(decimals) => format!("{value:.*}", decimals as usize),
            None => format!("{}", value as f32),
        }
    }

    pub(crate) fn validate(&self, what: &str) -> Result<()> {
        let Self { mean, deviation, decimals, least, greatest } = *self;
        if !(deviation > 0.0 && deviation.is_finite()) {
            return Err(Error::data(format!("{what} has deviation {deviation}; it must be a positive number")));
        }
        if !mean.is_finite() {
            return Err(Error::data(format!("{what} has mean {mean}; it must be a finite number")));
        }
        if !(least <= greatest && least.is_finite() && greatest.is_finite()) {
            return Err(Error::data(format!(
                "{what} has least {least} and greatest {greatest}; they must be finite and in order"
            )));
        }
        if decimals.is_some_and(|d| d > MOST_DECIMALS) {
            let got = decimals.unwrap_or_default();
            return Err(Error::data(format!(
                "{what} has decimals {got}; give at most {MOST_DECIMALS}, or leave the key out for no rounding"
            )));
        }
        Ok(())
    }
}

fn power_of_ten(decimals: u32) -> f64 {
    10f64.powi(decimals.min(MOST_DECIMALS) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn mean_and_deviation_of_two_and_four_are_three_and_one() {
        let scaling = Scaling::fit(&[2.0, 4.0]).unwrap();
        assert_eq!((scaling.mean, scaling.deviation, scaling.least, scaling.greatest), (3.0, 1.0, 2.0, 4.0));
        assert_eq!((scaling.encode(5.0), scaling.decode(2.0)), (2.0, 5.0));
    }

    #[test]
    fn a_constant_column_has_deviation_one() {
        let scaling = Scaling::fit(&[0.1, 0.1, 0.1]).unwrap();
        assert_eq!(scaling.deviation, 1.0);
    }

    #[test]
    fn values_whose_squares_overflow_are_refused() {
        assert!(Scaling::fit(&[1e200, -1e200]).unwrap_err().contains("too large"));
    }

    #[test]
    fn decimals_are_dropped_where_f32_is_too_coarse_for_them() {
        let values = [0.0, 123_456_789.125, 1e9];
        let scaling = Scaling::fit(&values).unwrap();
        assert_eq!(scaling.rounding_to(Some(3), &values).decimals, None);
        assert_eq!(scaling.rounding_to(Some(10), &[0.0]).decimals, None);
        assert_eq!(Scaling::fit(&[0.0, 1.5]).unwrap().rounding_to(Some(1), &[0.0, 1.5]).decimals, Some(1));
    }

    #[test]
    fn a_value_without_decimals_does_not_pass_the_ends_of_the_data() {
        let scaling = Scaling { mean: 10.4, deviation: 1.07, decimals: None, least: 8.4, greatest: 14.9 };
        for end in [8.4, 14.9] {
            assert_eq!(scaling.decode(scaling.encode(end)), end);
            assert_eq!(scaling.decode(scaling.encode(end).next_up()), end);
            assert_eq!(scaling.show(scaling.decode(scaling.encode(end).next_down())), end.to_string());
        }
        assert!(scaling.decode(scaling.encode(14.91)) > 14.9, "what lies beyond by more is left there");
    }

    #[test]
    fn numbers_are_shown_with_the_decimals_of_the_data() {
        let scaling = Scaling { mean: 0.0, deviation: 1.0, decimals: Some(2), least: 0.0, greatest: 1.0 };
        assert_eq!(scaling.show(0.5), "0.50");
        assert_eq!(Scaling { decimals: None, ..scaling }.show(0.1), "0.1");
    }

    #[test]
    fn rounding_up_and_down_stays_on_the_decimals_of_the_data() {
        let scaling = Scaling { mean: 0.0, deviation: 1.0, decimals: Some(1), least: 0.0, greatest: 1.0 };
        assert_eq!((scaling.round_down(0.39), scaling.round_up(0.31)), (0.3, 0.4));
        assert_eq!((scaling.round_down(-0.31), scaling.round_up(-0.39)), (-0.4, -0.3));
        assert_eq!((scaling.round_up(0.1 + 0.2), scaling.round_down(0.8 - 0.1)), (0.3, 0.7));
        assert_eq!(Scaling { decimals: None, ..scaling }.round_down(0.39), 0.39);
    }

    #[test]
    fn only_values_without_decimals_have_noise() {
        let scaling = Scaling { mean: -4.0, deviation: 1.0, decimals: None, least: 0.0, greatest: 1.0 };
        assert_eq!((scaling.noise(1.0), scaling.noise(8.0)), (4e-6, 8e-6));
        assert_eq!(Scaling { decimals: Some(0), ..scaling }.noise(8.0), 0.0);
    }

    #[test]
    fn unusable_scaling_is_refused_with_its_value() {
        let sound = Scaling { mean: 0.0, deviation: 1.0, decimals: Some(2), least: 0.0, greatest: 1.0 };
        let problem = |s: Scaling| s.validate("feature `age`").unwrap_err().to_string();
        assert_eq!(
            problem(Scaling { deviation: 0.0, ..sound }),
            "feature `age` has deviation 0; it must be a positive number"
        );
        assert!(problem(Scaling { deviation: f64::INFINITY, ..sound }).contains("deviation inf"));
        assert!(problem(Scaling { mean: f64::NAN, ..sound }).contains("mean NaN"));
        assert!(problem(Scaling { least: 2.0, ..sound }).contains("in order"));
        assert!(problem(Scaling { decimals: Some(10), ..sound }).contains("at most 9"));
    }

    proptest! {
        #[test]
        fn values_with_rounding_survive_encoding(
            steps in prop::collection::vec(-1_000_000_i32..1_000_000, 2..50), decimals in 0..=MOST_DECIMALS,
        ) {
            let values: Vec<f64> = steps.iter().map(|&k| f64::from(k) / power_of_ten(decimals)).collect();
            let scaling = Scaling::fit(&values).unwrap().rounding_to(Some(decimals), &values);
            prop_assert_eq!(scaling.decimals, Some(decimals));
            for v in values {
                prop_assert_eq!(scaling.decode(scaling.encode(v)), v);
            }
        }
    }
}
