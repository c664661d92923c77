//! A neural mapper, trained directly on Eq. 1 through decoder and predictor: no CLUE has to be searched for it.
//!
//! z ← z + g(z, ∂ ln d/∂z, f(x₀), target class, λ_x), applied a few times from z₀ with g a residual network, minimises
//!
//! H(y|x) + w (−log p(target|x)) + λ_x d(x, x₀),  x = μ_θ(z),
//!
//! The target class is a condition, so an input has one counterfactual for each class that it could be; a mapper that
//! does not know it has to settle between them. λ_x is an input of the network, drawn anew for every row of training,
//! so that the trade-off between uncertainty and distance is chosen after training. [Dosovitskiy2020]
//!
//! Uncertain training rows are few, so most rows that it learns from are made: the code halfway between two training
//! rows of different classes, decoded, with what the reconstruction of one of them leaves out added again.

mod network;
mod pool;
#[cfg(test)]
mod tests;
mod training;

use super::Encoded;
use crate::distance::{Distance, Metric};
use crate::error::{Error, Remedy, Result};
use crate::model::parameters::{Layout, Parameters, Weights};
use crate::model::store::checkpoint::Checkpoint;
use crate::model::training::{Fit, Rows, Session, fit};
use crate::observer::{Observer, Shared};
use crate::parallel::over_shards;
use crate::search::{Decoding, Models, Price};
use crate::seed::Seed;
use crate::settings::merge;
use crate::tensor::{tensor, values};
use network::{Network, Parts, Sizes, as_samples, seen};
use pool::{learned_above, pool, uncertain};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use training::Training;

/// Most probable classes that the mapper learns to lead to.
pub(super) const TARGETS: usize = 3;
/// Rows that one thread maps at a time.
const ROWS: usize = 64;

/// The error for an anchored neural mapper, which there is not.
pub(super) fn not_anchored() -> Error {
    let problem = "a neural mapper brings the decoded input closer to the input as a whole";
    Error::setting("anchored", problem).remedy(Remedy::leave_out(["anchored"])).remedy(Remedy::AnotherMapper)
}

/// Settings of the neural mapper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeuralPlan {
    /// Width of the hidden layers.
    pub width: usize,
    /// Residual blocks.
    pub depth: usize,
    /// How often the network corrects its code, each time seeing the slope of the distance there.
    pub rounds: usize,
    /// Posterior samples that are drawn for each step.
    pub samples: usize,
    /// Mixtures that are made; those the model is certain about are left out.
    pub mixtures: usize,
    /// How much of the way from one row to the other a mixture lies at the least; at the most it is a half.
    pub mixing: f32,
    /// What a mixture gets of what its nearer parent's reconstruction leaves out: from all of it to this many times as
    /// much, since rows that the generative model has not seen lose more than training rows.
    pub left_out: f32,
    /// The most uncertain share of the training rows; these and mixtures as uncertain as they are learned from.
    pub uncertain_share: f64,
    /// How often an uncertain training row is seen for each time that a mixture is.
    pub repeats: usize,
    /// How much of what is learned from are training rows of any uncertainty: they show how codes come close to inputs.
    pub others_share: f64,
    /// w, the weight of the target class.
    pub target_weight: f32,
    /// The λ_x around which those of training are drawn.
    pub lambda_x: f32,
    /// They lie between λ_x divided by this and λ_x times this.
    pub lambda_span: f32,
    /// How it is trained.
    pub fit: Fit,
}

impl Default for NeuralPlan {
    fn default() -> Self {
        Self {
            width: 256,
            depth: 3,
            rounds: 2,
            samples: 3,
            mixtures: 30_000,
            mixing: 0.3,
            left_out: 2.0,
            uncertain_share: 0.1,
            repeats: 1,
            others_share: 0.1,
            target_weight: 0.3,
            lambda_x: 0.03,
            lambda_span: 10.0,
            fit: Fit { epochs: 24, batch: 256, learning_rate: 3e-3, weight_decay: 1e-2, patience: 0 },
        }
    }
}

impl NeuralPlan {
    /// Refuses settings that cannot be used.
    pub fn validate(&self) -> Result<()> {
        self.fit.validate("neural.fit")?;
        let check = |key: &str, ok: bool, problem: String| match ok {
            true => Ok(()),
            false => Err(Error::setting(format!("neural.{key}"), problem)),
        };
        check(
            "width",
            (1..=10_000).contains(&self.width),
            format!("must lie between 1 and 10000, got {}", self.width),
        )?;
        check("depth", self.depth <= 100, format!("must be at most 100, got {}", self.depth))?;
        check("rounds", (1..=100).contains(&self.rounds), format!("must lie between 1 and 100, got {}", self.rounds))?;
        check("samples", self.samples > 0, "must be at least 1".into())?;
        let most = 10_000_000;
        check("mixtures", self.mixtures <= most, format!("must be at most {most}, got {}", self.mixtures))?;
        let share = self.others_share;
        check("others_share", (0.0..1.0).contains(&share), format!("must be at least 0 and below 1, got {share}"))?;
        let share = self.uncertain_share;
        check("uncertain_share", share > 0.0 && share <= 1.0, format!("must be above 0 and at most 1, got {share}"))?;
        check("repeats", self.repeats <= 1000, format!("must be at most 1000, got {}", self.repeats))?;
        check(
            "mixing",
            (0.0..=0.5).contains(&self.mixing),
            format!("must lie between 0 and 0.5, got {}", self.mixing),
        )?;
        let left_out = self.left_out;
        check("left_out", (1.0..=100.0).contains(&left_out), format!("must lie between 1 and 100, got {left_out}"))?;
        let weight = self.target_weight;
        check("target_weight", weight >= 0.0 && weight.is_finite(), format!("must be 0 or positive, got {weight}"))?;
        let lambda = self.lambda_x;
        check("lambda_x", lambda > 0.0 && lambda.is_finite(), format!("must be a positive number, got {lambda}"))?;
        let span = self.lambda_span;
        check("lambda_span", (1.0..=1e6).contains(&span), format!("must lie between 1 and 1000000, got {span}"))
    }

