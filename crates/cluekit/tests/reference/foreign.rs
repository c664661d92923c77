//! What another program wrote is read, and says what numpy says.

use super::copies::Damaged;
use super::*;

#[test]
fn a_foreign_classifier_says_what_numpy_says() {
    let (folder, schema, expected) = open("mixed");
    let predictor = folder.predictor(&schema).unwrap();
    assert_eq!((predictor.samples(), predictor.inputs(), predictor.head()), (4, 6, Head::Classes(3)));
    let x = matrix(&expected["x"]);
    let Predictive::Classes { log_probabilities } = predictor.predict(&x).unwrap() else { panic!("classes") };
    assert_eq!(log_probabilities.dims(), [4, 5, 3]);
    assert_close("log-probabilities", &values(log_probabilities), &expected["log_probabilities"]);

    let samples = Samples { x: values(x), width: 6, y: Targets::Classes(vec![0; 5]), weights: None };
    let predictions = predict(&predictor, &samples, &schema.target.task).unwrap();
    assert_close("mean", &probabilities(&predictions), &expected["mean"]);
    assert_uncertainty(&predictions, &expected);
}

#[test]
fn foreign_residual_networks_say_what_numpy_says() {
    let (folder, schema, expected) = open("symbols");
    let predictor = folder.predictor(&schema).unwrap();
    assert_eq!((predictor.samples(), predictor.inputs(), predictor.head()), (2, 30, Head::Classes(2)));
    let x = matrix(&expected["x"]);
    let Predictive::Classes { log_probabilities } = predictor.predict(&x).unwrap() else { panic!("classes") };
    assert_close("log-probabilities", &values(log_probabilities), &expected["log_probabilities"]);
    let samples = Samples { x: values(x), width: 30, y: Targets::Classes(vec![0; 4]), weights: None };
    let predictions = predict(&predictor, &samples, &schema.target.task).unwrap();
    assert_uncertainty(&predictions, &expected);
}

#[test]
fn a_foreign_regression_says_what_numpy_says_in_the_datas_unit() {
    let (folder, schema, expected) = open("regression");
    let predictor = folder.predictor(&schema).unwrap();
    assert_eq!((predictor.samples(), predictor.inputs(), predictor.head()), (3, 3, Head::Gaussian));
    let x = matrix(&expected["x"]);
    let Predictive::Gaussian { mean, variance } = predictor.predict(&x).unwrap() else { panic!("values") };
    assert_eq!((mean.dims(), variance.dims()), ([3, 5], [3, 5]));
    assert_close("means", &values(mean), &expected["sample_means"]);
    assert_close("variances", &values(variance), &expected["sample_variances"]);

    let samples = Samples { x: values(x), width: 3, y: Targets::Values(vec![0.0; 5]), weights: None };
    let predictions = predict(&predictor, &samples, &schema.target.task).unwrap();
    assert_close("mean", &probabilities(&predictions), &expected["mean"]);
    assert_uncertainty(&predictions, &expected);
}

