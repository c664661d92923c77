//! `clue experiment`: the paper's tables and figures, and whether its claims hold.

use crate::progress::Bar;
use crate::stop;
use crate::table::{json, table};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use cluekit::model::store::files::{create_folder, write_whole};
use cluekit::observer::{Observer, Progress};
use cluekit_paper::{Laboratory, NAMES, Place, Record, Spec, built_in, results_page};
use serde::Serialize;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What an experiment takes that does not say how long.
const USUAL_SECONDS: f64 = 30.0;
/// Machines are so many times slower or faster than the one that the files of experiments speak of.
const PACE: f64 = 4.0;

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
    /// The folder that holds the datasets [default: $CLUE_DATA, or the user's cache directory].
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// Runs `clue experiment`.
pub fn run(args: ExperimentArgs, quiet: bool) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    if args.names.iter().any(|name| name == "list") {
        out.write_all(list(args.quick)?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let experiments = args.experiments()?;
    create_folder(&args.out)?;
    stop::remedy("the same command goes on where it stopped");
    let place = Place { runs: args.runs.clone(), data: args.data.clone(), quick: args.quick };
    let now = Arc::new(Mutex::new(String::new()));
    let mut bar = Several { bar: Bar::new(quiet), now: now.clone() };
    let mut laboratory = Laboratory::new(place.clone(), &mut bar);
    let begun = Instant::now();
    let (mut records, mut failed, mut carried_out) = (Vec::new(), Vec::new(), 0.0);
    for (at, (name, spec)) in experiments.iter().enumerate() {
        let folder = args.out.join(name);
        let done = match args.repeat {
            true => None,
            false => Record::read(&folder)?.filter(|record| args.answers(record, spec, &place)),
        };
        let record = match done {
            Some(record) => record.worded(spec, &folder)?,
            None => {
                let place = format!("{}/{} {name}", at + 1, experiments.len());
                let left = experiments[at..].iter().map(|(_, spec)| cost(spec, args.quick)).sum();
                let time = time_left(left, carried_out, begun.elapsed().as_secs_f64());
                tracing::info!("{place} ({time}): {}", spec.title);
                carried_out += cost(spec, args.quick);
                *now.lock().expect("nobody panics while naming") = place;
                match carry_out(&mut laboratory, name, spec, args.quick, &folder) {
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
    let pictures = from_page(&page, &args.out);
    let shown = args.shown(&experiments, &failed, &place)?;
    write_whole(&page, results_page(&shown, Some(&pictures)).as_bytes())?;
    match args.json {
        true => out.write_all(&json(&Document { experiments: records })?)?,
        false => writeln!(out, "\n{} ({:.0} s)", page.display(), begun.elapsed().as_secs_f64())?,
    }
    ensure!(failed.is_empty(), "these experiments failed: {}; what they said stands above", failed.join(", "));
    Ok(ExitCode::SUCCESS)
}

/// The document that `--json` prints.
#[derive(Serialize)]
struct Document {
    experiments: Vec<Record>,
}

/// Carries out one experiment and writes what it found.
fn carry_out(laboratory: &mut Laboratory, name: &str, spec: &Spec, quick: bool, folder: &Path) -> Result<Record> {
    let begun = Instant::now();
    let finding = laboratory.run(spec)?;
    laboratory.observer().finished(name, &finding.verdict().to_string());
    Ok(Record::write(name, spec, quick, &finding, begun.elapsed().as_secs_f64(), folder)?)
}

/// How a page links to a folder: by the way from its own folder where the other lies below, else by the whole path.
fn from_page(page: &Path, folder: &Path) -> String {
    let beside = page.parent().unwrap_or(Path::new(""));
    match folder.strip_prefix(beside) {
        Ok(below) if below.as_os_str().is_empty() => ".".into(),
        Ok(below) => below.display().to_string(),
        Err(_) => folder.display().to_string(),
    }
}

/// How long an experiment is said to take; in a hurry all count alike.
fn cost(spec: &Spec, quick: bool) -> f64 {
    if quick { 1.0 } else { spec.seconds.unwrap_or(USUAL_SECONDS) }
}

/// The time that is left for work of this cost, after so much of it took so many seconds.
fn time_left(left: f64, done: f64, seconds: f64) -> String {
    // What an experiment takes depends on what those before it left: the pace of a few says little of the others.
    let pace = if done > 0.0 { (seconds / done).clamp(1.0 / PACE, PACE) } else { 1.0 };
    format!("about {:.0} min left", (pace * left / 60.0).ceil())
}

/// The names of the results that may lie in a folder, in the order of the paper, then what else is there by name.
fn names_of_results(folder: &Path) -> Result<Vec<String>> {
    let mut others: Vec<String> = std::fs::read_dir(folder)
        .with_context(|| format!("reading {}", folder.display()))?
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !NAMES.contains(&name.as_str()))
        .collect();
    others.sort();
    Ok(NAMES.iter().map(ToString::to_string).chain(others).collect())
}

fn list(quick: bool) -> Result<String> {
    let row = |name: &&str| {
        let spec = built_in(name, quick)?;
        Ok(vec![name.to_string(), spec.paper, spec.title])
    };
    Ok(table(&["experiment", "in the paper", "what it shows"], &NAMES.iter().map(row).collect::<Result<Vec<_>>>()?))
}

impl ExperimentArgs {
    /// What is asked for, every name checked before anything is carried out.
    fn experiments(&self) -> Result<Vec<(String, Spec)>> {
        let mut experiments = Vec::new();
        for name in &self.names {
            match name.as_str() {
                "all" => {
                    for name in NAMES {
                        experiments.push((name.to_string(), built_in(name, self.quick)?));
                    }
                }
                path if path.ends_with(".toml") => {
                    let path = Path::new(path);
                    let text = std::fs::read_to_string(path).map_err(cluekit::Error::reading(path))?;
                    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    let spec = Spec::parse(&text, path, self.quick)?;
                    if NAMES.contains(&stem.as_str()) && spec.study != built_in(&stem, self.quick)?.study {
                        let problem = format!(
                            "has the name of an experiment of the paper but other settings, and `{stem}` has one folder \
                             for its results; give the file another name"
                        );
                        bail!(cluekit::Error::file(path, problem));
                    }
                    experiments.push((stem, spec));
                }
                name => experiments.push((name.into(), built_in(name, self.quick)?)),
            }
        }
        let mut names: Vec<&str> = experiments.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let problem =
                format!("`{}` is asked for twice, and has one folder for its results; name it once", twice[0]);
            bail!(cluekit::Error::setting("experiment", problem));
        }
        Ok(experiments)
    }

    /// Whether a record is what carrying out `spec` now would give.
    fn answers(&self, record: &Record, spec: &Spec, place: &Place) -> bool {
        record.answers(spec, self.quick) && place.has(&record.models)
    }

    /// The results in --out that belong on one page: of these models, of this version, all quick or none.
    fn shown(&self, experiments: &[(String, Spec)], failed: &[&str], place: &Place) -> Result<Vec<Record>> {
        let (mut shown, mut others) = (Vec::new(), Vec::new());
        for name in names_of_results(&self.out)? {
            let Some(record) = Record::read(&self.out.join(&name))? else { continue };
            let asked = experiments.iter().find(|(asked, _)| *asked == name).map(|(_, spec)| spec.clone());
            // What is neither asked for nor the paper's can only be asked for as it was.
            let spec = match asked {
                Some(spec) => spec,
                None if NAMES.contains(&name.as_str()) => built_in(&name, self.quick)?,
                None => record.spec.clone(),
            };
            match !failed.contains(&name.as_str()) && self.answers(&record, &spec, place) {
                true => shown.push(record),
                false => others.push(name),
            }
        }
        if !others.is_empty() {
            let which = others.join(", ");
            tracing::warn!(
                "left off the page, since settings, models or version were others, or it failed now: {which}"
            );
        }
        Ok(shown)
    }
}

/// A bar that also says which experiment is under way.
struct Several {
    bar: Bar,
    now: Arc<Mutex<String>>,
}

impl Observer for Several {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        let now = self.now.lock().expect("nobody panics while naming");
        let what = format!("{now} {}", progress.what);
        self.bar.progress(&Progress { what: &what, ..progress.clone() })
    }

    fn finished(&mut self, what: &str, reason: &str) {
        self.bar.finished(what, reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_the_pace_so_far() {
        assert_eq!(time_left(600.0, 0.0, 0.0), "about 10 min left");
        assert_eq!(time_left(600.0, 100.0, 200.0), "about 20 min left");
        assert_eq!(time_left(600.0, 1.0, 100.0), "about 40 min left", "one that had to train first is no pace");
    }

    #[test]
    fn a_page_links_to_pictures_below_it_by_the_way_there() {
        let link = |page: &str, folder: &str| from_page(Path::new(page), Path::new(folder));
        assert_eq!(link("results/RESULTS.md", "results"), ".");
        assert_eq!(link("RESULTS.md", "docs/results"), "docs/results");
        assert_eq!(link("here/RESULTS.md", "elsewhere"), "elsewhere");
    }
}
