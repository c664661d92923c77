//! An interval that a number must lie in: `10000..500000`, open on one side as `10000..` or `..500000`.
//!
//! In TOML `[10000, 500000]`, or the same text as in the shell.

use crate::data::Scaling;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The values that a feature may take, both ends included, in the data's own unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// Least value that is allowed; none for no lower end.
    pub least: Option<f64>,
    /// Greatest value that is allowed; none for no upper end.
    pub greatest: Option<f64>,
}

impl Range {
    /// Whether `value` lies in it, or outside by no more than `noise`.
    pub(super) fn contains(&self, value: f64, noise: f64) -> bool {
        self.least.is_none_or(|least| value >= least - noise)
            && self.greatest.is_none_or(|greatest| value <= greatest + noise)
    }

    /// The part of it that the data can write: both ends rounded inward to the feature's decimals.
    pub(super) fn inward(self, scaling: &Scaling) -> Self {
        Self {
            least: self.least.map(|value| scaling.round_up(value)),
            greatest: self.greatest.map(|value| scaling.round_down(value)),
        }
    }

    /// Whether no value lies in it.
    pub(super) fn is_empty(&self) -> bool {
        matches!((self.least, self.greatest), (Some(least), Some(greatest)) if least > greatest)
    }

    /// From both ends, where an infinite one is open.
    fn between([least, greatest]: [f64; 2]) -> Result<Self, String> {
        let range = Self {
            least: (least != f64::NEG_INFINITY).then_some(least),
            greatest: (greatest != f64::INFINITY).then_some(greatest),
        };
        match [range.least, range.greatest] {
            [None, None] => Err("a range needs at least one end, such as `1..` or `..5`".into()),
            ends if ends.iter().flatten().all(|end| end.is_finite()) => Ok(range),
            _ => Err(format!("the range {least}..{greatest} has an end that is no number; give numbers, `1..5`")),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
        write!(f, "{}..{}", end(self.least), end(self.greatest))
    }
}

/// The problem is text, since only the caller knows the feature.
impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (least, greatest) = text.split_once("..").ok_or_else(|| {
            format!("`{text}` is not a range; write `1..5`, or leave an end open as in `1..` or `..5`")
        })?;
        let end = |text: &str, open: f64| match text.trim() {
            "" => Ok(open),
            number => number.parse().map_err(|_| format!("`{number}` is not a number; write a range as `1..5`")),
        };
        Self::between([end(least, f64::NEG_INFINITY)?, end(greatest, f64::INFINITY)?])
    }
}

impl Serialize for Range {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.least, self.greatest) {
            (Some(least), Some(greatest)) => [least, greatest].serialize(serializer),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Range {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Form)
    }
}

/// Either way of writing a range.
struct Form;

impl<'de> Visitor<'de> for Form {
    type Value = Range;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a range such as [1, 5] or \"1..\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Range, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut ends: A) -> Result<Range, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = ends.next_element::<f64>()? {
            values.push(value);
        }
        let count = values.len();
        let ends: [f64; 2] =
            values.try_into().map_err(|_| A::Error::custom(format!("a range has two ends, [1, 5], got {count}")))?;
        Range::between(ends).map_err(A::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn range(least: impl Into<Option<f64>>, greatest: impl Into<Option<f64>>) -> Range {
        Range { least: least.into(), greatest: greatest.into() }
    }

    fn from_toml(text: &str) -> Result<Range, String> {
        let table: Result<BTreeMap<String, Range>, _> = toml::from_str(&format!("a = {text}"));
        table.map(|table| table["a"]).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn either_end_may_be_open() {
        assert_eq!("1..5".parse(), Ok(range(1.0, 5.0)));
        assert_eq!("-1.5 .. ".parse(), Ok(range(-1.5, None)));
        assert_eq!("..5e3".parse(), Ok(range(None, 5000.0)));
    }

    #[test]
    fn what_is_no_range_is_refused_with_an_example() {
        for text in ["5", "..", "a..5", "1..x", "nan..5", "inf.."] {
            let problem = text.parse::<Range>().unwrap_err();
            assert!(problem.contains("`1.."), "{problem}");
        }
    }

    #[test]
    fn toml_has_a_pair_or_the_text_of_the_shell() {
        assert_eq!(from_toml("[1, 5.5]"), Ok(range(1.0, 5.5)));
        assert_eq!(from_toml("\"1..\""), Ok(range(1.0, None)));
        assert_eq!(from_toml("[1, inf]"), Ok(range(1.0, None)));
        assert_eq!(from_toml("[1]"), Err("a range has two ends, [1, 5], got 1".into()));
        assert!(from_toml("7").unwrap_err().contains("a range such as [1, 5]"));
        for range in [range(0.1, 1e9), range(-3.0, None), range(None, 0.5)] {
            let text = toml::to_string(&BTreeMap::from([("a", range)])).unwrap();
            assert_eq!(from_toml(text.trim_start_matches("a = ")), Ok(range), "{text}");
        }
    }

    #[test]
    fn ends_are_rounded_inward_to_what_the_data_can_write() {
        let scaling = Scaling { mean: 0.0, deviation: 1.0, decimals: Some(0), least: 0.0, greatest: 9.0 };
        assert_eq!(range(0.5, 3.7).inward(&scaling), range(1.0, 3.0));
        assert!(range(0.2, 0.8).inward(&scaling).is_empty());
        assert!(!range(0.2, 0.8).is_empty());
    }
}
