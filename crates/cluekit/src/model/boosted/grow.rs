//! One tree: the splits that promise most, found in histograms, and Newton steps in the leaves.
//!
//! A leaf with the sums G of gradients and H of curvatures says −η G / (H + λ) and lowers the loss by about
//! ½ G² / (H + λ). A split is worth what its two sides gain more than the whole: G_l² / (H_l + λ) + G_r² / (H_r + λ) −
//! G² / (H + λ). [Chen2016, Eq. 5–7]
//!
//! The histogram of a node holds the sums of every bin of every column. Only the smaller child is counted; the other's
//! histogram is the parent's without it. Leaves are summed from their rows.

use super::BoostedPlan;
use super::bins::Bins;
use super::loss::Derivatives;
use super::trees::{Node, Trees};
use std::ops::Range;

/// Sums of a bin: gradients, curvatures, rows. The fourth number is 0: four are added in one instruction.
type Cell = [f32; 4];

/// The least sum of curvatures in a leaf.
const LEAST_CURVATURE: f64 = 1e-3;
/// The least worth of a split, as a share of what the node gains without it.
const LEAST_WORTH: f64 = 1e-6;

/// Grows trees on some rows, one after the other.
pub(super) struct Grower<'a> {
    bins: &'a Bins,
    plan: &'a BoostedPlan,
    /// Histograms that are not in use.
    free: Vec<Vec<Cell>>,
}

impl<'a> Grower<'a> {
    pub fn new(bins: &'a Bins, plan: &'a BoostedPlan) -> Self {
        Self { bins, plan, free: Vec::new() }
    }

    /// Adds a tree to `trees` that splits `columns`, and writes what it says of each of `rows` into `steps`.
    pub fn grow(
        &mut self,
        trees: &mut Trees,
        rows: &[u32],
        columns: &[usize],
        derivatives: &[Derivatives],
        steps: &mut [f32],
    ) {
        trees.push_blank();
        let mut cells = 0;
        let place = |&column: &usize| {
            let first = cells;
            cells += self.bins.edges(column).len() + 1;
            Place { column, cells: first..cells }
        };
        let places = columns.iter().map(place).collect();
        let mut tree = Tree { grower: self, trees, places, cells, derivatives, steps, right: Vec::new() };
        let mut rows = rows.to_vec();
        let histogram = tree.counted(&rows);
        tree.branch(0, 0, &mut rows, Some(histogram));
    }
}

/// Where a column's bins lie in a histogram.
struct Place {
    column: usize,
    cells: Range<usize>,
}

/// Sums over the rows of a node.
#[derive(Clone, Copy, Default)]
struct Sums {
    gradient: f64,
    curvature: f64,
    rows: f64,
}

impl Sums {
    fn add(&mut self, [gradient, curvature, rows, _]: Cell) {
        self.gradient += f64::from(gradient);
        self.curvature += f64::from(curvature);
        self.rows += f64::from(rows);
    }

    fn without(self, part: Self) -> Self {
        Self {
            gradient: self.gradient - part.gradient,
            curvature: self.curvature - part.curvature,
            rows: self.rows - part.rows,
        }
    }

    /// G² / (H + λ).
    fn gain(self, l2: f64) -> f64 {
        self.gradient * self.gradient / (self.curvature + l2)
    }
}

/// Rows whose code is at most `bin` go left.
#[derive(Clone, Copy)]
struct Split {
    column: usize,
    bin: usize,
}

/// A tree that is growing.
struct Tree<'a, 'b> {
    grower: &'a mut Grower<'b>,
    trees: &'a mut Trees,
    places: Vec<Place>,
    cells: usize,
    derivatives: &'a [Derivatives],
    steps: &'a mut [f32],
    right: Vec<u32>,
}

impl Tree<'_, '_> {
    /// Grows the tree from a node on; a node without a histogram is a leaf.
    fn branch(&mut self, node: usize, level: usize, rows: &mut [u32], histogram: Option<Vec<Cell>>) {
        let sums = self.sums(rows);
        let Some(histogram) = histogram else { return self.finish(node, level, rows, sums) };
        let Some(split) = self.best(&histogram, sums) else {
            self.grower.free.push(histogram);
            return self.finish(node, level, rows, sums);
        };
        let threshold = self.grower.bins.edges(split.column)[split.bin];
        self.trees.last_nodes()[node] = Node { column: split.column as u32, threshold };
        let middle = self.divide(rows, split);
        let (left, right) = rows.split_at_mut(middle);
        let [left_histogram, right_histogram] = self.children(histogram, level + 1, left, right);
        self.branch(2 * node + 1, level + 1, left, left_histogram);
        self.branch(2 * node + 2, level + 1, right, right_histogram);
    }

