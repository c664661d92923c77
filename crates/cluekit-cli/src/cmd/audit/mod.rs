//! `clue audit`: one page for a person who has to judge a model.

pub mod command;

use super::explain::options::ConstraintArgs;
use super::run::{Rows, RunArgs, with_file};
use crate::config::{self, lay_over, one_of};
use crate::progress::Bar;
use anyhow::{Context, Result};
use clap::Args;
use cluekit::Seed;
use cluekit::amortise::MapperKind;
use cluekit::audit::{Audit, check_page, write_page};
use cluekit::explainer::{AuditSettings, Explainer, Split};
use cluekit::model::store::files::{create_parent, last_name};
use cluekit::search::Delta;
use cluekit_report::{findings_text, illustrated};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What can be learned for groups.
const MAPPERS: [MapperKind; 4] = [MapperKind::Glam, MapperKind::Clusters, MapperKind::Scaled, MapperKind::Affine];

/// Write one HTML page on what a model is unsure about, whether that can be trusted, and what would help.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue audit runs/mnist                              runs/mnist/report.html and report.json
  clue audit runs/credit --out audit.html --immutable SEX,AGE --by PAY_0
  clue audit runs/credit --top 50 --count 5 --delta 3 --seed 1
  clue audit runs/mnist --quick                      fewer inputs, in a fraction of the time

The page is one file: no network, no other file, readable without script, light or dark, and it prints. It
answers in plain words how good the model is, what it is unsure about and what would help; then it shows
where it is unsure, the most uncertain inputs with their clues, what one learned change does for whole
groups, whether confidence can be trusted, the latent space, and how to repeat all of it.

Beside it lies a JSON document of the same name with every number; `clue report` makes the page again from
that. The same run, options and seed give the same bytes of both.

Exit code 3: done, but at least one of the explained inputs that the model is unsure about has no accepted clue,
or some rows of --file were left out.")]
pub struct AuditArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// The page; the JSON document gets the same name [default: RUN/report.html].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Which rows to look at [default: test].
    #[arg(long, value_parser = one_of::<Split>(Split::ALL.map(Split::name)))]
    pub split: Option<Split>,
    /// Rows of another table instead, with the column to predict.
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    pub file: Option<PathBuf>,
    /// How many of the most uncertain inputs to explain [default: 24].
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Clues for each of them [default: 10].
    #[arg(long, value_name = "K")]
    pub count: Option<usize>,
    /// Radius of the latent ball that clues are searched in: a number, `inf`, or `auto`, which is as far as certain
    /// training rows are, and twice as far again and again for inputs without a clue there. Searches start anywhere in
    /// the ball, and without one up to 1 from the input [default: auto].
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub delta: Option<Delta>,
    /// Steps of each search at the most, and four times as many in a ball that was doubled [default: 30].
    #[arg(long, value_name = "N")]
    pub steps: Option<usize>,
    /// Weight of the distance to the input in the search, and in the cost H + λ d [default: 0.03].
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub lambda_x: Option<f32>,
    /// The model is unsure about inputs with an uncertainty above this [default: 0.5 nats, four to one between two
    /// classes, or what clues are accepted below if that is more; of values what nine tenths of the training rows stay
    /// below].
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    pub above: Option<f32>,
    /// A clue is accepted below this uncertainty [default: that of the surest quarter of the training rows, or a
    /// fifth of the greatest possible one if that is more].
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    pub threshold: Option<f32>,
    /// Add to the input only what changes, instead of showing its reconstruction changed [default: for tables].
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub anchored: Option<bool>,
    /// For tables: learn a change for each part of this feature, instead of each class.
    #[arg(long, value_name = "FEATURE")]
    pub by: Option<String>,
    /// What is learned for each group: one change (glam), one for each cluster of its inputs (clusters), one direction
    /// and for each input how far (scaled), or a linear map (affine) [default: scaled].
    #[arg(long, value_name = "NAME", value_parser = one_of::<MapperKind>(MAPPERS.map(MapperKind::name)))]
    pub mapper: Option<MapperKind>,
    /// Learn no change for whole groups, which predicts all training rows first.
    #[arg(long, conflicts_with = "by")]
    pub no_groups: bool,
    /// For tables: search for clues as the paper does, without training rows, single changes and a jury beside it.
    #[arg(long)]
    pub only_paper: bool,
    /// Fewer inputs and clues, and no choice of settings: 8 inputs, 4 clues each.
    #[arg(long)]
    pub quick: bool,
    /// Where all randomness comes from [default: 0].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Settings as TOML, with the names of the options and _ instead of -; options win over it.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print the JSON document instead of the summary.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub constraints: ConstraintArgs,
}

/// Runs `clue audit`.
pub fn run(args: AuditArgs, quiet: bool) -> Result<ExitCode> {
    let page = args.out.clone().unwrap_or_else(|| args.run.run.join("report.html"));
    check_page(&page)?;
    let settings = args.settings()?;
    settings.validate()?;
    if page.parent() != Some(&args.run.run) {
        create_parent(&page)?;
    }
    let name = last_name(&args.run.run);
    let directory = args.run.place.directory();
    let explainer = with_file(args.constraints.open(&args.run)?, args.file.as_deref(), Rows::WithTargets, &directory)?;
    let mut audit = make(&explainer, &settings, &name, quiet)?;
    audit.provenance.command = command::command(&args, &settings, &name);
    let json = write(&audit, &page)?;
    let mut out = std::io::stdout().lock();
    match args.json {
        true => out.write_all(audit.json()?.as_bytes())?,
        false => {
            out.write_all(findings_text(&audit).as_bytes())?;
            writeln!(out, "The page: {}\nIts numbers: {}", page.display(), json.display())?;
        }
    }
    let unexplained = audit.gallery.is_some_and(|gallery| gallery.unsure().any(|card| !card.explained));
    Ok(if unexplained || !explainer.rejected().is_empty() { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

/// The audit of an opened run, with its pictures.
pub fn make(explainer: &Explainer, settings: &AuditSettings, name: &str, quiet: bool) -> Result<Audit> {
    explainer.check_audit(settings)?;
    tracing::info!("predicting {} inputs …", explainer.samples(settings.split)?.len());
    let audited = explainer.audit(settings, name, &mut Bar::new(quiet))?;
    Ok(illustrated(audited, explainer.known_schema()?))
}

impl AuditArgs {
    /// What the options say, over what a file says.
    fn settings(&self) -> Result<AuditSettings> {
        let mut settings: AuditSettings = config::read(self.config.as_deref())?;
        lay_over!(self, settings: split, top, count, delta, steps, lambda_x, above, threshold, anchored, by, mapper);
        settings.no_groups |= self.no_groups;
        settings.only_paper |= self.only_paper;
        settings.quick |= self.quick;
        settings.seed = self.seed.map_or(settings.seed, Seed);
        Ok(settings)
    }
}

/// Writes the page and, under the same name, its document, whose path is returned.
pub fn write(audit: &Audit, page: &Path) -> Result<PathBuf> {
    write_page(audit, &cluekit_report::page(audit)?, page).context("writing the audit")
}
