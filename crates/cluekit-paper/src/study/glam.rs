//! GLAM-CLUE, baselines and CLUE on uncertain inputs: H, d and cost. [Ley2022, Fig. on GLAM-CLUE, App. E]

use super::settings::settings;
use crate::curves::{Curve, panel};
use crate::laboratory::{Laboratory, Stage};
use crate::statistics::{class, figure, mean};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::error::{Error, Result};
use cluekit::explainer::Entry;
use cluekit::explanation::Clue;
use cluekit_plot::{Axis, Grid};
use cluekit_report::{MethodValues, comparison};

/// The baselines of the paper.
pub(super) const BASELINES: [&str; 4] = ["input-dbm", "latent-dbm", "input-nn", "latent-nn"];

/// Its three mappers.
const GLAMS: [&str; 3] = ["glam-1", "glam-2", "glam-3"];

settings! {
    /// Which inputs and methods.
    pub struct Glam: Contest {
        /// Only inputs of this class.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub class: Option<String>,
        /// Class by class instead of all together.
        #[serde(default)]
        pub by_class: bool,
    }
}

/// What one method makes of some inputs.
pub(super) struct Outcome<'a> {
    pub method: &'a str,
    pub uncertainty: Vec<f32>,
    pub distance: Vec<f32>,
    pub cost: Vec<f32>,
    pub kept: f64,
    pub certain: f64,
}

impl<'a> Outcome<'a> {
    /// Of the inputs that `belongs` accepts, by their place.
    pub fn of(entry: &'a Entry, stage: &Stage, rows: &[usize], lambda_x: f32, belongs: &dyn Fn(usize) -> bool) -> Self {
        let clues: Vec<(usize, &Clue)> = entry
            .clues
            .iter()
            .zip(rows)
            .filter_map(|(clue, &row)| Some((row, clue.as_ref()?)))
            .filter(|(row, _)| belongs(*row))
            .collect();
        let share = |holds: &dyn Fn(&(usize, &Clue)) -> bool| {
            clues.iter().filter(|clue| holds(clue)).count() as f64 / clues.len().max(1) as f64
        };
        Self {
            method: &entry.method,
            uncertainty: clues.iter().map(|(_, clue)| clue.uncertainty.total).collect(),
            distance: clues.iter().map(|(_, clue)| clue.distance.input).collect(),
            cost: clues.iter().map(|(_, clue)| clue.uncertainty.total + lambda_x * clue.distance.input).collect(),
            kept: share(&|(row, clue)| class(clue.label) == stage.target(*row)),
            certain: share(&|(_, clue)| clue.accepted),
        }
    }

    pub fn means(&self) -> [f64; 3] {
        [&self.uncertainty, &self.distance, &self.cost].map(|values| mean(values.iter().map(|&v| f64::from(v))))
    }

    fn deviation(&self) -> f64 {
        let [_, _, average] = self.means();
        mean(self.cost.iter().map(|&cost| (f64::from(cost) - average).powi(2))).sqrt()
    }
}

