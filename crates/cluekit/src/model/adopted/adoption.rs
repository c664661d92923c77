//! From a model made elsewhere to a run: what it is, what it sees, what it answers, and whether that can be right.
//!
//! What is not said is tried: a form of the input and of the output counts only if every answer is finite and probabilities
//! sum to one, and of several that fit the one that predicts best is taken, and said. A wrong order of columns, a wrong unit
//! or another order of classes shows in the score beside that of a constant answer.

use super::input::{InputForm, ModelInput};
use super::{AdoptedGenerative, AdoptedPredictor, ModelFile, ModelOutput, ModelReader, TREE_GROUPS};
use crate::data::{Dataset, Samples, Schema, Targets, Task, spread_evenly};
use crate::error::{Error, Result};
use crate::model::parameters::{Layout, Parameters};
use crate::model::store::run::RunFolder;
use crate::model::{Predictive, Predictor};
use crate::prediction::answer;
use crate::seed::Seed;
use crate::tensor::{tensor, values};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that a model is tried on.
const ROWS: usize = 512;
/// Rows that a probe keeps, where the owner of the model gives none.
const PROBE_ROWS: usize = 32;
/// How far the sum of probabilities may be from one.
const SUM: f32 = 1e-3;
/// The largest difference between two answers about the same row.
const REPEATED: f32 = 1e-5;
/// A model must be better than a constant answer by this share of rows, or of the spread.
const BETTER: f64 = 0.01;

/// What a user says of a predictor that was made elsewhere; the rest is found out.
#[derive(Clone, Debug, Default)]
pub struct Adoption {
    /// Its files; several are the members of an ensemble.
    pub files: Vec<PathBuf>,
    /// Meaning of its numbers.
    pub output: Option<ModelOutput>,
    /// Levels of the quantiles that it answers with.
    pub quantiles: Vec<f64>,
    /// Number S of posterior samples in an answer of S · rows rows.
    pub samples: Option<usize>,
    /// Number of masks under which every dropout stays active.
    pub mc_dropout: Option<usize>,
    /// Number of groups that the trees of a forest are averaged in.
    pub groups: Option<usize>,
    /// Names of the classes in the model's order.
    pub classes: Vec<String>,
    /// What the model sees of a row.
    pub input: ModelInput,
}

/// What was understood of a predictor.
pub struct Understood {
    /// All that must be known to ask it, with the paths of its files where they lie now.
    pub adopted: AdoptedPredictor,
    /// The predictor itself.
    pub predictor: Arc<dyn Predictor>,
    /// Its files and those that belong to them.
    parts: Vec<Vec<PathBuf>>,
    /// What the user should know, and what was guessed.
    pub notes: Vec<String>,
}

/// One way to ask a model, with what came of it.
struct Tried {
    adopted: AdoptedPredictor,
    predictor: Arc<dyn Predictor>,
    predictive: Predictive,
    score: Score,
}

/// How well a model predicts some rows.
#[derive(Clone, Copy, Debug)]
struct Score {
    /// Share of right classes, or 1 − RMSE / spread of the target.
    right: f64,
    /// The same for a constant answer.
    constant: f64,
    /// Mean −log p.
    nll: f64,
}

impl Adoption {
    /// Finds out how the model is asked, by asking it about rows of a dataset.
    pub fn understand(&self, dataset: &Dataset, reader: &dyn ModelReader, seed: Seed) -> Result<Understood> {
        let files = self.files.iter().map(|file| reader.describe(file)).collect::<Result<Vec<_>>>()?;
        let Some(first) = files.first() else { return Err(Error::setting("predictor", "names no file")) };
        let mut notes = self.describe(&files);
        let rows = some_rows(dataset);
        let tried = self.tried(first, &rows, &dataset.schema, reader, seed)?;
        notes.extend(self.chosen(&tried, &dataset.schema.target.task));
        let best = tried.into_iter().next().ok_or_else(|| Error::setting("predictor", "names no file"))?;
        check_repeated(best.predictor.as_ref(), &rows, &best.predictive)?;
        notes.extend(best.score.said(&dataset.schema.target.task, rows.len()));
        notes.extend(self.samples_said(&best, first));
        let parts = files.into_iter().map(|file| file.parts).collect();
        Ok(Understood { adopted: best.adopted, predictor: best.predictor, parts, notes })
    }

