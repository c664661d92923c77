//! The search for counterfactuals: CLUE, δ-CLUE and ∇-CLUE are recipes for one loop. [Ley2022, Eq. 1, Alg. 1, Alg. 3]
//!
//! ```text
//! starts (init, path, spread) ─► descent (objective + coupling, ball, convergence) ─► certificate ─► explanation
//! ```
//!
//! | method | ball | starts | candidates |
//! |---|---|---|---|
//! | CLUE | none | z₀ | 1 |
//! | δ-CLUE | δ | schemes S1 to S5 | k, independent |
//! | ∇-CLUE | δ | schemes S1 to S5 | k, held apart by a diversity |
//!
//! A descent follows the gradient, or, for models that only answer, a distribution that evolves.

mod advice;
mod ball;
mod certain;
mod certificate;
mod class_name;
mod convergence;
mod coupling;
mod decoding;
mod delta;
mod descent;
mod evolution;
mod explain;
mod init;
mod jury;
mod models;
mod modes;
mod objective;
mod origin;
mod outside;
mod path;
mod plausibility;
mod portfolio;
mod prepared;
mod regions;
mod schedule;
mod settings;
mod sparse;
mod spread;
mod summary;
mod threshold;
mod way;

use crate::data::Task;
use crate::diversity::{Diversity, Space};
use crate::error::{Error, Result};
use crate::uncertainty::Uncertainty;
pub use ball::LatentBall;
pub use certain::{Certain, Nearest};
pub use class_name::ClassName;
pub use convergence::Convergence;
pub use coupling::Order;
pub use decoding::Decoding;
pub use delta::{Delta, Radii};
pub use init::{InitScheme, Starts};
pub use jury::{Juror, Jury};
pub use models::{Background, Inputs, Models, Price};
pub use objective::{DiversityTerm, Objective, UncertaintyWeights, Weighted};
pub use outside::Usual;
pub(crate) use plausibility::MOST_ROWS as PLAUSIBLE_ROWS;
pub use plausibility::Plausible;
pub use portfolio::{Portfolio, Scan, TrainingRows};
pub use prepared::{Prepared, Proposal};
pub use schedule::{Phase, SamplesPerStep, Schedule};
pub use settings::{SearchMethod, SearchSettings};
pub(crate) use threshold::ROWS as THRESHOLD_ROWS;
pub use threshold::{unsure_above, usual_threshold};
pub use way::{Effort, Way};

/// Clues for one input at the most, so that a mistyped number is an error and not an allocation.
const MOST_CLUES: usize = 100_000;
/// Steps of one search at the most.
const MOST_STEPS: usize = 1_000_000;

/// Further searches around the best clues of each input. [Ley2022, App. B]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubSearches {
    /// Number of best clues to search around: the accepted before the rejected, each by rising cost.
    pub best: usize,
    /// Number of starts around each of these clues.
    pub each: usize,
    /// Greatest latent distance of a start from its clue.
    pub radius: f32,
}

/// A search: every setting of a method.
///
/// The recipes [`Search::clue`], [`Search::delta_clue`] and [`Search::nabla_clue`] fill in what the paper says; struct
/// update changes the rest.
///
/// ```
/// use cluekit::search::Decoding;
/// use cluekit::{Delta, Search};
///
/// let search = Search { decoding: Decoding::Anchored, ..Search::delta_clue(Delta::Auto, 5) };
/// assert_eq!(search.count, 5);
/// search.validate()?;
/// # Ok::<(), cluekit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Objective L to minimise, term by term.
    pub objective: Objective,
    /// Ball around z₀ that candidates stay in.
    pub delta: Delta,
    /// Number k of candidates for each input; 1 for CLUE.
    pub count: usize,
    /// Where the candidates start.
    pub starts: Starts,
    /// Whether a diversity couples candidates at once or one after another.
    pub order: Order,
    /// How a latent code becomes an input.
    pub decoding: Decoding,
    /// By the gradient, by evolution, or by what the models allow.
    pub way: Way,
    /// How often evolution evaluates the objective for each candidate.
    pub effort: Effort,
    /// Which posterior samples the steps ask, and whether they become shorter.
    pub schedule: Schedule,
    /// Learning rate of Adam on L, the first one where it falls; 0.1 by default.
    pub learning_rate: f32,
    /// Rule that ends a search.
    pub convergence: Convergence,
    /// A clue is accepted below this uncertainty, in nats (for a regression in the target's unit).
    pub threshold: f32,
    /// Kind of uncertainty that the threshold is for; none for the kind that the search minimises.
    pub accept_by: Option<Uncertainty>,
    /// Further searches around the best clues; none by default.
    pub sub_searches: Option<SubSearches>,
    /// Whether clues come with their plausibility, which takes a look at some training rows first.
    pub plausibility: bool,
    /// Whether each clue comes with the codes on the way to it.
    pub traced: bool,
    /// What is tried beside the descents of the paper; none for the paper's methods as they are.
    pub portfolio: Option<Portfolio>,
    /// Whether inputs without an accepted clue come with advice, which takes a search of its own.
    pub advised: bool,
}

