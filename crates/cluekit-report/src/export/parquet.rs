//! A Parquet table: each input and each of its clues is a row, in the data's own units; so is each row that was left out.
//!
//! `input` and `clue` say which row it is. The input itself comes first; it has no `clue`, and nothing where a value
//! has no meaning for it. A row that was left out has its `reason`, and is `accepted` nowhere. Rows of a file have
//! `file_row`, and `id` where a column identifies them. The features of a table follow under their own names; pixels are
//! left to [`npz`](super::npz()).

use super::check_width;
use super::columns::{Cells, Column, written};
use cluekit::data::{Kind, RejectedRow, RowName, Schema, Value};
use cluekit::error::{Error, Result};
use cluekit::explanation::{Clue, Explanation, Label, Plausibility};
use cluekit::prediction::UncertaintyParts;
use cluekit::wording;

/// All explanations, and the rows that were left out, as the bytes of one Parquet file.
pub fn parquet(explanations: &[Explanation], rejected: &[RejectedRow], schema: &Schema) -> Result<Vec<u8>> {
    let mut rows: Vec<Row> = explanations.iter().flat_map(rows).collect();
    let in_order = rows.is_sorted_by_key(|row| row.input);
    rows.extend(rejected.iter().map(Row::left_out));
    // Rows of a file stay in its order; those that were ranked do not have one.
    if in_order {
        rows.sort_by_key(|row| row.input);
    }
    let mut columns = own_columns(&rows, schema);
    if schema.image.is_none() {
        let features = feature_columns(&rows, schema, &columns)?;
        columns.extend(features);
    }
    written(&columns).map_err(|error| Error::data(format!("the table cannot be written as Parquet: {error}")))
}

/// An input, one of its clues, or a row that was left out.
struct Row<'a> {
    input: usize,
    name: Option<&'a RowName>,
    /// What the model says of which numbers; nothing of a row that was left out.
    answer: Option<Answer<'a>>,
    /// With its position.
    clue: Option<(usize, &'a Clue)>,
    /// Why the row was left out.
    left_out: Option<&'a str>,
}

/// What the model says of `x`.
struct Answer<'a> {
    label: Label,
    uncertainty: UncertaintyParts,
    x: &'a [f32],
}

impl<'a> Row<'a> {
    fn left_out(row: &'a RejectedRow) -> Self {
        Self { input: row.index, name: row.name.as_ref(), answer: None, clue: None, left_out: Some(&row.reason) }
    }

    fn uncertainty(&self, part: fn(&UncertaintyParts) -> f32) -> Option<f64> {
        self.answer.as_ref().map(|answer| part(&answer.uncertainty).into())
    }

    fn accepted(&self) -> Option<bool> {
        self.clue.map(|(_, clue)| clue.accepted).or(self.left_out.map(|_| false))
    }

    fn reason(&self) -> Option<String> {
        let of_clue = self.clue.and_then(|(_, clue)| clue.reason.as_ref().map(ToString::to_string));
        of_clue.or(self.left_out.map(str::to_owned))
    }

    fn plausibility(&self) -> Option<Plausibility> {
        self.clue.and_then(|(_, clue)| clue.plausibility)
    }

    fn of_clue(&self, value: fn(&Clue) -> f32) -> Option<f64> {
        self.clue.map(|(_, clue)| f64::from(value(clue)))
    }
}

fn rows(explanation: &Explanation) -> Vec<Row<'_>> {
    let input = &explanation.input;
    let name = input.name.as_ref();
    let row = |label, uncertainty, x, clue| {
        let answer = Some(Answer { label, uncertainty, x });
        Row { input: input.index, name, answer, clue, left_out: None }
    };
    let mut rows = vec![row(input.label, input.uncertainty, &input.x[..], None)];
    let clues = explanation.clues.iter().enumerate();
    rows.extend(clues.map(|(place, clue)| row(clue.label, clue.uncertainty, &clue.x[..], Some((place, clue)))));
    rows
}

