//! What an audit says in plain words: a question, the number that answers it, and what the number means.

use super::super::wording::{figures, grouped};
use super::bands::FeatureBand;
use super::groups::{GroupCard, Groups};
use super::rows::share;
use super::tally::Tally;
use super::{Audit, Gallery, Subject, Trust, Whereabouts};
use crate::measure::{ClassifierHealth, PredictorHealth, Reach, RegressorHealth};
use serde::Serialize;
use std::collections::BTreeMap;

/// Groups and changes that a sentence names.
const NAMED: usize = 3;
/// The interval of a regression that a sentence tells of.
const INTERVAL: f64 = 0.9;

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was asked.
    pub question: String,
    /// The number, or the name, that answers it.
    pub answer: String,
    /// What it means.
    pub text: String,
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
        found.extend(which_kind(&whereabouts.tally));
    }
    found.extend(what_would_help(audit.gallery.as_ref(), audit.groups.as_ref(), subject));
    found.extend(audit.trust.as_ref().map(can_it_be_trusted));
    found
}

fn finding(question: &str, answer: String, text: String) -> Finding {
    Finding { question: question.into(), answer, text }
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
            // A share of right answers says little where one class is frequent, and hides the classes that suffer.
            if let Some(largest) = classes.iter().max_by_key(|class| class.rows) {
                let always = percent(share(largest.rows, tally.rows));
                text += &format!(" Always answering {} would be right about {always}.", largest.name);
            }
            let worst = classes.iter().max_by(|a, b| a.error.total_cmp(&b.error));
            if let Some(worst) = worst.filter(|worst| worst.error > 0.0) {
                text += &format!(" It errs most about {}: {} of these are wrong.", worst.name, percent(worst.error));
            }
            finding("How good is it?", right, text)
        }
        PredictorHealth::Regressor(RegressorHealth { rmse, .. }) => {
            let off = amount(*rmse, subject);
            let text = format!("That is how far its values are off on {rows} (root mean squared error).");
            finding("How good is it?", format!("± {off}"), text)
        }
    }
}

fn how_often_unsure(tally: &Tally, subject: &Subject) -> Finding {
    let part = percent(share(tally.unsure, tally.rows));
    let above = subject
        .unsure_above
        .map_or(String::new(), |above| format!(" (uncertainty above {}{})", figures(above, 3), subject.unit_behind()));
    let mut text = format!("It is unsure about {} of them{above}.", count(tally.unsure));
    match (tally.wrong, tally.wrong_unsure) {
        (Some(wrong), Some(unsure)) if wrong > 0 && tally.unsure > 0 => {
            text += &format!(" Of its errors, {} are among these", percent(share(unsure, wrong)));
        }
        _ => {}
    }
    if let (Some(unsure), Some(sure)) = (tally.error_unsure, tally.error_sure) {
        text += &match subject.is_regression() {
            true => format!(
                " There its values are off by {}, elsewhere by {}.",
                amount(unsure, subject),
                amount(sure, subject)
            ),
            false => {
                format!(": it is wrong about {} of them, and about {} of the others.", percent(unsure), percent(sure))
            }
        };
    } else if text.ends_with("these") {
        text.push('.');
    }
    finding("How often is it unsure?", part, text)
}

