//! Where experiments are carried out: models that are opened once, and sets of clues that are searched once.

pub use super::models::Place;
use super::spec::Spec;
use cluekit::amortise::{Encoded, Limit, Thresholds};
use cluekit::data::{DataDir, Image, Samples, Targets};
use cluekit::error::{Error, Result};
use cluekit::explainer::{CompareSettings, Entry, Explainer, Split};
use cluekit::explanation::Explanation;
use cluekit::observer::Observer;
use cluekit::prediction::{Prediction, ranked};
use cluekit::search::{Background, Convergence, Delta, Inputs, LatentBall, Models, Search, Weighted};
use cluekit::seed::Seed;
use cluekit::uncertainty::Uncertainty;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

/// Fewer rows are no group.
const LEAST_ROWS: usize = 8;

/// Models with what many experiments ask of them.
pub struct Stage {
    /// What they are called.
    pub name: String,
    /// Models and data.
    pub explainer: Explainer,
    /// What the predictor says of the test rows.
    pub predictions: Arc<Vec<Prediction>>,
    /// The test rows, the most uncertain first.
    pub ranked: Vec<usize>,
    /// A clue is accepted below this.
    pub threshold: f32,
    test: Arc<Samples>,
}

/// Opened models, remembered searches, and somebody who watches.
pub struct Laboratory<'a> {
    place: Place,
    observer: &'a mut dyn Observer,
    stages: BTreeMap<String, Arc<Stage>>,
    /// The models that the present experiment has asked for.
    used: BTreeSet<String>,
    found: BTreeMap<String, Arc<Vec<Explanation>>>,
    contests: BTreeMap<String, Arc<Vec<Entry>>>,
}

impl Stage {
    fn new(name: &str, explainer: Explainer) -> Result<Self> {
        let predictions = explainer.predictions(Split::Test)?;
        let ranked = ranked(&predictions, Uncertainty::Total);
        let (threshold, test) = (explainer.threshold(Uncertainty::Total)?, explainer.samples(Split::Test)?);
        Ok(Self { name: name.into(), explainer, predictions, ranked, threshold, test })
    }

    /// The models with what is known of their columns.
    pub fn models(&self) -> Result<Models<'_>> {
        self.explainer.unconstrained()
    }

    /// The test rows.
    pub fn test(&self) -> &Samples {
        &self.test
    }

    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        self.explainer.classes()
    }

    /// The shape of an input that is an image.
    pub fn image(&self) -> Result<&Image> {
        let name = &self.name;
        self.explainer.schema().and_then(|schema| schema.image.as_ref()).ok_or_else(|| {
            Error::setting("models", format!("`{name}` are models of a table, and this experiment shows images"))
        })
    }

    /// The true class of a test row.
    pub fn target(&self, row: usize) -> Option<usize> {
        match &self.test().y {
            Targets::Classes(labels) => Some(labels[row] as usize),
            Targets::Values(_) | Targets::Unknown(_) => None,
        }
    }

    /// The most uncertain test rows.
    pub fn top(&self, count: usize) -> &[usize] {
        &self.ranked[..count.min(self.ranked.len())]
    }

    /// The test rows above an uncertainty, the most uncertain first, but at least the eight most uncertain.
    pub fn above(&self, uncertainty: f32) -> &[usize] {
        let count = self.ranked.partition_point(|&row| self.predictions[row].uncertainty.total > uncertainty);
        self.top(count.max(LEAST_ROWS))
    }

    /// Test rows as inputs of a search.
    pub fn inputs(&self, rows: &[usize]) -> Result<Inputs> {
        Inputs::of(self.test(), rows, self.explainer.task())
    }

    /// What a search may know of the training rows.
    pub fn background(&self, search: &Search) -> Result<Background> {
        // No experiment asks how plausible clues are.
        let search = Search { plausibility: false, threshold: self.threshold, ..search.clone() };
        self.explainer.background(&search, Seed(0))
    }

    /// Rows to learn from and rows to choose settings on, as mappers see them.
    pub fn rows(&self, observer: &mut dyn Observer) -> Result<Arc<[Encoded; 2]>> {
        self.explainer.encoded(None, observer)
    }

    /// Who counts as uncertain, and who as certain, where mappers are fitted: either one or the other.
    pub fn thresholds(&self) -> Thresholds {
        Thresholds {
            uncertain_above: Limit::Value(self.threshold),
            certain_below: Limit::Value(self.threshold),
            kind: Uncertainty::Total,
        }
    }

    /// The search that judges the answers of mappers; it takes no step of its own.
    pub fn judging(&self, lambda_x: f32) -> Search {
        let mut search = Search { threshold: self.threshold, plausibility: false, ..Search::judging() };
        search.objective.input = Weighted(lambda_x, search.objective.input.1);
        search
    }
}

