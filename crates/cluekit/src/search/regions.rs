//! Minimal clues of images: connected regions of changed pixels go back to what they were, where nothing is lost by it.
//!
//! A pixel counts as changed by more than [`FAINT`]; changed pixels that touch, at a corner too, are one region, and all
//! that is fainter is a region of its own. A region goes back if the clue costs less without it and the model stays sure.
//! A rough look by a few posterior samples finds out which may; those that may go back one by one are tried together, and
//! judged by all samples.
//!
//! Since what is needless goes back, an anchored search may go farther than its price of distance says: other models
//! believe its clues more often for it. Without an anchor they believe them anyhow.

use super::certificate::{Acceptance, Evaluated, evaluate, evaluate_roughly, final_inputs};
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

/// Posterior samples of a rough look.
const ROUGH_SAMPLES: usize = 8;

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
    let looked_at = |rows: &[(usize, Vec<f32>)], roughly: bool| {
        let places: Vec<(usize, &[f32])> =
            rows.iter().map(|(end, _)| (ends[*end].input, ends[*end].z.as_slice())).collect();
        let x: Vec<Vec<f32>> = rows.iter().map(|(_, x)| x.clone()).collect();
        match roughly {
            _ if rows.is_empty() => Ok(vec![]),
            true => evaluate_roughly(descent, &places, &x, ROUGH_SAMPLES),
            false => evaluate(descent, &places, &x),
        }
    };
    let whole: Vec<(usize, Vec<f32>)> = x.into_iter().enumerate().collect();
    let original = |end: usize| descent.origins[ends[end].input].x.as_slice();
    let mut clues: Vec<Clue> = looked_at(&whole, false)?
        .into_iter()
        .zip(whole)
        .map(|(now, (end, x))| {
            let certain = amount(&now) < acceptance.threshold && now.cost.is_finite();
            let regions = if certain { regions(image, original(end), &x) } else { vec![] };
            let limit = amount(&now).max(SURE * acceptance.threshold);
            Clue { uncertainty: amount(&now), cost: now.cost, limit, regions, needed: vec![], certain, x }
        })
        .collect();
    // Every region alone, clue after clue.
    let alone = |clues: &[Clue], end: usize| -> Vec<(usize, Vec<f32>)> {
        clues[end].regions.iter().map(|region| (end, clues[end].without([region], original(end)))).collect()
    };
    // Clues that nothing was taken from stay as they are.
    let mut active: Vec<usize> = (0..clues.len()).filter(|&end| !clues[end].regions.is_empty()).collect();
    for _ in 0..ROUNDS {
        descent.go_on()?;
        // The clue as it is comes first: a rough look is compared with another.
        let as_it_is = |end: usize| std::iter::once((end, clues[end].x.clone()));
        let rows: Vec<_> = active.iter().flat_map(|&end| as_it_is(end).chain(alone(&clues, end))).collect();
        let mut said = looked_at(&rows, true)?.into_iter();
        let mut together = Vec::new();
        for &end in &active {
            let clue = &clues[end];
            let said: Vec<Evaluated> = said.by_ref().take(1 + clue.regions.len()).collect();
            let more = |now: &Evaluated| [amount(now) - amount(&said[0]), now.cost - said[0].cost];
            let mut gains: Vec<(usize, f32)> = said[1..]
                .iter()
                .map(more)
                .enumerate()
                .filter(|(_, [uncertainty, cost])| clue.gains(clue.uncertainty + uncertainty, clue.cost + cost))
                .map(|(at, [_, cost])| (at, cost))
                .collect();
            gains.sort_by(|a, b| a.1.total_cmp(&b.1));
            // All that gain, half of them, and the best alone.
            let mut sizes = vec![gains.len(), gains.len().div_ceil(2), gains.len().min(1)];
            sizes.dedup();
            for size in sizes.into_iter().filter(|&size| size > 0) {
                let back: Vec<usize> = gains[..size].iter().map(|&(at, _)| at).collect();
                let row = clue.without(back.iter().map(|&at| &clue.regions[at]), original(end));
                together.push((end, row, back));
            }
        }
        let rows: Vec<(usize, Vec<f32>)> = together.iter().map(|(end, x, _)| (*end, x.clone())).collect();
        let mut best: Vec<Option<usize>> = vec![None; clues.len()];
        let said = looked_at(&rows, false)?;
        for (at, (end, ..)) in together.iter().enumerate() {
            let better = best[*end].is_none_or(|best| said[at].cost < said[best].cost);
            if clues[*end].gains(amount(&said[at]), said[at].cost) && better {
                best[*end] = Some(at);
            }
        }
        active.retain(|&end| best[end].is_some());
        if active.is_empty() {
            break;
        }
        for (clue, best) in clues.iter_mut().zip(best) {
            let Some(best) = best else { continue };
            let (_, x, back) = &together[best];
            (clue.uncertainty, clue.cost) = (amount(&said[best]), said[best].cost);
            clue.x.clone_from(x);
            let left = |(at, region): (usize, Vec<usize>)| (!back.contains(&at)).then_some(region);
            clue.regions = std::mem::take(&mut clue.regions).into_iter().enumerate().filter_map(left).collect();
        }
        active.retain(|&end| !clues[end].regions.is_empty());
    }
    let rows: Vec<_> = (0..clues.len()).flat_map(|end| alone(&clues, end)).collect();
    let mut said = looked_at(&rows, false)?.into_iter();
    for clue in &mut clues {
        let said = said.by_ref().take(clue.regions.len());
        clue.needed = said.map(|now| amount(&now) >= acceptance.threshold).collect();
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
    /// Which of them the model needs to be certain.
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
