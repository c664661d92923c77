//! An opened model with its data: the one thing that every door uses.
//!
//! An [`Explainer`] owns a predictor, a generative model of its inputs, what their columns mean, and the rows that they
//! were made from, where these are known. It is opened from a run folder or put together from parts, may be shared
//! between threads, and computes once, when it is first asked for, what many questions need: predictions, the threshold
//! of acceptance, the distance, certain training points, what is plausible.
//!
//! ```text
//! open, new ─► rank, measure ─► choose ─► explain ─┐
//!                        └────► fit ─► apply, compare ┴─► audit
//! ```

mod adoption;
mod apply;
mod audit;
mod choose;
mod compare;
mod doubted;
mod explain;
mod fit;
mod fit_settings;
mod fitted;
mod gallery;
mod global;
mod jury;
mod learning;
mod matters;
mod measure;
mod rows;
mod set;
mod training;

pub use adoption::{Adoption, Understood};
pub use apply::{ApplySettings, BEST, is_taken, named_method, trade_off_note};
pub use audit::{AuditSettings, Audited};
pub use choose::{Ranked, Ranking, Selection};
pub use compare::{CompareSettings, ComparedMethod, Comparison, Entry, METHODS, Quantiles};
pub use fit::{CostSettings, GroupSettings};
pub use fit_settings::{ExampleSource, FitSettings};
pub use fitted::{FitSummary, FittedGroup};
pub use global::{ChangedExample, GlobalExplanation, GlobalSet};
pub use matters::SingleChange;
pub use rows::{Rows, Split};
pub use set::{ExplanationSet, Extremes, SweepRow};

use crate::data::{Constraints, DataDir, Dataset, FileRows, Samples, Schema, Task, spread_evenly};
use crate::distance::{Distance, Metric};
use crate::error::{Error, Remedy, Result};
use crate::model::adopted::{self, ModelReader};
use crate::model::pipeline::train_models;
use crate::model::plan::Plan;
use crate::model::store::run::{RunFolder, RunRecord};
use crate::model::{Generative, InputSpace, Predictor};
use crate::observer::Observer;
use crate::prediction::{Prediction, answer};
use crate::search::{
    Background, Certain, Jury, Models, PLAUSIBLE_ROWS, Plausible, Search, THRESHOLD_ROWS, TrainingRows, Usual,
};
use crate::seed::Seed;
use crate::uncertainty::Uncertainty;
use rows::Source;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// Training rows that a portfolio looks at, at the most.
const MOST_TRAINING_ROWS: usize = 50_000;

/// An opened model with its data: the door to every question of this crate.
pub struct Explainer {
    predictor: Arc<dyn Predictor>,
    generative: Option<Arc<dyn Generative>>,
    /// The columns of a table, in which it is searched where there is no generative model.
    input_space: Option<InputSpace>,
    schema: Option<Schema>,
    /// The same without constraints, which mappers know nothing of.
    unconstrained: Option<Schema>,
    task: Task,
    source: Source,
    run: Option<OpenedRun>,
    /// Rows of a file of one's own that are looked at instead of the test rows.
    file: Option<FileRows>,
    /// What training was seeded with, and the share of the training rows that settings are chosen on.
    training_seed: Seed,
    validation_share: f64,
    known: Known,
}

/// The folder that an explainer was opened from.
#[derive(Clone, Debug)]
pub struct OpenedRun {
    /// The folder of the run.
    pub folder: RunFolder,
    /// The contents of `run.toml`.
    pub record: RunRecord,
    /// SHA-256 of the files of both models, by file name.
    pub hashes: BTreeMap<String, String>,
}

