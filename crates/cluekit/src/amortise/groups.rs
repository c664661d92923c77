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

use super::{Encoded, Thresholds};
use crate::data::{Predicate, Schema};
use crate::error::{Error, Result};
use crate::search::Models;
use serde::{Deserialize, Serialize};

/// The share of a group that counts as uncertain, or as certain, where its threshold leaves nothing.
const SHARE: f64 = 0.05;

/// The members of one side of a pair: all rows, those of a class, those that satisfy a condition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members {
    /// Class of the members; none for any class.
    pub class: Option<usize>,
    /// Condition on the features of the members; none for any features.
    pub condition: Option<Predicate>,
}

/// A mapping leads from uncertain members of one group to certain members of another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pair {
    /// Group that the uncertain rows come from.
    pub from: Members,
    /// Group that the certain rows come from.
    pub to: Members,
}

crate::named! {
    "scheme", "a scheme";
    /// The ways of pairing classes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Scheme {
        /// Each class leads to itself.
        #[default]
        Within = "within",
        /// Each class leads to every other class.
        Between = "between",
        /// All rows together lead to each class.
        AnyToClass = "any-to-class",
        /// All rows together lead to all rows.
        Any = "any",
    }
}

impl Members {
    /// All rows as members.
    pub fn any() -> Self {
        Self::default()
    }

    /// Whether a row is one of the members.
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

    /// Name of the members for people: a class, a condition, or `*` for all rows.
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

    /// The class that a network is asked for; the first where it is asked for none.
    pub(super) fn target(&self) -> usize {
        self.to.class.unwrap_or(0)
    }

    /// The class that is not simply kept.
    pub(super) fn other_class(&self) -> Option<usize> {
        self.to.class.filter(|_| self.from.class != self.to.class)
    }

    /// Name of the pair for people, such as `4 → 4`.
    pub fn name(&self, classes: &[String]) -> String {
        format!("{} → {}", self.from.name(classes), self.to.name(classes))
    }
}

