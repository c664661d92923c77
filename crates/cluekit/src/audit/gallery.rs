//! The most uncertain inputs, a card each: what the model says, and the clues that would make it certain.

use super::levers::Lever;
use super::rows::{aleatoric_share, parts};
use crate::data::{RowName, Schema};
use crate::explanation::{Agreement, Clue, Explanation, FoundBy, Label, Original, Plausibility};
use crate::prediction::UncertaintyParts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Classes that are named beside a prediction.
const MOST_CLASSES: usize = 4;
/// A share below this rounds to nothing.
const LEAST_SHARE: f64 = 0.005;

/// Explained inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Gallery {
    /// Name of the method, as people read it: ∇-CLUE.
    pub method: String,
    /// The cards, one for each input, in the order in which the inputs were given.
    pub cards: Vec<Card>,
    /// The changes in the first accepted clues of inputs that the model is unsure about, the most frequent first; empty for
    /// images.
    pub levers: Vec<Lever>,
}

/// One input with its clues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Row of the input in its split, counted from 0.
    pub index: usize,
    /// Row of the file that the input came from, with its identifier; none where rows have no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<RowName>,
    /// What the model predicts: the name of a class, or a value.
    pub predicted: String,
    /// True class or value, in words; none if it is unknown.
    pub target: Option<String>,
    /// Whether the predicted class is right; none for a regression, or if the true class is unknown.
    pub right: Option<bool>,
    /// The most probable classes, and one share for all others; empty for a regression.
    pub probabilities: Vec<NamedShare>,
    /// Uncertainty of the prediction.
    pub uncertainty: UncertaintyParts,
    /// Whether the model counts as unsure about the input; none without a known limit.
    pub unsure: Option<bool>,
    /// Aleatoric share of the uncertainty, between 0 and 1; for a regression the share of the variance.
    pub aleatoric_share: f64,
    /// Whether a clue was accepted.
    pub explained: bool,
    /// The input as a picture, a PNG in base64, once somebody has drawn it.
    pub picture: Option<String>,
    /// The reconstruction as a picture, a PNG in base64, once somebody has drawn it.
    pub reconstruction: Option<String>,
    /// Total uncertainty of the reconstruction.
    pub reconstruction_uncertainty: f32,
    /// The features of a row of a table, with their values; empty for images.
    pub features: Vec<NamedValue>,
    /// The accepted clues by rising cost, those of a portfolio in its order, first one of each kind of change; then the
    /// rejected ones, the surest first.
    pub clues: Vec<CardClue>,
    /// Factor by which the first ball was widened, because it held no clue; none if it was kept.
    pub widened: Option<u32>,
    /// Number of candidates that are missing here, because their search left the finite numbers.
    pub lost: usize,
    /// For each class how near its certain clues are: 1 / cost², normalised to sum to 1.
    pub certain_as: Vec<NamedShare>,
    /// Number of kinds of change among the accepted clues.
    pub modes: usize,
    /// What to try, in words, if no clue was accepted.
    pub advice: Option<String>,
}

/// The name of a class with a share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NamedShare {
    /// Name of the class.
    pub name: String,
    /// Share of the class, between 0 and 1.
    pub share: f64,
}

/// A feature and its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NamedValue {
    /// Name of the feature.
    pub name: String,
    /// Value of the feature, as the data writes it.
    pub value: String,
    /// Whether the value is a number; a category written in digits is not one.
    pub number: bool,
    /// Unit of the value; none if the schema names none.
    pub unit: Option<String>,
}

/// A clue on a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CardClue {
    /// Number of the clue in the order of the search, counted from 1.
    pub number: usize,
    /// What the model predicts for the clue: the name of a class, or a value.
    pub label: String,
    /// Uncertainty of the prediction for the clue.
    pub uncertainty: UncertaintyParts,
    /// Distance d_x from the input.
    pub distance: f32,
    /// Latent distance ρ from the input.
    pub latent_distance: f32,
    /// Radius δ of the ball that the clue was searched in; none for an unbounded search.
    pub delta: Option<f32>,
    /// Objective L of Eq. 1.
    pub cost: f32,
    /// Whether the clue is accepted: the model is certain, and ball and constraints are respected.
    pub accepted: bool,
    /// Why the clue was rejected; none for an accepted one.
    pub reason: Option<String>,
    /// Number of the kind of change that the clue makes, counted from 1; none for a rejected one.
    pub mode: Option<usize>,
    /// How usual the clue is among the training data; none if nobody asked.
    pub plausibility: Option<Plausibility>,
    /// Whether the clue is odder than nearly all training rows; none for images, and where nobody asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub odd: Option<bool>,
    /// What predictors that had no part in training the model say of the clue; none without a jury.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
    /// Whether no single change can be taken back without the model getting uncertain; none where it was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimal: Option<bool>,
    /// What found the clue where a portfolio was asked; none for a descent alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<FoundBy>,
    /// Changed features of a row of a table, the largest change first; empty for images.
    pub changes: Vec<CardChange>,
    /// The clue as a picture: a PNG in base64.
    pub picture: Option<String>,
    /// Differences from the input as a PNG in base64: red for added, blue for removed.
    pub difference: Option<String>,
}

