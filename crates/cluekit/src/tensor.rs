//! The one file that names the numerical backend.
//!
//! Everything else works with [`Tensor`], whose rank is part of its type, and with the functions here. The backend
//! is burn's pure-Rust one; its kernels run on one thread each, and [`crate::parallel`] puts threads around them.

pub use burn_tensor::Tensor;
pub use burn_tensor::activation::{log_softmax, relu, softmax, softplus};

use crate::convolution::{Images, Window, summed};
use crate::error::{Error, Result};
use crate::lanes::{self, logistic, vectorised};
use crate::panels::{Panels, learned, multiplied};
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::NoCheckpointing;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, NodeGuard, Ops, OpsKind};
use burn_flex::{Flex, FlexTensor};
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
    let back = move |cotangent: &[f32], _: [bool; 3]| Ok([Some(pull_back(cotangent)?), None, None]);
    made_of([Parent::of(x), None, None], values, shape, back)
}

/// A tensor that numbers are computed from outside of the graph, if it depends on a leaf.
struct Parent {
    node: NodeGuard,
    shape: Vec<usize>,
}

impl Parent {
    fn of<const D: usize>(tensor: &Tensor<D>) -> Option<Self> {
        if !is_tracked(tensor) {
            return None;
        }
        let node = tensor.clone().try_into_primitive::<Autodiff<Flex>>().ok()?.node();
        Some(Self { node, shape: tensor.dims().to_vec() })
    }
}

/// A tensor of numbers that were computed from up to three others.
///
/// `back` is told which of them depend on a leaf, and says their gradients.
fn made_of<const D: usize>(
    parents: [Option<Parent>; 3],
    values: Vec<f32>,
    shape: [usize; D],
    back: impl Fn(&[f32], [bool; 3]) -> Result<[Option<Vec<f32>>; 3]> + Send + Sync + 'static,
) -> Tensor<D> {
    let value = tensor(values, shape);
    let asked = parents.each_ref().map(Option::is_some);
    let parents: Vec<Parent> = parents.into_iter().flatten().collect();
    if parents.is_empty() {
        return value;
    }
    let Ok(output) = value.clone().try_into_primitive::<Flex>() else { return value };
    let shapes = parents.iter().map(|parent| parent.shape.clone()).collect();
    let back = move |cotangent: &[f32]| {
        let gradients = back(cotangent, asked)?.into_iter().zip(asked);
        Ok(gradients.filter(|(_, asked)| *asked).map(|(gradient, _)| gradient.unwrap_or_default()).collect())
    };
    let state = State { back: Arc::new(back), shapes };
    let mut nodes = parents.into_iter().map(|parent| parent.node);
    let mut next = || nodes.next().expect("as many nodes as parents");
    match state.shapes.len() {
        1 => recorded::<D, 1>([next()], state, output),
        2 => recorded::<D, 2>([next(), next()], state, output),
        _ => recorded::<D, 3>([next(), next(), next()], state, output),
    }
}

fn recorded<const D: usize, const N: usize>(nodes: [NodeGuard; N], state: State, output: FlexTensor) -> Tensor<D> {
    let prepared = Outside::<D>.prepare::<NoCheckpointing>(nodes).compute_bound().stateful();
    Tensor::from_primitive::<Autodiff<Flex>>(match prepared {
        OpsKind::Tracked(prepared) => prepared.finish(state, output),
        OpsKind::UnTracked(prepared) => prepared.finish(output),
    })
}

/// The operation behind [`made_of`]; its outputs have rank `D`.
#[derive(Debug)]
struct Outside<const D: usize>;

/// What it remembers for the way back.
#[derive(Clone)]
struct State {
    #[expect(clippy::type_complexity, reason = "∂L/∂values ↦ the gradient by each parent")]
    back: Arc<dyn Fn(&[f32]) -> Result<Vec<Vec<f32>>> + Send + Sync>,
    /// Of the parents.
    shapes: Vec<Vec<usize>>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("State").field("shapes", &self.shapes).finish_non_exhaustive()
    }
}

