//! A distribution of labels from the costs of clues. [Ley2022, App. B, "Computing a Label Distribution"]

use super::settings::{settings, usual_lambda};
use crate::laboratory::{Laboratory, Stage, delta_clue};
use crate::statistics::{class, entropy, figure, spread};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::error::Result;
use cluekit::explanation::{Clue, Explanation, Label};
use cluekit::seed::Seed;
use cluekit_plot::{Axis, Bars, ColourMap, Grid, Plot, Scatter};
use cluekit_report::heatmap;

/// The size of one panel.
const PANEL: (f64, f64) = (330.0, 290.0);

settings! {
    /// The inputs and their clues; the first wrong one is shown.
    pub struct LabelDistribution: Clues {
        /// The radius.
        pub delta: f32,
        /// Weight of distance.
        #[serde(default = "usual_lambda")]
        pub lambda_x: f32,
    }
}

impl LabelDistribution {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let search = delta_clue(self.delta, self.count, self.lambda_x, self.steps)?;
        let found = lab.explain(&stage, &search, stage.top(self.inputs), Seed(self.seed))?;
        let wrong = |e: &&Explanation| e.input.target.is_some_and(|target| target != e.input.label);
        let shown = found.iter().find(|e| wrong(e) && e.label_distribution.is_some()).unwrap_or(&found[0]);
        let mut table =
            Table::new("distributions", &["input", "class", "true", "predicted", "probability", "label distribution"]);
        for e in found.iter() {
            let weights = e.label_distribution.clone().unwrap_or_default();
            for (label, name) in stage.classes().iter().enumerate() {
                table.push(vec![
                    e.input.index.into(),
                    name.as_str().into(),
                    usize::from(e.input.target == Some(Label::Class(label))).into(),
                    usize::from(e.input.label == Label::Class(label)).into(),
                    e.input.probabilities[label].into(),
                    weights.get(label).copied().unwrap_or(f64::NAN).into(),
                ]);
            }
        }
        let weighed = |e: &Explanation| (e.input.target.and_then(class), e.label_distribution.clone());
        let inputs: Vec<Weighed> = found.iter().map(weighed).collect();
        let labels = entropy(shown.accepted().map(|(_, clue)| class(clue.label)));
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(checks(&inputs, shown.input.index, labels))
            .table(table)
            .table(costs_table(shown, &stage))
            .picture("figure", distribution_picture(shown, &stage)?)
            .picture("costs", costs_picture(shown, &stage)))
    }
}

/// The true class of an input, and the weights of all classes if its clues have some.
type Weighed = (Option<usize>, Option<Vec<f64>>);

/// `shown` is the input of the picture, and `labels` the entropy of the labels of its accepted clues.
fn checks(inputs: &[Weighed], shown: usize, labels: f64) -> Vec<Check> {
    let with: Vec<(&Option<usize>, &Vec<f64>)> =
        inputs.iter().filter_map(|(target, weights)| Some((target, weights.as_ref()?))).collect();
    let several = with.iter().filter(|(_, weights)| weights.iter().filter(|&&w| w > 0.05).count() > 1).count();
    let likely = |(target, weights): &&(&Option<usize>, &Vec<f64>)| {
        target.is_some_and(|target| weights[target] > 1.0 / weights.len() as f64)
    };
    let (covered, all) = (with.iter().filter(likely).count(), with.len());
    vec![
        Check::new(
            "the clues of an input can be summed up in a distribution of several labels",
            Verdict::of_share(several, inputs.len()),
            format!("more than one label above 5 % for {several} of {} inputs", inputs.len()),
        ),
        Check::new(
            "it gives weight to the true label, whatever the model says",
            Verdict::of_share(covered, all),
            format!(
                "the true label above an equal share for {covered} of {all} inputs; shown: input {shown}, entropy of \
                 its labels {}",
                figure(labels)
            ),
        ),
    ]
}

/// Mean and least of something about the accepted clues of one class, those that its weight comes from.
fn of_class(shown: &Explanation, label: usize, of: fn(&Clue) -> f32) -> [f64; 2] {
    let members = shown.accepted().map(|(_, clue)| clue).filter(|clue| clue.label == Label::Class(label));
    let [least, mean, _] = spread(members.map(|clue| f64::from(of(clue))));
    [mean, if least.is_finite() { least } else { f64::NAN }]
}

/// Title, label of the axis, and the number itself.
type Of = (&'static str, &'static str, fn(&Clue) -> f32);

const COSTS: [Of; 3] = [
    ("Uncertainty", "H (nats)", |clue| clue.uncertainty.total),
    ("Distance", "d", |clue| clue.distance.input),
    ("Cost", "H + λ d", |clue| clue.cost),
];

