//! The settings of a search as options.

use crate::cmd::run::RunArgs;
use crate::config::{lay_over, one_of};
use anyhow::{Context, Result};
use clap::{ArgAction, Args};
use cluekit::data::Constraints;
use cluekit::distance::Distance;
use cluekit::diversity::{Norm, Space};
use cluekit::explainer::Explainer;
use cluekit::search::{ClassName, Effort, InitScheme, Radii, SamplesPerStep, Scan, Schedule, SearchSettings, Way};
use cluekit::settings::parse_share;
use std::path::PathBuf;

/// The options of a search.
#[derive(Args, Debug)]
#[command(next_help_heading = "Search")]
pub struct SearchArgs {
    /// Radius of the latent ball: a number, `inf`, `auto` (from the nearest certain training points), or a sweep
    /// such as 0.5..3.5/7 [default: none for clue, auto otherwise].
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    delta: Option<Radii>,
    /// How far from the input searches start [default: 0 for clue, delta otherwise].
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    radius: Option<f32>,
    /// Clues for each input [default: 1 for clue, 10 otherwise].
    #[arg(long, value_name = "K")]
    count: Option<usize>,
    /// Where searches start; several schemes share the clues: random-radius, nearest-path, gaussian-radius,
    /// uniform-ball, class-path [default: random-radius].
    #[arg(long, value_name = "SCHEME", value_delimiter = ',')]
    init: Option<Vec<InitScheme>>,
    /// Only the paths of nearest-path and class-path that lead to these classes, by their names.
    #[arg(long, value_name = "CLASS", value_delimiter = ',')]
    towards: Vec<String>,
    /// Move each start by up to this much in a random direction.
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    jitter: Option<f32>,
    /// Spread the starts by N steps of ascent on the diversity first.
    #[arg(long, value_name = "N")]
    spread_starts: Option<usize>,
    /// What to reduce: total, aleatoric or epistemic; several with weights as `epistemic=1,aleatoric=0.5`
    /// [default: total].
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    uncertainty: Option<Vec<String>>,
    /// Weight of the distance to the input [default: 0].
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    lambda_x: Option<f32>,
    /// The distance between inputs: l1, l2, mahalanobis; for tables also mad and range, which weigh features [default: l1].
    #[arg(long, value_name = "NAME")]
    distance: Option<Distance>,
    /// Weight of the distance between predictions.
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    lambda_y: Option<f32>,
    /// Weight of the latent distance.
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    lambda_z: Option<f32>,
    /// Weight of −log p(z), which avoids unlikely codes.
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    lambda_p: Option<f32>,
    /// What holds the clues of ∇-CLUE apart, as NAME=WEIGHT: dpp, log-dpp, apd, coverage, range-coverage,
    /// prediction-coverage, soft-distinct-labels, soft-label-entropy [default for nabla: dpp=1].
    #[arg(long, value_name = "NAME=WEIGHT")]
    diversity: Option<String>,
    /// The space that the diversity is measured in: x, z or y [default: z, or y for predictions and labels].
    #[arg(long, value_name = "SPACE")]
    space: Option<Space>,
    /// The distance between clues that dpp, log-dpp, apd and --penalty look at: l2 or l1 [default: l2].
    #[arg(long, value_name = "NAME")]
    diversity_distance: Option<Norm>,
    /// ∇-CLUE one clue after another, each diverse from those before.
    #[arg(long, conflicts_with = "penalty")]
    sequential: bool,
    /// ∇-CLUE one clue after another, each pushed away from those before by the weight of --diversity over the
    /// distance; which diversity it is makes no difference.
    #[arg(long)]
    penalty: bool,
    /// How to get to less cost: by the gradient, by evolution (for models that only answer), or auto, which is the gradient
    /// where both models have one [default: auto].
    #[arg(long, value_name = "WAY", value_parser = one_of::<Way>(Way::ALL.map(Way::name)))]
    search: Option<Way>,
    /// How much evolution tries for each clue: quick, normal, thorough, or a number of evaluations; from thorough on also for
    /// tables, beside what is tried there anyhow [default: normal].
    #[arg(long, value_name = "EFFORT")]
    effort: Option<Effort>,
    /// Posterior samples that each step asks, in turn: all, a number, or auto, which is as few as serve the model and the
    /// uncertainty that is searched; every clue is judged by all of them [default: auto].
    #[arg(long, value_name = "N")]
    samples_per_step: Option<SamplesPerStep>,
    /// Samples and steps of each phase of the search, as SAMPLES*STEPS, such as "1*40" or "2*20, 5*7"; or all, auto, or
    /// paper for the paper's constant steps.
    #[arg(long, value_name = "PHASES", conflicts_with = "samples_per_step")]
    schedule: Option<Schedule>,
    /// Steps of Adam at the most [default: 30].
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// How long the first step of Adam is; steps become shorter, but not with --only-paper [default: 0.2; 0.1 with
    /// --only-paper].
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    learning_rate: Option<f32>,
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
    /// Starts around each of them [default: 5].
    #[arg(long, value_name = "N", requires = "sub_searches")]
    sub_count: Option<usize>,
    /// How far around them [default: 0.5].
    #[arg(long, value_name = "R", requires = "sub_searches", allow_hyphen_values = true)]
    sub_radius: Option<f32>,
    /// For tables: grow clues change by change (1), and try all of two changes where nothing is found (2); or off
    /// [default: 2].
    #[arg(long, value_name = "N", value_parser = one_of::<Scan>(Scan::ALL.map(Scan::name)))]
    scan: Option<Scan>,
    /// For tables: try so many certain training rows as counterfactuals [default: 40].
    #[arg(long, value_name = "N")]
    donors: Option<usize>,
    /// For tables: take back every change that is not needed [default: true].
    #[arg(long, value_name = "BOOL")]
    minimal: Option<bool>,
    /// For tables: refuse clues that are odder than this share of the training rows, such as 95% [default: prefer others].
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    plausible: Option<f32>,
    /// For tables: ask the model and the jury to be this much surer than the threshold [default: 0.72 of it].
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    margin: Option<f32>,
    /// Accept a clue only if this share of the judges is certain too [default: 0].
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    agree: Option<f32>,
    /// Search exactly as the paper does: no certain rows, no scan, no jury, and λ_x = 0 unless it is given.
    #[arg(long)]
    only_paper: bool,
}

