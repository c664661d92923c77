//! Trees in a network: `TreeEnsembleClassifier`, `TreeEnsembleRegressor` and `TreeEnsemble`.
//!
//! Their answers are steps: no gradient leads back through them.

use super::Value;
use super::classes::labelled;
use crate::Outcome;
use crate::run::Call;
use crate::value::{Floats, block_sides};
use cluekit::tensor::{tensor, values};

pub(super) fn trees(call: &mut Call) -> Outcome<Vec<Value>> {
    let trees = call.node.trees().ok_or("its trees were not read")?.clone();
    let x = call.floats(0)?;
    let (rows, width) = match x.dims()[..] {
        [width] => (1, width),
        [rows, width] => (rows, width),
        _ => return Err(format!("rows of numbers are expected, not {:?}", x.dims())),
    };
    if width < trees.needs() {
        let (needs, last) = (trees.needs(), trees.needs() - 1);
        return Err(format!("`nodes_featureids` asks for feature {last} of {needs}, and a row has {width} values"));
    }
    let (own, members, answers) = (x.members(), trees.members(), trees.answers());
    if own > 1 && members > 1 {
        return Err("its rows differ between members already, which groups of trees cannot".into());
    }
    let dims = [rows, answers];
    let sides = block_sides(own * members, &dims)?;
    call.spend(&[rows, trees.size()])?;
    let numbers = values(x.block);
    let made: Vec<f32> = numbers.chunks(rows * width).flat_map(|x| trees.answer(x, width)).collect();
    let answers = Floats { block: tensor(made, sides), rank: dims.len() };
    match call.node.operator.as_str() {
        "TreeEnsembleClassifier" => labelled(call, answers, &trees.classes),
        _ => super::one(answers),
    }
}