    /// What the files hold.
    fn describe(&self, files: &[ModelFile]) -> Vec<String> {
        let named = self.files.iter().zip(files).take(1).map(|(path, file)| {
            let ports = |ports: &[super::Port]| ports.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            let gradient = match (file.has_gradient, file.trees) {
                (true, _) => "with a gradient".into(),
                (false, Some(trees)) => format!("{trees} trees, without a gradient"),
                (false, None) => "without a gradient".into(),
            };
            let at_once = file.rows_at_once.map_or(String::new(), |rows| format!(", {rows} rows at a time"));
            format!("{}: from {} to {}, {gradient}{at_once}", path.display(), ports(&file.inputs), ports(&file.outputs))
        });
        let others = (files.len() > 1).then(|| format!("{} files are the members of an ensemble", files.len()));
        named.chain(others).collect()
    }

    /// All ways to ask the model that can be right, the best first.
    fn tried(
        &self,
        file: &ModelFile,
        rows: &Samples,
        schema: &Schema,
        reader: &dyn ModelReader,
        seed: Seed,
    ) -> Result<Vec<Tried>> {
        let (mut tried, mut first_problem) = (Vec::new(), None);
        for adopted in self.candidates(file, schema) {
            match Tried::of(adopted, rows, schema, reader, seed) {
                Ok(one) => tried.push(one),
                Err(problem) => {
                    first_problem.get_or_insert(problem);
                }
            }
        }
        if tried.is_empty() {
            return Err(first_problem.unwrap_or_else(|| Error::setting("predictor", "cannot be asked in any way")));
        }
        // Outputs were tried in the order in which they are recognised: the first that fits is meant. Only a variance and a
        // deviation look alike.
        let is_class = !schema.target.task.classes().is_empty();
        if is_class {
            let first: BTreeMap<&str, ModelOutput> =
                tried.iter().rev().map(|one| (one.form(), one.adopted.output)).collect();
            let first: BTreeMap<String, ModelOutput> =
                first.into_iter().map(|(form, o)| (form.to_owned(), o)).collect();
            tried.retain(|one| first.get(one.form()) == Some(&one.adopted.output));
            tried.sort_by(|a, b| b.score.right.total_cmp(&a.score.right));
        } else {
            tried.sort_by(|a, b| b.score.right.total_cmp(&a.score.right).then(a.score.nll.total_cmp(&b.score.nll)));
        }
        Ok(tried)
    }

    /// The ways to ask that are tried: what was said, and otherwise every form.
    fn candidates(&self, file: &ModelFile, schema: &Schema) -> Vec<AdoptedPredictor> {
        let outputs = match self.output {
            Some(output) => vec![output],
            None => ModelOutput::of_task(&schema.target.task)
                .iter()
                .copied()
                .filter(|output| *output != ModelOutput::Quantiles || !self.quantiles.is_empty())
                .collect(),
        };
        let forms = match (&self.input.form, schema.image.is_some() || !self.input.columns.is_empty()) {
            (None, false) => vec![Some(InputForm::Encoded), Some(InputForm::Raw)],
            (form, _) => vec![*form],
        };
        let classes = if self.classes.is_empty() { file.classes.clone() } else { self.classes.clone() };
        let groups = self.groups.or_else(|| {
            let trees = file.trees.filter(|&trees| trees > 1 && self.files.len() == 1 && file.averages_trees);
            trees.map(|trees| trees.min(TREE_GROUPS))
        });
        let mut candidates = Vec::new();
        for form in forms {
            for &output in &outputs {
                candidates.push(AdoptedPredictor {
                    files: self.files.iter().map(|file| file.to_string_lossy().into_owned()).collect(),
                    output,
                    quantiles: if output == ModelOutput::Quantiles { self.quantiles.clone() } else { vec![] },
                    samples: self.samples,
                    mc_dropout: self.mc_dropout,
                    groups,
                    classes: classes.clone(),
                    input: ModelInput { form, ..self.input.clone() },
                });
            }
        }
        candidates
    }