impl State {
    fn pull(&self, cotangent: &[f32]) -> Result<Vec<Vec<f32>>> {
        let gradients = (self.back)(cotangent)?;
        for (gradient, shape) in gradients.iter().zip(&self.shapes) {
            if gradient.len() != shape.iter().product::<usize>() {
                let (expected, got) = (shape.clone(), vec![gradient.len()]);
                return Err(Error::Shape { what: "what a pull-back returned".into(), expected, got });
            }
        }
        Ok(gradients)
    }
}

impl<const D: usize, const N: usize> Backward<Flex, N> for Outside<D> {
    type State = State;

    fn backward(self, ops: Ops<State, N>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let state = ops.state;
        let cotangent = gradients.consume::<Flex>(&ops.node);
        let zeros = || state.shapes.iter().map(|shape| vec![0.0; shape.iter().product()]).collect();
        let all = match FAILURE.with_borrow(Option::is_some) {
            true => zeros(),
            false => state.pull(&values(Tensor::<D>::from_primitive::<Flex>(cotangent))).unwrap_or_else(|error| {
                FAILURE.set(Some(error));
                zeros()
            }),
        };
        for ((gradient, shape), parent) in all.into_iter().zip(state.shapes).zip(ops.parents) {
            if let Some(node) = parent {
                gradients.register::<Flex>(node.id, FlexTensor::from_data(TensorData::new(gradient, shape)));
            }
        }
    }
}

/// silu(x) = x σ(x), number by number.
pub fn silu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    each(
        x,
        #[inline(always)]
        |x| {
            let share = logistic(x);
            (x * share, share * (1.0 + x * (1.0 - share)))
        },
    )
}

/// σ(x) = 1 / (1 + e⁻ˣ), number by number.
pub fn sigmoid<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    each(
        x,
        #[inline(always)]
        |x| {
            let share = logistic(x);
            (share, share * (1.0 - share))
        },
    )
}

/// log σ(x), number by number.
pub fn log_sigmoid<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    each(
        x,
        #[inline(always)]
        |x| (-lanes::softplus(-x), logistic(-x)),
    )
}

/// A function of single numbers that says its value and its slope.
fn each<const D: usize>(x: Tensor<D>, function: impl Fn(f32) -> (f32, f32)) -> Tensor<D> {
    let parent = Parent::of(&x);
    let shape = x.dims();
    let mut numbers = values(x);
    let mut slopes = vec![0.0; if parent.is_some() { numbers.len() } else { 0 }];
    vectorised(
        #[inline(always)]
        || match parent.is_some() {
            true => numbers.iter_mut().zip(&mut slopes).for_each(|(x, slope)| (*x, *slope) = function(*x)),
            false => numbers.iter_mut().for_each(|x| *x = function(*x).0),
        },
    );
    made_of([parent, None, None], numbers, shape, move |cotangent, _| {
        Ok([Some(cotangent.iter().zip(&slopes).map(|(g, slope)| g * slope).collect()), None, None])
    })
}

/// `x Wᵀ + b` with the weight stored as `[out, in]`.
///
/// # Shapes
/// - `x`: `[rows, in]`, `weight`: `[out, in]`, `bias`: `[out]`
/// - returns: `[rows, out]`
pub fn linear(x: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    let ([rows, inputs], [outputs]) = (x.dims(), bias.dims());
    let parents = [Parent::of(&x), Parent::of(&weight), Parent::of(&bias)];
    let (x, weight, bias) = (values(x), values(weight), values(bias));
    let mut y = vec![0.0; rows * outputs];
    multiplied(&Panels::of_columns(&weight, inputs), Some(&bias), &x, &mut y, false);
    made_of(parents, y, [rows, outputs], move |g, [by_x, by_weight, by_bias]| {
        let back = || {
            let mut back = vec![0.0; rows * inputs];
            multiplied(&Panels::of_rows(&weight, inputs), None, g, &mut back, false);
            back
        };
        let back = by_x.then(back);
        if !by_weight && !by_bias {
            return Ok([back, None, None]);
        }
        let (mut of_weight, mut of_bias) = (vec![0.0; weight.len()], vec![0.0; outputs]);
        learned(g, &x, &mut of_weight, &mut of_bias);
        Ok([back, Some(of_weight), Some(of_bias)])
    })
}

