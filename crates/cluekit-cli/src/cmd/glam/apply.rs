//! `clue glam apply`: counterfactuals in one call.

use super::cost::CostArgs;
use super::groups::GroupArgs;
use crate::cmd::explain::document::{Document, tally};
use crate::cmd::explain::inputs::{InputArgs, class_named};
use crate::cmd::explain::options::ConstraintArgs;
use crate::cmd::explain::output::ResultArgs;
use crate::cmd::run::{RunArgs, Studio};
use crate::progress::Bar;
use anyhow::{Context, Result, bail};
use clap::Args;
use cluekit::amortise::{Ask, Encoded, Fitted, LearnFrom, Mapper, Method, Pair, Recipe, Workshop, cheapest_first};
use cluekit::observer::Observer;
use cluekit::search::{Background, Convergence, Models, Ordinary, Price, Proposal, Search};
use cluekit::{Error, Seed};
use std::process::ExitCode;

/// The method that takes the cheapest of everything.
pub const BEST: &str = "best";

/// Explain uncertain inputs with fitted mappers or baselines, in one call instead of a search.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue glam apply runs/mnist --top 8
  clue glam apply runs/mnist --method neural --above 0.5 --out clues
  clue glam apply runs/mnist --method neural --lambda-x 0.1 --inputs 17,42 --json
  clue glam apply runs/mnist --method neural --refine 5 --top 8
  clue glam apply runs/credit --method best --own-class

Methods: the name of a fitted mapper (glam, clusters, scaled, affine, neural, or what --name said), a baseline
(reconstruction, input-dbm, latent-dbm, input-nn, latent-nn), or `best`: the cheapest of all of them.

Nobody knows the class of an uncertain input, so there is a counterfactual for each of its most
probable classes, the cheapest first. Each carries the same certificate as those of `clue explain`.

Exit code 3: done, but at least one input has no accepted counterfactual.")]
pub struct ApplyArgs {
    #[command(flatten)]
    run: RunArgs,
    /// A fitted mapper by its name, a baseline, or best.
    #[arg(long, value_name = "NAME", default_value = "glam")]
    method: String,
    /// How many of the most probable classes to try for each input.
    #[arg(long, value_name = "N", default_value_t = 3)]
    classes: usize,
    /// Only the true class of each input, or the predicted one where that is unknown.
    #[arg(long, conflicts_with_all = ["classes", "towards"])]
    own_class: bool,
    /// Only these classes, by their names.
    #[arg(long, value_name = "CLASS", value_delimiter = ',', conflicts_with = "classes")]
    towards: Vec<String>,
    /// Steps of CLUE that start at each answer.
    #[arg(long, value_name = "N", default_value_t = 0)]
    refine: usize,
    /// Of those steps.
    #[arg(long, value_name = "V", default_value_t = 0.1, allow_hyphen_values = true)]
    learning_rate: f32,
    #[command(flatten)]
    results: ResultArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    cost: CostArgs,
    #[command(flatten)]
    groups: GroupArgs,
    #[command(flatten)]
    constraints: ConstraintArgs,
}

/// Runs `clue glam apply`.
pub fn run(args: ApplyArgs, quiet: bool) -> Result<ExitCode> {
    let mut studio = args.run.studio()?;
    studio.run.schema.constraints = args.constraints.on(&studio.run.schema)?;
    studio.run.schema.constraints.validate(&studio.run.schema)?;
    let studio = studio;
    let ask = args.ask(&studio)?;
    let search = Search {
        convergence: Convergence::never_before(args.refine),
        learning_rate: args.learning_rate,
        ..args.cost.search(&studio)?
    };
    search.validate()?;
    args.results.open()?;
    let mappers = args.mappers(&studio, &search, quiet)?;
    mappers.iter().for_each(|(name, fitted)| note_on_trade_off(name, fitted, args.cost.lambda_x));
    let models = studio.models();
    let inputs = args.inputs.choose(&studio.run, Some(&studio.dataset), &args.run.directory(), search.accept_by)?;
    let seed = Seed(args.results.seed);
    let train = &studio.dataset.train;
    let background = Background {
        ordinary: match args.results.no_plausibility {
            true => None,
            false => Some(Ordinary::among(&models, &train.x, train.width, seed)?),
        },
        ..args.cost.background(&studio)?
    };
    let prepared = search.prepare(&models, &background, &inputs)?;
    let rows = Encoded::prepared(&prepared, &inputs);
    let proposals = proposals(&mappers, &models, &rows, &ask, prepared.price())?;
    let mut bar = Bar::new(quiet);
    let mut sets = prepared.refine(&proposals, &mut bar)?;
    cheapest_first(&mut sets);
    let advice = sets.iter().map(|set| args.advice(set)).collect();
    let explanations = prepared.explanations(sets, advice, seed)?;
    bar.finished("applied", &tally(&explanations));
    let constraints = studio.run.schema.constraints.clone();
    let document = Document { method: args.method, seed, settings: search, constraints, sweep: vec![], explanations };
    args.results.deliver(&document, &studio.run.schema)
}

