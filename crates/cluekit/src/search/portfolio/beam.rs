//! From rows to better rows: a beam over changes.
//!
//! A round takes the best few rows of each input that change different features, and tries for each of their changes the
//! old value, a third and two thirds of the way, and other categories; where a beam grows, also the other values that
//! training rows hold, and a change more. Moves that each better a row are tried together as well. What is best by its
//! score goes on, until nothing better comes.

use super::tried::{Candidate, Goal, Trial, Tried};
use crate::data::Schema;
use crate::error::Result;
use std::collections::{HashMap, HashSet};

/// Shares of the way from the input's value to the row's; and finer ones, beyond it too, where a row may grow.
const SHARES: [f32; 2] = [1.0 / 3.0, 2.0 / 3.0];
const FINE_SHARES: [f32; 5] = [1.0 / 3.0, 2.0 / 3.0, 0.85, 1.2, 1.5];
/// Moves for each place in a beam that a rough look leaves.
const LOOKED_AT: usize = 12;
/// Rows that are remembered for each place in a beam.
const REMEMBERED: usize = 32;
/// Rows that change the same features and are remembered.
const ALIKE: usize = 3;

/// How a beam goes.
#[derive(Clone, Copy, Debug)]
pub struct Beam {
    /// What rows must become.
    pub goal: Goal,
    /// Rows of an input that are carried on in each round.
    pub width: usize,
    /// Rounds at the most.
    pub rounds: usize,
    /// Whether a row may change more than it does.
    pub grows: bool,
    /// Whether a rough look says which moves are worth an exact one; near the threshold it sees too little.
    pub rough: bool,
}

/// The rows of one input.
struct Rows {
    best: Vec<Known>,
    seen: HashSet<Vec<u32>>,
}

struct Known {
    tried: Tried,
    score: f32,
    changed: Vec<usize>,
    followed: bool,
}

impl Beam {
    /// The best rows that are found from `starts`, a few for each input, in the order of inputs and scores.
    pub fn run(&self, trial: &Trial, schema: &Schema, starts: Vec<Tried>) -> Result<Vec<Tried>> {
        let mut inputs: Vec<usize> = starts.iter().map(|tried| tried.row.input).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let mut all: Vec<Rows> = inputs.iter().map(|_| Rows { best: vec![], seen: HashSet::new() }).collect();
        let place = |input: usize| inputs.binary_search(&input).expect("an input of these");
        for tried in starts {
            let rows = &mut all[place(tried.row.input)];
            if rows.seen.insert(bits(&tried.row.x)) {
                self.add(trial, rows, tried);
            }
        }
        all.iter_mut().for_each(|rows| self.sort(rows));
        for _ in 0..self.rounds {
            let (mut moves, mut followed) = (Vec::new(), Vec::new());
            for rows in &mut all {
                for at in self.front(rows) {
                    if !std::mem::replace(&mut rows.best[at].followed, true) {
                        let known = &rows.best[at];
                        let next = self.moves(trial, schema, &known.tried.row, &known.changed);
                        let new = next.into_iter().filter(|row| rows.seen.insert(bits(&row.x)));
                        moves.extend(new.filter(|row| trial.is_allowed(row)));
                        followed.push(known.tried.clone());
                    }
                }
            }
            if moves.is_empty() {
                break;
            }
            let moves = match self.rough {
                true => trial.worth_asking(moves, self.goal, LOOKED_AT * self.width)?,
                false => moves,
            };
            let tried = trial.ask(moves)?;
            let together = self.together(trial, &followed, &tried);
            let mut new = |row: &Candidate| all[place(row.input)].seen.insert(bits(&row.x));
            let together = trial.ask(together.into_iter().filter(&mut new).collect())?;
            for tried in tried.into_iter().chain(together) {
                self.add(trial, &mut all[place(tried.row.input)], tried);
            }
            all.iter_mut().for_each(|rows| self.sort(rows));
        }
        let changed = all.into_iter().flat_map(|rows| rows.best).filter(|known| !known.changed.is_empty());
        Ok(changed.map(|known| known.tried).collect())
    }

    /// From each row that was followed the best two, four and eight moves at once, of those that better it.
    fn together(&self, trial: &Trial, followed: &[Tried], tried: &[Tried]) -> Vec<Candidate> {
        let mut joined = Vec::new();
        for start in followed {
            let before = start.score(self.goal);
            let moved = |tried: &&Tried| match tried.row.input == start.row.input && tried.score(self.goal) < before {
                true => trial.lattice.changed(&start.row.x, &tried.row.x),
                false => vec![],
            };
            let mut better: Vec<(usize, &Tried)> = tried
                .iter()
                .map(|tried| (moved(&tried), tried))
                .filter(|(m, _)| m.len() == 1)
                .map(|(m, t)| (m[0], t))
                .collect();
            better.sort_by(|a, b| a.1.score(self.goal).total_cmp(&b.1.score(self.goal)));
            let mut features: Vec<usize> = Vec::new();
            let mut row = start.row.clone();
            for (feature, tried) in better {
                if features.contains(&feature) {
                    continue;
                }
                features.push(feature);
                row.x = trial.lattice.with(&row.x, feature, &tried.row.x[trial.lattice.column(feature).range()]);
                if features.len() > 1 && features.len().is_power_of_two() && trial.is_allowed(&row) {
                    joined.push(row.clone());
                }
            }
        }
        joined
    }

