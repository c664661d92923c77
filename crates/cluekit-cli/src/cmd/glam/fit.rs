//! `clue glam fit`: learns mappers and saves them in the run.

use super::options::{CostArgs, GroupArgs};
use crate::cmd::run::RunArgs;
use crate::config::{self, one_of};
use crate::print::print;
use crate::progress::Bar;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use cluekit::amortise::{LearnFrom, MapperKind, MapperPlan, NeuralPlan};
use cluekit::explainer::{GroupSettings, is_taken};
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
    /// What to learn.
    #[arg(long, default_value_t = MapperKind::Glam, value_parser = one_of::<MapperKind>(learned()))]
    mapper: MapperKind,
    /// Where certain examples come from: training rows (GLAM 1), or the CLUEs of uncertain ones (GLAM 2 and 3).
    #[arg(long, value_enum, default_value = "data")]
    learn_from: LearnFromArg,
    /// Weight of the distance in the search of those CLUEs: 0 for GLAM 2 [default: that of --lambda-x, GLAM 3].
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    clues_lambda_x: Option<f32>,
    /// Weight of the translation's own size in Eq. 2 [default: the best of several on validation rows].
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    lambda_theta: Option<f32>,
    /// Clusters at the most.
    #[arg(long, value_name = "N", default_value_t = 5)]
    clusters: usize,
    /// A TOML file with settings of the neural mapper, such as `width = 400`.
    #[arg(long, value_name = "FILE")]
    neural: Option<PathBuf>,
    /// The groups as TOML, with the names of the options and _ instead of -; options win over it.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LearnFromArg {
    Data,
    Clues,
}

/// The names of what can be learned.
fn learned() -> impl Iterator<Item = &'static str> {
    MapperKind::ALL.into_iter().filter(|method| !method.is_baseline()).map(MapperKind::name)
}

/// Runs `clue glam fit`.
pub fn run(args: FitArgs, quiet: bool) -> Result<ExitCode> {
    let method = args.mapper;
    let name = args.name.clone().unwrap_or_else(|| method.name().into());
    MapperFolder::check_name(&name)?;
    if is_taken(&name) {
        bail!(Error::setting(
            "name",
            format!("`{name}` is what a method of `clue glam apply` is called; choose another")
        ));
    }
    let explainer = args.run.explainer()?;
    let groups = args.groups.over(config::read::<GroupSettings>(args.config.as_deref())?).for_mapper(method);
    let (pairs, plan) = (explainer.pairs(&groups)?, args.plan(method)?);
    let search = explainer.judging(&args.cost.settings())?;
    let thresholds = groups.thresholds(search.threshold, search.accept_by);
    let mut bar = Bar::new(quiet);
    let fitted = explainer.fit(&plan, &pairs, &search, thresholds, Seed(args.seed), &mut bar)?;
    bar.finished(method.name(), &format!("fitted for {}", groups_of(fitted.all.len())));
    explainer.save(&fitted, &name)?;
    let summary = explainer.summary(&fitted, &name)?;
    print(args.json, &summary, || fitted_text(&summary))
}

fn groups_of(count: usize) -> String {
    if count == 1 { "one pair of groups".into() } else { format!("{count} pairs of groups") }
}

impl FitArgs {
    fn plan(&self, method: MapperKind) -> Result<MapperPlan> {
        if method == MapperKind::Neural && (self.learn_from == LearnFromArg::Clues || self.lambda_theta.is_some()) {
            bail!(Error::setting("mapper", "neural needs no CLUEs and has no lambda-theta; leave these options out"));
        }
        if self.neural.is_some() && method != MapperKind::Neural {
            bail!(Error::setting("neural", "is for --mapper neural; choose it, or leave the file out"));
        }
        if self.clues_lambda_x.is_some() && self.learn_from == LearnFromArg::Data {
            bail!(Error::setting("clues-lambda-x", "is for --learn-from clues; choose it, or leave this out"));
        }
        let learn_from = match self.learn_from {
            LearnFromArg::Data => LearnFrom::Data,
            LearnFromArg::Clues => LearnFrom::Clues(self.clues_lambda_x.unwrap_or(self.cost.lambda_x)),
        };
        let mut neural = NeuralPlan::default();
        if method == MapperKind::Neural {
            neural.lambda_x = self.cost.lambda_x;
        }
        if let Some(path) = &self.neural {
            let reading = || format!("reading {}", path.display());
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            let settings = text.parse::<toml::Table>().map_err(|problem| Error::setting("neural", problem.to_string()));
            neural = neural.with(&settings.with_context(reading)?).with_context(reading)?;
        }
        Ok(MapperPlan {
            lambda_theta: self.lambda_theta,
            most_clusters: self.clusters,
            neural,
            ..MapperPlan::new(method, learn_from)
        })
    }
}
