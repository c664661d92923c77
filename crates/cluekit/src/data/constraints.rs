//! What a counterfactual may change: the table `[constraints]` of `schema.toml`.
//!
//! ```toml
//! [constraints]
//! immutable = ["SEX", "AGE"]
//! only_down = ["PAY_0"]
//! most_changed = 3
//! relations = ["BILL_AMT1 <= LIMIT_BAL"]
//! never = ["EDUCATION=unknown"]
//! transitions = ["MARRIAGE: married -> divorced"]
//! ranges = { LIMIT_BAL = [10000, 500000], since = "2020-01-01.." }
//! order = { EDUCATION = ["school", "university"] }
//! cost = { LIMIT_BAL = 3.0 }
//! ```
//!
//! A search moves inside the [`Bounds`] and the [`Halfspace`]s of encoded columns, [`Constraints::repair`] makes the
//! rounded values keep the relations, and [`Constraints::broken`] judges what came out.

mod bounds;
mod broken;
mod categories;
mod domains;
mod loosened;
mod never;
mod phrase;
mod range;
mod relation;
mod repair;
mod transition;

pub use bounds::{Bounds, Halfspace};
pub use loosened::Loosened;
pub use range::{End, Range};
pub use relation::Relation;
pub use transition::Transition;

use super::encoding::{closest, listed};
use super::{Feature, Schema};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Limits on what a counterfactual may change in a table; the default forbids nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Constraints {
    /// Names of the features that stay as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub immutable: Vec<String>,
    /// Names of the features that may only grow; a binary one may go from its first category to its second, a
    /// categorical one along its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only_up: Vec<String>,
    /// Names of the features that may only shrink; a binary one may go from its second category to its first, a
    /// categorical one against its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only_down: Vec<String>,
    /// Largest number of features that may change; none for any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_changed: Option<usize>,
    /// Linear relations between features that a counterfactual must meet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub relations: Vec<Relation>,
    /// Values that no counterfactual may take unless the input has them, each as `feature=value`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub never: Vec<String>,
    /// Categories that can be reached from others, as in `job: student -> clerk, engineer`; a category that no line
    /// begins with leads anywhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub transitions: Vec<Transition>,
    /// The values that a feature may take, as the data write them; without one, those between the least and the
    /// greatest of the training rows.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, serde_json::Value>"))]
    pub ranges: BTreeMap<String, Range>,
    /// Categories of features from low to high, for `only_up` and `only_down`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub order: BTreeMap<String, Vec<String>>,
    /// Weights of features in the distance between inputs; 1 for the others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cost: BTreeMap<String, f64>,
}

impl Constraints {
    /// Whether there are no constraints.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether any change is allowed: a cost alone forbids nothing, and neither does an order.
    pub fn allow_everything(&self) -> bool {
        Self { order: BTreeMap::new(), cost: BTreeMap::new(), ..self.clone() }.is_empty()
    }

    /// Both sets of constraints together; `other` has the last word on `most_changed` and on a feature's range, order and
    /// cost.
    pub fn merged(self, other: Self) -> Self {
        fn union<T: PartialEq>(mut all: Vec<T>, more: Vec<T>) -> Vec<T> {
            for item in more {
                if !all.contains(&item) {
                    all.push(item);
                }
            }
            all
        }
        Self {
            immutable: union(self.immutable, other.immutable),
            only_up: union(self.only_up, other.only_up),
            only_down: union(self.only_down, other.only_down),
            most_changed: other.most_changed.or(self.most_changed),
            relations: union(self.relations, other.relations),
            never: union(self.never, other.never),
            transitions: union(self.transitions, other.transitions),
            ranges: self.ranges.into_iter().chain(other.ranges).collect(),
            order: self.order.into_iter().chain(other.order).collect(),
            cost: self.cost.into_iter().chain(other.cost).collect(),
        }
    }

    /// A feature and its range, as in `LIMIT_BAL=10000..500000`, `AGE=18..`, `PAY_0=..2` or `since=2020-01-01..`.
    ///
    /// ```
    /// use cluekit::Constraints;
    /// use cluekit::data::Range;
    ///
    /// let adult = Constraints::parse_range("AGE=18..")?;
    /// assert_eq!(adult, ("AGE".into(), Range { least: Some(18.0.into()), greatest: None }));
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn parse_range(text: &str) -> Result<(String, Range)> {
        let problem = |problem: String| Error::setting("constraints.ranges", problem);
        match text.rsplit_once('=') {
            Some((name, range)) if !name.trim().is_empty() => {
                Ok((name.trim().to_owned(), range.trim().parse().map_err(problem)?))
            }
            _ => Err(problem(format!("`{text}` is not a feature and its range; write `feature=1..5`"))),
        }
    }

