//! Trees as a file writes them: `TreeEnsembleClassifier` and `TreeEnsembleRegressor`, and the `TreeEnsemble` that came after.
//!
//! Each is a table of nodes with their numbers, and a table of weights at leaves. The newer form counts nodes and leaves by
//! their place.

use super::build::{Branch, Mode, Source, Table, Weight};
use super::scores::{Aggregate, Post};
use super::{FEATURE, Trees};
use crate::Outcome;
use crate::constant::{self, Constant, Elements, Folder};
use crate::proto::{AttributeProto, NodeProto};
use std::borrow::Cow;

/// More answers to a row than anybody means.
const MOST_TARGETS: usize = 1 << 16;

/// Whether an operator is one of trees.
pub(crate) fn is_trees(domain: &str, operator: &str) -> bool {
    let known = matches!(operator, "TreeEnsembleClassifier" | "TreeEnsembleRegressor" | "TreeEnsemble");
    domain == "ai.onnx.ml" && known
}

impl Trees {
    /// The trees of a node, all of them checked; constants in other files lie in `folder`.
    pub(crate) fn read(node: &NodeProto, folder: &mut Folder) -> Outcome<Self> {
        let mut attributes = Attributes { all: &node.attribute, folder };
        let (trees, source) = match node.op_type.as_str() {
            "TreeEnsemble" => modern(&mut attributes)?,
            "TreeEnsembleClassifier" => classic(&mut attributes, true)?,
            _ => classic(&mut attributes, false)?,
        };
        trees.filled(&source)
    }
}

/// The settings of a node, by their names.
struct Attributes<'a> {
    all: &'a [AttributeProto],
    folder: &'a mut Folder,
}

impl<'a> Attributes<'a> {
    fn one(&self, name: &str) -> Option<&'a AttributeProto> {
        self.all.iter().find(|attribute| attribute.name == name)
    }

    /// Whole numbers; none where they are left out.
    fn integers(&self, name: &str) -> &'a [i64] {
        self.one(name).map_or(&[], |attribute| &attribute.ints)
    }

    fn integer(&self, name: &str, default: i64) -> i64 {
        self.one(name).map_or(default, |attribute| attribute.i)
    }

    /// Numbers as a list, or as a tensor under the name `<name>_as_tensor`.
    fn numbers(&mut self, name: &str) -> Outcome<Vec<f64>> {
        match self.one(name) {
            Some(attribute) if attribute.t.is_none() => Ok(attribute.floats.iter().map(|&n| f64::from(n)).collect()),
            Some(_) => self.tensor(name),
            None => self.tensor(&format!("{name}_as_tensor")),
        }
    }

    fn tensor(&mut self, name: &str) -> Outcome<Vec<f64>> {
        let Some(tensor) = self.one(name).and_then(|attribute| attribute.t.as_ref()) else { return Ok(vec![]) };
        if let Some(numbers) = constant::doubles(tensor) {
            return Ok(numbers);
        }
        let constant = Constant::read(tensor, self.folder).map_err(|problem| format!("`{name}`: {problem}"))?;
        match constant.elements {
            Elements::Floats(numbers) => Ok(numbers.into_iter().map(f64::from).collect()),
            Elements::Integers(numbers) => Ok(numbers.into_iter().map(|number| number as f64).collect()),
            Elements::Words(_) => Err(format!("`{name}` holds words")),
        }
    }

    fn text(&self, name: &str, default: &'static str) -> Cow<'a, str> {
        match self.one(name).map(|attribute| attribute.s.as_slice()) {
            None | Some([]) => default.into(),
            Some(text) => String::from_utf8_lossy(text),
        }
    }
}

/// An error unless a list has an entry for each of `count`, or is left out where it may be.
fn check_length(name: &str, length: usize, count: usize, optional: bool) -> Outcome<()> {
    match length == count || optional && length == 0 {
        true => Ok(()),
        false => Err(format!("`{name}` has {length} entries, and there are {count}")),
    }
}

/// A feature that a row can have.
fn feature(name: &str, number: i64) -> Outcome<u32> {
    let feature = u32::try_from(number).ok().filter(|&number| number < FEATURE);
    feature.ok_or_else(|| format!("`{name}` holds {number}, which is no feature"))
}

