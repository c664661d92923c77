//! Every derivative of the models and uncertainties against central differences, and finite at the awkward points.

use crate::common::{assert_gradient, disagreements, normals};
use cluekit::Seed;
use cluekit::data::{Constraints, Feature, Image, Kind, Samples, Scaling, Schema, Target, Targets, Task};
use cluekit::model::plan::Architecture;
use cluekit::model::{Generative, Predictive, Predictor};
use cluekit::model::{Stacked, Vae};
use cluekit::tensor::{
    Tensor, doubling_convolution, gradients, halving_convolution, leaf, linear, pulled_back, scalar, tensor, values,
};
use cluekit::testing::model::{
    Batch, Head, Layout, Likelihood, Mlp, Network, Parameters, ResNet, Trainable, VaeNetwork, VaeShape, Weights,
    gradient_by_graph, negative_log_likelihood, stack,
};
use cluekit::uncertainty::{Decomposition, Uncertainty, mean_prediction};
use std::sync::Arc;

fn sum(numbers: &[f32]) -> f64 {
    numbers.iter().map(|&number| f64::from(number)).sum()
}

/// Checks ∂ Σ r y(a) / ∂a for fixed random factors r, so that no two outputs can stand in for one another.
fn check_map<const A: usize, const B: usize>(what: &str, shape: [usize; A], map: impl Fn(Tensor<A>) -> Tensor<B>) {
    let at = normals(shape.iter().product(), 1);
    let output = |a: Tensor<A>| {
        let y = map(a);
        let factors = normals(y.dims().iter().product(), 2);
        y.clone() * tensor(factors, y.dims())
    };
    let argument = leaf(at.clone(), shape);
    let gradient = gradients(&output(argument.clone()).sum(), &[argument]).unwrap().remove(0);
    assert_gradient(what, &at, &gradient, |a| sum(&values(output(tensor(a.to_vec(), shape)))));
}

fn constant<const D: usize>(shape: [usize; D], seed: u64) -> Tensor<D> {
    tensor(normals(shape.iter().product(), seed), shape)
}

#[test]
fn a_linear_layer_has_the_derivatives_of_its_input_weight_and_bias() {
    // Kernels may change with the size: a tiny one, one that fills no vector, and one beyond a block.
    for [rows, inputs, outputs] in [[1, 1, 1], [3, 5, 4], [65, 33, 70]] {
        let (x, weight, bias) = ([rows, inputs], [outputs, inputs], [outputs]);
        check_map("input", x, |x| linear(x, constant(weight, 3), constant(bias, 4)));
        check_map("weight", weight, |weight| linear(constant(x, 3), weight, constant(bias, 4)));
        check_map("bias", bias, |bias| linear(constant(x, 3), constant(weight, 4), bias));
    }
}

#[test]
fn numbers_from_outside_of_the_graph_have_the_derivative_of_their_pull_back() {
    // e^x of one column times the next one, as [columns − 1, 1, rows]: another rank and another order than x has.
    let outside = |x: Tensor<2>| -> Tensor<3> {
        let ([rows, columns], at) = (x.dims(), values(x.clone()));
        let places = move || (0..columns - 1).flat_map(move |c| (0..rows).map(move |row| row * columns + c));
        let y = places().map(|place| at[place].exp() * at[place + 1]).collect();
        let pull_back = move |cotangent: &[f32]| {
            let mut gradient = vec![0.0; at.len()];
            for (place, g) in places().zip(cotangent) {
                gradient[place] += g * at[place].exp() * at[place + 1];
                gradient[place + 1] += g * at[place].exp();
            }
            Ok(gradient)
        };
        pulled_back(&x, y, [columns - 1, 1, rows], Arc::new(pull_back))
    };
    check_map("from outside", [3, 4], outside);
    check_map("between tensors", [3, 4], |x| outside((x * 0.5).sin()).tanh());
}

