//! Which groups a mapper leads from and to, and what its counterfactuals cost, as options.

use crate::config::lay_over;
use clap::Args;
use cluekit::amortise::{Limit, Scheme};
use cluekit::distance::Distance;
use cluekit::explainer::{CostSettings, FitSettings, GroupSettings};

/// Which groups a mapper leads from and to.
#[derive(Args, Debug)]
#[command(next_help_heading = "Groups")]
pub struct GroupArgs {
    /// How classes are paired: within (each to itself), between (each to every other), any-to-class, any
    /// [default: within].
    #[arg(long, value_name = "SCHEME", conflicts_with_all = ["from", "to", "by"])]
    scheme: Option<Scheme>,
    /// Uncertain rows of this class only, by its name; `any` for all.
    #[arg(long, value_name = "CLASS", conflicts_with = "by")]
    from: Option<String>,
    /// Certain rows of this class only, by its name; `any` for all [default: the class of --from].
    #[arg(long, value_name = "CLASS", conflicts_with = "by")]
    to: Option<String>,
    /// For tables: a group for each category of this feature, or for each quarter of its values (each value, where
    /// there are few), of any class.
    #[arg(long, value_name = "FEATURE")]
    by: Option<String>,
    /// For tables: only uncertain rows that satisfy this, such as "AGE < 30 and SEX = 2".
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// For tables: only certain rows that satisfy this [default: that of --where].
    #[arg(long, value_name = "CONDITION")]
    to_where: Option<String>,
    /// Training rows above this are uncertain: an uncertainty such as 0.5, or what a share of the group stays below,
    /// such as 95% [default: 95%].
    #[arg(long, value_name = "H")]
    uncertain_above: Option<Limit>,
    /// Training rows below this are certain [default: what clues are accepted below].
    #[arg(long, value_name = "H")]
    certain_below: Option<Limit>,
}

impl GroupArgs {
    /// What the options say.
    pub fn settings(&self) -> GroupSettings {
        self.over(FitSettings::default()).groups()
    }

    /// What the options say, over what a file says.
    pub fn over(&self, mut settings: FitSettings) -> FitSettings {
        lay_over!(self, settings: scheme, from, to, by, condition, to_where, uncertain_above, certain_below);
        settings
    }
}

/// What a counterfactual costs, and when it is accepted.
#[derive(Args, Debug)]
#[command(next_help_heading = "Cost")]
pub struct CostArgs {
    /// Weight of the distance to the input in the cost H + λ d [default: 0.03].
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub lambda_x: Option<f32>,
    /// The distance between inputs: l1, l2, mahalanobis; for tables also mad and range [default: l1].
    #[arg(long, value_name = "NAME")]
    pub distance: Option<Distance>,
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
        self.over(FitSettings::default()).cost()
    }

    /// What the options say, over what a file says.
    pub fn over(&self, mut settings: FitSettings) -> FitSettings {
        lay_over!(self, settings: lambda_x, distance, threshold);
        settings.anchored = if self.anchored { Some(true) } else { settings.anchored };
        settings
    }
}
