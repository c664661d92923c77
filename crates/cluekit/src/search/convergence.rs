//! When a search ends: after so many steps, or when the objective has stopped improving.

use crate::error::{Error, Result};
use crate::explanation::StopReason;
use serde::{Deserialize, Serialize};

/// The rule that ends a search.
///
/// ```
/// use cluekit::search::Convergence;
///
/// assert_eq!(Convergence::default().max_steps, 30);
/// assert_eq!(Convergence::all_steps(50).max_steps, 50);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Convergence {
    /// Largest number of steps.
    pub max_steps: usize,
    /// Least improvement that counts, as a share of the objective.
    pub relative: f32,
    /// Least improvement that counts, in units of the objective.
    pub absolute: f32,
    /// Number of steps without an improvement after which the search has converged.
    pub patience: usize,
}

impl Default for Convergence {
    fn default() -> Self {
        Self { max_steps: 30, relative: 1e-3, absolute: 1e-4, patience: 10 }
    }
}

impl Convergence {
    /// The rule that takes exactly `steps` steps.
    pub fn all_steps(steps: usize) -> Self {
        Self { max_steps: steps, patience: steps.saturating_add(1), ..Self::default() }
    }

    /// An error if the rule cannot be followed.
    pub fn validate(&self) -> Result<()> {
        let tolerance = |key: &str, value: f32| match value >= 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(Error::setting(key, format!("a tolerance must be 0 or a positive number, got {value}"))),
        };
        tolerance("relative", self.relative)?;
        tolerance("absolute", self.absolute)?;
        match self.patience {
            0 => Err(Error::setting("patience", "must be at least 1; 0 would end before the first step")),
            _ => Ok(()),
        }
    }
}

/// How far one search has come.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    best: f64,
    /// The objective at the last improvement that counted.
    mark: f64,
    idle: usize,
}

impl Default for Watch {
    fn default() -> Self {
        Self { best: f64::INFINITY, mark: f64::INFINITY, idle: 0 }
    }
}

impl Watch {
    /// Takes note of the objective at `step`: whether it is the best so far, and whether the search ends here.
    pub fn see(&mut self, loss: f64, step: usize, rule: &Convergence) -> (bool, Option<StopReason>) {
        if !loss.is_finite() {
            return (false, Some(StopReason::NotFinite));
        }
        let enough = f64::from(rule.absolute).max(f64::from(rule.relative) * loss.abs());
        if loss < self.mark - enough {
            (self.mark, self.idle) = (loss, 0);
        } else {
            self.idle += 1;
        }
        let better = loss < self.best;
        self.best = self.best.min(loss);
        let reason = match () {
            () if self.idle >= rule.patience => Some(StopReason::Converged),
            () if step >= rule.max_steps => Some(StopReason::MaxSteps),
            () => None,
        };
        (better, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(losses: &[f64], rule: Convergence) -> (usize, StopReason) {
        let mut watch = Watch::default();
        let ends = losses.iter().enumerate().find_map(|(step, &loss)| Some((step, watch.see(loss, step, &rule).1?)));
        ends.unwrap()
    }

    #[test]
    fn improvements_that_do_not_count_end_the_search() {
        let rule = Convergence { max_steps: 10, relative: 0.0, absolute: 0.1, patience: 2 };
        assert_eq!(end(&[1.0, 0.5, 0.45, 0.42, 0.41], rule), (3, StopReason::Converged));
    }

    #[test]
    fn small_steps_that_add_up_count() {
        let rule = Convergence { max_steps: 4, relative: 0.0, absolute: 0.1, patience: 2 };
        assert_eq!(end(&[1.0, 0.94, 0.88, 0.82, 0.76], rule), (4, StopReason::MaxSteps));
    }

    #[test]
    fn the_last_step_is_the_last() {
        assert_eq!(end(&[3.0, 2.0, 1.0], Convergence::all_steps(2)), (2, StopReason::MaxSteps));
    }

    #[test]
    fn numbers_that_are_none_end_the_search_at_once() {
        assert_eq!(end(&[1.0, f64::NAN], Convergence::default()), (1, StopReason::NotFinite));
    }

    #[test]
    fn the_best_is_told_from_the_rest() {
        let mut watch = Watch::default();
        let rule = Convergence::default();
        let better: Vec<bool> = [3.0, 4.0, 2.0].iter().map(|&loss| watch.see(loss, 0, &rule).0).collect();
        assert_eq!(better, [true, false, true]);
    }
}