fn costs_table(shown: &Explanation, stage: &Stage) -> Table {
    let mut table =
        Table::new("costs", &["class", "H mean", "H least", "d mean", "d least", "cost mean", "cost least"]);
    for (label, name) in stage.classes().iter().enumerate() {
        let numbers = COSTS.iter().flat_map(|(_, _, of)| of_class(shown, label, *of)).map(Into::into);
        table.push(std::iter::once(name.as_str().into()).chain(numbers).collect());
    }
    table
}

fn costs_picture(shown: &Explanation, stage: &Stage) -> String {
    let names = stage.classes().to_vec();
    let plot = |(title, label, of): &Of| {
        let both: Vec<[f64; 2]> = (0..names.len()).map(|class| of_class(shown, class, *of)).collect();
        let points = both.iter().enumerate().map(|(class, values)| (class as f64, values[0])).collect();
        let least: Vec<f64> = both.iter().map(|values| values[1]).collect();
        Plot::new(*title, Axis::new("class").names(names.clone()), Axis::new(*label))
            .with(Bars { name: Some("least".into()), ..Bars::at_names(&least) })
            .with(Scatter { points, name: Some("mean".into()), radius: 4.0, ..Scatter::default() })
            .sized(PANEL.0, PANEL.1)
    };
    let title = format!("Input {}: what its accepted clues of each class cost", shown.input.index);
    Grid::new(title, 3, COSTS.iter().map(plot).collect()).to_svg()
}

fn distribution_picture(shown: &Explanation, stage: &Stage) -> Result<String> {
    let names = stage.classes().to_vec();
    let bars = |title: &str, heights: &[f64]| {
        Plot::new(title, Axis::new("class").names(names.clone()), Axis::new("share").percent().between(0.0, 1.0))
            .with(Bars::at_names(heights))
            .sized(PANEL.0, PANEL.1)
    };
    let probabilities: Vec<f64> = shown.input.probabilities.iter().map(|&p| f64::from(p)).collect();
    let weights = shown.label_distribution.clone().unwrap_or(vec![0.0; names.len()]);
    let name = |label: Option<Label>| label.and_then(class).map_or("–".into(), |label| names[label].clone());
    let (is, says) = (name(shown.input.target), name(Some(shown.input.label)));
    let mut panels = Vec::new();
    if let Some(image) =
        stage.explainer.schema().and_then(|schema| schema.image.as_ref()).filter(|image| image.channels == 1)
    {
        let rows = shown.input.x.chunks_exact(image.width).rev();
        let values: Vec<f64> = rows.flatten().map(|&v| f64::from(v)).collect();
        let (width, height) = (image.width, image.height);
        let mut picture = heatmap(values, width, height, (0.0, width as f64), (0.0, height as f64))?;
        (picture.map, picture.range, picture.label) = (ColourMap::Pale, Some((0.0, 1.0)), "intensity".into());
        let plot = Plot::new(format!("The input: is {is}, model says {says}"), Axis::new(""), Axis::new(""));
        panels.push(plot.with(picture).sized(PANEL.0, PANEL.1));
    }
    panels.push(bars("What the model says", &probabilities));
    panels.push(bars("Label distribution of its clues", &weights));
    Ok(Grid::new(format!("Input {}: from clues to a distribution of labels", shown.input.index), 3, panels).to_svg())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};
    use cluekit::audit::fixture::digits;

    #[test]
    fn a_class_costs_what_its_accepted_clues_cost() {
        let mut shown = digits(3);
        for (clue, (cost, accepted)) in shown.clues.iter_mut().zip([(1.0, true), (3.0, true), (0.1, false)]) {
            (clue.cost, clue.accepted) = (cost, accepted);
        }
        assert_eq!(of_class(&shown, 9, |clue| clue.cost), [2.0, 1.0]);
        assert!(of_class(&shown, 4, |clue| clue.cost)[1].is_nan());
    }

    #[test]
    fn several_labels_have_weight_and_the_true_one_among_them() {
        let weighed = |target: usize, weights: [f64; 3]| (Some(target), Some(weights.to_vec()));
        let judged = |inputs: &[Weighed]| Check::verdicts(checks(inputs, 7, 1.0));
        let (good, bad) = (weighed(1, [0.5, 0.4, 0.1]), weighed(2, [0.96, 0.04, 0.0]));
        assert_eq!(judged(&[good.clone(), good.clone()]), [Held, Held]);
        assert_eq!(judged(&[good.clone(), bad.clone()]), [HeldPartly, HeldPartly]);
        assert_eq!(judged(&[bad.clone(), bad]), [DidNotHold, DidNotHold]);
        assert_eq!(judged(&[good.clone(), (Some(1), None)]), [HeldPartly, Held], "no accepted clue, no weights");
        let figures = &checks(&[good], 7, 1.0)[1].figures;
        assert!(figures.ends_with("1 of 1 inputs; shown: input 7, entropy of its labels 1.00"), "{figures}");
    }
}
