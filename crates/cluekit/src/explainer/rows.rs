//! The rows that a model was made from: their splits, and what the predictor says of those to learn from.

use super::{Explainer, OpenedRun, held};
use crate::amortise::Encoded;
use crate::data::{
    self, Chosen, DataDir, Dataset, FileRows, Part, PartNames, RejectedRow, RowNames, Samples, Targets, spread_evenly,
};
use crate::error::{Error, Remedy, Result};
use crate::model::parameters::{Layout, Parameters};
use crate::model::pipeline::{validation_positions, validation_split};
use crate::named;
use crate::observer::{Observer, Shared, Silent};
use crate::prediction::{Prediction, UncertaintyParts, predict_watched};
use crate::search::{Inputs, PLAUSIBLE_ROWS, THRESHOLD_ROWS};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

named! {
    "split", "a split of the rows";
    /// The rows of a dataset to look at.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Split {
        /// Test rows: neither model learned from them.
        #[default]
        Test = "test",
        /// Validation rows: training was watched on them, and settings are chosen on them.
        Validation = "validation",
        /// Training rows, the validation rows included.
        Train = "train",
    }
}

/// Rows in memory; clones share them.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Name of the data.
    pub name: String,
    /// Training rows, the validation rows included.
    pub train: Arc<Samples>,
    /// Test rows: neither model learned from them.
    pub test: Arc<Samples>,
    /// Names of the rows, for those that come from a file with rows.
    pub names: PartNames,
    /// Files that the rows came from, with their hashes.
    pub sources: Vec<data::Source>,
}

impl From<Dataset> for Rows {
    fn from(dataset: Dataset) -> Self {
        let Dataset { name, train, test, sources, names, .. } = dataset;
        Self { name, train: Arc::new(train), test: Arc::new(test), names, sources }
    }
}

/// Where the rows of an explainer come from.
pub(super) enum Source {
    /// There are none.
    Nothing,
    /// They were given.
    Memory,
    /// They are read when they are first needed.
    Run(DataDir),
}

/// Some training rows, evenly spread over all.
pub(super) struct Spread {
    /// How many there are in all.
    count: usize,
    /// Which of them these are.
    numbers: Vec<usize>,
    samples: Arc<Samples>,
}

impl Spread {
    /// Those that are evenly spread for each of these numbers of rows.
    fn numbers(count: usize) -> Vec<usize> {
        let each = [THRESHOLD_ROWS, PLAUSIBLE_ROWS].map(|most| spread_evenly(count, most));
        each.into_iter().flatten().collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn select(&self, most: usize) -> Arc<Samples> {
        let place = |row: usize| self.numbers.binary_search(&row).expect("they were read for this number of rows");
        let places: Vec<usize> = spread_evenly(self.count, most).map(place).collect();
        if places.len() == self.samples.len() { self.samples.clone() } else { Arc::new(self.samples.select(&places)) }
    }
}

impl OpenedRun {
    /// Refuses data that changed since the run was made.
    fn check(&self, dataset: &Dataset) -> Result<()> {
        let sources = &self.record.sources;
        if !sources.is_empty() && sources.len() != dataset.sources.len() {
            let (path, then, now) = (self.folder.path().display(), sources.len(), dataset.sources.len());
            let problem = format!("{path} was made from {then} files, and now there are {now}");
            return Err(Error::DataChanged { problem }.remedy(Remedy::TrainAgain));
        }
        self.check_files(sources, &dataset.sources)
    }

