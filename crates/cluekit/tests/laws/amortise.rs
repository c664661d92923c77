//! What every mapper obeys, and what proposals have to do with searches.

use super::*;
use cluekit::amortise::{
    Ask, Encoded, Fit, LearnFrom, Limit, Map, MapperKind, MapperPlan, Mappers, Nearest, NeuralPlan, Pair, Scheme,
    Thresholds, cheapest_first,
};
use cluekit::model::TrainingPlan;
use cluekit::model::store::run::RunFolder;
use cluekit::observer::Observer;
use cluekit::prediction::UncertaintyParts;
use cluekit::search::{Prepared, Price, Proposal};
use std::sync::Arc;

/// Rows that mappers learn from; the others choose settings.
const TRAIN: usize = 160;

/// What costs what, as in the paper.
pub fn search(steps: usize) -> Search {
    let objective = Objective { input: Weighted(0.03, Distance::L1), ..Objective::default() };
    Search { objective, threshold: 0.5, convergence: Convergence::all_steps(steps), ..Search::clue() }
}

/// Settings that are learned in a moment, with work for several threads at once.
fn plan(method: MapperKind, learn_from: LearnFrom) -> MapperPlan {
    let neural = NeuralPlan {
        width: 8,
        depth: 1,
        mixtures: 600,
        fit: TrainingPlan { epochs: 2, batch: 300, ..NeuralPlan::default().fit },
        ..NeuralPlan::default()
    };
    MapperPlan { most_clusters: 3, steps: 5, neural, ..MapperPlan::new(method, learn_from) }
}

/// The mappers of every kind, and one that learned from CLUEs.
pub fn kinds() -> Vec<(MapperKind, LearnFrom)> {
    let from_data = MapperKind::ALL.into_iter().map(|method| (method, LearnFrom::Data));
    from_data.chain([(MapperKind::Glam, LearnFrom::Clues(0.03))]).collect()
}

pub fn fit(world: &World, kind: (MapperKind, LearnFrom), seed: u64) -> Mappers {
    fit_watched(world, kind, seed, &mut Silent).unwrap()
}

pub fn fit_watched(
    world: &World,
    (method, learn_from): (MapperKind, LearnFrom),
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Mappers> {
    let models = world.models();
    let rows =
        |rows: std::ops::Range<usize>| Encoded::of(&models, world.samples.select(&rows.collect::<Vec<_>>())).unwrap();
    let (train, validation) = (rows(0..TRAIN), rows(TRAIN..ROWS));
    let thresholds = Thresholds {
        uncertain_above: Limit::Quantile(0.6),
        certain_below: Limit::Quantile(0.4),
        kind: Uncertainty::Total,
    };
    let background = Background::default();
    let mut fit = Fit::new(&models, &search(0), &background, [&train, &validation], thresholds, Seed(seed));
    let scheme = if method == MapperKind::Neural { Scheme::AnyToClass } else { Scheme::Within };
    fit.mappers(&plan(method, learn_from), &scheme.pairs(CLASSES), observer)
}

fn encoded(prepared: &Prepared, inputs: &Inputs) -> Encoded {
    let all = 0..prepared.len();
    Encoded {
        x: inputs.x().to_vec(),
        width: inputs.width(),
        z: all.clone().flat_map(|input| prepared.z(input).to_vec()).collect(),
        latent: LATENT,
        predictions: all.map(|input| prepared.prediction(input).clone()).collect(),
        ..Encoded::default()
    }
}

/// What fitted mappers propose for some inputs.
pub fn proposals(world: &World, inputs: &Inputs, fitted: &Mappers) -> Vec<Vec<Proposal>> {
    let (models, background) = (world.models(), Background::default());
    let prepared = search(0).prepare(&models, &background, inputs).unwrap();
    let rows = encoded(&prepared, inputs);
    fitted.propose(&models, &rows, &Ask::MostProbable(2), prepared.price(), fitted.kind.name()).unwrap()
}

/// The inputs' own codes.
fn starts(prepared: &Prepared) -> Vec<Vec<Proposal>> {
    let start = |input| vec![Proposal { z: prepared.z(input).to_vec(), x: None, mapper: "start".into() }];
    (0..prepared.len()).map(start).collect()
}

#[test]
fn the_same_seed_gives_the_same_mappers_on_one_thread_and_on_several() {
    let world = World::classes();
    let inputs = world.inputs(20);
    let on = |threads: usize, kind: (MapperKind, LearnFrom), seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let fitted = fit(&world, kind, seed);
            let place = tempfile::tempdir().unwrap();
            let store = RunFolder::at(place.path()).mappers();
            let bytes = (!kind.0.is_baseline()).then(|| {
                fitted.save(&store, "mapper", &world.models(), BTreeMap::new()).unwrap();
                std::fs::read(store.path("mapper")).unwrap()
            });
            (proposals(&world, &inputs, &fitted), bytes)
        })
    };
    for kind in kinds() {
        let expected = on(1, kind, 3);
        for threads in [2, 3] {
            assert!(on(threads, kind, 3) == expected, "{kind:?}: {threads} threads learn something else");
        }
    }
    let neural = (MapperKind::Neural, LearnFrom::Data);
    assert!(on(1, neural, 3).0 != on(1, neural, 4).0, "another seed is another network");
}

