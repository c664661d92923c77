//! What is not given is chosen on validation rows: the choice whose map has the least mean cost H + λ_x d of its group's
//! uncertain rows. Where a map leads to another class, it also counts how probable that becomes.

use super::Fit;
use crate::amortise::{Encoded, Group, Map};
use crate::error::Result;
use crate::explanation::Clue;
use crate::observer::{Observer, Shared};
use crate::parallel::over_shards;
use crate::search::{Background, Inputs, Prepared};
use crate::uncertainty::LEAST_PROBABILITY;
use std::sync::Arc;

/// Validation rows of a group that settings are chosen on, at the least where it has as many.
const LEAST_VALIDATION: usize = 30;
/// Validation rows of a group that settings are chosen on, at the most.
const MOST_VALIDATION: usize = 200;
/// Weight of −log p of the class that a pair leads to, where that is another: without it to stay would often cost least.
const CLASS_WEIGHT: f64 = 0.3;

/// What a choice costs, the choice, and its map.
type Judged<T> = (f64, T, Arc<dyn Map>);

/// Chooses by the mean cost of each group's uncertain validation rows.
pub(in crate::amortise) struct Validation<'a> {
    fit: &'a Fit<'a>,
    /// For each group its validation rows.
    rows: Vec<Encoded>,
    /// For each group the class that it leads to, where that is another.
    towards: Vec<Option<usize>>,
    /// For each group what had to be done otherwise than asked for.
    pub notes: Vec<Vec<String>>,
    inputs: Inputs,
    background: Background,
}

impl<'a> Validation<'a> {
    pub fn new(fit: &'a Fit, groups: &[Group]) -> Result<Self> {
        let kind = fit.thresholds.kind;
        let most_uncertain = |all: &Encoded, group: &Group| {
            let amount = |row: usize| all.predictions[row].uncertainty.get(kind);
            let belongs = |row: &usize| group.pair.from.hold(all, *row, fit.models.schema);
            let mut rows: Vec<usize> = (0..all.len()).filter(belongs).collect();
            rows.sort_by(|&a, &b| amount(b).total_cmp(&amount(a)).then(a.cmp(&b)));
            let uncertain = rows.iter().filter(|&&row| amount(row) > group.uncertain_above).count();
            rows.truncate(uncertain.clamp(LEAST_VALIDATION, MOST_VALIDATION));
            all.select(&rows)
        };
        let of_group = |group: &Group| {
            let rows = most_uncertain(fit.validation, group);
            if !rows.is_empty() {
                return (rows, vec![]);
            }
            let name = group.pair.from.name(fit.models.task().classes());
            let note = format!("no validation row belongs to `{name}`; what is chosen is chosen on training rows");
            (most_uncertain(fit.train, group), vec![note])
        };
        let (rows, notes): (Vec<Encoded>, Vec<_>) = groups.iter().map(of_group).unzip();
        let x = rows.iter().flat_map(|rows| rows.x.iter().copied()).collect();
        Ok(Self {
            inputs: Inputs::new(x, fit.train.width)?,
            background: Background { plausible: None, ..fit.background.clone() },
            towards: groups.iter().map(|group| group.pair.other_class()).collect(),
            fit,
            rows,
            notes,
        })
    }

    /// For each group the choice whose map costs least, the first of equals, with that map. `map_of` makes the map of
    /// a choice for a group, as part of the work that is shown and can be ended. A single choice is taken without a look.
    pub fn best<T: Copy + Sync>(
        &self,
        what: &str,
        choices: &[T],
        observer: &mut dyn Observer,
        map_of: impl Fn(T, usize, &Shared) -> Result<Arc<dyn Map>> + Sync + Send,
    ) -> Result<Vec<(T, Arc<dyn Map>)>> {
        let prepared = match choices.len() > 1 && !self.inputs.is_empty() {
            true => Some(self.fit.search.prepare(self.fit.models, &self.background, &self.inputs)?),
            false => None,
        };
        let groups = self.rows.len();
        let mut best: Vec<Option<Judged<T>>> = vec![None; groups];
        let work = Shared::new(observer, what, choices.len() as u64);
        work.go_on()?;
        // As many choices at a time as keep all threads busy.
        for choices_now in choices.chunks(rayon::current_num_threads().div_ceil(groups.max(1))) {
            let fitted = over_shards(choices_now.len() * groups, 1, |at| {
                map_of(choices_now[at.start / groups], at.start % groups, &work)
            });
            let mut fitted = fitted.into_iter();
            for &choice in choices_now {
                let maps = fitted.by_ref().take(groups).collect::<Result<Vec<_>>>()?;
                let costs = match &prepared {
                    Some(prepared) => self.costs(prepared, &maps)?,
                    None => vec![0.0; groups],
                };
                let loss = costs.iter().sum::<f64>() / groups.max(1) as f64;
                work.judged("cost", loss)?;
                for ((best, map), cost) in best.iter_mut().zip(maps).zip(costs) {
                    if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                        *best = Some((cost, choice, map));
                    }
                }
            }
        }
        let chosen = best.into_iter().flatten().map(|(_, choice, map)| (choice, map));
        Ok(chosen.collect())
    }

    /// The mean cost of each group's rows.
    fn costs(&self, prepared: &Prepared, maps: &[Arc<dyn Map>]) -> Result<Vec<f64>> {
        let (models, price) = (self.fit.models, prepared.price());
        let propose = |(map, rows): (&Arc<dyn Map>, &Encoded)| map.propose(models, rows, "", price);
        let proposals = maps.iter().zip(&self.rows).map(propose).collect::<Result<Vec<_>>>()?.concat();
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
