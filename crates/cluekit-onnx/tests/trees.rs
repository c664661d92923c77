//! Forests are ensembles of groups of their trees, boosters are one predictor each, and pipelines take a table as it is.

use crate::fixtures::folder;
use crate::models::{THREE, adopted, array, assert_near, classes, open, rows, schema};
use cluekit::data::Schema;
use cluekit::model::adopted::{AdoptedPredictor, ModelOutput, ModelReader};
use cluekit::model::{Predictive, Predictor};
use cluekit::seed::Seed;
use cluekit::tensor::{Tensor, tensor, values};
use cluekit_onnx::{Onnx, OnnxPredictor};

const TWO: &str = "task = \"classification\"\nclasses = [\"0\", \"1\"]";
const WORDS: &str = "task = \"classification\"\nclasses = [\"low\", \"middle\", \"high\"]";
const VALUE: &str = "task = \"regression\"\nmean = 0.0\ndeviation = 1.0\nleast = -9.0\ngreatest = 9.0";

/// Rows of a fixture whose input has another name than `x`.
fn rows_of(name: &str, input: &str) -> Tensor<2> {
    let (dims, numbers) = array(name, &format!("input.{input}"));
    tensor(numbers, [dims[0], dims[1]])
}

fn means(numbers: &[f32], members: usize) -> Vec<f32> {
    let each = numbers.len() / members;
    (0..each).map(|at| (0..members).map(|s| numbers[s * each + at]).sum::<f32>() / members as f32).collect()
}

fn gaussian(predictor: &dyn Predictor, x: &Tensor<2>) -> (Vec<f32>, usize) {
    match predictor.predict(x).unwrap() {
        Predictive::Gaussian { mean, .. } => (values(mean.clone()), mean.dims()[0]),
        Predictive::Classes { .. } => panic!("a value is asked for"),
    }
}

fn refused(adopted: &AdoptedPredictor, schema: &Schema) -> String {
    OnnxPredictor::open(&folder(), adopted, schema, Seed(0)).unwrap_err().to_string()
}

#[test]
fn groups_of_trees_are_samples_whose_mean_is_the_forest() {
    // 12 trees: 5 and 7 groups cut some of them in two.
    let forest = adopted(&["trees_forest_two"], ModelOutput::Probabilities);
    let (x, expected) = (rows_of("trees_forest_two", "X"), array("trees_forest_two", "output.probabilities").1);
    for groups in [1, 3, 5, 7, 10, 12] {
        let predictor = open(&AdoptedPredictor { groups: Some(groups), ..forest.clone() }, &schema(4, TWO));
        assert_eq!((predictor.samples(), predictor.has_gradient()), (Some(groups), false));
        let samples = values(classes(&predictor, &x).exp());
        assert_near(&means(&samples, groups), &expected, "mean of the groups");
        let sums = samples.chunks(2).map(|pair| pair[0] + pair[1]);
        assert!(sums.clone().all(|sum| (sum - 1.0).abs() < 1e-5), "{:?}", sums.collect::<Vec<_>>());
    }
    assert!(refused(&AdoptedPredictor { groups: Some(13), ..forest }, &schema(4, TWO)).contains("has 12 trees"));
    let forest = adopted(&["trees_forest_value"], ModelOutput::Mean);
    let (x, expected) = (rows_of("trees_forest_value", "X"), array("trees_forest_value", "output.variable").1);
    for groups in [1, 5, 12] {
        let predictor = open(&AdoptedPredictor { groups: Some(groups), ..forest.clone() }, &schema(4, VALUE));
        let (samples, count) = gaussian(&predictor, &x);
        assert_eq!(count, groups);
        assert_near(&means(&samples, groups), &expected, "mean of the groups");
    }
}

#[test]
fn groups_of_another_number_of_rows_are_the_same() {
    // More rows than a block holds, each of which answers as it does alone.
    let forest = AdoptedPredictor { groups: Some(5), ..adopted(&["trees_forest_words"], ModelOutput::Probabilities) };
    let forest = AdoptedPredictor { classes: vec!["high".into(), "low".into(), "middle".into()], ..forest };
    let predictor = open(&forest, &schema(4, WORDS));
    let x = rows_of("trees_forest_words", "X");
    let few = values(classes(&predictor, &x));
    let count = x.dims()[0];
    let many = values(classes(&predictor, &x.repeat(&[400, 1])));
    for (sample, few) in few.chunks(count * 3).enumerate() {
        let many = &many[sample * 400 * count * 3..][..400 * count * 3];
        assert!(many.chunks(count * 3).all(|piece| piece == few));
    }
}

