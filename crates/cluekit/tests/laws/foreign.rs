//! A model may speak in tensors or in plain numbers with a pull-back: its clues are the same. One that only answers is
//! predicted, ranked and measured, searched by evolution, and refused by what descends a gradient.

use super::*;
use cluekit::amortise::translation::{self, LatentMap};
use cluekit::amortise::{Encoded, Neural, NeuralPlan, Points};
use cluekit::measure::{generative_health, predictor_health};
use cluekit::model::TrainingPlan;
use cluekit::model::foreign::{Answer, AnsweringGenerative, AnsweringPredictor, Foreign};
use cluekit::search::Way;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `a b`, or with `b` transposed `a bᵀ`; `a` has rows of `inner` numbers.
fn product(a: &[f32], b: &[f32], inner: usize, transposed: bool) -> Vec<f32> {
    let outer = b.len() / inner;
    let entry = |row: &[f32], j: usize| {
        let factor = |i: usize| if transposed { b[j * inner + i] } else { b[i * outer + j] };
        row.iter().enumerate().map(|(i, a)| a * factor(i)).sum::<f32>()
    };
    a.chunks(inner).flat_map(|row| (0..outer).map(|j| entry(row, j)).collect::<Vec<_>>()).collect()
}

fn bent(sums: Vec<f32>) -> Vec<f32> {
    sums.into_iter().map(f32::tanh).collect()
}

/// The gradient before a tanh of `outputs`.
fn unbent(gradient: Vec<f32>, outputs: &[f32]) -> Vec<f32> {
    gradient.iter().zip(outputs).map(|(g, t)| g * (1.0 - t * t)).collect()
}

/// [`Curved`] in plain arithmetic.
struct PlainCurved {
    encoder: Vec<f32>,
    straight: Vec<f32>,
    hidden: Vec<f32>,
    bent: Vec<f32>,
    gradient: bool,
}

impl PlainCurved {
    fn new(of: &Curved) -> Self {
        let [encoder, straight, hidden, bent] =
            [&of.encoder, &of.straight, &of.hidden, &of.bent].map(|matrix| values(matrix.clone()));
        Self { encoder, straight, hidden, bent, gradient: true }
    }
}

impl AnsweringGenerative for PlainCurved {
    fn latent_dim(&self) -> usize {
        LATENT
    }

    fn encode(&self, x: &[f32], rows: usize) -> Result<Vec<f32>> {
        Ok(product(x, &self.encoder, x.len() / rows, false))
    }

    fn decode(&self, z: &[f32], _: usize) -> Result<Vec<f32>> {
        let curved = product(&bent(product(z, &self.hidden, LATENT, false)), &self.bent, 6, false);
        Ok(product(z, &self.straight, LATENT, false).iter().zip(curved).map(|(a, b)| a + b).collect())
    }

    fn pull_back(&self, z: &[f32], rows: usize, cotangent: &[f32]) -> Result<Vec<f32>> {
        let width = cotangent.len() / rows;
        let hidden = bent(product(z, &self.hidden, LATENT, false));
        let curved = unbent(product(cotangent, &self.bent, width, true), &hidden);
        let curved = product(&curved, &self.hidden, 6, true);
        Ok(product(cotangent, &self.straight, width, true).iter().zip(curved).map(|(a, b)| a + b).collect())
    }

