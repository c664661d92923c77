//! `probe.safetensors`: some rows as a model's owner sees them, and the owner's answers.
//!
//! A model that was made elsewhere is another model as soon as a column has moved, a layer was left out or a file was
//! exchanged. Whenever a run with a probe is opened, its predictor is asked about these rows and must answer as its owner
//! did, to 10⁻⁴.
//!
//! | array | shape | meaning |
//! |---|---|---|
//! | `x` | rows, encoded columns | rows as the predictor of the run sees them; or |
//! | `rows` | rows, features (or pixels) | in the data's units; of a category its place in the schema, from 0 |
//! | `probabilities` | rows, classes; or S, rows, classes | what the owner's model answers, or |
//! | `mean`, `deviation` | rows | the same for a value, in the data's unit; the deviation may be absent |
//!
//! An owner may also give a table: rows as the data have them, with one more column a class that holds its probability
//! and is called as the class is, or with a column `mean` and perhaps `deviation`.

#[cfg(feature = "files")]
use crate::data::{Answered, Reading, read_answered};
use crate::data::{Kind, Schema, Task, Value};
use crate::error::{Error, Result};
use crate::model::Predictive;
use crate::model::parameters::{Layout, Parameters};
use crate::model::store::weights::Arrays;
use crate::tensor::{Tensor, tensor, values};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest difference between two answers of one model; of a value in deviations of the target.
const TOLERANCE: f32 = 1e-4;

/// Rows with the answers that a predictor must give.
#[derive(Clone, Debug)]
pub struct Probe {
    path: PathBuf,
    /// `[rows, width]`.
    x: Tensor<2>,
    answers: Answers,
}

/// Named arrays that an owner gives, with their shapes.
struct Given {
    path: PathBuf,
    arrays: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

impl Given {
    fn shape(&self, name: &str) -> Option<&[usize]> {
        self.arrays.get(name).map(|(shape, _)| shape.as_slice())
    }

    fn numbers(&self, name: &str) -> Vec<f32> {
        self.arrays.get(name).map_or(vec![], |(_, numbers)| numbers.clone())
    }

    fn refuse(&self, problem: String) -> Error {
        Error::file(&self.path, problem)
    }
}

/// What the owner's model answers.
#[derive(Clone, Debug)]
enum Answers {
    /// `[S, rows, classes]`; S = 1 for the mean over all samples.
    Probabilities { each: Vec<f32>, samples: usize },
    /// In the target's scaled unit; `noise` is what 32 bits cannot tell apart in the data's unit.
    Value { mean: Vec<f32>, deviation: Option<Vec<f32>>, noise: f32 },
}

impl Probe {
    /// Reads a probe for a predictor of rows with this schema.
    pub fn read(path: &Path, schema: &Schema) -> Result<Self> {
        let stored = Arrays::read(path)?;
        let mut given = Given { path: path.to_owned(), arrays: BTreeMap::new() };
        for name in ["x", "rows", "probabilities", "mean", "deviation"] {
            if let Some(shape) = stored.shape(name) {
                given.arrays.insert(name.into(), (shape.to_vec(), stored.numbers(name)?));
            }
        }
        Self::of(&given, schema)
    }

    /// Reads what an owner gives: a safetensors file, or a table that is read as `reading` says.
    #[cfg(feature = "files")]
    pub fn given(path: &Path, schema: &Schema, reading: &Reading) -> Result<Self> {
        if path.extension().is_some_and(|ending| ending == "safetensors") {
            return Self::read(path, schema);
        }
        if schema.image.is_some() {
            return Err(Error::file(path, "a probe of images is a .safetensors file with `rows` and `probabilities`"));
        }
        let Answered { x, answers } = read_answered(path, schema, reading)?;
        let rows = x.len() / schema.width().max(1);
        let of_rows = |numbers: Vec<f64>| numbers.into_iter().map(|number| number as f32).collect::<Vec<_>>();
        let mut arrays = BTreeMap::from([("x".into(), (vec![rows, schema.width()], x))]);
        match &schema.target.task {
            Task::Classification { classes } => {
                let by_class: Vec<Vec<f32>> = answers.into_iter().map(|(_, numbers)| of_rows(numbers)).collect();
                let by_row = (0..rows).flat_map(|row| by_class.iter().map(move |class| class[row])).collect();
                arrays.insert("probabilities".into(), (vec![rows, classes.len()], by_row));
            }
            Task::Regression(_) => {
                arrays.extend(answers.into_iter().map(|(name, numbers)| (name, (vec![rows], of_rows(numbers)))));
            }
        }
        Self::of(&Given { path: path.to_owned(), arrays }, schema)
    }

