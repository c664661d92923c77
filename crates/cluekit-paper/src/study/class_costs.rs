//! For one input, how the least cost of each class comes down as more clues are searched. [Ley2022, App. B]

use super::settings::{settings, usual_lambda};
use crate::curves::{Curve, panel};
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::figure;
use crate::study_result::{Check, StudyResult, Table};
use cluekit::error::Result;
use cluekit::explanation::{Clue, Label};
use cluekit::search::{InitScheme, Starts};
use cluekit::seed::Seed;
use cluekit_plot::{Axis, palette};

settings! {
    /// The clues of some inputs that are searched together; the first is shown.
    pub struct ClassCosts: Clues {
        /// The radius.
        pub delta: f32,
        /// Weight of distance.
        #[serde(default = "usual_lambda")]
        pub lambda_x: f32,
    }
}

/// One class: how often it was found, and the least cost so far after each clue.
struct Descent {
    class: usize,
    found: usize,
    least: Vec<f64>,
}

impl Descent {
    fn of(class: usize, clues: &[Clue]) -> Self {
        let mut least = f64::NAN;
        let mut found = 0;
        let mut after = |clue: &Clue| {
            if clue.label == Label::Class(class) {
                found += 1;
                least = least.min(f64::from(clue.cost));
            }
            least
        };
        let least = clues.iter().map(&mut after).collect();
        Self { class, found, least }
    }

    fn last(&self) -> f64 {
        self.least.last().copied().unwrap_or(f64::NAN)
    }
}

impl ClassCosts {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let search = delta_clue(self.delta, self.count, self.lambda_x, self.steps)?;
        let found = lab.explain(&stage, &search, stage.top(self.inputs), Seed(self.seed))?;
        let clues = &found[0].clues;
        let mut classes: Vec<Descent> =
            (0..stage.classes().len()).map(|class| Descent::of(class, clues)).filter(|one| one.found > 0).collect();
        classes.sort_by(|a, b| b.found.cmp(&a.found).then(a.class.cmp(&b.class)));
        let x: Vec<f64> = (1..=clues.len()).map(|n| n as f64).collect();
        let mut table = Table::new("costs", &["class", "clues", "least cost"]);
        for one in &classes {
            for (n, &cost) in x.iter().zip(&one.least) {
                table.push(vec![stage.classes()[one.class].as_str().into(), (*n).into(), cost.into()]);
            }
        }
        let curve = |one: &Descent| {
            let name = format!("{} ({} times)", stage.classes()[one.class], one.found);
            Curve::new(name, &x, one.least.iter().copied()).coloured(palette(one.class))
        };
        let row = found[0].input.index;
        let picture = panel(
            &format!("Input {row}: least cost of each class against the number of clues"),
            Axis::new("number of clues"),
            Axis::new("least cost H + λ d"),
            classes.iter().map(curve).collect(),
        )
        .captioned("In brackets how often the class was found.")
        .sized(680.0, 440.0);
        // Classes that are there, since paths to neighbours lead to them, but were not found.
        let mut paths = search.clone();
        paths.starts = Starts { schemes: vec![InitScheme::NearestPath], ..Starts::default() };
        let by_paths = lab.explain(&stage, &paths, stage.top(self.inputs), Seed(self.seed))?;
        let found_so = |class: &usize| by_paths[0].clues.iter().any(|clue| clue.label == Label::Class(*class));
        let missed: Vec<&str> = (0..stage.classes().len())
            .filter(|class| classes.iter().all(|one| one.class != *class))
            .filter(found_so)
            .map(|class| stage.classes()[class].as_str())
            .collect();
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(checks(&classes, clues.len(), &missed, stage.classes()))
            .table(table)
            .picture("figure", picture.to_svg()))
    }
}

/// Of classes by how often they were found, and of the names of those that were missed.
fn checks(classes: &[Descent], clues: usize, missed: &[&str], names: &[String]) -> Vec<Check> {
    let half = clues / 2;
    let early = |one: &&Descent| (one.least[half - 1] - one.last()) <= 0.05 * one.last();
    let prominent: Vec<&Descent> = classes.iter().take(2).collect();
    let settled = prominent.iter().filter(|one| early(one)).count();
    let courses: Vec<String> = prominent
        .iter()
        .map(|one| format!("{}: {} → {}", names[one.class], figure(one.least[half - 1]), figure(one.last())))
        .collect();
    let rare = classes.iter().filter(|one| one.found <= 2).count();
    let late = classes.iter().skip(2).filter(|one| !early(one)).count();
    vec![
        Check::that(
            "for the prominent classes half of the clues are enough",
            settled == prominent.len(),
            format!("least cost after {half} and after {clues} clues: {}", courses.join(", ")),
        ),
        Check::that(
            "rare classes would need more clues",
            missed.len() + rare + late > 0,
            format!(
                "never found, though paths to neighbours lead to them: {}; {rare} at most twice; {late} cheaper by \
                 over 5 % in the second half",
                if missed.is_empty() { "none".into() } else { missed.join(", ") }
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_result::Verdict::{DidNotHold, Held};

    /// A class with its least costs after two and after four clues.
    fn class(class: usize, found: usize, [half, last]: [f64; 2]) -> Descent {
        Descent { class, found, least: vec![half, half, last, last] }
    }

    fn judged(classes: &[Descent], missed: &[&str]) -> Vec<crate::study_result::Verdict> {
        let names: Vec<String> = (0..3).map(|digit| digit.to_string()).collect();
        Check::verdicts(checks(classes, 4, missed, &names))
    }

    #[test]
    fn prominent_classes_settle_early_and_rare_ones_are_missed() {
        let settled = || vec![class(0, 9, [1.0, 1.0]), class(1, 5, [1.04, 1.0])];
        assert_eq!(judged(&settled(), &["2"]), [Held, Held]);
        assert_eq!(judged(&settled(), &[]), [Held, DidNotHold], "nothing is missed, rare or late");
        let late = vec![class(0, 9, [1.0, 1.0]), class(1, 5, [1.2, 1.0])];
        assert_eq!(judged(&late, &[]), [DidNotHold, DidNotHold]);
    }

    #[test]
    fn a_class_that_is_rare_or_late_would_need_more_clues() {
        let with = |third| vec![class(0, 9, [1.0, 1.0]), class(1, 5, [1.0, 1.0]), third];
        assert_eq!(judged(&with(class(2, 2, [1.0, 1.0])), &[]), [Held, Held]);
        assert_eq!(judged(&with(class(2, 3, [1.2, 1.0])), &[]), [Held, Held]);
        assert_eq!(judged(&with(class(2, 3, [f64::NAN, 1.0])), &[]), [Held, Held], "found in the second half alone");
        assert_eq!(judged(&with(class(2, 3, [1.0, 1.0])), &[]), [Held, DidNotHold]);
    }
}