    /// Histograms of both children; none for leaves.
    fn children(&mut self, parent: Vec<Cell>, level: usize, left: &[u32], right: &[u32]) -> [Option<Vec<Cell>>; 2] {
        if level == self.trees.depth() {
            self.grower.free.push(parent);
            return [None, None];
        }
        let small = self.counted(if left.len() <= right.len() { left } else { right });
        let mut large = parent;
        for (cell, part) in large.iter_mut().zip(&small) {
            cell.iter_mut().zip(part).for_each(|(cell, part)| *cell -= part);
        }
        if left.len() <= right.len() { [Some(small), Some(large)] } else { [Some(large), Some(small)] }
    }

    /// The histogram of some rows.
    fn counted(&mut self, rows: &[u32]) -> Vec<Cell> {
        let mut histogram = self.grower.free.pop().unwrap_or_default();
        histogram.clear();
        histogram.resize(self.cells, [0.0; 4]);
        for &row in rows {
            let [gradient, curvature] = self.derivatives[row as usize];
            let codes = self.grower.bins.row(row as usize);
            for place in &self.places {
                let cell = &mut histogram[place.cells.start + usize::from(codes[place.column])];
                let one = [gradient, curvature, 1.0, 0.0];
                cell.iter_mut().zip(one).for_each(|(cell, one)| *cell += one);
            }
        }
        histogram
    }

    fn sums(&self, rows: &[u32]) -> Sums {
        let mut sums = Sums::default();
        for &row in rows {
            let [gradient, curvature] = self.derivatives[row as usize];
            sums.add([gradient, curvature, 1.0, 0.0]);
        }
        sums
    }

    /// The split that is worth most, the first of equals; none if none is worth anything.
    fn best(&self, histogram: &[Cell], sums: Sums) -> Option<Split> {
        let BoostedPlan { l2, least_in_leaf, .. } = *self.grower.plan;
        let enough = |side: Sums| side.rows >= least_in_leaf as f64 && side.curvature >= LEAST_CURVATURE;
        let (mut best, mut most) = (None, sums.gain(l2) * (1.0 + LEAST_WORTH));
        for Place { column, cells } in &self.places {
            let mut left = Sums::default();
            for (bin, &cell) in histogram[cells.start..cells.end - 1].iter().enumerate() {
                // Without a row of its own a bin splits like the one before it.
                if cell[2] < 0.5 {
                    continue;
                }
                left.add(cell);
                let right = sums.without(left);
                if right.rows < least_in_leaf as f64 {
                    break;
                }
                if enough(left) && enough(right) {
                    let gain = left.gain(l2) + right.gain(l2);
                    if gain > most {
                        (best, most) = (Some(Split { column: *column, bin }), gain);
                    }
                }
            }
        }
        best
    }

    /// Puts the rows that go left before the others, each side in its order, and returns their number.
    fn divide(&mut self, rows: &mut [u32], split: Split) -> usize {
        self.right.resize(rows.len(), 0);
        let (mut left, mut right) = (0, 0);
        // Both places are written and one of them counts: a branch would be guessed wrong every other time.
        for at in 0..rows.len() {
            let row = rows[at];
            let is_right = usize::from(self.grower.bins.row(row as usize)[split.column]) > split.bin;
            rows[left] = row;
            self.right[right] = row;
            left += usize::from(!is_right);
            right += usize::from(is_right);
        }
        rows[left..].copy_from_slice(&self.right[..right]);
        left
    }