/// Rows, channels on the larger side, channels on the smaller side, height and width of the larger side.
const CONVOLUTIONS: [[usize; 5]; 6] =
    [[1, 1, 1, 1, 1], [2, 1, 2, 5, 6], [2, 3, 2, 7, 4], [1, 2, 3, 2, 3], [3, 8, 16, 9, 9], [2, 16, 32, 14, 13]];

#[test]
fn a_halving_convolution_has_the_derivatives_of_its_input_weight_and_bias() {
    for [rows, large, small, height, width] in CONVOLUTIONS {
        let (x, weight, bias) = ([rows, height, width, large], [small, large, 3, 3], [small]);
        check_map("input", x, |x| halving_convolution(x, constant(weight, 3), constant(bias, 4)));
        check_map("weight", weight, |weight| halving_convolution(constant(x, 3), weight, constant(bias, 4)));
        check_map("bias", bias, |bias| halving_convolution(constant(x, 3), constant(weight, 4), bias));
    }
}

#[test]
fn a_doubling_convolution_has_the_derivatives_of_its_input_weight_and_bias() {
    for [rows, large, small, height, width] in CONVOLUTIONS {
        let size = [height, width];
        let x = [rows, height.div_ceil(2), width.div_ceil(2), small];
        let (weight, bias) = ([small, large, 3, 3], [large]);
        check_map("input", x, |x| doubling_convolution(x, constant(weight, 3), constant(bias, 4), size));
        check_map("weight", weight, |weight| doubling_convolution(constant(x, 3), weight, constant(bias, 4), size));
        check_map("bias", bias, |bias| doubling_convolution(constant(x, 3), constant(weight, 4), bias, size));
    }
}

/// Checks the loss by all parameters; every array must matter, or it would be compared with nothing.
fn check_loss(network: &impl Trainable, batch: &Batch) {
    let layout = network.layout();
    let mut parameters = Parameters::initial(layout.clone(), &mut Seed(5).stream("init"));
    // Smaller than at the start of training, so that the loss is gentle; and biases and log-variances away from 0,
    // where too much is symmetric.
    let draws = normals(layout.len(), 6);
    parameters.values.iter_mut().zip(draws).for_each(|(value, draw)| *value = 0.7 * *value + 0.1 * draw);
    // The same stream for each evaluation: the noise stays, the parameters move.
    let loss = |weights: &Weights| network.loss(weights, batch, &mut Seed(7).stream("noise")).unwrap();
    let tracked = Weights::tracked(&parameters);
    let mut gradient = tracked.gradient(&loss(&tracked)).unwrap();
    for entry in layout.entries() {
        // Running statistics are led by a number that stays 0.
        if entry.is_statistic {
            gradient[entry.range()].fill(0.0);
            continue;
        }
        let matters = gradient[entry.range()].iter().any(|g| g.abs() > 1e-4);
        assert!(matters, "the loss does not depend on {}", entry.name);
    }
    assert_gradient(&format!("{:?}", layout.entries()), &parameters.values, &gradient, |theta| {
        let moved = Parameters::new(layout.clone(), theta.to_vec()).unwrap();
        f64::from(scalar(loss(&Weights::tracked(&moved))))
    });
}

