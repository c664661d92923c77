//! `clue demo`: the whole story on a built-in dataset.

use super::rank::most_uncertain;
use crate::progress::Bar;
use crate::table::table;
use anyhow::{Result, bail};
use clap::Args;
use cluekit::Seed;
use cluekit::data::{self, DataDir, Dataset, Request, Samples, Targets};
use cluekit::model::pipeline::train_run;
use cluekit::model::plan::Plan;
use cluekit::model::stacked::Stacked;
use cluekit::model::store::files::write_whole;
use cluekit::model::store::run::{Record, RunFolder};
use cluekit::prediction::{Prediction, predict};
use cluekit::report::{Plane, PlanePoint, plane_picture};
use cluekit::uncertainty::Uncertainty;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Points on each side of the picture's grid.
const GRID: usize = 80;
/// How many of the most uncertain points are listed and ringed.
const TOP: usize = 10;

/// See the whole story on two moons: train, find where the model is unsure, draw it.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  clue demo --out runs/demo")]
pub struct DemoArgs {
    /// The run folder to make; a demo that is already there is replaced.
    #[arg(long, value_name = "DIR", default_value = "runs/demo")]
    out: PathBuf,
    /// Where all randomness comes from.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,
}

/// Runs `clue demo`.
pub fn run(args: DemoArgs, quiet: bool) -> Result<ExitCode> {
    let seed = Seed(args.seed);
    let request = Request { seed, ..Request::new("moons") };
    let dataset = data::load(&request, None, &DataDir::locate(None))?;
    tracing::info!("Two moons: {} points to learn from, two classes that almost touch.", dataset.train.len());
    let plan = Plan::for_data(&dataset.schema, dataset.train.len());
    let record = Record::new(request, vec![], plan.clone(), seed);
    let folder = RunFolder::at(&args.out);
    if folder.occupied_by().is_some() && !folder.record().is_ok_and(|old| old.dataset.name == "moons") {
        bail!("{} holds something else than a demo; choose another folder with --out", args.out.display());
    }
    folder.clear()?;
    folder.begin(&record, &dataset.schema)?;
    tracing::info!("Training a VAE, then {} draws of a Bayesian network …", plan.predictor.samples);
    train_run(&folder, &record, &dataset, &mut Bar::new(quiet))?;
    let predictor = folder.predictor(&dataset.schema)?;
    let predictions = predict(&predictor, &dataset.test, &dataset.schema.target.task)?;
    let top = most_uncertain(&predictions, Uncertainty::Total, TOP);
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "The {TOP} test points that the model is least sure about (uncertainty in nats, at most ln 2 = 0.693):\n"
    )?;
    out.write_all(ranking(&dataset, &predictions, &top).as_bytes())?;
    let picture = folder.file("uncertainty.svg");
    write_whole(&picture, draw(&dataset, &predictor, &top)?.as_bytes())?;
    writeln!(out, "\nThe picture: {}", picture.display())?;
    writeln!(
        out,
        "More: clue explain {0} --method clue, clue rank {0}, clue measure {0}; with your own data: clue train --help",
        args.out.display()
    )?;
    Ok(ExitCode::SUCCESS)
}

fn ranking(dataset: &Dataset, predictions: &[Prediction], top: &[usize]) -> String {
    let classes = dataset.schema.target.task.classes();
    let target = |i: usize| match &dataset.test.y {
        Targets::Classes(labels) => classes[labels[i] as usize].clone(),
        Targets::Values(_) => String::new(),
    };
    let rows: Vec<Vec<String>> = top
        .iter()
        .map(|&i| {
            let (place, says) = (dataset.schema.decode_row(dataset.test.row(i)), &predictions[i]);
            let amounts = says.uncertainty;
            let mut row = vec![i.to_string()];
            row.extend(place.iter().map(ToString::to_string));
            row.extend([amounts.total, amounts.aleatoric, amounts.epistemic].map(|amount| format!("{amount:.3}")));
            row.extend([classes[says.label()].clone(), target(i)]);
            row
        })
        .collect();
    table(&["index", "x1", "x2", "total", "aleatoric", "epistemic", "predicted", "target"], &rows)
}

/// The plane with the data on it, coloured by how unsure the model is.
fn draw(dataset: &Dataset, predictor: &Stacked, top: &[usize]) -> Result<String> {
    let (x, y) = ((-2.0, 3.0), (-1.5, 2.0));
    let at = |range: (f64, f64), i: usize| range.0 + (range.1 - range.0) * (i as f64 + 0.5) / GRID as f64;
    let scalings: Vec<_> = dataset.schema.features.iter().filter_map(|feature| feature.kind.scaling()).collect();
    let cells =
        (0..GRID * GRID).flat_map(|i| [scalings[0].encode(at(x, i % GRID)), scalings[1].encode(at(y, i / GRID))]);
    let grid = Samples { x: cells.collect(), width: 2, y: Targets::Classes(vec![0; GRID * GRID]) };
    let says = predict(predictor, &grid, &dataset.schema.target.task)?;
    let values: Vec<f64> = says.iter().map(|prediction| f64::from(prediction.uncertainty.total)).collect();
    let Targets::Classes(labels) = &dataset.test.y else { unreachable!("two moons have two classes") };
    let points: Vec<PlanePoint> = labels
        .iter()
        .enumerate()
        .map(|(i, &class)| {
            let row = dataset.test.row(i);
            PlanePoint { x: scalings[0].decode(row[0]), y: scalings[1].decode(row[1]), class }
        })
        .collect();
    Ok(plane_picture(&Plane {
        title: "Where a Bayesian network is unsure about two moons",
        labels: ["x1", "x2"],
        values: &values,
        columns: GRID,
        rows: GRID,
        x,
        y,
        quantity: "total uncertainty (nats)",
        points: &points,
        classes: dataset.schema.target.task.classes(),
        highlighted: top,
    })?)
}
