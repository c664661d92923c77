//! `clue report`: the page of an audit again, from results that are finished.

use super::audit::command::quoted;
use super::audit::{check_page, is_audit, last_name, summary, write};
use anyhow::{Context, Result, bail};
use clap::Args;
use cluekit::Error;
use cluekit::audit::{Audit, FORMAT, Gallery, Provenance, Setting, Subject};
use cluekit::data::Schema;
use cluekit::explainer::ExplanationSet;
use cluekit::model::plan::PredictorKind;
use cluekit::model::store::files::create_folder;
use cluekit::model::store::run::RunFolder;
use cluekit::search::SearchMethod;
use cluekit_report::illustrate;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The document of an audit, and that of `clue explain` and `clue glam apply`.
const AUDIT: &str = "report.json";
const EXPLANATIONS: &str = "explanations.json";

/// Make the page of an audit again from finished results: nothing is trained, searched or predicted.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue report runs/mnist                                   runs/mnist/report.html from its report.json
  clue report audit.json --out other.html
  clue report clues --run runs/credit --out clues.html     a gallery of what `clue explain --out clues` left

The document of an audit holds everything that the page shows. What `clue explain` and `clue glam apply` leave
holds clues alone, so that the page is a gallery of them; what their columns and classes mean is taken from the run.")]
pub struct ReportArgs {
    /// A report.json or an explanations.json, or a folder that holds one.
    path: PathBuf,
    /// The run that explanations were made from.
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,
    /// The page to write [default: beside the document of an audit, with its name; report.html beside explanations].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs `clue report`.
pub fn run(args: ReportArgs) -> Result<ExitCode> {
    let document = found(&args.path)?;
    let text = fs::read_to_string(&document).with_context(|| format!("cannot read {}", document.display()))?;
    let reading = || format!("reading {}", document.display());
    serde_json::from_str::<serde::de::IgnoredAny>(&text)
        .map_err(|problem| Error::data(format!("this is no whole JSON document: {problem}; make it again")))
        .with_context(reading)?;
    let (audit, beside) = match is_audit(&text) {
        true => (Audit::from_json(&text).with_context(reading)?, document.with_extension("html")),
        false => {
            let audit = gallery(&text, args.run.as_deref(), &document).with_context(reading)?;
            (audit, document.with_file_name("report.html"))
        }
    };
    let page = args.out.unwrap_or(beside);
    check_page(&page)?;
    if let Some(folder) = page.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        create_folder(folder)?;
    }
    write(&audit, &page)?;
    let mut out = std::io::stdout().lock();
    out.write_all(summary(&audit).as_bytes())?;
    writeln!(out, "The page: {}", page.display())?;
    Ok(ExitCode::SUCCESS)
}

/// The document that a path means.
fn found(path: &Path) -> Result<PathBuf> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    if !path.exists() {
        bail!("there is no {}; give the document of `clue audit`, or the folder of a run that has one", path.display());
    }
    let documents = [path.join(AUDIT), path.join(EXPLANATIONS)];
    match documents.into_iter().find(|document| document.exists()) {
        Some(document) => Ok(document),
        None => bail!(
            "{} holds neither {AUDIT} nor {EXPLANATIONS}; `clue audit RUN` makes the one, `clue explain RUN --out DIR` \
             the other",
            path.display()
        ),
    }
}

/// A gallery of finished explanations.
fn gallery(text: &str, run: Option<&Path>, document: &Path) -> Result<Audit> {
    let explained =
        ExplanationSet::from_json(text).context("neither a document of `clue audit` nor of `clue explain`")?;
    let Some(run) = run else {
        bail!(Error::setting(
            "run",
            "is not given; explanations hold numbers, and what columns and classes mean is in their run"
        ));
    };
    let folder = RunFolder::at(run);
    let (schema, record): (Schema, _) = (folder.schema()?, folder.record()?);
    if let Some(other) = explained.explanations.iter().find(|e| e.input.x.len() != schema.width()) {
        let (got, expected) = (other.input.x.len(), schema.width());
        bail!("its inputs have {got} numbers, those of {} {expected}; name the run that they come from", run.display());
    }
    let mut subject = Subject::new(&last_name(run), &record.dataset.name, &schema, "");
    subject.accepted_below = Some(explained.settings.threshold);
    subject.accepted_by = explained.settings.accept_by;
    subject.samples = record.plan.as_ref().map(|plan| match plan.predictor.kind {
        PredictorKind::Plain => 1,
        _ => plan.predictor.samples,
    });
    let mut gallery = Gallery::of(&explained.explanations, &schema, method(&explained.method), None);
    if let Some(image) = &schema.image {
        illustrate(&mut gallery, &explained.explanations, image);
    }
    let audit = Audit {
        format: FORMAT,
        subject,
        findings: vec![],
        trust: None,
        uncertainty: None,
        gallery: Some(gallery),
        groups: None,
        latent: None,
        story: None,
        provenance: Provenance {
            cluekit: env!("CARGO_PKG_VERSION").into(),
            command: format!("clue report {} --run {}", quoted(&last_name(document)), quoted(&last_name(run))),
            seed: explained.seed.0,
            training_seed: record.plan.as_ref().map(|_| record.seed.0),
            versions: record.versions,
            sources: record.sources,
            models: record.hashes,
            search: Setting::flattened(&explained.settings)?,
            constraints: Setting::flattened(&explained.constraints)?,
            groups: vec![],
            training: record.plan.as_ref().map(Setting::flattened).transpose()?.unwrap_or_default(),
        },
        missing: vec![
            "This page was made from finished explanations alone; `clue audit` also says how good the model is, \
                       where it is unsure, and what helps whole groups."
                .into(),
        ],
    };
    Ok(audit.concluded())
}

/// What people call a method; a mapper has its own name.
fn method(name: &str) -> &str {
    name.parse::<SearchMethod>().map_or(name, |method| method.title())
}
