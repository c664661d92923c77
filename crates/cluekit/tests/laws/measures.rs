//! What is read off explanations.

use super::*;

pub fn point(clue: &Clue, space: Space) -> &[f32] {
    match space {
        Space::X => &clue.x,
        Space::Z => &clue.z,
        Space::Y => &clue.probabilities,
    }
}

/// D of some clues in the space of the term.
pub fn measured(term: DiversityTerm, input: &Original, clues: &[&Clue]) -> f64 {
    let points: Vec<f32> = clues.iter().flat_map(|clue| point(clue, term.space)).copied().collect();
    let (width, original) = match term.space {
        Space::X => (input.x.len(), Some(input.x.as_slice())),
        Space::Z => (input.z.len(), Some(input.z.as_slice())),
        Space::Y => (input.probabilities.len(), None),
    };
    term.metric.of_by(&Set { points: &points, width, original }, term.distance)
}

pub fn all_clues(explanation: &Explanation) -> Vec<&Clue> {
    explanation.clues.iter().collect()
}

/// What a coupled search minimises: Σ L − k λ D of all at once, L − λ D or L + Σ λ / ρ of the last one behind the others.
pub fn coupled_objective(search: &Search, input: &Original, clues: &[&Clue]) -> f64 {
    let Weighted(weight, term) = search.objective.coupling().unwrap();
    let (weight, last) = (f64::from(weight), clues.len() - 1);
    let cost = |clue: &Clue| f64::from(clue.cost);
    match search.order {
        Order::Simultaneous => {
            clues.iter().map(|clue| cost(clue)).sum::<f64>()
                - clues.len() as f64 * weight * measured(term, input, clues)
        }
        // The first has nobody to be diverse from.
        Order::Sequential if last == 0 => cost(clues[0]),
        Order::Sequential => cost(clues[last]) - weight * measured(term, input, clues),
        Order::Penalty => {
            let apart = |clue: &&Clue| latent_distance(point(clue, term.space), point(clues[last], term.space));
            cost(clues[last]) + clues[..last].iter().map(|clue| weight / apart(clue).max(1e-3)).sum::<f64>()
        }
    }
}

pub fn assert_in_ball(what: &str, explanation: &Explanation) {
    for clue in &explanation.clues {
        let distance = latent_distance(&clue.z, &explanation.input.z);
        assert!((f64::from(clue.distance.latent) - distance).abs() < 1e-6 * (1.0 + distance), "{what}: {distance}");
        if let Some(delta) = clue.delta {
            assert!(distance <= f64::from(delta) * (1.0 + 1e-5), "{what}: {distance} of {delta}");
        }
    }
}

pub fn codes(explanations: &[Explanation]) -> Vec<&[f32]> {
    explanations.iter().flat_map(|explanation| explanation.clues.iter().map(|clue| clue.z.as_slice())).collect()
}

pub fn assert_near(what: &str, got: f32, expected: f32, tolerance: f32) {
    assert!((got - expected).abs() <= tolerance * (1.0 + expected.abs()), "{what}: {got}, expected {expected}");
}
