//! How much room the title, the legend, the labels and the colour bar of a plot take, so that none overlap.

use crate::axis::{Axis, Span, Ticks};
use crate::colour::{Colour, ColourMap};
use crate::layer::Layer;
use crate::legend::{self, Entry};
use crate::plot::{LABEL_SIZE, Plot, TICK_SIZE, TITLE_SIZE};
use crate::svg::Frame;
use crate::text::{text_width, wrapped};
use crate::ticks::{Notation, Tick, linear_ticks};

/// Free room along the edges of a picture, in pixels.
pub const EDGE: f64 = 10.0;
/// Height of a line of a title, in pixels.
pub const TITLE_LINE: f64 = 20.0;
/// Height of a line of a caption, in pixels.
pub const CAPTION_LINE: f64 = 17.0;
pub(crate) const BAR_GAP: f64 = 12.0;
pub(crate) const BAR_WIDTH: f64 = 14.0;
/// How far names along the x axis are turned when they do not fit side by side.
pub(crate) const TURN_DEGREES: f64 = 35.0;

/// Room for the label of an axis.
const AXIS_LABEL: f64 = 20.0;
const LONGEST_TURNED_NAME: f64 = 160.0;

/// Room around the area between the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Margins {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Margins {
    /// The part of `outer` that remains inside, at least a few pixels.
    pub fn inside(&self, outer: Frame) -> Frame {
        Frame {
            x: outer.x + self.left,
            y: outer.y + self.top,
            width: (outer.width - self.left - self.right).max(20.0),
            height: (outer.height - self.top - self.bottom).max(20.0),
        }
    }
}

/// What stands above the plot, line by line.
pub(crate) struct Header<'a> {
    pub title: Vec<String>,
    pub caption: Vec<String>,
    pub legend: Vec<Vec<Entry<'a>>>,
}

pub(crate) fn header<'a>(plot: &'a Plot, width: f64, colours: &[Colour]) -> Header<'a> {
    let room = width - 2.0 * EDGE;
    Header {
        // Bold letters are wider.
        title: wrapped(&plot.title, TITLE_SIZE, room / 1.16, 2),
        caption: wrapped(&plot.caption, LABEL_SIZE, room, 4),
        legend: legend::rows(&plot.layers, colours, room),
    }
}

impl Header<'_> {
    fn height(&self) -> f64 {
        self.title.len() as f64 * TITLE_LINE
            + self.caption.len() as f64 * CAPTION_LINE
            + self.legend.len() as f64 * legend::ROW_HEIGHT
    }
}

/// The room that `plot` needs around its area.
pub(crate) fn margins(plot: &Plot) -> Margins {
    let (width, height) = plot.size();
    let (x, y) = plot.spans();
    let top = EDGE + header(plot, width, &plot.colours()).height() + 12.0;
    // The label of the first column may be wider than the final area shows: a guess on the narrow side is safe.
    let (ticks, turned) = x_ticks(&plot.x, &x, (width - 110.0).max(20.0));
    let bottom = x_ticks_height(&ticks, turned) + label_room(&plot.x.label) + EDGE;
    let inner = (height - top - bottom).max(20.0);
    let left = EDGE + label_room(&plot.y.label) + widest(&y_ticks(&plot.y, &y, inner, width)) + 7.0;
    let right = bar(plot, inner).map_or(24.0, |bar| bar.width());
    Margins { left: left.max(24.0), right, top, bottom }
}

fn label_room(label: &str) -> f64 {
    if label.is_empty() { 0.0 } else { AXIS_LABEL }
}

fn widest(ticks: &[Tick]) -> f64 {
    ticks.iter().map(|tick| text_width(&tick.label, TICK_SIZE)).fold(0.0, f64::max)
}

/// The ticks of the y axis, `height` pixels high in a plot `width` wide.
pub(crate) fn y_ticks(axis: &Axis, span: &Span, height: f64, width: f64) -> Vec<Tick> {
    let most = ((height / 42.0) as usize).clamp(2, 10);
    thinned(axis.ticks(span, most, 0.35 * width), height, 1.25 * TICK_SIZE)
}

/// The ticks of the x axis, `width` pixels wide, and whether their labels are turned.
pub(crate) fn x_ticks(axis: &Axis, span: &Span, width: f64) -> (Vec<Tick>, bool) {
    if let Ticks::Names(names) = &axis.ticks {
        let room = width / names.len().max(1) as f64 - 8.0;
        let turned = names.iter().any(|name| text_width(name, TICK_SIZE) > room);
        let ticks = axis.ticks(span, names.len(), if turned { LONGEST_TURNED_NAME } else { f64::INFINITY });
        return (thinned(ticks, width, 1.5 * TICK_SIZE), turned);
    }
    let most = ((width / 60.0) as usize).clamp(2, 12);
    let fitting = (2..=most).rev().map(|most| axis.ticks(span, most, width)).find(|ticks| fit(ticks, span, width));
    (fitting.unwrap_or_else(|| axis.ticks(span, 1, width).into_iter().take(1).collect()), false)
}

