//! A command that is told to stop ends within a step, says so in one line, and leaves nothing half-written.
#![allow(clippy::print_stderr, reason = "it says how often it stopped what, and how fast")]

use crate::common::{clue, files_of, ok, train};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often each command is stopped; `CLUE_STOPS=50` for a thorough look.
fn stops() -> u64 {
    std::env::var("CLUE_STOPS").ok().and_then(|stops| stops.parse().ok()).unwrap_or(3)
}

fn spawn(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    ok(Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()));
}

/// Stops a command after some time, if it still runs; returns what it left and how long it took to end.
fn stopped(command: &mut Command, name: &str, after: Duration) -> (Output, Duration) {
    let mut child = spawn(command);
    sleep(after);
    if child.try_wait().unwrap().is_none() {
        signal(&child, name);
    }
    let begun = Instant::now();
    let output = child.wait_with_output().unwrap();
    (output, begun.elapsed())
}

fn message(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The last line on stderr.
fn last_line(output: &Output) -> String {
    message(output).lines().last().unwrap_or_default().to_owned()
}

/// The files of a run that the stopped command makes or leaves alone: all but those of a training that goes on.
fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = files_of(folder);
    files.retain(|name, _| !name.contains("checkpoint") && !name.ends_with("run.toml"));
    files
}

/// Stops a command again and again at moments of chance, each time in a fresh copy of a folder. What is there afterwards
/// is whole, and `again` ends with what an unbroken command would have left.
fn assert_stops(
    what: &str,
    begin: impl Fn(&Path),
    command: impl Fn(&Path) -> Command,
    again: impl Fn(&Path) -> Command,
) {
    let place = tempfile::tempdir().unwrap();
    let fresh = |name: String| -> PathBuf {
        let folder = place.path().join(name);
        fs::create_dir(&folder).unwrap();
        begin(&folder);
        folder
    };
    let (whole, began) = (fresh("whole".into()), Instant::now());
    let finished = command(&whole).output().unwrap();
    assert!(matches!(finished.status.code(), Some(0 | 3)), "{what}: {}", message(&finished));
    let (time, expected) = (began.elapsed(), files_of(&whole));
    let (mut early, mut slowest) = (0, Duration::ZERO);
    for round in 0..stops() {
        let folder = fresh(format!("stopped {round}"));
        let share = RandomState::new().hash_one(round) as f64 / u64::MAX as f64;
        let (output, waited) = stopped(&mut command(&folder), "INT", time.mul_f64(share));
        // A process that has only just begun does not listen yet, and ends as the signal would have it.
        let code = output.status.code().or(output.status.signal().map(|signal| 128 + signal));
        assert!(matches!(code, Some(0 | 3 | 130)), "{what}: {code:?} after {share} of it: {}", message(&output));
        if output.status.code() == Some(130) {
            (early, slowest) = (early + 1, slowest.max(waited));
            assert!(last_line(&output).starts_with("clue: stopped; "), "{what}: {}", message(&output));
        }
        for (name, bytes) in results(&folder) {
            assert!(!name.ends_with(".writing"), "{what}: {name} was left after {share} of it");
            assert!(expected.get(&name) == Some(&bytes), "{what}: {name} is not whole after {share} of it");
        }
        let output = again(&folder).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 3)), "{what}: {}", message(&output));
        assert!(files_of(&folder) == expected, "{what}: other bytes after it was stopped at {share} of it");
        fs::remove_dir_all(folder).unwrap();
    }
    eprintln!("{what}: {early} of {} stopped early, the slowest within {slowest:.0?} of {time:.0?}", stops());
    assert!(slowest < Duration::from_secs(5), "{what} took {slowest:?} to end");
}

/// A run with small models, copied into each fresh folder.
fn with_a_run(place: &Path) -> impl Fn(&Path) {
    let run = place.join("run");
    ok(&mut train(&run, &["generative.fit.epochs=10", "predictor.fit.epochs=10"]));
    let files = files_of(&run);
    move |folder| {
        fs::create_dir(folder.join("run")).unwrap();
        files.iter().for_each(|(name, bytes)| fs::write(folder.join("run").join(name), bytes).unwrap());
    }
}

