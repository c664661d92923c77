//! For one uncertain input, how far each label is away, and how certain it gets on the way. [Ley2022, Fig. 2, App. B]

use super::settings::settings;
use crate::curves::{Curve, panel};
use crate::laboratory::{Laboratory, Stage, delta_clue};
use crate::statistics::{all_follow, class, figure, rank_correlation};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::error::Result;
use cluekit::explanation::{Explanation, Label};
use cluekit::seed::Seed;
use cluekit_plot::Axis;
use cluekit_report::{Content, Tile, TileRow, Tiles, tiles};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Two labels have an order if it is the same at this share of the radii.
const SAME_ORDER: f64 = 0.9;
/// Labels can be ranked if this share of their pairs has an order.
const RANKED: f64 = 0.9;
/// Radii at which a label, or two of them, must be found to say anything.
const LEAST_RADII: usize = 3;

settings! {
    /// Radii, and how many labels are shown, of the input with the most of them.
    pub struct TradeOff: Clues {
        /// The radii.
        pub deltas: Vec<f32>,
        /// Weight of distance.
        pub lambda_x: f32,
        /// Labels that are shown.
        pub labels: usize,
        /// What the claim comes down to.
        pub expect: Vec<Expectation>,
    }
}

/// What should be so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    /// For each label, less uncertainty costs distance, and δ decides how much of both.
    DeltaTrades,
    /// An input can become certain as one of several labels.
    SeveralLabels,
    /// Of two labels the same one is cheaper at almost every radius.
    LabelsAreRanked,
}

/// For one label, the cheapest clue at each radius.
struct Way {
    label: usize,
    clues: Vec<Step>,
}

/// The cheapest clue at one radius.
struct Step {
    delta: f32,
    uncertainty: f32,
    distance: f32,
    cost: f32,
    x: Vec<f32>,
}

impl Way {
    fn is_long(&self) -> bool {
        self.clues.len() >= LEAST_RADII
    }

    fn column(&self, of: fn(&Step) -> f32) -> Vec<f64> {
        self.clues.iter().map(|step| f64::from(of(step))).collect()
    }

    /// How two of δ, H and d go together.
    fn correlation(&self, a: fn(&Step) -> f32, b: fn(&Step) -> f32) -> f64 {
        rank_correlation(&self.column(a), &self.column(b))
    }

    /// The costs by radius.
    fn costs(&self) -> Vec<(f32, f32)> {
        self.clues.iter().map(|step| (step.delta, step.cost)).collect()
    }
}

