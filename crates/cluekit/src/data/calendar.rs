//! Dates and times as numbers: days, months, minutes or seconds since the beginning of 1970, and back.
//!
//! Days follow the Gregorian calendar, also before it was introduced. A time has no zone: it is what the clock showed.

use serde::{Deserialize, Serialize};

/// Days of 400 years.
const DAYS_OF_400_YEARS: i64 = 146_097;
/// Days from 1 March of year 0 to 1 January 1970.
const DAYS_TO_1970: i64 = 719_468;
/// Years that can be written with four digits.
const LAST_YEAR: i64 = 9999;

crate::named! {
    "written", "a way of writing dates";
    /// A way of writing dates, which also says what is counted; those that say more come first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Calendar {
        /// `2021-03-05 14:30`, counted in minutes.
        Minute = "yyyy-mm-dd hh:mm",
        /// `2021-03-05 14:30:07`, counted in seconds.
        Second = "yyyy-mm-dd hh:mm:ss",
        /// `2021-03-05`, counted in days.
        IsoDay = "yyyy-mm-dd",
        /// `2021-03`, counted in months.
        Month = "yyyy-mm",
        /// `05/03/2021` for the fifth of March, counted in days.
        DayFirst = "dd/mm/yyyy",
        /// `03/05/2021` for the fifth of March, counted in days.
        MonthFirst = "mm/dd/yyyy",
        /// `05.03.2021`, counted in days.
        Dotted = "dd.mm.yyyy",
    }
}

/// A day of the calendar, which exists.
#[derive(Clone, Copy)]
struct Day {
    year: i64,
    month: i64,
    day: i64,
}

impl Calendar {
    /// What is counted, for people.
    pub fn unit(self) -> &'static str {
        match self {
            Self::IsoDay | Self::DayFirst | Self::MonthFirst | Self::Dotted => "days since 1970-01-01",
            Self::Month => "months since 1970-01",
            Self::Minute => "minutes since 1970-01-01 00:00",
            Self::Second => "seconds since 1970-01-01 00:00:00",
        }
    }

    /// The number of a date that is written so; nothing for another text or a day that does not exist.
    ///
    /// ```
    /// use cluekit::data::Calendar;
    ///
    /// assert_eq!(Calendar::IsoDay.read("1970-03-01"), Some(59.0)); // 31 + 28 days
    /// assert_eq!(Calendar::IsoDay.write(59.0), "1970-03-01");
    /// assert_eq!(Calendar::IsoDay.read("1970-02-30"), None);
    /// ```
    pub fn read(self, text: &str) -> Option<f64> {
        let text = text.trim();
        let number = match self {
            Self::IsoDay => iso(text)?.days(),
            Self::DayFirst => slashed(text, '/', [2, 1, 0])?.days(),
            Self::MonthFirst => slashed(text, '/', [2, 0, 1])?.days(),
            Self::Dotted => slashed(text, '.', [2, 1, 0])?.days(),
            Self::Month => {
                let (year, month) = text.split_once('-')?;
                let first = Day::of(digits(year, 4)?, digits(month, 2)?, 1)?;
                (first.year - 1970) * 12 + first.month - 1
            }
            Self::Minute => match time(text)? {
                (day, [hour, minute, 0]) => (day * 24 + hour) * 60 + minute,
                _ => return None,
            },
            Self::Second => {
                let (day, [hour, minute, second]) = time(text)?;
                ((day * 24 + hour) * 60 + minute) * 60 + second
            }
        };
        Some(number as f64)
    }

    /// The date of a number, rounded to a whole one; one beyond the years 0 to 9999 is the nearest that can be written.
    pub fn write(self, number: f64) -> String {
        // A cast saturates, and what is not a number becomes 0.
        let number = number.round() as i64;
        let of_days = |days: i64| Day::since_1970(days);
        match self {
            Self::IsoDay => of_days(number).iso(),
            Self::DayFirst => {
                let Day { year, month, day } = of_days(number);
                format!("{day:02}/{month:02}/{year:04}")
            }
            Self::MonthFirst => {
                let Day { year, month, day } = of_days(number);
                format!("{month:02}/{day:02}/{year:04}")
            }
            Self::Dotted => {
                let Day { year, month, day } = of_days(number);
                format!("{day:02}.{month:02}.{year:04}")
            }
            Self::Month => {
                let number = number.clamp(-1970 * 12, (LAST_YEAR - 1970) * 12 + 11);
                format!("{:04}-{:02}", 1970 + number.div_euclid(12), 1 + number.rem_euclid(12))
            }
            Self::Minute => {
                let (days, minutes) = (number.div_euclid(24 * 60), number.rem_euclid(24 * 60));
                format!("{} {:02}:{:02}", of_days(days).iso(), minutes / 60, minutes % 60)
            }
            Self::Second => {
                let (days, seconds) = (number.div_euclid(24 * 3600), number.rem_euclid(24 * 3600));
                let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
                format!("{} {hours:02}:{minutes:02}:{:02}", of_days(days).iso(), seconds % 60)
            }
        }
    }
}

impl Day {
    /// A day, if it exists.
    fn of(year: i64, month: i64, day: i64) -> Option<Self> {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = match month {
            4 | 6 | 9 | 11 => 30,
            2 => 28 + i64::from(leap),
            _ => 31,
        };
        let exists = (0..=LAST_YEAR).contains(&year) && (1..=12).contains(&month) && (1..=length).contains(&day);
        exists.then_some(Self { year, month, day })
    }

