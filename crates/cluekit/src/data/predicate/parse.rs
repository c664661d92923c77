//! Reading a condition: a descent through `or`, `and`, `not` and the tests of features.

use super::MISSING;
use super::words::{LANGUAGE, Sign, is_reserved};
use super::{Connective, Limit, Node, Order, Test, find, guess, listed, shortened};
use crate::data::encoding::{Cell, position_in};
use crate::data::tokens;
use crate::data::{Feature, Scaling, Schema};
use std::collections::BTreeSet;
use std::iter::Peekable;

type Token = tokens::Token<Sign>;
type Placed = tokens::Placed<Sign>;

/// How many brackets may be open at once, so that no text exhausts the stack.
const DEEPEST: usize = 64;

const EXAMPLE: &str = "write it like `age >= 30 and not job in {nurse, \"truck driver\"}`";

/// The condition that `text` means. The problem is text, to which the caller adds the condition.
pub(super) fn parse(text: &str, schema: &Schema) -> Result<Node, String> {
    let mut parser = Parser { tokens: LANGUAGE.tokens(text)?.into_iter().peekable(), schema, depth: 0 };
    let node = parser.any()?;
    match parser.tokens.next() {
        None => Ok(node),
        more => Err(unexpected(more, "`and`, `or` or the end")),
    }
}

struct Parser<'a> {
    tokens: Peekable<std::vec::IntoIter<Placed>>,
    schema: &'a Schema,
    /// How many brackets are open.
    depth: usize,
}

