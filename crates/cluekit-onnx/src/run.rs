//! Running a network: one node after the other, on values that are let go after their last use.

use crate::graph::Graph;
use crate::node::Node;
use crate::operators::{Operator, random};
use crate::value::{Block, Floats, Value};
use crate::{Outcome, operators};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Multiplications that constants of a file may cost.
const MOST_FOLDING: u64 = 4_000_000_000;

/// Multiplications that a row of an answer may cost, for one member.
const MOST_WORK: u64 = 200_000_000_000;

/// Elements of all values of an answer together: 8 gigabytes.
const MOST_HELD: u64 = 1 << 31;

/// Elements of all values that follow from the constants of a file: 2 gigabytes.
const MOST_KNOWN: u64 = 1 << 29;

/// A network that is ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    steps: Vec<Step>,
    /// What is known before any row is.
    known: Vec<Option<Value>>,
    /// Values that are fed.
    pub(crate) inputs: Vec<usize>,
    outputs: Vec<usize>,
}

/// A node with its operator.
#[derive(Clone, Debug)]
struct Step {
    node: Node,
    operator: Operator,
    /// Inputs that nobody needs afterwards.
    last: Vec<bool>,
}

/// What nodes draw at random.
#[derive(Debug, Default)]
pub(crate) enum Draws {
    /// Nothing: dropout lets everything through.
    #[default]
    None,
    /// Nothing yet: the shapes and chances that will be needed, by the number of the node.
    Noted(Mutex<BTreeMap<usize, random::Wanted>>),
    /// What was drawn, by the number of the node.
    Fixed(BTreeMap<usize, Block>),
}

/// What an operator is given.
pub(crate) struct Call<'a> {
    pub(crate) node: &'a Node,
    /// Number of the node.
    pub(crate) at: usize,
    pub(crate) inputs: Vec<Option<Value>>,
    pub(crate) draws: &'a Draws,
    budget: &'a Budget,
}

/// What may still be spent.
struct Budget {
    multiplications: Cell<u64>,
    elements: Cell<u64>,
}

impl Budget {
    fn new(multiplications: u64, elements: u64) -> Self {
        Self { multiplications: Cell::new(multiplications), elements: Cell::new(elements) }
    }

    /// Takes off from what is left.
    fn take(from: &Cell<u64>, cost: Option<u64>, what: &str) -> Outcome<()> {
        match cost.and_then(|cost| from.get().checked_sub(cost)) {
            Some(left) => {
                from.set(left);
                Ok(())
            }
            None => Err(format!("takes more {what} than a network of its kind should")),
        }
    }

    /// An error if an answer grows beyond what anybody means.
    fn hold(&self, value: &Value) -> Outcome<()> {
        let count = match value {
            Value::Floats(floats) => floats.block.dims().iter().product::<usize>(),
            Value::Mask(mask) => mask.block.dims().iter().product(),
            Value::Integers(integers) => integers.data.len(),
            Value::Words(words) => words.len(),
            Value::Categories(_) => 0,
            Value::Sequence(parts) => return parts.iter().try_for_each(|part| self.hold(part)),
        };
        Self::take(&self.elements, Some(count as u64), "memory")?;
        Self::take(&self.multiplications, Some(count as u64), "operations")
    }
}

impl Call<'_> {
    /// Whether an input is there.
    pub(crate) fn has(&self, at: usize) -> bool {
        self.inputs.get(at).is_some_and(Option::is_some)
    }

    /// An input, which is taken.
    pub(crate) fn value(&mut self, at: usize) -> Outcome<Value> {
        let value = self.inputs.get_mut(at).and_then(Option::take);
        value.ok_or_else(|| format!("its input {at} is missing"))
    }

    pub(crate) fn floats(&mut self, at: usize) -> Outcome<Floats> {
        self.value(at)?.floats()
    }

    /// Whole numbers that are known without the rows.
    pub(crate) fn integers(&mut self, at: usize) -> Outcome<crate::integers::Integers> {
        self.value(at)?.integers()
    }

    /// Numbers that are known without the rows.
    pub(crate) fn numbers(&mut self, at: usize) -> Outcome<Vec<f32>> {
        let value = self.value(at)?;
        if value.dims()?.contains(&0) {
            return Ok(vec![]);
        }
        value.floats()?.known("a setting")
    }

    /// Whole numbers of an input if it is there, or of an attribute.
    pub(crate) fn listed(&mut self, at: usize, name: &str) -> Outcome<Option<Vec<i64>>> {
        match self.has(at) {
            true => Ok(Some(self.integers(at)?.data.to_vec())),
            false => Ok(self.node.integers(name)?.map(<[i64]>::to_vec)),
        }
    }

    /// An error if the multiplications so far are more than anybody means.
    pub(crate) fn spend(&self, factors: &[usize]) -> Outcome<()> {
        let cost = factors.iter().try_fold(1_u64, |cost, &factor| cost.checked_mul(factor as u64));
        Budget::take(&self.budget.multiplications, cost, "multiplications")
    }
}