/// `nodes_*` with numbers of their own, and `class_*` or `target_*` beside them.
fn classic(attributes: &mut Attributes, is_classifier: bool) -> Outcome<(Trees, Table)> {
    let (tree_ids, node_ids) = (attributes.integers("nodes_treeids"), attributes.integers("nodes_nodeids"));
    let count = node_ids.len();
    check_length("nodes_treeids", tree_ids.len(), count, false)?;
    let names = Names::of(tree_ids, node_ids)?;
    let modes = attributes.one("nodes_modes").map_or(&[][..], |attribute| &attribute.strings);
    let values = attributes.numbers("nodes_values")?;
    let features = attributes.integers("nodes_featureids");
    let (yes, no) = (attributes.integers("nodes_truenodeids"), attributes.integers("nodes_falsenodeids"));
    let missing = attributes.integers("nodes_missing_value_tracks_true");
    for (name, length) in [
        ("nodes_modes", modes.len()),
        ("nodes_values", values.len()),
        ("nodes_featureids", features.len()),
        ("nodes_truenodeids", yes.len()),
        ("nodes_falsenodeids", no.len()),
    ] {
        check_length(name, length, count, false)?;
    }
    check_length("nodes_missing_value_tracks_true", missing.len(), count, true)?;
    let (mut nodes, mut leaves) = (Vec::with_capacity(count), Vec::new());
    for at in 0..count {
        let mode = Mode::named(&modes[at])?;
        let Some(mode) = mode else {
            leaves.push(at);
            nodes.push(Source::Leaf((leaves.len() - 1) as u32));
            continue;
        };
        let named = |problem: String| format!("{problem} (node {} of tree {})", node_ids[at], tree_ids[at]);
        let child = |name: &str, id: i64| {
            let child = names.place(tree_ids[at], id, at);
            child.map(|child| child as u32).ok_or_else(|| {
                format!(
                    "`{name}`: node {} of tree {} leads to node {id}, which is not there",
                    node_ids[at], tree_ids[at]
                )
            })
        };
        nodes.push(Source::Branch(Branch {
            feature: feature("nodes_featureids", features[at]).map_err(named)?,
            mode,
            value: values[at],
            yes: child("nodes_truenodeids", yes[at])?,
            no: child("nodes_falsenodeids", no[at])?,
            missing_yes: missing.get(at).is_some_and(|&tracks| tracks != 0),
        }));
    }
    let kind = if is_classifier { "class" } else { "target" };
    let list = |part: &str| format!("{kind}_{part}");
    let (of_tree, of_node) = (attributes.integers(&list("treeids")), attributes.integers(&list("nodeids")));
    let ids = attributes.integers(&list("ids"));
    let weights = attributes.numbers(&list("weights"))?;
    for (part, length) in [("treeids", of_tree.len()), ("nodeids", of_node.len()), ("weights", weights.len())] {
        check_length(&list(part), length, ids.len(), false)?;
    }
    let classes = if is_classifier { classes(attributes)? } else { vec![] };
    let targets = if is_classifier { classes.len() } else { target_count(attributes)? };
    // For two classes of which one alone is spoken of, that is the second, whatever its number.
    let is_single = is_classifier && targets == 2 && ids.windows(2).all(|pair| pair[0] == pair[1]) && !ids.is_empty();
    let mut at_leaves = Vec::with_capacity(ids.len());
    for at in 0..ids.len() {
        let place = names.place(of_tree[at], of_node[at], 0);
        let place = place.ok_or_else(|| {
            format!("`{}` names node {} of tree {}, which is not there", list("nodeids"), of_node[at], of_tree[at])
        })?;
        let target = usize::try_from(ids[at]).ok().filter(|&target| target < targets);
        let target = target.ok_or_else(|| format!("`{}` holds {}, and there are {targets}", list("ids"), ids[at]))?;
        // What is said of other nodes is never reached.
        if let Source::Leaf(leaf) = nodes[place] {
            let target = if is_single { 0 } else { target as u32 };
            at_leaves.push(Weight { leaf, target, weight: weights[at] as f32 });
        }
    }
    let base = base(attributes, targets, is_single)?;
    let post = Post::of(&attributes.text("post_transform", "NONE"))?;
    if is_single && post == Post::Probit {
        return Err("`post_transform` is `PROBIT`, which says nothing of a class without weights".into());
    }
    let aggregate = Aggregate::of(&attributes.text("aggregate_function", "SUM"))?;
    let single = is_single.then(|| weights.iter().all(|&weight| weight >= 0.0));
    let targets = if is_single { 1 } else { targets };
    let trees = Trees { single, classes, base, ..Trees::empty(targets, aggregate, post) };
    let roots = names.roots(&nodes)?;
    let table = Table { nodes, roots, leaves: leaves.len(), weights: at_leaves, sets: vec![], is_numbered: true };
    Ok((trees, table))
}

