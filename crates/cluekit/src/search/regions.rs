//! Minimal clues of images: connected regions of changed pixels go back to what they were, where nothing is lost by it.
//!
//! A pixel counts as changed by more than [`FAINT`]; changed pixels that touch, at a corner too, are one region, and all
//! that is fainter is a region of its own. A region goes back if the clue costs less without it and the model stays sure.
//! Regions that may go back one by one are tried together first.
//!
//! Since what is needless goes back, an anchored search may go farther than its price of distance says: other models
//! believe its clues more often for it. Without an anchor they believe them anyhow.

use super::certificate::{Acceptance, Evaluated, evaluate, final_inputs};
use super::descent::{Descent, End};
use super::{Decoding, Objective, Search};
use crate::data::Image;
use crate::error::Result;

/// Change of a pixel, as a share of full intensity, below which it belongs to no region of its own.
const FAINT: f32 = 0.05;
/// Regions that are tried alone, the largest first; the others are one region.
const MOST_REGIONS: usize = 24;
/// Rounds at the most.
const ROUNDS: usize = 6;

/// Share of λ_x that an anchored search has whose needless changes go back.
const FARTHER: f32 = 0.5;
/// Share of the threshold up to which the model may get less sure when a region goes back.
const SURE: f32 = 0.12;

/// The shape of the images whose clues are made minimal; none for tables and for the paper's methods.
pub(super) fn image_of<'a>(search: &Search, descent: &Descent<'a>) -> Option<&'a Image> {
    let minimal = search.portfolio.as_ref().is_some_and(|portfolio| portfolio.minimal);
    descent.models.schema.and_then(|schema| schema.image.as_ref()).filter(|_| minimal)
}

/// The objective of a descent: that of the search, with less weight on the distance where needless changes go back.
pub(super) fn farther(search: &Search, descent: &Descent) -> Objective {
    let mut objective = descent.objective.clone();
    if image_of(search, descent).is_some() && descent.decoding == Decoding::Anchored {
        objective.input.0 *= FARTHER;
    }
    objective
}

/// Whether a clue of an image is one of which no region can be taken back.
#[derive(Clone, Debug)]
pub(super) struct Trimmed {
    /// The end with what is left of its changes.
    pub end: End,
    /// Whether no single region can go back without the model getting uncertain; none if the clue is not accepted.
    pub minimal: Option<bool>,
}

/// The ends without the regions that need not change. The model stays below [`SURE`] of the threshold, or as sure as it is.
pub(super) fn without_needless(
    descent: &Descent,
    image: &Image,
    ends: Vec<End>,
    acceptance: Acceptance,
) -> Result<Vec<Trimmed>> {
    let x = final_inputs(descent, &ends)?;
    let amount = |evaluated: &Evaluated| evaluated.prediction.uncertainty.get(acceptance.kind);
    let ask = |rows: &[(usize, Vec<f32>)]| {
        let places: Vec<(usize, &[f32])> =
            rows.iter().map(|(end, _)| (ends[*end].input, ends[*end].z.as_slice())).collect();
        let x: Vec<Vec<f32>> = rows.iter().map(|(_, x)| x.clone()).collect();
        if rows.is_empty() { Ok(vec![]) } else { evaluate(descent, &places, &x) }
    };
    let whole: Vec<(usize, Vec<f32>)> = x.into_iter().enumerate().collect();
    let original = |end: usize| descent.origins[ends[end].input].x.as_slice();
    let mut clues: Vec<Clue> = ask(&whole)?
        .into_iter()
        .zip(whole)
        .map(|(now, (end, x))| {
            let certain = amount(&now) < acceptance.threshold && now.cost.is_finite();
            let regions = if certain { regions(image, original(end), &x) } else { vec![] };
            let limit = amount(&now).max(SURE * acceptance.threshold);
            Clue { uncertainty: amount(&now), cost: now.cost, limit, regions, needed: vec![], certain, x }
        })
        .collect();
    for _ in 0..ROUNDS {
        descent.go_on()?;
        let alone = |(end, clue): (usize, &Clue)| {
            clue.regions.iter().map(|region| (end, clue.without([region], original(end)))).collect::<Vec<_>>()
        };
        let rows: Vec<(usize, Vec<f32>)> = clues.iter().enumerate().flat_map(alone).collect();
        let mut said = ask(&rows)?.into_iter();
        let mut together = Vec::new();
        for (end, clue) in clues.iter_mut().enumerate() {
            let said: Vec<Evaluated> = said.by_ref().take(clue.regions.len()).collect();
            clue.needed = said.iter().map(|now| amount(now) >= acceptance.threshold).collect();
            let mut gains: Vec<usize> =
                (0..said.len()).filter(|&at| clue.gains(amount(&said[at]), said[at].cost)).collect();
            gains.sort_by(|&a, &b| said[a].cost.total_cmp(&said[b].cost));
            // All that gain, half of them, and the best alone.
            let mut sizes = vec![gains.len(), gains.len().div_ceil(2), gains.len().min(1)];
            sizes.dedup();
            for size in sizes.into_iter().filter(|&size| size > 0) {
                let back = gains[..size].to_vec();
                let row = clue.without(back.iter().map(|&at| &clue.regions[at]), original(end));
                together.push((end, row, back));
            }
        }
        if together.is_empty() {
            break;
        }
        let rows: Vec<(usize, Vec<f32>)> = together.iter().map(|(end, x, _)| (*end, x.clone())).collect();
        let mut best: Vec<Option<usize>> = vec![None; clues.len()];
        let said = ask(&rows)?;
        for (at, (end, ..)) in together.iter().enumerate() {
            let better = best[*end].is_none_or(|best| said[at].cost < said[best].cost);
            if clues[*end].gains(amount(&said[at]), said[at].cost) && better {
                best[*end] = Some(at);
            }
        }
        for (clue, best) in clues.iter_mut().zip(best) {
            let Some(best) = best else { continue };
            let (_, x, back) = &together[best];
            (clue.uncertainty, clue.cost) = (amount(&said[best]), said[best].cost);
            clue.x.clone_from(x);
            let left = |(at, region): (usize, Vec<usize>)| (!back.contains(&at)).then_some(region);
            clue.regions = std::mem::take(&mut clue.regions).into_iter().enumerate().filter_map(left).collect();
        }
    }
    let trimmed = ends.iter().zip(clues).map(|(end, clue)| Trimmed {
        minimal: clue.certain.then(|| clue.needed.iter().all(|&needed| needed)),
        end: End { x: Some(clue.x), ..end.clone() },
    });
    Ok(trimmed.collect())
}

