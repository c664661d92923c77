//! Which values the relations leave to each feature.
//!
//! From Σ c·v ≤ limit and the least that all other terms can sum to follows an end for every feature in it; the ends
//! are tightened until nothing moves. No values that keep the relations are ever lost.

use super::{Constraints, Relation};
use crate::data::{Scaling, Schema, Value};

/// How often all relations are gone through; the ends of numbers without decimals may creep for ever.
const MOST_ROUNDS: usize = 100;

/// What f64 loses of a sum, relative to its terms, with some room.
const NOISE: f64 = 1e-12;

/// A relation between features that are known by their position: Σ coefficient · value ≤ limit.
pub(super) struct Inequality {
    pub(super) terms: Vec<(usize, f64)>,
    pub(super) limit: f64,
}

impl Inequality {
    /// Whether `values`, one a feature, keep it; a relation to a missing value, which is NaN, says nothing.
    pub(super) fn holds(&self, schema: &Schema, values: &[f64]) -> bool {
        let (slack, noise) = self.slack(schema, |index, _| values[index]);
        slack.is_nan() || slack >= -noise
    }

    /// The same, or nothing at all if it names a value that is missing in a row.
    pub(super) fn of_present(self, row: &[Value]) -> Self {
        match self.terms.iter().any(|(index, _)| row[*index] == Value::Missing) {
            true => Self { terms: vec![], limit: 0.0 },
            false => self,
        }
    }

    /// What is left to the limit when each feature, with its coefficient, has some `value`; and how much of that may
    /// be what f32 and f64 lose of the numbers.
    fn slack(&self, schema: &Schema, value: impl Fn(usize, f64) -> f64) -> (f64, f64) {
        let (mut slack, mut noise) = (self.limit, NOISE * self.limit.abs());
        for &(index, coefficient) in &self.terms {
            let value = value(index, coefficient);
            slack -= coefficient * value;
            noise += coefficient.abs() * (scaling(schema, index).noise(value) + NOISE * value.abs());
        }
        (slack, noise)
    }
}

fn scaling(schema: &Schema, index: usize) -> &Scaling {
    schema.features[index].kind.scaling().expect("only numbers take part in a valid relation")
}

impl Constraints {
    /// The relations, in their order.
    pub(super) fn inequalities(&self, schema: &Schema) -> Vec<Inequality> {
        let place = |name: &str| schema.features.iter().position(|f| f.name == name && f.kind.scaling().is_some());
        let inequality = |relation: &Relation| {
            let normal = relation.normal();
            let terms = normal.coefficients.iter().filter_map(|(name, c)| Some((place(name)?, *c))).collect();
            Inequality { terms, limit: normal.limit }
        };
        self.relations.iter().map(inequality).collect()
    }
}

/// The least and the greatest value that each feature may still take.
#[derive(Clone)]
pub(super) struct Domains {
    pub(super) ends: Vec<[f64; 2]>,
}

impl Domains {
    /// Leaves only what the `relations` allow, given the rest; else the position of one that cannot be kept.
    pub(super) fn tighten(&mut self, schema: &Schema, relations: &[Inequality]) -> Result<(), usize> {
        for _ in 0..MOST_ROUNDS {
            let mut moved = false;
            for (position, relation) in relations.iter().enumerate() {
                // Each feature at the end where it takes least.
                let (slack, noise) = relation.slack(schema, |index, c| self.ends[index][usize::from(c < 0.0)]);
                if slack < -noise {
                    return Err(position);
                }
                for &(index, coefficient) in &relation.terms {
                    let reach = slack.max(0.0) / coefficient.abs();
                    moved |= self.limit(index, coefficient > 0.0, reach, scaling(schema, index));
                }
            }
            if !moved {
                break;
            }
        }
        Ok(())
    }

    /// Keeps a feature within `reach` of its least value, or else of its greatest; whether that moved an end.
    fn limit(&mut self, index: usize, from_least: bool, reach: f64, scaling: &Scaling) -> bool {
        let [least, greatest] = &mut self.ends[index];
        let worth_moving = 1e-9 * (*greatest - *least);
        if from_least {
            let end = scaling.round_down(*least + reach).max(*least);
            let moved = end < *greatest - worth_moving;
            *greatest = greatest.min(end);
            moved
        } else {
            let end = scaling.round_up(*greatest - reach).min(*greatest);
            let moved = end > *least + worth_moving;
            *least = least.max(end);
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, scaling, table};
    use super::*;
    use crate::data::Kind;

    fn tightened(relations: &str, decimals: Option<u32>, ends: [[f64; 2]; 3]) -> Result<Vec<[f64; 2]>, usize> {
        let kind = || Kind::Continuous(scaling(0.0, 1.0, decimals, [0.0, 10.0]));
        let schema = table(vec![("a", kind()), ("b", kind()), ("c", kind())]);
        let relations = read(&format!("relations = {relations}")).inequalities(&schema);
        let mut domains = Domains { ends: ends.to_vec() };
        domains.tighten(&schema, &relations).map(|()| domains.ends)
    }

    #[test]
    fn ends_are_drawn_in_through_a_chain_of_relations() {
        let ends = tightened("[\"a <= b\", \"b + 1 <= c\"]", Some(0), [[4.0, 9.0], [0.0, 9.0], [0.0, 7.0]]);
        assert_eq!(ends, Ok(vec![[4.0, 6.0], [4.0, 6.0], [5.0, 7.0]]));
    }

    #[test]
    fn ends_stay_on_the_decimals_of_the_data() {
        let ends = tightened("[\"2*a <= b\", \"3*c >= b\"]", Some(0), [[0.0, 9.0], [0.0, 5.0], [0.0, 9.0]]);
        assert_eq!(ends, Ok(vec![[0.0, 2.0], [0.0, 5.0], [0.0, 9.0]]));
        let ends = tightened("[\"3*c >= b\"]", Some(0), [[0.0, 0.0], [4.0, 5.0], [0.0, 9.0]]);
        assert_eq!(ends, Ok(vec![[0.0, 0.0], [4.0, 5.0], [2.0, 9.0]]));
    }

    #[test]
    fn a_relation_that_cannot_be_kept_is_named() {
        let ends = [[5.0, 9.0], [0.0, 9.0], [0.0, 4.0]];
        assert_eq!(tightened("[\"a <= b\", \"b <= c\"]", None, ends), Err(1));
        assert_eq!(tightened("[\"a <= 4.9\"]", Some(1), ends), Err(0));
    }

    #[test]
    fn sums_that_f64_cannot_write_still_meet_their_limit() {
        let ends = [[0.1, 0.1], [0.2, 0.2], [0.0, 1.0]];
        assert!(tightened("[\"a + b <= 0.3\", \"0.3 <= a + b\"]", Some(1), ends).is_ok());
    }
}
