//! `clue audit`: one page for a person who has to judge a model.

mod clues;
mod groups;
mod limits;
mod measured;
pub mod origin;

use super::explain::delta;
use super::explain::options::ConstraintArgs;
use super::glam::cost::CostArgs;
use super::rank::most_uncertain;
use super::run::{Run, RunArgs, Split};
use crate::choice::one_of;
use anyhow::{Context, Result, bail};
use clap::Args;
use cluekit::amortise::{Method, Pair};
use cluekit::audit::{Audit, FORMAT, Finding, Subject};
use cluekit::data::{Dataset, Samples};
use cluekit::distance::Distance;
use cluekit::model::Generative;
use cluekit::model::store::files::{create_folder, write_whole};
use cluekit::model::store::run::RunFolder;
use cluekit::prediction::{Prediction, predict};
use cluekit::search::Delta;
use cluekit::uncertainty::Uncertainty;
use cluekit::{Error, Seed};
use clues::Clues;
use groups::Wanted;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Inputs that are explained, and clues for each of them.
const TOP: usize = 24;
const COUNT: usize = 10;
/// The same when there is no time.
const QUICK_TOP: usize = 8;
const QUICK_COUNT: usize = 4;

/// λ_x, and what is learned for groups.
const LAMBDA: f32 = 0.03;
const MAPPER: Method = Method::Scaled;
/// What can be learned for them.
const MAPPERS: [Method; 4] = [Method::Glam, Method::Clusters, Method::Scaled, Method::Affine];

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

Exit code 3: done, but at least one of the explained inputs that the model is unsure about has no accepted clue.")]
pub struct AuditArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// The page; the JSON document gets the same name [default: RUN/report.html].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Which rows to look at.
    #[arg(long, value_enum, default_value = "test")]
    pub split: Split,
    /// How many of the most uncertain inputs to explain [default: 24].
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Clues for each of them [default: 10].
    #[arg(long, value_name = "K")]
    pub count: Option<usize>,
    /// Radius of the latent ball that clues are searched in: a number, `inf`, or `auto`, which is as far as certain
    /// training rows are, and twice as far again and again for inputs without a clue there. Searches start anywhere in
    /// the ball, and without one up to 1 from the input.
    #[arg(long, value_name = "R", default_value = "auto", allow_hyphen_values = true, value_parser = delta::one)]
    pub delta: Delta,
    /// Steps of each search at the most, and four times as many in a ball that was doubled [default: 30].
    #[arg(long, value_name = "N")]
    pub steps: Option<usize>,
    /// Weight of the distance to the input in the search, and in the cost H + λ d.
    #[arg(long, value_name = "V", default_value_t = LAMBDA, allow_hyphen_values = true)]
    pub lambda_x: f32,
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
    /// and for each input how far (scaled), or a linear map (affine).
    #[arg(long, value_name = "NAME", default_value_t = MAPPER, value_parser = one_of::<Method>(MAPPERS.map(Method::name)))]
    pub mapper: Method,
    /// Learn no change for whole groups, which predicts all training rows first.
    #[arg(long, conflicts_with = "by")]
    pub no_groups: bool,
    /// Fewer inputs and clues, and no choice of settings: 8 inputs, 4 clues each.
    #[arg(long)]
    pub quick: bool,
    /// Where all randomness comes from.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Print the JSON document instead of the summary.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub constraints: ConstraintArgs,
}

