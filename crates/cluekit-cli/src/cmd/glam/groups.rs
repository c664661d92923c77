//! Which groups a mapper leads from and to, as options.

use clap::Args;
use cluekit::amortise::{Limit, Scheme};
use cluekit::explainer::GroupSettings;

/// The options.
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
    /// What the options say, over what a file says.
    pub fn over(&self, file: GroupSettings) -> GroupSettings {
        GroupSettings {
            scheme: self.scheme.or(file.scheme),
            from: self.from.clone().or(file.from),
            to: self.to.clone().or(file.to),
            by: self.by.clone().or(file.by),
            condition: self.condition.clone().or(file.condition),
            to_where: self.to_where.clone().or(file.to_where),
            uncertain_above: self.uncertain_above.or(file.uncertain_above),
            certain_below: self.certain_below.or(file.certain_below),
        }
    }
}
