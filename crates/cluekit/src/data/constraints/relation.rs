//! A linear relation between features that a counterfactual must keep: `2*a + b - 3 <= 1.5*c`.
//!
//! Names that are not a run of letters, digits, `_` and `.` stand in quotes, and such a quote in them is doubled. They are
//! written in back-quotes, which need no care inside the strings of TOML and JSON.

use crate::data::tokens::{self, Language, in_quotes};
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::iter::Peekable;
use std::str::FromStr;

/// Two sums of features and numbers, one at most as large as the other. It names at least one feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Relation {
    left: Vec<Term>,
    comparison: Comparison,
    right: Vec<Term>,
}

/// A multiple of a feature, or a number.
#[derive(Clone, Debug, PartialEq)]
struct Term {
    coefficient: f64,
    feature: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    AtMost,
    AtLeast,
}

/// A relation in its normal form: Σ coefficient · feature ≤ limit.
pub(super) struct Normal<'a> {
    /// What each feature is multiplied with; none of them is zero.
    pub(super) coefficients: BTreeMap<&'a str, f64>,
    /// What the sum may not exceed.
    pub(super) limit: f64,
}

impl Relation {
    pub(super) fn normal(&self) -> Normal<'_> {
        let sign = if self.comparison == Comparison::AtMost { 1.0 } else { -1.0 };
        let mut normal = Normal { coefficients: BTreeMap::new(), limit: 0.0 };
        for (terms, sign) in [(&self.left, sign), (&self.right, -sign)] {
            for Term { coefficient, feature } in terms {
                match feature {
                    Some(name) => *normal.coefficients.entry(name).or_default() += sign * coefficient,
                    None => normal.limit -= sign * coefficient,
                }
            }
        }
        normal.coefficients.retain(|_, coefficient| coefficient.abs() > 0.0);
        normal
    }

    /// Every name in it, also of features that cancel.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.left.iter().chain(&self.right).filter_map(|term| term.feature.as_deref())
    }

    /// Both sides and how they compare when the relation is broken: `30000 > 20000`.
    pub(super) fn contrary(&self, value: impl Fn(&str) -> f64) -> String {
        let sum = |terms: &[Term]| {
            let part = |term: &Term| term.coefficient * term.feature.as_deref().map_or(1.0, &value);
            let sum: f64 = terms.iter().map(part).sum();
            (sum * 1e9).round() / 1e9 // the noise of the sum is nothing to read
        };
        let sign = if self.comparison == Comparison::AtMost { ">" } else { "<" };
        format!("{} {sign} {}", sum(&self.left), sum(&self.right))
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.comparison == Comparison::AtMost { "<=" } else { ">=" };
        write!(f, "{} {sign} {}", Sum(&self.left), Sum(&self.right))
    }
}

struct Sum<'a>(&'a [Term]);

impl fmt::Display for Sum<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Term { coefficient, feature }) in self.0.iter().enumerate() {
            f.write_str(match (index, coefficient.is_sign_negative()) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            })?;
            let size = coefficient.abs();
            match feature {
                None => write!(f, "{size}")?,
                Some(name) if (size - 1.0).abs() > 0.0 => write!(f, "{size}*{}", written(name))?,
                Some(name) => f.write_str(&written(name))?,
            }
        }
        Ok(())
    }
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// A name as it stands in a relation: bare, or in back-quotes.
fn written(name: &str) -> Cow<'_, str> {
    match name.starts_with(starts_name) && name.chars().all(continues_name) {
        true => Cow::Borrowed(name),
        false => Cow::Owned(in_quotes(name, '`')),
    }
}

impl From<Relation> for String {
    fn from(relation: Relation) -> Self {
        relation.to_string()
    }
}

impl TryFrom<String> for Relation {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl FromStr for Relation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).map_err(|problem| Error::setting("constraints.relations", format!("in `{text}`, {problem}")))
    }
}

type Token = tokens::Token<Sign>;
type Placed = tokens::Placed<Sign>;
type Tokens = Peekable<std::vec::IntoIter<Placed>>;

/// How relations are read.
const LANGUAGE: Language<Sign> = Language {
    signs: &[
        ("<=", Sign::Compare(Comparison::AtMost)),
        ("≤", Sign::Compare(Comparison::AtMost)),
        ("<", Sign::Below),
        (">=", Sign::Compare(Comparison::AtLeast)),
        ("≥", Sign::Compare(Comparison::AtLeast)),
        (">", Sign::Above),
        ("=", Sign::Equal),
        ("+", Sign::Plus),
        ("-", Sign::Minus),
        ("−", Sign::Minus),
        ("*", Sign::Times),
        ("·", Sign::Times),
    ],
    word,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sign {
    Plus,
    Minus,
    Times,
    Compare(Comparison),
    Below,
    Above,
    Equal,
}

impl Sign {
    /// Why no relation holds this sign.
    fn refusal(self) -> Option<&'static str> {
        match self {
            Self::Below => Some("`<` cannot be kept exactly; write `<=`"),
            Self::Above => Some("`>` cannot be kept exactly; write `>=`"),
            Self::Equal => Some("`=` cannot be kept; write `<=` or `>=`, or two relations for both"),
            Self::Plus | Self::Minus | Self::Times | Self::Compare(_) => None,
        }
    }
}

