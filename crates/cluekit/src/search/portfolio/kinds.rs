//! Which of the rows that were found for an input are kept: one of each kind of change before more of the same.

use super::tried::{Goal, Tried};
use crate::explanation::Clue;
use crate::search::modes::{Move, are_alike};

/// Of rows in their order, those that are accepted and unlike every accepted row before them, at most `most`.
pub fn firsts(rows: &[Tried], moves: &[Vec<Move>], most: usize) -> Vec<bool> {
    let mut firsts: Vec<usize> = Vec::new();
    let is_first = |place: usize| {
        let new = firsts.len() < most
            && rows[place].reaches(Goal::Certain)
            && firsts.iter().all(|&other| !are_alike(&moves[other], &moves[place]));
        if new {
            firsts.push(place);
        }
        new
    };
    (0..rows.len()).map(is_first).collect()
}

/// The `most` items of lowest rank, the first among equals, in their own order.
pub fn lowest<T>(items: Vec<T>, ranks: &[usize], most: usize) -> Vec<T> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&place| ranks[place]);
    order.truncate(most);
    let mut kept = vec![false; items.len()];
    order.into_iter().for_each(|place| kept[place] = true);
    items.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(item, _)| item).collect()
}

/// The clues without those that are the same row as one before them.
pub fn without_repeats(clues: Vec<Clue>) -> Vec<Clue> {
    let mut kept: Vec<Clue> = Vec::with_capacity(clues.len());
    for clue in clues {
        if kept.iter().all(|other| other.x != clue.x) {
            kept.push(clue);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::super::tried::Candidate;
    use super::*;
    use crate::explanation::FoundBy;

    fn row(uncertainty: f32) -> Tried {
        let row = Candidate { input: 0, x: vec![], by: FoundBy::Scan };
        Tried { row, uncertainty, jury: None, odd: 0.0, changes: 1, excess: 0, cost: 1.0 }
    }

    #[test]
    fn the_first_accepted_row_of_each_kind_is_marked() {
        // {0↓, 1↑}, {0↓}, {0↑}, and {2↓}, which the model is unsure about.
        let rows = [row(0.5), row(0.5), row(0.5), row(1.5)];
        let moves = [vec![(0, 0), (1, 1)], vec![(0, 0)], vec![(0, 1)], vec![(2, 0)]];
        assert_eq!(firsts(&rows, &moves, 9), [true, false, true, false]);
        assert_eq!(firsts(&rows, &moves, 1), [true, false, false, false]);
    }

    #[test]
    fn what_ranks_lowest_is_kept_in_its_own_order() {
        assert_eq!(lowest(vec!['a', 'b', 'c', 'd'], &[0, 2, 1, 0], 3), ['a', 'c', 'd']);
    }
}
