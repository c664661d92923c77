//! One step of learning of a residual network: the loss of some rows and its gradient, layer by layer.
//!
//! It is the gradient that the graph of [`ResNet::forward_in_training`] has, in less time.

use super::frozen::{means, spread};
use super::{EPSILON, ResNet};
use crate::convolution::{Images, Turned, Window};
use crate::data::Samples;
use crate::error::Result;
use crate::lanes::vectorised;
use crate::model::dense::{Dense, add, relu, relu_back};
use crate::model::mlp::slope_by_outputs;
use crate::model::parameters::Parameters;
use crate::model::training::{Gradient, Streams, Trainable, over_batch};
use crate::panels::Panels;
use crate::parallel::over_shards;
use std::ops::Range;

/// A convolution with its norm and the weights of a step.
struct Layer<'a> {
    window: Window,
    forward: Panels,
    /// None of the first layers, behind which nobody asks.
    back: Option<Turned>,
    weight: Range<usize>,
    norm: Norm<'a>,
}

/// scale · (h − m) / √(v + ε) + shift, where m and v are mean and variance of the rows at hand.
struct Norm<'a> {
    scale: &'a [f32],
    shift: &'a [f32],
    /// The running mean and variance.
    running: [&'a [f32]; 2],
    /// Where scale, shift, mean and variance lie among all parameters.
    places: [Range<usize>; 4],
}

/// What the way back through a norm needs.
struct Normed {
    /// (h − m) / √(v + ε)
    standard: Images,
    /// 1 / √(v + ε)
    inverse: Vec<f32>,
    /// m and v.
    observed: [Vec<f32>; 2],
}

impl ResNet {
    fn learning<'a>(&self, parameters: &'a Parameters) -> Vec<Layer<'a>> {
        let first = &self.blocks[0];
        let asked = |place: usize| place != first.first && Some(place) != first.shortcut;
        over_shards(self.convolutions.len(), 1, |at| {
            let layer = &self.convolutions[at.start];
            let window = layer.window();
            let weight = parameters.place(&format!("{}.weight", layer.name));
            let numbers = &parameters.values[weight.clone()];
            let places = ["scale", "shift", "mean", "variance"]
                .map(|part| parameters.place(&format!("{}.norm.{part}", layer.name)));
            let [scale, shift, mean, variance] = places.each_ref().map(|place| &parameters.values[place.clone()]);
            let norm = Norm { scale, shift, running: [mean, variance], places };
            let back = asked(at.start).then(|| window.turned(numbers));
            Layer { window, forward: window.panels(numbers), back, weight, norm }
        })
    }

    /// [`Trainable::gradient`].
    pub(super) fn gradient_by_hand(
        &self,
        parameters: &Parameters,
        samples: &Samples,
        indices: &[usize],
        _: Streams,
    ) -> Result<Gradient> {
        let layers = self.learning(parameters);
        let output = Dense::of(parameters, "output");
        let size = [self.image.height, self.image.width];
        over_batch(indices.len(), self.shard(), |rows| {
            let Samples { x, y, weights, .. } = samples.select(&indices[rows]);
            let x = Images::from_planes(&x, size, self.image.channels, 1);
            // What came out of each block and of its first convolution, and what the norms remember.
            let mut passed: Vec<([Images; 2], [Normed; 2], Option<Normed>)> = Vec::new();
            for block in &self.blocks {
                let h = passed.last().map_or(&x, |([_, h], ..)| h);
                let (mut inner, first) = layers[block.first].forward(h);
                relu(inner.values_mut());
                let (mut next, second) = layers[block.second].forward(&inner);
                let shortcut = match block.shortcut {
                    Some(place) => {
                        let (short, normed) = layers[place].forward(h);
                        add(next.values_mut(), short.values());
                        Some(normed)
                    }
                    None => {
                        add(next.values_mut(), h.values());
                        None
                    }
                };
                relu(next.values_mut());
                passed.push(([inner, next], [first, second], shortcut));
            }
            let last = passed.last().map_or(&x, |([_, h], ..)| h);
            let pooled = means(last);
            let (loss, slope) = slope_by_outputs(output.forward(&pooled), y, weights, self.head)?;
            let mut sums = vec![0.0; parameters.values.len()];
            output.learn(&pooled, &slope, &mut sums);
            let mut g = spread(&output.back(&slope), last);
            for (at, block) in self.blocks.iter().enumerate().rev() {
                let ([inner, next], [first, second], shortcut) = &passed[at];
                let h = if at == 0 { &x } else { &passed[at - 1].0[1] };
                relu_back(g.values_mut(), next.values(), 1.0);
                let mut before = Images::zeros(h.rows(), h.size(), h.channels(), 1);
                if let (Some(place), Some(normed)) = (block.shortcut, shortcut) {
                    layers[place].back(h, normed, g.clone(), &mut before, &mut sums);
                } else {
                    add(before.values_mut(), g.values());
                }
                let mut d = Images::zeros(inner.rows(), inner.size(), inner.channels(), 1);
                layers[block.second].back(inner, second, g, &mut d, &mut sums);
                relu_back(d.values_mut(), inner.values(), 1.0);
                layers[block.first].back(h, first, d, &mut before, &mut sums);
                g = before;
            }
            Ok((loss, sums))
        })
    }
}

