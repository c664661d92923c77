//! How different the candidates of one input are from each other: D(p₁ … p_k) of points in x, z or y space.
//!
//! One formula each in its own file. Every metric that does not count comes with its exact gradient, finite also where
//! points coincide. [Ley2022, Table 1]
//!
//! Of a single point the metrics that compare pairs are 0, and the others what their formula says: how far it reaches,
//! which share of the classes it covers. As an objective D is 0 there: one candidate has nobody to be diverse from.

mod average_pairwise_distance;
mod coverage;
mod distinct_labels;
mod dpp;
mod label_entropy;
#[cfg(test)]
mod laws;
mod norm;
mod pairwise;
mod prediction_coverage;
mod set;
mod space;
mod summary;

pub use coverage::coverage_limit;
pub use norm::Norm;
pub(crate) use pairwise::sign;
pub use set::Set;
pub use space::Space;
pub use summary::{InputAndLatent, Summary};

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use set::Points;

crate::named! {
    "diversity", "a diversity";
    /// The diversity metrics.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Diversity {
        /// det K of the kernel K_ij = 1/(1 + d_ij): 0 if two candidates coincide, towards 1 as all move apart.
        Dpp = "dpp",
        /// Logarithm log det K, to maximise where many candidates make det K too small for a useful gradient.
        LogDpp = "log-dpp",
        /// Mean distance between two candidates.
        AveragePairwiseDistance = "apd",
        /// Reach of the set from the original, up and down, averaged over the features.
        Coverage = "coverage",
        /// Coverage as the paper prints it: the mean range of the set.
        RangeCoverage = "range-coverage",
        /// Probability of a class for its surest candidate, averaged over the classes.
        PredictionCoverage = "prediction-coverage",
        /// Share of the classes that at least one candidate belongs to.
        DistinctLabels = "distinct-labels",
        /// Entropy of the candidates' classes, as a share of the greatest possible one.
        LabelEntropy = "label-entropy",
        /// The share of classes expected if each candidate draws its label from its prediction.
        SoftDistinctLabels = "soft-distinct-labels",
        /// Entropy of the mean prediction, as a share of the greatest possible one.
        SoftLabelEntropy = "soft-label-entropy",
    }
}

