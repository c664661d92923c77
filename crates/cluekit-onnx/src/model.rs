//! Model files that are ready to be asked: one, or several of one shape that run as one.

use crate::constant::{Constant, Elements, Folder};
use crate::graph::Graph;
use crate::integers::{Integers, span};
use crate::node::Node;
use crate::operators;
use crate::run::{Draws, Network};
use crate::value::{Categories, Floats, Value, block_sides};
use crate::words::Words;
use crate::{Outcome, read};
use cluekit::error::{Error, Result};
use cluekit::model::adopted::Port;
use cluekit::tensor::{Tensor, tensor};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A network with its weights, or several that differ in their weights alone.
#[derive(Clone, Debug)]
pub struct Model {
    path: PathBuf,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    pub(crate) network: Network,
    /// Numbers of rows that reshapes inside of the network speak of.
    pub(crate) spoken: Vec<usize>,
    has_gradient: bool,
    /// Number of classes that the file names.
    pub(crate) classes: usize,
}

/// What is fed to one input.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "few live at a time, and a box would cost more than it saves")]
pub enum Input {
    /// Numbers with their sides, rows first; answers have a gradient by them.
    Numbers(Vec<usize>, Tensor<1>),
    /// Whole numbers with their sides.
    Integers(Vec<usize>, Vec<i64>),
    /// One-hot columns `[rows, numbers]` of each whole number, which may be relaxed; answers have a gradient by them.
    Categories(Vec<Tensor<2>>),
    /// Words with their sides.
    Words(Vec<usize>, Vec<String>),
}

/// What one output says.
#[derive(Clone, Debug)]
pub struct Output {
    /// Sides, rows among them.
    pub dims: Vec<usize>,
    /// The numbers of each member, `[members, product of the sides]`.
    pub numbers: Tensor<2>,
}

/// What a file holds, before its constants are computed with.
pub(crate) struct Opened {
    pub(crate) graph: Graph,
    /// The file itself, and those that belong to it, from the folder that they lie in.
    pub(crate) parts: Vec<PathBuf>,
}

/// The graph of a file, all of whose operators can be run.
pub(crate) fn open(path: &Path) -> Result<Opened> {
    let proto = read(path)?;
    let refuse = |problem| Error::file(path, problem);
    let mut folder = Folder::of(path).map_err(refuse)?;
    let knows = |domain: &str, operator: &str| operators::of(domain, operator).is_some();
    let graph = Graph::read(&proto, &mut folder, &knows).map_err(refuse)?;
    let name = path.file_name().map(PathBuf::from);
    let parts = name.into_iter().chain(folder.parts).collect();
    Ok(Opened { graph, parts })
}

impl Model {
    /// The network of a file.
    pub fn read(path: &Path) -> Result<Self> {
        Self::of(path, &[open(path)?.graph])
    }

    /// The networks of several files: as one if they differ in their weights alone, one after the other if not.
    ///
    /// The trees of forests are averaged in `groups`, which are members of their own.
    pub fn ensemble(paths: &[PathBuf], groups: Option<usize>) -> Result<Vec<Self>> {
        let graph = |path: &PathBuf| {
            let graph = open(path)?.graph;
            match groups {
                None => Ok(graph),
                Some(groups) => graph.grouped(groups).map_err(|problem| match problem.starts_with("groups are of") {
                    true => Error::setting("predictor.groups", problem),
                    false => Error::file(path, problem),
                }),
            }
        };
        let graphs = paths.iter().map(graph).collect::<Result<Vec<_>>>()?;
        match (paths.first(), are_alike(&graphs)) {
            (Some(first), true) => Ok(vec![Self::of(first, &graphs)?]),
            _ => paths.iter().zip(graphs).map(|(path, graph)| Self::of(path, &[graph])).collect(),
        }
    }

    fn of(path: &Path, graphs: &[Graph]) -> Result<Self> {
        let refuse = |problem| Error::file(path, problem);
        let Some(graph) = graphs.first() else { return Err(refuse("there is no network".into())) };
        let mut constants = BTreeMap::new();
        for (&value, constant) in &graph.constants {
            let members: Vec<&Constant> = graphs.iter().filter_map(|graph| graph.constants.get(&value)).collect();
            constants.insert(value, stacked(constant, &members).map_err(refuse)?);
        }
        let network = Network::new(graph, constants).map_err(refuse)?;
        let ports = |all: &[(usize, Port)]| all.iter().map(|(_, port)| port.clone()).collect();
        Ok(Self {
            path: path.to_owned(),
            inputs: ports(&graph.inputs),
            outputs: ports(&graph.outputs),
            network,
            spoken: spoken(graph),
            has_gradient: graph.has_gradient(),
            classes: graph.classes.len(),
        })
    }

