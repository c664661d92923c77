//! Convolutions and their transposes.

use super::columns::{self, Geometry};
use super::one;
use super::window::{Automatic, Window, image, sides_of};
use crate::Outcome;
use crate::run::Call;
use crate::value::{Floats, Value, block_sides};
use burn_tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn_tensor::{Tensor, module};
use cluekit::tensor;

/// What a convolution takes, as images.
struct Operands {
    /// `[members, rows, channels, height, width]`
    x: Tensor<5>,
    /// `[members, …]`
    weight: Tensor<5>,
    /// `[members, channels]`
    bias: Option<Tensor<2>>,
    groups: usize,
    window: Window,
}

impl Operands {
    /// `transposed` weights have the channels of the input first.
    fn read(call: &mut Call, transposed: bool) -> Outcome<Self> {
        let (x, weight) = (call.floats(0)?, call.floats(1)?);
        let (of_x, of_weight) = (image(&x)?, image(&weight)?);
        if x.rank != weight.rank {
            return Err(format!("weights {:?} do not fit to {:?}", weight.dims(), x.dims()));
        }
        let kernel = &weight.dims()[2..];
        let own = kernel.iter().map(|&side| side as i64);
        if let Some(said) = call.node.integers("kernel_shape")?
            && !said.iter().copied().eq(own)
        {
            return Err(format!("`kernel_shape` is {said:?}, and the weights are {:?}", weight.dims()));
        }
        let window = Window::of(call.node, kernel)?;
        let groups = usize::try_from(call.node.integer("group", 1)?).unwrap_or(0);
        let [channels, first, second] = [of_x[1], of_weight[0], of_weight[1]];
        let fits = groups > 0
            && channels.is_multiple_of(groups)
            && match transposed {
                true => first == channels,
                false => second * groups == channels && first.is_multiple_of(groups),
            };
        if !fits {
            let (weight, x) = (weight.dims(), x.dims());
            return Err(format!("weights {weight:?} in {groups} groups do not fit to an input {x:?}"));
        }
        let made = if transposed { second * groups } else { first };
        let bias = match call.has(2) {
            false => None,
            true => {
                let bias = call.floats(2)?;
                if bias.dims() != [made] {
                    return Err(format!("a bias {:?} does not fit to {made} channels", bias.dims()));
                }
                let members = bias.members();
                Some(bias.block.reshape([members, made]))
            }
        };
        let merged = |floats: Floats, [a, b, c, d]: [usize; 4]| -> Tensor<5> {
            let members = floats.members();
            floats.block.reshape([members, a, b, c, d])
        };
        Ok(Self { x: merged(x, of_x), weight: merged(weight, of_weight), bias, groups, window })
    }

    /// Member after member, unless one set of weights serves all.
    fn each(
        self,
        rows: usize,
        made: [usize; 4],
        kernel: impl Fn(Tensor<4>, Tensor<4>, Option<Tensor<1>>) -> Tensor<4>,
    ) -> Outcome<Vec<Value>> {
        let of_bias = self.bias.as_ref().map_or(1, |bias| bias.dims()[0]);
        let members = self.x.dims()[0].max(self.weight.dims()[0]).max(of_bias);
        let dims = sides_of(made, self.window.flat);
        block_sides(members, &dims)?;
        let one_of = |all: &Tensor<5>, member: usize| -> Tensor<4> {
            let [members, a, b, c, d] = all.dims();
            all.clone().narrow(0, if members == 1 { 0 } else { member }, 1).reshape([a, b, c, d])
        };
        let bias_of = |member: usize| {
            self.bias.as_ref().map(|all| -> Tensor<1> {
                let [members, channels] = all.dims();
                all.clone().narrow(0, if members == 1 { 0 } else { member }, 1).reshape([channels])
            })
        };
        if self.weight.dims()[0] == 1 && of_bias == 1 {
            let [members, _, channels, height, width] = self.x.dims();
            let x: Tensor<4> = self.x.clone().reshape([members * rows, channels, height, width]);
            return one(Floats::from(kernel(x, one_of(&self.weight, 0), bias_of(0)), members, &dims)?);
        }
        let each = (0..members).map(|member| {
            kernel(one_of(&self.x, member), one_of(&self.weight, member), bias_of(member)).unsqueeze_dim::<5>(0)
        });
        one(Floats::from(Tensor::cat(each.collect(), 0), members, &dims)?)
    }

    fn spend(&self, call: &Call, places: &[usize]) -> Outcome<()> {
        let members = self.x.dims()[0].max(self.weight.dims()[0]);
        let [_, rows, ..] = self.x.dims();
        let [_, a, b, c, d] = self.weight.dims();
        call.spend(&[members, rows, a, b, c, d])?;
        call.spend(&[&[members, rows, a, b, c, d], places].concat())
    }
}

