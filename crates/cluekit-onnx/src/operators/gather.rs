//! Elements by their number, and what is made of numbers: one-hot columns and triangles.

use super::{linear, one};
use crate::Outcome;
use crate::integers::{Integers, axis as one_axis, span};
use crate::run::Call;
use crate::value::{Categories, Floats, RANK, Value, block_sides};
use burn_tensor::{Device, Int, TensorData};
use cluekit::tensor::{Tensor, tensor, values};

/// Whole numbers that choose elements; those of an input are read off it.
pub(super) fn chosen(value: Value) -> Outcome<Integers> {
    match value {
        Value::Floats(floats) if floats.members() == 1 => {
            let numbers = values(floats.block.clone()).into_iter().map(|number| number.round() as i64).collect();
            Ok(Integers::new(floats.dims(), numbers))
        }
        other => other.integers(),
    }
}

/// Places within a side, of numbers that may count from the end.
fn places(numbers: &Integers, side: usize) -> Outcome<Vec<usize>> {
    numbers.data.iter().map(|&number| one_axis(number, side).map_err(|_| outside(number, side))).collect()
}

fn outside(number: i64, side: usize) -> String {
    format!("element {number} of {side} is asked for")
}

pub(super) fn gather(call: &mut Call) -> Outcome<Vec<Value>> {
    let (value, numbers) = (call.value(0)?, call.value(1)?);
    let dims = value.dims()?;
    let axis = one_axis(call.node.integer("axis", 0)?, dims.len())?;
    if let Value::Categories(categories) = &numbers {
        return match axis {
            0 => one(relaxed(call, value.floats()?, categories)?),
            _ => Err("categories choose among the rows of a table alone".into()),
        };
    }
    let numbers = chosen(numbers)?;
    let places = places(&numbers, dims[axis])?;
    let made = [&dims[..axis], &numbers.dims, &dims[axis + 1..]].concat();
    Ok(vec![value.selected(axis, &places)?.reshaped(&made)?])
}

/// Rows of a table for categories that may be relaxed: one-hot columns times the table.
fn relaxed(call: &Call, table: Floats, categories: &Categories) -> Outcome<Floats> {
    let dims = table.dims();
    let count = dims[0];
    let width = span(&dims[1..]);
    let table = table.reshaped(&[count, width])?;
    let mut rows = Vec::new();
    for (first, column) in categories.each() {
        let numbers = column.dims()[1];
        let start = usize::try_from(*first).ok().filter(|start| start.saturating_add(numbers) <= count);
        let start = start.ok_or_else(|| outside(first + numbers as i64 - 1, count))?;
        let used = table.clone().narrowed(0, start, numbers);
        let column = Floats { block: column.clone().reshape(block_sides(1, &column.dims())?), rank: 2 };
        rows.push(linear::product(call, column, used)?.reshaped(&[categories.rows, 1, width])?);
    }
    if rows.is_empty() {
        return Err("there are no categories".into());
    }
    Floats::joined(rows, 1)?.reshaped(&[categories.dims().as_slice(), &dims[1..]].concat())
}

pub(super) fn gather_elements(call: &mut Call) -> Outcome<Vec<Value>> {
    let (x, numbers) = (call.floats(0)?, call.value(1)?);
    let numbers = chosen(numbers)?;
    let dims = x.dims();
    let axis = one_axis(call.node.integer("axis", 0)?, dims.len())?;
    let within = |(at, (own, side)): (usize, (&usize, &usize))| at == axis || own <= side;
    if numbers.dims.len() != dims.len() || !numbers.dims.iter().zip(&dims).enumerate().all(within) {
        return Err(format!("{:?} chooses nothing of {dims:?}", numbers.dims));
    }
    let places: Vec<i64> = places(&numbers, dims[axis])?.into_iter().map(|place| place as i64).collect();
    let mut x = x;
    for (at, &side) in numbers.dims.iter().enumerate() {
        if at != axis {
            x = x.narrowed(at, 0, side);
        }
    }
    let members = x.members();
    let sides = block_sides(1, &numbers.dims)?;
    let all = block_sides(members, &numbers.dims)?;
    let places: Tensor<RANK, Int> = Tensor::from_data(TensorData::new(places, sides), &Device::flex());
    let inner = x.inner(axis);
    one(x.map(|block| block.gather(inner, places.expand(all))))
}

