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
