//! Every diversity metric of the same sets of clues: against δ, against their number, or of one set. [Ley2022, Table 1, App. C]

use super::settings::settings;
use crate::curves::{Curve, panel};
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::{falls, figure, mean, rises};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::diversity::{Diversity, Set, Summary, coverage_limit};
use cluekit::error::Result;
use cluekit::explanation::{Clue, Explanation};
use cluekit::search::{DiversityTerm, Weighted};
use cluekit::seed::Seed;
use cluekit_plot::{Axis, Grid};
use serde::{Deserialize, Serialize};

settings! {
    /// Sets, and what is varied.
    pub struct Metrics: Clues {
        /// The radii; one if not δ is varied.
        pub deltas: Vec<f32>,
        /// What is varied.
        pub against: Against,
        /// λ_D of the second set, where sets are compared.
        #[serde(default)]
        pub diversity: f32,
    }
}

/// What is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// The radius.
    Delta,
    /// How many of the clues are looked at.
    Count,
    /// δ-CLUE against ∇-CLUE.
    Method,
}

/// How much of itself a quantity on a plateau may still change.
const PLATEAU: f64 = 0.05;

/// A metric in a space, by name.
pub(super) struct Measure {
    pub name: &'static str,
    pub metric: Diversity,
    pub of: fn(&Summary) -> f64,
}

/// Every measure of a set.
pub(super) const MEASURES: [Measure; 11] = [
    Measure { name: "DPP in x", metric: Diversity::Dpp, of: |s| s.dpp.x },
    Measure { name: "DPP in z", metric: Diversity::Dpp, of: |s| s.dpp.z },
    Measure { name: "log DPP in x", metric: Diversity::LogDpp, of: |s| s.log_dpp.x },
    Measure { name: "log DPP in z", metric: Diversity::LogDpp, of: |s| s.log_dpp.z },
    Measure { name: "APD in x", metric: Diversity::AveragePairwiseDistance, of: |s| s.apd.x },
    Measure { name: "APD in z", metric: Diversity::AveragePairwiseDistance, of: |s| s.apd.z },
    Measure { name: "coverage in x", metric: Diversity::Coverage, of: |s| s.coverage.x },
    Measure { name: "coverage in z", metric: Diversity::Coverage, of: |s| s.coverage.z },
    Measure {
        name: "prediction coverage",
        metric: Diversity::PredictionCoverage,
        of: |s| s.prediction_coverage.unwrap_or(f64::NAN),
    },
    Measure {
        name: "distinct labels",
        metric: Diversity::DistinctLabels,
        of: |s| s.distinct_labels.unwrap_or(f64::NAN),
    },
    Measure { name: "label entropy", metric: Diversity::LabelEntropy, of: |s| s.label_entropy.unwrap_or(f64::NAN) },
];

/// Every measure of the sets of some inputs, in the mean.
pub(super) fn means(summaries: &[Summary]) -> Vec<f64> {
    MEASURES.iter().map(|measure| mean(summaries.iter().map(measure.of))).collect()
}

/// Of all clues.
pub(super) fn of_all(found: &[Explanation]) -> Vec<f64> {
    means(&found.iter().map(|e| e.diversity.clone()).collect::<Vec<_>>())
}

/// Of the first clues of one input.
pub(super) fn of_first(e: &Explanation, count: usize) -> Summary {
    let stack = |of: fn(&Clue) -> &[f32]| e.clues[..count].iter().flat_map(of).copied().collect::<Vec<f32>>();
    let (x, z, y) = (stack(|c| &c.x), stack(|c| &c.z), stack(|c| &c.probabilities));
    let classes = e.input.probabilities.len();
    Summary::of(
        &Set { points: &x, width: e.input.x.len(), original: Some(&e.input.x) },
        &Set { points: &z, width: e.input.z.len(), original: Some(&e.input.z) },
        (classes > 0).then_some(Set { points: &y, width: classes, original: None }).as_ref(),
    )
}

