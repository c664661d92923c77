//! An opened run: its models, its data, and what they say of the training rows.
//!
//! A run folder is files; a studio is what one works with: both models ready to be asked, the rows they were made from,
//! checked against the hashes in `run.toml`, and predictions that are kept because asking takes long.

use crate::amortise::{Encoded, Fitted};
use crate::data::{self, Constraints, DataDir, Dataset, Samples, Schema, Targets};
use crate::error::{Error, Result};
use crate::model::parameters::{Layout, Parameters};
use crate::model::pipeline::validation_split;
use crate::model::stacked::Stacked;
use crate::model::store::run::{Record, RunFolder};
use crate::model::vae::Vae;
use crate::observer::{Observer, Shared};
use crate::prediction::{Amounts, Prediction, predict_watched};
use crate::search::Models;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A run that is finished.
pub struct Run {
    /// Where it lies.
    pub folder: RunFolder,
    /// What `run.toml` says.
    pub record: Record,
    /// What the columns mean.
    pub schema: Schema,
    /// The model whose uncertainty is to be explained.
    pub predictor: Stacked,
}

impl Run {
    /// Opens the run, checking every file.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = RunFolder::at(path);
        let record = folder.record()?;
        if !folder.has_predictor() {
            let problem = "has no predictor yet: its training did not end; go on with";
            let path = path.display();
            return Err(Error::data(format!("{path} {problem} `clue train … --out {path} --resume`")));
        }
        let schema = folder.schema()?;
        let predictor = folder.predictor(&schema)?;
        Ok(Self { folder, record, schema, predictor })
    }

    /// The data that the run was made from, checked against the hashes in `run.toml`.
    pub fn dataset(&self, directory: &DataDir) -> Result<Dataset> {
        let path = self.folder.path().display();
        let dataset = data::load(&self.record.dataset, Some(&self.schema), directory)?;
        if !self.record.sources.is_empty() && self.record.sources.len() != dataset.sources.len() {
            let (then, now) = (self.record.sources.len(), dataset.sources.len());
            return Err(Error::data(format!(
                "{path} was made from {then} files, and now there are {now}; train again"
            )));
        }
        for (then, now) in self.record.sources.iter().zip(&dataset.sources) {
            if then.sha256 != now.sha256 {
                return Err(Error::data(format!(
                    "{} has changed since {path} was made (SHA-256 {}, then {}); restore it or train again",
                    now.file, now.sha256, then.sha256
                )));
            }
        }
        Ok(dataset)
    }

    /// Of the training rows, the share that settings are chosen on.
    pub fn validation_share(&self) -> f64 {
        self.record.plan.as_ref().map_or(0.0, |plan| plan.validation_share)
    }
}

/// An opened run with its data.
pub struct Studio {
    /// The run.
    pub run: Run,
    /// Its generative model.
    pub generative: Vae,
    /// Hashes of the files of both models.
    pub hashes: BTreeMap<String, String>,
    /// Its data.
    pub dataset: Dataset,
}

impl Studio {
    /// Opens a run and reads its data.
    pub fn open(run: &Path, directory: &DataDir) -> Result<Self> {
        let run = Run::open(run)?;
        let generative = run.folder.generative(&run.schema)?;
        let hashes = run.folder.model_hashes()?;
        let dataset = run.dataset(directory)?;
        Ok(Self { run, generative, hashes, dataset })
    }

    /// The same without constraints: mappers know none. They are for single inputs, and checked when one is applied.
    pub fn unconstrained(mut self) -> Self {
        self.run.schema.constraints = Constraints::default();
        self
    }

