//! The settings of a search as options.

use super::delta::DeltaArg;
use super::inputs::class_named;
use anyhow::{Context, Result, bail};
use clap::{ArgAction, Args, ValueEnum};
use cluekit::Error;
use cluekit::data::{Constraints, Relation, Schema};
use cluekit::distance::Distance;
use cluekit::diversity::{Diversity, Space};
use cluekit::search::{
    Convergence, Decoding, Delta, DiversityTerm, InitScheme, LatentBall, Order, Search, Starts, SubSearches,
    UncertaintyWeights, Weighted,
};
use cluekit::uncertainty::Uncertainty;
use std::path::PathBuf;

/// Clues for each input of δ-CLUE and ∇-CLUE when nothing is said.
const COUNT: usize = 10;
/// λ_D of ∇-CLUE when nothing is said.
const DIVERSITY_WEIGHT: f32 = 1.0;

/// The methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// One search from the input, without a ball.
    Clue,
    /// δ-CLUE: many searches within a ball.
    Delta,
    /// ∇-CLUE: many searches within a ball, held apart.
    Nabla,
}

impl Method {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clue => "clue",
            Self::Delta => "delta",
            Self::Nabla => "nabla",
        }
    }
}

/// The options of a search.
#[derive(Args, Debug)]
#[command(next_help_heading = "Search")]
pub struct SearchArgs {
    /// Radius of the latent ball: a number, `inf`, `auto` (from the nearest certain training points), or a sweep
    /// such as 0.5..3.5/7 [default: none for clue, auto otherwise].
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    delta: Option<DeltaArg>,
    /// How far from the input searches start [default: 0 for clue, delta otherwise].
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    radius: Option<f32>,
    /// Clues for each input [default: 1 for clue, 10 otherwise].
    #[arg(long, value_name = "K")]
    count: Option<usize>,
    /// Where searches start; several schemes share the clues: random-radius, nearest-path, gaussian-radius,
    /// uniform-ball, class-path [default: random-radius].
    #[arg(long, value_name = "SCHEME", value_delimiter = ',')]
    init: Vec<InitScheme>,
    /// Only the paths of nearest-path and class-path that lead to these classes, by their names.
    #[arg(long, value_name = "CLASS", value_delimiter = ',')]
    towards: Vec<String>,
    /// Move each start by up to this much in a random direction.
    #[arg(long, value_name = "R", default_value_t = 0.0, allow_hyphen_values = true)]
    jitter: f32,
    /// Spread the starts by N steps of ascent on the diversity first.
    #[arg(long, value_name = "N", default_value_t = 0)]
    spread_starts: usize,
    /// What to reduce: total, aleatoric or epistemic; several with weights as `epistemic=1,aleatoric=0.5`.
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_value = "total")]
    uncertainty: Vec<String>,
    /// Weight of the distance to the input.
    #[arg(long, value_name = "V", default_value_t = 0.0, allow_hyphen_values = true)]
    lambda_x: f32,
    /// The distance between inputs: l1, l2, mahalanobis; for tables also mad and range, which weigh features.
    #[arg(long, value_name = "NAME", default_value = "l1")]
    distance: Distance,
    /// Weight of the distance between predictions.
    #[arg(long, value_name = "V", default_value_t = 0.0, allow_hyphen_values = true)]
    lambda_y: f32,
    /// Weight of the latent distance.
    #[arg(long, value_name = "V", default_value_t = 0.0, allow_hyphen_values = true)]
    lambda_z: f32,
    /// Weight of −log p(z), which avoids unlikely codes.
    #[arg(long, value_name = "V", default_value_t = 0.0, allow_hyphen_values = true)]
    lambda_p: f32,
    /// What holds the clues of ∇-CLUE apart, as NAME=WEIGHT: dpp, log-dpp, apd, coverage, range-coverage,
    /// prediction-coverage, soft-distinct-labels, soft-label-entropy [default for nabla: dpp=1].
    #[arg(long, value_name = "NAME=WEIGHT")]
    diversity: Option<String>,
    /// The space that the diversity is measured in: x, z or y [default: z, or y for predictions and labels].
    #[arg(long, value_name = "SPACE")]
    space: Option<Space>,
    /// ∇-CLUE one clue after another, each diverse from those before.
    #[arg(long, conflicts_with = "penalty")]
    sequential: bool,
    /// ∇-CLUE one clue after another, each pushed away from those before by the weight of --diversity over the
    /// distance; which diversity it is makes no difference.
    #[arg(long)]
    penalty: bool,
    /// Steps of Adam at the most.
    #[arg(long, value_name = "N", default_value_t = 30)]
    steps: usize,
    /// Of Adam.
    #[arg(long, value_name = "V", default_value_t = 0.1, allow_hyphen_values = true)]
    learning_rate: f32,
    /// Take all steps, even when the objective no longer improves.
    #[arg(long)]
    all_steps: bool,
    /// A clue is accepted below this uncertainty [default: that of the surest quarter of the training rows, or a
    /// fifth of the greatest possible one if that is more (a twentieth for epistemic)].
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    threshold: Option<f32>,
    /// Add to the input only what changes, instead of showing its reconstruction changed.
    #[arg(long)]
    anchored: bool,
    /// Search again around the N best clues of each input.
    #[arg(long, value_name = "N")]
    sub_searches: Option<usize>,
    /// Starts around each of them.
    #[arg(long, value_name = "N", default_value_t = 5, requires = "sub_searches")]
    sub_count: usize,
    /// How far around them.
    #[arg(long, value_name = "R", default_value_t = 0.5, requires = "sub_searches", allow_hyphen_values = true)]
    sub_radius: f32,
}

