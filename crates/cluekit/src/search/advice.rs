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
    let beyond = Descent { origins: &free, objective: &uncertainty, coupling: None, watch: &|_, _| {}, ..*descent };
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
                let costs = [
                    (search.objective.has_distances(), " or a lower --lambda-x"),
                    (descent.coupling.is_some(), " or less weight on diversity"),
                ];
                let others: String = costs.iter().filter(|(counts, _)| *counts).map(|(_, remedy)| *remedy).collect();
                format!(
                    "there is one at {} when nothing but certainty counts: try --steps {steps}{others}",
                    figures(distance)
                )
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
                // The surest candidate is below the next hundredth; with another threshold an automatic ball would be
                // another one.
                let threshold = (f64::from(least) * 100.0).floor() / 100.0 + 0.01;
                let ball = match search.delta {
                    Delta::Auto | Delta::Wider(_) => {
                        radius.map_or(String::new(), |r| format!(" with --delta {}", figures(r.into())))
                    }
                    Delta::Fixed(_) => String::new(),
                };
                format!("none was found beyond either: more candidates (--count), or --threshold {threshold:.2}{ball}")
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
    fn radii_have_three_digits_that_say_something() {
        assert_eq!([0.27006918, 2.0, 0.0004, 1234.5, 3.2178].map(figures), ["0.27", "2", "0.0004", "1234", "3.22"]);
    }
}
