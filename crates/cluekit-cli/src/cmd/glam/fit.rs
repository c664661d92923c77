//! `clue glam fit`: learns mappers and saves them in the run.

use super::cost::CostArgs;
use super::groups::GroupArgs;
use crate::choice::one_of;
use crate::cmd::run::RunArgs;
use crate::config;
use crate::progress::Bar;
use crate::table::{json, table};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use cluekit::amortise::{LearnFrom, Mapper, MapperKind, MapperPlan, Mappers, NeuralPlan, Scheme};
use cluekit::explainer::{BEST, Explainer, GroupSettings};
use cluekit::model::store::mappers::MapperFolder;
use cluekit::observer::Observer;
use cluekit::{Error, Seed};
use serde::Serialize;
use std::io::Write;
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
    MapperKind::ALL.into_iter().filter(|kind| !kind.is_baseline()).map(MapperKind::name)
}

/// Runs `clue glam fit`.
pub fn run(args: FitArgs, quiet: bool) -> Result<ExitCode> {
    let kind = args.mapper;
    let name = args.name.clone().unwrap_or_else(|| kind.name().into());
    MapperFolder::check_name(&name)?;
    if is_taken(&name) {
        bail!(Error::setting(
            "name",
            format!("`{name}` is what a method of `clue glam apply` is called; choose another")
        ));
    }
    let explainer = args.run.explainer()?;
    let groups = args.groups.over(config::read::<GroupSettings>(args.config.as_deref())?);
    let groups = match kind {
        MapperKind::Neural if groups.pairs_are_default() => groups.paired(Scheme::AnyToClass),
        _ => groups,
    };
    let (pairs, plan) = (explainer.pairs(&groups)?, args.plan(kind)?);
    let search = explainer.judging(&args.cost.settings())?;
    let thresholds = groups.thresholds(search.threshold, search.accept_by);
    let mut bar = Bar::new(quiet);
    let mappers = explainer.fit(&plan, &pairs, &search, thresholds, Seed(args.seed), &mut bar)?;
    bar.finished(kind.name(), &format!("fitted for {}", groups_of(mappers.all.len())));
    explainer.save(&mappers, &name)?;
    let document = Document::new(&explainer, &name, &mappers)?;
    let mut out = std::io::stdout().lock();
    match args.json {
        true => out.write_all(&json(&document)?)?,
        false => out.write_all(document.text().as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a name means something else to `clue glam apply`.
fn is_taken(name: &str) -> bool {
    name == BEST || name.parse::<MapperKind>().is_ok_and(MapperKind::is_baseline)
}

fn groups_of(count: usize) -> String {
    if count == 1 { "one pair of groups".into() } else { format!("{count} pairs of groups") }
}

impl FitArgs {
    fn plan(&self, kind: MapperKind) -> Result<MapperPlan> {
        if kind == MapperKind::Neural && (self.learn_from == LearnFromArg::Clues || self.lambda_theta.is_some()) {
            bail!(Error::setting("mapper", "neural needs no CLUEs and has no lambda-theta; leave these options out"));
        }
        if self.neural.is_some() && kind != MapperKind::Neural {
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
        if kind == MapperKind::Neural {
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
            ..MapperPlan::new(kind, learn_from)
        })
    }
}

/// What was fitted.
#[derive(Serialize)]
pub struct Document {
    name: String,
    method: MapperKind,
    learn_from: LearnFrom,
    file: PathBuf,
    groups: Vec<GroupRow>,
}

#[derive(Serialize)]
struct GroupRow {
    name: String,
    uncertain: usize,
    certain: usize,
    uncertain_above: f32,
    certain_below: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda_theta: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clusters: Option<usize>,
    /// ‖θ‖₂, where there is one translation.
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<f64>,
    notes: Vec<String>,
}

impl Document {
    fn new(explainer: &Explainer, name: &str, mappers: &Mappers) -> Result<Self> {
        let classes = explainer.classes();
        let length = |theta: &[f32]| theta.iter().map(|t| f64::from(*t).powi(2)).sum::<f64>().sqrt();
        let row = |mapper: &Mapper| GroupRow {
            name: mapper.pair.name(classes),
            uncertain: mapper.uncertain,
            certain: mapper.certain,
            uncertain_above: mapper.uncertain_above,
            certain_below: mapper.certain_below,
            lambda_theta: mapper.lambda_theta,
            clusters: mapper.map.clusters(),
            length: mapper.map.translation().map(length),
            notes: mapper.notes.clone(),
        };
        Ok(Self {
            name: name.into(),
            method: mappers.kind,
            learn_from: mappers.fitted_under.learn_from,
            file: explainer.opened()?.folder.mappers().path(name),
            groups: mappers.all.iter().map(row).collect(),
        })
    }

    fn text(&self) -> String {
        let number =
            |value: Option<f64>, digits: usize| value.map_or(String::new(), |value| format!("{value:.digits$}"));
        let row = |group: &GroupRow| {
            vec![
                group.name.clone(),
                group.uncertain.to_string(),
                group.certain.to_string(),
                format!("{:.3}", group.uncertain_above),
                format!("{:.3}", group.certain_below),
                group.lambda_theta.map_or(String::new(), |lambda| lambda.to_string()),
                group.clusters.map_or(String::new(), |clusters| clusters.to_string()),
                number(group.length, 2),
            ]
        };
        let mut rows: Vec<Vec<String>> = self.groups.iter().map(row).collect();
        let mut headings =
            vec!["group", "uncertain", "certain", "above", "below", "lambda-theta", "clusters", "length"];
        for column in (5..8).rev() {
            if rows.iter().all(|row| row[column].is_empty()) {
                headings.remove(column);
                rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
        let mut text = table(&headings, &rows);
        for group in &self.groups {
            for note in &group.notes {
                text += &format!("note on {}: {note}\n", group.name);
            }
        }
        text + &format!("saved as {}\n", self.file.display())
    }
}
