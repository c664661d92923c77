//! Baselines, mappers and CLUE on the same uncertain inputs: what each makes of them, and how long it takes.
//! [Ley2022, "GLAM-CLUE", Table 2]
//!
//! Every counterfactual is judged by the same certificate and the same cost H + λ_x d. Seconds are those of mapping,
//! decoding and asking the model about the result, for one input among all of them; the clock is handed in.

use super::Explainer;
use super::fit::GroupSettings;
use crate::amortise::{
    Ask, Encoded, Fit, LearnFrom, MapperKind, MapperPlan, Mappers, Pair, Scheme, Thresholds, cheapest_first,
};
use crate::data::Task;
use crate::error::{Error, Result};
use crate::explanation::{Clue, Label};
use crate::observer::{Observer, Silent};
use crate::search::{Background, Convergence, Decoding, Inputs, Models, Prepared, Proposal, Search, Weighted};
use crate::seed::Seed;
use serde::{Deserialize, Serialize};

/// Steps of CLUE 1 and CLUE 2.
const CLUE_STEPS: usize = 30;
/// Steps that refine the network's answer.
const REFINING_STEPS: usize = 5;
/// Most probable classes that the network is asked for.
const CLASSES: usize = 3;
/// Times that what takes moments is timed; the middle one counts.
const TIMES: usize = 3;

/// The methods that are mappers, and how they are fitted.
const MAPPERS: [(&str, MapperKind, LearnFrom); 13] = [
    ("reconstruction", MapperKind::Reconstruction, LearnFrom::Data),
    ("input-dbm", MapperKind::InputDbm, LearnFrom::Data),
    ("latent-dbm", MapperKind::LatentDbm, LearnFrom::Data),
    ("input-nn", MapperKind::InputNn, LearnFrom::Data),
    ("latent-nn", MapperKind::LatentNn, LearnFrom::Data),
    ("glam-1", MapperKind::Glam, LearnFrom::Data),
    ("glam-2", MapperKind::Glam, LearnFrom::Clues(0.0)),
    ("glam-3", MapperKind::Glam, LearnFrom::Clues(0.03)),
    ("clusters", MapperKind::Clusters, LearnFrom::Clues(0.03)),
    ("scaled", MapperKind::Scaled, LearnFrom::Clues(0.03)),
    ("affine", MapperKind::Affine, LearnFrom::Clues(0.03)),
    ("neural-same-class", MapperKind::Neural, LearnFrom::Data),
    ("neural", MapperKind::Neural, LearnFrom::Data),
];
/// Names of all methods that can be compared.
pub const METHODS: [&str; 18] = [
    "original",
    "reconstruction",
    "input-dbm",
    "latent-dbm",
    "input-nn",
    "latent-nn",
    "glam-1",
    "glam-2",
    "glam-3",
    "clusters",
    "scaled",
    "affine",
    "neural-same-class",
    "neural",
    "neural-refined",
    "best",
    "clue-1",
    "clue-2",
];
/// Shares of the inputs whose figures are listed.
const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Settings of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareSettings {
    /// Names of the methods to compare; empty for all.
    pub only: Vec<String>,
    /// Whether to fit mappers again, even if they are saved in the run.
    pub refit: bool,
    /// Limits between uncertain, certain and other training rows; none for the usual ones.
    pub thresholds: Option<Thresholds>,
    /// Seed of all randomness in the comparison.
    pub seed: Seed,
}

impl Default for CompareSettings {
    fn default() -> Self {
        Self { only: vec![], refit: false, thresholds: None, seed: Seed(0) }
    }
}

impl CompareSettings {
    /// An error if a method does not exist.
    pub fn validate(&self) -> Result<()> {
        match self.only.iter().find(|name| !METHODS.contains(&name.as_str())) {
            Some(name) => {
                let choices = METHODS.join(", ");
                Err(Error::setting("only", format!("`{name}` is not a method; choose from {choices}")))
            }
            None => Ok(()),
        }
    }

