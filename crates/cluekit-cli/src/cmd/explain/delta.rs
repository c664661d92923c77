//! `--delta`: a radius, `auto`, `inf`, or a sweep like `0.5..3.5/7`.

use cluekit::search::{Delta, LatentBall};
use std::str::FromStr;

/// Radii of a sweep at the most.
const MOST_RADII: usize = 1000;

/// What `--delta` says.
#[derive(Clone, Debug, PartialEq)]
pub enum DeltaArg {
    /// One search.
    One(Delta),
    /// One search for each radius.
    Sweep(Vec<f32>),
}

/// One radius, and no sweep.
pub fn one(text: &str) -> Result<Delta, String> {
    radius(text, "give a radius, `auto` or `inf`")
}

fn radius(text: &str, remedy: &str) -> Result<Delta, String> {
    if text == "auto" {
        return Ok(Delta::Auto);
    }
    LatentBall::new(number(text, remedy)?).map(Delta::Fixed).map_err(|error| error.to_string())
}

fn number(text: &str, remedy: &str) -> Result<f32, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number; {remedy}"))
}

impl FromStr for DeltaArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let remedy = "give a radius, `auto`, `inf`, or a sweep such as 0.5..3.5/7";
        let Some((first, rest)) = text.split_once("..") else {
            return radius(text, remedy).map(Self::One);
        };
        let (last, count) = rest.split_once('/').ok_or("a sweep needs a number of radii: 0.5..3.5/7")?;
        let (first, last) = (number(first, remedy)?, number(last, remedy)?);
        let count: usize = count.parse().map_err(|_| format!("`{count}` is not a number of radii"))?;
        if !(first > 0.0 && last > first && last.is_finite() && (2..=MOST_RADII).contains(&count)) {
            return Err(format!(
                "a sweep goes from a positive radius to a larger one in 2 to {MOST_RADII} radii, got {text}"
            ));
        }
        let radius = |i: usize| first + (last - first) * i as f32 / (count - 1) as f32;
        Ok(Self::Sweep((0..count).map(radius).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_has_its_radii() {
        let sweep = "0.5..3.5/7".parse().unwrap();
        assert_eq!(DeltaArg::Sweep(vec![0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5]), sweep);
    }

    #[test]
    fn single_radii_are_read() {
        assert_eq!("auto".parse(), Ok(DeltaArg::One(Delta::Auto)));
        assert_eq!("inf".parse(), Ok(DeltaArg::One(Delta::Fixed(LatentBall::UNBOUNDED))));
        assert_eq!("4".parse(), Ok(DeltaArg::One(Delta::Fixed(LatentBall::new(4.0).unwrap()))));
    }

    #[test]
    fn one_radius_is_no_sweep() {
        assert_eq!([one("auto"), one("inf")], [Ok(Delta::Auto), Ok(Delta::Fixed(LatentBall::UNBOUNDED))]);
        assert_eq!(one("1..2/3").unwrap_err(), "`1..2/3` is not a number; give a radius, `auto` or `inf`");
    }

    #[test]
    fn what_cannot_be_a_radius_is_refused() {
        for text in ["0", "-1", "nan", "x", "1..2", "2..1/3", "0..1/3", "1..2/1", "1..2/x", ""] {
            assert!(text.parse::<DeltaArg>().is_err(), "{text}");
        }
    }
}
