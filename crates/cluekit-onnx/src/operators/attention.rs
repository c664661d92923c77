//! Attention, as one operator since version 23.
//!
//! softmax(s Q Kᵀ + mask) V, head by head.

use super::{linear, one};
use crate::Outcome;
use crate::integers::broadcast;
use crate::run::Call;
use crate::value::{Block, Floats, RANK, Value};
use cluekit::tensor::softmax;

/// What is added where nobody may look: its exponential is 0, and differences of it are finite.
const AWAY: f32 = -1e30;

/// Rows, heads, steps and numbers of an operand; one of three sides has its heads side by side.
fn heads(call: &mut Call, at: usize, heads: &str) -> Outcome<Floats> {
    let operand = call.floats(at)?;
    let dims = operand.dims();
    match dims[..] {
        [_, _, _, _] => Ok(operand),
        [rows, steps, width] => {
            let heads = usize::try_from(call.node.integer(heads, 0)?).unwrap_or(0);
            if heads == 0 || !width.is_multiple_of(heads) {
                return Err(format!("{width} numbers make no {heads} heads"));
            }
            Ok(operand.reshaped(&[rows, steps, heads, width / heads])?.permuted(&[0, 2, 1, 3]))
        }
        _ => Err(format!("an operand of three or four sides is expected, not {dims:?}")),
    }
}

/// Each head of keys or values for as many heads of queries.
fn shared(operand: Floats, heads: usize) -> Outcome<Floats> {
    let dims = operand.dims();
    match dims[1] {
        own if own == heads => Ok(operand),
        own if heads.is_multiple_of(own) => {
            let places: Vec<usize> = (0..heads).map(|head| head / (heads / own)).collect();
            operand.selected(1, &places)
        }
        own => Err(format!("{heads} heads cannot share {own}")),
    }
}

pub(super) fn attention(call: &mut Call) -> Outcome<Vec<Value>> {
    if call.node.outputs.iter().skip(1).any(Option::is_some) || call.has(4) || call.has(5) {
        return Err("keys and values of the past are not supported".into());
    }
    let flat = matches!(&call.inputs[..], [Some(query), ..] if query.dims().is_ok_and(|dims| dims.len() == 3));
    let query = heads(call, 0, "q_num_heads")?;
    let [rows, count, steps, width] = query.dims()[..] else { return Err("four sides are expected".into()) };
    let key = shared(heads(call, 1, "kv_num_heads")?, count)?;
    let value = shared(heads(call, 2, "kv_num_heads")?, count)?;
    let seen = key.dims()[2];
    let scale = call.node.float("scale", 1.0 / (width as f32).sqrt())?;
    let mut scores = linear::product(call, query.map(|query| query * scale), key.permuted(&[0, 1, 3, 2]))?;
    let dims = [rows, count, steps, seen];
    let mut add = |other: Floats| -> Outcome<()> {
        if broadcast(&dims, &other.dims())? != dims {
            return Err(format!("a mask {:?} does not fit to {dims:?}", other.dims()));
        }
        scores = Floats { block: scores.block.clone() + other.block, rank: 4 };
        Ok(())
    };
    if call.has(3) {
        add(match call.value(3)? {
            // Yes is what may be looked at.
            Value::Floats(mask) => mask,
            mask => mask.mask()?.floats().map(|seen| (seen - 1.0) * -AWAY),
        })?;
    }
    if call.node.flag("is_causal", false)? {
        let later = |at: usize| if at % seen > at / seen { AWAY } else { 0.0 };
        add(Floats::constant(&[steps, seen], (0..steps * seen).map(later).collect())?)?;
    }
    let softcap = call.node.float("softcap", 0.0)?;
    if softcap > 0.0 {
        return Err("`softcap` is not supported".into());
    }
    let shares = scores.map(|scores: Block| softmax(scores, RANK - 1));
    let answer = linear::product(call, shares, value)?;
    let wide = answer.dims()[3];
    one(match flat {
        true => answer.permuted(&[0, 2, 1, 3]).reshaped(&[rows, steps, count * wide])?,
        false => answer,
    })
}
