//! UCI "default of credit card clients": 30 000 clients in Taiwan, 23 features, whether the next payment defaults.
//!
//! Copies in circulation differ in line ends, in how numbers are written, in the identifier being there, and in the
//! names: the workbook of UCI has two header rows (X1 … X23, Y above the names). All give the same dataset here.
//! I-Cheng Yeh, <https://doi.org/10.24432/C55S3H>, CC BY 4.0.

use super::table::assemble;
use crate::data::content::Content;
use crate::data::dataset::sha256_hex;
use crate::data::infer::{scaling_of, texts};
#[cfg(feature = "excel")]
use crate::data::raw::sheet;
use crate::data::raw::{RawColumn, RawTable, file_name, text};
use crate::data::split::Split;
use crate::data::{Constraints, Dataset, Feature, Kind, Reading, Schema, Source, Target, Task};
use crate::error::{Error, Remedy, Result};
use crate::seed::Seed;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// The files that are looked for, in this order.
const FILES: [&str; 4] = [
    "UCI_Credit_Card.csv.gz",
    "UCI_Credit_Card.csv",
    "default of credit card clients.xls",
    "default+of+credit+card+clients.zip",
];
const TARGET: &str = "default payment next month";
const TARGET_MEANING: &str = "0 the client pays, 1 does not";
/// Other names of the target, in lower case and without marks.
const TARGET_NAMES: [&str; 4] = ["defaultpaymentnextmonth", "y", "class", "default"];
/// 3000 of the 30 000 rows.
const TEST_SHARE: f64 = 0.1;
/// The workbook has 5.5 million bytes; whatever claims to be ten times that is something else.
const LONGEST_MEMBER: u64 = 64 << 20;

/// What a column holds.
#[derive(Clone, Copy)]
enum Role {
    Amount,
    Category,
    Age,
    Delay,
}

/// The 23 features in the order of X1 … X23, with what they stand for; months are of 2005.
const FEATURES: [(&str, Role, &str); 23] = [
    ("LIMIT_BAL", Role::Amount, "credit that was granted"),
    ("SEX", Role::Category, "1 male, 2 female"),
    ("EDUCATION", Role::Category, "1 graduate school, 2 university, 3 high school, 4 others"),
    ("MARRIAGE", Role::Category, "1 married, 2 single, 3 others"),
    ("AGE", Role::Age, "age of the client"),
    ("PAY_0", Role::Delay, "months behind with payments in September (0 or less: not behind)"),
    ("PAY_2", Role::Delay, "months behind with payments in August (0 or less: not behind)"),
    ("PAY_3", Role::Delay, "months behind with payments in July (0 or less: not behind)"),
    ("PAY_4", Role::Delay, "months behind with payments in June (0 or less: not behind)"),
    ("PAY_5", Role::Delay, "months behind with payments in May (0 or less: not behind)"),
    ("PAY_6", Role::Delay, "months behind with payments in April (0 or less: not behind)"),
    ("BILL_AMT1", Role::Amount, "bill of September"),
    ("BILL_AMT2", Role::Amount, "bill of August"),
    ("BILL_AMT3", Role::Amount, "bill of July"),
    ("BILL_AMT4", Role::Amount, "bill of June"),
    ("BILL_AMT5", Role::Amount, "bill of May"),
    ("BILL_AMT6", Role::Amount, "bill of April"),
    ("PAY_AMT1", Role::Amount, "paid in September"),
    ("PAY_AMT2", Role::Amount, "paid in August"),
    ("PAY_AMT3", Role::Amount, "paid in July"),
    ("PAY_AMT4", Role::Amount, "paid in June"),
    ("PAY_AMT5", Role::Amount, "paid in May"),
    ("PAY_AMT6", Role::Amount, "paid in April"),
];

/// Reads the dataset from `directory`, or from a file if `directory` is one, and splits it by `seed`.
pub fn load(directory: &Path, seed: Seed) -> Result<Dataset> {
    let path = find(directory)?;
    let stored = std::fs::read(&path).map_err(Error::reading(&path))?;
    let source = Source { file: file_name(&path), sha256: sha256_hex(&stored) };
    let table = canonical(read_table(&path, stored)?)?;
    let split = Split::new(table.rows(), TEST_SHARE, seed)?;
    let schema = schema(&table, &split.train)?;
    assemble("credit", &table, schema, &split, source)
}

