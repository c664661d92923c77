//! What a larger ball buys: uncertainty H and distance d of the clues against its radius δ. [Ley2022, Appendix B]

use cluekit_plot::Axis;
use cluekit_plot::Grid;
use cluekit_plot::Plot;
use cluekit_plot::{Band, Line};
use serde::Serialize;

/// The clues of one radius, each number as least, mean and greatest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SweepRow {
    /// The radius δ of the ball.
    pub delta: f64,
    /// Uncertainty H.
    pub uncertainty: [f64; 3],
    /// Distance d from the input.
    pub distance: [f64; 3],
}

/// H and d against δ, each with its mean as a line in a band from the least to the greatest.
pub fn frontier_plot(rows: &[SweepRow]) -> String {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| a.delta.total_cmp(&b.delta));
    let panel = |title: &str, quantity: &str, of: fn(&SweepRow) -> [f64; 3]| {
        Plot::new(title, Axis::new("radius of the ball, δ"), Axis::new(quantity))
            .with(course(&rows, of))
            .sized(460.0, 340.0)
    };
    let uncertainty = panel("Uncertainty of the clues", "uncertainty, H", |row| row.uncertainty);
    let distance = panel("Distance from the input", "distance, d", |row| row.distance);
    Grid::new("What a larger ball buys", 2, vec![uncertainty, distance]).to_svg()
}

fn course(rows: &[SweepRow], of: fn(&SweepRow) -> [f64; 3]) -> Line {
    let band = |row: &SweepRow| {
        let [low, _, high] = of(row);
        Band { x: row.delta, low, high }
    };
    Line {
        points: rows.iter().map(|row| (row.delta, of(row)[1])).collect(),
        band: rows.iter().map(band).collect(),
        dots: true,
        name: Some("mean, in a band from the least to the greatest".into()),
        ..Line::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(delta: f64) -> SweepRow {
        let uncertainty = [0.1, 1.0 / delta, 2.0];
        SweepRow { delta, uncertainty, distance: [delta, 2.0 * delta, 3.0 * delta] }
    }

    #[test]
    fn each_radius_has_a_dot_in_both_plots_whatever_their_order() {
        let document = frontier_plot(&[row(1.0), row(0.5), row(2.0)]);
        let tree = roxmltree::Document::parse(&document).unwrap();
        let lines: Vec<_> = tree.descendants().filter_map(|n| n.attribute("points")).collect();
        assert_eq!(lines.len(), 2);
        for line in lines {
            let columns: Vec<f64> = line.split(' ').map(|p| p.split(',').next().unwrap().parse().unwrap()).collect();
            assert!(columns.len() == 3 && columns.is_sorted(), "{columns:?}");
        }
        assert_eq!(document, frontier_plot(&[row(0.5), row(1.0), row(2.0)]));
    }

    #[test]
    fn no_row_and_rows_that_are_no_numbers_are_well_formed() {
        let nothing = SweepRow { delta: 1.0, uncertainty: [f64::NAN; 3], distance: [f64::INFINITY; 3] };
        for rows in [&[][..], &[nothing], &[nothing, row(2.0)]] {
            assert!(roxmltree::Document::parse(&frontier_plot(rows)).is_ok());
        }
    }
}
