//! Boosting: round after round, a tree for each output takes a step down the loss of the rows of a member.
//!
//! A Newton step can go too far where the curvature grows on the way. So a round that would raise the loss of the
//! member's rows is halved until it does not: that loss never rises. Rows outside of the member's sample tell when to
//! stop, and which round was best.

use super::bins::Bins;
use super::grow::Grower;
use super::loss::{Derivatives, Loss};
use super::trees::Trees;
use super::{BoostedPlan, Member};
use crate::error::Result;
use crate::seed::Rng;
use rand::seq::index;

/// Halvings of a round after which it is given up.
const MOST_HALVINGS: usize = 8;

/// What all members learn from.
pub(super) struct Training {
    /// Rows, one behind the other.
    pub x: Vec<f32>,
    /// Number of columns.
    pub width: usize,
    /// Targets, as the loss reads them.
    pub targets: Vec<f32>,
    /// The loss of the task.
    pub loss: Loss,
    /// The rows as codes.
    pub bins: Bins,
}

impl Training {
    /// The loss of some rows, summed, at outputs `[rows, outputs]`.
    fn loss(&self, scores: &[f32], rows: &[u32]) -> f64 {
        let each = |&row: &u32| self.loss.value(self.scores_of(scores, row), self.targets[row as usize]);
        rows.iter().map(each).map(f64::from).sum()
    }

    fn scores_of<'a>(&self, scores: &'a [f32], row: u32) -> &'a [f32] {
        let (row, outputs) = (row as usize, self.loss.outputs());
        &scores[row * outputs..(row + 1) * outputs]
    }

    /// Gradient and curvature of some rows by each output, `[outputs][rows]`.
    fn derivatives(&self, scores: &[f32], rows: &[u32], into: &mut [Vec<Derivatives>]) {
        let mut of_row = vec![[0.0; 2]; into.len()];
        for &row in rows {
            self.loss.derivatives(self.scores_of(scores, row), self.targets[row as usize], &mut of_row);
            into.iter_mut().zip(&of_row).for_each(|(into, one)| into[row as usize] = *one);
        }
    }

    /// Row `row`.
    fn row(&self, row: u32) -> &[f32] {
        &self.x[row as usize * self.width..(row as usize + 1) * self.width]
    }
}

/// `amount` of `count` things, at least one of them, drawn without replacement and in ascending order.
fn draw(rng: &mut Rng, count: usize, amount: f64) -> Vec<usize> {
    let amount = (amount as usize).clamp(count.min(1), count);
    let mut drawn = index::sample(rng, count, amount).into_vec();
    drawn.sort_unstable();
    drawn
}

/// Fits one member to its sample of the rows; `go_on` ends it with an error.
pub(super) fn fit_member(
    training: &Training,
    plan: &BoostedPlan,
    rng: &mut Rng,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<Member> {
    let (count, outputs) = (training.targets.len(), training.loss.outputs());
    let inside: Vec<u32> = draw(rng, count, plan.rows * count as f64).into_iter().map(|row| row as u32).collect();
    let outside: Vec<u32> = (0..count as u32).filter(|row| inside.binary_search(row).is_err()).collect();
    let columns = training.bins.varying();

    let start = training.loss.start(inside.iter().map(|&row| training.targets[row as usize]));
    let mut scores = start.repeat(count);
    let mut moved = scores.clone();
    let mut steps = vec![vec![0.0; count]; outputs];
    let mut derivatives = vec![vec![[0.0; 2]; count]; outputs];
    let mut trees = Trees::new(plan.depth);
    let mut grower = Grower::new(&training.bins, plan);
    let mut loss = training.loss(&scores, &inside);
    let mut best = (training.loss(&scores, &outside), 0);

    for round in 1..=plan.rounds {
        go_on()?;
        training.derivatives(&scores, &inside, &mut derivatives);
        for (derivatives, steps) in derivatives.iter().zip(&mut steps) {
            // Rounded up, so that a tree sees both of two columns.
            let amount = (plan.columns * columns.len() as f64).ceil();
            let columns: Vec<usize> = draw(rng, columns.len(), amount).into_iter().map(|at| columns[at]).collect();
            grower.grow(&mut trees, &inside, &columns, derivatives, steps);
            let tree = trees.len() - 1;
            outside.iter().for_each(|&row| steps[row as usize] = trees.leaf(tree, training.row(row)));
        }
        let lower = (0..=MOST_HALVINGS).map(|halvings| 0.5f32.powi(halvings as i32)).find_map(|share| {
            add(&scores, &steps, share, &mut moved);
            let new = training.loss(&moved, &inside);
            (new <= loss).then_some((new, share))
        });
        let Some((new, share)) = lower else {
            trees.truncate(trees.len() - outputs);
            break;
        };
        trees.last_leaves(outputs).iter_mut().for_each(|leaf| *leaf *= share);
        loss = new;
        std::mem::swap(&mut scores, &mut moved);
        let unseen = training.loss(&scores, &outside);
        if unseen < best.0 || outside.is_empty() {
            best = (unseen, round);
        } else if plan.patience > 0 && round - best.1 >= plan.patience {
            break;
        }
    }
    trees.truncate(best.1 * outputs);
    // A file has no empty arrays: where the start is best, trees say 0.
    if best.1 == 0 {
        (0..outputs).for_each(|_| trees.push_blank());
    }
    Ok(Member { start, trees })
}

/// `scores` and a share of the steps: `[rows, outputs]` from `[rows, outputs]` and `[outputs][rows]`.
fn add(scores: &[f32], steps: &[Vec<f32>], share: f32, into: &mut [f32]) {
    let outputs = steps.len();
    for (output, steps) in steps.iter().enumerate() {
        let places = into.iter_mut().skip(output).step_by(outputs);
        let scores = scores.iter().skip(output).step_by(outputs);
        places.zip(scores.zip(steps)).for_each(|(into, (score, step))| *into = score + share * step);
    }
}
