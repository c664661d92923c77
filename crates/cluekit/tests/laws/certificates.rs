//! A certificate says what a fresh look says.

use super::*;

/// Several ways to weigh the terms of the objective.
fn objectives() -> Vec<Objective> {
    let only = UncertaintyWeights::only;
    let mut all = vec![
        Objective::default(),
        Objective { uncertainty: only(Uncertainty::Aleatoric), prediction: 0.2, ..Objective::default() },
        Objective { uncertainty: only(Uncertainty::Epistemic), latent: 0.1, ..Objective::default() },
        Objective {
            uncertainty: UncertaintyWeights { total: 0.5, aleatoric: 0.7, epistemic: 1.3 },
            input: Weighted(0.02, Distance::L2),
            prediction: 0.1,
            latent: 0.05,
            prior: 0.01,
            diversity: Some(diversity(0.3, Diversity::Dpp, Space::Z)),
        },
    ];
    all.extend(Distance::ALL.map(|kind| Objective { input: Weighted(0.05, kind), ..Objective::default() }));
    all
}

/// d_x by the formula of its kind, where that is one line.
fn input_distance(kind: Distance, x: &[f32], original: &[f32]) -> Option<f32> {
    let l1 = || x.iter().zip(original).map(|(a, b)| (a - b).abs()).sum();
    match kind {
        Distance::L1 => Some(l1()),
        Distance::L2 => Some(latent_distance(x, original) as f32),
        Distance::Mahalanobis | Distance::Mad | Distance::Range => None,
    }
}

#[test]
fn a_certificate_is_what_a_fresh_look_at_the_clue_says() {
    let mut seen = BTreeMap::new();
    for world in [World::classes(), World::regression(), World::table("")] {
        let inputs = world.inputs(4);
        for objective in objectives() {
            let kind = objective.input.1;
            let metric = Metric::fit(kind, &world.samples.x, world.samples.width, world.schema.as_ref()).unwrap();
            let background = Background { metric: Some(metric.clone()), ..world.background() };
            let threshold = if world.task.is_regression() { 1.2 } else { 0.5 };
            let search = Search { objective, threshold, ..Search::delta_clue(ball(1.2), 4) };
            let found = search.explain(&world.models(), &background, &inputs, Seed(12), &mut Silent).unwrap();
            for explanation in &found {
                assert_certified(&world, &search, &metric, explanation);
                for clue in &explanation.clues {
                    *seen.entry(clue.accepted).or_insert(0) += 1;
                }
            }
        }
    }
    assert!(seen[&true] > 20 && seen[&false] > 20, "both kinds have to be seen: {seen:?}");
}

fn assert_certified(world: &World, search: &Search, metric: &Metric, explanation: &Explanation) {
    let input = &explanation.input;
    let rows: Vec<&[f32]> =
        [input.x.as_slice()].into_iter().chain(explanation.clues.iter().map(|c| &c.x[..])).collect();
    let y = Targets::Classes(vec![0; rows.len()]);
    let samples = Samples { x: rows.concat(), width: world.samples.width, y, weights: None };
    let fresh = predict(&world.predictor, &samples, &world.task).unwrap();
    let unit = match world.task {
        Task::Regression(scaling) => scaling.deviation as f32,
        Task::Classification { .. } => 1.0,
    };
    for (clue, fresh_clue) in explanation.clues.iter().zip(&fresh[1..]) {
        for kind in Uncertainty::ALL {
            assert_near("uncertainty", clue.uncertainty.get(kind), fresh_clue.uncertainty.get(kind), 1e-5);
        }
        match clue.label {
            Label::Class(label) => {
                assert_eq!(label, fresh_clue.label());
                for (got, expected) in clue.probabilities.iter().zip(&fresh_clue.mean) {
                    assert_near("probability", *got, *expected, 1e-5);
                }
            }
            Label::Value(value) => assert_near("value", value, fresh_clue.mean[0], 1e-5),
        }
        let d_y: f32 = match world.task {
            Task::Classification { .. } => {
                -fresh[0].mean.iter().zip(&fresh_clue.mean).map(|(p0, p)| p0 * p.ln()).sum::<f32>()
            }
            Task::Regression(_) => ((fresh[0].mean[0] - fresh_clue.mean[0]) / unit).powi(2),
        };
        assert_near("prediction distance", clue.distance.prediction, d_y, 1e-4);
        let row = |x: &[f32]| tensor(x.to_vec(), [1, x.len()]);
        let d_x = values(metric.between(&row(&clue.x), &row(&input.x)))[0];
        assert_near("input distance", clue.distance.input, d_x, 1e-5);
        if let Some(d_x) = input_distance(metric.kind(), &clue.x, &input.x) {
            assert_near("input distance by its formula", clue.distance.input, d_x, 1e-4);
        }
        // A regression's search sees scaled values; what it reports has the data's unit.
        let Objective { uncertainty, input: Weighted(by_input, _), prediction, latent, prior, .. } = search.objective;
        let amounts = clue.uncertainty;
        let cost = (uncertainty.total * amounts.total
            + uncertainty.aleatoric * amounts.aleatoric
            + uncertainty.epistemic * amounts.epistemic)
            / unit
            + by_input * clue.distance.input
            + prediction * clue.distance.prediction
            + latent * clue.distance.latent
            + prior * 0.5 * clue.z.iter().map(|z| z * z).sum::<f32>();
        assert_near("cost", clue.cost, cost, 1e-4);
        assert_eq!(clue.accepted, clue.reason.is_none());
        assert_eq!(clue.accepted, amounts.get(search.accepted_by()) < search.threshold, "{:?}", clue.reason);
        let plausibility = clue.plausibility.unwrap();
        assert!((0.0..=1.0).contains(&plausibility.reconstruction) && plausibility.elbo.is_none());
    }
    let accepted = explanation.clues.iter().any(|clue| clue.accepted);
    assert_eq!(explanation.advice.is_none(), accepted, "{:?}", explanation.advice);
}

#[test]
fn a_clue_is_accepted_by_the_kind_of_uncertainty_that_was_asked_for() {
    let world = World::classes();
    for accept_by in Uncertainty::ALL {
        let search = Search { accept_by: Some(accept_by), threshold: 0.15, ..Search::delta_clue(ball(1.5), 6) };
        for explanation in world.explain(&search, &world.inputs(4), 13) {
            for clue in &explanation.clues {
                assert_eq!(clue.accepted, clue.uncertainty.get(accept_by) < 0.15, "{accept_by:?}");
            }
        }
    }
}

#[test]
fn a_clue_is_accepted_by_the_kind_that_the_search_minimises_where_none_is_named() {
    let world = World::classes();
    for kind in Uncertainty::ALL {
        let objective = Objective { uncertainty: UncertaintyWeights::only(kind), ..Objective::default() };
        let search = Search { objective, threshold: 0.15, ..Search::delta_clue(ball(1.5), 6) };
        for explanation in world.explain(&search, &world.inputs(4), 13) {
            for clue in &explanation.clues {
                assert_eq!(clue.accepted, clue.uncertainty.get(kind) < 0.15, "{kind:?}");
            }
        }
    }
}
