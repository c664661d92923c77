//! `clue glam compare`: baselines, mappers and CLUE side by side.

use super::apply::encoded;
use super::cost::CostArgs;
use super::groups::GroupArgs;
use crate::cmd::explain::inputs::InputArgs;
use crate::cmd::run::{RunArgs, Studio};
use crate::progress::Bar;
use crate::table::{json, table};
use anyhow::{Context, Result, bail};
use clap::Args;
use cluekit::amortise::{Ask, Encoded, Fitted, LearnFrom, Method, Pair, Recipe, Scheme, Workshop, cheapest_first};
use cluekit::data::{Target, Task};
use cluekit::explanation::{Clue, Label};
use cluekit::model::store::files::{create_folder, write_whole};
use cluekit::observer::{Observer, Silent};
use cluekit::report::{MethodValues, comparison};
use cluekit::search::{Background, Convergence, Inputs, Models, Prepared, Proposal, Search, Weighted};
use cluekit::{Error, Seed};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Steps of CLUE 1 and CLUE 2.
const CLUE_STEPS: usize = 30;
/// Steps that refine the network's answer.
const REFINING_STEPS: usize = 5;
/// Most probable classes that the network is asked for.
const CLASSES: usize = 3;
/// Times that what takes moments is timed; the middle one counts.
const TIMES: usize = 3;
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

/// The rows of the table that are mappers, and how they are fitted.
const MAPPERS: [(&str, Method, LearnFrom); 13] = [
    ("reconstruction", Method::Reconstruction, LearnFrom::Data),
    ("input-dbm", Method::InputDbm, LearnFrom::Data),
    ("latent-dbm", Method::LatentDbm, LearnFrom::Data),
    ("input-nn", Method::InputNn, LearnFrom::Data),
    ("latent-nn", Method::LatentNn, LearnFrom::Data),
    ("glam-1", Method::Glam, LearnFrom::Data),
    ("glam-2", Method::Glam, LearnFrom::Clues(0.0)),
    ("glam-3", Method::Glam, LearnFrom::Clues(0.03)),
    ("clusters", Method::Clusters, LearnFrom::Clues(0.03)),
    ("scaled", Method::Scaled, LearnFrom::Clues(0.03)),
    ("affine", Method::Affine, LearnFrom::Clues(0.03)),
    ("neural-same-class", Method::Neural, LearnFrom::Data),
    ("neural", Method::Neural, LearnFrom::Data),
];
/// Those that are not.
const OTHERS: [&str; 5] = ["original", "neural-refined", "best", "clue-1", "clue-2"];

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
        search.accept_by,
    )?;
    let seed = Seed(args.seed);
    let mappers = args.mappers(&studio, &search, &background, quiet)?;
    let models = studio.models();
    let bench = Bench { args: &args, models: &models, search: &search, background: &background, inputs: &inputs };
    let rows = bench.rows(&mappers, quiet)?;
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

    /// Whether this mapper is needed, for itself or for what is made of it.
    fn needs(&self, name: &str) -> bool {
        self.wants(name)
            || (self.wants("best") && name != "neural-same-class" && !(self.cost.anchored && name == "neural"))
            || (name == "neural" && self.wants("neural-refined"))
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
        let [train, validation] = studio.rows(None, &mut Bar::new(quiet))?;
        let models = studio.models();
        let thresholds = groups.thresholds(search.threshold, search.accept_by);
        let seed = Seed(self.seed);
        let mut workshop = Workshop::new(&models, search, background, [&train, &validation], thresholds, seed);
        let mut mappers: Vec<(&'static str, Fitted)> = Vec::new();
        for (name, method, learn_from) in MAPPERS {
            if !self.needs(name) {
                continue;
            }
            let saved_as = if method == Method::Neural { "neural" } else { name };
            let same = mappers.iter().find(|(_, fitted)| method == Method::Neural && fitted.method == method);
            let fitted = match same {
                Some((_, fitted)) => fitted.clone(),
                None => {
                    self.mapper(studio, &mut workshop, (saved_as, method, learn_from), [&within, &to_class], quiet)?
                }
            };
            mappers.push((name, fitted));
        }
        Ok(mappers)
    }

    fn mapper(
        &self,
        studio: &Studio,
        workshop: &mut Workshop,
        (name, method, learn_from): (&str, Method, LearnFrom),
        [within, to_class]: [&Vec<Pair>; 2],
        quiet: bool,
    ) -> Result<Fitted> {
        let learn_from = match learn_from {
            LearnFrom::Clues(lambda) if lambda > 0.0 => LearnFrom::Clues(self.cost.lambda_x),
            other => other,
        };
        let pairs = if method == Method::Neural { to_class } else { within };
        let mut recipe = Recipe::new(method, learn_from);
        if method == Method::Neural {
            recipe.neural.lambda_x = self.cost.lambda_x;
        }
        let saved = studio.run.folder.mappers().path(name);
        if !method.is_baseline() && !self.refit && saved.exists() {
            // The network's own settings may be any.
            let fits = |fitted: &Fitted| {
                fitted.method == method
                    && fitted.terms == workshop.terms(&recipe)
                    && fitted.fittings.iter().map(|fitting| &fitting.pair).eq(pairs)
            };
            let fitted = studio.load(name).context("cannot use a saved mapper (--refit replaces it)")?;
            if fits(&fitted) {
                tracing::info!("{name}: as saved in {}", saved.display());
                return Ok(fitted);
            }
            tracing::info!("{name}: {} was fitted otherwise and is left alone", saved.display());
        }
        let mut bar = Bar::new(quiet);
        let fitted = workshop.fit(&recipe, pairs, &mut bar)?;
        if !method.is_baseline() {
            bar.finished(name, "fitted");
            if self.refit || !saved.exists() {
                studio.save(&fitted, name)?;
            }
        }
        Ok(fitted)
    }
}

