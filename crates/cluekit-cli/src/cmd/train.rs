//! `clue train`: from data to a run folder with a generative model and a predictor.

use super::meaning::MeaningArgs;
use super::reading::ReadingArgs;
use super::run::Place;
use crate::progress::Bar;
use crate::stop;
use anyhow::{Context, Result, bail};
use clap::Args;
use cluekit::data::{self, Dataset, Request, RowRequest, Schema, Targets};
use cluekit::model::pipeline::train_run;
use cluekit::model::plan::Plan;
use cluekit::model::store::files::create_folder;
use cluekit::model::store::run::{RunFolder, RunRecord};
use cluekit::settings::parse_setting;
use cluekit::{Error, Seed};
use std::path::PathBuf;
use std::process::ExitCode;

/// Share of the rows below which one of two classes is rare.
const RARE: f64 = 0.05;

/// Train a predictor with a posterior and a generative model on a dataset.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue train synbols --out runs/symbols
  clue train mnist --out runs/mnist
  clue train credit --out runs/credit --set predictor.kind=ensemble --set predictor.samples=10
  clue train loans.csv --target default --out runs/loans
  clue train loans.csv --target default --drop client --out runs/loans
  clue train loans.csv --target default --schema schema.toml --out runs/loans
  clue train adult.csv --test adult-test.csv --target income --id person --out runs/adult
  clue train survey.csv --target votes --weight people --out runs/survey
  clue train frauds.csv --target fraud --set predictor.class_weights=balanced --out runs/frauds
  clue train german.data --no-header --delimiter space --target column_21 --out runs/german
  clue train digits.npz --out runs/digits --set generative.architecture=convolution
  clue train images.idx.gz --labels labels.idx.gz --out runs/letters
  clue train folder-of-images --out runs/images

Every setting that was used is in RUN/run.toml under [plan]; docs/settings.md explains them.
--config reads the same tables without the `plan.` in front. An interrupted run goes on with
the same command and --resume, and ends with the same bytes.")]
pub struct TrainArgs {
    /// synbols, synbols-full, mnist, credit, moons, or a path: a table (text, Parquet, Excel), images (NumPy, IDX,
    /// .h5py), or a folder with a subfolder of PNG images for each class.
    dataset: String,
    /// The run folder to make.
    #[arg(long, value_name = "RUN")]
    out: PathBuf,
    /// The column to predict in a table; the labels of an array file; the attribute of symbols (char or font).
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// The column that identifies the rows of a table; it is no feature [default: one that is recognised].
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// The column that says how much each row counts in training; it is no feature.
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// A file with the rows to test on, with the same columns, instead of a share of the rows.
    #[arg(long, value_name = "FILE", conflicts_with = "test_share")]
    test: Option<String>,
    /// Which split of symbols: random, stratified_char (letters apart) or stratified_font (fonts apart).
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// What the columns mean, instead of inferring it: the schema.toml of another run, edited.
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    #[command(flatten)]
    meaning: MeaningArgs,
    /// Begin with the settings of this plan, for images of your own too: synbols-small, synbols-full or synbols-demo.
    #[arg(long, value_name = "PLAN")]
    plan: Option<String>,
    /// Settings that differ from the defaults, as TOML.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One setting, such as predictor.samples=20; may be repeated and wins over --config.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Share of the rows kept for testing where the dataset has no split of its own.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    test_share: f64,
    /// Where all randomness comes from.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,
    /// Go on with an interrupted run in RUN.
    #[arg(long, conflicts_with = "overwrite")]
    resume: bool,
    /// Replace the run in RUN.
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    place: Place,
}

