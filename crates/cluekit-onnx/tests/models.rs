//! Predictors and generative models of files: every form of an ensemble, dropout, batches, categories.

use crate::fixtures::folder;
use cluekit::data::Schema;
use cluekit::model::adopted::{AdoptedGenerative, AdoptedPredictor, ModelInput, ModelOutput, ModelReader};
use cluekit::model::{Predictive, Predictor};
use cluekit::observer::Silent;
use cluekit::search::{Background, Convergence, Inputs, Models, Search};
use cluekit::seed::Seed;
use cluekit::tensor::{Tensor, gradients, leaf, log_softmax, tensor, values};
use cluekit_onnx::{Onnx, OnnxPredictor};
use safetensors::SafeTensors;

/// Numbers that lie scaled already, and a target.
pub(crate) fn schema(columns: usize, target: &str) -> Schema {
    let feature = |at| {
        format!(
            "[[features]]\nname = \"f{at}\"\nkind = \"continuous\"\nmean = 0.0\ndeviation = 1.0\nleast = -9.0\ngreatest = 9.0\n"
        )
    };
    let features: Vec<String> = (0..columns).map(feature).collect();
    toml::from_str(&format!("[target]\nname = \"y\"\n{target}\n{}", features.concat())).unwrap()
}

pub(crate) const THREE: &str = "task = \"classification\"\nclasses = [\"a\", \"b\", \"c\"]";
const VALUE: &str = "task = \"regression\"\nmean = 0.0\ndeviation = 1.0\nleast = -9.0\ngreatest = 9.0";

pub(crate) fn adopted(files: &[&str], output: ModelOutput) -> AdoptedPredictor {
    AdoptedPredictor {
        files: files.iter().map(|name| format!("{name}.onnx")).collect(),
        output,
        quantiles: vec![],
        samples: None,
        mc_dropout: None,
        groups: None,
        classes: vec![],
        input: ModelInput::default(),
    }
}

/// An array of a fixture: sides and numbers.
pub(crate) fn array(name: &str, key: &str) -> (Vec<usize>, Vec<f32>) {
    let bytes = std::fs::read(folder().join(format!("{name}.safetensors"))).unwrap();
    let all = SafeTensors::deserialize(&bytes).unwrap();
    let view = all.tensor(key).unwrap();
    (view.shape().to_vec(), view.data().as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
}

pub(crate) fn rows(name: &str) -> Tensor<2> {
    let (dims, numbers) = array(name, "input.x");
    let width = dims[1..].iter().product();
    tensor(numbers, [dims[0], width])
}

pub(crate) fn open(adopted: &AdoptedPredictor, schema: &Schema) -> OnnxPredictor {
    OnnxPredictor::open(&folder(), adopted, schema, Seed(5)).unwrap()
}

pub(crate) fn classes(predictor: &dyn Predictor, x: &Tensor<2>) -> Tensor<3> {
    match predictor.predict(x).unwrap() {
        Predictive::Classes { log_probabilities } => log_probabilities,
        Predictive::Gaussian { .. } => panic!("classes are asked for"),
    }
}

pub(crate) fn assert_near(got: &[f32], expected: &[f32], what: &str) {
    let near =
        got.len() == expected.len() && got.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-5 * (1.0 + b.abs()));
    assert!(near, "{what}: {got:?} is not {expected:?}");
}

#[test]
fn every_form_of_an_ensemble_gives_the_answers_of_its_members() {
    let logits: Vec<f32> = (0..3).flat_map(|member| array(&format!("member_{member}"), "output.y").1).collect();
    let expected = values(log_softmax(tensor(logits, [3, 4, 3]), 2));
    let x = rows("member_0");
    for (files, samples) in [
        (&["member_0", "member_1", "member_2"][..], None),
        (&["members_stacked"], None),
        (&["members_after_rows"], None),
        (&["members_in_rows"], Some(3)),
        (&["members_as_outputs"], None),
    ] {
        let predictor = open(&AdoptedPredictor { samples, ..adopted(files, ModelOutput::Logits) }, &schema(5, THREE));
        assert_eq!(predictor.samples(), Some(3));
        assert_near(&values(classes(&predictor, &x)), &expected, files[0]);
    }
    let problem =
        OnnxPredictor::open(&folder(), &adopted(&["members_in_rows"], ModelOutput::Logits), &schema(5, THREE), Seed(0));
    assert!(problem.unwrap_err().to_string().contains("give samples = 3"));
}