/// Checks that what a network computes by itself is what the graph of its loss says.
fn check_by_graph(network: &dyn Trainable, samples: &Samples) {
    let mut parameters = Parameters::initial(network.layout().clone(), &mut Seed(5).stream("init"));
    let draws = normals(parameters.values.len(), 6);
    parameters.values.iter_mut().zip(draws).for_each(|(value, draw)| *value += 0.1 * draw);
    parameters.layout().clone().entries().iter().filter(|entry| entry.name.ends_with("variance")).for_each(|entry| {
        parameters.values[entry.range()].iter_mut().for_each(|value| *value = value.abs() + 0.1);
    });
    // Several shards, the last one small, in an order of their own.
    let indices: Vec<usize> = (0..samples.len()).rev().collect();
    let streams = |row: usize| Seed(7).numbered("noise", row as u64);
    let own = network.gradient(&parameters, samples, &indices, &streams).unwrap();
    let graph = gradient_by_graph(network, &parameters, samples, &indices, &streams).unwrap();
    assert!((own.loss - graph.loss).abs() < 1e-5 * graph.loss.abs().max(1.0), "{} {}", own.loss, graph.loss);
    for entry in network.layout().entries() {
        let [own, graph] = [&own.values[entry.range()], &graph.values[entry.range()]];
        let scale = graph.iter().fold(1e-3f32, |most, value| most.max(value.abs()));
        for (own, graph) in own.iter().zip(graph) {
            assert!((own - graph).abs() < 1e-4 * scale, "{}: {own}, the graph says {graph}", entry.name);
        }
    }
}

fn samples_of(x: Vec<f32>, width: usize, y: Targets) -> Samples {
    Samples { x, width, y, weights: None }
}

#[test]
fn perceptrons_have_the_gradient_of_their_graph() {
    let classes = |rows: u32| Targets::Classes((0..rows).map(|row| row * row % 3).collect());
    for dropout in [0.0, 0.4] {
        check_by_graph(
            &Mlp::new(5, &[20, 17], Head::Classes(3), dropout),
            &samples_of(normals(150 * 5, 30), 5, classes(150)),
        );
        let weights = Some(normals(9, 31).iter().map(|draw| draw.abs()).collect());
        let samples = Samples { weights, ..samples_of(normals(9 * 5, 32), 5, Targets::Values(normals(9, 33))) };
        check_by_graph(&Mlp::new(5, &[7], Head::Gaussian, dropout), &samples);
    }
    check_by_graph(&Mlp::new(5, &[], Head::Classes(3), 0.0), &samples_of(normals(20, 34), 5, classes(4)));
}

#[test]
fn residual_variational_autoencoders_have_the_gradient_of_their_graph() {
    let samples = |x: Tensor<2>| {
        let [rows, width] = x.dims();
        samples_of(values(x), width, Targets::Classes(vec![0; rows]))
    };
    let network = |schema: &Schema| VaeNetwork::new(&residual(), schema).unwrap();
    check_by_graph(&network(&images(2, 3, 4)), &samples(pixels(140, 24)));
    check_by_graph(&network(&mixed()), &samples(mixed_rows()));
}

#[test]
fn residual_networks_have_the_gradient_of_their_graph() {
    for (channels, blocks) in [(vec![3, 18], 2), (vec![16], 1), (vec![5], 3)] {
        let image = Image { channels: 2, height: 5, width: 4, maximum: 255.0 };
        let network = ResNet::new(&image, &channels, blocks, Head::Classes(3));
        let classes = Targets::Classes((0..70).map(|row| row * row % 3).collect());
        check_by_graph(&network, &samples_of(values(pixels(70, 40)), 40, classes));
    }
}

#[test]
fn the_loss_of_a_classifier_has_its_derivatives() {
    let batch = Batch {
        x: constant([4, 3], 10),
        y: Targets::Classes(vec![2, 0, 1, 2]),
        weights: Some(vec![0.5, 2.0, 0.0, 1.5]),
    };
    check_loss(&Mlp::new(3, &[6, 5], Head::Classes(3), 0.0), &batch);
    check_loss(&Mlp::new(3, &[], Head::Classes(3), 0.0), &batch);
}

#[test]
fn the_loss_of_a_gaussian_regression_has_its_derivatives() {
    let batch =
        Batch { x: constant([4, 3], 11), y: Targets::Values(normals(4, 12)), weights: Some(vec![0.5, 2.0, 0.0, 1.5]) };
    check_loss(&Mlp::new(3, &[6, 5], Head::Gaussian, 0.0), &batch);
}

