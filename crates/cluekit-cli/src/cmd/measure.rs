//! `clue measure`: whether a model's uncertainty can be trusted.

use super::run::{Run, RunArgs, Split};
use crate::table::{json, table};
use anyhow::Result;
use clap::Args;
use cluekit::data::{Image, Samples, Targets};
use cluekit::measure::{
    Health, Predictions, PredictorHealth, Reliability, generative_health, predictor_health, rejection_curve,
};
use cluekit::model::Generative;
use cluekit::model::store::files::{create_folder, write_whole};
use cluekit::prediction::{Prediction, predict, probabilities};
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
    #[arg(long, value_enum, default_value = "test")]
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
    let run = Run::open(&args.run.run)?;
    let pictures = args.out.unwrap_or_else(|| run.folder.file("measure"));
    create_folder(&pictures)?;
    let samples = args.split.of(&run, &args.run.directory())?;
    let task = &run.schema.target.task;
    let predictions = predict(&run.predictor, &samples, task)?;
    let generative = match run.folder.expects_generative()? {
        true => {
            let model = run.folder.generative(&run.schema)?;
            if let Some(image) = &run.schema.image {
                write_whole(&pictures.join("reconstructions.png"), &reconstructions(&model, &samples, image)?)?;
            }
            Some(generative_health(&model, &samples, run.record.seed)?)
        }
        false => None,
    };
    let predictor = predictor_health(&run.predictor, &predictions, &samples, task)?;
    let health = Health { predictor, generative };
    for (name, picture) in draw(&health, &predictions, &samples, task.classes().len())? {
        write_whole(&pictures.join(name), picture.as_bytes())?;
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        out.write_all(&json(&health)?)?;
    } else {
        out.write_all(as_table(&health, samples.len()).as_bytes())?;
        writeln!(out, "\npictures in {}", pictures.display())?;
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
fn draw(
    health: &Health,
    predictions: &[Prediction],
    samples: &Samples,
    classes: usize,
) -> Result<Vec<(&'static str, String)>> {
    match (&health.predictor, &samples.y) {
        (PredictorHealth::Regressor(health), _) => {
            Ok(vec![("coverage.svg", report::calibration_plot(&health.coverage))])
        }
        (PredictorHealth::Classifier(_), Targets::Classes(labels)) => {
            let probabilities = probabilities(predictions);
            let checked = Predictions::new(&probabilities, classes, labels)?;
            let uncertainty: Vec<f64> = predictions.iter().map(|p| f64::from(p.uncertainty.total)).collect();
            let curve = rejection_curve(&uncertainty, &checked.wrong())?;
            Ok(vec![
                ("reliability.svg", report::reliability_diagram(&Reliability::of(&checked))),
                ("rejection.svg", report::rejection_plot(&curve)),
            ])
        }
        _ => Ok(vec![]),
    }
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
