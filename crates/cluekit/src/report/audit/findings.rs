//! What an audit says in plain words: a question, the number that answers it, and what the number means.

use super::super::wording::{figures, grouped};
use super::bands::FeatureBand;
use super::groups::GroupCard;
use super::rows::share;
use super::story::FigureNumber;
use super::tally::Tally;
use super::{Audit, Card, Gallery, Subject, Trust, Whereabouts};
use crate::measure::{ClassifierHealth, PredictorHealth, Reach, RegressorHealth};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Groups and changes that a sentence names.
const NAMED: usize = 3;
/// The interval of a regression that a sentence tells of.
const INTERVAL: f64 = 0.9;

/// One answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// What was asked.
    pub question: String,
    /// The number, or the name, that answers it.
    pub answer: String,
    /// What it means.
    pub text: String,
    /// The numbers of both, as they are before they are rounded.
    pub numbers: Vec<FigureNumber>,
}

/// The answers that an audit has, in the order in which a person asks.
pub(super) fn findings(audit: &Audit) -> Vec<Finding> {
    let subject = &audit.subject;
    let mut found = Vec::new();
    if let (Some(trust), Some(whereabouts)) = (&audit.trust, &audit.uncertainty) {
        found.push(how_good(trust, whereabouts, subject));
    }
    if let Some(whereabouts) = &audit.uncertainty {
        found.push(how_often_unsure(&whereabouts.tally, subject));
        found.extend(about_what(whereabouts));
        found.extend(which_kind(&whereabouts.tally, subject));
    }
    found.extend(what_would_help(audit));
    found.extend(audit.trust.as_ref().map(can_it_be_trusted));
    found
}

fn finding(question: &str, answer: String, text: String, numbers: Vec<(String, f64)>) -> Finding {
    let number = |(name, value)| FigureNumber { name, value };
    Finding { question: question.into(), answer, text, numbers: numbers.into_iter().map(number).collect() }
}

fn how_good(trust: &Trust, Whereabouts { tally, classes, .. }: &Whereabouts, subject: &Subject) -> Finding {
    let rows = format!("{} {} inputs", count(tally.rows), subject.split);
    match &trust.health.predictor {
        PredictorHealth::Classifier(ClassifierHealth { error, .. }) => {
            let right = percent(1.0 - error);
            let mut text = format!(
                "The model is right about {right} of {rows}, and wrong about {}.",
                count(tally.wrong.unwrap_or(0))
            );
            let mut numbers = vec![("share right".into(), 1.0 - error)];
            // A share of right answers says little where one class is frequent, and hides the classes that suffer.
            if let Some(largest) = classes.iter().max_by_key(|class| class.rows) {
                let always = share(largest.rows, tally.rows);
                text += &format!(" Always answering {} would be right about {}.", largest.name, percent(always));
                numbers.push((format!("share right when always answering {}", largest.name), always));
            }
            let worst = classes.iter().max_by(|a, b| a.error.total_cmp(&b.error));
            if let Some(worst) = worst.filter(|worst| worst.error > 0.0) {
                text += &format!(" It errs most about {}: {} of these are wrong.", worst.name, percent(worst.error));
            }
            finding("How good is it?", right, text, numbers)
        }
        PredictorHealth::Regressor(RegressorHealth { rmse, .. }) => {
            let off = amount(*rmse, subject);
            let text = format!("That is how far its values are off on {rows} (root mean squared error).");
            finding("How good is it?", format!("± {off}"), text, vec![("root mean squared error".into(), *rmse)])
        }
    }
}

fn how_often_unsure(tally: &Tally, subject: &Subject) -> Finding {
    let part = share(tally.unsure, tally.rows);
    let above = subject
        .unsure_above
        .map_or(String::new(), |above| format!(" (uncertainty above {}{})", figures(above, 3), subject.unit_behind()));
    let mut sentences = vec![format!("It is unsure about {} of them{above}.", count(tally.unsure))];
    let mut numbers = vec![("share unsure".into(), part)];
    if let (Some(wrong @ 1..), Some(of_unsure), 1..) = (tally.wrong, tally.wrong_unsure, tally.unsure) {
        let of_errors = share(of_unsure, wrong);
        sentences.push(format!("Of its errors, {} are among these.", percent(of_errors)));
        numbers.push(("share of its errors among the unsure".into(), of_errors));
    }
    if let (Some(unsure), Some(sure)) = (tally.error_unsure, tally.error_sure) {
        sentences.push(match subject.is_regression() {
            true => format!(
                "There its values are off by {}, elsewhere by {}.",
                amount(unsure, subject),
                amount(sure, subject)
            ),
            false => format!(
                "It is wrong about {} of those that it is unsure about, and about {} of the others.",
                percent(unsure),
                percent(sure)
            ),
        });
    }
    finding("How often is it unsure?", percent(part), sentences.join(" "), numbers)
}

