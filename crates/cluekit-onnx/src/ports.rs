//! What a file says of itself: the inputs that it takes, the outputs that are numbers, and the names of its classes.
//!
//! Classifiers answer with labels beside probabilities. The labels follow from these, so only their names are kept.

use crate::Outcome;
use crate::constant::{Constant, Elements, Kind};
use crate::node::{Attribute, Node};
use crate::proto::ValueInfoProto;
use cluekit::model::adopted::{Element, Port};
use std::collections::BTreeMap;

/// The operators of classical machine learning.
pub(crate) const CLASSICAL: &str = "ai.onnx.ml";

/// Name, type and sides of an input or output.
pub(crate) fn port(info: &ValueInfoProto) -> Outcome<Port> {
    let named = |problem: String| format!("`{}`: {problem}", info.name);
    let tensor = info.r#type.as_ref().and_then(|kind| kind.tensor_type.as_ref());
    let Some(tensor) = tensor else {
        // Sequences and maps, such as the last node of forests gives.
        return Ok(Port { name: info.name.clone(), element: Element::Text, dims: vec![] });
    };
    let element = match Kind::of(tensor.elem_type).map_err(named)? {
        Kind::Float | Kind::Double | Kind::Half | Kind::Brain => Element::Float,
        Kind::Signed(_) | Kind::Unsigned(_) => Element::Integer,
        Kind::Boolean => Element::Boolean,
        Kind::Text => Element::Text,
    };
    let side = |side: Option<i64>| side.and_then(|side| usize::try_from(side).ok()).filter(|&side| side > 0);
    let dims = tensor.shape.iter().flat_map(|shape| &shape.dim).map(|dim| side(dim.dim_value)).collect();
    Ok(Port { name: info.name.clone(), element, dims })
}

/// The node that makes a value.
fn maker(value: usize, nodes: &[Node]) -> Option<&Node> {
    nodes.iter().find(|node| node.outputs.contains(&Some(value)))
}

/// The labels among the settings of a node.
fn labels(node: &Node) -> Option<Vec<String>> {
    let settings = ["classlabels_strings", "classlabels_int64s", "classlabels_ints"];
    settings.iter().find_map(|name| match node.attributes.get(*name)? {
        Attribute::Texts(texts) if !texts.is_empty() => Some(texts.clone()),
        Attribute::Integers(numbers) if !numbers.is_empty() => Some(numbers.iter().map(ToString::to_string).collect()),
        _ => None,
    })
}

/// Outputs of numbers: maps from labels to probabilities are these, and labels are left out beside them.
pub(crate) fn numbers(outputs: Vec<(usize, Port)>, nodes: &[Node]) -> Vec<(usize, Port)> {
    let outputs: Vec<(usize, Port)> = outputs
        .into_iter()
        .map(|(value, port)| match maker(value, nodes).filter(|node| node.operator == "ZipMap") {
            Some(node) => {
                let dims = vec![None, labels(node).map(|labels| labels.len())];
                (value, Port { element: Element::Float, dims, ..port })
            }
            None => (value, port),
        })
        .collect();
    let is_classical = nodes.iter().any(|node| node.domain == CLASSICAL);
    let are_numbers = |(_, port): &(usize, Port)| port.element == Element::Float;
    match is_classical && outputs.iter().any(are_numbers) {
        true => outputs.into_iter().filter(are_numbers).collect(),
        false => outputs,
    }
}

/// Names of the classes: those of the map at the end, those that the largest probability chooses among, or those of the last
/// classifier.
pub(crate) fn classes(nodes: &[Node], constants: &BTreeMap<usize, Constant>) -> Vec<String> {
    let of_map = || nodes.iter().rev().find(|node| node.operator == "ZipMap").and_then(labels);
    let chosen = |node: &Node| {
        let [Some(names), Some(place)] = node.inputs[..] else { return None };
        maker(place, nodes).filter(|node| node.operator == "ArgMax")?;
        match &constants.get(&names)?.elements {
            Elements::Words(words) => Some(words.clone()),
            Elements::Integers(numbers) => Some(numbers.iter().map(ToString::to_string).collect()),
            Elements::Floats(_) => None,
        }
    };
    let by_place = || nodes.iter().rev().filter(|node| node.operator == "ArrayFeatureExtractor").find_map(chosen);
    let of_classifier = || {
        let own = |node: &Node| match node.trees() {
            Some(trees) => Some(trees.classes.clone()).filter(|classes| !classes.is_empty()),
            None => labels(node).filter(|_| node.operator.ends_with("Classifier")),
        };
        nodes.iter().rev().find_map(own)
    };
    of_map().or_else(by_place).or_else(of_classifier).unwrap_or_default()
}

/// Whether the mean over members of what an operator makes is what it makes of their mean, for probabilities.
pub(crate) fn keeps_shares(operator: &str) -> bool {
    matches!(
        operator,
        "Cast" | "Identity" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "ZipMap" | "Normalizer" | "Mul"
    )
}
