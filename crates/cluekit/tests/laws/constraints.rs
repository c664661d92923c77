//! What may not change does not.

use super::*;
use cluekit::search::{Portfolio, TrainingRows};
use std::sync::Arc;

const CONSTRAINTS: &str = r#"
immutable = ["AGE", "JOB"]
only_up = ["MEMBER"]
only_down = ["GRADE"]
relations = ["DEBT <= INCOME", "INCOME + 2*DEBT <= 12000"]
ranges = { INCOME = [800, 5000], RATE = "..6" }
"#;

/// A decoded row by the names of its features.
struct Person(BTreeMap<String, Value>);

impl Person {
    fn of(schema: &Schema, x: &[f32]) -> Self {
        Self(schema.features.iter().map(|feature| feature.name.clone()).zip(schema.decode_row(x)).collect())
    }

    fn number(&self, name: &str) -> f64 {
        match self.0[name] {
            Value::Number(number) => number,
            Value::Category(_) | Value::Missing => unreachable!("{name} is a number"),
        }
    }

    fn keeps_ranges(&self) -> bool {
        (800.0..=5000.0).contains(&self.number("INCOME")) && self.number("RATE") <= 6.0 + 1e-5
    }

    fn keeps_relations(&self) -> bool {
        let [income, debt] = ["INCOME", "DEBT"].map(|name| self.number(name));
        debt <= income && income + 2.0 * debt <= 12_000.0
    }

    fn is_allowed(&self) -> bool {
        self.keeps_ranges() && self.keeps_relations()
    }

    fn changed_from(&self, before: &Self) -> Vec<&str> {
        let same = |name: &str| match (&self.0[name], &before.0[name]) {
            // The one number without decimals.
            (Value::Number(a), Value::Number(b)) if name == "RATE" => (a - b).abs() < 1e-5,
            (a, b) => a == b,
        };
        self.0.keys().map(String::as_str).filter(|name| !same(name)).collect()
    }

    /// Which constraint the change from `before` breaks, if any.
    fn broken(&self, before: &Self, most_changed: usize) -> Option<&'static str> {
        let changed = self.changed_from(before);
        let rules = [
            ("immutable", changed.contains(&"AGE") || changed.contains(&"JOB")),
            ("direction of a binary feature", changed.contains(&"MEMBER") && before.0["MEMBER"].to_string() == "yes"),
            ("direction of an ordinal feature", self.number("GRADE") > before.number("GRADE")),
            ("range", !self.keeps_ranges()),
            ("relation", !self.keeps_relations()),
            ("number of changes", changed.len() > most_changed),
        ];
        rules.into_iter().find(|(_, broken)| *broken).map(|(rule, _)| rule)
    }
}

/// Searches of every method, in both decodings, for the inputs that `keep`; each clue keeps every constraint.
fn assert_constraints_are_kept(most_changed: Option<usize>, keep: impl Fn(&Person) -> bool) {
    let most = most_changed.map(|most| format!("most_changed = {most}")).unwrap_or_default();
    let world = World::table(&format!("{most}\n{CONSTRAINTS}"));
    let schema = world.schema.as_ref().unwrap();
    let possible = |row: usize| {
        keep(&Person::of(schema, world.samples.row(row)))
            && schema.constraints.bounds(schema, world.samples.row(row)).is_ok()
    };
    let inputs = world.uncertain(4, possible);
    let delta = Search { threshold: 0.6, ..with_sub_searches(&Search::delta_clue(ball(2.0), 3)) };
    let nabla = Search::nabla_clue(ball(2.0), 3, diversity(0.3, Diversity::Coverage, Space::X));
    let (mut moved, mut problems) = (0, Vec::new());
    for (name, search) in [("clue", Search::clue()), ("δ-clue", delta), ("∇-clue", nabla)] {
        for (decoding, seed) in DECODINGS.into_iter().flat_map(|decoding| [1, 2, 3].map(|seed| (decoding, seed))) {
            for explanation in world.explain(&Search { decoding, ..search.clone() }, &inputs, seed) {
                let before = Person::of(schema, &explanation.input.x);
                for clue in &explanation.clues {
                    let now = Person::of(schema, &clue.x);
                    assert_eq!(clue.x, schema.encode_row(&schema.decode_row(&clue.x)).unwrap(), "{name}: no row");
                    let mut changes: Vec<&str> = clue.changes.iter().map(|change| change.feature.as_str()).collect();
                    changes.sort_unstable();
                    assert_eq!(changes, now.changed_from(&before), "{name}");
                    moved += usize::from(!changes.is_empty());
                    if let Some(rule) = now.broken(&before, most_changed.unwrap_or(usize::MAX)) {
                        assert!(!clue.accepted, "{name}, {decoding:?}, seed {seed}: accepted, but {rule} is broken");
                        problems.push(format!("{name}, {decoding:?}, seed {seed}: {rule}: {:?}", clue.reason));
                    }
                }
            }
        }
    }
    assert!(moved > 20, "too few clues change anything: {moved}");
    let some = problems.iter().take(5).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(problems.is_empty(), "{} clues break a constraint, such as\n{some}", problems.len());
}

