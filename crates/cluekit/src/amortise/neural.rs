//! A neural mapper, trained directly on Eq. 1 through decoder and predictor: no CLUE has to be searched for it.
//!
//! z = z₀ + g(z₀, x₀ − μ_θ(z₀), f(x₀), target class, λ_x), with g a residual network, minimises
//!
//! H(y|x) + w (−log p(target|x)) + λ_x d(x, x₀),  x = μ_θ(z),
//!
//! The target class is a condition, so an input has one counterfactual for each class that it could be; a mapper that
//! does not know it has to settle between them. λ_x is an input of the network, drawn anew for every row of training,
//! so that the trade-off between uncertainty and distance is chosen after training. [Dosovitskiy2020]
//!
//! Uncertain training rows are few, so most rows that it learns from are made: the code halfway between two training
//! rows of different classes, decoded, with what the reconstruction of one of them leaves out added again.

use super::Encoded;
use super::encoded::decoded;
use crate::data::{Samples, Targets, Task};
use crate::distance::Metric;
use crate::error::{Error, Result};
use crate::model::parameters::{Layout, Parameters, Weights};
use crate::model::store::checkpoint::Checkpoint;
use crate::model::training::{Batch, Fit, Rows, Session, Trainable, fit};
use crate::model::vae::residual::Residual;
use crate::observer::Observer;
use crate::parallel::over_shards;
use crate::search::Models;
use crate::seed::{Rng, Seed};
use crate::tensor::{Tensor, tensor, values};
use crate::uncertainty::{Decomposition, mean_prediction};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Below this a probability's logarithm stands still.
const LEAST_PROBABILITY: f64 = 1e-30;
/// Most probable classes that the mapper learns to lead to.
const TARGETS: usize = 3;
/// Rows that one thread maps or mixes at a time.
const ROWS: usize = 256;
/// Draws until two rows of different classes are found; then two of one class have to do.
const MOST_DRAWS: usize = 20;

/// Settings of the neural mapper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NeuralPlan {
    /// Width of the hidden layers.
    pub width: usize,
    /// Residual blocks.
    pub depth: usize,
    /// Posterior samples that are drawn for each step.
    pub samples: usize,
    /// Mixtures that are made; those the model is certain about are left out.
    pub mixtures: usize,
    /// How far towards one of its parents a mixture may lie: from this to one minus this.
    pub mixing: f32,
    /// How much of what is learned from are training rows themselves.
    pub real_share: f64,
    /// Rows and mixtures are learned from when their uncertainty exceeds this.
    pub learn_above: f32,
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
            samples: 3,
            mixtures: 20_000,
            mixing: 0.3,
            real_share: 0.3,
            learn_above: 0.1,
            target_weight: 0.3,
            lambda_x: 0.03,
            lambda_span: 10.0,
            fit: Fit { epochs: 25, batch: 128, learning_rate: 2e-3, weight_decay: 1e-4, patience: 0 },
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
        check("samples", self.samples > 0, "must be at least 1".into())?;
        let most = 10_000_000;
        check("mixtures", self.mixtures <= most, format!("must be at most {most}, got {}", self.mixtures))?;
        let share = self.real_share;
        check("real_share", share > 0.0 && share < 1.0, format!("must lie between 0 and 1, got {share}"))?;
        check(
            "mixing",
            (0.0..=0.5).contains(&self.mixing),
            format!("must lie between 0 and 0.5, got {}", self.mixing),
        )?;
        let weight = self.target_weight;
        check("target_weight", weight >= 0.0 && weight.is_finite(), format!("must be 0 or positive, got {weight}"))?;
        let lambda = self.lambda_x;
        check("lambda_x", lambda > 0.0 && lambda.is_finite(), format!("must be a positive number, got {lambda}"))?;
        let span = self.lambda_span;
        check("lambda_span", (1.0..=1e6).contains(&span), format!("must lie between 1 and 1000000, got {span}"))
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

/// How many columns each part of a row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes {
    width: usize,
    latent: usize,
    /// 1 for a regression, whose one value is no class.
    outputs: usize,
    classes: usize,
}

