//! What a search minimises. [Ley2022, Eq. 1, Alg. 1]
//!
//! L(z) = H(y|x) + λ_x d_x(x, x₀) + λ_y d_y(f(x), f(x₀)) + λ_z ρ(z, z₀) − λ_p log p(z), with x decoded from z.
//!
//! A set of k candidates that are searched together minimises Σ L(zᵢ) − k λ_D D(z₁ … z_k): k times what the paper
//! prints, which has the same minimum, and for λ_D = 0 leaves exactly k searches that do not know of each other.

use super::Models;
use super::decoding::Rows;
use crate::distance::{Distance, Metric, euclidean, prediction_distance};
use crate::diversity::{Diversity, Norm, Space};
use crate::error::{Error, Result};
use crate::model::Predictive;
use crate::tensor::Tensor;
use crate::uncertainty::{Decomposition, Uncertainty, mean_prediction};
use serde::{Deserialize, Serialize};

/// A term with its weight λ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weighted<T>(pub f32, pub T);

/// Weights of the kinds of uncertainty in the objective.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UncertaintyWeights {
    /// Weight of the total uncertainty; 1 by default.
    pub total: f32,
    /// Weight of the aleatoric uncertainty; 0 by default.
    pub aleatoric: f32,
    /// Weight of the epistemic uncertainty; 0 by default.
    pub epistemic: f32,
}

impl Default for UncertaintyWeights {
    fn default() -> Self {
        Self::only(Uncertainty::Total)
    }
}

impl UncertaintyWeights {
    /// Weight 1 for one kind of uncertainty, 0 for the others.
    pub fn only(kind: Uncertainty) -> Self {
        let mut weights = Self { total: 0.0, aleatoric: 0.0, epistemic: 0.0 };
        *weights.get_mut(kind) = 1.0;
        weights
    }

    /// The weight of one kind of uncertainty.
    pub fn get_mut(&mut self, kind: Uncertainty) -> &mut f32 {
        match kind {
            Uncertainty::Total => &mut self.total,
            Uncertainty::Aleatoric => &mut self.aleatoric,
            Uncertainty::Epistemic => &mut self.epistemic,
        }
    }

    /// The kind with the greatest weight; of equals the first of total, aleatoric, epistemic.
    pub fn heaviest(&self) -> Uncertainty {
        let heavier = |best: (f32, Uncertainty), next: (f32, Uncertainty)| if next.0 > best.0 { next } else { best };
        self.pairs().into_iter().fold((f32::NEG_INFINITY, Uncertainty::Total), heavier).1
    }

    fn pairs(&self) -> [(f32, Uncertainty); 3] {
        [
            (self.total, Uncertainty::Total),
            (self.aleatoric, Uncertainty::Aleatoric),
            (self.epistemic, Uncertainty::Epistemic),
        ]
    }
}

/// Diversity of the candidates of one input, and the space it is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiversityTerm {
    /// Diversity metric D.
    pub metric: Diversity,
    /// Space in which D is measured: inputs, latent codes or predictions.
    pub space: Space,
    /// Distance between two candidates in that space, for metrics that compare pairs.
    #[serde(default)]
    pub distance: Norm,
}

impl Default for DiversityTerm {
    /// Determinants of latent distances, as in the paper's experiments.
    fn default() -> Self {
        Self { metric: Diversity::Dpp, space: Space::Z, distance: Norm::L2 }
    }
}

/// The terms of L and their weights; a weight of 0 leaves the term out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Objective {
    /// Weights of the kinds of uncertainty in H.
    pub uncertainty: UncertaintyWeights,
    /// Weight λ_x and distance d_x between inputs.
    pub input: Weighted<Distance>,
    /// Weight λ_y of the distance between predictions.
    pub prediction: f32,
    /// Weight λ_z of the latent distance.
    pub latent: f32,
    /// Weight λ_p of −log p(z) = ½‖z‖² + const, which avoids unlikely codes.
    pub prior: f32,
    /// Weight λ_D and diversity D of the candidates; none for independent candidates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diversity: Option<Weighted<DiversityTerm>>,
}