/// A name, or a number such as `2.5e3`; `2a` is a number before a name.
fn word(text: &str) -> usize {
    if !starts_number(text) {
        let name = text.starts_with(starts_name).then(|| text.find(|c| !continues_name(c)).unwrap_or(text.len()));
        return name.unwrap_or(0);
    }
    let digits = |from: usize| from + text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        end = if exponent > end + 1 + sign { exponent } else { end };
    }
    end
}

fn starts_number(text: &str) -> bool {
    text.strip_prefix('.').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit())
}

fn parse(text: &str) -> Result<Relation, String> {
    let tokens = LANGUAGE.tokens(text)?;
    let refused = |placed: &Placed| if let Token::Sign(sign) = placed.token { sign.refusal() } else { None };
    if let Some(refusal) = tokens.iter().find_map(refused) {
        return Err(refusal.into());
    }
    let mut tokens = tokens.into_iter().peekable();
    let left = side(&mut tokens)?;
    let comparison = match tokens.next() {
        Some(Placed { token: Token::Sign(Sign::Compare(comparison)), .. }) => comparison,
        other => return Err(unexpected(other, "`<=` or `>=`")),
    };
    let right = side(&mut tokens)?;
    if tokens.peek().is_some() {
        return Err(unexpected(tokens.next(), "`+`, `-` or the end"));
    }
    let relation = Relation { left, comparison, right };
    match relation.normal().coefficients.is_empty() {
        true => Err("no feature makes a difference; name one, as in `2*a + b <= 3`, or remove the relation".into()),
        false => Ok(relation),
    }
}

fn unexpected(found: Option<Placed>, expected: &str) -> String {
    let found = found.map_or("the end".into(), |placed| format!("`{}`", placed.written));
    format!("{expected} should stand where {found} is; write it like `2*a + b - 3 <= 1.5*c`")
}

/// Whether the next piece is this sign, which is then behind us.
fn takes(tokens: &mut Tokens, sign: Sign) -> bool {
    tokens.next_if(|placed| placed.token == Token::Sign(sign)).is_some()
}

/// Terms with `+` or `-` between them.
fn side(tokens: &mut Tokens) -> Result<Vec<Term>, String> {
    let mut terms = Vec::new();
    loop {
        let sign = match () {
            () if takes(tokens, Sign::Minus) => -1.0,
            () if takes(tokens, Sign::Plus) || terms.is_empty() => 1.0,
            () => return Ok(terms),
        };
        terms.push(term(tokens, sign)?);
    }
}

/// `3`, `a`, `3*a` or `a*3`.
fn term(tokens: &mut Tokens, sign: f64) -> Result<Term, String> {
    let first = factor(tokens.next(), "a number or a feature")?;
    if !takes(tokens, Sign::Times) {
        return Ok(match first {
            Factor::Number(number) => Term { coefficient: sign * number, feature: None },
            Factor::Name(name) => Term { coefficient: sign, feature: Some(name) },
        });
    }
    let expected = if matches!(first, Factor::Number(_)) { "a feature" } else { "a number" };
    let second = tokens.next();
    match (first, factor(second.clone(), expected)?) {
        (Factor::Number(number), Factor::Name(name)) | (Factor::Name(name), Factor::Number(number)) => {
            Ok(Term { coefficient: sign * number, feature: Some(name) })
        }
        _ => Err(unexpected(second, expected)),
    }
}

enum Factor {
    Number(f64),
    Name(String),
}

