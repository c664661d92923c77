//! Everything that was found, with what was asked: the document of `clue explain`.

use super::Explainer;
use crate::data::{Constraints, RejectedRow};
use crate::error::{Error, Result};
use crate::explanation::{Clue, Explanation, Label};
use crate::search::Search;
use crate::seed::Seed;
use serde::{Deserialize, Serialize};

/// Version of the layout of the document.
pub const FORMAT: u32 = 1;
/// A clue this near to the surface of the ball lies on it.
const ON_SHELL: f32 = 0.999;

/// Everything that a search or a mapper found, with what it was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExplanationSet {
    /// Version of the document's layout.
    pub format: u32,
    /// Name of the method, or of the mapper.
    pub method: String,
    /// Seed of the search.
    pub seed: Seed,
    /// Every setting of the search.
    #[cfg_attr(feature = "schema", schemars(with = "crate::search::SearchSettings"))]
    pub settings: Search,
    /// Constraints on what a counterfactual may change in a table.
    #[serde(default, skip_serializing_if = "Constraints::is_empty")]
    pub constraints: Constraints,
    /// Results of each radius δ, for a sweep; empty otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<SweepRow>,
    /// Explanations, one for each input, in order.
    pub explanations: Vec<Explanation>,
    /// Rows that could not be searched, with the reason of each; mostly none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedRow>,
}

/// The clues of one radius, over all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SweepRow {
    /// Radius δ of the ball.
    pub delta: f32,
    /// Total uncertainty of the clues.
    pub uncertainty: Extremes,
    /// Input distance d_x of the clues.
    pub distance: Extremes,
    /// Latent distance ρ of the clues.
    pub latent: Extremes,
    /// Share of clues on the surface of the ball, between 0 and 1.
    pub on_shell: f64,
    /// Share of clues that were accepted, between 0 and 1.
    pub accepted: f64,
    /// Mean number of distinct labels among the clues of an input.
    pub labels: f64,
}

/// Least, mean and greatest value among an input's clues, each averaged over inputs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Extremes {
    /// Least value among an input's clues, averaged over inputs.
    pub least: f64,
    /// Mean value over an input's clues, averaged over inputs.
    pub mean: f64,
    /// Greatest value among an input's clues, averaged over inputs.
    pub greatest: f64,
}

impl ExplanationSet {
    /// The document for what was found, with a row for each radius of a sweep.
    pub fn new(
        explainer: &Explainer,
        method: &str,
        search: &Search,
        seed: Seed,
        radii: &[f32],
        explanations: Vec<Explanation>,
    ) -> Self {
        Self {
            format: FORMAT,
            method: method.into(),
            seed,
            settings: Search { accept_by: Some(search.accepted_by()), ..search.clone() },
            constraints: explainer.schema().map(|schema| schema.constraints.clone()).unwrap_or_default(),
            sweep: radii.iter().map(|&delta| SweepRow::of(delta, &explanations)).collect(),
            explanations,
            rejected: vec![],
        }
    }

    /// The same beside rows that could not be searched.
    #[must_use]
    pub fn beside(self, rejected: Vec<RejectedRow>) -> Self {
        Self { rejected, ..self }
    }

    /// Reads a set of explanations from JSON.
    ///
    /// ```
    /// use cluekit::ExplanationSet;
    ///
    /// let text = r#"{"format": 1, "method": "clue", "seed": 7, "settings": {"count": 1}, "explanations": []}"#;
    /// let set = ExplanationSet::from_json(text)?;
    /// assert_eq!((set.method.as_str(), set.seed.0, set.settings.count), ("clue", 7, 1));
    /// assert!(set.is_complete()); // there is no input without an accepted clue
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Format {
            format: Option<u32>,
        }
        let unreadable = |problem: serde_json::Error| {
            Error::data(format!("this is no document of explanations: {problem}; make it again"))
        };
        match serde_json::from_str::<Format>(text).map_err(unreadable)?.format {
            Some(FORMAT) => {}
            Some(other) => {
                let problem = format!("the document has format {other}, this version reads {FORMAT}; make it again");
                return Err(Error::data(problem));
            }
            None => {
                return Err(Error::data("this is no document of explanations: it says no format; make it again"));
            }
        }
        let mut set: Self = serde_json::from_str(text).map_err(unreadable)?;
        set.explanations.iter_mut().for_each(Explanation::settle_labels);
        Ok(set)
    }

    /// Whether every input has an accepted clue, and no row was left out.
    pub fn is_complete(&self) -> bool {
        self.rejected.is_empty() && self.explanations.iter().all(|explanation| explanation.accepted().next().is_some())
    }
}

impl Explanation {
    /// Of a regression, whose probabilities are empty, a label that another program wrote as a whole number is a value.
    fn settle_labels(&mut self) {
        if !self.input.probabilities.is_empty() {
            return;
        }
        let value = |label: &mut Label| {
            if let Label::Class(number) = *label {
                *label = Label::Value(number as f32);
            }
        };
        value(&mut self.input.label);
        value(&mut self.reconstruction.label);
        self.input.target.iter_mut().for_each(value);
        self.clues.iter_mut().for_each(|clue| value(&mut clue.label));
    }
}

impl SweepRow {
    /// The figures of the clues that were searched within the radius `delta`.
    pub fn of(delta: f32, explanations: &[Explanation]) -> Self {
        let at_delta = |clue: &&Clue| clue.delta.is_some_and(|d| (d - delta).abs() <= f32::EPSILON * delta);
        let sets: Vec<Vec<&Clue>> = explanations.iter().map(|e| e.clues.iter().filter(at_delta).collect()).collect();
        let share = |holds: &dyn Fn(&Clue) -> bool| {
            let all: Vec<&&Clue> = sets.iter().flatten().collect();
            all.iter().filter(|clue| holds(clue)).count() as f64 / all.len().max(1) as f64
        };
        let labels = |set: &Vec<&Clue>| {
            let mut labels: Vec<String> = set.iter().map(|clue| format!("{:?}", clue.label)).collect();
            labels.sort();
            labels.dedup();
            labels.len() as f64
        };
        Self {
            delta,
            uncertainty: Extremes::of(&sets, |clue| clue.uncertainty.total),
            distance: Extremes::of(&sets, |clue| clue.distance.input),
            latent: Extremes::of(&sets, |clue| clue.distance.latent),
            on_shell: share(&|clue| clue.distance.latent >= ON_SHELL * delta),
            accepted: share(&|clue| clue.accepted),
            labels: sets.iter().map(labels).sum::<f64>() / sets.len().max(1) as f64,
        }
    }
}

impl Extremes {
    fn of(sets: &[Vec<&Clue>], value: impl Fn(&Clue) -> f32) -> Self {
        let inputs = sets.len().max(1) as f64;
        let over = |of_set: &dyn Fn(&mut dyn Iterator<Item = f64>) -> f64| {
            sets.iter().map(|set| of_set(&mut set.iter().map(|clue| f64::from(value(clue))))).sum::<f64>() / inputs
        };
        Self {
            least: over(&|values| values.fold(f64::INFINITY, f64::min)),
            mean: over(&|values| {
                let (sum, count) = values.fold((0.0, 0), |(sum, count), v| (sum + v, count + 1));
                sum / f64::from(count.max(1))
            }),
            greatest: over(&|values| values.fold(f64::NEG_INFINITY, f64::max)),
        }
    }

    /// The least, the mean and the greatest value, in this order.
    pub fn three(self) -> [f64; 3] {
        [self.least, self.mean, self.greatest]
    }
}
