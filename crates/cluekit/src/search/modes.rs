//! Kinds of change among the accepted clues of one input.
//!
//! Of images, and of searches as the paper has them, they are clusters of codes in the latent space. Of a table they are
//! groups of changes: two clues are of one kind if they end in the same class, and at least half of all the features that
//! either changes go in the same direction in both,
//!
//! |A ∩ B| ≥ ½ |A ∪ B|,  A and B the sets of changed features, each with its direction.
//!
//! The first clue of a kind stands for it, and names it by its changes.

use crate::data::{Column, Schema};
use crate::explanation::{Clue, Direction, Label, Mode};
use crate::mixture::clusters;
use crate::seed::Seed;
use std::collections::BTreeMap;

/// Modes of one label at the most, where they are clusters of codes.
const MOST_MODES: usize = 10;

/// What tells kinds of change apart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Grouping<'a> {
    /// Where codes lie in the latent space.
    Codes(Seed),
    /// Which features of a table change, and in which direction.
    Changes(&'a Schema),
}

impl Grouping<'_> {
    /// The kinds of change among the accepted clues of the encoded input `x0`, numbered `index`.
    pub(super) fn modes(&self, clues: &[Clue], x0: &[f32], index: usize) -> Vec<Mode> {
        match self {
            Self::Codes(seed) => clusters_of_codes(clues, *seed, index),
            Self::Changes(schema) => groups_of_changes(clues, x0, schema),
        }
    }
}

/// A changed feature by its position, and where it goes: 0 for lower, 1 for higher, 2 for a number that was missing; from
/// 2 on the new category.
pub(super) type Move = (usize, usize);

/// Where each of some changed features goes, from the encoded row `x0` to `x`.
pub(super) fn moves(features: &[usize], x0: &[f32], x: &[f32], columns: &[Column]) -> Vec<Move> {
    let to = |feature: usize| {
        let (from, to) = (&x0[columns[feature].range()], &x[columns[feature].range()]);
        match to {
            [one] => usize::from(*one > from[0]),
            [number, _] if columns[feature].indicator().is_some() => match columns[feature].is_missing(x0) {
                true => 2,
                false => usize::from(*number > from[0]),
            },
            several => 2 + (0..several.len()).max_by(|&a, &b| several[a].total_cmp(&several[b])).unwrap_or(0),
        }
    };
    features.iter().map(|&feature| (feature, to(feature))).collect()
}

/// Whether two clues make the same kind of change.
pub(super) fn are_alike(a: &[Move], b: &[Move]) -> bool {
    let shared = a.iter().filter(|one| b.contains(one)).count();
    2 * shared >= a.len() + b.len() - shared
}

/// Groups of accepted clues that change about the same features in the same directions, in the order of the clues.
fn groups_of_changes(clues: &[Clue], x0: &[f32], schema: &Schema) -> Vec<Mode> {
    let columns = schema.columns();
    let position = |name: &String| schema.features.iter().position(|feature| feature.name == *name);
    let of_clue = |clue: &Clue| {
        let features: Vec<usize> = clue.changes.iter().filter_map(|change| position(&change.feature)).collect();
        moves(&features, x0, &clue.x, &columns)
    };
    let moves: Vec<Vec<Move>> = clues.iter().map(of_clue).collect();
    let mut modes: Vec<Mode> = Vec::new();
    for (place, clue) in clues.iter().enumerate().filter(|(_, clue)| clue.accepted) {
        let label = class_of(clue);
        let same = |mode: &&mut Mode| mode.label == label && are_alike(&moves[mode.best], &moves[place]);
        match modes.iter_mut().find(same) {
            Some(mode) => mode.clues.push(place),
            None => {
                let changes = Direction::of(clue, x0, schema);
                modes.push(Mode { label, clues: vec![place], best: place, changes });
            }
        }
    }
    modes
}

/// Clusters of the accepted clues of each label in latent space; their number is chosen by BIC.
fn clusters_of_codes(clues: &[Clue], seed: Seed, index: usize) -> Vec<Mode> {
    let mut by_label: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (i, clue) in clues.iter().enumerate().filter(|(_, clue)| clue.accepted) {
        by_label.entry(class_of(clue)).or_default().push(i);
    }
    let mut modes = Vec::new();
    for (label, members) in by_label {
        let points: Vec<f32> = members.iter().flat_map(|&i| clues[i].z.iter().copied()).collect();
        let mut rng = seed.numbered("modes", index as u64);
        for group in clusters(&points, points.len() / members.len(), MOST_MODES, &mut rng) {
            let group: Vec<usize> = group.into_iter().map(|at| members[at]).collect();
            let cheapest = group.iter().copied().min_by(|&a, &b| clues[a].cost.total_cmp(&clues[b].cost));
            modes.extend(cheapest.map(|best| Mode { label, clues: group, best, changes: vec![] }));
        }
    }
    modes
}

