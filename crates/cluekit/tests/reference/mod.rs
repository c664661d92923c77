//! Values from an independent implementation, and run folders as another program writes them: whole and damaged.
//!
//! `reference/make.py` made the folders and says what numpy finds there in double precision. This crate computes in
//! f32: a unit in the last place is 6·10⁻⁸ of a number, and some tens of them, of numbers around 1, are added up in a
//! layer, with a few layers behind one another. So 10⁻⁵ leaves room for rounding and for nothing else; the smallest
//! slip in a formula or in the order of axes is a thousand times as large.

use cluekit::data::{Samples, Schema, Targets};
use cluekit::model::plan::Architecture;
use cluekit::model::store::checkpoint::Snapshot;
use cluekit::model::store::run::RunFolder;
use cluekit::model::store::weights::Arrays;
use cluekit::model::{Generative, Predictive, Predictor};
use cluekit::prediction::{Prediction, predict, probabilities};
use cluekit::tensor::{Tensor, scalar, tensor, values};
use cluekit::testing::model::{
    Adam, Batch, Head, Likelihood, Sghmc, Trainable, VaeNetwork, VaeShape, Weights, negative_log_likelihood,
};
use cluekit::uncertainty::Uncertainty;
use cluekit::{Error, Seed};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

mod copies;
mod damaged;
mod foreign;

const TOLERANCE: f64 = 1e-5;

fn reference(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(name)
}

fn json(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(reference(name)).unwrap()).unwrap()
}

/// All numbers of nested lists, in order.
fn numbers(value: &Value) -> Vec<f32> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap() as f32],
    }
}

/// A list of rows.
fn matrix(value: &Value) -> Tensor<2> {
    let rows = value.as_array().unwrap().len();
    let numbers = numbers(value);
    let columns = numbers.len() / rows;
    tensor(numbers, [rows, columns])
}

/// Within the tolerance, absolutely for numbers up to 1 and relatively beyond.
fn assert_close(what: &str, got: &[f32], expected: &Value) {
    let expected = numbers(expected);
    assert_eq!(got.len(), expected.len(), "{what}");
    for (i, (&g, &e)) in got.iter().zip(&expected).enumerate() {
        let difference = (f64::from(g) - f64::from(e)).abs();
        assert!(difference <= TOLERANCE * f64::from(e.abs()).max(1.0), "{what}: number {i} is {g}, expected {e}");
    }
}

/// A folder of the reference with its schema and what is expected of it.
fn open(name: &str) -> (RunFolder, Schema, Value) {
    let folder = RunFolder::at(reference(name));
    let schema = folder.schema().unwrap();
    (folder, schema, json(&format!("{name}/expected.json")))
}

fn assert_uncertainty(predictions: &[Prediction], expected: &Value) {
    for (kind, name) in Uncertainty::ALL.into_iter().zip(["total", "aleatoric", "epistemic"]) {
        let got: Vec<f32> = predictions.iter().map(|prediction| prediction.uncertainty.get(kind)).collect();
        assert_close(name, &got, &expected[name]);
    }
}
