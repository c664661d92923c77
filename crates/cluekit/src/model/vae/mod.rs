//! Variational autoencoder: an encoder q(z|x), a decoder p(x|z), a standard normal prior. [Kingma2014, Eq. 3]
//!
//! ELBO(x) = E_q log p(x|z) − KL(q(z|x) ‖ N(0, I)), and for q = N(μ, σ²):
//! KL = ½ Σ (μ² + σ² − log σ² − 1).

pub mod convolution;
pub mod ladder;
mod learning;
pub mod likelihood;
pub mod residual;

use super::Generative;
use super::parameters::{Layout, Parameters, Weights};
use super::plan::{Architecture, GenerativePlan};
use super::training::{Batch, CONVOLUTION_SHARD, Gradient, Session, Streams, Trainable, fit, gradient_by_graph};
use crate::data::{Image, Samples, Schema};
use crate::error::{Error, Result};
use crate::parallel::SHARD;
use crate::seed::Rng;
use crate::tensor::{Tensor, tensor};
use convolution::Convolution;
use ladder::Ladder;
use likelihood::Likelihood;
use rand_distr::{Distribution, StandardNormal};
use residual::{Frozen, Residual};
use std::sync::Arc;

/// Log-variances of the latent code are kept within ±this: e^±12 is beyond any use.
const LOG_VARIANCE_BOUND: f64 = 12.0;

/// What the networks of a VAE look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaeShape {
    /// The kind of networks.
    pub architecture: Architecture,
    /// Dimensions of the latent space; of a ladder, of its high-level code.
    pub latent: usize,
    /// Dimensions of the low-level code of a ladder.
    pub low_latent: usize,
    /// Width of the hidden layers.
    pub width: usize,
    /// Residual blocks in each of encoder and decoder.
    pub depth: usize,
    /// Residual convolutions in each group of a ladder.
    pub blocks: usize,
    /// Channels of each halving of an image.
    pub channels: Vec<usize>,
}

impl From<&GenerativePlan> for VaeShape {
    fn from(plan: &GenerativePlan) -> Self {
        let GenerativePlan { architecture, latent, low_latent, width, depth, blocks, channels, fit: _ } = plan.clone();
        Self { architecture, latent, low_latent, width, depth, blocks, channels }
    }
}

/// The networks of a VAE without their parameters.
#[derive(Clone, Debug)]
pub struct VaeNetwork {
    body: Body,
    likelihood: Likelihood,
    inputs: usize,
    latent: usize,
    layout: Arc<Layout>,
}

#[derive(Clone, Debug)]
enum Body {
    Residual { encoder: Residual, decoder: Residual },
    Convolution(Convolution),
    Ladder(Ladder),
}

/// The latent code of some rows: a normal distribution for each, `[rows, latent]`.
pub struct Code {
    /// Mean μ of the code.
    pub mean: Tensor<2>,
    /// Logarithm log σ² of the code's variance.
    pub log_variance: Tensor<2>,
}

impl Code {
    /// KL to the prior of each row.
    fn divergence(&self) -> Tensor<1> {
        let (mean, log_variance) = (self.mean.clone(), self.log_variance.clone());
        let terms = mean.powi_scalar(2) + log_variance.clone().exp() - log_variance - 1.0;
        terms.sum_dim(1).squeeze_dim(1) * 0.5
    }

    /// z = μ + σ ε with ε from N(0, I).
    fn sample(&self, rng: &mut Rng) -> Tensor<2> {
        let [rows, latent] = self.mean.dims();
        self.at(tensor(StandardNormal.sample_iter(rng).take(rows * latent).collect(), [rows, latent]))
    }

    /// z = μ + σ ε.
    fn at(&self, noise: Tensor<2>) -> Tensor<2> {
        self.mean.clone() + (self.log_variance.clone() * 0.5).exp() * noise
    }
}

