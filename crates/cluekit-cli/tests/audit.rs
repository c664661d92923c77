//! `clue audit` and `clue report` as a user runs them, and their pages as a browser shows them.

use crate::common::browser::check;
use crate::common::{clue, fails, ok, small, train, write_bars, write_heat};
use cluekit::testing::real_data;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Models that are good enough to be certain of some rows.
const MODELS: [&str; 3] = ["generative.fit.epochs=20", "predictor.fit.epochs=30", "predictor.kind=ensemble"];
/// Names that would be markup, or the end of a script, if they were not escaped.
const HOSTILE: [&str; 3] =
    ["</script><script>boom()</script>", "<img src=x onerror=boom()>", "\"' onmouseover=boom() {{ x }}"];

/// A quick audit, with or without an accepted clue for each input.
fn audit(run: &Path, page: &Path, more: &[&str]) -> Value {
    let mut command = clue();
    command.arg("audit").arg(run).arg("--out").arg(page).args(["--quick", "--top", "5"]).args(more);
    done(&mut command);
    serde_json::from_str(&fs::read_to_string(page.with_extension("json")).unwrap()).unwrap()
}

fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{command:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with a run that was made from two kinds of bars.
fn bars() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    write_bars(folder.path());
    let run = folder.path().join("bars");
    let images = folder.path().join("images.npy");
    ok(clue().arg("train").arg(images).args(["--target", "labels.npy", "--out"]).arg(&run).args(small(&MODELS)));
    (folder, run)
}

/// A folder with a run of a table whose columns, categories and classes are hostile.
fn hostile() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let quoted = HOSTILE.map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
    let mut text = format!("{},{},outcome\n", quoted[0], quoted[1]);
    for row in 0..300 {
        let amount = row * 7919 % 1000;
        let unlucky = row * 104_729 % 997 > 700;
        let (kind, class) = (&quoted[row % 3], &quoted[usize::from((amount > 500) != unlucky)]);
        text += &format!("{amount},{kind},{class}\n");
    }
    let (table, run) = (folder.path().join("table.csv"), folder.path().join("run"));
    fs::write(&table, text).unwrap();
    ok(clue().arg("train").arg(table).args(["--target", "outcome", "--out"]).arg(&run).args(small(&MODELS)));
    (folder, run)
}

/// A folder with a run of a table in which most classes, and most categories of `kind`, have one row alone.
fn rare() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "amount,kind,outcome\n".to_owned();
    for row in 0..300 {
        let amount = row * 7919 % 1000;
        let name = |often: bool, kind: &str| if row % 20 == 0 { format!("{kind}{row}") } else { often.to_string() };
        text += &format!("{amount},{},{}\n", name(row % 3 == 0, "kind"), name(amount > 500, "class"));
    }
    let (table, run) = (folder.path().join("table.csv"), folder.path().join("run"));
    fs::write(&table, text).unwrap();
    ok(clue().arg("train").arg(table).args(["--target", "outcome", "--out"]).arg(&run).args(small(&MODELS)));
    (folder, run)
}

#[test]
fn a_class_or_a_category_without_rows_to_learn_from_is_left_out_and_named() {
    let (folder, run) = rare();
    let page = folder.path().join("page.html");
    for (more, name) in [(&[][..], "class"), (&["--by", "kind"], "kind")] {
        let document = audit(&run, &page, more);
        let missing = document["missing"][0].as_str().unwrap();
        assert!(missing.starts_with("Nothing was learned for groups") && missing.contains(name), "{missing}");
        let groups = document["groups"]["groups"].as_array().unwrap();
        assert!(groups.len() > 1 && groups.iter().all(|group| !missing.contains(group["name"].as_str().unwrap())));
        assert!(fs::read_to_string(&page).unwrap().contains("Nothing was learned for groups"));
        assert!(!document["provenance"]["groups"].as_array().unwrap().is_empty());
    }
    check(&page, 5);
}

