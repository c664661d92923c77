//! The page of an audit: `page/report.html` filled in, with its style and its script inside.
//!
//! The template escapes whatever comes from data. Pictures that lie in the document are shown as images, in which a
//! browser runs no script; only plots that are drawn here stand in the page as they are.

use super::super::shifts::{ShiftRow, shift_rows};
use super::super::wording;
use super::findings::{Finding, amount, count, findings, percent};
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
    findings: Vec<Finding>,
    plots: BTreeMap<&'static str, String>,
    /// What is learned for each group.
    how: &'static str,
    /// For each group the largest changes of a table, in words.
    shifts: Vec<Vec<ShiftRow>>,
    style: &'static str,
    script: &'static str,
}

/// The whole file.
pub(super) fn html(audit: &Audit) -> Result<String> {
    let groups = audit.groups.iter().flat_map(|groups| &groups.groups);
    let page = Page {
        audit,
        findings: findings(audit),
        plots: plots(audit),
        how: audit.groups.as_ref().map_or("", super::Groups::how),
        shifts: groups.map(|group| shift_rows(&group.changes, MOST_SHIFTS)).collect(),
        style: STYLE,
        script: SCRIPT,
    };
    let filled = environment(&audit.subject)
        .and_then(|environment| environment.get_template("report.html")?.render(Serde(&page)));
    filled.map_err(|problem| Error::data(format!("the page of the audit cannot be made: {problem}")))
}

fn environment(subject: &Subject) -> std::result::Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_filter("percent", percent);
    environment.add_filter("count", count);
    environment.add_filter("decimals", |value: f64, decimals: usize| format!("{value:.decimals$}"));
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
