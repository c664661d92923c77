//! ∇-CLUE one candidate after another, in a latent plane. [Ley2022, App. D, "Sequential"]

use super::plane::{View, circle, dots, land, origin, panel, point, ways};
use super::settings::settings;
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::figure;
use crate::study_result::{Check, StudyResult, Table};
use cluekit::diversity::Set;
use cluekit::error::Result;
use cluekit::search::{DiversityTerm, Order, Weighted};
use cluekit::seed::Seed;
use cluekit_plot::{Grid, Plot, palette};

settings! {
    /// The input and the ball, in models with two latent dimensions.
    pub struct Sequential2d: OneInput {}
}

impl Sequential2d {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let rank = self.rank.min(stage.ranked.len() - 1);
        let rows = &stage.ranked[rank..=rank];
        let alone = delta_clue(self.delta, self.count, 0.0, self.steps)?;
        let mut search = alone.clone();
        search.objective.diversity = Some(Weighted(self.diversity, DiversityTerm::default()));
        search.order = Order::Sequential;
        search.traced = true;
        let found = lab.explain(&stage, &search, rows, Seed(self.seed))?;
        let plain = lab.explain(&stage, &alone, rows, Seed(self.seed))?;
        let z0 = &found[0].input.z;
        let land = land(&stage, View::around(z0, 1.2 * f64::from(self.delta)))?;
        let step = |candidate: usize| -> Result<Plot> {
            let before: Vec<f32> = found[0].clues[..candidate].iter().flat_map(|clue| clue.z.clone()).collect();
            // What this candidate descends: the others stand on hills.
            let hills = |z: &[f32]| {
                let points = [&before, z].concat();
                let set = Set { points: &points, width: z.len(), original: Some(z0) };
                -f64::from(self.diversity) * DiversityTerm::default().metric.of(&set)
            };
            let plot = ways(
                panel(&format!("Candidate {}", candidate + 1), &land.map("H − λ_D D", hills)?),
                &found[0].clues[candidate..=candidate],
                "its clue",
            );
            let before = before.chunks_exact(2).map(point).collect();
            Ok(plot.with(dots(before, palette(4), "found before")).with(circle(z0, self.delta)).with(origin(z0)))
        };
        let panels = (0..self.count).map(step).collect::<Result<Vec<_>>>()?;
        let mut table = Table::new("candidates", &["candidate", "z1", "z2", "H", "d"]);
        for (candidate, clue) in found[0].clues.iter().enumerate() {
            let numbers = [clue.z[0], clue.z[1], clue.uncertainty.total, clue.distance.input];
            table.push([vec![(candidate + 1).into()], numbers.map(Into::into).to_vec()].concat());
        }
        let (apart, together) = (found[0].diversity.apd.z, plain[0].diversity.apd.z);
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .check(check(apart, together))
            .table(table)
            .picture("figure", Grid::new("One candidate after another", 2, panels).to_svg()))
    }
}

/// Of the mean distance between codes, one candidate after another and without regard for each other.
fn check(apart: f64, together: f64) -> Check {
    Check::that(
        "each candidate is pushed away from those before it",
        apart > together,
        format!(
            "mean distance between codes {} against {} of δ-CLUE from the same starts",
            figure(apart),
            figure(together)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_result::Verdict::{DidNotHold, Held};

    #[test]
    fn candidates_lie_farther_apart_than_without_regard_for_each_other() {
        assert_eq!(check(2.0, 1.0).verdict, Held);
        assert_eq!(check(1.0, 1.0).verdict, DidNotHold);
        assert_eq!(check(f64::NAN, 1.0).verdict, DidNotHold);
    }
}
