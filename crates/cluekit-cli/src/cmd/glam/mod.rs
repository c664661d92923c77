//! `clue glam`: one learned change for a whole group of uncertain inputs.

mod apply;
mod compare;
mod fit;
mod options;
mod show;

use anyhow::Result;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Learn one change for a whole group of uncertain inputs, and apply it in one call: GLAM-CLUE.
#[derive(Args, Debug)]
#[command(after_help = "Start here:
  clue glam fit runs/mnist                      for each class, uncertain → certain
  clue glam apply runs/mnist --top 8            the counterfactuals of the most uncertain inputs
  clue glam show runs/mnist --out global        what the changes are, and how far they reach
  clue glam compare runs/mnist --out compared   against baselines, the other mappers and CLUE")]
pub struct GlamArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Fit(Box<fit::FitArgs>),
    Apply(Box<apply::ApplyArgs>),
    Show(Box<show::ShowArgs>),
    Compare(Box<compare::CompareArgs>),
}

/// Runs `clue glam`.
pub fn run(args: GlamArgs, quiet: bool) -> Result<ExitCode> {
    match args.command {
        Command::Fit(args) => fit::run(*args, quiet),
        Command::Apply(args) => apply::run(*args, quiet),
        Command::Show(args) => show::run(*args, quiet),
        Command::Compare(args) => compare::run(*args, quiet),
    }
}
