//! The neural mapper on models that can be computed by hand, and its gradient against differences.

use super::network::slope;
use super::pool::{draw_other, mixtures};
use super::training::draw_target;
use super::*;
use crate::amortise::toy::{Same, Sigmoid, classes, predicted, rows};
use crate::data::{Samples, Scaling, Task};
use crate::distance::Distance;
use crate::model::training::{Batch, Trainable, TrainingPlan};
use crate::model::{Generative, Predictive, Predictor};
use crate::observer::Silent;
use crate::tensor::{Tensor, log_softmax, scalar};
use rand_distr::{Distribution, StandardNormal};

/// Settings that train in a moment, around λ_x = 0.1.
fn small() -> NeuralPlan {
    NeuralPlan {
        width: 16,
        depth: 1,
        mixtures: 1500,
        lambda_x: 0.1,
        lambda_span: 10.0,
        fit: TrainingPlan { epochs: 40, batch: 32, learning_rate: 0.01, weight_decay: 0.0, patience: 0 },
        ..NeuralPlan::default()
    }
}

fn l1() -> Metric {
    Metric::fit(Distance::L1, &[], 1, None).unwrap()
}

fn asking(lambda_x: f32) -> Price {
    Price { lambda_x, ..Price::default() }
}

fn normals(len: usize, seed: u64, scale: f32) -> Vec<f32> {
    let draws = StandardNormal.sample_iter(Seed(seed).stream("test"));
    draws.take(len).map(|draw: f32| scale * draw).collect()
}

#[test]
fn the_trade_off_is_nothing_in_the_middle_and_one_at_the_ends() {
    let plan = small();
    for (lambda_x, expected) in [(0.1, 0.0), (1.0, 1.0), (0.01, -1.0), (100.0, 1.0), (0.0, -1.0)] {
        let got = plan.trade_off(lambda_x);
        assert!((got - expected).abs() < 1e-6, "λ_x = {lambda_x}: {got}");
    }
    // Halfway between 0.1 and 1 on the scale of logarithms.
    assert!((plan.trade_off(0.1 * 10f32.sqrt()) - 0.5).abs() < 1e-6);
    let [least, most] = plan.range();
    assert!((least - 0.01).abs() < 1e-7 && (most - 1.0).abs() < 1e-6, "{least} to {most}");
    let narrow = NeuralPlan { lambda_span: 1.0, ..plan };
    assert!(narrow.trade_off(0.5).abs() < f32::MIN_POSITIVE, "a mapper of one λ_x knows no other");
}

#[test]
fn settings_that_cannot_be_used_are_refused_by_name() {
    assert!(NeuralPlan::default().validate().is_ok() && small().validate().is_ok());
    type Spoil = fn(&mut NeuralPlan);
    let wrong: [(&str, Spoil); 20] = [
        ("neural.width", |plan| plan.width = 0),
        ("neural.width", |plan| plan.width = 1_000_000),
        ("neural.depth", |plan| plan.depth = 101),
        ("neural.samples", |plan| plan.samples = 0),
        ("neural.mixtures", |plan| plan.mixtures = usize::MAX),
        ("neural.mixing", |plan| plan.mixing = 0.6),
        ("neural.mixing", |plan| plan.mixing = f32::NAN),
        ("neural.left_out", |plan| plan.left_out = 0.5),
        ("neural.rounds", |plan| plan.rounds = 0),
        ("neural.others_share", |plan| plan.others_share = 1.0),
        ("neural.uncertain_share", |plan| plan.uncertain_share = 0.0),
        ("neural.repeats", |plan| plan.repeats = 1001),
        ("neural.target_weight", |plan| plan.target_weight = -0.1),
        ("neural.target_weight", |plan| plan.target_weight = f32::INFINITY),
        ("neural.lambda_x", |plan| plan.lambda_x = 0.0),
        ("neural.lambda_x", |plan| plan.lambda_x = f32::NAN),
        ("neural.lambda_span", |plan| plan.lambda_span = 0.5),
        ("neural.lambda_span", |plan| plan.lambda_span = f32::INFINITY),
        ("neural.fit.batch", |plan| plan.fit.batch = 0),
        ("neural.fit.learning_rate", |plan| plan.fit.learning_rate = 0.0),
    ];
    for (key, spoil) in wrong {
        let mut plan = small();
        spoil(&mut plan);
        let message = plan.validate().unwrap_err().to_string();
        assert!(message.starts_with(&format!("setting `{key}`: must ")), "{message}");
    }
}

