//! The latent space in two dimensions: codes of rows with their uncertainty, and the ways of the clues.

use crate::explanation::Explanation;
use crate::measure::PrincipalPlane;
use serde::{Deserialize, Serialize};

/// Dimensions that need no projection.
const PLANE: usize = 2;

/// Codes in a plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatentMap {
    /// Dimensions of the latent space.
    pub latent: usize,
    /// The share of the variance that each axis shows; none where the axes are the codes themselves.
    pub explained: Option<[f64; 2]>,
    /// Rows.
    pub points: Vec<LatentPoint>,
    /// From inputs to their clues.
    pub ways: Vec<Way>,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatentPoint {
    /// Its row.
    pub index: usize,
    /// Where its code lies.
    pub at: [f32; 2],
    /// Its total uncertainty.
    pub total: f32,
}

/// From the code z₀ of an input to the code of a clue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// The input's row.
    pub index: usize,
    /// The clue's number, counted from 1.
    pub clue: usize,
    /// Whether it was accepted.
    pub accepted: bool,
    /// z₀.
    pub from: [f32; 2],
    /// z.
    pub to: [f32; 2],
}

impl LatentMap {
    /// The plane of the codes `z`, each `latent` numbers, of the rows `index`; nothing without a code.
    pub fn of(z: &[f32], latent: usize, index: &[usize], totals: &[f32], explained: &[Explanation]) -> Option<Self> {
        let plane = if latent == PLANE { None } else { Some(PrincipalPlane::of(z, latent)?) };
        let place = |code: &[f32]| match &plane {
            None => [code[0], code[1]],
            Some(plane) => plane.place(code).map(|v| v as f32),
        };
        let codes = z.chunks_exact(latent).zip(index).zip(totals);
        let points = codes.map(|((z, &index), &total)| LatentPoint { index, at: place(z), total });
        let ways = explained.iter().flat_map(|explanation| {
            let from = place(&explanation.input.z);
            let clues = explanation.clues.iter().enumerate();
            clues.map(move |(at, clue)| (explanation.input.index, at + 1, clue, from))
        });
        let ways = ways.map(|(index, number, clue, from)| Way {
            index,
            clue: number,
            accepted: clue.accepted,
            from,
            to: place(&clue.z),
        });
        Some(Self {
            latent,
            explained: plane.as_ref().map(|plane| plane.explained),
            points: points.collect(),
            ways: ways.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::client;
    use super::*;

    #[test]
    fn two_dimensions_are_shown_as_they_are() {
        let map = LatentMap::of(&[1.0, 2.0, 3.0, 4.0], 2, &[7, 9], &[0.1, 0.2], &[client()]).unwrap();
        assert_eq!(map.explained, None);
        assert_eq!(map.points[1], LatentPoint { index: 9, at: [3.0, 4.0], total: 0.2 });
        assert_eq!(map.ways.len(), 2);
        assert_eq!((map.ways[0].from, map.ways[0].to), ([0.0, 0.5], [1.0, -1.0]));
        assert_eq!([map.ways[0].accepted, map.ways[1].accepted], [true, false]);
    }

    #[test]
    fn more_dimensions_are_shown_along_their_principal_components() {
        let map = LatentMap::of(&[0.0, 0.0, -3.0, 0.0, 0.0, 3.0], 3, &[0, 1], &[0.1, 0.2], &[]).unwrap();
        assert_eq!(map.points.iter().map(|point| point.at[0]).collect::<Vec<_>>(), [-3.0, 3.0]);
        assert_eq!(map.explained, Some([1.0, 0.0]));
        assert_eq!(LatentMap::of(&[], 3, &[], &[], &[]), None);
    }
}