impl Glam {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let entries = lab.contest(&stage, &self.methods, self.above, self.lambda_x)?;
        let rows = stage.above(self.above);
        let finding = StudyResult { seeds: vec![0], ..StudyResult::default() };
        if self.by_class {
            return self.class_by_class(finding, &stage, &entries, rows);
        }
        let wanted = match &self.class {
            Some(name) => Some(class_of(&stage, name)?),
            None => None,
        };
        let belongs = |row: usize| wanted.is_none() || stage.target(row) == wanted;
        let outcomes: Vec<Outcome> =
            entries.iter().map(|entry| Outcome::of(entry, &stage, rows, self.lambda_x, &belongs)).collect();
        let values = |o: &'_ Outcome| -> Vec<f64> { o.means().to_vec() };
        let mut table = Table::new(
            "methods",
            &["method", "inputs", "H", "d", "cost", "deviation of cost", "class kept", "certain"],
        );
        for o in &outcomes {
            let numbers = [values(o), vec![o.deviation(), o.kept, o.certain]].concat();
            let words = vec![o.method.into(), o.cost.len().into()];
            table.push([words, numbers.into_iter().map(Into::into).collect()].concat());
        }
        let shown: Vec<MethodValues> = outcomes
            .iter()
            .map(|o| MethodValues { name: o.method, uncertainty: &o.uncertainty, distance: &o.distance, cost: &o.cost })
            .collect();
        Ok(finding.checks(checks(&outcomes)).table(table).picture("figure", comparison(&shown, "nats", self.lambda_x)))
    }

    fn class_by_class(
        &self,
        finding: StudyResult,
        stage: &Stage,
        entries: &[Entry],
        rows: &[usize],
    ) -> Result<StudyResult> {
        let classes: Vec<usize> =
            (0..stage.classes().len()).filter(|&c| rows.iter().any(|&row| stage.target(row) == Some(c))).collect();
        let outcome = |entry, class: usize| {
            Outcome::of(entry, stage, rows, self.lambda_x, &|row| stage.target(row) == Some(class))
        };
        let mut table = Table::new("classes", &["class", "method", "inputs", "H", "d", "cost", "class kept"]);
        for &class in &classes {
            for o in entries.iter().map(|entry| outcome(entry, class)) {
                let [h, d, cost] = o.means();
                let name = stage.classes()[class].as_str();
                table.push(vec![
                    name.into(),
                    o.method.into(),
                    o.cost.len().into(),
                    h.into(),
                    d.into(),
                    cost.into(),
                    o.kept.into(),
                ]);
            }
        }
        let names: Vec<String> = classes.iter().map(|&class| stage.classes()[class].clone()).collect();
        let places: Vec<f64> = (0..classes.len()).map(|place| place as f64).collect();
        let plot = |place: usize, title: &str| {
            let curve = |entry| {
                let values = classes.iter().map(|&class| outcome(entry, class).means()[place]);
                Curve::new(&*entry.method, &places, values)
            };
            panel(title, Axis::new("class").names(names.clone()), Axis::new(""), entries.iter().map(curve).collect())
                .sized(520.0, 380.0)
        };
        let plots =
            vec![plot(0, "Mean uncertainty H (nats)"), plot(1, "Mean distance d"), plot(2, "Mean cost H + λ d")];
        let costs = |&class: &usize| -> Vec<(&str, f64)> {
            entries.iter().map(|entry| (entry.method.as_str(), outcome(entry, class).means()[2])).collect()
        };
        Ok(finding
            .checks(checks_by_class(&classes.iter().map(costs).collect::<Vec<_>>()))
            .table(table)
            .picture("figure", Grid::new("Methods, class by class", 2, plots).to_svg()))
    }
}

pub(super) fn class_of(stage: &Stage, name: &str) -> Result<usize> {
    stage.classes().iter().position(|class| class == name).ok_or_else(|| {
        Error::setting("class", format!("there is no class `{name}`; the classes are {}", stage.classes().join(", ")))
    })
}

fn checks(outcomes: &[Outcome]) -> Vec<Check> {
    let of = |name: &str| outcomes.iter().find(|outcome| outcome.method == name);
    let cost = |name: &str| of(name).map_or(f64::NAN, |outcome| outcome.means()[2]);
    let glams = GLAMS;
    let baselines: Vec<&Outcome> = BASELINES.into_iter().filter_map(of).collect();
    // What is missing is not a number, and beats nothing.
    let beaten = baselines.iter().filter(|baseline| glams.iter().all(|glam| cost(glam) < baseline.means()[2])).count();
    let list = |names: &[&str]| {
        names.iter().map(|name| format!("{name} {}", figure(cost(name)))).collect::<Vec<_>>().join(", ")
    };
    let steadier =
        baselines.iter().filter(|b| of("glam-3").is_some_and(|glam| glam.deviation() < b.deviation())).count();
    let nearer = baselines.iter().filter(|b| of("glam-3").is_some_and(|glam| glam.means()[1] < b.means()[1])).count();
    let ratio = cost("glam-3") / cost("clue-2");
    let deviation = |name: &str| of(name).map_or(f64::NAN, Outcome::deviation);
    vec![
        Check::new(
            "each GLAM-CLUE costs less than every baseline",
            Verdict::of_share(beaten, baselines.len()),
            format!("cost {}; {}", list(&glams), list(&BASELINES)),
        ),
        Check::new(
            "with less variance",
            Verdict::of_share(steadier, baselines.len()),
            format!(
                "deviation of the cost: glam-3 {}; {}",
                figure(deviation("glam-3")),
                BASELINES.map(|name| format!("{name} {}", figure(deviation(name)))).join(", ")
            ),
        ),
        Check::new(
            "baselines move farther from the input",
            Verdict::of_share(nearer, baselines.len()),
            outcomes.iter().map(|o| format!("{} d {}", o.method, figure(o.means()[1]))).collect::<Vec<_>>().join(", "),
        ),
        Check::new(
            "learning from CLUEs is better than from data, and best with λ_x = 0.03",
            Verdict::of([cost("glam-2") <= cost("glam-1"), cost("glam-3") <= cost("glam-2")].map(Verdict::from_bool)),
            format!("cost {}", list(&glams)),
        ),
        Check::new(
            "the cost is on par with that of CLUE",
            match ratio {
                ratio if ratio <= 1.1 => Verdict::Held,
                ratio if ratio <= 1.5 => Verdict::HeldPartly,
                _ => Verdict::DidNotHold,
            },
            format!(
                "GLAM 3 costs {} times as much as CLUE 2: {} and {}",
                figure(ratio),
                figure(cost("glam-3")),
                figure(cost("clue-2"))
            ),
        ),
    ]
}

