//! The pieces of a condition's text: words, what stands in quotes, and signs.

use super::Order;
use std::borrow::Cow;
use std::fmt;

/// The words that join conditions, which a name can only be in quotes.
const RESERVED: [&str; 4] = ["and", "or", "not", "in"];

/// The signs, those that begin with another one before it.
static SIGNS: [(&str, Token); 19] = [
    ("<=", Token::Order(Order::AtMost)),
    ("≤", Token::Order(Order::AtMost)),
    ("<", Token::Order(Order::Below)),
    (">=", Token::Order(Order::AtLeast)),
    ("≥", Token::Order(Order::AtLeast)),
    (">", Token::Order(Order::Above)),
    ("!=", Token::Unequal),
    ("≠", Token::Unequal),
    ("!", Token::Not),
    ("==", Token::Equal),
    ("=", Token::Equal),
    ("&&", Token::And),
    ("||", Token::Or),
    ("..", Token::Dots),
    ("(", Token::Open),
    (")", Token::Close),
    ("{", Token::OpenList),
    ("}", Token::CloseList),
    (",", Token::Comma),
];

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name, a category, a number or a reserved word: what it is follows from where it stands.
    Word(String),
    /// What stood in quotes.
    Quoted(String),
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

/// A piece and where it begins: a character of the text, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) at: usize,
}

impl Token {
    pub(super) fn is_and(&self) -> bool {
        *self == Self::And || self.is_reserved("and")
    }

    pub(super) fn is_or(&self) -> bool {
        *self == Self::Or || self.is_reserved("or")
    }

    pub(super) fn is_not(&self) -> bool {
        *self == Self::Not || self.is_reserved("not")
    }

    pub(super) fn is_in(&self) -> bool {
        self.is_reserved("in")
    }

    fn is_reserved(&self, reserved: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(reserved))
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Quoted(text) => f.write_str(&in_quotes(text)),
            sign => f.write_str(SIGNS.iter().find(|(_, token)| token == sign).map_or("", |(text, _)| text)),
        }
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
        false => Cow::Owned(in_quotes(name)),
    }
}

fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// The pieces of `text` in their order.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, String> {
    let mut tokens = Vec::new();
    let mut at = 1;
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start();
        at += rest[..rest.len() - trimmed.len()].chars().count();
        if trimmed.is_empty() {
            return Ok(tokens);
        }
        let (token, end) = first(trimmed, at)?;
        tokens.push(Placed { token, at });
        at += trimmed[..end].chars().count();
        rest = &trimmed[end..];
    }
}

/// The piece that `text` begins with, at character `at` of the whole, and how many bytes long it is.
fn first(text: &str, at: usize) -> Result<(Token, usize), String> {
    if let Some((sign, token)) = SIGNS.iter().find(|(sign, _)| text.starts_with(sign)) {
        return Ok((token.clone(), sign.len()));
    }
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) {
        return quoted(text, quote)
            .ok_or_else(|| format!("the quote {quote} at character {at} is not closed; write names \"like this\""));
    }
    // `+` and `−` are there for numbers.
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '−' | '+' | '.');
    let word_ends = |(index, c): (usize, char)| (!in_word(c) || text[index..].starts_with("..")).then_some(index);
    match text.char_indices().find_map(word_ends).unwrap_or(text.len()) {
        0 => {
            let c = text.chars().next().unwrap_or_default();
            Err(format!("`{c}` at character {at} has no meaning; put names and categories that hold it in quotes"))
        }
        end => Ok((Token::Word(text[..end].to_owned()), end)),
    }
}

/// What stands between the first `quote` and the next one that is not doubled.
fn quoted(text: &str, quote: char) -> Option<(Token, usize)> {
    let mut content = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((index, c)) = characters.next() {
        if c == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return Some((Token::Quoted(content), index + quote.len_utf8()));
        }
        content.push(c);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<Token> {
        tokens(text).unwrap().into_iter().map(|placed| placed.token).collect()
    }

    fn word(text: &str) -> Token {
        Token::Word(text.into())
    }

    #[test]
    fn every_sign_is_read_as_itself() {
        for (sign, token) in &SIGNS {
            let expected = std::slice::from_ref(token);
            assert_eq!(read(sign), expected);
            assert_eq!(read(&token.to_string()), expected);
        }
    }

    #[test]
    fn words_hold_numbers_and_end_at_two_dots() {
        assert_eq!(read("-1.5e+3..a.b-c"), [word("-1.5e+3"), Token::Dots, word("a.b-c")]);
        assert_eq!(read("größe>=.5"), [word("größe"), Token::Order(Order::AtLeast), word(".5")]);
    }

    #[test]
    fn quotes_hold_anything_and_are_doubled_inside() {
        let text = |text: &str| Token::Quoted(text.into());
        assert_eq!(read("\"a and \"\"b\"\"\"'it''s'`=`''"), [text("a and \"b\""), text("it's"), text("="), text("")]);
    }

    #[test]
    fn places_count_characters() {
        let places: Vec<usize> = tokens(" é >= 'ü' and").unwrap().iter().map(|placed| placed.at).collect();
        assert_eq!(places, [2, 4, 7, 11]);
    }

    #[test]
    fn what_is_no_piece_is_named_with_its_place() {
        assert_eq!(
            tokens("é = a/b").unwrap_err(),
            "`/` at character 6 has no meaning; put names and categories that hold it in quotes"
        );
        assert_eq!(
            tokens("a = 'it''s").unwrap_err(),
            "the quote ' at character 5 is not closed; write names \"like this\""
        );
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
