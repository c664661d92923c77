//! What every search obeys, whatever its method, starts, order, diversity and decoding, so that a new variant is tested
//! on arrival. Everything goes through the public interface, with models that are small, smooth and known.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should end")]
#![allow(clippy::float_cmp, reason = "some laws hold to the last bit")]

use cluekit::data::{Constraints, Feature, Image, Kind, Samples, Scaling, Schema, Target, Targets, Task, Value};
use cluekit::distance::{Distance, Metric, latent_distance};
use cluekit::diversity::{Diversity, Set, Space};
use cluekit::explanation::{Clue, Explanation, Label, Original};
use cluekit::model::mlp::{Head, Mlp};
use cluekit::model::parameters::Parameters;
use cluekit::model::plan::Architecture;
use cluekit::model::stacked::{Stacked, stack};
use cluekit::model::training::Trainable;
use cluekit::model::vae::{Vae, VaeNetwork, VaeShape};
use cluekit::model::{Generative, Predictive, Predictor};
use cluekit::observer::Silent;
use cluekit::prediction::{Prediction, predict};
use cluekit::search::{
    Background, Certain, Convergence, Decoding, Delta, DiversityTerm, InitScheme, Inputs, LatentBall, Models,
    Objective, Order, Ordinary, Search, Starts, SubSearches, UncertaintyWeights, Weighted,
};
use cluekit::tensor::{Tensor, log_softmax, softplus, tensor, values};
use cluekit::uncertainty::Uncertainty;
use cluekit::{Error, Result, Seed};
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value as Json;
use std::collections::BTreeMap;

// ------------------------------------------------------------------------------------------------ small models

const LATENT: usize = 3;
const WIDTH: usize = 5;
const CLASSES: usize = 3;
const SAMPLES: usize = 4;
/// Rows that a world knows.
const ROWS: usize = 240;

/// Draws from N(0, scale²), the same ones for the same seed.
fn normals(len: usize, seed: u64, scale: f32) -> Vec<f32> {
    let draws = StandardNormal.sample_iter(Seed(seed).stream("laws"));
    draws.take(len).map(|draw: f32| scale * draw).collect()
}

fn matrix(shape: [usize; 2], seed: u64, scale: f32) -> Tensor<2> {
    tensor(normals(shape[0] * shape[1], seed, scale), shape)
}

/// A curved surface: μ_θ(z) = z A + tanh(z B) C, and a linear encoder that comes near to its inverse.
struct Curved {
    encoder: Tensor<2>,
    straight: Tensor<2>,
    hidden: Tensor<2>,
    bent: Tensor<2>,
}

impl Curved {
    fn new(width: usize) -> Self {
        let straight = matrix([LATENT, width], 1, 0.6);
        Self {
            encoder: straight.clone().transpose() * 0.5,
            straight,
            hidden: matrix([LATENT, 6], 2, 1.0),
            bent: matrix([6, width], 3, 0.3),
        }
    }
}

impl Generative for Curved {
    fn latent(&self) -> usize {
        LATENT
    }

    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(x.clone().matmul(self.encoder.clone()))
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        let bent = z.clone().matmul(self.hidden.clone()).tanh().matmul(self.bent.clone());
        Ok(z.clone().matmul(self.straight.clone()) + bent)
    }
}

/// Four posterior samples of a network with one smooth layer; they agree in the large and differ in the small.
struct Members {
    networks: Vec<[Tensor<2>; 2]>,
    regression: bool,
}

impl Members {
    fn new(width: usize, regression: bool) -> Self {
        let near = |shape: [usize; 2], seed: u64, scale: f32, member: u64| {
            matrix(shape, seed, scale) + matrix(shape, 100 * (member + 1) + seed, 0.3 * scale)
        };
        let network = |s: u64| [near([width, 8], 4, 0.8, s), near([8, CLASSES], 5, 1.5, s)];
        Self { networks: (0..SAMPLES as u64).map(network).collect(), regression }
    }
}

impl Predictor for Members {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        let output = |[hidden, last]: &[Tensor<2>; 2]| x.clone().matmul(hidden.clone()).tanh().matmul(last.clone());
        if !self.regression {
            let logs = self.networks.iter().map(|n| log_softmax(output(n), 1).unsqueeze_dim::<3>(0)).collect();
            return Ok(Predictive::Classes { log_probabilities: Tensor::cat(logs, 0) });
        }
        let column = |c: usize| {
            Tensor::cat(self.networks.iter().map(|n| output(n).narrow(1, c, 1).swap_dims(0, 1)).collect::<Vec<_>>(), 0)
        };
        Ok(Predictive::Gaussian { mean: column(0), variance: softplus(column(1), 1.0) * 0.1 + 0.001 })
    }
}

/// Two models, what is known of their data, and rows that serve as training rows and as inputs.
struct World {
    generative: Curved,
    predictor: Members,
    task: Task,
    schema: Option<Schema>,
    samples: Samples,
}

impl World {
    fn new(task: Task, schema: Option<Schema>) -> Self {
        let width = schema.as_ref().map_or(WIDTH, Schema::width);
        let generative = Curved::new(width);
        let predictor = Members::new(width, task.is_regression());
        let noise = matrix([ROWS, width], 7, 0.05);
        let mut x = values(generative.decode(&matrix([ROWS, LATENT], 6, 1.2)).unwrap() + noise);
        if let Some(schema) = &schema {
            x = x.chunks(width).flat_map(|row| as_data(schema, row)).collect();
        }
        let mut samples = Samples { x, width, y: Targets::Classes(vec![0; ROWS]) };
        let predictions = predict(&predictor, &samples, &task).unwrap();
        samples.y = match task {
            Task::Classification { .. } => Targets::Classes(predictions.iter().map(|p| p.label() as u32).collect()),
            Task::Regression(scaling) => {
                Targets::Values(predictions.iter().map(|p| scaling.encode(f64::from(p.mean[0]))).collect())
            }
        };
        Self { generative, predictor, task, schema, samples }
    }

    fn classes() -> Self {
        Self::new(Task::Classification { classes: names(&["a", "b", "c"]) }, None)
    }

    fn regression() -> Self {
        Self::new(Task::Regression(scaling(10.0, 2.5, None, [0.0, 20.0])), None)
    }

    fn table(constraints: &str) -> Self {
        let schema = Schema { constraints: toml::from_str(constraints).unwrap(), ..people() };
        schema.validate().unwrap();
        Self::new(schema.target.task.clone(), Some(schema))
    }

    fn images() -> Self {
        let image = Some(Image { channels: 1, height: 1, width: WIDTH, maximum: 1.0 });
        let schema = Schema { image, features: vec![], ..people() };
        schema.validate().unwrap();
        Self::new(schema.target.task.clone(), Some(schema))
    }

