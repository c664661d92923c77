//! What would help: what the clues of the most uncertain inputs have in common, and what is learned for whole groups.

use super::amounts::{count, percent};
use super::findings::{Finding, NAMED};
use super::groups::{GroupCard, Groups};
use super::{Audit, Card, Gallery, Subject};
use crate::measure::Reach;

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
        "For {whom}, the computer tried to make up a similar one that the model is sure about (a clue): {found}."
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
        true => " The two side by side show what misleads the model. A sure answer can still be wrong.".into(),
        false => format!(" In these, {}. That shows what the model goes by; it is no advice.", named.join(", ")),
    };
    text += &sure;
    let answer = match levers.first() {
        Some(lever) if lever.of >= ENOUGH => lever.headline(),
        _ => format!("Found for {} of {}", count(explained.len()), count(of)),
    };
    Finding { example: example(&explained), ..Finding::new(QUESTION, answer, text).with(numbers) }
}

/// The input whose clue changes the fewest features, and of these costs least.
fn example(explained: &[&Card]) -> Option<usize> {
    let best = explained.iter().filter_map(|card| Some((card.index, card.best()?)));
    let simplest = best.min_by(|(_, a), (_, b)| a.changes.len().cmp(&b.changes.len()).then(a.cost.total_cmp(&b.cost)));
    simplest.map(|(index, _)| index)
}

/// How far what is learned for groups reaches, at best and at worst; nothing where no group has inputs.
pub(super) fn reach_in_words(groups: &Groups, subject: &Subject) -> String {
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