impl TradeOff {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let rows = stage.top(self.inputs).to_vec();
        let mut sets: Vec<Arc<Vec<Explanation>>> = Vec::new();
        for &delta in &self.deltas {
            let search = delta_clue(delta, self.count, self.lambda_x, self.steps)?;
            sets.push(lab.explain(&stage, &search, &rows, Seed(self.seed))?);
        }
        let ways: Vec<Vec<Way>> = (0..rows.len()).map(|input| self.ways(&stage, &sets, input)).collect();
        let long = |way: &&Way| way.is_long();
        let shown = (0..ways.len()).max_by_key(|&i| (ways[i].iter().filter(long).count(), rows.len() - i)).unwrap_or(0);
        let mut kept: Vec<&Way> = ways[shown].iter().filter(long).collect();
        let cheapest = |way: &Way| way.clues.iter().map(|step| step.cost).fold(f32::INFINITY, f32::min);
        kept.sort_by(|a, b| cheapest(a).total_cmp(&cheapest(b)));
        kept.truncate(self.labels);
        let finding = StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(self.expect.iter().flat_map(|expectation| expectation.checks(&ways)))
            .table(self.table(&stage, &rows, &ways))
            .picture("curves", self.curves(&stage, rows[shown], &kept));
        let input = &sets[0][shown];
        match stage.explainer.schema().and_then(|schema| schema.image.as_ref()) {
            Some(_) => Ok(finding.picture("figure", self.picture(&stage, input, &kept)?)),
            None => Ok(finding),
        }
    }

    fn ways(&self, stage: &Stage, sets: &[Arc<Vec<Explanation>>], input: usize) -> Vec<Way> {
        let of_label = |label: usize| {
            let at = |(set, &delta): (&Arc<Vec<Explanation>>, &f32)| {
                let members = set[input].clues.iter().filter(|clue| clue.label == Label::Class(label));
                let least = members.min_by(|a, b| a.cost.total_cmp(&b.cost))?;
                let (uncertainty, distance) = (least.uncertainty.total, least.distance.input);
                Some(Step { delta, uncertainty, distance, cost: least.cost, x: least.x.clone() })
            };
            Way { label, clues: sets.iter().zip(&self.deltas).filter_map(at).collect() }
        };
        (0..stage.classes().len()).map(of_label).filter(|way| !way.clues.is_empty()).collect()
    }

    fn table(&self, stage: &Stage, rows: &[usize], ways: &[Vec<Way>]) -> Table {
        let mut table = Table::new("ways", &["input", "label", "delta", "H", "d", "cost"]);
        for (row, ways) in rows.iter().zip(ways) {
            for way in ways {
                for step in &way.clues {
                    let label = stage.classes()[way.label].as_str();
                    let numbers = [step.delta, step.uncertainty, step.distance, step.cost];
                    table.push([vec![(*row).into(), label.into()], numbers.map(Into::into).to_vec()].concat());
                }
            }
        }
        table
    }

    fn curves(&self, stage: &Stage, row: usize, ways: &[&Way]) -> String {
        let curve = |way: &&Way| {
            let mut points: Vec<(f64, f64)> =
                way.clues.iter().map(|step| (f64::from(step.distance), f64::from(step.uncertainty))).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Curve { points, ..Curve::new(format!("label {}", stage.classes()[way.label]), &[], []) }
        };
        let title = format!(
            "Input {row}: uncertainty against distance, for δ from {} to {}",
            self.deltas[0],
            self.deltas[self.deltas.len() - 1]
        );
        let before = figure(f64::from(stage.predictions[row].uncertainty.total));
        panel(&title, Axis::new("distance d"), Axis::new("uncertainty H (nats)"), ways.iter().map(curve).collect())
            .captioned(format!("Of the clues with each label, the cheapest at each δ. The input has H {before}."))
            .sized(640.0, 400.0)
            .to_svg()
    }

    fn picture(&self, stage: &Stage, input: &Explanation, ways: &[&Way]) -> Result<String> {
        let image = stage.image()?;
        let name = |class: Option<usize>| class.map_or("–".into(), |class| stage.classes()[class].clone());
        let original = Tile::picture(&input.input.x)
            .above("input")
            .below(format!("says {}", name(class(input.input.label))))
            .below(format!("H {:.2}", input.input.uncertainty.total));
        let row = |(place, way): (usize, &&Way)| {
            let first = if place == 0 { original.clone() } else { Tile::new(Content::Nothing) };
            let at = |delta: &f32| {
                let found = way.clues.iter().find(|step| step.delta.total_cmp(delta).is_eq());
                found.map_or(Tile::new(Content::Nothing), |step| {
                    Tile::picture(&step.x)
                        .above(format!("δ {delta}"))
                        .below(format!("H {:.2}", step.uncertainty))
                        .below(format!("d {:.1}", step.distance))
                })
            };
            let tiles = std::iter::once(first).chain(self.deltas.iter().map(at)).collect();
            TileRow { name: format!("→ {}", stage.classes()[way.label]), tiles }
        };
        let title = format!("Less uncertainty for more distance: input {}", input.input.index);
        let caption = "Each row is one label that δ-CLUE finds; its cheapest clue as the ball grows.";
        let rows = ways.iter().enumerate().map(row).collect();
        Ok(tiles(&Tiles { title: &title, caption, side: 72.0, rows }, image))
    }
}

/// Of two labels' costs by radius, the share of the radii at which the same one is cheaper; nothing if few have both.
fn same_order(a: &[(f32, f32)], b: &[(f32, f32)]) -> Option<f64> {
    let of_b = |delta: f32| b.iter().find(|(at, _)| at.total_cmp(&delta).is_eq()).map(|(_, cost)| *cost);
    let cheaper: Vec<bool> = a.iter().filter_map(|(delta, cost)| Some(*cost < of_b(*delta)?)).collect();
    let share = cheaper.iter().filter(|cheaper| **cheaper).count() as f64 / cheaper.len() as f64;
    (cheaper.len() >= LEAST_RADII).then_some(share.max(1.0 - share))
}

