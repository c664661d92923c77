//! Methods that are others with a setting: to the last bit.

use super::*;

#[test]
fn a_diversity_without_weight_is_exactly_delta_clue() {
    let world = World::classes();
    let inputs = world.inputs(2);
    let delta = after(8, &Search::delta_clue(ball(1.0), 3));
    let expected = world.explain(&delta, &inputs, 1);
    for term in terms() {
        for order in ORDERS {
            let nabla = Search { order, ..after(8, &Search::nabla_clue(ball(1.0), 3, Weighted(0.0, term))) };
            assert_eq!(world.explain(&nabla, &inputs, 1), expected, "{term:?}, {order:?}");
        }
    }
}

#[test]
fn one_candidate_from_the_input_without_a_ball_is_exactly_clue() {
    let world = World::classes();
    let inputs = world.inputs(3);
    let expected = world.explain(&Search::clue(), &inputs, 2);
    let everywhere = Delta::Fixed(LatentBall::new(f32::INFINITY).unwrap());
    for scheme in InitScheme::ALL {
        let starts = Starts { radius: Some(0.0), ..starts(&[scheme]) };
        let delta = Search { starts: starts.clone(), ..Search::delta_clue(everywhere, 1) };
        assert_eq!(world.explain(&delta, &inputs, 2), expected, "{scheme:?}");
        for order in ORDERS {
            let nabla = Search::nabla_clue(everywhere, 1, diversity(5.0, Diversity::Dpp, Space::Z));
            let nabla = Search { starts: starts.clone(), order, ..nabla };
            assert_eq!(world.explain(&nabla, &inputs, 2), expected, "{scheme:?}, {order:?}");
        }
    }
}

#[test]
fn so_many_times_the_automatic_ball_is_exactly_a_ball_of_that_radius() {
    let world = World::classes();
    let inputs = world.inputs(1);
    let search = after(5, &Search::delta_clue(Delta::Auto, 3));
    let automatic = world.explain(&search, &inputs, 5);
    let radius = automatic[0].clues[0].delta.unwrap();
    for (delta, times) in [(Delta::Wider(1), 1.0), (Delta::Wider(4), 4.0)] {
        let expected = world.explain(&Search { delta: ball(times * radius), ..search.clone() }, &inputs, 5);
        assert_eq!(world.explain(&Search { delta, ..search.clone() }, &inputs, 5)[0].clues, expected[0].clues);
    }
}

#[test]
fn the_same_settings_and_seed_give_the_same_bytes_on_one_thread_and_on_several() {
    let world = World::classes();
    // Enough rows for several descents at once.
    let inputs = world.inputs(20);
    let on = |threads: usize, search: &Search| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| serde_json::to_string(&world.explain(search, &inputs, 3)).unwrap())
    };
    for (name, search) in searches() {
        let search = with_sub_searches(&after(6, &search));
        let expected = on(1, &search);
        for threads in [2, 3] {
            assert!(on(threads, &search) == expected, "{name}: {threads} threads find something else");
        }
    }
}

#[test]
fn an_input_is_explained_the_same_in_any_company() {
    let world = World::classes();
    let all = world.inputs(5);
    for (name, search) in searches() {
        let (begin, end) = (world.explain(&after(0, &search), &all, 4), world.explain(&search, &all, 4));
        for row in 0..all.len() {
            let alone = all.select(&[row]);
            let begin_alone = world.explain(&after(0, &search), &alone, 4);
            assert_eq!(begin_alone[0].input.index, begin[row].input.index);
            assert_eq!(codes(&begin_alone), codes(&begin[row..=row]), "{name}: the starts of input {row}");
            let end_alone = world.explain(&search, &alone, 4);
            for (a, b) in end_alone[0].clues.iter().zip(&end[row].clues) {
                let apart = a.x.iter().zip(&b.x).fold(0.0f32, |most, (a, b)| most.max((a - b).abs()));
                assert!(apart < 1e-3, "{name}: input {row} is explained {apart} away when it is alone");
            }
        }
    }
}
