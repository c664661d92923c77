//! Words and codes to columns, to numbers, and to each other.

use super::{Value, one};
use crate::Outcome;
use crate::constant::Elements;
use crate::node::{Attribute, Node};
use crate::run::Call;
use crate::value::{Floats, block_sides};
use crate::words::Words;
use cluekit::tensor::{Tensor, tensor, values};
use std::collections::HashMap;

/// What is looked up: words, or numbers by their bits, of which both zeros are one and all that are no numbers too.
enum Keys {
    Words(HashMap<String, usize>),
    Numbers(HashMap<u32, usize>),
}

fn bits(number: f32) -> u32 {
    if number.is_nan() { f32::NAN.to_bits() } else { (number + 0.0).to_bits() }
}

impl Keys {
    /// Of a key that occurs twice the first counts.
    fn words(words: &[String]) -> Self {
        Self::Words(words.iter().cloned().enumerate().rev().map(|(at, word)| (word, at)).collect())
    }

    fn numbers(numbers: impl DoubleEndedIterator<Item = f32> + ExactSizeIterator) -> Self {
        Self::Numbers(numbers.enumerate().rev().map(|(at, number)| (bits(number), at)).collect())
    }

    fn word(&self, word: &str) -> Outcome<Option<usize>> {
        match self {
            Self::Words(words) => Ok(words.get(word).copied()),
            Self::Numbers(_) => Err("is given words, and has numbers as keys".into()),
        }
    }

    fn number(&self, number: f32) -> Outcome<Option<usize>> {
        match self {
            Self::Numbers(numbers) => Ok(numbers.get(&bits(number)).copied()),
            Self::Words(_) => Err("is given numbers, and has words as keys".into()),
        }
    }

    /// The place of the key at each place of a value, member after member.
    fn places(&self, value: &Value) -> Outcome<Vec<Option<usize>>> {
        match value {
            Value::Words(words) => words.map(|word| self.word(word)),
            other => values(other.clone().floats()?.block).into_iter().map(|number| self.number(number)).collect(),
        }
    }
}

/// One column for each category.
pub(super) fn one_hot_encoder(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let (keys, count) = match (call.node.texts("cats_strings")?, call.node.integers("cats_int64s")?) {
        (Some(words), _) if !words.is_empty() => (Keys::words(words), words.len()),
        (_, Some(numbers)) => (Keys::numbers(numbers.iter().map(|&number| number as f32)), numbers.len()),
        _ => return Err("has neither `cats_strings` nor `cats_int64s`".into()),
    };
    let dims = [value.dims()?, vec![count]].concat();
    if let Value::Categories(categories) = &value {
        let column = |(first, column): &(i64, Tensor<2>)| {
            mapped(&keys, *first, column, count, |place, at| f32::from(u8::from(place == Some(at))))
        };
        let columns = categories.each().map(column).collect::<Outcome<Vec<_>>>()?;
        return one(Floats::from(Tensor::cat(columns, 1), 1, &dims)?);
    }
    let members = if let Value::Floats(floats) = &value { floats.members() } else { 1 };
    let sides = block_sides(members, &dims)?;
    let places = keys.places(&value)?;
    if !call.node.flag("zeros", true)? && places.contains(&None) {
        return Err("is given a category that is not among its own, and `zeros` is 0".into());
    }
    let mut columns = vec![0.0; places.len() * count];
    for (row, place) in places.into_iter().enumerate() {
        if let Some(place) = place {
            columns[row * count + place] = 1.0;
        }
    }
    one(Floats { block: tensor(columns, sides), rank: dims.len() })
}

/// One-hot columns that may be relaxed, times what becomes of each of their numbers.
fn mapped(
    keys: &Keys,
    first: i64,
    column: &Tensor<2>,
    count: usize,
    made: impl Fn(Option<usize>, usize) -> f32,
) -> Outcome<Tensor<2>> {
    let numbers = column.dims()[1];
    block_sides(1, &[numbers, count])?;
    let mut table = Vec::with_capacity(numbers * count);
    for at in 0..numbers {
        let place = keys.number((first.saturating_add(at as i64)) as f32)?;
        table.extend((0..count).map(|target| made(place, target)));
    }
    Ok(column.clone().matmul(tensor(table, [numbers, count])))
}

/// What becomes of a key, by its place, and of what is no key.
enum Becomes {
    Words(Vec<String>, String),
    Numbers(Vec<f32>, f32),
}