    /// The models with what is known of their columns.
    pub fn models(&self) -> Models<'_> {
        Models::new(&self.generative, &self.run.predictor).with_schema(&self.run.schema)
    }

    /// Rows to learn from and rows to choose settings on, of these classes or of all.
    ///
    /// What the predictor says of all rows is kept in the run, since it takes long to ask.
    pub fn rows(&self, classes: Option<&[usize]>, observer: &mut dyn Observer) -> Result<[Encoded; 2]> {
        let share = self.run.validation_share();
        let (train, validation) = validation_split(&self.dataset.train, share, self.run.record.seed)?;
        // Weights made elsewhere may come without a validation split; then settings are chosen on the rows themselves.
        let validation = if validation.is_empty() { train.clone() } else { validation };
        let split = [train, validation];
        let wanted = split.each_ref().map(|samples| rows_of(samples, classes));
        let kept = match self.kept_predictions(&split) {
            Some(kept) => Some(kept),
            None if classes.is_none() => Some(self.ask_and_keep(&split, observer)?),
            None => None,
        };
        let encode = |place: usize| -> Result<Encoded> {
            let (samples, rows) = (split[place].select(&wanted[place]), &wanted[place]);
            match &kept {
                Some(kept) => {
                    let predictions = rows.iter().map(|&row| kept[place][row].clone()).collect();
                    Encoded::with_predictions(&self.models(), samples, predictions)
                }
                None => Encoded::of(&self.models(), samples),
            }
        };
        Ok([encode(0)?, encode(1)?])
    }

    /// Predictions of both parts of the training rows, if they were kept.
    fn kept_predictions(&self, split: &[Samples; 2]) -> Option<[Vec<Prediction>; 2]> {
        let (layout, key) = self.place_of_predictions(split);
        let outputs = layout.entries()[0].shape[1];
        let means = layout.entries()[0].len();
        let kept = self.run.folder.predictions(layout, &key)?;
        let (means, amounts) = kept.values.split_at(means);
        let row = |(mean, amounts): (&[f32], &[f32])| Prediction {
            mean: mean.to_vec(),
            uncertainty: Amounts { total: amounts[0], aleatoric: amounts[1], epistemic: amounts[2] },
        };
        let mut all: Vec<Prediction> = means.chunks_exact(outputs).zip(amounts.chunks_exact(3)).map(row).collect();
        let of_validation = all.split_off(split[0].len());
        Some([all, of_validation])
    }

    fn ask_and_keep(&self, split: &[Samples; 2], observer: &mut dyn Observer) -> Result<[Vec<Prediction>; 2]> {
        let work = Shared::new(observer, "predicting", (split[0].len() + split[1].len()) as u64);
        let ask = |samples: &Samples| {
            let done = |rows: usize| work.add(rows as u64, f64::NAN);
            predict_watched(&self.run.predictor, samples, &self.run.schema.target.task, &done)
        };
        let answers = [ask(&split[0])?, ask(&split[1])?];
        let (layout, key) = self.place_of_predictions(split);
        let means = answers.iter().flatten().flat_map(|prediction| prediction.mean.iter().copied());
        let amounts = answers.iter().flatten().map(|prediction| prediction.uncertainty);
        let numbers = means.chain(amounts.flat_map(|amounts| [amounts.total, amounts.aleatoric, amounts.epistemic]));
        let parameters = Parameters::new(Arc::new(layout), numbers.collect())?;
        let what = format!("predictions of {} training rows", answers[0].len() + answers[1].len());
        match self.run.folder.write_predictions(&parameters, &key) {
            Ok(()) => observer.finished(&what, "made, and kept in the run"),
            Err(error) => observer.finished(&what, &format!("made, but not kept for the next time: {error}")),
        }
        Ok(answers)
    }

    /// The arrays that predictions are kept in, and what they depend on.
    fn place_of_predictions(&self, split: &[Samples; 2]) -> (Layout, String) {
        let task = &self.run.schema.target.task;
        let outputs = if task.is_regression() { 1 } else { task.classes().len() };
        let count = split[0].len() + split[1].len();
        let mut layout = Layout::default();
        layout.push("mean", &[count, outputs]);
        layout.push("uncertainty", &[count, 3]);
        let sources: Vec<&str> = self.dataset.sources.iter().map(|source| source.sha256.as_str()).collect();
        // Seed and size say which rows the validation split holds.
        let (seed, validation) = (self.run.record.seed.0, split[1].len());
        (layout, format!("{seed} {validation} {}", sources.join(" ")))
    }

    /// The saved mappers called `name`.
    pub fn load(&self, name: &str) -> Result<Fitted> {
        let store = self.run.folder.mappers();
        Fitted::load(&store, name, &self.models(), &self.hashes)
    }

    /// Saves mappers under a name.
    pub fn save(&self, fitted: &Fitted, name: &str) -> Result<()> {
        fitted.save(&self.run.folder.mappers(), name, &self.models(), self.hashes.clone())
    }
}

/// The rows of these classes, or all.
fn rows_of(samples: &Samples, classes: Option<&[usize]>) -> Vec<usize> {
    match (&samples.y, classes) {
        (Targets::Classes(labels), Some(classes)) => {
            (0..labels.len()).filter(|&row| classes.contains(&(labels[row] as usize))).collect()
        }
        _ => (0..samples.len()).collect(),
    }
}
