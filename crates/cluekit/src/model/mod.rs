//! Models: what explains the data (generative) and what is to be explained (predictor).
//!
//! A model comes in one of three forms: with tensors and their graph ([`Predictor`], [`Generative`]), with plain numbers
//! and a pull-back, or with plain numbers alone (both in [`foreign`]). Those that lie in files of another program's format
//! are [`adopted`].

pub(crate) mod adam;
pub mod adopted;
pub(crate) mod bayesian;
pub mod boosted;
pub(crate) mod class_weights;
mod dense;
pub mod foreign;
mod frozen;
pub(crate) mod input_space;
pub(crate) mod mlp;
pub(crate) mod network;
pub(crate) mod parameters;
pub mod pipeline;
pub mod plan;
pub(crate) mod predictor;
pub(crate) mod resnet;
pub(crate) mod sghmc;
pub(crate) mod stacked;
pub mod store;
pub(crate) mod training;
pub(crate) mod vae;

pub use bayesian::Sampler;
pub use boosted::{Boosted, BoostedPlan};
pub use input_space::InputSpace;
pub use stacked::Stacked;
pub use training::TrainingPlan;
pub use vae::Vae;

use crate::error::Result;
use crate::seed::Rng;
use crate::tensor::{Tensor, tensor};

/// A predictor with a posterior: the model whose uncertainty is to be explained.
///
/// ```
/// use cluekit::model::{Predictive, Predictor};
/// use cluekit::tensor::{Tensor, log_softmax, tensor, values};
/// use cluekit::uncertainty::mean_prediction;
///
/// /// One posterior sample: p(1 | x) = σ(x₁).
/// struct Logistic;
///
/// impl Predictor for Logistic {
///     fn predict(&self, x: &Tensor<2>) -> cluekit::Result<Predictive> {
///         let first = x.clone().narrow(1, 0, 1);
///         let logits = Tensor::cat(vec![first.clone() * -0.5, first * 0.5], 1);
///         Ok(Predictive::Classes { log_probabilities: log_softmax(logits, 1).unsqueeze() })
///     }
/// }
///
/// let probabilities = values(mean_prediction(&Logistic.predict(&tensor(vec![0.0], [1, 1]))?));
/// assert!(probabilities.iter().all(|p| (p - 0.5).abs() < 1e-6));
/// # Ok::<(), cluekit::Error>(())
/// ```
pub trait Predictor: Send + Sync {
    /// The predictive distribution of each row of `x`, one for each posterior sample.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive>;

    /// Like [`Self::predict`], by the posterior samples at these places alone, of the S that there are.
    ///
    /// Searches ask a predictor that [can choose](Self::can_choose) for a few samples at each step. One that cannot
    /// answers with all of them.
    fn predict_by(&self, x: &Tensor<2>, samples: &[usize]) -> Result<Predictive> {
        let _ = samples;
        self.predict(x)
    }

    /// Whether [`Self::predict_by`] saves work: a predictor that knows its S and can be asked for some of them.
    fn can_choose(&self) -> bool {
        false
    }

    /// Whether threads share the posterior samples of one question, so that few rows are enough to keep them busy.
    fn shares_out_samples(&self) -> bool {
        false
    }

    /// Number S of posterior samples; none if it is unknown before the first answer.
    fn samples(&self) -> Option<usize> {
        None
    }

    /// Whether answers can be differentiated by x; a predictor without a gradient is searched by other methods.
    fn has_gradient(&self) -> bool {
        true
    }

    /// Largest number of rows in one question; none for any number.
    fn rows_at_once(&self) -> Option<usize> {
        None
    }

    /// Whether several threads may ask at the same time with profit.
    fn is_concurrent(&self) -> bool {
        true
    }
}

/// A generative model with a latent space to search in.
///
/// ```
/// use cluekit::model::Generative;
/// use cluekit::tensor::{Tensor, tensor, values};
///
/// /// Inputs on the line x₂ = 2 x₁: one latent dimension.
/// struct Line;
///
/// impl Generative for Line {
///     fn latent_dim(&self) -> usize {
///         1
///     }
///     fn encode(&self, x: &Tensor<2>) -> cluekit::Result<Tensor<2>> {
///         Ok(x.clone().narrow(1, 0, 1))
///     }
///     fn decode(&self, z: &Tensor<2>) -> cluekit::Result<Tensor<2>> {
///         Ok(Tensor::cat(vec![z.clone(), z.clone() * 2.0], 1))
///     }
/// }
///
/// let z = Line.encode(&tensor(vec![3.0, 6.0], [1, 2]))?;
/// assert_eq!(values(Line.decode(&z)?), [3.0, 6.0]);
/// # Ok::<(), cluekit::Error>(())
/// ```
pub trait Generative: Send + Sync {
    /// Number of dimensions of the latent space.
    fn latent_dim(&self) -> usize;

    /// The encoder's mean μ_φ(z|x).
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`, returns: `[rows, latent]`
    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>>;

    /// The decoder's mean μ_θ(x|z).
    ///
    /// # Shapes
    /// - `z`: `[rows, latent]`, returns: `[rows, inputs]`
    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>>;

    /// An estimate of the ELBO of each row from one draw of z, for the plausibility of clues; a model without a
    /// likelihood has none.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`, returns: `[rows]`
    fn elbo(&self, x: &Tensor<2>, rng: &mut Rng) -> Result<Option<Tensor<1>>> {
        let _ = (x, rng);
        Ok(None)
    }

    /// The ELBO of each row where the noise is given: the mean over these draws of the ELBO with z = μ + σ ε. It is the same
    /// for the same row and noise, whichever rows lie beside it.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`, `noise`: `[rows, latent]` each, returns: `[rows]`
    fn elbo_by(&self, x: &Tensor<2>, noise: &[Tensor<2>]) -> Result<Option<Tensor<1>>> {
        let _ = (x, noise);
        Ok(None)
    }

    /// The ELBO of each row with z at the encoder's mean instead of a draw.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`, returns: `[rows]`
    fn elbo_at_mean(&self, x: &Tensor<2>) -> Result<Option<Tensor<1>>> {
        self.elbo_by(x, &[tensor(vec![0.0; x.dims()[0] * self.latent_dim()], [x.dims()[0], self.latent_dim()])])
    }

    /// Whether the decoder can be differentiated by z; a model without a gradient is searched by other methods.
    fn has_gradient(&self) -> bool {
        true
    }

    /// Whether several threads may ask at the same time with profit.
    fn is_concurrent(&self) -> bool {
        true
    }
}

/// What S posterior samples say about some rows.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "one lives at a time, and a box would cost more than it saves")]
pub enum Predictive {
    /// Probabilities of classes.
    Classes {
        /// Logarithms log p(y | x, θ_s), `[S, rows, classes]`.
        log_probabilities: Tensor<3>,
    },
    /// Normal distributions of a scaled value.
    Gaussian {
        /// Means E[y | x, θ_s], `[S, rows]`.
        mean: Tensor<2>,
        /// Variances Var[y | x, θ_s], `[S, rows]`.
        variance: Tensor<2>,
    },
}
