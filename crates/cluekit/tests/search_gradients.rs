//! The objective of a search by z: each term and all of them together against central differences, finite at the
//! awkward points, and followed by the search as Adam would.
//!
//! The loop itself is closed to tests. But the first step of Adam moves each coordinate by η · sign(gradient), so where
//! a search of one step goes tells the sign of every derivative that it used; and more steps can be taken beside it.

use crate::common::{assert_gradient, normals};
use cluekit::Seed;
use cluekit::data::{Constraints, Feature, Kind, Scaling, Schema, Target, Task};
use cluekit::distance::{Distance, Metric, euclidean, latent_distance, prediction_distance};
use cluekit::diversity::{Diversity, Norm, Set, Space};
use cluekit::error::Result;
use cluekit::explanation::{Explanation, StopReason};
use cluekit::model::plan::Architecture;
use cluekit::model::{Generative, Predictive, Predictor};
use cluekit::model::{Stacked, Vae};
use cluekit::observer::Silent;
use cluekit::search::{
    Background, Convergence, Decoding, Delta, DiversityTerm, Inputs, LatentBall, Models, Objective, Order, Search,
    Starts, UncertaintyWeights, Weighted,
};
use cluekit::tensor::{Tensor, gradients, leaf, log_softmax, tensor, values};
use cluekit::testing::model::{Adam, Head, Mlp, Network, Parameters, Trainable, VaeNetwork, VaeShape, stack};
use cluekit::uncertainty::{Decomposition, Uncertainty, mean_prediction};

// ------------------------------------------------------------------------------------------------ models and terms

const LATENT: usize = 3;
const CLASSES: usize = 3;
const DECODINGS: [Decoding; 2] = [Decoding::Mean, Decoding::Anchored];

fn scaling() -> Scaling {
    Scaling { mean: 0.0, deviation: 1.0, decimals: None, least: -3.0, greatest: 3.0 }
}

/// Four numbers, a binary and a categorical feature: eight columns.
fn schema() -> Schema {
    let choices = |count: usize| (0..count).map(|i| i.to_string()).collect::<Vec<_>>();
    let number = || Kind::Continuous(scaling());
    let kinds = [
        number(),
        number(),
        Kind::Binary { categories: choices(2) },
        number(),
        Kind::Categorical { categories: choices(3) },
        number(),
    ];
    let feature =
        |(i, kind): (usize, Kind)| Feature { name: format!("x{i}"), kind, unit: None, meaning: None, missing: None };
    let schema = Schema {
        target: Target {
            name: "y".into(),
            task: Task::Classification { classes: choices(CLASSES) },
            unit: None,
            meaning: None,
        },
        image: None,
        features: kinds.into_iter().enumerate().map(feature).collect(),
        constraints: Constraints::default(),
    };
    schema.validate().unwrap();
    schema
}

/// The crate's own models with random weights, and one input x₀.
struct World {
    vae: Vae,
    predictor: Stacked,
    task: Task,
    x: Vec<f32>,
}

/// One input as the terms of an objective see it.
struct Origin {
    x: Vec<f32>,
    z: Vec<f32>,
    prediction: Vec<f32>,
    /// x₀ − μ_θ(z₀).
    anchor: Vec<f32>,
}

impl World {
    fn new(task: Task) -> Self {
        let schema = schema();
        let shape = VaeShape {
            architecture: Architecture::Residual,
            latent: LATENT,
            low_latent: 0,
            width: 8,
            depth: 2,
            blocks: 0,
            channels: vec![],
        };
        let network = VaeNetwork::new(&shape, &schema).unwrap();
        let weights = normals(network.layout().len(), 1).iter().map(|draw| 0.4 * draw).collect();
        let parameters = Parameters::new(network.layout().clone(), weights).unwrap();
        let head = Head::of(&task);
        let mlp = Mlp::new(schema.width(), &[12], head, 0.0);
        let member = |s: u64| normals(mlp.layout().len(), 10 + s).iter().map(|draw| 0.6 * draw).collect::<Vec<f32>>();
        let members: Vec<Vec<f32>> = (0..3).map(member).collect();
        let predictor = Stacked::new(&stack(&members, mlp.layout()), &Network::Mlp(mlp)).unwrap();
        Self { vae: Vae::new(network, &parameters), predictor, task, x: normals(schema.width(), 20) }
    }

