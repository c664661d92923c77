//! Gaussian mixtures whose number of components is chosen by BIC: how many modes does a set of points have?
//!
//! p(x) = Σ_c w_c N(x; m_c, s_c² I),  BIC = −2 log L + p log n,  p = K (d + 1) + K − 1:
//! K means of d numbers, K variances, K weights that sum to one. \[Schwarz1978\]
//!
//! Components are spherical because a full covariance cannot be estimated from fewer points than dimensions, which
//! is our usual case and the reason why linfa's full-covariance mixture does not serve.
//!
//! A component that shrinks onto one point has an unbounded likelihood, so variances are shrunk towards the variance
//! s² of the whole set, as an inverse gamma prior on them would \[Fraley2007\]:
//!
//! s_c² = ((1 − λ) Σᵢ r_ic |xᵢ − m_c|² / d + λ s²) / ((1 − λ) Σᵢ r_ic + λ),  λ = min(1, e² n^−(1 + 2/d)).
//!
//! One component alone keeps s_1² = s², and a component on one point has s_c² = λ s². Taking a point at squared
//! distance q d s² from the mean for itself then gains d (q − log λ) = d (q − 2) + (d + 2) log n in −2 log L and costs
//! (d + 2) log n in BIC: a lone point is a mode when it lies farther out than about √2 times the usual distance.
//!
//! Few points tell BIC little. In many dimensions two to four scattered points come out as two or three modes; of sets
//! of five to ten without structure in two to eight dimensions about half are split at worst, of twenty points a
//! third. Heavy tails count as a wide component around a narrow one.
//!
//! The points are put in order before anything else, so the mixture depends, bit for bit, on the seed and on which
//! points there are, not on how they are arranged.

use crate::seed::Rng;
use rand::RngExt;
use rand::distr::weighted::WeightedIndex;
use std::cmp::{Ordering, Reverse};
use std::f64::consts::{E, TAU};

/// Usual upper limit on the number of components.
pub const MOST: usize = 10;

/// Starts of expectation maximisation for each number of components, and the steps that each gets before the most
/// likely one goes on alone.
const STARTS: usize = 8;
const FIRST_STEPS: usize = 10;
const MOST_STEPS: usize = 200;

/// A step that changes the mean log-likelihood of a point by less has converged.
const TOLERANCE: f64 = 1e-6;

/// Below this variance points count as equal.
const SMALLEST_VARIANCE: f64 = 1e-12;

/// A component with less than this share of one point has lost all of them.
const SMALLEST_SHARE: f64 = 1e-9;

/// Spherical Gaussians fitted to a set of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    /// The components, the heaviest first; empty without points.
    pub components: Vec<Component>,
    /// Bayesian information criterion of the fit: lower is better, 0 if there were no points.
    pub bic: f64,
}

/// One Gaussian w N(m, s² I).
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Share w of the points that belong to the component.
    pub weight: f64,
    /// Centre m of the component.
    pub mean: Vec<f64>,
    /// Variance s² in each dimension.
    pub variance: f64,
}

impl Mixture {
    /// This mixture with every number rounded to f32.
    pub fn in_f32(mut self) -> Self {
        let rounded = |value: f64| f64::from(value as f32);
        for Component { weight, mean, variance } in &mut self.components {
            [*weight, *variance] = [*weight, *variance].map(rounded);
            mean.iter_mut().for_each(|value| *value = rounded(*value));
        }
        self
    }

    /// The most likely of several fits of `components` Gaussians, or of fewer where there are fewer distinct points
    /// or where one loses all its points.
    ///
    /// # Shapes
    /// - `points`: `n × width`, row by row
    ///
    /// # Panics
    /// If `points` is not a whole number of rows of finite numbers.
    ///
    /// ```
    /// use cluekit::Seed;
    /// use cluekit::mixture::Mixture;
    ///
    /// let mixture = Mixture::fit(&[-1.0, 1.0], 1, 1, &mut Seed(0).stream("mixture"));
    /// let component = &mixture.components[0];
    /// assert_eq!((component.weight, component.mean[0], component.variance), (1.0, 0.0, 1.0));
    /// ```
    pub fn fit(points: &[f32], width: usize, components: usize, rng: &mut Rng) -> Self {
        Set::new(points, width).map_or_else(Self::empty, |set| set.fit(components, rng))
    }

