//! What a user says of the columns of a table before they are looked at.

use serde::{Deserialize, Serialize};

/// What the columns of a table mean, as far as it is said and not inferred.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Meaning {
    /// Names of columns that are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<String>,
    /// Whether the target is a class or a value; inferred where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskKind>,
    /// Orders of words from low to high: `size: small < large`, `size=small<large`, or `small<large` for all columns that
    /// hold just these words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ordinal: Vec<String>,
}

impl Meaning {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

crate::named! {
    "task", "a task";
    /// The two kinds of prediction, by name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum TaskKind {
        /// One of several classes.
        Classification = "classification",
        /// A value.
        Regression = "regression",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_not_written() {
        assert_eq!(toml::to_string(&Meaning::default()).unwrap(), "");
        let said = Meaning { task: Some(TaskKind::Regression), ..Meaning::default() };
        assert_eq!(toml::to_string(&said).unwrap(), "task = \"regression\"\n");
        assert_eq!(toml::from_str::<Meaning>("task = \"regression\"").unwrap(), said);
        assert!(Meaning::default().is_empty() && !said.is_empty());
    }
}
