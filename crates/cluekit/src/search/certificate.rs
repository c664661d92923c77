//! The certificate of a clue: a fresh look at the final x, after everything that a search does to it.
//!
//! Tables are rounded to the data's decimals, categories snapped to valid ones, relations between features mended;
//! images are clipped to their range. Then the predictor is asked again, every promise is checked, and a clue is
//! accepted or the reason is given.

use super::Models;
use super::descent::{Descent, End};
use super::origin::Origin;
use crate::data::{Bounds, Feature, Schema, Task, Value};
use crate::distance::{latent_distance, prediction_distance};
use crate::error::Result;
use crate::explanation::{Change, Clue, Distances, Label, Rejection};
use crate::model::Predictive;
use crate::parallel::over_shards;
use crate::prediction::{Prediction, answer_with_some, rows_together, summarised};
use crate::seed::Seed;
use crate::tensor::{Tensor, tensor, values};
use crate::uncertainty::Uncertainty;
use std::ops::Range;

/// Rows that one thread certifies at a time.
const ROWS: usize = 64;

/// When a clue is accepted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acceptance {
    /// The kind of uncertainty that must be low.
    pub kind: Uncertainty,
    /// Uncertainty below which a clue is accepted.
    pub threshold: f32,
}

/// What a fresh evaluation says of some inputs.
#[derive(Clone, Debug)]
pub(super) struct Evaluated {
    /// Prediction for the final input, in the data's unit, with its uncertainty.
    pub prediction: Prediction,
    /// Distance d_x(x, x₀) of the final input.
    pub input: f32,
    /// Distance d_y(f(x), f(x₀)) of the prediction.
    pub prediction_distance: f32,
    /// Objective L(z).
    pub cost: f32,
}

/// The certificates of all ends, in their order.
pub(super) fn certify(descent: &Descent, ends: &[End], acceptance: Acceptance) -> Result<Vec<Clue>> {
    let x = final_inputs(descent, ends)?;
    let places: Vec<(usize, &[f32])> = ends.iter().map(|end| (end.input, end.z.as_slice())).collect();
    let evaluated = evaluate(descent, &places, &x)?;
    let clues = ends.iter().zip(x).zip(evaluated).map(|((end, x), evaluated)| {
        let origin = &descent.origins[end.input];
        let (changes, broken) =
            descent.models.schema.map_or_else(Default::default, |schema| changes(schema, origin, &x));
        let reason = rejection(origin, end, &evaluated, broken, acceptance);
        Clue {
            label: label_of(&evaluated.prediction, descent.models),
            label_name: descent.models.name_of(label_of(&evaluated.prediction, descent.models)),
            uncertainty: evaluated.prediction.uncertainty,
            probabilities: probabilities_of(&evaluated.prediction, descent.models),
            distance: Distances {
                input: evaluated.input,
                latent: latent_distance(&end.z, &origin.z) as f32,
                prediction: evaluated.prediction_distance,
            },
            cost: evaluated.cost,
            steps: end.steps,
            stopped: end.stopped,
            accepted: reason.is_none(),
            reason,
            plausibility: None,
            agreement: None,
            minimal: None,
            mapper: None,
            found_by: None,
            delta: origin.ball.bound(),
            changes,
            row: None,
            x,
            z: end.z.clone(),
            path: end.path.clone(),
        }
    });
    Ok(clues.collect())
}

/// Fresh predictions and distances of the inputs `x`, each with the origin it belongs to and its code.
pub(super) fn evaluate(descent: &Descent, places: &[(usize, &[f32])], x: &[Vec<f32>]) -> Result<Vec<Evaluated>> {
    evaluate_by(descent, places, x, &|x| descent.models.predict(x))
}

/// The same by a few posterior samples, always the same ones: to find out what is worth a better look.
pub(super) fn evaluate_roughly(
    descent: &Descent,
    places: &[(usize, &[f32])],
    x: &[Vec<f32>],
    samples: usize,
) -> Result<Vec<Evaluated>> {
    evaluate_by(descent, places, x, &|x| {
        answer_with_some(descent.models.predictor, x, samples, &mut Seed(0).stream("a rough look"))
    })
}