impl SearchArgs {
    /// The radii of a sweep; none where one δ is searched.
    pub fn sweep(&self) -> &[f32] {
        self.delta.as_ref().map_or(&[], Radii::sweep)
    }

    /// What the options say, over what a file says.
    pub fn over(&self, mut settings: SearchSettings) -> Result<SearchSettings> {
        lay_over!(self, settings: radius, count, init, jitter, spread_starts, uncertainty, steps, learning_rate, threshold);
        lay_over!(self, settings: lambda_x, distance, lambda_y, lambda_z, lambda_p, diversity, space, diversity_distance);
        lay_over!(self, settings: sub_searches, sub_count, sub_radius, scan, donors);
        lay_over!(self, settings: minimal, plausible, margin, agree, search, effort, samples_per_step, schedule);
        if let Some(radii) = &self.delta {
            settings.delta = Some(radii.first()?);
        }
        if !self.towards.is_empty() {
            settings.towards = self.towards.iter().cloned().map(ClassName::Name).collect();
        }
        settings.sequential |= self.sequential;
        settings.penalty |= self.penalty;
        settings.all_steps |= self.all_steps;
        settings.anchored |= self.anchored;
        settings.only_paper |= self.only_paper;
        Ok(settings)
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
    /// Features that may only grow; categories need an --order.
    #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
    only_up: Vec<String>,
    /// Features that may only shrink; categories need an --order.
    #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
    only_down: Vec<String>,
    /// A range for a feature, such as LIMIT_BAL=10000..500000; either end may be left out.
    #[arg(long, value_name = "RANGE", action = ArgAction::Append)]
    range: Vec<String>,
    /// A linear relation that must hold, such as "BILL_AMT1 <= LIMIT_BAL".
    #[arg(long, value_name = "RELATION", action = ArgAction::Append)]
    relation: Vec<String>,
    /// A value that no counterfactual may take unless the input has it, such as "occupation=?".
    #[arg(long, value_name = "FEATURE=VALUE", action = ArgAction::Append)]
    never: Vec<String>,
    /// What a category can become, such as "job: student -> clerk, engineer"; nothing behind the arrow: it stays.
    #[arg(long, value_name = "TRANSITION", action = ArgAction::Append)]
    transition: Vec<String>,
    /// Categories from low to high, such as "education: none < school < college".
    #[arg(long, value_name = "ORDER", action = ArgAction::Append)]
    order: Vec<String>,
    /// The weight of a feature in the distance to the input, such as AGE=3 [default: 1].
    #[arg(long, value_name = "FEATURE=W", action = ArgAction::Append)]
    cost: Vec<String>,
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
        let repeated = [
            ("range", &self.range),
            ("relation", &self.relation),
            ("never", &self.never),
            ("transition", &self.transition),
            ("order", &self.order),
            ("cost", &self.cost),
        ];
        given.extend(repeated.iter().flat_map(|(option, values)| values.iter().map(|value| (*option, value.clone()))));
        given.extend(self.most_changed.map(|most| ("most-changed", most.to_string())));
        given
    }

    /// The opened run, under its own constraints and those of the options.
    pub fn open(&self, run: &RunArgs) -> Result<Explainer> {
        let explainer = run.explainer()?;
        let constraints = self.over(explainer.known_schema()?.constraints.clone())?;
        Ok(explainer.with_constraints(constraints)?)
    }

    /// What the options say, over what a schema says.
    fn over(&self, mut all: Constraints) -> Result<Constraints> {
        if let Some(path) = &self.constraints {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            let given: Constraints = toml::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
            all = all.merged(given);
        }
        Ok(all.merged(Constraints {
            immutable: self.immutable.clone(),
            only_up: self.only_up.clone(),
            only_down: self.only_down.clone(),
            most_changed: self.most_changed,
            relations: self.relation.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            never: self.never.clone(),
            transitions: self.transition.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            ranges: self.range.iter().map(|text| Constraints::parse_range(text)).collect::<Result<_, _>>()?,
            order: self.order.iter().map(|text| Constraints::parse_order(text)).collect::<Result<_, _>>()?,
            cost: self.cost.iter().map(|text| Constraints::parse_cost(text)).collect::<Result<_, _>>()?,
        }))
    }
}
