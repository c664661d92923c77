//! Every network of `fixtures/` answers as ONNX Runtime does, and has the gradient of PyTorch (see `fixtures/make.py`); so
//! does every forest, booster and pipeline, of which few have a gradient (see `fixtures/make_trees.py`).

use cluekit::model::adopted::Element;
use cluekit::tensor::{Tensor, gradients, leaf, tensor, values};
use cluekit_onnx::{Input, Model};
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Numbers or whole numbers with their sides.
enum Array {
    Floats(Vec<usize>, Vec<f32>),
    Integers(Vec<usize>, Vec<i64>),
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn arrays(path: &Path) -> BTreeMap<String, Array> {
    let bytes = std::fs::read(path).unwrap();
    let all = SafeTensors::deserialize(&bytes).unwrap();
    let read = |(name, view): (String, safetensors::tensor::TensorView)| {
        let dims = view.shape().to_vec();
        let array = match view.dtype() {
            Dtype::F32 => {
                Array::Floats(dims, view.data().as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
            }
            Dtype::I64 => {
                Array::Integers(dims, view.data().as_chunks().0.iter().map(|b| i64::from_le_bytes(*b)).collect())
            }
            other => panic!("{name} holds {other:?}"),
        };
        (name, array)
    };
    all.tensors().into_iter().map(read).collect()
}

/// Whole numbers of a fixture, with their sides.
pub(crate) fn codes(name: &str, key: &str) -> (Vec<usize>, Vec<i64>) {
    match arrays(&folder().join(format!("{name}.safetensors"))).remove(key) {
        Some(Array::Integers(dims, numbers)) => (dims, numbers),
        _ => panic!("{name} has no whole numbers {key}"),
    }
}

/// The largest difference, relative to the largest expected number.
fn distance(got: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(got.len(), expected.len());
    let scale = expected.iter().fold(1e-3_f32, |scale, number| scale.max(number.abs()));
    let difference = |(got, expected): (&f32, &f32)| {
        let difference = (got - expected).abs() / scale;
        if difference.is_nan() { f32::INFINITY } else { difference }
    };
    got.iter().zip(expected).map(difference).fold(0.0, f32::max)
}

/// What differs between a network and its fixture; nothing where all is well.
fn problem(name: &str) -> Option<String> {
    let arrays = arrays(&folder().join(format!("{name}.safetensors")));
    let model = match Model::read(&folder().join(format!("{name}.onnx"))) {
        Ok(model) => model,
        Err(problem) => return Some(problem.to_string()),
    };
    let mut leaves: Vec<(String, Tensor<1>)> = Vec::new();
    let inputs = model.inputs().iter().map(|port| match &arrays[&format!("input.{}", port.name)] {
        Array::Floats(dims, numbers) => {
            let numbers = leaf(numbers.clone(), [numbers.len()]);
            leaves.push((port.name.clone(), numbers.clone()));
            Input::Numbers(dims.clone(), numbers)
        }
        Array::Integers(dims, numbers) if port.element == Element::Text => {
            let word = |&number: &i64| if number < 0 { String::new() } else { format!("w{number}") };
            Input::Words(dims.clone(), numbers.iter().map(word).collect())
        }
        Array::Integers(dims, numbers) => Input::Integers(dims.clone(), numbers.clone()),
    });
    let inputs: Vec<Input> = inputs.collect();
    let outputs = match model.ask(inputs) {
        Ok(outputs) => outputs,
        Err(problem) => return Some(problem.to_string()),
    };
    let mut loss: Option<Tensor<1>> = None;
    for (port, output) in model.outputs().iter().zip(outputs) {
        let Some(Array::Floats(dims, expected)) = arrays.get(&format!("output.{}", port.name)) else {
            return Some(format!("there is no output.{}", port.name));
        };
        if output.dims != *dims {
            return Some(format!("`{}` has shape {:?}, expected {dims:?}", port.name, output.dims));
        }
        let far = distance(&values(output.numbers.clone()), expected);
        if far > 1e-5 {
            return Some(format!("`{}` differs by {far:e}", port.name));
        }
        let Some(Array::Floats(_, weight)) = arrays.get(&format!("weight.{}", port.name)) else { continue };
        let weighted = (output.numbers * tensor(weight.clone(), [1, weight.len()])).sum();
        loss = Some(match loss {
            Some(loss) => loss + weighted,
            None => weighted,
        });
    }
    let (names, leaves): (Vec<String>, Vec<Tensor<1>>) = leaves.into_iter().unzip();
    if leaves.is_empty() {
        return None;
    }
    let loss = loss?;
    let got = match gradients(&loss, &leaves) {
        Ok(got) => got,
        Err(problem) => return Some(problem.to_string()),
    };
    for (name, got) in names.iter().zip(got) {
        if let Some(Array::Floats(_, expected)) = arrays.get(&format!("gradient.{name}")) {
            let far = distance(&got, expected);
            if far > 1e-4 {
                return Some(format!("its gradient by `{name}` differs by {far:e}"));
            }
        }
    }
    None
}

/// Names of the networks that can be run.
pub(crate) fn names() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_string();
    let mut names: Vec<String> =
        files.filter(|path| path.extension().is_some_and(|e| e == "safetensors")).map(stem).collect();
    names.sort();
    names
}

#[test]
fn every_network_answers_as_onnx_runtime_and_has_the_gradient_of_pytorch() {
    let names = names();
    assert!(names.len() >= 40, "{} networks", names.len());
    // Its network draws at random; what it draws is tested elsewhere.
    let names: Vec<String> = names.into_iter().filter(|name| name != "dropout_channels").collect();
    let problems: Vec<String> = names.iter().filter_map(|name| Some(format!("{name}: {}", problem(name)?))).collect();
    assert!(problems.is_empty(), "{} of {}:\n{}", problems.len(), names.len(), problems.join("\n"));
}

#[test]
fn an_operator_that_is_not_supported_is_refused_with_its_name() {
    let problem = Model::read(&folder().join("refused_lstm.onnx")).unwrap_err().to_string();
    assert!(problem.contains("operator `LSTM` of node `/lstm/LSTM` is not supported"), "{problem}");
}
