//! Sums, means and extremes along axes.

use super::one;
use crate::Outcome;
use crate::integers::{Integers, axes as all_axes, axis as one_axis, span};
use crate::run::Call;
use crate::value::{Block, Floats, Value};
use burn_tensor::Tensor;

/// What becomes of the numbers along some axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    Sum,
    Mean,
    Max,
    Min,
    Product,
}

/// `axes` in order, each once.
pub(super) fn reduced(x: Floats, axes: &[usize], of: Reduction, keep: bool) -> Outcome<Floats> {
    let (dims, members) = (x.dims(), x.members());
    let kept: Vec<usize> =
        dims.iter().enumerate().map(|(at, &side)| if axes.contains(&at) { 1 } else { side }).collect();
    let left: Vec<usize> =
        dims.iter().enumerate().filter(|(at, _)| !axes.contains(at)).map(|(_, &side)| side).collect();
    let target = if keep { kept } else { left };
    let (Some(&first), Some(&last)) = (axes.first(), axes.last()) else { return Ok(x) };
    if last - first + 1 == axes.len() {
        // Neighbours are one axis to the kernel.
        let outer = members * span(&dims[..first]);
        let merged: Tensor<3> = x.block.reshape([outer, span(&dims[first..=last]), span(&dims[last + 1..])]);
        let merged = match of {
            Reduction::Sum => merged.sum_dim(1),
            Reduction::Mean => merged.mean_dim(1),
            Reduction::Max => merged.max_dim(1),
            Reduction::Min => merged.min_dim(1),
            Reduction::Product => merged.prod_dim(1),
        };
        return Floats::from(merged, members, &target);
    }
    let each = |block: Block, axis: usize| match of {
        Reduction::Sum => block.sum_dim(axis),
        Reduction::Mean => block.mean_dim(axis),
        Reduction::Max => block.max_dim(axis),
        Reduction::Min => block.min_dim(axis),
        Reduction::Product => block.prod_dim(axis),
    };
    let start = x.inner(0);
    let block = axes.iter().fold(x.block, |block, axis| each(block, start + axis));
    Floats::from(block, members, &target)
}

/// log Σ eˣ, the largest taken out.
fn log_sum_exp(x: Floats, axes: &[usize], keep: bool) -> Outcome<Floats> {
    let largest = reduced(x.clone(), axes, Reduction::Max, true)?.map(Block::detach);
    let spread = Floats { block: (x.block - largest.block.clone()).exp(), rank: x.rank };
    let sum = reduced(spread, axes, Reduction::Sum, keep)?;
    let dims = sum.dims();
    let largest = largest.reshaped(&dims)?;
    Ok(Floats { block: sum.block.log() + largest.block, rank: sum.rank })
}

pub(super) fn reduce(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let dims = value.dims()?;
    let keep = call.node.flag("keepdims", true)?;
    let axes = call.listed(1, "axes")?.unwrap_or_default();
    let axes = match (axes.is_empty(), call.node.flag("noop_with_empty_axes", false)?) {
        (true, true) => return Ok(vec![value]),
        (true, false) => (0..dims.len()).collect(),
        (false, _) => all_axes(&axes, dims.len())?,
    };
    if let Value::Integers(integers) = value {
        return Ok(vec![Value::Integers(whole_numbers(call, integers, &axes, keep)?)]);
    }
    let x = value.floats()?;
    let of = |x, of| reduced(x, &axes, of, keep);
    one(match call.node.operator.as_str() {
        "ReduceSum" => of(x, Reduction::Sum)?,
        "ReduceMean" => of(x, Reduction::Mean)?,
        "ReduceMax" => of(x, Reduction::Max)?,
        "ReduceMin" => of(x, Reduction::Min)?,
        "ReduceProd" => of(x, Reduction::Product)?,
        "ReduceL1" => of(x.map(Block::abs), Reduction::Sum)?,
        "ReduceL2" => of(x.map(|x| x.clone() * x), Reduction::Sum)?.map(Block::sqrt),
        "ReduceSumSquare" => of(x.map(|x| x.clone() * x), Reduction::Sum)?,
        "ReduceLogSum" => of(x, Reduction::Sum)?.map(Block::log),
        "ReduceLogSumExp" => log_sum_exp(x, &axes, keep)?,
        other => return Err(format!("`{other}` is no reduction")),
    })
}

/// Shapes are reduced too, over all their numbers.
fn whole_numbers(call: &Call, integers: Integers, axes: &[usize], keep: bool) -> Outcome<Integers> {
    if axes.len() != integers.dims.len() {
        return Err("whole numbers are reduced along all axes alone".into());
    }
    let mut numbers = integers.data.iter().copied();
    let folded = match call.node.operator.as_str() {
        "ReduceSum" => numbers.try_fold(0_i64, i64::checked_add),
        "ReduceProd" => numbers.try_fold(1_i64, i64::checked_mul),
        "ReduceMax" => numbers.max(),
        "ReduceMin" => numbers.min(),
        _ => None,
    };
    let dims = if keep { vec![1; integers.dims.len()] } else { vec![] };
    Ok(Integers::new(dims, vec![folded.ok_or("these whole numbers cannot be reduced so")?]))
}

pub(super) fn running_sum(call: &mut Call) -> Outcome<Vec<Value>> {
    let (x, axis) = (call.value(0)?, call.integers(1)?.single()?);
    if call.node.flag("exclusive", false)? || call.node.flag("reverse", false)? {
        return Err("exclusive and reverse sums are not supported".into());
    }
    let axis = one_axis(axis, x.dims()?.len())?;
    match x {
        Value::Integers(integers) if integers.dims.len() == 1 => {
            let mut sum = 0_i64;
            let mut sums = Vec::with_capacity(integers.data.len());
            for &number in &*integers.data {
                sum = sum.checked_add(number).ok_or("a sum leaves the whole numbers")?;
                sums.push(sum);
            }
            Ok(vec![Value::Integers(Integers::list(sums))])
        }
        other => {
            let x = other.floats()?;
            let inner = x.inner(axis);
            one(x.map(|block| block.cumsum(inner)))
        }
    }
}

/// The place of the largest along an axis, as a number.
fn place(call: &mut Call, of: fn(Block, usize) -> Block) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let axis = one_axis(call.node.integer("axis", 0)?, x.rank)?;
    let mut dims = x.dims();
    match call.node.flag("keepdims", true)? {
        true => dims[axis] = 1,
        false => {
            dims.remove(axis);
        }
    }
    let inner = x.inner(axis);
    one(x.map(|block| of(block, inner)).reshaped(&dims)?)
}

pub(super) fn arg_max(call: &mut Call) -> Outcome<Vec<Value>> {
    place(call, |block, axis| block.argmax(axis).float())
}

pub(super) fn arg_min(call: &mut Call) -> Outcome<Vec<Value>> {
    place(call, |block, axis| block.argmin(axis).float())
}
