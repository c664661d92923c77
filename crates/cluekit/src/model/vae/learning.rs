//! One step of learning of a residual VAE: the loss of some rows and its gradient, layer by layer.
//!
//! It is the gradient that the graph of [`VaeNetwork::elbo`] has, in less time: weights are laid out once for all
//! threads, and gradients are summed where they lie.

use super::residual::Residual;
use super::{LOG_VARIANCE_BOUND, VaeNetwork};
use crate::data::Samples;
use crate::error::Result;
use crate::lanes::{logistic, softplus, vectorised};
use crate::model::dense::{Dense, add, scale, silu};
use crate::model::parameters::Parameters;
use crate::model::training::{Gradient, Streams, Trainable, over_batch};
use crate::tensor::{gradients, leaf, scalar, tensor};
use rand_distr::{Distribution, StandardNormal};

/// A [`Residual`] with the weights of a step.
struct Learning<'a> {
    input: Dense<'a>,
    blocks: Vec<Dense<'a>>,
    output: Dense<'a>,
}

/// What the layers behind the first one saw, with the slopes of the activations.
type Seen = Vec<[Vec<f32>; 2]>;

impl<'a> Learning<'a> {
    fn new(network: &Residual, parameters: &'a Parameters) -> Self {
        let mut layers = Dense::all(parameters, &network.layers());
        let output = layers.pop().expect("a network has an output");
        let input = layers.remove(0);
        Self { input, blocks: layers, output }
    }

    fn forward(&self, x: &[f32]) -> (Vec<f32>, Seen) {
        let mut h = self.input.forward(x);
        let mut seen = Seen::new();
        for block in &self.blocks {
            let activated = silu(&h);
            block.forward_onto(&activated[0], &mut h);
            seen.push(activated);
        }
        let activated = silu(&h);
        let outputs = self.output.forward(&activated[0]);
        seen.push(activated);
        (outputs, seen)
    }

    /// Adds ∂L/∂weights to `gradient` and returns ∂L/∂(W x + b) of the first layer.
    fn back(&self, x: &[f32], seen: &Seen, g: &[f32], gradient: &mut [f32]) -> Vec<f32> {
        let (last, rest) = seen.split_last().expect("the output saw something");
        self.output.learn(&last[0], g, gradient);
        let mut d = self.output.back(g);
        scale(&mut d, &last[1]);
        for (block, [activated, slope]) in self.blocks.iter().zip(rest).rev() {
            block.learn(activated, &d, gradient);
            let mut through = block.back(&d);
            scale(&mut through, slope);
            add(&mut d, &through);
        }
        self.input.learn(x, &d, gradient);
        d
    }
}

/// [`Trainable::gradient`] of a VAE of two residual networks.
pub(super) fn gradient(
    network: &VaeNetwork,
    [encoder, decoder]: [&Residual; 2],
    parameters: &Parameters,
    (samples, indices): (&Samples, &[usize]),
    streams: Streams,
) -> Result<Gradient> {
    let [encoder, decoder] = [encoder, decoder].map(|residual| Learning::new(residual, parameters));
    let latent = network.latent;
    over_batch(indices.len(), network.shard(), |rows| {
        let mut rng = streams(rows.start);
        let x = samples.select(&indices[rows]).x;
        let (code, seen_by_encoder) = encoder.forward(&x);
        let noise: Vec<f32> = StandardNormal.sample_iter(&mut rng).take(code.len() / 2).collect();
        let z = drawn(&code, &noise, latent);
        let (outputs, seen_by_decoder) = decoder.forward(&z);
        let mut sums = vec![0.0; parameters.values.len()];
        let (unlikely, g) = unlikeliness(network, parameters, outputs, &x, &mut sums)?;
        let d = decoder.back(&z, &seen_by_decoder, &g, &mut sums);
        let (divergence, g) = slope_of_code(&code, &noise, &decoder.input.back(&d), latent);
        encoder.back(&x, &seen_by_encoder, &g, &mut sums);
        Ok((unlikely + divergence, sums))
    })
}

const BOUND: f32 = LOG_VARIANCE_BOUND as f32;

