//! What baselines, GLAM-CLUE and CLUE make of the same uncertain inputs, to look at. [Ley2022, Fig. on GLAM-CLUE]

use super::glam::BASELINES;
use super::settings::settings;
use crate::finding::{Check, Finding, Table, Verdict};
use crate::laboratory::Laboratory;
use crate::statistics::class;
use cluekit::error::Result;
use cluekit_report::{Content, Tile, TileRow, Tiles, tiles};

settings! {
    /// Which inputs and methods.
    pub struct Explanations: Contest {
        /// How many inputs are shown.
        pub inputs: usize,
    }
}

impl Explanations {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<Finding> {
        let stage = lab.stage(&self.models)?;
        let entries = lab.contest(&stage, &self.methods, self.above, self.lambda_x)?;
        let rows = stage.above(self.above);
        let mut table = Table::new("explanations", &["input", "method", "label", "H", "d", "cost"]);
        let mut shown = Vec::new();
        let mut unrealistic = 0;
        let inputs = self.inputs.min(rows.len());
        for (place, &row) in rows.iter().enumerate().take(inputs) {
            let name = |label: Option<usize>| label.map_or("–".into(), |label| stage.classes()[label].clone());
            let input = Tile::picture(stage.test().row(row))
                .above("input")
                .below(format!("is {}", name(stage.target(row))))
                .below(format!("H {:.2}", stage.predictions[row].uncertainty.total));
            let mut tiles = vec![input];
            let mut outcomes = Vec::new();
            for entry in entries.iter() {
                tiles.push(entry.clues[place].as_ref().map_or(Tile::new(Content::Nothing), |clue| {
                    let cost = clue.uncertainty.total + self.lambda_x * clue.distance.input;
                    let label = name(class(clue.label));
                    let numbers = [clue.uncertainty.total, clue.distance.input, cost];
                    table.push(
                        [
                            vec![row.into(), entry.method.as_str().into(), label.as_str().into()],
                            numbers.map(Into::into).to_vec(),
                        ]
                        .concat(),
                    );
                    outcomes.push((entry.method.as_str(), clue.uncertainty.total, cost));
                    Tile::picture(&clue.x)
                        .above(entry.method.clone())
                        .below(format!("{label}, H {:.2}", clue.uncertainty.total))
                        .below(format!("d {:.1}", clue.distance.input))
                        .below(format!("c {cost:.2}"))
                }));
            }
            let of = |name: &str| outcomes.iter().find(|(method, ..)| *method == name);
            let invalidated = |baseline: &str| {
                of(baseline).zip(of("glam-3")).is_some_and(|((_, h, cost), (_, h0, cost0))| h <= h0 && cost > cost0)
            };
            unrealistic += usize::from(BASELINES.into_iter().any(invalidated));
            shown.push(TileRow { name: String::new(), tiles });
        }
        let caption = "H uncertainty, d distance from the input, c = H + λ d cost.";
        let picture = tiles(
            &Tiles { title: "The same uncertain inputs, method by method", caption, side: 66.0, rows: shown },
            stage.image()?,
        );
        Ok(Finding { seeds: vec![0], ..Finding::default() }
            .check(Check::new(
                "some baseline is as certain as GLAM-CLUE, and so far away that it costs more",
                Verdict::of_share(unrealistic, inputs),
                format!("for {unrealistic} of {inputs} inputs"),
            ))
            .table(table)
            .picture("figure", picture))
    }
}
