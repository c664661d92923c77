//! Clues to look at: all of one input, one for each of its modes, or a diverse set for each of some inputs.
//! [Ley2022, Fig. on ∇-CLUE, App. B]

use super::settings::settings;
use crate::laboratory::{Laboratory, Stage, delta_clue};
use crate::statistics::{
    LEAST_OF_A_MODE, all_follow, class, figure, l1, labels_of_modes, mean, rank_correlation, several_of_one,
};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::data::Samples;
use cluekit::error::Result;
use cluekit::explanation::{Clue, Explanation, Label};
use cluekit::search::{DiversityTerm, Weighted};
use cluekit::seed::Seed;
use cluekit_report::{Tile, TileRow, Tiles, tiles};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
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
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(self.view.checks(&found.iter().map(Seen::of).collect::<Vec<_>>(), mean_distance(stage.test())))
            .table(table)
            .picture("figure", picture))
    }
}

/// What is judged of an input.
struct Seen {
    /// Its uncertainty.
    before: f64,
    /// Each clue's class, uncertainty and distance.
    clues: Vec<(Option<usize>, f64, f64)>,
    /// Each mode's label and how many clues it has.
    modes: Vec<(Option<usize>, usize)>,
}

impl Seen {
    fn of(e: &Explanation) -> Self {
        let clue = |c: &Clue| (class(c.label), f64::from(c.uncertainty.total), f64::from(c.distance.input));
        Self {
            before: f64::from(e.input.uncertainty.total),
            clues: e.clues.iter().map(clue).collect(),
            modes: e.modes.iter().map(|mode| (mode.label, mode.clues.len())).collect(),
        }
    }

    fn labels(&self) -> usize {
        self.clues.iter().filter_map(|(label, ..)| *label).collect::<BTreeSet<_>>().len()
    }

    /// The labels of modes that are no scatter.
    fn large(&self) -> Vec<Option<usize>> {
        labels_of_modes(self.modes.iter().copied())
    }

    /// Of uncertainty and distance.
    fn correlation(&self) -> f64 {
        let (uncertainty, distance): (Vec<f64>, Vec<f64>) = self.clues.iter().map(|(_, h, d)| (*h, *d)).unzip();
        rank_correlation(&uncertainty, &distance)
    }
}

impl View {
    /// `apart` is the mean distance between two test inputs.
    fn checks(self, inputs: &[Seen], apart: f64) -> Vec<Check> {
        let average = |of: &dyn Fn(&Seen) -> usize| figure(mean(inputs.iter().map(|input| of(input) as f64)));
        let several = inputs.iter().filter(|input| input.labels() > 1).count();
        match self {
            Self::Sheet => {
                let (verdict, figures) =
                    all_follow(&inputs.iter().map(|input| -input.correlation()).collect::<Vec<_>>(), 0);
                let shown = figure(inputs[0].correlation());
                let figures =
                    format!("of -H and d {figures} inputs; that of H and d {shown} for the one that is shown");
                vec![Check::new("clues of low uncertainty are farther away", verdict, figures)]
            }
            Self::Modes => {
                let count = inputs.iter().filter(|input| several_of_one(&input.large())).count();
                vec![
                    Check::new(
                        "there are several labels",
                        Verdict::of_share(several, inputs.len()),
                        format!("{} on average", average(&Seen::labels)),
                    ),
                    Check::new(
                        format!("within a label there are several modes of at least {LEAST_OF_A_MODE} clues"),
                        Verdict::of_share(count, inputs.len()),
                        format!(
                            "for {count} of {} inputs; {} such modes on average, {} with the smaller ones",
                            inputs.len(),
                            average(&|input| input.large().len()),
                            average(&|input| input.modes.len())
                        ),
                    ),
                ]
            }
            Self::Diverse => {
                let clues = || inputs.iter().flat_map(|input| &input.clues);
                let away = mean(clues().map(|(_, _, distance)| *distance));
                let before = mean(inputs.iter().map(|input| input.before));
                let after = mean(clues().map(|(_, uncertainty, _)| *uncertainty));
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
                        Verdict::of_share(several, inputs.len()),
                        format!("for {several} of {} inputs", inputs.len()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    /// An input with an uncertainty of 1 and clues of some classes, each with H and d.
    fn seen(clues: &[(usize, f64, f64)], modes: &[(usize, usize)]) -> Seen {
        Seen {
            before: 1.0,
            clues: clues.iter().map(|&(label, h, d)| (Some(label), h, d)).collect(),
            modes: modes.iter().map(|&(label, clues)| (Some(label), clues)).collect(),
        }
    }

    fn judged(view: View, inputs: &[Seen]) -> Vec<Verdict> {
        Check::verdicts(view.checks(inputs, 5.0))
    }

    #[test]
    fn on_a_sheet_certain_clues_are_far_away() {
        let far = || seen(&[(0, 0.1, 9.0), (0, 0.2, 6.0), (0, 0.3, 3.0)], &[]);
        let near = || seen(&[(0, 0.1, 3.0), (0, 0.2, 6.0), (0, 0.3, 9.0)], &[]);
        assert_eq!(judged(View::Sheet, &[far(), far()]), [Held]);
        assert_eq!(judged(View::Sheet, &[far(), near()]), [HeldPartly]);
        assert_eq!(judged(View::Sheet, &[near(), near()]), [DidNotHold]);
    }

    #[test]
    fn there_are_labels_and_within_them_modes() {
        let several = || seen(&[(0, 0.1, 1.0), (1, 0.1, 1.0)], &[(0, 5), (0, 9), (1, 3)]);
        let single = || seen(&[(0, 0.1, 1.0), (0, 0.1, 1.0)], &[(0, 9), (0, 4)]);
        assert_eq!(judged(View::Modes, &[several()]), [Held, Held]);
        assert_eq!(judged(View::Modes, &[several(), single()]), [HeldPartly, HeldPartly]);
        assert_eq!(judged(View::Modes, &[single()]), [DidNotHold, DidNotHold], "four clues are scattered");
        let figures = &View::Modes.checks(&[several(), single()], 5.0)[1].figures;
        assert_eq!(figures, "for 1 of 2 inputs; 1.50 such modes on average, 2.50 with the smaller ones");
    }

    #[test]
    fn a_diverse_set_is_certain_near_and_of_several_labels() {
        assert_eq!(judged(View::Diverse, &[seen(&[(0, 0.2, 4.0), (1, 0.4, 5.0)], &[])]), [Held; 3]);
        assert_eq!(judged(View::Diverse, &[seen(&[(0, 0.5, 5.0), (0, 0.7, 6.0)], &[])]), [DidNotHold; 3]);
    }
}
