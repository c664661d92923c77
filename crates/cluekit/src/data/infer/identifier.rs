//! Columns that name the rows instead of saying something of them.
//!
//! | a column | is an identifier |
//! |---|---|
//! | called `id`, `uuid`, `index`, `customer no.`, `…_id` | if its whole numbers or texts are each there once |
//! | that comes first | if it counts the rows from 0 or 1 |
//! | of whole numbers | if each is there once, and chance would have repeated ten of them (n² / 2 ranges) |
//! | of text | if it is different in nearly every row |

use super::distinct::{nearly_all, whole};
use crate::data::raw::Cells;

/// Tables with so few rows may have all-distinct columns by chance.
const FEW_ROWS: usize = 10;
/// Rows from which whole numbers that never repeat are not by chance.
const MANY_ROWS: usize = 1000;
/// How often chance would have repeated a number that never does.
const REPEATS: f64 = 10.0;
/// Last words of names that are given to identifiers.
const LAST_WORDS: [&str; 10] = ["id", "ids", "uuid", "guid", "index", "no", "nr", "number", "num", "key"];
/// Shortest hexadecimal text that is taken for one.
const SHORTEST_HEX: usize = 8;

/// Why the column called `name`, the table's number `index`, is an identifier, if it is one.
pub(super) fn reason(index: usize, name: &str, cells: &Cells) -> Option<String> {
    match cells {
        Cells::Numbers { values, .. } => of_numbers(index, name, values),
        Cells::Text { words, codes } => of_text(name, words, codes.len()),
    }
}

fn of_numbers(index: usize, name: &str, values: &[f64]) -> Option<String> {
    let counts = values.windows(2).all(|pair| (pair[1] - pair[0] - 1.0).abs() <= 0.0)
        && values.first().is_some_and(|&first| (0.0..=1.0).contains(&first));
    if index == 0 && values.len() > FEW_ROWS && counts {
        return Some("it only numbers the rows".into());
    }
    if !(is_named(name) || against_chance(values)) || !whole(values) || !each_once(values) {
        return None;
    }
    let named = if is_named(name) { "is called one, and" } else { "is whole," };
    Some(format!("it is an identifier: it {named} each of its {} numbers is there once", values.len()))
}

fn of_text(name: &str, words: &[String], rows: usize) -> Option<String> {
    let distinct = words.len();
    if distinct == rows && rows > 1 && is_named(name) {
        return Some(format!("it is an identifier: it is called one, and each of its {rows} texts is there once"));
    }
    if !nearly_all(distinct, rows) {
        return None;
    }
    let is_hex = |word: &String| word.len() >= SHORTEST_HEX && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    Some(match words.iter().all(is_hex) {
        true => format!("it is an identifier: hexadecimal texts, different in nearly every row ({distinct} of {rows})"),
        false => format!("its text is different in nearly every row ({distinct} of {rows})"),
    })
}

/// Whether a name ends in a word that identifiers are called by: `Customer_ID`, `customerId`, `invoice no.`.
fn is_named(name: &str) -> bool {
    let plain = name.trim_end_matches(['.', ':', '#', ' ']);
    let word = plain.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    let last = match word.rfind(char::is_lowercase).and_then(|lower| word[..lower].rfind(char::is_uppercase)) {
        // customerId: the capital begins a word.
        Some(capital) if capital > 0 && word[..capital].ends_with(char::is_lowercase) => &word[capital..],
        _ => word.strip_suffix("ID").filter(|rest| rest.ends_with(char::is_lowercase)).map_or(word, |_| "ID"),
    };
    // `level_0` of an index that was written along.
    LAST_WORDS.contains(&last.to_lowercase().as_str()) || name == "__index_level_0__"
}

/// Whether chance would have repeated some of so many whole numbers between their least and greatest.
fn against_chance(values: &[f64]) -> bool {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let rows = values.len() as f64;
    values.len() >= MANY_ROWS && rows * rows / 2.0 >= REPEATS * (greatest - least + 1.0)
}

fn each_once(values: &[f64]) -> bool {
    // Most columns repeat a value soon, and need not be sorted as a whole.
    let repeats = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        values.windows(2).any(|pair| pair[0].total_cmp(&pair[1]).is_eq())
    };
    !repeats(&values[..values.len().min(4 * MANY_ROWS)]) && !repeats(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: impl Iterator<Item = usize>) -> Cells {
        Cells::Numbers { values: values.map(|value| value as f64).collect(), decimals: 0 }
    }

    #[test]
    fn names_of_identifiers_are_known_by_their_last_word() {
        for name in
            ["id", "ID", "Customer_ID", "customerId", "customerID", "invoice no.", "uuid", "Loan Number", "user id"]
        {
            assert!(is_named(name), "{name}");
        }
        for name in ["paid", "valid", "LIMIT_BAL", "idea", "number of rooms", "humid", "PAID", "é", ""] {
            assert!(!is_named(name), "{name}");
        }
    }

    #[test]
    fn a_name_alone_makes_no_identifier() {
        assert!(reason(3, "shop_id", &numbers((0..40).map(|i| i % 20))).is_none());
        assert!(reason(3, "customer_id", &numbers((0..40).map(|i| i * 7))).unwrap().contains("each of its 40 numbers"));
    }

    #[test]
    fn whole_numbers_that_never_repeat_although_chance_would_have_are_identifiers() {
        // 2000² / 2 = 2 000 000 pairs among 20 000 numbers: 100 repetitions by chance.
        assert!(reason(3, "code", &numbers((0..2000).map(|i| i * 7919 % 20_011))).is_some());
        // Among 2 000 000 numbers one repetition would be usual, so none says little.
        assert!(reason(3, "income", &numbers((0..2000).map(|i| i * 1009 % 2_000_003))).is_none());
    }

    #[test]
    fn a_first_column_that_counts_is_an_identifier_and_a_later_one_is_not() {
        assert_eq!(reason(0, "x", &numbers(1..41)).as_deref(), Some("it only numbers the rows"));
        assert_eq!(reason(1, "x", &numbers(1..41)), None);
    }

    #[test]
    fn hexadecimal_texts_are_called_so() {
        let words: Vec<String> = (0..20).map(|i| format!("{:08x}", i * 0x01f0_3d07_u32)).collect();
        let cells = Cells::Text { words, codes: (0..20).collect() };
        assert!(reason(0, "hash", &cells).unwrap().contains("hexadecimal"));
    }
}
