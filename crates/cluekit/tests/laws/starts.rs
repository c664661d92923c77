//! Where the schemes start.

use super::*;

/// The starts of a δ-CLUE of radius 1.5.
fn begin(world: &World, starts: &Starts, inputs: &Inputs, count: usize, seed: u64) -> Vec<Explanation> {
    // Nothing is below the threshold, so that no time goes into modes.
    let search = Search { starts: starts.clone(), threshold: 1e-9, ..Search::delta_clue(ball(1.5), count) };
    world.explain(&after(0, &search), inputs, seed)
}

#[test]
fn every_scheme_gives_as_many_starts_in_the_ball_as_are_asked_for() {
    let world = World::classes();
    let inputs = world.inputs(3);
    let mut all: Vec<Starts> = InitScheme::ALL.iter().map(|&scheme| starts(&[scheme])).collect();
    all.extend([starts(&InitScheme::ALL), starts(&[InitScheme::ClassPath, InitScheme::NearestPath])]);
    for plain in all {
        for moved in [plain.clone(), Starts { jitter: 5.0, ..plain.clone() }, Starts { spread: 4, ..plain }] {
            for count in [1, 2, 3, 4, 5, 7, 11] {
                for explanation in begin(&world, &moved, &inputs, count, 7) {
                    assert_eq!(explanation.clues.len(), count, "{moved:?}");
                    assert_in_ball(&format!("{moved:?}, {count}"), &explanation);
                }
            }
        }
    }
}

#[test]
fn paths_do_not_depend_on_the_seed_and_draws_do() {
    let world = World::classes();
    let inputs = world.inputs(3);
    for scheme in InitScheme::ALL {
        let [one, other] = [1, 2].map(|seed| begin(&world, &starts(&[scheme]), &inputs, 7, seed));
        let is_path = matches!(scheme, InitScheme::NearestPath | InitScheme::ClassPath);
        assert_eq!(codes(&one) == codes(&other), is_path, "{scheme:?}");
    }
}

#[test]
fn the_way_to_each_class_is_cut_into_equal_parts() {
    // Seven starts for three classes: three for the likeliest one, at ⅓, ⅔ and 1 of δ, and two for each other one.
    let world = World::classes();
    for explanation in begin(&world, &starts(&[InitScheme::NearestPath]), &world.inputs(4), 7, 0) {
        let shares = explanation.clues.iter().map(|clue| clue.distance.latent / 1.5);
        for (got, expected) in shares.zip([1.0 / 3.0, 2.0 / 3.0, 1.0, 0.5, 1.0, 0.5, 1.0]) {
            assert_near("share", got, expected, 1e-5);
        }
        // The ways are straight: the starts to one class lie in one direction.
        let direction = |clue: &Clue| -> Vec<f32> {
            clue.z.iter().zip(&explanation.input.z).map(|(z, z0)| (z - z0) / clue.distance.latent).collect()
        };
        for class in [0..3, 3..5, 5..7] {
            let ways: Vec<Vec<f32>> = explanation.clues[class].iter().map(direction).collect();
            assert!(ways.iter().all(|way| latent_distance(way, &ways[0]) < 1e-5), "{ways:?}");
        }
    }
}

#[test]
fn a_class_becomes_more_probable_along_its_path() {
    let world = World::classes();
    for class in 0..CLASSES {
        let towards = Starts { classes: vec![class], ..starts(&[InitScheme::ClassPath]) };
        for explanation in begin(&world, &towards, &world.inputs(4), 5, 0) {
            let decoded = world.models().generative.decode(&tensor(explanation.input.z.clone(), [1, LATENT])).unwrap();
            let rows = Samples { x: values(decoded), width: WIDTH, y: Targets::Classes(vec![0]), weights: None };
            let at_z0 = predict(&world.predictor, &rows, &world.task).unwrap()[0].mean[class];
            let on_the_way = explanation.clues.iter().map(|clue| clue.probabilities[class]);
            let all: Vec<f32> = [at_z0].into_iter().chain(on_the_way).collect();
            assert!(all.windows(2).all(|pair| pair[1] >= pair[0] - 1e-3), "{class}: {all:?}");
        }
    }
}

/// Checks that `draws` come from the distribution function `f`, by Kolmogorov and Smirnov's greatest gap.
fn assert_distribution(what: &str, mut draws: Vec<f64>, f: impl Fn(f64) -> f64) {
    draws.sort_by(f64::total_cmp);
    let n = draws.len() as f64;
    let gap = |(i, &d): (usize, &f64)| (f(d) - i as f64 / n).abs().max((f(d) - (i + 1) as f64 / n).abs());
    let greatest = draws.iter().enumerate().map(gap).fold(0.0, f64::max);
    // A true distribution exceeds 1.95 / √n once in a thousand times.
    assert!(greatest < 1.95 / n.sqrt(), "{what}: greatest gap {greatest} of {n} draws");
}

/// ∫ exp(−t²/2) from 0 to x by the midpoint rule.
fn bell(x: f64) -> f64 {
    let steps = 400;
    let h = x / f64::from(steps);
    (0..steps).map(|i| h * (-((f64::from(i) + 0.5) * h).powi(2) / 2.0).exp()).sum()
}

#[test]
fn random_starts_have_the_radii_that_their_schemes_name() {
    let world = World::classes();
    // Few starts for each of several inputs, since the determinant of two thousand candidates takes its time.
    let inputs = world.inputs(10);
    // P(radius ≤ share · r).
    let up_to = |scheme: InitScheme, share: f64| match scheme {
        InitScheme::RandomRadius => share,
        InitScheme::GaussianRadius => bell(2.0 * share) / bell(2.0),
        InitScheme::UniformBall => share.powi(LATENT as i32),
        InitScheme::NearestPath | InitScheme::ClassPath => unreachable!("paths draw nothing"),
    };
    for scheme in [InitScheme::RandomRadius, InitScheme::GaussianRadius, InitScheme::UniformBall] {
        for radius in [1.5, 0.4] {
            let starts = Starts { radius: Some(radius), ..starts(&[scheme]) };
            let explanations = begin(&world, &starts, &inputs, 200, 8);
            let clues = explanations.iter().flat_map(|explanation| &explanation.clues);
            let shares: Vec<f64> = clues.map(|clue| f64::from(clue.distance.latent / radius)).collect();
            assert_eq!(shares.len(), 2000);
            assert_distribution(scheme.name(), shares, |share| up_to(scheme, share));
        }
    }
}
