//! Operators that work place by place.

use super::one;
use crate::Outcome;
use crate::integers::{Integers, broadcast};
use crate::run::Call;
use crate::value::{Block, Categories, Floats, Mask, Value, block_sides};
use crate::words::Words;

/// The sides that some tensors have together: members, then sides of the file.
fn joint(all: &[&Floats]) -> Outcome<(usize, Vec<usize>)> {
    let members = all.iter().map(|one| one.members()).max().unwrap_or(1);
    let dims = all.iter().try_fold(vec![], |dims, one| broadcast(&dims, &one.dims()))?;
    block_sides(members, &dims)?;
    Ok((members, dims))
}

fn floats(a: Floats, b: Floats, combine: impl Fn(Block, Block) -> Block) -> Outcome<Floats> {
    let rank = joint(&[&a, &b])?.1.len();
    Ok(Floats { block: combine(a.block, b.block), rank })
}

/// Whole numbers with whole numbers, anything else as numbers.
fn binary(
    call: &mut Call,
    on_floats: fn(Block, Block) -> Block,
    on_integers: fn(i64, i64) -> Option<i64>,
) -> Outcome<Vec<Value>> {
    let whole = |a, b| on_integers(a, b).ok_or_else(|| format!("{a} and {b} leave the whole numbers"));
    match (call.value(0)?, call.value(1)?) {
        (Value::Integers(a), Value::Integers(b)) => Ok(vec![Value::Integers(a.zip(&b, whole)?)]),
        (a, b) => one(floats(a.floats()?, b.floats()?, on_floats)?),
    }
}

/// Categories moved by whole numbers, such as to a place of their own in a joint table.
fn shifted(categories: &Categories, by: &Integers, sign: i64) -> Outcome<Option<Categories>> {
    let dims = categories.dims();
    if broadcast(&dims, &by.dims)? != dims || by.dims.len() == dims.len() && by.dims.first().is_some_and(|&d| d != 1) {
        return Ok(None);
    }
    let row: Vec<usize> = [&[1], &dims[1..]].concat();
    let by = by.expanded(&row)?;
    let moved = categories.each().zip(by.data.iter()).map(|((first, column), by)| {
        let first = by.checked_mul(sign).and_then(|by| first.checked_add(by));
        first.map(|first| (first, column.clone())).ok_or_else(|| format!("{by} leaves the whole numbers"))
    });
    let columns = moved.collect::<Outcome<Vec<_>>>()?;
    let places = Integers::new(categories.places.dims.clone(), (0..columns.len() as i64).collect());
    Ok(Some(Categories { columns, places, rows: categories.rows }))
}

fn shift(call: &mut Call, sign: i64) -> Outcome<Option<Vec<Value>>> {
    let moved = match (&call.inputs[..], sign) {
        ([Some(Value::Categories(a)), Some(Value::Integers(b))], _) => shifted(a, b, sign)?,
        ([Some(Value::Integers(b)), Some(Value::Categories(a))], 1) => shifted(a, b, sign)?,
        _ => None,
    };
    Ok(moved.map(|moved| vec![Value::Categories(moved)]))
}

pub(super) fn add(call: &mut Call) -> Outcome<Vec<Value>> {
    match shift(call, 1)? {
        Some(moved) => Ok(moved),
        None => binary(call, |a, b| a + b, i64::checked_add),
    }
}

pub(super) fn sub(call: &mut Call) -> Outcome<Vec<Value>> {
    match shift(call, -1)? {
        Some(moved) => Ok(moved),
        None => binary(call, |a, b| a - b, i64::checked_sub),
    }
}

pub(super) fn mul(call: &mut Call) -> Outcome<Vec<Value>> {
    binary(call, |a, b| a * b, i64::checked_mul)
}

pub(super) fn div(call: &mut Call) -> Outcome<Vec<Value>> {
    binary(call, |a, b| a / b, i64::checked_div)
}

pub(super) fn modulo(call: &mut Call) -> Outcome<Vec<Value>> {
    match call.node.flag("fmod", false)? {
        true => binary(call, Block::fmod, i64::checked_rem),
        // The sign is that of the divisor.
        false => binary(call, Block::remainder, |a, b| {
            let rest = a.checked_rem(b)?;
            if rest != 0 && (rest < 0) != (b < 0) { rest.checked_add(b) } else { Some(rest) }
        }),
    }
}

