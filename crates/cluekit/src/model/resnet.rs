//! A residual network for images: the network of one member of an ensemble. [He2016; Ioffe2015]
//!
//! Every group of blocks halves both sides of the image and has its own number of channels. A block is
//! relu(shortcut(h) + norm(conv(relu(norm(conv(h)))))), the shortcut a 1 × 1 convolution with a norm where the shape
//! changes, else h itself. Behind the last group each channel's mean over the image goes through one linear layer.
//!
//! norm(h) = scale · (h − m) / √(v + ε) + shift, channel by channel. In training, m and v are mean and variance of the
//! rows at hand, and running statistics follow them; afterwards m and v are these statistics, and the norm becomes part
//! of the convolution before it.

mod frozen;
mod learning;

pub(in crate::model) use frozen::{Frozen, Passed};

use super::mlp::{Head, negative_log_likelihood};
use super::parameters::{Layout, Parameters, Weights};
use super::training::{Batch, CONVOLUTION_SHARD, Gradient, Streams, Trainable};
use crate::convolution::Window;
use crate::data::{Image, Samples};
use crate::error::Result;
use crate::seed::Rng;
use crate::tensor::{Tensor, convolution, pixels, relu, tensor};
use std::sync::Arc;

/// Added to every variance.
const EPSILON: f64 = 1e-5;

/// The shape of the network.
#[derive(Clone, Debug)]
pub struct ResNet {
    image: Image,
    head: Head,
    convolutions: Vec<Convolution>,
    blocks: Vec<Block>,
    layout: Arc<Layout>,
}

/// One convolution, with its arrays under its name.
#[derive(Clone, Debug)]
struct Convolution {
    name: String,
    /// Outputs, inputs, height and width of the kernel.
    kernel: [usize; 4],
    stride: usize,
}

impl Convolution {
    fn window(&self) -> Window {
        let [outputs, inputs, side, _] = self.kernel;
        Window { inputs, outputs, side, stride: self.stride }
    }
}

/// The places of a block's convolutions.
#[derive(Clone, Copy, Debug)]
struct Block {
    first: usize,
    second: usize,
    shortcut: Option<usize>,
}

impl ResNet {
    /// A group of `blocks` blocks for each number of channels.
    pub fn new(image: &Image, channels: &[usize], blocks: usize, head: Head) -> Self {
        let mut network =
            Self { image: *image, head, convolutions: vec![], blocks: vec![], layout: Arc::new(Layout::default()) };
        let mut inputs = image.channels;
        for (group, &outputs) in channels.iter().enumerate() {
            for block in 0..blocks {
                let stride = if block == 0 { 2 } else { 1 };
                let mut add = |part: &str, inputs: usize, side: usize, stride: usize| {
                    let name = format!("groups.{group}.blocks.{block}.{part}");
                    network.convolutions.push(Convolution { name, kernel: [outputs, inputs, side, side], stride });
                    network.convolutions.len() - 1
                };
                let (first, second) = (add("first", inputs, 3, stride), add("second", outputs, 3, 1));
                let shortcut = (stride > 1 || inputs != outputs).then(|| add("shortcut", inputs, 1, stride));
                network.blocks.push(Block { first, second, shortcut });
                inputs = outputs;
            }
        }
        let mut layout = Layout::default();
        for Convolution { name, kernel, .. } in &network.convolutions {
            layout.push(format!("{name}.weight"), kernel);
            layout.push_filled(format!("{name}.norm.scale"), &kernel[..1], 1.0);
            layout.push(format!("{name}.norm.shift"), &kernel[..1]);
            layout.push_statistic(format!("{name}.norm.mean"), &kernel[..1], 0.0);
            layout.push_statistic(format!("{name}.norm.variance"), &kernel[..1], 1.0);
        }
        layout.push_linear("output", inputs, head.outputs());
        network.layout = Arc::new(layout);
        network
    }

    /// What the outputs of the network stand for.
    pub fn head(&self) -> Head {
        self.head
    }

    /// Number of columns of an input.
    pub fn inputs(&self) -> usize {
        self.image.len()
    }

    /// The outputs for rows of `x`; `convolve` applies a convolution with its norm.
    fn pass(
        &self,
        weights: &Weights,
        x: Tensor<2>,
        mut convolve: impl FnMut(&Convolution, Tensor<4>) -> Tensor<4>,
    ) -> Tensor<2> {
        let mut h = pixels(x, self.image.channels, [self.image.height, self.image.width]);
        let mut apply = |place: usize, h: Tensor<4>| convolve(&self.convolutions[place], h);
        for block in &self.blocks {
            let inner = relu(apply(block.first, h.clone()));
            let shortcut = match block.shortcut {
                Some(place) => apply(place, h),
                None => h,
            };
            h = relu(shortcut + apply(block.second, inner));
        }
        let pooled = h.flatten::<3>(1, 2).mean_dim(1).squeeze_dim(1);
        weights.linear("output", pooled)
    }

