//! Errors and advice in the words of a shell: `--delta 4.2`, `clue data fetch mnist`.

use clap::CommandFactory;
use cluekit::Error;
use cluekit::error::{Remedy, SettingValue};
use std::collections::BTreeMap;

/// A chain of causes on one line, each in the words of a shell.
pub fn chain(problem: &anyhow::Error) -> String {
    let worded = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref() {
        Some(problem) => error(problem),
        None => cause.to_string(),
    };
    problem.chain().map(worded).collect::<Vec<_>>().join(": ")
}

/// An error with options instead of settings, and commands instead of deeds.
fn error(error: &Error) -> String {
    error.worded(&|setting| option(setting).unwrap_or_else(|| setting.to_owned()), &remedy)
}

/// What to do, as somebody at a shell would do it.
pub fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::Set { settings } => set(settings),
        Remedy::StartElsewhere => "start elsewhere (--init random-radius) with a radius of your own (--delta)".into(),
        Remedy::Search => "run `clue explain`".into(),
        Remedy::AnotherMethod => "choose another --method".into(),
        Remedy::Fit => "fit one with `clue glam fit`".into(),
        Remedy::FitAgain => "fit it again with `clue glam fit`".into(),
        Remedy::Train => "`clue train DATASET --out RUN` makes a run".into(),
        Remedy::TrainAgain => "train again with --overwrite".into(),
        Remedy::Resume { run } => format!("go on with `clue train … --out {} --resume`", run.display()),
        Remedy::Fetch { dataset } => format!("run `clue data fetch {dataset}`"),
        Remedy::DataFolder { holding } => format!("name with --data DIR a folder that holds {holding}"),
        other => other.named(&dashed),
    }
}

/// `try --delta 2 --steps 300`; a switch is an option that is there or not.
fn set(settings: &BTreeMap<String, SettingValue>) -> String {
    let (off, given): (Vec<_>, Vec<_>) = settings.iter().partition(|(_, value)| **value == SettingValue::Switch(false));
    let given = given.iter().map(|(name, value)| match value {
        SettingValue::Switch(_) => dashed(name),
        value => format!("{} {value}", dashed(name)),
    });
    let off = off.iter().map(|(name, _)| format!("without {}", dashed(name)));
    format!("try {}", given.chain(off).collect::<Vec<_>>().join(" "))
}

/// `--lambda-x`, or the setting as it is where no option is called so.
fn dashed(setting: &str) -> String {
    option(setting).map_or_else(|| format!("`{setting}`"), |name| format!("--{name}"))
}

/// The name of the option that gives a setting: `lambda-x` for `lambda_x`.
fn option(setting: &str) -> Option<String> {
    fn has(command: &clap::Command, name: &str) -> bool {
        command.get_arguments().any(|argument| argument.get_long() == Some(name))
            || command.get_subcommands().any(|command| has(command, name))
    }
    let name = setting.replace('_', "-");
    has(&crate::Cli::command(), &name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_options_where_there_is_one() {
        assert_eq!(
            ["lambda_x", "delta", "validation_share"].map(dashed),
            ["--lambda-x", "--delta", "`validation_share`"]
        );
        let problem = Error::setting("lambda_x", "a weight must be 0 or a positive number, got -1");
        assert_eq!(error(&problem), "setting `lambda-x`: a weight must be 0 or a positive number, got -1");
        assert_eq!(
            error(&Error::setting("predictor.fit.weight_decay", "x")),
            "setting `predictor.fit.weight_decay`: x"
        );
    }

    #[test]
    fn a_switch_is_there_or_not() {
        let made = |grey: bool| remedy(&Remedy::set([("resolution", SettingValue::Whole(32)), ("grey", grey.into())]));
        assert_eq!([made(true), made(false)], ["try --grey --resolution 32", "try --resolution 32 without --grey"]);
    }

    #[test]
    fn every_cause_of_a_chain_is_worded() {
        let problem = Error::data("it is not here").remedy(Remedy::fetch("mnist")).remedy(Remedy::raise("threshold"));
        let problem = anyhow::Error::from(problem).context("reading x");
        assert_eq!(chain(&problem), "reading x: it is not here; run `clue data fetch mnist`, or raise --threshold");
    }
}
