//! The groups that one feature splits rows into: its categories, its few values, or its quarters.

use super::{Connective, Limit, Node, Order, Predicate, Test, check_table, find, number};
use crate::data::{Feature, Scaling, Schema, Value};
use crate::error::{Error, Result};
use std::collections::BTreeSet;

/// The most values of a number that get a group each.
const MOST_SINGLE: usize = 8;

impl Predicate {
    /// Conditions on `feature` of which each of the decoded `rows` meets exactly one, and each is met by some row.
    ///
    /// One for each category that occurs. For a number, one for each value if there are at most eight, else the
    /// quarters of the rows in its order: cuts are values of the rows, equal values stay together, so that there may
    /// be fewer than four; and one for the rows in which it is missing.
    pub fn partition(feature: &str, schema: &Schema, rows: &[Vec<Value>]) -> Result<Vec<Self>> {
        let nodes = nodes(feature, schema, rows).map_err(Error::data)?;
        Ok(nodes.into_iter().map(Self).collect())
    }
}

fn nodes(name: &str, schema: &Schema, rows: &[Vec<Value>]) -> std::result::Result<Vec<Node>, String> {
    check_table(schema)?;
    let (index, feature) = find(schema, name)?;
    let groups = match feature.kind.scaling() {
        Some(scaling) => {
            let is_missing = |row: &&Vec<Value>| row.get(index) == Some(&Value::Missing) && feature.has_indicator();
            let missing = rows.iter().any(|row| is_missing(&row)).then(|| vec![Test::Missing]);
            let there = rows.iter().filter(|row| !is_missing(row));
            let finite = |value: &Value| number(feature, value).filter(|number| number.is_finite());
            let numbers = column(there, index, feature, finite)?;
            by_number(numbers, scaling).into_iter().chain(missing).collect()
        }
        None => {
            let categories = feature.kind.categories();
            by_category(column(rows.iter(), index, feature, |value| place(value, categories))?, categories)
        }
    };
    let node = |test| Node::test(index, feature, test);
    let all = |tests: Vec<Test>| Node::joined(Connective::And, tests.into_iter().map(node).collect());
    Ok(groups.into_iter().map(all).collect())
}

/// What `fit` reads from each row's value of the feature.
fn column<'a, T>(
    rows: impl Iterator<Item = &'a Vec<Value>>,
    index: usize,
    feature: &Feature,
    fit: impl Fn(&Value) -> Option<T>,
) -> std::result::Result<Vec<T>, String> {
    let read = |(row, values): (usize, &Vec<Value>)| {
        let value = values.get(index);
        value.and_then(&fit).ok_or_else(|| {
            let Feature { name, kind, .. } = feature;
            let got = value.map_or("nothing".into(), |value| format!("`{value}`"));
            format!("row {row} has {got} as `{name}`, which is {}; give rows that fit the schema", kind.name())
        })
    };
    rows.enumerate().map(read).collect()
}

fn place(value: &Value, categories: &[String]) -> Option<usize> {
    match value {
        Value::Category(text) => categories.iter().position(|category| category == text),
        Value::Number(_) | Value::Missing => None,
    }
}

/// A group for each place that occurs. All tests of a group must pass.
fn by_category(places: Vec<usize>, categories: &[String]) -> Vec<Vec<Test>> {
    let occurring = BTreeSet::from_iter(places);
    occurring.into_iter().map(|place| vec![Test::Categories(vec![categories[place].clone()])]).collect()
}

/// A group for each value, or for each quarter. All tests of a group must pass.
fn by_number(mut numbers: Vec<f64>, scaling: &Scaling) -> Vec<Vec<Test>> {
    numbers.sort_by(f64::total_cmp);
    let singles = distinct(numbers.iter().copied(), scaling);
    // Values that f32 blurs into each other may equal two of the distinct ones; cuts keep them apart.
    let clear = |number: &f64| singles.iter().filter(|single| single.equals(*number)).count() == 1;
    match singles.as_slice() {
        [.., last_but_one, _] if singles.len() > MOST_SINGLE || !numbers.iter().all(clear) => {
            let quartile = |quarter: usize| numbers[(numbers.len() * quarter).div_ceil(4) - 1];
            // The greatest value has no greater ones to be cut off from.
            let cuts = (1..4).map(|quarter| quartile(quarter).min(last_but_one.value));
            between(&distinct(cuts, scaling))
        }
        _ => singles.into_iter().map(|single| vec![Test::Numbers(vec![single])]).collect(),
    }
}