/// The folders with the shape of their VAE, which loading has to find out by itself.
fn vaes() -> [(&'static str, VaeShape); 4] {
    let residual = |width, depth| VaeShape {
        architecture: Architecture::Residual,
        latent: 2,
        low_latent: 0,
        width,
        depth,
        blocks: 0,
        channels: vec![],
    };
    let convolution = VaeShape {
        architecture: Architecture::Convolution,
        latent: 2,
        low_latent: 0,
        width: 6,
        depth: 0,
        blocks: 0,
        channels: vec![2, 4],
    };
    let ladder = VaeShape {
        architecture: Architecture::Ladder,
        latent: 1,
        low_latent: 1,
        width: 5,
        depth: 1,
        blocks: 1,
        channels: vec![2, 3],
    };
    [("mixed", residual(5, 2)), ("regression", residual(4, 1)), ("image", convolution), ("symbols", ladder)]
}

#[test]
fn foreign_vaes_encode_and_decode_as_numpy_does() {
    for (name, shape) in vaes() {
        let (folder, schema, expected) = open(name);
        let vae = folder.generative(&schema).unwrap();
        assert_eq!(vae.latent_dim(), shape.latent + shape.low_latent);
        let mean = vae.encode(&matrix(&expected["x"])).unwrap();
        assert_close(&format!("{name}: code"), &values(mean), &expected["code_mean"]);
        let decoded = vae.decode(&matrix(&expected["z"])).unwrap();
        assert_close(&format!("{name}: decoded"), &values(decoded), &expected["decoded"]);
    }
}

#[test]
fn foreign_vaes_have_the_code_and_the_likelihood_of_numpy() {
    for (name, shape) in vaes() {
        let (folder, schema, expected) = open(name);
        let network = VaeNetwork::new(&shape, &schema).unwrap();
        let arrays = Arrays::read(&folder.file("generative.safetensors")).unwrap();
        let weights = Weights::frozen(&arrays.matching(network.layout().clone()).unwrap());
        let x = matrix(&expected["x"]);
        let code = network.encode(&weights, x.clone());
        assert_close(&format!("{name}: log-variance"), &values(code.log_variance), &expected["code_log_variance"]);

        let likelihood = Likelihood::of(&schema);
        let variance = (likelihood.gaussians() > 0).then(|| weights.get("decoder.log_variance"));
        let outputs = network.decode(&weights, matrix(&expected["z"]));
        let got = values(likelihood.negative_log(&outputs, &x, variance));
        assert_close(&format!("{name}: −log p"), &got, &expected["negative_log_likelihood"]);
    }
}

#[test]
fn the_elbo_is_that_of_numpy_where_no_noise_enters() {
    for (name, _) in vaes() {
        let (_, schema, expected) = open(name);
        // A decoder that does not listen to z: the draw of z no longer matters, everything else does.
        let deaf = Damaged::copy(name).arrays("generative", |arrays| {
            let hears =
                |name: &str| ["input", "low", "code"].iter().any(|part| name.ends_with(&format!("{part}.weight")));
            let ears = arrays.0.iter_mut().filter(|(name, _)| name.starts_with("decoder") && hears(name));
            ears.for_each(|(_, array)| array.data.fill(0));
        });
        let vae = deaf.run().generative(&schema).unwrap();
        for seed in 0..2 {
            let elbo = vae.elbo(&matrix(&expected["x"]), &mut Seed(seed).stream("z"));
            assert_close(&format!("{name}: ELBO"), &values(elbo), &expected["elbo_of_a_deaf_decoder"]);
        }
    }
}

#[test]
fn losses_are_those_of_numpy() {
    let expected = &json("formulas.json")["loss"];
    let outputs = matrix(&expected["outputs"]);
    let batch = |y| Batch { x: outputs.clone(), y, weights: None };
    let labels = expected["labels"].as_array().unwrap().iter().map(|label| label.as_u64().unwrap() as u32).collect();
    let loss = negative_log_likelihood(outputs.clone(), &batch(Targets::Classes(labels)), Head::Classes(3));
    assert_close("classes", &[scalar(loss)], &expected["of_classes"]);
    let targets = batch(Targets::Values(numbers(&expected["targets"])));
    let loss = negative_log_likelihood(outputs.slice([0..4, 0..2]), &targets, Head::Gaussian);
    assert_close("values", &[scalar(loss)], &expected["of_values"]);
}

/// Steps with the gradients of the reference and compares the place after each.
fn assert_steps(reference: &Value, expected: &Value, mut step: impl FnMut(usize, &mut [f32], &[f32])) {
    let mut parameters = numbers(&reference["start"]);
    let steps = reference["gradients"].as_array().unwrap().iter().zip(expected["places"].as_array().unwrap());
    for (i, (gradient, place)) in steps.enumerate() {
        step(i, &mut parameters, &numbers(gradient));
        assert_close(&format!("step {i}"), &parameters, place);
    }
}

#[test]
fn adam_takes_the_steps_of_numpy() {
    let reference = json("formulas.json");
    let expected = &reference["adam"];
    let [rate, decay] = ["learning_rate", "weight_decay"].map(|key| expected[key].as_f64().unwrap());
    let mut adam = Adam::new(3);
    assert_steps(&reference, expected, |_, parameters, gradient| adam.step(parameters, gradient, rate, decay));
}

#[test]
fn the_sampler_takes_the_steps_of_numpy_where_its_noise_has_no_variance() {
    let reference = json("formulas.json");
    let expected = &reference["sghmc"];
    let [step, friction] = ["step", "friction"].map(|key| expected[key].as_f64().unwrap());
    let adapting = expected["adapting"].as_u64().unwrap() as usize;
    let mut chain = Sghmc::new(3, step, friction);
    assert_steps(&reference, expected, |i, parameters, gradient| {
        chain.step(parameters, gradient, i < adapting, Seed(0), "noise");
    });
    let squares = chain.save(Snapshot::default()).take("square", 3).unwrap();
    assert_close("second moments", &squares, &expected["squares"]);
}