    fn has_gradient(&self) -> bool {
        self.gradient
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum Speech {
    Probabilities,
    Logs,
}

/// [`Members`] in plain arithmetic.
pub struct PlainMembers {
    networks: Vec<[Vec<f32>; 2]>,
    regression: bool,
    speech: Speech,
    pub gradient: bool,
    rows_at_once: Option<usize>,
    asked: AtomicUsize,
}

impl PlainMembers {
    pub fn new(of: &Members, speech: Speech) -> Self {
        let networks = of.networks.iter().map(|n| n.each_ref().map(|matrix| values(matrix.clone()))).collect();
        let (regression, asked) = (of.regression, AtomicUsize::new(0));
        Self { networks, regression, speech, gradient: true, rows_at_once: None, asked }
    }

    fn outputs(network: &[Vec<f32>; 2], x: &[f32], rows: usize) -> (Vec<f32>, Vec<f32>) {
        let hidden = bent(product(x, &network[0], x.len() / rows, false));
        let outputs = product(&hidden, &network[1], 8, false);
        (hidden, outputs)
    }
}

fn log_softmax_of(row: &[f32]) -> Vec<f32> {
    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum = row.iter().map(|o| (o - most).exp()).sum::<f32>().ln() + most;
    row.iter().map(|o| o - sum).collect()
}

impl AnsweringPredictor for PlainMembers {
    fn answer(&self, x: &[f32], rows: usize) -> Result<Answer> {
        self.asked.fetch_max(rows, Ordering::Relaxed);
        let samples = self.networks.len();
        let outputs = self.networks.iter().flat_map(|network| Self::outputs(network, x, rows).1);
        let outputs: Vec<f32> = outputs.collect();
        if self.regression {
            let mean = outputs.chunks(CLASSES).map(|o| o[0]).collect();
            let variance = outputs.chunks(CLASSES).map(|o| (1.0 + o[1].exp()).ln() * 0.1 + 0.001).collect();
            return Ok(Answer::Gaussian { mean, variance, samples });
        }
        let logs: Vec<f32> = outputs.chunks(CLASSES).flat_map(log_softmax_of).collect();
        Ok(match self.speech {
            Speech::Logs => Answer::LogProbabilities { values: logs, samples, classes: CLASSES },
            Speech::Probabilities => {
                Answer::Probabilities { values: logs.iter().map(|log| log.exp()).collect(), samples, classes: CLASSES }
            }
        })
    }

    fn pull_back(&self, x: &[f32], rows: usize, cotangent: &Answer) -> Result<Vec<f32>> {
        let mut gradient = vec![0.0; x.len()];
        for (s, network) in self.networks.iter().enumerate() {
            let (hidden, outputs) = Self::outputs(network, x, rows);
            let of_row = |row: usize| -> Vec<f32> {
                let output = &outputs[row * CLASSES..(row + 1) * CLASSES];
                let p: Vec<f32> = log_softmax_of(output).iter().map(|log| log.exp()).collect();
                let place = s * rows + row;
                match cotangent {
                    Answer::LogProbabilities { values, .. } => {
                        let g = &values[place * CLASSES..(place + 1) * CLASSES];
                        let sum: f32 = g.iter().sum();
                        g.iter().zip(&p).map(|(g, p)| g - p * sum).collect()
                    }
                    Answer::Probabilities { values, .. } => {
                        let g = &values[place * CLASSES..(place + 1) * CLASSES];
                        let mean: f32 = g.iter().zip(&p).map(|(g, p)| g * p).sum();
                        g.iter().zip(&p).map(|(g, p)| p * (g - mean)).collect()
                    }
                    Answer::Gaussian { mean, variance, .. } => {
                        vec![mean[place], variance[place] * 0.1 / (1.0 + (-output[1]).exp()), 0.0]
                    }
                }
            };
            let before: Vec<f32> = (0..rows).flat_map(of_row).collect();
            let before = unbent(product(&before, &network[1], CLASSES, true), &hidden);
            let part = product(&before, &network[0], 8, true);
            gradient.iter_mut().zip(part).for_each(|(sum, g)| *sum += g);
        }
        Ok(gradient)
    }

    fn has_gradient(&self) -> bool {
        self.gradient
    }

    fn rows_at_once(&self) -> Option<usize> {
        self.rows_at_once
    }
}

/// What is known of the training data, found with these models.
fn background(world: &World, models: &Models) -> Background {
    let below = if world.task.is_regression() { 2.0 } else { 0.5 };
    Background {
        metric: None,
        certain: Some(Certain::among(models, world.samples.clone(), Uncertainty::Total, below).unwrap()),
        plausible: Some(Plausible::among(models, &world.samples.x, WIDTH, Seed(0)).unwrap()),
        rows: None,
        jury: None,
        usual: None,
        by_heart: false,
    }
}

/// A model of tensors that speaks in plain numbers and differentiates on its own, rounding as the model itself does.
struct Spoken<M>(M);

impl AnsweringGenerative for Spoken<Curved> {
    fn latent_dim(&self) -> usize {
        LATENT
    }

    fn encode(&self, x: &[f32], rows: usize) -> Result<Vec<f32>> {
        Ok(values(self.0.encode(&tensor(x.to_vec(), [rows, WIDTH]))?))
    }

    fn decode(&self, z: &[f32], rows: usize) -> Result<Vec<f32>> {
        Ok(values(self.0.decode(&tensor(z.to_vec(), [rows, LATENT]))?))
    }

    fn pull_back(&self, z: &[f32], rows: usize, cotangent: &[f32]) -> Result<Vec<f32>> {
        let z = leaf(z.to_vec(), [rows, LATENT]);
        let loss = (self.0.decode(&z)? * tensor(cotangent.to_vec(), [rows, WIDTH])).sum();
        Ok(gradients(&loss, &[z])?.concat())
    }

    fn has_gradient(&self) -> bool {
        true
    }
}

impl AnsweringPredictor for Spoken<Members> {
    fn answer(&self, x: &[f32], rows: usize) -> Result<Answer> {
        Ok(match self.0.predict(&tensor(x.to_vec(), [rows, WIDTH]))? {
            Predictive::Classes { log_probabilities } => {
                let values = values(log_probabilities);
                Answer::LogProbabilities { values, samples: SAMPLES, classes: CLASSES }
            }
            Predictive::Gaussian { mean, variance } => {
                Answer::Gaussian { mean: values(mean), variance: values(variance), samples: SAMPLES }
            }
        })
    }

    fn pull_back(&self, x: &[f32], rows: usize, cotangent: &Answer) -> Result<Vec<f32>> {
        let x = leaf(x.to_vec(), [rows, WIDTH]);
        let loss = match (self.0.predict(&x)?, cotangent) {
            (Predictive::Classes { log_probabilities }, Answer::LogProbabilities { values, .. }) => {
                (log_probabilities * tensor(values.clone(), [SAMPLES, rows, CLASSES])).sum()
            }
            (
                Predictive::Gaussian { mean, variance },
                Answer::Gaussian { mean: by_mean, variance: by_variance, .. },
            ) => {
                let shape = [SAMPLES, rows];
                (mean * tensor(by_mean.clone(), shape) + variance * tensor(by_variance.clone(), shape)).sum()
            }
            _ => panic!("a cotangent has the form of the answer"),
        };
        Ok(gradients(&loss, &[x])?.concat())
    }

    fn has_gradient(&self) -> bool {
        true
    }
}

/// The models of a world in plain numbers.
fn spoken(world: &World) -> (Foreign<Spoken<Curved>>, Foreign<Spoken<Members>>) {
    let members = Members::new(WIDTH, world.task.is_regression());
    (Foreign::new(Spoken(Curved::new(WIDTH))), Foreign::new(Spoken(members)))
}

/// The largest difference between codes and costs of two answers to one question.
fn difference(ours: &[Explanation], theirs: &[Explanation]) -> f32 {
    let clues = |explanations: &[Explanation]| -> Vec<Clue> {
        explanations.iter().flat_map(|explanation| explanation.clues.clone()).collect()
    };
    let (ours, theirs) = (clues(ours), clues(theirs));
    assert_eq!(ours.len(), theirs.len());
    let pairs = ours.iter().zip(&theirs).flat_map(|(a, b)| {
        let codes = a.z.iter().zip(&b.z).map(|(a, b)| (a - b).abs());
        codes.chain([(a.cost - b.cost).abs()]).collect::<Vec<_>>()
    });
    pairs.fold(0.0, f32::max)
}

#[test]
fn a_model_with_a_pull_back_has_the_clues_of_the_same_model_in_tensors() {
    let (mut most, mut compared) = (0.0f32, 0);
    for world in [World::classes(), World::regression()] {
        let (curved, members) = spoken(&world);
        let models = Models::new(&curved, &members).with_task(&world.task);
        let (inputs, background) = (world.inputs(3), background(&world, &models));
        for (name, search) in searches() {
            let search = Search { starts: Starts { spread: 2, ..search.starts.clone() }, ..search };
            // The penalty 1/d multiplies rounding where candidates meet: 4e-5 after all steps.
            let search = if search.order == Order::Penalty { after(10, &search) } else { search };
            let ours = search.explain(&world.models(), &world.background(), &inputs, Seed(1), &mut Silent);
            let theirs = search.explain(&models, &background, &inputs, Seed(1), &mut Silent);
            match (ours, theirs) {
                (Ok(ours), Ok(theirs)) => {
                    most = most.max(difference(&ours, &theirs));
                    compared += 1;
                }
                // Such as paths to the classes of a regression.
                (ours, theirs) => {
                    assert_eq!(ours.unwrap_err().to_string(), theirs.unwrap_err().to_string(), "{name}");
                }
            }
        }
    }
    assert!(compared > 25, "only {compared} searches were compared");
    assert!(most < 1e-5, "codes or costs differ by {most}");
}

#[test]
fn a_model_in_plain_arithmetic_has_the_same_clues_up_to_rounding() {
    let mut most = 0.0f32;
    for world in [World::classes(), World::regression()] {
        let curved = Foreign::new(PlainCurved::new(&world.generative));
        let inputs = world.inputs(3);
        for speech in [Speech::Logs, Speech::Probabilities] {
            let members = Foreign::new(PlainMembers::new(&world.predictor, speech));
            let models = Models::new(&curved, &members).with_task(&world.task);
            let nabla = |metric, space| Search::nabla_clue(ball(0.8), 3, diversity(0.5, metric, space));
            for search in [
                Search::clue(),
                Search::delta_clue(ball(0.8), 3),
                nabla(Diversity::Dpp, Space::Z),
                nabla(Diversity::AveragePairwiseDistance, Space::X),
            ] {
                // Adam makes much of little: a gradient near 0 that rounding turns around is a whole step.
                let search = after(10, &search);
                let explain = |models: &Models| {
                    search.explain(models, &Background::default(), &inputs, Seed(1), &mut Silent).unwrap()
                };
                most = most.max(difference(&explain(&world.models()), &explain(&models)));
            }
        }
    }
    assert!(most < 1e-5, "codes or costs differ by {most}");
}

#[test]
fn tensors_and_pull_backs_may_be_mixed() {
    let world = World::classes();
    let inputs = world.inputs(3);
    let (curved, members) = spoken(&world);
    let search = Search::delta_clue(ball(0.8), 3);
    let explain =
        |models: &Models| search.explain(models, &Background::default(), &inputs, Seed(1), &mut Silent).unwrap();
    let ours = explain(&world.models());
    for models in [Models::new(&curved, &world.predictor), Models::new(&world.generative, &members)] {
        assert!(difference(&ours, &explain(&models)) < 1e-5);
    }
}

#[test]
fn the_loss_of_a_translation_has_the_gradient_of_a_decoder_with_a_pull_back() {
    let world = World::classes();
    let curved = Foreign::new(PlainCurved::new(&world.generative));
    let map = LatentMap::translation(vec![0.3, -0.2, 0.1]);
    let (z, certain) = (normals(20 * LATENT, 8, 1.0), Points::new(&world.samples.x, WIDTH));
    let loss = |models: &Models| translation::loss(models, &map, &z, &certain, 0.1).unwrap();
    let (ours, theirs) = (loss(&world.models()), loss(&Models::new(&curved, &world.predictor)));
    assert!((ours.0 - theirs.0).abs() < 1e-5);
    assert!(ours.1.iter().zip(&theirs.1).all(|(a, b)| (a - b).abs() < 1e-5), "{ours:?} {theirs:?}");
}

/// A predictor that cannot choose among its samples, as foreign ones cannot.
struct Whole<'a>(&'a Members);

impl Predictor for Whole<'_> {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        self.0.predict(x)
    }
}

