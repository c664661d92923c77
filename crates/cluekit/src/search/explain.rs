//! From inputs to explanations: starts, descents, certificates, and what they tell together.

use super::certificate::{Acceptance, Evaluated, certify, evaluate, label_of, probabilities_of, snapped};
use super::coupling::{Coupling, Found};
use super::descent::{Descent, End, Start};
use super::init::{along, direction, uniform_in_ball};
use super::origin::{self, Origin};
use super::{Background, Delta, Inputs, Models, Order, Ordinary, Search, SubSearches};
use super::{advice, sparse, spread};
use crate::data::Halfspace;
use crate::distance::Metric;
use crate::error::Result;
use crate::explanation::{Clue, Explanation, Original, Reconstruction};
use crate::observer::{Observer, Progress};
use crate::parallel::over_shards;
use crate::seed::Seed;
use std::sync::Mutex;

impl Search {
    /// Explains every input: its clues, certified, and what they tell together.
    ///
    /// The result depends on inputs, settings and seed, never on the number of threads; each input has its own random
    /// streams, so its clues are the same, up to the rounding of floats, whichever other inputs are asked for.
    pub fn explain(
        &self,
        models: &Models,
        background: &Background,
        inputs: &Inputs,
        seed: Seed,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Explanation>> {
        self.sweep(&[self.delta], models, background, inputs, seed, observer)
    }

    /// Explains every input with each δ in turn; the clues of all of them make one explanation of an input, and advice
    /// is looked for beyond the last.
    pub fn sweep(
        &self,
        deltas: &[Delta],
        models: &Models,
        background: &Background,
        inputs: &Inputs,
        seed: Seed,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Explanation>> {
        self.validate()?;
        self.fits(models.task())?;
        if inputs.is_empty() {
            return Ok(vec![]);
        }
        let metric = background.metric(self.objective.input.1)?;
        let relations = models.schema.map_or(vec![], |schema| schema.constraints.encoded_relations(schema));
        let acceptance = Acceptance { kind: self.accept_by, threshold: self.threshold };
        let progress = Counter::new(observer, self.work(inputs.len() * deltas.len(), models));
        let watch = |steps: usize, loss: f64| progress.add(steps, loss);
        let mut sets: Vec<Vec<Clue>> = vec![vec![]; inputs.len()];
        let mut explanations = vec![];
        for (at, &delta) in deltas.iter().enumerate() {
            let search = Self { delta, ..self.clone() };
            let origins = origin::origins(&search, models, background, inputs)?;
            let descent =
                Descent { watch: &watch, ..search.descent(models, background, &metric, &relations, &origins) };
            let clues = search.clues(&descent, acceptance, seed)?;
            sets.iter_mut().zip(clues).for_each(|(all, new)| all.extend(new));
            if at + 1 == deltas.len() {
                let advice = advice::next_steps(&search, &descent, &sets, acceptance)?;
                explanations = search.explanations(&descent, inputs, std::mem::take(&mut sets), advice, seed)?;
            }
        }
        Ok(explanations)
    }

    /// The certified clues of each input.
    fn clues(&self, descent: &Descent, acceptance: Acceptance, seed: Seed) -> Result<Vec<Vec<Clue>>> {
        let mut ends = self.search(descent, seed)?;
        if let Some(most) = descent.models.schema.and_then(|schema| schema.constraints.most_changed) {
            ends = sparse::with_fewer_changes(descent, &ends, most)?;
        }
        let mut clues = certify(descent, &ends, acceptance)?;
        if let Some(sub) = self.sub_searches {
            let ends = self.around_the_best(descent, sub, &clues, seed)?;
            let more = certify(descent, &ends, acceptance)?;
            clues = interleaved(clues, self.count, more, sub.best.min(self.count) * sub.each);
        }
        let mut sets = sets_of(clues, descent.origins.len());
        if let Some(ordinary) = &descent.background.ordinary {
            judge(descent.models, ordinary, descent.origins, &mut sets)?;
        }
        Ok(sets)
    }

    fn descent<'a>(
        &'a self,
        models: &'a Models<'a>,
        background: &'a Background,
        metric: &'a Metric,
        relations: &'a [Halfspace],
        origins: &'a [Origin],
    ) -> Descent<'a> {
        // One candidate alone has no diversity, and a weight of 0 none to speak of.
        let coupling = self.objective.coupling().filter(|_| self.count > 1);
        Descent {
            models,
            background,
            metric,
            objective: &self.objective,
            coupling: coupling.map(|term| Coupling { term, order: self.order }),
            decoding: self.decoding,
            relations,
            learning_rate: self.learning_rate,
            convergence: self.convergence,
            origins,
            watch: &|_, _| {},
        }
    }