impl Sizes {
    fn of(width: usize, latent: usize, task: &Task, outputs: usize) -> Self {
        Self { width, latent, outputs, classes: if task.is_regression() { 0 } else { outputs } }
    }
}

/// A trained neural mapper.
#[derive(Clone, Debug)]
pub struct Neural {
    network: Network,
    plan: NeuralPlan,
    parameters: Parameters,
    weights: Weights,
}

/// The network without its parameters.
#[derive(Clone, Debug)]
struct Network {
    sizes: Sizes,
    body: Residual,
    layout: Arc<Layout>,
}

impl Network {
    fn new(sizes: Sizes, plan: &NeuralPlan) -> Self {
        let mut layout = Layout::default();
        let inputs = sizes.latent + sizes.width + sizes.outputs + sizes.classes + 1;
        let body = Residual::new("mapper", inputs, sizes.latent, plan.width, plan.depth, &mut layout);
        Self { sizes, body, layout: Arc::new(layout) }
    }

    /// z of each row, given what is asked for.
    fn map(&self, weights: &Weights, models: &Models, rows: &Parts, asked: Tensor<2>) -> Result<Tensor<2>> {
        let left_out = rows.x.clone() - models.decode(&rows.z, self.sizes.width)?;
        let inputs = Tensor::cat(vec![rows.z.clone(), left_out, rows.prediction.clone(), asked], 1);
        Ok(rows.z.clone() + self.body.forward(weights, inputs))
    }

    /// What is asked for: the target class as one-hot columns, and λ_x.
    fn asked(&self, rows: &[(usize, f32)], plan: &NeuralPlan) -> Tensor<2> {
        let classes = self.sizes.classes;
        let row = |&(target, lambda): &(usize, f32)| {
            let one_hot = (0..classes).map(move |class| if class == target { 1.0 } else { 0.0 });
            one_hot.chain([plan.trade_off(lambda)]).collect::<Vec<f32>>()
        };
        tensor(rows.iter().flat_map(row).collect(), [rows.len(), classes + 1])
    }
}

/// The parts of some rows.
struct Parts {
    x: Tensor<2>,
    z: Tensor<2>,
    prediction: Tensor<2>,
}

impl Parts {
    fn of(rows: &Tensor<2>, sizes: Sizes) -> Self {
        let count = rows.dims()[0];
        let part = |from: usize, len: usize| rows.clone().slice([0..count, from..from + len]);
        Self {
            x: part(0, sizes.width),
            z: part(sizes.width, sizes.latent),
            prediction: part(sizes.width + sizes.latent, sizes.outputs),
        }
    }
}

/// Rows as training sees them: x₀, z₀ and f(x₀) side by side.
fn as_samples<'a>(parts: impl Iterator<Item = (&'a Encoded, usize)>) -> Samples {
    let (mut x, mut count) = (Vec::new(), 0);
    for (rows, row) in parts {
        x.extend_from_slice(rows.x(row));
        x.extend_from_slice(rows.z(row));
        x.extend_from_slice(&rows.predictions[row].mean);
        count += 1;
    }
    // What is asked for is drawn in every step, so a row has no target of its own.
    Samples { width: x.len() / count.max(1), x, y: Targets::Classes(vec![0; count]) }
}

/// The network with what its loss needs.
struct Training<'a> {
    network: &'a Network,
    plan: &'a NeuralPlan,
    models: &'a Models<'a>,
    metric: &'a Metric,
}

impl Training<'_> {
    /// For each row a target class and a λ_x.
    fn draw(&self, predictions: &[f32], rng: &mut Rng) -> Vec<(usize, f32)> {
        let plan = self.plan;
        let ask = |prediction: &[f32]| {
            let target = if self.network.sizes.classes > 0 { draw_target(prediction, rng) } else { 0 };
            // Half of all rows at the middle, where most will ask.
            let exponent = if rng.random_bool(0.5) { rng.random_range(-1.0..1.0) } else { 0.0 };
            (target, plan.lambda_x * plan.lambda_span.powf(exponent))
        };
        predictions.chunks(self.network.sizes.outputs).map(ask).collect()
    }
}

