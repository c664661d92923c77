//! Cells without a value: how files write them, and what a feature makes of them.
//!
//! | kind | encoded as | shown as |
//! |---|---|---|
//! | continuous, ordinal | the median of the training rows, and 1 in a column of its own, the indicator | `missing` |
//! | binary, categorical | the category `missing` | `missing` |
//!
//! A counterfactual may fill a missing value in, and never makes one missing: [`Bounds`](super::Bounds) hold the indicator
//! at 0, and close the category, wherever the input has a value.

use super::encoding::{Cell, position_in};
use super::{Feature, Kind, Value};

/// What a missing value is called: the name of its category, and how it is shown.
pub(crate) const MISSING: &str = "missing";

/// Texts that stand for no value, in any case of letters.
const ANY_CASE: [&str; 7] = ["na", "n/a", "#n/a", "nan", "-nan", "null", "<na>"];
/// Texts that stand for no value just as they are; `none` in small letters is often a category.
const EXACT: [&str; 3] = ["None", "?", "."];

/// What a feature makes of cells without a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Missing {
    /// Numbers and texts of this feature that stand for no value beside the usual ones, as `-999`.
    pub sentinels: Vec<String>,
    /// What a missing number is encoded as: the median of the training rows. None for categories, and for a number whose
    /// statistics are still to be taken from a table; then the mean stands for it.
    pub median: Option<f64>,
}

/// Whether a text is one of the usual ways of writing that there is no value; so are dashes alone, and nothing.
pub(crate) fn is_written_missing(text: &str) -> bool {
    let only_dashes = text.chars().all(|letter| letter == '-');
    only_dashes || EXACT.contains(&text) || ANY_CASE.iter().any(|missing| text.eq_ignore_ascii_case(missing))
}

impl Cell<'_> {
    /// Whether there is no value in the cell.
    pub(crate) fn is_missing(self) -> bool {
        match self {
            Self::Missing => true,
            Self::Number(number) => number.is_nan(),
            Self::Text(text) => is_written_missing(text.trim()),
        }
    }
}

impl Missing {
    /// Whether a cell stands for no value, in the usual way or by a sentinel.
    pub(crate) fn covers(&self, cell: Cell<'_>) -> bool {
        cell.is_missing() || !self.sentinels.is_empty() && position_in(&self.sentinels, cell).is_some()
    }
}

impl Feature {
    /// Whether a value of the feature is missing.
    pub fn is_missing(&self, value: &Value) -> bool {
        match value {
            Value::Missing => true,
            Value::Category(category) => self.missing.is_some() && category == MISSING,
            Value::Number(_) => false,
        }
    }

    /// Whether the feature is a number with an indicator beside it.
    pub(super) fn has_indicator(&self) -> bool {
        self.missing.is_some() && self.kind.scaling().is_some()
    }

    /// The category that missing cells of the feature have, if it knows one: the one that is declared, else one that is
    /// itself a way of writing that there is no value.
    pub(crate) fn missing_category(&self) -> Option<usize> {
        let categories = self.kind.categories();
        match self.missing {
            Some(_) => categories.iter().position(|category| category == MISSING),
            None => categories.iter().position(|category| is_written_missing(category)),
        }
    }

    /// Whether the feature can be missing.
    #[cfg(feature = "files")]
    pub(crate) fn accepts_missing(&self) -> bool {
        self.has_indicator() || self.missing_category().is_some()
    }
}

impl Kind {
    /// This kind with the category `missing` among its categories; a binary one that has two becomes categorical.
    #[cfg(feature = "files")]
    pub(crate) fn with_missing_category(self) -> Self {
        match self {
            Self::Binary { mut categories } | Self::Categorical { mut categories }
                if !categories.iter().any(|category| category == MISSING) =>
            {
                categories.push(MISSING.to_owned());
                Self::Categorical { categories }
            }
            // The last one stands for all that are not listed.
            Self::Grouped { mut categories } if !categories.iter().any(|category| category == MISSING) => {
                categories.insert(categories.len().saturating_sub(1), MISSING.to_owned());
                Self::Grouped { categories }
            }
            kind => kind,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_ways_of_writing_nothing_are_known_and_words_are_not() {
        for text in ["", "NA", "n/a", "NaN", "-nan", "Null", "<NA>", "#N/A", "None", "?", "-", "--", "."] {
            assert!(Cell::Text(text).is_missing(), "{text}");
        }
        for text in ["none", "no", "0", "nanny", "unknown", "-1", "..", "???"] {
            assert!(!Cell::Text(text).is_missing(), "{text}");
        }
    }

    #[test]
    fn a_sentinel_is_the_same_number_or_the_same_text() {
        let missing = Missing { sentinels: vec!["-999".into(), "unknown".into()], median: None };
        assert!(missing.covers(Cell::Number(-999.0)) && missing.covers(Cell::Text("-999.0")));
        assert!(missing.covers(Cell::Text("unknown")) && missing.covers(Cell::Missing));
        assert!(!missing.covers(Cell::Number(999.0)) && !Missing::default().covers(Cell::Number(-999.0)));
    }

    #[test]
    fn a_binary_kind_with_missing_cells_has_three_categories() {
        let binary = Kind::Binary { categories: vec!["no".into(), "yes".into()] };
        assert_eq!(binary.with_missing_category().categories(), ["no", "yes", "missing"]);
        let told = Kind::Binary { categories: vec!["missing".into(), "yes".into()] };
        assert_eq!(told.clone().with_missing_category(), told);
        let grouped = Kind::Grouped { categories: vec!["Ulm".into(), "other".into()] };
        assert_eq!(grouped.with_missing_category().categories(), ["Ulm", "missing", "other"]);
    }
}
