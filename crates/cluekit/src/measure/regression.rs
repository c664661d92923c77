//! Scores of predicted values against the true ones, all in the data's own units.
//!
//! A row's prediction is a Gaussian: the predictive mean μ and the total deviation σ, which holds noise and the
//! disagreement of the posterior samples.

use super::health::ConstantValue;
use super::normal_quantile;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// The central intervals that are looked at.
const LEVELS: [f64; 4] = [0.5, 0.8, 0.9, 0.95];

/// Gaussian predictions of some rows beside their true values, checked once.
#[derive(Clone, Copy, Debug)]
pub struct Gaussians<'a> {
    means: &'a [f64],
    deviations: &'a [f64],
    targets: &'a [f64],
}

/// Share of targets that a central interval claims to hold, and the share that it does hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coverage {
    /// Probability that the interval claims.
    pub nominal: f64,
    /// Share of the targets inside the interval.
    pub observed: f64,
}

/// A range of values, ends included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Least value of the interval.
    pub lower: f64,
    /// Greatest value of the interval.
    pub upper: f64,
}

impl<'a> Gaussians<'a> {
    /// Checks that there is one mean, one positive deviation and one target a row, all finite.
    pub fn new(means: &'a [f64], deviations: &'a [f64], targets: &'a [f64]) -> Result<Self> {
        let rows = targets.len();
        if rows == 0 {
            return Err(Error::data("there is no prediction to measure; give at least one row"));
        }
        check_length("means", means, rows)?;
        check_length("deviations", deviations, rows)?;
        check_finite("mean", means)?;
        check_positive("deviation", deviations)?;
        check_finite("target", targets)?;
        Ok(Self { means, deviations, targets })
    }

    /// Root mean squared error √(mean (y − μ)²).
    pub fn rmse(&self) -> f64 {
        self.average(|mean, _, target| (target - mean).powi(2)).sqrt()
    }

    /// Share of the targets' variance that the means explain, R² = 1 − mean (y − μ)² / var y; none if all targets are equal.
    pub fn r2(&self) -> Option<f64> {
        let variance = self.constant().rmse.powi(2);
        (variance > 0.0).then(|| 1.0 - self.rmse().powi(2) / variance)
    }

    /// What the best constant answer scores on these targets: their mean, with their deviation.
    pub fn constant(&self) -> ConstantValue {
        let rows = self.targets.len() as f64;
        let mean = self.targets.iter().sum::<f64>() / rows;
        let rmse = (self.targets.iter().map(|target| (target - mean).powi(2)).sum::<f64>() / rows).sqrt();
        let nll = 0.5 * (1.0 + (TAU * rmse * rmse).ln());
        ConstantValue { rmse, nll: Some(nll).filter(|nll| nll.is_finite()) }
    }

    /// Negative log likelihood: mean of ½ log(2πσ²) + (y − μ)² / 2σ², in nats.
    pub fn nll(&self) -> f64 {
        self.average(|mean, deviation, target| -log_density(mean, deviation * deviation, target))
    }

    /// Coverage of the central 50, 80, 90 and 95 % intervals.
    pub fn coverage(&self) -> Vec<Coverage> {
        self.coverage_at(&LEVELS)
    }

    /// Coverage of the central intervals that claim the probabilities `levels`.
    pub fn coverage_at(&self, levels: &[f64]) -> Vec<Coverage> {
        let observed = |reach: f64| {
            self.average(|mean, deviation, target| if (target - mean).abs() <= reach * deviation { 1.0 } else { 0.0 })
        };
        levels.iter().map(|&nominal| Coverage { nominal, observed: observed(reach(nominal)) }).collect()
    }

    /// Each row's central interval that claims the probability `nominal`: μ ± Φ⁻¹((1 + nominal) / 2) σ.
    pub fn intervals(&self, nominal: f64) -> Vec<Interval> {
        let reach = reach(nominal);
        let rows = self.means.iter().zip(self.deviations);
        rows.map(|(mean, deviation)| Interval { lower: mean - reach * deviation, upper: mean + reach * deviation })
            .collect()
    }

