//! One category in columns of its own, of which exactly one holds in every row: joined into one feature.

use crate::data::encoding::holds;
use crate::data::one_hot::{Flag, groups_of};
use crate::data::raw::RawTable;
use std::collections::BTreeSet;

/// In fewer rows, columns may exclude each other by chance.
const FEW_ROWS: usize = 30;
/// Names of columns that a name of a group is made of, where they do not begin alike.
const MOST_NAMES: usize = 3;

/// Columns that are one category.
pub(super) struct Group {
    pub name: String,
    /// Positions of the columns, in rising order.
    pub columns: Vec<usize>,
}

/// The groups among the `kept` columns whose cells say yes or no; `taken` are names that no group may have.
pub(super) fn find(table: &RawTable, kept: &[usize], taken: &BTreeSet<&str>) -> Vec<Group> {
    if table.rows() < FEW_ROWS {
        return vec![];
    }
    let flag = |&index: &usize| Flag::of_cells(index, table.rows(), |row| holds(table.columns[index].cell(row)));
    let flags: Vec<Flag> = kept.iter().filter_map(flag).collect();
    let mut groups = groups_of(&flags, &|index| &table.columns[index].name);
    groups.retain(|columns| {
        let held = |row: usize| columns.iter().filter(|&&c| holds(table.columns[c].cell(row)) == Some(true)).count();
        (0..table.rows()).all(|row| held(row) == 1)
    });
    let mut taken: BTreeSet<String> = taken.iter().map(ToString::to_string).collect();
    let named = |columns: Vec<usize>| {
        let names: Vec<&str> = columns.iter().map(|&index| table.columns[index].name.as_str()).collect();
        let mut name = name_of(&names);
        while !taken.insert(name.clone()) {
            name += " (joined)";
        }
        Group { name, columns }
    };
    groups.into_iter().map(named).collect()
}

/// What the names begin with before a sign that parts it from the rest; else some of the names.
fn name_of(names: &[&str]) -> String {
    let alike = names.iter().skip(1).fold(names[0], |common, name| {
        let length = common.char_indices().zip(name.chars()).take_while(|((_, a), b)| a == b);
        let length = length.map(|((at, c), _)| at + c.len_utf8()).last().unwrap_or(0);
        &common[..length]
    });
    match alike.rfind(['_', '=', '.', ' ', ':', '-']).map(|at| &alike[..at]).filter(|name| !name.is_empty()) {
        Some(name) => name.to_owned(),
        None if names.len() <= MOST_NAMES => names.join(" or "),
        None => format!("{} or …", names[..MOST_NAMES].join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::raw::text::parse;
    use std::path::Path;

    fn groups(header: &str, cells: fn(usize) -> String) -> Vec<(String, Vec<usize>)> {
        let text = format!("{header}\n") + &(0..60).map(|i| cells(i) + "\n").collect::<String>();
        let table = parse(Path::new("t.csv"), &text, 0).unwrap();
        let kept: Vec<usize> = (0..table.columns.len()).collect();
        find(&table, &kept, &BTreeSet::new()).into_iter().map(|group| (group.name, group.columns)).collect()
    }

    #[test]
    fn columns_of_which_one_holds_in_each_row_are_joined_under_their_common_name() {
        let found = groups("job_a,age,job_b,job_c", |i| {
            let held = |job: usize| u8::from(i % 3 == job);
            format!("{},{i},{},{}", held(0), held(1), held(2))
        });
        assert_eq!(found, [("job".to_owned(), vec![0, 2, 3])]);
    }

    #[test]
    fn words_for_yes_and_no_are_flags_and_other_words_are_not() {
        let found = groups("male,female,a,b", |i| {
            let sides = [["true", "false"], ["false", "true"]][i % 2];
            format!("{},{},{},{}", sides[0], sides[1], ["x", "z"][i / 2 % 2], ["z", "x"][i / 2 % 2])
        });
        assert_eq!(found, [("male or female".to_owned(), vec![0, 1])]);
    }

    #[test]
    fn one_row_without_a_category_keeps_the_columns_apart() {
        let found =
            groups("job_a,job_b", |i| format!("{},{}", u8::from(i.is_multiple_of(2)), u8::from(i % 2 == 1 && i != 7)));
        assert!(found.is_empty());
    }
}
