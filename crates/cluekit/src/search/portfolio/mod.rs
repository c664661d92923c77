//! Counterfactuals in the input's own space, beside those that descents find in the latent space. For tables.
//!
//! ```text
//! the search's own clues ─┐
//! certain training rows ──┼─► beam over changes ─► what need not change goes back ─► certificate ─► the best, each different
//! one and two changes ────┘
//! ```
//!
//! Descents begin where the uncertainty is greatest, and there it is flat. A training row that the model is certain about
//! has no such beginning, and a scan of single changes needs none. Whatever is found is certified as a search's end is.
//!
//! A row is *believed* if the model and the jury are certain about it with a margin, and *accepted* if the model is.
//! Believed rows are looked for first; where the constraints leave none, accepted ones are, with as few changes as can be.

mod beam;
mod corrected;
mod donors;
mod groups;
mod kinds;
mod lattice;
mod misses;
mod pairs;
mod scan;
mod tried;

use super::certificate::certify;
use super::descent::{Descent, End};
use super::jury::Jury;
use super::modes::{Move, moves};
use super::origin::Origin;
use super::{Delta, LatentBall, Search};
use crate::data::{Feature, Samples, Schema, Task};
use crate::error::Result;
use crate::explanation::{Clue, FoundBy, Rejection, StopReason};
use crate::parallel::over_shards;
use crate::prediction::UncertaintyParts;
use crate::tensor::{tensor, values};
use beam::{Beam, taken_back, without_needless};
pub(super) use donors::Donors;
use groups::Groups;
use lattice::Lattice;
pub(super) use misses::nearest_misses;
use pairs::Pairs;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;
use tried::{Candidate, Goal, Memory, Trial, Tried};

/// Inputs that are looked at together; it bounds the memory.
const INPUTS: usize = 32;
/// Rows of one kind that are carried on for each input.
const KEPT: usize = 3;
/// Values of a number that are tried at the most, evenly spread over those of the training rows.
const VALUES: usize = 12;
/// Rows of an input, the best first, whose needless changes are taken back at the least.
const TAKEN_BACK: usize = 4;
/// Scans of two changes with more rows than this for one input are left out.
const MOST_PAIRS: usize = 60_000;
/// Rounds of a beam that takes changes back, and of one that adds some.
const BACK: usize = 40;
const GROWN: usize = 12;
/// Rounds of one that adds some where any number of features may change, and training rows have led to clues already.
const GROWN_BESIDE: usize = 2;
const GROWN_BY_HEART: usize = 3;
/// A clue that is odder than this share of the training rows is taken only where no other is found. Rows that are looked
/// for stay clear of the oddest twentieth, since the certificate's ELBO has draws of its own.
const USUAL: f32 = 0.94;
/// Margins of belief where the one that is asked for cannot be had: a clear one, and none.
const LESS: [f32; 2] = [0.88, 1.0];
/// Rows of a beam that takes changes back.
const FEW: usize = 2;
/// The same where the predictor knows training rows by heart, beside which much is certain.
const FEW_BY_HEART: usize = 6;
/// Rows of a beam that grows.
const WIDTH: usize = 4;

crate::named! {
    "scan", "a scan";
    /// How many changes are scanned exactly.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Scan {
        /// None.
        Off = "off",
        /// One change.
        One = "1",
        /// One change, and two where nothing else explains an input.
        #[default]
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
    /// Share of the training rows that an accepted clue must be as usual as; 0 for any clue. Usual ones are preferred.
    pub plausible: f32,
    /// Share of the threshold below which the model and the jurors that are asked must be for a clue to be believed.
    pub margin: f32,
    /// Least share of the judges that must be certain about an accepted clue; 0 for none.
    pub agree: f32,
}

impl Default for Portfolio {
    fn default() -> Self {
        Self { donors: 40, scan: Scan::default(), minimal: true, plausible: 0.0, margin: 0.72, agree: 0.0 }
    }
}

/// Training rows with what the predictor and the jury say of each, and the values that they hold.
#[derive(Clone, Debug)]
pub struct TrainingRows {
    samples: Arc<Samples>,
    uncertainty: Vec<UncertaintyParts>,
    /// The greatest total uncertainty of the jurors that are asked; none without a jury.
    jury: Option<Vec<f32>>,
    lattice: Lattice,
    pairs: Pairs,
    groups: Groups,
}

