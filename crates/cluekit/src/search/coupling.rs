//! What holds the candidates of one input apart. [Ley2022, Alg. 1, App. D]
//!
//! | order | added to the objective |
//! |---|---|
//! | simultaneous | −k λ_D D(z₁ … z_k), all candidates at once |
//! | sequential | −λ_D D(Z ∪ z), one at a time; the paper prints +λ_D, which would bring them together |
//! | penalty | Σ_{z' ∈ Z} λ_D / d(z, z'), one at a time |

use super::objective::{DiversityTerm, Weighted};
use super::origin::Origin;
use crate::diversity::{Norm, Set, Space, sign};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// A diversity of −∞, as the logarithm has where candidates coincide, counts as this: its gradient is finite, and a
/// search can leave the place.
const LEAST_DIVERSITY: f64 = -1e6;
/// Candidates nearer than this are as near as it: it keeps the penalty finite.
const LEAST_DISTANCE: f64 = 1e-3;

/// Order in which the candidates of one input are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// All candidates at once, each diverse from all others.
    #[default]
    Simultaneous,
    /// One candidate after another, each diverse from those before.
    Sequential,
    /// One candidate after another, each pushed away from those before by a penalty λ / ρ.
    Penalty,
}

/// What was found for one input so far, as the space of the diversity sees it, point after point.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub points: Vec<f32>,
}

/// A diversity term at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coupling {
    pub term: Weighted<DiversityTerm>,
    pub order: Order,
}

impl Coupling {
    pub fn space(&self) -> Space {
        self.term.1.space
    }

    /// What the points of one input add to its objective, and the gradient by them.
    pub fn at(&self, points: &[f32], width: usize, origin: &Origin, found: Option<&Found>) -> Result<(f64, Vec<f64>)> {
        let Weighted(weight, term) = self.term;
        let weight = f64::from(weight);
        let before = found.map_or(&[][..], |found| &found.points);
        match self.order {
            Order::Simultaneous => diversity(term, points, width, origin, -weight * (points.len() / width) as f64),
            Order::Sequential => {
                let all = [before, points].concat();
                let (amount, gradient) = diversity(term, &all, width, origin, -weight)?;
                Ok((amount, gradient[before.len()..].to_vec()))
            }
            Order::Penalty => Ok(penalty(points, before, weight, term.distance)),
        }
    }
}

fn diversity(
    DiversityTerm { metric, space, distance }: DiversityTerm,
    points: &[f32],
    width: usize,
    origin: &Origin,
    factor: f64,
) -> Result<(f64, Vec<f64>)> {
    let set = Set { points, width, original: origin.point(space) };
    let (value, gradient) = metric.value_and_gradient_by(&set, distance)?;
    let value = if value == f64::NEG_INFINITY { LEAST_DIVERSITY } else { value };
    Ok((factor * value, gradient.into_iter().map(|g| factor * g).collect()))
}

/// Σ λ / d and its gradient: −λ (z − z') / d³ of the ℓ2 distance, −λ sign(z − z') / d² of the ℓ1 distance.
fn penalty(point: &[f32], found: &[f32], weight: f64, norm: Norm) -> (f64, Vec<f64>) {
    let mut amount = 0.0;
    let mut gradient = vec![0.0; point.len()];
    for other in found.chunks_exact(point.len()) {
        let difference: Vec<f64> = point.iter().zip(other).map(|(&a, &b)| f64::from(a) - f64::from(b)).collect();
        let distance = match norm {
            Norm::L2 => difference.iter().map(|d| d * d).sum::<f64>().sqrt(),
            Norm::L1 => difference.iter().map(|d| d.abs()).sum(),
        };
        let distance = distance.max(LEAST_DISTANCE);
        amount += weight / distance;
        for (g, d) in gradient.iter_mut().zip(&difference) {
            *g -= match norm {
                Norm::L2 => weight * d / distance.powi(3),
                Norm::L1 => weight * sign(*d) / distance.powi(2),
            };
        }
    }
    (amount, gradient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_penalty_is_the_weight_over_the_distance() {
        // Distance 5: 2 / 5, gradient −2 (3, 4) / 125.
        let (amount, gradient) = penalty(&[3.0, 4.0], &[0.0, 0.0], 2.0, Norm::L2);
        assert!((amount - 0.4).abs() < 1e-12);
        assert!((gradient[0] + 0.048).abs() < 1e-12 && (gradient[1] + 0.064).abs() < 1e-12);
    }

    #[test]
    fn a_penalty_by_the_sum_of_differences_has_its_own_slope() {
        // Distance 3 + 5 = 8: 2 / 8, gradient −2 (1, −1) / 64.
        let (amount, gradient) = penalty(&[3.0, -5.0], &[0.0, 0.0], 2.0, Norm::L1);
        assert_eq!((amount, gradient), (0.25, vec![-0.03125, 0.03125]));
    }

    #[test]
    fn a_penalty_stays_finite_where_candidates_meet() {
        for norm in Norm::ALL {
            let (amount, gradient) = penalty(&[1.0], &[1.0], 1.0, norm);
            assert!(amount.is_finite() && gradient[0].is_finite());
        }
    }
}