impl Network {
    /// A network for the graphs of its members, which differ in their constants alone.
    pub(crate) fn new(graph: &Graph, constants: BTreeMap<usize, Value>) -> Outcome<Self> {
        let mut known: Vec<Option<Value>> = vec![None; graph.values];
        for (value, constant) in constants {
            known[value] = Some(constant);
        }
        let mut steps = Vec::new();
        let budget = Budget::new(MOST_FOLDING, MOST_KNOWN);
        for node in &graph.nodes {
            let Some(operator) = operators::of(&node.domain, &node.operator) else {
                return Err(format!("{} is not supported", node.title()));
            };
            let ready = node.inputs.iter().flatten().all(|&value| known[value].is_some());
            if ready && !operators::is_random(&node.operator) {
                let inputs = node.inputs.iter().map(|value| value.and_then(|value| known[value].clone())).collect();
                let call = Call { node, at: usize::MAX, inputs, draws: &Draws::None, budget: &budget };
                for (output, value) in node.outputs.iter().zip(apply(operator, call)?) {
                    if let Some(output) = output {
                        known[*output] = Some(value);
                    }
                }
            } else {
                steps.push(Step { node: node.clone(), operator, last: vec![] });
            }
        }
        let inputs = graph.inputs.iter().map(|(value, _)| *value).collect();
        let outputs: Vec<usize> = graph.outputs.iter().map(|(value, _)| *value).collect();
        let mut needed: Vec<bool> = vec![false; graph.values];
        outputs.iter().for_each(|&output| needed[output] = true);
        for step in steps.iter_mut().rev() {
            let mut last = vec![false; step.node.inputs.len()];
            // From the back: where a node takes a value twice, the second time is the last one.
            for (last, input) in last.iter_mut().zip(&step.node.inputs).rev() {
                if let Some(input) = input {
                    *last = !std::mem::replace(&mut needed[*input], true);
                }
            }
            step.last = last;
        }
        for (value, needed) in needed.into_iter().enumerate() {
            if !needed {
                known[value] = None;
            }
        }
        Ok(Self { steps, known, inputs, outputs })
    }

    /// Number of nodes that draw at random.
    pub(crate) fn random_nodes(&self) -> usize {
        self.steps.iter().filter(|step| operators::is_random(&step.node.operator)).count()
    }

    /// The outputs for what is fed, in the order of the inputs; `rows` of `members` pay for it.
    pub(crate) fn run(&self, fed: Vec<Value>, draws: &Draws, rows: usize) -> Outcome<Vec<Value>> {
        let mut values: Vec<Option<Value>> = vec![None; self.known.len()];
        for (input, value) in self.inputs.iter().zip(fed) {
            values[*input] = Some(value);
        }
        let members = match draws {
            Draws::Fixed(drawn) => drawn.values().map(|block| block.dims()[0]).max().unwrap_or(1),
            _ => 1,
        };
        let members = members.max(self.members());
        let budget = Budget::new(MOST_WORK.saturating_mul((rows * members) as u64), MOST_HELD);
        for (at, step) in self.steps.iter().enumerate() {
            let mut inputs = Vec::with_capacity(step.node.inputs.len());
            for (input, &last) in step.node.inputs.iter().zip(&step.last) {
                let input = input.and_then(|input| match last {
                    true => values[input].take().or_else(|| self.known[input].clone()),
                    false => values[input].clone().or_else(|| self.known[input].clone()),
                });
                inputs.push(input);
            }
            let call = Call { node: &step.node, at, inputs, draws, budget: &budget };
            for (output, value) in step.node.outputs.iter().zip(apply(step.operator, call)?) {
                if let Some(output) = output {
                    values[*output] = Some(value);
                }
            }
        }
        let output = |&output: &usize| {
            let value = values[output].clone().or_else(|| self.known[output].clone());
            value.ok_or_else(|| "an output was not made".to_string())
        };
        self.outputs.iter().map(output).collect()
    }

    /// Number of members that differ in a constant.
    pub(crate) fn members(&self) -> usize {
        let members = |value: &Value| match value {
            Value::Floats(floats) => floats.members(),
            _ => 1,
        };
        self.known.iter().flatten().map(members).max().unwrap_or(1)
    }
}

fn apply(operator: Operator, mut call: Call) -> Outcome<Vec<Value>> {
    let (node, budget) = (call.node, call.budget);
    let made = operator(&mut call).and_then(|made| {
        made.iter().try_for_each(|value| budget.hold(value))?;
        Ok(made)
    });
    made.map_err(|problem| format!("{}: {problem}", node.title()))
}