    /// A feature and its weight in the distance between inputs, as in `AGE=3`.
    ///
    /// ```
    /// use cluekit::Constraints;
    ///
    /// assert_eq!(Constraints::parse_cost("AGE=3")?, ("AGE".into(), 3.0));
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn parse_cost(text: &str) -> Result<(String, f64)> {
        let parts = text.rsplit_once('=').map(|(name, weight)| (name.trim(), weight.trim().parse()));
        match parts {
            Some((name, Ok(weight))) if !name.is_empty() => Ok((name.to_owned(), weight)),
            _ => {
                let problem = format!("`{text}` is not a feature and its weight; write `feature=3`");
                Err(Error::setting("constraints.cost", problem))
            }
        }
    }

    /// Whether the constraints can be meant for `schema`: known features of fitting kinds, no contradictions.
    ///
    /// Contradictions that depend on the input are found by [`Constraints::bounds`].
    pub fn validate(&self, schema: &Schema) -> Result<()> {
        if schema.image.is_some() && !self.is_empty() {
            let problem = "the features of a table can be constrained, but the schema describes an image; remove them";
            return Err(Error::setting("constraints", problem));
        }
        for name in &self.immutable {
            find(schema, "constraints.immutable", name)?;
        }
        for (key, names) in [("constraints.only_up", &self.only_up), ("constraints.only_down", &self.only_down)] {
            for name in names {
                let feature = find(schema, key, name)?;
                if feature.kind.is_one_hot() && !self.order.contains_key(name) {
                    let kind = feature.kind.name();
                    let problem = "and its values have no order; give one in constraints.order, make it \
                                   immutable, or remove it";
                    return Err(Error::setting(key, format!("`{name}` is {kind}, {problem}")));
                }
            }
        }
        if let Some(name) = self.only_up.iter().find(|name| self.only_down.contains(name)) {
            let problem = format!("`{name}` is also in only_down; put it into immutable if it may go neither way");
            return Err(Error::setting("constraints.only_up", problem));
        }
        if self.most_changed == Some(0) {
            let problem = "0 leaves nothing to change; give 1 or more, or leave it away for no limit";
            return Err(Error::setting("constraints.most_changed", problem));
        }
        for relation in &self.relations {
            for name in relation.names() {
                let feature = find(schema, "constraints.relations", name)?;
                number(feature, "constraints.relations", &format!("`{relation}` compares numbers"))?;
            }
        }
        self.validate_never(schema)?;
        self.validate_categories(schema)?;
        self.ranges.iter().try_for_each(|(name, range)| validate_range(schema, name, range))?;
        self.cost.iter().try_for_each(|(name, weight)| validate_cost(schema, name, *weight))
    }
}

fn validate_cost(schema: &Schema, name: &str, weight: f64) -> Result<()> {
    let key = format!("constraints.cost.{name}");
    find(schema, &key, name)?;
    // Distances are computed in f32.
    match (weight as f32).is_normal() && weight > 0.0 {
        true => Ok(()),
        false => Err(Error::setting(key, format!("a weight is a number above 0, got {weight}; 1 is the usual one"))),
    }
}

fn validate_range(schema: &Schema, name: &str, range: &Range) -> Result<()> {
    let key = format!("constraints.ranges.{name}");
    let feature = find(schema, &key, name)?;
    let scaling = number(feature, &key, "a range is for numbers")?;
    let interval = range.of(feature).map_err(|problem| Error::setting(&key, problem))?;
    if interval.is_empty() {
        return Err(Error::setting(key, format!("{range} is empty; give the smaller end first")));
    }
    let inward = interval.inward(scaling);
    if inward.is_empty() {
        let decimals = scaling.decimals.unwrap_or_default();
        let problem = format!("{range} holds no value with {decimals} decimals, as the data has; widen it");
        return Err(Error::setting(key, problem));
    }
    let ends = [inward.least, inward.greatest];
    match ends.into_iter().flatten().find(|&end| !scaling.encode(end).is_finite()) {
        Some(end) => {
            let problem = format!("{end} is too far from the training rows to be searched; bring it nearer");
            Err(Error::setting(key, problem))
        }
        None => Ok(()),
    }
}

