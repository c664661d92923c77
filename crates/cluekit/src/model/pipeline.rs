//! From a dataset to a finished run folder: validation split, generative model, predictor.

use super::class_weights::weighted;
use super::network::Network;
use super::plan::Plan;
use super::predictor;
use super::stacked::Stacked;
use super::store::checkpoint::Checkpoint;
use super::store::run::{RunFolder, RunRecord};
use super::training::{Rows, Session, order};
use super::vae::{self, Vae, VaeNetwork, VaeShape};
use super::{Generative, Predictor};
use crate::data::{Dataset, Samples};
use crate::error::{Error, Result};
use crate::named;
use crate::observer::Observer;
use crate::seed::Seed;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

named! {
    "only", "a model of a run";
    /// The two models of a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Role {
        /// The model of the data, in whose latent space clues are searched.
        Generative = "generative",
        /// The model whose uncertainty is explained.
        Predictor = "predictor",
    }
}

/// Trains both models of a run and writes them into its folder.
///
/// A model that is already there is kept and a checkpoint is continued, so calling this again after an interruption
/// ends with the same bytes as an unbroken run.
pub fn train_run(folder: &RunFolder, record: &RunRecord, dataset: &Dataset, observer: &mut dyn Observer) -> Result<()> {
    train_role(folder, record, dataset, None, observer)
}

/// Trains `only` one model of a run, or both, as [`train_run`] does it.
pub fn train_role(
    folder: &RunFolder,
    record: &RunRecord,
    dataset: &Dataset,
    only: Option<Role>,
    observer: &mut dyn Observer,
) -> Result<()> {
    let seed = record.seed;
    let plan = record.plan.as_ref().ok_or_else(|| Error::data("a run without a plan cannot be trained"))?;
    plan.validate(&dataset.schema, dataset.train.len())?;
    let checkpoint = folder.checkpoint()?;
    let [train, validation] = rows_of(dataset, plan, seed)?;
    let rows = Rows { train: &train, validation: &validation };
    let mut session = Session { rows, seed, checkpoint: &checkpoint, observer };
    if !folder.has_generative() && only != Some(Role::Predictor) {
        let network = VaeNetwork::new(&VaeShape::from(&plan.generative), &dataset.schema)?;
        folder.write_generative(&vae::train(&network, &plan.generative, &mut session)?)?;
    }
    if !folder.has_predictor() && only != Some(Role::Generative) {
        folder.write_predictor(&predictor::train(&plan.predictor, &dataset.schema, &mut session)?)?;
    }
    folder.finish(record)
}

/// Trains both models in memory: a generative model and a predictor, the same ones that a run folder would hold.
pub fn train_models(
    plan: &Plan,
    dataset: &Dataset,
    seed: Seed,
    observer: &mut dyn Observer,
) -> Result<(Arc<dyn Generative>, Arc<dyn Predictor>)> {
    plan.validate(&dataset.schema, dataset.train.len())?;
    let [train, validation] = rows_of(dataset, plan, seed)?;
    let rows = Rows { train: &train, validation: &validation };
    let checkpoint = Checkpoint::none();
    let mut session = Session { rows, seed, checkpoint: &checkpoint, observer };
    let network = VaeNetwork::new(&VaeShape::from(&plan.generative), &dataset.schema)?;
    let weights = vae::train(&network, &plan.generative, &mut session)?;
    let generative = Arc::new(Vae::new(network, &weights));
    let weights = predictor::train(&plan.predictor, &dataset.schema, &mut session)?;
    let predictor = Stacked::new(&weights, &Network::of(&plan.predictor, &dataset.schema)?)?;
    Ok((generative, Arc::new(predictor)))
}

/// The rows to learn from and the rows to watch, with the weights that the predictor gives them.
fn rows_of(dataset: &Dataset, plan: &Plan, seed: Seed) -> Result<[Samples; 2]> {
    let (train, validation) = validation_split(&dataset.train, plan.validation_share, seed)?;
    Ok([train, validation].map(|samples| weighted(samples, plan.predictor.class_weights)))
}

/// The rows to learn from and the rows to watch, to stop training by and to choose settings on.
pub fn validation_split(samples: &Samples, share: f64, seed: Seed) -> Result<(Samples, Samples)> {
    let [train, validation] = validation_positions(samples.len(), share, seed)?;
    Ok((samples.select(&train), samples.select(&validation)))
}

/// Positions of the rows to learn from and of those to choose settings on, of so many training rows.
pub fn validation_positions(count: usize, share: f64, seed: Seed) -> Result<[Vec<usize>; 2]> {
    if !(0.0..1.0).contains(&share) {
        return Err(Error::setting("validation_share", format!("must be at least 0 and below 1, got {share}")));
    }
    let mut validation = order(count, seed, "validation split", 0);
    let train = validation.split_off((count as f64 * share).round() as usize);
    Ok([train, validation])
}