    /// Refuses files that differ from what they were `then`.
    fn check_files(&self, then: &[data::Source], now: &[data::Source]) -> Result<()> {
        for (then, now) in then.iter().zip(now) {
            if then.sha256 != now.sha256 {
                let problem = format!(
                    "{} has changed since {} was made (SHA-256 {}, then {})",
                    now.file,
                    self.folder.path().display(),
                    now.sha256,
                    then.sha256
                );
                let restore = Remedy::Restore { file: now.file.clone() };
                return Err(Error::DataChanged { problem }.remedy(restore).remedy(Remedy::TrainAgain));
            }
        }
        Ok(())
    }
}

impl Explainer {
    /// All rows, read and checked against the hashes in `run.toml` when they are first asked for.
    pub fn rows(&self) -> Result<&Rows> {
        if self.known.rows.get().is_none() {
            let (Source::Run(directory), Some(run)) = (&self.source, &self.run) else {
                return Err(Error::data("no rows were given, and this looks at some; give training rows"));
            };
            let request = run.record.dataset.found_from(run.folder.path(), directory);
            let dataset = data::load(&request, self.schema(), directory)?;
            run.check(&dataset)?;
            let mut rows = Rows::from(dataset);
            rows.test = self.known.test.get().cloned().unwrap_or(rows.test);
            let _ = self.known.rows.set(rows);
        }
        Ok(self.known.rows.get().expect("it was just set"))
    }

    /// Rows of a file of one's own in the place of the test rows.
    #[must_use]
    pub fn with_file(mut self, file: FileRows) -> Self {
        self.known.predictions[Split::Test as usize] = Default::default();
        self.file = Some(file);
        self
    }

    /// Rows of the file in the place of the test rows that no model can be asked about; none without a file.
    pub fn rejected(&self) -> &[RejectedRow] {
        self.file.as_ref().map_or(&[], |own| &own.rejected)
    }

    /// Name of the file in the place of the test rows; none without one.
    pub fn file_name(&self) -> Option<&str> {
        self.file.as_ref().map(|own| own.name.as_str())
    }

    /// Names of the rows of a split.
    pub fn names(&self, split: Split) -> Result<RowNames> {
        self.samples(split)?;
        match (split, &self.file, self.known.rows.get()) {
            (Split::Test, Some(own), _) => Ok(own.names.clone()),
            (_, _, None) => Ok(RowNames::default()),
            (Split::Test, None, Some(rows)) => Ok(rows.names.test.clone()),
            (Split::Train, _, Some(rows)) => Ok(rows.names.train.clone()),
            (Split::Validation, _, Some(rows)) => {
                let [_, validation] =
                    validation_positions(rows.train.len(), self.validation_share, self.training_seed)?;
                Ok(rows.names.train.select(&validation))
            }
        }
    }

    /// The number that a row of a split goes by: its position, or that among all rows of a file of one's own.
    pub(super) fn number(&self, split: Split, position: usize) -> usize {
        match (&self.file, split) {
            (Some(own), Split::Test) => own.positions[position],
            _ => position,
        }
    }

    /// Rows of a split as inputs, with their names and numbers.
    pub fn inputs(&self, split: Split, positions: &[usize]) -> Result<Inputs> {
        let inputs = Inputs::of(&*self.samples(split)?, positions, &self.task)?;
        let numbers = positions.iter().map(|&position| self.number(split, position)).collect();
        Ok(inputs.called(numbers, self.names(split)?.select(positions)))
    }

    /// The rows of a split.
    pub fn samples(&self, split: Split) -> Result<Arc<Samples>> {
        let samples = match split {
            Split::Test => self.test_rows()?,
            Split::Train => self.rows()?.train.clone(),
            Split::Validation => Arc::new(self.learning_rows()?.1),
        };
        if samples.is_empty() && !(split == Split::Test && self.file.is_some()) {
            let given = || self.rows().map_or(String::new(), |rows| rows.name.clone());
            let path = self.run.as_ref().map_or_else(given, |run| run.folder.path().display().to_string());
            return Err(Error::data(format!("{path} has no {split} rows")));
        }
        Ok(samples)
    }