    fn both() -> [Self; 2] {
        [Self::new(schema().target.task), Self::new(Task::Regression(scaling()))]
    }

    fn width(&self) -> usize {
        self.x.len()
    }

    fn metric(&self, kind: Distance) -> Metric {
        Metric::fit(kind, &normals(40 * self.width(), 21), self.width(), Some(&schema())).unwrap()
    }

    fn origin(&self) -> Origin {
        let x = tensor(self.x.clone(), [1, self.width()]);
        let z = self.vae.encode(&x).unwrap();
        let anchor = values(x.clone() - self.vae.decode(&z).unwrap());
        let prediction = values(mean_prediction(&self.predictor.predict(&x).unwrap()));
        Origin { x: self.x.clone(), z: values(z), prediction, anchor }
    }

    fn decode(&self, decoding: Decoding, z: &Tensor<2>) -> Tensor<2> {
        let x = self.vae.decode(z).unwrap();
        match decoding {
            Decoding::Mean => x,
            Decoding::Anchored => x + repeated(&self.origin().anchor, z.dims()[0]),
        }
    }

    /// L(z) of each row, put together here from the terms of the paper.
    fn loss(&self, objective: &Objective, decoding: Decoding, z: &Tensor<2>) -> Tensor<1> {
        let (origin, rows) = (self.origin(), z.dims()[0]);
        let x = self.decode(decoding, z);
        let predictive = self.predictor.predict(&x).unwrap();
        let Decomposition { total, aleatoric, epistemic } = Decomposition::of(&predictive);
        let weights = objective.uncertainty;
        let uncertainty = total * weights.total + aleatoric * weights.aleatoric + epistemic * weights.epistemic;
        let squares: Tensor<1> = (z.clone() * z.clone()).sum_dim(1).squeeze_dim(1);
        uncertainty
            + self.metric(objective.input.1).between(&x, &repeated(&origin.x, rows)) * objective.input.0
            + prediction_distance(&predictive, &repeated(&origin.prediction, rows)) * objective.prediction
            + euclidean(z.clone() - repeated(&origin.z, rows)) * objective.latent
            + squares * (0.5 * objective.prior)
    }

    /// The codes as one space sees them.
    fn points(&self, space: Space, decoding: Decoding, z: &[f32]) -> Vec<f32> {
        let codes = tensor(z.to_vec(), [z.len() / LATENT, LATENT]);
        match space {
            Space::Z => z.to_vec(),
            Space::X => values(self.decode(decoding, &codes)),
            Space::Y => values(mean_prediction(&self.predictor.predict(&self.decode(decoding, &codes)).unwrap())),
        }
    }

    /// D of some codes.
    fn diversity(
        &self,
        DiversityTerm { metric, space, distance }: DiversityTerm,
        decoding: Decoding,
        z: &[f32],
    ) -> f64 {
        let (points, origin) = (self.points(space, decoding, z), self.origin());
        let (width, original) = match space {
            Space::X => (origin.x.len(), Some(origin.x.as_slice())),
            Space::Z => (LATENT, Some(origin.z.as_slice())),
            Space::Y => (origin.prediction.len(), None),
        };
        metric.value_and_gradient_by(&Set { points: &points, width, original }, distance).unwrap().0
    }

    /// What a search minimises over `z`, the codes that move together, when it has found the codes `before`.
    fn objective(&self, search: &Search, before: &[f32], z: &[f32]) -> f64 {
        let codes = tensor(z.to_vec(), [z.len() / LATENT, LATENT]);
        let loss = sum(&values(self.loss(&search.objective, search.decoding, &codes)));
        let Some(Weighted(weight, term)) = search.objective.coupling() else { return loss };
        let weight = f64::from(weight);
        loss + match search.order {
            Order::Simultaneous => -weight * (z.len() / LATENT) as f64 * self.diversity(term, search.decoding, z),
            Order::Sequential => -weight * self.diversity(term, search.decoding, &[before, z].concat()),
            Order::Penalty => {
                let points = |z: &[f32]| self.points(term.space, search.decoding, z);
                let here = points(z);
                let summed = |other: &[f32]| here.iter().zip(other).map(|(a, b)| f64::from((a - b).abs())).sum();
                let distance = |other: &[f32]| {
                    weight
                        / match term.distance {
                            Norm::L2 => latent_distance(&here, other),
                            Norm::L1 => summed(other),
                        }
                };
                if before.is_empty() { 0.0 } else { points(before).chunks(here.len()).map(distance).sum() }
            }
        }
    }

