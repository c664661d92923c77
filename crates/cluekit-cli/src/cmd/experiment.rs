//! `clue experiment`: the paper's tables and figures, and whether its claims hold.

use crate::print::json;
use crate::progress::Bar;
use crate::stop;
use anyhow::{Result, ensure};
use clap::Args;
use cluekit::model::store::files::create_folder;
use cluekit_paper::{Laboratory, Pace, Place, ResultsFolder, UnderWay, asked_for, list_of_all};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Repeat the paper's tables and figures: numbers, pictures, and a verdict on each claim.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue experiment list                        every experiment with what it shows
  clue experiment b-shell                     one of them
  clue experiment all --out results           all of them, in the order of the paper, within an hour
  clue experiment all --quick                 the same with small models and few clues, within minutes
  clue experiment my-experiment.toml          one of your own; experiments/*.toml show how it is written

Each experiment gets a folder in --out: result.json with every number and the verdict, a CSV for each table,
an SVG for each picture. RESULTS.md beside them sums up what is there: claim, figures, verdict, seeds, time.
Models are trained when they are first needed and kept in --runs, where they are found again. An experiment
that is done is not repeated unless its settings or models have changed or --repeat is given, so a run that
was broken off goes on where it stopped.")]
pub struct ExperimentArgs {
    /// Names of experiments, paths of TOML files, `all`, or `list`.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Where results go.
    #[arg(long, value_name = "DIR", default_value = "results")]
    out: PathBuf,
    /// The page that sums up all results in --out [default: RESULTS.md in --out].
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Where trained models are kept.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    runs: PathBuf,
    /// Small models and few clues: to see how it goes, not what comes out.
    #[arg(long)]
    quick: bool,
    /// Repeat experiments that are done.
    #[arg(long)]
    repeat: bool,
    /// Print one JSON document instead of lines.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: super::run::Place,
}

/// Runs `clue experiment`.
pub fn run(args: ExperimentArgs, quiet: bool) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    if args.names.iter().any(|name| name == "list") {
        out.write_all(list_of_all(args.quick)?.text().as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let experiments = asked_for(&args.names, args.quick)?;
    create_folder(&args.out)?;
    stop::remedy("the same command goes on where it stopped");
    let place = Place { runs: args.runs.clone(), data: args.data.data.clone(), quick: args.quick };
    let (mut bar, now) = UnderWay::watched_by(Bar::new(quiet));
    let mut laboratory = Laboratory::new(place.clone(), &mut bar);
    let folder = ResultsFolder { path: args.out.clone(), place };
    let (mut records, mut failed, mut pace) = (Vec::new(), Vec::new(), Pace::new(args.quick));
    for (at, (name, spec)) in experiments.iter().enumerate() {
        let done = if args.repeat { None } else { folder.done(name, spec)? };
        let record = match done {
            Some(record) => record,
            None => {
                let place = format!("{}/{} {name}", at + 1, experiments.len());
                tracing::info!("{place} ({}): {}", pace.next(&experiments[at..]), spec.title);
                *now.lock().expect("nobody panics while naming") = place;
                match folder.carry_out(&mut laboratory, name, spec).map_err(anyhow::Error::from) {
                    Ok(record) => record,
                    // The others may still tell something.
                    Err(problem) if experiments.len() > 1 && !stop::is_asked() => {
                        tracing::error!("{name}: {}", crate::remedy::chain(&problem));
                        failed.push(name.as_str());
                        continue;
                    }
                    Err(problem) => return Err(problem.context(format!("experiment {name}"))),
                }
            }
        };
        if !args.json {
            writeln!(out, "{:<26} {:<13} {}", record.name, record.verdict.to_string(), spec.title)?;
        }
        records.push(record);
    }
    let page = args.page.clone().unwrap_or_else(|| args.out.join("RESULTS.md"));
    let others = folder.write_page(&page, &experiments, &failed)?;
    if !others.is_empty() {
        let which = others.join(", ");
        tracing::warn!("left off the page, since settings, models or version were others, or it failed now: {which}");
    }
    match args.json {
        true => out.write_all(&json(&BTreeMap::from([("experiments", &records)]))?)?,
        false => writeln!(out, "\n{} ({:.0} s)", page.display(), pace.seconds())?,
    }
    ensure!(failed.is_empty(), "these experiments failed: {}; what they said stands above", failed.join(", "));
    Ok(ExitCode::SUCCESS)
}
