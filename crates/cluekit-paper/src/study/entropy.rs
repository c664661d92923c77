//! How many clues it takes until no new labels and no new modes turn up. [Ley2022, Fig. on δ-CLUE, left; App. B]

use super::settings::settings;
use crate::curves::{Curve, panel};
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::{
    LEAST_OF_A_MODE, class, entropy, figure, labels_of_modes, mean, over_inputs, percent, rises, several_of_one,
};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::error::Result;
use cluekit::explanation::Explanation;
use cluekit::mixture::clusters;
use cluekit::seed::Seed;
use cluekit_plot::{Axis, palette};
use std::collections::{BTreeMap, BTreeSet};

/// Modes of one label at the most.
const MOST_MODES: usize = 10;
/// The share of the final entropy from which on it is saturated.
const SATURATED: f64 = 0.95;
/// More clues than anybody would look through one by one.
const MANY: usize = 20;

settings! {
    /// Radii and numbers of clues.
    pub struct Entropy: Clues {
        /// The radii.
        pub deltas: Vec<f32>,
        /// Weight of distance.
        #[serde(default)]
        pub lambda_x: f32,
        /// Whether modes are shown beside labels.
        pub modes: bool,
    }
}

/// The entropies of one radius, for every number of clues.
struct Series {
    delta: f32,
    labels: Vec<f64>,
    modes: Vec<f64>,
    /// The share of the inputs that have a label with several modes that are no scatter.
    several_modes: f64,
}

impl Series {
    fn of(delta: f32, found: &[Explanation], counts: &[usize]) -> Self {
        let labels = |n: usize| over_inputs(found, |e| entropy(e.clues[..n].iter().map(|clue| class(clue.label))));
        let all: Vec<Vec<usize>> = found.iter().map(modes_of_all).collect();
        let modes = |n: usize| mean(all.iter().map(|modes| entropy(&modes[..n])));
        Self {
            delta,
            labels: counts.iter().map(|&n| labels(n)).collect(),
            modes: counts.iter().map(|&n| modes(n)).collect(),
            several_modes: mean(found.iter().zip(&all).map(|(e, modes)| f64::from(u8::from(has_several(e, modes))))),
        }
    }

    fn last(values: &[f64]) -> f64 {
        values.last().copied().unwrap_or(f64::NAN)
    }

    /// The number of clues from which on the entropy of labels stays near its last value.
    fn saturated_at(&self, counts: &[usize]) -> usize {
        let last = Self::last(&self.labels);
        let near = |&h: &f64| (h - last).abs() <= (1.0 - SATURATED) * last.max(1e-9);
        let before = self.labels.iter().rposition(|h| !near(h)).map_or(0, |place| place + 1);
        counts[before.min(counts.len() - 1)]
    }
}

/// Whether two modes of one label have more than a few clues each.
fn has_several(e: &Explanation, modes: &[usize]) -> bool {
    let mut sizes: BTreeMap<(Option<usize>, usize), usize> = BTreeMap::new();
    e.clues.iter().zip(modes).for_each(|(clue, &mode)| *sizes.entry((class(clue.label), mode)).or_default() += 1);
    several_of_one(&labels_of_modes(sizes.into_iter().map(|((label, _), size)| (label, size))))
}

/// The mode of every clue, accepted or not: its cluster among the codes of its label.
fn modes_of_all(e: &Explanation) -> Vec<usize> {
    let mut modes = vec![0; e.clues.len()];
    let mut next = 0;
    let labels: BTreeSet<Option<usize>> = e.clues.iter().map(|clue| class(clue.label)).collect();
    for label in labels {
        let members: Vec<usize> = (0..e.clues.len()).filter(|&i| class(e.clues[i].label) == label).collect();
        let codes: Vec<f32> = members.iter().flat_map(|&i| e.clues[i].z.iter().copied()).collect();
        let mut rng = Seed(0).numbered("entropy of modes", e.input.index as u64);
        for cluster in clusters(&codes, e.input.z.len(), MOST_MODES, &mut rng) {
            cluster.into_iter().for_each(|place| modes[members[place]] = next);
            next += 1;
        }
    }
    modes
}

impl Entropy {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let counts: Vec<usize> = (1..=self.count).collect();
        let mut series = Vec::new();
        for &delta in &self.deltas {
            let search = delta_clue(delta, self.count, self.lambda_x, self.steps)?;
            let found = lab.explain(&stage, &search, stage.top(self.inputs), Seed(self.seed))?;
            series.push(Series::of(delta, &found, &counts));
        }
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(checks(&series, &counts, self.modes))
            .table(self.table(&series, &counts))
            .picture("figure", self.picture(&series, &counts)))
    }

    fn table(&self, series: &[Series], counts: &[usize]) -> Table {
        let mut table = Table::new("entropy", &["delta", "clues", "entropy of labels", "entropy of modes"]);
        for one in series {
            for (place, &n) in counts.iter().enumerate() {
                table.push(vec![one.delta.into(), n.into(), one.labels[place].into(), one.modes[place].into()]);
            }
        }
        table
    }

    fn picture(&self, series: &[Series], counts: &[usize]) -> String {
        let x: Vec<f64> = counts.iter().map(|&n| n as f64).collect();
        let mut curves = Vec::new();
        for (place, one) in series.iter().enumerate() {
            let name = format!("δ = {}", one.delta);
            curves.push(Curve::new(name, &x, one.labels.iter().copied()).coloured(palette(place)));
            if self.modes {
                curves.push(Curve::new("", &x, one.modes.iter().copied()).coloured(palette(place)).dashed());
            }
        }
        let title =
            format!("Entropy of labels{} against the number of clues", if self.modes { " and modes" } else { "" });
        let caption = format!(
            "Mean over the {} most uncertain inputs. Solid: labels.{}",
            self.inputs,
            if self.modes { " Dashed: modes within labels." } else { "" }
        );
        let plot = panel(&title, Axis::new("number of clues"), Axis::new("entropy (nats)"), curves);
        plot.captioned(caption).sized(680.0, 440.0).to_svg()
    }
}

