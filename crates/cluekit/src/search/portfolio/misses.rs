//! The nearest miss of an input without a clue, and what would help: found by trying.
//!
//! Of what was scanned exhaustively it can be said that no clue is there. Of the rest, how near the search came. Then each
//! constraint is loosened alone, and the search is repeated.

use super::donors::Donors;
use super::tried::{Goal, Memory, Tried};
use super::{INPUTS, MOST_PAIRS, Portfolio, Scan, TrainingRows, Work, freed, scan, trial_of};
use crate::data::{Loosened, Schema};
use crate::error::{Remedy, Result};
use crate::explanation::{Advice, Loosening, Scanned};
use crate::parallel::over_shards;
use crate::search::Search;
use crate::search::descent::Descent;
use crate::search::origin::Origin;

/// Inputs for which constraints are loosened, at the most: each try is a search of its own.
const MOST_TRIED: usize = 8;

/// What the search asks for: certainty alone.
const GOALS: [Goal; 1] = [Goal::Certain];

/// The nearest miss of each of the inputs at these positions, which have no accepted clue.
pub(in crate::search) fn nearest_misses(
    search: &Search,
    portfolio: &Portfolio,
    descent: &Descent,
    rows: &TrainingRows,
    inputs: &[usize],
) -> Result<Vec<Advice>> {
    let schema = descent.models.schema.expect("a table has a schema");
    let chosen: Vec<Origin> = inputs.iter().map(|&input| freed(&descent.origins[input])).collect();
    let here = World { search, portfolio, descent, rows, schema };
    let blocks = over_shards(chosen.len(), INPUTS, |range| here.nearest(&chosen[range]));
    let mut misses = blocks.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect::<Vec<Miss>>();
    for loosened in schema.constraints.loosened() {
        let open: Vec<usize> =
            (0..chosen.len().min(MOST_TRIED)).filter(|&at| misses[at].may_gain_by(&loosened, search)).collect();
        let schema = Schema { constraints: loosened.constraints.clone(), ..schema.clone() };
        let origin = |&at: &usize| {
            let bounds = schema.constraints.bounds(&schema, &chosen[at].x).ok()?;
            Some((at, Origin { bounds: Some(bounds), ..chosen[at].clone() }))
        };
        let (places, origins): (Vec<usize>, Vec<Origin>) = open.iter().filter_map(origin).unzip();
        let there = World { schema: &schema, ..here };
        for (place, found) in places.into_iter().zip(there.certain(&origins)?) {
            if let Some(uncertainty) = found {
                let Loosened { allowed, most_changed, .. } = loosened.clone();
                misses[place].helpful.push((most_changed, Loosening { allowed, uncertainty }));
            }
        }
    }
    let threshold = search.threshold;
    let constrained = !schema.constraints.allow_everything();
    Ok(misses
        .into_iter()
        .enumerate()
        .map(|(at, miss)| match miss.reached < threshold {
            true => miss.refused(threshold, portfolio),
            false => miss.advice(threshold, constrained && at < MOST_TRIED),
        })
        .collect())
}

/// How near a search came to a clue.
struct Miss {
    /// Least uncertainty of the rows that are allowed.
    reached: f32,
    scanned: Option<Scanned>,
    /// What was loosened and helped, with the number of changes where that was it.
    helpful: Vec<(Option<Option<usize>>, Loosening)>,
}

impl Miss {
    /// Whether a loosened constraint is worth a try: more changes are not where fewer have helped, and none is where the
    /// model is certain already.
    fn may_gain_by(&self, loosened: &Loosened, search: &Search) -> bool {
        let more = loosened.most_changed.is_some();
        let enough = more && self.helpful.iter().any(|(most_changed, _)| most_changed.is_some());
        self.reached >= search.threshold && !enough
    }

    /// Advice where rows are certain, and were refused for something else.
    fn refused(self, threshold: f32, portfolio: &Portfolio) -> Advice {
        let asked = [("plausible", portfolio.plausible), ("agree", portfolio.agree)].into_iter();
        let lower = asked.filter(|(_, share)| *share > 0.0).map(|(setting, _)| Remedy::lower(setting));
        let remedies = lower.chain([Remedy::raise("count")]).collect();
        Advice::NearestMiss { threshold, reached: self.reached, scanned: None, loosened: None, remedies }
    }

