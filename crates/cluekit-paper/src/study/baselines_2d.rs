//! Difference of means and nearest neighbours in a latent plane. [Ley2022, Fig. on baselines]

use super::glam::class_of;
use super::plane::{View, dots, ground, panel, point};
use crate::laboratory::Laboratory;
use crate::statistics::{figure, mean, percent};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::amortise::{Encoded, Fit, LearnFrom, MapperKind, MapperPlan, Pair};
use cluekit::error::Result;
use cluekit::explanation::{Clue, Label};
use cluekit::search::Background;
use cluekit::seed::Seed;
use cluekit_plot::{Colour, Grid, Line, Scatter, palette};
use serde::{Deserialize, Serialize};

/// Certain training points that are shown at the most.
const MOST_CERTAIN: usize = 800;

/// Which class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baselines2d {
    /// Models with two latent dimensions.
    pub models: String,
    /// The class.
    pub class: String,
    /// How many of its most uncertain inputs.
    pub inputs: usize,
}

/// What a method makes of the inputs: their mean uncertainty, and the share that is of the class.
struct Outcome {
    title: &'static str,
    uncertainty: f64,
    kept: f64,
}

impl Baselines2d {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let class = class_of(&stage, &self.class)?;
        let rows: Vec<usize> =
            stage.ranked.iter().copied().filter(|&row| stage.target(row) == Some(class)).take(self.inputs).collect();
        let inputs = stage.inputs(&rows)?;
        let (models, search, background) = (stage.models()?, stage.judging(0.03), Background::default());
        let prepared = search.prepare(&models, &background, &inputs)?;
        let encoded = Encoded::prepared(&prepared, &inputs);
        let learned = stage.rows(lab.observer())?;
        let [train, validation] = &*learned;
        let mut fit = Fit::new(&models, &search, &background, [train, validation], stage.thresholds(), Seed(0));
        let certain: Vec<(f64, f64)> = (0..train.len())
            .filter(|&row| train.class(row) == class && train.predictions[row].uncertainty.total < stage.threshold)
            .map(|row| point(train.z(row)))
            .take(MOST_CERTAIN)
            .collect();
        let mid = [0, 1].map(|i| mean(certain.iter().map(|p| if i == 0 { p.0 } else { p.1 })) as f32);
        let far = certain
            .iter()
            .chain(&encoded.z.chunks_exact(2).map(point).collect::<Vec<_>>())
            .map(|p| (p.0 - f64::from(mid[0])).abs().max((p.1 - f64::from(mid[1])).abs()))
            .fold(0.5, f64::max);
        let ground = ground(&stage, View::around(&mid, far / 1.25))?;
        let mut panels = Vec::new();
        let mut table = Table::new("baselines", &["method", "H", "of the class", "latent distance"]);
        let mut outcomes = Vec::new();
        for (method, title) in [
            (MapperKind::Reconstruction, "Only redrawn"),
            (MapperKind::LatentDbm, "Latent difference of means"),
            (MapperKind::LatentNn, "Nearest certain neighbour"),
        ] {
            let fitted = fit.mappers(
                &MapperPlan::new(method, LearnFrom::Data),
                &[Pair::of_classes(Some(class), Some(class))],
                lab.observer(),
            )?;
            let proposals = fitted.all[0].propose(&models, &encoded, method.name(), prepared.price())?;
            let clues = prepared.certify(&proposals)?;
            let h = mean(clues.iter().flatten().map(|clue| f64::from(clue.uncertainty.total)));
            let moved = mean(clues.iter().flatten().map(|clue| f64::from(clue.distance.latent)));
            let of_class = |clue: &&Clue| clue.label == Label::Class(class);
            let kept = clues.iter().flatten().filter(of_class).count() as f64 / rows.len() as f64;
            table.push(vec![title.into(), h.into(), kept.into(), moved.into()]);
            outcomes.push(Outcome { title, uncertainty: h, kept });
            if method == MapperKind::Reconstruction {
                continue;
            }
            let green = palette(2);
            let mut plot = panel(title, &ground).with(Scatter {
                points: certain.clone(),
                radius: 1.8,
                opacity: 0.5,
                colour: Some(green),
                name: Some("certain training points".into()),
                ..Scatter::default()
            });
            for (row, set) in proposals.iter().enumerate() {
                plot = plot.with(Line {
                    points: vec![point(encoded.z(row)), point(&set[0].z)],
                    colour: Some(Colour::VERMILION),
                    ..Line::default()
                });
            }
            panels.push(plot.with(dots(
                (0..encoded.len()).map(|row| point(encoded.z(row))).collect(),
                Colour::VERMILION,
                "uncertain test points",
            )));
        }
        Ok(StudyResult { seeds: vec![0], ..StudyResult::default() }
            .checks(checks(&self.class, &outcomes[0], &outcomes[1..]))
            .table(table)
            .picture("figure", Grid::new(format!("Baselines for uncertain {}s", self.class), 2, panels).to_svg()))
    }
}

fn checks(class: &str, redrawn: &Outcome, baselines: &[Outcome]) -> Vec<Check> {
    let check = |Outcome { title, uncertainty, kept }: &Outcome| {
        Check::new(
            format!("{title}: more certain than what is only redrawn, and more often a {class}"),
            Verdict::of([*uncertainty < redrawn.uncertainty, *kept > redrawn.kept].map(Verdict::from_bool)),
            format!(
                "H {} → {}; a {class} {} → {}",
                figure(redrawn.uncertainty),
                figure(*uncertainty),
                percent(redrawn.kept),
                percent(*kept)
            ),
        )
    };
    baselines.iter().map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    #[test]
    fn a_baseline_must_be_more_certain_and_of_the_class_more_often() {
        let outcome = |uncertainty, kept| Outcome { title: "Baseline", uncertainty, kept };
        let judged = |h, kept| Check::verdicts(checks("7", &outcome(1.0, 0.5), &[outcome(h, kept)]));
        assert_eq!(judged(0.4, 0.8), [Held]);
        assert_eq!(judged(0.4, 0.5), [HeldPartly], "as often is not more often");
        assert_eq!(judged(1.2, 0.8), [HeldPartly]);
        assert_eq!(judged(1.2, 0.3), [DidNotHold]);
        let check = &checks("7", &outcome(1.0, 0.5), &[outcome(0.4, 0.8)])[0];
        assert_eq!(check.figures, "H 1.00 → 0.400; a 7 50 % → 80 %");
    }
}