    /// Whether answers have a gradient by the inputs.
    pub fn has_gradient(&self) -> bool {
        self.has_gradient
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What must be fed.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// What comes out.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// What the network says to its inputs, in their order.
    pub fn ask(&self, inputs: Vec<Input>) -> Result<Vec<Output>> {
        self.answer(inputs, &Draws::None)
    }

    pub(crate) fn answer(&self, inputs: Vec<Input>, draws: &Draws) -> Result<Vec<Output>> {
        self.outcome(inputs, draws).map_err(|problem| Error::file(&self.path, problem))
    }

    pub(crate) fn outcome(&self, inputs: Vec<Input>, draws: &Draws) -> Outcome<Vec<Output>> {
        if inputs.len() != self.inputs.len() {
            return Err(format!("has {} inputs, and {} are fed", self.inputs.len(), inputs.len()));
        }
        let mut rows = 1;
        let mut fed = Vec::with_capacity(inputs.len());
        for (input, port) in inputs.into_iter().zip(&self.inputs) {
            let value = input.value()?;
            let dims = value.dims()?;
            let fits = |(side, own): (&usize, &Option<usize>)| own.is_none_or(|own| own == *side);
            if !port.dims.is_empty() && (dims.len() != port.dims.len() || !dims.iter().zip(&port.dims).all(fits)) {
                return Err(format!("its input is {port}, and {dims:?} is fed"));
            }
            rows = dims.first().copied().unwrap_or(1).max(rows);
            fed.push(value);
        }
        let values = self.network.run(fed, draws, rows)?;
        values.into_iter().map(Output::of).collect()
    }
}

impl Input {
    fn value(self) -> Outcome<Value> {
        Ok(match self {
            Self::Numbers(dims, numbers) => {
                let sides = block_sides(1, &dims)?;
                if span(&sides) != numbers.dims()[0] {
                    return Err(format!("{} numbers are fed as {dims:?}", numbers.dims()[0]));
                }
                Value::Floats(Floats { block: numbers.reshape(sides), rank: dims.len() })
            }
            Self::Integers(dims, numbers) => match span(&block_sides(1, &dims)?) == numbers.len() {
                true => Value::Integers(Integers::new(dims, numbers)),
                false => return Err(format!("{} numbers are fed as {dims:?}", numbers.len())),
            },
            Self::Words(dims, words) => match span(&block_sides(1, &dims)?) == words.len() {
                true => Value::Words(Words::new(dims, words)),
                false => return Err(format!("{} words are fed as {dims:?}", words.len())),
            },
            Self::Categories(columns) => {
                let rows = columns.first().map_or(0, |column| column.dims()[0]);
                if columns.iter().any(|column| column.dims()[0] != rows) {
                    return Err("its columns differ in their numbers of rows".into());
                }
                Value::Categories(Categories::new(columns))
            }
        })
    }
}

impl Output {
    fn of(value: Value) -> Outcome<Self> {
        let floats = match value {
            // What is no tensor of numbers is nobody's answer here.
            Value::Sequence(_) | Value::Words(_) => {
                return Ok(Self { dims: vec![0], numbers: tensor(vec![0.0], [1, 1]) });
            }
            other if other.dims()?.contains(&0) => {
                return Ok(Self { dims: vec![0], numbers: tensor(vec![0.0], [1, 1]) });
            }
            other => other.floats()?,
        };
        let (members, dims) = (floats.members(), floats.dims());
        let count = span(&dims);
        Ok(Self { dims, numbers: floats.block.reshape([members, count]) })
    }
}

/// The constants of all members behind each other, or the one that all have.
fn stacked(first: &Constant, members: &[&Constant]) -> Outcome<Value> {
    if members.iter().all(|member| *member == first) {
        return Value::constant(first);
    }
    let floats = members.iter().map(|member| match &member.elements {
        Elements::Floats(numbers) => Ok(numbers.as_slice()),
        _ => Err("members differ in whole numbers".to_string()),
    });
    let all = floats.collect::<Outcome<Vec<_>>>()?.concat();
    let block = tensor(all, block_sides(members.len(), &first.dims)?);
    Ok(Value::Floats(Floats { block, rank: first.dims.len() }))
}

/// Whether networks differ in their weights alone.
fn are_alike(graphs: &[Graph]) -> bool {
    let Some((first, others)) = graphs.split_first() else { return false };
    let same_node = |(a, b): (&Node, &Node)| {
        (&a.operator, a.version, &a.attributes, &a.inputs, &a.outputs)
            == (&b.operator, b.version, &b.attributes, &b.inputs, &b.outputs)
    };
    let same_constant = |(a, b): ((&usize, &Constant), (&usize, &Constant))| {
        let floats = matches!((&a.1.elements, &b.1.elements), (Elements::Floats(_), Elements::Floats(_)));
        a.0 == b.0 && a.1.dims == b.1.dims && (floats || a.1 == b.1)
    };
    let numbers =
        |ports: &[(usize, Port)]| ports.iter().map(|(value, port)| (*value, port.dims.clone())).collect::<Vec<_>>();
    others.iter().all(|other| {
        numbers(&first.inputs) == numbers(&other.inputs)
            && numbers(&first.outputs) == numbers(&other.outputs)
            && first.nodes.len() == other.nodes.len()
            && first.constants.len() == other.constants.len()
            && first.nodes.iter().zip(&other.nodes).all(same_node)
            && first.constants.iter().zip(&other.constants).all(same_constant)
    })
}

/// Numbers of rows that constant shapes of reshapes begin with: exporters write the rows of their example there.
fn spoken(graph: &Graph) -> Vec<usize> {
    let shapes = graph.nodes.iter().filter(|node| matches!(node.operator.as_str(), "Reshape" | "Expand"));
    let constants = shapes.filter_map(|node| graph.constants.get(&(*node.inputs.get(1)?)?));
    let mut spoken: Vec<usize> = constants
        .filter_map(|constant| match &constant.elements {
            Elements::Integers(sides) => sides.first().and_then(|&side| usize::try_from(side).ok()),
            _ => None,
        })
        .filter(|side| (1..=1 << 16).contains(side))
        .collect();
    spoken.sort_unstable();
    spoken.dedup();
    spoken.truncate(8);
    spoken
}
