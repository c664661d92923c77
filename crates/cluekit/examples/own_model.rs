//! A model of your own: implement `Predictor` and `Generative`, and every search works on it.
//!
//! Here the data lie on a line in the plane, the generative model knows the line, and an ensemble of three logistic
//! classifiers disagrees about where the classes part. `cargo run --release -p cluekit --example own_model`

use cluekit::model::{Generative, Predictive, Predictor};
use cluekit::observer::Silent;
use cluekit::search::{Background, Inputs, Models, Search};
use cluekit::tensor::{Tensor, log_softmax};
use cluekit::{Result, Seed};

/// Three classifiers: p(1 | x) = σ(4 (x₁ − border)).
struct Ensemble([f32; 3]);

impl Predictor for Ensemble {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        let first: Tensor<2> = x.clone().slice([0..x.dims()[0], 0..1]);
        let member = |border: &f32| {
            let logit = (first.clone() - *border) * 4.0;
            log_softmax(Tensor::cat(vec![logit.clone().neg() * 0.5, logit * 0.5], 1), 1).unsqueeze::<3>()
        };
        Ok(Predictive::Classes { log_probabilities: Tensor::cat(self.0.iter().map(member).collect(), 0) })
    }
}

/// The line x₂ = 2 x₁: one latent dimension.
struct Line;

impl Generative for Line {
    fn latent_dim(&self) -> usize {
        1
    }
    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(x.clone().slice([0..x.dims()[0], 0..1]))
    }
    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(Tensor::cat(vec![z.clone(), z.clone() * 2.0], 1))
    }
}

#[allow(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<()> {
    let (generative, predictor) = (Line, Ensemble([-0.2, 0.0, 0.3]));
    let inputs = Inputs::new(vec![0.1, 0.2], 2)?;
    let models = Models::new(&generative, &predictor);
    let found = Search::clue().explain(&models, &Background::default(), &inputs, Seed(0), &mut Silent)?;
    let (before, after) = (&found[0].input, &found[0].clues[0]);
    println!("{:?} has an uncertainty of {:.3} nats", before.x, before.uncertainty.total);
    println!("{:?} has {:.3}: accepted {}", after.x, after.uncertainty.total, after.accepted);
    assert!(after.accepted, "three steps to the side all members agree");
    Ok(())
}