impl Trainable for Training<'_> {
    fn layout(&self) -> &Arc<Layout> {
        &self.network.layout
    }

    fn loss(&self, weights: &Weights, batch: &Batch, rng: &mut Rng) -> Result<Tensor<1>> {
        let (network, sizes, plan) = (self.network, self.network.sizes, self.plan);
        let rows = Parts::of(&batch.x, sizes);
        let asked = self.draw(&values(rows.prediction.clone()), rng);
        let count = asked.len();
        let condition = network.asked(&asked, plan);
        let z = network.map(weights, self.models, &rows, condition.clone())?;
        let x = self.models.decode(&z, sizes.width)?;
        let predictive = self.models.predictor.predict_with_some(&x, plan.samples, rng)?;
        let mut loss = Decomposition::of(&predictive).total;
        if sizes.classes > 0 {
            let log_mean = mean_prediction(&predictive).clamp_min(LEAST_PROBABILITY).log();
            let of_target = log_mean * condition.slice([0..count, 0..sizes.classes]);
            loss = loss - of_target.sum_dim(1).squeeze_dim(1) * plan.target_weight;
        }
        let lambdas: Vec<f32> = asked.iter().map(|(_, lambda)| *lambda).collect();
        // A large λ_x makes a large loss; without this it would drown the others.
        let scales: Vec<f32> = lambdas.iter().map(|lambda| 2.0 / (1.0 + lambda / plan.lambda_x)).collect();
        loss = loss + self.metric.between(&x, &rows.x) * tensor(lambdas, [count]);
        Ok((loss * tensor(scales, [count])).sum())
    }
}

/// One of the most probable classes: half the time by its probability, half the time any of them.
fn draw_target(probabilities: &[f32], rng: &mut Rng) -> usize {
    let order = most_probable(probabilities, TARGETS);
    if rng.random_bool(0.5) {
        return order[rng.random_range(0..order.len())];
    }
    let sum: f32 = order.iter().map(|&class| probabilities[class]).sum();
    let mut left = sum * rng.random_range(0.0..1.0);
    for &class in &order {
        left -= probabilities[class];
        if left < 0.0 {
            return class;
        }
    }
    order[0]
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
        let network = Network::new(Sizes::of(train.width, train.latent, models.task(), outputs), plan);
        let pool = pool(models, train, plan, seed)?;
        let watched = uncertain(validation, plan.learn_above);
        let watched = as_samples(watched.iter().map(|&row| (validation, row)));
        let training = Training { network: &network, plan, models, metric };
        let initial = Parameters::initial(network.layout.clone(), &mut seed.stream("neural mapper: start"));
        let rows = Rows { train: &pool, validation: &watched };
        let mut session = Session { rows, seed, checkpoint: &Checkpoint::none(), observer };
        let parameters = fit(&training, initial, &plan.fit, "neural mapper", &mut session)?;
        Ok(Self { weights: Weights::frozen(&parameters), plan: plan.clone(), network, parameters })
    }

    /// The mapper for arrays that `layout` describes.
    pub fn new(models: &Models, width: usize, outputs: usize, plan: NeuralPlan, parameters: Parameters) -> Self {
        let network = Network::new(Sizes::of(width, models.generative.latent(), models.task(), outputs), &plan);
        Self { weights: Weights::frozen(&parameters), plan, network, parameters }
    }

    /// The arrays of such a mapper.
    pub fn layout(models: &Models, width: usize, outputs: usize, plan: &NeuralPlan) -> Arc<Layout> {
        Network::new(Sizes::of(width, models.generative.latent(), models.task(), outputs), plan).layout
    }

    /// How it was trained.
    pub fn plan(&self) -> &NeuralPlan {
        &self.plan
    }

    /// Its arrays.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The code for each of some rows, towards its target class; `[rows, latent]`, row after row.
    pub fn map(&self, models: &Models, rows: &Encoded, targets: &[usize], lambda_x: f32) -> Result<Vec<f32>> {
        let parts = over_shards(rows.len(), ROWS, |range| -> Result<Vec<f32>> {
            let outputs = self.network.sizes.outputs;
            let predictions = rows.predictions[range.clone()].iter().flat_map(|p| p.mean.iter().copied()).collect();
            let asked: Vec<(usize, f32)> = targets[range.clone()].iter().map(|&target| (target, lambda_x)).collect();
            let parts = Parts {
                x: rows.inputs(range.clone()),
                z: rows.codes(range.clone()),
                prediction: tensor(predictions, [range.len(), outputs]),
            };
            let asked = self.network.asked(&asked, &self.plan);
            Ok(values(self.network.map(&self.weights, models, &parts, asked)?))
        });
        Ok(parts.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }
}

