//! A class as people name it: by its name, or by its position.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A class by its name, or by its position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ClassName {
    /// Position of the class in the list of classes, counted from 0.
    Position(usize),
    /// Name of the class.
    Name(String),
}

impl ClassName {
    /// Position of the class among classes of these names; names come first, since a class may be called by a number.
    pub fn position(&self, classes: &[String]) -> Result<usize> {
        let name = match self {
            Self::Name(name) => name.clone(),
            Self::Position(place) if *place < classes.len() || classes.is_empty() => return Ok(*place),
            Self::Position(place) => place.to_string(),
        };
        classes.iter().position(|class| *class == name).ok_or_else(|| {
            let known = if classes.is_empty() { "there are none".into() } else { classes.join(", ") };
            Error::setting("towards", format!("there is no class `{name}`; the classes are {known}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_may_be_called_by_a_number() {
        let classes = ["7".to_owned(), "1".to_owned()];
        assert_eq!(ClassName::Name("1".into()).position(&classes).unwrap(), 1);
        assert_eq!(ClassName::Position(0).position(&classes).unwrap(), 0);
        assert_eq!(ClassName::Position(7).position(&classes).unwrap(), 0);
    }
}
