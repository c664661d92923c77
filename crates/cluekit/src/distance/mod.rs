//! Distances: d_x between inputs, d_y between predictions, ρ between latent codes. [Ley2022, Eq. 1]
//!
//! | name | d_x(x, x₀) |
//! |---|---|
//! | `l1` | Σ \|xᵢ − x₀ᵢ\|, the paper's: it favours sparse changes |
//! | `l2` | √Σ (xᵢ − x₀ᵢ)² |
//! | `mahalanobis` | √(x − x₀)ᵀ Σ⁻¹ (x − x₀), Σ the covariance of the training rows |
//! | `mad` | Σ \|xᵢ − x₀ᵢ\| / MADᵢ, with the median absolute deviation of each numeric feature |
//! | `range` | Σ \|xᵢ − x₀ᵢ\| / (maxᵢ − minᵢ), with the training range of each numeric feature |
//!
//! In `mad` and `range` a changed category counts 1. Where the constraints give a feature a cost w, each difference in its
//! columns is multiplied by w before anything else.

mod mahalanobis;
mod scales;
mod weights;

use crate::data::Schema;
use crate::error::{Error, Result};
use crate::model::Predictive;
use crate::tensor::{Tensor, tensor, values};
use crate::uncertainty::{LEAST_PROBABILITY, mean_prediction};
use serde::{Deserialize, Serialize};

/// Below this a sum of squares stands still: it keeps the root's gradient finite where two points coincide.
const LEAST_SQUARE: f64 = 1e-12;

crate::named! {
    "distance", "a distance";
    /// The kinds of distance between inputs.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Distance {
        /// Sum of absolute differences, ‖x − x₀‖₁.
        #[default]
        L1 = "l1",
        /// Euclidean distance, ‖x − x₀‖₂.
        L2 = "l2",
        /// Euclidean distance after whitening by the covariance of the training rows.
        Mahalanobis = "mahalanobis",
        /// Sum of absolute differences in units of each feature's median absolute deviation.
        Mad = "mad",
        /// Sum of absolute differences in units of each feature's range.
        Range = "range",
    }
}

impl Distance {
    /// Whether the distance is learned from training rows.
    ///
    /// ```
    /// use cluekit::Distance;
    ///
    /// assert_eq!("mad".parse::<Distance>()?, Distance::Mad);
    /// assert!(Distance::Mad.needs_data() && !Distance::L1.needs_data());
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn needs_data(self) -> bool {
        !matches!(self, Self::L1 | Self::L2)
    }
}

/// A distance between inputs, ready for use.
#[derive(Clone, Debug)]
pub struct Metric {
    kind: Distance,
    /// What a person says that each column's difference costs; none where all cost the same.
    weights: Option<Tensor<2>>,
    /// What each column's difference is multiplied by.
    scales: Option<Tensor<2>>,
    /// `[width, width]`: the transpose of L⁻¹ with Σ = L Lᵀ.
    whitening: Option<Tensor<2>>,
}

impl Default for Metric {
    fn default() -> Self {
        Self { kind: Distance::L1, weights: None, scales: None, whitening: None }
    }
}

impl Metric {
    /// The distance of this kind, learned from encoded training `rows` where it has to be; the costs of features in the
    /// schema's constraints weigh it.
    pub fn fit(kind: Distance, rows: &[f32], width: usize, schema: Option<&Schema>) -> Result<Self> {
        let metric = Self::unweighted(kind, rows, width, schema)?;
        let weights = schema.and_then(weights::weights).map(|weights| {
            let width = weights.len();
            tensor(weights, [1, width])
        });
        Ok(Self { weights, ..metric })
    }

    fn unweighted(kind: Distance, rows: &[f32], width: usize, schema: Option<&Schema>) -> Result<Self> {
        let plain = Self { kind, ..Self::default() };
        if !kind.needs_data() {
            return Ok(plain);
        }
        if rows.len() < 2 * width {
            return Err(Error::data(format!(
                "the distance `{}` is learned from training rows, and there are fewer than two; choose l1 or l2",
                kind.name()
            )));
        }
        match kind {
            Distance::Mahalanobis => {
                let whitening = mahalanobis::whitening(rows, width);
                Ok(Self { whitening: Some(tensor(whitening, [width, width]).transpose()), ..plain })
            }
            Distance::Mad | Distance::Range => {
                if schema.is_some_and(|schema| schema.image.is_some()) {
                    let problem =
                        format!("`{}` weighs the features of a table; for images choose l1 or l2", kind.name());
                    return Err(Error::setting("distance", problem));
                }
                let scales = scales::scales(kind, rows, width, schema);
                Ok(Self { scales: Some(tensor(scales, [1, width])), ..plain })
            }
            Distance::L1 | Distance::L2 => Ok(plain),
        }
    }

