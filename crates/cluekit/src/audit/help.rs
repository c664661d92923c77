//! What would help: what the clues of the most uncertain inputs have in common, and what is learned for whole groups.

use super::amounts::{count, percent};
use super::findings::{Finding, NAMED};
use super::groups::{GroupCard, Groups};
use super::levers::Lever;
use super::{Audit, Card, CardClue, Gallery, Subject};
use crate::measure::Reach;

/// Changes of an example that the page shows.
const SHOWN: usize = 3;
/// What fewer clues have in common is no answer.
const ENOUGH: usize = 5;
const QUESTION: &str = "What would make it sure?";

/// For how many inputs a clue was found, and what is different there.
pub(super) fn what_would_help(gallery: &Gallery, audit: &Audit) -> Finding {
    let subject = &audit.subject;
    let (of, all) = (gallery.unsure().count(), gallery.cards.len());
    let explained: Vec<&Card> = gallery.unsure().filter(|card| card.explained).collect();
    let sure = match all - of {
        0 => String::new(),
        1 => " One more is shown, about which it is sure.".into(),
        sure => format!(" {} more are shown, about which it is sure.", count(sure)),
    };
    if of == 0 {
        let text = format!("It is unsure about none of the {}, so that none needs a clue.{sure}", subject.inputs(2));
        return Finding::new(QUESTION, "It is sure".into(), text);
    }
    let whose = match (&audit.uncertainty, all == of) {
        (None, _) => format!("explained {}", subject.inputs(of)),
        (_, true) => format!("most uncertain {}", subject.inputs(of)),
        (_, false) => format!("{} that the model is unsure about", subject.inputs(of)),
    };
    let whom = if of == 1 { format!("the {whose}") } else { format!("each of the {} {whose}", count(of)) };
    let found = match explained.len() {
        0 => "it found none".into(),
        every if every == of && of == 1 => "it found one".into(),
        every if every == of => format!("it found one for all {}", count(every)),
        some => format!("it found one for {} of them", count(some)),
    };
    let mut text = format!(
        "For {whom}, the computer looked for a changed version that the model is sure about (a clue): {found}."
    );
    let numbers = vec![("inputs with a clue".into(), explained.len() as f64), ("of inputs".into(), of as f64)];
    if explained.is_empty() {
        text += &format!(" The cards below say what to try.{sure}");
        return Finding::new(QUESTION, "Nothing was found".into(), text).with(numbers);
    }
    let levers = &gallery.levers[..gallery.levers.len().min(NAMED)];
    let named: Vec<String> = levers
        .iter()
        .map(|lever| format!("{} is {} ({} of {})", lever.feature, lever.to, count(lever.inputs), count(lever.of)))
        .collect();
    text += &match named.is_empty() {
        true => " The two side by side show what misleads the model. Even then its answer can be wrong.".into(),
        false => format!(
            " In these, {}{}. That shows what the model looks at; it is no advice.",
            named.join(", "),
            sure_of(&explained, subject)
        ),
    };
    text += &sure;
    let lever = levers.first().filter(|lever| lever.of >= ENOUGH);
    let answer = match lever {
        Some(lever) => {
            text.insert_str(0, &subject.meaning_of(&lever.feature));
            lever.headline()
        }
        None => format!("A changed {}, for {} of {}", subject.inputs(1), count(explained.len()), count(of)),
    };
    let example = example(&explained, lever);
    Finding { example, ..Finding::new(QUESTION, answer, text).with(numbers) }
}

/// Which class the model is sure of the most often.
fn sure_of(explained: &[&Card], subject: &Subject) -> String {
    let labels: Vec<&str> = explained.iter().filter_map(|card| Some(card.best()?.label.as_str())).collect();
    let often = |label: &str| labels.iter().filter(|other| **other == label).count();
    // The first of those that are as frequent.
    let most = labels.iter().rev().max_by_key(|label| often(label));
    match most.filter(|_| !subject.is_regression()) {
        Some(label) => {
            let (times, of) = (count(often(label)), count(labels.len()));
            format!(", and it is sure of {} ({times} of {of})", subject.class(label))
        }
        None => String::new(),
    }
}

/// Of the inputs whose clue shows the most frequent change, that whose clue changes the fewest features, and of these
/// costs least.
fn example(explained: &[&Card], lever: Option<&Lever>) -> Option<usize> {
    let best = explained.iter().filter_map(|card| Some((card.index, card.best()?)));
    let typical = |clue: &CardClue| lever.is_some_and(|lever| clue.changes.iter().take(SHOWN).any(|c| lever.is(c)));
    let simplest = best.min_by(|(_, a), (_, b)| {
        let order = (!typical(a), a.changes.len()).cmp(&(!typical(b), b.changes.len()));
        order.then(a.cost.total_cmp(&b.cost))
    });
    simplest.map(|(index, _)| index)
}

/// How far the learned changes of groups reach, at best and at worst, in words; empty if no group has inputs.
pub fn reach_in_words(groups: &Groups, subject: &Subject) -> String {
    let words = |(group, reach): &(&GroupCard, &Reach)| {
        let redrawn = group
            .certain_unchanged
            .map_or(String::new(), |share| format!(", against {} when they are only redrawn", percent(share)));
        let (inputs, whose) = (subject.inputs(reach.inputs), group.whose(subject));
        format!(
            "{} of {} uncertain {inputs}{whose} become certain{redrawn}",
            percent(reach.certain.mean),
            count(reach.inputs)
        )
    };
    match groups.by_reach(subject).as_slice() {
        [] => String::new(),
        [only] => format!("{}.", words(only)),
        [first, .., last] => format!("At best, {}. At worst, {}.", words(first), words(last)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{client, table};
    use super::*;

    #[test]
    fn the_example_shows_the_change_of_the_headline_and_few_others() {
        // Row 1 changes one feature, but not that of the headline; row 3 changes fewer than row 2.
        let [mut other, mut long, mut short] = [client(), client(), client()];
        (other.input.index, long.input.index, short.input.index) = (1, 2, 3);
        other.clues[0].changes.retain(|change| change.feature == "ZIP");
        short.clues[0].changes.retain(|change| change.feature != "ZIP");
        let gallery = Gallery::of(&[other, long, short], &table(), "∇-CLUE", None);
        let cards: Vec<&Card> = gallery.cards.iter().collect();
        let lever = |feature: &str| gallery.levers.iter().find(|lever| lever.feature == feature);
        assert_eq!(example(&cards, lever("PAY_0")), Some(3));
        assert_eq!(example(&cards, lever("ZIP")), Some(1));
        assert_eq!((example(&cards, None), example(&[], None)), (Some(1), None));
    }

    #[test]
    fn the_class_that_the_model_is_sure_of_the_most_often_is_named() {
        let explanations: Vec<_> = ["no", "yes", "yes"]
            .map(|class| {
                let mut explanation = client();
                explanation.clues[0].label = crate::explanation::Label::Class(usize::from(class == "yes"));
                explanation
            })
            .to_vec();
        let gallery = Gallery::of(&explanations, &table(), "∇-CLUE", None);
        let subject = Subject::new("run", "clients.csv", &table(), "test");
        let of = |cards: &[Card]| sure_of(&cards.iter().collect::<Vec<_>>(), &subject);
        assert_eq!(of(&gallery.cards), ", and it is sure of yes (2 of 3)");
        assert_eq!(of(&gallery.cards[..2]), ", and it is sure of no (1 of 2)");
        assert_eq!(of(&[]), "");
    }
}