impl Metrics {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let mut sets = Vec::new();
        for &delta in &self.deltas {
            let search = delta_clue(delta, self.count, 0.0, self.steps)?;
            sets.push(lab.explain(&stage, &search, stage.top(self.inputs), Seed(self.seed))?);
        }
        let first = &sets[0];
        let (x, label, columns): (Vec<f64>, &str, Vec<Vec<f64>>) = match self.against {
            Against::Delta => {
                let x = self.deltas.iter().map(|&delta| f64::from(delta)).collect();
                (x, "δ", sets.iter().map(|found| of_all(found)).collect())
            }
            Against::Count => {
                let counts: Vec<usize> = (2..=self.count).collect();
                let at = |&count: &usize| means(&first.iter().map(|e| of_first(e, count)).collect::<Vec<_>>());
                (counts.iter().map(|&n| n as f64).collect(), "number of clues k", counts.iter().map(at).collect())
            }
            Against::Method => {
                let mut search = delta_clue(self.deltas[0], self.count, 0.0, self.steps)?;
                search.objective.diversity = Some(Weighted(self.diversity, DiversityTerm::default()));
                let apart = lab.explain(&stage, &search, stage.top(self.inputs), Seed(self.seed))?;
                (vec![0.0, f64::from(self.diversity)], "λ_D", vec![of_all(first), of_all(&apart)])
            }
        };
        let row = |measure: usize| columns.iter().map(|column| column[measure]).collect::<Vec<f64>>();
        let mut headings = vec![label];
        headings.extend(MEASURES.iter().map(|measure| measure.name));
        let mut table = Table::new("metrics", &headings);
        for (x, column) in x.iter().zip(&columns) {
            table.push(std::iter::once(*x).chain(column.iter().copied()).map(Into::into).collect());
        }
        // Pixels lie between 0 and 1; the features of a table may take any value.
        let pixels = stage.explainer.schema().and_then(|schema| schema.image.as_ref()).map(|_| stage.test().width);
        let limit = pixels.map_or(f64::INFINITY, |width| coverage_limit(&vec![0.0; width], &vec![1.0; width]));
        let finding = StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(self.against.checks(&x, &columns, stage.classes().len(), limit))
            .table(table);
        if self.against == Against::Method {
            return Ok(finding);
        }
        let plot = |(place, measure): (usize, &Measure)| {
            panel(measure.name, Axis::new(label), Axis::new(""), vec![Curve::new("", &x, row(place))])
                .sized(330.0, 250.0)
        };
        let title = format!("Diversity of the clues of {} uncertain inputs", self.inputs);
        let plots = MEASURES.iter().enumerate().map(plot).collect();
        Ok(finding.picture("figure", Grid::new(title, 3, plots).to_svg()))
    }
}

impl Against {
    /// Of every measure of the sets at each `x`. `limit` is the greatest coverage that inputs can have.
    fn checks(self, x: &[f64], columns: &[Vec<f64>], classes: usize, limit: f64) -> Vec<Check> {
        let row = |measure: usize| columns.iter().map(|column| column[measure]).collect::<Vec<f64>>();
        let place = |name: &str| MEASURES.iter().position(|measure| measure.name == name).expect("a known measure");
        match self {
            Self::Delta => MEASURES
                .iter()
                .enumerate()
                .map(|(i, m)| rises(format!("{} rises with δ", m.name), x, &row(i)))
                .collect(),
            Self::Count => {
                let grow = ["coverage in x", "coverage in z", "prediction coverage", "distinct labels"];
                let shrink = ["DPP in x", "DPP in z"];
                let up = grow.map(|name| rises(format!("{name} grows with k (it cannot fall)"), x, &row(place(name))));
                let down =
                    shrink.map(|name| falls(format!("{name} shrinks with k (it cannot grow)"), x, &row(place(name))));
                let flat = ["APD in x", "APD in z", "label entropy"]
                    .map(|name| falls(format!("{name} shrinks with k"), x, &row(place(name))));
                let entropy = row(place("label entropy"));
                let [first, half, last] = [0, entropy.len() / 2, entropy.len() - 1].map(|place| entropy[place]);
                let plateau = Check::that(
                    "label entropy rises, and hardly changes in the second half",
                    last > first && (half - last).abs() <= PLATEAU * last,
                    format!("{} → {} → {}", figure(first), figure(half), figure(last)),
                );
                up.into_iter().chain(down).chain(flat).chain([plateau]).collect()
            }
            Self::Method => {
                let bounded = |(i, measure): (usize, &Measure)| {
                    let (least, greatest) = bounds(measure, classes, limit);
                    let values = row(i);
                    let inside = values.iter().all(|v| (least - 1e-9..=greatest + 1e-9).contains(v));
                    let says = format!("{} lies between {} and {}", measure.name, bound(least), bound(greatest));
                    Check::that(
                        says,
                        inside,
                        format!("{} for δ-CLUE, {} for ∇-CLUE", figure(values[0]), figure(values[1])),
                    )
                };
                let others: Vec<usize> = (0..MEASURES.len())
                    .filter(|&i| !MEASURES[i].name.contains("log") && i != place("DPP in z"))
                    .collect();
                let more = others.iter().filter(|&&i| row(i)[1] > row(i)[0]).count();
                let mut checks: Vec<Check> = MEASURES.iter().enumerate().map(bounded).collect();
                checks.push(Check::new(
                    "held apart by one metric, clues are more diverse by the others too",
                    Verdict::of_share(more, others.len()),
                    format!("by {more} of {}", others.len()),
                ));
                checks
            }
        }
    }
}

