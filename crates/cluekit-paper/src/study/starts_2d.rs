//! Where schemes of starts begin, in a latent plane. [Ley2022, App. B, "Initialisation Schemes"]

use super::plane::{View, circle, dots, ground, origin, panel, point};
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::{class, distinct_labels, figure, mean};
use crate::study_result::{Check, StudyResult, Table};
use cluekit::error::Result;
use cluekit::search::{InitScheme, Starts};
use cluekit::seed::Seed;
use cluekit_plot::{Grid, palette};
use serde::{Deserialize, Serialize};

/// How near a mean of some hundred draws is to what is expected.
const NEAR: f64 = 0.05;

/// The schemes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Starts2d {
    /// Models with two latent dimensions.
    pub models: String,
    /// Which of the most uncertain inputs, from 0.
    pub rank: usize,
    /// Starts.
    pub count: usize,
    /// δ = r.
    pub delta: f32,
    /// The schemes.
    pub schemes: Vec<InitScheme>,
    /// Seed of the starts.
    #[serde(default)]
    pub seed: u64,
}

/// Where a scheme begins.
struct Begun {
    scheme: InitScheme,
    /// The mean distance from z₀, as a share of r.
    radius: f64,
    /// Whether all starts lie in the ball.
    inside: bool,
    /// Their distinct labels.
    labels: usize,
}

impl Begun {
    fn checks(&self) -> [Check; 2] {
        let &Self { scheme, radius, inside, labels } = self;
        [
            Check::that(
                format!("{} begins inside the ball (by construction)", scheme.name()),
                inside,
                format!("mean distance from z₀ {} r", figure(radius)),
            ),
            match expected_radius(scheme) {
                Some(expected) => Check::that(
                    format!("{} begins at {} r on average", scheme.name(), figure(expected)),
                    (radius - expected).abs() < NEAR,
                    format!("{} r", figure(radius)),
                ),
                None => Check::that(
                    format!("{} begins on the way to several classes", scheme.name()),
                    labels > 2,
                    format!("starts of {labels} labels"),
                ),
            },
        ]
    }
}

impl Starts2d {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let rank = self.rank.min(stage.ranked.len() - 1);
        let rows = &stage.ranked[rank..=rank];
        let mut panels = Vec::new();
        let mut begun = Vec::new();
        let mut table = Table::new("starts", &["scheme", "z1", "z2", "distance from z0", "class"]);
        for &scheme in &self.schemes {
            let mut search = delta_clue(self.delta, self.count, 0.0, 0)?;
            search.starts = Starts { schemes: vec![scheme], ..Starts::default() };
            let found = lab.explain(&stage, &search, rows, Seed(self.seed))?;
            let (z0, clues) = (&found[0].input.z, &found[0].clues);
            for clue in clues {
                let label = class(clue.label).map_or(String::new(), |class| stage.classes()[class].clone());
                table.push(vec![
                    scheme.name().into(),
                    clue.z[0].into(),
                    clue.z[1].into(),
                    clue.distance.latent.into(),
                    label.into(),
                ]);
            }
            let ground = ground(&stage, View::around(z0, 1.1 * f64::from(self.delta)))?;
            let points = clues.iter().map(|clue| point(&clue.z)).collect();
            panels.push(
                panel(scheme.name(), &ground)
                    .with(dots(points, palette(0), "starts"))
                    .with(circle(z0, self.delta))
                    .with(origin(z0)),
            );
            let radius = mean(clues.iter().map(|clue| f64::from(clue.distance.latent / self.delta)));
            let inside = clues.iter().all(|clue| clue.distance.latent <= self.delta * 1.0001);
            begun.push(Begun { scheme, radius, inside, labels: distinct_labels(clues) });
        }
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(begun.iter().flat_map(Begun::checks))
            .table(table)
            .picture("figure", Grid::new("Where searches begin", 2, panels).to_svg()))
    }
}

/// The mean of a random radius in the plane, as a share of r; none for paths.
///
/// S1: ½. S3: |N(0, ¼)| cut off at 1, σ √(2/π) (1 − e⁻²) / erf(√2) with σ = ½. S4: ∫ ρ · 2ρ dρ = ⅔.
fn expected_radius(scheme: InitScheme) -> Option<f64> {
    match scheme {
        InitScheme::RandomRadius => Some(0.5),
        InitScheme::GaussianRadius => Some(0.3614),
        InitScheme::UniformBall => Some(2.0 / 3.0),
        InitScheme::NearestPath | InitScheme::ClassPath => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_result::Verdict::{DidNotHold, Held};

    #[test]
    fn radii_are_expected_ones_and_paths_lead_to_several_classes() {
        let judged =
            |scheme, radius, inside, labels| Check::verdicts(Begun { scheme, radius, inside, labels }.checks());
        for (scheme, radius) in
            [(InitScheme::RandomRadius, 0.52), (InitScheme::GaussianRadius, 0.36), (InitScheme::UniformBall, 0.65)]
        {
            assert_eq!(judged(scheme, radius, true, 1), [Held, Held], "{}", scheme.name());
            assert_eq!(judged(scheme, radius + 0.1, false, 9), [DidNotHold, DidNotHold], "{}", scheme.name());
        }
        for scheme in [InitScheme::NearestPath, InitScheme::ClassPath] {
            assert_eq!(judged(scheme, 0.9, true, 3), [Held, Held], "{}", scheme.name());
            assert_eq!(judged(scheme, 0.9, false, 2), [DidNotHold, DidNotHold], "{}", scheme.name());
        }
    }
}
