//! `clue train`, `rank` and `measure` end to end: what they promise about bytes, threads, interruption and output.

use crate::common::{clue, fails, files_of, interrupted, json, ok, small, train, write_bars, write_heat};
use std::path::Path;

#[test]
fn one_thread_and_two_write_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let runs = ["1", "2"].map(|threads| {
        let run = folder.path().join(threads);
        // Batches of several shards, so that there is something to share out.
        let settings = ["generative.fit.batch=300", "predictor.fit.batch=300", "generative.latent=2"];
        ok(train(&run, &settings).args(["--threads", threads]));
        files_of(&run)
    });
    assert_eq!(runs[0].keys().collect::<Vec<_>>(), runs[1].keys().collect::<Vec<_>>());
    assert!(runs[0] == runs[1], "the two runs differ");
}

#[test]
fn another_seed_writes_other_weights() {
    let folder = tempfile::tempdir().unwrap();
    let weights = ["1", "2"].map(|seed| {
        let run = folder.path().join(seed);
        ok(train(&run, &[]).args(["--seed", seed]));
        std::fs::read(run.join("predictor.safetensors")).unwrap()
    });
    assert_ne!(weights[0], weights[1]);
}

#[test]
fn a_run_killed_while_it_was_begun_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    ok(&mut train(&whole, &[]));
    let record = std::fs::read_to_string(whole.join("run.toml")).unwrap();
    let begun = record.split("[hashes]").next().unwrap();
    assert!(begun.len() < record.len(), "a finished run has hashes");
    std::fs::create_dir(&broken).unwrap();
    std::fs::write(broken.join("run.toml"), begun).unwrap();
    ok(train(&broken, &[]).arg("--resume"));
    assert!(files_of(&whole) == files_of(&broken));
}

#[test]
fn a_run_killed_again_and_again_ends_with_the_bytes_of_an_unbroken_one() {
    for kind in ["bayesian", "ensemble", "dropout"] {
        let folder = tempfile::tempdir().unwrap();
        let kind = format!("predictor.kind={kind}");
        let settings = [kind.as_str(), "generative.fit.epochs=30", "predictor.fit.epochs=12", "predictor.samples=8"];
        let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
        ok(&mut train(&whole, &settings));
        let kills = interrupted(&broken, || train(&broken, &settings));
        assert!(kills > 0, "the run was too quick to be killed");
        assert!(files_of(&whole) == files_of(&broken), "{kind}: the bytes differ after {kills} kills");
    }
}

#[test]
fn resuming_with_other_settings_is_refused_and_says_which() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    ok(&mut train(&run, &[]));
    let before = files_of(&run);
    let output = train(&run, &["predictor.samples=3"]).arg("--resume").output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("plan.predictor.samples was 4, now 3") && message.contains("--overwrite"), "{message}");
    assert!(before == files_of(&run), "a refused command changed the run");
}

#[test]
fn a_finished_run_is_not_replaced_by_accident() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    ok(&mut train(&run, &[]));
    let output = train(&run, &[]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("holds a run already") && message.contains("--resume"), "{message}");
    ok(train(&run, &[]).arg("--overwrite"));
}

#[test]
fn every_kind_of_predictor_trains_and_ranks() {
    for (kind, samples) in [("bayesian", 4), ("ensemble", 4), ("dropout", 4), ("plain", 1)] {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        ok(&mut train(&run, &[&format!("predictor.kind={kind}"), "predictor.fit.epochs=20"]));
        let health = json(clue().arg("measure").arg(&run).arg("--json"));
        assert_eq!(health["predictor"]["samples"], samples, "{kind}");
        assert!(health["predictor"]["error"].as_f64().unwrap() < 0.2, "{kind}: {health}");
        assert!(health["generative"]["elbo"].as_f64().unwrap().is_finite());
        let ranking = json(clue().arg("rank").arg(&run).args(["--top", "7", "--json"]));
        let inputs = ranking["inputs"].as_array().unwrap();
        let total = |i: usize| inputs[i]["uncertainty"]["total"].as_f64().unwrap();
        assert_eq!(inputs.len(), 7);
        assert!((1..7).all(|i| total(i) <= total(i - 1)), "{kind}: not ranked");
        for input in inputs {
            let amounts = &input["uncertainty"];
            let parts = amounts["aleatoric"].as_f64().unwrap() + amounts["epistemic"].as_f64().unwrap();
            assert!((amounts["total"].as_f64().unwrap() - parts).abs() < 1e-5);
            assert_eq!(input["probabilities"].as_array().unwrap().len(), 2);
        }
    }
}

