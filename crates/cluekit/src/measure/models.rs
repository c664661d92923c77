//! The health of both models of a run, measured on rows.

use super::{
    ClassifierHealth, Gaussians, GenerativeHealth, Predictions, PredictorHealth, RegressorHealth, nll_mixture,
};
use crate::data::{Samples, Targets, Task};
use crate::error::{Error, Result};
use crate::model::{Generative, Predictor};
use crate::parallel::over_shards;
use crate::prediction::{Prediction, posterior_moments, posterior_samples, probabilities, scaling_of, unscaled};
use crate::seed::Seed;
use crate::tensor::{tensor, values};

/// Rows that one thread reconstructs at a time.
const ROWS: usize = 256;

/// Scores of a predictor's `predictions` against the targets of `samples`.
pub fn predictor_health(
    predictor: &dyn Predictor,
    predictions: &[Prediction],
    samples: &Samples,
    task: &Task,
) -> Result<PredictorHealth> {
    let posterior = posterior_samples(predictor, samples)?;
    match (&samples.y, scaling_of(task)) {
        (Targets::Values(targets), Some(scaling)) => {
            let targets: Vec<f64> = targets.iter().map(|&target| unscaled(target, scaling)).collect();
            let (means, variances) = posterior_moments(predictor, samples, scaling)?;
            let (mean, deviation) = mixture_moments(&means, &variances, targets.len());
            let gaussians = Gaussians::new(&mean, &deviation, &targets)?;
            Ok(PredictorHealth::Regressor(RegressorHealth {
                rmse: gaussians.rmse(),
                r2: gaussians.r2(),
                constant: Some(gaussians.constant()),
                nll: nll_mixture(&means, &variances, &targets)?,
                coverage: gaussians.coverage(),
                samples: posterior,
            }))
        }
        (Targets::Classes(labels), None) => {
            let probabilities = probabilities(predictions);
            let uncertainty: Vec<f64> = predictions.iter().map(|p| f64::from(p.uncertainty.total)).collect();
            let checked = Predictions::new(&probabilities, task.classes().len(), labels)?;
            Ok(PredictorHealth::Classifier(ClassifierHealth::of(&checked, &uncertainty, posterior)?))
        }
        _ => Err(Error::data("the rows have classes where the task has values, or the reverse; name the task")),
    }
}

/// Mean and standard deviation of each row's mixture of `[S, rows]` normal distributions.
fn mixture_moments(means: &[f64], variances: &[f64], rows: usize) -> (Vec<f64>, Vec<f64>) {
    let samples = (means.len() / rows.max(1)) as f64;
    let average =
        |of: &dyn Fn(usize) -> f64, row: usize| (row..means.len()).step_by(rows).map(of).sum::<f64>() / samples;
    let moments = (0..rows).map(|row| {
        let mean = average(&|i| means[i], row);
        let variance = average(&|i| variances[i] + (means[i] - mean).powi(2), row);
        (mean, variance.sqrt())
    });
    moments.unzip()
}

/// Mean ELBO, from one draw of z a row, if the model has one, and mean ℓ₁ distance between a row and its reconstruction.
pub fn generative_health(model: &dyn Generative, samples: &Samples, seed: Seed) -> Result<GenerativeHealth> {
    let width = samples.width;
    let sum = |numbers: Vec<f32>| numbers.iter().map(|&n| f64::from(n)).sum::<f64>();
    let sums = over_shards(samples.len(), ROWS, |rows| -> Result<(Option<f64>, f64)> {
        let x = tensor(samples.x[rows.start * width..rows.end * width].to_vec(), [rows.len(), width]);
        let elbo = model.elbo(&x, &mut seed.numbered("elbo", rows.start as u64))?;
        let decoded = model.decode(&model.encode(&x)?)?;
        if decoded.dims() != x.dims() {
            let (expected, got) = (x.dims().to_vec(), decoded.dims().to_vec());
            return Err(Error::Shape { what: "the output of the decoder".into(), expected, got });
        }
        Ok((elbo.map(|elbo| sum(values(elbo))), sum(values((decoded - x).abs()))))
    });
    let sums = sums.into_iter().collect::<Result<Vec<_>>>()?;
    let rows = samples.len() as f64;
    let elbo: Option<Vec<f64>> = sums.iter().map(|(elbo, _)| *elbo).collect();
    Ok(GenerativeHealth {
        elbo: elbo.map(|elbo| elbo.iter().sum::<f64>() / rows),
        reconstruction_l1: sums.iter().map(|(_, distance)| distance).sum::<f64>() / rows,
        latent: model.latent_dim(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixture_has_the_mean_of_means_and_the_total_variance() {
        // Two samples, two rows: means (1, 5) and variances (3, 7) give mean 3 and variance 5 + 4.
        let (mean, deviation) = mixture_moments(&[1.0, 0.0, 5.0, 0.0], &[3.0, 4.0, 7.0, 4.0], 2);
        assert_eq!((mean, deviation), (vec![3.0, 0.0], vec![3.0, 2.0]));
    }
}
