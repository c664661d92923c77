//! Dropout and random numbers, drawn once and for all: a draw of the function, not of each answer.
//!
//! One mask serves all rows and all steps, so that an answer changes smoothly with its row.

use super::one;
use crate::Outcome;
use crate::run::{Call, Draws};
use crate::value::{Block, Floats, Value, block_sides};
use cluekit::seed::Seed;
use cluekit::tensor::tensor;
use rand::RngExt;
use std::sync::PoisonError;

/// What a node draws, of this shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) dims: Vec<usize>,
    pub(crate) law: Law,
}

/// A law of random numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    /// 0 with probability p, 1 / (1 − p) otherwise.
    Dropout(f32),
    /// Uniform from one end to the other.
    Uniform(f32, f32),
    /// Normal, with mean and deviation.
    Normal(f32, f32),
}

impl Law {
    fn draw(self, rng: &mut cluekit::seed::Rng) -> f32 {
        let uniform: f32 = rng.random();
        match self {
            Self::Dropout(p) => {
                if uniform < p {
                    0.0
                } else {
                    1.0 / (1.0 - p)
                }
            }
            Self::Uniform(low, high) => low + (high - low) * uniform,
            Self::Normal(mean, deviation) => {
                // Box and Muller; 1 − u is never 0.
                let angle = std::f32::consts::TAU * rng.random::<f32>();
                mean + deviation * (-2.0 * (1.0 - uniform).ln()).sqrt() * angle.cos()
            }
        }
    }
}

impl Wanted {
    /// Draws for `samples` samples, each from a stream of this name.
    pub(crate) fn draw(&self, samples: usize, seed: Seed, stream: &str) -> Outcome<Block> {
        let sides = block_sides(samples, &self.dims)?;
        let count: usize = self.dims.iter().product();
        let mut numbers = Vec::with_capacity(count * samples);
        for sample in 0..samples {
            let mut rng = seed.numbered(stream, sample as u64);
            numbers.extend((0..count).map(|_| self.law.draw(&mut rng)));
        }
        Ok(tensor(numbers, sides))
    }
}

/// What was drawn for this node; none where nothing has been drawn yet.
fn drawn(call: &Call, dims: Vec<usize>, law: Law) -> Outcome<Option<Floats>> {
    let rank = dims.len();
    match call.draws {
        Draws::None => Ok(None),
        Draws::Noted(noted) => {
            noted.lock().unwrap_or_else(PoisonError::into_inner).insert(call.at, Wanted { dims, law });
            Ok(None)
        }
        Draws::Fixed(all) => {
            let block = all.get(&call.at).ok_or("nothing was drawn for it")?;
            Ok(Some(Floats { block: block.clone(), rank }))
        }
    }
}

/// Each side of the draw is that of the input, or 1.
fn fitting(drawn: &Floats, x: &[usize]) -> Outcome<()> {
    match drawn.dims().iter().zip(x).all(|(own, side)| *own == 1 || own == side) {
        true => Ok(()),
        false => Err(format!("its input is {x:?}, and its mask {:?}", drawn.dims())),
    }
}

pub(super) fn dropout(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.value(0)?;
    let mut outputs = vec![];
    if call.node.outputs.len() > 1 {
        let dims = x.dims()?;
        outputs.push(Value::Mask(crate::value::Mask::of(Floats::full(&dims, 1.0)?)));
    }
    if matches!(call.draws, Draws::None) {
        outputs.insert(0, x);
        return Ok(outputs);
    }
    let ratio = match call.has(1) {
        true => call.numbers(1)?.first().copied().unwrap_or(0.5),
        false => call.node.float("ratio", 0.5)?,
    };
    if !(0.0..1.0).contains(&ratio) {
        return Err(format!("its ratio is {ratio}"));
    }
    let x = x.floats()?;
    let dims = x.dims();
    let dropped = match drawn(call, dims.clone(), Law::Dropout(ratio))? {
        Some(mask) => {
            fitting(&mask, &dims)?;
            block_sides(mask.members().max(x.members()), &dims)?;
            Floats { block: x.block * mask.block, rank: x.rank }
        }
        None => x,
    };
    outputs.insert(0, Value::Floats(dropped));
    Ok(outputs)
}

/// Random numbers in the shape of an input; the same along its rows.
fn like(call: &mut Call, law: Law) -> Outcome<Floats> {
    let dims = call.value(0)?.dims()?;
    if matches!(call.draws, Draws::None) {
        return Err("it draws at random: ask for samples of dropout".into());
    }
    match drawn(call, dims.clone(), law)? {
        Some(drawn) => {
            fitting(&drawn, &dims)?;
            let members = drawn.members();
            block_sides(members, &dims)?;
            drawn.expanded(&dims)
        }
        None => Floats::full(&dims, 0.5),
    }
}

pub(super) fn bernoulli(call: &mut Call) -> Outcome<Vec<Value>> {
    let p = call.inputs.first().cloned().flatten().ok_or("its input 0 is missing")?.floats()?;
    let uniform = like(call, Law::Uniform(0.0, 1.0))?;
    let (rank, members) = (p.rank, uniform.members().max(p.members()));
    let (uniform, p) = (uniform.of_members(members)?, p.of_members(members)?);
    one(Floats { block: uniform.block.lower(p.block).float(), rank })
}

pub(super) fn uniform_like(call: &mut Call) -> Outcome<Vec<Value>> {
    let (low, high) = (call.node.float("low", 0.0)?, call.node.float("high", 1.0)?);
    one(like(call, Law::Uniform(low, high))?)
}

pub(super) fn normal_like(call: &mut Call) -> Outcome<Vec<Value>> {
    let (mean, deviation) = (call.node.float("mean", 0.0)?, call.node.float("scale", 1.0)?);
    one(like(call, Law::Normal(mean, deviation))?)
}
