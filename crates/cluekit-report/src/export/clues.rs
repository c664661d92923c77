//! Clues as a sheet: one row each, in the units of the data, beside what was there before.

use super::check_width;
use super::sheet::{Entry, Sheet};
use cluekit::data::{RejectedRow, RowName, Schema, Value};
use cluekit::error::Result;
use cluekit::explanation::{Clue, Explanation, Label};
use std::collections::BTreeSet;

/// The columns before those of the features.
const OWN: [&str; 14] = [
    "index",
    "row",
    "id",
    "clue",
    "predicted",
    "target",
    "label",
    "H before",
    "H after",
    "distance",
    "cost",
    "accepted",
    "reason",
    "advice",
];

/// A row for each clue, for each input without one, and for each row that was left out.
///
/// Of every feature there are two columns: its value in the clue and, where that differs, what it `was`.
pub fn clue_sheet(explanations: &[Explanation], rejected: &[RejectedRow], schema: &Schema) -> Result<Sheet> {
    let headings = headings(schema);
    let mut rows: Vec<(usize, Vec<Entry>)> = Vec::new();
    for explanation in explanations {
        for row in rows_of(explanation, schema)? {
            rows.push((explanation.input.index, row));
        }
    }
    let in_order = rows.is_sorted_by_key(|(index, _)| *index);
    let left_out = rejected.iter().map(|row| (row.index, rejected_row(row, headings.len())));
    rows.extend(left_out);
    // Rows of a file stay in its order; those that were ranked do not have one.
    if in_order {
        rows.sort_by_key(|(index, _)| *index);
    }
    Ok(Sheet { headings, rows: rows.into_iter().map(|(_, row)| row).collect() })
}

/// Our own columns, and two for each feature under names that nobody else has.
fn headings(schema: &Schema) -> Vec<String> {
    let mut headings: Vec<String> = OWN.map(str::to_owned).to_vec();
    let mut taken: BTreeSet<String> = headings.iter().cloned().collect();
    for feature in schema.features.iter().filter(|_| schema.image.is_none()) {
        for name in [feature.name.clone(), format!("{} was", feature.name)] {
            let mut free = name;
            while !taken.insert(free.clone()) {
                free = format!("feature_{free}");
            }
            headings.push(free);
        }
    }
    headings
}

fn named(index: usize, name: Option<&RowName>) -> Vec<Entry> {
    let row = name.map_or(Entry::Empty, |name| Entry::Number(name.row as f64));
    vec![Entry::Number(index as f64), row, Entry::of_words(name.and_then(|name| name.id.as_deref()))]
}

fn rejected_row(rejected: &RejectedRow, columns: usize) -> Vec<Entry> {
    let mut row = named(rejected.index, rejected.name.as_ref());
    row.resize(columns, Entry::Empty);
    row[OWN.len() - 3] = Entry::Truth(false);
    row[OWN.len() - 2] = Entry::Text(rejected.reason.clone());
    row
}

fn rows_of(explanation: &Explanation, schema: &Schema) -> Result<Vec<Vec<Entry>>> {
    let input = &explanation.input;
    let classes = schema.target.task.classes();
    let label = |label: Label| match label {
        Label::Value(value) => Entry::of_f32(value),
        Label::Class(class) => Entry::of_words(classes.get(class).map(String::as_str)),
    };
    let before = values(&format!("x of input {}", input.index), &input.x, schema)?;
    let advice = Entry::of_words(explanation.advice.as_ref().map(ToString::to_string).as_deref());
    let row = |clue: Option<(usize, &Clue)>| -> Result<Vec<Entry>> {
        let of = |entry: &dyn Fn(&Clue) -> Entry| clue.map_or(Entry::Empty, |(_, clue)| entry(clue));
        let mut row = named(input.index, input.name.as_ref());
        row.push(clue.map_or(Entry::Empty, |(place, _)| Entry::Number(place as f64)));
        row.extend([label(input.label), input.target.map_or(Entry::Empty, label), of(&|clue| label(clue.label))]);
        row.extend([Entry::of_f32(input.uncertainty.total), of(&|clue| Entry::of_f32(clue.uncertainty.total))]);
        row.extend([of(&|clue| Entry::of_f32(clue.distance.input)), of(&|clue| Entry::of_f32(clue.cost))]);
        row.push(Entry::Truth(clue.is_some_and(|(_, clue)| clue.accepted)));
        row.push(of(&|clue| Entry::of_words(clue.reason.as_ref().map(ToString::to_string).as_deref())));
        row.push(advice.clone());
        let after = match clue {
            Some((place, clue)) => values(&format!("x of clue {place} of input {}", input.index), &clue.x, schema)?,
            None => before.clone(),
        };
        for (before, after) in before.iter().zip(&after) {
            let was = if before == after { Entry::Empty } else { entry(before) };
            row.extend([entry(after), was]);
        }
        Ok(row)
    };
    match explanation.clues.is_empty() {
        true => Ok(vec![row(None)?]),
        false => explanation.clues.iter().enumerate().map(|clue| row(Some(clue))).collect(),
    }
}

