//! Every predictor of this crate at prediction time: S networks of one shape, stacked.
//!
//! The posterior samples of a Bayesian network, the members of an ensemble, the masked copies of a dropout network and
//! a plain network (S = 1) are all the arrays of one network with S in front of each shape, such as
//! `layers.<i>.weight [S, out, in]`. Networks run one after the other, each with all rows; threads share perceptrons.

use super::frozen::{Linear, relu, relu_back};
use super::mlp::{Head, Mlp, VARIANCE_FLOOR, dropout_mask};
use super::network::Network;
use super::parameters::{Entry, Layout, Parameters};
use super::resnet::{Frozen, Passed, ResNet};
use super::store::weights::Arrays;
use super::training::Trainable;
use super::{Predictive, Predictor, dense};
use crate::error::{Error, Result};
use crate::lanes::{self, Lanes};
use crate::parallel::over_shards;
use crate::seed::Seed;
use crate::tensor::{PullBack, Tensor, is_tracked, log_softmax, pulled_back, softplus, values};
use std::sync::Arc;

/// Networks whose gradients are summed before they are added to those of others.
const GROUP: usize = 4;
/// Networks of which threads get about equally many groups.
const MANY: usize = 4 * GROUP;

/// S networks that see the same inputs.
#[derive(Clone, Debug)]
pub struct Stacked {
    head: Head,
    samples: usize,
    inputs: usize,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    Perceptrons(Arc<Perceptrons>),
    Residual(Arc<Vec<Frozen>>),
}

impl Stacked {
    /// The networks for stacked parameters.
    pub fn new(parameters: &Parameters, network: &Network) -> Result<Self> {
        let samples = parameters.layout().entries().first().and_then(|entry| entry.shape.first()).copied();
        let expected = stacked_layout(network.layout(), samples.unwrap_or(1));
        let shapes = |layout: &Layout| layout.entries().iter().map(|e| (e.name.clone(), e.shape.clone())).collect();
        let [expected, got]: [Vec<(String, Vec<usize>)>; 2] = [shapes(&expected), shapes(parameters.layout())];
        if let Some((name, shape)) = expected.iter().find(|array| !got.contains(array)) {
            return Err(Error::data(format!("the stacked parameters have no array `{name}` of shape {shape:?}")));
        }
        let array = |entry: &Entry| Ok(parameters.values[entry.range()].to_vec());
        match network {
            Network::Mlp(network) => Self::of_perceptrons(parameters.layout(), network.head(), &array),
            Network::ResNet(network) => Self::of_residual_networks(parameters, network),
        }
    }

    /// The networks of `predictor.safetensors`, array by array, so that they lie in memory once.
    pub(crate) fn read(arrays: &Arrays, network: &Network, samples: usize) -> Result<Self> {
        let layout = Arc::new(stacked_layout(network.layout(), samples));
        match network {
            Network::Mlp(network) => {
                arrays.check(&layout)?;
                Self::of_perceptrons(&layout, network.head(), &|entry| arrays.numbers(&entry.name))
            }
            Network::ResNet(_) => {
                let named = |problem: Error| Error::file(arrays.path(), problem.to_string());
                Self::new(&arrays.clone().matching(layout)?, network).map_err(named)
            }
        }
    }

    fn of_residual_networks(parameters: &Parameters, network: &ResNet) -> Result<Self> {
        for entry in parameters.layout().entries().iter().filter(|entry| entry.name.ends_with(".norm.variance")) {
            if let Some(variance) = parameters.values[entry.range()].iter().find(|variance| **variance < 0.0) {
                let problem = format!("`{}` holds {variance}; no variance is below 0: train it again", entry.name);
                return Err(Error::data(problem));
            }
        }
        let members = unstack(parameters, network.layout());
        let frozen = |member: &Parameters| network.frozen(&network.folded(member));
        Ok(Self {
            head: network.head(),
            samples: members.len(),
            inputs: network.inputs(),
            body: Body::Residual(Arc::new(members.iter().map(frozen).collect())),
        })
    }

