//! How long one explanation takes. [Ley2022, Table 2]

use super::settings::settings;
use crate::finding::{Check, Finding, Table, Verdict};
use crate::laboratory::Laboratory;
use crate::statistics::figure;
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
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<Finding> {
        let stage = lab.stage(&self.models)?;
        let entries = lab.contest(&stage, &self.methods, self.above, self.lambda_x)?;
        let seconds =
            |name: &str| entries.iter().find(|entry| entry.method == name).map_or(f64::NAN, |entry| entry.seconds_each);
        let clue = seconds("clue-2");
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
        let speedup = clue / seconds("glam-3");
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
        let among = |name: &str| (0.2..5.0).contains(&(seconds(name) / seconds("glam-3")));
        let near = ["input-dbm", "latent-dbm", "input-nn", "latent-nn"].into_iter().filter(|name| among(name)).count();
        Ok(Finding { seeds: vec![0], ..Finding::default() }
            .check(Check::new(
                format!("GLAM-CLUE is about {} times faster than CLUE", figure(self.printed)),
                match speedup / self.printed {
                    share if share >= 0.75 => Verdict::Held,
                    share if share >= 0.1 => Verdict::HeldPartly,
                    _ => Verdict::DidNotHold,
                },
                format!(
                    "{} times: {} ms against {} ms",
                    figure(speedup),
                    figure(1000.0 * seconds("glam-3")),
                    figure(1000.0 * clue)
                ),
            ))
            .check(Check::new(
                "the baselines take about as long as GLAM-CLUE",
                Verdict::of_share(near, 4),
                entries
                    .iter()
                    .map(|e| format!("{} {} ms", e.method, figure(1000.0 * e.seconds_each)))
                    .collect::<Vec<_>>()
                    .join(", "),
            ))
            .table(table)
            .picture("figure", plot.to_svg()))
    }
}
