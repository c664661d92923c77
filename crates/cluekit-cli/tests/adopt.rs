//! Runs from models that were made elsewhere.

use crate::common::onnx::Linear;
use crate::common::{clue, fails, files_of, json, ok, small};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const JOBS: [&str; 3] = ["clerk", "nurse", "judge"];

/// Age, debt, job and whether the payment was late.
fn row(i: usize) -> (usize, usize, usize, bool) {
    let (age, debt, job) = (20 + i * 7 % 50, i * 37 % 300, i % 3);
    (age, debt, job, debt + 60 * job + i * 11 % 60 > 210)
}

/// 300 clients in a file.
fn table(place: &Path) {
    let line = |i| {
        let (age, debt, job, late) = row(i);
        format!("{age},{debt},{},{}\n", JOBS[job], if late { "yes" } else { "no" })
    };
    let text = "age,debt,job,late\n".to_owned() + &(0..300).map(line).collect::<String>();
    std::fs::write(place.join("clients.csv"), text).unwrap();
}

/// What the owner's network says of a row: logits 0 and 0.04 (debt − 180) + 2.4 [nurse] + 4.8 [judge].
fn owner(i: usize) -> f64 {
    let (_, debt, job, _) = row(i);
    let logit = 0.04 * (debt as f64 - 180.0) + 2.4 * job as f64;
    1.0 / (1.0 + (-logit).exp())
}

/// The same as a file, of columns age, debt, clerk, judge, nurse: the order of the words.
const OWNERS: Linear =
    Linear { weight: &[&[0.0, 0.0, 0.0, 0.0, 0.0], &[0.0, 0.04, 0.0, 4.8, 2.4]], bias: &[0.0, -7.2], dropout: false };

fn adopt(place: &Path, more: &[&str]) -> Command {
    let mut command = clue();
    command.current_dir(place).args(["adopt", "--data", "clients.csv", "--target", "late"]).args(more).args(small(&[]));
    command
}

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{message}");
    message
}

fn ranked(run: &Path) -> Value {
    json(clue().arg("rank").arg(run).args(["--json", "--top", "30"]))
}

#[test]
fn a_model_from_elsewhere_answers_as_its_owner_says_wherever_its_run_goes() {
    let place = tempfile::tempdir().unwrap();
    table(place.path());
    std::fs::create_dir(place.path().join("made")).unwrap();
    OWNERS.write(&place.path().join("made/net.onnx"), Some("net.weights"));
    let told = said(&mut adopt(place.path(), &["--predictor", "made/net.onnx", "--out", "run"]));
    for part in [
        "from x: numbers [rows, 5] to y: numbers [rows, 2], with a gradient",
        "its numbers are taken as logits",
        "it is given the data's own units (raw)",
        "the most frequent class alone would be about",
        "it gives one answer a row (S = 1)",
    ] {
        assert!(told.contains(part), "{told}");
    }
    // The run stands alone: where the model was is gone, and the command runs elsewhere.
    std::fs::remove_dir_all(place.path().join("made")).unwrap();
    for input in ranked(&place.path().join("run"))["inputs"].as_array().unwrap() {
        let expected = owner(input["name"]["row"].as_u64().unwrap() as usize - 2);
        let got = input["probabilities"][1].as_f64().unwrap();
        assert!((got - expected).abs() < 1e-5, "{got} instead of {expected}: {input}");
    }
    let found = ok(clue().arg("explain").arg(place.path().join("run")).args(["--method", "clue", "--top", "2", "-q"]));
    assert!(found.contains("debt"), "{found}");
}

#[test]
fn units_that_the_model_does_not_know_show_at_once() {
    let place = tempfile::tempdir().unwrap();
    table(place.path());
    OWNERS.write(&place.path().join("net.onnx"), None);
    let told = said(&mut adopt(place.path(), &["--predictor", "net.onnx", "--input", "encoded", "--out", "run"]));
    assert!(told.contains("knows no more of these rows than a constant answer"), "{told}");
}

#[test]
fn files_of_an_ensemble_are_found_by_a_pattern_and_are_posterior_samples() {
    let place = tempfile::tempdir().unwrap();
    table(place.path());
    for (at, slope) in [0.02_f32, 0.04, 0.06].into_iter().enumerate() {
        let weight: [&[f32]; 2] = [&[0.0; 5], &[0.0, slope, 0.0, 120.0 * slope, 60.0 * slope]];
        let bias = [0.0, -180.0 * slope];
        Linear { weight: &weight, bias: &bias, ..OWNERS }.write(&place.path().join(format!("member_{at}.onnx")), None);
    }
    let told = said(&mut adopt(place.path(), &["--predictor", "member_*.onnx", "--out", "run"]));
    assert!(told.contains("3 files are the members of an ensemble") && told.contains("3 posterior samples"), "{told}");
    let epistemic = |input: &Value| input["uncertainty"]["epistemic"].as_f64().unwrap();
    assert!(
        ranked(&place.path().join("run"))["inputs"].as_array().unwrap().iter().any(|input| epistemic(input) > 1e-3)
    );
    let (_, message) = fails(&mut adopt(place.path(), &["--predictor", "other_*.onnx", "--out", "run2"]));
    assert!(message.contains("no file is called other_*.onnx"), "{message}");
}

