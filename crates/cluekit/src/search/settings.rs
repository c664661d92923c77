//! A search as a flat table of settings: the same names in TOML, in JSON, on the command line and as keyword arguments.
//!
//! ```toml
//! delta = "auto"
//! count = 10
//! lambda_x = 0.03
//! diversity = "dpp=1"
//! anchored = true
//! ```
//!
//! What is not said is what the method's recipe says. A [`Search`] is written as all of its settings, and read from them.

use super::{
    ClassName, Convergence, Decoding, Delta, DiversityTerm, Effort, InitScheme, LatentBall, Order, Phase, Portfolio,
    SamplesPerStep, Scan, Schedule, Search, Starts, SubSearches, UncertaintyWeights, Way, Weighted,
};
use crate::distance::Distance;
use crate::diversity::{Diversity, Norm, Space};
use crate::error::{Error, Remedy, Result};
use crate::named;
use crate::uncertainty::Uncertainty;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Clues for each input of δ-CLUE and ∇-CLUE when nothing is said.
const COUNT: usize = 10;
/// λ_D of ∇-CLUE when nothing is said.
const DIVERSITY_WEIGHT: f32 = 1.0;
/// Starts around each of the best clues, and how far around them, when nothing is said.
const SUB_COUNT: usize = 5;
const SUB_RADIUS: f32 = 0.5;
/// λ_x outside of the paper's searches when nothing is said: clues are to be near.
const LAMBDA_X: f32 = 0.03;
/// How far the first step goes outside of the paper's searches when nothing is said.
const LEARNING_RATE: f32 = 0.2;

named! {
    "method", "a method";
    /// The methods that search.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum SearchMethod {
        /// CLUE: one search from the input, without a ball.
        #[default]
        Clue = "clue",
        /// δ-CLUE: many searches within a ball.
        Delta = "delta",
        /// ∇-CLUE: many searches within a ball, held apart.
        Nabla = "nabla",
    }
}

impl SearchMethod {
    /// Name of the method that people read, such as `∇-CLUE`.
    pub fn title(self) -> &'static str {
        match self {
            Self::Clue => "CLUE",
            Self::Delta => "δ-CLUE",
            Self::Nabla => "∇-CLUE",
        }
    }
}

/// The settings of a search; what is not said is what the method's recipe says.
///
/// ```
/// use cluekit::{SearchMethod, SearchSettings};
///
/// let settings: SearchSettings = toml::from_str("lambda_x = 0.03\ncount = 6").expect("known keys");
/// let search = settings.search(SearchMethod::Nabla, &["no".into(), "yes".into()])?;
/// assert_eq!((search.count, search.objective.input.0), (6, 0.03));
/// # Ok::<(), cluekit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// Radius δ of the latent ball: a number, `auto`, `inf`, or `4*auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
    pub delta: Option<Delta>,
    /// Radius r around the input's code within which searches start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f32>,
    /// Number of clues for each input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// Schemes of starting points; several schemes share the clues.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub init: Vec<InitScheme>,
    /// Classes that the paths of starts lead to; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub towards: Vec<ClassName>,
    /// Greatest length of a random move of each start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<f32>,
    /// Number of steps of ascent on the diversity that spread the starts first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread_starts: Option<usize>,
    /// Kinds of uncertainty to reduce: `total`, `aleatoric` or `epistemic`; several with weights as `epistemic=1`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uncertainty: Vec<String>,
    /// Weight λ_x of the distance to the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda_x: Option<f32>,
    /// Kind of distance between inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<Distance>,
    /// Weight λ_y of the distance between predictions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda_y: Option<f32>,
    /// Weight λ_z of the latent distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda_z: Option<f32>,
    /// Weight λ_p of −log p(z), which avoids unlikely codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda_p: Option<f32>,
    /// Diversity that holds the clues of ∇-CLUE apart, as `name=weight`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diversity: Option<String>,
    /// Space that the diversity is measured in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space: Option<Space>,
    /// Distance between clues that the diversity looks at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diversity_distance: Option<Norm>,
    /// Whether ∇-CLUE searches one clue after another, each diverse from those before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sequential: bool,
    /// Whether ∇-CLUE searches one clue after another, each pushed away from those before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub penalty: bool,
    /// By the gradient, by evolution, or by what the models allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Way>,
    /// How often evolution evaluates the objective for each clue: `quick`, `normal`, `thorough`, or a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
    pub effort: Option<Effort>,
    /// Posterior samples that each step asks: `all`, `auto`, or a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
    pub samples_per_step: Option<SamplesPerStep>,
    /// Samples and steps of each phase, such as `2*20, 5*7`; or `auto`, `all` or `paper`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub schedule: Option<Schedule>,
    /// Largest number of steps of Adam.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// Learning rate of Adam, the first one where it falls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learning_rate: Option<f32>,
    /// Whether to take all steps, even when the objective no longer improves.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_steps: bool,
    /// Number of steps without an improvement after which a search has converged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<usize>,
    /// Least improvement that counts, as a share of the objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative: Option<f32>,
    /// Least improvement that counts, in units of the objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absolute: Option<f32>,
    /// Uncertainty below which a clue is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f32>,
    /// Kind of uncertainty that the threshold is for; by default the one with the greatest weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept_by: Option<Uncertainty>,
    /// Whether to add only what changes to the input, instead of changing its reconstruction.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub anchored: bool,
    /// Number of best clues of each input to search around again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_searches: Option<usize>,
    /// Number of starts around each of these clues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_count: Option<usize>,
    /// Greatest latent distance of these starts from their clue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_radius: Option<f32>,
    /// Number of changes that are scanned exactly in a table, beside the search: `off`, `1` or `2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scan: Option<Scan>,
    /// Number of certain training rows that are tried as counterfactuals in a table, beside the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub donors: Option<usize>,
    /// Whether changes that need not be are taken back, in a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimal: Option<bool>,
    /// Share of the training rows that count as usual, in a table: odder clues are not accepted; 0 for any clue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plausible: Option<f32>,
    /// Share of the threshold below which the model and the jurors that are asked must be for a clue to be believed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f32>,
    /// Least share of the judges that must be certain about an accepted clue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agree: Option<f32>,
    /// Whether to search as the paper does, with nothing beside.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_paper: bool,
}