impl TrainingRows {
    /// Training rows with the uncertainty of each.
    pub fn new(
        schema: &Schema,
        samples: Arc<Samples>,
        uncertainty: Vec<UncertaintyParts>,
        jury: Option<&Jury>,
    ) -> Result<Self> {
        let task = &schema.target.task;
        let in_thresholds = jury.map(|jury| jury.greatest(&samples, task)).transpose()?;
        let jury = in_thresholds.zip(jury).map(|(says, jury)| says.into_iter().map(|s| s * jury.threshold).collect());
        let groups = Groups::of(schema, &samples);
        let (lattice, pairs) = (Lattice::of(schema, &samples, VALUES), Pairs::of(schema, &samples));
        Ok(Self { samples, uncertainty, jury, lattice, pairs, groups })
    }
}

impl TrainingRows {
    /// Why a clue is like no training row: categories that none holds together, or several of which one holds in each.
    fn unseen(&self, schema: &Schema, origin: &Origin, clue: &Clue) -> Option<Rejection> {
        if let Some(group) = self.groups.broken(&origin.x, &clue.x) {
            let features = group.iter().map(|&feature| schema.features[feature].name.clone()).collect();
            return Some(Rejection::NotOneOf { features });
        }
        let (first, second) = self.pairs.unseen(&origin.x, &clue.x)?;
        let row = schema.decode_row(&clue.x);
        let named = |feature: usize| {
            let Feature { name, .. } = &schema.features[feature];
            format!("{name} = {}", schema.features[feature].show(&row[feature]))
        };
        Some(Rejection::UnseenPair { pair: [named(first), named(second)] })
    }
}

impl Portfolio {
    /// Refuses accepted clues that are odd, hold categories that never come together, or convince too few judges.
    pub(super) fn refuse(&self, descent: &Descent, sets: &mut [Vec<Clue>]) {
        let table = descent.models.schema.filter(|schema| schema.image.is_none());
        for (origin, set) in descent.origins.iter().zip(sets) {
            for clue in set.iter_mut().filter(|clue| clue.accepted) {
                let unseen = table
                    .zip(descent.background.rows.as_ref())
                    .and_then(|(schema, rows)| rows.unseen(schema, origin, clue));
                let share = clue.agreement.as_ref().map_or(1.0, |agreement| agreement.share);
                let disagreed =
                    || (share < self.agree).then_some(Rejection::Disagreement { share, required: self.agree });
                clue.reason = unseen.or_else(|| table.and_then(|_| self.implausible(clue))).or_else(disagreed);
                clue.accepted = clue.reason.is_none();
            }
        }
    }

    fn implausible(&self, clue: &Clue) -> Option<Rejection> {
        let (share, least) = (clue.plausibility?.share(), 1.0 - self.plausible);
        (self.plausible > 0.0 && share < least).then_some(Rejection::Implausible { share, least })
    }
}

/// The clues of each input, improved by what else is known of: believed ones first, the cheapest first, each a row of its
/// own. Of inputs for which nothing is accepted the nearest miss is shown.
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
    let origins: Vec<Origin> = match free {
        true => descent.origins.iter().map(freed).collect(),
        false => descent.origins.to_vec(),
    };
    let descent = Descent { origins: &origins, coupling: None, traced: false, ..*descent };
    let no_memory = Memory::default();
    let trial = trial_of(search, portfolio, &descent, schema, rows, &no_memory);
    let margin = if trial.jury.is_some() { portfolio.margin } else { 1.0 };
    let believed = [margin].into_iter().chain(LESS.into_iter().filter(|&less| less > margin)).map(Goal::Believed);
    let goals = believed.filter(|_| trial.jury.is_some()).chain([Goal::Plausible, Goal::Certain]).collect();
    let (goals, donors): (Vec<Goal>, _) = (goals, Donors::among(rows, &trial, margin));
    let blocks = over_shards(sets.len(), INPUTS, |inputs| -> Result<Vec<Vec<Clue>>> {
        descent.go_on()?;
        let memory = Memory::default();
        let trial = Trial { memory: &memory, ..trial };
        let work = Work { search, portfolio, schema, goals: &goals, donors: donors.as_ref(), trial };
        work.block(inputs.start, &sets[inputs])
    });
    Ok(blocks.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

/// An input that is free to go anywhere.
fn freed(origin: &Origin) -> Origin {
    Origin { ball: LatentBall::UNBOUNDED, ..origin.clone() }
}

/// Where rows are tried for the inputs of a descent, under the constraints of a schema.
fn trial_of<'a>(
    search: &Search,
    portfolio: &Portfolio,
    descent: &'a Descent<'a>,
    schema: &Schema,
    rows: &'a TrainingRows,
    memory: &'a Memory,
) -> Trial<'a> {
    let (acceptance, background) = (search.acceptance(), descent.background);
    Trial {
        memory,
        descent,
        acceptance,
        unit: acceptance.threshold / unit_of(descent.models.task()),
        lattice: &rows.lattice,
        pairs: &rows.pairs,
        groups: &rows.groups,
        most_changed: schema.constraints.most_changed.unwrap_or(usize::MAX),
        jury: background.jury.as_deref().filter(|jury| !jury.asked.is_empty()),
        plausible: background.plausible.as_ref().map(|plausible| (plausible, 1.0 - portfolio.plausible.max(USUAL))),
    }
}

