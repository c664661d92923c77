//! How much depends on the seed of the models: trained anew, searched anew, compared anew. [Ley2022, "Future Work"]

use super::glam::{BASELINES, Outcome};
use super::seeds::Series;
use super::settings::{settings, usual_lambda};
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::{figure, over_inputs, spread_over_inputs};
use crate::study_result::{Check, StudyResult, Verdict};
use cluekit::error::Result;
use cluekit::search::{DiversityTerm, Weighted};
use cluekit::seed::Seed;

settings! {
    /// Models that differ in their seed alone.
    pub struct ModelSeeds: Sets of Vec<String> {
        /// δ = r.
        pub delta: f32,
        /// λ_D of ∇-CLUE.
        pub diversity: f32,
        /// Methods that are compared.
        pub methods: Vec<String>,
        /// Test inputs above this uncertainty, for the comparison.
        pub above: f32,
        /// λ_x of the cost.
        #[serde(default = "usual_lambda")]
        pub lambda_x: f32,
    }
}

impl ModelSeeds {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let mut rows: Vec<Vec<(String, String, f64)>> = Vec::new();
        let mut seeds = Vec::new();
        for name in &self.models {
            let stage = lab.stage(name)?;
            seeds.push(stage.explainer.training_seed().0);
            let mut row = Vec::new();
            for (method, weight) in [("δ-CLUE", 0.0), ("∇-CLUE", self.diversity)] {
                let mut search = delta_clue(self.delta, self.count, 0.0, self.steps)?;
                if weight > 0.0 {
                    search.objective.diversity = Some(Weighted(weight, DiversityTerm::default()));
                }
                let found = lab.explain(&stage, &search, stage.top(self.inputs), Seed(0))?;
                let apd = over_inputs(&found, |e| e.diversity.apd.z);
                row.push((method.into(), "APD in z".to_owned(), apd));
                row.push((
                    method.into(),
                    "mean H".to_owned(),
                    spread_over_inputs(&found, |clue| clue.uncertainty.total)[1],
                ));
            }
            let entries = lab.contest(&stage, &self.methods, self.above, self.lambda_x)?;
            for entry in entries.iter() {
                let outcome = Outcome::of(entry, &stage, stage.above(self.above), self.lambda_x, &|_| true);
                row.push((entry.method.clone(), "cost".to_owned(), outcome.means()[2]));
            }
            rows.push(row);
        }
        let series: Vec<Series> = (0..rows[0].len())
            .map(|place| {
                let (method, quantity, _) = rows[0][place].clone();
                Series { method, quantity, values: rows.iter().map(|row| row[place].2).collect() }
            })
            .collect();
        Ok(StudyResult { seeds, ..StudyResult::default() }
            .checks(checks(&series))
            .table(Series::table(&series))
            .picture("figure", Series::picture("Every training, and the 95 % interval of the mean", &series)))
    }
}

fn checks(series: &[Series]) -> Vec<Check> {
    let of = |method: &str, quantity: &str| series.iter().find(|one| one.method == method && one.quantity == quantity);
    let ahead = |a: Option<&Series>, b: Option<&Series>, less: bool| {
        let pairs: Vec<(f64, f64)> =
            a.into_iter().zip(b).flat_map(|(a, b)| a.values.iter().copied().zip(b.values.iter().copied())).collect();
        (pairs.iter().filter(|(a, b)| if less { a < b } else { a > b }).count(), pairs.len())
    };
    let (diverse, all) = ahead(of("∇-CLUE", "APD in z"), of("δ-CLUE", "APD in z"), false);
    let mut checks = vec![Check::new(
        "∇-CLUE is more diverse than δ-CLUE, whatever the seed of the models",
        Verdict::of_share(diverse, all),
        format!("for {diverse} of {all} trainings"),
    )];
    for baseline in BASELINES {
        if let (Some(glam), Some(other)) = (of("glam-3", "cost"), of(baseline, "cost")) {
            let (cheaper, all) = ahead(Some(glam), Some(other), true);
            let (a, b) = (glam.interval(), other.interval());
            checks.push(Check::new(
                format!("GLAM 3 costs less than {baseline}, whatever the seed of the models"),
                Verdict::of_share(cheaper, all),
                format!(
                    "for {cheaper} of {all} trainings; cost {} ({} to {}) against {} ({} to {})",
                    figure(a.mean),
                    figure(a.low),
                    figure(a.high),
                    figure(b.mean),
                    figure(b.low),
                    figure(b.high)
                ),
            ));
        }
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    fn judged(nabla: [f64; 2], glam: [f64; 2]) -> Vec<Verdict> {
        let series = |method: &str, quantity: &str, values: [f64; 2]| Series {
            method: method.into(),
            quantity: quantity.into(),
            values: values.to_vec(),
        };
        let mut all = vec![
            series("δ-CLUE", "APD in z", [1.0, 2.0]),
            series("∇-CLUE", "APD in z", nabla),
            series("glam-3", "cost", glam),
        ];
        all.extend(BASELINES.map(|name| series(name, "cost", [1.0, 2.0])));
        Check::verdicts(checks(&all))
    }

    #[test]
    fn every_training_has_the_same_order() {
        assert_eq!(judged([1.5, 2.5], [0.5, 1.5]), [Held; 5]);
        assert_eq!(judged([1.5, 1.5], [0.5, 2.5]), [HeldPartly; 5], "one of two trainings");
        assert_eq!(judged([0.5, 1.5], [1.5, 2.5]), [DidNotHold; 5]);
    }

    #[test]
    fn a_baseline_that_was_not_compared_has_no_check() {
        assert_eq!(Check::verdicts(checks(&[])), [DidNotHold]);
    }
}