#[test]
fn a_table_of_ones_own_is_trained_and_its_schema_can_be_edited() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("loans.csv");
    let rows = (0..300).map(|i| {
        let (age, income) = (20 + i * 7 % 50, 1000 + i * 37 % 4000);
        let job = ["clerk", "nurse", "smith"][i % 3];
        let default = if (age * 60 + income) % 5000 < 2500 { "yes" } else { "no" };
        format!("{age},{income},{job},{default}\n")
    });
    std::fs::write(&csv, "age,income,job,default\n".to_owned() + &rows.collect::<String>()).unwrap();
    let train = |run: &Path| {
        let mut command = clue();
        command.arg("train").arg(&csv).args(["--target", "default", "--out"]).arg(run).args(small(&[]));
        command
    };
    let run = folder.path().join("run");
    ok(&mut train(&run));
    let schema = std::fs::read_to_string(run.join("schema.toml")).unwrap();
    assert!(schema.contains("kind = \"categorical\"") && schema.contains("\"smith\""), "{schema}");
    // `income` gets a unit, and another run uses that schema.
    let edited = folder.path().join("schema.toml");
    std::fs::write(&edited, schema.replacen("name = \"income\"", "name = \"income\"\nunit = \"EUR\"", 1)).unwrap();
    let second = folder.path().join("second");
    ok(train(&second).arg("--schema").arg(&edited));
    assert!(std::fs::read_to_string(second.join("schema.toml")).unwrap().contains("unit = \"EUR\""));
    ok(clue().arg("rank").arg(&second));
}

#[test]
fn a_regression_reports_errors_in_the_targets_unit() {
    let folder = tempfile::tempdir().unwrap();
    write_heat(folder.path());
    let csv = folder.path().join("heat.csv");
    let run = folder.path().join("run");
    let settings = ["predictor.kind=ensemble", "predictor.fit.epochs=60"];
    ok(clue().arg("train").arg(&csv).args(["--target", "heat", "--out"]).arg(&run).args(small(&settings)));
    let health = json(clue().arg("measure").arg(&run).arg("--json"));
    // The noise is uniform in ±20: its deviation is 11.5, and 1000 ± 300 are the values.
    let rmse = health["predictor"]["rmse"].as_f64().unwrap();
    assert!((9.0..40.0).contains(&rmse), "{health}");
    assert_eq!(health["predictor"]["coverage"].as_array().unwrap().len(), 4);
    assert!(run.join("measure/coverage.svg").exists());
    let ranking = json(clue().arg("rank").arg(&run).args(["--top", "1", "--json"]));
    let label = ranking["inputs"][0]["label"].as_f64().unwrap();
    assert!((900.0..2200.0).contains(&label), "{ranking}");
}

#[test]
fn images_train_a_convolutional_vae() {
    let folder = tempfile::tempdir().unwrap();
    write_bars(folder.path());
    let run = folder.path().join("run");
    let settings = ["generative.architecture=convolution", "generative.channels=[4, 8]", "predictor.kind=plain"];
    ok(clue()
        .arg("train")
        .arg(folder.path().join("images.npy"))
        .arg("--target")
        .arg("labels.npy")
        .arg("--out")
        .arg(&run)
        .args(small(&settings)));
    let health = json(clue().arg("measure").arg(&run).arg("--json"));
    assert!(health["generative"]["elbo"].as_f64().unwrap().is_finite(), "{health}");
}

