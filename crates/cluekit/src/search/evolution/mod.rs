//! Descents without a gradient: each candidate is a distribution of codes that evolves. For models that only answer.
//!
//! ```text
//! starts ─┐                        ┌────────────────────── tell ◄─────────────────────┐
//!         ├─► N(m, σ² C) ─► ask ─► ball ─► decode, as data ─► one question to the predictor ─► L ─► the best code
//! rows ───┘
//! ```
//!
//! A candidate evolves from its own start and from the code of a certain training row, side by side, and ends at the best
//! code of both. What is evaluated is what would be certified: rounded, with valid categories. All candidates of all inputs
//! ask at once. Yet a code is decoded beside those of its own distribution alone, and drawn from the input's own stream, so
//! that the ends of an input do not depend on company.

mod begin;
mod candidate;
mod cma;
mod pool;

use super::coupling::{Found, Order};
use super::descent::{Descent, End, Start};
use crate::diversity::Space;
use crate::error::Result;
use crate::model::Predictive;
use crate::parallel::over_shards;
use crate::prediction::summarised;
use crate::tensor::{Tensor, tensor, values};
use crate::uncertainty::mean_prediction;
use candidate::{Answered, Asked, Candidate};
pub(super) use cma::offspring;
use pool::Pool;

/// Rows of one generation at the most, where candidates need not stay together: it bounds the memory.
const MOST_ROWS: usize = 4096;
/// Groups that the candidates are shared out over, so that threads have work. It does not depend on how many there are.
const PIECES: usize = 4;