    /// Kind of the distance.
    pub fn kind(&self) -> Distance {
        self.kind
    }

    /// Weight of each column; empty where all weigh the same.
    pub fn weights(&self) -> Vec<f32> {
        self.weights.clone().map(values).unwrap_or_default()
    }

    /// The distance of each row of `x` to the same row of `original`.
    ///
    /// # Shapes
    /// - `x`, `original`: `[rows, width]`, returns: `[rows]`
    ///
    /// ```
    /// use cluekit::Distance;
    /// use cluekit::distance::Metric;
    /// use cluekit::tensor::{tensor, values};
    ///
    /// let l1 = Metric::fit(Distance::L1, &[], 2, None)?;
    /// let (x, original) = (tensor(vec![3.0, -4.0], [1, 2]), tensor(vec![0.0, 0.0], [1, 2]));
    /// assert_eq!(values(l1.between(&x, &original)), [7.0]); // |3| + |−4|
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn between(&self, x: &Tensor<2>, original: &Tensor<2>) -> Tensor<1> {
        let mut difference = x.clone() - original.clone();
        if let Some(weights) = &self.weights {
            difference = difference * weights.clone();
        }
        match (&self.scales, &self.whitening, self.kind) {
            (Some(scales), _, _) => (difference * scales.clone()).abs().sum_dim(1).squeeze_dim(1),
            (_, Some(whitening), _) => euclidean(difference.matmul(whitening.clone())),
            (None, None, Distance::L1) => difference.abs().sum_dim(1).squeeze_dim(1),
            (None, None, _) => euclidean(difference),
        }
    }
}

/// Euclidean length of each row.
pub fn euclidean(rows: Tensor<2>) -> Tensor<1> {
    rows.powi_scalar(2).sum_dim(1).clamp_min(LEAST_SQUARE).sqrt().squeeze_dim(1)
}

/// ρ(z, z₀) = ‖z − z₀‖₂ of plain numbers, in f64.
///
/// ```
/// use cluekit::distance::latent_distance;
///
/// assert_eq!(latent_distance(&[3.0, 4.0], &[0.0, 0.0]), 5.0);
/// ```
pub fn latent_distance(z: &[f32], original: &[f32]) -> f64 {
    let squares = z.iter().zip(original).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2));
    squares.sum::<f64>().sqrt()
}

