//! Bad input ends in one clear error that names the file, line or field and the remedy; nothing else is damaged.

use crate::common::{clue, fails, files_of, ok, small, train};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `clue train FILE --target y` on a CSV of this text.
fn train_csv(folder: &Path, text: &str) -> Command {
    let path = folder.join("table.csv");
    fs::write(&path, text).unwrap();
    let mut command = clue();
    command.arg("train").arg(path).args(["--target", "y", "--out"]).arg(folder.join("run")).args(small(&[]));
    command
}

/// `rows` lines of `a,b,y` with the given `line` (counted from 1, the header being line 1) replaced.
fn csv(rows: usize, line: usize, replacement: &str) -> String {
    let mut lines = vec!["a,b,y".to_owned()];
    lines.extend(
        (0..rows).map(|i| format!("{},{}.5,{}", i * 13 % 97, i * 7 % 31, if i % 2 == 0 { "yes" } else { "no" })),
    );
    if line > 0 {
        lines[line - 1] = replacement.to_owned();
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_bad_table_is_named_with_its_line_and_column() {
    for (text, parts) in [
        (csv(100, 7, "5,oops,yes"), ["line 7", "`b`", "oops"]),
        (csv(100, 9, "5,inf,yes"), ["line 9", "`b`", "table.csv"]),
        (csv(100, 5, "5,1"), ["line 5", "table.csv", "3"]),
        (csv(100, 0, "").replace(",no", ",yes"), ["`y`", "`yes` in every row", "table.csv"]),
        (csv(0, 0, ""), ["table.csv", "no", "row"]),
        (csv(100, 1, "a,b,z"), ["`y`", "columns: a, b, z", "table.csv"]),
        (String::new(), ["table.csv", "empty", ""]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (_, message) = fails(&mut train_csv(folder.path(), &text));
        for part in parts {
            assert!(message.contains(part), "`{part}` is not in: {message}");
        }
        assert!(!folder.path().join("run").exists(), "a refused table left a run behind");
    }
}

/// A folder of MNIST-like IDX files in which `damage` changed the training images.
fn broken_mnist(damage: impl Fn(&mut Vec<u8>)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mnist = folder.path().join("mnist");
    fs::create_dir(&mnist).unwrap();
    for (name, rows) in [("train", 60u32), ("t10k", 30)] {
        let mut images = [2051u32, rows, 28, 28].iter().flat_map(|n| n.to_be_bytes()).collect::<Vec<u8>>();
        images.resize(16 + 784 * rows as usize, 7);
        let mut labels = [2049u32, rows].iter().flat_map(|n| n.to_be_bytes()).collect::<Vec<u8>>();
        labels.extend((0..rows).map(|i| (i % 10) as u8));
        if name == "train" {
            damage(&mut images);
        }
        fs::write(mnist.join(format!("{name}-images-idx3-ubyte")), images).unwrap();
        fs::write(mnist.join(format!("{name}-labels-idx1-ubyte")), labels).unwrap();
    }
    folder
}

#[test]
fn a_bad_idx_file_is_named_with_what_is_wrong() {
    let cut: fn(&mut Vec<u8>) = |bytes| bytes.truncate(bytes.len() - 100);
    let magic: fn(&mut Vec<u8>) = |bytes| bytes[3] = 1;
    let huge: fn(&mut Vec<u8>) = |bytes| bytes[4] = 255;
    for (damage, part) in [(cut, "100"), (magic, "2049"), (huge, "train-images")] {
        let data = broken_mnist(damage);
        let run = data.path().join("run");
        let (_, message) = fails(clue().args(["train", "mnist", "--out"]).arg(&run).arg("--data").arg(data.path()));
        assert!(message.contains("train-images-idx3-ubyte") && message.contains(part), "{message}");
    }
}

#[test]
fn a_dataset_that_is_not_there_says_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["mnist", "credit"] {
        let run = folder.path().join("run");
        let (_, message) = fails(clue().args(["train", name, "--out"]).arg(run).arg("--data").arg(folder.path()));
        assert!(message.contains(&format!("clue data fetch {name}")), "{message}");
    }
    let (_, message) = fails(clue().args(["train", "minst", "--out"]).arg(folder.path().join("run")));
    assert!(message.contains("`minst`") && message.contains("mnist"), "{message}");
    let (_, message) =
        fails(clue().args(["train", "no/such.csv", "--target", "y", "--out"]).arg(folder.path().join("run")));
    assert!(message.contains("no/such.csv"), "{message}");
}

#[test]
fn a_bad_setting_is_named_and_ends_with_the_code_for_usage() {
    let folder = tempfile::tempdir().unwrap();
    for (setting, parts) in [
        ("predictor.radios=3", ["`predictor.radios`", "unknown field", "samples"]),
        ("predictor.samples=many", ["`predictor.samples`", "many", ""]),
        ("predictor.samples=0", ["`predictor.samples`", "positive", ""]),
        ("nonsense", ["`nonsense`", "key=value", ""]),
        ("generative.architecture=convolution", ["`generative.architecture`", "residual", ""]),
    ] {
        let (code, message) = fails(&mut train(&folder.path().join("run"), &[setting]));
        assert_eq!(code, 2, "{message}");
        for part in parts {
            assert!(message.contains(part), "`{part}` is not in: {message}");
        }
    }
    let plan = folder.path().join("plan.toml");
    fs::write(&plan, "[predictor]\nradios = 3\n").unwrap();
    let (_, message) = fails(train(&folder.path().join("run"), &[]).arg("--config").arg(&plan));
    assert!(message.contains("plan.toml") && message.contains("radios"), "{message}");
    assert!(!folder.path().join("run").exists());
}

#[test]
fn a_diverging_run_says_what_to_change() {
    let folder = tempfile::tempdir().unwrap();
    let (_, message) = fails(&mut train(&folder.path().join("a"), &["generative.fit.learning_rate=1e30"]));
    assert!(message.contains("vae diverged at epoch 1") && message.contains("learning_rate"), "{message}");
    let (_, message) = fails(&mut train(&folder.path().join("b"), &["predictor.sampler.step=1e6"]));
    assert!(message.contains("bayesian network diverged") && message.contains("predictor.sampler.step"), "{message}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "precious").unwrap();
    let (_, message) = fails(&mut train(&file.join("run"), &[]));
    assert!(message.contains("cannot write") && message.contains("file"), "{message}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_ends_in_an_error_and_leaves_no_half_file() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    // No file may grow beyond 4 KiB: the settings still fit, the weights no longer do.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_clue"), "train", "moons"]);
    command.arg("--out").arg(&run).args(small(&["generative.width=64"]));
    let (_, message) = fails(&mut command);
    assert!(message.contains("cannot write") && message.contains("safetensors"), "{message}");
    let left: Vec<String> = files_of(&run).into_keys().collect();
    assert!(left.iter().all(|name| !name.contains("writing") && !name.ends_with(".safetensors")), "{left:?}");
    // With room again, the same run goes on and ends like one that was never disturbed.
    ok(train(&run, &["generative.width=64"]).arg("--resume"));
    let whole = folder.path().join("whole");
    ok(&mut train(&whole, &["generative.width=64"]));
    assert!(files_of(&run) == files_of(&whole));
}

/// A finished run, copied for each damage.
fn finished(folder: &Path) -> PathBuf {
    let run = folder.join("run");
    ok(&mut train(&run, &[]));
    run
}

#[test]
fn damaged_weights_are_named_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let run = finished(folder.path());
    let weights = run.join("predictor.safetensors");
    let bytes = fs::read(&weights).unwrap();
    fs::write(&weights, &bytes[..bytes.len() - 7]).unwrap();
    let (_, message) = fails(clue().arg("rank").arg(&run));
    assert!(message.contains("predictor.safetensors") && message.contains("has changed"), "{message}");
    // Without its hash the file is judged by its contents.
    let record = fs::read_to_string(run.join("run.toml")).unwrap();
    let lines = record.lines().filter(|line| !line.starts_with("\"predictor.safetensors\""));
    fs::write(run.join("run.toml"), lines.collect::<Vec<_>>().join("\n")).unwrap();
    let (_, message) = fails(clue().arg("rank").arg(&run));
    assert!(message.contains("predictor.safetensors") && message.contains("cut short"), "{message}");
    fs::remove_file(&weights).unwrap();
    let (_, message) = fails(clue().arg("rank").arg(&run));
    assert!(message.contains("no predictor yet") && message.contains("--resume"), "{message}");
}

