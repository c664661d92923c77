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
    /// It lies outside the ball.
    OutsideBall {
        /// ρ(z, z₀).
        distance: f64,
        /// δ.
        radius: f32,
    },
    /// It breaks constraints.
    BreaksConstraints {
        /// Each of them with the values that break it.
        broken: Vec<String>,
    },
    /// The model is not certain about it.
    TooUncertain {
        /// How unsure the model is, by the kind of uncertainty that clues are accepted by.
        uncertainty: f32,
        /// A clue is accepted below this.
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