#[test]
fn a_group_without_validation_rows_chooses_on_training_rows_and_says_so() {
    let world = World::classes();
    let (models, background, search) = (world.models(), Background::default(), search(0));
    let train = Encoded::of(&models, world.samples.clone()).unwrap();
    let [uncertain_above, certain_below] = [0.6, 0.4].map(Limit::Quantile);
    let thresholds = Thresholds { uncertain_above, certain_below, kind: Uncertainty::Total };
    let none = Encoded::default();
    let notes = |lambda_theta: Option<f32>| {
        let mut fit = Fit::new(&models, &search, &background, [&train, &none], thresholds, Seed(1));
        let plan = MapperPlan { lambda_theta, ..plan(MapperKind::Glam, LearnFrom::Data) };
        let fitted = fit.mappers(&plan, &[Pair::of_classes(Some(0), Some(0))], &mut Silent).unwrap();
        fitted.all[0].notes.clone()
    };
    let chosen = notes(None);
    assert!(chosen[0].starts_with("no validation row belongs to"), "{chosen:?}");
    assert!(notes(Some(0.1)).is_empty(), "where nothing is chosen there is nothing to say");
}

#[test]
fn a_proposal_is_certified_as_it_is() {
    let world = World::classes();
    let inputs = world.inputs(8);
    let (models, background) = (world.models(), world.background());
    let prepared = search(0).prepare(&models, &background, &inputs).unwrap();
    for kind in kinds() {
        let proposed = proposals(&world, &inputs, &fit(&world, kind, 5));
        let mut sets = prepared.certify(&proposed).unwrap();
        assert_eq!(prepared.refine(&proposed, &mut Silent).unwrap(), sets, "{kind:?}: no step is no change");
        for (clues, proposed) in sets.iter().zip(&proposed) {
            assert_eq!(clues.len(), proposed.len());
            for (clue, proposal) in clues.iter().zip(proposed) {
                assert_eq!((&clue.z, &clue.mapper, clue.steps), (&proposal.z, &Some(proposal.mapper.clone()), 0));
                let decoded = || values(world.generative.decode(&tensor(proposal.z.clone(), [1, LATENT])).unwrap());
                let expected = proposal.x.clone().unwrap_or_else(decoded);
                clue.x.iter().zip(expected).for_each(|(&got, expected)| assert_near("x", got, expected, 1e-5));
                assert!(clue.plausibility.is_some());
            }
        }
        cheapest_first(&mut sets);
        assert!(sets.iter().all(|set| set.is_sorted_by(|a, b| a.cost <= b.cost)), "{kind:?}");
    }
}

