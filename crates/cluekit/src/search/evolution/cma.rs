//! One normal distribution that evolves towards less loss: CMA-ES, ask and tell. [Hansen2016]
//!
//! ```text
//! ask    xᵢ = m + σ L zᵢ,  zᵢ ~ N(0, I),  C = L Lᵀ,  i = 1 … λ = 4 + ⌊3 ln n⌋
//! tell   yᵢ = (xᵢ − m) / σ,  the best first;  ȳ = Σ wᵢ yᵢ over the better half;  m ← m + σ ȳ
//!        p_σ ← (1 − c_σ) p_σ + √(c_σ (2 − c_σ) μ_w) L⁻¹ ȳ       σ ← σ exp((c_σ / d_σ)(‖p_σ‖ / E‖N(0, I)‖ − 1))
//!        p_c ← (1 − c_c) p_c + h √(c_c (2 − c_c) μ_w) ȳ         C ← (1 − c₁ − c_μ) C + c₁ p_c p_cᵀ + c_μ Σ wᵢ yᵢ yᵢᵀ
//! ```
//!
//! Only the order of the losses counts, so that plateaus and jumps, as trees have them, do no harm. Points may be moved
//! between ask and tell, such as into a ball: the distribution learns from where they were moved to.

use crate::linear::{Cholesky, Matrix};
use crate::seed::Rng;
use rand_distr::{Distribution, StandardNormal};

/// A standard deviation of so little is a point.
const POINT: f64 = 1e-6;
/// σ never grows beyond so many times what it was.
const GREATEST: f64 = 1e4;

/// What follows from the number of dimensions alone.
#[derive(Clone, Debug)]
struct Rates {
    /// Weights wᵢ of the better half, which sum to one.
    weights: Vec<f64>,
    /// 1 / Σ wᵢ².
    mu: f64,
    sigma: f64,
    damping: f64,
    path: f64,
    one: f64,
    many: f64,
    /// E‖N(0, I)‖.
    length: f64,
}

