//! How unsure a predictor is, and what kind of unsureness it is.
//!
//! For classes, in nats: total H = −Σ p̄ log p̄ of the mean predictive p̄ = 1/S Σ p_s; aleatoric = 1/S Σ H(p_s);
//! epistemic = total − aleatoric, the mutual information between prediction and parameters. [Ley2022, Eq. 1]
//!
//! For values, as standard deviations whose squares add up (law of total variance): aleatoric² = 1/S Σ σ_s²,
//! epistemic² = Var_s μ_s, total² = aleatoric² + epistemic².

use crate::model::Predictive;
use crate::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Below this a probability's logarithm stands still: it keeps gradients finite where a probability is 0.
pub(crate) const LEAST_PROBABILITY: f64 = 1e-30;
/// Below this a variance's root stands still: it keeps gradients finite where samples agree.
const LEAST_VARIANCE: f64 = 1e-12;

crate::named! {
    "uncertainty", "a kind of uncertainty";
    /// The kinds of uncertainty.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Uncertainty {
        /// Total uncertainty: aleatoric and epistemic together.
        #[default]
        Total = "total",
        /// Aleatoric uncertainty, which stays however much data there is: noise, overlap of classes.
        Aleatoric = "aleatoric",
        /// Epistemic uncertainty, which more data would remove: disagreement of the posterior samples.
        Epistemic = "epistemic",
    }
}

/// The uncertainty of some rows with its two parts, each `[rows]`.
#[derive(Clone, Debug)]
pub struct Decomposition {
    /// Total uncertainty of each row.
    pub total: Tensor<1>,
    /// Aleatoric part, which stays however much data there is.
    pub aleatoric: Tensor<1>,
    /// Epistemic part, which more data would remove.
    pub epistemic: Tensor<1>,
}

impl Decomposition {
    /// The uncertainty of a predictive distribution, row by row.
    ///
    /// ```
    /// use cluekit::model::Predictive;
    /// use cluekit::tensor::{tensor, values};
    /// use cluekit::uncertainty::Decomposition;
    ///
    /// // Two posterior samples and one row: each sample is sure by 0.9, but of another class.
    /// let p = vec![0.9_f32, 0.1, 0.1, 0.9].into_iter().map(f32::ln).collect();
    /// let parts = Decomposition::of(&Predictive::Classes { log_probabilities: tensor(p, [2, 1, 2]) });
    /// let close = |got: Vec<f32>, expected: f32| (got[0] - expected).abs() < 1e-4;
    /// assert!(close(values(parts.total), 0.6931)); // ln 2: the mean prediction is ½, ½
    /// assert!(close(values(parts.aleatoric), 0.3251)); // −0.9 ln 0.9 − 0.1 ln 0.1
    /// assert!(close(values(parts.epistemic), 0.3680)); // the rest
    /// ```
    pub fn of(predictive: &Predictive) -> Self {
        match predictive {
            Predictive::Classes { log_probabilities } => Self::of_classes(log_probabilities),
            Predictive::Gaussian { mean, variance } => Self::of_values(mean, variance),
        }
    }

    /// The uncertainty of one kind.
    pub fn get(self, kind: Uncertainty) -> Tensor<1> {
        match kind {
            Uncertainty::Total => self.total,
            Uncertainty::Aleatoric => self.aleatoric,
            Uncertainty::Epistemic => self.epistemic,
        }
    }

    fn of_classes(log_probabilities: &Tensor<3>) -> Self {
        // A stranger's predictor may say log p = −∞; 0 · −∞ would be no number.
        let log_probabilities = log_probabilities.clone().clamp_min(LEAST_PROBABILITY.ln());
        let probabilities = log_probabilities.clone().exp();
        let mean: Tensor<2> = probabilities.clone().mean_dim(0).squeeze_dim(0);
        let total: Tensor<1> = (mean.clone() * mean.clamp_min(LEAST_PROBABILITY).log()).sum_dim(1).squeeze_dim(1).neg();
        let entropies: Tensor<2> = (probabilities * log_probabilities).sum_dim(2).squeeze_dim(2).neg();
        let aleatoric: Tensor<1> = entropies.mean_dim(0).squeeze_dim(0);
        Self { epistemic: total.clone() - aleatoric.clone(), total, aleatoric }
    }

    fn of_values(mean: &Tensor<2>, variance: &Tensor<2>) -> Self {
        let aleatoric: Tensor<1> = variance.clone().mean_dim(0).squeeze_dim(0);
        let deviation = mean.clone() - mean.clone().mean_dim(0);
        let epistemic: Tensor<1> = deviation.powi_scalar(2).mean_dim(0).squeeze_dim(0);
        let root = |variance: Tensor<1>| variance.clamp_min(LEAST_VARIANCE).sqrt();
        Self {
            total: root(aleatoric.clone() + epistemic.clone()),
            aleatoric: root(aleatoric),
            epistemic: root(epistemic),
        }
    }
}

/// The mean predictive distribution p̄, `[rows, classes]`; for values the mean, `[rows, 1]`.
pub fn mean_prediction(predictive: &Predictive) -> Tensor<2> {
    match predictive {
        Predictive::Classes { log_probabilities } => log_probabilities.clone().exp().mean_dim(0).squeeze_dim(0),
        Predictive::Gaussian { mean, .. } => mean.clone().mean_dim(0).swap_dims(0, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{scalar, tensor};

    fn classes(probabilities: &[f32], samples: usize, count: usize) -> Predictive {
        let logs = probabilities.iter().map(|p| p.ln()).collect();
        Predictive::Classes { log_probabilities: tensor(logs, [samples, 1, count]) }
    }

    fn numbers(decomposition: Decomposition) -> [f32; 3] {
        [scalar(decomposition.total), scalar(decomposition.aleatoric), scalar(decomposition.epistemic)]
    }

    fn assert_close(got: [f32; 3], expected: [f32; 3]) {
        for (g, e) in got.iter().zip(expected) {
            assert!((g - e).abs() < 1e-5, "{got:?}, expected {expected:?}");
        }
    }

    #[test]
    fn samples_that_agree_on_a_coin_are_aleatoric() {
        let ln2 = 2f32.ln();
        let p = classes(&[0.5, 0.5, 0.5, 0.5], 2, 2);
        assert_close(numbers(Decomposition::of(&p)), [ln2, ln2, 0.0]);
    }

    #[test]
    fn confident_samples_that_disagree_are_epistemic() {
        let p = classes(&[1.0, 1e-38, 1e-38, 1.0], 2, 2);
        assert_close(numbers(Decomposition::of(&p)), [2f32.ln(), 0.0, 2f32.ln()]);
    }

    #[test]
    fn a_class_that_is_impossible_to_a_predictor_counts_nothing() {
        let p = classes(&[1.0, 0.0], 1, 2);
        assert_close(numbers(Decomposition::of(&p)), [0.0, 0.0, 0.0]);
    }

    #[test]
    fn variances_add_up() {
        // Means 1 and 5 (variance 4), variances 3 and 7 (mean 5): total² = 9.
        let p = Predictive::Gaussian { mean: tensor(vec![1.0, 5.0], [2, 1]), variance: tensor(vec![3.0, 7.0], [2, 1]) };
        assert_close(numbers(Decomposition::of(&p)), [3.0, 5f32.sqrt(), 2.0]);
    }
}
