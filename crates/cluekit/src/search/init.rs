//! Where searches start. [Ley2022, App. B, "Initialisation Schemes"]
//!
//! | scheme | name | start |
//! |---|---|---|
//! | S1 | `random-radius` | random direction, radius from U(0, r) |
//! | S2 | `nearest-path` | on the line to the nearest certain training point of each class, at fractions j/m of r |
//! | S3 | `gaussian-radius` | random direction, radius from \|N(0, r²/4)\|, cut off at r |
//! | S4 | `uniform-ball` | uniform in the ball of radius r, drawn exactly as direction × r U^{1/d} |
//! | S5 | `class-path` | on the path of ∇_z p(class) out to r, at fractions j/m of its length |
//!
//! With k starts and Y classes m = ⌊k/Y⌋; what is left over goes to the classes that the model holds most likely.

use super::certain::Certain;
use super::descent::Descent;
use super::origin::Origin;
use super::path;
use crate::error::{Error, Result};
use crate::seed::{Rng, Seed};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

crate::named! {
    "init", "a scheme of starts";
    /// A scheme of starting points.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum InitScheme {
        /// S1: a random direction, and a radius uniform between 0 and r.
        RandomRadius = "random-radius",
        /// S2: on the lines to the nearest certain training point of each class.
        NearestPath = "nearest-path",
        /// S3: a random direction, and a radius from a half-normal of deviation r/2, cut off at r.
        GaussianRadius = "gaussian-radius",
        /// S4: uniform in the ball of radius r.
        UniformBall = "uniform-ball",
        /// S5: on the paths along which the probability of each class rises.
        ClassPath = "class-path",
    }
}

/// Settings of the points where the candidates of an input start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Starts {
    /// Schemes of starting points; candidates are shared out evenly among them.
    pub schemes: Vec<InitScheme>,
    /// Radius r around z₀; none for the radius δ of the ball.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f32>,
    /// Greatest length of a random move of each start; 0 by default.
    pub jitter: f32,
    /// Number n_i of steps of gradient ascent on the diversity before the search begins; 0 by default.
    pub spread: usize,
    /// Positions of the classes that paths lead to; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<usize>,
}

impl Default for Starts {
    fn default() -> Self {
        Self { schemes: vec![InitScheme::RandomRadius], radius: None, jitter: 0.0, spread: 0, classes: vec![] }
    }
}

impl Starts {
    /// Starts that all lie at z₀ itself.
    pub fn at_the_input() -> Self {
        Self { radius: Some(0.0), ..Self::default() }
    }