#[test]
fn settings_of_a_file_replace_their_own_and_no_others() {
    let of = |text: &str| small().with(&text.parse().unwrap());
    let plan = of("rounds = 4\n[fit]\nepochs = 7").unwrap();
    assert_eq!(plan, NeuralPlan { rounds: 4, fit: TrainingPlan { epochs: 7, ..small().fit }, ..small() });
    assert_eq!(of("").unwrap(), small());
    for (text, part) in [("turns = 4", "turns"), ("rounds = -1", "rounds"), ("[fit]\nepoch = 1", "epoch")] {
        let message = of(text).unwrap_err().to_string();
        assert!(message.starts_with("setting `neural`: ") && message.contains(part), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn the_most_probable_classes_come_first_and_of_equals_the_first() {
    assert_eq!(most_probable(&[0.1, 0.4, 0.1, 0.4], 3), [1, 3, 0]);
    assert_eq!(most_probable(&[0.3, 0.7], 9), [1, 0]);
}

#[test]
fn targets_are_drawn_among_the_three_most_probable_classes_only() {
    let mut rng = Seed(1).stream("targets");
    let mut seen = [0; 5];
    for _ in 0..4000 {
        seen[draw_target(&[0.5, 0.06, 0.24, 0.15, 0.05], &mut rng)] += 1;
    }
    assert_eq!([seen[1], seen[4]], [0, 0]);
    // Half the time by the probabilities of the three, which sum to 0.89, half the time any of them.
    for (class, probability) in [(0, 0.5), (2, 0.24), (3, 0.15)] {
        let (got, expected) = (f64::from(seen[class]) / 4000.0, 0.5 * probability / 0.89 + 0.5 / 3.0);
        assert!((got - expected).abs() < 0.03, "class {class}: {got}, expected {expected}");
    }
}

#[test]
fn a_row_of_another_class_is_drawn_where_there_is_one() {
    let probabilities: [&[f32]; 4] = [&[1.0, 0.0]; 4];
    let mixed = predicted(&probabilities, Some(&[0, 0, 1, 1]));
    let mut rng = Seed(2).stream("pairs");
    assert!((0..100).all(|_| draw_other(&mixed, 0, &mut rng) >= 2));
    let alike = predicted(&probabilities, Some(&[1, 1, 1, 1]));
    assert!(draw_other(&alike, 0, &mut rng) < 4);
}

/// The first column is the code; the second is what the generative model leaves out.
struct FirstColumn;

impl Generative for FirstColumn {
    fn latent_dim(&self) -> usize {
        1
    }

    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(x.clone().narrow(1, 0, 1))
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(Tensor::cat(vec![z.clone(), z.clone() * 0.0], 1))
    }
}

#[test]
fn mixtures_lie_between_two_rows_and_keep_what_the_nearer_one_has() {
    // Both rows are certain, so at least 0.3 and at most half of the way from −10 to 10, or back, is gone.
    let models = Models::new(&FirstColumn, &Sigmoid);
    let parents = rows(&models, &[-10.0, 1.0, 10.0, 2.0], 2, &[0, 1]);
    let plan = NeuralPlan { mixing: 0.3, left_out: 1.0, mixtures: 600, ..small() };
    let made = mixtures(&models, &parents, &plan, Seed(3), &|_| Ok(())).unwrap();
    assert_eq!((made.len(), made.width, made.latent), (600, 2, 1));
    for row in 0..made.len() {
        let x = made.x(row);
        assert!(x[0].abs() <= 4.001, "{x:?}");
        let left_out = if x[0] < 0.0 { 1.0 } else { 2.0 };
        assert!((x[1] - left_out).abs() < 1e-6, "{x:?}");
        assert!((made.z(row)[0] - x[0]).abs() < 1e-6);
    }
    let more =
        mixtures(&models, &parents, &NeuralPlan { left_out: 3.0, ..plan.clone() }, Seed(3), &|_| Ok(())).unwrap();
    let times: Vec<f32> = (0..600).map(|row| more.x(row)[1] / made.x(row)[1]).collect();
    assert!(times.iter().all(|times| (1.0..=3.0).contains(times)) && times.iter().any(|times| *times > 2.5));
    let halfway = mixtures(&models, &parents, &NeuralPlan { mixing: 0.5, ..plan }, Seed(3), &|_| Ok(())).unwrap();
    assert!((0..600).all(|row| halfway.x(row)[0].abs() < 1e-5));
}

/// Rows from −3 to 3, of class 1 where they are positive.
fn line(models: &Models) -> Encoded {
    let x: Vec<f32> = (0..60).map(|i| 0.1 * i as f32 - 2.95).collect();
    let labels: Vec<u32> = x.iter().map(|&x| u32::from(x > 0.0)).collect();
    rows(models, &x, 1, &labels)
}

fn trained(models: &Models, train: &Encoded, plan: &NeuralPlan) -> Result<Neural> {
    Neural::train(models, &l1(), train, &Encoded::default(), plan, Seed(4), &mut Silent)
}

#[test]
fn a_trained_mapper_leads_to_the_class_and_as_far_as_it_is_asked_to() {
    let (same, task) = (Same::new(1), classes(&["a", "b"]));
    let models = Models::new(&same, &Sigmoid).with_task(&task);
    let train = line(&models);
    let mapper = trained(&models, &train, &small()).unwrap();
    // Points that are not there yet, and so have a way to go whatever is asked: one that stays sees no way at all.
    let middle = rows(&models, &[-0.6, -0.4, -0.2], 1, &[0; 3]);
    let [left, right] = [0, 1].map(|target| mapper.map(&models, &middle, &[target; 3], &asking(0.1)).unwrap());
    assert!(left.iter().all(|&z| z < -1.5), "{left:?}");
    assert!(right.iter().all(|&z| z > 1.5), "{right:?}");
    let near = mapper.map(&models, &middle, &[1; 3], &asking(1.0)).unwrap();
    let far = mapper.map(&models, &middle, &[1; 3], &asking(0.01)).unwrap();
    assert!(near.iter().zip(&far).all(|(near, far)| near + 0.5 < *far), "{near:?} and {far:?}");
    // An input is mapped the same in any company.
    let alone = mapper.map(&models, &middle.select(&[2]), &[1], &asking(0.1)).unwrap();
    assert!((alone[0] - right[2]).abs() < 1e-5);
    // It knows the slopes of one distance only.
    let other = Price { metric: Metric::fit(Distance::L2, &[], 1, None).unwrap(), ..asking(0.1) };
    let message = mapper.map(&models, &middle, &[1; 3], &other).unwrap_err().to_string();
    assert_eq!(
        message,
        "setting `distance`: the neural mapper was trained for `l1` and cannot map for `l2`; ask for l1, or train it again"
    );
}

#[test]
fn rows_that_are_all_certain_can_be_learned_from_and_no_rows_cannot() {
    let same = Same::new(1);
    let models = Models::new(&same, &Sigmoid);
    let plan = NeuralPlan { mixtures: 0, fit: TrainingPlan { epochs: 1, ..small().fit }, ..small() };
    let certain = rows(&models, &[-20.0, 20.0], 1, &[0, 1]);
    assert!(trained(&models, &certain, &plan).is_ok());
    let message = trained(&models, &Encoded::default(), &plan).unwrap_err().to_string();
    assert!(message.contains("needs training rows"), "{message}");
}

#[test]
fn a_regression_is_asked_for_no_class() {
    let scaling = Scaling { mean: 0.0, deviation: 1.0, decimals: None, least: -1.0, greatest: 1.0 };
    let asked = |task: &Task, outputs: usize| {
        let network = Network::new(Sizes::of(1, task, outputs), &small());
        values(network.asked(&[(1, 1.0)], &small()))
    };
    assert_eq!(asked(&Task::Regression(scaling), 1), [1.0]);
    assert_eq!(asked(&classes(&["a", "b", "c"]), 3), [0.0, 1.0, 0.0, 1.0]);
}

/// A curved surface of three columns: (z₁ + tanh z₂, z₂, tanh(z₁ − z₂)).
struct Bent;

impl Generative for Bent {
    fn latent_dim(&self) -> usize {
        2
    }

    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(x.clone().narrow(1, 0, 2))
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        let (a, b) = (z.clone().narrow(1, 0, 1), z.clone().narrow(1, 1, 1));
        Ok(Tensor::cat(vec![a.clone() + b.clone().tanh(), b.clone(), (a - b).tanh()], 1))
    }
}

/// Two posterior samples of a smooth network with three classes.
struct Smooth;

impl Predictor for Smooth {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        let sample = |seed: u64| {
            let [hidden, last] = [[3, 4], [4, 3]].map(|shape| tensor(normals(12, seed + shape[0] as u64, 0.8), shape));
            log_softmax(x.clone().matmul(hidden).tanh().matmul(last), 1).unsqueeze_dim::<3>(0)
        };
        Ok(Predictive::Classes { log_probabilities: Tensor::cat(vec![sample(10), sample(20)], 0) })
    }
}

