//! `clue glam show`: the global explanation for a person.

use super::cost::CostArgs;
use crate::cmd::run::RunArgs;
use crate::table::json;
use anyhow::{Context, Result, bail};
use clap::Args;
use cluekit::amortise::{Encoded, Mapper, Mappers};
use cluekit::data::Samples;
use cluekit::explainer::{Explainer, GlobalExplanation, Split};
use cluekit::measure::MeanInterval;
use cluekit::model::store::files::{create_folder, write_whole};
use cluekit::{Error, Seed};
use cluekit_report::{group_picture, shift_table};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Features listed for a translation.
const MOST_FEATURES: usize = 12;

/// Show what a fitted mapper changes, and how far that reaches on inputs it has never seen.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue glam show runs/mnist --out global          a picture for each pair of groups
  clue glam show runs/credit --method clusters    feature changes in the data's units

Every figure is a mean over uncertain test inputs of the group, with a 95 % interval from
resampling them.")]
pub struct ShowArgs {
    #[command(flatten)]
    run: RunArgs,
    /// The name of a fitted mapper.
    #[arg(long, value_name = "NAME", default_value = "glam")]
    method: String,
    /// Only mappers that lead from or to this class.
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,
    /// Where resampling is drawn from.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// A folder for pictures, global.json and global.txt.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cost: CostArgs,
}

/// The document that `--json` prints.
#[derive(Serialize)]
struct Document {
    method: String,
    threshold: f32,
    groups: Vec<GlobalExplanation>,
}

/// Runs `clue glam show`.
pub fn run(args: ShowArgs, _quiet: bool) -> Result<ExitCode> {
    let explainer = args.run.explainer()?;
    let mappers = explainer.load(&args.method)?;
    let chosen = args.chosen(&mappers, &explainer)?;
    if let Some(folder) = &args.out {
        create_folder(folder)?;
    }
    let search = explainer.judging(&args.cost.settings())?;
    let test = explainer.samples(Split::Test)?;
    tracing::info!("predicting {} test rows …", test.len());
    let says = explainer.predictions(Split::Test)?.to_vec();
    let rows = Encoded::with_predictions(&explainer.unconstrained()?, Samples::clone(&test), says)?;
    let explain =
        |(_, mapper): &(usize, &Mapper)| explainer.global(mapper, &args.method, &rows, &search, Seed(args.seed));
    let groups = chosen.iter().map(explain).collect::<Result<Vec<_>, _>>()?;
    let document = Document { method: args.method.clone(), threshold: search.threshold, groups };
    if let Some(folder) = &args.out {
        let write = |name: &str, bytes: &[u8]| write_whole(&folder.join(name), bytes);
        write("global.json", &json(&document)?).context("writing the global explanation")?;
        write("global.txt", document.text().as_bytes())?;
        for ((i, _), group) in chosen.iter().zip(&document.groups) {
            if let Some((picture, _)) = group_picture(group, explainer.known_schema()?, "test") {
                write(&format!("group-{i}.svg"), picture.as_bytes())?;
            }
        }
    }
    let mut out = std::io::stdout().lock();
    match args.json {
        true => out.write_all(&json(&document)?)?,
        false => out.write_all(document.text().as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

impl ShowArgs {
    /// The mappers that are wanted, with their places among all of them.
    fn chosen<'a>(&self, mappers: &'a Mappers, explainer: &Explainer) -> Result<Vec<(usize, &'a Mapper)>> {
        let all = mappers.all.iter().enumerate();
        let Some(name) = &self.class else { return Ok(all.collect()) };
        let class = Some(explainer.class_named(name)?);
        let chosen: Vec<_> =
            all.filter(|(_, Mapper { pair, .. })| pair.from.class == class || pair.to.class == class).collect();
        if chosen.is_empty() {
            bail!(Error::setting("class", format!("`{}` has no mapper from or to `{name}`", self.method)));
        }
        Ok(chosen)
    }
}

impl Document {
    fn text(&self) -> String {
        let mut text = String::new();
        for group in &self.groups {
            let _ = writeln!(text, "{}", group.name);
            let Some(reach) = &group.reach else {
                let _ = writeln!(
                    text,
                    "  no test input of this group is more uncertain than {:.3}\n",
                    group.uncertain_above
                );
                continue;
            };
            let percent =
                |i: &MeanInterval| format!("{:.0}% ({:.0} to {:.0}%)", 100.0 * i.mean, 100.0 * i.low, 100.0 * i.high);
            let number = |i: &MeanInterval| format!("{:.2} ({:.2} to {:.2})", i.mean, i.low, i.high);
            let inputs = if reach.inputs == 1 { "input" } else { "inputs" };
            let _ = writeln!(
                text,
                "  on {} held-out {inputs} with an uncertainty above {:.3}:",
                reach.inputs, group.uncertain_above
            );
            let _ = writeln!(text, "  uncertainty {} before, {} after", number(&reach.before), number(&reach.after));
            let _ = writeln!(text, "  {} become certain (below {})", percent(&reach.certain), self.threshold);
            if let Some(kept) = &reach.class_kept {
                let _ = writeln!(text, "  {} have the class that was asked for", percent(kept));
            }
            let _ = writeln!(text, "  distance {}", number(&reach.distance));
            if !group.changes.is_empty() {
                let _ = writeln!(text, "  what changes, on average:");
                text += &shift_table(&group.changes, MOST_FEATURES);
            }
            text.push('\n');
        }
        text
    }
}