    /// Whether a method is asked for; `neural` says whether a network can be learned at all.
    fn wants(&self, name: &str, neural: bool) -> bool {
        let unusable = !neural && name.starts_with("neural");
        !unusable && (self.only.is_empty() || self.only.iter().any(|only| only == name))
    }

    /// Whether a mapper is needed, for itself or for what is made of it.
    fn needs(&self, name: &str, neural: bool) -> bool {
        self.wants(name, neural)
            || (self.wants("best", neural) && name != "neural-same-class" && (neural || name != "neural"))
            || (name == "neural" && self.wants("neural-refined", neural))
    }
}

/// Methods side by side, with means over the same inputs.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Weight λ_x of the distance in the cost.
    pub lambda_x: f32,
    /// Uncertainty below which a counterfactual is accepted.
    pub threshold: f32,
    /// Where randomness came from.
    pub seed: Seed,
    /// Results, one for each method.
    pub rows: Vec<ComparedMethod>,
}

/// Mean results of one method.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedMethod {
    /// Name of the method.
    pub method: String,
    /// Number of inputs that the method serves.
    pub inputs: usize,
    /// Mean total uncertainty of the counterfactuals.
    pub uncertainty: f64,
    /// Mean distance of the counterfactuals from their inputs.
    pub distance: f64,
    /// Mean cost H + λ_x d of the counterfactuals.
    pub cost: f64,
    /// Share of counterfactuals predicted as the class of their input; none for a regression.
    pub class_kept: Option<f64>,
    /// Share of counterfactuals that are accepted.
    pub certain: f64,
    /// Seconds for one input: mapping, decoding, and asking the model about the result.
    pub seconds_each: f64,
    /// Seconds of mapping alone, for one input; none unless the method is a mapper by itself.
    pub mapping_seconds_each: Option<f64>,
    /// Quantiles of uncertainty, distance and cost over the inputs.
    pub quantiles: Quantiles,
    /// Uncertainty, distance and cost of every input, in this order.
    #[serde(skip)]
    pub values: [Vec<f32>; 3],
}

/// Values at 5, 25, 50, 75 and 95 % of the inputs.
#[derive(Clone, Debug, Serialize)]
pub struct Quantiles {
    /// Total uncertainty of the counterfactuals.
    pub uncertainty: Vec<f32>,
    /// Distance of the counterfactuals from their inputs.
    pub distance: Vec<f32>,
    /// Cost H + λ_x d of the counterfactuals.
    pub cost: Vec<f32>,
}

/// Counterfactuals of one method.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name of the method.
    pub method: String,
    /// Cheapest counterfactual of each input; none where no mapper serves the input.
    pub clues: Vec<Option<Clue>>,
    /// Seconds for one input: mapping, decoding and asking the model.
    pub seconds_each: f64,
    /// Seconds of mapping alone, for one input; none unless the method is a mapper by itself.
    pub mapping_seconds_each: Option<f64>,
}

impl Explainer {
    /// Compares methods on inputs; mappers that are not in the run yet are fitted and saved there.
    pub fn compare(
        &self,
        settings: &CompareSettings,
        search: &Search,
        inputs: &Inputs,
        clock: &dyn Fn() -> f64,
        observer: &mut dyn Observer,
    ) -> Result<Comparison> {
        let entries = self.contest(settings, search, inputs, clock, observer)?;
        let (models, background) = (self.unconstrained()?, self.plain_background(search)?);
        let prepared = search.prepare(&models, &background, inputs)?;
        let classes = Encoded::prepared(&prepared, inputs);
        let lambda_x = search.objective.input.0;
        let rows = entries.iter().map(|entry| ComparedMethod::of(entry, &classes, &self.task, lambda_x)).collect();
        Ok(Comparison { lambda_x, threshold: search.threshold, seed: settings.seed, rows })
    }

