//! What cannot be done is refused by name.

use super::*;

/// What the search says instead of an explanation.
fn problem(world: &World, background: &Background, search: &Search) -> String {
    let outcome = search.explain(&world.models(), background, &world.inputs(2), Seed(0), &mut Silent);
    outcome.map(|found| found.len()).expect_err("the settings cannot be used").to_string()
}

#[test]
fn a_setting_that_cannot_be_used_is_named() {
    let world = World::classes();
    let objective = |change: fn(&mut Objective)| {
        let mut search = Search::delta_clue(ball(1.0), 2);
        change(&mut search.objective);
        search
    };
    let with_starts = |starts: Starts| Search { starts, ..Search::delta_clue(ball(1.0), 2) };
    let convergence = |convergence: Convergence| Search { convergence, ..Search::clue() };
    let sub = |best: usize, each: usize, radius: f32| Search {
        sub_searches: Some(SubSearches { best, each, radius }),
        ..Search::delta_clue(ball(1.0), 2)
    };
    let plain = Convergence::default();
    let cases = [
        ("count", Search { count: 0, ..Search::clue() }),
        ("learning_rate", Search { learning_rate: 0.0, ..Search::clue() }),
        ("learning_rate", Search { learning_rate: f32::INFINITY, ..Search::clue() }),
        ("threshold", Search { threshold: 0.0, ..Search::clue() }),
        ("threshold", Search { threshold: f32::NAN, ..Search::clue() }),
        ("uncertainty.total", objective(|o| o.uncertainty.total = f32::NAN)),
        ("uncertainty.aleatoric", objective(|o| o.uncertainty.aleatoric = -1.0)),
        ("uncertainty.epistemic", objective(|o| o.uncertainty.epistemic = f32::INFINITY)),
        ("uncertainty", objective(|o| o.uncertainty.total = 0.0)),
        ("lambda_x", objective(|o| o.input.0 = f32::NAN)),
        ("lambda_y", objective(|o| o.prediction = f32::NAN)),
        ("lambda_z", objective(|o| o.latent = -0.5)),
        ("lambda_p", objective(|o| o.prior = f32::NAN)),
        ("diversity", objective(|o| o.diversity = Some(diversity(f32::NAN, Diversity::Dpp, Space::Z)))),
        ("distinct-labels", objective(|o| o.diversity = Some(diversity(1.0, Diversity::DistinctLabels, Space::Y)))),
        ("label-entropy", objective(|o| o.diversity = Some(diversity(1.0, Diversity::LabelEntropy, Space::Y)))),
        ("space", objective(|o| o.diversity = Some(diversity(1.0, Diversity::Coverage, Space::Y)))),
        ("space", objective(|o| o.diversity = Some(diversity(1.0, Diversity::SoftLabelEntropy, Space::Z)))),
        ("init", with_starts(starts(&[]))),
        ("radius", with_starts(Starts { radius: Some(-1.0), ..Starts::default() })),
        ("jitter", with_starts(Starts { jitter: f32::NAN, ..Starts::default() })),
        ("towards", with_starts(Starts { classes: vec![0, CLASSES], ..starts(&[InitScheme::ClassPath]) })),
        ("patience", convergence(Convergence { patience: 0, ..plain })),
        ("relative", convergence(Convergence { relative: f32::NAN, ..plain })),
        ("absolute", convergence(Convergence { absolute: -1.0, ..plain })),
        ("sub_searches", sub(0, 1, 1.0)),
        ("sub_searches", sub(1, 0, 1.0)),
        ("sub_radius", sub(1, 1, 0.0)),
    ];
    for (key, search) in cases {
        let problem = problem(&world, &world.background(), &search);
        assert!(problem.contains(&format!("`{key}`")), "{key}: {problem}");
    }
    for radius in [0.0, -1.0, f32::NAN, f32::NEG_INFINITY] {
        let problem = LatentBall::new(radius).unwrap_err().to_string();
        assert!(problem.contains("`delta`") && problem.contains("positive radius"), "{problem}");
    }
}

#[test]
fn a_diversity_that_counts_is_refused_and_told_what_would_do() {
    let world = World::classes();
    for metric in [Diversity::DistinctLabels, Diversity::LabelEntropy] {
        let search = Search::nabla_clue(ball(1.0), 3, diversity(1.0, metric, Space::Y));
        let problem = problem(&world, &world.background(), &search);
        let choices = format!("choose one of soft-{metric}, ");
        assert!(problem.starts_with(&format!("`{metric}` cannot be optimised")) && problem.contains(&choices));
    }
}

