//! One candidate on its way: its distributions, and the best code that they saw.

use super::cma::{Cma, offspring};
use super::pool::{Pool, Spotted};
use super::rows_in;
use crate::error::Result;
use crate::explanation::StopReason;
use crate::search::certificate::snapped;
use crate::search::decoding::Rows;
use crate::search::descent::{Descent, End, Start};
use crate::seed::Rng;
use crate::tensor::{Tensor, tensor, values};

/// Deviation σ of the first generation, and the greatest as a share of the ball.
const SIGMA: f64 = 1.0;
const OF_BALL: f64 = 0.5;

/// A candidate: how it goes on, and what it has seen.
pub struct Candidate<'a> {
    /// Where it started.
    pub start: &'a Start,
    /// What a set may be chosen from.
    pub pool: Pool,
    strands: Vec<Strand>,
    best: Option<Best>,
    spent: usize,
    generations: usize,
    /// The best codes on the way, from the start on.
    path: Vec<Vec<f32>>,
}

/// One distribution with its own random stream.
struct Strand {
    cma: Cma,
    rng: Rng,
    rows: Rows,
    /// Where it begins, until that is evaluated.
    begin: Option<Vec<f32>>,
}

/// The best code so far.
struct Best {
    z: Vec<f32>,
    x: Vec<f32>,
    loss: f64,
}

/// Codes that are evaluated together, with what they decode to.
pub struct Asked {
    /// Position of the candidate.
    pub candidate: usize,
    /// Position of its distribution.
    pub strand: usize,
    /// The codes.
    pub z: Vec<Vec<f32>>,
    /// What they decode to, as the data could hold it.
    pub x: Tensor<2>,
}

impl Asked {
    /// What each code decodes to.
    pub fn rows(&self) -> Vec<Vec<f32>> {
        rows_in(&self.x)
    }
}

/// What the objective says of some codes.
pub struct Answered {
    /// L, with the coupling to what was found before.
    pub losses: Vec<f64>,
    /// Whether the model is certain about each; empty where no set is chosen.
    pub certain: Vec<bool>,
    /// Where each lies in the space of the coupling; empty where no set is chosen.
    pub places: Vec<Vec<f32>>,
}

impl Answered {
    /// The losses of a candidate that is in no set.
    pub fn alone(losses: Vec<f64>) -> Self {
        Self { losses, certain: vec![], places: vec![] }
    }

