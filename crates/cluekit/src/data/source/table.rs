//! A user's own table: CSV or Parquet, with a column to predict.

pub(crate) mod answered;
mod describe;
mod encode;
mod identifiers;
mod problems;
mod weights;

use super::{FileRows, Request};
use crate::data::gaps;
use crate::data::infer::{Inferred, classes};
use crate::data::raw::{Commas, RawColumn, RawTable, ReadTable, file_name, plain_numbers, without_signs};
use crate::data::split::Split;
use crate::data::{Dataset, Feature, PartNames, Reading, RejectedRow, Samples, Schema, Source, Targets, Task};
use crate::error::{Error, Remedy, Result};
use encode::{encode_targets, encoded, strata, targets_of};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

pub use describe::{Described, describe};
pub(in crate::data) use encode::encode_inputs;

/// Reads the table at `path`; what its columns mean is inferred unless `schema` says it.
pub fn load(path: &Path, request: &Request, schema: Option<&Schema>) -> Result<Dataset> {
    let expected: Vec<&str> = schema.map(columns).unwrap_or_default();
    let ReadTable { table, source, notes: read } = RawTable::read(path, &request.reading, &expected)?;
    let (mut table, signs) = match schema {
        Some(schema) => (under(table, schema), vec![]),
        None => signless(table),
    };
    let decimal_comma = table.commas == Commas::Preferred;
    let target = target_name(&table, request, schema)?.to_owned();
    let asked = identifiers::asked(&mut table, request.rows.id.as_deref(), &target, schema)?;
    let weight = weights::asked(&mut table, request.rows.weight.as_deref(), &target, schema)?;
    let (split, left_out) = split(&table, &target, request, schema)?;
    let Inferred { schema, notes, .. } = match schema {
        Some(schema) => completed(&table, schema, &split.train)?,
        None => gaps::inferred(&mut table, &target, &split.train, &request.meaning)?,
    };
    let notes = read.into_iter().chain(signs).chain(left_out).chain(notes).collect();
    let id = asked.or_else(|| identifiers::recognised(&table, &schema));
    let mut dataset = Dataset { notes, ..assemble(&file_name(path), &table, schema, &split, source)? };
    dataset.train.weights = weight.map(|column| weights::of(&table, &column, &split.train)).transpose()?;
    let mut named = named(dataset, &table, id.as_ref(), &split);
    named.names.decimal_comma = decimal_comma;
    match &request.rows.test {
        Some(test) => with_test(named, Path::new(test), id.as_ref(), &request.reading),
        None => Ok(named),
    }
}

/// The dataset with the names of its rows.
fn named(dataset: Dataset, table: &RawTable, id: Option<&RawColumn>, split: &Split) -> Dataset {
    let all = identifiers::names(table, id);
    let (train, test) = (all.select(&split.train), all.select(&split.test));
    let id = id.map(|column| column.name.clone());
    Dataset { names: PartNames { id, train, test, ..dataset.names }, ..dataset }
}

/// The dataset with all rows of another file to test on whose target is known, under the schema of those to learn from.
fn with_test(dataset: Dataset, path: &Path, id: Option<&RawColumn>, reading: &Reading) -> Result<Dataset> {
    let schema = &dataset.schema;
    let ReadTable { table, source, notes: read } = RawTable::read(path, reading, &columns(schema))?;
    let table = under(table, schema);
    given(&table, schema)?;
    let all = |rows: &[usize]| Ok(Split { train: vec![], test: (0..rows.len()).collect() });
    let (Split { test: known, .. }, left_out) = gaps::split(&table, &schema.target.name, Some(schema), all)?;
    let test = Samples {
        x: encode_inputs(&table, schema)?,
        width: schema.width(),
        y: encode_targets(&table, schema)?,
        weights: None,
    };
    let id = id.and_then(|id| table.column(&id.name));
    let names = PartNames { test: identifiers::names(&table, id).select(&known), ..dataset.names };
    let sources = dataset.sources.into_iter().chain([source]).collect();
    let notes = dataset.notes.into_iter().chain(read).chain(left_out).collect();
    Ok(Dataset { test: test.select(&known), names, sources, notes, ..dataset })
}

