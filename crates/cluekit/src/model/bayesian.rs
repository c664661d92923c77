//! A Bayesian neural network: draws from the posterior over the weights.
//!
//! U(θ) = −κ Σ log p(y | x, θ) + Σ_g ½ λ_g ‖θ_g‖², one prior precision λ_g for each weight and each bias array, itself
//! drawn by Gibbs sampling: λ_g | θ ~ Gamma(a + n_g / 2, b + ‖θ_g‖² / 2). κ = 1 is the posterior as such; κ > 1
//! sharpens the likelihood (a cold posterior), which predicts better. [Springenberg2016; Wenzel2020]

use super::parameters::Parameters;
use super::sghmc::Sghmc;
use super::store::checkpoint::Snapshot;
use super::training::{MOST_EPOCHS, Session, Trainable, check_finite, mean_loss, order, stopped};
use crate::error::{Error, Remedy, Result};
use crate::observer::Progress;
use crate::seed::Rng;
use rand_distr::{Distribution, Gamma};
use serde::{Deserialize, Serialize};

/// A chain whose loss is so many times what it began with has left the posterior for good.
const RUNAWAY: f64 = 1000.0;

/// Settings of the Markov chain that samples a Bayesian network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampler {
    /// Step ε of the chain.
    pub step: f64,
    /// Friction α: the share of the momentum lost in a step.
    pub friction: f64,
    /// Passes over the training rows before the first draw, in which the preconditioner adapts.
    pub burn_in_epochs: usize,
    /// Passes over the training rows between two draws; may be a fraction.
    pub thinning_epochs: f64,
    /// Exponent κ of the likelihood; 1 is the exact posterior.
    pub likelihood_power: f64,
    /// Steps between two fresh momenta; 0 never draws a new one.
    pub resample_momentum_every: usize,
    /// Shape a of the Gamma distribution over prior precisions.
    pub prior_shape: f64,
    /// Rate b of the Gamma distribution over prior precisions.
    pub prior_rate: f64,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            step: 0.01,
            friction: 0.05,
            burn_in_epochs: 20,
            thinning_epochs: 1.0,
            likelihood_power: 1.0,
            resample_momentum_every: 1000,
            prior_shape: 1.0,
            prior_rate: 1.0,
        }
    }
}

impl Sampler {
    /// Checks the ranges; `key` is where these settings stand in the plan.
    pub fn validate(&self, key: &str) -> Result<()> {
        let positive = [
            ("step", self.step),
            ("thinning_epochs", self.thinning_epochs),
            ("likelihood_power", self.likelihood_power),
            ("prior_shape", self.prior_shape),
            ("prior_rate", self.prior_rate),
        ];
        for (name, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::setting(format!("{key}.{name}"), format!("must be positive, got {value}")));
            }
        }
        // Beyond these a chain would not end in a lifetime, and its steps could not be counted.
        if self.burn_in_epochs > MOST_EPOCHS || self.thinning_epochs > MOST_EPOCHS as f64 {
            let problem = format!("burn_in_epochs and thinning_epochs must be at most {MOST_EPOCHS}");
            return Err(Error::setting(key, problem));
        }
        match self.friction > 0.0 && self.friction <= 1.0 {
            true => Ok(()),
            false => Err(Error::setting(
                format!("{key}.friction"),
                format!("must lie above 0 and at most 1, got {}", self.friction),
            )),
        }
    }
}

/// How the chain is cut into passes, steps and draws.
struct Schedule {
    batch: usize,
    per_epoch: usize,
    burn_in: u64,
    between: u64,
    total: u64,
}

impl Schedule {
    fn new(rows: usize, batch: usize, samples: usize, sampler: &Sampler) -> Self {
        let per_epoch = rows.div_ceil(batch).max(1);
        let burn_in = (sampler.burn_in_epochs * per_epoch) as u64;
        let between = ((sampler.thinning_epochs * per_epoch as f64).round() as u64).max(1);
        Self { batch, per_epoch, burn_in, between, total: burn_in + between * samples as u64 }
    }