/// The inputs of the comparison, and what they are compared by.
struct Bench<'a> {
    args: &'a CompareArgs,
    models: &'a Models<'a>,
    search: &'a Search,
    background: &'a Background,
    inputs: &'a Inputs,
}

impl Bench<'_> {
    fn rows(&self, mappers: &[(&str, Fitted)], quiet: bool) -> Result<Vec<Row>> {
        let prepared = self.search.prepare(self.models, self.background, self.inputs)?;
        let (rows, price) = (encoded(&prepared, self.inputs), prepared.price());
        let mut table = Vec::new();
        if self.args.wants("original") {
            table.push(self.original(&prepared, &rows)?);
        }
        let mut best: Vec<Vec<Clue>> = vec![vec![]; rows.len()];
        let mut seconds = 0.0;
        for (name, fitted) in mappers {
            let ask = if *name == "neural" { Ask::MostProbable(CLASSES) } else { Ask::OwnClass };
            let (proposals, mapping) = timed(|| Ok(fitted.propose(self.models, &rows, &ask, price, name)?))?;
            let (mut sets, certifying) = timed(|| Ok(prepared.certify(&proposals)?))?;
            cheapest_first(&mut sets);
            let all = mapping + certifying;
            if self.args.wants(name) {
                table.push(self.row(name, &sets, &rows, all, Some(mapping)));
            }
            if *name == "neural" && self.args.wants("neural-refined") {
                table.push(self.refined(&sets, &rows, all)?);
            }
            if *name != "neural-same-class" {
                seconds += all;
                best.iter_mut().zip(sets).for_each(|(best, set)| best.extend(set.into_iter().take(1)));
            }
        }
        if self.args.wants("best") {
            cheapest_first(&mut best);
            table.push(self.row("best", &best, &rows, seconds, None));
        }
        for (name, lambda_x) in [("clue-1", 0.0), ("clue-2", self.args.cost.lambda_x)] {
            if self.args.wants(name) {
                table.push(self.clue(name, lambda_x, &rows, quiet)?);
            }
        }
        Ok(table)
    }

    /// The inputs as they are.
    fn original(&self, prepared: &Prepared, rows: &Encoded) -> Result<Row> {
        let itself = |row| {
            vec![Proposal { z: prepared.z(row).to_vec(), x: Some(rows.x(row).to_vec()), mapper: "original".into() }]
        };
        let proposals: Vec<Vec<Proposal>> = (0..rows.len()).map(itself).collect();
        let (sets, seconds) = timed(|| Ok(prepared.certify(&proposals)?))?;
        Ok(self.row("original", &sets, rows, seconds, None))
    }

    /// A few steps of CLUE from the cheapest answers.
    fn refined(&self, sets: &[Vec<Clue>], rows: &Encoded, seconds: f64) -> Result<Row> {
        let search = Search { convergence: Convergence::never_before(REFINING_STEPS), ..self.search.clone() };
        let prepared = search.prepare(self.models, self.background, self.inputs)?;
        let proposal = |clue: &Clue| Proposal { z: clue.z.clone(), x: None, mapper: "neural-refined".into() };
        // A mapper that was fitted for some classes only has nothing to say of the others.
        let start = |set: &Vec<Clue>| set.first().map(proposal).into_iter().collect();
        let starts: Vec<Vec<Proposal>> = sets.iter().map(start).collect();
        let (refined, more) = timed(|| Ok(prepared.refine(&starts, &mut Silent)?))?;
        Ok(self.row("neural-refined", &refined, rows, seconds + more, None))
    }

    /// CLUE with all its steps; its clues are judged by the same cost as all others.
    fn clue(&self, name: &str, lambda_x: f32, rows: &Encoded, quiet: bool) -> Result<Row> {
        let mut search = Search { convergence: Convergence::never_before(CLUE_STEPS), ..self.search.clone() };
        search.objective.input = Weighted(lambda_x, search.objective.input.1);
        let prepared = search.prepare(self.models, self.background, self.inputs)?;
        let start = |row| vec![Proposal { z: prepared.z(row).to_vec(), x: None, mapper: name.into() }];
        let starts: Vec<Vec<Proposal>> = (0..rows.len()).map(start).collect();
        let mut bar = Bar::new(quiet);
        let begun = Instant::now();
        let sets = prepared.refine(&starts, &mut bar)?;
        let seconds = begun.elapsed().as_secs_f64();
        bar.finished(name, "searched");
        Ok(self.row(name, &sets, rows, seconds, None))
    }

    fn row(&self, name: &str, sets: &[Vec<Clue>], rows: &Encoded, seconds: f64, mapping: Option<f64>) -> Row {
        // An input that no mapper serves is not counted; `inputs` says how many are.
        let clues: Vec<(usize, &Clue)> =
            sets.iter().enumerate().filter_map(|(row, set)| Some((row, set.first()?))).collect();
        let count = clues.len().max(1) as f64;
        let lambda_x = self.args.cost.lambda_x;
        let uncertainty: Vec<f32> = clues.iter().map(|(_, clue)| clue.uncertainty.total).collect();
        let distance: Vec<f32> = clues.iter().map(|(_, clue)| clue.distance.input).collect();
        // The objective has the standard deviation of a regression in deviations of the target.
        let unit = match self.models.task() {
            Task::Regression(scaling) => scaling.deviation as f32,
            Task::Classification { .. } => 1.0,
        };
        let cost: Vec<f32> = uncertainty.iter().zip(&distance).map(|(h, d)| h / unit + lambda_x * d).collect();
        let mean = |values: &[f32]| values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
        let share =
            |holds: &dyn Fn(&(usize, &Clue)) -> bool| clues.iter().filter(|clue| holds(clue)).count() as f64 / count;
        let regression = self.models.task().is_regression();
        Row {
            method: name.into(),
            inputs: clues.len(),
            uncertainty: mean(&uncertainty),
            distance: mean(&distance),
            cost: mean(&cost),
            class_kept: (!regression).then(|| share(&|(row, clue)| clue.label == Label::Class(rows.class(*row)))),
            certain: share(&|(_, clue)| clue.accepted),
            seconds_each: seconds / count,
            mapping_seconds_each: mapping.map(|seconds| seconds / count),
            quantiles: Quantiles {
                uncertainty: quantiles(&uncertainty),
                distance: quantiles(&distance),
                cost: quantiles(&cost),
            },
            values: [uncertainty, distance, cost],
        }
    }
}

/// What some work returns, and the seconds that it takes: the middle one of a few tries.
fn timed<T>(work: impl Fn() -> Result<T>) -> Result<(T, f64)> {
    let try_once = || {
        let begun = Instant::now();
        let result = work();
        Ok((result?, begun.elapsed().as_secs_f64()))
    };
    let mut tries = (0..TIMES).map(|_| try_once()).collect::<Result<Vec<_>>>()?;
    tries.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    Ok(tries.swap_remove(TIMES / 2))
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
