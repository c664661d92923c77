//! `clue glam compare`: baselines, mappers and CLUE side by side.

use super::cost::CostArgs;
use crate::choice::one_of;
use crate::cmd::run::RunArgs;
use crate::progress::Bar;
use crate::table::{json, table};
use anyhow::{Context, Result};
use clap::Args;
use cluekit::Seed;
use cluekit::data::Target;
use cluekit::explainer::{CompareSettings, ComparedMethod, Selection, Split};
use cluekit::model::store::files::{create_folder, write_whole};
use cluekit_report::{MethodValues, comparison};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Compare baselines, fitted mappers and CLUE on the same uncertain inputs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue glam compare runs/mnist --out compared
  clue glam compare runs/credit --json
  clue glam compare runs/mnist --only reconstruction,glam-3,neural,clue-2

Mappers that are not there yet are fitted first and saved in the run; --refit fits all of them again.
Input and latent difference of means, nearest neighbours, GLAM 1 to 3, clusters, scaled and affine mappers are
those of each input's own class; the neural mapper tries the three most probable classes and takes the cheapest;
`best` is the cheapest of all mappers and baselines. Seconds are those of mapping, decoding and asking the
model about the result, of one input among all of them. With --anchored there is no neural mapper.")]
pub struct CompareArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Inputs above this uncertainty are compared.
    #[arg(long, value_name = "H", default_value_t = 0.5, allow_hyphen_values = true)]
    uncertain_above: f32,
    /// Only the N most uncertain of them.
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Only these rows of the table, separated by commas.
    #[arg(long, value_name = "METHODS", value_delimiter = ',')]
    only: Vec<String>,
    /// Which rows of the run's data to choose from.
    #[arg(long, default_value_t, value_parser = one_of::<Split>(Split::ALL.map(Split::name)))]
    split: Split,
    /// Fit the mappers again, even if they are saved in the run.
    #[arg(long)]
    refit: bool,
    /// Where all randomness comes from.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// A folder for compared.json, compared.txt and compared.svg.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cost: CostArgs,
}

/// The document that `--json` prints.
#[derive(Serialize)]
struct Document {
    uncertain_above: f32,
    lambda_x: f32,
    threshold: f32,
    seed: Seed,
    rows: Vec<ComparedMethod>,
    /// Of H.
    #[serde(skip)]
    unit: String,
}

/// Runs `clue glam compare`.
pub fn run(args: CompareArgs, quiet: bool) -> Result<ExitCode> {
    let (only, refit, seed) = (args.only.clone(), args.refit, Seed(args.seed));
    let settings = CompareSettings { only, refit, seed, ..CompareSettings::default() };
    settings.validate()?;
    if let Some(folder) = &args.out {
        create_folder(folder)?;
    }
    let explainer = args.run.explainer()?;
    let search = explainer.judging(&args.cost.settings())?;
    let (above, top, split) = (Some(args.uncertain_above), args.top, args.split);
    let inputs = explainer.choose(&Selection { above, top, split, ..Selection::default() }, search.accept_by)?;
    let begun = Instant::now();
    let clock = || begun.elapsed().as_secs_f64();
    let compared = explainer
        .compare(&settings, &search, &inputs, &clock, &mut Bar::new(quiet))
        .context("comparing methods (where a saved mapper is at fault, --refit replaces it)")?;
    let document = Document {
        uncertain_above: args.uncertain_above,
        lambda_x: compared.lambda_x,
        threshold: compared.threshold,
        seed,
        rows: compared.rows,
        unit: match &explainer.known_schema()?.target {
            Target { task, unit, .. } if task.is_regression() => unit.clone().unwrap_or("unit of the target".into()),
            _ => "nats".into(),
        },
    };
    if let Some(folder) = &args.out {
        let write = |name: &str, bytes: &[u8]| {
            write_whole(&folder.join(name), bytes).with_context(|| format!("writing results into {}", folder.display()))
        };
        write("compared.json", &json(&document)?)?;
        write("compared.txt", document.text().as_bytes())?;
        write("compared.svg", document.picture().as_bytes())?;
    }
    let mut out = std::io::stdout().lock();
    match args.json {
        true => out.write_all(&json(&document)?)?,
        false => out.write_all(document.text().as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Document {
    fn text(&self) -> String {
        let reconstruction = self.rows.iter().find(|row| row.method == "reconstruction").map(|row| row.cost);
        let row = |row: &ComparedMethod| {
            let milliseconds = |seconds: f64| format!("{:.3}", 1000.0 * seconds);
            vec![
                row.method.clone(),
                row.inputs.to_string(),
                format!("{:.3}", row.uncertainty),
                format!("{:.2}", row.distance),
                format!("{:.3}", row.cost),
                reconstruction.map_or(String::new(), |cost| format!("{:.3}", row.cost / cost)),
                row.class_kept.map_or(String::new(), |kept| format!("{:.0}%", 100.0 * kept)),
                format!("{:.0}%", 100.0 * row.certain),
                milliseconds(row.seconds_each),
                row.mapping_seconds_each.map_or(String::new(), milliseconds),
            ]
        };
        let headings =
            ["method", "inputs", "H", "d", "cost", "/ recon.", "class kept", "certain", "ms each", "mapping alone"];
        table(&headings, &self.rows.iter().map(row).collect::<Vec<_>>())
    }

    fn picture(&self) -> String {
        let methods: Vec<MethodValues> = self
            .rows
            .iter()
            .map(|ComparedMethod { method, values: [uncertainty, distance, cost], .. }| MethodValues {
                name: method,
                uncertainty,
                distance,
                cost,
            })
            .collect();
        comparison(&methods, &self.unit, self.lambda_x)
    }
}
