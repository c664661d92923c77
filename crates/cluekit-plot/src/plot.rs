//! A plot: two axes, some layers, a title; one self-contained SVG.

use crate::axis::{Axis, Extent, Span};
use crate::colour::{Colour, palette};
use crate::draw::{self, Area};
use crate::heatmap::colour_bar;
use crate::layer::Layer;
use crate::layout::{self, Margins};
use crate::legend;
use crate::svg::{Anchor, Frame, Paint, Style, Svg, TextStyle};
use crate::text::shortened;

/// Height of the letters of a title, in pixels.
pub const TITLE_SIZE: f64 = 15.0;
/// Height of the letters of labels and captions, in pixels.
pub const LABEL_SIZE: f64 = 12.0;
/// Height of the letters beside ticks, in pixels.
pub const TICK_SIZE: f64 = 11.0;

/// A picture with two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Title of the plot.
    pub title: String,
    /// Caption below the title; empty for none.
    pub caption: String,
    /// Horizontal axis of the plot.
    pub x: Axis,
    /// Vertical axis of the plot.
    pub y: Axis,
    /// Layers of the plot, later ones on top.
    pub layers: Vec<Layer>,
    /// Width of the plot in pixels.
    pub width: f64,
    /// Height of the plot in pixels.
    pub height: f64,
}

