//! The most uncertain inputs, a card each: what the model says, and the clues that would make it certain.

use super::levers::Lever;
use super::thumbnail;
use crate::data::Schema;
use crate::explanation::{Clue, Explanation, Label, Original, Plausibility};
use crate::prediction::Amounts;
use serde::{Deserialize, Serialize};

/// Classes that are named beside a prediction.
const MOST_CLASSES: usize = 4;
/// A share below this rounds to nothing.
const LEAST_SHARE: f64 = 0.005;

/// Explained inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gallery {
    /// The method's name, as people read it: ∇-CLUE.
    pub method: String,
    /// Clues that were looked for, for each input.
    pub count: usize,
    /// One for each input, in the order in which they were given.
    pub cards: Vec<Card>,
    /// The changes that occur the most in the cheapest accepted clue of each input; empty for images.
    pub levers: Vec<Lever>,
}

/// One input with its clues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Its row.
    pub index: usize,
    /// What the model says: the name of a class, or a value.
    pub predicted: String,
    /// What is true, if it is known.
    pub target: Option<String>,
    /// Whether the class is right, where there is one and the true one is known.
    pub right: Option<bool>,
    /// The most probable classes; empty for a regression.
    pub probabilities: Vec<NamedShare>,
    /// How unsure the model is.
    pub uncertainty: Amounts,
    /// The aleatoric share of it, of the sum of both parts.
    pub aleatoric_share: f64,
    /// Whether a clue was accepted.
    pub explained: bool,
    /// The input as a picture: a PNG in base64.
    pub picture: Option<String>,
    /// What the generative model makes of it.
    pub reconstruction: Option<String>,
    /// Uncertainty of the reconstruction.
    pub reconstruction_uncertainty: f32,
    /// The features of a row of a table.
    pub features: Vec<NamedValue>,
    /// The accepted clues by rising cost, first one of each kind of change; then the rejected ones, the surest first.
    pub clues: Vec<CardClue>,
    /// For each class how near its certain clues are: 1 / cost², normalised.
    pub certain_as: Vec<NamedShare>,
    /// How many kinds of change the accepted clues make.
    pub modes: usize,
    /// What to try where none was accepted.
    pub advice: Option<String>,
}

/// A class and its share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedShare {
    /// What it is called.
    pub name: String,
    /// Between 0 and 1.
    pub share: f64,
}

/// A feature and its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedValue {
    /// The feature.
    pub name: String,
    /// Its value, as the data writes it.
    pub value: String,
    /// Whether it is a number, and not a category that may be written in digits.
    pub number: bool,
    /// Its unit.
    pub unit: Option<String>,
}

/// A clue on a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardClue {
    /// Its place among the clues as they were searched, counted from 1.
    pub number: usize,
    /// What the model says of it.
    pub label: String,
    /// How unsure the model is about it.
    pub uncertainty: Amounts,
    /// d, the distance from the input.
    pub distance: f32,
    /// ρ, the distance in latent space.
    pub latent_distance: f32,
    /// δ, the radius of the ball that it was searched in.
    pub delta: Option<f32>,
    /// L of Eq. 1.
    pub cost: f32,
    /// Whether the model is certain and every promise is kept.
    pub accepted: bool,
    /// Why not.
    pub reason: Option<String>,
    /// The kind of change that it makes, counted from 1; none of a rejected one.
    pub mode: Option<usize>,
    /// How ordinary it is among the training data.
    pub plausibility: Option<Plausibility>,
    /// What a row of a table changes, the largest change first.
    pub changes: Vec<CardChange>,
    /// The clue as a picture: a PNG in base64.
    pub picture: Option<String>,
    /// What differs from the input, red for added and blue for removed.
    pub difference: Option<String>,
}

/// A changed feature of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardChange {
    /// The feature.
    pub feature: String,
    /// The input's value.
    pub from: String,
    /// The clue's value.
    pub to: String,
    /// Whether they are numbers.
    pub number: bool,
    /// Their unit.
    pub unit: Option<String>,
    /// How large the change is: deviations of a number over the training rows, 1 for another category.
    pub size: f64,
    /// Whether a number grows; none for a category.
    pub up: Option<bool>,
}

