//! Shapes as numbers, and tensors from them.

use crate::Outcome;
use crate::constant::{Elements, elements};
use crate::integers::{Integers, span};
use crate::node::Attribute;
use crate::run::Call;
use crate::value::{Floats, Value};

pub(super) fn shape(call: &mut Call) -> Outcome<Vec<Value>> {
    let dims = call.value(0)?.dims()?;
    let rank = dims.len() as i64;
    let place = |name: &str, default: i64| -> Outcome<usize> {
        let at = call.node.integer(name, default)?;
        let at = if at < 0 { at.saturating_add(rank) } else { at };
        Ok(at.clamp(0, rank) as usize)
    };
    let (start, end) = (place("start", 0)?, place("end", rank)?);
    let sides = dims.get(start..end).unwrap_or(&[]).iter().map(|&side| side as i64).collect();
    Ok(vec![Value::Integers(Integers::list(sides))])
}

pub(super) fn size(call: &mut Call) -> Outcome<Vec<Value>> {
    let dims = call.value(0)?.dims()?;
    Ok(vec![Value::Integers(Integers::new(vec![], vec![span(&dims) as i64]))])
}

pub(super) fn constant_of_shape(call: &mut Call) -> Outcome<Vec<Value>> {
    let dims = call.integers(0)?.sides()?;
    let count = elements(&dims)?;
    let number = match call.node.attributes.get("value") {
        Some(Attribute::Constant(constant)) => Some(&constant.elements),
        _ => None,
    };
    Ok(vec![match number {
        Some(Elements::Integers(number)) => {
            let number = *number.first().ok_or("its value is empty")?;
            Value::Integers(Integers::new(dims, vec![number; count]))
        }
        Some(Elements::Words(_)) => return Err("words are not supported".into()),
        _ if count == 0 => Value::Integers(Integers::new(dims, vec![])),
        Some(Elements::Floats(number)) => Value::Floats(Floats::full(&dims, number.first().copied().unwrap_or(0.0))?),
        None => Value::Floats(Floats::full(&dims, 0.0)?),
    }])
}

pub(super) fn range(call: &mut Call) -> Outcome<Vec<Value>> {
    let ends = [call.value(0)?, call.value(1)?, call.value(2)?];
    if let [Value::Integers(start), Value::Integers(end), Value::Integers(step)] = &ends {
        let (start, end, step) = (start.single()?, end.single()?, step.single()?);
        let room = end.checked_sub(start).ok_or("a range is too long")?;
        let count = match step {
            0 => return Err("a step is 0".into()),
            _ => i128::from(room).div_euclid(i128::from(step)) + i128::from(i128::from(room) % i128::from(step) != 0),
        };
        // Rounded up, for either sign of the step.
        let count = if step < 0 && i128::from(room) % i128::from(step) != 0 {
            (i128::from(room) / i128::from(step)) + i128::from(room < 0)
        } else {
            count
        };
        let count = usize::try_from(count.max(0)).map_err(|_| "a range is too long")?;
        elements(&[count])?;
        return Ok(vec![Value::Integers(Integers::list((0..count as i64).map(|at| start + at * step).collect()))]);
    }
    let [start, end, step] = ends.map(|end| end.floats().and_then(|end| end.known("a range")));
    let one = |numbers: Outcome<Vec<f32>>| numbers?.first().copied().ok_or_else(|| "a range has no end".to_string());
    let (start, end, step) = (one(start)?, one(end)?, one(step)?);
    let count = ((end - start) / step).ceil();
    if !count.is_finite() || count < 1.0 {
        return Err(format!("nothing lies from {start} to {end} by {step}"));
    }
    let count = count as usize;
    elements(&[count])?;
    Ok(vec![Value::Floats(Floats::constant(&[count], (0..count).map(|at| start + at as f32 * step).collect())?)])
}

pub(super) fn eye_like(call: &mut Call) -> Outcome<Vec<Value>> {
    let dims = call.value(0)?.dims()?;
    let [rows, columns] = dims[..] else { return Err(format!("a matrix is expected, not {dims:?}")) };
    let count = elements(&dims)?;
    let shift = call.node.integer("k", 0)?;
    let on = |at: usize| (at % columns) as i64 == ((at / columns) as i64).saturating_add(shift);
    let numbers = (0..count).map(|at| f32::from(u8::from(on(at)))).collect();
    Ok(vec![Value::Floats(Floats::constant(&[rows, columns], numbers)?)])
}