fn evaluate_by(
    descent: &Descent,
    places: &[(usize, &[f32])],
    x: &[Vec<f32>],
    predict: &(dyn Fn(&Tensor<2>) -> Result<Predictive> + Sync),
) -> Result<Vec<Evaluated>> {
    let size = rows_together(descent.models.predictor, x.len(), ROWS);
    let parts = over_shards(x.len(), size, |range: Range<usize>| -> Result<Vec<Evaluated>> {
        descent.go_on()?;
        let (places, x) = (&places[range.clone()], &x[range]);
        let rows = descent.constants(places.iter().map(|(input, _)| (*input, None)));
        let z = tensor(places.iter().flat_map(|(_, z)| z.iter().copied()).collect(), [x.len(), places[0].1.len()]);
        let x = tensor(x.concat(), [x.len(), x[0].len()]);
        let predictive = predict(&x)?;
        let metric = descent.metric;
        let input = values(metric.between(&x, rows.x()));
        let distance = values(prediction_distance(&predictive, rows.prediction()));
        let cost = values(descent.objective.loss(&predictive, metric, &rows, &x, &z));
        let predictions = summarised(&predictive, descent.models.task()).into_iter().enumerate();
        let join = |(row, prediction)| Evaluated {
            prediction,
            input: input[row],
            prediction_distance: distance[row],
            cost: cost[row],
        };
        Ok(predictions.map(join).collect())
    });
    Ok(parts.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

/// The inputs that the searched codes stand for, as the data could hold them.
pub(super) fn final_inputs(descent: &Descent, ends: &[End]) -> Result<Vec<Vec<f32>>> {
    let parts = over_shards(ends.len(), ROWS, |range| -> Result<Vec<Vec<f32>>> {
        descent.go_on()?;
        let ends = &ends[range];
        let rows = descent.constants(ends.iter().map(|end| (end.input, end.bounds.as_ref())));
        let codes: Vec<f32> = ends.iter().flat_map(|end| end.z.iter().copied()).collect();
        let shape = [ends.len(), codes.len() / ends.len()];
        let decoded = rows.decode(descent.models, &tensor(codes, shape))?;
        let width = decoded.dims()[1];
        let decoded = values(decoded);
        let snap = |(decoded, end): (&[f32], &End)| {
            let origin = &descent.origins[end.input];
            let bounds = end.bounds.as_ref().or(origin.bounds.as_ref());
            match &end.x {
                Some(x) => snapped(descent.models, origin, bounds, &clamped(x, bounds)),
                None => snapped(descent.models, origin, bounds, decoded),
            }
        };
        decoded.chunks_exact(width).zip(ends).map(snap).collect()
    });
    Ok(parts.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

/// x between its bounds.
fn clamped(x: &[f32], bounds: Option<&Bounds>) -> Vec<f32> {
    let Some(Bounds { lower, upper }) = bounds else { return x.to_vec() };
    x.iter().zip(lower.iter().zip(upper)).map(|(x, (lower, upper))| x.max(*lower).min(*upper)).collect()
}

/// x as the data could hold it: an image within its range, a row of a table with its decimals and categories.
pub(super) fn snapped(models: &Models, origin: &Origin, bounds: Option<&Bounds>, x: &[f32]) -> Result<Vec<f32>> {
    let Some(schema) = models.schema else { return Ok(x.to_vec()) };
    if x.iter().any(|v| !v.is_finite()) {
        return Ok(x.to_vec());
    }
    if schema.image.is_some() {
        return Ok(match bounds {
            Some(_) => clamped(x, bounds),
            None => x.iter().map(|v| v.clamp(0.0, 1.0)).collect(),
        });
    }
    let original = schema.decode_row(&origin.x);
    let mut row = schema.decode_row(x);
    if let Some(bounds) = bounds {
        row = schema.constraints.repair(schema, &original, row, bounds);
    }
    schema.encode_row(&row)
}

/// What a row of a table changes, and the constraints that it breaks; an image has no features.
fn changes(schema: &Schema, origin: &Origin, x: &[f32]) -> (Vec<Change>, Vec<String>) {
    if schema.image.is_some() || x.iter().any(|v| !v.is_finite()) {
        return (vec![], vec![]);
    }
    let (before, after) = (schema.decode_row(&origin.x), schema.decode_row(x));
    let change = |index: usize| {
        let Feature { name, unit, .. } = &schema.features[index];
        let show = |value: &Value| schema.features[index].show(value);
        Change { feature: name.clone(), from: show(&before[index]), to: show(&after[index]), unit: unit.clone() }
    };
    let changes = schema.changed(&before, &after).into_iter().map(change).collect();
    (changes, schema.constraints.broken(schema, &before, &after))
}

fn rejection(
    origin: &Origin,
    end: &End,
    evaluated: &Evaluated,
    broken: Vec<String>,
    Acceptance { kind, threshold }: Acceptance,
) -> Option<Rejection> {
    let uncertainty = evaluated.prediction.uncertainty.get(kind);
    let numbers = [uncertainty, evaluated.cost, evaluated.input];
    if numbers.iter().chain(&end.z).any(|value| !value.is_finite()) {
        return Some(Rejection::NotFinite);
    }
    if !origin.ball.contains(&end.z, &origin.z) {
        let (distance, radius) = (latent_distance(&end.z, &origin.z), origin.ball.radius());
        return Some(Rejection::OutsideBall { distance, radius });
    }
    if !broken.is_empty() {
        return Some(Rejection::BreaksConstraints { broken });
    }
    (uncertainty >= threshold).then_some(Rejection::TooUncertain { uncertainty, threshold })
}

/// The predicted class or value.
pub(super) fn label_of(prediction: &Prediction, models: &Models) -> Label {
    match models.task() {
        Task::Regression(_) => Label::Value(prediction.mean[0]),
        Task::Classification { .. } => Label::Class(prediction.label()),
    }
}

/// Probabilities of the classes; none for a regression.
pub(super) fn probabilities_of(prediction: &Prediction, models: &Models) -> Vec<f32> {
    if models.task().is_regression() { vec![] } else { prediction.mean.clone() }
}