    /// What was guessed, beside what else would fit.
    fn chosen(&self, tried: &[Tried], task: &Task) -> Vec<String> {
        let Some(best) = tried.first() else { return vec![] };
        let mut notes = Vec::new();
        if self.output.is_none() {
            let other = tried[1..].iter().find(|one| one.adopted.output != best.adopted.output);
            let beside = other.map_or(String::new(), |one| format!("; they could be {} too", one.adopted.output));
            notes.push(format!("its numbers are taken as {}{beside}", best.adopted.output));
        }
        if let (None, Some(form)) = (self.input.form, best.adopted.input.form) {
            let other = tried[1..].iter().find(|one| one.adopted.input.form != best.adopted.input.form);
            let meant = match form {
                InputForm::Encoded => "scaled columns and one-hot categories (encoded)",
                InputForm::Raw => "the data's own units (raw)",
            };
            let beside = other.map_or(String::new(), |one| {
                format!(", with which it is {} and not {}", best.score.brief(task), one.score.brief(task))
            });
            notes.push(format!("it is given {meant}{beside}"));
        }
        notes
    }

    /// How many posterior samples there are, and what cannot be told by them.
    fn samples_said(&self, best: &Tried, file: &ModelFile) -> Vec<String> {
        let samples = match &best.predictive {
            Predictive::Classes { log_probabilities } => log_probabilities.dims()[0],
            Predictive::Gaussian { mean, .. } => mean.dims()[0],
        };
        let mut notes = Vec::new();
        match samples {
            1 => notes.push(
                "it gives one answer a row (S = 1): its total uncertainty can be explained, but what of it more data would \
                 remove (epistemic) cannot be told; several files are an ensemble"
                    .to_owned(),
            ),
            samples => notes.push(format!("{samples} posterior samples")),
        }
        if file.dropouts > 0 && self.mc_dropout.is_none() {
            notes.push(format!(
                "it has {} dropouts, which are switched off; --mc-dropout 20 keeps them on",
                file.dropouts
            ));
        }
        if let (Some(groups), None) = (best.adopted.groups, self.groups) {
            notes.push(format!("its trees are averaged in {groups} groups, which are the samples"));
        }
        if best.adopted.output == ModelOutput::Mean {
            notes.push(
                "it answers with a value without its spread: what of its uncertainty is noise (aleatoric) is unknown, and \
                 counts as none"
                    .to_owned(),
            );
        }
        notes
    }
}

impl Tried {
    fn of(
        adopted: AdoptedPredictor,
        rows: &Samples,
        schema: &Schema,
        reader: &dyn ModelReader,
        seed: Seed,
    ) -> Result<Self> {
        adopted.validate()?;
        let predictor = reader.predictor(Path::new(""), &adopted, schema, seed)?;
        let predictive = answer(predictor.as_ref(), &tensor(rows.x.clone(), [rows.len(), rows.width]))?;
        let score = Score::of(&predictive, &rows.y, &schema.target.task)?;
        Ok(Self { adopted, predictor, predictive, score })
    }

    fn form(&self) -> &'static str {
        self.adopted.input.form.map_or("listed", InputForm::name)
    }
}

impl Understood {
    /// Copies the files of the model into a run, and returns what the run records.
    pub fn adopt_into(&self, folder: &RunFolder) -> Result<AdoptedPredictor> {
        let mut names: BTreeMap<String, PathBuf> = BTreeMap::new();
        let mut files = Vec::with_capacity(self.parts.len());
        for (at, (file, parts)) in self.adopted.files.iter().zip(&self.parts).enumerate() {
            let home = Path::new(file).parent().unwrap_or(Path::new(""));
            let several = self.parts.len() > 1;
            for part in parts {
                let below = part.strip_prefix(home).unwrap_or(part).to_string_lossy().replace('\\', "/");
                // Members may lie in folders of their own under one name.
                let taken = names.get(&below).is_some_and(|other| other != part);
                let below = if several && taken { format!("{at}/{below}") } else { below };
                if names.insert(below.clone(), part.clone()).is_none() {
                    folder.adopt("predictor", &below, part)?;
                }
                if part == Path::new(file) {
                    files.push(format!("predictor/{below}"));
                }
            }
        }
        Ok(AdoptedPredictor { files, ..self.adopted.clone() })
    }