impl VaeNetwork {
    /// The networks of this shape for data of this schema.
    pub fn new(shape: &VaeShape, schema: &Schema) -> Result<Self> {
        let inputs = schema.width();
        let latent = match shape.architecture {
            Architecture::Ladder => shape.latent + shape.low_latent,
            _ => shape.latent,
        };
        let likelihood = Likelihood::of(schema);
        let mut layout = Layout::default();
        let body = match shape.architecture {
            Architecture::Residual => Body::Residual {
                encoder: Residual::new("encoder", inputs, 2 * latent, shape.width, shape.depth, &mut layout),
                decoder: Residual::new("decoder", latent, inputs, shape.width, shape.depth, &mut layout),
            },
            Architecture::Convolution => {
                let image = image_of(schema, "convolution")?;
                Body::Convolution(Convolution::new(image, &shape.channels, shape.width, latent, &mut layout))
            }
            Architecture::Ladder if shape.channels.is_empty() => {
                return Err(Error::setting(
                    "generative.channels",
                    "a ladder needs at least one number, such as [16, 32]",
                ));
            }
            Architecture::Ladder => Body::Ladder(Ladder::new(image_of(schema, "ladder")?, shape, &mut layout)),
        };
        if likelihood.gaussians() > 0 {
            layout.push("decoder.log_variance", &[likelihood.gaussians()]);
        }
        Ok(Self { body, likelihood, inputs, latent, layout: Arc::new(layout) })
    }

    /// The latent code q(z|x).
    pub fn encode(&self, weights: &Weights, x: Tensor<2>) -> Code {
        self.code_of(match &self.body {
            Body::Residual { encoder, .. } => encoder.forward(weights, x),
            Body::Convolution(pair) => pair.encode(weights, x),
            Body::Ladder(pair) => pair.encode(weights, x),
        })
    }

    /// The latent code that the encoder's outputs stand for.
    fn code_of(&self, outputs: Tensor<2>) -> Code {
        let rows = outputs.dims()[0];
        let log_variance = outputs.clone().slice([0..rows, self.latent..2 * self.latent]);
        Code {
            mean: outputs.slice([0..rows, 0..self.latent]),
            log_variance: log_variance.clamp(-LOG_VARIANCE_BOUND, LOG_VARIANCE_BOUND),
        }
    }

    /// The decoder's outputs before the likelihood's mean.
    pub fn decode(&self, weights: &Weights, z: Tensor<2>) -> Tensor<2> {
        match &self.body {
            Body::Residual { decoder, .. } => decoder.forward(weights, z),
            Body::Convolution(pair) => pair.decode(weights, z),
            Body::Ladder(pair) => pair.decode(weights, z),
        }
    }

    /// An estimate of the ELBO of each row from one draw of z, `[rows]`.
    pub fn elbo(&self, weights: &Weights, x: &Tensor<2>, rng: &mut Rng) -> Tensor<1> {
        let code = self.encode(weights, x.clone());
        let outputs = self.decode(weights, code.sample(rng));
        self.elbo_of(weights, x, &code, &outputs)
    }

    /// The ELBO of each row whose draw of z is decoded to `outputs`, `[rows]`.
    fn elbo_of(&self, weights: &Weights, x: &Tensor<2>, code: &Code, outputs: &Tensor<2>) -> Tensor<1> {
        let variance = (self.likelihood.gaussians() > 0).then(|| weights.get("decoder.log_variance"));
        (self.likelihood.negative_log(outputs, x, variance) + code.divergence()).neg()
    }
}

fn image_of<'a>(schema: &'a Schema, architecture: &str) -> Result<&'a Image> {
    schema.image.as_ref().ok_or_else(|| {
        Error::setting("generative.architecture", format!("`{architecture}` needs images; choose `residual`"))
    })
}

impl Trainable for VaeNetwork {
    fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    fn shard(&self) -> usize {
        match self.body {
            Body::Ladder(_) => CONVOLUTION_SHARD,
            _ => SHARD,
        }
    }

    /// −Σ ELBO.
    fn loss(&self, weights: &Weights, batch: &Batch, rng: &mut Rng) -> Result<Tensor<1>> {
        Ok(self.elbo(weights, &batch.x, rng).sum().neg())
    }