    fn of_perceptrons(layout: &Layout, head: Head, array: &dyn Fn(&Entry) -> Result<Vec<f32>>) -> Result<Self> {
        let mut layers = Vec::new();
        let mut samples = 0;
        for pair in layout.entries().chunks_exact(2) {
            let [stacked, outputs, _] = pair[0].shape[..] else {
                return Err(Error::data(format!("{} needs the shape [S, out, in]", pair[0].name)));
            };
            samples = stacked;
            layers.push(Linear::new(&array(&pair[0])?, &array(&pair[1])?, outputs));
        }
        let inputs = layers.first().ok_or_else(|| Error::data("a predictor needs a layer"))?.inputs();
        Ok(Self { head, samples, inputs, body: Body::Perceptrons(Arc::new(Perceptrons { layers })) })
    }

    /// Number S of stacked networks.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Number of columns of an input.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// What the outputs of the last layer stand for.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The outputs of the last layer, by the networks at these places.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`
    /// - returns: `[places, rows, outputs]`
    fn outputs(&self, x: &Tensor<2>, places: &[usize]) -> Tensor<3> {
        match &self.body {
            Body::Perceptrons(networks) => networks.outputs(x, places),
            Body::Residual(members) => residual_outputs(members, x, places, self.head.outputs()),
        }
    }
}

/// What residual networks say of some rows; threads share the networks.
///
/// # Shapes
/// - `x`: `[rows, inputs]`, returns: `[places, rows, outputs]`
fn residual_outputs(members: &Arc<Vec<Frozen>>, x: &Tensor<2>, places: &[usize], outputs: usize) -> Tensor<3> {
    let (rows, tracked) = (x.dims()[0], is_tracked(x));
    let numbers = values(x.clone());
    let each = over_shards(places.len(), 1, |at| {
        let (outputs, passed) = members[places[at.start]].forward(&numbers);
        (outputs, tracked.then_some(passed))
    });
    let (said, passed): (Vec<Vec<f32>>, Vec<Option<Passed>>) = each.into_iter().unzip();
    let (members, chosen) = (members.clone(), places.to_vec());
    let shape = [places.len(), rows, outputs];
    let pull_back: PullBack = Arc::new(move |cotangent| {
        let each = over_shards(chosen.len(), 1, |at| {
            let cotangent = &cotangent[at.start * rows * outputs..at.end * rows * outputs];
            passed[at.start].as_ref().map(|passed| members[chosen[at.start]].back(cotangent, passed))
        });
        let sum = each.into_iter().flatten().reduce(|mut sum, own| {
            dense::add(&mut sum, &own);
            sum
        });
        Ok(sum.expect("somebody is asked"))
    });
    pulled_back(x, said.concat(), shape, pull_back)
}

/// Perceptrons of one shape.
#[derive(Debug)]
struct Perceptrons {
    layers: Vec<Linear>,
}

/// Where the activations of one network were above 0, layer by layer.
type Masks = Vec<Vec<u8>>;

impl Perceptrons {
    /// # Shapes
    /// - `x`: `[rows, inputs]`, returns: `[places, rows, outputs]`
    fn outputs(self: &Arc<Self>, x: &Tensor<2>, places: &[usize]) -> Tensor<3> {
        let [rows, inputs] = x.dims();
        let lanes = Lanes::from_rows(&values(x.clone()), inputs);
        let tracked = is_tracked(x);
        let each = over_shards(places.len(), GROUP, |group| {
            let run = |&place: &usize| {
                let (outputs, masks) = self.forward(place, &lanes);
                (outputs.to_rows(), if tracked { masks } else { vec![] })
            };
            places[group].iter().map(run).collect::<Vec<_>>()
        });
        let (outputs, masks): (Vec<Vec<f32>>, Vec<Masks>) = each.into_iter().flatten().unzip();
        let shape = [places.len(), rows, self.layers[self.layers.len() - 1].outputs()];
        let (networks, places) = (self.clone(), places.to_vec());
        let pull_back: PullBack =
            Arc::new(move |cotangent| Ok(networks.back(&places, rows, cotangent, &masks).to_rows()));
        pulled_back(x, outputs.concat(), shape, pull_back)
    }