/// A changed feature of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CardChange {
    /// Name of the feature.
    pub feature: String,
    /// Value of the feature in the input.
    pub from: String,
    /// Value of the feature in the clue.
    pub to: String,
    /// Whether the feature is a number.
    pub number: bool,
    /// Unit of both values; none if the schema names none.
    pub unit: Option<String>,
    /// Size of the change: standard deviations over the training rows for a number, 1 for another category.
    pub size: f64,
    /// Whether a number grows; none for a category.
    pub up: Option<bool>,
}

impl Gallery {
    /// Cards for explanations of rows of `schema`, about which a model is unsure above `unsure_above`, if that is known.
    pub fn of(explanations: &[Explanation], schema: &Schema, method: &str, unsure_above: Option<f32>) -> Self {
        let card = |explanation| Card::of(explanation, schema, unsure_above);
        let cards: Vec<Card> = explanations.iter().map(card).collect();
        let levers = Lever::of(&cards);
        Self { method: method.into(), cards, levers }
    }

    /// Cards of the inputs that the model may be unsure about.
    pub fn unsure(&self) -> impl Iterator<Item = &Card> {
        self.cards.iter().filter(|card| card.counts())
    }

    /// Number of candidates of each input, in words.
    pub fn candidates(&self) -> String {
        let counts = || self.cards.iter().map(|card| card.clues.len().saturating_add(card.lost));
        match (counts().min().unwrap_or(0), counts().max().unwrap_or(0)) {
            (1, 1) => "one candidate".into(),
            (least, most) if least == most => format!("{most} candidates"),
            (least, most) => format!("{least} to {most} candidates"),
        }
    }

    /// Whether clues were searched within a distance δ.
    pub fn is_within_balls(&self) -> bool {
        self.clues().any(|clue| clue.delta.is_some())
    }

    /// Whether some clue tells how usual it is among the training data.
    pub fn tells_plausibility(&self) -> bool {
        self.clues().any(|clue| clue.plausibility.is_some())
    }

    /// Whether clues were also looked for beside the search.
    pub fn has_portfolio(&self) -> bool {
        self.clues().any(|clue| clue.found_by.is_some())
    }

    /// Of the first accepted clues, how many every judge is certain about, and how many were judged.
    pub fn believed(&self) -> (usize, usize) {
        let judged = || self.unsure().filter_map(Card::best).filter_map(|clue| clue.agreement.as_ref());
        (judged().filter(|agreement| agreement.share >= 1.0).count(), judged().count())
    }

    fn clues(&self) -> impl Iterator<Item = &CardClue> {
        self.cards.iter().flat_map(|card| &card.clues)
    }
}

impl Card {
    fn of(explanation: &Explanation, schema: &Schema, unsure_above: Option<f32>) -> Self {
        let Explanation { input, reconstruction, .. } = explanation;
        let classes = schema.target.task.classes();
        let named = |label: Label| crate::wording::label(label, classes);
        let amounts = input.uncertainty;
        let of_value = schema.target.task.is_regression();
        let clues = clues(explanation, schema);
        Self {
            index: input.index,
            name: input.name.clone(),
            predicted: named(input.label),
            target: input.target.map(named),
            right: match (input.label, input.target) {
                (Label::Class(label), Some(Label::Class(target))) => Some(label == target),
                _ => None,
            },
            probabilities: shares(input.probabilities.iter().map(|&p| f64::from(p)), classes),
            uncertainty: amounts,
            unsure: unsure_above.map(|above| amounts.total > above),
            aleatoric_share: aleatoric_share([parts(amounts, of_value)].into_iter()).unwrap_or(0.0),
            explained: clues.first().is_some_and(|clue| clue.accepted),
            picture: None,
            reconstruction: None,
            reconstruction_uncertainty: reconstruction.uncertainty.total,
            features: features(input, schema),
            lost: explanation.clues.len() - clues.len(),
            clues,
            widened: None,
            certain_as: shares(explanation.label_distribution.iter().flatten().copied(), classes),
            modes: explanation.modes.len(),
            advice: explanation.advice.as_ref().map(ToString::to_string),
        }
    }