#[test]
fn the_loss_with_dropout_has_its_derivatives_for_given_masks() {
    let classes = Batch { x: constant([6, 3], 13), y: Targets::Classes(vec![2, 0, 1, 2, 1, 0]), weights: None };
    check_loss(&Mlp::new(3, &[8, 7], Head::Classes(3), 0.4), &classes);
    let values = Batch { x: constant([6, 3], 14), y: Targets::Values(normals(6, 15)), weights: None };
    check_loss(&Mlp::new(3, &[8, 7], Head::Gaussian, 0.4), &values);
}

fn schema(image: Option<Image>, features: Vec<Kind>) -> Schema {
    let classes = ["a", "b"].map(String::from).to_vec();
    let features = features.into_iter().enumerate();
    let schema = Schema {
        target: Target { name: "y".into(), task: Task::Classification { classes }, unit: None, meaning: None },
        image,
        features: features
            .map(|(i, kind)| Feature { name: format!("x{i}"), kind, unit: None, meaning: None, missing: None })
            .collect(),
        constraints: Constraints::default(),
    };
    schema.validate().unwrap();
    schema
}

fn images(channels: usize, height: usize, width: usize) -> Schema {
    schema(Some(Image { channels, height, width, maximum: 255.0 }), vec![])
}

fn number() -> Kind {
    Kind::Continuous(Scaling { mean: 0.0, deviation: 1.0, decimals: None, least: -3.0, greatest: 3.0 })
}

fn one_of(count: usize) -> Kind {
    let categories = (0..count).map(|i| i.to_string()).collect();
    if count == 2 { Kind::Binary { categories } } else { Kind::Categorical { categories } }
}

/// Numbers and binary features with two categorical ones between them: thirteen columns, four of them normal.
fn mixed() -> Schema {
    schema(None, vec![number(), number(), one_of(2), one_of(3), one_of(4), number(), one_of(2), number()])
}

/// Three rows of the mixed schema.
fn mixed_rows() -> Tensor<2> {
    let rows = [
        [0.3, -1.2, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.7, 0.0, -0.4],
        [-0.9, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -0.2, 1.0, 1.6],
        [1.4, 0.1, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, -1.1, 0.0, 0.2],
    ];
    tensor(rows.concat(), [3, 13])
}

/// Rows of numbers between 0 and 1.
fn pixels(rows: usize, width: usize) -> Tensor<2> {
    let x = normals(rows * width, 20).into_iter().map(|draw| 1.0 / (1.0 + (-2.0 * draw).exp())).collect();
    tensor(x, [rows, width])
}

fn batch_of(y: Targets) -> Batch {
    Batch { x: constant([2, 1], 1), y, weights: None }
}

fn rows_of(x: Tensor<2>) -> Batch {
    let rows = x.dims()[0];
    Batch { x, y: Targets::Classes(vec![0; rows]), weights: None }
}

fn residual() -> VaeShape {
    VaeShape {
        architecture: Architecture::Residual,
        latent: 2,
        low_latent: 0,
        width: 6,
        depth: 2,
        blocks: 0,
        channels: vec![],
    }
}

fn convolution() -> VaeShape {
    VaeShape {
        architecture: Architecture::Convolution,
        latent: 2,
        low_latent: 0,
        width: 6,
        depth: 0,
        blocks: 0,
        channels: vec![2, 3],
    }
}

fn ladder() -> VaeShape {
    let (latent, low_latent) = (1, 1);
    VaeShape {
        architecture: Architecture::Ladder,
        latent,
        low_latent,
        width: 6,
        depth: 1,
        blocks: 1,
        channels: vec![2, 3],
    }
}

#[test]
fn the_loss_of_a_residual_vae_of_images_has_its_derivatives() {
    let network = VaeNetwork::new(&residual(), &images(1, 3, 4)).unwrap();
    check_loss(&network, &rows_of(pixels(3, 12)));
}

#[test]
fn the_loss_of_a_residual_vae_of_numbers_has_its_derivatives() {
    let network = VaeNetwork::new(&residual(), &schema(None, vec![number(), number(), number()])).unwrap();
    check_loss(&network, &rows_of(constant([3, 3], 21)));
}

