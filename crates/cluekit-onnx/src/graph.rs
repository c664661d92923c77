//! A network as a file describes it: names resolved to numbered values, nodes in an order in which they can run.

use crate::Outcome;
use crate::constant::{Constant, Folder};
use crate::node::{Attribute, Node, TREES};
use crate::ports::{self, port};
use crate::proto::{AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetProto};
use crate::trees::{Trees, is_trees};
use cluekit::model::adopted::Port;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Nodes at the most, those of functions among them: a file can name functions within functions.
const MOST_NODES: usize = 200_000;

/// Versions of the operators that are known.
const VERSIONS: std::ops::RangeInclusive<i64> = 7..=24;

/// Operators that were others before version 11.
const MOVED: [&str; 6] = ["Clip", "Pad", "Resize", "Slice", "TopK", "Upsample"];

/// A network.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// Operators, each after those that it depends on.
    pub nodes: Vec<Node>,
    /// Constants, with the numbers of their values.
    pub constants: BTreeMap<usize, Constant>,
    /// What must be fed, with the numbers of the values.
    pub inputs: Vec<(usize, Port)>,
    /// What comes out, with the numbers of the values.
    pub outputs: Vec<(usize, Port)>,
    /// Number of values.
    pub values: usize,
    /// Names of the classes in the order of the answers, where the file has them.
    pub classes: Vec<String>,
    /// Whether scikit-learn's exporter wrote the file.
    pub by_scikit_learn: bool,
}

impl Graph {
    /// The network of a file; constants in other files lie in `folder`.
    ///
    /// `knows` says whether an operator of a domain can be run.
    pub fn read(model: &ModelProto, folder: &mut Folder, knows: &dyn Fn(&str, &str) -> bool) -> Outcome<Self> {
        let graph = model.graph.as_ref().ok_or("holds no network")?;
        let (nodes, constants) = (vec![], BTreeMap::new());
        let building = Building { functions: &model.functions, knows, folder, nodes, constants, values: 0 };
        let by_scikit_learn = model.producer_name == "skl2onnx";
        Ok(Self { by_scikit_learn, ..building.graph(graph, &model.opset_import)? })
    }

    /// The trees of all nodes.
    pub fn trees(&self) -> impl Iterator<Item = &Arc<Trees>> {
        self.nodes.iter().filter_map(Node::trees)
    }

    /// Whether answers follow inputs smoothly: not through trees, nor from words.
    pub fn has_gradient(&self) -> bool {
        let takes_words = self.inputs.iter().any(|(_, port)| port.element == cluekit::model::adopted::Element::Text);
        self.trees().next().is_none() && !takes_words
    }

    /// The only trees, if they are averaged and nothing but their form changes afterwards.
    fn averaged(&self) -> Outcome<&Arc<Trees>> {
        let mut all = self.trees();
        let (Some(trees), None) = (all.next(), all.next()) else {
            return Err("groups are of the trees of one forest, and the model is another".into());
        };
        let keeps = |node: &&Node| node.trees().is_some() || ports::keeps_shares(&node.operator);
        let first = self.nodes.iter().position(|node| node.trees().is_some()).unwrap_or(0);
        match self.nodes[first..].iter().find(|node| !keeps(node)) {
            None => Ok(trees),
            Some(node) => Err(format!("groups of its trees are no predictors: {} comes after them", node.title())),
        }
    }

    /// Whether the trees are averaged, as those of a forest.
    pub fn averages_trees(&self) -> bool {
        self.averaged().is_ok_and(|trees| trees.are_averaged(self.by_scikit_learn))
    }

    /// The same network with its trees averaged in groups.
    pub fn grouped(mut self, groups: usize) -> Outcome<Self> {
        let grouped = Arc::new(self.averaged()?.grouped(groups)?);
        for node in self.nodes.iter_mut().filter(|node| node.trees().is_some()) {
            node.attributes.insert(TREES.into(), Attribute::Trees(grouped.clone()));
        }
        Ok(self)
    }
}

