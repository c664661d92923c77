//! The page of an audit: `page/report.html` filled in, with its style and its script inside.
//!
//! The template escapes whatever comes from data. Pictures that lie in the document are shown as images, in which a
//! browser runs no script; only plots that are drawn here stand in the page as they are.

use crate::plots::plots;
use crate::shifts::{ShiftRow, shift_rows};
use cluekit::audit::amounts::{amount, count, percent};
use cluekit::audit::{Audit, Finding, Gallery, GroupCard, Groups, Subject, Unit, reach_in_words};
use cluekit::error::{Error, Result};
use cluekit::wording;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;
use std::collections::BTreeMap;

const TEMPLATE: &str = include_str!("page/report.html");
const STYLE: &str = include_str!("page/report.css");
const SCRIPT: &str = include_str!("page/report.js");

/// Features listed for a group.
const MOST_SHIFTS: usize = 12;

/// What the page says first, as text.
pub fn findings_text(audit: &Audit) -> String {
    let line = |finding: &Finding| format!("{}\n  {}. {}\n\n", finding.question, finding.answer, finding.text);
    let findings: String = audit.findings.iter().map(line).collect();
    let missing: String = audit.missing.iter().map(|sentence| format!("{sentence}\n\n")).collect();
    findings + &missing
}

/// What the template sees.
#[derive(Serialize)]
struct Page<'a> {
    audit: &'a Audit,
    plots: BTreeMap<&'static str, String>,
    /// Whether a value is predicted.
    regression: bool,
    /// Whether aleatoric and epistemic uncertainty can be told apart.
    kinds: bool,
    /// What must be low for a clue to be accepted.
    accepted_by: &'static str,
    /// How many inputs of the gallery had no clue nearby.
    widened: usize,
    /// How many candidates each input of the gallery has.
    candidates: String,
    /// Whether they were searched within a distance δ.
    within: bool,
    /// Whether it is told how ordinary they are.
    unusual: bool,
    /// Whether clues were also looked for beside the search.
    beside: bool,
    /// Of the first clues, how many every judge believes, and how many were judged.
    believed: (usize, usize),
    /// What is learned for each group.
    how: &'static str,
    /// How far that reaches, in a sentence or two.
    reach: String,
    /// What that has to do with the rows that it is applied to.
    applied_to: &'static str,
    /// What is said of each group besides.
    views: Vec<GroupView>,
    style: &'static str,
    script: &'static str,
}

/// What is said of a group besides what the document holds.
#[derive(Serialize)]
struct GroupView {
    /// Whether the model is sure about all that it was learned from.
    sure: bool,
    /// The largest changes of a table, in words.
    shifts: Vec<ShiftRow>,
}

/// The page of an audit: one file, nothing fetched, readable without script.
pub fn page(audit: &Audit) -> Result<String> {
    let subject = &audit.subject;
    let groups = audit.groups.iter().flat_map(|groups| &groups.groups);
    let view =
        |group: &GroupCard| GroupView { sure: !group.counts(subject), shifts: shift_rows(&group.changes, MOST_SHIFTS) };
    let filled = Page {
        audit,
        plots: plots(audit),
        regression: subject.is_regression(),
        kinds: subject.tells_kinds(),
        accepted_by: subject.accepted_uncertainty(),
        widened: audit.gallery.iter().flat_map(|gallery| &gallery.cards).filter(|c| c.widened.is_some()).count(),
        candidates: audit.gallery.as_ref().map_or(String::new(), Gallery::candidates),
        within: audit.gallery.as_ref().is_some_and(Gallery::is_within_balls),
        unusual: audit.gallery.as_ref().is_some_and(Gallery::tells_plausibility),
        beside: audit.gallery.as_ref().is_some_and(Gallery::has_portfolio),
        believed: audit.gallery.as_ref().map_or((0, 0), Gallery::believed),
        how: audit.groups.as_ref().map_or("", Groups::how),
        reach: audit.groups.as_ref().map_or(String::new(), |groups| reach_in_words(groups, subject)),
        applied_to: Groups::applied_to(&subject.split),
        views: groups.map(view).collect(),
        style: STYLE,
        script: SCRIPT,
    };
    let filled =
        environment(subject).and_then(|environment| environment.get_template("report.html")?.render(Serde(&filled)));
    let unfit = |problem| format!("the page of the audit cannot be made: {problem}; make its document again");
    filled.map_err(|problem| Error::data(unfit(problem)))
}

fn environment(subject: &Subject) -> std::result::Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_filter("percent", percent);
    environment.add_filter("count", count);
    environment.add_filter("decimals", decimals);
    environment.add_filter("distance", |value: f64| wording::distance(value as f32));
    environment.add_filter("grouped", |text: String, number: bool| if number { wording::grouped(&text) } else { text });
    environment.add_filter("figures", |value: f64| wording::figures(value as f32, 3));
    let with_unit = subject.clone();
    environment.add_filter("amount", move |value: f64| amount(value, &with_unit));
    let without = Subject { unit: bare(subject), ..subject.clone() };
    environment.add_filter("bare", move |value: f64| amount(value, &without).trim_end_matches(" nats").to_owned());
    environment.add_template("report.html", TEMPLATE)?;
    Ok(environment)
}

