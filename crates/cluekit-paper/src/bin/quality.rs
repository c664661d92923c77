//! Clues of a table beside the simplest things that could work, and before judges that had no part in the search.
//!
//! `quality RUN POLICY.toml [COUNT] [JUDGE]` takes the most uncertain test rows of a run, and prints
//!
//! 1. a race under a policy (a table of constraints): a grid of two changes, the same over rows that are not odd, the
//!    nearest certain row, the paper's methods, and the default of `clue explain`: rows explained, cost H + 0.03 d, changes,
//!    changes that greedy reverting leaves, and the share that judges believe;
//! 2. what judges say of the default's clues (the predictor of the run JUDGE, made from the same data with another seed,
//!    and boosted trees that are fitted here), with any number of changes, six and three, under the policy's immutable
//!    features alone; beside it the ceiling, which a search that asks these very judges reaches;
//! 3. what becomes of typing errors: rows with one number ten or twenty times what it was.
//!
//! `quality RUN typing-errors [COUNT]` prints the last alone. `quality own FOLDER [COUNT]` makes three tables of known
//! structure in a folder, trains two runs of each, and prints all of it for them.
//!
//! Nothing is fetched, and any table will do.
#![allow(clippy::print_stdout, reason = "a program that prints tables")]

use cluekit::data::{Constraints, DataDir, Request, Samples, Schema, Targets, load};
use cluekit::explainer::{ApplySettings, CostSettings, GroupSettings, Split};
use cluekit::explanation::{Clue, Explanation};
use cluekit::model::Predictor;
use cluekit::model::boosted::{Boosted, BoostedPlan};
use cluekit::model::pipeline::train_run;
use cluekit::model::plan::Plan;
use cluekit::model::store::run::{RunFolder, RunRecord};
use cluekit::observer::Silent;
use cluekit::prediction::predict;
use cluekit::search::{Decoding, Juror, Jury, Scan, SearchMethod, SearchSettings, Weighted};
use cluekit::tensor::{tensor, values};
use cluekit::{Delta, Distance, Error, Explainer, Inputs, Result, Search, Seed, Selection, Uncertainty};
use cluekit_onnx::Onnx;
use cluekit_paper::{OwnTable, typing_errors};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Values of a number that the grid tries, at evenly spaced ranks.
const GRID: usize = 12;
/// Weight of the distance in the cost.
const LAMBDA_X: f32 = 0.03;
/// Rows that race.
const ROWS: usize = 200;
/// Rows that judges look at.
const JUDGED: usize = 50;
/// Rows with a typing error.
const BROKEN: usize = 60;
/// Training rows whose ELBO is measured, to know what is odd.
const MEASURED: usize = 4096;
/// Clues of training rows with less than this share of the ELBOs count as odd.
const ODD: f32 = 0.05;

const USAGE: &str =
    "usage: quality RUN POLICY.toml [COUNT] [JUDGE], quality RUN typing-errors [COUNT], or quality own FOLDER [COUNT]";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [run, policy, rest @ ..] = arguments.as_slice() else {
        return Err(Error::data(USAGE));
    };
    let data = std::env::var_os("CLUE_DATA").map(PathBuf::from);
    let directory = DataDir::locate(data.as_deref());
    let open = |run: &str| Explainer::open_with(Path::new(run), &directory, &Onnx);
    let count = |usual| match rest.first() {
        Some(text) => text.parse().map_err(|_| Error::data(format!("`{text}` is no number of rows; {USAGE}"))),
        None => Ok(usual),
    };
    if run == "own" {
        return own_tables(Path::new(policy), count(ROWS)?, &directory);
    }
    if policy == "typing-errors" {
        return broken(&open(run)?, count(BROKEN)?);
    }
    let text = std::fs::read_to_string(policy).map_err(Error::reading(policy))?;
    let policy: Constraints = toml::from_str(&text).map_err(|problem| Error::file(policy, problem.to_string()))?;
    let chain = rest.get(1).map(|run| open(run)).transpose()?;
    all(&|| open(run), policy, count(ROWS)?, chain.as_ref())
}

