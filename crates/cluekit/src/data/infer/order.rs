//! Words that stand in an order: one that the user declares, or one that everybody knows.
//!
//! A known order is recognised where every word of a column stands in it, whatever its capitals, and no two words mean the
//! same. Letters are grades only in a column that is called so, and sizes only three of them together. Spans of numbers such
//! as `18-25` and `65+` stand in the order of the numbers.

use super::bands;
use crate::data::raw::{Cells, RawColumn, RawTable};
use crate::data::{Constraints, Meaning};
use crate::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Orders from low to high; words in one place mean the same.
const KNOWN: [&[&[&str]]; 10] = [
    &[&["very low"], &["low"], &["medium", "moderate", "mid"], &["high"], &["very high"]],
    &[&["tiny"], &["small"], &["medium"], &["large", "big"], &["huge", "very large", "extra large"]],
    &[
        &["never"],
        &["rarely", "seldom"],
        &["sometimes", "occasionally"],
        &["often", "frequently"],
        &["usually"],
        &["always"],
    ],
    &[
        &["mon", "monday"],
        &["tue", "tues", "tuesday"],
        &["wed", "wednesday"],
        &["thu", "thur", "thurs", "thursday"],
        &["fri", "friday"],
        &["sat", "saturday"],
        &["sun", "sunday"],
    ],
    &[
        &["jan", "january"],
        &["feb", "february"],
        &["mar", "march"],
        &["apr", "april"],
        &["may"],
        &["jun", "june"],
        &["jul", "july"],
        &["aug", "august"],
        &["sep", "sept", "september"],
        &["oct", "october"],
        &["nov", "november"],
        &["dec", "december"],
    ],
    &[&["very poor", "very bad"], &["poor", "bad"], &["fair"], &["good"], &["very good"], &["excellent"]],
    &[
        &["strongly disagree"],
        &["disagree"],
        &["neutral", "neither agree nor disagree"],
        &["agree"],
        &["strongly agree"],
    ],
    &[&["primary"], &["secondary"], &["tertiary"]],
    &[&["beginner"], &["intermediate"], &["advanced"], &["expert"]],
    SIZES,
];
const SIZES: &[&[&str]] = &[&["xxs"], &["xs"], &["s"], &["m"], &["l"], &["xl"], &["xxl", "2xl"], &["xxxl", "3xl"]];
/// Grades from low to high; a sign behind the letter moves it by a part of the step.
const GRADES: &str = "gfedcba";
/// What columns of grades are called.
const GRADE_NAMES: [&str; 4] = ["grade", "mark", "rating", "score"];

/// The words of the column called `name` in an order that everybody knows, if they stand in one.
pub(super) fn known(name: &str, words: &[String]) -> Option<Vec<String>> {
    let plain = |word: &String| word.to_lowercase().replace(['_', '-'], " ");
    let in_scale = |scale: &&[&[&str]]| {
        let place = |word: &String| scale.iter().position(|same| same.contains(&plain(word).as_str()));
        let enough = words.len() > 2 || **scale != *SIZES;
        enough.then(|| sorted(words, |word| place(word).map(|place| place as i64))).flatten()
    };
    let is_grade = || GRADE_NAMES.iter().any(|grade| name.to_lowercase().contains(grade));
    KNOWN
        .iter()
        .find_map(in_scale)
        .or_else(|| is_grade().then(|| sorted(words, |word| grade(word))).flatten())
        .or_else(|| (words.len() > 2).then(|| sorted(words, |word| numbered(word))).flatten())
        .or_else(|| bands::in_order(words))
}

/// The words by their places, if each has one of its own.
fn sorted(words: &[String], place: impl Fn(&String) -> Option<i64>) -> Option<Vec<String>> {
    let placed: Option<BTreeMap<i64, &String>> = words.iter().map(|word| Some((place(word)?, word))).collect();
    placed.filter(|placed| placed.len() == words.len()).map(|placed| placed.into_values().cloned().collect())
}

/// The place of a grade such as `B`, `B+` or `B-`.
fn grade(word: &str) -> Option<i64> {
    let mut signs = word.chars();
    let letter = signs.next().filter(char::is_ascii_uppercase)?.to_ascii_lowercase();
    let step = match signs.as_str() {
        "" => 0,
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    GRADES.find(letter).map(|place| 3 * place as i64 + step)
}

/// The number of `1st`, `2nd`, `16th`, and of `5th-6th` its first.
fn numbered(word: &str) -> Option<i64> {
    let of_one = |part: &str| {
        let digits = part.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let ending = &part[digits.len()..];
        let number = digits.parse::<u8>().ok()?;
        ["st", "nd", "rd", "th"].contains(&ending).then_some(i64::from(number))
    };
    let mut parts = word.splitn(2, '-');
    let (first, last) = (of_one(parts.next()?)?, parts.next());
    last.map_or(Some(()), |last| of_one(last).filter(|&last| last > first).map(|_| ()))?;
    Some(first)
}

/// The orders that the user declares, by the names of their columns.
pub(super) fn declared(table: &RawTable, meaning: &Meaning) -> Result<BTreeMap<String, Vec<String>>> {
    let mut orders = BTreeMap::new();
    for text in &meaning.ordinal {
        let columns = match named(table, text)? {
            Some((column, order)) => {
                complete(table, column, &order)?;
                vec![(column, order)]
            }
            None => holding(table, text)?,
        };
        orders.extend(columns.into_iter().map(|(column, order)| (column.name.clone(), order)));
    }
    Ok(orders)
}

/// A column and its order, where the text names one: `size: small < large`, `size=small<large`.
fn named<'a>(table: &'a RawTable, text: &str) -> Result<Option<(&'a RawColumn, Vec<String>)>> {
    if let Ok((name, order)) = Constraints::parse_order(text) {
        return Ok(Some((table.need(&name)?, order)));
    }
    let before_order = text.find('<').unwrap_or(text.len());
    for (at, _) in text[..before_order].match_indices('=') {
        let name = text[..at].trim();
        if let Some(column) = table.columns.iter().find(|column| column.name == name) {
            return Ok(Some((column, words_of(&text[at + 1..])?)));
        }
    }
    Ok(None)
}

