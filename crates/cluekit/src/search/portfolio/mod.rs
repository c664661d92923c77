//! Counterfactuals in the input's own space, beside those that descents find in the latent space. For tables.
//!
//! ```text
//! the search's own clues ─┐
//! certain training rows ──┼─► minimal: what need not change goes back ─► certificate ─► the cheapest, each different
//! one and two changes ────┘
//! ```
//!
//! Descents begin where the uncertainty is greatest, and there it is flat. A training row that the model is certain about
//! has no such beginning, and a scan of single changes needs none. Whatever is found is certified as a search's end is.

mod donors;
mod lattice;
mod minimal;
mod scan;
mod tried;

use super::certificate::certify;
use super::descent::{Descent, End};
use super::origin::Origin;
use super::{Delta, LatentBall, Search};
use crate::data::{Samples, Schema};
use crate::error::Result;
use crate::explanation::{Clue, FoundBy, StopReason};
use crate::prediction::UncertaintyParts;
use crate::tensor::{tensor, values};
use donors::Donors;
use lattice::Lattice;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tried::{Candidate, Trial, Tried};

/// Inputs that are looked at together; it bounds the memory.
const INPUTS: usize = 64;
/// Rows of one kind that are carried on for each input.
const KEPT: usize = 3;
/// Values of a number that are tried at the most, evenly spread over those of the training rows.
const VALUES: usize = 12;
/// Scans of two changes with more rows than this for one input are left out.
const MOST_PAIRS: usize = 60_000;

crate::named! {
    "scan", "a scan";
    /// How many changes are scanned exactly.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Scan {
        /// None.
        Off = "off",
        /// One change.
        #[default]
        One = "1",
        /// One change, and two where nothing else explains an input.
        Two = "2",
    }
}

/// What is tried beside the descents of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Portfolio {
    /// Certain training rows that are tried for each input.
    pub donors: usize,
    /// How many changes are scanned.
    pub scan: Scan,
    /// Whether changes that need not be are taken back.
    pub minimal: bool,
}

impl Default for Portfolio {
    fn default() -> Self {
        Self { donors: 6, scan: Scan::default(), minimal: true }
    }
}

/// Training rows with what the predictor says of each.
#[derive(Clone, Debug)]
pub struct TrainingRows {
    /// The encoded rows.
    pub samples: Arc<Samples>,
    /// Uncertainty of each row.
    pub uncertainty: Vec<UncertaintyParts>,
}

/// The clues of each input, improved by what else is known of: the cheapest accepted ones, each a row of its own. Inputs
/// for which nothing is accepted keep the clues that they have.
pub(super) fn improved(
    search: &Search,
    portfolio: &Portfolio,
    descent: &Descent,
    rows: &TrainingRows,
    sets: Vec<Vec<Clue>>,
) -> Result<Vec<Vec<Clue>>> {
    let Some(schema) = descent.models.schema.filter(|schema| schema.image.is_none()) else { return Ok(sets) };
    // A ball that was given is kept to; one that was chosen automatically says where to search, and not what may be.
    let free = !matches!(search.delta, Delta::Fixed(_));
    let freed = |origin: &Origin| Origin { ball: LatentBall::UNBOUNDED, ..origin.clone() };
    let origins: Vec<Origin> = match free {
        true => descent.origins.iter().map(freed).collect(),
        false => descent.origins.to_vec(),
    };
    let descent = Descent { origins: &origins, coupling: None, traced: false, ..*descent };
    let lattice = Lattice::of(schema, &rows.samples, VALUES);
    let acceptance = search.acceptance();
    let uncertainty: Vec<f32> = rows.uncertainty.iter().map(|parts| parts.get(acceptance.kind)).collect();
    let most_changed = schema.constraints.most_changed.unwrap_or(usize::MAX);
    let work = Work {
        search,
        portfolio,
        schema,
        donors: Donors::among(&rows.samples, &uncertainty, acceptance.threshold),
        trial: Trial { descent: &descent, acceptance, lattice: &lattice, most_changed },
    };
    let mut improved = Vec::with_capacity(sets.len());
    for (block, sets) in sets.chunks(INPUTS).enumerate() {
        descent.go_on()?;
        improved.extend(work.block(block * INPUTS, sets)?);
    }
    Ok(improved)
}

/// What is done for all inputs alike.
struct Work<'a> {
    search: &'a Search,
    portfolio: &'a Portfolio,
    schema: &'a Schema,
    donors: Option<Donors>,
    trial: Trial<'a>,
}