    /// An error if a setting cannot be used.
    pub fn validate(&self) -> Result<()> {
        let length = |key: &str, value: f32| match value >= 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(Error::setting(key, format!("must be 0 or a positive number, got {value}"))),
        };
        length("radius", self.radius.unwrap_or(0.0))?;
        length("jitter", self.jitter)?;
        match self.schemes.is_empty() {
            true => Err(Error::setting("init", "needs at least one scheme of starts")),
            false => Ok(()),
        }
    }

    /// `count` starting codes for each origin; every input draws from its own stream of `seed`.
    pub(super) fn draw(&self, descent: &Descent, count: usize, seed: Seed) -> Result<Vec<Vec<Vec<f32>>>> {
        let origins = descent.origins;
        let shares = shared_out(count, self.schemes.len());
        let mut rngs: Vec<Rng> = origins.iter().map(|o| seed.numbered("search: starts", o.index as u64)).collect();
        let mut starts: Vec<Vec<Vec<f32>>> = vec![Vec::with_capacity(count); origins.len()];
        for (&scheme, &share) in self.schemes.iter().zip(&shares) {
            let drawn = self.of_scheme(scheme, descent, share, &mut rngs)?;
            starts.iter_mut().zip(drawn).for_each(|(all, new)| all.extend(new));
        }
        for ((starts, origin), rng) in starts.iter_mut().zip(origins).zip(&mut rngs) {
            for z in starts {
                if self.jitter > 0.0 {
                    let radius = f64::from(self.jitter) * uniform_in_ball(rng, z.len());
                    *z = along(z, &direction(rng, z.len()), radius);
                }
                origin.ball.project(z, &origin.z);
            }
        }
        Ok(starts)
    }

    fn of_scheme(
        &self,
        scheme: InitScheme,
        descent: &Descent,
        count: usize,
        rngs: &mut [Rng],
    ) -> Result<Vec<Vec<Vec<f32>>>> {
        let origins = descent.origins;
        let radii: Vec<f32> = origins.iter().map(|origin| self.reach(origin)).collect();
        let random = |radius: fn(&mut Rng, usize) -> f64, rngs: &mut [Rng]| {
            let of_input = |((origin, rng), r): ((&Origin, &mut Rng), &f32)| {
                let latent = origin.z.len();
                let start = |_| {
                    let length = f64::from(*r) * radius(rng, latent);
                    along(&origin.z, &direction(rng, latent), length)
                };
                (0..count).map(start).collect()
            };
            origins.iter().zip(rngs).zip(&radii).map(of_input).collect()
        };
        Ok(match scheme {
            InitScheme::RandomRadius => random(uniform, rngs),
            InitScheme::GaussianRadius => random(half_normal, rngs),
            InitScheme::UniformBall => random(uniform_in_ball, rngs),
            InitScheme::NearestPath => {
                let certain = descent.background.certain.as_ref().ok_or_else(|| {
                    Error::data("starts on the way to certain training points need training rows; none were given")
                })?;
                let of_input = |(origin, &r): (&Origin, &f32)| self.nearest_paths(origin, r, count, certain);
                origins.iter().zip(&radii).map(of_input).collect::<Result<_>>()?
            }
            InitScheme::ClassPath => path::class_paths(descent, &radii, count, &self.classes)?,
        })
    }

    /// r: as given, else δ; 0 where neither is.
    fn reach(&self, origin: &Origin) -> f32 {
        self.radius.or(origin.ball.bound()).unwrap_or(0.0)
    }

    fn nearest_paths(&self, origin: &Origin, r: f32, count: usize, certain: &Certain) -> Result<Vec<Vec<f32>>> {
        let wanted = |class: &usize| self.classes.is_empty() || self.classes.contains(class);
        let order = by_probability(&origin.prediction, origin.nearest.len());
        let ends: Vec<&[f32]> = order
            .iter()
            .filter(|class| wanted(class))
            .filter_map(|&class| Some(origin.nearest[class].as_ref()?.z.as_slice()))
            .collect();
        if ends.is_empty() {
            return Err(certain.missing());
        }
        let mut starts = Vec::with_capacity(count);
        for (end, steps) in ends.iter().zip(shared_out(count, ends.len())) {
            let towards = unit(end.iter().zip(&origin.z).map(|(&a, &b)| f64::from(a) - f64::from(b)).collect());
            let fraction = |j: usize| f64::from(r) * j as f64 / steps as f64;
            starts.extend((1..=steps).map(|j| along(&origin.z, &towards, fraction(j))));
        }
        Ok(starts)
    }
}

/// `count` things over `places` places: ⌊count / places⌋ each, and one more for the first ones until none is left.
pub(super) fn shared_out(count: usize, places: usize) -> Vec<usize> {
    (0..places).map(|place| count / places + usize::from(place < count % places)).collect()
}

/// Classes from the most to the least probable; a prediction that is no distribution keeps their order.
pub(super) fn by_probability(prediction: &[f32], classes: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..classes).collect();
    if prediction.len() == classes {
        order.sort_by(|&a, &b| prediction[b].total_cmp(&prediction[a]));
    }
    order
}

/// `from` + `length` × `direction`.
pub(super) fn along(from: &[f32], direction: &[f64], length: f64) -> Vec<f32> {
    from.iter().zip(direction).map(|(&z, d)| (f64::from(z) + length * d) as f32).collect()
}

