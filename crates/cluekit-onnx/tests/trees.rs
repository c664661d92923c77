//! Forests are ensembles of groups of their trees, boosters are one predictor each, and pipelines take a table as it is.

use crate::fixtures::folder;
use crate::models::{THREE, adopted, array, assert_near, classes, open, rows, schema};
use cluekit::data::Schema;
use cluekit::model::adopted::{AdoptedPredictor, ModelOutput, ModelReader};
use cluekit::model::{Predictive, Predictor};
use cluekit::seed::Seed;
use cluekit::tensor::{Tensor, tensor, values};
use cluekit_onnx::proto::{AttributeProto, ModelProto};
use cluekit_onnx::{Input, Model, Onnx, OnnxPredictor};
use prost::Message;

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
fn a_column_for_each_class_is_one_answer() {
    let forest = adopted(&["trees_forest_columns"], ModelOutput::Probabilities);
    let predictor = open(&forest, &schema(4, "task = \"classification\"\nclasses = [\"high\", \"low\", \"middle\"]"));
    assert_eq!(predictor.samples(), Some(1));
    let got = values(classes(&predictor, &rows_of("trees_forest_columns", "X")).exp());
    for (at, name) in ["high", "low", "middle"].iter().enumerate() {
        let column: Vec<f32> = got.iter().copied().skip(at).step_by(3).collect();
        assert_near(&column, &array("trees_forest_columns", &format!("output.s{name}")).1, name);
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

/// A forest with one entry of a list of its trees changed.
fn changed(name: &str, attribute: &str, change: impl Fn(&mut AttributeProto)) -> String {
    let bytes = std::fs::read(folder().join(format!("{name}.onnx"))).unwrap();
    let mut model = ModelProto::decode(bytes.as_slice()).unwrap();
    let node = model.graph.as_mut().unwrap().node.iter_mut().find(|node| node.op_type.starts_with("TreeEnsemble"));
    change(node.unwrap().attribute.iter_mut().find(|own| own.name == attribute).unwrap());
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("forest.onnx");
    std::fs::write(&path, model.encode_to_vec()).unwrap();
    match Model::read(&path) {
        Ok(model) => model.ask(vec![Input::Numbers(vec![2, 4], tensor(vec![0.5; 8], [8]))]).unwrap_err().to_string(),
        Err(problem) => problem.to_string(),
    }
}

#[test]
fn trees_that_cannot_be_are_refused_with_node_and_attribute() {
    type Change = fn(&mut AttributeProto);
    let cases: [(&str, Change, &str); 16] = [
        ("nodes_truenodeids", |a| a.ints[0] = 99, "node 0 of tree 0 leads to node 99, which is not there"),
        ("nodes_truenodeids", |a| a.ints[1] = i64::MIN, "leads to node -9223372036854775808"),
        ("nodes_truenodeids", |a| a.ints[0] = 0, "`nodes_truenodeids`"),
        ("nodes_falsenodeids", |a| a.ints[1] = 0, "lead in a circle"),
        ("nodes_falsenodeids", |a| a.ints[0] = 2, "lead to node 2 of tree 0 twice"),
        ("nodes_featureids", |a| a.ints[0] = 4, "`nodes_featureids` asks for feature 4 of 5, and a row has 4 values"),
        ("nodes_featureids", |a| a.ints[0] = 1 << 40, "`nodes_featureids` holds 1099511627776"),
        ("nodes_featureids", |a| a.ints[0] = -1, "`nodes_featureids` holds -1"),
        (
            "nodes_values",
            |a| a.floats[0] = f32::NAN,
            "node 0 of tree 0 asks how a number compares with what is not a number",
        ),
        ("nodes_values", |a| a.floats.truncate(5), "`nodes_values` has"),
        ("nodes_modes", |a| a.strings[0] = b"BRANCH_ALMOST".to_vec(), "`nodes_modes` holds `BRANCH_ALMOST`"),
        ("nodes_nodeids", |a| a.ints[1] = 0, "`nodes_nodeids` holds node 0 of tree 0 twice"),
        ("nodes_treeids", |a| a.ints[0] = 1 << 62, "leads to node"),
        ("class_ids", |a| a.ints[0] = 3, "`class_ids` holds 3, and there are 3"),
        ("class_nodeids", |a| a.ints[0] = 77, "`class_nodeids` names node 77 of tree 0"),
        ("post_transform", |a| a.s = b"ARGMAX".to_vec(), "`post_transform` is `ARGMAX`"),
    ];
    for (attribute, change, expected) in cases {
        let problem = changed("trees_forest_words", attribute, change);
        assert!(problem.contains(expected), "{attribute}: {problem}");
        assert!(problem.contains("operator `TreeEnsembleClassifier` of node `"), "{problem}");
    }
    let cases: [(&str, Change, &str); 5] = [
        ("nodes_truenodeids", |a| a.ints[0] = 0, "is reached twice"),
        ("nodes_falsenodeids", |a| a.ints[0] = 1 << 62, "`nodes_falsenodeids` holds 4611686018427387904"),
        ("tree_roots", |a| a.ints.clear(), "has no tree"),
        ("n_targets", |a| a.i = i64::MAX, "`n_targets` is 9223372036854775807"),
        ("leaf_targetids", |a| a.ints[0] = 2, "`leaf_targetids` holds 2, and there are 2"),
    ];
    for (attribute, change, expected) in cases {
        let problem = changed("trees_of_version_5_floats", attribute, change);
        assert!(problem.contains(expected), "{attribute}: {problem}");
    }
}
