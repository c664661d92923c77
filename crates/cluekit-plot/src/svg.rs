//! A small SVG writer: shapes in, the same bytes out every time.
//!
//! Theme paints (ink, paper …) follow the reader's light or dark scheme through an embedded style; everything else has
//! its fixed colour. No element has an id, so many pictures can stand on one page.

use crate::colour::Colour;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;

/// The look of theme paints on light and on dark paper.
const STYLE: &str = "<style>\
.clue-figure .f-paper{fill:#fff}.clue-figure .f-ink{fill:#1f2328}.clue-figure .f-muted{fill:#59636e}\
.clue-figure .f-faint{fill:#dfe3e8}.clue-figure .s-paper{stroke:#fff}.clue-figure .s-ink{stroke:#1f2328}\
.clue-figure .s-muted{stroke:#59636e}.clue-figure .s-faint{stroke:#dfe3e8}\
@media (prefers-color-scheme:dark){\
.clue-figure .f-paper{fill:#14171c}.clue-figure .f-ink{fill:#e6e8eb}.clue-figure .f-muted{fill:#9aa4ae}\
.clue-figure .f-faint{fill:#343a42}.clue-figure .s-paper{stroke:#14171c}.clue-figure .s-ink{stroke:#e6e8eb}\
.clue-figure .s-muted{stroke:#9aa4ae}.clue-figure .s-faint{stroke:#343a42}}\
</style>";

/// What a shape is filled or drawn with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Paint {
    /// The paint of the surrounding group.
    #[default]
    Inherit,
    /// No paint.
    None,
    /// This colour on light and on dark paper.
    Solid(Colour),
    /// Colour of text and axes.
    Ink,
    /// Colour of secondary text.
    Muted,
    /// Colour of grid lines.
    Faint,
    /// Colour of the background.
    Paper,
}

/// How a shape looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Paint of the inside.
    pub fill: Paint,
    /// Paint of the outline.
    pub stroke: Paint,
    /// Width of the outline in pixels.
    pub width: f64,
    /// Opacity of the shape: 1 for opaque, 0 for invisible.
    pub opacity: f64,
    /// Whether the outline is dashed.
    pub dashed: bool,
}

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextStyle {
    /// Height of the letters in pixels.
    pub size: f64,
    /// Which part of the text stands at its position.
    pub anchor: Anchor,
    /// Paint of the letters.
    pub paint: Paint,
    /// Whether the text is bold.
    pub bold: bool,
    /// Clockwise turn around its position, in degrees.
    pub turn: f64,
}

/// Which part of a text stands at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The beginning of the text.
    Start,
    /// The middle of the text.
    Middle,
    /// The end of the text.
    End,
}

/// A rectangle in pixels, y downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Left edge of the rectangle.
    pub x: f64,
    /// Upper edge of the rectangle.
    pub y: f64,
    /// Width of the rectangle.
    pub width: f64,
    /// Height of the rectangle.
    pub height: f64,
}

/// A picture that is being drawn.
#[derive(Clone, Debug)]
pub struct Svg {
    width: f64,
    height: f64,
    title: String,
    body: String,
}

/// The outline of a shape, point by point.
#[derive(Clone, Debug, Default)]
pub struct Path(String);

impl Style {
    const INHERIT: Self =
        Self { fill: Paint::Inherit, stroke: Paint::Inherit, width: 1.0, opacity: 1.0, dashed: false };

    /// A style that adds nothing to that of the surrounding group.
    pub fn inherit() -> Self {
        Self::INHERIT
    }

    /// A style that is filled, without an outline.
    pub fn fill(paint: Paint) -> Self {
        Self { fill: paint, ..Self::INHERIT }
    }

    /// A style with an outline `width` wide, without filling.
    pub fn stroke(paint: Paint, width: f64) -> Self {
        Self { fill: Paint::None, stroke: paint, width, ..Self::INHERIT }
    }

    fn attributes(&self) -> String {
        let mut classes = Vec::new();
        let mut out = String::new();
        for (name, prefix, paint) in [("fill", "f", self.fill), ("stroke", "s", self.stroke)] {
            match paint.theme() {
                Some(theme) => classes.push(format!("{prefix}-{theme}")),
                None => out += &paint.attribute(name),
            }
            if paint.shows() && self.opacity < 1.0 {
                out += &format!(" {name}-opacity=\"{}\"", number(self.opacity));
            }
        }
        if self.stroke.shows() {
            out += &format!(" stroke-width=\"{}\"", number(self.width));
        }
        if self.dashed {
            out += " stroke-dasharray=\"5 4\"";
        }
        if !classes.is_empty() {
            out = format!(" class=\"{}\"{out}", classes.join(" "));
        }
        out
    }
}