/// The columns that every table has.
fn own_columns(rows: &[Row], schema: &Schema) -> Vec<Column> {
    let column = |name: &str, cells| Column { name: name.to_owned(), cells };
    let numbers = |name, value: fn(&Row) -> Option<f64>| column(name, Cells::Numbers(rows.iter().map(value).collect()));
    let own = vec![
        column("input", Cells::Whole(rows.iter().map(|row| Some(row.input as i64)).collect())),
        column("clue", Cells::Short(rows.iter().map(|row| row.clue.map(|(position, _)| position as i32)).collect())),
        column("label", labels(rows, schema)),
        numbers("total", |row| row.uncertainty(|parts| parts.total)),
        numbers("aleatoric", |row| row.uncertainty(|parts| parts.aleatoric)),
        numbers("epistemic", |row| row.uncertainty(|parts| parts.epistemic)),
        numbers("input_distance", |row| row.of_clue(|clue| clue.distance.input)),
        numbers("latent_distance", |row| row.of_clue(|clue| clue.distance.latent)),
        numbers("cost", |row| row.of_clue(|clue| clue.cost)),
        numbers("delta", |row| row.clue.and_then(|(_, clue)| clue.delta).map(f64::from)),
        numbers("reconstruction_percentile", |row| Some(row.plausibility()?.reconstruction.into())),
        numbers("elbo_percentile", |row| Some(row.plausibility()?.elbo?.into())),
        column("accepted", Cells::Truths(rows.iter().map(Row::accepted).collect())),
        column("reason", Cells::Words(rows.iter().map(Row::reason).collect())),
    ];
    own.into_iter().chain(name_columns(rows)).collect()
}

/// The row of the file and the identifier of each input, where any has one.
fn name_columns(rows: &[Row]) -> impl Iterator<Item = Column> {
    let file_rows: Vec<Option<i64>> = rows.iter().map(|row| row.name.map(|name| name.row as i64)).collect();
    let ids: Vec<Option<String>> = rows.iter().map(|row| row.name.and_then(|name| name.id.clone())).collect();
    let any = [file_rows.iter().any(Option::is_some), ids.iter().any(Option::is_some)];
    let columns = [("file_row", Cells::Whole(file_rows)), ("id", Cells::Words(ids))];
    let columns = columns.into_iter().zip(any).filter(|(_, any)| *any);
    columns.map(|((name, cells), _)| Column { name: name.to_owned(), cells })
}

/// The names of classes, or values.
fn labels(rows: &[Row], schema: &Schema) -> Cells {
    let classes = schema.target.task.classes();
    let labels = rows.iter().map(|row| row.answer.as_ref().map(|answer| answer.label));
    let value = |label: Label| match label {
        Label::Class(class) => class as f64,
        Label::Value(value) => value.into(),
    };
    match schema.target.task.is_regression() {
        true => Cells::Numbers(labels.map(|label| label.map(value)).collect()),
        false => Cells::Words(labels.map(|label| label.map(|label| wording::label(label, classes))).collect()),
    }
}

/// The features in the data's own units, under names that none of `own` has.
fn feature_columns(rows: &[Row], schema: &Schema, own: &[Column]) -> Result<Vec<Column>> {
    let mut cells: Vec<Cells> = schema.features.iter().map(|feature| empty(&feature.kind)).collect();
    for row in rows {
        let Some(Answer { x, .. }) = &row.answer else {
            cells.iter_mut().for_each(Cells::push_empty);
            continue;
        };
        check_width(&format!("x of input {}", row.input), x, schema.width())?;
        for (cells, value) in cells.iter_mut().zip(schema.decode_row(x)) {
            match (cells, value) {
                (Cells::Numbers(numbers), Value::Number(number)) => numbers.push(Some(number)),
                (Cells::Numbers(numbers), Value::Missing) => numbers.push(None),
                (Cells::Words(words), value) => words.push(Some(value.to_string())),
                _ => unreachable!("a feature decodes to values of its own kind"),
            }
        }
    }
    let names = feature_names(schema, own);
    Ok(names.into_iter().zip(cells).map(|(name, cells)| Column { name, cells }).collect())
}

fn empty(kind: &Kind) -> Cells {
    if kind.is_written_in_words() { Cells::Words(Vec::new()) } else { Cells::Numbers(Vec::new()) }
}