pub(super) fn pow(call: &mut Call) -> Outcome<Vec<Value>> {
    let (base, exponent) = (call.value(0)?, call.value(1)?);
    if let (Value::Integers(base), Value::Integers(exponent)) = (&base, &exponent) {
        let power = |base: i64, exponent: i64| {
            let exponent = u32::try_from(exponent).ok();
            let power = exponent.and_then(|exponent| base.checked_pow(exponent));
            power.ok_or_else(|| "a power leaves the whole numbers".into())
        };
        return Ok(vec![Value::Integers(base.zip(exponent, power)?)]);
    }
    let (base, exponent) = (base.floats()?, exponent.floats()?);
    let is_single = exponent.dims().iter().product::<usize>() == 1 && exponent.rank <= base.rank;
    if let (true, Ok(number)) = (is_single, exponent.known("the exponent")) {
        let number = number[0];
        let is = |whole: f32| (number - whole).abs() <= 0.0;
        return one(base.map(|block| match number {
            _ if is(2.0) => block.clone() * block,
            _ if is(3.0) => block.clone() * block.clone() * block,
            _ if is(0.5) => block.sqrt(),
            _ if is(1.0) => block,
            _ => block.powf_scalar(number),
        }));
    }
    one(floats(base, exponent, Block::powf)?)
}

/// Any number of operands, from the left.
fn variadic(
    call: &mut Call,
    on_floats: fn(Block, Block) -> Block,
    on_integers: fn(i64, i64) -> Option<i64>,
) -> Outcome<Vec<Value>> {
    let count = call.inputs.len();
    let mut result = call.value(0)?;
    for at in 1..count {
        let whole = |a, b| on_integers(a, b).ok_or_else(|| "a sum leaves the whole numbers".into());
        result = match (result, call.value(at)?) {
            (Value::Integers(a), Value::Integers(b)) => Value::Integers(a.zip(&b, whole)?),
            (a, b) => {
                let (a, b) = (a.floats()?, b.floats()?);
                let (members, dims) = joint(&[&a, &b])?;
                let (a, b) = (a.of_members(members)?.expanded(&dims)?, b.of_members(members)?.expanded(&dims)?);
                Value::Floats(floats(a, b, on_floats)?)
            }
        };
    }
    Ok(vec![result])
}

pub(super) fn min(call: &mut Call) -> Outcome<Vec<Value>> {
    variadic(call, Block::min_pair, |a, b| Some(a.min(b)))
}

pub(super) fn max(call: &mut Call) -> Outcome<Vec<Value>> {
    variadic(call, Block::max_pair, |a, b| Some(a.max(b)))
}

pub(super) fn sum(call: &mut Call) -> Outcome<Vec<Value>> {
    variadic(call, |a, b| a + b, i64::checked_add)
}

pub(super) fn mean(call: &mut Call) -> Outcome<Vec<Value>> {
    let count = call.inputs.len() as f32;
    let mut sum = sum(call)?;
    one(sum.remove(0).floats()?.map(|block| block / count))
}

/// A question to two operands.
fn compare(
    call: &mut Call,
    on_floats: fn(Block, Block) -> burn_tensor::Tensor<{ crate::value::RANK }, burn_tensor::Bool>,
    on_integers: fn(i64, i64) -> bool,
) -> Outcome<Vec<Value>> {
    match (call.value(0)?, call.value(1)?) {
        (Value::Integers(a), Value::Integers(b)) => {
            Ok(vec![Value::Integers(a.zip(&b, |a, b| Ok(i64::from(on_integers(a, b))))?)])
        }
        (a, b) => {
            let (a, b) = (a.floats()?, b.floats()?);
            let (members, dims) = joint(&[&a, &b])?;
            let (a, b) = (a.of_members(members)?.expanded(&dims)?, b.of_members(members)?.expanded(&dims)?);
            Ok(vec![Value::Mask(Mask { block: on_floats(a.block, b.block), rank: dims.len() })])
        }
    }
}

pub(super) fn equal(call: &mut Call) -> Outcome<Vec<Value>> {
    compare(call, Block::equal, |a, b| a == b)
}

pub(super) fn less(call: &mut Call) -> Outcome<Vec<Value>> {
    compare(call, Block::lower, |a, b| a < b)
}

pub(super) fn less_or_equal(call: &mut Call) -> Outcome<Vec<Value>> {
    compare(call, Block::lower_equal, |a, b| a <= b)
}

pub(super) fn greater(call: &mut Call) -> Outcome<Vec<Value>> {
    compare(call, Block::greater, |a, b| a > b)
}

pub(super) fn greater_or_equal(call: &mut Call) -> Outcome<Vec<Value>> {
    compare(call, Block::greater_equal, |a, b| a >= b)
}

