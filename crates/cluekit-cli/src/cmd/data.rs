//! `clue data`: which datasets are known, what they are, and where they lie.

mod make;

use super::run::data_directory;
use anyhow::Result;
use clap::{Args, Subcommand};
use cluekit::data::DataDir;
use cluekit::data::catalogue::{self, Entry, RemoteFile};
use cluekit::data::fetch::{self, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use make::MakeArgs;
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Datasets: which there are, what is in them, and how to get them.
#[derive(Args, Debug)]
pub struct DataArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: DataCommand,
}

/// What can be done with the catalogue.
#[derive(Subcommand, Debug)]
pub enum DataCommand {
    /// List the datasets that are known by name, and say which of them are on this machine.
    #[command(
        after_help = "Example:\n  clue data list\n\nYour own .csv, .parquet, .npy, .npz and .h5py files need no entry here: \
                            give their path to `clue train`."
    )]
    List {
        /// Where to look.
        #[command(flatten)]
        place: Place,
        /// Print one JSON document instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Show a dataset: what is in it, its licence, what to cite, and where its files come from.
    #[command(after_help = "Example:\n  clue data show mnist")]
    Show {
        /// The dataset's name, as `clue data list` shows it.
        name: String,
        /// Where to look.
        #[command(flatten)]
        place: Place,
        /// Print one JSON document instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Make a file of symbols: letters in many fonts, with everything that made them.
    Make(MakeArgs),
    /// Download the files of a dataset that are not there yet, check them, and print where they lie.
    #[command(after_help = "Examples:\n  clue data fetch mnist\n  clue data fetch mnist --data ~/datasets\n\n\
                            A download that was interrupted goes on where it stopped.")]
    Fetch {
        /// The dataset's name, as `clue data list` shows it.
        name: String,
        /// Where to put it.
        #[command(flatten)]
        place: Place,
    },
}

/// The data directory.
#[derive(Args, Debug)]
pub struct Place {
    /// The folder that holds the datasets [default: $CLUE_DATA, or the user's cache directory].
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

impl Place {
    fn directory(&self) -> DataDir {
        data_directory(self.data.as_deref())
    }
}

/// Runs `clue data …`.
pub fn run(args: DataArgs, quiet: bool) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    match args.command {
        DataCommand::List { place, json } => list(&place.directory(), json, &mut out)?,
        DataCommand::Show { name, place, json } => {
            show(&catalogue::find(&name, &place.directory())?, &place.directory(), json, &mut out)?;
        }
        DataCommand::Make(args) => make::run(&args, &mut out)?,
        DataCommand::Fetch { name, place } => {
            fetch(&catalogue::find(&name, &place.directory())?, &place.directory(), quiet, &mut out)?
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What is known about a dataset, and what of it is on this machine.
#[derive(Serialize)]
struct Status<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    /// Whether it can be used now.
    present: bool,
    /// The folder of its files; null if it has none.
    path: Option<String>,
    /// Where each of its files lies, in their order; null for one that is missing.
    found: Vec<Option<String>>,
}

impl<'a> Status<'a> {
    fn of(entry: &'a Entry, directory: &DataDir) -> Self {
        let folder = entry.folder_in(directory);
        let text = |path: &Path| path.display().to_string();
        let found = entry.files.iter().map(|file| file.find_in(&folder).map(|path| text(&path))).collect();
        let path = (!entry.files.is_empty()).then(|| text(&folder));
        Self { entry, present: entry.present(directory), path, found }
    }

    /// Where it is, or how to get it.
    fn place(&self) -> String {
        match &self.path {
            None => "made from the seed".into(),
            Some(path) if self.present => path.clone(),
            Some(_) => format!("not here: clue data fetch {}", self.entry.name),
        }
    }
}

fn list(directory: &DataDir, json: bool, out: &mut dyn Write) -> Result<()> {
    let entries = catalogue::entries(directory);
    let datasets: Vec<Status> = entries.iter().map(|entry| Status::of(entry, directory)).collect();
    if json {
        let directory = directory.path().display().to_string();
        return write_json(&serde_json::json!({ "directory": directory, "datasets": datasets }), out);
    }
    let width = |length: fn(&Entry) -> usize| entries.iter().map(length).max().unwrap_or(0);
    let (names, titles) = (width(|entry| entry.name.chars().count()), width(|entry| entry.title.chars().count()));
    writeln!(out, "{:names$}  {:titles$}  {:>6}  where", "name", "title", "rows")?;
    for status in &datasets {
        let Entry { name, title, rows, .. } = status.entry;
        writeln!(out, "{name:names$}  {title:titles$}  {rows:>6}  {}", status.place())?;
    }
    writeln!(out, "\ndata directory: {}", directory.path().display())?;
    Ok(())
}

fn show(entry: &Entry, directory: &DataDir, json: bool, out: &mut dyn Write) -> Result<()> {
    let status = Status::of(entry, directory);
    if json {
        return write_json(&status, out);
    }
    writeln!(out, "{} ({})\n\n{}\n", entry.title, entry.name, entry.summary)?;
    writeln!(out, "rows      {}", entry.rows)?;
    writeln!(out, "licence   {}", entry.licence)?;
    writeln!(out, "cite      {}", entry.citation)?;
    writeln!(out, "where     {}", status.place())?;
    for (file, found) in entry.files.iter().zip(&status.found) {
        show_file(file, found.as_deref(), out)?;
    }
    Ok(())
}

fn show_file(file: &RemoteFile, found: Option<&str>, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "\n{}", file.name)?;
    writeln!(out, "  here    {}", found.unwrap_or("no"))?;
    let bytes = file.bytes.map_or_else(|| "not known".into(), |bytes| bytes.to_string());
    writeln!(out, "  bytes   {bytes}")?;
    writeln!(
        out,
        "  sha256  {}",
        file.sha256.as_deref().unwrap_or("not known: a download is checked for its format only")
    )?;
    for mirror in &file.mirrors {
        writeln!(out, "  from    {mirror}")?;
    }
    Ok(())
}

fn write_json(document: &impl Serialize, out: &mut dyn Write) -> Result<()> {
    out.write_all(&serde_json::to_vec_pretty(document)?)?;
    writeln!(out)?;
    Ok(())
}

fn fetch(entry: &Entry, directory: &DataDir, quiet: bool, out: &mut dyn Write) -> Result<()> {
    if entry.files.is_empty() {
        note(&format!("{0} is made from the seed, there is nothing to fetch: clue train {0} --out RUN", entry.name));
        return Ok(());
    }
    let mut bar = None;
    let paths = fetch::fetch(entry, directory, &mut |progress| {
        if !quiet {
            watch(&mut bar, progress);
        }
    })?;
    for path in paths {
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}

/// Shows what happens on stderr; the bar is there while bytes come, and only on a terminal.
fn watch(bar: &mut Option<ProgressBar>, progress: Progress) {
    if let Progress::Received { file, bytes, total } = progress {
        let bar = bar.get_or_insert_with(|| new_bar(file));
        bar.set_length(total.unwrap_or(bytes));
        bar.set_position(bytes);
        return;
    }
    if let Some(bar) = bar.take() {
        bar.finish_and_clear();
    }
    match progress {
        Progress::MirrorFailed { url, reason } => note(&format!("{url}: {reason}")),
        Progress::Fetched { file, sha256, verified: false } => note(&format!(
            "{file}: no SHA-256 is published for it, so only its format was checked; what came has {sha256}"
        )),
        _ => {}
    }
}

fn new_bar(file: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg}  {bar:30}  {bytes} of {total_bytes}  {bytes_per_sec}  {eta}");
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_message(file.to_owned());
    bar.with_style(style.expect("the template is valid"))
}

fn note(text: &str) {
    tracing::info!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> (tempfile::TempDir, DataDir) {
        let folder = tempfile::tempdir().unwrap();
        let directory = data_directory(Some(folder.path()));
        (folder, directory)
    }

    fn printed(print: impl FnOnce(&mut dyn Write) -> Result<()>) -> String {
        let mut out = Vec::new();
        print(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_list_says_where_a_dataset_is_or_how_to_get_it() {
        let (_folder, directory) = empty();
        std::fs::create_dir(directory.path_of("uci_default_credit")).unwrap();
        std::fs::write(directory.path_of("uci_default_credit").join("UCI_Credit_Card.csv"), "ID\n").unwrap();
        let table = printed(|out| list(&directory, false, out));
        let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        assert!(line("mnist").ends_with(" 70000  not here: clue data fetch mnist"), "{table}");
        assert!(line("credit").ends_with(&directory.path_of("uci_default_credit").display().to_string()), "{table}");
        assert!(line("moons").ends_with("made from the seed"), "{table}");
    }

    #[test]
    fn json_is_one_document_with_every_file() {
        let (_folder, directory) = empty();
        let text = printed(|out| show(&catalogue::find("mnist", &directory).unwrap(), &directory, true, out));
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["present"], false);
        assert_eq!(document["files"].as_array().unwrap().len(), 4);
        assert_eq!(document["found"], serde_json::json!([null, null, null, null]));
        let text = printed(|out| list(&directory, true, out));
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let names: Vec<_> = document["datasets"].as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
        assert_eq!(names[..2], ["moons", "synbols-small"]);
    }

    #[test]
    fn show_names_licence_mirrors_and_what_cannot_be_checked() {
        let (_folder, directory) = empty();
        let text = printed(|out| show(&catalogue::find("credit", &directory).unwrap(), &directory, false, out));
        for part in
            ["CC BY 4.0", "https://archive.ics.uci.edu/", "checked for its format only", "clue data fetch credit"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn what_is_made_needs_no_download() {
        let (_folder, directory) = empty();
        assert_eq!(printed(|out| fetch(&catalogue::find("moons", &directory).unwrap(), &directory, true, out)), "");
    }
}