impl Gallery {
    /// Cards for explanations of rows of `schema`.
    pub fn of(explanations: &[Explanation], schema: &Schema, method: &str, count: usize) -> Self {
        let cards: Vec<Card> = explanations.iter().map(|explanation| Card::of(explanation, schema)).collect();
        let levers = Lever::of(&cards);
        Self { method: method.into(), count, cards, levers }
    }

    /// How many inputs have an accepted clue.
    pub fn explained(&self) -> usize {
        self.cards.iter().filter(|card| card.explained).count()
    }
}

impl Card {
    fn of(explanation: &Explanation, schema: &Schema) -> Self {
        let Explanation { input, reconstruction, .. } = explanation;
        let classes = schema.target.task.classes();
        let named = |label: Label| super::super::wording::label(label, classes);
        let amounts = input.uncertainty;
        let both = f64::from(amounts.aleatoric) + f64::from(amounts.epistemic);
        let image = schema.image.as_ref();
        Self {
            index: input.index,
            predicted: named(input.label),
            target: input.target.map(named),
            right: match (input.label, input.target) {
                (Label::Class(label), Some(Label::Class(target))) => Some(label == target),
                _ => None,
            },
            probabilities: shares(input.probabilities.iter().map(|&p| f64::from(p)), classes),
            uncertainty: amounts,
            aleatoric_share: if both > 0.0 { f64::from(amounts.aleatoric) / both } else { 0.0 },
            explained: explanation.accepted().next().is_some(),
            picture: image.map(|image| thumbnail::picture(&input.x, image)),
            reconstruction: image.map(|image| thumbnail::picture(&reconstruction.x, image)),
            reconstruction_uncertainty: reconstruction.uncertainty.total,
            features: features(input, schema),
            clues: clues(explanation, schema),
            certain_as: shares(explanation.label_distribution.iter().flatten().copied(), classes),
            modes: explanation.modes.len(),
            advice: explanation.advice.clone(),
        }
    }

    /// The cheapest accepted clue.
    pub fn best(&self) -> Option<&CardClue> {
        self.clues.first().filter(|clue| clue.accepted)
    }
}

/// The greatest shares with their names.
fn shares(shares: impl Iterator<Item = f64>, classes: &[String]) -> Vec<NamedShare> {
    let mut all: Vec<(usize, f64)> = shares.enumerate().filter(|(_, share)| *share >= LEAST_SHARE).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named = |(class, share): (usize, f64)| NamedShare {
        name: super::super::wording::label(Label::Class(class), classes),
        share,
    };
    all.into_iter().take(MOST_CLASSES).map(named).collect()
}

fn features(input: &Original, schema: &Schema) -> Vec<NamedValue> {
    if schema.image.is_some() || input.x.len() != schema.width() {
        return vec![];
    }
    let values = schema.decode_row(&input.x);
    let named = |(feature, value): (&crate::data::Feature, &crate::data::Value)| NamedValue {
        name: feature.name.clone(),
        value: feature.show(value),
        number: feature.kind.scaling().is_some(),
        unit: feature.unit.clone(),
    };
    schema.features.iter().zip(&values).map(named).collect()
}

/// The accepted clues by rising cost, first one of each kind of change; then the rejected ones, the surest first.
fn clues(explanation: &Explanation, schema: &Schema) -> Vec<CardClue> {
    let mut order: Vec<usize> = (0..explanation.clues.len()).collect();
    let clue = |place: usize| &explanation.clues[place];
    order.sort_by(|&a, &b| clue(a).cost.total_cmp(&clue(b).cost).then(a.cmp(&b)));
    let kind = |place: usize| explanation.modes.iter().position(|mode| mode.clues.contains(&place));
    // How many cheaper clues make the same kind of change.
    let before = |at: usize| order[..at].iter().filter(|&&other| kind(other) == kind(order[at])).count();
    let mut ranked: Vec<(bool, usize, f32, usize)> = (0..order.len())
        .map(|at| match clue(order[at]) {
            accepted if accepted.accepted => (false, before(at), accepted.cost, order[at]),
            rejected => (true, 0, rejected.uncertainty.total, order[at]),
        })
        .collect();
    ranked.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)).then(a.3.cmp(&b.3)));
    let original = &explanation.input.x;
    let card = |place: usize| {
        let Clue { label, uncertainty, distance, cost, accepted, reason, plausibility, delta, x, .. } = clue(place);
        let image = schema.image.as_ref();
        CardClue {
            number: place + 1,
            label: super::super::wording::label(*label, schema.target.task.classes()),
            uncertainty: *uncertainty,
            distance: distance.input,
            latent_distance: distance.latent,
            delta: *delta,
            cost: *cost,
            accepted: *accepted,
            reason: reason.clone(),
            mode: kind(place).map(|mode| mode + 1),
            plausibility: *plausibility,
            changes: changes(clue(place), original, schema),
            picture: image.map(|image| thumbnail::picture(x, image)),
            difference: image.map(|image| thumbnail::difference(x, original, image)),
        }
    };
    ranked.into_iter().map(|(.., place)| card(place)).collect()
}

