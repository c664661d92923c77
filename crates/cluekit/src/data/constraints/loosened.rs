//! Constraints with one of them less: what could be tried if a counterfactual were allowed a little more.

use super::Constraints;

/// Further changes that are allowed, one try after the other; then any number.
const MORE_CHANGES: [usize; 3] = [1, 2, 4];

/// Constraints of which one is looser.
#[derive(Clone, Debug, PartialEq)]
pub struct Loosened {
    /// What is allowed now, as the end of "a clue exists if …".
    pub allowed: String,
    /// Largest number of changes, if that is what is looser; none for any number.
    pub most_changed: Option<Option<usize>>,
    /// The constraints that are left.
    pub constraints: Constraints,
}

impl Constraints {
    /// These constraints with each of them loosened alone: the number of changes step by step, the others taken away.
    ///
    /// ```
    /// use cluekit::Constraints;
    ///
    /// let policy = Constraints { immutable: vec!["AGE".into()], most_changed: Some(2), ..Constraints::default() };
    /// let allowed: Vec<String> = policy.loosened().into_iter().map(|loosened| loosened.allowed).collect();
    /// assert_eq!(allowed[0], "3 features may change");
    /// assert_eq!(allowed[4], "`AGE` may change");
    /// ```
    pub fn loosened(&self) -> Vec<Loosened> {
        let more = |constraints: Self| Loosened {
            allowed: match constraints.most_changed {
                Some(most) => format!("{most} features may change"),
                None => "any number of features may change".into(),
            },
            most_changed: Some(constraints.most_changed),
            constraints,
        };
        let mut all: Vec<Loosened> = self.with_more_changes().into_iter().map(more).collect();
        let mut without = |allowed: String, take: &dyn Fn(&mut Self)| {
            let mut constraints = self.clone();
            take(&mut constraints);
            all.push(Loosened { allowed, most_changed: None, constraints });
        };
        for (at, name) in self.immutable.iter().enumerate() {
            without(format!("`{name}` may change"), &|left| drop(left.immutable.remove(at)));
        }
        for (at, name) in self.only_up.iter().enumerate() {
            without(format!("`{name}` may go down too"), &|left| drop(left.only_up.remove(at)));
        }
        for (at, name) in self.only_down.iter().enumerate() {
            without(format!("`{name}` may go up too"), &|left| drop(left.only_down.remove(at)));
        }
        for (name, range) in &self.ranges {
            without(format!("`{name}` may leave {range}"), &|left| left.ranges.retain(|other, _| other != name));
        }
        for (at, value) in self.never.iter().enumerate() {
            without(format!("`{value}` is allowed"), &|left| drop(left.never.remove(at)));
        }
        for (at, transition) in self.transitions.iter().enumerate() {
            without(format!("`{transition}` is left out"), &|left| drop(left.transitions.remove(at)));
        }
        for (at, relation) in self.relations.iter().enumerate() {
            without(format!("`{relation}` is left out"), &|left| drop(left.relations.remove(at)));
        }
        all
    }

    /// These constraints with more and more features that may change, and at last any number; none where that is so already.
    pub fn with_more_changes(&self) -> Vec<Self> {
        let Some(most) = self.most_changed else { return vec![] };
        let more = MORE_CHANGES.iter().map(|more| Some(most + more)).chain([None]);
        more.map(|most_changed| Self { most_changed, ..self.clone() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;

    #[test]
    fn every_constraint_is_loosened_alone() {
        let policy = read(
            "immutable = ['A', 'B']\nonly_down = ['C']\nranges = { D = [1, 5] }\nnever = ['E=x']\n\
             relations = ['C <= D']\ntransitions = ['E: y -> z']\ncost = { A = 2.0 }",
        );
        let loosened = policy.loosened();
        let allowed: Vec<&str> = loosened.iter().map(|loosened| loosened.allowed.as_str()).collect();
        let expected = [
            "`A` may change",
            "`B` may change",
            "`C` may go up too",
            "`D` may leave 1..5",
            "`E=x` is allowed",
            "`E: y -> z` is left out",
            "`C <= D` is left out",
        ];
        assert_eq!(allowed, expected);
        assert_eq!(
            loosened[0].constraints,
            read(
                "immutable = ['B']\nonly_down = ['C']\nranges = { D = [1, 5] }\nnever = ['E=x']\n\
             relations = ['C <= D']\ntransitions = ['E: y -> z']\ncost = { A = 2.0 }",
            )
        );
        assert!(read("cost = { A = 2.0 }").loosened().is_empty());
    }

    #[test]
    fn the_number_of_changes_grows_step_by_step() {
        let most: Vec<Option<usize>> =
            read("most_changed = 3").loosened().iter().map(|loosened| loosened.constraints.most_changed).collect();
        assert_eq!(most, [Some(4), Some(5), Some(7), None]);
    }
}