fn about_what(whereabouts: &Whereabouts) -> Option<Finding> {
    let question = "What is it unsure about?";
    let (tally, bands) = (&whereabouts.tally, leading_bands(&whereabouts.bands));
    let overall = share(tally.unsure, tally.rows);
    if let Some(first) = bands.first() {
        let named: Vec<String> =
            bands.iter().map(|band| format!("{} ({})", band.condition, percent(band.unsure_share))).collect();
        let text = format!(
            "It is unsure about {} of the rows where {}, and about {} of all rows. The groups with the most unsure rows \
             beyond their share: {}.",
            percent(first.unsure_share),
            first.condition,
            percent(overall),
            named.join("; ")
        );
        return Some(finding(question, first.condition.clone(), text, vec![("share unsure".into(), overall)]));
    }
    let first = whereabouts.hesitations.first()?;
    let [a, b] = &first.classes;
    let others: Vec<String> = whereabouts.hesitations[1..]
        .iter()
        .take(NAMED - 1)
        .map(|pair| format!("{} and {} ({})", pair.classes[0], pair.classes[1], count(pair.rows)))
        .collect();
    let then = if others.is_empty() { String::new() } else { format!(" Then {}.", others.join(", ")) };
    let text = format!(
        "Most often it hesitates between {a} and {b}: {} of the {} inputs that it is unsure about.{then}",
        count(first.rows),
        count(tally.unsure)
    );
    Some(finding(question, format!("{a} or {b}"), text, vec![]))
}

/// The groups with the greatest excess, one of each feature.
fn leading_bands(bands: &[FeatureBand]) -> Vec<&FeatureBand> {
    let mut leading: Vec<&FeatureBand> = Vec::new();
    for band in bands.iter().filter(|band| band.excess > 0.0) {
        if leading.len() < NAMED && leading.iter().all(|other| other.feature != band.feature) {
            leading.push(band);
        }
    }
    leading
}

fn which_kind(tally: &Tally, subject: &Subject) -> Option<Finding> {
    let question = "Would more data help?";
    let aleatoric = tally.aleatoric_share_unsure?;
    if !subject.tells_kinds() {
        let text =
            "from one network: it cannot tell inputs that are ambiguous from inputs of which it has seen too few. \
                    Several networks that may disagree can, such as an ensemble."
                .into();
        return Some(finding(question, "Not known".into(), text, vec![]));
    }
    let epistemic = 1.0 - aleatoric;
    let text = match aleatoric >= 0.5 {
        true => format!(
            "of the uncertainty about inputs that it is unsure about is, by the model's own estimate, aleatoric: they are \
             ambiguous, and more rows of the same kind would not help; other information about them might. The other {} is \
             epistemic: more rows like them could lower it.",
            percent(epistemic)
        ),
        false => format!(
            "of the uncertainty about inputs that it is unsure about is, by the model's own estimate, epistemic: it has \
             seen too little like them, and more such rows would help. The other {} is aleatoric: they are ambiguous.",
            percent(aleatoric)
        ),
    };
    let numbers = vec![("aleatoric share".into(), aleatoric), ("epistemic share".into(), epistemic)];
    Some(finding(question, percent(aleatoric.max(epistemic)), text, numbers))
}

fn what_would_help(audit: &Audit) -> Option<Finding> {
    let (mut texts, mut numbers) = (Vec::new(), Vec::new());
    let mut answer = None;
    if let Some(gallery) = &audit.gallery {
        answer = Some(explained(gallery, audit, &mut texts, &mut numbers));
    }
    let reached = audit.groups.as_ref().map_or(vec![], |groups| groups.by_reach(&audit.subject));
    if let (Some(first), Some(groups)) = (reached.first(), &audit.groups) {
        answer = answer.or_else(|| Some(percent(first.1.certain.mean)));
        let how = groups.how().split(',').next().unwrap_or_default();
        texts.push(format!(
            "Learned once for a whole group, {how} makes uncertain inputs certain: {}.",
            reach_in_words(&reached, &audit.subject)
        ));
    }
    Some(finding("What would help?", answer?, texts.join(" "), numbers))
}

