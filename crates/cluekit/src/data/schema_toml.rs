//! The schema as it is written in `schema.toml`: flat keys, pleasant to edit, unknown ones refused.

use super::calendar::Calendar;
use super::{Feature, Kind, Missing, Scaling, Schema, Target, Task};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

impl Schema {
    /// Reads and validates a `schema.toml`.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::reading(path))?;
        Self::from_toml(&text, path)
    }

    /// Reads and validates the text of a `schema.toml`; errors name `path`.
    ///
    /// ```
    /// use cluekit::Schema;
    /// use cluekit::data::Value;
    /// use std::path::Path;
    ///
    /// let text = r#"
    ///     target = { name = "default", task = "classification", classes = ["no", "yes"] }
    ///
    ///     [[features]]
    ///     name = "AGE"
    ///     kind = "continuous"
    ///     mean = 40.0
    ///     deviation = 10.0
    ///     least = 21.0
    ///     greatest = 79.0
    /// "#;
    /// let schema = Schema::from_toml(text, Path::new("schema.toml"))?;
    /// assert_eq!(schema.encode_row(&[Value::Number(55.0)])?, [1.5]); // (55 − 40) / 10
    /// assert_eq!(schema.decode_row(&[-1.0]), [Value::Number(30.0)]);
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn from_toml(text: &str, path: &Path) -> Result<Self> {
        let schema: Self = toml::from_str(text).map_err(|error| match error.span() {
            Some(span) => Error::line(path, line_at(text, span.start), error.message()),
            None => Error::file(path, error.message()),
        })?;
        schema.validate().map_err(|error| Error::file(path, error.to_string()))?;
        Ok(schema)
    }

    /// The text of a `schema.toml`; reading it back gives the same schema to the last bit.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|error| Error::data(format!("the schema cannot be written as TOML: {error}")))
    }
}

/// The line, counted from 1, on which byte `at` of `text` lies.
fn line_at(text: &str, at: usize) -> u64 {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count() as u64
}

/// A feature as it is written. Serde's `flatten` cannot refuse unknown keys, so all keys stand side by side.
#[derive(Serialize, Deserialize)]
#[serde(rename = "feature", deny_unknown_fields)]
pub(super) struct FeatureForm {
    name: String,
    kind: KindName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    meaning: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decimals: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deviation: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    least: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    greatest: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    categories: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<MissingForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    median: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    written: Option<Calendar>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<String>>,
}

/// What is made of missing cells: a word, or the sentinels that stand for them.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "give `missing` as \"median\", \"category\", \"refuse\" or a list such as [\"-999\"]")]
enum MissingForm {
    Word(MissingWord),
    Sentinels(Vec<Sentinel>),
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum MissingWord {
    Median,
    Category,
    Refuse,
}

/// A sentinel, with quotes or without.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Sentinel {
    Text(String),
    Whole(i64),
    Number(f64),
}

impl From<Sentinel> for String {
    fn from(sentinel: Sentinel) -> Self {
        match sentinel {
            Sentinel::Text(text) => text,
            Sentinel::Whole(number) => number.to_string(),
            Sentinel::Number(number) => number.to_string(),
        }
    }
}

impl MissingForm {
    fn of(missing: &Missing, kind: &Kind) -> Self {
        match (missing.sentinels.as_slice(), kind.scaling()) {
            ([], Some(_)) => Self::Word(MissingWord::Median),
            ([], None) => Self::Word(MissingWord::Category),
            (sentinels, _) => Self::Sentinels(sentinels.iter().cloned().map(Sentinel::Text).collect()),
        }
    }

