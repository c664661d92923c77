//! One gradient step and a whole search at the sizes of MNIST and UCI Credit, on 1, 8, 100 and 1000 rows.
//!
//! `cargo bench --workspace --bench search`; weights are random, which costs the same as trained ones. A step is a
//! search of one step (a gradient and a last look) less a search of none (the last look alone).

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on should end")]

use cluekit::Seed;
use cluekit::data::{Constraints, Feature, Image, Kind, Scaling, Schema, Target, Task};
use cluekit::model::plan::Plan;
use cluekit::model::{Stacked, Vae};
use cluekit::observer::Silent;
use cluekit::search::{Background, Convergence, Inputs, Models, Search};
use cluekit::testing::model::{Head, Mlp, Network, Parameters, Trainable, VaeNetwork, VaeShape, stack};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rand_distr::{Distribution, Uniform};
use std::hint::black_box;

const ROWS: [usize; 4] = [1, 8, 100, 1000];

struct Bench {
    name: &'static str,
    schema: Schema,
    vae: Vae,
    predictor: Stacked,
}

impl Bench {
    fn new(name: &'static str, schema: Schema, rows: usize) -> Self {
        let plan = Plan::for_data(&schema, rows);
        let network = VaeNetwork::new(&VaeShape::from(&plan.generative), &schema).unwrap();
        let parameters = Parameters::initial(network.layout().clone(), &mut Seed(0).stream("vae"));
        let head = Head::of(&schema.target.task);
        let mlp = Mlp::new(schema.width(), &plan.predictor.hidden, head, 0.0);
        let member = |i| Parameters::initial(mlp.layout().clone(), &mut Seed(0).numbered("predictor", i)).values;
        let members: Vec<Vec<f32>> = (0..plan.predictor.samples as u64).map(member).collect();
        let predictor = Stacked::new(&stack(&members, mlp.layout()), &Network::Mlp(mlp)).unwrap();
        Self { name, vae: Vae::new(network, &parameters), predictor, schema }
    }

    fn search(&self, rows: usize, steps: usize) {
        let width = self.schema.width();
        let draws = Uniform::new(0.0f32, 1.0).unwrap().sample_iter(Seed(1).stream("inputs"));
        let inputs = Inputs::new(draws.take(rows * width).collect(), width).unwrap();
        let models = Models::new(&self.vae, &self.predictor);
        // Everything is accepted, so that no advice is looked for.
        let search = Search { convergence: Convergence::all_steps(steps), threshold: 1e9, ..Search::clue() };
        black_box(search.explain(&models, &Background::default(), &inputs, Seed(0), &mut Silent).unwrap());
    }
}

fn mnist() -> Bench {
    let classes = (0..10).map(|digit| digit.to_string()).collect();
    let schema = Schema {
        target: Target { name: "digit".into(), task: Task::Classification { classes }, unit: None, meaning: None },
        image: Some(Image { channels: 1, height: 28, width: 28, maximum: 255.0 }),
        features: vec![],
        constraints: Constraints::default(),
    };
    Bench::new("mnist", schema, 60_000)
}

fn credit() -> Bench {
    let classes = vec!["0".to_owned(), "1".to_owned()];
    let scaling = Scaling { mean: 0.0, deviation: 1.0, decimals: None, least: -3.0, greatest: 3.0 };
    let feature = |i: usize| Feature {
        name: format!("x{i}"),
        kind: Kind::Continuous(scaling),
        unit: None,
        meaning: None,
        missing: None,
    };
    let schema = Schema {
        target: Target { name: "default".into(), task: Task::Classification { classes }, unit: None, meaning: None },
        image: None,
        features: (0..28).map(feature).collect(),
        constraints: Constraints::default(),
    };
    Bench::new("credit", schema, 27_000)
}

fn searches(criterion: &mut Criterion) {
    for bench in [mnist(), credit()] {
        for (work, steps) in [("evaluation", 0), ("evaluation and step", 1), ("search", 30)] {
            let mut group = criterion.benchmark_group(format!("{} {work}", bench.name));
            group.sample_size(10);
            for rows in ROWS {
                group.bench_with_input(BenchmarkId::from_parameter(rows), &rows, |b, &rows| {
                    b.iter(|| bench.search(rows, steps));
                });
            }
        }
    }
}

criterion_group!(benches, searches);
criterion_main!(benches);