/// How many inputs have a clue, and what their clues have in common.
fn explained(gallery: &Gallery, audit: &Audit, texts: &mut Vec<String>, numbers: &mut Vec<(String, f64)>) -> String {
    let subject = &audit.subject;
    let (of, all) = (gallery.unsure().count(), gallery.cards.len());
    let explained = gallery.unsure().filter(|card| card.explained).count();
    let sure = match all - of {
        0 => String::new(),
        1 => " One more is shown, about which it is sure.".into(),
        sure => format!(" {} more are shown, about which it is sure.", count(sure)),
    };
    if of == 0 {
        texts.push(format!("The model is unsure about none of the inputs, so that none needs a clue.{sure}"));
        return "No help needed".into();
    }
    numbers.extend([("inputs with a clue".into(), explained as f64), ("of inputs".into(), of as f64)]);
    let below = subject.accepted_below.map_or(String::new(), |below| {
        format!(" ({} below {}{})", subject.accepted_uncertainty(), figures(below, 3), subject.unit_behind())
    });
    let whose = match (&audit.uncertainty, all == of) {
        (None, _) => "of the explained inputs",
        (_, true) => "of the most uncertain inputs",
        (_, false) => "of the inputs that the model is unsure about",
    };
    texts.push(format!("{whose} have a clue: a changed version about which the model is certain{below}.{sure}"));
    texts.extend(certain_as(gallery, numbers));
    let levers: Vec<String> = gallery
        .levers
        .iter()
        .take(NAMED)
        .map(|lever| format!("{} ({} of {})", lever.words(), count(lever.inputs), count(lever.of)))
        .collect();
    if !levers.is_empty() {
        texts.push(format!(
            "What differs most often: {}. A clue says what the model would have to see, not what anybody should do.",
            levers.join(", ")
        ));
    }
    format!("{} of {}", count(explained), count(of))
}

/// `93.3 % of 15 inputs of group 4 (53.3 % without it) at best and … at worst`.
fn reach_in_words(reached: &[(&GroupCard, &Reach)], subject: &Subject) -> String {
    let words = |(group, reach): &(&GroupCard, &Reach)| {
        let unchanged =
            group.certain_unchanged.map_or(String::new(), |share| format!(" ({} without it)", percent(share)));
        let whose = match reached.len() {
            1 if subject.is_regression() => String::new(),
            _ => format!(" of group {}", group.source()),
        };
        let inputs = if reach.inputs == 1 { "input" } else { "inputs" };
        format!("{} of {} {inputs}{whose}{unchanged}", percent(reach.certain.mean), count(reach.inputs))
    };
    match reached {
        [first, .., last] => format!("{} at best and {} at worst", words(first), words(last)),
        _ => reached.iter().map(words).collect(),
    }
}

/// As what explained inputs would be certain, by their cheapest clue: the most frequent first.
fn certain_as(gallery: &Gallery, numbers: &mut Vec<(String, f64)>) -> Option<String> {
    let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
    for clue in gallery.unsure().filter(|card| !card.certain_as.is_empty()).filter_map(Card::best) {
        *labels.entry(clue.label.as_str()).or_default() += 1;
    }
    let mut labels: Vec<(&str, usize)> = labels.into_iter().collect();
    labels.sort_by_key(|(_, inputs)| std::cmp::Reverse(*inputs));
    labels.truncate(NAMED);
    numbers.extend(labels.iter().map(|(label, inputs)| (format!("nearest certainty is {label}"), *inputs as f64)));
    let named: Vec<String> = labels.iter().map(|(label, inputs)| format!("{label} ({})", count(*inputs))).collect();
    (!named.is_empty()).then(|| format!("The nearest certainty is most often as {}.", named.join(", ")))
}

/// How well uncertainty spots errors, by the AUROC.
fn spotting(auroc: f64) -> &'static str {
    match auroc {
        auroc if auroc >= 0.9 => "well",
        auroc if auroc >= 0.75 => "fairly well",
        auroc if auroc >= 0.6 => "only in part",
        _ => "hardly",
    }
}