impl Paint {
    fn theme(self) -> Option<&'static str> {
        match self {
            Self::Ink => Some("ink"),
            Self::Muted => Some("muted"),
            Self::Faint => Some("faint"),
            Self::Paper => Some("paper"),
            Self::Inherit | Self::None | Self::Solid(_) => None,
        }
    }

    fn attribute(self, name: &str) -> String {
        match self {
            Self::None => format!(" {name}=\"none\""),
            Self::Solid(colour) => format!(" {name}=\"{}\"", colour.hex()),
            _ => String::new(),
        }
    }

    fn shows(self) -> bool {
        !matches!(self, Self::Inherit | Self::None)
    }
}

impl TextStyle {
    /// A style of upright text in ink that begins at its position.
    pub fn new(size: f64) -> Self {
        Self { size, anchor: Anchor::Start, paint: Paint::Ink, bold: false, turn: 0.0 }
    }

    /// This style, anchored at another part of the text.
    pub fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }
}

impl Path {
    /// Begins a new piece of the path at a point.
    pub fn move_to(&mut self, x: f64, y: f64) {
        self.0 += &format!("M{} {}", number(x), number(y));
    }

    /// Adds a straight line to a point.
    pub fn line_to(&mut self, x: f64, y: f64) {
        self.0 += &format!("L{} {}", number(x), number(y));
    }

    /// Closes the piece by a straight line back to where it began.
    pub fn close(&mut self) {
        self.0.push('Z');
    }
}

impl Svg {
    /// An empty picture on paper; `title` is what a screen reader says.
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        let mut svg = Self { width, height, title: title.to_owned(), body: String::new() };
        svg.rect(Frame { x: 0.0, y: 0.0, width, height }, &Style::fill(Paint::Paper));
        svg
    }

    /// Draws a rectangle.
    pub fn rect(&mut self, frame: Frame, style: &Style) {
        self.element("rect", &format!("{}{}", place(frame), style.attributes()));
    }

    /// Draws a straight line between two points.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &Style) {
        let ends = [("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)];
        self.element("line", &format!("{}{}", numbers(&ends), style.attributes()));
    }

    /// Draws a line through several points.
    pub fn polyline(&mut self, points: &[(f64, f64)], style: &Style) {
        let points: Vec<_> = points.iter().map(|&(x, y)| format!("{},{}", number(x), number(y))).collect();
        let round = "stroke-linejoin=\"round\" stroke-linecap=\"round\"";
        self.element("polyline", &format!(" points=\"{}\" {round}{}", points.join(" "), style.attributes()));
    }

    /// Draws a circle.
    pub fn circle(&mut self, centre: (f64, f64), radius: f64, style: &Style) {
        let place = numbers(&[("cx", centre.0), ("cy", centre.1), ("r", radius)]);
        self.element("circle", &format!("{place}{}", style.attributes()));
    }

    /// Draws any shape.
    pub fn path(&mut self, path: &Path, style: &Style) {
        self.element("path", &format!(" d=\"{}\"{}", path.0, style.attributes()));
    }

    /// A PNG image stretched over `frame`; `smooth` blends neighbouring pixels.
    pub fn image(&mut self, frame: Frame, png: &[u8], smooth: bool) {
        let rendering = if smooth { "" } else { " style=\"image-rendering:pixelated\"" };
        let data = STANDARD.encode(png);
        let rest = format!(" preserveAspectRatio=\"none\"{rendering} href=\"data:image/png;base64,{data}\"");
        self.element("image", &format!("{}{rest}", place(frame)));
    }

    /// A line of text whose baseline passes through a point.
    pub fn text(&mut self, (x, y): (f64, f64), content: &str, style: &TextStyle) {
        let anchor = match style.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let bold = if style.bold { " font-weight=\"600\"" } else { "" };
        let turn = match style.turn.abs() > 0.0 {
            true => format!(" transform=\"rotate({} {} {})\"", number(style.turn), number(x), number(y)),
            false => String::new(),
        };
        let place = numbers(&[("x", x), ("y", y), ("font-size", style.size)]);
        let look = Style::fill(style.paint).attributes();
        let _ = writeln!(self.body, "<text{place}{anchor}{bold}{turn}{look}>{}</text>", escape(content));
    }

    /// Draws shapes that share a look.
    pub fn group(&mut self, style: &Style, draw: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.body, "<g{}>", style.attributes());
        draw(self);
        self.body += "</g>\n";
    }

    /// Draws with the same coordinates, but shows only what lies inside `frame`.
    pub fn clipped(&mut self, frame: Frame, draw: impl FnOnce(&mut Self)) {
        let [x, y, width, height] = [frame.x, frame.y, frame.width, frame.height].map(number);
        let _ = writeln!(self.body, "<svg{} viewBox=\"{x} {y} {width} {height}\">", place(frame));
        draw(self);
        self.body += "</svg>\n";
    }

    /// The whole document as text.
    pub fn finish(self) -> String {
        let [width, height] = [self.width, self.height].map(number);
        let title = escape(&self.title);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"clue-figure\" role=\"img\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif\">\n\
             <title>{title}</title>\n{STYLE}\n{}</svg>\n",
            self.body
        )
    }

    fn element(&mut self, name: &str, attributes: &str) {
        let _ = writeln!(self.body, "<{name}{attributes}/>");
    }
}