    /// The outputs of a network whose norms are part of its convolutions.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`, returns: `[rows, outputs]`
    pub fn forward(&self, folded: &Weights, x: Tensor<2>) -> Tensor<2> {
        self.pass(folded, x, |layer, h| {
            let bias = folded.get(&format!("{}.bias", layer.name));
            convolution(h, folded.get(&format!("{}.weight", layer.name)), Some(bias), layer.stride)
        })
    }

    /// The outputs by the statistics of the rows themselves, and a number that is 0 and whose gradient by the running
    /// statistics is how far they are from these.
    fn forward_in_training(&self, weights: &Weights, x: Tensor<2>) -> (Tensor<2>, Tensor<1>) {
        let mut drift = tensor(vec![0.0], [1]);
        let rows = x.dims()[0] as f64;
        let outputs = self.pass(weights, x, |layer, h| {
            let name = &layer.name;
            let h = convolution(h, weights.get(&format!("{name}.weight")), None, layer.stride);
            let channels = h.dims()[3];
            let over_channels = |h: Tensor<4>| h.mean_dim(0).mean_dim(1).mean_dim(2);
            let mean = over_channels(h.clone());
            let centred = h - mean.clone();
            let variance = over_channels(centred.clone().powi_scalar(2));
            for (statistic, now) in [("mean", &mean), ("variance", &variance)] {
                let running: Tensor<1> = weights.get(&format!("{name}.norm.{statistic}"));
                let away = running.clone().detach() - now.clone().detach().reshape([channels]);
                // g · (s − s₀) is 0 at s = s₀, and its gradient is g.
                drift = drift.clone() + (away * (running.clone() - running.detach())).sum() * rows;
            }
            let [scale, shift] = ["scale", "shift"].map(|part| {
                let values: Tensor<1> = weights.get(&format!("{name}.norm.{part}"));
                values.reshape([1, 1, 1, channels])
            });
            centred * (scale / (variance + EPSILON).sqrt()) + shift
        });
        (outputs, drift)
    }

    /// The parameters of a trained network with its norms made part of its convolutions.
    pub fn folded(&self, parameters: &Parameters) -> Parameters {
        let mut layout = Layout::default();
        for Convolution { name, kernel, .. } in &self.convolutions {
            layout.push(format!("{name}.weight"), kernel);
            layout.push(format!("{name}.bias"), &kernel[..1]);
        }
        let outputs = [parameters.array("output.weight"), parameters.array("output.bias")];
        layout.push_linear("output", outputs[0].len() / self.head.outputs(), self.head.outputs());
        let mut values = Vec::with_capacity(layout.len());
        for Convolution { name, kernel, .. } in &self.convolutions {
            let part = |part: &str| parameters.array(&format!("{name}.{part}"));
            let (scale, variance) = (part("norm.scale"), part("norm.variance"));
            let factors: Vec<f64> = scale
                .iter()
                .zip(variance)
                .map(|(&scale, &variance)| f64::from(scale) / (f64::from(variance) + EPSILON).sqrt())
                .collect();
            let fan_in = kernel[1..].iter().product();
            for (filter, factor) in part("weight").chunks_exact(fan_in).zip(&factors) {
                values.extend(filter.iter().map(|&w| (f64::from(w) * factor) as f32));
            }
            let (mean, shift) = (part("norm.mean"), part("norm.shift"));
            let bias = |i: usize| (f64::from(shift[i]) - f64::from(mean[i]) * factors[i]) as f32;
            values.extend((0..kernel[0]).map(bias));
        }
        outputs.iter().for_each(|array| values.extend_from_slice(array));
        Parameters::new(Arc::new(layout), values).expect("as many numbers as the layout has places")
    }
}

impl Trainable for ResNet {
    fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    fn shard(&self) -> usize {
        CONVOLUTION_SHARD
    }

    /// Σ over rows of −log p(y | x): by the rows' own statistics while it learns, else by the running ones.
    fn loss(&self, weights: &Weights, batch: &Batch, _: &mut Rng) -> Result<Tensor<1>> {
        let x = batch.x.clone();
        Ok(match weights.are_tracked() {
            true => {
                let (outputs, drift) = self.forward_in_training(weights, x);
                negative_log_likelihood(outputs, batch, self.head) + drift
            }
            false => {
                let folded = Weights::frozen(&self.folded(&weights.parameters()));
                negative_log_likelihood(self.forward(&folded, x), batch, self.head)
            }
        })
    }

