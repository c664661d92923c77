//! The jury of a table: boosted trees that the search asks, and trees and networks that judge what it found.
//!
//! All learn from the run's training rows, each from a part of its own. They are made when they are first needed, and
//! kept in the run. Images have none: what is cheap there is no match for the model.

use super::{Explainer, held};
use crate::data::{Samples, Targets, spread_evenly};
use crate::error::Result;
use crate::model::boosted::{Boosted, BoostedPlan};
use crate::model::network::Network;
use crate::model::plan::{Plan, PredictorKind, PredictorPlan};
use crate::model::predictor;
use crate::model::stacked::Stacked;
use crate::model::store::checkpoint::Checkpoint;
use crate::model::training::{Rows, Session};
use crate::observer::Silent;
use crate::search::{Juror, Jury};
use crate::seed::Seed;
use crate::uncertainty::Uncertainty;
use std::sync::{Arc, Mutex, OnceLock};

/// Rows that the networks of a jury learn from at the most.
const MOST_ROWS: usize = 20_000;
/// Fewer rows teach a jury nothing.
const LEAST_ROWS: usize = 50;
/// Names of the jurors, and of their files.
const ASKED: (&str, &str) = ("boosted trees", "jury/asked.safetensors");
const TREES: (&str, &str) = ("other boosted trees", "jury/trees.safetensors");
const NETWORKS: (&str, &str) = ("networks", "jury/networks.safetensors");

impl Explainer {
    /// Predictors of another kind that learned from the same rows; none for images, and for rows without targets.
    ///
    /// They are made when they are first asked for, and kept in the run.
    pub fn jury(&self) -> Result<Option<Arc<Jury>>> {
        let mut known = held(&self.known.jury);
        if known.is_none() {
            *known = Some(self.made_jury()?.map(Arc::new));
        }
        Ok(known.clone().flatten())
    }

    /// This explainer with a jury of one's own, instead of the one that it would make.
    #[must_use]
    pub fn with_jury(mut self, jury: Option<Jury>) -> Self {
        self.known.jury = Mutex::new(Some(jury.map(Arc::new)));
        self.known.training = OnceLock::new();
        self
    }

    /// This explainer with a further judge: the predictor of another one, which learned from the same columns.
    pub fn with_judge(self, name: &str, judge: &Self) -> Result<Self> {
        let juror =
            Juror::of_schema(name, judge.predictor.clone(), judge.known_schema()?.clone(), self.known_schema()?)?;
        let mut jury = match self.jury()? {
            Some(jury) => (*jury).clone(),
            None => Jury { threshold: self.threshold(Uncertainty::Total)?, ..Jury::default() },
        };
        jury.judges.insert(0, juror);
        Ok(self.with_jury(Some(jury)))
    }

    fn made_jury(&self) -> Result<Option<Jury>> {
        if !self.is_table() {
            return Ok(None);
        }
        let train = self.rows()?.train.clone();
        if train.len() < LEAST_ROWS || matches!(train.y, Targets::Unknown(_)) {
            return Ok(None);
        }
        let asked = self.trees(ASKED, &BoostedPlan::default(), &train)?;
        let other = BoostedPlan { members: 2, depth: 4, rows: 0.5, ..BoostedPlan::default() };
        let mut jury = Jury {
            asked: vec![asked],
            judges: vec![self.trees(TREES, &other, &train)?, self.networks(&train)?],
            threshold: self.threshold(Uncertainty::Total)?,
        };
        if self.is_forest() {
            jury.judges.append(&mut jury.asked);
        }
        Ok(Some(jury))
    }

    /// Whether the predictor averages trees. They know the rows by heart that they learned from: their certainty is about
    /// single rows, of which others believe few, and a jury that led the search would lead it away from the model.
    pub(super) fn is_forest(&self) -> bool {
        self.run.as_ref().and_then(|run| run.record.predictor.as_ref()).is_some_and(|adopted| adopted.groups.is_some())
    }

    fn trees(&self, (name, file): (&str, &str), plan: &BoostedPlan, train: &Samples) -> Result<Juror> {
        let (key, seed) = (self.key_of_jury()?, self.seed_of(name));
        let kept = self.run.as_ref().and_then(|run| run.folder.kept(file, &key));
        let kept = kept.and_then(|arrays| Boosted::read(arrays, train.width, &self.task).ok());
        let trees = match kept {
            Some(trees) => trees,
            None => {
                let trees = Boosted::fit(plan, train, &self.task, seed, &|| Ok(()))?;
                if let Some(run) = &self.run {
                    run.folder.keep(file, &trees.parameters(), &key);
                }
                trees
            }
        };
        Ok(Juror::new(name, Arc::new(trees)))
    }

    fn networks(&self, train: &Samples) -> Result<Juror> {
        let (name, file) = NETWORKS;
        let (key, schema) = (self.key_of_jury()?, self.known_schema()?);
        let plan = Plan::for_data(schema, train.len()).of_kind(PredictorKind::Ensemble).predictor;
        let plan = PredictorPlan { samples: 2, hidden: vec![40, 40], ..plan };
        let network = Network::of(&plan, schema)?;
        let kept = self.run.as_ref().and_then(|run| run.folder.kept(file, &key));
        let kept = kept.and_then(|arrays| Stacked::read(&arrays, &network, plan.samples).ok());
        let networks = match kept {
            Some(networks) => networks,
            None => {
                let some = train.select(&spread_evenly(train.len(), MOST_ROWS).collect::<Vec<_>>());
                let (learn, watch) = crate::model::pipeline::validation_split(&some, 0.1, self.seed_of(name))?;
                let rows = Rows { train: &learn, validation: &watch };
                let (checkpoint, seed) = (Checkpoint::none(), self.seed_of(name));
                let mut session = Session { rows, seed, checkpoint: &checkpoint, observer: &mut Silent };
                let weights = predictor::train(&plan, schema, &mut session)?;
                if let Some(run) = &self.run {
                    run.folder.keep(file, &weights, &key);
                }
                Stacked::new(&weights, &network)?
            }
        };
        Ok(Juror::new(name, Arc::new(networks)))
    }

    /// A seed of its own for each juror, which follows that of the models.
    fn seed_of(&self, name: &str) -> Seed {
        Seed(rand::RngExt::random(&mut self.training_seed.stream(&format!("jury: {name}"))))
    }

    /// What a jury depends on, beside the encoding of the rows.
    pub(super) fn key_of_jury(&self) -> Result<String> {
        let rows = self.rows()?;
        let sources: Vec<&str> = rows.sources.iter().map(|source| source.sha256.as_str()).collect();
        Ok(format!("{} {} {}", self.training_seed().0, rows.train.len(), sources.join(" ")))
    }
}
