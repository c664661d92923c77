//! Explanations that tests draw and write.

use crate::data::{Constraints, Feature, Kind, Scaling, Schema, Target, Task};
use crate::diversity::{Set, Summary};
use crate::explanation::{Change, Clue, Distances, Explanation, Label, Mode, Original, Reconstruction, StopReason};
use crate::prediction::Amounts;

/// A clue with label `label` at `x`.
pub(super) fn clue(label: Label, x: Vec<f32>) -> Clue {
    Clue {
        label,
        uncertainty: Amounts { total: 0.02, aleatoric: 0.012, epistemic: 0.008 },
        probabilities: vec![],
        distance: Distances { input: 27.1, latent: 3.4, prediction: 0.5 },
        cost: 1.25,
        steps: 30,
        stopped: StopReason::MaxSteps,
        accepted: true,
        reason: None,
        mapper: None,
        plausibility: None,
        delta: Some(3.5),
        changes: vec![],
        x,
        z: vec![1.0, -1.0],
        path: vec![],
    }
}

/// An input at `x` without any clue.
fn explanation(label: Label, target: Label, x: Vec<f32>) -> Explanation {
    let nothing = Set { points: &[], width: 1, original: None };
    let uncertainty = Amounts { total: 1.38, aleatoric: 1.0, epistemic: 0.38 };
    let reconstruction = Reconstruction { label, uncertainty, distance: 4.0, cost: 1.5, x: x.clone() };
    Explanation {
        input: Original {
            index: 17,
            label,
            target: Some(target),
            uncertainty,
            probabilities: vec![],
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
pub(super) fn digits(clues: usize) -> Explanation {
    let mut digit = explanation(Label::Class(4), Label::Class(9), vec![0.0, 0.5, 1.0, 0.25]);
    digit.clues = vec![clue(Label::Class(9), vec![0.5, 0.5, 0.0, 0.25]); clues];
    digit
}

/// The schema of [`client`]: two amounts and a category, to tell who pays.
pub(super) fn table() -> Schema {
    let scaling = Scaling { mean: 0.0, deviation: 10_000.0, decimals: Some(0), least: 0.0, greatest: 90_000.0 };
    let strings = |values: &[&str]| values.iter().map(ToString::to_string).collect();
    let feature = |name: &str, kind, unit: Option<&str>| Feature {
        name: name.into(),
        kind,
        unit: unit.map(Into::into),
        meaning: (name == "PAY_0").then(|| "months behind".into()),
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
pub(super) fn client() -> Explanation {
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
    rejected.reason = Some("uncertainty 0.45 is above the threshold 0.2".into());
    client.clues = vec![accepted, rejected];
    client.label_distribution = Some(vec![0.71, 0.29]);
    let mode = |label, clue| Mode { label: Some(label), clues: vec![clue], best: clue };
    client.modes = vec![mode(0, 0), mode(0, 0), mode(1, 1)];
    client
}

/// The price of a house, a regression, with one clue.
pub(super) fn house() -> Explanation {
    let mut house = explanation(Label::Value(21_400.0), Label::Value(19_000.0), vec![0.5]);
    house.clues = vec![clue(Label::Value(20_500.5), vec![0.75])];
    house
}
