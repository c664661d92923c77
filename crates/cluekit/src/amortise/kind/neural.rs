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
mod plan;
mod pool;
#[cfg(test)]
mod tests;
mod training;

use super::{Functions, Learned, Saved, one_each};
use crate::amortise::record::Record;
use crate::amortise::{Encoded, Fit, Group, Map, MapperPlan, Mappers, Members, Pair};
use crate::distance::{Distance, Metric};
use crate::error::{Error, Remedy, Result};
use crate::model::parameters::{Layout, Parameters, Weights};
use crate::model::store::checkpoint::Checkpoint;
use crate::model::training::{Rows, Session, fit as fit_network};
use crate::observer::{Observer, Shared};
use crate::parallel::over_shards;
use crate::search::{Decoding, Models, Price, Proposal};
use crate::seed::Seed;
use crate::tensor::{tensor, values};
use network::{Network, Parts, Sizes, as_samples, seen};
pub use plan::NeuralPlan;
use pool::{learned_above, pool, uncertain};
use std::sync::Arc;
use training::Training;

/// Most probable classes that the mapper learns to lead to.
pub(in crate::amortise) const TARGETS: usize = 3;
/// Rows that one thread maps at a time.
const ROWS: usize = 64;

pub(super) const FUNCTIONS: Functions = Functions { fit, saved: Saved::Together { write, layout, read } };

/// A map by a network that is asked for one class.
#[derive(Clone, Debug)]
pub struct NeuralMap {
    /// The network, shared by all classes.
    pub network: Arc<Neural>,
    /// Position of the class that the map leads to.
    pub target: usize,
}

impl Map for NeuralMap {
    fn propose(&self, models: &Models, rows: &Encoded, name: &str, price: &Price) -> Result<Vec<Vec<Proposal>>> {
        let z = self.network.map(models, rows, &vec![self.target; rows.len()], price)?;
        Ok(one_each(&z, rows.latent, name))
    }

    fn network(&self) -> Option<&Neural> {
        Some(&self.network)
    }
}

/// One map for each target class, all with the same network.
fn towards(network: Neural, targets: impl Iterator<Item = usize>) -> impl Iterator<Item = NeuralMap> {
    let network = Arc::new(network);
    targets.map(move |target| NeuralMap { network: network.clone(), target })
}

/// One network for all groups.
fn fit(fit: &mut Fit, plan: &MapperPlan, groups: &[Group], observer: &mut dyn Observer) -> Result<Vec<Learned>> {
    let classes = fit.models.task().classes();
    let everyone = |group: &Group| {
        let Pair { from, to } = &group.pair;
        *from == Members::any() && to.condition.is_none() && (to.class.is_some() || classes.is_empty())
    };
    if let Some(group) = groups.iter().find(|group| !everyone(group)) {
        let name = group.pair.name(classes);
        return Err(Error::setting(
            "mapper",
            format!(
                "neural serves every input, with the class as a condition, and cannot be fitted for `{name}` alone"
            ),
        )
        .remedy(Remedy::leave_out(["from", "where", "by"]))
        .remedy(Remedy::AnotherMapper));
    }
    if fit.search.decoding == Decoding::Anchored {
        return Err(not_anchored());
    }
    let metric = fit.background.metric(fit.search.objective.input.1, fit.models.schema)?;
    let network = Neural::train(fit.models, &metric, fit.train, fit.validation, &plan.neural, fit.seed, observer)?;
    Ok(towards(network, groups.iter().map(|group| group.pair.target())).map(Learned::plain).collect())
}

fn write(mappers: &Mappers) -> Result<Parameters> {
    let network = mappers.network().map(|network| network.parameters().clone());
    network.map_or_else(|| Parameters::new(Arc::default(), vec![]), Ok)
}

fn layout(record: &Record, models: &Models) -> std::result::Result<Arc<Layout>, String> {
    let (plan, outputs) = described(record);
    let expected = if models.task().is_regression() { 1 } else { models.task().classes().len() };
    if expected > 0 && outputs != expected {
        return Err(format!("is for a predictor with {outputs} outputs, and this one has {expected}"));
    }
    plan.validate().map_err(|error| format!("cannot be used: {error}"))?;
    Ok(Neural::layout(models, outputs, &plan))
}

fn read(record: &Record, models: &Models, parameters: Parameters, pairs: &[Pair]) -> Vec<Arc<dyn Map>> {
    let (plan, outputs) = described(record);
    let network = Neural::new(models, record.fitted_under.distance, outputs, plan, parameters);
    towards(network, pairs.iter().map(Pair::target)).map(|map| -> Arc<dyn Map> { Arc::new(map) }).collect()
}

/// The settings of a network and the numbers that its predictor returns; a record of this kind has both.
fn described(record: &Record) -> (NeuralPlan, usize) {
    (record.neural.clone().unwrap_or_default(), record.outputs.unwrap_or(0))
}

/// The error for an anchored neural mapper, which there is not.
fn not_anchored() -> Error {
    let problem = "a neural mapper brings the decoded input closer to the input as a whole";
    Error::setting("anchored", problem).remedy(Remedy::leave_out(["anchored"])).remedy(Remedy::AnotherMapper)
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

/// The `count` most probable classes, the most probable first; equals keep their order.
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
        let parameters = fit_network(&training, initial, &plan.fit, "neural mapper", &mut session)?;
        let (distance, plan, weights) = (metric.kind(), plan.clone(), Weights::frozen(&parameters));
        Ok(Self { network, distance, plan, parameters, weights })
    }

    /// The mapper with these parameters, in the order of [`Neural::layout`].
    pub fn new(models: &Models, distance: Distance, outputs: usize, plan: NeuralPlan, parameters: Parameters) -> Self {
        let network = Network::new(Sizes::of(models.generative.latent_dim(), models.task(), outputs), &plan);
        Self { weights: Weights::frozen(&parameters), distance, plan, network, parameters }
    }

    /// Names and shapes of a mapper's parameters, for a predictor with this number of `outputs`.
    pub fn layout(models: &Models, outputs: usize, plan: &NeuralPlan) -> Arc<Layout> {
        Network::new(Sizes::of(models.generative.latent_dim(), models.task(), outputs), plan).layout
    }

    /// Settings that the mapper was trained with.
    pub fn plan(&self) -> &NeuralPlan {
        &self.plan
    }

    /// Number of values that the predictor returns for a row.
    pub fn outputs(&self) -> usize {
        self.network.sizes.outputs
    }

    /// Parameters of the network.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// An error if the network has not learned to serve a cost: another distance, or anchored decoding.
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
