//! The nearest of many points, found block by block: memory does not grow with the number of points.
//!
//! argmin_b ‖a − b‖² = argmin_b (‖b‖² − 2 a·b), so a block of squared distances is one product of matrices. Far from the
//! origin that difference of large numbers has few digits left: there a and b are taken from the middle of the points. The
//! product only says which few are near; their differences, in 64 bits, say which is the nearest.

use crate::parallel::over_shards;
use crate::tensor::{Tensor, tensor, values};
use std::ops::Range;

/// Points in one block.
const BLOCK: usize = 1024;
/// Queries that one thread looks up at a time.
const QUERIES: usize = 128;
/// Points near a query whose differences are looked at.
const CLOSEST: usize = 8;
/// Rounding of a product of rows, as a share of their squared lengths; points nearer than the first by less are looked at.
const ROUNDING: f32 = 1e-4;
/// How much further from the origin than from each other points lie that are taken from their middle, as a ratio of squares.
const FAR: f64 = 4.0;

/// Points that the nearest is looked up among, many times.
#[derive(Clone, Debug)]
pub struct Points {
    width: usize,
    /// What the products are taken from: the mean of points far from the origin, else nothing.
    middle: Option<Vec<f32>>,
    blocks: Vec<Block>,
}

/// Some of the points, `[at most BLOCK, width]`.
#[derive(Clone, Debug)]
struct Block {
    points: Tensor<2>,
    /// The points from the middle.
    centred: Tensor<2>,
    /// The squared length of every row of `centred`.
    squares: Vec<f32>,
}

impl Points {
    /// The points of `width` numbers each that lie one behind the other.
    pub fn new(points: &[f32], width: usize) -> Self {
        let middle = middle(points, width);
        let block = |rows: &[f32]| {
            let shape = [rows.len() / width, width];
            let points = tensor(rows.to_vec(), shape);
            let from_middle = middle.as_ref().map(|middle| minus(rows, middle));
            let squares = from_middle.as_deref().unwrap_or(rows).chunks_exact(width);
            let squares = squares.map(|row| row.iter().map(|v| v * v).sum()).collect();
            let centred = from_middle.map_or_else(|| points.clone(), |rows| tensor(rows, shape));
            Block { points, centred, squares }
        };
        let blocks = points.chunks(BLOCK * width).map(block).collect();
        Self { width, middle, blocks }
    }

    /// Number of columns of a point.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The point at one position.
    pub fn point(&self, place: usize) -> Vec<f32> {
        values(self.blocks[place / BLOCK].points.clone().narrow(0, place % BLOCK, 1))
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
        let from_middle = self.middle.as_ref().map_or_else(|| queries.to_vec(), |middle| minus(queries, middle));
        let mut closest: Vec<Closest> = from_middle.chunks_exact(self.width).map(Closest::new).collect();
        let centred = tensor(from_middle, [rows, self.width]);
        for (block, Block { centred: points, squares, .. }) in self.blocks.iter().enumerate() {
            let products = values(centred.clone().matmul(points.clone().transpose()));
            for (products, closest) in products.chunks_exact(squares.len()).zip(&mut closest) {
                for (at, (product, square)) in products.iter().zip(squares).enumerate() {
                    closest.add(square - 2.0 * product, block * BLOCK + at);
                }
            }
        }
        let queries = queries.chunks_exact(self.width);
        queries.zip(closest).map(|(query, closest)| self.nearest_among(query, closest.within_rounding())).collect()
    }

    /// The nearest of a few points by their differences from the query.
    fn nearest_among(&self, query: &[f32], places: Vec<usize>) -> usize {
        if let [only] = places[..] {
            return only;
        }
        let square = |place: usize| {
            let differences = query.iter().zip(self.point(place)).map(|(a, b)| f64::from(*a) - f64::from(b));
            differences.map(|d| d * d).sum::<f64>()
        };
        let judged = places.into_iter().map(|place| (square(place), place));
        judged.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map_or(0, |(_, place)| place)
    }
}