/// All figures of a run.
fn all(
    open: &dyn Fn() -> Result<Explainer>,
    policy: Constraints,
    count: usize,
    chain: Option<&Explainer>,
) -> Result<()> {
    let immutable = Constraints { immutable: policy.immutable.clone(), ..Constraints::default() };
    let judges = judges(&open()?, chain)?;
    Race::new(open()?.with_constraints(policy)?, count, &judges)?.run()?;
    for most_changed in [None, Some(6), Some(3)] {
        let constraints = Constraints { most_changed, ..immutable.clone() };
        Race::new(open()?.with_constraints(constraints)?, JUDGED, &judges)?.judged()?;
    }
    broken(&open()?, BROKEN)
}

/// All figures of three tables that are made here, each with two runs; what was trained before is not trained again.
fn own_tables(place: &Path, count: usize, directory: &DataDir) -> Result<()> {
    std::fs::create_dir_all(place).map_err(Error::writing(place))?;
    for table in OwnTable::all(Seed(0)) {
        let file = place.join(table.name).with_extension("csv");
        std::fs::write(&file, &table.csv).map_err(Error::writing(&file))?;
        let request = |seed| Request {
            target: Some(table.target.to_owned()),
            seed: Seed(seed),
            ..Request::new(file.to_string_lossy())
        };
        let run = |seed: u64| -> Result<PathBuf> {
            let run = place.join(format!("{}-{seed}", table.name));
            let dataset = load(&request(seed), None, directory)?;
            if Explainer::open(&run, directory).is_err() {
                let folder = RunFolder::at(&run);
                let plan = Plan::for_data(&dataset.schema, dataset.train.len());
                let record = RunRecord::new(request(seed), dataset.sources.clone(), plan, Seed(seed));
                folder.begin(&record, &dataset.schema)?;
                train_run(&folder, &record, &dataset, &mut Silent)?;
            }
            Ok(run)
        };
        let (first, second) = (run(0)?, Explainer::open(&run(1)?, directory)?);
        println!("\n{}", table.name);
        all(&|| Explainer::open(&first, directory), table.constraints()?, count, Some(&second))?;
    }
    Ok(())
}

/// What becomes of typing errors, for two seeds.
fn broken(explainer: &Explainer, count: usize) -> Result<()> {
    let search = usual(explainer.threshold(Uncertainty::Total)?)?;
    for seed in [0, 1] {
        println!("seed {seed}: {}", typing_errors(explainer, &search, count, Seed(seed))?);
    }
    Ok(())
}

/// Predictors that have no part in the search: boosted trees that are fitted here, and the predictor of another run.
fn judges(explainer: &Explainer, chain: Option<&Explainer>) -> Result<Vec<Juror>> {
    let plan = BoostedPlan { members: 1, depth: 6, rows: 0.9, columns: 1.0, rounds: 150, ..BoostedPlan::default() };
    let train = explainer.samples(Split::Train)?;
    let trees = Boosted::fit(&plan, &train, explainer.task(), Seed(77), &|| Ok(()))?;
    let mut judges = vec![Juror::new("boosted trees", Arc::new(trees))];
    if let Some(chain) = chain {
        let (own, rows) = (chain.known_schema()?.clone(), explainer.known_schema()?);
        judges.push(Juror::of_schema("second chain", chain.shared_predictor(), own, rows)?);
    }
    Ok(judges)
}

/// What a method found for one input.
struct Found {
    x: Vec<f32>,
    cost: f32,
}

struct Race<'a> {
    explainer: Explainer,
    judges: &'a [Juror],
    inputs: Inputs,
    threshold: f32,
    /// ELBO below which a row counts as odd.
    odd_below: f32,
}

/// The default of `clue explain`.
fn usual(threshold: f32) -> Result<Search> {
    let search = SearchSettings::default().search(SearchMethod::Clue, &[])?;
    Ok(Search { threshold, advised: false, ..search })
}

impl<'a> Race<'a> {
    fn new(explainer: Explainer, count: usize, judges: &'a [Juror]) -> Result<Self> {
        let inputs = explainer.choose(&Selection { top: Some(count), ..Selection::default() }, Uncertainty::Total)?;
        let train = explainer.samples(Split::Train)?;
        let some: Vec<usize> = (0..train.len()).step_by(train.len().div_ceil(MEASURED)).collect();
        let some = train.select(&some);
        let rows = tensor(some.x.clone(), [some.len(), some.width]);
        let mut elbos = explainer.models()?.generative.elbo_at_mean(&rows)?.map_or(vec![], values);
        elbos.sort_by(f32::total_cmp);
        let odd_below = elbos.get((elbos.len() as f32 * ODD) as usize).copied().unwrap_or(f32::NEG_INFINITY);
        Ok(Self { threshold: explainer.threshold(Uncertainty::Total)?, explainer, judges, inputs, odd_below })
    }