/// The same unit without a name.
fn bare(subject: &Subject) -> Unit {
    match subject.is_regression() {
        true => Unit::Target(String::new()),
        false => Unit::Nats,
    }
}

/// So many digits behind the point, and no minus before nothing.
fn decimals(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(nothing) if !nothing.contains(|c: char| ('1'..='9').contains(&c)) => nothing.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::audit::fixture::{client, clients, table};
    use cluekit::audit::{Chapter, Figure, Setting, Story};

    #[test]
    fn nothing_has_no_sign() {
        assert_eq!([decimals(-0.3, 0), decimals(-0.5, 1), decimals(-0.0, 2)], ["0", "-0.5", "0.00"]);
    }

    #[test]
    fn a_document_that_is_read_again_makes_the_same_page() {
        let audit = clients(&table());
        let again = Audit::from_json(&audit.json().unwrap()).unwrap();
        assert_eq!(audit, again);
        assert_eq!(page(&audit).unwrap(), page(&again).unwrap());
    }

    #[test]
    fn what_comes_from_data_is_text_and_never_markup() {
        let mut schema = table();
        let evil = "</script><script>boom()</script>\"' onload=boom() <img src=x onerror=boom()>";
        schema.features[0].name = format!("a{evil}");
        schema.features[2].name = evil.into();
        schema.target.name = format!("t{evil}");
        schema.target.task = cluekit::data::Task::Classification { classes: vec![evil.into(), "yes".into()] };
        let mut audit = clients(&schema);
        audit.subject.run = evil.into();
        audit.subject.dataset = evil.into();
        audit.provenance.command = evil.into();
        audit.provenance.search = vec![Setting { key: evil.into(), value: evil.into() }];
        audit.missing = vec![evil.into()];
        let chapter = Chapter {
            heading: evil.into(),
            text: vec![evil.into()],
            figures: vec![Figure { caption: evil.into(), kind: evil.into(), data: evil.into(), numbers: vec![] }],
            commands: vec![evil.into()],
        };
        audit.story = Some(Story { title: evil.into(), chapters: vec![chapter] });
        let card = &mut audit.gallery.as_mut().unwrap().cards[0];
        (card.picture, card.reconstruction, card.advice) = (Some(evil.into()), Some(evil.into()), Some(evil.into()));
        card.clues[0].changes[0].to = evil.into();
        card.clues[1].reason = Some(evil.into());
        let html = page(&audit).unwrap();
        assert!(!html.contains("<script>boom") && !html.contains("<img src=x") && !html.contains("\"' onload"));
        assert_eq!(html.matches("</script>").count(), 1, "that of the page itself");
        assert!(html.contains("&lt;img src=x"), "the names are shown");
    }

    #[test]
    fn a_page_fetches_nothing_and_its_parts_can_be_reached() {
        let html = page(&clients(&table())).unwrap();
        assert!(!html.contains("=\"http") || html.matches("=\"http").count() == html.matches("xmlns=\"http").count());
        for part in ["summary", "where", "gallery", "groups", "trust", "latent", "repeat", "words"] {
            assert!(html.contains(&format!("<section id=\"{part}\"")), "{part}");
            assert!(html.contains(&format!("href=\"#{part}\"")), "{part}");
        }
    }

    #[test]
    fn inputs_that_the_model_is_sure_about_are_told_apart() {
        let mut audit = clients(&table());
        let mut sure = client();
        (sure.input.index, sure.input.uncertainty.total) = (18, 0.4);
        sure.clues[0].accepted = false;
        let help = |audit: &Audit| audit.findings[4].clone();
        audit.gallery = Some(Gallery::of(&[client(), sure.clone()], &table(), "∇-CLUE", Some(0.5)));
        let audit = audit.concluded();
        let text = help(&audit).text;
        assert!(text.starts_with("For the row that the model is unsure about, the computer"), "{text}");
        assert!(text.ends_with(" One more is shown, about which it is sure."), "{text}");
        assert!(page(&audit).unwrap().contains("sure already"));
        let gallery = Some(Gallery::of(&[sure], &table(), "∇-CLUE", Some(0.5)));
        let audit = Audit { gallery, groups: None, ..audit }.concluded();
        assert_eq!(help(&audit).answer, "It is sure");
    }

    #[test]
    fn the_example_shows_the_cheapest_clue() {
        let mut cheap = client();
        cheap.input.index = 99;
        cheap.clues.iter_mut().for_each(|clue| clue.cost /= 2.0);
        let gallery = Some(Gallery::of(&[client(), cheap], &table(), "∇-CLUE", Some(0.5)));
        let audit = Audit { gallery, ..clients(&table()) }.concluded();
        assert_eq!(audit.findings[4].example, Some(99));
        assert!(page(&audit).unwrap().contains("For example, <a href=\"#input-99\">input 99</a>"));
    }

    #[test]
    fn a_group_that_the_model_is_sure_about_is_marked_and_one_input_has_no_interval() {
        let html = page(&clients(&table())).unwrap();
        assert_eq!(html.matches("<span class=\"tag\">sure already</span>").count(), 1, "that of the second group");
        assert!(html.contains("no training row of `yes → yes` is more uncertain."), "the note is shown");
        assert!(html.contains("\">–</td>"), "no interval");
        let reach = "50.0 % of 2 uncertain rows of class no become certain, against 25.0 % when they are only redrawn.";
        assert!(html.replace('\u{a0}', " ").contains(&format!("<p>{reach}</p>")), "the first group alone");
        assert!(!html.contains("Constraints hold"));
        let mut audit = clients(&table());
        audit.provenance.constraints = vec![Setting { key: "immutable".into(), value: "ZIP".into() }];
        assert!(page(&audit).unwrap().contains("Constraints hold here too"));
    }

    #[test]
    fn one_network_says_nothing_of_kinds() {
        let mut audit = clients(&table());
        assert!(page(&audit).unwrap().contains("of it aleatoric"));
        audit.subject.samples = Some(1);
        let audit = audit.concluded();
        let html = page(&audit).unwrap();
        assert_eq!(audit.findings[3].answer, "Not known");
        assert!(
            !html.contains("of it aleatoric")
                && !html.contains("aleatoric share")
                && !html.contains("number\">epistemic<")
        );
    }

    #[test]
    fn how_ordinary_a_clue_is_and_why_it_was_rejected_can_be_read() {
        let mut audit = clients(&table());
        assert!(!page(&audit).unwrap().contains("unusual"), "it is not known");
        let clue = &mut audit.gallery.as_mut().unwrap().cards[0].clues[0];
        clue.plausibility = Some(cluekit::explanation::Plausibility { reconstruction: 0.993, elbo: None });
        let html = page(&audit).unwrap();
        assert!(html.contains("unusual 99.3\u{a0}%") && html.contains("“Unusual” is the share"), "it is shown");
        assert!(!html.contains("plausible"), "nobody checked");
        audit.subject.images = Some([2, 2]);
        assert!(page(&audit).unwrap().contains("rejected: uncertainty 0.450 is not below 0.2</span>"));
    }

    #[test]
    fn a_gallery_alone_claims_neither_balls_nor_ranks() {
        let mut explanation = client();
        explanation.clues.iter_mut().for_each(|clue| clue.delta = None);
        let mut audit = Audit { trust: None, uncertainty: None, groups: None, latent: None, ..clients(&table()) };
        audit.subject.accepted_by = cluekit::uncertainty::Uncertainty::Epistemic;
        audit.gallery = Some(Gallery::of(&[explanation], &table(), "glam", None));
        let audit = audit.concluded();
        let html = page(&audit).unwrap();
        assert!(!html.contains("most uncertain inputs") && !html.contains("δ"), "{html}");
        assert!(html.contains("glam tried 2 candidates") && html.contains("if its epistemic uncertainty is below"));
        assert!(audit.findings[0].text.starts_with("For the explained row, the computer"), "{:?}", audit.findings);
    }

    #[test]
    fn long_lists_are_cut_on_the_page_and_the_page_says_so() {
        let mut audit = clients(&table());
        let bands = &mut audit.uncertainty.as_mut().unwrap().bands;
        let band = bands[0].clone();
        bands.extend(std::iter::repeat_n(band, 200));
        let all = bands.len();
        let html = page(&audit).unwrap();
        assert!(html.contains(&format!("The 120 of {all} groups")));
    }

    /// Every place of a document, but of a list only the first one.
    fn places(value: &serde_json::Value, way: String, found: &mut Vec<String>) {
        found.push(way.clone());
        match value {
            serde_json::Value::Object(fields) => {
                fields.iter().for_each(|(name, value)| places(value, format!("{way}/{name}"), found));
            }
            serde_json::Value::Array(values) => {
                values.iter().take(1).for_each(|value| places(value, format!("{way}/0"), found));
            }
            _ => {}
        }
    }

    #[test]
    fn whatever_can_be_read_makes_a_page() {
        let mut audit = clients(&table());
        audit.subject.classes.push("maybe".into());
        let document: serde_json::Value = serde_json::from_str(&audit.json().unwrap()).unwrap();
        let mut ways = Vec::new();
        places(&document, String::new(), &mut ways);
        let mut made = 0;
        for way in ways {
            for other in
                [serde_json::json!(null), serde_json::json!([]), serde_json::json!(u64::MAX), serde_json::json!(-1e300)]
            {
                let mut changed = document.clone();
                *changed.pointer_mut(&way).unwrap() = other.clone();
                if let Ok(read) = Audit::from_json(&changed.to_string()) {
                    let made_of_it = page(&read);
                    assert!(made_of_it.is_ok(), "{way} is {other}: {}", made_of_it.unwrap_err());
                    made += 1;
                }
            }
        }
        assert!(made > 200, "{made} documents could be read");
        // Classes beside the health of a model of values.
        let mut odd = document;
        odd["trust"]["health"]["predictor"] =
            serde_json::json!({"rmse": 1.0, "nll": 1.0, "coverage": [], "samples": 1});
        assert!(page(&Audit::from_json(&odd.to_string()).unwrap()).is_ok());
    }
}