/// The few points that are closest to a query, by rising distance.
#[derive(Clone, Debug)]
struct Closest {
    /// ‖b‖² − 2 a·b and the place of each.
    found: Vec<(f32, usize)>,
    /// ‖a‖².
    square: f32,
}

impl Closest {
    fn new(query: &[f32]) -> Self {
        Self { found: Vec::with_capacity(CLOSEST), square: query.iter().map(|v| v * v).sum() }
    }

    fn add(&mut self, distance: f32, place: usize) {
        let full = self.found.len() == CLOSEST;
        if full && self.found.last().is_some_and(|(furthest, _)| distance >= *furthest) {
            return;
        }
        if full {
            self.found.pop();
        }
        let at = self.found.partition_point(|(nearer, _)| *nearer <= distance);
        self.found.insert(at, (distance, place));
    }

    /// The places that rounding cannot tell from the first.
    fn within_rounding(&self) -> Vec<usize> {
        let least = self.found.first().map_or(0.0, |(distance, _)| *distance);
        // ‖b‖ ≤ ‖a‖ + ‖a − b‖, whose square is at most 2 ‖a‖² + 2 ‖a − b‖².
        let limit = least + ROUNDING * (3.0 * self.square + 2.0 * (least + self.square).max(0.0));
        self.found.iter().filter(|(distance, _)| *distance <= limit).map(|(_, place)| *place).collect()
    }
}

/// The mean of points that lie further from the origin than from each other.
fn middle(points: &[f32], width: usize) -> Option<Vec<f32>> {
    let (mut sums, mut squares) = (vec![0.0; width], 0.0);
    for row in points.chunks_exact(width) {
        for (sum, &value) in sums.iter_mut().zip(row) {
            *sum += f64::from(value);
            squares += f64::from(value).powi(2);
        }
    }
    let count = (points.len() / width).max(1) as f64;
    let away: f64 = sums.iter().map(|sum| (sum / count).powi(2)).sum();
    let apart = (squares / count - away).max(0.0);
    (away > FAR * apart).then(|| sums.iter().map(|sum| (sum / count) as f32).collect())
}

/// Every row without the middle.
fn minus(rows: &[f32], middle: &[f32]) -> Vec<f32> {
    rows.chunks_exact(middle.len()).flat_map(|row| row.iter().zip(middle).map(|(a, m)| a - m)).collect()
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
    fn points_far_from_the_origin_are_told_apart() {
        // 1000.7 is 0.3 from 1001 and 0.7 from 1000; their squares, around a million, end in steps of 0.06.
        assert_eq!(Points::new(&[1000.0, 1001.0], 1).nearest(&[1000.7, 1000.2]), [1, 0]);
        let mut rng = Seed(5).stream("far points");
        let mut draw = |count: usize| -> Vec<f32> { (0..8 * count).map(|_| rng.random_range(999.0..1001.0)).collect() };
        let (queries, points) = (draw(200), draw(500));
        let by_hand = |query: &[f32]| {
            let square = |point: &[f32]| point.iter().zip(query).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
            let squares: Vec<f64> = points.chunks(8).map(square).collect();
            (0..squares.len()).min_by(|&a, &b| squares[a].total_cmp(&squares[b])).unwrap()
        };
        let expected: Vec<usize> = queries.chunks(8).map(by_hand).collect();
        assert_eq!(Points::new(&points, 8).nearest(&queries), expected);
    }

    #[test]
    fn of_equals_the_first_is_taken() {
        assert_eq!(Points::new(&[1.0, -1.0, 1.0], 1).nearest(&[0.0]), [0]);
        assert_eq!(nearest_l1(&[0.0], [2.0, 1.0, -1.0].chunks(1)), Some(1));
        assert_eq!(nearest_l1(&[0.0], [].into_iter()), None);
    }
}