    /// Whether there is something to explain: all inputs except those that the model is sure about.
    pub fn counts(&self) -> bool {
        self.unsure != Some(false)
    }

    /// The best accepted clue of the input: the cheapest, or the first of a portfolio, which is believed if one is.
    pub fn best(&self) -> Option<&CardClue> {
        self.clues.first().filter(|clue| clue.accepted)
    }
}

/// The greatest shares with their names, and what is left for the others.
fn shares(shares: impl Iterator<Item = f64>, classes: &[String]) -> Vec<NamedShare> {
    let mut all: Vec<(usize, f64)> = shares.enumerate().filter(|(_, share)| *share >= LEAST_SHARE).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let others: f64 = all.iter().skip(MOST_CLASSES).map(|(_, share)| share).sum();
    let named =
        |(class, share): (usize, f64)| NamedShare { name: crate::wording::label(Label::Class(class), classes), share };
    let rest = (others > 0.0).then(|| NamedShare { name: "others".into(), share: others });
    all.into_iter().take(MOST_CLASSES).map(named).chain(rest).collect()
}

fn features(input: &Original, schema: &Schema) -> Vec<NamedValue> {
    if schema.image.is_some() || input.x.len() != schema.width() {
        return vec![];
    }
    let values = schema.decode_row(&input.x);
    let named = |(feature, value): (&crate::data::Feature, &crate::data::Value)| NamedValue {
        name: feature.name.clone(),
        value: feature.show(value),
        number: !feature.kind.is_written_in_words() && !feature.is_missing(value),
        unit: feature.unit.clone(),
    };
    schema.features.iter().zip(&values).map(named).collect()
}

/// The accepted clues by rising cost, those of a portfolio in its order, first one of each kind of change; then the rejected
/// ones, the surest first.
fn clues(explanation: &Explanation, schema: &Schema) -> Vec<CardClue> {
    let clue = |place: usize| &explanation.clues[place];
    let mut order: Vec<usize> = (0..explanation.clues.len()).filter(|&place| is_finite(clue(place))).collect();
    // A portfolio has put its clues in order: those that are believed, and of these the cheapest.
    let in_order = explanation.clues.iter().any(|clue| clue.found_by.is_some());
    let cost = |place: usize| if in_order { place as f32 } else { clue(place).cost };
    order.sort_by(|&a, &b| cost(a).total_cmp(&cost(b)).then(a.cmp(&b)));
    let kinds = kinds(explanation);
    // How many cheaper clues make the same kind of change.
    let mut before: BTreeMap<Option<usize>, usize> = BTreeMap::new();
    let mut rank = |place: usize| match clue(place) {
        accepted if accepted.accepted => {
            let count = before.entry(kinds[place]).or_default();
            *count += 1;
            (false, *count, cost(place), place)
        }
        rejected => (true, 0, rejected.uncertainty.total, place),
    };
    let mut ranked: Vec<(bool, usize, f32, usize)> = order.into_iter().map(&mut rank).collect();
    ranked.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)).then(a.3.cmp(&b.3)));
    let original = &explanation.input.x;
    let card = |place: usize| {
        let clue = clue(place);
        let Clue { label, uncertainty, distance, cost, accepted, reason, plausibility, delta, .. } = clue;
        let beside = clue.found_by.is_some();
        CardClue {
            number: place + 1,
            label: crate::wording::label(*label, schema.target.task.classes()),
            uncertainty: *uncertainty,
            distance: distance.input,
            latent_distance: distance.latent,
            delta: *delta,
            cost: *cost,
            accepted: *accepted,
            reason: reason.as_ref().map(ToString::to_string),
            mode: kinds[place].map(|mode| mode + 1),
            plausibility: *plausibility,
            odd: plausibility.filter(|_| beside).map(|plausibility| plausibility.is_odd()),
            agreement: clue.agreement.clone(),
            minimal: clue.minimal,
            found_by: clue.found_by,
            changes: changes(clue, original, schema),
            picture: None,
            difference: None,
        }
    };
    ranked.into_iter().map(|(.., place)| card(place)).collect()
}

