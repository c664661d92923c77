//! What is damaged is refused by name.

use super::copies::{Array, Damaged, Named, names_in};
use super::*;

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
    let emptied = Damaged::copy("mixed");
    fs::remove_file(emptied.folder.path().join("run.toml")).unwrap();
    assert_says(&emptied.problem("predictor"), &["is no run", "run.toml", "train a run"]);
    for (file, model) in
        [("schema.toml", "predictor"), ("predictor.safetensors", "predictor"), ("generative.safetensors", "generative")]
    {
        let damaged = Damaged::copy("mixed");
        fs::remove_file(damaged.folder.path().join(file)).unwrap();
        assert_says(&damaged.problem(model), &["cannot read", file]);
    }
    let nowhere = RunFolder::at(reference("nowhere")).schema().unwrap_err().to_string();
    assert_says(&nowhere, &["nowhere", "is not there", "train a run"]);
}