#[test]
fn a_neural_mapper_learns_the_same_from_models_with_a_pull_back() {
    let world = World::classes();
    let (curved, members) = spoken(&world);
    let plan = NeuralPlan {
        width: 8,
        depth: 1,
        mixtures: 100,
        fit: TrainingPlan { epochs: 1, batch: 60, ..NeuralPlan::default().fit },
        ..NeuralPlan::default()
    };
    let train = |models: &Models| {
        let rows = Encoded::of(models, world.samples.clone()).unwrap();
        let mapper = Neural::train(models, &Metric::default(), &rows, &rows, &plan, Seed(0), &mut Silent).unwrap();
        mapper.parameters().values.clone()
    };
    let all = Whole(&world.predictor);
    let ours = Models::new(&world.generative, &all).with_task(&world.task);
    let (ours, theirs) = (train(&ours), train(&Models::new(&curved, &members).with_task(&world.task)));
    let most = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(most < 1e-5, "weights differ by {most}");
}

#[test]
fn rows_are_asked_for_in_pieces_that_a_model_takes() {
    let world = World::classes();
    let inputs = world.inputs(6);
    let search = after(10, &Search::delta_clue(ball(0.8), 3));
    let mut members = PlainMembers::new(&world.predictor, Speech::Logs);
    members.rows_at_once = Some(2);
    let members = Foreign::new(members);
    let models = Models::new(&world.generative, &members);
    let theirs = search.explain(&models, &Background::default(), &inputs, Seed(1), &mut Silent).unwrap();
    let ours = search.explain(&world.models(), &Background::default(), &inputs, Seed(1), &mut Silent).unwrap();
    assert!(difference(&ours, &theirs) < 1e-5);
    predict(&members, &world.samples, &world.task).unwrap();
    assert_eq!(members.model().asked.load(Ordering::Relaxed), 2);
}

