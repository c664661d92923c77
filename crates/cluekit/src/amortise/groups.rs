//! Which rows a mapping leads from and to. [Ley2022, Grouping Uncertainty]
//!
//! | scheme | pairs |
//! |---|---|
//! | `within` | uncertain i → certain i, for each class i |
//! | `between` | uncertain i → certain j, for each two classes i ≠ j |
//! | `any-to-class` | uncertain of any class → certain j, for each class j |
//! | `any` | uncertain of any class → certain of any class |
//!
//! A condition on the features of a table narrows either side of a pair.

use super::Encoded;
use crate::data::{Predicate, Schema};
use crate::error::{Error, Result};
use crate::search::Models;
use crate::uncertainty::Uncertainty;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The share of a group that counts as uncertain, or as certain, where its threshold leaves nothing.
const SHARE: f64 = 0.05;

/// The members of one side of a pair: all rows, those of a class, those that satisfy a condition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members {
    /// Their class.
    pub class: Option<usize>,
    /// What their features satisfy.
    pub condition: Option<Predicate>,
}

/// A mapping leads from uncertain members of one group to certain members of another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pair {
    /// Where uncertain rows come from.
    pub from: Members,
    /// Where certain rows come from.
    pub to: Members,
}

/// The ways of pairing classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Each class to itself.
    #[default]
    Within,
    /// Each class to every other.
    Between,
    /// Anything to each class.
    AnyToClass,
    /// Anything to anything.
    Any,
}

impl Members {
    /// All rows.
    pub fn any() -> Self {
        Self::default()
    }

    /// The rows of one class.
    pub fn of_class(class: usize) -> Self {
        Self { class: Some(class), condition: None }
    }

    /// Whether a row is one of them.
    pub fn hold(&self, rows: &Encoded, row: usize, schema: Option<&Schema>) -> bool {
        self.class.is_none_or(|class| rows.class(row) == class) && self.condition_holds(rows.x(row), schema)
    }

    /// Whether the features of a row are as asked.
    pub(super) fn condition_holds(&self, x: &[f32], schema: Option<&Schema>) -> bool {
        match (&self.condition, schema) {
            (Some(condition), Some(schema)) => condition.holds(&schema.decode_row(x)),
            _ => true,
        }
    }

    /// What people call them.
    pub fn name(&self, classes: &[String]) -> String {
        let class = self.class.map(|class| classes.get(class).cloned().unwrap_or_else(|| class.to_string()));
        match (class, &self.condition) {
            (None, None) => "*".into(),
            (Some(class), None) => class,
            (None, Some(condition)) => condition.to_string(),
            (Some(class), Some(condition)) => format!("{class} where {condition}"),
        }
    }
}

impl Pair {
    /// From uncertain rows of class `from` to certain rows of class `to`; any where there is none.
    pub fn of_classes(from: Option<usize>, to: Option<usize>) -> Self {
        Self { from: Members { class: from, condition: None }, to: Members { class: to, condition: None } }
    }

    /// What people call it.
    pub fn name(&self, classes: &[String]) -> String {
        format!("{} → {}", self.from.name(classes), self.to.name(classes))
    }
}

impl Scheme {
    /// Every scheme.
    pub const ALL: [Self; 4] = [Self::Within, Self::Between, Self::AnyToClass, Self::Any];

    /// What it is called in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::Between => "between",
            Self::AnyToClass => "any-to-class",
            Self::Any => "any",
        }
    }

    /// The pairs of so many classes; without classes there is one pair, any to any.
    pub fn pairs(self, classes: usize) -> Vec<Pair> {
        let all = || (0..classes).map(Some);
        match self {
            _ if classes == 0 => vec![Pair::default()],
            Self::Within => all().map(|class| Pair::of_classes(class, class)).collect(),
            Self::Between => all()
                .flat_map(|from| all().filter(move |to| *to != from).map(move |to| Pair::of_classes(from, to)))
                .collect(),
            Self::AnyToClass => all().map(|to| Pair::of_classes(None, to)).collect(),
            Self::Any => vec![Pair::default()],
        }
    }
}

impl FromStr for Scheme {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name).ok_or_else(|| {
            let choices = Self::ALL.map(Self::name).join(", ");
            Error::setting("scheme", format!("`{name}` is not a scheme; choose one of {choices}"))
        })
    }
}

/// A threshold on the uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// In nats, or in the target's unit.
    Value(f32),
    /// What this share of a group's rows stays below.
    Quantile(f64),
}

