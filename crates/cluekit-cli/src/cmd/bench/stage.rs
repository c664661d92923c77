//! Where the contenders meet: the same inputs, the same terms, one after another in every round.

use super::contender::{Contender, Terms};
use super::figures::{Measured, Quality, Sample, measured};
use super::opponent::Opponent;
use super::work::Work;
use crate::progress::Bar;
use crate::stop;
use anyhow::{Context, Result};
use cluekit::explainer::Split;
use cluekit::observer::{Observer, Progress};
use cluekit::prediction::predict;
use cluekit::search::{Convergence, Inputs, Search};
use cluekit::{Error, Explainer, Explanation, Seed, Selection, Uncertainty};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

/// Steps of the paper's searches.
pub const PAPER_STEPS: usize = 30;

/// One that does a work, and is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrant {
    /// A search of ours, with its own number of steps or with another.
    Ours(Contender, Option<usize>),
    /// Our predictions for the inputs as they are.
    Predictions,
    /// The other program's search, with so many steps.
    Theirs(usize),
    /// The other program's predictions for the inputs as they are.
    TheirPredictions,
}

/// The run, the inputs, and the other program if there is one.
pub struct Stage<'a> {
    /// The opened run.
    pub explainer: &'a Explainer,
    /// What all contenders are told.
    pub terms: Terms,
    /// Where starts come from.
    pub seed: Seed,
    /// Rounds that count, after one that does not.
    pub rounds: usize,
    inputs: Inputs,
    folder: tempfile::TempDir,
    opponent: Option<Opponent>,
    bar: Bar,
    // The last to go: until then the end of the command waits for the folder and the other program to be cleared away.
    _watched: Arc<()>,
}

/// Ends a search when the command is to end.
struct Listener;

impl Observer for Listener {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        if stop::is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn finished(&mut self, _: &str, _: &str) {}
}

/// The first test rows, in their order, about which the model is unsure: at most `most`.
pub fn unsure_inputs(explainer: &Explainer, above: f32, most: usize) -> Result<Inputs> {
    let predictions = explainer.predictions(Split::Test)?;
    let unsure = |row: &usize| predictions[*row].uncertainty.total > above;
    let inputs: Vec<usize> = (0..predictions.len()).filter(unsure).take(most).collect();
    if inputs.is_empty() {
        return Err(Error::data(format!("no test row has an uncertainty above {above}; lower --above")).into());
    }
    Ok(explainer.choose_feasible(&Selection { inputs, ..Selection::default() }, Uncertainty::Total)?.0)
}