    fn run(&self) -> Result<()> {
        println!("{} rows, certain below {}, cost H + {LAMBDA_X} d", self.inputs.len(), self.threshold);
        println!(
            "{:<28} {:>9} {:>7} {:>7} {:>8} {:>8} {:>6} {:>6} {:>8} {:>8}",
            "method", "explained", "cost", "shared", "changes", "reverted", "pairs", "odd %", "agree %", "s a row"
        );
        let anchored = Search { decoding: Decoding::Anchored, ..Search::clue() };
        self.explainer.explain(&usual(self.threshold)?, &self.inputs.select(&[0]), Seed(0), &mut Silent)?;
        let scan_off = |mut search: Search| {
            search.portfolio.iter_mut().for_each(|portfolio| portfolio.scan = Scan::Off);
            search
        };
        let all = [
            self.timed("grid of two changes", || self.grid(false))?,
            self.timed("grid of two, usual rows", || self.grid(true))?,
            self.timed("nearest certain row", || self.nearest())?,
            self.timed("clue, only paper", || self.paper(Search::clue()))?,
            self.timed("clue anchored, only paper", || self.paper(anchored.clone()))?,
            self.timed("delta, only paper", || self.paper(Search::delta_clue(Delta::Auto, 10)))?,
            self.timed("clue, --scan off", || self.searched(&scan_off(usual(self.threshold)?)))?,
            self.timed("clue", || self.searched(&usual(self.threshold)?))?,
        ];
        let shared: Vec<usize> = (0..self.inputs.len())
            .filter(|&input| [0, 2, 7].iter().all(|&method: &usize| all[method].1[input].is_some()))
            .collect();
        for (name, found, seconds) in &all {
            self.line(name, found, &shared, *seconds)?;
        }
        self.sets()
    }

    fn line(&self, name: &str, found: &[Option<Found>], shared: &[usize], seconds: f64) -> Result<()> {
        let explained: Vec<usize> = (0..found.len()).filter(|&input| found[input].is_some()).collect();
        let of = |at: usize| found[at].as_ref().expect("explained");
        let cost = |at: usize| found[at].as_ref().map_or(f64::NAN, |found| f64::from(found.cost));
        let changes = |at: usize| self.changed(at, &of(at).x).len() as f64;
        let unseen = explained.iter().filter(|&&at| self.has_unseen_pair(at, &of(at).x).unwrap_or(true)).count();
        let mut reverted = 0.0;
        for &at in &explained {
            reverted += self.reverted(at, &of(at).x)? as f64;
        }
        let mut odd = 0;
        for &at in &explained {
            odd += usize::from(self.is_odd(&of(at).x)?);
        }
        let rows: Vec<&[f32]> = explained.iter().map(|&at| of(at).x.as_slice()).collect();
        let agree = self.agree(&rows)?;
        println!(
            "{name:<28} {:>9} {:>7.3} {:>7.3} {:>8.2} {:>8.2} {:>6} {:>6.0} {:>8.0} {:>8.4}",
            explained.len(),
            mean(&explained, &cost),
            mean(shared, &cost),
            mean(&explained, &changes),
            reverted / explained.len().max(1) as f64,
            unseen,
            100.0 * odd as f64 / explained.len().max(1) as f64,
            100.0 * agree as f64 / explained.len().max(1) as f64,
            seconds / found.len() as f64
        );
        Ok(())
    }

    /// Rows that come twice in one set of clues of ∇-CLUE.
    fn sets(&self) -> Result<()> {
        let search = SearchSettings { count: Some(6), ..SearchSettings::default() }.search(SearchMethod::Nabla, &[])?;
        let search = Search { threshold: self.threshold, advised: false, ..search };
        let some: Vec<usize> = (0..self.inputs.len().min(24)).collect();
        let found = self.explainer.explain(&search, &self.inputs.select(&some), Seed(0), &mut Silent)?;
        let (mut clues, mut twice, mut kinds) = (0, 0, 0);
        for explanation in &found {
            let accepted: Vec<&Clue> = explanation.clues.iter().filter(|clue| clue.accepted).collect();
            let rows: BTreeSet<Vec<u32>> =
                accepted.iter().map(|clue| clue.x.iter().map(|value| value.to_bits()).collect()).collect();
            let of = |clue: &&Clue| clue.changes.iter().map(|change| change.feature.clone()).collect::<Vec<_>>();
            clues += accepted.len();
            twice += accepted.len() - rows.len();
            kinds += accepted.iter().map(of).collect::<BTreeSet<_>>().len();
        }
        println!("nabla --count 6, {} rows: {clues} clues, {twice} rows twice, {kinds} kinds of change", found.len());
        Ok(())
    }

