//! Categories that a feature can reach, and the order in which they stand.
//!
//! `order = { education = ["none", "school", "college"] }` makes `only_up` and `only_down` hold for a category. One that
//! the order leaves out is above none and below none: it cannot be reached, and nothing can be reached from it.

use super::phrase::{self, ORDER, Sign};
use super::{Constraints, Transition, find, unknown};
use crate::data::encoding::{Cell, position_in};
use crate::data::{Bounds, Feature, Schema, Value};
use crate::error::{Error, Result};

impl Constraints {
    /// A feature and its categories from low to high, as in `education: none < school < college`.
    ///
    /// ```
    /// use cluekit::Constraints;
    ///
    /// let (feature, categories) = Constraints::parse_order("size: small < large")?;
    /// assert_eq!((feature.as_str(), categories), ("size", vec!["small".into(), "large".into()]));
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn parse_order(text: &str) -> Result<(String, Vec<String>)> {
        let problem = |problem| Error::setting("constraints.order", format!("in `{text}`, {problem}"));
        let (mut names, signs) = phrase::pieces(&ORDER, text).map_err(problem)?;
        match signs.split_first() {
            Some((Sign::Colon, less))
                if less.iter().all(|sign| *sign == Sign::Less) && !names.iter().any(String::is_empty) =>
            {
                Ok((names.remove(0), names))
            }
            _ => Err(problem("an order is missing; write it like `education: none < school < college`".into())),
        }
    }

    /// `value` on a scale from low to high: a number itself, the place of a category in its order, or of one of two.
    pub(super) fn level(&self, feature: &Feature, value: &Value) -> Option<f64> {
        match (self.order.get(&feature.name), feature.kind.scaling()) {
            (Some(order), None) => position_in(order, value.as_cell()).map(|place| place as f64),
            _ => feature.level(value),
        }
    }

    /// Closes the categories that a feature cannot reach from `original`, an encoded row.
    pub(super) fn close_categories(&self, schema: &Schema, original: &[f32], index: usize, bounds: &mut Bounds) {
        let (feature, column) = (&schema.features[index], schema.columns()[index]);
        let current = feature.decode(&original[column.range()]);
        let categories = feature.kind.categories();
        let is_open = |category: &String| self.rule(feature, &current, &Value::Category(category.clone())).is_none();
        let open: Vec<bool> = categories.iter().map(is_open).collect();
        if open.iter().filter(|open| **open).count() == 1 {
            bounds.pin(schema, original, index);
        } else if column.len == open.len() {
            let closed = column.range().zip(open).filter(|(_, open)| !open);
            closed.for_each(|(column, _)| bounds.upper[column] = 0.0);
        }
    }

    /// The rule of the transitions that keeps a feature from going from one category to another.
    pub(super) fn transition_rule(&self, feature: &Feature, from: &Value, to: &Value) -> Option<String> {
        let categories = feature.kind.categories();
        let is = |text: &str, value: &Value| {
            let place = position_in(categories, Cell::Text(text));
            place.is_some() && place == position_in(categories, value.as_cell())
        };
        let lines = || self.transitions.iter().filter(|line| line.feature == feature.name && is(&line.from, from));
        let allowed = || lines().flat_map(|line| line.to.iter().map(String::as_str));
        if lines().next().is_none() || allowed().any(|category| is(category, to)) {
            return None;
        }
        let choices: Vec<&str> = allowed().collect();
        Some(match choices.is_empty() {
            true => format!("must stay {from}"),
            false => format!("leads from {from} only to {}", choices.join(", ")),
        })
    }

    /// Whether orders and transitions name features and categories of the schema.
    pub(super) fn validate_categories(&self, schema: &Schema) -> Result<()> {
        for (name, order) in &self.order {
            let key = format!("constraints.order.{name}");
            let feature = categorical(schema, &key, name)?;
            if order.len() < 2 {
                let problem = "an order has at least two categories; list them from low to high";
                return Err(Error::setting(key, problem));
            }
            let places: Vec<usize> = order.iter().map(|text| category(feature, &key, text)).collect::<Result<_>>()?;
            if let Some(twice) = (1..places.len()).find(|&at| places[..at].contains(&places[at])) {
                return Err(Error::setting(key, format!("`{}` stands there twice; remove one", order[twice])));
            }
        }
        for Transition { feature, from, to } in &self.transitions {
            let key = "constraints.transitions";
            let feature = categorical(schema, key, feature)?;
            [from].into_iter().chain(to).try_for_each(|text| category(feature, key, text).map(|_| ()))?;
        }
        Ok(())
    }
}

/// The feature called `name`, which must have categories.
fn categorical<'a>(schema: &'a Schema, key: &str, name: &str) -> Result<&'a Feature> {
    let feature = find(schema, key, name)?;
    match feature.kind.scaling() {
        None => Ok(feature),
        Some(_) => {
            let kind = feature.kind.name();
            let problem = format!("is for categories, but `{name}` is {kind}; use only_up, only_down or ranges");
            Err(Error::setting(key, problem))
        }
    }
}

