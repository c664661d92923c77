//! Baselines, mappers and CLUE on the same uncertain inputs: what each makes of them, and how long it takes.
//! [Ley2022, "GLAM-CLUE", Table 2]
//!
//! Every counterfactual is judged by the same certificate and the same cost H + λ_x d. Seconds are those of mapping,
//! decoding and asking the model about the result, for one input among all of them.

use crate::amortise::{Ask, Encoded, Fitted, LearnFrom, Method, Pair, Recipe, Workshop, cheapest_first};
use crate::error::Result;
use crate::explanation::Clue;
use crate::observer::{Observer, Silent};
use crate::search::{Background, Convergence, Inputs, Models, Prepared, Proposal, Search, Weighted};
use crate::studio::Studio;

/// Steps of CLUE 1 and CLUE 2.
const CLUE_STEPS: usize = 30;
/// Steps that refine the network's answer.
const REFINING_STEPS: usize = 5;
/// Most probable classes that the network is asked for.
const CLASSES: usize = 3;
/// Times that what takes moments is timed; the middle one counts.
const TIMES: usize = 3;

/// The methods that are mappers, and how they are fitted.
pub const MAPPERS: [(&str, Method, LearnFrom); 13] = [
    ("reconstruction", Method::Reconstruction, LearnFrom::Data),
    ("input-dbm", Method::InputDbm, LearnFrom::Data),
    ("latent-dbm", Method::LatentDbm, LearnFrom::Data),
    ("input-nn", Method::InputNn, LearnFrom::Data),
    ("latent-nn", Method::LatentNn, LearnFrom::Data),
    ("glam-1", Method::Glam, LearnFrom::Data),
    ("glam-2", Method::Glam, LearnFrom::Clues(0.0)),
    ("glam-3", Method::Glam, LearnFrom::Clues(0.03)),
    ("clusters", Method::Clusters, LearnFrom::Clues(0.03)),
    ("scaled", Method::Scaled, LearnFrom::Clues(0.03)),
    ("affine", Method::Affine, LearnFrom::Clues(0.03)),
    ("neural-same-class", Method::Neural, LearnFrom::Data),
    ("neural", Method::Neural, LearnFrom::Data),
];
/// Those that are not.
pub const OTHERS: [&str; 5] = ["original", "neural-refined", "best", "clue-1", "clue-2"];

/// Some inputs, what they are compared by, and which methods.
pub struct Contest<'a> {
    /// The models.
    pub models: &'a Models<'a>,
    /// Objective, decoding and acceptance; its λ_x is that of the cost.
    pub search: &'a Search,
    /// The distance.
    pub background: &'a Background,
    /// The inputs.
    pub inputs: &'a Inputs,
    /// Whether a method takes part, by its name.
    pub wants: &'a dyn Fn(&str) -> bool,
    /// A clock, in seconds.
    pub clock: &'a dyn Fn() -> f64,
}

/// What one method makes of the inputs.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The method.
    pub method: String,
    /// For each input its cheapest counterfactual; nothing where no mapper serves the input.
    pub clues: Vec<Option<Clue>>,
    /// Mapping, decoding and asking the model, for one input.
    pub seconds_each: f64,
    /// Mapping alone.
    pub mapping_seconds_each: Option<f64>,
}

/// Fits the mappers that are wanted, or takes them from the run if they were fitted under the same terms before.
pub struct Mappers<'a> {
    /// The run.
    pub studio: &'a Studio,
    /// From each class to itself, for all but the network.
    pub within: &'a [Pair],
    /// From any class to each, for the network.
    pub to_class: &'a [Pair],
    /// λ_x of the cost.
    pub lambda_x: f32,
    /// Fit again, and replace what is saved.
    pub refit: bool,
}

