//! What to type for the same page.

use super::{AuditArgs, last_name};
use cluekit::explainer::{AuditSettings, Split};
use cluekit::search::Delta;
use std::path::Path;

/// What to type for the same page, from the folder that the run lies in.
pub fn command(args: &AuditArgs, settings: &AuditSettings, name: &str) -> String {
    let mut command = format!("clue audit {} --seed {}", quoted(name), settings.seed.0);
    // Where the data lie is another matter on another machine.
    if args.run.place.data.is_some() {
        command += " --data DIR";
    }
    let mut add = |option: &str, value: Option<String>| {
        if let Some(value) = value {
            command += &format!(" --{option}{}{}", if option == "anchored" { "=" } else { " " }, quoted(&value));
        }
    };
    let delta = match settings.delta {
        Delta::Auto => None,
        delta => Some(delta.to_string()),
    };
    add("split", (settings.split != Split::Test).then(|| settings.split.to_string()));
    add("top", settings.top.map(|top| top.to_string()));
    add("count", settings.count.map(|count| count.to_string()));
    add("delta", delta);
    add("steps", settings.steps.map(|steps| steps.to_string()));
    add("lambda-x", Some(settings.lambda_x.to_string()));
    add("above", settings.above.map(|above| above.to_string()));
    add("threshold", settings.threshold.map(|threshold| threshold.to_string()));
    add("anchored", settings.anchored.map(|anchored| anchored.to_string()));
    add("by", settings.by.clone());
    add("mapper", Some(settings.mapper.name().into()));
    for (option, value) in args.constraints.given() {
        let is_file = option == "constraints";
        add(option, Some(if is_file { last_name(Path::new(&value)) } else { value }));
    }
    for (flag, given) in [("no-groups", settings.no_groups), ("quick", settings.quick)] {
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