/// `TreeEnsemble`: nodes and leaves by their place, and one answer at a leaf.
fn modern(attributes: &mut Attributes) -> Outcome<(Trees, Table)> {
    let features = attributes.integers("nodes_featureids");
    let count = features.len();
    let (yes, no) = (attributes.integers("nodes_truenodeids"), attributes.integers("nodes_falsenodeids"));
    let (yes_is_leaf, no_is_leaf) = (attributes.integers("nodes_trueleafs"), attributes.integers("nodes_falseleafs"));
    let missing = attributes.integers("nodes_missing_value_tracks_true");
    let (values, modes) = (attributes.tensor("nodes_splits")?, attributes.tensor("nodes_modes")?);
    for (name, length) in [
        ("nodes_truenodeids", yes.len()),
        ("nodes_falsenodeids", no.len()),
        ("nodes_trueleafs", yes_is_leaf.len()),
        ("nodes_falseleafs", no_is_leaf.len()),
        ("nodes_splits", values.len()),
        ("nodes_modes", modes.len()),
    ] {
        check_length(name, length, count, false)?;
    }
    check_length("nodes_missing_value_tracks_true", missing.len(), count, true)?;
    let (leaf_targets, leaf_weights) = (attributes.integers("leaf_targetids"), attributes.tensor("leaf_weights")?);
    check_length("leaf_weights", leaf_weights.len(), leaf_targets.len(), false)?;
    let targets = target_count(attributes)?;
    let place = |name: &str, number: i64, count: usize| {
        let place = usize::try_from(number).ok().filter(|&place| place < count);
        place.ok_or_else(|| format!("`{name}` holds {number}, and there are {count}"))
    };
    let leaves = leaf_targets.len();
    let mut nodes = Vec::with_capacity(count + leaves);
    let mut asked = 0;
    for at in 0..count {
        let child = |name: &str, number: i64, is_leaf: i64| -> Outcome<u32> {
            Ok(match is_leaf {
                0 => place(name, number, count)? as u32,
                _ => (count + place(name, number, leaves)?) as u32,
            })
        };
        let mode = Mode::numbered(modes[at], asked)?;
        asked += u32::from(matches!(mode, Mode::Member(_)));
        nodes.push(Source::Branch(Branch {
            feature: feature("nodes_featureids", features[at])?,
            mode,
            value: values[at],
            yes: child("nodes_truenodeids", yes[at], yes_is_leaf[at])?,
            no: child("nodes_falsenodeids", no[at], no_is_leaf[at])?,
            missing_yes: missing.get(at).is_some_and(|&tracks| tracks != 0),
        }));
    }
    nodes.extend((0..leaves).map(|leaf| Source::Leaf(leaf as u32)));
    let weight = |(leaf, (&target, &weight)): (usize, (&i64, &f64))| {
        let target = place("leaf_targetids", target, targets)? as u32;
        Ok(Weight { leaf: leaf as u32, target, weight: weight as f32 })
    };
    let weights = leaf_targets.iter().zip(&leaf_weights).enumerate().map(weight).collect::<Outcome<Vec<_>>>()?;
    let roots = attributes.integers("tree_roots").iter().map(|&root| Ok(place("tree_roots", root, count)? as u32));
    let roots = roots.collect::<Outcome<Vec<u32>>>()?;
    let sets = sets(&attributes.tensor("membership_values")?);
    if sets.len() != asked as usize {
        return Err(format!("`membership_values` has {} sets, and {asked} nodes ask for one", sets.len()));
    }
    let aggregate = Aggregate::numbered(attributes.integer("aggregate_function", 1))?;
    let post = Post::numbered(attributes.integer("post_transform", 0))?;
    let trees = Trees::empty(targets, aggregate, post);
    Ok((trees, Table { nodes, roots, leaves, weights, sets, is_numbered: false }))
}

/// Sets of numbers, each of which ends in what is not a number.
fn sets(numbers: &[f64]) -> Vec<Vec<f32>> {
    let mut sets: Vec<Vec<f32>> = numbers
        .split(|number| number.is_nan())
        // Both zeros are one number.
        .map(|set| set.iter().map(|&number| number as f32 + 0.0).collect())
        .collect();
    if numbers.last().is_none_or(|last| last.is_nan()) {
        sets.pop();
    }
    sets.iter_mut().for_each(|set: &mut Vec<f32>| set.sort_by(f32::total_cmp));
    sets
}

