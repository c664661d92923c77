//! All four methods in a latent plane: the paper's first figure, on real models. [Ley2022, Fig. 1]

use super::plane::{View, circle, dots, ground, origin, panel, point, ways};
use super::settings::settings;
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::{figure, mean};
use crate::study_result::{Check, StudyResult, Table};
use cluekit::amortise::{Encoded, Fit, LearnFrom, Mapper, MapperKind, MapperPlan, Pair};
use cluekit::error::Result;
use cluekit::search::{Background, Convergence, DiversityTerm, Proposal, Search, Weighted};
use cluekit::seed::Seed;
use cluekit_plot::{Grid, Line, palette};

/// Inputs that GLAM-CLUE is shown with at the most.
const MOST_MAPPED: usize = 12;

settings! {
    /// The input and the ball, in models with two latent dimensions.
    pub struct Methods2d: OneInput {}
}

/// The clues of a search: their mean uncertainty, the mean distance between their codes, and their modes.
struct Outcome {
    uncertainty: f64,
    spread: f64,
    modes: usize,
}

/// The mean uncertainty of some inputs before and after their translation.
struct Mapping {
    inputs: usize,
    before: f64,
    after: f64,
}

impl Methods2d {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let rank = self.rank.min(stage.ranked.len() - 1);
        let rows = &stage.ranked[rank..=rank];
        let (models, inputs, seed) = (stage.models()?, stage.inputs(rows)?, Seed(self.seed));
        let clue = Search { convergence: Convergence::all_steps(self.steps), ..Search::clue() };
        let delta = delta_clue(self.delta, self.count, 0.0, self.steps)?;
        let mut nabla = delta.clone();
        nabla.objective.diversity = Some(Weighted(self.diversity, DiversityTerm::default()));
        let background = Background::default();
        let z0 = clue.prepare(&models, &background, &inputs)?.z(0).to_vec();
        let view = View::around(&z0, 2.0 * f64::from(self.delta));
        let ground = ground(&stage, view)?;
        let mut panels = Vec::new();
        let mut table = Table::new("methods", &["method", "H mean", "d mean", "distance between codes"]);
        let (mut outcomes, mut redrawn) = (Vec::new(), f64::NAN);
        for (title, search) in [
            ("CLUE: one way, free to go anywhere", &clue),
            ("δ-CLUE: many, within a ball", &delta),
            ("∇-CLUE: held apart", &nabla),
        ] {
            let found = lab.explain(&stage, &Search { traced: true, ..search.clone() }, rows, seed)?;
            let mut plot = ways(panel(title, &ground), &found[0].clues, "clues").with(origin(&z0));
            if search.delta == delta.delta {
                plot = plot.with(circle(&z0, self.delta));
            }
            panels.push(plot);
            let of = |of: fn(&cluekit::explanation::Clue) -> f32| {
                mean(found[0].clues.iter().map(|clue| f64::from(of(clue))))
            };
            let (h, d, spread) = (of(|c| c.uncertainty.total), of(|c| c.distance.input), found[0].diversity.apd.z);
            outcomes.push(Outcome { uncertainty: h, spread, modes: found[0].modes.len() });
            redrawn = f64::from(found[0].reconstruction.uncertainty.total);
            table.push(vec![title.into(), h.into(), d.into(), spread.into()]);
        }
        // GLAM-CLUE: one translation for uncertain inputs of the same class.
        let class = stage.target(rows[0]).unwrap_or_default();
        let judging = stage.judging(0.0);
        let rows = stage.rows(lab.observer())?;
        let [train, validation] = &*rows;
        let mut fit = Fit::new(&models, &judging, &background, [train, validation], stage.thresholds(), seed);
        let fitted = fit.mappers(
            &MapperPlan::new(MapperKind::Glam, LearnFrom::Data),
            &[Pair::of_classes(Some(class), Some(class))],
            lab.observer(),
        )?;
        let same: Vec<usize> =
            stage.ranked.iter().copied().filter(|&row| stage.target(row) == Some(class)).take(MOST_MAPPED).collect();
        let group = stage.inputs(&same)?;
        let prepared = judging.prepare(&models, &background, &group)?;
        let encoded = Encoded::prepared(&prepared, &group);
        let mapper: &Mapper = &fitted.all[0];
        let proposals = mapper.propose(&models, &encoded, "glam", prepared.price())?;
        let mapped = prepared.certify(&proposals)?;
        let itself = |row| vec![Proposal { z: prepared.z(row).to_vec(), x: None, mapper: "none".into() }];
        let unmapped = prepared.certify(&(0..encoded.len()).map(itself).collect::<Vec<_>>())?;
        let [h_mapped, h_unmapped] =
            [mapped, unmapped].map(|sets| mean(sets.iter().flatten().map(|clue| f64::from(clue.uncertainty.total))));
        let mut plot = panel(&format!("GLAM-CLUE: one translation for uncertain {}s", stage.classes()[class]), &ground);
        let mut ends = Vec::new();
        for (row, set) in proposals.iter().enumerate() {
            let points = vec![point(encoded.z(row)), point(&set[0].z)];
            ends.push(points[1]);
            plot = plot.with(Line { points, colour: Some(palette(0)), ..Line::default() });
        }
        panels.push(plot.with(dots(ends, palette(0), "after the translation")));
        let [clue, delta, nabla] = [&outcomes[0], &outcomes[1], &outcomes[2]];
        let mapping = Mapping { inputs: encoded.len(), before: h_unmapped, after: h_mapped };
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(checks(redrawn, [clue, delta, nabla], self.count, &mapping))
            .table(table)
            .picture("figure", Grid::new("The four methods in a latent plane", 2, panels).to_svg()))
    }
}