    /// This plan with the settings of a TOML table replaced.
    pub fn with(&self, settings: &toml::Table) -> Result<Self> {
        let mut table = toml::Table::try_from(self).expect("a plan is made of tables and numbers");
        merge(&mut table, settings);
        let problem = |problem: toml::de::Error| {
            Error::setting("neural", problem.to_string().lines().collect::<Vec<_>>().join(" "))
        };
        table.try_into().map_err(problem)
    }

    /// λ_x as the network sees it: 0 in the middle of what it learned from, ±1 at the ends.
    fn trade_off(&self, lambda_x: f32) -> f32 {
        if self.lambda_span <= 1.0 {
            return 0.0;
        }
        ((lambda_x / self.lambda_x).ln() / self.lambda_span.ln()).clamp(-1.0, 1.0)
    }

    /// The λ_x that it can be asked for.
    pub fn range(&self) -> [f32; 2] {
        [self.lambda_x / self.lambda_span, self.lambda_x * self.lambda_span]
    }
}

/// A trained neural mapper.
#[derive(Clone, Debug)]
pub struct Neural {
    network: Network,
    distance: Distance,
    plan: NeuralPlan,
    parameters: Parameters,
    weights: Weights,
}

/// The most probable classes, the first of equals first.
pub fn most_probable(probabilities: &[f32], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    order.truncate(count);
    order
}

impl Neural {
    /// Trains a mapper on uncertain rows of `train` and on mixtures of its rows; `validation` chooses the best epoch.
    pub fn train(
        models: &Models,
        metric: &Metric,
        train: &Encoded,
        validation: &Encoded,
        plan: &NeuralPlan,
        seed: Seed,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        plan.validate()?;
        let outputs = train.predictions.first().map_or(0, |prediction| prediction.mean.len());
        if outputs == 0 {
            return Err(Error::data("a neural mapper needs training rows; there are none"));
        }
        let network = Network::new(Sizes::of(train.latent, models.task(), outputs), plan);
        let above = learned_above(train, plan.uncertain_share);
        let mixing = Shared::new(observer, "mixing rows", 2 * plan.mixtures as u64);
        let pool = pool(models, train, plan, above, seed, &|rows| mixing.add(rows as u64, f64::NAN))?;
        let watched = as_samples(&validation.select(&uncertain(validation, above)), models.task());
        let training = Training { network: &network, plan, models, metric };
        let initial = Parameters::initial(network.layout.clone(), &mut seed.stream("neural mapper: start"));
        let rows = Rows { train: &pool, validation: &watched };
        let mut session = Session { rows, seed, checkpoint: &Checkpoint::none(), observer };
        let parameters = fit(&training, initial, &plan.fit, "neural mapper", &mut session)?;
        let (distance, plan, weights) = (metric.kind(), plan.clone(), Weights::frozen(&parameters));
        Ok(Self { network, distance, plan, parameters, weights })
    }

    /// The mapper for arrays that `layout` describes.
    pub fn new(models: &Models, distance: Distance, outputs: usize, plan: NeuralPlan, parameters: Parameters) -> Self {
        let network = Network::new(Sizes::of(models.generative.latent_dim(), models.task(), outputs), &plan);
        Self { weights: Weights::frozen(&parameters), distance, plan, network, parameters }
    }

    /// The arrays of such a mapper.
    pub fn layout(models: &Models, outputs: usize, plan: &NeuralPlan) -> Arc<Layout> {
        Network::new(Sizes::of(models.generative.latent_dim(), models.task(), outputs), plan).layout
    }

    /// How it was trained.
    pub fn plan(&self) -> &NeuralPlan {
        &self.plan
    }

    /// Numbers that the predictor returns for a row.
    pub fn outputs(&self) -> usize {
        self.network.sizes.outputs
    }

    /// Its arrays.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Refuses a cost that the network has not learned.
    pub fn check(&self, price: &Price) -> Result<()> {
        let (learned, asked) = (self.distance.name(), price.metric.kind().name());
        if learned != asked {
            let problem = format!(
                "the neural mapper was trained for `{learned}` and cannot map for `{asked}`; ask for {learned}, or train it \
                 again"
            );
            return Err(Error::setting("distance", problem));
        }
        match price.decoding {
            Decoding::Mean => Ok(()),
            Decoding::Anchored => Err(not_anchored()),
        }
    }

    /// The code for each of some rows, towards its target class; `[rows, latent]`, row after row.
    ///
    /// # Panics
    /// When there is not one target for each row.
    pub fn map(&self, models: &Models, rows: &Encoded, targets: &[usize], price: &Price) -> Result<Vec<f32>> {
        self.check(price)?;
        let parts = over_shards(rows.len(), ROWS, |range| -> Result<Vec<f32>> {
            let of_rows = rows.predictions[range.clone()].iter();
            let predictions = of_rows.flat_map(|prediction| seen(prediction, models.task())).collect();
            let asked: Vec<_> = targets[range.clone()].iter().map(|&target| (target, price.lambda_x)).collect();
            let parts = Parts {
                x: rows.inputs(range.clone()),
                z: rows.codes(range.clone()),
                prediction: tensor(predictions, [range.len(), self.network.sizes.outputs]),
            };
            let asked = self.network.asked(&asked, &self.plan);
            Ok(values(self.network.map(&self.weights, models, &price.metric, &parts, &asked)?))
        });
        Ok(parts.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }
}