fn class_of(clue: &Clue) -> Option<usize> {
    match clue.label {
        Label::Class(class) => Some(class),
        Label::Value(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::{Change, Distances, StopReason};
    use crate::prediction::UncertaintyParts;

    /// Features and where they go.
    type Names = Vec<(String, String)>;

    /// What the client has: LIMIT_BAL 2, PAY_0 2 and the first ZIP.
    const CLIENT: [f32; 4] = [2.0, 2.0, 1.0, 0.0];

    fn table() -> Schema {
        toml::from_str(
            "target = { name = 'y', task = 'classification', classes = ['no', 'yes'] }\n\
             features = [{ name = 'LIMIT_BAL', kind = 'continuous', mean = 0.0, deviation = 1.0, least = 0.0, greatest = 9.0 },\n\
             { name = 'PAY_0', kind = 'continuous', mean = 0.0, deviation = 1.0, least = 0.0, greatest = 9.0 },\n\
             { name = 'ZIP', kind = 'categorical', categories = ['10115', '20095'] }]",
        )
        .unwrap()
    }

    fn clue(class: usize, x: &[f32], z: f32, cost: f32) -> Clue {
        Clue {
            label: Label::Class(class),
            label_name: None,
            uncertainty: UncertaintyParts { total: 0.1, aleatoric: 0.1, epistemic: 0.0 },
            probabilities: vec![0.5, 0.5],
            distance: Distances { input: 1.0, latent: 1.0, prediction: 0.0 },
            cost,
            steps: 1,
            stopped: StopReason::MaxSteps,
            accepted: true,
            reason: None,
            plausibility: None,
            mapper: None,
            agreement: None,
            minimal: None,
            found_by: None,
            delta: None,
            changes: vec![],
            row: None,
            x: x.to_vec(),
            z: vec![z],
            path: vec![],
        }
    }

    /// An accepted clue of the client, with the changes that lead to it.
    fn changed(class: usize, x: [f32; 4]) -> Clue {
        let change = |(name, at): (&str, usize)| {
            let to = if x[3] > 0.5 { "20095" } else { "10115" };
            let change = Change { feature: name.into(), from: String::new(), to: to.into(), unit: None };
            ((x[at] - CLIENT[at]).abs() > 0.1).then_some(change)
        };
        let changes = [("LIMIT_BAL", 0), ("PAY_0", 1), ("ZIP", 2)].into_iter().filter_map(change).collect();
        Clue { changes, ..clue(class, &x, 0.0, 1.0) }
    }

    /// The clues of each kind of change, and what it is named by.
    fn found(clues: &[Clue]) -> Vec<(Vec<usize>, Names)> {
        let modes = Grouping::Changes(&table()).modes(clues, &CLIENT, 0);
        let names = |mode: &Mode| mode.changes.iter().map(|d| (d.feature.clone(), d.to.clone())).collect();
        modes.iter().map(|mode| (mode.clues.clone(), names(mode))).collect()
    }

    fn named(feature: &str, to: &str) -> (String, String) {
        (feature.into(), to.into())
    }

    #[test]
    fn clues_that_change_the_same_features_in_the_same_direction_are_one_kind() {
        let clues = [changed(0, [2.0, 0.0, 1.0, 0.0]), changed(0, [2.0, 1.0, 1.0, 0.0])];
        assert_eq!(found(&clues), [(vec![0, 1], vec![named("PAY_0", "lower")])]);
    }

    #[test]
    fn the_other_direction_another_class_and_another_category_are_other_kinds() {
        let clues = [
            changed(0, [2.0, 0.0, 1.0, 0.0]),
            changed(0, [2.0, 3.0, 1.0, 0.0]),
            changed(1, [2.0, 0.0, 1.0, 0.0]),
            changed(0, [2.0, 2.0, 0.0, 1.0]),
        ];
        let lower = || vec![named("PAY_0", "lower")];
        let kinds = [
            (vec![0], lower()),
            (vec![1], vec![named("PAY_0", "higher")]),
            (vec![2], lower()),
            (vec![3], vec![named("ZIP", "20095")]),
        ];
        assert_eq!(found(&clues), kinds);
    }

    #[test]
    fn clues_that_share_half_of_their_changes_are_one_kind_and_the_first_names_it() {
        // {LIMIT_BAL, PAY_0} and {PAY_0} share one of two; {LIMIT_BAL, PAY_0} and {PAY_0, ZIP} one of three.
        let both = changed(0, [5.0, 0.0, 1.0, 0.0]);
        let name = || vec![named("LIMIT_BAL", "higher"), named("PAY_0", "lower")];
        assert_eq!(found(&[both.clone(), changed(0, [2.0, 0.0, 1.0, 0.0])]), [(vec![0, 1], name())]);
        assert_eq!(found(&[both, changed(0, [2.0, 0.0, 0.0, 1.0])]).len(), 2);
    }

    #[test]
    fn rejected_clues_make_no_kind_and_clues_without_a_change_one() {
        let rejected = Clue { accepted: false, ..changed(0, [2.0, 0.0, 1.0, 0.0]) };
        let same = || changed(0, [2.0, 2.0, 1.0, 0.0]);
        assert_eq!(found(&[rejected, same(), same()]), [(vec![1, 2], vec![])]);
    }

    #[test]
    fn clusters_of_codes_are_counted_label_by_label() {
        let mut clues: Vec<Clue> =
            [0.0, 0.01, 0.02, 9.0, 9.01, 9.02].iter().map(|&z| clue(0, &[], z, 1.0 + z)).collect();
        clues.push(clue(1, &[], 0.0, 0.5));
        clues.push(Clue { accepted: false, ..clue(1, &[], 50.0, 0.5) });
        let modes = Grouping::Codes(Seed(0)).modes(&clues, &[], 0);
        let found: Vec<(Option<usize>, Vec<usize>, usize)> =
            modes.into_iter().map(|mode| (mode.label, mode.clues, mode.best)).collect();
        assert_eq!(found, [(Some(0), vec![0, 1, 2], 0), (Some(0), vec![3, 4, 5], 3), (Some(1), vec![6], 6)]);
    }
}
