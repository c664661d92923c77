//! `clue glam fit`: learns mappers and saves them in the run.

use super::options::{CostArgs, GroupArgs};
use crate::cmd::run::RunArgs;
use crate::config::{self, lay_over, one_of};
use crate::print::print;
use crate::progress::Bar;
use anyhow::{Context, Result, bail};
use clap::Args;
use cluekit::amortise::MapperKind;
use cluekit::explainer::{ExampleSource, FitSettings, is_taken};
use cluekit::model::store::mappers::MapperFolder;
use cluekit::observer::Observer;
use cluekit::{Error, Seed};
use cluekit_report::fitted_text;
use std::path::PathBuf;
use std::process::ExitCode;

/// Learn a change for each group of uncertain inputs, and save it in the run.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue glam fit runs/mnist --from 4 --to 4              uncertain 4s to certain 4s, as in the paper
  clue glam fit runs/mnist --learn-from clues --name glam-3
  clue glam fit runs/mnist --mapper neural
  clue glam fit runs/credit --where \"AGE < 30\" --scheme within
  clue glam fit runs/credit --by EDUCATION --mapper clusters

Mappers:
  glam      one translation of latent codes, learned by Eq. 2 of the paper
  clusters  one for each cluster of the uncertain codes; how many is chosen on validation rows
  scaled    one translation whose length is chosen for each input
  affine    a matrix and a translation
  neural    a network, trained on uncertainty and distance directly, with the class as a condition")]
pub struct FitArgs {
    #[command(flatten)]
    run: RunArgs,
    /// What to learn [default: glam].
    #[arg(long, value_parser = one_of::<MapperKind>(learned()))]
    mapper: Option<MapperKind>,
    /// Where certain examples come from: training rows (GLAM 1), or the CLUEs of uncertain ones (GLAM 2 and 3)
    /// [default: data].
    #[arg(long, value_parser = one_of::<ExampleSource>(ExampleSource::ALL.map(ExampleSource::name)))]
    learn_from: Option<ExampleSource>,
    /// Weight of the distance in the search of those CLUEs: 0 for GLAM 2 [default: that of --lambda-x, GLAM 3].
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    clues_lambda_x: Option<f32>,
    /// Weight of the translation's own size in Eq. 2 [default: the best of several on validation rows].
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    lambda_theta: Option<f32>,
    /// Clusters at the most [default: 5].
    #[arg(long, value_name = "N")]
    clusters: Option<usize>,
    /// A TOML file with settings of the neural mapper, such as `width = 400`.
    #[arg(long, value_name = "FILE")]
    neural: Option<PathBuf>,
    /// All of these settings as TOML, with the names of the options and _ instead of -; options win over it.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// What the mapper is called in the run [default: its kind].
    #[arg(long)]
    name: Option<String>,
    /// Where all randomness comes from.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    groups: GroupArgs,
    #[command(flatten)]
    cost: CostArgs,
}

/// The names of what can be learned.
fn learned() -> impl Iterator<Item = &'static str> {
    MapperKind::ALL.into_iter().filter(|method| !method.is_baseline()).map(MapperKind::name)
}

/// Runs `clue glam fit`.
pub fn run(args: FitArgs, quiet: bool) -> Result<ExitCode> {
    let settings = args.settings()?;
    let file = args.neural.as_ref().or(args.config.as_ref());
    let named = |file: &PathBuf| format!("with the settings of {}", file.display());
    let plan = settings.plan().with_context(|| file.map_or("with these options".into(), named))?;
    let groups = settings.groups();
    let name = args.name.clone().unwrap_or_else(|| plan.kind.name().into());
    MapperFolder::check_name(&name)?;
    if is_taken(&name) {
        bail!(Error::setting(
            "name",
            format!("`{name}` is what a method of `clue glam apply` is called; choose another")
        ));
    }
    let explainer = args.run.explainer()?;
    let pairs = explainer.pairs(&groups)?;
    let search = explainer.judging(&settings.cost())?;
    let thresholds = groups.thresholds(search.threshold, search.accepted_by());
    let mut bar = Bar::new(quiet);
    let fitted = explainer.fit(&plan, &pairs, &search, thresholds, Seed(args.seed), &mut bar)?;
    bar.finished(plan.kind.name(), &format!("fitted for {}", groups_of(fitted.all.len())));
    explainer.save(&fitted, &name)?;
    let summary = explainer.summary(&fitted, &name)?;
    print(args.json, &summary, || fitted_text(&summary))
}

fn groups_of(count: usize) -> String {
    if count == 1 { "one pair of groups".into() } else { format!("{count} pairs of groups") }
}

impl FitArgs {
    /// What the options say, over what the file says.
    fn settings(&self) -> Result<FitSettings> {
        let mut settings: FitSettings = config::read(self.config.as_deref())?;
        lay_over!(self, settings: mapper, learn_from, clues_lambda_x, lambda_theta, clusters);
        if let Some(path) = &self.neural {
            settings.neural = Some(config::read(Some(path))?);
        }
        Ok(self.cost.over(self.groups.over(settings)))
    }
}
