//! The three spaces in which a set of candidates can be diverse.

use serde::{Deserialize, Serialize};

crate::named! {
    "space", "a space";
    /// Where the candidates of a set are compared.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Space {
        /// Inputs, as the predictor sees them.
        X = "x",
        /// Latent codes of the generative model.
        Z = "z",
        /// Predictions: the probabilities of the classes.
        Y = "y",
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
