//! `clue adopt`: from a model made elsewhere to a run folder.

use super::dataset::DatasetArgs;
use super::run::{Place, open};
use super::settings::SettingArgs;
use crate::config::one_of;
use crate::progress::Bar;
use crate::stop;
use anyhow::{Context, Result, bail};
use clap::Args;
use cluekit::data::{Dataset, Schema};
use cluekit::explainer::Adoption;
use cluekit::model::adopted::probe::Probe;
use cluekit::model::adopted::{CategoryForm, Channels, InputForm, Layout, ModelInput, ModelOutput, adopt_generative};
use cluekit::model::pipeline::{Role, train_role};
use cluekit::model::store::files::create_folder;
use cluekit::model::store::run::{RunFolder, RunRecord};
use cluekit::model::store::schema::read_schema;
use cluekit::prediction::answer;
use cluekit_onnx::Onnx;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Make a run from a model of your own: an ONNX file, or several as an ensemble.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue adopt --predictor net.onnx --data loans.csv --target default --out runs/loans
  clue adopt --predictor members/*.onnx --data loans.csv --target default --input raw --out runs/loans
  clue adopt --predictor net.onnx --mc-dropout 20 --data mnist --out runs/digits
  clue adopt --predictor forest.onnx --data loans.csv --target default --out runs/forest
  clue adopt --predictor net.onnx --encoder encoder.onnx --decoder decoder.onnx --data digits.npz --out runs/digits

What the model answers with and what it sees are recognised, and said; options settle them. It is asked
about rows of the data, and its score stands beside that of a constant answer: a wrong order of columns
or classes shows there. Then a generative model is trained on the data. The files are copied into the
run, and every command works on it as on a run of `clue train`. docs/own-model.md shows how PyTorch,
scikit-learn, XGBoost, LightGBM and CatBoost write such files.")]
pub struct AdoptArgs {
    /// Files of the model; several, or a pattern such as 'members/*.onnx', are the members of an ensemble.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    predictor: Vec<PathBuf>,
    /// The data that the model was made for, as `clue train` takes them: a table, images, or the name of a dataset.
    #[arg(long, value_name = "DATA")]
    data: String,
    /// The run folder to make; one of `clue train --only generative` keeps its generative model.
    #[arg(long, value_name = "RUN")]
    out: PathBuf,
    #[command(flatten)]
    answers: AnswerArgs,
    #[command(flatten)]
    input: InputArgs,
    /// Rows with your model's own answers, which are checked now and whenever the run is opened: a table as the data, with
    /// one more column a class that holds its probability (of a value: `mean`), or a .safetensors file.
    #[arg(long, value_name = "FILE")]
    probe: Option<PathBuf>,
    /// An encoder of your own, from a row to the mean of its code.
    #[arg(long, value_name = "FILE", requires = "decoder")]
    encoder: Option<PathBuf>,
    /// A decoder of your own, from a code to a row.
    #[arg(long, value_name = "FILE", requires = "encoder")]
    decoder: Option<PathBuf>,
    /// Train no generative model: clues of a table are then searched among its rows alone.
    #[arg(long, conflicts_with = "encoder")]
    no_generative: bool,
    /// Replace the run in RUN.
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    source: DatasetArgs,
    #[command(flatten)]
    settings: SettingArgs,
}

/// What the model's numbers mean.
#[derive(Args, Debug)]
#[command(next_help_heading = "What the model answers")]
struct AnswerArgs {
    /// What its numbers are [default: recognised].
    #[arg(long, value_parser = one_of::<ModelOutput>(ModelOutput::ALL.map(ModelOutput::name)))]
    output: Option<ModelOutput>,
    /// Levels of the quantiles that it answers with, as in --quantiles 0.1,0.5,0.9.
    #[arg(long, value_name = "LEVELS", value_delimiter = ',')]
    quantiles: Vec<f64>,
    /// It answers with S rows for each row, one posterior sample behind the other.
    #[arg(long, value_name = "S")]
    samples: Option<usize>,
    /// Keep its dropouts on, under S fixed masks.
    #[arg(long, value_name = "S")]
    mc_dropout: Option<usize>,
    /// Average the trees of a forest in G groups, which are the posterior samples [default: 10].
    #[arg(long, value_name = "G")]
    groups: Option<usize>,
    /// Names of its classes in its own order [default: those in the file, or the order of the target's].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    classes: Vec<String>,
}

/// What the model sees.
#[derive(Args, Debug)]
#[command(next_help_heading = "What the model sees")]
struct InputArgs {
    /// Columns as this tool encodes them, or raw: in the data's units, a column a feature [default: what fits better].
    #[arg(long, value_parser = one_of::<InputForm>(InputForm::ALL.map(InputForm::name)))]
    input: Option<InputForm>,
    /// What it sees of a category in the raw form [default: what fits its number of columns].
    #[arg(long, value_parser = one_of::<CategoryForm>(CategoryForm::ALL.map(CategoryForm::name)))]
    categories: Option<CategoryForm>,
    /// The order of the sides of an image [default: what fits its shape].
    #[arg(long, value_parser = one_of::<Layout>(Layout::ALL.map(Layout::name)))]
    layout: Option<Layout>,
    /// The order of the channels of an image [default: rgb].
    #[arg(long, value_parser = one_of::<Channels>(Channels::ALL.map(Channels::name)))]
    channels: Option<Channels>,
    /// The number of a pixel of full intensity, such as 255 [default: 1].
    #[arg(long, value_name = "NUMBER")]
    maximum: Option<f64>,
    /// What is subtracted from pixels: one number, or one a channel.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    mean: Vec<f64>,
    /// What the difference is divided by.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    deviation: Vec<f64>,
}

impl InputArgs {
    /// What the schema says, with what the options say over it.
    fn over(&self, said: ModelInput) -> ModelInput {
        let or = |given: &[f64], said: Vec<f64>| if given.is_empty() { said } else { given.to_vec() };
        ModelInput {
            form: self.input.or(said.form),
            categories: self.categories.or(said.categories),
            layout: self.layout.or(said.layout),
            channels: self.channels.or(said.channels),
            maximum: self.maximum.or(said.maximum),
            mean: or(&self.mean, said.mean),
            deviation: or(&self.deviation, said.deviation),
            columns: said.columns,
        }
    }
}

/// Runs `clue adopt`.
pub fn run(args: AdoptArgs, quiet: bool) -> Result<ExitCode> {
    stop::remedy("start again with --overwrite");
    let folder = RunFolder::at(&args.out);
    let kept = folder.exists() && folder.has_generative() && !folder.has_predictor() && !args.overwrite;
    if let Some(found) = folder.occupied_by()
        && !args.overwrite
        && !kept
    {
        bail!("{} holds a run already ({found}); give --overwrite to replace it", args.out.display());
    }
    let directory = Place::default().directory();
    let adoption = args.adoption()?;
    let files = adoption.describe(&Onnx)?;
    let (schema, input) = match &args.source.schema {
        Some(path) => read_schema(path).map(|(schema, input)| (Some(schema), input))?,
        None => (None, ModelInput::default()),
    };
    let dataset = args.source.read(&args.data, schema.as_ref(), &directory)?;
    let mut plan = args.settings.plan(&dataset)?;
    if kept {
        args.check_kept(&folder, &dataset)?;
        plan = folder.record()?.plan.unwrap_or(plan);
    }
    plan.validate(&dataset.schema, dataset.train.len())?;
    tracing::info!("{}", dataset.summary());

    let adoption = Adoption { input: args.input.over(input), ..adoption };
    let understood = adoption.understand(files, &dataset, &Onnx, args.source.seed())?;
    understood.notes.iter().for_each(|note| tracing::info!("{note}"));
    if let Some(doubt) = understood.doubt {
        tracing::warn!("{doubt}");
    }

    let probe = match &args.probe {
        Some(probe) => Probe::given(probe, &dataset.schema, &args.source.reading())?,
        None => understood.own_probe(&dataset)?,
    };
    probe.check(answer(understood.predictor.as_ref(), probe.x())?)?;
    args.check_apart(&adoption)?;
    create_folder(&args.out)?;
    let request = args.source.kept(&args.data, &dataset, &args.out, &directory);
    let mut record = RunRecord::new(request, dataset.sources.clone(), plan, args.source.seed());
    if !kept {
        folder.clear()?;
    }
    record.predictor = Some(understood.adopt_into(&folder)?);
    if let (Some(encoder), Some(decoder)) = (&args.encoder, &args.decoder) {
        record.generative = Some(adopt_generative(&folder, &Onnx, [encoder, decoder])?);
    }
    folder.begin(&record, &dataset.schema)?;
    folder.write_probe(&probe, &dataset.schema)?;
    let only = args.no_generative.then_some(Role::Predictor);
    train_role(&folder, &record, &dataset, only, &mut Bar::new(quiet))?;
    // What is said of the run from now on must hold for it as it lies there.
    open(&args.out, &directory).context("the run was made, and cannot be opened")?;
    tracing::info!(
        "done; next: clue audit {0} for a report, clue explain {0} for clues, clue measure {0} for scores",
        args.out.display()
    );
    Ok(ExitCode::SUCCESS)
}

impl AdoptArgs {
    fn adoption(&self) -> Result<Adoption> {
        let files = self.predictor.iter().map(|file| matching(file)).collect::<Result<Vec<_>>>()?.concat();
        let AnswerArgs { output, quantiles, samples, mc_dropout, groups, classes } = &self.answers;
        Ok(Adoption {
            files,
            output: *output,
            quantiles: quantiles.clone(),
            samples: *samples,
            mc_dropout: *mc_dropout,
            groups: *groups,
            classes: classes.clone(),
            input: ModelInput::default(),
        })
    }

    /// What a run is made from cannot lie in the folder that is cleared for it.
    fn check_apart(&self, adoption: &Adoption) -> Result<()> {
        let Ok(out) = self.out.canonicalize() else { return Ok(()) };
        let mut files = adoption.files.iter().chain(&self.probe).chain(&self.encoder).chain(&self.decoder);
        match files.find(|file| file.canonicalize().is_ok_and(|file| file.starts_with(&out))) {
            Some(file) => bail!("{} lies in {}, which is replaced; give another --out", file.display(), out.display()),
            None => Ok(()),
        }
    }

    /// A generative model that is there already must be one of these data.
    fn check_kept(&self, folder: &RunFolder, dataset: &Dataset) -> Result<()> {
        let same = |a: &Schema, b: &Schema| a.without_constraints() == b.without_constraints();
        if !same(&folder.schema()?, &dataset.schema) {
            bail!(
                "the generative model in {} was trained on columns of another meaning; give the same data, --target, \
                 --seed and --test-share as `clue train` had, or --overwrite",
                self.out.display()
            );
        }
        Ok(())
    }
}

/// The files that a pattern with `*` in its last part means, in the order of their names; another path as it is.
fn matching(pattern: &Path) -> Result<Vec<PathBuf>> {
    let name = pattern.file_name().unwrap_or_default().to_string_lossy();
    let Some((before, after)) = name.split_once('*').filter(|_| !pattern.exists()) else {
        return Ok(vec![pattern.to_owned()]);
    };
    let folder = pattern.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).with_context(|| format!("looking into {}", folder.display()))?;
    let fits =
        |name: &str| name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after);
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.file_name()))
        .filter(|name| fits(&name.to_string_lossy()))
        .map(|name| pattern.with_file_name(name))
        .collect();
    found.sort_unstable();
    if found.is_empty() {
        bail!("no file is called {}", pattern.display());
    }
    Ok(found)
}