    fn of(given: &Given, schema: &Schema) -> Result<Self> {
        let x = rows(given, schema)?;
        let answers = Answers::of(given, schema, x.dims()[0])?;
        Ok(Self { path: given.path.clone(), x, answers })
    }

    /// What a predictor says of these encoded rows, to be kept beside it.
    pub fn answered(x: &Tensor<2>, predictive: Predictive) -> Self {
        let answers = match predictive {
            Predictive::Classes { log_probabilities } => {
                let samples = log_probabilities.dims()[0];
                Answers::Probabilities { each: values(log_probabilities.exp()), samples }
            }
            Predictive::Gaussian { mean, .. } => {
                Answers::Value { mean: values(mean.mean_dim(0)), deviation: None, noise: 0.0 }
            }
        };
        Self { path: PathBuf::new(), x: x.clone(), answers }
    }

    /// The arrays of a file that holds this probe.
    pub fn arrays(&self, schema: &Schema) -> Result<Parameters> {
        let [rows, width] = self.x.dims();
        let mut layout = Layout::default();
        layout.push("x", &[rows, width]);
        let mut numbers = values(self.x.clone());
        match (&self.answers, &schema.target.task) {
            (Answers::Probabilities { each, samples }, _) => {
                layout.push("probabilities", &[*samples, rows, each.len() / (samples * rows).max(1)]);
                numbers.extend(each);
            }
            (Answers::Value { mean, deviation, .. }, Task::Regression(scaling)) => {
                layout.push("mean", &[rows]);
                let in_unit = |&value: &f32| (scaling.mean + scaling.deviation * f64::from(value)) as f32;
                numbers.extend(mean.iter().map(in_unit));
                if let Some(deviation) = deviation {
                    layout.push("deviation", &[rows]);
                    numbers.extend(deviation.iter().map(|&value| (scaling.deviation * f64::from(value)) as f32));
                }
            }
            _ => return Err(Error::data("the predictor answers with values, and the target has classes")),
        }
        Parameters::new(Arc::new(layout), numbers)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.x.dims()[0]
    }

    /// The rows themselves, encoded: `[rows, width]`.
    pub fn x(&self) -> &Tensor<2> {
        &self.x
    }

    /// An error if what a predictor says of these rows is not what the owner's model says.
    pub fn check(&self, predictive: Predictive) -> Result<()> {
        let (got, expected): (Vec<f32>, &[f32]) = match (&self.answers, predictive) {
            (Answers::Probabilities { each, samples }, Predictive::Classes { log_probabilities }) => {
                let probabilities = log_probabilities.exp();
                match (*samples == probabilities.dims()[0], *samples) {
                    (true, _) => (values(probabilities), each),
                    (false, 1) => (values(probabilities.mean_dim(0)), each),
                    (false, samples) => {
                        let got = probabilities.dims()[0];
                        let problem =
                            format!("has answers of {samples} posterior samples, and the predictor has {got}");
                        return Err(Error::file(&self.path, problem));
                    }
                }
            }
            (Answers::Value { mean, deviation, noise }, Predictive::Gaussian { mean: m, variance }) => {
                if let Some(expected) = deviation {
                    let centre = m.clone().mean_dim(0);
                    let spread = (m.clone() - centre).powi_scalar(2).mean_dim(0) + variance.mean_dim(0);
                    self.compare(&values(spread.sqrt()), expected, *noise)?;
                }
                return self.compare(&values(m.mean_dim(0)), mean, *noise);
            }
            _ => return Err(Error::file(&self.path, "has answers of another kind than the predictor gives")),
        };
        self.compare(&got, expected, 0.0)
    }