    /// Days since 1 January 1970. A year begins in March here, so that the leap day is its last.
    fn days(self) -> i64 {
        let year = if self.month <= 2 { self.year - 1 } else { self.year };
        let of_year = (153 * ((self.month + 9) % 12) + 2) / 5 + self.day - 1;
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        era * DAYS_OF_400_YEARS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970
    }

    /// The day so many days after 1 January 1970.
    fn since_1970(days: i64) -> Self {
        let first = Self { year: 0, month: 1, day: 1 }.days();
        let last = Self { year: LAST_YEAR, month: 12, day: 31 }.days();
        let days = days.clamp(first, last) + DAYS_TO_1970;
        let (era, of_era) = (days.div_euclid(DAYS_OF_400_YEARS), days.rem_euclid(DAYS_OF_400_YEARS));
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        Self { year: era * 400 + year + i64::from(month <= 2), month, day }
    }

    fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// `2021-03-05`.
fn iso(text: &str) -> Option<Day> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    Day::of(digits(year, 4)?, digits(month, 2)?, digits(day, 2)?)
}

/// `5/3/2021`, with the places of year, month and day.
fn slashed(text: &str, mark: char, [year, month, day]: [usize; 3]) -> Option<Day> {
    let parts: Vec<&str> = text.splitn(4, mark).collect();
    if parts.len() != 3 {
        return None;
    }
    let short = |place: usize| digits(parts[place], parts[place].len().clamp(1, 2));
    Day::of(digits(parts[year], 4)?, short(month)?, short(day)?)
}

/// A day and the hour, minute and second on it: `2021-03-05T14:30:07.000Z`, or with fewer parts.
fn time(text: &str) -> Option<(i64, [i64; 3])> {
    let (day, clock) = text.split_once(['T', ' '])?;
    let clock = clock.trim().trim_end_matches('Z');
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.split(':');
    let (hour, minute) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let second = parts.next().map_or(Some(0), |second| digits(second, 2))?;
    let exists = hour < 24 && minute < 60 && second < 60 && parts.next().is_none();
    let whole = !fraction.is_empty() && fraction.bytes().all(|digit| digit == b'0');
    (exists && whole).then_some((iso(day)?.days(), [hour, minute, second]))
}

/// A number of exactly so many digits.
fn digits(text: &str, count: usize) -> Option<i64> {
    let plain = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_are_days_since_1970() {
        for (text, days) in [
            ("1970-01-01", 0.0),
            ("1969-12-31", -1.0),
            ("2000-02-29", 11_016.0), // 30 years of 365 days, 7 leap days, 31 + 28 days
            ("2021-03-05", 18_691.0),
        ] {
            assert_eq!(Calendar::IsoDay.read(text), Some(days), "{text}");
            assert_eq!(Calendar::IsoDay.write(days), text);
        }
    }

    #[test]
    fn each_way_of_writing_reads_the_same_day() {
        let days = Calendar::IsoDay.read("2021-03-05");
        assert_eq!(Calendar::DayFirst.read("05/03/2021"), days);
        assert_eq!(Calendar::DayFirst.read("5/3/2021"), days);
        assert_eq!(Calendar::MonthFirst.read("03/05/2021"), days);
        assert_eq!(Calendar::Dotted.read("05.03.2021"), days);
        assert_eq!(Calendar::Month.read("1971-03"), Some(14.0));
        assert_eq!(Calendar::Minute.read("1970-01-02T01:30"), Some(1530.0));
        assert_eq!(Calendar::Minute.read("1970-01-02 01:30:00"), Some(1530.0));
        assert_eq!(Calendar::Second.read("1970-01-02 00:00:07.000Z"), Some(86_407.0));
    }

    #[test]
    fn what_is_no_date_has_no_number() {
        for text in
            ["", "2021-02-29", "1900-02-29", "2021-13-01", "21-03-05", "2021-3-5", "2021-03-05-01", "x-y-z", "é"]
        {
            assert_eq!(Calendar::IsoDay.read(text), None, "{text}");
        }
        assert_eq!(Calendar::DayFirst.read("03/25/2021"), None);
        assert_eq!(Calendar::Minute.read("2021-03-05 24:00"), None);
        assert_eq!(Calendar::Minute.read("2021-03-05 23:00:01"), None);
        assert_eq!(Calendar::Second.read("2021-03-05 23:00:01.5"), None);
    }

    #[test]
    fn numbers_beyond_the_calendar_are_its_ends() {
        assert_eq!(Calendar::IsoDay.write(1e300), "9999-12-31");
        assert_eq!(Calendar::IsoDay.write(-1e300), "0000-01-01");
        assert_eq!(Calendar::Month.write(1e300), "9999-12");
        assert_eq!(Calendar::Second.write(f64::NAN), "1970-01-01 00:00:00");
    }

    proptest! {
        #[test]
        fn writing_and_reading_give_the_number_itself(number in -700_000_i64..2_900_000) {
            for calendar in Calendar::ALL {
                let number = if calendar == Calendar::Month { number / 100 } else { number } as f64;
                prop_assert_eq!(calendar.read(&calendar.write(number)), Some(number));
            }
        }
    }
}
