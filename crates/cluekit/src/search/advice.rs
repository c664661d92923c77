//! What to try next for an input without an accepted clue.
//!
//! The search is repeated without the ball from where the candidates ended, and the way to each certain point that it
//! finds is walked from z₀: how far is the first certain point on it? So the advice names a radius that would do.
//!
//! Tables that were searched by more than the paper's methods have advice of their own: the nearest miss, and which
//! constraint is in the way.

use super::certificate::{Acceptance, certify};
use super::descent::{Descent, Start};
use super::objective::Objective;
use super::origin::Origin;
use super::portfolio::nearest_misses;
use super::{Delta, LatentBall, Search, sparse};
use crate::error::{Remedy, Result, SettingValue};
use crate::explanation::advice::rounded;
use crate::explanation::{Advice, Clue, Searched};

/// Points on the way from z₀ to a certain point.
const STATIONS: usize = 24;
/// How much farther than the nearest point found the advised ball reaches.
const MARGIN: f64 = 1.05;
/// Candidates of one input that are followed beyond the ball.
const MOST_FOLLOWED: usize = 10;

/// For each input without an accepted clue what to try next.
pub(super) fn next_steps(
    search: &Search,
    descent: &Descent,
    sets: &[Vec<Clue>],
    acceptance: Acceptance,
) -> Result<Vec<Option<Advice>>> {
    let unexplained: Vec<usize> = (0..sets.len()).filter(|&i| sets[i].iter().all(|clue| !clue.accepted)).collect();
    let mut advice = vec![None; sets.len()];
    if unexplained.is_empty() {
        return Ok(advice);
    }
    let beside = search.portfolio.as_ref().zip(descent.background.rows.as_deref());
    let table = descent.models.schema.is_some_and(|schema| schema.image.is_none());
    let bounded = matches!(search.delta, Delta::Fixed(ball) if ball.bound().is_some());
    if let (Some((portfolio, rows)), true, false) = (beside, table, bounded) {
        let misses = nearest_misses(search, portfolio, descent, rows, &unexplained)?;
        unexplained.into_iter().zip(misses).for_each(|(input, miss)| advice[input] = Some(miss));
        return Ok(advice);
    }
    let free: Vec<Origin> =
        descent.origins.iter().map(|origin| Origin { ball: LatentBall::UNBOUNDED, ..origin.clone() }).collect();
    // Nothing but the uncertainty, so that no other term keeps it from being found.
    let uncertainty = Objective { uncertainty: search.objective.uncertainty, ..Objective::default() };
    // These steps are not counted as steps of the search.
    let watch = |_: usize, _: f64| descent.go_on();
    let beyond =
        Descent { origins: &free, objective: &uncertainty, coupling: None, watch: &watch, traced: false, ..*descent };
    let nearest = nearest_beyond(&beyond, &unexplained, sets, acceptance)?;
    let constrained = descent.models.schema.is_some_and(|schema| !schema.constraints.allow_everything());
    for (&input, nearest) in unexplained.iter().zip(nearest) {
        let least = sets[input].iter().map(|clue| clue.uncertainty.get(acceptance.kind)).fold(f32::INFINITY, f32::min);
        let delta = descent.origins[input].ball.bound();
        let steps = search.convergence.max_steps;
        let searched = Searched { threshold: acceptance.threshold, delta, steps };
        advice[input] = Some(match nearest {
            Some(nearest) if delta.is_none_or(|radius| nearest <= f64::from(radius)) => {
                let mut again = again_within(search.delta, delta);
                again.push(("steps", (2 * steps.max(15)).into()));
                let mut remedies = vec![Remedy::set(again)];
                remedies.extend(lighter(&search.objective, descent.coupling.is_some()));
                Advice::WithinReach { searched, nearest, remedies }
            }
            Some(nearest) => {
                let remedies = vec![Remedy::set([("delta", rounded(nearest * MARGIN))]), Remedy::raise("steps")];
                Advice::FartherAway { searched, nearest, remedies }
            }
            None if constrained => {
                let remedies = vec![Remedy::LoosenConstraints, Remedy::raise("threshold")];
                Advice::NoneFound { searched, remedies }
            }
            None => {
                let mut remedies = vec![Remedy::raise("count")];
                remedies.extend(just_above(least).map(|threshold| {
                    let mut again = again_within(search.delta, delta);
                    again.push(("threshold", threshold.into()));
                    if let Delta::Wider(_) = search.delta {
                        again.push(("steps", steps.into()));
                    }
                    Remedy::set(again)
                }));
                Advice::NoneFound { searched, remedies }
            }
        });
    }
    Ok(advice)
}