impl Expectation {
    fn checks(self, ways: &[Vec<Way>]) -> Vec<Check> {
        match self {
            Self::DeltaTrades => {
                let all: Vec<&Way> = ways.iter().flatten().filter(|way| way.is_long()).collect();
                let check = |says: &str, of: &dyn Fn(&Way) -> f64| {
                    let correlations: Vec<f64> = all.iter().map(|way| of(way)).collect();
                    let (verdict, figures) = all_follow(&correlations, 0);
                    Check::new(says, verdict, format!("{figures} labels of {} inputs", ways.len()))
                };
                vec![
                    check("for each label, uncertainty falls as δ grows", &|way| {
                        way.correlation(|step| -step.delta, |step| step.uncertainty)
                    }),
                    check("and the distance grows", &|way| way.correlation(|step| step.delta, |step| step.distance)),
                ]
            }
            Self::SeveralLabels => {
                let several = ways.iter().filter(|ways| ways.len() > 1).count();
                vec![Check::new(
                    "one uncertain input leads to several labels",
                    Verdict::of_share(several, ways.len()),
                    format!("{several} of {} inputs", ways.len()),
                )]
            }
            Self::LabelsAreRanked => {
                let pairs = |ways: &[Way]| -> Vec<f64> {
                    let of_one = |(place, way): (usize, &Way)| {
                        let later = ways[place + 1..].iter();
                        later.filter_map(|other| same_order(&way.costs(), &other.costs())).collect::<Vec<_>>()
                    };
                    ways.iter().enumerate().flat_map(of_one).collect()
                };
                let orders: Vec<f64> = ways.iter().flat_map(|ways| pairs(ways)).collect();
                let same = orders.iter().filter(|&&share| share >= SAME_ORDER).count();
                let share = same as f64 / orders.len() as f64;
                vec![Check::new(
                    "of two labels, the same one is cheaper at almost every radius",
                    match () {
                        () if share >= RANKED => Verdict::Held,
                        () if share >= 0.5 => Verdict::HeldPartly,
                        () => Verdict::DidNotHold,
                    },
                    format!("for {same} of {} pairs of labels", orders.len()),
                )]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    /// A label at the radii 0, 1, 2 …, each with H, d and cost.
    fn way(label: usize, steps: &[[f32; 3]]) -> Way {
        let step = |(place, &[uncertainty, distance, cost]): (usize, &[f32; 3])| Step {
            delta: place as f32,
            uncertainty,
            distance,
            cost,
            x: vec![],
        };
        Way { label, clues: steps.iter().enumerate().map(step).collect() }
    }

    fn judged(expectation: Expectation, ways: &[Vec<Way>]) -> Vec<Verdict> {
        Check::verdicts(expectation.checks(ways))
    }

    #[test]
    fn delta_trades_uncertainty_for_distance() {
        let trades = || way(0, &[[0.9, 1.0, 0.9], [0.5, 2.0, 0.6], [0.1, 3.0, 0.3]]);
        let stays = || way(1, &[[0.1, 3.0, 0.3], [0.5, 2.0, 0.6], [0.9, 1.0, 0.9]]);
        let short = || way(2, &[[0.1, 3.0, 0.3], [0.9, 1.0, 0.9]]);
        assert_eq!(judged(Expectation::DeltaTrades, &[vec![trades(), short()]]), [Held, Held], "two radii say nothing");
        assert_eq!(judged(Expectation::DeltaTrades, &[vec![trades(), stays()]]), [HeldPartly, HeldPartly]);
        assert_eq!(judged(Expectation::DeltaTrades, &[vec![stays()]]), [DidNotHold, DidNotHold]);
    }

    #[test]
    fn inputs_lead_to_several_labels() {
        let label = |label| way(label, &[[0.5, 1.0, 0.5]]);
        assert_eq!(judged(Expectation::SeveralLabels, &[vec![label(0), label(1)]]), [Held]);
        assert_eq!(judged(Expectation::SeveralLabels, &[vec![label(0)], vec![label(0), label(1)]]), [HeldPartly]);
        assert_eq!(judged(Expectation::SeveralLabels, &[vec![label(0)]]), [DidNotHold]);
    }

    #[test]
    fn labels_are_ranked_if_the_order_of_their_costs_stays() {
        let costs = |label, costs: [f32; 4]| way(label, &costs.map(|cost| [0.5, 1.0, cost]));
        let (cheap, dear) = (|| costs(0, [1.0, 1.0, 1.0, 1.0]), || costs(1, [2.0, 2.0, 2.0, 2.0]));
        let crossing = || costs(2, [2.0, 0.5, 2.0, 0.5]);
        assert_eq!(judged(Expectation::LabelsAreRanked, &[vec![cheap(), dear()]]), [Held]);
        let half = [vec![cheap(), dear()], vec![cheap(), crossing()]];
        assert_eq!(judged(Expectation::LabelsAreRanked, &half), [HeldPartly]);
        assert_eq!(judged(Expectation::LabelsAreRanked, &[vec![cheap(), crossing()]]), [DidNotHold]);
        assert_eq!(judged(Expectation::LabelsAreRanked, &[vec![cheap()]]), [DidNotHold], "there is no pair");
    }

    #[test]
    fn labels_have_an_order_if_the_same_one_is_cheaper_at_most_radii() {
        let costs = |costs: &[f32]| costs.iter().enumerate().map(|(i, &cost)| (i as f32, cost)).collect::<Vec<_>>();
        let cheap = costs(&[1.0, 1.0, 1.0, 1.0]);
        assert_eq!(same_order(&cheap, &costs(&[2.0, 2.0, 2.0, 0.5])), Some(0.75));
        assert_eq!(same_order(&costs(&[2.0, 2.0, 2.0, 0.5]), &cheap), Some(0.75));
        assert_eq!(same_order(&cheap, &costs(&[2.0, 2.0])), None, "two radii say nothing");
    }
}
