//! What holds the candidates of one input apart. [Ley2022, Alg. 1, App. D]
//!
//! | order | added to the objective |
//! |---|---|
//! | simultaneous | −k λ_D D(z₁ … z_k), all candidates at once |
//! | sequential | −λ_D D(Z ∪ z), one at a time; the paper prints +λ_D, which would bring them together |
//! | penalty | Σ_{z' ∈ Z} λ_D / ρ(z, z'), one at a time |

use super::objective::{DiversityTerm, Weighted};
use super::origin::Origin;
use crate::diversity::{Diversity, Set, Space};
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
        let Weighted(weight, DiversityTerm { metric, space }) = self.term;
        let weight = f64::from(weight);
        let before = found.map_or(&[][..], |found| &found.points);
        match self.order {
            Order::Simultaneous => {
                diversity(metric, points, width, origin.point(space), -weight * (points.len() / width) as f64)
            }
            Order::Sequential => {
                let all = [before, points].concat();
                let (amount, gradient) = diversity(metric, &all, width, origin.point(space), -weight)?;
                Ok((amount, gradient[before.len()..].to_vec()))
            }
            Order::Penalty => Ok(penalty(points, before, width, weight)),
        }
    }
}

fn diversity(
    metric: Diversity,
    points: &[f32],
    width: usize,
    original: Option<&[f32]>,
    factor: f64,
) -> Result<(f64, Vec<f64>)> {
    let (value, gradient) = metric.value_and_gradient(&Set { points, width, original })?;
    let value = if value == f64::NEG_INFINITY { LEAST_DIVERSITY } else { value };
    Ok((factor * value, gradient.into_iter().map(|g| factor * g).collect()))
}

/// Σ λ / ρ and its gradient −λ (z − z') / ρ³.
fn penalty(point: &[f32], found: &[f32], width: usize, weight: f64) -> (f64, Vec<f64>) {
    let mut amount = 0.0;
    let mut gradient = vec![0.0; width];
    for other in found.chunks_exact(width) {
        let difference: Vec<f64> = point.iter().zip(other).map(|(&a, &b)| f64::from(a) - f64::from(b)).collect();
        let distance = difference.iter().map(|d| d * d).sum::<f64>().sqrt().max(LEAST_DISTANCE);
        amount += weight / distance;
        for (g, d) in gradient.iter_mut().zip(&difference) {
            *g -= weight * d / distance.powi(3);
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
        let (amount, gradient) = penalty(&[3.0, 4.0], &[0.0, 0.0], 2, 2.0);
        assert!((amount - 0.4).abs() < 1e-12);
        assert!((gradient[0] + 0.048).abs() < 1e-12 && (gradient[1] + 0.064).abs() < 1e-12);
    }

    #[test]
    fn a_penalty_stays_finite_where_candidates_meet() {
        let (amount, gradient) = penalty(&[1.0], &[1.0], 1, 1.0);
        assert!(amount.is_finite() && gradient[0].is_finite());
    }
}