/// Of every class, the mean cost of each method.
fn checks_by_class(classes: &[Vec<(&str, f64)>]) -> [Check; 2] {
    // What is missing is not a number, and beats nothing.
    let cost = |costs: &[(&str, f64)], name: &str| {
        costs.iter().find(|(method, _)| *method == name).map_or(f64::NAN, |(_, cost)| *cost)
    };
    let beats = |costs: &&Vec<(&str, f64)>| {
        GLAMS.iter().all(|glam| BASELINES.iter().all(|baseline| cost(costs, glam) < cost(costs, baseline)))
    };
    let count = classes.iter().filter(beats).count();
    let improved = classes.iter().filter(|costs| cost(costs, "glam-3") <= cost(costs, "glam-1")).count();
    [
        Check::new(
            "for every class each GLAM-CLUE beats every baseline in cost",
            Verdict::of_share(count, classes.len()),
            format!("for {count} of {} classes", classes.len()),
        ),
        Check::new(
            "learning from CLUEs beats learning from data",
            Verdict::of_share(improved, classes.len()),
            format!("GLAM 3 costs at most as much as GLAM 1 for {improved} of {} classes", classes.len()),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    /// Two inputs, at these distances and these costs.
    fn outcome(method: &str, distance: f32, cost: [f32; 2]) -> Outcome<'_> {
        Outcome {
            method,
            uncertainty: vec![0.1; 2],
            distance: vec![distance; 2],
            cost: cost.to_vec(),
            kept: 1.0,
            certain: 1.0,
        }
    }

    /// Distance and costs of the three mappers, of all four baselines, and of CLUE.
    fn judged(glams: [(f32, [f32; 2]); 3], baseline: (f32, [f32; 2]), clue: [f32; 2]) -> Vec<Verdict> {
        let mappers = GLAMS.iter().zip(glams).map(|(name, (d, cost))| outcome(name, d, cost));
        let baselines = BASELINES.iter().map(|name| outcome(name, baseline.0, baseline.1));
        let all: Vec<Outcome> = mappers.chain(baselines).chain([outcome("clue-2", 1.0, clue)]).collect();
        Check::verdicts(checks(&all))
    }

    #[test]
    fn glam_is_cheaper_steadier_and_nearer_than_baselines_and_on_par_with_clue() {
        let glams = [(5.0, [0.6, 0.7]), (5.0, [0.5, 0.6]), (4.0, [0.4, 0.5])];
        assert_eq!(judged(glams, (9.0, [0.8, 1.2]), [0.4, 0.5]), [Held; 5]);
        // Dearer, less steady and farther away than the baselines, worse with every step, and dearer than CLUE by far.
        let glams = [(5.0, [0.6, 0.7]), (5.0, [0.7, 0.8]), (9.0, [0.8, 1.2])];
        assert_eq!(judged(glams, (4.0, [0.5, 0.6]), [0.4, 0.5]), [DidNotHold; 5]);
    }

    #[test]
    fn glam_is_nearly_on_par_up_to_half_as_much_again() {
        let glams = [(5.0, [0.6, 0.7]), (5.0, [0.7, 0.8]), (4.0, [0.5, 0.6])];
        let partly = judged(glams, (9.0, [0.8, 1.2]), [0.4, 0.5]);
        assert_eq!(partly[3..], [HeldPartly; 2], "0.55 is 1.2 times 0.45");
    }

    #[test]
    fn what_was_not_compared_beats_nothing() {
        assert_eq!(Check::verdicts(checks(&[outcome("clue-2", 1.0, [0.4, 0.5])])), [DidNotHold; 5]);
    }

    #[test]
    fn mappers_are_compared_class_by_class() {
        let class = |glams: [f64; 3], baseline: f64| -> Vec<(&str, f64)> {
            GLAMS.into_iter().zip(glams).chain(BASELINES.map(|name| (name, baseline))).collect()
        };
        let (good, bad) = (class([0.6, 0.5, 0.4], 0.9), class([0.4, 0.5, 0.6], 0.55));
        let judged = |classes: &[Vec<(&str, f64)>]| Check::verdicts(checks_by_class(classes));
        assert_eq!(judged(&[good.clone(), good.clone()]), [Held, Held]);
        assert_eq!(judged(&[good.clone(), bad.clone()]), [HeldPartly, HeldPartly]);
        assert_eq!(judged(&[bad]), [DidNotHold, DidNotHold]);
        assert_eq!(judged(&[good[..5].to_vec()]), [DidNotHold, Held], "a baseline is missing");
    }
}