/// The words of an order without a name.
fn words_of(text: &str) -> Result<Vec<String>> {
    let (_, words) = Constraints::parse_order(&format!("column: {text}")).map_err(|_| unreadable(text))?;
    if words.len() < 2 { Err(unreadable(text)) } else { Ok(words) }
}

fn unreadable(text: &str) -> Error {
    Error::setting("ordinal", format!("`{text}` is no order; write it like `size=small<medium<large`"))
}

/// An order must say of each word of its column where it stands.
fn complete(table: &RawTable, column: &RawColumn, order: &[String]) -> Result<()> {
    let Cells::Text { words, .. } = &column.cells else {
        let problem = format!("column `{}` holds numbers, which are in order already; leave it out", column.name);
        return Err(Error::setting("ordinal", problem));
    };
    match words.iter().find(|word| !order.contains(word)) {
        Some(word) => {
            let name = &column.name;
            let problem = format!(
                "column `{name}` of {} holds `{word}`, which the order leaves out; say where it stands",
                table.path.display()
            );
            Err(Error::setting("ordinal", problem))
        }
        None => Ok(()),
    }
}

/// The columns that hold words of an order and nothing else.
fn holding<'a>(table: &'a RawTable, text: &str) -> Result<Vec<(&'a RawColumn, Vec<String>)>> {
    let order = words_of(text)?;
    let all: BTreeSet<&String> = order.iter().collect();
    let fits = |column: &&RawColumn| match &column.cells {
        Cells::Text { words, .. } => words.len() > 1 && words.iter().all(|word| all.contains(word)),
        Cells::Numbers { .. } => false,
    };
    let columns: Vec<_> = table.columns.iter().filter(fits).map(|column| (column, order.clone())).collect();
    if columns.is_empty() {
        let problem = format!("no column holds just the words of `{text}`; name the column, as in `NAME={text}`");
        return Err(Error::setting("ordinal", problem));
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::raw::text::parse;
    use std::path::Path;

    fn in_order(name: &str, words: &[&str]) -> Option<Vec<String>> {
        known(name, &words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn orders_that_everybody_knows_are_recognised_in_the_words_of_the_data() {
        for (name, words, order) in [
            ("risk", vec!["high", "low", "Medium"], vec!["low", "Medium", "high"]),
            ("smokes", vec!["often", "never", "rarely"], vec!["never", "rarely", "often"]),
            ("day", vec!["Sun", "Mon", "Sat"], vec!["Mon", "Sat", "Sun"]),
            ("month", vec!["dec", "jan", "may"], vec!["jan", "may", "dec"]),
            ("size", vec!["XL", "S", "M"], vec!["S", "M", "XL"]),
            ("quality", vec!["very_good", "poor", "fair"], vec!["poor", "fair", "very_good"]),
            ("Grade", vec!["A", "C", "B+", "B"], vec!["C", "B", "B+", "A"]),
            ("school", vec!["9th", "1st-4th", "10th"], vec!["1st-4th", "9th", "10th"]),
        ] {
            assert_eq!(in_order(name, &words), Some(order.iter().map(ToString::to_string).collect()), "{name}");
        }
    }

    #[test]
    fn words_without_a_known_order_have_none() {
        for (name, words) in [
            ("plan", vec!["A", "B", "C"]),
            ("grade", vec!["a", "b", "c"]),
            ("risk", vec!["low", "high", "unknown"]),
            ("risk", vec!["low", "medium", "moderate"]),
            ("married", vec!["M", "S"]),
            ("street", vec!["1st", "2nd", "Main"]),
            ("school", vec!["4th-1st", "9th", "10th"]),
        ] {
            assert_eq!(in_order(name, &words), None, "{name}");
        }
    }

    fn orders(ordinal: &[&str]) -> Result<BTreeMap<String, Vec<String>>> {
        let table = parse(Path::new("t.csv"), "size,a=b,n\nbig,low,1\nsmall,high,2\n", 0).unwrap();
        let ordinal = ordinal.iter().map(ToString::to_string).collect();
        declared(&table, &Meaning { ordinal, ..Meaning::default() })
    }

    #[test]
    fn an_order_is_declared_with_or_without_the_name_of_its_column() {
        for text in ["size=small<big", "size: small < big", "small<big", "small < medium < big"] {
            let found = orders(&[text]).unwrap();
            let order = &found["size"];
            assert_eq!((order.first().unwrap().as_str(), order.last().unwrap().as_str()), ("small", "big"), "{text}");
        }
        assert_eq!(orders(&["a=b=low<high"]).unwrap()["a=b"], ["low", "high"]);
    }

    #[test]
    fn an_order_that_does_not_fit_is_refused_with_the_remedy() {
        let problem = |text: &str| orders(&[text]).unwrap_err().to_string();
        assert!(problem("size=small<medium").contains("holds `big`, which the order leaves out"));
        assert!(problem("n=1<2").contains("column `n` holds numbers, which are in order already"));
        assert!(problem("red<blue").contains("no column holds just the words of `red<blue`; name the column"));
        assert!(problem("sizes: small<big").contains("did you mean `size`?"));
        assert!(problem("small").contains("write it like `size=small<medium<large`"));
    }
}