fn about_what(whereabouts: &Whereabouts) -> Option<Finding> {
    let (tally, bands) = (&whereabouts.tally, leading_bands(&whereabouts.bands));
    let overall = percent(share(tally.unsure, tally.rows));
    if let Some(first) = bands.first() {
        let named: Vec<String> =
            bands.iter().map(|band| format!("{} ({})", band.condition, percent(band.unsure_share))).collect();
        let text = format!(
            "It is unsure about {} of the rows where {}, and about {overall} of all rows. The groups with the most unsure \
             rows beyond their share: {}.",
            percent(first.unsure_share),
            first.condition,
            named.join("; ")
        );
        return Some(finding("What is it unsure about?", first.condition.clone(), text));
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
    Some(finding("What is it unsure about?", format!("{a} or {b}"), text))
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

fn which_kind(tally: &Tally) -> Option<Finding> {
    let aleatoric = tally.aleatoric_share_unsure?;
    let text = match aleatoric >= 0.5 {
        true => format!(
            "of the uncertainty about inputs that it is unsure about is, by the model's own estimate, aleatoric: they are \
             ambiguous, and more rows of the same kind would not help; other information about them might. The other {} is \
             epistemic: more rows like them could lower it.",
            percent(1.0 - aleatoric)
        ),
        false => format!(
            "of the uncertainty about inputs that it is unsure about is, by the model's own estimate, epistemic: it has \
             seen too little like them, and more such rows would help. The other {} is aleatoric: they are ambiguous.",
            percent(aleatoric)
        ),
    };
    Some(finding("Would more data help?", percent(aleatoric.max(1.0 - aleatoric)), text))
}

fn what_would_help(gallery: Option<&Gallery>, groups: Option<&Groups>, subject: &Subject) -> Option<Finding> {
    let mut texts = Vec::new();
    let mut answer = None;
    if let Some(gallery) = gallery {
        let (explained, all) = (gallery.explained(), gallery.cards.len());
        answer = Some(format!("{} of {}", count(explained), count(all)));
        let below = subject.accepted_below.map_or(String::new(), |below| {
            format!(" (uncertainty below {}{})", figures(below, 3), subject.unit_behind())
        });
        texts.push(format!(
            "of the most uncertain inputs have a clue: a plausible changed version about which the model is certain{below}."
        ));
        texts.extend(certain_as(gallery));
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
    }
    let reached = groups.map_or(vec![], Groups::by_reach);
    if let (Some(first), Some(last)) = (reached.first(), reached.last()) {
        let reach = |(group, reach): &(&GroupCard, &Reach)| {
            let unchanged =
                group.certain_unchanged.map_or(String::new(), |share| format!(" ({} without it)", percent(share)));
            format!("{} of group {}{unchanged}", percent(reach.certain.mean), group.source())
        };
        answer = answer.or_else(|| Some(percent(first.1.certain.mean)));
        let ends = match reached.len() {
            1 if subject.is_regression() => percent(first.1.certain.mean) + " of all uncertain inputs",
            1 => reach(first),
            _ => format!("{} at best and {} at worst", reach(first), reach(last)),
        };
        let how = groups.map_or("one change", Groups::how).split(',').next().unwrap_or_default();
        texts.push(format!("Learned once for a whole group, {how} makes uncertain inputs certain: {ends}."));
    }
    Some(finding("What would help?", answer?, texts.join(" ")))
}

/// As what explained inputs would be certain, by their cheapest clue: the most frequent first.
fn certain_as(gallery: &Gallery) -> Option<String> {
    let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
    for card in gallery.cards.iter().filter(|card| card.explained && !card.certain_as.is_empty()) {
        *labels.entry(card.clues.first()?.label.as_str()).or_default() += 1;
    }
    let mut labels: Vec<(&str, usize)> = labels.into_iter().collect();
    labels.sort_by_key(|(_, inputs)| std::cmp::Reverse(*inputs));
    let named: Vec<String> =
        labels.iter().take(NAMED).map(|(label, inputs)| format!("{label} ({})", count(*inputs))).collect();
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
            finding(question, format!("{:.1}\u{a0}points", 100.0 * ece), text)
        }
        PredictorHealth::Regressor(health) => {
            let interval = health
                .coverage
                .iter()
                .min_by(|a, b| (a.nominal - INTERVAL).abs().total_cmp(&(b.nominal - INTERVAL).abs()));
            let (nominal, observed) = interval.map_or((INTERVAL, 0.0), |c| (c.nominal, c.observed));
            let text = format!("of the targets lie in intervals that claim to hold {} of them.", percent(nominal));
            finding(question, percent(observed), text)
        }
    }
}

/// `98.2 %`, with a space that does not break.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}\u{a0}%", 100.0 * share + 0.0)
}

/// A number of things with its thousands apart.
pub(super) fn count(number: usize) -> String {
    grouped(&number.to_string())
}

/// An uncertainty or an error with its unit: two decimals of a nat, three figures of anything else.
pub(super) fn amount(value: f64, subject: &Subject) -> String {
    let number = if subject.is_regression() { figures(value as f32, 3) } else { format!("{value:.2}") };
    number + &subject.unit_behind()
}
