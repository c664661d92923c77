//! Rows that are tried as counterfactuals: what the model says of them, what the jury does, and how odd they are.

use super::groups::Groups;
use super::lattice::{Lattice, within};
use super::pairs::Pairs;
use crate::data::{Bounds, Halfspace, Samples, Targets};
use crate::error::Result;
use crate::explanation::FoundBy;
use crate::parallel::over_shards;
use crate::search::certificate::{Acceptance, Evaluated, evaluate, evaluate_roughly};
use crate::search::descent::Descent;
use crate::search::jury::Jury;
use crate::search::origin::Origin;
use crate::search::plausibility::Plausible;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How far a relation between encoded columns may be off for the rounding of f32.
const NOISE: f32 = 1e-5;
/// Rows whose oddness one thread looks at.
const ROWS: usize = 256;
/// Posterior samples of a rough look.
const ROUGH: usize = 8;

/// A row to be tried for one input.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Position of the input.
    pub input: usize,
    /// The encoded row.
    pub x: Vec<f32>,
    /// Who proposes it.
    pub by: FoundBy,
}

/// A row that was tried; amounts of uncertainty are in thresholds, so that certain is below 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The row, its input, and who proposed it.
    pub row: Candidate,
    /// Uncertainty of the kind that acceptance looks at.
    pub uncertainty: f32,
    /// Greatest uncertainty of the jurors that are asked; none without a jury.
    pub jury: Option<f32>,
    /// How far outside of what is plausible the row lies; 0 inside.
    pub odd: f32,
    /// Number of changed features.
    pub changes: usize,
    /// Number of changed features beyond what may change.
    pub excess: usize,
    /// Cost of the row.
    pub cost: f32,
}

/// What a row must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The model is certain.
    Certain,
    /// The model is certain about a plausible row.
    Plausible,
    /// The model and the jury are certain about a plausible row: both lie below this share of a threshold.
    Believed(f32),
}

/// Share of the jury's uncertainty in the cost of a believed row; the rest is the model's own.
const JURY: f32 = 0.25;
/// What a threshold's worth of doubt, an odd row, a change, and one too many weigh against cost; and what missing a goal
/// does.
const DOUBT: f32 = 3.0;
const ODD: f32 = 1.0;
const CHANGE: f32 = 0.04;
const EXCESS: f32 = 0.3;
const MISSED: f32 = 0.15;

impl Tried {
    /// By how much the model and the jury exceed what a goal asks for; 0 or less if they do not.
    fn doubt(&self, goal: Goal) -> f32 {
        match goal {
            Goal::Certain | Goal::Plausible => self.uncertainty - 1.0,
            Goal::Believed(margin) => {
                let over = |amount: f32| amount - margin;
                let jury = self.jury.map_or(f32::NEG_INFINITY, over);
                let model = over(self.uncertainty);
                if model > 0.0 && jury > 0.0 { model + jury } else { model.max(jury) }
            }
        }
    }

    /// Whether the row is what it must be.
    pub fn reaches(&self, goal: Goal) -> bool {
        self.doubt(goal) < 0.0 && (goal == Goal::Certain || self.odd <= 0.0) && self.excess == 0
    }

    /// Cost of the row, with what it lacks; a believed row costs what the jury's uncertainty does as well.
    pub fn score(&self, goal: Goal) -> f32 {
        let cost = match (goal, self.jury) {
            (Goal::Believed(_), Some(jury)) => self.cost + JURY * (jury - self.uncertainty),
            _ => self.cost,
        };
        let odd = if goal == Goal::Certain { 0.0 } else { ODD * self.odd };
        let missed = if self.reaches(goal) { 0.0 } else { MISSED };
        let changes = CHANGE * self.changes as f32 + EXCESS * self.excess as f32;
        cost + missed + DOUBT * self.doubt(goal).max(0.0) + odd + changes
    }
}

/// What was said of rows that were tried before, so that nobody is asked twice about a row.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Known>);

/// Answers by the key of a row.
#[derive(Debug, Default)]
struct Known {
    said: HashMap<u64, Said>,
    jury: HashMap<u64, f32>,
    odd: HashMap<u64, f32>,
}

/// What the model says of a row, in thresholds.
#[derive(Clone, Copy, Debug)]
struct Said {
    uncertainty: f32,
    cost: f32,
}

