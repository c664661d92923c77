//! Where data comes from: one file a source, all behind one function, [`load`].

#[cfg(feature = "files")]
pub mod arrays;
#[cfg(feature = "files")]
pub mod credit;
#[cfg(feature = "files")]
pub mod mnist;
pub mod moons;
mod paths;
#[cfg(feature = "files")]
pub mod pictures;
#[cfg(feature = "files")]
pub mod table;

#[cfg(feature = "files")]
#[cfg(feature = "files")]
pub(crate) use table::answered::{Answered, read_answered};

use super::PartNames;
use super::{Chosen, Dataset, Image, Meaning, Reading, RejectedRow, RowNames, Samples, Schema, Source, Targets};
use crate::data::DataDir;
#[cfg(feature = "files")]
use crate::data::content::Content;
use crate::error::{Error, Remedy, Result};
use crate::seed::Seed;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// A dataset and how to read it. A run saves it in `run.toml`, to find its data again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Name of the dataset, or path of the data: `mnist`, `credit`, `moons`, `synbols-small`, `synbols-full`, a part of one
    /// as in `mnist:7000`; a text, Parquet or Excel file, a NumPy or IDX file, or a folder of images.
    pub name: String,
    /// What to predict: the column of a table, the key of the labels in an `.npz`, the file of the labels beside an
    /// array of images, or the attribute of symbols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Name of the split of symbols that come with several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Share of the rows kept for testing, between 0 and 1, for a dataset without a split of its own.
    pub test_share: f64,
    /// Seed of the split, and of a dataset that is made.
    pub seed: Seed,
    /// How the file is to be read, where its contents do not say it.
    #[serde(default, skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
    /// Which columns name and weigh the rows of a table, and which file holds its test rows.
    #[serde(default, skip_serializing_if = "RowRequest::is_default")]
    pub rows: RowRequest,
    /// Whether the rows of a table are split with the same share of each class for testing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stratified: bool,
    /// What is said of the columns of a table.
    #[serde(default, skip_serializing_if = "Meaning::is_empty")]
    pub meaning: Meaning,
}

/// What a table's rows are called, how much each counts, and where its test rows come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowRequest {
    /// Column whose cells identify the rows; it is no feature. None for one that is recognised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// File of the test rows, with the same columns; none for a share of the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Column that says how much each row counts in training; it is no feature. None where all count alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
}

impl RowRequest {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Request {
    /// The dataset called `name` with everything else at its default.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            target: None,
            split: None,
            test_share: 0.1,
            seed: Seed(0),
            reading: Reading::default(),
            rows: RowRequest::default(),
            stratified: false,
            meaning: Meaning::default(),
        }
    }
}

/// Rows of a file of one's own that a model can be asked about.
#[derive(Clone, Debug)]
pub struct FileRows {
    /// Name of the file, without its folder.
    pub name: String,
    /// Rows that can be encoded, with their targets where the file has those.
    pub samples: Arc<Samples>,
    /// Position of each of them among all rows of the file, counted from 0.
    pub positions: Vec<usize>,
    /// Names of the rows.
    pub names: RowNames,
    /// Rows that cannot be encoded.
    pub rejected: Vec<RejectedRow>,
    /// The file with its hash.
    pub source: Source,
}

/// Reads the rows of another file under `schema`; the column `id` identifies them.
///
/// Rows that cannot be encoded are set aside, each with its reason. Where `targets` are needed, so are rows without one; an
/// error names the first where no row is left.
pub fn read_file(
    path: &Path,
    schema: &Schema,
    id: Option<&str>,
    targets: bool,
    reading: &Reading,
    directory: &DataDir,
) -> Result<FileRows> {
    match &schema.image {
        Some(_) if targets => Err(Error::file(path, "holds images without labels, and this needs those of a table")),
        Some(_) => {
            let (x, width) = (read_rows(path, schema, reading, directory)?, schema.width());
            let count = x.len() / width.max(1);
            let source = source_of(path)?;
            Ok(FileRows {
                name: source.file.clone(),
                samples: Arc::new(Samples { x, width, y: Targets::Unknown(count), weights: None }),
                positions: (0..count).collect(),
                names: RowNames::default(),
                rejected: vec![],
                source,
            })
        }
        None => file_rows(path, schema, id, targets, reading),
    }
}