/// Says so when a network is asked for a trade-off that it has not learned.
fn note_on_trade_off(name: &str, fitted: &Fitted, lambda_x: f32) {
    if let Some(Mapper::Neural { network, .. }) = fitted.fittings.first().map(|fitting| &fitting.mapper) {
        let plan = network.plan();
        let [least, most] = plan.range();
        if !(least..=most).contains(&lambda_x) {
            let (learned, span) = (plan.lambda_x, plan.lambda_span);
            tracing::info!(
                "{name} learned λ_x between {learned} / {span} and {learned} · {span}; it maps as at the nearer end, and \
                 costs are with {lambda_x}"
            );
        }
    }
}

/// What several mappers propose for each input, one after another.
pub fn proposals(
    mappers: &[(String, Fitted)],
    models: &Models,
    rows: &Encoded,
    ask: &Ask,
    price: &Price,
) -> Result<Vec<Vec<Proposal>>> {
    let mut all = vec![Vec::new(); rows.len()];
    for (name, fitted) in mappers {
        for (all, new) in all.iter_mut().zip(fitted.propose(models, rows, ask, price, name)?) {
            all.extend(new);
        }
    }
    Ok(all)
}

impl ApplyArgs {
    fn ask(&self, studio: &Studio) -> Result<Ask> {
        if self.own_class {
            return Ok(Ask::OwnClass);
        }
        if !self.towards.is_empty() {
            let classes = studio.run.schema.target.task.classes();
            let named = self.towards.iter().map(|name| class_named(name, classes));
            return Ok(Ask::Classes(named.collect::<Result<_>>()?));
        }
        match self.classes {
            0 => bail!(Error::setting("classes", "is 0; try at least the most probable one")),
            count => Ok(Ask::MostProbable(count)),
        }
    }

    /// The mappers that were asked for.
    fn mappers(&self, studio: &Studio, search: &Search, quiet: bool) -> Result<Vec<(String, Fitted)>> {
        let baseline: Option<Method> = self.method.parse::<Method>().ok().filter(|method| method.is_baseline());
        let wanted = match baseline {
            Some(method) => vec![method],
            None if self.method == BEST => Method::ALL.into_iter().filter(|method| method.is_baseline()).collect(),
            None => {
                if !self.groups.are_default() {
                    bail!(Error::setting(
                        "method",
                        "a fitted mapper has its own groups; leave the options of groups out"
                    ));
                }
                let baselines = Method::ALL.into_iter().filter(|method| method.is_baseline()).map(Method::name);
                let choices = || {
                    format!(
                        "`{}` is no baseline ({}), so a fitted mapper",
                        self.method,
                        baselines.collect::<Vec<_>>().join(", ")
                    )
                };
                return Ok(vec![(self.method.clone(), studio.load(&self.method).with_context(choices)?)]);
            }
        };
        let schema = &studio.run.schema;
        let pairs = self.groups.pairs(schema, &studio.dataset.train)?;
        let classes = GroupArgs::classes(&pairs, schema.target.task.classes().len());
        let [train, validation] = studio.rows(classes.as_deref(), &mut Bar::new(quiet))?;
        let models = studio.models();
        let background = self.cost.background(studio)?;
        let thresholds = self.groups.thresholds(search.threshold, search.accept_by);
        let rows = [&train, &validation];
        let mut workshop = Workshop::new(&models, search, &background, rows, thresholds, Seed(self.results.seed));
        let mut mappers = Vec::new();
        for method in wanted {
            let recipe = Recipe::new(method, LearnFrom::Data);
            // A reconstruction is the same whatever class is asked for.
            let nowhere = [Pair::default()];
            let pairs = if method == Method::Reconstruction { nowhere.as_slice() } else { &pairs };
            mappers.push((method.name().to_owned(), workshop.fit(&recipe, pairs, &mut Bar::new(quiet))?));
        }
        if self.method == BEST {
            let price = search.price(&background)?;
            for name in studio.run.folder.mappers().names()? {
                let fitted = studio.load(&name)?;
                match fitted.check(&price) {
                    Ok(()) => mappers.push((name, fitted)),
                    Err(error) => tracing::info!("without {name}: {error}"),
                }
            }
        }
        Ok(mappers)
    }

    /// What to try for an input without an accepted counterfactual.
    fn advice(&self, clues: &[cluekit::explanation::Clue]) -> Option<String> {
        if clues.iter().any(|clue| clue.accepted) {
            return None;
        }
        Some(match clues.is_empty() {
            true => {
                "no mapper serves this input: none was fitted for its classes; try --classes, or fit another".into()
            }
            false if self.refine == 0 => "try --refine 5, another --method, or `clue explain`".into(),
            false => "try more steps of --refine, another --method, or `clue explain`".into(),
        })
    }
}