impl SearchSettings {
    /// The search that these settings make of a method, for a model with classes of these names; without a threshold of
    /// its own it has that of the recipe.
    pub fn search(&self, method: SearchMethod, classes: &[String]) -> Result<Search> {
        self.check_method(method)?;
        let delta = self.delta.unwrap_or(match method {
            SearchMethod::Clue => Delta::Fixed(LatentBall::UNBOUNDED),
            SearchMethod::Delta | SearchMethod::Nabla => Delta::Auto,
        });
        let mut recipe = match method {
            SearchMethod::Clue => Search { delta, ..Search::clue() },
            SearchMethod::Delta => Search::delta_clue(delta, COUNT),
            SearchMethod::Nabla => Search::nabla_clue(
                delta,
                COUNT,
                self.diversity_term()?.unwrap_or(Weighted(DIVERSITY_WEIGHT, DiversityTerm::default())),
            ),
        };
        if !self.only_paper {
            recipe.portfolio = Some(Portfolio::default());
            recipe.objective.input.0 = LAMBDA_X;
            recipe.schedule = Schedule::Auto;
            recipe.learning_rate = LEARNING_RATE;
        }
        let mut search = self.over(recipe, classes)?;
        // Without ∇-CLUE a diversity only spreads the starts.
        let spreads = self.diversity_term()?.map(|Weighted(_, term)| Weighted(0.0, term));
        search.objective.diversity = search.objective.diversity.or(spreads);
        self.check_starts(&search)?;
        Ok(search)
    }

