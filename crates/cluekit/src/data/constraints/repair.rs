//! Final values that keep the relations.
//!
//! Rounding to the decimals of the data can push a counterfactual over the edge of a relation. One feature after the
//! other takes the value, nearest to what the search found, that the relations still leave it. Those that have not
//! changed choose first, so they seldom need to; last comes the one whose small steps weigh most in a relation.

use super::domains::{Domains, Inequality};
use super::never::Forbidden;
use super::{Bounds, Constraints};
use crate::data::{Feature, Schema, Value};

/// How many values of one feature are tried around the nearest one.
const MOST_TRIALS: usize = 64;
/// How often the domains are tightened before the search is given up.
const MOST_TIGHTENINGS: usize = 4000;

impl Constraints {
    /// `values`, a decoded candidate, with its numbers inside `bounds` and nudged as little as possible until every
    /// relation holds; features that `bounds` pins, and categories that it closes, are as in `original`.
    ///
    /// Where that is not possible the relations stay broken, and [`Constraints::broken`] says so.
    pub fn repair(&self, schema: &Schema, original: &[Value], mut values: Vec<Value>, bounds: &Bounds) -> Vec<Value> {
        let mut domains = bounds.domains(schema);
        for (index, (feature, column)) in schema.features.iter().zip(schema.columns()).enumerate() {
            if bounds.pins(column) || bounds.closes(feature, column, &values[index]) {
                values[index] = original[index].clone();
            }
            if bounds.pins(column) {
                domains.ends[index] = [number(feature, &values[index]); 2];
            } else if values[index] == Value::Missing {
                continue;
            } else if let Some(scaling) = feature.kind.scaling() {
                let [least, greatest] = domains.ends[index];
                let forbidden = self.forbidden_from(feature, number(feature, &original[index]));
                let inside = number(feature, &values[index]).clamp(least, greatest);
                values[index] = feature.value(forbidden.aside(scaling, inside, [least, greatest]));
            }
        }
        let relations = self.inequalities(schema).into_iter().map(|relation| relation.of_present(&values));
        let relations: Vec<Inequality> = relations.collect();
        let numbers = |values: &[Value]| -> Vec<f64> {
            schema.features.iter().zip(values).map(|(feature, value)| number(feature, value)).collect()
        };
        let wanted = numbers(&values);
        if relations.iter().all(|relation| relation.holds(schema, &wanted)) {
            return values;
        }
        let forbidden = schema.features.iter().zip(original).map(|(f, from)| self.forbidden_from(f, number(f, from)));
        let forbidden: Vec<Forbidden> = forbidden.collect();
        let task = Task { schema, relations: &relations, forbidden: &forbidden, wanted: &wanted };
        let order = task.order(&schema.changed(original, &values));
        // The last resort is the original, if it kept the relations.
        let back = numbers(original);
        let back = || task.allows(&order, &back, &domains).then_some(back);
        if let Some(found) = task.settle(&order, &domains, &mut 0).or_else(back) {
            order.iter().for_each(|&index| values[index] = schema.features[index].value(found[index]));
        }
        values
    }
}

/// The number of a value, NaN if it is missing; categories take no part in relations.
fn number(feature: &Feature, value: &Value) -> f64 {
    match value {
        Value::Missing => f64::NAN,
        value => feature.number(value).unwrap_or_default(),
    }
}

/// What is to be settled: `wanted` but for `relations`.
struct Task<'a> {
    schema: &'a Schema,
    relations: &'a [Inequality],
    /// Numbers that each feature may never become.
    forbidden: &'a [Forbidden],
    wanted: &'a [f64],
}

