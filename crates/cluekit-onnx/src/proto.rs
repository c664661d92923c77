//! The messages of `onnx.proto` that a model is made of, with the fields that are read here.
//!
//! Fields that are not listed are skipped, and messages may lie a hundred deep at the most.

/// A whole file.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ModelProto {
    /// Program that wrote the file.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// Versions of the operators.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetProto>,
    /// The network.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// Operators that the file itself defines.
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<FunctionProto>,
}

/// Version of the operators of one domain.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct OperatorSetProto {
    /// Domain; empty for ONNX itself.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// Version.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// Nodes, constants, inputs and outputs.
#[derive(Clone, PartialEq, prost::Message)]
pub struct GraphProto {
    /// Operators in an order in which they can run.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Constants, such as weights.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// Inputs; old files list constants too.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// Outputs.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
}

/// An operator with the names of what it takes and gives.
#[derive(Clone, PartialEq, prost::Message)]
pub struct NodeProto {
    /// Names of the inputs; empty where one is left out.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of the outputs.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Name of the node.
    #[prost(string, tag = "3")]
    pub name: String,
    /// Name of the operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// Settings of the operator.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// Domain of the operator; empty for ONNX itself.
    #[prost(string, tag = "7")]
    pub domain: String,
}

/// A setting of an operator.
#[derive(Clone, PartialEq, prost::Message)]
pub struct AttributeProto {
    /// Name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Inside of a function: the setting of the function that is meant.
    #[prost(string, tag = "21")]
    pub ref_attr_name: String,
    /// Which of the fields holds the value.
    #[prost(int32, tag = "20")]
    pub r#type: i32,
    /// One number.
    #[prost(float, tag = "2")]
    pub f: f32,
    /// One whole number.
    #[prost(int64, tag = "3")]
    pub i: i64,
    /// One text.
    #[prost(bytes = "vec", tag = "4")]
    pub s: Vec<u8>,
    /// One tensor.
    #[prost(message, optional, tag = "5")]
    pub t: Option<TensorProto>,
    /// Numbers.
    #[prost(float, repeated, tag = "7")]
    pub floats: Vec<f32>,
    /// Whole numbers.
    #[prost(int64, repeated, tag = "8")]
    pub ints: Vec<i64>,
    /// Texts.
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub strings: Vec<Vec<u8>>,
    /// Tensors.
    #[prost(message, repeated, tag = "10")]
    pub tensors: Vec<TensorProto>,
}

/// Constant numbers or words.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TensorProto {
    /// Sides.
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    /// Type of the elements.
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    /// Elements of type float.
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// Elements of the small types, bits of the half floats among them.
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    /// Words.
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub string_data: Vec<Vec<u8>>,
    /// Elements of type int64.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    /// Name.
    #[prost(string, tag = "8")]
    pub name: String,
    /// Elements of any type, as bytes.
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
    /// Elements of type double.
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
    /// Elements of types uint32 and uint64.
    #[prost(uint64, repeated, tag = "11")]
    pub uint64_data: Vec<u64>,
    /// Where in another file the elements lie.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<EntryProto>,
    /// 1 where they lie in another file.
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

/// A key with its value.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct EntryProto {
    /// Key.
    #[prost(string, tag = "1")]
    pub key: String,
    /// Value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// Name and type of an input or output.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ValueInfoProto {
    /// Name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Type.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
}

/// Type of an input or output; only tensors are read.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TypeProto {
    /// Type of a tensor; absent for sequences and maps.
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorTypeProto>,
}

/// Elements and sides of a tensor.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TensorTypeProto {
    /// Type of the elements.
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    /// Sides; absent where not even their number is known.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<ShapeProto>,
}

/// Sides of a tensor.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ShapeProto {
    /// Sides.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<DimensionProto>,
}

/// One side, which is free unless it has a value.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct DimensionProto {
    /// Its length.
    #[prost(int64, optional, tag = "1")]
    pub dim_value: Option<i64>,
}

/// An operator that the file defines by others.
#[derive(Clone, PartialEq, prost::Message)]
pub struct FunctionProto {
    /// Name of the operator.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Names of its inputs inside.
    #[prost(string, repeated, tag = "4")]
    pub input: Vec<String>,
    /// Names of its outputs inside.
    #[prost(string, repeated, tag = "5")]
    pub output: Vec<String>,
    /// What it does.
    #[prost(message, repeated, tag = "7")]
    pub node: Vec<NodeProto>,
    /// Versions of the operators inside.
    #[prost(message, repeated, tag = "9")]
    pub opset_import: Vec<OperatorSetProto>,
    /// Domain of the operator.
    #[prost(string, tag = "10")]
    pub domain: String,
    /// Settings that have a default.
    #[prost(message, repeated, tag = "11")]
    pub attribute_proto: Vec<AttributeProto>,
}
