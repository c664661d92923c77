//! Trees of one depth, laid out flat: a tree is 2^depth − 1 nodes in the order of a heap, then 2^depth leaves.
//!
//! Node i has the children 2i + 1 and 2i + 2. A row goes right where its value is above the threshold, so what is no
//! number goes left. A node that splits nothing has the same leaf on both sides. Walking down needs no branches.

/// Rows that pass through all trees together: they and a tree fit into the nearest cache.
const BLOCK: usize = 64;

/// One split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    /// Column that is looked at.
    pub column: u32,
    /// Values above it go right.
    pub threshold: f32,
}

/// Trees of one depth.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trees {
    depth: usize,
    /// Nodes, tree after tree.
    pub nodes: Vec<Node>,
    /// Leaves, tree after tree.
    pub leaves: Vec<f32>,
}

impl Trees {
    /// No trees yet.
    pub fn new(depth: usize) -> Self {
        Self { depth, nodes: Vec::new(), leaves: Vec::new() }
    }

    /// Number of splits on the way down.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Number of nodes of a tree.
    fn splits(&self) -> usize {
        (1 << self.depth) - 1
    }

    /// Number of trees.
    pub fn len(&self) -> usize {
        self.leaves.len() >> self.depth
    }

    /// Adds a tree that splits nothing and says 0.
    pub fn push_blank(&mut self) {
        self.nodes.resize(self.nodes.len() + self.splits(), Node { column: 0, threshold: 0.0 });
        self.leaves.resize(self.leaves.len() + (1 << self.depth), 0.0);
    }

    /// Keeps the first trees.
    pub fn truncate(&mut self, count: usize) {
        self.nodes.truncate(count * self.splits());
        self.leaves.truncate(count << self.depth);
    }

    /// The nodes of the last tree.
    pub fn last_nodes(&mut self) -> &mut [Node] {
        let first = self.nodes.len() - self.splits();
        &mut self.nodes[first..]
    }

    /// The leaves of the last `count` trees.
    pub fn last_leaves(&mut self, count: usize) -> &mut [f32] {
        let first = self.leaves.len() - (count << self.depth);
        &mut self.leaves[first..]
    }

    /// What tree `tree` says of a row.
    pub fn leaf(&self, tree: usize, row: &[f32]) -> f32 {
        let splits = self.splits();
        walk(&self.nodes[tree * splits..(tree + 1) * splits], &self.leaves[tree << self.depth..], self.depth, row)
    }

    /// Adds what the trees say to the outputs of some rows; tree t speaks of output t mod `outputs`.
    ///
    /// # Shapes
    /// - `x`: `[rows, width]`, `scores`: `[rows, outputs]`
    pub fn add(&self, x: &[f32], width: usize, outputs: usize, scores: &mut [f32]) {
        for (x, scores) in x.chunks(BLOCK * width).zip(scores.chunks_mut(BLOCK * outputs)) {
            let trees = self.nodes.chunks_exact(self.splits()).zip(self.leaves.chunks_exact(1 << self.depth));
            for (tree, (nodes, leaves)) in trees.enumerate() {
                let scores = scores.iter_mut().skip(tree % outputs).step_by(outputs);
                for (row, score) in x.chunks_exact(width).zip(scores) {
                    *score += walk(nodes, leaves, self.depth, row);
                }
            }
        }
    }
}

/// The leaf of a row.
#[inline]
fn walk(nodes: &[Node], leaves: &[f32], depth: usize, row: &[f32]) -> f32 {
    let mut at = 0;
    for _ in 0..depth {
        let node = nodes[at];
        at = 2 * at + 1 + usize::from(row[node.column as usize] > node.threshold);
    }
    leaves[at - nodes.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x₀ > 1, then on the left x₁ > 0 and on the right x₁ > 5.
    fn two_levels() -> Trees {
        let mut trees = Trees::new(2);
        trees.push_blank();
        let node = |column, threshold| Node { column, threshold };
        trees.last_nodes().copy_from_slice(&[node(0, 1.0), node(1, 0.0), node(1, 5.0)]);
        trees.last_leaves(1).copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
        trees
    }

    #[test]
    fn a_row_goes_right_where_its_value_is_above_the_threshold() {
        let trees = two_levels();
        let rows = [[1.0, 0.0], [1.0, 0.1], [1.1, 5.0], [1.1, 5.1]];
        assert_eq!(rows.map(|row| trees.leaf(0, &row)), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn what_is_no_number_goes_left_and_infinity_goes_where_its_sign_says() {
        let trees = two_levels();
        let rows = [[f32::NAN, f32::NAN], [f32::NEG_INFINITY, f32::INFINITY], [f32::INFINITY, f32::NAN]];
        assert_eq!(rows.map(|row| trees.leaf(0, &row)), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn blocks_of_rows_get_what_each_row_would_get_alone() {
        let mut trees = two_levels();
        trees.push_blank();
        trees.last_leaves(1).fill(10.0);
        trees.nodes.extend_from_within(..3);
        trees.leaves.extend([0.5, 0.25, 0.125, 0.0625]);
        let x: Vec<f32> = (0..300).map(|at| (at * 7 % 13) as f32 - 2.0).collect();
        let mut scores = vec![1.0; 300];
        trees.add(&x, 2, 2, &mut scores);
        for (row, scores) in x.chunks(2).zip(scores.chunks(2)) {
            assert_eq!(scores, [1.0 + trees.leaf(0, row) + trees.leaf(2, row), 11.0]);
        }
    }

    #[test]
    fn the_last_trees_can_be_dropped() {
        let mut trees = two_levels();
        trees.push_blank();
        assert_eq!(trees.len(), 2);
        trees.truncate(1);
        assert_eq!(trees, two_levels());
    }
}
