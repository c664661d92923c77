//! `clue glam compare`: baselines, mappers and CLUE side by side.

use super::cost::CostArgs;
use super::groups::GroupArgs;
use crate::cmd::explain::inputs::InputArgs;
use crate::cmd::run::{RunArgs, Studio};
use crate::progress::Bar;
use crate::table::{json, table};
use anyhow::{Context, Result, bail};
use clap::Args;
use cluekit::amortise::{Encoded, Fitted, Scheme, Workshop};
use cluekit::compare::{Contest, Entry, MAPPERS, Mappers, OTHERS};
use cluekit::data::{Target, Task};
use cluekit::explanation::{Clue, Label};
use cluekit::model::store::files::{create_folder, write_whole};
use cluekit::search::{Background, Search};
use cluekit::{Error, Seed};
use cluekit_report::{MethodValues, comparison};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Shares of the inputs whose figures are listed.
const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

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
    #[arg(long, value_enum, default_value = "test")]
    split: crate::cmd::run::Split,
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
    rows: Vec<Row>,
    /// Of H.
    #[serde(skip)]
    unit: String,
}

/// What one method makes of the inputs, on average.
#[derive(Clone, Debug, Serialize)]
struct Row {
    method: String,
    inputs: usize,
    uncertainty: f64,
    distance: f64,
    cost: f64,
    /// Share whose prediction is the class of the input; nothing for a regression.
    class_kept: Option<f64>,
    /// Share that is accepted.
    certain: f64,
    /// Mapping, decoding, and asking the model about the result.
    seconds_each: f64,
    /// Mapping alone.
    mapping_seconds_each: Option<f64>,
    quantiles: Quantiles,
    #[serde(skip)]
    values: [Vec<f32>; 3],
}

/// At 5, 25, 50, 75 and 95 %.
#[derive(Clone, Debug, Serialize)]
struct Quantiles {
    uncertainty: Vec<f32>,
    distance: Vec<f32>,
    cost: Vec<f32>,
}

