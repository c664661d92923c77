//! Rows that are tried as counterfactuals: what the model says of them, what the jury does, and how odd they are.

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

/// What a threshold's worth of doubt, an odd row and a change too many weigh against cost; and what missing a goal does.
const DOUBT: f32 = 3.0;
const ODD: f32 = 1.0;
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
            (Goal::Believed(_), Some(jury)) => self.cost + 0.5 * (jury - self.uncertainty),
            _ => self.cost,
        };
        let odd = if goal == Goal::Certain { 0.0 } else { ODD * self.odd };
        let missed = if self.reaches(goal) { 0.0 } else { MISSED };
        cost + missed + DOUBT * self.doubt(goal).max(0.0) + odd + EXCESS * self.excess as f32
    }
}

/// What was said of rows that were tried before, so that no row is asked about twice.
#[derive(Debug, Default)]
pub struct Memory(Mutex<HashMap<u64, Said>>);

/// What all say of a row.
#[derive(Clone, Copy, Debug)]
struct Said {
    uncertainty: f32,
    jury: Option<f32>,
    odd: f32,
    cost: f32,
}

impl Said {
    fn of(self, trial: &Trial, row: Candidate) -> Tried {
        let Self { uncertainty, jury, odd, cost } = self;
        let excess = trial.changed(&row).len().saturating_sub(trial.most_changed);
        Tried { uncertainty, jury, odd, excess, cost, row }
    }
}

impl Memory {
    fn held(&self) -> MutexGuard<'_, HashMap<u64, Said>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all rows, when other inputs come.
    pub fn clear(&self) {
        self.held().clear();
    }

    fn key(row: &Candidate) -> u64 {
        let mut hasher = DefaultHasher::new();
        row.input.hash(&mut hasher);
        row.x.iter().for_each(|value| value.to_bits().hash(&mut hasher));
        hasher.finish()
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
        let new: Vec<usize> = {
            let known = self.memory.held();
            (0..rows.len()).filter(|&at| !known.contains_key(&keys[at])).collect()
        };
        let said = self.said(&new.iter().map(|&at| &rows[at]).collect::<Vec<_>>(), false)?;
        let mut known = self.memory.held();
        known.extend(new.iter().map(|&at| keys[at]).zip(said));
        Ok(rows.into_iter().zip(keys).map(|(row, key)| known[&key].of(self, row)).collect())
    }

    /// Of many rows those that a rough look finds best by a goal, at most `most` of each input, in their order.
    pub fn worth_asking(&self, rows: Vec<Candidate>, goal: Goal, most: usize) -> Result<Vec<Candidate>> {
        let inputs = rows.iter().map(|row| row.input).collect::<BTreeSet<_>>().len();
        let many = self.descent.models.predictor.samples().is_some_and(|samples| samples >= 2 * ROUGH);
        if !many || rows.len() <= 2 * most * inputs {
            return Ok(rows);
        }
        let said = self.said(&rows.iter().collect::<Vec<_>>(), true)?;
        let score = |(row, said): (&Candidate, Said)| said.of(self, row.clone()).score(goal);
        let scores: Vec<f32> = rows.iter().zip(said).map(score).collect();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| rows[a].input.cmp(&rows[b].input).then(scores[a].total_cmp(&scores[b])));
        let mut kept = vec![false; rows.len()];
        let (mut input, mut count) = (usize::MAX, 0);
        for at in order {
            count = if rows[at].input == input { count + 1 } else { 1 };
            input = rows[at].input;
            kept[at] = count <= most;
        }
        Ok(rows.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(row, _)| row).collect())
    }

    fn said(&self, rows: &[&Candidate], roughly: bool) -> Result<Vec<Said>> {
        if rows.is_empty() {
            return Ok(vec![]);
        }
        let places: Vec<(usize, &[f32])> =
            rows.iter().map(|row| (row.input, self.origin(row.input).z.as_slice())).collect();
        let x: Vec<Vec<f32>> = rows.iter().map(|row| row.x.clone()).collect();
        let samples = Samples { x: x.concat(), width: x[0].len(), y: Targets::Unknown(x.len()) };
        let jury = self.jury.map(|jury| jury.greatest(&samples, self.descent.models.task())).transpose()?;
        let odd = self.oddness(&samples)?;
        let said = |(at, now): (usize, Evaluated)| Said {
            uncertainty: now.prediction.uncertainty.get(self.acceptance.kind) / self.acceptance.threshold,
            jury: jury.as_ref().map(|jury| jury[at]),
            odd: odd[at],
            cost: now.cost / self.unit,
        };
        let evaluated = match roughly {
            true => evaluate_roughly(self.descent, &places, &x, ROUGH)?,
            false => evaluate(self.descent, &places, &x)?,
        };
        Ok(evaluated.into_iter().enumerate().map(said).collect())
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
            sum <= limit + NOISE
        };
        (0..self.lattice.features()).all(inside)
            && self.descent.relations.iter().all(keeps)
            && self.pairs.unseen(&origin.x, &row.x).is_none()
    }
}
