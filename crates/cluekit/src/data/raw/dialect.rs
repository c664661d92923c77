//! What separates the cells of a text, and how its comments begin: guessed from many lines, as a person would.

use super::numbers::Mark;
use super::text::{records, tidied};
use crate::data::reading::Delimiter;
use csv::StringRecord;
use std::collections::BTreeMap;
use std::path::Path;

/// So many lines are looked at, and so many bytes of them.
const SAMPLE: (usize, usize) = (500, 1 << 20);
/// If this share of rows has the same number of cells, a few others do not speak against a delimiter.
const AGREED: f64 = 0.9;

/// How a text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub delimiter: Delimiter,
    /// What the lines begin with that hold no row.
    pub comment: Option<u8>,
}

impl Dialect {
    /// The dialect of `text`, whose delimiter may be `given`.
    pub(super) fn guess(text: &str, given: Option<Delimiter>) -> Self {
        let lines = sample(text);
        let comment = comment(&lines);
        let rows: String =
            lines.iter().filter(|line| !begins_with(line, comment)).flat_map(|line| [line, "\n"]).collect();
        let delimiter = given.unwrap_or_else(|| best(&rows));
        Self { delimiter, comment: comment.filter(|&mark| mark != delimiter.byte()) }
    }
}

/// The first lines that hold anything.
fn sample(text: &str) -> Vec<&str> {
    let mut bytes = 0;
    let lines = text.lines().filter(|line| !line.trim().is_empty()).take(SAMPLE.0);
    lines
        .take_while(|line| {
            let room = bytes < SAMPLE.1;
            bytes += line.len();
            room
        })
        .collect()
}

/// What comments begin with: `#` or `|` before lines on top of the file, or before a few of the others.
fn comment(lines: &[&str]) -> Option<u8> {
    b"#|".iter().copied().find(|&mark| {
        let marked = |line: &&&str| begins_with(line, Some(mark));
        let (on_top, in_all) = (lines.iter().take_while(marked).count(), lines.iter().filter(marked).count());
        in_all > 0 && (in_all - on_top) * 2 <= lines.len() - on_top && on_top < lines.len()
    })
}

/// Whether `line` is a comment.
pub(super) fn begins_with(line: &str, comment: Option<u8>) -> bool {
    comment.is_some_and(|mark| line.as_bytes().first() == Some(&mark))
}

/// The delimiter that cuts the rows into equally many cells, of which few seem to be cut wrongly.
fn best(rows: &str) -> Delimiter {
    // Of equals the rarest character inside of cells.
    let order = [Delimiter::Tab, Delimiter::Pipe, Delimiter::Semicolon, Delimiter::Comma, Delimiter::Space];
    let mut best = (0.0, Delimiter::Comma);
    for delimiter in order {
        let score = score(rows, delimiter);
        if score > best.0 {
            best = (score, delimiter);
        }
    }
    best.1
}

/// How well a delimiter fits: the share of rows that agree on their number of cells, times the share of whole cells.
fn score(rows: &str, delimiter: Delimiter) -> f64 {
    let dialect = Dialect { delimiter, comment: None };
    let text = tidied(rows, delimiter);
    let rows: Vec<StringRecord> =
        records(Path::new(""), &text, dialect).map_while(Result::ok).map(|record| record.cells).collect();
    let mut widths: BTreeMap<usize, usize> = BTreeMap::new();
    rows.iter().for_each(|row| *widths.entry(row.len()).or_default() += 1);
    let Some((&width, &count)) = widths.iter().max_by_key(|&(&width, &count)| (count, width)) else { return 0.0 };
    if width < 2 {
        return 0.0;
    }
    let agreed = (count as f64 / rows.len() as f64).min(AGREED);
    // The first row names the columns, so it has all of them.
    let agreed = if rows[0].len() == width { agreed } else { agreed / 2.0 };
    let cells: usize = rows.iter().map(StringRecord::len).sum();
    let whole = rows.iter().flatten().filter(|cell| is_whole(cell.trim(), delimiter)).count();
    agreed * whole as f64 / cells as f64
}

/// Whether a cell holds no other delimiter, except in a number.
fn is_whole(cell: &str, delimiter: Delimiter) -> bool {
    let others = Delimiter::ALL.into_iter().filter(|&other| other != delimiter && other != Delimiter::Space);
    !others.into_iter().any(|other| cell.as_bytes().contains(&other.byte()))
        || Mark::Comma.number(cell).or_else(|| Mark::Point.number(cell)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(text: &str) -> (&'static str, Option<char>) {
        let Dialect { delimiter, comment } = Dialect::guess(text, None);
        (delimiter.name(), comment.map(char::from))
    }

    #[test]
    fn the_delimiter_is_the_one_that_cuts_all_rows_alike() {
        for (text, delimiter) in [
            ("a,b\n1,2\n3,4\n", "comma"),
            ("\"a,b\";c\n1;2\n", "semicolon"),
            ("a;b\n1,5;2,5\n3,25;4\n", "semicolon"),
            ("1,5;2,3\n1,7;2,9\n", "semicolon"),
            ("39, State-gov, 77516, <=50K\n50, Self-emp, 83311, <=50K\n", "comma"),
            ("A11 6 A34\nA12 48 A32\n", "space"),
            ("  1.0   2.0\n 11.5  12.0\n", "space"),
            ("x y\n1,5 2,5\n", "space"),
            ("name\tcity\nSmith, John\tNew York\nDoe, Jane\tParis\n", "tab"),
            ("a|b\nSmith, John|3\n", "pipe"),
            ("when,x\n2020-01-01 10:00,high\n2020-01-02 10:00,low\n", "comma"),
            ("weight,colour\n5 kg,red\n6 kg,blue\n", "comma"),
            ("alone\n1\n2\n", "comma"),
        ] {
            assert_eq!(guess(text).0, delimiter, "{text}");
        }
    }

    #[test]
    fn a_few_ragged_rows_do_not_change_the_delimiter() {
        let rows: String = (0..50).map(|i| format!("2020-01-01 10:{i},5,3\n")).collect();
        assert_eq!(guess(&format!("when,a,b\n{rows}2020-01-02 11:00,5\n")).0, "comma");
    }

    #[test]
    fn comments_are_lines_on_top_or_a_few_between() {
        assert_eq!(guess("|1x3 Cross validator\n25, Private\n38, Private\n"), ("comma", Some('|')));
        assert_eq!(guess("# one\n# two\n# three\na,b\n1,2\n"), ("comma", Some('#')));
        assert_eq!(guess("a,b\n1,2\n# pause\n3,4\n"), ("comma", Some('#')));
        assert_eq!(guess("|a|b|\n|1|2|\n"), ("pipe", None));
        assert_eq!(guess("id,n\n#1,2\n#2,3\n#3,4\n"), ("comma", None));
    }

    #[test]
    fn a_given_delimiter_is_kept() {
        assert_eq!(Dialect::guess("a,b\n1,2\n", Some(Delimiter::Tab)).delimiter, Delimiter::Tab);
    }
}