impl Task<'_> {
    /// The features of the relations in the order in which they choose.
    fn order(&self, changed: &[usize]) -> Vec<usize> {
        let mut order: Vec<(bool, f64, usize)> = Vec::new();
        for (index, feature) in self.schema.features.iter().enumerate() {
            let terms = self.relations.iter().flat_map(|relation| &relation.terms);
            let weights = terms.filter(|(place, _)| *place == index).map(|(_, coefficient)| coefficient.abs());
            if let (Some(weight), Some(scaling)) = (weights.max_by(f64::total_cmp), feature.kind.scaling()) {
                order.push((changed.contains(&index), weight * scaling.deviation, index));
            }
        }
        order.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        order.into_iter().map(|(_, _, index)| index).collect()
    }

    /// Values for the features in `order` that keep the relations, if the search finds them.
    fn settle(&self, order: &[usize], domains: &Domains, tightenings: &mut usize) -> Option<Vec<f64>> {
        *tightenings += 1;
        let mut domains = domains.clone();
        if *tightenings > MOST_TIGHTENINGS || domains.tighten(self.schema, self.relations).is_err() {
            return None;
        }
        let Some((&first, rest)) = order.split_first() else {
            return Some(domains.ends.iter().map(|ends| ends[0]).collect());
        };
        self.trials(first, domains.ends[first]).into_iter().find_map(|value| {
            domains.ends[first] = [value; 2];
            self.settle(rest, &domains, tightenings)
        })
    }

    /// Values between both ends, the nearest to what is wanted first.
    fn trials(&self, index: usize, [least, greatest]: [f64; 2]) -> Vec<f64> {
        let scaling = self.schema.features[index].kind.scaling().expect("only numbers take part in relations");
        let step = match scaling.decimals {
            Some(decimals) => 0.1_f64.powi(decimals as i32),
            None => (greatest - least) / 8.0,
        };
        let nearest = self.wanted[index].clamp(least, greatest);
        let around = (1..MOST_TRIALS).map(|k| k as f64 * step).flat_map(|far| [nearest - far, nearest + far]);
        let inside = around.map(|value| scaling.round_down(value)).filter(|value| (least..=greatest).contains(value));
        let all = [nearest].into_iter().chain(inside.take(MOST_TRIALS)).chain([least, greatest]);
        all.filter(|value| !self.forbidden[index].holds(*value)).collect()
    }

    /// Whether the features in `order` may have their `values`, and the relations hold.
    fn allows(&self, order: &[usize], values: &[f64], domains: &Domains) -> bool {
        let inside = |&index: &usize| (domains.ends[index][0]..=domains.ends[index][1]).contains(&values[index]);
        order.iter().all(inside) && self.relations.iter().all(|relation| relation.holds(self.schema, values))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Transition;
    use super::super::tests::{read, scaling, strings, table};
    use super::*;
    use crate::data::{Kind, Missing};
    use proptest::prelude::*;

    const NAMES: [&str; 3] = ["a", "b", "c"];

    /// Three numbers from 0 to 6 with different deviations, so that `c` is the cheapest to move.
    fn schema(decimals: [Option<u32>; 3]) -> Schema {
        let kind = |i: usize| Kind::Continuous(scaling(3.0, 1.0 + i as f64, decimals[i], [0.0, 6.0]));
        table((0..3).map(|i| (NAMES[i], kind(i))).collect())
    }

    fn row(values: [f64; 3]) -> Vec<Value> {
        values.map(Value::Number).to_vec()
    }

    fn repaired(schema: &Schema, constraints: &str, original: [f64; 3], values: [f64; 3]) -> [f64; 3] {
        let constraints = read(constraints);
        let bounds = constraints.bounds(schema, &schema.encode_row(&row(original)).unwrap()).unwrap();
        let values = constraints.repair(schema, &row(original), row(values), &bounds);
        assert_eq!(constraints.broken(schema, &row(original), &values), Vec::<String>::new());
        [0, 1, 2].map(|index| values[index].as_cell().number().unwrap_or_default())
    }

    const WHOLE: [Option<u32>; 3] = [Some(0); 3];

    #[test]
    fn what_keeps_all_relations_is_left_alone() {
        let text = "relations = [\"a <= b\", \"b <= c\"]";
        assert_eq!(repaired(&schema(WHOLE), text, [0.0; 3], [1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn the_feature_that_has_changed_gives_way() {
        let text = "relations = [\"a <= b\"]";
        assert_eq!(repaired(&schema(WHOLE), text, [1.0, 2.0, 0.0], [4.0, 2.0, 0.0]), [2.0, 2.0, 0.0]);
        assert_eq!(repaired(&schema(WHOLE), text, [4.0, 5.0, 0.0], [4.0, 2.0, 0.0]), [4.0, 4.0, 0.0]);
        // Both have changed: a step of b is half as far in encoded columns.
        assert_eq!(repaired(&schema(WHOLE), text, [1.0, 1.0, 0.0], [4.0, 2.0, 0.0]), [4.0, 4.0, 0.0]);
    }

    #[test]
    fn pinned_features_and_directions_are_respected() {
        let text = "immutable = [\"b\"]\nonly_up = [\"a\"]\nrelations = [\"a <= b\", \"c >= a\"]";
        assert_eq!(repaired(&schema(WHOLE), text, [1.0, 2.0, 3.0], [5.0, 2.0, 0.0]), [2.0, 2.0, 2.0]);
    }

    #[test]
    fn relations_hold_on_the_decimals_of_each_feature() {
        let schema = schema([Some(0), Some(1), None]);
        assert_eq!(repaired(&schema, "relations = [\"2*a <= b\"]", [0.0, 2.5, 0.0], [2.0, 2.5, 0.0]), [1.0, 2.5, 0.0]);
        assert_eq!(repaired(&schema, "relations = [\"3*b >= a\"]", [2.0, 1.0, 0.0], [2.0, 0.1, 0.0]), [2.0, 0.7, 0.0]);
        let [.., c] = repaired(&schema, "relations = [\"3*c >= a\"]", [2.0, 1.0, 1.0], [2.0, 1.0, 0.1]);
        assert!((c - 2.0 / 3.0).abs() < 1e-6);
    }

    #[test]
    fn what_cannot_be_kept_is_left_for_the_judge() {
        let schema = schema(WHOLE);
        let constraints = read("relations = [\"a + b <= 3\"]");
        let original = row([2.0, 1.0, 0.0]);
        let encoded = schema.encode_row(&original).unwrap();
        let mut bounds = constraints.bounds(&schema, &encoded).unwrap();
        bounds.lower.copy_from_slice(&schema.encode_row(&row([2.0, 2.0, 0.0])).unwrap());
        let values = constraints.repair(&schema, &original, row([4.0, 0.0, 1.0]), &bounds);
        assert_eq!(values, row([4.0, 2.0, 1.0]));
        assert_eq!(constraints.broken(&schema, &original, &values), ["a + b <= 3 does not hold: 6 > 3"]);
    }

    fn coefficients() -> impl Strategy<Value = Vec<[i32; 4]>> {
        prop::collection::vec([-3..=3, -3..=3, -3..=3, -9..=9_i32], 1..4)
    }

    /// Relations from coefficients and limit; those without any feature say nothing.
    fn relations(lines: &[[i32; 4]]) -> String {
        let lines = lines.iter().filter(|line| line[..3].iter().any(|&c| c != 0));
        let texts = lines.map(|[a, b, c, limit]| format!("\"{a}*a + {b}*b + {c}*c <= {limit}\"").replace("+ -", "- "));
        format!("relations = [{}]", texts.collect::<Vec<_>>().join(", "))
    }

    fn keeps(lines: &[[i32; 4]], v: [i32; 3]) -> bool {
        lines.iter().all(|[a, b, c, limit]| a * v[0] + b * v[1] + c * v[2] <= *limit)
    }

    const JOBS: [&str; 4] = ["student", "clerk", "judge", "?"];

    /// A whole number, any number, one of two and a job.
    fn mixed() -> impl Strategy<Value = Vec<Value>> {
        (0..=6_i32, prop_oneof![0.0..6.0, (0..=6_i32).prop_map(f64::from)], any::<bool>(), 0..4_usize).prop_map(
            |(a, b, member, job)| {
                let member = Value::Category(if member { "yes" } else { "no" }.into());
                vec![Value::Number(a.into()), Value::Number(b), member, Value::Category(JOBS[job].into())]
            },
        )
    }

    /// Two whole numbers and a job, each of which may be missing.
    fn gaps() -> Schema {
        let number = || Kind::Ordinal(scaling(3.0, 2.0, Some(0), [0.0, 6.0]));
        let jobs = Kind::Categorical { categories: strings(&["clerk", "judge", "missing"]) };
        let mut schema = table(vec![("a", number()), ("b", number()), ("job", jobs)]);
        for feature in &mut schema.features {
            let median = feature.kind.scaling().map(|_| 2.0);
            feature.missing = Some(Missing { sentinels: vec![], median });
        }
        schema
    }

    fn with_gaps() -> impl Strategy<Value = Vec<Value>> {
        let number = || prop_oneof![(0..=6_i32).prop_map(|v| Value::Number(v.into())), Just(Value::Missing)];
        let job = (0..3_usize).prop_map(|job| Value::Category(["clerk", "judge", "missing"][job].into()));
        (number(), number(), job).prop_map(|(a, b, job)| vec![a, b, job])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn repaired_values_break_nothing_that_could_be_kept(
            lines in coefficients(), original in prop::array::uniform3(0..=6_i32), values in prop::array::uniform3(0..=6_i32),
        ) {
            let schema = schema(WHOLE);
            let lines: Vec<_> = lines.into_iter().filter(|line| line[..3] != [0; 3]).collect();
            let constraints = read(&format!("only_up = [\"a\"]\n{}", relations(&lines)));
            let (from, to) = (row(original.map(f64::from)), row(values.map(f64::from)));
            let Ok(bounds) = constraints.bounds(&schema, &schema.encode_row(&from).unwrap()) else {
                let possible = (0..343).map(|n| [n / 49, n / 7 % 7, n % 7]);
                prop_assert!(!possible.filter(|v| v[0] >= original[0]).any(|v| keeps(&lines, v)));
                return Ok(());
            };
            let values = constraints.repair(&schema, &from, to.clone(), &bounds);
            let mut possible = (0..343).map(|n| [n / 49, n / 7 % 7, n % 7]).filter(|v| v[0] >= original[0]);
            if possible.any(|v| keeps(&lines, v)) {
                prop_assert_eq!(constraints.broken(&schema, &from, &values), Vec::<String>::new());
                prop_assert_eq!(constraints.repair(&schema, &from, values.clone(), &bounds), values);
            }
        }

        #[test]
        fn repaired_values_keep_every_rule_of_single_features(
            from in mixed(), to in mixed(), never in prop::collection::vec(mixed(), 0..3),
            lines in prop::collection::vec((0..4_usize, prop::collection::vec(0..4_usize, 0..3)), 0..3),
            (order, direction) in (Just(JOBS.to_vec()).prop_shuffle(), 0..3_usize), ordered in 2..=4_usize,
        ) {
            let schema = table(vec![
                ("a", Kind::Ordinal(scaling(3.0, 2.0, Some(0), [0.0, 6.0]))),
                ("b", Kind::Continuous(scaling(3.0, 2.0, None, [0.0, 6.0]))),
                ("member", Kind::Binary { categories: strings(&["no", "yes"]) }),
                ("job", Kind::Categorical { categories: strings(&JOBS) }),
            ]);
            let mut constraints = read(&format!("order = {{ job = {:?} }}", &order[..ordered]));
            let named = |row: &Vec<Value>| [0, 1, 3].map(|i| format!("{}={}", schema.features[i].name, row[i]));
            constraints.never = never.iter().flat_map(named).collect();
            let line = |(from, to): &(usize, Vec<usize>)| Transition {
                feature: "job".into(), from: JOBS[*from].into(), to: to.iter().map(|&job| JOBS[job].into()).collect(),
            };
            constraints.transitions = lines.iter().map(line).collect();
            let directed = strings(&["job", "member", "a"]);
            match direction {
                0 => constraints.only_up = directed,
                1 => constraints.only_down = directed,
                _ => {}
            }
            let bounds = constraints.bounds(&schema, &schema.encode_row(&from).unwrap()).unwrap();
            let repaired = constraints.repair(&schema, &from, to, &bounds);
            let encoded = schema.encode_row(&repaired).unwrap();
            prop_assert_eq!(constraints.broken(&schema, &from, &schema.decode_row(&encoded)), Vec::<String>::new());
            let columns = encoded.iter().zip(bounds.lower.iter().zip(&bounds.upper));
            prop_assert!(columns.into_iter().all(|(x, (l, u))| (l - 1e-6..=u + 1e-6).contains(x)));
            prop_assert_eq!(constraints.repair(&schema, &from, repaired.clone(), &bounds), repaired);
        }

        #[test]
        fn repaired_values_are_missing_only_where_they_were(
            from in with_gaps(), to in with_gaps(), pinned in 0..3_usize, least in 0..=5_i32, up in any::<bool>(),
        ) {
            let schema = gaps();
            let mut constraints = read(&format!("ranges = {{ b = [{least}, 6] }}\nrelations = [\"a <= b\"]"));
            constraints.immutable = [strings(&[]), strings(&["a"]), strings(&["job"])][pinned].clone();
            constraints.only_up = if up && pinned == 0 { strings(&["a"]) } else { vec![] };
            let Ok(bounds) = constraints.bounds(&schema, &schema.encode_row(&from).unwrap()) else { return Ok(()) };
            let repaired = constraints.repair(&schema, &from, to.clone(), &bounds);
            for (place, feature) in schema.features.iter().enumerate() {
                let [from, repaired] = [&from, &repaired].map(|row| feature.is_missing(&row[place]));
                prop_assert!(from || !repaired, "{} became missing", feature.name);
                prop_assert!(!constraints.immutable.contains(&feature.name) || from == repaired);
            }
            prop_assert_eq!(constraints.broken(&schema, &from, &repaired), Vec::<String>::new());
            let again = constraints.repair(&schema, &from, repaired.clone(), &bounds);
            prop_assert_eq!(again, repaired);
        }

        #[test]
        fn an_original_that_keeps_the_relations_can_always_be_repaired_towards(
            lines in coefficients(), original in prop::array::uniform3(0.0..6.0), values in prop::array::uniform3(0.0..6.0),
            decimals in prop::array::uniform3(prop::option::of(0..3_u32)),
        ) {
            let schema = schema(decimals);
            let original = schema.encode_row(&row(original)).unwrap();
            let from = schema.decode_row(&original);
            let at = |line: &[i32; 4]| (0..3).map(|i| f64::from(line[i]) * from[i].as_cell().number().unwrap_or_default()).sum::<f64>();
            let lines: Vec<_> = lines.into_iter().map(|line| [line[0], line[1], line[2], at(&line).ceil() as i32]).collect();
            let constraints = read(&relations(&lines));
            let bounds = constraints.bounds(&schema, &original).unwrap();
            let to = schema.decode_row(&schema.encode_row(&row(values)).unwrap());
            let repaired = constraints.repair(&schema, &from, to, &bounds);
            let seen = schema.decode_row(&schema.encode_row(&repaired).unwrap());
            prop_assert_eq!(constraints.broken(&schema, &from, &seen), Vec::<String>::new());
        }
    }
}