impl Scheme {
    /// The pairs for this number of classes; without classes one pair, any to any.
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

/// The uncertain and the certain rows of one pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Groups that the mapping leads from and to.
    pub pair: Pair,
    /// Positions of the uncertain rows.
    pub uncertain: Vec<usize>,
    /// Positions of the certain rows: those predicted as their own class, as far as there are any.
    pub certain: Vec<usize>,
    /// Uncertainty above which a row counts as uncertain.
    pub uncertain_above: f32,
    /// Uncertainty below which a row counts as certain.
    pub certain_below: f32,
    /// Notes on each choice that differs from what was asked for.
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
        let there = members(&pair.to, rows, models);
        let mut to: Vec<usize> = there.iter().copied().filter(right).collect();
        for (side, members) in [(&pair.from, &from), (&pair.to, &there)] {
            if members.is_empty() {
                return Err(Error::data(format!(
                    "no training row belongs to the group `{}`; choose another class or condition",
                    side.name(classes)
                )));
            }
        }
        if to.is_empty() {
            to = nearest_to_right(there, rows);
            notes.push(format!(
                "no training row of `{}` is predicted rightly; those that come nearest to it are taken",
                pair.to.name(classes)
            ));
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
                "no rightly predicted training row of `{}` is more certain than {asked}; its surest rows are taken, \
                 those below {certain_below:.3}",
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

/// The twentieth of some rows, and at least one, whose own class is held most probable.
fn nearest_to_right(mut members: Vec<usize>, rows: &Encoded) -> Vec<usize> {
    let probability = |row: usize| rows.predictions[row].mean.get(rows.class(row)).copied().unwrap_or(0.0);
    members.sort_by(|&a, &b| probability(b).total_cmp(&probability(a)));
    members.truncate(((SHARE * members.len() as f64) as usize).max(1));
    members.sort_unstable();
    members
}

/// A threshold that a twentieth of the values, and at least one, exceeds.
fn below_some(sorted: &[f32]) -> f32 {
    let place = ((1.0 - SHARE) * sorted.len() as f64) as usize;
    let last = sorted[sorted.len() - 1];
    let threshold = sorted[place.saturating_sub(1)];
    if threshold < last { threshold } else { last.next_down() }
}

/// A threshold that a twentieth of the values, and at least one, stays below.
fn above_some(sorted: &[f32]) -> f32 {
    let threshold = sorted[(SHARE * sorted.len() as f64) as usize];
    if threshold > sorted[0] { threshold } else { sorted[0].next_up() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::Limit;
    use crate::amortise::toy::{Same, Sigmoid, classes, rows, table};
    use crate::uncertainty::Uncertainty;

    fn thresholds(uncertain_above: Limit, certain_below: Limit) -> Thresholds {
        Thresholds { uncertain_above, certain_below, kind: Uncertainty::Total }
    }

    /// Uncertain above 0.5 nats, certain below 0.1.
    fn usual() -> Thresholds {
        thresholds(Limit::Value(0.5), Limit::Value(0.1))
    }

    /// The group of a pair among the rows `x` of classes a, b and c, where `labels` are their true ones.
    fn group(pair: &Pair, x: &[f32], labels: &[u32], thresholds: &Thresholds) -> Result<Group> {
        let (same, task) = (Same::new(1), classes(&["a", "b", "c"]));
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        Group::of(pair, &rows(&models, x, 1, labels), thresholds, &models)
    }

    #[test]
    fn each_scheme_has_its_pairs() {
        let pairs = |scheme: Scheme, classes: usize| -> Vec<[Option<usize>; 2]> {
            scheme.pairs(classes).iter().map(|pair| [pair.from.class, pair.to.class]).collect()
        };
        let [a, b, any] = [Some(0), Some(1), None];
        assert_eq!(pairs(Scheme::Within, 2), [[a, a], [b, b]]);
        assert_eq!(pairs(Scheme::Between, 2), [[a, b], [b, a]]);
        assert_eq!(pairs(Scheme::Between, 4).len(), 12);
        assert_eq!(pairs(Scheme::AnyToClass, 2), [[any, a], [any, b]]);
        assert_eq!(pairs(Scheme::Any, 2), [[any, any]]);
        for scheme in Scheme::ALL {
            assert_eq!(pairs(scheme, 0), [[any, any]], "a regression has one pair");
            assert_eq!(scheme.name().parse::<Scheme>().unwrap(), scheme);
        }
        let message = "inside".parse::<Scheme>().unwrap_err().to_string();
        assert!(message.contains("`inside`") && message.contains("within, between, any-to-class, any"), "{message}");
    }

    #[test]
    fn pairs_are_called_by_their_classes_and_conditions() {
        let (schema, names) = (table(), ["a".to_owned(), "b".to_owned()]);
        let small = Predicate::parse("x < 0", &schema).unwrap();
        let mut pair = Pair::of_classes(Some(1), None);
        assert_eq!(pair.name(&names), "b → *");
        pair.from.condition = Some(small.clone());
        pair.to.condition = Some(small);
        assert_eq!(pair.name(&names), "b where x < 0 → x < 0");
        assert_eq!(Pair::of_classes(Some(7), None).name(&[]), "7 → *");
    }

    #[test]
    fn absolute_thresholds_take_rows_on_their_side() {
        // 0.04, 0.58, 0.69, 0.58 and 0.04 nats.
        let (x, labels) = ([-5.0, -1.0, 0.2, 1.0, 5.0], [0, 0, 1, 1, 1]);
        let all = group(&Pair::default(), &x, &labels, &usual()).unwrap();
        assert_eq!((all.uncertain, all.certain), (vec![1, 2, 3], vec![0, 4]));
        assert!(all.notes.is_empty(), "{:?}", all.notes);
        let within = group(&Pair::of_classes(Some(1), Some(1)), &x, &labels, &usual()).unwrap();
        assert_eq!((within.uncertain, within.certain), (vec![2, 3], vec![4]));
        let between = group(&Pair::of_classes(Some(0), Some(1)), &x, &labels, &usual()).unwrap();
        assert_eq!((between.uncertain, between.certain), (vec![1], vec![4]));
    }

    #[test]
    fn quantiles_are_those_of_the_group_itself() {
        // From the surest to the least sure: 4, 3, 2, 1, 0. Half of them is the row at 2, which is on neither side.
        let half = thresholds(Limit::Quantile(0.5), Limit::Quantile(0.5));
        let all = group(&Pair::default(), &[0.1, 1.0, 2.0, 3.0, 4.0], &[1; 5], &half).unwrap();
        assert_eq!((all.uncertain, all.certain), (vec![0, 1], vec![3, 4]));
        assert_eq!(all.uncertain_above.to_bits(), all.certain_below.to_bits());
        // Rows of another class do not move it.
        let with_others = [0.1, 1.0, 2.0, 3.0, 4.0, -0.1, -0.2, -0.3];
        let within = group(&Pair::of_classes(Some(1), Some(1)), &with_others, &[1, 1, 1, 1, 1, 0, 0, 0], &half);
        assert_eq!(within.unwrap().uncertain, [0, 1]);
    }

    #[test]
    fn a_threshold_that_leaves_nothing_is_replaced_and_a_note_says_so() {
        let strict = thresholds(Limit::Value(0.65), Limit::Value(0.001));
        let found = group(&Pair::of_classes(Some(1), Some(1)), &[1.0, 2.0, 3.0], &[1; 3], &strict).unwrap();
        assert_eq!((found.uncertain, found.certain), (vec![0], vec![2]));
        let [above, below] = &found.notes[..] else { panic!("two notes, not {:?}", found.notes) };
        assert!(above.starts_with("no training row of `b` is more uncertain than 0.65;"), "{above}");
        assert!(below.starts_with("no rightly predicted training row of `b` is more certain than 0.001;"), "{below}");
        assert!(found.uncertain_above < 0.583 && found.certain_below > 0.19);
    }

    #[test]
    fn of_a_hundred_rows_a_twentieth_stands_in_for_a_threshold_that_leaves_nothing() {
        let x: Vec<f32> = (0..100).map(|i| 0.02 * i as f32 + 0.01).collect();
        let strict = thresholds(Limit::Value(9.0), Limit::Value(0.0));
        let found = group(&Pair::default(), &x, &[1; 100], &strict).unwrap();
        assert_eq!((found.uncertain, found.certain), ((0..5).collect(), (95..100).collect()));
    }

    #[test]
    fn rows_that_are_all_alike_are_both_uncertain_and_certain() {
        let strict = thresholds(Limit::Quantile(1.0), Limit::Quantile(0.0));
        let found = group(&Pair::default(), &[1.0; 4], &[1; 4], &strict).unwrap();
        assert_eq!((found.uncertain.len(), found.certain.len(), found.notes.len()), (4, 4, 2));
    }

    #[test]
    fn certain_rows_are_predicted_rightly() {
        // The row at 6 is certain, and of class a all the same.
        let found = group(&Pair::of_classes(Some(0), Some(0)), &[-0.5, -5.0, 6.0], &[0; 3], &usual()).unwrap();
        assert_eq!((found.uncertain, found.certain), (vec![0], vec![1]));
    }

    #[test]
    fn an_empty_group_is_an_error_that_names_it() {
        let (x, labels) = ([-5.0, -1.0, 1.0], [0, 0, 1]);
        for pair in [Pair::of_classes(Some(2), None), Pair::of_classes(None, Some(2))] {
            let message = group(&pair, &x, &labels, &usual()).unwrap_err().to_string();
            assert_eq!(
                message, "no training row belongs to the group `c`; choose another class or condition",
                "{pair:?}"
            );
        }
    }

    #[test]
    fn of_a_class_that_is_never_predicted_the_rows_nearest_to_it_are_taken() {
        let found = group(&Pair::of_classes(Some(0), Some(0)), &[5.0, 1.0], &[0, 0], &usual()).unwrap();
        assert_eq!((found.uncertain, found.certain), (vec![1], vec![1]));
        assert!(found.notes[0].starts_with("no training row of `a` is predicted rightly;"), "{:?}", found.notes);
    }

    #[test]
    fn a_condition_narrows_either_side() {
        let (same, schema) = (Same::new(1), table());
        let models = Models::new(&same, &Sigmoid).with_schema(&schema);
        let all = rows(&models, &[-1.0, 1.0, 2.5, -2.5], 1, &[0, 1, 1, 0]);
        let where_ = |text: &str| Members { class: None, condition: Some(Predicate::parse(text, &schema).unwrap()) };
        let pair = Pair { from: where_("x > 0"), to: where_("x < 0") };
        let found = Group::of(&pair, &all, &thresholds(Limit::Value(0.5), Limit::Value(0.4)), &models).unwrap();
        assert_eq!((found.uncertain, found.certain), (vec![1], vec![3]));
        let nobody = Pair { from: where_("x > 2.9"), to: Members::any() };
        let message = Group::of(&nobody, &all, &usual(), &models).unwrap_err().to_string();
        assert!(message.contains("`x > 2.9`") && message.contains("choose another"), "{message}");
    }
}
