//! Words as values: each place has the number of a word in a table, so that words move as whole numbers do.

use crate::Outcome;
use crate::integers::{Integers, span};
use std::collections::HashMap;
use std::sync::Arc;

/// Words with sides, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    /// Which word is where.
    places: Integers,
    table: Arc<[String]>,
}

impl Words {
    /// As many words as the sides span.
    pub(crate) fn new(dims: Vec<usize>, words: Vec<String>) -> Self {
        debug_assert_eq!(span(&dims), words.len(), "as many words as the sides span");
        let mut numbers: HashMap<String, i64> = HashMap::new();
        let (mut table, mut places) = (Vec::new(), Vec::with_capacity(words.len()));
        for word in words {
            let number = numbers.get(&word).copied().unwrap_or_else(|| {
                table.push(word.clone());
                numbers.insert(word, table.len() as i64 - 1);
                table.len() as i64 - 1
            });
            places.push(number);
        }
        Self { places: Integers::new(dims, places), table: table.into() }
    }

    pub(crate) fn dims(&self) -> &[usize] {
        &self.places.dims
    }

    pub(crate) fn len(&self) -> usize {
        self.places.data.len()
    }

    /// What a function makes of the word at each place; it is asked once for each word.
    pub(crate) fn map<T: Copy>(&self, change: impl Fn(&str) -> Outcome<T>) -> Outcome<Vec<T>> {
        let made = self.table.iter().map(|word| change(word)).collect::<Outcome<Vec<T>>>()?;
        Ok(self.places.data.iter().map(|&place| made[place as usize]).collect())
    }

    /// The word at each place.
    pub(crate) fn each(&self) -> impl Iterator<Item = &str> {
        self.places.data.iter().map(|&place| self.table[place as usize].as_str())
    }

    pub(crate) fn moved(&self, change: impl FnOnce(&Integers) -> Outcome<Integers>) -> Outcome<Self> {
        Ok(Self { places: change(&self.places)?, table: self.table.clone() })
    }

    /// Words of equal sides, except for `axis`.
    pub(crate) fn joined(all: &[Self], axis: usize) -> Outcome<Self> {
        let (mut table, mut places) = (Vec::new(), Vec::with_capacity(all.len()));
        for part in all {
            let before = table.len() as i64;
            places.push(part.places.map(|place| place + before));
            table.extend(part.table.iter().cloned());
        }
        Ok(Self { places: Integers::joined(&places, axis)?, table: table.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(dims: Vec<usize>, words: &[&str]) -> Words {
        Words::new(dims, words.iter().map(|word| (*word).into()).collect())
    }

    fn listed(words: &Words) -> Vec<usize> {
        words.map(|word| Ok(word.len())).unwrap()
    }

    #[test]
    fn words_move_as_numbers_do() {
        let both = words(vec![2, 2], &["a", "bb", "ccc", "a"]);
        assert_eq!(listed(&both), [1, 2, 3, 1]);
        assert_eq!(listed(&both.moved(|places| places.permuted(&[1, 0])).unwrap()), [1, 3, 2, 1]);
        let wide = Words::joined(&[both.clone(), words(vec![2, 1], &["bb", "dddd"])], 1).unwrap();
        assert_eq!((wide.dims(), listed(&wide)), (&[2, 3][..], vec![1, 2, 2, 3, 1, 4]));
        assert_eq!(wide.each().collect::<Vec<_>>(), ["a", "bb", "bb", "ccc", "a", "dddd"]);
    }
}