#[test]
fn the_loss_of_a_residual_vae_of_a_mixed_table_has_its_derivatives() {
    let network = VaeNetwork::new(&residual(), &mixed()).unwrap();
    check_loss(&network, &rows_of(mixed_rows()));
}

#[test]
fn the_loss_of_a_convolutional_vae_has_its_derivatives_for_odd_sizes() {
    for (channels, height, width) in [(1, 5, 6), (3, 7, 4)] {
        let network = VaeNetwork::new(&convolution(), &images(channels, height, width)).unwrap();
        check_loss(&network, &rows_of(pixels(2, channels * height * width)));
    }
}

#[test]
fn the_loss_of_a_ladder_has_its_derivatives_for_odd_sizes() {
    for (channels, height, width) in [(1, 5, 6), (3, 7, 4)] {
        let network = VaeNetwork::new(&ladder(), &images(channels, height, width)).unwrap();
        check_loss(&network, &rows_of(pixels(2, channels * height * width)));
    }
}

#[test]
fn the_loss_of_a_residual_network_has_its_derivatives() {
    for (channels, height, width, blocks) in [(1, 5, 6, 2), (3, 4, 4, 1)] {
        let image = Image { channels, height, width, maximum: 255.0 };
        let network = ResNet::new(&image, &[3, 4], blocks, Head::Classes(3));
        let batch = Batch {
            x: pixels(6, channels * height * width),
            y: Targets::Classes(vec![2, 0, 1, 2, 1, 0]),
            weights: None,
        };
        check_loss(&network, &batch);
    }
}

#[test]
fn likelihoods_have_the_derivatives_of_the_decoders_outputs_and_variances() {
    let likelihood = Likelihood::of(&mixed());
    let (x, variances, outputs) = (mixed_rows(), normals(4, 31), normals(39, 32));
    let negative_log =
        |outputs: Tensor<2>, variances: Tensor<1>| likelihood.negative_log(&outputs, &x, Some(variances));
    let l = leaf(outputs.clone(), [3, 13]);
    let loss = negative_log(l.clone(), tensor(variances.clone(), [4])).sum();
    assert_gradient("outputs", &outputs, &gradients(&loss, &[l]).unwrap().remove(0), |l| {
        sum(&values(negative_log(tensor(l.to_vec(), [3, 13]), tensor(variances.clone(), [4]))))
    });
    let v = leaf(variances.clone(), [4]);
    let loss = negative_log(tensor(outputs.clone(), [3, 13]), v.clone()).sum();
    assert_gradient("log-variances", &variances, &gradients(&loss, &[v]).unwrap().remove(0), |v| {
        sum(&values(negative_log(tensor(outputs.clone(), [3, 13]), tensor(v.to_vec(), [4]))))
    });
}

/// S small networks, three inputs wide, with random weights and biases.
fn stacked(head: Head, samples: usize) -> Stacked {
    let network = Mlp::new(3, &[6, 5], head, 0.0);
    let networks: Vec<Vec<f32>> = (0..samples).map(|s| normals(network.layout().len(), 40 + s as u64)).collect();
    Stacked::new(&stack(&networks, network.layout()), &Network::Mlp(network)).unwrap()
}

/// Checks every kind of uncertainty as a function of `at`, `[rows, columns]`.
fn check_uncertainty(at: &[f32], columns: usize, predict: impl Fn(&Tensor<2>) -> Predictive) {
    let shape = [at.len() / columns, columns];
    for kind in Uncertainty::ALL {
        let argument = leaf(at.to_vec(), shape);
        let uncertainty = Decomposition::of(&predict(&argument)).get(kind).sum();
        let gradient = gradients(&uncertainty, &[argument]).unwrap().remove(0);
        assert_gradient(&format!("{kind:?}"), at, &gradient, |at| {
            sum(&values(Decomposition::of(&predict(&tensor(at.to_vec(), shape))).get(kind)))
        });
    }
}