/// The version of the operators of ONNX itself.
fn version(sets: &[OperatorSetProto]) -> Outcome<i64> {
    let set = sets.iter().find(|set| matches!(set.domain.as_str(), "" | "ai.onnx"));
    match set.map(|set| set.version) {
        Some(version) if VERSIONS.contains(&version) => Ok(version),
        Some(version) => Err(format!(
            "uses version {version} of the operators; {} to {} are supported: export it with `opset_version=18`",
            VERSIONS.start(),
            VERSIONS.end()
        )),
        None => Ok(*VERSIONS.end()),
    }
}

/// Names of one scope, and the numbers of their values.
type Names = BTreeMap<String, usize>;

struct Building<'a> {
    functions: &'a [FunctionProto],
    knows: &'a dyn Fn(&str, &str) -> bool,
    folder: &'a mut Folder,
    nodes: Vec<Node>,
    constants: BTreeMap<usize, Constant>,
    values: usize,
}

impl Building<'_> {
    fn graph(mut self, graph: &GraphProto, sets: &[OperatorSetProto]) -> Outcome<Graph> {
        let mut names = Names::new();
        for proto in &graph.initializer {
            let constant = Constant::read(proto, self.folder)?;
            let value = self.define(&mut names, &proto.name)?;
            self.constants.insert(value, constant);
        }
        let mut inputs = Vec::new();
        for input in &graph.input {
            // Old files list constants among the inputs.
            if !names.contains_key(&input.name) {
                inputs.push((self.define(&mut names, &input.name)?, port(input)?));
            }
        }
        self.body(&graph.node, version(sets)?, &mut names, &BTreeMap::new(), &mut vec![])?;
        let mut outputs = Vec::new();
        for output in &graph.output {
            let value =
                names.get(&output.name).ok_or_else(|| format!("output `{}` is made by no node", output.name))?;
            outputs.push((*value, port(output)?));
        }
        if outputs.is_empty() {
            return Err("has no output".into());
        }
        let classes = ports::classes(&self.nodes, &self.constants);
        let outputs = ports::numbers(outputs, &self.nodes);
        let nodes = needed(self.nodes, &outputs);
        let (constants, values) = (self.constants, self.values);
        Ok(Graph { nodes, constants, inputs, outputs, values, classes, by_scikit_learn: false })
    }

    /// The nodes of a network or a function, in an order in which they can run.
    fn body(
        &mut self,
        protos: &[NodeProto],
        version: i64,
        names: &mut Names,
        given: &BTreeMap<String, AttributeProto>,
        within: &mut Vec<(String, String)>,
    ) -> Outcome<()> {
        let makers = makers(protos)?;
        for at in in_order(protos, &makers, names)? {
            self.node(&protos[at], at, version, names, given, within)?;
        }
        Ok(())
    }

    fn node(
        &mut self,
        proto: &NodeProto,
        at: usize,
        version: i64,
        names: &mut Names,
        given: &BTreeMap<String, AttributeProto>,
        within: &mut Vec<(String, String)>,
    ) -> Outcome<()> {
        let name = if proto.name.is_empty() { format!("{} {at}", proto.op_type) } else { proto.name.clone() };
        let domain = if proto.domain == "ai.onnx" { String::new() } else { proto.domain.clone() };
        let title = format!("operator `{}` of node `{name}`", proto.op_type);
        let has_trees = is_trees(&domain, &proto.op_type);
        // Those of trees are long, and are read in their place.
        let attributes = if has_trees { &[][..] } else { &proto.attribute };
        let attributes = attributes.iter().filter_map(|attribute| settled(attribute, given)).collect::<Vec<_>>();
        let inputs = proto.input.iter().map(|name| match name.as_str() {
            "" => Ok(None),
            name => {
                names.get(name).copied().map(Some).ok_or_else(|| format!("{title} takes `{name}`, which nothing makes"))
            }
        });
        let inputs: Vec<Option<usize>> = inputs.collect::<Outcome<_>>()?;
        let function = self.functions.iter().find(|f| f.name == proto.op_type && f.domain == proto.domain);
        if let Some(function) = function {
            let key = (function.domain.clone(), function.name.clone());
            if within.contains(&key) || within.len() > 20 {
                return Err(format!("{title} is a function that leads back to itself"));
            }
            within.push(key);
            self.call(function, proto, &inputs, attributes, names, within)?;
            within.pop();
            return Ok(());
        }
        if domain.is_empty() && proto.op_type == "Constant" {
            let constant = self.constant(&attributes).map_err(|problem| format!("{title}: {problem}"))?;
            let output = proto.output.first().ok_or_else(|| format!("{title} gives nothing"))?;
            let value = self.define(names, output)?;
            self.constants.insert(value, constant);
            return Ok(());
        }
        if !(self.knows)(&domain, &proto.op_type) {
            let of = if domain.is_empty() { String::new() } else { format!(" (of `{domain}`)") };
            return Err(format!("{title}{of} is not supported"));
        }
        if domain.is_empty() && version < 11 && MOVED.contains(&proto.op_type.as_str()) {
            return Err(format!("{title} of version {version} is not supported: export it with `target_opset=18`"));
        }
        let read = |attribute: &AttributeProto| {
            let value = self.attribute(attribute).map_err(|problem| format!("{title}: {problem}"))?;
            Ok((attribute.name.clone(), value))
        };
        let mut attributes = attributes.iter().map(read).collect::<Outcome<BTreeMap<_, _>>>()?;
        if has_trees {
            let trees = Trees::read(proto, self.folder).map_err(|problem| format!("{title}: {problem}"))?;
            attributes.insert(TREES.into(), Attribute::Trees(Arc::new(trees)));
        }
        let mut outputs = Vec::with_capacity(proto.output.len());
        for output in &proto.output {
            outputs.push(if output.is_empty() { None } else { Some(self.define(names, output)?) });
        }
        if self.nodes.len() >= MOST_NODES {
            return Err(format!("has more than {MOST_NODES} nodes"));
        }
        let operator = proto.op_type.clone();
        self.nodes.push(Node { name, domain, operator, version, attributes, inputs, outputs });
        Ok(())
    }

    /// Puts the nodes of a function in the place of a node that names it.
    fn call(
        &mut self,
        function: &FunctionProto,
        proto: &NodeProto,
        inputs: &[Option<usize>],
        attributes: Vec<AttributeProto>,
        names: &mut Names,
        within: &mut Vec<(String, String)>,
    ) -> Outcome<()> {
        let mut inner = Names::new();
        for (name, value) in function.input.iter().zip(inputs) {
            if let Some(value) = value {
                inner.insert(name.clone(), *value);
            }
        }
        let defaults = function.attribute_proto.iter().map(|attribute| (attribute.name.clone(), attribute.clone()));
        let mut given: BTreeMap<String, AttributeProto> = defaults.collect();
        given.extend(attributes.into_iter().map(|attribute| (attribute.name.clone(), attribute)));
        // A left-out input is a left-out input of the nodes inside.
        let absent: Vec<String> = function.input.iter().filter(|name| !inner.contains_key(*name)).cloned().collect();
        let mut body = function.node.clone();
        for name in body.iter_mut().flat_map(|node| &mut node.input).filter(|name| absent.contains(*name)) {
            name.clear();
        }
        let before = self.nodes.len();
        self.body(&body, version(&function.opset_import)?, &mut inner, &given, within)?;
        for node in &mut self.nodes[before..] {
            node.name = format!("{}/{}", proto.name, node.name);
        }
        for (outer, inside) in proto.output.iter().zip(&function.output) {
            if !outer.is_empty() {
                let value =
                    *inner.get(inside).ok_or_else(|| format!("function `{}` makes no `{inside}`", function.name))?;
                if names.insert(outer.clone(), value).is_some() {
                    return Err(format!("two nodes make `{outer}`"));
                }
            }
        }
        Ok(())
    }

    fn define(&mut self, names: &mut Names, name: &str) -> Outcome<usize> {
        let value = self.values;
        self.values += 1;
        match names.insert(name.into(), value) {
            None => Ok(value),
            Some(_) => Err(format!("the name `{name}` stands for two values")),
        }
    }

    /// What a node `Constant` holds.
    fn constant(&mut self, attributes: &[AttributeProto]) -> Outcome<Constant> {
        let [attribute] = attributes else { return Err("holds other than one value".into()) };
        use crate::constant::Elements::{Floats, Integers};
        let listed = |count: usize| if attribute.name.ends_with('s') { vec![count] } else { vec![] };
        Ok(match self.attribute(attribute)? {
            Attribute::Constant(constant) => constant,
            Attribute::Float(number) => Constant { dims: vec![], elements: Floats(vec![number]) },
            Attribute::Integer(number) => Constant { dims: vec![], elements: Integers(vec![number]) },
            Attribute::Floats(all) => Constant { dims: listed(all.len()), elements: Floats(all) },
            Attribute::Integers(all) => Constant { dims: listed(all.len()), elements: Integers(all) },
            _ => return Err(format!("holds a value of a kind that is not supported (`{}`)", attribute.name)),
        })
    }

    fn attribute(&mut self, proto: &AttributeProto) -> Outcome<Attribute> {
        let text = |bytes: &Vec<u8>| {
            String::from_utf8(bytes.clone()).map_err(|_| format!("the text of `{}` is not UTF-8", proto.name))
        };
        Ok(match proto.r#type {
            1 => Attribute::Float(proto.f),
            2 => Attribute::Integer(proto.i),
            3 => Attribute::Text(text(&proto.s)?),
            4 => match &proto.t {
                Some(tensor) => Attribute::Constant(Constant::read(tensor, self.folder)?),
                None => return Err(format!("`{}` holds no tensor", proto.name)),
            },
            6 => Attribute::Floats(proto.floats.clone()),
            7 => Attribute::Integers(proto.ints.clone()),
            8 => Attribute::Texts(proto.strings.iter().map(text).collect::<Outcome<_>>()?),
            _ => Attribute::Graph,
        })
    }
}

