//! Columns of dates: text that is all written in one way of the calendar.

use crate::data::calendar::Calendar;

/// What the words of a column are as dates.
#[derive(Debug, PartialEq)]
pub(super) enum Dates {
    /// All are written so.
    Written(Calendar),
    /// The day or the month may come first in each of them.
    Ambiguous,
    /// At least one is no date.
    None,
}

/// How the words of a column are written, if all of them are dates.
///
/// `05/03/2021` is known by another row of the same column that can only be read in one way.
pub(super) fn recognise(words: &[String]) -> Dates {
    let reads = |calendar: &Calendar| words.iter().all(|word| calendar.read(word).is_some());
    match Calendar::ALL.into_iter().find(reads) {
        Some(Calendar::DayFirst) if reads(&Calendar::MonthFirst) => Dates::Ambiguous,
        Some(calendar) => Dates::Written(calendar),
        None => Dates::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str]) -> Dates {
        recognise(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn a_column_of_dates_is_known_by_how_they_are_written() {
        for (words, calendar) in [
            (["2021-03-05", "2020-12-31"], Calendar::IsoDay),
            (["2021-03", "2020-12"], Calendar::Month),
            (["05.03.2021", "31.12.2020"], Calendar::Dotted),
            (["2021-03-05 14:30", "2020-12-31 00:00"], Calendar::Minute),
            (["2021-03-05T14:30:07", "2020-12-31T00:00:00"], Calendar::Second),
        ] {
            assert_eq!(found(&words), Dates::Written(calendar));
        }
        assert_eq!(found(&["2021-03-05", "soon"]), Dates::None);
    }

    #[test]
    fn one_row_says_whether_the_day_or_the_month_comes_first() {
        assert_eq!(found(&["05/03/2021", "25/03/2021"]), Dates::Written(Calendar::DayFirst));
        assert_eq!(found(&["05/03/2021", "03/25/2021"]), Dates::Written(Calendar::MonthFirst));
        assert_eq!(found(&["05/03/2021", "06/04/2021"]), Dates::Ambiguous);
        assert_eq!(found(&["25/03/2021", "03/25/2021"]), Dates::None);
    }
}
