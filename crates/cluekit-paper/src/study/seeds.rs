//! How much of δ-CLUE and ∇-CLUE depends on the seed of their starts. [Ley2022, "Related and Future Work"]

use super::metrics::{MEASURES, of_all};
use super::settings::settings;
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::{figure, mean, spread_over_inputs};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::error::Result;
use cluekit::measure::{MeanInterval, bootstrap_mean};
use cluekit::search::{DiversityTerm, Weighted};
use cluekit::seed::Seed;
use cluekit_plot::{Axis, Colour, Grid, Line, Plot, Scatter};
use std::collections::BTreeSet;

/// Fewer seeds tell nothing of their spread.
const LEAST_SEEDS: usize = 3;

settings! {
    /// Which seeds.
    pub struct Seeds: Sets of String {
        /// δ = r.
        pub delta: f32,
        /// λ_D of ∇-CLUE.
        pub diversity: f32,
        /// The seeds.
        pub seeds: Vec<u64>,
    }
}

/// A method's values of one quantity, one for each seed.
pub(super) struct Series {
    pub method: String,
    pub quantity: String,
    pub values: Vec<f64>,
}

impl Series {
    pub fn interval(&self) -> MeanInterval {
        let missing = MeanInterval { mean: f64::NAN, low: f64::NAN, high: f64::NAN };
        bootstrap_mean(&self.values, Seed(0), &format!("{} {}", self.method, self.quantity)).unwrap_or(missing)
    }

    /// The standard deviation over seeds as a share of the mean.
    pub fn variation(&self) -> f64 {
        let average = mean(self.values.iter().copied());
        let squares: f64 = self.values.iter().map(|v| (v - average).powi(2)).sum();
        (squares / (self.values.len() as f64 - 1.0)).sqrt() / average.abs()
    }

    pub fn table(series: &[Self]) -> Table {
        let mut table =
            Table::new("seeds", &["method", "quantity", "mean", "low", "high", "deviation / mean", "values"]);
        for one in series {
            let MeanInterval { mean, low, high } = one.interval();
            let values: Vec<String> = one.values.iter().map(|&v| figure(v)).collect();
            let words = vec![one.method.as_str().into(), one.quantity.as_str().into()];
            let numbers = [mean, low, high, one.variation()].map(Into::into).to_vec();
            table.push([words, numbers, vec![values.join(" ").into()]].concat());
        }
        table
    }

    /// A panel for each quantity: every seed, and the interval of the mean.
    pub fn picture(title: &str, series: &[Self]) -> String {
        let mut quantities: Vec<&str> = Vec::new();
        series.iter().for_each(|one| {
            if !quantities.contains(&one.quantity.as_str()) {
                quantities.push(&one.quantity)
            }
        });
        let plot = |quantity: &&str| {
            let of: Vec<&Self> = series.iter().filter(|one| one.quantity == *quantity).collect();
            let names = of.iter().map(|one| one.method.clone()).collect();
            let points =
                |(place, one): (usize, &&Self)| one.values.iter().map(move |&v| (place as f64, v)).collect::<Vec<_>>();
            let scatter = Scatter {
                points: of.iter().enumerate().flat_map(points).collect(),
                radius: 3.0,
                opacity: 0.6,
                ..Scatter::default()
            };
            let mut plot =
                Plot::new(*quantity, Axis::new("").names(names), Axis::new("")).with(scatter).sized(300.0, 260.0);
            for (place, one) in of.iter().enumerate() {
                let MeanInterval { low, high, .. } = one.interval();
                let x = place as f64 + 0.15;
                plot = plot.with(Line {
                    points: vec![(x, low), (x, high)],
                    dots: true,
                    colour: Some(Colour::VERMILION),
                    ..Line::default()
                });
            }
            plot
        };
        Grid::new(title, 3, quantities.iter().map(plot).collect()).to_svg()
    }
}

