//! Why a clue is not accepted.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a clue is not accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rejection {
    /// The search left the finite numbers.
    NotFinite,
    /// The counterfactual lies outside the ball.
    OutsideBall {
        /// Latent distance ρ(z, z₀) of the counterfactual.
        distance: f64,
        /// Radius δ of the ball.
        radius: f32,
    },
    /// The counterfactual breaks constraints.
    BreaksConstraints {
        /// Each broken constraint with the values that break it.
        broken: Vec<String>,
    },
    /// The counterfactual is unlike the training rows.
    Implausible {
        /// Share of training rows that are at least as odd, by the generative model.
        share: f32,
        /// Share of training rows that an accepted counterfactual must exceed.
        least: f32,
    },
    /// The counterfactual holds two categories that no training row holds together.
    UnseenPair {
        /// Both features with the categories that they would have.
        pair: [String; 2],
    },
    /// Of several features exactly one holds in every training row, and in the counterfactual none does or several do.
    NotOneOf {
        /// Names of the features.
        features: Vec<String>,
    },
    /// Too few judges are certain about the counterfactual.
    Disagreement {
        /// Share of the judges that are certain.
        share: f32,
        /// Share of the judges that must be.
        required: f32,
    },
    /// The model is still too uncertain about the counterfactual.
    TooUncertain {
        /// Uncertainty of the counterfactual, of the kind that the search accepts by.
        uncertainty: f32,
        /// Uncertainty below which a clue is accepted.
        threshold: f32,
    },
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NotFinite => write!(f, "the search left the finite numbers"),
            Self::OutsideBall { distance, radius } => {
                write!(f, "it lies at {distance} from z₀, outside the ball of radius {radius}")
            }
            Self::BreaksConstraints { broken } => write!(f, "{}", broken.join("; ")),
            Self::Implausible { share, least } => {
                let percent = |share: &f32| 100.0 * share;
                let (share, least) = (percent(share), percent(least));
                write!(
                    f,
                    "it is unlike the training rows: {share:.1} % of them are as odd, and {least:.1} % are too few"
                )
            }
            Self::UnseenPair { pair: [first, second] } => write!(f, "no training row holds {first} and {second}"),
            Self::NotOneOf { features } => {
                write!(f, "exactly one of {} holds in every training row", features.join(", "))
            }
            Self::Disagreement { share, required } => {
                let (share, required) = (100.0 * share, 100.0 * required);
                write!(f, "{share:.0} % of the judges are certain, and {required:.0} % are required")
            }
            Self::TooUncertain { uncertainty, threshold } => {
                write!(f, "uncertainty {uncertainty:.3} is not below {threshold}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_is_written_with_its_kind_and_its_numbers() {
        let rejection = Rejection::TooUncertain { uncertainty: 0.45, threshold: 0.2 };
        let written = serde_json::to_string(&rejection).unwrap();
        assert_eq!(written, r#"{"kind":"too-uncertain","uncertainty":0.45,"threshold":0.2}"#);
        assert_eq!(serde_json::from_str::<Rejection>(&written).unwrap(), rejection);
        assert_eq!(rejection.to_string(), "uncertainty 0.450 is not below 0.2");
    }
}
