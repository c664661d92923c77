//! A node of a network: an operator with its settings, each of which is asked for as what it should be.

use crate::Outcome;
use crate::constant::Constant;
use crate::trees::Trees;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Under which name the settings of a node of trees lie.
pub(crate) const TREES: &str = "trees";

/// An operator with what it takes and gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Name of the node.
    pub name: String,
    /// Domain of the operator; empty for ONNX itself.
    pub domain: String,
    /// Name of the operator.
    pub operator: String,
    /// Version of the operators.
    pub version: i64,
    /// Settings.
    pub attributes: BTreeMap<String, Attribute>,
    /// Numbers of the values that it takes; none where one is left out.
    pub inputs: Vec<Option<usize>>,
    /// Numbers of the values that it gives.
    pub outputs: Vec<Option<usize>>,
}

/// A setting of an operator.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A number.
    Float(f32),
    /// A whole number.
    Integer(i64),
    /// A text.
    Text(String),
    /// Numbers.
    Floats(Vec<f32>),
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Texts.
    Texts(Vec<String>),
    /// A tensor.
    Constant(Constant),
    /// All settings of a node of trees.
    Trees(Arc<Trees>),
    /// A part of a network, which no supported operator takes.
    Graph,
}

impl Node {
    /// The node in words: its operator and its name.
    pub fn title(&self) -> String {
        format!("operator `{}` of node `{}`", self.operator, self.name)
    }

    /// A whole number among the settings.
    pub fn integer(&self, name: &str, default: i64) -> Outcome<i64> {
        match self.attributes.get(name) {
            None => Ok(default),
            Some(Attribute::Integer(number)) => Ok(*number),
            Some(_) => Err(format!("`{name}` is no whole number")),
        }
    }

    /// Whether a setting is other than 0.
    pub fn flag(&self, name: &str, default: bool) -> Outcome<bool> {
        Ok(self.integer(name, i64::from(default))? != 0)
    }

    /// A number among the settings.
    pub fn float(&self, name: &str, default: f32) -> Outcome<f32> {
        match self.attributes.get(name) {
            None => Ok(default),
            Some(Attribute::Float(number)) => Ok(*number),
            Some(_) => Err(format!("`{name}` is no number")),
        }
    }

    /// A text among the settings.
    pub fn text(&self, name: &str, default: &'static str) -> Outcome<&str> {
        match self.attributes.get(name) {
            None => Ok(default),
            Some(Attribute::Text(text)) => Ok(text),
            Some(_) => Err(format!("`{name}` is no text")),
        }
    }

    /// Whole numbers among the settings.
    pub fn integers(&self, name: &str) -> Outcome<Option<&[i64]>> {
        match self.attributes.get(name) {
            None => Ok(None),
            Some(Attribute::Integers(numbers)) => Ok(Some(numbers)),
            Some(_) => Err(format!("`{name}` is no list of whole numbers")),
        }
    }

    /// Numbers among the settings.
    pub fn floats(&self, name: &str) -> Outcome<Option<&[f32]>> {
        match self.attributes.get(name) {
            None => Ok(None),
            Some(Attribute::Floats(numbers)) => Ok(Some(numbers)),
            Some(_) => Err(format!("`{name}` is no list of numbers")),
        }
    }

    /// Texts among the settings.
    pub fn texts(&self, name: &str) -> Outcome<Option<&[String]>> {
        match self.attributes.get(name) {
            None => Ok(None),
            Some(Attribute::Texts(texts)) => Ok(Some(texts)),
            Some(_) => Err(format!("`{name}` is no list of texts")),
        }
    }

    /// The trees of a node that has some.
    pub fn trees(&self) -> Option<&Arc<Trees>> {
        match self.attributes.get(TREES) {
            Some(Attribute::Trees(trees)) => Some(trees),
            _ => None,
        }
    }
}