    /// Steps of one row in all, if none ends early.
    fn work(&self, inputs: usize, models: &Models) -> u64 {
        let phases = 1 + usize::from(models.schema.is_some_and(|s| s.constraints.most_changed.is_some()));
        let further = self.sub_searches.map_or(0, |sub| sub.best.min(self.count) * sub.each);
        let rows = (self.count * phases + further).saturating_mul(inputs);
        rows.saturating_mul(self.convergence.max_steps + 1) as u64
    }

    /// k ends for each origin, side by side.
    fn search(&self, descent: &Descent, seed: Seed) -> Result<Vec<End>> {
        let starts = self.starts.draw(descent, self.count, seed)?;
        let start = |(input, z): (usize, Vec<f32>)| Start { input, z, bounds: None };
        let mut starts: Vec<Start> = starts
            .into_iter()
            .enumerate()
            .flat_map(|(i, set)| set.into_iter().map(move |z| (i, z)))
            .map(start)
            .collect();
        if self.starts.spread > 0 && self.count > 1 {
            let term = self.objective.diversity.map(|term| term.1).unwrap_or_default();
            spread::spread(descent, &mut starts, self.count, self.starts.spread, term)?;
        }
        match descent.coupling {
            Some(Coupling { order: Order::Sequential | Order::Penalty, .. }) => self.one_by_one(descent, &starts),
            _ => descent.run(&starts, self.count, &[]),
        }
    }

    /// Candidate after candidate, each knowing of those before it.
    fn one_by_one(&self, descent: &Descent, starts: &[Start]) -> Result<Vec<End>> {
        let mut found = vec![Found::default(); descent.origins.len()];
        let mut rounds: Vec<Vec<End>> = Vec::with_capacity(self.count);
        for candidate in 0..self.count {
            let starts: Vec<Start> = starts.iter().skip(candidate).step_by(self.count).cloned().collect();
            let ends = descent.run(&starts, 1, &found)?;
            for (found, points) in found.iter_mut().zip(descent.points(&ends)?) {
                found.points.extend(points);
            }
            rounds.push(ends);
        }
        Ok((0..descent.origins.len()).flat_map(|input| rounds.iter().map(move |ends| ends[input].clone())).collect())
    }

    /// Searches that start around the cheapest clues of each input.
    fn around_the_best(&self, descent: &Descent, sub: SubSearches, clues: &[Clue], seed: Seed) -> Result<Vec<End>> {
        let mut starts = Vec::new();
        for (input, (origin, clues)) in descent.origins.iter().zip(clues.chunks(self.count)).enumerate() {
            let mut order: Vec<usize> = (0..clues.len()).collect();
            order.sort_by(|&a, &b| clues[a].cost.total_cmp(&clues[b].cost));
            let mut rng = seed.numbered("search: sub-starts", origin.index as u64);
            for &best in order.iter().take(sub.best) {
                for _ in 0..sub.each {
                    let radius = f64::from(sub.radius) * uniform_in_ball(&mut rng, origin.z.len());
                    let mut z = along(&clues[best].z, &direction(&mut rng, origin.z.len()), radius);
                    origin.ball.project(&mut z, &origin.z);
                    starts.push(Start { input, z, bounds: None });
                }
            }
        }
        let ends = Descent { coupling: None, ..*descent }.run(&starts, 1, &[])?;
        match descent.models.schema.and_then(|schema| schema.constraints.most_changed) {
            Some(most) => sparse::with_fewer_changes(descent, &ends, most),
            None => Ok(ends),
        }
    }

