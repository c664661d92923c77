//! The one file that names the numerical backend.
//!
//! Everything else works with [`Tensor`], whose rank is part of its type, and with the functions here. The backend
//! is burn's pure-Rust one; its kernels run on one thread each, and [`crate::parallel`] puts threads around them.

pub use burn::tensor::Tensor;
pub use burn::tensor::activation::{log_sigmoid, log_softmax, relu, sigmoid, silu, softmax, softplus};

use burn::tensor::module;
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn::tensor::{Device, TensorData};

/// Where tensors live: the processor.
fn device() -> Device {
    Device::flex()
}

/// A constant tensor of the given shape, filled row by row.
///
/// # Panics
/// When `values` does not hold exactly as many numbers as `shape` has places.
pub fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), &device())
}

/// A tensor whose gradient will be asked for: a leaf of the graph.
pub fn leaf<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), &device().autodiff()).require_grad()
}

/// The numbers of a tensor, row by row.
pub fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("every tensor of this crate holds f32")
}

/// The one number of a tensor of one element.
pub fn scalar(tensor: Tensor<1>) -> f32 {
    tensor.into_scalar::<f32>()
}

/// Whether a number depends on a leaf, so that it has a gradient.
pub fn is_tracked(number: &Tensor<1>) -> bool {
    number.is_require_grad() || number.is_tracked()
}

/// ∂loss/∂leaf for every leaf, in their order; zeros where the loss does not depend on a leaf.
///
/// # Panics
/// When it is called twice for one graph: going backward uses the graph up.
pub fn gradients<const D: usize>(loss: &Tensor<1>, leaves: &[Tensor<D>]) -> Vec<Vec<f32>> {
    let mut gradients = loss.backward();
    leaves
        .iter()
        .map(|leaf| match leaf.grad_remove(&mut gradients) {
            Some(gradient) => values(gradient),
            None => vec![0.0; leaf.dims().iter().product()],
        })
        .collect()
}

/// `x Wᵀ + b` with the weight stored as `[out, in]`.
///
/// # Shapes
/// - `x`: `[rows, in]`, `weight`: `[out, in]`, `bias`: `[out]`
/// - returns: `[rows, out]`
pub fn linear(x: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    // (W xᵀ)ᵀ instead of x Wᵀ: the gradient of W then comes out row by row and needs no transposing copy.
    weight.matmul(x.transpose()).transpose() + bias.unsqueeze()
}

/// Convolution with an odd square kernel that keeps both sides, or divides them by `stride`, rounding up.
///
/// # Shapes
/// - `x`: `[rows, in, height, width]`, `weight`: `[out, in, side, side]`, `bias`: `[out]`
/// - returns: `[rows, out, ⌈height / stride⌉, ⌈width / stride⌉]`
pub fn convolution(x: Tensor<4>, weight: Tensor<4>, bias: Option<Tensor<1>>, stride: usize) -> Tensor<4> {
    let padding = weight.dims()[3] / 2;
    module::conv2d(x, weight, bias, ConvOptions::new([stride; 2], [padding; 2], [1, 1], 1))
}

/// Convolution with a 3 × 3 kernel that halves both sides, rounding up.
///
/// # Shapes
/// - `x`: `[rows, in, height, width]`, `weight`: `[out, in, 3, 3]`, `bias`: `[out]`
/// - returns: `[rows, out, ⌈height / 2⌉, ⌈width / 2⌉]`
pub fn halving_convolution(x: Tensor<4>, weight: Tensor<4>, bias: Tensor<1>) -> Tensor<4> {
    convolution(x, weight, Some(bias), 2)
}

/// The transpose of [`halving_convolution`]: doubles both sides, up to the given size.
///
/// # Shapes
/// - `x`: `[rows, in, ⌈height / 2⌉, ⌈width / 2⌉]`, `weight`: `[in, out, 3, 3]`, `bias`: `[out]`
/// - returns: `[rows, out, height, width]`
pub fn doubling_convolution(x: Tensor<4>, weight: Tensor<4>, bias: Tensor<1>, size: [usize; 2]) -> Tensor<4> {
    let [_, _, height, width] = x.dims();
    // A stride of 2 maps two sizes onto one; the padding of the output says which of them is meant.
    let padding = [size[0] + 1 - 2 * height, size[1] + 1 - 2 * width];
    module::conv_transpose2d(x, weight, Some(bias), ConvTransposeOptions::new([2, 2], [1, 1], padding, [1, 1], 1))
}