impl<'a> Stage<'a> {
    /// A stage for these inputs.
    pub fn new(
        explainer: &'a Explainer,
        terms: Terms,
        inputs: Inputs,
        opponent: Option<Opponent>,
        (seed, rounds): (Seed, usize),
        bar: Bar,
    ) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("clue-bench-").tempdir();
        let folder = folder.context("making a folder for the inputs of the other program")?;
        Ok(Self { explainer, terms, seed, rounds, inputs, folder, opponent, bar, _watched: stop::watched() })
    }

    /// Number of inputs at hand.
    pub fn available(&self) -> usize {
        self.inputs.len()
    }

    /// Whether there is another program.
    pub fn is_race(&self) -> bool {
        self.opponent.is_some()
    }

    /// Lets every entrant do the work once a round, so that a busy machine is busy for all of them. The first round does
    /// not count.
    pub fn rounds(&mut self, what: &str, work: &Work, entrants: &[Entrant]) -> Result<Vec<Measured>> {
        let mut all = vec![Measured::default(); entrants.len()];
        let total = ((self.rounds + 1) * entrants.len()) as u64;
        let mut done = 0;
        for round in 0..=self.rounds {
            for (entrant, measured) in entrants.iter().zip(&mut all) {
                self.tell(what, done, total)?;
                let sample = self.run(work, *entrant)?;
                if round > 0 {
                    measured.add(sample);
                }
                done += 1;
            }
        }
        self.bar.finished(what, &format!("{} rounds", self.rounds));
        Ok(all)
    }

    /// Mean costs of a work by the search of few samples, for numbers of steps that rise until the cost is at most `enough`.
    pub fn costs(&mut self, what: &str, work: &Work, steps: &[usize], enough: f64) -> Result<Vec<(usize, f64)>> {
        let mut costs = Vec::new();
        for (done, &steps_now) in steps.iter().enumerate() {
            self.tell(what, done as u64, steps.len() as u64)?;
            let cost = self.run(work, Entrant::Ours(Contender::Search, Some(steps_now)))?.quality.cost;
            costs.push((steps_now, cost));
            if cost <= enough {
                break;
            }
        }
        self.bar.finished(what, "found");
        Ok(costs)
    }

    fn tell(&mut self, what: &str, done: u64, total: u64) -> Result<()> {
        let progress = Progress { what, done, total, loss: f64::NAN, validation: None };
        match self.bar.progress(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled { what: what.into() }.into()),
        }
    }

    /// One measurement.
    pub fn run(&mut self, work: &Work, entrant: Entrant) -> Result<Sample> {
        let explainer = self.explainer;
        match entrant {
            Entrant::Ours(contender, steps) => {
                let search = contender.search(work, &self.terms, steps, explainer.classes())?;
                let inputs = self.first(work);
                measured(|| self.explained(&search, &inputs), |explanations| Quality::of(&explanations))
            }
            Entrant::Predictions => {
                let inputs = self.first(work);
                let samples = cluekit::data::Samples {
                    x: inputs.x().to_vec(),
                    width: inputs.width(),
                    y: cluekit::data::Targets::Unknown(inputs.len()),
                    weights: None,
                };
                let threshold = self.terms.threshold;
                let predictions = || Ok(predict(explainer.predictor(), &samples, explainer.task())?);
                measured(predictions, |predictions| Quality::of_unchanged(&predictions, threshold))
            }
            Entrant::Theirs(steps) => {
                let request = self.clue_request(work, steps)?;
                self.asked(&request)
            }
            Entrant::TheirPredictions => {
                let (rows, width) = (work.inputs, self.inputs.width());
                let inputs = self.inputs_file(work)?;
                let threshold = self.terms.threshold;
                self.asked(&json!({
                    "work": "forward", "inputs": inputs, "rows": rows, "width": width, "threshold": threshold, "repeat": 1
                }))
            }
        }
    }

    fn asked(&mut self, request: &Value) -> Result<Sample> {
        self.opponent.as_mut().context("there is no other program to ask; give --against")?.measure(request)
    }

    fn explained(&self, search: &Search, inputs: &Inputs) -> Result<Vec<Explanation>> {
        Ok(self.explainer.explain(search, inputs, self.seed, &mut Listener)?)
    }

    fn first(&self, work: &Work) -> Inputs {
        self.inputs.select(&(0..work.inputs).collect::<Vec<_>>())
    }

    fn clue_request(&self, work: &Work, steps: usize) -> Result<Value> {
        let search = Contender::Paper.search(work, &self.terms, Some(steps), self.explainer.classes())?;
        let ball = (work.method != cluekit::SearchMethod::Clue).then(|| self.terms.ball.radius());
        Ok(json!({
            "work": "clue",
            "inputs": self.inputs_file(work)?,
            "rows": work.inputs,
            "width": self.inputs.width(),
            "count": work.count,
            "steps": steps,
            "lambda_x": self.terms.lambda_x,
            "lambda_d": search.objective.diversity.map(|term| term.0),
            "delta": ball,
            "starts": self.starts_file(work, &search)?,
            "threshold": self.terms.threshold,
            "seed": self.seed.0,
            "repeat": 1,
        }))
    }

    /// The inputs of a work in a file of their own.
    fn inputs_file(&self, work: &Work) -> Result<PathBuf> {
        self.file(&format!("inputs-{}.f32", work.inputs), || Ok(self.first(work).x().to_vec()))
    }

    /// The codes that our searches start from; none where they are those of the inputs.
    fn starts_file(&self, work: &Work, search: &Search) -> Result<Option<PathBuf>> {
        if work.count == 1 {
            return Ok(None);
        }
        let starts = || {
            // A search that takes no step ends where it starts.
            let still = Search { convergence: Convergence::all_steps(0), ..search.clone() };
            let explanations = self.explained(&still, &self.first(work))?;
            let clues = explanations.into_iter().flat_map(|explanation| explanation.clues);
            Ok(clues.flat_map(|clue| clue.z).collect())
        };
        let name = format!("starts-{}-{}-{}.f32", work.method.name(), work.inputs, work.count);
        self.file(&name, starts).map(Some)
    }

    /// A file of raw little-endian numbers, written when it is first asked for.
    fn file(&self, name: &str, numbers: impl FnOnce() -> Result<Vec<f32>>) -> Result<PathBuf> {
        let path = self.folder.path().join(name);
        if !path.exists() {
            let bytes: Vec<u8> = numbers()?.iter().flat_map(|number| number.to_le_bytes()).collect();
            std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(path)
    }

    /// Asks the other program what it is made of, at the end, and lets it go.
    pub fn farewell(mut self) -> Result<Option<Value>> {
        let Some(mut opponent) = self.opponent.take() else { return Ok(None) };
        let info = opponent.info()?;
        opponent.quit();
        Ok(Some(info))
    }
}
