//! Symbols end to end: made, trained on, explained; and what is said when that cannot be done.

use crate::common::{clue, fails, files_of, interrupted, json, ok};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file of small symbols in `folder`.
fn make(folder: &Path, more: &[&str]) -> Command {
    let mut command = clue();
    command.args(["data", "make", "synbols", "--letters", "ilo", "--resolution", "10", "--grey"]);
    command.args(["--count", "500", "--out"]).arg(folder.join("symbols.h5py")).args(more);
    command
}

/// A ladder and residual networks that are trained in a moment.
fn train(symbols: &Path, run: &Path) -> Command {
    let settings = [
        "generative.channels=[3, 4]",
        "generative.width=24",
        "generative.depth=1",
        "generative.blocks=1",
        "generative.latent=4",
        "generative.low_latent=2",
        "generative.fit.epochs=6",
        "predictor.channels=[4, 8]",
        "predictor.blocks=2",
        "predictor.samples=2",
        "predictor.fit.epochs=6",
        "predictor.fit.learning_rate=0.01",
    ];
    let mut command = clue();
    command.arg("train").arg(symbols).args(["--plan", "synbols-small", "--out"]).arg(run);
    command.args(settings.iter().flat_map(|setting| ["--set", setting]));
    command
}

fn made() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    ok(&mut make(folder.path(), &[]));
    let file = folder.path().join("symbols.h5py");
    (folder, file)
}

#[test]
fn symbols_are_made_learned_and_explained_by_every_method() {
    let (folder, symbols) = made();
    let run = folder.path().join("run");
    ok(&mut train(&symbols, &run));
    let health = json(clue().arg("measure").arg(&run).arg("--json"));
    assert!(health["predictor"]["error"].as_f64().unwrap() < 0.35, "better than one in three: {health}");
    assert_eq!((&health["predictor"]["samples"], &health["generative"]["latent"]), (&2.into(), &6.into()));
    assert!(run.join("measure/reconstructions.png").exists());
    for method in ["clue", "delta", "nabla"] {
        let output = clue()
            .arg("explain")
            .arg(&run)
            .args(["--method", method, "--top", "2", "--json"])
            .args(if method == "clue" { &[][..] } else { &["--count", "3"] })
            .output()
            .unwrap();
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let explanations = document["explanations"].as_array().unwrap();
        let lowest = |e: &serde_json::Value| {
            let clues = e["clues"].as_array().unwrap().iter().map(|c| c["uncertainty"]["total"].as_f64().unwrap());
            clues.fold(f64::INFINITY, f64::min)
        };
        assert_eq!(explanations.len(), 2);
        for explanation in explanations {
            let before = explanation["input"]["uncertainty"]["total"].as_f64().unwrap();
            assert!(lowest(explanation) < before, "{method}: {before}");
        }
    }
    ok(clue().args(["glam", "fit"]).arg(&run).args(["--mapper", "clusters", "--scheme", "any"]));
    let output =
        clue().args(["glam", "apply"]).arg(&run).args(["--method", "clusters", "--top", "2"]).output().unwrap();
    assert!([0, 3].contains(&output.status.code().unwrap()), "{}", String::from_utf8_lossy(&output.stderr));
    // Images of another file are explained too.
    let output =
        clue().arg("explain").arg(&run).args(["--method", "clue", "--top", "1", "--file"]).arg(&symbols).output();
    assert!([0, 3].contains(&output.unwrap().status.code().unwrap()));
}

#[test]
fn networks_with_norms_are_the_same_for_any_number_of_threads_and_after_any_interruption() {
    let (folder, symbols) = made();
    let run = |name: &str| folder.path().join(name);
    ok(train(&symbols, &run("one")).args(["--threads", "1"]));
    ok(train(&symbols, &run("two")).args(["--threads", "2"]));
    assert!(files_of(&run("one")) == files_of(&run("two")), "the bytes differ with the threads");
    let kills = interrupted(&run("broken"), || train(&symbols, &run("broken")));
    assert!(kills > 0, "the run was too quick to be killed");
    assert!(files_of(&run("one")) == files_of(&run("broken")), "the bytes differ after {kills} kills");
}

