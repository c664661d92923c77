//! The search for counterfactuals: CLUE, δ-CLUE and ∇-CLUE are recipes for one loop. [Ley2022, Eq. 1, Alg. 1, Alg. 3]
//!
//! ```text
//! starts (init, path, spread) ─► descent (objective + coupling, ball, convergence) ─► certificate ─► explanation
//! ```
//!
//! | method | ball | starts | candidates |
//! |---|---|---|---|
//! | CLUE | none | z₀ | 1 |
//! | δ-CLUE | δ | schemes S1 to S5 | k, independent |
//! | ∇-CLUE | δ | schemes S1 to S5 | k, held apart by a diversity |

mod advice;
mod ball;
mod certain;
mod certificate;
mod convergence;
mod coupling;
mod decoding;
mod descent;
mod init;
mod models;
mod objective;
mod origin;
mod path;
mod plausibility;
mod sparse;
mod spread;
mod summary;

pub use ball::LatentBall;
pub use certain::{Certain, Nearest};
pub use convergence::Convergence;
pub use coupling::Order;
pub use decoding::Decoding;
pub use init::{InitScheme, Starts};
pub use models::{Background, Inputs, Models};
pub use objective::{DiversityTerm, Objective, UncertaintyWeights, Weighted};
pub use plausibility::Ordinary;

use crate::data::{Bounds, Halfspace, Task};
use crate::diversity::{Diversity, Space};
use crate::error::{Error, Result};
use crate::explanation::{Clue, Explanation, Original, Reconstruction};
use crate::model::Predictive;
use crate::observer::{Observer, Progress};
use crate::parallel::over_shards;
use crate::seed::Seed;
use crate::tensor::{Tensor, tensor, values};
use crate::uncertainty::{Uncertainty, mean_prediction};
use certain::automatic_radius;
use certificate::{Acceptance, Evaluated, certify, evaluate, label_of, probabilities_of};
use coupling::{Coupling, Found};
use descent::{Descent, End, Start};
use init::{along, direction};
use origin::Origin;
use serde::{Serialize, Serializer};
use std::sync::Mutex;

/// Rows that one thread encodes at a time.
const ROWS: usize = 128;

/// δ, the radius of the ball around z₀.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delta {
    /// The same for every input.
    Fixed(LatentBall),
    /// For each input the smallest ball that holds certain training points of two classes.
    Auto,
}

impl Serialize for Delta {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(ball) => ball.bound().serialize(serializer),
            Self::Auto => "auto".serialize(serializer),
        }
    }
}

/// Further searches around the best clues of each input. [Ley2022, App. B]
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SubSearches {
    /// How many of the best clues are searched around.
    pub best: usize,
    /// Starts around each of them.
    pub each: usize,
    /// How far from it they lie at the most.
    pub radius: f32,
}

/// A search: every setting of a method.
///
/// The recipes [`Search::clue`], [`Search::delta_clue`] and [`Search::nabla_clue`] fill in what the paper says; struct
/// update changes the rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Search {
    /// What is minimised.
    pub objective: Objective,
    /// Where candidates stay.
    pub delta: Delta,
    /// k, candidates for each input.
    pub count: usize,
    /// Where they start.
    pub starts: Starts,
    /// At once or one after another, where a diversity couples them.
    pub order: Order,
    /// How a code becomes an input.
    pub decoding: Decoding,
    /// Of Adam.
    pub learning_rate: f32,
    /// When a search ends.
    pub convergence: Convergence,
    /// A clue is accepted below this uncertainty, in nats (for a regression in the target's unit).
    pub threshold: f32,
    /// The kind of uncertainty that the threshold is for.
    pub accept_by: Uncertainty,
    /// Searches around the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_searches: Option<SubSearches>,
}

impl Search {
    /// CLUE: one search from z₀, free to go anywhere.
    pub fn clue() -> Self {
        Self {
            objective: Objective::default(),
            delta: Delta::Fixed(LatentBall::UNBOUNDED),
            count: 1,
            starts: Starts::at_the_input(),
            order: Order::Simultaneous,
            decoding: Decoding::Mean,
            learning_rate: 0.1,
            convergence: Convergence::default(),
            threshold: 0.3,
            accept_by: Uncertainty::Total,
            sub_searches: None,
        }
    }

    /// δ-CLUE: `count` independent searches that never leave the ball around z₀.
    pub fn delta_clue(delta: Delta, count: usize) -> Self {
        Self { delta, count, starts: Starts::default(), ..Self::clue() }
    }

    /// ∇-CLUE: `count` searches in the ball that are held apart by `diversity`.
    pub fn nabla_clue(delta: Delta, count: usize, diversity: Weighted<DiversityTerm>) -> Self {
        let clue = Self::delta_clue(delta, count);
        Self { objective: Objective { diversity: Some(diversity), ..clue.objective }, ..clue }
    }