/// Convolution with an odd square kernel that keeps both sides, or divides them by `stride`, rounding up. The channels of
/// a pixel lie side by side.
///
/// # Shapes
/// - `x`: `[rows, height, width, in]`, `weight`: `[out, in, side, side]`, `bias`: `[out]`
/// - returns: `[rows, ⌈height / stride⌉, ⌈width / stride⌉, out]`
pub fn convolution(x: Tensor<4>, weight: Tensor<4>, bias: Option<Tensor<1>>, stride: usize) -> Tensor<4> {
    let [rows, height, width, inputs] = x.dims();
    let [outputs, _, side, _] = weight.dims();
    let window = Window { inputs, outputs, side, stride };
    let parents = [Parent::of(&x), Parent::of(&weight), bias.as_ref().and_then(Parent::of)];
    let (weight, bias) = (values(weight), bias.map(values));
    let x = Images::from_pixels(&values(x), [height, width], inputs, side / 2);
    let size = window.size([height, width]);
    let mut y = Images::zeros(rows, size, outputs, 0);
    window.forward(&window.panels(&weight), bias.as_deref(), &x, &mut y, false);
    made_of(parents, y.into_values(), [rows, size[0], size[1], outputs], move |cotangent, asked| {
        let g = Images::from_pixels(cotangent, size, outputs, side / 2);
        let back = || {
            let mut back = Images::zeros(rows, [height, width], inputs, 0);
            window.back(&window.turned(&weight), None, &g, &mut back, false);
            back.into_values()
        };
        Ok([asked[0].then(back), asked[1].then(|| window.weights(&x, &g)), asked[2].then(|| summed(&g))])
    })
}

/// Convolution with a 3 × 3 kernel that halves both sides, rounding up.
///
/// # Shapes
/// - `x`: `[rows, height, width, in]`, `weight`: `[out, in, 3, 3]`, `bias`: `[out]`
/// - returns: `[rows, ⌈height / 2⌉, ⌈width / 2⌉, out]`
pub fn halving_convolution(x: Tensor<4>, weight: Tensor<4>, bias: Tensor<1>) -> Tensor<4> {
    convolution(x, weight, Some(bias), 2)
}

/// The transpose of [`halving_convolution`]: doubles both sides, up to the given size.
///
/// # Shapes
/// - `x`: `[rows, ⌈height / 2⌉, ⌈width / 2⌉, in]`, `weight`: `[in, out, 3, 3]`, `bias`: `[out]`
/// - returns: `[rows, height, width, out]`
pub fn doubling_convolution(x: Tensor<4>, weight: Tensor<4>, bias: Tensor<1>, size: [usize; 2]) -> Tensor<4> {
    let [rows, height, width, inputs] = x.dims();
    let [_, outputs, side, _] = weight.dims();
    // The window sees what is made here, and makes what is given.
    let window = Window { inputs: outputs, outputs: inputs, side, stride: 2 };
    let parents = [Parent::of(&x), Parent::of(&weight), Parent::of(&bias)];
    let (weight, bias) = (values(weight), values(bias));
    let x = Images::from_pixels(&values(x), [height, width], inputs, side / 2);
    let mut y = Images::zeros(rows, size, outputs, 0);
    window.back(&window.turned(&weight), Some(&bias), &x, &mut y, false);
    made_of(parents, y.into_values(), [rows, size[0], size[1], outputs], move |cotangent, asked| {
        let g = Images::from_pixels(cotangent, size, outputs, side / 2);
        let back = || {
            let mut back = Images::zeros(rows, [height, width], inputs, 0);
            window.forward(&window.panels(&weight), None, &g, &mut back, false);
            back.into_values()
        };
        Ok([asked[0].then(back), asked[1].then(|| window.weights(&g, &x)), asked[2].then(|| summed(&g))])
    })
}