/// What sets of two or more clues keep to: of several classes one is at least as probable as their share, and coverage
/// ends where inputs do.
fn bounds(measure: &Measure, classes: usize, limit: f64) -> (f64, f64) {
    match (measure.metric, measure.name) {
        (Diversity::PredictionCoverage, _) => (1.0 / classes as f64, 1.0),
        (_, "coverage in x") => (0.0, limit),
        (metric, _) => metric.bounds(classes),
    }
}

fn bound(value: f64) -> String {
    if value.is_finite() {
        figure(value)
    } else if value > 0.0 {
        "∞".into()
    } else {
        "−∞".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    /// Sets with the same value by every measure.
    fn columns(values: &[f64]) -> Vec<Vec<f64>> {
        values.iter().map(|&value| vec![value; MEASURES.len()]).collect()
    }

    #[test]
    fn every_measure_rises_with_the_radius() {
        let judged =
            |values: &[f64]| Check::verdicts(Against::Delta.checks(&[1.0, 2.0, 3.0], &columns(values), 10, 1.0));
        assert_eq!(judged(&[0.1, 0.2, 0.3]), [Held; 11]);
        assert_eq!(judged(&[0.1, 0.3, 0.2]), [HeldPartly; 11]);
        assert_eq!(judged(&[0.3, 0.2, 0.1]), [DidNotHold; 11]);
    }

    #[test]
    fn some_measures_grow_with_the_number_of_clues_and_some_shrink() {
        let judged = |values: &[f64; 4]| {
            Check::verdicts(Against::Count.checks(&[2.0, 3.0, 4.0, 5.0], &columns(values), 10, 1.0))
        };
        // Four measures that grow, five that shrink, and the plateau of the label entropy.
        let (up, down) = (judged(&[0.1, 0.2, 0.39, 0.4]), judged(&[0.4, 0.39, 0.2, 0.1]));
        assert_eq!(up, [vec![Held; 4], vec![DidNotHold; 5], vec![Held]].concat());
        assert_eq!(down, [vec![DidNotHold; 4], vec![Held; 5], vec![DidNotHold]].concat());
        assert_eq!(judged(&[0.1, 0.2, 0.3, 0.4])[9], DidNotHold, "it still changes in the second half");
    }

    #[test]
    fn measures_keep_to_their_bounds_and_clues_are_held_apart() {
        let log = |measure: &Measure, value: f64| if measure.name.starts_with("log") { value.ln() } else { value };
        let set = |value: f64| MEASURES.iter().map(|measure| log(measure, value)).collect::<Vec<f64>>();
        let judged = |sets: [Vec<f64>; 2]| Check::verdicts(Against::Method.checks(&[0.0, 1.0], &sets, 2, 1.0));
        // Of two classes, each clue is at least half sure of one, and one of two labels is there.
        assert_eq!(judged([set(0.5), set(0.6)]), [Held; 12]);
        let worse = judged([set(0.6), set(0.5)]);
        assert_eq!(worse[11], DidNotHold);
        assert_eq!(worse[..11], [Held; 11], "the bounds say nothing of which is larger");
        let outside = judged([vec![-0.5; 11], vec![f64::NAN; 11]]);
        assert_eq!(outside, [DidNotHold; 12], "neither what is below 0 nor what is no number");
    }
}