fn find(directory: &Path) -> Result<PathBuf> {
    if directory.is_file() {
        return Ok(directory.to_owned());
    }
    FILES.iter().map(|file| directory.join(file)).find(|path| path.is_file()).ok_or_else(|| {
        let elsewhere = Remedy::data_folder(format!("one of {}", FILES.join(", ")));
        let problem = Error::missing(directory, "the credit dataset is not here");
        problem.remedy(Remedy::fetch("credit")).remedy(elsewhere)
    })
}

fn read_table(path: &Path, stored: Vec<u8>) -> Result<RawTable> {
    match Content::of(&stored) {
        Content::Zip | Content::DamagedZip => read_text_or_sheet(path, unpack(path, &stored)?),
        Content::Parquet => Ok(RawTable::read(path, &Reading::default(), &[])?.table),
        _ => read_text_or_sheet(path, stored),
    }
}

fn read_text_or_sheet(path: &Path, bytes: Vec<u8>) -> Result<RawTable> {
    #[cfg(feature = "excel")]
    if Content::of(&bytes) == Content::Workbook {
        let rows = sheet::rows(path, &bytes)?;
        return sheet::table(path, &rows, header_row(rows.get(1).map(|row| row.join(","))));
    }
    #[cfg(not(feature = "excel"))]
    if Content::of(&bytes) == Content::Workbook {
        let problem =
            "is an Excel workbook, and this build reads none; switch on the feature `excel`, or save it as CSV";
        return Err(Error::file(path, problem));
    }
    let text = text::decode(path, bytes)?;
    text::parse(path, &text, header_row(text.lines().filter(|line| !line.is_empty()).nth(1).map(str::to_owned)))
}

/// The names stand in the second row where the first only has X1 … X23.
fn header_row(second: Option<String>) -> usize {
    usize::from(second.is_some_and(|row| row.to_uppercase().contains("LIMIT_BAL")))
}

/// The first workbook or CSV in a `.zip`.
fn unpack(path: &Path, stored: &[u8]) -> Result<Vec<u8>> {
    let damaged = |error: &dyn std::fmt::Display| {
        Error::file(path, format!("cannot be unpacked ({error})")).remedy(Remedy::fetch("credit"))
    };
    let mut archive = ZipArchive::new(Cursor::new(stored)).map_err(|error| damaged(&error))?;
    for index in 0..archive.len() {
        let member = archive.by_index(index).map_err(|error| damaged(&error))?;
        let name = member.name().map_err(|error| damaged(&error))?.to_lowercase();
        if name.ends_with(".xls") || name.ends_with(".csv") {
            let mut bytes = Vec::new();
            member.take(LONGEST_MEMBER + 1).read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
            if bytes.len() as u64 > LONGEST_MEMBER {
                return Err(damaged(&format!("{name} has more than {LONGEST_MEMBER} bytes")));
            }
            return Ok(bytes);
        }
    }
    Err(Error::file(path, "has no .xls or .csv inside").remedy(Remedy::fetch("credit")))
}

/// The 23 features and the target, under the names and in the order of the original.
fn canonical(table: RawTable) -> Result<RawTable> {
    let plain = |name: &str| name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let take = |name: &str, aliases: &[String]| {
        let column = table.columns.iter().find(|column| aliases.contains(&plain(&column.name)));
        let column = column.ok_or_else(|| {
            let problem = format!("has no column `{name}` (columns: {})", table.column_names());
            Error::file(&table.path, problem).remedy(Remedy::fetch("credit"))
        })?;
        Ok(RawColumn { name: name.to_owned(), cells: column.cells.clone() })
    };
    let mut columns = Vec::with_capacity(FEATURES.len() + 1);
    for (index, (name, ..)) in FEATURES.iter().enumerate() {
        let mut aliases = vec![plain(name), format!("x{}", index + 1)];
        if *name == "PAY_0" {
            aliases.push("pay1".to_owned()); // many copies mend the gap in the numbering
        }
        columns.push(take(name, &aliases)?);
    }
    columns.push(take(TARGET, &TARGET_NAMES.map(str::to_owned))?);
    Ok(RawTable { columns, ..table })
}