/// An attribute of a node inside of a function, with what the function was given.
fn settled(attribute: &AttributeProto, given: &BTreeMap<String, AttributeProto>) -> Option<AttributeProto> {
    match attribute.ref_attr_name.as_str() {
        "" => Some(attribute.clone()),
        outer => given.get(outer).map(|value| AttributeProto { name: attribute.name.clone(), ..value.clone() }),
    }
}

/// Which node makes a value.
fn makers(protos: &[NodeProto]) -> Outcome<BTreeMap<&str, usize>> {
    let mut makers = BTreeMap::new();
    for (at, proto) in protos.iter().enumerate() {
        for output in proto.output.iter().filter(|output| !output.is_empty()) {
            if makers.insert(output.as_str(), at).is_some() {
                return Err(format!("two nodes make `{output}`"));
            }
        }
    }
    Ok(makers)
}

/// An order of the nodes in which each comes after those that it depends on: the one of the file where it is one.
fn in_order(protos: &[NodeProto], makers: &BTreeMap<&str, usize>, names: &Names) -> Outcome<Vec<usize>> {
    let mut waiting = vec![0_usize; protos.len()];
    let mut followers = vec![Vec::new(); protos.len()];
    for (at, proto) in protos.iter().enumerate() {
        for input in proto.input.iter().filter(|input| !names.contains_key(*input)) {
            if let Some(&maker) = makers.get(input.as_str()) {
                waiting[at] += 1;
                followers[maker].push(at);
            }
        }
    }
    let mut ready: std::collections::BTreeSet<usize> = (0..protos.len()).filter(|&at| waiting[at] == 0).collect();
    let mut order = Vec::with_capacity(protos.len());
    while let Some(at) = ready.pop_first() {
        order.push(at);
        for &follower in &followers[at] {
            waiting[follower] -= 1;
            if waiting[follower] == 0 {
                ready.insert(follower);
            }
        }
    }
    match waiting.iter().position(|&count| count > 0) {
        None => Ok(order),
        Some(at) => Err(format!("node `{}` ({}) waits for its own answer", protos[at].name, protos[at].op_type)),
    }
}

