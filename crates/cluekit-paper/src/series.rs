//! Experiments one after another: which are asked for, which are done already, and what is shown of them together.

use super::catalogue::{NAMES, built_in};
use super::laboratory::{Laboratory, Place};
use super::record::ExperimentRecord;
use super::results::results_page;
use super::spec::Spec;
use cluekit::error::{Error, Result};
use cluekit::model::store::files::write_whole;
use cluekit::observer::{Observer, Progress};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What an experiment takes that does not say how long.
const USUAL_SECONDS: f64 = 30.0;
/// Machines are so many times slower or faster than the one that the files of experiments speak of.
const PACE: f64 = 4.0;

/// The experiments that are asked for by names, paths of TOML files, or `all`; every name is checked.
pub fn asked_for(names: &[String], quick: bool) -> Result<Vec<(String, Spec)>> {
    let mut experiments = Vec::new();
    for name in names {
        match name.as_str() {
            "all" => {
                for name in NAMES {
                    experiments.push((name.to_string(), built_in(name, quick)?));
                }
            }
            path if path.ends_with(".toml") => experiments.push(of_file(Path::new(path), quick)?),
            name => experiments.push((name.into(), built_in(name, quick)?)),
        }
    }
    let mut names: Vec<&str> = experiments.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => {
            let problem =
                format!("`{}` is asked for twice, and has one folder for its results; name it once", twice[0]);
            Err(Error::setting("experiment", problem))
        }
        None => Ok(experiments),
    }
}

/// An experiment of one's own, by the name of its file.
fn of_file(path: &Path, quick: bool) -> Result<(String, Spec)> {
    let text = std::fs::read_to_string(path).map_err(Error::reading(path))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let spec = Spec::parse(&text, path, quick)?;
    if NAMES.contains(&stem.as_str()) && spec.study != built_in(&stem, quick)?.study {
        let problem = format!(
            "has the name of an experiment of the paper but other settings, and `{stem}` has one folder for its results; \
             give the file another name"
        );
        return Err(Error::file(path, problem));
    }
    Ok((stem, spec))
}

/// The folder of results, one folder in it for each experiment, and the models that they are of.
#[derive(Clone, Debug)]
pub struct ResultsFolder {
    /// Where it lies.
    pub path: PathBuf,
    /// Where models and data are, and whether all is done in a hurry.
    pub place: Place,
}

impl ResultsFolder {
    /// The record of an experiment that carrying it out now would give again, in the words that `spec` has now.
    pub fn done(&self, name: &str, spec: &Spec) -> Result<Option<ExperimentRecord>> {
        let folder = self.path.join(name);
        let done = ExperimentRecord::read(&folder)?.filter(|record| self.answers(record, spec));
        done.map(|record| record.worded(spec, &folder)).transpose()
    }

    /// Carries out one experiment and writes what it found.
    pub fn carry_out(&self, laboratory: &mut Laboratory, name: &str, spec: &Spec) -> Result<ExperimentRecord> {
        let begun = Instant::now();
        let finding = laboratory.run(spec)?;
        laboratory.observer().finished(name, &finding.verdict().to_string());
        let seconds = begun.elapsed().as_secs_f64();
        ExperimentRecord::write(name, spec, self.place.quick, &finding, seconds, &self.path.join(name))
    }

    /// Whether a record is what carrying out `spec` now would give.
    fn answers(&self, record: &ExperimentRecord, spec: &Spec) -> bool {
        record.answers(spec, self.place.quick) && self.place.has(&record.models)
    }

    /// Writes the page that sums up the results that belong together; returns the names of the others that lie here.
    /// What was asked for and `failed` is among these.
    pub fn write_page(&self, page: &Path, asked: &[(String, Spec)], failed: &[&str]) -> Result<Vec<String>> {
        let (shown, others) = self.shown(asked, failed)?;
        write_whole(page, results_page(&shown, Some(&link_to(&self.path, page))).as_bytes())?;
        Ok(others)
    }