impl Mappers<'_> {
    /// Whether a mapper is needed, for itself or for what is made of it.
    pub fn needed(name: &str, wants: &dyn Fn(&str) -> bool, anchored: bool) -> bool {
        wants(name)
            || (wants("best") && name != "neural-same-class" && !(anchored && name == "neural"))
            || (name == "neural" && wants("neural-refined"))
    }

    /// Every mapper that `needs` asks for.
    pub fn all(
        &self,
        workshop: &mut Workshop,
        needs: &dyn Fn(&str) -> bool,
        observer: &mut dyn Observer,
    ) -> Result<Vec<(&'static str, Fitted)>> {
        let mut mappers: Vec<(&'static str, Fitted)> = Vec::new();
        for (name, method, learn_from) in MAPPERS.into_iter().filter(|(name, ..)| needs(name)) {
            let saved_as = if method == Method::Neural { "neural" } else { name };
            let same = mappers.iter().find(|(_, fitted)| method == Method::Neural && fitted.method == method);
            let fitted = match same {
                Some((_, fitted)) => fitted.clone(),
                None => self.one(workshop, (saved_as, method, learn_from), observer)?,
            };
            mappers.push((name, fitted));
        }
        Ok(mappers)
    }

    fn one(
        &self,
        workshop: &mut Workshop,
        (name, method, learn_from): (&str, Method, LearnFrom),
        observer: &mut dyn Observer,
    ) -> Result<Fitted> {
        let learn_from = match learn_from {
            LearnFrom::Clues(lambda) if lambda > 0.0 => LearnFrom::Clues(self.lambda_x),
            other => other,
        };
        let pairs = if method == Method::Neural { self.to_class } else { self.within };
        let mut recipe = Recipe::new(method, learn_from);
        if method == Method::Neural {
            recipe.neural.lambda_x = self.lambda_x;
        }
        let saved = self.studio.run.folder.mappers().path(name);
        if !method.is_baseline() && !self.refit && saved.exists() {
            // The network's own settings may be any.
            let fits = |fitted: &Fitted| {
                fitted.method == method
                    && fitted.terms == workshop.terms(&recipe)
                    && fitted.fittings.iter().map(|fitting| &fitting.pair).eq(pairs)
            };
            let fitted = self.studio.load(name)?;
            if fits(&fitted) {
                observer.finished(name, &format!("as saved in {}", saved.display()));
                return Ok(fitted);
            }
            observer.finished(name, &format!("{} was fitted otherwise and is left alone", saved.display()));
        }
        let fitted = workshop.fit(&recipe, pairs, observer)?;
        if !method.is_baseline() {
            observer.finished(name, "fitted");
            if self.refit || !saved.exists() {
                self.studio.save(&fitted, name)?;
            }
        }
        Ok(fitted)
    }
}

impl Contest<'_> {
    /// What every method makes of the inputs, in the order of [`MAPPERS`] between the original and CLUE.
    pub fn entries(&self, mappers: &[(&str, Fitted)], observer: &mut dyn Observer) -> Result<Vec<Entry>> {
        let prepared = self.search.prepare(self.models, self.background, self.inputs)?;
        let (rows, price) = (Encoded::prepared(&prepared, self.inputs), prepared.price());
        let mut entries = Vec::new();
        if (self.wants)("original") {
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
            if (self.wants)(name) {
                entries.push(Entry::of(name, &sets, all, Some(mapping)));
            }
            if *name == "neural" && (self.wants)("neural-refined") {
                entries.push(self.refined(&sets, all)?);
            }
            if *name != "neural-same-class" {
                seconds += all;
                best.iter_mut().zip(sets).for_each(|(best, set)| best.extend(set.into_iter().take(1)));
            }
        }
        if (self.wants)("best") {
            cheapest_first(&mut best);
            entries.push(Entry::of("best", &best, seconds, None));
        }
        for (name, lambda_x) in [("clue-1", 0.0), ("clue-2", self.search.objective.input.0)] {
            if (self.wants)(name) {
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
        let search = Search { convergence: Convergence::never_before(REFINING_STEPS), ..self.search.clone() };
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
        let mut search = Search { convergence: Convergence::never_before(CLUE_STEPS), ..self.search.clone() };
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