#[test]
fn a_run_that_is_not_there_or_not_a_run_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (_, message) = fails(clue().args(["rank", "no/such/run"]));
    assert!(message.contains("no/such/run") && message.contains("clue train"), "{message}");
    let (_, message) = fails(clue().arg("measure").arg(folder.path()));
    assert!(message.contains("run.toml"), "{message}");
    fs::write(folder.path().join("run.toml"), "format = 1\nsurprise = 2\n").unwrap();
    let (_, message) = fails(clue().arg("rank").arg(folder.path()));
    assert!(message.contains("run.toml") && message.contains("surprise"), "{message}");
}

#[test]
fn data_that_changed_since_training_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    ok(&mut train_csv(folder.path(), &csv(120, 0, "")));
    let run = folder.path().join("run");
    ok(clue().arg("rank").arg(&run));
    fs::write(folder.path().join("table.csv"), csv(120, 3, "1,1.5,no")).unwrap();
    let (_, message) = fails(clue().arg("rank").arg(&run));
    assert!(message.contains("table.csv") && message.contains("has changed"), "{message}");
}

#[test]
fn wrong_usage_ends_with_code_two() {
    let seed = ["train", "moons", "--out", "x", "--seed", "18446744073709551615"];
    for arguments in [
        &["rank"][..],
        &["train", "moons"],
        &["frobnicate"],
        &["rank", "x", "--by", "colour"],
        &["rank", "x", "--top", "0"],
        &["rank", "x", "--threads", "0"],
        &["data", "show", "nosuch"],
        &seed,
    ] {
        let output = clue().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn nothing_that_lies_in_a_folder_is_replaced_unasked() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("checkpoint")).unwrap();
    fs::write(folder.path().join("checkpoint/epoch-9.pt"), "weeks of work").unwrap();
    let before = files_of(folder.path());
    let (_, message) = fails(&mut train(folder.path(), &[]));
    assert!(message.contains("checkpoint") && message.contains("--overwrite"), "{message}");
    let (_, message) = fails(clue().args(["demo", "--out"]).arg(folder.path()));
    assert!(message.contains("--out"), "{message}");
    assert!(before == files_of(folder.path()));
}