impl Diversity {
    /// The spaces that the metric can be measured in.
    pub const fn spaces(self) -> &'static [Space] {
        match self {
            Self::Dpp | Self::LogDpp | Self::AveragePairwiseDistance => &[Space::X, Space::Z, Space::Y],
            Self::Coverage | Self::RangeCoverage => &[Space::X, Space::Z],
            Self::PredictionCoverage
            | Self::DistinctLabels
            | Self::LabelEntropy
            | Self::SoftDistinctLabels
            | Self::SoftLabelEntropy => &[Space::Y],
        }
    }

    /// The space in which it is measured unless told otherwise: z where it can be, else y.
    pub fn default_space(self) -> Space {
        if self.spaces().contains(&Space::Z) { Space::Z } else { Space::Y }
    }

    /// An error that names the choices, if it makes no sense in `space`.
    pub fn check_space(self, space: Space) -> Result<()> {
        if self.spaces().contains(&space) {
            return Ok(());
        }
        let choices = space::names(self.spaces());
        Err(Error::setting("space", format!("`{self}` is not measured in {space}; choose one of {choices}")))
    }

    /// Whether it looks at distances between candidates, which can be of any [`Norm`].
    pub const fn compares_pairs(self) -> bool {
        matches!(self, Self::Dpp | Self::LogDpp | Self::AveragePairwiseDistance)
    }

    /// An error that names the choices, if a distance is chosen for a metric that looks at none.
    pub fn check_distance(self, distance: Norm) -> Result<()> {
        if self.compares_pairs() || distance == Norm::default() {
            return Ok(());
        }
        let choices: Vec<_> = Self::ALL.into_iter().filter(|metric| metric.compares_pairs()).map(Self::name).collect();
        let problem =
            format!("`{self}` looks at no distance between clues; it is for {}, or leave it out", choices.join(", "));
        Err(Error::setting("diversity_distance", problem))
    }

    /// The version with a gradient of a metric that counts labels; none for the others, which have one themselves.
    pub const fn soft(self) -> Option<Self> {
        match self {
            Self::DistinctLabels => Some(Self::SoftDistinctLabels),
            Self::LabelEntropy => Some(Self::SoftLabelEntropy),
            _ => None,
        }
    }

    /// An error that names the choices, if it has no gradient and so cannot be an objective.
    pub fn check_objective(self) -> Result<()> {
        if self.soft().is_some() { Err(self.not_differentiable()) } else { Ok(()) }
    }

    /// The least and the greatest value that it can take on points of `width` coordinates; those on labels if the
    /// points are probabilities.
    pub const fn bounds(self, width: usize) -> (f64, f64) {
        match self {
            Self::LogDpp => (f64::NEG_INFINITY, 0.0),
            Self::AveragePairwiseDistance | Self::Coverage | Self::RangeCoverage => (0.0, f64::INFINITY),
            Self::LabelEntropy | Self::SoftLabelEntropy if width < 2 => (0.0, 0.0),
            Self::Dpp
            | Self::PredictionCoverage
            | Self::DistinctLabels
            | Self::LabelEntropy
            | Self::SoftDistinctLabels
            | Self::SoftLabelEntropy => (0.0, 1.0),
        }
    }

    /// D of a set by Euclidean distances; 0 for no points, and for one point if it compares pairs.
    ///
    /// ```
    /// use cluekit::Diversity;
    /// use cluekit::diversity::Set;
    ///
    /// let set = Set { points: &[0.0, 1.0], width: 1, original: None }; // two candidates, one apart
    /// assert!((Diversity::Dpp.of(&set) - 0.75).abs() < 1e-9); // det [[1, ½], [½, 1]]
    /// assert!((Diversity::AveragePairwiseDistance.of(&set) - 1.0).abs() < 1e-9);
    /// ```
    pub fn of(self, set: &Set) -> f64 {
        self.of_by(set, Norm::L2)
    }

    /// D of a set by distances of this kind.
    ///
    /// ```
    /// use cluekit::Diversity;
    /// use cluekit::diversity::{Norm, Set};
    ///
    /// let set = Set { points: &[0.0, 0.0, 3.0, 4.0], width: 2, original: None };
    /// let apart = |norm| Diversity::AveragePairwiseDistance.of_by(&set, norm);
    /// assert_eq!((apart(Norm::L2), apart(Norm::L1)), (5.0, 7.0));
    /// ```
    pub fn of_by(self, set: &Set, distance: Norm) -> f64 {
        self.at(&Points::by(set, distance))
    }

    /// D of a set with ∂D/∂p of every coordinate of every point, row after row as in the set.
    ///
    /// Both are 0 for fewer than two points, which have nobody to be diverse from. An error for metrics that count labels, as in
    /// [`check_objective`](Self::check_objective).
    pub fn value_and_gradient(self, set: &Set) -> Result<(f64, Vec<f64>)> {
        self.value_and_gradient_by(set, Norm::L2)
    }

    /// The same by distances of this kind.
    pub fn value_and_gradient_by(self, set: &Set, distance: Norm) -> Result<(f64, Vec<f64>)> {
        self.with_gradient_at(&Points::by(set, distance))
    }

    /// Points that the formula needs.
    const fn fewest(self) -> usize {
        if self.compares_pairs() { 2 } else { 1 }
    }

    fn at(self, points: &Points) -> f64 {
        match self {
            _ if points.len() < self.fewest() => 0.0,
            Self::Dpp => dpp::determinant(points),
            Self::LogDpp => dpp::log_determinant(points),
            Self::AveragePairwiseDistance => average_pairwise_distance::average_pairwise_distance(points),
            Self::Coverage => coverage::coverage(points).0,
            Self::RangeCoverage => coverage::range_coverage(points).0,
            Self::PredictionCoverage => prediction_coverage::prediction_coverage(points).0,
            Self::DistinctLabels => distinct_labels::distinct_labels(points),
            Self::LabelEntropy => label_entropy::label_entropy(points),
            Self::SoftDistinctLabels => distinct_labels::soft_distinct_labels(points).0,
            Self::SoftLabelEntropy => label_entropy::soft_label_entropy(points).0,
        }
    }

    fn with_gradient_at(self, points: &Points) -> Result<(f64, Vec<f64>)> {
        Ok(match self {
            Self::DistinctLabels | Self::LabelEntropy => return Err(self.not_differentiable()),
            _ if points.len() < 2 => (0.0, points.zeros()),
            Self::Dpp => dpp::determinant_and_gradient(points),
            Self::LogDpp => dpp::log_determinant_and_gradient(points),
            Self::AveragePairwiseDistance => average_pairwise_distance::with_gradient(points),
            Self::Coverage => coverage::coverage(points),
            Self::RangeCoverage => coverage::range_coverage(points),
            Self::PredictionCoverage => prediction_coverage::prediction_coverage(points),
            Self::SoftDistinctLabels => distinct_labels::soft_distinct_labels(points),
            Self::SoftLabelEntropy => label_entropy::soft_label_entropy(points),
        })
    }

    /// Offers the soft version first, then everything else that has a gradient.
    fn not_differentiable(self) -> Error {
        let soft = self.soft();
        let others = Self::ALL.into_iter().filter(|other| other.soft().is_none() && Some(*other) != soft);
        let choices: Vec<_> = soft.into_iter().chain(others).map(Self::name).collect();
        Error::NotDifferentiable { name: self.name(), choices: choices.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let error = "variety".parse::<Diversity>().unwrap_err().to_string();
        assert!(
            error.starts_with("setting `diversity`: `variety` is not a diversity; choose one of dpp, log-dpp, apd, ")
        );
    }

    #[test]
    fn a_metric_that_counts_is_refused_as_objective_and_its_soft_version_offered_first() {
        let error = Diversity::LabelEntropy.check_objective().unwrap_err().to_string();
        assert_eq!(
            error,
            "`label-entropy` cannot be optimised: it counts labels and has no gradient; choose one of \
             soft-label-entropy, dpp, log-dpp, apd, coverage, range-coverage, prediction-coverage, soft-distinct-labels"
        );
    }

    #[test]
    fn a_wrong_space_is_told_the_right_ones() {
        assert!(Diversity::Dpp.check_space(Space::Y).is_ok());
        let error = Diversity::Coverage.check_space(Space::Y).unwrap_err().to_string();
        assert_eq!(error, "setting `space`: `coverage` is not measured in y; choose one of x, z");
    }

    #[test]
    fn a_distance_is_for_metrics_that_compare_pairs() {
        assert!(Diversity::LogDpp.check_distance(Norm::L1).is_ok());
        assert!(Diversity::Coverage.check_distance(Norm::L2).is_ok());
        let error = Diversity::Coverage.check_distance(Norm::L1).unwrap_err().to_string();
        assert_eq!(
            error,
            "setting `diversity_distance`: `coverage` looks at no distance between clues; it is for dpp, log-dpp, apd, \
             or leave it out"
        );
    }

    #[test]
    fn candidates_are_compared_by_code_and_labels_by_prediction() {
        assert_eq!(Diversity::Coverage.default_space(), Space::Z);
        assert_eq!(Diversity::LabelEntropy.default_space(), Space::Y);
    }
}