fn three_classes() -> Task {
    classes(&["a", "b", "c"])
}

/// Five rows on or beside the curved surface, and a small network for them.
fn beside_the_surface(models: &Models, plan: &NeuralPlan) -> (Samples, Network, Parameters) {
    let inputs = rows(models, &normals(5 * 3, 1, 1.0), 3, &[0; 5]);
    let network = Network::new(Sizes::of(2, models.task(), 3), plan);
    let parameters = Parameters::new(network.layout.clone(), normals(network.layout.len(), 6, 0.4)).unwrap();
    (as_samples(&inputs, models.task()), network, parameters)
}

/// The Euclidean distance has no kink where a column is as it was.
fn l2() -> Metric {
    Metric::fit(Distance::L2, &[], 1, None).unwrap()
}

#[test]
fn the_slope_is_that_of_the_logarithm_of_the_distance() {
    let (task, metric) = (three_classes(), l2());
    let models = Models::new(&Bent, &Smooth).with_task(&task);
    let (z, x) = (normals(5 * 2, 2, 1.0), tensor(normals(5 * 3, 1, 1.0), [5, 3]));
    let at = |z: &[f32]| -> Vec<f64> {
        let distance = metric.between(&Bent.decode(&tensor(z.to_vec(), [5, 2])).unwrap(), &x);
        values(distance).into_iter().map(|d| f64::from(d).ln()).collect()
    };
    let slopes = values(slope(&models, &metric, &tensor(z.clone(), [5, 2]), &x).unwrap());
    for (place, &got) in slopes.iter().enumerate() {
        let moved = |step: f32| {
            let mut z = z.clone();
            z[place] += step;
            at(&z)[place / 2]
        };
        let expected = 4.0 * (moved(0.01) - moved(-0.01)) / 0.02;
        assert!((f64::from(got) - expected).abs() < 0.02 * expected.abs() + 0.005, "{place}: {got}, not {expected}");
    }
    // By hand: |z − x₀| has the slope of a sign, so its logarithm that of the distance's inverse; none where there is none.
    let same = Same::new(1);
    let models = Models::new(&same, &Sigmoid);
    let (z, x) = (tensor(vec![3.0, -1.0, 2.0], [3, 1]), tensor(vec![1.0, 1.0, 2.0], [3, 1]));
    assert_eq!(values(slope(&models, &l1(), &z, &x).unwrap()), [2.0, -2.0, 0.0]);
}

