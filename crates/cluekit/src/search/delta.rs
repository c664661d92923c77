//! δ, the radius of the ball around z₀: one spelling in TOML, in JSON and on the command line.
//!
//! | text | δ |
//! |---|---|
//! | `3.5` | the same for every input |
//! | `inf` | no ball |
//! | `auto` | for each input the smallest ball that holds certain training points of two classes |
//! | `4*auto` | so many times as far |
//! | `0.5..3.5/7` | a sweep: one search for each of so many radii |

use super::LatentBall;
use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Radii of a sweep at the most.
const MOST_RADII: usize = 1000;

/// δ, the radius of the ball around z₀.
///
/// ```
/// use cluekit::Delta;
///
/// assert_eq!("4*auto".parse::<Delta>()?, Delta::Wider(4));
/// assert_eq!("3.5".parse::<Delta>()?.to_string(), "3.5");
/// # Ok::<(), cluekit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delta {
    /// The same ball for every input.
    Fixed(LatentBall),
    /// For each input the smallest ball that holds certain training points of two classes.
    Auto,
    /// The automatic ball, widened by this factor; for inputs without a clue in the automatic ball itself.
    Wider(u32),
}

/// One δ, or several that are searched one after another.
#[derive(Clone, Debug, PartialEq)]
pub enum Radii {
    /// One search with this δ.
    One(Delta),
    /// One search for each of these radii.
    Sweep(Vec<f32>),
}

impl Delta {
    /// How many times the automatic radius, if it is one.
    pub(super) fn times(self) -> Option<u32> {
        match self {
            Self::Fixed(_) => None,
            Self::Auto => Some(1),
            Self::Wider(times) => Some(times),
        }
    }
}

impl Radii {
    /// The radii of a sweep; none where one δ is searched.
    pub fn sweep(&self) -> &[f32] {
        match self {
            Self::One(_) => &[],
            Self::Sweep(radii) => radii,
        }
    }

    /// The only δ, or the first of several.
    pub fn first(&self) -> Result<Delta> {
        match self {
            Self::One(delta) => Ok(*delta),
            Self::Sweep(radii) => LatentBall::new(radii[0]).map(Delta::Fixed),
        }
    }
}

impl fmt::Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Fixed(ball) => write!(f, "{}", ball.radius()),
            Self::Auto => f.write_str("auto"),
            Self::Wider(times) => write!(f, "{times}*auto"),
        }
    }
}

impl FromStr for Delta {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        radius(text, "give a radius, `auto` or `inf`")
    }
}

impl FromStr for Radii {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let remedy = "give a radius, `auto`, `inf`, or a sweep such as 0.5..3.5/7";
        let Some((first, rest)) = text.split_once("..") else {
            return radius(text, remedy).map(Self::One);
        };
        let wrong = |problem: String| Error::setting("delta", problem);
        let (last, count) =
            rest.split_once('/').ok_or_else(|| wrong("a sweep needs a number of radii: 0.5..3.5/7".into()))?;
        let (first, last) = (number(first, remedy)?, number(last, remedy)?);
        let count: usize = count.parse().map_err(|_| wrong(format!("`{count}` is not a number of radii")))?;
        if !(first > 0.0 && last > first && last.is_finite() && (2..=MOST_RADII).contains(&count)) {
            return Err(wrong(format!(
                "a sweep goes from a positive radius to a larger one in 2 to {MOST_RADII} radii, got {text}"
            )));
        }
        let radius = |i: usize| first + (last - first) * i as f32 / (count - 1) as f32;
        Ok(Self::Sweep((0..count).map(radius).collect()))
    }
}

fn radius(text: &str, remedy: &str) -> Result<Delta> {
    let text = text.trim();
    if text == "auto" {
        return Ok(Delta::Auto);
    }
    if let Some(times) = text.strip_suffix("*auto") {
        let times = times.trim().parse::<u32>().ok().filter(|times| *times > 0);
        let problem = || Error::setting("delta", format!("`{text}` is no radius; write 4*auto"));
        return times.map(|times| if times == 1 { Delta::Auto } else { Delta::Wider(times) }).ok_or_else(problem);
    }
    LatentBall::new(number(text, remedy)?).map(Delta::Fixed)
}

fn number(text: &str, remedy: &str) -> Result<f32> {
    text.trim().parse().map_err(|_| Error::setting("delta", format!("`{text}` is not a number; {remedy}")))
}

/// A radius is a number; what has no number is a word.
impl Serialize for Delta {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(ball) => match ball.bound() {
                Some(radius) => radius.serialize(serializer),
                None => "inf".serialize(serializer),
            },
            other => other.to_string().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Delta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(f32),
            Word(String),
        }
        let delta = match Written::deserialize(deserializer)? {
            Written::Number(radius) => LatentBall::new(radius).map(Self::Fixed),
            Written::Word(word) => word.parse(),
        };
        delta.map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(radius: f32) -> Delta {
        Delta::Fixed(LatentBall::new(radius).unwrap())
    }

    #[test]
    fn what_is_written_reads_back() {
        for (delta, json) in [
            (fixed(3.5), "3.5"),
            (Delta::Fixed(LatentBall::UNBOUNDED), "\"inf\""),
            (Delta::Auto, "\"auto\""),
            (Delta::Wider(4), "\"4*auto\""),
        ] {
            assert_eq!(serde_json::to_string(&delta).unwrap(), json);
            assert_eq!(serde_json::from_str::<Delta>(json).unwrap(), delta);
            assert_eq!(delta.to_string().parse::<Delta>().unwrap(), delta);
        }
    }

    #[test]
    fn a_sweep_goes_from_its_first_radius_to_its_last() {
        assert_eq!("0.5..3.5/3".parse::<Radii>().unwrap(), Radii::Sweep(vec![0.5, 2.0, 3.5]));
        assert_eq!("2".parse::<Radii>().unwrap(), Radii::One(fixed(2.0)));
        let [sweep, one] = ["0.5..3.5/3", "2"].map(|text| text.parse::<Radii>().unwrap());
        assert_eq!((sweep.sweep(), sweep.first().unwrap()), (&[0.5, 2.0, 3.5][..], fixed(0.5)));
        assert_eq!((one.sweep(), one.first().unwrap()), (&[][..], fixed(2.0)));
        assert_eq!("inf".parse::<Radii>().unwrap(), Radii::One(Delta::Fixed(LatentBall::UNBOUNDED)));
        for wrong in ["0", "-1", "x", "3..1/4", "1..3", "1..3/1", "0*auto", "nan"] {
            assert!(wrong.parse::<Radii>().is_err(), "{wrong}");
        }
    }
}
