//! Where the numbers of an audit come from.

use super::{AuditArgs, clues, last_name};
use crate::cmd::run::{Run, Split};
use anyhow::Result;
use cluekit::audit::{Provenance, Setting};
use cluekit::data::Schema;
use cluekit::search::{Delta, Search};
use std::path::Path;

/// What is known before any search.
pub fn provenance(args: &AuditArgs, run: &Run, name: &str) -> Result<Provenance> {
    let record = &run.record;
    Ok(Provenance {
        cluekit: env!("CARGO_PKG_VERSION").into(),
        command: command(args, name),
        seed: args.seed,
        training_seed: record.plan.as_ref().map(|_| record.seed.0),
        versions: record.versions.clone(),
        sources: record.sources.clone(),
        models: record.hashes.clone(),
        search: vec![],
        constraints: vec![],
        groups: vec![],
        training: record.plan.as_ref().map(Setting::flattened).transpose()?.unwrap_or_default(),
    })
}

/// Adds the settings of the search for clues.
pub fn add_search(provenance: &mut Provenance, search: &Search, schema: &Schema) -> Result<()> {
    provenance.search = Setting::flattened(search)?;
    if search.delta == Delta::Auto {
        let steps = clues::wider(search, 2).convergence.max_steps.to_string();
        provenance.search.push(Setting { key: "wider.convergence.max_steps".into(), value: steps });
    }
    if !schema.constraints.is_empty() {
        provenance.constraints = Setting::flattened(&schema.constraints)?;
    }
    Ok(())
}

/// What to type for the same page, from the folder that the run lies in.
fn command(args: &AuditArgs, name: &str) -> String {
    let mut command = format!("clue audit {} --seed {}", quoted(name), args.seed);
    // Where the data lie is another matter on another machine.
    if args.run.data.is_some() {
        command += " --data DIR";
    }
    let mut add = |option: &str, value: Option<String>| {
        if let Some(value) = value {
            command += &format!(" --{option}{}{}", if option == "anchored" { "=" } else { " " }, quoted(&value));
        }
    };
    let delta = match args.delta {
        Delta::Auto | Delta::Wider(_) => None,
        Delta::Fixed(ball) => Some(ball.bound().map_or("inf".into(), |radius| radius.to_string())),
    };
    add(
        "split",
        match args.split {
            Split::Test => None,
            Split::Validation => Some("validation".into()),
            Split::Train => Some("train".into()),
        },
    );
    add("top", args.top.map(|top| top.to_string()));
    add("count", args.count.map(|count| count.to_string()));
    add("delta", delta);
    add("steps", args.steps.map(|steps| steps.to_string()));
    add("lambda-x", Some(args.lambda_x.to_string()));
    add("above", args.above.map(|above| above.to_string()));
    add("threshold", args.threshold.map(|threshold| threshold.to_string()));
    add("anchored", args.anchored.map(|anchored| anchored.to_string()));
    add("by", args.by.clone());
    add("mapper", Some(args.mapper.name().into()));
    for (option, value) in args.constraints.given() {
        let is_file = option == "constraints";
        add(option, Some(if is_file { last_name(Path::new(&value)) } else { value }));
    }
    for (flag, given) in [("no-groups", args.no_groups), ("quick", args.quick)] {
        if given {
            command += &format!(" --{flag}");
        }
    }
    command
}

/// A value as a shell takes it for one word.
pub fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.,=/+:".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.into();
    }
    format!("'{}'", value.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        assert_eq!(quoted("SEX,AGE"), "SEX,AGE");
        assert_eq!(quoted("BILL_AMT1 <= LIMIT_BAL"), "'BILL_AMT1 <= LIMIT_BAL'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
