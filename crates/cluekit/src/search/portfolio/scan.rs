//! The exact scan of one and of two changes over the values that training rows hold.

use super::tried::{Candidate, Goal, Trial, Tried};
use crate::error::Result;
use crate::explanation::FoundBy;

/// Rows that are asked at once; it bounds the memory.
const BLOCK: usize = 16_384;

/// All rows that differ from the input in one feature.
fn singles(trial: &Trial, input: usize) -> Vec<Candidate> {
    let origin = trial.origin(input);
    let row = |feature: usize, value: &[f32]| Candidate {
        input,
        x: trial.groups.with(trial.lattice, &origin.x, feature, value),
        by: FoundBy::Scan,
    };
    let of_feature = |feature: usize| {
        trial.lattice.others(feature, &origin.x, trial.bounds(input)).map(|v| row(feature, v)).collect::<Vec<_>>()
    };
    (0..trial.lattice.features()).flat_map(of_feature).collect()
}

/// The best rows with one change for each of the inputs, at most `most` of each.
pub fn one_change(trial: &Trial, inputs: &[usize], most: usize) -> Result<Vec<Tried>> {
    let rows: Vec<Candidate> = inputs.iter().flat_map(|&input| singles(trial, input)).collect();
    best_of_each(trial, rows.into_iter(), most)
}

/// The best rows with two changes for each of the inputs, at most `most` of each.
pub fn two_changes(trial: &Trial, inputs: &[usize], most: usize) -> Result<Vec<Tried>> {
    if trial.most_changed < 2 {
        return Ok(vec![]);
    }
    let pairs = |input: usize| {
        let (origin, lattice) = (trial.origin(input), trial.lattice);
        singles(trial, input).into_iter().flat_map(move |first| {
            let changed = lattice.changed(&origin.x, &first.x)[0];
            let second = move |feature: usize, first: &Candidate| {
                let values = lattice.others(feature, &origin.x, trial.bounds(input));
                values
                    .map(|value| Candidate { x: trial.groups.with(lattice, &first.x, feature, value), ..first.clone() })
                    .collect::<Vec<_>>()
            };
            (changed + 1..lattice.features()).flat_map(move |feature| second(feature, &first))
        })
    };
    best_of_each(trial, inputs.iter().flat_map(|&input| pairs(input)), most)
}

/// Numbers of rows that scans of one change and of two ask about for an input.
pub fn sizes(trial: &Trial, input: usize) -> (usize, usize) {
    let counts: Vec<usize> = (0..trial.lattice.features())
        .map(|feature| trial.lattice.others(feature, &trial.origin(input).x, trial.bounds(input)).count())
        .collect();
    let sum: usize = counts.iter().sum();
    let squares: usize = counts.iter().map(|count| count * count).sum();
    (sum, (sum * sum - squares) / 2)
}

/// Asks about rows block by block, and keeps the best of each input.
fn best_of_each(trial: &Trial, mut rows: impl Iterator<Item = Candidate>, most: usize) -> Result<Vec<Tried>> {
    let mut kept: Vec<Tried> = Vec::new();
    loop {
        let block: Vec<Candidate> = rows.by_ref().take(BLOCK).collect();
        if block.is_empty() {
            return Ok(kept);
        }
        kept.extend(trial.ask(block)?);
        kept.sort_by(|a, b| {
            let score = |tried: &Tried| tried.score(Goal::Certain);
            a.row.input.cmp(&b.row.input).then(score(a).total_cmp(&score(b)))
        });
        let (mut input, mut count) = (usize::MAX, 0);
        kept.retain(|tried| {
            count = if tried.row.input == input { count + 1 } else { 1 };
            input = tried.row.input;
            count <= most
        });
    }
}