fn place(frame: Frame) -> String {
    numbers(&[("x", frame.x), ("y", frame.y), ("width", frame.width), ("height", frame.height)])
}

fn numbers(attributes: &[(&str, f64)]) -> String {
    attributes.iter().map(|&(name, value)| format!(" {name}=\"{}\"", number(value))).collect()
}

/// At most two decimals, no trailing zeros; far or undefined places are moved to where every viewer can follow.
fn number(value: f64) -> String {
    const FARTHEST: f64 = 1e5;
    let value = if value.is_nan() { 0.0 } else { value.clamp(-FARTHEST, FARTHEST) };
    let text = format!("{value:.2}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        short => short.to_owned(),
    }
}

/// Text as XML wants it; characters that XML cannot hold become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_at_most_two_decimals_and_no_trailing_zeros() {
        let written = [1.0, 0.5, 12.345_6, -0.001, 100.0, -2.50].map(number);
        assert_eq!(written, ["1", "0.5", "12.35", "0", "100", "-2.5"]);
        assert_eq!([f64::NAN, f64::INFINITY, -1e300].map(number), ["0", "100000", "-100000"]);
    }

    #[test]
    fn text_survives_the_journey_through_xml() {
        let hostile = "a < b & \"c\" > 'd' </text><script>";
        let mut svg = Svg::new(100.0, 50.0, hostile);
        svg.text((1.0, 2.0), hostile, &TextStyle::new(12.0));
        svg.text((1.0, 2.0), "null\u{0}bell\u{7}", &TextStyle::new(12.0));
        let document = svg.finish();
        let tree = roxmltree::Document::parse(&document).unwrap();
        let texts: Vec<_> = tree.descendants().filter(|n| n.has_tag_name("text")).filter_map(|n| n.text()).collect();
        assert_eq!(texts, [hostile, "null\u{fffd}bell\u{fffd}"]);
        assert!(tree.descendants().all(|n| !n.has_tag_name("script")));
    }

    #[test]
    fn theme_paints_are_classes_and_fixed_colours_are_attributes() {
        let style = Style { fill: Paint::Paper, ..Style::stroke(Paint::Solid(Colour::BLUE), 2.0) };
        assert_eq!(style.attributes(), " class=\"f-paper\" stroke=\"#0072b2\" stroke-width=\"2\"");
        let faded = Style { opacity: 0.25, ..Style::fill(Paint::Ink) };
        assert_eq!(faded.attributes(), " class=\"f-ink\" fill-opacity=\"0.25\"");
        assert_eq!(Style::inherit().attributes(), "");
    }

    #[test]
    fn every_theme_paint_has_a_light_and_a_dark_look() {
        for paint in [Paint::Ink, Paint::Muted, Paint::Faint, Paint::Paper] {
            for prefix in ["f", "s"] {
                let rule = format!(".clue-figure .{prefix}-{}{{", paint.theme().unwrap());
                assert_eq!(STYLE.matches(&rule).count(), 2, "{rule}");
            }
        }
    }

    #[test]
    fn a_clipped_drawing_keeps_its_coordinates() {
        let mut svg = Svg::new(100.0, 50.0, "");
        let frame = Frame { x: 10.0, y: 5.0, width: 40.0, height: 30.0 };
        svg.clipped(frame, |svg| svg.circle((20.0, 10.0), 3.0, &Style::fill(Paint::Ink)));
        assert!(svg.finish().contains("<svg x=\"10\" y=\"5\" width=\"40\" height=\"30\" viewBox=\"10 5 40 30\">"));
    }
}
