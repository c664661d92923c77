//! Categories that come as columns of their own: binary features of which exactly one holds in every row.
//!
//! `job_clerk`, `job_judge` and `job_student` are one category in three columns, and a counterfactual that changes one of
//! them must change another. Columns whose names begin alike are looked at first, then all that are left.
//!
//! Every group has one column that holds in the first row, so each such column is tried as a beginning. The first row that
//! a group does not cover yet says which columns can come next. The rarest go first, which makes groups large.

use super::{Kind, Samples, Schema};
use std::collections::{BTreeMap, BTreeSet};

/// Rows that are looked at, evenly spread over all.
const MOST_ROWS: usize = 20_000;
/// Groups that are begun or continued among columns that are looked at together.
const MOST_TRIALS: usize = 2_000;

/// Groups of binary features of which exactly one has its second category in every row: the positions of their features,
/// in rising order.
///
/// A group has at least two features that vary. No feature is in two groups.
pub fn one_hot_groups(schema: &Schema, samples: &Samples) -> Vec<Vec<usize>> {
    groups_of(&Flag::of(schema, samples), &|feature| &schema.features[feature].name)
}

/// The same among flags, each of which has a name.
pub(super) fn groups_of<'a>(columns: &[Flag], name: &dyn Fn(usize) -> &'a str) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut alike: BTreeMap<&str, Vec<&Flag>> = BTreeMap::new();
    for column in columns {
        if let Some(beginning) = beginning(name(column.feature)) {
            alike.entry(beginning).or_default().push(column);
        }
    }
    for columns in alike.into_values() {
        match is_group(&columns) {
            true => groups.push(columns.iter().map(|column| column.feature).collect()),
            false => groups.extend(groups_among(&columns)),
        }
    }
    let grouped: BTreeSet<usize> = groups.iter().flatten().copied().collect();
    let is_free = |column: &&Flag| !grouped.contains(&column.feature);
    let left: Vec<&Flag> = columns.iter().filter(is_free).collect();
    groups.extend(groups_among(&left));
    groups.sort_unstable();
    groups
}

/// What stands before the last sign that often parts a feature from its category.
fn beginning(name: &str) -> Option<&str> {
    name.rfind(['_', '=', '.', ' ']).map(|at| &name[..at]).filter(|beginning| !beginning.is_empty())
}

/// A binary feature: a bit for each row in which it holds.
pub(super) struct Flag {
    feature: usize,
    rows: usize,
    bits: Vec<u64>,
    count: usize,
}

impl Flag {
    /// The binary features of a table, in their order.
    fn of(schema: &Schema, samples: &Samples) -> Vec<Self> {
        let stride = samples.len().div_ceil(MOST_ROWS).max(1);
        let rows: Vec<usize> = (0..samples.len()).step_by(stride).collect();
        let features = schema.features.iter().zip(schema.columns()).enumerate();
        let binary = features.filter(|(_, (feature, _))| matches!(feature.kind, Kind::Binary { .. }));
        let flag = |(feature, (_, column)): (usize, (_, super::Column))| {
            let mut bits = vec![0_u64; rows.len().div_ceil(64)];
            for (at, &row) in rows.iter().enumerate() {
                bits[at / 64] |= u64::from(samples.row(row)[column.start] >= 0.5) << (at % 64);
            }
            let count = bits.iter().map(|word| word.count_ones() as usize).sum();
            Self { feature, rows: rows.len(), bits, count }
        };
        binary.map(flag).collect()
    }

    /// The column number `feature` of a table, if every cell that is looked at `holds` or does not.
    #[cfg(feature = "files")]
    pub(super) fn of_cells(feature: usize, count: usize, holds: impl Fn(usize) -> Option<bool>) -> Option<Self> {
        let stride = count.div_ceil(MOST_ROWS).max(1);
        let rows = count.div_ceil(stride);
        let mut bits = vec![0_u64; rows.div_ceil(64)];
        for at in 0..rows {
            bits[at / 64] |= u64::from(holds(at * stride)?) << (at % 64);
        }
        let count = bits.iter().map(|word| word.count_ones() as usize).sum();
        Some(Self { feature, rows, bits, count })
    }

    fn holds(&self, row: usize) -> bool {
        self.bits[row / 64] >> (row % 64) & 1 == 1
    }

    /// Whether it never holds in a row that is covered.
    fn avoids(&self, covered: &[u64]) -> bool {
        self.bits.iter().zip(covered).all(|(bits, covered)| bits & covered == 0)
    }
}

/// Whether exactly one of all columns holds in every row, and at least two of them ever.
fn is_group(columns: &[&Flag]) -> bool {
    let Some(first) = columns.first() else { return false };
    let holds = |row: usize| columns.iter().filter(|column| column.holds(row)).count();
    columns.iter().filter(|column| column.count > 0).count() > 1 && (0..first.rows).all(|row| holds(row) == 1)
}

/// The groups that are found among these columns.
fn groups_among(columns: &[&Flag]) -> Vec<Vec<usize>> {
    let mut rarest: Vec<&Flag> = columns.iter().copied().filter(|column| column.count > 0).collect();
    rarest.sort_by_key(|column| (column.count, column.feature));
    let mut search = Cover { columns: rarest, used: BTreeSet::new(), trials: 0 };
    let mut groups = Vec::new();
    while let Some(mut group) = search.next() {
        search.used.extend(&group);
        group.sort_unstable();
        groups.push(group);
    }
    groups
}

