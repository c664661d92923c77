//! Activations.

use super::one;
use crate::Outcome;
use crate::integers::{axis, broadcast};
use crate::run::Call;
use crate::value::{Block, Floats, Value};
use cluekit::tensor::{log_softmax as log_softmax_of, relu, sigmoid, softmax as softmax_of, softplus};
use std::f32::consts::{FRAC_1_SQRT_2, PI};

/// α (eˣ − 1) below 0, x above.
fn elu(x: Block, alpha: f32) -> Block {
    relu(x.clone()) + (x.clamp_max(0.0).exp() - 1.0) * alpha
}

/// An activation of one number.
pub(super) fn activation(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let node = call.node;
    let alpha = |default: f32| node.float("alpha", default);
    one(match node.operator.as_str() {
        "Relu" => x.map(relu),
        "LeakyRelu" => {
            let alpha = alpha(0.01)?;
            x.map(|x| relu(x.clone()) - relu(-x) * alpha)
        }
        "Elu" => {
            let alpha = alpha(1.0)?;
            x.map(|x| elu(x, alpha))
        }
        "Celu" => {
            let alpha = alpha(1.0)?;
            x.map(|x| relu(x.clone()) + ((x.clamp_max(0.0) / alpha).exp() - 1.0) * alpha)
        }
        "Selu" => {
            let (alpha, gamma) = (alpha(1.673_263_2)?, node.float("gamma", 1.050_701)?);
            x.map(|x| elu(x, alpha) * gamma)
        }
        "Sigmoid" => x.map(sigmoid),
        "Tanh" => x.map(Block::tanh),
        "Softplus" => x.map(|x| softplus(x, 1.0)),
        "Softsign" => x.map(|x| x.clone() / (x.abs() + 1.0)),
        "Gelu" => match node.text("approximate", "none")? {
            "tanh" => x.map(|x| {
                let inner = (x.clone() + x.clone() * x.clone() * x.clone() * 0.044_715) * (2.0 / PI).sqrt();
                x * (inner.tanh() + 1.0) * 0.5
            }),
            _ => x.map(|x| x.clone() * ((x * FRAC_1_SQRT_2).erf() + 1.0) * 0.5),
        },
        "HardSigmoid" => {
            let (alpha, beta) = (alpha(0.2)?, node.float("beta", 0.5)?);
            x.map(|x| (x * alpha + beta).clamp(0.0, 1.0))
        }
        "HardSwish" => x.map(|x| x.clone() * (x / 6.0 + 0.5).clamp(0.0, 1.0)),
        "Mish" => x.map(|x| x.clone() * softplus(x, 1.0).tanh()),
        "ThresholdedRelu" => {
            let alpha = alpha(1.0)?;
            x.map(|x| x.clone() * x.greater_scalar(alpha).float())
        }
        "Swish" => {
            let alpha = alpha(1.0)?;
            x.map(|x| x.clone() * sigmoid(x * alpha))
        }
        "Shrink" => {
            let (bias, lambda) = (node.float("bias", 0.0)?, node.float("lambd", 0.5)?);
            x.map(|x| {
                let above = x.clone().greater_scalar(lambda).float();
                let below = x.clone().lower_scalar(-lambda).float();
                (x.clone() - bias) * above + (x + bias) * below
            })
        }
        other => return Err(format!("`{other}` is no activation")),
    })
}

pub(super) fn prelu(call: &mut Call) -> Outcome<Vec<Value>> {
    let (x, slope) = (call.floats(0)?, call.floats(1)?);
    if broadcast(&x.dims(), &slope.dims())? != x.dims() {
        return Err(format!("slopes {:?} do not fit to {:?}", slope.dims(), x.dims()));
    }
    one(Floats { block: relu(x.block.clone()) - relu(-x.block) * slope.block, rank: x.rank })
}

/// Along one axis; before version 13 along all axes from there on, as one.
fn along(call: &mut Call, apply: fn(Block, usize) -> Block) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let since_13 = call.node.version >= 13;
    let dims = x.dims();
    let axis = axis(call.node.integer("axis", if since_13 { -1 } else { 1 })?, dims.len().max(1))?;
    if since_13 || axis + 1 >= dims.len() {
        let inner = x.inner(axis).min(crate::value::RANK - 1);
        return one(x.map(|x| apply(x, inner)));
    }
    let merged = [&dims[..axis], &[dims[axis..].iter().product()]].concat();
    one(x.reshaped(&merged)?.map(|x| apply(x, crate::value::RANK - 1)).reshaped(&dims)?)
}

pub(super) fn softmax(call: &mut Call) -> Outcome<Vec<Value>> {
    along(call, softmax_of)
}

pub(super) fn log_softmax(call: &mut Call) -> Outcome<Vec<Value>> {
    along(call, log_softmax_of)
}