#[test]
fn the_demo_explains_with_every_method_and_writes_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let demo = || ok(clue().args(["demo", "--quick", "--quiet", "--out"]).arg(folder.path().join("demo")));
    let output = demo();
    let path = folder.path().join("demo/report.html");
    let page = std::fs::read_to_string(&path).unwrap();
    for method in ["CLUE", "δ-CLUE", "∇-CLUE", "GLAM-CLUE"] {
        assert!(output.contains(&format!("\n{method}")), "{method}: {output}");
        assert!(page.contains(&format!("<h3>{method}</h3>")), "{method}");
    }
    assert!(page.matches("svg+xml").count() >= 3 * 3, "a picture of each letter by each search");
    crate::common::browser::check(&path, 8);
}

/// 400 rows whose class has nothing to do with them: half are `yes`, which count nine times, or as `share` says.
fn coins(rare: usize) -> String {
    let row = |i: usize| {
        let class = if i.is_multiple_of(rare) { "yes" } else { "no" };
        format!("{},{},{class}\n", i * 7 % 40, if class == "yes" { 9 } else { 1 })
    };
    "age,people,votes\n".to_owned() + &(0..400).map(row).collect::<String>()
}

/// The mean over some rows of the probability of the second class, `yes`.
fn mean_probability(place: &Path, table: &str, more: &[&str]) -> (f64, String) {
    std::fs::write(place.join("coins.csv"), table).unwrap();
    let mut train = clue();
    train.current_dir(place).args(["train", "coins.csv", "--target", "votes", "--out", "run", "--overwrite"]);
    let notes = String::from_utf8(train.args(more).args(small(&[])).output().unwrap().stderr).unwrap();
    let ranked = json(clue().current_dir(place).args(["rank", "run", "--json", "--top", "20"]));
    let of_yes = ranked["inputs"].as_array().unwrap().iter().map(|input| input["probabilities"][1].as_f64().unwrap());
    let all: Vec<f64> = of_yes.collect();
    (all.iter().sum::<f64>() / all.len() as f64, notes)
}

#[test]
fn rows_count_as_much_as_their_weight_says_and_rare_classes_as_much_as_the_plan_says() {
    let place = tempfile::tempdir().unwrap();
    let weighted = ["--weight", "people"];
    let balanced = ["--drop", "people", "--set", "predictor.class_weights=balanced"];
    let (plain, _) = mean_probability(place.path(), &coins(2), &["--drop", "people"]);
    let (heavy, _) = mean_probability(place.path(), &coins(2), &weighted);
    assert!((plain - 0.5).abs() < 0.15 && heavy > 0.75, "{plain} and {heavy}, where 9 / 10 is right");
    let schema = std::fs::read_to_string(place.path().join("run/schema.toml")).unwrap();
    assert!(!schema.contains("people"), "{schema}");
    let (rare, notes) = mean_probability(place.path(), &coins(25), &["--drop", "people"]);
    let (raised, _) = mean_probability(place.path(), &coins(25), &balanced);
    assert!(rare < 0.2 && raised > 0.3, "{rare} and {raised}, where 1 / 25 and 1 / 2 are right");
    assert!(notes.contains("class `yes` has 14 of 360 training rows"), "{notes}");
}

#[test]
fn weights_that_are_none_are_named() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("coins.csv"), coins(2).replace("7,1,no", "7,-1,no")).unwrap();
    let train = |more: &[&str]| {
        let mut command = clue();
        command.current_dir(place.path()).args(["train", "coins.csv", "--target", "votes", "--out", "run"]).args(more);
        fails(&mut command).1
    };
    let message = train(&["--weight", "people"]);
    assert!(message.contains("rows cannot be used: line 3, column `people`: `-1` is no weight"), "{message}");
    let message = train(&["--weight", "votes"]);
    assert!(message.contains("`votes` is the column to predict"), "{message}");
}