impl SearchArgs {
    /// What `--delta` says.
    pub fn delta(&self) -> Option<DeltaArg> {
        self.delta.clone()
    }

    /// Whether a threshold was given.
    pub fn has_threshold(&self) -> bool {
        self.threshold.is_some()
    }

    /// The search that the options describe; without a threshold of its own it has that of the recipe.
    pub fn build(&self, method: Method, schema: &Schema) -> Result<Search> {
        let delta = match (&self.delta, method) {
            (Some(DeltaArg::One(delta)), _) => *delta,
            (Some(DeltaArg::Sweep(radii)), _) => Delta::Fixed(LatentBall::new(radii[0])?),
            (None, Method::Clue) => Delta::Fixed(LatentBall::UNBOUNDED),
            (None, _) => Delta::Auto,
        };
        let recipe = match method {
            Method::Clue => Search { delta, ..Search::clue() },
            Method::Delta => Search::delta_clue(delta, COUNT),
            Method::Nabla => Search::nabla_clue(
                delta,
                COUNT,
                self.diversity_term()?.unwrap_or(Weighted(DIVERSITY_WEIGHT, DiversityTerm::default())),
            ),
        };
        if (self.diversity.is_some() || self.space.is_some()) && method != Method::Nabla && self.spread_starts == 0 {
            let remedy = "choose it, spread the starts with --spread-starts, or leave this out";
            bail!(Error::setting("diversity", format!("only --method nabla holds clues apart; {remedy}")));
        }
        for (given, key) in [(self.sequential, "sequential"), (self.penalty, "penalty")] {
            if given && method != Method::Nabla {
                bail!(Error::setting(key, "only --method nabla searches one clue after another; choose it"));
            }
        }
        let mut search = Search {
            count: self.count.unwrap_or(recipe.count),
            starts: Starts {
                schemes: if self.init.is_empty() { recipe.starts.schemes.clone() } else { self.init.clone() },
                radius: self.radius.or(recipe.starts.radius),
                jitter: self.jitter,
                spread: self.spread_starts,
                classes: self.classes(schema)?,
            },
            order: match (self.sequential, self.penalty) {
                (true, _) => Order::Sequential,
                (_, true) => Order::Penalty,
                _ => Order::Simultaneous,
            },
            decoding: if self.anchored { Decoding::Anchored } else { Decoding::Mean },
            learning_rate: self.learning_rate,
            convergence: match self.all_steps {
                true => Convergence::never_before(self.steps),
                false => Convergence { max_steps: self.steps, ..Convergence::default() },
            },
            threshold: self.threshold.unwrap_or(recipe.threshold),
            sub_searches: self.sub_searches.map(|best| SubSearches {
                best,
                each: self.sub_count,
                radius: self.sub_radius,
            }),
            ..recipe
        };
        self.check_starts(&search)?;
        let terms = &mut search.objective;
        // Without ∇-CLUE a diversity only spreads the starts.
        terms.diversity = terms.diversity.or(self.diversity_term()?.map(|Weighted(_, term)| Weighted(0.0, term)));
        terms.input = Weighted(self.lambda_x, self.distance);
        (terms.prediction, terms.latent, terms.prior) = (self.lambda_y, self.lambda_z, self.lambda_p);
        (terms.uncertainty, search.accept_by) = self.uncertainty()?;
        Ok(search)
    }

    /// Refuses options that would do nothing.
    fn check_starts(&self, search: &Search) -> Result<()> {
        let paths = [InitScheme::NearestPath, InitScheme::ClassPath];
        if !self.towards.is_empty() && !search.starts.schemes.iter().any(|scheme| paths.contains(scheme)) {
            bail!(Error::setting(
                "towards",
                "is for --init nearest-path and class-path, which lead to classes; add one"
            ));
        }
        let unbounded = search.delta == Delta::Fixed(LatentBall::UNBOUNDED);
        let reach = search.starts.radius.or(if unbounded { Some(0.0) } else { None });
        let still = reach.is_some_and(|reach| reach <= 0.0) && search.starts.jitter <= 0.0;
        if still && (search.count > 1 || !self.init.is_empty()) {
            let remedy = "give --radius, or choose --method delta with a --delta";
            bail!(Error::setting("radius", format!("is 0, so every search would start at the input itself; {remedy}")));
        }
        Ok(())
    }