/// A file, or a folder of images, with its hash.
fn source_of(path: &Path) -> Result<Source> {
    #[cfg(feature = "files")]
    if path.is_dir() {
        return pictures::source_of(path);
    }
    let sha256 = super::sha256_of(path).map_err(Error::reading(path))?;
    Ok(Source { file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(), sha256 })
}

/// The inputs of another file encoded under `schema`, row after row of [`Schema::width`] numbers; no target is needed.
/// The file is read as `reading` says.
pub fn read_rows(path: &Path, schema: &Schema, reading: &Reading, directory: &DataDir) -> Result<Vec<f32>> {
    match &schema.image {
        Some(image) => match directory.provider_of(&path.to_string_lossy()) {
            Some(provider) => provider.read_rows(path, image),
            None => images(path, image),
        },
        None => rows(path, schema, reading),
    }
}

#[cfg(feature = "files")]
fn images(path: &Path, image: &Image) -> Result<Vec<f32>> {
    match Content::of_file(path)? {
        Content::Folder | Content::Png => pictures::read_rows(path, image),
        _ => arrays::read_rows(path, image),
    }
}

#[cfg(feature = "files")]
fn rows(path: &Path, schema: &Schema, reading: &Reading) -> Result<Vec<f32>> {
    table::read_rows(path, schema, reading)
}

#[cfg(feature = "files")]
fn file_rows(path: &Path, schema: &Schema, id: Option<&str>, targets: bool, reading: &Reading) -> Result<FileRows> {
    table::read_file(path, schema, id, targets, reading)
}

#[cfg(not(feature = "files"))]
fn file_rows(path: &Path, _: &Schema, _: Option<&str>, _: bool, _: &Reading) -> Result<FileRows> {
    Err(unread(path))
}

#[cfg(not(feature = "files"))]
fn images(path: &Path, _: &Image) -> Result<Vec<f32>> {
    Err(unread(path))
}

#[cfg(not(feature = "files"))]
fn rows(path: &Path, _: &Schema, _: &Reading) -> Result<Vec<f32>> {
    Err(unread(path))
}

#[cfg(not(feature = "files"))]
fn unread(path: &Path) -> Error {
    Error::file(path, "cannot be read: this build has no formats of files; switch on the feature `files`")
}

/// Reads, or makes, the dataset that `request` names.
///
/// `schema` overrides what would be inferred from a user's table: kinds, categories, scaling, units, classes. The
/// columns of other datasets mean what they mean; there it may only name units, meanings and constraints.
pub fn load(request: &Request, schema: Option<&Schema>, directory: &DataDir) -> Result<Dataset> {
    let provider = directory.provider_of(&request.name);
    if request.split.is_some() && provider.is_none() {
        let problem = format!("`{}` has no splits to choose from", request.name);
        return Err(Error::setting("split", problem).remedy(Remedy::leave_out(["split"])));
    }
    let built_in = |dataset: Dataset| match schema {
        _ if request.target.is_some() && provider.is_none() => Err(Error::setting(
            "target",
            format!("`{}` has a target of its own, `{}`", request.name, dataset.schema.target.name),
        )
        .remedy(Remedy::leave_out(["target"]))),
        _ => with_schema(request, dataset, schema),
    };
    if let Some(provider) = provider {
        return built_in(provider.load(request, directory)?);
    }
    match counted(&request.name) {
        ("moons", _) => built_in(moons::make(request.seed)),
        #[cfg(feature = "files")]
        ("mnist", count) => {
            let files = mnist::Files::find(&directory.path_of("mnist"))?;
            built_in(files.load(part_of("mnist", files.counts()?, count)?)?)
        }
        #[cfg(feature = "files")]
        ("credit", count) => {
            built_in(part(credit::load(&directory.path_of("uci_default_credit"), request.seed)?, count)?)
        }
        #[cfg(feature = "files")]
        _ => read(request, schema),
        #[cfg(not(feature = "files"))]
        _ => Err(unread(Path::new(&request.name))),
    }
}