    /// What the predictor says of some rows, for the probe of a run whose owner gave none.
    pub fn own_probe(&self, dataset: &Dataset) -> Result<Parameters> {
        let rows = some_rows(dataset);
        let rows = rows.select(&spread_evenly(rows.len(), PROBE_ROWS).collect::<Vec<_>>());
        let predictive = answer(self.predictor.as_ref(), &tensor(rows.x.clone(), [rows.len(), rows.width]))?;
        let mut layout = Layout::default();
        layout.push("x", &[rows.len(), rows.width]);
        let mut numbers = rows.x.clone();
        match predictive {
            Predictive::Classes { log_probabilities } => {
                layout.push("probabilities", &log_probabilities.dims());
                numbers.extend(values(log_probabilities.exp()));
            }
            Predictive::Gaussian { mean, .. } => {
                let Task::Regression(scaling) = &dataset.schema.target.task else {
                    return Err(Error::data("the predictor answers with values, and the target has classes"));
                };
                layout.push("mean", &[rows.len()]);
                numbers.extend(values(mean.mean_dim(0)).into_iter().map(|value| scaling.decode(value) as f32));
            }
        }
        Parameters::new(Arc::new(layout), numbers)
    }
}

/// Copies encoder and decoder into a run, and returns what the run records.
pub fn adopt_generative(folder: &RunFolder, reader: &dyn ModelReader, files: [&Path; 2]) -> Result<AdoptedGenerative> {
    let mut names = Vec::with_capacity(2);
    for (role, file) in ["encoder", "decoder"].into_iter().zip(files) {
        let home = file.parent().unwrap_or(Path::new(""));
        for part in reader.describe(file)?.parts {
            let below = part.strip_prefix(home).unwrap_or(&part).to_string_lossy().replace('\\', "/");
            folder.adopt("generative", &format!("{role}/{below}"), &part)?;
            if part == file {
                names.push(format!("generative/{role}/{below}"));
            }
        }
    }
    match <[String; 2]>::try_from(names) {
        Ok([encoder, decoder]) => Ok(AdoptedGenerative { encoder, decoder }),
        Err(_) => Err(Error::data("an encoder and a decoder are two files; give both")),
    }
}

/// Rows of a dataset to try a model on: of the test rows where there are some.
fn some_rows(dataset: &Dataset) -> Samples {
    let rows = if dataset.test.is_empty() { &dataset.train } else { &dataset.test };
    rows.select(&spread_evenly(rows.len(), ROWS).collect::<Vec<_>>())
}

/// An error if the model says something else of the same rows when it is asked again.
fn check_repeated(predictor: &dyn Predictor, rows: &Samples, before: &Predictive) -> Result<()> {
    let again = answer(predictor, &tensor(rows.x.clone(), [rows.len(), rows.width]))?;
    let numbers = |predictive: &Predictive| match predictive {
        Predictive::Classes { log_probabilities } => values(log_probabilities.clone().exp()),
        Predictive::Gaussian { mean, .. } => values(mean.clone()),
    };
    let (before, again) = (numbers(before), numbers(&again));
    match before.iter().zip(&again).all(|(a, b)| (a - b).abs() <= REPEATED) {
        true => Ok(()),
        false => Err(Error::data(
            "the model says something else of the same rows when it is asked again; export it with its random parts off",
        )),
    }
}

