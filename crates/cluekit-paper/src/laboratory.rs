//! Where experiments are carried out: models that are opened once, and sets of clues that are searched once.

pub use super::models::Place;
use super::spec::Spec;
use cluekit::amortise::{Encoded, Limit, Scheme, Thresholds, Workshop};
use cluekit::compare::{Contest, Entry, MAPPERS, Mappers, OTHERS};
use cluekit::data::{DataDir, Image, Samples, Targets};
use cluekit::error::{Error, Result};
use cluekit::explanation::Explanation;
use cluekit::observer::Observer;
use cluekit::prediction::{Prediction, predict};
use cluekit::search::{
    Background, Certain, Convergence, Delta, Inputs, LatentBall, Models, Search, Weighted, usual_threshold,
};
use cluekit::seed::Seed;
use cluekit::studio::Studio;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Fewer rows are no group.
const LEAST_ROWS: usize = 8;

/// Models with what many experiments ask of them.
pub struct Stage {
    /// What they are called.
    pub name: String,
    /// Models and data.
    pub studio: Studio,
    /// What the predictor says of the test rows.
    pub predictions: Vec<Prediction>,
    /// The test rows, the most uncertain first.
    pub ranked: Vec<usize>,
    /// A clue is accepted below this.
    pub threshold: f32,
    certain: OnceLock<Certain>,
    rows: OnceLock<[Encoded; 2]>,
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
    /// The models with what is known of their columns.
    pub fn models(&self) -> Models<'_> {
        self.studio.models()
    }

    /// The test rows.
    pub fn test(&self) -> &Samples {
        &self.studio.dataset.test
    }

    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        self.studio.run.schema.target.task.classes()
    }

    /// The shape of an input that is an image.
    pub fn image(&self) -> Result<&Image> {
        let name = &self.name;
        self.studio.run.schema.image.as_ref().ok_or_else(|| {
            Error::setting("models", format!("`{name}` are models of a table, and this experiment shows images"))
        })
    }

    /// The true class of a test row.
    pub fn target(&self, row: usize) -> Option<usize> {
        match &self.test().y {
            Targets::Classes(labels) => Some(labels[row] as usize),
            Targets::Values(_) => None,
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
        Inputs::of(self.test(), rows, &self.studio.run.schema.target.task)
    }

    /// What a search may know of the training rows.
    pub fn background(&self, search: &Search) -> Result<Background> {
        let certain = match search.needs_certain() {
            true => Some(self.certain()?.clone()),
            false => None,
        };
        Ok(Background { certain, ..Background::default() })
    }

    fn certain(&self) -> Result<&Certain> {
        if self.certain.get().is_none() {
            let train = self.studio.dataset.train.clone();
            let certain = Certain::among(&self.models(), train, Search::clue().accept_by, self.threshold)?;
            let _ = self.certain.set(certain);
        }
        Ok(self.certain.get().expect("it was just set"))
    }

    /// Rows to learn from and rows to choose settings on, as mappers see them.
    pub fn rows(&self, observer: &mut dyn Observer) -> Result<&[Encoded; 2]> {
        if self.rows.get().is_none() {
            let _ = self.rows.set(self.studio.rows(None, observer)?);
        }
        Ok(self.rows.get().expect("it was just set"))
    }

    /// Who counts as uncertain, and who as certain, where mappers are fitted: either one or the other.
    pub fn thresholds(&self) -> Thresholds {
        Thresholds {
            uncertain_above: Limit::Value(self.threshold),
            certain_below: Limit::Value(self.threshold),
            kind: Search::clue().accept_by,
        }
    }

    /// The search that judges the answers of mappers; it takes no step of its own.
    pub fn judging(&self, lambda_x: f32) -> Search {
        let mut search =
            Search { convergence: Convergence::never_before(0), threshold: self.threshold, ..Search::clue() };
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
    pub fn run(&mut self, spec: &Spec) -> Result<super::Finding> {
        self.used.clear();
        let finding = spec.study.run(self)?;
        let hashes = |name: &String| (name.clone(), self.stages[name].studio.hashes.clone());
        Ok(super::Finding { models: self.used.iter().map(hashes).collect(), ..finding })
    }

    /// Where data lie.
    pub fn directory(&self) -> DataDir {
        self.place.directory()
    }

    /// Who watches.
    pub fn observer(&mut self) -> &mut dyn Observer {
        self.observer
    }

    /// The models called `name`; they are trained if they are not there yet.
    pub fn stage(&mut self, name: &str) -> Result<Arc<Stage>> {
        self.used.insert(name.into());
        if let Some(stage) = self.stages.get(name) {
            return Ok(stage.clone());
        }
        let studio = self.place.open(name, self.observer)?;
        let task = &studio.run.schema.target.task;
        let predictions = predict(&studio.run.predictor, &studio.dataset.test, task)?;
        let mut ranked: Vec<usize> = (0..predictions.len()).collect();
        let total = |row: usize| predictions[row].uncertainty.total;
        ranked.sort_by(|&a, &b| total(b).total_cmp(&total(a)).then(a.cmp(&b)));
        let kind = Search::clue().accept_by;
        let threshold = usual_threshold(&studio.models(), &studio.dataset.train, kind)?;
        let (certain, rows) = (OnceLock::new(), OnceLock::new());
        let stage = Arc::new(Stage { name: name.into(), studio, predictions, ranked, threshold, certain, rows });
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
        let found = search.explain(&stage.models(), &background, &inputs, seed, self.observer)?;
        let found = Arc::new(found);
        self.found.insert(key, found.clone());
        Ok(found)
    }

    /// What methods make of test rows above an uncertainty; mappers that are not in the run yet are fitted.
    pub fn contest(&mut self, stage: &Stage, methods: &[String], above: f32, lambda_x: f32) -> Result<Arc<Vec<Entry>>> {
        let known = || MAPPERS.iter().map(|(name, ..)| *name).chain(OTHERS);
        if let Some(unknown) = methods.iter().find(|name| known().all(|known| known != name.as_str())) {
            let choices = known().collect::<Vec<_>>().join(", ");
            return Err(Error::setting("methods", format!("`{unknown}` is not a method; choose from {choices}")));
        }
        let key = format!("{} {above} {lambda_x} {methods:?}", stage.name);
        if let Some(entries) = self.contests.get(&key) {
            return Ok(entries.clone());
        }
        let (models, search) = (stage.models(), stage.judging(lambda_x));
        let background = Background::default();
        let wants = |name: &str| methods.iter().any(|method| method == name);
        let [train, validation] = stage.rows(self.observer)?;
        let rows = [train, validation];
        let classes = stage.classes().len();
        let mut workshop = Workshop::new(&models, &search, &background, rows, stage.thresholds(), Seed(0));
        let [within, to_class] = [Scheme::Within, Scheme::AnyToClass].map(|scheme| scheme.pairs(classes));
        let mappers = Mappers { studio: &stage.studio, within: &within, to_class: &to_class, lambda_x, refit: false };
        let needs = |name: &str| Mappers::needed(name, &wants, false);
        let mappers = mappers.all(&mut workshop, &needs, self.observer)?;
        let inputs = stage.inputs(stage.above(above))?;
        let begun = Instant::now();
        let clock = || begun.elapsed().as_secs_f64();
        let contest = Contest {
            models: &models,
            search: &search,
            background: &background,
            inputs: &inputs,
            wants: &wants,
            clock: &clock,
        };
        let entries = Arc::new(contest.entries(&mappers, self.observer)?);
        self.contests.insert(key, entries.clone());
        Ok(entries)
    }
}

/// δ-CLUE as the experiments ask for it.
pub(super) fn delta_clue(delta: f32, count: usize, lambda_x: f32, steps: usize) -> Result<Search> {
    let mut search = Search::delta_clue(Delta::Fixed(LatentBall::new(delta)?), count);
    search.convergence = Convergence::never_before(steps);
    search.objective.input = Weighted(lambda_x, search.objective.input.1);
    Ok(search)
}