    fn add(&self, trial: &Trial, rows: &mut Rows, tried: Tried) {
        let (score, changed) = (tried.score(self.goal), trial.changed(&tried.row));
        if score.is_finite() {
            rows.best.push(Known { tried, score, changed, followed: false });
        }
    }

    fn sort(&self, rows: &mut Rows) {
        rows.best.sort_by(|a, b| a.score.total_cmp(&b.score));
        let mut counts: HashMap<Vec<usize>, usize> = HashMap::new();
        rows.best.retain(|known| {
            let count = counts.entry(known.changed.clone()).or_default();
            *count += 1;
            *count <= ALIKE
        });
        rows.best.truncate(REMEMBERED * self.width);
    }

    /// The best rows that change different features; where they may grow, also the best with one change, two and so on.
    fn front(&self, rows: &Rows) -> Vec<usize> {
        let mut front: Vec<usize> = Vec::new();
        // In so many rounds no row grows beyond as many changes from nothing.
        let most = rows.best.first().map_or(0, |known| known.changed.len()).min(self.rounds);
        let mut counted = vec![false; most];
        for (at, known) in rows.best.iter().enumerate() {
            let new = front.iter().all(|&other| rows.best[other].changed != known.changed);
            let smaller = self.grows && counted.get(known.changed.len()).is_some_and(|counted| !counted);
            if new && (front.len() < self.width || smaller) {
                front.push(at);
                if let Some(counted) = counted.get_mut(known.changed.len()) {
                    *counted = true;
                }
            }
        }
        front
    }

    fn moves(&self, trial: &Trial, schema: &Schema, row: &Candidate, changed: &[usize]) -> Vec<Candidate> {
        let (origin, lattice, bounds) = (trial.origin(row.input), trial.lattice, trial.bounds(row.input));
        let with = |feature: usize, value: &[f32]| Candidate {
            x: trial.groups.with(lattice, &row.x, feature, value),
            ..row.clone()
        };
        let others = |feature: usize| lattice.others(feature, &origin.x, bounds).map(move |value| with(feature, value));
        let mut moves = taken_back(trial, row);
        for &feature in changed {
            let range = lattice.column(feature).range();
            let (from, to) = (&origin.x[range.clone()], &row.x[range]);
            let number = schema.features[feature].kind.scaling();
            if let Some(scaling) = number {
                let shares: &[f32] = if self.grows { &FINE_SHARES } else { &SHARES };
                let part = |share: &f32| lattice.nearest(feature, scaling, from[0] + share * (to[0] - from[0]));
                let moved = |share| Candidate { x: lattice.with_number(&row.x, feature, part(share)), ..row.clone() };
                moves.extend(shares.iter().map(moved));
            }
            if number.is_none() || self.grows {
                moves.extend(others(feature));
            }
        }
        if self.grows && changed.len() < trial.most_changed {
            moves.extend((0..lattice.features()).filter(|feature| !changed.contains(feature)).flat_map(others));
        }
        moves
    }
}

/// Takes back, one after another, the changes of each row without which it is still what it must be; the cheapest first.
/// Where the predictor knows rows by heart, only those without which it is better.
pub fn without_needless(trial: &Trial, goal: impl Fn(&Tried) -> Goal, mut rows: Vec<Tried>) -> Result<Vec<Tried>> {
    let by_heart = trial.descent.background.by_heart;
    let mut active: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].reaches(goal(&rows[at]))).collect();
    while !active.is_empty() {
        let (mut places, mut moves) = (Vec::new(), Vec::new());
        for &at in &active {
            for row in taken_back(trial, &rows[at].row) {
                places.push(at);
                moves.push(row);
            }
        }
        let allowed: Vec<bool> = moves.iter().map(|row| trial.is_allowed(row)).collect();
        let places = places.into_iter().zip(allowed).filter(|(_, allowed)| *allowed).map(|(at, _)| at);
        let mut best: Vec<Option<Tried>> = vec![None; rows.len()];
        for (at, tried) in places.collect::<Vec<_>>().into_iter().zip(trial.ask(moves)?) {
            let goal = goal(&rows[at]);
            let better = |best: &Tried| tried.score(goal) < best.score(goal);
            let pays = !by_heart || better(&rows[at]);
            if tried.reaches(goal) && pays && best[at].as_ref().is_none_or(better) {
                best[at] = Some(tried);
            }
        }
        active.retain(|&at| best[at].is_some());
        for (at, best) in best.into_iter().enumerate() {
            if let Some(best) = best {
                rows[at] = best;
            }
        }
    }
    Ok(rows)
}

/// The rows that have one change less.
pub fn taken_back(trial: &Trial, row: &Candidate) -> Vec<Candidate> {
    let back = |feature: usize| {
        let x = trial.groups.back(trial.lattice, &row.x, &trial.origin(row.input).x, feature);
        Candidate { x, ..row.clone() }
    };
    trial.changed(row).into_iter().map(back).collect()
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|value| value.to_bits()).collect()
}
