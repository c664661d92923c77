//! Products of matrices.

use super::one;
use crate::Outcome;
use crate::integers::{broadcast, span};
use crate::run::Call;
use crate::value::{Floats, RANK, Value, block_sides};
use burn_tensor::Tensor;

/// a · b over the last two axes, the others broadcast.
pub(super) fn product(call: &Call, a: Floats, b: Floats) -> Outcome<Floats> {
    let (mut a, mut b) = (a, b);
    let (vector_left, vector_right) = (a.rank == 1, b.rank == 1);
    if a.rank == 0 || b.rank == 0 {
        return Err("a single number is no matrix".into());
    }
    if vector_left {
        a = Floats { rank: 2, ..a };
    }
    if vector_right {
        let length = b.dims()[0];
        b = b.reshaped(&[length, 1])?;
    }
    let (left, right) = (a.dims(), b.dims());
    let (rows, inner) = (left[left.len() - 2], left[left.len() - 1]);
    let (inner_right, columns) = (right[right.len() - 2], right[right.len() - 1]);
    if inner != inner_right {
        return Err(format!("matrices {left:?} and {right:?} cannot be multiplied"));
    }
    let outer = broadcast(&left[..left.len() - 2], &right[..right.len() - 2])?;
    let members = a.members().max(b.members());
    let dims = [outer.as_slice(), &[rows, columns]].concat();
    block_sides(members, &dims)?;
    call.spend(&[members, span(&outer), rows, inner, columns])?;
    let (of_a, of_b) = (a.members(), b.members());
    let product = if right.len() == 2 {
        // One matrix for all: their rows are one matrix.
        let rows = span(&left[..left.len() - 1]);
        let flat: Tensor<3> = a.block.reshape([of_a, rows, inner]);
        Floats::from(flat.matmul(b.block.reshape([of_b, inner, columns])), members, &dims)?
    } else if left[..left.len() - 2] == right[..right.len() - 2] {
        let batch = span(&outer);
        let a: Tensor<4> = a.block.reshape([of_a, batch, rows, inner]);
        Floats::from(a.matmul(b.block.reshape([of_b, batch, inner, columns])), members, &dims)?
    } else {
        Floats { block: a.block.matmul(b.block), rank: dims.len() }
    };
    let mut dims = dims;
    if vector_left {
        dims.remove(dims.len() - 2);
    }
    if vector_right {
        dims.pop();
    }
    if vector_left || vector_right { product.reshaped(&dims) } else { Ok(product) }
}

pub(super) fn matmul(call: &mut Call) -> Outcome<Vec<Value>> {
    let (a, b) = (call.floats(0)?, call.floats(1)?);
    one(product(call, a, b)?)
}

/// α A B + β C, with A and B transposed where it is said.
pub(super) fn gemm(call: &mut Call) -> Outcome<Vec<Value>> {
    let (a, b) = (call.floats(0)?, call.floats(1)?);
    if a.rank != 2 || b.rank != 2 {
        return Err(format!("matrices are expected, not {:?} and {:?}", a.dims(), b.dims()));
    }
    let merged = |floats: Floats, transposed: bool| -> Tensor<3> {
        let [members, .., rows, columns] = floats.block.dims();
        let merged: Tensor<3> = floats.block.reshape([members, rows, columns]);
        if transposed { merged.swap_dims(1, 2) } else { merged }
    };
    let (a, b) = (merged(a, call.node.flag("transA", false)?), merged(b, call.node.flag("transB", false)?));
    let ([of_a, rows, inner], [of_b, inner_right, columns]) = (a.dims(), b.dims());
    if inner != inner_right {
        return Err(format!("matrices {:?} and {:?} cannot be multiplied", [rows, inner], [inner_right, columns]));
    }
    let members = of_a.max(of_b);
    block_sides(members, &[rows, columns])?;
    call.spend(&[members, rows, inner, columns])?;
    let (alpha, beta) = (call.node.float("alpha", 1.0)?, call.node.float("beta", 1.0)?);
    let is_one = |number: f32| (number - 1.0).abs() <= 0.0;
    let mut product = a.matmul(b);
    if !is_one(alpha) {
        product = product * alpha;
    }
    if call.has(2) {
        let c = call.floats(2)?;
        if broadcast(&[rows, columns], &c.dims())? != [rows, columns] {
            return Err(format!("{:?} cannot be added to {:?}", c.dims(), [rows, columns]));
        }
        let sides = c.block.dims();
        let c: Tensor<3> = c.block.reshape([sides[0], sides[RANK - 2], sides[RANK - 1]]);
        product = product + if is_one(beta) { c } else { c * beta };
    }
    let members = product.dims()[0];
    one(Floats::from(product, members, &[rows, columns])?)
}