impl Memory {
    fn held(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(row: &Candidate) -> u64 {
        let mut hasher = DefaultHasher::new();
        row.input.hash(&mut hasher);
        row.x.iter().for_each(|value| value.to_bits().hash(&mut hasher));
        hasher.finish()
    }

    /// The answers to all keys; those that nobody has given yet come from `answer`, which is told their positions.
    fn recalled<T: Copy>(
        &self,
        keys: &[u64],
        of: impl Fn(&mut Known) -> &mut HashMap<u64, T>,
        answer: impl FnOnce(&[usize]) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let new: Vec<usize> = {
            let mut known = self.held();
            let known = of(&mut known);
            (0..keys.len()).filter(|&at| !known.contains_key(&keys[at])).collect()
        };
        let answers = if new.is_empty() { vec![] } else { answer(&new)? };
        let mut known = self.held();
        let known = of(&mut known);
        known.extend(new.iter().map(|&at| keys[at]).zip(answers));
        Ok(keys.iter().map(|key| known[key]).collect())
    }
}

/// Where rows are tried.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// What was said before.
    pub memory: &'a Memory,
    /// Models, inputs and objective.
    pub descent: &'a Descent<'a>,
    /// When a row is accepted.
    pub acceptance: Acceptance,
    /// The threshold of acceptance in units of the objective.
    pub unit: f32,
    /// Values that features take.
    pub lattice: &'a Lattice,
    /// Pairs of categories that training rows hold.
    pub pairs: &'a Pairs,
    /// Binary features of which exactly one holds in each training row.
    pub groups: &'a Groups,
    /// Greatest number of features that may change.
    pub most_changed: usize,
    /// Predictors that are asked as well.
    pub jury: Option<&'a Jury>,
    /// What is plausible, and the share of training rows that count as odd.
    pub plausible: Option<(&'a Plausible, f32)>,
}

impl<'a> Trial<'a> {
    /// An input.
    pub fn origin(&self, input: usize) -> &'a Origin {
        &self.descent.origins[input]
    }