#[test]
fn members_with_convolutions_answer_together_as_they_do_alone() {
    let image = "[image]\nchannels = 1\nheight = 4\nwidth = 4\nmaximum = 1.0\n";
    let schema: Schema = toml::from_str(&format!("[target]\nname = \"y\"\n{THREE}\n{image}")).unwrap();
    let names = ["image_member_0", "image_member_1", "image_member_2"];
    let together = open(&adopted(&names, ModelOutput::Logits), &schema);
    let x = rows("image_member_0");
    let logits: Vec<f32> = names.iter().flat_map(|name| array(name, "output.y").1).collect();
    assert_near(&values(classes(&together, &x)), &values(log_softmax(tensor(logits, [3, 4, 3]), 2)), "images");
}

#[test]
fn members_of_different_shapes_answer_one_after_the_other() {
    let both = open(&adopted(&["member_0", "mlp_relu"], ModelOutput::Logits), &schema(5, THREE));
    let x = rows("member_0");
    assert_eq!(classes(&both, &x).dims(), [2, 4, 3]);
}

#[test]
fn dropout_stays_active_with_fixed_masks_that_all_rows_share() {
    for name in ["dropout_script", "dropout_dynamo"] {
        let without = open(&adopted(&[name], ModelOutput::Logits), &schema(5, THREE));
        let x = rows(name);
        let expected = values(log_softmax(tensor(array(name, "output.y").1, [1, 4, 3]), 2));
        assert_near(&values(classes(&without, &x)), &expected, name);
        for samples in [1, 20] {
            let adopted = AdoptedPredictor { mc_dropout: Some(samples), ..adopted(&[name], ModelOutput::Logits) };
            let predictor = open(&adopted, &schema(5, THREE));
            let all = classes(&predictor, &x);
            assert_eq!((all.dims(), predictor.samples()), ([samples, 4, 3], Some(samples)));
            assert_eq!(values(all.clone()), values(classes(&open(&adopted, &schema(5, THREE)), &x)), "{name}");
            let other = OnnxPredictor::open(&folder(), &adopted, &schema(5, THREE), Seed(6)).unwrap();
            assert_ne!(values(all.clone()), values(classes(&other, &x)), "{name}: another seed");
            for row in 0..4 {
                let alone = values(classes(&predictor, &x.clone().narrow(0, row, 1)));
                assert_near(&alone, &values(all.clone().narrow(1, row, 1)), name);
            }
        }
    }
}

#[test]
fn masks_of_whole_channels_are_drawn_too() {
    let image = "[image]\nchannels = 1\nheight = 6\nwidth = 6\nmaximum = 1.0\n";
    let schema: Schema = toml::from_str(&format!("[target]\nname = \"y\"\n{THREE}\n{image}")).unwrap();
    let adopted = AdoptedPredictor { mc_dropout: Some(8), ..adopted(&["dropout_channels"], ModelOutput::Logits) };
    let predictor = open(&adopted, &schema);
    let x = rows("dropout_channels");
    let all = classes(&predictor, &x);
    assert_eq!(all.dims(), [8, 3, 3]);
    let alone = values(classes(&predictor, &x.narrow(0, 2, 1)));
    assert_near(&alone, &values(all.narrow(1, 2, 1)), "channels");
    let samples: std::collections::BTreeSet<String> = alone.chunks(3).map(|sample| format!("{sample:?}")).collect();
    assert!(samples.len() > 4, "{samples:?}");
}

#[test]
fn a_network_without_dropout_cannot_keep_it_active() {
    // PyTorch leaves it out unless the module is in training mode, whatever is said about optimisation.
    let adopted = AdoptedPredictor { mc_dropout: Some(8), ..adopted(&["dropout_unoptimised"], ModelOutput::Logits) };
    let problem = OnnxPredictor::open(&folder(), &adopted, &schema(5, THREE), Seed(0)).unwrap_err().to_string();
    assert!(problem.contains("has no dropout that could stay active"), "{problem}");
}