/// The latent distance of the nearest certain point that a search without a ball finds, for each of the `inputs`.
fn nearest_beyond(
    beyond: &Descent,
    inputs: &[usize],
    sets: &[Vec<Clue>],
    acceptance: Acceptance,
) -> Result<Vec<Option<f64>>> {
    let followed = |&input: &usize| sets[input].iter().take(MOST_FOLLOWED).map(move |clue| (input, clue));
    let start = |(input, clue): (usize, &Clue)| Start { input, z: clue.z.clone(), bounds: None };
    let starts: Vec<Start> = inputs.iter().flat_map(followed).map(start).collect();
    let mut ends = beyond.run(&starts, 1, &[])?;
    if let Some(most) = beyond.models.schema.and_then(|schema| schema.constraints.most_changed) {
        ends = sparse::with_fewer_changes(beyond, &ends, most)?;
    }
    let certain = certify(beyond, &ends, acceptance)?;
    let mut stations = Vec::new();
    for (end, _) in ends.iter().zip(&certain).filter(|(_, clue)| clue.accepted) {
        for station in 1..=STATIONS {
            let share = station as f32 / STATIONS as f32;
            let z = beyond.origins[end.input].z.iter().zip(&end.z).map(|(a, b)| a + share * (b - a)).collect();
            stations.push(super::descent::End { z, x: None, ..end.clone() });
        }
    }
    let mut nearest: Vec<Option<f64>> = vec![None; sets.len()];
    for (station, clue) in stations.iter().zip(certify(beyond, &stations, acceptance)?) {
        let distance = f64::from(clue.distance.latent);
        if clue.accepted && nearest[station.input].is_none_or(|least| distance < least) {
            nearest[station.input] = Some(distance);
        }
    }
    Ok(inputs.iter().map(|&input| nearest[input]).collect())
}

/// The setting that keeps a ball as it was: another threshold or another round would choose another one.
fn again_within(delta: Delta, radius: Option<f32>) -> Vec<(&'static str, SettingValue)> {
    match (delta, radius) {
        (Delta::Auto | Delta::Wider(_), Some(radius)) => vec![("delta", rounded(radius.into()).into())],
        _ => vec![],
    }
}

/// What else than certainty could count for less.
fn lighter(objective: &Objective, coupled: bool) -> Vec<Remedy> {
    let weights = [
        (objective.input.0, "lambda_x"),
        (objective.prediction, "lambda_y"),
        (objective.latent, "lambda_z"),
        (objective.prior, "lambda_p"),
    ];
    let counts = weights.into_iter().filter(|(weight, _)| *weight > 0.0);
    // A clue alone need not differ from others.
    let alone = coupled.then(|| Remedy::set([("count", 1)]));
    counts.map(|(_, setting)| Remedy::lower(setting)).chain(alone).collect()
}

/// A number of three digits above `least`, also once it is read as one of 32 bits.
pub(super) fn just_above(least: f32) -> Option<f64> {
    if !least.is_finite() || least <= 0.0 {
        return None;
    }
    let exponent = f64::from(least).log10().floor() as i32 - 2;
    let unit = 10_f64.powi(exponent);
    let units = (f64::from(least) / unit).floor() + 1.0;
    let units = if (units * unit) as f32 > least { units } else { units + 1.0 };
    format!("{:.*}", (-exponent).max(0) as usize, units * unit).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_just_above_an_uncertainty_is_read_as_more_than_it() {
        assert_eq!([0.374, 0.29, 0.001_234].map(|h| just_above(h).unwrap()), [0.375, 0.291, 0.00124]);
        assert_eq!(
            [1.5, 999.9, 200_000.02, 3.4e7].map(|h| just_above(h).unwrap()),
            [1.51, 1000.0, 201_000.0, 34_100_000.0]
        );
        assert_eq!([f32::INFINITY, f32::NAN, 0.0].map(just_above), [None, None, None]);
        for least in [0.29_f32, 0.1, 0.7, 0.999_999, 1e-7, 131_072.02, 3e9] {
            assert!(just_above(least).unwrap() as f32 > least, "{least}");
        }
    }

    #[test]
    fn a_ball_that_was_chosen_automatically_is_kept() {
        let fixed = Delta::Fixed(LatentBall::new(2.0).unwrap());
        let settings = |delta| again_within(delta, Some(2.0));
        let kept = || vec![("delta", SettingValue::Number(2.0))];
        assert_eq!([settings(Delta::Auto), settings(Delta::Wider(4)), settings(fixed)], [kept(), kept(), vec![]]);
    }

    #[test]
    fn only_weights_that_count_can_be_lowered() {
        let near =
            Objective { input: crate::search::Weighted(0.03, crate::distance::Distance::L1), ..Objective::default() };
        let likely = Objective { prior: 0.1, ..Objective::default() };
        assert_eq!(lighter(&Objective::default(), false), []);
        assert_eq!(lighter(&near, true), [Remedy::lower("lambda_x"), Remedy::set([("count", 1)])]);
        assert_eq!(lighter(&likely, false), [Remedy::lower("lambda_p")]);
    }
}
