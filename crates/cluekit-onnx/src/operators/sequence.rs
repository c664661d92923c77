//! Sequences of tensors, which exporters make where a network splits one.

use super::moving::{lengths, parts};
use crate::Outcome;
use crate::integers::axis as one_axis;
use crate::run::Call;
use crate::value::Value;

pub(super) fn construct(call: &mut Call) -> Outcome<Vec<Value>> {
    let parts = (0..call.inputs.len()).map(|at| call.value(at)).collect::<Outcome<Vec<_>>>()?;
    match parts.iter().any(|part| matches!(part, Value::Sequence(_))) {
        true => Err("sequences of sequences are not supported".into()),
        false => Ok(vec![Value::Sequence(parts)]),
    }
}

fn sequence(call: &mut Call) -> Outcome<Vec<Value>> {
    match call.value(0)? {
        Value::Sequence(parts) => Ok(parts),
        _ => Err("a sequence is expected, not a tensor".into()),
    }
}

pub(super) fn at(call: &mut Call) -> Outcome<Vec<Value>> {
    let mut parts = sequence(call)?;
    let place = one_axis(call.integers(1)?.single()?, parts.len())?;
    Ok(vec![parts.swap_remove(place)])
}

pub(super) fn split(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let dims = value.dims()?;
    let axis = one_axis(call.node.integer("axis", 0)?, dims.len())?;
    let keep = call.node.flag("keepdims", true)?;
    let side = dims[axis];
    let (given, single) = match call.has(1) {
        false => (vec![1; side], true),
        true => {
            let given = call.integers(1)?;
            match given.dims.is_empty() {
                false => (given.data.to_vec(), false),
                true => {
                    let each =
                        usize::try_from(given.single()?).ok().filter(|&each| each > 0).ok_or("a part is empty")?;
                    let start = (0..side).step_by(each);
                    (start.map(|start| each.min(side - start) as i64).collect(), false)
                }
            }
        }
    };
    let mut parts = parts(&value, axis, &lengths(side, Some(&given), 0)?)?;
    if single && !keep {
        let mut dims = dims;
        dims.remove(axis);
        parts = parts.into_iter().map(|part| part.reshaped(&dims)).collect::<Outcome<_>>()?;
    }
    Ok(vec![Value::Sequence(parts)])
}

pub(super) fn concat(call: &mut Call) -> Outcome<Vec<Value>> {
    let parts = sequence(call)?;
    let new = call.node.flag("new_axis", false)?;
    let rank = parts.first().ok_or("the sequence is empty")?.dims()?.len() + usize::from(new);
    let axis = one_axis(call.node.integer("axis", 0)?, rank)?;
    let parts = parts.into_iter().map(|part| {
        let mut dims = part.dims()?;
        match new {
            true => {
                dims.insert(axis, 1);
                part.reshaped(&dims)
            }
            false => Ok(part),
        }
    });
    Ok(vec![Value::joined(parts.collect::<Outcome<_>>()?, axis)?])
}