/// The search for columns that cover every row once.
struct Cover<'a> {
    columns: Vec<&'a Flag>,
    used: BTreeSet<usize>,
    trials: usize,
}

impl Cover<'_> {
    /// A group of columns that are not used yet.
    fn next(&mut self) -> Option<Vec<usize>> {
        let words = self.columns.first()?.bits.len();
        self.completed(&vec![0; words]).filter(|group| group.len() > 1)
    }

    /// Columns that hold once in each row that is not `covered`.
    fn completed(&mut self, covered: &[u64]) -> Option<Vec<usize>> {
        let row = (0..self.columns.first()?.rows).find(|row| covered[row / 64] >> (row % 64) & 1 == 0);
        let Some(row) = row else { return Some(vec![]) };
        for place in 0..self.columns.len() {
            let column = self.columns[place];
            if !column.holds(row) || self.used.contains(&column.feature) || !column.avoids(covered) {
                continue;
            }
            self.trials += 1;
            if self.trials > MOST_TRIALS {
                return None;
            }
            let more: Vec<u64> = column.bits.iter().zip(covered).map(|(bits, covered)| bits | covered).collect();
            if let Some(rest) = self.completed(&more) {
                return Some([vec![column.feature], rest].concat());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::constraints::tests::{scaling, strings, table};
    use super::*;
    use crate::data::Targets;

    /// A table of binary features with these names, a row a text of 0 and 1.
    fn found(names: &[&str], rows: &[&str]) -> Vec<Vec<usize>> {
        let binary = |name: &&'static str| (*name, Kind::Binary { categories: strings(&["0", "1"]) });
        let names: Vec<&'static str> = names.iter().map(|name| &*name.to_string().leak()).collect();
        let schema = table(names.iter().map(binary).collect());
        let x = rows.iter().flat_map(|row| row.chars().map(|c| if c == '1' { 1.0 } else { 0.0 })).collect();
        one_hot_groups(&schema, &Samples { x, width: names.len(), y: Targets::Unknown(rows.len()), weights: None })
    }

    #[test]
    fn columns_of_which_exactly_one_holds_are_a_group() {
        let rows = ["1001", "0100", "0011", "1000"];
        assert_eq!(found(&["job_a", "job_b", "job_c", "owner"], &rows), [[0, 1, 2]]);
    }

    #[test]
    fn one_row_with_two_or_with_none_makes_it_no_group() {
        let names = ["job_a", "job_b", "job_c"];
        assert!(found(&names, &["100", "010", "001", "110"]).is_empty());
        assert!(found(&names, &["100", "010", "001", "000"]).is_empty());
    }

    #[test]
    fn two_that_are_opposites_are_a_group_whatever_their_names() {
        assert_eq!(found(&["male", "old", "female"], &["110", "001", "011", "100"]), [[0, 2]]);
    }

    #[test]
    fn names_that_begin_alike_come_first() {
        // c and d are also opposites of a and b, crosswise.
        let names = ["sex=m", "age=old", "sex=f", "age=young"];
        assert_eq!(found(&names, &["1100", "0011", "1100"]), [[0, 2], [1, 3]]);
        assert_eq!(found(&["a", "b", "c", "d"], &["1100", "0011", "1100"]), [[0, 2], [1, 3]]);
    }

    #[test]
    fn a_group_is_found_among_others_that_begin_alike() {
        let rows = ["11001", "10100", "00101", "10010"];
        // is_a and is_e hold together once; exactly one of b, c and d holds.
        assert_eq!(found(&["is_a", "is_b", "is_c", "is_d", "is_e"], &rows), [[1, 2, 3]]);
    }

    #[test]
    fn larger_groups_come_before_smaller_ones() {
        // d is the opposite of a, and b and c together are d.
        assert_eq!(found(&["a", "b", "c", "d"], &["1000", "0101", "0011"]), [[0, 1, 2]]);
    }

    #[test]
    fn a_category_that_no_row_holds_belongs_to_those_that_begin_alike() {
        assert_eq!(found(&["job.a", "job.b", "job.c", "x"], &["1000", "0101", "1001"]), [[0, 1, 2]]);
        assert!(found(&["job.a", "job.b"], &["10", "10"]).is_empty(), "nothing varies");
    }

    #[test]
    fn numbers_and_categories_are_in_no_group() {
        let schema = table(vec![
            ("n", Kind::Continuous(scaling(0.0, 1.0, None, [0.0, 1.0]))),
            ("c", Kind::Categorical { categories: strings(&["p", "q"]) }),
            ("m", Kind::Binary { categories: strings(&["no", "yes"]) }),
            ("f", Kind::Binary { categories: strings(&["no", "yes"]) }),
        ]);
        let x = vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0];
        let samples = Samples { x, width: 5, y: Targets::Unknown(2), weights: None };
        assert_eq!(one_hot_groups(&schema, &samples), [[2, 3]]);
        let none = Samples { x: vec![], width: 5, y: Targets::Unknown(0), weights: None };
        assert!(one_hot_groups(&schema, &none).is_empty());
    }
}