    /// The limits of an input's columns.
    pub fn bounds(&self, input: usize) -> &'a Bounds {
        self.origin(input).bounds.as_ref().expect("the inputs of a table have bounds")
    }

    /// The features that a row changes.
    pub fn changed(&self, row: &Candidate) -> Vec<usize> {
        self.lattice.changed(&self.origin(row.input).x, &row.x)
    }

    /// Asks the model, the jury and the generative model about all rows at once; rows that break a constraint are left out.
    pub fn ask(&self, rows: Vec<Candidate>) -> Result<Vec<Tried>> {
        let rows: Vec<Candidate> = rows.into_iter().filter(|row| self.is_allowed(row)).collect();
        let keys: Vec<u64> = rows.iter().map(Memory::key).collect();
        let said = self.memory.recalled(&keys, |known| &mut known.said, |new| self.said(&rows, new, false))?;
        let jury = self.jury(&rows, &keys)?;
        let odd = self.odd(&rows, &keys)?;
        let tried = |(at, row)| self.tried(row, said[at], jury[at], odd[at]);
        Ok(rows.into_iter().enumerate().map(tried).collect())
    }

    /// Of many rows those that a rough look finds best by a goal, at most `most` of each input, in their order.
    ///
    /// The generative model is asked about twice as many alone: an odd row costs more than it seems, never less.
    pub fn worth_asking(&self, rows: Vec<Candidate>, goal: Goal, most: usize) -> Result<Vec<Candidate>> {
        let inputs = rows.iter().map(|row| row.input).collect::<BTreeSet<_>>().len();
        let many = self.descent.models.predictor.samples().is_some_and(|samples| samples >= 2 * ROUGH);
        if !many || rows.len() <= 2 * most * inputs {
            return Ok(rows);
        }
        let keys: Vec<u64> = rows.iter().map(Memory::key).collect();
        let said = self.said(&rows, &(0..rows.len()).collect::<Vec<_>>(), true)?;
        let jury = self.jury(&rows, &keys)?;
        let tried = |(at, row)| self.tried(row, said[at], jury[at], 0.0);
        let mut tried: Vec<Tried> = rows.into_iter().enumerate().map(tried).collect();
        tried = best_of_each(tried, goal, 2 * most);
        let rows: Vec<Candidate> = tried.iter().map(|tried| tried.row.clone()).collect();
        let odd = self.odd(&rows, &rows.iter().map(Memory::key).collect::<Vec<_>>())?;
        tried.iter_mut().zip(odd).for_each(|(tried, odd)| tried.odd = odd);
        Ok(best_of_each(tried, goal, most).into_iter().map(|tried| tried.row).collect())
    }

    fn tried(&self, row: Candidate, said: Said, jury: Option<f32>, odd: f32) -> Tried {
        let changes = self.changed(&row).len();
        let excess = changes.saturating_sub(self.most_changed);
        Tried { changes, uncertainty: said.uncertainty, jury, odd, excess, cost: said.cost, row }
    }

    /// What the model says of the rows at some positions.
    fn said(&self, rows: &[Candidate], at: &[usize], roughly: bool) -> Result<Vec<Said>> {
        let places: Vec<(usize, &[f32])> =
            at.iter().map(|&at| (rows[at].input, self.origin(rows[at].input).z.as_slice())).collect();
        let x: Vec<Vec<f32>> = at.iter().map(|&at| rows[at].x.clone()).collect();
        let evaluated = match roughly {
            true => evaluate_roughly(self.descent, &places, &x, ROUGH)?,
            false => evaluate(self.descent, &places, &x)?,
        };
        let said = |now: Evaluated| Said {
            uncertainty: now.prediction.uncertainty.get(self.acceptance.kind) / self.acceptance.threshold,
            cost: now.cost / self.unit,
        };
        Ok(evaluated.into_iter().map(said).collect())
    }

    /// What the jury says of each row; nothing without one.
    fn jury(&self, rows: &[Candidate], keys: &[u64]) -> Result<Vec<Option<f32>>> {
        let Some(jury) = self.jury else { return Ok(vec![None; rows.len()]) };
        let task = self.descent.models.task();
        let says = |new: &[usize]| jury.greatest(&samples(rows, new), task);
        Ok(self.memory.recalled(keys, |known| &mut known.jury, says)?.into_iter().map(Some).collect())
    }

    fn odd(&self, rows: &[Candidate], keys: &[u64]) -> Result<Vec<f32>> {
        self.memory.recalled(keys, |known| &mut known.odd, |new| self.oddness(&samples(rows, new)))
    }

    /// How far outside of what is plausible each row lies.
    fn oddness(&self, samples: &Samples) -> Result<Vec<f32>> {
        let Some((plausible, share)) = self.plausible else { return Ok(vec![0.0; samples.len()]) };
        let width = samples.width;
        let parts = over_shards(samples.len(), ROWS, |rows| {
            plausible.oddness(self.descent.models, &samples.x[rows.start * width..rows.end * width], width, share)
        });
        Ok(parts.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    /// Whether a row keeps the constraints, but for the number of changes, and holds no pair of categories that is unseen.
    pub fn is_allowed(&self, row: &Candidate) -> bool {
        let (origin, bounds) = (self.origin(row.input), self.bounds(row.input));
        let inside = |feature: usize| {
            let column = self.lattice.column(feature);
            within(&row.x[column.range()], column, bounds)
        };
        let keeps = |Halfspace { coefficients, limit }: &Halfspace| {
            let sum: f32 = coefficients.iter().zip(&row.x).map(|(a, x)| a * x).sum();
            // A relation to a number that is missing says nothing.
            sum <= limit + NOISE || self.lattice.missing(&row.x).any(|column| coefficients[column.start].abs() > 0.0)
        };
        (0..self.lattice.features()).all(inside)
            && self.descent.relations.iter().all(keeps)
            && self.pairs.unseen(&origin.x, &row.x).is_none()
            && self.groups.broken(&origin.x, &row.x).is_none()
    }
}

/// The rows at some positions.
fn samples(rows: &[Candidate], at: &[usize]) -> Samples {
    let x: Vec<f32> = at.iter().flat_map(|&at| rows[at].x.iter().copied()).collect();
    Samples { width: x.len() / at.len().max(1), x, y: Targets::Unknown(at.len()), weights: None }
}

/// At most `most` rows of each input, the best by a goal, in their order.
fn best_of_each(rows: Vec<Tried>, goal: Goal, most: usize) -> Vec<Tried> {
    let scores: Vec<f32> = rows.iter().map(|tried| tried.score(goal)).collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| rows[a].row.input.cmp(&rows[b].row.input).then(scores[a].total_cmp(&scores[b])));
    let mut kept = vec![false; rows.len()];
    let (mut input, mut count) = (usize::MAX, 0);
    for at in order {
        count = if rows[at].row.input == input { count + 1 } else { 1 };
        input = rows[at].row.input;
        kept[at] = count <= most;
    }
    rows.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(row, _)| row).collect()
}