    /// The results that belong on one page: of these models, of this version, all quick or none; and the others.
    fn shown(&self, asked: &[(String, Spec)], failed: &[&str]) -> Result<(Vec<ExperimentRecord>, Vec<String>)> {
        let (mut shown, mut others) = (Vec::new(), Vec::new());
        for name in self.names()? {
            let Some(record) = ExperimentRecord::read(&self.path.join(&name))? else { continue };
            let asked = asked.iter().find(|(asked, _)| *asked == name).map(|(_, spec)| spec.clone());
            // What is neither asked for nor the paper's can only be asked for as it was.
            let spec = match asked {
                Some(spec) => spec,
                None if NAMES.contains(&name.as_str()) => built_in(&name, self.place.quick)?,
                None => record.spec.clone(),
            };
            match !failed.contains(&name.as_str()) && self.answers(&record, &spec) {
                true => shown.push(record),
                false => others.push(name),
            }
        }
        Ok((shown, others))
    }

    /// The names of the results that may lie here, in the order of the paper, then what else is there by name.
    fn names(&self) -> Result<Vec<String>> {
        let mut others: Vec<String> = std::fs::read_dir(&self.path)
            .map_err(Error::reading(&self.path))?
            .filter_map(std::result::Result::ok)
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !NAMES.contains(&name.as_str()))
            .collect();
        others.sort();
        Ok(NAMES.iter().map(ToString::to_string).chain(others).collect())
    }
}

/// How a page links to a folder: by the way from its own folder where the other lies below, else by the whole path.
fn link_to(folder: &Path, page: &Path) -> String {
    let beside = page.parent().unwrap_or(Path::new(""));
    match folder.strip_prefix(beside) {
        Ok(below) if below.as_os_str().is_empty() => ".".into(),
        Ok(below) => below.display().to_string(),
        Err(_) => folder.display().to_string(),
    }
}

/// How fast experiments are carried out.
#[derive(Debug)]
pub struct Pace {
    begun: Instant,
    quick: bool,
    carried_out: f64,
}

impl Pace {
    /// The clock starts.
    pub fn new(quick: bool) -> Self {
        Self { begun: Instant::now(), quick, carried_out: 0.0 }
    }

    /// The time that is left, in words, when the first of these is carried out now.
    pub fn next(&mut self, experiments: &[(String, Spec)]) -> String {
        let left = experiments.iter().map(|(_, spec)| cost(spec, self.quick)).sum();
        let words = time_left(left, self.carried_out, self.seconds());
        self.carried_out += experiments.first().map_or(0.0, |(_, spec)| cost(spec, self.quick));
        words
    }

    /// Seconds since the clock started.
    pub fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
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

/// Who watches also hears which experiment is under way.
pub struct UnderWay<O> {
    observer: O,
    now: Arc<Mutex<String>>,
}

impl<O: Observer> UnderWay<O> {
    /// Somebody who watches, and where to write what is under way.
    pub fn watched_by(observer: O) -> (Self, Arc<Mutex<String>>) {
        let now = Arc::new(Mutex::new(String::new()));
        (Self { observer, now: now.clone() }, now)
    }
}

impl<O: Observer> Observer for UnderWay<O> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        let now = self.now.lock().expect("nobody panics while naming");
        let what = format!("{now} {}", progress.what);
        self.observer.progress(&Progress { what: &what, ..progress.clone() })
    }

    fn finished(&mut self, what: &str, reason: &str) {
        self.observer.finished(what, reason);
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
        let link = |page: &str, folder: &str| link_to(Path::new(folder), Path::new(page));
        assert_eq!(link("results/RESULTS.md", "results"), ".");
        assert_eq!(link("RESULTS.md", "docs/results"), "docs/results");
        assert_eq!(link("here/RESULTS.md", "elsewhere"), "elsewhere");
    }
}