    /// A recipe with what these settings say otherwise.
    fn over(&self, recipe: Search, classes: &[String]) -> Result<Search> {
        let mut search = recipe;
        self.set_schedule(&mut search)?;
        let steps = self.steps.or(search.schedule.steps()).unwrap_or(search.convergence.max_steps);
        if self.all_steps && (self.patience.is_some() || self.relative.is_some() || self.absolute.is_some()) {
            let problem = "takes every step, and these settings end a search early";
            return Err(
                Error::setting("all_steps", problem).remedy(Remedy::leave_out(["patience", "relative", "absolute"]))
            );
        }
        search.convergence = match self.all_steps {
            true => Convergence::all_steps(steps),
            false => Convergence { max_steps: steps, ..search.convergence },
        };
        let Convergence { patience, relative, absolute, .. } = &mut search.convergence;
        set(patience, self.patience);
        set(relative, self.relative);
        set(absolute, self.absolute);
        set(&mut search.count, self.count);
        if !self.init.is_empty() {
            search.starts.schemes.clone_from(&self.init);
        }
        search.starts.radius = self.radius.or(search.starts.radius);
        set(&mut search.starts.jitter, self.jitter);
        set(&mut search.starts.spread, self.spread_starts);
        search.starts.classes =
            self.towards.iter().map(|class| class.position(classes)).collect::<Result<Vec<usize>>>()?;
        search.order = match (self.sequential, self.penalty) {
            (true, _) => Order::Sequential,
            (_, true) => Order::Penalty,
            _ => Order::Simultaneous,
        };
        search.decoding = if self.anchored { Decoding::Anchored } else { Decoding::Mean };
        self.set_way(&mut search)?;
        set(&mut search.learning_rate, self.learning_rate);
        set(&mut search.threshold, self.threshold);
        search.sub_searches = self.sub_searches.map(|best| SubSearches {
            best,
            each: self.sub_count.unwrap_or(SUB_COUNT),
            radius: self.sub_radius.unwrap_or(SUB_RADIUS),
        });
        self.set_portfolio(&mut search.portfolio)?;
        let terms = &mut search.objective;
        set(&mut terms.input.0, self.lambda_x);
        set(&mut terms.input.1, self.distance);
        set(&mut terms.prediction, self.lambda_y);
        set(&mut terms.latent, self.lambda_z);
        set(&mut terms.prior, self.lambda_p);
        if !self.uncertainty.is_empty() {
            terms.uncertainty = self.weights()?;
        }
        search.accept_by = self.accept_by.or(search.accept_by);
        Ok(search)
    }

    /// The schedule of the search, where these settings say otherwise.
    fn set_schedule(&self, search: &mut Search) -> Result<()> {
        let (schedule, samples) = (self.schedule.clone(), self.samples_per_step);
        let given = match (schedule, samples) {
            (Some(_), Some(_)) => {
                let problem = "says how many samples each step asks, and so does `schedule`; give one of them";
                return Err(Error::setting("samples_per_step", problem));
            }
            (Some(schedule), None) => schedule,
            (None, Some(SamplesPerStep::All)) => Schedule::All,
            (None, Some(SamplesPerStep::Auto)) => Schedule::Auto,
            (None, Some(SamplesPerStep::Some(samples))) => {
                Schedule::Phases(vec![Phase { samples, steps: self.steps.unwrap_or(search.convergence.max_steps) }])
            }
            // These compare the objective from step to step, for which every step asks the same samples.
            (None, None) if self.patience.is_some() || self.relative.is_some() || self.absolute.is_some() => {
                if self.only_paper { Schedule::Paper } else { Schedule::All }
            }
            (None, None) => return Ok(()),
        };
        if self.only_paper && given != Schedule::Paper {
            let key = if samples.is_some() { "samples_per_step" } else { "schedule" };
            let problem = format!("asks all samples at every step, and `{key}` says otherwise");
            return Err(Error::setting("only_paper", problem).remedy(Remedy::leave_out([key])));
        }
        search.schedule = given;
        search.schedule.validate()
    }

    /// The way of the search, where these settings say otherwise.
    fn set_way(&self, search: &mut Search) -> Result<()> {
        set(&mut search.way, self.search);
        set(&mut search.effort, self.effort);
        if search.way == Way::Gradient && self.effort.is_some_and(|effort| effort != Effort::default()) {
            let problem = "is for a search by evolution, and this one follows the gradient; give `steps`";
            return Err(Error::setting("effort", problem).remedy(Remedy::leave_out(["effort"])));
        }
        Ok(())
    }

