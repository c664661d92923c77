//! From nodes that name their children to flat trees.
//!
//! Every question becomes `x ≤ value`, which is exact: x < v is x ≤ the number before v, and what is asked the other way
//! round swaps its children.

use super::scores::{Aggregate, Post};
use super::{EQUAL, LEAF, MEMBER, MISSING_FIRST, Node, Trees};
use crate::Outcome;

/// What a node asks of a number x, given its value v.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    /// x ≤ v.
    AtMost,
    /// x < v.
    Below,
    /// x ≥ v.
    AtLeast,
    /// x > v.
    Above,
    /// x = v.
    Equal,
    /// x ≠ v.
    Other,
    /// x is one of the numbers of this set.
    Member(u32),
}

/// Nodes and weights as a file lists them.
pub(super) struct Table {
    pub(super) nodes: Vec<Source>,
    /// Where the trees begin.
    pub(super) roots: Vec<u32>,
    /// Number of leaves.
    pub(super) leaves: usize,
    pub(super) weights: Vec<Weight>,
    pub(super) sets: Vec<Vec<f32>>,
    /// Whether every node belongs to a tree by its number.
    pub(super) is_numbered: bool,
}

/// A node of a file.
pub(super) enum Source {
    /// The number of a leaf.
    Leaf(u32),
    Branch(Branch),
}

/// A question with the places of the nodes that it leads to.
pub(super) struct Branch {
    pub(super) feature: u32,
    pub(super) mode: Mode,
    pub(super) value: f64,
    pub(super) yes: u32,
    pub(super) no: u32,
    /// Whether what is not a number counts as yes.
    pub(super) missing_yes: bool,
}

/// What a leaf says of an answer.
pub(super) struct Weight {
    pub(super) leaf: u32,
    pub(super) target: u32,
    pub(super) weight: f32,
}

impl Mode {
    /// The mode of a name; none for leaves.
    pub(super) fn named(name: &[u8]) -> Outcome<Option<Self>> {
        Ok(Some(match name {
            b"LEAF" => return Ok(None),
            b"BRANCH_LEQ" => Self::AtMost,
            b"BRANCH_LT" => Self::Below,
            b"BRANCH_GTE" => Self::AtLeast,
            b"BRANCH_GT" => Self::Above,
            b"BRANCH_EQ" => Self::Equal,
            b"BRANCH_NEQ" => Self::Other,
            other => return Err(format!("`nodes_modes` holds `{}`", String::from_utf8_lossy(other))),
        }))
    }

    /// The mode of a number; `set` is that of the next question for membership.
    pub(super) fn numbered(number: f64, set: u32) -> Outcome<Self> {
        let all = [Self::AtMost, Self::Below, Self::AtLeast, Self::Above, Self::Equal, Self::Other, Self::Member(set)];
        let at = if number >= 0.0 && number.fract() <= 0.0 { all.get(number as usize) } else { None };
        at.copied().ok_or_else(|| format!("`nodes_modes` holds {number}; 0 to 6 are supported"))
    }
}

/// The largest number that is at most `value`.
fn at_most(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) > value { near.next_down() } else { near }
}

/// The largest number below `value`; nothing is at most what this gives where there is none.
fn below(value: f64) -> f32 {
    let near = value as f32;
    match f64::from(near) < value {
        true => near,
        false if value == f64::NEG_INFINITY => f32::NAN,
        false => near.next_down(),
    }
}

impl Branch {
    /// The node, and whether its first child is for a no.
    fn node(&self, child: u32) -> Outcome<(Node, bool)> {
        if self.value.is_nan() && !matches!(self.mode, Mode::Member(_)) {
            return Err("asks how a number compares with what is not a number (`nodes_values`)".into());
        }
        let is_exact = |value: f64| f64::from(value as f32).total_cmp(&value).is_eq();
        let exact = |value: f64| if is_exact(value) { value as f32 } else { f32::NAN };
        let (value, kind, is_swapped) = match self.mode {
            Mode::AtMost => (at_most(self.value), 0, false),
            Mode::Below => (below(self.value), 0, false),
            Mode::AtLeast => (below(self.value), 0, true),
            Mode::Above => (at_most(self.value), 0, true),
            Mode::Equal => (exact(self.value), EQUAL, false),
            Mode::Other => (exact(self.value), EQUAL, true),
            Mode::Member(set) => (f32::from_bits(set), MEMBER, false),
        };
        // What is not a number is unlike every number.
        let missing_yes = self.missing_yes || self.mode == Mode::Other;
        let missing = if missing_yes != is_swapped { MISSING_FIRST } else { 0 };
        Ok((Node { value, feature: self.feature | kind | missing, child }, is_swapped))
    }
}