impl Limit {
    /// The threshold for a group with these uncertainties, in rising order.
    fn among(self, sorted: &[f32]) -> f32 {
        match self {
            Self::Value(value) => value,
            Self::Quantile(share) => {
                let place = (share * (sorted.len() - 1) as f64).round() as usize;
                sorted[place.min(sorted.len() - 1)]
            }
        }
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong =
            || format!("`{text}` is no threshold; give an uncertainty such as 0.5, or a share of rows such as 95%");
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
        match text.strip_suffix('%') {
            Some(percent) => match number(percent).filter(|percent| *percent <= 100.0) {
                Some(percent) => Ok(Self::Quantile(percent / 100.0)),
                None => Err(wrong()),
            },
            None => number(text).map(|value| Self::Value(value as f32)).ok_or_else(wrong),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Quantile(share) => write!(f, "{}%", 100.0 * share),
        }
    }
}

/// When a row counts as uncertain, and when as certain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Thresholds {
    /// Uncertain above this.
    pub uncertain_above: Limit,
    /// Certain below this.
    pub certain_below: Limit,
    /// The kind of uncertainty.
    pub kind: Uncertainty,
}

/// The rows of one pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What it leads from and to.
    pub pair: Pair,
    /// Places of the uncertain rows.
    pub uncertain: Vec<usize>,
    /// Places of the certain rows; their class is predicted rightly.
    pub certain: Vec<usize>,
    /// The threshold above which rows are uncertain.
    pub uncertain_above: f32,
    /// The threshold below which rows are certain.
    pub certain_below: f32,
    /// What had to be chosen otherwise than asked for.
    pub notes: Vec<String>,
}

impl Group {
    /// The uncertain and certain rows of a pair.
    ///
    /// A threshold that leaves nothing is replaced by the one that leaves a twentieth, and a note says so.
    pub fn of(pair: &Pair, rows: &Encoded, thresholds: &Thresholds, models: &Models) -> Result<Self> {
        let (mut notes, classes) = (Vec::new(), models.task().classes());
        let from = members(&pair.from, rows, models);
        let right = |row: &usize| rows.classes.is_none() || rows.class(*row) == rows.predictions[*row].label();
        let to: Vec<usize> = members(&pair.to, rows, models).into_iter().filter(right).collect();
        for (side, members) in [(&pair.from, &from), (&pair.to, &to)] {
            if members.is_empty() {
                return Err(Error::data(format!(
                    "no training row belongs to the group `{}`; choose another class or condition",
                    side.name(classes)
                )));
            }
        }
        let amount = |row: usize| rows.predictions[row].uncertainty.get(thresholds.kind);
        let sorted = |members: &[usize]| {
            let mut amounts: Vec<f32> = members.iter().map(|&row| amount(row)).collect();
            amounts.sort_by(f32::total_cmp);
            amounts
        };
        let (of_from, of_to) = (sorted(&from), sorted(&to));
        let mut uncertain_above = thresholds.uncertain_above.among(&of_from);
        if of_from[of_from.len() - 1] <= uncertain_above {
            let asked = uncertain_above;
            uncertain_above = below_some(&of_from);
            notes.push(format!(
                "no training row of `{}` is more uncertain than {asked}; its most uncertain rows are taken, those above \
                 {uncertain_above:.3}",
                pair.from.name(classes)
            ));
        }
        let mut certain_below = thresholds.certain_below.among(&of_to);
        if of_to[0] >= certain_below {
            let asked = certain_below;
            certain_below = above_some(&of_to);
            notes.push(format!(
                "no training row of `{}` is more certain than {asked}; its surest rows are taken, those below \
                 {certain_below:.3}",
                pair.to.name(classes)
            ));
        }
        Ok(Self {
            pair: pair.clone(),
            uncertain: from.into_iter().filter(|&row| amount(row) > uncertain_above).collect(),
            certain: to.into_iter().filter(|&row| amount(row) < certain_below).collect(),
            uncertain_above,
            certain_below,
            notes,
        })
    }
}

fn members(members: &Members, rows: &Encoded, models: &Models) -> Vec<usize> {
    (0..rows.len()).filter(|&row| members.hold(rows, row, models.schema)).collect()
}

/// A threshold that a twentieth of the values, and at least one, exceeds.
fn below_some(sorted: &[f32]) -> f32 {
    let place = ((1.0 - SHARE) * sorted.len() as f64) as usize;
    let last = sorted[sorted.len() - 1];
    let threshold = sorted[place.min(sorted.len() - 1)];
    if threshold < last { threshold } else { last.next_down() }
}

/// A threshold that a twentieth of the values, and at least one, stays below.
fn above_some(sorted: &[f32]) -> f32 {
    let threshold = sorted[(SHARE * sorted.len() as f64) as usize];
    if threshold > sorted[0] { threshold } else { sorted[0].next_up() }
}
