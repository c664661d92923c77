//! Why the ball is kept at every step and not only at the end. [Ley2022, App. B, "Constrained vs Unconstrained Search"]

use super::plane::{View, circle, ground, origin, panel, ways};
use super::settings::settings;
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::{figure, mean, over_inputs, percent};
use crate::study_result::{Check, StudyResult, Table};
use cluekit::error::Result;
use cluekit::explanation::Explanation;
use cluekit::search::{Delta, LatentBall, Search, Starts};
use cluekit::seed::Seed;
use cluekit_plot::Grid;

settings! {
    /// The radius, in models with two latent dimensions.
    pub struct Constrained: Clues {
        /// The radius that is shown.
        pub delta: f32,
    }
}

/// The share of a search's clues that lies in the ball, and the mean uncertainty of those.
struct Outcome {
    inside: f64,
    uncertainty: f64,
}

impl Constrained {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let rows = stage.top(self.inputs).to_vec();
        let bounded = Search { traced: true, ..delta_clue(self.delta, self.count, 0.0, self.steps)? };
        let free = Search {
            delta: Delta::Fixed(LatentBall::UNBOUNDED),
            starts: Starts { radius: Some(self.delta), ..Starts::default() },
            ..bounded.clone()
        };
        let sets = [
            lab.explain(&stage, &bounded, &rows, Seed(self.seed))?,
            lab.explain(&stage, &free, &rows, Seed(self.seed))?,
        ];
        let inside = |found: &[Explanation]| {
            over_inputs(found, |e| {
                e.clues.iter().filter(|clue| clue.distance.latent <= self.delta * 1.0001).count() as f64
                    / e.clues.len() as f64
            })
        };
        // What a user gets who rejects what lies outside.
        let kept = |found: &[Explanation]| {
            mean(
                found
                    .iter()
                    .flat_map(|e| &e.clues)
                    .filter(|c| c.distance.latent <= self.delta * 1.0001)
                    .map(|c| f64::from(c.uncertainty.total)),
            )
        };
        let outcome = |found: &[Explanation]| Outcome { inside: inside(found), uncertainty: kept(found) };
        let [bounded, free] = sets.each_ref().map(|found| outcome(found));
        let mut table = Table::new("searches", &["search", "inside the ball", "H of what lies inside"]);
        for (name, outcome) in [("constrained", &bounded), ("unconstrained", &free)] {
            table.push(vec![name.into(), outcome.inside.into(), outcome.uncertainty.into()]);
        }
        let z0 = &sets[0][0].input.z;
        let ground = ground(&stage, View::around(z0, 2.2 * f64::from(self.delta)))?;
        let mut panels = Vec::new();
        for (title, found) in ["Constrained at every step", "Unconstrained"].into_iter().zip(&sets) {
            let shown = found[0].clues.len().min(20);
            let plot = ways(panel(title, &ground), &found[0].clues[..shown], "clues");
            panels.push(plot.with(circle(z0, self.delta)).with(origin(z0)));
        }
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(checks(&bounded, &free))
            .table(table)
            .picture(
                "figure",
                Grid::new(format!("Searches in a latent plane, δ = {}", self.delta), 2, panels).to_svg(),
            ))
    }
}

fn checks(bounded: &Outcome, free: &Outcome) -> Vec<Check> {
    vec![
        Check::that(
            "without the constraint more solutions leave the ball than stay",
            free.inside < 0.5,
            format!("{} stay inside", percent(free.inside)),
        ),
        Check::that(
            "with it none has to be rejected (by construction)",
            bounded.inside > 0.9999,
            percent(bounded.inside),
        ),
        Check::that(
            "what stays inside is no worse",
            // Where everything has left the ball, anything inside is better.
            free.uncertainty.is_nan() || bounded.uncertainty <= free.uncertainty + 0.02,
            format!(
                "mean H inside {} constrained, {} unconstrained",
                figure(bounded.uncertainty),
                figure(free.uncertainty)
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_result::Verdict::{DidNotHold, Held};

    #[test]
    fn most_leave_without_the_ball_and_nobody_with_it() {
        let judged = |[inside, h]: [f64; 2], [free_inside, free_h]: [f64; 2]| {
            let bounded = Outcome { inside, uncertainty: h };
            Check::verdicts(checks(&bounded, &Outcome { inside: free_inside, uncertainty: free_h }))
        };
        assert_eq!(judged([1.0, 0.5], [0.3, 0.5]), [Held, Held, Held]);
        assert_eq!(judged([1.0, 0.5], [0.0, f64::NAN]), [Held, Held, Held], "everything has left");
        assert_eq!(judged([0.9, 0.6], [0.7, 0.5]), [DidNotHold, DidNotHold, DidNotHold]);
    }
}