#[test]
fn a_fixed_number_of_rows_is_asked_in_pieces() {
    for (name, size, width) in [("fixed_batch_4", 4, 5), ("fixed_batch_1", 1, 5), ("fixed_batch_reshape", 4, 8)] {
        let predictor = open(&adopted(&[name], ModelOutput::Logits), &schema(width, THREE));
        assert_eq!(predictor.rows_at_once(), Some(size), "{name}");
        let own = rows(name);
        let six = own.clone().repeat(&[6, 1]).narrow(0, 0, 6);
        let expected = values(log_softmax(tensor(array(name, "output.y").1, [1, size, 3]), 2));
        let expected: Vec<f32> = expected.into_iter().cycle().take(18).collect();
        assert_near(&values(classes(&predictor, &six)), &expected, name);
    }
}

#[test]
fn values_come_with_their_spread_in_every_form() {
    let gaussian = |name: &str, output: ModelOutput, levels: &[f64]| {
        let adopted = AdoptedPredictor { quantiles: levels.to_vec(), ..adopted(&[name], output) };
        match open(&adopted, &schema(5, VALUE)).predict(&rows(name)).unwrap() {
            Predictive::Gaussian { mean, variance } => (values(mean), values(variance)),
            Predictive::Classes { .. } => panic!("a value is asked for"),
        }
    };
    let (mean, variance) = gaussian("mean_variance", ModelOutput::MeanVariance, &[]);
    assert_near(&mean, &array("mean_variance", "output.mean").1, "mean");
    assert_near(&variance, &array("mean_variance", "output.variance").1, "variance");
    let (mean, variance) = gaussian("mean_log_variance", ModelOutput::MeanLogVariance, &[]);
    let both = array("mean_log_variance", "output.y").1;
    assert_near(&mean, &both.iter().copied().step_by(2).collect::<Vec<_>>(), "mean");
    let logs: Vec<f32> = both.iter().skip(1).step_by(2).map(|log| log.exp()).collect();
    assert_near(&variance, &logs, "log variance");
    let (mean, _) = gaussian("quantiles", ModelOutput::Quantiles, &[0.1, 0.5, 0.9]);
    let thirds = array("quantiles", "output.y").1;
    let means: Vec<f32> = thirds.chunks(3).map(|row| row.iter().sum::<f32>() / 3.0).collect();
    assert_near(&mean, &means, "symmetric levels weigh alike");
}

#[test]
fn categories_are_seen_hard_as_the_network_sees_them_and_relaxed_with_a_gradient() {
    let category = |name: &str, words: &str| {
        format!("[[features]]\nname = \"{name}\"\nkind = \"categorical\"\ncategories = [{words}]\n")
    };
    let numbers = schema(3, "task = \"classification\"\nclasses = [\"no\", \"yes\"]");
    let text = toml::to_string(&numbers).unwrap();
    let categories = [category("c0", "\"0\", \"1\", \"2\", \"3\""), category("c1", "\"0\", \"1\", \"2\"")].concat();
    let schema: Schema = toml::from_str(&format!("{text}\n{categories}")).unwrap();
    let hard = [[0, 1], [3, 2], [1, 0]];
    for name in ["ft_transformer_script", "ft_transformer_dynamo", "tab_transformer_script", "tab_transformer_dynamo"] {
        let predictor = open(&adopted(&[name], ModelOutput::Logits), &schema);
        let own = array(name, "input.x").1;
        let mut x = Vec::new();
        for (row, codes) in hard.iter().enumerate() {
            x.extend_from_slice(&own[row * 3..row * 3 + 3]);
            x.extend((0..4).map(|at| f32::from(u8::from(at == codes[0]))));
            x.extend((0..3).map(|at| f32::from(u8::from(at == codes[1]))));
        }
        let expected = values(log_softmax(tensor(array(name, "output.y").1, [1, 3, 2]), 2));
        assert_near(&values(classes(&predictor, &tensor(x.clone(), [3, 10]))), &expected, name);
        // Between two categories: the gradient is that of small steps.
        x[3..7].copy_from_slice(&[0.4, 0.3, 0.2, 0.1]);
        let at = |x: Vec<f32>| values(classes(&predictor, &tensor(x, [3, 10])))[0];
        let leaf = leaf(x.clone(), [3, 10]);
        let loss: Tensor<1> = classes(&predictor, &leaf).narrow(1, 0, 1).narrow(2, 0, 1).reshape([1]);
        let slope = gradients(&loss, &[leaf]).unwrap().concat();
        for column in [0, 3, 5, 8] {
            let step = 1e-2;
            let (mut ahead, mut back) = (x.clone(), x.clone());
            ahead[column] += step;
            back[column] -= step;
            let difference = (at(ahead) - at(back)) / (2.0 * step);
            assert!(
                (slope[column] - difference).abs() < 2e-3,
                "{name}, column {column}: {} {difference}",
                slope[column]
            );
        }
    }
}

