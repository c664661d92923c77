//! Which constraints some final values break, in words.

use super::Constraints;
use crate::data::encoding::position_in;
use crate::data::missing::MISSING;
use crate::data::{Feature, Schema, Value};
use std::cmp::Ordering;

impl Feature {
    /// Whether two values of the feature differ by more than the rounding of f32.
    pub fn differs(&self, one: &Value, other: &Value) -> bool {
        match (self.level(one), self.level(other)) {
            (Some(a), Some(b)) => (a - b).abs() > self.noise(a),
            _ => one != other,
        }
    }

    /// `value` on a scale from low to high: a number itself, the place of a category.
    pub(super) fn level(&self, value: &Value) -> Option<f64> {
        match self.kind.scaling() {
            Some(_) => self.number(value),
            None => position_in(self.kind.categories(), value.as_cell()).map(|place| place as f64),
        }
    }

    fn noise(&self, value: f64) -> f64 {
        self.kind.scaling().map_or(0.0, |scaling| scaling.noise(value))
    }
}

impl Schema {
    /// The features that differ between two rows, by their position.
    pub fn changed(&self, original: &[Value], values: &[Value]) -> Vec<usize> {
        let pairs = self.features.iter().zip(original.iter().zip(values)).enumerate();
        pairs.filter(|(_, (feature, (from, to)))| feature.differs(from, to)).map(|(index, _)| index).collect()
    }
}

impl Constraints {
    /// The rule that keeps a feature from going from one value to another by itself; none if it may.
    ///
    /// Nothing becomes missing, and what is missing may become any value that is allowed, since it lies in no direction.
    pub(super) fn rule(&self, feature: &Feature, from: &Value, to: &Value) -> Option<String> {
        if !feature.differs(from, to) {
            return None;
        }
        let from_missing = feature.is_missing(from);
        let direction = match (self.level(feature, from), self.level(feature, to)) {
            (Some(from), Some(to)) => from.partial_cmp(&to),
            _ => None,
        };
        if self.immutable.contains(&feature.name) {
            Some("is immutable".into())
        } else if feature.is_missing(to) {
            Some(format!("may never become {MISSING}"))
        } else if self.only_up.contains(&feature.name) && direction != Some(Ordering::Less) && !from_missing {
            Some("may only go up".into())
        } else if self.only_down.contains(&feature.name) && direction != Some(Ordering::Greater) && !from_missing {
            Some("may only go down".into())
        } else {
            self.never_rule(feature, to).or_else(|| self.transition_rule(feature, from, to))
        }
    }

