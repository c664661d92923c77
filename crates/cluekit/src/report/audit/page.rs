//! The page of an audit: `page/report.html` filled in, with its style and its script inside.
//!
//! The template escapes whatever comes from data. Pictures that lie in the document are shown as images, in which a
//! browser runs no script; only plots that are drawn here stand in the page as they are.

use super::super::shifts::{ShiftRow, shift_rows};
use super::super::wording;
use super::amounts::{amount, count, percent};
use super::help::reach_in_words;
use super::pictures::plots;
use super::{Audit, Subject};
use crate::error::{Error, Result};
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

/// The whole file.
pub(super) fn html(audit: &Audit) -> Result<String> {
    let subject = &audit.subject;
    let groups = audit.groups.iter().flat_map(|groups| &groups.groups);
    let view = |group: &super::GroupCard| GroupView {
        sure: !group.counts(subject),
        shifts: shift_rows(&group.changes, MOST_SHIFTS),
    };
    let page = Page {
        audit,
        plots: plots(audit),
        regression: subject.is_regression(),
        kinds: subject.tells_kinds(),
        accepted_by: subject.accepted_uncertainty(),
        widened: audit.gallery.iter().flat_map(|gallery| &gallery.cards).filter(|c| c.widened.is_some()).count(),
        candidates: audit.gallery.as_ref().map_or(String::new(), super::Gallery::candidates),
        within: audit.gallery.as_ref().is_some_and(super::Gallery::is_within_balls),
        unusual: audit.gallery.as_ref().is_some_and(super::Gallery::tells_plausibility),
        how: audit.groups.as_ref().map_or("", super::Groups::how),
        reach: audit.groups.as_ref().map_or(String::new(), |groups| reach_in_words(groups, subject)),
        applied_to: super::Groups::applied_to(&subject.split),
        views: groups.map(view).collect(),
        style: STYLE,
        script: SCRIPT,
    };
    let filled =
        environment(subject).and_then(|environment| environment.get_template("report.html")?.render(Serde(&page)));
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
fn bare(subject: &Subject) -> super::Unit {
    match subject.is_regression() {
        true => super::Unit::Target(String::new()),
        false => super::Unit::Nats,
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

    #[test]
    fn nothing_has_no_sign() {
        assert_eq!([decimals(-0.3, 0), decimals(-0.5, 1), decimals(-0.0, 2)], ["0", "-0.5", "0.00"]);
    }
}
