//! Rows with a typing error: one number is ten or twenty times what it was. Is it named, and is it put back?
//!
//! Of the broken rows those count that the model is unsure about. A number is *named* if the explanation lists it first
//! among what is unlike the training rows. It is *put back* if the first accepted clue brings it into the range of the
//! training rows, and nearer to what it was.

use cluekit::data::{Kind, Value};
use cluekit::explainer::Split;
use cluekit::observer::Silent;
use cluekit::{Error, Explainer, Explanation, Inputs, Result, Search, Seed};
use rand::RngExt;
use std::fmt;

/// What became of rows with a typing error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypingErrors {
    /// Rows that were broken.
    pub broken: usize,
    /// All that the model is unsure about.
    pub unsure: Count,
    /// Those of them whose number left the range of the training rows.
    pub outside: Count,
    /// Those of them whose uncertainty is more epistemic than aleatoric.
    pub epistemic: Count,
    /// The same rows before they were broken of which some number was named.
    pub alarms: usize,
}

/// How many rows there are, and in how many of them the broken number was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of rows.
    pub rows: usize,
    /// Rows whose broken number was named first.
    pub named: usize,
    /// Rows whose first clue puts the broken number back.
    pub back: usize,
}

impl Count {
    fn add(&mut self, named: bool, back: bool) {
        self.rows += 1;
        self.named += usize::from(named);
        self.back += usize::from(back);
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let share = |count: usize| 100.0 * count as f64 / self.rows.max(1) as f64;
        let Self { rows, named, back } = *self;
        write!(f, "{rows} rows, {named} named first ({:.0} %), {back} put back ({:.0} %)", share(named), share(back))
    }
}

impl fmt::Display for TypingErrors {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { broken, unsure, outside, epistemic, alarms } = self;
        writeln!(f, "typing errors in {broken} rows; unsure: {unsure}")?;
        writeln!(f, "  outside of the training range: {outside}")?;
        writeln!(f, "  more epistemic than aleatoric: {epistemic}")?;
        write!(f, "  of the rows as they were {alarms} have a number named")
    }
}

/// A row with a broken number.
struct Broken {
    feature: usize,
    before: f64,
    after: f64,
}

/// Breaks `count` test rows, evenly spread, and explains those that the model is unsure about.
pub fn typing_errors(explainer: &Explainer, search: &Search, count: usize, seed: Seed) -> Result<TypingErrors> {
    let (schema, test) = (explainer.known_schema()?, explainer.samples(Split::Test)?);
    if count == 0 || test.is_empty() {
        return Err(Error::data("there is no row to break"));
    }
    let mut rng = seed.stream("typing errors");
    let (mut x, mut rows, mut as_they_were) = (Vec::new(), Vec::new(), Vec::new());
    for row in (0..test.len()).step_by((test.len() / count).max(1)).take(count) {
        let mut values = schema.decode_row(test.row(row));
        let numbers: Vec<(usize, f64)> = schema
            .features
            .iter()
            .zip(&values)
            .enumerate()
            .filter_map(|(at, (feature, value))| match (&feature.kind, value) {
                (Kind::Continuous(_) | Kind::Ordinal(_), Value::Number(number)) if *number != 0.0 => {
                    Some((at, *number))
                }
                _ => None,
            })
            .collect();
        if numbers.is_empty() {
            continue;
        }
        let (feature, before) = numbers[rng.random_range(0..numbers.len())];
        let after = before * if rng.random() { 10.0 } else { 20.0 };
        values[feature] = Value::Number(after);
        x.extend(schema.encode_row(&values)?);
        as_they_were.extend(test.row(row));
        rows.push(Broken { feature, before, after });
    }
    let found = explainer.explain(search, &Inputs::new(x, test.width)?, seed, &mut Silent)?;
    let ordinary = explainer.explain(search, &Inputs::new(as_they_were, test.width)?, seed, &mut Silent)?;
    let mut counts = TypingErrors { broken: rows.len(), ..TypingErrors::default() };
    counts.alarms = ordinary.iter().filter(|explanation| !explanation.input.outside.is_empty()).count();
    for (broken, explanation) in rows.iter().zip(&found) {
        let doubt = explanation.input.uncertainty;
        if doubt.get(search.accepted_by()) < search.threshold {
            continue;
        }
        let feature = &schema.features[broken.feature];
        let named = explanation.input.outside.first().is_some_and(|first| first.feature == feature.name);
        let range = feature.kind.scaling().map_or([f64::NEG_INFINITY, f64::INFINITY], |s| [s.least, s.greatest]);
        let back = is_back(broken, explanation, range);
        counts.unsure.add(named, back);
        if broken.after < range[0] || broken.after > range[1] {
            counts.outside.add(named, back);
        }
        if doubt.epistemic > doubt.aleatoric {
            counts.epistemic.add(named, back);
        }
    }
    Ok(counts)
}

/// Whether the first accepted clue brings a broken number into a range, and nearer to what it was.
fn is_back(broken: &Broken, explanation: &Explanation, [least, greatest]: [f64; 2]) -> bool {
    let first = explanation.clues.iter().find(|clue| clue.accepted);
    let value = first.and_then(|clue| clue.row.as_ref()).map(|row| &row.0[broken.feature].1);
    match value {
        Some(Value::Number(value)) => {
            let nearer = (value - broken.before).abs() < (broken.after - broken.before).abs();
            (least..=greatest).contains(value) && nearer
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_rows_that_count() {
        let mut count = Count::default();
        for (named, back) in [(true, true), (true, false), (false, false), (true, true)] {
            count.add(named, back);
        }
        assert_eq!(count.to_string(), "4 rows, 3 named first (75 %), 2 put back (50 %)");
        assert_eq!(Count::default().to_string(), "0 rows, 0 named first (0 %), 0 put back (0 %)");
    }
}
