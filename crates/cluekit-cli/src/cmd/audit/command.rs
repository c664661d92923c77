//! What to type for the same page.

use super::AuditArgs;
use cluekit::explainer::AuditSettings;
use cluekit::model::store::files::last_name;
use std::path::Path;

/// What to type for the same page, from the folder that the run lies in.
pub fn command(args: &AuditArgs, settings: &AuditSettings, name: &str) -> String {
    let mut command = format!("clue audit {} --seed {}", quoted(name), settings.seed.0);
    // Where the data lie is another matter on another machine.
    if args.run.place.data.is_some() {
        command += " --data DIR";
    }
    if let Some(file) = &args.file {
        command += &format!(" --file {}", quoted(&last_name(file)));
    }
    let said = settings.said().into_iter().map(|(name, value)| (name.replace('_', "-"), value));
    let constraints = args.constraints.given().into_iter().map(|(option, value)| match option {
        "constraints" => (option.to_owned(), last_name(Path::new(&value))),
        _ => (option.to_owned(), value),
    });
    for (option, value) in said.chain(constraints) {
        command += &format!(" --{option}{}{}", if option == "anchored" { "=" } else { " " }, quoted(&value));
    }
    let flags = [("no-groups", settings.no_groups), ("only-paper", settings.only_paper), ("quick", settings.quick)];
    for (flag, given) in flags {
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