#[test]
fn a_model_that_only_answers_is_predicted_ranked_and_measured() {
    for world in [World::classes(), World::regression()] {
        let mut members = PlainMembers::new(&world.predictor, Speech::Probabilities);
        members.gradient = false;
        let members = Foreign::new(members);
        let models = Models::new(&world.generative, &members).with_task(&world.task);
        let predictions = predict(&members, &world.samples, &world.task).unwrap();
        for (a, b) in world.predictions().iter().zip(&predictions) {
            assert_near("uncertainty", a.uncertainty.total, b.uncertainty.total, 1e-5);
        }
        predictor_health(&members, &predictions, &world.samples, &world.task).unwrap();
        let health = generative_health(&Foreign::new(PlainCurved::new(&world.generative)), &world.samples, Seed(0));
        assert_eq!(health.unwrap().elbo, None);
        // A search that takes no step, as mappers are judged by, needs no gradient.
        let background = background(&world, &models);
        let still = after(0, &Search::delta_clue(ball(0.8), 3));
        still.explain(&models, &background, &world.inputs(2), Seed(0), &mut Silent).unwrap();
    }
}

#[test]
fn a_predictor_of_the_other_kind_is_measured_by_an_error() {
    let (classes, regression) = (World::classes(), World::regression());
    let health = |predictor, world: &World, task| {
        predictor_health(predictor, &world.predictions(), &world.samples, task).unwrap_err().to_string()
    };
    let answers = health(&classes.predictor, &regression, &regression.task);
    assert!(answers.contains("classes where values are due"), "{answers}");
    let rows = health(&classes.predictor, &classes, &regression.task);
    assert!(rows.contains("classes where the task has values"), "{rows}");
}

