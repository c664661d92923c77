//! Values that no counterfactual may take, unless the input has them already: `never = ["occupation=?"]`.
//!
//! A category is closed in the bounds. Of a number the bounds can only leave out an end; inside them
//! [`Constraints::repair`] steps aside to the nearest value that is left.

use super::categories::category;
use super::{Constraints, find};
use crate::data::encoding::{Cell, position_in};
use crate::data::{Feature, Scaling, Schema, Value};
use crate::error::{Error, Result};

const KEY: &str = "constraints.never";

/// Every way to read a text as a name and a value: both may hold `=` themselves.
fn readings(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices('=').map(|(at, _)| (text[..at].trim(), text[at + 1..].trim()))
}

impl Constraints {
    /// The values that `never` names for a feature.
    fn never_values<'a>(&'a self, feature: &'a Feature) -> impl Iterator<Item = Cell<'a>> {
        let values = self.never.iter().flat_map(|text| readings(text));
        values.filter(|(name, _)| *name == feature.name).map(|(_, value)| Cell::Text(value))
    }

    /// The rule that keeps a feature from taking a value that it did not have.
    pub(super) fn never_rule(&self, feature: &Feature, to: &Value) -> Option<String> {
        let taken = match (feature.kind.scaling(), feature.number(to)) {
            (Some(_), number) => number.is_some_and(|number| self.forbidden(feature).holds(number)),
            (None, _) => {
                let place = |cell| position_in(feature.kind.categories(), cell);
                place(to.as_cell()).is_some_and(|to| self.never_values(feature).any(|value| place(value) == Some(to)))
            }
        };
        taken.then(|| format!("may never become {}", feature.show(to)))
    }

    /// The numbers that a feature may never become.
    fn forbidden(&self, feature: &Feature) -> Forbidden {
        let numbers = |scaling: &Scaling| {
            let numbers = self.never_values(feature).filter_map(|value| feature.number_of(value));
            numbers.map(|number| [number - scaling.noise(number), number + scaling.noise(number)]).collect()
        };
        Forbidden { spans: feature.kind.scaling().map(numbers).unwrap_or_default() }
    }

    /// The numbers that a feature may never become where the input has `original`, which it may keep.
    pub(super) fn forbidden_from(&self, feature: &Feature, original: f64) -> Forbidden {
        let mut forbidden = self.forbidden(feature);
        forbidden.spans.retain(|[least, greatest]| !(*least..=*greatest).contains(&original));
        forbidden
    }

    /// Whether `never` names features of the schema and values that these can have.
    pub(super) fn validate_never(&self, schema: &Schema) -> Result<()> {
        for text in &self.never {
            let known = |(name, value)| schema.features.iter().find(|f| f.name == name).map(|f| (f, value));
            let meant: Vec<(&Feature, &str)> = readings(text).filter_map(known).collect();
            let checked = meant.iter().map(|(feature, value)| check(feature, value));
            match (readings(text).next(), checked.reduce(Result::or)) {
                (_, Some(checked)) => checked?,
                (Some((name, _)), None) => find(schema, KEY, name).map(|_| ())?,
                (None, None) => {
                    let problem = format!("`{text}` is not a feature and its value; write `feature=value`");
                    return Err(Error::setting(KEY, problem));
                }
            }
        }
        Ok(())
    }
}

/// Whether a feature can have the value.
fn check(feature: &Feature, value: &str) -> Result<()> {
    let Some(_) = feature.kind.scaling() else { return category(feature, KEY, value).map(|_| ()) };
    match feature.number_of(Cell::Text(value)) {
        Some(_) => Ok(()),
        None if feature.kind.is_written_in_words() => {
            let (name, example) = (&feature.name, feature.value(feature.kind.scaling().map_or(0.0, |s| s.least)));
            Err(Error::setting(KEY, format!("`{value}` is no value of `{name}`; write one such as `{name}={example}`")))
        }
        None => {
            let (name, kind) = (&feature.name, feature.kind.name());
            Err(Error::setting(KEY, format!("`{value}` is no number, but `{name}` is {kind}; write `{name}=3`")))
        }
    }
}

/// Numbers that are left out, each with what f32 cannot tell from it.
pub(super) struct Forbidden {
    spans: Vec<[f64; 2]>,
}

impl Forbidden {
    /// Whether a number is left out.
    pub(super) fn holds(&self, number: f64) -> bool {
        self.spans.iter().any(|[least, greatest]| (*least..=*greatest).contains(&number))
    }

    /// The first number from `number` on, in steps upward or downward, that is not left out.
    pub(super) fn beyond(&self, scaling: &Scaling, number: f64, upward: bool) -> f64 {
        let sign = if upward { 1.0 } else { -1.0 };
        let step = match scaling.decimals {
            Some(decimals) => 0.1_f64.powi(decimals as i32),
            None => 4.0 * scaling.noise(number) + 1e-6 * scaling.deviation,
        };
        // Each number that is left out takes away one step at the most.
        let steps = (1..=self.spans.len()).map(|k| scaling.round_down(number + sign * step * k as f64));
        [number].into_iter().chain(steps).find(|number| !self.holds(*number)).unwrap_or(number)
    }