    fn advice(self, threshold: f32, loosened_all: bool) -> Advice {
        let mut remedies = Vec::new();
        if let Some(Some(most)) = self.helpful.iter().find_map(|(most_changed, _)| *most_changed) {
            remedies.push(Remedy::set([("most_changed", most)]));
        } else if loosened_all {
            remedies.push(Remedy::LoosenConstraints);
        }
        let above = crate::search::advice::just_above(self.reached);
        remedies.extend(above.map(|threshold| Remedy::set([("threshold", threshold)])));
        let loosened: Vec<Loosening> = self.helpful.into_iter().map(|(_, loosening)| loosening).collect();
        let tried = loosened_all.then_some(loosened);
        Advice::NearestMiss { threshold, reached: self.reached, scanned: self.scanned, loosened: tried, remedies }
    }
}

/// Where a search is repeated.
#[derive(Clone, Copy)]
struct World<'a> {
    search: &'a Search,
    portfolio: &'a Portfolio,
    descent: &'a Descent<'a>,
    rows: &'a TrainingRows,
    schema: &'a Schema,
}

impl World<'_> {
    /// What `look` sees of a search for certainty alone from these inputs, under the constraints of this world.
    fn searched<T>(
        &self,
        origins: &[Origin],
        scan: Scan,
        look: impl Fn(&Work, &[Vec<Tried>]) -> Result<T>,
    ) -> Result<T> {
        let mut models = *self.descent.models;
        models.schema = Some(self.schema);
        let relations = self.schema.constraints.encoded_relations(self.schema);
        // These steps are not counted as steps of the search.
        let watch = |_: usize, _: f64| self.descent.go_on();
        let descent = Descent {
            models: &models,
            origins,
            relations: &relations,
            coupling: None,
            traced: false,
            watch: &watch,
            ..*self.descent
        };
        let memory = Memory::default();
        let trial = super::Trial {
            jury: None,
            plausible: None,
            ..trial_of(self.search, self.portfolio, &descent, self.schema, self.rows, &memory)
        };
        let donors = Donors::among(self.rows, &trial, 1.0);
        let portfolio = Portfolio { scan, ..*self.portfolio };
        let (search, schema) = (self.search, self.schema);
        let work = Work { search, portfolio: &portfolio, schema, goals: &GOALS, donors: donors.as_ref(), trial };
        let inputs: Vec<usize> = (0..origins.len()).collect();
        let pools = work.found(&inputs, &vec![vec![]; origins.len()])?;
        look(&work, &pools.rows)
    }

    /// How near the search comes, and what it looked at exhaustively.
    fn nearest(&self, origins: &[Origin]) -> Result<Vec<Miss>> {
        self.searched(origins, self.portfolio.scan, |work, pools| {
            let miss = |(input, rows): (usize, &Vec<Tried>)| {
                let allowed = rows.iter().filter(|tried| tried.excess == 0);
                let least = allowed.map(|tried| tried.uncertainty).fold(f32::INFINITY, f32::min);
                let (singles, pairs) = scan::sizes(&work.trial, input);
                let two = work.trial.most_changed > 1;
                let scanned = match self.portfolio.scan {
                    Scan::Two if two && pairs <= MOST_PAIRS => Some(Scanned { changes: 2, rows: singles + pairs }),
                    Scan::Two if !two => Some(Scanned { changes: 1, rows: singles }),
                    _ => None,
                };
                Miss { reached: least * self.search.threshold, scanned, helpful: vec![] }
            };
            Ok(pools.iter().enumerate().map(miss).collect())
        })
    }

    /// The uncertainty of the cheapest certain row that is found for each input, if there is one.
    fn certain(&self, origins: &[Origin]) -> Result<Vec<Option<f32>>> {
        if origins.is_empty() {
            return Ok(vec![]);
        }
        self.searched(origins, Scan::One, |_, pools| {
            let first = |rows: &Vec<Tried>| rows.first().filter(|tried| tried.reaches(Goal::Certain)).cloned();
            Ok(pools.iter().map(|rows| first(rows).map(|tried| tried.uncertainty * self.search.threshold)).collect())
        })
    }
}
