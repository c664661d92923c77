//! What a measurement gave: seconds, and how good the clues are.

use super::memory;
use cluekit::Explanation;
use cluekit::prediction::Prediction;

/// How good some clues are: means over all of them, accepted or not, as all samples judge them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// H + λ_x d.
    pub cost: f64,
    /// H.
    pub uncertainty: f64,
    /// d, the distance to the input.
    pub distance: f64,
    /// The determinant of each input's clues as codes; none of single clues.
    pub dpp: Option<f64>,
    /// Share of the clues that are accepted; none where nobody told.
    pub certain: Option<f64>,
}

impl Quality {
    /// Means over explanations.
    pub fn of(explanations: &[Explanation]) -> Self {
        let clues = || explanations.iter().flat_map(|explanation| &explanation.clues);
        let dpps = || explanations.iter().filter(|of| of.clues.len() > 1).map(|of| of.diversity.dpp.z);
        Self {
            cost: mean(clues().map(|clue| f64::from(clue.cost))),
            uncertainty: mean(clues().map(|clue| f64::from(clue.uncertainty.total))),
            distance: mean(clues().map(|clue| f64::from(clue.distance.input))),
            dpp: dpps().next().is_some().then(|| mean(dpps())),
            certain: Some(mean(clues().map(|clue| f64::from(u8::from(clue.accepted))))),
        }
    }

    /// The same for inputs that nobody changed: their distance is 0, and their cost the uncertainty alone.
    pub fn of_unchanged(predictions: &[Prediction], threshold: f32) -> Self {
        let totals = || predictions.iter().map(|prediction| prediction.uncertainty.total);
        let uncertainty = mean(totals().map(f64::from));
        let certain = Some(mean(totals().map(|total| f64::from(u8::from(total < threshold)))));
        Self { cost: uncertainty, uncertainty, certain, ..Self::default() }
    }
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// How long it took.
    pub seconds: f64,
    /// How good the clues are.
    pub quality: Quality,
    /// The most memory meanwhile in megabytes; none where it is unknown.
    pub peak: Option<f64>,
}

/// Measurements of the same work, round after round.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Seconds of each round.
    pub rounds: Vec<f64>,
    /// How good the clues are; the same in every round.
    pub quality: Quality,
    /// The most memory of any round in megabytes.
    pub peak: Option<f64>,
}

impl Measured {
    /// The seconds of the middle round.
    pub fn seconds(&self) -> f64 {
        median(&self.rounds)
    }

    /// Takes in another round.
    pub fn add(&mut self, sample: Sample) {
        self.rounds.push(sample.seconds);
        self.quality = sample.quality;
        self.peak = greater(self.peak, sample.peak);
    }
}

/// The greater of two peaks, of which each may be unknown.
pub fn greater(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::max)
}

/// The value in the middle; of an even number the mean of the two in the middle, of none no number.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Seconds of one step, from the seconds of `steps` and of twice as many; none where noise drowns it.
pub fn of_one_step(once: f64, twice: f64, steps: usize) -> Option<f64> {
    Some((twice - once) / steps as f64).filter(|seconds| *seconds > 0.0)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

/// Runs some work, measured.
pub fn measured<T>(
    work: impl FnOnce() -> anyhow::Result<T>,
    quality: impl FnOnce(T) -> Quality,
) -> anyhow::Result<Sample> {
    let knows = memory::forget_peak();
    let begun = std::time::Instant::now();
    let done = work()?;
    let seconds = begun.elapsed().as_secs_f64();
    let peak = if knows { memory::peak() } else { None };
    Ok(Sample { seconds, quality: quality(done), peak })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::audit::fixture::digits;
    use cluekit::prediction::UncertaintyParts;

    fn is(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    #[test]
    fn the_median_does_not_mind_the_order_or_one_slow_round() {
        is(median(&[3.0, 100.0, 1.0, 2.0, 2.5]), 2.5);
        is(median(&[4.0, 1.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_step_is_what_more_steps_take_longer() {
        is(of_one_step(1.0, 1.6, 30).unwrap(), 0.02);
        assert_eq!(of_one_step(1.0, 0.9, 30), None);
    }

    #[test]
    fn rounds_add_up() {
        let mut measured = Measured::default();
        for (seconds, peak) in [(3.0, None), (1.0, Some(20.0)), (2.0, Some(10.0))] {
            measured.add(Sample { seconds, quality: Quality { cost: seconds, ..Quality::default() }, peak });
        }
        is(measured.seconds(), 2.0);
        is(measured.quality.cost, 2.0);
        assert_eq!(measured.peak, Some(20.0));
    }

    #[test]
    fn an_input_that_nobody_changed_costs_its_uncertainty() {
        let says = |total| Prediction {
            mean: vec![],
            uncertainty: UncertaintyParts { total, aleatoric: total, epistemic: 0.0 },
        };
        let quality = Quality::of_unchanged(&[says(0.25), says(0.75)], 0.5);
        is(quality.cost, 0.5);
        is(quality.distance, 0.0);
        assert_eq!((quality.certain, quality.dpp), (Some(0.5), None));
    }

    #[test]
    fn means_are_taken_over_all_clues() {
        let mut two = [digits(1), digits(3)];
        for (cost, clue) in two.iter_mut().flat_map(|explanation| &mut explanation.clues).enumerate() {
            (clue.cost, clue.accepted) = (cost as f32, cost == 0);
        }
        two[1].diversity.dpp.z = 0.5;
        let quality = Quality::of(&two);
        is(quality.cost, 1.5);
        // One of four is accepted, and one clue alone is not diverse.
        assert_eq!((quality.certain, quality.dpp), (Some(0.25), Some(0.5)));
    }
}
