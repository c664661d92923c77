//! How far a global explanation reaches: what it does to inputs that it was not learned from.

use super::{MeanInterval, bootstrap_mean};
use crate::seed::Seed;
use serde::{Deserialize, Serialize};

/// What a mapper did to one input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Uncertainty of the input.
    pub before: f32,
    /// Uncertainty of the counterfactual.
    pub after: f32,
    /// Distance d_x between input and counterfactual.
    pub distance: f32,
    /// Whether the counterfactual was accepted.
    pub certain: bool,
    /// Whether the counterfactual has the class that was asked for; none for a regression.
    pub class_kept: Option<bool>,
}

/// Means over some inputs, each with the interval that resampling them gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reach {
    /// Number of inputs.
    pub inputs: usize,
    /// Share of inputs whose counterfactual is accepted.
    pub certain: MeanInterval,
    /// Uncertainty of the inputs.
    pub before: MeanInterval,
    /// Uncertainty of the counterfactuals.
    pub after: MeanInterval,
    /// Distance d_x between inputs and counterfactuals.
    pub distance: MeanInterval,
    /// Share of counterfactuals with the class that was asked for; none for a regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_kept: Option<MeanInterval>,
}

impl Reach {
    /// Means over the outcomes of some inputs; none without outcomes.
    pub fn of(outcomes: &[Outcome], seed: Seed) -> Option<Self> {
        let over = |name: &str, value: &dyn Fn(&Outcome) -> f64| {
            let values: Vec<f64> = outcomes.iter().map(value).collect();
            bootstrap_mean(&values, seed, &format!("reach: {name}"))
        };
        let share = |holds: bool| if holds { 1.0 } else { 0.0 };
        let known = outcomes.iter().all(|outcome| outcome.class_kept.is_some());
        Some(Self {
            inputs: outcomes.len(),
            certain: over("certain", &|outcome| share(outcome.certain))?,
            before: over("before", &|outcome| f64::from(outcome.before))?,
            after: over("after", &|outcome| f64::from(outcome.after))?,
            distance: over("distance", &|outcome| f64::from(outcome.distance))?,
            class_kept: match known {
                true => over("class kept", &|outcome| share(outcome.class_kept == Some(true))),
                false => None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_means_are_counted() {
        let outcome = |after: f32, certain: bool| Outcome {
            before: 1.0,
            after,
            distance: 2.0,
            certain,
            class_kept: Some(certain),
        };
        let reach =
            Reach::of(&[outcome(0.1, true), outcome(0.1, true), outcome(0.1, true), outcome(0.9, false)], Seed(0))
                .unwrap();
        assert_eq!((reach.inputs, reach.certain.mean, reach.before.mean), (4, 0.75, 1.0));
        assert!((reach.after.mean - 0.3).abs() < 1e-6);
        assert_eq!(reach.class_kept.unwrap().mean, 0.75);
        assert!(reach.certain.low < 0.75 && reach.certain.high > 0.75);
        assert_eq!(reach.distance.low, reach.distance.high);
        assert_eq!(Reach::of(&[], Seed(0)), None);
    }
}
