//! Several plots in one picture, their axes in line.

use crate::layout::{self, Margins};
use crate::plot::{Plot, TITLE_SIZE};
use crate::svg::{Frame, Svg, TextStyle};
use crate::text::shortened;

/// Plots in rows and columns, filled row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Title of the grid; empty to show the title of the first plot.
    pub title: String,
    /// Number of plots side by side.
    pub columns: usize,
    /// The plots; a column is as wide as its widest, a row as high as its highest.
    pub plots: Vec<Plot>,
}

impl Grid {
    /// A grid of `plots` in rows of `columns`.
    pub fn new(title: impl Into<String>, columns: usize, plots: Vec<Plot>) -> Self {
        Self { title: title.into(), columns, plots }
    }

    /// The grid as an SVG document.
    pub fn to_svg(&self) -> String {
        let columns = self.columns.clamp(1, self.plots.len().max(1));
        let cells: Vec<Cell> = self.plots.iter().map(Cell::of).collect();
        let widths: Vec<f64> =
            (0..columns).map(|c| greatest(cells.iter().skip(c).step_by(columns), |c| c.width)).collect();
        let rows: Vec<&[Cell]> = cells.chunks(columns).collect();
        let heights: Vec<f64> = rows.iter().map(|row| greatest(row.iter(), |c| c.height)).collect();
        let top = if self.title.is_empty() { 0.0 } else { 34.0 };

        let width: f64 = widths.iter().sum();
        let mut svg = Svg::new(width.max(120.0), top + heights.iter().sum::<f64>(), self.name());
        if !self.title.is_empty() {
            let title = shortened(&self.title, TITLE_SIZE + 2.0, width - 2.0 * layout::EDGE);
            let style = TextStyle { bold: true, ..TextStyle::new(TITLE_SIZE + 2.0) };
            svg.text((layout::EDGE, 26.0), &title, &style);
        }
        let mut y = top;
        for (row, &height) in rows.iter().zip(&heights) {
            let mut x = 0.0;
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let margins = Margins {
                    left: greatest(cells.iter().skip(column).step_by(columns), |c| c.margins.left),
                    right: greatest(cells.iter().skip(column).step_by(columns), |c| c.margins.right),
                    top: greatest(row.iter(), |c| c.margins.top),
                    bottom: greatest(row.iter(), |c| c.margins.bottom),
                };
                cell.plot.draw(&mut svg, Frame { x, y, width, height }, &margins);
                x += width;
            }
            y += height;
        }
        svg.finish()
    }

    /// What it is called by those who cannot see it.
    fn name(&self) -> &str {
        let titles = [&self.title].into_iter().chain(self.plots.iter().map(|plot| &plot.title));
        titles.map(String::as_str).find(|title| !title.is_empty()).unwrap_or_default()
    }
}

struct Cell<'a> {
    plot: &'a Plot,
    width: f64,
    height: f64,
    margins: Margins,
}

impl<'a> Cell<'a> {
    fn of(plot: &'a Plot) -> Self {
        let (width, height) = plot.size();
        Self { plot, width, height, margins: layout::margins(plot) }
    }
}

fn greatest<'a, 'p: 'a>(cells: impl Iterator<Item = &'a Cell<'p>>, of: impl Fn(&Cell) -> f64) -> f64 {
    cells.map(of).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;

    fn plot(y_range: (f64, f64)) -> Plot {
        Plot::new("panel", Axis::new("x"), Axis::new("y").between(y_range.0, y_range.1)).sized(300.0, 200.0)
    }

    /// Places of the areas between the axes.
    fn areas(document: &str) -> Vec<(String, String)> {
        let tree = roxmltree::Document::parse(document).unwrap();
        let inner = tree.root_element().descendants().skip(1).filter(|n| n.has_tag_name("svg"));
        inner.map(|n| ["x", "y"].map(|name| n.attribute(name).unwrap().to_owned()).into()).collect()
    }

    #[test]
    fn panels_of_a_column_and_of_a_row_are_in_line() {
        let plots = vec![plot((0.0, 1.0)), plot((0.0, 9000.0)), plot((0.0, 9000.0))];
        let areas = areas(&Grid::new("all", 2, plots).to_svg());
        assert_eq!(areas.len(), 3);
        assert_eq!(areas[0].0, areas[2].0, "same column");
        assert_eq!(areas[0].1, areas[1].1, "same row");
        assert_ne!(areas[0].1, areas[2].1);
    }

    #[test]
    fn a_grid_is_as_large_as_its_panels() {
        let document = Grid::new("", 2, vec![plot((0.0, 1.0)); 3]).to_svg();
        assert!(document.contains("width=\"600\" height=\"400\""));
    }

    #[test]
    fn an_empty_grid_and_no_columns_are_well_formed() {
        for grid in [Grid::new("t", 0, vec![]), Grid::new("t", 0, vec![plot((0.0, 1.0))])] {
            assert!(roxmltree::Document::parse(&grid.to_svg()).is_ok());
        }
    }

    #[test]
    fn a_grid_without_a_title_is_called_like_its_first_plot() {
        let named = |title: &str| Grid::new(title, 1, vec![plot((0.0, 1.0))]).to_svg();
        assert!(named("").contains("<title>panel</title>") && named("all").contains("<title>all</title>"));
    }
}
