//! Rows through trees: tree by tree over a block of rows, so that a tree stays in the cache while all rows pass it.
//!
//! Some rows walk in step: while one waits for a node, the others are read. A row at its leaf stays there.

use super::{Aggregate, EQUAL, FEATURE, LEAF, MEMBER, MISSING_FIRST, Node, Trees};

/// Rows that walk in step.
const LANES: usize = 8;

/// Numbers of a block of rows, which stay in the cache beside a tree.
const BLOCK: usize = 1 << 15;

impl Trees {
    /// The answers of each member, one behind the other: `[members, rows, answers]`.
    ///
    /// `x` are rows of `width` numbers, at least as many as [`Self::needs`] says.
    pub(crate) fn answer(&self, x: &[f32], width: usize) -> Vec<f32> {
        let start = match self.aggregate {
            Aggregate::Least => f64::INFINITY,
            Aggregate::Largest => f64::NEG_INFINITY,
            _ => 0.0,
        };
        let is_plain = self.nodes.iter().all(|node| node.feature & (EQUAL | MEMBER) == 0);
        let at_once = (BLOCK / width.max(self.members() * self.targets)).max(1);
        let mut answers: Vec<Vec<f32>> = vec![vec![]; self.members()];
        let (mut leaves, mut sums) = (Vec::new(), Vec::new());
        for x in x.chunks(at_once * width) {
            let rows = x.len() / width;
            let is_whole = !x.iter().any(|number| number.is_nan());
            let each = rows * self.targets;
            leaves.resize(rows, 0);
            sums.clear();
            sums.resize(self.members() * each, start);
            for (tree, &root) in self.roots.iter().enumerate() {
                match is_plain && is_whole {
                    true => self.walk::<true>(root, x, width, &mut leaves),
                    false => self.walk::<false>(root, x, width, &mut leaves),
                }
                for (member, factor) in self.parts(tree) {
                    if factor > 0.0 {
                        self.add(&leaves, factor, &mut sums[member * each..(member + 1) * each]);
                    }
                }
            }
            for (answers, sums) in answers.iter_mut().zip(sums.chunks_exact(each)) {
                self.finish(sums, answers);
            }
        }
        answers.concat()
    }

    /// The number of the leaf that each row ends at.
    fn walk<const PLAIN: bool>(&self, root: u32, x: &[f32], width: usize, leaves: &mut [u32]) {
        let nodes = &self.nodes[..];
        let last = leaves.len() - 1;
        for (chunk, leaves) in leaves.chunks_mut(LANES).enumerate() {
            // Lanes without a row of their own walk with the last one.
            let rows: [usize; LANES] = std::array::from_fn(|lane| (chunk * LANES + lane).min(last) * width);
            let mut at = [root; LANES];
            loop {
                let mut moved = false;
                for (at, row) in at.iter_mut().zip(&rows) {
                    let node = nodes[*at as usize];
                    let number = x[row + (node.feature & FEATURE) as usize];
                    let next = node.child + u32::from(!self.is_first::<PLAIN>(node, number));
                    moved |= next != *at;
                    *at = next;
                }
                if !moved {
                    break;
                }
            }
            for (leaf, at) in leaves.iter_mut().zip(at) {
                *leaf = nodes[at as usize].value.to_bits();
            }
        }
    }

    /// Whether a number leads to the first child.
    #[inline]
    fn is_first<const PLAIN: bool>(&self, node: Node, number: f32) -> bool {
        let is_leaf = node.feature & LEAF != 0;
        if PLAIN {
            return (number <= node.value) | is_leaf;
        }
        if is_leaf || number.is_nan() {
            return is_leaf || node.feature & MISSING_FIRST != 0;
        }
        if node.feature & EQUAL != 0 {
            return number.total_cmp(&node.value).is_eq() || (number - node.value).abs() <= 0.0;
        }
        if node.feature & MEMBER != 0 {
            let set = &self.sets[node.value.to_bits() as usize];
            // Both zeros are one number.
            return set.binary_search_by(|member| member.total_cmp(&(number + 0.0))).is_ok();
        }
        number <= node.value
    }

    /// Adds what the leaves say, `factor` times.
    fn add(&self, leaves: &[u32], factor: f64, sums: &mut [f64]) {
        for (&leaf, sums) in leaves.iter().zip(sums.chunks_exact_mut(self.targets)) {
            let own = self.starts[leaf as usize] as usize..self.starts[leaf as usize + 1] as usize;
            for &(target, weight) in &self.weights[own] {
                let (sum, weight) = (&mut sums[target as usize], f64::from(weight));
                match self.aggregate {
                    Aggregate::Sum | Aggregate::Average => *sum += factor * weight,
                    Aggregate::Least => *sum = sum.min(weight),
                    Aggregate::Largest => *sum = sum.max(weight),
                }
            }
        }
    }

    /// Number of features that a row must have.
    pub(crate) fn needs(&self) -> usize {
        self.features
    }
}
