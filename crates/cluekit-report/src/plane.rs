//! Two-dimensional data: where in the plane is the model uncertain?

use cluekit::error::{Error, Result};
use cluekit_plot::Axis;
use cluekit_plot::Heatmap;
use cluekit_plot::Plot;
use cluekit_plot::{Colour, ColourMap, palette};
use cluekit_plot::{Mark, Scatter};

/// Uncertainty over a part of the plane with data on top.
#[derive(Clone, Copy, Debug)]
pub struct Plane<'a> {
    /// What it shows.
    pub title: &'a str,
    /// The names of the two features, with their units.
    pub labels: [&'a str; 2],
    /// Uncertainty in `rows × columns` equal cells, row by row from the lower edge, each row from the left.
    pub values: &'a [f64],
    /// Cells side by side.
    pub columns: usize,
    /// Cells above each other.
    pub rows: usize,
    /// The left and right edge, in the data's units.
    pub x: (f64, f64),
    /// The lower and upper edge, in the data's units.
    pub y: (f64, f64),
    /// What the values are and their unit, as `uncertainty (nats)`.
    pub quantity: &'a str,
    /// Data in their own units.
    pub points: &'a [PlanePoint],
    /// The names of the classes.
    pub classes: &'a [String],
    /// Positions in `points` of those to be ringed.
    pub highlighted: &'a [usize],
}

/// One row of two-dimensional data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanePoint {
    /// The first feature.
    pub x: f64,
    /// The second feature.
    pub y: f64,
    /// Its class, a position in the list of classes.
    pub class: u32,
}

/// Uncertainty as shades, data as dots in the colours of their classes, the highlighted ones ringed.
pub fn plane_picture(plane: &Plane) -> Result<String> {
    check(plane)?;
    let mut plot = Plot::new(plane.title, Axis::new(plane.labels[0]), Axis::new(plane.labels[1]))
        .with(ground(plane)?)
        .sized(640.0, 520.0);
    plot.x.range = Some(plane.x);
    plot.y.range = Some(plane.y);
    for (class, name) in plane.classes.iter().enumerate() {
        let members = plane.points.iter().filter(|point| point.class as usize == class);
        let points: Vec<_> = members.map(|point| (point.x, point.y)).collect();
        // Many points need small dots to leave the ground in sight.
        let radius = if plane.points.len() > 600 { 2.5 } else { 3.5 };
        let colour = Some(palette(class));
        plot = plot.with(Scatter { points, radius, colour, name: Some(name.clone()), ..Scatter::default() });
    }
    if !plane.highlighted.is_empty() {
        let points = plane.highlighted.iter().map(|&i| (plane.points[i].x, plane.points[i].y)).collect();
        let rings = Scatter { points, mark: Mark::Ring, radius: 6.5, ..Scatter::default() };
        plot = plot.with(Scatter { colour: Some(Colour::BLACK), name: Some("most uncertain".into()), ..rings });
    }
    Ok(plot.to_svg())
}

/// A grid of values, or the error that says why they are none.
pub fn heatmap(values: Vec<f64>, columns: usize, rows: usize, x: (f64, f64), y: (f64, f64)) -> Result<Heatmap> {
    Heatmap::new(values, columns, rows, x, y).map_err(|problem| Error::data(problem.to_string()))
}

fn ground(plane: &Plane) -> Result<Heatmap> {
    let mut heatmap = heatmap(plane.values.to_vec(), plane.columns, plane.rows, plane.x, plane.y)?;
    heatmap.map = ColourMap::Pale;
    heatmap.label = plane.quantity.to_owned();
    heatmap.smooth = true;
    Ok(heatmap)
}

fn check(plane: &Plane) -> Result<()> {
    if let Some(index) = plane.highlighted.iter().find(|&&index| index >= plane.points.len()) {
        return Err(Error::data(format!(
            "point {index} is to be highlighted, but there are {} points, counted from 0",
            plane.points.len()
        )));
    }
    if let Some(point) = plane.points.iter().find(|point| point.class as usize >= plane.classes.len()) {
        return Err(Error::data(format!(
            "a point has class {}, but {} classes have names; give a name for each class",
            point.class,
            plane.classes.len()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [PlanePoint; 3] = [
        PlanePoint { x: 0.0, y: 0.0, class: 0 },
        PlanePoint { x: 1.0, y: 1.0, class: 1 },
        PlanePoint { x: 0.5, y: 0.5, class: 1 },
    ];

    fn picture(classes: &[String], highlighted: &[usize], columns: usize) -> Result<String> {
        plane_picture(&Plane {
            title: "plane",
            labels: ["income (k$)", "age (years)"],
            values: &[0.0, 0.1, 0.2, 0.6],
            columns,
            rows: 2,
            x: (-1.0, 2.0),
            y: (-1.0, 2.0),
            quantity: "uncertainty (nats)",
            points: &POINTS,
            classes,
            highlighted,
        })
    }

    #[test]
    fn each_class_has_its_dots_and_each_highlight_its_ring() {
        let document = picture(&["no".into(), "yes".into()], &[2], 2).unwrap();
        let tree = roxmltree::Document::parse(&document).unwrap();
        let dots: Vec<usize> = tree
            .descendants()
            .filter(|n| n.has_tag_name("g"))
            .map(|n| n.children().filter(|n| n.is_element()).count())
            .collect();
        assert_eq!(dots, [1, 2]);
        let rings = tree.descendants().filter(|n| n.attribute("r") == Some("6.5")).count();
        assert_eq!(rings, 2, "one ring and its light edge");
        assert!(document.contains("uncertainty (nats)") && document.contains("income (k$)"));
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let two = ["no".to_owned(), "yes".to_owned()];
        let problem = |result: Result<String>| result.unwrap_err().to_string();
        assert!(problem(picture(&two, &[3], 2)).contains("point 3 is to be highlighted, but there are 3 points"));
        assert!(problem(picture(&two[..1], &[], 2)).contains("class 1, but 1 classes have names"));
        assert!(problem(picture(&two, &[], 3)).contains("4 values do not make a grid"));
    }
}
