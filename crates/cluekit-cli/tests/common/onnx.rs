//! Small ONNX files: linear networks that a reader can compute by hand.

use cluekit_onnx::proto::{
    AttributeProto, DimensionProto, EntryProto, GraphProto, ModelProto, NodeProto, OperatorSetProto, ShapeProto,
    TensorProto, TensorTypeProto, TypeProto, ValueInfoProto,
};
use prost::Message;
use std::path::Path;

/// y = W x + b, with `weight` row by row, behind a dropout of half of x if there is to be one.
pub struct Linear<'a> {
    pub weight: &'a [&'a [f32]],
    pub bias: &'a [f32],
    pub dropout: bool,
}

impl Linear<'_> {
    /// Writes the network to a file; with `apart` its weight lies in another file beside it.
    pub fn write(&self, path: &Path, apart: Option<&str>) {
        let (outputs, inputs) = (self.weight.len(), self.weight[0].len());
        let bytes = |numbers: &[f32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        let weights = bytes(&self.weight.concat());
        let constant = |name: &str, dims: &[usize]| TensorProto {
            dims: dims.iter().map(|&side| side as i64).collect(),
            data_type: 1,
            name: name.into(),
            ..Default::default()
        };
        let weight = match apart {
            None => TensorProto { raw_data: weights, ..constant("W", &[outputs, inputs]) },
            Some(name) => {
                std::fs::write(path.parent().unwrap().join(name), weights).unwrap();
                let external_data = vec![EntryProto { key: "location".into(), value: name.into() }];
                TensorProto { external_data, data_location: 1, ..constant("W", &[outputs, inputs]) }
            }
        };
        let bias = TensorProto { raw_data: bytes(self.bias), ..constant("b", &[outputs]) };
        let half = TensorProto { raw_data: bytes(&[0.5]), ..constant("half", &[]) };
        let kept = if self.dropout { "kept" } else { "x" };
        let transposed = AttributeProto { name: "transB".into(), r#type: 2, i: 1, ..Default::default() };
        let dropout = self.dropout.then(|| node("Dropout", &["x", "half"], "kept", vec![]));
        let graph = GraphProto {
            node: dropout.into_iter().chain([node("Gemm", &[kept, "W", "b"], "y", vec![transposed])]).collect(),
            initializer: vec![weight, bias, half],
            input: vec![port("x", inputs)],
            output: vec![port("y", outputs)],
        };
        let opset_import = vec![OperatorSetProto { domain: String::new(), version: 17 }];
        let model = ModelProto { graph: Some(graph), opset_import, ..Default::default() };
        std::fs::write(path, model.encode_to_vec()).unwrap();
    }
}

fn node(operator: &str, inputs: &[&str], output: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    NodeProto {
        input: inputs.iter().map(|name| (*name).into()).collect(),
        output: vec![output.into()],
        op_type: operator.into(),
        attribute,
        ..Default::default()
    }
}

fn port(name: &str, width: usize) -> ValueInfoProto {
    let dim = |dim_value| DimensionProto { dim_value };
    let shape = ShapeProto { dim: vec![dim(None), dim(Some(width as i64))] };
    let tensor = TensorTypeProto { elem_type: 1, shape: Some(shape) };
    ValueInfoProto { name: name.into(), r#type: Some(TypeProto { tensor_type: Some(tensor) }) }
}