impl Search {
    /// CLUE: one search from z₀, free to go anywhere.
    ///
    /// ```
    /// use cluekit::Search;
    ///
    /// let search = Search::clue();
    /// assert_eq!((search.count, search.convergence.max_steps), (1, 30));
    /// assert_eq!(search.delta.to_string(), "inf");
    /// ```
    pub fn clue() -> Self {
        Self {
            objective: Objective::default(),
            delta: Delta::Fixed(LatentBall::UNBOUNDED),
            count: 1,
            starts: Starts::at_the_input(),
            order: Order::Simultaneous,
            decoding: Decoding::Mean,
            way: Way::default(),
            effort: Effort::default(),
            schedule: Schedule::Paper,
            learning_rate: 0.1,
            convergence: Convergence::default(),
            threshold: 0.3,
            accept_by: None,
            sub_searches: None,
            plausibility: true,
            traced: false,
            portfolio: None,
            advised: true,
        }
    }

    /// δ-CLUE: `count` independent searches that never leave the ball around z₀.
    ///
    /// ```
    /// use cluekit::search::LatentBall;
    /// use cluekit::{Delta, Search};
    ///
    /// let search = Search::delta_clue("3.5".parse()?, 10);
    /// assert_eq!((search.count, search.delta), (10, Delta::Fixed(LatentBall::new(3.5)?)));
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn delta_clue(delta: Delta, count: usize) -> Self {
        Self { delta, count, starts: Starts::default(), ..Self::clue() }
    }

    /// ∇-CLUE: `count` searches in the ball that are held apart by `diversity`.
    ///
    /// ```
    /// use cluekit::search::{DiversityTerm, Weighted};
    /// use cluekit::{Delta, Diversity, Search};
    ///
    /// let search = Search::nabla_clue(Delta::Auto, 6, Weighted(0.5, DiversityTerm::default()));
    /// let Weighted(lambda_d, term) = search.objective.diversity.expect("the term that was given");
    /// assert_eq!((lambda_d, term.metric), (0.5, Diversity::Dpp));
    /// assert!(search.needs_certain()); // for the automatic δ
    /// ```
    pub fn nabla_clue(delta: Delta, count: usize, diversity: Weighted<DiversityTerm>) -> Self {
        let clue = Self::delta_clue(delta, count);
        Self { objective: Objective { diversity: Some(diversity), ..clue.objective }, ..clue }
    }

    /// The search that judges what mappers propose: it takes no step of its own.
    pub fn judging() -> Self {
        Self { convergence: Convergence::all_steps(0), ..Self::clue() }
    }

    /// An error if a setting cannot be used.
    pub fn validate(&self) -> Result<()> {
        self.objective.validate()?;
        self.starts.validate()?;
        self.convergence.validate()?;
        self.effort.validate()?;
        self.schedule.validate()?;
        let positive = |key: &str, value: f32| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(Error::setting(key, format!("must be a positive number, got {value}"))),
        };
        positive("learning_rate", self.learning_rate)?;
        positive("threshold", self.threshold)?;
        let most = |key: &str, value: usize, most: usize| match value <= most {
            true => Ok(()),
            false => Err(Error::setting(key, format!("is {value}; at most {most} make sense"))),
        };
        if self.count == 0 {
            return Err(Error::setting("count", "is 0; ask for at least one clue for each input"));
        }
        most("count", self.count, MOST_CLUES)?;
        most("steps", self.convergence.max_steps, MOST_STEPS)?;
        most("spread_starts", self.starts.spread, MOST_STEPS)?;
        if let Some(SubSearches { best, each, radius }) = self.sub_searches {
            positive("sub_radius", radius)?;
            if best == 0 || each == 0 {
                return Err(Error::setting("sub_searches", "needs at least one clue to search around, and one start"));
            }
            most("sub_searches", best.saturating_mul(each), MOST_CLUES)?;
        }
        Ok(())
    }

    /// Kind of uncertainty that clues are accepted by: the one that was named, else the one with the greatest weight in
    /// the objective.
    ///
    /// ```
    /// use cluekit::search::{Objective, UncertaintyWeights};
    /// use cluekit::{Search, Uncertainty};
    ///
    /// let objective = Objective { uncertainty: UncertaintyWeights::only(Uncertainty::Epistemic), ..Objective::default() };
    /// let search = Search { objective, ..Search::clue() };
    /// assert_eq!(search.accepted_by(), Uncertainty::Epistemic);
    /// let by_total = Search { accept_by: Some(Uncertainty::Total), ..search };
    /// assert_eq!(by_total.accepted_by(), Uncertainty::Total);
    /// ```
    pub fn accepted_by(&self) -> Uncertainty {
        self.accept_by.unwrap_or_else(|| self.objective.uncertainty.heaviest())
    }

    /// Refuses a diversity of labels where there are none.
    fn fits(&self, task: &Task) -> Result<()> {
        let labels = |metric: Diversity| metric.spaces() == [Space::Y];
        match self.objective.diversity {
            Some(Weighted(_, DiversityTerm { metric, .. })) if task.is_regression() && labels(metric) => {
                let problem =
                    format!("`{metric}` looks at classes, and a regression has none; choose dpp, apd or coverage");
                Err(Error::setting("diversity", problem))
            }
            _ => Ok(()),
        }
    }

    /// Whether the search needs certain training points: for the automatic δ, or for starts on the way to them.
    pub fn needs_certain(&self) -> bool {
        self.delta.times().is_some() || self.starts.schemes.contains(&InitScheme::NearestPath)
    }
}
