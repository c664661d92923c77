//! What to try next for an input without an accepted clue.
//!
//! The search is repeated without the ball from where the candidates ended, and the way to each certain point that it
//! finds is walked from z₀: how far is the first certain point on it? So the advice names a radius that would do.

use super::certificate::{Acceptance, certify};
use super::descent::{Descent, Start};
use super::objective::Objective;
use super::origin::Origin;
use super::{Delta, LatentBall, Search, sparse};
use crate::error::Result;
use crate::explanation::Clue;

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
) -> Result<Vec<Option<String>>> {
    let unexplained: Vec<usize> = (0..sets.len()).filter(|&i| sets[i].iter().all(|clue| !clue.accepted)).collect();
    let mut advice = vec![None; sets.len()];
    if unexplained.is_empty() {
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
    let constrained = descent.models.schema.is_some_and(|schema| !schema.constraints.is_empty());
    for (&input, nearest) in unexplained.iter().zip(nearest) {
        let least = sets[input].iter().map(|clue| clue.uncertainty.get(acceptance.kind)).fold(f32::INFINITY, f32::min);
        let threshold = acceptance.threshold;
        let radius = descent.origins[input].ball.bound();
        let fact = match radius {
            Some(radius) => format!("the search found no clue below {threshold} within δ = {}", figures(radius.into())),
            None => format!("the search found no clue below {threshold} after {} steps", search.convergence.max_steps),
        };
        let within = nearest.filter(|distance| radius.is_none_or(|radius| *distance <= f64::from(radius)));
        let remedy = match (nearest, within) {
            (_, Some(distance)) => {
                let steps = 2 * search.convergence.max_steps.max(15);
                let ball = again_within(search.delta, radius);
                let others = lighter(&search.objective, descent.coupling.is_some());
                let at = figures(distance);
                format!("there is one at {at} when nothing but certainty counts: try {ball}--steps {steps}{others}")
            }
            (Some(distance), None) => {
                let at = figures(distance);
                format!(
                    "the nearest found lies at {at}: try --delta {}, and more --steps if that is not enough",
                    figures(distance * MARGIN)
                )
            }
            (None, None) if constrained => {
                "none was found beyond either: loosen the constraints, or raise --threshold".into()
            }
            (None, None) => {
                let enough = just_above(least).map_or(String::new(), |threshold| {
                    let ball = again_within(search.delta, radius);
                    let steps = match search.delta {
                        Delta::Wider(_) => format!(" --steps {}", search.convergence.max_steps),
                        _ => String::new(),
                    };
                    format!(", or {ball}--threshold {threshold}{steps}")
                });
                format!("none was found beyond either: more candidates (--count){enough}")
            }
        };
        advice[input] = Some(format!("{fact}; {remedy}"));
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
            stations.push(super::descent::End { z, ..end.clone() });
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

/// The option that keeps a ball as it was: another threshold or another round would choose another one.
fn again_within(delta: Delta, radius: Option<f32>) -> String {
    match (delta, radius) {
        (Delta::Auto | Delta::Wider(_), Some(radius)) => format!("--delta {} ", figures(radius.into())),
        _ => String::new(),
    }
}

/// What else than certainty could count for less.
fn lighter(objective: &Objective, coupled: bool) -> String {
    let weights = [
        (objective.input.0 > 0.0, " or a lower --lambda-x"),
        (objective.input.0 <= 0.0 && objective.has_distances(), " or less weight on distances"),
        (coupled, " or --count 1, which need not differ from others"),
    ];
    weights.iter().filter(|(counts, _)| *counts).map(|(_, remedy)| *remedy).collect()
}

/// A number of three digits above `least`, also once it is read as one of 32 bits.
fn just_above(least: f32) -> Option<String> {
    if !least.is_finite() || least <= 0.0 {
        return None;
    }
    let exponent = f64::from(least).log10().floor() as i32 - 2;
    let unit = 10_f64.powi(exponent);
    let units = (f64::from(least) / unit).floor() + 1.0;
    let units = if (units * unit) as f32 > least { units } else { units + 1.0 };
    Some(format!("{:.*}", (-exponent).max(0) as usize, units * unit))
}

/// Three digits that say something.
fn figures(value: f64) -> String {
    let decimals = (2 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_just_above_an_uncertainty_is_read_as_more_than_it() {
        assert_eq!([0.374, 0.29, 0.001_234].map(|h| just_above(h).unwrap()), ["0.375", "0.291", "0.00124"]);
        assert_eq!(
            [1.5, 999.9, 200_000.02, 3.4e7].map(|h| just_above(h).unwrap()),
            ["1.51", "1000", "201000", "34100000"]
        );
        assert_eq!([f32::INFINITY, f32::NAN, 0.0].map(just_above), [None, None, None]);
        for least in [0.29_f32, 0.1, 0.7, 0.999_999, 1e-7, 131_072.02, 3e9] {
            assert!(just_above(least).unwrap().parse::<f32>().unwrap() > least, "{least}");
        }
    }

    #[test]
    fn a_ball_that_was_chosen_automatically_is_kept() {
        let fixed = Delta::Fixed(LatentBall::new(2.0).unwrap());
        let options = |delta| again_within(delta, Some(2.0));
        assert_eq!([options(Delta::Auto), options(Delta::Wider(4)), options(fixed)], ["--delta 2 ", "--delta 2 ", ""]);
    }

    #[test]
    fn only_weights_that_count_can_be_lowered() {
        let near =
            Objective { input: crate::search::Weighted(0.03, crate::distance::Distance::L1), ..Objective::default() };
        let likely = Objective { prior: 0.1, ..Objective::default() };
        assert_eq!(lighter(&Objective::default(), false), "");
        assert_eq!(lighter(&near, true), " or a lower --lambda-x or --count 1, which need not differ from others");
        assert_eq!(lighter(&likely, false), " or less weight on distances");
    }

    #[test]
    fn radii_have_three_digits_that_say_something() {
        assert_eq!([0.27006918, 2.0, 0.0004, 1234.5, 3.2178].map(figures), ["0.27", "2", "0.0004", "1234", "3.22"]);
    }
}
