//! How coverage is made up: what clues add anywhere, and what they take away anywhere. [Ley2022, App. C]

use super::settings::settings;
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::{class, figure, percent};
use crate::study_result::{Check, StudyResult, Table};
use cluekit::error::Result;
use cluekit::explanation::Clue;
use cluekit::search::{DiversityTerm, Weighted};
use cluekit::seed::Seed;
use cluekit_report::{Content, Tile, TileRow, Tiles, tiles};

/// A pixel counts as ink from this on.
const INK: f32 = 0.5;

settings! {
    /// The input and its clues.
    pub struct Coverage: OneInput {}
}

/// What coverage is made up of.
struct Parts {
    /// In the mean over pixels, what is added.
    plus: f64,
    /// And what is taken away.
    minus: f64,
    /// Coverage itself.
    whole: f64,
    /// The share of the ink that some clue removes.
    gone: f64,
    /// Pixels without ink that get some.
    fresh: usize,
    /// Pixels that have some.
    ink: usize,
}

impl Coverage {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let mut search = delta_clue(self.delta, self.count, 0.0, self.steps)?;
        search.objective.diversity = Some(Weighted(self.diversity, DiversityTerm::default()));
        let rank = self.rank.min(stage.ranked.len() - 1);
        let found = lab.explain(&stage, &search, &stage.ranked[rank..=rank], Seed(self.seed))?;
        let e = &found[0];
        let change = |clue: &Clue, sign: f32| -> Vec<f32> {
            clue.x.iter().zip(&e.input.x).map(|(new, old)| sign * (sign * (new - old)).max(0.0)).collect()
        };
        let combined = |sign: f32| {
            let mut all = vec![0.0f32; e.input.x.len()];
            for clue in &e.clues {
                for (all, new) in all.iter_mut().zip(change(clue, sign)) {
                    *all = if sign > 0.0 { all.max(new) } else { all.min(new) };
                }
            }
            all
        };
        let share =
            |changes: &[f32]| changes.iter().map(|change| f64::from(change.abs())).sum::<f64>() / changes.len() as f64;
        let (added, removed) = (combined(1.0), combined(-1.0));
        let (plus, minus) = (share(&added), share(&removed));
        let whole = e.diversity.coverage.x;
        let ink: Vec<usize> = (0..e.input.x.len()).filter(|&i| e.input.x[i] >= INK).collect();
        let gone = ink.iter().filter(|&&i| -removed[i] >= 0.5 * e.input.x[i]).count() as f64 / ink.len().max(1) as f64;
        let fresh = (0..e.input.x.len()).filter(|&i| e.input.x[i] < INK && e.input.x[i] + added[i] >= INK).count();
        let name = |clue: &Clue| class(clue.label).map_or(String::new(), |class| stage.classes()[class].clone());
        let changes = |values: Vec<f32>| Tile::new(Content::Changes(values, 0.8));
        let row = |title: &str, first: Tile, of: &dyn Fn(&Clue) -> Tile, last: Tile| TileRow {
            name: title.into(),
            tiles: std::iter::once(first).chain(e.clues.iter().map(of)).chain([last]).collect(),
        };
        let nothing = || Tile::new(Content::Nothing);
        let input = Tile::picture(&e.input.x).above("input").below(format!("H {:.2}", e.input.uncertainty.total));
        let rows = vec![
            row(
                "clues",
                input,
                &|clue| Tile::picture(&clue.x).above(name(clue)).below(format!("H {:.2}", clue.uncertainty.total)),
                nothing(),
            ),
            row(
                "added",
                nothing(),
                &|clue| changes(change(clue, 1.0)),
                changes(added.clone()).above("all together").below(format!("{plus:.3}")),
            ),
            row(
                "taken away",
                nothing(),
                &|clue| changes(change(clue, -1.0)),
                changes(removed.clone()).above("all together").below(format!("{minus:.3}")),
            ),
        ];
        let title =
            format!("Coverage of {} clues: {whole:.3} = {plus:.3} added + {minus:.3} taken away", e.clues.len());
        let caption = "Of each pixel the largest change by any clue, up and down, in the mean over all pixels.";
        let mut table = Table::new(
            "coverage",
            &["input", "clues", "added", "taken away", "coverage", "share of the ink that some clue removes"],
        );
        table.push(vec![
            e.input.index.into(),
            e.clues.len().into(),
            plus.into(),
            minus.into(),
            whole.into(),
            gone.into(),
        ]);
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(checks(&Parts { plus, minus, whole, gone, fresh, ink: ink.len() }))
            .table(table)
            .picture("figure", tiles(&Tiles { title: &title, caption, side: 72.0, rows }, stage.image()?)))
    }
}

fn checks(&Parts { plus, minus, whole, gone, fresh, ink }: &Parts) -> Vec<Check> {
    vec![
        Check::that(
            "coverage is the sum of what is added and what is taken away (by construction)",
            (plus + minus - whole).abs() < 1e-3,
            format!("{} + {} = {}", figure(plus), figure(minus), figure(whole)),
        ),
        Check::that(
            "together the clues remove almost all of the input",
            gone >= 0.8,
            format!("{} of its ink", percent(gone)),
        ),
        Check::that(
            "they add in many places: more of them than the input has ink in",
            fresh > ink,
            format!("{fresh} empty pixels get ink, the input has {ink}"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_result::Verdict::{DidNotHold, Held};

    #[test]
    fn clues_cover_the_input_and_more() {
        let parts = Parts { plus: 0.2, minus: 0.1, whole: 0.3, gone: 0.9, fresh: 120, ink: 100 };
        assert_eq!(Check::verdicts(checks(&parts)), [Held, Held, Held]);
        let parts = Parts { plus: 0.2, minus: 0.1, whole: 0.4, gone: 0.7, fresh: 100, ink: 100 };
        assert_eq!(Check::verdicts(checks(&parts)), [DidNotHold, DidNotHold, DidNotHold]);
    }
}