    fn classes(&self, schema: &Schema) -> Result<Vec<usize>> {
        self.towards.iter().map(|name| class_named(name, schema.target.task.classes())).collect()
    }

    /// `NAME=WEIGHT`, or a name alone.
    fn diversity_term(&self) -> Result<Option<Weighted<DiversityTerm>>> {
        let Some(text) = &self.diversity else {
            return Ok(self
                .space
                .map(|space| Weighted(DIVERSITY_WEIGHT, DiversityTerm { metric: Diversity::Dpp, space })));
        };
        let (name, weight) = named_weight("diversity", text, DIVERSITY_WEIGHT)?;
        let metric: Diversity = name.parse()?;
        Ok(Some(Weighted(weight, DiversityTerm { metric, space: self.space.unwrap_or(metric.default_space()) })))
    }

    /// The weights, and the kind that clues are accepted by: the one with the greatest weight.
    fn uncertainty(&self) -> Result<(UncertaintyWeights, Uncertainty)> {
        let mut weights = UncertaintyWeights { total: 0.0, aleatoric: 0.0, epistemic: 0.0 };
        let mut heaviest = (f32::NEG_INFINITY, Uncertainty::Total);
        for text in &self.uncertainty {
            let (name, weight) = named_weight("uncertainty", text, 1.0)?;
            let kind: Uncertainty = name.parse()?;
            *weights.get_mut(kind) = weight;
            if weight > heaviest.0 {
                heaviest = (weight, kind);
            }
        }
        Ok((weights, heaviest.1))
    }
}

fn named_weight<'a>(key: &str, text: &'a str, default: f32) -> Result<(&'a str, f32)> {
    match text.split_once('=') {
        None => Ok((text, default)),
        Some((name, weight)) => match weight.parse() {
            Ok(weight) => Ok((name, weight)),
            Err(_) => bail!(Error::setting(key, format!("`{weight}` is not a weight; write {name}=1.5"))),
        },
    }
}

/// Constraints on the features of a table, beside those of the run's schema.toml.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Constraints (tables)")]
pub struct ConstraintArgs {
    /// A TOML file with the keys of `[constraints]` in schema.toml.
    #[arg(long, value_name = "FILE")]
    constraints: Option<PathBuf>,
    /// Features that must stay as they are.
    #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
    immutable: Vec<String>,
    /// Features that may only grow.
    #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
    only_up: Vec<String>,
    /// Features that may only shrink.
    #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
    only_down: Vec<String>,
    /// A range for a feature, such as LIMIT_BAL=10000..500000; either end may be left out.
    #[arg(long, value_name = "RANGE", action = ArgAction::Append)]
    range: Vec<String>,
    /// A linear relation that must hold, such as "BILL_AMT1 <= LIMIT_BAL".
    #[arg(long, value_name = "RELATION", action = ArgAction::Append)]
    relation: Vec<String>,
    /// Features that may change at the most. The search for them does not hold clues apart.
    #[arg(long, value_name = "N")]
    most_changed: Option<usize>,
}

impl ConstraintArgs {
    /// The options as they were given, each with its value.
    pub fn given(&self) -> Vec<(&'static str, String)> {
        let mut given = Vec::new();
        given.extend(self.constraints.iter().map(|path| ("constraints", path.display().to_string())));
        for (option, features) in
            [("immutable", &self.immutable), ("only-up", &self.only_up), ("only-down", &self.only_down)]
        {
            given.extend((!features.is_empty()).then(|| (option, features.join(","))));
        }
        given.extend(self.range.iter().map(|range| ("range", range.clone())));
        given.extend(self.relation.iter().map(|relation| ("relation", relation.clone())));
        given.extend(self.most_changed.map(|most| ("most-changed", most.to_string())));
        given
    }

    /// The schema's constraints with those of the options.
    pub fn on(&self, schema: &Schema) -> Result<Constraints> {
        let mut all = schema.constraints.clone();
        if let Some(path) = &self.constraints {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            let given: Constraints = toml::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
            all = all.merged(given);
        }
        let ranges = self.range.iter().map(|text| Constraints::parse_range(text)).collect::<Result<_, _>>()?;
        let relations = self.relation.iter().map(|text| text.parse::<Relation>()).collect::<Result<_, _>>()?;
        Ok(all.merged(Constraints {
            immutable: self.immutable.clone(),
            only_up: self.only_up.clone(),
            only_down: self.only_down.clone(),
            most_changed: self.most_changed,
            relations,
            ranges,
        }))
    }
}
