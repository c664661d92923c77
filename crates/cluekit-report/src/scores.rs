//! The curves behind the scores of a model.

use crate::{calibration_plot, rejection_plot, reliability_diagram};
use cluekit::audit::Trust;
use cluekit::measure::PredictorHealth;

/// The pictures with the names of their files.
pub fn trust_pictures(trust: &Trust) -> Vec<(&'static str, String)> {
    let mut pictures = Vec::new();
    if let PredictorHealth::Regressor(health) = &trust.health.predictor {
        pictures.push(("coverage.svg", calibration_plot(&health.coverage)));
    }
    pictures.extend(trust.reliability.iter().map(|bins| ("reliability.svg", reliability_diagram(bins))));
    pictures.extend(trust.rejection.iter().map(|curve| ("rejection.svg", rejection_plot(curve))));
    pictures
}