    fn models(&self) -> Models<'_> {
        let models = Models::new(&self.generative, &self.predictor);
        match &self.schema {
            Some(schema) => models.with_schema(schema),
            None => models.with_task(&self.task),
        }
    }

    fn background(&self) -> Background {
        let (models, below) = (self.models(), if self.task.is_regression() { 2.0 } else { 0.5 });
        Background {
            metric: None,
            certain: Some(Certain::among(&models, self.samples.clone(), Uncertainty::Total, below).unwrap()),
            ordinary: Some(Ordinary::among(&models, &self.samples.x, self.samples.width, Seed(0)).unwrap()),
        }
    }

    fn predictions(&self) -> Vec<Prediction> {
        predict(&self.predictor, &self.samples, &self.task).unwrap()
    }

    /// The rows about which the model is least certain, among those that `keep`.
    fn uncertain(&self, count: usize, keep: impl Fn(usize) -> bool) -> Inputs {
        let amounts: Vec<f32> = self.predictions().iter().map(|p| p.uncertainty.total).collect();
        let mut rows: Vec<usize> = (0..ROWS).filter(|&row| keep(row)).collect();
        rows.sort_by(|&a, &b| amounts[b].total_cmp(&amounts[a]));
        assert!(rows.len() >= count, "only {} rows are left", rows.len());
        Inputs::of(&self.samples, &rows[..count], &self.task).unwrap()
    }

    fn inputs(&self, count: usize) -> Inputs {
        self.uncertain(count, |_| true)
    }

    fn explain(&self, search: &Search, inputs: &Inputs, seed: u64) -> Vec<Explanation> {
        search.explain(&self.models(), &self.background(), inputs, Seed(seed), &mut Silent).unwrap()
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn scaling(mean: f64, deviation: f64, decimals: Option<u32>, [least, greatest]: [f64; 2]) -> Scaling {
    Scaling { mean, deviation, decimals, least, greatest }
}

/// A table with every kind of feature: nine columns.
fn people() -> Schema {
    let features = vec![
        ("AGE", Kind::Continuous(scaling(45.0, 12.0, Some(0), [18.0, 90.0]))),
        ("INCOME", Kind::Continuous(scaling(3000.0, 1200.0, Some(2), [0.0, 9000.0]))),
        ("DEBT", Kind::Continuous(scaling(1500.0, 1000.0, Some(0), [0.0, 8000.0]))),
        ("GRADE", Kind::Ordinal(scaling(3.0, 1.5, Some(0), [0.0, 6.0]))),
        ("RATE", Kind::Continuous(scaling(3.3, 1.7, None, [0.5, 12.0]))),
        ("MEMBER", Kind::Binary { categories: names(&["no", "yes"]) }),
        ("JOB", Kind::Categorical { categories: names(&["none", "office", "field"]) }),
    ];
    let feature = |(name, kind): (&str, Kind)| Feature { name: name.into(), kind, unit: None };
    Schema {
        target: Target {
            name: "risk".into(),
            task: Task::Classification { classes: names(&["low", "middle", "high"]) },
            unit: None,
        },
        image: None,
        features: features.into_iter().map(feature).collect(),
        constraints: Constraints::default(),
    }
}

/// Encoded numbers as a row of the data could have them: within the ranges, rounded, with valid categories.
fn as_data(schema: &Schema, row: &[f32]) -> Vec<f32> {
    if schema.image.is_some() {
        return row.iter().map(|v| v.clamp(0.0, 1.0)).collect();
    }
    let inside = |(feature, value): (&Feature, Value)| match (feature.kind.scaling(), value) {
        (Some(scaling), Value::Number(number)) => Value::Number(number.clamp(scaling.least, scaling.greatest)),
        (_, category) => category,
    };
    let row: Vec<Value> = schema.features.iter().zip(schema.decode_row(row)).map(inside).collect();
    schema.encode_row(&row).unwrap()
}

// ------------------------------------------------------------------------------------------------ searches

fn ball(radius: f32) -> Delta {
    Delta::Fixed(LatentBall::new(radius).unwrap())
}

fn starts(schemes: &[InitScheme]) -> Starts {
    Starts { schemes: schemes.to_vec(), ..Starts::default() }
}

fn after(steps: usize, search: &Search) -> Search {
    Search { convergence: Convergence { max_steps: steps, ..search.convergence }, ..search.clone() }
}

fn diversity(weight: f32, metric: Diversity, space: Space) -> Weighted<DiversityTerm> {
    Weighted(weight, DiversityTerm { metric, space })
}

const ORDERS: [Order; 3] = [Order::Simultaneous, Order::Sequential, Order::Penalty];
const DECODINGS: [Decoding; 2] = [Decoding::Mean, Decoding::Anchored];

/// Every diversity that can be an objective in every space that it allows.
fn terms() -> Vec<DiversityTerm> {
    let differentiable = Diversity::ALL.into_iter().filter(|metric| metric.check_objective().is_ok());
    differentiable
        .flat_map(|metric| metric.spaces().iter().map(move |&space| DiversityTerm { metric, space }))
        .collect()
}

/// A search of every kind, with a name: methods, schemes, orders, decodings, radii.
fn searches() -> Vec<(String, Search)> {
    let objective = Objective { input: Weighted(0.03, Distance::L1), ..Objective::default() };
    let delta = Search { objective: objective.clone(), ..Search::delta_clue(ball(0.8), 4) };
    let mut all = vec![
        ("clue".to_owned(), Search { objective, ..Search::clue() }),
        ("δ-clue, automatic".to_owned(), Search { delta: Delta::Auto, ..delta.clone() }),
    ];
    for scheme in InitScheme::ALL {
        all.push((format!("δ-clue, {}", scheme.name()), Search { starts: starts(&[scheme]), ..delta.clone() }));
    }
    let mixed = Starts { jitter: 0.3, spread: 3, ..starts(&InitScheme::ALL) };
    all.push(("δ-clue, all schemes, moved and spread".to_owned(), Search { starts: mixed, count: 7, ..delta.clone() }));
    all.push(("δ-clue, anchored".to_owned(), Search { decoding: Decoding::Anchored, ..delta.clone() }));
    for order in ORDERS {
        for (metric, space) in
            [(Diversity::Dpp, Space::Z), (Diversity::Coverage, Space::X), (Diversity::PredictionCoverage, Space::Y)]
        {
            let diversity = Some(diversity(0.5, metric, space));
            let objective = Objective { diversity, ..delta.objective.clone() };
            all.push((format!("∇-clue, {metric} in {space}, {order:?}"), Search { objective, order, ..delta.clone() }));
        }
    }
    all
}

fn with_sub_searches(search: &Search) -> Search {
    Search { sub_searches: Some(SubSearches { best: 2, each: 3, radius: 0.4 }), ..search.clone() }
}

// ------------------------------------------------------------------------------------------------ measures

fn point(clue: &Clue, space: Space) -> &[f32] {
    match space {
        Space::X => &clue.x,
        Space::Z => &clue.z,
        Space::Y => &clue.probabilities,
    }
}

/// D of some clues in the space of the term.
fn measured(term: DiversityTerm, input: &Original, clues: &[&Clue]) -> f64 {
    let points: Vec<f32> = clues.iter().flat_map(|clue| point(clue, term.space)).copied().collect();
    let (width, original) = match term.space {
        Space::X => (input.x.len(), Some(input.x.as_slice())),
        Space::Z => (input.z.len(), Some(input.z.as_slice())),
        Space::Y => (input.probabilities.len(), None),
    };
    term.metric.of(&Set { points: &points, width, original })
}

fn all_clues(explanation: &Explanation) -> Vec<&Clue> {
    explanation.clues.iter().collect()
}

/// What a coupled search minimises: Σ L − k λ D of all at once, L − λ D or L + Σ λ / ρ of the last one behind the others.
fn coupled_objective(search: &Search, input: &Original, clues: &[&Clue]) -> f64 {
    let Weighted(weight, term) = search.objective.coupling().unwrap();
    let (weight, last) = (f64::from(weight), clues.len() - 1);
    let cost = |clue: &Clue| f64::from(clue.cost);
    match search.order {
        Order::Simultaneous => {
            clues.iter().map(|clue| cost(clue)).sum::<f64>()
                - clues.len() as f64 * weight * measured(term, input, clues)
        }
        Order::Sequential => cost(clues[last]) - weight * measured(term, input, clues),
        Order::Penalty => {
            let apart = |clue: &&Clue| latent_distance(point(clue, term.space), point(clues[last], term.space));
            cost(clues[last]) + clues[..last].iter().map(|clue| weight / apart(clue).max(1e-3)).sum::<f64>()
        }
    }
}

fn assert_in_ball(what: &str, explanation: &Explanation) {
    for clue in &explanation.clues {
        let distance = latent_distance(&clue.z, &explanation.input.z);
        assert!((f64::from(clue.distance.latent) - distance).abs() < 1e-6 * (1.0 + distance), "{what}: {distance}");
        if let Some(delta) = clue.delta {
            assert!(distance <= f64::from(delta) * (1.0 + 1e-5), "{what}: {distance} of {delta}");
        }
    }
}

fn codes(explanations: &[Explanation]) -> Vec<&[f32]> {
    explanations.iter().flat_map(|explanation| explanation.clues.iter().map(|clue| clue.z.as_slice())).collect()
}

fn assert_near(what: &str, got: f32, expected: f32, tolerance: f32) {
    assert!((got - expected).abs() <= tolerance * (1.0 + expected.abs()), "{what}: {got}, expected {expected}");
}

// ------------------------------------------------------------------------------------------------ identities

#[test]
fn a_diversity_without_weight_is_exactly_delta_clue() {
    let world = World::classes();
    let inputs = world.inputs(2);
    let delta = after(8, &Search::delta_clue(ball(1.0), 3));
    let expected = world.explain(&delta, &inputs, 1);
    for term in terms() {
        for order in ORDERS {
            let nabla = Search { order, ..after(8, &Search::nabla_clue(ball(1.0), 3, Weighted(0.0, term))) };
            assert_eq!(world.explain(&nabla, &inputs, 1), expected, "{term:?}, {order:?}");
        }
    }
}

#[test]
fn one_candidate_from_the_input_without_a_ball_is_exactly_clue() {
    let world = World::classes();
    let inputs = world.inputs(3);
    let expected = world.explain(&Search::clue(), &inputs, 2);
    let everywhere = Delta::Fixed(LatentBall::new(f32::INFINITY).unwrap());
    for scheme in InitScheme::ALL {
        let starts = Starts { radius: Some(0.0), ..starts(&[scheme]) };
        let delta = Search { starts: starts.clone(), ..Search::delta_clue(everywhere, 1) };
        assert_eq!(world.explain(&delta, &inputs, 2), expected, "{scheme:?}");
        for order in ORDERS {
            let nabla = Search::nabla_clue(everywhere, 1, diversity(5.0, Diversity::Dpp, Space::Z));
            let nabla = Search { starts: starts.clone(), order, ..nabla };
            assert_eq!(world.explain(&nabla, &inputs, 2), expected, "{scheme:?}, {order:?}");
        }
    }
}

#[test]
fn the_same_settings_and_seed_give_the_same_bytes_on_one_thread_and_on_several() {
    let world = World::classes();
    // Enough rows for several descents at once.
    let inputs = world.inputs(20);
    let on = |threads: usize, search: &Search| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| serde_json::to_string(&world.explain(search, &inputs, 3)).unwrap())
    };
    for (name, search) in searches() {
        let search = with_sub_searches(&after(6, &search));
        let expected = on(1, &search);
        for threads in [2, 3] {
            assert!(on(threads, &search) == expected, "{name}: {threads} threads find something else");
        }
    }
}

