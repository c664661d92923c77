//! `clue demo`: the whole story on symbols that are made on the spot.

use super::audit;
use super::run::Place;
use crate::progress::Bar;
use anyhow::{Result, bail};
use clap::Args;
use cluekit::Seed;
use cluekit::explainer::Explainer;
use cluekit::model::store::files::last_name;
use cluekit::model::store::run::RunFolder;
use cluekit_paper::demo::{self, Chapter, Demo};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// See the whole story on letters that are drawn on the spot: train, find where the model is unsure, explain it with
/// all four methods, and end with the page of `clue audit`. Nothing is downloaded.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  clue demo --out runs/demo")]
pub struct DemoArgs {
    /// The run folder to make; a demo that is already there is replaced.
    #[arg(long, value_name = "DIR", default_value = "runs/demo")]
    out: PathBuf,
    /// Where all randomness comes from.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,
    /// Train on fewer letters: rough models, in a fraction of the time.
    #[arg(long)]
    quick: bool,
}

/// Runs `clue demo`.
pub fn run(args: DemoArgs, quiet: bool) -> Result<ExitCode> {
    let (begun, seed, directory) = (Instant::now(), Seed(args.seed), Place::default().directory());
    let folder = RunFolder::at(&args.out);
    if !demo::may_begin(&folder) {
        bail!("{} holds something else than a demo; choose another folder with --out", args.out.display());
    }
    let say = |line: &str| tracing::info!("{line}");
    demo::train(&folder, args.quick, seed, &directory, &say, &mut Bar::new(quiet))?;
    let explainer = Explainer::open(folder.path(), &directory)?;
    let demo = Demo::open(&explainer)?;
    let mut out = std::io::stdout().lock();
    let introduction = demo.introduce()?;
    out.write_all(introduction.line.as_bytes())?;
    let mut chapters = vec![introduction.chapter];
    for chapter in Chapter::ALL {
        tracing::info!("{} …", chapter.name());
        let told = demo.tell(chapter, &mut Bar::new(quiet))?;
        out.write_all(told.line.as_bytes())?;
        chapters.push(told.chapter);
    }
    tracing::info!("the audit …");
    let name = last_name(folder.path());
    let mut audit = audit::make(&explainer, &demo::audit_settings(seed), &name, quiet)?;
    audit.provenance.command = format!("clue demo --seed {}{}", args.seed, if args.quick { " --quick" } else { "" });
    // What is typed depends on where the demo lies, and the page does not.
    audit.story = Some(demo::story_of(chapters, next_steps(Path::new("RUN"))));
    let file = folder.file("report.html");
    audit::write(&audit, &file)?;
    writeln!(out, "\nThe page with everything: {} ({:.0} s)", file.display(), begun.elapsed().as_secs_f64())?;
    writeln!(out, "Next:\n  {}", next_steps(folder.path()).join("\n  "))?;
    Ok(ExitCode::SUCCESS)
}

fn next_steps(run: &Path) -> Vec<String> {
    let run = run.display();
    vec![
        format!("clue explain {run} --method nabla --top 4 --out clues"),
        format!("clue glam compare {run}"),
        "clue train --help".into(),
    ]
}