#[test]
fn steps_from_the_input_itself_are_exactly_clue() {
    for world in [World::classes(), World::regression(), World::table(""), World::images()] {
        let inputs = world.inputs(5);
        let (models, background) = (world.models(), world.background());
        for steps in [0, 1, 8] {
            let search = search(steps);
            let expected = world.explain(&search, &inputs, 2);
            let prepared = search.prepare(&models, &background, &inputs).unwrap();
            let mut sets = prepared.refine(&starts(&prepared), &mut Silent).unwrap();
            for (set, explanation) in sets.iter_mut().zip(&expected) {
                set.iter_mut().for_each(|clue| assert_eq!(clue.mapper.take(), Some("start".into())));
                // Rows in the data's units come with the explanation.
                let clues = explanation.clues.iter().map(|clue| Clue { row: None, ..clue.clone() });
                assert_eq!(*set, clues.collect::<Vec<_>>(), "{steps} steps");
            }
            let advice = expected.iter().map(|explanation| explanation.advice.clone()).collect();
            assert_eq!(prepared.explanations(sets, advice, Seed(2)).unwrap(), expected);
        }
    }
}

#[test]
fn more_steps_never_cost_more() {
    let world = World::classes();
    let inputs = world.inputs(8);
    let (models, background) = (world.models(), Background::default());
    for kind in kinds() {
        let mut proposed = proposals(&world, &inputs, &fit(&world, kind, 6));
        // Steps begin at the code, so what is not its decoding does not count.
        proposed.iter_mut().flatten().for_each(|proposal| proposal.x = None);
        let mut before: Option<Vec<f32>> = None;
        for steps in [0, 1, 5, 20] {
            let search = search(steps);
            let prepared = search.prepare(&models, &background, &inputs).unwrap();
            let clues = prepared.refine(&proposed, &mut Silent).unwrap().concat();
            let costs: Vec<f32> = clues.iter().map(|clue| clue.cost).collect();
            for (cost, before) in costs.iter().zip(before.iter().flatten()) {
                assert!(*cost <= before + 1e-5, "{kind:?}, {steps} steps: from {before} to {cost}");
            }
            before = Some(costs);
        }
    }
}

#[test]
fn proposals_that_do_not_fit_are_refused() {
    let world = World::classes();
    let inputs = world.inputs(2);
    let (models, background) = (world.models(), Background::default());
    let prepared = search(3).prepare(&models, &background, &inputs).unwrap();
    let good = starts(&prepared);
    let change = |change: &dyn Fn(&mut Proposal)| {
        let mut changed = good.clone();
        change(&mut changed[1][0]);
        changed
    };
    for (wrong, expected) in [
        (good[..1].to_vec(), "1 lists of proposals were given for 2 inputs"),
        (change(&|proposal| proposal.z.push(0.0)), "a code that start proposes has shape [4], expected [3]"),
        (change(&|proposal| proposal.x = Some(vec![0.0])), "an input that start proposes has shape [1], expected [5]"),
    ] {
        for outcome in [prepared.certify(&wrong), prepared.refine(&wrong, &mut Silent)] {
            let message = outcome.unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
    // An input for which nobody has a proposal gets no clue, and the others theirs.
    let some = vec![vec![], good[1].clone()];
    let clues = prepared.refine(&some, &mut Silent).unwrap();
    assert!(clues[0].is_empty() && clues[1].len() == 1);
}

/// The plane as it is.
struct Plane;

impl Generative for Plane {
    fn latent_dim(&self) -> usize {
        2
    }

    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(x.clone())
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(z.clone())
    }
}

/// Certain within a distance of 1 around the origin, uncertain beyond 2.5.
struct Island;

impl Predictor for Island {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        let distance = (x.clone() * x.clone()).sum_dim(1).sqrt();
        let logit = softplus((distance - 2.0) * -4.0, 1.0);
        let log_probabilities = log_softmax(Tensor::cat(vec![logit.clone() * -0.5, logit * 0.5], 1), 1);
        Ok(Predictive::Classes { log_probabilities: log_probabilities.unsqueeze() })
    }
}

