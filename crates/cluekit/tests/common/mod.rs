//! Derivatives by differences, beside the ones that a function gives itself.
//!
//! Central differences (f(θ + h d) − f(θ − h d)) / 2h come first. Everything runs in f32, so no step is right for all:
//! a function of size 10 is known to about 10⁻⁶, which at h = 0.001 leaves some 10⁻³ in the difference, while the rest
//! of the series, h² f‴ / 6, grows with h. And a ReLU may switch between the two points; then the function is smooth
//! on one side of θ only, and what counts is the difference towards that side,
//! (4 f(θ + h d) − f(θ + 2h d) − 3 f(θ)) / 2h with h of either sign.
//!
//! So three steps are tried, centrally and to each side, and one has to agree. Rounding or a switch nearby spoils some
//! of them; a wrong derivative spoils all, since where the function is smooth each of them is better than the
//! tolerance by itself.

use cluekit::Seed;
use rand_distr::{Distribution, StandardNormal};

const STEPS: [f64; 3] = [2e-2, 5e-3, 1e-3];
/// Of the derivative itself.
const RELATIVE: f64 = 0.01;
/// Of the gradient's largest entry (of its length, along a direction): what rounding does to entries near 0.
const OF_LARGEST: f64 = 0.002;
/// Directions beside the gradient's own and the coordinates.
const DIRECTIONS: u64 = 5;
/// Up to so many coordinates each is tried by itself; beyond that, this many of them, evenly spread.
const COORDINATES: usize = 600;

/// Draws from N(0, 1), the same ones for the same seed.
pub fn normals(len: usize, seed: u64) -> Vec<f32> {
    StandardNormal.sample_iter(Seed(seed).stream("test")).take(len).collect()
}

/// Compares `gradient`, which is that of `f` at `at`, with central differences by the coordinates, along the gradient
/// and along random directions.
pub fn assert_gradient(what: &str, at: &[f32], gradient: &[f32], f: impl Fn(&[f32]) -> f64) {
    let problems = disagreements(at, gradient, f);
    assert!(problems.is_empty(), "{what}: {} disagreements\n{}", problems.len(), problems.join("\n"));
}

/// Where `gradient` and central differences of `f` part, in words.
pub fn disagreements(at: &[f32], gradient: &[f32], f: impl Fn(&[f32]) -> f64) -> Vec<String> {
    assert_eq!(at.len(), gradient.len(), "a gradient has an entry for each coordinate");
    let gradient: Vec<f64> = gradient.iter().map(|&g| f64::from(g)).collect();
    let largest = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
    let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
    if !(length > 1e-4 && length.is_finite()) {
        return vec![format!("the gradient has length {length}; there is nothing to compare")];
    }
    let stride = at.len().div_ceil(COORDINATES);
    let coordinates = (0..at.len()).step_by(stride).map(|i| {
        let unit: Vec<f64> = (0..at.len()).map(|j| f64::from(u8::from(i == j))).collect();
        (format!("coordinate {i}"), unit, largest)
    });
    let own = ("along the gradient".to_owned(), gradient.iter().map(|g| g / length).collect(), length);
    let random = (0..DIRECTIONS).map(|i| {
        let draws: Vec<f64> = normals(at.len(), 1000 + i).into_iter().map(f64::from).collect();
        let norm = draws.iter().map(|d| d * d).sum::<f64>().sqrt();
        (format!("direction {i}"), draws.iter().map(|d| d / norm).collect(), length)
    });
    let all = coordinates.chain([own]).chain(random);
    all.filter_map(|(name, direction, size)| {
        let derivative: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        let tolerance = RELATIVE * derivative.abs() + OF_LARGEST * size;
        let mut seen = Vec::new();
        let agree = differences(&f, at, &direction).any(|difference| {
            seen.push(difference);
            (difference - derivative).abs() <= tolerance
        });
        (!agree).then(|| format!("{name}: {derivative:.6}, by differences {seen:.6?}"))
    })
    .collect()
}

/// The difference quotients of `f` along `direction`, a unit vector: the central ones, then those to each side.
fn differences(f: impl Fn(&[f32]) -> f64, at: &[f32], direction: &[f64]) -> impl Iterator<Item = f64> {
    // f32 cannot take exactly the step that is asked for; the one that was taken counts.
    let moved = move |step: f64| -> (f64, f64) {
        let place: Vec<f32> = at.iter().zip(direction).map(|(&a, d)| (f64::from(a) + step * d) as f32).collect();
        let taken = place.iter().zip(at).zip(direction).map(|((&p, &a), d)| (f64::from(p) - f64::from(a)) * d).sum();
        (taken, f(&place))
    };
    let central = STEPS.map(|step| (step, -step)).into_iter();
    let sides = STEPS.map(|step| [(step, 2.0 * step), (-step, -2.0 * step)]).into_iter().flatten();
    central.chain(sides).map(move |(near, far)| {
        let ((h, f_h), (k, f_k), (_, f_0)) = (moved(near), moved(far), moved(0.0));
        // The slope at 0 of the parabola through (0, f_0), (h, f_h), (k, f_k); for k = −h the central difference.
        ((f_h - f_0) * k / h - (f_k - f_0) * h / k) / (k - h)
    })
}