    fn compare(&self, got: &[f32], expected: &[f32], noise: f32) -> Result<()> {
        if got.len() != expected.len() {
            let problem = format!("holds {} answers, and the predictor gives {}", expected.len(), got.len());
            return Err(Error::file(&self.path, problem));
        }
        let differs = |(got, expected): (&f32, &f32)| (got - expected).abs();
        let differences: Vec<f32> = got.iter().zip(expected).map(differs).collect();
        let far =
            differences.iter().filter(|difference| difference.is_nan() || **difference > TOLERANCE + noise).count();
        let Some(worst) = (0..differences.len()).max_by(|&a, &b| differences[a].total_cmp(&differences[b])) else {
            return Ok(());
        };
        if far == 0 {
            return Ok(());
        }
        let row = worst / (got.len() / self.rows()).max(1) % self.rows();
        Err(Error::file(
            &self.path,
            format!(
                "the predictor of this run is not the model that the probe was made with: {far} of {} answers differ, the \
                 most in row {row} ({} instead of {}); check the order and the units of the columns, and whether every \
                 layer was written",
                got.len(),
                got[worst],
                expected[worst]
            ),
        ))
    }
}

impl Answers {
    fn of(arrays: &Given, schema: &Schema, rows: usize) -> Result<Self> {
        let refuse = |problem: String| arrays.refuse(problem);
        match &schema.target.task {
            Task::Classification { classes } => {
                let name = "probabilities";
                let shape = arrays.shape(name).ok_or_else(|| refuse(format!("has no array `{name}`")))?;
                let samples = match shape {
                    [r, c] if [*r, *c] == [rows, classes.len()] => 1,
                    [s, r, c] if [*r, *c] == [rows, classes.len()] => *s,
                    shape => {
                        let expected = [rows, classes.len()];
                        return Err(refuse(format!("`{name}` has shape {shape:?}, expected {expected:?}")));
                    }
                };
                Ok(Self::Probabilities { each: arrays.numbers(name), samples })
            }
            Task::Regression(scaling) => {
                let read = |name: &str| -> Result<Option<Vec<f32>>> {
                    match arrays.shape(name) {
                        None => Ok(None),
                        Some([r]) if *r == rows => Ok(Some(arrays.numbers(name))),
                        Some(shape) => Err(refuse(format!("`{name}` has shape {shape:?}, expected [{rows}]"))),
                    }
                };
                let mean = read("mean")?.ok_or_else(|| refuse("has no array `mean`".into()))?;
                let largest = mean.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
                let noise = (f64::from(largest * f32::EPSILON) / scaling.deviation) as f32;
                let mean = mean.into_iter().map(|value| scaling.encode(f64::from(value))).collect();
                let scaled = |value: f32| (f64::from(value) / scaling.deviation) as f32;
                let deviation = read("deviation")?.map(|all| all.into_iter().map(scaled).collect());
                Ok(Self::Value { mean, deviation, noise })
            }
        }
    }
}

/// The rows of a probe, encoded.
fn rows(arrays: &Given, schema: &Schema) -> Result<Tensor<2>> {
    let refuse = |problem: String| arrays.refuse(problem);
    let matrix = |name: &str, width: usize| -> Result<Option<(Vec<f32>, usize)>> {
        match arrays.shape(name) {
            None => Ok(None),
            Some([rows, columns]) if *columns == width => Ok(Some((arrays.numbers(name), *rows))),
            Some(shape) => Err(refuse(format!("`{name}` has shape {shape:?}, expected [rows, {width}]"))),
        }
    };
    if let Some((x, rows)) = matrix("x", schema.width())? {
        return Ok(tensor(x, [rows, schema.width()]));
    }
    let Some((numbers, rows)) = matrix("rows", schema.values())? else {
        return Err(refuse("has neither an array `x` nor an array `rows`".into()));
    };
    let mut x = Vec::with_capacity(rows * schema.width());
    for (at, row) in numbers.chunks_exact(schema.values()).enumerate() {
        let row = row_of(row, schema).map_err(|problem| refuse(format!("row {at} of `rows`: {problem}")))?;
        x.extend(schema.encode_row(&row).map_err(|problem| refuse(format!("row {at} of `rows`: {problem}")))?);
    }
    Ok(tensor(x, [rows, schema.width()]))
}

/// The values of a row whose categories are places.
fn row_of(numbers: &[f32], schema: &Schema) -> std::result::Result<Vec<Value>, String> {
    if schema.image.is_some() {
        return Ok(numbers.iter().map(|&pixel| Value::Number(f64::from(pixel))).collect());
    }
    let value = |(feature, &number): (&crate::data::Feature, &f32)| {
        let word = |words: &[String]| {
            let place = number.round();
            let word = (place >= 0.0).then(|| words.get(place as usize)).flatten();
            word.map(|word| Value::Category(word.clone())).ok_or_else(|| {
                format!("`{}` is {number}, and its categories are numbered from 0 to {}", feature.name, words.len() - 1)
            })
        };
        match &feature.kind {
            Kind::Ordered { order, .. } => word(order),
            kind if kind.scaling().is_some() => Ok(feature.value(f64::from(number))),
            kind => word(kind.categories()),
        }
    };
    schema.features.iter().zip(numbers).map(value).collect()
}
