//! Pairs of groups as people and files write them: classes by their names, conditions as text.
//!
//! A condition means something only for a table, so a written pair becomes a [`Pair`] with the models in hand.

use super::{Members, Pair};
use crate::data::Predicate;
use crate::error::{Error, Result};
use crate::search::Models;
use serde::{Deserialize, Serialize};

/// A [`Pair`] as people write it: `{ from = { class = "4" }, to = { class = "4", where = "AGE < 30" } }`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WrittenPair {
    /// Group that the uncertain rows come from.
    pub from: WrittenMembers,
    /// Group that the certain rows come from.
    pub to: WrittenMembers,
}

/// [`Members`] as people write them; `{}` stands for all rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenMembers {
    /// Name of the members' class, or its number where classes have no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Condition on the features of the members, `where` in TOML, as [`Predicate`] reads it.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

impl WrittenPair {
    /// The written form of a pair, with these names of classes.
    pub fn of(pair: &Pair, classes: &[String]) -> Self {
        Self { from: WrittenMembers::of(&pair.from, classes), to: WrittenMembers::of(&pair.to, classes) }
    }

    /// The pair of groups for these models; an error names what they lack.
    pub fn pair(&self, models: &Models) -> Result<Pair> {
        let members = |side: &str, written: &WrittenMembers| {
            written.members(models).map_err(|problem| Error::setting(side, problem))
        };
        Ok(Pair { from: members("from", &self.from)?, to: members("to", &self.to)? })
    }
}

impl WrittenMembers {
    /// The written form of members, with these names of classes.
    pub fn of(members: &Members, classes: &[String]) -> Self {
        let class = members.class.map(|class| classes.get(class).cloned().unwrap_or_else(|| class.to_string()));
        Self { class, condition: members.condition.as_ref().map(ToString::to_string) }
    }

    /// The members that are meant, or what is wrong.
    pub(super) fn members(&self, models: &Models) -> std::result::Result<Members, String> {
        let classes = models.task().classes();
        // Models without names for their classes number them.
        let number = |name: &String| name.parse().ok().filter(|_| classes.is_empty());
        let place = |name: &String| {
            let place = classes.iter().position(|class| class == name).or_else(|| number(name));
            place.ok_or_else(|| format!("names a class `{name}` that the run does not have"))
        };
        let condition = match (&self.condition, models.schema) {
            (Some(text), Some(schema)) => Some(Predicate::parse(text, schema).map_err(|error| error.to_string())?),
            _ => None,
        };
        Ok(Members { class: self.class.as_ref().map(place).transpose()?, condition })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::toy::{Same, Sigmoid, classes, table};

    #[test]
    fn a_pair_reads_back_as_it_was_written() {
        let (same, schema) = (Same::new(1), table());
        let models = Models::new(&same, &Sigmoid).with_schema(&schema);
        let mut pair = Pair::of_classes(Some(1), None);
        pair.from.condition = Some(Predicate::parse("x < 0.25 or not x = 1", &schema).unwrap());
        let written = WrittenPair::of(&pair, models.task().classes());
        let json = serde_json::to_string(&written).unwrap();
        assert_eq!(json, r#"{"from":{"class":"b","where":"x < 0.25 or x != 1"},"to":{}}"#);
        let read: WrittenPair = serde_json::from_str(&json).unwrap();
        assert_eq!(read, written);
        assert_eq!(read.pair(&models).unwrap(), pair);
        assert_eq!(serde_json::from_str::<WrittenPair>("{}").unwrap().pair(&models).unwrap(), Pair::default());
    }

    #[test]
    fn a_key_that_no_pair_has_is_refused() {
        for text in [r#"{"colour":3}"#, r#"{"from":{"colour":3}}"#] {
            let message = serde_json::from_str::<WrittenPair>(text).unwrap_err().to_string();
            assert!(message.contains("unknown field `colour`"), "{message}");
        }
    }

    #[test]
    fn a_class_without_a_name_is_its_number_and_another_name_is_refused() {
        let (same, task) = (Same::new(1), classes(&["a", "b"]));
        let to_seven = WrittenPair::of(&Pair::of_classes(None, Some(7)), &[]);
        assert_eq!(to_seven.to.class.as_deref(), Some("7"));
        assert_eq!(to_seven.pair(&Models::new(&same, &Sigmoid)).unwrap(), Pair::of_classes(None, Some(7)));
        let message = to_seven.pair(&Models::new(&same, &Sigmoid).with_task(&task)).unwrap_err().to_string();
        assert_eq!(message, "setting `to`: names a class `7` that the run does not have");
    }
}
