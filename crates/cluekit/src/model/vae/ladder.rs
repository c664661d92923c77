//! A ladder of two codes for images: the high-level code is read from the deepest features and says what is seen, the
//! low-level code is read from early features and adds detail. [Zhao2017; Lacoste2020]
//!
//! ```text
//! encoder   image ─► group 0 ─┬─► … ─► last group ─► high-level code
//!                             └─► low-level code
//! decoder   high-level code ─► last group ─► … ─► + low-level code ─► group 0 ─► image
//! ```
//!
//! A group of the encoder halves both sides by a convolution, and has `blocks` residual convolutions
//! h ← h + W silu(h) + b. A group of the decoder has such convolutions first and doubles both sides by a transposed one.
//! Between the deepest group and the high-level code lies a residual perceptron of `depth` blocks on either way. What
//! enters a group of the decoder is scaled and shifted, channel by channel, by linear functions of the high-level code:
//! h ← (1 + s(z)) h + t(z). Both codes have the same standard normal prior and are inferred independently, so for a
//! search they are one code, the high-level numbers first.

use super::VaeShape;
use super::residual::{BLOCK_SPREAD, OUTPUT_SPREAD, Residual};
use crate::data::Image;
use crate::model::parameters::{Layout, Weights};
use crate::tensor::{Tensor, convolution, doubling_convolution, halving_convolution, pixels, planes, silu};

/// The pair of networks.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    /// Dimensions of the high-level and of the low-level code.
    latent: [usize; 2],
    /// Channels from the image to the deepest group.
    channels: Vec<usize>,
    /// Height and width at each of them.
    sizes: Vec<[usize; 2]>,
    /// Residual convolutions of each group.
    blocks: usize,
    /// From the deepest group to the high-level code, and back.
    encoder: Residual,
    decoder: Residual,
}

impl Ladder {
    /// Adds the arrays of both networks to the layout.
    pub fn new(image: &Image, shape: &VaeShape, layout: &mut Layout) -> Self {
        let VaeShape { latent: high, low_latent: low, width, depth, blocks, .. } = *shape;
        let channels = [&[image.channels], shape.channels.as_slice()].concat();
        let mut sizes = vec![[image.height, image.width]];
        for i in 1..channels.len() {
            sizes.push(sizes[i - 1].map(|side| side.div_ceil(2)));
        }
        let mut add = |name: String, shape: [usize; 4], outputs: usize, spread: f32| {
            layout.push_spread(format!("{name}.weight"), &shape, spread);
            layout.push(format!("{name}.bias"), &[outputs]);
        };
        for (i, pair) in channels.windows(2).enumerate() {
            add(format!("encoder.groups.{i}.halve"), [pair[1], pair[0], 3, 3], pair[1], 1.0);
            let spread = if i == 0 { OUTPUT_SPREAD } else { 1.0 };
            add(format!("decoder.groups.{i}.double"), [pair[1], pair[0], 3, 3], pair[0], spread);
            for (side, block) in ["encoder", "decoder"].into_iter().flat_map(|side| (0..blocks).map(move |b| (side, b)))
            {
                add(format!("{side}.groups.{i}.blocks.{block}"), [pair[1], pair[1], 3, 3], pair[1], BLOCK_SPREAD);
            }
        }
        let flat = |group: usize| channels[group] * sizes[group].iter().product::<usize>();
        let (first, deepest) = (flat(1), flat(channels.len() - 1));
        for (i, &channels) in channels[1..].iter().enumerate() {
            layout.push_linear_spread(&format!("decoder.groups.{i}.code"), high, 2 * channels, OUTPUT_SPREAD);
        }
        layout.push_linear_spread("encoder.low", first, 2 * low, OUTPUT_SPREAD);
        layout.push_linear("decoder.low", low, first);
        let encoder = Residual::new("encoder", deepest, 2 * high, width, depth, layout);
        let decoder = Residual::with_spread("decoder", [high, deepest], width, depth, 1.0, layout);
        Self { latent: [high, low], channels, sizes, blocks, encoder, decoder }
    }

    fn groups(&self) -> usize {
        self.channels.len() - 1
    }

    fn blocks(&self, weights: &Weights, group: &str, h: Tensor<4>) -> Tensor<4> {
        (0..self.blocks).fold(h, |h, block| {
            let (weight, bias) = arrays(weights, &format!("{group}.blocks.{block}"));
            h.clone() + convolution(silu(h), weight, Some(bias), 1)
        })
    }

    /// Means of both codes, then log-variances of both.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`, returns: `[rows, 2 (high + low)]`
    pub fn encode(&self, weights: &Weights, x: Tensor<2>) -> Tensor<2> {
        let mut h = pixels(x, self.channels[0], self.sizes[0]);
        let mut detail = None;
        for i in 0..self.groups() {
            let group = format!("encoder.groups.{i}");
            let (weight, bias) = arrays(weights, &format!("{group}.halve"));
            let input = if i == 0 { h } else { silu(h) };
            h = self.blocks(weights, &group, halving_convolution(input, weight, bias));
            if i == 0 {
                detail = Some(weights.linear("encoder.low", planes(silu(h.clone()))));
            }
        }
        let gist = self.encoder.forward(weights, planes(silu(h)));
        joined(&gist, &detail.expect("a ladder has a group"), self.latent)
    }

    /// # Shapes
    /// - `z`: `[rows, high + low]`, returns: `[rows, inputs]`
    pub fn decode(&self, weights: &Weights, z: Tensor<2>) -> Tensor<2> {
        let rows = z.dims()[0];
        let [gist, detail] = parted(&z, self.latent);
        let shaped = |flat: Tensor<2>, group: usize| pixels(flat, self.channels[group], self.sizes[group]);
        let mut h = shaped(self.decoder.forward(weights, gist.clone()), self.groups());
        for i in (0..self.groups()).rev() {
            let group = format!("decoder.groups.{i}");
            let channels = self.channels[i + 1];
            if i == 0 {
                h = h + shaped(weights.linear("decoder.low", detail.clone()), 1);
            }
            let code = weights.linear(&format!("{group}.code"), gist.clone());
            let part = |place: usize| {
                let part = code.clone().slice([0..rows, place * channels..(place + 1) * channels]);
                part.reshape([rows, 1, 1, channels])
            };
            h = self.blocks(weights, &group, h * (part(0) + 1.0) + part(1));
            let (weight, bias) = arrays(weights, &format!("{group}.double"));
            h = doubling_convolution(silu(h), weight, bias, self.sizes[i]);
        }
        planes(h)
    }
}

/// Means and log-variances of both codes: all means first, those of the high-level code before the others.
fn joined(gist: &Tensor<2>, detail: &Tensor<2>, [high, low]: [usize; 2]) -> Tensor<2> {
    let half = |all: &Tensor<2>, size: usize, place: usize| all.clone().narrow(1, place * size, size);
    Tensor::cat((0..2).flat_map(|place| [half(gist, high, place), half(detail, low, place)]).collect(), 1)
}

/// The high-level and the low-level code.
fn parted(z: &Tensor<2>, [high, low]: [usize; 2]) -> [Tensor<2>; 2] {
    [z.clone().narrow(1, 0, high), z.clone().narrow(1, high, low)]
}

fn arrays(weights: &Weights, name: &str) -> (Tensor<4>, Tensor<1>) {
    (weights.get(&format!("{name}.weight")), weights.get(&format!("{name}.bias")))
}