    /// What is tried beside the search, where these settings say otherwise.
    fn set_portfolio(&self, portfolio: &mut Option<Portfolio>) -> Result<()> {
        let shares = [("plausible", self.plausible), ("margin", self.margin), ("agree", self.agree)];
        for (key, share) in shares {
            if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
                return Err(Error::setting(key, format!("is a share between 0 and 1, got {share}")));
            }
        }
        let given = [
            ("scan", self.scan.is_some()),
            ("donors", self.donors.is_some()),
            ("minimal", self.minimal.is_some()),
            ("plausible", self.plausible.is_some()),
            ("margin", self.margin.is_some()),
            ("agree", self.agree.is_some()),
        ];
        let Some((key, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
        if self.only_paper {
            let problem = format!("searches as the paper does, and `{key}` says what is done beside");
            return Err(Error::setting("only_paper", problem).remedy(Remedy::leave_out([key])));
        }
        let portfolio = portfolio.get_or_insert_default();
        set(&mut portfolio.scan, self.scan);
        set(&mut portfolio.donors, self.donors);
        set(&mut portfolio.minimal, self.minimal);
        set(&mut portfolio.plausible, self.plausible);
        set(&mut portfolio.margin, self.margin);
        set(&mut portfolio.agree, self.agree);
        Ok(())
    }

    /// Refuses what a method does not do.
    fn check_method(&self, method: SearchMethod) -> Result<()> {
        if method == SearchMethod::Nabla {
            return Ok(());
        }
        let given = self.diversity.is_some() || self.space.is_some() || self.diversity_distance.is_some();
        if given && self.spread_starts.unwrap_or(0) == 0 {
            let problem =
                "only the method `nabla` holds clues apart; choose it, give `spread_starts`, or leave this out";
            return Err(Error::setting("diversity", problem));
        }
        for (given, key) in [(self.sequential, "sequential"), (self.penalty, "penalty")] {
            if given {
                let problem = "only the method `nabla` searches one clue after another; choose it";
                return Err(Error::setting(key, problem));
            }
        }
        Ok(())
    }

    /// Refuses settings that would do nothing.
    fn check_starts(&self, search: &Search) -> Result<()> {
        let paths = [InitScheme::NearestPath, InitScheme::ClassPath];
        if !self.towards.is_empty() && !search.starts.schemes.iter().any(|scheme| paths.contains(scheme)) {
            let problem = "is for starts (`init`) on nearest-path and class-path, which lead to classes; add one";
            return Err(Error::setting("towards", problem));
        }
        let unbounded = search.delta == Delta::Fixed(LatentBall::UNBOUNDED);
        let reach = search.starts.radius.or(if unbounded { Some(0.0) } else { None });
        let still = reach.is_some_and(|reach| reach <= 0.0) && search.starts.jitter <= 0.0;
        let elsewhere = !self.init.is_empty() && self.init != Starts::default().schemes;
        if still && (search.count > 1 || elsewhere) {
            let remedy = "give one, or choose the method `delta` with a `delta`";
            let problem = format!("is 0, so every search would start at the input itself; {remedy}");
            return Err(Error::setting("radius", problem));
        }
        Ok(())
    }

    /// `name=weight`, or a name alone.
    fn diversity_term(&self) -> Result<Option<Weighted<DiversityTerm>>> {
        if self.diversity.is_none() && self.space.is_none() && self.diversity_distance.is_none() {
            return Ok(None);
        }
        let (metric, weight) = match &self.diversity {
            None => (Diversity::Dpp, DIVERSITY_WEIGHT),
            Some(text) => {
                let (name, weight) = named_weight("diversity", text, DIVERSITY_WEIGHT)?;
                (name.parse()?, weight)
            }
        };
        let space = self.space.unwrap_or(metric.default_space());
        Ok(Some(Weighted(
            weight,
            DiversityTerm { metric, space, distance: self.diversity_distance.unwrap_or_default() },
        )))
    }

    /// The weights of the kinds of uncertainty.
    fn weights(&self) -> Result<UncertaintyWeights> {
        let mut weights = UncertaintyWeights { total: 0.0, aleatoric: 0.0, epistemic: 0.0 };
        for text in &self.uncertainty {
            let (name, weight) = named_weight("uncertainty", text, 1.0)?;
            let kind: Uncertainty = name.parse()?;
            *weights.get_mut(kind) = weight;
        }
        Ok(weights)
    }
}

fn set<T: Clone>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

fn named_weight<'a>(key: &str, text: &'a str, default: f32) -> Result<(&'a str, f32)> {
    match text.split_once('=') {
        None => Ok((text, default)),
        Some((name, weight)) => match weight.parse() {
            Ok(weight) => Ok((name, weight)),
            Err(_) => Err(Error::setting(key, format!("`{weight}` is not a weight; write {name}=1.5"))),
        },
    }
}