/// A random direction: a normal vector of length 1.
pub(super) fn direction(rng: &mut Rng, latent: usize) -> Vec<f64> {
    unit(StandardNormal.sample_iter(rng).take(latent).collect())
}

/// The vector with length 1; a zero vector stays as it is.
pub(super) fn unit(vector: Vec<f64>) -> Vec<f64> {
    let length = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
    if length > 0.0 { vector.into_iter().map(|v| v / length).collect() } else { vector }
}

/// S1: U(0, 1).
fn uniform(rng: &mut Rng, _: usize) -> f64 {
    rng.random()
}

/// S3: |N(0, ¼)|, drawn again while above 1.
fn half_normal(rng: &mut Rng, _: usize) -> f64 {
    loop {
        let draw: f64 = StandardNormal.sample(rng);
        if draw.abs() <= 2.0 {
            return draw.abs() / 2.0;
        }
    }
}

/// S4: the radius of a point that is uniform in the unit ball.
pub(super) fn uniform_in_ball(rng: &mut Rng, latent: usize) -> f64 {
    rng.random::<f64>().powf(1.0 / latent as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_dropped_when_starts_are_shared_out() {
        assert_eq!(shared_out(10, 4), [3, 3, 2, 2]);
        assert_eq!(shared_out(2, 4), [1, 1, 0, 0]);
    }

    /// Checks that `draws` come from the distribution function `f`, by Kolmogorov and Smirnov's greatest gap.
    fn assert_distribution(mut draws: Vec<f64>, f: impl Fn(f64) -> f64) {
        draws.sort_by(f64::total_cmp);
        let n = draws.len() as f64;
        let gap =
            draws.iter().enumerate().map(|(i, &d)| (f(d) - i as f64 / n).abs().max((f(d) - (i + 1) as f64 / n).abs()));
        let gap = gap.fold(0.0, f64::max);
        // A true distribution exceeds 1.95 / √n once in a thousand times.
        assert!(gap < 1.95 / n.sqrt(), "greatest gap {gap} of {n} draws");
    }

    fn radii(radius: fn(&mut Rng, usize) -> f64, latent: usize) -> Vec<f64> {
        let mut rng = Seed(5).stream("test");
        (0..5000).map(|_| radius(&mut rng, latent)).collect()
    }

    /// The integral of the normal density from 0 to x by Simpson's rule.
    fn normal_area(x: f64) -> f64 {
        let density = |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let (steps, h) = (200, x / 200.0);
        let weight = |i: usize| {
            if i == 0 || i == steps {
                1.0
            } else if i % 2 == 1 {
                4.0
            } else {
                2.0
            }
        };
        (0..=steps).map(|i| weight(i) * density(i as f64 * h)).sum::<f64>() * h / 3.0
    }

    #[test]
    fn radii_follow_their_distributions() {
        assert_distribution(radii(uniform, 20), |r| r);
        assert_distribution(radii(half_normal, 20), |r| normal_area(2.0 * r) / normal_area(2.0));
        for latent in [2, 20] {
            assert_distribution(radii(uniform_in_ball, latent), |r| r.powi(latent as i32));
        }
    }

    #[test]
    fn directions_have_length_one_and_no_favourite() {
        let mut rng = Seed(6).stream("test");
        let draws: Vec<Vec<f64>> = (0..4000).map(|_| direction(&mut rng, 3)).collect();
        assert!(draws.iter().all(|d| (d.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-12));
        // On a sphere in three dimensions each coordinate is uniform between −1 and 1 (Archimedes).
        for axis in 0..3 {
            assert_distribution(draws.iter().map(|d| d[axis]).collect(), |v| (v + 1.0) / 2.0);
        }
    }

    #[test]
    fn an_unknown_scheme_lists_the_choices() {
        let problem = "random".parse::<InitScheme>().unwrap_err().to_string();
        assert!(problem.contains("choose one of random-radius, nearest-path, gaussian-radius"), "{problem}");
    }
}
