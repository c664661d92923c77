//! `clue measure`: whether a model's uncertainty can be trusted.

use super::run::{Rows, RunArgs, with_file};
use crate::config::one_of;
use crate::print::print;
use anyhow::Result;
use clap::Args;
use cluekit::explainer::Split;
use cluekit::measure::Measures;
use cluekit::model::store::files::{create_folder, write_whole};
use cluekit_report::{RECONSTRUCTED, health_table, reconstruction_sheet, rejected_text, trust_pictures};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measure a run's models on data: error, calibration, how well uncertainty spots errors, ELBO.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue measure runs/mnist
  clue measure runs/credit --json --out pictures
  clue measure runs/loans --file next-year.csv

Pictures (SVG) go to RUN/measure unless --out says otherwise: a reliability diagram and an
accuracy-versus-rejection curve, or interval coverage for a regression; for images also what the
generative model makes of the first of them (PNG).

Exit code 3: done, but some rows of --file were left out.")]
pub struct MeasureArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Which rows to look at.
    #[arg(long, default_value_t, value_parser = one_of::<Split>(Split::ALL.map(Split::name)))]
    split: Split,
    /// Rows of another table instead, with the column to predict.
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    file: Option<PathBuf>,
    /// Where to put the pictures [default: RUN/measure].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
}

/// Runs `clue measure`.
pub fn run(args: MeasureArgs) -> Result<ExitCode> {
    let directory = args.run.place.directory();
    let explainer = with_file(args.run.explainer()?, args.file.as_deref(), Rows::WithTargets, &directory)?;
    let pictures = args.out.unwrap_or_else(|| args.run.run.join("measure"));
    create_folder(&pictures)?;
    let samples = explainer.samples(args.split)?;
    if let (Some(image), true) = (explainer.schema().and_then(|schema| schema.image), explainer.has_generative()) {
        let first = samples.select(&(0..samples.len().min(RECONSTRUCTED)).collect::<Vec<_>>());
        let sheet = reconstruction_sheet(&first, &explainer.reconstructed(&first)?, &image);
        write_whole(&pictures.join("reconstructions.png"), &sheet)?;
    }
    let trust = explainer.measure(args.split)?;
    for (name, picture) in trust_pictures(&trust) {
        write_whole(&pictures.join(name), picture.as_bytes())?;
    }
    let measures = Measures::from(trust.health).beside(explainer.rejected().to_vec());
    let done = print(args.json, &measures, || {
        let text = health_table(&measures.health, samples.len()).text() + &rejected_text(&measures.rejected);
        format!("{text}\npictures in {}\n", pictures.display())
    })?;
    Ok(if measures.rejected.is_empty() { done } else { ExitCode::from(3) })
}