impl Score {
    /// The score of an answer; an error if it cannot be one.
    fn of(predictive: &Predictive, targets: &Targets, task: &Task) -> Result<Self> {
        match (predictive, task) {
            (Predictive::Classes { log_probabilities }, Task::Classification { classes }) => {
                let [samples, rows, width] = log_probabilities.dims();
                let p = values(log_probabilities.clone().exp());
                if let Some(at) = p.iter().position(|p| !p.is_finite()) {
                    return Err(Error::data(format!(
                        "the model's answer about row {} is {}",
                        at / width % rows,
                        p[at]
                    )));
                }
                let wrong = |(at, row): (usize, &[f32])| {
                    let sum: f32 = row.iter().sum();
                    (!((sum - 1.0).abs() <= SUM)).then_some((at % rows, sum))
                };
                if let Some((row, sum)) = p.chunks_exact(width).enumerate().find_map(wrong) {
                    let problem = format!("its probabilities of row {row} sum to {sum}, not to one");
                    return Err(Error::data(format!("{problem}; choose another output, such as logits")));
                }
                let mut mean = vec![0.0_f64; rows * width];
                for sample in p.chunks_exact(rows * width) {
                    mean.iter_mut().zip(sample).for_each(|(sum, p)| *sum += f64::from(*p) / samples as f64);
                }
                Ok(Self::of_classes(&mean, targets, classes.len()))
            }
            (Predictive::Gaussian { mean, variance }, Task::Regression(_)) => {
                let [samples, rows] = mean.dims();
                let (mean, variance) = (values(mean.clone()), values(variance.clone()));
                if let Some(at) = (0..mean.len()).find(|&at| !(mean[at].is_finite() && variance[at].is_finite())) {
                    return Err(Error::data(format!("the model's answer about row {} is {}", at % rows, mean[at])));
                }
                let over = |all: &[f32], row: usize| {
                    (0..samples).map(|s| f64::from(all[s * rows + row])).sum::<f64>() / samples as f64
                };
                let summary: Vec<(f64, f64)> = (0..rows).map(|row| (over(&mean, row), over(&variance, row))).collect();
                Ok(Self::of_values(&summary, targets))
            }
            _ => Err(Error::data("the model answers with another kind of target than the data have")),
        }
    }

    fn of_classes(mean: &[f64], targets: &Targets, classes: usize) -> Self {
        let Targets::Classes(labels) = targets else { return Self::unknown() };
        let rows = labels.len().max(1) as f64;
        let mut counts = vec![0_usize; classes];
        labels.iter().for_each(|&label| counts[label as usize] += 1);
        let largest = |p: &[f64]| (0..p.len()).rev().max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap_or(0);
        let each = || mean.chunks_exact(classes).zip(labels);
        let right = each().filter(|(p, label)| largest(p) == **label as usize).count() as f64 / rows;
        let nll = each().map(|(p, &label)| -p[label as usize].max(1e-12).ln()).sum::<f64>() / rows;
        Self { right, constant: counts.iter().max().map_or(0.0, |&most| most as f64 / rows), nll }
    }

    fn of_values(summary: &[(f64, f64)], targets: &Targets) -> Self {
        let Targets::Values(targets) = targets else { return Self::unknown() };
        let rows = targets.len().max(1) as f64;
        let centre = targets.iter().map(|&y| f64::from(y)).sum::<f64>() / rows;
        let spread = (targets.iter().map(|&y| (f64::from(y) - centre).powi(2)).sum::<f64>() / rows).sqrt();
        let each = || summary.iter().zip(targets).map(|(&(mean, variance), &y)| (mean - f64::from(y), variance));
        let rmse = (each().map(|(residual, _)| residual * residual).sum::<f64>() / rows).sqrt();
        let nll = each().map(|(residual, v)| 0.5 * (v.ln() + residual * residual / v)).sum::<f64>() / rows;
        Self { right: 1.0 - rmse / spread.max(f64::MIN_POSITIVE), constant: 0.0, nll }
    }

    /// Of rows whose targets nobody knows.
    fn unknown() -> Self {
        Self { right: f64::NAN, constant: f64::NAN, nll: f64::NAN }
    }

    fn brief(&self, task: &Task) -> String {
        match task {
            Task::Classification { .. } => format!("right about {:.1} % of rows", 100.0 * self.right),
            Task::Regression(_) => format!("off by {:.2} of the target's spread", 1.0 - self.right),
        }
    }

    /// The score beside that of a constant answer, and what to look for where it is no better.
    fn said(&self, task: &Task, rows: usize) -> Option<String> {
        if !self.right.is_finite() {
            return None;
        }
        let beside = match task {
            Task::Classification { .. } => {
                format!("the most frequent class alone would be about {:.1} %", 100.0 * self.constant)
            }
            Task::Regression(_) => "the mean alone would be off by 1".into(),
        };
        let told = format!("on {rows} rows it is {}; {beside}", self.brief(task));
        Some(match self.right > self.constant + BETTER {
            true => told,
            false => format!(
                "{told}: it knows no more than that of these rows, so look at the order and the units of the columns, the \
                 order of the classes, and what its numbers mean"
            ),
        })
    }
}
