//! The δ-ball: every candidate stays within ρ(z, z₀) = ‖z − z₀‖₂ ≤ δ. [Ley2022, Alg. 3]
//!
//! After each update z ← z₀ + δ (z − z₀) / ρ where ρ > δ. (The paper prints it without `z₀ +`, a misprint.)

use crate::distance::latent_distance;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// f32 can miss the shell by a rounding: a candidate within this share of δ is inside.
const ROUNDING: f64 = 1e-5;
/// And of the length of z₀, which f32 cannot tell from nothing.
const RESOLUTION: f64 = 4.0 * f32::EPSILON as f64;

/// A ball around z₀ in latent space.
///
/// ```
/// use cluekit::search::LatentBall;
///
/// let mut z = [3.0, 4.0];
/// LatentBall::new(1.0)?.project(&mut z, &[0.0, 0.0]);
/// assert_eq!(z, [0.6, 0.8]);
/// assert!(LatentBall::new(-1.0).is_err());
/// # Ok::<(), cluekit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f32", into = "f32")]
pub struct LatentBall {
    radius: f32,
}

impl TryFrom<f32> for LatentBall {
    type Error = Error;

    fn try_from(radius: f32) -> Result<Self> {
        Self::new(radius)
    }
}

impl From<LatentBall> for f32 {
    fn from(ball: LatentBall) -> Self {
        ball.radius
    }
}

impl LatentBall {
    /// The whole latent space: CLUE without a bound.
    pub const UNBOUNDED: Self = Self { radius: f32::INFINITY };

    /// The ball of radius δ > 0; δ = ∞ is the whole space.
    pub fn new(radius: f32) -> Result<Self> {
        if radius > 0.0 {
            return Ok(Self { radius });
        }
        let remedy = "give a positive radius, `auto`, or `inf` for none";
        Err(Error::setting("delta", format!("the latent ball needs a positive radius, got {radius}; {remedy}")))
    }

    /// Radius δ of the ball; infinite for the whole space.
    pub fn radius(self) -> f32 {
        self.radius
    }

    /// Radius δ of the ball; none for the whole space.
    pub fn bound(self) -> Option<f32> {
        self.radius.is_finite().then_some(self.radius)
    }

    /// Pulls `z` back onto the shell if it lies outside.
    pub fn project(self, z: &mut [f32], centre: &[f32]) {
        let distance = latent_distance(z, centre);
        let radius = f64::from(self.radius);
        if distance <= radius {
            return;
        }
        for (z, &c) in z.iter_mut().zip(centre) {
            *z = (f64::from(c) + (f64::from(*z) - f64::from(c)) * radius / distance) as f32;
        }
    }

    /// Whether ρ(z, z₀) ≤ δ, up to the rounding of f32.
    pub fn contains(self, z: &[f32], centre: &[f32]) -> bool {
        let length = centre.iter().map(|&c| f64::from(c).powi(2)).sum::<f64>().sqrt();
        latent_distance(z, centre) <= f64::from(self.radius) * (1.0 + ROUNDING) + RESOLUTION * length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_outside_come_back_along_their_ray() {
        // Five away from (1, 1) in direction (3, 4) / 5; the shell of radius 2 is met at (1 + 6/5, 1 + 8/5).
        let mut z = [4.0, 5.0];
        LatentBall::new(2.0).unwrap().project(&mut z, &[1.0, 1.0]);
        assert!((z[0] - 2.2).abs() < 1e-6 && (z[1] - 2.6).abs() < 1e-6, "{z:?}");
    }

    #[test]
    fn projection_leaves_inside_points_alone() {
        let mut z = [1.5, 1.25];
        LatentBall::new(2.0).unwrap().project(&mut z, &[1.0, 1.0]);
        assert_eq!(z, [1.5, 1.25]);
        let mut far = [1e30, -1e30];
        LatentBall::UNBOUNDED.project(&mut far, &[0.0, 0.0]);
        assert_eq!(far, [1e30, -1e30]);
    }

    #[test]
    fn what_is_projected_is_inside_however_small_the_ball() {
        for radius in [1e-7, 1e-4, 1.0, 1e4] {
            let (ball, centre) = (LatentBall::new(radius).unwrap(), [3.1, -2.7, 0.004]);
            let mut z = [9.3, 4.4, -7.7];
            ball.project(&mut z, &centre);
            assert!(ball.contains(&z, &centre), "{radius}");
        }
    }

    #[test]
    fn a_radius_must_be_positive() {
        for radius in [0.0, -1.0, f32::NAN] {
            let problem = LatentBall::new(radius).unwrap_err().to_string();
            assert!(problem.contains("needs a positive radius"), "{problem}");
        }
    }
}
