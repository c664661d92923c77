//! An interval that a number must lie in: `10000..500000`, open on one side as `10000..` or `..500000`.
//!
//! An end is a number, or a date or a word of an order as the data write it: `2020-01-01..`, `low..medium`. In TOML
//! `[10000, 500000]`, or the same text as in the shell. What an end means, only its feature can say ([`Range::of`]).

use crate::data::encoding::{Cell, shown};
use crate::data::{Feature, Scaling};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The values that a feature may take, both ends included, as people write them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Range {
    /// Least value that is allowed; none for no lower end.
    pub least: Option<End>,
    /// Greatest value that is allowed; none for no upper end.
    pub greatest: Option<End>,
}

/// An end of a range.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// A number in the data's own unit; of dates what is counted, of words their place in the order.
    Number(f64),
    /// A date or a word of an order, as the data write it.
    Written(String),
}

/// The numbers of a feature that lie in a range, both ends included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Interval {
    pub least: Option<f64>,
    pub greatest: Option<f64>,
}

impl Interval {
    /// Whether `value` lies in it, or outside by no more than `noise`.
    pub fn contains(&self, value: f64, noise: f64) -> bool {
        self.least.is_none_or(|least| value >= least - noise)
            && self.greatest.is_none_or(|greatest| value <= greatest + noise)
    }

    /// The part of it that the data can write: both ends rounded inward to the feature's decimals.
    pub fn inward(self, scaling: &Scaling) -> Self {
        Self {
            least: self.least.map(|value| scaling.round_up(value)),
            greatest: self.greatest.map(|value| scaling.round_down(value)),
        }
    }

    /// Whether no value lies in it.
    pub fn is_empty(&self) -> bool {
        matches!((self.least, self.greatest), (Some(least), Some(greatest)) if least > greatest)
    }
}

impl Range {
    /// The numbers that it leaves to `feature`. The problem is text, to which the caller adds the setting.
    pub(super) fn of(&self, feature: &Feature) -> Result<Interval, String> {
        let end = |end: &Option<End>| end.as_ref().map(|end| end.of(feature)).transpose();
        Ok(Interval { least: end(&self.least)?, greatest: end(&self.greatest)? })
    }

    /// From both ends, where an infinite one is open.
    fn between([least, greatest]: [End; 2]) -> Result<Self, String> {
        let closed = |end: End, open: f64| Some(end).filter(|end| *end != End::Number(open));
        let range = Self { least: closed(least, f64::NEG_INFINITY), greatest: closed(greatest, f64::INFINITY) };
        let no_number = |end: &End| matches!(end, End::Number(number) if !number.is_finite());
        match [&range.least, &range.greatest] {
            [None, None] => Err("a range needs at least one end, such as `1..` or `..5`".into()),
            ends if !ends.iter().copied().flatten().any(no_number) => Ok(range),
            _ => Err(format!("the range {range} has an end that is no number; give numbers, `1..5`")),
        }
    }
}

impl End {
    /// The number of `feature` that it stands for.
    fn of(&self, feature: &Feature) -> Result<f64, String> {
        let text = match self {
            Self::Number(number) => return Ok(*number),
            Self::Written(text) => text,
        };
        let known = feature.kind.is_written_in_words().then(|| feature.number_of(Cell::Text(text))).flatten();
        known.ok_or_else(|| {
            let (name, text) = (&feature.name, shown(text));
            match feature.kind.scaling().filter(|_| feature.kind.is_written_in_words()) {
                Some(scaling) => {
                    let [least, greatest] = [scaling.least, scaling.greatest].map(|number| feature.value(number));
                    format!("`{text}` is no value of `{name}`; write a range as `{least}..{greatest}`")
                }
                None => format!("`{text}` is not a number; write a range as `1..5`"),
            }
        })
    }
}

impl From<f64> for End {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Written(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |end: &Option<End>| end.as_ref().map(ToString::to_string).unwrap_or_default();
        write!(f, "{}..{}", end(&self.least), end(&self.greatest))
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
            "" => End::Number(open),
            text => text.parse().map_or_else(|_| End::Written(text.to_owned()), End::Number),
        };
        Self::between([end(least, f64::NEG_INFINITY), end(greatest, f64::INFINITY)])
    }
}

impl Serialize for End {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Written(text) => serializer.serialize_str(text),
        }
    }
}

impl Serialize for Range {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.least, &self.greatest) {
            (Some(least), Some(greatest)) => [least, greatest].serialize(serializer),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for End {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EndForm)
    }
}

impl<'de> Deserialize<'de> for Range {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RangeForm)
    }
}

/// A number, or text.
struct EndForm;