/// The nodes that an output depends on.
fn needed(nodes: Vec<Node>, outputs: &[(usize, Port)]) -> Vec<Node> {
    let mut wanted: std::collections::BTreeSet<usize> = outputs.iter().map(|(value, _)| *value).collect();
    let mut kept = Vec::new();
    for mut node in nodes.into_iter().rev() {
        if node.outputs.iter().flatten().any(|output| wanted.contains(output)) {
            wanted.extend(node.inputs.iter().flatten());
            node.outputs.iter_mut().for_each(|output| *output = output.filter(|output| wanted.contains(output)));
            kept.push(node);
        }
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::ValueInfoProto;

    fn node(operator: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).into()).collect();
        NodeProto { input: owned(inputs), output: owned(outputs), op_type: operator.into(), ..Default::default() }
    }

    fn info(name: &str) -> ValueInfoProto {
        let tensor = crate::proto::TensorTypeProto { elem_type: 1, shape: None };
        let kind = crate::proto::TypeProto { tensor_type: Some(tensor) };
        ValueInfoProto { name: name.into(), r#type: Some(kind) }
    }

    fn graph(nodes: Vec<NodeProto>, functions: Vec<FunctionProto>) -> Outcome<Graph> {
        let graph = GraphProto { node: nodes, input: vec![info("x")], output: vec![info("y")], ..Default::default() };
        let model = ModelProto { graph: Some(graph), functions, ..Default::default() };
        let mut folder = Folder::of(std::path::Path::new("model.onnx"))?;
        Graph::read(&model, &mut folder, &|domain, operator| domain.is_empty() && operator != "LSTM")
    }

    #[test]
    fn nodes_come_after_those_that_they_depend_on() {
        let graph = graph(vec![node("Relu", &["a"], &["y"]), node("Neg", &["x"], &["a"])], vec![]).unwrap();
        let operators: Vec<&str> = graph.nodes.iter().map(|node| node.operator.as_str()).collect();
        assert_eq!(operators, ["Neg", "Relu"]);
    }

    #[test]
    fn what_cannot_be_run_is_refused_by_name() {
        for (nodes, expected) in [
            (vec![node("LSTM", &["x"], &["y"])], "operator `LSTM` of node `LSTM 0` is not supported"),
            (vec![node("Add", &["x", "y"], &["y"])], "waits for its own answer"),
            (vec![node("Add", &["x", "b"], &["y"])], "takes `b`, which nothing makes"),
            (vec![node("Neg", &["x"], &["y"]), node("Relu", &["x"], &["y"])], "two nodes make `y`"),
            (vec![node("Neg", &["x"], &["x"])], "stands for two values"),
            (vec![], "output `y` is made by no node"),
        ] {
            let problem = graph(nodes, vec![]).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
    }

    #[test]
    fn a_function_of_the_file_is_replaced_by_its_nodes() {
        let function = |inside: NodeProto| FunctionProto {
            name: "Twice".into(),
            domain: "own".into(),
            input: vec!["in".into()],
            output: vec!["out".into()],
            node: vec![inside],
            ..Default::default()
        };
        let call = || NodeProto { domain: "own".into(), ..node("Twice", &["x"], &["y"]) };
        let graph_of = |inside| graph(vec![call()], vec![function(inside)]);
        let read = graph_of(node("Add", &["in", "in"], &["out"])).unwrap();
        assert_eq!((read.nodes[0].operator.as_str(), &read.nodes[0].inputs), ("Add", &vec![Some(0), Some(0)]));
        assert_eq!(read.outputs[0].0, read.nodes[0].outputs[0].unwrap());
        let endless = NodeProto { domain: "own".into(), ..node("Twice", &["in"], &["out"]) };
        assert!(graph_of(endless).unwrap_err().contains("leads back to itself"));
    }
}
