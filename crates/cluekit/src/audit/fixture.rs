//! Explanations, and an audit, that tests draw and write.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should end")]

use super::{
    Audit, ClassRow, FORMAT, FeatureBand, Gallery, GroupCard, Groups, Hesitation, LatentMap, Provenance, Rows, Spread,
    Subject, Tally, Trust, UncertaintyProfile,
};
use crate::data::{Constraints, Feature, Kind, Samples, Scaling, Schema, Target, Targets, Task};
use crate::diversity::{Set, Summary};
use crate::explanation::{
    Change, Clue, Distances, Explanation, Label, Mode, Original, Reconstruction, Rejection, StopReason,
};
use crate::measure::{
    ClassifierHealth, Health, Outcome, Predictions, PredictorHealth, Reach, Reliability, rejection_curve,
};
use crate::prediction::{Prediction, UncertaintyParts, probabilities};
use crate::seed::Seed;

/// A clue with label `label` at `x`.
pub fn clue(label: Label, x: Vec<f32>) -> Clue {
    Clue {
        label,
        label_name: None,
        uncertainty: UncertaintyParts { total: 0.02, aleatoric: 0.012, epistemic: 0.008 },
        probabilities: vec![],
        distance: Distances { input: 27.1, latent: 3.4, prediction: 0.5 },
        cost: 1.25,
        steps: 30,
        stopped: StopReason::MaxSteps,
        accepted: true,
        reason: None,
        mapper: None,
        agreement: None,
        minimal: None,
        found_by: None,
        plausibility: None,
        delta: Some(3.5),
        changes: vec![],
        row: None,
        x,
        z: vec![1.0, -1.0],
        path: vec![],
    }
}

/// An input at `x` without any clue.
fn explanation(label: Label, target: Label, x: Vec<f32>) -> Explanation {
    let nothing = Set { points: &[], width: 1, original: None };
    let uncertainty = UncertaintyParts { total: 1.38, aleatoric: 1.0, epistemic: 0.38 };
    let reconstruction = Reconstruction { label, uncertainty, distance: 4.0, cost: 1.5, x: x.clone() };
    Explanation {
        input: Original {
            index: 17,
            name: None,
            label,
            label_name: None,
            target: Some(target),
            target_name: None,
            uncertainty,
            probabilities: vec![],
            outside: vec![],
            row: None,
            x,
            z: vec![0.0, 0.5],
        },
        reconstruction,
        clues: vec![],
        diversity: Summary::of(&nothing, &nothing, None),
        label_distribution: None,
        modes: vec![],
        frontier: vec![],
        advice: None,
    }
}

/// A digit of 2 × 2 pixels, a 4 that could be a 9, with `clues` clues.
pub fn digits(clues: usize) -> Explanation {
    let mut digit = explanation(Label::Class(4), Label::Class(9), vec![0.0, 0.5, 1.0, 0.25]);
    digit.clues = vec![clue(Label::Class(9), vec![0.5, 0.5, 0.0, 0.25]); clues];
    digit
}

/// The schema of [`client`]: two amounts and a category, to tell who pays.
pub fn table() -> Schema {
    let scaling = Scaling { mean: 0.0, deviation: 10_000.0, decimals: Some(0), least: 0.0, greatest: 90_000.0 };
    let strings = |values: &[&str]| values.iter().map(ToString::to_string).collect();
    let feature = |name: &str, kind, unit: Option<&str>| Feature {
        name: name.into(),
        kind,
        unit: unit.map(Into::into),
        meaning: (name == "PAY_0").then(|| "months behind".into()),
        missing: None,
    };
    Schema {
        target: Target {
            name: "default".into(),
            task: Task::Classification { classes: strings(&["no", "yes"]) },
            unit: None,
            meaning: None,
        },
        image: None,
        constraints: Constraints::default(),
        features: vec![
            feature("LIMIT_BAL", Kind::Continuous(scaling), Some("NT$")),
            feature("PAY_0", Kind::Ordinal(Scaling { deviation: 1.0, ..scaling }), None),
            feature("ZIP", Kind::Categorical { categories: strings(&["10115", "20095"]) }, None),
        ],
    }
}

