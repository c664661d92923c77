//! From a model made elsewhere to a run: what it is, what it sees, what it answers, and whether that can be right.
//!
//! What is not said is tried: a form of the input and of the output counts only if every answer is finite and probabilities
//! sum to one, and of several that fit the one that predicts best is taken, and said. A wrong order of columns, a wrong unit
//! or another order of classes shows in the score beside that of a constant answer.

mod score;

use crate::data::{Dataset, Feature, Samples, Schema, Task, spread_evenly};
use crate::error::{Error, Result};
use crate::model::adopted::probe::Probe;
use crate::model::adopted::{
    AdoptedPredictor, CategoryForm, InputColumn, InputForm, ModelFile, ModelInput, ModelOutput, ModelReader, Port,
    TREE_GROUPS, copy_predictor,
};
use crate::model::store::run::RunFolder;
use crate::model::{Predictive, Predictor};
use crate::prediction::answer;
use crate::seed::Seed;
use crate::tensor::{tensor, values};
use score::Score;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that a model is tried on.
const ROWS: usize = 512;
/// Rows that a probe keeps, where the owner of the model gives none.
const PROBE_ROWS: usize = 32;
/// The largest difference between two answers about the same row.
const REPEATED: f32 = 1e-5;

/// What a model can be given, in words.
const ENCODED: &str = "scaled columns and one-hot categories (encoded)";
const RAW: &str = "the data's own units (raw)";
const SCALED_FIRST: &str = "scaled numbers, and categories behind them";
const NUMBERS_FIRST: &str = "numbers in the data's own units, and categories behind them";
const LISTED: &str = "the columns that are listed";

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
    /// Names of each file and of those that belong to it, from the folder that it lies in.
    parts: Vec<Vec<PathBuf>>,
    /// What the user should know, and what was guessed.
    pub notes: Vec<String>,
    /// Why this may be another model than its owner has, or asked in another way than its owner asks.
    pub doubt: Option<&'static str>,
}

/// One way to ask a model, with what came of it.
struct Tried {
    adopted: AdoptedPredictor,
    predictor: Arc<dyn Predictor>,
    predictive: Predictive,
    score: Score,
}

impl Adoption {
    /// What the files hold, without asking the model.
    pub fn describe(&self, reader: &dyn ModelReader) -> Result<Vec<ModelFile>> {
        self.files.iter().map(|file| reader.describe(file)).collect()
    }

    /// Finds out how the model in these files is asked, by asking it about rows of a dataset.
    pub fn understand(
        &self,
        files: Vec<ModelFile>,
        dataset: &Dataset,
        reader: &dyn ModelReader,
        seed: Seed,
    ) -> Result<Understood> {
        let Some(first) = files.first() else { return Err(Error::setting("predictor", "names no file")) };
        let mut notes = self.held(&files);
        let rows = some_rows(dataset);
        let tried = self.tried(first, &rows, &dataset.schema, reader, seed)?;
        notes.extend(self.chosen(&tried, &dataset.schema.target.task));
        let best = tried.into_iter().next().ok_or_else(|| Error::setting("predictor", "names no file"))?;
        check_repeated(best.predictor.as_ref(), &rows, &best.predictive)?;
        notes.extend(best.score.said(&dataset.schema.target.task, rows.len()));
        let doubt = best.score.doubt();
        notes.extend(self.samples_said(&best, first));
        let parts = files.into_iter().map(|file| file.parts).collect();
        Ok(Understood { adopted: best.adopted, predictor: best.predictor, parts, notes, doubt })
    }

