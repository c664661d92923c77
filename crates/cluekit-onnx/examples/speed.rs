//! How fast networks run, beside their rivals.
//!
//! - `speed ensemble [members]`: an ensemble of perceptrons 784-400-400-10 as ONNX files and as one file, beside the same
//!   weights as a [`Stacked`] of cluekit.
//! - `speed steps FILE ROWS SIDES… [pieces]`: one step (forward, and back to the input) of a network for each line on the
//!   standard input, with its time in milliseconds; `speed.py` asks in turns with PyTorch.
//! - `speed rows FILE NUMBERS WIDTH`: one answer about all rows, whose numbers lie in a file of 32-bit floats, for each line
//!   on the standard input, with its time in milliseconds and its sum; `speed_trees.py` asks in turns with ONNX Runtime.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that cannot go on should end")]

use cluekit::Seed;
use cluekit::data::{Image, Schema};
use cluekit::model::adopted::{AdoptedPredictor, ModelInput, ModelOutput};
use cluekit::model::{Predictive, Predictor, Stacked};
use cluekit::parallel::over_shards;
use cluekit::tensor::{Tensor, gradients, leaf, tensor, values};
use cluekit::testing::model::{Head, Mlp, Network, Parameters, Trainable, stack};
use cluekit_onnx::proto::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, NodeProto, OperatorSetProto, ShapeProto, TensorProto,
    TensorTypeProto, TypeProto, ValueInfoProto,
};
use cluekit_onnx::{Input, Model, OnnxPredictor};
use prost::Message;
use std::io::BufRead;
use std::path::Path;
use std::time::Instant;

const WIDTHS: [usize; 4] = [784, 400, 400, 10];
const ROWS: usize = 128;