    /// The fit with the lowest BIC among 1 to `most` components; the smallest of equals.
    ///
    /// # Shapes
    /// - `points`: `n × width`, row by row
    ///
    /// # Panics
    /// If `points` is not a whole number of rows of finite numbers.
    pub fn by_bic(points: &[f32], width: usize, most: usize, rng: &mut Rng) -> Self {
        let Some(set) = Set::new(points, width) else { return Self::empty() };
        let mut best = set.fit(1, rng);
        for components in 2..=most.min(set.count()) {
            let next = set.fit(components, rng);
            if next.bic < best.bic {
                best = next;
            }
        }
        best
    }

    /// The component most responsible for `point`; the first of equals.
    pub fn assign(&self, point: &[f32]) -> usize {
        let point: Vec<f64> = point.iter().copied().map(f64::from).collect();
        let mut best = (0, f64::NEG_INFINITY);
        for (index, component) in self.components.iter().enumerate() {
            let log_joint = component.log_peak() - component.exponent(&point);
            if log_joint > best.1 {
                best = (index, log_joint);
            }
        }
        best.0
    }

    fn empty() -> Self {
        Self { components: Vec::new(), bic: 0.0 }
    }
}

impl Component {
    /// log w − d/2 log 2πs²: the logarithm of w N(m; m, s² I).
    fn log_peak(&self) -> f64 {
        self.weight.ln() - 0.5 * self.mean.len() as f64 * (TAU * self.variance).ln()
    }

    /// |x − m|² / 2s².
    fn exponent(&self, point: &[f64]) -> f64 {
        squared_distance(point, &self.mean) / (2.0 * self.variance)
    }
}

/// Groups of point indices by the mixture with the lowest BIC: one group for each mode, the largest first (of equal
/// ones that with the earliest point), none empty.
///
/// # Shapes
/// - `points`: `n × width`, row by row
///
/// # Panics
/// If `points` is not a whole number of rows of finite numbers.
pub fn clusters(points: &[f32], width: usize, most: usize, rng: &mut Rng) -> Vec<Vec<usize>> {
    let mixture = Mixture::by_bic(points, width, most, rng);
    let mut groups = vec![Vec::new(); mixture.components.len()];
    if !groups.is_empty() {
        for (index, point) in points.chunks_exact(width).enumerate() {
            groups[mixture.assign(point)].push(index);
        }
    }
    groups.retain(|group| !group.is_empty());
    groups.sort_by_key(|group| (Reverse(group.len()), group[0]));
    groups
}

/// The points in lexicographic order, with the variance of them all and how far components are shrunk towards it.
struct Set {
    values: Vec<f64>,
    width: usize,
    variance: f64,  // s²
    shrinkage: f64, // λ
}

/// Where expectation maximisation stands.
struct Fit {
    components: Vec<Component>,
    responsibilities: Vec<f64>, // n × K
    log_likelihood: f64,
}

impl Set {
    /// `None` if there are no points.
    fn new(points: &[f32], width: usize) -> Option<Self> {
        if points.is_empty() {
            return None;
        }
        assert!(width > 0 && points.len().is_multiple_of(width), "{} numbers in rows of {width}", points.len());
        assert!(points.iter().all(|value| value.is_finite()), "a mixture needs finite points");
        let mut rows: Vec<&[f32]> = points.chunks_exact(width).collect();
        rows.sort_by(|a, b| lexicographic(a, b));
        let values: Vec<f64> = rows.concat().into_iter().map(f64::from).collect();
        let count = rows.len() as f64;
        let shrinkage = (E * E * count.powf(-1.0 - 2.0 / width as f64)).min(1.0);
        let mut set = Self { values, width, variance: 0.0, shrinkage };
        let mean = set.weighted_mean(|_| 1.0, count);
        let spread: f64 = set.rows().map(|row| squared_distance(row, &mean)).sum();
        set.variance = (spread / (count * width as f64)).max(SMALLEST_VARIANCE);
        Some(set)
    }

