//! Eq. 2, the loss of GLAM-CLUE's translations and affine maps, against central differences. That of the neural mapper
//! is tested beside its code, which is the only place that can call it.

use crate::common::{assert_gradient, normals};
use cluekit::amortise::Points;
use cluekit::amortise::translation::{Form, LatentMap, layout, loss};
use cluekit::error::Result;
use cluekit::model::{Generative, Predictive, Predictor};
use cluekit::search::Models;
use cluekit::tensor::{Tensor, tensor, values};
use cluekit::testing::model::Parameters;
use std::sync::Arc;

const LATENT: usize = 3;
const WIDTH: usize = 4;
/// More than one thread handles at a time.
const ROWS: usize = 150;

fn matrix(shape: [usize; 2], seed: u64, scale: f32) -> Tensor<2> {
    tensor(normals(shape[0] * shape[1], seed), shape) * scale
}

/// A curved surface: μ_θ(z) = z A + tanh(z B) C.
struct Curved;

impl Generative for Curved {
    fn latent_dim(&self) -> usize {
        LATENT
    }

    fn encode(&self, _: &Tensor<2>) -> Result<Tensor<2>> {
        unreachable!("Eq. 2 encodes nothing")
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        let bent = z.clone().matmul(matrix([LATENT, 6], 2, 1.0)).tanh().matmul(matrix([6, WIDTH], 3, 0.5));
        Ok(z.clone().matmul(matrix([LATENT, WIDTH], 1, 0.7)) + bent)
    }
}

struct Nobody;

impl Predictor for Nobody {
    fn predict(&self, _: &Tensor<2>) -> Result<Predictive> {
        unreachable!("Eq. 2 predicts nothing")
    }
}

/// Numbers that ‖θ‖₁ is smooth around.
fn away_from_zero(len: usize, seed: u64) -> Vec<f32> {
    normals(len, seed).into_iter().map(|draw| (0.1 + 0.3 * draw.abs()).copysign(draw)).collect()
}

fn map(form: Form, theta: &[f32]) -> LatentMap {
    LatentMap::new(form, Parameters::new(Arc::new(layout(form, LATENT)), theta.to_vec()).unwrap())
}

/// The certain inputs: corners that lie far apart.
fn certain() -> Vec<f32> {
    [[8.0, 0.0, 0.0, 0.0], [0.0, 8.0, 0.0, 0.0], [0.0, 0.0, -8.0, 0.0], [-8.0, -8.0, 0.0, 8.0]].concat()
}

/// Codes whose nearest certain input stays the same when they move a little.
fn settled(form: Form, theta: &[f32]) -> Vec<f32> {
    let z: Vec<f32> = normals(2 * ROWS * LATENT, 5);
    let moved = map(form, theta).apply(&z);
    let x = values(Curved.decode(&tensor(moved, [2 * ROWS, LATENT])).unwrap());
    let clear = |x: &[f32]| {
        let distance = |corner: &[f32]| corner.iter().zip(x).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
        let mut distances: Vec<f32> = certain().chunks(WIDTH).map(distance).collect();
        distances.sort_by(f32::total_cmp);
        distances[1] - distances[0] > 0.5
    };
    let kept = z.chunks(LATENT).zip(x.chunks(WIDTH)).filter(|(_, x)| clear(x)).take(ROWS);
    let kept: Vec<f32> = kept.flat_map(|(z, _)| z).copied().collect();
    assert_eq!(kept.len(), ROWS * LATENT, "too few codes are clear of a change");
    kept
}

#[test]
fn the_gradient_of_equation_two_is_that_of_differences() {
    let models = Models::new(&Curved, &Nobody);
    for form in [Form::Translation, Form::Affine] {
        let theta = away_from_zero(layout(form, LATENT).len(), 6);
        let z = settled(form, &theta);
        for lambda_theta in [0.0, 0.3, 3.0] {
            let at = |theta: &[f32]| {
                loss(&models, &map(form, theta), &z, &Points::new(&certain(), WIDTH), lambda_theta).unwrap()
            };
            let gradient = at(&theta).1;
            assert_gradient(&format!("{form:?}, λ_θ = {lambda_theta}"), &theta, &gradient, |theta| at(theta).0);
        }
    }
}

#[test]
fn where_nothing_is_left_to_gain_the_gradient_is_zero_and_finite() {
    // A code that is mapped onto a certain input exactly, and a length of 0: both terms are at their kink.
    let models = Models::new(&Curved, &Nobody);
    let z = normals(LATENT, 7);
    let there = values(Curved.decode(&tensor(z.clone(), [1, LATENT])).unwrap());
    for form in [Form::Translation, Form::Affine] {
        let theta = vec![0.0; layout(form, LATENT).len()];
        let (value, gradient) = loss(&models, &map(form, &theta), &z, &Points::new(&there, WIDTH), 1.0).unwrap();
        assert!(value.abs() < 1e-9, "{value}");
        assert!(gradient.iter().all(|g| g.abs() < 1e-5), "{gradient:?}");
    }
}