    /// The counterfactuals of every wanted method for each input.
    pub fn contest(
        &self,
        settings: &CompareSettings,
        search: &Search,
        inputs: &Inputs,
        clock: &dyn Fn() -> f64,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Entry>> {
        settings.validate()?;
        let mappers = self.compared_mappers(settings, search, observer)?;
        let (models, background) = (self.unconstrained()?, self.plain_background(search)?);
        let contest = Contest { models: &models, search, background: &background, inputs, settings, clock };
        contest.entries(&mappers, observer)
    }

    /// The mappers that are needed, from the run if they were fitted in the same way before.
    fn compared_mappers(
        &self,
        settings: &CompareSettings,
        search: &Search,
        observer: &mut dyn Observer,
    ) -> Result<Vec<(&'static str, Mappers)>> {
        let [within, to_class] = [Scheme::Within, Scheme::AnyToClass].map(GroupSettings::of_scheme);
        let pairs = [self.pairs(&within)?, self.pairs(&to_class)?];
        let usual = within.thresholds(search.threshold, search.accepted_by());
        let rows = self.encoded(None, observer)?;
        let (models, background) = (self.unconstrained()?, self.plain_background(search)?);
        let [train, validation] = &*rows;
        let thresholds = settings.thresholds.unwrap_or(usual);
        let rows = [train, validation];
        let mut fit = Fit::new(&models, search, &background, rows, thresholds, settings.seed);
        let mut mappers: Vec<(&'static str, Mappers)> = Vec::new();
        let neural = can_be_neural(&models, search);
        for (name, kind, learn_from) in MAPPERS.into_iter().filter(|(name, ..)| settings.needs(name, neural)) {
            let saved_as = if kind == MapperKind::Neural { "neural" } else { name };
            let same = mappers.iter().find(|(_, fitted)| kind == MapperKind::Neural && fitted.kind == kind);
            let fitted = match same {
                Some((_, fitted)) => fitted.clone(),
                None => {
                    let pairs = if kind == MapperKind::Neural { &pairs[1] } else { &pairs[0] };
                    self.saved_or_fitted(&mut fit, (saved_as, kind, learn_from), pairs, settings.refit, observer)?
                }
            };
            mappers.push((name, fitted));
        }
        Ok(mappers)
    }

    fn saved_or_fitted(
        &self,
        fit: &mut Fit,
        (name, kind, learn_from): (&str, MapperKind, LearnFrom),
        pairs: &[Pair],
        refit: bool,
        observer: &mut dyn Observer,
    ) -> Result<Mappers> {
        let lambda_x = fit.search.objective.input.0;
        let learn_from = match learn_from {
            LearnFrom::Clues(lambda) if lambda > 0.0 => LearnFrom::Clues(lambda_x),
            other => other,
        };
        let mut plan = MapperPlan::new(kind, learn_from);
        if kind == MapperKind::Neural {
            plan.neural.lambda_x = lambda_x;
        }
        let mut outdated = false;
        let saved = self.run().map(|run| run.folder.mappers().path(name)).filter(|_| !kind.is_baseline());
        if let Some(saved) = saved.as_ref().filter(|saved| !refit && saved.exists()) {
            // The network's own settings may be any.
            let (fitted, now) = (self.load(name)?, fit.fitted_under(&plan));
            let same = fitted.kind == kind && fitted.all.iter().map(|mapper| &mapper.pair).eq(pairs);
            if same && fitted.fitted_under == now {
                observer.finished(name, &format!("as saved in {}", saved.display()));
                return Ok(fitted);
            }
            outdated = same && fitted.fitted_under.is_older_than(&now);
            if !outdated {
                observer.finished(name, &format!("{} was fitted otherwise and is left alone", saved.display()));
            }
        }
        let fitted = fit.mappers(&plan, pairs, observer)?;
        if !kind.is_baseline() {
            observer.finished(name, "fitted");
        }
        if saved.is_some_and(|saved| refit || outdated || !saved.exists()) {
            self.save(&fitted, name)?;
        }
        Ok(fitted)
    }
}

/// Whether a neural mapper can be learned: it descends the gradients of both models, and sees the reconstruction, so that
/// it cannot be anchored.
fn can_be_neural(models: &Models, search: &Search) -> bool {
    search.decoding != Decoding::Anchored && models.need_gradients().is_ok()
}

/// Some inputs, and what they are compared by.
struct Contest<'a> {
    models: &'a Models<'a>,
    search: &'a Search,
    background: &'a Background,
    inputs: &'a Inputs,
    settings: &'a CompareSettings,
    clock: &'a dyn Fn() -> f64,
}

impl Contest<'_> {
    fn wants(&self, name: &str) -> bool {
        self.settings.wants(name, can_be_neural(self.models, self.search))
    }

