//! A user's own table: CSV or Parquet, with a column to predict.

use super::Request;
use crate::data::gaps;
use crate::data::infer::Inferred;
use crate::data::raw::{RawTable, ReadTable, file_name};
use crate::data::split::Split;
use crate::data::{Dataset, Samples, Schema, Source, Targets, Task};
use crate::error::{Error, Remedy, Result};
use std::path::Path;

/// Reads the table at `path`; what its columns mean is inferred unless `schema` says it.
pub fn load(path: &Path, request: &Request, schema: Option<&Schema>) -> Result<Dataset> {
    let ReadTable { table, source } = RawTable::read(path)?;
    let mut table = match schema {
        Some(schema) => gaps::without_sentinels(table, schema),
        None => table,
    };
    let target = target_name(&table, request, schema)?;
    let new_split = |rows| Split::new(rows, request.test_share, request.seed);
    let (split, left_out) = gaps::split(&table, target, schema, new_split)?;
    let Inferred { schema, notes } = match schema {
        Some(schema) => completed(&table, schema, &split.train)?,
        None => gaps::inferred(&mut table, target, &split.train)?,
    };
    let notes = left_out.into_iter().chain(notes).collect();
    Ok(Dataset { notes, ..assemble(&file_name(path), &table, schema, &split, source)? })
}

/// The rows of another file encoded under `schema`, row after row of [`Schema::width`] numbers; no target is needed.
pub fn read_rows(path: &Path, schema: &Schema) -> Result<Vec<f32>> {
    let ReadTable { table, .. } = RawTable::read(path)?;
    given(&table, schema)?;
    encode_inputs(&gaps::without_sentinels(table, schema), schema)
}

/// A schema that was given, checked against `table` and with what it leaves open about missing cells.
fn completed(table: &RawTable, schema: &Schema, training: &[usize]) -> Result<Inferred> {
    let Inferred { schema, notes } = given(table, schema)?;
    let schema = gaps::completed(table, schema, training)?;
    Ok(Inferred { notes: gaps::note(table, &schema).into_iter().chain(notes).collect(), schema })
}

/// The column to predict: what was asked for, else what the schema says.
fn target_name<'a>(table: &RawTable, request: &'a Request, schema: Option<&'a Schema>) -> Result<&'a str> {
    let described = schema.map(|schema| schema.target.name.as_str());
    match (request.target.as_deref(), described) {
        (Some(asked), Some(described)) if asked != described => Err(Error::setting(
            "target",
            format!("`{asked}` was asked for, but the schema predicts `{described}`; change one of them"),
        )),
        (Some(name), _) | (None, Some(name)) => table.need(name).map(|_| name),
        (None, None) => {
            let problem = Error::file(&table.path, "the column to predict is not named");
            Err(problem.remedy(Remedy::give("target", format!("one of {}", table.column_names()))))
        }
    }
}

/// Checks that `table` has the columns of a `schema` that was given, and notes those that it does not use.
fn given(table: &RawTable, schema: &Schema) -> Result<Inferred> {
    schema.validate()?;
    if schema.image.is_some() {
        return Err(Error::file(
            &table.path,
            "is a table, but the schema describes an image; give a schema with features",
        ));
    }
    for feature in &schema.features {
        table.need(&feature.name)?;
    }
    let known = |name: &str| name == schema.target.name || schema.features.iter().any(|f| f.name == name);
    let unused = table.columns.iter().filter(|column| !known(&column.name));
    let notes = unused.map(|column| format!("column `{}` is left out: it is not in the schema", column.name)).collect();
    Ok(Inferred { schema: schema.clone(), notes })
}

/// Encodes `table` under `schema` and parts its rows.
pub(super) fn assemble(name: &str, table: &RawTable, schema: Schema, split: &Split, source: Source) -> Result<Dataset> {
    assembled(name, table, schema, split, vec![source])
}

