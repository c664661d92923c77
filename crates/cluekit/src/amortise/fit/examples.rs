//! What Eq. 2 learns from: codes of uncertain training rows, and certain ones or their own CLUEs.

use super::Fit;
use crate::amortise::encoded::mean;
use crate::amortise::{Group, LearnFrom, MapperPlan, Points};
use crate::error::Result;
use crate::explanation::{Clue, Label};
use crate::observer::Observer;
use crate::search::{Background, Convergence, Decoding, Inputs, Prepared, Proposal, Search, Weighted};

/// Uncertain rows that a translation learns from at the most, evenly spread over a group's.
const MOST_UNCERTAIN: usize = 128;

/// What Eq. 2 learns from.
#[derive(Clone, Debug)]
pub(in crate::amortise) struct Examples {
    /// Codes of uncertain rows.
    pub z: Vec<f32>,
    /// Certain inputs.
    pub certain_x: Points,
    /// Codes of the certain inputs.
    pub certain_z: Vec<f32>,
    /// Columns of a code.
    pub latent: usize,
}

impl Examples {
    /// The latent difference of means.
    pub fn difference(&self) -> Vec<f32> {
        let of = |codes: &[f32]| mean(codes.chunks_exact(self.latent), self.latent);
        difference(&of(&self.certain_z), &of(&self.z))
    }

    /// The mean way from an uncertain code to the nearest certain one.
    pub fn to_the_nearest(&self) -> Vec<f32> {
        let places = Points::new(&self.certain_z, self.latent).nearest(&self.z);
        let found = places.iter().map(|&at| &self.certain_z[at * self.latent..(at + 1) * self.latent]);
        let of = |codes: &[f32]| mean(codes.chunks_exact(self.latent), self.latent);
        difference(&mean(found, self.latent), &of(&self.z))
    }
}

impl Fit<'_> {
    /// What Eq. 2 learns from when it learns from training rows.
    fn examples(&self, group: &Group) -> Examples {
        let train = self.train;
        Examples {
            z: stacked(spread(&group.uncertain, MOST_UNCERTAIN).map(|row| train.z(row))),
            certain_x: Points::new(&stacked(group.certain.iter().map(|&row| train.x(row))), train.width),
            certain_z: stacked(group.certain.iter().map(|&row| train.z(row))),
            latent: train.latent,
        }
    }

    /// What Eq. 2 learns from in each group, and notes where that is not what was asked for.
    pub(in crate::amortise) fn all_examples(
        &mut self,
        plan: &MapperPlan,
        groups: &[Group],
        observer: &mut dyn Observer,
    ) -> Result<(Vec<Examples>, Vec<Vec<String>>)> {
        let LearnFrom::Clues(lambda_x) = plan.learn_from else {
            return Ok((groups.iter().map(|group| self.examples(group)).collect(), vec![vec![]; groups.len()]));
        };
        let wanted = groups.iter().flat_map(|group| spread(&group.uncertain, MOST_UNCERTAIN)).collect::<Vec<_>>();
        self.search_clues(&wanted, lambda_x, observer)?;
        let known = &self.clues[&lambda_x.to_bits()];
        let of_group = |group: &Group| {
            let leads_there = |clue: &&Clue| {
                let to = &group.pair.to;
                let class = |class| clue.label == Label::Class(class);
                clue.accepted && to.class.is_none_or(class) && to.condition_holds(&clue.x, self.models.schema)
            };
            let rows: Vec<usize> = spread(&group.uncertain, MOST_UNCERTAIN).collect();
            let clues: Vec<&Clue> = rows.iter().map(|row| &known[row]).filter(leads_there).collect();
            if clues.is_empty() {
                let name = group.pair.name(self.models.task().classes());
                let note = format!("no CLUE of an uncertain row serves `{name}`; it learned from training rows");
                return (self.examples(group), vec![note]);
            }
            let examples = Examples {
                z: stacked(rows.iter().map(|&row| self.train.z(row))),
                certain_x: Points::new(&stacked(clues.iter().map(|clue| clue.x.as_slice())), self.train.width),
                certain_z: stacked(clues.iter().map(|clue| clue.z.as_slice())),
                latent: self.train.latent,
            };
            (examples, vec![])
        };
        Ok(groups.iter().map(of_group).unzip())
    }

    /// Searches the CLUEs of training rows that have none yet.
    fn search_clues(&mut self, rows: &[usize], lambda_x: f32, observer: &mut dyn Observer) -> Result<()> {
        let known = self.clues.entry(lambda_x.to_bits()).or_default();
        let mut missing: Vec<usize> = rows.iter().copied().filter(|row| !known.contains_key(row)).collect();
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() {
            return Ok(());
        }
        let distance = self.search.objective.input.1;
        let mut search = Search { convergence: Convergence::default(), ..self.search.clone() };
        search.objective.input = Weighted(lambda_x, distance);
        // Eq. 2 moves decoded means towards them.
        search.decoding = Decoding::Mean;
        let rows = self.train.select(&missing);
        let inputs = Inputs::new(rows.x, rows.width)?;
        // The plausibility of examples is not asked for.
        let background = Background { plausible: None, ..self.background.clone() };
        let prepared = search.prepare(self.models, &background, &inputs)?;
        let found = prepared.refine(&starts(&prepared), observer)?;
        observer.finished("clues", &format!("of {} uncertain training rows, λ_x = {lambda_x}", missing.len()));
        known.extend(missing.into_iter().zip(found.into_iter().flatten()));
        Ok(())
    }
}

/// a − b, number by number.
pub(in crate::amortise) fn difference(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Rows one behind the other.
pub(in crate::amortise) fn stacked<'a>(rows: impl Iterator<Item = &'a [f32]>) -> Vec<f32> {
    rows.flatten().copied().collect()
}

/// So many of `rows`, or all if there are fewer, evenly spread over them.
fn spread(rows: &[usize], most: usize) -> impl Iterator<Item = usize> + '_ {
    let count = rows.len().min(most);
    (0..count).map(move |at| rows[at * rows.len() / count])
}

/// Proposals at the inputs themselves.
fn starts(prepared: &Prepared) -> Vec<Vec<Proposal>> {
    let start = |input| vec![Proposal { z: prepared.z(input).to_vec(), x: None, mapper: String::new() }];
    (0..prepared.len()).map(start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_rows_as_asked_for_are_spread_over_all() {
        let some = |count: usize, most: usize| spread(&(0..count).collect::<Vec<_>>(), most).collect::<Vec<_>>();
        assert_eq!(some(5, 2), [0, 2]);
        assert_eq!(some(5, 4), [0, 1, 2, 3]);
        assert_eq!(some(3, 128), [0, 1, 2]);
        assert_eq!(some(0, 128), Vec::<usize>::new());
        // One row more than asked for drops one row, not every other.
        let rows = some(129, 128);
        assert_eq!((rows.len(), rows[0], rows[127]), (128, 0, 127));
        assert_eq!(some(256, 128), (0..128).map(|row| 2 * row).collect::<Vec<_>>());
    }
}
