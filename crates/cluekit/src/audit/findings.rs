//! What an audit says in plain words: a question, a word or a number that answers it, and what that means.

use super::amounts::{amount, count, of_two, percent};
use super::bands::FeatureBand;
use super::help::what_would_help;
use super::learning::LearningCurve;
use super::rows::share;
use super::story::FigureNumber;
use super::tally::Tally;
use super::{Audit, Subject, Trust, UncertaintyProfile};
use crate::measure::{ClassifierHealth, PredictorHealth, RegressorHealth, Reliability};
use crate::wording::figures;
use serde::{Deserialize, Serialize};

/// Groups and changes that a sentence names.
pub(super) const NAMED: usize = 3;
/// A pair of classes with less than this share of the unsure inputs is one of many.
const MUCH: f64 = 0.25;
/// The interval of a regression that a sentence tells of.
const INTERVAL: f64 = 0.9;

/// One question about the model with its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// The question in words.
    pub question: String,
    /// The number, or the words, that answer the question.
    pub answer: String,
    /// What the answer means, in whole sentences.
    pub text: String,
    /// The numbers in answer and text, before rounding.
    pub numbers: Vec<FigureNumber>,
    /// Row of an input in the gallery that shows what is meant.
    pub example: Option<usize>,
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
        found.extend(about_what(whereabouts, subject));
        found.extend(would_more_data_help(&whereabouts.tally, audit.learning.as_ref(), subject));
    }
    found.extend(audit.gallery.as_ref().map(|gallery| what_would_help(gallery, audit)));
    found.extend(audit.trust.as_ref().map(can_it_be_trusted));
    found
}

impl Finding {
    pub(super) fn new(question: &str, answer: String, text: String) -> Self {
        Self { question: question.into(), answer, text, numbers: vec![], example: None }
    }

    /// With numbers that stand in its words.
    pub(super) fn with(mut self, numbers: Vec<(String, f64)>) -> Self {
        self.numbers.extend(numbers.into_iter().map(|(name, value)| FigureNumber { name, value }));
        self
    }
}

fn how_good(
    trust: &Trust,
    UncertaintyProfile { tally, classes, .. }: &UncertaintyProfile,
    subject: &Subject,
) -> Finding {
    let question = "How good is it?";
    let rows = format!("{} {} {}", count(tally.rows), subject.split, subject.inputs(tally.rows));
    match &trust.health.predictor {
        PredictorHealth::Classifier(ClassifierHealth { error, .. }) => {
            let right = 1.0 - error;
            let mut answer = format!("{} right", percent(right));
            let mut text = format!("It is right on {} of {rows}.", count(tally.rows - tally.wrong.unwrap_or(0)));
            let mut numbers = vec![("share right".into(), right)];
            // A share of right answers says little where one class is frequent, and hides the classes that suffer.
            if let Some(largest) = classes.iter().max_by_key(|class| class.rows) {
                let always = share(largest.rows, tally.rows);
                let class = subject.class(&largest.name);
                text += &format!(" Always answering {class} would be right on {}.", percent(always));
                numbers.push((format!("share right when always answering {}", largest.name), always));
            }
            let worst = classes.iter().max_by(|a, b| a.error.total_cmp(&b.error));
            if let Some(worst) = worst.filter(|worst| worst.error > 0.0) {
                let (class, rows) = (subject.class(&worst.name), count(worst.rows));
                text +=
                    &format!(" It is worst where the truth is {class}: wrong on {} of {rows}.", percent(worst.error));
                if worst.error > 0.5 {
                    let right = 1.0 - worst.error;
                    answer += &format!(", but only {} where the truth is {}", percent(right), worst.name);
                    numbers.push((format!("share right of class {}", worst.name), right));
                }
            }
            Finding::new(question, answer, text).with(numbers)
        }
        PredictorHealth::Regressor(RegressorHealth { rmse, r2, constant, .. }) => {
            let mut text = format!("That is how far its values are off on {rows} (root mean squared error).");
            let mut numbers = vec![("root mean squared error".into(), *rmse)];
            if let (Some(r2), Some(constant)) = (r2, constant) {
                let always = amount(constant.rmse, subject);
                text += &format!(" Always answering their mean would be off by {always}: ");
                text += &match *r2 > 0.0 {
                    true => format!("it explains {} of the spread (R²).", percent(*r2)),
                    false => "it explains nothing of the spread (R²).".into(),
                };
                numbers.extend([("R²".into(), *r2), ("spread of the targets".into(), constant.rmse)]);
            }
            Finding::new(question, format!("± {}", amount(*rmse, subject)), text).with(numbers)
        }
    }
}

