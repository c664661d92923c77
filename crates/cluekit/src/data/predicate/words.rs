//! The words and signs of a condition.

use super::Order;
use crate::data::tokens::{Language, Token, in_quotes};
use std::borrow::Cow;

/// The words that join conditions, which a name can only be in quotes.
const RESERVED: [&str; 4] = ["and", "or", "not", "in"];

/// How conditions are read.
pub(super) const LANGUAGE: Language<Sign> = Language { signs: &SIGNS, word };

static SIGNS: [(&str, Sign); 19] = [
    ("<=", Sign::Order(Order::AtMost)),
    ("≤", Sign::Order(Order::AtMost)),
    ("<", Sign::Order(Order::Below)),
    (">=", Sign::Order(Order::AtLeast)),
    ("≥", Sign::Order(Order::AtLeast)),
    (">", Sign::Order(Order::Above)),
    ("!=", Sign::Unequal),
    ("≠", Sign::Unequal),
    ("!", Sign::Not),
    ("==", Sign::Equal),
    ("=", Sign::Equal),
    ("&&", Sign::And),
    ("||", Sign::Or),
    ("..", Sign::Dots),
    ("(", Sign::Open),
    (")", Sign::Close),
    ("{", Sign::OpenList),
    ("}", Sign::CloseList),
    (",", Sign::Comma),
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sign {
    Equal,
    Unequal,
    Order(Order),
    And,
    Or,
    Not,
    Dots,
    Open,
    Close,
    OpenList,
    CloseList,
    Comma,
}

/// A run of letters, digits and some signs, up to two dots; `+` and `−` are there for numbers.
fn word(text: &str) -> usize {
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '−' | '+' | '.');
    let ends = |(index, c): (usize, char)| (!in_word(c) || text[index..].starts_with("..")).then_some(index);
    text.char_indices().find_map(ends).unwrap_or(text.len())
}

impl Token<Sign> {
    pub(super) fn is_and(&self) -> bool {
        *self == Self::Sign(Sign::And) || self.is_reserved("and")
    }

    pub(super) fn is_or(&self) -> bool {
        *self == Self::Sign(Sign::Or) || self.is_reserved("or")
    }

    pub(super) fn is_not(&self) -> bool {
        *self == Self::Sign(Sign::Not) || self.is_reserved("not")
    }

    pub(super) fn is_in(&self) -> bool {
        self.is_reserved("in")
    }

    fn is_reserved(&self, reserved: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(reserved))
    }
}

/// Whether `word` would be read as a part of the grammar where a name is expected.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.iter().any(|reserved| word.eq_ignore_ascii_case(reserved))
}

/// A name or a category as it stands in a condition: bare, or in quotes.
pub(super) fn written(name: &str) -> Cow<'_, str> {
    let bare = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    match !name.is_empty() && name.chars().all(bare) && !name.contains("..") && !is_reserved(name) {
        true => Cow::Borrowed(name),
        false => Cow::Owned(in_quotes(name, '"')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<Token<Sign>> {
        LANGUAGE.tokens(text).unwrap().into_iter().map(|placed| placed.token).collect()
    }

    fn word(text: &str) -> Token<Sign> {
        Token::Word(text.into())
    }

    #[test]
    fn every_sign_is_read_as_itself() {
        for (sign, meaning) in &SIGNS {
            assert_eq!(read(sign), [Token::Sign(*meaning)]);
        }
    }

    #[test]
    fn words_hold_numbers_and_end_at_two_dots() {
        assert_eq!(read("-1.5e+3..a.b-c"), [word("-1.5e+3"), Token::Sign(Sign::Dots), word("a.b-c")]);
        assert_eq!(read("größe>=.5"), [word("größe"), Token::Sign(Sign::Order(Order::AtLeast)), word(".5")]);
    }

    #[test]
    fn only_what_needs_quotes_is_written_in_them() {
        for (name, expected) in [
            ("PAY_0", "PAY_0"),
            ("a.b-c", "a.b-c"),
            ("-5", "-5"),
            ("", "\"\""),
            ("a b", "\"a b\""),
            ("a..b", "\"a..b\""),
            ("Not", "\"Not\""),
            ("5\"", "\"5\"\"\""),
        ] {
            assert_eq!(written(name), expected);
        }
    }

    proptest! {
        #[test]
        fn written_names_are_read_as_one_piece(name in "\\PC{0,8}") {
            let expected = if written(&name) == name { Token::Word(name.clone()) } else { Token::Quoted(name.clone()) };
            prop_assert_eq!(read(&written(&name)), [expected]);
        }
    }
}