fn port(name: &str, width: usize) -> ValueInfoProto {
    let dim = |dim_value| DimensionProto { dim_value };
    let shape = ShapeProto { dim: vec![dim(None), dim(Some(width as i64))] };
    let tensor = TensorTypeProto { elem_type: 1, shape: Some(shape) };
    ValueInfoProto { name: name.into(), r#type: Some(TypeProto { tensor_type: Some(tensor) }) }
}

fn node(operator: &str, inputs: &[&str], output: &str, attributes: &[(&str, i64)]) -> NodeProto {
    let attribute =
        |(name, i): &(&str, i64)| AttributeProto { name: (*name).into(), r#type: 2, i: *i, ..Default::default() };
    NodeProto {
        input: inputs.iter().map(|name| (*name).into()).collect(),
        output: vec![output.into()],
        op_type: operator.into(),
        attribute: attributes.iter().map(attribute).collect(),
        ..Default::default()
    }
}

/// A perceptron as PyTorch exports it.
fn perceptron(parameters: &[f32]) -> ModelProto {
    let (mut nodes, mut constants, mut at) = (vec![], vec![], 0);
    let mut constant = |name: String, dims: &[usize]| {
        let count: usize = dims.iter().product();
        let raw_data = parameters[at..at + count].iter().flat_map(|number| number.to_le_bytes()).collect();
        at += count;
        let dims = dims.iter().map(|&side| side as i64).collect();
        constants.push(TensorProto { dims, data_type: 1, name, raw_data, ..Default::default() });
    };
    for layer in 0..3 {
        constant(format!("w{layer}"), &[WIDTHS[layer + 1], WIDTHS[layer]]);
        constant(format!("b{layer}"), &[WIDTHS[layer + 1]]);
        let from = if layer == 0 { "x".to_string() } else { format!("h{}", layer - 1) };
        let inputs = [from.as_str(), &format!("w{layer}"), &format!("b{layer}")];
        let to = if layer == 2 { "y".to_string() } else { format!("a{layer}") };
        nodes.push(node("Gemm", &inputs, &to, &[("transB", 1)]));
        if layer < 2 {
            nodes.push(node("Relu", &[&to], &format!("h{layer}"), &[]));
        }
    }
    model(GraphProto { node: nodes, initializer: constants, input: vec![port("x", 784)], output: vec![port("y", 10)] })
}

/// All members in one file, stacked by the exporter: `[S, rows, classes]`.
fn stacked(members: &[Vec<f32>]) -> ModelProto {
    let (mut nodes, mut constants, mut at) = (vec![], vec![], 0);
    let mut constant = |name: String, dims: [usize; 3], numbers: Vec<f32>| {
        let raw_data = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let dims = dims.iter().map(|&side| side as i64).collect();
        constants.push(TensorProto { dims, data_type: 1, name, raw_data, ..Default::default() });
    };
    for layer in 0..3 {
        let (from, to) = (WIDTHS[layer], WIDTHS[layer + 1]);
        let transposed = |member: &Vec<f32>| -> Vec<f32> {
            let weight = &member[at..at + from * to];
            (0..from * to).map(|place| weight[place % to * from + place / to]).collect()
        };
        constant(format!("w{layer}"), [members.len(), from, to], members.iter().flat_map(transposed).collect());
        at += from * to;
        let biases = members.iter().flat_map(|member| member[at..at + to].to_vec()).collect();
        constant(format!("b{layer}"), [members.len(), 1, to], biases);
        at += to;
        let before = if layer == 0 { "x".to_string() } else { format!("h{}", layer - 1) };
        nodes.push(node("MatMul", &[&before, &format!("w{layer}")], &format!("p{layer}"), &[]));
        let after = if layer == 2 { "y".to_string() } else { format!("a{layer}") };
        nodes.push(node("Add", &[&format!("p{layer}"), &format!("b{layer}")], &after, &[]));
        if layer < 2 {
            nodes.push(node("Relu", &[&after], &format!("h{layer}"), &[]));
        }
    }
    model(GraphProto { node: nodes, initializer: constants, input: vec![port("x", 784)], output: vec![port("y", 10)] })
}

fn model(graph: GraphProto) -> ModelProto {
    let opset_import = vec![OperatorSetProto { domain: String::new(), version: 17 }];
    ModelProto { graph: Some(graph), opset_import, ..Default::default() }
}

fn predictor(folder: &Path, files: Vec<String>) -> OnnxPredictor {
    let classes = (0..10).map(|digit| digit.to_string()).collect();
    let target = cluekit::data::Target {
        name: "digit".into(),
        task: cluekit::data::Task::Classification { classes },
        unit: None,
        meaning: None,
    };
    let image = Some(Image { channels: 1, height: 28, width: 28, maximum: 1.0 });
    let schema = Schema { target, image, features: vec![], constraints: cluekit::data::Constraints::default() };
    let adopted = AdoptedPredictor {
        files,
        output: ModelOutput::Logits,
        quantiles: vec![],
        samples: None,
        mc_dropout: None,
        groups: None,
        classes: vec![],
        input: ModelInput::default(),
    };
    OnnxPredictor::open(folder, &adopted, &schema, Seed(0)).unwrap()
}

/// Seconds of one step, and its gradient.
fn step(predictor: &dyn Predictor, x: &[f32]) -> (f64, Vec<f32>) {
    let start = Instant::now();
    let x: Tensor<2> = leaf(x.to_vec(), [ROWS, 784]);
    let Predictive::Classes { log_probabilities } = predictor.predict(&x).unwrap() else { panic!("classes") };
    let loss = -(log_probabilities.clone().exp() * log_probabilities).sum();
    let slope = gradients(&loss, &[x]).unwrap().concat();
    (start.elapsed().as_secs_f64(), slope)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn ensemble(members: usize) {
    let mlp = Mlp::new(784, &[400, 400], Head::Classes(10), 0.0);
    let draw = |at| Parameters::initial(mlp.layout().clone(), &mut Seed(0).numbered("member", at as u64)).values;
    let members: Vec<Vec<f32>> = (0..members).map(draw).collect();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: String, model: ModelProto| {
        std::fs::write(folder.path().join(&name), model.encode_to_vec()).unwrap();
        name
    };
    let files =
        members.iter().enumerate().map(|(at, member)| write(format!("{at}.onnx"), perceptron(member))).collect();
    let one = write("all.onnx".into(), stacked(&members));
    let own = Stacked::new(&stack(&members, mlp.layout()), &Network::Mlp(mlp)).unwrap();
    let (files, one) = (predictor(folder.path(), files), predictor(folder.path(), vec![one]));
    let x: Vec<f32> = (0..ROWS * 784).map(|at| (at * 37 % 101) as f32 / 101.0).collect();
    let mut times = [vec![], vec![], vec![]];
    let rivals: [&dyn Predictor; 3] = [&own, &files, &one];
    let mut slopes: Vec<Vec<f32>> = Vec::new();
    for round in 0..16 {
        for (times, rival) in times.iter_mut().zip(rivals) {
            let (time, slope) = step(rival, &x);
            match round {
                0 => slopes.push(slope),
                _ => times.push(time),
            }
        }
    }
    let far = slopes[1..].iter().flat_map(|slope| slope.iter().zip(&slopes[0]).map(|(a, b)| (a - b).abs()));
    println!("largest difference of a gradient: {:e}", far.fold(0.0_f32, f32::max));
    let [own, files, one] = times.map(median);
    println!(
        "step on {ROWS} rows: own format {:.1} ms, files {:.1} ms, one file {:.1} ms",
        own * 1e3,
        files * 1e3,
        one * 1e3
    );
    println!("speed of the own format's: files {:.2}, one file {:.2}", own / files, own / one);
}

fn steps(file: &str, rows: usize, sides: &[usize], pieces: usize) {
    let model = Model::read(Path::new(file)).unwrap();
    let width: usize = sides.iter().product();
    let x: Vec<f32> = (0..rows * width).map(|at| (at * 37 % 101) as f32 / 101.0).collect();
    for _ in std::io::stdin().lock().lines() {
        let start = Instant::now();
        let slopes = over_shards(rows, rows.div_ceil(pieces), |shard| {
            let x: Tensor<1> = leaf(x[shard.start * width..shard.end * width].to_vec(), [shard.len() * width]);
            let input = Input::Numbers([&[shard.len()], sides].concat(), x.clone());
            let loss = model.ask(vec![input]).unwrap().remove(0).numbers.sum();
            gradients(&loss, &[x]).unwrap().concat()
        });
        let length: f32 = slopes.concat().iter().map(|slope| slope * slope).sum();
        println!("{} {length}", start.elapsed().as_secs_f64() * 1e3);
    }
}

fn rows(file: &str, numbers: &str, width: usize) {
    let model = Model::read(Path::new(file)).unwrap();
    let bytes = std::fs::read(numbers).unwrap();
    let x: Vec<f32> = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    for _ in std::io::stdin().lock().lines() {
        let input = Input::Numbers(vec![x.len() / width, width], tensor(x.clone(), [x.len()]));
        let start = Instant::now();
        let answers = values(model.ask(vec![input]).unwrap().remove(0).numbers);
        let took = start.elapsed().as_secs_f64() * 1e3;
        println!("{took} {}", answers.iter().map(|answer| f64::from(answer * answer)).sum::<f64>());
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|number| number.parse::<usize>().ok());
    match arguments.first().map(String::as_str) {
        Some("steps") => {
            let sides: Vec<usize> = (3..6).filter_map(number).collect();
            steps(&arguments[1], number(2).unwrap(), &sides, number(6).unwrap_or(1));
        }
        Some("rows") => rows(&arguments[1], &arguments[2], number(3).unwrap()),
        _ => ensemble(number(1).unwrap_or(50)),
    }
}