/// Elements by their numbers along the first axes.
pub(super) fn gather_nd(call: &mut Call) -> Outcome<Vec<Value>> {
    let (value, numbers) = (call.value(0)?, chosen(call.value(1)?)?);
    if call.node.integer("batch_dims", 0)? != 0 {
        return Err("`batch_dims` is not supported".into());
    }
    let dims = value.dims()?;
    let (&depth, outer) = numbers.dims.split_last().ok_or("its numbers have no sides")?;
    if depth == 0 || depth > dims.len() {
        return Err(format!("{depth} numbers choose nothing of {dims:?}"));
    }
    let place = |numbers: &[i64]| {
        numbers.iter().zip(&dims).try_fold(0, |place, (&number, &side)| {
            let own = one_axis(number, side).map_err(|_| outside(number, side))?;
            Ok(place * side + own)
        })
    };
    let places = numbers.data.chunks_exact(depth).map(place).collect::<Outcome<Vec<usize>>>()?;
    let merged = [&[span(&dims[..depth])], &dims[depth..]].concat();
    let made = [outer, &dims[depth..]].concat();
    Ok(vec![value.reshaped(&merged)?.selected(0, &places)?.reshaped(&made)?])
}

pub(super) fn one_hot(call: &mut Call) -> Outcome<Vec<Value>> {
    let (numbers, depth, ends) = (call.value(0)?, call.integers(1)?.single()?, call.numbers(2)?);
    let depth = usize::try_from(depth).ok().filter(|&depth| depth > 0).ok_or("its depth cannot be used")?;
    let [off, on] = ends[..] else { return Err("two values are expected".into()) };
    let rank = numbers.dims()?.len();
    let axis = one_axis(call.node.integer("axis", -1)?, rank + 1)?;
    let made = match numbers {
        Value::Categories(categories) => {
            let column = |(first, column): &(i64, Tensor<2>)| -> Outcome<Floats> {
                let [rows, count] = column.dims();
                let first = usize::try_from(*first).ok().filter(|first| first.saturating_add(count) <= depth);
                let first = first.ok_or_else(|| format!("a category lies outside of {depth}"))?;
                let after = depth - first - count;
                let zeros = |width: usize| (width > 0).then(|| tensor(vec![0.0; rows * width], [rows, width]));
                block_sides(1, &[rows, depth])?;
                let parts: Vec<Tensor<2>> =
                    [zeros(first), Some(column.clone()), zeros(after)].into_iter().flatten().collect();
                Floats::from(Tensor::cat(parts, 1), 1, &[rows, 1, depth])
            };
            let columns = categories.each().map(column).collect::<Outcome<Vec<_>>>()?;
            if columns.is_empty() {
                return Err("there are no categories".into());
            }
            Floats::joined(columns, 1)?.reshaped(&[categories.dims().as_slice(), &[depth]].concat())?
        }
        other => {
            let numbers = chosen(other)?;
            let dims = [numbers.dims.as_slice(), &[depth]].concat();
            let mut columns = vec![0.0; span(&block_sides(1, &dims)?)];
            for (row, &number) in numbers.data.iter().enumerate() {
                if let Ok(place) = one_axis(number, depth) {
                    columns[row * depth + place] = 1.0;
                }
            }
            Floats::constant(&dims, columns)?
        }
    };
    let mut order: Vec<usize> = (0..rank).collect();
    order.insert(axis, rank);
    one(made.map(|block| block * (on - off) + off).permuted(&order))
}

/// What lies above or below a diagonal.
pub(super) fn trilu(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let shift = if call.has(1) { call.integers(1)?.single()? } else { 0 };
    let upper = call.node.flag("upper", true)?;
    let dims = value.dims()?;
    let [.., rows, columns] = dims[..] else { return Err("a matrix is expected".into()) };
    let keeps = |row: usize, column: usize| {
        let distance = (column as i64 - row as i64).saturating_sub(shift);
        if upper { distance >= 0 } else { distance <= 0 }
    };
    if let Value::Integers(integers) = value {
        let kept = integers
            .data
            .iter()
            .enumerate()
            .map(|(at, &number)| if keeps(at / columns % rows, at % columns) { number } else { 0 });
        return Ok(vec![Value::Integers(Integers::new(dims, kept.collect()))]);
    }
    block_sides(1, &[rows, columns])?;
    let mask = (0..rows * columns).map(|at| f32::from(u8::from(keeps(at / columns, at % columns)))).collect();
    let mask = Floats::constant(&[rows, columns], mask)?;
    // Not a product: what is left out may be infinite.
    let (is_mask, x) = (matches!(value, Value::Mask(_)), value.floats()?);
    let sides = x.block.dims();
    let left_out = crate::value::Mask::of(mask).block.bool_not().expand(sides);
    let x = x.map(|block| block.mask_fill(left_out, 0.0));
    Ok(vec![if is_mask { Value::Mask(crate::value::Mask::of(x)) } else { Value::Floats(x) }])
}
