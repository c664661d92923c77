//! What the columns of a table mean, guessed from their cells as a person would.
//!
//! | cells | kind |
//! |---|---|
//! | two distinct values | binary |
//! | whole numbers, at most 12 distinct | ordinal |
//! | other numbers | continuous |
//! | dates that are all written in one way | date |
//! | words in an order that is declared or known | ordinal |
//! | other words, at most 50 distinct | categorical |
//! | more words | grouped: the 49 most frequent, and the rest |
//! | columns of yes and no of which one holds in every row | one-hot |
//!
//! Identifiers, constants and copies are left out, with a note. A target of text, or of at most 20 distinct whole numbers,
//! is a class. Kinds and categories come from all rows, scaling from the training rows only.

mod bands;
mod copies;
mod dates;
mod distinct;
mod identifier;
mod joined;
mod kind;
mod order;
mod scales;
mod target;

pub(crate) use distinct::texts;
pub(crate) use scales::scaling_of;

use super::raw::{RawColumn, RawTable};
use super::{Constraints, Feature, Kind, Meaning, Schema, Target};
use crate::error::{Error, Result};
use joined::Group;
use kind::{Place, Reading};
use std::collections::{BTreeMap, BTreeSet};

/// A schema, and what the user should know about how it came about.
#[derive(Debug)]
pub(crate) struct Inferred {
    pub schema: Schema,
    pub notes: Vec<String>,
    /// Why each feature is of its kind, in the order of the features.
    pub reasons: Vec<String>,
}

/// Infers the schema of `table` for predicting the column `target`, with scaling from the `training` rows.
///
/// What the user says of the columns stands in `meaning`.
pub(crate) fn infer(table: &RawTable, target: &str, training: &[usize], meaning: &Meaning) -> Result<Inferred> {
    let column = table.need(target)?;
    check_dropped(table, target, &meaning.drop)?;
    let orders = order::declared(table, meaning)?;
    let mut notes = Vec::new();
    if target::has_both_writings(column) {
        notes.push(format!("target `{target}`: classes with and without a full stop at their end are the same"));
    }
    let said = target::Said { task: meaning.task, order: orders.get(target).map(Vec::as_slice) };
    let task = target::task(table, column, training, said)?;
    let mut read = features(table, column, training, meaning, &orders, &mut notes)?;
    if read.is_empty() {
        let left_out = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        return Err(Error::file(&table.path, format!("has no column to predict `{target}` from{left_out}; add one")));
    }
    read.sort_by_key(|(place, _, _)| *place);
    let (features, reasons): (Vec<Feature>, Vec<String>) =
        read.into_iter().map(|(_, feature, reason)| (feature, reason)).unzip();
    let rest = |feature: &Feature| match &feature.kind {
        Kind::Grouped { categories } => categories.last().map(|rest| format!("{}={rest}", feature.name)),
        _ => None,
    };
    let constraints = Constraints { never: features.iter().filter_map(rest).collect(), ..Constraints::default() };
    let target = Target { name: column.name.clone(), task, unit: None, meaning: None };
    Ok(Inferred { schema: Schema { target, image: None, features, constraints }, notes, reasons })
}

/// The classes of the target column in their order; none for a target that is a value.
pub(crate) fn classes(table: &RawTable, target: &RawColumn, meaning: &Meaning) -> Result<Option<Vec<String>>> {
    let orders = order::declared(table, meaning)?;
    let order = orders.get(&target.name).map(Vec::as_slice);
    target::classes(table, target, target::Said { task: meaning.task, order })
}

/// Columns that are left out must be there, and must not be the target.
fn check_dropped(table: &RawTable, target: &str, dropped: &[String]) -> Result<()> {
    for name in dropped {
        if name == target {
            return Err(Error::setting("drop", format!("`{name}` is the target; predict another column or keep it")));
        }
        table.need(name)?;
    }
    Ok(())
}