    /// What every method makes of the inputs, in the order of [`MAPPERS`] between the original and CLUE.
    fn entries(&self, mappers: &[(&str, Mappers)], observer: &mut dyn Observer) -> Result<Vec<Entry>> {
        let prepared = self.search.prepare(self.models, self.background, self.inputs)?;
        let (rows, price) = (Encoded::prepared(&prepared, self.inputs), prepared.price());
        let mut entries = Vec::new();
        if self.wants("original") {
            entries.push(self.original(&prepared, &rows)?);
        }
        let mut best: Vec<Vec<Clue>> = vec![vec![]; rows.len()];
        let mut seconds = 0.0;
        for (name, fitted) in mappers {
            let ask = if *name == "neural" { Ask::MostProbable(CLASSES) } else { Ask::OwnClass };
            let (proposals, mapping) = self.timed(|| fitted.propose(self.models, &rows, &ask, price, name))?;
            let (mut sets, certifying) = self.timed(|| prepared.certify(&proposals))?;
            cheapest_first(&mut sets);
            let all = mapping + certifying;
            if self.wants(name) {
                entries.push(Entry::of(name, &sets, all, Some(mapping)));
            }
            if *name == "neural" && self.wants("neural-refined") {
                entries.push(self.refined(&sets, all)?);
            }
            if *name != "neural-same-class" {
                seconds += all;
                best.iter_mut().zip(sets).for_each(|(best, set)| best.extend(set.into_iter().take(1)));
            }
        }
        if self.wants("best") {
            cheapest_first(&mut best);
            entries.push(Entry::of("best", &best, seconds, None));
        }
        for (name, lambda_x) in [("clue-1", 0.0), ("clue-2", self.search.objective.input.0)] {
            if self.wants(name) {
                entries.push(self.clue(name, lambda_x, observer)?);
            }
        }
        Ok(entries)
    }

    /// The inputs as they are.
    fn original(&self, prepared: &Prepared, rows: &Encoded) -> Result<Entry> {
        let itself = |row| {
            vec![Proposal { z: prepared.z(row).to_vec(), x: Some(rows.x(row).to_vec()), mapper: "original".into() }]
        };
        let proposals: Vec<Vec<Proposal>> = (0..rows.len()).map(itself).collect();
        let (sets, seconds) = self.timed(|| prepared.certify(&proposals))?;
        Ok(Entry::of("original", &sets, seconds, None))
    }

    /// A few steps of CLUE from the cheapest answers.
    fn refined(&self, sets: &[Vec<Clue>], seconds: f64) -> Result<Entry> {
        let search = Search { convergence: Convergence::all_steps(REFINING_STEPS), ..self.search.clone() };
        let prepared = search.prepare(self.models, self.background, self.inputs)?;
        let proposal = |clue: &Clue| Proposal { z: clue.z.clone(), x: None, mapper: "neural-refined".into() };
        // A mapper that was fitted for some classes only has nothing to say of the others.
        let start = |set: &Vec<Clue>| set.first().map(proposal).into_iter().collect();
        let starts: Vec<Vec<Proposal>> = sets.iter().map(start).collect();
        let (refined, more) = self.timed(|| prepared.refine(&starts, &mut Silent))?;
        Ok(Entry::of("neural-refined", &refined, seconds + more, None))
    }

