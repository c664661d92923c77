//! `clue measure`: whether a model's uncertainty can be trusted.

use super::run::RunArgs;
use crate::choice::one_of;
use crate::table::{json, table};
use anyhow::Result;
use clap::Args;
use cluekit::audit::Trust;
use cluekit::data::{Image, Samples};
use cluekit::explainer::Split;
use cluekit::measure::{Health, Measures, PredictorHealth};
use cluekit::model::Generative;
use cluekit::model::store::files::{create_folder, write_whole};
use cluekit::tensor::{tensor, values};
use cluekit_report as report;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Images in a row of the sheet of reconstructions, rows of them, and how many pixels each of theirs becomes.
const COLUMNS: usize = 16;
const ROWS: usize = 4;
const TIMES: usize = 2;

/// Measure a run's models on data: error, calibration, how well uncertainty spots errors, ELBO.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue measure runs/mnist
  clue measure runs/credit --json --out pictures

Pictures (SVG) go to RUN/measure unless --out says otherwise: a reliability diagram and an
accuracy-versus-rejection curve, or interval coverage for a regression; for images also what the
generative model makes of the first of them (PNG).")]
pub struct MeasureArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Which rows to look at.
    #[arg(long, default_value_t, value_parser = one_of::<Split>(Split::ALL.map(Split::name)))]
    split: Split,
    /// Where to put the pictures [default: RUN/measure].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
}

/// Runs `clue measure`.
pub fn run(args: MeasureArgs) -> Result<ExitCode> {
    let explainer = args.run.explainer()?;
    let pictures = args.out.unwrap_or_else(|| args.run.run.join("measure"));
    create_folder(&pictures)?;
    let samples = explainer.samples(args.split)?;
    if let (Some(image), true) = (explainer.schema().and_then(|schema| schema.image), explainer.has_generative()) {
        let sheet = reconstructions(explainer.generative()?, &samples, &image)?;
        write_whole(&pictures.join("reconstructions.png"), &sheet)?;
    }
    let trust = explainer.measure(args.split)?;
    for (name, picture) in draw(&trust) {
        write_whole(&pictures.join(name), picture.as_bytes())?;
    }
    let mut out = std::io::stdout().lock();
    match args.json {
        true => out.write_all(&json(&Measures::from(trust.health))?)?,
        false => {
            out.write_all(as_table(&trust.health, samples.len()).as_bytes())?;
            writeln!(out, "\npictures in {}", pictures.display())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The first images with what the generative model makes of them: under each row of images the row of reconstructions.
pub fn reconstructions(model: &dyn Generative, samples: &Samples, image: &Image) -> Result<Vec<u8>> {
    let count = samples.len().min(COLUMNS * ROWS);
    let x = tensor(samples.x[..count * samples.width].to_vec(), [count, samples.width]);
    let made = values(model.decode(&model.encode(&x)?)?);
    let made: Vec<&[f32]> = made.chunks_exact(samples.width).collect();
    let originals: Vec<&[f32]> = (0..count).map(|row| samples.row(row)).collect();
    let pairs = originals.chunks(COLUMNS).zip(made.chunks(COLUMNS));
    // A last row that is not full is left out, so that what belongs together stays above each other.
    let full = pairs.filter(|(row, _)| row.len() == COLUMNS || count < COLUMNS);
    let rows: Vec<&[f32]> = full.flat_map(|(originals, made)| [originals, made].concat()).collect();
    Ok(report::contact_sheet(&rows, image, COLUMNS.min(count), TIMES))
}

/// The pictures with the names of their files.
fn draw(trust: &Trust) -> Vec<(&'static str, String)> {
    let mut pictures = Vec::new();
    if let PredictorHealth::Regressor(health) = &trust.health.predictor {
        pictures.push(("coverage.svg", report::calibration_plot(&health.coverage)));
    }
    pictures.extend(trust.reliability.iter().map(|bins| ("reliability.svg", report::reliability_diagram(bins))));
    pictures.extend(trust.rejection.iter().map(|curve| ("rejection.svg", report::rejection_plot(curve))));
    pictures
}

fn as_table(health: &Health, rows: usize) -> String {
    let row = |name: &str, value: String, meaning: &str| vec![name.to_owned(), value, meaning.to_owned()];
    let mut lines = vec![row("rows", rows.to_string(), "")];
    match &health.predictor {
        PredictorHealth::Classifier(health) => {
            lines.push(row("error", format!("{:.4}", health.error), "share of wrong labels, lower is better"));
            lines.push(row("nll", format!("{:.4}", health.nll), "nats, lower is better"));
            lines.push(row("brier", format!("{:.4}", health.brier), "0 to 2, lower is better"));
            lines.push(row(
                "ece",
                format!("{:.4}", health.ece),
                "gap between confidence and accuracy, lower is better",
            ));
            let auroc = health.auroc_errors.map_or("–".into(), |auroc| format!("{auroc:.4}"));
            lines.push(row("auroc of errors", auroc, "does uncertainty spot errors? 0.5 blind, 1 perfect"));
            lines.push(row("posterior samples", health.samples.to_string(), ""));
        }
        PredictorHealth::Regressor(health) => {
            lines.push(row("rmse", format!("{:.4}", health.rmse), "in the target's unit, lower is better"));
            lines.push(row("nll", format!("{:.4}", health.nll), "nats, lower is better"));
            for interval in &health.coverage {
                let name = format!("{:.0}% interval", 100.0 * interval.nominal);
                lines.push(row(&name, format!("{:.3}", interval.observed), "share of targets inside"));
            }
            lines.push(row("posterior samples", health.samples.to_string(), ""));
        }
    }
    if let Some(health) = &health.generative {
        if let Some(elbo) = health.elbo {
            lines.push(row("elbo", format!("{elbo:.2}"), "nats a row, higher is better"));
        }
        lines.push(row("reconstruction", format!("{:.3}", health.reconstruction_l1), "ℓ₁ distance, lower is better"));
        lines.push(row("latent dimensions", health.latent.to_string(), ""));
    }
    table(&["measure", "value", "meaning"], &lines)
}
