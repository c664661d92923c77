//! Padding: with a number, with the edge, mirrored or around the corner.

use crate::Outcome;
use crate::integers::{Integers, axes as all_axes};
use crate::run::Call;
use crate::value::{Floats, Value, block_sides};

/// A tensor with `before` and `after` places of `number` along an axis; negative ones cut off.
pub(super) fn with_number(x: Floats, axis: usize, before: i64, after: i64, number: f32) -> Outcome<Floats> {
    let dims = x.dims();
    let cut = |pad: i64| usize::try_from(pad.saturating_neg()).unwrap_or(0);
    let (start, end) = (cut(before), cut(after));
    let length = start.checked_add(end).and_then(|cut| dims[axis].checked_sub(cut)).filter(|&length| length > 0);
    let x = x.narrowed(axis, start, length.ok_or("its padding leaves nothing")?);
    let filler = |pad: i64| -> Outcome<Option<Floats>> {
        let Ok(pad) = usize::try_from(pad) else { return Ok(None) };
        let mut dims = dims.clone();
        dims[axis] = pad;
        if pad == 0 { Ok(None) } else { Ok(Some(Floats::full(&dims, number)?)) }
    };
    let (before, after) = (filler(before)?, filler(after)?);
    let parts: Vec<Floats> = [before, Some(x), after].into_iter().flatten().collect();
    Floats::joined(parts, axis)
}

pub(super) fn pad(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let dims = value.dims()?;
    let pads = call.integers(1)?.data.to_vec();
    let axes = match call.has(3) {
        true => {
            let given = call.integers(3)?;
            all_axes(&given.data, dims.len())?;
            given.data.iter().map(|&axis| crate::integers::axis(axis, dims.len())).collect::<Outcome<Vec<_>>>()?
        }
        false => (0..dims.len()).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(format!("{} pads do not fit to {} axes", pads.len(), axes.len()));
    }
    let mode = call.node.text("mode", "constant")?.to_string();
    let number = match call.has(2) {
        true => call.numbers(2)?.first().copied().unwrap_or(0.0),
        false => 0.0,
    };
    if mode == "constant" {
        if let Value::Integers(integers) = value {
            return Ok(vec![Value::Integers(whole_numbers(integers, &axes, &pads, number as i64)?)]);
        }
        let mut floats = value.floats()?;
        for (at, &axis) in axes.iter().enumerate() {
            floats = with_number(floats, axis, pads[at], pads[axes.len() + at], number)?;
        }
        return Ok(vec![Value::Floats(floats)]);
    }
    let mut value = value;
    for (at, &axis) in axes.iter().enumerate() {
        let (before, after) = (pads[at], pads[axes.len() + at]);
        if (before, after) != (0, 0) {
            let side = value.dims()?[axis];
            value = value.selected(axis, &places(side, before, after, &mode)?)?;
        }
    }
    Ok(vec![value])
}

/// Whole numbers, with another one around them.
fn whole_numbers(integers: Integers, axes: &[usize], pads: &[i64], number: i64) -> Outcome<Integers> {
    let mut result = integers;
    for (at, &axis) in axes.iter().enumerate() {
        let filler = |pad: i64| -> Outcome<Integers> {
            let mut dims = result.dims.clone();
            dims[axis] = usize::try_from(pad).map_err(|_| "whole numbers cannot be cut by a padding")?;
            let count = crate::constant::elements(&dims)?;
            Ok(Integers::new(dims, vec![number; count]))
        };
        let (before, after) = (filler(pads[at])?, filler(pads[axes.len() + at])?);
        result = Integers::joined(&[before, result, after], axis)?;
    }
    Ok(result)
}

/// Which place of the input is at each place of the output.
fn places(side: usize, before: i64, after: i64, mode: &str) -> Outcome<Vec<usize>> {
    let length = (side as i64).checked_add(before).and_then(|length| length.checked_add(after));
    let length = length.filter(|&length| length > 0).ok_or("its padding leaves nothing")?;
    block_sides(1, &[usize::try_from(length).map_err(|_| "its padding is too large")?])?;
    let side = side as i64;
    let place = |at: i64| -> Outcome<usize> {
        let at = at - before;
        let place = match mode {
            "edge" => at.clamp(0, side - 1),
            "wrap" => at.rem_euclid(side),
            "reflect" if side == 1 => 0,
            "reflect" => {
                let round = at.rem_euclid(2 * (side - 1));
                if round < side { round } else { 2 * (side - 1) - round }
            }
            other => return Err(format!("`mode` is `{other}`")),
        };
        Ok(place as usize)
    };
    (0..length).map(place).collect()
}