fn feature_names(schema: &Schema, own: &[Column]) -> Vec<String> {
    let is_own = |name: &str| own.iter().any(|column| column.name == name);
    let is_feature = |name: &str| schema.features.iter().any(|feature| feature.name == name);
    let free = |name: &String| {
        let mut free = name.clone();
        while is_own(&free) || (free != *name && is_feature(&free)) {
            free = format!("feature_{free}");
        }
        free
    };
    schema.features.iter().map(|feature| free(&feature.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::Field;
    use cluekit::audit::fixture::{client, digits, house, table};
    use cluekit::data::{Image, Scaling, Task};
    use std::io::Write;

    /// Each row as its cells, with the names of their columns.
    fn read(bytes: Vec<u8>) -> Vec<Vec<(String, Field)>> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        rows.map(|row| row.unwrap().into_columns()).collect()
    }

    fn cell<'a>(row: &'a [(String, Field)], name: &str) -> &'a Field {
        &row.iter().find(|(column, _)| column == name).unwrap().1
    }

    fn word(text: &str) -> Field {
        Field::Str(text.into())
    }

    #[test]
    fn the_input_comes_first_and_its_clues_follow_in_the_units_of_the_data() {
        let rows = read(parquet(&[client()], &[], &table()).unwrap());
        assert_eq!(rows.len(), 3);
        for (name, expected) in [
            ("input", [Field::Long(17), Field::Long(17), Field::Long(17)]),
            ("clue", [Field::Null, Field::Int(0), Field::Int(1)]),
            ("label", ["no", "no", "yes"].map(word)),
            ("accepted", [Field::Null, Field::Bool(true), Field::Bool(false)]),
            ("reason", [Field::Null, Field::Null, word("uncertainty 0.450 is not below 0.2")]),
            ("cost", [Field::Null, Field::Double(1.25), Field::Double(1.25)]),
            ("total", [1.38f32, 0.02, 0.02].map(|total| Field::Double(total.into()))),
            ("LIMIT_BAL", [20_000.0, 50_000.0, 20_000.0].map(Field::Double)),
            ("PAY_0", [2.0, 0.0, 1.0].map(Field::Double)),
            ("ZIP", ["10115", "20095", "10115"].map(word)),
        ] {
            assert_eq!(
                [0, 1, 2].map(|row| cell(&rows[row], name)),
                [&expected[0], &expected[1], &expected[2]],
                "{name}"
            );
        }
    }

    #[test]
    fn rows_of_a_file_have_its_row_and_their_identifier() {
        let mut named = client();
        named.input.name = Some(RowName { row: 4021, id: Some("C-1042".into()) });
        let rows = read(parquet(&[named], &[], &table()).unwrap());
        assert_eq!((cell(&rows[2], "file_row"), cell(&rows[2], "id")), (&Field::Long(4021), &word("C-1042")));
    }

    #[test]
    fn a_row_that_was_left_out_stands_in_its_place_with_its_reason_and_nothing_else() {
        let left_out = |index| RejectedRow { index, name: None, reason: "column `ZIP`: `1` is unknown".into() };
        let rows = read(parquet(&[client()], &[left_out(3), left_out(20)], &table()).unwrap());
        assert_eq!(
            rows.iter().map(|row| cell(row, "input")).collect::<Vec<_>>(),
            [&Field::Long(3), &Field::Long(17), &Field::Long(17), &Field::Long(17), &Field::Long(20)]
        );
        for (name, expected) in [
            ("reason", word("column `ZIP`: `1` is unknown")),
            ("accepted", Field::Bool(false)),
            ("label", Field::Null),
            ("total", Field::Null),
            ("LIMIT_BAL", Field::Null),
            ("ZIP", Field::Null),
        ] {
            assert_eq!([0, 4].map(|row| cell(&rows[row], name)), [&expected, &expected], "{name}");
        }
    }

    #[test]
    fn a_regression_has_numbers_as_labels() {
        let scaling = Scaling { mean: 0.0, deviation: 1.0, decimals: None, least: 0.0, greatest: 1.0 };
        let mut schema = table();
        schema.target.task = Task::Regression(scaling);
        schema.features.truncate(1);
        let rows = read(parquet(&[house()], &[], &schema).unwrap());
        assert_eq!(*cell(&rows[1], "label"), Field::Double(20_500.5));
    }

    #[test]
    fn an_image_has_no_columns_for_its_pixels() {
        let image = Some(Image { channels: 1, height: 2, width: 2, maximum: 255.0 });
        let rows = read(parquet(&[digits(3)], &[], &Schema { image, features: vec![], ..table() }).unwrap());
        assert_eq!((rows.len(), rows[0].len()), (4, 14));
    }

    #[test]
    fn a_feature_gives_way_to_a_name_of_ours_and_not_to_another_feature() {
        let mut schema = table();
        for (feature, name) in schema.features.iter_mut().zip(["cost", "feature_cost", "other"]) {
            feature.name = name.into();
        }
        assert_eq!(
            feature_names(&schema, &own_columns(&[], &schema)),
            ["feature_feature_cost", "feature_cost", "other"]
        );
    }

    #[test]
    fn the_same_explanations_give_the_same_bytes_and_none_give_an_empty_table() {
        assert_eq!(parquet(&[client()], &[], &table()).unwrap(), parquet(&[client()], &[], &table()).unwrap());
        assert!(read(parquet(&[], &[], &table()).unwrap()).is_empty());
    }

    #[test]
    fn a_row_that_does_not_fit_the_schema_is_named() {
        let problem = parquet(&[house()], &[], &table()).unwrap_err().to_string();
        assert_eq!(problem, "x of input 17 has shape [1], expected [4]");
    }
}