impl Work<'_> {
    /// The improved clues of the inputs from `first` on.
    fn block(&self, first: usize, sets: &[Vec<Clue>]) -> Result<Vec<Vec<Clue>>> {
        let inputs: Vec<usize> = (first..first + sets.len()).collect();
        let found = self.found(&inputs, sets)?;
        let mut pools: Vec<Vec<Tried>> = vec![vec![]; sets.len()];
        found.into_iter().for_each(|tried| pools[tried.row.input - first].push(tried));
        let kept = (2 * self.search.count).max(KEPT);
        let best: Vec<Tried> = pools.into_iter().flat_map(|pool| best_of(pool, kept)).collect();
        let done = match self.portfolio.minimal {
            true => minimal::minimal(&self.trial, self.schema, best)?,
            false => best,
        };
        let mut pools: Vec<Vec<Tried>> = vec![vec![]; sets.len()];
        done.into_iter().for_each(|tried| pools[tried.row.input - first].push(tried));
        let chosen: Vec<Vec<Tried>> = pools.into_iter().map(|pool| self.different(pool)).collect();
        self.certified(chosen, sets)
    }

    /// All rows that were tried for these inputs.
    fn found(&self, inputs: &[usize], sets: &[Vec<Clue>]) -> Result<Vec<Tried>> {
        let own = inputs.iter().zip(sets).flat_map(|(&input, set)| {
            let accepted = set.iter().filter(|clue| clue.accepted);
            accepted.map(move |clue| Candidate { input, x: clue.x.clone(), by: FoundBy::Descent })
        });
        let mut found = self.trial.ask(own.collect())?;
        if let Some(donors) = &self.donors {
            found.extend(donors.tried(&self.trial, inputs, self.portfolio.donors)?);
        }
        if self.portfolio.scan != Scan::Off {
            found.extend(scan::one_change(&self.trial, inputs, KEPT)?);
        }
        if self.portfolio.scan == Scan::Two {
            let explained = |input: usize| found.iter().any(|tried| tried.row.input == input && tried.accepted);
            let left: Vec<usize> = inputs.iter().copied().filter(|&input| !explained(input)).collect();
            let small = |input: &usize| scan::size(&self.trial, *input) <= MOST_PAIRS;
            let left: Vec<usize> = left.into_iter().filter(small).collect();
            found.extend(scan::two_changes(&self.trial, &left, KEPT)?);
        }
        Ok(found)
    }

    /// At most as many accepted rows as are asked for: the cheapest, those that change other features before the rest.
    fn different(&self, pool: Vec<Tried>) -> Vec<Tried> {
        let accepted = pool.into_iter().filter(|tried| tried.accepted).collect();
        let sorted = best_of(accepted, usize::MAX);
        let changed = |tried: &Tried| {
            let origin = self.trial.origin(tried.row.input);
            self.trial.lattice.changed(&origin.x, &tried.row.x)
        };
        let mut seen: Vec<Vec<usize>> = Vec::new();
        let (first, rest): (Vec<Tried>, Vec<Tried>) = sorted.into_iter().partition(|tried| {
            let features = changed(tried);
            let new = !seen.contains(&features);
            if new {
                seen.push(features);
            }
            new
        });
        first.into_iter().chain(rest).take(self.search.count).collect()
    }

    /// Certificates of the chosen rows; an input without any keeps what it has.
    fn certified(&self, chosen: Vec<Vec<Tried>>, sets: &[Vec<Clue>]) -> Result<Vec<Vec<Clue>>> {
        let all: Vec<&Tried> = chosen.iter().flatten().collect();
        let ends = self.ends(&all)?;
        let clues = if ends.is_empty() { vec![] } else { certify(self.trial.descent, &ends, self.trial.acceptance)? };
        let mut clues = clues.into_iter();
        let set = |(chosen, old): (Vec<Tried>, &Vec<Clue>)| {
            let named = |(clue, tried): (Clue, &Tried)| Clue { found_by: Some(tried.row.by), ..clue };
            let new: Vec<Clue> = clues.by_ref().take(chosen.len()).zip(&chosen).map(named).collect();
            if new.iter().any(|clue| clue.accepted) { new } else { old.clone() }
        };
        Ok(chosen.into_iter().zip(sets).map(set).collect())
    }

    /// The rows as ends of searches, with the codes that they have.
    fn ends(&self, rows: &[&Tried]) -> Result<Vec<End>> {
        if rows.is_empty() {
            return Ok(vec![]);
        }
        let width = rows[0].row.x.len();
        let x: Vec<f32> = rows.iter().flat_map(|tried| tried.row.x.iter().copied()).collect();
        let codes = values(self.trial.descent.models.encode(&tensor(x, [rows.len(), width]))?);
        let latent = codes.len() / rows.len();
        let end = |(tried, z): (&&Tried, &[f32])| End {
            input: tried.row.input,
            bounds: None,
            z: z.to_vec(),
            x: Some(tried.row.x.clone()),
            steps: 0,
            stopped: StopReason::Converged,
            path: vec![],
        };
        Ok(rows.iter().zip(codes.chunks_exact(latent)).map(end).collect())
    }
}

/// The best rows, each once.
fn best_of(mut pool: Vec<Tried>, most: usize) -> Vec<Tried> {
    pool.sort_by(Tried::order);
    let mut best: Vec<Tried> = Vec::new();
    for tried in pool {
        if best.len() < most && best.iter().all(|other| other.row.x != tried.row.x) {
            best.push(tried);
        }
    }
    best
}
