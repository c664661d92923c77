//! At most n changed features: keep those that matter most, hold the others where the input has them, search again.
//!
//! A search that may change everything changes everything a little. So after it each candidate is rebuilt from its
//! input: first with the features that the constraints do not let stay, then one feature at a time, always taking over
//! the one that lowers the cost most. After n features the rest is pinned to the input, and the search goes on within
//! what is left.

use super::certificate::{evaluate, final_inputs};
use super::descent::{Descent, End, Start};
use super::origin::Origin;
use crate::data::{Bounds, Column, Halfspace, Schema};
use crate::error::Result;

/// The same ends with at most `most` features changed.
pub(super) fn with_fewer_changes(descent: &Descent, ends: &[End], most: usize) -> Result<Vec<End>> {
    let Some(schema) = descent.models.schema.filter(|schema| schema.image.is_none()) else { return Ok(ends.to_vec()) };
    let x = final_inputs(descent, ends)?;
    let chosen = most_useful_features(descent, schema, ends, &x, most)?;
    let starts: Vec<Start> = ends
        .iter()
        .zip(&chosen)
        .map(|(end, chosen)| Start { input: end.input, z: end.z.clone(), bounds: pinned(descent, schema, end, chosen) })
        .collect();
    let again = Descent { coupling: None, ..*descent }.run(&starts, 1, &[])?;
    let join = |(after, before): (End, &End)| End {
        steps: before.steps + after.steps,
        // A training row stays one as long as nothing is searched.
        x: before.x.clone().filter(|_| after.steps == 0),
        path: [before.path.as_slice(), &after.path].concat(),
        ..after
    };
    Ok(again.into_iter().zip(ends).map(join).collect())
}

/// The bounds of an end's input with every feature but the chosen ones held where the input has it.
fn pinned(descent: &Descent, schema: &Schema, end: &End, chosen: &[usize]) -> Option<Bounds> {
    let origin = &descent.origins[end.input];
    Some(origin.bounds.clone()?.frozen_except(schema, &origin.x, chosen))
}

/// For each end the features to take over, the most useful first.
fn most_useful_features(
    descent: &Descent,
    schema: &Schema,
    ends: &[End],
    x: &[Vec<f32>],
    most: usize,
) -> Result<Vec<Vec<usize>>> {
    let columns = schema.columns();
    let originals: Vec<&Origin> = ends.iter().map(|end| &descent.origins[end.input]).collect();
    let changed: Vec<Vec<usize>> = originals
        .iter()
        .zip(x)
        .map(|(origin, x)| schema.changed(&schema.decode_row(&origin.x), &schema.decode_row(x)))
        .collect();
    let mut chosen: Vec<Vec<usize>> =
        originals.iter().map(|origin| forced(descent.relations, schema, origin)).collect();
    let mut rebuilt: Vec<Vec<f32>> = originals
        .iter()
        .zip(&chosen)
        .zip(x)
        .map(|((origin, forced), x)| forced.iter().fold(origin.x.clone(), |row, &f| taking_over(&row, x, &columns[f])))
        .collect();
    for _ in 0..most {
        let mut trials: Vec<(usize, usize)> = Vec::new();
        for (e, chosen) in chosen.iter().enumerate().filter(|(_, chosen)| chosen.len() < most) {
            trials.extend(changed[e].iter().filter(|feature| !chosen.contains(feature)).map(|&feature| (e, feature)));
        }
        if trials.is_empty() {
            break;
        }
        let with = |&(e, feature): &(usize, usize)| taking_over(&rebuilt[e], &x[e], &columns[feature]);
        let tried: Vec<Vec<f32>> = trials.iter().map(with).collect();
        let places: Vec<(usize, &[f32])> = trials.iter().map(|&(e, _)| (ends[e].input, ends[e].z.as_slice())).collect();
        let costs: Vec<f32> = evaluate(descent, &places, &tried)?.iter().map(|now| now.cost).collect();
        let mut best: Vec<Option<(f32, usize)>> = vec![None; ends.len()];
        for (&(e, feature), &cost) in trials.iter().zip(&costs) {
            if best[e].is_none_or(|(least, _)| cost < least) {
                best[e] = Some((cost, feature));
            }
        }
        for (e, feature) in best.iter().enumerate().filter_map(|(e, best)| Some((e, (*best)?.1))) {
            rebuilt[e] = taking_over(&rebuilt[e], &x[e], &columns[feature]);
            chosen[e].push(feature);
        }
    }
    Ok(chosen)
}

/// The features that cannot stay as the input has them: those outside their range, and for each relation that does
/// not hold yet as few as can mend it, the one with the most room first.
fn forced(relations: &[Halfspace], schema: &Schema, origin: &Origin) -> Vec<usize> {
    let Some(bounds) = &origin.bounds else { return vec![] };
    let mut forced = bounds.must_change(schema, &origin.x);
    let columns = schema.columns();
    let says_nothing = |relation: &&Halfspace| {
        let mut missing = columns.iter().filter(|column| column.is_missing(&origin.x));
        missing.any(|column| relation.coefficients[column.start].abs() > 0.0)
    };
    for Halfspace { coefficients, limit } in relations.iter().filter(|relation| !says_nothing(relation)) {
        let sum: f32 = coefficients.iter().zip(&origin.x).map(|(a, x)| a * x).sum();
        // What moving each feature alone can take off.
        let room = |feature: usize| {
            let c = columns[feature].start;
            let end = if coefficients[c] > 0.0 { bounds.lower[c] } else { bounds.upper[c] };
            (coefficients[c] * (origin.x[c] - end)).max(0.0)
        };
        let mut excess = sum - limit - forced.iter().map(|&feature| room(feature)).sum::<f32>();
        let mut others: Vec<usize> = (0..columns.len()).filter(|feature| !forced.contains(feature)).collect();
        others.sort_by(|&a, &b| room(b).total_cmp(&room(a)));
        for feature in others {
            if excess <= 1e-6 || room(feature) <= 0.0 {
                break;
            }
            excess -= room(feature);
            forced.push(feature);
        }
    }
    forced
}

fn taking_over(row: &[f32], from: &[f32], place: &Column) -> Vec<f32> {
    let mut row = row.to_vec();
    row[place.range()].copy_from_slice(&from[place.range()]);
    row
}
