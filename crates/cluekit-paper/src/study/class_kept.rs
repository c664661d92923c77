//! Whether counterfactuals still have the class of their input. [Ley2022, "GLAM-CLUE"]

use super::glam::{Outcome, class_of};
use super::settings::settings;
use crate::finding::{Check, Finding, Table, Verdict};
use crate::laboratory::Laboratory;
use crate::statistics::percent;
use cluekit::error::Result;
use cluekit_plot::{Axis, Bars, Plot};

settings! {
    /// Which inputs and methods.
    pub struct ClassKept: Contest {
        /// The class that the paper looks at.
        pub class: String,
        /// What the paper reports for GLAM-CLUE and for CLUE.
        pub printed: [f64; 2],
    }
}

/// Shares that differ by this much are about the same.
const NEAR: f64 = 0.05;

impl ClassKept {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<Finding> {
        let stage = lab.stage(&self.models)?;
        let entries = lab.contest(&stage, &self.methods, self.above, self.lambda_x)?;
        let rows = stage.above(self.above);
        let class = class_of(&stage, &self.class)?;
        let of_class = |row: usize| stage.target(row) == Some(class);
        let kept = |belongs: &dyn Fn(usize) -> bool| -> Vec<(String, f64, usize)> {
            let outcome = |entry| Outcome::of(entry, &stage, rows, self.lambda_x, belongs);
            entries.iter().map(outcome).map(|o| (o.method.to_owned(), o.kept, o.cost.len())).collect()
        };
        let (one, all) = (kept(&of_class), kept(&|_| true));
        let mut table =
            Table::new("kept", &["method", "inputs of the class", "kept, class", "inputs", "kept, all classes"]);
        for ((method, share, count), (_, all_share, all_count)) in one.iter().zip(&all) {
            table.push(vec![
                method.as_str().into(),
                (*count).into(),
                (*share).into(),
                (*all_count).into(),
                (*all_share).into(),
            ]);
        }
        let of = |list: &[(String, f64, usize)], name: &str| {
            list.iter().find(|(m, ..)| m == name).map_or(f64::NAN, |(_, share, _)| *share)
        };
        let glam = of(&one, "glam-3");
        let clue = of(&one, "clue-2");
        let [printed_glam, printed_clue] = self.printed;
        let plot = Plot::new(
            "Counterfactuals that keep the class",
            Axis::new("").names(one.iter().map(|(m, ..)| m.clone()).collect()),
            Axis::new("share").percent().between(0.0, 1.0),
        )
        .with(Bars::at_names(&one.iter().map(|(_, share, _)| *share).collect::<Vec<_>>()))
        .captioned(format!("Uncertain inputs of class {}.", self.class))
        .sized(640.0, 380.0);
        Ok(Finding { seeds: vec![0], ..Finding::default() }
            .check(Check::that(
                format!(
                    "GLAM-CLUE within class {} keeps the class almost always (the paper: {})",
                    self.class,
                    percent(printed_glam)
                ),
                glam >= printed_glam - NEAR,
                format!("glam-3 {} of {} inputs; all classes {}", percent(glam), one[0].2, percent(of(&all, "glam-3"))),
            ))
            .check(Check::new(
                format!("CLUE keeps it less often, about as often as in the paper: {}", percent(printed_clue)),
                Verdict::of([clue < glam, (clue - printed_clue).abs() <= NEAR].map(Verdict::from_bool)),
                format!("clue-2 {}; all classes {}", percent(clue), percent(of(&all, "clue-2"))),
            ))
            .table(table)
            .picture("figure", plot.to_svg()))
    }
}