    fn gradient(
        &self,
        parameters: &Parameters,
        samples: &Samples,
        indices: &[usize],
        streams: Streams,
    ) -> Result<Gradient> {
        self.gradient_by_hand(parameters, samples, indices, streams)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Targets;
    use crate::seed::Seed;
    use crate::tensor::values;
    use rand_distr::{Distribution, StandardNormal};

    const IMAGE: Image = Image { channels: 2, height: 5, width: 4, maximum: 255.0 };

    fn normals(count: usize, name: &str) -> Vec<f32> {
        StandardNormal.sample_iter(&mut Seed(1).stream(name)).take(count).collect()
    }

    fn network() -> (ResNet, Parameters) {
        let network = ResNet::new(&IMAGE, &[3, 4], 2, Head::Classes(3));
        let parameters = Parameters::initial(network.layout().clone(), &mut Seed(1).stream("init"));
        (network, parameters)
    }

    #[test]
    fn blocks_change_the_shape_where_they_begin_a_group_and_nowhere_else() {
        let (network, _) = network();
        let shapes: Vec<(String, Vec<usize>)> = network
            .layout
            .entries()
            .iter()
            .filter(|entry| entry.shape.len() == 4)
            .map(|entry| (entry.name.replace("blocks.", "").replace("groups.", ""), entry.shape.clone()))
            .collect();
        let expected = [
            ("0.0.first.weight", [3, 2, 3, 3]),
            ("0.0.second.weight", [3, 3, 3, 3]),
            ("0.0.shortcut.weight", [3, 2, 1, 1]),
            ("0.1.first.weight", [3, 3, 3, 3]),
            ("0.1.second.weight", [3, 3, 3, 3]),
            ("1.0.first.weight", [4, 3, 3, 3]),
            ("1.0.second.weight", [4, 4, 3, 3]),
            ("1.0.shortcut.weight", [4, 3, 1, 1]),
            ("1.1.first.weight", [4, 4, 3, 3]),
            ("1.1.second.weight", [4, 4, 3, 3]),
        ];
        assert_eq!(shapes, expected.map(|(name, shape)| (name.to_owned(), shape.to_vec())));
    }

    #[test]
    fn by_the_statistics_of_the_rows_both_forms_are_the_same_network() {
        let (network, mut parameters) = network();
        let rows = 6;
        let samples = Samples {
            x: normals(rows * 40, "x"),
            width: 40,
            y: Targets::Classes(vec![0, 1, 2, 0, 1, 2]),
            weights: None,
        };
        let x = tensor(samples.x.clone(), [rows, 40]);
        let all: Vec<usize> = (0..rows).collect();
        // The gradient of a statistic is how far it is from the rows': one whole step against it reaches them, layer
        // by layer, since what a layer sees does not depend on running statistics.
        let away = network.gradient(&parameters, &samples, &all, &|_| Seed(0).stream("none")).unwrap();
        for entry in network.layout.entries().iter().filter(|entry| entry.is_statistic) {
            for place in entry.range() {
                parameters.values[place] -= away.values[place];
            }
        }
        let near = network.gradient(&parameters, &samples, &all, &|_| Seed(0).stream("none")).unwrap();
        for entry in network.layout.entries().iter().filter(|entry| entry.is_statistic) {
            assert!(near.values[entry.range()].iter().all(|away| away.abs() < 1e-5), "{}", entry.name);
        }
        let (training, _) = network.forward_in_training(&Weights::tracked(&parameters), x.clone());
        let folded = network.forward(&Weights::frozen(&network.folded(&parameters)), x);
        for (a, b) in values(training).iter().zip(values(folded)) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }

    #[test]
    fn a_norm_by_hand() {
        // One channel, one pixel, one group: conv of the middle weight 2; mean 3, variance 4, scale 6, shift 1 give
        // 6 (2 x − 3) / 2 + 1 = 6 x − 8 in the first convolution.
        let image = Image { channels: 1, height: 1, width: 1, maximum: 1.0 };
        let network = ResNet::new(&image, &[1], 1, Head::Classes(2));
        let mut parameters = Parameters::initial(network.layout().clone(), &mut Seed(1).stream("init"));
        let mut set = |name: &str, values: &[f32]| {
            let entry = network.layout.entries().iter().find(|entry| entry.name.ends_with(name)).unwrap();
            parameters.values[entry.range()].copy_from_slice(values);
        };
        let middle = |weight: f32| [0.0, 0.0, 0.0, 0.0, weight, 0.0, 0.0, 0.0, 0.0];
        set("first.weight", &middle(2.0));
        for (part, value) in [("scale", 6.0), ("shift", 1.0), ("mean", 3.0), ("variance", 4.0)] {
            set(&format!("first.norm.{part}"), &[value]);
        }
        // The second convolution passes on what it gets, the shortcut adds x, and the head doubles and negates.
        set("second.weight", &middle(1.0));
        set("shortcut.weight", &[1.0]);
        set("output.weight", &[2.0, -1.0]);
        set("output.bias", &[0.0, 0.5]);
        let folded = Weights::frozen(&network.folded(&parameters));
        let outputs = values(network.forward(&folded, tensor(vec![3.0, 1.0], [2, 1])));
        // x = 3: relu(6 · 3 − 8) = 10, plus 3 is 13. x = 1: relu(−2) = 0, plus 1 is 1.
        for (got, expected) in outputs.iter().zip([26.0, -12.5, 2.0, -0.5]) {
            assert!((got - expected).abs() < 1e-3, "{outputs:?}");
        }
    }
}
