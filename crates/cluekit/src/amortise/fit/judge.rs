//! Mappers are judged by the mean cost H + λ_x d of their groups' uncertain validation rows; those that lead to another
//! class also by how probable that becomes.

use super::Workshop;
use crate::amortise::{Encoded, Group, Mapper};
use crate::error::Result;
use crate::explanation::Clue;
use crate::observer::{Observer, Shared};
use crate::parallel::over_shards;
use crate::search::{Background, Inputs, Prepared};
use crate::uncertainty::LEAST_PROBABILITY;

/// Validation rows of a group that settings are chosen on, at the least where it has as many.
const LEAST_VALIDATION: usize = 30;
/// And at the most.
const MOST_VALIDATION: usize = 200;
/// Weight of −log p of the class that a pair leads to, where that is another: without it to stay would often cost least.
const CLASS_WEIGHT: f64 = 0.3;

/// Judges mappers by the mean cost of their groups' uncertain validation rows.
pub(super) struct Judge<'a> {
    workshop: &'a Workshop<'a>,
    /// For each group its validation rows.
    rows: Vec<Encoded>,
    /// For each group the class that it leads to, where that is another.
    towards: Vec<Option<usize>>,
    /// For each group what had to be done otherwise.
    pub notes: Vec<Vec<String>>,
    inputs: Inputs,
    background: Background,
}

impl<'a> Judge<'a> {
    pub fn new(workshop: &'a Workshop, groups: &[Group]) -> Result<Self> {
        let kind = workshop.thresholds.kind;
        let most_uncertain = |all: &Encoded, group: &Group| {
            let amount = |row: usize| all.predictions[row].uncertainty.get(kind);
            let belongs = |row: &usize| group.pair.from.hold(all, *row, workshop.models.schema);
            let mut rows: Vec<usize> = (0..all.len()).filter(belongs).collect();
            rows.sort_by(|&a, &b| amount(b).total_cmp(&amount(a)).then(a.cmp(&b)));
            let uncertain = rows.iter().filter(|&&row| amount(row) > group.uncertain_above).count();
            rows.truncate(uncertain.clamp(LEAST_VALIDATION, MOST_VALIDATION));
            all.select(&rows)
        };
        let of_group = |group: &Group| {
            let rows = most_uncertain(workshop.validation, group);
            if !rows.is_empty() {
                return (rows, vec![]);
            }
            let name = group.pair.from.name(workshop.models.task().classes());
            let note = format!("no validation row belongs to `{name}`; what is chosen is chosen on training rows");
            (most_uncertain(workshop.train, group), vec![note])
        };
        let (rows, notes): (Vec<Encoded>, Vec<_>) = groups.iter().map(of_group).unzip();
        let x = rows.iter().flat_map(|rows| rows.x.iter().copied()).collect();
        Ok(Self {
            inputs: Inputs::new(x, workshop.train.width)?,
            background: Background { plausible: None, ..workshop.background.clone() },
            towards: groups.iter().map(|group| group.pair.other_class()).collect(),
            workshop,
            rows,
            notes,
        })
    }

    /// For each group the choice whose mapper costs least, the first of equals, with that mapper; `fit` makes the mapper
    /// of a choice for a group, as part of the work that is shown and can be ended. Nothing is judged where there is one choice only.
    pub fn best<T: Copy + Sync>(
        &self,
        what: &str,
        choices: &[T],
        observer: &mut dyn Observer,
        fit: impl Fn(T, usize, &Shared) -> Result<Mapper> + Sync + Send,
    ) -> Result<Vec<(T, Mapper)>> {
        let prepared = match choices.len() > 1 && !self.inputs.is_empty() {
            true => Some(self.workshop.search.prepare(self.workshop.models, &self.background, &self.inputs)?),
            false => None,
        };
        let groups = self.rows.len();
        let mut best: Vec<Option<(f64, T, Mapper)>> = vec![None; groups];
        let work = Shared::new(observer, what, choices.len() as u64);
        work.go_on()?;
        // As many choices at a time as keep all threads busy.
        for choices_now in choices.chunks(rayon::current_num_threads().div_ceil(groups.max(1))) {
            let fitted = over_shards(choices_now.len() * groups, 1, |at| {
                fit(choices_now[at.start / groups], at.start % groups, &work)
            });
            let mut fitted = fitted.into_iter();
            for &choice in choices_now {
                let mappers = fitted.by_ref().take(groups).collect::<Result<Vec<_>>>()?;
                let costs = match &prepared {
                    Some(prepared) => self.costs(prepared, &mappers)?,
                    None => vec![0.0; groups],
                };
                let loss = costs.iter().sum::<f64>() / groups.max(1) as f64;
                work.judged("cost", loss)?;
                for ((best, mapper), cost) in best.iter_mut().zip(mappers).zip(costs) {
                    if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                        *best = Some((cost, choice, mapper));
                    }
                }
            }
        }
        let chosen = best.into_iter().flatten().map(|(_, choice, mapper)| (choice, mapper));
        Ok(chosen.collect())
    }

    /// The mean cost of each group's rows.
    fn costs(&self, prepared: &Prepared, mappers: &[Mapper]) -> Result<Vec<f64>> {
        let (models, price) = (self.workshop.models, prepared.price());
        let propose = |(mapper, rows): (&Mapper, &Encoded)| mapper.propose(models, rows, "", price);
        let proposals = mappers.iter().zip(&self.rows).map(propose).collect::<Result<Vec<_>>>()?.concat();
        let clues = prepared.certify(&proposals)?;
        let mut clues = clues.iter();
        let mean = |(rows, towards): (&Encoded, &Option<usize>)| {
            let cost = |clue: &Clue| {
                let probability = towards.map_or(1.0, |class| f64::from(clue.probabilities[class]));
                f64::from(clue.cost) - CLASS_WEIGHT * probability.max(LEAST_PROBABILITY).ln()
            };
            let cheapest = |clues: &Vec<Clue>| clues.iter().map(cost).fold(f64::INFINITY, f64::min);
            clues.by_ref().take(rows.len()).map(cheapest).sum::<f64>() / rows.len().max(1) as f64
        };
        Ok(self.rows.iter().zip(&self.towards).map(mean).collect())
    }
}