    /// The least loss.
    pub fn least(&self) -> f64 {
        self.losses.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

impl<'a> Candidate<'a> {
    /// A candidate from `start` and from the code `beside` it, with the stream of this number.
    pub fn new(descent: &Descent, start: &'a Start, beside: Option<&[f32]>, number: usize) -> Self {
        let origin = &descent.origins[start.input];
        let sigma = SIGMA.min(origin.ball.bound().map_or(f64::INFINITY, |radius| OF_BALL * f64::from(radius)));
        let strand = |(at, code): (usize, &[f32])| {
            let mut begin = code.to_vec();
            origin.ball.project(&mut begin, &origin.z);
            let rows = (0..offspring(code.len())).map(|_| (start.input, start.bounds.as_ref()));
            Strand {
                cma: Cma::new(begin.iter().map(|&z| f64::from(z)).collect(), sigma),
                rng: descent.seed.numbered(&format!("search: evolution {number}.{at}"), origin.index as u64),
                rows: descent.constants(rows),
                begin: Some(begin),
            }
        };
        Self {
            strands: [Some(start.z.as_slice()), beside].into_iter().flatten().enumerate().map(strand).collect(),
            pool: Pool::default(),
            best: None,
            spent: 0,
            generations: 0,
            path: vec![start.z.clone()],
            start,
        }
    }

    /// What the codes of a distribution are compared with.
    pub fn rows(&self, strand: usize) -> &Rows {
        &self.strands[strand].rows
    }

    /// Adds the next generation of each distribution, as long as evaluations are left.
    pub fn ask(&mut self, descent: &Descent, place: usize, evaluations: usize, all: &mut Vec<Asked>) -> Result<()> {
        let origin = &descent.origins[self.start.input];
        let bounds = self.start.bounds.as_ref().or(origin.bounds.as_ref());
        for (at, strand) in self.strands.iter_mut().enumerate() {
            if self.spent >= evaluations || strand.cma.has_ended() {
                continue;
            }
            let z = strand.next(|z| origin.ball.project(z, &origin.z));
            self.spent += z.len();
            self.generations += usize::from(at == 0);
            let decoded = strand.rows.decode(descent.models, &tensor(z.concat(), [z.len(), z[0].len()]))?;
            let as_data = |x: &Vec<f32>| snapped(descent.models, origin, bounds, x);
            let x: Vec<Vec<f32>> = rows_in(&decoded).iter().map(as_data).collect::<Result<_>>()?;
            all.push(Asked { candidate: place, strand: at, x: tensor(x.concat(), decoded.dims()), z });
        }
        Ok(())
    }

    /// Learns from what was said of its codes.
    pub fn learn(&mut self, asked: Asked, answered: Answered, traced: bool) {
        let points: Vec<Vec<f64>> = asked.z.iter().map(|z| z.iter().map(|&z| f64::from(z)).collect()).collect();
        self.strands[asked.strand].cma.tell(&points, &answered.losses);
        let x = values(asked.x.clone());
        let width = asked.x.dims()[1];
        let row = |at: usize| x[at * width..(at + 1) * width].to_vec();
        for (at, &loss) in answered.losses.iter().enumerate().filter(|(_, loss)| loss.is_finite()) {
            if self.best.as_ref().is_none_or(|best| loss < best.loss) {
                self.best = Some(Best { z: asked.z[at].clone(), x: row(at), loss });
                if traced {
                    self.path.push(asked.z[at].clone());
                }
            }
        }
        let spotted = answered.places.into_iter().enumerate().map(|(at, place)| Spotted {
            z: asked.z[at].clone(),
            x: row(at),
            loss: answered.losses[at],
            certain: answered.certain[at],
            place,
        });
        self.pool.add(spotted.collect());
    }

    /// Where the candidate ended: at the best code that it saw.
    pub fn end(self, traced: bool) -> End {
        let (steps, stopped) = (self.generations, self.stopped());
        let end = End { steps, stopped, path: if traced { self.path } else { vec![] }, ..self.start.end() };
        match self.best {
            Some(Best { z, x, .. }) => End { z, x: Some(x), ..end },
            None => end,
        }
    }

    /// The candidate at a code that was chosen for it.
    pub fn end_at(&self, Spotted { z, x, .. }: Spotted, traced: bool) -> End {
        let path = if traced { vec![self.start.z.clone(), z.clone()] } else { vec![] };
        let (steps, stopped) = (self.generations, self.stopped());
        End { steps, stopped, z, x: Some(x), path, ..self.start.end() }
    }

    fn stopped(&self) -> StopReason {
        match self.best {
            None => StopReason::NotFinite,
            Some(_) if self.strands.iter().all(|strand| strand.cma.has_ended()) => StopReason::Converged,
            Some(_) => StopReason::MaxSteps,
        }
    }
}

impl Strand {
    /// The codes of the next generation, each moved to where it may be. Where the strand begins is one of the first, so that
    /// no end is worse.
    fn next(&mut self, project: impl Fn(&mut [f32])) -> Vec<Vec<f32>> {
        let points = self.cma.ask(&mut self.rng).into_iter();
        let mut z: Vec<Vec<f32>> = points.map(|point| point.into_iter().map(|z| z as f32).collect()).collect();
        if let Some(begin) = self.begin.take() {
            z[0] = begin;
        }
        z.iter_mut().for_each(|z| project(z));
        z
    }
}