/// The feature called `name`, which `key` mentions.
fn find<'a>(schema: &'a Schema, key: &str, name: &str) -> Result<&'a Feature> {
    schema.features.iter().find(|feature| feature.name == name).ok_or_else(|| {
        let names: Vec<&str> = schema.features.iter().map(|feature| feature.name.as_str()).collect();
        Error::setting(key, unknown(&format!("no feature is called `{name}`"), name, &names, "features"))
    })
}

/// What is wrong with a name that is none of the `choices`, with the likeliest of them.
fn unknown<S: AsRef<str>>(what: &str, name: &str, choices: &[S], plural: &str) -> String {
    let guess = closest(name, choices.iter().map(AsRef::as_ref));
    let guess = guess.map(|guess| format!("; did you mean `{guess}`?")).unwrap_or_default();
    format!("{what}{guess} ({plural}: {})", listed(choices))
}

/// The scaling of a feature that must be a number, for the `reason` given.
fn number<'a>(feature: &'a Feature, key: &str, reason: &str) -> Result<&'a super::Scaling> {
    let Feature { name, kind, .. } = feature;
    kind.scaling().ok_or_else(|| {
        let problem = format!("{reason}, but `{name}` is {}; make it immutable, or leave it away", kind.name());
        Error::setting(key, problem)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::data::{Image, Kind, Scaling, Target, Task};
    use proptest::prelude::*;

    pub(crate) fn strings(values: &[&str]) -> Vec<String> {
        values.iter().map(ToString::to_string).collect()
    }

    pub(crate) fn scaling(mean: f64, deviation: f64, decimals: Option<u32>, ends: [f64; 2]) -> Scaling {
        Scaling { mean, deviation, decimals, least: ends[0], greatest: ends[1] }
    }

    /// The schema of a table with these features.
    pub(crate) fn table(features: Vec<(&str, Kind)>) -> Schema {
        let feature =
            |(name, kind): (&str, Kind)| Feature { name: name.into(), kind, unit: None, meaning: None, missing: None };
        Schema {
            target: Target {
                name: "default".into(),
                task: Task::Classification { classes: strings(&["no", "yes"]) },
                unit: None,
                meaning: None,
            },
            image: None,
            features: features.into_iter().map(feature).collect(),
            constraints: Constraints::default(),
        }
    }

    /// Three whole numbers, one without decimals, a binary and a categorical feature: width 8.
    pub(crate) fn credit() -> Schema {
        table(vec![
            ("LIMIT_BAL", Kind::Continuous(scaling(167_000.0, 130_000.0, Some(0), [10_000.0, 1_000_000.0]))),
            ("BILL_AMT1", Kind::Continuous(scaling(51_000.0, 73_000.0, Some(0), [-15_000.0, 746_000.0]))),
            ("PAY_0", Kind::Ordinal(scaling(0.0, 1.1, Some(0), [-2.0, 8.0]))),
            ("RATE", Kind::Continuous(scaling(3.3, 1.7, None, [0.5, 12.0]))),
            ("MARRIED", Kind::Binary { categories: strings(&["no", "yes"]) }),
            ("EDUCATION", Kind::Categorical { categories: strings(&["school", "university", "other"]) }),
        ])
    }

    pub(crate) fn read(text: &str) -> Constraints {
        toml::from_str(text).unwrap()
    }

    fn problem(text: &str) -> String {
        read(text).validate(&credit()).unwrap_err().to_string()
    }

    const ALL: &str = r#"immutable = ["EDUCATION"]
only_up = ["LIMIT_BAL", "MARRIED"]
only_down = ["PAY_0"]
most_changed = 3
relations = ["BILL_AMT1 <= LIMIT_BAL", "2*RATE - PAY_0 >= 1.5"]
never = ["EDUCATION=other", "PAY_0=8"]
transitions = ["EDUCATION: school -> university", "MARRIED: yes ->"]

[ranges]
LIMIT_BAL = [10000.0, 500000.0]
RATE = "1.."

[order]
EDUCATION = ["school", "university"]

[cost]
RATE = 2.5
"#;

    #[test]
    fn constraints_are_read_and_written_as_people_would_write_them() {
        let constraints = read(ALL);
        constraints.validate(&credit()).unwrap();
        assert_eq!(toml::to_string(&constraints).unwrap(), ALL);
        assert_eq!(toml::to_string(&Constraints::default()).unwrap(), "");
        assert!(Constraints::default().is_empty() && !constraints.is_empty());
        let priced = read("cost = { RATE = 2.0 }");
        assert!(priced.allow_everything() && !priced.is_empty() && !constraints.allow_everything());
    }

    #[test]
    fn unknown_features_are_named_with_the_likeliest_one() {
        assert_eq!(
            problem("immutable = [\"Limit_Bla\"]"),
            "setting `constraints.immutable`: no feature is called `Limit_Bla`; did you mean `LIMIT_BAL`? (features: \
             LIMIT_BAL, BILL_AMT1, PAY_0, RATE, MARRIED, EDUCATION)"
        );
        assert!(problem("only_up = [\"x\"]").starts_with("setting `constraints.only_up`: no feature is called `x` (f"));
        assert!(problem("relations = [\"RAT <= 3\"]").contains("constraints.relations`: no feature is called `RAT`;"));
        assert!(problem("ranges = { RAT = [1, 2] }").contains("constraints.ranges.RAT`: no feature is called `RAT`;"));
        assert!(problem("cost = { RAT = 2.0 }").contains("constraints.cost.RAT`: no feature is called `RAT`;"));
    }

    #[test]
    fn what_does_not_fit_the_kind_of_a_feature_is_refused() {
        assert_eq!(
            problem("only_down = [\"EDUCATION\"]"),
            "setting `constraints.only_down`: `EDUCATION` is categorical, and its values have no order; give one in \
             constraints.order, make it immutable, or remove it"
        );
        assert_eq!(
            problem("ranges = { MARRIED = [0, 1] }"),
            "setting `constraints.ranges.MARRIED`: a range is for numbers, but `MARRIED` is binary; make it immutable, \
             or leave it away"
        );
        assert_eq!(
            problem("relations = [\"MARRIED + PAY_0 <= 1\"]"),
            "setting `constraints.relations`: `MARRIED + PAY_0 <= 1` compares numbers, but `MARRIED` is binary; make \
             it immutable, or leave it away"
        );
        read("only_up = [\"MARRIED\", \"PAY_0\", \"RATE\"]").validate(&credit()).unwrap();
    }

    #[test]
    fn contradictions_are_refused_with_the_remedy() {
        assert_eq!(
            problem("only_up = [\"RATE\"]\nonly_down = [\"RATE\"]"),
            "setting `constraints.only_up`: `RATE` is also in only_down; put it into immutable if it may go neither way"
        );
        assert_eq!(
            problem("most_changed = 0"),
            "setting `constraints.most_changed`: 0 leaves nothing to change; give 1 or more, or leave it away for no \
             limit"
        );
        assert_eq!(
            problem("ranges = { RATE = [5, 1] }"),
            "setting `constraints.ranges.RATE`: 5..1 is empty; give the smaller end first"
        );
        assert_eq!(
            problem("ranges = { PAY_0 = [1.2, 1.8] }"),
            "setting `constraints.ranges.PAY_0`: 1.2..1.8 holds no value with 0 decimals, as the data has; widen it"
        );
        assert!(problem("ranges = { RATE = [1, 1e60] }").contains("is too far from the training rows"));
    }

    #[test]
    fn an_image_has_no_features_to_constrain() {
        let image = Some(Image { channels: 1, height: 2, width: 2, maximum: 255.0 });
        let schema = Schema { image, ..table(vec![]) };
        Constraints::default().validate(&schema).unwrap();
        let message = read("most_changed = 1").validate(&schema).unwrap_err().to_string();
        assert!(message.contains("describes an image; remove them"), "{message}");
    }

    #[test]
    fn merging_gives_the_union_with_the_last_word_to_the_second() {
        let shell = "immutable = [\"RATE\", \"EDUCATION\"]\nmost_changed = 5\nranges = { LIMIT_BAL = \"..9\" }\n\
            never = [\"PAY_0=8\", \"PAY_0=7\"]\ntransitions = [\"MARRIED: no ->\"]\ncost = { RATE = 9.0 }";
        let shell = read(shell);
        let merged = read(ALL).merged(shell);
        assert_eq!(merged.immutable, ["EDUCATION", "RATE"]);
        assert_eq!((merged.most_changed, merged.relations.len()), (Some(5), 2));
        assert_eq!(merged.ranges["LIMIT_BAL"], Range { least: None, greatest: Some(9.0.into()) });
        assert_eq!(merged.ranges["RATE"], Range { least: Some(1.0.into()), greatest: None });
        assert_eq!(merged.never, ["EDUCATION=other", "PAY_0=8", "PAY_0=7"]);
        assert_eq!((merged.transitions.len(), merged.cost["RATE"]), (3, 9.0));
        assert_eq!(merged.order, read(ALL).order);
        assert_eq!(read(ALL).merged(Constraints::default()), read(ALL));
    }

    #[test]
    fn a_range_is_given_in_the_shell_as_feature_and_ends() {
        let (name, range) = Constraints::parse_range("LIMIT_BAL=10000..500000").unwrap();
        assert_eq!((name.as_str(), range.to_string().as_str()), ("LIMIT_BAL", "10000..500000"));
        assert_eq!(Constraints::parse_range("a = b = ..5").unwrap().0, "a = b");
        for (text, problem) in [
            ("=1..5", "`=1..5` is not a feature and its range; write `feature=1..5`"),
            ("AGE", "`AGE` is not a feature and its range; write `feature=1..5`"),
            ("AGE=5", "`5` is not a range; write `1..5`, or leave an end open as in `1..` or `..5`"),
        ] {
            let message = Constraints::parse_range(text).unwrap_err().to_string();
            assert_eq!(message, format!("setting `constraints.ranges`: {problem}"));
        }
    }

    #[test]
    fn a_weight_is_a_number_above_zero() {
        read("cost = { RATE = 0.5, EDUCATION = 3 }").validate(&credit()).unwrap();
        for weight in ["0", "-1", "inf", "nan", "1e-300", "1e300"] {
            let message = problem(&format!("cost = {{ RATE = {weight} }}"));
            assert!(message.starts_with("setting `constraints.cost.RATE`: a weight is a number above 0"), "{message}");
        }
        assert_eq!(Constraints::parse_cost("a = b = 2").unwrap(), ("a = b".into(), 2.0));
        for text in ["AGE", "AGE=", "=3", "AGE=old"] {
            let message = Constraints::parse_cost(text).unwrap_err().to_string();
            let expected = format!("`{text}` is not a feature and its weight; write `feature=3`");
            assert_eq!(message, format!("setting `constraints.cost`: {expected}"));
        }
    }

    proptest! {
        #[test]
        fn toml_keeps_constraints_to_the_last_bit(
            lists in prop::array::uniform3(prop::collection::vec("[a-z \"'é]{1,5}", 0..3)),
            most_changed in prop::option::of(1..9_usize),
            limits in prop::collection::vec(-1e12..1e12, 0..3),
            never in prop::collection::vec("[a-z =é\"]{1,5}", 0..3),
            (from, to) in ("[a-z :,]{1,5}", prop::collection::vec("[a-z :,]{1,5}", 0..3)),
            order in prop::collection::btree_map("[a-z .\"]{1,5}", prop::collection::vec("[a-z <]{1,5}", 1..3), 0..3),
            cost in prop::collection::btree_map("[a-z .\"]{1,5}", 1e-9..1e9, 0..3),
            ranges in prop::collection::btree_map("[a-z .\"]{1,5}", (-1e9..1e9, prop::option::of(-1e9..1e9)), 0..3),
        ) {
            let [immutable, only_up, only_down] = lists;
            let range = |(name, (least, greatest)): (String, (f64, Option<f64>))| {
                (name, Range { least: Some(End::Number(least)), greatest: greatest.map(End::Number) })
            };
            let constraints = Constraints {
                immutable, only_up, only_down, most_changed, never, order, cost,
                transitions: vec![Transition { feature: "a b".into(), from, to }],
                relations: limits.iter().map(|limit| format!("a <= {limit}").parse().unwrap()).collect(),
                ranges: ranges.into_iter().map(range).collect(),
            };
            prop_assert_eq!(read(&toml::to_string(&constraints).unwrap()), constraints);
        }
    }
}