/// The part of a dataset that a row lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Rows to learn from.
    Train,
    /// Rows to test on.
    Test,
}

/// Some rows of one part of a dataset, with the files that they come from; none for a dataset that can only be read as
/// a whole. `chosen` is told the number of rows, and returns the positions of the wanted ones in ascending order.
#[cfg_attr(not(feature = "files"), allow(unused_variables, reason = "only files can be read in parts"))]
pub fn load_some(
    request: &Request,
    schema: Option<&Schema>,
    directory: &DataDir,
    part: Part,
    chosen: Chosen,
) -> Result<Option<(Samples, Vec<Source>)>> {
    match counted(&request.name) {
        _ if directory.provider_of(&request.name).is_some() => Ok(None),
        #[cfg(feature = "files")]
        ("mnist", count) => {
            let files = mnist::Files::find(&directory.path_of("mnist"))?;
            schema.map_or(Ok(()), |given| check_fit(&request.name, given, &mnist::schema()))?;
            let counts = part_of("mnist", files.counts()?, count)?;
            files.read(part, &|_| chosen(counts[part as usize])).map(Some)
        }
        _ => Ok(None),
    }
}

/// Whether `name` is that of a file that holds a table.
#[cfg(feature = "files")]
pub fn is_table(name: &str) -> bool {
    let path = Path::new(name);
    path.is_file() && Content::of_file(path).is_ok_and(Content::is_table)
}

/// Reads a file or folder of the user; what it is, its contents say.
#[cfg(feature = "files")]
fn read(request: &Request, schema: Option<&Schema>) -> Result<Dataset> {
    let path = Path::new(&request.name);
    if !path.exists() {
        return Err(nowhere(request, path));
    }
    match Content::of_file(path)? {
        Content::Text | Content::Parquet | Content::Workbook | Content::NewWorkbook => {
            table::load(path, request, schema)
        }
        Content::Array | Content::Arrays | Content::Idx => with_schema(request, arrays::load(path, request)?, schema),
        Content::Folder => with_schema(request, pictures::load(path, request)?, schema),
        other => Err(other.no_table(path)),
    }
}

/// What is wrong with a name that is no dataset's, where no file lies.
#[cfg(feature = "files")]
fn nowhere(request: &Request, path: &Path) -> Error {
    if request.name.contains(['.', '/', '\\']) {
        let from = if path.is_absolute() { "" } else { ", seen from the folder that the command is run in" };
        return Error::file(path, format!("is not there{from}; mind how it is written"));
    }
    Error::data(format!(
        "no dataset is called `{}`; choose synbols, mnist, credit or moons, or give the path of a table (text, Parquet or \
         Excel), of images (NumPy or IDX), or of a folder of images",
        request.name
    ))
}

/// A dataset whose columns are known, with the units, meanings and constraints of a schema that was given.
fn with_schema(request: &Request, dataset: Dataset, schema: Option<&Schema>) -> Result<Dataset> {
    if !request.rows.is_default() {
        let problem = format!("`{}` is no table: it has no column of identifiers and no file beside it", request.name);
        return Err(Error::data(problem).remedy(Remedy::leave_out(["id", "test"])));
    }
    let Some(given) = schema else { return Ok(dataset) };
    check_fit(&request.name, given, &dataset.schema)?;
    given.validate().map(|()| Dataset { schema: given.clone(), ..dataset })
}

/// `mnist:7000` is the name of the dataset and how many of its rows are wanted.
fn counted(name: &str) -> (&str, Option<&str>) {
    name.split_once(':').map_or((name, None), |(name, count)| (name, Some(count)))
}

