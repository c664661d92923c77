//! The three spaces in which a set of candidates can be diverse.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Where the candidates of a set are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Space {
    /// Inputs, as the predictor sees them.
    X,
    /// Latent codes of the generative model.
    Z,
    /// Predictions: the probabilities of the classes.
    Y,
}

impl Space {
    /// Every space.
    pub const ALL: [Self; 3] = [Self::X, Self::Z, Self::Y];

    /// The name in TOML, shell and Python.
    pub const fn name(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Z => "z",
            Self::Y => "y",
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Space {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let wrong = || Error::setting("space", format!("`{name}` is not a space; choose one of {}", names(&Self::ALL)));
        Self::ALL.into_iter().find(|space| space.name() == name).ok_or_else(wrong)
    }
}

/// Some spaces, as an error lists them.
pub(super) fn names(spaces: &[Space]) -> String {
    spaces.iter().map(|space| space.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_reads_back_from_its_name_and_from_json() {
        for space in Space::ALL {
            assert_eq!(space.name().parse::<Space>().unwrap(), space);
            assert_eq!(serde_json::to_value(space).unwrap(), space.name());
        }
    }

    #[test]
    fn an_unknown_space_is_told_the_known_ones() {
        let error = "w".parse::<Space>().unwrap_err();
        assert_eq!(error.to_string(), "setting `space`: `w` is not a space; choose one of x, z, y");
    }
}
