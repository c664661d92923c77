//! At most n changed features: keep those that matter most, hold the others where the input has them, search again.
//!
//! A search that may change everything changes everything a little. So after it each candidate is rebuilt from its
//! input, one feature at a time, always taking over the one that lowers the cost most; after n features the rest is
//! pinned to the input, and the search goes on within what is left.

use super::certificate::{evaluate, final_inputs};
use super::descent::{Descent, End, Start};
use crate::data::{Bounds, Column, Schema};
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
    Ok(again.into_iter().zip(ends).map(|(after, before)| End { steps: before.steps + after.steps, ..after }).collect())
}

/// The bounds of an end's input with every feature but the chosen ones held where the input has it.
fn pinned(descent: &Descent, schema: &Schema, end: &End, chosen: &[usize]) -> Option<Bounds> {
    let origin = &descent.origins[end.input];
    let mut bounds = origin.bounds.clone()?;
    for feature in (0..schema.features.len()).filter(|feature| !chosen.contains(feature)) {
        bounds.pin(schema, &origin.x, feature);
    }
    Some(bounds)
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
    let mut rebuilt: Vec<Vec<f32>> = ends.iter().map(|end| descent.origins[end.input].x.clone()).collect();
    let mut chosen: Vec<Vec<usize>> = vec![vec![]; ends.len()];
    for _ in 0..most {
        let mut trials = Vec::new();
        for (e, end) in ends.iter().enumerate() {
            let differs = |place: &Column| x[e][place.range()] != descent.origins[end.input].x[place.range()];
            let left = (0..columns.len()).filter(|feature| !chosen[e].contains(feature));
            trials.extend(left.filter(|&feature| differs(&columns[feature])).map(|feature| (e, feature)));
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

fn taking_over(row: &[f32], from: &[f32], place: &Column) -> Vec<f32> {
    let mut row = row.to_vec();
    row[place.range()].copy_from_slice(&from[place.range()]);
    row
}