/// The ends of all starts, with so many evaluations of each candidate.
///
/// Candidates that are held apart at once evolve without knowing of each other, and a set is chosen from all that they saw.
pub(super) fn run(
    descent: &Descent,
    evaluations: usize,
    starts: &[Start],
    together: usize,
    found: &[Found],
) -> Result<Vec<End>> {
    let Some(first) = starts.first() else { return Ok(vec![]) };
    let set = descent.coupling.is_some_and(|coupling| coupling.order == Order::Simultaneous);
    let unit = if set { together.max(1) } else { 1 };
    let beside = begin::beside(descent, starts)?;
    let numbers = numbers(starts, found);
    let pieces = if descent.models.predictor.is_concurrent() { PIECES } else { 1 };
    let most = MOST_ROWS / (2 * offspring(first.z.len()));
    let size = unit * (starts.len().div_ceil(pieces).min(most) / unit).max(1);
    let ends = over_shards(starts.len(), size, |range| {
        let candidates = range.map(|at| Candidate::new(descent, &starts[at], beside[at].as_deref(), numbers[at]));
        Colony { descent, evaluations, unit, set, found, candidates: candidates.collect() }.ends()
    });
    Ok(ends.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

/// Number of each start among those of its input, after those of earlier rounds: it addresses the random stream.
fn numbers(starts: &[Start], found: &[Found]) -> Vec<usize> {
    let mut next: Vec<usize> = found.iter().map(|found| found.points.len()).collect();
    let number = |start: &Start| {
        if next.len() <= start.input {
            next.resize(start.input + 1, 0);
        }
        next[start.input] += 1;
        next[start.input] - 1
    };
    starts.iter().map(number).collect()
}

/// Candidates that evolve in lock-step.
struct Colony<'a> {
    descent: &'a Descent<'a>,
    evaluations: usize,
    /// Candidates of which a set is chosen together.
    unit: usize,
    /// Whether sets are chosen.
    set: bool,
    found: &'a [Found],
    candidates: Vec<Candidate<'a>>,
}

impl Colony<'_> {
    fn ends(mut self) -> Result<Vec<End>> {
        self.descent.go_on()?;
        let all = self.candidates.len() * self.evaluations;
        let mut told = 0;
        loop {
            let asked = self.ask()?;
            if asked.is_empty() {
                break;
            }
            let answers = self.answers(&asked)?;
            let rows: usize = asked.iter().map(|asked| asked.z.len()).sum();
            let mean = answers.iter().map(Answered::least).sum::<f64>() / answers.len() as f64;
            for (asked, answered) in asked.into_iter().zip(answers) {
                self.candidates[asked.candidate].learn(asked, answered, self.descent.traced);
            }
            told += rows;
            (self.descent.watch)(rows, mean)?;
        }
        if all > told {
            (self.descent.watch)(all - told, f64::NAN)?;
        }
        let traced = self.descent.traced;
        if !self.set {
            return Ok(self.candidates.into_iter().map(|candidate| candidate.end(traced)).collect());
        }
        let sets = self.candidates.chunks(self.unit).map(|set| self.chosen(set));
        Ok(sets.collect::<Result<Vec<_>>>()?.concat())
    }

    /// The set that is chosen from all that some candidates of one input saw.
    fn chosen(&self, set: &[Candidate]) -> Result<Vec<End>> {
        let Some(coupling) = &self.descent.coupling else { return Ok(vec![]) };
        let pool = Pool::joined(set.iter().map(|candidate| &candidate.pool));
        let chosen = pool.choose(coupling, &self.descent.origins[set[0].start.input], set.len())?;
        let traced = self.descent.traced;
        Ok(set.iter().zip(chosen).map(|(candidate, spotted)| candidate.end_at(spotted, traced)).collect())
    }

    /// The next generation of every distribution that has not ended.
    fn ask(&mut self) -> Result<Vec<Asked>> {
        let mut all = Vec::new();
        for (at, candidate) in self.candidates.iter_mut().enumerate() {
            candidate.ask(self.descent, at, self.evaluations, &mut all)?;
        }
        Ok(all)
    }

    /// What the predictor and the objective say of all rows.
    ///
    /// A model that only answers is asked once: its rows do not know of each other. Tensors may round a row otherwise in
    /// other company, so a model made of them is asked about the rows of each distribution alone.
    fn answers(&self, asked: &[Asked]) -> Result<Vec<Answered>> {
        let models = self.descent.models;
        if models.predictor.has_gradient() || asked.len() == 1 {
            return asked.iter().map(|asked| self.answered(asked, &models.predict(&asked.x)?)).collect();
        }
        let predictive = models.predict(&Tensor::cat(asked.iter().map(|asked| asked.x.clone()).collect(), 0))?;
        let mut from = 0;
        let part = |asked: &Asked| {
            let rows = asked.z.len();
            from += rows;
            self.answered(asked, &rows_of(&predictive, from - rows, rows))
        };
        asked.iter().map(part).collect()
    }

    fn answered(&self, asked: &Asked, predictive: &Predictive) -> Result<Answered> {
        let Descent { models, metric, objective, acceptance, .. } = *self.descent;
        let candidate = &self.candidates[asked.candidate];
        let z = tensor(asked.z.concat(), [asked.z.len(), asked.z[0].len()]);
        let loss = objective.loss(predictive, metric, candidate.rows(asked.strand), &asked.x, &z);
        let mut losses: Vec<f64> = values(loss).into_iter().map(f64::from).collect();
        let Some(coupling) = self.descent.coupling else { return Ok(Answered::alone(losses)) };
        let places = match coupling.space() {
            Space::Z => asked.z.clone(),
            Space::X => asked.rows(),
            Space::Y => rows_in(&mean_prediction(predictive)),
        };
        if self.set {
            let certain = summarised(predictive, models.task()).into_iter();
            let certain = certain.map(|now| now.uncertainty.get(acceptance.kind) < acceptance.threshold).collect();
            return Ok(Answered { losses, certain, places });
        }
        let input = candidate.start.input;
        for (loss, place) in losses.iter_mut().zip(&places) {
            *loss += coupling.at(place, place.len(), &self.descent.origins[input], self.found.get(input))?.0;
        }
        Ok(Answered::alone(losses))
    }
}

/// The rows of a matrix.
fn rows_in(x: &Tensor<2>) -> Vec<Vec<f32>> {
    let width = x.dims()[1];
    values(x.clone()).chunks_exact(width).map(<[f32]>::to_vec).collect()
}

/// What was said of some successive rows.
fn rows_of(predictive: &Predictive, from: usize, rows: usize) -> Predictive {
    match predictive {
        Predictive::Classes { log_probabilities } => {
            Predictive::Classes { log_probabilities: log_probabilities.clone().narrow(1, from, rows) }
        }
        Predictive::Gaussian { mean, variance } => Predictive::Gaussian {
            mean: mean.clone().narrow(1, from, rows),
            variance: variance.clone().narrow(1, from, rows),
        },
    }
}
