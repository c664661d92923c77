//! The health of a run's models as one plain document: what `clue measure --json` prints.

use super::{Coverage, Predictions, auroc, ece};
use crate::data::RejectedRow;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Version of the layout of [`Measures`].
pub const MEASURES_FORMAT: u32 = 1;

/// The health of both models of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Health {
    /// Scores of the predictor, whose uncertainty is explained.
    pub predictor: PredictorHealth,
    /// Scores of the generative model; none in a run with only a predictor.
    pub generative: Option<GenerativeHealth>,
}

/// The health of a predictor, by the kind of its task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum PredictorHealth {
    /// Scores of a predictor of classes.
    Classifier(ClassifierHealth),
    /// Scores of a predictor of values.
    Regressor(RegressorHealth),
}

/// Scores of a classifier; less is better except for `auroc_errors`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassifierHealth {
    /// Share of wrong labels, 0 to 1.
    pub error: f64,
    /// Negative log likelihood in nats, mean over rows.
    pub nll: f64,
    /// Brier score, 0 to 2.
    pub brier: f64,
    /// Expected calibration error, 0 to 1.
    pub ece: f64,
    /// AUROC of the uncertainty as a detector of errors: ½ is chance, 1 perfect; none if all rows are right, or all
    /// wrong.
    pub auroc_errors: Option<f64>,
    /// Area under the ROC curve of the rarer of two classes, or the mean over all classes of one against the rest; none if
    /// all rows are of one class.
    #[serde(default)]
    pub auroc: Option<f64>,
    /// Average precision (area under the curve of precision over recall) of the same classes.
    #[serde(default)]
    pub auprc: Option<f64>,
    /// What the best constant answer scores on the same rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<ConstantClass>,
    /// Number of posterior samples in the mean prediction.
    pub samples: usize,
}

/// Scores of the best constant answer: every class as probable as it is frequent in the rows that are measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConstantClass {
    /// Share of wrong labels where the most frequent class is always the answer.
    pub error: f64,
    /// Negative log likelihood in nats: the entropy of the classes.
    pub nll: f64,
    /// Brier score.
    pub brier: f64,
    /// Average precision: the share of the rows of the class.
    pub auprc: Option<f64>,
}

/// Scores of the best constant answer: the mean and the deviation of the targets that are measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConstantValue {
    /// Root mean squared error, which is the standard deviation of the targets, in the data's unit.
    pub rmse: f64,
    /// Negative log likelihood in nats; none if all targets are equal.
    pub nll: Option<f64>,
}

/// Scores of a regressor in the units of the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegressorHealth {
    /// Root mean squared error, in the data's unit.
    pub rmse: f64,
    /// Negative log likelihood in nats, mean over rows.
    pub nll: f64,
    /// Coverage of central intervals: the share that each claims, and the share that it holds.
    pub coverage: Vec<Coverage>,
    /// Share of the targets' variance that is explained, R²: 1 is perfect, 0 as good as the mean, below it worse; none if
    /// all targets are equal.
    #[serde(default)]
    pub r2: Option<f64>,
    /// What the best constant answer scores on the same rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<ConstantValue>,
    /// Number of posterior samples in the prediction.
    pub samples: usize,
}

/// Scores of a generative model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GenerativeHealth {
    /// Evidence lower bound in nats, mean over rows; more is better. None for a model without a likelihood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elbo: Option<f64>,
    /// ℓ₁ distance between a row and its reconstruction, mean over rows.
    pub reconstruction_l1: f64,
    /// Number of latent dimensions.
    pub latent: usize,
}

impl ClassifierHealth {
    /// Scores `predictions`, each made from `samples` posterior samples and as uncertain as `uncertainty` says.
    pub fn of(predictions: &Predictions, uncertainty: &[f64], samples: usize) -> Result<Self> {
        if uncertainty.len() != predictions.len() || uncertainty.iter().any(|u| u.is_nan()) {
            return Err(Error::data(format!(
                "{} uncertainties stand beside {} predictions; give one number for each, none of them NaN",
                uncertainty.len(),
                predictions.len()
            )));
        }
        Ok(Self {
            error: predictions.error(),
            nll: predictions.nll(),
            brier: predictions.brier(),
            ece: ece(predictions),
            auroc_errors: auroc(uncertainty, &predictions.wrong()),
            auroc: predictions.auroc(),
            auprc: predictions.auprc(),
            constant: Some(predictions.constant()),
            samples,
        })
    }
}

/// Scores of a run as a document of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measures {
    /// Version of the document's layout.
    pub format: u32,
    /// Scores of both models.
    #[serde(flatten)]
    pub health: Health,
    /// Rows of a file that could not be measured; empty for those of a split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedRow>,
}

impl Measures {
    /// The same document with the rows that could not be measured.
    #[must_use]
    pub fn beside(self, rejected: Vec<RejectedRow>) -> Self {
        Self { rejected, ..self }
    }
}

impl From<Health> for Measures {
    fn from(health: Health) -> Self {
        Self { format: MEASURES_FORMAT, health, rejected: vec![] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uncertainty_that_is_higher_for_the_error_spots_it() {
        let predictions = Predictions::new(&[0.9, 0.1, 0.6, 0.4], 2, &[0, 1]).unwrap();
        let health = ClassifierHealth::of(&predictions, &[0.3, 0.7], 50).unwrap();
        assert_eq!(health.auroc_errors, Some(1.0));
        assert_eq!(health.samples, 50);
    }

    #[test]
    fn without_an_error_there_is_nothing_to_spot() {
        let predictions = Predictions::new(&[0.9, 0.1, 0.6, 0.4], 2, &[0, 0]).unwrap();
        assert_eq!(ClassifierHealth::of(&predictions, &[0.3, 0.7], 50).unwrap().auroc_errors, None);
    }

    #[test]
    fn uncertainties_that_do_not_match_the_predictions_are_refused() {
        let predictions = Predictions::new(&[0.9, 0.1, 0.6, 0.4], 2, &[0, 1]).unwrap();
        let problem = ClassifierHealth::of(&predictions, &[0.3], 50).unwrap_err().to_string();
        assert!(problem.starts_with("1 uncertainties stand beside 2 predictions"));
        assert!(ClassifierHealth::of(&predictions, &[0.3, f64::NAN], 50).is_err());
    }
}
