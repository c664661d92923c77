//! The difference of means between uncertain and certain inputs of a class, step by step. [Ley2022, App. E]

use super::glam::class_of;
use super::settings::usual_lambda;
use crate::laboratory::Laboratory;
use crate::statistics::{figure, mean};
use crate::study_result::{Check, StudyResult, Table};
use cluekit::amortise::{Group, Pair};
use cluekit::error::Result;
use cluekit::explanation::Clue;
use cluekit_report::{Content, Tile, TileRow, Tiles, tiles};
use serde::{Deserialize, Serialize};

/// Which class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputDbm {
    /// The models.
    pub models: String,
    /// The class.
    pub class: String,
    /// The methods of the comparison behind it.
    pub methods: Vec<String>,
    /// Test inputs above this uncertainty.
    pub above: f32,
    /// λ_x of the cost.
    #[serde(default = "usual_lambda")]
    pub lambda_x: f32,
    /// How many of them are shown.
    pub inputs: usize,
}

impl InputDbm {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let class = class_of(&stage, &self.class)?;
        let entries = lab.contest(&stage, &self.methods, self.above, self.lambda_x)?;
        let train = &stage.rows(lab.observer())?[0];
        let pair = Pair::of_classes(Some(class), Some(class));
        let group = Group::of(&pair, train, &stage.thresholds(), &stage.models()?)?;
        let average = |rows: &[usize]| -> Vec<f32> {
            let pixel = |i: usize| mean(rows.iter().map(|&row| f64::from(train.x(row)[i]))) as f32;
            (0..train.width).map(pixel).collect()
        };
        let (uncertain, certain) = (average(&group.uncertain), average(&group.certain));
        let change: Vec<f32> = certain.iter().zip(&uncertain).map(|(a, b)| a - b).collect();
        let part = |sign: f32| change.iter().map(|c| sign * (sign * c).max(0.0)).collect::<Vec<f32>>();
        let full = change.iter().fold(0.0f32, |most, c| most.max(c.abs()));
        let image = stage.image()?;
        let mut rows = vec![TileRow {
            name: format!("class {}", self.class),
            tiles: vec![
                Tile::picture(&uncertain)
                    .above("uncertain, mean")
                    .below(format!("{} training rows", group.uncertain.len())),
                Tile::picture(&certain).above("certain, mean").below(format!("{} training rows", group.certain.len())),
                Tile::new(Content::Changes(part(1.0), full)).above("added"),
                Tile::new(Content::Changes(part(-1.0), full)).above("taken away"),
            ],
        }];
        let dbm = entries.iter().find(|entry| entry.method == "input-dbm");
        let of_class: Vec<(usize, usize)> = stage
            .above(self.above)
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, row)| stage.target(*row) == Some(class))
            .take(self.inputs)
            .collect();
        for (place, row) in of_class {
            let x = stage.test().row(row);
            let added: Vec<f32> = x.iter().zip(&change).map(|(x, c)| (x + c).clamp(0.0, 1.0)).collect();
            let result =
                dbm.and_then(|entry| entry.clues[place].as_ref()).map_or(Tile::new(Content::Nothing), |clue| {
                    Tile::picture(&clue.x).above("reconstructed").below(format!("H {:.2}", clue.uncertainty.total))
                });
            rows.push(TileRow {
                name: format!("input {row}"),
                tiles: vec![
                    Tile::picture(x).above("input").below(format!("H {:.2}", stage.predictions[row].uncertainty.total)),
                    Tile::picture(&added).above("plus the difference"),
                    result,
                ],
            });
        }
        let cost = |clue: &Clue| f64::from(clue.uncertainty.total + self.lambda_x * clue.distance.input);
        let costs: Vec<(&str, f64)> =
            entries.iter().map(|entry| (entry.method.as_str(), mean(entry.clues.iter().flatten().map(cost)))).collect();
        let mut table = Table::new("costs", &["method", "mean cost over all classes"]);
        for &(method, cost) in &costs {
            table.push(vec![method.into(), cost.into()]);
        }
        let (title, caption) = (
            "The difference of means in input space",
            "Uncertain: above what a clue is accepted below. Certain: below it, and predicted rightly.",
        );
        Ok(StudyResult { seeds: vec![0], ..StudyResult::default() }
            .checks(checks(&costs))
            .table(table)
            .picture("figure", tiles(&Tiles { title, caption, side: 96.0, rows }, image)))
    }
}

/// Of the mean cost of each method.
fn checks(costs: &[(&str, f64)]) -> Vec<Check> {
    let cost = |name: &str| costs.iter().find(|(method, _)| *method == name).map_or(f64::NAN, |(_, cost)| *cost);
    vec![
        Check::that(
            "the latent difference of means costs less than that of inputs",
            cost("latent-dbm") < cost("input-dbm"),
            format!("{} against {}", figure(cost("latent-dbm")), figure(cost("input-dbm"))),
        ),
        Check::that(
            "a learned translation costs less than the difference that it starts from",
            cost("glam-1") < cost("latent-dbm"),
            format!("glam-1 {} against {}", figure(cost("glam-1")), figure(cost("latent-dbm"))),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_result::Verdict::{DidNotHold, Held};

    #[test]
    fn latent_differences_are_cheaper_and_learned_ones_cheaper_still() {
        let judged = |input, latent, glam| {
            Check::verdicts(checks(&[("input-dbm", input), ("latent-dbm", latent), ("glam-1", glam)]))
        };
        assert_eq!(judged(0.9, 0.8, 0.7), [Held, Held]);
        assert_eq!(judged(0.9, 0.8, 0.85), [Held, DidNotHold]);
        assert_eq!(judged(0.7, 0.8, 0.9), [DidNotHold, DidNotHold]);
        assert_eq!(Check::verdicts(checks(&[])), [DidNotHold, DidNotHold], "nothing was compared");
    }
}
