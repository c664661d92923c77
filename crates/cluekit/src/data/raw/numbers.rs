//! Numbers as people write them: `1.5`, `1,000.5`, `1.000,5`, `1 000`, and with a typographic minus.
//!
//! A column is read with a decimal point if all its numbers can be, else with a decimal comma if all can be. Where both
//! are possible the rest of the file decides, else the point.

use std::borrow::Cow;

/// The least whole number that is the `f64` of another one too: 2⁵³.
const LEAST_ROUNDED: f64 = 9_007_199_254_740_992.0;

/// The typographic minus.
const MINUS: char = '\u{2212}';
/// No number is written with more bytes.
const LONGEST: usize = 64;

/// Which character separates whole digits from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Point,
    Comma,
}

impl Mark {
    /// The number in `cell`, or nothing if it is not a number written with this mark.
    pub(super) fn number(self, cell: &str) -> Option<f64> {
        match cell.parse() {
            Ok(number) if self == Self::Point => (!is_rounded(cell)).then_some(number),
            _ => self.plain(cell)?.parse().ok(),
        }
    }

    /// The number in `cell` in Rust's notation, or nothing if it is not a number written with this mark.
    pub(super) fn plain(self, cell: &str) -> Option<String> {
        // A number begins with a digit, a sign or its mark; most words end here.
        let digits = cell.strip_prefix(['-', '+', MINUS]).unwrap_or(cell);
        if cell.len() > LONGEST || !digits.starts_with(|c: char| c.is_ascii_digit() || c == self.character()) {
            return None;
        }
        let sign = if cell.starts_with(['-', MINUS]) { "-" } else { "" };
        let (mantissa, exponent) = digits.split_at(digits.find(['e', 'E']).unwrap_or(digits.len()));
        let (whole, fraction) = match mantissa.split_once(self.character()) {
            Some((_, "")) => return None,
            Some((whole, fraction)) => (whole, format!(".{fraction}")),
            None => (mantissa, String::new()),
        };
        let plain = format!("{sign}{}{fraction}{exponent}", self.ungrouped(whole)?);
        let finite = plain.parse().is_ok_and(f64::is_finite);
        (finite && !is_rounded(&plain)).then_some(plain)
    }

    fn character(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }

    /// Digits without the separators of thousands, which are all alike and stand before every three digits.
    fn ungrouped(self, digits: &str) -> Option<Cow<'_, str>> {
        let thousands = match self {
            Self::Point => ',',
            Self::Comma => '.',
        };
        let separators = [thousands, ' ', '\u{a0}', '\u{202f}', '\''];
        let Some(separator) = digits.chars().find(|letter| separators.contains(letter)) else {
            return Some(Cow::Borrowed(digits));
        };
        let is_group = |group: &str| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
        let mut groups = digits.split(separator);
        let first = groups.next()?;
        let leads =
            (1..=3).contains(&first.len()) && first.bytes().all(|b| b.is_ascii_digit()) && !first.starts_with('0');
        (leads && groups.all(is_group)).then(|| Cow::Owned(digits.replace(separator, "")))
    }
}

/// Whether a whole number in Rust's notation is so large that others become the same `f64`.
pub(crate) fn is_rounded(plain: &str) -> bool {
    plain.len() > 15
        && plain.parse::<f64>().is_ok_and(|number| number.is_finite() && number.abs() >= LEAST_ROUNDED)
        && plain.trim_start_matches(['-', '+']).bytes().all(|byte| byte.is_ascii_digit())
}

/// With which marks all cells of a column that were seen so far can be read as numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// A decimal comma is possible.
    comma: bool,
    /// A decimal point is possible.
    point: bool,
    /// Some cell is another number with the one than with the other.
    differ: bool,
}

impl Marks {
    /// Those of a column in a file where a decimal comma may occur or not.
    pub(super) fn new(comma: bool) -> Self {
        Self { comma, point: true, differ: false }
    }

    /// Learns from one more cell, which is this `number` with a decimal point.
    pub(super) fn see(&mut self, cell: &str, number: Option<f64>) {
        self.point &= number.is_some();
        // Digits alone are the same number with both.
        let digits = number.is_some() && cell.bytes().all(|byte| byte.is_ascii_digit());
        if self.comma && !digits {
            let with_comma = Mark::Comma.number(cell);
            self.comma = with_comma.is_some();
            self.differ |= with_comma != number;
        }
    }

    /// Whether a decimal comma makes numbers of the column.
    pub(super) fn with_comma(self) -> bool {
        self.comma
    }

    /// Whether only a decimal comma makes numbers of the column.
    pub(super) fn needs_comma(self) -> bool {
        self.comma && !self.point
    }

    /// Whether both marks make numbers of the column, but others.
    pub(super) fn open(self) -> bool {
        self.comma && self.point && self.differ
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (cell, number) in [
            ("1.5", 1.5),
            ("1,000", 1000.0),
            ("-1,234,567.25", -1_234_567.25),
            ("1 000", 1000.0),
            ("1\u{a0}000", 1000.0),
            ("12'345", 12_345.0),
            ("\u{2212}3.5", -3.5),
            (".5", 0.5),
            ("5.00E+05", 500_000.0),
        ] {
            assert_eq!(Mark::Point.number(cell), Some(number), "{cell}");
        }
        for (cell, number) in
            [("1,5", 1.5), ("1.000,5", 1000.5), ("-0,25", -0.25), ("1.500", 1500.0), ("7", 7.0), ("2,5e3", 2500.0)]
        {
            assert_eq!(Mark::Comma.number(cell), Some(number), "{cell}");
        }
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for cell in
            ["", "-", "1,5", "1,00", "1,0000", "0,125", "1,000,00", "1 000,000", "--1", "x", "1.2.3", "3 kg", "1e"]
        {
            assert_eq!(Mark::Point.number(cell), None, "{cell}");
        }
        for cell in ["1.5", "0.125", "1,5,0", "39,", "1,5e400", "1,000.5", "2020.01.05"] {
            assert_eq!(Mark::Comma.number(cell), None, "{cell}");
        }
    }

    #[test]
    fn whole_numbers_that_would_be_rounded_stay_text() {
        assert_eq!(Mark::Point.number("9007199254740991"), Some(LEAST_ROUNDED - 1.0));
        for cell in ["9007199254740993", "9223372036854775807", "-9223372036854775807", "9,223,372,036,854,775,807"] {
            assert_eq!(Mark::Point.number(cell), None, "{cell}");
        }
        assert_eq!(Mark::Point.number("1e300"), Some(1e300));
    }

    #[test]
    fn a_column_tells_its_mark_by_all_its_cells() {
        let marks = |cells: &[&str]| {
            let mut marks = Marks::new(true);
            cells.iter().for_each(|cell| marks.see(cell, Mark::Point.number(cell)));
            (marks.needs_comma(), marks.open())
        };
        assert_eq!(marks(&["1", "2"]), (false, false));
        assert_eq!(marks(&["1.500", "2.75"]), (false, false));
        assert_eq!(marks(&["1.500", "2,75"]), (true, false));
        assert_eq!(marks(&["1,500", "2"]), (false, true));
        assert_eq!(marks(&["1,5", "old"]), (false, false));
        assert_eq!(marks(&["9223372036854775807"]), (false, false));
    }
}