    /// Rows that nothing was learned from, without the others where they can be read alone.
    fn test_rows(&self) -> Result<Arc<Samples>> {
        if let Some(own) = &self.file {
            return Ok(own.samples.clone());
        }
        if let Some(test) = self.known.rows.get().map(|rows| &rows.test).or(self.known.test.get()) {
            return Ok(test.clone());
        }
        match self.read_some(Part::Test, &|count| Box::new(0..count))? {
            Some(test) => Ok(self.known.test.get_or_init(|| Arc::new(test)).clone()),
            None => Ok(self.rows()?.test.clone()),
        }
    }

    /// At most `most` training rows, evenly spread over all, without the others where they can be read alone.
    pub(super) fn spread_rows(&self, most: usize) -> Result<Arc<Samples>> {
        let mut spread = held(&self.known.spread);
        if self.known.rows.get().is_none() && spread.is_none() {
            let all = Cell::new(0);
            let chosen = |count| -> Box<dyn Iterator<Item = usize>> {
                all.set(count);
                Box::new(Spread::numbers(count).into_iter())
            };
            if let Some(samples) = self.read_some(Part::Train, &chosen)? {
                let (count, samples) = (all.get(), Arc::new(samples));
                *spread = Some(Spread { count, numbers: Spread::numbers(count), samples });
            }
        }
        match (self.known.rows.get(), &*spread) {
            (None, Some(spread)) => Ok(spread.select(most)),
            _ => {
                let train = &self.rows()?.train;
                Ok(Arc::new(train.select(&spread_evenly(train.len(), most).collect::<Vec<_>>())))
            }
        }
    }

    /// Lets go of rows that were read for the threshold and the plausibility, once both are known.
    pub(super) fn release_spread_rows(&self) {
        if self.known.some.get().is_some() {
            *held(&self.known.spread) = None;
        }
    }

    /// Some rows of a part, checked as all are; nothing where they cannot be read without the others.
    fn read_some(&self, part: Part, chosen: Chosen) -> Result<Option<Samples>> {
        let (Source::Run(directory), Some(run)) = (&self.source, &self.run) else { return Ok(None) };
        let request = run.record.dataset.found_from(run.folder.path(), directory);
        let read = data::load_some(&request, self.schema(), directory, part, chosen)?;
        let Some((samples, now)) = read else { return Ok(None) };
        let then = &run.record.sources;
        let of_part = if part == Part::Train { 0 } else { then.len().saturating_sub(now.len()) };
        run.check_files(&then[of_part..], &now)?;
        Ok(Some(samples))
    }

    /// Rows to learn from, and rows to choose settings on.
    fn learning_rows(&self) -> Result<(Samples, Samples)> {
        validation_split(&self.rows()?.train, self.validation_share, self.training_seed)
    }

    /// Rows to learn from and rows to choose settings on as mappers see them, of these classes or of all.
    ///
    /// What the predictor says of all rows is kept in the run, since it takes long to ask.
    pub fn encoded(&self, classes: Option<&[usize]>, observer: &mut dyn Observer) -> Result<Arc<[Encoded; 2]>> {
        if let (Some(encoded), None) = (self.known.encoded.get(), classes) {
            return Ok(encoded.clone());
        }
        let (train, validation) = self.learning_rows()?;
        // Weights made elsewhere may come without a validation split; then settings are chosen on the rows themselves.
        let validation = if validation.is_empty() { train.clone() } else { validation };
        let split = [train, validation];
        let wanted = split.each_ref().map(|samples| rows_of(samples, classes));
        let kept = match self.kept_predictions(&split) {
            Some(kept) => Some(kept),
            None if classes.is_none() => Some(self.ask_and_keep(&split, observer)?),
            None => None,
        };
        let models = self.unconstrained()?;
        let encode = |place: usize| -> Result<Encoded> {
            let (samples, rows) = (split[place].select(&wanted[place]), &wanted[place]);
            match &kept {
                Some(kept) => {
                    let predictions = rows.iter().map(|&row| kept[place][row].clone()).collect();
                    Encoded::with_predictions(&models, samples, predictions)
                }
                None => Encoded::of(&models, samples),
            }
        };
        let encoded = Arc::new([encode(0)?, encode(1)?]);
        match classes {
            Some(_) => Ok(encoded),
            None => Ok(self.known.encoded.get_or_init(|| encoded).clone()),
        }
    }

