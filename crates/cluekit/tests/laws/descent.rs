//! No clue leaves its ball, and none is worse than its start.

use super::*;

#[test]
fn every_clue_lies_in_its_ball_and_is_no_worse_than_its_start() {
    let world = World::classes();
    let inputs = world.inputs(4);
    for (name, search) in searches() {
        let (begin, end) = (world.explain(&after(0, &search), &inputs, 5), world.explain(&search, &inputs, 5));
        for (begin, end) in begin.iter().zip(&end) {
            assert_eq!(end.clues.len(), search.count, "{name}");
            [begin, end].into_iter().for_each(|explanation| assert_in_ball(&name, explanation));
            let (first, last) = (all_clues(begin), all_clues(end));
            let no_worse = |what: &str, before: f64, now: f64| {
                assert!(now <= before + 1e-5 * (1.0 + before.abs()), "{name}, {what}: from {before} to {now}");
            };
            match (search.objective.coupling(), search.order) {
                (None, _) => {
                    for (before, now) in first.iter().zip(&last) {
                        no_worse("cost", f64::from(before.cost), f64::from(now.cost));
                    }
                }
                (Some(_), Order::Simultaneous) => {
                    let [before, now] = [&first, &last].map(|set| coupled_objective(&search, &end.input, set));
                    no_worse("objective of the set", before, now);
                }
                (Some(_), Order::Sequential | Order::Penalty) => {
                    for place in 0..search.count {
                        let behind = |clue| [&last[..place], &[clue]].concat();
                        let [before, now] = [first[place], last[place]]
                            .map(|clue| coupled_objective(&search, &end.input, &behind(clue)));
                        no_worse("objective of one more", before, now);
                    }
                }
            }
        }
    }
}

#[test]
fn further_searches_and_sweeps_keep_their_balls_too() {
    let world = World::classes();
    let inputs = world.inputs(3);
    for (name, search) in searches() {
        let search = with_sub_searches(&after(6, &search));
        let further = search.count.min(2) * 3;
        for explanation in world.explain(&search, &inputs, 6) {
            assert_eq!(explanation.clues.len(), search.count + further, "{name}");
            assert_in_ball(&name, &explanation);
        }
    }
    let radii = [0.5, 1.0, 2.0];
    let search = after(6, &Search::delta_clue(ball(9.0), 4));
    let (models, background) = (world.models(), world.background());
    for explanation in search.sweep(&radii.map(ball), &models, &background, &inputs, Seed(6), &mut Silent).unwrap() {
        let deltas: Vec<f32> = explanation.clues.iter().map(|clue| clue.delta.unwrap()).collect();
        assert_eq!(deltas, radii.map(|radius| [radius; 4]).concat());
        assert_in_ball("sweep", &explanation);
    }
}

#[test]
fn most_uncertain_inputs_find_certainty_without_a_ball() {
    // Otherwise the laws here would hold of a search that never moves.
    let world = World::classes();
    let found = world.explain(&Search::clue(), &world.inputs(20), 0);
    let accepted = found.iter().filter(|explanation| explanation.clues[0].accepted).count();
    assert!(accepted >= 15, "{accepted} of 20");
}

#[test]
fn a_path_begins_at_its_start_stays_in_the_ball_and_passes_its_clue() {
    let world = World::classes();
    let inputs = world.inputs(3);
    let convergence = Convergence::all_steps(12);
    let free = Search { convergence, ..Search::clue() };
    let bounded = Search { convergence, ..Search::delta_clue(ball(0.8), 4) };
    let apart = diversity(0.5, Diversity::Dpp, Space::Z);
    let one_by_one = Search { convergence, order: Order::Sequential, ..Search::nabla_clue(ball(0.8), 3, apart) };
    for search in [free, bounded, one_by_one] {
        let plain = search.explain(&world.models(), &world.background(), &inputs, Seed(3), &mut Silent).unwrap();
        let search = Search { traced: true, ..search };
        let found = search.explain(&world.models(), &world.background(), &inputs, Seed(3), &mut Silent).unwrap();
        for (explanation, plain) in found.iter().zip(&plain) {
            assert_eq!(explanation.clues.len(), search.count);
            for (clue, plain) in explanation.clues.iter().zip(&plain.clues) {
                let path = &clue.path;
                assert!(plain.path.is_empty() && Clue { path: vec![], ..clue.clone() } == *plain, "the way is all");
                assert_eq!(path.len(), 13, "the start and twelve steps");
                assert!(path.contains(&clue.z), "the best point lies on the way");
                let away = |z: &[f32]| latent_distance(z, &explanation.input.z);
                match search.count {
                    1 => assert!(away(&path[0]) < 1e-6, "CLUE begins at the input's own code"),
                    _ => assert!(path.iter().all(|z| away(z) < 0.8 + 1e-5), "no step leaves the ball"),
                }
            }
        }
    }
}