    /// What it means for a number, or for a category.
    fn meant(self, what: &str, number: bool, median: Option<f64>) -> std::result::Result<Option<Missing>, String> {
        let sentinels = match self {
            Self::Word(MissingWord::Refuse) => return Ok(None),
            Self::Word(word) if (word == MissingWord::Median) != number => {
                let (is, other) = if number { ("is a number", "median") } else { ("is not a number", "category") };
                return Err(format!("{what} {is}: its missing cells can be a \"{other}\"; give that, or \"refuse\""));
            }
            Self::Word(_) => vec![],
            Self::Sentinels(sentinels) => sentinels.into_iter().map(String::from).collect(),
        };
        Ok(Some(Missing { sentinels, median }))
    }
}

/// A target as it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename = "target", deny_unknown_fields)]
pub(super) struct TargetForm {
    name: String,
    task: TaskName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    meaning: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decimals: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deviation: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    least: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    greatest: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    classes: Option<Vec<String>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KindName {
    Continuous,
    Ordinal,
    Date,
    Binary,
    Categorical,
    Grouped,
    OneHot,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TaskName {
    Classification,
    Regression,
}

/// The keys of a number, all optional until it is known whether there is a number.
#[derive(Clone, Copy, Default)]
struct NumberKeys {
    decimals: Option<u32>,
    mean: Option<f64>,
    deviation: Option<f64>,
    least: Option<f64>,
    greatest: Option<f64>,
}

impl NumberKeys {
    fn of(scaling: &Scaling) -> Self {
        let Scaling { mean, deviation, decimals, least, greatest } = *scaling;
        Self { decimals, mean: Some(mean), deviation: Some(deviation), least: Some(least), greatest: Some(greatest) }
    }

    fn complete(self, what: &str) -> std::result::Result<Scaling, String> {
        let need = |key: &str, value: Option<f64>| value.ok_or_else(|| format!("{what} is a number and needs `{key}`"));
        Ok(Scaling {
            mean: need("mean", self.mean)?,
            deviation: need("deviation", self.deviation)?,
            decimals: self.decimals,
            least: need("least", self.least)?,
            greatest: need("greatest", self.greatest)?,
        })
    }

    fn absent(self, what: &str) -> std::result::Result<(), String> {
        let keys = [
            ("decimals", self.decimals.is_some()),
            ("mean", self.mean.is_some()),
            ("deviation", self.deviation.is_some()),
            ("least", self.least.is_some()),
            ("greatest", self.greatest.is_some()),
        ];
        match keys.iter().find(|(_, given)| *given) {
            Some((key, _)) => Err(format!("{what} is not a number and has no `{key}`; remove the key")),
            None => Ok(()),
        }
    }
}

/// A list where there must be one, or where there must be none.
fn list(what: &str, key: &str, given: Option<Vec<String>>) -> std::result::Result<Vec<String>, String> {
    given.ok_or_else(|| format!("{what} needs the list `{key}`"))
}

fn no_list(what: &str, key: &str, given: Option<Vec<String>>) -> std::result::Result<(), String> {
    if given.is_some() { Err(format!("{what} is a number and has no `{key}`; remove the key")) } else { Ok(()) }
}

/// A key that belongs to one kind alone must be absent from the others.
fn belongs(what: &str, key: &str, given: bool, to: &str) -> std::result::Result<(), String> {
    if given { Err(format!("{what} has the key `{key}`, which belongs to {to}; remove it")) } else { Ok(()) }
}

impl TryFrom<FeatureForm> for Feature {
    type Error = String;

    fn try_from(form: FeatureForm) -> std::result::Result<Self, String> {
        let FeatureForm { name, kind, unit, meaning, decimals, mean, deviation, least, greatest, .. } = form;
        let FeatureForm { categories, order, written, columns, missing, median, .. } = form;
        let what = format!("feature `{name}`");
        let numbers = NumberKeys { decimals, mean, deviation, least, greatest };
        if !matches!(kind, KindName::Ordinal) {
            belongs(
                &what,
                "order",
                order.is_some(),
                "the kind `ordinal`; orders of categories stand in [constraints]",
            )?;
        }
        if !matches!(kind, KindName::Date) {
            belongs(&what, "written", written.is_some(), "the kind `date`")?;
        }
        if !matches!(kind, KindName::OneHot) {
            belongs(&what, "columns", columns.is_some(), "the kind `one-hot`")?;
        }
        let kind = match kind {
            KindName::Continuous | KindName::Ordinal | KindName::Date => {
                no_list(&what, "categories", categories)?;
                let scaling = numbers.complete(&what)?;
                match (kind, order) {
                    (KindName::Date, _) => {
                        let calendar = written.ok_or_else(|| {
                            format!("{what} is a date and needs `written`, such as \"{}\"", Calendar::IsoDay.name())
                        })?;
                        Kind::Date { calendar, scaling }
                    }
                    (KindName::Ordinal, Some(order)) => Kind::Ordered { order, scaling },
                    (KindName::Ordinal, None) => Kind::Ordinal(scaling),
                    _ => Kind::Continuous(scaling),
                }
            }
            KindName::Binary | KindName::Categorical | KindName::Grouped => {
                numbers.absent(&what)?;
                let categories = list(&what, "categories", categories)?;
                match kind {
                    KindName::Binary => Kind::Binary { categories },
                    KindName::Grouped => Kind::Grouped { categories },
                    _ => Kind::Categorical { categories },
                }
            }
            KindName::OneHot => {
                numbers.absent(&what)?;
                belongs(&what, "categories", categories.is_some(), "other kinds: its `columns` are its categories")?;
                Kind::OneHot { columns: list(&what, "columns", columns)? }
            }
        };
        let number = kind.scaling().is_some();
        let missing = missing.map(|form| form.meant(&what, number, median)).transpose()?.flatten();
        match median {
            Some(_) if missing.is_none() || !number => {
                Err(format!("{what} has a `median` and no number that may be missing; remove the key"))
            }
            _ => Ok(Self { name, kind, unit, meaning, missing }),
        }
    }
}

impl From<Feature> for FeatureForm {
    fn from(Feature { name, kind, unit, meaning, missing }: Feature) -> Self {
        let median = missing.as_ref().and_then(|missing| missing.median);
        let missing = missing.map(|missing| MissingForm::of(&missing, &kind));
        let NumberKeys { decimals, mean, deviation, least, greatest } =
            kind.scaling().map(NumberKeys::of).unwrap_or_default();
        let (mut categories, mut order, mut written, mut columns) = (None, None, None, None);
        let kind = match kind {
            Kind::Continuous(_) => KindName::Continuous,
            Kind::Ordinal(_) => KindName::Ordinal,
            Kind::Ordered { order: words, .. } => {
                order = Some(words);
                KindName::Ordinal
            }
            Kind::Date { calendar, .. } => {
                written = Some(calendar);
                KindName::Date
            }
            Kind::Binary { categories: both } => {
                categories = Some(both);
                KindName::Binary
            }
            Kind::Categorical { categories: all } => {
                categories = Some(all);
                KindName::Categorical
            }
            Kind::Grouped { categories: frequent } => {
                categories = Some(frequent);
                KindName::Grouped
            }
            Kind::OneHot { columns: names } => {
                columns = Some(names);
                KindName::OneHot
            }
        };
        Self {
            name,
            kind,
            unit,
            meaning,
            decimals,
            mean,
            deviation,
            least,
            greatest,
            categories,
            order,
            written,
            columns,
            missing,
            median,
        }
    }
}

impl TryFrom<TargetForm> for Target {
    type Error = String;

    fn try_from(form: TargetForm) -> std::result::Result<Self, String> {
        let TargetForm { name, task, unit, meaning, decimals, mean, deviation, least, greatest, classes } = form;
        let what = format!("target `{name}`");
        let numbers = NumberKeys { decimals, mean, deviation, least, greatest };
        let task = match task {
            TaskName::Classification => {
                numbers.absent(&what)?;
                Task::Classification { classes: list(&what, "classes", classes)? }
            }
            TaskName::Regression => {
                no_list(&what, "classes", classes)?;
                Task::Regression(numbers.complete(&what)?)
            }
        };
        Ok(Self { name, task, unit, meaning })
    }
}

impl From<Target> for TargetForm {
    fn from(Target { name, task, unit, meaning }: Target) -> Self {
        let (task, numbers, classes) = match task {
            Task::Classification { classes } => (TaskName::Classification, NumberKeys::default(), Some(classes)),
            Task::Regression(scaling) => (TaskName::Regression, NumberKeys::of(&scaling), None),
        };
        let NumberKeys { decimals, mean, deviation, least, greatest } = numbers;
        Self { name, task, unit, meaning, decimals, mean, deviation, least, greatest, classes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Constraints, Image};

    const TEXT: &str = r#"[target]
name = "default"
task = "classification"
classes = ["no", "yes"]

[[features]]
name = "age"
kind = "continuous"
unit = "years"
decimals = 0
mean = 35.4
deviation = 9.25
least = 21.0
greatest = 79.0

[[features]]
name = "sex"
kind = "binary"
categories = ["1", "2"]
"#;

    fn read(text: &str) -> Result<Schema> {
        Schema::from_toml(text, Path::new("schema.toml"))
    }

    fn problem(from: &str, to: &str) -> String {
        assert!(TEXT.contains(from));
        read(&TEXT.replace(from, to)).unwrap_err().to_string()
    }

    #[test]
    fn the_text_is_read_and_written_as_people_would_write_it() {
        assert_eq!(read(TEXT).unwrap().to_toml().unwrap(), TEXT);
    }

    #[test]
    fn floats_survive_to_the_last_bit() {
        let awkward = [0.1 + 0.2, 1e-300, 167_484.322_666_666_67, f64::MAX, -1.0 / 3.0, 129_747.661_567_203_88];
        for value in awkward {
            let scaling =
                Scaling { mean: value, deviation: value.abs(), decimals: None, least: -1.0, greatest: value.abs() };
            let schema = Schema {
                target: Target {
                    name: "y".into(),
                    task: Task::Regression(scaling),
                    unit: Some("NT$".into()),
                    meaning: Some("what is owed".into()),
                },
                image: None,
                features: vec![Feature {
                    name: "x \"1\"\n".into(),
                    kind: Kind::Ordinal(scaling),
                    unit: None,
                    meaning: Some("a rating".into()),
                    missing: None,
                }],
                constraints: Constraints::default(),
            };
            assert_eq!(read(&schema.to_toml().unwrap()).unwrap(), schema);
        }
    }

    #[test]
    fn what_is_made_of_missing_cells_is_written_as_it_is_read() {
        let number = TEXT.replace("greatest = 79.0\n", "greatest = 79.0\nmissing = \"median\"\nmedian = 34.0\n");
        assert_eq!(read(&number).unwrap().to_toml().unwrap(), number);
        let missing = |text: &str| read(text).unwrap().features.remove(0).missing;
        assert_eq!(missing(&number), Some(Missing { sentinels: vec![], median: Some(34.0) }));
        let sentinels = number.replace("missing = \"median\"", "missing = [\"-999\", \"unknown\"]");
        assert_eq!(read(&sentinels).unwrap().to_toml().unwrap(), sentinels);
        assert_eq!(missing(&sentinels.replace("\"-999\"", "-999")), missing(&sentinels));
        let category = format!("{TEXT}missing = \"category\"\n");
        assert_eq!(read(&category).unwrap().to_toml().unwrap(), category);
        assert_eq!(read(&format!("{TEXT}missing = \"refuse\"\n")).unwrap(), read(TEXT).unwrap());
    }

    #[test]
    fn a_state_of_missing_cells_that_does_not_fit_the_kind_is_refused() {
        let message = problem("kind = \"binary\"", "kind = \"binary\"\nmissing = \"median\"");
        assert!(message.contains("`sex` is not a number: its missing cells can be a \"category\""), "{message}");
        let message = problem("unit = \"years\"", "missing = \"category\"");
        assert!(message.contains("`age` is a number: its missing cells can be a \"median\""), "{message}");
        let message = problem("unit = \"years\"", "missing = \"mean\"");
        assert!(message.contains("line 9") && message.contains("give `missing` as \"median\""), "{message}");
        assert!(
            problem("unit = \"years\"", "median = 3.0").contains("has a `median` and no number that may be missing")
        );
        let message = problem("unit = \"years\"", "missing = \"median\"\nmedian = inf");
        assert!(message.contains("has median inf"), "{message}");
    }

    #[test]
    fn an_image_schema_survives() {
        let schema =
            Schema { image: Some(Image { channels: 1, height: 28, width: 28, maximum: 255.0 }), ..read(TEXT).unwrap() };
        let schema = Schema { features: vec![], ..schema };
        assert_eq!(read(&schema.to_toml().unwrap()).unwrap(), schema);
    }

    #[test]
    fn constraints_come_last_and_an_empty_table_leaves_no_trace() {
        let text = format!("{TEXT}\n[constraints]\nimmutable = [\"sex\"]\nrelations = [\"age <= 65\"]\n");
        let schema = read(&text).unwrap();
        assert_eq!(schema.to_toml().unwrap(), text);
        assert_eq!(schema.without_constraints().to_toml().unwrap(), TEXT);
        assert_eq!(read(&format!("{TEXT}\n[constraints]\n")).unwrap().to_toml().unwrap(), TEXT);
    }

    #[test]
    fn mistakes_in_constraints_are_named_with_the_file() {
        let problem =
            |constraints: &str| read(&format!("{TEXT}\n[constraints]\n{constraints}")).unwrap_err().to_string();
        let message = problem("imutable = [\"sex\"]");
        assert!(message.starts_with("schema.toml, line 22: unknown field `imutable`"), "{message}");
        let message = problem("relations = [\"age < 65\"]");
        assert!(message.starts_with("schema.toml, line 22: ") && message.contains("age < 65"), "{message}");
        let message = problem("immutable = [\"gender\"]");
        assert!(message.starts_with("schema.toml: setting `constraints.immutable`: "), "{message}");
    }

    #[test]
    fn whole_numbers_may_be_written_without_a_point() {
        assert_eq!(read(&TEXT.replace("least = 21.0", "least = 21")).unwrap(), read(TEXT).unwrap());
    }

    #[test]
    fn unknown_keys_are_named_with_file_and_line() {
        let message = problem("unit = \"years\"", "units = \"years\"");
        assert!(message.starts_with("schema.toml, line 9: unknown field `units`, expected one of"), "{message}");
        let message = problem("task = ", "tsk = ");
        assert!(message.starts_with("schema.toml, line 3: unknown field `tsk`"), "{message}");
        assert!(problem("[target]", "colour = 1\n[target]").contains("unknown field `colour`"));
    }

    #[test]
    fn keys_that_contradict_the_kind_are_named() {
        assert!(problem("mean = 35.4\n", "").contains("feature `age` is a number and needs `mean`"));
        assert!(
            problem("kind = \"binary\"", "kind = \"binary\"\nmean = 1")
                .contains("`sex` is not a number and has no `mean`")
        );
        assert!(
            problem("kind = \"binary\"", "kind = \"ordinal\"").contains("`sex` is a number and has no `categories`")
        );
        assert!(problem("classes = [\"no\", \"yes\"]", "").contains("target `default` needs the list `classes`"));
    }

    #[test]
    fn a_schema_that_parses_but_cannot_be_used_is_refused_with_its_file() {
        let message = problem("deviation = 9.25", "deviation = 0.0");
        assert_eq!(message, "schema.toml: feature `age` has deviation 0; it must be a positive number");
    }
}