#[test]
fn uncertainty_has_its_derivatives_by_the_input() {
    for head in [Head::Classes(4), Head::Gaussian] {
        let predictor = stacked(head, 3);
        check_uncertainty(&normals(12, 50), 3, |x| predictor.predict(x).unwrap());
    }
}

#[test]
fn uncertainty_of_residual_networks_has_its_derivatives_by_the_input() {
    let network = ResNet::new(&Image { channels: 1, height: 4, width: 5, maximum: 1.0 }, &[3, 4], 2, Head::Classes(3));
    let member = |s: u64| {
        let draws = normals(network.layout().len(), 70 + s);
        let mut parameters = Parameters::initial(network.layout().clone(), &mut Seed(s).stream("init"));
        // Statistics and shifts away from where they start; variances stay positive.
        parameters.values.iter_mut().zip(draws).for_each(|(value, draw)| *value += 0.1 * draw);
        parameters.values
    };
    let members: Vec<Vec<f32>> = (0..3).map(member).collect();
    let predictor = Stacked::new(&stack(&members, network.layout()), &Network::ResNet(network)).unwrap();
    let x = values(pixels(2, 20));
    check_uncertainty(&x, 20, |x| predictor.predict(x).unwrap());
}

#[test]
fn uncertainty_has_its_derivatives_by_the_latent_code() {
    // Two numbers and a binary feature, so that decoding is more than the network's own output.
    let network = VaeNetwork::new(&residual(), &schema(None, vec![number(), number(), one_of(2)])).unwrap();
    let parameters = Parameters::initial(network.layout().clone(), &mut Seed(8).stream("init"));
    let vae = Vae::new(network, &parameters);
    for head in [Head::Classes(4), Head::Gaussian] {
        let predictor = stacked(head, 3);
        check_uncertainty(&normals(8, 51), 2, |z| predictor.predict(&vae.decode(z).unwrap()).unwrap());
    }
}

#[test]
fn decoding_to_pixels_and_categories_has_its_derivatives_by_the_latent_code() {
    for (shape, schema) in [(residual(), mixed()), (convolution(), images(3, 7, 4)), (ladder(), images(3, 7, 4))] {
        let network = VaeNetwork::new(&shape, &schema).unwrap();
        let values = normals(network.layout().len(), 60).iter().map(|draw| 0.5 * draw).collect();
        let vae = Vae::new(network.clone(), &Parameters::new(network.layout().clone(), values).unwrap());
        check_map("latent code", [3, 2], |z| vae.decode(&z).unwrap());
    }
}

/// S networks of one layer, two inputs wide, whose weights are given as `[S, outputs, 2]`.
fn one_layer(weights: &[f32], samples: usize, head: Head) -> Stacked {
    let mut layout = Layout::default();
    layout.push("layers.0.weight", &[samples, head.outputs(), 2]);
    layout.push("layers.0.bias", &[samples, head.outputs()]);
    let values = [weights, &vec![0.0; samples * head.outputs()]].concat();
    let network = Network::Mlp(Mlp::new(2, &[], head, 0.0));
    Stacked::new(&Parameters::new(Arc::new(layout), values).unwrap(), &network).unwrap()
}

/// Total, aleatoric and epistemic uncertainty of one row with their gradients, all of which must be finite.
fn finite(predictor: &Stacked, x: [f32; 2]) -> [(f32, Vec<f32>); 3] {
    Uncertainty::ALL.map(|kind| {
        let argument = leaf(x.to_vec(), [1, 2]);
        let uncertainty = Decomposition::of(&predictor.predict(&argument).unwrap()).get(kind);
        let gradient = gradients(&uncertainty, &[argument]).unwrap().remove(0);
        let value = scalar(uncertainty);
        assert!(value.is_finite() && gradient.iter().all(|g| g.is_finite()), "{kind:?}: {value}, {gradient:?}");
        (value, gradient)
    })
}

