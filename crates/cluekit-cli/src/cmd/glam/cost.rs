//! What a counterfactual of a mapper costs, as options.

use clap::Args;
use cluekit::distance::Distance;
use cluekit::explainer::CostSettings;

/// What a counterfactual costs, and when it is accepted.
#[derive(Args, Debug)]
#[command(next_help_heading = "Cost")]
pub struct CostArgs {
    /// Weight of the distance to the input in the cost H + λ d.
    #[arg(long, value_name = "V", default_value_t = 0.03, allow_hyphen_values = true)]
    pub lambda_x: f32,
    /// The distance between inputs: l1, l2, mahalanobis; for tables also mad and range.
    #[arg(long, value_name = "NAME", default_value = "l1")]
    pub distance: Distance,
    /// A counterfactual is accepted below this uncertainty [default: that of the surest quarter of the training rows,
    /// or a fifth of the greatest possible one if that is more].
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    pub threshold: Option<f32>,
    /// Add to the input only what changes, instead of showing its reconstruction changed.
    #[arg(long)]
    pub anchored: bool,
}

impl CostArgs {
    /// What the options say.
    pub fn settings(&self) -> CostSettings {
        let Self { lambda_x, distance, threshold, anchored } = *self;
        CostSettings { lambda_x, distance, threshold, anchored }
    }
}