/// What was computed once.
#[derive(Default)]
struct Known {
    rows: OnceLock<Rows>,
    /// Parts of the same that were read without the others.
    test: OnceLock<Arc<Samples>>,
    spread: Mutex<Option<rows::Spread>>,
    predictions: [OnceLock<Arc<Vec<Prediction>>>; 3],
    some: OnceLock<Vec<Prediction>>,
    usual_predictions: OnceLock<Vec<Prediction>>,
    metrics: Mutex<BTreeMap<&'static str, Metric>>,
    plausible: Mutex<BTreeMap<u64, Plausible>>,
    certain: Mutex<BTreeMap<(&'static str, u32), Certain>>,
    encoded: OnceLock<Arc<[crate::amortise::Encoded; 2]>>,
    training: OnceLock<Arc<TrainingRows>>,
    usual: OnceLock<Option<Arc<Usual>>>,
    jury: Mutex<Option<Option<Arc<Jury>>>>,
}

impl Explainer {
    /// Opens a run, checking every file; its data are read when they are first needed.
    ///
    /// ```
    /// use cluekit::Explainer;
    /// use cluekit::data::DataDir;
    /// use cluekit::error::ErrorKind;
    /// use std::path::Path;
    ///
    /// let nowhere = Explainer::open(Path::new("there/is/no/such/run"), &DataDir::locate(None));
    /// assert_eq!(nowhere.err().map(|error| error.kind()), Some(ErrorKind::NotFound));
    /// ```
    pub fn open(run: &Path, directory: &DataDir) -> Result<Self> {
        Self::opened_with(run, directory, None)
    }

    /// Opens a run whose models may lie in files of another program's format.
    pub fn open_with(run: &Path, directory: &DataDir, reader: &dyn ModelReader) -> Result<Self> {
        Self::opened_with(run, directory, Some(reader))
    }

    fn opened_with(run: &Path, directory: &DataDir, reader: Option<&dyn ModelReader>) -> Result<Self> {
        let folder = RunFolder::at(run);
        let record = folder.record()?;
        if !folder.has_predictor() {
            let problem = format!("{} has no predictor yet: its training did not end", run.display());
            return Err(Error::data(problem).remedy(Remedy::Resume { run: run.to_owned() }));
        }
        let schema = folder.schema()?;
        let reader = || {
            let problem = format!("{} has models in files of another program, which are not read here", run.display());
            reader.ok_or_else(|| Error::data(problem))
        };
        let predictor: Arc<dyn Predictor> = match &record.predictor {
            Some(adopted) => {
                adopted::check_below(&adopted.files)?;
                folder.check_model("predictor")?;
                reader()?.predictor(run, adopted, &schema, record.seed)?
            }
            None => Arc::new(folder.predictor(&schema)?),
        };
        let generative: Option<Arc<dyn Generative>> = match (&record.generative, folder.expects_generative()?) {
            (Some(adopted), _) => {
                adopted::check_below([&adopted.encoder, &adopted.decoder])?;
                folder.check_model("generative")?;
                Some(reader()?.generative(run, adopted, &schema)?)
            }
            (None, true) => Some(Arc::new(folder.generative(&schema)?)),
            (None, false) => None,
        };
        if let Some(probe) = folder.probe(&schema)? {
            probe.check(answer(predictor.as_ref(), probe.x())?)?;
        }
        let hashes = folder.model_hashes()?;
        let opened = Self {
            generative,
            source: Source::Run(directory.clone()),
            training_seed: record.seed,
            validation_share: record.plan.as_ref().map_or(0.0, |plan| plan.validation_share),
            run: Some(OpenedRun { folder, record, hashes }),
            ..Self::of(predictor)
        };
        Ok(opened.with_schema(schema))
    }

