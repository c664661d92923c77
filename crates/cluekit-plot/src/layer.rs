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
    /// Bars.
    Bars(Bars),
    /// Values over the plane.
    Heatmap(Heatmap),
    /// A line to compare with.
    Reference(Reference),
}

/// A line through points; it is interrupted where a point is not finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its points in order.
    pub points: Vec<(f64, f64)>,
    /// A shaded range around it, in order; empty for none.
    pub band: Vec<Band>,
    /// Its colour. None: the next one of the palette.
    pub colour: Option<Colour>,
    /// Whether each point is marked by a dot.
    pub dots: bool,
    /// Whether it is dashed.
    pub dashed: bool,
    /// Its name in the legend; none keeps it out.
    pub name: Option<String>,
}

/// A vertical range at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The place.
    pub x: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Separate points; those that are not finite are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// The points.
    pub points: Vec<(f64, f64)>,
    /// How each is drawn.
    pub mark: Mark,
    /// Radius in pixels.
    pub radius: f64,
    /// 1 for opaque; less shows where many points lie on each other.
    pub opacity: f64,
    /// Their colour. None: the next one of the palette.
    pub colour: Option<Colour>,
    /// Their name in the legend; none keeps them out.
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
    /// The bars.
    pub bars: Vec<Bar>,
    /// 1 for opaque.
    pub opacity: f64,
    /// Their colour. None: the next one of the palette.
    pub colour: Option<Colour>,
    /// Their name in the legend; none keeps them out.
    pub name: Option<String>,
}

/// One upright bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Its left edge.
    pub left: f64,
    /// Its right edge.
    pub right: f64,
    /// Where it stands, most often 0.
    pub foot: f64,
    /// Where it ends.
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
    /// Where it runs.
    pub course: Course,
    /// Its name in the legend; none keeps it out.
    pub name: Option<String>,
}

/// Where a reference line runs, from edge to edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Course {
    /// y = x.
    Diagonal,
    /// y is constant.
    Horizontal(f64),
    /// x is constant.
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