/// The objective is in units of the scaled target, thresholds are in those of the data.
fn unit_of(task: &Task) -> f32 {
    match task {
        Task::Regression(scaling) => scaling.deviation as f32,
        Task::Classification { .. } => 1.0,
    }
}

/// What is done for all inputs alike.
struct Work<'a> {
    search: &'a Search,
    portfolio: &'a Portfolio,
    schema: &'a Schema,
    /// What is wanted, the best first.
    goals: &'a [Goal],
    donors: Option<&'a Donors>,
    trial: Trial<'a>,
}

/// All rows that were found for some inputs, those of each input together, the best first.
struct Pools<'a> {
    first: usize,
    goals: &'a [Goal],
    rows: Vec<Vec<Tried>>,
}

impl<'a> Pools<'a> {
    fn new(first: usize, inputs: usize, goals: &'a [Goal]) -> Self {
        Self { first, goals, rows: vec![vec![]; inputs] }
    }

    fn add(&mut self, found: Vec<Tried>) {
        found.into_iter().for_each(|tried| self.rows[tried.row.input - self.first].push(tried));
        let goals = self.goals;
        let rank = |tried: &Tried| {
            let goal = reached(tried, goals);
            (goal, tried.score(goals[goal.min(goals.len() - 1)]))
        };
        for rows in &mut self.rows {
            rows.sort_by(|a, b| rank(a).0.cmp(&rank(b).0).then(rank(a).1.total_cmp(&rank(b).1)));
            rows.dedup_by(|a, b| a.row.x == b.row.x);
        }
    }

    /// Inputs for which no row reaches a goal as good as this one.
    fn without(&self, goal: usize) -> Vec<usize> {
        let lacks = |rows: &Vec<Tried>| rows.first().is_none_or(|tried| reached(tried, self.goals) > goal);
        (0..self.rows.len()).filter(|&at| lacks(&self.rows[at])).map(|at| self.first + at).collect()
    }

    /// The `most` best rows of each of the inputs by a goal.
    fn best(&self, inputs: &[usize], goal: Goal, most: usize) -> Vec<Tried> {
        let best = |&input: &usize| {
            let mut rows: Vec<&Tried> = self.rows[input - self.first].iter().collect();
            rows.sort_by(|a, b| a.score(goal).total_cmp(&b.score(goal)));
            rows.into_iter().take(most).cloned().collect::<Vec<_>>()
        };
        inputs.iter().flat_map(best).collect()
    }
}

/// Position of the best goal that a row reaches; their number if it reaches none.
fn reached(tried: &Tried, goals: &[Goal]) -> usize {
    goals.iter().position(|&goal| tried.reaches(goal)).unwrap_or(goals.len())
}