impl Plot {
    /// An empty plot, 640 × 400 pixels.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), caption: String::new(), x, y, layers: Vec::new(), width: 640.0, height: 400.0 }
    }

    /// This plot with one more layer on top.
    pub fn with(mut self, layer: impl Into<Layer>) -> Self {
        self.layers.push(layer.into());
        self
    }

    /// This plot with a caption below its title.
    pub fn captioned(self, caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..self }
    }

    /// This plot in another size, in pixels.
    pub fn sized(self, width: f64, height: f64) -> Self {
        Self { width, height, ..self }
    }

    /// The plot as an SVG document.
    pub fn to_svg(&self) -> String {
        let (width, height) = self.size();
        let mut svg = Svg::new(width, height, &self.title);
        self.draw(&mut svg, Frame { x: 0.0, y: 0.0, width, height }, &layout::margins(self));
        svg.finish()
    }

    /// Its size in pixels, within what a viewer can show.
    pub(crate) fn size(&self) -> (f64, f64) {
        let sane = |size: f64, otherwise: f64| if size.is_nan() { otherwise } else { size.clamp(120.0, 4000.0) };
        (sane(self.width, 640.0), sane(self.height, 400.0))
    }

    /// Both axes from end to end.
    pub(crate) fn spans(&self) -> (Span, Span) {
        let (mut x, mut y) = (Extent::new(self.x.scale), Extent::new(self.y.scale));
        self.layers.iter().for_each(|layer| layer.extend(&mut x, &mut y));
        (self.x.span(&x), self.y.span(&y))
    }

    /// One colour a layer: its own, or the next one of the palette.
    pub(crate) fn colours(&self) -> Vec<Colour> {
        let mut next = 0;
        let mut colour = |layer: &Layer| match layer.colour() {
            Some(Some(own)) => own,
            Some(None) => {
                next += 1;
                palette(next - 1)
            }
            None => Colour::BLACK,
        };
        self.layers.iter().map(&mut colour).collect()
    }

    /// Draws itself into `outer`, leaving `margins` around the area between the axes.
    pub(crate) fn draw(&self, svg: &mut Svg, outer: Frame, margins: &Margins) {
        let (x, y) = self.spans();
        let area = Area { frame: margins.inside(outer), x, y };
        let colours = self.colours();
        self.draw_header(svg, outer, &colours);
        self.draw_y_axis(svg, outer, &area);
        self.draw_x_axis(svg, outer, &area);
        svg.clipped(area.frame, |svg| {
            self.layers.iter().zip(&colours).for_each(|(layer, &colour)| draw::layer(svg, &area, layer, colour));
        });
        svg.rect(area.frame, &Style::stroke(Paint::Muted, 1.0));
        self.draw_colour_bar(svg, &area);
    }

    fn draw_header(&self, svg: &mut Svg, outer: Frame, colours: &[Colour]) {
        let header = layout::header(self, outer.width, colours);
        let left = outer.x + layout::EDGE;
        let mut y = outer.y + layout::EDGE;
        for line in &header.title {
            y += layout::TITLE_LINE;
            svg.text((left, y - 5.0), line, &TextStyle { bold: true, ..TextStyle::new(TITLE_SIZE) });
        }
        for line in &header.caption {
            y += layout::CAPTION_LINE;
            svg.text((left, y - 4.0), line, &TextStyle { paint: Paint::Muted, ..TextStyle::new(LABEL_SIZE) });
        }
        legend::draw(svg, &header.legend, (left, y + 3.0));
    }

    fn draw_x_axis(&self, svg: &mut Svg, outer: Frame, area: &Area) {
        let Frame { x, y, width, height } = area.frame;
        let foot = y + height;
        let (ticks, turned) = layout::x_ticks(&self.x, &area.x, width);
        for tick in &ticks {
            let column = area.column(area.x.share_or_start(tick.value));
            svg.line((column, y), (column, foot), &Style::stroke(Paint::Faint, 1.0));
            let style = TextStyle { paint: Paint::Muted, ..TextStyle::new(TICK_SIZE) };
            match turned {
                false => svg.text((column, foot + 15.0), &tick.label, &style.anchored(Anchor::Middle)),
                true => {
                    let style = TextStyle { turn: -layout::TURN_DEGREES, ..style.anchored(Anchor::End) };
                    // A turned name reaches to the left, where the picture ends.
                    let room = (column - outer.x) / layout::TURN_DEGREES.to_radians().cos();
                    svg.text((column + 4.0, foot + 13.0), &shortened(&tick.label, TICK_SIZE, room), &style);
                }
            }
        }
        let below = layout::x_ticks_height(&ticks, turned);
        let label = shortened(&self.x.label, LABEL_SIZE, width);
        let style = TextStyle::new(LABEL_SIZE).anchored(Anchor::Middle);
        svg.text((x + width / 2.0, foot + below + 15.0), &label, &style);
    }

    fn draw_y_axis(&self, svg: &mut Svg, outer: Frame, area: &Area) {
        let Frame { x, y, width, height } = area.frame;
        for tick in layout::y_ticks(&self.y, &area.y, height, outer.width) {
            let row = area.row(area.y.share_or_start(tick.value));
            svg.line((x, row), (x + width, row), &Style::stroke(Paint::Faint, 1.0));
            let style = TextStyle { paint: Paint::Muted, ..TextStyle::new(TICK_SIZE) };
            svg.text((x - 7.0, row + 0.35 * TICK_SIZE), &tick.label, &style.anchored(Anchor::End));
        }
        let label = shortened(&self.y.label, LABEL_SIZE, height);
        let style = TextStyle { turn: -90.0, ..TextStyle::new(LABEL_SIZE).anchored(Anchor::Middle) };
        svg.text((outer.x + layout::EDGE + LABEL_SIZE - 4.0, y + height / 2.0), &label, &style);
    }

    fn draw_colour_bar(&self, svg: &mut Svg, area: &Area) {
        let Some(bar) = layout::bar(self, area.frame.height) else { return };
        let left = area.frame.x + area.frame.width + layout::BAR_GAP;
        let frame = Frame { x: left, width: layout::BAR_WIDTH, ..area.frame };
        svg.image(frame, &colour_bar(bar.map), true);
        svg.rect(frame, &Style::stroke(Paint::Muted, 1.0));
        let (low, high) = bar.limits;
        for tick in &bar.ticks {
            let row = area.row((tick.value - low) / (high - low));
            let style = TextStyle { paint: Paint::Muted, ..TextStyle::new(TICK_SIZE) };
            svg.text((left + layout::BAR_WIDTH + 5.0, row + 0.35 * TICK_SIZE), &tick.label, &style);
        }
        let label = shortened(&bar.label, LABEL_SIZE, area.frame.height);
        let style = TextStyle { turn: -90.0, ..TextStyle::new(LABEL_SIZE).anchored(Anchor::Middle) };
        let x = left + layout::BAR_WIDTH + 5.0 + bar.ticks_width() + LABEL_SIZE + 4.0;
        svg.text((x, area.frame.y + area.frame.height / 2.0), &label, &style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heatmap::Heatmap;
    use crate::layer::{Band, Bars, Course, Line, Reference, Scatter};

    fn everything() -> Plot {
        let nan = f64::NAN;
        let band = [1.0, 2.0, nan, 4.0].map(|x| Band { x, low: x - 1.0, high: x + 1.0 }).to_vec();
        Plot::new("a < b & c", Axis::new("x \"quoted\""), Axis::new("y"))
            .captioned("caption")
            .with(Heatmap::new(vec![0.0, 1.0, 2.0, nan], 2, 2, (0.0, 5.0), (0.0, 5.0)).unwrap())
            .with(Line {
                points: vec![(1.0, 1.0), (2.0, 2.0), (nan, 3.0), (4.0, 4.0)],
                band,
                name: Some("line".into()),
                ..Line::default()
            })
            .with(Scatter { points: vec![(1.0, nan), (2.0, 3.0), (f64::INFINITY, 1.0)], ..Scatter::default() })
            .with(Bars::at_names(&[1.0, nan, 3.0]))
            .with(Reference { course: Course::Diagonal, name: Some("y = x".into()) })
    }

    fn count(document: &str, tag: &str) -> usize {
        roxmltree::Document::parse(document).unwrap().descendants().filter(|n| n.has_tag_name(tag)).count()
    }

    #[test]
    fn every_layer_is_drawn_and_what_is_not_finite_is_left_out() {
        let document = everything().to_svg();
        assert_eq!(count(&document, "image"), 2, "the heatmap and its colour bar");
        assert_eq!(count(&document, "polyline"), 1, "the run of two points");
        assert_eq!(count(&document, "path"), 2, "the band on either side of its gap");
        assert_eq!(count(&document, "circle"), 2, "the lone point of the line, and one of the scatter");
        assert!(!document.contains("NaN") && !document.contains("inf"));
    }

    #[test]
    fn the_same_plot_gives_the_same_bytes() {
        assert_eq!(everything().to_svg(), everything().to_svg());
    }

    #[test]
    fn layers_take_colours_of_the_palette_in_turn() {
        let own = Line { colour: Some(Colour::WHITE), ..Line::default() };
        let reference = Reference { course: Course::Horizontal(0.0), name: None };
        let plot = Plot::new("", Axis::new(""), Axis::new(""))
            .with(Line::default())
            .with(own)
            .with(reference)
            .with(Line::default());
        assert_eq!(plot.colours(), [palette(0), Colour::WHITE, Colour::BLACK, palette(1)]);
    }

    #[test]
    fn a_point_stands_where_its_values_say() {
        let plot = Plot::new("", Axis::new("").between(0.0, 1.0), Axis::new("").between(0.0, 1.0))
            .with(Scatter { points: vec![(0.0, 0.0), (1.0, 1.0)], ..Scatter::default() });
        let frame = layout::margins(&plot).inside(Frame { x: 0.0, y: 0.0, width: 640.0, height: 400.0 });
        let document = plot.to_svg();
        let tree = roxmltree::Document::parse(&document).unwrap();
        let centres: Vec<(f64, f64)> = tree
            .descendants()
            .filter(|n| n.has_tag_name("circle"))
            .map(|n| ["cx", "cy"].map(|name| n.attribute(name).unwrap().parse().unwrap()).into())
            .collect();
        let near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 0.01 && (a.1 - b.1).abs() < 0.01;
        assert!(near(centres[0], (frame.x, frame.y + frame.height)), "lower left: {centres:?} in {frame:?}");
        assert!(near(centres[1], (frame.x + frame.width, frame.y)), "upper right: {centres:?} in {frame:?}");
    }

    #[test]
    fn plots_without_data_and_of_any_size_are_well_formed() {
        for (width, height) in [(640.0, 400.0), (0.0, -5.0), (f64::NAN, f64::INFINITY)] {
            let document = Plot::new("t", Axis::new("x"), Axis::new("y")).sized(width, height).to_svg();
            assert!(count(&document, "text") > 3);
            let heatmap = everything().sized(width, height).to_svg();
            assert!(!heatmap.contains("=\"-"), "no negative width or place");
        }
    }
}