pub(super) fn conv(call: &mut Call) -> Outcome<Vec<Value>> {
    let operands = Operands::read(call, false)?;
    let [_, rows, channels, height, width] = operands.x.dims();
    let window = operands.window.padded([height, width]);
    let [out_height, out_width] = window.places([height, width], false)?;
    let pads = window.pads;
    let padded = [height + pads[0][0] + pads[0][1], width + pads[1][0] + pads[1][1]];
    block_sides(operands.x.dims()[0], &[rows, channels, padded[0], padded[1]])?;
    operands.spend(call, &[out_height, out_width])?;
    let made = [rows, operands.weight.dims()[1], out_height, out_width];
    let groups = operands.groups;
    let geometry = Geometry {
        input: [channels, height, width],
        kernel: window.kernel,
        stride: window.stride,
        dilation: window.dilation,
        before: [pads[0][0], pads[1][0]],
        places: [out_height, out_width],
    };
    let as_product = groups == 1 && geometry.pays();
    // A window of odd sides in short steps, whose padding keeps the image: what most models have.
    let [side, across] = window.kernel;
    let usual = groups == 1
        && (side, side % 2, window.stride[0]) == (across, 1, window.stride[1])
        && window.stride[0] <= 4
        && (window.dilation, pads) == ([1; 2], [[side / 2; 2]; 2]);
    operands.each(rows, made, |x, weight, bias| {
        if usual {
            return tensor::convolution(x.permute([0, 2, 3, 1]), weight, bias, window.stride[0]).permute([0, 3, 1, 2]);
        }
        if as_product && let Some(made) = columns::convolved(&x, &weight, bias.as_ref(), geometry) {
            return made;
        }
        let padding = pads.map(|[before, after]| (before, after));
        let options = ConvOptions::new_with_padding(window.stride, padding, window.dilation, groups);
        module::conv2d(x, weight, bias, options)
    })
}

pub(super) fn conv_transpose(call: &mut Call) -> Outcome<Vec<Value>> {
    let operands = Operands::read(call, true)?;
    let window = operands.window;
    let [_, rows, _, height, width] = operands.x.dims();
    let axes = if window.flat { 2 } else { 1 };
    let given = |name: &str| -> Outcome<Option<[usize; 2]>> {
        let Some(given) = call.node.integers(name)? else { return Ok(None) };
        let sides = given.iter().map(|&side| usize::try_from(side).ok().filter(|side| *side < 1 << 20));
        let sides: Option<Vec<usize>> = sides.collect();
        match sides.as_deref() {
            Some([side]) if axes == 1 => Ok(Some([usize::from(name == "output_shape"), *side])),
            Some([height, width]) if axes == 2 => Ok(Some([*height, *width])),
            _ => Err(format!("`{name}` is {given:?}")),
        }
    };
    let extra = given("output_padding")?.unwrap_or([0; 2]);
    let shape = given("output_shape")?;
    // All that the window reaches, of which the padding is cut off.
    let sides = [height, width];
    let full = |axis: usize| (sides[axis] - 1) * window.stride[axis] + window.reach(axis) + extra[axis];
    let full = [full(0), full(1)];
    let mut cut = window.pads;
    for axis in 0..2 {
        let wanted = match (shape, window.automatic) {
            (Some(shape), _) => Some(shape[axis]),
            (None, Automatic::Upper | Automatic::Lower) => Some(sides[axis] * window.stride[axis]),
            (None, Automatic::No | Automatic::Valid) => None,
        };
        if let Some(wanted) = wanted {
            let total = full[axis].checked_sub(wanted).ok_or("its output is larger than its window reaches")?;
            let half = total / 2;
            cut[axis] = if window.automatic == Automatic::Upper { [half, total - half] } else { [total - half, half] };
        }
    }
    let left = |axis: usize| full[axis].checked_sub(cut[axis][0] + cut[axis][1]).filter(|&left| left > 0);
    let (Some(out_height), Some(out_width)) = (left(0), left(1)) else {
        return Err("its padding leaves nothing".into());
    };
    let channels = operands.weight.dims()[2] * operands.groups;
    block_sides(operands.x.dims()[0].max(operands.weight.dims()[0]), &[rows, channels, full[0], full[1]])?;
    operands.spend(call, &sides)?;
    let groups = operands.groups;
    // The kernel cuts off the same on both sides by itself, and adds what is extra.
    let even = (0..2).all(|axis| cut[axis][0] == cut[axis][1] && window.reach(axis) > cut[axis][0]);
    operands.each(rows, [rows, channels, out_height, out_width], |x, weight, bias| {
        let padding = if even { [cut[0][0], cut[1][0]] } else { [0; 2] };
        let options = ConvTransposeOptions::new(window.stride, padding, extra, window.dilation, groups);
        let made = module::conv_transpose2d(x, weight, bias, options);
        match even {
            true => made,
            false => made.narrow(2, cut[0][0], out_height).narrow(3, cut[1][0], out_width),
        }
    })
}
