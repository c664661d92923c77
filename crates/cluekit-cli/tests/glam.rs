//! `clue glam` as a user runs it, on two moons and on a small table.

mod refusals;

use crate::common::{clue, fails, files_of, json, ok, small, train, write_bars, write_heat};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Models that are good enough to be certain of most rows.
const MODELS: [&str; 3] = ["generative.fit.epochs=40", "predictor.fit.epochs=60", "predictor.kind=ensemble"];

/// Settings of a neural mapper that trains in a moment.
const NEURAL: &str = "width = 16\ndepth = 1\nmixtures = 500\n\n[fit]\nepochs = 5\nbatch = 64\nlearning_rate = 0.01\n\
                      weight_decay = 0.0\npatience = 0\n";

/// A folder with a trained run in it.
struct Place {
    folder: TempDir,
    run: PathBuf,
}

impl Place {
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// `clue glam COMMAND RUN …`.
    fn glam(&self, command: &str, arguments: &[&str]) -> Command {
        let mut glam = clue();
        glam.args(["glam", command]).arg(&self.run).args(arguments);
        glam
    }

    /// Fits a mapper and returns the document about it.
    fn fit(&self, arguments: &[&str]) -> Value {
        json(self.glam("fit", arguments).arg("--json"))
    }

    /// The document of `glam apply`, with or without an accepted clue for each input.
    fn apply(&self, arguments: &[&str]) -> Value {
        serde_json::from_slice(&self.apply_bytes(arguments)).unwrap()
    }

    fn apply_bytes(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.glam("apply", arguments).arg("--json").output().unwrap();
        let code = output.status.code().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(code == 0 || code == 3, "{arguments:?} ended with {code}: {message}");
        output.stdout
    }
}

fn moons() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("moons");
    ok(&mut train(&run, &MODELS));
    Place { folder, run }
}

/// 400 loans: default follows from income and debt; young people's jobs are few.
fn loans() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("loans");
    let mut text = String::from("age,income,debt,job,default\n");
    let mut state = 1u64;
    let mut draw = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    for _ in 0..400 {
        let (age, income, debt, job) = (20 + draw(50), 1000 + draw(4000), draw(3000), draw(3));
        let risk = debt as i64 - income as i64 / 2 + draw(800) as i64 - 400;
        let (job, outcome) = (["clerk", "nurse", "judge"][job as usize], if risk > 0 { "yes" } else { "no" });
        text += &format!("{age},{income},{debt},{job},{outcome}\n");
    }
    let table = folder.path().join("loans.csv");
    fs::write(&table, text).unwrap();
    ok(clue().arg("train").arg(table).args(["--target", "default", "--out"]).arg(&run).args(small(&MODELS)));
    Place { folder, run }
}

fn explanations(document: &Value) -> &Vec<Value> {
    document["explanations"].as_array().unwrap()
}

fn clues(document: &Value) -> Vec<&Value> {
    explanations(document).iter().flat_map(|explanation| explanation["clues"].as_array().unwrap()).collect()
}

fn strings<'a>(rows: &'a Value, field: &str) -> Vec<&'a str> {
    rows.as_array().unwrap().iter().map(|row| row[field].as_str().unwrap()).collect()
}

/// Runs a command that must fail with this code and with one line that holds all these parts.
fn refused(command: &mut Command, code: i32, parts: &[&str]) {
    let (ended, message) = fails(command.arg("-q"));
    assert_eq!(ended, code, "{command:?}: {message}");
    assert_eq!(message.lines().count(), 1, "{command:?}: {message}");
    for part in parts {
        assert!(message.contains(part), "{command:?}: `{part}` is not in: {message}");
    }
}

