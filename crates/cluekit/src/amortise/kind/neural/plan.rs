//! Settings of the neural mapper.

use crate::error::{Error, Result};
use crate::model::training::TrainingPlan;
use crate::settings::merge;
use serde::{Deserialize, Serialize};

/// Settings of the neural mapper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeuralPlan {
    /// Width of the hidden layers.
    pub width: usize,
    /// Number of residual blocks.
    pub depth: usize,
    /// Number of times that the network corrects its code, each time with the slope of the distance there.
    pub rounds: usize,
    /// Number of posterior samples drawn for each step.
    pub samples: usize,
    /// Number of mixtures of training rows to make; those that the model is certain about are left out.
    pub mixtures: usize,
    /// Least share of the way from one row to the other at which a mixture lies; the greatest is a half.
    pub mixing: f32,
    /// Largest factor on what a mixture gets back of the details that its nearer parent's reconstruction loses; the
    /// least is 1. Rows that the generative model has not seen lose more than training rows.
    pub left_out: f32,
    /// Share of the training rows, the most uncertain ones, to learn from; mixtures as uncertain as these join them.
    pub uncertain_share: f64,
    /// How often an uncertain training row is seen for each time that a mixture is seen.
    pub repeats: usize,
    /// Share of rows of any uncertainty among those learned from; they show how codes come close to inputs.
    pub others_share: f64,
    /// Weight w of the target class.
    pub target_weight: f32,
    /// Middle of the λ_x that training draws.
    pub lambda_x: f32,
    /// Factor of the λ_x that training draws: from `lambda_x` divided by this to `lambda_x` times this.
    pub lambda_span: f32,
    /// Settings of the network's training.
    pub fit: TrainingPlan,
}

impl Default for NeuralPlan {
    fn default() -> Self {
        Self {
            width: 256,
            depth: 3,
            rounds: 2,
            samples: 3,
            mixtures: 30_000,
            mixing: 0.3,
            left_out: 2.0,
            uncertain_share: 0.1,
            repeats: 1,
            others_share: 0.1,
            target_weight: 0.3,
            lambda_x: 0.03,
            lambda_span: 10.0,
            fit: TrainingPlan { epochs: 24, batch: 256, learning_rate: 3e-3, weight_decay: 1e-2, patience: 0 },
        }
    }
}

impl NeuralPlan {
    /// An error if a setting cannot be used.
    pub fn validate(&self) -> Result<()> {
        self.fit.validate("neural.fit")?;
        let check = |key: &str, ok: bool, problem: String| match ok {
            true => Ok(()),
            false => Err(Error::setting(format!("neural.{key}"), problem)),
        };
        check(
            "width",
            (1..=10_000).contains(&self.width),
            format!("must lie between 1 and 10000, got {}", self.width),
        )?;
        check("depth", self.depth <= 100, format!("must be at most 100, got {}", self.depth))?;
        check("rounds", (1..=100).contains(&self.rounds), format!("must lie between 1 and 100, got {}", self.rounds))?;
        check("samples", self.samples > 0, "must be at least 1".into())?;
        let most = 10_000_000;
        check("mixtures", self.mixtures <= most, format!("must be at most {most}, got {}", self.mixtures))?;
        let share = self.others_share;
        check("others_share", (0.0..1.0).contains(&share), format!("must be at least 0 and below 1, got {share}"))?;
        let share = self.uncertain_share;
        check("uncertain_share", share > 0.0 && share <= 1.0, format!("must be above 0 and at most 1, got {share}"))?;
        check("repeats", self.repeats <= 1000, format!("must be at most 1000, got {}", self.repeats))?;
        check(
            "mixing",
            (0.0..=0.5).contains(&self.mixing),
            format!("must lie between 0 and 0.5, got {}", self.mixing),
        )?;
        let left_out = self.left_out;
        check("left_out", (1.0..=100.0).contains(&left_out), format!("must lie between 1 and 100, got {left_out}"))?;
        let weight = self.target_weight;
        check("target_weight", weight >= 0.0 && weight.is_finite(), format!("must be 0 or positive, got {weight}"))?;
        let lambda = self.lambda_x;
        check("lambda_x", lambda > 0.0 && lambda.is_finite(), format!("must be a positive number, got {lambda}"))?;
        let span = self.lambda_span;
        check("lambda_span", (1.0..=1e6).contains(&span), format!("must lie between 1 and 1000000, got {span}"))
    }

    /// This plan with the settings of a TOML table replaced.
    pub fn with(&self, settings: &toml::Table) -> Result<Self> {
        let mut table = toml::Table::try_from(self).expect("a plan is made of tables and numbers");
        merge(&mut table, settings);
        let problem = |problem: toml::de::Error| {
            Error::setting("neural", problem.to_string().lines().collect::<Vec<_>>().join(" "))
        };
        table.try_into().map_err(problem)
    }

    /// λ_x as the network sees it: 0 in the middle of what it learned from, ±1 at the ends.
    pub(super) fn trade_off(&self, lambda_x: f32) -> f32 {
        if self.lambda_span <= 1.0 {
            return 0.0;
        }
        ((lambda_x / self.lambda_x).ln() / self.lambda_span.ln()).clamp(-1.0, 1.0)
    }

    /// Least and greatest λ_x of training; a λ_x beyond them is served like the nearer of the two.
    pub fn range(&self) -> [f32; 2] {
        [self.lambda_x / self.lambda_span, self.lambda_x * self.lambda_span]
    }
}
