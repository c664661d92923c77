//! The set of k codes that is chosen from all that evolving candidates saw: ∇-CLUE by selection.
//!
//! A set Z minimises Σ L(zᵢ) − k λ_D D(Z). It grows greedily, code after code; then each of its codes gives way to another
//! one where that is better. Codes about which the model is certain come first: only where there are fewer than k of them,
//! others are taken too.

use crate::error::Result;
use crate::search::coupling::Coupling;
use crate::search::origin::Origin;

/// Codes of a generation that are kept.
const KEPT: usize = 2;
/// Rounds in which codes give way to others.
const ROUNDS: usize = 2;
/// Codes that a set is chosen from at the most: the surest ones, and of these the cheapest half and others evenly spread.
const MOST: usize = 400;

/// A code that was seen.
#[derive(Clone, Debug)]
pub struct Spotted {
    /// The code.
    pub z: Vec<f32>,
    /// What it decodes to.
    pub x: Vec<f32>,
    /// L(z).
    pub loss: f64,
    /// Whether the model is certain about it.
    pub certain: bool,
    /// Where it lies in the space of the diversity.
    pub place: Vec<f32>,
}

/// Codes that a set is chosen from.
#[derive(Clone, Debug, Default)]
pub struct Pool(Vec<Spotted>);

impl Pool {
    /// Adds the best codes of a generation.
    pub fn add(&mut self, mut seen: Vec<Spotted>) {
        seen.retain(|spotted| spotted.loss.is_finite());
        seen.sort_by(|a, b| b.certain.cmp(&a.certain).then(a.loss.total_cmp(&b.loss)));
        seen.truncate(KEPT);
        self.0.extend(seen);
    }

    /// The codes of several candidates.
    pub fn joined<'a>(pools: impl Iterator<Item = &'a Self>) -> Self {
        Self(pools.flat_map(|pool| pool.0.iter().cloned()).collect())
    }

    /// A set of `count` codes, or of all that there are.
    pub fn choose(mut self, coupling: &Coupling, origin: &Origin, count: usize) -> Result<Vec<Spotted>> {
        self.narrow(count);
        let Self(seen) = self;
        let cost = |set: &[usize]| -> Result<f64> {
            let places: Vec<f32> = set.iter().flat_map(|&at| seen[at].place.iter().copied()).collect();
            let width = seen[set[0]].place.len();
            let losses: f64 = set.iter().map(|&at| seen[at].loss).sum();
            Ok(losses + coupling.at(&places, width, origin, None)?.0)
        };
        // The best code in this place of a set.
        let best = |set: &mut Vec<usize>, place: usize| -> Result<()> {
            let mut least = (f64::INFINITY, set[place]);
            for at in 0..seen.len() {
                if set.iter().enumerate().any(|(other, &taken)| other != place && taken == at) {
                    continue;
                }
                set[place] = at;
                let cost = cost(set)?;
                if cost < least.0 {
                    least = (cost, at);
                }
            }
            set[place] = least.1;
            Ok(())
        };
        let mut set: Vec<usize> = Vec::new();
        for place in 0..count.min(seen.len()) {
            let free = (0..seen.len()).find(|at| !set.contains(at)).expect("fewer are taken than there are");
            set.push(free);
            best(&mut set, place)?;
        }
        for _ in 0..ROUNDS {
            let before = set.clone();
            for place in 0..set.len() {
                best(&mut set, place)?;
            }
            if set == before {
                break;
            }
        }
        Ok(set.into_iter().map(|at| seen[at].clone()).collect())
    }

    /// Leaves codes about which the model is certain, if they are enough, and not too many.
    fn narrow(&mut self, count: usize) {
        let Self(seen) = self;
        seen.sort_by(|a, b| b.certain.cmp(&a.certain).then(a.loss.total_cmp(&b.loss)));
        seen.dedup_by(|a, b| a.z == b.z);
        let certain = seen.iter().filter(|spotted| spotted.certain).count();
        if certain >= count {
            seen.truncate(certain);
        }
        let most = MOST.max(2 * count);
        if seen.len() > most {
            let (first, rest) = (most / 2, seen.len() - most / 2);
            let others = (0..most - first).map(|at| first + at * rest / (most - first));
            let kept: Vec<Spotted> = (0..first).chain(others).map(|at| seen[at].clone()).collect();
            *seen = kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diversity::{Diversity, Norm, Space};
    use crate::search::coupling::Order;
    use crate::search::objective::{DiversityTerm, Weighted};

    fn at(z: f32, loss: f64, certain: bool) -> Spotted {
        Spotted { z: vec![z], x: vec![z], loss, certain, place: vec![z] }
    }

    fn chosen(pool: &[Spotted], weight: f32, count: usize) -> Vec<f32> {
        let term = DiversityTerm { metric: Diversity::AveragePairwiseDistance, space: Space::Z, distance: Norm::L2 };
        let coupling = Coupling { term: Weighted(weight, term), order: Order::Simultaneous };
        let set = Pool(pool.to_vec()).choose(&coupling, &Origin::at(&[0.0]), count).unwrap();
        let mut z: Vec<f32> = set.into_iter().map(|spotted| spotted.z[0]).collect();
        z.sort_by(f32::total_cmp);
        z
    }

    #[test]
    fn without_weight_the_cheapest_are_chosen_and_with_it_those_far_apart() {
        let pool = [at(0.0, 0.1, true), at(0.1, 0.2, true), at(5.0, 0.9, true), at(-4.0, 2.0, true)];
        assert_eq!(chosen(&pool, 0.0, 2), [0.0, 0.1]);
        // k λ_D D = 2 · 1 · 9 for the outer two: −18 + 2.9 is less than −10 + 1 of 0 and 5.
        assert_eq!(chosen(&pool, 1.0, 2), [-4.0, 5.0]);
    }

    #[test]
    fn the_certain_come_first_and_others_only_where_they_are_too_few() {
        let pool = [at(0.0, 0.1, true), at(1.0, 0.2, true), at(9.0, 0.0, false)];
        assert_eq!(chosen(&pool, 1.0, 2), [0.0, 1.0]);
        assert_eq!(chosen(&pool, 1.0, 3), [0.0, 1.0, 9.0]);
        assert_eq!(chosen(&pool, 1.0, 7), [0.0, 1.0, 9.0]);
    }

    #[test]
    fn a_generation_leaves_its_best_and_what_is_no_number_goes() {
        let mut pool = Pool::default();
        pool.add(vec![at(0.0, 0.5, false), at(1.0, f64::NAN, true), at(2.0, 0.9, true), at(3.0, 0.7, true)]);
        assert_eq!(pool.0.iter().map(|spotted| spotted.z[0]).collect::<Vec<_>>(), [3.0, 2.0]);
    }
}