/// Runs `clue audit`.
pub fn run(args: AuditArgs, quiet: bool) -> Result<ExitCode> {
    let page = args.out.clone().unwrap_or_else(|| args.run.run.join("report.html"));
    check(&page, &args)?;
    let audit = make(&args, quiet)?;
    let json = write(&audit, &page)?;
    let mut out = std::io::stdout().lock();
    match args.json {
        true => out.write_all(audit.json()?.as_bytes())?,
        false => {
            out.write_all(summary(&audit).as_bytes())?;
            writeln!(out, "The page: {}\nIts numbers: {}", page.display(), json.display())?;
        }
    }
    let unexplained = audit.gallery.is_some_and(|gallery| gallery.unsure().any(|card| !card.explained));
    Ok(if unexplained { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

/// Refuses what cannot be done before anything is computed.
fn check(page: &Path, args: &AuditArgs) -> Result<()> {
    check_page(page)?;
    for (key, value) in [("top", args.top), ("count", args.count)] {
        if value == Some(0) {
            bail!(Error::setting(key, "is 0; ask for at least one"));
        }
    }
    if let Some(above) = args.above.filter(|above| !above.is_finite() || *above < 0.0) {
        bail!(Error::setting("above", format!("must be 0 or a positive number, got {above}")));
    }
    match page.parent().filter(|folder| !folder.as_os_str().is_empty() && *folder != args.run.run) {
        Some(folder) => Ok(create_folder(folder)?),
        None => Ok(()),
    }
}

/// Refuses a page that cannot be written, or whose document would replace one of another kind.
pub fn check_page(page: &Path) -> Result<()> {
    if page.extension().is_some_and(|end| end == "json") {
        bail!(Error::setting("out", "is the page, and .json is for the document beside it; name it .html"));
    }
    if page.is_dir() {
        let problem = format!("is a folder; name the page, such as {}", page.join("report.html").display());
        bail!(Error::setting("out", problem));
    }
    if !page.extension().is_some_and(|end| end == "html" || end == "htm") {
        let problem = format!("is a page, and {} does not end as one; name it .html", page.display());
        bail!(Error::setting("out", problem));
    }
    let json = page.with_extension("json");
    if json.exists() && !is_audit(&fs::read_to_string(&json).unwrap_or_default()) {
        let problem = format!(
            "would replace {}, which is no document of an audit; give the page another name, or move that file away",
            json.display()
        );
        bail!(Error::setting("out", problem));
    }
    Ok(())
}

/// Whether a text is the document of an audit: only that has a subject.
pub fn is_audit(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Kind {
        subject: Option<IgnoredAny>,
    }
    serde_json::from_str::<Kind>(text).is_ok_and(|kind| kind.subject.is_some())
}

/// Writes the page and, under the same name, its document, whose path is returned.
pub fn write(audit: &Audit, page: &Path) -> Result<PathBuf> {
    let json = page.with_extension("json");
    // Both are made before either replaces an older one.
    let (document, html) = (audit.json()?, cluekit_report::page(audit)?);
    write_whole(&json, document.as_bytes()).context("writing the document of the audit")?;
    write_whole(page, html.as_bytes()).context("writing the page of the audit")?;
    Ok(json)
}

/// What the page says first, for the terminal.
pub fn summary(audit: &Audit) -> String {
    let line = |finding: &Finding| format!("{}\n  {}. {}\n\n", finding.question, finding.answer, finding.text);
    let findings: String = audit.findings.iter().map(line).collect();
    let missing: String = audit.missing.iter().map(|sentence| format!("{sentence}\n\n")).collect();
    findings + &missing
}

/// What a file or a folder is called; `.` and its like by what they stand for.
pub fn last_name(path: &Path) -> String {
    let whole = || path.canonicalize().ok();
    let name = path.file_name().map(ToOwned::to_owned).or_else(|| whole()?.file_name().map(ToOwned::to_owned));
    name.map_or("run".into(), |name| name.to_string_lossy().into_owned())
}

/// A run with the rows that are looked at.
struct Opened<'a> {
    run: &'a Run,
    dataset: &'a Dataset,
    pairs: Vec<Pair>,
    samples: Samples,
    predictions: Vec<Prediction>,
}

/// Makes the audit of a run.
pub fn make(args: &AuditArgs, quiet: bool) -> Result<Audit> {
    Ok(parts(args, quiet)?.concluded())
}

/// Everything but what it says in plain words.
fn parts(args: &AuditArgs, quiet: bool) -> Result<Audit> {
    let folder = RunFolder::at(&args.run.run);
    if folder.exists() && !folder.expects_generative()? {
        let run = Run::open(&args.run.run)?;
        let dataset = run.dataset(&args.run.directory())?;
        let opened = Opened::of(args, &run, &dataset)?;
        let mut audit = opened.audit(args, None)?;
        audit.missing.push(
            "The run has no generative model, so there are no clues, no groups and no latent space; `clue train` makes \
             one."
                .into(),
        );
        return Ok(audit);
    }
    let mut studio = args.run.studio()?;
    studio.run.schema.constraints = args.constraints.on(&studio.run.schema)?;
    studio.run.schema.constraints.validate(&studio.run.schema)?;
    let studio = studio;
    let search = args.search(&studio, &args.cost(studio.run.schema.image.is_none()))?;
    let opened = Opened::of(args, &studio.run, &studio.dataset)?;
    let mut audit = opened.audit(args, Some(&studio.generative))?;
    audit.subject.accepted_below = Some(search.threshold);
    opened.look(args, &mut audit, search.threshold, Some(&studio.generative))?;
    let top = most_uncertain(&opened.predictions, Uncertainty::Total, args.top());
    let clues = Clues::of(&studio, &search, &opened.samples, &top, Seed(args.seed), quiet)?;
    audit.gallery = Some(clues.gallery(&studio.run.schema, audit.subject.unsure_above));
    audit.latent = clues.latent(&studio, &opened.samples, &opened.predictions)?;
    origin::add_search(&mut audit.provenance, &search, &studio.run.schema)?;
    if args.no_groups {
        audit.missing.push("No change for whole groups was learned (--no-groups).".into());
        return Ok(audit);
    }
    let Opened { samples, predictions, pairs, .. } = opened;
    let wanted = Wanted { samples, predictions, pairs };
    groups::add(&mut audit, args, &studio.unconstrained(), &args.cost(false), wanted, quiet)?;
    Ok(audit)
}

/// Refuses a predictor that says nothing of a row: no page could be made of it.
fn check_finite(predictions: &[Prediction]) -> Result<()> {
    match predictions.iter().position(|prediction| !prediction.is_finite()) {
        None => Ok(()),
        Some(row) => bail!(
            "what the predictor says of row {row} is no finite number; look for extreme values there, or train it again with \
             a smaller `predictor.fit.learning_rate`"
        ),
    }
}

impl<'a> Opened<'a> {
    fn of(args: &AuditArgs, run: &'a Run, dataset: &'a Dataset) -> Result<Self> {
        let pairs = args.pairs(&run.schema, &dataset.train)?;
        let samples = args.split.within(run, dataset.clone())?;
        tracing::info!("predicting {} inputs …", samples.len());
        let predictions = predict(&run.predictor, &samples, &run.schema.target.task)?;
        check_finite(&predictions)?;
        Ok(Self { run, dataset, pairs, samples, predictions })
    }

    /// What is known without any search.
    fn audit(&self, args: &AuditArgs, generative: Option<&dyn Generative>) -> Result<Audit> {
        let name = last_name(&args.run.run);
        let split = format!("{:?}", args.split).to_lowercase();
        let subject = Subject::new(&name, &self.dataset.name, &self.run.schema, &split);
        let mut audit = Audit {
            format: FORMAT,
            subject: Subject { samples: Some(self.run.predictor.samples()), ..subject },
            findings: vec![],
            trust: None,
            uncertainty: None,
            gallery: None,
            groups: None,
            latent: None,
            story: None,
            provenance: origin::provenance(args, self.run, &name)?,
            missing: vec![],
        };
        if generative.is_none() {
            self.look(args, &mut audit, 0.0, None)?;
        }
        Ok(audit)
    }

    /// Adds what the rows say of the model.
    fn look(
        &self,
        args: &AuditArgs,
        audit: &mut Audit,
        accepted: f32,
        generative: Option<&dyn Generative>,
    ) -> Result<()> {
        let above = match args.above {
            Some(above) => above,
            None => limits::unsure_above(self.run, &self.dataset.train, accepted)?,
        };
        audit.subject.unsure_above = Some(above);
        audit.trust = Some(measured::trust(self.run, generative, &self.samples, &self.predictions)?);
        audit.uncertainty = Some(measured::whereabouts(&self.run.schema, &self.samples, &self.predictions, above));
        Ok(())
    }
}

impl AuditArgs {
    /// An audit that is made in a moment: so many inputs, and so many clues of each.
    pub fn demonstration(run: RunArgs, top: usize, count: usize) -> Self {
        Self {
            run,
            out: None,
            split: Split::Test,
            top: Some(top),
            count: Some(count),
            delta: Delta::Auto,
            steps: None,
            lambda_x: LAMBDA,
            above: None,
            threshold: None,
            anchored: None,
            by: None,
            mapper: MAPPER,
            no_groups: false,
            quick: true,
            seed: 0,
            json: false,
            constraints: ConstraintArgs::default(),
        }
    }

    fn top(&self) -> usize {
        self.top.unwrap_or(if self.quick { QUICK_TOP } else { TOP })
    }

    fn count(&self) -> usize {
        self.count.unwrap_or(if self.quick { QUICK_COUNT } else { COUNT })
    }

    /// What a change costs. A table is changed where it must be: what its reconstruction blurs is no change.
    fn cost(&self, table: bool) -> CostArgs {
        CostArgs {
            lambda_x: self.lambda_x,
            distance: Distance::L1,
            threshold: self.threshold,
            anchored: self.anchored.unwrap_or(table),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::prediction::Amounts;

    #[test]
    fn a_prediction_that_is_none_is_named_by_its_row() {
        let says = |total: f32, first: f32| Prediction {
            mean: vec![first, 0.5],
            uncertainty: Amounts { total, aleatoric: 0.1, epistemic: 0.1 },
        };
        assert!(check_finite(&[says(0.2, 0.5)]).is_ok());
        for broken in [says(f32::NAN, 0.5), says(0.2, f32::INFINITY)] {
            let message = check_finite(&[says(0.2, 0.5), broken]).unwrap_err().to_string();
            assert!(message.starts_with("what the predictor says of row 1 is no finite number"), "{message}");
        }
    }
}
