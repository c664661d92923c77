//! Clues of a run beside the simplest things that could work: a grid of two changes, and the nearest certain row.
//!
//! `quality RUN [POLICY.toml] [COUNT]` takes the most uncertain test rows of a table, explains them under a policy (a table of
//! constraints), and prints for each method how many are explained, at what cost, and with how many changes.
#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use cluekit::data::{Constraints, DataDir, Samples, Schema, Targets};
use cluekit::explainer::{ApplySettings, CostSettings, GroupSettings, Split};
use cluekit::explanation::{Clue, Explanation};
use cluekit::observer::Silent;
use cluekit::prediction::predict;
use cluekit::search::{Decoding, Portfolio, Scan, Weighted};
use cluekit::{Delta, Distance, Error, Explainer, Inputs, Result, Search, Seed, Selection, Uncertainty};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Values of a number that the grid tries, at evenly spaced ranks.
const GRID: usize = 12;
/// Weight of the distance in the cost.
const LAMBDA_X: f32 = 0.03;

/// What a method found for one input.
struct Found {
    x: Vec<f32>,
    cost: f32,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(run) = arguments.first() else {
        return Err(Error::data("usage: quality RUN [POLICY.toml] [COUNT]"));
    };
    let data = std::env::var_os("CLUE_DATA").map(PathBuf::from);
    let mut explainer = Explainer::open(Path::new(run), &DataDir::locate(data.as_deref()))?;
    if let Some(path) = arguments.get(1) {
        let text = std::fs::read_to_string(path).map_err(Error::reading(path))?;
        let policy: Constraints = toml::from_str(&text).map_err(|problem| Error::file(path, problem.to_string()))?;
        explainer = explainer.with_constraints(policy)?;
    }
    let count = arguments.get(2).and_then(|text| text.parse().ok()).unwrap_or(200);
    let inputs = explainer.choose(&Selection { top: Some(count), ..Selection::default() }, Uncertainty::Total)?;
    let race = Race { threshold: explainer.threshold(Uncertainty::Total)?, explainer, inputs };
    race.run()
}

struct Race {
    explainer: Explainer,
    inputs: Inputs,
    threshold: f32,
}

impl Race {
    fn run(&self) -> Result<()> {
        println!("{} rows, certain below {}, cost H + {LAMBDA_X} d", self.inputs.len(), self.threshold);
        println!(
            "{:<22} {:>9} {:>8} {:>8} {:>8} {:>8}  {:>8}",
            "method", "explained", "cost", "shared", "changes", "reverted", "s a row"
        );
        let paper = |search: Search| self.searched(&search);
        let anchored = Search { decoding: Decoding::Anchored, ..Search::clue() };
        let portfolio = |scan| Search { portfolio: Some(Portfolio { scan, ..Portfolio::default() }), ..Search::clue() };
        let mut all = vec![
            self.timed("grid of two changes", || self.grid())?,
            self.timed("input-nn", || self.nearest())?,
            self.timed("clue", || paper(Search::clue()))?,
            self.timed("clue anchored", || paper(anchored.clone()))?,
            self.timed("delta, 10 clues", || paper(Search::delta_clue(Delta::Auto, 10)))?,
            self.timed("portfolio, scan 1", || paper(portfolio(Scan::One)))?,
            self.timed("portfolio, scan 2", || paper(portfolio(Scan::Two)))?,
        ];
        let shared: Vec<usize> = (0..self.inputs.len())
            .filter(|&input| [0, 1, 5, 6].iter().all(|&method: &usize| all[method].1[input].is_some()))
            .collect();
        for (name, found, seconds) in &mut all {
            let explained: Vec<usize> = (0..found.len()).filter(|&input| found[input].is_some()).collect();
            let mean = |of: &[usize], value: &dyn Fn(usize) -> f64| {
                of.iter().map(|&at| value(at)).sum::<f64>() / of.len().max(1) as f64
            };
            let cost = |at: usize| found[at].as_ref().map_or(f64::NAN, |found| f64::from(found.cost));
            let changes = |at: usize| self.changed(at, &found[at].as_ref().expect("explained").x).len() as f64;
            let mut reverted = 0.0;
            for &at in &explained {
                reverted += self.reverted(at, &found[at].as_ref().expect("explained").x)? as f64;
            }
            println!(
                "{name:<22} {:>9} {:>8.3} {:>8.3} {:>8.2} {:>8.2}  {:>8.4}",
                explained.len(),
                mean(&explained, &cost),
                mean(&shared, &cost),
                mean(&explained, &changes),
                reverted / explained.len().max(1) as f64,
                *seconds / found.len() as f64
            );
        }
        Ok(())
    }

    fn timed(
        &self,
        name: &'static str,
        work: impl FnOnce() -> Result<Vec<Option<Found>>>,
    ) -> Result<(&'static str, Vec<Option<Found>>, f64)> {
        let begun = Instant::now();
        let found = work()?;
        Ok((name, found, begun.elapsed().as_secs_f64()))
    }

    fn schema(&self) -> &Schema {
        self.explainer.schema().expect("a run has a schema")
    }

    fn x(&self, input: usize) -> &[f32] {
        let width = self.inputs.width();
        &self.inputs.x()[input * width..(input + 1) * width]
    }

    fn changed(&self, input: usize, x: &[f32]) -> Vec<usize> {
        let schema = self.schema();
        schema.changed(&schema.decode_row(self.x(input)), &schema.decode_row(x))
    }