/// A client who may or may not pay, with an accepted and a rejected clue; rows of [`table`].
pub fn client() -> Explanation {
    let change = |feature: &str, from: &str, to: &str, unit: Option<&str>| Change {
        feature: feature.into(),
        from: from.into(),
        to: to.into(),
        unit: unit.map(Into::into),
    };
    let mut client = explanation(Label::Class(0), Label::Class(1), vec![2.0, 2.0, 1.0, 0.0]);
    client.input.probabilities = vec![0.52, 0.48];
    let mut accepted = clue(Label::Class(0), vec![5.0, 0.0, 0.0, 1.0]);
    accepted.changes = vec![
        change("LIMIT_BAL", "20000", "50000", Some("NT$")),
        change("PAY_0", "2", "0", None),
        change("ZIP", "10115", "20095", None),
    ];
    let mut rejected = clue(Label::Class(1), vec![2.0, 1.0, 1.0, 0.0]);
    rejected.changes = vec![change("PAY_0", "2", "1", None)];
    rejected.accepted = false;
    rejected.reason = Some(Rejection::TooUncertain { uncertainty: 0.45, threshold: 0.2 });
    client.clues = vec![accepted, rejected];
    client.label_distribution = Some(vec![0.71, 0.29]);
    let mode = |label, clue| Mode { label: Some(label), clues: vec![clue], best: clue, changes: vec![] };
    client.modes = vec![mode(0, 0), mode(0, 0), mode(1, 1)];
    client
}

/// The price of a house, a regression, with one clue.
pub fn house() -> Explanation {
    let mut house = explanation(Label::Value(21_400.0), Label::Value(19_000.0), vec![0.5]);
    house.clues = vec![clue(Label::Value(20_500.5), vec![0.75])];
    house
}

/// A prediction whose uncertainty is half aleatoric.
pub fn says(mean: &[f32], total: f32) -> Prediction {
    let half = total / 2.0;
    Prediction { mean: mean.to_vec(), uncertainty: UncertaintyParts { total, aleatoric: half, epistemic: half } }
}

/// Four clients, of whom the model is unsure about two and wrong about one.
pub fn clients(schema: &Schema) -> Audit {
    let row = |pay: f32| [1.0, pay, 1.0, 0.0];
    let x = [row(2.0), row(2.0), row(0.0), row(0.0)].concat();
    let labels = [0, 1, 0, 0];
    let samples = Samples { x, width: 4, y: Targets::Classes(labels.to_vec()), weights: None };
    let predictions = [(0.6, 0.67), (0.6, 0.67), (0.99, 0.05), (0.99, 0.05)].map(|(p, h)| says(&[p, 1.0 - p], h));
    let task = &schema.target.task;
    let rows = Rows { samples: &samples, predictions: &predictions, task, unsure_above: 0.5 };
    let shares = probabilities(&predictions);
    let checked = Predictions::new(&shares, 2, &labels).unwrap();
    let uncertainty = [0.67, 0.67, 0.05, 0.05];
    let health = ClassifierHealth::of(&checked, &uncertainty, 3).unwrap();
    let mut subject = Subject::new("run", "clients.csv", schema, "test");
    (subject.unsure_above, subject.accepted_below) = (Some(0.5), Some(0.2));
    Audit {
        format: FORMAT,
        subject,
        findings: vec![],
        learning: None,
        trust: Some(Trust {
            health: Health { predictor: PredictorHealth::Classifier(health), generative: None },
            reliability: Some(Reliability::of(&checked)),
            rejection: Some(rejection_curve(&uncertainty, &checked.wrong()).unwrap()),
        }),
        uncertainty: Some(UncertaintyProfile {
            tally: Tally::of(&rows),
            spread: Spread::of(&rows),
            classes: ClassRow::of(&rows),
            hesitations: Hesitation::of(&rows),
            bands: FeatureBand::of(&rows, schema),
        }),
        gallery: Some(Gallery::of(&[client()], schema, "∇-CLUE", Some(0.5))),
        groups: Some(Groups {
            mapper: "glam".into(),
            groups: vec![group("no → no", 0.5, &[true, false]), group("yes → yes", 0.1, &[true])],
        }),
        latent: LatentMap::of(&[1.0, 2.0, 3.0, 4.0], 2, &[0, 1], &[0.1, 0.2], &[client()], &[]),
        story: None,
        provenance: Provenance::default(),
        missing: vec![],
    }
    .concluded()
}

/// What was learned for a group, and about which of its inputs the model becomes certain.
fn group(name: &str, uncertain_above: f32, certain: &[bool]) -> GroupCard {
    let outcome = |&certain: &bool| Outcome { before: 0.6, after: 0.1, distance: 2.0, certain, class_kept: Some(true) };
    let outcomes: Vec<Outcome> = certain.iter().map(outcome).collect();
    GroupCard {
        name: name.into(),
        uncertain_above,
        lambda_theta: Some(1.0),
        reach: Reach::of(&outcomes, Seed(0)),
        certain_unchanged: Some(0.25),
        changes: vec![],
        picture: None,
        notes: vec![format!("no training row of `{name}` is more uncertain")],
    }
}
