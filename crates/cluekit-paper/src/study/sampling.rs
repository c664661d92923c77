//! Whether descent is worth its time: clues against the random starts that they come from. [Ley2022, App. B]

use super::settings::{settings, usual_lambda};
use crate::curves::{Curve, panel};
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::{figure, spread_over_inputs};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::error::Result;
use cluekit::explanation::{Clue, Explanation};
use cluekit::seed::Seed;
use cluekit_plot::{Axis, Grid, Plot, Scatter};
use std::sync::Arc;

settings! {
    /// The radii.
    pub struct Sampling: Clues {
        /// One radius shows every sample, several show means.
        pub deltas: Vec<f32>,
        /// Weight of distance.
        #[serde(default)]
        pub lambda_x: f32,
    }
}

/// Descent is far better than sampling if it leaves less than this share of the uncertainty.
const FAR: f64 = 0.5;

/// One radius in numbers: each of samples, and of where descent from them ends.
struct Row {
    mean_uncertainty: [f64; 2],
    least_uncertainty: [f64; 2],
    /// H + λ_x d, with the usual λ_x whatever the search has.
    cost: [f64; 2],
}

/// One radius: without descent and with it.
struct Both {
    delta: f32,
    sets: [Arc<Vec<Explanation>>; 2],
}

impl Both {
    fn uncertainty(&self) -> [[f64; 3]; 2] {
        self.sets.each_ref().map(|found| spread_over_inputs(found, |clue| clue.uncertainty.total))
    }

    fn row(&self) -> Row {
        let cost = |clue: &Clue| clue.uncertainty.total + usual_lambda() * clue.distance.input;
        Row {
            mean_uncertainty: self.uncertainty().map(|[_, mean, _]| mean),
            least_uncertainty: self.uncertainty().map(|[least, ..]| least),
            cost: self.sets.each_ref().map(|found| spread_over_inputs(found, cost)[1]),
        }
    }

    fn distance(&self) -> [[f64; 3]; 2] {
        self.sets.each_ref().map(|found| spread_over_inputs(found, |clue| clue.distance.input))
    }
}

impl Sampling {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let mut all = Vec::new();
        for &delta in &self.deltas {
            let mut search = |steps: usize| {
                let search = delta_clue(delta, self.count, self.lambda_x, steps)?;
                lab.explain(&stage, &search, stage.top(self.inputs), Seed(self.seed))
            };
            all.push(Both { delta, sets: [search(0)?, search(self.steps)?] });
        }
        let mut table = Table::new(
            "sampling",
            &[
                "delta",
                "H least, samples",
                "H mean, samples",
                "H least, descent",
                "H mean, descent",
                "d mean, samples",
                "d mean, descent",
            ],
        );
        for both in &all {
            let [[a, b, _], [c, d, _]] = both.uncertainty();
            let [[_, e, _], [_, f, _]] = both.distance();
            table.push([vec![both.delta.into()], [a, b, c, d, e, f].map(Into::into).to_vec()].concat());
        }
        let picture = if let [only] = all.as_slice() { points(only) } else { self.means(&all) };
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(checks(&all.iter().map(Both::row).collect::<Vec<_>>()))
            .table(table)
            .picture("figure", picture))
    }

    fn means(&self, all: &[Both]) -> String {
        let x: Vec<f64> = all.iter().map(|both| f64::from(both.delta)).collect();
        let curves = |of: fn(&Both) -> [[f64; 3]; 2]| {
            let curve = |place: usize, name: &str| Curve::new(name, &x, all.iter().map(|both| of(both)[place][1]));
            vec![curve(1, "descent"), curve(0, "sampling")]
        };
        let panels = vec![
            panel("Mean uncertainty", Axis::new("δ"), Axis::new("H (nats)"), curves(Both::uncertainty)),
            panel("Mean distance", Axis::new("δ"), Axis::new("d"), curves(Both::distance)),
        ];
        Grid::new("Descent against sampling", 2, panels).to_svg()
    }
}

/// Of radii, the largest last.
fn checks(rows: &[Row]) -> [Check; 3] {
    let check = |says: &str, factor: f64, of: fn(&Row) -> [f64; 2]| {
        let better = rows.iter().filter(|row| of(row)[1] < factor * of(row)[0]).count();
        let [sampled, descended] = of(rows.last().expect("there is a radius"));
        Check::new(
            says,
            Verdict::of_share(better, rows.len()),
            format!(
                "at {better} of {} radii; at the largest {} against {} of samples",
                rows.len(),
                figure(descended),
                figure(sampled)
            ),
        )
    };
    [
        check("on average descent leaves at most half of the uncertainty", FAR, |row| row.mean_uncertainty),
        check("and so does the most certain clue of each input", FAR, |row| row.least_uncertainty),
        check("the mean cost H + 0.03 d is lower", 1.0, |row| row.cost),
    ]
}

fn points(both: &Both) -> String {
    let layer = |place: usize, name: &str| {
        let clues = both.sets[place].iter().flat_map(|e| &e.clues);
        let points = clues.map(|clue| (f64::from(clue.distance.input), f64::from(clue.uncertainty.total))).collect();
        Scatter { points, radius: 2.6, opacity: 0.6, name: Some(name.into()), ..Scatter::default() }
    };
    Plot::new(
        format!("Descent against sampling at δ = {}", both.delta),
        Axis::new("distance d"),
        Axis::new("uncertainty H (nats)"),
    )
    .captioned("Every point is a clue of one of the inputs: where descent ended, and where it began.")
    .with(layer(1, "descent"))
    .with(layer(0, "sampling"))
    .sized(680.0, 440.0)
    .to_svg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    #[test]
    fn descent_leaves_at_most_half_and_costs_less() {
        let far = || Row { mean_uncertainty: [1.0, 0.4], least_uncertainty: [0.8, 0.3], cost: [1.5, 1.4] };
        let near = || Row { mean_uncertainty: [1.0, 0.6], least_uncertainty: [0.8, 0.5], cost: [1.5, 1.5] };
        assert_eq!(Check::verdicts(checks(&[far(), far()])), [Held; 3]);
        assert_eq!(Check::verdicts(checks(&[near(), far()])), [HeldPartly; 3]);
        assert_eq!(Check::verdicts(checks(&[near(), near()])), [DidNotHold; 3]);
        assert_eq!(
            checks(&[near(), far()])[0].figures,
            "at 1 of 2 radii; at the largest 0.400 against 1.00 of samples"
        );
    }
}
