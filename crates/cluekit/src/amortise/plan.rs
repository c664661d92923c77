//! What to fit, and how.

use super::kind::MapperKind;
use super::kind::neural::NeuralPlan;
use super::translation::Descent;
use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize};

/// Values of λ_θ to choose from when none is given.
pub const LAMBDAS_THETA: [f32; 6] = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0];
/// Clusters of one group beyond which nobody looks at them one by one.
const MOST_CLUSTERS: usize = 100;

/// Source of the certain examples of Eq. 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearnFrom {
    /// Certain training rows: GLAM 1.
    #[default]
    Data,
    /// The uncertain training rows' own CLUEs, searched with this λ_x: GLAM 2 with 0, GLAM 3 with 0.03.
    Clues(f32),
}

/// Which kind of mapper to fit, and how; keys that are left out have their usual value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MapperPlan {
    /// Kind of mapper, `mapper` in TOML.
    #[serde(rename = "mapper")]
    pub kind: MapperKind,
    /// Source of the certain examples for translations and affine maps.
    pub learn_from: LearnFrom,
    /// Weight λ_θ of ‖θ‖₁ in Eq. 2; chosen on validation rows if it is none.
    pub lambda_theta: Option<f32>,
    /// Number of steps of Adam on Eq. 2 in each round; rounds go on until one gains next to nothing.
    pub steps: usize,
    /// Learning rate of Adam on Eq. 2 at the start of a round; it falls to 0.
    pub learning_rate: f64,
    /// Largest number of clusters of a group, for `clusters`; the number itself is chosen on validation rows.
    #[serde(rename = "clusters")]
    pub most_clusters: usize,
    /// Settings of the network, for `neural`.
    #[serde(deserialize_with = "over_the_usual")]
    pub neural: NeuralPlan,
}

impl Default for MapperPlan {
    fn default() -> Self {
        Self {
            kind: MapperKind::default(),
            learn_from: LearnFrom::default(),
            lambda_theta: None,
            steps: 30,
            learning_rate: 0.1,
            most_clusters: 5,
            neural: NeuralPlan::default(),
        }
    }
}

/// Some settings of the network, the others as usual.
fn over_the_usual<'de, D: Deserializer<'de>>(settings: D) -> std::result::Result<NeuralPlan, D::Error> {
    let settings = toml::Table::deserialize(settings)?;
    NeuralPlan::default().with(&settings).map_err(serde::de::Error::custom)
}

impl MapperPlan {
    /// The usual settings of a kind of mapper.
    ///
    /// ```
    /// use cluekit::amortise::{LearnFrom, MapperKind, MapperPlan};
    ///
    /// let plan = MapperPlan::new(MapperKind::Glam, LearnFrom::Clues(0.03)); // GLAM 3
    /// let text = "mapper = \"glam\"\nlearn_from = { clues = 0.03 }";
    /// assert_eq!(toml::from_str::<MapperPlan>(text).expect("known keys"), plan);
    /// plan.validate()?;
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn new(kind: MapperKind, learn_from: LearnFrom) -> Self {
        Self { kind, learn_from, ..Self::default() }
    }

    /// An error if a setting cannot be used.
    pub fn validate(&self) -> Result<()> {
        let weight = |key: &str, value: f32| match value >= 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(Error::setting(key, format!("must be 0 or a positive number, got {value}"))),
        };
        weight("lambda_theta", self.lambda_theta.unwrap_or(0.0))?;
        if let LearnFrom::Clues(lambda_x) = self.learn_from {
            weight("learn_from", lambda_x)?;
        }
        match self.most_clusters {
            1..=MOST_CLUSTERS => {}
            other => {
                let problem = format!("must lie between 1 and {MOST_CLUSTERS}, got {other}");
                return Err(Error::setting("clusters", problem));
            }
        }
        if self.kind == MapperKind::Neural { self.neural.validate() } else { Ok(()) }
    }

    /// The λ_θ to choose from.
    pub(super) fn lambdas_theta(&self) -> Vec<f32> {
        self.lambda_theta.map_or(LAMBDAS_THETA.to_vec(), |lambda| vec![lambda])
    }

    /// How Eq. 2 is minimised with this λ_θ.
    pub(super) fn descent(&self, lambda_theta: f32) -> Descent {
        Descent { lambda_theta, steps: self.steps, learning_rate: self.learning_rate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_back_as_it_was_written() {
        let neural = NeuralPlan { width: 5, lambda_x: 0.3, ..NeuralPlan::default() };
        for kind in MapperKind::ALL {
            let plan = MapperPlan {
                lambda_theta: Some(0.1),
                neural: neural.clone(),
                ..MapperPlan::new(kind, LearnFrom::Clues(0.03))
            };
            let json = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<MapperPlan>(&json).unwrap(), plan);
            let table = toml::Table::try_from(&plan).unwrap();
            assert_eq!(table.try_into::<MapperPlan>().unwrap(), plan);
        }
    }

    #[test]
    fn what_a_plan_leaves_out_is_as_usual() {
        assert_eq!(toml::from_str::<MapperPlan>("").unwrap(), MapperPlan::default());
        let plan: MapperPlan = toml::from_str("mapper = \"neural\"\nneural.width = 7\nneural.fit.epochs = 2").unwrap();
        let mut expected = MapperPlan::new(MapperKind::Neural, LearnFrom::Data);
        (expected.neural.width, expected.neural.fit.epochs) = (7, 2);
        assert_eq!(plan, expected);
    }

    #[test]
    fn a_key_that_no_plan_has_is_refused() {
        for text in ["colour = 3", "neural.colour = 3", "neural.fit.colour = 3"] {
            let message = toml::from_str::<MapperPlan>(text).unwrap_err().to_string();
            assert!(message.contains("colour"), "{message}");
        }
        let plan = MapperPlan { most_clusters: 0, ..MapperPlan::default() };
        assert!(plan.validate().unwrap_err().to_string().contains("must lie between 1 and 100, got 0"));
    }
}
