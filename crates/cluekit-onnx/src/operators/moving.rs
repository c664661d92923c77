//! Operators that move elements and leave them as they are.

use crate::Outcome;
use crate::constant::elements;
use crate::integers::{axes as all_axes, axis as one_axis, broadcast, span};
use crate::run::Call;
use crate::value::Value;

pub(super) fn reshape(call: &mut Call) -> Outcome<Vec<Value>> {
    let (value, target) = (call.value(0)?, call.integers(1)?);
    let own = value.dims()?;
    let allow_zero = call.node.flag("allowzero", false)?;
    let mut free = None;
    let mut dims = Vec::with_capacity(target.data.len());
    for (at, &side) in target.data.iter().enumerate() {
        dims.push(match side {
            0 if !allow_zero => {
                *own.get(at).ok_or_else(|| format!("{own:?} cannot take the shape {:?}", target.data))?
            }
            -1 if free.is_none() => {
                free = Some(at);
                1
            }
            side => usize::try_from(side).map_err(|_| format!("{:?} is no shape", target.data))?,
        });
    }
    if let Some(free) = free {
        let known = elements(&dims)?;
        let all = span(&own);
        if known == 0 || !all.is_multiple_of(known) {
            return Err(format!("{own:?} cannot take the shape {:?}", target.data));
        }
        dims[free] = all / known;
    }
    Ok(vec![value.reshaped(&dims)?])
}

pub(super) fn flatten(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let dims = value.dims()?;
    let axis = call.node.integer("axis", 1)?;
    let axis = if axis == dims.len() as i64 { dims.len() } else { one_axis(axis, dims.len())? };
    Ok(vec![value.reshaped(&[span(&dims[..axis]), span(&dims[axis..])])?])
}

pub(super) fn transpose(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let rank = value.dims()?.len();
    let order = match call.node.integers("perm")? {
        None => (0..rank).rev().collect(),
        Some(order) => {
            if all_axes(order, rank)?.len() != rank {
                return Err(format!("{order:?} is no order of {rank} axes"));
            }
            order.iter().map(|&axis| one_axis(axis, rank)).collect::<Outcome<Vec<_>>>()?
        }
    };
    Ok(vec![value.permuted(&order)?])
}

pub(super) fn squeeze(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let dims = value.dims()?;
    let axes = match call.listed(1, "axes")? {
        Some(axes) => all_axes(&axes, dims.len())?,
        None => (0..dims.len()).filter(|&at| dims[at] == 1).collect(),
    };
    if let Some(&axis) = axes.iter().find(|&&axis| dims[axis] != 1) {
        return Err(format!("axis {axis} of {dims:?} is not 1"));
    }
    let left: Vec<usize> =
        dims.iter().enumerate().filter(|(at, _)| !axes.contains(at)).map(|(_, &side)| side).collect();
    Ok(vec![value.reshaped(&left)?])
}

pub(super) fn unsqueeze(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let dims = value.dims()?;
    let axes = call.listed(1, "axes")?.ok_or("`axes` are missing")?;
    let rank = dims.len() + axes.len();
    let axes = all_axes(&axes, rank)?;
    let mut own = dims.iter();
    let side = |at: usize| if axes.contains(&at) { 1 } else { own.next().copied().unwrap_or(1) };
    let wider: Vec<usize> = (0..rank).map(side).collect();
    Ok(vec![value.reshaped(&wider)?])
}

pub(super) fn expand(call: &mut Call) -> Outcome<Vec<Value>> {
    let (value, target) = (call.value(0)?, call.integers(1)?.sides()?);
    let dims = broadcast(&value.dims()?, &target)?;
    elements(&dims)?;
    Ok(vec![value.expanded(&dims)?])
}

pub(super) fn concat(call: &mut Call) -> Outcome<Vec<Value>> {
    let parts = (0..call.inputs.len()).map(|at| call.value(at)).collect::<Outcome<Vec<_>>>()?;
    let rank = parts.first().ok_or("nothing is put together")?.dims()?.len();
    let axis = one_axis(call.node.integer("axis", 0)?, rank)?;
    Ok(vec![Value::joined(parts, axis)?])
}

/// Lengths of the parts that a side is split into.
pub(super) fn lengths(side: usize, given: Option<&[i64]>, count: usize) -> Outcome<Vec<usize>> {
    let lengths: Vec<usize> = match given {
        Some(given) => {
            let length = |&length: &i64| usize::try_from(length).map_err(|_| format!("a part is {length} long"));
            given.iter().map(length).collect::<Outcome<_>>()?
        }
        None => {
            let each = side.div_ceil(count.max(1));
            (0..count).map(|at| each.min(side.saturating_sub(at * each))).collect()
        }
    };
    let sum = lengths.iter().try_fold(0_usize, |sum, &length| sum.checked_add(length));
    match sum == Some(side) && !lengths.contains(&0) {
        true => Ok(lengths),
        false => Err(format!("a side of {side} cannot be split into {lengths:?}")),
    }
}

/// The parts of a value along an axis, one behind the other.
pub(super) fn parts(value: &Value, axis: usize, lengths: &[usize]) -> Outcome<Vec<Value>> {
    let mut start = 0;
    let part = |&length: &usize| {
        let places: Vec<usize> = (start..start + length).collect();
        start += length;
        value.clone().selected(axis, &places)
    };
    lengths.iter().map(part).collect()
}