/// Images whose channels lie one behind the other, as they lie side by side.
///
/// # Shapes
/// - `x`: `[rows, channels · height · width]`, returns: `[rows, height, width, channels]`
pub fn pixels(x: Tensor<2>, channels: usize, [height, width]: [usize; 2]) -> Tensor<4> {
    let rows = x.dims()[0];
    match channels {
        1 => x.reshape([rows, height, width, 1]),
        _ => x.reshape([rows, channels, height, width]).permute([0, 2, 3, 1]),
    }
}

/// The way back from [`pixels`].
///
/// # Shapes
/// - `x`: `[rows, height, width, channels]`, returns: `[rows, channels · height · width]`
pub fn planes(x: Tensor<4>) -> Tensor<2> {
    match x.dims()[3] {
        1 => x.flatten(1, 3),
        _ => x.permute([0, 3, 1, 2]).flatten(1, 3),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "small whole numbers are exact")]

    use super::*;

    use crate::seed::Seed;
    use burn_tensor::module;
    use burn_tensor::ops::{ConvOptions, ConvTransposeOptions};
    use rand_distr::{Distribution, StandardNormal};

    fn draws(len: usize, name: &str) -> Vec<f32> {
        StandardNormal.sample_iter(Seed(1).stream(name)).take(len).collect()
    }

    fn assert_near(got: &[f32], expected: &[f32], case: &str) {
        assert_eq!(got.len(), expected.len(), "{case}");
        let scale = expected.iter().fold(1.0f32, |most, value| most.max(value.abs()));
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() < 2e-5 * scale, "{case}: {got}, expected {expected}");
        }
    }

    /// Value and gradients by x, weight and bias of Σ r y, r drawn; `leaves` says which of them are leaves.
    fn slopes(
        leaves: [bool; 3],
        [x, weight]: [[usize; 4]; 2],
        bias: usize,
        made: impl Fn(Tensor<4>, Tensor<4>, Tensor<1>) -> Tensor<4>,
    ) -> (Vec<f32>, [Option<Vec<f32>>; 3]) {
        fn of<const D: usize>(is_leaf: bool, name: &str, shape: [usize; D]) -> Tensor<D> {
            let numbers = draws(shape.iter().product(), name);
            if is_leaf { leaf(numbers, shape) } else { tensor(numbers, shape) }
        }
        let (x, weight, bias) = (of(leaves[0], "x", x), of(leaves[1], "weight", weight), of(leaves[2], "bias", [bias]));
        let y = made(x.clone(), weight.clone(), bias.clone());
        let numbers = values(y.clone());
        if leaves == [false; 3] {
            return (numbers, [None, None, None]);
        }
        let direction = tensor(draws(numbers.len(), "direction"), y.dims());
        let mut gradients = (y * direction).sum().backward();
        let each = [x.grad_remove(&mut gradients).map(values), weight.grad_remove(&mut gradients).map(values)];
        let [of_x, of_weight] = each;
        (numbers, [of_x, of_weight, bias.grad_remove(&mut gradients).map(values)])
    }

    fn turned(x: Tensor<4>, axes: [isize; 4]) -> Tensor<4> {
        x.permute(axes)
    }

    #[test]
    fn convolutions_are_those_of_the_backend_with_all_their_gradients() {
        // Rows, inputs, outputs, height, width, side of the kernel, stride.
        for case in [
            [1, 1, 1, 1, 1, 3, 1],
            [2, 3, 16, 7, 5, 3, 2],
            [3, 16, 5, 4, 6, 3, 1],
            [1, 2, 20, 5, 5, 1, 2],
            [2, 17, 3, 3, 3, 1, 1],
            [2, 2, 3, 6, 7, 5, 2],
        ] {
            let [rows, inputs, outputs, height, width, side, stride] = case;
            let shapes = [[rows, height, width, inputs], [outputs, inputs, side, side]];
            for leaves in [[true; 3], [true, false, false], [false, true, true], [false; 3]] {
                let own = slopes(leaves, shapes, outputs, |x, w, b| convolution(x, w, Some(b), stride));
                let theirs = slopes(leaves, shapes, outputs, |x, w, b| {
                    let options = ConvOptions::new([stride; 2], [side / 2; 2], [1, 1], 1);
                    turned(module::conv2d(turned(x, [0, 3, 1, 2]), w, Some(b), options), [0, 2, 3, 1])
                });
                assert_near(&own.0, &theirs.0, &format!("{case:?}"));
                for (at, (own, theirs)) in own.1.into_iter().zip(theirs.1).enumerate() {
                    assert_eq!(own.is_some(), leaves[at]);
                    assert_near(&own.unwrap_or_default(), &theirs.unwrap_or_default(), &format!("{case:?}, {at}"));
                }
            }
        }
    }

    #[test]
    fn transposed_convolutions_are_those_of_the_backend_with_all_their_gradients() {
        // Rows, inputs, outputs, height and width of what is made.
        for case in [[1usize, 1, 1, 1, 1], [2, 16, 3, 7, 5], [3, 5, 20, 6, 8], [1, 2, 1, 2, 9]] {
            let [rows, inputs, outputs, height, width] = case;
            let [low, narrow] = [height.div_ceil(2), width.div_ceil(2)];
            let shapes = [[rows, low, narrow, inputs], [inputs, outputs, 3, 3]];
            for leaves in [[true; 3], [true, false, false], [false, true, true]] {
                let own = slopes(leaves, shapes, outputs, |x, w, b| doubling_convolution(x, w, b, [height, width]));
                let theirs = slopes(leaves, shapes, outputs, |x, w, b| {
                    // A stride of 2 maps two sizes onto one; the padding of the output says which of them is meant.
                    let padding = [height + 1 - 2 * low, width + 1 - 2 * narrow];
                    let options = ConvTransposeOptions::new([2, 2], [1, 1], padding, [1, 1], 1);
                    let x = turned(x, [0, 3, 1, 2]);
                    turned(module::conv_transpose2d(x, w, Some(b), options), [0, 2, 3, 1])
                });
                assert_near(&own.0, &theirs.0, &format!("{case:?}"));
                for (at, (own, theirs)) in own.1.into_iter().zip(theirs.1).enumerate() {
                    assert_near(&own.unwrap_or_default(), &theirs.unwrap_or_default(), &format!("{case:?}, {at}"));
                }
            }
        }
    }

    #[test]
    fn channels_side_by_side_and_one_behind_the_other_are_the_same_images() {
        let x = tensor((0..12).map(|at| at as f32).collect(), [1, 12]);
        let pixels = pixels(x.clone(), 2, [2, 3]);
        assert_eq!(pixels.dims(), [1, 2, 3, 2]);
        assert_eq!(values(pixels.clone()), [0.0, 6.0, 1.0, 7.0, 2.0, 8.0, 3.0, 9.0, 4.0, 10.0, 5.0, 11.0]);
        assert_eq!(values(planes(pixels)), values(x));
    }

    #[test]
    fn functions_of_single_numbers_are_those_of_the_backend_with_their_gradients() {
        use burn_tensor::activation;
        type Function = fn(Tensor<1>) -> Tensor<1>;
        let pairs: [[Function; 2]; 3] =
            [[silu, activation::silu], [sigmoid, activation::sigmoid], [log_sigmoid, activation::log_sigmoid]];
        let numbers: Vec<f32> = (-400..400).map(|at| at as f32 / 20.0).collect();
        for (at, pair) in pairs.into_iter().enumerate() {
            let [own, theirs] = pair.map(|function| {
                let x = leaf(numbers.clone(), [800]);
                let y = function(x.clone());
                (values(y.clone()), gradients(&(y.clone() * y).sum(), &[x]).unwrap().concat())
            });
            assert_near(&own.0, &theirs.0, &format!("values of {at}"));
            assert_near(&own.1, &theirs.1, &format!("gradients of {at}"));
            assert!(!is_tracked(&pair[0](tensor(numbers.clone(), [800]))));
        }
    }

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
