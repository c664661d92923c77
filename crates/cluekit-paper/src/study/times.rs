//! How long one explanation takes. [Ley2022, Table 2]

use super::glam::BASELINES;
use super::settings::settings;
use crate::laboratory::Laboratory;
use crate::statistics::figure;
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::error::Result;
use cluekit_plot::{Axis, Bar, Bars, Plot};

settings! {
    /// Which inputs and methods.
    pub struct Times: Contest {
        /// How many times faster than CLUE the paper finds GLAM-CLUE.
        pub printed: f64,
    }
}

impl Times {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let entries = lab.contest(&stage, &self.methods, self.above, self.lambda_x)?;
        let times: Vec<(&str, f64)> = entries.iter().map(|e| (e.method.as_str(), e.seconds_each)).collect();
        let clue = seconds(&times, "clue-2");
        let mut table =
            Table::new("times", &["method", "milliseconds", "of that mapping alone", "times faster than CLUE"]);
        for entry in entries.iter() {
            let mapping = entry.mapping_seconds_each.map_or(f64::NAN, |seconds| 1000.0 * seconds);
            let each = entry.seconds_each;
            table.push(vec![
                entry.method.as_str().into(),
                (1000.0 * each).into(),
                mapping.into(),
                (clue / each).into(),
            ]);
        }
        let names: Vec<String> = entries.iter().map(|entry| entry.method.clone()).collect();
        let milliseconds: Vec<f64> = entries.iter().map(|entry| 1000.0 * entry.seconds_each).collect();
        let foot = milliseconds.iter().copied().fold(f64::INFINITY, f64::min) / 3.0;
        let bar = |(i, &top): (usize, &f64)| Bar { left: i as f64 - 0.4, right: i as f64 + 0.4, foot, top };
        let bars = Bars { bars: milliseconds.iter().enumerate().map(bar).collect(), ..Bars::default() };
        let plot = Plot::new("Time for one explanation", Axis::new("").names(names), Axis::new("milliseconds").log())
            .captioned(format!(
                "Mean over {} uncertain inputs that are explained together.",
                stage.above(self.above).len()
            ))
            .with(bars)
            .sized(640.0, 400.0);
        Ok(StudyResult { seeds: vec![0], ..StudyResult::default() }
            .checks(checks(&times, self.printed))
            .table(table)
            .picture("figure", plot.to_svg()))
    }
}

/// How long a method takes for one explanation.
fn seconds(times: &[(&str, f64)], name: &str) -> f64 {
    times.iter().find(|(method, _)| *method == name).map_or(f64::NAN, |(_, seconds)| *seconds)
}

/// `printed` is how many times faster the paper finds GLAM-CLUE.
fn checks(times: &[(&str, f64)], printed: f64) -> Vec<Check> {
    let [clue, glam] = ["clue-2", "glam-3"].map(|name| seconds(times, name));
    let speedup = clue / glam;
    let among = |name: &str| (0.2..5.0).contains(&(seconds(times, name) / glam));
    let near = BASELINES.into_iter().filter(|name| among(name)).count();
    let list: Vec<String> =
        times.iter().map(|(method, seconds)| format!("{method} {} ms", figure(1000.0 * seconds))).collect();
    vec![
        Check::new(
            format!("GLAM-CLUE is about {} times faster than CLUE", figure(printed)),
            match speedup / printed {
                share if share >= 0.75 => Verdict::Held,
                share if share >= 0.1 => Verdict::HeldPartly,
                _ => Verdict::DidNotHold,
            },
            format!("{} times: {} ms against {} ms", figure(speedup), figure(1000.0 * glam), figure(1000.0 * clue)),
        ),
        Check::new(
            "the baselines take about as long as GLAM-CLUE",
            Verdict::of_share(near, BASELINES.len()),
            list.join(", "),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    #[test]
    fn glam_is_many_times_faster_and_baselines_are_about_as_fast() {
        let judged = |clue: f64, baselines: [f64; 4]| {
            let times: Vec<(&str, f64)> =
                [("glam-3", 0.001), ("clue-2", clue)].into_iter().chain(BASELINES.into_iter().zip(baselines)).collect();
            Check::verdicts(checks(&times, 200.0))
        };
        assert_eq!(judged(0.15, [0.001, 0.002, 0.004, 0.0003]), [Held, Held]);
        assert_eq!(judged(0.05, [0.001, 0.002, 0.01, 0.01]), [HeldPartly, HeldPartly]);
        assert_eq!(judged(0.01, [0.0001, 0.01, 0.01, 0.01]), [DidNotHold, DidNotHold]);
        assert_eq!(Check::verdicts(checks(&[], 200.0)), [DidNotHold, DidNotHold], "nothing was timed");
    }
}
