//! Where a category can lead: `job: student -> clerk, engineer`.
//!
//! From the category on the left only those on the right can be reached; with none on the right it stays. A category
//! without such a line leads anywhere: each line says something of its own category, and nothing of the others.

use super::phrase::{self, Sign, TRANSITION, written};
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The categories that a feature can reach from one of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Transition {
    /// Name of the feature.
    pub feature: String,
    /// Category of the input.
    pub from: String,
    /// Categories that can be reached beside it.
    pub to: Vec<String>,
}

impl fmt::Display for Transition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to: Vec<_> = self.to.iter().map(|category| written(category)).collect();
        let line = format!("{}: {} -> {}", written(&self.feature), written(&self.from), to.join(", "));
        f.write_str(line.trim_end())
    }
}

impl FromStr for Transition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let problem = |problem| Error::setting("constraints.transitions", format!("in `{text}`, {problem}"));
        let example = || problem("a transition is missing; write it like `job: student -> clerk, engineer`".into());
        let (mut names, signs) = phrase::pieces(&TRANSITION, text).map_err(problem)?;
        let commas = signs.get(2..).unwrap_or_default().iter().all(|sign| *sign == Sign::Comma);
        if !signs.starts_with(&[Sign::Colon, Sign::Arrow]) || !commas {
            return Err(example());
        }
        let mut to = names.split_off(2);
        if to.len() == 1 && to[0].is_empty() {
            to.clear();
        }
        match <[String; 2]>::try_from(names) {
            Ok([feature, from]) if ![&feature, &from].into_iter().chain(&to).any(String::is_empty) => {
                Ok(Self { feature, from, to })
            }
            _ => Err(example()),
        }
    }
}

impl From<Transition> for String {
    fn from(transition: Transition) -> Self {
        transition.to_string()
    }
}

impl TryFrom<String> for Transition {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_names_a_feature_a_category_and_where_it_leads() {
        let line: Transition = "job: student → clerk,engineer".parse().unwrap();
        assert_eq!((line.feature.as_str(), line.from.as_str()), ("job", "student"));
        assert_eq!(line.to, ["clerk", "engineer"]);
        assert_eq!(line.to_string(), "job: student -> clerk, engineer");
        assert_eq!("job: retired ->".parse::<Transition>().unwrap().to, Vec::<String>::new());
    }

    #[test]
    fn what_is_no_transition_is_refused_with_an_example() {
        for text in ["", "job", "job: a", "a -> b", "job: -> b", "job: a -> b -> c", "job: a -> b,", ": a -> b"] {
            let message = text.parse::<Transition>().unwrap_err().to_string();
            assert_eq!(
                message,
                format!(
                    "setting `constraints.transitions`: in `{text}`, a transition is missing; write it like `job: \
                     student -> clerk, engineer`"
                )
            );
        }
    }

    proptest! {
        #[test]
        fn writing_and_reading_give_the_transition_itself(
            feature in "[a-z :,'`>é-]{1,6}", from in "[a-z :,'`>é-]{1,6}",
            to in prop::collection::vec("[a-z :,'`>é→-]{1,6}", 0..4),
        ) {
            let transition = Transition { feature, from, to };
            prop_assert_eq!(transition.to_string().parse::<Transition>().unwrap(), transition);
        }
    }
}
