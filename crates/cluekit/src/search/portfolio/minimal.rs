//! Minimal counterfactuals: every change that can be taken back is taken back, and what remains costs as little as it can.
//!
//! A round tries, for each row, every changed feature at its old value, a third and two thirds of the way back, and at the
//! other values that training rows hold. A change that can go goes, whichever way leaves the least cost; where none can,
//! the value that lowers the cost most is taken. A row is done when neither is possible.

use super::tried::{Candidate, Trial, Tried};
use crate::data::{Kind, Schema};
use crate::error::Result;

/// Rounds at the most; each takes one change back or lowers the cost.
const MOST_ROUNDS: usize = 64;
/// Least gain that counts, so that rounding does not keep a row going.
const LEAST_GAIN: f32 = 1e-5;
/// Shares of the way from the input's value to the row's.
const SHARES: [f32; 2] = [1.0 / 3.0, 2.0 / 3.0];

/// Takes back what accepted rows need not change, and lowers their cost; rejected rows stay as they are.
pub fn minimal(trial: &Trial, schema: &Schema, mut rows: Vec<Tried>) -> Result<Vec<Tried>> {
    let mut active: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].accepted).collect();
    for _ in 0..MOST_ROUNDS {
        let mut moves = Vec::new();
        for &at in &active {
            moves.extend(moves_of(trial, schema, &rows[at].row).into_iter().map(|(back, row)| (at, back, row)));
        }
        if moves.is_empty() {
            break;
        }
        let places: Vec<(usize, bool)> = moves.iter().map(|(at, back, _)| (*at, *back)).collect();
        let tried = trial.ask(moves.into_iter().map(|(_, _, row)| row).collect())?;
        let mut best: Vec<Option<(bool, Tried)>> = vec![None; rows.len()];
        for ((at, back), tried) in places.into_iter().zip(tried) {
            let helps = tried.accepted && (back || tried.cost < rows[at].cost - LEAST_GAIN);
            let rank = |back: bool, cost: f32| (!back, cost);
            if helps && best[at].as_ref().is_none_or(|(b, t)| rank(back, tried.cost) < rank(*b, t.cost)) {
                best[at] = Some((back, tried));
            }
        }
        active.retain(|&at| best[at].is_some());
        for (at, tried) in best.into_iter().enumerate().filter_map(|(at, best)| Some((at, best?.1))) {
            rows[at] = tried;
        }
        if active.is_empty() {
            break;
        }
    }
    Ok(rows)
}

/// The rows with one changed feature elsewhere; those with a change less are marked.
fn moves_of(trial: &Trial, schema: &Schema, row: &Candidate) -> Vec<(bool, Candidate)> {
    let (origin, lattice) = (trial.origin(row.input), trial.lattice);
    let mut moves = Vec::new();
    for feature in lattice.changed(&origin.x, &row.x) {
        let range = lattice.column(feature).range();
        let (from, to) = (&origin.x[range.clone()], &row.x[range]);
        let mut push = |back: bool, value: &[f32]| {
            let moved = Candidate { x: lattice.with(&row.x, feature, value), ..row.clone() };
            if moved.x != row.x && (!back || trial.is_allowed(&moved)) {
                moves.push((back, moved));
            }
        };
        push(true, from);
        if let Kind::Continuous(scaling) | Kind::Ordinal(scaling) = &schema.features[feature].kind {
            for share in SHARES {
                let value = scaling.encode(scaling.decode(from[0] + share * (to[0] - from[0])));
                if (value - from[0]).abs() > 0.0 {
                    push(false, &[value]);
                }
            }
        }
        let others: Vec<Vec<f32>> =
            lattice.others(feature, &origin.x, trial.bounds(row.input)).map(<[f32]>::to_vec).collect();
        others.iter().for_each(|value| push(false, value));
    }
    moves
}