/// How far below the x axis its ticks reach.
pub(crate) fn x_ticks_height(ticks: &[Tick], turned: bool) -> f64 {
    match turned {
        false => 20.0,
        true => 12.0 + TICK_SIZE + widest(ticks) * TURN_DEGREES.to_radians().sin(),
    }
}

/// Whether labels side by side have some room between them.
fn fit(ticks: &[Tick], span: &Span, width: f64) -> bool {
    ticks.windows(2).all(|pair| {
        let apart = (span.share_or_start(pair[1].value) - span.share_or_start(pair[0].value)).abs() * width;
        let needed = (text_width(&pair[0].label, TICK_SIZE) + text_width(&pair[1].label, TICK_SIZE)) / 2.0;
        apart >= needed + 8.0
    })
}

/// Every tick, or every second, third … if they would stand closer than `least`.
fn thinned(ticks: Vec<Tick>, length: f64, least: f64) -> Vec<Tick> {
    let most = (length / least).max(1.0);
    let stride = (ticks.len() as f64 / most).ceil().max(1.0) as usize;
    ticks.into_iter().step_by(stride).collect()
}

/// The colour bar of a plot's first heatmap.
pub(crate) struct ColourBar {
    pub map: ColourMap,
    pub limits: (f64, f64),
    pub ticks: Vec<Tick>,
    pub label: String,
}

pub(crate) fn bar(plot: &Plot, height: f64) -> Option<ColourBar> {
    let heatmap = plot.layers.iter().find_map(|layer| match layer {
        Layer::Heatmap(heatmap) => Some(heatmap),
        _ => None,
    })?;
    let (low, high) = heatmap.limits();
    let most = ((height / 42.0) as usize).clamp(2, 10);
    let ticks = linear_ticks(low, high, most, Notation::Plain);
    Some(ColourBar { map: heatmap.map, limits: (low, high), ticks, label: heatmap.label.clone() })
}

impl ColourBar {
    pub fn ticks_width(&self) -> f64 {
        widest(&self.ticks)
    }

    fn width(&self) -> f64 {
        BAR_GAP + BAR_WIDTH + 5.0 + self.ticks_width() + label_room(&self.label) + EDGE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::{Extent, Scale};

    fn x_axis(axis: &Axis, width: f64) -> (Vec<Tick>, bool) {
        x_ticks(axis, &axis.span(&Extent::new(Scale::Linear)), width)
    }

    #[test]
    fn numbers_along_the_x_axis_never_touch() {
        for range in [(0.0, 1.0), (1e6, 1e6 + 1.0), (-12_345.0, 54_321.0), (0.0, 3e-7)] {
            let axis = Axis::new("").between(range.0, range.1);
            let span = axis.span(&Extent::new(Scale::Linear));
            for width in [60.0, 120.0, 300.0, 640.0, 1200.0] {
                let (ticks, _) = x_ticks(&axis, &span, width);
                assert!(fit(&ticks, &span, width), "{range:?} over {width}: {ticks:?}");
                assert!(width < 300.0 || ticks.len() >= 2, "{range:?} over {width}: {ticks:?}");
            }
        }
    }

    #[test]
    fn names_are_turned_when_they_are_too_long_and_thinned_when_they_are_too_many() {
        let named = |name: &str, count: usize| Axis::new("").names(vec![name.to_owned(); count]);
        assert!(!x_axis(&named("short", 5), 400.0).1);
        assert!(x_axis(&named("a rather long name", 5), 400.0).1);
        let (ticks, _) = x_axis(&named("n", 1000), 400.0);
        assert!(ticks.len() <= 25, "{}", ticks.len());
    }

    #[test]
    fn a_long_title_and_many_names_make_room_for_themselves() {
        let short = margins(&Plot::new("title", Axis::new("x"), Axis::new("y")));
        let long = margins(&Plot::new("title ".repeat(40), Axis::new("x"), Axis::new("y")));
        assert!((long.top - short.top - TITLE_LINE).abs() < 1e-9, "two lines at the most");
        let names = vec!["quite a long name".to_owned(); 3];
        let named = margins(&Plot::new("title", Axis::new("x"), Axis::new("y").names(names)));
        assert!(named.left > short.left + 50.0);
    }
}