    /// Every constraint that `values` break as a counterfactual of `original`, with the values; none if all are kept.
    ///
    /// Both are rows as [`Schema::decode_row`] gives them. The constraints must be valid for the schema.
    pub fn broken(&self, schema: &Schema, original: &[Value], values: &[Value]) -> Vec<String> {
        let mut broken = Vec::new();
        let changed = schema.changed(original, values);
        for &index in &changed {
            let (feature, from, to) = (&schema.features[index], &original[index], &values[index]);
            if let Some(rule) = self.rule(feature, from, to) {
                let [from, to] = [from, to].map(|value| feature.show(value));
                broken.push(format!("{} {rule} but went from {from} to {to}", feature.name));
            }
        }
        for (feature, value) in schema.features.iter().zip(values) {
            if let (Some(range), Some(number)) = (self.ranges.get(&feature.name), feature.level(value))
                && !self.range_of(feature).contains(number, feature.noise(number))
            {
                broken.push(format!("{} = {} lies outside {range}", feature.name, feature.show(value)));
            }
        }
        let number = |(feature, value): (&Feature, &Value)| feature.number(value).unwrap_or(f64::NAN);
        let numbers: Vec<f64> = schema.features.iter().zip(values).map(number).collect();
        for (relation, inequality) in self.relations.iter().zip(self.inequalities(schema)) {
            if !inequality.holds(schema, &numbers) {
                let value = |name: &str| {
                    let place = schema.features.iter().position(|feature| feature.name == name);
                    place.map_or(f64::NAN, |index| numbers[index])
                };
                broken.push(format!("{relation} does not hold: {}", relation.contrary(value)));
            }
        }
        if let Some(most) = self.most_changed.filter(|&most| changed.len() > most) {
            broken.push(format!("{} features changed, at most {most} may", changed.len()));
        }
        broken
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{credit, read};
    use super::*;
    use crate::data::Missing;

    fn row(limit: f64, bill: f64, pay: f64, rate: f64, married: &str, education: &str) -> Vec<Value> {
        let category = |text: &str| Value::Category(text.into());
        let numbers = [limit, bill, pay, rate].map(Value::Number);
        numbers.into_iter().chain([category(married), category(education)]).collect()
    }

    fn broken(constraints: &str, values: &[Value]) -> Vec<String> {
        let original = row(20_000.0, 3_000.0, 1.0, 2.5, "yes", "school");
        read(constraints).broken(&credit(), &original, values)
    }

    #[test]
    fn each_broken_constraint_is_told_with_its_values() {
        let values = row(900_000.0, 950_000.0, 2.0, 2.0, "no", "other");
        let constraints = "immutable = [\"EDUCATION\", \"LIMIT_BAL\"]\nonly_up = [\"MARRIED\", \"RATE\"]\n\
            only_down = [\"PAY_0\"]\nmost_changed = 3\n\
            relations = [\"BILL_AMT1 <= LIMIT_BAL\"]\nranges = { LIMIT_BAL = [10000, 500000], RATE = \"2.1..\" }";
        let expected = [
            "LIMIT_BAL is immutable but went from 20000 to 900000",
            "PAY_0 may only go down but went from 1 to 2",
            "RATE may only go up but went from 2.5 to 2",
            "MARRIED may only go up but went from yes to no",
            "EDUCATION is immutable but went from school to other",
            "LIMIT_BAL = 900000 lies outside 10000..500000",
            "RATE = 2 lies outside 2.1..",
            "BILL_AMT1 <= LIMIT_BAL does not hold: 950000 > 900000",
            "6 features changed, at most 3 may",
        ];
        assert_eq!(broken(constraints, &values), expected);
    }

    #[test]
    fn what_is_kept_is_not_mentioned() {
        let values = row(20_000.0, 20_000.0, 0.0, 2.5, "yes", "school");
        let constraints = "immutable = [\"EDUCATION\", \"LIMIT_BAL\"]\nonly_up = [\"BILL_AMT1\"]\n\
            only_down = [\"PAY_0\", \"MARRIED\"]\nmost_changed = 2\n\
            relations = [\"BILL_AMT1 <= LIMIT_BAL\", \"RATE >= 2.5\"]\nranges = { BILL_AMT1 = [0, 20000] }";
        assert_eq!(broken(constraints, &values), Vec::<String>::new());
    }

    #[test]
    fn rules_of_categories_are_told_with_what_they_allow() {
        let values = row(20_000.0, 3_000.0, 8.0, 2.5, "no", "other");
        let constraints =
            "never = [\"PAY_0=8\"]\ntransitions = [\"MARRIED: yes ->\", \"EDUCATION: school -> university\"]";
        let expected = [
            "PAY_0 may never become 8 but went from 1 to 8",
            "MARRIED must stay yes but went from yes to no",
            "EDUCATION leads from school only to university but went from school to other",
        ];
        assert_eq!(broken(constraints, &values), expected);
        let order = "only_up = [\"EDUCATION\"]\norder = { EDUCATION = [\"school\", \"university\"] }";
        assert_eq!(broken(order, &values), ["EDUCATION may only go up but went from school to other"]);
        let values = row(20_000.0, 3_000.0, 1.0, 2.5, "yes", "university");
        assert_eq!(broken(order, &values), Vec::<String>::new());
    }

    #[test]
    fn nothing_becomes_missing_and_what_is_missing_lies_in_no_direction() {
        let mut schema = credit();
        schema.features[2].missing = Some(Missing::default());
        let row = |pay: Value| {
            let mut values = row(20_000.0, 3_000.0, 0.0, 2.5, "yes", "school");
            values[2] = pay;
            values
        };
        let constraints = read("only_down = [\"PAY_0\"]\nrelations = [\"PAY_0 <= 0\"]");
        let broken = |from: Value, to: Value| constraints.broken(&schema, &row(from), &row(to));
        assert_eq!(
            broken(Value::Number(0.0), Value::Missing),
            ["PAY_0 may never become missing but went from 0 to missing"]
        );
        assert_eq!(broken(Value::Missing, Value::Missing), Vec::<String>::new());
        assert_eq!(broken(Value::Missing, Value::Number(-1.0)), Vec::<String>::new());
        assert_eq!(broken(Value::Missing, Value::Number(3.0)), ["PAY_0 <= 0 does not hold: 3 > 0"]);
    }

    #[test]
    fn the_noise_of_f32_is_forgiven_only_where_nothing_is_rounded() {
        let noisy = |limit: f64, rate: f64| row(limit, 3_000.0, 1.0, rate, "yes", "school");
        let constraints =
            "immutable = [\"RATE\", \"LIMIT_BAL\"]\nrelations = [\"RATE <= 2.5\", \"LIMIT_BAL <= 20000\"]";
        assert_eq!(broken(constraints, &noisy(20_000.0, 2.500_001)), Vec::<String>::new());
        assert_eq!(broken(constraints, &noisy(20_000.0, 2.501)).len(), 2);
        assert_eq!(broken(constraints, &noisy(20_000.01, 2.5)).len(), 2);
    }
}
