//! What baselines, GLAM-CLUE and CLUE make of the same uncertain inputs, to look at. [Ley2022, Fig. on GLAM-CLUE]

use super::glam::BASELINES;
use super::settings::settings;
use crate::laboratory::Laboratory;
use crate::statistics::class;
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::error::Result;
use cluekit_report::{Content, Tile, TileRow, Tiles, tiles};

settings! {
    /// Which inputs and methods.
    pub struct Explanations: Contest {
        /// How many inputs are shown.
        pub inputs: usize,
    }
}

/// What a method makes of an input.
struct Outcome<'a> {
    method: &'a str,
    uncertainty: f32,
    cost: f32,
}

impl Explanations {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let entries = lab.contest(&stage, &self.methods, self.above, self.lambda_x)?;
        let rows = stage.above(self.above);
        let mut table = Table::new("explanations", &["input", "method", "label", "H", "d", "cost"]);
        let mut shown = Vec::new();
        let inputs = self.inputs.min(rows.len());
        let mut all = Vec::new();
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
                    outcomes.push(Outcome { method: &entry.method, uncertainty: clue.uncertainty.total, cost });
                    Tile::picture(&clue.x)
                        .above(entry.method.clone())
                        .below(format!("{label}, H {:.2}", clue.uncertainty.total))
                        .below(format!("d {:.1}", clue.distance.input))
                        .below(format!("c {cost:.2}"))
                }));
            }
            all.push(outcomes);
            shown.push(TileRow { name: String::new(), tiles });
        }
        let caption = "H uncertainty, d distance from the input, c = H + λ d cost.";
        let picture = tiles(
            &Tiles { title: "The same uncertain inputs, method by method", caption, side: 66.0, rows: shown },
            stage.image()?,
        );
        Ok(StudyResult { seeds: vec![0], ..StudyResult::default() }
            .check(check(&all))
            .table(table)
            .picture("figure", picture))
    }
}

/// Of every input, what the methods make of it.
fn check(inputs: &[Vec<Outcome>]) -> Check {
    let unrealistic = |outcomes: &&Vec<Outcome>| {
        let of = |name: &str| outcomes.iter().find(|outcome| outcome.method == name);
        let invalidated = |baseline: &str| {
            let both = of(baseline).zip(of("glam-3"));
            both.is_some_and(|(one, glam)| one.uncertainty <= glam.uncertainty && one.cost > glam.cost)
        };
        BASELINES.into_iter().any(invalidated)
    };
    let (unrealistic, all) = (inputs.iter().filter(unrealistic).count(), inputs.len());
    Check::new(
        "some baseline is as certain as GLAM-CLUE, and so far away that it costs more",
        Verdict::of_share(unrealistic, all),
        format!("for {unrealistic} of {all} inputs"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    #[test]
    fn a_baseline_that_is_as_certain_costs_more() {
        let outcomes = |[uncertainty, cost]: [f32; 2]| {
            let glam = Outcome { method: "glam-3", uncertainty: 0.2, cost: 0.5 };
            vec![glam, Outcome { method: "latent-nn", uncertainty, cost }]
        };
        let judged = |rows: &[[f32; 2]]| check(&rows.iter().copied().map(outcomes).collect::<Vec<_>>()).verdict;
        assert_eq!(judged(&[[0.1, 0.6], [0.2, 0.9]]), Held);
        assert_eq!(judged(&[[0.1, 0.6], [0.1, 0.4]]), HeldPartly, "one is certain and cheap");
        assert_eq!(judged(&[[0.3, 0.6], [0.1, 0.4]]), DidNotHold);
        let alone = vec![Outcome { method: "latent-nn", uncertainty: 0.1, cost: 0.9 }];
        assert_eq!(check(&[alone]).verdict, DidNotHold, "there is nothing to compare with");
    }
}