impl From<&Search> for SearchSettings {
    /// Every setting of a search.
    fn from(search: &Search) -> Self {
        let Search { objective, starts, convergence, .. } = search;
        let UncertaintyWeights { total, aleatoric, epistemic } = objective.uncertainty;
        let kinds =
            [(total, Uncertainty::Total), (aleatoric, Uncertainty::Aleatoric), (epistemic, Uncertainty::Epistemic)];
        let all_steps = Convergence::all_steps(convergence.max_steps) == *convergence;
        let given = |value| (!all_steps).then_some(value);
        Self {
            delta: Some(search.delta),
            radius: starts.radius,
            count: Some(search.count),
            init: starts.schemes.clone(),
            towards: starts.classes.iter().map(|&class| ClassName::Position(class)).collect(),
            jitter: Some(starts.jitter),
            spread_starts: Some(starts.spread),
            uncertainty: kinds
                .iter()
                .filter(|(weight, _)| *weight > 0.0)
                .map(|(weight, kind)| format!("{kind}={weight}"))
                .collect(),
            lambda_x: Some(objective.input.0),
            distance: Some(objective.input.1),
            lambda_y: Some(objective.prediction),
            lambda_z: Some(objective.latent),
            lambda_p: Some(objective.prior),
            diversity: objective.diversity.map(|Weighted(weight, term)| format!("{}={weight}", term.metric)),
            space: objective.diversity.map(|Weighted(_, term)| term.space),
            diversity_distance: objective
                .diversity
                .filter(|Weighted(_, term)| term.metric.compares_pairs())
                .map(|Weighted(_, term)| term.distance),
            sequential: search.order == Order::Sequential,
            penalty: search.order == Order::Penalty,
            search: Some(search.way),
            effort: Some(search.effort),
            samples_per_step: None,
            schedule: Some(search.schedule.clone()),
            steps: Some(convergence.max_steps),
            learning_rate: Some(search.learning_rate),
            all_steps,
            patience: (!all_steps).then_some(convergence.patience),
            relative: given(convergence.relative),
            absolute: given(convergence.absolute),
            threshold: Some(search.threshold),
            accept_by: search.accept_by,
            anchored: search.decoding == Decoding::Anchored,
            sub_searches: search.sub_searches.map(|sub| sub.best),
            sub_count: search.sub_searches.map(|sub| sub.each),
            sub_radius: search.sub_searches.map(|sub| sub.radius),
            scan: search.portfolio.map(|portfolio| portfolio.scan),
            donors: search.portfolio.map(|portfolio| portfolio.donors),
            minimal: search.portfolio.map(|portfolio| portfolio.minimal),
            plausible: search.portfolio.map(|portfolio| portfolio.plausible),
            margin: search.portfolio.map(|portfolio| portfolio.margin),
            agree: search.portfolio.map(|portfolio| portfolio.agree),
            only_paper: search.portfolio.is_none(),
        }
    }
}

impl Serialize for Search {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        SearchSettings::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Search {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let settings = SearchSettings::deserialize(deserializer)?;
        let read = || -> Result<Self> {
            let mut search = settings.over(Self::clue(), &[])?;
            set(&mut search.delta, settings.delta);
            search.objective.diversity = settings.diversity_term()?;
            search.starts.radius = settings.radius;
            Ok(search)
        };
        read().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_takes_all_steps_has_no_patience() {
        let settings = SearchSettings { all_steps: true, patience: Some(3), ..SearchSettings::default() };
        let problem = settings.over(Search::clue(), &[]).unwrap_err().to_string();
        assert!(problem.starts_with("setting `all_steps`: takes every step"), "{problem}");
    }

    #[test]
    fn every_search_that_is_written_reads_back() {
        let metric = Diversity::AveragePairwiseDistance;
        let term = DiversityTerm { metric, space: Space::X, distance: Norm::L1 };
        let delta = Delta::Fixed(LatentBall::new(3.5).unwrap());
        let mut odd = Search::nabla_clue(Delta::Wider(4), 7, Weighted(2.5, term));
        odd.objective.uncertainty = UncertaintyWeights { total: 0.0, aleatoric: 0.5, epistemic: 1.5 };
        odd.accept_by = Some(Uncertainty::Aleatoric);
        odd.order = Order::Penalty;
        odd.starts.classes = vec![1, 0];
        odd.starts.schemes = vec![InitScheme::ClassPath, InitScheme::UniformBall];
        (odd.starts.jitter, odd.starts.spread, odd.starts.radius) = (0.1, 3, Some(2.0));
        odd.sub_searches = Some(SubSearches { best: 2, each: 3, radius: 0.25 });
        odd.convergence = Convergence { max_steps: 50, relative: 0.1, absolute: 0.2, patience: 4 };
        odd.decoding = Decoding::Anchored;
        (odd.way, odd.effort) = (Way::Evolution, Effort::Evaluations(700));
        odd.portfolio = Some(Portfolio { scan: Scan::One, donors: 3, minimal: false, ..Portfolio::default() });
        let steps = Search { convergence: Convergence::all_steps(20), ..Search::delta_clue(Delta::Auto, 5) };
        for search in [Search::clue(), Search::judging(), Search::delta_clue(delta, 10), odd, steps] {
            let json = serde_json::to_string(&search).unwrap();
            assert_eq!(serde_json::from_str::<Search>(&json).unwrap(), search, "{json}");
            let text = toml::to_string(&search).unwrap();
            assert_eq!(toml::from_str::<Search>(&text).unwrap(), search, "{text}");
        }
    }