/// `redrawn` is the uncertainty of the input's reconstruction, `count` the number of clues of δ-CLUE.
fn checks(redrawn: f64, [clue, delta, nabla]: [&Outcome; 3], count: usize, mapping: &Mapping) -> Vec<Check> {
    vec![
        Check::that(
            "CLUE goes downhill",
            clue.uncertainty < redrawn,
            format!("H {} → {}, from what is only redrawn", figure(redrawn), figure(clue.uncertainty)),
        ),
        Check::that(
            "so does δ-CLUE within its ball",
            delta.uncertainty < redrawn,
            format!("H {} → {} on average", figure(redrawn), figure(delta.uncertainty)),
        ),
        Check::that(
            "δ-CLUE ends in several places, and in the same ones again and again",
            (2..count).contains(&delta.modes),
            format!("{count} clues in {} modes", delta.modes),
        ),
        Check::that(
            "∇-CLUE's clues lie farther apart than δ-CLUE's",
            nabla.spread > delta.spread,
            format!("mean distance between codes {} against {}", figure(nabla.spread), figure(delta.spread)),
        ),
        Check::that(
            "GLAM-CLUE makes a group more certain without a descent",
            mapping.after < mapping.before,
            format!(
                "H {} → {} on average of {} inputs, from what is only redrawn",
                figure(mapping.before),
                figure(mapping.after),
                mapping.inputs
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_result::Verdict::{self, DidNotHold, Held};

    fn judged([clue, delta, after]: [f64; 3], modes: usize, [apart, together]: [f64; 2]) -> Vec<Verdict> {
        let outcome = |uncertainty, spread, modes| Outcome { uncertainty, spread, modes };
        let searches = [outcome(clue, 0.0, 1), outcome(delta, together, modes), outcome(0.5, apart, 5)];
        Check::verdicts(checks(1.0, searches.each_ref(), 20, &Mapping { inputs: 12, before: 1.0, after }))
    }

    #[test]
    fn all_go_downhill_some_within_a_ball_some_held_apart() {
        assert_eq!(judged([0.1, 0.3, 0.4], 3, [2.0, 1.0]), [Held; 5]);
        assert_eq!(judged([1.1, 1.2, 1.3], 1, [1.0, 2.0]), [DidNotHold; 5]);
        let all_apart = judged([0.1, 0.3, 0.4], 20, [2.0, 1.0]);
        assert_eq!(all_apart, [Held, Held, DidNotHold, Held, Held], "a mode for each clue is no place to come back to");
    }
}
