//! Words that are spans of numbers, in the order of these numbers: `18-25`, `26-35`, `65+`.
//!
//! A span has two ends, `18-25`, `18 to 25`, `(18, 25]`, `$10k-$20k`; one, `<18`, `under 18`, `65+`, `65 and over`; or is a
//! number alone. Words are in order where all of them are spans of one unit, at least one of them more than a number, and
//! each begins where the one below it ends or later: sₖ.high ≤ sₖ₊₁.low, sₖ.low < sₖ₊₁.low.

use std::collections::BTreeSet;

/// Of more words than this nobody made a scale.
const MOST_BANDS: usize = 50;
/// What stands before a number that a span ends at.
const UP_TO: [&str; 7] = ["<=", "≤", "<", "under ", "below ", "up to ", "less than "];
/// What stands before a number that a span begins at; of those marked the number itself is not in it.
const FROM: [(&str, bool); 7] = [
    (">=", false),
    ("≥", false),
    (">", true),
    ("over ", true),
    ("above ", true),
    ("more than ", true),
    ("from ", false),
];
/// What stands behind a number that a span begins at.
const AND_MORE: [&str; 5] = ["over", "older", "above", "more", "up"];
/// What stands behind a number that a span ends at.
const AND_LESS: [&str; 4] = ["under", "younger", "below", "less"];

/// The numbers from `low` to `high`, of some unit.
#[derive(Debug, PartialEq)]
struct Span {
    low: f64,
    high: f64,
    unit: String,
}

/// The words in the order of their numbers, if all of them are spans that do not overlap.
pub(super) fn in_order(words: &[String]) -> Option<Vec<String>> {
    if !(2..=MOST_BANDS).contains(&words.len()) {
        return None;
    }
    let mut spans = words.iter().map(|word| Some((span(word)?, word))).collect::<Option<Vec<_>>>()?;
    spans.sort_by(|(a, _), (b, _)| a.low.total_cmp(&b.low).then(a.high.total_cmp(&b.high)));
    let units: BTreeSet<&str> =
        spans.iter().map(|(span, _)| span.unit.as_str()).filter(|unit| !unit.is_empty()).collect();
    let apart = spans.windows(2).all(|pair| pair[0].0.high <= pair[1].0.low && pair[0].0.low < pair[1].0.low);
    let wide = spans.iter().any(|(span, _)| span.low < span.high);
    (apart && wide && units.len() < 2).then(|| spans.into_iter().map(|(_, word)| word.clone()).collect())
}

/// The numbers that a word stands for.
fn span(word: &str) -> Option<Span> {
    let text = word.trim().to_lowercase().replace(['–', '—'], "-");
    if let Some(inside) = text.strip_prefix(['(', '[']).and_then(|text| text.strip_suffix([')', ']'])) {
        let (low, high) = inside.split_once([',', ';'])?;
        return between(alone(low)?, alone(high)?, "");
    }
    if let Some(rest) = UP_TO.iter().find_map(|sign| text.strip_prefix(sign)) {
        let (high, unit) = number(rest)?;
        return between(f64::NEG_INFINITY, high, unit);
    }
    if let Some((rest, beyond)) = FROM.iter().find_map(|&(sign, beyond)| Some((text.strip_prefix(sign)?, beyond))) {
        let (low, unit) = number(rest)?;
        return between(if beyond { low.next_up() } else { low }, f64::INFINITY, unit);
    }
    let (low, rest) = number(&text)?;
    let rest = rest.trim_start();
    if let Some(unit) = rest.strip_prefix('+').or_else(|| without_ending(rest, &AND_MORE)) {
        return between(low, f64::INFINITY, unit);
    }
    if let Some(unit) = without_ending(rest, &AND_LESS) {
        return between(f64::NEG_INFINITY, low, unit);
    }
    match ["-", "to ", ".."].iter().find_map(|sign| rest.strip_prefix(sign)) {
        Some(rest) => {
            let (high, unit) = number(rest)?;
            between(low, high, unit)
        }
        None => between(low, low, rest),
    }
}

/// A span of a unit that is one word, whether one or many: `year`, `years`.
fn between(low: f64, high: f64, unit: &str) -> Option<Span> {
    let unit = unit.trim().trim_end_matches('s');
    let is_unit = unit.chars().all(|c| c.is_alphabetic() || c == '%');
    (low <= high && is_unit).then(|| Span { low, high, unit: unit.to_owned() })
}

/// What stands before `and over` or `or more`.
fn without_ending<'a>(text: &'a str, endings: &[&str]) -> Option<&'a str> {
    let before = endings.iter().find_map(|ending| text.strip_suffix(ending))?.trim_end();
    ["and", "or", "&"].iter().find_map(|joint| before.strip_suffix(joint))
}

/// A number and nothing else; `inf` has no end.
fn alone(text: &str) -> Option<f64> {
    match text.trim() {
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        text => number(text).filter(|(_, rest)| rest.trim().is_empty()).map(|(number, _)| number),
    }
}

/// The number that a text begins with, in thousands before `k`, and what follows it.
fn number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |text| (-1.0, text));
    let text = text.trim_start_matches(['$', '€', '£']);
    // Two dots are no point but the sign between two ends.
    let digits = text.find("..").unwrap_or(text.len());
    let end = text[..digits].find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(digits);
    let number: f64 = text[..end].replace(',', "").parse().ok()?;
    let rest = &text[end..];
    let thousands = rest.strip_prefix('k').filter(|rest| !rest.starts_with(char::is_alphabetic));
    let (factor, rest) = thousands.map_or((1.0, rest), |rest| (1000.0, rest));
    Some((sign * number * factor, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(words: &[&str]) -> Option<Vec<String>> {
        in_order(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn spans_stand_in_the_order_of_their_numbers() {
        for sorted in [
            &["18-25", "26-35", "65+"][..],
            &["under 18", "18 to 25", "26 and older"],
            &["<5", "5-9", "10-14", "100+"],
            &["(18.0, 25.0]", "(25.0, 60.0]", "(60.0, inf]"],
            &["0", "1-2", "3 or more"],
            &["0", ">0"],
            &["< 1 year", "1 year", "2-9 years", "10+ years"],
            &["$0-$9,999", "$10,000-$19,999", "$20,000+"],
            &["0k–10k", "10k–20k", "20k–100k"],
            &["-10--5", "-5-0", "0..2.5"],
            &["0-10%", "10-90%", "90-100%"],
            &["2 hours or less", "3 hours", "4 hours or more"],
        ] {
            let reversed: Vec<&str> = sorted.iter().rev().copied().collect();
            assert_eq!(order(&reversed), Some(sorted.iter().map(ToString::to_string).collect()), "{sorted:?}");
        }
    }

    #[test]
    fn words_that_overlap_or_are_no_spans_have_no_order() {
        for words in [
            &["18-25", "20-30", "30+"][..],
            &["18-25", "26-35", "unknown"],
            &["2-1", "1-0", "0-0"],
            &["1-5 days", "1-5 weeks", "6-9 weeks"],
            &["1-5", "6-9", "6+"],
            &["4x4", "2wd", "5-6"],
            &["1a", "2a", "3a"],
            &["", "-", "+"],
            &["555-1234", "555-1235", "556-1200"],
            &["18-25"],
        ] {
            assert_eq!(order(words), None, "{words:?}");
        }
        let many: Vec<String> = (0..51).map(|i| format!("{}-{}", 10 * i, 10 * i + 9)).collect();
        assert!(in_order(&many).is_none() && in_order(&many[1..]).is_some());
    }
}
