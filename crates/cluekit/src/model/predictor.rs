//! Training a predictor of any kind; what comes out is always a stack of networks.

use super::bayesian::sample_posterior;
use super::network::Network;
use super::parameters::Parameters;
use super::plan::{PredictorKind, PredictorPlan};
use super::stacked::{masked_copies, stack};
use super::store::checkpoint::Snapshot;
use super::training::{Session, Trainable, fit};
use crate::data::Schema;
use crate::error::Result;

/// Trains the predictor that `plan` describes and returns its stacked parameters.
pub fn train(plan: &PredictorPlan, schema: &Schema, session: &mut Session) -> Result<Parameters> {
    let network = Network::of(plan, schema)?;
    let networks = match plan.kind {
        PredictorKind::Bayesian => {
            let start = train_one(&network, plan, "warm start", session)?;
            sample_posterior(&network, start, plan.samples, plan.fit.batch, &plan.sampler, session)?
        }
        PredictorKind::Ensemble => (0..plan.samples)
            .map(|i| train_one(&network, plan, &format!("ensemble member {} of {}", i + 1, plan.samples), session))
            .map(|member| member.map(|member| member.values))
            .collect::<Result<_>>()?,
        PredictorKind::Dropout => {
            let Network::Mlp(perceptron) = &network else { unreachable!("masks are for perceptrons, as `of` says") };
            let trained = train_one(&network, plan, "dropout network", session)?;
            masked_copies(perceptron, &trained.values, plan.samples, session.seed)
        }
        PredictorKind::Plain => vec![train_one(&network, plan, "network", session)?.values],
    };
    Ok(stack(&networks, network.layout()))
}

/// One network trained with Adam; taken from the checkpoint if it was finished before.
fn train_one(network: &Network, plan: &PredictorPlan, what: &str, session: &mut Session) -> Result<Parameters> {
    let finished = format!("{what} finished");
    if let Some(mut snapshot) = session.checkpoint.load(&finished)? {
        let values = snapshot.take("parameters", network.layout().len())?;
        return Parameters::new(network.layout().clone(), values);
    }
    let mut rng = session.seed.stream(&format!("{what}: start"));
    let initial = Parameters::initial(network.layout().clone(), &mut rng);
    let trained = fit(network, initial, &plan.fit, what, session)?;
    session.checkpoint.save(&finished, &Snapshot::default().array("parameters", &trained.values))?;
    Ok(trained)
}