impl Default for Objective {
    fn default() -> Self {
        Self {
            uncertainty: UncertaintyWeights::default(),
            input: Weighted(0.0, Distance::L1),
            prediction: 0.0,
            latent: 0.0,
            prior: 0.0,
            diversity: None,
        }
    }
}

impl Objective {
    /// An error for weights that are no numbers, for an objective without terms, and for a diversity that has no
    /// gradient or does not fit its space.
    pub fn validate(&self) -> Result<()> {
        let UncertaintyWeights { total, aleatoric, epistemic } = self.uncertainty;
        let weights = [
            ("uncertainty.total", total),
            ("uncertainty.aleatoric", aleatoric),
            ("uncertainty.epistemic", epistemic),
            ("lambda_x", self.input.0),
            ("lambda_y", self.prediction),
            ("lambda_z", self.latent),
            ("lambda_p", self.prior),
            ("diversity", self.diversity.map_or(0.0, |term| term.0)),
        ];
        for (key, weight) in weights {
            if !(weight >= 0.0 && weight.is_finite()) {
                return Err(Error::setting(key, format!("a weight must be 0 or a positive number, got {weight}")));
            }
        }
        if weights[..3].iter().all(|(_, weight)| *weight <= 0.0) {
            return Err(Error::setting("uncertainty", "every weight is 0; give one kind of uncertainty a weight"));
        }
        match self.diversity {
            Some(Weighted(_, DiversityTerm { metric, space, distance })) => {
                metric.check_objective()?;
                metric.check_distance(distance)?;
                metric.check_space(space)
            }
            None => Ok(()),
        }
    }

    /// The diversity that couples candidates, if it has a weight.
    pub fn coupling(&self) -> Option<Weighted<DiversityTerm>> {
        self.diversity.filter(|term| term.0 > 0.0)
    }

    /// L(z) of each row, term by term, with all that a diversity may want to see; by some posterior samples, or by all.
    pub(super) fn at(
        &self,
        models: &Models,
        metric: &Metric,
        rows: &Rows,
        z: &Tensor<2>,
        samples: Option<&[usize]>,
    ) -> Result<Evaluation> {
        let x = rows.decode(models, z)?;
        let predictive = match samples {
            Some(samples) => models.predict_by(&x, samples)?,
            None => models.predict(&x)?,
        };
        let loss = self.loss(&predictive, metric, rows, &x, z);
        Ok(Evaluation { loss, x, y: mean_prediction(&predictive) })
    }

    /// L(z) of each row whose input x has been predicted, `[rows]`.
    pub(super) fn loss(
        &self,
        predictive: &Predictive,
        metric: &Metric,
        rows: &Rows,
        x: &Tensor<2>,
        z: &Tensor<2>,
    ) -> Tensor<1> {
        let decomposition = Decomposition::of(predictive);
        let mut loss = Tensor::zeros_like(&decomposition.total);
        for (weight, kind) in self.uncertainty.pairs() {
            if weight > 0.0 {
                loss = loss + decomposition.clone().get(kind) * weight;
            }
        }
        if self.input.0 > 0.0 {
            loss = loss + metric.between(x, rows.x()) * self.input.0;
        }
        if self.prediction > 0.0 {
            loss = loss + prediction_distance(predictive, rows.prediction()) * self.prediction;
        }
        if self.latent > 0.0 {
            loss = loss + euclidean(z.clone() - rows.z().clone()) * self.latent;
        }
        if self.prior > 0.0 {
            let squares: Tensor<1> = z.clone().powi_scalar(2).sum_dim(1).squeeze_dim(1);
            loss = loss + squares * (0.5 * self.prior);
        }
        loss
    }
}

/// The objective at some rows, before any diversity.
pub(super) struct Evaluation {
    /// L(z), `[rows]`.
    pub loss: Tensor<1>,
    /// Decoded, `[rows, width]`.
    pub x: Tensor<2>,
    /// The mean prediction, `[rows, classes]`.
    pub y: Tensor<2>,
}

impl Evaluation {
    /// The candidates as one space sees them.
    pub fn points(&self, space: Space, z: &Tensor<2>) -> Tensor<2> {
        match space {
            Space::X => self.x.clone(),
            Space::Z => z.clone(),
            Space::Y => self.y.clone(),
        }
    }
}