impl Parser<'_> {
    /// Conditions with `or` between them.
    fn any(&mut self) -> Result<Node, String> {
        let mut nodes = vec![self.all()?];
        while self.takes(Token::is_or) {
            nodes.push(self.all()?);
        }
        Ok(Node::joined(Connective::Or, nodes))
    }

    /// Conditions with `and` between them.
    fn all(&mut self) -> Result<Node, String> {
        let mut nodes = vec![self.single()?];
        while self.takes(Token::is_and) {
            nodes.push(self.single()?);
        }
        Ok(Node::joined(Connective::And, nodes))
    }

    /// A test or a bracket, after any number of `not`.
    fn single(&mut self) -> Result<Node, String> {
        let mut negated = false;
        while self.takes(Token::is_not) {
            negated = !negated;
        }
        let node = match self.tokens.next() {
            Some(Placed { token: Token::Sign(Sign::Open), at, .. }) => self.bracket(at)?,
            Some(Placed { token: Token::Quoted(name), .. }) => self.test(&name)?,
            Some(Placed { token: Token::Word(name), .. }) if !is_reserved(&name) => self.test(&name)?,
            other => return Err(unexpected(other, "a feature or `(`")),
        };
        Ok(if negated { node.negated() } else { node })
    }

    /// What follows `(`, to its `)`.
    fn bracket(&mut self, at: usize) -> Result<Node, String> {
        if self.depth == DEEPEST {
            return Err(format!("`(` at character {at} opens more than {DEEPEST} brackets; nest fewer"));
        }
        self.depth += 1;
        let node = self.any()?;
        self.depth -= 1;
        match self.tokens.next() {
            Some(Placed { token: Token::Sign(Sign::Close), .. }) => Ok(node),
            other => Err(unexpected(other, &format!("`and`, `or` or the `)` for character {at}"))),
        }
    }

    /// What follows the name of a feature.
    fn test(&mut self, name: &str) -> Result<Node, String> {
        let (index, feature) = find(self.schema, name)?;
        let node = |test| Node::test(index, feature, test);
        match self.tokens.next() {
            Some(Placed { token: Token::Sign(Sign::Equal), .. }) => Ok(node(one_of(feature, &[self.value(feature)?])?)),
            Some(Placed { token: Token::Sign(Sign::Unequal), .. }) => {
                Ok(node(one_of(feature, &[self.value(feature)?])?).negated())
            }
            Some(Placed { token: Token::Sign(Sign::Order(order)), .. }) => {
                let scaling = ordered(feature, &order.to_string())?;
                Ok(node(Test::Order(order, limit(feature, scaling, &self.value(feature)?)?)))
            }
            Some(Placed { token, .. }) if token.is_in() => Ok(node(self.membership(feature)?)),
            other => Err(unexpected(other, "`=`, `!=`, `<`, `<=`, `>`, `>=` or `in`")),
        }
    }

    /// What follows `in`: a list or a range.
    fn membership(&mut self, feature: &Feature) -> Result<Test, String> {
        if !self.takes(|token| *token == Token::Sign(Sign::OpenList)) {
            return self.range(feature);
        }
        let mut values = Vec::new();
        loop {
            values.push(self.value(feature)?);
            match self.tokens.next() {
                Some(Placed { token: Token::Sign(Sign::Comma), .. }) => {}
                Some(Placed { token: Token::Sign(Sign::CloseList), .. }) => return one_of(feature, &values),
                other => return Err(unexpected(other, "`,` or `}`")),
            }
        }
    }

    /// `20..30`, or with one end.
    fn range(&mut self, feature: &Feature) -> Result<Test, String> {
        let Some(scaling) = feature.kind.scaling() else {
            return Err(unexpected(self.tokens.next(), "`{` and categories"));
        };
        let least = self.end(feature, scaling)?;
        if !self.takes(|token| *token == Token::Sign(Sign::Dots)) {
            return Err(unexpected(self.tokens.next(), "a range such as `20..30` or a list such as `{20, 30}`"));
        }
        match (least, self.end(feature, scaling)?) {
            (Some(least), Some(greatest)) if least.value > greatest.value => {
                let [least, greatest] = [least, greatest].map(|limit| feature.value(limit.value));
                Err(format!("the range {least}..{greatest} is empty; give the smaller number first"))
            }
            (Some(least), Some(greatest)) => Ok(Test::Between(least, greatest)),
            (Some(least), None) => Ok(Test::Order(Order::AtLeast, least)),
            (None, Some(greatest)) => Ok(Test::Order(Order::AtMost, greatest)),
            (None, None) => Err("a range needs at least one end, such as `1..` or `..5`".into()),
        }
    }

    /// The end of a range, if one stands here.
    fn end(&mut self, feature: &Feature, scaling: &Scaling) -> Result<Option<Limit>, String> {
        let is_value =
            |token: &Token| matches!(token, Token::Word(_) | Token::Quoted(_)) && !token.is_and() && !token.is_or();
        match self.tokens.next_if(|placed| is_value(&placed.token)) {
            Some(Placed { token: Token::Word(text) | Token::Quoted(text), .. }) => {
                limit(feature, scaling, &text).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A number or a category; after a sign even `or` is one.
    fn value(&mut self, feature: &Feature) -> Result<String, String> {
        match self.tokens.next() {
            Some(Placed { token: Token::Word(text) | Token::Quoted(text), .. }) => Ok(text),
            other if !feature.kind.is_written_in_words() => Err(unexpected(other, "a number")),
            other => Err(unexpected(other, "a category")),
        }
    }

    /// Whether the next piece is the one that is asked for, which is then behind us.
    fn takes(&mut self, asked: impl Fn(&Token) -> bool) -> bool {
        self.tokens.next_if(|placed| asked(&placed.token)).is_some()
    }
}

/// The test for some values, which are put in order.
fn one_of(feature: &Feature, values: &[String]) -> Result<Test, String> {
    if feature.has_indicator() && values == [MISSING] {
        return Ok(Test::Missing);
    }
    if let Some(scaling) = feature.kind.scaling() {
        let limits: Result<Vec<Limit>, String> = values.iter().map(|text| limit(feature, scaling, text)).collect();
        let mut limits = limits?;
        limits.sort_by(|a, b| a.value.total_cmp(&b.value));
        limits.dedup();
        return Ok(Test::Numbers(limits));
    }
    let categories = feature.kind.categories();
    let place = |text: &String| {
        position_in(categories, Cell::Text(text)).ok_or_else(|| {
            let choices: Vec<&str> = categories.iter().map(String::as_str).collect();
            let Feature { name, .. } = feature;
            let (guess, text) = (guess(text, &choices), shortened(text));
            format!("`{text}` is not a category of `{name}`{guess} (categories: {})", listed(&choices))
        })
    };
    let places: Result<BTreeSet<usize>, String> = values.iter().map(place).collect();
    Ok(Test::Categories(places?.into_iter().map(|place| categories[place].clone()).collect()))
}

/// The scaling of a feature whose values have an order, which `sign` asks for.
fn ordered<'a>(feature: &'a Feature, sign: &str) -> Result<&'a Scaling, String> {
    let Feature { name, kind, .. } = feature;
    kind.scaling().ok_or_else(|| {
        let kind = kind.name();
        format!("`{sign}` compares numbers, but `{name}` is {kind}; compare it by `=`, `!=` or `in {{…}}`")
    })
}