    fn count(&self) -> usize {
        self.values.len() / self.width
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.width)
    }

    fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.width..][..self.width]
    }

    /// Several starts make their first steps, the most likely one goes on until it converges.
    fn fit(&self, components: usize, rng: &mut Rng) -> Mixture {
        let starts = if components > 1 { STARTS } else { 1 }; // one component has one solution
        let mut best = self.start(components, rng);
        for _ in 1..starts {
            let next = self.start(components, rng);
            if next.log_likelihood > best.log_likelihood {
                best = next;
            }
        }
        self.climb(&mut best, MOST_STEPS);
        best.components.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        Mixture { bic: self.bic(&best), components: best.components }
    }

    /// −2 log L + p log n.
    fn bic(&self, fit: &Fit) -> f64 {
        let components = fit.components.len();
        let parameters = components * (self.width + 1) + components - 1;
        -2.0 * fit.log_likelihood + parameters as f64 * (self.count() as f64).ln()
    }

    /// Each point belongs to the nearest of the centres that k-means++ draws; then come the first steps.
    fn start(&self, components: usize, rng: &mut Rng) -> Fit {
        let (owners, centres) = self.nearest_centres(components, rng);
        let mut responsibilities = vec![0.0; self.count() * centres];
        for (row, owner) in responsibilities.chunks_exact_mut(centres).zip(owners) {
            row[owner] = 1.0;
        }
        let components = self.maximise(&responsibilities, centres);
        let mut fit = Fit { components, responsibilities, log_likelihood: f64::NEG_INFINITY };
        self.expect(&mut fit);
        self.climb(&mut fit, FIRST_STEPS);
        fit
    }

    /// k-means++: each next centre is a point drawn in proportion to its squared distance from the centres so far, as
    /// long as there is one apart from them. \[Arthur2007\] Returns the nearest centre of each point, and how many
    /// centres there are.
    fn nearest_centres(&self, most: usize, rng: &mut Rng) -> (Vec<usize>, usize) {
        let first = self.row(rng.random_range(0..self.count()));
        let mut apart: Vec<f64> = self.rows().map(|row| squared_distance(row, first)).collect();
        let mut owners = vec![0; self.count()];
        for centre in 1..most {
            let Ok(next) = WeightedIndex::new(&apart) else { return (owners, centre) };
            let next = self.row(rng.sample(next));
            for ((row, apart), owner) in self.rows().zip(&mut apart).zip(&mut owners) {
                let distance = squared_distance(row, next);
                if distance < *apart {
                    (*apart, *owner) = (distance, centre);
                }
            }
        }
        (owners, most.max(1))
    }

    /// Expectation maximisation until it converges, at most `steps` times.
    fn climb(&self, fit: &mut Fit, steps: usize) {
        for _ in 0..steps {
            let before = fit.log_likelihood;
            fit.components = self.maximise(&fit.responsibilities, fit.components.len());
            self.expect(fit);
            if (fit.log_likelihood - before).abs() < TOLERANCE * self.count() as f64 {
                break;
            }
        }
    }

    /// Expectation: log L = Σᵢ log Σ_c w_c N(xᵢ; m_c, s_c² I) and r_ic, the share of c in the inner sum.
    fn expect(&self, fit: &mut Fit) {
        let components = fit.components.len();
        let log_peaks: Vec<f64> = fit.components.iter().map(Component::log_peak).collect();
        fit.responsibilities.resize(self.count() * components, 0.0);
        fit.log_likelihood = 0.0;
        for (row, shares) in self.rows().zip(fit.responsibilities.chunks_exact_mut(components)) {
            for ((share, component), log_peak) in shares.iter_mut().zip(&fit.components).zip(&log_peaks) {
                *share = log_peak - component.exponent(row);
            }
            fit.log_likelihood += normalise(shares);
        }
    }

    /// Maximisation: the weights, means and shrunk variances that the responsibilities ask for, without the
    /// components that lost all their points.
    fn maximise(&self, responsibilities: &[f64], components: usize) -> Vec<Component> {
        let component = |index: usize| {
            let share = |row: usize| responsibilities[row * components + index];
            let total: f64 = (0..self.count()).map(share).sum();
            (total > SMALLEST_SHARE).then(|| self.component(share, total))
        };
        (0..components).filter_map(component).collect()
    }

    fn component(&self, share: impl Fn(usize) -> f64, total: f64) -> Component {
        let mean = self.weighted_mean(&share, total);
        let squares = |(index, row)| {
            let share = share(index);
            if share > 0.0 { share * squared_distance(row, &mean) } else { 0.0 }
        };
        let spread = self.rows().enumerate().map(squares).sum::<f64>() / self.width as f64;
        let own = 1.0 - self.shrinkage;
        let variance = (own * spread + self.shrinkage * self.variance) / (own * total + self.shrinkage);
        Component { weight: total / self.count() as f64, variance: variance.max(SMALLEST_VARIANCE), mean }
    }

    fn weighted_mean(&self, share: impl Fn(usize) -> f64, total: f64) -> Vec<f64> {
        let mut mean = vec![0.0; self.width];
        for (index, row) in self.rows().enumerate() {
            let share = share(index) / total;
            if share > 0.0 {
                mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += share * value);
            }
        }
        mean
    }
}

