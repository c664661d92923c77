//! Which groups one translation can serve: each class, anything to a class, or everything. [Ley2022, "Grouping Uncertainty"]

use super::settings::usual_lambda;
use crate::laboratory::Laboratory;
use crate::statistics::{figure, mean};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::amortise::{Ask, Encoded, Fit, LearnFrom, MapperKind, MapperPlan, Scheme, cheapest_first};
use cluekit::error::Result;
use cluekit::explanation::Clue;
use cluekit::search::Background;
use cluekit::seed::Seed;
use cluekit_plot::{Axis, Bars, Plot};
use serde::{Deserialize, Serialize};

/// Which inputs and schemes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// The models.
    pub models: String,
    /// Test inputs above this uncertainty.
    pub above: f32,
    /// λ_x of the cost.
    #[serde(default = "usual_lambda")]
    pub lambda_x: f32,
    /// The most probable classes whose mappers an input of unknown class is given to.
    pub classes: usize,
}

/// Up to this factor, a cost is as good as another.
const AS_GOOD: f64 = 1.05;

/// The mean cost of each scheme.
struct Costs {
    /// A mapper for each class, where the class is known.
    known: f64,
    /// The best of those of the most probable classes.
    probable: f64,
    /// The best of those from anything to these classes.
    towards: f64,
    /// One mapper for everything.
    any: f64,
    /// No mapper.
    redrawn: f64,
}

impl Groups {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let (models, search, background) = (stage.models()?, stage.judging(self.lambda_x), Background::default());
        let learned = stage.rows(lab.observer())?;
        let [train, validation] = &*learned;
        let mut fit = Fit::new(&models, &search, &background, [train, validation], stage.thresholds(), Seed(0));
        let inputs = stage.inputs(stage.above(self.above))?;
        let prepared = search.prepare(&models, &background, &inputs)?;
        let rows = Encoded::prepared(&prepared, &inputs);
        let several = Ask::MostProbable(self.classes);
        let asked = [
            ("A → A, class known", Scheme::Within, Ask::OwnClass),
            ("A → A, best of the most probable", Scheme::Within, several.clone()),
            ("* → A, best of the most probable", Scheme::AnyToClass, several),
            ("* → *", Scheme::Any, Ask::OwnClass),
        ]
        .map(|(name, scheme, ask)| (name, MapperKind::Glam, scheme, ask));
        let redrawn = ("only redrawn", MapperKind::Reconstruction, Scheme::Any, Ask::OwnClass);
        let mut table = Table::new("schemes", &["scheme", "mappers", "H", "d", "cost", "certain"]);
        let mut costs = Vec::new();
        for (name, method, scheme, ask) in asked.into_iter().chain([redrawn]) {
            let plan = MapperPlan::new(method, LearnFrom::Data);
            let fitted = fit.mappers(&plan, &scheme.pairs(stage.classes().len()), lab.observer())?;
            let mut sets = prepared.certify(&fitted.propose(&models, &rows, &ask, prepared.price(), name)?)?;
            cheapest_first(&mut sets);
            let clues: Vec<&Clue> = sets.iter().filter_map(|set| set.first()).collect();
            let average = |of: &dyn Fn(&Clue) -> f64| mean(clues.iter().map(|clue| of(clue)));
            let cost = average(&|clue| f64::from(clue.cost));
            let numbers = [
                average(&|c| f64::from(c.uncertainty.total)),
                average(&|c| f64::from(c.distance.input)),
                cost,
                average(&|c| f64::from(u8::from(c.accepted))),
            ];
            table.push([vec![name.into(), fitted.all.len().into()], numbers.map(Into::into).to_vec()].concat());
            costs.push((name, cost));
        }
        let [known, probable, towards, any, redrawn] = [0, 1, 2, 3, 4].map(|place: usize| costs[place].1);
        let schemes = Costs { known, probable, towards, any, redrawn };
        let plot = Plot::new(
            "One translation for which group?",
            Axis::new("").names(costs.iter().map(|(name, _)| (*name).to_owned()).collect()),
            Axis::new("mean cost H + λ d"),
        )
        .with(Bars::at_names(&costs.iter().map(|(_, cost)| *cost).collect::<Vec<_>>()))
        .sized(640.0, 420.0);
        Ok(StudyResult { seeds: vec![0], ..StudyResult::default() }
            .checks(checks(&schemes))
            .table(table)
            .picture("figure", plot.to_svg()))
    }
}

fn checks(&Costs { known, probable, towards, any, redrawn }: &Costs) -> Vec<Check> {
    vec![
        Check::that(
            "a translation for each class is better than none",
            known < redrawn,
            format!("cost {} against {} of what is only redrawn", figure(known), figure(redrawn)),
        ),
        Check::that(
            "one translation for everything is worse than one for each class",
            any > AS_GOOD * known,
            format!("cost {} against {}", figure(any), figure(known)),
        ),
        Check::new(
            "where the class is unknown, the best of several mappers serves",
            Verdict::of([probable, towards].map(|cost| Verdict::from_bool(cost <= AS_GOOD * known))),
            format!(
                "cost {} within classes and {} from anything, against {} where the class is known",
                figure(probable),
                figure(towards),
                figure(known)
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    #[test]
    fn a_translation_for_each_class_serves_and_one_for_all_does_not() {
        let judged = |costs| Check::verdicts(checks(&costs));
        let good = || Costs { known: 1.0, probable: 1.04, towards: 0.9, any: 1.2, redrawn: 1.5 };
        assert_eq!(judged(good()), [Held, Held, Held]);
        assert_eq!(judged(Costs { towards: 1.3, ..good() }), [Held, Held, HeldPartly]);
        let bad = Costs { known: 1.0, probable: 1.2, towards: 1.3, any: 1.04, redrawn: 0.9 };
        assert_eq!(judged(bad), [DidNotHold, DidNotHold, DidNotHold]);
    }
}