    /// The number nearest to `number` between both ends that is not left out; itself if there is none.
    pub(super) fn aside(&self, scaling: &Scaling, number: f64, [least, greatest]: [f64; 2]) -> f64 {
        let sides = [false, true].map(|upward| self.beyond(scaling, number, upward));
        let inside = sides.into_iter().filter(|side| (least..=greatest).contains(side) && !self.holds(*side));
        inside.min_by(|a, b| (a - number).abs().total_cmp(&(b - number).abs())).unwrap_or(number)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{credit, read, strings, table};
    use super::*;
    use crate::data::Kind;

    fn row(pay: f64, rate: f64, education: &str) -> Vec<Value> {
        let category = |text: &str| Value::Category(text.into());
        let numbers = [20_000.0, 3_000.0, pay, rate].map(Value::Number).into_iter();
        numbers.chain([category("yes"), category(education)]).collect()
    }

    fn problem(text: &str) -> String {
        read(text).validate(&credit()).unwrap_err().to_string()
    }

    #[test]
    fn a_category_is_closed_unless_the_input_has_it() {
        let never = read("never = [\"EDUCATION=other\", \"EDUCATION = school\"]");
        let upper = |education: &str| {
            let encoded = credit().encode_row(&row(1.0, 2.5, education)).unwrap();
            never.bounds(&credit(), &encoded).unwrap().upper[5..].to_vec()
        };
        assert_eq!(upper("university"), [0.0, 1.0, 0.0]);
        assert_eq!(upper("other"), [0.0, 1.0, 1.0]);
        let broken = |from: &str, to: &str| never.broken(&credit(), &row(1.0, 2.5, from), &row(1.0, 2.5, to));
        let told = "EDUCATION may never become other but went from university to other";
        assert_eq!(broken("university", "other"), [told]);
        assert_eq!(broken("other", "other"), Vec::<String>::new());
        assert_eq!(broken("other", "university"), Vec::<String>::new());
    }

    #[test]
    fn a_number_at_an_end_is_left_out_of_the_bounds() {
        let ends = |never: &str, pay: f64| {
            let encoded = credit().encode_row(&row(pay, 2.5, "other")).unwrap();
            let bounds = read(never).bounds(&credit(), &encoded).unwrap();
            bounds.ends(&credit().features[2], credit().columns()[2]).unwrap()
        };
        let never = "never = [\"PAY_0=-2\", \"PAY_0=-1\", \"PAY_0=8\", \"PAY_0=3\"]";
        assert_eq!(ends(never, 1.0), [0.0, 7.0]);
        assert_eq!(ends(never, -1.0), [-1.0, 7.0]);
        assert_eq!(ends(never, 8.0), [0.0, 8.0]);
    }

    #[test]
    fn a_number_inside_the_bounds_steps_aside() {
        let never = read("never = [\"PAY_0=3\", \"PAY_0=2\", \"RATE=5\"]");
        let original = row(1.0, 2.5, "other");
        let encoded = credit().encode_row(&original).unwrap();
        let bounds = never.bounds(&credit(), &encoded).unwrap();
        let repaired = never.repair(&credit(), &original, row(3.0, 5.0, "other"), &bounds);
        assert_eq!(repaired[2], Value::Number(4.0));
        let seen = credit().decode_row(&credit().encode_row(&repaired).unwrap());
        assert_eq!(never.broken(&credit(), &original, &seen), Vec::<String>::new());
        let Value::Number(rate) = seen[3] else { panic!("RATE is a number") };
        assert!((rate - 5.0).abs() < 1e-4, "{rate}");
        assert_eq!(
            never.broken(&credit(), &original, &row(2.0, 2.5, "other")),
            ["PAY_0 may never become 2 but went from 1 to 2"]
        );
    }

    #[test]
    fn an_input_that_has_nothing_left_to_become_is_refused() {
        let constraints = read("never = [\"PAY_0=4\", \"PAY_0=5\"]\nranges = { PAY_0 = [4, 5] }");
        let encoded = |pay| credit().encode_row(&row(pay, 2.5, "other")).unwrap();
        assert_eq!(
            constraints.bounds(&credit(), &encoded(1.0)).unwrap_err().to_string(),
            "setting `constraints.never`: `PAY_0` is 1 in this input, and `never` leaves no value between 4 and 5 that \
             it could take; widen its range, or remove a value"
        );
        constraints.bounds(&credit(), &encoded(4.0)).unwrap();
    }

    #[test]
    fn names_and_values_may_hold_the_sign_between_them() {
        let pay = || Kind::Categorical { categories: strings(&["<=50K", ">50K", "=?"]) };
        let schema = table(vec![("pay", pay()), ("a=b", pay())]);
        read("never = [\"pay=<=50K\", \"pay==?\", \"a=b=>50K\"]").validate(&schema).unwrap();
        let never = read("never = [\"a=b=<=50K\"]");
        never.validate(&schema).unwrap();
        assert!(never.never_rule(&schema.features[1], &Value::Category("<=50K".into())).is_some());
        assert!(never.never_rule(&schema.features[0], &Value::Category("<=50K".into())).is_none());
    }

    #[test]
    fn what_is_no_value_of_a_feature_is_refused() {
        assert_eq!(
            problem("never = [\"EDUCATION=othr\"]"),
            "setting `constraints.never`: `EDUCATION` has no category `othr`; did you mean `other`? (categories: \
             school, university, other)"
        );
        assert!(problem("never = [\"EDUCATIN=other\"]").contains("no feature is called `EDUCATIN`; did you mean"));
        assert_eq!(
            problem("never = [\"EDUCATION\"]"),
            "setting `constraints.never`: `EDUCATION` is not a feature and its value; write `feature=value`"
        );
        assert_eq!(
            problem("never = [\"RATE=x\"]"),
            "setting `constraints.never`: `x` is no number, but `RATE` is continuous; write `RATE=3`"
        );
    }
}
