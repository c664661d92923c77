//! Models and rows that a reader can compute by hand, for the tests of this room.

use super::{Encoded, FittedUnder, LearnFrom, Limit, Map, Mapper, Pair, Thresholds};
use crate::data::{Constraints, Feature, Image, Kind, Samples, Scaling, Schema, Target, Targets, Task};
use crate::distance::Distance;
use crate::error::Result;
use crate::model::{Generative, Predictive, Predictor};
use crate::prediction::{Prediction, UncertaintyParts};
use crate::search::{Decoding, Models};
use crate::seed::Seed;
use crate::tensor::{Tensor, log_softmax};
use crate::uncertainty::Uncertainty;
use std::sync::Arc;

/// A code is its input times `scale`.
pub(super) struct Same {
    pub width: usize,
    pub scale: f32,
}

impl Same {
    /// The latent space is the input space.
    pub fn new(width: usize) -> Self {
        Self { width, scale: 1.0 }
    }
}

impl Generative for Same {
    fn latent_dim(&self) -> usize {
        self.width
    }

    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(x.clone() * self.scale)
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(z.clone() / self.scale)
    }
}

/// p(1) = σ(x₁). In nats it is unsure by 0.693 at 0, 0.582 at ±1, 0.365 at ±2, 0.190 at ±3, 0.090 at ±4, 0.040 at ±5.
pub(super) struct Sigmoid;

impl Predictor for Sigmoid {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        let first = x.clone().narrow(1, 0, 1);
        let logits = Tensor::cat(vec![first.clone() * -0.5, first * 0.5], 1);
        Ok(Predictive::Classes { log_probabilities: log_softmax(logits, 1).unsqueeze() })
    }
}

/// Classes with these names.
pub(super) fn classes(names: &[&str]) -> Task {
    Task::Classification { classes: names.iter().map(ToString::to_string).collect() }
}

/// A table of one number `x` between −3 and 3 as it is, with the classes a and b.
pub(super) fn table() -> Schema {
    let scaling = Scaling { mean: 0.0, deviation: 1.0, decimals: None, least: -3.0, greatest: 3.0 };
    Schema {
        target: Target { name: "y".into(), task: classes(&["a", "b"]), unit: None, meaning: None },
        image: None,
        features: vec![Feature {
            name: "x".into(),
            kind: Kind::Continuous(scaling),
            unit: None,
            meaning: None,
            missing: None,
        }],
        constraints: Constraints::default(),
    }
}

/// Pictures of `width` grey values in a line.
pub(super) fn pictures(width: usize) -> Schema {
    let image = Some(Image { channels: 1, height: 1, width, maximum: 1.0 });
    Schema { image, features: vec![], ..table() }
}

/// Rows with these classes.
pub(super) fn rows(models: &Models, x: &[f32], width: usize, classes: &[u32]) -> Encoded {
    let samples = Samples { x: x.to_vec(), width, y: Targets::Classes(classes.to_vec()), weights: None };
    Encoded::of(models, samples).unwrap()
}

/// One-dimensional rows at 0, 1, 2 … of which the model says this.
pub(super) fn predicted(probabilities: &[&[f32]], classes: Option<&[usize]>) -> Encoded {
    let places: Vec<f32> = (0..probabilities.len()).map(|row| row as f32).collect();
    let amounts = UncertaintyParts { total: 0.5, aleatoric: 0.5, epistemic: 0.0 };
    let prediction = |mean: &&[f32]| Prediction { mean: mean.to_vec(), uncertainty: amounts };
    Encoded {
        x: places.clone(),
        width: 1,
        z: places,
        latent: 1,
        predictions: probabilities.iter().map(prediction).collect(),
        classes: classes.map(<[usize]>::to_vec),
    }
}

/// What mappers of these tests are fitted under.
pub(super) fn fitted_under() -> FittedUnder {
    let [uncertain_above, certain_below] = [Limit::Quantile(0.95), Limit::Value(0.1)];
    FittedUnder {
        learn_from: LearnFrom::Clues(0.03),
        lambda_theta: None,
        most_clusters: None,
        lambda_x: 0.03,
        distance: Distance::L1,
        weights: vec![],
        decoding: Decoding::Mean,
        thresholds: Thresholds { uncertain_above, certain_below, kind: Uncertainty::Total },
        seed: Seed(1),
        revision: 1,
    }
}

/// A mapper of a pair, with figures that only have to be kept.
pub(super) fn mapper(pair: Pair, map: Arc<dyn Map>) -> Mapper {
    Mapper {
        pair,
        map,
        lambda_theta: Some(0.3),
        uncertain: 7,
        certain: 9,
        uncertain_above: 0.5,
        certain_below: 0.1,
        notes: vec!["a note".into()],
    }
}
