//! The one loop of every method: Adam on z, projected onto the ball after each step. [Ley2022, Alg. 1, Alg. 3]
//! Models without a gradient go another way from the same starts to the same kind of ends: by evolution.
//!
//! Every candidate of every input is a row of one tensor. Rows that do not know of each other stop one by one; the
//! candidates of one input that are held apart by a diversity stop together. What has stopped leaves the batch.

use super::certificate::Acceptance;
use super::convergence::{Convergence, Watch};
use super::coupling::{Coupling, Found};
use super::decoding::{Decoding, Rows};
use super::evolution;
use super::objective::Objective;
use super::origin::Origin;
use super::schedule::Walk;
use super::way::Steps;
use super::{Background, Models};
use crate::data::{Bounds, Halfspace};
use crate::distance::Metric;
use crate::diversity::Space;
use crate::error::Result;
use crate::explanation::StopReason;
use crate::lanes::{BLOCK, LANE};
use crate::model::adam::Adam;
use crate::parallel::over_shards;
use crate::prediction::rows_together;
use crate::seed::Seed;
use crate::tensor::{Tensor, gradients, leaf, tensor, values};

/// Rows of one descent at the most: it bounds the memory, however many inputs there are. (Candidates that are held
/// apart stay together, however many they are.)
const MOST_ROWS: usize = 2 * BLOCK;
/// And at the least, where there are so many and the predictor does not share its samples out: fewer would leave the kernels
/// waiting for the weights.
const LEAST_ROWS: usize = 4;
/// Descents that few rows are shared out over, so that threads have work. It does not depend on how many there are.
const PIECES: usize = 4;

/// A place from which to descend.
#[derive(Clone, Debug)]
pub(super) struct Start {
    /// Position of the candidate's origin.
    pub input: usize,
    /// The latent code.
    pub z: Vec<f32>,
    /// Tighter bounds than the input's own.
    pub bounds: Option<Bounds>,
}

/// Where a descent ended.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// Position of the candidate's origin.
    pub input: usize,
    /// Tighter bounds than the input's own.
    pub bounds: Option<Bounds>,
    /// The best code that was seen.
    pub z: Vec<f32>,
    /// The input itself, where it is not what the code decodes to.
    pub x: Option<Vec<f32>>,
    /// Number of steps taken.
    pub steps: usize,
    /// Why the descent ended.
    pub stopped: StopReason,
    /// The codes on the way, from the start on; empty unless they are asked for.
    pub path: Vec<Vec<f32>>,
}

impl Start {
    /// The end of a search that takes no step.
    pub fn end(&self) -> End {
        let Self { input, z, bounds } = self.clone();
        End { input, z, bounds, x: None, steps: 0, stopped: StopReason::MaxSteps, path: vec![] }
    }
}

/// All that a descent needs beside its starts.
#[derive(Clone, Copy)]
pub(super) struct Descent<'a> {
    pub models: &'a Models<'a>,
    pub background: &'a Background,
    pub metric: &'a Metric,
    pub objective: &'a Objective,
    pub coupling: Option<Coupling>,
    pub decoding: Decoding,
    pub relations: &'a [Halfspace],
    pub walk: &'a Walk,
    pub convergence: Convergence,
    /// Whether to follow the gradient, to evolve, or to stay.
    pub steps: Steps,
    /// When a candidate is accepted; a set is chosen among such.
    pub acceptance: Acceptance,
    /// Where random draws come from.
    pub seed: Seed,
    pub origins: &'a [Origin],
    /// Told after each evaluation of some rows: how many steps of one row are done, and their mean objective. With no
    /// step it is only asked whether to go on; an error says that the search is to end.
    pub watch: &'a (dyn Fn(usize, f64) -> Result<()> + Sync),
    /// Whether ends remember their way.
    pub traced: bool,
}

