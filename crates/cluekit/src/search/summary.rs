//! From the clues of one input to its explanation: label distribution, modes, frontier, diversity.

use super::modes::Grouping;
use crate::diversity::{Set, Summary};
use crate::explanation::{Advice, Clue, Explanation, Label, Original, Reconstruction};

/// A cost below this counts as this: it keeps a weight of 1 / cost² finite.
const LEAST_COST: f64 = 1e-6;

impl Explanation {
    /// Sums up the clues of an input as an explanation.
    pub(super) fn of(
        input: Original,
        reconstruction: Reconstruction,
        clues: Vec<Clue>,
        advice: Option<Advice>,
        grouping: Grouping,
    ) -> Self {
        Self {
            diversity: diversity(&input, &clues),
            label_distribution: label_distribution(&clues, input.probabilities.len()),
            modes: grouping.modes(&clues, &input.x, input.index),
            frontier: frontier(&clues),
            input,
            reconstruction,
            clues,
            advice,
        }
    }

    /// One line that counts accepted clues and explained inputs.
    pub fn tally(explanations: &[Self]) -> String {
        let clues: usize = explanations.iter().map(|e| e.clues.len()).sum();
        let accepted: usize = explanations.iter().map(|e| e.accepted().count()).sum();
        let explained = explanations.iter().filter(|e| e.accepted().next().is_some()).count();
        format!("{accepted} of {clues} clues accepted; {explained} of {} inputs explained", explanations.len())
    }

    /// The clues that were accepted, with their positions.
    pub fn accepted(&self) -> impl Iterator<Item = (usize, &Clue)> {
        self.clues.iter().enumerate().filter(|(_, clue)| clue.accepted)
    }
}

fn diversity(input: &Original, clues: &[Clue]) -> Summary {
    let stack = |of: fn(&Clue) -> &[f32]| clues.iter().flat_map(of).copied().collect::<Vec<f32>>();
    let (x, z, y) = (stack(|c| &c.x), stack(|c| &c.z), stack(|c| &c.probabilities));
    let classes = input.probabilities.len();
    Summary::of(
        &Set { points: &x, width: input.x.len(), original: Some(&input.x) },
        &Set { points: &z, width: input.z.len(), original: Some(&input.z) },
        (classes > 0).then_some(Set { points: &y, width: classes, original: None }).as_ref(),
    )
}

/// For each class (least cost of its accepted clues)⁻², normalised. [Ley2022, App. B]
fn label_distribution(clues: &[Clue], classes: usize) -> Option<Vec<f64>> {
    let mut least = vec![f64::INFINITY; classes];
    for clue in clues.iter().filter(|clue| clue.accepted) {
        if let Label::Class(label) = clue.label {
            least[label] = least[label].min(f64::from(clue.cost).max(LEAST_COST));
        }
    }
    let weights: Vec<f64> = least.iter().map(|cost| cost.powi(-2)).collect();
    let sum: f64 = weights.iter().sum();
    (sum > 0.0).then(|| weights.iter().map(|weight| weight / sum).collect())
}

/// Positions of the clues, the accepted before the rejected, each by rising cost.
pub(super) fn best_first(clues: &[Clue]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..clues.len()).collect();
    let key = |at: usize| (!clues[at].accepted, clues[at].cost);
    order.sort_by(|&a, &b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)));
    order
}

/// Positions of the clues that no other beats in both uncertainty and input distance, by rising distance.
fn frontier(clues: &[Clue]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..clues.len()).collect();
    let key = |i: usize| (clues[i].distance.input, clues[i].uncertainty.total);
    order.sort_by(|&a, &b| key(a).0.total_cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)));
    let mut least = f32::INFINITY;
    order.retain(|&i| {
        let beats = clues[i].uncertainty.total < least;
        least = least.min(clues[i].uncertainty.total);
        beats
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::{Distances, StopReason};
    use crate::prediction::UncertaintyParts;

    fn clue(label: usize, total: f32, distance: f32, cost: f32, accepted: bool) -> Clue {
        Clue {
            label: Label::Class(label),
            label_name: None,
            uncertainty: UncertaintyParts { total, aleatoric: total, epistemic: 0.0 },
            probabilities: vec![0.5, 0.5],
            distance: Distances { input: distance, latent: distance, prediction: 0.0 },
            cost,
            steps: 1,
            stopped: StopReason::MaxSteps,
            accepted,
            reason: None,
            plausibility: None,
            mapper: None,
            agreement: None,
            minimal: None,
            found_by: None,
            delta: None,
            changes: vec![],
            row: None,
            x: vec![distance],
            z: vec![distance],
            path: vec![],
        }
    }

    #[test]
    fn a_label_weighs_by_the_inverse_square_of_its_least_cost() {
        // Least costs 1 and 2: weights 1 and ¼, shares 0.8 and 0.2; a rejected clue counts nothing.
        let clues = [
            clue(0, 0.1, 1.0, 3.0, true),
            clue(0, 0.1, 1.0, 1.0, true),
            clue(1, 0.1, 1.0, 2.0, true),
            clue(1, 0.1, 1.0, 0.1, false),
        ];
        assert_eq!(label_distribution(&clues, 2), Some(vec![0.8, 0.2]));
        assert_eq!(label_distribution(&clues[3..], 2), None);
    }

    #[test]
    fn an_accepted_clue_is_better_than_a_rejected_one_that_costs_less() {
        let clues = [
            clue(0, 0.5, 1.0, 0.1, false),
            clue(0, 0.1, 1.0, 2.0, true),
            clue(0, 0.5, 1.0, 0.2, false),
            clue(0, 0.1, 1.0, 1.0, true),
        ];
        assert_eq!(best_first(&clues), [3, 1, 0, 2]);
    }

    #[test]
    fn the_frontier_holds_what_nothing_beats() {
        let clues = [
            clue(0, 0.5, 1.0, 0.0, true),
            clue(0, 0.2, 2.0, 0.0, true),
            clue(0, 0.3, 3.0, 0.0, true),
            clue(0, 0.1, 4.0, 0.0, true),
        ];
        assert_eq!(frontier(&clues), [0, 1, 3]);
    }
}