#[test]
fn a_translation_is_fitted_once_and_applied_in_one_call() {
    let place = moons();
    let fitted = place.fit(&[]);
    assert_eq!(
        (&fitted["name"], &fitted["method"], &fitted["learn_from"]),
        (&"glam".into(), &"glam".into(), &"data".into())
    );
    assert_eq!(strings(&fitted["groups"], "name"), ["upper → upper", "lower → lower"]);
    for group in fitted["groups"].as_array().unwrap() {
        assert!(group["uncertain"].as_u64() > Some(0) && group["certain"].as_u64() > Some(0), "{group}");
        assert!(group["lambda_theta"].as_f64() > Some(0.0) && group["length"].as_f64() > Some(0.0), "{group}");
        assert!(group["uncertain_above"].as_f64() > group["certain_below"].as_f64(), "{group}");
    }
    let file = place.run.join("mappers/glam.safetensors");
    assert_eq!(fitted["file"], file.to_str().unwrap());
    let (saved, all) = (fs::read(&file).unwrap(), files_of(&place.run));
    for threads in ["1", "2"] {
        place.fit(&["--threads", threads]);
        assert!(fs::read(&file).unwrap() == saved, "{threads} threads save something else");
    }

    let document = place.apply(&["--top", "6", "--seed", "7"]);
    assert_eq!((&document["method"], &document["seed"]), (&"glam".into(), &7.into()));
    assert_eq!(document["settings"]["steps"], 0);
    assert_eq!(explanations(&document).len(), 6);
    for explanation in explanations(&document) {
        for field in ["index", "label", "target", "uncertainty", "probabilities", "x", "z"] {
            assert!(!explanation["input"][field].is_null(), "input.{field}");
        }
        let clues = explanation["clues"].as_array().unwrap();
        assert_eq!(clues.len(), 2, "one for each class");
        assert!(clues[0]["cost"].as_f64() <= clues[1]["cost"].as_f64(), "the cheapest comes first");
        let mut mappers = strings(&explanation["clues"], "mapper");
        mappers.sort_unstable();
        assert_eq!(mappers, ["glam lower → lower", "glam upper → upper"]);
    }
    for clue in clues(&document) {
        for field in ["label", "uncertainty", "probabilities", "distance", "cost", "stopped", "accepted", "x", "z"] {
            assert!(!clue[field].is_null(), "clue.{field}");
        }
        assert_eq!((&clue["steps"], clue["accepted"] == true), (&0.into(), clue["reason"].is_null()));
        assert!(clue["plausibility"]["reconstruction"].is_number());
        let number = |a: &str, b: &str| clue[a][b].as_f64().unwrap();
        let cost = number("uncertainty", "total") + 0.03 * number("distance", "input");
        assert!((clue["cost"].as_f64().unwrap() - cost).abs() < 1e-5, "cost = H + 0.03 d");
    }
    let bytes = |threads: &str| place.apply_bytes(&["--top", "20", "--threads", threads]);
    let one = bytes("1");
    assert!(one == bytes("1") && one == bytes("2"), "the same call prints the same bytes");
    assert!(files_of(&place.run) == all, "applying leaves the run as it was");
}

#[test]
fn every_mapper_and_baseline_can_be_applied() {
    let place = moons();
    let neural = place.file("neural.toml", NEURAL);
    place.fit(&[]);
    place.fit(&["--learn-from", "clues", "--name", "glam-3"]);
    place.fit(&["--mapper", "scaled", "--scheme", "between", "--lambda-theta", "0.1"]);
    place.fit(&["--mapper", "affine", "--scheme", "any"]);
    let clusters = place.fit(&["--mapper", "clusters", "--clusters", "2", "--from", "upper", "--to", "lower"]);
    assert_eq!(strings(&clusters["groups"], "name"), ["upper → lower"]);
    assert!((1..=2).contains(&clusters["groups"][0]["clusters"].as_u64().unwrap()));
    let network = place.fit(&["--mapper", "neural", "--neural", &neural]);
    assert_eq!(strings(&network["groups"], "name"), ["* → upper", "* → lower"]);
    let expected = [
        // The same whatever class is asked for.
        ("reconstruction", 1),
        ("input-dbm", 2),
        ("latent-dbm", 2),
        ("input-nn", 2),
        ("latent-nn", 2),
        ("glam", 2),
        ("glam-3", 2),
        // Eight lengths for each pair.
        ("scaled", 16),
        ("affine", 1),
        ("clusters", 1),
        ("neural", 2),
    ];
    for (method, count) in expected {
        let document = place.apply(&["--method", method, "--top", "2"]);
        assert_eq!(clues(&document).len(), 2 * count, "{method}");
        assert!(clues(&document).iter().all(|clue| clue["mapper"].as_str().unwrap().starts_with(method)));
    }
    let best = place.apply(&["--method", "best", "--top", "2"]);
    let counts: usize = expected.iter().map(|(_, count)| count).sum();
    assert_eq!(clues(&best).len(), 2 * counts);
    for explanation in explanations(&best) {
        let costs: Vec<f64> =
            explanation["clues"].as_array().unwrap().iter().map(|clue| clue["cost"].as_f64().unwrap()).collect();
        assert!(costs.is_sorted(), "{costs:?}");
    }
    let own = place.apply(&["--own-class", "--top", "3"]);
    for explanation in explanations(&own) {
        let class = ["upper", "lower"][explanation["input"]["target"].as_u64().unwrap() as usize];
        assert_eq!(strings(&explanation["clues"], "mapper"), [format!("glam {class} → {class}")]);
    }
    let towards = place.apply(&["--towards", "lower", "--top", "3"]);
    assert!(clues(&towards).iter().all(|clue| clue["mapper"] == "glam lower → lower"));
    let cost = |document: &Value| clues(document).iter().map(|clue| clue["cost"].as_f64().unwrap()).sum::<f64>();
    let refined = place.apply(&["--refine", "5", "--own-class", "--top", "3"]);
    assert!(cost(&refined) <= cost(&own) && clues(&refined).iter().all(|clue| clue["steps"] == 5));
}