    fn explain(&self, search: &Search, steps: usize) -> Explanation {
        let search = Search { convergence: Convergence::all_steps(steps), ..search.clone() };
        let models = Models::new(&self.vae, &self.predictor).with_task(&self.task);
        let background = Background { metric: Some(self.metric(search.objective.input.1)), ..Background::default() };
        let inputs = Inputs::new(self.x.clone(), self.width()).unwrap();
        search.explain(&models, &background, &inputs, Seed(3), &mut Silent).unwrap().remove(0)
    }
}

fn repeated(row: &[f32], rows: usize) -> Tensor<2> {
    tensor(row.repeat(rows), [rows, row.len()])
}

fn sum(numbers: &[f32]) -> f64 {
    numbers.iter().map(|&number| f64::from(number)).sum()
}

/// Several ways to weigh the terms, each term alone and all together.
fn objectives() -> Vec<Objective> {
    let plain = Objective::default;
    let mut all = Vec::new();
    for kind in Uncertainty::ALL {
        all.push(Objective { uncertainty: UncertaintyWeights::only(kind), ..plain() });
    }
    for kind in Distance::ALL {
        all.push(Objective { input: Weighted(0.2, kind), ..plain() });
        all.push(Objective {
            uncertainty: UncertaintyWeights { total: 0.3, aleatoric: 0.6, epistemic: 0.9 },
            input: Weighted(0.1, kind),
            prediction: 0.4,
            latent: 0.3,
            prior: 0.1,
            diversity: None,
        });
    }
    all.push(Objective { prediction: 0.7, ..plain() });
    all.push(Objective { latent: 0.5, ..plain() });
    all.push(Objective { prior: 0.3, ..plain() });
    all
}

/// Every diversity that can be an objective in every space that it allows, by every distance that it looks at.
fn terms() -> Vec<DiversityTerm> {
    let differentiable = Diversity::ALL.into_iter().filter(|metric| metric.check_objective().is_ok());
    let in_spaces = differentiable.flat_map(|metric| metric.spaces().iter().map(move |&space| (metric, space)));
    in_spaces
        .flat_map(|(metric, space)| Norm::ALL.map(|distance| DiversityTerm { metric, space, distance }))
        .filter(|term| term.metric.check_distance(term.distance).is_ok())
        .collect()
}

/// A search of `count` candidates whose steps are small, from starts around z₀.
fn search(objective: Objective, decoding: Decoding, count: usize) -> Search {
    let starts = Starts { radius: Some(0.8), ..Starts::default() };
    // Everything is accepted, so that no advice is looked for.
    let everywhere = Delta::Fixed(LatentBall::UNBOUNDED);
    Search { objective, decoding, starts, threshold: 1e9, learning_rate: 1e-3, ..Search::delta_clue(everywhere, count) }
}

fn codes(explanation: &Explanation) -> Vec<f32> {
    explanation.clues.iter().flat_map(|clue| clue.z.iter().copied()).collect()
}

// ------------------------------------------------------------------------------------------------ against differences

/// Compares ∂ Σ f(z) / ∂z with differences at a few codes.
fn check(what: &str, f: impl Fn(&Tensor<2>) -> Tensor<1>) {
    let (at, shape) = (normals(2 * LATENT, 30), [2, LATENT]);
    let z = leaf(at.clone(), shape);
    let gradient = gradients(&f(&z).sum(), &[z]).unwrap().remove(0);
    assert_gradient(what, &at, &gradient, |z| sum(&values(f(&tensor(z.to_vec(), shape)))));
}

#[test]
fn every_uncertainty_has_its_derivatives_by_the_code() {
    for world in World::both() {
        for kind in Uncertainty::ALL {
            check(&format!("{kind:?} of {:?}", world.task), |z| {
                Decomposition::of(&world.predictor.predict(&world.vae.decode(z).unwrap()).unwrap()).get(kind)
            });
        }
    }
}

