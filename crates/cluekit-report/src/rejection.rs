//! Accuracy when the most uncertain predictions are handed to somebody else.

use cluekit::measure::RejectionCurve;
use cluekit_plot::Axis;
use cluekit_plot::Plot;
use cluekit_plot::{Course, Line, Reference};

/// Accuracy among the predictions that are kept, from all of them on the left to the most certain on the right.
pub fn rejection_plot(curve: &RejectionCurve) -> String {
    let line = Line {
        points: curve.points.iter().map(|point| (1.0 - point.kept, point.accuracy)).collect(),
        name: Some("accuracy of what is kept".into()),
        ..Line::default()
    };
    let all = curve.points.first().map_or(0.0, |point| point.accuracy);
    let name = Some(format!("nothing set aside: {:.1} %", 100.0 * all));
    let x = Axis::new("share of predictions set aside, most uncertain first").percent().between(0.0, 1.0);
    Plot::new("Accuracy after rejection", x, Axis::new("accuracy").percent())
        .captioned(format!(
            "Area under the curve {:.3}. The line rises if uncertainty points at the errors.",
            curve.area
        ))
        .with(line)
        .with(Reference { course: Course::Horizontal(all), name })
        .to_svg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::measure::rejection_curve;

    #[test]
    fn the_plot_says_the_area_and_the_accuracy_of_everything() {
        let curve = rejection_curve(&[0.1, 0.9, 0.2, 0.3], &[false, true, false, false]).unwrap();
        let document = rejection_plot(&curve);
        let tree = roxmltree::Document::parse(&document).unwrap();
        let line = tree.descendants().find(|n| n.has_tag_name("polyline")).unwrap();
        assert_eq!(line.attribute("points").unwrap().split(' ').count(), 4);
        assert!(document.contains("Area under the curve 0.969") && document.contains("nothing set aside: 75.0 %"));
    }
}