fn assert_amounts(got: &[(f32, Vec<f32>); 3], expected: [f32; 3]) {
    for ((got, _), expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() < 1e-6, "got {got}, expected {expected}");
    }
}

#[test]
fn probabilities_of_exactly_zero_and_one_leave_gradients_finite() {
    let ln2 = 2f32.ln();
    for scale in [200.0, 1e4, 1e30] {
        let certain = [scale, 0.0, 0.0, 0.0, -scale, 0.0];
        let agreeing = one_layer(&[certain, certain].concat(), 2, Head::Classes(3));
        let mean = values(mean_prediction(&agreeing.predict(&tensor(vec![1.0, 0.5], [1, 2])).unwrap()));
        assert_eq!(mean, vec![1.0, 0.0, 0.0], "the point is not as awkward as it should be");
        assert_amounts(&finite(&agreeing, [1.0, 0.5]), [0.0, 0.0, 0.0]);
        let disagreeing = one_layer(&[certain, certain.map(|w| -w)].concat(), 2, Head::Classes(3));
        assert_amounts(&finite(&disagreeing, [1.0, 0.5]), [ln2, 0.0, ln2]);
    }
}

#[test]
fn a_single_sample_and_equal_samples_know_no_epistemic_uncertainty() {
    let weights = [0.5, -0.2, 0.1, 0.7, -0.4, 0.3];
    for samples in [1, 2, 5] {
        let classes = finite(&one_layer(&weights.repeat(samples), samples, Head::Classes(3)), [1.0, 0.5]);
        assert!((classes[0].0 - classes[1].0).abs() < 1e-6 && classes[2].0.abs() < 1e-6, "{classes:?}");
        assert!(classes[2].1.iter().all(|g| g.abs() < 1e-6), "{classes:?}");
        // Not 0 but the root of the least variance, 10⁻⁶, where the root's slope is still a number.
        let normal = finite(&one_layer(&weights[..4].repeat(samples), samples, Head::Gaussian), [1.0, 0.5]);
        assert!((normal[0].0 - normal[1].0).abs() < 1e-6 && normal[2].0 < 2e-6, "{normal:?}");
        assert!(normal[2].1.iter().all(|g| g.abs() < 1e-6), "{normal:?}");
    }
}

#[test]
fn a_variance_that_vanishes_or_is_vast_leaves_gradients_finite() {
    // softplus(−10⁴) = 0 leaves the floor 10⁻⁴, and softplus(10⁴) = 10⁴; the means are 1 and −1.
    for (slope, aleatoric) in [(-1e4f32, 0.01f32), (1e4, 100.0)] {
        let predictor = one_layer(&[1.0, 0.0, slope, 0.0, -1.0, 0.0, slope, 0.0], 2, Head::Gaussian);
        let total = (aleatoric.powi(2) + 1.0).sqrt();
        let got = finite(&predictor, [1.0, 0.5]);
        for ((got, _), expected) in got.iter().zip([total, aleatoric, 1.0]) {
            assert!((got / expected - 1.0).abs() < 1e-5, "got {got}, expected {expected}");
        }
    }
}

#[test]
fn losses_of_extreme_outputs_have_finite_gradients() {
    for size in [200.0, 1e4, 1e15] {
        let outputs = leaf(vec![size, -size, 0.0, -size, size, 0.0], [2, 3]);
        let loss = negative_log_likelihood(outputs.clone(), &batch_of(Targets::Classes(vec![1, 1])), Head::Classes(3));
        // The first row is wrong by 2 × size, the second is right.
        assert!((scalar(loss.clone()) / (2.0 * size) - 1.0).abs() < 1e-6, "{loss}");
        assert_eq!(gradients(&loss, &[outputs]).unwrap().concat(), vec![1.0, -1.0, 0.0, 0.0, 0.0, 0.0]);
        let outputs = leaf(vec![1.0, size, 1.0, -size], [2, 2]);
        let loss = negative_log_likelihood(outputs.clone(), &batch_of(Targets::Values(vec![0.0, 0.0])), Head::Gaussian);
        let gradient = gradients(&loss, &[outputs]).unwrap().concat();
        assert!(scalar(loss).is_finite() && gradient.iter().all(|g| g.is_finite()), "{gradient:?}");
    }
}