impl Seeds {
    /// What is wrong with its settings.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let distinct: BTreeSet<u64> = self.seeds.iter().copied().collect();
        match distinct.len() >= LEAST_SEEDS && distinct.len() == self.seeds.len() {
            true => Ok(()),
            false => {
                Err(format!("`seeds` must be at least {LEAST_SEEDS} different ones, to tell anything of their spread"))
            }
        }
    }

    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let mut series: Vec<Series> = Vec::new();
        for (method, weight) in [("δ-CLUE", 0.0), ("∇-CLUE", self.diversity)] {
            let mut rows = Vec::new();
            for &seed in &self.seeds {
                let mut search = delta_clue(self.delta, self.count, 0.0, self.steps)?;
                if weight > 0.0 {
                    search.objective.diversity = Some(Weighted(weight, DiversityTerm::default()));
                }
                let found = lab.explain(&stage, &search, stage.top(self.inputs), Seed(seed))?;
                let mut values = of_all(&found);
                values.push(spread_over_inputs(&found, |clue| clue.uncertainty.total)[1]);
                values.push(spread_over_inputs(&found, |clue| clue.distance.input)[1]);
                rows.push(values);
            }
            let names = MEASURES.iter().map(|measure| measure.name).chain(["mean H", "mean d"]);
            for (place, quantity) in names.enumerate() {
                let values = rows.iter().map(|row| row[place]).collect();
                series.push(Series { method: method.into(), quantity: quantity.into(), values });
            }
        }
        Ok(StudyResult { seeds: self.seeds.clone(), ..StudyResult::default() }
            .checks(checks(&series, self.seeds.len()))
            .table(Series::table(&series))
            .picture("figure", Series::picture("Every seed, and the 95 % interval of the mean", &series)))
    }
}

/// Of δ-CLUE's series and then ∇-CLUE's: the measures, the mean H and the mean d.
fn checks(series: &[Series], seeds: usize) -> Vec<Check> {
    let half = series.len() / 2;
    let (delta, nabla) = series.split_at(half);
    let apart = |place: usize| nabla[place].interval().low > delta[place].interval().high;
    let metrics = 0..MEASURES.len();
    let clear = metrics.clone().filter(|&place| apart(place)).count();
    let steady = nabla.iter().filter(|one| one.variation() < 0.1).count();
    let h = nabla[half - 2].interval();
    vec![
        Check::new(
            "∇-CLUE changes little from seed to seed",
            Verdict::of_share(steady, half),
            format!(
                "deviation below a tenth of the mean for {steady} of {half} quantities; mean H {} ({} to {})",
                figure(h.mean),
                figure(h.low),
                figure(h.high)
            ),
        ),
        Check::new(
            "∇-CLUE is more diverse than δ-CLUE beyond what the seed explains",
            Verdict::of_share(clear, metrics.len()),
            format!(
                "95 % intervals of the means lie apart for {clear} of {} metrics, over {seeds} seeds",
                metrics.len()
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held};

    /// Both methods with the same values by every measure.
    fn judged(delta: [f64; 3], nabla: [f64; 3]) -> Vec<Verdict> {
        let series = |method: &str, values: [f64; 3]| {
            let of = |quantity: usize| Series {
                method: method.into(),
                quantity: quantity.to_string(),
                values: values.to_vec(),
            };
            (0..MEASURES.len() + 2).map(of).collect::<Vec<_>>()
        };
        Check::verdicts(checks(
            &series("δ-CLUE", delta).into_iter().chain(series("∇-CLUE", nabla)).collect::<Vec<_>>(),
            3,
        ))
    }

    #[test]
    fn seeds_matter_little_and_less_than_the_method() {
        assert_eq!(judged([1.0, 1.01, 0.99], [2.0, 2.02, 1.98]), [Held, Held]);
        assert_eq!(
            judged([1.0, 1.01, 0.99], [1.0, 1.5, 0.5]),
            [DidNotHold, DidNotHold],
            "they scatter around the same"
        );
        assert_eq!(judged([2.0, 2.02, 1.98], [1.0, 1.01, 0.99]), [Held, DidNotHold], "steady, and less diverse");
        assert_eq!(judged([1.0, 1.01, 0.99], [5.0, 3.0, 7.0]), [DidNotHold, Held], "unsteady, and far apart");
    }
}
