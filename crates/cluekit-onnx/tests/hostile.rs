//! Files that were damaged, or made to do harm, end in an error or an answer: never in a panic, and soon.

use crate::fixtures::folder;
use crate::models::{THREE, adopted, schema};
use cluekit::data::Schema;
use cluekit::model::Predictor;
use cluekit::model::adopted::{AdoptedGenerative, AdoptedPredictor, Element, ModelOutput, ModelReader};
use cluekit::seed::{Rng, Seed};
use cluekit::tensor::{Tensor, gradients, leaf, tensor};
use cluekit_onnx::proto::{DimensionProto, EntryProto, ModelProto, NodeProto};
use cluekit_onnx::{Input, Model, Onnx, OnnxPredictor};
use prost::Message;
use rand::RngExt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Operators that a node may be turned into.
const OPERATORS: &[&str] = &[
    "Add",
    "MatMul",
    "Gemm",
    "Conv",
    "ConvTranspose",
    "MaxPool",
    "AveragePool",
    "Resize",
    "Reshape",
    "Transpose",
    "Concat",
    "Split",
    "Slice",
    "Squeeze",
    "Unsqueeze",
    "Gather",
    "Expand",
    "Where",
    "Softmax",
    "LayerNormalization",
    "BatchNormalization",
    "Dropout",
    "Pad",
    "Tile",
    "ReduceMean",
    "ReduceSum",
    "Range",
    "ConstantOfShape",
    "Shape",
    "GatherElements",
    "OneHot",
    "Trilu",
    "Einsum",
    "DepthToSpace",
    "Cast",
    "Clip",
    "Pow",
    "Flatten",
    "CumSum",
    "InstanceNormalization",
    "GroupNormalization",
    "GatherND",
    "SplitToSequence",
    "PRelu",
    "ArgMax",
    "Mod",
    "EyeLike",
    "Loop",
    "Bernoulli",
    "Upsample",
    "ReduceLogSumExp",
    "GlobalMaxPool",
    "Equal",
    "Not",
    "SpaceToDepth",
    "Size",
    "Mean",
    "TreeEnsembleClassifier",
    "TreeEnsembleRegressor",
    "TreeEnsemble",
    "LinearClassifier",
    "LinearRegressor",
    "Scaler",
    "Imputer",
    "Normalizer",
    "Binarizer",
    "OneHotEncoder",
    "LabelEncoder",
    "CategoryMapper",
    "ArrayFeatureExtractor",
    "FeatureVectorizer",
    "ZipMap",
];

/// Numbers that nobody expects.
const NUMBERS: &[i64] =
    &[0, 1, -1, 2, 3, 7, -2, 1 << 15, 1 << 31, 1 << 62, i64::MAX, i64::MIN, i64::MIN + 1, -(1 << 40)];

fn pick<'a, T>(all: &'a [T], rng: &mut Rng) -> &'a T {
    &all[rng.random_range(0..all.len())]
}

/// Bits turned over, bytes cut off, doubled or overwritten, and varints that never end.
fn scramble(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..rng.random_range(1..6) {
        if bytes.is_empty() {
            return;
        }
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..6) {
            0 => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => bytes[at] = rng.random(),
            2 => bytes.truncate(at),
            3 => drop(bytes.splice(at..at, [0xff; 9].into_iter().chain([*pick(&[0x01, 0x7f, 0xff], rng)]))),
            4 => {
                let end = (at + rng.random_range(1..64)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = rng.random_range(0..bytes.len());
                drop(bytes.splice(to..to, piece));
            }
            _ => {
                let end = (at + rng.random_range(1..16)).min(bytes.len());
                bytes.drain(at..end);
            }
        }
    }
}

