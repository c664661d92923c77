//! The reliability diagram: does confidence tell how often a classifier is right?

use cluekit::measure::{Bin, Reliability};
use cluekit_plot::Axis;
use cluekit_plot::Colour;
use cluekit_plot::Grid;
use cluekit_plot::Plot;
use cluekit_plot::{Bar, Bars, Course, Reference};

/// Accuracy by confidence with the gap between them shaded, above how many predictions are that confident.
pub fn reliability_diagram(reliability: &Reliability) -> String {
    let above = accuracy_plot(reliability);
    let below = count_plot(&reliability.bins);
    Grid::new("", 1, vec![above, below]).to_svg()
}

fn accuracy_plot(reliability: &Reliability) -> Plot {
    let axis = |label: &str| Axis::new(label).percent().between(0.0, 1.0);
    let caption = format!(
        "Expected calibration error {:.1} %: how far confidence and accuracy are apart on average.",
        100.0 * reliability.ece
    );
    let mut plot = Plot::new("Reliability", axis(""), axis("accuracy")).captioned(caption);
    // Below both values, and up from either one to the other: no bar covers another.
    let shared = bars(reliability, |accuracy, confidence| Some((0.0, accuracy.min(confidence))));
    let cautious = bars(reliability, |accuracy, confidence| (accuracy > confidence).then_some((confidence, accuracy)));
    let too_sure = bars(reliability, |accuracy, confidence| (accuracy < confidence).then_some((accuracy, confidence)));
    for (bars, colour, opacity, name) in [
        (shared, Colour::BLUE, 1.0, "accuracy"),
        (cautious, Colour::SKY, 1.0, "accuracy above confidence"),
        (too_sure, Colour::VERMILION, 0.5, "confidence above accuracy"),
    ] {
        if !bars.is_empty() {
            plot = plot.with(Bars { bars, opacity, colour: Some(colour), name: Some(name.into()) });
        }
    }
    plot.with(Reference { course: Course::Diagonal, name: Some("perfectly calibrated".into()) })
}

/// One bar for each filled bin, its ends made from accuracy and mean confidence.
fn bars(reliability: &Reliability, ends: impl Fn(f64, f64) -> Option<(f64, f64)>) -> Vec<Bar> {
    let bar = |bin: &Bin| {
        let (foot, top) = ends(bin.accuracy?, bin.confidence?)?;
        Some(Bar { left: bin.lower, right: bin.upper, foot, top })
    };
    reliability.bins.iter().filter_map(bar).collect()
}

fn count_plot(bins: &[Bin]) -> Plot {
    let bar = |bin: &Bin| Bar { left: bin.lower, right: bin.upper, foot: 0.0, top: bin.count as f64 };
    let counts = Bars { bars: bins.iter().map(bar).collect(), colour: Some(Colour::BLUE), ..Bars::default() };
    Plot::new("", Axis::new("confidence").percent().between(0.0, 1.0), Axis::new("predictions"))
        .with(counts)
        .sized(640.0, 150.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::measure::Predictions;

    /// How many bars each group has.
    fn groups(predictions: &Predictions) -> Vec<usize> {
        let document = reliability_diagram(&Reliability::of(predictions));
        let tree = roxmltree::Document::parse(&document).unwrap();
        let groups = tree.descendants().filter(|n| n.has_tag_name("g"));
        groups.map(|n| n.children().filter(|n| n.has_tag_name("rect")).count()).collect()
    }

    #[test]
    fn a_filled_bin_has_a_bar_a_gap_and_a_count() {
        // One bin is too sure with 0.75 against ½, the other too cautious with 0.6 against 1.
        let probabilities = [0.75, 0.25, 0.75, 0.25, 0.6, 0.4];
        assert_eq!(groups(&Predictions::new(&probabilities, 2, &[0, 1, 0]).unwrap()), [2, 1, 1, 15]);
    }

    #[test]
    fn a_perfect_predictor_has_no_gap() {
        let predictions = Predictions::new(&[1.0, 0.0], 2, &[0]).unwrap();
        assert_eq!(groups(&predictions), [1, 15]);
        assert!(reliability_diagram(&Reliability::of(&predictions)).contains("calibration error 0.0 %"));
    }
}