fn limit(feature: &Feature, scaling: &Scaling, text: &str) -> Result<Limit, String> {
    let number = match feature.kind.is_written_in_words() {
        true => feature.number_of(Cell::Text(text)),
        false => text.replace('−', "-").parse().ok().filter(|number| f64::is_finite(*number)),
    };
    match number {
        Some(number) => Ok(Limit::new(number, scaling)),
        None if feature.kind.is_written_in_words() => {
            let (example, text) = (feature.value(scaling.least), shortened(text));
            Err(format!("`{text}` is no value of `{}`; compare it with one such as `{example}`", feature.name))
        }
        None => {
            let Feature { name, kind, .. } = feature;
            let (kind, text) = (kind.name(), shortened(text));
            Err(format!("`{text}` is not a finite number, but `{name}` is {kind}; compare it with a number"))
        }
    }
}

fn unexpected(found: Option<Placed>, expected: &str) -> String {
    let found = match found {
        Some(Placed { written, at, .. }) => format!("`{}` is, at character {at}", shortened(&written)),
        None => "the end is".into(),
    };
    format!("{expected} should stand where {found}; {EXAMPLE}")
}

#[cfg(test)]
mod tests {
    use super::super::Predicate;
    use super::*;
    use crate::data::Kind;
    use crate::data::constraints::tests::{credit, scaling, strings, table};
    use proptest::prelude::*;

    fn problem(text: &str) -> String {
        let message = Predicate::parse(text, &credit()).unwrap_err().to_string();
        message.strip_prefix(&format!("setting `where`: in `{text}`, ")).unwrap().to_owned()
    }