/// Runs `clue train`.
pub fn run(args: TrainArgs, quiet: bool) -> Result<ExitCode> {
    stop::remedy("go on with --resume");
    let folder = RunFolder::at(&args.out);
    if let Some(found) = folder.occupied_by()
        && !args.overwrite
        && !(args.resume && folder.exists())
    {
        bail!(
            "{} holds a run already ({found}); give --resume to go on with it or --overwrite to replace it",
            args.out.display()
        );
    }
    let dataset = read(&args)?;
    let plan = plan(&args, &dataset)?;
    plan.validate(&dataset.schema, dataset.train.len())?;
    create_folder(&args.out)?;
    let mut request = request(&args).kept_in(&args.out, &args.place.directory());
    request.rows.id = dataset.names.id.clone();
    let record = RunRecord::new(request, dataset.sources.clone(), plan, Seed(args.seed));
    if folder.exists() && args.resume {
        if let Some(difference) = folder.differs_from(&record, &dataset.schema)? {
            bail!(
                "{} was begun otherwise: {difference}; repeat the first command with --resume, or start again with \
                 --overwrite",
                args.out.display()
            );
        }
    } else {
        folder.clear()?;
    }
    folder.begin(&record, &dataset.schema)?;
    tracing::info!("{}", dataset.summary());
    train_run(&folder, &record, &dataset, &mut Bar::new(quiet))?;
    tracing::info!(
        "done; next: clue audit {0} for a report, clue explain {0} for clues, clue measure {0} for scores",
        args.out.display()
    );
    Ok(ExitCode::SUCCESS)
}

fn request(args: &TrainArgs) -> Request {
    let (name, target, split) = (args.dataset.clone(), args.target.clone(), args.split.clone());
    let rows = RowRequest { id: args.id.clone(), test: args.test.clone(), weight: args.weight.clone() };
    let (seed, reading, meaning) = (Seed(args.seed), args.reading.reading(), args.meaning.meaning());
    let stratified = data::is_table(&args.dataset);
    Request { name, target, split, test_share: args.test_share, seed, stratified, reading, rows, meaning }
}

fn read(args: &TrainArgs) -> Result<Dataset> {
    let meaning = args.meaning.meaning();
    if let (Some(schema), false) = (&args.schema, meaning.is_empty()) {
        bail!(
            "{} says what the columns mean; change it there, or leave --drop, --task and --ordinal out",
            schema.display()
        );
    }
    if !meaning.is_empty() && !data::is_table(&args.dataset) {
        bail!("--drop, --task and --ordinal are for a table of your own; `{}` is none", args.dataset);
    }
    let schema = args.schema.as_deref().map(Schema::read).transpose()?;
    let dataset = data::load(&request(args), schema.as_ref(), &args.place.directory())?;
    let names = args.reading.reading().class_names;
    if !names.is_empty() && names.iter().map(|name| name.trim()).ne(dataset.schema.target.task.classes()) {
        bail!("--class-names is for images whose labels are numbers; `{}` has classes of its own", args.dataset);
    }
    for note in &dataset.notes {
        tracing::info!("{note}");
    }
    if let Some(note) = rare_class(&dataset) {
        tracing::info!("{note}");
    }
    Ok(dataset)
}

/// What can be done about a class that few training rows have.
fn rare_class(dataset: &Dataset) -> Option<String> {
    let Targets::Classes(labels) = &dataset.train.y else { return None };
    let classes = dataset.schema.target.task.classes();
    let count = |class: usize| labels.iter().filter(|&&label| label as usize == class).count();
    let (rarest, rows) = (0..classes.len()).map(|class| (class, count(class))).min_by_key(|(_, rows)| *rows)?;
    let share = rows as f64 / labels.len().max(1) as f64;
    (classes.len() == 2 && rows > 0 && share < RARE).then(|| {
        format!(
            "class `{}` has {rows} of {} training rows; --set predictor.class_weights=balanced makes both classes count \
             alike, at the price of probabilities that are no longer those of the data",
            classes[rarest],
            labels.len()
        )
    })
}

/// The defaults for this data, then `--config`, then every `--set`.
fn plan(args: &TrainArgs, dataset: &Dataset) -> Result<Plan> {
    let defaults = args.plan.as_deref().map_or_else(|| Ok(Plan::for_dataset(dataset)), Plan::named)?;
    let mut overrides = Vec::new();
    if let Some(path) = &args.config {
        let text = std::fs::read_to_string(path).map_err(Error::reading(path))?;
        let table =
            text.parse().map_err(|problem: toml::de::Error| Error::file(path, problem.to_string().trim_end()))?;
        overrides.push(table);
        defaults.with(&overrides).with_context(|| format!("reading {}", path.display()))?;
    }
    for setting in &args.settings {
        overrides.push(parse_setting(setting)?);
    }
    Ok(defaults.with(&overrides)?)
}