/// Names of the classes.
fn classes(attributes: &Attributes) -> Outcome<Vec<String>> {
    let words = attributes.one("classlabels_strings").map_or(&[][..], |attribute| &attribute.strings);
    let classes: Vec<String> = match words {
        [] => attributes.integers("classlabels_int64s").iter().map(ToString::to_string).collect(),
        words => words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect(),
    };
    match classes.len() {
        1..=MOST_TARGETS => Ok(classes),
        count => Err(format!("`classlabels_strings` and `classlabels_int64s` name {count} classes")),
    }
}

fn target_count(attributes: &Attributes) -> Outcome<usize> {
    let number = attributes.integer("n_targets", 1);
    let count = usize::try_from(number).ok().filter(|count| (1..=MOST_TARGETS).contains(count));
    count.ok_or_else(|| format!("`n_targets` is {number}; 1 to {MOST_TARGETS} are supported"))
}

/// Where the answers begin.
fn base(attributes: &mut Attributes, targets: usize, is_single: bool) -> Outcome<Vec<f32>> {
    let base: Vec<f32> = attributes.numbers("base_values")?.into_iter().map(|number| number as f32).collect();
    match base.len() {
        0 => Ok(base),
        count if count == targets || is_single && count == 1 => Ok(base),
        // One for all.
        1 => Ok(vec![base[0]; targets]),
        count => Err(format!("`base_values` has {count} entries, and there are {targets} answers")),
    }
}

/// Places of nodes by the numbers of their trees and their own.
struct Names<'a> {
    trees: &'a [i64],
    nodes: &'a [i64],
    /// Places in the order of the numbers.
    order: Vec<u32>,
}

impl<'a> Names<'a> {
    fn of(trees: &'a [i64], nodes: &'a [i64]) -> Outcome<Self> {
        if u32::try_from(nodes.len()).is_err() {
            return Err(format!("`nodes_nodeids` has {} entries, which is more than are supported", nodes.len()));
        }
        let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
        let key = |place: u32| (trees[place as usize], nodes[place as usize]);
        if !order.is_sorted_by_key(|&place| key(place)) {
            order.sort_by_key(|&place| key(place));
        }
        match order.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
            None => Ok(Self { trees, nodes, order }),
            Some(pair) => {
                let (tree, node) = key(pair[0]);
                Err(format!("`nodes_nodeids` holds node {node} of tree {tree} twice"))
            }
        }
    }

    /// Place of a node; `near` is one of the same tree, for files that count from 0.
    fn place(&self, tree: i64, node: i64, near: usize) -> Option<usize> {
        let key = |place: usize| Some((*self.trees.get(place)?, *self.nodes.get(place)?));
        let ahead = self.nodes.get(near).and_then(|own| node.checked_sub(*own));
        let guess = ahead.and_then(|ahead| near.checked_add_signed(isize::try_from(ahead).ok()?));
        if let Some(guess) = guess.filter(|&guess| key(guess) == Some((tree, node))) {
            return Some(guess);
        }
        let found =
            self.order.binary_search_by_key(&(tree, node), |&at| (self.trees[at as usize], self.nodes[at as usize]));
        found.ok().map(|at| self.order[at] as usize)
    }

    /// The node of each tree that no other leads to, in the order of the trees.
    fn roots(&self, nodes: &[Source]) -> Outcome<Vec<u32>> {
        let mut has_parent = vec![false; nodes.len()];
        for node in nodes {
            let Source::Branch(branch) = node else { continue };
            for child in [branch.yes, branch.no] {
                if std::mem::replace(&mut has_parent[child as usize], true) {
                    let (tree, node) = (self.trees[child as usize], self.nodes[child as usize]);
                    return Err(format!(
                        "`nodes_truenodeids` and `nodes_falsenodeids` lead to node {node} of tree {tree} twice"
                    ));
                }
            }
        }
        let mut roots: Vec<u32> = Vec::new();
        let mut start = 0;
        // In the order of the numbers the nodes of a tree lie beside each other.
        while start < self.order.len() {
            let tree = self.trees[self.order[start] as usize];
            let length = self.order[start..].iter().take_while(|&&at| self.trees[at as usize] == tree).count();
            let mut own = self.order[start..start + length].iter().filter(|&&at| !has_parent[at as usize]);
            match (own.next(), own.next()) {
                (Some(&root), None) => roots.push(root),
                (None, _) => return Err(format!("`nodes_truenodeids`: tree {tree} leads back to where it begins")),
                (Some(_), Some(&other)) => {
                    let other = self.nodes[other as usize];
                    return Err(format!("`nodes_truenodeids`: nothing leads to node {other} of tree {tree}"));
                }
            }
            start += length;
        }
        Ok(roots)
    }
}