    fn searched(&self, search: &Search) -> Result<Vec<Option<Found>>> {
        let mut search = Search { threshold: self.threshold, advised: false, plausibility: false, ..search.clone() };
        search.objective.input = Weighted(LAMBDA_X, Distance::L1);
        let found = self.explainer.explain(&search, &self.inputs, Seed(0), &mut Silent)?;
        Ok(found.into_iter().map(cheapest).collect())
    }

    fn nearest(&self) -> Result<Vec<Option<Found>>> {
        let cost = CostSettings { lambda_x: LAMBDA_X, threshold: Some(self.threshold), ..CostSettings::default() };
        let mut judging = self.explainer.judging(&cost)?;
        (judging.plausibility, judging.advised) = (false, false);
        let mappers = self.explainer.mappers("input-nn", &GroupSettings::default(), &judging, Seed(0), &mut Silent)?;
        let ask = self.explainer.ask(&ApplySettings { classes: 2, ..ApplySettings::default() })?;
        let found = self.explainer.apply(&mappers, &ask, &judging, &self.inputs, Seed(0), &mut Silent)?;
        Ok(found.into_iter().map(cheapest).collect())
    }

    /// Asks the model about rows as counterfactuals of an input: H, and H + λ_x d.
    fn judged(&self, input: usize, rows: &[Vec<f32>]) -> Result<Vec<(f32, f32)>> {
        if rows.is_empty() {
            return Ok(vec![]);
        }
        let x = self.x(input);
        let samples = Samples { x: rows.concat(), width: x.len(), y: Targets::Unknown(rows.len()) };
        let says = predict(self.explainer.predictor(), &samples, self.explainer.task())?;
        let distance = |row: &Vec<f32>| row.iter().zip(x).map(|(a, b)| (a - b).abs()).sum::<f32>();
        let judge =
            says.iter().zip(rows).map(|(p, row)| (p.uncertainty.total, p.uncertainty.total + LAMBDA_X * distance(row)));
        Ok(judge.collect())
    }

    /// How many changes are left when those that can be are taken back, one after another.
    fn reverted(&self, input: usize, x: &[f32]) -> Result<usize> {
        let columns = self.schema().columns();
        let mut now = x.to_vec();
        loop {
            let back = |feature: &usize| {
                let mut row = now.clone();
                row[columns[*feature].range()].copy_from_slice(&self.x(input)[columns[*feature].range()]);
                row
            };
            let rows: Vec<Vec<f32>> = self.changed(input, &now).iter().map(back).collect();
            let judged = self.judged(input, &rows)?;
            let best = judged
                .iter()
                .zip(&rows)
                .filter(|((h, _), _)| *h < self.threshold)
                .min_by(|a, b| a.0.1.total_cmp(&b.0.1));
            match best {
                Some((_, row)) => now.clone_from(row),
                None => return Ok(rows.len()),
            }
        }
    }

    /// Every change of at most two features to values of the training rows, of numbers at evenly spaced ranks.
    fn grid(&self) -> Result<Vec<Option<Found>>> {
        let (schema, train) = (self.schema(), self.explainer.samples(Split::Train)?);
        let columns = schema.columns();
        let mut values: Vec<Vec<Vec<f32>>> = Vec::new();
        for column in &columns {
            let mut all: Vec<Vec<f32>> = (0..train.len()).map(|row| train.row(row)[column.range()].to_vec()).collect();
            all.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
            let mut distinct = all.clone();
            distinct.dedup();
            if column.len == 1 && distinct.len() > GRID {
                distinct = (0..GRID).map(|at| all[at * (all.len() - 1) / (GRID - 1)].clone()).collect();
                distinct.dedup();
            }
            values.push(distinct);
        }
        let mut found = Vec::new();
        for input in 0..self.inputs.len() {
            let (x, before) = (self.x(input), schema.decode_row(self.x(input)));
            let set = |row: &[f32], feature: usize, value: &[f32]| {
                let mut row = row.to_vec();
                row[columns[feature].range()].copy_from_slice(value);
                row
            };
            let free = |feature: &usize| !schema.constraints.immutable.contains(&schema.features[*feature].name);
            let features: Vec<usize> = (0..columns.len()).filter(free).collect();
            let mut rows = Vec::new();
            for (at, &first) in features.iter().enumerate() {
                for value in &values[first] {
                    let one = set(x, first, value);
                    for &second in &features[at + 1..] {
                        rows.extend(values[second].iter().map(|value| set(&one, second, value)));
                    }
                    rows.push(one);
                }
            }
            let allowed =
                |row: &Vec<f32>| schema.constraints.broken(schema, &before, &schema.decode_row(row)).is_empty();
            let mut best: Option<Found> = None;
            for block in rows.chunks(8192) {
                for ((h, cost), row) in self.judged(input, block)?.into_iter().zip(block) {
                    if h < self.threshold && best.as_ref().is_none_or(|best| cost < best.cost) && allowed(row) {
                        best = Some(Found { x: row.clone(), cost });
                    }
                }
            }
            found.push(best);
        }
        Ok(found)
    }
}

/// The cheapest accepted clue.
fn cheapest(explanation: Explanation) -> Option<Found> {
    let accepted = explanation.clues.into_iter().filter(|clue| clue.accepted);
    accepted.min_by(|a: &Clue, b: &Clue| a.cost.total_cmp(&b.cost)).map(|clue| Found { x: clue.x, cost: clue.cost })
}
