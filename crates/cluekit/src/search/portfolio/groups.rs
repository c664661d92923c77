//! One category in several columns: binary features of which exactly one holds in every training row stay so.

use super::lattice::Lattice;
use crate::data::{Samples, Schema, one_hot_groups};

/// Groups of binary features of which exactly one holds in every training row.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Positions of the features of each group.
    members: Vec<Vec<usize>>,
    /// First column of each feature.
    columns: Vec<usize>,
}

impl Groups {
    /// The groups that hold in these rows.
    pub fn of(schema: &Schema, rows: &Samples) -> Self {
        let columns = schema.columns().iter().map(|column| column.start).collect();
        Self { members: one_hot_groups(schema, rows), columns }
    }

    fn around(&self, feature: usize) -> &[usize] {
        self.members.iter().find(|group| group.contains(&feature)).map_or(&[], Vec::as_slice)
    }

    /// The first group of which not exactly one holds, unless the input `x0` has the same in it.
    pub fn broken(&self, x0: &[f32], x: &[f32]) -> Option<&[usize]> {
        let holds = |row: &[f32], feature: usize| row[self.columns[feature]] > 0.5;
        let is_broken = |group: &&Vec<usize>| {
            group.iter().filter(|&&feature| holds(x, feature)).count() != 1
                && group.iter().any(|&feature| holds(x, feature) != holds(x0, feature))
        };
        self.members.iter().find(is_broken).map(Vec::as_slice)
    }

    /// The row `x` with the value of one feature; where a member of a group begins to hold, the others end.
    pub fn with(&self, lattice: &Lattice, x: &[f32], feature: usize, value: &[f32]) -> Vec<f32> {
        let mut row = lattice.with(x, feature, value);
        if value[0] > 0.5 {
            self.around(feature)
                .iter()
                .filter(|&&other| other != feature)
                .for_each(|&other| row[self.columns[other]] = 0.0);
        }
        row
    }

    /// The row `x` with one feature as the input `x0` has it, and with it the others of its group.
    pub fn back(&self, lattice: &Lattice, x: &[f32], x0: &[f32], feature: usize) -> Vec<f32> {
        let mut row = lattice.with(x, feature, &x0[lattice.column(feature).range()]);
        self.around(feature).iter().for_each(|&other| row[self.columns[other]] = x0[self.columns[other]]);
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Targets;

    #[test]
    fn a_member_that_begins_to_hold_ends_the_others_and_goes_back_with_them() {
        let schema: Schema = toml::from_str(
            "target = { name = 'y', task = 'classification', classes = ['a', 'b'] }\n\
             features = [{ name = 'ward_a', kind = 'binary', categories = ['0', '1'] },\n\
             { name = 'n', kind = 'continuous', mean = 0.0, deviation = 1.0, least = 0.0, greatest = 9.0 },\n\
             { name = 'ward_b', kind = 'binary', categories = ['0', '1'] },\n\
             { name = 'ward_c', kind = 'binary', categories = ['0', '1'] }]",
        )
        .unwrap();
        let rows = [[1.0, 2.0, 0.0, 0.0], [0.0, 3.0, 1.0, 0.0], [0.0, 5.0, 0.0, 1.0], [1.0, 4.0, 0.0, 0.0]];
        let samples = Samples { x: rows.concat(), width: 4, y: Targets::Unknown(4), weights: None };
        let (groups, lattice) = (Groups::of(&schema, &samples), Lattice::of(&schema, &samples, 8));
        let moved = groups.with(&lattice, &rows[0], 2, &[1.0]);
        assert_eq!(moved, [0.0, 2.0, 1.0, 0.0]);
        assert_eq!(groups.back(&lattice, &moved, &rows[0], 0), rows[0]);
        assert_eq!(groups.broken(&rows[0], &moved), None);
        let none = [0.0, 2.0, 0.0, 0.0];
        assert_eq!(groups.broken(&rows[0], &none), Some([0, 2, 3].as_slice()), "no ward holds");
        assert_eq!(groups.broken(&none, &none), None, "the input itself has none");
        assert_eq!(groups.with(&lattice, &rows[0], 1, &[9.0]), [1.0, 9.0, 0.0, 0.0], "other features move alone");
    }
}