    fn explanations(
        &self,
        descent: &Descent,
        inputs: &Inputs,
        sets: Vec<Vec<Clue>>,
        advice: Vec<Option<String>>,
        seed: Seed,
    ) -> Result<Vec<Explanation>> {
        let places: Vec<(usize, &[f32])> =
            descent.origins.iter().enumerate().map(|(i, o)| (i, o.z.as_slice())).collect();
        let inputs_now: Vec<Vec<f32>> = descent.origins.iter().map(|origin| origin.x.clone()).collect();
        let originals = evaluate(descent, &places, &inputs_now)?;
        let decoded: Vec<Vec<f32>> = descent
            .origins
            .iter()
            .map(|origin| snapped(descent.models, origin, None, &origin.decoded))
            .collect::<Result<_>>()?;
        let reconstructions = evaluate(descent, &places, &decoded)?;
        let models = descent.models;
        let original = |row: usize, origin: &Origin, now: Evaluated| Original {
            index: origin.index,
            label: label_of(&now.prediction, models),
            target: inputs.target(row),
            uncertainty: now.prediction.uncertainty,
            probabilities: probabilities_of(&now.prediction, models),
            x: origin.x.clone(),
            z: origin.z.clone(),
        };
        let reconstruction = |x: Vec<f32>, now: Evaluated| Reconstruction {
            label: label_of(&now.prediction, models),
            uncertainty: now.prediction.uncertainty,
            distance: now.input,
            cost: now.cost,
            x,
        };
        let originals = originals.into_iter().zip(descent.origins).enumerate();
        let originals = originals.map(|(row, (now, origin))| original(row, origin, now));
        let reconstructions = decoded.into_iter().zip(reconstructions).map(|(x, now)| reconstruction(x, now));
        let rows: Vec<_> = originals.zip(reconstructions).zip(sets).zip(advice).collect();
        Ok(over_shards(rows.len(), 1, |at| {
            let (((original, reconstruction), clues), advice) = rows[at.start].clone();
            Explanation::of(original, reconstruction, clues, advice, seed)
        }))
    }
}

/// The sets `a` and `b` of each input, `of_a` and `of_b` long, one behind the other.
fn interleaved<T: Clone>(a: Vec<T>, of_a: usize, b: Vec<T>, of_b: usize) -> Vec<T> {
    a.chunks(of_a).zip(b.chunks(of_b)).flat_map(|(a, b)| [a, b].concat()).collect()
}

fn sets_of(clues: Vec<Clue>, inputs: usize) -> Vec<Vec<Clue>> {
    let size = clues.len() / inputs;
    clues.chunks(size).map(<[Clue]>::to_vec).collect()
}

/// Writes the plausibility into every certificate; a clue that is no number has none.
fn judge(models: &Models, ordinary: &Ordinary, origins: &[Origin], sets: &mut [Vec<Clue>]) -> Result<()> {
    let judged = over_shards(sets.len(), 1, |at| {
        let rows: Vec<f32> = sets[at.start].iter().flat_map(|clue| clue.x.iter().copied()).collect();
        ordinary.judge(models, &rows, origins[at.start].x.len(), origins[at.start].index)
    });
    for (set, judged) in sets.iter_mut().zip(judged) {
        for (clue, plausibility) in set.iter_mut().zip(judged?) {
            clue.plausibility = clue.x.iter().all(|value| value.is_finite()).then_some(plausibility);
        }
    }
    Ok(())
}

/// Adds up the steps that chunks report from their threads.
struct Counter<'a> {
    state: Mutex<(u64, &'a mut dyn Observer)>,
    total: u64,
}

impl<'a> Counter<'a> {
    fn new(observer: &'a mut dyn Observer, total: u64) -> Self {
        Self { state: Mutex::new((0, observer)), total }
    }

    fn add(&self, steps: usize, loss: f64) {
        let Ok(mut state) = self.state.lock() else { return };
        state.0 = (state.0 + steps as u64).min(self.total);
        let (done, observer) = &mut *state;
        observer.progress(&Progress { what: "searching", done: *done, total: self.total, loss, validation: None });
    }
}
