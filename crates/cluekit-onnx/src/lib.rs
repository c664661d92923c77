//! ONNX models as predictors and generative models of cluekit: read, checked, run on its tensors, and differentiated by
//! their inputs.
//!
//! ```text
//! file ─► messages ─► graph (names resolved, checked) ─► network (constants folded, members stacked) ─► answers
//! ```
//!
//! A file is material from a stranger: whatever it says is checked before work is done or memory is taken for it, and what
//! cannot be run is refused by name.

mod asking;
pub mod constant;
mod generative;
pub mod graph;
mod integers;
mod model;
pub mod node;
mod operators;
mod ports;
mod predictor;
pub mod proto;
mod reader;
mod run;
mod trees;
mod value;
mod words;

pub use generative::OnnxGenerative;
pub use model::{Input, Model, Output};
pub use predictor::OnnxPredictor;
pub use reader::Onnx;

use std::path::Path;

/// Elements of the largest tensor: a gigabyte.
pub const MOST_ELEMENTS: usize = 1 << 28;

/// A result whose problem is said in words, to which the file and the node are added on the way up.
pub type Outcome<T> = Result<T, String>;

/// The message in a file.
pub fn read(path: &Path) -> cluekit::error::Result<proto::ModelProto> {
    use cluekit::Error;
    use prost::Message;
    let about = std::fs::metadata(path).map_err(Error::reading(path))?;
    if !about.is_file() {
        return Err(Error::file(path, "is no file"));
    }
    let bytes = std::fs::read(path).map_err(Error::reading(path))?;
    proto::ModelProto::decode(bytes.as_slice())
        .map_err(|problem| Error::file(path, format!("is no ONNX model: {problem}")))
}
