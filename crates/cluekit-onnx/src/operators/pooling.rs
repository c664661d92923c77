//! Pools: the largest or the mean of windows, or of everything.

use super::window::{Window, image, sides_of};
use super::{one, padding, reduction};
use crate::Outcome;
use crate::run::Call;
use crate::value::{Floats, Value, block_sides};
use burn_tensor::ops::ConvOptions;
use burn_tensor::{Tensor, module};
use cluekit::tensor::tensor;

/// Members and rows as one, then channels, height and width.
fn merged(x: Floats, [rows, channels, height, width]: [usize; 4]) -> Tensor<4> {
    let members = x.members();
    x.block.reshape([members * rows, channels, height, width])
}

/// An input with `number` around it, as far as the windows reach.
fn surrounded(x: Floats, window: &Window, ceil: bool, number: f32) -> Outcome<(Floats, [usize; 2])> {
    let [_, _, height, width] = image(&x)?;
    let places = window.places([height, width], ceil)?;
    let mut x = x;
    for axis in if window.flat { 0..2 } else { 1..2 } {
        let side = [height, width][axis];
        let [before, _] = window.pads[axis];
        let reached = (places[axis] - 1) * window.stride[axis] + window.reach(axis);
        let own = if window.flat { 2 + axis } else { 2 };
        // What no window reaches is left away.
        let after = reached as i64 - (before + side) as i64;
        x = padding::with_number(x, own, before as i64, after, number)?;
    }
    Ok((x, places))
}

pub(super) fn max_pool(call: &mut Call) -> Outcome<Vec<Value>> {
    if call.node.outputs.get(1).is_some_and(Option::is_some) {
        return Err("the places of the largest are not supported".into());
    }
    let x = call.floats(0)?;
    let [rows, channels, height, width] = image(&x)?;
    let window = Window::pool(call.node)?.padded([height, width]);
    if window.flat != (x.rank == 4) {
        return Err(format!("its window does not fit to {:?}", x.dims()));
    }
    let members = x.members();
    let (x, [out_height, out_width]) = surrounded(x, &window, call.node.flag("ceil_mode", false)?, f32::NEG_INFINITY)?;
    let dims = sides_of([rows, channels, out_height, out_width], window.flat);
    call.spend(&[members, block_sides(1, &dims)?.iter().product(), window.kernel[0], window.kernel[1]])?;
    let sides = image(&x)?;
    let pooled = module::max_pool2d(
        merged(x, sides),
        burn_tensor::ops::MaxPoolOptions {
            kernel_size: window.kernel,
            stride: window.stride,
            padding: [(0, 0); 2],
            dilation: window.dilation,
            ceil_mode: false,
        },
    );
    one(Floats::from(pooled, members, &dims)?)
}

/// For each place of the window, how many places of the input (and of its padding, if it counts) it covers.
fn counts(window: &Window, axis: usize, side: usize, places: usize, with_padding: bool) -> Vec<f32> {
    let [before, after] = window.pads[axis];
    let (start, end) = if with_padding { (0, before + side + after) } else { (before, before + side) };
    let covered = |place: usize| {
        let at = |k: usize| place * window.stride[axis] + k * window.dilation[axis];
        (0..window.kernel[axis]).filter(|&k| (start..end).contains(&at(k))).count() as f32
    };
    (0..places).map(covered).collect()
}

pub(super) fn average_pool(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let [rows, channels, height, width] = image(&x)?;
    let window = Window::pool(call.node)?.padded([height, width]);
    if window.flat != (x.rank == 4) {
        return Err(format!("its window does not fit to {:?}", x.dims()));
    }
    let members = x.members();
    let (x, places) = surrounded(x, &window, call.node.flag("ceil_mode", false)?, 0.0)?;
    let made = [rows, channels, places[0], places[1]];
    let dims = sides_of(made, window.flat);
    call.spend(&[members, block_sides(1, &dims)?.iter().product(), window.kernel[0], window.kernel[1]])?;
    // Sums of all windows, each channel for itself, by a kernel of ones.
    let [_, _, padded_height, padded_width] = image(&x)?;
    let all = members * rows * channels;
    let x: Tensor<4> = x.block.reshape([all, 1, padded_height, padded_width]);
    let area = window.kernel[0] * window.kernel[1];
    let sums = match window.dilation {
        [1, 1] => {
            let options = burn_tensor::ops::AvgPoolOptions {
                kernel_size: window.kernel,
                stride: window.stride,
                padding: [(0, 0); 2],
                count_include_pad: true,
                ceil_mode: false,
            };
            module::avg_pool2d(x, options) * area as f32
        }
        _ => {
            let ones = tensor(vec![1.0; area], [1, 1, window.kernel[0], window.kernel[1]]);
            module::conv2d(x, ones, None, ConvOptions::new(window.stride, [0; 2], window.dilation, 1))
        }
    };
    let with_padding = call.node.flag("count_include_pad", false)?;
    let down = counts(&window, 0, height, places[0], with_padding);
    let right = counts(&window, 1, width, places[1], with_padding);
    let mut shares = Vec::with_capacity(down.len() * right.len());
    for (a, b) in down.iter().flat_map(|a| right.iter().map(move |b| (a, b))) {
        if a * b <= 0.0 {
            return Err("a window lies in the padding alone".into());
        }
        shares.push(1.0 / (a * b));
    }
    let means = sums * tensor(shares, [1, 1, places[0], places[1]]);
    one(Floats::from(means, members, &dims)?)
}

fn global(call: &mut Call, of: reduction::Reduction) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    if x.rank < 3 {
        return Err(format!("an input of rows, channels and axes is expected, not {:?}", x.dims()));
    }
    let axes: Vec<usize> = (2..x.rank).collect();
    one(reduction::reduced(x, &axes, of, true)?)
}

pub(super) fn global_average_pool(call: &mut Call) -> Outcome<Vec<Value>> {
    global(call, reduction::Reduction::Mean)
}

pub(super) fn global_max_pool(call: &mut Call) -> Outcome<Vec<Value>> {
    global(call, reduction::Reduction::Max)
}