impl Layer<'_> {
    fn forward(&self, h: &Images) -> (Images, Normed) {
        let mut made = Images::zeros(h.rows(), self.window.size(h.size()), self.window.outputs, 1);
        self.window.forward(&self.forward, None, h, &mut made, false);
        self.norm.forward(made)
    }

    /// Adds the gradients by the weights to `sums`, and that by the input to `before`.
    fn back(&self, h: &Images, normed: &Normed, mut g: Images, before: &mut Images, sums: &mut [f32]) {
        self.norm.back(normed, &mut g, sums);
        add(&mut sums[self.weight.clone()], &self.window.weights(h, &g));
        if let Some(back) = &self.back {
            self.window.back(back, None, &g, before, true);
        }
    }
}

impl Norm<'_> {
    fn forward(&self, mut h: Images) -> (Images, Normed) {
        let share = 1.0 / places(&h);
        let mean: Vec<f32> = by_channel(&h, &h, |h, _| h).iter().map(|sum| (sum * share) as f32).collect();
        let squares = centred(&mut h, &mean);
        let variance: Vec<f32> = squares.iter().map(|sum| (sum * share) as f32).collect();
        let inverse: Vec<f32> = variance.iter().map(|v| (1.0 / (f64::from(*v) + EPSILON).sqrt()) as f32).collect();
        let mut made = Images::zeros(h.rows(), h.size(), h.channels(), 1);
        let width = h.size()[1];
        let [of_standard, scale, shift] = [&inverse, self.scale, self.shift].map(|values| values.repeat(width));
        vectorised(
            #[inline(always)]
            || {
                for (h, made) in h.lines_mut().zip(made.lines_mut()) {
                    let values = of_standard.iter().zip(&scale).zip(&shift);
                    for ((h, made), ((inverse, scale), shift)) in h.iter_mut().zip(made).zip(values) {
                        *h *= inverse;
                        *made = *h * scale + shift;
                    }
                }
            },
        );
        (made, Normed { standard: h, inverse, observed: [mean, variance] })
    }

    /// ∂L/∂h = scale / √(v + ε) · (g − mean g − s · mean (g s)), s = (h − m) / √(v + ε).
    fn back(&self, normed: &Normed, g: &mut Images, sums: &mut [f32]) {
        let rows = g.rows() as f32;
        let share = 1.0 / places(g);
        let shift = by_channel(g, g, |g, _| g);
        let scale = by_channel(g, &normed.standard, |g, s| g * s);
        let [of_scale, of_shift, of_mean, of_variance] = &self.places;
        for (place, sum) in [(of_scale, &scale), (of_shift, &shift)] {
            sums[place.clone()].iter_mut().zip(sum).for_each(|(to, &sum)| *to += sum as f32);
        }
        // How far the running statistics are from the observed ones, once for each row.
        for ((place, running), observed) in [of_mean, of_variance].into_iter().zip(self.running).zip(&normed.observed) {
            let away = running.iter().zip(observed);
            sums[place.clone()].iter_mut().zip(away).for_each(|(to, (running, now))| *to += (running - now) * rows);
        }
        let factor: Vec<f32> = self.scale.iter().zip(&normed.inverse).map(|(scale, inverse)| scale * inverse).collect();
        let mean: Vec<f32> = shift.iter().map(|sum| (sum * share) as f32).collect();
        let along: Vec<f32> = scale.iter().map(|sum| (sum * share) as f32).collect();
        let width = g.size()[1];
        let [factor, mean, along] = [factor, mean, along].map(|values| values.repeat(width));
        vectorised(
            #[inline(always)]
            || {
                for (g, s) in g.lines_mut().zip(normed.standard.lines()) {
                    let values = factor.iter().zip(&mean).zip(&along);
                    for ((g, s), ((factor, mean), along)) in g.iter_mut().zip(s).zip(values) {
                        *g = factor * (*g - mean - s * along);
                    }
                }
            },
        );
    }
}

/// Places of a channel in all rows.
fn places(h: &Images) -> f64 {
    (h.rows() * h.size()[0] * h.size()[1]) as f64
}

/// Σ f(aᵢ, bᵢ) over rows and places of each channel.
fn by_channel(a: &Images, b: &Images, f: impl Fn(f32, f32) -> f32) -> Vec<f64> {
    let mut sums = Sums::new(a);
    vectorised(
        #[inline(always)]
        || {
            for (a, b) in a.lines().zip(b.lines()) {
                sums.of_line.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (&a, &b))| *sum += f(a, b));
                sums.line_ends();
            }
        },
    );
    sums.all
}

/// h ← h − m, channel by channel, and Σ h² of what comes out.
fn centred(h: &mut Images, mean: &[f32]) -> Vec<f64> {
    let mut sums = Sums::new(h);
    let mean = mean.repeat(h.size()[1]);
    vectorised(
        #[inline(always)]
        || {
            for line in h.lines_mut() {
                for ((h, mean), sum) in line.iter_mut().zip(&mean).zip(&mut sums.of_line) {
                    *h -= mean;
                    *sum += *h * *h;
                }
                sums.line_ends();
            }
        },
    );
    sums.all
}

/// Sums over rows and places of each channel: those of a row in 32 bits, those over rows in 64.
struct Sums {
    height: usize,
    lines: usize,
    of_line: Vec<f32>,
    all: Vec<f64>,
}

impl Sums {
    fn new(images: &Images) -> Self {
        let ([height, width], channels) = (images.size(), images.channels());
        Self { height, lines: 0, of_line: vec![0.0; width * channels], all: vec![0.0; channels] }
    }

    fn line_ends(&mut self) {
        self.lines += 1;
        if self.lines.is_multiple_of(self.height) {
            for pixel in self.of_line.chunks_exact_mut(self.all.len()) {
                for (sum, value) in self.all.iter_mut().zip(pixel) {
                    *sum += f64::from(std::mem::take(value));
                }
            }
        }
    }
}