pub(super) fn and(call: &mut Call) -> Outcome<Vec<Value>> {
    logic(call, |a, b| a * b, |a, b| a && b)
}

pub(super) fn or(call: &mut Call) -> Outcome<Vec<Value>> {
    logic(call, |a, b| a + b, |a, b| a || b)
}

pub(super) fn xor(call: &mut Call) -> Outcome<Vec<Value>> {
    logic(call, |a, b| a - b, |a, b| a != b)
}

/// Two truths; of masks as 0 and 1, of which anything but 0 is yes.
fn logic(
    call: &mut Call,
    on_masks: fn(Block, Block) -> Block,
    on_truths: fn(bool, bool) -> bool,
) -> Outcome<Vec<Value>> {
    match (call.value(0)?, call.value(1)?) {
        (Value::Integers(a), Value::Integers(b)) => {
            Ok(vec![Value::Integers(a.zip(&b, |a, b| Ok(i64::from(on_truths(a != 0, b != 0))))?)])
        }
        (a, b) => {
            let both = floats(a.mask()?.floats(), b.mask()?.floats(), on_masks)?;
            Ok(vec![Value::Mask(Mask::of(both))])
        }
    }
}

pub(super) fn not(call: &mut Call) -> Outcome<Vec<Value>> {
    Ok(vec![match call.value(0)? {
        Value::Integers(truths) => Value::Integers(truths.map(|truth| i64::from(truth == 0))),
        other => {
            let mask = other.mask()?;
            Value::Mask(Mask { block: mask.block.bool_not(), rank: mask.rank })
        }
    }])
}

/// `Where`.
pub(super) fn choose(call: &mut Call) -> Outcome<Vec<Value>> {
    let (condition, yes, no) = (call.value(0)?, call.value(1)?, call.value(2)?);
    if let (Value::Words(yes), Value::Words(no)) = (&yes, &no) {
        return Ok(vec![Value::Words(chosen_words(condition, yes, no)?)]);
    }
    if let (Value::Integers(condition), Value::Integers(yes), Value::Integers(no)) = (&condition, &yes, &no) {
        let dims = broadcast(&broadcast(&condition.dims, &yes.dims)?, &no.dims)?;
        let (yes, no) = (yes.expanded(&dims)?, no.expanded(&dims)?);
        let pairs = Integers::new(dims, (0..yes.data.len() as i64).collect());
        let chosen = condition.zip(&pairs, |condition, at| {
            Ok(if condition != 0 { yes.data[at as usize] } else { no.data[at as usize] })
        })?;
        return Ok(vec![Value::Integers(chosen)]);
    }
    let (condition, yes, no) = (condition.mask()?.floats(), yes.floats()?, no.floats()?);
    let (members, dims) = joint(&[&condition, &yes, &no])?;
    let wide = |floats: Floats| floats.of_members(members)?.expanded(&dims);
    let mask = Mask::of(wide(condition)?);
    one(Floats { block: wide(no)?.block.mask_where(mask.block, wide(yes)?.block), rank: dims.len() })
}

/// Words where a condition holds, and others where it does not.
fn chosen_words(condition: Value, yes: &Words, no: &Words) -> Outcome<Words> {
    let condition = condition.mask()?.floats();
    let dims = broadcast(&broadcast(&condition.dims(), yes.dims())?, no.dims())?;
    let condition = condition.expanded(&dims)?.known("a choice among words")?;
    let wide = |words: &Words| words.moved(|places| places.expanded(&dims));
    let (yes, no) = (wide(yes)?, wide(no)?);
    let pairs = yes.each().zip(no.each()).zip(condition);
    Ok(Words::new(dims, pairs.map(|((yes, no), holds)| if holds > 0.5 { yes } else { no }.to_owned()).collect()))
}

pub(super) fn clip(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let (least, most) = (call.has(1), call.has(2));
    if let Value::Integers(integers) = value {
        let least = if least { call.integers(1)?.single()? } else { i64::MIN };
        let most = if most { call.integers(2)?.single()? } else { i64::MAX };
        return Ok(vec![Value::Integers(integers.map(|number| number.max(least).min(most)))]);
    }
    let mut bound = |at: usize| -> Outcome<f32> {
        match call.numbers(at)?[..] {
            [number] => Ok(number),
            _ => Err("a bound is one number".into()),
        }
    };
    let mut floats = value.floats()?;
    if least {
        let least = bound(1)?;
        floats = floats.map(|block| block.clamp_min(least));
    }
    if most {
        let most = bound(2)?;
        floats = floats.map(|block| block.clamp_max(most));
    }
    one(floats)
}

