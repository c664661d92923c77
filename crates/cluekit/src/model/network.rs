//! The networks that one posterior sample can be.

use super::mlp::{Head, Mlp};
use super::parameters::{Layout, Parameters, Weights};
use super::plan::{NetworkKind, PredictorKind, PredictorPlan};
use super::resnet::ResNet;
use super::training::{Batch, Gradient, Streams, Trainable};
use crate::data::{Samples, Schema};
use crate::error::{Error, Result};
use crate::seed::Rng;
use crate::tensor::Tensor;
use std::sync::Arc;

/// A network without its parameters.
#[derive(Clone, Debug)]
pub enum Network {
    /// A perceptron, for any encoded row.
    Mlp(Mlp),
    /// A residual network, for images.
    ResNet(ResNet),
}

impl Network {
    /// The network that a plan asks for, with the dropout that it is trained with.
    pub fn of(plan: &PredictorPlan, schema: &Schema) -> Result<Self> {
        let head = Head::of(&schema.target.task);
        // A chain would walk through running statistics as if they were weights, and masks are for perceptrons.
        let alone = [PredictorKind::Ensemble, PredictorKind::Plain].contains(&plan.kind);
        if plan.network == NetworkKind::Resnet && schema.image.is_some() && !alone {
            let problem = "must be `ensemble` or `plain` for a `resnet`; the others need `predictor.network = \"mlp\"`";
            return Err(Error::setting("predictor.kind", problem));
        }
        match (plan.network, &schema.image) {
            (NetworkKind::Mlp, _) => {
                let dropout = if plan.kind == PredictorKind::Dropout { plan.dropout } else { 0.0 };
                Ok(Self::Mlp(Mlp::new(schema.width(), &plan.hidden, head, dropout)))
            }
            (NetworkKind::Resnet, Some(image)) => {
                Ok(Self::ResNet(ResNet::new(image, &plan.channels, plan.blocks, head)))
            }
            (NetworkKind::Resnet, None) => {
                Err(Error::setting("predictor.network", "`resnet` needs images; choose `mlp` for a table"))
            }
        }
    }

    /// What the outputs of the network stand for.
    pub fn head(&self) -> Head {
        match self {
            Self::Mlp(network) => network.head(),
            Self::ResNet(network) => network.head(),
        }
    }
}

impl Trainable for Network {
    fn layout(&self) -> &Arc<Layout> {
        match self {
            Self::Mlp(network) => network.layout(),
            Self::ResNet(network) => network.layout(),
        }
    }

    fn shard(&self) -> usize {
        match self {
            Self::Mlp(network) => network.shard(),
            Self::ResNet(network) => network.shard(),
        }
    }

    fn loss(&self, weights: &Weights, batch: &Batch, rng: &mut Rng) -> Result<Tensor<1>> {
        match self {
            Self::Mlp(network) => network.loss(weights, batch, rng),
            Self::ResNet(network) => network.loss(weights, batch, rng),
        }
    }

    fn gradient(
        &self,
        parameters: &Parameters,
        samples: &Samples,
        indices: &[usize],
        streams: Streams,
    ) -> Result<Gradient> {
        match self {
            Self::Mlp(network) => network.gradient(parameters, samples, indices, streams),
            Self::ResNet(network) => network.gradient(parameters, samples, indices, streams),
        }
    }
}
