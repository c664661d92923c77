//! Times one step of training, and one of a search through residual networks: one JSON object a line in, one out.
//!
//! ```text
//! {"work": "perceptron"}  →  {"seconds": 0.0042}
//! ```
//!
//! `bench/torch/training.py` asks the same of PyTorch, in turn. Weights are random, which costs the same as trained ones.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark that cannot go on should end")]

use cluekit::Seed;
use cluekit::data::{Constraints, Image, Samples, Schema, Target, Targets, Task};
use cluekit::model::plan::Plan;
use cluekit::model::{Predictive, Predictor, Stacked};
use cluekit::parallel::over_shards;
use cluekit::tensor::{gradients, leaf};
use cluekit::testing::model::{Adam, Network, Parameters, Sghmc, Trainable, VaeNetwork, VaeShape, stack};
use rand_distr::{Distribution, Uniform};
use std::io::BufRead;
use std::time::Instant;

/// That of the command `clue`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn schema(image: Image, classes: usize) -> Schema {
    let classes = (0..classes).map(|class| class.to_string()).collect();
    let target = Target { name: "class".into(), task: Task::Classification { classes }, unit: None, meaning: None };
    Schema { target, image: Some(image), features: vec![], constraints: Constraints::default() }
}

fn digits() -> (Schema, Plan) {
    let schema = schema(Image { channels: 1, height: 28, width: 28, maximum: 255.0 }, 10);
    let plan = Plan::for_data(&schema, 60_000);
    (schema, plan)
}

fn symbols() -> (Schema, Plan) {
    (schema(Image { channels: 3, height: 32, width: 32, maximum: 255.0 }, 26), Plan::named("synbols").unwrap())
}

fn samples(schema: &Schema, rows: usize) -> Samples {
    let width = schema.width();
    let draws = Uniform::new(0.0f32, 1.0).unwrap().sample_iter(Seed(1).stream("inputs"));
    let classes = schema.target.task.classes().len() as u32;
    let y = Targets::Classes((0..rows as u32).map(|row| row % classes).collect());
    Samples { x: draws.take(rows * width).collect(), width, y, weights: None }
}

fn initial(model: &dyn Trainable, name: &str) -> Parameters {
    Parameters::initial(model.layout().clone(), &mut Seed(0).stream(name))
}

/// A step of something.
type Step = Box<dyn FnMut()>;

/// A step of Adam on `batch` rows.
fn adam(model: Box<dyn Trainable>, schema: &Schema, batch: usize) -> Step {
    let samples = samples(schema, batch);
    let indices: Vec<usize> = (0..batch).collect();
    let mut parameters = initial(&*model, "start");
    let mut adam = Adam::new(parameters.values.len());
    Box::new(move || {
        let stream = |row: usize| Seed(2).numbered("noise", (adam.steps << 16) + row as u64);
        let gradient = model.gradient(&parameters, &samples, &indices, &stream).unwrap();
        adam.step(&mut parameters.values, &gradient.values, 1e-4, 0.01);
    })
}

/// A step of the chain that samples a Bayesian perceptron; `adapt` as in its burn-in.
fn chain(adapt: bool) -> Step {
    let (schema, plan) = digits();
    let model = Network::of(&plan.predictor, &schema).unwrap();
    let batch = plan.predictor.fit.batch;
    let samples = samples(&schema, batch);
    let indices: Vec<usize> = (0..batch).collect();
    let mut parameters = initial(&model, "start");
    let mut chain = Sghmc::new(parameters.values.len(), 1e-5, plan.predictor.sampler.friction);
    Box::new(move || {
        let stream = |row: usize| Seed(2).numbered("dropout", row as u64);
        let gradient = model.gradient(&parameters, &samples, &indices, &stream).unwrap();
        let energy: Vec<f32> =
            gradient.values.iter().zip(&parameters.values).map(|(g, theta)| 600_000.0 * g + 100.0 * theta).collect();
        chain.step(&mut parameters.values, &energy, adapt, Seed(3), "noise");
    })
}

/// A gradient by the inputs of all members of an ensemble.
fn search(rows: usize) -> Step {
    let (schema, plan) = symbols();
    let network = Network::of(&plan.predictor, &schema).unwrap();
    let member = |i: usize| initial(&network, &format!("member {i}")).values;
    let members: Vec<Vec<f32>> = (0..plan.predictor.samples).map(member).collect();
    let stacked = Stacked::new(&stack(&members, network.layout()), &network).unwrap();
    let samples = samples(&schema, rows);
    Box::new(move || {
        over_shards(rows, rows.div_ceil(2).min(64), |rows| {
            let width = samples.width;
            let x = leaf(samples.x[rows.start * width..rows.end * width].to_vec(), [rows.len(), width]);
            let Predictive::Classes { log_probabilities } = stacked.predict(&x).unwrap() else { panic!("classes") };
            let loss = (log_probabilities.clone().exp() * log_probabilities).sum();
            gradients(&loss, &[x]).unwrap()
        });
    })
}

fn work(name: &str) -> Step {
    let vae = |plan: &Plan, schema: &Schema| VaeNetwork::new(&VaeShape::from(&plan.generative), schema).unwrap();
    match name {
        "perceptron" => chain(false),
        "perceptron-burn-in" => chain(true),
        "vae" => {
            let (schema, plan) = digits();
            adam(Box::new(vae(&plan, &schema)), &schema, plan.generative.fit.batch)
        }
        "ladder" => {
            let (schema, plan) = symbols();
            adam(Box::new(vae(&plan, &schema)), &schema, plan.generative.fit.batch)
        }
        "resnet" => {
            let (schema, plan) = symbols();
            let network = Network::of(&plan.predictor, &schema).unwrap();
            adam(Box::new(network), &schema, plan.predictor.fit.batch)
        }
        _ => search(name.strip_prefix("search-").and_then(|rows| rows.parse().ok()).unwrap_or(1)),
    }
}

fn main() {
    let mut steps: Vec<(String, Step)> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let request: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let name = request["work"].as_str().unwrap().to_owned();
        if !steps.iter().any(|(known, _)| *known == name) {
            let mut step = work(&name);
            step();
            steps.push((name.clone(), step));
        }
        let step = &mut steps.iter_mut().find(|(known, _)| *known == name).unwrap().1;
        let repeat = request["repeat"].as_u64().unwrap_or(1);
        let start = Instant::now();
        (0..repeat).for_each(|_| step());
        println!("{}", serde_json::json!({ "seconds": start.elapsed().as_secs_f64() / repeat as f64 }));
    }
}