fn can_it_be_trusted(trust: &Trust) -> Finding {
    let question = "Can its confidence be trusted?";
    match &trust.health.predictor {
        PredictorHealth::Classifier(ClassifierHealth { ece, auroc_errors, .. }) => {
            let spots = auroc_errors.map_or(String::new(), |auroc| {
                format!(
                    " Its uncertainty points at its errors {}: of a wrong and a right answer, the wrong one is the more \
                     uncertain in {} of cases (AUROC; 50\u{a0}% would be blind, 100\u{a0}% perfect).",
                    spotting(auroc),
                    percent(auroc)
                )
            });
            let text = format!(
                "is how far its confidence is off on average: when it says 80\u{a0}%, it should be right about 80\u{a0}% \
                 of the time.{spots}"
            );
            finding(question, format!("{:.1}\u{a0}points", 100.0 * ece), text, vec![])
        }
        PredictorHealth::Regressor(health) => {
            let interval = health
                .coverage
                .iter()
                .min_by(|a, b| (a.nominal - INTERVAL).abs().total_cmp(&(b.nominal - INTERVAL).abs()));
            let (nominal, observed) = interval.map_or((INTERVAL, 0.0), |c| (c.nominal, c.observed));
            let text = format!("of the targets lie in intervals that claim to hold {} of them.", percent(nominal));
            finding(question, percent(observed), text, vec![])
        }
    }
}

/// `98.2 %`, with a space that does not break; never none or all of something where it is not so.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share + 0.0;
    match percent {
        few if few > 0.0 && few < 0.05 => "<0.1\u{a0}%".into(),
        99.95..100.0 => ">99.9\u{a0}%".into(),
        _ => format!("{percent:.1}\u{a0}%"),
    }
}

/// A number of things with its thousands apart.
pub(super) fn count(number: usize) -> String {
    grouped(&number.to_string())
}

/// An uncertainty or an error with its unit: two decimals of a nat, or two figures where these would be zeros; three
/// figures of anything else.
pub(super) fn amount(value: f64, subject: &Subject) -> String {
    let number = match value {
        _ if subject.is_regression() => figures(value as f32, 3),
        tiny if tiny > 0.0 && tiny < 5e-5 => "<0.0001".into(),
        small if small > 0.0 && small < 0.095 => figures(small as f32, 2),
        _ => format!("{:.2}", value + 0.0),
    };
    number + &subject.unit_behind()
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::table;
    use super::*;

    #[test]
    fn nearly_none_and_nearly_all_are_not_none_and_all() {
        let written =
            [0.0, 0.0004, 0.0005, 0.5, 0.9994, 0.9997, 1.0].map(|share| percent(share).replace('\u{a0}', " "));
        assert_eq!(written, ["0.0 %", "<0.1 %", "0.1 %", "50.0 %", "99.9 %", ">99.9 %", "100.0 %"]);
    }

    #[test]
    fn small_entropies_keep_figures_that_count() {
        let subject = Subject::new("run", "clients.csv", &table(), "test");
        let written = [0.0, -0.0, 1e-9, 0.0032, 0.0213, 0.1, 0.456].map(|value| amount(value, &subject));
        let expected = ["0.00", "0.00", "<0.0001", "0.0032", "0.021", "0.10", "0.46"];
        assert_eq!(written, expected.map(|number| format!("{number} nats")));
    }

    #[test]
    fn a_model_without_errors_is_told_in_whole_sentences() {
        let subject = Subject { unsure_above: Some(0.5), ..Subject::new("run", "clients.csv", &table(), "test") };
        let tally = Tally {
            rows: 10,
            unsure: 2,
            wrong: Some(0),
            wrong_unsure: Some(0),
            error_sure: Some(0.0),
            error_unsure: Some(0.0),
            total: 0.3,
            aleatoric: 0.2,
            epistemic: 0.1,
            aleatoric_share_unsure: Some(0.6),
        };
        let text = how_often_unsure(&tally, &subject).text.replace('\u{a0}', " ");
        assert_eq!(
            text,
            "It is unsure about 2 of them (uncertainty above 0.5 nats). It is wrong about 0.0 % of those that it is unsure \
             about, and about 0.0 % of the others."
        );
        let one = Subject { samples: Some(1), ..subject.clone() };
        assert_eq!(which_kind(&tally, &one).unwrap().answer, "Not known");
        assert_eq!(which_kind(&tally, &subject).unwrap().numbers[0].value, 0.6);
    }
}
