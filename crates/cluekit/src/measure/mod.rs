//! Measures: how healthy a predictor is.
//!
//! | question | answered by |
//! |---|---|
//! | how often is it wrong, and how surprised by the truth? | [`Predictions`]: error, negative log likelihood, Brier score |
//! | does 80 % sure mean right 80 % of the time? | [`Reliability`], [`Coverage`] |
//! | does it rank one class above the others? | [`Predictions`]: AUROC, average precision |
//! | does its uncertainty point at its errors? | [`auroc`], [`RejectionCurve`] |
//! | how far off are its values? | [`Gaussians`]: root mean squared error, R², negative log likelihood |
//! | how good is it to answer always the same? | [`ConstantClass`], [`ConstantValue`] |
//! | how sure is the mean of some numbers? | [`bootstrap_mean`] |
//! | in which plane do some points spread the most? | [`PrincipalPlane`] |
//! | what does a global explanation do to inputs it was not learned from? | [`Reach`] |
//!
//! All are functions of plain numbers, and every sum is taken in `f64`; [`predictor_health`] and [`generative_health`]
//! ask the models for those numbers first.

mod bootstrap;
mod calibration;
mod classification;
mod health;
pub mod histogram;
mod models;
mod principal;
mod ranking;
mod reach;
mod regression;

#[cfg(test)]
mod laws;

pub use crate::normal::normal_quantile;
pub use bootstrap::{MeanInterval, bootstrap_mean};
pub use calibration::{Bin, Reliability, ece};
pub use classification::Predictions;
pub use health::{
    ClassifierHealth, ConstantClass, ConstantValue, GenerativeHealth, Health, MEASURES_FORMAT, Measures,
    PredictorHealth, RegressorHealth,
};
pub use models::{generative_health, predictor_health};
pub use principal::PrincipalPlane;
pub use ranking::{RejectionCurve, RejectionPoint, auroc, average_precision, rejection_curve};
pub use reach::{Outcome, Reach};
pub use regression::{Coverage, Gaussians, Interval, nll_mixture};

#[cfg(test)]
fn assert_close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance, "got {got}, expected {expected} within {tolerance}");
}
