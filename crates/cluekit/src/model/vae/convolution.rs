//! Convolutions as encoder and decoder of images: every layer halves or doubles both sides.

use super::residual::OUTPUT_SPREAD;
use crate::data::Image;
use crate::model::parameters::{Layout, Weights};
use crate::tensor::{Tensor, doubling_convolution, halving_convolution, pixels, planes, silu};

/// The pair of networks, with the sizes that the image takes on the way down.
#[derive(Clone, Debug, PartialEq)]
pub struct Convolution {
    /// Channels from the image to the deepest layer.
    channels: Vec<usize>,
    /// Height and width at each of them.
    sizes: Vec<[usize; 2]>,
}

impl Convolution {
    /// Adds the arrays of both networks to the layout; the encoder ends in mean and log-variance of the latent code.
    pub fn new(image: &Image, channels: &[usize], width: usize, latent: usize, layout: &mut Layout) -> Self {
        let channels = [&[image.channels], channels].concat();
        let mut sizes = vec![[image.height, image.width]];
        for i in 1..channels.len() {
            sizes.push(sizes[i - 1].map(|side| side.div_ceil(2)));
        }
        let flat = channels[channels.len() - 1] * sizes[sizes.len() - 1].iter().product::<usize>();
        for (i, pair) in channels.windows(2).enumerate() {
            layout.push(format!("encoder.convolutions.{i}.weight"), &[pair[1], pair[0], 3, 3]);
            layout.push(format!("encoder.convolutions.{i}.bias"), &[pair[1]]);
        }
        layout.push_linear("encoder.hidden", flat, width);
        layout.push_linear_spread("encoder.output", width, 2 * latent, OUTPUT_SPREAD);
        layout.push_linear("decoder.input", latent, width);
        layout.push_linear("decoder.hidden", width, flat);
        for (i, pair) in channels.windows(2).enumerate().rev() {
            let spread = if i == 0 { OUTPUT_SPREAD } else { 1.0 };
            layout.push_spread(format!("decoder.convolutions.{i}.weight"), &[pair[1], pair[0], 3, 3], spread);
            layout.push(format!("decoder.convolutions.{i}.bias"), &[pair[0]]);
        }
        Self { channels, sizes }
    }

    /// # Shapes
    /// - `x`: `[rows, inputs]`, returns: `[rows, 2 latent]`
    pub fn encode(&self, weights: &Weights, x: Tensor<2>) -> Tensor<2> {
        let mut h = pixels(x, self.channels[0], self.sizes[0]);
        for i in 0..self.channels.len() - 1 {
            let name = format!("encoder.convolutions.{i}");
            let (weight, bias) = (weights.get(&format!("{name}.weight")), weights.get(&format!("{name}.bias")));
            h = silu(halving_convolution(h, weight, bias));
        }
        let h = silu(weights.linear("encoder.hidden", planes(h)));
        weights.linear("encoder.output", h)
    }

    /// # Shapes
    /// - `z`: `[rows, latent]`, returns: `[rows, inputs]`
    pub fn decode(&self, weights: &Weights, z: Tensor<2>) -> Tensor<2> {
        let deepest = self.channels.len() - 1;
        let h = silu(weights.linear("decoder.input", z));
        let h = silu(weights.linear("decoder.hidden", h));
        let mut h = pixels(h, self.channels[deepest], self.sizes[deepest]);
        for i in (0..deepest).rev() {
            let name = format!("decoder.convolutions.{i}");
            let (weight, bias) = (weights.get(&format!("{name}.weight")), weights.get(&format!("{name}.bias")));
            h = doubling_convolution(h, weight, bias, self.sizes[i]);
            if i > 0 {
                h = silu(h);
            }
        }
        planes(h)
    }
}
