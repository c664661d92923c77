//! Whether a model's confidence can be trusted: its health, and the curves behind it.

use crate::measure::{Health, RejectionCurve, Reliability};
use serde::{Deserialize, Serialize};

/// What was measured on rows whose targets are known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Trust {
    /// Scores of predictor and generative model.
    pub health: Health,
    /// Confidence against accuracy; none for a regression, which has intervals in `health`.
    pub reliability: Option<Reliability>,
    /// Accuracy when the most uncertain rows are set aside; none for a regression.
    pub rejection: Option<RejectionCurve>,
}