fn uncertain(rows: &Encoded, above: f32) -> Vec<usize> {
    (0..rows.len()).filter(|&row| rows.predictions[row].uncertainty.total > above).collect()
}

/// What is learned from: uncertain mixtures, and uncertain training rows as often as their share asks for.
fn pool(models: &Models, train: &Encoded, plan: &NeuralPlan, seed: Seed) -> Result<Samples> {
    let mixed = mixtures(models, train, plan, seed)?;
    let made = uncertain(&mixed, plan.learn_above);
    let mut real = uncertain(train, plan.learn_above);
    if real.is_empty() {
        real = (0..train.len()).collect();
    }
    let share = plan.real_share / (1.0 - plan.real_share);
    let wanted = if made.is_empty() { real.len() } else { (made.len() as f64 * share).ceil() as usize };
    let real = real.iter().cycle().take(wanted).map(|&row| (train, row));
    Ok(as_samples(made.iter().map(|&row| (&mixed, row)).chain(real)))
}

/// Rows between two training rows of different classes, as the generative model sees them.
fn mixtures(models: &Models, train: &Encoded, plan: &NeuralPlan, seed: Seed) -> Result<Encoded> {
    let (width, latent) = (train.width, train.latent);
    let parts = over_shards(plan.mixtures, ROWS, |range| -> Result<Vec<f32>> {
        let mut rng = seed.numbered("neural mapper: mixtures", range.start as u64);
        let (mut between, mut parents) = (Vec::new(), Vec::new());
        for _ in range {
            let [a, b] = draw_pair(train, &mut rng);
            let share: f32 = plan.mixing + (1.0 - 2.0 * plan.mixing) * rng.random_range(0.0..1.0);
            between.extend(train.z(a).iter().zip(train.z(b)).map(|(a, b)| share * a + (1.0 - share) * b));
            parents.push(if share > 0.5 { a } else { b });
        }
        let codes: Vec<f32> = parents.iter().flat_map(|&parent| train.z(parent)).copied().collect();
        let mut x = decoded(models, &between, width)?;
        for ((x, of_parent), &parent) in
            x.chunks_exact_mut(width).zip(decoded(models, &codes, width)?.chunks_exact(width)).zip(&parents)
        {
            for ((x, parent), decoded) in x.iter_mut().zip(train.x(parent)).zip(of_parent) {
                *x += parent - decoded;
            }
            if models.schema.is_some_and(|schema| schema.image.is_some()) {
                x.iter_mut().for_each(|value| *value = value.clamp(0.0, 1.0));
            }
        }
        debug_assert_eq!(between.len() / latent, parents.len());
        Ok(x)
    });
    let x = parts.into_iter().collect::<Result<Vec<_>>>()?.concat();
    let y = Targets::Values(vec![0.0; x.len() / width]);
    Encoded::of(models, Samples { x, width, y })
}

/// Two rows of different classes, where there are such.
fn draw_pair(train: &Encoded, rng: &mut Rng) -> [usize; 2] {
    let a = rng.random_range(0..train.len());
    let mut b = rng.random_range(0..train.len());
    for _ in 0..MOST_DRAWS {
        if train.class(a) != train.class(b) {
            break;
        }
        b = rng.random_range(0..train.len());
    }
    [a, b]
}