    fn is_draw(&self, steps: u64) -> bool {
        steps > self.burn_in && (steps - self.burn_in).is_multiple_of(self.between)
    }
}

/// Prior precisions λ_g, one for each array of the network.
fn draw_precisions(parameters: &Parameters, sampler: &Sampler, rng: &mut Rng) -> Vec<f32> {
    let mut of = |values: &[f32]| {
        let squares: f64 = values.iter().map(|&v| f64::from(v).powi(2)).sum();
        let shape = sampler.prior_shape + values.len() as f64 / 2.0;
        let rate = sampler.prior_rate + squares / 2.0;
        Gamma::new(shape, 1.0 / rate).map_or(1.0, |gamma| gamma.sample(rng)) as f32
    };
    parameters.layout().entries().iter().map(|entry| of(&parameters.values[entry.range()])).collect()
}

/// ∇U from the mean gradient of −log p over a batch.
fn energy_gradient(mut gradient: Vec<f32>, parameters: &Parameters, precisions: &[f32], scale: f32) -> Vec<f32> {
    for (entry, &precision) in parameters.layout().entries().iter().zip(precisions) {
        let range = entry.range();
        for (g, &theta) in gradient[range.clone()].iter_mut().zip(&parameters.values[range]) {
            *g = scale * *g + precision * theta;
        }
    }
    gradient
}

/// Draws `samples` networks from the posterior, the chain starting at `initial`.
pub fn sample_posterior(
    model: &dyn Trainable,
    initial: Parameters,
    samples: usize,
    batch: usize,
    sampler: &Sampler,
    session: &mut Session,
) -> Result<Vec<Vec<f32>>> {
    let Session { rows, seed, checkpoint, observer } = session;
    let (rows, seed) = (*rows, *seed);
    let what = "bayesian network";
    let remedy = format!("lower predictor.sampler.step from {} (try half)", sampler.step);
    let schedule = Schedule::new(rows.train.len(), batch, samples, sampler);
    let scale = (sampler.likelihood_power * rows.train.len() as f64) as f32;
    let mut parameters = initial;
    let mut chain = Sghmc::new(parameters.values.len(), sampler.step, sampler.friction);
    let mut draws = Vec::new();
    let mut precisions = Vec::new();
    let mut bound = None;
    if let Some(mut snapshot) = checkpoint.load(what)? {
        chain.load(&mut snapshot)?;
        bound = Some(snapshot.get("bound")?);
        parameters.values = snapshot.take("parameters", parameters.values.len())?;
        // In the middle of an epoch, those that were drawn at its beginning.
        if !chain.steps().is_multiple_of(schedule.per_epoch as u64) {
            precisions = snapshot.take("precisions", parameters.layout().entries().len())?;
        }
        for i in 0..snapshot.get("draws")? as usize {
            let draw = checkpoint.load(&draw_name(i))?.ok_or_else(|| {
                Error::data(format!("the checkpoint has lost its {}", draw_name(i))).remedy(Remedy::TrainAgain)
            });
            draws.push(draw?.take("parameters", parameters.values.len())?);
        }
    }
    let mut validation = None;
    let stream = |name: &str| format!("{what}: {name}");
    let (noise, dropout) = (stream("noise"), stream("dropout"));
    let (mut loss, mut seen) = (0.0, 0);
    let mut rows_of_epoch = Vec::new();
    while chain.steps() < schedule.total {
        let steps = chain.steps();
        let (epoch, position) = (steps as usize / schedule.per_epoch, steps as usize % schedule.per_epoch);
        if position == 0 || rows_of_epoch.is_empty() {
            rows_of_epoch = order(rows.train.len(), seed, what, epoch);
        }
        if position == 0 {
            (loss, seen) = (0.0, 0);
            precisions = draw_precisions(&parameters, sampler, &mut seed.numbered(&stream("prior"), epoch as u64));
        }
        let indices = rows_of_epoch.chunks(schedule.batch).nth(position).expect("a position within the epoch");
        let rng = |row: usize| seed.numbered(&dropout, (steps << 16) + row as u64);
        let gradient = model.gradient(&parameters, rows.train, indices, &rng)?;
        check_finite(what, epoch, "the training loss", gradient.loss, &remedy)?;
        let bound = *bound.get_or_insert(RUNAWAY * gradient.loss.abs().max(1.0));
        if gradient.loss > bound {
            let (model, value, epoch) = (what.into(), gradient.loss, epoch + 1);
            return Err(Error::Diverged { model, epoch, quantity: "the training loss", value, remedy });
        }
        let energy = energy_gradient(gradient.values, &parameters, &precisions, scale);
        chain.step(&mut parameters.values, &energy, steps < schedule.burn_in, seed, &noise);
        let every = sampler.resample_momentum_every as u64;
        if every > 0 && chain.steps().is_multiple_of(every) {
            chain.resample_momentum(seed, &stream("momentum"));
        }
        if schedule.is_draw(chain.steps()) {
            checkpoint.save(&draw_name(draws.len()), &Snapshot::default().array("parameters", &parameters.values))?;
            draws.push(parameters.values.clone());
        }
        loss += gradient.loss * indices.len() as f64;
        seen += indices.len();
        let snapshot = |chain: &Sghmc, draws: usize| {
            let snapshot = chain.save(Snapshot::default()).array("parameters", &parameters.values);
            snapshot.array("precisions", &precisions).number("bound", bound).number("draws", draws as f64)
        };
        if position + 1 == schedule.per_epoch {
            if !rows.validation.is_empty() {
                let figure = mean_loss(model, &parameters, rows.validation, seed, &stream("validation"))?;
                check_finite(what, epoch, "the validation loss", figure, &remedy)?;
                validation = Some(("loss of the newest draw", figure));
            }
            checkpoint.save(what, &snapshot(&chain, draws.len()))?;
        }
        let (done, total) = (chain.steps(), schedule.total);
        let progress = Progress { what, done, total, loss: loss / seen as f64, validation };
        if observer.progress(&progress).is_break() {
            checkpoint.save(what, &snapshot(&chain, draws.len()))?;
            return Err(stopped(what));
        }
    }
    observer.finished(what, "all draws done");
    Ok(draws)
}

