//! Every measure of one set of candidates, in the spaces where it makes sense.

use super::{Diversity, Set};
use serde::{Deserialize, Deserializer, Serialize};

/// Beyond so many candidates no pair is compared with every other: a determinant takes time that grows with their cube.
const MOST_COMPARED: usize = 1000;

/// How diverse the clues of one input are.
///
/// The measures of pairs are not taken of more than 1000 candidates; they are not numbers then, `null` in JSON.
/// As JSON, `{"dpp": {"x": …, "z": …}, …, "label-entropy": …}`. JSON has no −∞: a `log-dpp` of candidates that
/// coincide is written as `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Summary {
    /// [`Diversity::Dpp`] of the clues.
    pub dpp: InputAndLatent,
    /// [`Diversity::LogDpp`] of the clues.
    pub log_dpp: InputAndLatent,
    /// [`Diversity::AveragePairwiseDistance`] of the clues.
    pub apd: InputAndLatent,
    /// [`Diversity::Coverage`] of the clues.
    pub coverage: InputAndLatent,
    /// [`Diversity::RangeCoverage`] of the clues.
    pub range_coverage: InputAndLatent,
    /// [`Diversity::PredictionCoverage`] of the clues; none for a regression.
    pub prediction_coverage: Option<f64>,
    /// [`Diversity::DistinctLabels`] of the clues; none for a regression.
    pub distinct_labels: Option<f64>,
    /// [`Diversity::LabelEntropy`] of the clues; none for a regression.
    pub label_entropy: Option<f64>,
}

/// One measure in the two spaces that every model has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputAndLatent {
    /// The measure between inputs x.
    #[serde(deserialize_with = "number_or_nan")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub x: f64,
    /// The measure between latent codes z.
    #[serde(deserialize_with = "number_or_nan")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub z: f64,
}

/// What JSON has no number for comes back as none.
fn number_or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

impl Summary {
    /// Measures the same candidates as inputs `x`, latent codes `z` and class probabilities `y`.
    pub fn of(x: &Set, z: &Set, y: Option<&Set>) -> Self {
        let both = |diversity: Diversity| InputAndLatent { x: diversity.of(x), z: diversity.of(z) };
        let pairs = |diversity: Diversity| match z.len() <= MOST_COMPARED {
            true => both(diversity),
            false => InputAndLatent { x: f64::NAN, z: f64::NAN },
        };
        let labels = |diversity: Diversity| y.map(|y| diversity.of(y));
        Self {
            dpp: pairs(Diversity::Dpp),
            log_dpp: pairs(Diversity::LogDpp),
            apd: pairs(Diversity::AveragePairwiseDistance),
            coverage: both(Diversity::Coverage),
            range_coverage: both(Diversity::RangeCoverage),
            prediction_coverage: labels(Diversity::PredictionCoverage),
            distinct_labels: labels(Diversity::DistinctLabels),
            label_entropy: labels(Diversity::LabelEntropy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn the_summary_is_written_under_the_names_of_the_measures() {
        let x = Set { points: &[0.0, 0.0, 3.0, 4.0], width: 2, original: Some(&[0.0, 0.0]) };
        let z = Set { points: &[1.0, 1.0], width: 1, original: Some(&[1.0]) };
        let y = Set { points: &[1.0, 0.0, 0.0, 1.0], width: 2, original: None };
        let written = serde_json::to_value(Summary::of(&x, &z, Some(&y))).unwrap();
        assert_eq!(written["apd"], json!({"x": 5.0, "z": 0.0}));
        assert_eq!(written["coverage"], json!({"x": 3.5, "z": 0.0}));
        assert_eq!(written["log-dpp"]["z"], Value::Null);
        assert_eq!(written["prediction-coverage"], 1.0);
        for name in written.as_object().unwrap().keys() {
            assert!(name.parse::<Diversity>().is_ok(), "{name}");
        }
    }

    #[test]
    fn a_regression_has_no_labels() {
        let set = Set { points: &[0.0, 1.0], width: 1, original: None };
        let written = serde_json::to_value(Summary::of(&set, &set, None)).unwrap();
        for name in ["prediction-coverage", "distinct-labels", "label-entropy"] {
            assert_eq!(written[name], Value::Null);
        }
    }
}
