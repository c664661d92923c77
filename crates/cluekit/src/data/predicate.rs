//! A condition on the rows of a table, so that a user can say which rows form a group.
//!
//! `parse.rs` reads the text of a condition piece by piece (`words.rs`), and `partition.rs` makes the conditions that
//! split rows by one feature.

mod parse;
mod partition;
mod words;

use super::encoding::closest;
use super::missing::MISSING;
use super::{Feature, Scaling, Schema, Value};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use words::written;

/// How many features or categories a message lists before it only counts them.
const MOST_LISTED: usize = 12;

/// How many characters of a condition, or of a word in it, a message repeats.
const MOST_REPEATED: usize = 100;

/// Which rows of a table are meant.
///
/// ```text
/// AGE >= 30 and not (JOB in {nurse, "truck driver"} or INCOME in 20000..50000)
/// ```
///
/// | condition | holds where the feature |
/// |---|---|
/// | `A = v`, `A == v`, `A != v` | is, or is not, this number or category |
/// | `A < v`, `A <= v`, `A > v`, `A >= v` | is a number on this side of `v` |
/// | `A in {v, w}` | is one of these numbers or categories |
/// | `A in 20..30`, `A in 20..`, `A in ..30` | is a number between the ends, which belong to it |
/// | `A = missing`, `A != missing` | has no value, or has one; for a feature that may be missing |
///
/// `not` binds tighter than `and`, and `and` tighter than `or`; `!`, `&&` and `||` mean the same. Names and categories
/// that are not a run of letters, digits, `_`, `-` and `.` stand in quotes (double, single or
/// back-quotes), where a quote is doubled.
///
/// A predicate is written in a normal form, which reads back as the same predicate: no brackets or repetitions that
/// change nothing, lists in order, `!=` for a negated `=`, `>=` and `<=` for ranges with one end.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate(Node);