pub(super) fn split(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let dims = value.dims()?;
    let axis = one_axis(call.node.integer("axis", 0)?, dims.len())?;
    let given = call.listed(1, "split")?;
    let lengths = lengths(dims[axis], given.as_deref(), call.node.outputs.len())?;
    parts(&value, axis, &lengths)
}

pub(super) fn slice(call: &mut Call) -> Outcome<Vec<Value>> {
    let mut value = call.value(0)?;
    let dims = value.dims()?;
    let (starts, ends) = (call.integers(1)?, call.integers(2)?);
    let count = starts.data.len();
    let axes = match call.has(3) {
        true => call.integers(3)?.data.to_vec(),
        false => (0..count as i64).collect(),
    };
    let steps = match call.has(4) {
        true => call.integers(4)?.data.to_vec(),
        false => vec![1; count],
    };
    if [ends.data.len(), axes.len(), steps.len()] != [count; 3] {
        return Err("starts, ends, axes and steps differ in number".into());
    }
    all_axes(&axes, dims.len())?;
    for at in 0..count {
        let axis = one_axis(axes[at], dims.len())?;
        let places = places(dims[axis], starts.data[at], ends.data[at], steps[at])?;
        if places.is_empty() && !matches!(value, Value::Integers(_)) {
            return Err(format!("nothing is left of axis {axis}"));
        }
        value = value.selected(axis, &places)?;
    }
    Ok(vec![value])
}

/// The places from `start` to before `end`, both of which may count from the end.
fn places(side: usize, start: i64, end: i64, step: i64) -> Outcome<Vec<usize>> {
    let side = side as i64;
    let from_front = |at: i64| if at < 0 { at.saturating_add(side) } else { at };
    let (least, most) = if step < 0 { (-1, side - 1) } else { (0, side) };
    let start = from_front(start).clamp(least.max(0), most.max(0));
    let end = from_front(end).clamp(least, most);
    let mut places = Vec::new();
    let mut at = start;
    match step {
        0 => return Err("a step is 0".into()),
        1.. => {
            while at < end {
                places.push(at as usize);
                at = at.saturating_add(step);
            }
        }
        _ => {
            while at > end && at < side {
                places.push(at as usize);
                at = at.saturating_add(step);
            }
        }
    }
    Ok(places)
}

pub(super) fn tile(call: &mut Call) -> Outcome<Vec<Value>> {
    let (mut value, repeats) = (call.value(0)?, call.integers(1)?.sides()?);
    let dims = value.dims()?;
    if repeats.len() != dims.len() {
        return Err(format!("{repeats:?} does not fit to {dims:?}"));
    }
    for (axis, &times) in repeats.iter().enumerate() {
        let side = dims[axis];
        let length = side.checked_mul(times).filter(|&length| length > 0).ok_or("it leaves nothing, or too much")?;
        elements(&[length])?;
        if times > 1 {
            let places: Vec<usize> = (0..length).map(|at| at % side).collect();
            value = value.selected(axis, &places)?;
        }
    }
    Ok(vec![value])
}

/// The size of the blocks, and the sides of an input of rows, channels, height and width.
fn blocks(call: &Call, value: &Value) -> Outcome<(usize, [usize; 4])> {
    let size = usize::try_from(call.node.integer("blocksize", 0)?).ok().filter(|size| (1..1 << 10).contains(size));
    let size = size.ok_or("`blocksize` cannot be used")?;
    let dims = value.dims()?;
    let sides = <[usize; 4]>::try_from(dims).map_err(|dims| format!("four axes are expected, not {dims:?}"))?;
    Ok((size, sides))
}

pub(super) fn depth_to_space(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let (size, [rows, channels, height, width]) = blocks(call, &value)?;
    if !channels.is_multiple_of(size * size) {
        return Err(format!("{channels} channels make no blocks of {size} × {size}"));
    }
    let left = channels / (size * size);
    let column_first = call.node.text("mode", "DCR")? == "CRD";
    let (apart, order) = match column_first {
        true => ([rows, left, size, size, height, width], [0, 1, 4, 2, 5, 3]),
        false => ([rows, size, size, left, height, width], [0, 3, 4, 1, 5, 2]),
    };
    let moved = value.reshaped(&apart)?.permuted(&order)?;
    Ok(vec![moved.reshaped(&[rows, left, height * size, width * size])?])
}

pub(super) fn space_to_depth(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let (size, [rows, channels, height, width]) = blocks(call, &value)?;
    if !height.is_multiple_of(size) || !width.is_multiple_of(size) {
        return Err(format!("{height} × {width} makes no blocks of {size} × {size}"));
    }
    let apart = [rows, channels, height / size, size, width / size, size];
    let moved = value.reshaped(&apart)?.permuted(&[0, 3, 5, 1, 2, 4])?;
    Ok(vec![moved.reshaped(&[rows, channels * size * size, height / size, width / size])?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_follow_the_rules_of_numpy() {
        for (start, end, step, expected) in [
            (1, 4, 1, vec![1, 2, 3]),
            (-2, i64::MAX, 1, vec![3, 4]),
            (0, 5, 2, vec![0, 2, 4]),
            (-1, i64::MIN, -2, vec![4, 2, 0]),
            (9, 0, -1, vec![4, 3, 2, 1]),
            (3, 1, 1, vec![]),
        ] {
            assert_eq!(places(5, start, end, step).unwrap(), expected, "{start}..{end} by {step}");
        }
        assert!(places(5, 0, 5, 0).is_err());
    }
}