/// Changes that leave the message well formed: other operators, settings, shapes, wires and paths.
fn mislead(model: &mut ModelProto, rng: &mut Rng) {
    let Some(graph) = &mut model.graph else { return };
    let names: Vec<String> =
        graph.node.iter().flat_map(|node| node.output.iter().chain(&node.input)).cloned().collect();
    for _ in 0..rng.random_range(1..4) {
        let number = *pick(NUMBERS, rng);
        let (nodes, constants) = (graph.node.len(), graph.initializer.len());
        let node = if nodes > 0 { Some(rng.random_range(0..nodes)) } else { None };
        match (rng.random_range(0..13), node) {
            (0, Some(at)) => {
                graph.node[at].op_type = (*pick(OPERATORS, rng)).into();
                graph.node[at].domain = (*pick(&["", "ai.onnx.ml"], rng)).into();
            }
            (1, Some(at)) => {
                let node: &mut NodeProto = &mut graph.node[at];
                if !node.input.is_empty() && !names.is_empty() {
                    let which = rng.random_range(0..node.input.len());
                    node.input[which] = pick(&names, rng).clone();
                }
            }
            (2, Some(at)) => drop(graph.node[at].input.pop()),
            (3, Some(at)) => graph.node[at].input.push(pick(&names, rng).clone()),
            (4 | 5, Some(at)) => {
                if !graph.node[at].attribute.is_empty() {
                    let which = rng.random_range(0..graph.node[at].attribute.len());
                    let attribute = &mut graph.node[at].attribute[which];
                    attribute.i = number;
                    attribute.f = number as f32;
                    // Mostly the first; of the long lists of trees any.
                    let place =
                        |count: usize, rng: &mut Rng| if rng.random_bool(0.5) { 0 } else { rng.random_range(0..count) };
                    if !attribute.ints.is_empty() {
                        let at = place(attribute.ints.len(), rng);
                        attribute.ints[at] = if rng.random_bool(0.5) { number } else { *pick(&attribute.ints, rng) };
                    }
                    if !attribute.floats.is_empty() {
                        let at = place(attribute.floats.len(), rng);
                        attribute.floats[at] = *pick(&[f32::NAN, f32::INFINITY, -0.0, 1e-45, number as f32], rng);
                    }
                    if !attribute.strings.is_empty() {
                        let at = place(attribute.strings.len(), rng);
                        attribute.strings[at] =
                            pick(&[b"LEAF".as_slice(), b"BRANCH_GT", b"BRANCH_EQ", b"", b"\xff"], rng).to_vec();
                    }
                    match rng.random_range(0..8) {
                        0 => attribute.ints.push(number),
                        1 => attribute.ints.truncate(attribute.ints.len().saturating_sub(1)),
                        2 => attribute.floats.truncate(attribute.floats.len().saturating_sub(1)),
                        3 => drop(attribute.strings.pop()),
                        _ => {}
                    }
                    if let Some(tensor) = &mut attribute.t {
                        tensor.dims = vec![number];
                    }
                }
            }
            (6, Some(at)) => {
                let piece = graph.node[at].clone();
                graph.node.push(piece);
            }
            (7, Some(at)) => drop(graph.node.remove(at)),
            (8, _) if constants > 0 => {
                let tensor = &mut graph.initializer[rng.random_range(0..constants)];
                tensor.dims.push(number);
            }
            (9, _) if constants > 0 => {
                // Another shape of the same elements, as if the exporter had mixed something up.
                let tensor = &mut graph.initializer[rng.random_range(0..constants)];
                tensor.dims.reverse();
                let all = tensor.dims.iter().fold(1_i64, |all, side| all.wrapping_mul(*side));
                if rng.random_bool(0.5) {
                    tensor.dims = vec![all];
                }
            }
            (10, _) if constants > 0 => {
                let which = rng.random_range(0..constants);
                let tensor = &mut graph.initializer[which];
                if tensor.data_type == 7 && tensor.raw_data.len() >= 8 {
                    tensor.raw_data[..8].copy_from_slice(&number.to_le_bytes());
                } else {
                    tensor.data_type = rng.random_range(0..24);
                }
            }
            (11, _) if constants > 0 => {
                let tensor = &mut graph.initializer[rng.random_range(0..constants)];
                let paths = ["../../etc/passwd", "/etc/passwd", "a/../../b", "", ".", "\0", "missing"];
                let entry = |key: &str, value: String| EntryProto { key: key.into(), value };
                tensor.data_location = 1;
                tensor.external_data = vec![
                    entry("location", (*pick(&paths, rng)).into()),
                    entry("offset", number.to_string()),
                    entry("length", (number as u64).to_string()),
                ];
            }
            _ => {
                let sides = graph
                    .input
                    .iter_mut()
                    .filter_map(|input| input.r#type.as_mut()?.tensor_type.as_mut()?.shape.as_mut());
                for shape in sides {
                    if let Some(dim) = shape.dim.last_mut() {
                        *dim = DimensionProto { dim_value: Some(number) };
                    }
                }
            }
        }
    }
}

/// Opens a file as what a run folder can name it: an error or an answer.
fn open_it(path: &Path, schema: &Schema, masks: bool) {
    let (folder, file) = (path.parent().unwrap(), path.file_name().unwrap().to_str().unwrap().to_string());
    let output = [ModelOutput::Logits, ModelOutput::Probabilities][usize::from(masks)];
    let adopted = AdoptedPredictor { mc_dropout: masks.then_some(3), ..adopted(&[], output) };
    let adopted = AdoptedPredictor { files: vec![file.clone(), file.clone()], ..adopted };
    let groups = AdoptedPredictor { groups: Some(3), mc_dropout: None, ..adopted.clone() };
    if let Ok(predictor) = OnnxPredictor::open(folder, &groups, schema, Seed(1)) {
        let _ = predictor.predict(&tensor(vec![0.25; 3 * schema.width()], [3, schema.width()]));
    }
    if let Ok(predictor) = OnnxPredictor::open(folder, &adopted, schema, Seed(1)) {
        let _ = predictor.predict(&tensor(vec![0.25; 3 * schema.width()], [3, schema.width()]));
    }
    let files = AdoptedGenerative { encoder: file.clone(), decoder: file };
    if let Ok(model) = Onnx.generative(folder, &files, schema) {
        let _ = model.decode(&tensor(vec![0.25; 3 * model.latent_dim()], [3, model.latent_dim()]));
    }
    let _ = Onnx.describe(path);
}

/// Reads a file, asks what it holds about small inputs, and goes backward: all of it may fail, none of it may panic.
fn try_it(path: &Path) -> bool {
    let Ok(model) = Model::read(path) else { return false };
    let mut leaves: Vec<Tensor<1>> = Vec::new();
    let inputs = model.inputs().iter().map(|port| {
        let dims: Vec<usize> = port.dims.iter().map(|side| side.unwrap_or(2)).collect();
        let count =
            dims.iter().try_fold(1_usize, |count, side| count.checked_mul(*side)).filter(|count| *count < 100_000);
        if port.element == Element::Text {
            return Input::Words(dims, vec!["w1".into(); count.unwrap_or(1)]);
        }
        let numbers = leaf(vec![0.5; count.unwrap_or(1)], [count.unwrap_or(1)]);
        leaves.push(numbers.clone());
        Input::Numbers(dims, numbers)
    });
    let inputs: Vec<Input> = inputs.collect();
    let Ok(outputs) = model.ask(inputs) else { return false };
    for output in outputs.into_iter().take(1) {
        if output.numbers.dims().iter().product::<usize>() < 1_000_000 {
            let _ = gradients(&output.numbers.sum(), &leaves);
        }
    }
    true
}

struct Tried {
    answered: usize,
    longest: (Duration, usize),
    panics: Vec<String>,
}

/// `count` damaged files.
fn try_many(count: usize) -> Tried {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "onnx"));
    files.sort();
    let wholes: Vec<Vec<u8>> = files.iter().map(|path| std::fs::read(path).unwrap()).collect();
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("damaged.onnx");
    let schemas = [4, 5, 6, 3].map(|columns| schema(columns, THREE));
    let mut tried = Tried { answered: 0, longest: (Duration::ZERO, 0), panics: vec![] };
    for at in 0..count {
        let mut rng = Seed(3).numbered("damage", at as u64);
        let which = rng.random_range(0..wholes.len());
        let mut bytes = wholes[which].clone();
        if rng.random_bool(0.25) {
            scramble(&mut bytes, &mut rng);
        } else {
            let mut model = ModelProto::decode(bytes.as_slice()).unwrap();
            mislead(&mut model, &mut rng);
            bytes = model.encode_to_vec();
        }
        std::fs::write(&path, &bytes).unwrap();
        let start = Instant::now();
        let (schema, masks) = (pick(&schemas, &mut rng), rng.random_bool(0.3));
        let attempt = || {
            open_it(&path, schema, masks);
            try_it(&path)
        };
        match std::panic::catch_unwind(attempt) {
            Ok(answered) => tried.answered += usize::from(answered),
            Err(_) => tried.panics.push(format!("{at}: {}", files[which].file_stem().unwrap().display())),
        }
        tried.longest = tried.longest.max((start.elapsed(), at));
    }
    tried
}