/// The first rows of a dataset, so many in all, in the same proportion to train and to test on.
#[cfg(feature = "files")]
fn part(dataset: Dataset, count: Option<&str>) -> Result<Dataset> {
    let whole = [dataset.train.len(), dataset.test.len()];
    let wanted = part_of(&dataset.name, whole, count)?;
    if wanted == whole {
        return Ok(dataset);
    }
    let first = |samples: &Samples, count: usize| samples.select(&(0..count).collect::<Vec<_>>());
    let (train, test) = (first(&dataset.train, wanted[0]), first(&dataset.test, wanted[1]));
    let named = |names: &RowNames, count: usize| names.select(&(0..count).collect::<Vec<_>>());
    let PartNames { train: of_train, test: of_test, .. } = &dataset.names;
    let names =
        PartNames { train: named(of_train, wanted[0]), test: named(of_test, wanted[1]), ..dataset.names.clone() };
    Ok(Dataset { train, test, names, ..dataset })
}

/// How many of the rows to train and to test on make `count` in all, in the same proportion.
#[cfg(feature = "files")]
fn part_of(name: &str, [train, test]: [usize; 2], count: Option<&str>) -> Result<[usize; 2]> {
    let Some(text) = count else { return Ok([train, test]) };
    let count = text.parse().ok().filter(|count| (2..=train + test).contains(count)).ok_or_else(|| {
        Error::data(format!("`{name}:{text}` is not a part of `{name}`; give a number from 2 to {}", train + test))
    })?;
    let to_test = (count * test / (train + test)).max(1);
    Ok([count - to_test, to_test])
}

/// Refuses a schema whose columns are others than those of a dataset that is known by name.
fn check_fit(name: &str, given: &Schema, own: &Schema) -> Result<()> {
    if bare(given) == bare(own) {
        return Ok(());
    }
    Err(Error::data(format!(
        "the schema does not fit `{name}`, whose columns are known: only units, meanings and constraints may differ; leave \
         the schema away"
    )))
}

/// The schema without what may differ: units, meanings and constraints.
fn bare(schema: &Schema) -> Schema {
    let mut schema = schema.without_constraints();
    (schema.target.unit, schema.target.meaning) = (None, None);
    schema.features.iter_mut().for_each(|feature| (feature.unit, feature.meaning) = (None, None));
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Constraints;

    #[test]
    fn a_part_of_a_dataset_is_its_first_rows_in_the_same_proportion() {
        let whole = moons::make(Seed(0));
        let (train, test) = (whole.train.len(), whole.test.len());
        let half = part(whole.clone(), Some(&((train + test) / 2).to_string())).unwrap();
        assert_eq!((half.train.len(), half.test.len()), (train / 2, test / 2));
        assert_eq!(half.train.row(3), whole.train.row(3));
        for wrong in ["", "0", "1", "x", "-3", "99999999"] {
            let error = part(whole.clone(), Some(wrong)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`moons:{wrong}` is not a part of `moons`; give a number")), "{error}");
        }
        assert_eq!(counted("mnist:700"), ("mnist", Some("700")));
        assert_eq!(counted("mnist"), ("mnist", None));
    }

    #[test]
    fn a_known_dataset_takes_units_and_constraints_from_a_schema_and_nothing_else() {
        let directory = DataDir::locate(None);
        let request = Request::new("moons");
        let mut schema = load(&request, None, &directory).unwrap().schema;
        schema.features[0].unit = Some("cm".into());
        schema.features[0].meaning = Some("how far to the right".into());
        schema.target.meaning = Some("which of the two".into());
        assert_eq!(load(&request, Some(&schema), &directory).unwrap().schema.features[0].unit.as_deref(), Some("cm"));
        schema.constraints.immutable = vec!["x2".into()];
        assert_eq!(load(&request, Some(&schema), &directory).unwrap().schema, schema);
        schema.constraints.immutable = vec!["x3".into()];
        let error = load(&request, Some(&schema), &directory).unwrap_err().to_string();
        assert!(error.contains("`x3`"), "{error}");
        schema.constraints = Constraints::default();
        schema.features[0].name = "length".into();
        let error = load(&request, Some(&schema), &directory).unwrap_err().to_string();
        assert!(error.contains("`moons`") && error.contains("only units"), "{error}");
    }
}
