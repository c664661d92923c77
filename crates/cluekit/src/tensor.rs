//! The one file that names the numerical backend.
//!
//! Everything else works with [`Tensor`], whose rank is part of its type, and with the functions here. The backend
//! is burn's pure-Rust one; its kernels run on one thread each, and [`crate::parallel`] puts threads around them.

pub use burn_tensor::Tensor;
pub use burn_tensor::activation::{log_sigmoid, log_softmax, relu, sigmoid, silu, softmax, softplus};

use crate::error::{Error, Result};
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::NoCheckpointing;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn_flex::Flex;
use burn_tensor::module;
use burn_tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn_tensor::{Device, TensorData};
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

/// The numerical backend and its version.
pub const BACKEND: (&str, &str) = ("burn", "0.22.1");

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

/// Whether a tensor depends on a leaf, so that it has a gradient.
pub fn is_tracked<const D: usize>(tensor: &Tensor<D>) -> bool {
    tensor.is_require_grad() || tensor.is_tracked()
}

/// ∂loss/∂leaf for every leaf, in their order; zeros where the loss does not depend on a leaf.
///
/// # Errors
/// When the loss depends on no leaf at all, and when a [`PullBack`] on the way fails.
///
/// # Panics
/// When it is called twice for one graph: going backward uses the graph up.
pub fn gradients<const D: usize>(loss: &Tensor<1>, leaves: &[Tensor<D>]) -> Result<Vec<Vec<f32>>> {
    if !is_tracked(loss) {
        return Err(Error::data(
            "a model's answer does not follow from its input by tensor operations, so there is no gradient to descend; \
             compute it with the functions of `cluekit::tensor`, or give the model a pull-back",
        ));
    }
    // A pull-back may itself go backward, on this thread: its failures are its own.
    let outer = FAILURE.take();
    let mut gradients = loss.backward();
    if let Some(error) = FAILURE.replace(outer) {
        return Err(error);
    }
    let gradient = |leaf: &Tensor<D>| match leaf.grad_remove(&mut gradients) {
        Some(gradient) => values(gradient),
        None => vec![0.0; leaf.dims().iter().product()],
    };
    Ok(leaves.iter().map(gradient).collect())
}

/// ∂L/∂values ↦ ∂L/∂x: the gradient of numbers that were computed outside of the graph.
pub type PullBack = Arc<dyn Fn(&[f32]) -> Result<Vec<f32>> + Send + Sync>;