/// Turns logarithms into shares that sum to one; returns log Σ exp of what was there.
fn normalise(logs: &mut [f64]) -> f64 {
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logs.iter_mut().for_each(|log| *log = (*log - highest).exp());
    let sum: f64 = logs.iter().sum();
    logs.iter_mut().for_each(|share| *share /= sum);
    highest + sum.ln()
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut lanes = [0.0; 4]; // four sums side by side: no addition waits for the one before
    for (a, b) in a.iter().zip(b) {
        lanes.iter_mut().zip(a).zip(b).for_each(|((lane, a), b)| *lane += (a - b) * (a - b));
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| (a - b) * (a - b)).sum();
    lanes.iter().sum::<f64>() + rest
}

fn lexicographic(a: &[f32], b: &[f32]) -> Ordering {
    a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use rand_distr::StandardNormal;

    /// `count` points around each centre, which is the same number in every dimension.
    fn blobs(centres: &[f32], count: usize, width: usize, deviation: f32, rng: &mut Rng) -> Vec<f32> {
        let mut points = Vec::new();
        for centre in centres {
            points.extend((0..count * width).map(|_| centre + deviation * rng.sample::<f32, _>(StandardNormal)));
        }
        points
    }

    /// The number of modes under each of several seeds.
    fn modes(seeds: u64, width: usize, points: impl Fn(&mut Rng) -> Vec<f32>) -> Vec<usize> {
        let count = |seed| {
            let mut rng = Seed(seed).stream("mixture");
            clusters(&points(&mut rng), width, MOST, &mut rng).len()
        };
        (0..seeds).map(count).collect()
    }

    fn rng() -> Rng {
        Seed(0).stream("mixture")
    }

    fn assert_close(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-9, "{got} is not {expected}");
    }

    #[test]
    fn one_component_on_two_points_has_the_likelihood_of_a_normal() {
        // Mean 0, variance 1: log L = 2 (−½ log 2π − ½), two parameters, so BIC = 2 log 2π + 2 + 2 log 2.
        let mixture = Mixture::fit(&[-1.0, 1.0], 1, 1, &mut rng());
        assert_eq!(mixture.components, [Component { weight: 1.0, mean: vec![0.0], variance: 1.0 }]);
        assert_close(mixture.bic, 2.0 * TAU.ln() + 2.0 + 2.0 * 2_f64.ln());
    }

    #[test]
    fn parameters_are_counted_as_means_variances_and_free_weights() {
        let set = Set::new(&[0.0; 30], 3).unwrap();
        let component = Component { weight: 0.5, mean: vec![0.0; 3], variance: 1.0 };
        let fit = Fit { components: vec![component; 2], responsibilities: Vec::new(), log_likelihood: 0.0 };
        assert_close(set.bic(&fit), 9.0 * 10_f64.ln()); // 2 × 3 + 2 + 1
    }

    #[test]
    fn a_component_on_one_point_keeps_its_share_of_the_overall_variance() {
        // n = 100, d = 2: λ = e² / 100²; one point far from 99 equal ones.
        let mut points = vec![0.0; 198];
        points.extend([10.0, 10.0]);
        let mixture = Mixture::fit(&points, 2, 2, &mut rng());
        let overall = 100.0 * 0.01 * 0.99; // 10² times the variance of a coin that falls one way in a hundred
        assert_close(mixture.components[1].weight, 0.01);
        assert_close(mixture.components[1].variance, E * E / 1e4 * overall);
    }

    #[test]
    fn two_tight_clusters_of_five_in_twenty_dimensions_are_two_modes() {
        assert_eq!(modes(20, 20, |rng| blobs(&[-1.0, 1.0], 5, 20, 0.1, rng)), [2; 20]);
    }

    #[test]
    fn one_blob_in_twenty_dimensions_is_one_mode() {
        assert_eq!(modes(10, 20, |rng| blobs(&[3.0], 100, 20, 1.0, rng)), [1; 10]);
    }

    #[test]
    fn three_blobs_in_the_plane_are_three_modes() {
        assert_eq!(modes(20, 2, |rng| blobs(&[-8.0, 0.0, 8.0], 30, 2, 1.0, rng)), [3; 20]);
    }

    #[test]
    fn ten_points_without_structure_in_twenty_dimensions_are_one_mode() {
        assert_eq!(modes(20, 20, |rng| blobs(&[0.0], 10, 20, 50.0, rng)), [1; 20]);
    }

    #[test]
    fn a_lone_point_far_from_a_tight_cluster_is_a_mode() {
        let mut points = blobs(&[0.0], 9, 20, 0.1, &mut rng());
        points.extend([5.0; 20]);
        assert_eq!(clusters(&points, 20, MOST, &mut rng()), [(0..9).collect(), vec![9]]);
    }

    #[test]
    fn largest_group_comes_first_and_of_equals_that_with_the_earliest_point() {
        let mut points = blobs(&[5.0, 0.0, -5.0], 10, 4, 0.1, &mut rng());
        points.extend(blobs(&[0.0], 1, 4, 0.1, &mut rng()));
        let groups = clusters(&points, 4, MOST, &mut rng());
        assert_eq!(groups, [(10..20).chain([30]).collect::<Vec<_>>(), (0..10).collect(), (20..30).collect()]);
    }

    #[test]
    fn the_order_of_the_points_does_not_move_a_bit() {
        let points = blobs(&[0.0, 2.0, 3.0], 20, 3, 1.0, &mut rng());
        let reversed: Vec<f32> = points.rchunks_exact(3).flatten().copied().collect();
        for components in 1..5 {
            let fit = |points: &[f32]| Mixture::fit(points, 3, components, &mut rng());
            assert_eq!(fit(&points), fit(&reversed));
        }
    }

    #[test]
    fn same_seed_gives_the_same_mixture() {
        let points = blobs(&[0.0, 3.0], 20, 3, 1.0, &mut rng());
        let fit = || Mixture::by_bic(&points, 3, MOST, &mut rng());
        assert_eq!(fit(), fit());
    }

    #[test]
    fn a_point_goes_to_the_first_of_equally_responsible_components() {
        let component = |mean| Component { weight: 0.5, mean: vec![mean], variance: 1.0 };
        let mixture = Mixture { components: vec![component(1.0), component(-1.0)], bic: 0.0 };
        assert_eq!([-0.5, 0.0, 0.5].map(|point| mixture.assign(&[point])), [1, 0, 0]);
    }

    #[test]
    fn no_points_have_no_groups() {
        assert!(clusters(&[], 3, MOST, &mut rng()).is_empty());
        assert_eq!(Mixture::fit(&[], 3, 2, &mut rng()), Mixture::empty());
    }

    #[test]
    fn one_point_and_equal_points_are_one_group() {
        assert_eq!(clusters(&[0.3, -7.1], 2, MOST, &mut rng()), [[0]]);
        assert_eq!(clusters(&[0.3; 24], 2, MOST, &mut rng()), [(0..12).collect::<Vec<_>>()]);
    }

    #[test]
    fn duplicates_of_two_points_are_two_groups() {
        let points = [[0.1, 0.2, 0.3], [0.9, -0.2, 4.0]].repeat(5).concat();
        assert_eq!(clusters(&points, 3, MOST, &mut rng()), [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]);
    }

    #[test]
    fn there_are_never_more_components_than_distinct_points() {
        assert_eq!(Mixture::fit(&[1.0, 2.0, 1.0, 2.0], 1, 9, &mut rng()).components.len(), 2);
    }

    #[test]
    fn finite_points_give_finite_mixtures() {
        let wild = [0.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1.0, -0.0, 1e-30, 1e30, f32::MAX, 7.0, 7.0, 7.0];
        for width in [1, 2, 3, 4, 6, 12] {
            for components in 1..=12 {
                let mixture = Mixture::fit(&wild, width, components, &mut rng());
                assert!(mixture.bic.is_finite());
                for component in &mixture.components {
                    assert!(component.weight > 0.0 && component.variance > 0.0 && component.variance.is_finite());
                    assert!(component.mean.iter().all(|mean| mean.is_finite()));
                }
                assert_close(mixture.components.iter().map(|component| component.weight).sum(), 1.0);
            }
        }
    }
}