#[test]
fn a_round_goes_on_from_where_the_last_one_ended() {
    let (task, metric) = (three_classes(), l2());
    let models = Models::new(&Bent, &Smooth).with_task(&task);
    let (samples, network, parameters) = beside_the_surface(&models, &NeuralPlan { rounds: 2, ..small() });
    let (weights, asked) = (Weights::frozen(&parameters), network.asked(&[(1, 0.1); 5], &small()));
    let rows = Parts::of(&tensor(samples.x.clone(), [5, samples.width]), network.sizes);
    let twice = values(network.map(&weights, &models, &metric, &rows, &asked).unwrap());
    let mut z = rows.z.clone();
    for round in [0.0, 1.0] {
        let slope = slope(&models, &metric, &z, &rows.x).unwrap();
        let seen = vec![z.clone(), slope, rows.prediction.clone(), asked.clone(), tensor(vec![round; 5], [5, 1])];
        z = z + network.shift(&weights, Tensor::cat(seen, 1));
    }
    assert_eq!(twice, values(z));
}

#[test]
fn the_gradient_of_training_is_that_of_differences_through_decoder_and_predictor() {
    let (task, metric) = (three_classes(), l2());
    let models = Models::new(&Bent, &Smooth).with_task(&task);
    // One round: what later rounds see of the slope counts as given, so theirs is not the whole gradient.
    let plan = NeuralPlan { width: 4, depth: 2, rounds: 1, ..small() };
    let (samples, network, parameters) = beside_the_surface(&models, &plan);
    let training = Training { network: &network, plan: &plan, models: &models, metric: &metric };
    let batch = Batch::of(&samples, &[0, 1, 2, 3, 4]);
    // The same targets and λ_x are drawn each time.
    let loss = |weights: &Weights| training.loss(weights, &batch, &mut Seed(5).stream("asked")).unwrap();
    let weights = Weights::tracked(&parameters);
    let gradient = weights.gradient(&loss(&weights)).unwrap();
    let at = |place: usize, step: f32| {
        let mut moved = parameters.clone();
        moved.values[place] += step;
        (f64::from(moved.values[place]), f64::from(scalar(loss(&Weights::frozen(&moved)))))
    };
    let largest = gradient.iter().fold(0.0f64, |most, g| most.max(f64::from(g.abs())));
    assert!(largest > 0.1, "there is nothing to compare: {largest}");
    for (place, &derivative) in gradient.iter().enumerate() {
        let agrees = [2e-2, 5e-3].into_iter().any(|step| {
            let ((right, above), (left, below)) = (at(place, step), at(place, -step));
            let difference = (above - below) / (right - left);
            (difference - f64::from(derivative)).abs() <= 0.01 * f64::from(derivative.abs()) + 0.002 * largest
        });
        assert!(agrees, "coordinate {place}: {derivative}");
    }
}
