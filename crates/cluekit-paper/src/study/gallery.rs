//! Clues to look at: all of one input, one for each of its modes, or a diverse set for each of some inputs.
//! [Ley2022, Fig. on ∇-CLUE, App. B]

use super::settings::settings;
use crate::finding::{Check, Finding, Table, Verdict};
use crate::laboratory::{Laboratory, Stage, delta_clue};
use crate::statistics::{
    LEAST_OF_A_MODE, all_follow, class, distinct_labels, figure, l1, labels_of_modes, mean, over_inputs,
    rank_correlation, several_of_one,
};
use cluekit::data::Samples;
use cluekit::error::Result;
use cluekit::explanation::{Clue, Explanation, Label};
use cluekit::search::{DiversityTerm, Weighted};
use cluekit::seed::Seed;
use cluekit_report::{Tile, TileRow, Tiles, tiles};
use serde::{Deserialize, Serialize};

/// Clues in a row of the sheet.
const COLUMNS: usize = 10;
/// Modes of one label that are shown.
const MOST_MODES: usize = 8;
/// Pairs of test inputs whose distance tells how far inputs are apart.
const PAIRS: usize = 1000;

settings! {
    /// Which clues, and how they are arranged.
    pub struct Gallery: Clues {
        /// The radius.
        pub delta: f32,
        /// Weight of distance.
        pub lambda_x: f32,
        /// λ_D; 0 for δ-CLUE.
        #[serde(default)]
        pub diversity: f32,
        /// What is shown.
        pub view: View,
    }
}

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// All clues of the first input.
    Sheet,
    /// The modes of the first input, label by label.
    Modes,
    /// The clues of each input, the cheapest of each label first.
    Diverse,
}

impl Gallery {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<Finding> {
        let stage = lab.stage(&self.models)?;
        let mut search = delta_clue(self.delta, self.count, self.lambda_x, self.steps)?;
        if self.diversity > 0.0 {
            search.objective.diversity = Some(Weighted(self.diversity, DiversityTerm::default()));
        }
        let found = lab.explain(&stage, &search, stage.top(self.inputs), Seed(self.seed))?;
        let (rows, title, caption) = match self.view {
            View::Sheet => sheet(&found[0], &stage),
            View::Modes => modes(&found[0], &stage),
            View::Diverse => diverse(&found, &stage),
        };
        let picture = tiles(&Tiles { title: &title, caption: &caption, side: 60.0, rows }, stage.image()?);
        let mut table = Table::new("clues", &["input", "label", "H", "d", "rho", "cost", "accepted"]);
        for e in found.iter() {
            for clue in &e.clues {
                let numbers = [clue.uncertainty.total, clue.distance.input, clue.distance.latent, clue.cost];
                let accepted = usize::from(clue.accepted).into();
                let words = vec![e.input.index.into(), label_name(clue.label, &stage).into()];
                table.push([words, numbers.map(Into::into).to_vec(), vec![accepted]].concat());
            }
        }
        Ok(Finding { seeds: vec![self.seed], ..Finding::default() }
            .checks(self.checks(&found, mean_distance(stage.test())))
            .table(table)
            .picture("figure", picture))
    }

    /// `apart` is the mean distance between two test inputs.
    fn checks(&self, found: &[Explanation], apart: f64) -> Vec<Check> {
        match self.view {
            View::Sheet => {
                let of = |e: &Explanation, of: fn(&Clue) -> f32| {
                    e.clues.iter().map(|c| f64::from(of(c))).collect::<Vec<_>>()
                };
                let correlation =
                    |e: &Explanation| rank_correlation(&of(e, |c| c.uncertainty.total), &of(e, |c| c.distance.input));
                let (verdict, figures) = all_follow(&found.iter().map(|e| -correlation(e)).collect::<Vec<_>>(), 0);
                let shown = figure(correlation(&found[0]));
                let figures =
                    format!("of -H and d {figures} inputs; that of H and d {shown} for the one that is shown");
                vec![Check::new("clues of low uncertainty are farther away", verdict, figures)]
            }
            View::Modes => {
                let large =
                    |e: &Explanation| labels_of_modes(e.modes.iter().map(|mode| (mode.label, mode.clues.len())));
                let count = found.iter().filter(|e| several_of_one(&large(e))).count();
                vec![
                    Check::new(
                        "there are several labels",
                        Verdict::of_share(found.iter().filter(|e| distinct_labels(&e.clues) > 1).count(), found.len()),
                        format!("{} on average", figure(over_inputs(found, |e| distinct_labels(&e.clues) as f64))),
                    ),
                    Check::new(
                        format!("within a label there are several modes of at least {LEAST_OF_A_MODE} clues"),
                        Verdict::of_share(count, found.len()),
                        format!(
                            "for {count} of {} inputs; {} such modes on average, {} with the smaller ones",
                            found.len(),
                            figure(over_inputs(found, |e| large(e).len() as f64)),
                            figure(over_inputs(found, |e| e.modes.len() as f64))
                        ),
                    ),
                ]
            }
            View::Diverse => {
                let several = found.iter().filter(|e| distinct_labels(&e.clues) > 1).count();
                let away = mean(found.iter().flat_map(|e| &e.clues).map(|clue| f64::from(clue.distance.input)));
                let before = over_inputs(found, |e| f64::from(e.input.uncertainty.total));
                let after = mean(found.iter().flat_map(|e| &e.clues).map(|clue| f64::from(clue.uncertainty.total)));
                vec![
                    Check::that(
                        "the clues are more certain",
                        after < 0.5 * before,
                        format!("mean H {} → {}", figure(before), figure(after)),
                    ),
                    Check::that(
                        "they are nearer to the input than other inputs are",
                        away < apart,
                        format!("mean d {} against {} between two test inputs", figure(away), figure(apart)),
                    ),
                    Check::new(
                        "they propose several labels",
                        Verdict::of_share(several, found.len()),
                        format!("for {several} of {} inputs", found.len()),
                    ),
                ]
            }
        }
    }
}