#[test]
fn an_audit_of_images_is_a_page_that_works_and_the_same_every_time() {
    let (folder, run) = bars();
    let page = |name: &str| folder.path().join(name);
    let document = audit(&run, &page("one.html"), &["--threads", "1"]);
    audit(&run, &page("two.html"), &["--threads", "2"]);
    let read = |name: &str| fs::read(page(name)).unwrap();
    assert!(read("one.html") == read("two.html") && read("one.json") == read("two.json"), "the bytes differ");
    check(&page("one.html"), 5);
    assert_eq!(document["gallery"]["cards"].as_array().unwrap().len(), 5);
    assert!(document["gallery"]["cards"][0]["clues"][0]["difference"].is_string());
    assert_eq!(document["uncertainty"]["tally"]["rows"], document["latent"]["points"].as_array().unwrap().len());
    assert!(document["groups"]["groups"].as_array().unwrap().len() == 2, "a group for each class");
    assert_eq!(document["findings"][1]["numbers"][0]["name"], "share unsure");

    // The page is made from the document alone, beside it and with its name.
    fs::write(page("report.json"), "{\"subject\": \"another audit\"}").unwrap();
    fs::remove_file(page("one.html")).unwrap();
    ok(clue().arg("report").arg(page("one.json")));
    assert!(read("one.html") == read("two.html") && read("report.json").ends_with(b"audit\"}"));
    assert!(!page("report.html").exists());
    ok(clue().arg("report").arg(page("one.json")).arg("--out").arg(page("again/page.html")));
    assert!(read("one.html") == read("again/page.html") && read("one.json") == read("again/page.json"));
    fs::write(run.join("report.json"), read("one.json")).unwrap();
    ok(clue().arg("report").arg(&run));
    assert!(read("one.html") == fs::read(run.join("report.html")).unwrap());
    let text = String::from_utf8(read("one.html")).unwrap();
    assert!(!text.contains(folder.path().to_str().unwrap()), "a page tells nothing of the machine");
}

#[test]
fn hostile_names_stay_text_and_tables_have_groups_of_rows() {
    let (folder, run) = hostile();
    let page = folder.path().join("page.html");
    let document = audit(&run, &page, &["--seed", "3"]);
    let text = fs::read_to_string(&page).unwrap();
    for markup in ["<script>boom", "<img src=x", "onmouseover=boom() {{ x }}\"", "\"' on"] {
        assert!(!text.contains(markup), "{markup}");
    }
    assert!(text.contains("&lt;img src=x"), "the names are shown");
    assert_eq!(text.matches("</script>").count(), 1);
    check(&page, 5);
    let bands = document["uncertainty"]["bands"].as_array().unwrap();
    let rows = document["uncertainty"]["tally"]["rows"].as_u64().unwrap();
    let of_category: u64 =
        bands.iter().filter(|band| band["feature"] == HOSTILE[1]).map(|band| band["rows"].as_u64().unwrap()).sum();
    assert_eq!(of_category, rows, "every row is in one group of the categorical feature");
    assert_eq!(document["provenance"]["seed"], 3);
    let constrained = audit(&run, &page, &["--no-groups", "--immutable", HOSTILE[0]]);
    assert!(constrained["groups"].is_null() && text.len() > 1000);
    let changed =
        constrained["gallery"]["cards"].as_array().unwrap().iter().flat_map(|card| {
            card["clues"].as_array().unwrap().iter().flat_map(|clue| clue["changes"].as_array().unwrap())
        });
    assert!(changed.into_iter().all(|change| change["feature"] != HOSTILE[0]), "what may not change does not");
}