fn how_often_unsure(tally: &Tally, subject: &Subject) -> Finding {
    let part = share(tally.unsure, tally.rows);
    let mut numbers = vec![("share unsure".into(), part)];
    let above = subject.unsure_above.map_or(String::new(), |above| {
        let of_two = of_two(above.into()).filter(|_| !subject.is_regression());
        match of_two.map(|share| (share, (100.0 * share).round())) {
            Some((share, first @ 51.0..=99.0)) => {
                numbers.push(("share of one of two classes at that uncertainty".into(), share));
                match subject.classes.len() {
                    2 => format!(": the answer that it leans to gets {first:.0}\u{a0}% or less there"),
                    _ => format!(
                        ": as unsure as where one answer gets {first:.0}\u{a0}% and another {:.0}\u{a0}%, or less sure",
                        100.0 - first
                    ),
                }
            }
            _ => format!(" (an uncertainty above {}{})", figures(above, 3), subject.unit_behind()),
        }
    });
    let inputs = subject.inputs(tally.rows);
    let mut text = format!("It is unsure about {} of the {} {inputs}{above}.", count(tally.unsure), count(tally.rows));
    if let (Some(wrong @ 1..), Some(caught), 1..) = (tally.wrong, tally.wrong_unsure, tally.unsure) {
        let others = wrong.saturating_sub(caught);
        text += &match (wrong, others) {
            (1, 0) => " Its one error is among these.".into(),
            (1, _) => " Its one error is where it seems sure.".into(),
            (_, 0) => format!(" All of its {} errors are among these.", count(wrong)),
            (_, 1) => format!(
                " Checking these would find {} of its {} errors; the other is where it seems sure.",
                count(caught),
                count(wrong)
            ),
            _ => format!(
                " Checking these would find {} of its {} errors; the other {} are where it seems sure.",
                count(caught),
                count(wrong),
                count(others)
            ),
        };
        numbers.push(("errors where it seems sure".into(), others as f64));
    }
    if let (true, Some(unsure), Some(sure)) = (subject.is_regression(), tally.error_unsure, tally.error_sure) {
        let [unsure, sure] = [unsure, sure].map(|error| amount(error, subject));
        text += &format!(" There its values are off by {unsure}, elsewhere by {sure}.");
    }
    Finding::new("How often is it unsure?", percent(part), text).with(numbers)
}

