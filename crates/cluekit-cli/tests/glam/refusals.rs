//! What `clue glam` refuses, and how it says so.

use super::*;

#[test]
fn what_cannot_be_done_ends_in_one_clear_line() {
    let place = moons();
    let no_class = "there is no class `middle`; the classes are upper, lower";
    let wrong: [(&str, &[&str], i32, &str); 25] = [
        ("fit", &["--from", "middle"], 2, no_class),
        ("fit", &["--from", "upper", "--to", "middle"], 2, no_class),
        (
            "fit",
            &["--where", "x1 > 1000"],
            1,
            "no training row belongs to the group `upper where x1 > 1000`; choose another",
        ),
        ("fit", &["--where", "x9 > 1"], 2, "`x9`"),
        ("fit", &["--where", "x1 >"], 2, "setting `where`"),
        ("fit", &["--by", "x9"], 2, "`x9`"),
        ("fit", &["--by", "x1", "--where", "x2 > 0"], 2, "leave out --where"),
        ("fit", &["--lambda-theta", "-1"], 2, "setting `lambda-theta`: must be 0 or a positive number, got -1"),
        ("fit", &["--lambda-x", "nan"], 2, "setting `lambda-x`"),
        ("fit", &["--threshold", "0"], 2, "setting `threshold`: must be a positive number, got 0"),
        (
            "fit",
            &["--mapper", "clusters", "--clusters", "0"],
            2,
            "setting `clusters`: must lie between 1 and 100, got 0",
        ),
        ("fit", &["--name", "../outside"], 2, "`../outside` cannot name a mapper; use at most 64 letters"),
        ("fit", &["--name", "best"], 2, "`best` is what a method of `clue glam apply` is called; choose another"),
        ("fit", &["--name", "input-nn"], 2, "`input-nn` is what a method of `clue glam apply` is called"),
        ("fit", &["--mapper", "neural", "--from", "upper"], 2, "leave out --from, --where, --by"),
        ("fit", &["--mapper", "neural", "--lambda-theta", "1"], 2, "leave these settings out"),
        ("fit", &["--neural", "/dev/null"], 2, "setting `neural`: is for the mapper `neural`"),
        ("fit", &["--mapper", "neural", "--neural", "absent.toml"], 1, "cannot read absent.toml"),
        ("fit", &["--clues-lambda-x", "0"], 2, "setting `clues-lambda-x`: is for learning from `clues`"),
        ("apply", &[], 1, "glam.safetensors: is not there (none is); fit one with `clue glam fit`"),
        ("apply", &["--method", "glum"], 1, "glum.safetensors: is not there"),
        ("apply", &["--classes", "0"], 2, "setting `classes`: is 0; try at least the most probable one"),
        ("apply", &["--towards", "middle"], 2, no_class),
        ("show", &["--method", "glum"], 1, "glum.safetensors: is not there"),
        ("compare", &["--only", "glum,glam-1"], 2, "`glum` is not a method; choose from original, reconstruction"),
    ];
    for (command, arguments, code, expected) in wrong {
        refused(&mut place.glam(command, arguments), code, &[expected]);
    }
    refused(
        &mut place.glam("compare", &["--only", "original", "--uncertain-above", "9"]),
        1,
        &["no input with an uncertainty above 9", "ask for less"],
    );
    let typo = place.file("typo.toml", "widht = 3\n");
    let (_, message) = fails(&mut place.glam("fit", &["--mapper", "neural", "--neural", &typo, "-q"]));
    assert!(message.contains("typo.toml") && message.contains("widht"), "{message}");
    assert!(!place.run.join("mappers").exists(), "nothing was fitted, so nothing is saved");
    place.fit(&["--from", "upper"]);
    refused(&mut place.glam("show", &["--class", "lower"]), 2, &["`glam` has no mapper from or to `lower`"]);
    refused(&mut place.glam("apply", &["--from", "upper"]), 2, &["leave the options of groups out"]);
}

#[test]
fn options_that_cannot_be_read_end_with_the_code_for_usage() {
    let place = moons();
    for (command, arguments, expected) in [
        ("fit", ["--uncertain-above", "many"], "`many` is no threshold; give an uncertainty such as 0.5, or a share"),
        ("fit", ["--uncertain-above", "101%"], "`101%` is no threshold"),
        ("fit", ["--certain-below", "1e39"], "`1e39` is no threshold"),
        ("fit", ["--mapper", "glum"], "glum"),
        ("fit", ["--mapper", "input-nn"], "possible values: glam, clusters, scaled, affine, neural"),
        ("fit", ["--scheme", "inside"], "`inside` is not a scheme; choose one of within"),
        ("apply", ["--distance", "l3"], "`l3` is not a distance"),
        ("compare", ["--uncertain-above", "many"], "many"),
    ] {
        let (code, message) = fails(&mut place.glam(command, &arguments));
        assert_eq!(code, 2, "{message}");
        assert!(message.contains(expected), "{arguments:?} said: {message}");
    }
}

#[test]
fn a_mapper_that_is_damaged_or_of_other_models_is_named_with_the_remedy() {
    let place = moons();
    place.fit(&[]);
    let file = place.run.join("mappers/glam.safetensors");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 3]).unwrap();
    for command in ["apply", "show"] {
        refused(&mut place.glam(command, &[]), 1, &["glam.safetensors", "cut short", "again"]);
    }
    refused(&mut place.glam("apply", &["--method", "best"]), 1, &["glam.safetensors", "cut short"]);
    let other = Place { run: place.folder.path().join("other"), folder: tempfile::tempdir().unwrap() };
    ok(train(&other.run, &[]).args(["--seed", "5"]));
    fs::create_dir(other.run.join("mappers")).unwrap();
    fs::write(other.run.join("mappers/glam.safetensors"), &bytes).unwrap();
    for command in ["apply", "show"] {
        let parts = ["other/mappers/glam.safetensors", "was fitted for another", "fit it again with `clue glam fit`"];
        refused(&mut other.glam(command, &[]), 1, &parts);
    }
    // Fitting again is the remedy indeed.
    other.fit(&[]);
    other.apply(&["--top", "1"]);
}