    /// What should stand where what is.
    fn misplaced(text: &str) -> String {
        problem(text).strip_suffix(&format!("; {EXAMPLE}")).unwrap().to_owned()
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_what_should_stand_there() {
        let signs = "`=`, `!=`, `<`, `<=`, `>`, `>=` or `in` should stand where";
        assert_eq!(misplaced(""), "a feature or `(` should stand where the end is");
        assert_eq!(misplaced("RATE"), format!("{signs} the end is"));
        assert_eq!(misplaced("RATE and"), format!("{signs} `and` is, at character 6"));
        assert_eq!(misplaced("RATE > 3 and"), "a feature or `(` should stand where the end is");
        assert_eq!(misplaced("in = 3"), "a feature or `(` should stand where `in` is, at character 1");
        assert_eq!(
            misplaced("RATE > 3 \"or\" 4"),
            "`and`, `or` or the end should stand where `\"or\"` is, at character 10"
        );
        assert_eq!(
            misplaced("RATE > 3 && (RATE < 5"),
            "`and`, `or` or the `)` for character 13 should stand where the end is"
        );
        assert_eq!(misplaced("RATE = )"), "a number should stand where `)` is, at character 8");
        assert_eq!(misplaced("MARRIED = <yes"), "a category should stand where `<` is, at character 11");
        assert_eq!(misplaced("RATE in {1 2}"), "`,` or `}` should stand where `2` is, at character 12");
        assert_eq!(misplaced("RATE in {}"), "a number should stand where `}` is, at character 10");
        assert_eq!(
            misplaced("RATE in 5"),
            "a range such as `20..30` or a list such as `{20, 30}` should stand where the end is"
        );
        assert_eq!(
            misplaced("EDUCATION in school"),
            "`{` and categories should stand where `school` is, at character 14"
        );
        assert_eq!(misplaced("RATE in 1..5..7"), "`and`, `or` or the end should stand where `..` is, at character 13");
    }

    #[test]
    fn ranges_have_an_end_and_their_ends_in_order() {
        assert_eq!(problem("RATE in ..  and RATE > 1"), "a range needs at least one end, such as `1..` or `..5`");
        assert_eq!(problem("RATE in 5..1"), "the range 5..1 is empty; give the smaller number first");
    }

    #[test]
    fn unknown_features_and_categories_are_named_with_the_likeliest_one() {
        assert_eq!(
            problem("Limit_Bla > 3"),
            "no feature is called `Limit_Bla`; did you mean `LIMIT_BAL`? (features: LIMIT_BAL, BILL_AMT1, PAY_0, RATE, \
             MARRIED, EDUCATION)"
        );
        assert_eq!(
            problem("EDUCATION in {school, universe}"),
            "`universe` is not a category of `EDUCATION`; did you mean `university`? (categories: school, university, \
             other)"
        );
    }

    #[test]
    fn long_lists_and_long_conditions_are_shortened() {
        let names: Vec<String> = (0..30).map(|index| format!("f {index}")).collect();
        let kind = Kind::Binary { categories: strings(&["no", "yes"]) };
        let schema = table(names.iter().map(|name| (name.as_str(), kind.clone())).collect());
        let message = Predicate::parse(&format!("x = {}", "y".repeat(500)), &schema).unwrap_err().to_string();
        assert!(message.contains(&format!("in `x = {}…`, ", "y".repeat(96))), "{message}");
        assert!(message.ends_with("\"f 10\", \"f 11\" and 18 more)"), "{message}");
        for text in ["", "'f 0' = ", "'f 0' = no "].map(|start| format!("{start}{}", "y".repeat(100_000))) {
            assert!(Predicate::parse(&text, &schema).unwrap_err().to_string().len() < 1000);
        }
    }

    #[test]
    fn numbers_compare_with_numbers_and_categories_only_by_equality() {
        assert_eq!(
            problem("EDUCATION < school"),
            "`<` compares numbers, but `EDUCATION` is categorical; compare it by `=`, `!=` or `in {…}`"
        );
        assert_eq!(
            problem("BILL_AMT1 <= LIMIT_BAL"),
            "`LIMIT_BAL` is not a finite number, but `BILL_AMT1` is continuous; compare it with a number"
        );
        for text in ["PAY_0 = nan", "PAY_0 = 1e999", "PAY_0 in {1, two}", "PAY_0 in 1..two", "PAY_0 > and RATE = 1"] {
            assert!(problem(text).contains("is not a finite number, but `PAY_0` is ordinal"), "{text}");
        }
    }

    #[test]
    fn reserved_words_are_categories_where_a_value_stands() {
        let schema = table(vec![("state", Kind::Categorical { categories: strings(&["OR", "IN", "not"]) })]);
        for text in ["state = OR or state = IN", "state in {OR, IN}", "not state in { not }"] {
            Predicate::parse(text, &schema).unwrap();
        }
    }

    #[test]
    fn depth_is_bounded_and_length_is_not() {
        let nested = |depth: usize| format!("{}RATE > 1{}", "(".repeat(depth), ")".repeat(depth));
        Predicate::parse(&nested(DEEPEST), &credit()).unwrap();
        let message = Predicate::parse(&nested(100_000), &credit()).unwrap_err().to_string();
        assert!(message.ends_with("`(` at character 65 opens more than 64 brackets; nest fewer"), "{message}");

        let many = vec!["RATE > 1"; 100_000];
        let predicate = Predicate::parse(&many.join(" and "), &credit()).unwrap();
        assert_eq!(predicate.to_string(), many.join(" and "));
        let not = format!("{}RATE > 1", "not ".repeat(100_001));
        assert_eq!(Predicate::parse(&not, &credit()).unwrap().to_string(), "not RATE > 1");
    }

    #[test]
    fn the_normal_form_of_the_deepest_condition_can_be_read() {
        let schema = table(vec![("a", Kind::Ordinal(scaling(0.0, 1.0, Some(0), [0.0, 9.0])))]);
        let deepest = (0..DEEPEST).fold("a = 1".to_owned(), |inner, depth| {
            let word = if depth % 2 == 0 { "or" } else { "and" };
            format!("not (a = {depth} {word} {inner})")
        });
        let predicate = Predicate::parse(&deepest, &schema).unwrap();
        assert_eq!(predicate.to_string(), deepest);
        assert_eq!(Predicate::parse(&predicate.to_string(), &schema).unwrap(), predicate);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(
            words in prop::collection::vec("RATE|EDUCATION|school|and|or|not|in|[-(){}.,<>=!&|'\"1−é ]{1,3}", 0..12),
        ) {
            let text = words.join(" ");
            if let Ok(predicate) = Predicate::parse(&text, &credit()) {
                prop_assert_eq!(Predicate::parse(&predicate.to_string(), &credit()).unwrap(), predicate);
            }
        }
    }
}