    /// A classifier and a generative model of its inputs, of whose columns and rows nothing is known yet.
    ///
    /// ```
    /// # use cluekit::model::{Generative, Predictive, Predictor};
    /// # use cluekit::tensor::{Tensor, log_softmax};
    /// # struct Logistic;
    /// # impl Predictor for Logistic {
    /// #     fn predict(&self, x: &Tensor<2>) -> cluekit::Result<Predictive> {
    /// #         let first = x.clone().narrow(1, 0, 1);
    /// #         let logits = Tensor::cat(vec![first.clone() * -0.5, first * 0.5], 1);
    /// #         Ok(Predictive::Classes { log_probabilities: log_softmax(logits, 1).unsqueeze() })
    /// #     }
    /// # }
    /// # struct Same;
    /// # impl Generative for Same {
    /// #     fn latent_dim(&self) -> usize { 1 }
    /// #     fn encode(&self, x: &Tensor<2>) -> cluekit::Result<Tensor<2>> { Ok(x.clone()) }
    /// #     fn decode(&self, z: &Tensor<2>) -> cluekit::Result<Tensor<2>> { Ok(z.clone()) }
    /// # }
    /// use cluekit::Explainer;
    /// use std::sync::Arc;
    ///
    /// // p(1 | x) = σ(x₁), and a latent space that is the input space.
    /// let explainer = Explainer::new(Arc::new(Logistic), Arc::new(Same));
    /// assert!(explainer.has_generative() && explainer.schema().is_none());
    /// ```
    pub fn new(predictor: Arc<dyn Predictor>, generative: Arc<dyn Generative>) -> Self {
        Self { generative: Some(generative), ..Self::of(predictor) }
    }

    /// Trains both models on a dataset, in memory.
    ///
    /// ```
    /// use cluekit::data::{DataDir, Request, load};
    /// use cluekit::explainer::Split;
    /// use cluekit::observer::Silent;
    /// use cluekit::{Explainer, Plan, Seed, Uncertainty};
    ///
    /// let moons = load(&Request::new("moons"), None, &DataDir::locate(None))?;
    /// let mut plan = Plan::for_dataset(&moons);
    /// (plan.generative.fit.epochs, plan.predictor.samples) = (1, 2);
    /// (plan.predictor.sampler.burn_in_epochs, plan.predictor.sampler.thinning_epochs) = (1, 1.0);
    /// let explainer = Explainer::train(moons, &plan, Seed(0), &mut Silent)?;
    /// let unsure = explainer.rank(Split::Test, Uncertainty::Total, 3)?;
    /// assert_eq!(unsure.inputs.len(), 3);
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn train(dataset: Dataset, plan: &Plan, seed: Seed, observer: &mut dyn Observer) -> Result<Self> {
        let (generative, predictor) = train_models(plan, &dataset, seed, observer)?;
        let validation_share = plan.validation_share;
        Ok(Self { training_seed: seed, validation_share, ..Self::new(predictor, generative) }.with_rows(dataset))
    }

    /// A classifier without a generative model: rows of a table are explained in their own columns.
    ///
    /// ```
    /// use cluekit::data::{DataDir, Request, load};
    /// use cluekit::model::{Boosted, BoostedPlan};
    /// use cluekit::{Explainer, Seed};
    /// use std::sync::Arc;
    ///
    /// let moons = load(&Request::new("moons"), None, &DataDir::locate(None))?;
    /// let plan = BoostedPlan { rounds: 10, ..BoostedPlan::default() };
    /// let trees = Boosted::fit(&plan, &moons.train, &moons.schema.target.task, Seed(0), &|| Ok(()))?;
    /// let explainer = Explainer::of(Arc::new(trees)).with_rows(moons);
    /// assert!(explainer.can_search() && !explainer.has_generative());
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn of(predictor: Arc<dyn Predictor>) -> Self {
        Self {
            predictor,
            generative: None,
            input_space: None,
            schema: None,
            unconstrained: None,
            task: Task::Classification { classes: vec![] },
            source: Source::Nothing,
            run: None,
            file: None,
            training_seed: Seed(0),
            validation_share: 0.0,
            known: Known::default(),
        }
    }

    /// This explainer with a schema: meaning of the columns, target and constraints.
    #[must_use]
    pub fn with_schema(mut self, schema: Schema) -> Self {
        self.task = schema.target.task.clone();
        self.unconstrained = Some(schema.without_constraints());
        self.input_space = schema.image.is_none().then(|| InputSpace { width: schema.width() });
        self.schema = Some(schema);
        self.forget_metrics();
        self
    }

    /// This explainer for another target, such as a regression or classes with names.
    #[must_use]
    pub fn with_task(mut self, task: Task) -> Self {
        self.task = task;
        self
    }