impl Work<'_> {
    /// The improved clues of the inputs from `first` on.
    fn block(&self, first: usize, sets: &[Vec<Clue>]) -> Result<Vec<Vec<Clue>>> {
        let mut chosen = self.chosen(first, sets)?;
        corrected::put_first(self, first, &mut chosen)?;
        self.certified(chosen, sets)
    }

    /// The best rows for the inputs from `first` on, at most as many as are asked for.
    fn chosen(&self, first: usize, sets: &[Vec<Clue>]) -> Result<Vec<Vec<Tried>>> {
        let inputs: Vec<usize> = (first..first + sets.len()).collect();
        let pools = self.found(&inputs, sets)?;
        let kept = (2 * self.search.count).max(TAKEN_BACK);
        let best: Vec<Tried> = pools.rows.into_iter().flat_map(|pool| self.unlike(pool, kept)).collect();
        let own_goal = |tried: &Tried| self.goals[reached(tried, self.goals).min(self.goals.len() - 1)];
        let done = match self.portfolio.minimal {
            true => without_needless(&self.trial, own_goal, best)?,
            false => best,
        };
        let mut pools = Pools::new(first, sets.len(), self.goals);
        pools.add(done);
        Ok(pools.rows.into_iter().map(|pool| self.different(pool)).collect())
    }

    /// The best rows, and of those that change the same features the best alone; beyond them those with fewer changes and
    /// the first of other kinds.
    fn unlike(&self, pool: Vec<Tried>, most: usize) -> Vec<Tried> {
        let mut seen: HashSet<Vec<usize>> = HashSet::new();
        let pool: Vec<Tried> = pool.into_iter().filter(|tried| seen.insert(self.trial.changed(&tried.row))).collect();
        let others = if self.search.count > 1 { self.search.count } else { 0 };
        let firsts = kinds::firsts(&pool, &self.moves(&pool), others);
        let slimmer = self.slimmer(&pool);
        let kept = |(place, tried): (usize, Tried)| (place < most || firsts[place] || slimmer[place]).then_some(tried);
        pool.into_iter().enumerate().filter_map(kept).collect()
    }

    /// Of rows in their order, those that reach what the first does with fewer changes than all before them.
    fn slimmer(&self, rows: &[Tried]) -> Vec<bool> {
        let goal = rows.first().map_or(0, |tried| reached(tried, self.goals));
        let mut fewest = usize::MAX;
        let is_slimmer = |tried: &Tried| {
            let slimmer = reached(tried, self.goals) == goal && tried.changes < fewest;
            if slimmer {
                fewest = tried.changes;
            }
            slimmer
        };
        rows.iter().map(is_slimmer).collect()
    }

    /// The features that each row changes, and where they go.
    fn moves(&self, rows: &[Tried]) -> Vec<Vec<Move>> {
        let columns = self.schema.columns();
        let of_row = |Tried { row, .. }: &Tried| {
            moves(&self.trial.changed(row), &self.trial.origin(row.input).x, &row.x, &columns)
        };
        rows.iter().map(of_row).collect()
    }

    /// All rows that were found for these inputs.
    fn found(&self, inputs: &[usize], sets: &[Vec<Clue>]) -> Result<Pools<'_>> {
        let mut pools = Pools::new(inputs[0], inputs.len(), self.goals);
        let own = inputs.iter().zip(sets).flat_map(|(&input, set)| {
            let finite = set.iter().filter(|clue| clue.x.iter().all(|value| value.is_finite()));
            finite.map(move |clue| Candidate { input, x: clue.x.clone(), by: FoundBy::Descent })
        });
        let mut starts: Vec<Candidate> = own.collect();
        if let Some(donors) = self.donors {
            starts.extend(donors.of(&self.trial, inputs, self.portfolio.donors.max(self.search.count))?);
        }
        pools.add(self.trial.ask(starts)?);
        let by_heart = self.trial.descent.background.by_heart;
        let few = if by_heart { FEW_BY_HEART } else { FEW };
        let back = Beam { goal: self.goals[0], width: few, rounds: BACK, grows: false, rough: true };
        pools.add(back.run(&self.trial, self.schema, pools.best(inputs, back.goal, back.width))?);
        if self.portfolio.scan == Scan::Off {
            return Ok(pools);
        }
        // One change and then others: for every input, since few changes may cost less than a training row does, and then
        // for what was not reached. Where any number of features may change, training rows have led to what can be believed,
        // or to what the predictor knows by heart.
        let led = self.trial.jury.is_some() || by_heart;
        let limited = self.trial.most_changed < self.trial.lattice.features() || !led;
        let (width, rounds) = match (limited, by_heart) {
            (true, _) => (WIDTH, GROWN),
            (false, true) => (1, GROWN_BY_HEART),
            (false, false) => (1, GROWN_BESIDE),
        };
        for (place, &goal) in self.goals.iter().enumerate() {
            let all = self.search.count > 1 && goal == Goal::Plausible;
            let left = match (limited, goal) {
                _ if place == 0 || all => inputs.to_vec(),
                (false, Goal::Believed(_)) => continue,
                // What was found on the way to a better goal may cost more than it has to.
                (true, _) => pools.without(place - 1),
                (false, _) => pools.without(place),
            };
            let unchanged =
                |&input: &usize| Candidate { input, x: self.trial.origin(input).x.clone(), by: FoundBy::Scan };
            let mut starts = self.trial.ask(left.iter().map(unchanged).collect())?;
            starts.extend(pools.best(&left, goal, KEPT));
            let grown = Beam { goal, width, rounds, grows: true, rough: !limited };
            pools.add(grown.run(&self.trial, self.schema, starts)?);
        }
        if self.portfolio.scan == Scan::Two {
            let small = |input: &usize| scan::sizes(&self.trial, *input).1 <= MOST_PAIRS;
            let left: Vec<usize> = pools.without(self.goals.len() - 1).into_iter().filter(small).collect();
            pools.add(scan::one_change(&self.trial, &left, KEPT)?);
            pools.add(scan::two_changes(&self.trial, &left, KEPT)?);
        }
        Ok(pools)
    }

    /// At most as many accepted rows as are asked for, in their order: of each kind of change the first, before others that
    /// change other features, before the rest.
    ///
    /// Where none is accepted, the nearest miss stands for all.
    fn different(&self, pool: Vec<Tried>) -> Vec<Tried> {
        let (accepted, missed): (Vec<Tried>, Vec<Tried>) =
            pool.into_iter().partition(|tried| tried.reaches(Goal::Certain));
        if accepted.is_empty() {
            let allowed = missed.into_iter().filter(|tried| tried.excess == 0 && tried.changes > 0);
            return allowed.min_by(|a, b| a.uncertainty.total_cmp(&b.uncertainty)).into_iter().collect();
        }
        let moves = self.moves(&accepted);
        let firsts = kinds::firsts(&accepted, &moves, self.search.count);
        let mut seen: HashSet<&[Move]> = HashSet::new();
        let ranks: Vec<usize> = moves
            .iter()
            .zip(&firsts)
            .map(|(moves, first)| match (seen.insert(moves), first) {
                (_, true) => 0,
                (true, false) => 1,
                (false, false) => 2,
            })
            .collect();
        kinds::lowest(accepted, &ranks, self.search.count)
    }

    /// Certificates of the chosen rows; an input without any keeps what it has.
    fn certified(&self, chosen: Vec<Vec<Tried>>, sets: &[Vec<Clue>]) -> Result<Vec<Vec<Clue>>> {
        let all: Vec<&Tried> = chosen.iter().flatten().collect();
        let minimal = self.are_minimal(&all)?;
        let ends = self.ends(&all)?;
        let clues = if ends.is_empty() { vec![] } else { certify(self.trial.descent, &ends, self.trial.acceptance)? };
        let mut clues = clues.into_iter().zip(minimal);
        let set = |(chosen, old): (Vec<Tried>, &Vec<Clue>)| {
            let named = |((clue, minimal), tried): ((Clue, bool), &Tried)| Clue {
                found_by: Some(tried.row.by),
                minimal: Some(minimal),
                ..clue
            };
            let new: Vec<Clue> = clues.by_ref().take(chosen.len()).zip(&chosen).map(named).collect();
            let least = |clues: &[Clue]| {
                let amounts = clues.iter().map(|clue| clue.uncertainty.get(self.trial.acceptance.kind));
                amounts.fold(f32::INFINITY, f32::min)
            };
            // A miss is shown if doubt is all that is wrong with it.
            let missed = |clue: &Clue| matches!(clue.reason, Some(Rejection::TooUncertain { .. }));
            let better = new.iter().any(|clue| clue.accepted) || (new.iter().all(missed) && least(&new) < least(old));
            if better { kinds::without_repeats(new) } else { old.clone() }
        };
        Ok(chosen.into_iter().zip(sets).map(set).collect())
    }

    /// Whether no single change of a row can be taken back without the model getting uncertain.
    fn are_minimal(&self, rows: &[&Tried]) -> Result<Vec<bool>> {
        let mut minimal = vec![true; rows.len()];
        let (mut places, mut back) = (Vec::new(), Vec::new());
        for (at, tried) in rows.iter().enumerate() {
            for row in taken_back(&self.trial, &tried.row).into_iter().filter(|row| self.trial.is_allowed(row)) {
                places.push(at);
                back.push(row);
            }
        }
        for (at, back) in places.into_iter().zip(self.trial.ask(back)?) {
            minimal[at] &= !back.reaches(Goal::Certain);
        }
        Ok(minimal)
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