impl Descent<'_> {
    /// Descends from every start; `found` holds, for each input, what earlier descents found.
    ///
    /// Starts that are coupled lie side by side, `together` for each input. Chunks depend on the starts alone, so the
    /// ends are the same for any number of threads.
    pub fn run(&self, starts: &[Start], together: usize, found: &[Found]) -> Result<Vec<End>> {
        match self.steps {
            _ if self.walk.steps() == 0 => {}
            Steps::Gradient => self.models.need_gradients()?,
            Steps::Evolution { evaluations } => return evolution::run(self, evaluations, starts, together, found),
            Steps::None => {
                (self.watch)(starts.len(), f64::NAN)?;
                return Ok(starts.iter().map(Start::end).collect());
            }
        }
        let unit = if self.coupling.is_some() { together.max(1) } else { 1 };
        let size = unit * (self.rows_together(starts.len()) / unit).max(1);
        let ends = over_shards(starts.len(), size, |rows| self.chunk(&starts[rows], unit, found));
        Ok(ends.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    /// How many of so many rows make one descent. It does not depend on how many threads there are.
    fn rows_together(&self, rows: usize) -> usize {
        let half = rows.div_ceil(2).next_multiple_of(LANE);
        match (self.models.predictor.shares_out_samples(), self.walk.compares()) {
            (false, _) => rows.div_ceil(PIECES).clamp(LEAST_ROWS, MOST_ROWS),
            // Threads share the samples; while one decodes, another predicts.
            (true, true) => rows_together(self.models.predictor, rows, MOST_ROWS).min(half.max(BLOCK)),
            // There are too few samples for threads to share, so they share the rows.
            (true, false) if rows >= PIECES * MOST_ROWS => MOST_ROWS,
            (true, false) => half.min(BLOCK),
        }
    }

    fn chunk(&self, starts: &[Start], unit: usize, found: &[Found]) -> Result<Vec<End>> {
        let latent = starts[0].z.len();
        let mut z: Vec<f32> = starts.iter().flat_map(|start| start.z.iter().copied()).collect();
        let mut ends: Vec<End> = starts.iter().map(Start::end).collect();
        let mut active: Vec<usize> = (0..starts.len()).collect();
        let mut watches = vec![Watch::default(); starts.len() / unit];
        let mut adam = Adam::with_betas(z.len(), self.walk.betas);
        let mut rows = self.rows(starts, &active);
        self.go_on()?;
        for step in 0.. {
            let last = step >= self.walk.steps();
            if self.traced {
                z.chunks_exact(latent).zip(&active).for_each(|(z, &row)| ends[row].path.push(z.to_vec()));
            }
            if last && !self.walk.compares() {
                for (z, &row) in z.chunks_exact(latent).zip(&active) {
                    ends[row].z.copy_from_slice(z);
                    ends[row].steps = step;
                }
                break;
            }
            let (losses, mut gradient) = self.evaluate(&rows, starts, &active, &z, unit, found, step)?;
            let mut keep = vec![true; active.len()];
            for (u, loss) in losses.iter().enumerate() {
                let members = u * unit..(u + 1) * unit;
                let (better, stop) = match self.walk.compares() {
                    true => watches[active[members.start] / unit].see(*loss, step, &self.convergence),
                    // The next step asks other samples: only what is no number ends such a walk early.
                    false => (loss.is_finite(), (!loss.is_finite()).then_some(StopReason::NotFinite)),
                };
                for row in members {
                    let end = &mut ends[active[row]];
                    if better {
                        end.z.copy_from_slice(&z[row * latent..(row + 1) * latent]);
                    }
                    if let Some(stopped) = stop {
                        (end.steps, end.stopped, keep[row]) = (step, stopped, false);
                    }
                }
            }
            let stopped = keep.iter().filter(|keep| !**keep).count();
            let mean = losses.iter().sum::<f64>() / active.len() as f64;
            (self.watch)(active.len() + stopped * self.walk.evaluations().saturating_sub(step + 1), mean)?;
            if stopped > 0 {
                for values in [&mut z, &mut gradient, &mut adam.mean, &mut adam.square] {
                    keep_rows(values, &keep, latent);
                }
                keep_rows(&mut active, &keep, 1);
                if active.is_empty() {
                    break;
                }
                rows = self.rows(starts, &active);
            }
            adam.step(&mut z, &gradient, self.walk.rate(step), 0.0);
            for (z, &row) in z.chunks_exact_mut(latent).zip(&active) {
                let origin = &self.origins[starts[row].input];
                origin.ball.project(z, &origin.z);
            }
        }
        Ok(ends)
    }

    /// An error if the search is to end.
    pub fn go_on(&self) -> Result<()> {
        (self.watch)(0, f64::NAN)
    }

    fn rows(&self, starts: &[Start], active: &[usize]) -> Rows {
        self.constants(active.iter().map(|&row| (starts[row].input, starts[row].bounds.as_ref())))
    }

    /// What candidates of these inputs, with their own bounds if they have any, are compared with.
    pub fn constants<'b>(&self, rows: impl Iterator<Item = (usize, Option<&'b Bounds>)>) -> Rows {
        let rows: Vec<_> = rows.map(|(input, bounds)| (&self.origins[input], bounds)).collect();
        Rows::new(&rows, self.decoding, self.relations)
    }

    /// The ends as the space of the coupling sees them, one after another.
    pub fn points(&self, ends: &[End]) -> Result<Vec<Vec<f32>>> {
        let Some(space) = self.coupling.map(|coupling| coupling.space()).filter(|space| *space != Space::Z) else {
            return Ok(ends.iter().map(|end| end.z.clone()).collect());
        };
        let parts = over_shards(ends.len(), MOST_ROWS, |range| -> Result<Vec<Vec<f32>>> {
            self.go_on()?;
            let ends = &ends[range];
            let codes: Vec<f32> = ends.iter().flat_map(|end| end.z.iter().copied()).collect();
            let z = tensor(codes, [ends.len(), ends[0].z.len()]);
            let rows = self.constants(ends.iter().map(|end| (end.input, end.bounds.as_ref())));
            let points = self.objective.at(self.models, self.metric, &rows, &z, None)?.points(space, &z);
            let width = points.dims()[1];
            Ok(values(points).chunks_exact(width).map(<[f32]>::to_vec).collect())
        });
        Ok(parts.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    /// The objective of each unit and its gradient by z; the last evaluation needs no gradient.
    #[allow(clippy::too_many_arguments, reason = "the state of one loop, passed to the one step of it")]
    fn evaluate(
        &self,
        rows: &Rows,
        starts: &[Start],
        active: &[usize],
        z: &[f32],
        unit: usize,
        found: &[Found],
        step: usize,
    ) -> Result<(Vec<f64>, Vec<f32>)> {
        let last = step >= self.walk.steps();
        let shape = [active.len(), z.len() / active.len()];
        let point: Tensor<2> = if last { tensor(z.to_vec(), shape) } else { leaf(z.to_vec(), shape) };
        let samples = self.walk.samples(step);
        let evaluation = self.objective.at(self.models, self.metric, rows, &point, samples)?;
        let each = values(evaluation.loss.clone());
        let mut losses: Vec<f64> = each.chunks(unit).map(|l| l.iter().map(|&l| f64::from(l)).sum()).collect();
        let mut loss = evaluation.loss.clone().sum();
        if let Some(coupling) = self.coupling {
            let points = evaluation.points(coupling.space(), &point);
            let width = points.dims()[1];
            let numbers = values(points.clone());
            let mut pull = Vec::with_capacity(numbers.len());
            for (u, set) in numbers.chunks(unit * width).enumerate() {
                let input = starts[active[u * unit]].input;
                let (amount, gradient) = coupling.at(set, width, &self.origins[input], found.get(input))?;
                losses[u] += amount;
                pull.extend(gradient.into_iter().map(|g| g as f32));
            }
            // A linear function of the points with the gradient of the coupling: exact, and finite where points meet.
            loss = loss + (points * tensor(pull, [active.len(), width])).sum();
        }
        let gradient = if last { vec![0.0; z.len()] } else { gradients(&loss, &[point])?.remove(0) };
        Ok((losses, gradient))
    }
}

/// Keeps the chosen rows of `width` values each.
fn keep_rows<T: Copy>(values: &mut Vec<T>, keep: &[bool], width: usize) {
    let mut place = 0;
    values.retain(|_| {
        place += 1;
        keep[(place - 1) / width]
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_not_kept_go() {
        let mut values = vec![1, 2, 3, 4, 5, 6];
        keep_rows(&mut values, &[true, false, true], 2);
        assert_eq!(values, [1, 2, 5, 6]);
    }
}
