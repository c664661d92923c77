//! Files of one's own, in whatever form they come.

use crate::common::{clue, fails, ok, small};
use std::fs;
use std::path::Path;
use std::process::Command;

/// 200 rows without names, separated by blanks: two numbers, a word, and the class.
fn rows() -> String {
    let row = |i: usize| {
        let (a, b) = (20 + i * 7 % 50, i * 37 % 41);
        format!("{a} {b}.5 {} {}\n", ["clerk", "nurse", "smith"][i % 3], 1 + usize::from(a + b > 60))
    };
    (0..200).map(row).collect()
}

fn train(file: &Path, run: &Path, options: &[&str]) -> Command {
    let mut command = clue();
    command.arg("train").arg(file).args(options).arg("--out").arg(run).args(small(&["predictor.kind=plain"]));
    command
}

#[test]
fn a_table_without_names_and_commas_is_trained_and_its_rows_are_explained_as_it_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let (data, new) = (folder.path().join("loans.data"), folder.path().join("new"));
    fs::write(&data, rows()).unwrap();
    fs::write(&new, "33 12.5 nurse\n61 40.5 clerk\n").unwrap();
    for (run, options) in [("a", &[][..]), ("b", &["--no-header", "--delimiter", "space"])] {
        let run = folder.path().join(run);
        let output = train(&data, &run, &[&["--target", "column_4"], options].concat()).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{told}");
        assert_eq!(told.contains("the first row holds values and no names"), options.is_empty(), "{told}");
        let record = fs::read_to_string(run.join("run.toml")).unwrap();
        assert_eq!(record.contains("[dataset.reading]\nheader = false\ndelimiter = \"space\"\n"), !options.is_empty());
        let schema = fs::read_to_string(run.join("schema.toml")).unwrap();
        assert!(schema.contains("name = \"column_3\"") && schema.contains("\"smith\""), "{schema}");

        let output = clue().arg("explain").arg(&run).args(["--method", "clue", "--json", "--file"]).arg(&new).output();
        let document: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
        assert_eq!(document["explanations"].as_array().unwrap().len(), 2, "{document}");
    }
}

/// An IDX file of unsigned bytes.
fn idx(shape: &[u32], bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 0, 8, shape.len() as u8];
    file.extend(shape.iter().flat_map(|size| size.to_be_bytes()));
    file.extend(bytes);
    file
}

#[test]
fn images_in_idx_files_are_trained_with_their_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (images, run) = (folder.path().join("images"), folder.path().join("run"));
    let pixels: Vec<u8> = (0..60).flat_map(|i| (0..16).map(move |p| if (p + i) % 2 == 0 { 255 } else { 0 })).collect();
    fs::write(&images, idx(&[60, 4, 4], &pixels)).unwrap();
    fs::write(folder.path().join("letters"), idx(&[60], &(0..60).map(|i| 10 + i % 2).collect::<Vec<u8>>())).unwrap();

    let (code, message) = fails(&mut train(&images, &run, &["--target", "letter"]));
    assert!(code == 1 && message.contains("shape [60, 4, 4] and no column"), "{message}");
    assert!(message.contains("give --labels with the file of the labels"), "{message}");

    ok(&mut train(&images, &run, &["--labels", "letters"]));
    assert!(fs::read_to_string(run.join("run.toml")).unwrap().contains("labels = \"letters\""));
    assert!(fs::read_to_string(run.join("schema.toml")).unwrap().contains("classes = [\"10\", \"11\"]"));
    ok(clue().arg("rank").arg(&run).args(["--top", "1"]));
}

#[test]
fn a_file_that_is_there_is_named_for_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scores");
    for (bytes, part) in [
        (&b"%PDF-1.4"[..], "is a PDF document; save its table as .csv"),
        (b"\x89PNG\r\n", "is a PNG image; put images into one subfolder for each class"),
        (b"\x01\x02\0\0", "holds binary data"),
        (b"", "is empty"),
    ] {
        fs::write(&file, bytes).unwrap();
        let (_, message) = fails(&mut train(&file, &folder.path().join("run"), &["--target", "y"]));
        assert!(message.contains(part) && message.contains("scores"), "{message}");
    }
    let (_, message) = fails(&mut train(folder.path(), &folder.path().join("run"), &[]));
    assert!(message.contains("holds 0 subfolders with PNG images"), "{message}");
}