#[test]
fn the_same_seed_makes_the_same_file_for_any_number_of_threads() {
    let files = ["1", "2"].map(|threads| {
        let folder = tempfile::tempdir().unwrap();
        ok(&mut make(folder.path(), &["--threads", threads]));
        fs::read(folder.path().join("symbols.h5py")).unwrap()
    });
    assert!(files[0] == files[1]);
    let folder = tempfile::tempdir().unwrap();
    ok(&mut make(folder.path(), &["--seed", "1"]));
    assert!(files[0] != fs::read(folder.path().join("symbols.h5py")).unwrap());
}

#[test]
fn a_contact_sheet_is_a_png() {
    let folder = tempfile::tempdir().unwrap();
    let sheet = folder.path().join("sheet.png");
    ok(clue().args(["data", "make", "synbols", "--set", "tiny", "--count", "12", "--out"]).arg(&sheet));
    assert!(fs::read(sheet).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn what_cannot_be_made_is_said_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |more: &[&str]| {
        let (_, message) = fails(&mut make(folder.path(), more));
        assert!(!folder.path().join("symbols.h5py").exists(), "{more:?}");
        message
    };
    let message = refused(&["--set", "camouflaged"]);
    assert!(message.contains("`camouflaged`") && message.contains("non-camou-bw, "), "{message}");
    let fonts = folder.path().join("fonts");
    let path = fonts.to_str().unwrap();
    let message = refused(&["--fonts", path]);
    assert!(message.contains("cannot read") && message.contains("fonts"), "{message}");
    fs::create_dir(&fonts).unwrap();
    assert!(refused(&["--fonts", path]).contains("name a folder with fonts"));
    fs::write(fonts.join("broken.ttf"), "no font").unwrap();
    let message = refused(&["--fonts", path]);
    assert!(message.contains("broken.ttf") && message.contains("remove it or mend it"), "{message}");
    let make = |more: &[&str], out: &str| {
        let mut command = clue();
        command.args(["data", "make", "synbols", "--count", "5", "--out"]).arg(folder.path().join(out)).args(more);
        fails(&mut command).1
    };
    let message = make(&["--resolution", "0"], "a.h5");
    assert!(message.contains("between 1 and 4096, got 0"), "{message}");
    let (_, message) = fails(
        clue()
            .args(["data", "make", "synbols", "--letters", "字", "--count", "5", "--out"])
            .arg(folder.path().join("a.h5")),
    );
    assert!(message.contains('字') && message.contains("--fonts"), "{message}");
    let (_, message) =
        fails(clue().args(["data", "make", "synbols", "--count", "5", "--out"]).arg(folder.path().join("a.txt")));
    assert!(message.contains(".h5py nor .png"), "{message}");
}

#[test]
fn what_cannot_be_learned_from_is_said_with_the_remedy() {
    let (folder, symbols) = made();
    let run = folder.path().join("run");
    let refused = |command: &mut Command| {
        let (_, message) = fails(command);
        assert!(!run.exists());
        message
    };
    let message = refused(train(&symbols, &run).args(["--split", "by-size"]));
    assert!(message.contains("`by-size`") && message.contains("stratified_font"), "{message}");
    let message = refused(train(&symbols, &run).args(["--target", "mood"]));
    assert!(message.contains("`mood`"), "{message}");
    let message = refused(train(&symbols, &run).args(["--set", "predictor.kind=bayesian"]));
    assert!(message.contains("predictor.kind") && message.contains("mlp"), "{message}");
    let message = refused(train(&symbols, &run).args(["--set", "generative.low_latent=0"]));
    assert!(message.contains("generative.low_latent"), "{message}");
    let message = refused(clue().arg("train").arg(&symbols).args(["--plan", "synbols-huge", "--out"]).arg(&run));
    assert!(message.contains("`synbols-huge`") && message.contains("synbols-small"), "{message}");
    let message = refused(&mut train(Path::new("moons"), &run));
    assert!(message.contains("needs images"), "{message}");
    let bytes = fs::read(&symbols).unwrap();
    fs::write(&symbols, &bytes[..bytes.len() / 2]).unwrap();
    let message = refused(&mut train(&symbols, &run));
    assert!(message.contains("symbols.h5py") && message.contains("make it again"), "{message}");
    let message = refused(clue().args(["train", "moons", "--set", "predictor.network=resnet", "--out"]).arg(&run));
    assert!(message.contains("`resnet` needs images; choose `mlp`"), "{message}");
    let message = refused(clue().args(["train", "moons", "--split", "random", "--out"]).arg(&run));
    assert!(message.contains("--split"), "{message}");
}