impl Rates {
    fn new(n: f64, offspring: usize) -> Self {
        let half = (offspring as f64 + 1.0) / 2.0;
        let raw: Vec<f64> = (1..=offspring / 2).map(|i| half.ln() - (i as f64).ln()).collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.into_iter().map(|w| w / sum).collect();
        let mu = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        let sigma = (mu + 2.0) / (n + mu + 5.0);
        let one = 2.0 / ((n + 1.3).powi(2) + mu);
        Self {
            damping: 1.0 + sigma + 2.0 * (((mu - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0),
            path: (4.0 + mu / n) / (n + 4.0 + 2.0 * mu / n),
            many: (2.0 * (mu - 2.0 + 1.0 / mu) / ((n + 2.0).powi(2) + mu)).min(1.0 - one),
            length: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
            weights,
            mu,
            sigma,
            one,
        }
    }
}

/// A distribution N(m, σ² C) on its way.
pub struct Cma {
    rates: Rates,
    offspring: usize,
    mean: Vec<f64>,
    sigma: f64,
    most: f64,
    covariance: Matrix,
    factor: Cholesky,
    path: Vec<f64>,
    path_of_sigma: Vec<f64>,
    generation: usize,
}

/// λ = 4 + ⌊3 ln n⌋: points of one generation.
pub fn offspring(dimensions: usize) -> usize {
    4 + (3.0 * (dimensions as f64).ln()) as usize
}

impl Cma {
    /// The distribution N(mean, sigma² I).
    pub fn new(mean: Vec<f64>, sigma: f64) -> Self {
        let n = mean.len();
        let covariance = Matrix::symmetric(n, |row, column| f64::from(u8::from(row == column)));
        Self {
            rates: Rates::new(n as f64, offspring(n)),
            offspring: offspring(n),
            factor: Cholesky::of_definite(&covariance),
            path: vec![0.0; n],
            path_of_sigma: vec![0.0; n],
            generation: 0,
            most: GREATEST * sigma,
            covariance,
            mean,
            sigma,
        }
    }

    /// The points of the next generation, λ of them.
    pub fn ask(&self, rng: &mut Rng) -> Vec<Vec<f64>> {
        let point = |_| {
            let z: Vec<f64> = StandardNormal.sample_iter(&mut *rng).take(self.mean.len()).collect();
            self.mean.iter().zip(self.factor.times(&z)).map(|(m, y)| m + self.sigma * y).collect()
        };
        (0..self.offspring).map(point).collect()
    }

    /// Learns from the losses of a generation; a loss that is no number counts as the worst.
    pub fn tell(&mut self, points: &[Vec<f64>], losses: &[f64]) {
        let rank = |at: usize| if losses[at].is_nan() { f64::INFINITY } else { losses[at] };
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| rank(a).total_cmp(&rank(b)).then(a.cmp(&b)));
        let step = |&at: &usize| points[at].iter().zip(&self.mean).map(|(x, m)| (x - m) / self.sigma).collect();
        let steps: Vec<Vec<f64>> = order.iter().take(self.rates.weights.len()).map(step).collect();
        let mut together = vec![0.0; self.mean.len()];
        for (step, weight) in steps.iter().zip(&self.rates.weights) {
            together.iter_mut().zip(step).for_each(|(sum, y)| *sum += weight * y);
        }
        self.mean.iter_mut().zip(&together).for_each(|(m, y)| *m += self.sigma * y);
        self.generation += 1;
        self.lengthen(&together);
        self.turn(&together, &steps);
    }

    /// A mean step that goes on in one direction makes σ grow.
    fn lengthen(&mut self, together: &[f64]) {
        let Rates { mu, sigma: rate, damping, length, .. } = self.rates;
        let gain = (rate * (2.0 - rate) * mu).sqrt();
        let unturned = self.factor.solved(together);
        self.path_of_sigma.iter_mut().zip(unturned).for_each(|(p, y)| *p = (1.0 - rate) * *p + gain * y);
        let growth = (rate / damping) * (norm(&self.path_of_sigma) / length - 1.0);
        self.sigma = (self.sigma * growth.min(1.0).exp()).min(self.most);
    }

    /// Steps that did well become likelier.
    fn turn(&mut self, together: &[f64], steps: &[Vec<f64>]) {
        let Rates { ref weights, mu, sigma: rate, path, one, many, length, .. } = self.rates;
        let n = self.mean.len();
        let begun = (1.0 - (1.0 - rate).powi(2 * self.generation as i32)).sqrt();
        let goes_on = norm(&self.path_of_sigma) / begun < (1.4 + 2.0 / (n as f64 + 1.0)) * length;
        let gain = if goes_on { (path * (2.0 - path) * mu).sqrt() } else { 0.0 };
        self.path.iter_mut().zip(together).for_each(|(p, y)| *p = (1.0 - path) * *p + gain * y);
        // Where p_c stands still C does not shrink for it.
        let missing = if goes_on { 0.0 } else { one * path * (2.0 - path) };
        let kept = 1.0 - one - many + missing;
        let old = &self.covariance;
        self.covariance = Matrix::symmetric(n, |i, j| {
            let of_steps: f64 = steps.iter().zip(weights).map(|(y, w)| w * y[i] * y[j]).sum();
            kept * old[(i, j)] + one * self.path[i] * self.path[j] + many * of_steps
        });
        self.factor = Cholesky::of_definite(&self.covariance);
    }

    /// Whether the distribution has shrunk to a point, or is none any more.
    pub fn has_ended(&self) -> bool {
        let widest = self.covariance.diagonal().fold(0.0, f64::max).sqrt();
        let spread = self.sigma * widest;
        !(spread > POINT && spread.is_finite())
    }
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// Evaluations until the loss is below 10⁻¹⁰, from (1, …, 1) with σ = 0.5.
    fn evaluations(n: usize, seed: u64, loss: impl Fn(&[f64]) -> f64) -> f64 {
        let mut cma = Cma::new(vec![1.0; n], 0.5);
        let mut rng = Seed(seed).stream("test");
        let mut count = 0;
        while count < 100_000 {
            let points = cma.ask(&mut rng);
            let losses: Vec<f64> = points.iter().map(|x| loss(x)).collect();
            count += losses.len();
            if losses.iter().any(|&loss| loss < 1e-10) {
                return count as f64;
            }
            cma.tell(&points, &losses);
        }
        f64::INFINITY
    }

    fn mean_evaluations(n: usize, loss: impl Fn(&[f64]) -> f64) -> f64 {
        (0..20).map(|seed| evaluations(n, seed, &loss)).sum::<f64>() / 20.0
    }

    fn sphere(x: &[f64]) -> f64 {
        x.iter().map(|x| x * x).sum()
    }

    /// Σ 10^{4 i / (n − 1)} xᵢ².
    fn ellipsoid(x: &[f64]) -> f64 {
        let last = (x.len() - 1) as f64;
        x.iter().enumerate().map(|(i, x)| 10f64.powf(4.0 * i as f64 / last) * x * x).sum()
    }

    /// The ellipsoid, mirrored at the plane across (1, 2, …, n).
    fn turned_ellipsoid(x: &[f64]) -> f64 {
        let across: Vec<f64> = (1..=x.len()).map(|i| i as f64).collect();
        let share = 2.0 * x.iter().zip(&across).map(|(x, a)| x * a).sum::<f64>() / sphere(&across);
        ellipsoid(&x.iter().zip(&across).map(|(x, a)| x - share * a).collect::<Vec<_>>())
    }

    #[test]
    fn so_many_points_make_a_generation() {
        assert_eq!([1, 8, 20, 32].map(offspring), [4, 10, 12, 14]);
    }

    #[test]
    fn the_weights_of_ten_points_are_those_of_the_textbook() {
        // ln 5.5 − ln i for i = 1 … 5, over their sum 3.736: μ_w = 3.167.
        let Rates { weights, mu, .. } = Rates::new(8.0, 10);
        for (weight, expected) in weights.iter().zip([0.4563, 0.2708, 0.1622, 0.0852, 0.0255]) {
            assert!((weight - expected).abs() < 1e-4, "{weights:?}");
        }
        assert!((mu - 3.167).abs() < 1e-3, "{mu}");
    }

    #[test]
    fn bowls_take_as_many_evaluations_as_the_reference_implementation_needs() {
        // Means over 100 seeds of the reference implementation; tests/reference/evolution.py measures them.
        for (name, loss, expected) in [
            ("sphere", &sphere as &dyn Fn(&[f64]) -> f64, REFERENCE[0]),
            ("ellipsoid", &ellipsoid, REFERENCE[1]),
            ("turned ellipsoid", &turned_ellipsoid, REFERENCE[2]),
        ] {
            let count = mean_evaluations(8, loss);
            assert!((count / expected - 1.0).abs() < 0.1, "{name}: {count} evaluations, expected {expected}");
        }
    }

    /// Mean evaluations for the sphere, the ellipsoid and the turned ellipsoid in 8 dimensions.
    const REFERENCE: [f64; 3] = [1321.0, 2923.0, 2968.0];

    #[test]
    fn only_the_order_of_the_losses_counts() {
        let run = |loss: fn(&[f64]) -> f64| {
            let mut cma = Cma::new(vec![1.0; 3], 0.5);
            let mut rng = Seed(1).stream("test");
            for _ in 0..80 {
                let points = cma.ask(&mut rng);
                cma.tell(&points, &points.iter().map(|x| loss(x)).collect::<Vec<_>>());
            }
            cma.mean
        };
        assert_eq!(run(sphere), run(|x| sphere(x).sqrt() * 7.0 - 3.0));
        assert!(norm(&run(sphere)) < 1e-3);
    }

    #[test]
    fn losses_that_are_no_numbers_are_the_worst() {
        let mut cma = Cma::new(vec![1.0; 2], 0.5);
        let mut rng = Seed(2).stream("test");
        for _ in 0..80 {
            let points = cma.ask(&mut rng);
            // Nothing is known where the first coordinate is negative.
            let loss = |x: &Vec<f64>| if x[0] < 0.0 { -f64::NAN } else { sphere(x) };
            cma.tell(&points, &points.iter().map(loss).collect::<Vec<_>>());
        }
        assert!(norm(&cma.mean) < 1e-2, "{:?}", cma.mean);
    }

    #[test]
    fn a_distribution_that_has_shrunk_to_a_point_has_ended() {
        let mut cma = Cma::new(vec![1.0; 2], 0.5);
        let mut rng = Seed(3).stream("test");
        let mut generations = 0;
        while !cma.has_ended() {
            let points = cma.ask(&mut rng);
            cma.tell(&points, &points.iter().map(|x| sphere(x)).collect::<Vec<_>>());
            generations += 1;
        }
        assert!((20..200).contains(&generations), "{generations}");
    }
}
