//! How far from the input random starts lie, and what becomes of searches from them. [Ley2022, App. B, S1, S3, S4]

use super::settings::settings;
use crate::curves::{Curve, panel};
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::{distinct_labels, figure, mean, over_inputs, spread_over_inputs};
use crate::study_result::{Cell, Check, StudyResult, Table};
use cluekit::error::Result;
use cluekit::search::{InitScheme, Starts};
use cluekit::seed::Seed;
use cluekit_plot::{Axis, Grid};
use rand_distr::{Distribution, StandardNormal};

/// Bins of a histogram of radii.
const BINS: usize = 40;
/// As a share of r, where the histogram ends.
const WIDEST: f64 = 2.0;
/// What the first CLUE paper begins with; here it is shown, but no search begins with it.
const NOISE: &str = "N(0, 1) in each dimension";

settings! {
    /// The schemes.
    pub struct StartRadii: Clues {
        /// δ = r.
        pub delta: f32,
        /// The schemes.
        pub schemes: Vec<InitScheme>,
    }
}

impl StartRadii {
    /// How far normal noise in every dimension leads, as a share of r.
    fn noise(&self, latent: usize) -> Vec<f64> {
        let mut rng = Seed(self.seed).stream("start radii: noise");
        let radius = |_| {
            let squares: f64 = StandardNormal.sample_iter(&mut rng).take(latent).map(|v: f64| v * v).sum();
            squares.sqrt() / f64::from(self.delta)
        };
        (0..self.inputs * self.count).map(radius).collect()
    }

    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let mut table = Table::new("starts", &["scheme", "mean radius / r", "H least", "H mean", "d mean", "labels"]);
        let mut curves = Vec::new();
        let mut figures = Vec::new();
        for &scheme in &self.schemes {
            let mut search = |steps: usize| {
                let mut search = delta_clue(self.delta, self.count, 0.0, steps)?;
                search.starts = Starts { schemes: vec![scheme], ..Starts::default() };
                lab.explain(&stage, &search, stage.top(self.inputs), Seed(self.seed))
            };
            let (starts, ends) = (search(0)?, search(self.steps)?);
            let radii: Vec<f64> =
                starts.iter().flat_map(|e| &e.clues).map(|clue| f64::from(clue.distance.latent / self.delta)).collect();
            let [least, h, _] = spread_over_inputs(&ends, |clue| clue.uncertainty.total);
            let [_, d, _] = spread_over_inputs(&ends, |clue| clue.distance.input);
            let labels = over_inputs(&ends, |e| distinct_labels(&e.clues) as f64);
            let radius = mean(radii.iter().copied());
            table.push([vec![scheme.name().into()], [radius, least, h, d, labels].map(Into::into).to_vec()].concat());
            figures.push((scheme, radius));
            curves.push(histogram(scheme.name(), &radii));
        }
        let latent = stage.explainer.generative()?.latent_dim() as f64;
        let noise = self.noise(stage.explainer.generative()?.latent_dim());
        let radius = mean(noise.iter().copied()) * f64::from(self.delta);
        table.push(vec![NOISE.into(), (radius / f64::from(self.delta)).into(), gap(), gap(), gap(), gap()]);
        curves.push(histogram(NOISE, &noise));
        let title = format!("Where random starts lie in {latent} dimensions");
        let plot = panel(
            &title,
            Axis::new("distance from z₀, as a share of r"),
            Axis::new("share of the starts").percent(),
            curves,
        );
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(checks(&figures, latent, radius, f64::from(self.delta)))
            .table(table)
            .picture("figure", Grid::new("", 1, vec![plot.sized(680.0, 420.0)]).to_svg()))
    }
}

/// Of schemes, the mean radius as a share of `r`; of noise in `latent` dimensions, its mean length.
fn checks(schemes: &[(InitScheme, f64)], latent: f64, noise: f64, r: f64) -> Vec<Check> {
    let of = |scheme: InitScheme| schemes.iter().find(|(s, _)| *s == scheme);
    let mut checks = Vec::new();
    if let Some((_, radius)) = of(InitScheme::RandomRadius) {
        let holds = (radius - 0.5).abs() < 0.05;
        checks.push(Check::that("S1 begins at half of r on average", holds, format!("{} r", figure(*radius))));
    }
    if let Some((_, radius)) = of(InitScheme::UniformBall) {
        let expected = latent / (latent + 1.0);
        let says = format!("S4 begins near the surface: at m / (m + 1) = {} of r", figure(expected));
        checks.push(Check::that(says, (radius - expected).abs() < 0.02, format!("{} r", figure(*radius))));
    }
    checks.push(Check::that(
        "noise in each dimension begins at about √m, whatever r is",
        (noise - latent.sqrt()).abs() < 0.05 * latent.sqrt(),
        format!("{} = {} r", figure(noise), figure(noise / r)),
    ));
    checks
}

/// No search begins there, so there is nothing to say of its clues.
fn gap() -> Cell {
    Cell::Number(None)
}

/// The shares of radii, some of which may lie beyond r.
fn histogram(name: &str, radii: &[f64]) -> Curve {
    let width = WIDEST / BINS as f64;
    let mut counts = [0.0; BINS];
    radii.iter().for_each(|radius| counts[((radius / width) as usize).min(BINS - 1)] += 1.0 / radii.len() as f64);
    let middles: Vec<f64> = (0..BINS).map(|bin| (bin as f64 + 0.5) * width).collect();
    Curve::new(name, &middles, counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_result::Verdict::{DidNotHold, Held};

    #[test]
    fn schemes_begin_where_geometry_says() {
        let judged = |s1, s4, noise| {
            let schemes = [(InitScheme::RandomRadius, s1), (InitScheme::UniformBall, s4)];
            Check::verdicts(checks(&schemes, 16.0, noise, 2.0))
        };
        // 16 / 17 = 0.941, √16 = 4.
        assert_eq!(judged(0.48, 0.94, 3.9), [Held, Held, Held]);
        assert_eq!(judged(0.6, 0.9, 3.7), [DidNotHold, DidNotHold, DidNotHold]);
        assert_eq!(Check::verdicts(checks(&[], 16.0, 4.0, 2.0)), [Held], "noise needs no scheme");
    }
}