fn factor(found: Option<Placed>, expected: &str) -> Result<Factor, String> {
    match found {
        Some(Placed { token: Token::Word(text), .. }) if starts_number(&text) => match text.parse() {
            Ok(number) if f64::is_finite(number) => Ok(Factor::Number(number)),
            _ => Err(format!("`{text}` is too large")),
        },
        Some(Placed { token: Token::Word(name) | Token::Quoted(name), .. }) => Ok(Factor::Name(name)),
        other => Err(unexpected(other, expected)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn relation(text: &str) -> Relation {
        text.parse().unwrap()
    }

    fn problem(text: &str) -> String {
        let message = text.parse::<Relation>().unwrap_err().to_string();
        let start = format!("setting `constraints.relations`: in `{text}`, ");
        message.strip_prefix(&start).unwrap().to_owned()
    }

    fn normal(text: &str) -> (Vec<(String, f64)>, f64) {
        let relation = relation(text);
        let Normal { coefficients, limit } = relation.normal();
        (coefficients.into_iter().map(|(name, c)| (name.to_owned(), c)).collect(), limit)
    }

    #[test]
    fn the_normal_form_has_all_features_on_one_side() {
        let [a, b, c] = ["a", "b", "c"].map(String::from);
        assert_eq!(normal("2*a + b - 3 <= 1.5*c"), (vec![(a.clone(), 2.0), (b.clone(), 1.0), (c, -1.5)], 3.0));
        assert_eq!(normal("a >= b*2 - 1"), (vec![(a.clone(), -1.0), (b, 2.0)], 1.0));
        assert_eq!(normal("-a + 2*a + b <= b"), (vec![(a, 1.0)], 0.0));
    }

    #[test]
    fn it_is_written_as_it_was_given() {
        let plain = ["BILL_AMT1 <= LIMIT_BAL", "2*a + b - 3 <= 1.5*c", "-a.b >= -0.5*größe + 1", "`x - y` <= 2*`a``b`"];
        for text in plain {
            assert_eq!(relation(text).to_string(), text);
        }
        assert_eq!(relation(" a·2≥`b`−1e3").to_string(), "2*a >= b - 1000");
    }

    #[test]
    fn names_may_hold_anything_in_quotes_of_any_kind() {
        for text in ["`2nd <= offer` <= `a``b`", "\"2nd <= offer\" <= 'a`b'"] {
            let relation = relation(text);
            assert_eq!(relation.names().collect::<Vec<_>>(), ["2nd <= offer", "a`b"]);
            assert_eq!(relation.to_string(), "`2nd <= offer` <= `a``b`");
        }
    }

    #[test]
    fn a_broken_relation_shows_both_sides() {
        let value = |name: &str| if name == "a" { 0.1 } else { 0.2 };
        assert_eq!(relation("a + b <= 0.25").contrary(value), "0.3 > 0.25");
        assert_eq!(relation("a >= 2*b").contrary(value), "0.1 < 0.4");
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_what_should_stand_there() {
        let example = "write it like `2*a + b - 3 <= 1.5*c`";
        assert_eq!(problem("2a <= b"), format!("`<=` or `>=` should stand where `a` is; {example}"));
        assert_eq!(problem("a + <= b"), format!("a number or a feature should stand where `<=` is; {example}"));
        assert_eq!(problem("a <= b <= c"), format!("`+`, `-` or the end should stand where `<=` is; {example}"));
        assert_eq!(problem("a*b <= 1"), format!("a number should stand where `b` is; {example}"));
        assert_eq!(problem("a <="), format!("a number or a feature should stand where the end is; {example}"));
        assert_eq!(problem("a < b"), "`<` cannot be kept exactly; write `<=`");
        assert_eq!(problem("a == b"), "`=` cannot be kept; write `<=` or `>=`, or two relations for both");
        assert_eq!(problem("a/b <= 1"), "`/` at character 2 has no meaning; put names that hold it in quotes");
        assert_eq!(problem("`a <= 1"), "the quote ` at character 1 is not closed; write names \"like this\"");
        assert_eq!(problem("a <= 1e999"), "`1e999` is too large");
    }

    #[test]
    fn a_relation_without_features_says_nothing_and_is_refused() {
        for text in ["1 <= 2", "a <= a", "0*a >= 1"] {
            assert!(problem(text).starts_with("no feature makes a difference"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn writing_and_reading_give_the_relation_itself(
            terms in prop::collection::vec((-1e6..1e6, prop::option::of("[a-zA-Zé_ `+<=0-9.]{1,6}")), 1..5),
            split in 0..5_usize, at_most: bool,
        ) {
            let mut left: Vec<Term> = terms.into_iter().map(|(coefficient, feature)| Term { coefficient, feature }).collect();
            left.push(Term { coefficient: 1.0, feature: Some("always".into()) });
            let mut right = left.split_off(split.clamp(1, left.len() - 1));
            right.push(Term { coefficient: -2.5, feature: None });
            let comparison = if at_most { Comparison::AtMost } else { Comparison::AtLeast };
            let relation = Relation { left, comparison, right };
            prop_assert_eq!(relation.to_string().parse::<Relation>().unwrap(), relation);
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[a-z0-9.e<>=+*`'\" -≤é]{0,20}") {
            let _ = text.parse::<Relation>();
        }
    }
}