impl Trees {
    /// No trees yet.
    pub(super) fn empty(targets: usize, aggregate: Aggregate, post: Post) -> Self {
        Self {
            nodes: vec![],
            roots: vec![],
            starts: vec![],
            weights: vec![],
            sets: vec![],
            targets,
            aggregate,
            base: vec![],
            post,
            single: None,
            classes: vec![],
            features: 0,
            groups: None,
            is_preorder: true,
        }
    }

    /// The trees of a table, each node of which is reached once.
    pub(super) fn filled(mut self, table: &Table) -> Outcome<Self> {
        if table.roots.is_empty() {
            return Err("has no tree".into());
        }
        let mut seen = vec![false; table.nodes.len()];
        for (tree, &root) in table.roots.iter().enumerate() {
            let of = |at: u32| {
                format!("node {} of tree {tree}", at.saturating_sub(if table.is_numbered { root } else { 0 }))
            };
            let start = self.nodes.len() as u32;
            self.roots.push(start);
            self.nodes.push(leaf(start, 0));
            let mut waiting = vec![(root, start)];
            while let Some((from, to)) = waiting.pop() {
                let branch = match &table.nodes[from as usize] {
                    Source::Leaf(number) => {
                        self.nodes[to as usize] = leaf(to, *number);
                        seen[from as usize] = true;
                        continue;
                    }
                    Source::Branch(branch) => branch,
                };
                if std::mem::replace(&mut seen[from as usize], true) {
                    return Err(format!("{} is reached twice (`nodes_truenodeids`, `nodes_falsenodeids`)", of(from)));
                }
                let child = self.nodes.len() as u32;
                let (node, is_swapped) = branch.node(child).map_err(|problem| format!("{} {problem}", of(from)))?;
                self.nodes[to as usize] = node;
                self.nodes.extend([leaf(child, 0), leaf(child + 1, 0)]);
                self.features = self.features.max(branch.feature as usize + 1);
                self.is_preorder &= branch.mode == Mode::AtMost && branch.yes == from + 1;
                let (first, second) = if is_swapped { (branch.no, branch.yes) } else { (branch.yes, branch.no) };
                waiting.push((second, child + 1));
                waiting.push((first, child));
            }
        }
        if table.is_numbered && seen.contains(&false) {
            return Err("`nodes_truenodeids` and `nodes_falsenodeids` lead in a circle".into());
        }
        self.sets.clone_from(&table.sets);
        self.weigh(table);
        Ok(self)
    }

    /// Puts the weights of each leaf beside each other.
    fn weigh(&mut self, table: &Table) {
        let mut starts = vec![0_u32; table.leaves + 1];
        table.weights.iter().for_each(|weight| starts[weight.leaf as usize + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        self.weights = vec![(0, 0.0); table.weights.len()];
        for weight in &table.weights {
            let place = &mut next[weight.leaf as usize];
            self.weights[*place as usize] = (weight.target, weight.weight);
            *place += 1;
        }
        self.starts = starts;
    }
}

/// The leaf of a number, at this place.
fn leaf(place: u32, number: u32) -> Node {
    Node { value: f32::from_bits(number), feature: LEAF, child: place }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_is_one_of_at_most() {
        assert_eq!((at_most(0.5), below(0.5)), (0.5, 0.5_f32.next_down()));
        // 0.1 is no number of 32 bits: the one below it is 0.099999994.
        assert_eq!((at_most(0.1), below(0.1)), (0.099_999_994, 0.099_999_994));
        assert_eq!((at_most(f64::INFINITY), below(f64::INFINITY)), (f32::INFINITY, f32::MAX));
        assert!(at_most(f64::NEG_INFINITY) == f32::NEG_INFINITY && below(f64::NEG_INFINITY).is_nan());
    }
}
