//! Values from an independent implementation, and run folders as another program writes them: whole and damaged.
//!
//! `reference/make.py` made the folders and says what numpy finds there in double precision. This crate computes in
//! f32: a unit in the last place is 6·10⁻⁸ of a number, and some tens of them, of numbers around 1, are added up in a
//! layer, with a few layers behind one another. So 10⁻⁵ leaves room for rounding and for nothing else; the smallest
//! slip in a formula or in the order of axes is a thousand times as large.
#![allow(clippy::unwrap_used)]

use cluekit::data::{Samples, Schema, Targets};
use cluekit::model::adam::Adam;
use cluekit::model::mlp::{Head, negative_log_likelihood};
use cluekit::model::parameters::Weights;
use cluekit::model::plan::Architecture;
use cluekit::model::sghmc::Sghmc;
use cluekit::model::store::checkpoint::Snapshot;
use cluekit::model::store::run::RunFolder;
use cluekit::model::store::weights::Arrays;
use cluekit::model::training::Trainable;
use cluekit::model::vae::likelihood::Likelihood;
use cluekit::model::vae::{VaeNetwork, VaeShape};
use cluekit::model::{Generative, Predictive, Predictor};
use cluekit::prediction::{Prediction, predict, probabilities};
use cluekit::tensor::{Tensor, scalar, tensor, values};
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

#[test]
fn a_foreign_classifier_says_what_numpy_says() {
    let (folder, schema, expected) = open("mixed");
    let predictor = folder.predictor(&schema).unwrap();
    assert_eq!((predictor.samples(), predictor.inputs(), predictor.head()), (4, 6, Head::Classes(3)));
    let x = matrix(&expected["x"]);
    let Predictive::Classes { log_probabilities } = predictor.predict(&x).unwrap() else { panic!("classes") };
    assert_eq!(log_probabilities.dims(), [4, 5, 3]);
    assert_close("log-probabilities", &values(log_probabilities), &expected["log_probabilities"]);

    let samples = Samples { x: values(x), width: 6, y: Targets::Classes(vec![0; 5]) };
    let predictions = predict(&predictor, &samples, &schema.target.task).unwrap();
    assert_close("mean", &probabilities(&predictions), &expected["mean"]);
    assert_uncertainty(&predictions, &expected);
}

#[test]
fn foreign_residual_networks_say_what_numpy_says() {
    let (folder, schema, expected) = open("symbols");
    let predictor = folder.predictor(&schema).unwrap();
    assert_eq!((predictor.samples(), predictor.inputs(), predictor.head()), (2, 30, Head::Classes(2)));
    let x = matrix(&expected["x"]);
    let Predictive::Classes { log_probabilities } = predictor.predict(&x).unwrap() else { panic!("classes") };
    assert_close("log-probabilities", &values(log_probabilities), &expected["log_probabilities"]);
    let samples = Samples { x: values(x), width: 30, y: Targets::Classes(vec![0; 4]) };
    let predictions = predict(&predictor, &samples, &schema.target.task).unwrap();
    assert_uncertainty(&predictions, &expected);
}

#[test]
fn a_foreign_regression_says_what_numpy_says_in_the_datas_unit() {
    let (folder, schema, expected) = open("regression");
    let predictor = folder.predictor(&schema).unwrap();
    assert_eq!((predictor.samples(), predictor.inputs(), predictor.head()), (3, 3, Head::Gaussian));
    let x = matrix(&expected["x"]);
    let Predictive::Gaussian { mean, variance } = predictor.predict(&x).unwrap() else { panic!("values") };
    assert_eq!((mean.dims(), variance.dims()), ([3, 5], [3, 5]));
    assert_close("means", &values(mean), &expected["sample_means"]);
    assert_close("variances", &values(variance), &expected["sample_variances"]);

    let samples = Samples { x: values(x), width: 3, y: Targets::Values(vec![0.0; 5]) };
    let predictions = predict(&predictor, &samples, &schema.target.task).unwrap();
    assert_close("mean", &probabilities(&predictions), &expected["mean"]);
    assert_uncertainty(&predictions, &expected);
}