/// The features, each with the number of its column and the reason for its kind.
fn features(
    table: &RawTable,
    target: &RawColumn,
    training: &[usize],
    meaning: &Meaning,
    orders: &BTreeMap<String, Vec<String>>,
    notes: &mut Vec<String>,
) -> Result<Vec<(usize, Feature, String)>> {
    let mut readings = BTreeMap::new();
    let dropped: BTreeSet<&str> = meaning.drop.iter().map(String::as_str).collect();
    for (index, column) in table.columns.iter().enumerate().filter(|(_, column)| column.name != target.name) {
        if dropped.contains(column.name.as_str()) {
            notes.push(format!("column `{}` is left out, as asked", column.name));
            continue;
        }
        let place = Place { table, index, column, training };
        match kind::read(place, orders.get(&column.name).map(Vec::as_slice))? {
            Reading::LeftOut(reason) => notes.push(left_out(column, &reason)),
            Reading::Feature(kind, reason) => {
                if !matches!(
                    kind,
                    Kind::Continuous(_) | Kind::Ordinal(_) | Kind::Binary { .. } | Kind::Categorical { .. }
                ) || reason.contains("rounded")
                {
                    notes.push(format!("column `{}` ({}): {reason}", column.name, kind.name()));
                }
                readings.insert(index, (kind, reason));
            }
        }
    }
    let binary: Vec<usize> =
        readings.iter().filter(|(_, (kind, _))| matches!(kind, Kind::Binary { .. })).map(|(&index, _)| index).collect();
    let taken: BTreeSet<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let mut features = Vec::new();
    for Group { name, columns } in joined::find(table, &binary, &taken) {
        columns.iter().for_each(|index| _ = readings.remove(index));
        let first = columns[0];
        let columns: Vec<String> = columns.into_iter().map(|index| table.columns[index].name.clone()).collect();
        let reason = format!("one of {} holds in every row: one category", columns.join(", "));
        notes.push(format!("columns {} are joined into `{name}`: exactly one holds in every row", columns.join(", ")));
        features.push((
            first,
            Feature { name, kind: Kind::OneHot { columns }, unit: None, meaning: None, missing: None },
            reason,
        ));
    }
    let kept: Vec<usize> = readings.keys().copied().collect();
    let copies = copies::find(table, target, &kept);
    for (index, reason) in &copies.left_out {
        notes.push(left_out(&table.columns[*index], reason));
        readings.remove(index);
    }
    notes.extend(copies.notes);
    let feature = |(index, (kind, reason)): (usize, (Kind, String))| {
        (
            index,
            Feature { name: table.columns[index].name.clone(), kind, unit: None, meaning: None, missing: None },
            reason,
        )
    };
    features.extend(readings.into_iter().map(feature));
    Ok(features)
}