/// Runs `clue glam compare`.
pub fn run(args: CompareArgs, quiet: bool) -> Result<ExitCode> {
    args.check()?;
    if let Some(folder) = &args.out {
        create_folder(folder)?;
    }
    let studio = args.run.studio()?.unconstrained();
    let search = args.cost.search(&studio)?;
    let background = args.cost.background(&studio)?;
    let inputs = InputArgs::above(args.uncertain_above, args.top, args.split).choose(
        &studio.run,
        Some(&studio.dataset),
        &args.run.directory(),
        search.accept_by,
    )?;
    let seed = Seed(args.seed);
    let mappers = args.mappers(&studio, &search, &background, quiet)?;
    let models = studio.models();
    let begun = Instant::now();
    let contest = Contest {
        models: &models,
        search: &search,
        background: &background,
        inputs: &inputs,
        wants: &|name| args.wants(name),
        clock: &|| begun.elapsed().as_secs_f64(),
    };
    let entries = contest.entries(&mappers, &mut Bar::new(quiet))?;
    let prepared = search.prepare(&models, &background, &inputs)?;
    let classes = Encoded::prepared(&prepared, &inputs);
    let rows = entries.iter().map(|entry| Row::of(entry, &classes, models.task(), args.cost.lambda_x)).collect();
    let document = Document {
        uncertain_above: args.uncertain_above,
        lambda_x: args.cost.lambda_x,
        threshold: search.threshold,
        seed,
        rows,
        unit: match &studio.run.schema.target {
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

impl CompareArgs {
    fn check(&self) -> Result<()> {
        let known = || MAPPERS.iter().map(|(name, ..)| *name).chain(OTHERS);
        match self.only.iter().find(|name| !known().any(|known| known == name.as_str())) {
            Some(name) => {
                let choices = known().collect::<Vec<_>>().join(", ");
                bail!(Error::setting("only", format!("`{name}` is not a method; choose from {choices}")))
            }
            None => Ok(()),
        }
    }

    fn wants(&self, name: &str) -> bool {
        let unusable = self.cost.anchored && name.starts_with("neural");
        !unusable && (self.only.is_empty() || self.only.iter().any(|only| only == name))
    }

    /// The mappers of all rows, loaded from the run or fitted.
    fn mappers(
        &self,
        studio: &Studio,
        search: &Search,
        background: &Background,
        quiet: bool,
    ) -> Result<Vec<(&'static str, Fitted)>> {
        let groups = GroupArgs::of_scheme(Scheme::Within);
        let schema = &studio.run.schema;
        let within = groups.pairs(schema, &studio.dataset.train)?;
        let to_class = GroupArgs::of_scheme(Scheme::AnyToClass).pairs(schema, &studio.dataset.train)?;
        let mut bar = Bar::new(quiet);
        let [train, validation] = studio.rows(None, &mut bar)?;
        let models = studio.models();
        let thresholds = groups.thresholds(search.threshold, search.accept_by);
        let seed = Seed(self.seed);
        let mut workshop = Workshop::new(&models, search, background, [&train, &validation], thresholds, seed);
        let (lambda_x, refit) = (self.cost.lambda_x, self.refit);
        let mappers = Mappers { studio, within: &within, to_class: &to_class, lambda_x, refit };
        let needs = |name: &str| Mappers::needed(name, &|name| self.wants(name), self.cost.anchored);
        mappers.all(&mut workshop, &needs, &mut bar).context("cannot use a saved mapper (--refit replaces it)")
    }
}

impl Row {
    /// Means over the inputs that the method serves; `inputs` says how many they are.
    fn of(entry: &Entry, rows: &Encoded, task: &Task, lambda_x: f32) -> Self {
        let clues: Vec<(usize, &Clue)> =
            entry.clues.iter().enumerate().filter_map(|(row, clue)| Some((row, clue.as_ref()?))).collect();
        let count = clues.len().max(1) as f64;
        let uncertainty: Vec<f32> = clues.iter().map(|(_, clue)| clue.uncertainty.total).collect();
        let distance: Vec<f32> = clues.iter().map(|(_, clue)| clue.distance.input).collect();
        // The objective has the standard deviation of a regression in deviations of the target.
        let unit = match task {
            Task::Regression(scaling) => scaling.deviation as f32,
            Task::Classification { .. } => 1.0,
        };
        let cost: Vec<f32> = uncertainty.iter().zip(&distance).map(|(h, d)| h / unit + lambda_x * d).collect();
        let mean = |values: &[f32]| values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
        let share =
            |holds: &dyn Fn(&(usize, &Clue)) -> bool| clues.iter().filter(|clue| holds(clue)).count() as f64 / count;
        let kept = |(row, clue): &(usize, &Clue)| clue.label == Label::Class(rows.class(*row));
        Self {
            method: entry.method.clone(),
            inputs: clues.len(),
            uncertainty: mean(&uncertainty),
            distance: mean(&distance),
            cost: mean(&cost),
            class_kept: (!task.is_regression()).then(|| share(&kept)),
            certain: share(&|(_, clue)| clue.accepted),
            seconds_each: entry.seconds_each,
            mapping_seconds_each: entry.mapping_seconds_each,
            quantiles: Quantiles {
                uncertainty: quantiles(&uncertainty),
                distance: quantiles(&distance),
                cost: quantiles(&cost),
            },
            values: [uncertainty, distance, cost],
        }
    }
}

fn quantiles(values: &[f32]) -> Vec<f32> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f32::total_cmp);
    let at = |share: f64| sorted.get((share * sorted.len().saturating_sub(1) as f64).round() as usize).copied();
    QUANTILES.into_iter().filter_map(at).collect()
}

impl Document {
    fn text(&self) -> String {
        let reconstruction = self.rows.iter().find(|row| row.method == "reconstruction").map(|row| row.cost);
        let row = |row: &Row| {
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
            .map(|Row { method, values: [uncertainty, distance, cost], .. }| MethodValues {
                name: method,
                uncertainty,
                distance,
                cost,
            })
            .collect();
        comparison(&methods, &self.unit, self.lambda_x)
    }
}