#[test]
fn a_regression_has_intervals_and_neither_classes_nor_right_answers() {
    let folder = tempfile::tempdir().unwrap();
    write_heat(folder.path());
    let (table, run, page) = (folder.path().join("heat.csv"), folder.path().join("run"), folder.path().join("p.html"));
    ok(clue().arg("train").arg(table).args(["--target", "heat", "--out"]).arg(&run).args(small(&MODELS)));
    let document = audit(&run, &page, &[]);
    check(&page, 5);
    assert!(document["trust"]["reliability"].is_null() && document["trust"]["rejection"].is_null());
    assert!(document["trust"]["health"]["predictor"]["coverage"].as_array().unwrap().len() > 2);
    assert!(document["uncertainty"]["classes"].as_array().unwrap().is_empty());
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("Coverage of predictive intervals") && !text.contains("True class"), "{text}");
}

#[test]
fn a_run_without_a_generative_model_says_in_one_line_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (run, page) = (folder.path().join("moons"), folder.path().join("page.html"));
    ok(&mut train(&run, &["predictor.kind=plain"]));
    fs::remove_file(run.join("generative.safetensors")).unwrap();
    let record = fs::read_to_string(run.join("run.toml")).unwrap();
    let kept: Vec<&str> = record.lines().filter(|line| !line.starts_with("\"generative.safetensors\"")).collect();
    fs::write(run.join("run.toml"), kept.join("\n")).unwrap();
    let document = audit(&run, &page, &[]);
    // Clues of a table need none: they are looked for among the columns themselves.
    assert!(document["latent"].is_null() && !document["trust"].is_null());
    let cards = document["gallery"]["cards"].as_array().unwrap();
    assert!(
        !cards.is_empty()
            && cards
                .iter()
                .flat_map(|card| card["clues"].as_array().unwrap())
                .all(|clue| clue["plausibility"].is_null())
    );
    assert_eq!(document["missing"].as_array().unwrap().len(), 1);
    assert!(fs::read_to_string(&page).unwrap().contains("has no generative model"));
    check(&page, cards.len());
    assert_eq!(document["subject"]["samples"], 1);
    assert_eq!(document["findings"][3]["answer"], "Not known", "one network cannot tell kinds of uncertainty apart");
    let (constraints, spaced) = (folder.path().join("few words.toml"), folder.path().join("my run"));
    fs::write(&constraints, "immutable = []").unwrap();
    fs::rename(&run, &spaced).unwrap();
    let mut here = clue();
    here.current_dir(&spaced).args(["audit", ".", "--json", "--data", "elsewhere", "--constraints"]).arg(&constraints);
    let document: Value = serde_json::from_str(&ok(&mut here)).unwrap();
    assert_eq!(document["subject"]["run"], "my run");
    let command = document["provenance"]["command"].as_str().unwrap();
    assert!(command.starts_with("clue audit 'my run' --seed 0 --data DIR "), "{command}");
    assert!(command.contains(" --constraints 'few words.toml'"), "{command}");
}

#[test]
fn finished_explanations_become_a_gallery() {
    let folder = tempfile::tempdir().unwrap();
    let (run, clues) = (folder.path().join("moons"), folder.path().join("clues"));
    ok(&mut train(&run, &[]));
    done(
        clue()
            .arg("explain")
            .arg(&run)
            .args(["--method", "delta", "--count", "3", "--top", "4", "--only-paper", "--out"])
            .arg(&clues),
    );
    let (code, message) = fails(clue().arg("report").arg(&clues));
    assert!(code == 2 && message.contains("`run`"), "{message}");
    ok(clue().arg("report").arg(&clues).arg("--run").arg(&run));
    check(&clues.join("report.html"), 4);
    let text = fs::read_to_string(clues.join("report.html")).unwrap();
    assert!(text.contains("δ-CLUE tried 3 candidates"), "the method by its name");
    assert!(!text.contains("most uncertain inputs"), "nobody said so");
    let explanations = fs::read(clues.join("explanations.json")).unwrap();
    let onto = clues.join("explanations.html");
    let (code, message) =
        fails(clue().arg("report").arg(clues.join("explanations.json")).arg("--run").arg(&run).arg("--out").arg(&onto));
    assert!(
        code == 2 && message.contains("explanations.json") && message.contains("no document of an audit"),
        "{message}"
    );
    assert!(!onto.exists() && explanations == fs::read(clues.join("explanations.json")).unwrap(), "nothing is written");
    let (code, message) = fails(clue().arg("audit").arg(&run).arg("--out").arg(&onto));
    assert!(code == 2 && message.contains("no document of an audit"), "{message}");
}

