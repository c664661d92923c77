//! The models that experiments are carried out with: trained once, kept in run folders, continued if they were broken off.

use super::study_result::ModelHashes;
use cluekit::data::{self, DataDir, Request};
use cluekit::error::{Error, Remedy, Result};
use cluekit::explainer::Explainer;
use cluekit::model::pipeline::train_run;
use cluekit::model::plan::Plan;
use cluekit::model::store::run::{RunFolder, RunRecord};
use cluekit::observer::Observer;
use cluekit::seed::Seed;
use cluekit::settings::merge;
use cluekit_synbols::Symbols;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What `experiments/models.toml` says.
const MODELS: &str = include_str!("../experiments/models.toml");

/// How two models come about.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recipe {
    /// The data.
    dataset: String,
    /// Other models whose predictor is taken, so that only the generative model differs.
    #[serde(default)]
    predictor: Option<String>,
    /// What differs from the dataset's own plan.
    #[serde(default)]
    plan: toml::Table,
    /// Seed of training.
    #[serde(default)]
    seed: u64,
}

/// Where models and data lie.
#[derive(Clone, Debug)]
pub struct Place {
    /// A folder of run folders.
    pub runs: PathBuf,
    /// Where data lie, if not at the usual place.
    pub data: Option<PathBuf>,
    /// Small models on few rows, in run folders of their own.
    pub quick: bool,
}

impl Place {
    /// The models called `name`, trained if they are not there yet.
    pub(super) fn open(&self, name: &str, observer: &mut dyn Observer) -> Result<Explainer> {
        let folder = RunFolder::at(self.folder(name));
        let (record, dataset) = self.begun(name)?;
        let other = |difference: String| {
            let path = folder.path().display();
            Error::data(format!("{path} holds other models than `{name}` of the experiments: {difference}"))
                .remedy(Remedy::give("runs", "another folder"))
        };
        if folder.exists() {
            if let Some(difference) = folder.differs_from(&record, &dataset.schema)? {
                return Err(other(difference));
            }
        } else if let Some(found) = folder.occupied_by() {
            return Err(other(format!("there is {found}, but no run.toml")));
        }
        if !folder.exists() || folder.record()?.hashes.is_empty() {
            folder.begin(&record, &dataset.schema)?;
        }
        if let (Some(shared), false) = (recipe(name, self.quick)?.predictor, folder.has_predictor()) {
            let lender = self.open(&shared, observer)?;
            // What it says of the training rows is asked once for all that share it.
            lender.encoded(None, observer)?;
            folder.take_predictor(&lender.opened()?.folder)?;
        }
        if !folder.has_generative() || !folder.has_predictor() || folder.record()?.hashes.is_empty() {
            train_run(&folder, &record, &dataset, observer)?;
        }
        Explainer::open(folder.path(), &self.directory())
    }

    /// Whether these models, by the hashes of their files, are those that `run.toml` says lie here; what does not lie
    /// here could be.
    pub fn has(&self, models: &ModelHashes) -> bool {
        let same = |(name, hashes): (&String, &BTreeMap<String, String>)| {
            let folder = RunFolder::at(self.folder(name));
            let lie_here =
                |now: &BTreeMap<String, String>| hashes.iter().all(|(file, hash)| now.get(file) == Some(hash));
            !folder.exists() || folder.record().is_ok_and(|record| lie_here(&record.hashes))
        };
        models.iter().all(same)
    }

    /// Where data lie.
    pub(super) fn directory(&self) -> DataDir {
        DataDir::locate(self.data.as_deref()).with(Symbols)
    }

    /// Where models lie.
    fn folder(&self, name: &str) -> PathBuf {
        let prefix = if self.quick { "quick-" } else { "" };
        self.runs.join(format!("{prefix}{name}"))
    }

    fn begun(&self, name: &str) -> Result<(RunRecord, data::Dataset)> {
        let recipe = recipe(name, self.quick)?;
        let seed = Seed(recipe.seed);
        let request = Request { seed, ..Request::new(&recipe.dataset) };
        let dataset = data::load(&request, None, &self.directory())?;
        let plan = Plan::for_dataset(&dataset).with(&[recipe.plan])?;
        plan.validate(&dataset.schema, dataset.train.len())?;
        Ok((RunRecord::new(request, dataset.sources.clone(), plan, seed), dataset))
    }
}

fn recipe(name: &str, quick: bool) -> Result<Recipe> {
    let path = Path::new("experiments/models.toml");
    let wrong = |problem: toml::de::Error| Error::file(path, problem.to_string().trim_end());
    let mut table: toml::Table = MODELS.parse().map_err(wrong)?;
    let Some(toml::Value::Table(mut entry)) = table.remove(name) else {
        let known: Vec<String> = table.keys().cloned().collect();
        return Err(Error::setting("models", format!("there is no `{name}`; choose from {}", known.join(", "))));
    };
    if let (Some(toml::Value::Table(hurried)), true) = (entry.remove("quick"), quick) {
        merge(&mut entry, &hurried);
    }
    entry.try_into().map_err(wrong)
}

/// Every name in `models.toml`, for tests.
#[cfg(test)]
pub(super) fn names() -> Vec<String> {
    let table: toml::Table = MODELS.parse().expect("models.toml can be read");
    table.keys().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_can_be_read_at_length_and_in_a_hurry() {
        for name in names() {
            for quick in [false, true] {
                let own = recipe(&name, quick).unwrap();
                // A predictor can be shared only by those that would have trained the same one.
                let Some(lender) = own.predictor.map(|other| recipe(&other, quick).unwrap()) else { continue };
                assert_eq!((&own.dataset, own.seed), (&lender.dataset, lender.seed), "{name}");
                assert_eq!(own.plan.get("predictor"), lender.plan.get("predictor"), "{name}");
            }
        }
        let error = recipe("alchemy", false).unwrap_err().to_string();
        assert!(error.contains("no `alchemy`; choose from ") && error.contains("mnist"), "{error}");
    }
}