thread_local! {
    /// What went wrong in the backward pass of this thread: the graph has no way to say it.
    static FAILURE: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// A tensor of numbers that somebody else computed from `x`, whose gradient by `x` is what `pull_back` says.
///
/// Where `x` depends on no leaf, it is a constant and nobody is asked for a gradient. A `pull_back` that fails, or
/// returns another number of values than `x` has, makes [`gradients`] return the error.
///
/// # Panics
/// When `values` does not hold exactly as many numbers as `shape` has places.
pub fn pulled_back<const D: usize>(
    x: &Tensor<2>,
    values: Vec<f32>,
    shape: [usize; D],
    pull_back: PullBack,
) -> Tensor<D> {
    let value = tensor(values, shape);
    if !is_tracked(x) {
        return value;
    }
    let (Ok(parent), Ok(output)) =
        (x.clone().try_into_primitive::<Autodiff<Flex>>(), value.clone().try_into_primitive::<Flex>())
    else {
        return value;
    };
    let prepared = Outside::<D>.prepare::<NoCheckpointing>([parent.node()]).compute_bound().stateful();
    Tensor::from_primitive::<Autodiff<Flex>>(match prepared {
        OpsKind::Tracked(prepared) => prepared.finish(State { pull_back, shape: x.dims() }, output),
        OpsKind::UnTracked(prepared) => prepared.finish(output),
    })
}

/// The operation behind [`pulled_back`]; its outputs have rank `D`.
#[derive(Debug)]
struct Outside<const D: usize>;

/// What it remembers for the way back.
#[derive(Clone)]
struct State {
    pull_back: PullBack,
    /// Of x.
    shape: [usize; 2],
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("State").field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl State {
    fn pull(&self, cotangent: &[f32]) -> Result<Vec<f32>> {
        let gradient = (self.pull_back)(cotangent)?;
        if gradient.len() != self.shape.iter().product::<usize>() {
            let (expected, got) = (self.shape.to_vec(), vec![gradient.len()]);
            return Err(Error::Shape { what: "what a pull-back returned".into(), expected, got });
        }
        Ok(gradient)
    }
}

impl<const D: usize> Backward<Flex, 1> for Outside<D> {
    type State = State;

    fn backward(self, ops: Ops<State, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let state = ops.state;
        unary::<Flex, _>(ops.parents, ops.node, gradients, |cotangent| {
            let places: usize = state.shape.iter().product();
            let failed = FAILURE.with_borrow(Option::is_some);
            let gradient = match failed {
                true => Ok(vec![0.0; places]),
                false => state.pull(&values(Tensor::<D>::from_primitive::<Flex>(cotangent))),
            };
            let gradient = gradient.unwrap_or_else(|error| {
                FAILURE.set(Some(error));
                vec![0.0; places]
            });
            let gradient = tensor(gradient, state.shape).try_into_primitive::<Flex>();
            gradient.expect("the operation is made of tensors of this backend alone")
        });
    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "small whole numbers are exact")]

    use super::*;

    /// y = x², computed outside of the graph.
    fn square(x: &Tensor<2>) -> Tensor<2> {
        let at = values(x.clone());
        let y = at.iter().map(|x| x * x).collect();
        let pull_back: PullBack = Arc::new(move |g| Ok(g.iter().zip(&at).map(|(g, x)| 2.0 * g * x).collect()));
        pulled_back(x, y, x.dims(), pull_back)
    }

    #[test]
    fn numbers_from_outside_have_the_gradient_that_they_say() {
        // ∂ Σ 3 (x²)² / ∂x = 12 x³, twice through the operation.
        let x = leaf(vec![1.0, -2.0], [1, 2]);
        let loss = (square(&square(&x)) * 3.0).sum();
        assert_eq!(scalar(loss.clone()), 51.0);
        assert_eq!(gradients(&loss, &[x]).unwrap(), [[12.0, -96.0]]);
    }

    #[test]
    fn numbers_from_outside_of_a_constant_are_a_constant() {
        let y = square(&tensor(vec![3.0], [1, 1]));
        assert!(!is_tracked(&y));
        assert_eq!(values(y), [9.0]);
    }

    #[test]
    fn a_loss_without_a_graph_is_an_error() {
        let x: Tensor<2> = leaf(vec![1.0], [1, 1]);
        let problem = gradients(&tensor(vec![1.0], [1]), &[x]).unwrap_err().to_string();
        assert!(problem.contains("no gradient to descend"), "{problem}");
    }

    #[test]
    fn a_pull_back_that_fails_or_is_too_short_is_an_error_and_the_next_one_is_not() {
        let failing: PullBack = Arc::new(|_| Err(Error::data("cut")));
        let short: PullBack = Arc::new(|_| Ok(vec![1.0]));
        for (pull_back, expected) in
            [(failing, "cut"), (short, "what a pull-back returned has shape [1], expected [1, 2]")]
        {
            let x = leaf(vec![1.0, 2.0], [1, 2]);
            // What comes before it on the way is asked no more.
            let y: Tensor<2> = pulled_back(&square(&x), vec![0.0; 2], [1, 2], pull_back);
            assert_eq!(gradients(&y.sum(), &[x]).unwrap_err().to_string(), expected);
            let x = leaf(vec![1.0], [1, 1]);
            assert_eq!(gradients(&square(&x).sum(), &[x]).unwrap(), [[2.0]]);
        }
    }

    #[test]
    fn a_pull_back_may_itself_go_backward_on_any_thread() {
        crate::parallel::over_shards(64, 1, |rows| {
            let at = rows.start as f32;
            let pull_back: PullBack = Arc::new(move |g| {
                let x = leaf(vec![at], [1, 1]);
                let own = (x.clone() * x.clone() * g[0]).sum();
                Ok(gradients(&own, &[x])?.concat())
            });
            let x = leaf(vec![at], [1, 1]);
            let y: Tensor<2> = pulled_back(&x, vec![at * at], [1, 1], pull_back);
            assert_eq!(gradients(&(y * 5.0).sum(), &[x]).unwrap(), [[10.0 * at]]);
        });
    }
}