    /// Makes a node a leaf: all leaves below it say the same.
    fn finish(&mut self, node: usize, level: usize, rows: &[u32], sums: Sums) {
        let BoostedPlan { l2, learning_rate, .. } = *self.grower.plan;
        let curvature = sums.curvature + l2;
        let step = if curvature > 0.0 { (-learning_rate * sums.gradient / curvature) as f32 } else { 0.0 };
        let below = self.trees.depth() - level;
        let first = (node + 1 - (1 << level)) << below;
        self.trees.last_leaves(1)[first..first + (1 << below)].fill(step);
        rows.iter().for_each(|&row| self.steps[row as usize] = step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use rand::RngExt;

    fn grown(
        x: &[f32],
        width: usize,
        derivatives: &[Derivatives],
        columns: &[usize],
        plan: &BoostedPlan,
    ) -> (Trees, Vec<f32>) {
        let bins = Bins::of(x, width);
        let (mut trees, mut steps) = (Trees::new(plan.depth), vec![f32::NAN; derivatives.len()]);
        let rows: Vec<u32> = (0..derivatives.len() as u32).collect();
        Grower::new(&bins, plan).grow(&mut trees, &rows, columns, derivatives, &mut steps);
        (trees, steps)
    }

    fn plan(depth: usize, least_in_leaf: usize) -> BoostedPlan {
        BoostedPlan { depth, least_in_leaf, learning_rate: 0.5, l2: 1.0, ..BoostedPlan::default() }
    }

    #[test]
    fn leaves_are_newton_steps() {
        // Both sides of a split behind 1 gain 4/1.5 + 36/2, of one behind 2 only 1/2 + 9/1.5.
        let derivatives = [[2.0, 0.5], [-3.0, 0.5], [-3.0, 0.5]];
        let (trees, steps) = grown(&[1.0, 2.0, 3.0], 1, &derivatives, &[0], &plan(1, 1));
        assert_eq!(trees.nodes, [Node { column: 0, threshold: 1.5 }]);
        // −½ · 2 / (0.5 + 1), −½ · −6 / (1 + 1)
        assert_eq!(trees.leaves, [-1.0 / 1.5, 1.5]);
        assert_eq!(steps, [-1.0 / 1.5, 1.5, 1.5]);
    }

    #[test]
    fn a_leaf_keeps_its_least_number_of_rows() {
        let derivatives = [[2.0, 0.5], [-3.0, 0.5], [-3.0, 0.5], [-3.0, 0.5]];
        let (trees, _) = grown(&[1.0, 2.0, 3.0, 4.0], 1, &derivatives, &[0], &plan(1, 2));
        assert_eq!(trees.nodes[0].threshold, 2.5);
        let (trees, _) = grown(&[1.0, 2.0, 3.0, 4.0], 1, &derivatives, &[0], &plan(1, 3));
        // −½ · −7 / (2 + 1) on both sides: no split.
        assert_eq!(trees.leaves, [3.5 / 3.0; 2]);
    }

    #[test]
    fn equal_gradients_are_not_split() {
        let (trees, steps) =
            grown(&[1.0, 2.0, 3.0, 4.0], 1, &[[1.0, 1.0]; 4], &[0], &BoostedPlan { l2: 0.0, ..plan(3, 1) });
        assert_eq!((trees.leaves, steps), (vec![-0.5; 8], vec![-0.5; 4]));
    }

    /// The best first split of all, one candidate after the other, summed from the rows.
    fn best_by_hand(x: &[f32], width: usize, derivatives: &[Derivatives], plan: &BoostedPlan) -> (u32, f32) {
        let bins = Bins::of(x, width);
        let (mut best, mut most) = ((0, 0.0), f64::MIN);
        for column in 0..width {
            for &threshold in bins.edges(column) {
                let mut sides = [[0.0f64; 3]; 2];
                for (row, d) in x.chunks(width).zip(derivatives) {
                    let side = &mut sides[usize::from(row[column] > threshold)];
                    side.iter_mut().zip([f64::from(d[0]), f64::from(d[1]), 1.0]).for_each(|(sum, one)| *sum += one);
                }
                let worth: f64 = sides.iter().map(|[g, h, _]| g * g / (h + plan.l2)).sum();
                if worth > most && sides.iter().all(|side| side[2] >= plan.least_in_leaf as f64) {
                    (best, most) = ((column as u32, threshold), worth);
                }
            }
        }
        best
    }

    #[test]
    fn the_root_is_the_best_of_all_splits_and_steps_are_what_the_tree_says() {
        let mut rng = Seed(5).stream("grow");
        let (width, count) = (4, 500);
        let x: Vec<f32> = (0..width * count).map(|at| if at % 4 == 3 { 0.5 } else { rng.random() }).collect();
        let derivatives: Vec<Derivatives> =
            x.chunks(width).map(|row| [row[1] - row[0] * row[2] + rng.random::<f32>(), 0.1 + row[0]]).collect();
        let plan = plan(5, 7);
        let (trees, steps) = grown(&x, width, &derivatives, &[0, 1, 2, 3], &plan);
        let root = trees.nodes[0];
        assert_eq!((root.column, root.threshold), best_by_hand(&x, width, &derivatives, &plan));
        let mut counts = std::collections::BTreeMap::new();
        for (row, step) in x.chunks(width).zip(&steps) {
            assert_eq!(trees.leaf(0, row), *step);
            *counts.entry(step.to_bits()).or_insert(0) += 1;
        }
        assert!(counts.len() > 10 && counts.values().all(|&count| count >= 7), "{counts:?}");
    }

    #[test]
    fn a_tree_without_columns_is_one_leaf() {
        let (trees, _) = grown(&[1.0, 2.0], 1, &[[1.0, 1.0], [3.0, 1.0]], &[], &plan(2, 1));
        assert_eq!(trees.leaves, [-2.0 / 3.0; 4]);
    }
}
