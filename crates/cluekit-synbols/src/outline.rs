//! The outline of a character, and where it lies on an image.

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, MetadataProvider};
use zeno::{Command, Fill, Join, Mask, Point, Stroke, Transform};

/// How far emboldening moves an outline, in all, in sizes of the font.
const EMBOLDENING: f32 = 1.0 / 24.0;
/// y is shifted by this much x.
const SLANT: f32 = 0.2;
/// A symbol counts as at least this large, so that a dot is not blown up.
const LEAST_SIZE: f32 = 0.1;

/// How a symbol lies on its image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// The longer side of the upright symbol, in sides of the image.
    pub scale: f32,
    /// Rotation in radians, clockwise.
    pub rotation: f32,
    /// Whether the symbol leans.
    pub is_slant: bool,
    /// Place in the image, across and down: from −1, where the symbol's box touches the left or upper edge, to 1, where
    /// it touches the other.
    pub translation: [f32; 2],
}

/// The outline of a character in sizes of its font, y down.
#[derive(Clone, Debug)]
pub struct Outline {
    commands: Vec<Command>,
    /// Drawn around it to make it bold.
    stroke: Option<f32>,
    /// The longer side of the box around it.
    size: f32,
}

impl Outline {
    /// The outline of a character, if the font has one.
    pub fn of(font: &FontRef, character: char) -> Option<Self> {
        let glyph = font.outline_glyphs().get(font.charmap().map(character)?)?;
        let mut pen = Pen {
            scale: 1.0 / f32::from(font.metrics(Size::unscaled(), LocationRef::default()).units_per_em.max(1)),
            commands: vec![],
        };
        glyph.draw(DrawSettings::unhinted(Size::unscaled(), LocationRef::default()), &mut pen).ok()?;
        Self::new(pen.commands, None)
    }

    /// This outline with thicker strokes.
    pub fn emboldened(&self) -> Self {
        let thicker = Self::new(self.commands.clone(), Some(EMBOLDENING));
        thicker.expect("an outline around one that can be drawn can be drawn")
    }

    /// Nothing, if it has no size that can be drawn.
    fn new(commands: Vec<Command>, stroke: Option<f32>) -> Option<Self> {
        let outline = Self { commands, stroke, size: 0.0 };
        let [from, to] = outline.bounds(&Transform::IDENTITY);
        let [width, height] = [to[0] - from[0], to[1] - from[1]];
        let size = width.max(height).max(LEAST_SIZE);
        (width > 0.0 && height > 0.0 && size.is_finite()).then_some(Self { size, ..outline })
    }

    /// Cover of each pixel by the symbol, from 0 to 255, row by row.
    pub fn mask(&self, pose: &Pose, side: usize) -> Vec<u8> {
        let transform = self.placed(pose, side);
        let mut mask = vec![0; side * side];
        let size = side as u32;
        Mask::new(&self.commands[..])
            .size(size, size)
            .transform(Some(transform))
            .style(Fill::NonZero)
            .render_into(&mut mask, None);
        if let Some(width) = self.stroke {
            let mut around = vec![0; side * side];
            let mut stroke = Stroke::new(width);
            stroke.join(Join::Round);
            Mask::new(&self.commands[..])
                .size(size, size)
                .transform(Some(transform))
                .style(stroke)
                .render_into(&mut around, None);
            mask.iter_mut().zip(around).for_each(|(within, around)| *within = (*within).max(around));
        }
        mask
    }

    /// From sizes of the font to pixels.
    fn placed(&self, pose: &Pose, side: usize) -> Transform {
        let size = pose.scale / self.size;
        let (sin, cos) = pose.rotation.sin_cos();
        let slant = if pose.is_slant { SLANT } else { 0.0 };
        // Turned, enlarged, then sheared: x' = s (x cos − y sin), y' = s (x sin + y cos) + slant · x'.
        let (xx, yx) = (size * cos, -size * sin);
        let (xy, yy) = (size * sin + slant * xx, size * cos + slant * yx);
        let turned = Transform::new(xx, xy, yx, yy, 0.0, 0.0);
        let [from, to] = self.bounds(&turned);
        let corner = |axis: usize| (pose.translation[axis] + 1.0) / 2.0 * (1.0 - (to[axis] - from[axis])) - from[axis];
        let pixels = side as f32;
        let [xx, xy, yx, yy] = [xx, xy, yx, yy].map(|v| v * pixels);
        Transform::new(xx, xy, yx, yy, pixels * corner(0), pixels * corner(1))
    }

    /// The corners of the box around it.
    fn bounds(&self, transform: &Transform) -> [[f32; 2]; 2] {
        let bounds = zeno::bounds(&self.commands[..], Fill::NonZero, Some(*transform));
        // Half of the stroke reaches beyond the outline: a circle, which becomes an ellipse.
        let grown = self.stroke.unwrap_or(0.0) / 2.0;
        let [x, y] = [transform.xx.hypot(transform.yx), transform.xy.hypot(transform.yy)].map(|reach| grown * reach);
        [[bounds.min.x - x, bounds.min.y - y], [bounds.max.x + x, bounds.max.y + y]]
    }
}

/// Collects an outline, with y down.
struct Pen {
    scale: f32,
    commands: Vec<Command>,
}

impl Pen {
    fn point(&self, x: f32, y: f32) -> Point {
        Point::new(self.scale * x, -self.scale * y)
    }
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.commands.push(Command::MoveTo(self.point(x, y)));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.commands.push(Command::LineTo(self.point(x, y)));
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.commands.push(Command::QuadTo(self.point(cx, cy), self.point(x, y)));
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        self.commands.push(Command::CurveTo(self.point(ax, ay), self.point(bx, by), self.point(x, y)));
    }

    fn close(&mut self) {
        self.commands.push(Command::Close);
    }
}
