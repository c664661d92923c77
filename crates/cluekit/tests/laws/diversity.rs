//! How diverse clues are, and become.

use super::*;

/// Every measure in an explanation, by its name, and the space it is measured in.
fn diversities(explanation: &Explanation) -> Vec<(Diversity, Space, f64)> {
    let Json::Object(summary) = serde_json::to_value(&explanation.diversity).unwrap() else { unreachable!() };
    let mut all = Vec::new();
    for (name, value) in summary {
        let metric: Diversity = name.parse().unwrap();
        match value {
            Json::Object(spaces) => all.extend(spaces.into_iter().map(|(space, value)| {
                // JSON has no −∞.
                (metric, space.parse().unwrap(), value.as_f64().unwrap_or(f64::NEG_INFINITY))
            })),
            Json::Null => {}
            value => all.push((metric, Space::Y, value.as_f64().unwrap())),
        }
    }
    all
}

#[test]
fn the_diversity_of_an_explanation_is_that_of_its_clues_and_within_bounds() {
    for (world, measures) in [(World::classes(), 13), (World::regression(), 10)] {
        let inputs = world.inputs(3);
        for count in [1, 2, 5] {
            for explanation in world.explain(&after(5, &Search::delta_clue(ball(1.0), count)), &inputs, 9) {
                let all = diversities(&explanation);
                assert_eq!(all.len(), measures);
                for (metric, space, value) in all {
                    let (least, greatest) = metric.bounds(explanation.input.probabilities.len());
                    assert!((least..=greatest).contains(&value), "{metric} in {space}: {value}");
                    let term = DiversityTerm { metric, space, distance: Norm::L2 };
                    let again = measured(term, &explanation.input, &all_clues(&explanation));
                    assert!((value - again).abs() <= 1e-12 * (1.0 + again.abs()), "{metric} in {space}");
                    let pairs = metric.compares_pairs();
                    assert!(count > 1 || !pairs || value == 0.0, "{metric} in {space} of one clue is {value}");
                }
            }
        }
    }
}

#[test]
fn a_diversity_with_weight_makes_clues_more_diverse_in_its_own_space() {
    let world = World::classes();
    let inputs = world.inputs(4);
    let search = Search::delta_clue(ball(1.5), 3);
    let without = world.explain(&search, &inputs, 10);
    for term in terms() {
        for order in [Order::Simultaneous, Order::Sequential] {
            let objective = Objective { diversity: Some(Weighted(20.0, term)), ..Objective::default() };
            let with = world.explain(&Search { objective, order, ..search.clone() }, &inputs, 10);
            let mut gain = 0.0;
            for (without, with) in without.iter().zip(&with) {
                assert_in_ball(&format!("{term:?}, {order:?}"), with);
                let [before, now] = [without, with].map(|found| measured(term, &found.input, &all_clues(found)));
                // Labels can be as diverse as they get without any help.
                assert!(now >= before - 0.01, "{term:?}, {order:?}: {now}, without weight {before}");
                gain += now - before;
            }
            assert!(term.space != Space::Z || gain > 0.01, "{term:?}, {order:?} gained {gain} over all inputs");
        }
    }
}

#[test]
fn a_penalty_keeps_clues_apart_in_its_space() {
    let world = World::classes();
    let inputs = world.inputs(4);
    let search = Search { order: Order::Penalty, ..Search::delta_clue(ball(1.5), 3) };
    let without = world.explain(&search, &inputs, 11);
    for space in Space::ALL {
        let objective = Objective { diversity: Some(diversity(5.0, Diversity::Dpp, space)), ..Objective::default() };
        let with = world.explain(&Search { objective, ..search.clone() }, &inputs, 11);
        let mut relief = 0.0;
        for (without, with) in without.iter().zip(&with) {
            assert_in_ball(space.name(), with);
            let [before, now] = [without, with].map(|found| {
                let pairs = [(0, 1), (0, 2), (1, 2)];
                let apart = |(a, b): (usize, usize)| {
                    1.0 / latent_distance(point(&found.clues[a], space), point(&found.clues[b], space)).max(1e-3)
                };
                pairs.map(apart).iter().sum::<f64>()
            });
            // Where clues are as far apart as they can be without any help there is nothing to gain.
            assert!(now <= 1.01 * before, "{space}: {now}, without weight {before}");
            relief += before - now;
        }
        assert!(space != Space::Z || relief > 0.01, "{space} gained {relief} over all inputs");
    }
}