/// A clue on its way to fewer changes.
struct Clue {
    x: Vec<f32>,
    uncertainty: f32,
    cost: f32,
    /// Uncertainty that it may not exceed.
    limit: f32,
    certain: bool,
    /// Regions that still differ from the input: the pixels of each, in all channels.
    regions: Vec<Vec<usize>>,
    /// Which of them the model needs to be certain, by the last look.
    needed: Vec<bool>,
}

impl Clue {
    fn without<'a>(&self, regions: impl IntoIterator<Item = &'a Vec<usize>>, original: &[f32]) -> Vec<f32> {
        let mut x = self.x.clone();
        regions.into_iter().flatten().for_each(|&pixel| x[pixel] = original[pixel]);
        x
    }

    fn gains(&self, uncertainty: f32, cost: f32) -> bool {
        uncertainty <= self.limit && cost < self.cost
    }
}

/// The regions in which two images differ, the largest change first; what is faint comes last, as one.
fn regions(image: &Image, before: &[f32], after: &[f32]) -> Vec<Vec<usize>> {
    let Image { height, width, channels, .. } = *image;
    let area = height * width;
    let change = |pixel: usize| {
        (0..channels).map(move |channel| (after[channel * area + pixel] - before[channel * area + pixel]).abs())
    };
    let is_clear: Vec<bool> = (0..area).map(|pixel| change(pixel).fold(0.0, f32::max) > FAINT).collect();
    let mut seen = vec![false; area];
    let mut regions: Vec<Vec<usize>> = Vec::new();
    for first in (0..area).filter(|&pixel| is_clear[pixel]) {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        let (mut region, mut next) = (Vec::new(), vec![first]);
        while let Some(pixel) = next.pop() {
            region.push(pixel);
            let (row, column) = (pixel / width, pixel % width);
            for row in row.saturating_sub(1)..(row + 2).min(height) {
                for column in column.saturating_sub(1)..(column + 2).min(width) {
                    let near = row * width + column;
                    if is_clear[near] && !std::mem::replace(&mut seen[near], true) {
                        next.push(near);
                    }
                }
            }
        }
        region.sort_unstable();
        regions.push(region);
    }
    let size = |region: &[usize]| region.iter().flat_map(|&pixel| change(pixel)).sum::<f32>();
    regions.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.cmp(b)));
    let small = regions.split_off(regions.len().min(MOST_REGIONS)).concat();
    let faint: Vec<usize> = (0..area).filter(|&pixel| !is_clear[pixel] && change(pixel).any(|by| by > 0.0)).collect();
    regions.extend([small, faint].into_iter().filter(|region| !region.is_empty()));
    let in_all_channels =
        |region: Vec<usize>| (0..channels).flat_map(|at| region.iter().map(move |pixel| at * area + pixel)).collect();
    regions.into_iter().map(in_all_channels).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_that_touch_are_one_region_and_the_faint_ones_another() {
        let image = Image { channels: 1, height: 3, width: 4, maximum: 1.0 };
        let after = [
            0.5, 0.0, 0.0, 0.95, //
            0.0, 0.4, 0.0, 0.0, //
            0.01, 0.0, 0.0, 0.02,
        ];
        // 0 and 5 touch at a corner; 3 lies alone; 8 and 11 are faint.
        assert_eq!(regions(&image, &[0.0; 12], &after), [vec![3], vec![0, 5], vec![8, 11]]);
        assert!(regions(&image, &after, &after).is_empty());
    }

    #[test]
    fn a_region_holds_its_pixels_in_all_channels() {
        let image = Image { channels: 2, height: 1, width: 3, maximum: 1.0 };
        assert_eq!(regions(&image, &[0.0; 6], &[0.0, 0.0, 0.3, 0.0, 0.0, 0.0]), [vec![2, 5]]);
    }
}