/// d_y(f(x), f(x₀)): soft cross-entropy −Σ p₀ log p for classes, the squared difference for values.
///
/// # Shapes
/// - `original`: the mean prediction of x₀, `[rows, classes]` or `[rows, 1]`; returns: `[rows]`
pub fn prediction_distance(predictive: &Predictive, original: &Tensor<2>) -> Tensor<1> {
    let mean = mean_prediction(predictive);
    let terms = match predictive {
        Predictive::Classes { .. } => (original.clone() * mean.clamp_min(LEAST_PROBABILITY).log()).neg(),
        Predictive::Gaussian { .. } => (mean - original.clone()).powi_scalar(2),
    };
    terms.sum_dim(1).squeeze_dim(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::scalar;

    fn rows(values: &[f32]) -> Tensor<2> {
        tensor(values.to_vec(), [1, values.len()])
    }

    fn distance(kind: Distance, x: &[f32]) -> f32 {
        let metric = Metric::fit(kind, &[0.0, 0.0, 2.0, 8.0], 2, None).unwrap();
        scalar(metric.between(&rows(x), &rows(&[0.0, 0.0])))
    }

    #[test]
    fn three_and_four_are_seven_or_five_apart() {
        assert_eq!(distance(Distance::L1, &[3.0, -4.0]), 7.0);
        assert_eq!(distance(Distance::L2, &[3.0, -4.0]), 5.0);
    }

    #[test]
    fn features_are_weighed_by_what_is_usual_for_them() {
        // Ranges 2 and 8; medians 1 and 4, so the median absolute deviations are 1 and 4.
        assert_eq!(distance(Distance::Range, &[2.0, 8.0]), 2.0);
        assert_eq!(distance(Distance::Mad, &[2.0, 8.0]), 4.0);
    }

    /// A number, one of two and one of three.
    fn schema(cost: &str) -> Schema {
        toml::from_str(&format!(
            "target = {{ name = 'y', task = 'classification', classes = ['a', 'b'] }}\nconstraints = {{ {cost} }}\n\
             features = [{{ name = 'n', kind = 'continuous', mean = 0.0, deviation = 1.0, least = 0.0, greatest = 9.0 }},\n\
             {{ name = 'b', kind = 'binary', categories = ['p', 'q'] }},\n\
             {{ name = 'c', kind = 'categorical', categories = ['p', 'q', 'r'] }}]"
        ))
        .unwrap()
    }

    #[test]
    fn a_cost_weighs_the_columns_of_its_feature() {
        let data = [1.0, 0.0, 1.0, 0.0, 0.0, 5.0, 1.0, 0.0, 1.0, 0.0];
        let (from, to) = (rows(&[0.0, 0.0, 1.0, 0.0, 0.0]), rows(&[4.0, 1.0, 0.0, 0.0, 1.0]));
        let between = |kind: Distance, cost: &str| {
            scalar(Metric::fit(kind, &data, 5, Some(&schema(cost))).unwrap().between(&to, &from))
        };
        let cost = "cost = { n = 3.0, c = 0.5 }";
        // 4 + 1 + 1 + 1, and 12 + 1 + ½ + ½
        assert_eq!((between(Distance::L1, ""), between(Distance::L1, cost)), (7.0, 14.0));
        // √(12² + 1 + ¼ + ¼)
        assert!((between(Distance::L2, cost) - 145.5_f32.sqrt()).abs() < 1e-5);
        // The range of n is 4, and a changed category counts 1: 1 + 1 + 1, and 3 + 1 + ½.
        assert_eq!((between(Distance::Range, ""), between(Distance::Range, cost)), (3.0, 4.5));
        let all = "cost = { n = 2.0, b = 2.0, c = 2.0 }";
        let [plain, double] = ["", all].map(|cost| between(Distance::Mahalanobis, cost));
        assert!((double - 2.0 * plain).abs() < 1e-3 * double, "{plain} {double}");
    }

    #[test]
    fn without_costs_nothing_is_multiplied() {
        let metric = Metric::fit(Distance::L1, &[], 1, Some(&schema(""))).unwrap();
        assert_eq!(metric.weights(), Vec::<f32>::new());
        let metric = Metric::fit(Distance::L1, &[], 1, Some(&schema("cost = { b = 2.0 }"))).unwrap();
        assert_eq!(metric.weights(), [1.0, 2.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn mahalanobis_of_independent_columns_counts_deviations() {
        // Columns with deviations 1 and 3, uncorrelated.
        let data = [1.0, 3.0, -1.0, 3.0, 1.0, -3.0, -1.0, -3.0];
        let metric = Metric::fit(Distance::Mahalanobis, &data, 2, None).unwrap();
        let d = scalar(metric.between(&rows(&[3.0, 12.0]), &rows(&[0.0, 0.0])));
        assert!((d - 5.0).abs() < 0.05, "{d}");
    }

    #[test]
    fn cross_entropy_of_a_coin_against_a_biased_one() {
        // −½ log ¾ − ½ log ¼ = 0.8370
        let logs = tensor(vec![0.75f32.ln(), 0.25f32.ln()], [1, 1, 2]);
        let d = prediction_distance(&Predictive::Classes { log_probabilities: logs }, &rows(&[0.5, 0.5]));
        assert!((scalar(d) - 0.836_988).abs() < 1e-5);
    }

    #[test]
    fn values_differ_by_their_square() {
        let (mean, variance) = (tensor(vec![1.0, 3.0], [2, 1]), tensor(vec![1.0, 1.0], [2, 1]));
        let d = prediction_distance(&Predictive::Gaussian { mean, variance }, &rows(&[5.0]));
        assert_eq!(values(d), [9.0]);
    }

    #[test]
    fn an_unknown_name_lists_the_choices() {
        let problem = "l3".parse::<Distance>().unwrap_err().to_string();
        assert_eq!(
            problem,
            "setting `distance`: `l3` is not a distance; choose one of l1, l2, mahalanobis, mad, range"
        );
    }
}
