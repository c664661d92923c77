//! From inputs to explanations: starts, descents, certificates, and what they tell together.

use super::certificate::{Acceptance, certify};
use super::coupling::{Coupling, Found};
use super::descent::{Descent, End, Start};
use super::init::{along, direction, uniform_in_ball};
use super::origin::Origin;
use super::schedule::Walk;
use super::summary::best_first;
use super::way::Steps;
use super::{Background, Delta, Inputs, Models, Order, Search, SubSearches};
use super::{advice, jury, plausibility, portfolio, regions, sparse, spread};
use crate::error::Result;
use crate::explanation::{Clue, Explanation};
use crate::observer::{Observer, Shared};
use crate::seed::Seed;

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
        let acceptance = self.acceptance();
        let work = self.work(inputs.len() * deltas.len(), models, background);
        let progress = Shared::new(observer, "searching", work);
        let watch = watched(&progress);
        let mut sets: Vec<Vec<Clue>> = vec![vec![]; inputs.len()];
        let mut explanations = vec![];
        for (at, &delta) in deltas.iter().enumerate() {
            let search = Self { delta, ..self.clone() };
            let prepared = search.prepare_watched(models, background, inputs, &|| progress.go_on())?;
            let descent = Descent { watch: &watch, seed, ..prepared.descent() };
            let clues = search.clues(&descent, acceptance, seed)?;
            sets.iter_mut().zip(clues).for_each(|(all, new)| all.extend(new));
            if at + 1 == deltas.len() {
                let advice = match self.advised {
                    true => advice::next_steps(&search, &descent, &sets, acceptance)?,
                    false => vec![None; sets.len()],
                };
                explanations = prepared.explanations(std::mem::take(&mut sets), advice, seed)?;
            }
        }
        Ok(explanations)
    }

    /// The certified clues of each input.
    fn clues(&self, descent: &Descent, acceptance: Acceptance, seed: Seed) -> Result<Vec<Vec<Clue>>> {
        let farther = regions::farther(self, descent);
        let ends = match descent.steps {
            Steps::None => descent.run(&at_the_inputs(descent), 1, &[])?,
            _ => self.search(&Descent { objective: &farther, ..*descent }, seed)?,
        };
        let ends = match descent.models.schema.and_then(|schema| schema.constraints.most_changed) {
            Some(most) if descent.steps != Steps::None => sparse::with_fewer_changes(descent, &ends, most)?,
            _ => ends,
        };
        let mut clues = self.certified(descent, ends, acceptance)?;
        if let Some(sub) = self.sub_searches {
            let ends = self.around_the_best(descent, sub, &clues, seed)?;
            let more = certify(descent, &ends, acceptance)?;
            clues = interleaved(clues, self.count, more, sub.best.min(self.count) * sub.each);
        }
        let mut sets = sets_of(clues, descent.origins.len());
        if let (Some(portfolio), Some(rows)) = (&self.portfolio, &descent.background.rows) {
            sets = portfolio::improved(self, portfolio, descent, rows, sets)?;
        }
        if let Some(plausible) = &descent.background.plausible {
            plausibility::judge(descent, plausible, &mut sets)?;
        }
        if let Some(jury) = &descent.background.jury {
            jury::judge(descent, jury, &mut sets)?;
        }
        if let Some(portfolio) = &self.portfolio {
            portfolio.refuse(descent, &mut sets);
        }
        Ok(sets)
    }

    /// The certificates of all ends; those of images without what need not change, unless the paper's methods are asked for.
    fn certified(&self, descent: &Descent, ends: Vec<End>, acceptance: Acceptance) -> Result<Vec<Clue>> {
        match regions::image_of(self, descent) {
            Some(image) => {
                let trimmed = regions::without_needless(descent, image, ends, acceptance)?;
                let (ends, minimal): (Vec<End>, Vec<Option<bool>>) =
                    trimmed.into_iter().map(|trimmed| (trimmed.end, trimmed.minimal)).unzip();
                let clues = certify(descent, &ends, acceptance)?.into_iter().zip(minimal);
                Ok(clues.map(|(clue, minimal)| Clue { minimal, ..clue }).collect())
            }
            None => certify(descent, &ends, acceptance),
        }
    }

    /// Steps of one row in all, if none ends early.
    fn work(&self, inputs: usize, models: &Models, background: &Background) -> u64 {
        let steps = self.steps(models, background);
        if steps == Steps::None {
            return inputs as u64;
        }
        let phases = 1 + usize::from(models.schema.is_some_and(|s| s.constraints.most_changed.is_some()));
        let further = self.sub_searches.map_or(0, |sub| sub.best.min(self.count) * sub.each);
        let rows = (self.count * phases + further).saturating_mul(inputs);
        rows.saturating_mul(steps.work(&Walk::new(self, models.predictor))) as u64
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

    /// Searches that start around the best clues of each input.
    fn around_the_best(&self, descent: &Descent, sub: SubSearches, clues: &[Clue], seed: Seed) -> Result<Vec<End>> {
        let mut starts = Vec::new();
        for (input, (origin, clues)) in descent.origins.iter().zip(clues.chunks(self.count)).enumerate() {
            let mut rng = seed.numbered("search: sub-starts", origin.index as u64);
            for best in best_first(clues).into_iter().take(sub.best) {
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
}

/// One start at each input.
fn at_the_inputs(descent: &Descent) -> Vec<Start> {
    let start = |(input, origin): (usize, &Origin)| Start { input, z: origin.z.clone(), bounds: None };
    descent.origins.iter().enumerate().map(start).collect()
}

/// The sets `a` and `b` of each input, `of_a` and `of_b` long, one behind the other.
fn interleaved<T: Clone>(a: Vec<T>, of_a: usize, b: Vec<T>, of_b: usize) -> Vec<T> {
    a.chunks(of_a).zip(b.chunks(of_b)).flat_map(|(a, b)| [a, b].concat()).collect()
}

fn sets_of(clues: Vec<Clue>, inputs: usize) -> Vec<Vec<Clue>> {
    let size = clues.len() / inputs;
    clues.chunks(size).map(<[Clue]>::to_vec).collect()
}

/// What a descent tells: its steps, or with none of them nothing but the question whether to go on.
pub(super) fn watched<'a>(progress: &'a Shared) -> impl Fn(usize, f64) -> Result<()> + Sync + 'a {
    |steps, loss| match steps {
        0 => progress.go_on(),
        _ => progress.add(steps as u64, loss),
    }
}
