//! One picture with what is written around it.

use super::{GAP, SIDE, Sheet};
use crate::picture::{UNKNOWN, difference, picture};
use cluekit::explanation::{Clue, Explanation, Label};
use cluekit::wording;
use cluekit_plot::Colour;
use cluekit_plot::svg::{Anchor, Frame, Paint, Style, Svg, TextStyle};
use cluekit_plot::text::{shortened, text_width};
use cluekit_plot::{LABEL_SIZE, TICK_SIZE};

/// Height of a line of text.
pub(super) const LINE: f64 = 15.0;
const HEADING_SIZE: f64 = 10.0;
/// Labels are bold, and so wider than their letters are high.
const LABEL_WIDTH: f64 = 1.1 * LABEL_SIZE;
/// How much of a rejected clue is hidden.
const VEIL: f64 = 0.6;

/// An input, a reconstruction or a clue.
pub(super) struct Panel<'a> {
    heading: String,
    label: String,
    uncertainty: String,
    /// d and ρ, where they say something.
    distances: [String; 2],
    x: &'a [f32],
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The input itself, which differs from nothing.
    Input,
    Shown,
    Rejected,
}

/// The input, the reconstruction, and at most `most` clues, the accepted ones first.
pub(super) fn panels<'a>(explanation: &'a Explanation, classes: &[String], most: usize) -> Vec<Panel<'a>> {
    let Explanation { input, reconstruction, clues, .. } = explanation;
    let panel = |heading: &str, of: Label, total: f32, x: &'a [f32]| Panel {
        heading: heading.to_owned(),
        label: wording::label(of, classes),
        uncertainty: format!("H {}", wording::uncertainty(total, of)),
        distances: Default::default(),
        x,
        kind: Kind::Shown,
    };
    let distance = |name: &str, value: f32| format!("{name} {}", wording::distance(value));
    let original = panel("input", input.label, input.uncertainty.total, &input.x);
    let decoded = panel("reconstruction", reconstruction.label, reconstruction.uncertainty.total, &reconstruction.x);
    let decoded_distances = [distance("d", reconstruction.distance), String::new()];
    let mut panels = vec![Panel { kind: Kind::Input, ..original }, Panel { distances: decoded_distances, ..decoded }];
    panels.extend(accepted_first(clues).into_iter().take(most).map(|(index, clue)| {
        let (kind, mark) = if clue.accepted { (Kind::Shown, "") } else { (Kind::Rejected, " rejected") };
        let distances = [distance("d", clue.distance.input), distance("ρ", clue.distance.latent)];
        let heading = format!("clue {}{mark}", index + 1);
        Panel { distances, kind, ..panel(&heading, clue.label, clue.uncertainty.total, &clue.x) }
    }));
    panels
}

/// The clues with their positions, the accepted ones first, otherwise in order.
pub(super) fn accepted_first(clues: &[Clue]) -> Vec<(usize, &Clue)> {
    let mut ordered: Vec<(usize, &Clue)> = clues.iter().enumerate().collect();
    ordered.sort_by_key(|(_, clue)| !clue.accepted);
    ordered
}

impl Panel<'_> {
    pub fn label_width(&self) -> f64 {
        text_width(&self.label, LABEL_WIDTH)
    }

    /// The room for the label in one line with H.
    pub fn label_room(&self) -> f64 {
        SIDE - text_width(&self.uncertainty, TICK_SIZE) - 4.0
    }

    /// Draws everything below and to the right of a point.
    pub fn draw(&self, svg: &mut Svg, (x, y): (f64, f64), sheet: &Sheet, original: &[f32]) {
        self.draw_above(svg, (x, y), sheet);
        let (width, height) = sheet.picture;
        let frame = Frame { x: x + (SIDE - width) / 2.0, y: y + sheet.above_picture(), width, height };
        self.draw_image(svg, frame, &picture(self.x, sheet.image));
        if self.kind == Kind::Input {
            return;
        }
        let style = TextStyle { paint: Paint::Muted, ..TextStyle::new(TICK_SIZE) };
        let foot = frame.y + height + LINE - 3.0;
        svg.text((x, foot), &self.distances[0], &style);
        svg.text((x + SIDE, foot), &self.distances[1], &style.anchored(Anchor::End));
        let frame = Frame { y: y + sheet.above_difference(), ..frame };
        svg.rect(frame, &Style::fill(Paint::Solid(UNKNOWN)));
        self.draw_image(svg, frame, &difference(self.x, original, sheet.image));
    }

    fn draw_above(&self, svg: &mut Svg, (x, y): (f64, f64), sheet: &Sheet) {
        let rejected = self.kind == Kind::Rejected;
        let (mark, ink) = match rejected {
            true => (Paint::Solid(Colour::VERMILION), Paint::Muted),
            false => (Paint::Muted, Paint::Ink),
        };
        let heading = TextStyle { paint: mark, ..TextStyle::new(HEADING_SIZE) };
        svg.text((x, y + LINE - 4.0), &shortened(&self.heading, HEADING_SIZE, SIDE + GAP), &heading);
        let name = TextStyle { bold: !rejected, paint: ink, ..TextStyle::new(LABEL_SIZE) };
        let room = if sheet.long_labels { SIDE + GAP - 6.0 } else { self.label_room() };
        svg.text((x, y + 2.0 * LINE - 4.0), &shortened(&self.label, LABEL_WIDTH, room), &name);
        let (column, anchor) = if sheet.long_labels { (x, Anchor::Start) } else { (x + SIDE, Anchor::End) };
        let amount = TextStyle { paint: ink, ..TextStyle::new(TICK_SIZE) }.anchored(anchor);
        svg.text((column, y + sheet.above_picture() - 4.0), &self.uncertainty, &amount);
    }

    fn draw_image(&self, svg: &mut Svg, frame: Frame, png: &[u8]) {
        svg.image(frame, png, false);
        let rejected = self.kind == Kind::Rejected;
        if rejected {
            svg.rect(frame, &Style { opacity: VEIL, ..Style::fill(Paint::Paper) });
        }
        let outline = Style::stroke(if rejected { Paint::Muted } else { Paint::Faint }, 1.0);
        svg.rect(frame, &Style { dashed: rejected, ..outline });
    }
}