    fn gradient(
        &self,
        parameters: &Parameters,
        samples: &Samples,
        indices: &[usize],
        streams: Streams,
    ) -> Result<Gradient> {
        match &self.body {
            Body::Residual { encoder, decoder } => {
                learning::gradient(self, [encoder, decoder], parameters, (samples, indices), streams)
            }
            Body::Convolution(_) | Body::Ladder(_) => gradient_by_graph(self, parameters, samples, indices, streams),
        }
    }
}

/// Trains a VAE and returns its parameters.
pub fn train(network: &VaeNetwork, plan: &GenerativePlan, session: &mut Session) -> Result<Parameters> {
    let initial = Parameters::initial(network.layout().clone(), &mut session.seed.stream("vae: start"));
    fit(network, initial, &plan.fit, "vae", session)
}

/// A trained VAE.
#[derive(Clone, Debug)]
pub struct Vae {
    network: VaeNetwork,
    weights: Weights,
    /// Encoder and decoder in the form that a search asks, where they are perceptrons.
    fast: Option<[Arc<Frozen>; 2]>,
}

impl Vae {
    /// The networks with their parameters.
    pub fn new(network: VaeNetwork, parameters: &Parameters) -> Self {
        let fast = match &network.body {
            Body::Residual { encoder, decoder } => {
                Some([Arc::new(encoder.frozen(parameters)), Arc::new(decoder.frozen(parameters))])
            }
            Body::Convolution(_) | Body::Ladder(_) => None,
        };
        Self { weights: Weights::frozen(parameters), network, fast }
    }

    /// An estimate of the ELBO of each row from one draw of z, `[rows]`.
    pub fn elbo(&self, x: &Tensor<2>, rng: &mut Rng) -> Tensor<1> {
        self.network.elbo(&self.weights, x, rng)
    }

    fn check(&self, what: &str, got: [usize; 2], columns: usize) -> Result<()> {
        match got[1] == columns {
            true => Ok(()),
            false => Err(Error::Shape { what: what.into(), expected: vec![got[0], columns], got: got.to_vec() }),
        }
    }
}

impl Generative for Vae {
    fn latent_dim(&self) -> usize {
        self.network.latent
    }

    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        self.check("the input", x.dims(), self.network.inputs)?;
        Ok(match &self.fast {
            Some([encoder, _]) => encoder.outputs(x).narrow(1, 0, self.network.latent),
            None => self.network.encode(&self.weights, x.clone()).mean,
        })
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        self.check("the latent code", z.dims(), self.network.latent)?;
        let likelihood = &self.network.likelihood;
        Ok(match &self.fast {
            Some([_, decoder]) if likelihood.is_bernoulli() => decoder.probabilities(z),
            Some([_, decoder]) => likelihood.mean(decoder.outputs(z)),
            None => likelihood.mean(self.network.decode(&self.weights, z.clone())),
        })
    }

    fn elbo(&self, x: &Tensor<2>, rng: &mut Rng) -> Result<Option<Tensor<1>>> {
        self.check("the input", x.dims(), self.network.inputs)?;
        Ok(Some(Self::elbo(self, x, rng)))
    }

    fn elbo_by(&self, x: &Tensor<2>, noise: &[Tensor<2>]) -> Result<Option<Tensor<1>>> {
        self.check("the input", x.dims(), self.network.inputs)?;
        let code = match &self.fast {
            Some([encoder, _]) => self.network.code_of(encoder.outputs(x)),
            None => self.network.encode(&self.weights, x.clone()),
        };
        let draws = noise.len() as f32;
        let elbo = |noise: &Tensor<2>| {
            let z = code.at(noise.clone());
            let outputs = match &self.fast {
                Some([_, decoder]) => decoder.outputs(&z),
                None => self.network.decode(&self.weights, z),
            };
            self.network.elbo_of(&self.weights, x, &code, &outputs) / draws
        };
        Ok(noise.iter().map(elbo).reduce(|a, b| a + b))
    }
}
