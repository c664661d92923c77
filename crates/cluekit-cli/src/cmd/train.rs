//! `clue train`: from data to a run folder with a generative model and a predictor.

use super::dataset::DatasetArgs;
use super::run::Place;
use super::settings::SettingArgs;
use crate::config::one_of;
use crate::progress::Bar;
use crate::stop;
use anyhow::{Result, bail};
use clap::Args;
use cluekit::data::{Dataset, Schema, Targets};
use cluekit::model::pipeline::{Role, train_role};
use cluekit::model::store::files::create_folder;
use cluekit::model::store::run::{RunFolder, RunRecord};
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
    #[command(flatten)]
    settings: SettingArgs,
    /// Train this model alone; `clue adopt --out RUN` adds a predictor of your own to a generative model.
    #[arg(long, value_name = "MODEL", value_parser = one_of::<Role>(Role::ALL.map(Role::name)))]
    only: Option<Role>,
    /// Go on with an interrupted run in RUN.
    #[arg(long, conflicts_with = "overwrite")]
    resume: bool,
    /// Replace the run in RUN.
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    source: DatasetArgs,
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
    let plan = args.settings.plan(&dataset)?;
    plan.validate(&dataset.schema, dataset.train.len())?;
    create_folder(&args.out)?;
    let request = args.source.kept(&args.dataset, &dataset, &args.out, &args.place.directory());
    let record = RunRecord::new(request, dataset.sources.clone(), plan, args.source.seed());
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
    train_role(&folder, &record, &dataset, args.only, &mut Bar::new(quiet))?;
    if args.only == Some(Role::Generative) {
        let out = args.out.display();
        tracing::info!("done; next: clue adopt --predictor FILE … --out {out}, with the same data");
        return Ok(ExitCode::SUCCESS);
    }
    tracing::info!(
        "done; next: clue audit {0} for a report, clue explain {0} for clues, clue measure {0} for scores",
        args.out.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// The dataset, with a note on a class that is rare.
fn read(args: &TrainArgs) -> Result<Dataset> {
    let schema = args.source.schema.as_deref().map(Schema::read).transpose()?;
    let dataset = args.source.read(&args.dataset, schema.as_ref(), &args.place.directory())?;
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