    fn forward(&self, place: usize, x: &Lanes) -> (Lanes, Masks) {
        let mut masks = Masks::new();
        let mut h = self.layers[0].forward(place, x);
        for layer in &self.layers[1..] {
            masks.push(relu(&mut h));
            h = layer.forward(place, &h);
        }
        (h, masks)
    }

    /// ∂L/∂x for ∂L/∂outputs of the networks at these places.
    fn back(&self, places: &[usize], rows: usize, cotangent: &[f32], masks: &[Masks]) -> Lanes {
        let (first, rest) = self.layers.split_first().expect("a perceptron has a layer");
        let outputs = self.layers[rest.len()].outputs();
        let groups = over_shards(places.len(), GROUP, |group| {
            let mut sum = Lanes::zeros(rows, first.inputs());
            for at in group {
                let place = places[at];
                let mut d = Lanes::from_rows(&cotangent[at * rows * outputs..(at + 1) * rows * outputs], outputs);
                for (layer, mask) in rest.iter().zip(&masks[at]).rev() {
                    d = layer.back(place, &d);
                    relu_back(&mut d, mask);
                }
                first.back_onto(place, &d, &mut sum);
            }
            sum
        });
        groups.into_iter().reduce(|a, b| lanes::sum(a, &b)).expect("somebody is asked")
    }
}

impl Predictor for Stacked {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        self.predict_by(x, &(0..self.samples).collect::<Vec<_>>())
    }

    fn predict_by(&self, x: &Tensor<2>, samples: &[usize]) -> Result<Predictive> {
        let [rows, inputs] = x.dims();
        if inputs != self.inputs {
            return Err(Error::Shape {
                what: "the input".into(),
                expected: vec![rows, self.inputs],
                got: vec![rows, inputs],
            });
        }
        let outputs = self.outputs(x, samples);
        Ok(match self.head {
            Head::Classes(_) => Predictive::Classes { log_probabilities: log_softmax(outputs, 2) },
            Head::Gaussian => Predictive::Gaussian {
                mean: outputs.clone().slice([0..samples.len(), 0..rows, 0..1]).squeeze_dim(2),
                variance: softplus(outputs.slice([0..samples.len(), 0..rows, 1..2]).squeeze_dim(2), 1.0)
                    + VARIANCE_FLOOR,
            },
        })
    }

    fn can_choose(&self) -> bool {
        true
    }

    fn shares_out_samples(&self) -> bool {
        matches!(self.body, Body::Perceptrons(_)) && self.samples >= MANY
    }

    fn samples(&self) -> Option<usize> {
        Some(self.samples)
    }
}

/// The layout of S stacked copies of a network: every shape with S in front.
pub fn stacked_layout(layout: &Layout, samples: usize) -> Layout {
    let mut stacked = Layout::default();
    for entry in layout.entries() {
        stacked.push(&entry.name, &[&[samples], entry.shape.as_slice()].concat());
    }
    stacked
}

/// Networks of one layout as one stacked array for each of theirs.
pub fn stack(networks: &[Vec<f32>], layout: &Layout) -> Parameters {
    let stacked = Arc::new(stacked_layout(layout, networks.len()));
    let mut values = Vec::with_capacity(stacked.len());
    for entry in layout.entries() {
        for network in networks {
            values.extend_from_slice(&network[entry.range()]);
        }
    }
    Parameters::new(stacked, values).expect("as many numbers as the layout has places")
}