/// A list among the settings, as words or as numbers; `tensor` is the name of its form as a tensor.
fn list(node: &Node, names: [&str; 3], tensor: &str) -> Option<Elements> {
    let named = names.iter().find_map(|name| match node.attributes.get(*name)? {
        Attribute::Texts(words) => Some(Elements::Words(words.clone())),
        Attribute::Integers(numbers) => Some(Elements::Integers(numbers.clone())),
        Attribute::Floats(numbers) => Some(Elements::Floats(numbers.clone())),
        _ => None,
    });
    named.or_else(|| match node.attributes.get(tensor)? {
        Attribute::Constant(constant) => Some(constant.elements.clone()),
        _ => None,
    })
}

/// The same list of another kind: keys and values of `LabelEncoder`, classes of its first version, those of `CategoryMapper`.
fn table(node: &Node, takes_words: bool) -> Outcome<(Keys, Becomes)> {
    let keys = list(node, ["keys_strings", "keys_int64s", "keys_floats"], "keys_tensor");
    let values = list(node, ["values_strings", "values_int64s", "values_floats"], "values_tensor");
    let classes = list(node, ["classes_strings", "cats_strings", "cats_strings"], "");
    let (keys, values) = match (keys, values, classes) {
        (Some(keys), Some(values), _) => (keys, values),
        (_, _, Some(Elements::Words(words))) => {
            let codes = match list(node, ["cats_int64s"; 3], "") {
                Some(codes) => codes,
                None => Elements::Integers((0..words.len() as i64).collect()),
            };
            if takes_words { (Elements::Words(words), codes) } else { (codes, Elements::Words(words)) }
        }
        _ => return Err("has no keys and values".into()),
    };
    let count = |elements: &Elements| match elements {
        Elements::Words(all) => all.len(),
        Elements::Integers(all) => all.len(),
        Elements::Floats(all) => all.len(),
    };
    if count(&keys) != count(&values) {
        return Err(format!("has {} keys and {} values", count(&keys), count(&values)));
    }
    let other = match node.attributes.get("default_tensor") {
        Some(Attribute::Constant(constant)) => Some(&constant.elements),
        _ => None,
    };
    let becomes = match (values, other) {
        (Elements::Words(words), Some(Elements::Words(other))) if other.len() == 1 => {
            Becomes::Words(words, other[0].clone())
        }
        (Elements::Words(words), _) => Becomes::Words(words, node.text("default_string", "_Unused")?.into()),
        (Elements::Integers(numbers), other) => {
            let other = match other {
                Some(Elements::Integers(other)) if other.len() == 1 => other[0],
                _ => node.integer("default_int64", -1)?,
            };
            Becomes::Numbers(numbers.into_iter().map(|number| number as f32).collect(), other as f32)
        }
        (Elements::Floats(numbers), other) => {
            let other = match other {
                Some(Elements::Floats(other)) if other.len() == 1 => other[0],
                _ => node.float("default_float", 0.0)?,
            };
            Becomes::Numbers(numbers, other)
        }
    };
    let keys = match keys {
        Elements::Words(words) => Keys::words(&words),
        Elements::Integers(numbers) => Keys::numbers(numbers.into_iter().map(|number| number as f32)),
        Elements::Floats(numbers) => Keys::numbers(numbers.into_iter()),
    };
    Ok((keys, becomes))
}

/// `LabelEncoder` and `CategoryMapper`: another value for each.
pub(super) fn label_encoder(call: &mut Call) -> Outcome<Vec<Value>> {
    let value = call.value(0)?;
    let (keys, becomes) = table(call.node, matches!(value, Value::Words(_)))?;
    let dims = value.dims()?;
    match (&value, becomes) {
        (Value::Categories(categories), Becomes::Numbers(numbers, other)) => {
            let column = |(first, column): &(i64, Tensor<2>)| {
                mapped(&keys, *first, column, 1, |place, _| place.map_or(other, |place| numbers[place]))
            };
            let columns = categories.each().map(column).collect::<Outcome<Vec<_>>>()?;
            one(Floats::from(Tensor::cat(columns, 1), 1, &dims)?)
        }
        (_, Becomes::Numbers(numbers, other)) => {
            let members = if let Value::Floats(floats) = &value { floats.members() } else { 1 };
            let sides = block_sides(members, &dims)?;
            let made = keys.places(&value)?.into_iter().map(|place| place.map_or(other, |place| numbers[place]));
            one(Floats { block: tensor(made.collect(), sides), rank: dims.len() })
        }
        (_, Becomes::Words(words, other)) => {
            let places = keys.places(&value)?;
            if places.len() != crate::integers::span(&dims) {
                return Err("words for several members are not supported".into());
            }
            let made = places.into_iter().map(|place| place.map_or(other.clone(), |place| words[place].clone()));
            Ok(vec![Value::Words(Words::new(dims, made.collect()))])
        }
    }
}