    /// Refuses settings that cannot be used.
    pub fn validate(&self) -> Result<()> {
        self.objective.validate()?;
        self.starts.validate()?;
        self.convergence.validate()?;
        let positive = |key: &str, value: f32| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(Error::setting(key, format!("must be a positive number, got {value}"))),
        };
        positive("learning-rate", self.learning_rate)?;
        positive("threshold", self.threshold)?;
        if self.count == 0 {
            return Err(Error::setting("count", "is 0; ask for at least one clue for each input"));
        }
        if let Some(SubSearches { best, each, radius }) = self.sub_searches {
            positive("sub-searches.radius", radius)?;
            if best == 0 || each == 0 {
                return Err(Error::setting("sub-searches", "needs at least one clue to search around, and one start"));
            }
        }
        Ok(())
    }

    /// Refuses a diversity of labels where there are none.
    fn fits(&self, task: &Task) -> Result<()> {
        let labels = |metric: Diversity| metric.spaces() == [Space::Y];
        match self.objective.diversity {
            Some(Weighted(_, DiversityTerm { metric, .. })) if task.is_regression() && labels(metric) => {
                let problem =
                    format!("`{metric}` looks at classes, and a regression has none; choose dpp, apd or coverage");
                Err(Error::setting("diversity", problem))
            }
            _ => Ok(()),
        }
    }

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
        self.validate()?;
        self.fits(models.task())?;
        if inputs.is_empty() {
            return Ok(vec![]);
        }
        let relations = models.schema.map_or(vec![], |schema| schema.constraints.encoded_relations(schema));
        let origins = self.origins(models, background, inputs)?;
        let progress = Counter::new(observer, self.work(inputs.len(), models));
        let watch = |steps: usize, loss: f64| progress.add(steps, loss);
        let descent = Descent { watch: &watch, ..self.descent(models, background, &relations, &origins) };
        let acceptance = Acceptance { kind: self.accept_by, threshold: self.threshold };

        let mut ends = self.search(&descent, seed)?;
        if let Some(most) = models.schema.and_then(|schema| schema.constraints.most_changed) {
            ends = sparse::with_fewer_changes(&descent, &ends, most)?;
        }
        let mut clues = certify(&descent, &ends, acceptance)?;
        if let Some(sub) = self.sub_searches {
            let ends = self.around_the_best(&descent, sub, &clues, seed)?;
            let more = certify(&descent, &ends, acceptance)?;
            clues = interleaved(clues, self.count, more, sub.best.min(self.count) * sub.each);
        }
        let mut sets = sets_of(clues, origins.len());
        if let Some(ordinary) = &background.ordinary {
            judge(models, ordinary, &origins, &mut sets)?;
        }
        let advice = advice::next_steps(self, &descent, &sets, acceptance)?;
        self.explanations(&descent, inputs, sets, advice, seed)
    }

    /// Explains every input at each radius; the clues of all radii make one explanation of an input.
    pub fn sweep(
        &self,
        radii: &[f32],
        models: &Models,
        background: &Background,
        inputs: &Inputs,
        seed: Seed,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Explanation>> {
        let mut all: Vec<Explanation> = Vec::new();
        for &radius in radii {
            let search = Self { delta: Delta::Fixed(LatentBall::new(radius)?), ..self.clone() };
            let found = search.explain(models, background, inputs, seed, observer)?;
            all = match all.is_empty() {
                true => found,
                false => all.into_iter().zip(found).map(|(all, new)| all.joined_by(new, seed)).collect(),
            };
        }
        Ok(all)
    }

    fn descent<'a>(
        &'a self,
        models: &'a Models<'a>,
        background: &'a Background,
        relations: &'a [Halfspace],
        origins: &'a [Origin],
    ) -> Descent<'a> {
        // One candidate alone has no diversity, and a weight of 0 none to speak of.
        let coupling = self.objective.coupling().filter(|_| self.count > 1);
        Descent {
            models,
            background,
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
        ((self.count * phases + further) * inputs * (self.convergence.max_steps + 1)) as u64
    }

    /// Encodes and predicts the inputs, and finds out how far each may go.
    fn origins(&self, models: &Models, background: &Background, inputs: &Inputs) -> Result<Vec<Origin>> {
        let parts = over_shards(inputs.len(), ROWS, |rows| -> Result<Vec<Origin>> {
            let width = inputs.width();
            let x = tensor(inputs.x()[rows.start * width..rows.end * width].to_vec(), [rows.len(), width]);
            let z = checked(
                "the code of the encoder",
                models.generative.encode(&x)?,
                [rows.len(), models.generative.latent()],
            )?;
            let decoded = checked("the output of the decoder", models.generative.decode(&z)?, [rows.len(), width])?;
            let predictive = models.predictor.predict(&x)?;
            if matches!(predictive, Predictive::Gaussian { .. }) != models.task().is_regression() {
                return Err(Error::data(
                    "the predictor answers with classes where values are due, or the reverse; name its task",
                ));
            }
            let prediction = mean_prediction(&predictive);
            let (latent, outputs) = (z.dims()[1], prediction.dims()[1]);
            let (z, decoded, prediction) = (values(z), values(decoded), values(prediction));
            let slice = |all: &[f32], row: usize, width: usize| all[row * width..(row + 1) * width].to_vec();
            rows.clone()
                .enumerate()
                .map(|(row, input)| {
                    let z = slice(&z, row, latent);
                    Ok(Origin {
                        index: inputs.index(input),
                        x: inputs.row(input).to_vec(),
                        decoded: slice(&decoded, row, width),
                        prediction: slice(&prediction, row, outputs),
                        bounds: self
                            .bounds(models, inputs.row(input))
                            .map_err(|error| error.of_input(inputs.index(input)))?,
                        ball: match self.delta {
                            Delta::Fixed(ball) => ball,
                            Delta::Auto => LatentBall::UNBOUNDED,
                        },
                        nearest: vec![],
                        z,
                    })
                })
                .collect()
        });
        let mut origins = parts.into_iter().collect::<Result<Vec<_>>>()?.concat();
        self.check_classes(&origins)?;
        self.look_around(models, background, &mut origins)?;
        Ok(origins)
    }

    /// Whether certain training points are asked for: by the automatic δ, or by starts on the way to them.
    pub fn needs_certain(&self) -> bool {
        self.delta == Delta::Auto || self.starts.schemes.contains(&InitScheme::NearestPath)
    }

    /// Finds the certain training points around each input, and the ball that follows from them.
    fn look_around(&self, models: &Models, background: &Background, origins: &mut [Origin]) -> Result<()> {
        if !self.needs_certain() {
            return Ok(());
        }
        let certain = background.certain.as_ref().ok_or_else(|| {
            let what = if self.delta == Delta::Auto { "delta" } else { "init" };
            Error::setting(what, "looks at certain training points, and no training rows were given")
        })?;
        let codes: Vec<&[f32]> = origins.iter().map(|origin| origin.z.as_slice()).collect();
        let nearest = certain.nearest_of_each_class(models, &codes)?;
        for (origin, nearest) in origins.iter_mut().zip(nearest) {
            if self.delta == Delta::Auto {
                origin.ball = LatentBall::new(automatic_radius(&nearest).ok_or_else(|| certain.missing())?)?;
            }
            origin.nearest = nearest;
        }
        Ok(())
    }

    fn check_classes(&self, origins: &[Origin]) -> Result<()> {
        let classes = origins.first().map_or(0, |origin| origin.prediction.len());
        match self.starts.classes.iter().find(|&&class| class >= classes) {
            Some(class) => Err(Error::setting("towards", format!("there is no class {class}; there are {classes}"))),
            None => Ok(()),
        }
    }

    fn bounds(&self, models: &Models, x: &[f32]) -> Result<Option<Bounds>> {
        let Some(schema) = models.schema else { return Ok(None) };
        if x.len() != schema.width() {
            let (expected, got) = (vec![schema.width()], vec![x.len()]);
            return Err(Error::Shape { what: "an input".into(), expected, got });
        }
        Ok(match (&schema.image, self.decoding) {
            (None, _) => Some(schema.constraints.bounds(schema, x)?),
            (Some(_), Decoding::Anchored) => Some(Bounds { lower: vec![0.0; x.len()], upper: vec![1.0; x.len()] }),
            (Some(_), Decoding::Mean) => None,
        })
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
                    let radius = f64::from(sub.radius) * init::uniform_in_ball(&mut rng, origin.z.len());
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
        let evaluated = |x: &dyn Fn(&Origin) -> Vec<f32>| {
            evaluate(descent, &places, &descent.origins.iter().map(x).collect::<Vec<_>>())
        };
        let originals = evaluated(&|origin| origin.x.clone())?;
        let reconstructions = evaluated(&|origin| origin.decoded.clone())?;
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
        let reconstruction = |origin: &Origin, now: Evaluated| Reconstruction {
            label: label_of(&now.prediction, models),
            uncertainty: now.prediction.uncertainty,
            distance: now.input,
            cost: now.cost,
            x: origin.decoded.clone(),
        };
        let rows = originals.into_iter().zip(reconstructions).zip(sets).zip(advice).zip(descent.origins).enumerate();
        let rows: Vec<_> = rows
            .map(|(row, ((((now, decoded), clues), advice), origin))| {
                (original(row, origin, now), reconstruction(origin, decoded), clues, advice)
            })
            .collect();
        Ok(over_shards(rows.len(), 1, |at| {
            let (original, reconstruction, clues, advice) = rows[at.start].clone();
            Explanation::of(original, reconstruction, clues, advice, seed)
        }))
    }
}

/// A tensor from a stranger's model, if it has the shape that was agreed on.
fn checked(what: &str, tensor: Tensor<2>, expected: [usize; 2]) -> Result<Tensor<2>> {
    let got = tensor.dims();
    match got == expected {
        true => Ok(tensor),
        false => Err(Error::Shape { what: what.into(), expected: expected.to_vec(), got: got.to_vec() }),
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