#[test]
fn likelihoods_of_extreme_outputs_have_finite_gradients() {
    let likelihood = Likelihood::of(&mixed());
    for size in [100.0, 1e4, 1e15] {
        for log_variance in [-1e4, 0.0, 1e4] {
            // The outputs and, behind them, the variances: one leaf, one gradient.
            let draws = normals(39, 70).into_iter().map(|draw| draw * size);
            let argument = leaf(draws.chain([log_variance; 4]).collect(), [43]);
            let outputs = argument.clone().narrow(0, 0, 39).reshape([3, 13]);
            let variances = argument.clone().narrow(0, 39, 4);
            let loss = likelihood.negative_log(&outputs, &mixed_rows(), Some(variances)).sum();
            let all = [gradients(&loss, &[argument]).unwrap().concat(), vec![scalar(loss)]].concat();
            assert!(all.iter().all(|number| number.is_finite()), "{size}, {log_variance}: {all:?}");
        }
    }
}

#[test]
fn the_loss_of_a_vae_with_extreme_weights_has_a_finite_gradient() {
    // A ladder multiplies more weights with each other, so they need not be as extreme.
    for (shape, schema, x, scale) in [
        (residual(), mixed(), mixed_rows(), 10.0),
        (convolution(), images(1, 5, 6), pixels(2, 30), 10.0),
        (ladder(), images(1, 5, 6), pixels(2, 30), 3.0),
    ] {
        let network = VaeNetwork::new(&shape, &schema).unwrap();
        let values = normals(network.layout().len(), 71).iter().map(|draw| scale * draw).collect();
        let weights = Weights::tracked(&Parameters::new(network.layout().clone(), values).unwrap());
        // The encoder's log-variances run into their bound of ±12.
        let variances = cluekit::tensor::values(network.encode(&weights, x.clone()).log_variance);
        assert!(variances.iter().any(|v| v.abs() >= 12.0), "{variances:?}");
        let loss = network.loss(&weights, &rows_of(x), &mut Seed(7).stream("noise")).unwrap();
        let gradient = weights.gradient(&loss).unwrap();
        assert!(scalar(loss).is_finite() && gradient.iter().all(|g| g.is_finite()), "{gradient:?}");
    }
}

#[test]
fn a_gradient_that_is_wrong_in_one_place_is_noticed() {
    // Σ relu(aᵢ)² + sin aᵢ has the derivative 2 relu(aᵢ) + cos aᵢ.
    let f = |a: &[f32]| a.iter().map(|&a| f64::from(a.max(0.0)).powi(2) + f64::from(a).sin()).sum::<f64>();
    let at = normals(20, 80);
    let gradient: Vec<f32> = at.iter().map(|&a| 2.0 * a.max(0.0) + a.cos()).collect();
    assert_eq!(disagreements(&at, &gradient, f), Vec::<String>::new());
    for i in 0..at.len() {
        let mut wrong = gradient.clone();
        wrong[i] += 0.1 + 0.05 * wrong[i].abs();
        let problems = disagreements(&at, &wrong, f);
        assert!(problems[0].starts_with(&format!("coordinate {i}:")), "{problems:?}");
    }
    let scaled: Vec<f32> = gradient.iter().map(|g| 1.03 * g).collect();
    assert!(disagreements(&at, &scaled, f).iter().any(|problem| problem.starts_with("along the gradient")));
    assert!(disagreements(&at, &vec![0.0; at.len()], f)[0].contains("nothing to compare"));
}