/// A table as `schema` reads it: its numbers plain, its sentinels missing.
fn under(table: RawTable, schema: &Schema) -> RawTable {
    gaps::without_sentinels(plain_numbers(table, schema), schema)
}

/// A table in which numbers with a sign are numbers, with notes on them.
fn signless(mut table: RawTable) -> (RawTable, Vec<String>) {
    let notes = without_signs(&mut table);
    (table, notes)
}

/// Which rows of `table` are for training: with the same share of each class for testing, if that is asked for, or all that
/// have a target where the test rows come from another file; and a note on rows without a target.
fn split(
    table: &RawTable,
    target: &str,
    request: &Request,
    schema: Option<&Schema>,
) -> Result<(Split, Option<String>)> {
    let Request { test_share, seed, .. } = *request;
    let column = table.need(target)?;
    gaps::split(table, target, schema, |known| {
        if request.rows.test.is_some() {
            return Ok(Split { train: (0..known.len()).collect(), test: vec![] });
        }
        let classes = match schema {
            _ if !request.stratified => None,
            Some(schema) => Some(schema.target.task.classes().to_vec()).filter(|classes| !classes.is_empty()),
            None => classes(table, &gaps::filled_in(column, known), &request.meaning)?,
        };
        match classes {
            Some(classes) => {
                let labels = strata(column, &Task::Classification { classes });
                Split::stratified(&known.iter().map(|&row| labels[row]).collect::<Vec<_>>(), test_share, seed)
            }
            None => Split::new(known.len(), test_share, seed),
        }
    })
}

/// The rows of another file encoded under `schema`, row after row of [`Schema::width`] numbers; no target is needed.
pub fn read_rows(path: &Path, schema: &Schema, reading: &Reading) -> Result<Vec<f32>> {
    let ReadTable { table, .. } = RawTable::read(path, reading, &columns(schema))?;
    given(&table, schema)?;
    encode_inputs(&under(table, schema), schema)
}

/// A schema that was given, checked against `table` and with what it leaves open about missing cells.
fn completed(table: &RawTable, schema: &Schema, training: &[usize]) -> Result<Inferred> {
    let Inferred { schema, notes, reasons } = given(table, schema)?;
    let schema = gaps::completed(table, schema, training)?;
    Ok(Inferred { notes: gaps::note(table, &schema).into_iter().chain(notes).collect(), schema, reasons })
}

