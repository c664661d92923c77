//! `clue glam apply`: counterfactuals in one call.

use super::options::{CostArgs, GroupArgs};
use crate::cmd::explain::inputs::InputArgs;
use crate::cmd::explain::options::ConstraintArgs;
use crate::cmd::explain::output::ResultArgs;
use crate::cmd::run::RunArgs;
use crate::progress::Bar;
use anyhow::{Context, Result};
use clap::Args;
use cluekit::Seed;
use cluekit::explainer::{ApplySettings, Explainer, ExplanationSet, named_method, trade_off_note};
use cluekit::explanation::Explanation;
use cluekit::observer::Observer;
use std::process::ExitCode;

/// Explain uncertain inputs with fitted mappers or baselines, in one call instead of a search.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue glam apply runs/mnist --top 8
  clue glam apply runs/mnist --method neural --above 0.5 --out clues
  clue glam apply runs/mnist --method neural --lambda-x 0.1 --inputs 17,42 --json
  clue glam apply runs/mnist --method neural --refine 5 --top 8
  clue glam apply runs/credit --method best --own-class

Methods: the name of a fitted mapper (glam, clusters, scaled, affine, neural, or what --name said), a baseline
(reconstruction, input-dbm, latent-dbm, input-nn, latent-nn), or `best`: the cheapest of all of them.

Nobody knows the class of an uncertain input, so there is a counterfactual for each of its most
probable classes, the cheapest first. Each carries the same certificate as those of `clue explain`.

Exit code 3: done, but at least one input has no accepted counterfactual, or was left out.")]
pub struct ApplyArgs {
    #[command(flatten)]
    run: RunArgs,
    /// A fitted mapper by its name, a baseline, or best.
    #[arg(long, value_name = "NAME", default_value = "glam")]
    method: String,
    /// How many of the most probable classes to try for each input.
    #[arg(long, value_name = "N", default_value_t = 3)]
    classes: usize,
    /// Only the true class of each input, or the predicted one where that is unknown.
    #[arg(long, conflicts_with_all = ["classes", "towards"])]
    own_class: bool,
    /// Only these classes, by their names.
    #[arg(long, value_name = "CLASS", value_delimiter = ',', conflicts_with = "classes")]
    towards: Vec<String>,
    /// Steps of CLUE that start at each answer.
    #[arg(long, value_name = "N", default_value_t = 0)]
    refine: usize,
    /// Of those steps.
    #[arg(long, value_name = "V", default_value_t = 0.1, allow_hyphen_values = true)]
    learning_rate: f32,
    #[command(flatten)]
    results: ResultArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    cost: CostArgs,
    #[command(flatten)]
    groups: GroupArgs,
    #[command(flatten)]
    constraints: ConstraintArgs,
}

/// Runs `clue glam apply`.
pub fn run(args: ApplyArgs, quiet: bool) -> Result<ExitCode> {
    let explainer = args.inputs.over(args.constraints.open(&args.run)?, &args.run.place.directory())?;
    let settings = args.settings();
    let (ask, judging) = (explainer.ask(&settings)?, explainer.judging(&args.cost.settings())?);
    let mut search = Explainer::refining(&judging, &settings);
    search.plausibility = !args.results.no_plausibility;
    search.validate()?;
    args.results.open()?;
    let (mut bar, seed) = (Bar::new(quiet), Seed(args.results.seed));
    let groups = args.groups.settings();
    let mappers = explainer
        .mappers(&args.method, &groups, &judging, seed, &mut bar)
        .with_context(|| named_method(&args.method))?;
    for note in mappers.iter().filter_map(|(name, fitted)| trade_off_note(name, fitted, judging.objective.input.0)) {
        tracing::info!("{note}");
    }
    let (inputs, rejected) = args.inputs.choose(&explainer, None, search.accepted_by())?;
    let explanations = explainer.apply(&mappers, &ask, &search, &inputs, seed, &mut bar)?;
    bar.finished("applied", &Explanation::tally(&explanations));
    let set = ExplanationSet::new(&explainer, &args.method, &search, seed, &[], explanations);
    args.results.deliver(&set.beside(rejected), explainer.known_schema()?)
}

impl ApplyArgs {
    fn settings(&self) -> ApplySettings {
        let Self { classes, own_class, refine, learning_rate, .. } = *self;
        let (method, towards) = (self.method.clone(), self.towards.clone());
        ApplySettings { method, classes, own_class, towards, refine, learning_rate }
    }
}