#[test]
fn an_input_without_a_clue_nearby_is_searched_for_farther_unless_the_user_chose_how_far() {
    let folder = tempfile::tempdir().unwrap();
    let (run, page) = (folder.path().join("moons"), folder.path().join("page.html"));
    ok(&mut train(&run, &[]));
    let document = |more: &[&str]| {
        let document = audit(&run, &page, &[&["--only-paper", "--no-groups", "--threshold", "0.15"], more].concat());
        let wider = "wider.convergence.max_steps";
        let settings = document["provenance"]["search"].as_array().unwrap();
        assert_eq!(settings.iter().any(|setting| setting["key"] == wider), more.is_empty());
        document
    };
    let cards = |document: &Value| document["gallery"]["cards"].as_array().unwrap().clone();
    let widened = |card: &Value| card["widened"].as_u64();
    // These models have to go far.
    let automatic = document(&[]);
    let all = cards(&automatic);
    let total = |card: &Value| card["uncertainty"]["total"].as_f64().unwrap();
    assert!(all.windows(2).all(|pair| total(&pair[0]) >= total(&pair[1])), "the most uncertain input comes first");
    for way in automatic["latent"]["ways"].as_array().unwrap() {
        // A space of two dimensions is drawn as it is: each way stays in the ball of the input that it belongs to.
        let card = all.iter().find(|card| card["index"] == way["index"]).unwrap();
        let delta = card["clues"][0]["delta"].as_f64().unwrap();
        let at = |point: &Value| [0, 1].map(|axis| point[axis].as_f64().unwrap());
        let [x, y] = at(&way["from"]);
        for point in way["through"].as_array().unwrap() {
            let [a, b] = at(point);
            assert!((a - x).hypot(b - y) <= 1.001 * delta, "{way}");
        }
    }
    let far: Vec<Value> = all.into_iter().filter(|card| widened(card).is_some()).collect();
    assert!(far.iter().any(|card| card["explained"] == true), "{far:?}");
    for card in &far {
        assert!(widened(card).unwrap().is_power_of_two() && card["advice"].is_null() == (card["explained"] == true));
        let clue = &card["clues"][0];
        assert!(clue["latent_distance"].as_f64() <= clue["delta"].as_f64().map(|delta| delta * 1.001));
    }
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("it tried again twice as far") && text.contains("No clue was found nearby"));
    check(&page, 5);
    for chosen in [["--delta", "0.05"], ["--delta", "inf"]] {
        assert!(cards(&document(&chosen)).iter().all(|card| widened(card).is_none()), "{chosen:?}");
    }
    // Candidates without a ball start near the input, not all of them upon it.
    let free = cards(&document(&["--delta", "inf", "--steps", "0"]));
    let clues = free[0]["clues"].as_array().unwrap();
    let at = |clue: &Value| clue["latent_distance"].as_f64().unwrap();
    assert!(clues.len() > 1 && clues.iter().all(|clue| at(clue) > 0.0 && at(clue) <= 1.0), "{clues:?}");
}