#[test]
fn every_clue_keeps_every_constraint() {
    assert_constraints_are_kept(None, Person::is_allowed);
}

#[test]
fn every_clue_keeps_every_constraint_with_few_changes() {
    for most in [1, 2] {
        assert_constraints_are_kept(Some(most), Person::is_allowed);
    }
}

#[test]
fn an_input_outside_a_range_or_relation_is_brought_inside() {
    assert_constraints_are_kept(None, |person| !person.is_allowed());
}

#[test]
fn an_input_outside_a_range_is_brought_inside_by_one_of_few_changes() {
    assert_constraints_are_kept(Some(2), |person| !person.keeps_ranges() && person.keeps_relations());
}

#[test]
fn an_input_that_breaks_a_relation_is_mended_by_one_of_few_changes() {
    assert_constraints_are_kept(Some(2), |person| person.keeps_ranges() && !person.keeps_relations());
}

/// Every job that a clue has, with that of its input, of all methods and of a portfolio.
fn jobs(constraints: &str) -> Vec<[String; 2]> {
    let world = World::table(constraints);
    let (schema, inputs) = (world.schema.as_ref().unwrap(), world.inputs(12));
    let uncertainty = world.predictions().into_iter().map(|prediction| prediction.uncertainty).collect();
    let rows = TrainingRows::new(schema, Arc::new(world.samples.clone()), uncertainty, None).unwrap();
    let background = Background { rows: Some(Arc::new(rows)), ..world.background() };
    let delta = Search { threshold: 0.6, ..Search::delta_clue(ball(2.0), 3) };
    let tried = Search { portfolio: Some(Portfolio::default()), ..delta.clone() };
    let mut jobs = Vec::new();
    for (search, decoding) in [Search::clue(), delta, tried].iter().flat_map(|s| DECODINGS.map(|d| (s, d))) {
        let search = Search { decoding, ..search.clone() };
        let explanations = search.explain(&world.models(), &background, &inputs, Seed(1), &mut Silent).unwrap();
        for explanation in &explanations {
            let job = |x: &[f32]| Person::of(schema, x).0["JOB"].to_string();
            jobs.extend(explanation.clues.iter().map(|clue| [job(&explanation.input.x), job(&clue.x)]));
            let broken = |clue: &&Clue| clue.reason.as_ref().is_some_and(|reason| reason.to_string().contains("JOB"));
            assert_eq!(explanation.clues.iter().find(broken), None);
        }
    }
    jobs
}

#[test]
fn categories_that_are_forbidden_are_never_reached() {
    let rules: [(&str, &[[&str; 2]]); 4] = [
        ("never = [\"JOB=field\"]", &[["none", "field"], ["office", "field"]]),
        (
            "transitions = [\"JOB: none -> office\", \"JOB: field ->\"]",
            &[["none", "field"], ["field", "none"], ["field", "office"]],
        ),
        (
            "only_up = [\"JOB\"]\norder = { JOB = [\"field\", \"none\", \"office\"] }",
            &[["none", "field"], ["office", "none"], ["office", "field"]],
        ),
        (
            "only_down = [\"JOB\"]\norder = { JOB = [\"none\", \"office\"] }",
            &[["none", "office"], ["none", "field"], ["office", "field"], ["field", "none"], ["field", "office"]],
        ),
    ];
    let free = jobs("");
    for (constraints, forbidden) in rules {
        let is_forbidden =
            |change: &&[String; 2]| forbidden.iter().any(|pair| *pair == change.each_ref().map(|j| j.as_str()));
        assert!(free.iter().any(|change| is_forbidden(&change)), "{constraints} forbids what nobody does");
        assert_eq!(jobs(constraints).iter().find(is_forbidden), None, "{constraints}");
    }
}

#[test]
fn a_cost_weighs_the_distance_of_every_clue() {
    let world = World::table("cost = { AGE = 5.0, JOB = 0.5 }");
    let inputs = world.inputs(4);
    let mut search = Search::delta_clue(ball(2.0), 2);
    search.objective.input = Weighted(0.1, Distance::L1);
    let weights = [5.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5];
    for explanation in world.explain(&search, &inputs, 1) {
        for clue in &explanation.clues {
            let terms =
                clue.x.iter().zip(&explanation.input.x).zip(weights).map(|((a, b), weight)| (a - b).abs() * weight);
            let distance: f32 = terms.sum();
            assert!((clue.distance.input - distance).abs() < 1e-3, "{} is not {distance}", clue.distance.input);
            let cost = clue.uncertainty.total + 0.1 * distance;
            assert!((clue.cost - cost).abs() < 1e-3, "{} is not {cost}", clue.cost);
        }
    }
}