/// The rows of another file that can be encoded under `schema`, those that cannot with the reason of each, and the targets
/// where the file has them. Where `targets` are needed, a row without one has that as its reason, and one row at least must
/// be left.
pub fn read_file(path: &Path, schema: &Schema, id: Option<&str>, targets: bool, reading: &Reading) -> Result<FileRows> {
    let ReadTable { table, source, .. } = RawTable::read(path, reading, &columns(schema))?;
    let table = under(table, schema);
    given(&table, schema)?;
    let target = &schema.target.name;
    let column = if targets { Some(table.need(target)?) } else { table.column(target) };
    let without = |row: &usize| column.is_some_and(|column| !gaps::has_target(column, *row));
    let without: Vec<usize> = (0..table.rows()).filter(without).collect();
    let (x, mut problems) = encoded(&table, schema)?;
    let y = match column {
        Some(column) if targets => {
            without.iter().for_each(|&row| problems.add(row, target, "the target is missing; fill it in".into()));
            targets_of(column, &schema.target.task, &mut problems)
        }
        Some(_) if without.is_empty() => encode_targets(&table, schema).unwrap_or(Targets::Unknown(table.rows())),
        _ => Targets::Unknown(table.rows()),
    };
    let all = Samples { x, width: schema.width(), y, weights: None };
    let names = identifiers::names(&table, id.and_then(|id| table.column(id)));
    let positions: Vec<usize> = (0..table.rows()).filter(|&row| !problems.hold(row)).collect();
    if targets && positions.is_empty() {
        problems.none(&table)?;
    }
    let rejected = problems.of_rows().map(|(index, reason)| RejectedRow { index, name: names.get(index), reason });
    Ok(FileRows {
        name: file_name(path),
        rejected: rejected.collect(),
        samples: Arc::new(all.select(&positions)),
        names: names.select(&positions),
        positions,
        source,
    })
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
    let there = table.by_name();
    let known: BTreeSet<&str> =
        schema.features.iter().flat_map(Feature::sources).chain([&schema.target.name]).map(String::as_str).collect();
    for name in schema.features.iter().flat_map(Feature::sources) {
        there.get(name.as_str()).map_or_else(|| table.need(name).map(|_| ()), |_| Ok(()))?;
    }
    let unused = table.columns.iter().filter(|column| !known.contains(column.name.as_str()));
    let notes = unused.map(|column| format!("column `{}` is left out: it is not in the schema", column.name)).collect();
    Ok(Inferred { schema: schema.clone(), notes, reasons: vec![] })
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
    let all = Samples {
        x: encode_inputs(table, &schema)?,
        width: schema.width(),
        y: encode_targets(table, &schema)?,
        weights: None,
    };
    let (train, test) = (all.select(&split.train), all.select(&split.test));
    let names = identifiers::names(table, None);
    let names =
        PartNames { train: names.select(&split.train), test: names.select(&split.test), ..PartNames::default() };
    Ok(Dataset { name: name.to_owned(), schema, train, test, sources, notes: vec![], names })
}

