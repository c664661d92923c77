//! What transitions and orders are written in: names and categories between signs, `job: student -> clerk, engineer`.
//!
//! A name is everything up to the next sign, spaces inside it included. One that holds a sign stands in quotes, and such
//! a quote in it is doubled.

use crate::data::tokens::{Language, Placed, Token, in_quotes};
use std::borrow::Cow;

/// Signs between names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sign {
    Colon,
    Arrow,
    Comma,
    Less,
}

/// `feature: from -> to, to`.
pub(super) const TRANSITION: Language<Sign> = Language {
    signs: &[(":", Sign::Colon), ("->", Sign::Arrow), ("→", Sign::Arrow), (",", Sign::Comma)],
    word: |text| until(text, &[":", "->", "→", ","]),
};

/// `feature: low < high`.
pub(super) const ORDER: Language<Sign> =
    Language { signs: &[(":", Sign::Colon), ("<", Sign::Less)], word: |text| until(text, &[":", "<"]) };

/// How many bytes of `text` come before the first of these signs.
fn until(text: &str, signs: &[&str]) -> usize {
    signs.iter().filter_map(|sign| text.find(sign)).min().unwrap_or(text.len())
}

/// The names of `text` and the signs between them, a name before the first sign and behind the last; a name that is
/// missing is empty.
pub(super) fn pieces(language: &Language<Sign>, text: &str) -> Result<(Vec<String>, Vec<Sign>), String> {
    let (mut names, mut signs) = (vec![String::new()], Vec::new());
    let mut complete = false;
    for Placed { token, written, at } in language.tokens(text)? {
        let name = match token {
            Token::Sign(sign) => {
                signs.push(sign);
                names.push(String::new());
                complete = false;
                continue;
            }
            Token::Word(word) => word.trim_end().to_owned(),
            Token::Quoted(name) => name,
        };
        if complete {
            return Err(format!("`{}` at character {at} follows a name; put the whole name in quotes", written.trim()));
        }
        complete = true;
        names.pop();
        names.push(name);
    }
    Ok((names, signs))
}

/// A name as it is written between signs: bare, or in back-quotes.
pub(super) fn written(name: &str) -> Cow<'_, str> {
    let signs = [":", "->", "→", ",", "<"];
    let bare = !name.is_empty()
        && name.trim() == name
        && !name.starts_with(['"', '\'', '`'])
        && !signs.iter().any(|sign| name.contains(sign));
    if bare { Cow::Borrowed(name) } else { Cow::Owned(in_quotes(name, '`')) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_reach_to_the_next_sign_and_quotes_hold_signs() {
        let (names, signs) = pieces(&TRANSITION, "job title: never-worked -> 'a, b',it's").unwrap();
        assert_eq!(names, ["job title", "never-worked", "a, b", "it's"]);
        assert_eq!(signs, [Sign::Colon, Sign::Arrow, Sign::Comma]);
        let (names, signs) = pieces(&ORDER, "a: x, y < `<z`").unwrap();
        assert_eq!((names, signs), (vec!["a".into(), "x, y".into(), "<z".into()], vec![Sign::Colon, Sign::Less]));
        assert_eq!(pieces(&TRANSITION, "a ->").unwrap(), (vec!["a".into(), String::new()], vec![Sign::Arrow]));
    }

    #[test]
    fn a_name_that_is_partly_in_quotes_is_refused() {
        let problem = "`b` at character 8 follows a name; put the whole name in quotes";
        assert_eq!(pieces(&ORDER, "x: 'a' b < c").unwrap_err(), problem);
    }

    #[test]
    fn names_are_quoted_where_they_would_be_read_otherwise() {
        assert_eq!(written("Married-civ spouse"), "Married-civ spouse");
        for name in ["", " a", "a,b", "`a`", "a->b", "<50"] {
            let (names, _) = pieces(&TRANSITION, &written(name)).unwrap();
            assert_eq!(names, [name]);
        }
    }
}