/// z = μ + σ ε of codes (μ, log σ²).
fn drawn(code: &[f32], noise: &[f32], latent: usize) -> Vec<f32> {
    let mut z = noise.to_vec();
    for (z, code) in z.chunks_exact_mut(latent).zip(code.chunks_exact(2 * latent)) {
        let (mean, log_variance) = code.split_at(latent);
        for (z, (mean, log_variance)) in z.iter_mut().zip(mean.iter().zip(log_variance)) {
            *z = mean + (0.5 * log_variance.clamp(-BOUND, BOUND)).exp() * *z;
        }
    }
    z
}

/// KL to the prior, and its gradient by the codes together with what comes from z.
fn slope_of_code(code: &[f32], noise: &[f32], by_z: &[f32], latent: usize) -> (f64, Vec<f32>) {
    let mut divergence = 0.0;
    let mut slope = vec![0.0; code.len()];
    let rows = code.chunks_exact(2 * latent).zip(slope.chunks_exact_mut(2 * latent));
    for ((code, slope), (noise, by_z)) in rows.zip(noise.chunks_exact(latent).zip(by_z.chunks_exact(latent))) {
        for at in 0..latent {
            let (mean, log_variance) = (code[at], code[latent + at].clamp(-BOUND, BOUND));
            let deviation = (0.5 * log_variance).exp();
            let variance = deviation * deviation;
            divergence += 0.5 * f64::from(mean * mean + variance - log_variance - 1.0);
            slope[at] = mean + by_z[at];
            // Beyond its bounds a log-variance changes nothing.
            if code[latent + at].abs() <= BOUND {
                slope[latent + at] = 0.5 * (variance - 1.0) + 0.5 * deviation * noise[at] * by_z[at];
            }
        }
    }
    (divergence, slope)
}

/// −Σ log p(x | outputs), and its gradient by the outputs; that by the variances of the columns is added to `sums`.
fn unlikeliness(
    network: &VaeNetwork,
    parameters: &Parameters,
    outputs: Vec<f32>,
    x: &[f32],
    sums: &mut [f32],
) -> Result<(f64, Vec<f32>)> {
    if network.likelihood.is_bernoulli() {
        return Ok(bernoulli(outputs, x));
    }
    let shape = [x.len() / network.inputs, network.inputs];
    let place = (network.likelihood.gaussians() > 0).then(|| parameters.place("decoder.log_variance"));
    // Outputs and variances as one leaf.
    let len = outputs.len();
    let variances = place.clone().map_or(&[][..], |place| &parameters.values[place]);
    let all = leaf([outputs.as_slice(), variances].concat(), [len + variances.len()]);
    let variance = place.is_some().then(|| all.clone().narrow(0, len, variances.len()));
    let outputs = all.clone().narrow(0, 0, len).reshape(shape);
    let loss = network.likelihood.negative_log(&outputs, &tensor(x.to_vec(), shape), variance).sum();
    let mut slope = gradients(&loss, &[all])?.concat();
    if let Some(place) = place {
        add(&mut sums[place], &slope[len..]);
        slope.truncate(len);
    }
    Ok((f64::from(scalar(loss)), slope))
}

/// Σ log(1 + eˡ) − x l, and its gradient σ(l) − x.
fn bernoulli(mut outputs: Vec<f32>, x: &[f32]) -> (f64, Vec<f32>) {
    /// Terms that are summed in 32 bits.
    const TERMS: usize = 16;
    let mut loss = 0.0;
    vectorised(
        #[inline(always)]
        || {
            let mut sums = [0.0f32; TERMS];
            let mut pieces = 0;
            for (l, x) in outputs.chunks_mut(TERMS).zip(x.chunks(TERMS)) {
                for ((l, x), sum) in l.iter_mut().zip(x).zip(&mut sums) {
                    *sum += softplus(*l) - x * *l;
                    *l = logistic(*l) - x;
                }
                pieces += 1;
                if pieces % 64 == 0 {
                    loss += sums.iter().map(|&sum| f64::from(sum)).sum::<f64>();
                    sums = [0.0; TERMS];
                }
            }
            loss += sums.iter().map(|&sum| f64::from(sum)).sum::<f64>();
        },
    );
    (loss, outputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_by_hand() {
        // l = ln 3, x = 1: −log ¾, and σ(l) − x = −¼; beyond 16 numbers the sum goes on.
        let (loss, slope) = bernoulli(vec![3f32.ln(); 2000], &[1.0; 2000]);
        assert!((loss / 2000.0 + 0.75f64.ln()).abs() < 1e-6, "{loss}");
        assert!(slope.iter().all(|slope| (slope + 0.25).abs() < 1e-6));
    }
}
