//! Running `clue` as a user does.

#![allow(dead_code, reason = "each test file uses some of these")]

pub mod browser;
pub mod onnx;

use cluekit::data::npy::NewArray;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The command, with nothing of the surroundings leaking in.
pub fn clue() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clue"));
    command.env_remove("CLUE_DATA");
    command
}

/// `--set` for settings that train in a moment, then `more`.
pub fn small(more: &[&str]) -> Vec<String> {
    let quick = [
        "generative.width=16",
        "generative.depth=1",
        "generative.latent=2",
        "generative.fit.epochs=3",
        "predictor.hidden=[16]",
        "predictor.samples=4",
        "predictor.fit.epochs=3",
        "predictor.fit.learning_rate=0.01",
        "predictor.sampler.burn_in_epochs=3",
        "predictor.sampler.step=0.002",
    ];
    quick.iter().chain(more).flat_map(|setting| ["--set".to_owned(), (*setting).to_owned()]).collect()
}

/// `clue train moons` with small settings.
pub fn train(run: &Path, more: &[&str]) -> Command {
    let mut command = clue();
    command.args(["train", "moons", "--out"]).arg(run).args(small(more));
    command
}

/// Runs a command that must succeed and returns what it printed.
pub fn ok(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command that must succeed and prints one JSON document.
pub fn json(command: &mut Command) -> serde_json::Value {
    serde_json::from_str(&ok(command)).unwrap()
}

/// Runs a command that must fail; returns its exit code and what it said, which must be one line and no panic.
pub fn fails(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    let code = output.status.code().unwrap_or_else(|| panic!("{command:?} was killed: {message}"));
    assert!(code == 1 || code == 2, "{command:?} ended with {code}: {message}");
    assert!(!message.contains("panicked"), "{message}");
    (code, message)
}

/// Every file below a folder with its bytes.
pub fn files_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        for entry in std::fs::read_dir(current).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// Two NumPy arrays in a folder, `images.npy` and `labels.npy`: 200 bars of 6 × 6 pixels that lie or stand.
pub fn write_bars(folder: &Path) {
    let pixel =
        |i: usize, p: usize| if (if i.is_multiple_of(2) { p / 6 } else { p % 6 }) == i / 2 % 6 { 255 } else { 0 };
    let pixels: Vec<u8> = (0..200).flat_map(|i| (0..36).map(move |p| pixel(i, p))).collect();
    let labels = (0..200).map(|i| i % 2).collect();
    let images = NewArray::bytes("images", "|u1", vec![200, 6, 6], pixels);
    std::fs::write(folder.join("images.npy"), images.file()).unwrap();
    std::fs::write(folder.join("labels.npy"), NewArray::bytes("labels", "|u1", vec![200], labels).file()).unwrap();
}

/// A CSV table in a folder, `heat.csv`: 400 rows of x from 0 to 10 and heat = 1000 + 100 x, give or take 20.
pub fn write_heat(folder: &Path) {
    let rows = (0..400).map(|i| {
        let x = f64::from(i) / 40.0;
        format!("{x:.3},{:.4}\n", 1000.0 + 100.0 * x + 20.0 * f64::from(i * 7919 % 100 - 50) / 50.0)
    });
    std::fs::write(folder.join("heat.csv"), "x,heat\n".to_owned() + &rows.collect::<String>()).unwrap();
}

/// Kills a run with SIGKILL again and again, resuming it each time, until it gets through.
pub fn interrupted(run: &Path, train: impl Fn() -> Command) -> usize {
    let mut kills = 0;
    let deadline = Instant::now() + Duration::from_secs(240);
    loop {
        let mut command = train();
        if run.join("run.toml").exists() {
            command.arg("--resume");
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Each attempt lives a little longer than the one before, so the kills fall on different moments.
        let patience = Duration::from_millis(60 + 40 * kills as u64);
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if begun.elapsed() > patience {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        match status {
            Some(status) => {
                assert!(status.success(), "a resumed run failed after {kills} kills");
                return kills;
            }
            None => kills += 1,
        }
        assert!(Instant::now() < deadline, "the run never got through");
    }
}
