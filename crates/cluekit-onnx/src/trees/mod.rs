//! Decision trees of a file: flat, checked, each apart from the others.
//!
//! ```text
//! answer_k(x) = post(base_k + Σ_t w_k(leaf of tree t that x falls into))
//! ```
//!
//! The trees of a forest are averaged: each of them is a predictor, and G contiguous groups of them are posterior samples,
//! whose mean is the answer of all. The trees of a booster are added to each other and mean nothing alone.

mod build;
mod read;
mod scores;
mod walk;

pub(crate) use read::is_trees;
pub(crate) use scores::{Aggregate, Post};

use crate::Outcome;

/// Decision trees that answer together.
#[derive(Clone, Debug, PartialEq)]
pub struct Trees {
    /// Nodes of all trees; the two children of a node lie beside each other.
    nodes: Vec<Node>,
    /// Where in `nodes` each tree begins.
    roots: Vec<u32>,
    /// Where in `weights` the weights of each leaf begin, and one place behind the last.
    starts: Vec<u32>,
    /// Which answer a weight belongs to, and the weight.
    weights: Vec<(u32, f32)>,
    /// Numbers that a node asks for membership in, in order.
    sets: Vec<Vec<f32>>,
    /// Number of answers.
    targets: usize,
    /// What becomes of the weights of several trees.
    aggregate: Aggregate,
    /// Where each answer begins, or nothing.
    base: Vec<f32>,
    post: Post,
    /// For two classes of which the second alone has weights: whether all of these are positive.
    single: Option<bool>,
    /// Names of the classes of a classifier.
    pub(crate) classes: Vec<String>,
    /// Number of features that a row must have.
    features: usize,
    /// Groups that the trees are averaged in.
    groups: Option<usize>,
    /// Whether nodes are numbered as scikit-learn numbers them: every first child follows its parent.
    is_preorder: bool,
}

/// A node: `x ≤ value` leads to the child, anything else to the place behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    /// A threshold; of a leaf the bits of its number, of a question for membership those of its set.
    value: f32,
    /// The feature, and what kind of node it is.
    feature: u32,
    /// The first child; of a leaf the leaf itself.
    child: u32,
}

/// Which feature, among the bits of [`Node::feature`].
const FEATURE: u32 = (1 << 28) - 1;
/// A row ends here.
const LEAF: u32 = 1 << 31;
/// What is not a number goes to the first child.
const MISSING_FIRST: u32 = 1 << 30;
/// The first child is for what equals the value.
const EQUAL: u32 = 1 << 29;
/// The first child is for members of a set.
const MEMBER: u32 = 1 << 28;

/// What an answer may differ from a share of one tree.
const NEAR: f64 = 1e-3;

impl Trees {
    /// Number of trees.
    pub(crate) fn count(&self) -> usize {
        self.roots.len()
    }

    /// Number of nodes, for what a row may cost.
    pub(crate) fn size(&self) -> usize {
        self.nodes.len()
    }

    /// Number of answers to a row.
    pub(crate) fn answers(&self) -> usize {
        if self.single.is_some() { 2 } else { self.targets }
    }

    /// Number of members: groups of trees, or one.
    pub(crate) fn members(&self) -> usize {
        self.groups.unwrap_or(1)
    }

    /// Whether the answer is linear in the trees' own, without a start.
    fn is_linear(&self) -> bool {
        let adds = matches!(self.aggregate, Aggregate::Sum | Aggregate::Average);
        adds && self.post == Post::None && self.base.iter().all(|base| base.abs() <= 0.0)
    }

    /// Whether each tree says probabilities that are divided by the number of trees.
    fn are_shares(&self) -> bool {
        let share = match self.aggregate {
            Aggregate::Average => 1.0,
            _ => 1.0 / self.roots.len() as f64,
        };
        if self.single.is_some() {
            let most = self.weights.iter().map(|weight| f64::from(weight.1)).fold(0.0, f64::max);
            let positive = self.weights.iter().all(|weight| weight.1 >= 0.0);
            return positive && most <= share * (1.0 + NEAR) && most >= share / 2.0;
        }
        self.starts.windows(2).all(|pair| {
            let own = &self.weights[pair[0] as usize..pair[1] as usize];
            let sum: f64 = own.iter().map(|weight| f64::from(weight.1)).sum();
            (sum - share).abs() <= share * NEAR && own.iter().all(|weight| weight.1 >= 0.0)
        })
    }

    /// Whether the trees are averaged, as those of a forest; `by_scikit_learn` says who wrote the file.
    ///
    /// Probabilities tell it themselves. Values do not: scikit-learn's boosters write where they begin, and its forests do
    /// not.
    pub(crate) fn are_averaged(&self, by_scikit_learn: bool) -> bool {
        self.is_linear()
            && match (self.classes.is_empty(), self.aggregate) {
                (false, _) => self.are_shares(),
                (true, Aggregate::Average) => self.targets == 1,
                (true, _) => self.targets == 1 && by_scikit_learn && self.is_preorder && self.base.is_empty(),
            }
    }

    /// The same trees, averaged in groups; an error if a group of them means nothing.
    pub(crate) fn grouped(&self, groups: usize) -> Outcome<Self> {
        let averaged = self.is_linear() && (self.classes.is_empty() || self.are_shares());
        if !averaged {
            return Err(
                "its trees are added up, as those of a booster are, so that a group of them means nothing; give \
                        several boosters as an ensemble"
                    .into(),
            );
        }
        match groups <= self.roots.len() {
            true => Ok(Self { groups: Some(groups), ..self.clone() }),
            false => Err(format!("has {} trees, which cannot be {groups} groups", self.roots.len())),
        }
    }

    /// The groups that a tree belongs to, with its weight there.
    ///
    /// Group g of G has the trees from g·n/G to (g + 1)·n/G; one across a border belongs to both in parts, so that the mean
    /// over groups is that over trees.
    fn parts(&self, tree: usize) -> [(usize, f64); 2] {
        let (n, groups) = (self.roots.len(), self.members());
        let (from, to) = (tree * groups, (tree + 1) * groups);
        let (first, last) = (from / n, (to - 1) / n);
        let each = groups as f64;
        match first == last {
            true => [(first, each), (first, 0.0)],
            false => {
                let before = (last * n - from) as f64 / groups as f64;
                [(first, each * before), (last, each * (1.0 - before))]
            }
        }
    }
}
