//! What can be drawn into a plot, as plain data.

use crate::axis::Extent;
use crate::colour::Colour;
use crate::heatmap::Heatmap;

/// One thing in a plot; later layers lie on earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// A line through points.
    Line(Line),
    /// Separate points.
    Scatter(Scatter),
    /// Bars that stand side by side.
    Bars(Bars),
    /// Values over the plane, as colours.
    Heatmap(Heatmap),
    /// A line to compare with.
    Reference(Reference),
}

/// A line through points; it is interrupted where a point is not finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Points of the line, in order.
    pub points: Vec<(f64, f64)>,
    /// Shaded range around the line, in order; empty for none.
    pub band: Vec<Band>,
    /// Colour of the line. None: the next one of the palette.
    pub colour: Option<Colour>,
    /// Whether each point is marked by a dot.
    pub dots: bool,
    /// Whether the line is dashed.
    pub dashed: bool,
    /// Name of the line in the legend; none to leave it out.
    pub name: Option<String>,
}

/// A vertical range at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Horizontal place of the range.
    pub x: f64,
    /// Lower end of the range.
    pub low: f64,
    /// Upper end of the range.
    pub high: f64,
}

/// Separate points; those that are not finite are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// Places of the points.
    pub points: Vec<(f64, f64)>,
    /// How each point is drawn.
    pub mark: Mark,
    /// Radius of each point in pixels.
    pub radius: f64,
    /// Opacity of each point: 1 for opaque; less shows where many points lie on each other.
    pub opacity: f64,
    /// Colour of the points. None: the next one of the palette.
    pub colour: Option<Colour>,
    /// Name of the points in the legend; none to leave them out.
    pub name: Option<String>,
}

/// How a point is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// A filled circle with a thin light edge.
    #[default]
    Dot,
    /// An open circle with a light edge, to be drawn around another point.
    Ring,
}

impl Default for Scatter {
    fn default() -> Self {
        Self { points: Vec::new(), mark: Mark::Dot, radius: 3.5, opacity: 1.0, colour: None, name: None }
    }
}

/// Bars that stand side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// The bars, each with its edges.
    pub bars: Vec<Bar>,
    /// Opacity of the bars: 1 for opaque, 0 for invisible.
    pub opacity: f64,
    /// Colour of the bars. None: the next one of the palette.
    pub colour: Option<Colour>,
    /// Name of the bars in the legend; none to leave them out.
    pub name: Option<String>,
}

/// One upright bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Left edge of the bar.
    pub left: f64,
    /// Right edge of the bar.
    pub right: f64,
    /// Value at which the bar stands, most often 0.
    pub foot: f64,
    /// Value at which the bar ends.
    pub top: f64,
}

impl Default for Bars {
    fn default() -> Self {
        Self { bars: Vec::new(), opacity: 1.0, colour: None, name: None }
    }
}

impl Bars {
    /// Bars from 0 to each of `heights`, at 0, 1, 2 …: they suit an axis with names.
    pub fn at_names(heights: &[f64]) -> Self {
        let bar = |(i, &top): (usize, &f64)| Bar { left: i as f64 - 0.4, right: i as f64 + 0.4, foot: 0.0, top };
        Self { bars: heights.iter().enumerate().map(bar).collect(), ..Self::default() }
    }
}

/// A line to compare with; it does not widen the axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Where the line runs.
    pub course: Course,
    /// Name of the line in the legend; none to leave it out.
    pub name: Option<String>,
}

/// Where a reference line runs, from edge to edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Course {
    /// The diagonal y = x.
    Diagonal,
    /// A horizontal line at this y.
    Horizontal(f64),
    /// A vertical line at this x.
    Vertical(f64),
}

impl Layer {
    /// Its name in the legend.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Line(line) => line.name.as_deref(),
            Self::Scatter(scatter) => scatter.name.as_deref(),
            Self::Bars(bars) => bars.name.as_deref(),
            Self::Reference(reference) => reference.name.as_deref(),
            Self::Heatmap(_) => None,
        }
    }

    /// The colour it asks for; the outer none if it takes none from the palette.
    pub(crate) fn colour(&self) -> Option<Option<Colour>> {
        match self {
            Self::Line(line) => Some(line.colour),
            Self::Scatter(scatter) => Some(scatter.colour),
            Self::Bars(bars) => Some(bars.colour),
            Self::Heatmap(_) | Self::Reference(_) => None,
        }
    }

    /// Makes room for itself on both axes.
    pub(crate) fn extend(&self, x: &mut Extent, y: &mut Extent) {
        match self {
            Self::Line(line) => {
                extend_by_points(&line.points, x, y);
                for band in &line.band {
                    x.include(band.x);
                    y.include(band.low);
                    y.include(band.high);
                }
            }
            Self::Scatter(scatter) => extend_by_points(&scatter.points, x, y),
            Self::Bars(bars) => {
                for bar in &bars.bars {
                    x.include_edge(bar.left);
                    x.include_edge(bar.right);
                    y.include_edge(bar.foot);
                    y.include(bar.top);
                }
            }
            Self::Heatmap(heatmap) => {
                x.include_edge(heatmap.x.0);
                x.include_edge(heatmap.x.1);
                y.include_edge(heatmap.y.0);
                y.include_edge(heatmap.y.1);
            }
            Self::Reference(_) => {}
        }
    }
}

/// A point counts only if both its coordinates can be drawn.
fn extend_by_points(points: &[(f64, f64)], x: &mut Extent, y: &mut Extent) {
    for &(a, b) in points.iter().filter(|(a, b)| a.is_finite() && b.is_finite()) {
        x.include(a);
        y.include(b);
    }
}

impl From<Line> for Layer {
    fn from(line: Line) -> Self {
        Self::Line(line)
    }
}

impl From<Scatter> for Layer {
    fn from(scatter: Scatter) -> Self {
        Self::Scatter(scatter)
    }
}

impl From<Bars> for Layer {
    fn from(bars: Bars) -> Self {
        Self::Bars(bars)
    }
}

impl From<Heatmap> for Layer {
    fn from(heatmap: Heatmap) -> Self {
        Self::Heatmap(heatmap)
    }
}

impl From<Reference> for Layer {
    fn from(reference: Reference) -> Self {
        Self::Reference(reference)
    }
}