#[test]
fn an_encoder_and_a_decoder_are_a_generative_model() {
    let image = "[image]\nchannels = 1\nheight = 8\nwidth = 8\nmaximum = 1.0\n";
    let schema: Schema = toml::from_str(&format!("[target]\nname = \"y\"\n{THREE}\n{image}")).unwrap();
    let files = AdoptedGenerative { encoder: "vae_encoder.onnx".into(), decoder: "vae_decoder.onnx".into() };
    let model = Onnx.generative(&folder(), &files, &schema).unwrap();
    assert_eq!(model.latent_dim(), 3);
    let code = model.encode(&rows("vae_encoder")).unwrap();
    assert_near(&values(code), &array("vae_encoder", "output.mean").1, "mean of the code");
    let (dims, codes) = array("vae_decoder", "input.z");
    let made = model.decode(&tensor(codes, [dims[0], dims[1]])).unwrap();
    assert_eq!(made.dims(), [3, 64]);
    assert_near(&values(made), &array("vae_decoder", "output.x").1, "decoded");
    let swapped = AdoptedGenerative { encoder: files.decoder.clone(), decoder: files.encoder.clone() };
    assert!(Onnx.generative(&folder(), &swapped, &schema).is_err());
}

#[test]
fn a_search_with_files_alone_ends_less_uncertain_than_it_began() {
    let image = "[image]\nchannels = 1\nheight = 8\nwidth = 8\nmaximum = 1.0\n";
    let schema: Schema = toml::from_str(&format!("[target]\nname = \"y\"\n{THREE}\n{image}")).unwrap();
    let adopted = AdoptedPredictor { mc_dropout: Some(10), ..adopted(&["image_classifier"], ModelOutput::Logits) };
    let predictor = Onnx.predictor(&folder(), &adopted, &schema, Seed(2)).unwrap();
    let files = AdoptedGenerative { encoder: "vae_encoder.onnx".into(), decoder: "vae_decoder.onnx".into() };
    let generative = Onnx.generative(&folder(), &files, &schema).unwrap();
    let models = Models::new(generative.as_ref(), predictor.as_ref());
    let inputs = Inputs::new(array("image_classifier", "input.x").1, 64).unwrap();
    let search = Search { convergence: Convergence::all_steps(40), threshold: 1e9, ..Search::clue() };
    let explained = || search.explain(&models, &Background::default(), &inputs, Seed(0), &mut Silent).unwrap();
    let (first, again) = (explained(), explained());
    assert_eq!(format!("{first:?}"), format!("{again:?}"));
    for explanation in &first {
        let before = explanation.reconstruction.uncertainty.total;
        let after = explanation.clues[0].uncertainty.total;
        assert!(after < before, "{after} is not below {before}");
    }
}

#[test]
fn a_file_says_what_it_holds() {
    let file = Onnx.describe(&folder().join("dropout_dynamo.onnx")).unwrap();
    assert_eq!((file.dropouts, file.has_gradient, file.rows_at_once), (2, true, None));
    assert_eq!(file.inputs[0].to_string(), "x: numbers [rows, 5]");
    let file = Onnx.describe(&folder().join("external_data.onnx")).unwrap();
    assert_eq!(file.parts.len(), 2);
    assert_eq!(Onnx.describe(&folder().join("fixed_batch_4.onnx")).unwrap().rows_at_once, Some(4));
}