/// A value as a type: numbers towards 0 as whole ones, anything but 0 as yes.
fn cast_to(value: Value, kind: i64) -> Outcome<Vec<Value>> {
    Ok(vec![match (value, kind) {
        (Value::Words(words), 8) => Value::Words(words),
        (Value::Words(words), 1..=7 | 10..=13 | 16) => {
            let number = |word: &str| word.trim().parse().map_err(|_| format!("`{word}` is no number"));
            Value::Floats(Floats::constant(words.dims(), words.map(number)?)?)
        }
        (value, 1 | 10 | 11 | 16) => match value {
            // What is empty has no type.
            Value::Integers(integers) if integers.data.is_empty() => Value::Integers(integers),
            other => Value::Floats(other.floats()?),
        },
        (Value::Integers(integers), 9) => Value::Integers(integers.map(|number| i64::from(number != 0))),
        (value, 9) => Value::Mask(value.mask()?),
        (Value::Floats(floats), 2..=7 | 12 | 13) => match floats.known("it") {
            Ok(numbers) => {
                Value::Integers(Integers::new(floats.dims(), numbers.into_iter().map(|n| n as i64).collect()))
            }
            // Flat between the whole numbers, as rounding is everywhere.
            Err(_) => Value::Floats(floats.map(|block| block.clone().sign() * block.abs().floor())),
        },
        (value, 2..=7 | 12 | 13) => value,
        (_, kind) => return Err(format!("elements cannot become the type numbered {kind}")),
    }])
}

pub(super) fn cast(call: &mut Call) -> Outcome<Vec<Value>> {
    let kind = call.node.integer("to", 0)?;
    cast_to(call.value(0)?, kind)
}

pub(super) fn cast_like(call: &mut Call) -> Outcome<Vec<Value>> {
    let (value, like) = (call.value(0)?, call.value(1)?);
    let kind = match like {
        Value::Floats(_) => 1,
        Value::Mask(_) => 9,
        _ => 7,
    };
    cast_to(value, kind)
}

pub(super) fn identity(call: &mut Call) -> Outcome<Vec<Value>> {
    Ok(vec![call.value(0)?])
}

pub(super) fn is_nan(call: &mut Call) -> Outcome<Vec<Value>> {
    let floats = call.floats(0)?;
    Ok(vec![Value::Mask(Mask { block: floats.block.is_nan(), rank: floats.rank })])
}

pub(super) fn is_inf(call: &mut Call) -> Outcome<Vec<Value>> {
    let floats = call.floats(0)?;
    Ok(vec![Value::Mask(Mask { block: floats.block.is_inf(), rank: floats.rank })])
}

fn unary(call: &mut Call, on_floats: fn(Block) -> Block, on_integers: fn(i64) -> i64) -> Outcome<Vec<Value>> {
    Ok(vec![match call.value(0)? {
        Value::Integers(integers) => Value::Integers(integers.map(on_integers)),
        other => Value::Floats(other.floats()?.map(on_floats)),
    }])
}

pub(super) fn neg(call: &mut Call) -> Outcome<Vec<Value>> {
    unary(call, Block::neg, i64::saturating_neg)
}

pub(super) fn abs(call: &mut Call) -> Outcome<Vec<Value>> {
    unary(call, Block::abs, i64::saturating_abs)
}

pub(super) fn sign(call: &mut Call) -> Outcome<Vec<Value>> {
    unary(call, Block::sign, i64::signum)
}

/// Functions of one number.
pub(super) fn function(call: &mut Call) -> Outcome<Vec<Value>> {
    let function: fn(Block) -> Block = match call.node.operator.as_str() {
        "Sqrt" => Block::sqrt,
        "Exp" => Block::exp,
        "Log" => Block::log,
        "Erf" => Block::erf,
        "Reciprocal" => Block::recip,
        "Floor" => Block::floor,
        "Ceil" => Block::ceil,
        "Round" => Block::round,
        "Sin" => Block::sin,
        "Cos" => Block::cos,
        "Tan" => Block::tan,
        "Sinh" => Block::sinh,
        "Cosh" => Block::cosh,
        "Asin" => Block::asin,
        "Acos" => Block::acos,
        "Atan" => Block::atan,
        "Asinh" => Block::asinh,
        "Acosh" => Block::acosh,
        "Atanh" => Block::atanh,
        other => return Err(format!("`{other}` is no function of one number")),
    };
    one(call.floats(0)?.map(function))
}
