//! `clue report`: the page of an audit again, from results that are finished.

use super::audit::command::quoted;
use super::audit::write;
use anyhow::{Context, Result, bail};
use clap::Args;
use cluekit::Error;
use cluekit::audit::{Audit, check_page};
use cluekit::explainer::ExplanationSet;
use cluekit::model::store::files::{create_parent, last_name};
use cluekit::model::store::run::RunFolder;
use cluekit_report::{findings_text, illustrated};
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
    let (audit, beside) = match Audit::is_in(&text) {
        true => (Audit::from_json(&text).with_context(reading)?, document.with_extension("html")),
        false => {
            let audit = gallery(&text, args.run.as_deref(), &document).with_context(reading)?;
            (audit, document.with_file_name("report.html"))
        }
    };
    let page = args.out.unwrap_or(beside);
    check_page(&page)?;
    create_parent(&page)?;
    write(&audit, &page)?;
    let mut out = std::io::stdout().lock();
    out.write_all(findings_text(&audit).as_bytes())?;
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
    let schema = folder.schema()?;
    let mut audit = illustrated(explained.audited(&folder, &schema)?, &schema);
    audit.provenance.command =
        format!("clue report {} --run {}", quoted(&last_name(document)), quoted(&last_name(run)));
    audit.missing.push(
        "This page was made from finished explanations alone; `clue audit` also says how good the model is, where it is \
         unsure, and what helps whole groups."
            .into(),
    );
    Ok(audit)
}
