//! The latent space in two dimensions: codes of rows with their uncertainty, and the ways of the clues.

use crate::distance::latent_distance;
use crate::explanation::{Clue, Explanation};
use crate::measure::PrincipalPlane;
use serde::{Deserialize, Serialize};

/// Of the steps of a way, each so manieth is kept.
const EVERY: usize = 3;
/// Dimensions that need no projection.
const PLANE: usize = 2;

/// Latent codes in a plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatentMap {
    /// Number of dimensions of the latent space.
    pub latent: usize,
    /// Share of the variance along each axis; none if the axes are the codes themselves.
    pub explained: Option<[f64; 2]>,
    /// Rows of the data in the plane.
    pub points: Vec<LatentPoint>,
    /// Ways of searches from inputs to their clues.
    pub ways: Vec<Way>,
}

/// One row in the plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatentPoint {
    /// Row of the point in its split, counted from 0.
    pub index: usize,
    /// Place of the row's code in the plane.
    pub at: [f32; 2],
    /// Total uncertainty of the row.
    pub total: f32,
}

/// The way of a search to a clue, and the input that it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// Row of the input in its split, counted from 0.
    pub index: usize,
    /// Number of the clue, counted from 1.
    pub clue: usize,
    /// Whether the clue was accepted.
    pub accepted: bool,
    /// Whether the clue is the cheapest accepted one of its input.
    pub cheapest: bool,
    /// Place of the input's code z₀ in the plane.
    pub from: [f32; 2],
    /// From where the search began to the clue, some of its steps; z₀ and the clue alone where they are not known.
    pub through: Vec<[f32; 2]>,
}

impl LatentMap {
    /// The plane of the codes `z`, each `latent` numbers, of the rows `index`; nothing without a code. `paths` holds, for
    /// each explained input, the codes of every step of every search; it may be empty.
    pub fn of(
        z: &[f32],
        latent: usize,
        index: &[usize],
        totals: &[f32],
        explained: &[Explanation],
        paths: &[Vec<Vec<Vec<f32>>>],
    ) -> Option<Self> {
        let plane = if latent == PLANE { None } else { Some(PrincipalPlane::of(z, latent)?) };
        let place = |code: &[f32]| match &plane {
            None => [code[0], code[1]],
            Some(plane) => plane.place(code).map(|v| v as f32),
        };
        let codes = z.chunks_exact(latent).zip(index).zip(totals);
        let points = codes.map(|((z, &index), &total)| LatentPoint { index, at: place(z), total });
        let mut ways = Vec::new();
        for (input, explanation) in explained.iter().enumerate() {
            let from = place(&explanation.input.z);
            let cost = |(_, clue): &(usize, &Clue)| clue.cost;
            let cheapest = explanation.accepted().min_by(|a, b| cost(a).total_cmp(&cost(b))).map(|(number, _)| number);
            for (number, clue) in explanation.clues.iter().enumerate() {
                let end = place(&clue.z);
                let steps = paths.get(input).and_then(|paths| paths.get(number));
                let mut through: Vec<[f32; 2]> = match steps {
                    // The best point that was seen is the clue, up to the rounding of floats; what came after it is no
                    // way to it.
                    Some(steps) if clue.found_by.is_none() => {
                        let far = |z: &[f32]| latent_distance(z, &clue.z);
                        let nearest = steps.iter().enumerate().min_by(|a, b| far(a.1).total_cmp(&far(b.1)));
                        let last = nearest.map_or(0, |(step, _)| step);
                        steps[..last].iter().step_by(EVERY).map(|z| place(z)).collect()
                    }
                    // What was found beside the search has no way of its own.
                    _ => vec![from],
                };
                through.push(end);
                ways.push(Way {
                    index: explanation.input.index,
                    clue: number + 1,
                    accepted: clue.accepted,
                    cheapest: cheapest == Some(number),
                    from,
                    through,
                });
            }
        }
        Some(Self { latent, explained: plane.as_ref().map(|plane| plane.explained), points: points.collect(), ways })
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::client;
    use super::*;

    #[test]
    fn two_dimensions_are_shown_as_they_are() {
        let map = LatentMap::of(&[1.0, 2.0, 3.0, 4.0], 2, &[7, 9], &[0.1, 0.2], &[client()], &[]).unwrap();
        assert_eq!(map.explained, None);
        assert_eq!(map.points[1], LatentPoint { index: 9, at: [3.0, 4.0], total: 0.2 });
        assert_eq!(map.ways.len(), 2);
        assert_eq!((map.ways[0].from, &map.ways[0].through), ([0.0, 0.5], &vec![[0.0, 0.5], [1.0, -1.0]]));
        assert_eq!([map.ways[0].accepted, map.ways[1].accepted], [true, false]);
        assert_eq!([map.ways[0].cheapest, map.ways[1].cheapest], [true, false]);
    }

    #[test]
    fn a_way_leads_from_where_the_search_began_to_its_clue() {
        let steps = |end: [f32; 2]| {
            let near = end.map(|z| z + 1e-5).to_vec();
            vec![vec![5.0, 5.0], vec![4.0, 4.0], vec![3.0, 3.0], vec![2.0, 2.0], near, vec![9.0, 9.0]]
        };
        let explanation = client();
        let ends: Vec<[f32; 2]> = explanation.clues.iter().map(|clue| [clue.z[0], clue.z[1]]).collect();
        let paths = vec![ends.iter().map(|&end| steps(end)).collect()];
        let map = LatentMap::of(&[1.0, 2.0, 3.0, 4.0], 2, &[7, 9], &[0.1, 0.2], &[explanation], &paths).unwrap();
        assert_eq!(map.ways[0].through, [[5.0, 5.0], [2.0, 2.0], ends[0]], "every third step, and the clue");
    }

    #[test]
    fn more_dimensions_are_shown_along_their_principal_components() {
        let map = LatentMap::of(&[0.0, 0.0, -3.0, 0.0, 0.0, 3.0], 3, &[0, 1], &[0.1, 0.2], &[], &[]).unwrap();
        assert_eq!(map.points.iter().map(|point| point.at[0]).collect::<Vec<_>>(), [-3.0, 3.0]);
        assert_eq!(map.explained, Some([1.0, 0.0]));
        assert_eq!(LatentMap::of(&[], 3, &[], &[], &[], &[]), None);
    }
}