    /// All training rows with the uncertainty of each, which is kept in the run.
    pub(super) fn predicted_rows(&self) -> Result<(Arc<Samples>, Vec<UncertaintyParts>)> {
        let (train, validation) = self.learning_rows()?;
        let split = [train, validation];
        let says = match self.kept_predictions(&split) {
            Some(says) => says,
            None => self.ask_and_keep(&split, &mut Silent)?,
        };
        let [train, validation] = split;
        let uncertainty = says.iter().flatten().map(|prediction| prediction.uncertainty).collect();
        let (width, count) = (train.width, train.len() + validation.len());
        let samples = Samples { x: [train.x, validation.x].concat(), width, y: Targets::Unknown(count), weights: None };
        Ok((Arc::new(samples), uncertainty))
    }

    /// Predictions of both parts of the training rows, if they were kept.
    fn kept_predictions(&self, split: &[Samples; 2]) -> Option<[Vec<Prediction>; 2]> {
        let run = self.run.as_ref()?;
        let (layout, key) = self.place_of_predictions(split).ok()?;
        let outputs = layout.entries()[0].shape[1];
        let means = layout.entries()[0].len();
        let kept = run.folder.predictions(layout, &key)?;
        let (means, amounts) = kept.values.split_at(means);
        let row = |(mean, amounts): (&[f32], &[f32])| Prediction {
            mean: mean.to_vec(),
            uncertainty: UncertaintyParts { total: amounts[0], aleatoric: amounts[1], epistemic: amounts[2] },
        };
        let mut all: Vec<Prediction> = means.chunks_exact(outputs).zip(amounts.chunks_exact(3)).map(row).collect();
        let of_validation = all.split_off(split[0].len());
        Some([all, of_validation])
    }

    fn ask_and_keep(&self, split: &[Samples; 2], observer: &mut dyn Observer) -> Result<[Vec<Prediction>; 2]> {
        let count = split[0].len() + split[1].len();
        let what = format!("predictions of {count} training rows");
        let watched = Shared::new(observer, "predicting", count as u64);
        let done = |rows: usize| watched.add(rows as u64, f64::NAN);
        let ask = |samples: &Samples| predict_watched(self.predictor(), samples, &self.task, &done);
        let answers = [ask(&split[0])?, ask(&split[1])?];
        let Some(run) = &self.run else { return Ok(answers) };
        let (layout, key) = self.place_of_predictions(split)?;
        let means = answers.iter().flatten().flat_map(|prediction| prediction.mean.iter().copied());
        let amounts = answers.iter().flatten().map(|prediction| prediction.uncertainty);
        let numbers = means.chain(amounts.flat_map(|amounts| [amounts.total, amounts.aleatoric, amounts.epistemic]));
        let parameters = Parameters::new(Arc::new(layout), numbers.collect())?;
        match run.folder.write_predictions(&parameters, &key) {
            Ok(()) => observer.finished(&what, "made, and kept in the run"),
            Err(error) => observer.finished(&what, &format!("made, but not kept for the next time: {error}")),
        }
        Ok(answers)
    }

    /// The arrays that predictions are kept in, and what they depend on.
    fn place_of_predictions(&self, split: &[Samples; 2]) -> Result<(Layout, String)> {
        let outputs = if self.task.is_regression() { 1 } else { self.classes().len() };
        let count = split[0].len() + split[1].len();
        let mut layout = Layout::default();
        layout.push("mean", &[count, outputs]);
        layout.push("uncertainty", &[count, 3]);
        let sources: Vec<&str> = self.rows()?.sources.iter().map(|source| source.sha256.as_str()).collect();
        // Seed and size say which rows the validation split holds.
        let (seed, validation) = (self.training_seed().0, split[1].len());
        Ok((layout, format!("{seed} {validation} {}", sources.join(" "))))
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
