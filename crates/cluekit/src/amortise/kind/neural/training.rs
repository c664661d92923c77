//! What the neural mapper minimises: Eq. 1 and the target class, for targets and trade-offs that are drawn anew for each row.

use super::network::{Network, Parts};
use super::{NeuralPlan, TARGETS, most_probable};
use crate::distance::Metric;
use crate::error::Result;
use crate::model::parameters::{Layout, Weights};
use crate::model::training::{Batch, Trainable};
use crate::prediction::answer_with_some;
use crate::search::Models;
use crate::seed::Rng;
use crate::tensor::{Tensor, tensor, values};
use crate::uncertainty::{Decomposition, LEAST_PROBABILITY, mean_prediction};
use rand::RngExt;
use std::sync::Arc;

/// The network with what its loss needs.
pub(super) struct Training<'a> {
    pub network: &'a Network,
    pub plan: &'a NeuralPlan,
    pub models: &'a Models<'a>,
    pub metric: &'a Metric,
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
        self.models.need_gradients()?;
        let (network, sizes, plan) = (self.network, self.network.sizes, self.plan);
        let rows = Parts::of(&batch.x, sizes);
        let asked = self.draw(&values(rows.prediction.clone()), rng);
        let count = asked.len();
        let condition = network.asked(&asked, plan);
        let z = network.map(weights, self.models, self.metric, &rows, &condition)?;
        let x = self.models.decode(&z, rows.x.dims()[1])?;
        let predictive = answer_with_some(self.models.predictor, &x, plan.samples, rng)?;
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
pub(super) fn draw_target(probabilities: &[f32], rng: &mut Rng) -> usize {
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