    /// What the files hold, in words.
    fn held(&self, files: &[ModelFile]) -> Vec<String> {
        let named = self.files.iter().zip(files).take(1).map(|(path, file)| {
            let ports = |ports: &[Port]| ports.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
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
            let first: BTreeMap<&'static str, ModelOutput> =
                tried.iter().rev().map(|one| (one.form(), one.adopted.output)).collect();
            tried.retain(|one| first.get(one.form()) == Some(&one.adopted.output));
            tried.sort_by(|a, b| a.score.loss.total_cmp(&b.score.loss));
        } else {
            tried.sort_by(|a, b| a.score.loss.total_cmp(&b.score.loss).then(a.score.nll.total_cmp(&b.score.nll)));
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
        let inputs = match (self.input.form, schema.image.is_some() || !self.input.columns.is_empty()) {
            (None, false) => inputs(&self.input, schema),
            _ => vec![self.input.clone()],
        };
        let classes = if self.classes.is_empty() { file.classes.clone() } else { self.classes.clone() };
        let groups = self.groups.or_else(|| {
            let trees = file.trees.filter(|&trees| trees > 1 && self.files.len() == 1 && file.averages_trees);
            trees.map(|trees| trees.min(TREE_GROUPS))
        });
        let mut candidates = Vec::new();
        for input in inputs {
            for &output in &outputs {
                candidates.push(AdoptedPredictor {
                    files: self.files.iter().map(|file| file.to_string_lossy().into_owned()).collect(),
                    output,
                    quantiles: if output == ModelOutput::Quantiles { self.quantiles.clone() } else { vec![] },
                    samples: self.samples,
                    mc_dropout: self.mc_dropout,
                    groups,
                    classes: classes.clone(),
                    input: input.clone(),
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
        if self.input.form.is_none() && self.input.columns.is_empty() && best.form() != LISTED {
            let other = tried[1..].iter().find(|one| one.form() != best.form());
            let beside = other.map_or(String::new(), |one| {
                format!(": {} that way, {} with {}", best.score.brief(task), one.score.brief(task), one.form())
            });
            notes.push(format!("it is given {}{beside}", best.form()));
            if best.form() == ENCODED || best.form() == SCALED_FIRST {
                notes.push(
                    "the scale is that of this run's training rows; a model with means and deviations of its own answers \
                     otherwise, so list them in [predictor.input], or give a probe with its answers"
                        .to_owned(),
                );
            }
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
            let dropouts = if file.dropouts == 1 {
                "its dropout is".into()
            } else {
                format!("its {} dropouts are", file.dropouts)
            };
            notes.push(format!("{dropouts} switched off; mc_dropout = 20 keeps 20 masks of it on"));
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

    /// What the model is given, in words.
    fn form(&self) -> &'static str {
        let ModelInput { form, columns, .. } = &self.adopted.input;
        match (form, columns.as_slice()) {
            (Some(InputForm::Encoded), []) => ENCODED,
            (Some(InputForm::Raw), []) => RAW,
            (Some(InputForm::Encoded), _) => SCALED_FIRST,
            (Some(InputForm::Raw), _) => NUMBERS_FIRST,
            (None, _) => LISTED,
        }
    }
}

impl Understood {
    /// Copies the files of the model into a run, and returns what the run records.
    pub fn adopt_into(&self, folder: &RunFolder) -> Result<AdoptedPredictor> {
        let files = copy_predictor(folder, &self.adopted.files, &self.parts)?;
        Ok(AdoptedPredictor { files, ..self.adopted.clone() })
    }

    /// The model's own answers about some rows of a dataset, for a run whose owner gives none.
    pub fn own_probe(&self, dataset: &Dataset) -> Result<Probe> {
        let rows = some_rows(dataset);
        let rows = rows.select(&spread_evenly(rows.len(), PROBE_ROWS).collect::<Vec<_>>());
        let x = tensor(rows.x.clone(), [rows.len(), rows.width]);
        Ok(Probe::answered(&x, answer(self.predictor.as_ref(), &x)?))
    }
}

/// What a model of a table may see of a row: the columns in the order of the data, or numbers first, as encoders of
/// categories leave them; scaled, or in the data's own units.
fn inputs(said: &ModelInput, schema: &Schema) -> Vec<ModelInput> {
    let in_order = |form| ModelInput { form: Some(form), ..said.clone() };
    let mut inputs = vec![in_order(InputForm::Encoded), in_order(InputForm::Raw)];
    let is_number = |feature: &&Feature| feature.kind.scaling().is_some();
    let (numbers, categories): (Vec<&Feature>, Vec<&Feature>) = schema.features.iter().partition(is_number);
    if schema.features.iter().skip_while(is_number).all(|feature| !is_number(&feature)) {
        return inputs;
    }
    for form in [InputForm::Raw, InputForm::Encoded] {
        for category in [CategoryForm::OneHot, CategoryForm::Values] {
            let number = |feature: &&Feature| {
                let column = InputColumn::of(&feature.name);
                match feature.kind.scaling().filter(|_| form == InputForm::Encoded) {
                    Some(scaling) => InputColumn { offset: scaling.mean, scale: scaling.deviation, ..column },
                    None => column,
                }
            };
            let word = |feature: &&Feature| InputColumn { form: Some(category), ..InputColumn::of(&feature.name) };
            let columns = numbers.iter().map(number).chain(categories.iter().map(word)).collect();
            inputs.push(ModelInput { columns, ..in_order(form) });
        }
    }
    inputs
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