impl<'a> Laboratory<'a> {
    /// An empty laboratory.
    pub fn new(place: Place, observer: &'a mut dyn Observer) -> Self {
        Self {
            place,
            observer,
            stages: BTreeMap::new(),
            used: BTreeSet::new(),
            found: BTreeMap::new(),
            contests: BTreeMap::new(),
        }
    }

    /// Carries out an experiment.
    pub fn run(&mut self, spec: &Spec) -> Result<super::StudyResult> {
        self.used.clear();
        let finding = spec.study.run(self)?;
        let hashes = |name: &String| {
            (name.clone(), self.stages[name].explainer.run().map_or_else(Default::default, |run| run.hashes.clone()))
        };
        Ok(super::StudyResult { models: self.used.iter().map(hashes).collect(), ..finding })
    }

    /// The folder of the data.
    pub fn directory(&self) -> DataDir {
        self.place.directory()
    }

    /// The observer of all work.
    pub fn observer(&mut self) -> &mut dyn Observer {
        self.observer
    }

    /// The models called `name`; they are trained if they are not there yet.
    pub fn stage(&mut self, name: &str) -> Result<Arc<Stage>> {
        self.used.insert(name.into());
        if let Some(stage) = self.stages.get(name) {
            return Ok(stage.clone());
        }
        let stage = Arc::new(Stage::new(name, self.place.open(name, self.observer)?)?);
        self.stages.insert(name.into(), stage.clone());
        Ok(stage)
    }

    /// Explains test rows, or remembers how they were explained before under the same settings.
    pub fn explain(
        &mut self,
        stage: &Stage,
        search: &Search,
        rows: &[usize],
        seed: Seed,
    ) -> Result<Arc<Vec<Explanation>>> {
        let search = Search { threshold: stage.threshold, ..search.clone() };
        let settings = serde_json::to_string(&search).map_err(|error| Error::data(error.to_string()))?;
        // The settings do not say whether ways were asked for.
        let key = format!("{} {} {rows:?} {} {settings}", stage.name, seed.0, search.traced);
        if let Some(found) = self.found.get(&key) {
            return Ok(found.clone());
        }
        let background = stage.background(&search)?;
        let inputs = stage.inputs(rows)?;
        let found = search.explain(&stage.models()?, &background, &inputs, seed, self.observer)?;
        let found = Arc::new(found);
        self.found.insert(key, found.clone());
        Ok(found)
    }

    /// What methods make of test rows above an uncertainty; mappers that are not in the run yet are fitted.
    pub fn contest(&mut self, stage: &Stage, methods: &[String], above: f32, lambda_x: f32) -> Result<Arc<Vec<Entry>>> {
        let settings = CompareSettings {
            only: methods.to_vec(),
            thresholds: Some(stage.thresholds()),
            ..CompareSettings::default()
        };
        settings.validate()?;
        let key = format!("{} {above} {lambda_x} {methods:?}", stage.name);
        if let Some(entries) = self.contests.get(&key) {
            return Ok(entries.clone());
        }
        let inputs = stage.inputs(stage.above(above))?;
        let begun = Instant::now();
        let clock = || begun.elapsed().as_secs_f64();
        let search = stage.judging(lambda_x);
        let entries = Arc::new(stage.explainer.contest(&settings, &search, &inputs, &clock, self.observer)?);
        self.contests.insert(key, entries.clone());
        Ok(entries)
    }
}

/// δ-CLUE as the experiments ask for it.
pub(super) fn delta_clue(delta: f32, count: usize, lambda_x: f32, steps: usize) -> Result<Search> {
    let mut search = Search::delta_clue(Delta::Fixed(LatentBall::new(delta)?), count);
    search.convergence = Convergence::all_steps(steps);
    search.objective.input = Weighted(lambda_x, search.objective.input.1);
    Ok(search)
}
