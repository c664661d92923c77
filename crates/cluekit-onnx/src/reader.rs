//! ONNX files for the run folders of cluekit.

use crate::generative::OnnxGenerative;
use crate::model::open;
use crate::operators;
use crate::predictor::OnnxPredictor;
use cluekit::data::Schema;
use cluekit::error::Result;
use cluekit::model::adopted::{AdoptedGenerative, AdoptedPredictor, ModelFile, ModelReader, Port};
use cluekit::model::{Generative, Predictor};
use cluekit::seed::Seed;
use std::path::Path;
use std::sync::Arc;

/// Reads ONNX files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Onnx;

impl ModelReader for Onnx {
    fn describe(&self, file: &Path) -> Result<ModelFile> {
        let opened = open(file)?;
        let ports = |all: &[(usize, Port)]| all.iter().map(|(_, port)| port.clone()).collect::<Vec<_>>();
        let graph = &opened.graph;
        let inputs = ports(&graph.inputs);
        let trees = Some(graph.trees().map(|trees| trees.count()).sum());
        Ok(ModelFile {
            has_gradient: graph.has_gradient(),
            dropouts: graph.nodes.iter().filter(|node| operators::is_random(&node.operator)).count(),
            trees: trees.filter(|&trees| trees > 0),
            averages_trees: graph.averages_trees(),
            classes: graph.classes.clone(),
            rows_at_once: inputs.iter().filter_map(|port| port.dims.first().copied().flatten()).max(),
            outputs: ports(&graph.outputs),
            inputs,
            parts: opened.parts,
        })
    }

    fn predictor(
        &self,
        folder: &Path,
        adopted: &AdoptedPredictor,
        schema: &Schema,
        seed: Seed,
    ) -> Result<Arc<dyn Predictor>> {
        Ok(Arc::new(OnnxPredictor::open(folder, adopted, schema, seed)?))
    }

    fn generative(&self, folder: &Path, adopted: &AdoptedGenerative, schema: &Schema) -> Result<Arc<dyn Generative>> {
        Ok(Arc::new(OnnxGenerative::open(folder, adopted, schema)?))
    }
}