    /// This explainer with the rows of a dataset, and the meaning of their columns.
    #[must_use]
    pub fn with_rows(mut self, dataset: Dataset) -> Self {
        let schema = dataset.schema.clone();
        self.known.rows = OnceLock::from(Rows::from(dataset));
        self.source = Source::Memory;
        self.with_schema(schema)
    }

    /// This explainer under other constraints; an error if the schema does not allow them.
    pub fn with_constraints(mut self, constraints: Constraints) -> Result<Self> {
        let Some(schema) = &mut self.schema else {
            let problem = "are for the features of a table, and nothing is known of the columns; give a schema";
            return Err(Error::setting("constraints", problem));
        };
        schema.constraints = constraints;
        schema.constraints.validate(schema)?;
        self.forget_metrics();
        Ok(self)
    }

    /// Distances that were learned under other costs of features are learned anew.
    fn forget_metrics(&mut self) {
        self.known.metrics = Mutex::default();
    }

    /// Both models, with what is known of their columns.
    pub fn models(&self) -> Result<Models<'_>> {
        self.view(self.schema.as_ref())
    }

    /// Both models without constraints, as mappers see them.
    pub fn unconstrained(&self) -> Result<Models<'_>> {
        self.view(self.unconstrained.as_ref())
    }

    fn view<'a>(&'a self, schema: Option<&'a Schema>) -> Result<Models<'a>> {
        let models = Models::new(self.searched_space()?, self.predictor.as_ref());
        let models = schema.map_or(models, |schema| models.with_schema(schema));
        Ok(models.with_task(&self.task))
    }

    /// The predictor, whose uncertainty is explained.
    pub fn predictor(&self) -> &dyn Predictor {
        self.predictor.as_ref()
    }

    /// The same, to be shared.
    pub fn shared_predictor(&self) -> Arc<dyn Predictor> {
        self.predictor.clone()
    }

    /// Whether there is a generative model, and so a latent space to search in.
    pub fn has_generative(&self) -> bool {
        self.generative.is_some()
    }

    /// Whether inputs can be explained: in a latent space, or in the columns of a table.
    pub fn can_search(&self) -> bool {
        self.has_generative() || self.input_space.is_some()
    }

    /// The latent space of the generative model; without one the columns of a table themselves.
    fn searched_space(&self) -> Result<&dyn Generative> {
        match (&self.generative, &self.input_space) {
            (None, Some(columns)) => Ok(columns),
            _ => self.generative(),
        }
    }

    /// The generative model of the predictor's inputs; an error if there is none.
    pub fn generative(&self) -> Result<&dyn Generative> {
        self.generative.as_deref().ok_or_else(|| {
            let run = self.run.as_ref().map_or("the explainer".into(), |run| run.folder.path().display().to_string());
            Error::data(format!("{run} has no generative model, so there is no latent space to search in; train one"))
        })
    }

    /// Schema of the columns; none if it is unknown.
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref()
    }

    /// Schema of the columns; an error if it is unknown.
    pub fn known_schema(&self) -> Result<&Schema> {
        self.schema().ok_or_else(|| Error::data("nothing is known of the columns; give a schema"))
    }

    /// Task of the predictor: classes or a value.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Names of the classes; empty for a regression.
    pub fn classes(&self) -> &[String] {
        self.task.classes()
    }

    /// The run that the explainer was opened from; none for models in memory.
    pub fn run(&self) -> Option<&OpenedRun> {
        self.run.as_ref()
    }

    /// The run that the explainer was opened from; an error for models in memory.
    pub fn opened(&self) -> Result<&OpenedRun> {
        self.run().ok_or_else(|| Error::data("these models were put together in memory; save them in a run first"))
    }

    /// Seed of the models' training.
    pub fn training_seed(&self) -> Seed {
        self.training_seed
    }

    /// Predictions for every row of a split.
    pub fn predictions(&self, split: Split) -> Result<Arc<Vec<Prediction>>> {
        let place = &self.known.predictions[split as usize];
        if let Some(predictions) = place.get() {
            return Ok(predictions.clone());
        }
        let samples = self.samples(split)?;
        let predictions = Arc::new(crate::prediction::predict(self.predictor(), &samples, &self.task)?);
        Ok(place.get_or_init(|| predictions).clone())
    }

    /// What it says of some training rows, evenly spread over all.
    fn some_predictions(&self) -> Result<&[Prediction]> {
        if self.known.some.get().is_none() {
            let rows = self.spread_rows(THRESHOLD_ROWS)?;
            let some = crate::prediction::predict(self.predictor(), &rows, &self.task)?;
            let _ = self.known.some.set(some);
        }
        Ok(self.known.some.get().expect("it was just set"))
    }

    /// What it says of the rows that thresholds are taken from: some training rows. Of a model from elsewhere some test
    /// rows, since forests know the rows by heart that they learned from, and are unsure about all others.
    fn usual_predictions(&self) -> Result<&[Prediction]> {
        let is_adopted = self.run.as_ref().is_some_and(|run| run.record.predictor.is_some());
        if !is_adopted || self.rows()?.test.is_empty() {
            return self.some_predictions();
        }
        if self.known.usual_predictions.get().is_none() {
            let test = &self.rows()?.test;
            let rows = test.select(&spread_evenly(test.len(), THRESHOLD_ROWS).collect::<Vec<_>>());
            let says = crate::prediction::predict(self.predictor(), &rows, &self.task)?;
            let _ = self.known.usual_predictions.set(says);
        }
        Ok(self.known.usual_predictions.get().expect("it was just set"))
    }

    /// Default uncertainty of a kind below which a clue is accepted.
    pub fn threshold(&self, kind: Uncertainty) -> Result<f32> {
        Ok(crate::search::usual_threshold(self.usual_predictions()?, &self.task, kind))
    }

    /// Default total uncertainty above which the model counts as unsure, where clues are accepted below `accepted`.
    pub fn unsure_above(&self, accepted: f32) -> Result<f32> {
        match self.task.is_regression() {
            true => Ok(crate::search::unsure_above(self.usual_predictions()?, &self.task, accepted)),
            false => Ok(crate::search::unsure_above(&[], &self.task, accepted)),
        }
    }

    /// A distance between inputs, learned from training rows where it has to be.
    pub fn metric(&self, kind: Distance) -> Result<Metric> {
        if !kind.needs_data() {
            return Metric::fit(kind, &[], 1, self.schema());
        }
        let mut metrics = held(&self.known.metrics);
        if let Some(metric) = metrics.get(kind.name()) {
            return Ok(metric.clone());
        }
        let Samples { x, width, .. } = &*self.rows()?.train;
        let metric = Metric::fit(kind, x, *width, self.schema())?;
        metrics.insert(kind.name(), metric.clone());
        Ok(metric)
    }

    /// Judge of what is plausible among the training rows.
    pub fn plausible(&self, seed: Seed) -> Result<Plausible> {
        self.plausible_and_kept(seed, false)
    }

    /// The same; what had to be measured may be kept in the run.
    fn plausible_and_kept(&self, seed: Seed, keep: bool) -> Result<Plausible> {
        let mut known = held(&self.known.plausible);
        if let Some(plausible) = known.get(&seed.0) {
            return Ok(plausible.clone());
        }
        // The rows of a table are read anyhow, and their files are small; images would have to be hashed.
        let place = match (&self.run, self.is_table()) {
            (Some(run), true) => {
                Some((run, format!("{} {} {}", seed.0, run.folder.hash_of_generative()?, self.key_of_jury()?)))
            }
            _ => None,
        };
        let kept = place.as_ref().and_then(|(run, key)| run.folder.kept(PLAUSIBLE, key));
        let plausible = match kept.and_then(|arrays| Plausible::read(&arrays, seed)) {
            Some(plausible) => plausible,
            None => {
                let rows = self.spread_rows(PLAUSIBLE_ROWS)?;
                let plausible = Plausible::among(&self.models()?, &rows.x, rows.width, seed)?;
                self.release_spread_rows();
                if let Some((run, key)) = place.filter(|_| keep) {
                    run.folder.keep(PLAUSIBLE, &plausible.parameters()?, &key);
                }
                plausible
            }
        };
        known.insert(seed.0, plausible.clone());
        Ok(plausible)
    }

    /// Training rows, evenly spread over all where there are very many, with what the predictor says of each.
    fn training_rows(&self) -> Result<Arc<TrainingRows>> {
        if self.known.training.get().is_none() {
            let (samples, uncertainty) = match self.rows()?.train.len() <= MOST_TRAINING_ROWS {
                true => self.predicted_rows()?,
                false => {
                    let samples = self.spread_rows(MOST_TRAINING_ROWS)?;
                    let says = crate::prediction::predict(self.predictor(), &samples, &self.task)?;
                    (samples, says.into_iter().map(|prediction| prediction.uncertainty).collect())
                }
            };
            let rows = TrainingRows::new(self.known_schema()?, samples, uncertainty, self.jury()?.as_deref())?;
            let _ = self.known.training.set(Arc::new(rows));
        }
        Ok(self.known.training.get().expect("it was just set").clone())
    }

    /// What is usual among the training rows of a table; none where they are too few to say.
    fn usual(&self) -> Result<Option<Arc<Usual>>> {
        if self.known.usual.get().is_none() {
            let usual = Usual::among(self.known_schema()?, self.rows()?.train.clone());
            let _ = self.known.usual.set(usual.map(Arc::new));
        }
        Ok(self.known.usual.get().expect("it was just set").clone())
    }

    /// Whether the rows that the models were made from are known.
    fn has_rows(&self) -> bool {
        !matches!(self.source, Source::Nothing)
    }

    /// Whether inputs are rows of a table.
    pub fn is_table(&self) -> bool {
        self.schema().is_some_and(|schema| schema.image.is_none())
    }

    /// Training rows to look in for certain ones: those with an uncertainty of this kind below `below`.
    pub fn certain(&self, kind: Uncertainty, below: f32) -> Result<Certain> {
        let mut known = held(&self.known.certain);
        let key = (kind.name(), below.to_bits());
        if let Some(certain) = known.get(&key) {
            return Ok(certain.clone());
        }
        let certain = Certain::among(&self.models()?, self.rows()?.train.clone(), kind, below)?;
        known.insert(key, certain.clone());
        Ok(certain)
    }

    /// The jury, certain where a search accepts.
    fn jury_at(&self, search: &Search) -> Result<Option<Arc<Jury>>> {
        let by_total = search.accepted_by() == Uncertainty::Total;
        let at = |jury: Arc<Jury>| match by_total {
            true => Arc::new(Jury { threshold: search.threshold, ..(*jury).clone() }),
            false => jury,
        };
        Ok(self.jury()?.map(at))
    }

    /// What `search` needs to know of the training rows: its distance, certain points, and what is plausible.
    pub fn background(&self, search: &Search, seed: Seed) -> Result<Background> {
        let has_rows = self.has_rows();
        let beside = search.portfolio.is_some() && has_rows && self.is_table();
        let models = self.models()?;
        Ok(Background {
            metric: Some(self.metric(search.objective.input.1)?),
            certain: match search.needs_certain() && !search.portfolio_is_enough(&models, beside) {
                true => Some(self.certain(search.accepted_by(), search.threshold)?),
                false => None,
            },
            plausible: match search.plausibility && has_rows && self.has_generative() {
                true => Some(self.plausible_and_kept(seed, beside)?),
                false => None,
            },
            rows: if beside { Some(self.training_rows()?) } else { None },
            jury: if search.portfolio.is_some() && has_rows { self.jury_at(search)? } else { None },
            usual: if beside { self.usual()? } else { None },
            by_heart: self.is_forest(),
        })
    }
}

/// File of a run that keeps what is plausible among its training rows.
const PLAUSIBLE: &str = "plausible.safetensors";

/// What is behind a lock; a thread that panicked has left it as it was.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