/// The ranges that `cuts` make of all numbers; a cut belongs to the range below it.
fn between(cuts: &[Limit]) -> Vec<Vec<Test>> {
    let above = |cut: &Limit| Test::Order(Order::Above, *cut);
    let at_most = |cut: &Limit| Test::Order(Order::AtMost, *cut);
    let lowest = cuts.first().map(|cut| vec![at_most(cut)]);
    let inner = cuts.windows(2).map(|ends| vec![above(&ends[0]), at_most(&ends[1])]);
    let highest = cuts.last().map(|cut| vec![above(cut)]);
    lowest.into_iter().chain(inner).chain(highest).collect()
}

/// The different ones of ascending numbers, in digits that a person can read.
fn distinct(ascending: impl Iterator<Item = f64>, scaling: &Scaling) -> Vec<Limit> {
    let mut distinct: Vec<Limit> = Vec::new();
    for number in ascending {
        if !distinct.last().is_some_and(|last| last.equals(number)) {
            distinct.push(readable(number, scaling));
        }
    }
    distinct
}

/// `number` with the digits of an f32, if these mean the same.
fn readable(number: f64, scaling: &Scaling) -> Limit {
    let short = (number as f32).to_string().parse().ok().filter(|short| f64::is_finite(*short));
    let short = short.map(|short| Limit::new(short, scaling)).filter(|short| short.equals(number));
    short.unwrap_or_else(|| Limit::new(number, scaling))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Kind;
    use crate::data::Missing;
    use crate::data::constraints::tests::{credit, scaling, strings, table};
    use proptest::prelude::*;

    fn schema(decimals: Option<u32>) -> Schema {
        table(vec![
            ("x", Kind::Continuous(scaling(0.0, 1.0, decimals, [0.0, 100.0]))),
            ("job", Kind::Categorical { categories: strings(&["nurse", "truck driver", "none"]) }),
        ])
    }

    fn rows(numbers: impl IntoIterator<Item = f64>) -> Vec<Vec<Value>> {
        numbers.into_iter().map(|number| vec![Value::Number(number), Value::Category("none".into())]).collect()
    }

    fn texts(feature: &str, rows: &[Vec<Value>]) -> Vec<String> {
        let groups = Predicate::partition(feature, &schema(Some(1)), rows).unwrap();
        groups.iter().map(ToString::to_string).collect()
    }

    fn problem(feature: &str, rows: &[Vec<Value>]) -> String {
        Predicate::partition(feature, &schema(Some(1)), rows).unwrap_err().to_string()
    }

    #[test]
    fn rows_in_which_a_number_is_missing_are_a_group() {
        let mut schema = table(vec![("x", Kind::Continuous(scaling(0.0, 1.0, Some(0), [0.0, 9.0])))]);
        schema.features[0].missing = Some(Missing { sentinels: vec![], median: Some(1.0) });
        let rows: Vec<Vec<Value>> = [Value::Number(1.0), Value::Missing, Value::Number(2.0)].map(|v| vec![v]).to_vec();
        let parts = Predicate::partition("x", &schema, &rows).unwrap();
        let texts: Vec<String> = parts.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["x = 1", "x = 2", "x = missing"]);
        let held = |text: &str| {
            let predicate = Predicate::parse(text, &schema).unwrap();
            assert_eq!(predicate.to_string(), text);
            rows.iter().map(|row| predicate.holds(row)).collect::<Vec<_>>()
        };
        assert_eq!(held("x = missing"), [false, true, false]);
        assert_eq!(held("x != missing"), [true, false, true]);
        assert_eq!((held("x >= 1"), held("x in 0..9")), (vec![true, false, true], vec![true, false, true]));
        schema.features[0].missing = None;
        assert!(Predicate::parse("x = missing", &schema).is_err());
    }

    #[test]
    fn categories_that_occur_are_groups_in_the_order_of_the_schema() {
        let row = |job: &str| vec![Value::Number(0.0), Value::Category(job.into())];
        assert_eq!(texts("job", &["none", "nurse", "none"].map(row)), ["job = nurse", "job = none"]);
        assert_eq!(texts("job", &["truck driver"].map(row)), ["job = \"truck driver\""]);
        assert!(texts("job", &[]).is_empty() && texts("x", &[]).is_empty());
    }

    #[test]
    fn few_values_are_groups_of_their_own() {
        assert_eq!(texts("x", &rows([3.0, 1.5, 3.0, -2.0])), ["x = -2", "x = 1.5", "x = 3"]);
        assert_eq!(texts("x", &rows((0..80).map(|i| f64::from(i % 8)))).len(), 8);
    }

    #[test]
    fn many_values_are_split_into_quarters() {
        let expected = ["x <= 3", "x > 3 and x <= 6", "x > 6 and x <= 9", "x > 9"];
        assert_eq!(texts("x", &rows((1..=12).rev().map(f64::from))), expected);
    }

    #[test]
    fn values_that_coincide_make_fewer_groups() {
        let mostly = |value: f64| rows((1..=9).map(f64::from).chain([value; 100]));
        assert_eq!(texts("x", &mostly(0.0)), ["x <= 0", "x > 0"]);
        assert_eq!(texts("x", &mostly(20.0)), ["x <= 9", "x > 9"]);
        assert_eq!(texts("x", &mostly(5.0)), ["x <= 5", "x > 5"]);
    }

    #[test]
    fn values_without_decimals_are_shown_with_the_digits_of_an_f32() {
        let decoded = f64::from(0.1_f32);
        let groups = Predicate::partition("x", &schema(None), &rows([decoded, 2.0, 0.1])).unwrap();
        assert_eq!(groups.iter().map(ToString::to_string).collect::<Vec<_>>(), ["x = 0.1", "x = 2"]);
        let huge = Predicate::partition("x", &schema(None), &rows([1e300, -1e300])).unwrap();
        assert_eq!((huge.len(), huge[1].holds(&rows([1e300])[0])), (2, true));
    }

    #[test]
    fn values_that_blur_into_each_other_are_cut_apart() {
        // Noise is a millionth: the second equals both of the others, which differ.
        let values = rows([1.0, 1.000_000_9, 1.000_001_8]);
        let groups = Predicate::partition("x", &schema(None), &values).unwrap();
        assert!(groups.len() > 1);
        assert!(values.iter().all(|row| groups.iter().filter(|group| group.holds(row)).count() == 1));
    }

    #[test]
    fn what_cannot_be_split_is_named() {
        assert_eq!(problem("X", &[]), "no feature is called `X`; did you mean `x`? (features: x, job)");
        let fit = "give rows that fit the schema";
        assert_eq!(problem("x", &rows([1.0, f64::NAN])), format!("row 1 has `NaN` as `x`, which is continuous; {fit}"));
        let other = [vec![Value::Number(1.0), Value::Category("pilot".into())]];
        assert_eq!(problem("job", &other), format!("row 0 has `pilot` as `job`, which is categorical; {fit}"));
        assert_eq!(problem("x", &[vec![]]), format!("row 0 has nothing as `x`, which is continuous; {fit}"));
    }

    proptest! {
        #[test]
        fn every_decoded_row_meets_exactly_one_group_and_every_group_is_met(
            encoded in prop::collection::vec((-3.0..3.0_f32, 0..4_u8, 0..6_usize), 1..60), coarse: bool,
        ) {
            let schema = credit();
            let row = |&(number, step, hot): &(f32, u8, usize)| {
                let rate = if coarse { f32::from(step) } else { number };
                let mut row = [number, number, f32::from(step) - 1.0, rate, (hot % 2) as f32, 0.0, 0.0, 0.0];
                row[5 + hot % 3] = 1.0;
                schema.decode_row(&row)
            };
            let rows: Vec<_> = encoded.iter().map(row).collect();
            for feature in &schema.features {
                let groups = Predicate::partition(&feature.name, &schema, &rows).unwrap();
                for row in &rows {
                    prop_assert_eq!(groups.iter().filter(|group| group.holds(row)).count(), 1);
                }
                for group in &groups {
                    prop_assert!(rows.iter().any(|row| group.holds(row)), "{}", group);
                    prop_assert_eq!(&Predicate::parse(&group.to_string(), &schema).unwrap(), group);
                }
            }
        }
    }
}