/// The same for a table that came from these files, or from none.
pub(in crate::data) fn assembled(
    name: &str,
    table: &RawTable,
    schema: Schema,
    split: &Split,
    sources: Vec<Source>,
) -> Result<Dataset> {
    schema.validate().map_err(|error| Error::file(&table.path, error.to_string()))?;
    let all = Samples { x: encode_inputs(table, &schema)?, width: schema.width(), y: encode_targets(table, &schema)? };
    let (train, test) = (all.select(&split.train), all.select(&split.test));
    Ok(Dataset { name: name.to_owned(), schema, train, test, sources, notes: vec![] })
}

/// The inputs of all rows.
pub(in crate::data) fn encode_inputs(table: &RawTable, schema: &Schema) -> Result<Vec<f32>> {
    gaps::refuse(table, schema)?;
    let width = schema.width();
    let mut x = vec![0.0; table.rows() * width];
    for (feature, place) in schema.features.iter().zip(schema.columns()) {
        let column = table.need(&feature.name)?;
        for (row, encoded) in x.chunks_exact_mut(width).enumerate() {
            feature
                .encode(column.cell(row), &mut encoded[place.range()])
                .map_err(|problem| table.cell_error(row, &feature.name, problem))?;
        }
    }
    Ok(x)
}

/// The targets of all rows; of a row without one, which no split has, anything.
fn encode_targets(table: &RawTable, schema: &Schema) -> Result<Targets> {
    let column = table.need(&schema.target.name)?;
    let rows = 0..table.rows();
    match &schema.target.task {
        task @ Task::Classification { .. } => {
            let label = |row| match task.label(column.cell(row)) {
                Err(_) if !gaps::has_target(column, row) => Ok(0),
                label => label.map_err(|problem| table.cell_error(row, &column.name, problem)),
            };
            Ok(Targets::Classes(rows.map(label).collect::<Result<_>>()?))
        }
        Task::Regression(scaling) => {
            let values: Vec<f32> = table.numbers(column)?.iter().map(|&value| scaling.encode(value)).collect();
            let known = |row: &usize| gaps::has_target(column, *row);
            match (0..table.rows()).filter(known).find(|&row| !values[row].is_finite()) {
                Some(row) => {
                    Err(table.cell_error(row, &column.name, "is too far from the training rows; mend the cell"))
                }
                None => Ok(Targets::Values(values)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::sha256_hex;
    use crate::data::{Kind, Value};
    use crate::seed::Seed;
    use std::path::PathBuf;
    use tempfile::TempDir;

    struct File {
        path: PathBuf,
        _folder: TempDir,
    }

    fn file(text: &str) -> File {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank.csv");
        std::fs::write(&path, text).unwrap();
        File { path, _folder: folder }
    }

    fn request(target: Option<&str>) -> Request {
        Request { target: target.map(Into::into), test_share: 0.25, seed: Seed(3), ..Request::new("bank.csv") }
    }

    fn bank() -> String {
        let row =
            |i: usize| format!("{},{},{},{}\n", 20 + i, ["a", "b", "c"][i % 3], i as f64 / 4.0, ["no", "yes"][i % 2]);
        "age,job,rate,default\n".to_owned() + &(0..20).map(row).collect::<String>()
    }

    fn problem(text: &str, target: Option<&str>, schema: Option<&Schema>) -> String {
        load(&file(text).path, &request(target), schema).unwrap_err().to_string()
    }

    #[test]
    fn a_table_is_split_encoded_and_decoded_to_itself() {
        let file = file(&bank());
        let Dataset { name, schema, train, test, sources, notes: _ } =
            load(&file.path, &request(Some("default")), None).unwrap();
        assert_eq!((name.as_str(), train.len(), test.len(), train.width), ("bank.csv", 15, 5, 5));
        assert_eq!(sources, [Source { file: "bank.csv".into(), sha256: sha256_hex(bank().as_bytes()) }]);
        for part in [&train, &test] {
            for row in 0..part.len() {
                let values = schema.decode_row(part.row(row));
                let Value::Number(age) = values[0] else { panic!("age is a number") };
                let i = (age - 20.0) as usize;
                assert_eq!(values[1], Value::Category(["a", "b", "c"][i % 3].into()));
                assert_eq!(values[2], Value::Number(i as f64 / 4.0));
                assert_eq!(part.y.select(&[row]), Targets::Classes(vec![(i % 2) as u32]));
            }
        }
        let again = load(&file.path, &request(Some("default")), None).unwrap();
        assert_eq!(again.train, train);
    }

    #[test]
    fn training_columns_have_mean_zero_and_deviation_one() {
        let train = load(&file(&bank()).path, &request(Some("default")), None).unwrap().train;
        let ages: Vec<f64> = (0..train.len()).map(|row| f64::from(train.row(row)[0])).collect();
        let mean = ages.iter().sum::<f64>() / 15.0;
        let variance = ages.iter().map(|age| (age - mean).powi(2)).sum::<f64>() / 15.0;
        assert!(mean.abs() < 1e-6 && (variance - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_number_is_predicted_as_a_scaled_value() {
        let Dataset { schema, train, .. } = load(&file(&bank()).path, &request(Some("rate")), None).unwrap();
        let (Task::Regression(scaling), Targets::Values(values)) = (schema.target.task, train.y) else {
            panic!("rate is a number");
        };
        assert!(values.iter().all(|&v| (scaling.decode(v) * 4.0).fract() == 0.0));
    }

    #[test]
    fn a_target_that_is_missing_or_unknown_is_explained_with_the_columns() {
        let message = problem(&bank(), None, None);
        assert!(message.ends_with("give `target` with one of age, job, rate, default"), "{message}");
        let message = problem(&bank(), Some("Defualt"), None);
        assert!(message.contains("bank.csv: has no column `Defualt`; did you mean `default`?"), "{message}");
    }

    #[test]
    fn a_given_schema_is_kept_and_checked_against_the_table() {
        let mut schema = load(&file(&bank()).path, &request(Some("default")), None).unwrap().schema;
        schema.features.remove(2);
        schema.features[0].unit = Some("years".into());
        let loaded = load(&file(&bank()).path, &request(None), Some(&schema)).unwrap();
        assert_eq!(loaded.schema, schema);
        assert_eq!(loaded.notes, ["column `rate` is left out: it is not in the schema"]);

        let message = problem(&bank().replace("31,", "old,"), None, Some(&schema));
        assert!(message.contains("line 13: column `age`: `old` is not a finite number"), "{message}");
        let message = problem(&bank().replace("24,b", "24,d"), None, Some(&schema));
        assert!(message.contains("line 6: column `job`: `d` is not one of the categories a, b, c"), "{message}");
        let message = problem(&bank().replace("1,no", "1,perhaps"), None, Some(&schema));
        assert!(message.contains("column `default`: `perhaps` is not one of the classes no, yes"), "{message}");
        assert!(problem(&bank(), Some("job"), Some(&schema)).contains("the schema predicts `default`"));
        schema.features[0].name = "years".into();
        assert!(problem(&bank(), None, Some(&schema)).contains("has no column `years`"));
    }

    #[test]
    fn rows_of_another_file_need_no_target_and_no_order_of_columns() {
        let Dataset { schema, .. } = load(&file(&bank()).path, &request(Some("default")), None).unwrap();
        let x = read_rows(&file("job,rate,age\nc,2.25,29\n").path, &schema).unwrap();
        let row = [Value::Number(29.0), Value::Category("c".into()), Value::Number(2.25)];
        assert_eq!(schema.decode_row(&x), row);
        assert_eq!(x, schema.encode_row(&row).unwrap());
    }

    #[test]
    fn whole_numbers_can_be_made_categories_by_a_schema() {
        let mut schema = load(&file(&bank()).path, &request(Some("default")), None).unwrap().schema;
        let categories = (20..40).map(|age| age.to_string()).collect();
        schema.features[0].kind = Kind::Categorical { categories };
        let dataset = load(&file(&bank()).path, &request(None), Some(&schema)).unwrap();
        assert_eq!(dataset.train.width, 24);
    }
}
