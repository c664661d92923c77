//! Threads go around the kernels, not into them.
//!
//! Work is cut into pieces whose size depends on the data alone; the pieces are shared out over however many threads
//! there are and their results come back in order. So results are the same for any number of threads.

use rayon::prelude::*;
use std::ops::Range;

/// Rows of a batch that one thread handles at a time.
pub const SHARD: usize = 128;

/// `0..rows` cut into shards of `size` rows; the last may be smaller.
pub fn shards(rows: usize, size: usize) -> Vec<Range<usize>> {
    (0..rows).step_by(size.max(1)).map(|start| start..rows.min(start + size)).collect()
}

/// Rows of a shard where as few shards as possible, none larger than `most`, have about as many rows each: a multiple of
/// `step`.
pub fn even_shard(rows: usize, most: usize, step: usize) -> usize {
    rows.div_ceil(rows.div_ceil(most).max(1)).next_multiple_of(step).clamp(1, most)
}

/// `work` on every shard of `0..rows`, the results in the order of the shards.
pub fn over_shards<T: Send>(rows: usize, size: usize, work: impl Fn(Range<usize>) -> T + Sync + Send) -> Vec<T> {
    let shards = shards(rows, size);
    if shards.len() == 1 {
        return shards.into_iter().map(work).collect();
    }
    shards.into_par_iter().map(work).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_every_row_once() {
        assert_eq!(shards(5, 2), vec![0..2, 2..4, 4..5]);
        assert!(shards(0, 2).is_empty());
    }

    #[test]
    fn even_shards_leave_no_small_rest() {
        // 400 rows in three shards: 134 rounded up to 144, so 144, 144 and 112.
        let sizes = [400, 192, 193, 1, 16].map(|rows| even_shard(rows, 192, 16));
        assert_eq!(sizes, [144, 192, 112, 16, 16]);
    }

    #[test]
    fn results_come_back_in_order() {
        assert_eq!(over_shards(1000, 7, |rows| rows.start), (0..1000).step_by(7).collect::<Vec<_>>());
    }
}