/// A condition and its parts. Reading bounds how deep they nest, so that walking through them may recurse.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    /// What one feature must be.
    Test { feature: Box<Feature>, index: usize, test: Test },
    /// Never of another negation.
    Not(Box<Node>),
    /// Two or more, none of them joined by the same word.
    Joined(Connective, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Connective {
    And,
    Or,
}

/// A test of one value. A value of the other kind passes none.
#[derive(Clone, Debug, PartialEq)]
enum Test {
    /// One of these, in the order of the schema.
    Categories(Vec<String>),
    /// One of these, ascending.
    Numbers(Vec<Limit>),
    /// On this side of a limit.
    Order(Order, Limit),
    /// Neither below the first nor above the second.
    Between(Limit, Limit),
    /// A number that is missing.
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// A number to compare with. Those that f32 and back cannot tell from it count as equal to it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Limit {
    value: f64,
    noise: f64,
}

impl Predicate {
    /// Reads a condition on the features of `schema`.
    ///
    /// Names and categories must exist, and numbers be compared with numbers.
    ///
    /// ```
    /// use cluekit::Seed;
    /// use cluekit::data::source::moons;
    /// use cluekit::data::{Predicate, Value};
    ///
    /// let right = Predicate::parse("x1 > 0.5 and x2 <= 1", &moons::make(Seed(0)).schema)?;
    /// assert!(right.holds(&[Value::Number(0.6), Value::Number(0.0)]));
    /// assert!(!right.holds(&[Value::Number(0.4), Value::Number(0.0)]));
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn parse(text: &str, schema: &Schema) -> Result<Self> {
        let refused = |problem| Error::setting("where", problem);
        check_table(schema).map_err(refused)?;
        let within = |problem| refused(format!("in `{}`, {problem}", shortened(text)));
        parse::parse(text, schema).map(Self).map_err(within)
    }

    /// Whether `row` is meant: a decoded row of the same schema, as [`Schema::decode_row`] returns it.
    ///
    /// Numbers that decoding cannot tell apart, since the data has no decimals to round to, are equal. A value that is
    /// missing or NaN is neither equal to anything nor on any side of it.
    pub fn holds(&self, row: &[Value]) -> bool {
        self.0.holds(row)
    }
}

impl Node {
    fn test(index: usize, feature: &Feature, test: Test) -> Self {
        Self::Test { feature: Box::new(feature.clone()), index, test }
    }

    fn negated(self) -> Self {
        match self {
            Self::Not(node) => *node,
            node => Self::Not(Box::new(node)),
        }
    }

    /// One condition of at least one; `a and (b and c)` is `a and b and c`.
    fn joined(connective: Connective, nodes: Vec<Self>) -> Self {
        let mut flat = Vec::new();
        for node in nodes {
            match node {
                Self::Joined(inner, nodes) if inner == connective => flat.extend(nodes),
                node => flat.push(node),
            }
        }
        match <[Self; 1]>::try_from(flat) {
            Ok([only]) => only,
            Err(several) => Self::Joined(connective, several),
        }
    }

    fn holds(&self, row: &[Value]) -> bool {
        match self {
            Self::Test { feature, index, test } => row.get(*index).is_some_and(|value| test.passes(feature, value)),
            Self::Not(node) => !node.holds(row),
            Self::Joined(Connective::And, nodes) => nodes.iter().all(|node| node.holds(row)),
            Self::Joined(Connective::Or, nodes) => nodes.iter().any(|node| node.holds(row)),
        }
    }
}

impl Test {
    fn passes(&self, feature: &Feature, value: &Value) -> bool {
        match (self, number(feature, value)) {
            (Self::Categories(choices), _) => matches!(value, Value::Category(text) if choices.contains(text)),
            (Self::Missing, _) => *value == Value::Missing,
            (_, None) => false,
            (Self::Numbers(choices), Some(number)) => choices.iter().any(|limit| limit.equals(number)),
            (Self::Order(order, limit), Some(number)) => order.passes(number, limit),
            (Self::Between(least, greatest), Some(number)) => {
                Order::AtLeast.passes(number, least) && Order::AtMost.passes(number, greatest)
            }
        }
    }
}

impl Order {
    fn passes(self, number: f64, limit: &Limit) -> bool {
        let place = limit.place(number);
        match self {
            Self::Below => place == Some(Ordering::Less),
            Self::AtMost => matches!(place, Some(Ordering::Less | Ordering::Equal)),
            Self::Above => place == Some(Ordering::Greater),
            Self::AtLeast => matches!(place, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

impl Limit {
    fn new(value: f64, scaling: &Scaling) -> Self {
        Self { value: value + 0.0, noise: scaling.noise(value) }
    }

    /// Where `number` lies, seen from the limit; nowhere if it is NaN.
    fn place(&self, number: f64) -> Option<Ordering> {
        if (number - self.value).abs() <= self.noise {
            return Some(Ordering::Equal);
        }
        number.partial_cmp(&self.value)
    }

    fn equals(&self, number: f64) -> bool {
        self.place(number) == Some(Ordering::Equal)
    }
}

/// The number of a value, or of a word or date that has one; a text is none where the feature holds plain numbers.
fn number(feature: &Feature, value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Category(_) if feature.kind.is_written_in_words() => feature.number(value),
        Value::Category(_) | Value::Missing => None,
    }
}

fn check_table(schema: &Schema) -> std::result::Result<(), String> {
    match schema.image {
        Some(_) => Err("rows are told apart by the features of a table, but the schema describes an image, which has \
                        none; leave the condition away"
            .into()),
        None => Ok(()),
    }
}

/// The feature called `name` and its place in a row.
fn find<'a>(schema: &'a Schema, name: &str) -> std::result::Result<(usize, &'a Feature), String> {
    match schema.features.iter().position(|feature| feature.name == name) {
        Some(index) => Ok((index, &schema.features[index])),
        None => {
            let names: Vec<&str> = schema.features.iter().map(|feature| feature.name.as_str()).collect();
            let (guess, name) = (guess(name, &names), shortened(name));
            Err(format!("no feature is called `{name}`{guess} (features: {})", listed(&names)))
        }
    }
}

/// A question after the choice that looks like `name`, if there is one.
fn guess(name: &str, choices: &[&str]) -> String {
    let guess = closest(name, choices.iter().copied());
    guess.map(|guess| format!("; did you mean `{}`?", written(guess))).unwrap_or_default()
}

/// The beginning of a text that is too long for a message, else all of it.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST_REPEATED) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The choices as a condition writes them, shortened if there are many.
fn listed(choices: &[&str]) -> String {
    let shown: Vec<_> = choices.iter().take(MOST_LISTED).map(|choice| written(choice)).collect();
    match choices.len().saturating_sub(MOST_LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Test { feature, test, .. } => test.write(f, feature, "="),
            Self::Not(node) => match &**node {
                Self::Test { feature, test, .. } if test.is_one_value() => test.write(f, feature, "!="),
                Self::Joined(..) => write!(f, "not ({node})"),
                Self::Test { .. } | Self::Not(_) => write!(f, "not {node}"),
            },
            Self::Joined(connective, nodes) => {
                for (index, node) in nodes.iter().enumerate() {
                    if index > 0 {
                        write!(f, " {connective} ")?;
                    }
                    match node {
                        Self::Joined(Connective::Or, _) => write!(f, "({node})")?,
                        node => node.fmt(f)?,
                    }
                }
                Ok(())
            }
        }
    }
}

impl Test {
    fn is_one_value(&self) -> bool {
        match self {
            Self::Categories(choices) => choices.len() == 1,
            Self::Numbers(choices) => choices.len() == 1,
            Self::Missing => true,
            Self::Order(..) | Self::Between(..) => false,
        }
    }

    /// The test of `feature`, with the sign `equal` before a single value.
    fn write(&self, f: &mut fmt::Formatter<'_>, of: &Feature, equal: &str) -> fmt::Result {
        let feature = written(&of.name);
        let shown = |limit: &Limit| match of.value(limit.value) {
            Value::Number(number) => number.to_string(),
            word => written(&word.to_string()).into_owned(),
        };
        match self {
            Self::Categories(choices) => {
                let choices: Vec<_> = choices.iter().map(|choice| written(choice)).collect();
                write_choices(f, &feature, equal, &choices)
            }
            Self::Numbers(choices) => {
                let choices: Vec<_> = choices.iter().map(shown).collect();
                write_choices(f, &feature, equal, &choices)
            }
            Self::Order(order, limit) => write!(f, "{feature} {order} {}", shown(limit)),
            Self::Between(least, greatest) => write!(f, "{feature} in {}..{}", shown(least), shown(greatest)),
            Self::Missing => write!(f, "{feature} {equal} {MISSING}"),
        }
    }
}

fn write_choices(f: &mut fmt::Formatter<'_>, feature: &str, equal: &str, choices: &[impl fmt::Display]) -> fmt::Result {
    if let [only] = choices {
        return write!(f, "{feature} {equal} {only}");
    }
    write!(f, "{feature} in {{")?;
    for (index, choice) in choices.iter().enumerate() {
        write!(f, "{}{choice}", if index > 0 { ", " } else { "" })?;
    }
    f.write_str("}")
}

impl fmt::Display for Connective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::And => "and",
            Self::Or => "or",
        })
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::constraints::tests::{scaling, strings, table};
    use crate::data::{Image, Kind};
    use proptest::prelude::*;

    /// A whole number, a number without decimals, a binary and a categorical feature, with names that need quotes.
    fn people() -> Schema {
        let states = strings(&["OR", "New York", "<=50\"K\"", "a-b", "1..5"]);
        table(vec![
            ("AGE", Kind::Ordinal(scaling(40.0, 10.0, Some(0), [18.0, 90.0]))),
            ("RATE", Kind::Continuous(scaling(5.0, 2.0, None, [-1.0, 12.0]))),
            ("is 'it'", Kind::Binary { categories: strings(&["1", "2"]) }),
            ("in", Kind::Categorical { categories: states }),
        ])
    }

    fn person(age: f64, rate: f64, it: &str, state: &str) -> Vec<Value> {
        vec![Value::Number(age), Value::Number(rate), Value::Category(it.into()), Value::Category(state.into())]
    }

    fn predicate(text: &str) -> Predicate {
        Predicate::parse(text, &people()).unwrap()
    }

    fn holds(text: &str) -> bool {
        predicate(text).holds(&person(30.0, 0.5, "2", "New York"))
    }

    #[test]
    fn numbers_are_compared_in_every_way() {
        for text in ["AGE = 30", "AGE == 30.0", "AGE != 29", "AGE < 31", "AGE <= 30", "AGE > 29", "AGE >= 3e1"] {
            assert!(holds(text), "{text}");
        }
        for text in ["AGE = 29", "AGE == 31", "AGE != 30", "AGE < 30", "AGE <= 29.9", "AGE > 30", "AGE >= 31"] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn ranges_hold_their_ends_and_may_be_open() {
        for text in ["AGE in 30..40", "AGE in 20..30", "AGE in 30..", "AGE in ..30", "RATE in -1.5 .. .5"] {
            assert!(holds(text), "{text}");
        }
        for text in ["AGE in 31..40", "AGE in 20..29", "AGE in 31..", "AGE in ..29"] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn categories_are_compared_by_their_text_or_their_number() {
        for text in ["'is ''it''' = 2", "\"is 'it'\" = 2.0", "`in` in {OR, 'New York'}", "'in' != OR"] {
            assert!(holds(text), "{text}");
        }
        assert!(!holds("\"is 'it'\" = 1") && !holds("'in' in {a-b, OR}") && !holds("'in' != \"New York\""));
    }

    #[test]
    fn not_binds_tighter_than_and_which_binds_tighter_than_or() {
        // The row has AGE 30: T stands for a condition that holds, F for one that does not.
        for (text, expected) in [
            ("not F and F", false),
            ("not (F and F)", true),
            ("T or F and F", true),
            ("(T or F) and F", false),
            ("F and F or T", true),
            ("not not T", true),
            ("!F && !(F || !T)", true),
        ] {
            let text = text.replace('T', "AGE = 30").replace('F', "AGE = 1");
            assert_eq!(holds(&text), expected, "{text}");
        }
        assert!(holds("NOT AGE = 1 AND (AGE = 30 Or AGE = 1) And AGE IN 30..30"));
    }

    #[test]
    fn numbers_that_f32_cannot_tell_apart_are_equal() {
        // RATE has no decimals, so that 0.1 comes back from a model as 0.10000000149…
        let row = |rate| person(30.0, rate, "1", "OR");
        let near = people().features[1].kind.scaling().map(|scaling| scaling.decode(scaling.encode(0.1))).unwrap();
        assert_ne!(near, 0.1);
        for text in ["RATE = 0.1", "RATE in {0.1}", "RATE <= 0.1", "RATE >= 0.1", "RATE in 0.1..0.1"] {
            assert!(predicate(text).holds(&row(near)), "{text}");
        }
        for text in ["RATE < 0.1", "RATE > 0.1", "RATE != 0.1", "RATE = 0.101"] {
            assert!(!predicate(text).holds(&row(near)), "{text}");
        }
    }

    #[test]
    fn a_missing_value_is_nowhere() {
        for row in [person(f64::NAN, 0.0, "1", "OR"), vec![], vec![Value::Category("30".into())]] {
            for text in ["AGE = 30", "AGE < 30", "AGE >= 30", "AGE in 20..40"] {
                assert!(!predicate(text).holds(&row), "{text}");
            }
            assert!(predicate("AGE != 30").holds(&row));
        }
    }

    #[test]
    fn the_normal_form_leaves_out_what_changes_nothing() {
        for (text, normal) in [
            ("((AGE==30))", "AGE = 30"),
            ("AGE in {3, 1.50, 3}", "AGE in {1.5, 3}"),
            ("AGE in {-0}", "AGE = 0"),
            ("AGE in 20..", "AGE >= 20"),
            ("AGE in .. 1e3", "AGE <= 1000"),
            ("AGE in −5..5", "AGE in -5..5"),
            ("! AGE = 3", "AGE != 3"),
            ("not AGE != 3", "AGE = 3"),
            ("not not not AGE ≤ 3", "not AGE <= 3"),
            ("not AGE in {1, 2}", "not AGE in {1, 2}"),
            ("'in' in {a-b, 'New York', OR}", "\"in\" in {\"OR\", \"New York\", a-b}"),
            ("'in' = '<=50\"K\"'", "\"in\" = \"<=50\"\"K\"\"\""),
            ("'in' ≠ '1..5'", "\"in\" != \"1..5\""),
            ("AGE<3&&(RATE>1&&AGE>1)", "AGE < 3 and RATE > 1 and AGE > 1"),
            ("AGE<3||(RATE>1&&AGE>1)", "AGE < 3 or RATE > 1 and AGE > 1"),
            ("(AGE<3||RATE>1)&&AGE>1", "(AGE < 3 or RATE > 1) and AGE > 1"),
            ("!(AGE<3||RATE>1)", "not (AGE < 3 or RATE > 1)"),
        ] {
            assert_eq!(predicate(text).to_string(), normal);
            assert_eq!(predicate(normal), predicate(text));
        }
    }

    #[test]
    fn an_image_has_no_features_to_tell_rows_apart() {
        let image = Some(Image { channels: 1, height: 1, width: 1, maximum: 255.0 });
        let schema = Schema { image, ..table(vec![]) };
        let message = Predicate::parse("AGE = 3", &schema).unwrap_err().to_string();
        assert_eq!(
            message,
            "setting `where`: rows are told apart by the features of a table, but the schema describes an image, which \
             has none; leave the condition away"
        );
        assert!(Predicate::partition("AGE", &schema, &[]).unwrap_err().to_string().contains("describes an image"));
    }

    /// Every combination of a few values.
    fn crowd() -> Vec<Vec<Value>> {
        let mut crowd = Vec::new();
        for age in [18.0, 30.0, 31.0] {
            for rate in [-0.5, 2.25] {
                for it in ["1", "2"] {
                    crowd.extend(["OR", "New York", "a-b"].map(|state| person(age, rate, it, state)));
                }
            }
        }
        crowd
    }

    /// A condition and whom of the crowd it means, worked out beside the parser.
    type Meaning = (String, Vec<bool>);

    fn simple() -> impl Strategy<Value = Meaning> {
        fn age(row: &[Value]) -> f64 {
            if let Value::Number(age) = row[0] { age } else { f64::NAN }
        }
        fn is(row: &[Value], index: usize, text: &str) -> bool {
            row[index] == Value::Category(text.into())
        }
        type Case = (&'static str, fn(&[Value]) -> bool);
        const CASES: [Case; 10] = [
            ("AGE = 30", |row| age(row) == 30.0),
            ("AGE != 30", |row| age(row) != 30.0),
            ("AGE < 30", |row| age(row) < 30.0),
            ("AGE <= 30", |row| age(row) <= 30.0),
            ("AGE > 30", |row| age(row) > 30.0),
            ("AGE in {18, 31}", |row| age(row) != 30.0),
            ("AGE in 30..50", |row| age(row) >= 30.0),
            ("AGE in 30..", |row| age(row) >= 30.0),
            ("'in' in {\"New York\", OR}", |row| !is(row, 3, "a-b")),
            ("\"is 'it'\" == 1", |row| is(row, 2, "1")),
        ];
        prop::sample::select(&CASES[..])
            .prop_map(|(text, meaning)| (text.to_owned(), crowd().iter().map(|row| meaning(row)).collect()))
    }

    fn meanings() -> impl Strategy<Value = Meaning> {
        let zip = |a: &[bool], b: &[bool], join: fn(bool, bool) -> bool| {
            a.iter().zip(b).map(|(a, b)| join(*a, *b)).collect::<Vec<_>>()
        };
        simple().prop_recursive(5, 40, 3, move |inner| {
            let pair = (inner.clone(), inner.clone(), any::<bool>());
            prop_oneof![
                inner.prop_map(|(text, meant)| (format!("not ({text})"), meant.iter().map(|m| !m).collect())),
                pair.clone().prop_map(move |((a, x), (b, y), words)| {
                    (format!("({a}){}({b})", if words { " AND " } else { "&&" }), zip(&x, &y, |x, y| x && y))
                }),
                pair.prop_map(move |((a, x), (b, y), words)| {
                    (format!("({a}){}({b})", if words { " or " } else { "||" }), zip(&x, &y, |x, y| x || y))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_predicate_means_what_its_parts_mean_and_reads_back_as_itself((text, meant) in meanings()) {
            let read = predicate(&text);
            let held: Vec<bool> = crowd().iter().map(|row| read.holds(row)).collect();
            prop_assert_eq!(held, meant);
            prop_assert_eq!(predicate(&read.to_string()), read);
        }

        #[test]
        fn any_name_category_and_number_reads_back(
            name in "[a-z \"'`éI.N-]{1,6}", categories in prop::collection::btree_set("[ -~é]{0,6}", 2..5),
            least: f64, width in 0.0..1e9,
        ) {
            prop_assume!(least.is_finite());
            let schema = table(vec![
                ("number", Kind::Continuous(scaling(0.0, 1.0, None, [0.0, 1.0]))),
                (&name, Kind::Categorical { categories: categories.iter().cloned().collect() }),
            ]);
            let row = |category: &String| vec![Value::Number(least), Value::Category(category.clone())];
            let (number, choice) = (&schema.features[0], &schema.features[1]);
            let limit = |value| number.kind.scaling().map(|scaling| Limit::new(value, scaling)).unwrap();
            let parts = vec![
                Node::test(1, choice, Test::Categories(choice.kind.categories()[1..].to_vec())),
                Node::test(0, number, Test::Between(limit(least), limit(least + width))),
                Node::test(0, number, Test::Order(Order::Below, limit(least))).negated(),
            ];
            let predicate = Predicate(Node::joined(Connective::And, parts));
            prop_assert_eq!(&Predicate::parse(&predicate.to_string(), &schema).unwrap(), &predicate);
            for (index, category) in categories.iter().enumerate() {
                prop_assert_eq!(predicate.holds(&row(category)), index > 0);
            }
        }
    }
}