/// The networks that were stacked.
fn unstack(stacked: &Parameters, layout: &Arc<Layout>) -> Vec<Parameters> {
    let samples = stacked.values.len() / layout.len();
    let member = |place: usize| {
        let arrays = stacked.layout().entries().iter().map(|entry| {
            let len = entry.len() / samples;
            &stacked.values[entry.start + place * len..entry.start + (place + 1) * len]
        });
        let values = arrays.flatten().copied().collect();
        Parameters::new(layout.clone(), values).expect("as many numbers as the layout has places")
    };
    (0..samples).map(member).collect()
}

/// The masked copies of a dropout network: fixed masks, so that the same input always gets the same answer and the
/// answer changes smoothly with the input.
///
/// Dropping activation j of layer i is the same as scaling column j of the next layer's weight.
pub fn masked_copies(network: &Mlp, parameters: &[f32], samples: usize, seed: Seed) -> Vec<Vec<f32>> {
    let weights: Vec<_> = network.layout().entries().iter().filter(|entry| entry.shape.len() == 2).collect();
    (0..samples)
        .map(|sample| {
            let mut rng = seed.numbered("dropout masks", sample as u64);
            let mut copy = parameters.to_vec();
            for entry in &weights[1..] {
                let columns = entry.shape[1];
                let mask = dropout_mask(network.dropout(), columns, &mut rng);
                for row in copy[entry.range()].chunks_mut(columns) {
                    row.iter_mut().zip(&mask).for_each(|(w, m)| *w *= m);
                }
            }
            copy
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::parameters::Weights;
    use crate::tensor::{tensor, values};

    fn rows() -> Tensor<2> {
        tensor(vec![0.2, -1.0, 0.7, 0.4, 1.5, -0.3], [2, 3])
    }

    #[test]
    fn each_slice_is_the_network_it_was_stacked_from() {
        let network = Mlp::new(3, &[4], Head::Classes(2), 0.0);
        let mut rng = Seed(3).stream("init");
        let members: Vec<_> = (0..3).map(|_| Parameters::initial(network.layout().clone(), &mut rng)).collect();
        let networks: Vec<Vec<f32>> = members.iter().map(|member| member.values.clone()).collect();
        let stacked = Stacked::new(&stack(&networks, network.layout()), &Network::Mlp(network.clone())).unwrap();
        let Predictive::Classes { log_probabilities } = stacked.predict(&rows()).unwrap() else { panic!("classes") };
        let all = values(log_probabilities);
        for (s, member) in members.iter().enumerate() {
            let alone = log_softmax(network.forward(&Weights::frozen(member), rows(), &mut rng), 1);
            for (a, b) in values(alone).iter().zip(&all[s * 4..]) {
                assert!((a - b).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn masked_copies_are_the_same_every_time_and_differ_among_themselves() {
        let network = Mlp::new(3, &[8, 8], Head::Classes(2), 0.5);
        let parameters = Parameters::initial(network.layout().clone(), &mut Seed(3).stream("init"));
        let copies = masked_copies(&network, &parameters.values, 4, Seed(9));
        assert_eq!(copies, masked_copies(&network, &parameters.values, 4, Seed(9)));
        assert_ne!(copies[0], copies[1]);
        // The first layer sees the input, which is never dropped.
        assert_eq!(copies[0][..3 * 8], parameters.values[..3 * 8]);
    }

    #[test]
    fn an_input_of_another_width_is_refused() {
        let network = Mlp::new(3, &[4], Head::Classes(2), 0.0);
        let parameters = Parameters::initial(network.layout().clone(), &mut Seed(3).stream("init"));
        let stacked =
            Stacked::new(&stack(&[parameters.values], network.layout()), &Network::Mlp(network.clone())).unwrap();
        let error = stacked.predict(&tensor(vec![0.0; 4], [2, 2])).unwrap_err();
        assert_eq!(error.to_string(), "the input has shape [2, 2], expected [2, 3]");
    }
}