#[test]
fn what_looks_at_training_rows_says_so_when_there_are_none() {
    let world = World::classes();
    let none = Background::default();
    let auto = problem(&world, &none, &Search::delta_clue(Delta::Auto, 2));
    assert!(auto.contains("`delta`") && auto.contains("no training rows"), "{auto}");
    let paths = Search { starts: starts(&[InitScheme::NearestPath]), ..Search::delta_clue(ball(1.0), 2) };
    let path = problem(&world, &none, &paths);
    assert!(path.contains("`init`") && path.contains("no training rows"), "{path}");
    // Rows there are, but the model is certain of none of them.
    let certain = Certain::among(&world.models(), world.samples.clone(), Uncertainty::Total, 1e-9).unwrap();
    let unsure = Background { certain: Some(certain), ..Background::default() };
    for search in [Search::delta_clue(Delta::Auto, 2), paths] {
        let problem = problem(&world, &unsure, &search);
        assert!(problem.starts_with("no training point") && problem.contains("raise `threshold`"), "{problem}");
    }
}

#[test]
fn paths_to_classes_are_refused_for_a_regression() {
    let world = World::regression();
    let search = Search { starts: starts(&[InitScheme::ClassPath]), ..Search::delta_clue(ball(1.0), 2) };
    let path = problem(&world, &world.background(), &search);
    assert!(path.contains("`init`") && path.contains("regression"), "{path}");
}

#[test]
fn diversities_of_labels_are_refused_for_a_regression() {
    let world = World::regression();
    for metric in [Diversity::PredictionCoverage, Diversity::SoftDistinctLabels, Diversity::SoftLabelEntropy] {
        for order in ORDERS {
            let search = Search::nabla_clue(ball(1.0), 2, diversity(1.0, metric, Space::Y));
            let problem = problem(&world, &world.background(), &Search { order, ..search });
            assert!(problem.contains("`diversity`") && problem.contains(metric.name()), "{problem}");
        }
    }
}

#[test]
fn a_predictor_of_the_other_kind_is_refused() {
    let (classes, regression) = (World::classes(), World::regression());
    for (world, task) in [(&classes, &regression.task), (&regression, &classes.task)] {
        let models = Models::new(&world.generative, &world.predictor).with_task(task);
        let outcome = Search::clue().explain(&models, &Background::default(), &world.inputs(1), Seed(0), &mut Silent);
        assert!(outcome.unwrap_err().to_string().contains("name its task"));
    }
}

#[test]
fn inputs_that_are_no_numbers_or_no_rows_are_refused() {
    let nan = Inputs::new(vec![0.0, f32::NAN, 0.0, 0.0, 0.0], WIDTH).unwrap_err().to_string();
    assert!(nan.contains("NaN") && nan.contains("column 1"), "{nan}");
    assert!(Inputs::new(vec![0.0; WIDTH + 1], WIDTH).unwrap_err().to_string().contains("whole rows"));
    assert!(Inputs::new(vec![], 0).is_err());
    let world = World::classes();
    let missing = Inputs::of(&world.samples, &[ROWS], &world.task).unwrap_err().to_string();
    assert!(missing.contains("`inputs`") && missing.contains(&format!("no row {ROWS}")), "{missing}");
    assert_eq!(world.explain(&Search::clue(), &Inputs::new(vec![], WIDTH).unwrap(), 0), []);
}

/// A decoder or an encoder that is one column short.
struct Short<'a> {
    inner: &'a Curved,
    encoder: usize,
    decoder: usize,
}

impl Generative for Short<'_> {
    fn latent_dim(&self) -> usize {
        LATENT
    }

    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(self.inner.encode(x)?.narrow(1, 0, self.encoder))
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(self.inner.decode(z)?.narrow(1, 0, self.decoder))
    }
}

