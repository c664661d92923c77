//! Columns of a table before a model sees them: scaled, filled, divided by their length, chosen and put side by side.

use super::gather::chosen;
use super::{Value, one};
use crate::Outcome;
use crate::integers::axis;
use crate::run::Call;
use crate::value::{Block, Floats, Mask, RANK};

/// A setting as one number for all columns, or one for each.
fn by_column(call: &Call, name: &str, width: usize, default: f32) -> Outcome<Block> {
    let numbers = call.node.floats(name)?.unwrap_or(&[]);
    let numbers = match numbers.len() {
        0 => vec![default],
        count if count == 1 || count == width => numbers.to_vec(),
        count => return Err(format!("`{name}` has {count} entries, and a row has {width} values")),
    };
    Ok(Floats::constant(&[numbers.len()], numbers)?.block)
}

/// Number of values of a row.
fn width(x: &Floats) -> usize {
    x.dims().last().copied().unwrap_or(1)
}

/// (x − offset) · scale.
pub(super) fn scaler(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let (offset, scale) = (by_column(call, "offset", width(&x), 0.0)?, by_column(call, "scale", width(&x), 1.0)?);
    one(x.map(|block| (block - offset) * scale))
}

/// Another number in the place of one that stands for a missing one.
pub(super) fn imputer(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let (replaced, filled) = match call.node.integers("imputed_value_int64s")? {
        Some(numbers) if !numbers.is_empty() => {
            let numbers: Vec<f32> = numbers.iter().map(|&number| number as f32).collect();
            let width = width(&x);
            if numbers.len() != 1 && numbers.len() != width {
                return Err(format!(
                    "`imputed_value_int64s` has {} entries, and a row has {width} values",
                    numbers.len()
                ));
            }
            (call.node.integer("replaced_value_int64", 0)? as f32, Floats::constant(&[numbers.len()], numbers)?.block)
        }
        _ => (call.node.float("replaced_value_float", 0.0)?, by_column(call, "imputed_value_floats", width(&x), 0.0)?),
    };
    let sides = x.block.dims();
    one(x.map(|block| {
        let missing = if replaced.is_nan() { block.clone().is_nan() } else { block.clone().equal_elem(replaced) };
        block.mask_where(missing, filled.expand(sides))
    }))
}

/// A row divided by its length; one of zeros stays.
pub(super) fn normalizer(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let norm = call.node.text("norm", "MAX")?;
    let length: fn(Block) -> Block = match norm {
        "L1" => |block| block.abs().sum_dim(RANK - 1),
        "L2" => |block| (block.clone() * block).sum_dim(RANK - 1).sqrt(),
        "MAX" => |block| block.max_dim(RANK - 1),
        other => return Err(format!("`norm` is `{other}`; MAX, L1 and L2 are supported")),
    };
    one(x.map(|block| {
        let length = length(block.clone());
        let is_zero = length.clone().equal_elem(0.0);
        block / length.mask_fill(is_zero, 1.0)
    }))
}

/// 1 for what is above a threshold, and 0 for the rest.
pub(super) fn binarizer(call: &mut Call) -> Outcome<Vec<Value>> {
    let threshold = call.node.float("threshold", 0.0)?;
    let x = call.floats(0)?;
    one(Mask { block: x.block.greater_elem(threshold), rank: x.rank }.floats())
}

/// Columns by their numbers.
pub(super) fn array_feature_extractor(call: &mut Call) -> Outcome<Vec<Value>> {
    let (value, numbers) = (call.value(0)?, chosen(call.value(1)?)?);
    let dims = value.dims()?;
    let (&side, outer) = dims.split_last().ok_or("a single number has no columns")?;
    let place = |&number: &i64| axis(number, side).map_err(|_| format!("column {number} of {side} is asked for"));
    let places = numbers.data.iter().map(place).collect::<Outcome<Vec<usize>>>()?;
    let made = value.selected(dims.len() - 1, &places)?;
    let rows = if outer.is_empty() { &[1][..] } else { outer };
    Ok(vec![made.reshaped(&[rows, &[places.len()]].concat())?])
}

/// Columns side by side.
pub(super) fn feature_vectorizer(call: &mut Call) -> Outcome<Vec<Value>> {
    let mut columns = Vec::with_capacity(call.inputs.len());
    for at in 0..call.inputs.len() {
        let value = call.floats(at)?;
        let dims = value.dims();
        columns.push(Value::Floats(match dims[..] {
            [rows] => value.reshaped(&[rows, 1])?,
            _ => value,
        }));
    }
    Ok(vec![Value::joined(columns, 1)?])
}