#[test]
fn an_input_is_explained_the_same_in_any_company() {
    let world = World::classes();
    let all = world.inputs(5);
    for (name, search) in searches() {
        let (begin, end) = (world.explain(&after(0, &search), &all, 4), world.explain(&search, &all, 4));
        for row in 0..all.len() {
            let alone = all.select(&[row]);
            let begin_alone = world.explain(&after(0, &search), &alone, 4);
            assert_eq!(begin_alone[0].input.index, begin[row].input.index);
            assert_eq!(codes(&begin_alone), codes(&begin[row..=row]), "{name}: the starts of input {row}");
            let end_alone = world.explain(&search, &alone, 4);
            for (a, b) in end_alone[0].clues.iter().zip(&end[row].clues) {
                let apart = a.x.iter().zip(&b.x).fold(0.0f32, |most, (a, b)| most.max((a - b).abs()));
                assert!(apart < 1e-3, "{name}: input {row} is explained {apart} away when it is alone");
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------ ball and descent

#[test]
fn every_clue_lies_in_its_ball_and_is_no_worse_than_its_start() {
    let world = World::classes();
    let inputs = world.inputs(4);
    for (name, search) in searches() {
        let (begin, end) = (world.explain(&after(0, &search), &inputs, 5), world.explain(&search, &inputs, 5));
        for (begin, end) in begin.iter().zip(&end) {
            assert_eq!(end.clues.len(), search.count, "{name}");
            [begin, end].into_iter().for_each(|explanation| assert_in_ball(&name, explanation));
            let (first, last) = (all_clues(begin), all_clues(end));
            let no_worse = |what: &str, before: f64, now: f64| {
                assert!(now <= before + 1e-5 * (1.0 + before.abs()), "{name}, {what}: from {before} to {now}");
            };
            match (search.objective.coupling(), search.order) {
                (None, _) => {
                    for (before, now) in first.iter().zip(&last) {
                        no_worse("cost", f64::from(before.cost), f64::from(now.cost));
                    }
                }
                (Some(_), Order::Simultaneous) => {
                    let [before, now] = [&first, &last].map(|set| coupled_objective(&search, &end.input, set));
                    no_worse("objective of the set", before, now);
                }
                (Some(_), Order::Sequential | Order::Penalty) => {
                    for place in 0..search.count {
                        let behind = |clue| [&last[..place], &[clue]].concat();
                        let [before, now] = [first[place], last[place]]
                            .map(|clue| coupled_objective(&search, &end.input, &behind(clue)));
                        no_worse("objective of one more", before, now);
                    }
                }
            }
        }
    }
}

#[test]
fn further_searches_and_sweeps_keep_their_balls_too() {
    let world = World::classes();
    let inputs = world.inputs(3);
    for (name, search) in searches() {
        let search = with_sub_searches(&after(6, &search));
        let further = search.count.min(2) * 3;
        for explanation in world.explain(&search, &inputs, 6) {
            assert_eq!(explanation.clues.len(), search.count + further, "{name}");
            assert_in_ball(&name, &explanation);
        }
    }
    let radii = [0.5, 1.0, 2.0];
    let search = after(6, &Search::delta_clue(ball(9.0), 4));
    let (models, background) = (world.models(), world.background());
    for explanation in search.sweep(&radii, &models, &background, &inputs, Seed(6), &mut Silent).unwrap() {
        let deltas: Vec<f32> = explanation.clues.iter().map(|clue| clue.delta.unwrap()).collect();
        assert_eq!(deltas, radii.map(|radius| [radius; 4]).concat());
        assert_in_ball("sweep", &explanation);
    }
}

#[test]
fn most_uncertain_inputs_find_certainty_without_a_ball() {
    // Otherwise the laws here would hold of a search that never moves.
    let world = World::classes();
    let found = world.explain(&Search::clue(), &world.inputs(20), 0);
    let accepted = found.iter().filter(|explanation| explanation.clues[0].accepted).count();
    assert!(accepted >= 15, "{accepted} of 20");
}

// ------------------------------------------------------------------------------------------------ starts

/// The starts of a δ-CLUE of radius 1.5.
fn begin(world: &World, starts: &Starts, inputs: &Inputs, count: usize, seed: u64) -> Vec<Explanation> {
    // Nothing is below the threshold, so that no time goes into modes.
    let search = Search { starts: starts.clone(), threshold: 1e-9, ..Search::delta_clue(ball(1.5), count) };
    world.explain(&after(0, &search), inputs, seed)
}

#[test]
fn every_scheme_gives_as_many_starts_in_the_ball_as_are_asked_for() {
    let world = World::classes();
    let inputs = world.inputs(3);
    let mut all: Vec<Starts> = InitScheme::ALL.iter().map(|&scheme| starts(&[scheme])).collect();
    all.extend([starts(&InitScheme::ALL), starts(&[InitScheme::ClassPath, InitScheme::NearestPath])]);
    for plain in all {
        for moved in [plain.clone(), Starts { jitter: 5.0, ..plain.clone() }, Starts { spread: 4, ..plain }] {
            for count in [1, 2, 3, 4, 5, 7, 11] {
                for explanation in begin(&world, &moved, &inputs, count, 7) {
                    assert_eq!(explanation.clues.len(), count, "{moved:?}");
                    assert_in_ball(&format!("{moved:?}, {count}"), &explanation);
                }
            }
        }
    }
}

#[test]
fn paths_do_not_depend_on_the_seed_and_draws_do() {
    let world = World::classes();
    let inputs = world.inputs(3);
    for scheme in InitScheme::ALL {
        let [one, other] = [1, 2].map(|seed| begin(&world, &starts(&[scheme]), &inputs, 7, seed));
        let is_path = matches!(scheme, InitScheme::NearestPath | InitScheme::ClassPath);
        assert_eq!(codes(&one) == codes(&other), is_path, "{scheme:?}");
    }
}

#[test]
fn the_way_to_each_class_is_cut_into_equal_parts() {
    // Seven starts for three classes: three for the likeliest one, at ⅓, ⅔ and 1 of δ, and two for each other one.
    let world = World::classes();
    for explanation in begin(&world, &starts(&[InitScheme::NearestPath]), &world.inputs(4), 7, 0) {
        let shares = explanation.clues.iter().map(|clue| clue.distance.latent / 1.5);
        for (got, expected) in shares.zip([1.0 / 3.0, 2.0 / 3.0, 1.0, 0.5, 1.0, 0.5, 1.0]) {
            assert_near("share", got, expected, 1e-5);
        }
        // The ways are straight: the starts to one class lie in one direction.
        let direction = |clue: &Clue| -> Vec<f32> {
            clue.z.iter().zip(&explanation.input.z).map(|(z, z0)| (z - z0) / clue.distance.latent).collect()
        };
        for class in [0..3, 3..5, 5..7] {
            let ways: Vec<Vec<f32>> = explanation.clues[class].iter().map(direction).collect();
            assert!(ways.iter().all(|way| latent_distance(way, &ways[0]) < 1e-5), "{ways:?}");
        }
    }
}

#[test]
fn a_class_becomes_more_probable_along_its_path() {
    let world = World::classes();
    for class in 0..CLASSES {
        let towards = Starts { classes: vec![class], ..starts(&[InitScheme::ClassPath]) };
        for explanation in begin(&world, &towards, &world.inputs(4), 5, 0) {
            let decoded = world.models().generative.decode(&tensor(explanation.input.z.clone(), [1, LATENT])).unwrap();
            let rows = Samples { x: values(decoded), width: WIDTH, y: Targets::Classes(vec![0]) };
            let at_z0 = predict(&world.predictor, &rows, &world.task).unwrap()[0].mean[class];
            let on_the_way = explanation.clues.iter().map(|clue| clue.probabilities[class]);
            let all: Vec<f32> = [at_z0].into_iter().chain(on_the_way).collect();
            assert!(all.windows(2).all(|pair| pair[1] >= pair[0] - 1e-3), "{class}: {all:?}");
        }
    }
}

/// Checks that `draws` come from the distribution function `f`, by Kolmogorov and Smirnov's greatest gap.
fn assert_distribution(what: &str, mut draws: Vec<f64>, f: impl Fn(f64) -> f64) {
    draws.sort_by(f64::total_cmp);
    let n = draws.len() as f64;
    let gap = |(i, &d): (usize, &f64)| (f(d) - i as f64 / n).abs().max((f(d) - (i + 1) as f64 / n).abs());
    let greatest = draws.iter().enumerate().map(gap).fold(0.0, f64::max);
    // A true distribution exceeds 1.95 / √n once in a thousand times.
    assert!(greatest < 1.95 / n.sqrt(), "{what}: greatest gap {greatest} of {n} draws");
}

/// ∫ exp(−t²/2) from 0 to x by the midpoint rule.
fn bell(x: f64) -> f64 {
    let steps = 400;
    let h = x / f64::from(steps);
    (0..steps).map(|i| h * (-((f64::from(i) + 0.5) * h).powi(2) / 2.0).exp()).sum()
}

#[test]
fn random_starts_have_the_radii_that_their_schemes_name() {
    let world = World::classes();
    // Few starts for each of several inputs, since the determinant of two thousand candidates takes its time.
    let inputs = world.inputs(10);
    // P(radius ≤ share · r).
    let up_to = |scheme: InitScheme, share: f64| match scheme {
        InitScheme::RandomRadius => share,
        InitScheme::GaussianRadius => bell(2.0 * share) / bell(2.0),
        InitScheme::UniformBall => share.powi(LATENT as i32),
        InitScheme::NearestPath | InitScheme::ClassPath => unreachable!("paths draw nothing"),
    };
    for scheme in [InitScheme::RandomRadius, InitScheme::GaussianRadius, InitScheme::UniformBall] {
        for radius in [1.5, 0.4] {
            let starts = Starts { radius: Some(radius), ..starts(&[scheme]) };
            let explanations = begin(&world, &starts, &inputs, 200, 8);
            let clues = explanations.iter().flat_map(|explanation| &explanation.clues);
            let shares: Vec<f64> = clues.map(|clue| f64::from(clue.distance.latent / radius)).collect();
            assert_eq!(shares.len(), 2000);
            assert_distribution(scheme.name(), shares, |share| up_to(scheme, share));
        }
    }
}

// ------------------------------------------------------------------------------------------------ diversity

/// Every measure in an explanation, by its name, and the space it is measured in.
fn diversities(explanation: &Explanation) -> Vec<(Diversity, Space, f64)> {
    let Json::Object(summary) = serde_json::to_value(&explanation.diversity).unwrap() else { unreachable!() };
    let mut all = Vec::new();
    for (name, value) in summary {
        let metric: Diversity = name.parse().unwrap();
        match value {
            Json::Object(spaces) => all.extend(spaces.into_iter().map(|(space, value)| {
                // JSON has no −∞.
                (metric, space.parse().unwrap(), value.as_f64().unwrap_or(f64::NEG_INFINITY))
            })),
            Json::Null => {}
            value => all.push((metric, Space::Y, value.as_f64().unwrap())),
        }
    }
    all
}

#[test]
fn the_diversity_of_an_explanation_is_that_of_its_clues_and_within_bounds() {
    for (world, measures) in [(World::classes(), 13), (World::regression(), 10)] {
        let inputs = world.inputs(3);
        for count in [1, 2, 5] {
            for explanation in world.explain(&after(5, &Search::delta_clue(ball(1.0), count)), &inputs, 9) {
                let all = diversities(&explanation);
                assert_eq!(all.len(), measures);
                for (metric, space, value) in all {
                    let (least, greatest) = metric.bounds(explanation.input.probabilities.len());
                    assert!((least..=greatest).contains(&value), "{metric} in {space}: {value}");
                    let term = DiversityTerm { metric, space };
                    let again = measured(term, &explanation.input, &all_clues(&explanation));
                    assert!((value - again).abs() <= 1e-12 * (1.0 + again.abs()), "{metric} in {space}");
                    assert!(count > 1 || value == 0.0, "{metric} in {space} of one clue is {value}");
                }
            }
        }
    }
}

#[test]
fn a_diversity_with_weight_makes_clues_more_diverse_in_its_own_space() {
    let world = World::classes();
    let inputs = world.inputs(4);
    let search = Search::delta_clue(ball(1.5), 3);
    let without = world.explain(&search, &inputs, 10);
    for term in terms() {
        for order in [Order::Simultaneous, Order::Sequential] {
            let objective = Objective { diversity: Some(Weighted(20.0, term)), ..Objective::default() };
            let with = world.explain(&Search { objective, order, ..search.clone() }, &inputs, 10);
            let mut gain = 0.0;
            for (without, with) in without.iter().zip(&with) {
                assert_in_ball(&format!("{term:?}, {order:?}"), with);
                let [before, now] = [without, with].map(|found| measured(term, &found.input, &all_clues(found)));
                // Labels can be as diverse as they get without any help.
                assert!(now >= before - 0.01, "{term:?}, {order:?}: {now}, without weight {before}");
                gain += now - before;
            }
            assert!(term.space != Space::Z || gain > 0.01, "{term:?}, {order:?} gained {gain} over all inputs");
        }
    }
}

#[test]
fn a_penalty_keeps_clues_apart_in_its_space() {
    let world = World::classes();
    let inputs = world.inputs(4);
    let search = Search { order: Order::Penalty, ..Search::delta_clue(ball(1.5), 3) };
    let without = world.explain(&search, &inputs, 11);
    for space in Space::ALL {
        let objective = Objective { diversity: Some(diversity(5.0, Diversity::Dpp, space)), ..Objective::default() };
        let with = world.explain(&Search { objective, ..search.clone() }, &inputs, 11);
        let mut relief = 0.0;
        for (without, with) in without.iter().zip(&with) {
            assert_in_ball(space.name(), with);
            let [before, now] = [without, with].map(|found| {
                let pairs = [(0, 1), (0, 2), (1, 2)];
                let apart = |(a, b): (usize, usize)| {
                    1.0 / latent_distance(point(&found.clues[a], space), point(&found.clues[b], space)).max(1e-3)
                };
                pairs.map(apart).iter().sum::<f64>()
            });
            // Where clues are as far apart as they can be without any help there is nothing to gain.
            assert!(now <= 1.01 * before, "{space}: {now}, without weight {before}");
            relief += before - now;
        }
        assert!(space != Space::Z || relief > 0.01, "{space} gained {relief} over all inputs");
    }
}

// ------------------------------------------------------------------------------------------------ certificates

/// Several ways to weigh the terms of the objective.
fn objectives() -> Vec<Objective> {
    let only = UncertaintyWeights::only;
    let mut all = vec![
        Objective::default(),
        Objective { uncertainty: only(Uncertainty::Aleatoric), prediction: 0.2, ..Objective::default() },
        Objective { uncertainty: only(Uncertainty::Epistemic), latent: 0.1, ..Objective::default() },
        Objective {
            uncertainty: UncertaintyWeights { total: 0.5, aleatoric: 0.7, epistemic: 1.3 },
            input: Weighted(0.02, Distance::L2),
            prediction: 0.1,
            latent: 0.05,
            prior: 0.01,
            diversity: Some(diversity(0.3, Diversity::Dpp, Space::Z)),
        },
    ];
    all.extend(Distance::ALL.map(|kind| Objective { input: Weighted(0.05, kind), ..Objective::default() }));
    all
}

/// d_x by the formula of its kind, where that is one line.
fn input_distance(kind: Distance, x: &[f32], original: &[f32]) -> Option<f32> {
    let l1 = || x.iter().zip(original).map(|(a, b)| (a - b).abs()).sum();
    match kind {
        Distance::L1 => Some(l1()),
        Distance::L2 => Some(latent_distance(x, original) as f32),
        Distance::Mahalanobis | Distance::Mad | Distance::Range => None,
    }
}

#[test]
fn a_certificate_is_what_a_fresh_look_at_the_clue_says() {
    let mut seen = BTreeMap::new();
    for world in [World::classes(), World::regression(), World::table("")] {
        let inputs = world.inputs(4);
        for objective in objectives() {
            let kind = objective.input.1;
            let metric = Metric::fit(kind, &world.samples.x, world.samples.width, world.schema.as_ref()).unwrap();
            let background = Background { metric: Some(metric.clone()), ..world.background() };
            let threshold = if world.task.is_regression() { 1.2 } else { 0.5 };
            let search = Search { objective, threshold, ..Search::delta_clue(ball(1.2), 4) };
            let found = search.explain(&world.models(), &background, &inputs, Seed(12), &mut Silent).unwrap();
            for explanation in &found {
                assert_certified(&world, &search, &metric, explanation);
                for clue in &explanation.clues {
                    *seen.entry(clue.accepted).or_insert(0) += 1;
                }
            }
        }
    }
    assert!(seen[&true] > 20 && seen[&false] > 20, "both kinds have to be seen: {seen:?}");
}

fn assert_certified(world: &World, search: &Search, metric: &Metric, explanation: &Explanation) {
    let input = &explanation.input;
    let rows: Vec<&[f32]> =
        [input.x.as_slice()].into_iter().chain(explanation.clues.iter().map(|c| &c.x[..])).collect();
    let y = Targets::Classes(vec![0; rows.len()]);
    let samples = Samples { x: rows.concat(), width: world.samples.width, y };
    let fresh = predict(&world.predictor, &samples, &world.task).unwrap();
    let unit = match world.task {
        Task::Regression(scaling) => scaling.deviation as f32,
        Task::Classification { .. } => 1.0,
    };
    for (clue, fresh_clue) in explanation.clues.iter().zip(&fresh[1..]) {
        for kind in Uncertainty::ALL {
            assert_near("uncertainty", clue.uncertainty.get(kind), fresh_clue.uncertainty.get(kind), 1e-5);
        }
        match clue.label {
            Label::Class(label) => {
                assert_eq!(label, fresh_clue.label());
                for (got, expected) in clue.probabilities.iter().zip(&fresh_clue.mean) {
                    assert_near("probability", *got, *expected, 1e-5);
                }
            }
            Label::Value(value) => assert_near("value", value, fresh_clue.mean[0], 1e-5),
        }
        let d_y: f32 = match world.task {
            Task::Classification { .. } => {
                -fresh[0].mean.iter().zip(&fresh_clue.mean).map(|(p0, p)| p0 * p.ln()).sum::<f32>()
            }
            Task::Regression(_) => ((fresh[0].mean[0] - fresh_clue.mean[0]) / unit).powi(2),
        };
        assert_near("prediction distance", clue.distance.prediction, d_y, 1e-4);
        let row = |x: &[f32]| tensor(x.to_vec(), [1, x.len()]);
        let d_x = values(metric.between(&row(&clue.x), &row(&input.x)))[0];
        assert_near("input distance", clue.distance.input, d_x, 1e-5);
        if let Some(d_x) = input_distance(metric.kind(), &clue.x, &input.x) {
            assert_near("input distance by its formula", clue.distance.input, d_x, 1e-4);
        }
        // A regression's search sees scaled values; what it reports has the data's unit.
        let Objective { uncertainty, input: Weighted(by_input, _), prediction, latent, prior, .. } = search.objective;
        let amounts = clue.uncertainty;
        let cost = (uncertainty.total * amounts.total
            + uncertainty.aleatoric * amounts.aleatoric
            + uncertainty.epistemic * amounts.epistemic)
            / unit
            + by_input * clue.distance.input
            + prediction * clue.distance.prediction
            + latent * clue.distance.latent
            + prior * 0.5 * clue.z.iter().map(|z| z * z).sum::<f32>();
        assert_near("cost", clue.cost, cost, 1e-4);
        assert_eq!(clue.accepted, clue.reason.is_none());
        assert_eq!(clue.accepted, amounts.get(search.accept_by) < search.threshold, "{:?}", clue.reason);
        let plausibility = clue.plausibility.unwrap();
        assert!((0.0..=1.0).contains(&plausibility.reconstruction) && plausibility.elbo.is_none());
    }
    let accepted = explanation.clues.iter().any(|clue| clue.accepted);
    assert_eq!(explanation.advice.is_none(), accepted, "{:?}", explanation.advice);
}

#[test]
fn a_clue_is_accepted_by_the_kind_of_uncertainty_that_was_asked_for() {
    let world = World::classes();
    for accept_by in Uncertainty::ALL {
        let search = Search { accept_by, threshold: 0.15, ..Search::delta_clue(ball(1.5), 6) };
        for explanation in world.explain(&search, &world.inputs(4), 13) {
            for clue in &explanation.clues {
                assert_eq!(clue.accepted, clue.uncertainty.get(accept_by) < 0.15, "{accept_by:?}");
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------ decoding, constraints

#[test]
fn anchored_decoding_gives_back_the_input_where_nothing_changes() {
    let search = after(0, &Search { decoding: Decoding::Anchored, ..Search::clue() });
    for world in [World::classes(), World::regression(), World::images()] {
        for explanation in world.explain(&search, &world.inputs(20), 14) {
            let apart = explanation.clues[0].x.iter().zip(&explanation.input.x).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f32::max) < 1e-6);
        }
    }
    let world = World::table("");
    let rate = world.models().schema.unwrap().features.iter().position(|feature| feature.name == "RATE").unwrap();
    for explanation in world.explain(&search, &world.inputs(20), 14) {
        for (column, (a, b)) in explanation.clues[0].x.iter().zip(&explanation.input.x).enumerate() {
            // What is rounded is exact; the one number without decimals has nothing to round to.
            assert!(if column == rate { (a - b).abs() < 1e-6 } else { a == b }, "column {column}: {a}, input {b}");
        }
    }
}

// Fails for numbers without decimals: `changes` of `search::certificate` compares what is shown, to the last digit of an
// f32, where `Constraints::broken` asks `Feature::differs`.
#[test]
fn what_the_rounding_of_floats_does_is_no_change() {
    let world = World::table("");
    let search = after(0, &Search { decoding: Decoding::Anchored, ..Search::clue() });
    for explanation in world.explain(&search, &world.inputs(20), 14) {
        assert_eq!(explanation.clues[0].changes, []);
    }
}

#[test]
fn an_image_stays_within_its_range() {
    let world = World::images();
    let mut at_the_edge = 0;
    for decoding in DECODINGS {
        let search = Search { decoding, ..Search::delta_clue(ball(2.0), 5) };
        for clue in world.explain(&search, &world.inputs(5), 15).iter().flat_map(|explanation| &explanation.clues) {
            assert!(clue.x.iter().all(|v| (0.0..=1.0).contains(v)) && clue.changes.is_empty(), "{:?}", clue.x);
            at_the_edge += clue.x.iter().filter(|v| **v <= 0.0 || **v >= 1.0).count();
        }
    }
    assert!(at_the_edge > 0, "nothing had to be held back");
}

const CONSTRAINTS: &str = r#"
immutable = ["AGE", "JOB"]
only_up = ["MEMBER"]
only_down = ["GRADE"]
relations = ["DEBT <= INCOME", "INCOME + 2*DEBT <= 12000"]
ranges = { INCOME = [800, 5000], RATE = "..6" }
"#;

/// A decoded row by the names of its features.
struct Person(BTreeMap<String, Value>);

impl Person {
    fn of(schema: &Schema, x: &[f32]) -> Self {
        Self(schema.features.iter().map(|feature| feature.name.clone()).zip(schema.decode_row(x)).collect())
    }

    fn number(&self, name: &str) -> f64 {
        match self.0[name] {
            Value::Number(number) => number,
            Value::Category(_) => unreachable!("{name} is a number"),
        }
    }

    fn keeps_ranges(&self) -> bool {
        (800.0..=5000.0).contains(&self.number("INCOME")) && self.number("RATE") <= 6.0 + 1e-5
    }

    fn keeps_relations(&self) -> bool {
        let [income, debt] = ["INCOME", "DEBT"].map(|name| self.number(name));
        debt <= income && income + 2.0 * debt <= 12_000.0
    }

    fn is_allowed(&self) -> bool {
        self.keeps_ranges() && self.keeps_relations()
    }

    fn changed_from(&self, before: &Self) -> Vec<&str> {
        let same = |name: &str| match (&self.0[name], &before.0[name]) {
            // The one number without decimals.
            (Value::Number(a), Value::Number(b)) if name == "RATE" => (a - b).abs() < 1e-5,
            (a, b) => a == b,
        };
        self.0.keys().map(String::as_str).filter(|name| !same(name)).collect()
    }

    /// Which constraint the change from `before` breaks, if any.
    fn broken(&self, before: &Self, most_changed: usize) -> Option<&'static str> {
        let changed = self.changed_from(before);
        let rules = [
            ("immutable", changed.contains(&"AGE") || changed.contains(&"JOB")),
            ("direction of a binary feature", changed.contains(&"MEMBER") && before.0["MEMBER"].to_string() == "yes"),
            ("direction of an ordinal feature", self.number("GRADE") > before.number("GRADE")),
            ("range", !self.keeps_ranges()),
            ("relation", !self.keeps_relations()),
            ("number of changes", changed.len() > most_changed),
        ];
        rules.into_iter().find(|(_, broken)| *broken).map(|(rule, _)| rule)
    }
}

/// Searches of every method, in both decodings, for the inputs that `keep`; each clue keeps every constraint.
fn assert_constraints_are_kept(most_changed: Option<usize>, keep: impl Fn(&Person) -> bool) {
    let most = most_changed.map(|most| format!("most_changed = {most}")).unwrap_or_default();
    let world = World::table(&format!("{most}\n{CONSTRAINTS}"));
    let schema = world.schema.as_ref().unwrap();
    let possible = |row: usize| {
        keep(&Person::of(schema, world.samples.row(row)))
            && schema.constraints.bounds(schema, world.samples.row(row)).is_ok()
    };
    let inputs = world.uncertain(4, possible);
    let delta = Search { threshold: 0.6, ..with_sub_searches(&Search::delta_clue(ball(2.0), 3)) };
    let nabla = Search::nabla_clue(ball(2.0), 3, diversity(0.3, Diversity::Coverage, Space::X));
    let (mut moved, mut problems) = (0, Vec::new());
    for (name, search) in [("clue", Search::clue()), ("δ-clue", delta), ("∇-clue", nabla)] {
        for (decoding, seed) in DECODINGS.into_iter().flat_map(|decoding| [1, 2, 3].map(|seed| (decoding, seed))) {
            for explanation in world.explain(&Search { decoding, ..search.clone() }, &inputs, seed) {
                let before = Person::of(schema, &explanation.input.x);
                for clue in &explanation.clues {
                    let now = Person::of(schema, &clue.x);
                    assert_eq!(clue.x, schema.encode_row(&schema.decode_row(&clue.x)).unwrap(), "{name}: no row");
                    let mut changes: Vec<&str> = clue.changes.iter().map(|change| change.feature.as_str()).collect();
                    changes.sort_unstable();
                    assert_eq!(changes, now.changed_from(&before), "{name}");
                    moved += usize::from(!changes.is_empty());
                    if let Some(rule) = now.broken(&before, most_changed.unwrap_or(usize::MAX)) {
                        assert!(!clue.accepted, "{name}, {decoding:?}, seed {seed}: accepted, but {rule} is broken");
                        problems.push(format!("{name}, {decoding:?}, seed {seed}: {rule}: {:?}", clue.reason));
                    }
                }
            }
        }
    }
    assert!(moved > 20, "too few clues change anything: {moved}");
    let some = problems.iter().take(5).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(problems.is_empty(), "{} clues break a constraint, such as\n{some}", problems.len());
}

#[test]
fn every_clue_keeps_every_constraint() {
    assert_constraints_are_kept(None, Person::is_allowed);
}

#[test]
fn every_clue_keeps_every_constraint_with_few_changes() {
    for most in [1, 2] {
        assert_constraints_are_kept(Some(most), Person::is_allowed);
    }
}

#[test]
fn an_input_outside_a_range_or_relation_is_brought_inside() {
    assert_constraints_are_kept(None, |person| !person.is_allowed());
}

// Fails: `search::sparse` chooses features by what they gain alone, so it may pin one that `Bounds::must_change` names.
#[test]
fn an_input_outside_a_range_is_brought_inside_by_one_of_few_changes() {
    assert_constraints_are_kept(Some(2), |person| !person.keeps_ranges() && person.keeps_relations());
}

// Fails for the same reason: neither feature of the broken relation may be among the chosen ones. Less debt alone, one
// change, would mend each of these inputs.
#[test]
fn an_input_that_breaks_a_relation_is_mended_by_one_of_few_changes() {
    assert_constraints_are_kept(Some(2), |person| person.keeps_ranges() && !person.keeps_relations());
}

// ------------------------------------------------------------------------------------------------ errors

/// What the search says instead of an explanation.
fn problem(world: &World, background: &Background, search: &Search) -> String {
    let outcome = search.explain(&world.models(), background, &world.inputs(2), Seed(0), &mut Silent);
    outcome.map(|found| found.len()).expect_err("the settings cannot be used").to_string()
}

#[test]
fn a_setting_that_cannot_be_used_is_named() {
    let world = World::classes();
    let objective = |change: fn(&mut Objective)| {
        let mut search = Search::delta_clue(ball(1.0), 2);
        change(&mut search.objective);
        search
    };
    let with_starts = |starts: Starts| Search { starts, ..Search::delta_clue(ball(1.0), 2) };
    let convergence = |convergence: Convergence| Search { convergence, ..Search::clue() };
    let sub = |best: usize, each: usize, radius: f32| Search {
        sub_searches: Some(SubSearches { best, each, radius }),
        ..Search::delta_clue(ball(1.0), 2)
    };
    let plain = Convergence::default();
    let cases = [
        ("count", Search { count: 0, ..Search::clue() }),
        ("learning-rate", Search { learning_rate: 0.0, ..Search::clue() }),
        ("learning-rate", Search { learning_rate: f32::INFINITY, ..Search::clue() }),
        ("threshold", Search { threshold: 0.0, ..Search::clue() }),
        ("threshold", Search { threshold: f32::NAN, ..Search::clue() }),
        ("uncertainty.total", objective(|o| o.uncertainty.total = f32::NAN)),
        ("uncertainty.aleatoric", objective(|o| o.uncertainty.aleatoric = -1.0)),
        ("uncertainty.epistemic", objective(|o| o.uncertainty.epistemic = f32::INFINITY)),
        ("uncertainty", objective(|o| o.uncertainty.total = 0.0)),
        ("lambda-x", objective(|o| o.input.0 = f32::NAN)),
        ("lambda-y", objective(|o| o.prediction = f32::NAN)),
        ("lambda-z", objective(|o| o.latent = -0.5)),
        ("lambda-p", objective(|o| o.prior = f32::NAN)),
        ("diversity", objective(|o| o.diversity = Some(diversity(f32::NAN, Diversity::Dpp, Space::Z)))),
        ("distinct-labels", objective(|o| o.diversity = Some(diversity(1.0, Diversity::DistinctLabels, Space::Y)))),
        ("label-entropy", objective(|o| o.diversity = Some(diversity(1.0, Diversity::LabelEntropy, Space::Y)))),
        ("space", objective(|o| o.diversity = Some(diversity(1.0, Diversity::Coverage, Space::Y)))),
        ("space", objective(|o| o.diversity = Some(diversity(1.0, Diversity::SoftLabelEntropy, Space::Z)))),
        ("init", with_starts(starts(&[]))),
        ("radius", with_starts(Starts { radius: Some(-1.0), ..Starts::default() })),
        ("jitter", with_starts(Starts { jitter: f32::NAN, ..Starts::default() })),
        ("towards", with_starts(Starts { classes: vec![0, CLASSES], ..starts(&[InitScheme::ClassPath]) })),
        ("convergence.patience", convergence(Convergence { patience: 0, ..plain })),
        ("convergence.relative", convergence(Convergence { relative: f32::NAN, ..plain })),
        ("convergence.absolute", convergence(Convergence { absolute: -1.0, ..plain })),
        ("sub-searches", sub(0, 1, 1.0)),
        ("sub-searches", sub(1, 0, 1.0)),
        ("sub-searches.radius", sub(1, 1, 0.0)),
    ];
    for (key, search) in cases {
        let problem = problem(&world, &world.background(), &search);
        assert!(problem.contains(&format!("`{key}`")), "{key}: {problem}");
    }
    for radius in [0.0, -1.0, f32::NAN, f32::NEG_INFINITY] {
        let problem = LatentBall::new(radius).unwrap_err().to_string();
        assert!(problem.contains("`delta`") && problem.contains("positive radius"), "{problem}");
    }
}

#[test]
fn a_diversity_that_counts_is_refused_and_told_what_would_do() {
    let world = World::classes();
    for metric in [Diversity::DistinctLabels, Diversity::LabelEntropy] {
        let search = Search::nabla_clue(ball(1.0), 3, diversity(1.0, metric, Space::Y));
        let problem = problem(&world, &world.background(), &search);
        let choices = format!("choose one of soft-{metric}, ");
        assert!(problem.starts_with(&format!("`{metric}` cannot be optimised")) && problem.contains(&choices));
    }
}

#[test]
fn what_looks_at_training_rows_says_so_when_there_are_none() {
    let world = World::classes();
    let none = Background::default();
    let auto = problem(&world, &none, &Search::delta_clue(Delta::Auto, 2));
    assert!(auto.contains("`delta`") && auto.contains("no training rows"), "{auto}");
    let paths = Search { starts: starts(&[InitScheme::NearestPath]), ..Search::delta_clue(ball(1.0), 2) };
    let path = problem(&world, &none, &paths);
    assert!(path.contains("`init`") && path.contains("no training rows"), "{path}");
    // Rows there are, but the model is certain of none of them.
    let certain = Certain::among(&world.models(), world.samples.clone(), Uncertainty::Total, 1e-9).unwrap();
    let unsure = Background { certain: Some(certain), ..Background::default() };
    for search in [Search::delta_clue(Delta::Auto, 2), paths] {
        let problem = problem(&world, &unsure, &search);
        assert!(problem.starts_with("no training point") && problem.contains("--threshold"), "{problem}");
    }
}

#[test]
fn paths_to_classes_are_refused_for_a_regression() {
    let world = World::regression();
    let search = Search { starts: starts(&[InitScheme::ClassPath]), ..Search::delta_clue(ball(1.0), 2) };
    let path = problem(&world, &world.background(), &search);
    assert!(path.contains("`init`") && path.contains("regression"), "{path}");
}

// Fails: nothing checks the task, and the formulas for probabilities are applied to the predicted value.
#[test]
fn diversities_of_labels_are_refused_for_a_regression() {
    let world = World::regression();
    for metric in [Diversity::PredictionCoverage, Diversity::SoftDistinctLabels, Diversity::SoftLabelEntropy] {
        for order in ORDERS {
            let search = Search::nabla_clue(ball(1.0), 2, diversity(1.0, metric, Space::Y));
            let problem = problem(&world, &world.background(), &Search { order, ..search });
            assert!(problem.contains("`diversity`") && problem.contains(metric.name()), "{problem}");
        }
    }
}

#[test]
fn a_predictor_of_the_other_kind_is_refused() {
    let (classes, regression) = (World::classes(), World::regression());
    for (world, task) in [(&classes, &regression.task), (&regression, &classes.task)] {
        let models = Models::new(&world.generative, &world.predictor).with_task(task);
        let outcome = Search::clue().explain(&models, &Background::default(), &world.inputs(1), Seed(0), &mut Silent);
        assert!(outcome.unwrap_err().to_string().contains("name its task"));
    }
}

#[test]
fn inputs_that_are_no_numbers_or_no_rows_are_refused() {
    let nan = Inputs::new(vec![0.0, f32::NAN, 0.0, 0.0, 0.0], WIDTH).unwrap_err().to_string();
    assert!(nan.contains("NaN") && nan.contains("column 1"), "{nan}");
    assert!(Inputs::new(vec![0.0; WIDTH + 1], WIDTH).unwrap_err().to_string().contains("whole rows"));
    assert!(Inputs::new(vec![], 0).is_err());
    let world = World::classes();
    let missing = Inputs::of(&world.samples, &[ROWS], &world.task).unwrap_err().to_string();
    assert!(missing.contains("`inputs`") && missing.contains(&format!("no row {ROWS}")), "{missing}");
    assert_eq!(world.explain(&Search::clue(), &Inputs::new(vec![], WIDTH).unwrap(), 0), []);
}

/// A decoder or an encoder that is one column short.
struct Short<'a> {
    inner: &'a Curved,
    encoder: usize,
    decoder: usize,
}

impl Generative for Short<'_> {
    fn latent(&self) -> usize {
        LATENT
    }

    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(self.inner.encode(x)?.narrow(1, 0, self.encoder))
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(self.inner.decode(z)?.narrow(1, 0, self.decoder))
    }
}

#[test]
fn a_model_whose_output_has_the_wrong_width_is_refused_by_name() {
    let world = World::classes();
    for (encoder, decoder, what) in [
        (LATENT, WIDTH - 1, "the output of the decoder has shape [2, 4], expected [2, 5]"),
        (LATENT - 1, WIDTH, "the code of the encoder has shape [2, 2], expected [2, 3]"),
    ] {
        let short = Short { inner: &world.generative, encoder, decoder };
        let models = Models::new(&short, &world.predictor);
        let outcome = Search::clue().explain(&models, &Background::default(), &world.inputs(2), Seed(0), &mut Silent);
        assert_eq!(outcome.unwrap_err().to_string(), what);
    }
}

/// Predictors that do not keep to what was agreed on.
enum Odd {
    /// One row too few.
    Row,
    /// No class at all.
    NoClass,
    /// Numbers that are right, but not computed from the input's tensor.
    Untracked,
}

impl Predictor for Odd {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        let rows = x.dims()[0];
        let (rows, classes) = match self {
            Self::Row => (rows - 1, 2),
            Self::NoClass => (rows, 0),
            Self::Untracked => (rows, 2),
        };
        let log_probabilities = tensor(vec![0.5f32.ln(); rows * classes], [1, rows, classes]);
        Ok(Predictive::Classes { log_probabilities })
    }
}

#[test]
fn a_predictor_that_does_not_keep_to_its_shape_or_graph_is_an_error_and_no_panic() {
    let world = World::classes();
    for (odd, what) in [
        (Odd::Row, "the predictor's answer, [samples, rows, …], has shape [1, 1, 2], expected [1, 2, 2]"),
        (Odd::NoClass, "the predictor's answer, [samples, rows, …], has shape [1, 2, 0]"),
        (Odd::Untracked, "does not follow from its input by tensor operations"),
    ] {
        let models = Models::new(&world.generative, &odd);
        let outcome = Search::clue().explain(&models, &Background::default(), &world.inputs(2), Seed(0), &mut Silent);
        let problem = outcome.unwrap_err().to_string();
        assert!(problem.contains(what), "{problem}");
    }
}

#[test]
fn a_distance_that_is_not_the_objective_s_is_refused() {
    let world = World::classes();
    let background = Background { metric: Some(Metric::default()), ..Background::default() };
    let objective = Objective { input: Weighted(0.1, Distance::L2), ..Objective::default() };
    let search = Search { objective, ..Search::clue() };
    let inputs = world.inputs(2);
    let problem = search.explain(&world.models(), &background, &inputs, Seed(0), &mut Silent).unwrap_err().to_string();
    assert!(problem.contains("the objective has `l2`, the background `l1`"), "{problem}");
    let found = search.explain(&world.models(), &Background::default(), &inputs, Seed(0), &mut Silent).unwrap();
    let (x, clue) = (&found[0].input.x, &found[0].clues[0]);
    assert_near("ℓ2 without a background", clue.distance.input, latent_distance(&clue.x, x) as f32, 1e-5);
}

#[test]
fn inputs_of_another_width_than_the_models_are_refused() {
    // The crate's own models: a stranger's answer for themselves.
    let schema = people();
    let shape = VaeShape { architecture: Architecture::Residual, latent: 2, width: 6, depth: 1, channels: vec![] };
    let network = VaeNetwork::new(&shape, &schema).unwrap();
    let parameters = Parameters::initial(network.layout().clone(), &mut Seed(0).stream("vae"));
    let vae = Vae::new(network, &parameters);
    let mlp = Mlp::new(schema.width(), &[4], Head::Classes(CLASSES), 0.0);
    let members = [Parameters::initial(mlp.layout().clone(), &mut Seed(0).stream("predictor")).values];
    let predictor = Stacked::new(&stack(&members, mlp.layout()), Head::Classes(CLASSES)).unwrap();
    let right = Inputs::new(vec![0.0; 2 * schema.width()], schema.width()).unwrap();
    let wrong = Inputs::new(vec![0.0; 2 * WIDTH], WIDTH).unwrap();
    for models in [Models::new(&vae, &predictor), Models::new(&vae, &predictor).with_schema(&schema)] {
        let explain = |inputs| Search::clue().explain(&models, &Background::default(), inputs, Seed(0), &mut Silent);
        assert_eq!(explain(&right).unwrap().len(), 2);
        let problem = explain(&wrong).unwrap_err();
        assert!(matches!(problem, Error::Shape { .. }), "{problem}");
        assert!(problem.to_string().contains("input") && problem.to_string().contains('9'), "{problem}");
    }
}