#[test]
fn a_booster_is_one_sample_and_several_are_an_ensemble() {
    let names = ["trees_light_member_0", "trees_light_member_1", "trees_light_member_2"];
    let x = rows(names[0]);
    let all: Vec<f32> = names.iter().flat_map(|name| array(name, "output.probabilities").1).collect();
    for (files, expected) in [(&names[..1], &all[..48]), (&names[..], &all[..])] {
        let predictor = open(&adopted(files, ModelOutput::Probabilities), &schema(4, TWO));
        assert_eq!(predictor.samples(), Some(files.len()));
        assert_near(&values(classes(&predictor, &x).exp()), expected, "boosters");
    }
    for (name, target, output) in [
        ("trees_light_two", TWO, ModelOutput::Probabilities),
        ("trees_cat_three", WORDS, ModelOutput::Probabilities),
        ("trees_gradient_value", VALUE, ModelOutput::Mean),
        ("trees_extreme_value", VALUE, ModelOutput::Mean),
    ] {
        let problem = refused(&AdoptedPredictor { groups: Some(2), ..adopted(&[name], output) }, &schema(4, target));
        assert!(problem.contains("give several boosters as an ensemble"), "{name}: {problem}");
    }
    let network = AdoptedPredictor { groups: Some(2), ..adopted(&["mlp_relu"], ModelOutput::Logits) };
    assert!(refused(&network, &schema(5, THREE)).contains("groups are of the trees of one forest"));
}

#[test]
fn files_of_trees_say_what_they_are() {
    for (name, trees, averaged, names) in [
        ("trees_forest_two", 12, true, vec!["0", "1"]),
        ("trees_forest_words", 6, true, vec!["high", "low", "middle"]),
        ("trees_forest_value", 12, true, vec![]),
        ("trees_extra_two", 6, true, vec!["no", "yes"]),
        ("trees_one", 1, true, vec!["high", "low", "middle"]),
        ("pipeline_forest", 6, true, vec!["high", "low", "middle"]),
        ("trees_gradient_two", 4, false, vec!["0", "1"]),
        ("trees_gradient_value", 4, false, vec![]),
        ("trees_histogram_value", 4, false, vec![]),
        ("trees_light_three", 12, false, vec!["high", "low", "middle"]),
        ("trees_light_value", 4, false, vec![]),
        ("trees_extreme_two", 4, false, vec!["0", "1"]),
        ("trees_cat_three", 4, false, vec!["high", "low", "middle"]),
        ("trees_adaptive", 3, false, vec!["high", "low", "middle"]),
        ("trees_bagging", 4, false, vec!["high", "low", "middle"]),
    ] {
        let file = Onnx.describe(&folder().join(format!("{name}.onnx"))).unwrap();
        let said = (file.trees, file.averages_trees, file.has_gradient);
        assert_eq!(said, (Some(trees), averaged, false), "{name}");
        assert_eq!(file.classes, names, "{name}");
        assert!(file.outputs.iter().all(|port| !port.name.contains("label")), "{name}: {:?}", file.outputs);
    }
    for (name, smooth, names) in [
        ("perceptron_three", true, vec!["high", "low", "middle"]),
        ("logistic_two", true, vec!["0", "1"]),
        ("pipeline_logistic", false, vec!["high", "low", "middle"]),
    ] {
        let file = Onnx.describe(&folder().join(format!("{name}.onnx"))).unwrap();
        assert_eq!(
            (file.trees, file.has_gradient, file.classes),
            (None, smooth, names.iter().map(|n| n.to_string()).collect())
        );
    }
}

#[test]
fn a_pipeline_is_given_the_columns_of_a_table_by_their_names() {
    let category = |name: &str, words: &str| {
        format!("[[features]]\nname = \"{name}\"\nkind = \"categorical\"\ncategories = [{words}]\n")
    };
    let number = |name: &str| {
        format!(
            "[[features]]\nname = \"{name}\"\nkind = \"continuous\"\nmean = 1.0\ndeviation = 2.0\nleast = -9.0\ngreatest = 9.0\n"
        )
    };
    // In another order than the model's own, which its inputs do not need.
    let features = [
        category("city", "\"w0\", \"w1\""),
        number("income"),
        category("job", "\"w0\", \"w1\", \"w2\", \"w9\""),
        number("age"),
    ];
    let schema: Schema = toml::from_str(&format!("[target]\nname = \"y\"\n{WORDS}\n{}", features.concat())).unwrap();
    let codes = |key: &str| {
        let (dims, codes) = crate::fixtures::codes("pipeline_forest", &format!("input.{key}"));
        assert_eq!(dims, [24, 1]);
        codes
    };
    let (cities, jobs) = (codes("city"), codes("job"));
    let (incomes, ages) = (array("pipeline_forest", "input.income").1, array("pipeline_forest", "input.age").1);
    let places = [0, 1, 2, -1, -1, -1, -1, -1, -1, 3];
    let mut x = Vec::new();
    let whole: Vec<usize> = (0..24).filter(|&row| !incomes[row].is_nan()).collect();
    for &row in &whole {
        x.extend((0..2).map(|at| f32::from(u8::from(cities[row] == at))));
        x.push((incomes[row] - 1.0) / 2.0);
        x.extend((0..4).map(|at| f32::from(u8::from(places[jobs[row] as usize] == at))));
        x.push((ages[row] - 1.0) / 2.0);
    }
    let forest = adopted(&["pipeline_forest"], ModelOutput::Probabilities);
    let forest = AdoptedPredictor { classes: vec!["high".into(), "low".into(), "middle".into()], ..forest };
    let predictor = open(&forest, &schema);
    let expected = array("pipeline_forest", "output.output_probability").1;
    let ordered = whole.iter().flat_map(|&row| [1, 2, 0].map(|place| expected[row * 3 + place]));
    let got = values(classes(&predictor, &tensor(x, [whole.len(), schema.width()])).exp());
    assert_near(&got, &ordered.collect::<Vec<_>>(), "a pipeline");
}
