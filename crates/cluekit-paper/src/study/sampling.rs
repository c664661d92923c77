//! Whether descent is worth its time: clues against the random starts that they come from. [Ley2022, App. B]

use super::settings::{settings, usual_lambda};
use crate::curves::{Curve, panel};
use crate::finding::{Check, Finding, Table, Verdict};
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::{figure, spread_over_inputs};
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

/// Something about samples, and about where descent from them ends.
type Compared = fn(&Both) -> [f64; 2];

/// One radius: without descent and with it.
struct Both {
    delta: f32,
    sets: [Arc<Vec<Explanation>>; 2],
}

impl Both {
    fn uncertainty(&self) -> [[f64; 3]; 2] {
        self.sets.each_ref().map(|found| spread_over_inputs(found, |clue| clue.uncertainty.total))
    }

    fn least_uncertainty(&self) -> [f64; 2] {
        self.uncertainty().map(|[least, ..]| least)
    }

    fn mean_uncertainty(&self) -> [f64; 2] {
        self.uncertainty().map(|[_, mean, _]| mean)
    }

    /// H + λ_x d, with the usual λ_x whatever the search has.
    fn cost(&self) -> [f64; 2] {
        let cost = |clue: &Clue| clue.uncertainty.total + usual_lambda() * clue.distance.input;
        self.sets.each_ref().map(|found| spread_over_inputs(found, cost)[1])
    }

    fn distance(&self) -> [[f64; 3]; 2] {
        self.sets.each_ref().map(|found| spread_over_inputs(found, |clue| clue.distance.input))
    }
}

impl Sampling {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<Finding> {
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
        let checks = [
            ("on average descent leaves at most half of the uncertainty", FAR, Both::mean_uncertainty as Compared),
            ("and so does the most certain clue of each input", FAR, Both::least_uncertainty),
            ("the mean cost H + 0.03 d is lower", 1.0, Both::cost),
        ]
        .map(|(says, factor, of)| {
            let better = all.iter().filter(|both| of(both)[1] < factor * of(both)[0]).count();
            let [sampled, descended] = of(all.last().expect("there is a radius"));
            Check::new(
                says,
                Verdict::of_share(better, all.len()),
                format!(
                    "at {better} of {} radii; at the largest {} against {} of samples",
                    all.len(),
                    figure(descended),
                    figure(sampled)
                ),
            )
        });
        let picture = if let [only] = all.as_slice() { points(only) } else { self.means(&all) };
        Ok(Finding { seeds: vec![self.seed], ..Finding::default() }
            .checks(checks)
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
