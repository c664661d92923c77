//! Whether counterfactuals still have the class of their input. [Ley2022, "GLAM-CLUE"]

use super::glam::{Outcome, class_of};
use super::settings::settings;
use crate::laboratory::Laboratory;
use crate::statistics::percent;
use crate::study_result::{Check, StudyResult, Table, Verdict};
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

/// How many of its counterfactuals of some inputs a method leaves in their class.
struct Kept {
    method: String,
    share: f64,
    inputs: usize,
}

impl ClassKept {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let entries = lab.contest(&stage, &self.methods, self.above, self.lambda_x)?;
        let rows = stage.above(self.above);
        let class = class_of(&stage, &self.class)?;
        let of_class = |row: usize| stage.target(row) == Some(class);
        let kept = |belongs: &dyn Fn(usize) -> bool| -> Vec<Kept> {
            let outcome = |entry| Outcome::of(entry, &stage, rows, self.lambda_x, belongs);
            let kept = |o: Outcome| Kept { method: o.method.to_owned(), share: o.kept, inputs: o.cost.len() };
            entries.iter().map(outcome).map(kept).collect()
        };
        let (one, all) = (kept(&of_class), kept(&|_| true));
        let mut table =
            Table::new("kept", &["method", "inputs of the class", "kept, class", "inputs", "kept, all classes"]);
        for (one, all) in one.iter().zip(&all) {
            let method = one.method.as_str().into();
            table.push(vec![method, one.inputs.into(), one.share.into(), all.inputs.into(), all.share.into()]);
        }
        let plot = Plot::new(
            "Counterfactuals that keep the class",
            Axis::new("").names(one.iter().map(|kept| kept.method.clone()).collect()),
            Axis::new("share").percent().between(0.0, 1.0),
        )
        .with(Bars::at_names(&one.iter().map(|kept| kept.share).collect::<Vec<_>>()))
        .captioned(format!("Uncertain inputs of class {}.", self.class))
        .sized(640.0, 380.0);
        Ok(StudyResult { seeds: vec![0], ..StudyResult::default() }
            .checks(checks(&self.class, self.printed, &one, &all))
            .table(table)
            .picture("figure", plot.to_svg()))
    }
}

/// For the inputs of one class, and for all of them.
fn checks(class: &str, [printed_glam, printed_clue]: [f64; 2], one: &[Kept], all: &[Kept]) -> Vec<Check> {
    let of =
        |list: &[Kept], name: &str| list.iter().find(|kept| kept.method == name).map_or(f64::NAN, |kept| kept.share);
    let (glam, clue) = (of(one, "glam-3"), of(one, "clue-2"));
    vec![
        Check::that(
            format!(
                "GLAM-CLUE within class {class} keeps the class almost always (the paper: {})",
                percent(printed_glam)
            ),
            glam >= printed_glam - NEAR,
            format!("glam-3 {} of {} inputs; all classes {}", percent(glam), one[0].inputs, percent(of(all, "glam-3"))),
        ),
        Check::new(
            format!("CLUE keeps it less often, about as often as in the paper: {}", percent(printed_clue)),
            Verdict::of([clue < glam, (clue - printed_clue).abs() <= NEAR].map(Verdict::from_bool)),
            format!("clue-2 {}; all classes {}", percent(clue), percent(of(all, "clue-2"))),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    #[test]
    fn glam_keeps_the_class_and_clue_less_often() {
        let kept = |method: &str, share| Kept { method: method.into(), share, inputs: 20 };
        let judged = |glam, clue| {
            let list = [kept("glam-3", glam), kept("clue-2", clue)];
            Check::verdicts(checks("4", [1.0, 0.8], &list, &list))
        };
        assert_eq!(judged(0.96, 0.82), [Held, Held]);
        assert_eq!(judged(0.96, 0.6), [Held, HeldPartly], "less often, but not as often as in the paper");
        assert_eq!(judged(0.9, 0.95), [DidNotHold, DidNotHold]);
        let without = [kept("latent-nn", 1.0)];
        let judged = Check::verdicts(checks("4", [1.0, 0.8], &without, &without));
        assert_eq!(judged, [DidNotHold, DidNotHold], "what was not compared keeps nothing");
    }
}