#[test]
fn a_search_by_the_gradient_of_a_model_that_only_answers_says_that_there_is_none() {
    let world = World::classes();
    let mut members = PlainMembers::new(&world.predictor, Speech::Logs);
    members.gradient = false;
    let members = Foreign::new(members);
    let models = Models::new(&world.generative, &members).with_task(&world.task);
    let background = background(&world, &models);
    for (name, search) in searches() {
        let search = Search { way: Way::Gradient, ..search };
        let outcome = search.explain(&models, &background, &world.inputs(2), Seed(0), &mut Silent);
        let problem = outcome.unwrap_err();
        assert!(matches!(problem, Error::NoGradient { model: "predictor" }), "{name}: {problem}");
        assert!(problem.to_string().contains("gradient-free") && !problem.to_string().contains('\n'), "{problem}");
    }
}

#[test]
fn a_decoder_that_only_answers_is_searched_by_no_gradient_either() {
    let world = World::classes();
    let curved = Foreign::new(PlainCurved { gradient: false, ..PlainCurved::new(&world.generative) });
    let models = Models::new(&curved, &world.predictor).with_task(&world.task);
    let search = Search { way: Way::Gradient, ..Search::clue() };
    let outcome = search.explain(&models, &Background::default(), &world.inputs(2), Seed(0), &mut Silent);
    assert!(matches!(outcome.unwrap_err(), Error::NoGradient { model: "decoder" }));
    let map = LatentMap::translation(vec![0.0; LATENT]);
    let outcome = translation::loss(&models, &map, &[0.0; LATENT], &Points::new(&world.samples.x, WIDTH), 0.0);
    assert!(matches!(outcome.unwrap_err(), Error::NoGradient { model: "decoder" }));
}

/// Answers as it should, and fails on the way back.
struct Failing(PlainMembers);

impl AnsweringPredictor for Failing {
    fn answer(&self, x: &[f32], rows: usize) -> Result<Answer> {
        self.0.answer(x, rows)
    }

    fn pull_back(&self, _: &[f32], _: usize, _: &Answer) -> Result<Vec<f32>> {
        Err(Error::data("the line to the model is cut"))
    }

    fn has_gradient(&self) -> bool {
        true
    }
}

#[test]
fn a_pull_back_that_fails_is_the_error_of_the_search() {
    let world = World::classes();
    let members = Foreign::new(Failing(PlainMembers::new(&world.predictor, Speech::Logs)));
    let curved = Foreign::new(PlainCurved::new(&world.generative));
    let models = Models::new(&curved, &members).with_task(&world.task);
    for scheme in [InitScheme::UniformBall, InitScheme::ClassPath] {
        let search = Search { starts: starts(&[scheme]), ..Search::delta_clue(ball(0.8), 3) };
        let outcome = search.explain(&models, &Background::default(), &world.inputs(12), Seed(0), &mut Silent);
        assert_eq!(outcome.unwrap_err().to_string(), "the line to the model is cut");
    }
}