    fn average(&self, score: impl Fn(f64, f64, f64) -> f64) -> f64 {
        let rows = self.means.iter().zip(self.deviations).zip(self.targets);
        rows.map(|((&mean, &deviation), &target)| score(mean, deviation, target)).sum::<f64>()
            / self.targets.len() as f64
    }
}

/// Negative log likelihood of the mixture of the posterior samples' Gaussians: mean of −log 1/S Σ_s N(y; μ_s, σ_s²).
///
/// `means` and `variances` are row-major `[S, targets.len()]`, one row a posterior sample.
pub fn nll_mixture(means: &[f64], variances: &[f64], targets: &[f64]) -> Result<f64> {
    let rows = targets.len();
    if rows == 0 || means.is_empty() || !means.len().is_multiple_of(rows) {
        return Err(Error::data(format!(
            "{} means do not make whole posterior samples of {rows} rows; give [samples, rows] values",
            means.len()
        )));
    }
    check_length("variances", variances, means.len())?;
    check_finite("mean", means)?;
    check_positive("variance", variances)?;
    check_finite("target", targets)?;
    let samples = means.len() / rows;
    let surprise = |row: usize| {
        let densities =
            (0..samples).map(|s| log_density(means[s * rows + row], variances[s * rows + row], targets[row]));
        (samples as f64).ln() - log_sum_exp(densities)
    };
    Ok((0..rows).map(surprise).sum::<f64>() / rows as f64)
}

/// How many deviations the central interval of probability `nominal` reaches to either side.
fn reach(nominal: f64) -> f64 {
    normal_quantile((1.0 + nominal) / 2.0)
}

/// log N(value; mean, variance).
fn log_density(mean: f64, variance: f64, value: f64) -> f64 {
    -0.5 * ((TAU * variance).ln() + (value - mean).powi(2) / variance)
}

/// log Σ exp(v), without leaving the range of `f64` on the way.
fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let greatest = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if greatest.is_infinite() {
        return greatest;
    }
    greatest + values.map(|v| (v - greatest).exp()).sum::<f64>().ln()
}

fn check_length(what: &str, values: &[f64], expected: usize) -> Result<()> {
    if values.len() == expected {
        return Ok(());
    }
    Err(Error::data(format!("there are {} {what}, expected {expected}; give one for each prediction", values.len())))
}

fn check_finite(what: &str, values: &[f64]) -> Result<()> {
    check_each(what, values, "a finite number", |v| v.is_finite())
}

fn check_positive(what: &str, values: &[f64]) -> Result<()> {
    check_each(what, values, "finite and above 0", |v| v.is_finite() && v > 0.0)
}