/// The features of a row in the units of the data; none of an image.
fn values(what: &str, x: &[f32], schema: &Schema) -> Result<Vec<Value>> {
    if schema.image.is_some() {
        return Ok(vec![]);
    }
    check_width(what, x, schema.width())?;
    Ok(schema.decode_row(x))
}

fn entry(value: &Value) -> Entry {
    match value {
        Value::Number(number) => Entry::Number(*number),
        Value::Category(text) => Entry::Text(text.clone()),
        // An empty cell beside a feature says that it did not change, so a missing value is a word.
        Value::Missing => Entry::Text(value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::csv;
    use cluekit::audit::fixture::{client, digits, table};
    use cluekit::data::Image;

    fn rejected(index: usize) -> RejectedRow {
        let name = Some(RowName { row: index as u64 + 2, id: Some("C-7".into()) });
        RejectedRow { index, name, reason: "column `ZIP`: `1` is unknown".into() }
    }

    #[test]
    fn a_clue_is_a_row_with_what_was_before_where_it_differs() {
        let sheet = clue_sheet(&[client()], &[], &table()).unwrap();
        let cell = |row: usize, name: &str| {
            sheet.rows[row][sheet.headings.iter().position(|heading| heading == name).unwrap()].clone()
        };
        assert_eq!(sheet.rows.len(), 2);
        assert_eq!((cell(0, "index"), cell(0, "clue")), (Entry::Number(17.0), Entry::Number(0.0)));
        assert_eq!((cell(0, "H before"), cell(0, "H after")), (Entry::Number(1.38), Entry::Number(0.02)));
        assert_eq!(
            (cell(0, "LIMIT_BAL"), cell(0, "LIMIT_BAL was")),
            (Entry::Number(50_000.0), Entry::Number(20_000.0))
        );
        assert_eq!((cell(1, "LIMIT_BAL"), cell(1, "LIMIT_BAL was")), (Entry::Number(20_000.0), Entry::Empty));
        assert_eq!((cell(0, "predicted"), cell(1, "label")), (Entry::Text("no".into()), Entry::Text("yes".into())));
        assert_eq!((cell(0, "accepted"), cell(1, "accepted")), (Entry::Truth(true), Entry::Truth(false)));
        assert_eq!(cell(1, "reason"), Entry::Text("uncertainty 0.450 is not below 0.2".into()));
    }

    #[test]
    fn rows_that_were_left_out_stand_in_their_places_with_the_reason() {
        let text = csv(&clue_sheet(&[client()], &[rejected(3), rejected(20)], &table()).unwrap());
        let first: Vec<&str> = text.lines().map(|line| line.split(',').next().unwrap()).collect();
        assert_eq!(first, ["index", "3", "17", "17", "20"]);
        assert!(
            text.lines().nth(1).unwrap().starts_with("3,5,C-7,,,,,,,,,false,column `ZIP`: `1` is unknown,"),
            "{text}"
        );
    }

    #[test]
    fn an_input_without_a_clue_has_a_row_and_an_image_no_features() {
        let image = Some(Image { channels: 1, height: 2, width: 2, maximum: 255.0 });
        let sheet = clue_sheet(&[digits(0)], &[], &Schema { image, features: vec![], ..table() }).unwrap();
        assert_eq!((sheet.rows.len(), sheet.headings.len(), sheet.rows[0].len()), (1, OWN.len(), OWN.len()));
    }

    #[test]
    fn a_feature_gives_way_to_a_name_of_ours() {
        let mut schema = table();
        schema.features[0].name = "cost".into();
        schema.features[1].name = "cost was".into();
        assert_eq!(
            headings(&schema)[OWN.len()..][..4],
            ["feature_cost", "cost was", "feature_cost was", "cost was was"]
        );
    }
}
