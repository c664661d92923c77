//! Gradient-boosted trees: a predictor that is fast to fit and fast to ask, and owes nothing to networks.
//!
//! A member is a sum of small trees, each a Newton step down the negative log likelihood of a sample of the rows.
//! The members are the posterior samples: they saw other rows and other columns. \[Friedman2001, Chen2016, Ke2017\]
//!
//! | file | what it holds |
//! |---|---|
//! | `bins.rs` | values become codes |
//! | `loss.rs` | what is minimised, and its derivatives |
//! | `grow.rs` | one tree from derivatives and codes |
//! | `fit.rs` | the rounds of a member |
//! | `trees.rs` | trees as they are asked |
//! | `arrays.rs` | trees in a file |

mod arrays;
mod bins;
mod fit;
mod grow;
mod loss;
mod plan;
mod trees;

pub use plan::BoostedPlan;

use super::{Predictive, Predictor};
use crate::data::{Samples, Task};
use crate::error::{Error, Result};
use crate::parallel::over_shards;
use crate::seed::Seed;
use crate::tensor::{Tensor, tensor, values};
use bins::Bins;
use fit::{Training, fit_member};
use loss::Loss;
use rand::seq::index;
use trees::Trees;

/// The most rows that members learn from.
const MOST_ROWS: usize = 40_000;
/// The most rows times columns times outputs, unless there are so few rows: wide tables are sampled more.
const MOST_CELLS: usize = 1 << 22;
const FEW_ROWS: usize = 1000;
/// The widest rows: a column's number is kept as an f32.
const MOST_COLUMNS: usize = 1 << 24;
/// Rows that a thread answers at a time.
const SHARD: usize = 1024;

/// Boosted trees, several members of them.
///
/// ```
/// use cluekit::data::{DataDir, Request, load};
/// use cluekit::model::{Boosted, BoostedPlan, Predictor};
/// use cluekit::tensor::tensor;
/// use cluekit::uncertainty::mean_prediction;
///
/// let moons = load(&Request::new("moons"), None, &DataDir::locate(None))?;
/// let task = &moons.schema.target.task;
/// let plan = BoostedPlan { rounds: 10, ..BoostedPlan::default() };
/// let boosted = Boosted::fit(&plan, &moons.train, task, cluekit::Seed(0), &|| Ok(()))?;
/// let rows = tensor(moons.test.x[..6].to_vec(), [3, 2]);
/// assert_eq!(mean_prediction(&boosted.predict(&rows)?).dims(), [3, 2]);
/// # Ok::<(), cluekit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Boosted {
    width: usize,
    loss: Loss,
    members: Vec<Member>,
}

/// One posterior sample: a start and what trees add to it.
#[derive(Clone, Debug, PartialEq)]
struct Member {
    start: Vec<f32>,
    trees: Trees,
}

impl Boosted {
    /// Fits the members to some rows, to a random part of them if they are many; `go_on` ends it with an error.
    ///
    /// The same seed gives the same trees, whatever the number of threads.
    pub fn fit(
        plan: &BoostedPlan,
        samples: &Samples,
        task: &Task,
        seed: Seed,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<Self> {
        plan.validate("boosted")?;
        let (rows, width, loss) = (samples.len(), samples.width, Loss::of(task));
        if samples.x.len() != rows.saturating_mul(width) {
            let (expected, got) = (vec![rows, width], vec![samples.x.len()]);
            return Err(Error::Shape { what: "the training rows".into(), expected, got });
        }
        if rows == 0 || width == 0 || width > MOST_COLUMNS || loss.outputs() == 0 {
            let problem = format!("{rows} rows of {width} columns in {} classes", task.classes().len());
            return Err(Error::data(format!("{problem} teach boosted trees nothing; give them data")));
        }
        let most = (MOST_CELLS / (width * loss.outputs())).clamp(FEW_ROWS, MOST_ROWS);
        let mut chosen = index::sample(&mut seed.stream("boosted rows"), rows, rows.min(most)).into_vec();
        chosen.sort_unstable();
        let Samples { x, y, .. } = samples.select(&chosen);
        let training = Training { targets: loss.targets(&y)?, bins: Bins::of(&x, width), x, width, loss };
        let member = |members: std::ops::Range<usize>| {
            let mut rng = seed.numbered("boosted member", members.start as u64);
            fit_member(&training, plan, &mut rng, go_on)
        };
        let members = over_shards(plan.members, 1, member).into_iter().collect::<Result<_>>()?;
        Ok(Self { width, loss, members })
    }

    /// Number of columns of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// What some members say of `x`.
    fn ask<'a>(&self, members: impl ExactSizeIterator<Item = &'a Member>, x: &Tensor<2>) -> Result<Predictive> {
        let [rows, width] = x.dims();
        if width != self.width {
            let (expected, got) = (vec![rows, self.width], vec![rows, width]);
            return Err(Error::Shape { what: "the input".into(), expected, got });
        }
        let (samples, x) = (members.len(), values(x.clone()));
        let mut all = Vec::with_capacity(samples * rows * self.loss.answers());
        for member in members {
            let shard = |rows: std::ops::Range<usize>| self.answers(member, &x[rows.start * width..rows.end * width]);
            over_shards(rows, SHARD, shard).iter().for_each(|shard| all.extend_from_slice(shard));
        }
        Ok(match self.loss {
            Loss::Gaussian => {
                let part = |first: usize| all.iter().skip(first).step_by(2).copied().collect();
                Predictive::Gaussian {
                    mean: tensor(part(0), [samples, rows]),
                    variance: tensor(part(1), [samples, rows]),
                }
            }
            _ => Predictive::Classes { log_probabilities: tensor(all, [samples, rows, self.loss.answers()]) },
        })
    }

    /// What a member says of some rows, one answer behind the other.
    fn answers(&self, member: &Member, x: &[f32]) -> Vec<f32> {
        let (outputs, answers) = (self.loss.outputs(), self.loss.answers());
        let rows = x.len() / self.width;
        let mut scores = member.start.repeat(rows);
        member.trees.add(x, self.width, outputs, &mut scores);
        let mut all = vec![0.0; rows * answers];
        for (scores, into) in scores.chunks_exact(outputs).zip(all.chunks_exact_mut(answers)) {
            self.loss.answer(scores, into);
        }
        all
    }
}

impl Predictor for Boosted {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        self.ask(self.members.iter(), x)
    }

    fn predict_by(&self, x: &Tensor<2>, samples: &[usize]) -> Result<Predictive> {
        self.ask(samples.iter().map(|&place| &self.members[place]), x)
    }

    fn can_choose(&self) -> bool {
        true
    }

    fn samples(&self) -> Option<usize> {
        Some(self.members.len())
    }

    fn has_gradient(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