impl Visitor<'_> for EndForm {
    type Value = End;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a date or a word in quotes")
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<End, E> {
        Ok(End::Number(number))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<End, E> {
        Ok(End::Number(number as f64))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<End, E> {
        Ok(End::Number(number as f64))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<End, E> {
        Ok(End::Written(text.to_owned()))
    }
}

/// Either way of writing a range.
struct RangeForm;

impl<'de> Visitor<'de> for RangeForm {
    type Value = Range;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a range such as [1, 5] or \"1..\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Range, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut ends: A) -> Result<Range, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = ends.next_element::<End>()? {
            values.push(value);
        }
        let count = values.len();
        let ends: [End; 2] =
            values.try_into().map_err(|_| A::Error::custom(format!("a range has two ends, [1, 5], got {count}")))?;
        Range::between(ends).map_err(A::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{credit, scaling, table};
    use super::*;
    use crate::data::{Calendar, Kind};
    use std::collections::BTreeMap;

    fn range(least: impl Into<Option<f64>>, greatest: impl Into<Option<f64>>) -> Range {
        Range { least: least.into().map(End::Number), greatest: greatest.into().map(End::Number) }
    }

    fn from_toml(text: &str) -> Result<Range, String> {
        let table: Result<BTreeMap<String, Range>, _> = toml::from_str(&format!("a = {text}"));
        table.map(|table| table["a"].clone()).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn either_end_may_be_open() {
        assert_eq!("1..5".parse(), Ok(range(1.0, 5.0)));
        assert_eq!("-1.5 .. ".parse(), Ok(range(-1.5, None)));
        assert_eq!("..5e3".parse(), Ok(range(None, 5000.0)));
    }

    #[test]
    fn what_is_no_range_is_refused_with_an_example() {
        for text in ["5", "..", "nan..5", "inf.."] {
            let problem = text.parse::<Range>().unwrap_err();
            assert!(problem.contains("`1.."), "{problem}");
        }
        for text in ["a..5", "1..x", "2020-01-01.."] {
            let problem = text.parse::<Range>().unwrap().of(&credit().features[0]).unwrap_err();
            assert!(problem.ends_with("is not a number; write a range as `1..5`"), "{problem}");
        }
    }

    #[test]
    fn ends_are_dates_and_words_of_an_order_as_the_data_write_them() {
        let order = ["low", "medium", "high"].map(String::from).to_vec();
        let schema = table(vec![
            ("since", Kind::Date { calendar: Calendar::IsoDay, scaling: scaling(0.0, 1.0, Some(0), [0.0, 58.0]) }),
            ("risk", Kind::Ordered { order, scaling: scaling(0.0, 1.0, Some(0), [0.0, 2.0]) }),
        ]);
        let of = |text: &str, index: usize| text.parse::<Range>().unwrap().of(&schema.features[index]);
        assert_eq!(of("1970-01-02..1970-03-01", 0), Ok(Interval { least: Some(1.0), greatest: Some(59.0) }));
        assert_eq!(of("..31", 0), Ok(Interval { least: None, greatest: Some(31.0) }));
        assert_eq!(of("medium..", 1), Ok(Interval { least: Some(1.0), greatest: None }));
        let problem = "`soon` is no value of `since`; write a range as `1970-01-01..1970-02-28`";
        assert_eq!(of("soon..", 0), Err(problem.into()));
        assert_eq!(of("..mid", 1), Err("`mid` is no value of `risk`; write a range as `low..high`".into()));
    }

    #[test]
    fn toml_has_a_pair_or_the_text_of_the_shell() {
        assert_eq!(from_toml("[1, 5.5]"), Ok(range(1.0, 5.5)));
        assert_eq!(from_toml("\"1..\""), Ok(range(1.0, None)));
        assert_eq!(from_toml("[1, inf]"), Ok(range(1.0, None)));
        assert_eq!(from_toml("['low', 'high']"), from_toml("'low..high'"));
        assert_eq!(from_toml("[1]"), Err("a range has two ends, [1, 5], got 1".into()));
        assert!(from_toml("7").unwrap_err().contains("a range such as [1, 5]"));
        assert!(from_toml("[2020-01-01, 5]").unwrap_err().contains("a date or a word in quotes"));
        let written = "low..".parse().unwrap();
        for range in [range(0.1, 1e9), range(-3.0, None), range(None, 0.5), written] {
            let text = toml::to_string(&BTreeMap::from([("a", range.clone())])).unwrap();
            assert_eq!(from_toml(text.trim_start_matches("a = ")), Ok(range), "{text}");
        }
    }

    #[test]
    fn ends_are_rounded_inward_to_what_the_data_can_write() {
        let interval = |least, greatest| Interval { least: Some(least), greatest: Some(greatest) };
        let scaling = Scaling { mean: 0.0, deviation: 1.0, decimals: Some(0), least: 0.0, greatest: 9.0 };
        assert_eq!(interval(0.5, 3.7).inward(&scaling), interval(1.0, 3.0));
        assert!(interval(0.2, 0.8).inward(&scaling).is_empty());
        assert!(!interval(0.2, 0.8).is_empty());
    }
}