/// `count` rows around each of three places at this distance from the origin, evenly spread around it.
fn around(count: usize, distance: f32, seed: u64) -> Vec<f32> {
    let noise = normals(3 * count * 2, seed, 0.1);
    let place = |(i, noise): (usize, &[f32])| {
        let (sine, cosine) = (i as f32 * std::f32::consts::TAU / 3.0).sin_cos();
        [distance * cosine + noise[0], distance * sine + noise[1]]
    };
    noise.chunks(2).enumerate().flat_map(place).collect()
}

#[test]
fn clusters_serve_three_groups_that_one_translation_cannot() {
    // As in the paper's last figure: three clouds of uncertain points lie around the certain ones.
    let task = Task::Classification { classes: names(&["no", "yes"]) };
    let models = Models::new(&Plane, &Island).with_task(&task);
    let rows = |x: Vec<f32>| {
        let y = Targets::Classes(vec![1; x.len() / 2]);
        Encoded::of(&models, Samples { x, width: 2, y, weights: None }).unwrap()
    };
    for seed in 0..3 {
        let train = rows([around(20, 3.0, 10 + seed), around(20, 0.0, 20 + seed)].concat());
        let (validation, test) = (rows(around(10, 3.0, 30 + seed)), rows(around(10, 3.0, 40 + seed)));
        let [uncertain_above, certain_below] = [0.5, 0.1].map(Limit::Value);
        let thresholds = Thresholds { uncertain_above, certain_below, kind: Uncertainty::Total };
        let background = Background::default();
        let (search, both) = (search(0), [&train, &validation]);
        let mut fit = Fit::new(&models, &search, &background, both, thresholds, Seed(seed));
        let inputs = Inputs::new(test.x.clone(), 2).unwrap();
        let prepared = search.prepare(&models, &background, &inputs).unwrap();
        let mut cost = |method: MapperKind| {
            let fitted =
                fit.mappers(&MapperPlan::new(method, LearnFrom::Data), &[Pair::default()], &mut Silent).unwrap();
            let proposed = fitted.propose(&models, &test, &Ask::OwnClass, prepared.price(), "m").unwrap();
            let clues = prepared.certify(&proposed).unwrap().concat();
            clues.iter().map(|clue| clue.cost).sum::<f32>() / clues.len() as f32
        };
        let [glam, clusters] = [MapperKind::Glam, MapperKind::Clusters].map(&mut cost);
        assert!(clusters < 0.2 && glam > 0.5, "seed {seed}: {clusters} with clusters, {glam} with one translation");
    }
}

#[test]
fn the_nearest_is_the_one_that_a_plain_loop_finds_for_any_number_of_points() {
    let prediction =
        Prediction { mean: vec![1.0], uncertainty: UncertaintyParts { total: 0.0, aleatoric: 0.0, epistemic: 0.0 } };
    let points = |count: usize, seed: u64| {
        let z = normals(count * LATENT, seed, 1.0);
        let predictions = vec![prediction.clone(); count];
        Encoded { x: z.clone(), width: LATENT, z, latent: LATENT, predictions, ..Encoded::default() }
    };
    let world = World::classes();
    let models = world.models();
    let queries = points(300, 1);
    // A block is 1024 points, and one thread looks up 128 queries at a time.
    for count in [1, 2, 1023, 1024, 1025, 2047, 2048, 2049] {
        let certain = Arc::new(points(count, 2));
        let map = Nearest { latent: true, certain: certain.clone() };
        let found = map.propose(&models, &queries, "", &Price::default()).unwrap();
        for (query, found) in queries.z.chunks(LATENT).zip(&found) {
            let distances = certain.z.chunks(LATENT).map(|point| latent_distance(point, query));
            let least = distances.fold(f64::INFINITY, f64::min);
            let got = latent_distance(&found[0].z, query);
            assert!(got <= least + 1e-5, "{count} points: {got}, the nearest is {least} away");
        }
    }
}