fn check_each(what: &str, values: &[f64], rule: &str, holds: impl Fn(f64) -> bool) -> Result<()> {
    match values.iter().position(|&v| !holds(v)) {
        Some(index) => Err(Error::data(format!("{what} {index} is {}; it must be {rule}", values[index]))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_close;
    use super::*;

    #[test]
    fn errors_of_three_and_four_have_a_root_mean_square_of_root_twelve_and_a_half() {
        let gaussians = Gaussians::new(&[0.0, 10.0], &[1.0, 1.0], &[3.0, 6.0]).unwrap();
        assert_close(gaussians.rmse(), 12.5_f64.sqrt(), 1e-12);
        // ½ log 2π + mean(9, 16) / 2 = 0.918939 + 6.25
        assert_close(gaussians.nll(), 7.168939, 1e-6);
    }

    #[test]
    fn what_is_explained_is_measured_against_the_mean() {
        // Targets 0, 2 and 4 have mean 2 and variance 8/3; the predictions are off by 1 each time.
        let targets = [0.0, 2.0, 4.0];
        let gaussians = Gaussians::new(&[1.0, 1.0, 3.0], &[1.0; 3], &targets).unwrap();
        assert_close(gaussians.r2().unwrap(), 1.0 - 3.0 / 8.0, 1e-12);
        let constant = gaussians.constant();
        assert_close(constant.rmse, (8.0_f64 / 3.0).sqrt(), 1e-12);
        // ½ + ½ log(2π · 8/3)
        assert_close(constant.nll.unwrap(), 1.909353, 1e-6);
        let equal = Gaussians::new(&[1.0, 1.0], &[1.0; 2], &[5.0, 5.0]).unwrap();
        assert_eq!((equal.r2(), equal.constant()), (None, ConstantValue { rmse: 0.0, nll: None }));
    }

    #[test]
    fn intervals_hold_the_targets_that_lie_within_their_reach() {
        // Reaches 0.674, 1.282, 1.645 and 1.960 deviations; the targets lie 0.5, 1, 1.5 and 3 deviations away.
        let gaussians = Gaussians::new(&[0.0; 4], &[2.0; 4], &[1.0, -2.0, 3.0, -6.0]).unwrap();
        let observed: Vec<f64> = gaussians.coverage().iter().map(|c| c.observed).collect();
        assert_eq!(observed, [0.25, 0.5, 0.75, 0.75]);
        let interval = gaussians.intervals(0.95)[0];
        assert_close(interval.upper, 3.919928, 1e-6);
        assert_close(interval.lower, -3.919928, 1e-6);
    }

    #[test]
    fn the_empty_interval_holds_nothing_and_the_whole_line_everything() {
        let gaussians = Gaussians::new(&[0.0], &[1.0], &[5.0]).unwrap();
        let observed: Vec<f64> = gaussians.coverage_at(&[0.0, 1.0]).iter().map(|c| c.observed).collect();
        assert_eq!(observed, [0.0, 1.0]);
    }

    #[test]
    fn a_mixture_of_equal_samples_is_the_gaussian_itself() {
        let gaussian = Gaussians::new(&[1.0, 2.0], &[0.5, 2.0], &[1.5, 1.0]).unwrap().nll();
        let mixture = nll_mixture(&[1.0, 2.0, 1.0, 2.0], &[0.25, 4.0, 0.25, 4.0], &[1.5, 1.0]).unwrap();
        assert_close(mixture, gaussian, 1e-12);
    }

    #[test]
    fn a_mixture_of_a_near_and_a_far_sample_costs_log_two_more_than_the_near_one() {
        // −log(N(0; 0, 1) / 2) = ½ log 2π + log 2 = 0.918939 + 0.693147; the sample at 1000 has density 0.
        let mixture = nll_mixture(&[0.0, 1000.0], &[1.0, 1.0], &[0.0]).unwrap();
        assert_close(mixture, 1.612086, 1e-6);
    }

    #[test]
    fn unusable_predictions_are_refused_with_their_position() {
        let problem = |m: &[f64], d: &[f64], t: &[f64]| Gaussians::new(m, d, t).unwrap_err().to_string();
        assert!(problem(&[], &[], &[]).contains("no prediction"));
        assert!(problem(&[1.0], &[1.0, 1.0], &[1.0, 1.0]).contains("there are 1 means, expected 2"));
        assert!(problem(&[1.0, 1.0], &[1.0, 0.0], &[1.0, 1.0]).contains("deviation 1 is 0"));
        assert!(problem(&[1.0], &[1.0], &[f64::NAN]).contains("target 0 is NaN"));
        assert!(nll_mixture(&[0.0; 3], &[1.0; 3], &[0.0; 2]).unwrap_err().to_string().contains("3 means"));
        assert!(nll_mixture(&[0.0; 2], &[1.0; 1], &[0.0; 2]).is_err());
        assert!(nll_mixture(&[], &[], &[]).is_err());
    }
}