#[test]
fn a_model_whose_output_has_the_wrong_width_is_refused_by_name() {
    let world = World::classes();
    for (encoder, decoder, what) in [
        (LATENT, WIDTH - 1, "the output of the decoder has shape [2, 4], expected [2, 5]"),
        (LATENT - 1, WIDTH, "the code of the encoder has shape [2, 2], expected [2, 3]"),
    ] {
        let short = Short { inner: &world.generative, encoder, decoder };
        let models = Models::new(&short, &world.predictor);
        let outcome = Search::clue().explain(&models, &Background::default(), &world.inputs(2), Seed(0), &mut Silent);
        assert_eq!(outcome.unwrap_err().to_string(), what);
    }
}

/// Predictors that do not keep to what was agreed on.
enum Odd {
    /// One row too few.
    Row,
    /// No class at all.
    NoClass,
    /// Numbers that are right, but not computed from the input's tensor.
    Untracked,
}

impl Predictor for Odd {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        let rows = x.dims()[0];
        let (rows, classes) = match self {
            Self::Row => (rows - 1, 2),
            Self::NoClass => (rows, 0),
            Self::Untracked => (rows, 2),
        };
        let log_probabilities = tensor(vec![0.5f32.ln(); rows * classes], [1, rows, classes]);
        Ok(Predictive::Classes { log_probabilities })
    }
}

#[test]
fn a_predictor_that_does_not_keep_to_its_shape_or_graph_is_an_error_and_no_panic() {
    let world = World::classes();
    for (odd, what) in [
        (Odd::Row, "the predictor's answer, [samples, rows, …], has shape [1, 1, 2], expected [1, 2, 2]"),
        (Odd::NoClass, "the predictor's answer, [samples, rows, …], has shape [1, 2, 0]"),
        (Odd::Untracked, "does not follow from its input by tensor operations"),
    ] {
        let models = Models::new(&world.generative, &odd);
        let outcome = Search::clue().explain(&models, &Background::default(), &world.inputs(2), Seed(0), &mut Silent);
        let problem = outcome.unwrap_err().to_string();
        assert!(problem.contains(what), "{problem}");
    }
}

#[test]
fn a_distance_that_is_not_the_objective_s_is_refused() {
    let world = World::classes();
    let background = Background { metric: Some(Metric::default()), ..Background::default() };
    let objective = Objective { input: Weighted(0.1, Distance::L2), ..Objective::default() };
    let search = Search { objective, ..Search::clue() };
    let inputs = world.inputs(2);
    let problem = search.explain(&world.models(), &background, &inputs, Seed(0), &mut Silent).unwrap_err().to_string();
    assert!(problem.contains("the objective has `l2`, the background `l1`"), "{problem}");
    let found = search.explain(&world.models(), &Background::default(), &inputs, Seed(0), &mut Silent).unwrap();
    let (x, clue) = (&found[0].input.x, &found[0].clues[0]);
    assert_near("ℓ2 without a background", clue.distance.input, latent_distance(&clue.x, x) as f32, 1e-5);
}

#[test]
fn inputs_of_another_width_than_the_models_are_refused() {
    // The crate's own models: a stranger's answer for themselves.
    let schema = people();
    let shape = VaeShape {
        architecture: Architecture::Residual,
        latent: 2,
        low_latent: 0,
        width: 6,
        depth: 1,
        blocks: 0,
        channels: vec![],
    };
    let network = VaeNetwork::new(&shape, &schema).unwrap();
    let parameters = Parameters::initial(network.layout().clone(), &mut Seed(0).stream("vae"));
    let vae = Vae::new(network, &parameters);
    let mlp = Mlp::new(schema.width(), &[4], Head::Classes(CLASSES), 0.0);
    let members = [Parameters::initial(mlp.layout().clone(), &mut Seed(0).stream("predictor")).values];
    let predictor = Stacked::new(&stack(&members, mlp.layout()), &Network::Mlp(mlp)).unwrap();
    let right = Inputs::new(vec![0.0; 2 * schema.width()], schema.width()).unwrap();
    let wrong = Inputs::new(vec![0.0; 2 * WIDTH], WIDTH).unwrap();
    for models in [Models::new(&vae, &predictor), Models::new(&vae, &predictor).with_schema(&schema)] {
        let explain = |inputs| Search::clue().explain(&models, &Background::default(), inputs, Seed(0), &mut Silent);
        assert_eq!(explain(&right).unwrap().len(), 2);
        let problem = explain(&wrong).unwrap_err();
        assert!(matches!(problem, Error::Shape { .. }), "{problem}");
        assert!(problem.to_string().contains("input") && problem.to_string().contains('9'), "{problem}");
    }
}