fn left_out(column: &RawColumn, reason: &str) -> String {
    format!("column `{}` is left out: {reason}", column.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Scaling;
    use crate::data::raw::text::parse;
    use std::path::Path;

    /// A column's name and its cell in each row.
    type Made<'a> = (&'a str, fn(usize) -> String);

    /// A table of `rows` rows whose cells follow from the row's number.
    fn table(rows: usize, columns: &[Made<'_>]) -> RawTable {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let line = |row| columns.iter().map(|(_, cell)| cell(row)).collect::<Vec<_>>().join(",");
        let lines: Vec<String> = (0..rows).map(line).collect();
        parse(Path::new("t.csv"), &format!("{}\n{}\n", names.join(","), lines.join("\n")), 0).unwrap()
    }

    fn inferred(table: &RawTable, target: &str) -> Result<Inferred> {
        infer(table, target, &(0..table.rows()).collect::<Vec<_>>(), &Meaning::default())
    }

    const CLASS: Made<'_> = ("y", |i| (i % 2).to_string());

    fn kind(cell: fn(usize) -> String) -> Kind {
        let table = table(100, &[("x", cell), ("y", |i| (i / 7 % 2).to_string())]);
        inferred(&table, "y").unwrap().schema.features.remove(0).kind
    }

    #[test]
    fn kinds_follow_the_cells() {
        assert_eq!(kind(|i| ["10", "9"][i % 2].into()), Kind::Binary { categories: vec!["9".into(), "10".into()] });
        assert_eq!(kind(|i| ["m", "f"][i % 2].into()), Kind::Binary { categories: vec!["f".into(), "m".into()] });
        assert_eq!(kind(|i| ["c", "a", "b"][i % 3].into()).categories(), ["a", "b", "c"]);
        assert_eq!(kind(|i| (i % 12).to_string()).name(), "ordinal");
        assert_eq!(kind(|i| (i % 13).to_string()).name(), "continuous");
        assert_eq!(kind(|i| format!("{}.5", i % 3)).name(), "continuous");
    }

    #[test]
    fn scaling_comes_from_the_training_rows_and_decimals_from_all() {
        let table = parse(Path::new("t.csv"), "x,y\n1,0\n3,1\n0.25,0\n", 0).unwrap();
        let kind = infer(&table, "y", &[0, 1], &Meaning::default()).unwrap().schema.features.remove(0).kind;
        let expected = Scaling { mean: 2.0, deviation: 1.0, decimals: Some(2), least: 1.0, greatest: 3.0 };
        assert_eq!(kind, Kind::Continuous(expected));
    }

    #[test]
    fn identifiers_and_constants_are_left_out_with_a_note() {
        let table = table(
            40,
            &[
                ("row", |i| (i + 1).to_string()),
                ("Customer_ID", |i| (i * 7 % 40).to_string()),
                ("name", |i| format!("person {i}")),
                ("country", |_| "TW".into()),
                ("version", |_| "7.0".into()),
                ("x", |i| (i + 1).to_string()),
                CLASS,
            ],
        );
        let Inferred { schema, notes, .. } = inferred(&table, "y").unwrap();
        assert_eq!(schema.features.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["x"]);
        assert_eq!(notes.len(), 5);
        assert_eq!(notes[0], "column `row` is left out: it only numbers the rows");
        assert!(notes[2].contains("`name` is left out: its text is different in nearly every row (40 of 40)"));
        assert_eq!(notes[4], "column `version` is left out: it is `7` in every row");
    }

    #[test]
    fn rare_words_are_grouped_and_no_clue_may_advise_the_group() {
        let made: [Made<'_>; 2] = [("city", |i| format!("city {:02}", if i < 120 { i % 60 } else { i % 10 })), CLASS];
        let table = table(300, &made);
        let Inferred { schema, notes, .. } = inferred(&table, "y").unwrap();
        let Kind::Grouped { categories } = &schema.features[0].kind else { panic!("{:?}", schema.features[0].kind) };
        assert_eq!((categories.len(), categories[49].as_str()), (50, "other"));
        // 10 words of 20 rows or more; of the 50 words of 2 rows the first 39 are told apart, the last 11 are not.
        assert!(categories.contains(&"city 48".to_owned()) && !categories.contains(&"city 49".to_owned()));
        assert!(notes[0].contains("the rest (22 of 300 rows) is `other`"), "{}", notes[0]);
        assert_eq!(schema.constraints.never, ["city=other"]);
        schema.validate().unwrap();
        let row = schema.encode_row(&[crate::data::Value::Category("city 59".into())]).unwrap();
        assert_eq!(schema.decode_row(&row), [crate::data::Value::Category("other".into())]);
    }

    #[test]
    fn ordered_words_dates_and_joined_columns_become_features() {
        let table = table(
            120,
            &[
                ("risk", |i| ["high", "low", "medium"][i % 3].into()),
                ("since", |i| format!("2021-03-{:02}", 1 + i * 7 % 28)),
                ("job_a", |i| u8::from(i % 5 < 2).to_string()),
                ("job_b", |i| u8::from(i % 5 >= 2).to_string()),
                ("y", |i| (i / 60).to_string()),
            ],
        );
        let Inferred { schema, notes, reasons } = inferred(&table, "y").unwrap();
        let described: Vec<_> = schema.features.iter().map(|f| (f.name.as_str(), f.kind.name())).collect();
        assert_eq!(described, [("risk", "ordinal"), ("since", "date"), ("job", "one-hot")]);
        assert_eq!((notes.len(), reasons.len()), (3, 3));
        assert!(reasons[0].ends_with("low < medium < high"), "{}", reasons[0]);
        let row = ["low", "2021-03-08", "job_b"].map(|text| crate::data::Value::Category(text.into()));
        let encoded = schema.encode_row(&row).unwrap();
        assert_eq!((encoded.len(), schema.decode_row(&encoded)), (4, row.to_vec()));
    }

    #[test]
    fn what_the_user_says_of_columns_is_done() {
        let table = table(100, &[("a", |i| (i % 7).to_string()), ("b", |i| ["p", "q", "r"][i % 3].into()), CLASS]);
        let with = |meaning: Meaning| infer(&table, "y", &(0..100).collect::<Vec<_>>(), &meaning);
        let meaning = Meaning { drop: vec!["a".into()], ordinal: vec!["b=r<q<p".into()], task: None };
        let Inferred { schema, notes, .. } = with(meaning).unwrap();
        assert_eq!((schema.features.len(), notes[0].as_str()), (1, "column `a` is left out, as asked"));
        let Kind::Ordered { order, .. } = &schema.features[0].kind else { panic!("b has an order") };
        assert_eq!(*order, ["r", "q", "p"]);
        let value = Meaning { task: Some(crate::data::TaskKind::Regression), ..Meaning::default() };
        assert!(with(value).unwrap().schema.target.task.is_regression());
        let problem =
            |drop: &str| with(Meaning { drop: vec![drop.into()], ..Meaning::default() }).unwrap_err().to_string();
        assert!(problem("y").contains("`y` is the target"));
        assert!(problem("c").contains("has no column `c`"));
    }

    #[test]
    fn classes_stand_in_their_order_and_without_full_stops() {
        let task = |cell: fn(usize) -> String| {
            inferred(&table(100, &[("x", |i| (i % 5).to_string()), ("y", cell)]), "y").unwrap().schema.target.task
        };
        assert_eq!(task(|i| ["high", "low", "medium"][i % 3].into()).classes(), ["low", "medium", "high"]);
        assert_eq!(task(|i| [">50K", "<=50K", ">50K.", "<=50K."][i / 7 % 4].into()).classes(), ["<=50K", ">50K"]);
        assert_eq!(task(|i| ["Mr.", "Dr."][i / 7 % 2].into()).classes(), ["Dr.", "Mr."]);
    }

    #[test]
    fn a_word_among_numbers_is_named_with_its_line() {
        let table = table(100, &[("age", |i| if i == 5 { "unknown".into() } else { i.to_string() }), CLASS]);
        let message = inferred(&table, "y").unwrap_err().to_string();
        assert!(message.starts_with("t.csv, line 7: column `age`: `unknown` is not a number"), "{message}");
    }

    #[test]
    fn targets_are_classes_or_values() {
        let task = |cell: fn(usize) -> String| {
            inferred(&table(100, &[("x", |i| (i % 5).to_string()), ("y", cell)]), "y").unwrap().schema.target.task
        };
        assert_eq!(task(|i| ["10", "9"][i % 2].into()).classes(), ["9", "10"]);
        assert_eq!(task(|i| ["yes", "no"][i % 2].into()).classes(), ["no", "yes"]);
        assert_eq!(task(|i| (i % 20).to_string()).classes().len(), 20);
        assert!(task(|i| (i % 21).to_string()).is_regression());
        assert!(task(|i| format!("{}.5", i % 2)).is_regression());
    }

    #[test]
    fn targets_without_anything_to_learn_are_refused() {
        let problem = |cell: fn(usize) -> String| {
            inferred(&table(100, &[("x", |i| i.to_string()), ("y", cell)]), "y").unwrap_err().to_string()
        };
        assert!(problem(|_| "1".into()).contains("target `y` is `1` in every row"));
        assert!(problem(|i| format!("name {i}")).contains("100 distinct texts in 100 rows"));
    }

    #[test]
    fn a_table_of_the_target_alone_is_refused() {
        let table = table(20, &[("id", |i| i.to_string()), CLASS]);
        let message = inferred(&table, "y").unwrap_err().to_string();
        assert!(message.contains("no column to predict `y` from (column `id` is left out"), "{message}");
    }
}