/// The names of all columns that `schema` knows.
fn columns(schema: &Schema) -> Vec<&str> {
    schema.features.iter().flat_map(Feature::sources).chain([&schema.target.name]).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::sha256_hex;
    use crate::data::source::RowRequest;
    use crate::data::{Kind, Meaning, Value};
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
        let Dataset { name, schema, train, test, sources, notes: _, names } =
            load(&file.path, &request(Some("default")), None).unwrap();
        assert_eq!((name.as_str(), train.len(), test.len(), train.width), ("bank.csv", 15, 5, 5));
        assert_eq!(sources, [Source { file: "bank.csv".into(), sha256: sha256_hex(bank().as_bytes()) }]);
        assert!(names.id.is_none());
        for (part, names) in [(&train, &names.train), (&test, &names.test)] {
            for row in 0..part.len() {
                let values = schema.decode_row(part.row(row));
                let Value::Number(age) = values[0] else { panic!("age is a number") };
                let i = (age - 20.0) as usize;
                assert_eq!(names.get(row).unwrap().row, i as u64 + 2, "the header is line 1");
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
        let x = read_rows(&file("job,rate,age\nc,2.25,29\n").path, &schema, &Reading::default()).unwrap();
        let row = [Value::Number(29.0), Value::Category("c".into()), Value::Number(2.25)];
        assert_eq!(schema.decode_row(&x), row);
        assert_eq!(x, schema.encode_row(&row).unwrap());
    }

    #[test]
    fn a_column_that_identifies_names_the_rows_and_is_no_feature() {
        let lines = bank();
        let coded = |(at, line): (usize, &str)| match at {
            0 => format!("code,{line}\n"),
            at => format!("C-{},{line}\n", 100 - at),
        };
        let coded = file(&lines.lines().enumerate().map(coded).collect::<String>());
        let plain = load(&file(&lines).path, &request(Some("default")), None).unwrap();
        let asked = RowRequest { id: Some("code".into()), ..RowRequest::default() };
        let asked = Request { rows: asked, ..request(Some("default")) };
        for request in [request(Some("default")), asked] {
            let dataset = load(&coded.path, &request, None).unwrap();
            assert_eq!((dataset.names.id.as_deref(), &dataset.schema), (Some("code"), &plain.schema));
            assert_eq!(dataset.train, plain.train);
            let name = dataset.names.test.get(0).unwrap();
            assert_eq!(name.id, Some(format!("C-{}", 101 - name.row)));
            assert_eq!(dataset.names.test.with_id(&name.id.unwrap()), [0]);
            let again = load(&coded.path, &request, Some(&dataset.schema)).unwrap();
            assert_eq!(again.names.test.get(0), dataset.names.test.get(0));
        }
    }

    #[test]
    fn test_rows_of_another_file_are_read_under_the_schema_of_the_training_rows() {
        let place = tempfile::tempdir().unwrap();
        let test = place.path().join("test.csv");
        std::fs::write(&test, "default,age,job,rate\nyes,99,b,1.25\n").unwrap();
        let rows = RowRequest { test: Some(test.to_string_lossy().into()), ..RowRequest::default() };
        let request = Request { rows, ..request(Some("default")) };
        let training = file(&bank());
        let dataset = load(&training.path, &request, None).unwrap();
        assert_eq!((dataset.train.len(), dataset.test.len(), dataset.sources.len()), (20, 1, 2));
        assert_eq!(dataset.test.y, Targets::Classes(vec![1]));
        assert_eq!(dataset.schema.decode_row(dataset.test.row(0))[0], Value::Number(99.0));
        assert_eq!(dataset.names.test.get(0).unwrap().row, 2);
        let bad = "default,age,job,rate\nyes,99,d,1.25\nyes,98,b,1\nno,97,e,1\n";
        std::fs::write(&test, bad).unwrap();
        let message = load(&training.path, &request, None).unwrap_err().to_string();
        assert!(message.contains("test.csv: 2 rows cannot be used: line 2, column `job`: `d` is not"), "{message}");
        assert!(message.contains("line 4, column `job`: `e` is not"), "{message}");
    }

    #[test]
    fn a_bad_row_of_a_batch_is_set_aside_with_its_reason_and_the_others_go_on() {
        let schema = load(&file(&bank()).path, &request(Some("default")), None).unwrap().schema;
        let batch = "who,age,job,rate\nx,29,a,1\ny,30,d,1\nz,old,d,1\nw,31,c,2\n";
        let read = |targets| read_file(&file(batch).path, &schema, Some("who"), targets, &Reading::default());
        let rows = read(false).unwrap();
        assert_eq!((rows.positions, rows.samples.y.clone()), (vec![0, 3], Targets::Unknown(2)));
        assert_eq!(schema.decode_row(rows.samples.row(1))[0], Value::Number(31.0));
        assert_eq!(rows.names.get(1).unwrap().to_string(), "row 5, id w");
        let told: Vec<String> = rows.rejected.iter().map(ToString::to_string).collect();
        assert!(told[0].starts_with("Input 1 (row 3, id y): left out: column `job`: `d` is not one of"), "{told:?}");
        assert!(told[1].starts_with("Input 2 (row 4, id z): left out: column `age`: `old` is not"), "{told:?}");
        assert!(read(true).unwrap_err().to_string().contains("has no column `default`"));
    }

    #[test]
    fn where_targets_are_needed_a_row_without_one_is_set_aside_and_one_row_must_be_left() {
        let schema = load(&file(&bank()).path, &request(Some("default")), None).unwrap().schema;
        let read = |text: &str| read_file(&file(text).path, &schema, None, true, &Reading::default());
        let rows = read("age,job,rate,default\n29,a,1,yes\n30,b,1,\n31,c,1,maybe\n32,d,1,no\n33,a,1,no\n").unwrap();
        assert_eq!((rows.positions, rows.samples.y.clone()), (vec![0, 4], Targets::Classes(vec![1, 0])));
        let told: Vec<&str> = rows.rejected.iter().map(|row| row.reason.as_str()).collect();
        assert_eq!(told[0], "column `default`: the target is missing; fill it in");
        assert!(told[1].starts_with("column `default`: `maybe` is not one of"), "{told:?}");
        assert!(told[2].starts_with("column `job`: `d` is not one of"), "{told:?}");
        let message = read("age,job,rate,default\n29,d,1,yes\n30,b,1,\n").unwrap_err().to_string();
        assert!(message.contains("2 rows cannot be used: line 2, column `job`: `d` is not one of"), "{message}");
        let value = *schema.features[0].kind.scaling().unwrap();
        let schema = Schema {
            target: crate::data::Target { task: Task::Regression(value), ..schema.target.clone() },
            ..schema.clone()
        };
        let text = "age,job,rate,default\n29,a,1,5\n30,b,1,x\n31,c,1,1e60\n";
        let rows = read_file(&file(text).path, &schema, None, true, &Reading::default()).unwrap();
        assert_eq!((rows.positions, rows.samples.len()), (vec![0], 1));
        let told: Vec<&str> = rows.rejected.iter().map(|row| row.reason.as_str()).collect();
        let expected = [
            "column `default`: `x` is not a number; mend the cell",
            "column `default`: is too far from the training rows; mend the cell",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn targets_of_a_file_are_those_it_has() {
        let schema = load(&file(&bank()).path, &request(Some("default")), None).unwrap().schema;
        let targets = |text: &str| {
            read_file(&file(text).path, &schema, None, false, &Reading::default()).unwrap().samples.y.clone()
        };
        assert_eq!(targets("age,job,rate,default\n29,a,1,yes\n30,d,1,no\n"), Targets::Classes(vec![1]));
        assert_eq!(targets("age,job,rate,default\n29,a,1,yes\n30,b,1,perhaps\n"), Targets::Unknown(2));
    }

    #[test]
    fn whole_numbers_can_be_made_categories_by_a_schema() {
        let mut schema = load(&file(&bank()).path, &request(Some("default")), None).unwrap().schema;
        let categories = (20..40).map(|age| age.to_string()).collect();
        schema.features[0].kind = Kind::Categorical { categories };
        let dataset = load(&file(&bank()).path, &request(None), Some(&schema)).unwrap();
        assert_eq!(dataset.train.width, 24);
    }

    /// 60 rows with an identifier, an order, a date, a category in columns of its own, and a rare class.
    fn members() -> String {
        let row = |i: usize| {
            let (level, day) = (["low", "medium", "high"][i * 7 % 3], 1 + i % 28);
            let (a, class) = (u8::from(i.is_multiple_of(2)), if i % 10 == 3 { "rare" } else { "usual" });
            format!("{i},{level},{day:02}/03/2021,{a},{},{class}\n", 1 - a)
        };
        "id,level,joined,club_a,club_b,class\n".to_owned() + &(0..60).map(row).collect::<String>()
    }

    #[test]
    fn orders_dates_and_joined_columns_are_read_back_from_another_file_as_they_were() {
        let Dataset { schema, .. } = load(&file(&members()).path, &request(Some("class")), None).unwrap();
        let kinds: Vec<&str> = schema.features.iter().map(|feature| feature.kind.name()).collect();
        assert_eq!(kinds, ["ordinal", "date", "one-hot"]);
        let x =
            read_rows(&file("club_b,club_a,joined,level\n0,1,28/03/2021,high\n").path, &schema, &Reading::default())
                .unwrap();
        let row = ["high", "28/03/2021", "club_a"].map(|text| Value::Category(text.into()));
        assert_eq!(schema.decode_row(&x), row);
        assert_eq!(schema.encode_row(&row).unwrap(), x);
        let problem = |row: &str| {
            let text = format!("club_b,club_a,joined,level\n{row}\n");
            read_rows(&file(&text).path, &schema, &Reading::default()).unwrap_err().to_string()
        };
        assert!(problem("1,1,28/03/2021,high").contains("2 of the columns of `club` hold"));
        assert!(problem("2,1,28/03/2021,high").contains("column `club_b`: `2` is neither 0 nor 1"));
        assert!(problem("0,1,2021-03-28,high").contains("not a date written as dd/mm/yyyy"));
        assert!(problem("0,1,28/03/2021,huge").contains("`huge` is not one of the words low, medium, high"));
        let missing = read_rows(&file("club_a,joined,level\n1,28/03/2021,high\n").path, &schema, &Reading::default())
            .unwrap_err();
        assert!(missing.to_string().contains("has no column `club_b`"), "{missing}");
    }

    #[test]
    fn a_stratified_request_tests_on_the_share_of_each_class_and_others_as_before() {
        let stratified = Request { stratified: true, ..request(Some("class")) };
        let table = file(&members());
        let dataset = load(&table.path, &stratified, None).unwrap();
        let Targets::Classes(labels) = &dataset.test.y else { panic!("classes") };
        // A quarter of 6 and of 54: 1.5 and 13.5, 15 in all.
        let rare = labels.iter().filter(|&&label| label == 0).count();
        assert!(labels.len() == 15 && (1..=2).contains(&rare), "{rare} of {}", labels.len());
        let again = load(&table.path, &stratified, Some(&dataset.schema)).unwrap();
        assert_eq!((again.train, again.test), (dataset.train, dataset.test));
        let before = load(&table.path, &request(Some("class")), None).unwrap();
        let rows = Split::new(60, 0.25, Seed(3)).unwrap();
        let rare = |rows: &[usize]| rows.iter().filter(|&&row| row % 10 == 3).count();
        let Targets::Classes(labels) = &before.test.y else { panic!("classes") };
        assert_eq!(labels.iter().filter(|&&label| label == 0).count(), rare(&rows.test));
    }

    #[test]
    fn requests_from_before_are_read_and_written_as_they_were() {
        let text = "name = \"bank.csv\"\ntarget = \"default\"\ntest_share = 0.25\nseed = 3\n";
        let read: Request = toml::from_str(text).unwrap();
        assert_eq!(read, request(Some("default")));
        assert_eq!(toml::to_string(&read).unwrap(), text);
        let meaning = Meaning { drop: vec!["a".into()], ..Meaning::default() };
        let said = Request { stratified: true, meaning, ..read };
        assert_eq!(toml::from_str::<Request>(&toml::to_string(&said).unwrap()).unwrap(), said);
    }

    #[test]
    fn a_class_with_a_full_stop_is_the_class() {
        let Dataset { schema, .. } = load(&file(&members()).path, &request(Some("class")), None).unwrap();
        let again =
            load(&file(&members().replace(",usual\n", ",usual.\n")).path, &request(None), Some(&schema)).unwrap();
        assert_eq!(again.schema, schema);
        let more = problem(&members().replace("rare", "new"), None, Some(&schema));
        assert!(
            more.contains("6 rows cannot be used: line 5, column `class`: `new` is not one of the classes")
                && more.contains("line 15,")
                && more.contains("line 25,"),
            "{more}"
        );
    }

    #[test]
    fn a_table_is_described_as_it_would_be_loaded() {
        let table = file(&members());
        let request = Request { name: table.path.to_string_lossy().into_owned(), ..request(None) };
        let described = describe(&request).unwrap();
        let loaded = load(&table.path, &Request { target: Some("class".into()), ..request }, None).unwrap();
        assert_eq!(described.schema, loaded.schema);
        assert!(described.notes[0].starts_with("the last column, `class`, is taken as the target"));
        let text = described.to_toml().unwrap();
        assert_eq!(Schema::from_toml(&text, Path::new("schema.toml")).unwrap(), loaded.schema);
        assert_eq!(text.matches("\n# ").count(), 3);
    }

    #[test]
    fn a_table_of_thousands_of_columns_is_read() {
        let names: Vec<String> = (0..5000).map(|i| format!("a column with a long name, number {i}")).collect();
        let row = |i: usize| (0..5000).map(|c| (i * (c + 3) % 17).to_string()).collect::<Vec<_>>().join(",");
        let header: String = names.iter().map(|name| format!("\"{name}\",")).collect();
        let text = header + "y\n" + &(0..20).map(|i| format!("{},{}\n", row(i), i % 2)).collect::<String>();
        let dataset = load(&file(&text).path, &request(Some("y")), None).unwrap();
        assert!(dataset.train.width > 2000, "{}", dataset.train.width);
    }
}
