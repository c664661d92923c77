//! A residual network that no longer changes, as a search asks it: its outputs, and the way back to its input.

use super::{Block, ResNet};
use crate::convolution::{Images, Turned, Window};
use crate::lanes::Lanes;
use crate::model::dense::{add, relu, relu_back};
use crate::model::frozen::Linear;
use crate::model::parameters::Parameters;
use crate::panels::Panels;

/// The network with its norms made part of its convolutions.
#[derive(Debug)]
pub(in crate::model) struct Frozen {
    channels: usize,
    size: [usize; 2],
    convolutions: Vec<Convolution>,
    blocks: Vec<Block>,
    output: Linear,
}

#[derive(Debug)]
struct Convolution {
    window: Window,
    forward: Panels,
    back: Turned,
    bias: Vec<f32>,
}

/// What came out of each block, and of its first convolution: where these are above 0 the way back goes on.
pub(in crate::model) struct Passed {
    rows: usize,
    blocks: Vec<[Images; 2]>,
}

impl ResNet {
    /// The network for the [folded](ResNet::folded) parameters.
    pub(in crate::model) fn frozen(&self, folded: &Parameters) -> Frozen {
        let convolution = |layer: &super::Convolution| {
            let [weight, bias] = ["weight", "bias"].map(|part| folded.array(&format!("{}.{part}", layer.name)));
            let window = layer.window();
            Convolution { window, forward: window.panels(weight), back: window.turned(weight), bias: bias.to_vec() }
        };
        let [weight, bias] = ["weight", "bias"].map(|part| folded.array(&format!("output.{part}")));
        Frozen {
            channels: self.image.channels,
            size: [self.image.height, self.image.width],
            convolutions: self.convolutions.iter().map(convolution).collect(),
            blocks: self.blocks.clone(),
            output: Linear::new(weight, bias, self.head.outputs()),
        }
    }
}

impl Frozen {
    /// # Shapes
    /// - `x`: `[rows, inputs]`, returns: `[rows, outputs]`
    pub fn forward(&self, x: &[f32]) -> (Vec<f32>, Passed) {
        let x = Images::from_planes(x, self.size, self.channels, 1);
        let mut passed = Passed { rows: x.rows(), blocks: Vec::new() };
        for block in &self.blocks {
            let h = passed.blocks.last().map_or(&x, |[_, h]| h);
            let mut inner = self.made(block.first, h);
            relu(inner.values_mut());
            let mut next = match block.shortcut {
                Some(place) => self.made(place, h),
                None => h.clone(),
            };
            let second = &self.convolutions[block.second];
            second.window.forward(&second.forward, Some(&second.bias), &inner, &mut next, true);
            relu(next.values_mut());
            passed.blocks.push([inner, next]);
        }
        let last = passed.blocks.last().map_or(&x, |[_, h]| h);
        let pooled = Lanes::from_rows(&means(last), last.channels());
        (self.output.forward(0, &pooled).to_rows(), passed)
    }

    fn made(&self, place: usize, h: &Images) -> Images {
        let Convolution { window, forward, bias, .. } = &self.convolutions[place];
        let mut made = Images::zeros(h.rows(), window.size(h.size()), window.outputs, 1);
        window.forward(forward, Some(bias), h, &mut made, false);
        made
    }

    /// ∂L/∂x for ∂L/∂outputs.
    pub fn back(&self, cotangent: &[f32], passed: &Passed) -> Vec<f32> {
        let cotangent = Lanes::from_rows(cotangent, self.output.outputs());
        let pooled = self.output.back(0, &cotangent).to_rows();
        let Some([_, last]) = passed.blocks.last() else { return vec![] };
        let mut g = spread(&pooled, last);
        for (at, block) in self.blocks.iter().enumerate().rev() {
            let [inner, next] = &passed.blocks[at];
            relu_back(g.values_mut(), next.values(), 1.0);
            let mut d = Images::zeros(passed.rows, inner.size(), inner.channels(), 1);
            self.through(block.second, &g, &mut d, false);
            relu_back(d.values_mut(), inner.values(), 1.0);
            let (size, channels) = match at {
                0 => (self.size, self.channels),
                _ => (passed.blocks[at - 1][1].size(), passed.blocks[at - 1][1].channels()),
            };
            let mut before = Images::zeros(passed.rows, size, channels, 1);
            self.through(block.first, &d, &mut before, false);
            match block.shortcut {
                Some(place) => self.through(place, &g, &mut before, true),
                None => add(before.values_mut(), g.values()),
            }
            g = before;
        }
        g.to_planes()
    }

    fn through(&self, place: usize, g: &Images, out: &mut Images, add: bool) {
        let Convolution { window, back, .. } = &self.convolutions[place];
        window.back(back, None, g, out, add);
    }
}

/// The mean of each channel over an image.
///
/// # Shapes
/// - returns: `[rows, channels]`
pub(super) fn means(h: &Images) -> Vec<f32> {
    let ([height, width], channels) = (h.size(), h.channels());
    let mut means = vec![0.0; h.rows() * channels];
    for (line, pixels) in h.lines().enumerate() {
        let means = &mut means[line / height * channels..][..channels];
        pixels.chunks_exact(channels).for_each(|pixel| means.iter_mut().zip(pixel).for_each(|(sum, h)| *sum += h));
    }
    let share = 1.0 / (height * width) as f32;
    means.iter_mut().for_each(|mean| *mean *= share);
    means
}

/// The way back through [`means`] to images like `h`.
pub(super) fn spread(g: &[f32], h: &Images) -> Images {
    let ([height, width], channels) = (h.size(), h.channels());
    let share = 1.0 / (height * width) as f32;
    let mut images = Images::zeros(h.rows(), h.size(), channels, 1);
    for (line, pixels) in images.lines_mut().enumerate() {
        let g = &g[line / height * channels..][..channels];
        pixels.chunks_exact_mut(channels).for_each(|pixel| pixel.iter_mut().zip(g).for_each(|(to, g)| *to = g * share));
    }
    images
}