/// The mean ℓ₁ distance between neighbours in the order of the test rows.
fn mean_distance(test: &Samples) -> f64 {
    let distance = |row: usize| l1(test.row(row), test.row(row + 1));
    mean((0..test.len().saturating_sub(1).min(PAIRS)).map(distance))
}

fn label_name(label: Label, stage: &Stage) -> String {
    class(label).map_or(String::new(), |class| stage.classes()[class].clone())
}

fn original(e: &Explanation, stage: &Stage) -> Tile {
    Tile::picture(&e.input.x)
        .above(format!("input: {}?", label_name(e.input.label, stage)))
        .below(format!("H {:.2}", e.input.uncertainty.total))
}

fn tile(clue: &Clue, stage: &Stage) -> Tile {
    Tile::picture(&clue.x)
        .above(label_name(clue.label, stage))
        .below(format!("H {:.2}", clue.uncertainty.total))
        .below(format!("d {:.1}", clue.distance.input))
}

fn sheet(e: &Explanation, stage: &Stage) -> (Vec<TileRow>, String, String) {
    let first = TileRow { name: String::new(), tiles: vec![original(e, stage)] };
    let row = |clues: &[Clue]| TileRow { name: String::new(), tiles: clues.iter().map(|c| tile(c, stage)).collect() };
    let rows = std::iter::once(first).chain(e.clues.chunks(COLUMNS).map(row)).collect();
    let title = format!("All {} clues of input {}", e.clues.len(), e.input.index);
    (rows, title, "Above: label. Below: uncertainty H and distance d.".into())
}

fn modes(e: &Explanation, stage: &Stage) -> (Vec<TileRow>, String, String) {
    let mut rows = vec![TileRow { name: String::new(), tiles: vec![original(e, stage)] }];
    for label in 0..stage.classes().len() {
        let of_label: Vec<_> = e.modes.iter().filter(|mode| mode.label == Some(label)).take(MOST_MODES).collect();
        let tile = |mode: &&cluekit::explanation::Mode| {
            let clue = &e.clues[mode.best];
            let count = mode.clues.len();
            let above = if count == 1 { "1 clue".into() } else { format!("{count} clues") };
            Tile { above, ..tile(clue, stage) }
        };
        if !of_label.is_empty() {
            let name = format!("label {}", stage.classes()[label]);
            rows.push(TileRow { name, tiles: of_label.iter().map(tile).collect() });
        }
    }
    let title = format!("Labels and modes of the clues of input {}", e.input.index);
    (rows, title, "Each picture is the cheapest clue of a mode: clusters of codes, their number chosen by BIC.".into())
}

fn diverse(found: &[Explanation], stage: &Stage) -> (Vec<TileRow>, String, String) {
    let row = |e: &Explanation| {
        let mut clues: Vec<&Clue> = e.clues.iter().collect();
        clues.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        // The cheapest of each label first.
        let mut seen = Vec::new();
        let (fresh, more): (Vec<&Clue>, Vec<&Clue>) = clues.into_iter().partition(|clue| {
            let is_new = !seen.contains(&class(clue.label));
            seen.push(class(clue.label));
            is_new
        });
        let chosen = fresh.into_iter().chain(more).take(6);
        let with_latent = |clue: &Clue| tile(clue, stage).below(format!("ρ {:.1}", clue.distance.latent));
        let tiles = std::iter::once(original(e, stage)).chain(chosen.map(with_latent)).collect();
        TileRow { name: String::new(), tiles }
    };
    let title = "Diverse sets of clues".to_owned();
    (
        found.iter().map(row).collect(),
        title,
        "The cheapest clue of each label first. H uncertainty, d distance between inputs, ρ between codes.".into(),
    )
}
