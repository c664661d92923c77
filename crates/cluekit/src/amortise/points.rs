//! The nearest of many points, found block by block: memory does not grow with the number of points.
//!
//! argmin_b ‖a − b‖² = argmin_b (‖b‖² − 2 a·b), so a block of squared distances is one product of matrices.

use crate::parallel::over_shards;
use crate::tensor::{Tensor, tensor, values};
use std::ops::Range;

/// Points in one block.
const BLOCK: usize = 1024;
/// Queries that one thread looks up at a time.
const QUERIES: usize = 128;

/// Points that the nearest is looked up among, many times.
#[derive(Clone, Debug)]
pub struct Points {
    width: usize,
    /// `[at most BLOCK, width]` each, with the squared length of every row.
    blocks: Vec<(Tensor<2>, Vec<f32>)>,
}

impl Points {
    /// The points of `width` numbers each that lie one behind the other.
    pub fn new(points: &[f32], width: usize) -> Self {
        let block = |points: &[f32]| {
            let squares = points.chunks_exact(width).map(|row| row.iter().map(|v| v * v).sum()).collect();
            (tensor(points.to_vec(), [points.len() / width, width]), squares)
        };
        Self { width, blocks: points.chunks(BLOCK * width).map(block).collect() }
    }

    /// Number of columns of a point.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The point at one position.
    pub fn point(&self, place: usize) -> Vec<f32> {
        values(self.blocks[place / BLOCK].0.clone().narrow(0, place % BLOCK, 1))
    }

    /// For each query the place of the nearest point by Euclidean distance; the first of equals.
    ///
    /// # Shapes
    /// - `queries`: `n × width`, row by row
    pub fn nearest(&self, queries: &[f32]) -> Vec<usize> {
        let part = |rows: Range<usize>| self.nearest_of_part(&queries[rows.start * self.width..rows.end * self.width]);
        over_shards(queries.len() / self.width, QUERIES, part).concat()
    }

    fn nearest_of_part(&self, queries: &[f32]) -> Vec<usize> {
        let rows = queries.len() / self.width;
        let mut best = vec![(f32::INFINITY, 0); rows];
        let queries = tensor(queries.to_vec(), [rows, self.width]);
        for (block, (points, squares)) in self.blocks.iter().enumerate() {
            let products = values(queries.clone().matmul(points.clone().transpose()));
            for (products, best) in products.chunks_exact(squares.len()).zip(&mut best) {
                for (at, (product, square)) in products.iter().zip(squares).enumerate() {
                    let distance = square - 2.0 * product;
                    if distance < best.0 {
                        *best = (distance, block * BLOCK + at);
                    }
                }
            }
        }
        best.into_iter().map(|(_, place)| place).collect()
    }
}

/// The place of the point nearest to `query` by the ℓ1 distance; the first of equals.
pub(super) fn nearest_l1<'a>(query: &[f32], points: impl Iterator<Item = &'a [f32]>) -> Option<usize> {
    let distance = |point: &[f32]| query.iter().zip(point).map(|(a, b)| (a - b).abs()).sum::<f32>();
    let mut best = None;
    for (place, point) in points.enumerate() {
        let distance = distance(point);
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, place));
        }
    }
    best.map(|(_, place)| place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use rand::RngExt;

    #[test]
    fn the_nearest_is_found_in_whatever_block_it_lies() {
        let mut rng = Seed(4).stream("points");
        let mut draw = |count: usize| -> Vec<f32> { (0..3 * count).map(|_| rng.random_range(-1.0..1.0)).collect() };
        let (queries, points) = (draw(300), draw(2 * BLOCK + 17));
        let by_hand = |query: &[f32]| {
            let square = |point: &[f32]| point.iter().zip(query).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
            let squares: Vec<f64> = points.chunks(3).map(square).collect();
            (0..squares.len()).min_by(|&a, &b| squares[a].total_cmp(&squares[b])).unwrap()
        };
        let expected: Vec<usize> = queries.chunks(3).map(by_hand).collect();
        let all = Points::new(&points, 3);
        assert_eq!(all.nearest(&queries), expected);
        assert!(expected.iter().all(|&place| all.point(place) == points[3 * place..3 * place + 3]));
        assert!(expected.iter().any(|&place| place >= 2 * BLOCK), "the last block should matter");
    }

    #[test]
    fn of_equals_the_first_is_taken() {
        assert_eq!(Points::new(&[1.0, -1.0, 1.0], 1).nearest(&[0.0]), [0]);
        assert_eq!(nearest_l1(&[0.0], [2.0, 1.0, -1.0].chunks(1)), Some(1));
        assert_eq!(nearest_l1(&[0.0], [].into_iter()), None);
    }
}