/// For each clue the kind of change that it makes.
fn kinds(explanation: &Explanation) -> Vec<Option<usize>> {
    let mut kinds = vec![None; explanation.clues.len()];
    for (kind, mode) in explanation.modes.iter().enumerate() {
        for &place in &mode.clues {
            if let Some(of_clue) = kinds.get_mut(place) {
                of_clue.get_or_insert(kind);
            }
        }
    }
    kinds
}

/// Whether every number of a clue can be written down.
fn is_finite(clue: &Clue) -> bool {
    let UncertaintyParts { total, aleatoric, epistemic } = clue.uncertainty;
    [total, aleatoric, epistemic, clue.distance.input, clue.distance.latent, clue.cost]
        .iter()
        .chain(&clue.x)
        .all(|number| number.is_finite())
}

/// What a clue changes, the largest change first.
fn changes(clue: &Clue, original: &[f32], schema: &Schema) -> Vec<CardChange> {
    let columns = schema.columns();
    let change = |change: &crate::explanation::Change| {
        let place = schema.features.iter().position(|feature| feature.name == change.feature);
        let number = place.is_some_and(|place| schema.features[place].kind.scaling().is_some());
        let at = |x: &[f32]| place.and_then(|place| x.get(columns[place].start)).map_or(0.0, |&v| f64::from(v));
        let filled_in = place.is_some_and(|place| columns[place].is_missing(original));
        let number = number && !filled_in;
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
    use super::super::fixture::{client, digits, house, table};
    use super::*;
    use crate::data::{Image, Schema, Task};
    use crate::explanation::Verdict;

    #[test]
    fn changes_of_a_table_are_sorted_by_their_size_in_deviations() {
        let gallery = Gallery::of(&[client()], &table(), "∇-CLUE", None);
        let card = &gallery.cards[0];
        assert_eq!((card.predicted.as_str(), card.target.as_deref(), card.right), ("no", Some("yes"), Some(false)));
        assert_eq!((card.explained, card.unsure, card.modes), (true, None, 3));
        // LIMIT_BAL by 3 deviations, PAY_0 by −2, and another category counts as 1.
        let sizes: Vec<_> = card.clues[0].changes.iter().map(|c| (c.feature.as_str(), c.size, c.up)).collect();
        assert_eq!(sizes, [("LIMIT_BAL", 3.0, Some(true)), ("PAY_0", 2.0, Some(false)), ("ZIP", 1.0, None)]);
        assert_eq!(card.features[0].value, "20000");
        assert!(card.features[0].number && !card.features[2].number);
        assert_eq!(card.clues[1].reason.as_deref(), Some("uncertainty 0.450 is not below 0.2"));
        assert_eq!(card.certain_as[0].name, "no");
    }

    #[test]
    fn accepted_clues_come_first_and_the_cheapest_of_them_leads() {
        let mut explanation = digits(3);
        explanation.clues[0].accepted = false;
        explanation.clues[2].cost = 0.5;
        let image = Image { channels: 1, height: 2, width: 2, maximum: 255.0 };
        let schema = Schema { image: Some(image), features: vec![], ..table() };
        let gallery = Gallery::of(&[explanation], &schema, "δ-CLUE", None);
        let numbers: Vec<usize> = gallery.cards[0].clues.iter().map(|clue| clue.number).collect();
        assert_eq!(numbers, [3, 2, 1]);
        assert_eq!(gallery.cards[0].best().unwrap().number, 3);
        assert!(gallery.cards[0].features.is_empty() && gallery.levers.is_empty());
    }

    #[test]
    fn a_value_is_neither_right_nor_wrong() {
        let scaling = *table().features[0].kind.scaling().unwrap();
        let mut schema = table();
        schema.target.task = Task::Regression(scaling);
        let card = &Gallery::of(&[house()], &schema, "CLUE", None).cards[0];
        assert_eq!((card.right, card.probabilities.len(), card.features.len()), (None, 0, 0));
        assert_eq!(card.predicted.replace('\u{202f}', " "), "21 400");
    }

    #[test]
    fn inputs_that_the_model_is_sure_about_do_not_count() {
        let mut sure = client();
        sure.input.uncertainty.total = 0.4;
        let gallery = Gallery::of(&[client(), sure], &table(), "∇-CLUE", Some(0.5));
        assert_eq!([gallery.cards[0].unsure, gallery.cards[1].unsure], [Some(true), Some(false)]);
        assert_eq!((gallery.unsure().count(), gallery.levers[0].inputs, gallery.levers[0].of), (1, 1, 1));
    }

    #[test]
    fn a_clue_without_finite_numbers_is_left_out_and_counted() {
        let mut explanation = client();
        explanation.clues[1].cost = f32::NAN;
        explanation.clues.push(explanation.clues[0].clone());
        explanation.clues[2].uncertainty.epistemic = f32::INFINITY;
        let card = &Gallery::of(&[explanation], &table(), "∇-CLUE", None).cards[0];
        assert_eq!((card.clues.len(), card.lost), (1, 2));
        let again: Card = serde_json::from_str(&serde_json::to_string(card).unwrap()).unwrap();
        assert_eq!(*card, again);
    }

    #[test]
    fn a_thousand_clues_are_a_card_in_a_moment_one_of_each_kind_first() {
        let mut explanation = digits(1000);
        for (place, clue) in explanation.clues.iter_mut().enumerate() {
            clue.cost = place as f32;
        }
        let mode = |clues: Vec<usize>| crate::explanation::Mode { label: None, best: clues[0], clues, changes: vec![] };
        explanation.modes = vec![mode((0..500).collect()), mode((500..1000).collect())];
        let schema = Schema { features: vec![], ..table() };
        let card = &Gallery::of(&[explanation], &schema, "δ-CLUE", None).cards[0];
        let first: Vec<_> = card.clues[..4].iter().map(|clue| (clue.number, clue.mode)).collect();
        assert_eq!(first, [(1, Some(1)), (501, Some(2)), (2, Some(1)), (502, Some(2))]);
    }

    #[test]
    fn clues_of_a_portfolio_keep_their_order_and_say_what_judges_say() {
        let verdict = |certain| Verdict { juror: "trees".into(), asked: false, uncertainty: 0.1, certain };
        let mut explanation = client();
        let found = Clue { found_by: Some(FoundBy::Scan), minimal: Some(true), ..explanation.clues[0].clone() };
        let plausibility = |elbo| Some(Plausibility { reconstruction: 0.5, elbo: Some(elbo) });
        let agreement = |certain| Some(Agreement::of(vec![verdict(certain)]));
        let believed = Clue { cost: 2.0, agreement: agreement(true), plausibility: plausibility(0.3), ..found.clone() };
        let doubted = Clue { cost: 1.0, agreement: agreement(false), plausibility: plausibility(0.01), ..found };
        explanation.clues = vec![believed, doubted];
        let gallery = Gallery::of(&[explanation], &table(), "∇-CLUE", None);
        let card = &gallery.cards[0];
        let told: Vec<_> = card.clues.iter().map(|clue| (clue.number, clue.odd, clue.minimal)).collect();
        assert_eq!(
            told,
            [(1, Some(false), Some(true)), (2, Some(true), Some(true))],
            "the believed one, and not the cheapest"
        );
        assert_eq!((gallery.believed(), gallery.has_portfolio()), ((1, 1), true));
        let again: Card = serde_json::from_str(&serde_json::to_string(card).unwrap()).unwrap();
        assert_eq!(*card, again);
    }

    #[test]
    fn classes_beyond_the_most_probable_ones_are_summed_up() {
        let classes: Vec<String> = (0..6).map(|class| class.to_string()).collect();
        let listed = shares([0.4, 0.2, 0.15, 0.15, 0.06, 0.04].into_iter(), &classes);
        let last = listed.last().unwrap();
        assert_eq!((listed.len(), last.name.as_str()), (5, "others"));
        assert!((last.share - 0.1).abs() < 1e-12);
        assert_eq!(shares([0.5, 0.5].into_iter(), &classes).len(), 2);
    }

    #[test]
    fn the_number_of_candidates_is_what_the_cards_hold() {
        let candidates = |counts: &[usize]| {
            let explanations: Vec<_> = counts.iter().map(|&count| digits(count)).collect();
            Gallery::of(&explanations, &Schema { features: vec![], ..table() }, "CLUE", None).candidates()
        };
        assert_eq!(candidates(&[1, 1]), "one candidate");
        assert_eq!(candidates(&[3, 3]), "3 candidates");
        assert_eq!(candidates(&[1, 4, 2]), "1 to 4 candidates");
    }
}
