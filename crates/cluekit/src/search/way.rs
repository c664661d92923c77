//! The way in which a search gets from its starts to less cost, and how much work it may be.
//!
//! | way | steps | needs |
//! |---|---|---|
//! | gradient | Adam on ∂L/∂z | models with a gradient |
//! | evolution | CMA-ES on the values of L | answers |
//! | none | nothing beside the portfolio of a table | answers, and training rows |

use super::schedule::Walk;
use super::{Background, Delta, Models, Search};
use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Evaluations of one candidate where nothing is said, for a quick look, and for a thorough one.
const NORMAL: usize = 480;
const QUICK: usize = 160;
const THOROUGH: usize = 1920;
/// Evaluations of one candidate at the most, so that a mistyped number is an error and not a day of work.
const MOST: usize = 10_000_000;

crate::named! {
    "search", "a way to search";
    /// How a search gets to less cost.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Way {
        /// By the gradient where both models have one; otherwise a table's portfolio, and evolution where there is none.
        #[default]
        Auto = "auto",
        /// By the gradient; an error where a model has none.
        Gradient = "gradient",
        /// By evolution, which asks for answers alone.
        Evolution = "evolution",
    }
}

/// How often a search by evolution evaluates the objective for each candidate.
///
/// ```
/// use cluekit::search::Effort;
///
/// assert_eq!("thorough".parse::<Effort>()?, Effort::Thorough);
/// assert_eq!(("600".parse::<Effort>()?.evaluations(), Effort::Normal.evaluations()), (600, 480));
/// assert!("many".parse::<Effort>().is_err());
/// # Ok::<(), cluekit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// A third of the normal effort.
    Quick,
    /// What is usual.
    #[default]
    Normal,
    /// Four times the normal effort; on tables evolution beside the portfolio.
    Thorough,
    /// So many evaluations.
    Evaluations(usize),
}

impl Effort {
    /// Evaluations of one candidate.
    pub fn evaluations(self) -> usize {
        match self {
            Self::Quick => QUICK,
            Self::Normal => NORMAL,
            Self::Thorough => THOROUGH,
            Self::Evaluations(count) => count,
        }
    }

    /// An error if nobody can have meant it.
    pub fn validate(self) -> Result<()> {
        match self.evaluations() {
            0 => Err(Error::setting("effort", "is 0; a search has to evaluate something")),
            count if count > MOST => Err(Error::setting("effort", format!("is {count}; at most {MOST} make sense"))),
            _ => Ok(()),
        }
    }

    /// Whether it says more than what goes without saying.
    fn asks_for_evolution(self) -> bool {
        matches!(self, Self::Thorough | Self::Evaluations(_))
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quick => f.pad("quick"),
            Self::Normal => f.pad("normal"),
            Self::Thorough => f.pad("thorough"),
            Self::Evaluations(count) => count.fmt(f),
        }
    }
}

impl FromStr for Effort {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let effort = match text.trim() {
            "quick" => Self::Quick,
            "normal" => Self::Normal,
            "thorough" => Self::Thorough,
            number => Self::Evaluations(number.parse().map_err(|_| {
                let remedy = "choose quick, normal or thorough, or give a number of evaluations";
                Error::setting("effort", format!("`{text}` is no effort; {remedy}"))
            })?),
        };
        effort.validate()?;
        Ok(effort)
    }
}

/// A number of evaluations is a number; what has a name is a word.
impl Serialize for Effort {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Evaluations(count) => count.serialize(serializer),
            named => named.to_string().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Effort {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(usize),
            Word(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(count) => Ok(Self::Evaluations(count)),
            Written::Word(word) => word.parse().map_err(serde::de::Error::custom),
        }
    }
}

/// What a search does once models and data are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steps {
    /// Adam along the gradient.
    Gradient,
    /// CMA-ES with so many evaluations of each candidate.
    Evolution { evaluations: usize },
    /// None: the portfolio begins at the input and at training rows.
    None,
}

impl Steps {
    /// Steps of one candidate in all, if it does not end early.
    pub fn work(self, walk: &Walk) -> usize {
        match self {
            _ if walk.steps() == 0 => 1,
            Self::Gradient => walk.evaluations(),
            Self::Evolution { evaluations } => evaluations,
            Self::None => 1,
        }
    }
}

impl Search {
    /// What this search does with these models.
    pub(super) fn steps(&self, models: &Models, background: &Background) -> Steps {
        let evolution = Steps::Evolution { evaluations: self.effort.evaluations() };
        match self.way {
            Way::Gradient => Steps::Gradient,
            Way::Evolution => evolution,
            Way::Auto if self.portfolio_is_enough(models, background.rows.is_some()) => Steps::None,
            Way::Auto if models.need_gradients().is_ok() => Steps::Gradient,
            Way::Auto => evolution,
        }
    }

    /// Whether a portfolio does all the work: on tables, for models without a gradient, where no ball is to be kept to and
    /// no more is asked for. `beside` says whether the training rows are there for it.
    pub(crate) fn portfolio_is_enough(&self, models: &Models, beside: bool) -> bool {
        let table = models.schema.is_some_and(|schema| schema.image.is_none());
        let bounded = matches!(self.delta, Delta::Fixed(ball) if ball.bound().is_some());
        let more = bounded || self.sub_searches.is_some() || self.effort.asks_for_evolution();
        let alone = self.way == Way::Auto && self.portfolio.is_some() && beside && table && !more;
        alone && models.need_gradients().is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for (effort, json) in [
            (Effort::Quick, "\"quick\""),
            (Effort::Normal, "\"normal\""),
            (Effort::Thorough, "\"thorough\""),
            (Effort::Evaluations(700), "700"),
        ] {
            assert_eq!(serde_json::to_string(&effort).unwrap(), json);
            assert_eq!(serde_json::from_str::<Effort>(json).unwrap(), effort);
            assert_eq!(effort.to_string().parse::<Effort>().unwrap(), effort);
        }
    }

    #[test]
    fn an_effort_that_is_none_says_what_would_be() {
        let problem = "much".parse::<Effort>().unwrap_err().to_string();
        assert!(problem.contains("`effort`") && problem.contains("quick, normal or thorough"), "{problem}");
        for wrong in ["0", "-3", "99999999999"] {
            assert!(wrong.parse::<Effort>().is_err(), "{wrong}");
        }
    }
}