#[test]
fn a_table_with_too_few_rows_leaves_the_old_run_alone() {
    let folder = tempfile::tempdir().unwrap();
    ok(&mut train_csv(folder.path(), &csv(120, 0, "")));
    let before = files_of(&folder.path().join("run"));
    let (_, message) = fails(train_csv(folder.path(), &csv(12, 0, "")).arg("--overwrite"));
    assert!(message.contains("rows to train on") && message.contains("20"), "{message}");
    assert!(before == files_of(&folder.path().join("run")));
}

#[test]
fn resuming_does_not_bless_damaged_weights() {
    let folder = tempfile::tempdir().unwrap();
    let run = finished(folder.path());
    let weights = run.join("predictor.safetensors");
    let mut bytes = fs::read(&weights).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&weights, bytes).unwrap();
    let (_, message) = fails(train(&run, &[]).arg("--resume"));
    assert!(message.contains("predictor.safetensors") && message.contains("has changed"), "{message}");
}

#[test]
fn a_validation_share_that_another_program_wrote_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let run = finished(folder.path());
    let record = fs::read_to_string(run.join("run.toml")).unwrap();
    fs::write(run.join("run.toml"), record.replace("validation_share = 0.1", "validation_share = 1.5")).unwrap();
    let (_, message) = fails(clue().arg("rank").arg(&run).args(["--split", "validation"]));
    assert!(message.contains("validation_share") && message.contains("1.5"), "{message}");
}

#[test]
fn options_that_a_dataset_cannot_use_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (code, message) = fails(train(&folder.path().join("run"), &[]).args(["--target", "x1"]));
    assert_eq!(code, 2);
    assert!(message.contains("`target`") && message.contains("moons"), "{message}");
}
