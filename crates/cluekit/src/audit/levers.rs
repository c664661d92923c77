//! Which changes of a table help again and again.

use super::gallery::{Card, CardChange};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A change of fewer deviations is no reason for anything.
const NOTABLE: f64 = 0.1;
/// Of each clue, its largest changes count.
const LARGEST: usize = 5;

/// A feature that the first accepted clues change in the same direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Lever {
    /// Name of the feature.
    pub feature: String,
    /// Direction of the change: `lower`, `higher`, or the new category.
    pub to: String,
    /// Whether the feature is a number.
    pub number: bool,
    /// Number of inputs whose first accepted clue has this change among its largest ones.
    pub inputs: usize,
    /// Number of inputs with an accepted clue, without those that the model is sure about.
    pub of: usize,
    /// Mean size of the change: standard deviations over the training rows for a number, 1 for a category.
    pub size: f64,
}

impl Lever {
    /// The repeated changes on these cards, the most frequent first.
    pub fn of(cards: &[Card]) -> Vec<Self> {
        let best: Vec<_> = cards.iter().filter(|card| card.counts()).filter_map(Card::best).collect();
        let mut found: BTreeMap<(String, String), (usize, f64, bool)> = BTreeMap::new();
        for change in best.iter().flat_map(|clue| clue.changes.iter().take(LARGEST)) {
            if change.size < NOTABLE {
                continue;
            }
            let place = (change.feature.clone(), to(change).to_owned());
            let (count, sum, _) = found.entry(place).or_insert((0, 0.0, change.number));
            *count += 1;
            *sum += change.size;
        }
        let lever = |((feature, to), (inputs, sum, number)): ((String, String), (usize, f64, bool))| Self {
            feature,
            to,
            number,
            inputs,
            of: best.len(),
            size: sum / inputs as f64,
        };
        let mut levers: Vec<Self> = found.into_iter().map(lever).collect();
        levers.sort_by(|a, b| b.inputs.cmp(&a.inputs).then(b.size.total_cmp(&a.size)));
        levers
    }

    /// Whether a change is one of those that it counts.
    pub(super) fn is(&self, change: &CardChange) -> bool {
        self.feature == change.feature && self.to == to(change) && change.size >= NOTABLE
    }

    /// `If PAY_0 were lower`, `If EDUCATION were 3`.
    pub(super) fn headline(&self) -> String {
        format!("If {} were {}", self.feature, self.to)
    }
}

/// `lower`, `higher`, or the category that it becomes.
fn to(change: &CardChange) -> &str {
    match change.up {
        Some(true) => "higher",
        Some(false) => "lower",
        None => &change.to,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Gallery;
    use super::super::fixture::{client, table};
    use super::*;

    #[test]
    fn a_change_that_two_inputs_share_comes_before_larger_ones_of_one() {
        let mut other = client();
        other.clues[0].changes.remove(0);
        let levers = Gallery::of(&[client(), other], &table(), "∇-CLUE", None).levers;
        let words: Vec<_> = levers.iter().map(|lever| (lever.headline(), lever.inputs, lever.of)).collect();
        let expected = [("If PAY_0 were lower", 2, 2), ("If ZIP were 20095", 2, 2), ("If LIMIT_BAL were higher", 1, 2)];
        assert_eq!(words, expected.map(|(words, inputs, of)| (words.to_owned(), inputs, of)));
        assert_eq!(Lever::of(&[]), []);
    }
}
