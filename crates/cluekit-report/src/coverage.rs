//! Calibration of a regressor: do its intervals hold what they promise?

use cluekit::measure::Coverage;
use cluekit_plot::Axis;
use cluekit_plot::Plot;
use cluekit_plot::{Course, Line, Reference};

/// The share of targets inside the central intervals against the probability that these claim.
pub fn calibration_plot(coverage: &[Coverage]) -> String {
    let line = Line {
        points: coverage.iter().map(|c| (c.nominal, c.observed)).collect(),
        dots: true,
        name: Some("observed".into()),
        ..Line::default()
    };
    let axis = |label: &str| Axis::new(label).percent().between(0.0, 1.0);
    Plot::new("Coverage of predictive intervals", axis("what an interval claims"), axis("targets inside it"))
        .captioned("Below the diagonal the predictor is too sure of itself, above it too cautious.")
        .with(Reference { course: Course::Diagonal, name: Some("perfectly calibrated".into()) })
        .with(line)
        .sized(560.0, 480.0)
        .to_svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_interval_has_a_dot() {
        let coverage = [0.5, 0.8, 0.9].map(|nominal| Coverage { nominal, observed: nominal - 0.1 });
        let document = calibration_plot(&coverage);
        let tree = roxmltree::Document::parse(&document).unwrap();
        let area = tree.descendants().filter(|n| n.has_tag_name("svg")).nth(1).unwrap();
        assert_eq!(area.descendants().filter(|n| n.has_tag_name("circle")).count(), 3);
    }
}