    #[test]
    fn the_settings_of_a_method_make_that_method_again() {
        for method in SearchMethod::ALL {
            let search = SearchSettings::default().search(method, &[]).unwrap();
            assert_eq!(SearchSettings::from(&search).search(method, &[]).unwrap(), search);
        }
    }

    #[test]
    fn a_recipe_fills_in_what_is_not_said() {
        let settings: SearchSettings = toml::from_str("lambda_x = 0.03\nanchored = true").unwrap();
        let search = settings.search(SearchMethod::Nabla, &[]).unwrap();
        assert_eq!((search.count, search.objective.input.0, search.delta), (COUNT, 0.03, Delta::Auto));
        assert_eq!(search.objective.diversity.map(|term| term.0), Some(DIVERSITY_WEIGHT));
        let paper = SearchSettings { only_paper: true, ..SearchSettings::default() };
        assert_eq!(paper.search(SearchMethod::Clue, &[]).unwrap(), Search::clue());
        let usual = SearchSettings::default().search(SearchMethod::Clue, &[]).unwrap();
        assert_eq!((usual.portfolio, usual.objective.input.0), (Some(Portfolio::default()), LAMBDA_X));
    }

    #[test]
    fn clues_are_held_apart_by_the_distance_that_was_named() {
        let settings: SearchSettings = toml::from_str("diversity_distance = \"l1\"").unwrap();
        let search = settings.search(SearchMethod::Nabla, &[]).unwrap();
        let term = DiversityTerm { distance: Norm::L1, ..DiversityTerm::default() };
        assert_eq!(search.objective.diversity, Some(Weighted(DIVERSITY_WEIGHT, term)));
        assert!(settings.search(SearchMethod::Delta, &[]).is_err());
    }

    #[test]
    fn clues_are_accepted_by_what_is_minimised_unless_another_kind_is_named() {
        let by = |text: &str| {
            let settings: SearchSettings = toml::from_str(text).unwrap();
            settings.search(SearchMethod::Clue, &[]).unwrap().accepted_by()
        };
        assert_eq!(by(""), Uncertainty::Total);
        assert_eq!(by("uncertainty = [\"epistemic\"]"), Uncertainty::Epistemic);
        assert_eq!(by("uncertainty = [\"aleatoric=1\", \"epistemic=2\"]"), Uncertainty::Epistemic);
        assert_eq!(by("uncertainty = [\"epistemic\"]\naccept_by = \"total\""), Uncertainty::Total);
    }

    #[test]
    fn what_a_method_does_not_do_is_refused_under_its_key() {
        let refused = |text: &str, method| {
            let settings: SearchSettings = toml::from_str(text).unwrap();
            settings.search(method, &["a".into(), "b".into()]).unwrap_err().to_string()
        };
        assert!(refused("diversity = \"dpp=1\"", SearchMethod::Clue).contains("`diversity`"));
        assert!(refused("sequential = true", SearchMethod::Delta).contains("`sequential`"));
        assert!(refused("towards = [\"c\"]\ninit = [\"class-path\"]", SearchMethod::Delta).contains("`towards`"));
        assert!(refused("count = 3", SearchMethod::Clue).contains("`radius`"));
        assert!(toml::from_str::<SearchSettings>("radios = 1").unwrap_err().to_string().contains("radios"));
    }

    #[test]
    fn an_effort_is_for_evolution() {
        let way = |text: &str| toml::from_str::<SearchSettings>(text).unwrap().search(SearchMethod::Clue, &[]);
        let search = way("search = 'evolution'\neffort = 'thorough'").unwrap();
        assert_eq!((search.way, search.effort), (Way::Evolution, Effort::Thorough));
        assert_eq!(way("effort = 900").unwrap().effort, Effort::Evaluations(900));
        let problem = way("search = 'gradient'\neffort = 'quick'").unwrap_err().to_string();
        assert!(problem.contains("`effort`: is for a search by evolution"), "{problem}");
    }
}