#[test]
fn dropout_is_kept_on_where_there_is_some() {
    let place = tempfile::tempdir().unwrap();
    table(place.path());
    Linear { dropout: true, ..OWNERS }.write(&place.path().join("dropout.onnx"), None);
    OWNERS.write(&place.path().join("net.onnx"), None);
    let off = said(&mut adopt(place.path(), &["--predictor", "dropout.onnx", "--out", "off"]));
    assert!(off.contains("its dropout is switched off; mc_dropout = 20 keeps 20 masks of it on"), "{off}");
    let on = ["--predictor", "dropout.onnx", "--mc-dropout", "7", "--input", "raw", "--out", "on"];
    assert!(said(&mut adopt(place.path(), &on)).contains("7 posterior samples"));
    let (_, message) =
        fails(&mut adopt(place.path(), &["--predictor", "net.onnx", "--mc-dropout", "7", "--out", "none"]));
    assert!(message.contains("has no dropout that could stay active"), "{message}");
    assert!(!place.path().join("none").exists());
}

#[test]
fn a_generative_model_that_is_there_already_is_kept() {
    let place = tempfile::tempdir().unwrap();
    table(place.path());
    OWNERS.write(&place.path().join("net.onnx"), None);
    let train = ["train", "clients.csv", "--target", "late", "--only", "generative", "--out", "run", "-q"];
    ok(clue().current_dir(place.path()).args(train).args(small(&[])));
    let before = files_of(&place.path().join("run"))["generative.safetensors"].clone();
    said(&mut adopt(place.path(), &["--predictor", "net.onnx", "--out", "run", "--set", "generative.latent=3"]));
    assert_eq!(files_of(&place.path().join("run"))["generative.safetensors"], before);
    assert!(!ranked(&place.path().join("run"))["inputs"].as_array().unwrap().is_empty());
    let (_, message) = fails(&mut adopt(place.path(), &["--predictor", "net.onnx", "--out", "run"]));
    assert!(message.contains("holds a run already"), "{message}");
}

#[test]
fn a_probe_of_another_model_is_refused_before_anything_is_made() {
    let place = tempfile::tempdir().unwrap();
    table(place.path());
    OWNERS.write(&place.path().join("net.onnx"), None);
    let said_of = |probability: f64| probe(&place.path().join("probe.safetensors"), probability);
    said_of(owner(4));
    let with = ["--predictor", "net.onnx", "--probe", "probe.safetensors", "--out", "run"];
    said(&mut adopt(place.path(), &with));
    said_of(owner(4) + 0.001);
    let (_, message) = fails(&mut adopt(place.path(), &[&with[..4], &["--out", "other"]].concat()));
    assert!(message.contains("is not the model that the probe was made with"), "{message}");
    assert!(!place.path().join("other").exists());
    // The same as a table.
    let as_table = |probability: f64| {
        let (age, debt, job, _) = row(4);
        let text = format!("age,debt,job,no,yes\n{age},{debt},{},{},{probability}\n", JOBS[job], 1.0 - probability);
        std::fs::write(place.path().join("probe.csv"), text).unwrap();
        adopt(place.path(), &["--predictor", "net.onnx", "--probe", "probe.csv", "--out", "third", "--overwrite"])
    };
    said(&mut as_table(owner(4)));
    let (_, message) = fails(&mut as_table(owner(4) - 0.001));
    assert!(message.contains("probe.csv: the predictor of this run is not the model"), "{message}");
    // A run whose model is exchanged later is refused too.
    std::fs::write(place.path().join("run/predictor/net.onnx"), b"another").unwrap();
    let (_, message) = fails(clue().arg("rank").arg(place.path().join("run")));
    assert!(message.contains("net.onnx"), "{message}");
}

/// A probe of row 4 in the data's units, with one answer of an owner.
fn probe(path: &Path, probability: f64) {
    let (age, debt, job, _) = row(4);
    let place = ["clerk", "judge", "nurse"].iter().position(|name| *name == JOBS[job]).unwrap();
    let numbers = [age as f32, debt as f32, place as f32, (1.0 - probability) as f32, probability as f32];
    let header = r#"{"probabilities":{"dtype":"F32","shape":[1,2],"data_offsets":[12,20]},"rows":{"dtype":"F32","shape":[1,3],"data_offsets":[0,12]}}"#;
    let length = header.len() as u64;
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
    std::fs::write(path, length.to_le_bytes().into_iter().chain(header.bytes()).chain(bytes).collect::<Vec<u8>>())
        .unwrap();
}

#[test]
fn an_encoder_and_a_decoder_of_ones_own_are_the_latent_space() {
    let place = tempfile::tempdir().unwrap();
    table(place.path());
    OWNERS.write(&place.path().join("net.onnx"), None);
    // The code of a row is its scaled debt; the decoder gives it back, and means of the rest.
    let encoder: [&[f32]; 1] = [&[0.0, 1.0, 0.0, 0.0, 0.0]];
    Linear { weight: &encoder, bias: &[0.0], ..OWNERS }.write(&place.path().join("encoder.onnx"), None);
    let decoder: [&[f32]; 5] = [&[0.0], &[1.0], &[0.0], &[0.0], &[0.0]];
    let bias = [0.0, 0.0, 0.4, 0.3, 0.3];
    Linear { weight: &decoder, bias: &bias, ..OWNERS }.write(&place.path().join("decoder.onnx"), None);
    let own = ["--predictor", "net.onnx", "--encoder", "encoder.onnx", "--decoder", "decoder.onnx", "--out", "run"];
    said(&mut adopt(place.path(), &own));
    let files = files_of(&place.path().join("run"));
    assert!(files.contains_key("generative/encoder/encoder.onnx") && !files.contains_key("generative.safetensors"));
    let explain = ["--method", "clue", "--only-paper", "--top", "1", "--json", "--no-plausibility"];
    let output = clue().arg("explain").arg(place.path().join("run")).args(explain).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["explanations"][0]["input"]["z"].as_array().unwrap().len(), 1);
}