#[test]
fn two_thousand_damaged_files_end_in_an_error_or_an_answer() {
    let tried = try_many(2000);
    assert!(tried.panics.is_empty(), "{} panics: {:?}", tried.panics.len(), tried.panics);
    assert!(tried.longest.0 < Duration::from_secs(20), "{:?}", tried.longest);
    assert!((100..1900).contains(&tried.answered), "{} were answered", tried.answered);
}

/// `cargo nextest run -p cluekit-onnx --run-ignored only --no-capture ten_thousand`
#[test]
#[ignore = "takes a minute, and says how long the worst file took and how much memory"]
fn ten_thousand_damaged_files_with_time_and_memory() {
    let tried = try_many(10_000);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown").to_string();
    let (longest, which) = tried.longest;
    let answered = tried.answered;
    let said =
        format!("{answered} answered, longest {longest:?} (number {which}), {peak}, panics {:?}\n", tried.panics);
    std::io::stderr().write_all(said.as_bytes()).unwrap();
    assert!(tried.panics.is_empty());
}

#[test]
fn weights_outside_of_the_folder_are_not_read() {
    let scratch = tempfile::tempdir().unwrap();
    let inside = scratch.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(scratch.path().join("secret"), [0; 4096]).unwrap();
    let model = ModelProto::decode(std::fs::read(folder().join("mlp_relu.onnx")).unwrap().as_slice()).unwrap();
    let problem = |location: &str| {
        let mut model = model.clone();
        let weight = &mut model.graph.as_mut().unwrap().initializer[0];
        weight.raw_data.clear();
        weight.data_location = 1;
        weight.external_data = vec![EntryProto { key: "location".into(), value: location.into() }];
        let path = inside.join("model.onnx");
        std::fs::write(&path, model.encode_to_vec()).unwrap();
        Model::read(&path).unwrap_err().to_string()
    };
    for location in ["../secret", "/etc/passwd", "a/../../secret", ""] {
        assert!(problem(location).contains("only files in the folder of the model are read"), "{}", problem(location));
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(scratch.path().join("secret"), inside.join("link")).unwrap();
        assert!(problem("link").contains("leads out of the folder"), "{}", problem("link"));
    }
    std::fs::write(inside.join("short"), [0; 4]).unwrap();
    assert!(problem("short").contains("holds 4 bytes"), "{}", problem("short"));
}
