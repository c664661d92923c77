//! The operators, by their names: each checks what it is given before a kernel sees it.

mod activation;
mod attention;
mod classes;
mod columns;
mod convolution;
mod einsum;
mod elementwise;
mod encoders;
mod gather;
mod linear;
mod moving;
mod normalisation;
mod padding;
mod pooling;
pub(crate) mod random;
mod reduction;
mod resize;
mod sequence;
mod shape;
mod table;
mod trees;
mod window;

use crate::Outcome;
use crate::ports::CLASSICAL;
use crate::run::Call;
use crate::value::{Floats, Value};

/// What a node does with its inputs.
pub(crate) type Operator = fn(&mut Call) -> Outcome<Vec<Value>>;

/// One output.
fn one(floats: Floats) -> Outcome<Vec<Value>> {
    Ok(vec![Value::Floats(floats)])
}

/// Whether an operator draws at random, or is dropout.
pub(crate) fn is_random(name: &str) -> bool {
    matches!(name, "Dropout" | "Bernoulli" | "RandomUniformLike" | "RandomNormalLike")
}

/// The operator of this name in a domain, if it is supported.
pub(crate) fn of(domain: &str, name: &str) -> Option<Operator> {
    match domain {
        "" => of_networks(name),
        CLASSICAL => of_tables(name),
        _ => None,
    }
}

/// Operators of classical machine learning.
fn of_tables(name: &str) -> Option<Operator> {
    Some(match name {
        "ArrayFeatureExtractor" => table::array_feature_extractor,
        "Binarizer" => table::binarizer,
        "FeatureVectorizer" => table::feature_vectorizer,
        "Imputer" => table::imputer,
        "Normalizer" => table::normalizer,
        "Scaler" => table::scaler,
        "CategoryMapper" | "LabelEncoder" => encoders::label_encoder,
        "OneHotEncoder" => encoders::one_hot_encoder,
        "LinearClassifier" => classes::linear_classifier,
        "LinearRegressor" => classes::linear_regressor,
        "ZipMap" => classes::zip_map,
        "TreeEnsemble" | "TreeEnsembleClassifier" | "TreeEnsembleRegressor" => trees::trees,
        _ => return None,
    })
}

/// Operators of ONNX itself.
fn of_networks(name: &str) -> Option<Operator> {
    Some(match name {
        "Add" => elementwise::add,
        "Sub" => elementwise::sub,
        "Mul" => elementwise::mul,
        "Div" => elementwise::div,
        "Pow" => elementwise::pow,
        "Mod" => elementwise::modulo,
        "Min" => elementwise::min,
        "Max" => elementwise::max,
        "Sum" => elementwise::sum,
        "Mean" => elementwise::mean,
        "Equal" => elementwise::equal,
        "Less" => elementwise::less,
        "LessOrEqual" => elementwise::less_or_equal,
        "Greater" => elementwise::greater,
        "GreaterOrEqual" => elementwise::greater_or_equal,
        "And" => elementwise::and,
        "Or" => elementwise::or,
        "Xor" => elementwise::xor,
        "Not" => elementwise::not,
        "Where" => elementwise::choose,
        "Clip" => elementwise::clip,
        "Cast" => elementwise::cast,
        "CastLike" => elementwise::cast_like,
        "Identity" => elementwise::identity,
        "IsNaN" => elementwise::is_nan,
        "IsInf" => elementwise::is_inf,
        "Neg" => elementwise::neg,
        "Abs" => elementwise::abs,
        "Sign" => elementwise::sign,
        "Sqrt" | "Exp" | "Log" | "Erf" | "Reciprocal" | "Floor" | "Ceil" | "Round" | "Sin" | "Cos" | "Tan" | "Sinh"
        | "Cosh" | "Asin" | "Acos" | "Atan" | "Asinh" | "Acosh" | "Atanh" => elementwise::function,
        "Relu" | "LeakyRelu" | "Elu" | "Celu" | "Selu" | "Sigmoid" | "Tanh" | "Softplus" | "Softsign" | "Gelu"
        | "HardSigmoid" | "HardSwish" | "Mish" | "ThresholdedRelu" | "Swish" | "Shrink" => activation::activation,
        "PRelu" => activation::prelu,
        "Softmax" => activation::softmax,
        "LogSoftmax" => activation::log_softmax,
        "Gemm" => linear::gemm,
        "MatMul" => linear::matmul,
        "Attention" => attention::attention,
        "Einsum" => einsum::einsum,
        "Conv" => convolution::conv,
        "ConvTranspose" => convolution::conv_transpose,
        "MaxPool" => pooling::max_pool,
        "AveragePool" => pooling::average_pool,
        "GlobalAveragePool" => pooling::global_average_pool,
        "GlobalMaxPool" => pooling::global_max_pool,
        "BatchNormalization" => normalisation::batch,
        "InstanceNormalization" => normalisation::instance,
        "LayerNormalization" => normalisation::layer,
        "GroupNormalization" => normalisation::group,
        "RMSNormalization" | "SimplifiedLayerNormalization" => normalisation::root_mean_square,
        "LpNormalization" => normalisation::length,
        "ReduceMean" | "ReduceSum" | "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceL1" | "ReduceL2"
        | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceSumSquare" => reduction::reduce,
        "CumSum" => reduction::running_sum,
        "ArgMax" => reduction::arg_max,
        "ArgMin" => reduction::arg_min,
        "Reshape" => moving::reshape,
        "Flatten" => moving::flatten,
        "Transpose" => moving::transpose,
        "Squeeze" => moving::squeeze,
        "Unsqueeze" => moving::unsqueeze,
        "Expand" => moving::expand,
        "Concat" => moving::concat,
        "Split" => moving::split,
        "Slice" => moving::slice,
        "Tile" => moving::tile,
        "DepthToSpace" => moving::depth_to_space,
        "SpaceToDepth" => moving::space_to_depth,
        "Pad" => padding::pad,
        "Gather" => gather::gather,
        "GatherElements" => gather::gather_elements,
        "GatherND" => gather::gather_nd,
        "OneHot" => gather::one_hot,
        "Trilu" => gather::trilu,
        "Shape" => shape::shape,
        "Size" => shape::size,
        "ConstantOfShape" => shape::constant_of_shape,
        "Range" => shape::range,
        "EyeLike" => shape::eye_like,
        "Resize" => resize::resize,
        "Upsample" => resize::upsample,
        "Dropout" => random::dropout,
        "Bernoulli" => random::bernoulli,
        "RandomUniformLike" => random::uniform_like,
        "RandomNormalLike" => random::normal_like,
        "SequenceConstruct" => sequence::construct,
        "SequenceAt" => sequence::at,
        "SplitToSequence" => sequence::split,
        "ConcatFromSequence" => sequence::concat,
        _ => return None,
    })
}