#[test]
fn every_distance_between_inputs_has_its_derivatives_by_the_code() {
    let [world, _] = World::both();
    for kind in Distance::ALL {
        let metric = world.metric(kind);
        check(kind.name(), |z| metric.between(&world.vae.decode(z).unwrap(), &repeated(&world.x, 2)));
    }
}

#[test]
fn the_distances_of_predictions_and_of_codes_have_their_derivatives_by_the_code() {
    for world in World::both() {
        let origin = world.origin();
        check(&format!("predictions of {:?}", world.task), |z| {
            let predictive = world.predictor.predict(&world.vae.decode(z).unwrap()).unwrap();
            prediction_distance(&predictive, &repeated(&origin.prediction, 2))
        });
        check("codes", |z| euclidean(z.clone() - repeated(&origin.z, 2)));
    }
}

#[test]
fn the_whole_objective_has_its_derivatives_by_the_code() {
    for world in World::both() {
        for objective in objectives() {
            for decoding in DECODINGS {
                let what = format!("{objective:?}, {decoding:?}, {:?}", world.task);
                check(&what, |z| world.loss(&objective, decoding, z));
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------ as the search sees it

#[test]
fn the_cost_that_is_reported_is_the_objective_by_its_terms() {
    for world in World::both() {
        for objective in objectives() {
            for decoding in DECODINGS {
                let found = world.explain(&search(objective.clone(), decoding, 3), 4);
                let z = tensor(codes(&found), [3, LATENT]);
                for (clue, expected) in found.clues.iter().zip(values(world.loss(&objective, decoding, &z))) {
                    assert!((clue.cost - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{objective:?}");
                }
            }
        }
    }
}

/// Derivatives by differences of three lengths, where they agree on the sign: further apart than rounding, no kink
/// between them.
fn signs(f: impl Fn(&[f32]) -> f64, at: &[f32]) -> Vec<Option<f64>> {
    let quotient = |coordinate: usize, step: f32| {
        let moved = |by: f32| {
            let mut place = at.to_vec();
            place[coordinate] += by;
            f(&place)
        };
        (moved(step) - moved(-step)) / (2.0 * f64::from(step))
    };
    let sign = |coordinate: usize| {
        let all = [2e-2, 1e-2, 5e-3].map(|step| quotient(coordinate, step));
        let clear = all.iter().all(|q| q.abs() > 1e-3 && q.signum() * all[0].signum() > 0.0);
        clear.then(|| all[0].signum())
    };
    (0..at.len()).map(sign).collect()
}

/// Takes one step and checks that each coordinate went down the slope; returns how many slopes were clear, and of how
/// many.
fn assert_one_step_descends(world: &World, search: &Search) -> (usize, usize) {
    let [begin, end] = [0, 1].map(|steps| codes(&world.explain(search, steps)));
    let unit = match (search.objective.coupling(), search.order) {
        (Some(_), Order::Simultaneous) => begin.len(),
        _ => LATENT,
    };
    let mut clear = 0;
    for place in (0..begin.len()).step_by(unit) {
        let (start, stop) = (&begin[place..place + unit], &end[place..place + unit]);
        let signs = signs(|z| world.objective(search, &end[..place], z), start);
        for (coordinate, sign) in signs.into_iter().enumerate().filter_map(|(i, sign)| Some((i, sign?))) {
            let step = f64::from(stop[coordinate]) - f64::from(start[coordinate]);
            let expected = -sign * f64::from(search.learning_rate);
            assert!(
                (step - expected).abs() < 2e-6,
                "coordinate {}: a step of {step} where the slope is {sign}\n{search:?}",
                place + coordinate
            );
            clear += 1;
        }
    }
    (clear, begin.len())
}

#[test]
fn the_first_step_of_a_search_goes_down_every_slope_of_its_objective() {
    for world in World::both() {
        for objective in objectives() {
            for decoding in DECODINGS {
                let (clear, all) = assert_one_step_descends(&world, &search(objective.clone(), decoding, 4));
                assert!(2 * clear > all, "{clear} of {all} slopes are clear: {objective:?}, {decoding:?}");
            }
        }
    }
}

#[test]
fn the_first_step_of_candidates_that_are_held_apart_goes_down_every_slope_too() {
    let [world, _] = World::both();
    let (mut clear, mut all) = (0, 0);
    for term in terms() {
        for order in [Order::Simultaneous, Order::Sequential, Order::Penalty] {
            for decoding in DECODINGS {
                // The diversity has to outweigh the rest, or its slope would not be seen.
                let objective = Objective { diversity: Some(Weighted(3.0, term)), latent: 0.1, ..Objective::default() };
                let search = Search { order, ..search(objective, decoding, 3) };
                let (seen, of) = assert_one_step_descends(&world, &search);
                (clear, all) = (clear + seen, all + of);
            }
        }
    }
    assert!(4 * clear > 3 * all, "{clear} of {all} slopes are clear");
}

/// Adam on the objective as it is put together here; the codes of the least objective that was seen.
fn descend(world: &World, search: &Search, ball: LatentBall, begin: &[f32], steps: usize) -> Vec<f32> {
    let (shape, centre) = ([begin.len() / LATENT, LATENT], world.origin().z);
    let (mut z, mut best, mut adam) = (begin.to_vec(), begin.to_vec(), Adam::new(begin.len()));
    let mut least = vec![f32::INFINITY; shape[0]];
    for step in 0..=steps {
        let point = leaf(z.clone(), shape);
        let loss = world.loss(&search.objective, search.decoding, &point);
        for (row, now) in values(loss.clone()).into_iter().enumerate() {
            if now < least[row] {
                least[row] = now;
                best[row * LATENT..][..LATENT].copy_from_slice(&z[row * LATENT..][..LATENT]);
            }
        }
        if step < steps {
            let gradient = gradients(&loss.sum(), &[point]).unwrap().remove(0);
            adam.step(&mut z, &gradient, f64::from(search.learning_rate), 0.0);
            z.chunks_exact_mut(LATENT).for_each(|z| ball.project(z, &centre));
        }
    }
    best
}

#[test]
fn a_search_is_adam_on_its_objective_within_the_ball() {
    for world in World::both() {
        for objective in objectives() {
            for (decoding, radius) in [(Decoding::Mean, f32::INFINITY), (Decoding::Anchored, 0.9)] {
                let ball = LatentBall::new(radius).unwrap();
                let search = search(objective.clone(), decoding, 4);
                let search = Search { delta: Delta::Fixed(ball), learning_rate: 0.05, ..search };
                let [begin, end] = [0, 12].map(|steps| codes(&world.explain(&search, steps)));
                let expected = descend(&world, &search, ball, &begin, 12);
                let apart = end.iter().zip(&expected).fold(0.0f32, |most, (a, b)| most.max((a - b).abs()));
                assert!(apart < 2e-3, "{apart} apart: {objective:?}, {decoding:?}, {:?}", world.task);
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------ awkward points

/// Σ f at `z` and its gradient, all of which must be numbers.
fn finite(what: &str, z: &[f32], f: impl Fn(&Tensor<2>) -> Tensor<1>) -> (f64, Vec<f32>) {
    let point = leaf(z.to_vec(), [z.len() / LATENT, LATENT]);
    let loss = f(&point);
    let value = sum(&values(loss.clone()));
    let gradient = gradients(&loss.sum(), &[point]).unwrap().remove(0);
    assert!(value.is_finite() && gradient.iter().all(|g| g.is_finite()), "{what}: {value}, {gradient:?}");
    (value, gradient)
}

#[test]
fn distances_have_finite_gradients_where_nothing_has_changed() {
    let [world, _] = World::both();
    let z = normals(LATENT, 40);
    let x = values(world.vae.decode(&tensor(z.clone(), [1, LATENT])).unwrap());
    for kind in Distance::ALL {
        let metric = world.metric(kind);
        let between = |z: &Tensor<2>| metric.between(&world.vae.decode(z).unwrap(), &repeated(&x, 1));
        let (value, gradient) = finite(kind.name(), &z, between);
        assert!(value < 2e-6 && gradient.iter().all(|g| g.abs() <= 0.0), "{kind:?}: {value}, {gradient:?}");
    }
    let (value, gradient) = finite("codes", &z, |point| euclidean(point.clone() - repeated(&z, 1)));
    assert!(value < 2e-6 && gradient.iter().all(|g| g.abs() <= 0.0), "{value}, {gradient:?}");
}

/// A predictor that is as sure as floats can be, or holds a class for impossible.
struct Sure {
    width: usize,
    scale: f32,
    impossible: bool,
}

impl Predictor for Sure {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        let logits =
            |sign: f32| x.clone().matmul(tensor(normals(self.width * CLASSES, 41), [self.width, CLASSES])) * sign;
        let last = if self.impossible { f32::NEG_INFINITY } else { 0.0 };
        let sample = |sign: f32| {
            let logs = log_softmax(logits(sign * self.scale), 1) + tensor(vec![0.0, 0.0, last], [1, CLASSES]);
            logs.unsqueeze_dim::<3>(0)
        };
        Ok(Predictive::Classes { log_probabilities: Tensor::cat(vec![sample(1.0), sample(0.8)], 0) })
    }
}

fn sure(width: usize) -> impl Iterator<Item = Sure> {
    let scales = [1.0, 30.0, 200.0, 1e4, 1e30];
    scales.into_iter().flat_map(move |scale| [false, true].map(|impossible| Sure { width, scale, impossible }))
}

#[test]
fn probabilities_of_zero_and_one_have_finite_gradients_by_the_code() {
    let [world, _] = World::both();
    let z = normals(4 * LATENT, 42);
    for predictor in sure(world.width()) {
        let predict = |z: &Tensor<2>| predictor.predict(&world.vae.decode(z).unwrap()).unwrap();
        for kind in Uncertainty::ALL {
            finite(&format!("{kind:?}"), &z, |z| Decomposition::of(&predict(z)).get(kind));
        }
        // The original may have been sure of any class, and of none.
        for class in 0..=CLASSES {
            let sure: Vec<f32> = (0..CLASSES).map(|c| f32::from(u8::from(c == class))).collect();
            let original = if class < CLASSES { sure } else { vec![1.0 / CLASSES as f32; CLASSES] };
            finite("predictions", &z, |z| prediction_distance(&predict(z), &repeated(&original, 4)));
        }
    }
}

#[test]
fn a_search_among_probabilities_of_zero_and_one_stays_among_numbers() {
    let [world, _] = World::both();
    let objective =
        Objective { prediction: 0.5, input: Weighted(0.1, Distance::L2), latent: 0.1, ..Objective::default() };
    let inputs = Inputs::new(world.x.clone(), world.width()).unwrap();
    for predictor in sure(world.width()) {
        let models = Models::new(&world.vae, &predictor);
        for decoding in DECODINGS {
            let search = search(objective.clone(), decoding, 3);
            let found = search.explain(&models, &Background::default(), &inputs, Seed(1), &mut Silent).unwrap();
            assert_numbers(&format!("{decoding:?}, scale {}", predictor.scale), &found[0]);
        }
    }
}

fn assert_numbers(what: &str, explanation: &Explanation) {
    for clue in &explanation.clues {
        let all = [&clue.x[..], &clue.z, &clue.probabilities, &[clue.cost]].concat();
        assert!(all.iter().all(|number| number.is_finite()), "{what}: {clue:?}");
        assert_ne!(clue.stopped, StopReason::NotFinite, "{what}");
    }
}

#[test]
fn candidates_that_all_start_at_the_input_stay_among_numbers() {
    let [world, _] = World::both();
    for term in terms() {
        for order in [Order::Simultaneous, Order::Sequential, Order::Penalty] {
            for decoding in DECODINGS {
                let objective = Objective {
                    input: Weighted(0.1, Distance::L2),
                    latent: 0.1,
                    diversity: Some(Weighted(1.0, term)),
                    ..Objective::default()
                };
                let starts = Starts::at_the_input();
                let search = Search { order, starts, learning_rate: 0.1, ..search(objective, decoding, 3) };
                assert_numbers(&format!("{term:?}, {order:?}, {decoding:?}"), &world.explain(&search, 5));
            }
        }
    }
}
