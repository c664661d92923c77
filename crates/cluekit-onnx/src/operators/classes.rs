//! Classifiers: probabilities, and the labels of the largest.

use super::Value;
use crate::Outcome;
use crate::node::Node;
use crate::run::Call;
use crate::trees::Post;
use crate::value::{Block, Floats, RANK};
use crate::words::Words;
use burn_tensor::activation;
use cluekit::tensor::{tensor, values};

/// Names of the classes among the settings of a classifier, under their older and newer names.
fn names(node: &Node) -> Outcome<Vec<String>> {
    if let Some(words) = node.texts("classlabels_strings")?.filter(|words| !words.is_empty()) {
        return Ok(words.to_vec());
    }
    let numbers = match node.integers("classlabels_ints")? {
        Some(numbers) => Some(numbers),
        None => node.integers("classlabels_int64s")?,
    };
    Ok(numbers.unwrap_or(&[]).iter().map(ToString::to_string).collect())
}

/// The labels, where somebody takes them, and the scores.
pub(super) fn labelled(call: &Call, scores: Floats, classes: &[String]) -> Outcome<Vec<Value>> {
    if call.node.outputs.first().is_none_or(Option::is_none) {
        // Nobody reads the first.
        return Ok(vec![Value::Floats(scores.clone()), Value::Floats(scores)]);
    }
    let dims = scores.dims();
    let (members, width) = (scores.members(), dims.last().copied().unwrap_or(1));
    if width != classes.len() {
        return Err(format!("gives {width} scores, and has labels for {}", classes.len()));
    }
    let numbers = values(scores.block.clone());
    let largest = numbers.chunks_exact(width).map(|row| (0..width).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])));
    let places: Vec<usize> = largest.map(|place| place.unwrap_or(0)).collect();
    let numbers: Option<Vec<f32>> = classes.iter().map(|name| name.parse().ok()).collect();
    let rows = dims[..dims.len() - 1].to_vec();
    let labels = match numbers {
        Some(numbers) => {
            let sides = crate::value::block_sides(members, &rows)?;
            let labels = places.into_iter().map(|place| numbers[place]).collect();
            Value::Floats(Floats { block: tensor(labels, sides), rank: rows.len() })
        }
        None if members == 1 => {
            Value::Words(Words::new(rows, places.into_iter().map(|place| classes[place].clone()).collect()))
        }
        None => return Err("labels in words of several members are not supported".into()),
    };
    Ok(vec![labels, Value::Floats(scores)])
}

/// The coefficients of a linear model: `[features, answers]`, and where the answers begin.
fn linear(call: &mut Call) -> Outcome<Floats> {
    let x = call.floats(0)?;
    let coefficients = call.node.floats("coefficients")?.ok_or("has no `coefficients`")?;
    let dims = x.dims();
    let [rows, width] = match dims[..] {
        [width] => [1, width],
        [rows, width] => [rows, width],
        _ => return Err(format!("rows of numbers are expected, not {dims:?}")),
    };
    let count = coefficients.len() / width;
    if count == 0 || count * width != coefficients.len() {
        return Err(format!("`coefficients` has {} entries, and a row {width} values", coefficients.len()));
    }
    let intercepts = match call.node.floats("intercepts")? {
        None | Some([]) => vec![0.0; count],
        Some(own) if own.len() == count => own.to_vec(),
        Some(own) => return Err(format!("`intercepts` has {} entries, and there are {count} answers", own.len())),
    };
    let turned = (0..width).flat_map(|column| (0..count).map(move |row| coefficients[row * width + column])).collect();
    let weights = Floats::constant(&[width, count], turned)?;
    let sums = super::linear::product(call, x.reshaped(&[rows, width])?, weights)?;
    let intercepts = Floats::constant(&[1, count], intercepts)?;
    Ok(sums.map(|block| block + intercepts.block))
}

fn post(node: &Node) -> Outcome<Post> {
    Post::of(node.text("post_transform", "NONE")?)
}

pub(super) fn linear_classifier(call: &mut Call) -> Outcome<Vec<Value>> {
    let scores = linear(call)?;
    let classes = names(call.node)?;
    let post = post(call.node)?;
    let is_single = classes.len() == 2 && scores.dims()[1] == 1;
    let scores = scores.map(|scores| match (post, is_single) {
        (Post::Logistic, true) => pair(activation::sigmoid(-scores.clone()), activation::sigmoid(scores)),
        (_, true) => pair(-scores.clone() + 1.0, scores),
        (Post::Logistic, false) => activation::sigmoid(scores),
        (Post::Softmax, false) => activation::softmax(scores, RANK - 1),
        (_, false) => scores,
    });
    match post {
        Post::None | Post::Logistic | Post::Softmax => labelled(call, scores, &classes),
        Post::SoftmaxZero | Post::Probit => Err("its `post_transform` is not supported".into()),
    }
}

fn pair(first: Block, second: Block) -> Block {
    Block::cat(vec![first, second], RANK - 1)
}

pub(super) fn linear_regressor(call: &mut Call) -> Outcome<Vec<Value>> {
    let scores = linear(call)?;
    match post(call.node)? {
        Post::None => super::one(scores),
        _ => Err("its `post_transform` is not supported".into()),
    }
}

/// A map from labels to scores is read as the scores.
pub(super) fn zip_map(call: &mut Call) -> Outcome<Vec<Value>> {
    let scores = call.floats(0)?;
    match scores.rank {
        1 => {
            let width = scores.dims()[0];
            super::one(scores.reshaped(&[1, width])?)
        }
        _ => super::one(scores),
    }
}