fn about_what(
    UncertaintyProfile { tally, bands, hesitations, .. }: &UncertaintyProfile,
    subject: &Subject,
) -> Option<Finding> {
    let question = "What is it unsure about?";
    if let [first, others @ ..] = leading_bands(bands).as_slice() {
        let overall = share(tally.unsure, tally.rows);
        let others: Vec<String> = others
            .iter()
            .map(|band| format!("{} ({} of {})", band.in_words(), count(band.unsure), count(band.rows)))
            .collect();
        let then = if others.is_empty() { String::new() } else { format!(" Then where {}.", others.join(", ")) };
        let text = format!(
            "{}It is unsure about {} of the {} rows where {}: {}, against {} of all rows.{then}",
            subject.meaning_of(&first.feature),
            count(first.unsure),
            count(first.rows),
            first.in_words(),
            percent(first.unsure_share),
            percent(overall)
        );
        let numbers = vec![("share unsure".into(), overall)];
        return Some(Finding::new(question, format!("Rows where {}", first.in_words()), text).with(numbers));
    }
    let first = hesitations.first()?;
    let [a, b] = &first.classes;
    let named = &hesitations[..hesitations.len().min(NAMED)];
    let mut pairs: Vec<String> = named
        .iter()
        .map(|pair| format!("between {} and {} on {}", pair.classes[0], pair.classes[1], count(pair.rows)))
        .collect();
    let others = tally.unsure.saturating_sub(named.iter().map(|pair| pair.rows).sum());
    if others > 0 {
        pairs.push(format!("between others on {}", count(others)));
    }
    let (unsure, inputs) = (count(tally.unsure), subject.inputs(tally.unsure));
    let text = format!("Of the {unsure} {inputs} that it is unsure about, it hesitates {}.", pairs.join(", "));
    let answer = match share(first.rows, tally.unsure) >= MUCH {
        true => format!("{a} or {b}"),
        false => format!("Many pairs, such as {a} or {b}"),
    };
    Some(Finding::new(question, answer, text).with(vec![("between others".into(), others as f64)]))
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

/// A share of the loss that twice the rows take away, below which more rows hardly help, and below which a little.
const HARDLY: f64 = 0.01;
const A_LITTLE: f64 = 0.05;

/// What a learning curve tells, where there is one, and how much of the doubt comes from having seen too little.
fn would_more_data_help(tally: &Tally, curve: Option<&LearningCurve>, subject: &Subject) -> Option<Finding> {
    let by_doubt = by_kinds_of_doubt(tally, subject);
    let Some((curve, gain)) = curve.and_then(|curve| Some((curve, curve.gain()?))) else { return by_doubt };
    let answer = match gain {
        gain if gain < HARDLY => "Hardly",
        gain if gain < A_LITTLE => "A little",
        _ => "Yes",
    };
    let rows: Vec<String> = curve.points.iter().map(|point| count(point.rows)).collect();
    let losses: Vec<String> = curve.points.iter().map(|point| figures(point.loss as f32, 3)).collect();
    let measure = if subject.is_regression() { "a root mean squared error" } else { "a negative log likelihood" };
    let change = match gain > 0.0 {
        true => format!("the last doubling took {} off it", percent(gain)),
        false => "the last doubling took nothing off it".into(),
    };
    let mut text = format!(
        "Tried with {} on {} rows: they reach {measure} of {}; {change}.",
        curve.learner,
        rows.join(", "),
        losses.join(", ")
    );
    let mut numbers = vec![("gain of the last doubling".into(), gain)];
    if let Some(doubt) = by_doubt {
        text += &format!(" {}", doubt.text);
        numbers.extend(doubt.numbers.into_iter().map(|number| (number.name, number.value)));
    }
    Some(Finding::new(MORE_DATA, answer.into(), text).with(numbers))
}

const MORE_DATA: &str = "Would more data help?";

fn by_kinds_of_doubt(tally: &Tally, subject: &Subject) -> Option<Finding> {
    let aleatoric = tally.aleatoric_share_unsure?;
    let inputs = subject.inputs(2);
    if !subject.tells_kinds() {
        let text = format!(
            "The model is one network, which cannot tell {inputs} that are ambiguous from {inputs} of which it has seen too \
             few. Several networks that may disagree can, such as an ensemble."
        );
        return Some(Finding::new(MORE_DATA, "Not known".into(), text));
    }
    let epistemic = 1.0 - aleatoric;
    let answer = match epistemic {
        hardly if hardly < 0.1 => "Hardly",
        in_part if in_part < 0.5 => "Only in part",
        _ => "Yes",
    };
    let ambiguous = format!(
        "{} of its doubt is about {inputs} that are ambiguous in themselves: more data of the same kind would not change \
         that, other information about each of them might, such as {}.",
        percent(aleatoric),
        if subject.images.is_some() { "a better picture" } else { "a feature that the data lack" }
    );
    let unfamiliar = format!(
        "{} of its doubt comes from having seen too few similar {inputs}: more data could lower that.",
        percent(epistemic)
    );
    let text = match aleatoric >= 0.5 {
        true => format!("{ambiguous} {unfamiliar}"),
        false => format!("{unfamiliar} {ambiguous}"),
    };
    let numbers = vec![("aleatoric share".into(), aleatoric), ("epistemic share".into(), epistemic)];
    Some(Finding::new(MORE_DATA, answer.into(), text).with(numbers))
}

/// How far something can be trusted, from the most to the least.
const TRUST: [&str; 4] = ["Yes", "Mostly", "In part", "Hardly"];
/// A confidence that is off by no more deserves the trust at the same place.
const OFF: [f64; 3] = [0.02, 0.05, 0.1];
const PERCENTAGES: [&str; 4] = ["honest", "fairly honest", "not quite honest", "not honest"];
/// An uncertainty that tells a wrong from a right answer so often deserves it: the AUROC.
const TELLS: [f64; 3] = [0.9, 0.75, 0.6];
/// Of fewer wrong answers, or right ones, nothing can be told.
const FEWEST: usize = 10;
const WARNING: [&str; 4] = ["good", "fair", "weak", "useless"];

fn rank(limits: [f64; 3], holds: impl Fn(f64) -> bool) -> usize {
    limits.iter().position(|&limit| holds(limit)).unwrap_or(limits.len())
}

fn can_it_be_trusted(trust: &Trust) -> Finding {
    let question = "Can its confidence be trusted?";
    match &trust.health.predictor {
        PredictorHealth::Classifier(ClassifierHealth { ece, auroc_errors, error, .. }) => {
            // Few rows make any model look off: only what goes beyond that is the model's.
            let chance = trust.reliability.as_ref().map_or(0.0, Reliability::ece_by_chance);
            let calibrated = rank(OFF, |limit| ece - chance <= limit);
            let too_few = chance > OFF[1];
            let honest = match too_few {
                true => "Its percentages".into(),
                false => format!("Its percentages are {}: they", PERCENTAGES[calibrated]),
            };
            // Chance is worth a word where the percentages look worse by it.
            let by_chance = match too_few || rank(OFF, |limit| *ece <= limit) != calibrated {
                true => format!("; chance alone makes {:.1} on so few", 100.0 * chance),
                false => String::new(),
            };
            let off = 100.0 * ece;
            let mut text =
                format!("{honest} differ by {off:.1} points on average from how often it is right{by_chance}.");
            let mut trusted = calibrated;
            let rows = trust.reliability.as_ref().map_or(0, Reliability::rows);
            let wrong = (rows as f64 * error).round() as usize;
            if let Some(auroc) = auroc_errors.filter(|_| wrong.min(rows.saturating_sub(wrong)) >= FEWEST) {
                let tells = rank(TELLS, |limit| auroc >= limit);
                trusted = trusted.max(tells);
                text += &format!(
                    " {} its doubt is a {} warning of errors: of a wrong and a right answer, picked at random, it is less \
                     sure of the wrong one in {} of cases (a coin: 50\u{a0}%).",
                    if tells > calibrated { "But" } else { "And" },
                    WARNING[tells],
                    percent(auroc)
                );
            } else {
                text += " Whether its doubt warns of errors cannot be told from so few of them.";
            }
            let answer = if too_few { "Too few rows to tell" } else { TRUST[trusted] };
            let numbers = vec![("calibration error by chance".into(), chance)];
            Finding::new(question, answer.into(), text).with(numbers)
        }
        PredictorHealth::Regressor(health) => {
            let interval = health
                .coverage
                .iter()
                .min_by(|a, b| (a.nominal - INTERVAL).abs().total_cmp(&(b.nominal - INTERVAL).abs()));
            let (nominal, observed) = interval.map_or((INTERVAL, 0.0), |c| (c.nominal, c.observed));
            let trusted = rank(OFF, |limit| (nominal - observed).abs() <= limit);
            let text = format!(
                "{} of the targets lie in intervals that claim to hold {} of them.",
                percent(observed),
                percent(nominal)
            );
            Finding::new(question, TRUST[trusted].into(), text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::table;
    use super::super::learning::LearningPoint;
    use super::*;
    use crate::measure::{Bin, Health};

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
        assert_eq!(text, "It is unsure about 2 of the 10 rows: the answer that it leans to gets 80 % or less there.");
        let one = Subject { samples: Some(1), ..subject.clone() };
        assert_eq!(would_more_data_help(&tally, None, &one).unwrap().answer, "Not known");
        assert_eq!(would_more_data_help(&tally, None, &subject).unwrap().numbers[0].value, 0.6);
        let answer = |share| {
            let tally = Tally { aleatoric_share_unsure: Some(share), ..tally.clone() };
            would_more_data_help(&tally, None, &subject).unwrap().answer
        };
        assert_eq!([0.2, 0.6, 0.95].map(answer), ["Yes", "Only in part", "Hardly"]);
        let curve = |losses: [f64; 3]| LearningCurve {
            learner: "boosted trees".into(),
            points: [250, 500, 1000].into_iter().zip(losses).map(|(rows, loss)| LearningPoint { rows, loss }).collect(),
        };
        let tried = |losses| would_more_data_help(&tally, Some(&curve(losses)), &subject).unwrap();
        assert_eq!(
            [[0.5, 0.4, 0.3], [0.5, 0.4, 0.39], [0.5, 0.4, 0.41]].map(tried).map(|f| f.answer),
            ["Yes", "A little", "Hardly"]
        );
        let text = tried([0.5, 0.4, 0.3]).text.replace('\u{a0}', " ");
        assert!(text.starts_with(
            "Tried with boosted trees on 250, 500, 1000 rows: they reach a negative log likelihood of 0.5, 0.4, 0.3; \
             the last doubling took 25.0 % off it. 60.0 % of its doubt"
        ), "{text}");
    }

    /// A classifier of which 10 000 rows are of confidence 0.9, with such errors.
    fn trusted(ece: f64, auroc_errors: Option<f64>, error: f64) -> Finding {
        let health = ClassifierHealth {
            error,
            nll: 0.3,
            brier: 0.2,
            ece,
            auroc_errors,
            auroc: None,
            auprc: None,
            constant: None,
            samples: 3,
        };
        let bin = |count, confidence| Bin { lower: 0.8, upper: 0.9, count, confidence, accuracy: confidence };
        let reliability = Reliability { bins: vec![bin(0, None), bin(10_000, Some(0.9))], ece };
        let health = Health { predictor: PredictorHealth::Classifier(health), generative: None };
        can_it_be_trusted(&Trust { health, reliability: Some(reliability), rejection: None })
    }

    #[test]
    fn trust_is_that_of_the_weaker_part() {
        assert_eq!(trusted(0.01, Some(0.95), 0.1).answer, "Yes");
        assert_eq!(trusted(0.01, Some(0.8), 0.1).answer, "Mostly");
        let weak = trusted(0.013, Some(0.68), 0.1);
        assert_eq!(weak.answer, "In part");
        assert!(weak.text.starts_with(
            "Its percentages are honest: they differ by 1.3 points on average from how often it is right."
        ));
        assert!(weak.text.contains(" But its doubt is a weak warning"), "{}", weak.text);
        // Chance makes √(2 · 0.9 · 0.1 / 10 000 π) = 0.24 points, without which 2.1 would be honest.
        let by_chance = trusted(0.021, Some(0.95), 0.1).text;
        assert!(by_chance.starts_with("Its percentages are honest: they differ by 2.1 points on average from how often it is right; chance alone makes 0.2 on so few."), "{by_chance}");
        assert_eq!(trusted(0.2, Some(0.99), 0.1).answer, "Hardly");
        let few = trusted(0.01, Some(0.5), 0.0009);
        assert_eq!(few.answer, "Yes");
        assert!(few.text.ends_with("cannot be told from so few of them."), "{}", few.text);
    }
}
