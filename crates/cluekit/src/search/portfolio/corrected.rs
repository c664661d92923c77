//! Inputs with numbers that are unlike the training rows: those are put back before anything else is changed.
//!
//! Just these numbers move first, over values that training rows hold which are otherwise like the input.
//! Where that is not enough, the corrected row is explained as if it were the input, and its changes come on top. What is
//! accepted comes first, whatever it costs: a clue that keeps a number which nobody can have explains the wrong thing.

use super::tried::{Candidate, Goal, Memory, Trial, Tried};
use super::{Work, reached};
use crate::error::Result;
use crate::explanation::FoundBy;
use crate::search::descent::Descent;
use crate::search::origin::Origin;
use crate::search::outside::Outlier;

/// Puts the best corrected row of each input before its other rows, the inputs counted from `first` on.
pub fn put_first(work: &Work, first: usize, chosen: &mut [Vec<Tried>]) -> Result<()> {
    let movable = |input: usize| Correction::of(&work.trial, input);
    let corrections: Vec<Correction> = (first..first + chosen.len()).filter_map(movable).collect();
    if corrections.is_empty() {
        return Ok(());
    }
    let alone = corrections.iter().flat_map(|correction| correction.alone(&work.trial)).collect();
    let mut best: Vec<Option<Tried>> = vec![None; chosen.len()];
    keep_best(work, first, &mut best, work.trial.ask(alone)?);
    let usual = work.goals.iter().position(|&goal| goal == Goal::Plausible).unwrap_or(0);
    let explained = |tried: &Option<Tried>| tried.as_ref().is_some_and(|tried| reached(tried, work.goals) <= usual);
    let left: Vec<&Correction> =
        corrections.iter().filter(|correction| !explained(&best[correction.input - first])).collect();
    for moved in 1..=left.iter().map(|correction| correction.features.len()).max().unwrap_or(0) {
        let alike: Vec<&Correction> =
            left.iter().copied().filter(|correction| correction.features.len() == moved).collect();
        keep_best(work, first, &mut best, on_top(work, &alike, moved)?);
    }
    for (rows, corrected) in chosen.iter_mut().zip(best) {
        let Some(corrected) = corrected else { continue };
        // An odd row comes first only where all others are odd too.
        let others = rows.first().map_or(work.goals.len(), |tried| reached(tried, work.goals));
        if reached(&corrected, work.goals) <= usual.max(others) {
            rows.retain(|tried| tried.row.x != corrected.row.x);
            rows.insert(0, corrected);
            rows.truncate(work.search.count);
        }
    }
    Ok(())
}

/// Keeps the best row of each input that the model is certain about.
fn keep_best(work: &Work, first: usize, best: &mut [Option<Tried>], found: Vec<Tried>) {
    let rank = |tried: &Tried| {
        let goal = reached(tried, work.goals);
        (goal, tried.score(work.goals[goal.min(work.goals.len() - 1)]))
    };
    for tried in found.into_iter().filter(|tried| tried.reaches(Goal::Certain)) {
        let best = &mut best[tried.row.input - first];
        let better = |known: &Tried| {
            let ((goal, score), (known, least)) = (rank(&tried), rank(known));
            goal < known || (goal == known && score < least)
        };
        if best.as_ref().is_none_or(better) {
            *best = Some(tried);
        }
    }
}

/// The rows that explain corrected inputs, `moved` numbers of each put back, as rows of the inputs themselves.
fn on_top(work: &Work, corrections: &[&Correction], moved: usize) -> Result<Vec<Tried>> {
    let most_changed = work.trial.most_changed.saturating_sub(moved);
    if corrections.is_empty() || most_changed == 0 {
        return Ok(vec![]);
    }
    let origins: Vec<Origin> = corrections.iter().map(|correction| correction.origin(work)).collect();
    let descent = Descent { origins: &origins, ..*work.trial.descent };
    let memory = Memory::default();
    let trial = Trial { memory: &memory, descent: &descent, most_changed, ..work.trial };
    let corrected = Work { trial, ..*work };
    let rows = corrected.chosen(0, &vec![vec![]; origins.len()])?.into_iter().flatten();
    let own =
        |tried: Tried| Candidate { input: corrections[tried.row.input].input, x: tried.row.x, by: FoundBy::Correction };
    work.trial.ask(rows.map(own).collect())
}

/// What is put back in an input.
struct Correction {
    input: usize,
    /// The features that move, that which stands out most first.
    features: Vec<usize>,
    /// The input with each of them where its neighbours have it.
    x: Vec<f32>,
}

impl Correction {
    /// What may be put back in an input; nothing where nothing stands out, or that which does may not move.
    fn of(trial: &Trial, input: usize) -> Option<Self> {
        let origin = trial.origin(input);
        let mut corrected = Self { input, features: vec![], x: origin.x.clone() };
        for outlier in origin.outside.iter().take(trial.most_changed) {
            let candidate = trial.lattice.with_number(&corrected.x, outlier.feature, outlier.expected);
            if trial.is_allowed(&Candidate { input, x: candidate.clone(), by: FoundBy::Correction }) {
                corrected.features.push(outlier.feature);
                corrected.x = candidate;
            }
        }
        let first = origin.outside.first()?.feature;
        (corrected.features.first() == Some(&first)).then_some(corrected)
    }

    /// Rows that move just what stands out: the first alone, and with the others.
    fn alone(&self, trial: &Trial) -> Vec<Candidate> {
        let origin = trial.origin(self.input);
        let Outlier { feature, usual: [low, high], values, .. } = &origin.outside[0];
        let held = trial.lattice.others(*feature, &origin.x, trial.bounds(self.input)).map(|value| value[0]);
        let values: Vec<f32> =
            held.filter(|value| (low..=high).contains(&value)).chain(values.iter().copied()).collect();
        let row = |base: &[f32], value: f32| Candidate {
            input: self.input,
            x: trial.lattice.with_number(base, *feature, value),
            by: FoundBy::Correction,
        };
        let mut rows: Vec<Candidate> = values.iter().map(|&value| row(&origin.x, value)).collect();
        if self.features.len() > 1 {
            rows.extend(values.iter().map(|&value| row(&self.x, value)));
        }
        rows
    }

    /// The corrected row as an input of its own, in which what was put back stays.
    fn origin(&self, work: &Work) -> Origin {
        let origin = work.trial.origin(self.input);
        let mut bounds = work.trial.bounds(self.input).clone();
        self.features.iter().for_each(|&feature| bounds.pin(work.schema, &self.x, feature));
        Origin { x: self.x.clone(), bounds: Some(bounds), outside: vec![], ..origin.clone() }
    }
}
