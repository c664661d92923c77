//! Mappers are judged by the mean cost H + λ_x d of their groups' uncertain validation rows.

use super::Workshop;
use crate::amortise::{Encoded, Group, Mapper};
use crate::error::Result;
use crate::explanation::Clue;
use crate::observer::{Observer, Progress};
use crate::parallel::over_shards;
use crate::search::{Background, Inputs, Prepared};

/// Validation rows of a group that settings are chosen on, at the least where it has as many.
const LEAST_VALIDATION: usize = 30;
/// And at the most.
const MOST_VALIDATION: usize = 200;

/// Judges mappers by the mean cost of their groups' uncertain validation rows.
pub(super) struct Judge<'a> {
    workshop: &'a Workshop<'a>,
    /// For each group its validation rows.
    rows: Vec<Encoded>,
    inputs: Inputs,
    background: Background,
}

impl<'a> Judge<'a> {
    pub fn new(workshop: &'a Workshop, groups: &[Group]) -> Result<Self> {
        let all = workshop.validation;
        let kind = workshop.thresholds.kind;
        let of_group = |group: &Group| {
            let amount = |row: usize| all.predictions[row].uncertainty.get(kind);
            let belongs = |row: &usize| group.pair.from.hold(all, *row, workshop.models.schema);
            let mut rows: Vec<usize> = (0..all.len()).filter(belongs).collect();
            rows.sort_by(|&a, &b| amount(b).total_cmp(&amount(a)).then(a.cmp(&b)));
            let uncertain = rows.iter().filter(|&&row| amount(row) > group.uncertain_above).count();
            rows.truncate(uncertain.clamp(LEAST_VALIDATION, MOST_VALIDATION));
            all.select(&rows)
        };
        let rows: Vec<Encoded> = groups.iter().map(of_group).collect();
        let inputs = Inputs::new(rows.iter().flat_map(|rows| rows.x.iter().copied()).collect(), all.width)?;
        let background = Background { ordinary: None, ..workshop.background.clone() };
        Ok(Self { workshop, rows, inputs, background })
    }

    /// For each group the choice whose mapper costs least, the first of equals, with that mapper; `fit` makes the mapper
    /// of a choice for a group. Nothing is judged where there is one choice only.
    pub fn best<T: Copy + Sync>(
        &self,
        what: &str,
        choices: &[T],
        observer: &mut dyn Observer,
        fit: impl Fn(T, usize) -> Result<Mapper> + Sync + Send,
    ) -> Result<Vec<(T, Mapper)>> {
        let prepared = match choices.len() > 1 && !self.inputs.is_empty() {
            true => Some(self.workshop.search.prepare(self.workshop.models, &self.background, &self.inputs)?),
            false => None,
        };
        let groups = self.rows.len();
        let mut best: Vec<Option<(f64, T, Mapper)>> = vec![None; groups];
        let mut progress = Progress { what, done: 0, total: choices.len() as u64, loss: 0.0, validation: None };
        observer.progress(&progress);
        // As many choices at a time as keep all threads busy.
        for choices_now in choices.chunks(rayon::current_num_threads().div_ceil(groups.max(1))) {
            let fitted =
                over_shards(choices_now.len() * groups, 1, |at| fit(choices_now[at.start / groups], at.start % groups));
            let mut fitted = fitted.into_iter();
            for &choice in choices_now {
                let mappers = fitted.by_ref().take(groups).collect::<Result<Vec<_>>>()?;
                let costs = match &prepared {
                    Some(prepared) => self.costs(prepared, &mappers)?,
                    None => vec![0.0; groups],
                };
                let loss = costs.iter().sum::<f64>() / groups.max(1) as f64;
                progress = Progress { done: progress.done + 1, loss, validation: Some(("cost", loss)), ..progress };
                observer.progress(&progress);
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
        let propose = |(mapper, rows): (&Mapper, &Encoded)| mapper.propose(models, rows, "", &price);
        let proposals = mappers.iter().zip(&self.rows).map(propose).collect::<Result<Vec<_>>>()?.concat();
        let clues = prepared.certify(&proposals)?;
        let cheapest = |clues: &Vec<Clue>| clues.iter().map(|clue| f64::from(clue.cost)).fold(f64::INFINITY, f64::min);
        let mut costs = clues.iter().map(cheapest);
        let mean = |rows: &Encoded| costs.by_ref().take(rows.len()).sum::<f64>() / rows.len().max(1) as f64;
        Ok(self.rows.iter().map(mean).collect())
    }
}