/// The folders with the shape of their VAE, which loading has to find out by itself.
fn vaes() -> [(&'static str, VaeShape); 4] {
    let residual = |width, depth| VaeShape {
        architecture: Architecture::Residual,
        latent: 2,
        low_latent: 0,
        width,
        depth,
        blocks: 0,
        channels: vec![],
    };
    let convolution = VaeShape {
        architecture: Architecture::Convolution,
        latent: 2,
        low_latent: 0,
        width: 6,
        depth: 0,
        blocks: 0,
        channels: vec![2, 4],
    };
    let ladder = VaeShape {
        architecture: Architecture::Ladder,
        latent: 1,
        low_latent: 1,
        width: 5,
        depth: 1,
        blocks: 1,
        channels: vec![2, 3],
    };
    [("mixed", residual(5, 2)), ("regression", residual(4, 1)), ("image", convolution), ("symbols", ladder)]
}

#[test]
fn foreign_vaes_encode_and_decode_as_numpy_does() {
    for (name, shape) in vaes() {
        let (folder, schema, expected) = open(name);
        let vae = folder.generative(&schema).unwrap();
        assert_eq!(vae.latent(), shape.latent + shape.low_latent);
        let mean = vae.encode(&matrix(&expected["x"])).unwrap();
        assert_close(&format!("{name}: code"), &values(mean), &expected["code_mean"]);
        let decoded = vae.decode(&matrix(&expected["z"])).unwrap();
        assert_close(&format!("{name}: decoded"), &values(decoded), &expected["decoded"]);
    }
}

#[test]
fn foreign_vaes_have_the_code_and_the_likelihood_of_numpy() {
    for (name, shape) in vaes() {
        let (folder, schema, expected) = open(name);
        let network = VaeNetwork::new(&shape, &schema).unwrap();
        let arrays = Arrays::read(&folder.file("generative.safetensors")).unwrap();
        let weights = Weights::frozen(&arrays.matching(network.layout().clone()).unwrap());
        let x = matrix(&expected["x"]);
        let code = network.encode(&weights, x.clone());
        assert_close(&format!("{name}: log-variance"), &values(code.log_variance), &expected["code_log_variance"]);

        let likelihood = Likelihood::of(&schema);
        let variance = (likelihood.gaussians() > 0).then(|| weights.get("decoder.log_variance"));
        let outputs = network.decode(&weights, matrix(&expected["z"]));
        let got = values(likelihood.negative_log(&outputs, &x, variance));
        assert_close(&format!("{name}: −log p"), &got, &expected["negative_log_likelihood"]);
    }
}

#[test]
fn the_elbo_is_that_of_numpy_where_no_noise_enters() {
    for (name, _) in vaes() {
        let (_, schema, expected) = open(name);
        // A decoder that does not listen to z: the draw of z no longer matters, everything else does.
        let deaf = Damaged::copy(name).arrays("generative", |arrays| {
            let hears =
                |name: &str| ["input", "low", "code"].iter().any(|part| name.ends_with(&format!("{part}.weight")));
            let ears = arrays.0.iter_mut().filter(|(name, _)| name.starts_with("decoder") && hears(name));
            ears.for_each(|(_, array)| array.data.fill(0));
        });
        let vae = deaf.run().generative(&schema).unwrap();
        for seed in 0..2 {
            let elbo = vae.elbo(&matrix(&expected["x"]), &mut Seed(seed).stream("z"));
            assert_close(&format!("{name}: ELBO"), &values(elbo), &expected["elbo_of_a_deaf_decoder"]);
        }
    }
}

#[test]
fn losses_are_those_of_numpy() {
    let expected = &json("formulas.json")["loss"];
    let outputs = matrix(&expected["outputs"]);
    let labels = expected["labels"].as_array().unwrap().iter().map(|label| label.as_u64().unwrap() as u32).collect();
    let loss = negative_log_likelihood(outputs.clone(), &Targets::Classes(labels), Head::Classes(3));
    assert_close("classes", &[scalar(loss)], &expected["of_classes"]);
    let targets = Targets::Values(numbers(&expected["targets"]));
    let loss = negative_log_likelihood(outputs.slice([0..4, 0..2]), &targets, Head::Gaussian);
    assert_close("values", &[scalar(loss)], &expected["of_values"]);
}

/// Steps with the gradients of the reference and compares the place after each.
fn assert_steps(reference: &Value, expected: &Value, mut step: impl FnMut(usize, &mut [f32], &[f32])) {
    let mut parameters = numbers(&reference["start"]);
    let steps = reference["gradients"].as_array().unwrap().iter().zip(expected["places"].as_array().unwrap());
    for (i, (gradient, place)) in steps.enumerate() {
        step(i, &mut parameters, &numbers(gradient));
        assert_close(&format!("step {i}"), &parameters, place);
    }
}

#[test]
fn adam_takes_the_steps_of_numpy() {
    let reference = json("formulas.json");
    let expected = &reference["adam"];
    let [rate, decay] = ["learning_rate", "weight_decay"].map(|key| expected[key].as_f64().unwrap());
    let mut adam = Adam::new(3);
    assert_steps(&reference, expected, |_, parameters, gradient| adam.step(parameters, gradient, rate, decay));
}

#[test]
fn the_sampler_takes_the_steps_of_numpy_where_its_noise_has_no_variance() {
    let reference = json("formulas.json");
    let expected = &reference["sghmc"];
    let [step, friction] = ["step", "friction"].map(|key| expected[key].as_f64().unwrap());
    let adapting = expected["adapting"].as_u64().unwrap() as usize;
    let mut chain = Sghmc::new(3, step, friction);
    assert_steps(&reference, expected, |i, parameters, gradient| {
        chain.step(parameters, gradient, i < adapting, Seed(0), "noise");
    });
    let squares = chain.save(Snapshot::default()).take("square", 3).unwrap();
    assert_close("second moments", &squares, &expected["squares"]);
}

/// A copy of a folder of the reference, to be spoilt.
struct Damaged {
    folder: TempDir,
}

struct Array {
    kind: Dtype,
    shape: Vec<usize>,
    data: Vec<u8>,
}

impl Array {
    /// Without any numbers along `axis`.
    fn empty(&mut self, axis: usize) {
        self.shape[axis] = 0;
        self.data.clear();
    }
}

/// The arrays of a file by name; asking for one that is not there is a mistake in the test.
#[derive(Default)]
struct Named(BTreeMap<String, Array>);

impl std::ops::Index<&str> for Named {
    type Output = Array;
    fn index(&self, name: &str) -> &Array {
        &self.0[name]
    }
}

impl std::ops::IndexMut<&str> for Named {
    fn index_mut(&mut self, name: &str) -> &mut Array {
        self.0.get_mut(name).unwrap()
    }
}

impl Damaged {
    fn copy(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(reference(name)).unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
        Self { folder }
    }

    fn run(&self) -> RunFolder {
        RunFolder::at(self.folder.path())
    }

    /// With `from` replaced in a text file.
    fn text(self, file: &str, from: &str, to: &str) -> Self {
        let path = self.folder.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no `{from}`");
        fs::write(path, text.replace(from, to)).unwrap();
        self
    }

    /// With other bytes in a file.
    fn bytes(self, file: &str, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Self {
        let path = self.folder.path().join(file);
        fs::write(&path, change(fs::read(&path).unwrap())).unwrap();
        self
    }

    /// With other arrays in `<file>.safetensors`.
    fn arrays(self, file: &str, change: impl FnOnce(&mut Named)) -> Self {
        self.bytes(&format!("{file}.safetensors"), |bytes| {
            let mut arrays = named(&bytes);
            change(&mut arrays);
            let views = arrays
                .0
                .iter()
                .map(|(name, array)| (name, TensorView::new(array.kind, array.shape.clone(), &array.data).unwrap()));
            safetensors::serialize(views, None).unwrap()
        })
    }

    fn load(&self, model: &str) -> Result<(), Error> {
        let schema = self.run().schema()?;
        match model {
            "predictor" => self.run().predictor(&schema).map(drop),
            _ => self.run().generative(&schema).map(drop),
        }
    }

    /// What loading that model says.
    fn problem(&self, model: &str) -> String {
        self.load(model).expect_err("a damaged folder must not load").to_string()
    }
}

fn named(bytes: &[u8]) -> Named {
    let array =
        |view: TensorView| Array { kind: view.dtype(), shape: view.shape().to_vec(), data: view.data().to_vec() };
    let file = SafeTensors::deserialize(bytes).unwrap();
    Named(file.tensors().into_iter().map(|(name, view)| (name, array(view))).collect())
}

fn names_in(folder: &str, file: &str) -> Vec<String> {
    named(&fs::read(reference(folder).join(format!("{file}.safetensors"))).unwrap()).0.into_keys().collect()
}

/// Every weights file of the reference: folder and model.
const WEIGHTS: [(&str, &str); 7] = [
    ("mixed", "predictor"),
    ("mixed", "generative"),
    ("regression", "predictor"),
    ("regression", "generative"),
    ("image", "generative"),
    ("symbols", "predictor"),
    ("symbols", "generative"),
];

#[track_caller]
fn assert_says(problem: &str, parts: &[&str]) {
    for part in parts {
        assert!(problem.contains(part), "`{part}` is not in: {problem}");
    }
}

#[test]
fn an_undamaged_copy_loads() {
    for (folder, model) in WEIGHTS {
        Damaged::copy(folder).arrays(model, |_| ()).load(model).unwrap();
    }
}

/// Loading finds out depth and widths from these arrays.
fn gives_the_shape(name: &str) -> bool {
    let residual = name.starts_with("encoder.blocks.") || name == "decoder.input.weight";
    let prefixes = ["layers.", "encoder.convolutions.", "groups.", "encoder.groups.", "encoder.low."];
    let numbered = prefixes.iter().any(|prefix| name.starts_with(prefix));
    (residual || numbered) && name.ends_with(".weight")
}

/// Leaves out one array after the other and asserts that loading misses it.
fn assert_missed(wanted: fn(&str) -> bool) {
    for (folder, model) in WEIGHTS {
        for name in names_in(folder, model).into_iter().filter(|name| wanted(name)) {
            let damaged = Damaged::copy(folder).arrays(model, |arrays| drop(arrays.0.remove(&name)));
            let problem = damaged.problem(model);
            assert_says(&problem, &[&format!("{model}.safetensors"), "docs/run-folder.md"]);
            let missed =
                problem.split(';').any(|part| part.contains(&format!("`{name}`")) && part.contains("is missing"));
            assert!(missed, "`{name}` is not missed in: {problem}");
        }
    }
}

#[test]
fn a_missing_array_is_named() {
    assert_missed(|name| !gives_the_shape(name));
}

#[test]
fn a_missing_array_that_gives_the_shape_is_named() {
    assert_missed(gives_the_shape);
}

#[test]
fn a_negative_variance_of_a_norm_is_refused() {
    let name = "groups.0.blocks.1.first.norm.variance";
    let damaged = Damaged::copy("symbols").arrays("predictor", |arrays| {
        arrays[name].data[..4].copy_from_slice(&(-0.5f32).to_le_bytes());
    });
    assert_says(&damaged.problem("predictor"), &["predictor.safetensors", name, "-0.5", "train it again"]);
}

#[test]
fn a_file_that_asks_for_more_blocks_than_it_has_arrays_is_refused_at_once() {
    let array = |arrays: &mut Named, name: String| {
        arrays.0.insert(name, Array { kind: Dtype::F32, shape: vec![1], data: vec![0; 4] });
    };
    for (model, prefix) in [("predictor", "groups"), ("generative", "encoder.groups")] {
        let damaged = Damaged::copy("symbols").arrays(model, |arrays| {
            for i in 0..3000 {
                array(arrays, format!("{prefix}.{i}.more"));
                array(arrays, format!("{prefix}.0.blocks.{i}.more"));
            }
        });
        assert_says(&damaged.problem(model), &[&format!("{model}.safetensors"), "does not fit its model"]);
    }
}

#[test]
fn an_array_of_another_shape_is_named_with_both_shapes() {
    for (folder, model) in WEIGHTS {
        for name in names_in(folder, model) {
            // The same numbers with an axis of 1 behind the others.
            let damaged = Damaged::copy(folder).arrays(model, |arrays| arrays[&name].shape.push(1));
            let (file, array) = (format!("{model}.safetensors"), format!("`{name}` has shape ["));
            assert_says(&damaged.problem(model), &[&file, &array, ", 1], expected ["]);
        }
    }
}

#[test]
fn a_layer_for_another_number_of_classes_is_named_with_both_shapes() {
    let problem = Damaged::copy("mixed").text("schema.toml", "\"middle\", ", "").problem("predictor");
    let weight = "`layers.2.weight` has shape [4, 3, 4], expected [4, 2, 4]";
    assert_says(&problem, &["predictor.safetensors", weight, "`layers.2.bias` has shape [4, 3], expected [4, 2]"]);
}

#[test]
fn a_schema_with_another_number_of_columns_is_noticed_by_both_models() {
    let damaged = Damaged::copy("mixed").text("schema.toml", "\"green\", ", "");
    let weight = "`layers.0.weight` has shape [4, 5, 6], expected [4, 5, 5]";
    assert_says(&damaged.problem("predictor"), &["predictor.safetensors", weight]);
    let encoder = "`encoder.input.weight` has shape [5, 6], expected [5, 5]";
    let decoder = "`decoder.output.weight` has shape [6, 5], expected [5, 5]";
    assert_says(&damaged.problem("generative"), &["generative.safetensors", encoder, decoder]);
}

#[test]
fn an_axis_of_length_zero_is_refused() {
    let no_networks = Damaged::copy("mixed").arrays("predictor", |arrays| {
        arrays.0.values_mut().for_each(|array| array.empty(0));
    });
    assert_says(&no_networks.problem("predictor"), &["predictor.safetensors", "`layers.0.bias`", "[0, 5]"]);
    let no_units = Damaged::copy("mixed").arrays("predictor", |arrays| {
        arrays["layers.0.weight"].empty(1);
        arrays["layers.0.bias"].empty(1);
        arrays["layers.1.weight"].empty(2);
    });
    assert_says(&no_units.problem("predictor"), &["predictor.safetensors", "`layers.0.bias`", "[4, 0]"]);
    let no_latent_code = Damaged::copy("mixed").arrays("generative", |arrays| {
        arrays["decoder.input.weight"].empty(1);
        arrays["encoder.output.weight"].empty(0);
        arrays["encoder.output.bias"].empty(0);
    });
    assert_says(&no_latent_code.problem("generative"), &["generative.safetensors", "`decoder.input.weight`", "[5, 0]"]);
}

#[test]
fn a_shape_that_would_need_all_memory_is_an_error() {
    let vast = 1 << 20;
    let damaged = Damaged::copy("mixed").arrays("generative", |arrays| {
        // 4 MB of weights; blocks of that width would have 4 TB each.
        let array = &mut arrays["decoder.input.weight"];
        (array.shape, array.data) = (vec![vast, 1], vec![0; 4 * vast]);
    });
    assert_says(
        &damaged.problem("generative"),
        &["generative.safetensors", "`encoder.blocks.0.weight` has shape [5, 5]"],
    );
}

#[test]
fn convolutions_for_a_table_are_refused_with_the_name_of_the_file() {
    let convolutions = fs::read(reference("image").join("generative.safetensors")).unwrap();
    let damaged = Damaged::copy("mixed").bytes("generative.safetensors", |_| convolutions);
    assert_says(&damaged.problem("generative"), &["generative.safetensors", "image"]);
}

#[test]
fn an_array_too_many_is_named() {
    let extra = || Array { kind: Dtype::F32, shape: vec![1], data: vec![0; 4] };
    for (folder, model) in WEIGHTS {
        let damaged = Damaged::copy(folder).arrays(model, |arrays| drop(arrays.0.insert("step".into(), extra())));
        let file = format!("{model}.safetensors");
        assert_says(&damaged.problem(model), &[&file, "`step` is not expected", "docs/run-folder.md"]);
    }
}

#[test]
fn an_array_of_another_type_is_named_with_the_remedy() {
    for (kind, name, bytes) in [(Dtype::F64, "F64", 8), (Dtype::F16, "F16", 2), (Dtype::I32, "I32", 4)] {
        let damaged = Damaged::copy("mixed").arrays("predictor", |arrays| {
            let array = &mut arrays["layers.1.bias"];
            (array.kind, array.data) = (kind, vec![0; bytes * 16]);
        });
        let array = format!("`layers.1.bias` has the type {name}, expected F32");
        assert_says(&damaged.problem("predictor"), &["predictor.safetensors", &array, "save it as 32-bit floats"]);
    }
}

#[test]
fn a_file_cut_short_anywhere_says_so() {
    for (folder, model) in WEIGHTS {
        let file = format!("{model}.safetensors");
        let whole = fs::read(reference(folder).join(&file)).unwrap().len();
        for len in [0, 3, 8, 100, whole / 2, whole - 4, whole - 1] {
            let damaged = Damaged::copy(folder).bytes(&file, |bytes| bytes[..len].to_vec());
            assert_says(&damaged.problem(model), &[&file, "cut short", "copy it again, or make it anew"]);
        }
    }
}

#[test]
fn a_number_that_is_none_is_named_with_its_place() {
    for (value, text) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf"), (f32::NEG_INFINITY, "-inf")] {
        let damaged = Damaged::copy("mixed").arrays("generative", |arrays| {
            arrays["decoder.log_variance"].data[4..].copy_from_slice(&value.to_le_bytes());
        });
        let place = format!("`decoder.log_variance` holds {text} at position 1");
        assert_says(&damaged.problem("generative"), &["generative.safetensors", &place, "train it again"]);
    }
}

#[test]
fn a_hash_that_does_not_match_names_the_file_and_both_hashes() {
    for (file, model) in
        [("schema.toml", "predictor"), ("predictor.safetensors", "predictor"), ("generative.safetensors", "generative")]
    {
        let bytes = fs::read(reference("mixed").join(file)).unwrap();
        let right: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let wrong = "0".repeat(64);
        let with = |hash: &str| {
            let table = format!("seed = 3\n\n[hashes]\n\"{file}\" = \"{hash}\"\n");
            Damaged::copy("mixed").text("run.toml", "seed = 3\n", &table)
        };
        with(&right).load(model).unwrap();
        assert_says(&with(&wrong).problem(model), &[file, &right, &wrong, "delete its line under [hashes]"]);
    }
}

#[test]
fn the_constraints_of_a_schema_may_be_edited_after_training_and_nothing_else() {
    let schema = RunFolder::at(reference("mixed")).schema().unwrap();
    let trained = schema.to_toml().unwrap();
    let hash: String = Sha256::digest(&trained).iter().map(|byte| format!("{byte:02x}")).collect();
    let with = |schema: &str| {
        let table = format!("seed = 3\n\n[hashes]\n\"schema.toml\" = \"{hash}\"\n");
        let folder = Damaged::copy("mixed").text("run.toml", "seed = 3\n", &table);
        folder.bytes("schema.toml", |_| schema.as_bytes().to_vec())
    };
    with(&trained).load("predictor").unwrap();

    let constrained = with(&format!("{trained}\n[constraints]\n# a comment\nmost_changed = 1\n"));
    constrained.load("predictor").unwrap();
    let run = constrained.run();
    run.finish(&run.record().unwrap()).unwrap();
    assert_eq!(run.record().unwrap().hashes["schema.toml"], hash);

    let mistyped = with(&format!("{trained}\n[constraints]\nmost_change = 1\n"));
    assert_says(&mistyped.problem("predictor"), &["schema.toml", "unknown field `most_change`"]);
    let mut edited = schema;
    edited.constraints.most_changed = Some(1);
    edited.features[0].unit = Some("furlong".into());
    assert_says(&with(&edited.to_toml().unwrap()).problem("predictor"), &["schema.toml", "has changed since"]);
}

#[test]
fn an_unknown_key_in_the_record_is_named_with_those_that_are_known() {
    for (from, to, unknown, known) in [
        ("test_share", "test_part = 1\ntest_share", "test_part", "test_share"),
        ("format = 1", "format = 1\ncolour = 1", "colour", "dataset"),
    ] {
        let damaged = Damaged::copy("mixed").text("run.toml", from, to);
        let (unknown, known) = (format!("unknown field `{unknown}`"), format!("`{known}`"));
        assert_says(&damaged.problem("predictor"), &["run.toml", &unknown, &known]);
    }
}

#[test]
fn a_format_of_another_version_is_refused_by_number() {
    let damaged = Damaged::copy("mixed").text("run.toml", "format = 1", "format = 2");
    assert_says(&damaged.problem("predictor"), &["run.toml", "has format 2", "reads 1"]);
}

#[test]
fn a_newer_format_is_named_before_the_keys_that_came_with_it() {
    let damaged = Damaged::copy("mixed").text("run.toml", "format = 1", "format = 2\ncolour = 1");
    assert_says(&damaged.problem("predictor"), &["run.toml", "has format 2", "reads 1"]);
}

#[test]
fn a_file_or_folder_that_is_not_there_is_named() {
    for (file, model) in [
        ("run.toml", "predictor"),
        ("schema.toml", "predictor"),
        ("predictor.safetensors", "predictor"),
        ("generative.safetensors", "generative"),
    ] {
        let damaged = Damaged::copy("mixed");
        fs::remove_file(damaged.folder.path().join(file)).unwrap();
        assert_says(&damaged.problem(model), &["cannot read", file]);
    }
    let nowhere = RunFolder::at(reference("nowhere")).schema().unwrap_err().to_string();
    assert_says(&nowhere, &["nowhere", "is not there", "clue train"]);
}