/// The place of the category that `key` mentions.
pub(super) fn category(feature: &Feature, key: &str, text: &str) -> Result<usize> {
    let categories = feature.kind.categories();
    position_in(categories, Cell::Text(text)).ok_or_else(|| {
        let what = format!("`{}` has no category `{text}`", feature.name);
        Error::setting(key, unknown(&what, text, categories, "categories"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{credit, read, strings};
    use super::*;

    fn encoded(married: &str, education: &str) -> Vec<f32> {
        let category = |text: &str| Value::Category(text.into());
        let numbers = [20_000.0, 3_000.0, 1.0, 2.5].map(Value::Number).into_iter();
        let row: Vec<Value> = numbers.chain([category(married), category(education)]).collect();
        credit().encode_row(&row).unwrap()
    }

    /// Both ends of MARRIED, and of EDUCATION: school, university, other.
    fn ends(constraints: &str, married: &str, education: &str) -> ([f32; 2], [[f32; 2]; 3]) {
        let bounds = read(constraints).bounds(&credit(), &encoded(married, education)).unwrap();
        let at = |column: usize| [bounds.lower[column], bounds.upper[column]];
        (at(4), [5, 6, 7].map(at))
    }

    const OPEN: [f32; 2] = [0.0, 1.0];
    const CLOSED: [f32; 2] = [0.0; 2];
    const HELD: [f32; 2] = [1.0; 2];

    #[test]
    fn transitions_close_what_they_do_not_list_and_leave_other_categories_free() {
        let text = "transitions = [\"EDUCATION: school -> university\", \"EDUCATION: other ->\", \"MARRIED: yes ->\"]";
        assert_eq!(ends(text, "yes", "school"), (HELD, [OPEN, OPEN, CLOSED]));
        assert_eq!(ends(text, "no", "university"), (OPEN, [OPEN; 3]));
        assert_eq!(ends(text, "no", "other").1, [CLOSED, CLOSED, HELD]);
    }

    #[test]
    fn several_lines_of_one_category_add_up() {
        let text = "transitions = [\"EDUCATION: school -> university\", \"EDUCATION: school -> other\"]";
        assert_eq!(ends(text, "no", "school").1, [OPEN; 3]);
    }

    #[test]
    fn directions_follow_the_order_of_categories() {
        let order = "order = { EDUCATION = [\"other\", \"school\", \"university\"] }\n";
        let up = format!("only_up = [\"EDUCATION\"]\n{order}");
        assert_eq!(ends(&up, "no", "school").1, [OPEN, OPEN, CLOSED]);
        assert_eq!(ends(&up, "no", "university").1, [CLOSED, HELD, CLOSED]);
        let down = format!("only_down = [\"EDUCATION\"]\n{order}");
        assert_eq!(ends(&down, "no", "school").1, [OPEN, CLOSED, OPEN]);
        // An order turns a binary feature round.
        let turned = "only_up = [\"MARRIED\"]\norder = { MARRIED = [\"yes\", \"no\"] }";
        assert_eq!(ends(turned, "yes", "school").0, OPEN);
        assert_eq!(ends(turned, "no", "school").0, CLOSED);
    }

    #[test]
    fn a_category_outside_the_order_is_closed_unless_the_input_has_it() {
        let text = "only_up = [\"EDUCATION\"]\norder = { EDUCATION = [\"school\", \"university\"] }";
        assert_eq!(ends(text, "no", "school").1, [OPEN, OPEN, CLOSED]);
        assert_eq!(ends(text, "no", "other").1, [CLOSED, CLOSED, HELD]);
    }

    #[test]
    fn an_order_is_given_in_the_shell_from_low_to_high() {
        let (name, order) = Constraints::parse_order("EDUCATION: 'other' < school<university").unwrap();
        assert_eq!((name.as_str(), order), ("EDUCATION", strings(&["other", "school", "university"])));
        for text in ["", "EDUCATION", "school < university", "EDUCATION: a < ", ": a < b", "a: b: c"] {
            let message = Constraints::parse_order(text).unwrap_err().to_string();
            assert_eq!(
                message,
                format!(
                    "setting `constraints.order`: in `{text}`, an order is missing; write it like `education: none < \
                     school < college`"
                )
            );
        }
    }

    #[test]
    fn unknown_categories_and_numbers_are_refused() {
        let problem = |text: &str| read(text).validate(&credit()).unwrap_err().to_string();
        assert_eq!(
            problem("transitions = [\"EDUCATION: scool -> other\"]"),
            "setting `constraints.transitions`: `EDUCATION` has no category `scool`; did you mean `school`? \
             (categories: school, university, other)"
        );
        assert_eq!(
            problem("transitions = [\"PAY_0: 1 -> 2\"]"),
            "setting `constraints.transitions`: is for categories, but `PAY_0` is ordinal; use only_up, only_down or \
             ranges"
        );
        assert!(problem("transitions = [\"JOB: 1 -> 2\"]").contains("no feature is called `JOB`"));
        assert!(problem("order = { EDUCATION = [\"school\", \"x\"] }").contains("has no category `x` (categories: "));
        assert!(problem("order = { RATE = [\"1\", \"2\"] }").contains("order.RATE`: is for categories, but"));
        assert!(problem("order = { EDUCATION = [\"school\"] }").contains("has at least two categories"));
        assert!(problem("order = { EDUCATION = [\"school\", \"school\"] }").contains("`school` stands there twice"));
    }
}