/// What a clue changes, the largest change first.
fn changes(clue: &Clue, original: &[f32], schema: &Schema) -> Vec<CardChange> {
    let columns = schema.columns();
    let change = |change: &crate::explanation::Change| {
        let place = schema.features.iter().position(|feature| feature.name == change.feature);
        let number = place.is_some_and(|place| schema.features[place].kind.scaling().is_some());
        let at = |x: &[f32]| place.and_then(|place| x.get(columns[place].start)).map_or(0.0, |&v| f64::from(v));
        let by = at(&clue.x) - at(original);
        CardChange {
            feature: change.feature.clone(),
            from: change.from.clone(),
            to: change.to.clone(),
            number,
            unit: change.unit.clone(),
            size: if number { by.abs() } else { 1.0 },
            up: number.then_some(by > 0.0),
        }
    };
    let mut changes: Vec<CardChange> = clue.changes.iter().map(change).collect();
    changes.sort_by(|a, b| b.size.total_cmp(&a.size));
    changes
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::{client, digits, house, table};
    use super::*;
    use crate::data::{Image, Schema, Task};

    #[test]
    fn changes_of_a_table_are_sorted_by_their_size_in_deviations() {
        let gallery = Gallery::of(&[client()], &table(), "∇-CLUE", 2);
        let card = &gallery.cards[0];
        assert_eq!((card.predicted.as_str(), card.target.as_deref(), card.right), ("no", Some("yes"), Some(false)));
        assert_eq!((card.explained, gallery.explained(), card.modes), (true, 1, 3));
        // LIMIT_BAL by 3 deviations, PAY_0 by −2, and another category counts as 1.
        let sizes: Vec<_> = card.clues[0].changes.iter().map(|c| (c.feature.as_str(), c.size, c.up)).collect();
        assert_eq!(sizes, [("LIMIT_BAL", 3.0, Some(true)), ("PAY_0", 2.0, Some(false)), ("ZIP", 1.0, None)]);
        assert_eq!(card.features[0].value, "20000");
        assert!(card.features[0].number && !card.features[2].number);
        assert_eq!(card.clues[1].reason.as_deref(), Some("uncertainty 0.45 is above the threshold 0.2"));
        assert_eq!(card.certain_as[0].name, "no");
    }

    #[test]
    fn accepted_clues_come_first_and_the_cheapest_of_them_leads() {
        let mut explanation = digits(3);
        explanation.clues[0].accepted = false;
        explanation.clues[2].cost = 0.5;
        let image = Image { channels: 1, height: 2, width: 2, maximum: 255.0 };
        let schema = Schema { image: Some(image), features: vec![], ..table() };
        let gallery = Gallery::of(&[explanation], &schema, "δ-CLUE", 3);
        let numbers: Vec<usize> = gallery.cards[0].clues.iter().map(|clue| clue.number).collect();
        assert_eq!(numbers, [3, 2, 1]);
        assert_eq!(gallery.cards[0].best().unwrap().number, 3);
        assert!(gallery.cards[0].clues.iter().all(|clue| clue.picture.is_some() && clue.difference.is_some()));
        assert!(gallery.cards[0].features.is_empty() && gallery.levers.is_empty());
    }

    #[test]
    fn a_value_is_neither_right_nor_wrong() {
        let scaling = *table().features[0].kind.scaling().unwrap();
        let mut schema = table();
        schema.target.task = Task::Regression(scaling);
        let card = &Gallery::of(&[house()], &schema, "CLUE", 1).cards[0];
        assert_eq!((card.right, card.probabilities.len(), card.features.len()), (None, 0, 0));
        assert_eq!(card.predicted.replace('\u{202f}', " "), "21 400");
    }
}