#[test]
fn what_cannot_be_audited_or_reported_is_said_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("moons");
    ok(&mut train(&run, &[]));
    let refused = |arguments: &[&str]| fails(clue().arg("audit").arg(&run).args(arguments));
    for (arguments, part) in [
        (&["--top", "0"][..], "`top`"),
        (&["--count", "0"], "`count`"),
        (&["--steps", "300000"], "`steps`"),
        (&["--delta", "1..2/3"], "give a radius, `auto` or `inf`"),
        (&["--out", "page.json"], ".html"),
        (&["--mapper", "nothing"], "--mapper"),
        (&["--mapper", "nothing", "--no-groups"], "--mapper"),
        (&["--mapper", "neural"], "glam, clusters, scaled, affine"),
        (&["--by", "nothing"], "nothing"),
        (&["--above", "nan"], "`above`"),
        (&["--above", "inf"], "`above`"),
        (&["--above=-1"], "`above`"),
        (&["--threshold=-1"], "threshold"),
        (&["--out", folder.path().to_str().unwrap()], "is a folder"),
    ] {
        let (code, message) = refused(arguments);
        assert!(code == 2 && message.contains(part), "{arguments:?}: {code} {message}");
        assert!(!message.contains("predicting"), "{arguments:?} is refused before anything is computed: {message}");
    }
    assert!(!run.join("report.html").exists());
    // Without room for any clue: exit code 3, but for a model that is unsure about nothing and needs none.
    let stuck = |above: &str| {
        let mut command = clue();
        command.arg("audit").arg(&run).args(["--above", above, "--threshold", "0.05", "--delta", "0.01"]);
        command.args(["--quick", "--no-groups", "--out"]).arg(folder.path().join("stuck.html"));
        command
    };
    assert_eq!(stuck("0.1").output().unwrap().status.code(), Some(3));
    let told = ok(&mut stuck("5"));
    assert!(told.contains("It is sure. It is unsure about none"), "{told}");
    // Nothing but a page is written over.
    let mine = folder.path().join("mine.csv");
    fs::write(&mine, "a,b\n").unwrap();
    let (_, told) = fails(clue().arg("audit").arg(&run).arg("--out").arg(&mine));
    assert!(told.contains("name it .html"), "{told}");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "a,b\n");
    let (_, told) = fails(clue().arg("audit").arg(&mine));
    assert!(told.contains("is no run") && told.contains("clue train"), "{told}");
    let report = |path: &Path| fails(clue().arg("report").arg(path)).1;
    assert!(report(&run).contains("clue audit"));
    let nowhere = report(&folder.path().join("nowhere.json"));
    assert!(nowhere.contains("nowhere.json") && nowhere.contains("`clue audit`"), "{nowhere}");
    let document = folder.path().join("report.json");
    fs::write(&document, "{\"subject\": {}, \"format\": 99}").unwrap();
    assert!(report(&document).contains("format 99"));
    fs::write(&document, "{\"subject\": {}, \"format\": 4}").unwrap();
    assert!(report(&document).contains("make it again"));
    fs::write(&document, "{\"subject\": {\"run\": \"mo").unwrap();
    let cut_short = report(&document);
    assert!(cut_short.contains("report.json") && cut_short.contains("make it again"), "{cut_short}");
    fs::write(&document, "nonsense").unwrap();
    assert!(report(&document).contains("report.json"));
}

#[track_caller]
fn audit_of_real_data(name: &str, file: &str) {
    let Some(data) = real_data(&[file]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (run, page) = (folder.path().join(name), folder.path().join("page.html"));
    let settings =
        small(&["generative.fit.epochs=1", "predictor.fit.epochs=1", "predictor.kind=ensemble", "predictor.samples=2"]);
    ok(clue().args(["train", name, "--out"]).arg(&run).arg("--data").arg(&data).args(settings));
    let data = data.to_str().unwrap();
    let document = audit(&run, &page, &["--no-groups", "--data", data]);
    check(&page, 5);
    assert!(document["uncertainty"]["tally"]["rows"].as_u64() >= Some(3000));
    assert!(fs::metadata(&page).unwrap().len() < 10_000_000);
}

#[test]
fn the_report_of_mnist_works() {
    audit_of_real_data("mnist", "mnist");
}

#[test]
fn the_report_of_credit_works() {
    audit_of_real_data("credit", "uci_default_credit");
}