fn draw_name(index: usize) -> String {
    format!("draw {index:04}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::parameters::Layout;
    use crate::seed::Seed;
    use std::sync::Arc;

    #[test]
    fn prior_precisions_follow_their_conditional() {
        // 1000 weights of ±0.1: λ ~ Gamma(1 + 500, 1 + 5) has the mean 83.5 and the deviation 3.73.
        let mut layout = Layout::default();
        layout.push("w", &[1000]);
        let values = (0..1000).map(|i| if i % 2 == 0 { 0.1 } else { -0.1 }).collect();
        let parameters = Parameters::new(Arc::new(layout), values).unwrap();
        let mut rng = Seed(5).stream("prior");
        let draws: Vec<f64> =
            (0..2000).map(|_| f64::from(draw_precisions(&parameters, &Sampler::default(), &mut rng)[0])).collect();
        let mean = draws.iter().sum::<f64>() / 2000.0;
        let deviation = (draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / 2000.0).sqrt();
        assert!((mean - 83.5).abs() < 0.4, "{mean}");
        assert!((deviation - 3.73).abs() < 0.3, "{deviation}");
    }

    #[test]
    fn the_schedule_draws_as_often_as_asked() {
        let sampler = Sampler { burn_in_epochs: 2, thinning_epochs: 0.5, ..Sampler::default() };
        let schedule = Schedule::new(1000, 100, 7, &sampler);
        let draws = (1..=schedule.total).filter(|&steps| schedule.is_draw(steps)).count();
        assert_eq!((schedule.total, draws), (20 + 35, 7));
    }
}