    /// What judges that had no part in the search say of the default's clues, and what a search that asks them reaches.
    fn judged(self) -> Result<()> {
        let Self { explainer, judges, inputs, threshold, .. } = self;
        let judges = judges.to_vec();
        let own = explainer.jury()?;
        let search = usual(threshold)?;
        let unseen = Jury { judges: judges.clone(), ..own.as_deref().cloned().unwrap_or_default() };
        let explainer = explainer.with_jury(Some(unseen));
        let begun = Instant::now();
        let found = explainer.explain(&search, &inputs, Seed(0), &mut Silent)?;
        let seconds = begun.elapsed().as_secs_f64();
        let seen = Jury { asked: judges.clone(), judges, threshold };
        let explainer = explainer.with_jury(Some(seen));
        let mut thorough = search.clone();
        thorough.portfolio.iter_mut().for_each(|portfolio| (portfolio.margin, portfolio.donors) = (1.0, 24));
        let ceiling = explainer.explain(&thorough, &inputs, Seed(0), &mut Silent)?;
        let most = explainer.known_schema()?.constraints.most_changed;
        let name = most.map_or("any number of changes".into(), |most| format!("at most {most} changes"));
        let (valid, agree) = tally(&found);
        let first = |explanation: &Explanation| explanation.clues.iter().find(|clue| clue.accepted).cloned();
        let clues: Vec<Clue> = found.iter().filter_map(first).collect();
        let all: Vec<usize> = (0..clues.len()).collect();
        let odd = |at: usize| f64::from(u8::from(clues[at].plausibility.and_then(|p| p.elbo).is_some_and(|e| e < ODD)));
        println!(
            "{name:<24} valid {valid}, agree {agree} of {} (ceiling {}), odd {:.0} %, d {:.1}, changes {:.1}, cost {:.3}, s a row {:.4}",
            inputs.len(),
            tally(&ceiling).1,
            100.0 * mean(&all, &odd),
            mean(&all, &|at| f64::from(clues[at].distance.input)),
            mean(&all, &|at| clues[at].changes.len() as f64),
            mean(&all, &|at| f64::from(clues[at].cost)),
            seconds / inputs.len() as f64
        );
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

    /// Whether a row holds two categories, one of them changed, that no training row holds together.
    fn has_unseen_pair(&self, input: usize, x: &[f32]) -> Result<bool> {
        let (schema, train) = (self.schema(), self.explainer.samples(Split::Train)?);
        let columns = schema.columns();
        let categories: Vec<usize> =
            (0..columns.len()).filter(|&feature| !schema.features[feature].kind.categories().is_empty()).collect();
        let changed: Vec<usize> = self.changed(input, x);
        let same = |row: &[f32], feature: usize| {
            let range = columns[feature].range();
            row[range.clone()].iter().zip(&x[range]).all(|(a, b)| (a - b).abs() < 0.5)
        };
        Ok(categories.iter().any(|&a| {
            categories
                .iter()
                .filter(|&&b| b != a && changed.contains(&b))
                .any(|&b| !(0..train.len()).any(|row| same(train.row(row), a) && same(train.row(row), b)))
        }))
    }

    fn paper(&self, search: Search) -> Result<Vec<Option<Found>>> {
        let mut search = Search { threshold: self.threshold, advised: false, plausibility: false, ..search };
        search.objective.input = Weighted(LAMBDA_X, Distance::L1);
        let found = self.explainer.explain(&search, &self.inputs, Seed(0), &mut Silent)?;
        Ok(found.into_iter().map(cheapest).collect())
    }

    fn searched(&self, search: &Search) -> Result<Vec<Option<Found>>> {
        let found = self.explainer.explain(search, &self.inputs, Seed(0), &mut Silent)?;
        Ok(found.into_iter().map(first).collect())
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

    /// Total uncertainty of a predictor about each row.
    fn uncertainty<R: AsRef<[f32]>>(&self, predictor: &dyn Predictor, rows: &[R]) -> Result<Vec<f32>> {
        if rows.is_empty() {
            return Ok(vec![]);
        }
        let x: Vec<f32> = rows.iter().flat_map(|row| row.as_ref()).copied().collect();
        let samples = Samples { x, width: self.inputs.width(), y: Targets::Unknown(rows.len()), weights: None };
        let says = predict(predictor, &samples, self.explainer.task())?;
        Ok(says.into_iter().map(|prediction| prediction.uncertainty.total).collect())
    }

    /// How many of the rows all judges are certain about.
    fn agree(&self, rows: &[&[f32]]) -> Result<usize> {
        let mut believed = vec![true; rows.len()];
        for judge in self.judges {
            let says = self.uncertainty(judge.predictor.as_ref(), rows)?;
            believed.iter_mut().zip(says).for_each(|(believed, h)| *believed &= h < self.threshold);
        }
        Ok(believed.into_iter().filter(|&believed| believed).count())
    }

    /// Asks the model about rows as counterfactuals of an input: H, and H + λ_x d.
    fn asked(&self, input: usize, rows: &[Vec<f32>]) -> Result<Vec<(f32, f32)>> {
        let x = self.x(input);
        let says = self.uncertainty(self.explainer.predictor(), rows)?;
        let distance = |row: &Vec<f32>| row.iter().zip(x).map(|(a, b)| (a - b).abs()).sum::<f32>();
        let judge = says.into_iter().zip(rows).map(|(h, row)| (h, h + LAMBDA_X * distance(row)));
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
            let asked = self.asked(input, &rows)?;
            let best = asked
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

    /// Whether a row is odder than all but a twentieth of the training rows, by its ELBO at the encoder's mean.
    fn is_odd(&self, x: &[f32]) -> Result<bool> {
        let models = self.explainer.models()?;
        let elbo = models.generative.elbo_at_mean(&tensor(x.to_vec(), [1, x.len()]))?;
        Ok(elbo.is_some_and(|elbo| values(elbo)[0] < self.odd_below))
    }

    /// Every change of at most two features to values of the training rows, of numbers at evenly spaced ranks; of those rows
    /// that are certain the cheapest, or the cheapest that is `usual`: not odd, and without an unseen pair.
    fn grid(&self, usual: bool) -> Result<Vec<Option<Found>>> {
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
            let mut certain: Vec<(f32, &Vec<f32>)> = Vec::new();
            for block in rows.chunks(8192) {
                let asked = self.asked(input, block)?.into_iter().zip(block);
                certain.extend(asked.filter(|((h, _), _)| *h < self.threshold).map(|((_, cost), row)| (cost, row)));
            }
            certain.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut best: Option<Found> = None;
            for (cost, row) in certain {
                if allowed(row) && (!usual || (!self.is_odd(row)? && !self.has_unseen_pair(input, row)?)) {
                    best = Some(Found { x: row.clone(), cost });
                    break;
                }
            }
            found.push(best);
        }
        Ok(found)
    }
}

/// Rows with an accepted clue, and those of them whose first clue convinces all judges.
fn tally(found: &[Explanation]) -> (usize, usize) {
    let clues: Vec<&Clue> =
        found.iter().filter_map(|explanation| explanation.clues.iter().find(|clue| clue.accepted)).collect();
    let agreed = |clue: &&&Clue| clue.agreement.as_ref().is_some_and(|agreement| agreement.share >= 1.0);
    (clues.len(), clues.iter().filter(agreed).count())
}

fn mean(of: &[usize], value: &dyn Fn(usize) -> f64) -> f64 {
    of.iter().map(|&at| value(at)).sum::<f64>() / of.len().max(1) as f64
}

/// The first accepted clue.
fn first(explanation: Explanation) -> Option<Found> {
    let clue = explanation.clues.into_iter().find(|clue| clue.accepted)?;
    Some(Found { x: clue.x, cost: clue.cost })
}

/// The cheapest accepted clue.
fn cheapest(explanation: Explanation) -> Option<Found> {
    let accepted = explanation.clues.into_iter().filter(|clue| clue.accepted);
    accepted.min_by(|a, b| a.cost.total_cmp(&b.cost)).map(|clue| Found { x: clue.x, cost: clue.cost })
}