    /// CLUE with all its steps; its clues are judged by the same cost as all others.
    fn clue(&self, name: &str, lambda_x: f32, observer: &mut dyn Observer) -> Result<Entry> {
        let mut search = Search { convergence: Convergence::all_steps(CLUE_STEPS), ..self.search.clone() };
        search.objective.input = Weighted(lambda_x, search.objective.input.1);
        let prepared = search.prepare(self.models, self.background, self.inputs)?;
        let start = |row| vec![Proposal { z: prepared.z(row).to_vec(), x: None, mapper: name.into() }];
        let starts: Vec<Vec<Proposal>> = (0..prepared.len()).map(start).collect();
        let begun = (self.clock)();
        let sets = prepared.refine(&starts, observer)?;
        let seconds = (self.clock)() - begun;
        observer.finished(name, "searched");
        Ok(Entry::of(name, &sets, seconds, None))
    }

    /// What some work returns, and the seconds that it takes: the middle one of a few tries.
    fn timed<T>(&self, work: impl Fn() -> Result<T>) -> Result<(T, f64)> {
        let try_once = || {
            let begun = (self.clock)();
            let result = work();
            Ok((result?, (self.clock)() - begun))
        };
        let mut tries = (0..TIMES).map(|_| try_once()).collect::<Result<Vec<_>>>()?;
        tries.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        Ok(tries.swap_remove(TIMES / 2))
    }
}

impl Entry {
    fn of(method: &str, sets: &[Vec<Clue>], seconds: f64, mapping: Option<f64>) -> Self {
        let clues: Vec<Option<Clue>> = sets.iter().map(|set| set.first().cloned()).collect();
        let count = clues.iter().flatten().count().max(1) as f64;
        Self {
            method: method.into(),
            clues,
            seconds_each: seconds / count,
            mapping_seconds_each: mapping.map(|seconds| seconds / count),
        }
    }
}

impl ComparedMethod {
    /// Means over the inputs that the method serves; `inputs` says how many they are.
    fn of(entry: &Entry, rows: &Encoded, task: &Task, lambda_x: f32) -> Self {
        let clues: Vec<(usize, &Clue)> =
            entry.clues.iter().enumerate().filter_map(|(row, clue)| Some((row, clue.as_ref()?))).collect();
        let count = clues.len().max(1) as f64;
        let uncertainty: Vec<f32> = clues.iter().map(|(_, clue)| clue.uncertainty.total).collect();
        let distance: Vec<f32> = clues.iter().map(|(_, clue)| clue.distance.input).collect();
        // The objective has the standard deviation of a regression in deviations of the target.
        let unit = match task {
            Task::Regression(scaling) => scaling.deviation as f32,
            Task::Classification { .. } => 1.0,
        };
        let cost: Vec<f32> = uncertainty.iter().zip(&distance).map(|(h, d)| h / unit + lambda_x * d).collect();
        let mean = |values: &[f32]| values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
        let share =
            |holds: &dyn Fn(&(usize, &Clue)) -> bool| clues.iter().filter(|clue| holds(clue)).count() as f64 / count;
        let kept = |(row, clue): &(usize, &Clue)| clue.label == Label::Class(rows.class(*row));
        Self {
            method: entry.method.clone(),
            inputs: clues.len(),
            uncertainty: mean(&uncertainty),
            distance: mean(&distance),
            cost: mean(&cost),
            class_kept: (!task.is_regression()).then(|| share(&kept)),
            certain: share(&|(_, clue)| clue.accepted),
            seconds_each: entry.seconds_each,
            mapping_seconds_each: entry.mapping_seconds_each,
            quantiles: Quantiles {
                uncertainty: quantiles(&uncertainty),
                distance: quantiles(&distance),
                cost: quantiles(&cost),
            },
            values: [uncertainty, distance, cost],
        }
    }
}

fn quantiles(values: &[f32]) -> Vec<f32> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f32::total_cmp);
    let at = |share: f64| sorted.get((share * sorted.len().saturating_sub(1) as f64).round() as usize).copied();
    QUANTILES.into_iter().filter_map(at).collect()
}
