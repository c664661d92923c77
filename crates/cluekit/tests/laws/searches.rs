//! Every kind of search that the laws are tried on.

use super::*;

pub fn ball(radius: f32) -> Delta {
    Delta::Fixed(LatentBall::new(radius).unwrap())
}

pub fn starts(schemes: &[InitScheme]) -> Starts {
    Starts { schemes: schemes.to_vec(), ..Starts::default() }
}

pub fn after(steps: usize, search: &Search) -> Search {
    Search { convergence: Convergence { max_steps: steps, ..search.convergence }, ..search.clone() }
}

pub fn diversity(weight: f32, metric: Diversity, space: Space) -> Weighted<DiversityTerm> {
    Weighted(weight, DiversityTerm { metric, space, distance: Norm::L2 })
}

pub const ORDERS: [Order; 3] = [Order::Simultaneous, Order::Sequential, Order::Penalty];
pub const DECODINGS: [Decoding; 2] = [Decoding::Mean, Decoding::Anchored];

/// Every diversity that can be an objective in every space that it allows, by every distance that it looks at.
pub fn terms() -> Vec<DiversityTerm> {
    let differentiable = Diversity::ALL.into_iter().filter(|metric| metric.check_objective().is_ok());
    let in_spaces = differentiable.flat_map(|metric| metric.spaces().iter().map(move |&space| (metric, space)));
    in_spaces
        .flat_map(|(metric, space)| Norm::ALL.map(|distance| DiversityTerm { metric, space, distance }))
        .filter(|term| term.metric.check_distance(term.distance).is_ok())
        .collect()
}

/// A search of every kind, with a name: methods, schemes, orders, decodings, radii.
pub fn searches() -> Vec<(String, Search)> {
    let objective = Objective { input: Weighted(0.03, Distance::L1), ..Objective::default() };
    let delta = Search { objective: objective.clone(), ..Search::delta_clue(ball(0.8), 4) };
    let mut all = vec![
        ("clue".to_owned(), Search { objective, ..Search::clue() }),
        ("δ-clue, automatic".to_owned(), Search { delta: Delta::Auto, ..delta.clone() }),
    ];
    for scheme in InitScheme::ALL {
        all.push((format!("δ-clue, {}", scheme.name()), Search { starts: starts(&[scheme]), ..delta.clone() }));
    }
    let mixed = Starts { jitter: 0.3, spread: 3, ..starts(&InitScheme::ALL) };
    all.push(("δ-clue, all schemes, moved and spread".to_owned(), Search { starts: mixed, count: 7, ..delta.clone() }));
    all.push(("δ-clue, anchored".to_owned(), Search { decoding: Decoding::Anchored, ..delta.clone() }));
    for order in ORDERS {
        for (metric, space) in
            [(Diversity::Dpp, Space::Z), (Diversity::Coverage, Space::X), (Diversity::PredictionCoverage, Space::Y)]
        {
            let diversity = Some(diversity(0.5, metric, space));
            let objective = Objective { diversity, ..delta.objective.clone() };
            all.push((format!("∇-clue, {metric} in {space}, {order:?}"), Search { objective, order, ..delta.clone() }));
        }
    }
    all
}

pub fn with_sub_searches(search: &Search) -> Search {
    Search { sub_searches: Some(SubSearches { best: 2, each: 3, radius: 0.4 }), ..search.clone() }
}