fn schema(table: &RawTable, training: &[usize]) -> Result<Schema> {
    let meant = |(name, role, meaning): &(&str, Role, &str)| {
        let feature = feature(table, name, *role, training)?;
        Ok(Feature { meaning: Some((*meaning).to_owned()), ..feature })
    };
    let features = FEATURES.iter().map(meant).collect::<Result<_>>()?;
    let classes = texts(table.need(TARGET)?);
    if classes.len() != 2 {
        let found = crate::data::encoding::listed(&classes);
        return Err(Error::file(&table.path, format!("target `{TARGET}` must have two classes, found {found}")));
    }
    let meaning = Some(TARGET_MEANING.to_owned());
    let target = Target { name: TARGET.to_owned(), task: Task::Classification { classes }, unit: None, meaning };
    Ok(Schema { target, image: None, features, constraints: Constraints::default() })
}

fn feature(table: &RawTable, name: &str, role: Role, training: &[usize]) -> Result<Feature> {
    let column = table.need(name)?;
    table.numbers(column)?;
    let scaling = || scaling_of(table, column, training);
    let (kind, unit) = match role {
        Role::Category => (Kind::Categorical { categories: texts(column) }, None),
        Role::Delay => (Kind::Ordinal(scaling()?), Some("months")),
        Role::Age => (Kind::Continuous(scaling()?), Some("years")),
        Role::Amount => (Kind::Continuous(scaling()?), Some("NT$")),
    };
    Ok(Feature { name: name.to_owned(), kind, unit: unit.map(str::to_owned), meaning: None, missing: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Samples, Targets, Value};
    use crate::testing::real_data;
    use std::io::Write;

    const NAMES: &str = "ID,LIMIT_BAL,SEX,EDUCATION,MARRIAGE,AGE,PAY_0,PAY_2,PAY_3,PAY_4,PAY_5,PAY_6,BILL_AMT1,\
        BILL_AMT2,BILL_AMT3,BILL_AMT4,BILL_AMT5,BILL_AMT6,PAY_AMT1,PAY_AMT2,PAY_AMT3,PAY_AMT4,PAY_AMT5,PAY_AMT6,\
        default.payment.next.month";

    /// Twenty clients in the shape of the real file.
    fn small() -> String {
        let row = |i: usize| {
            let amounts: Vec<String> = (0..12).map(|j| (i * 500 + j).to_string()).collect();
            let (sex, education, marriage) = (1 + i % 2, i % 7, i % 4);
            let limit = 10_000 * (i + 1);
            let amounts = amounts.join(",");
            format!("{i},{limit},{sex},{education},{marriage},{},2,0,0,-1,-2,0,{amounts},{}\n", 20 + i, i % 2)
        };
        format!("{NAMES}\n{}", (0..20).map(row).collect::<String>())
    }

    fn load_bytes(name: &str, bytes: &[u8]) -> Result<Dataset> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), bytes).unwrap();
        load(folder.path(), Seed(0))
    }

    fn load_text(text: &str) -> Result<Dataset> {
        load_bytes("UCI_Credit_Card.csv", text.as_bytes())
    }

    fn zipped(name: &str, bytes: &[u8]) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
        archive.finish().unwrap().into_inner()
    }

    fn without_first_cell(text: &str) -> String {
        text.lines().map(|line| line.split_once(',').unwrap().1.to_owned() + "\n").collect()
    }

    fn fixture() -> Vec<u8> {
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/credit_tiny.xls")).unwrap()
    }

    #[test]
    fn all_copies_in_circulation_give_the_same_dataset() {
        let plain = load_text(&small()).unwrap();
        assert_eq!((plain.train.len(), plain.test.len(), plain.train.width), (18, 2, 20 + 2 + 7 + 4));
        let numbered = (1..=23).map(|i| format!("X{i}")).collect::<Vec<_>>().join(",");
        let rename = |name: &str| small().replace("default.payment.next.month", name);
        let variants = [
            small().replace('\n', "\r"),
            small().replace('\n', "\r\n"),
            small().replace(",100000,", ",1.00E+05,").replace(",20000,", ",20000.0,"),
            without_first_cell(&small()),
            rename("default payment next month"),
            rename("y"),
            rename("class"),
            rename("Y"),
            small().replace("PAY_0", "PAY_1"),
            format!(",{numbered},Y\n{}", small()),
            small().replace(NAMES, &format!("ID,{numbered},Y")),
        ];
        for text in variants {
            let other = load_text(&text).unwrap();
            assert_eq!(other.schema, plain.schema, "{text}");
            assert_eq!((&other.train, &other.test), (&plain.train, &plain.test), "{text}");
        }
    }

    #[test]
    fn the_workbook_with_two_header_rows_is_read_alone_and_in_a_zip() {
        let book = load_bytes(FILES[2], &fixture()).unwrap();
        assert_eq!((book.train.len(), book.test.len()), (18, 2));
        assert_eq!(book.schema.features.len(), 23);
        assert_eq!(book.schema.features[2].kind.categories(), ["1", "2", "3"]);
        let zip = zipped("default of credit card clients.xls", &fixture());
        let packed = load_bytes(FILES[3], &zip).unwrap();
        assert_eq!((&packed.train, &packed.schema), (&book.train, &book.schema));
        assert_eq!(packed.sources, [Source { file: FILES[3].into(), sha256: sha256_hex(&zip) }]);
    }

    #[test]
    fn a_damaged_workbook_or_archive_ends_in_an_error() {
        let whole = fixture();
        for length in (0..whole.len()).step_by(997) {
            assert!(load_bytes(FILES[2], &whole[..length]).is_err(), "{length} bytes");
        }
        let archive = zipped("data.xls", &whole);
        assert!(load_bytes(FILES[3], &archive[..archive.len() / 2]).is_err());
        let message = load_bytes(FILES[3], &zipped("readme.txt", b"hello")).unwrap_err().to_string();
        assert!(message.contains("no .xls or .csv inside"), "{message}");
    }

    #[test]
    fn an_absent_dataset_is_explained() {
        let folder = tempfile::tempdir().unwrap();
        let message = load(folder.path(), Seed(0)).unwrap_err().to_string();
        assert!(
            message.contains("fetch the dataset `credit`") && message.contains("or name a data folder"),
            "{message}"
        );
    }

    #[test]
    fn a_missing_column_a_word_and_one_class_are_named() {
        let problem = |text: String| load_text(&text).unwrap_err().to_string();
        assert!(problem(small().replace("MARRIAGE", "STATUS")).contains("has no column `MARRIAGE`"));
        let message = problem(small().replace("3,40000,", "3,much,"));
        assert!(message.contains("line 5: column `LIMIT_BAL`: `much` is not a number"), "{message}");
        let lines = small().lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect::<Vec<_>>();
        let one_class = lines.join(",0\n").replacen("PAY_AMT6,0", "PAY_AMT6,y", 1) + ",0\n";
        assert!(problem(one_class).contains("must have two classes, found 0"));
    }

    #[test]
    fn every_row_of_the_real_data_survives_encoding() {
        let Some(data) = real_data(&["uci_default_credit"]) else { return };
        let folder = data.join("uci_default_credit");
        let dataset = load(&folder, Seed(0)).unwrap();
        assert_eq!((dataset.train.len(), dataset.test.len(), dataset.train.width), (27_000, 3_000, 33));
        let path = find(&folder).unwrap();
        let table = canonical(read_table(&path, std::fs::read(&path).unwrap()).unwrap()).unwrap();
        let split = Split::new(30_000, TEST_SHARE, Seed(0)).unwrap();
        let defaults = |samples: &Samples| match &samples.y {
            Targets::Classes(labels) => labels.iter().sum::<u32>(),
            _ => panic!("credit has classes"),
        };
        assert_eq!(defaults(&dataset.train) + defaults(&dataset.test), 6_636);
        for (samples, rows) in [(&dataset.train, &split.train), (&dataset.test, &split.test)] {
            for (place, &row) in rows.iter().enumerate() {
                let decoded = dataset.schema.decode_row(samples.row(place));
                for (value, column) in decoded.iter().zip(&table.columns) {
                    let original = table.numbers(column).unwrap()[row];
                    let same = match value {
                        Value::Number(number) => number.to_bits() == original.to_bits(),
                        Value::Category(text) => *text == original.to_string(),
                        Value::Missing => false,
                    };
                    assert!(same, "row {row}, {}: {original} became {value}", column.name);
                }
            }
        }
    }
}