#[test]
fn an_input_without_an_accepted_counterfactual_gets_advice_and_exit_code_3() {
    let place = moons();
    place.fit(&["--from", "upper"]);
    let output = place.glam("apply", &["--top", "2", "--threshold", "1e-9"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("try --refine 5"), "{text}");
    let output = place.glam("apply", &["--top", "1", "--towards", "lower"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("no mapper serves this input"), "{text}");
}

#[test]
fn a_global_explanation_is_shown_with_what_it_reaches() {
    let place = moons();
    place.fit(&["--uncertain-above", "80%"]);
    let document = json(place.glam("show", &[]).arg("--json"));
    assert_eq!((&document["method"], document["threshold"].is_number()), (&"glam".into(), true));
    assert_eq!(strings(&document["groups"], "name"), ["upper → upper", "lower → lower"]);
    for group in document["groups"].as_array().unwrap() {
        let reach = &group["reach"];
        assert!(reach["inputs"].as_u64() > Some(0), "{group}");
        for figure in ["before", "after", "distance", "certain", "class_kept"] {
            let number = |field: &str| reach[figure][field].as_f64().unwrap();
            assert!(number("low") <= number("mean") && number("mean") <= number("high"), "{figure}: {reach}");
        }
        assert!(reach["before"]["mean"].as_f64() > group["uncertain_above"].as_f64());
        assert!(!group["changes"].as_array().unwrap().is_empty());
    }
    let text = ok(&mut place.glam("show", &["--class", "lower"]));
    assert!(text.starts_with("lower → lower\n") && !text.contains("upper → upper"), "{text}");
    for part in ["held-out inputs", "become certain", "have the class that was asked for", "x1", "x2"] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    let out = place.folder.path().join("global");
    let shown = ok(place.glam("show", &["--out"]).arg(&out));
    assert_eq!(fs::read_to_string(out.join("global.txt")).unwrap(), shown);
    let written: Value = serde_json::from_slice(&fs::read(out.join("global.json")).unwrap()).unwrap();
    assert_eq!(written, document);
}

#[test]
fn methods_are_compared_on_the_same_inputs() {
    let place = moons();
    let neural = place.file("neural.toml", NEURAL);
    place.fit(&["--mapper", "neural", "--neural", &neural]);
    let options = ["--uncertain-above", "0.2", "--top", "10"];
    let document = json(place.glam("compare", &options).arg("--json"));
    assert!((document["uncertain_above"].as_f64().unwrap() - 0.2).abs() < 1e-6);
    let mut methods = strings(&document["rows"], "method");
    methods.retain(|method| *method != "neural-same-class");
    let promised = "original reconstruction input-dbm latent-dbm input-nn latent-nn glam-1 glam-2 glam-3 clusters scaled \
                    affine neural neural-refined best clue-1 clue-2";
    assert_eq!(methods.join(" "), promised);
    let rows = document["rows"].as_array().unwrap();
    for row in rows {
        assert_eq!(row["inputs"], rows[0]["inputs"], "{row}");
        let number = |field: &str| row[field].as_f64().unwrap();
        assert!((number("cost") - number("uncertainty") - 0.03 * number("distance")).abs() < 1e-4, "{row}");
        for share in ["class_kept", "certain"] {
            assert!((0.0..=1.0).contains(&number(share)), "{row}");
        }
        assert!(number("seconds_each") > 0.0);
    }
    let cost = |method: &str| rows.iter().find(|row| row["method"] == method).unwrap()["cost"].as_f64().unwrap();
    assert!(rows[0]["uncertainty"].as_f64() > Some(0.2) && rows[0]["distance"].as_f64() == Some(0.0));
    for mapper in ["reconstruction", "input-nn", "glam-1", "glam-3", "clusters", "scaled", "affine", "neural"] {
        assert!(cost("best") <= cost(mapper) + 1e-6, "{mapper}");
    }
    assert!(cost("neural-refined") <= cost("neural") + 1e-4 && cost("clue-2") <= cost("reconstruction") + 1e-4);
    // The second time everything is in the run already.
    let out = place.folder.path().join("compared");
    let only = ["--only", "original,glam-3,clue-2", "--out", out.to_str().unwrap()];
    let text = ok(&mut place.glam("compare", &[&options[..], &only].concat()));
    let again: Value = serde_json::from_slice(&fs::read(out.join("compared.json")).unwrap()).unwrap();
    assert_eq!(strings(&again["rows"], "method"), ["original", "glam-3", "clue-2"]);
    assert_eq!(again["rows"][1]["cost"].as_f64(), Some(cost("glam-3")));
    assert_eq!(fs::read_to_string(out.join("compared.txt")).unwrap(), text);
    assert!(fs::read_to_string(out.join("compared.svg")).unwrap().starts_with("<svg"));
}

#[test]
fn groups_of_a_table_have_conditions() {
    let place = loans();
    let young = place.fit(&[
        "--where",
        "age < 40 and job in {clerk, nurse}",
        "--name",
        "young",
        "--uncertain-above",
        "50%",
        "--scheme",
        "any",
    ]);
    let name = young["groups"][0]["name"].as_str().unwrap().to_owned();
    assert!(name.contains("age < 40") && name.contains(" → "), "{name}");
    let document = place.apply(&["--method", "young", "--split", "train", "--top", "40"]);
    let served: Vec<bool> =
        explanations(&document).iter().map(|e| !e["clues"].as_array().unwrap().is_empty()).collect();
    assert!(served.contains(&true) && served.contains(&false), "only the young are served: {served:?}");
    let jobs = place.fit(&["--by", "job", "--name", "jobs"]);
    assert_eq!(jobs["groups"].as_array().unwrap().len(), 3, "{jobs}");
    assert!(clues(&place.apply(&["--method", "jobs", "--top", "5"])).len() == 5, "every row has one job");
    let quarters = place.fit(&["--by", "income", "--name", "quarters"]);
    assert_eq!(quarters["groups"].as_array().unwrap().len(), 4, "{quarters}");
    let text = ok(&mut place.glam("show", &["--method", "young"]));
    assert!(text.contains("what changes, on average") && text.contains("income"), "{text}");
}

#[test]
fn images_have_pictures_of_what_changes() {
    let folder = tempfile::tempdir().unwrap();
    write_bars(folder.path());
    let run = folder.path().join("bars");
    let (images, settings) = (folder.path().join("images.npy"), small(&MODELS));
    ok(clue().arg("train").arg(images).args(["--target", "labels.npy", "--out"]).arg(&run).args(settings));
    let place = Place { folder, run };
    place.fit(&["--uncertain-above", "50%"]);
    let out = place.folder.path().join("global");
    let text = ok(place.glam("show", &["--out"]).arg(&out));
    assert!(text.contains("held-out inputs") && !text.contains("what changes, on average"), "{text}");
    let picture = fs::read_to_string(out.join("group-0.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("<image"), "{picture}");
    let applied = place.folder.path().join("applied");
    place.apply(&["--top", "2", "--out", applied.to_str().unwrap()]);
    let strips = files_of(&applied).keys().filter(|name| name.ends_with(".svg")).count();
    assert!(strips >= 2, "{:?}", files_of(&applied).keys());
}

#[test]
fn a_regression_has_mappers_without_classes() {
    let folder = tempfile::tempdir().unwrap();
    write_heat(folder.path());
    let run = folder.path().join("heat");
    let (table, settings) = (folder.path().join("heat.csv"), small(&MODELS));
    ok(clue().arg("train").arg(table).args(["--target", "heat", "--out"]).arg(&run).args(settings));
    let place = Place { folder, run };
    let neural = place.file("neural.toml", NEURAL);
    for arguments in [&[][..], &["--mapper", "neural", "--neural", &neural]] {
        let fitted = place.fit(arguments);
        assert_eq!(strings(&fitted["groups"], "name"), ["* → *"]);
        let document = place.apply(&["--method", fitted["name"].as_str().unwrap(), "--top", "3"]);
        assert_eq!(clues(&document).len(), 3);
        // A label is a value in the target's unit.
        assert!(clues(&document).iter().all(|clue| clue["label"].as_f64() > Some(500.0)), "{document}");
    }
    let shown = ok(&mut place.glam("show", &[]));
    assert!(shown.contains("become certain") && shown.contains("what changes, on average"), "{shown}");
    let only = ["--only", "reconstruction,glam-1,neural,best,clue-2", "--uncertain-above", "0", "--top", "10"];
    let document = json(place.glam("compare", &only).arg("--json"));
    assert_eq!(strings(&document["rows"], "method"), ["reconstruction", "glam-1", "neural", "best", "clue-2"]);
    // The cost has the standard deviation in deviations of the target, which is 290 or so, as the searches have it.
    let number = |row: usize, field: &str| document["rows"][row][field].as_f64().unwrap();
    for row in 0..5 {
        let of_distance = 0.03 * number(row, "distance");
        let deviation = number(row, "uncertainty") / (number(row, "cost") - of_distance);
        assert!((250.0..330.0).contains(&deviation), "{}: {deviation}", document["rows"][row]);
        assert!(row == 4 || number(3, "cost") <= number(row, "cost") + 1e-6, "the best costs least");
    }
}

#[test]
fn a_comparison_leaves_saved_mappers_alone_unless_it_is_told_to_fit_them_again() {
    let place = moons();
    let options = ["--only", "glam-1", "--uncertain-above", "0.2", "--top", "5"];
    let compare = |more: &[&str]| ok(&mut place.glam("compare", &[&options[..], more].concat()));
    let saved = || fs::read(place.run.join("mappers/glam-1.safetensors")).unwrap();
    compare(&[]);
    let first = saved();
    // Another cost needs another mapper, which is not that of the name.
    for other in [&["--lambda-x", "0.3"][..], &["--distance", "l2"], &["--anchored"], &["--threshold", "0.1"]] {
        compare(other);
        assert!(saved() == first, "{other:?}");
    }
    compare(&["--distance", "l2", "--refit"]);
    assert!(saved() != first);
    fs::write(place.run.join("mappers/glam-1.safetensors"), "nothing").unwrap();
    refused(&mut place.glam("compare", &options), 1, &["--refit replaces it", "glam-1.safetensors"]);
    compare(&["--refit"]);
    assert!(saved() == first, "the same settings make the same file");
    // Without a weight on the distance only the network has nothing to learn.
    let free = ["--only", "reconstruction,glam-2,clue-1", "--lambda-x", "0", "--uncertain-above", "0.2", "--top", "5"];
    ok(&mut place.glam("compare", &free));
}

#[test]
fn a_neural_mapper_is_asked_for_the_cost_that_it_has_learned() {
    let place = moons();
    let neural = place.file("neural.toml", NEURAL);
    place.fit(&["--mapper", "neural", "--neural", &neural]);
    let said = |lambda_x: &str| {
        let apply = ["--method", "neural", "--top", "1", "--lambda-x", lambda_x];
        String::from_utf8(place.glam("apply", &apply).output().unwrap().stderr).unwrap()
    };
    assert!(!said("0.2").contains("neural learned"), "0.2 lies between 0.003 and 0.3");
    assert!(
        said("0.5").contains("neural learned λ_x between 0.03 / 10 and 0.03 · 10; it maps as at"),
        "{}",
        said("0.5")
    );
    refused(
        &mut place.glam("apply", &["--method", "neural", "--distance", "l2"]),
        2,
        &["setting `distance`: the neural mapper was trained for `l1` and cannot map for `l2`; ask for l1"],
    );
    let anchored = ["leave out --anchored"];
    refused(&mut place.glam("apply", &["--method", "neural", "--anchored"]), 2, &anchored);
    refused(&mut place.glam("fit", &["--mapper", "neural", "--anchored"]), 2, &anchored);
    // The others go on.
    place.fit(&["--learn-from", "clues", "--anchored"]);
    let best = place.apply(&["--method", "best", "--anchored", "--top", "2"]);
    assert!(clues(&best).iter().any(|clue| clue["mapper"].as_str().unwrap().starts_with("glam")));
    assert!(!clues(&best).iter().any(|clue| clue["mapper"].as_str().unwrap().starts_with("neural")));
    let methods = ["--anchored", "--uncertain-above", "0.2", "--top", "5", "--only", "glam-1,neural,best"];
    let compared = json(place.glam("compare", &methods).arg("--json"));
    assert_eq!(strings(&compared["rows"], "method"), ["glam-1", "best"]);
}

#[test]
fn constraints_hold_for_what_a_group_becomes_and_are_unknown_to_what_it_learns() {
    let place = loans();
    place.fit(&["--uncertain-above", "50%"]);
    let debts = |options: &[&str]| -> Vec<f64> {
        let shown = json(place.glam("show", options).arg("--json"));
        let changes = shown["groups"].as_array().unwrap().iter().flat_map(|group| group["changes"].as_array().unwrap());
        changes.filter(|shift| shift["feature"] == "debt").map(|shift| shift["change"].as_f64().unwrap()).collect()
    };
    let [free, held] = ["age", "debt"].map(|feature| debts(&["--immutable", feature]));
    assert!(free.iter().any(|change| change.abs() > 1.0), "otherwise nothing would be held: {free:?}");
    assert!(held.len() == free.len() && held.iter().all(|change| change.abs() < 1e-3), "{held:?}");
    // Most rows contradict this: they may not change, and must.
    let schema = place.run.join("schema.toml");
    let constraints = "\n[constraints]\nimmutable = [\"age\"]\n\n[constraints.ranges]\nage = [20.0, 21.0]\n";
    let mut text = fs::read_to_string(&schema).unwrap();
    let old = text.find("[constraints]").map_or(text.len(), |at| at);
    text.truncate(old);
    fs::write(&schema, text + constraints).unwrap();
    let record = place.run.join("run.toml");
    let kept: Vec<String> = fs::read_to_string(&record)
        .unwrap()
        .lines()
        .filter(|line| !line.starts_with("\"schema.toml\""))
        .map(String::from)
        .collect();
    fs::write(&record, kept.join("\n")).unwrap();
    place.fit(&["--uncertain-above", "50%"]);
    let text = ok(&mut place.glam("show", &[]));
    assert!(text.contains("cannot meet the constraints)") || text.contains("can meet the constraints"), "{text}");
    ok(&mut place.glam("compare", &["--only", "glam-1,clue-2", "--uncertain-above", "0.1", "--top", "5"]));
    let applied = place.glam("apply", &["--top", "40", "--split", "train", "-q"]).output().unwrap();
    let text = String::from_utf8(applied.stdout).unwrap();
    assert_eq!(applied.status.code(), Some(3), "{text}");
    let left_out = text.lines().filter(|line| line.contains("left out") && line.contains("age")).count();
    assert!(left_out > 20, "{left_out} of 40 rows say that `age` is in the way: {text}");
}

#[test]
fn the_certain_side_of_clues_satisfies_its_condition_too() {
    let place = loans();
    let notes_of = |condition: &str, name: &str| {
        let options = ["--scheme", "any", "--uncertain-above", "50%", "--learn-from", "clues", "--name", name];
        place.fit(&[&options[..], &["--to-where", condition, "--threshold", "0.6"]].concat())["groups"][0]["notes"]
            .to_string()
    };
    let (some, none) = (notes_of("income > 1200", "some"), notes_of("age > 68", "none"));
    assert!(!some.contains("no CLUE"), "{some}");
    assert!(none.contains("no CLUE of an uncertain row serves"), "{none}");
}

#[test]
fn a_mapper_to_another_class_is_chosen_by_whether_it_gets_there() {
    let place = moons();
    place.fit(&["--scheme", "between"]);
    let shown = json(place.glam("show", &[]).arg("--json"));
    for group in shown["groups"].as_array().unwrap() {
        let arrived = group["reach"]["class_kept"]["mean"].as_f64().unwrap();
        assert!(arrived > 0.5, "{group}");
    }
}

#[test]
fn at_most_so_many_features_change() {
    let place = loans();
    place.fit(&["--uncertain-above", "50%"]);
    for method in ["glam", "input-nn"] {
        let document = place.apply(&["--method", method, "--most-changed", "1", "--top", "5"]);
        for clue in clues(&document) {
            assert!(clue["changes"].as_array().unwrap().len() <= 1, "{method}: {clue}");
        }
    }
}
