//! Normalisations.

use super::one;
use super::reduction::{Reduction, reduced};
use crate::Outcome;
use crate::integers::{axis as one_axis, broadcast, span};
use crate::run::Call;
use crate::value::{Block, Floats, Value};

/// One number for each channel, beside an input of this rank.
fn per_channel(floats: Floats, channels: usize, rank: usize) -> Outcome<Floats> {
    if floats.dims() != [channels] {
        return Err(format!("{:?} does not fit to {channels} channels", floats.dims()));
    }
    let mut dims = vec![1; rank];
    dims[1] = channels;
    floats.reshaped(&dims)
}

fn channels(x: &Floats) -> Outcome<usize> {
    x.dims().get(1).copied().ok_or_else(|| format!("an input of rows and channels is expected, not {:?}", x.dims()))
}

/// With the mean and the variance of training: a scale and a shift for each channel.
pub(super) fn batch(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let (channels, rank) = (channels(&x)?, x.rank);
    let mut each = |at: usize| per_channel(call.floats(at)?, channels, rank);
    let (scale, bias, mean, variance) = (each(1)?, each(2)?, each(3)?, each(4)?);
    let scale = scale.block / (variance.block + call.node.float("epsilon", 1e-5)?).sqrt();
    let shift = bias.block - mean.block * scale.clone();
    one(Floats { block: x.block * scale + shift, rank })
}

/// (x − mean) / √(variance + ε) along axes.
fn standardised(x: Floats, axes: &[usize], epsilon: f32) -> Outcome<Floats> {
    let mean = reduced(x.clone(), axes, Reduction::Mean, true)?;
    let centred = Floats { block: x.block - mean.block, rank: x.rank };
    scaled(centred, axes, epsilon)
}

/// x / √(mean of squares + ε) along axes.
fn scaled(x: Floats, axes: &[usize], epsilon: f32) -> Outcome<Floats> {
    let squares = reduced(x.clone().map(|x| x.clone() * x), axes, Reduction::Mean, true)?;
    Ok(Floats { block: x.block / (squares.block + epsilon).sqrt(), rank: x.rank })
}

pub(super) fn instance(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let (channels, rank) = (channels(&x)?, x.rank);
    if rank < 3 {
        return Err(format!("an input of rows, channels and axes is expected, not {:?}", x.dims()));
    }
    let axes: Vec<usize> = (2..rank).collect();
    let x = standardised(x, &axes, call.node.float("epsilon", 1e-5)?)?;
    let (scale, bias) = (per_channel(call.floats(1)?, channels, rank)?, per_channel(call.floats(2)?, channels, rank)?);
    one(Floats { block: x.block * scale.block + bias.block, rank })
}

/// Times a scale, plus a bias if there is one, both of sides that fit to the last ones.
fn affine(call: &mut Call, x: Floats) -> Outcome<Vec<Value>> {
    let dims = x.dims();
    let mut fitting = |at: usize| -> Outcome<Block> {
        let floats = call.floats(at)?;
        match broadcast(&dims, &floats.dims())? == dims {
            true => Ok(floats.block),
            false => Err(format!("{:?} does not fit to {dims:?}", floats.dims())),
        }
    };
    let mut block = x.block;
    let scale = fitting(1)?;
    block = block * scale;
    if call.has(2) {
        let floats = call.floats(2)?;
        if broadcast(&dims, &floats.dims())? != dims {
            return Err(format!("{:?} does not fit to {dims:?}", floats.dims()));
        }
        block = block + floats.block;
    }
    one(Floats { block, rank: x.rank })
}

fn from_axis(call: &Call, rank: usize) -> Outcome<Vec<usize>> {
    Ok((one_axis(call.node.integer("axis", -1)?, rank)?..rank).collect())
}

pub(super) fn layer(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let axes = from_axis(call, x.rank)?;
    let x = standardised(x, &axes, call.node.float("epsilon", 1e-5)?)?;
    affine(call, x)
}

pub(super) fn root_mean_square(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let axes = from_axis(call, x.rank)?;
    let x = scaled(x, &axes, call.node.float("epsilon", 1e-5)?)?;
    affine(call, x)
}

pub(super) fn group(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let (channels, rank, dims) = (channels(&x)?, x.rank, x.dims());
    let groups = usize::try_from(call.node.integer("num_groups", 0)?).unwrap_or(0);
    if groups == 0 || !channels.is_multiple_of(groups) {
        return Err(format!("{channels} channels make no {groups} groups"));
    }
    let grouped = x.reshaped(&[dims[0], groups, span(&dims[1..]) / groups])?;
    let x = standardised(grouped, &[2], call.node.float("epsilon", 1e-5)?)?.reshaped(&dims)?;
    // Until version 21 there was one number for each group.
    let mut each = |at: usize| -> Outcome<Floats> {
        let floats = call.floats(at)?;
        match floats.dims() == [groups] && groups != channels {
            true => {
                let wide = floats.reshaped(&[groups, 1])?.expanded(&[groups, channels / groups])?;
                per_channel(wide.reshaped(&[channels])?, channels, rank)
            }
            false => per_channel(floats, channels, rank),
        }
    };
    let (scale, bias) = (each(1)?, each(2)?);
    one(Floats { block: x.block * scale.block + bias.block, rank })
}

/// x over its length along an axis.
pub(super) fn length(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let axis = one_axis(call.node.integer("axis", -1)?, x.rank)?;
    let length = match call.node.integer("p", 2)? {
        1 => reduced(x.clone().map(Block::abs), &[axis], Reduction::Sum, true)?,
        2 => reduced(x.clone().map(|x| x.clone() * x), &[axis], Reduction::Sum, true)?.map(Block::sqrt),
        p => return Err(format!("`p` is {p}")),
    };
    one(Floats { block: x.block / length.block, rank: x.rank })
}