/// Of radii in rising order; `with_modes` asks for those within labels too.
fn checks(series: &[Series], counts: &[usize], with_modes: bool) -> Vec<Check> {
    let delta: Vec<f64> = series.iter().map(|one| f64::from(one.delta)).collect();
    let labels: Vec<f64> = series.iter().map(|one| Series::last(&one.labels)).collect();
    let half = counts.len() / 2;
    let ratio = |one: &Series| one.labels[half - 1] / Series::last(&one.labels);
    let saturated = series.iter().filter(|one| (1.0 - ratio(one)).abs() <= 1.0 - SATURATED).count();
    let needed: Vec<String> =
        series.iter().map(|one| format!("δ {}: {}", one.delta, one.saturated_at(counts))).collect();
    let largest = series.last().map_or(0, |one| one.saturated_at(counts));
    let mut checks = vec![
        rises("the entropy of labels rises with δ", &delta, &labels),
        Check::new(
            "the entropy of labels saturates: half of the clues have it within 5 %",
            Verdict::of_share(saturated, series.len()),
            format!(
                "at {saturated} of {} radii, {half} clues have {} of the entropy of {} on average; clues until it \
                 stays within 5 % of the last: {}",
                series.len(),
                percent(mean(series.iter().map(ratio))),
                counts.len(),
                needed.join(", ")
            ),
        ),
        Check::that(
            format!("that takes many clues, {MANY} at least, in the largest ball"),
            largest >= MANY,
            format!("{largest} clues"),
        ),
    ];
    if with_modes {
        let modes: Vec<f64> = series.iter().map(|one| Series::last(&one.modes)).collect();
        let several = series.iter().filter(|one| one.several_modes >= 0.5).count();
        checks.push(rises("the entropy of modes rises with δ", &delta, &modes));
        checks.push(Check::new(
            format!("within labels there are several modes of at least {LEAST_OF_A_MODE} clues"),
            Verdict::of_share(several, series.len()),
            format!(
                "for most inputs at {several} of {} radii; at the largest, entropy of modes {} against {} of labels",
                series.len(),
                figure(Series::last(&modes)),
                figure(Series::last(&labels))
            ),
        ));
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    /// Forty clues: the entropy of labels is `early` of its last value until `saturated`, that of modes does not matter.
    fn series(delta: f32, last: f64, early: f64, saturated: usize, several_modes: f64) -> Series {
        let labels = (1..=40).map(|n| if n < saturated { early * last } else { last }).collect();
        Series { delta, labels, modes: vec![last; 40], several_modes }
    }

    fn judged(series: [Series; 3]) -> Vec<Verdict> {
        Check::verdicts(checks(&series, &(1..=40).collect::<Vec<_>>(), true))
    }

    #[test]
    fn entropy_rises_with_the_radius_and_saturates_after_many_clues() {
        let at = |delta, last| series(delta, last, 0.5, 20, 0.6);
        assert_eq!(judged([at(1.0, 0.5), at(2.0, 1.0), at(3.0, 1.5)]), [Held; 5]);
        // It falls, is not saturated after half of the clues, or from the beginning, and labels have one mode.
        let late = |delta, last| series(delta, last, 0.5, 30, 0.4);
        let all = judged([late(1.0, 1.5), late(2.0, 1.0), late(3.0, 0.5)]);
        assert_eq!(all, [DidNotHold, DidNotHold, Held, DidNotHold, DidNotHold]);
        let soon = |delta, last| series(delta, last, 0.5, 19, 0.6);
        assert_eq!(judged([soon(1.0, 0.5), soon(2.0, 1.0), soon(3.0, 1.5)])[2], DidNotHold);
    }

    #[test]
    fn it_saturates_partly_if_it_does_at_most_radii() {
        let all = [(1.0, 20, 0.6), (2.0, 20, 0.6), (3.0, 30, 0.4)];
        let all = judged(all.map(|(delta, saturated, several)| series(delta, 1.0, 0.5, saturated, several)));
        assert_eq!((all[1], all[4]), (HeldPartly, HeldPartly));
    }

    #[test]
    fn modes_are_judged_where_they_are_asked_for() {
        let one = [series(1.0, 1.0, 0.5, 20, 0.6)];
        let counts: Vec<usize> = (1..=40).collect();
        assert_eq!((checks(&one, &counts, false).len(), checks(&one, &counts, true).len()), (3, 5));
    }
}
