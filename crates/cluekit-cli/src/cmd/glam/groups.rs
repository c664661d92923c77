//! Which groups a mapper leads from and to, as options.

use crate::cmd::explain::inputs::class_named;
use anyhow::{Result, bail};
use clap::Args;
use cluekit::Error;
use cluekit::amortise::{Limit, Members, Pair, Scheme, Thresholds};
use cluekit::data::{Predicate, Samples, Schema};
use cluekit::uncertainty::Uncertainty;

/// The share of a group's training rows that stays below the uncertain ones when nothing is said.
const CERTAIN_SHARE: f64 = 0.95;

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
    /// Everything as it is when nothing is said, but for the pairing.
    pub fn of_scheme(scheme: Scheme) -> Self {
        Self {
            scheme: Some(scheme),
            from: None,
            to: None,
            by: None,
            condition: None,
            to_where: None,
            uncertain_above: None,
            certain_below: None,
        }
    }

    /// A group for each part of a feature, and nothing else said.
    pub fn of_feature(feature: &str) -> Self {
        Self { scheme: None, by: Some(feature.into()), ..Self::of_scheme(Scheme::default()) }
    }

    /// The same thresholds, but for another pairing.
    pub fn paired(&self, scheme: Scheme) -> Self {
        let Self { uncertain_above, certain_below, .. } = *self;
        Self { uncertain_above, certain_below, ..Self::of_scheme(scheme) }
    }

    /// Whether nothing was said of who leads where.
    pub fn pairs_are_default(&self) -> bool {
        let texts = [&self.from, &self.to, &self.by, &self.condition, &self.to_where];
        self.scheme.is_none() && texts.iter().all(|text| text.is_none())
    }

    /// Whether nothing was said at all.
    pub fn are_default(&self) -> bool {
        self.pairs_are_default() && self.uncertain_above.is_none() && self.certain_below.is_none()
    }

    /// When rows count as uncertain and as certain.
    pub fn thresholds(&self, accepted_below: f32, kind: Uncertainty) -> Thresholds {
        Thresholds {
            uncertain_above: self.uncertain_above.unwrap_or(Limit::Quantile(CERTAIN_SHARE)),
            certain_below: self.certain_below.unwrap_or(Limit::Value(accepted_below)),
            kind,
        }
    }

    /// The pairs of groups.
    pub fn pairs(&self, schema: &Schema, train: &Samples) -> Result<Vec<Pair>> {
        let classes = schema.target.task.classes();
        let condition = self.condition.as_deref().map(|text| Predicate::parse(text, schema)).transpose()?;
        let to_condition = self.to_where.as_deref().map(|text| Predicate::parse(text, schema)).transpose()?;
        let to_condition = to_condition.or_else(|| condition.clone());
        let class = |name: &Option<String>| match name.as_deref() {
            None | Some("any") => Ok(None),
            Some(name) => class_named(name, classes).map(Some),
        };
        let mut pairs = match (&self.by, &self.from, &self.to) {
            (Some(feature), ..) => {
                let rows: Vec<_> = (0..train.len()).map(|row| schema.decode_row(train.row(row))).collect();
                let parts = Predicate::partition(feature, schema, &rows)
                    .map_err(|problem| Error::setting("by", problem.to_string()))?;
                if condition.is_some() || self.to_where.is_some() {
                    bail!(Error::setting("by", "makes its own conditions; leave out --where and --to-where"));
                }
                let members = |part| Members { class: None, condition: Some(part) };
                return Ok(parts.into_iter().map(|p| Pair { from: members(p.clone()), to: members(p) }).collect());
            }
            (None, None, None) => self.scheme.unwrap_or_default().pairs(classes.len()),
            (None, from, to) => {
                let (start, end) = (class(from)?, class(to)?);
                vec![Pair::of_classes(start, if to.is_some() { end } else { start })]
            }
        };
        for pair in &mut pairs {
            pair.from.condition.clone_from(&condition);
            pair.to.condition.clone_from(&to_condition);
        }
        Ok(pairs)
    }

    /// Training rows of which classes are needed, of so many; nothing if all are.
    pub fn classes(pairs: &[Pair], of: usize) -> Option<Vec<usize>> {
        let sides = pairs.iter().flat_map(|pair| [pair.from.class, pair.to.class]);
        let mut classes = sides.collect::<Option<Vec<usize>>>()?;
        classes.sort_unstable();
        classes.dedup();
        (classes.len() < of).then_some(classes)
    }
}