#[test]
fn a_training_that_is_stopped_can_be_resumed_to_the_same_bytes() {
    let settings = ["generative.fit.epochs=40", "predictor.fit.epochs=20", "predictor.samples=8"];
    let command = |folder: &Path| train(&folder.join("run"), &settings);
    let again = |folder: &Path| {
        let mut command = command(folder);
        command.arg("--resume");
        command
    };
    assert_stops("train", |_| {}, command, again);
}

#[test]
fn an_explanation_that_is_stopped_leaves_no_half_file() {
    let place = tempfile::tempdir().unwrap();
    let command = |folder: &Path| {
        let mut command = clue();
        command.arg("explain").arg(folder.join("run")).args(["--method", "nabla", "--top", "40", "--count", "8"]);
        command.args(["--delta", "2", "--steps", "60", "--out"]).arg(folder.join("clues"));
        command
    };
    assert_stops("explain", with_a_run(place.path()), command, command);
}

#[test]
fn a_fit_of_mappers_that_is_stopped_leaves_no_half_file() {
    let place = tempfile::tempdir().unwrap();
    let command = |folder: &Path| {
        let mut command = clue();
        command.args(["glam", "fit"]).arg(folder.join("run")).args(["--mapper", "clusters"]);
        command
    };
    assert_stops("glam fit", with_a_run(place.path()), command, command);
}

#[test]
fn an_audit_that_is_stopped_leaves_no_half_page() {
    let place = tempfile::tempdir().unwrap();
    let command = |folder: &Path| {
        let mut command = clue();
        command.arg("audit").arg(folder.join("run")).arg("--quick");
        command
    };
    assert_stops("audit", with_a_run(place.path()), command, command);
}

/// A training that lasts until it is stopped, after this time at the latest.
fn endless(folder: &Path, time: &str) -> Command {
    let mut command = train(&folder.join("run"), &["generative.fit.epochs=100000", "generative.fit.patience=0"]);
    command.args(["--timeout", time]);
    command
}

#[test]
fn each_signal_has_its_exit_code_and_a_training_says_how_it_goes_on() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let place = tempfile::tempdir().unwrap();
        let (output, waited) = stopped(&mut endless(place.path(), "1m"), name, Duration::from_millis(700));
        assert_eq!(output.status.code(), Some(code), "{name}: {}", message(&output));
        assert_eq!(last_line(&output), "clue: stopped; go on with --resume", "{name}");
        assert!(waited < Duration::from_secs(3), "{name}: {waited:?}");
        assert!(place.path().join("run/checkpoint/vae.safetensors").exists(), "{name}: it left its checkpoint");
    }
}

#[test]
fn a_time_that_is_over_stops_a_command_and_the_line_says_so() {
    let place = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let output = endless(place.path(), "1.5s").output().unwrap();
    assert_eq!(output.status.code(), Some(124), "{}", message(&output));
    assert_eq!(last_line(&output), "clue: stopped after 1.5 s (--timeout); go on with --resume");
    assert!((1.5..4.5).contains(&began.elapsed().as_secs_f64()), "{:?}", began.elapsed());
    let output = clue().args(["train", "moons", "--out", "x", "--timeout", "soon"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", message(&output));
    assert!(message(&output).contains("write 90, 90s, 10m or 2h"), "{}", message(&output));
}

#[test]
fn who_asks_twice_does_not_wait() {
    let place = tempfile::tempdir().unwrap();
    let child = spawn(&mut endless(place.path(), "1m"));
    sleep(Duration::from_millis(700));
    signal(&child, "INT");
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", message(&output));
    assert_eq!(message(&output).matches("clue: stopped").count(), 1, "{}", message(&output));
    assert!(files_of(place.path()).keys().all(|name| !name.ends_with(".writing")));
}

#[test]
fn a_signal_that_the_surroundings_ignore_is_ignored() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("run");
    let command = train(&run, &[]);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let mut ignoring = Command::new("sh");
    ignoring.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).args(words);
    let (output, _) = stopped(&mut ignoring, "HUP", Duration::from_millis(50));
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
}

#[test]
fn a_stderr_that_is_full_or_closed_does_not_end_the_work() {
    let place = tempfile::tempdir().unwrap();
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    if let Ok(full) = full {
        let status = train(&place.path().join("full"), &[]).stderr(full).status().unwrap();
        assert_eq!(status.code(), Some(0));
    }
    let mut child = spawn(&mut train(&place.path().join("closed"), &[]));
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(place.path().join("closed/predictor.safetensors").exists());
}
