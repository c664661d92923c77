//! Sums of products of one or two tensors, said by letters: `bhid,bhjd->bhij`.

use super::{linear, one};
use crate::Outcome;
use crate::integers::span;
use crate::run::Call;
use crate::value::{Floats, Value};

/// A tensor whose axes have letters.
struct Lettered {
    floats: Floats,
    letters: Vec<char>,
}

impl Lettered {
    fn side(&self, letter: char) -> Option<usize> {
        let at = self.letters.iter().position(|&own| own == letter)?;
        Some(self.floats.dims()[at])
    }

    /// The axes in groups, each of which becomes one.
    fn grouped(self, groups: &[&[char]]) -> Outcome<Floats> {
        let order = groups.iter().flat_map(|group| group.iter());
        let axes = order.map(|letter| self.letters.iter().position(|own| own == letter));
        let axes: Vec<usize> = axes.collect::<Option<_>>().ok_or("a letter is on one side alone")?;
        let dims = self.floats.dims();
        let sides: Vec<usize> = axes.iter().map(|&axis| dims[axis]).collect();
        let mut start = 0;
        let merged = groups.iter().map(|group| {
            let side = span(&sides[start..start + group.len()]);
            start += group.len();
            side
        });
        let merged: Vec<usize> = merged.collect();
        self.floats.permuted(&axes).reshaped(&merged)
    }

    /// Without the axes that are not among the letters to keep.
    fn summed(mut self, keep: impl Fn(char) -> bool) -> Outcome<Self> {
        while let Some(at) = self.letters.iter().position(|&letter| !keep(letter)) {
            let mut dims = self.floats.dims();
            let inner = self.floats.inner(at);
            dims.remove(at);
            self.letters.remove(at);
            self.floats = self.floats.map(|block| block.sum_dim(inner)).reshaped(&dims)?;
        }
        Ok(self)
    }
}

pub(super) fn einsum(call: &mut Call) -> Outcome<Vec<Value>> {
    let equation: String = call.node.text("equation", "")?.split_whitespace().collect();
    let unsupported = || format!("the equation `{equation}` is not supported");
    let (left, right) = equation.split_once("->").ok_or_else(unsupported)?;
    let terms: Vec<Vec<char>> = left.split(',').map(|term| term.chars().collect()).collect();
    let wanted: Vec<char> = right.chars().collect();
    let twice = |letters: &[char]| letters.iter().enumerate().any(|(at, letter)| letters[..at].contains(letter));
    let lettered = terms.iter().chain([&wanted]).all(|term| term.iter().all(char::is_ascii_alphabetic) && !twice(term));
    if !lettered || terms.len() > 2 || terms.len() != call.inputs.len() {
        return Err(unsupported());
    }
    if wanted.iter().any(|letter| !terms.iter().any(|term| term.contains(letter))) {
        return Err(unsupported());
    }
    let mut operands = Vec::new();
    for (at, letters) in terms.into_iter().enumerate() {
        let floats = call.floats(at)?;
        if floats.rank != letters.len() {
            return Err(format!("a tensor {:?} does not fit to `{equation}`", floats.dims()));
        }
        operands.push(Lettered { floats, letters });
    }
    let Some(b) = (if operands.len() == 2 { operands.pop() } else { None }) else {
        let only = operands.remove(0).summed(|letter| wanted.contains(&letter))?;
        let groups: Vec<&[char]> = wanted.chunks(1).collect();
        return one(only.grouped(&groups)?);
    };
    let a = operands.remove(0);
    let (in_a, in_b) = (a.letters.clone(), b.letters.clone());
    let a = a.summed(|letter| wanted.contains(&letter) || in_b.contains(&letter))?;
    let b = b.summed(|letter| wanted.contains(&letter) || in_a.contains(&letter))?;
    for &letter in &a.letters {
        if let (Some(of_a), Some(of_b)) = (a.side(letter), b.side(letter))
            && of_a != of_b
        {
            return Err(format!("`{letter}` is {of_a} and {of_b}"));
        }
    }
    let pick = |letters: &[char], keep: &dyn Fn(char) -> bool| -> Vec<char> {
        letters.iter().copied().filter(|&letter| keep(letter)).collect()
    };
    let batch = pick(&a.letters, &|letter| in_b.contains(&letter) && wanted.contains(&letter));
    let inner = pick(&a.letters, &|letter| in_b.contains(&letter) && !wanted.contains(&letter));
    let rows = pick(&a.letters, &|letter| !in_b.contains(&letter));
    let columns = pick(&b.letters, &|letter| !in_a.contains(&letter));
    let made: Vec<char> = [batch.as_slice(), &rows, &columns].concat();
    let sides = made.iter().map(|&letter| a.side(letter).or(b.side(letter)));
    let sides: Vec<usize> = sides.collect::<Option<_>>().ok_or_else(unsupported)?;
    let product = linear::product(call, a.grouped(&[&batch, &rows, &inner])?, b.grouped(&[&batch, &inner, &columns])?)?;
    let product = Lettered { floats: product.reshaped(&sides)?, letters: made };
    let groups: Vec<&[char]> = wanted.chunks(1).collect();
    one(product.grouped(&groups)?)
}
