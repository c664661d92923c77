//! The pieces of a text that people write: words, what stands in quotes, and signs.
//!
//! Conditions (`predicate`) and relations (`constraints`) are read with it; each has its own [`Language`], and quotes are
//! the same in all: double, single or back-quotes, a quote inside them doubled.

/// What a grammar is made of.
pub(super) struct Language<S: 'static> {
    /// The signs, those that begin with another one before it.
    pub signs: &'static [(&'static str, S)],
    /// How many bytes the bare word is long that a text begins with; 0 if there is none.
    pub word: fn(&str) -> usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<S> {
    /// A name, a category, a number or a reserved word: what it is follows from where it stands.
    Word(String),
    /// What stood in quotes.
    Quoted(String),
    Sign(S),
}

/// A piece, how it was written, and where it begins: a character of the text, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed<S> {
    pub token: Token<S>,
    pub written: String,
    pub at: usize,
}

/// `text` between two quotes, those inside it doubled.
pub(super) fn in_quotes(text: &str, quote: char) -> String {
    format!("{quote}{}{quote}", text.replace(quote, &format!("{quote}{quote}")))
}

impl<S: Clone> Language<S> {
    /// The pieces of `text` in their order.
    pub fn tokens(&self, text: &str) -> Result<Vec<Placed<S>>, String> {
        let mut tokens = Vec::new();
        let mut at = 1;
        let mut rest = text;
        loop {
            let trimmed = rest.trim_start();
            at += rest[..rest.len() - trimmed.len()].chars().count();
            if trimmed.is_empty() {
                return Ok(tokens);
            }
            let (token, end) = self.first(trimmed, at)?;
            tokens.push(Placed { token, written: trimmed[..end].to_owned(), at });
            at += trimmed[..end].chars().count();
            rest = &trimmed[end..];
        }
    }

    /// The piece that `text` begins with, at character `at` of the whole, and how many bytes long it is.
    fn first(&self, text: &str, at: usize) -> Result<(Token<S>, usize), String> {
        if let Some((sign, meaning)) = self.signs.iter().find(|(sign, _)| text.starts_with(sign)) {
            return Ok((Token::Sign(meaning.clone()), sign.len()));
        }
        let c = text.chars().next().unwrap_or_default();
        if matches!(c, '"' | '\'' | '`') {
            return quoted(text, c)
                .ok_or_else(|| format!("the quote {c} at character {at} is not closed; write names \"like this\""));
        }
        match (self.word)(text) {
            0 => Err(format!("`{c}` at character {at} has no meaning; put names that hold it in quotes")),
            end => Ok((Token::Word(text[..end].to_owned()), end)),
        }
    }
}

/// What stands between the first `quote` and the next one that is not doubled.
fn quoted<S>(text: &str, quote: char) -> Option<(Token<S>, usize)> {
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

    /// Two arrows, and words of letters.
    const ARROWS: Language<i32> = Language {
        signs: &[("->", 2), ("-", 1)],
        word: |text| text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len()),
    };

    fn read(text: &str) -> Vec<Token<i32>> {
        ARROWS.tokens(text).unwrap().into_iter().map(|placed| placed.token).collect()
    }

    #[test]
    fn signs_words_and_quotes_are_told_apart() {
        let (word, text) = (|text: &str| Token::Word(text.into()), |text: &str| Token::Quoted(text.into()));
        assert_eq!(read("a->größe -"), [word("a"), Token::Sign(2), word("größe"), Token::Sign(1)]);
        assert_eq!(read("\"a - \"\"b\"\"\"'it''s'`-`''"), [text("a - \"b\""), text("it's"), text("-"), text("")]);
    }

    #[test]
    fn places_count_characters_and_pieces_are_kept_as_they_were_written() {
        let placed = ARROWS.tokens(" é -> 'ü' and").unwrap();
        assert_eq!(placed.iter().map(|placed| placed.at).collect::<Vec<_>>(), [2, 4, 7, 11]);
        assert_eq!(placed.iter().map(|placed| placed.written.as_str()).collect::<Vec<_>>(), ["é", "->", "'ü'", "and"]);
    }

    #[test]
    fn what_is_no_piece_is_named_with_its_place() {
        let problem = |text| ARROWS.tokens(text).unwrap_err();
        assert_eq!(problem("é - a/b"), "`/` at character 6 has no meaning; put names that hold it in quotes");
        assert_eq!(problem("a - 'it''s"), "the quote ' at character 5 is not closed; write names \"like this\"");
    }

    proptest! {
        #[test]
        fn whatever_stands_in_quotes_is_read_as_one_piece(text in "\\PC{0,8}", quote in "[\"'`]") {
            let quote = quote.chars().next().unwrap();
            prop_assert_eq!(read(&in_quotes(&text, quote)), [Token::Quoted(text)]);
        }
    }
}
